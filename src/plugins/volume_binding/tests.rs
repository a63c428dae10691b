use std::sync::Arc;

use super::*;
use crate::cluster::{Object, Pod};
use crate::framework::NodeInfo;
use crate::framework::{Code, PreBindPlugin, PreScorePlugin, ReservePlugin, ScorePlugin};
use crate::plugins::volume_helpers::testing::{World, pod_with, pvc_volume};
use crate::release::Gate;

type Objects = Vec<(&'static str, String)>;

const BIND_COMPLETED: &str = r#""annotations":{"pv.kubernetes.io/bind-completed":"yes"}"#;

fn plugin() -> VolumeBinding {
    VolumeBinding::default()
}

/// Makes a claim `a/<name>`; `meta` and `spec` are the fields of these objects.
fn claim(name: &str, meta: &str, spec: &str) -> (&'static str, String) {
    let meta = if meta.is_empty() { String::new() } else { format!(",{meta}") };
    ("PersistentVolumeClaim", format!(r#"{{"metadata":{{"name":"{name}","namespace":"a","uid":"uid-{name}"{meta}}},"spec":{{{spec}}}}}"#))
}

fn bound(name: &str, volume: &str) -> (&'static str, String) {
    claim(name, BIND_COMPLETED, &format!(r#""volumeName":"{volume}""#))
}

/// Makes a claim of `size` that waits for a consumer.
fn waiting(name: &str, size: &str) -> (&'static str, String) {
    claim(
        name,
        "",
        &format!(r#""storageClassName":"later","accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"{size}"}}}}"#),
    )
}

/// Makes an available volume of class `later` with more fields in its spec.
fn volume(name: &str, size: &str, more: &str) -> (&'static str, String) {
    let more = if more.is_empty() { String::new() } else { format!(",{more}") };
    let spec = format!(r#""storageClassName":"later","accessModes":["ReadWriteOnce"],"capacity":{{"storage":"{size}"}}{more}"#);
    ("PersistentVolume", format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{{spec}}},"status":{{"phase":"Available"}}}}"#))
}

fn on_zone(zone: &str) -> String {
    let expression = format!(r#"{{"key":"zone","operator":"In","values":["{zone}"]}}"#);
    format!(r#""nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{expression}]}}]}}}}"#)
}

fn class(provisioner: &str, more: &str) -> (&'static str, String) {
    let more = if more.is_empty() { String::new() } else { format!(",{more}") };
    let text =
        format!(r#"{{"metadata":{{"name":"later"}},"provisioner":"{provisioner}","volumeBindingMode":"WaitForFirstConsumer"{more}}}"#);
    ("StorageClass", text)
}

fn static_class() -> (&'static str, String) {
    class("kubernetes.io/no-provisioner", "")
}

/// Makes nodes `x` and `y` in zones `x` and `y`.
fn nodes() -> Objects {
    ["x", "y"].map(|n| ("Node", format!(r#"{{"metadata":{{"name":"{n}","labels":{{"zone":"{n}"}}}}}}"#))).to_vec()
}

fn world(objects: Objects) -> World {
    World::new([nodes(), objects].concat())
}

fn uses(claims: &[&str]) -> Arc<Pod> {
    pod_with(&claims.iter().map(|c| pvc_volume(c)).collect::<Vec<_>>().join(","))
}

const BIND_CONFLICT: &str = "node(s) didn't find available persistent volumes to bind";
const NODE_CONFLICT: &str = "node(s) didn't match PersistentVolume's node affinity";
const NOT_ENOUGH_SPACE: &str = "node(s) did not have enough free storage";
const PV_NOT_EXIST: &str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

/// Checks the reasons on `x` and on `y`.
fn check(name: &str, objects: Objects, claims: &[&str], want: [&[&str]; 2]) {
    let (status, verdicts) = world(objects).verdicts(&plugin(), &uses(claims));
    assert_eq!(status, Status::success(), "{name}");
    let want = want.map(|reasons| match reasons {
        [] => Status::success(),
        reasons => Status::new(Code::UnschedulableAndUnresolvable, reasons.iter().map(ToString::to_string)),
    });
    assert_eq!(verdicts, want, "{name}");
}

#[test]
fn pre_filter_rejects_claims_that_cannot_be_bound() {
    let ephemeral = r#"{"name":"e","ephemeral":{}}"#;
    let owned = r#""ownerReferences":[{"uid":"p","controller":true}]"#;
    let no_mode = || ("StorageClass", r#"{"metadata":{"name":"later"}}"#.to_string());
    let status = |phase: &str, meta: &str| {
        let text =
            format!(r#"{{"metadata":{{"name":"c","namespace":"a"{meta}}},"spec":{{"volumeName":"v"}},"status":{{"phase":"{phase}"}}}}"#);
        vec![("PersistentVolumeClaim", text)]
    };
    let immediate = || Status::unresolvable("pod has unbound immediate PersistentVolumeClaims");
    for (name, volumes, objects, want) in [
        ("no volumes", String::new(), vec![], Status::skip()),
        ("no claims", r#"{"csi":{"driver":"d"}}"#.into(), vec![], Status::skip()),
        ("missing", pvc_volume("c"), vec![], Status::unresolvable("persistentvolumeclaim \"c\" not found")),
        (
            "ephemeral missing",
            ephemeral.into(),
            vec![],
            Status::unresolvable("waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-e\""),
        ),
        (
            "lost",
            pvc_volume("c"),
            status("Lost", ""),
            Status::unresolvable("persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\""),
        ),
        (
            "going",
            pvc_volume("c"),
            status("Bound", r#","deletionTimestamp":"2026-01-01T00:00:00Z""#),
            Status::unresolvable("persistentvolumeclaim \"c\" is being deleted"),
        ),
        (
            "ephemeral of another",
            ephemeral.into(),
            vec![claim("p-e", "", "")],
            Status::unresolvable("PVC a/p-e was not created for pod a/p (pod is not owner)"),
        ),
        ("ephemeral, unbound", ephemeral.into(), vec![claim("p-e", owned, "")], immediate()),
        ("no class", pvc_volume("c"), vec![claim("c", "", "")], immediate()),
        ("class missing", pvc_volume("c"), vec![waiting("c", "1")], immediate()),
        (
            "class without mode",
            pvc_volume("c"),
            vec![waiting("c", "1"), no_mode()],
            Status::error("VolumeBindingMode not set for StorageClass \"later\""),
        ),
        (
            "bound by a user",
            pvc_volume("c"),
            vec![claim("c", "", r#""volumeName":"v","storageClassName":"later""#), static_class()],
            immediate(),
        ),
        ("annotation without volume", pvc_volume("c"), vec![claim("c", BIND_COMPLETED, "")], immediate()),
        ("bound", pvc_volume("c"), vec![bound("c", "v")], Status::success()),
        ("waiting", pvc_volume("c"), vec![waiting("c", "1"), static_class()], Status::success()),
    ] {
        assert_eq!(world(objects).pre_filter(&plugin(), &pod_with(&volumes)).1, want, "{name}");
    }
}

#[test]
fn bound_volumes_keep_the_pod_where_they_are() {
    let there = |zone: &str| volume("v", "1", &on_zone(zone));
    check("x only", vec![bound("c", "v"), there("x")], &["c"], [&[], &[NODE_CONFLICT]]);
    check("anywhere", vec![bound("c", "v"), volume("v", "1", "")], &["c"], [&[], &[]]);
    check("gone", vec![bound("c", "v")], &["c"], [&[PV_NOT_EXIST], &[PV_NOT_EXIST]]);
    let both = vec![bound("c", "v"), there("x"), bound("d", "gone")];
    check("the first problem decides", both.clone(), &["c", "d"], [&[PV_NOT_EXIST], &[NODE_CONFLICT]]);
    check("and so the other way", both, &["d", "c"], [&[PV_NOT_EXIST], &[PV_NOT_EXIST]]);
    let waits = vec![bound("c", "v"), there("x"), waiting("d", "2"), static_class()];
    let conflicts: [&[&str]; 2] = [&[BIND_CONFLICT], &[NODE_CONFLICT, BIND_CONFLICT]];
    check("reasons add up", waits, &["c", "d"], conflicts);
    let gone = vec![bound("c", "gone"), waiting("d", "1"), static_class()];
    let conflicts: &[&str] = &[BIND_CONFLICT, PV_NOT_EXIST];
    check("a missing volume comes last", gone, &["c", "d"], [conflicts, conflicts]);
    let fields =
        r#""nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["q"]}]}]}}"#;
    check("fields do not take part", vec![bound("c", "v"), volume("v", "1", fields)], &["c"], [&[], &[]]);
}

#[test]
fn in_tree_volumes_are_looked_at_as_their_driver_labels_nodes() {
    let ebs = |id: &str| {
        volume(
            "v",
            "1",
            &format!(r#""awsElasticBlockStore":{{"volumeID":"{id}"}},{}"#, on_zone("x").replace("zone", "topology.kubernetes.io/zone")),
        )
    };
    let migrated = r#"{"metadata":{"name":"x","annotations":{"storage.alpha.kubernetes.io/migrated-plugins":"kubernetes.io/aws-ebs"}}}"#;
    let node = r#"{"metadata":{"name":"x","labels":{"topology.kubernetes.io/zone":"x"}}}"#;
    let verdict = |objects: Objects| {
        let world = World::new([vec![("Node", node.to_string()), bound("c", "v")], objects].concat());
        world.verdicts(&plugin(), &uses(&["c"])).1
    };
    assert_eq!(verdict(vec![ebs("v")]), [Status::success()]);
    assert_eq!(verdict(vec![ebs("v"), ("CSINode", migrated.into())]), [Status::unresolvable(NODE_CONFLICT)]);
    let text = "could not translate pv: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z)";
    assert_eq!(verdict(vec![ebs("aws://z"), ("CSINode", migrated.into())]), [Status::error(text)]);
}

#[test]
fn a_waiting_claim_takes_a_free_volume_that_suits() {
    let none: [&[&str]; 2] = [&[BIND_CONFLICT], &[BIND_CONFLICT]];
    let all: [&[&str]; 2] = [&[], &[]];
    let with = |v: (&'static str, String)| vec![waiting("c", "5Gi"), static_class(), v];
    let edited = |from: &str, to: &str| {
        let (kind, text) = volume("v", "5Gi", "");
        assert!(text.contains(from));
        (kind, text.replace(from, to))
    };
    for (name, candidate, want) in [
        ("equal size", volume("v", "5Gi", ""), all),
        ("too small", volume("v", "4Gi", ""), none),
        ("no size", edited(r#""capacity":{"storage":"5Gi"}"#, r#""capacity":{}"#), none),
        ("zone x", volume("v", "5Gi", &on_zone("x")), [&[], &[BIND_CONFLICT]]),
        ("another class", edited("later", "now"), none),
        (
            "class by annotation",
            edited(r#""name":"v""#, r#""name":"v","annotations":{"volume.beta.kubernetes.io/storage-class":"now"}"#),
            none,
        ),
        ("not available", edited("Available", "Released"), none),
        ("going", edited(r#""name":"v""#, r#""name":"v","deletionTimestamp":"2026-01-01T00:00:00Z""#), none),
        ("block", volume("v", "5Gi", r#""volumeMode":"Block""#), none),
        ("file system", volume("v", "5Gi", r#""volumeMode":"Filesystem""#), all),
        ("attributes class", volume("v", "5Gi", r#""volumeAttributesClassName":"gold""#), none),
        ("access mode", edited("ReadWriteOnce", "ReadOnlyMany"), none),
        ("more access modes", edited(r#"["ReadWriteOnce"]"#, r#"["ReadOnlyMany","ReadWriteOnce"]"#), all),
        ("of another claim", volume("v", "5Gi", r#""claimRef":{"namespace":"a","name":"d"}"#), none),
        ("of a claim that was named the same", volume("v", "5Gi", r#""claimRef":{"namespace":"a","name":"c","uid":"old"}"#), none),
        ("of the claim", volume("v", "5Gi", r#""claimRef":{"namespace":"a","name":"c"}"#), all),
        ("of the claim, but small", volume("v", "4Gi", r#""claimRef":{"namespace":"a","name":"c"}"#), none),
    ] {
        check(name, with(candidate), &["c"], want);
    }
    // A volume that refers to the claim is the only choice, in any phase.
    let prebound = format!(r#""claimRef":{{"namespace":"a","name":"c","uid":"uid-c"}},{}"#, on_zone("x"));
    let (kind, text) = volume("w", "5Gi", &prebound);
    let objects = [with(volume("v", "5Gi", "")), vec![(kind, text.replace("Available", "Bound"))]].concat();
    check("of the claim, elsewhere", objects, &["c"], [&[], &[BIND_CONFLICT]]);
}

#[test]
fn selectors_choose_by_the_volumes_labels() {
    let selecting = |selector: &str| {
        let (kind, text) = waiting("c", "1");
        (kind, text.replace(r#""spec":{"#, &format!(r#""spec":{{"selector":{selector},"#)))
    };
    let labelled = |name: &str, disk: &str| {
        let (kind, text) = volume(name, "1", "");
        (kind, text.replace(&format!(r#""name":"{name}""#), &format!(r#""name":"{name}","labels":{{"disk":"{disk}"}}"#)))
    };
    let objects = |selector: &str| vec![selecting(selector), static_class(), labelled("v", "ssd")];
    check("matches", objects(r#"{"matchLabels":{"disk":"ssd"}}"#), &["c"], [&[], &[]]);
    let none: &[&str] = &[BIND_CONFLICT];
    check("does not match", objects(r#"{"matchLabels":{"disk":"hdd"}}"#), &["c"], [none, none]);
    let broken = world(objects(r#"{"matchExpressions":[{"key":"disk","operator":"Near"}]}"#));
    let text = "error creating internal label selector for claim: a/c: \"Near\" is not a valid label selector operator";
    assert_eq!(broken.verdicts(&plugin(), &uses(&["c"])).1[0], Status::error(text));
}

/// Returns the writes of Reserve for the pod on `x`, as `volume->claim` and `claim@node`.
fn writes(objects: Objects, claims: &[&str]) -> Vec<String> {
    let (world, plugin, pod) = (world(objects), plugin(), uses(claims));
    let (mut state, _) = world.pre_filter(&plugin, &pod);
    let (info, node) = (PodInfo::new(pod), world.node("x"));
    assert_eq!(ReservePlugin::reserve(&plugin, &world.cx(), &mut state, &info, node), Status::success());
    let written = PreBindPlugin::pre_bind(&plugin, &world.cx(), &state, &info, node).unwrap();
    let text = |object: &Object| match object {
        Object::PersistentVolume(v) => {
            let reference = v.spec.claim_ref.as_ref().unwrap();
            let by = v.metadata.annotations.get("pv.kubernetes.io/bound-by-controller").map_or("user", |_| "us");
            format!("{}->{}/{} {} by {by}", v.metadata.name, reference.namespace, reference.name, reference.uid)
        }
        Object::PersistentVolumeClaim(c) => {
            format!("{}@{}", c.metadata.name, c.metadata.annotations.get("volume.kubernetes.io/selected-node").unwrap())
        }
        other => panic!("{other:?}"),
    };
    written.iter().map(text).collect()
}

#[test]
fn the_smallest_volume_goes_to_the_smallest_claim() {
    let volumes = |list: &[(&str, &str)]| list.iter().map(|(name, size)| volume(name, size, "")).collect::<Objects>();
    let claims = || vec![static_class(), waiting("big", "5Gi"), waiting("small", "1Gi")];
    let us = |v: &str, c: &str| format!("{v}->a/{c} uid-{c} by us");
    for (list, want) in [
        (&[("b", "9Gi"), ("a", "9Gi")][..], vec![us("a", "small"), us("b", "big")]),
        (&[("a", "9Gi"), ("b", "5120Mi")][..], vec![us("b", "small"), us("a", "big")]),
        (&[("a", "9Gi"), ("b", "1Gi"), ("c", "6Gi")][..], vec![us("b", "small"), us("c", "big")]),
    ] {
        assert_eq!(writes([claims(), volumes(list)].concat(), &["big", "small"]), want, "{list:?}");
    }
    let none: &[&str] = &[BIND_CONFLICT];
    check("one volume for two", [claims(), volumes(&[("a", "9Gi")])].concat(), &["big", "small"], [none, none]);
    // A volume for the node precedes a larger one for any node, and vice versa.
    let local = |size: &str| {
        vec![
            static_class(),
            waiting("c", "1Gi"),
            volume("any", "5Gi", ""),
            volume("here", size, &on_zone("x")),
            volume("there", "1Gi", &on_zone("y")),
        ]
    };
    assert_eq!(writes(local("4Gi"), &["c"]), [us("here", "c")]);
    assert_eq!(writes(local("6Gi"), &["c"]), [us("any", "c")]);
}

#[test]
fn what_differs_is_written() {
    let static_objects = |more: &str| vec![static_class(), waiting("c", "1"), volume("v", "1", more)];
    assert_eq!(writes(static_objects(""), &["c"]), ["v->a/c uid-c by us"]);
    assert_eq!(writes(static_objects(r#""claimRef":{"namespace":"a","name":"c"}"#), &["c"]), ["v->a/c uid-c by user"]);
    let same = r#""claimRef":{"namespace":"a","name":"c","uid":"uid-c"}"#;
    assert_eq!(writes(static_objects(same), &["c"]), Vec::<String>::new());
    let provisioned = vec![class("csi.example.com", ""), waiting("c", "1"), waiting("d", "1"), volume("v", "1", &on_zone("y"))];
    assert_eq!(writes(provisioned, &["c", "d"]), ["c@x", "d@x"]);
    let selected = |node: &str| {
        let meta = format!(r#""annotations":{{"volume.kubernetes.io/selected-node":"{node}"}}"#);
        vec![class("csi.example.com", ""), claim("c", &meta, r#""storageClassName":"later""#), volume("v", "1", "")]
    };
    assert_eq!(writes(selected("x"), &["c"]), Vec::<String>::new(), "selected already; no volume is looked for");
    check("selected elsewhere", selected("y"), &["c"], [&[BIND_CONFLICT], &[]]);
    assert_eq!(writes(vec![bound("c", "v"), volume("v", "1", "")], &["c"]), Vec::<String>::new());
}

#[test]
fn provisioning_needs_a_provisioner_a_place_and_room() {
    let none: [&[&str]; 2] = [&[BIND_CONFLICT], &[BIND_CONFLICT]];
    let all: [&[&str]; 2] = [&[], &[]];
    let allowed = |terms: &str| class("csi.example.com", &format!(r#""allowedTopologies":[{terms}]"#));
    let zone = |values: &str| format!(r#"{{"matchLabelExpressions":[{{"key":"zone","values":[{values}]}}]}}"#);
    for (name, class, want) in [
        ("no provisioner", class("", ""), none),
        ("none on purpose", static_class(), none),
        ("anywhere", class("csi.example.com", ""), all),
        ("x only", allowed(&zone(r#""x""#)), [&[], &[BIND_CONFLICT]]),
        ("either", allowed(&format!("{},{}", zone(r#""x""#), zone(r#""y""#))), all),
        ("no value", allowed(&zone("")), none),
        ("an empty term", allowed("{}"), none),
    ] {
        check(name, vec![class, waiting("c", "5Gi")], &["c"], want);
    }
    let driver =
        |reports: &str| ("CSIDriver", format!(r#"{{"metadata":{{"name":"csi.example.com"}},"spec":{{"storageCapacity":{reports}}}}}"#));
    let capacity = |class: &str, text: &str, zone: &str| {
        let topology = if zone.is_empty() { String::new() } else { format!(r#","nodeTopology":{{"matchLabels":{{"zone":"{zone}"}}}}"#) };
        ("CSIStorageCapacity", format!(r#"{{"metadata":{{"name":"s","namespace":"a"}},"storageClassName":"{class}",{text}{topology}}}"#))
    };
    let full: [&[&str]; 2] = [&[NOT_ENOUGH_SPACE], &[NOT_ENOUGH_SPACE]];
    let room = r#""capacity":"5Gi""#;
    for (name, driver, capacity, want) in [
        ("room on x", driver("true"), capacity("later", room, "x"), [&[][..], &[NOT_ENOUGH_SPACE]]),
        ("too little", driver("true"), capacity("later", r#""capacity":"4Gi""#, "x"), full),
        ("volumes too small", driver("true"), capacity("later", r#""capacity":"9Gi","maximumVolumeSize":"4Gi""#, "x"), full),
        ("of another class", driver("true"), capacity("now", room, "x"), full),
        ("no topology", driver("true"), capacity("later", room, ""), full),
        ("unknown room", driver("true"), capacity("later", r#""capacity":null"#, "x"), full),
        ("does not report", driver("false"), capacity("later", room, "x"), all),
        ("does not say", driver("null"), capacity("later", room, "x"), all),
    ] {
        check(name, vec![class("csi.example.com", ""), waiting("c", "5Gi"), driver, capacity], &["c"], want);
    }
    let no_size = vec![class("csi.example.com", ""), claim("c", "", r#""storageClassName":"later""#), driver("true")];
    check("no size, no need for room", no_size, &["c"], all);
}

#[test]
fn reserve_and_pre_bind() {
    let objects = vec![static_class(), waiting("c", "1"), volume("v", "1", &on_zone("x"))];
    let (world, plugin, pod) = (world(objects), plugin(), uses(&["c"]));
    let (mut state, _) = world.pre_filter(&plugin, &pod);
    let (info, cx) = (PodInfo::new(pod), world.cx());
    let (x, y): (&NodeInfo, &NodeInfo) = (world.node("x"), world.node("y"));
    let unknown = Status::error("no pod volume found for node \"x\"");
    assert_eq!(plugin.pre_bind_pre_flight(&cx, &state, &info, x), unknown);
    assert_eq!(ReservePlugin::reserve(&plugin, &cx, &mut state, &info, y).in_text(), Status::error(BIND_CONFLICT));
    assert_eq!(ReservePlugin::reserve(&plugin, &cx, &mut state, &info, x), Status::success());
    assert_eq!(plugin.pre_bind_pre_flight(&cx, &state, &info, x), Status::success());
    assert_eq!(PreBindPlugin::pre_bind(&plugin, &cx, &state, &info, x).unwrap().len(), 1);
    let hasty = VolumeBinding::new(VolumeBindingArgs { bind_timeout_seconds: 0, ..VolumeBindingArgs::default() });
    assert_eq!(PreBindPlugin::pre_bind(&hasty, &cx, &state, &info, x), Err(Status::error("binding volumes: context deadline exceeded")));
    plugin.unreserve(&cx, &mut state, &info, x);
    assert_eq!(PreBindPlugin::pre_bind(&plugin, &cx, &state, &info, x), Err(unknown));

    let mut bare = CycleState::default();
    plugin.unreserve(&cx, &mut bare, &info, x);
    assert_eq!(ReservePlugin::reserve(&plugin, &cx, &mut bare, &info, x), Status::error("not found"));
    assert_eq!(FilterPlugin::filter(&plugin, &cx, &bare, &info, x), Status::error("not found"));

    let (mut state, _) = world.pre_filter(&plugin, &pod_with(""));
    assert_eq!(ReservePlugin::reserve(&plugin, &cx, &mut state, &info, x), Status::success());
    assert_eq!(plugin.pre_bind_pre_flight(&cx, &state, &info, x), Status::skip());
    assert_eq!(PreBindPlugin::pre_bind(&plugin, &cx, &state, &info, x), Ok(vec![]));
}

#[test]
fn scores_by_capacity_only_behind_the_gate() {
    let driver = ("CSIDriver", r#"{"metadata":{"name":"csi.example.com"},"spec":{"storageCapacity":true}}"#.to_string());
    let capacity = |zone: &str, size: &str| {
        let text = format!(
            r#"{{"metadata":{{"name":"{zone}","namespace":"a"}},"storageClassName":"later","capacity":"{size}","nodeTopology":{{"matchLabels":{{"zone":"{zone}"}}}}}}"#
        );
        ("CSIStorageCapacity", text)
    };
    let provisioned =
        vec![class("csi.example.com", ""), driver, capacity("x", "10Gi"), capacity("y", "20Gi"), waiting("c", "2Gi"), waiting("d", "3Gi")];
    let static_objects = vec![static_class(), waiting("c", "2Gi"), volume("v", "4Gi", &on_zone("x")), volume("w", "8Gi", &on_zone("y"))];
    for (name, objects, claims, want) in [
        ("provisioned", provisioned, &["c", "d"][..], [50, 75]),
        ("static", static_objects, &["c"][..], [50, 75]),
        ("bound", vec![bound("c", "v"), volume("v", "1", "")], &["c"][..], [0, 0]),
        ("no claims", vec![], &[][..], [0, 0]),
    ] {
        let (mut world, plugin, pod) = (world(objects), plugin(), uses(claims));
        let info = PodInfo::new(pod.clone());
        let (mut state, _) = world.pre_filter(&plugin, &pod);
        assert_eq!(PreScorePlugin::pre_score(&plugin, &world.cx(), &mut state, &info, &[]), Status::skip(), "{name}");
        assert_eq!(ScorePlugin::score(&plugin, &world.cx(), &state, &info, world.node("x")), Ok(0), "{name}");
        let default = crate::release::Profile::named("v1.37.0").expect("an emulated release").into();
        assert!(crate::release::Emulation::enabled(default, Gate::StorageCapacityScoring), "on by default");
        world = world.with(Gate::StorageCapacityScoring);
        assert_eq!(PreScorePlugin::pre_score(&plugin, &world.cx(), &mut state, &info, &[]), Status::success(), "{name}");
        let scores = ["x", "y"].map(|n| ScorePlugin::score(&plugin, &world.cx(), &state, &info, world.node(n)).unwrap());
        assert_eq!(scores, want, "{name}");
    }
}

#[test]
fn earlier_releases_narrow_the_nodes_to_those_of_local_volumes() {
    let local = |name: &str, hosts: &str| {
        let affinity = format!(
            r#"{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"kubernetes.io/hostname","operator":"In","values":[{hosts}]}}]}}]}}}}"#
        );
        let meta = r#""pv.kubernetes.io/bind-completed":"yes""#;
        vec![
            (
                "PersistentVolumeClaim",
                format!(
                    r#"{{"metadata":{{"name":"{name}","namespace":"a","annotations":{{{meta}}}}},"spec":{{"volumeName":"v-{name}"}}}}"#
                ),
            ),
            ("PersistentVolume", format!(r#"{{"metadata":{{"name":"v-{name}"}},"spec":{{"nodeAffinity":{affinity}}}}}"#)),
        ]
    };
    let mut world = World::new([local("c", r#""n1","n2""#), local("d", r#""n2","n3""#)].into_iter().flatten());
    let pod = PodInfo::new(pod_with(&format!("{},{}", pvc_volume("c"), pvc_volume("d"))));
    for (version, names) in [("v1.32.2", None), ("v1.31.1", Some(vec!["n2"]))] {
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        let point = VolumeBinding::default();
        let (result, status) = crate::framework::PreFilterPlugin::pre_filter(&point, &world.cx(), &mut CycleState::default(), &pod);
        assert!(status.is_success(), "{status}");
        let found: Option<Vec<String>> = result.node_names.map(|names| names.iter().map(ToString::to_string).collect());
        assert_eq!(found, names.map(|names: Vec<&str>| names.into_iter().map(str::to_owned).collect()), "{version}");
    }
}
