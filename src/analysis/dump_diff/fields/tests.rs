use serde_json::json;

use super::*;
use crate::cluster::testing::object_of;

fn changes(kind: Kind, from: Value, to: Value) -> Vec<String> {
    let object = |value: Value| object_of(kind, &value);
    let write = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    let found = field_changes(&object(from), &object(to));
    found.iter().map(|change| format!("{}: {} > {}", change.field, write(&change.from), write(&change.to))).collect()
}

#[test]
fn entries_of_maps_and_items_of_lists_are_named_one_by_one() {
    let from = json!({"metadata": {"name": "w1", "resourceVersion": "1"}, "status": {"allocatable": {"cpu": "4"}}});
    let to = json!({"metadata": {"name": "w1", "resourceVersion": "2", "labels": {"zone": "a", "example.com/x": "1"}},
        "spec": {"unschedulable": true, "taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "2"}}});
    assert_eq!(
        changes(Kind::Node, from, to),
        [
            r#"metadata.labels["example.com/x"]: none > "1""#,
            r#"metadata.labels.zone: none > "a""#,
            r#"spec.taints[dedicated:NoSchedule]: none > {"effect":"NoSchedule","key":"dedicated","value":"gpu"}"#,
            "spec.unschedulable: none > true",
            r#"status.allocatable.cpu: "4" > "2""#,
        ]
    );
}

#[test]
fn changes_that_no_decision_reads_are_left_out() {
    let node = |version: &str, time: &str, ready: &str| {
        json!({"metadata": {"name": "w1", "resourceVersion": version, "annotations": {"any": time}},
            "status": {"conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": time, "message": time}],
                "capacity": {"cpu": version}, "nodeInfo": {"kubeletVersion": version}}})
    };
    let [old, new] = ["2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"];
    assert_eq!(changes(Kind::Node, node("1", old, "True"), node("2", new, "True")), Vec::<String>::new());
    assert_eq!(
        changes(Kind::Node, node("1", old, "True"), node("2", new, "Unknown")),
        [r#"status.conditions[Ready].status: "True" > "Unknown""#]
    );
    let pod = |phase: &str, message: &str| {
        json!({"metadata": {"name": "p", "namespace": "n"}, "status": {"phase": phase,
            "conditions": [{"type": "PodScheduled", "status": "False", "message": message}]}})
    };
    assert_eq!(changes(Kind::Pod, pod("Pending", "a"), pod("Running", "b")), Vec::<String>::new());
    assert_eq!(changes(Kind::Pod, pod("Running", "a"), pod("Failed", "b")), [r#"status.phase: none > "Failed""#]);
}

#[test]
fn a_list_whose_items_have_no_identity_is_compared_as_a_whole() {
    let pod = |tolerations: Value| json!({"metadata": {"name": "p", "namespace": "n"}, "spec": {"tolerations": tolerations}});
    let found = changes(Kind::Pod, pod(json!([])), pod(json!([{"operator": "Exists"}])));
    assert_eq!(found, [r#"spec.tolerations: none > [{"operator":"Exists"}]"#]);
}
