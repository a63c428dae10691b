//! Tests of `topology`.

use super::*;
use crate::framework::NodeInfo;

#[test]
fn topologies_are_kept_up_to_a_number_and_absent_ones_are_one() {
    let labels: serde_json::Map<_, _> = (0..40).map(|key| (format!("k{key}"), "v".into())).collect();
    let node: crate::cluster::Node = serde_json::from_value(serde_json::json!({"metadata": {"name": "n", "labels": labels}})).unwrap();
    let nodes: Nodes = [node.clone(), node].map(|node| Arc::new(NodeInfo::new(Arc::new(node)))).into_iter().collect();
    for (values, expected) in [(0, TOPOLOGIES), (60, 30), (TOPOLOGY_VALUES, 40)] {
        let topologies = Topologies::up_to(values);
        let get = |key: usize| topologies.get(&nodes, &format!("k{key}").into());
        let is_kept = |key: &usize| get(*key).of_node(1) == Some(0) && Arc::ptr_eq(&get(*key), &get(*key));
        assert_eq!((0..40).filter(is_kept).count(), expected);
        let (one, other) = (get(40), get(41));
        assert!(one.is_empty() && one.of_nodes().eq([None, None]) && Arc::ptr_eq(&one, &other));
    }
}
