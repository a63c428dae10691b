//! Errors of what-ifs.

use crate::admission::TooLong;
use crate::cluster::{Key, Kind, Str};
use crate::release::{Gate, GateError, Release};
use crate::scheduler::{ConfigEditError, ReleaseRefused};
use crate::session::{EditError, ReleaseChangeError, VerbError};
use crate::suggest::nearest;

/// Why a verb was not applied. The text is for the user.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// The text is not a verb.
    #[error(transparent)]
    Verb(#[from] VerbError),
    /// The cluster has no such object.
    #[error("there is no {kind} {name}{}", suggestion(.meant.as_deref()))]
    NotFound {
        /// Kind of the object.
        kind: Kind,
        /// The name as typed.
        name: String,
        /// The nearest name.
        meant: Option<String>,
    },
    /// Objects in several namespaces have the name.
    #[error("{one} and {other} have this name: give the namespace too")]
    Ambiguous {
        /// One of them.
        one: Key,
        /// Another.
        other: Key,
    },
    /// No node has the label.
    #[error("no node has the label {label}{}", suggestion(.meant.as_deref()))]
    NoNodeWithLabel {
        /// The label as typed.
        label: String,
        /// The nearest label that nodes have.
        meant: Option<String>,
    },
    /// Several label keys end in the short name.
    #[error("{short} is short for {one} and for {other}: give the whole key")]
    AmbiguousLabel {
        /// The name as typed.
        short: String,
        /// One key.
        one: Str,
        /// Another.
        other: Str,
    },
    /// No workload has the name.
    #[error("there is no {owner}{}", suggestion(.meant.as_deref()))]
    NoOwner {
        /// Kind and name as typed.
        owner: String,
        /// The nearest workload.
        meant: Option<String>,
    },
    /// A workload without a pod to copy.
    #[error("{owner} has no living pod to copy, and its template was not read")]
    NoTemplate {
        /// Kind and name.
        owner: String,
    },
    /// The pods of a workload have a name or label that no API server accepts.
    #[error("a pod of {owner} {what}")]
    TooLong {
        /// Kind and name.
        owner: String,
        /// The first of them.
        what: TooLong,
    },
    /// The node has no such taint.
    #[error("{node} has no taint {taint}{}", suggestion(.meant.as_deref()))]
    NoTaint {
        node: Str,
        /// The taint as typed.
        taint: String,
        /// The nearest key of a taint.
        meant: Option<String>,
    },
    /// The node has no such label.
    #[error("{node} has no label {label}{}", suggestion(.meant.as_deref()))]
    NoLabel {
        node: Str,
        /// The key.
        label: Str,
        /// The nearest key.
        meant: Option<String>,
    },
    /// The pod has no scheduling gate.
    #[error("{0} has no scheduling gate")]
    NotGated(Key),
    /// The pod has no node, so that it cannot be evicted.
    #[error("{0} is not on a node")]
    NotOnANode(Key),
    /// The pod does not wait on Permit.
    #[error("{0} does not wait on Permit")]
    NotWaitingOnPermit(Key),
    /// The pod has ended.
    #[error("{0} has finished")]
    Ended(Key),
    /// No profile schedules the pod.
    #[error("no profile of the scheduler is named {scheduler:?}, as {pod} requires")]
    NoProfile {
        pod: Key,
        /// Its `schedulerName`.
        scheduler: Str,
    },
    /// The verb would leave everything as it is.
    #[error("nothing would change")]
    NothingChanges,
    /// A feature gate that is not known.
    #[error("{error}{}", suggestion(.meant.as_deref()))]
    Gate {
        error: GateError,
        /// The nearest gate.
        meant: Option<String>,
    },
    /// The edit of an object failed.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The scheduler would not start with the configuration.
    #[error(transparent)]
    Config(#[from] ConfigEditError),
    /// The release would not start with the configuration.
    #[error("kube-scheduler {release} would not start with this configuration: {why}")]
    ReleaseChange { release: Release, why: ReleaseRefused },
    /// The same, on a branch of a session.
    #[error(transparent)]
    SessionRelease(#[from] ReleaseChangeError),
}

impl WhatIfError {
    /// Returns the error of feature gates that were refused.
    pub(super) fn gate(error: GateError) -> Self {
        use strum::IntoEnumIterator as _;
        let unknown = if let GateError::Unrecognized { name } = &error { Some(name) } else { None };
        let meant = unknown.and_then(|name| nearest(name, Gate::iter().map(Gate::into)).map(str::to_owned));
        Self::Gate { error, meant }
    }
}

fn suggestion(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}
