//! Pods that differ in their names alone, as those of a workload do: one decision is about all of them.

use std::sync::Arc;

use crate::cluster::{List, Pod, PodSpec, RarePodStatus, Volume};
use crate::plugins::dynamic_resources::extended_resource_class;

use super::operations::Scheduler;
use super::runtime::Framework;
use super::state::State;

impl Scheduler {
    /// Returns whether a decision about one pending pod holds for another: they differ in their names and in what the scheduler
    /// reported alone, and the decision reads nothing else of either.
    pub fn decides_alike(&self, a: &Pod, b: &Pod) -> bool {
        let (one, other) = (&a.metadata, &b.metadata);
        one.namespace == other.namespace
            && one.template == other.template
            && is_decided_by_template(self.state(), a)
            && is_decided_by_template(self.state(), b)
            && (Arc::ptr_eq(&a.spec, &b.spec) || without_volumes(&a.spec) == without_volumes(&b.spec))
    }
}

/// Returns whether nothing but its template decides about a pod: not its group, its claims and volumes, its nomination, a status that
/// anyone but a scheduler wrote, an extender, a plugin of others or a message that names it.
fn is_decided_by_template(state: &State, pod: &Pod) -> bool {
    let (config, spec) = (state.config(), &pod.spec);
    let is_of_scheduler = pod.status.rare.handle().is_none_or(|rare| {
        let blank = RarePodStatus { conditions: rare.conditions.clone(), ..RarePodStatus::default() };
        **rare == blank && rare.conditions.iter().all(|condition| condition.kind == "PodScheduled")
    });
    // A pod may own the claim for its extended resources.
    let containers = spec.containers.iter().chain(spec.init_containers.iter());
    let mut resources = containers.flat_map(|container| container.resources.requests.keys()).chain(spec.overhead.keys());
    let reads_specs_alone = |framework: &Framework| !framework.all.iter().any(|plugin| plugin.name().is_out_of_tree());
    !config.has_extenders()
        && config.profile(&spec.scheduler_name).is_none_or(reads_specs_alone)
        && !config.emulation.behaviour().preemption.names_preemptor()
        && pod.group_key().is_none()
        && spec.resource_claims.is_empty()
        && spec.volumes.iter().all(Volume::is_unread)
        && is_of_scheduler
        && !resources.any(|name| extended_resource_class(state.cluster(), name).is_some())
}

fn without_volumes(spec: &PodSpec) -> PodSpec {
    let mut spec = spec.clone();
    spec.volumes = List::default();
    spec
}

#[cfg(test)]
mod tests;
