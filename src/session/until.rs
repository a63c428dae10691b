//! Parses the conditions at which a run stops, and tests events for them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::breakpoint::Breakpoint;
use super::edit::key_named;
use super::timeline::Occurrence;
use crate::cluster::{Key, Kind, Str};
use crate::framework::{DryRunStep, Status};
use crate::trace::Event;

/// Condition that ends a run at the first event that meets it. Without a pod, any pod meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// A pod is popped from activeQ.
    Popped(Option<Key>),
    /// An attempt fails.
    Rejected(Option<Key>),
    /// A preemption starts.
    Preemption(Option<Key>),
    /// A pod is nominated to a node.
    Nominated(Option<Key>),
    /// The dry run does not reprieve a pod whose eviction its budget does not allow.
    Budget,
    /// A pod is bound.
    Bound(Option<Key>),
    /// An event is about this pod.
    Pod(Key),
    /// An event is about this node.
    Node(Str),
    /// One of these breakpoints is hit.
    Breakpoint(Arc<[Breakpoint]>),
}

/// Error of parsing a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UntilError {
    /// `pod` or `node` without a name.
    #[error("expected a name after {0}")]
    NameMissing(String),
    /// The text is not a condition.
    #[error("{0:?} is not one of popped, rejected, preemption, nominated, bound (any pod or one), budget, pod NAME, node NAME")]
    Unknown(String),
}

/// First words of the conditions, in the order of the help.
pub const WORDS: [&str; 8] = ["popped", "rejected", "preemption", "nominated", "budget", "bound", "pod", "node"];

impl Until {
    /// Returns whether an event meets the condition.
    pub fn met(&self, at: &Occurrence<'_>) -> bool {
        let event = at.event;
        let is = |wanted: &Option<Key>, pod: Option<&Key>| wanted.as_ref().is_none_or(|wanted| pod == Some(wanted));
        match (self, event) {
            (Self::Popped(wanted), Event::PodPopped { pod, .. })
            | (Self::Rejected(wanted), Event::AttemptFailed { pod, .. })
            | (Self::Bound(wanted), Event::PodBound { pod, .. }) => is(wanted, Some(pod)),
            (Self::Nominated(wanted), Event::PodNominated { pod, node }) => !node.is_empty() && is(wanted, Some(pod)),
            (Self::Preemption(wanted), Event::PreemptionStarted(start)) => start.ineligible.is_none() && is(wanted, at.cycle),
            (Self::Budget, Event::DryRunStepped(step)) => {
                matches!(step.step(), Some(DryRunStep::NotReprieved(victim, _)) if victim.violates_any())
            }
            (Self::Pod(pod), _) => event.is_about(pod) || matches!(event, Event::ObjectChanged { kind: Kind::Pod, key, .. } if key == pod),
            (Self::Node(node), _) => {
                event.node() == Some(node) || matches!(event, Event::ObjectChanged { kind: Kind::Node, key, .. } if key.name == *node)
            }
            (Self::Breakpoint(all), _) => all.iter().any(|breakpoint| breakpoint.hit(at)),
            _ => false,
        }
    }

    /// Returns whether the event about a filtered node can meet it. In a search, such an event is made only then.
    pub(super) fn may_be_met_by(&self, node: &Str, status: &Status) -> bool {
        match self {
            Self::Node(name) => name == node,
            Self::Breakpoint(all) => all.iter().any(|breakpoint| match breakpoint {
                Breakpoint::Node(name) => name == node,
                Breakpoint::Plugin(plugin) => status.plugin() == Some(*plugin),
                Breakpoint::Pod(_) | Breakpoint::Budget(_) => false,
            }),
            _ => false,
        }
    }

    /// Returns whether it waits for something that happens to a named pod.
    pub fn names_a_pod(&self) -> bool {
        match self {
            Self::Popped(pod) | Self::Rejected(pod) | Self::Preemption(pod) | Self::Nominated(pod) | Self::Bound(pod) => pod.is_some(),
            Self::Pod(_) => true,
            Self::Budget | Self::Node(_) | Self::Breakpoint(_) => false,
        }
    }

    /// Returns why a run stopped at an event that meets the condition.
    pub fn stopped_at(&self, at: Option<&Occurrence<'_>>) -> String {
        match self {
            Self::Breakpoint(all) => {
                let hit: Vec<String> = all.iter().filter(|b| at.is_some_and(|at| b.hit(at))).map(|b| format!("breakpoint: {b}")).collect();
                hit.join(", ")
            }
            _ => self.to_string(),
        }
    }

    /// Returns what did not happen when nothing is left to schedule.
    pub fn not_met(&self) -> String {
        match self {
            Self::Breakpoint(_) => "nothing is left to schedule, and no breakpoint was hit".to_owned(),
            _ => format!("nothing is left to schedule, and this did not happen: {self}"),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pod = |pod: &Option<Key>, verb: &str| match pod {
            Some(pod) => write!(f, "{pod} {verb}"),
            None => write!(f, "a pod {verb}"),
        };
        match self {
            Self::Popped(wanted) => pod(wanted, "is popped"),
            Self::Rejected(wanted) => pod(wanted, "is rejected"),
            Self::Nominated(wanted) => pod(wanted, "is nominated"),
            Self::Bound(wanted) => pod(wanted, "is bound"),
            Self::Preemption(None) => f.write_str("a preemption starts"),
            Self::Preemption(Some(pod)) => write!(f, "a preemption for {pod} starts"),
            Self::Budget => f.write_str("a budget would be violated"),
            Self::Pod(pod) => write!(f, "{pod} is touched"),
            Self::Node(node) => write!(f, "{node} is touched"),
            Self::Breakpoint(_) => f.write_str("a breakpoint is hit"),
        }
    }
}

impl FromStr for Until {
    type Err = UntilError;

    fn from_str(text: &str) -> Result<Self, UntilError> {
        let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let rest = rest.trim();
        let pod = || Some(rest).filter(|name| !name.is_empty()).map(|name| key_named(Kind::Pod, name));
        Ok(match (word, rest) {
            ("popped", _) => Self::Popped(pod()),
            ("rejected", _) => Self::Rejected(pod()),
            ("preemption", _) => Self::Preemption(pod()),
            ("nominated", _) => Self::Nominated(pod()),
            ("bound", _) => Self::Bound(pod()),
            ("budget", "") => Self::Budget,
            ("pod" | "node", "") => return Err(UntilError::NameMissing(word.to_owned())),
            ("pod", name) => Self::Pod(key_named(Kind::Pod, name)),
            ("node", node) => Self::Node(node.into()),
            _ => return Err(UntilError::Unknown(text.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests;
