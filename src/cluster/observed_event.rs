//! Events in which a scheduler reports on a pending pod.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Key, Pod, Str};

/// An Event (`v1` or `events.k8s.io/v1`) of a scheduler about a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedEvent {
    /// The pod that the event regards.
    pub pod: Key,
    /// The pod's uid; empty if the event has none.
    pub uid: Str,
    /// The reason, such as `FailedScheduling`.
    pub reason: Str,
    /// The message; kube-scheduler cuts it to 1024 characters.
    pub note: String,
    /// The scheduler profile that wrote it; empty if the event does not say.
    pub controller: Str,
    /// How often it occurred, at least.
    pub count: u32,
    /// When it was first seen, if known.
    pub first: Option<Timestamp>,
    /// When it was last seen, if known.
    pub last: Option<Timestamp>,
}

impl ObservedEvent {
    /// Returns whether the pod's own scheduler wrote the event about this pod, not about another one of the same name. A
    /// uid or scheduler that the event lacks counts as equal.
    pub fn is_about(&self, pod: &Pod) -> bool {
        let same_pod = self.uid.is_empty() || pod.metadata.uid.is_empty() || self.uid == pod.metadata.uid;
        let same_scheduler = self.controller.is_empty() || self.controller == pod.spec.scheduler_name;
        same_pod && same_scheduler
    }
}
