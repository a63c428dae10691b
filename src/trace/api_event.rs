//! The Kubernetes Events that kube-scheduler would write for trace events.
//!
//! Mirrors the calls of `EventRecorder` in `pkg/scheduler/schedule_one.go` and
//! `pkg/scheduler/framework/preemption/executor.go`. The API merges Events that repeat, so a cluster may show fewer.

use super::event::{Event, Eviction};
use crate::cluster::{Key, Str};

/// Maximum length of a note in bytes; `NoteLengthLimit` in `pkg/apis/core/validation/events.go`.
const NOTE_LENGTH_LIMIT: usize = 1024;

/// The fields of an `events.k8s.io/v1` Event that a scheduler sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiEvent {
    /// The pod it is about.
    pub regarding: Key,
    /// `Normal` or `Warning`.
    pub kind: &'static str,
    /// Such as `FailedScheduling`.
    pub reason: &'static str,
    /// The attempted action, such as `Scheduling`.
    pub action: &'static str,
    /// The text.
    pub note: String,
}

impl Event {
    /// Returns the Event that kube-scheduler would write, if any. `uid` looks up the uid of a pod; `None` is shown as
    /// unknown.
    pub fn api_event(&self, uid: impl Fn(&Key) -> Option<Str>) -> Option<ApiEvent> {
        let event = |regarding: &Key, kind, reason, action, note| ApiEvent { regarding: regarding.clone(), kind, reason, action, note };
        Some(match self {
            Self::PodBound { pod, node } => event(pod, "Normal", "Scheduled", "Binding", format!("Successfully assigned {pod} to {node}")),
            Self::AttemptFailed { pod, failure } => event(pod, "Warning", "FailedScheduling", "Scheduling", cut(&failure.message)),
            Self::CycleSkipped { pod, why } => event(pod, "Warning", "FailedScheduling", "Scheduling", cut(&why.text(pod))),
            Self::VictimEvicted { pod, node, preemptor, how } => {
                let uid = uid(preemptor).map_or_else(|| "(unknown)".to_owned(), |uid| uid.to_string());
                let memory = if *how == Eviction::InMemory { " (in kube-scheduler memory)." } else { "" };
                event(pod, "Normal", "Preempted", "Preempting", format!("Preempted by pod {uid} on node {node}{memory}"))
            }
            _ => return None,
        })
    }
}

/// Mirrors `truncateMessage`, without splitting a character.
fn cut(message: &str) -> String {
    const SUFFIX: &str = " ...";
    if message.len() <= NOTE_LENGTH_LIMIT {
        return message.to_owned();
    }
    let mut end = NOTE_LENGTH_LIMIT - SUFFIX.len();
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{SUFFIX}", &message[..end])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::framework::PluginSet;
    use crate::trace::{AttemptFailure, FailureCause, FailureReason, SkipReason};

    fn sentence_of(event: &Event) -> Option<String> {
        let event = event.api_event(|pod| (pod.name == "known").then(|| "u-1".into()))?;
        Some(format!("{} {} {} {}: {}", event.regarding, event.kind, event.reason, event.action, event.note))
    }

    #[test]
    fn what_is_written_is_what_kube_scheduler_writes() {
        let pod = Key::new("a", "p");
        let failed = |message: &str| Event::AttemptFailed {
            pod: pod.clone(),
            failure: Arc::new(AttemptFailure {
                reason: FailureReason::Unschedulable,
                cause: FailureCause::NoFit,
                message: message.into(),
                plugins: PluginSet::default(),
            }),
        };
        let evicted = |preemptor: &str, how| Event::VictimEvicted {
            pod: Box::new(pod.clone()),
            node: "n".into(),
            preemptor: Key::new("a", preemptor).into(),
            how,
        };
        let check = |event: Event, expected: &str| assert_eq!(sentence_of(&event).as_deref(), Some(expected));
        check(Event::PodBound { pod: pod.clone(), node: "n".into() }, "a/p Normal Scheduled Binding: Successfully assigned a/p to n");
        check(failed("0/1 nodes"), "a/p Warning FailedScheduling Scheduling: 0/1 nodes");
        check(evicted("known", Eviction::Deleted), "a/p Normal Preempted Preempting: Preempted by pod u-1 on node n");
        check(
            evicted("x", Eviction::InMemory),
            "a/p Normal Preempted Preempting: Preempted by pod (unknown) on node n (in kube-scheduler memory).",
        );
        check(
            Event::CycleSkipped { pod: pod.clone(), why: SkipReason::Deleting },
            "a/p Warning FailedScheduling Scheduling: skip schedule deleting pod: a/p",
        );
        assert_eq!(sentence_of(&Event::PodNominated { pod: pod.clone(), node: "n".into() }), None);
        let long = |text: &str| failed(text).api_event(|_| None).unwrap().note;
        assert_eq!(long(&"x".repeat(1024)).len(), 1024);
        assert_eq!(long(&"x".repeat(1025)), format!("{} ...", "x".repeat(1020)));
        assert_eq!(long(&format!("x{}", "é".repeat(600))), format!("x{} ...", "é".repeat(509)));
    }
}
