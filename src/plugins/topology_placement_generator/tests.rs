//! Tests of `topology_placement_generator`.

use std::sync::Arc;

use super::*;
use crate::cluster::{Cluster, Object, Pod};
use crate::framework::{NodeInfo, PodGroupStates, Snapshot};

/// The placements of a group, and the nodes of each, with members on these nodes already.
#[track_caller]
fn check(constraint: &str, on: &[&str], expected: Result<&[(&str, &[usize])], &str>) {
    let group = format!(r#"{{"kind":"PodGroup","metadata":{{"name":"g","namespace":"d"}},"spec":{{{constraint}}}}}"#);
    let cluster: Cluster = [serde_json::from_str::<Object>(&group).unwrap()].into_iter().collect();
    let node = |(name, zone): (&str, &str)| {
        let labels = if zone.is_empty() { String::new() } else { format!(r#""zone":"{zone}""#) };
        NodeInfo::new(Arc::new(serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","labels":{{{labels}}}}}}}"#)).unwrap()))
    };
    let nodes = [("n0", "b"), ("n1", "a"), ("n2", ""), ("n3", "b")].map(node);
    let mut states = PodGroupStates::default();
    for (i, node) in on.iter().chain(&[""]).enumerate() {
        let text = format!(
            r#"{{"metadata":{{"name":"p{i}","namespace":"d"}},"spec":{{"nodeName":"{node}","schedulingGroup":{{"podGroupName":"g"}}}}}}"#
        );
        states.add(&Arc::new(serde_json::from_str::<Pod>(&text).unwrap()));
    }
    let snapshot = Snapshot::of(nodes).with_pod_groups(states);
    let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH };
    let all = Placement { name: Str::default(), nodes: (0..4).collect() };
    let found = TopologyPlacementGenerator.generate_placements(&cx, &Key::new("d", "g"), all);
    let found = found.map_err(|status| status.message());
    let placement = |(name, nodes): &(&str, &[usize])| Placement { name: (*name).into(), nodes: nodes.to_vec() };
    assert_eq!(found, expected.map(|all| all.iter().map(placement).collect()).map_err(str::to_owned));
}

#[test]
fn each_value_of_the_key_is_a_placement() {
    let zone = r#""schedulingConstraints":{"topology":[{"key":"zone"}]}"#;
    check("", &[], Ok(&[("", &[0, 1, 2, 3])]));
    check(r#""schedulingConstraints":{}"#, &[], Ok(&[("", &[0, 1, 2, 3])]));
    check(zone, &[], Ok(&[("a", &[1]), ("b", &[0, 3])]));
    check(zone, &["n3", "n0"], Ok(&[("b", &[0, 3])]));
    check(r#""schedulingConstraints":{"topology":[{"key":"rack"}]}"#, &[], Ok(&[]));
    let why = "cannot determine domain for already scheduled pods: ";
    check(zone, &["n0", "n1"], Err(&format!("{why}more than 1 domain found for pod group: b, a")));
    check(zone, &["n2"], Err(&format!("{why}no topology domain found for pod d/p0")));
    check(zone, &["gone"], Err(&format!("{why}getting node for pod d/p0: nodeinfo not found for node name \"gone\"")));
}
