//! Calls of extenders in a cycle, as facts; the `extenders` module makes the calls.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Candidate, PodInfo, Status};
use crate::cluster::Str;

/// The calls that kube-scheduler makes to an extender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display, strum::EnumString, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ExtenderVerb {
    /// Which nodes are left.
    Filter,
    /// How good nodes are.
    Prioritize,
    /// Which candidates of preemption are left, and their victims.
    Preempt,
    /// Binding; never called here.
    Bind,
}

/// An extender by its place in the configuration and its URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExtenderName {
    /// Its place among `extenders`.
    pub index: usize,
    /// Its `urlPrefix`, without user and password.
    pub url: Str,
}

impl fmt::Display for ExtenderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "extender {} (extenders[{}])", self.url, self.index)
    }
}

/// One extender's part in a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtenderCall {
    /// Which.
    pub extender: ExtenderName,
    /// The result.
    pub outcome: ExtenderOutcome,
}

/// The result of an extender's call.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtenderOutcome {
    /// It left these nodes of those it was asked about.
    Filtered(ExtenderFilter),
    /// It scored these nodes; the scores are multiplied by its weight and ten. One without `prioritizeVerb` gives every
    /// node nothing, unasked.
    Scored {
        /// Whether it was asked.
        asked: bool,
        /// By node, in the order of its answer.
        scores: Vec<(Str, i64)>,
    },
    /// It left these candidates of preemption.
    Preempted(ExtenderPreemption),
    Failed {
        /// At which call.
        verb: ExtenderVerb,
        /// The error, in kube-scheduler's words.
        text: Str,
        /// Whether the cycle goes on as if it had not been asked.
        ignored: bool,
    },
    /// It was not asked, and no earlier answer is known.
    Unknown(ExtenderVerb),
    /// It would bind the pod to this node.
    WouldBind(Str),
}

/// An extender's answer to `filter`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtenderFilter {
    /// The nodes it was asked about, in order.
    pub asked: Vec<Str>,
    /// The nodes it left, in order.
    pub left: Vec<Str>,
    /// Statuses that it gives nodes, by node.
    pub statuses: Vec<(Str, Status)>,
    /// Whether the nodes it left are as it returned them, without pods.
    pub replaced: bool,
}

/// An extender's answer to `preempt`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtenderPreemption {
    /// The candidates it was asked about.
    pub asked: Vec<Str>,
    /// The candidates it left, by node.
    pub left: Vec<Candidate>,
}

impl ExtenderOutcome {
    /// Returns the call that it is about.
    pub fn verb(&self) -> ExtenderVerb {
        match self {
            Self::Filtered(_) => ExtenderVerb::Filter,
            Self::Scored { .. } => ExtenderVerb::Prioritize,
            Self::Preempted(_) => ExtenderVerb::Preempt,
            Self::Failed { verb, .. } | Self::Unknown(verb) => *verb,
            Self::WouldBind(_) => ExtenderVerb::Bind,
        }
    }
}

impl ExtenderCall {
    /// Returns the call as a sentence.
    pub fn sentence(&self) -> String {
        let name = &self.extender;
        match &self.outcome {
            ExtenderOutcome::Filtered(filter) => {
                let (asked, left) = (filter.asked.len(), filter.left.len());
                let nodes = if asked == 1 { "node" } else { "nodes" };
                format!("{name} keeps {left} of {asked} {nodes}")
            }
            ExtenderOutcome::Scored { asked: false, .. } => format!("{name} takes no part in scoring"),
            ExtenderOutcome::Scored { scores, .. } => {
                let nodes = if scores.len() == 1 { "node" } else { "nodes" };
                format!("{name} scores {} {nodes}", scores.len())
            }
            ExtenderOutcome::Preempted(preemption) => {
                let (asked, left) = (preemption.asked.len(), preemption.left.len());
                let candidates = if asked == 1 { "candidate" } else { "candidates" };
                format!("{name} keeps {left} of {asked} {candidates}")
            }
            ExtenderOutcome::Failed { verb, text, ignored: true } => format!("{name} failed at {verb} and is ignored: {text}"),
            ExtenderOutcome::Failed { verb, text, ignored: false } => format!("{name} failed at {verb}: {text}"),
            ExtenderOutcome::Unknown(verb) => format!("the answer of {name} to {verb} is unknown"),
            ExtenderOutcome::WouldBind(node) => format!("would be bound to {node} by {name}"),
        }
    }
}

/// The extenders, for preemption.
pub trait CandidateExtenders: Sync {
    /// Returns the candidates that extenders leave, and what each of them did; the status is the error that ends
    /// preemption. Without extenders that have a say the candidates are `None`: they stay as they are. Mirrors `callExtenders` in
    /// `pkg/scheduler/framework/preemption/preemption.go`.
    fn process_preemption(&self, pod: &PodInfo, candidates: &[&Candidate]) -> (Vec<ExtenderCall>, Result<Option<Vec<Candidate>>, Status>);
}
