//! The last attempt that found no node. The next pod of the same workload, tried in the same state, finds none for the same reasons,
//! which quiet runs need not find again. No counterpart upstream.

use std::sync::Arc;

use crate::cluster::{Pod, RarePodStatus};
#[cfg(debug_assertions)]
use crate::framework::CycleState;
use crate::framework::PodInfo;
use crate::release::{Algorithm, PreemptionText};
use crate::scheduler::State;
use crate::scheduler::algorithm::FitError;
#[cfg(debug_assertions)]
use crate::scheduler::algorithm::{SchedulePod, ScheduleResult};
use crate::scheduler::runtime::Framework;
#[cfg(debug_assertions)]
use crate::trace::Quiet;

/// An attempt that changed nothing but its pod. It is forgotten when anything else changes: with every operation but the next
/// attempt, and with every attempt that ends otherwise.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct LastFailure {
    pod: Arc<PodInfo>,
    error: Box<FitError>,
    /// Where the search began, and ended.
    start: usize,
}

impl LastFailure {
    /// Keeps an attempt if another pod like its own would fail alike. `start` is where its search began.
    pub(super) fn of(state: &State, framework: &Framework, pod: &Arc<PodInfo>, error: &FitError, start: usize) -> Option<Self> {
        let is_kept = depends_on_spec_alone(&pod.pod)
            && depends_on_state_alone(state, framework)
            && error.writes.is_empty()
            && error.preemption.as_ref().is_none_or(|record| record.selected().is_none())
            && start == state.next_start_node_index;
        is_kept.then(|| Self { pod: pod.clone(), error: Box::new(error.clone()), start })
    }

    /// Returns how the attempt for a pod ends; `None` if it has to be made.
    pub(super) fn of_pod_like(self, state: &State, pod: &PodInfo) -> Option<Box<FitError>> {
        let (one, other) = (&self.pod.pod, &pod.pod);
        let is_alike = depends_on_spec_alone(other)
            && (Arc::ptr_eq(&one.spec, &other.spec) || one.spec == other.spec)
            && one.metadata.namespace == other.metadata.namespace
            && one.metadata.template == other.metadata.template
            && self.start == state.next_start_node_index;
        is_alike.then_some(self.error)
    }
}

/// Whether plugins read no more of a pod than its spec, labels and owners: not its name, by which its claims are found, its group, its
/// nomination, or its status.
fn depends_on_spec_alone(pod: &Pod) -> bool {
    let RarePodStatus { nominated_node_name, container_statuses, init_container_statuses, resources, allocated_resources, .. } =
        &*pod.status.rare;
    pod.spec.volumes.is_empty()
        && pod.spec.resource_claims.is_empty()
        && pod.spec.scheduling_group.is_none()
        && nominated_node_name.is_empty()
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
mod tests {
    use proptest::prelude::*;

    use crate::cluster::Object;
    use crate::scheduler::testing::{changed, node, pod, scheduler};
    use crate::scheduler::{Evictions, Operation, Quiescence, Scheduler};

    fn quiet(objects: Vec<Object>) -> Scheduler {
        scheduler(Evictions::AtOnce, objects).quietly()
    }

    /// Returns how many steps the next attempt takes.
    fn steps(scheduler: &mut Scheduler) -> u64 {
        let before = scheduler.state().steps();
        scheduler.apply(Operation::Schedule);
        scheduler.state().steps() - before
    }

    #[test]
    fn only_the_next_pod_like_the_last_one_is_not_tried() {
        let waiting = |name: &str, cpu: u32| pod(name, 0, cpu, "", "app=web");
        let objects = || vec![node("n1"), node("n2"), waiting("a", 90), waiting("b", 90), waiting("c", 91), waiting("d", 91)];
        let mut all = quiet(objects());
        let taken: Vec<bool> = (0..4).map(|_| steps(&mut all) > 0).collect();
        assert_eq!(taken, [true, false, true, false]);
        // Anything else that happens may change the outcome.
        let mut disturbed = quiet(objects());
        assert!(steps(&mut disturbed) > 0);
        let labelled = changed(&disturbed, "c", |pod| pod.metadata.labels = [("app", "db".into())].into_iter().collect());
        disturbed.apply(Operation::Update { object: labelled });
        assert!(steps(&mut disturbed) > 0);
        // A run that is recorded has every node.
        let mut recorded = scheduler(Evictions::AtOnce, objects());
        assert!((0..4).all(|_| steps(&mut recorded) > 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn quiet_runs_end_as_recorded_ones(
            bound in prop::collection::vec((0..2_i32, 1..4_u32, 0..3_usize), 0..8),
            waiting in prop::collection::vec((0..3_i32, 1..6_u32, 1..4_usize), 1..5),
        ) {
            let mut objects: Vec<Object> = ["n1", "n2", "n3"].map(node).to_vec();
            for (at, (priority, cpu, on)) in bound.iter().enumerate() {
                objects.push(pod(&format!("b{at}"), *priority, *cpu, ["n1", "n2", "n3"][*on], "app=old"));
            }
            for (at, (priority, cpu, copies)) in waiting.iter().enumerate() {
                objects.extend((0..*copies).map(|copy| pod(&format!("w{at}-{copy}"), *priority, *cpu, "", &format!("app=w{at}"))));
            }
            let settled = |mut scheduler: Scheduler| {
                let mut settling = Quiescence::default();
                while let Some(operation) = scheduler.next_operation(&settling) {
                    settling.observe(&scheduler.apply(operation));
                }
                scheduler.state().cluster().pods.iter().cloned().collect::<Vec<_>>()
            };
            let recorded = settled(scheduler(Evictions::AtOnce, objects.clone()));
            prop_assert_eq!(settled(quiet(objects)), recorded);
        }
    }
}
