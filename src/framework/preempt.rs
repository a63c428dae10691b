//! The vocabulary of preemption: what a dry run does and finds. Mirrors `pkg/scheduler/framework/preemption/types.go`,
//! with every removal and reprieve kept, in order.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{List, Status};
use crate::cluster::{Key, Str};

pub use crate::release::ScoreFunctionName;

/// Everything one preemption attempt did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PreemptionRecord {
    /// Why the pod may not preempt at all; `None` when it may.
    pub ineligible: Option<Str>,
    /// Nodes that eviction might help, in walking order.
    pub potential_nodes: List<Str>,
    /// Index into [`Self::potential_nodes`] where the dry run started.
    pub offset: usize,
    /// How many candidates were wanted.
    pub wanted_candidates: usize,
    /// One entry for each node that was dry-run, in the order they were tried.
    pub dry_runs: Vec<DryRun>,
    /// Nodes where eviction makes room, by node name.
    pub candidates: Vec<Arc<Candidate>>,
    /// The score functions that were asked, in order; empty with fewer than two candidates.
    pub score_functions: Vec<Arc<ScoreFunction>>,
    /// Candidates still tied after the last score function, by name.
    pub best: List<Str>,
    /// The node that is nominated.
    pub selected: Option<Str>,
    /// Pods whose nomination to the selected node is cleared, in order.
    pub cleared_nominations: Vec<Key>,
    /// Victims on the selected node that are to be evicted now: those not being deleted already.
    pub evictions: Vec<Key>,
}

/// The dry run on one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DryRun {
    /// The node.
    pub node: Str,
    /// What was tried, in order.
    pub steps: Vec<DryRunStep>,
    /// Success with victims makes a candidate.
    pub status: Status,
}

/// One thing that was tried on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DryRunStep {
    /// A pod of lower priority was taken off the node.
    Removed(Arc<Victim>),
    /// With all of them gone, the filters said this.
    Filtered(Status),
    /// A pod was put back and stays.
    Reprieved(Arc<Victim>),
    /// A pod was put back, the filters said this, and it was taken off again.
    Condemned(Arc<Victim>, Status),
}

/// A pod that stands to be evicted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Victim {
    /// Which pod.
    pub pod: Key,
    /// Its priority.
    pub priority: i32,
    /// `status.startTime`, in nanoseconds since 1970; `None` counts as now.
    pub start_time: Option<i64>,
    /// The budgets that its eviction would violate, with the disruptions each had left before it.
    pub violates: Vec<BudgetViolation>,
    /// The budgets that cover the pod and still allow its eviction.
    pub covered_by: Vec<Str>,
    /// Whether it is being deleted already.
    pub terminating: bool,
    /// The controller; empty without one.
    pub owner: Owner,
}

/// Kind and name of a controller, such as `ReplicaSet reports-646f8d7fc5`, which is how it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Owner {
    /// Its kind; empty for nobody.
    pub kind: Str,
    /// Its name.
    pub name: Str,
}

impl Owner {
    /// Whether this is nobody.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty() && self.name.is_empty()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() { Ok(()) } else { write!(f, "{} {}", self.kind, self.name) }
    }
}

impl From<&str> for Owner {
    fn from(text: &str) -> Self {
        let (kind, name) = text.split_once(' ').unwrap_or((text, ""));
        Self { kind: kind.into(), name: name.into() }
    }
}

impl From<String> for Owner {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Owner> for String {
    fn from(owner: Owner) -> Self {
        owner.to_string()
    }
}

/// A budget that has nothing left for a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetViolation {
    /// The budget's name, in the pod's namespace.
    pub budget: Str,
    /// `status.disruptionsAllowed` at the start.
    pub allowed: i32,
    /// What was left for this pod, below zero once overdrawn.
    pub left: i32,
}

/// A node where eviction makes room.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The node.
    pub node: Str,
    /// Who would be evicted, most important first.
    pub victims: Vec<Arc<Victim>>,
    /// How many of them violate a budget.
    pub pdb_violations: i64,
}

/// One of the functions that choose among candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreFunction {
    /// Which function.
    pub name: ScoreFunctionName,
    /// What each candidate still in the race scored, by node name; higher is better.
    pub scores: Vec<(Str, i64)>,
    /// Who was left, by node name.
    pub remaining: List<Str>,
}
