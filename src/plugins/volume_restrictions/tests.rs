use super::*;
use crate::framework::QueueingHint::{Queue, QueueSkip};
use crate::plugins::volume_helpers::testing::{World, hint, object, pod_with, pvc_volume, registered};

const RWOP: &str = r#"{"metadata":{"name":"once","namespace":"a"},"spec":{"accessModes":["ReadWriteOncePod"]}}"#;
const RWO: &str = r#"{"metadata":{"name":"plain","namespace":"a"},"spec":{"accessModes":["ReadWriteOnce"]}}"#;

/// Makes nodes `m`, with the other pod, of `namespace`, and `n`, empty.
fn world(namespace: &str, volumes: &str) -> World {
    let node = |name: &str| ("Node", format!(r#"{{"metadata":{{"name":"{name}"}}}}"#));
    let other =
        format!(r#"{{"metadata":{{"name":"other","namespace":"{namespace}","uid":"o"}},"spec":{{"nodeName":"m","volumes":[{volumes}]}}}}"#);
    World::new([
        node("m"),
        node("n"),
        ("Pod", other),
        ("PersistentVolumeClaim", RWOP.to_string()),
        ("PersistentVolumeClaim", RWO.to_string()),
    ])
}

#[test]
fn inline_disks_conflict_by_their_kinds_rules() {
    let gce = |name: &str, ro: bool| format!(r#"{{"gcePersistentDisk":{{"pdName":"{name}","readOnly":{ro}}}}}"#);
    let ebs = |id: &str| format!(r#"{{"awsElasticBlockStore":{{"volumeID":"{id}","readOnly":true}}}}"#);
    let iscsi = |iqn: &str, ro: bool| format!(r#"{{"iscsi":{{"iqn":"{iqn}","targetPortal":"{ro}","readOnly":{ro}}}}}"#);
    let rbd = |monitors: &str, pool: &str, image: &str, ro: bool| {
        format!(r#"{{"rbd":{{"monitors":{monitors},"pool":"{pool}","image":"{image}","readOnly":{ro}}}}}"#)
    };
    for (mine, theirs, conflict) in [
        (gce("d", false), gce("d", true), true),
        (gce("d", true), gce("d", true), false),
        (gce("d", false), gce("e", false), false),
        (ebs("v"), ebs("v"), true),
        (ebs("v"), ebs("w"), false),
        (iscsi("q", false), iscsi("q", true), true),
        (iscsi("q", true), iscsi("q", true), false),
        (iscsi("q", false), iscsi("r", false), false),
        (rbd(r#"["1","2"]"#, "p", "i", false), rbd(r#"["2","3"]"#, "p", "i", true), true),
        (rbd(r#"["1"]"#, "p", "i", true), rbd(r#"["1"]"#, "p", "i", true), false),
        (rbd(r#"["1"]"#, "p", "i", false), rbd(r#"["2"]"#, "p", "i", false), false),
        (rbd(r#"["1"]"#, "p", "i", false), rbd(r#"["1"]"#, "q", "i", false), false),
        (rbd(r#"["1"]"#, "p", "i", false), rbd(r#"["1"]"#, "p", "j", false), false),
        (gce("d", false), ebs("d"), false),
    ] {
        let on_m = if conflict { Status::unschedulable("node(s) had no available disk") } else { Status::success() };
        let verdicts = world("b", &theirs).verdicts(&VolumeRestrictions, &pod_with(&mine));
        assert_eq!(verdicts, (Status::success(), vec![on_m, Status::success()]), "{mine} beside {theirs}");
    }
}

#[test]
fn a_read_write_once_pod_claim_in_use_closes_every_node() {
    let conflict = || {
        Status::unschedulable(
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        )
    };
    for (mine, theirs, namespace, want) in [
        ("once", "once", "a", (Status::success(), vec![conflict(), conflict()])),
        ("once", "once", "b", (Status::skip(), vec![])),
        ("once", "plain", "a", (Status::skip(), vec![])),
        ("plain", "plain", "a", (Status::skip(), vec![])),
        ("gone", "once", "a", (Status::unresolvable("persistentvolumeclaim \"gone\" not found"), vec![])),
    ] {
        let verdicts = world(namespace, &pvc_volume(theirs)).verdicts(&VolumeRestrictions, &pod_with(&pvc_volume(mine)));
        assert_eq!(verdicts, want, "{mine} beside {namespace}/{theirs}");
    }
    let ephemeral = pod_with(r#"{"name":"e","ephemeral":{}}"#);
    assert_eq!(world("a", "").verdicts(&VolumeRestrictions, &ephemeral).0, Status::skip(), "made-for-it claims are not looked at");
}

#[test]
fn pods_that_come_and_go_count_by_the_claims_name() {
    let world = world("a", &pvc_volume("once"));
    let pod = pod_with(&pvc_volume("once"));
    let (mut state, _) = world.pre_filter(&VolumeRestrictions, &pod);
    let (info, node) = (PodInfo::new(pod.clone()), world.node("n"));
    let passes = |state: &CycleState| FilterPlugin::filter(&VolumeRestrictions, &world.cx(), state, &info, node).is_success();
    let unrelated = PodInfo::new(pod_with(&pvc_volume("plain")));
    let mut far = (*pod).clone();
    far.metadata.namespace = "elsewhere".into();
    let far = PodInfo::new(Arc::new(far));

    assert!(VolumeRestrictions.remove_pod(&world.cx(), &mut state, &info, &unrelated, node).is_success() && !passes(&state));
    assert!(VolumeRestrictions.remove_pod(&world.cx(), &mut state, &info, &far, node).is_success() && passes(&state));
    assert!(VolumeRestrictions.add_pod(&world.cx(), &mut state, &info, &far, node).is_success() && !passes(&state));
    assert!(PreFilterPlugin::has_extensions(&VolumeRestrictions, world.cx().emulation));

    let mut empty = CycleState::default();
    let mut before = world.cx();
    before.emulation = crate::release::Profile::named("v1.26.4").expect("an emulated release").into();
    assert!(
        !PreFilterPlugin::has_extensions(&VolumeRestrictions, before.emulation),
        "1.26 has no extensions, and its Filter needs no state"
    );
    assert!(FilterPlugin::filter(&VolumeRestrictions, &before, &empty, &info, node).is_success());

    let error = Status::error("cannot read \"PreFilterVolumeRestrictions\" from cycleState");
    assert_eq!(FilterPlugin::filter(&VolumeRestrictions, &world.cx(), &empty, &info, node), error);
    assert_eq!(VolumeRestrictions.add_pod(&world.cx(), &mut empty, &info, &far, node), error);
}

#[test]
fn hints() {
    assert_eq!(registered(&VolumeRestrictions), ["Pod:2 hint", "Node:1", "PersistentVolumeClaim:1 hint"]);
    let gce = r#"{"gcePersistentDisk":{"pdName":"d"}}"#;
    let pod = pod_with(&format!("{},{gce}", pvc_volume("c")));
    let gone = |namespace: &str, volumes: &str| {
        object("Pod", &format!(r#"{{"metadata":{{"name":"o","namespace":"{namespace}"}},"spec":{{"volumes":[{volumes}]}}}}"#))
    };
    for (deleted, want) in [
        (gone("a", gce), Queue),
        (gone("b", gce), QueueSkip),
        (gone("a", &pvc_volume("c")), Queue),
        (gone("b", &pvc_volume("c")), QueueSkip),
        (gone("a", &pvc_volume("d")), QueueSkip),
        (gone("a", r#"{"gcePersistentDisk":{"pdName":"e"}}"#), QueueSkip),
    ] {
        assert_eq!(hint(&VolumeRestrictions, "PodDelete", &pod, Some(&deleted), None), Some(Ok(want)), "{deleted:?}");
    }
    for (namespace, name, want) in [("a", "c", Queue), ("a", "d", QueueSkip), ("b", "c", QueueSkip)] {
        let claim = object("PersistentVolumeClaim", &format!(r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}"}}}}"#));
        assert_eq!(hint(&VolumeRestrictions, "PersistentVolumeClaimAdd", &pod, None, Some(&claim)), Some(Ok(want)));
    }
    let other_kind = object("Node", "{}");
    assert!(hint(&VolumeRestrictions, "PodDelete", &pod, Some(&other_kind), None).unwrap().is_err());
}
