//! Choices of the engine that changed between releases, by name. Differences that a feature gate makes are asked of the
//! gate; a plugin whose algorithm changed has an implementation for each.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The named choices of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// How many nodes are searched.
    pub search: NodeSearch,
    /// How many nodes preemption dry-runs.
    pub candidates: Candidates,
    /// The functions that choose among preemption's candidates, in order.
    pub tie_break: &'static [ScoreFunctionName],
    /// The highest score a plugin may give a node after normalizing; the lowest is 0.
    pub score_max: i64,
    /// How long a pod may stay in unschedulablePods.
    pub leftover: Duration,
}

/// How many feasible nodes a search wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSearch {
    /// All of them.
    All,
    /// `percentageOfNodesToScore` of the nodes; without a percentage one that falls with their number. Mirrors
    /// `numFeasibleNodesToFind`.
    Adaptive {
        /// At least so many, in nodes; smaller clusters are searched whole.
        min_nodes: usize,
        /// The percentage without a configured one is not below this.
        min_percentage: i64,
    },
}

/// How many candidates preemption looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Every potential node is tried.
    All,
    /// As many as the arguments of DefaultPreemption say.
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
    /// Smallest sum of priorities, each made positive first.
    MinSumPriorities,
    /// Fewest victims.
    MinNumPods,
    /// Latest of the earliest start times of the most important victims.
    LatestStartTime,
}
