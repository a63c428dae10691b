//! Tests of `node_page`.

use std::sync::Arc;

use super::*;
use crate::framework::PodInfo;

/// Returns the lines, warnings with a mark.
fn texts(rows: &[NodePaneRow]) -> Vec<String> {
    let text = |row: &NodePaneRow| match row {
        NodePaneRow::Line { text, warns, .. } => Some(format!("{}{text}", if *warns { "! " } else { "" })),
        _ => None,
    };
    rows.iter().filter_map(text).collect()
}

#[test]
fn a_node_says_what_it_has_and_who_uses_it() {
    let node = r#"{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"a","topology.kubernetes.io/region":"eu","disk":"ssd"}},
        "status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10","example.com/gpu":"2"},"conditions":[
        {"type":"MemoryPressure","status":"False"},
        {"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status.","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}"#;
    let mut node = NodeInfo::new(Arc::new(serde_json::from_str(node).unwrap()));
    for name in ["a", "b"] {
        let pod = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"shop","labels":{{"pod-template-hash":"1"}},"ownerReferences":[{{"kind":"ReplicaSet","name":"web-1","controller":true}}]}},
            "spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"3","memory":"1Gi","example.com/gpu":"1"}}}}}}]}}}}"#
        );
        node.add_pod(Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&pod).unwrap()))));
    }
    assert_eq!(zone(&node).as_deref(), Some("a, region eu"));
    assert_eq!(
        texts(&resources(&node)),
        [
            "! cpu                                   4            6           -2",
            "memory                              8Gi          2Gi          6Gi",
            "pods                                 10            2            8",
            "example.com/gpu                       2            2            0",
        ]
    );
    let now = "2026-01-01T01:00:00Z".parse().unwrap();
    assert_eq!(
        texts(&conditions(&node, now)),
        ["! Ready=Unknown since 00:00:00  NodeStatusUnknown: Kubelet stopped posting node status.", "MemoryPressure=False",]
    );
    assert!(unhealthy(&node, now).is_some_and(|words| words.starts_with("Ready=Unknown")));
    assert_eq!(unhealthy(&NodeInfo::default(), now), None);
    assert_eq!(conditions(&NodeInfo::default(), now), [NodePaneRow::Note("unknown: the source states none")]);
    assert_eq!(texts(&owners(&node)), ["Deployment shop/web                              2        6        2Gi"]);
    assert_eq!(texts(&labels(&node))[0], "disk=ssd");
}
