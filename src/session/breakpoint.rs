//! Breakpoints: the pods, nodes, plugins and budgets at which a run stops.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::edit::key_named;
use super::timeline::Occurrence;
use crate::cluster::{Key, Kind, Str};
use crate::framework::{DryRunStep, PluginName};
use crate::trace::Event;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Breakpoint {
    /// Something happens to this pod.
    Pod(Key),
    /// Something happens on this node.
    Node(Str),
    /// This plugin decides.
    Plugin(PluginName),
    /// A dry run makes a victim of a pod that this budget covers, or the budget changes.
    Budget(Key),
}

/// Error of parsing a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BreakpointError {
    /// The first word without a name.
    #[error("expected a name after {0}")]
    NameMissing(String),
    /// There is no plugin of this name.
    #[error("there is no plugin {0:?}")]
    NoPlugin(String),
    /// The text is not a breakpoint.
    #[error("{0:?} is not one of pod NAME, node NAME, plugin NAME, budget NAME")]
    Unknown(String),
}

/// First words of the breakpoints, in the order of the help.
pub const WORDS: [&str; 4] = ["pod", "node", "plugin", "budget"];

impl Breakpoint {
    /// Returns whether a run stops after the event. Of consecutive events about the same pod, node or plugin, it stops at the
    /// first; at each victim of a budget.
    pub fn hit(&self, at: &Occurrence<'_>) -> bool {
        let continues = !matches!(self, Self::Budget(_)) && at.before.is_some_and(|before| self.touches(before));
        self.touches(at.event) && !continues
    }

    fn touches(&self, event: &Event) -> bool {
        let changed = |kind: Kind, name: &Key| matches!(event, Event::ObjectChanged { kind: k, key, .. } if *k == kind && key == name);
        match self {
            Self::Pod(pod) => event.is_about(pod) || changed(Kind::Pod, pod),
            Self::Node(node) => event.node() == Some(node) || changed(Kind::Node, &Key { namespace: Str::default(), name: node.clone() }),
            Self::Plugin(plugin) => event.plugin() == Some(*plugin),
            Self::Budget(budget) => {
                let step = if let Event::DryRunStepped(at) = event { at.step() } else { None };
                let covers = |step: DryRunStep<'_>| match step {
                    DryRunStep::NotReprieved(victim, _) => {
                        victim.pod().metadata.namespace == budget.namespace
                            && (victim.covered_by().any(|name| *name == budget.name) || victim.violates().any(|v| *v.budget == budget.name))
                    }
                    _ => false,
                };
                step.is_some_and(covers) || changed(Kind::PodDisruptionBudget, budget)
            }
        }
    }
}

/// Formats it as [`FromStr`] reads it.
impl fmt::Display for Breakpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pod(pod) => write!(f, "pod {pod}"),
            Self::Node(node) => write!(f, "node {node}"),
            Self::Plugin(plugin) => write!(f, "plugin {plugin}"),
            Self::Budget(budget) => write!(f, "budget {budget}"),
        }
    }
}

impl FromStr for Breakpoint {
    type Err = BreakpointError;

    fn from_str(text: &str) -> Result<Self, BreakpointError> {
        let (word, name) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let name = name.trim();
        if WORDS.contains(&word) && name.is_empty() {
            return Err(BreakpointError::NameMissing(word.to_owned()));
        }
        Ok(match word {
            "pod" => Self::Pod(key_named(Kind::Pod, name)),
            "node" => Self::Node(name.into()),
            "plugin" => Self::Plugin(name.parse().map_err(|_| BreakpointError::NoPlugin(name.to_owned()))?),
            "budget" => Self::Budget(key_named(Kind::PodDisruptionBudget, name)),
            _ => return Err(BreakpointError::Unknown(text.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::framework::{CoveringBudget, CoveringBudgets, NodeDryRun, PodInfo, PreemptionRecord, PutBack, Status, Victim};
    use crate::trace::{ObjectChange, preemption_events};

    fn victim(name: &str, budget: Option<&str>) -> PutBack {
        let pod = serde_json::from_value(serde_json::json!({ "metadata": { "name": name, "namespace": "a" } })).unwrap();
        let covering = budget.map(|name| Arc::new(CoveringBudgets::new([CoveringBudget { name: name.into(), allowed: 1 }].into(), [None])));
        PutBack { victim: Victim::new(Arc::new(PodInfo::new(Arc::new(pod))), covering), status: Status::unschedulable("x") }
    }

    /// Returns the indices of the events at which a breakpoint stops.
    fn stops(text: &str, events: &[Event]) -> Vec<usize> {
        let breakpoint: Breakpoint = text.parse().unwrap();
        let at = |i: usize| Occurrence { before: i.checked_sub(1).map(|i| &events[i]), event: &events[i], cycle: None };
        (0..events.len()).filter(|i| breakpoint.hit(&at(*i))).collect()
    }

    #[test]
    fn a_breakpoint_stops_at_the_first_of_events_in_a_row() {
        let put_back = vec![victim("v", Some("b")), victim("w", None), victim("x", Some("b"))];
        let run = NodeDryRun { node: "n".into(), filtered: Some(Status::success()), put_back: put_back.into(), ..NodeDryRun::default() };
        let record = PreemptionRecord { dry_runs: vec![Arc::new(run)].into(), ..PreemptionRecord::default() };
        // 0 starts, 1 filters, 2 to 4 put back, 5 ends the dry run.
        let mut events: Vec<Event> = preemption_events(&Arc::new(record)).collect();
        let (pod, node) = (Key::new("a", "v"), Key::new("", "n"));
        events.push(Event::PodBound { pod: pod.clone(), node: "m".into() });
        events.push(Event::ObjectChanged { kind: Kind::Pod, key: pod, change: ObjectChange::Updated });
        events.push(Event::ObjectChanged { kind: Kind::Node, key: node, change: ObjectChange::Updated });
        events.push(Event::ObjectChanged { kind: Kind::PodDisruptionBudget, key: Key::new("a", "b"), change: ObjectChange::Updated });
        assert_eq!(stops("pod a/v", &events), [2, 6]);
        assert_eq!(stops("node n", &events), [1, 8]);
        assert_eq!(stops("plugin DefaultPreemption", &events), [0]);
        assert_eq!(stops("budget a/b", &events), [2, 4, 9]);
        assert!(stops("budget other/b", &events).is_empty() && stops("plugin NodePorts", &events).is_empty());
    }

    #[test]
    fn a_breakpoint_is_read_as_it_is_written() {
        for text in ["pod shop/payments", "node worker-a1", "plugin NodeResourcesFit", "budget shop/search"] {
            assert_eq!(text.parse::<Breakpoint>().unwrap().to_string(), text);
        }
        assert_eq!("pod p".parse::<Breakpoint>().unwrap().to_string(), "pod default/p");
        let error = |text: &str| text.parse::<Breakpoint>().unwrap_err().to_string();
        assert_eq!(error("pod"), "expected a name after pod");
        assert_eq!(error("plugin Nope"), "there is no plugin \"Nope\"");
        assert_eq!(error("bound"), "\"bound\" is not one of pod NAME, node NAME, plugin NAME, budget NAME");
    }
}
