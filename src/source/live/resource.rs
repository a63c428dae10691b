//! The resources that are read, with their API groups, versions and paths.

use std::fmt;
use std::sync::LazyLock;

use strum::IntoEnumIterator as _;

use super::neighbors;
use crate::cluster::{Kind, KindRow};
use crate::source::decode::classify::{Class, classify};

/// The subject of a list or watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// Objects of a kind of the model.
    Objects(Kind),
    /// Events of schedulers about pods.
    Events,
}

/// Writes the resource's name, as in `kubectl api-resources`.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Resource::of(*self).plural)
    }
}

/// A resource of the API server.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) subject: Subject,
    /// The API group; empty for the core group.
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    /// The kind, as in objects and lists.
    pub(super) kind: &'static str,
    /// The versions that the model can read, newest first.
    pub(super) versions: &'static [&'static str],
}

impl From<Kind> for Resource {
    fn from(kind: Kind) -> Self {
        let KindRow { resource, versions, .. } = kind.row();
        Self { subject: Subject::Objects(kind), group: kind.group(), plural: resource, kind: kind.into(), versions }
    }
}

/// All resources that are read.
pub(super) static RESOURCES: LazyLock<Vec<Resource>> = LazyLock::new(|| {
    let events = Resource { subject: Subject::Events, group: "", plural: "events", kind: "Event", versions: &["v1"] };
    Kind::iter().map(Resource::from).chain([events]).collect()
});

/// Most events of a pod are its kubelet's, which are not needed. A field selector cannot name several reasons to
/// include, but it can name several to exclude.
const WANTED_EVENTS: &str = "involvedObject.kind=Pod,reason!=Pulled,reason!=Pulling,reason!=Created,reason!=Started,\
    reason!=Killing,reason!=BackOff,reason!=Unhealthy,reason!=FailedMount";

impl Resource {
    pub(super) fn of(subject: Subject) -> &'static Self {
        RESOURCES.iter().find(|r| r.subject == subject).expect("the table holds every kind, as a test says")
    }

    pub(super) fn namespaced(&self) -> bool {
        match self.subject {
            Subject::Objects(kind) => kind.namespaced(),
            Subject::Events => true,
        }
    }

    /// Returns `apps/v1`, or `v1` in the core group.
    pub(super) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    /// Returns the path of its list in a version, in all namespaces or in one.
    pub(super) fn path(&self, version: &str, namespace: Option<&str>) -> String {
        let root = root(self.group, version);
        match namespace.filter(|_| self.namespaced()) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }

    /// Returns the field selector of its list, if it has one.
    pub(super) fn field_selector(&self) -> Option<&'static str> {
        (self.subject == Subject::Events).then_some(WANTED_EVENTS)
    }

    /// Returns whether the model can read objects of a version.
    pub(super) fn understands(&self, version: &str) -> bool {
        matches!(classify(self.kind, Some(&self.api_version(version))), Class::Model(_) | Class::Convertible(_) | Class::Event)
            && self.versions.contains(&version)
    }
}

/// Returns the path of a group's version.
pub(super) fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}

/// Returns whether a path may be read: lists and single objects of [`RESOURCES`], lists of the kinds of `neighbors`, the server's
/// version, and discovery.
pub(super) fn is_allowed(path: &str) -> bool {
    let Some(path) = path.strip_prefix('/') else { return false };
    let parts: Vec<&str> = path.split('/').collect();
    let plain = |part: &&str| {
        !part.is_empty() && *part != "." && *part != ".." && part.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_:".contains(&b))
    };
    if !parts.iter().all(plain) {
        return false;
    }
    let (group, version, rest) = match parts.as_slice() {
        ["version" | "api" | "apis"] => return true,
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return false,
    };
    let mut known = RESOURCES.iter().filter(|r| r.group == group && r.versions.contains(&version));
    match rest {
        [] => known.next().is_some(),
        [plural] | [plural, _] if known.clone().any(|r| r.plural == *plural && (rest.len() == 1 || !r.namespaced())) => true,
        ["namespaces", _, plural] | ["namespaces", _, plural, _] if known.any(|r| r.plural == *plural && r.namespaced()) => true,
        rest => neighbors::is_list(group, version, rest),
    }
}

/// Returns whether a path is the log of one pod, which is read only on request: `/api/v1/namespaces/NS/pods/NAME/log`.
pub(super) fn is_log(path: &str) -> bool {
    path.strip_suffix("/log").is_some_and(|pod| pod.split('/').count() == 7 && pod.contains("/pods/") && is_allowed(pod))
}

#[cfg(test)]
mod tests;
