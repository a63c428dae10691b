//! Tests of `steps`.

use std::sync::Arc;

use super::*;
use crate::framework::NodeInfo;

#[test]
fn each_constraint_over_pods_asks_each_node() {
    let term = serde_json::json!({"topologyKey": "zone"});
    let spread = serde_json::json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
    let affinity = serde_json::json!({
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term, term]},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]},
    });
    let pod: Pod = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "p"}, "spec": {"topologySpreadConstraints": [spread], "affinity": affinity},
    }))
    .unwrap();
    assert_eq!([0, 1, 700].map(|nodes| decision_steps(nodes, &pod)), [5, 5, 3500]);
    assert_eq!(decision_steps(700, &Pod::default()), 700);
    let selecting = |keys: usize| -> Pod {
        let selector: serde_json::Map<String, serde_json::Value> = (0..keys).map(|i| (format!("k{i}"), "v".into())).collect();
        serde_json::from_value(serde_json::json!({"metadata": {"name": "p"}, "spec": {"nodeSelector": selector}})).unwrap()
    };
    assert_eq!([3, 8].map(|keys| decision_steps(700, &selecting(keys))), [700, 2100]);
    // Selectors of pods with many requirements count as more constraints.
    let spreading = |keys: usize| -> Pod {
        let keys: Vec<String> = (0..keys).map(|i| format!("k{i}")).collect();
        let one = serde_json::json!({"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": keys});
        serde_json::from_value(serde_json::json!({"metadata": {"name": "p"}, "spec": {"topologySpreadConstraints": [one]}})).unwrap()
    };
    assert_eq!([1, 7, 11, 407].map(|keys| decision_steps(700, &spreading(keys))), [1400, 1400, 2100, 71_400]);
    // Each resource beyond a few is compared on each node, where a name counts once, and each of many requests is read.
    let asking = |count: usize| -> Pod {
        let requests: serde_json::Map<String, serde_json::Value> = (0..count).map(|i| (format!("example.com/r{i}"), "1".into())).collect();
        let container = serde_json::json!({"name": "c", "resources": {"requests": requests}});
        serde_json::from_value(serde_json::json!({"metadata": {"name": "p"}, "spec": {"containers": [container, container]}})).unwrap()
    };
    assert_eq!([8, 9, 108].map(|count| decision_steps(700, &asking(count))), [700, 1400, 71_860]);
    assert_eq!(decision_steps(usize::MAX, &pod), u64::MAX);
}

#[test]
fn node_steps_count_what_a_pod_asks_of_a_node_and_what_nodes_list() {
    let taints = (0..12).map(|i| serde_json::json!({"key": format!("k{i}"), "effect": "NoSchedule"})).collect::<Vec<_>>();
    let node = serde_json::json!({"metadata": {"name": "n"}, "spec": {"taints": taints}});
    let node = NodeInfo::new(Arc::new(serde_json::from_value(node).unwrap()));
    let snapshot = Snapshot::of([node]);
    let steps = |spec: serde_json::Value| {
        let pod: Pod = serde_json::from_value(serde_json::json!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
        node_steps(&PodInfo::new(Arc::new(pod)), &snapshot)
    };
    let spread = serde_json::json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
    let volume = serde_json::json!({"name": "v", "persistentVolumeClaim": {"claimName": "c"}});
    let requests = |count: usize| {
        let of = (0..count).map(|i| (format!("example.com/r{i}"), "1".into())).collect::<serde_json::Map<_, serde_json::Value>>();
        serde_json::json!({"containers": [{"name": "c", "resources": {"requests": of}}]})
    };
    let tolerations = |count: usize| serde_json::json!({"tolerations": vec![serde_json::json!({"operator": "Exists"}); count]});
    assert_eq!(steps(serde_json::json!({})), 10);
    assert_eq!(steps(serde_json::json!({"topologySpreadConstraints": [spread, spread]})), 22);
    assert_eq!(steps(serde_json::json!({"volumes": [volume], "nodeSelector": {"a": "b", "c": "d"}})), 16);
    // A requirement is looked up, and so is each of many values.
    let required = |requirements: usize, values: usize| {
        let one = serde_json::json!({"key": "k", "operator": "In", "values": vec!["v"; values]});
        let terms = serde_json::json!([{"matchExpressions": vec![one; requirements]}]);
        let required = serde_json::json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
        serde_json::json!({"affinity": {"nodeAffinity": required}})
    };
    assert_eq!([(1, 1), (3, 1), (1, 32)].map(|(requirements, values)| steps(required(requirements, values))), [14, 22, 18]);
    let hint = |spec: serde_json::Value| {
        let pod: Pod = serde_json::from_value(serde_json::json!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
        hint_steps(&pod)
    };
    assert_eq!([hint(serde_json::json!({})), hint(required(3, 1))], [20, 20 + 3 * 20 + 3]);
    // Long texts are read once for all nodes, here one.
    let long = |text: String| {
        let one = serde_json::json!({"key": "k", "operator": "In", "values": [text]});
        let terms = serde_json::json!([{"matchExpressions": [one]}]);
        serde_json::json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
    };
    assert_eq!([63, 63 + 160].map(|length| steps(long("v".repeat(length)))), [14, 24]);
    assert_eq!(hint(long("v".repeat(63 + 160))) - hint(long("v".repeat(63))), 10);
    let counted = serde_json::json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"a": "v".repeat(63 + 160)}}});
    assert_eq!(steps(serde_json::json!({"topologySpreadConstraints": [spread, counted]})), 32);
    // Resources are compared in the order of their names.
    assert_eq!([1, 8].map(|count| steps(requests(count))), [13, 10 + 3 * 8]);
    // So are host ports, and labels count for the pods that are like it; a few of either do not.
    let ports =
        |count: usize| serde_json::json!({"containers": [{"name": "c", "ports": vec![serde_json::json!({"hostPort": 80}); count]}]});
    assert_eq!([7, 80].map(|count| steps(ports(count))), [10, 20]);
    let labelled = |count: usize| {
        let labels: serde_json::Map<_, _> = (0..count).map(|i| (format!("l{i}"), "v".into())).collect();
        let pod: Pod = serde_json::from_value(serde_json::json!({"metadata": {"name": "p", "labels": labels}})).unwrap();
        node_steps(&PodInfo::new(Arc::new(pod)), &snapshot)
    };
    assert_eq!([15, 160].map(labelled), [10, 20]);
    // A few tolerations do not count; six and more do with each of the twelve taints.
    assert_eq!([5, 6, 12].map(|count| steps(tolerations(count))), [10, 22, 34]);
}
