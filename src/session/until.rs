//! Parses the conditions at which a run stops, and tests events for them.

use std::fmt;
use std::str::FromStr;

use crate::cluster::{Key, Kind, Str};
use crate::framework::DryRunStep;
use crate::trace::Event;

/// Condition that ends a run at the first event that meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// A pod is popped from activeQ.
    Popped,
    /// An attempt fails.
    Rejected,
    /// A preemption starts.
    Preemption,
    /// The dry run does not reprieve a pod whose eviction its budget does not allow.
    Budget,
    /// A pod is bound.
    Bound,
    /// An event is about this pod.
    Pod(Key),
    /// An event is about this node.
    Node(Str),
}

/// Error of parsing a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UntilError {
    /// `pod` or `node` without a name.
    #[error("expected a name after {0}")]
    NameMissing(String),
    /// The text is not a condition.
    #[error("{0:?} is none of popped, rejected, preemption, budget, bound, pod NAME, node NAME")]
    Unknown(String),
}

/// First words of the conditions, in the order of the help.
pub const WORDS: [&str; 7] = ["popped", "rejected", "preemption", "budget", "bound", "pod", "node"];

impl Until {
    /// Returns whether an event meets the condition.
    pub fn met(&self, event: &Event) -> bool {
        match self {
            Self::Popped => matches!(event, Event::PodPopped { .. }),
            Self::Rejected => matches!(event, Event::AttemptFailed { .. }),
            Self::Preemption => matches!(event, Event::PreemptionStarted(start) if start.ineligible.is_none()),
            Self::Budget => {
                let step = if let Event::DryRunStepped(at) = event { at.step() } else { None };
                matches!(step, Some(DryRunStep::NotReprieved(victim, _)) if !victim.violates().is_empty())
            }
            Self::Bound => matches!(event, Event::PodBound { .. }),
            Self::Pod(pod) => event.is_about(pod) || matches!(event, Event::ObjectChanged { kind: Kind::Pod, key, .. } if key == pod),
            Self::Node(node) => {
                event.node() == Some(node) || matches!(event, Event::ObjectChanged { kind: Kind::Node, key, .. } if key.name == *node)
            }
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Popped => f.write_str("a pod is popped"),
            Self::Rejected => f.write_str("a pod is rejected"),
            Self::Preemption => f.write_str("a preemption starts"),
            Self::Budget => f.write_str("a budget would be violated"),
            Self::Bound => f.write_str("a pod is bound"),
            Self::Pod(pod) => write!(f, "{pod} is touched"),
            Self::Node(node) => write!(f, "{node} is touched"),
        }
    }
}

impl FromStr for Until {
    type Err = UntilError;

    fn from_str(text: &str) -> Result<Self, UntilError> {
        let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let rest = rest.trim();
        Ok(match (word, rest) {
            ("popped", "") => Self::Popped,
            ("rejected", "") => Self::Rejected,
            ("preemption", "") => Self::Preemption,
            ("budget", "") => Self::Budget,
            ("bound", "") => Self::Bound,
            ("pod", pod) if !pod.is_empty() => {
                let (namespace, name) = pod.split_once('/').unwrap_or(("default", pod));
                Self::Pod(Key::new(namespace, name))
            }
            ("node", node) if !node.is_empty() => Self::Node(node.into()),
            ("pod" | "node", _) => return Err(UntilError::NameMissing(word.to_owned())),
            _ => return Err(UntilError::Unknown(text.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::framework::{BudgetViolation, CoveringBudgets, NodeDryRun, PluginSet, PodInfo, PreemptionRecord, PutBack, Status, Victim};
    use crate::trace::{AttemptFailure, FailureCause, FailureReason, ObjectChange, preemption_events};

    #[test]
    fn each_condition_is_met_by_its_own_event() {
        let key = Key::new("a", "p");
        let victim = |violated: Vec<BudgetViolation>| {
            let pod = serde_json::from_str(r#"{"metadata":{"name":"v","namespace":"a"}}"#).unwrap();
            let victim =
                Victim::new(Arc::new(PodInfo::new(Arc::new(pod))), Some(Arc::new(CoveringBudgets { violated, allowing: Vec::new() })));
            let put_back = vec![PutBack { victim, status: Status::unschedulable("x") }];
            let run = NodeDryRun { node: "n".into(), filtered: Some(Status::success()), put_back, ..NodeDryRun::default() };
            let record = PreemptionRecord { dry_runs: vec![Arc::new(run)].into(), ..PreemptionRecord::default() };
            preemption_events(&Arc::new(record)).nth(2).unwrap()
        };
        let events = [
            Event::PodPopped { pod: key.clone(), attempts: 1, early_from_backoff: false },
            Event::AttemptFailed {
                pod: Key::new("a", "q"),
                failure: Arc::new(AttemptFailure {
                    reason: FailureReason::Unschedulable,
                    cause: FailureCause::NoFit,
                    message: "".into(),
                    plugins: PluginSet::default(),
                }),
            },
            Event::PreemptionStarted(Arc::default()),
            victim(vec![BudgetViolation::default()]),
            Event::PodBound { pod: Key::new("a", "q"), node: "n2".into() },
            Event::ObjectChanged { kind: Kind::Pod, key: key.clone(), change: ObjectChange::Updated },
            Event::ObjectChanged { kind: Kind::Node, key: Key::new("", "n"), change: ObjectChange::Updated },
            victim(Vec::new()),
        ];
        let check = |text: &str, expected: &[usize]| {
            let until: Until = text.parse().unwrap();
            let met: Vec<usize> = (0..events.len()).filter(|i| until.met(&events[*i])).collect();
            assert_eq!(met, expected, "{text}");
        };
        check("popped", &[0]);
        check("rejected", &[1]);
        check("preemption", &[2]);
        check("budget", &[3]);
        check("bound", &[4]);
        check("pod a/p", &[0, 5]);
        check("node n", &[3, 6, 7]);
        check("node n2", &[4]);
        for wrong in ["", "pod", "node ", "bound x", "never"] {
            assert!(wrong.parse::<Until>().is_err(), "{wrong:?}");
        }
        assert_eq!("pod p".parse::<Until>().unwrap().to_string(), "default/p is touched");
    }
}
