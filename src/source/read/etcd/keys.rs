//! Tells from keys which values are Kubernetes' objects, and of which resource.
//!
//! An API server writes an object at `PREFIX/RESOURCE/NAMESPACE/NAME`, and one of a custom resource at
//! `PREFIX/GROUP/RESOURCE/...`. The prefix is its `--etcd-prefix`: `/registry`, in OpenShift `/kubernetes.io`. A few resources
//! have other names there than in the API, as `registry/core/rest/storage_core.go` says.

use std::collections::BTreeMap;

use strum::IntoEnumIterator as _;

use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Key, Kind};

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

/// Returns the API group and the plural of a resource that is named in a key.
pub(super) fn api_of(resource: &str) -> (&'static str, &str) {
    let plural = RENAMED.iter().find(|(key, _)| *key == resource).map_or(resource, |(_, plural)| plural);
    let of_model = || Kind::iter().find(|kind| kind.resource() == plural).map(Kind::group);
    // The folders of custom resources begin with their group.
    let other = || NeighborKind::iter().filter(|kind| kind.is_built_in()).find(|kind| kind.resource() == plural)?.groups().first().copied();
    (of_model().or_else(other).unwrap_or(""), plural)
}

/// The keys of a database.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    /// The prefix of the cluster's objects, with a slash at its end; empty if it is not known.
    prefix: String,
    /// Prefixes of other clusters in the same database.
    others: Vec<String>,
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
            if let Some(prefix) = NAMESPACES.iter().find_map(|namespace| key.strip_suffix(namespace)).filter(|prefix| prefix.ends_with('/'))
            {
                prefixes.insert(prefix, 0);
            }
        }
        if prefixes.len() > 1 {
            for key in keys.filter_map(|key| std::str::from_utf8(key).ok()) {
                if let Some((_, count)) = prefixes.iter_mut().find(|(prefix, _)| key.starts_with(**prefix)) {
                    *count += 1;
                }
            }
        }
        let Some((prefix, _)) = prefixes.iter().max_by_key(|(_, count)| **count) else {
            return Self { prefix: "/registry/".to_owned(), others: Vec::new() };
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
        } else if let Some(path) = self.others.iter().find_map(|other| key.strip_prefix(other.as_str())) {
            (Where::OtherCluster, path)
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
mod tests {
    use super::*;

    #[test]
    fn keys_name_the_objects_that_scheduling_reads() {
        let keys = Keys { prefix: "/registry/".to_owned(), others: Vec::new() };
        let object = |kind, namespace: &str, name: &str| Some(Stored::Object(kind, Key::new(namespace, name)));
        for (key, expected) in [
            ("/registry/pods/shop/web", object(Kind::Pod, "shop", "web")),
            ("/registry/minions/n", object(Kind::Node, "", "n")),
            ("/registry/services/specs/shop/web", object(Kind::Service, "shop", "web")),
            ("/registry/services/endpoints/shop/web", None),
            ("/registry/controllers/shop/rc", object(Kind::ReplicationController, "shop", "rc")),
            ("/registry/priorityclasses/high", object(Kind::PriorityClass, "", "high")),
            ("/registry/podgroups/shop/g", object(Kind::PodGroup, "shop", "g")),
            ("/registry/scheduling.x-k8s.io/podgroups/shop/g", None),
            ("/registry/events/shop/web.1", Some(Stored::Event)),
            ("/registry/secrets/shop/web", None),
            ("/registry/pods/shop", None),
            ("/other/pods/shop/web", None),
        ] {
            assert_eq!(keys.stored(key.as_bytes()), expected, "{key}");
        }
        for kind in Kind::iter() {
            let plural = kind.plural().to_ascii_lowercase();
            let resource = RENAMED.iter().find(|(_, to)| *to == plural).map_or(plural.as_str(), |(from, _)| from);
            assert_eq!(api_of(resource), (kind.group(), plural.as_str()), "the table lacks the group of {kind}");
        }
        assert!(is_confidential(b"/x/secrets/a/b") && is_confidential(b"/x/g.io/configmaps/a") && !is_confidential(b"/x/pods/a/secrets-1"));
    }

    #[test]
    fn the_prefix_is_found_by_the_namespaces() {
        let of = |keys: &[&str]| {
            let keys = Keys::of(keys.iter().map(|key| key.as_bytes()));
            (keys.prefix, keys.others)
        };
        assert_eq!(of(&["/registry/namespaces/default", "/registry/pods/a/namespaces/default"]).0, "/registry/");
        assert_eq!(of(&["/kubernetes.io/namespaces/kube-system", "compact_rev_key"]).0, "/kubernetes.io/");
        assert_eq!(of(&["a/b/namespaces/default"]).0, "a/b/");
        assert_eq!(of(&["x"]).0, "/registry/");
        let two = ["/a/namespaces/default", "/b/namespaces/default", "/b/pods/x/y"];
        assert_eq!(of(&two), ("/b/".to_owned(), vec!["/a/".to_owned()]));
    }

    #[test]
    fn keys_name_resources() {
        let keys = Keys { prefix: "/registry/".to_owned(), others: vec!["/old/".to_owned()] };
        let name = |key: &'static str| keys.name(key.as_bytes()).map(|name| (name.resource, name.place, name.is_confidential()));
        for (key, expected) in [
            ("/registry/pods/secrets/web", Some(("pods", Where::Cluster, false))),
            ("/registry/secrets/shop/token", Some(("secrets", Where::Cluster, true))),
            ("/registry/configmaps/shop/c", Some(("configmaps", Where::Cluster, true))),
            ("/registry/kueue.x-k8s.io/workloads/shop/w", Some(("workloads", Where::Cluster, false))),
            ("/registry/apiregistration.k8s.io/secrets/x", Some(("secrets", Where::Cluster, true))),
            ("/old/secrets/a/b", Some(("secrets", Where::OtherCluster, true))),
            ("/openshift.io/routes/a/b", Some(("routes", Where::Elsewhere, false))),
            ("/other/secrets/a", Some(("secrets", Where::Elsewhere, true))),
            ("compact_rev_key", None),
        ] {
            assert_eq!(name(key), expected, "{key}");
        }
        assert_eq!(keys.name(b"/registry/\xff"), None);
        assert_eq!((api_of("minions"), api_of("poddisruptionbudgets")), (("", "nodes"), ("policy", "poddisruptionbudgets")));
    }
}
