//! Named engine behaviours that changed between releases, in parts. A difference behind a feature gate is read from the gate
//! instead. A plugin whose algorithm changed has one implementation for each.

mod affinity;
mod cycle;
mod devices;
mod groups;
mod images;
mod messages;
mod predicates;
mod preemption;
mod queue;
mod resources;
mod search;
mod spread;
mod volumes;

pub use affinity::{AffinityBehaviour, AffinityRange, AffinityReasons, NodeAffinityConflict, NodeAffinityPreFilter};
pub use cycle::{
    CycleBehaviour, FilterRun, IdleScores, LeftOutNodes, MissingNodes, NarrowingOrder, PluginOrder, PreFilterRejection, RepeatedScores,
};
pub use devices::{DeviceBehaviour, DeviceSelectors, InvalidPools};
pub use groups::{GroupBehaviour, GroupRule};
pub use images::{ImageBehaviour, ImageSources};
pub use messages::{MessageBehaviour, PostFilterText};
pub use predicates::{AffinityTerms, ClaimBinding, EbsLimit, HostOrder, ImageScore, PredicateBehaviour, PreemptionReach};
pub use preemption::{
    BudgetRule, Candidates, DryRunReport, Eligibility, Importance, PotentialNodes, PreemptionBehaviour, PreemptionText, ScoreFunctionName,
    TerminatingPods, VictimOrder, WithoutVictims,
};
pub use queue::{
    AssignedPods, AssignedUpdates, Backoff, ClassAdditions, EventMatching, EventNames, GatedPods, NodeEvents, NodeRegistrations,
    NodeUpdates, NominationEnds, OtherEvents, Parking, PreemptionCalls, QueueBehaviour, VictimStatus,
};
pub use resources::{
    AssumedUsage, BalanceScore, MissingResources, NodeUsage, OverheadUnit, ResizeMaximum, ResourceBehaviour, SidecarCheck,
    UtilizationRounding, ZeroRequests,
};
pub use search::{NodeSearch, SearchBehaviour, StartWrap};
pub use spread::{DefaultSelector, EmptySelector, Rounding, SpreadBehaviour, SpreadCounts};
pub use volumes::{
    ClaimsInUse, CsiLimits, EphemeralClaims, LocalVolumes, MigratedPlugins, MissingClaims, VolumeBehaviour, VolumeMatching, ZoneCheck,
};

/// The named behaviours of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// The algorithm that chooses a node.
    pub algorithm: Algorithm,
    /// Behaviours of predicates and priorities; used with [`Algorithm::PredicatesAndPriorities`].
    pub predicates: PredicateBehaviour,
    /// Behaviours of the scheduling cycle: which plugins run, and how their statuses and scores count.
    pub cycle: CycleBehaviour,
    /// Behaviours of the search for feasible nodes: how many are filtered, and where the next search starts.
    pub search: SearchBehaviour,
    /// Behaviours of preemption: its candidates, their victims and the choice among them.
    pub preemption: PreemptionBehaviour,
    /// Behaviours of NodeResourcesFit and NodeResourcesBalancedAllocation, and of the requests that they count.
    pub resources: ResourceBehaviour,
    /// Behaviours of ImageLocality.
    pub images: ImageBehaviour,
    /// Behaviours of DynamicResources and its allocator.
    pub devices: DeviceBehaviour,
    /// Behaviours of InterPodAffinity and NodeAffinity.
    pub affinity: AffinityBehaviour,
    /// Behaviours of PodTopologySpread.
    pub spread: SpreadBehaviour,
    /// Behaviours of the volume plugins.
    pub volumes: VolumeBehaviour,
    /// Behaviours of errors and of the message about a failed attempt.
    pub messages: MessageBehaviour,
    /// Behaviours of pod groups.
    pub groups: GroupBehaviour,
    /// Behaviours of the queue and the event handlers.
    pub queue: QueueBehaviour,
}

/// The algorithm that chooses a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Plugins at the extension points of the scheduling framework.
    Plugins,
    /// Predicates and priorities. Claims must exist before anything else is checked. An error on one node lets the
    /// search continue and then ends the attempt with the errors of all nodes.
    PredicatesAndPriorities,
}
