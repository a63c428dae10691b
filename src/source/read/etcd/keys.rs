//! Tells from keys which values are Kubernetes' objects, and of which resource.
//!
//! An API server writes an object at `PREFIX/RESOURCE/NAMESPACE/NAME`, and one of a custom resource at
//! `PREFIX/GROUP/RESOURCE/...`. The prefix is its `--etcd-prefix`: `/registry`, in OpenShift `/kubernetes.io`. A few resources
//! have other names there than in the API, as `registry/core/rest/storage_core.go` says.

use std::collections::{BTreeMap, BTreeSet};

use strum::IntoEnumIterator as _;

use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Key, Kind};
use crate::limits::sources::ETCD_PREFIX_PARTS;

/// The namespaces that every cluster has, by which the prefix is found.
const NAMESPACES: [&str; 2] = ["namespaces/default", "namespaces/kube-system"];

/// Resources with other names in keys than in the API.
const RENAMED: [(&str, &str); 3] = [("minions", "nodes"), ("controllers", "replicationcontrollers"), ("services", "services")];

/// Returns whether a key may be of a Secret or ConfigMap, below any prefix.
pub(super) fn is_confidential(key: &[u8]) -> bool {
    key.split(|byte| *byte == b'/').any(|part| matches!(part, b"secrets" | b"configmaps"))
}

/// The subject of a key that scheduling reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Object(Kind, Key),
    Event,
}

impl Stored {
    /// Returns the kind of its value, if that is one.
    pub(super) fn kind(&self) -> Option<Kind> {
        if let Self::Object(kind, _) = self { Some(*kind) } else { None }
    }
}

/// Returns the API group and the plural of a resource that is named in a key.
pub(super) fn api_of(resource: &str) -> (&'static str, &str) {
    let plural = RENAMED.iter().find(|(key, _)| *key == resource).map_or(resource, |(_, plural)| plural);
    let of_model = || Kind::iter().find(|kind| kind.resource() == plural).map(Kind::group);
    // The folders of custom resources begin with their group.
    let other = || NeighborKind::iter().filter(|kind| kind.is_built_in()).find(|kind| kind.resource() == plural)?.groups().first().copied();
    (of_model().or_else(other).unwrap_or(""), plural)
}

/// Returns what may be the prefix of a key, the shortest first.
fn prefixes_of(key: &str) -> impl Iterator<Item = &str> {
    key.match_indices('/').take(ETCD_PREFIX_PARTS).map(|(at, _)| &key[..=at])
}

/// The keys of a database.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    /// The prefix of the cluster's objects, with a slash at its end; empty if it is not known.
    prefix: String,
    /// Prefixes of other clusters in the same database.
    others: BTreeSet<String>,
}

/// The name of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    /// The resource as in the key.
    pub(super) resource: &'a str,
    pub(super) place: Where,
}

/// Where a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// Below the prefix of the cluster.
    Cluster,
    /// Below the prefix of another cluster.
    OtherCluster,
    /// Anywhere else: an aggregated API server, or a program that is not Kubernetes.
    Elsewhere,
}

impl Name<'_> {
    /// Returns whether the value is confidential and must not be decoded.
    pub(super) fn is_confidential(&self) -> bool {
        matches!(self.resource, "secrets" | "configmaps")
    }
}

impl Keys {
    /// Finds the prefix: that of the cluster with most keys, if there are several.
    pub(super) fn of<'a>(keys: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let mut prefixes: BTreeMap<&str, usize> = BTreeMap::new();
        for key in keys.clone().filter_map(|key| std::str::from_utf8(key).ok()) {
            if let Some(prefix) = NAMESPACES
                .iter()
                .find_map(|namespace| key.strip_suffix(namespace))
                .filter(|prefix| prefixes_of(prefix).any(|part| part == *prefix))
            {
                prefixes.insert(prefix, 0);
            }
        }
        if prefixes.len() > 1 {
            for key in keys.filter_map(|key| std::str::from_utf8(key).ok()) {
                let shortest = prefixes_of(key).find(|prefix| prefixes.contains_key(prefix));
                if let Some(count) = shortest.and_then(|prefix| prefixes.get_mut(prefix)) {
                    *count += 1;
                }
            }
        }
        let Some((prefix, _)) = prefixes.iter().max_by_key(|(_, count)| **count) else {
            return Self { prefix: "/registry/".to_owned(), others: BTreeSet::new() };
        };
        let prefix = (*prefix).to_owned();
        let others = prefixes.keys().filter(|other| **other != prefix).map(|other| (*other).to_owned()).collect();
        Self { prefix, others }
    }

    /// Returns the name of a key's value; `None` for a key that is no path, such as the API server's own `compact_rev_key`.
    pub(super) fn name<'a>(&self, key: &'a [u8]) -> Option<Name<'a>> {
        let key = std::str::from_utf8(key).ok()?;
        let (place, path) = if let Some(path) = key.strip_prefix(&self.prefix) {
            (Where::Cluster, path)
        } else if let Some(other) = prefixes_of(key).find(|prefix| self.others.contains(*prefix)) {
            (Where::OtherCluster, &key[other.len()..])
        } else {
            (Where::Elsewhere, key.strip_prefix('/')?.split_once('/')?.1)
        };
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let first = parts.next()?;
        // A group has dots, a resource has none.
        let resource = if first.contains('.') { parts.next().unwrap_or(first) } else { first };
        Some(Name { resource, place })
    }
}

impl Keys {
    /// Returns the subject of a key of the cluster that scheduling reads; `None` for any other key.
    pub(super) fn stored(&self, key: &[u8]) -> Option<Stored> {
        let path = std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?;
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let resource = parts.next()?;
        let rest: Vec<&str> = match resource {
            "events" => return Some(Stored::Event),
            // Services share a folder with their endpoints.
            "services" => parts.next().filter(|folder| *folder == "specs").map(|_| parts.collect())?,
            _ => parts.collect(),
        };
        let (group, plural) = api_of(resource);
        let kind = Kind::iter().find(|kind| kind.group() == group && kind.resource() == plural)?;
        match (rest.as_slice(), kind.namespaced()) {
            ([namespace, name], true) => Some(Stored::Object(kind, Key::new(*namespace, *name))),
            ([name], false) => Some(Stored::Object(kind, Key::new("", *name))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
