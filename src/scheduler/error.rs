//! What ends an attempt before it is decided; the texts are those of `pkg/scheduler/schedule_one.go` and
//! `pkg/scheduler/framework/runtime/framework.go`.

use crate::cluster::{Key, Str};
use crate::extenders::CallError;
use crate::framework::{PluginName, Status};

/// Why a pod was not decided about.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// No profile takes pods of this scheduler name.
    #[error("profile not found for scheduler name {0:?}")]
    UnknownProfile(Str),
    /// The pod is being deleted.
    #[error("skip schedule deleting pod: {0}")]
    Deleting(Key),
    /// PreFilter or Filter ended with this error.
    #[error("{message}", message = .0.message())]
    Filter(Status),
    /// An extender failed, or what it answers is unknown.
    #[error("{0}")]
    Extender(CallError),
    /// A node that PreFilter names does not exist.
    #[error("nodeinfo not found for node name {0:?}")]
    NodeNotFound(Str),
    /// PreFilter names only nodes that do not exist, which ends the process of this kube-scheduler.
    #[error("this version of kube-scheduler crashes here: integer divide by zero, as none of the nodes that PreFilter names exists")]
    Crash,
    /// A claim of the pod is not there to be used.
    #[error("{message}", message = .0.message())]
    Claim(Status),
    /// A priority failed, which ends the process of this kube-scheduler.
    #[error("this version of kube-scheduler crashes here: a priority failed ({message}), and the next one looks at a node that is not there", message = .0.message())]
    PriorityCrash(Status),
    /// A PreScore plugin failed.
    #[error("running PreScore plugin \"{plugin}\": {message}", message = .status.message())]
    PreScore {
        /// Which.
        plugin: PluginName,
        /// Its answer.
        status: Status,
    },
    /// A Score plugin failed.
    #[error("running Score plugins: plugin \"{plugin}\" failed with: {message}", message = .status.message())]
    Score {
        /// Which.
        plugin: PluginName,
        /// Its answer.
        status: Status,
    },
    /// A Score plugin could not normalize its scores.
    #[error("running Normalize on Score plugins: plugin \"{plugin}\" failed with: {message}", message = .status.message())]
    Normalize {
        /// Which.
        plugin: PluginName,
        /// Its answer.
        status: Status,
    },
    /// A Score plugin gave a score out of range.
    #[error(
        "applying score defaultWeights on Score plugins: plugin \"{plugin}\" returns an invalid score {score}, it should in the range of [0, {max}] after normalizing"
    )]
    InvalidScore {
        /// Which.
        plugin: PluginName,
        /// The score.
        score: i64,
        /// The highest score there is.
        max: i64,
    },
    /// No node was scored.
    #[error("empty priorityList")]
    NoScores,
}
