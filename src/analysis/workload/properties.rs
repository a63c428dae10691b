//! The funnel of any workload adds up.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::ways::explained;
use crate::source::{Input, load};

/// The states of a pod: its node, readiness, gates, phase and deletion.
#[derive(Clone, Copy, Debug)]
enum State {
    Ready,
    Unready,
    Creating,
    Pending,
    Large,
    Gated,
    Kueue,
    Elsewhere,
    Terminating,
    Ended,
}

const STATES: [State; 10] = [
    State::Ready,
    State::Unready,
    State::Creating,
    State::Pending,
    State::Large,
    State::Gated,
    State::Kueue,
    State::Elsewhere,
    State::Terminating,
    State::Ended,
];

/// The messages of refusals.
const MESSAGES: [&str; 5] = [
    "pods \"a\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4",
    "pods \"a\" is forbidden: exceeded quota: q, requested: cpu=x, used: cpu=4, limited: cpu=4",
    "failed calling webhook \"w\": refused",
    "leader pod not yet scheduled, not creating follower pod",
    "odd",
];

fn pod(number: usize, kind: &str, state: State) -> Value {
    let mut pod = json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": format!("w-{number}"), "namespace": "shop", "uid": format!("u{number}"),
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": "w", "uid": "o", "controller": true}]},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Running"}});
    let unready = json!([{"type": "Ready", "status": "False"}]);
    match state {
        State::Ready => pod["spec"]["nodeName"] = json!("n"),
        State::Unready => (pod["spec"]["nodeName"], pod["status"]["conditions"]) = (json!("n"), unready),
        State::Creating => (pod["spec"]["nodeName"], pod["status"]["phase"]) = (json!("n"), json!("Pending")),
        State::Pending => pod["status"]["phase"] = json!("Pending"),
        State::Large => {
            pod["status"]["phase"] = json!("Pending");
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("100");
        }
        State::Gated | State::Kueue => {
            let gate = if matches!(state, State::Kueue) { "kueue.x-k8s.io/admission" } else { "mine" };
            (pod["status"]["phase"], pod["spec"]["schedulingGates"]) = (json!("Pending"), json!([{"name": gate}]));
        }
        State::Elsewhere => (pod["status"]["phase"], pod["spec"]["schedulerName"]) = (json!("Pending"), json!("volcano")),
        State::Terminating => pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"),
        State::Ended => pod["status"]["phase"] = json!("Failed"),
    }
    pod
}

fn owner(kind: &str, wanted: i64, flag: bool, observed: i64) -> Value {
    let mut object = json!({"kind": kind, "apiVersion": "apps/v1", "metadata": {"name": "w", "namespace": "shop", "generation": 2},
        "spec": {"replicas": wanted}, "status": {"observedGeneration": observed}});
    match kind {
        "Job" => {
            object["apiVersion"] = json!("batch/v1");
            object["spec"] = json!({"parallelism": wanted, "completions": 4, "suspend": flag});
            object["status"]["succeeded"] = json!(1);
        }
        "DaemonSet" => object["status"]["desiredNumberScheduled"] = json!(wanted),
        "ReplicationController" => object["apiVersion"] = json!("v1"),
        "StatefulSet" if flag => object["spec"]["podManagementPolicy"] = json!("Parallel"),
        _ => {}
    }
    object
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_counts_of_causes_add_up_to_the_missing_pods(
        kind in prop::sample::select(vec!["ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"]),
        wanted in -1_i64..7,
        states in prop::collection::vec(prop::sample::select(STATES.to_vec()), 0..9),
        message in prop::option::of(prop::sample::select(MESSAGES.to_vec())),
        flag in any::<bool>(),
        observed in 1_i64..3,
    ) {
        let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "5", "pods": "10"}}});
        let mut items = vec![node, owner(kind, wanted, flag, observed)];
        items.extend(states.iter().enumerate().map(|(number, state)| pod(number, kind, *state)));
        items.extend(message.map(|message| json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": "shop"},
            "involvedObject": {"kind": kind, "namespace": "shop", "name": "w"}, "reason": "FailedCreate", "message": message,
            "source": {"component": "replicaset-controller"}})));
        let text = json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string();
        let loaded = load(&[Input::Bytes { name: "drawn".into(), bytes: text.into_bytes().into() }]);
        let report = explained(&loaded, kind, "w");

        let (desired, missing) = (report.desired.unwrap(), report.missing.unwrap());
        let sum = report.gated.unwrap() + report.unscheduled.unwrap() + report.bound.unwrap();
        prop_assert_eq!(report.created.unwrap(), sum);
        prop_assert_eq!(missing, desired.saturating_sub(report.ready.unwrap()));
        let counted: usize = report.causes.iter().map(|cause| cause.count).sum();
        prop_assert_eq!(counted, missing, "{:#?}", report.causes);
        prop_assert_eq!(report.is_short(), Some(missing > 0));
        for cause in &report.causes {
            prop_assert!(cause.pods.is_empty() || cause.count <= cause.pods.len(), "{:?}", cause);
        }
        let mut stages: Vec<_> = report.causes.iter().map(|cause| cause.stage).collect();
        stages.retain(|stage| *stage != crate::workload::Stage::Binding);
        prop_assert!(stages.is_sorted(), "{:?}", stages);
    }
}
