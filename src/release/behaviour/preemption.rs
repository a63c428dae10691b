//! Behaviours of preemption: its candidates, their victims and the choice among them.

use serde::{Deserialize, Serialize};

/// The named behaviours of preemption: its candidates, their victims and the choice among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreemptionBehaviour {
    /// How many nodes preemption dry-runs.
    pub candidates: Candidates,
    /// The score functions that choose among preemption's candidates, in order.
    pub tie_break: &'static [ScoreFunctionName],
    /// The nodes that preemption dry-runs.
    pub potential_nodes: PotentialNodes,
    /// The order of victims on a node.
    pub victims: VictimOrder,
    /// Which terminating pods on the nominated node keep the pod from preempting again.
    pub terminating: TerminatingPods,
    /// How a node is handled where every pod is reprieved.
    pub without_victims: WithoutVictims,
    /// The statuses kept of failed dry runs.
    pub dry_run: DryRunReport,
    /// The order of importance among pods.
    pub importance: Importance,
    /// When the eviction of a pod violates a budget.
    pub budgets: BudgetRule,
    /// The fields that decide whether a pod may preempt.
    pub eligibility: Eligibility,
    /// The message of DefaultPreemption if it finds no candidate.
    pub text: PreemptionText,
    /// Whether a successful preemption names its node and its number of victims.
    pub announced: bool,
}

impl PreemptionBehaviour {
    /// Returns whether the message about a node without pods of lower priority names the preemptor.
    pub fn names_preemptor(&self) -> bool {
        self.dry_run != DryRunReport::Nothing && self.text != PreemptionText::Prefixed
    }
}

/// Which terminating pods of lower priority on the nominated node keep the pod from preempting again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminatingPods {
    /// Those that kube-scheduler preempted.
    Preempted,
    All,
}

/// How a node is handled where every pod is reprieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutVictims {
    Error,
    Candidate,
    /// It is a candidate and is chosen before all others, even if the node has no pods of lower priority.
    Chosen,
}

/// The statuses kept of failed dry runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRunReport {
    /// One for each node. If there is no candidate, errors replace the other statuses.
    Errors,
    /// One for each node.
    Statuses,
    /// None.
    Nothing,
}

/// The message of DefaultPreemption if it finds no candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionText {
    /// The reason, with the prefix `preemption: `.
    Prefixed,
    /// The reason.
    Plain,
    None,
}

/// The order of importance among pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// The higher priority first, then the earlier start.
    PriorityAndStart,
    /// The higher priority first.
    Priority,
}

/// When the eviction of a pod violates a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetRule {
    /// When its allowed disruptions are used up, counting down from pod to pod.
    CountedDown,
    /// Like [`Self::CountedDown`], but a pod that finds a budget used up is not counted in the budgets behind it.
    UpToExhausted,
    /// When it allows no disruptions. Pods listed in its status count too.
    AsItStands,
}

/// The fields that decide whether a pod may preempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligibility {
    /// Its `preemptionPolicy`, its nomination, and whether the nominated node is unresolvable.
    PolicyAndStatus,
    /// Its nomination only.
    Nomination,
}

/// The nodes that preemption dry-runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PotentialNodes {
    /// All nodes but those with UnschedulableAndUnresolvable.
    NotUnresolvable,
    /// Nodes with Unschedulable, in the order of all nodes.
    ListedUnschedulable,
    /// Nodes with Unschedulable, in any order unless it is the status of all.
    Unschedulable,
}

/// The order of victims on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimOrder {
    /// Victims that violate a budget first; each group by importance.
    ViolatingFirst,
    ByImportance,
}

/// How many candidates preemption looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// As many as there are: every potential node is dry-run.
    All,
    /// As many as the arguments of DefaultPreemption set.
    Sampled,
}

/// A function that chooses among preemption's candidates; mirrors `pickOneNodeForPreemption` in
/// `pkg/scheduler/framework/preemption/preemption.go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumIter, strum::Display, strum::IntoStaticStr, Serialize, Deserialize)]
pub enum ScoreFunctionName {
    /// Fewest budget violations.
    MinNumPDBViolations,
    /// Lowest priority of the most important victim.
    MinHighestPriority,
    /// Smallest sum of priorities, each shifted to be non-negative.
    MinSumPriorities,
    /// Fewest victims.
    MinNumPods,
    /// Latest of the earliest start times of the most important victims.
    LatestStartTime,
}
