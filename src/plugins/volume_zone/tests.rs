//! Tests of `volume_zone`.

use super::*;
use crate::framework::QueueingHint::{Queue, QueueSkip};
use crate::plugins::volume_helpers::testing::{World, hint, object, pod_with, pvc_volume, registered};

fn named(name: &str, labels: &str) -> String {
    format!(r#"{{"metadata":{{"name":"{name}","labels":{labels}}}}}"#)
}

fn claim(spec: &str) -> (&'static str, String) {
    ("PersistentVolumeClaim", format!(r#"{{"metadata":{{"name":"c","namespace":"a"}},"spec":{spec}}}"#))
}

#[test]
fn nodes_match_the_volumes_labels() {
    let zone = "topology.kubernetes.io/zone";
    let beta = "failure-domain.beta.kubernetes.io/zone";
    for (volume, node, passes) in [
        (format!(r#"{{"{zone}":"x"}}"#), format!(r#"{{"{zone}":"x"}}"#), true),
        (format!(r#"{{"{zone}":"x"}}"#), format!(r#"{{"{zone}":"y"}}"#), false),
        (format!(r#"{{"{zone}":"x__ y "}}"#), format!(r#"{{"{zone}":"y"}}"#), true),
        (format!(r#"{{"{zone}":"x"}}"#), r#"{"kubernetes.io/hostname":"h"}"#.to_string(), true),
        (format!(r#"{{"{beta}":"x"}}"#), format!(r#"{{"{zone}":"x"}}"#), true),
        // The stable label of a volume does not match the beta label of a node.
        (format!(r#"{{"{zone}":"x"}}"#), format!(r#"{{"{beta}":"x"}}"#), false),
        (
            format!(r#"{{"{zone}":"x","topology.kubernetes.io/region":"r"}}"#),
            format!(r#"{{"{zone}":"x","topology.kubernetes.io/region":"s"}}"#),
            false,
        ),
        (format!(r#"{{"{zone}":"x","topology.kubernetes.io/region":"r"}}"#), format!(r#"{{"{zone}":"x"}}"#), false),
    ] {
        let world = World::new([("Node", named("n", &node)), ("PersistentVolume", named("v", &volume)), claim(r#"{"volumeName":"v"}"#)]);
        let want = if passes { Status::success() } else { Status::unresolvable("node(s) had no available volume zone") };
        let pod = pod_with(&pvc_volume("c"));
        assert_eq!(world.verdicts(&VolumeZone, &pod), (Status::success(), vec![want.clone()]), "{volume} on {node}");
        let unprepared = FilterPlugin::filter(&VolumeZone, &world.cx(), &CycleState::default(), &PodInfo::new(pod), world.node("n"));
        assert_eq!(unprepared.in_text(), want, "Filter looks for itself where PreFilter left nothing");
    }
}

#[test]
fn pre_filter_rejects_what_has_no_volume() {
    for (spec, want) in [
        (r#"{"volumeName":"v"}"#, Status::skip()),
        (r#"{"volumeName":"w"}"#, Status::skip()),
        (r#"{"volumeName":"gone"}"#, Status::unresolvable("persistentvolume \"gone\" not found")),
        ("{}", Status::unresolvable("PersistentVolumeClaim had no pv name and storageClass name")),
        (r#"{"storageClassName":"gone"}"#, Status::unresolvable("storageclass.storage.k8s.io \"gone\" not found")),
        (r#"{"storageClassName":"unset"}"#, Status::unresolvable("VolumeBindingMode not set for StorageClass \"unset\"")),
        (r#"{"storageClassName":"now"}"#, Status::unresolvable("PersistentVolume had no name")),
        (r#"{"storageClassName":"later"}"#, Status::skip()),
    ] {
        let world = World::new([
            ("PersistentVolume", named("v", "{}")),
            ("PersistentVolume", named("w", r#"{"topology.kubernetes.io/zone":"a__"}"#)),
            ("StorageClass", r#"{"metadata":{"name":"unset"}}"#.to_string()),
            ("StorageClass", r#"{"metadata":{"name":"now"},"volumeBindingMode":"Immediate"}"#.to_string()),
            ("StorageClass", r#"{"metadata":{"name":"later"},"volumeBindingMode":"WaitForFirstConsumer"}"#.to_string()),
            claim(spec),
        ]);
        assert_eq!(world.verdicts(&VolumeZone, &pod_with(&pvc_volume("c"))), (want, vec![]), "{spec}");
    }
    let world = World::new([]);
    for (volumes, want) in [
        (pvc_volume(""), Status::unresolvable("PersistentVolumeClaim had no name")),
        (pvc_volume("c"), Status::unresolvable("persistentvolumeclaim \"c\" not found")),
        (r#"{"name":"e","ephemeral":{}}"#.to_string(), Status::skip()),
        (String::new(), Status::skip()),
    ] {
        assert_eq!(world.verdicts(&VolumeZone, &pod_with(&volumes)).0, want, "{volumes}");
    }
}

#[test]
fn updates_of_claims_count_from_1_31_on() {
    for (version, updates) in [("v1.30.14", false), ("v1.31.1", true)] {
        let emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        let event = crate::framework::ClusterEvent::new(EventResource::PersistentVolumeClaim, ActionType::UPDATE);
        let events = VolumeZone.events_to_register(emulation).unwrap();
        assert_eq!(events.iter().any(|e| e.event.matches(&event)), updates, "{version}");
    }
}

#[test]
fn hints() {
    let update = ActionType::UPDATE.0 | 1;
    let node = format!("Node:{}", 1 | ActionType::UPDATE_NODE_LABEL.0);
    let (claims, volumes) = (format!("PersistentVolumeClaim:{update} hint"), format!("PersistentVolume:{update} hint"));
    assert_eq!(registered(&VolumeZone), ["storage.k8s.io/StorageClass:1 hint".to_string(), node, claims, volumes]);
    let pod = pod_with(&pvc_volume("c"));
    let check = |resource: EventResource, old: Option<(&str, &str)>, new: (&str, &str)| {
        let event = crate::framework::ClusterEvent::new(resource, ActionType::ADD);
        let events = VolumeZone.events_to_register(Emulation::default()).unwrap();
        let registered = events.into_iter().find(|e| e.event.matches(&event)).unwrap().event.to_string();
        let (old, new) = (old.map(|(kind, text)| object(kind, text)), object(new.0, new.1));
        hint(&VolumeZone, &registered, &pod, old.as_ref(), Some(&new)).unwrap().unwrap()
    };
    for (mode, want) in [(r#""WaitForFirstConsumer""#, Queue), (r#""Immediate""#, QueueSkip), ("null", QueueSkip)] {
        let class = format!(r#"{{"metadata":{{"name":"s"}},"volumeBindingMode":{mode}}}"#);
        assert_eq!(check(EventResource::StorageClass, None, ("StorageClass", &class)), want, "{mode}");
    }
    for (namespace, name, want) in [("a", "c", Queue), ("a", "d", QueueSkip), ("b", "c", QueueSkip)] {
        let claim = format!(r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}"}}}}"#);
        assert_eq!(check(EventResource::PersistentVolumeClaim, None, ("PersistentVolumeClaim", &claim)), want);
    }
    let at = |zone: &str| named("v", &format!(r#"{{"topology.kubernetes.io/zone":"{zone}"}}"#));
    for (old, want) in [(None, Queue), (Some(at("x")), QueueSkip), (Some(at("y")), Queue)] {
        let old = old.as_deref().map(|text| ("PersistentVolume", text));
        assert_eq!(check(EventResource::PersistentVolume, old, ("PersistentVolume", &at("x"))), want);
    }
}

#[test]
fn the_first_releases_compare_beta_labels_with_beta_labels_alone() {
    let node = r#"{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"a"}}}"#.to_string();
    let volume = named("v", r#"{"failure-domain.beta.kubernetes.io/zone":"a"}"#);
    let mut world = World::new([("Node", node), ("PersistentVolume", volume), claim(r#"{"volumeName":"v"}"#)]);
    for (version, fits) in [("v1.28.3", false), ("v1.29.1", true)] {
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        let found = world.verdicts(&VolumeZone, &pod_with(&pvc_volume("c"))).1;
        assert_eq!(found[0].is_success(), fits, "{version}");
    }
}
