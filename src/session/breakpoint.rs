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
mod tests;
