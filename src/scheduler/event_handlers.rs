//! Translates changes of the cluster into steps for cache and queue; mirrors `pkg/scheduler/eventhandlers.go`.
//!
//! Returns the steps in kube-scheduler's order; the scheduler carries them out.

use std::sync::Arc;

use crate::cluster::{Cluster, Kind, Node, Object, Pod, Str};
use crate::framework::{ActionType, Change, ClusterEvent, EventResource, assigned_pod_changes, node_scheduling_properties_change};
use crate::plugins::dynamic_resources::slices_tainted_otherwise;
use crate::plugins::volume_helpers::WAIT_FOR_FIRST_CONSUMER;
use crate::release::{AssignedPods, ClassAdditions, Emulation, Gate, NodeEvents, NominationEnds, OtherEvents};

/// Scheduler state that the handlers read.
pub trait HandlerEnv {
    /// Whether a profile has this `schedulerName`.
    fn handles_scheduler_name(&self, name: &Str) -> bool;
    /// Whether the pod is on a node in the cache but not yet in the API server.
    fn is_assumed_pod(&self, pod: &Pod) -> bool;
    /// Release and feature gates.
    fn emulation(&self) -> Emulation;
    /// All objects, after the change.
    fn cluster(&self) -> &Cluster;
}

/// One step for the scheduler; steps are carried out in order.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are the objects before and after")]
pub enum HandlerStep {
    /// Add a node to the cache.
    CacheAddNode(Arc<Node>),
    /// Replace a node in the cache.
    CacheUpdateNode { old: Arc<Node>, new: Arc<Node> },
    /// Remove a node from the cache.
    CacheRemoveNode(Arc<Node>),
    /// Add a pod to its node in the cache; confirms an assumed pod.
    CacheAddPod(Arc<Pod>),
    /// Replace a pod on a node in the cache.
    CacheUpdatePod { old: Arc<Pod>, new: Arc<Pod> },
    /// Remove a pod from its node in the cache.
    CacheRemovePod(Arc<Pod>),
    /// The queue's `add`.
    QueueAdd(Arc<Pod>),
    /// The queue's `update`.
    QueueUpdate { old: Arc<Pod>, new: Arc<Pod> },
    /// The queue's `delete`.
    QueueDelete(Arc<Pod>),
    /// An assumed pod is being deleted. Rejects it if it waits on Permit (`removed`); otherwise removes it from the
    /// cache while its binding continues. Then moves all pods by `AssignedPodDelete`, with the pod *as the cache has
    /// it*. No effect if the cache no longer has it.
    AssumedPodDeleted(Arc<Pod>),
    /// The queue's `move_all_to_active_or_backoff_queue`, for the pods in `whom`.
    Move { event: ClusterEvent, change: Change, whom: PodFilter },
}

/// Which parked pods a move may concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodFilter {
    /// Every parked pod.
    All,
    /// Parked pods of at most this priority.
    MaxPriority(i32),
    /// Parked pods that the changed node admits, by the filters that need only the node.
    Admitted,
    /// Parked pods with an affinity term that matches the changed pod.
    WithAffinityTerm,
    /// As `WithAffinityTerm`, and those that PodTopologySpread rejected in the namespace of the changed pod.
    WithAffinityTermOrSpread,
}

/// Returns the steps for an object that was added (no `old`), updated, or deleted (no `new`); none for kinds without a
/// handler.
pub fn handle_change(env: &dyn HandlerEnv, old: Option<&Object>, new: Option<&Object>) -> Vec<HandlerStep> {
    match (old, new) {
        (None, None) => Vec::new(),
        (Some(Object::Node(old)), Some(Object::Node(new))) => update_node(env, old, new),
        (None, Some(Object::Node(node))) => {
            let change = Change { old: None, new: new.cloned() };
            let event = ClusterEvent::new(EventResource::Node, ActionType::ADD);
            vec![HandlerStep::CacheAddNode(node.clone()), HandlerStep::Move { event, change, whom: for_node(env) }]
        }
        (Some(Object::Node(node)), None) if !env.emulation().behaviour().queue.node_deletions => {
            vec![HandlerStep::CacheRemoveNode(node.clone())]
        }
        (Some(Object::Node(node)), None) => {
            // Upstream moves pods before it updates the cache here: hints still see the node.
            vec![everybody(EventResource::Node, ActionType::DELETE, old, None), HandlerStep::CacheRemoveNode(node.clone())]
        }
        (None | Some(Object::Pod(_)), Some(Object::Pod(_))) | (Some(Object::Pod(_)), None) => pod_change(env, old, new),
        (Some(Object::DeviceTaintRule(_)), _) | (_, Some(Object::DeviceTaintRule(_))) => rule_change(env, old, new),
        _ => other_change(env, old, new),
    }
}

/// Handles a DeviceTaintRule: an update of each slice whose taints change with it, in order of name. Mirrors the tracker of
/// `staging/src/k8s.io/dynamic-resource-allocation/resourceslice/tracker`, which takes slices in random order.
fn rule_change(env: &dyn HandlerEnv, old: Option<&Object>, new: Option<&Object>) -> Vec<HandlerStep> {
    let rule = |object: Option<&Object>| match object {
        Some(Object::DeviceTaintRule(rule)) => Some(rule.clone()),
        _ => None,
    };
    let changed = slices_tainted_otherwise(env.cluster(), env.emulation(), rule(old), rule(new));
    let moves = changed.into_iter().map(|[before, after]| {
        let (before, after) = (Object::ResourceSlice(before), Object::ResourceSlice(after));
        everybody(EventResource::ResourceSlice, ActionType::UPDATE, Some(&before), Some(&after))
    });
    moves.collect()
}

fn everybody(resource: EventResource, action: ActionType, old: Option<&Object>, new: Option<&Object>) -> HandlerStep {
    let change = Change { old: old.cloned(), new: new.cloned() };
    HandlerStep::Move { event: ClusterEvent::new(resource, action), change, whom: PodFilter::All }
}

/// Returns which pods a node event may concern: without hints only those that the node admits.
fn for_node(env: &dyn HandlerEnv) -> PodFilter {
    let all = env.emulation().enabled(Gate::SchedulerQueueingHints) || env.emulation().behaviour().queue.node_events == NodeEvents::All;
    if all { PodFilter::All } else { PodFilter::Admitted }
}

/// Returns which pods an added or updated assigned pod may concern.
fn for_assigned_pod(env: &dyn HandlerEnv) -> PodFilter {
    match env.emulation().behaviour().queue.assigned_pods {
        AssignedPods::All => PodFilter::All,
        AssignedPods::AffinityTerms => PodFilter::WithAffinityTerm,
        AssignedPods::AffinityTermsAndSpread => PodFilter::WithAffinityTermOrSpread,
    }
}

fn update_node(env: &dyn HandlerEnv, old: &Arc<Node>, new: &Arc<Node>) -> Vec<HandlerStep> {
    let change = Change { old: Some(Object::Node(old.clone())), new: Some(Object::Node(new.clone())) };
    let moves = node_scheduling_properties_change(old, new, env.emulation()).into_iter().map(|event| HandlerStep::Move {
        event,
        change: change.clone(),
        whom: for_node(env),
    });
    std::iter::once(HandlerStep::CacheUpdateNode { old: old.clone(), new: new.clone() }).chain(moves).collect()
}

/// Handles volumes, classes, claims and devices: one event per object, whatever changed in it.
fn other_change(env: &dyn HandlerEnv, old: Option<&Object>, new: Option<&Object>) -> Vec<HandlerStep> {
    let Some(resource) = new.or(old).and_then(|o| event_resource(o.kind())) else { return Vec::new() };
    if let (None, Some(Object::StorageClass(class))) = (old, new)
        && env.emulation().behaviour().queue.class_additions == ClassAdditions::WaitForFirstConsumer
        && class.volume_binding_mode.as_deref() != Some(WAIT_FOR_FIRST_CONSUMER)
    {
        return Vec::new();
    }
    if env.emulation().behaviour().queue.other_events == OtherEvents::Volumes {
        let is_announced = match resource {
            EventResource::PersistentVolume | EventResource::PersistentVolumeClaim => new.is_some(),
            EventResource::StorageClass => old.is_none(),
            _ => false,
        };
        if !is_announced {
            return Vec::new();
        }
    }
    let action = match (old, new) {
        (None, _) => ActionType::ADD,
        (_, None) => ActionType::DELETE,
        _ => ActionType::UPDATE,
    };
    vec![everybody(resource, action, old, new)]
}

/// Returns the resource of a kind's events; `None` for kinds without events.
fn event_resource(kind: Kind) -> Option<EventResource> {
    Some(match kind {
        Kind::CSIDriver => EventResource::CSIDriver,
        Kind::CSINode => EventResource::CSINode,
        Kind::CSIStorageCapacity => EventResource::CSIStorageCapacity,
        Kind::DeviceClass => EventResource::DeviceClass,
        Kind::PersistentVolume => EventResource::PersistentVolume,
        Kind::PersistentVolumeClaim => EventResource::PersistentVolumeClaim,
        Kind::PodGroup => EventResource::PodGroup,
        Kind::ResourceClaim => EventResource::ResourceClaim,
        Kind::ResourceSlice => EventResource::ResourceSlice,
        Kind::StorageClass => EventResource::StorageClass,
        Kind::VolumeAttachment => EventResource::VolumeAttachment,
        _ => return None,
    })
}

/// Handles pods as the informer filters them: it leaves out phases Succeeded and Failed, so reaching one is a deletion
/// of the old object.
fn pod_change(env: &dyn HandlerEnv, old: Option<&Object>, new: Option<&Object>) -> Vec<HandlerStep> {
    let seen = |object: Option<&Object>| match object {
        Some(Object::Pod(pod)) if !pod.is_terminal() => Some(pod.clone()),
        _ => None,
    };
    match (seen(old), seen(new)) {
        (None, None) => Vec::new(),
        (None, Some(pod)) => add_pod(env, pod),
        (Some(old), Some(new)) => update_pod(env, old, new),
        (Some(pod), None) => delete_pod(env, pod),
    }
}

fn is_assigned(pod: &Pod) -> bool {
    !pod.node_name.is_empty()
}

fn is_responsible(env: &dyn HandlerEnv, pod: &Pod) -> bool {
    env.handles_scheduler_name(&pod.spec.scheduler_name)
}

fn add_pod(env: &dyn HandlerEnv, pod: Arc<Pod>) -> Vec<HandlerStep> {
    if is_assigned(&pod) {
        add_assigned_pod(env, pod)
    } else if is_responsible(env, &pod) {
        let announced = env.emulation().enabled(Gate::GangScheduling).then(|| unscheduled_pod_added(&pod));
        std::iter::once(HandlerStep::QueueAdd(pod)).chain(announced).collect()
    } else {
        Vec::new()
    }
}

/// Returns the step that lets other pods move for a new waiting pod, which may complete a gang.
pub(super) fn unscheduled_pod_added(pod: &Arc<Pod>) -> HandlerStep {
    let change = Change { old: None, new: Some(Object::Pod(pod.clone())) };
    HandlerStep::Move { event: ClusterEvent::UNSCHEDULED_POD_ADD, change, whom: PodFilter::All }
}

fn add_assigned_pod(env: &dyn HandlerEnv, pod: Arc<Pod>) -> Vec<HandlerStep> {
    let change = Change { old: None, new: Some(Object::Pod(pod.clone())) };
    let event = ClusterEvent::ASSIGNED_POD_ADD;
    vec![HandlerStep::CacheAddPod(pod), HandlerStep::Move { event, change, whom: for_assigned_pod(env) }]
}

fn update_pod(env: &dyn HandlerEnv, old: Arc<Pod>, new: Arc<Pod>) -> Vec<HandlerStep> {
    if is_assigned(&old) {
        return update_assigned_pod(env, old, new);
    }
    if is_assigned(&new) {
        let mut steps = add_assigned_pod(env, new);
        if is_responsible(env, &old) {
            let announced = env.emulation().behaviour().queue.nomination_ends == NominationEnds::OnDeleteUpdateOrBind;
            let gave_up = (announced && !old.status.nominated_node_name.is_empty()).then(|| nomination_gone(&old));
            steps.push(HandlerStep::QueueDelete(old));
            steps.extend(gave_up);
        }
        return steps;
    }
    if is_responsible(env, &old) { update_queued_pod(env, old, new) } else { Vec::new() }
}

fn update_assigned_pod(env: &dyn HandlerEnv, old: Arc<Pod>, new: Arc<Pod>) -> Vec<HandlerStep> {
    let change = Change { old: Some(Object::Pod(old.clone())), new: Some(Object::Pod(new.clone())) };
    let moves = assigned_pod_changes(&old, &new, env.emulation()).into_iter().map(|(event, all)| {
        let whom = if all { PodFilter::All } else { for_assigned_pod(env) };
        HandlerStep::Move { event, change: change.clone(), whom }
    });
    std::iter::once(HandlerStep::CacheUpdatePod { old, new }).chain(moves).collect()
}

fn update_queued_pod(env: &dyn HandlerEnv, old: Arc<Pod>, new: Arc<Pod>) -> Vec<HandlerStep> {
    // Upstream compares resource versions only; objects here may change without a new one. An object without a version is
    // another state, also where the fields that scheduling reads are the same.
    let version = &new.metadata.resource_version;
    if !version.is_empty() && old.metadata.resource_version == *version && old == new {
        return Vec::new();
    }
    if env.is_assumed_pod(&new) {
        let deletion_began = new.is_terminating() && !old.is_terminating();
        return if deletion_began { vec![HandlerStep::AssumedPodDeleted(new)] } else { Vec::new() };
    }
    let nominated = &old.status.nominated_node_name;
    let announced = env.emulation().behaviour().queue.nomination_ends != NominationEnds::Never;
    let gave_up = (announced && !nominated.is_empty() && *nominated != new.status.nominated_node_name).then(|| nomination_gone(&old));
    std::iter::once(HandlerStep::QueueUpdate { old, new }).chain(gave_up).collect()
}

/// Reports the end of a nomination as the deletion of a pod: Filter counts nominated pods as running for pods of no
/// higher priority.
fn nomination_gone(old: &Arc<Pod>) -> HandlerStep {
    let change = Change { old: Some(Object::Pod(old.clone())), new: None };
    HandlerStep::Move { event: ClusterEvent::ASSIGNED_POD_DELETE, change, whom: PodFilter::MaxPriority(old.priority()) }
}

fn delete_pod(env: &dyn HandlerEnv, pod: Arc<Pod>) -> Vec<HandlerStep> {
    if is_assigned(&pod) {
        let change = Change { old: Some(Object::Pod(pod.clone())), new: None };
        let event = ClusterEvent::ASSIGNED_POD_DELETE;
        return vec![HandlerStep::CacheRemovePod(pod), HandlerStep::Move { event, change, whom: PodFilter::All }];
    }
    if !is_responsible(env, &pod) {
        return Vec::new();
    }
    let mut steps = vec![HandlerStep::QueueDelete(pod.clone())];
    if env.is_assumed_pod(&pod) {
        steps.push(HandlerStep::AssumedPodDeleted(pod));
    } else if !pod.status.nominated_node_name.is_empty() && env.emulation().behaviour().queue.nomination_ends != NominationEnds::Never {
        steps.push(nomination_gone(&pod));
    }
    steps
}

#[cfg(test)]
mod tests;
