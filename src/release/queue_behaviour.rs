//! Choices of the queue, the event handlers and the carrying out of preemption that changed between releases, by name.

/// The named choices of a release about queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueBehaviour {
    /// How events are called.
    pub event_names: EventNames,
    /// How an event is compared with those that plugins registered.
    pub event_matching: EventMatching,
    /// Which failed pods are parked.
    pub parking: Parking,
    /// Which waiting pods an event of a node may concern, where no plugin is asked.
    pub node_events: NodeEvents,
    /// Which other objects are told of.
    pub other_events: OtherEvents,
    /// Which events an update of a node is.
    pub node_updates: NodeUpdates,
    /// Which events an update of a pod on a node is.
    pub assigned_updates: AssignedUpdates,
    /// Which waiting pods an added or updated pod on a node may concern.
    pub assigned_pods: AssignedPods,
    /// When a nomination that ends is told as the end of a pod.
    pub nomination_ends: NominationEnds,
    /// How long a pod waits in backoffQ.
    pub backoff: Backoff,
    /// Whether the plugin that gated a pod last is asked first.
    pub gating_plugin_first: bool,
    /// What events mean for gated pods.
    pub gated_pods: GatedPods,
    /// Whether gated pods count on the nodes that they are nominated to.
    pub gated_pods_nominate: bool,
    /// Whether plugins that wait for new nodes are also told of taints, which may have hidden the new node.
    pub taints_told_with_nodes: bool,
    /// Whether InterPodAffinity and PodTopologySpread count nominated pods in their hints.
    pub hints_count_nominated: bool,
    /// Whether a change of the waiting pod itself is worth another try for InterPodAffinity.
    pub own_update_helps_affinity: bool,
    /// Whether any label change of a node with the topology key is worth another try for InterPodAffinity.
    pub any_label_helps_affinity: bool,
    /// Whether VolumeRestrictions waits for updates of claims.
    pub restrictions_wait_for_claim_updates: bool,
    /// Whether NodeVolumeLimits waits for claims.
    pub limits_wait_for_claims: bool,
    /// Whether NodeVolumeLimits waits for updates of CSINodes.
    pub limits_wait_for_csi_node_updates: bool,
    /// Which updates of a node the plugins wait for that look at nothing but the node.
    pub node_registrations: NodeRegistrations,
    /// Whether a new toleration of the waiting pod is an event that plugins wait for.
    pub tolerations_registered: bool,
    /// Which new classes are told of.
    pub class_additions: ClassAdditions,
    /// When the calls of a preemption without `SchedulerAsyncPreemption` are announced.
    pub preemption_calls: PreemptionCalls,
    /// Whether victims that are terminating already are deleted once more.
    pub terminating_victims_deleted: bool,
    /// From whose status that of a victim is made.
    pub victim_status: VictimStatus,
    /// Whether victims get a condition that says why they go.
    pub victims_marked: bool,
}

/// Which failed pods are parked, where no event came meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parking {
    /// Those that plugins rejected; others are tried again after their backoff.
    Rejected,
    /// All.
    All,
}

/// Which waiting pods an event of a node may concern, where no plugin is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEvents {
    /// Those that the node would take as it stands; nodes that go are told of, too.
    Admitted,
    /// All; nodes that go are not told of.
    All,
}

/// Which objects besides pods and nodes are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherEvents {
    /// Those that plugins may wait for.
    All,
    /// Volumes and claims that come or change, and classes that come.
    Volumes,
}

/// How events are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventNames {
    /// By names of their own; a change of labels is an update.
    Own,
    /// By names of their own, one of them for a change of labels.
    OwnWithLabels,
    /// By resource and action, and tolerations in the plural.
    PluralTolerations,
    /// By resource and action.
    ResourceAndAction,
}

/// How an event is compared with those that plugins registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventMatching {
    /// They have an action in common.
    Overlap,
    /// The registered one contains it.
    Contained,
}

/// Which events an update of a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeUpdates {
    /// One, whatever changed.
    Any,
    /// The first that applies; annotations do not count.
    First,
    /// All that apply.
    All,
}

/// Which updates of a node the plugins wait for that look at nothing but the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRegistrations {
    /// All, but NodeUnschedulable waits for taints alone.
    AnyUpdateButUnschedulable,
    /// All.
    AnyUpdate,
    /// Those of what they look at.
    ByProperty,
}

/// Which new classes are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassAdditions {
    /// Those whose claims wait for a consumer.
    WaitForFirstConsumer,
    /// All.
    All,
}

/// Which events an update of a pod on a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignedUpdates {
    /// One, whatever changed.
    One,
    /// One for labels, and one for a scale down, which concerns all pods.
    LabelsAndScaleDown,
    /// One for each property.
    ByProperty,
}

/// Which waiting pods an added or updated pod on a node may concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignedPods {
    /// Those with a required affinity term that matches it.
    AffinityTerms,
    /// Those too that PodTopologySpread rejected in its namespace.
    AffinityTermsAndSpread,
    /// All.
    All,
}

/// When a nomination that ends is told as the end of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NominationEnds {
    /// Never.
    Untold,
    /// When the pod goes, changes its nomination, or is bound.
    ToldOfBoundPods,
    /// When the pod goes or changes its nomination.
    Told,
}

/// How long a pod waits in backoffQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// Not at all.
    None,
    /// By the number of attempts, to the exact time; at the end it waits no more.
    ExactByAttempts,
    /// By the number of attempts.
    ByAttempts,
    /// By the number of rejections, or of errors in a row.
    ByRejections,
}

/// What events mean for gated pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatedPods {
    /// What they mean for others.
    AsOthers,
    /// Nothing where SchedulingGates holds the pod.
    HeldByGates,
    /// Nothing unless the gating plugin registered the event.
    AskedByGate,
}

/// When the calls of a preemption without `SchedulerAsyncPreemption` are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionCalls {
    /// Within the cycle, before the pod is back in the queue.
    InCycle,
    /// After the cycle.
    AfterCycle,
    /// After the cycle, and victims go before nominations are cleared.
    VictimsFirst,
}

/// From whose status that of a victim is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimStatus {
    /// The preemptor's.
    OfPreemptor,
    /// Its own.
    Own,
}
