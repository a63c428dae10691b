//! How the pods of groups are followed; mirrors what `pkg/scheduler/backend/cache/cache.go` does with pod group states.

use super::State;
use super::event_handlers::HandlerStep;
use crate::cluster::Pod;
use crate::release::Gate;

impl State {
    /// Whether a pod is tried with its group.
    pub(super) fn is_group_member(&self, pod: &Pod) -> bool {
        pod.spec.scheduling_group.is_some() && self.config.emulation.enabled(Gate::GenericWorkload)
    }

    /// Takes note of what a step means for the group of its pod; to be called before the step is done.
    pub(super) fn track_group(&mut self, step: &HandlerStep) {
        if !self.config.emulation.enabled(Gate::GenericWorkload) {
            return;
        }
        let groups = &mut self.cache.pod_groups;
        match step {
            HandlerStep::QueueAdd(pod) => groups.add(pod),
            HandlerStep::QueueUpdate { new, .. } => groups.update(new),
            HandlerStep::CacheAddPod(pod) => {
                groups.remove(pod);
                groups.add(pod);
            }
            HandlerStep::CacheUpdatePod { old, new } => {
                groups.remove(old);
                groups.add(new);
            }
            HandlerStep::CacheRemovePod(pod) => groups.remove(pod),
            // A pod that got its node is followed as one that came with it.
            HandlerStep::QueueDelete(pod) if self.cluster.pods.get(&pod.key()).is_none_or(|known| known.node_name.is_empty()) => {
                groups.remove(pod);
            }
            _ => {}
        }
    }
}
