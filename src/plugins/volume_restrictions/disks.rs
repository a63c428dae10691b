//! Inline disks that pods cannot freely share; mirrors `isVolumeConflict`, with an index instead of comparing all pairs.

use std::collections::HashMap;

use crate::cluster::{Pod, Str, Volume};
use crate::framework::DiskInUse;

/// The name of a disk. Two volumes use the same disk if a name is common to them.
#[derive(PartialEq, Eq, Hash)]
enum Disk<'a> {
    Gce(&'a Str),
    Ebs(&'a Str),
    Iscsi(&'a Str),
    /// An image as one of its monitors serves it.
    Rbd(&'a Str, &'a Str, &'a Str),
}

/// The first volumes of a pod with one disk, by index.
#[derive(Default)]
struct Uses {
    any: Option<usize>,
    /// The first that does not allow sharing.
    exclusive: Option<usize>,
}

impl Uses {
    /// Returns the first volume that conflicts with another use of the disk.
    fn conflicting(&self, sharing: bool) -> Option<usize> {
        if sharing { self.exclusive } else { self.any }
    }
}

/// Whether pods on one node cannot freely share a volume of this kind.
pub(super) fn needs_restrictions_check(volume: &Volume) -> bool {
    volume.gce_persistent_disk.is_some() || volume.aws_elastic_block_store.is_some() || volume.rbd.is_some() || volume.iscsi.is_some()
}

/// Returns the first inline disk of the pod that one of the others uses, and the first of them.
pub(in crate::plugins) fn disk_in_use<'a>(pod: &Pod, others: &(impl Iterator<Item = &'a Pod> + Clone)) -> Option<DiskInUse> {
    if !pod.spec.volumes.iter().any(needs_restrictions_check) {
        return None;
    }
    let mut index: HashMap<Disk<'_>, Uses> = HashMap::new();
    for (at, volume) in pod.spec.volumes.iter().enumerate() {
        each_disk(volume, &mut |disk, sharing| {
            let uses = index.entry(disk).or_default();
            uses.any.get_or_insert(at);
            if !sharing {
                uses.exclusive.get_or_insert(at);
            }
        });
    }
    let mut first: Option<(usize, &Pod)> = None;
    for other in others.clone() {
        for volume in &other.spec.volumes {
            each_disk(volume, &mut |disk, sharing| {
                let at = index.get(&disk).and_then(|uses| uses.conflicting(sharing));
                if let Some(at) = at.filter(|at| first.is_none_or(|(known, _)| *at < known)) {
                    first = Some((at, other));
                }
            });
        }
    }
    let (at, with) = first?;
    Some(DiskInUse { volume: pod.spec.volumes[at].name.clone(), with: with.key() })
}

/// Calls the function with each disk of a volume, and whether it allows sharing with uses that allow it, too.
fn each_disk<'v>(volume: &'v Volume, found: &mut impl FnMut(Disk<'v>, bool)) {
    if let Some(gce) = &volume.gce_persistent_disk {
        found(Disk::Gce(&gce.pd_name), gce.read_only.unwrap_or(false));
    }
    if let Some(ebs) = &volume.aws_elastic_block_store {
        found(Disk::Ebs(&ebs.volume_id), false);
    }
    if let Some(iscsi) = &volume.iscsi {
        found(Disk::Iscsi(&iscsi.iqn), iscsi.read_only.unwrap_or(false));
    }
    if let Some(rbd) = &volume.rbd {
        for monitor in &rbd.monitors {
            found(Disk::Rbd(&rbd.pool, &rbd.image, monitor), rbd.read_only.unwrap_or(false));
        }
    }
}

#[cfg(test)]
mod tests {
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
            prop_assert_eq!(disk_in_use(&pods[0], &pods[1..].iter()), by_pairs(&pods[0], &pods[1..]));
        }
    }
}
