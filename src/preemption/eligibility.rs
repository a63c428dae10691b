//! Whether a pod may preempt others; mirrors `PodEligibleToPreemptOthers` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`.

use super::units::victim_priority;
use crate::cluster::{Key, Pod};
use crate::framework::{Code, Context, EndingVictims, NodeInfo, NodeToStatus, Reason};
use crate::release::{Eligibility, TerminatingPods};

/// Returns why `pod` may not preempt; `None` if it may.
///
/// A pod with a nominated node whose victims are still terminating must not evict more, unless the filters call that
/// node unresolvable.
pub(super) fn ineligible_reason(pod: &Pod, statuses: &NodeToStatus, cx: &Context<'_>) -> Option<Reason> {
    let (release, snapshot) = (cx.emulation.behaviour(), cx.snapshot);
    let reads_all = release.preemption.eligibility == Eligibility::PolicyAndStatus;
    if reads_all && pod.spec.preemption_policy.as_deref() == Some("Never") {
        return Some(Reason::PreemptionPolicyNever);
    }
    let nominated = &pod.status.nominated_node_name;
    if nominated.is_empty() || reads_all && statuses.get_by_name(snapshot, nominated).code() == Code::UnschedulableAndUnresolvable {
        return None;
    }
    ending_on(snapshot.get(nominated)?, pod, cx).next().map(|_| Reason::TerminatingVictims)
}

/// Returns the pods of a preemptor's nominated node whose end it waits for.
fn ending_on<'a>(node: &'a NodeInfo, preemptor: &'a Pod, cx: &'a Context<'_>) -> impl Iterator<Item = &'a Pod> {
    let ends = |victim: &Pod| match cx.emulation.behaviour().preemption.terminating {
        TerminatingPods::Preempted => is_going_by_preemption(victim),
        TerminatingPods::All => victim.is_terminating(),
    };
    let pods = node.pods.iter().filter(move |info| ends(&info.pod) && victim_priority(cx, info) < preemptor.priority());
    pods.map(|info| &*info.pod)
}

/// Returns the pods whose end a preemptor waits for, with the end of the longest grace period.
pub(super) fn ending_victims(pod: &Pod, cx: &Context<'_>) -> Option<EndingVictims> {
    let node = cx.snapshot.get(&pod.status.nominated_node_name)?;
    let victims: Vec<&Pod> = ending_on(node, pod, cx).collect();
    let until = victims.iter().filter_map(|victim| victim.metadata.deletion_timestamp).max();
    let mut pods: Vec<Key> = victims.into_iter().map(Pod::key).collect();
    pods.sort();
    (!pods.is_empty()).then(|| EndingVictims { node: pod.status.nominated_node_name.clone(), pods, until, now: cx.now })
}

/// Whether the pod is terminating because the scheduler preempted it. Only the first condition of the type counts.
pub(super) fn is_going_by_preemption(pod: &Pod) -> bool {
    pod.is_terminating() && pod.condition("DisruptionTarget").is_some_and(|c| c.status == "True" && c.reason == "PreemptionByScheduler")
}

#[cfg(test)]
mod tests;
