//! What-ifs in operators' verbs, as values.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator as _;

use super::edit::Edit;
use super::grammar::{self, VerbError};
use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Str, Taint};
use crate::release::Release;
use crate::scheduler::ConfigEdit;

/// A parsed verb. Names are as typed; they are looked up when it is applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// Drains nodes one after another, as `kubectl drain --ignore-daemonsets --delete-emptydir-data` would.
    Drain(Vec<Str>),
    /// Loses nodes at once, with the pods on them.
    Lose(Lost),
    /// Adds nodes like one there is.
    Add {
        /// Number of nodes.
        count: usize,
        /// The node to copy.
        like: Str,
    },
    /// Scales a workload.
    Scale {
        /// The workload.
        owner: Owner,
        /// Number of pods that it is to have.
        replicas: usize,
    },
    /// Adds or removes a taint of a node.
    Taint(Str, TaintEdit),
    /// Sets a label of a node, or removes it.
    Label(Str, Str, Option<Str>),
    /// Sets the priority of a pod.
    Priority(Str, PriorityWord),
    /// Removes a pod's scheduling gates.
    Ungate(Str),
    /// Evicts a pod through the eviction API, which honours budgets.
    Evict(Str),
    /// Lets a budget allow every disruption.
    Relax(Str),
    /// Counts how many more of a pod fit.
    Capacity(Str),
    /// Names the pods that are evicted first if pods like this one keep coming.
    Flood(Str),
    /// Edits the scheduler's configuration.
    Configure(ConfigEdit),
    /// Continues with another release of kube-scheduler.
    Release(Release),
    /// Edits one object.
    Edit(Edit),
}

/// Nodes that are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// One node.
    Node(Str),
    /// All nodes with a label; the key may be short for the one of Kubernetes, such as `zone`.
    Label(Str, Str),
}

/// A workload, by kind and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub kind: OwnerKind,
    /// `[NAMESPACE/]NAME`.
    pub name: Str,
}

/// Kind of a workload that can be scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumIter)]
#[allow(missing_docs, reason = "the variants are the kinds' names")]
pub enum OwnerKind {
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Job,
}

impl OwnerKind {
    /// Returns the kind of a word: singular or plural in any case, or kubectl's short name.
    pub fn named(word: &str) -> Option<Self> {
        let kind = NeighborKind::named(word)?;
        Self::iter().find(|owner| owner.to_string() == <&str>::from(kind))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.to_string().to_lowercase(), self.name)
    }
}

/// An addition or removal of a taint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaintEdit {
    /// Adds the taint, or replaces the one of its key and effect.
    Add(Taint),
    /// Removes the taints of a key; those with one effect, if it is given.
    Remove { key: Str, effect: Option<Str> },
}

impl fmt::Display for TaintEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(Taint { key, value, effect }) if value.is_empty() => write!(f, "{key}:{effect}"),
            Self::Add(Taint { key, value, effect }) => write!(f, "{key}={value}:{effect}"),
            Self::Remove { key, effect: None } => write!(f, "{key}-"),
            Self::Remove { key, effect: Some(effect) } => write!(f, "{key}:{effect}-"),
        }
    }
}

/// A priority as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorityWord {
    /// The number itself.
    Value(i32),
    /// The name of a PriorityClass.
    Class(Str),
}

/// Writes the verb as it is typed.
impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drain(nodes) => {
                f.write_str("drain")?;
                nodes.iter().try_for_each(|node| write!(f, " {node}"))
            }
            Self::Lose(Lost::Node(node)) => write!(f, "lose {node}"),
            Self::Lose(Lost::Label(key, value)) => write!(f, "lose {key}={value}"),
            Self::Add { count, like } => write!(f, "add {count} like {like}"),
            Self::Scale { owner, replicas } => write!(f, "scale {owner} {replicas}"),
            Self::Taint(node, edit) => write!(f, "taint {node} {edit}"),
            Self::Label(node, key, Some(value)) => write!(f, "label {node} {key}={value}"),
            Self::Label(node, key, None) => write!(f, "label {node} {key}-"),
            Self::Priority(pod, PriorityWord::Value(value)) => write!(f, "priority {pod} {value}"),
            Self::Priority(pod, PriorityWord::Class(class)) => write!(f, "priority {pod} {class}"),
            Self::Ungate(pod) => write!(f, "ungate {pod}"),
            Self::Evict(pod) => write!(f, "evict {pod}"),
            Self::Relax(budget) => write!(f, "relax {budget}"),
            Self::Capacity(pod) => write!(f, "capacity {pod}"),
            Self::Flood(pod) => write!(f, "flood {pod}"),
            Self::Configure(edit) => write!(f, "{edit}"),
            Self::Release(release) => write!(f, "release {release}"),
            Self::Edit(edit) => write!(f, "{edit}"),
        }
    }
}

impl Verb {
    /// Returns whether it asks a question and changes nothing.
    pub fn asks(&self) -> bool {
        matches!(self, Self::Capacity(_) | Self::Flood(_))
    }

    /// Returns whether pods come or go with the verb, so that the scheduler runs until nothing changes.
    pub fn settles(&self) -> bool {
        match self {
            Self::Drain(_) | Self::Lose(_) | Self::Add { .. } | Self::Scale { .. } | Self::Evict(_) => true,
            Self::Taint(_, TaintEdit::Add(taint)) => taint.effect == "NoExecute",
            _ => false,
        }
    }
}

impl FromStr for Verb {
    type Err = VerbError;

    fn from_str(text: &str) -> Result<Self, VerbError> {
        grammar::parse(text)
    }
}

/// Saved sessions have verbs as they are typed.
impl Serialize for Verb {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Verb {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for TaintEdit {
    type Err = VerbError;

    fn from_str(text: &str) -> Result<Self, VerbError> {
        const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        let wrong = || VerbError::Taint(text.to_owned());
        let effect = |effect: &str| if EFFECTS.contains(&effect) { Ok(Str::from(effect)) } else { Err(wrong()) };
        let edit = match text.strip_suffix('-') {
            Some(rest) => match rest.split_once(':') {
                Some((key, of)) => Self::Remove { key: key.split('=').next().unwrap_or(key).into(), effect: Some(effect(of)?) },
                None => Self::Remove { key: rest.into(), effect: None },
            },
            None => {
                let (rest, of) = text.rsplit_once(':').ok_or_else(wrong)?;
                let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
                Self::Add(Taint { key: key.into(), value: value.into(), effect: effect(of)? })
            }
        };
        let (Self::Add(Taint { key, .. }) | Self::Remove { key, .. }) = &edit;
        if key.is_empty() { Err(wrong()) } else { Ok(edit) }
    }
}

#[cfg(test)]
mod tests;
