use super::*;
use crate::framework::QueueingHint::{Queue, QueueSkip};
use crate::plugins::volume_helpers::testing::{World, hint, object, pod_with, pvc_volume, registered};

const DRIVER: &str = "csi.example.com";

fn too_many() -> Status {
    Status::unschedulable("node(s) exceed max volume count")
}

/// Makes a node `n` with a CSINode that attaches `limit` volumes of each driver; `null` for no limit.
fn node(limit: &str, drivers: &[&str]) -> Vec<(&'static str, String)> {
    let drivers: Vec<String> = drivers.iter().map(|d| format!(r#"{{"name":"{d}","allocatable":{{"count":{limit}}}}}"#)).collect();
    let csi_node = format!(r#"{{"metadata":{{"name":"n"}},"spec":{{"drivers":[{}]}}}}"#, drivers.join(","));
    vec![("Node", r#"{"metadata":{"name":"n"}}"#.into()), ("CSINode", csi_node)]
}

/// Makes a claim `a/<name>` with a volume of this source.
fn bound(name: &str, source: &str) -> Vec<(&'static str, String)> {
    vec![
        ("PersistentVolumeClaim", format!(r#"{{"metadata":{{"name":"{name}","namespace":"a"}},"spec":{{"volumeName":"v-{name}"}}}}"#)),
        ("PersistentVolume", format!(r#"{{"metadata":{{"name":"v-{name}"}},"spec":{{{source}}}}}"#)),
    ]
}

fn csi(handle: &str) -> String {
    format!(r#""csi":{{"driver":"{DRIVER}","volumeHandle":"{handle}"}}"#)
}

fn unbound(name: &str, class: &str) -> Vec<(&'static str, String)> {
    vec![(
        "PersistentVolumeClaim",
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"a"}},"spec":{{"storageClassName":"{class}"}}}}"#),
    )]
}

fn class(name: &str, provisioner: &str) -> Vec<(&'static str, String)> {
    vec![("StorageClass", format!(r#"{{"metadata":{{"name":"{name}"}},"provisioner":"{provisioner}"}}"#))]
}

/// Makes a pod `a/other` on the node.
fn other(volumes: &str) -> Vec<(&'static str, String)> {
    let text = format!(r#"{{"metadata":{{"name":"other","namespace":"a","uid":"o"}},"spec":{{"nodeName":"n","volumes":[{volumes}]}}}}"#);
    vec![("Pod", text)]
}

fn check(name: &str, objects: Vec<Vec<(&'static str, String)>>, volumes: &str, want: &Status) {
    let world = World::new(objects.into_iter().flatten());
    assert_eq!(world.verdicts(&NodeVolumeLimits, &pod_with(volumes)), (Status::success(), vec![want.clone()]), "{name}");
}

#[test]
fn pre_filter_skips_pods_without_volumes_that_may_be_attached() {
    let world = World::new([]);
    for (volumes, skips) in [
        ("", true),
        (r#"{"csi":{"driver":"d"}}"#, true),
        (r#"{"iscsi":{}}"#, true),
        (r#"{"persistentVolumeClaim":{}}"#, false),
        (r#"{"ephemeral":{}}"#, false),
        (r#"{"awsElasticBlockStore":{}}"#, false),
        (r#"{"vsphereVolume":{}}"#, false),
    ] {
        assert_eq!(world.pre_filter(&NodeVolumeLimits, &pod_with(volumes)).1.is_skip(), skips, "{volumes}");
    }
}

#[test]
fn volumes_on_the_node_and_new_ones_count_once_each() {
    let mine = pvc_volume("c");
    let both = format!("{},{}", pvc_volume("c"), pvc_volume("d"));
    let ok = Status::success();
    let pair = || [bound("c", &csi("1")), bound("d", &csi("2"))].concat();
    check("one of one", vec![node("1", &[DRIVER]), pair()], &mine, &ok);
    check("two of one", vec![node("1", &[DRIVER]), pair()], &both, &too_many());
    check("no limit", vec![node("null", &[DRIVER]), pair()], &both, &ok);
    check("a limit of another driver", vec![node("0", &["x"]), pair()], &both, &ok);
    check("no CSINode", vec![node("0", &[DRIVER])[..1].to_vec(), pair()], &both, &ok);
    check("one there", vec![node("1", &[DRIVER]), pair(), other(&pvc_volume("d"))], &mine, &too_many());
    check("the same there", vec![node("1", &[DRIVER]), pair(), other(&mine)], &mine, &ok);
    check("nothing new on a full node", vec![node("0", &[DRIVER]), pair(), other(&mine)], &mine, &ok);
    check("one handle behind two claims", vec![node("1", &[DRIVER]), bound("c", &csi("1")), bound("d", &csi("1"))], &both, &ok);
    check("a missing claim there", vec![node("1", &[DRIVER]), pair(), other(&pvc_volume("gone"))], &mine, &ok);
    let nfs = vec![node("0", &[DRIVER]), bound("c", r#""nfs":{}"#)];
    check("not attached at all", nfs, &mine, &ok);
}

#[test]
fn attachments_count_where_no_pod_accounts_for_them() {
    let attachment = |name: &str, node: &str, attacher: &str, volume: &str| {
        let source = if volume.is_empty() { String::new() } else { format!(r#""persistentVolumeName":"{volume}""#) };
        let text =
            format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"nodeName":"{node}","attacher":"{attacher}","source":{{{source}}}}}}}"#);
        vec![("VolumeAttachment", text)]
    };
    let objects = |attachments: Vec<(&'static str, String)>| {
        let volumes = [bound("c", &csi("1")), bound("d", &csi("2")), bound("e", r#""nfs":{}"#)].concat();
        vec![node("2", &[DRIVER]), volumes, other(&pvc_volume("d")), attachments]
    };
    let mine = pvc_volume("c");
    for (name, attached, fits) in [
        ("none", vec![], true),
        ("the other pod's", attachment("1", "n", DRIVER, "v-d"), true),
        // As upstream, counted twice: as attached and as new.
        ("the pod's own", attachment("1", "n", DRIVER, "v-c"), false),
        ("another node's", attachment("1", "m", DRIVER, "v-c"), true),
        ("another driver's", attachment("1", "n", "x", "v-c"), true),
        ("no attacher", attachment("1", "n", "", "v-c"), true),
        ("no volume name", attachment("1", "n", DRIVER, ""), true),
        ("no volume", attachment("1", "n", DRIVER, "gone"), true),
        ("no CSI volume", attachment("1", "n", DRIVER, "v-e"), true),
    ] {
        check(name, objects(attached), &mine, &if fits { Status::success() } else { too_many() });
    }
}

#[test]
fn claims_without_a_volume_count_by_their_class() {
    let both = format!("{},{}", pvc_volume("c"), pvc_volume("d"));
    let claims = |class: &str| [unbound("c", class), unbound("d", class)].concat();
    for (class_name, provisioner, drivers, counted) in [
        ("s", DRIVER, DRIVER, true),
        ("s", "kubernetes.io/aws-ebs", "ebs.csi.aws.com", true),
        ("s", "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", false),
        ("gone", DRIVER, DRIVER, false),
        ("", DRIVER, DRIVER, false),
        ("s", "", "", false),
    ] {
        let objects = vec![node("1", &[drivers]), class("s", provisioner), claims(class_name)];
        let want = if counted { too_many() } else { Status::success() };
        check(&format!("{class_name:?} {provisioner}"), objects, &both, &want);
    }
    let dangling = vec![
        node("0", &[DRIVER]),
        class("s", DRIVER),
        vec![(
            "PersistentVolumeClaim",
            r#"{"metadata":{"name":"c","namespace":"a"},"spec":{"storageClassName":"s","volumeName":"gone"}}"#.to_string(),
        )],
    ];
    check("its volume is gone", dangling, &pvc_volume("c"), &too_many());
}

#[test]
fn in_tree_volumes_count_for_their_driver_where_there_is_a_csi_node() {
    let ebs = "ebs.csi.aws.com";
    let inline = r#"{"name":"i","awsElasticBlockStore":{"volumeID":"vol-1"}}"#;
    check("inline", vec![node("0", &[ebs])], inline, &too_many());
    check("inline, no CSINode", vec![node("0", &[ebs])[..1].to_vec()], inline, &Status::success());
    check("inline, no migration", vec![node("0", &["file.csi.azure.com"])], r#"{"azureFile":{}}"#, &Status::success());
    let in_tree = bound("c", r#""awsElasticBlockStore":{"volumeID":"aws://z/vol-1"}"#);
    check("a volume", vec![node("0", &[ebs]), in_tree.clone()], &pvc_volume("c"), &too_many());
    check("the same disk both ways", vec![node("1", &[ebs]), in_tree.clone(), other(inline)], &pvc_volume("c"), &Status::success());
    let no_csi_node = vec![node("0", &[ebs])[..1].to_vec(), in_tree];
    check("a volume, no CSINode", no_csi_node, &pvc_volume("c"), &Status::success());
    let broken = bound("c", r#""awsElasticBlockStore":{"volumeID":"aws://z"}"#);
    check("a volume that cannot be translated", vec![node("0", &[ebs]), broken], &pvc_volume("c"), &Status::success());
    let text = "converting volume(i) from inline to csi: kind(Shared) is not supported in csi migration";
    let shared = r#"{"name":"i","azureDisk":{"kind":"Shared"}}"#;
    check("inline that cannot be translated", vec![node("0", &[ebs])], shared, &Status::error(text));
}

#[test]
fn claims_that_cannot_be_used() {
    let missing = Status::unresolvable("looking up PVC a/gone: persistentvolumeclaim \"gone\" not found");
    check("missing", vec![node("1", &[DRIVER])], &pvc_volume("gone"), &missing);
    check("no name", vec![node("1", &[DRIVER])], &pvc_volume(""), &Status::error("PersistentVolumeClaim had no name"));
    let foreign = || vec![("PersistentVolumeClaim", r#"{"metadata":{"name":"p-e","namespace":"a"}}"#.to_string())];
    let ephemeral = r#"{"name":"e","ephemeral":{}}"#;
    let error = Status::error("PVC a/p-e was not created for pod a/p (pod is not owner)");
    check("foreign", vec![node("1", &[DRIVER]), foreign()], ephemeral, &error);
    let theirs = vec![("PersistentVolumeClaim", r#"{"metadata":{"name":"other-e","namespace":"a"}}"#.to_string())];
    let error = Status::error("PVC a/other-e was not created for pod a/other (pod is not owner)");
    let objects = vec![node("1", &[DRIVER]), bound("c", &csi("1")), theirs, other(ephemeral)];
    check("foreign on the node", objects, &pvc_volume("c"), &error);
}

#[test]
fn room_for_all_is_found_without_looking_at_claims() {
    let objects = |limit: &str| vec![node(limit, &[DRIVER]), bound("c", &csi("1")), bound("d", &csi("2")), other(&pvc_volume("d"))];
    for (limit, room) in [("1", false), ("2", true)] {
        let world = World::new(objects(limit).concat());
        let csi_node = world.cluster.csi_nodes.named(&"n".into()).unwrap();
        let (limits, new) = (volume_limits(csi_node), BTreeSet::from([(Str::from(DRIVER), Str::from("1"))]));
        assert_eq!(has_room_for_all(&limits, &new, &[], world.node("n")), room, "{limit}");
        assert!(!has_room_for_all(&limits, &new, &[(DRIVER.into(), "v".into())], world.node("n")));
    }
    for volumes in [r#"{"ephemeral":{}}"#, r#"{"awsElasticBlockStore":{}}"#, r#"{"persistentVolumeClaim":{}}"#] {
        let world = World::new([node("9", &[DRIVER]), other(volumes)].concat());
        assert!(!has_room_for_all(&BTreeMap::new(), &BTreeSet::new(), &[], world.node("n")), "{volumes} may be an error");
    }
}

#[test]
fn with_volume_limit_scaling_a_driver_can_ask_to_be_there() {
    let driver =
        |asks: &str| ("CSIDriver", format!(r#"{{"metadata":{{"name":"{DRIVER}"}},"spec":{{"preventPodSchedulingIfMissing":{asks}}}}}"#));
    let missing = Status::unschedulable("csi.example.com CSI driver is not installed on the node");
    for (name, gate, nodes, asks, want) in [
        ("missing", true, node("1", &["x"]), "true", &missing),
        ("no CSINode", true, node("1", &["x"])[..1].to_vec(), "true", &missing),
        ("there", true, node("1", &[DRIVER]), "true", &Status::success()),
        ("does not ask", true, node("1", &["x"]), "null", &Status::success()),
        ("gate off", false, node("1", &["x"]), "true", &Status::success()),
    ] {
        let mut world = World::new([nodes, bound("c", &csi("1")), vec![driver(asks)]].concat());
        if gate {
            world = world.with(Gate::VolumeLimitScaling);
        }
        assert_eq!(world.verdicts(&NodeVolumeLimits, &pod_with(&pvc_volume("c"))).1, std::slice::from_ref(want), "{name}");
    }
}

#[test]
fn hints() {
    let update = crate::framework::ActionType::UPDATE.0;
    let csi_nodes = ["storage.k8s.io/CSINode:1".to_string(), format!("storage.k8s.io/CSINode:{update} hint")];
    let rest = ["Pod:2 hint", "PersistentVolumeClaim:1 hint", "storage.k8s.io/VolumeAttachment:2 hint"].map(String::from);
    assert_eq!(registered(&NodeVolumeLimits), [csi_nodes.to_vec(), rest.to_vec()].concat());
    let ebs = r#"{"awsElasticBlockStore":{"volumeID":"v"}}"#;
    let pod = pod_with(&pvc_volume("c"));

    let csi_node = |drivers: &str| object("CSINode", &format!(r#"{{"metadata":{{"name":"n"}},"spec":{{"drivers":[{drivers}]}}}}"#));
    let limit = |name: &str, count: &str| format!(r#"{{"name":"{name}","allocatable":{{"count":{count}}}}}"#);
    for (old, new, want) in [
        (limit("d", "1"), limit("d", "2"), Queue),
        (limit("d", "2"), limit("d", "2"), QueueSkip),
        (limit("d", "2"), limit("d", "null"), QueueSkip),
        (String::new(), limit("d", "1"), Queue),
        (String::new(), limit("d", "0"), QueueSkip),
    ] {
        let got = hint(&NodeVolumeLimits, "storage.k8s.io/CSINodeUpdate", &pod, Some(&csi_node(&old)), Some(&csi_node(&new)));
        assert_eq!(got, Some(Ok(want)), "{old} to {new}");
    }
    for (spec, status, want) in [
        (format!(r#""nodeName":"n","volumes":[{}]"#, pvc_volume("x")), "{}", Queue),
        (format!(r#""volumes":[{}]"#, pvc_volume("x")), "{}", QueueSkip),
        (format!(r#""volumes":[{}]"#, pvc_volume("x")), r#"{"nominatedNodeName":"n"}"#, Queue),
        (r#""nodeName":"n","volumes":[{"ephemeral":{}}]"#.into(), "{}", Queue),
        (format!(r#""nodeName":"n","volumes":[{ebs}]"#), "{}", Queue),
        (r#""nodeName":"n","volumes":[{"rbd":{}}]"#.into(), "{}", QueueSkip),
        (r#""nodeName":"n""#.into(), "{}", QueueSkip),
    ] {
        let deleted = object("Pod", &format!(r#"{{"spec":{{{spec}}},"status":{status}}}"#));
        assert_eq!(hint(&NodeVolumeLimits, "PodDelete", &pod, Some(&deleted), None), Some(Ok(want)), "{spec}");
    }
    for (namespace, name, want) in [("a", "c", Queue), ("a", "d", QueueSkip), ("b", "c", QueueSkip), ("a", "p-e", Queue)] {
        let claim = object("PersistentVolumeClaim", &format!(r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}"}}}}"#));
        let pod = pod_with(&format!(r#"{},{{"name":"e","ephemeral":{{}}}}"#, pvc_volume("c")));
        assert_eq!(hint(&NodeVolumeLimits, "PersistentVolumeClaimAdd", &pod, None, Some(&claim)), Some(Ok(want)), "{name}");
    }
    for (volumes, attacher, want) in [
        (pvc_volume("c"), "anything", Ok(Queue)),
        (ebs.into(), "ebs.csi.aws.com", Ok(Queue)),
        (ebs.into(), "x", Ok(QueueSkip)),
        (r#"{"ephemeral":{}}"#.into(), "x", Ok(QueueSkip)),
        (
            r#"{"name":"i","azureDisk":{"kind":"Shared"}}"#.into(),
            "x",
            Err("converting volume(i) from inline to csi: kind(Shared) is not supported in csi migration".to_string()),
        ),
    ] {
        let gone = object("VolumeAttachment", &format!(r#"{{"spec":{{"attacher":"{attacher}"}}}}"#));
        let got = hint(&NodeVolumeLimits, "storage.k8s.io/VolumeAttachmentDelete", &pod_with(&volumes), Some(&gone), None);
        assert_eq!(got.map(|hint| hint.map_err(|e| e.to_string())), Some(want), "{volumes}");
    }
}

#[test]
fn earlier_releases_read_limits_of_the_node_and_no_attachments() {
    let emulation: Emulation = crate::release::Profile::named("v1.31.1").expect("an emulated release").into();
    let limited = |limit: &str| {
        let key = format!("attachable-volumes-csi-{DRIVER}");
        vec![("Node", format!(r#"{{"metadata":{{"name":"n"}},"status":{{"allocatable":{{"{key}":"{limit}"}}}}}}"#))]
    };
    let csi_node = || node("2", &[DRIVER])[1..].to_vec();
    let volumes = format!("{},{}", pvc_volume("c"), pvc_volume("d"));
    for (objects, fits) in
        [(vec![limited("1")], false), (vec![limited("2")], true), (vec![limited("1"), csi_node()], true), (vec![limited("9")], true)]
    {
        let claims = [bound("c", &csi("h1")), bound("d", &csi("h2"))].concat();
        let mut world = World::new(objects.into_iter().flatten().chain(claims));
        world.emulation = emulation;
        let want = if fits { Status::success() } else { too_many() };
        assert_eq!(world.verdicts(&NodeVolumeLimits, &pod_with(&volumes)).1, [want]);
    }
    let events = |emulation| NodeVolumeLimits.events_to_register(emulation).unwrap().len();
    assert_eq!((events(emulation), events(Emulation::default())), (3, 5));
}

/// A claim of another pod on the node is an error wherever the node has any limit, also one of other volumes.
#[test]
fn claims_on_a_node_are_read_if_it_has_any_limit() {
    let node = |allocatable: &str| vec![("Node", format!(r#"{{"metadata":{{"name":"n"}},"status":{{"allocatable":{{{allocatable}}}}}}}"#))];
    let theirs = || vec![("PersistentVolumeClaim", r#"{"metadata":{"name":"other-e","namespace":"a"}}"#.to_string())];
    let error = Status::error("PVC a/other-e was not created for pod a/other (pod is not owner)");
    for (version, allocatable, want) in [
        ("v1.26.4", r#""attachable-volumes-aws-ebs":"3""#, error.clone()),
        ("v1.31.14", r#""attachable-volumes-aws-ebs":"3""#, error),
        ("v1.31.14", r#""cpu":"3""#, Status::success()),
        ("v1.32.13", r#""attachable-volumes-aws-ebs":"3""#, Status::success()),
    ] {
        let objects = [node(allocatable), bound("c", &csi("1")), theirs(), other(r#"{"name":"e","ephemeral":{}}"#)];
        let mut world = World::new(objects.into_iter().flatten());
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        assert_eq!(world.verdicts(&NodeVolumeLimits, &pod_with(&pvc_volume("c"))).1, [want], "{version} {allocatable}");
    }
}

#[test]
fn volumes_of_in_tree_plugins_count_where_no_driver_has_taken_over() {
    let ebs = |id: &str| format!(r#"{{"name":"{id}","awsElasticBlockStore":{{"volumeID":"{id}"}}}}"#);
    let on_node = |meta: &str, limit: &str| {
        let allocatable = if limit.is_empty() { String::new() } else { format!(r#""attachable-volumes-aws-ebs":"{limit}""#) };
        vec![("Node", format!(r#"{{"metadata":{{"name":"n"{meta}}},"status":{{"allocatable":{{{allocatable}}}}}}}"#))]
    };
    let migrated = r#"{"metadata":{"name":"n","annotations":{"storage.alpha.kubernetes.io/migrated-plugins":"kubernetes.io/aws-ebs"}}}"#;
    let nitro = r#","labels":{"node.kubernetes.io/instance-type":"m5.large"}"#;
    let many = |number: usize| (0..number).map(|i| ebs(&format!("old-{i}"))).collect::<Vec<_>>().join(",");
    let claimed =
        || [unbound("c", "ebs"), class("ebs", "kubernetes.io/aws-ebs"), bound("d", r#""awsElasticBlockStore":{"volumeID":"v"}"#)].concat();
    for (name, objects, volumes, fits) in [
        ("one of one", vec![on_node("", "1")], ebs("a"), true),
        ("two of one", vec![on_node("", "1")], format!("{},{}", ebs("a"), ebs("b")), false),
        ("the same twice", vec![on_node("", "1"), other(&ebs("a"))], ebs("a"), true),
        ("one more", vec![on_node("", "1"), other(&ebs("a"))], ebs("b"), false),
        ("the default", vec![on_node("", ""), other(&many(38))], ebs("b"), true),
        ("beyond the default", vec![on_node("", ""), other(&many(39))], ebs("b"), false),
        ("beyond Nitro's", vec![on_node(nitro, ""), other(&many(25))], ebs("b"), false),
        ("migrated", vec![on_node("", "0"), vec![("CSINode", migrated.into())]], ebs("b"), true),
        ("claims", vec![on_node("", "2"), claimed()], format!("{},{}", pvc_volume("c"), pvc_volume("d")), true),
        ("one claim too many", vec![on_node("", "1"), claimed()], format!("{},{}", pvc_volume("c"), pvc_volume("d")), false),
    ] {
        let world = World::new(objects.into_iter().flatten());
        let want = if fits { Status::success() } else { too_many() };
        assert_eq!(world.verdicts(&InTreeVolumeLimits::EBS, &pod_with(&volumes)), (Status::success(), vec![want]), "{name}");
    }
    let world = World::new(on_node("", "1"));
    assert!(world.pre_filter(&InTreeVolumeLimits::GCE_PD, &pod_with(&ebs("a"))).1.is_skip());
}

#[test]
fn in_some_releases_a_driver_takes_over_without_being_declared() {
    let kinds = [InTreeVolumeLimits::EBS, InTreeVolumeLimits::GCE_PD, InTreeVolumeLimits::AZURE_DISK, InTreeVolumeLimits::CINDER];
    let volumes = [
        (r#"{"name":"v","awsElasticBlockStore":{"volumeID":"v"}}"#, "attachable-volumes-aws-ebs"),
        (r#"{"name":"v","gcePersistentDisk":{"pdName":"v"}}"#, "attachable-volumes-gce-pd"),
        (r#"{"name":"v","azureDisk":{"diskName":"v","diskURI":"u"}}"#, "attachable-volumes-azure-disk"),
        (r#"{"name":"v","cinder":{"volumeID":"v"}}"#, "attachable-volumes-cinder"),
    ];
    for (release, taken_over) in [
        ("v1.30.1", [true, true, true, true]),
        ("v1.28.3", [true, true, true, true]),
        ("v1.27.1", [true, false, true, true]),
        ("v1.24.4", [false, false, false, true]),
        ("v1.22.6", [false, false, false, false]),
    ] {
        for ((kind, (volume, limit)), fits) in kinds.iter().zip(volumes).zip(taken_over) {
            let node = format!(r#"{{"metadata":{{"name":"n"}},"status":{{"allocatable":{{"{limit}":"0"}}}}}}"#);
            let mut world = World::new([("Node", node), ("CSINode", r#"{"metadata":{"name":"n"}}"#.into())]);
            world.emulation = crate::release::Profile::named(release).expect("an emulated release").into();
            let want = if fits { Status::success() } else { too_many() };
            assert_eq!(world.verdicts(kind, &pod_with(volume)).1, [want], "{release} {limit}");
        }
    }
}
