//! NodeResourcesFit: PreFilter, Filter, PreScore, Score. Mirrors `pkg/scheduler/framework/plugins/noderesources/fit.go`.

use std::sync::{Arc, OnceLock};

use super::args::{NodeResourcesFitArgs, ScoringStrategyType};
use super::formula::Formula;
use super::hints;
use super::most_allocated;
use super::resource_allocation::{PreScore, Requests, ResourceAllocationScorer};
use crate::cluster::{Cluster, Container, Key, List, Pod, Str};
use crate::framework::{
    ClusterEventWithHint, Code, Context, CycleState, FilterPlugin, NodeInfo, PlacementScorePlugin, Plugin, PluginName, PodGroupAssignments,
    PodInfo, PodResourcesOptions, PodSums, PreFilterPlugin, PreFilterResult, PreScorePlugin, Reason, Resource, ScorePlugin, Shortage,
    Status, is_extended_resource_name, pod_requests,
};
use crate::plugins::dynamic_resources::extended_resource_class;
use crate::release::{Emulation, Gate, ResourceBehaviour, SidecarCheck, ZeroRequests};

/// Keeps pods off nodes without enough free resources, and scores nodes by their free or used share.
#[derive(Clone, Debug)]
pub struct NodeResourcesFit {
    ignored_resources: List<Str>,
    ignored_resource_groups: List<Str>,
    formula: Formula,
    scorer: ResourceAllocationScorer,
}

/// The pod's request in Filter. Amounts are at least 0, and 0 does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodRequest {
    pub(super) basic: Resource,
    /// Further resources by name.
    pub(super) scalars: Vec<ScalarRequest>,
    /// Whether the pod requests and names nothing.
    pub(super) nothing: bool,
}

/// A request for a resource beyond the basic ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScalarRequest {
    pub(super) name: Str,
    pub(super) amount: i64,
    /// Whether devices serve the resource on nodes that do not list it; DynamicResources then checks it.
    pub(super) device_backed: bool,
}

impl PodRequest {
    /// Sums the pod's request. A pod without a node has no resize in progress.
    pub(super) fn of(cluster: &Cluster, emulation: Emulation, pod: &Pod) -> Self {
        let skip_pod_level_resources = !emulation.enabled(Gate::PodLevelResources);
        let sidecars_unknown = emulation.behaviour().resources.sidecars_refused_in == SidecarCheck::Unknown;
        let options = PodResourcesOptions { sidecars_unknown, skip_pod_level_resources, ..PodResourcesOptions::default() };
        let mut basic = Resource::max_of_list(&pod_requests(pod, options));
        let scalar = |(name, amount): (&Str, &i64)| ScalarRequest {
            name: name.clone(),
            amount: *amount,
            device_backed: emulation.enabled(Gate::DRAExtendedResource) && extended_resource_class(cluster, name).is_some(),
        };
        let nothing = basic == Resource::default();
        let counts_zero = emulation.behaviour().resources.zero_requests == ZeroRequests::Checked;
        let scalars = basic.scalar.iter().filter(|(_, amount)| **amount != 0 || counts_zero).map(scalar).collect();
        basic.scalar = crate::cluster::Map::default();
        Self { basic, scalars, nothing }
    }

    /// Whether a node with `pods` pods has none of the further resources, and surely enough of the basic ones.
    #[inline]
    fn lacks_scalars_alone(&self, pods: usize, allocatable: &Resource, requested: &Resource) -> bool {
        let Resource { milli_cpu, memory, ephemeral_storage, .. } = self.basic;
        let basic = || {
            milli_cpu <= allocatable.milli_cpu.wrapping_sub(requested.milli_cpu)
                && memory <= allocatable.memory.wrapping_sub(requested.memory)
                && ephemeral_storage <= allocatable.ephemeral_storage.wrapping_sub(requested.ephemeral_storage)
                && i64::try_from(pods).is_ok_and(|pods| pods < allocatable.allowed_pod_number)
        };
        !self.scalars.is_empty() && allocatable.scalar.is_empty() && requested.scalar.is_empty() && basic()
    }

    /// Returns why a node with `pods` pods cannot take the pod: pods, cpu, memory, ephemeral-storage, then by name. If
    /// even the empty node is too small, the code is unresolvable in releases that distinguish it.
    #[inline]
    pub(super) fn fit(&self, pods: usize, allocatable: &Resource, requested: &Resource, emulation: Emulation) -> Status {
        let release = &emulation.behaviour().resources;
        let mut code = Code::Unschedulable;
        let pods = i64::try_from(pods).unwrap_or(i64::MAX);
        // Mostly there is one reason, which needs no list.
        let mut first =
            (pods >= allocatable.allowed_pod_number).then_some(Reason::TooManyPods { pods, allowed: allocatable.allowed_pod_number });
        let mut others: Vec<Reason> = Vec::new();
        let counts_zero = release.zero_requests != ZeroRequests::Pass && !self.nothing;
        let mut check = |requested: i64, capacity: i64, used: i64, resource: &dyn Fn() -> Str| {
            if (requested > 0 || counts_zero) && requested > capacity.wrapping_sub(used) {
                let reason = Reason::Insufficient(Shortage { resource: resource(), requested, used, capacity });
                match &first {
                    None => first = Some(reason),
                    Some(_) => others.push(reason),
                }
                if requested > capacity && release.oversized_is_unresolvable {
                    code = Code::UnschedulableAndUnresolvable;
                }
            }
        };
        let basic = &self.basic;
        check(basic.milli_cpu, allocatable.milli_cpu, requested.milli_cpu, &|| Str::CPU);
        check(basic.memory, allocatable.memory, requested.memory, &|| Str::MEMORY);
        let storage = (allocatable.ephemeral_storage, requested.ephemeral_storage);
        check(basic.ephemeral_storage, storage.0, storage.1, &|| Str::EPHEMERAL_STORAGE);
        // Both are sorted by name.
        let (mut all, mut used) = (allocatable.scalar.ascending(), requested.scalar.ascending());
        for ScalarRequest { name, amount, device_backed } in &self.scalars {
            let has = all.get(name).copied().unwrap_or(0);
            if has > 0 || !device_backed {
                check(*amount, has, used.get(name).copied().unwrap_or(0), &|| name.clone());
            }
        }
        match first {
            None => Status::success(),
            Some(first) => Status::given_by(PluginName::NodeResourcesFit, emulation.release(), code, first, others),
        }
    }
}

impl NodeResourcesFit {
    /// Makes the plugin of a release with its arguments. Without a shape, which [`NodeResourcesFitArgs::validate`]
    /// rejects, RequestedToCapacityRatio scores every node 0.
    pub fn new(args: NodeResourcesFitArgs, release: &ResourceBehaviour) -> Self {
        let NodeResourcesFitArgs { ignored_resources, ignored_resource_groups, scoring_strategy: strategy, .. } = args;
        let formula = match strategy.kind {
            ScoringStrategyType::LeastAllocated | ScoringStrategyType::Unsupported(_) => Formula::LeastAllocated,
            ScoringStrategyType::MostAllocated => Formula::MostAllocated,
            ScoringStrategyType::RequestedToCapacityRatio => {
                let shape = strategy.requested_to_capacity_ratio.unwrap_or_default().shape;
                Formula::requested_to_capacity_ratio(&shape, release)
            }
        };
        let scorer = ResourceAllocationScorer::new(&strategy.resources, Requests::Assumed, release);
        let scorer = if release.fit_scores_overhead { scorer } else { scorer.without_overhead() };
        Self { ignored_resources, ignored_resource_groups, formula, scorer }
    }

    /// Whether the arguments ignore an extended resource.
    fn ignores(&self, name: &Str) -> bool {
        if self.ignored_resources.is_empty() && self.ignored_resource_groups.is_empty() || !is_extended_resource_name(name) {
            return false;
        }
        let group = name.split('/').next().unwrap_or_default();
        self.ignored_resources.contains(name) || self.ignored_resource_groups.iter().any(|g| g.as_str() == group)
    }
}

/// Returns whether a node has enough free resources for the pod.
pub fn fits(cx: &Context<'_>, pod: &PodInfo, node: &NodeInfo) -> bool {
    let request = PodRequest::of(cx.cluster, cx.emulation, &pod.pod);
    request.fit(node.pods.len(), &node.allocatable, &node.requested, cx.emulation).is_success()
}

/// Whether the pod has a sidecar while the feature is off.
fn refuses_sidecars(cx: &Context<'_>, pod: &PodInfo) -> bool {
    !cx.emulation.enabled(Gate::SidecarContainers) && pod.pod.spec.init_containers.iter().any(Container::is_restartable)
}

#[derive(Clone, Debug)]
struct PreFilterState {
    request: PodRequest,
    /// The answer of a node that has none of the further resources and enough of the basic ones, which is the same for all.
    without_scalars: OnceLock<Status>,
}

#[derive(Clone, Debug)]
struct PreScoreState(PreScore);

impl Plugin for NodeResourcesFit {
    plugin!(NodeResourcesFit: pre_filter, filter, pre_score, score, placement_score);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(hints::events(emulation))
    }
}

impl PreFilterPlugin for NodeResourcesFit {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        if cx.emulation.behaviour().resources.sidecars_refused_in == SidecarCheck::PreFilter && refuses_sidecars(cx, pod) {
            return (PreFilterResult::default(), Status::rejected(Reason::SidecarsDisabled));
        }
        let mut request = PodRequest::of(cx.cluster, cx.emulation, &pod.pod);
        request.scalars.retain(|scalar| !self.ignores(&scalar.name));
        state.write(PreFilterState { request, without_scalars: OnceLock::new() });
        (PreFilterResult::default(), Status::success())
    }
}

impl FilterPlugin for NodeResourcesFit {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        Self::fit_in(cx, state, pod, node, (node.pods.len(), &node.requested))
    }

    fn depends_on_sums(&self) -> bool {
        true
    }

    fn filter_sums(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo, sums: &PodSums) -> Status {
        Self::fit_in(cx, state, pod, node, (sums.pods, &sums.requested))
    }

    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

impl NodeResourcesFit {
    /// Filters a node with this number of pods and sum of requests.
    #[inline]
    fn fit_in(cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo, (pods, requested): (usize, &Resource)) -> Status {
        let release = &cx.emulation.behaviour().resources;
        if release.sidecars_refused_in == SidecarCheck::Filter && refuses_sidecars(cx, pod) {
            return Status::rejected(Reason::SidecarsDisabled);
        }
        let Some(PreFilterState { request, without_scalars }) = state.read() else {
            return Status::error("error reading \"PreFilterNodeResourcesFit\" from cycleState: not found");
        };
        let fit = || request.fit(pods, &node.allocatable, requested, cx.emulation);
        if request.lacks_scalars_alone(pods, &node.allocatable, requested) { without_scalars.get_or_init(fit).clone() } else { fit() }
    }
}

impl PreScorePlugin for NodeResourcesFit {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        state.write(PreScoreState(self.scorer.pre_score(cx, &pod.pod)));
        Status::success()
    }
}

impl ScorePlugin for NodeResourcesFit {
    fn score(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let score = |pre: &PreScore| self.scorer.with_usages(pre, node, |usages| self.formula.score(usages));
        Ok(match state.read() {
            Some(PreScoreState(pre)) => score(pre),
            None => score(&self.scorer.pre_score(cx, &pod.pod)),
        })
    }

    fn score_all(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        let computed;
        let pre = match state.read() {
            Some(PreScoreState(pre)) => pre,
            None => {
                computed = self.scorer.pre_score(cx, &pod.pod);
                &computed
            }
        };
        Ok(nodes.iter().map(|node| self.scorer.with_usages(pre, node, |usages| self.formula.score(usages))).collect())
    }

    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

impl PlacementScorePlugin for NodeResourcesFit {
    /// Whatever the configured strategy, the fuller a placement would be, the better.
    fn score_placement(&self, cx: &Context<'_>, _group: &Key, assignments: &PodGroupAssignments<'_>) -> Result<i64, Status> {
        let pods = assignments.pods.iter().map(|info| &*info.pod);
        let nodes = assignments.placement.nodes.iter().filter_map(|at| cx.snapshot.nodes().get(*at)).map(|node| &**node);
        Ok(self.scorer.score_placement(pods, nodes, cx.emulation, most_allocated::most_requested_score))
    }
}

#[cfg(test)]
mod tests;
