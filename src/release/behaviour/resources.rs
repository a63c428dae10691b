//! Behaviours of NodeResourcesFit and NodeResourcesBalancedAllocation, and of the requests that they count.

/// The named behaviours of NodeResourcesFit and NodeResourcesBalancedAllocation, and of the requests that they count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceBehaviour {
    /// How NodeResourcesBalancedAllocation scores.
    pub balance: BalanceScore,
    /// Whether NodeResourcesBalancedAllocation skips pods that request none of its resources.
    pub balance_skips_best_effort: bool,
    /// Which resources are checked although the pod requests none of them.
    pub zero_requests: ZeroRequests,
    /// Whether a request above the node's allocatable makes the node unresolvable.
    pub oversized_is_unresolvable: bool,
    /// Where NodeResourcesFit rejects pods with sidecars while `SidecarContainers` is off.
    pub sidecars_refused_in: SidecarCheck,
    /// Whether the host ports of sidecars count.
    pub sidecar_ports: bool,
    /// The usage that scoring assumes for pods on a node that request nothing.
    pub assumed_usage: AssumedUsage,
    /// Which requests of a pod count as usage of its node.
    pub node_usage: NodeUsage,
    /// How the larger amount counts while containers are resized in place.
    pub resizes: ResizeMaximum,
    /// The unit in which the pod's own CPU overhead is added in scoring.
    pub overhead_unit: OverheadUnit,
    /// Whether the pod's own overhead counts in the scores of NodeResourcesFit.
    pub fit_scores_overhead: bool,
    /// How a resource counts that the node does not have, in scores by free or used share.
    pub missing_resources: MissingResources,
    /// How RequestedToCapacityRatio rounds the utilization of a resource.
    pub utilization: UtilizationRounding,
}

/// How NodeResourcesBalancedAllocation scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceScore {
    /// Scores the change that the pod makes to the node's balance.
    Change,
    /// Scores the node's balance with the pod.
    Result,
    /// Scores the difference between CPU and memory with assumed usage; 0 if either is used up.
    Difference,
}

/// How the larger amount counts while containers are resized in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResizeMaximum {
    /// For each container the largest of the desired, the allocated and the actuated request.
    #[default]
    OfContainer,
    /// For the pod the largest of the three sums.
    OfPod,
}

/// Where NodeResourcesFit rejects pods with sidecars while `SidecarContainers` is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SidecarCheck {
    /// On each node.
    Filter,
    /// Once, in PreFilter.
    PreFilter,
    /// Nowhere: the API has no sidecars, and all init containers run one after another.
    Unknown,
}

/// Which resources are checked although the pod requests none of them. A node fails the check if its pods request more
/// than it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroRequests {
    /// None.
    Pass,
    /// CPU, memory and ephemeral storage.
    BasicChecked,
    /// Also scalar resources that the pod names.
    Checked,
}

/// The unit in which the pod's own CPU overhead is added in scoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverheadUnit {
    /// Thousandths of a core.
    Milli,
    /// Whole cores rounded up, added as if they were thousandths.
    Cores,
}

/// How a resource counts that the node does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingResources {
    LeftOut,
    /// With its weight, at the score of a used-up resource.
    Weighed,
}

/// How the utilization of a resource is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtilizationRounding {
    /// The used share is rounded down.
    TakenDown,
    /// The free share is rounded down.
    FreeDown,
}

/// The usage that scoring assumes for pods on a node that request nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumedUsage {
    /// An amount for each container and each phase of init containers.
    PerPhase,
    /// An amount for each container.
    PerContainer,
}

/// Which requests of a pod count as usage of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeUsage {
    /// All of the pod's requests.
    Pod,
    /// The requests of its containers without init containers, each rounded up.
    Containers,
}
