//! Tests of `queues`.

use super::*;
use crate::cluster::Cluster;
use crate::cluster::operations::counted;
use crate::workload::{Joint, Meaning, joint, voices_of_pod};
use serde_json::json;

fn kueue(kind: NeighborKind, name: &str, namespace: &str, more: &Value) -> Neighbor {
    let mut object = json!({"metadata": {"name": name, "namespace": namespace}});
    for (field, value) in more.as_object().unwrap() {
        if field == "ownerReferences" { object["metadata"][field] = value.clone() } else { object[field] = value.clone() }
    }
    Neighbor::deserialize_kind(kind, "x/v1".into(), object).unwrap()
}

/// Returns a Workload of a pod that waits for GPUs in a queue of 8, with this much reserved.
fn world(reserved: &Value) -> Neighbors {
    let mut all = Neighbors::default();
    let waits = json!({"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota",
            "message": "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed"});
    let owner = json!([{"kind": "Pod", "name": "train", "uid": "u", "apiVersion": "v1"}]);
    all.insert(kueue(
        NeighborKind::Workload,
        "pod-train",
        "ml",
        &json!({"spec": {"queueName": "team"}, "status": {"conditions": [waits]}, "ownerReferences": owner}),
    ));
    all.insert(kueue(NeighborKind::LocalQueue, "team", "ml", &json!({"spec": {"clusterQueue": "gpus"}})));
    let resources = json!([{"name": "nvidia.com/gpu", "nominalQuota": 8}]);
    let groups = json!([{"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "v100", "resources": []}, {"name": "a100", "resources": resources}]}]);
    let stopped = json!([{"type": "Active", "status": "False", "reason": "Stopped", "message": "is stopped"}]);
    all.insert(kueue(
        NeighborKind::ClusterQueue,
        "gpus",
        "",
        &json!({"spec": {"resourceGroups": groups}, "status": {"conditions": stopped, "flavorsReservation": reserved}}),
    ));
    all
}

fn pod() -> Pod {
    serde_json::from_str(
        r#"{"metadata":{"name":"train","namespace":"ml"},"spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/admission"}]}}"#,
    )
    .unwrap()
}

#[test]
fn a_pod_waits_for_the_quota_of_its_queue_and_for_the_queue_itself() {
    let cluster = Cluster::default();
    for (reserved, expected) in [
        (json!([{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": "6", "borrowed": "0"}]}]), Some("6 of 8")),
        // A flavor without use is left out of the status. Without a list the amount is unknown.
        (json!([]), Some("0 of 8")),
        (Value::Null, None),
    ] {
        let neighbors = world(&reserved);
        let input = WorkloadInput::of_events(&cluster, &neighbors);
        let voices = voices_of_pod(&input, &pod(), None).voices;
        assert!(voices.iter().any(|voice| matches!(voice.means, Some(Meaning::QueueQuota(_)))), "{voices:?}");
        assert!(voices.iter().any(|voice| voice.means == Some(Meaning::QueueInactive(About::new("ClusterQueue", Key::new("", "gpus"))))));
        let quota = joint(&input, &pod(), &voices, false).into_iter().find_map(|found| match found {
            Joint::Quota(quota) => Some(format!("{} of {}", quota.reserved, quota.nominal)),
            _ => None,
        });
        assert_eq!(quota.as_deref(), expected);
    }
}

#[test]
fn a_kind_that_the_source_lacks_is_unknown_where_a_pod_waits_for_it() {
    let plain: Pod = serde_json::from_str(r#"{"metadata":{"name":"web","namespace":"ml"}}"#).unwrap();
    let text = json!({"metadata": {"name": "batch", "namespace": "ml", "annotations": {REQUEST_ANNOTATIONS[0]: "ask"}}}).to_string();
    let batch: Pod = serde_json::from_str(&text).unwrap();
    let none = Neighbors::default();
    assert_eq!(unknown_voices(&none, &pod(), &[]), [UnknownVoice::Workloads]);
    assert_eq!(unknown_voices(&none, &batch, &[]), [UnknownVoice::ProvisioningRequests]);
    let gang = json!({"metadata": {"name": "batch", "namespace": "ml", "annotations": {"scheduling.k8s.io/group-name": "g"}}}).to_string();
    assert_eq!(unknown_voices(&none, &serde_json::from_str(&gang).unwrap(), &[]), [UnknownVoice::PodGroups]);
    assert_eq!(unknown_voices(&none, &plain, &[]), []);
    assert_eq!(unknown_voices(&world(&Value::Null), &pod(), &[]), []);
}

#[test]
fn many_workloads_of_one_owner_cost_as_much_each_as_few() {
    let operations = |number: usize| {
        let mut neighbors = Neighbors::default();
        let owner = json!([{"kind": "Pod", "name": "train", "uid": "u", "apiVersion": "v1"}]);
        for at in 0..number {
            let more = json!({"spec": {"queueName": format!("q{at}")}, "ownerReferences": owner});
            neighbors.insert(kueue(NeighborKind::Workload, &format!("w{at}"), "ml", &more));
        }
        let cluster = Cluster::default();
        counted(|| voices_of_pod(&WorkloadInput::of_events(&cluster, &neighbors), &pod(), None)).1
    };
    let (few, many) = (operations(100), operations(800));
    assert!(many < few * 8 * 2, "{few} for 100, {many} for 800");
}

#[test]
fn capacity_is_asked_for_by_an_annotation_or_for_a_workload() {
    let failed = |more: &Value| {
        let mut object = json!({"status": {"conditions": [{"type": "Failed", "status": "True"}]}});
        for (field, value) in more.as_object().unwrap() {
            object[field] = value.clone();
        }
        let mut neighbors = world(&Value::Null);
        neighbors.insert(kueue(NeighborKind::ProvisioningRequest, "ask", "ml", &object));
        neighbors
    };
    let is_found = |neighbors: &Neighbors, pod: &Pod| {
        let cluster = Cluster::default();
        voices_of_pod(&WorkloadInput::of_events(&cluster, neighbors), pod, None)
            .voices
            .iter()
            .any(|voice| matches!(voice.means, Some(Meaning::Capacity(..))))
    };
    let of_workload = failed(&json!({"ownerReferences": [{"kind": "Workload", "name": "pod-train", "uid": "w", "apiVersion": "x/v1"}]}));
    assert!(is_found(&of_workload, &pod()));
    let alone = failed(&json!({}));
    assert!(!is_found(&alone, &pod()));
    for key in REQUEST_ANNOTATIONS {
        let text = json!({"metadata": {"name": "batch", "namespace": "ml", "annotations": {key: "ask"}}}).to_string();
        assert!(is_found(&alone, &serde_json::from_str(&text).unwrap()), "{key}");
    }
}
