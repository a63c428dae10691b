//! Named behaviours of the queue, the event handlers and the execution of preemption that changed between releases.

use std::time::Duration;

/// The named behaviours of the queue in a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueBehaviour {
    /// How long a pod stays in unschedulablePods before it is retried.
    pub leftover: Duration,
    /// How events are named.
    pub event_names: EventNames,
    /// When an event matches a registered one.
    pub event_matching: EventMatching,
    /// Which failed pods go to unschedulablePods.
    pub parking: Parking,
    /// Which waiting pods a node event concerns while `SchedulerQueueingHints` is off.
    pub node_events: NodeEvents,
    /// Which other objects cause events.
    pub other_events: OtherEvents,
    /// Which events a node update causes.
    pub node_updates: NodeUpdates,
    /// Which events an update of a pod on a node causes.
    pub assigned_updates: AssignedUpdates,
    /// Which waiting pods an added or updated pod on a node concerns.
    pub assigned_pods: AssignedPods,
    /// When the end of a nomination counts as the deletion of a pod.
    pub nomination_ends: NominationEnds,
    /// How long a pod waits in backoffQ.
    pub backoff: Backoff,
    /// Whether the last gating plugin runs first.
    pub gating_plugin_first: bool,
    /// How events affect gated pods.
    pub gated_pods: GatedPods,
    /// Whether gated pods count on their nominated nodes.
    pub gated_pods_nominate: bool,
    /// Whether PreEnqueue runs again for gated pods that exceed the longest stay in unschedulablePods.
    pub gated_pods_flushed: bool,
    /// Whether a pod group is one entry of the queue, with pod groups on.
    pub groups_queued_as_one: bool,
    /// Whether plugins that registered new nodes also receive taint updates, because a taint may have hidden a new
    /// node.
    pub taint_updates_with_node_adds: bool,
    /// Whether the hints of InterPodAffinity and PodTopologySpread count nominated pods.
    pub hints_count_nominated: bool,
    /// Whether InterPodAffinity retries a pod after any change of its own.
    pub own_update_helps_affinity: bool,
    /// Whether InterPodAffinity retries a pod after the deletion of a pod whose anti-affinity it matched.
    pub deleted_anti_affinity_helps: bool,
    /// Whether a pod matters to InterPodAffinity's hint that one of several anti-affinity terms matches; if not, all must match.
    pub any_anti_affinity_term_helps: bool,
    /// Whether InterPodAffinity retries a pod after any label change of a node with the topology key.
    pub any_label_helps_affinity: bool,
    /// Whether VolumeRestrictions registers updates of claims.
    pub restrictions_wait_for_claim_updates: bool,
    /// Whether NodeVolumeLimits registers claims.
    pub limits_wait_for_claims: bool,
    /// Whether VolumeZone registers updates of claims.
    pub zones_wait_for_claim_updates: bool,
    /// Whether VolumeBinding registers new CSIDrivers, and any update of one.
    pub binding_waits_for_any_driver: bool,
    /// Whether the deletion of a node is an event.
    pub node_deletions: bool,
    /// Whether a nominated pod that is in no queue counts with all that it requests.
    pub nominated_pods_kept: bool,
    /// Whether NodeVolumeLimits registers updates of CSINodes.
    pub limits_wait_for_csi_node_updates: bool,
    /// Which node updates those plugins register that read only the node.
    pub node_registrations: NodeRegistrations,
    /// Whether plugins register added tolerations of the waiting pod.
    pub tolerations_registered: bool,
    /// Which new StorageClasses cause events.
    pub class_additions: ClassAdditions,
    /// When the API calls of a preemption without `SchedulerAsyncPreemption` happen.
    pub preemption_calls: PreemptionCalls,
    /// Whether terminating victims are deleted again.
    pub terminating_victims_deleted: bool,
    /// The pod whose status a victim's new status is based on.
    pub victim_status: VictimStatus,
    /// Whether pods that a restarted scheduler reads at once, and that are alike otherwise, are popped in random order.
    pub equal_pods_in_random_order: bool,
    /// Whether victims get a condition with the reason of their eviction.
    pub victims_marked: bool,
    /// Whether a pod that replaced another of its name during an attempt gets the condition of that attempt.
    pub recreated_pods_marked: bool,
}

/// Which failed pods go to unschedulablePods if no event arrived meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parking {
    /// Pods that plugins rejected; others go to backoffQ.
    Rejected,
    All,
}

/// Which waiting pods a node event concerns while `SchedulerQueueingHints` is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEvents {
    /// Pods that fit the node in its current state. Deleted nodes cause events too.
    Admitted,
    /// All pods. Deleted nodes cause no events.
    All,
}

/// Which objects besides pods and nodes cause events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherEvents {
    /// Every kind that plugins can register.
    All,
    /// Added and updated volumes and claims, and added StorageClasses.
    Volumes,
}

/// How events are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventNames {
    /// By labels of their own; a label change is an update.
    Own,
    /// By labels of their own, including one for label changes.
    OwnWithLabels,
    /// By resource and action, with tolerations in the plural.
    PluralTolerations,
    /// By resource and action, with `UnschedulablePod` as the resource of pending pods.
    ResourceAndAction,
    /// By resource and action, with `UnscheduledPod` as the resource of pending pods.
    UnscheduledPods,
}

/// When an event matches a registered one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventMatching {
    /// Both have an action in common.
    Overlap,
    /// The registered event contains all actions of the event.
    Contained,
}

/// Which events a node update causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeUpdates {
    /// One, for any change.
    Any,
    /// One, for the first property in order that changed; annotations do not count.
    First,
    /// One for each changed property.
    All,
}

/// Which node updates those plugins register that read only the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRegistrations {
    /// All updates; NodeUnschedulable registers taints only.
    AnyUpdateButUnschedulable,
    AnyUpdate,
    /// Updates of the properties they read.
    ByProperty,
}

/// Which new StorageClasses cause events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassAdditions {
    /// Classes with binding mode WaitForFirstConsumer.
    WaitForFirstConsumer,
    All,
}

/// Which events an update of a pod on a node causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignedUpdates {
    /// One, for any change.
    One,
    /// One for labels, and one for a scale down, which concerns all pods.
    LabelsAndScaleDown,
    /// One for each changed property.
    ByProperty,
}

/// Which waiting pods an added or updated pod on a node concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignedPods {
    /// Pods with a required affinity term that matches it.
    AffinityTerms,
    /// Also pods in its namespace that PodTopologySpread rejected.
    AffinityTermsAndSpread,
    All,
}

/// When the end of a nomination counts as the deletion of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NominationEnds {
    Never,
    /// When the pod is deleted, changes its nomination, or is bound.
    OnDeleteUpdateOrBind,
    /// When the pod is deleted or changes its nomination.
    OnDeleteOrUpdate,
}

/// How long a pod waits in backoffQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// No time.
    None,
    /// By the number of attempts. The pod leaves at the exact end of its backoff.
    ExactByAttempts,
    /// By the number of attempts.
    ByAttempts,
    /// By the number of rejections, or of consecutive errors.
    ByRejections,
}

/// How events affect gated pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatedPods {
    /// As they affect other pods.
    AsOthers,
    /// Not at all.
    Stay,
    /// Not at all if SchedulingGates gates the pod.
    HeldByGates,
    /// Only if the gating plugin registered the event.
    AskedByGate,
}

/// When the API calls of a preemption without `SchedulerAsyncPreemption` happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionCalls {
    /// Within the cycle, before the pod returns to the queue.
    InCycle,
    AfterCycle,
    /// After the cycle; victims are deleted before nominations are cleared.
    VictimsFirst,
}

/// The pod whose status a victim's new status is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimStatus {
    OfPreemptor,
    /// The victim.
    Own,
}
