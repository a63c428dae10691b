//! Errors of what-ifs.

use crate::cluster::{Key, Kind, Str};
use crate::framework::PluginName;
use crate::release::{Gate, GateError, Release, ReleaseError};
use crate::scheduler::{ConfigEditError, ReleaseRefused};
use crate::session::{EditError, ReleaseChangeError};
use crate::suggest::nearest;

/// Why a verb was not applied. The text is for the user.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// The first word is no verb.
    #[error("there is no verb {word:?}{}", suggestion(.meant.as_deref()))]
    UnknownVerb {
        /// The word.
        word: String,
        /// The nearest verb.
        meant: Option<String>,
    },
    /// Arguments are missing or not understood.
    #[error("{verb} needs {args}")]
    Arguments {
        /// The verb.
        verb: &'static str,
        /// Its arguments.
        args: &'static str,
    },
    /// A text that is not a number, or one that is out of range.
    #[error("{text:?} is not a number from {from} to {to}")]
    Number {
        /// The text.
        text: String,
        /// Smallest number.
        from: i64,
        /// Largest number.
        to: i64,
    },
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
    /// A word that is no plugin.
    #[error("there is no plugin {name:?}{}", suggestion(.meant.as_deref()))]
    UnknownPlugin {
        /// The word.
        name: String,
        /// The nearest plugin.
        meant: Option<String>,
    },
    /// A text that is not a taint.
    #[error("{0:?} is not KEY[=VALUE]:EFFECT, KEY:EFFECT- or KEY-, with the effect NoSchedule, PreferNoSchedule or NoExecute")]
    Taint(String),
    /// The node has no such taint.
    #[error("{node} has no taint {taint}{}", suggestion(.meant.as_deref()))]
    NoTaint {
        /// The node.
        node: Str,
        /// The taint as typed.
        taint: String,
        /// The nearest key of a taint.
        meant: Option<String>,
    },
    /// A text that is not a label.
    #[error("{0:?} is not KEY=VALUE or KEY-")]
    Label(String),
    /// The node has no such label.
    #[error("{node} has no label {label}{}", suggestion(.meant.as_deref()))]
    NoLabel {
        /// The node.
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
        /// The pod.
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
        /// The error.
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
    /// A text that is not a release.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// The release would not start with the configuration.
    #[error("kube-scheduler {release} would not start with this configuration: {why}")]
    ReleaseChange {
        /// The release.
        release: Release,
        /// Why.
        why: ReleaseRefused,
    },
    /// The same, on a branch of a session.
    #[error(transparent)]
    SessionRelease(#[from] ReleaseChangeError),
}

impl WhatIfError {
    /// Returns the error of a plugin that does not exist.
    pub(super) fn unknown_plugin(name: &str) -> Self {
        use strum::IntoEnumIterator as _;
        let meant = nearest(name, PluginName::iter().filter(|plugin| !plugin.is_out_of_tree()).map(PluginName::into)).map(str::to_owned);
        Self::UnknownPlugin { name: name.to_owned(), meant }
    }
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
