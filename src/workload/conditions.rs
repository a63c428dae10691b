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
mod tests;
