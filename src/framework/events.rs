//! Cluster events and queueing hints; mirrors `staging/src/k8s.io/kube-scheduler/framework/types.go` and
//! `pkg/scheduler/framework/events.go`.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Context, HintError};
use crate::cluster::{Object, Pod};
use crate::release::{EventMatching, EventNames};

/// The kinds of change of an event, as bits. Each specific update has its own bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ActionType(pub u16);

#[allow(missing_docs, reason = "the names are kube-scheduler's own")]
impl ActionType {
    pub const NONE: Self = Self(0);
    pub const ADD: Self = Self(1);
    pub const DELETE: Self = Self(1 << 1);
    pub const UPDATE_NODE_ALLOCATABLE: Self = Self(1 << 2);
    pub const UPDATE_NODE_LABEL: Self = Self(1 << 3);
    pub const UPDATE_NODE_TAINT: Self = Self(1 << 4);
    pub const UPDATE_NODE_CONDITION: Self = Self(1 << 5);
    pub const UPDATE_NODE_ANNOTATION: Self = Self(1 << 6);
    pub const UPDATE_NODE_DECLARED_FEATURE: Self = Self(1 << 7);
    pub const UPDATE_POD_LABEL: Self = Self(1 << 8);
    pub const UPDATE_POD_SCALE_DOWN: Self = Self(1 << 9);
    pub const UPDATE_POD_TOLERATION: Self = Self(1 << 10);
    pub const UPDATE_POD_SCHEDULING_GATES_ELIMINATED: Self = Self(1 << 11);
    pub const UPDATE_POD_GENERATED_RESOURCE_CLAIM: Self = Self(1 << 12);
    /// All bits.
    pub const ALL: Self = Self((1 << 13) - 1);
    /// Every kind of update.
    pub const UPDATE: Self = Self(Self::ALL.0 & !Self::ADD.0 & !Self::DELETE.0);

    /// Returns the union of both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Label of an action, as kube-scheduler logs it.
impl fmt::Display for ActionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::ADD => "Add",
            Self::DELETE => "Delete",
            Self::UPDATE_NODE_ALLOCATABLE => "UpdateNodeAllocatable",
            Self::UPDATE_NODE_LABEL => "UpdateNodeLabel",
            Self::UPDATE_NODE_TAINT => "UpdateNodeTaint",
            Self::UPDATE_NODE_CONDITION => "UpdateNodeCondition",
            Self::UPDATE_NODE_ANNOTATION => "UpdateNodeAnnotation",
            Self::UPDATE_NODE_DECLARED_FEATURE => "UpdateNodeDeclaredFeature",
            Self::UPDATE_POD_LABEL => "UpdatePodLabel",
            Self::UPDATE_POD_SCALE_DOWN => "UpdatePodScaleDown",
            Self::UPDATE_POD_TOLERATION => "UpdatePodToleration",
            Self::UPDATE_POD_SCHEDULING_GATES_ELIMINATED => "UpdatePodSchedulingGatesEliminated",
            Self::UPDATE_POD_GENERATED_RESOURCE_CLAIM => "UpdatePodGeneratedResourceClaim",
            Self::ALL => "All",
            Self::UPDATE => "Update",
            _ => "",
        })
    }
}

/// The resource an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display, strum::EnumIter, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are kube-scheduler's own")]
pub enum EventResource {
    Pod,
    AssignedPod,
    UnschedulablePod,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    #[strum(to_string = "storage.k8s.io/CSINode")]
    CSINode,
    #[strum(to_string = "storage.k8s.io/CSIDriver")]
    CSIDriver,
    #[strum(to_string = "storage.k8s.io/VolumeAttachment")]
    VolumeAttachment,
    #[strum(to_string = "storage.k8s.io/CSIStorageCapacity")]
    CSIStorageCapacity,
    #[strum(to_string = "storage.k8s.io/StorageClass")]
    StorageClass,
    #[strum(to_string = "resource.k8s.io/ResourceClaim")]
    ResourceClaim,
    #[strum(to_string = "resource.k8s.io/ResourceSlice")]
    ResourceSlice,
    #[strum(to_string = "resource.k8s.io/DeviceClass")]
    DeviceClass,
    #[strum(to_string = "scheduling.k8s.io/PodGroup")]
    PodGroup,
    #[strum(to_string = "*")]
    WildCard,
}

/// A cluster event, at the granularity of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClusterEvent {
    /// The kind of object.
    pub resource: EventResource,
    /// The kind of change.
    pub action: ActionType,
    /// The label of an event that no object caused.
    pub custom_label: Option<EventLabel>,
}

/// Labels of events that no object caused, and of queue entries that are not cluster events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are kube-scheduler's own")]
pub enum EventLabel {
    UnschedulableTimeout,
    ForceActivate,
    ScheduleAttemptFailure,
    BackoffComplete,
    PopFromBackoffQ,
    AssignedPodAdd,
    AssignedPodDelete,
    AssignedPodUpdate,
    AssignedPodUpdatePodTolerations,
    CSIDriverAdd,
    CSIDriverUpdate,
    CSINodeAdd,
    CSINodeUpdate,
    CSIStorageCapacityAdd,
    CSIStorageCapacityUpdate,
    NodeAdd,
    NodeAllocatableChange,
    NodeAnnotationChange,
    NodeConditionChange,
    NodeDelete,
    NodeLabelChange,
    NodeSpecUnschedulableChange,
    NodeTaintChange,
    PodAdd,
    PodLabelChange,
    PodUpdate,
    PvAdd,
    PvUpdate,
    PvcAdd,
    PvcUpdate,
    StorageClassAdd,
    StorageClassUpdate,
    UnscheduledPodAdd,
    UnschedulablePodUpdatePodTolerations,
}

impl EventLabel {
    /// Returns the label of an event in releases that do not name it by resource and action.
    fn of(event: ClusterEvent, names: EventNames) -> Option<Self> {
        use EventResource as R;
        let tolerations = event.action == ActionType::UPDATE_POD_TOLERATION;
        match names {
            EventNames::ResourceAndAction => return None,
            EventNames::UnscheduledPods => {
                return (event.resource == R::UnschedulablePod && event.action == ActionType::ADD).then_some(Self::UnscheduledPodAdd);
            }
            EventNames::PluralTolerations => {
                return match event.resource {
                    R::AssignedPod if tolerations => Some(Self::AssignedPodUpdatePodTolerations),
                    R::UnschedulablePod if tolerations => Some(Self::UnschedulablePodUpdatePodTolerations),
                    _ => None,
                };
            }
            EventNames::Own | EventNames::OwnWithLabels => {}
        }
        let updates = event.action.0 & ActionType::UPDATE.0 != 0;
        Some(match (event.resource, event.action) {
            (R::UnschedulablePod, ActionType::ADD) => Self::PodAdd,
            (R::UnschedulablePod, _) if updates => Self::PodUpdate,
            (R::AssignedPod, ActionType::ADD) => Self::AssignedPodAdd,
            (R::AssignedPod, ActionType::DELETE) => Self::AssignedPodDelete,
            (R::AssignedPod, ActionType::UPDATE_POD_LABEL) if names == EventNames::OwnWithLabels => Self::PodLabelChange,
            (R::AssignedPod, _) if updates => Self::AssignedPodUpdate,
            (R::Node, ActionType::ADD) => Self::NodeAdd,
            (R::Node, ActionType::DELETE) => Self::NodeDelete,
            (R::Node, ActionType::UPDATE_NODE_ALLOCATABLE) => Self::NodeAllocatableChange,
            (R::Node, ActionType::UPDATE_NODE_LABEL) => Self::NodeLabelChange,
            (R::Node, ActionType::UPDATE_NODE_TAINT) => Self::NodeTaintChange,
            (R::Node, ActionType::UPDATE_NODE_CONDITION) => Self::NodeConditionChange,
            (R::Node, ActionType::UPDATE_NODE_ANNOTATION) => Self::NodeAnnotationChange,
            (R::PersistentVolume, ActionType::ADD) => Self::PvAdd,
            (R::PersistentVolume, ActionType::UPDATE) => Self::PvUpdate,
            (R::PersistentVolumeClaim, ActionType::ADD) => Self::PvcAdd,
            (R::PersistentVolumeClaim, ActionType::UPDATE) => Self::PvcUpdate,
            (R::StorageClass, ActionType::ADD) => Self::StorageClassAdd,
            (R::StorageClass, ActionType::UPDATE) => Self::StorageClassUpdate,
            (R::CSINode, ActionType::ADD) => Self::CSINodeAdd,
            (R::CSINode, ActionType::UPDATE) => Self::CSINodeUpdate,
            (R::CSIDriver, ActionType::ADD) => Self::CSIDriverAdd,
            (R::CSIDriver, ActionType::UPDATE) => Self::CSIDriverUpdate,
            (R::CSIStorageCapacity, ActionType::ADD) => Self::CSIStorageCapacityAdd,
            (R::CSIStorageCapacity, ActionType::UPDATE) => Self::CSIStorageCapacityUpdate,
            _ => return None,
        })
    }
}

impl ClusterEvent {
    /// A pod with a node was added, or a pod was bound.
    pub const ASSIGNED_POD_ADD: Self = Self::new(EventResource::AssignedPod, ActionType::ADD);
    /// A pod on a node was deleted, or a nominated pod lost its nomination.
    pub const ASSIGNED_POD_DELETE: Self = Self::new(EventResource::AssignedPod, ActionType::DELETE);
    /// A pod without a node was added.
    pub const UNSCHEDULED_POD_ADD: Self = Self::new(EventResource::UnschedulablePod, ActionType::ADD);
    /// A pod without a node changed in a property that has no event of its own.
    pub const UNSCHEDULED_POD_UPDATE: Self = Self::new(EventResource::UnschedulablePod, ActionType::UPDATE);
    /// A pod without a node was deleted; it moves no pods.
    pub const UNSCHEDULED_POD_DELETE: Self = Self::new(EventResource::UnschedulablePod, ActionType::DELETE);
    /// A pod has stayed in unschedulablePods for too long.
    pub const UNSCHEDULABLE_TIMEOUT: Self = Self::labelled(EventLabel::UnschedulableTimeout);
    /// A plugin asked for another attempt of a pod.
    pub const FORCE_ACTIVATE: Self = Self::labelled(EventLabel::ForceActivate);

    /// Makes an event of a resource.
    pub const fn new(resource: EventResource, action: ActionType) -> Self {
        Self { resource, action, custom_label: None }
    }

    /// Makes an event that has only a label.
    pub const fn labelled(label: EventLabel) -> Self {
        Self { resource: EventResource::WildCard, action: ActionType::ALL, custom_label: Some(label) }
    }

    /// Returns the event under its name in a release.
    #[must_use]
    pub fn named(self, names: EventNames) -> Self {
        Self { custom_label: self.custom_label.or_else(|| EventLabel::of(self, names)), ..self }
    }

    /// Whether the event covers all resources and actions.
    pub fn is_wildcard(&self) -> bool {
        self.resource == EventResource::WildCard && self.action == ActionType::ALL
    }

    /// Whether `incoming` concerns a plugin that registered `self`.
    pub fn matches(&self, incoming: &Self) -> bool {
        self.matches_by(incoming, EventMatching::Contained)
    }

    /// Applies the matching rule of a release; see [`Self::matches`].
    pub fn matches_by(&self, incoming: &Self, matching: EventMatching) -> bool {
        let resource = self.resource == EventResource::WildCard
            || self.resource == incoming.resource
            || (self.resource == EventResource::Pod
                && matches!(incoming.resource, EventResource::AssignedPod | EventResource::UnschedulablePod));
        self.is_wildcard()
            || (resource
                && self.action.0 & incoming.action.0 != 0
                && (incoming.action <= self.action || matching == EventMatching::Overlap))
    }
}

/// Writes the label as kube-scheduler logs it: `AssignedPodDelete`, `NodeUpdateNodeTaint`, `BackoffComplete`.
impl fmt::Display for ClusterEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.custom_label {
            Some(label) => write!(f, "{label}"),
            None => write!(f, "{}{}", self.resource, self.action),
        }
    }
}

/// Whether an event can make a pod schedulable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum QueueingHint {
    /// The event cannot.
    QueueSkip,
    /// The event can.
    Queue,
}

/// An object before and after an event; `old` is `None` for additions, `new` for deletions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The object before the event.
    pub old: Option<Object>,
    /// The object after the event.
    pub new: Option<Object>,
}

/// Decides whether an event can make a rejected pod schedulable. An error counts as `Queue`.
pub type QueueingHintFn = Arc<dyn Fn(&Context<'_>, &Arc<Pod>, &Change) -> Result<QueueingHint, HintError> + Send + Sync>;

/// An event that a plugin registers, and its hint. Without a hint every matching event queues the pod.
#[derive(Clone)]
pub struct ClusterEventWithHint {
    pub event: ClusterEvent,
    pub hint: Option<QueueingHintFn>,
}

impl fmt::Debug for ClusterEventWithHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.event, if self.hint.is_some() { " with hint" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_the_names_of_their_release() {
        use EventNames::{Own, OwnWithLabels, PluralTolerations, ResourceAndAction};
        let name = |resource, action, names| ClusterEvent::new(resource, action).named(names).to_string();
        for (resource, action, expected) in [
            (
                EventResource::AssignedPod,
                ActionType::UPDATE_POD_LABEL,
                ["AssignedPodUpdate", "PodLabelChange", "AssignedPodUpdatePodLabel"],
            ),
            (EventResource::UnschedulablePod, ActionType::ADD, ["PodAdd", "PodAdd", "UnschedulablePodAdd"]),
            (EventResource::Node, ActionType::UPDATE_NODE_TAINT, ["NodeTaintChange", "NodeTaintChange", "NodeUpdateNodeTaint"]),
            (EventResource::CSINode, ActionType::UPDATE, ["CSINodeUpdate", "CSINodeUpdate", "storage.k8s.io/CSINodeUpdate"]),
            (EventResource::PersistentVolumeClaim, ActionType::ADD, ["PvcAdd", "PvcAdd", "PersistentVolumeClaimAdd"]),
        ] {
            assert_eq!([Own, OwnWithLabels, ResourceAndAction].map(|names| name(resource, action, names)), expected);
        }
        let tolerations = |names| name(EventResource::UnschedulablePod, ActionType::UPDATE_POD_TOLERATION, names);
        assert_eq!(tolerations(PluralTolerations), "UnschedulablePodUpdatePodTolerations");
        assert_eq!(tolerations(ResourceAndAction), "UnschedulablePodUpdatePodToleration");
        assert_eq!(name(EventResource::UnschedulablePod, ActionType::ADD, EventNames::UnscheduledPods), "UnscheduledPodAdd");
        assert_eq!(name(EventResource::Node, ActionType::ADD, EventNames::UnscheduledPods), "NodeAdd");
        assert_eq!(ClusterEvent::UNSCHEDULABLE_TIMEOUT.named(Own).to_string(), "UnschedulableTimeout");
    }

    #[test]
    fn an_event_that_overlaps_is_contained_or_not() {
        let registered = ClusterEvent::new(EventResource::Pod, ActionType::ADD.or(ActionType::UPDATE_POD_LABEL));
        let update = ClusterEvent::new(EventResource::AssignedPod, ActionType::UPDATE);
        assert!(!registered.matches(&update) && registered.matches_by(&update, EventMatching::Overlap));
        let delete = ClusterEvent::new(EventResource::AssignedPod, ActionType::DELETE);
        assert!(!registered.matches_by(&delete, EventMatching::Overlap));
    }
}
