//! Requests as Go writes them: the fields of `staging/src/k8s.io/kube-scheduler/extender/v1/types.go` have Go's spelling,
//! what is absent is `null`, and objects are as kube-scheduler's informers hold them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Asker;
use super::calls::{Returned, Victims};
use super::objects::{node_object, pod_object, returned_node};
use crate::cluster::{Key, Kind, Node, Pod};
use crate::framework::NodeInfo;

/// Returns an `ExtenderArgs`, for `filter` and `prioritize`.
pub(super) fn about_nodes(asker: &Asker, pod: &Pod, nodes: &[Arc<NodeInfo>], names: bool, returned: &Returned) -> Value {
    let names_of = || nodes.iter().map(|node| node.name().as_str().into()).collect::<Vec<Value>>();
    let list = || {
        let items: Vec<Value> = nodes.iter().map(|node| whole_node(asker, &node.node, returned)).collect();
        // A list without items is a nil slice in Go.
        json!({"metadata": {}, "items": if items.is_empty() { Value::Null } else { Value::Array(items) }})
    };
    json!({
        "Pod": whole_pod(asker, pod),
        "Nodes": if names { Value::Null } else { list() },
        "NodeNames": if names { Value::Array(names_of()) } else { Value::Null },
    })
}

/// Returns an `ExtenderPreemptionArgs`.
pub(super) fn about_candidates(asker: &Asker, pod: &Pod, candidates: &Victims, names: bool) -> Value {
    let by_node = |of_pod: &dyn Fn(&Pod) -> Value| {
        let row = |victims: Vec<Value>, violations: i64| json!({"Pods": victims, "NumPDBViolations": violations});
        let rows = candidates.values().map(|candidate| {
            let victims = candidate.victims.iter().map(|victim| of_pod(victim.pod())).collect();
            (candidate.node.to_string(), row(victims, candidate.pdb_violations))
        });
        Value::Object(rows.collect::<Map<String, Value>>())
    };
    let (victims, meta) = if names {
        (Value::Null, by_node(&|pod| json!({"UID": pod.metadata.uid})))
    } else {
        (by_node(&|pod| whole_pod(asker, pod)), Value::Null)
    };
    json!({"Pod": whole_pod(asker, pod), "NodeNameToVictims": victims, "NodeNameToMetaVictims": meta})
}

fn whole_pod(asker: &Asker, pod: &Pod) -> Value {
    pod_object(pod, asker.original(Kind::Pod, &pod.key()))
}

fn whole_node(asker: &Asker, node: &Arc<Node>, returned: &Returned) -> Value {
    if let Some((_, text)) = returned.get(&Arc::as_ptr(node).addr()) {
        return returned_node(serde_json::from_str(text).unwrap_or_default());
    }
    node_object(node, asker.original(Kind::Node, &Key::new("", node.name().clone())))
}
