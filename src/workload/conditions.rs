//! The meaning of an object's conditions for the pods that wait for it. They outlive the events.
//!
//! The conditions are those of Kueue's `apis/kueue/v1beta2`, of cluster-autoscaler's `apis/provisioningrequest`, and of the PodGroups
//! of Volcano (`pkg/scheduler/api/job_info.go`) and of KAI Scheduler (`pkg/apis/scheduling/v2alpha2/podgroup_types.go`); the phases are
//! those of scheduler-plugins' `apis/scheduling/v1alpha1/types.go`, which Koordinator shares.

use serde_json::Value;

use super::funnel::WorkloadInput;
use super::voices::{Meaning, Voice, kueue};
use crate::cluster::Str;
use crate::cluster::neighbors::{About, Neighbor, NeighborCondition, NeighborKind};

/// The state of capacity that a ProvisioningRequest asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// It is waited for.
    Awaited,
    /// It is there, and booked for the pods.
    Provisioned,
    /// It cannot be had.
    Failed,
    /// It was there, and is no longer booked.
    Expired,
    /// It was there, and was taken away.
    Revoked,
}

/// The conditions of a ProvisioningRequest, those first that end what the others say.
const CAPACITY: [(&str, &str, Capacity); 6] = [
    ("CapacityRevoked", "True", Capacity::Revoked),
    ("BookingExpired", "True", Capacity::Expired),
    ("Failed", "True", Capacity::Failed),
    ("Provisioned", "True", Capacity::Provisioned),
    ("Provisioned", "False", Capacity::Awaited),
    ("Accepted", "True", Capacity::Awaited),
];

/// Returns what the conditions of an object say; `None` where they say nothing about pods that wait.
pub(super) fn word_of_conditions(input: &WorkloadInput<'_>, about: &About) -> Option<Voice> {
    let kind: NeighborKind = about.kind.parse().ok()?;
    let find = || input.neighbors.get(kind, &about.key);
    match kind {
        NeighborKind::Workload => {
            let conditions = find()?.conditions();
            let condition = ["QuotaReserved", "Admitted"].iter().find_map(|kind| is(&conditions, kind, "False"))?;
            Some(voice("kueue", about, condition, kueue("Pending", &condition.message)))
        }
        NeighborKind::LocalQueue | NeighborKind::ClusterQueue => {
            let conditions = find()?.conditions();
            let condition = is(&conditions, "Active", "False")?;
            Some(voice("kueue", about, condition, Some(Meaning::QueueInactive(about.clone()))))
        }
        NeighborKind::ProvisioningRequest => {
            let conditions = find()?.conditions();
            let found = CAPACITY.iter().find_map(|(kind, status, state)| Some((is(&conditions, kind, status)?, *state)));
            let (condition, state) = found?;
            Some(voice("cluster-autoscaler", about, condition, Some(Meaning::Capacity(about.clone(), state))))
        }
        NeighborKind::LeaderWorkerSet => {
            let conditions = find()?.conditions();
            let condition = is(&conditions, "WorkloadSchedulingReady", "False")?;
            Some(voice("leaderworkerset", about, condition, Some(Meaning::GroupNotMade)))
        }
        NeighborKind::PodGroup => of_group(find()?, about),
        _ => None,
    }
}

/// Returns the words of a gang scheduler on a group of pods.
fn of_group(group: &Neighbor, about: &About) -> Option<Voice> {
    if group.group() == "scheduling.run.ai" {
        let listed = group.field("/status/schedulingConditions")?.as_array()?;
        let newest = listed.iter().rev().find(|condition| condition["type"] == "UnschedulableOnNodePool")?;
        let said: Vec<&Value> = newest["reasons"].as_array().into_iter().flatten().collect();
        let first = said.first()?;
        let text = |field: &str| first[field].as_str().unwrap_or_default();
        let mut condition: NeighborCondition = serde_json::from_value(newest.clone()).unwrap_or_default();
        (condition.reason, condition.message) = (text("reason").into(), text("message").into());
        let is_quota = ["NonPreemptibleOverQuota", "OverLimit", "QueueDoesNotExist"].contains(&text("reason"));
        return Some(voice("kai-scheduler", about, &condition, Some(if is_quota { Meaning::QueueFull } else { Meaning::OtherScheduler })));
    }
    if ["scheduling.x-k8s.io", "scheduling.sigs.k8s.io"].contains(&group.group()) {
        // Their groups have no conditions.
        let phase = group.field("/status/phase")?.as_str().filter(|phase| ["Pending", "PreScheduling", "Scheduling"].contains(phase))?;
        let said = NeighborCondition { message: phase.into(), ..NeighborCondition::default() };
        let speaker = if group.group() == "scheduling.sigs.k8s.io" { "koordinator" } else { "scheduler-plugins" };
        return Some(voice(speaker, about, &said, Some(Meaning::Gang)));
    }
    let conditions = group.conditions();
    let condition = is(&conditions, "Unschedulable", "True").filter(|_| group.group() == "scheduling.volcano.sh")?;
    // Volcano leaves the condition as it is when the group is scheduled later.
    let is_over = is(&conditions, "Scheduled", "True").is_some_and(|scheduled| scheduled.since() > condition.since());
    if is_over {
        return None;
    }
    let is_full = condition.message.contains("queue resource quota insufficient");
    Some(voice("volcano", about, condition, Some(if is_full { Meaning::QueueFull } else { Meaning::Gang })))
}

/// Returns the condition of a type, if it has a status.
pub(crate) fn is<'c>(conditions: &'c [NeighborCondition], kind: &str, status: &str) -> Option<&'c NeighborCondition> {
    conditions.iter().find(|condition| condition.kind == kind && condition.status == status)
}

fn voice(speaker: &str, about: &About, condition: &NeighborCondition, means: Option<Meaning>) -> Voice {
    let kind = if condition.status == "True" && matches!(means, Some(Meaning::Capacity(_, Capacity::Provisioned | Capacity::Awaited))) {
        "Normal"
    } else {
        "Warning"
    };
    Voice {
        speaker: Str::from(speaker),
        about: about.clone(),
        kind: kind.into(),
        reason: condition.reason.clone(),
        text: condition.message.to_string(),
        count: 1,
        first: condition.since(),
        last: condition.since(),
        means,
    }
}

#[cfg(test)]
mod tests {
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
            word(
                NeighborKind::PodGroup,
                "scheduling.x-k8s.io/v1alpha1",
                &json!({"conditions": [{"type": "Unschedulable", "status": "True"}]})
            ),
            None
        );
    }
}
