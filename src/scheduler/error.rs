//! Errors that end an attempt without a decision; the texts are those of `pkg/scheduler/schedule_one.go` and
//! `pkg/scheduler/framework/runtime/framework.go`.

use crate::cluster::{Key, MissingReason, Str};
use crate::extenders::CallError;
use crate::framework::{PluginName, Status};

/// Why an attempt ended without a decision.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// No profile has this scheduler name.
    #[error("profile not found for scheduler name {0:?}")]
    UnknownProfile(Str),
    /// The pod is being deleted.
    #[error("skip schedule deleting pod: {0}")]
    Deleting(Key),
    /// PreFilter or Filter failed.
    #[error("{message}", message = .0.message())]
    Filter(Status),
    /// An extender failed, or what it answers is unknown.
    #[error("{0}")]
    Extender(CallError),
    /// PreFilter returned a node that does not exist.
    #[error("nodeinfo not found for node name {0:?}")]
    NodeNotFound(Str),
    /// PreFilter returned only nodes that do not exist; kube-scheduler of this release crashes.
    #[error("this version of kube-scheduler crashes here: integer divide by zero, as none of the nodes that PreFilter names exists")]
    Crash,
    /// The snapshot has no nodes, because none could be read.
    #[error("{}", nodes_unknown(*.0))]
    NodesUnknown(MissingReason),
    /// A claim of the pod is missing or being deleted.
    #[error("{message}", message = .0.message())]
    Claim(Status),
    /// A priority failed; kube-scheduler of this release crashes.
    #[error("this version of kube-scheduler crashes here: a priority failed ({message}), and the next one reads a node that does not exist", message = .0.message())]
    PriorityCrash(Status),
    /// A Reserve plugin failed.
    #[error("running Reserve plugin \"{plugin}\": {message}", message = .status.message())]
    Reserve { plugin: PluginName, status: Status },
    /// A PreScore plugin failed.
    #[error("running PreScore plugin \"{plugin}\": {message}", message = .status.message())]
    PreScore { plugin: PluginName, status: Status },
    /// A Score plugin failed.
    #[error("running Score plugins: plugin \"{plugin}\" failed with: {message}", message = .status.message())]
    Score { plugin: PluginName, status: Status },
    /// A Score plugin could not normalize its scores.
    #[error("running Normalize on Score plugins: plugin \"{plugin}\" failed with: {message}", message = .status.message())]
    Normalize { plugin: PluginName, status: Status },
    /// A Score plugin returned a score outside the valid range.
    #[error(
        "applying score defaultWeights on Score plugins: plugin \"{plugin}\" returns an invalid score {score}, it should in the range of [0, {max}] after normalizing"
    )]
    InvalidScore {
        plugin: PluginName,
        score: i64,
        /// The highest valid score.
        max: i64,
    },
    /// A Reserve or Permit plugin failed on the node that was chosen.
    #[error("{message}", message = .0.message())]
    Place(Status),
    /// No node was scored.
    #[error("empty priorityList")]
    NoScores,
}

fn nodes_unknown(why: MissingReason) -> &'static str {
    match why {
        MissingReason::Refused => "nodes cannot be read (no permission), so where it fits is unknown",
        _ => "nodes could not be read, so where it fits is unknown",
    }
}
