//! Tests of `disks`.

use proptest::prelude::*;

use super::*;

/// Compares all pairs, as upstream does.
fn by_pairs(pod: &Pod, others: &[Pod]) -> Option<DiskInUse> {
    pod.spec.volumes.iter().filter(|v| needs_restrictions_check(v)).find_map(|volume| {
        let with = others.iter().find(|p| p.spec.volumes.iter().any(|other| conflict(volume, other)))?;
        Some(DiskInUse { volume: volume.name.clone(), with: with.key() })
    })
}

fn conflict(a: &Volume, b: &Volume) -> bool {
    let shared = |a: Option<bool>, b: Option<bool>| a.unwrap_or(false) && b.unwrap_or(false);
    let gce = a.gce_persistent_disk.as_ref().zip(b.gce_persistent_disk.as_ref());
    let ebs = a.aws_elastic_block_store.as_ref().zip(b.aws_elastic_block_store.as_ref());
    let iscsi = a.iscsi.as_ref().zip(b.iscsi.as_ref());
    let rbd = a.rbd.as_ref().zip(b.rbd.as_ref());
    gce.is_some_and(|(a, b)| a.pd_name == b.pd_name && !shared(a.read_only, b.read_only))
        || ebs.is_some_and(|(a, b)| a.volume_id == b.volume_id)
        || iscsi.is_some_and(|(a, b)| a.iqn == b.iqn && !shared(a.read_only, b.read_only))
        || rbd.is_some_and(|(a, b)| {
            let same = a.pool == b.pool && a.image == b.image && a.monitors.iter().any(|m| b.monitors.contains(m));
            same && !shared(a.read_only, b.read_only)
        })
}

/// Makes a pod with volumes of a kind, a number and `readOnly`.
fn pod(name: usize, volumes: &[(u8, u8, bool)]) -> Pod {
    let volume = |(at, (kind, number, read_only)): (usize, &(u8, u8, bool))| {
        let disk = match kind {
            0 => format!(r#""gcePersistentDisk":{{"pdName":"{number}","readOnly":{read_only}}}"#),
            1 => format!(r#""awsElasticBlockStore":{{"volumeID":"{number}"}}"#),
            2 => format!(r#""iscsi":{{"iqn":"{number}","readOnly":{read_only}}}"#),
            3 => {
                format!(r#""rbd":{{"monitors":["{}","{}"],"pool":"p","image":"i","readOnly":{read_only}}}"#, number % 3, number % 2 + 1)
            }
            _ => r#""emptyDir":{}"#.to_owned(),
        };
        format!(r#"{{"name":"v{at}",{disk}}}"#)
    };
    let volumes = volumes.iter().enumerate().map(volume).collect::<Vec<_>>().join(",");
    serde_json::from_str(&format!(r#"{{"metadata":{{"name":"p{name}"}},"spec":{{"volumes":[{volumes}]}}}}"#)).unwrap()
}

proptest! {
    #[test]
    fn the_index_finds_what_comparing_all_pairs_finds(
        pods in prop::collection::vec(prop::collection::vec((0u8..5, 0u8..6, any::<bool>()), 0..5), 1..5)
    ) {
        let pods: Vec<Pod> = pods.iter().enumerate().map(|(name, volumes)| pod(name, volumes)).collect();
        prop_assert_eq!(disk_in_use(&pods[0], &pods[1..].iter(), &mut 0), by_pairs(&pods[0], &pods[1..]));
    }
}
