//! Tests of `neighbors`.

use super::*;

fn object(kind: NeighborKind, namespace: &str, name: &str, version: &str) -> Neighbor {
    let text = format!(r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","resourceVersion":"{version}"}}}}"#);
    Neighbor::deserialize_kind(kind, "v1".into(), &mut serde_json::Deserializer::from_str(&text)).unwrap()
}

#[test]
fn a_kind_is_known_by_an_object_or_an_empty_list() {
    let mut neighbors = Neighbors::default();
    assert!(neighbors.is_empty() && !neighbors.knows(NeighborKind::Deployment));
    neighbors.insert(object(NeighborKind::Deployment, "shop", "web", "1"));
    neighbors.add_listed(NeighborKind::ResourceQuota);
    assert!(neighbors.knows(NeighborKind::Deployment) && neighbors.knows(NeighborKind::ResourceQuota));
    assert!(!neighbors.knows(NeighborKind::LimitRange) && !neighbors.is_empty());
}

#[test]
fn a_withheld_kind_is_unknown_until_it_is_listed() {
    let mut neighbors = Neighbors::default();
    neighbors.withhold(NeighborKind::Job, MissingReason::Refused);
    assert!(!neighbors.knows(NeighborKind::Job) && neighbors.why(NeighborKind::Job) == Some(MissingReason::Refused));
    let mut listed = Neighbors::default();
    listed.add_listed(NeighborKind::Job);
    listed.withhold(NeighborKind::Deployment, MissingReason::Failed);
    listed.insert(object(NeighborKind::CronJob, "a", "x", "1"));
    neighbors.extend(listed);
    assert!(neighbors.knows(NeighborKind::Job) && neighbors.why(NeighborKind::Job).is_none());
    assert_eq!((neighbors.why(NeighborKind::Deployment), neighbors.count()), (Some(MissingReason::Failed), 1));
    neighbors.remove(NeighborKind::CronJob, &Key::new("a", "x"));
    assert!(!neighbors.knows(NeighborKind::CronJob), "the last one is gone, and whether there are others is unknown");
}

#[test]
fn the_newest_state_is_kept_and_namespaces_are_apart() {
    let mut neighbors = Neighbors::default();
    for (namespace, name, version) in [("a", "x", "9"), ("b", "x", "10"), ("b", "x", "9"), ("b", "y", "1"), ("c", "x", "1")] {
        neighbors.insert(object(NeighborKind::Job, namespace, name, version));
    }
    let found: Vec<String> =
        neighbors.in_namespace(NeighborKind::Job, &"b".into()).map(|o| format!("{} {:?}", o.metadata.name, o.metadata.version())).collect();
    assert_eq!(found, ["x Some(10)", "y Some(1)"]);
    assert_eq!(neighbors.of_kind(NeighborKind::Job).count(), 4);
    assert!(neighbors.owner("Job", &Key::new("c", "x")).is_some() && neighbors.owner("Sparkle", &Key::new("c", "x")).is_none());
}
