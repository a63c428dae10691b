//! Tests of `conditions`.

use super::*;
use crate::cluster::{Cluster, Key};
use serde_json::json;

fn word(kind: NeighborKind, api_version: &str, status: &Value) -> Option<Voice> {
    let mut neighbors = crate::cluster::neighbors::Neighbors::default();
    let object = json!({"metadata": {"name": "x", "namespace": "shop"}, "status": status});
    neighbors.insert(Neighbor::deserialize_kind(kind, api_version.into(), object).unwrap());
    let cluster = Cluster::default();
    let input = WorkloadInput::of_events(&cluster, &neighbors);
    word_of_conditions(&input, &About::new(<&str>::from(kind), Key::new("shop", "x")))
}

#[test]
fn the_last_step_of_a_provisioning_request_is_what_counts() {
    let requested = |conditions: &[(&str, &str)]| {
        let conditions: Vec<Value> = conditions.iter().map(|(kind, status)| json!({"type": kind, "status": status})).collect();
        word(NeighborKind::ProvisioningRequest, "autoscaling.x-k8s.io/v1", &json!({"conditions": conditions})).map(|voice| voice.means)
    };
    let about = About::new("ProvisioningRequest", Key::new("shop", "x"));
    for (conditions, state) in [
        (&[("Accepted", "True")][..], Capacity::Awaited),
        (&[("Accepted", "True"), ("Provisioned", "False")], Capacity::Awaited),
        (&[("Accepted", "True"), ("Provisioned", "True")], Capacity::Provisioned),
        (&[("Accepted", "True"), ("Failed", "True")], Capacity::Failed),
        (&[("Provisioned", "True"), ("BookingExpired", "True")], Capacity::Expired),
        (&[("Provisioned", "True"), ("BookingExpired", "True"), ("CapacityRevoked", "True")], Capacity::Revoked),
    ] {
        assert_eq!(requested(conditions), Some(Some(Meaning::Capacity(about.clone(), state))), "{conditions:?}");
    }
    assert_eq!(requested(&[("Accepted", "False")]), None);
    assert_eq!(requested(&[]), None);
}

#[test]
fn a_queue_that_is_not_active_admits_nothing() {
    for kind in [NeighborKind::LocalQueue, NeighborKind::ClusterQueue] {
        let said = |status: &str| {
            let condition = json!({"type": "Active", "status": status, "reason": "FlavorNotFound", "message": "references missing ResourceFlavor(s): a100"});
            word(kind, "kueue.x-k8s.io/v1beta2", &json!({"conditions": [condition]}))
        };
        let voice = said("False").unwrap();
        assert_eq!((voice.reason.as_str(), voice.kind.as_str()), ("FlavorNotFound", "Warning"));
        assert!(matches!(voice.means, Some(Meaning::QueueInactive(_))));
        assert_eq!(said("True"), None);
    }
}

#[test]
fn a_leader_worker_set_says_that_its_group_is_not_made() {
    let said = |status: &str| {
        let condition =
            json!({"type": "WorkloadSchedulingReady", "status": status, "reason": "APINotAvailable", "message": "no scheduling API"});
        word(NeighborKind::LeaderWorkerSet, "leaderworkerset.x-k8s.io/v1", &json!({"conditions": [condition]}))
    };
    let voice = said("False").unwrap();
    assert_eq!((voice.reason.as_str(), voice.means), ("APINotAvailable", Some(Meaning::GroupNotMade)));
    assert_eq!(said("True"), None);
}

#[test]
fn a_group_says_why_its_gang_waits() {
    let volcano = |message: &str| {
        let condition = json!({"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources", "message": message});
        word(NeighborKind::PodGroup, "scheduling.volcano.sh/v1beta1", &json!({"conditions": [condition]})).unwrap().means
    };
    assert_eq!(volcano("3/4 tasks in gang unschedulable: pod group is not ready"), Some(Meaning::Gang));
    assert_eq!(volcano("queue resource quota insufficient: cpu"), Some(Meaning::QueueFull));
    let kai = |reason: &str| {
        let reasons = json!([{"reason": reason, "message": "Workload requested 1 GPUs, but Q quota is 1 GPUs"}]);
        let condition = json!({"type": "UnschedulableOnNodePool", "nodePool": "default", "status": "True", "reasons": reasons});
        word(NeighborKind::PodGroup, "scheduling.run.ai/v2alpha2", &json!({"schedulingConditions": [condition]})).unwrap()
    };
    assert_eq!(kai("NonPreemptibleOverQuota").means, Some(Meaning::QueueFull));
    assert_eq!(
        (kai("Other").means, kai("Other").text.as_str()),
        (Some(Meaning::OtherScheduler), "Workload requested 1 GPUs, but Q quota is 1 GPUs")
    );
    let condition = |kind: &str, at: &str| json!({"type": kind, "status": "True", "lastTransitionTime": at});
    let (early, late) = ("2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z");
    let both = |unschedulable: &str, scheduled: &str| {
        let conditions = json!([condition("Unschedulable", unschedulable), condition("Scheduled", scheduled)]);
        word(NeighborKind::PodGroup, "scheduling.volcano.sh/v1beta1", &json!({"conditions": conditions})).is_some()
    };
    assert_eq!([both(early, late), both(late, early)], [false, true], "the later one counts");
    let phase = |group: &str, phase: &str| {
        word(NeighborKind::PodGroup, &format!("{group}/v1alpha1"), &json!({"phase": phase}))
            .map(|voice| (voice.speaker, voice.text, voice.means))
    };
    let gang = |speaker: &str, phase: &str| Some((Str::from(speaker), phase.to_owned(), Some(Meaning::Gang)));
    assert_eq!(phase("scheduling.x-k8s.io", "Pending"), gang("scheduler-plugins", "Pending"));
    assert_eq!(phase("scheduling.sigs.k8s.io", "Scheduling"), gang("koordinator", "Scheduling"));
    assert_eq!(phase("scheduling.x-k8s.io", "Running"), None);
    assert_eq!(phase("scheduling.volcano.sh", "Pending"), None, "Volcano has conditions for it");
    // The group of another scheduler has no such conditions.
    assert_eq!(
        word(NeighborKind::PodGroup, "scheduling.x-k8s.io/v1alpha1", &json!({"conditions": [{"type": "Unschedulable", "status": "True"}]})),
        None
    );
}
