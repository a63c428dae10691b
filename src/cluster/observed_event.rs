//! What a scheduler told the API server about a pod: an Event, as far as it says something about a pod that waits.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Key, Pod, Str};

/// An Event (`v1` or `events.k8s.io/v1`) of a scheduler about a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedEvent {
    /// The pod it is about.
    pub pod: Key,
    /// The pod's uid, as the event has it; empty when it does not say.
    pub uid: Str,
    /// Such as `FailedScheduling`.
    pub reason: Str,
    /// The text; kube-scheduler cuts it to 1024 characters.
    pub note: String,
    /// The profile that wrote it; empty when the event does not say.
    pub controller: Str,
    /// How often it happened, at least.
    pub count: u32,
    /// When it was seen first, where that is known.
    pub first: Option<Timestamp>,
    /// When it was seen last, where that is known.
    pub last: Option<Timestamp>,
}

impl ObservedEvent {
    /// Whether the pod's own scheduler wrote it about this pod, not about another of the same name; what an event does
    /// not say counts as the same.
    pub fn is_about(&self, pod: &Pod) -> bool {
        let same_pod = self.uid.is_empty() || pod.metadata.uid.is_empty() || self.uid == pod.metadata.uid;
        let same_scheduler = self.controller.is_empty() || self.controller == pod.spec.scheduler_name;
        same_pod && same_scheduler
    }
}
