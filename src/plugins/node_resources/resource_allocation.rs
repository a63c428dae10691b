//! Usage of each configured resource on a node with and without the pod, for scoring by both resource plugins. Mirrors
//! `pkg/scheduler/framework/plugins/noderesources/resource_allocation.go`.

use super::args::ResourceSpec;
use super::dra::DraResources;
use crate::cluster::{Pod, Str};
use crate::framework::{Context, NodeInfo, PodResourcesOptions, default_container_requests, is_scalar_resource_name, pod_requests};
use crate::release::{Emulation, Gate, MissingResources, OverheadUnit, ResourceBehaviour, SidecarCheck};

/// The usage of one resource of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Requested with the incoming pod.
    pub(super) requested: i64,
    /// Requested without it.
    pub(super) allocated: i64,
    /// The node's allocatable amount.
    pub(super) allocatable: i64,
    /// Whether the resource is scored.
    pub(super) counts: bool,
    /// The resource's weight.
    pub(super) weight: i64,
}

/// Returns the weighted mean of `score(requested, allocatable)` over the resources that count, truncated; 0 if none
/// counts.
#[inline]
pub(super) fn weighted_mean(usages: &[Usage], score: impl Fn(i64, i64) -> i64) -> i64 {
    let (mut sum, mut weights) = (0i64, 0i64);
    for usage in usages.iter().filter(|u| u.counts) {
        sum = sum.wrapping_add(score(usage.requested, usage.allocatable).wrapping_mul(usage.weight));
        weights = weights.wrapping_add(usage.weight);
    }
    if weights == 0 { 0 } else { sum.wrapping_div(weights) }
}

/// A configured resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Cpu,
    Memory,
    EphemeralStorage,
    /// Any other resource, and whether the scheduler counts it.
    Other {
        scalar: bool,
    },
}

/// The scored resources and the way requests are summed.
#[derive(Clone, Debug)]
pub(super) struct ResourceAllocationScorer {
    resources: Vec<(ResourceSpec, Which)>,
    /// The requests to sum.
    requests: Requests,
    /// The unit of the pod's overhead; `None` to leave it out.
    overhead_unit: Option<OverheadUnit>,
    /// Whether resources count that a node does not have.
    counts_missing: bool,
}

/// The requests to sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requests {
    /// Actual requests.
    Real,
    /// Actual requests, with defaults for containers that name none.
    Assumed,
}

/// Data of the pod, from PreScore for Score.
#[derive(Clone, Debug)]
pub(super) struct PreScore {
    /// The pod's request for each configured resource.
    pub(super) pod_requests: Vec<i64>,
    /// Configured resources served by devices, if any.
    dra: Option<DraResources>,
}

impl ResourceAllocationScorer {
    pub(super) fn new(resources: &[ResourceSpec], requests: Requests, release: &ResourceBehaviour) -> Self {
        let which = |name: &Str| match name.as_str() {
            "cpu" => Which::Cpu,
            "memory" => Which::Memory,
            "ephemeral-storage" => Which::EphemeralStorage,
            other => Which::Other { scalar: is_scalar_resource_name(other) },
        };
        Self {
            resources: resources.iter().map(|r| (r.clone(), which(&r.name))).collect(),
            requests,
            overhead_unit: Some(release.overhead_unit),
            counts_missing: release.missing_resources == MissingResources::Weighed,
        }
    }

    /// Returns the scorer without the pod's overhead.
    pub(super) fn without_overhead(self) -> Self {
        Self { overhead_unit: None, ..self }
    }

    /// Computes the pod's requests and the devices of the configured resources once.
    pub(super) fn pre_score(&self, cx: &Context<'_>, pod: &Pod) -> PreScore {
        let names = || self.resources.iter().map(|(r, _)| &r.name);
        let dra =
            if cx.emulation.enabled(Gate::DRAExtendedResource) { DraResources::gather(cx.cluster, cx.emulation, names()) } else { None };
        PreScore { pod_requests: self.pod_requests(pod, cx.emulation), dra }
    }

    /// Returns the pod's request for each configured resource, in thousandths of a core or whole units.
    ///
    /// Upstream passes the gates for resizes and pod-level resources only to the scorer of BalancedAllocation. That of
    /// NodeResourcesFit reads containers only.
    pub(super) fn pod_requests(&self, pod: &Pod, emulation: Emulation) -> Vec<i64> {
        let defaults = default_container_requests();
        let real = self.requests == Requests::Real;
        let options = PodResourcesOptions {
            use_status_resources: real && emulation.enabled(Gate::InPlacePodVerticalScaling),
            in_place_pod_level: real && emulation.enabled(Gate::InPlacePodLevelResourcesVerticalScaling),
            resizes: emulation.behaviour().resources.resizes,
            sidecars_unknown: emulation.behaviour().resources.sidecars_refused_in == SidecarCheck::Unknown,
            skip_pod_level_resources: !(real && emulation.enabled(Gate::PodLevelResources)),
            non_missing_container_requests: Some(&defaults).filter(|_| !real),
        };
        let requests = pod_requests(pod, options);
        let overhead = |name: &str| pod.spec.overhead.get(name).copied();
        let overhead_error = match self.overhead_unit {
            Some(OverheadUnit::Milli) => 0,
            Some(OverheadUnit::Cores) => overhead("cpu").map_or(0, |cpu| cpu.value() - cpu.milli_value()),
            None => overhead("cpu").map_or(0, |cpu| -cpu.milli_value()),
        };
        let amount = |(resource, which): &(ResourceSpec, Which)| match requests.get(&resource.name) {
            None => 0,
            Some(quantity) if *which == Which::Cpu => quantity.milli_value() + overhead_error,
            Some(quantity) if self.overhead_unit.is_none() => {
                quantity.value() - overhead(&resource.name).map_or(0, crate::cluster::Quantity::value)
            }
            Some(quantity) => quantity.value(),
        };
        self.resources.iter().map(amount).collect()
    }

    /// Computes the usages of the configured resources on a node and passes them to `score` in configured order.
    #[inline]
    pub(super) fn with_usages(&self, pre: &PreScore, node: &NodeInfo, score: impl FnOnce(&[Usage]) -> i64) -> i64 {
        // Mostly two resources are configured; a short array saves an allocation and is soon filled.
        let mut few = [Usage::default(); 3];
        let mut many = Vec::new();
        let usages = if self.resources.len() <= few.len() {
            &mut few[..self.resources.len()]
        } else {
            many.resize(self.resources.len(), Usage::default());
            &mut many[..]
        };
        for (i, (usage, request)) in usages.iter_mut().zip(&pre.pod_requests).enumerate() {
            *usage = self.usage(i, *request, pre, node);
        }
        score(usages)
    }

    /// Scores a placement by `score(requested, allocatable)` of each configured resource over all its nodes, with the pods
    /// that would come to it. A resource beyond the basic ones counts only for pods that ask for it, and what devices back
    /// does not count.
    pub(super) fn score_placement<'p>(
        &self,
        pods: impl Iterator<Item = &'p Pod>,
        nodes: impl Iterator<Item = &'p NodeInfo>,
        emulation: Emulation,
        score: impl Fn(i64, i64) -> i64,
    ) -> i64 {
        let mut requested = vec![0i64; self.resources.len()];
        for pod in pods {
            for (sum, request) in requested.iter_mut().zip(self.pod_requests(pod, emulation)) {
                *sum = sum.wrapping_add(request);
            }
        }
        let none = PreScore { pod_requests: Vec::new(), dra: None };
        let mut allocatable = vec![0i64; self.resources.len()];
        for node in nodes {
            for i in 0..self.resources.len() {
                let usage = self.usage(i, requested[i], &none, node);
                allocatable[i] = allocatable[i].wrapping_add(usage.allocatable);
                requested[i] = requested[i].wrapping_add(usage.allocated);
            }
        }
        let sums = requested.into_iter().zip(allocatable).zip(&self.resources);
        let usages: Vec<Usage> = sums
            .map(|((requested, allocatable), (resource, _))| Usage {
                requested,
                allocated: 0,
                allocatable,
                counts: allocatable != 0,
                weight: resource.weight,
            })
            .collect();
        weighted_mean(&usages, score)
    }

    #[inline]
    fn usage(&self, i: usize, request: i64, pre: &PreScore, node: &NodeInfo) -> Usage {
        let (resource, which) = &self.resources[i];
        let unused = Usage { weight: resource.weight, ..Usage::default() };
        let real = self.requests == Requests::Real;
        let (allocatable, allocated) = match which {
            // A scalar resource counts only for pods that request it.
            Which::Other { scalar: true } if request == 0 && !self.counts_missing => return unused,
            Which::Cpu => (node.allocatable.milli_cpu, if real { node.requested.milli_cpu } else { node.non_zero_cpu }),
            Which::Memory => (node.allocatable.memory, if real { node.requested.memory } else { node.non_zero_memory }),
            Which::EphemeralStorage => (node.allocatable.ephemeral_storage, node.requested.ephemeral_storage),
            Which::Other { .. } => match node.allocatable.scalar(&resource.name) {
                // Without a device plugin for the resource, devices may serve it.
                0 => pre.dra.as_ref().map_or((0, 0), |dra| dra.capacity_and_allocated(i, &node.node)),
                allocatable => (allocatable, node.requested.scalar(&resource.name)),
            },
        };
        if allocatable == 0 && !self.counts_missing {
            return unused;
        }
        Usage { requested: allocated.wrapping_add(request), allocated, allocatable, counts: true, weight: resource.weight }
    }
}

#[cfg(test)]
mod tests;
