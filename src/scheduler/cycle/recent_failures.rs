//! The attempts that found no node since the state changed last. The next pod of one of their workloads finds none for the same
//! reasons, which quiet runs need not find again. No counterpart upstream.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::{Pod, RarePodStatus};
#[cfg(debug_assertions)]
use crate::framework::CycleState;
use crate::framework::PodInfo;
use crate::limits::engine::RECENT_FAILURES;
use crate::release::{Algorithm, PreemptionText};
use crate::scheduler::State;
use crate::scheduler::algorithm::FitError;
#[cfg(debug_assertions)]
use crate::scheduler::algorithm::{SchedulePod, ScheduleResult};
use crate::scheduler::runtime::Framework;
#[cfg(debug_assertions)]
use crate::trace::Quiet;

/// Attempts that changed nothing but their pods, the newest last. They are forgotten when anything else changes: with every operation but
/// the next attempt, and with every attempt that ends otherwise. Clones share the failures.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduler) struct RecentFailures(VecDeque<Failure>);

#[derive(Clone, Debug)]
struct Failure {
    pod: Arc<PodInfo>,
    error: Arc<FitError>,
    /// Where the search began, and ended.
    start: usize,
}

impl RecentFailures {
    /// Returns them with an attempt behind, if another pod like its own would fail alike; none of them if not. `start` is where its
    /// search began.
    #[must_use]
    pub(super) fn and(mut self, state: &State, framework: &Framework, pod: &Arc<PodInfo>, error: &FitError, start: usize) -> Self {
        let is_kept = depends_on_spec_alone(&pod.pod)
            && depends_on_state_alone(state, framework)
            && error.writes.is_empty()
            && error.preemption.as_ref().is_none_or(|record| record.selected().is_none())
            && start == state.next_start_node_index;
        if !is_kept {
            return Self::default();
        }
        if self.0.len() == RECENT_FAILURES {
            self.0.pop_front();
        }
        self.0.push_back(Failure { pod: pod.clone(), error: Arc::new(error.clone()), start });
        self
    }

    /// Returns how the attempt for a pod ends; `None` if it has to be made.
    pub(super) fn of_pod_like(&self, state: &State, pod: &PodInfo) -> Option<Box<FitError>> {
        if !depends_on_spec_alone(&pod.pod) {
            return None;
        }
        let fails_alike = |failure: &&Failure| failure.start == state.next_start_node_index && are_alike(&failure.pod.pod, &pod.pod);
        self.0.iter().rev().find(fails_alike).map(|failure| Box::new((*failure.error).clone()))
    }
}

/// Whether pods of which [`depends_on_spec_alone`] holds are the same to plugins.
pub(in crate::scheduler) fn are_alike(one: &Pod, other: &Pod) -> bool {
    (Arc::ptr_eq(&one.spec, &other.spec) || one.spec == other.spec)
        && one.metadata.namespace == other.metadata.namespace
        && one.metadata.template == other.metadata.template
}

/// Whether plugins read no more of a pod than its spec, labels and owners: not its name, by which its claims are found, its group, its
/// nomination, or its status.
fn depends_on_spec_alone(pod: &Pod) -> bool {
    requires_by_spec_alone(pod) && pod.spec.scheduling_group.is_none() && pod.status.nominated_node_name.is_empty()
}

/// Whether plugins that depend on the pod and a node alone read no more of a pod than its spec, namespace, labels and owners: not its
/// name, by which its claims are found, or the requests in its status.
pub(in crate::scheduler) fn requires_by_spec_alone(pod: &Pod) -> bool {
    let RarePodStatus { container_statuses, init_container_statuses, resources, allocated_resources, .. } = &*pod.status.rare;
    pod.spec.volumes.is_empty()
        && pod.spec.resource_claims.is_empty()
        && container_statuses.is_empty()
        && init_container_statuses.is_empty()
        && resources.is_none()
        && allocated_resources.is_empty()
}

/// Whether an attempt depends on nothing beside the pod and the state: no extender, plugin of others or class of devices has a say, and no
/// text names the pod.
fn depends_on_state_alone(state: &State, framework: &Framework) -> bool {
    let release = state.config.emulation.behaviour();
    release.algorithm == Algorithm::Plugins
        && release.preemption.text == PreemptionText::Prefixed
        && state.cluster.device_classes.is_empty()
        && state.config.extenders.list().is_empty()
        && !framework.all.iter().any(|plugin| plugin.name().is_out_of_tree())
}

/// Checks that an attempt ends as it is known to.
#[cfg(debug_assertions)]
pub(super) fn check(known: &FitError, attempt: &mut SchedulePod<'_>, pod: &PodInfo) {
    let steps = *attempt.steps;
    let ScheduleResult::FitError(found) = attempt.run(pod, &mut CycleState::default(), &mut Quiet) else {
        panic!("{} finds a node, as the pod before it did not", pod.key());
    };
    *attempt.steps = steps;
    let facts = |error: &FitError| (error.message(), error.diagnosis.unschedulable_plugins, error.diagnosis.pending_plugins);
    assert_eq!(facts(&found), facts(known), "{}", pod.key());
    assert!(found.preemption.as_ref().is_none_or(|record| record.selected().is_none()), "{}", pod.key());
}

#[cfg(test)]
mod tests;
