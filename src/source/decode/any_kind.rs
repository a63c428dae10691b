//! A kind of any sort: one that scheduling reads, one that explains missing pods, or both.

use super::classify::{Class, classify};
use crate::cluster::Kind;
use crate::cluster::neighbors::NeighborKind;

/// A kind as each of them, as far as it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::source) struct AnyKind {
    /// The kind as which scheduling reads it.
    pub(in crate::source) model: Option<Kind>,
    /// The kind as which it explains missing pods.
    pub(in crate::source) neighbor: Option<NeighborKind>,
    pub(in crate::source) is_event: bool,
    /// Whether scheduling reads the version in which its objects are.
    pub(in crate::source) is_readable: bool,
}

impl AnyKind {
    /// Returns the kind of a name, with its API group where that is known.
    pub(in crate::source) fn of(name: &str, group: Option<&str>) -> Self {
        let neighbor = NeighborKind::of(name, group);
        let is_same = |kind: &Kind| group.is_none_or(|group| group == kind.group()) || neighbor.is_some_and(NeighborKind::is_in_model);
        Self { model: name.parse().ok().filter(is_same), neighbor, is_event: name == "Event", is_readable: true }
    }

    /// Returns the kind of a name in a version of the API.
    pub(in crate::source) fn of_version(name: &str, api_version: Option<&str>) -> Self {
        let group = api_version.filter(|version| !version.is_empty()).map(|version| version.split_once('/').map_or("", |(group, _)| group));
        let is_readable = !matches!(classify(name, api_version), Class::OldVersion(_));
        let is_event = name == "Event" && matches!(group, None | Some("" | "events.k8s.io"));
        Self { is_event, is_readable, ..Self::of(name, group) }
    }

    /// Returns whether objects of the kind are read.
    pub(in crate::source) fn is_read(self) -> bool {
        self.model.is_some() || self.neighbor.is_some() || self.is_event
    }
}

impl From<Kind> for AnyKind {
    fn from(kind: Kind) -> Self {
        Self { model: Some(kind), neighbor: NeighborKind::of_model(kind), is_event: false, is_readable: true }
    }
}

impl From<NeighborKind> for AnyKind {
    fn from(kind: NeighborKind) -> Self {
        Self { model: None, neighbor: Some(kind), is_event: false, is_readable: true }
    }
}
