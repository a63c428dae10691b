//! Tells from keys which values are Kubernetes' objects, and of which resource.
//!
//! An API server writes an object at `PREFIX/RESOURCE/NAMESPACE/NAME`, and one of a custom resource at
//! `PREFIX/GROUP/RESOURCE/...`. The prefix is its `--etcd-prefix`: `/registry`, in OpenShift `/kubernetes.io`. A few resources
//! have other names there than in the API, as `registry/core/rest/storage_core.go` says.

use std::collections::BTreeMap;

/// The namespaces that every cluster has, by which the prefix is found.
const NAMESPACES: [&str; 2] = ["namespaces/default", "namespaces/kube-system"];

/// Resources with other names in keys than in the API.
const RENAMED: [(&str, &str); 3] = [("minions", "nodes"), ("controllers", "replicationcontrollers"), ("services", "services")];

/// Resources outside the core group, with their groups.
const GROUPS: [(&str, &str); 18] = [
    ("cronjobs", "batch"),
    ("csidrivers", "storage.k8s.io"),
    ("csinodes", "storage.k8s.io"),
    ("csistoragecapacities", "storage.k8s.io"),
    ("daemonsets", "apps"),
    ("deployments", "apps"),
    ("deviceclasses", "resource.k8s.io"),
    ("horizontalpodautoscalers", "autoscaling"),
    ("jobs", "batch"),
    ("poddisruptionbudgets", "policy"),
    ("priorityclasses", "scheduling.k8s.io"),
    ("replicasets", "apps"),
    ("resourceclaims", "resource.k8s.io"),
    ("resourceclaimtemplates", "resource.k8s.io"),
    ("resourceslices", "resource.k8s.io"),
    ("statefulsets", "apps"),
    ("storageclasses", "storage.k8s.io"),
    ("volumeattachments", "storage.k8s.io"),
];

/// Returns the API group and the plural of a resource that is named in a key.
pub(super) fn api_of(resource: &str) -> (&'static str, &str) {
    let plural = RENAMED.iter().find(|(key, _)| *key == resource).map_or(resource, |(_, plural)| plural);
    (GROUPS.iter().find(|(known, _)| *known == plural).map_or("", |(_, group)| group), plural)
}

/// The keys of a database.
#[derive(Debug, Default)]
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

#[cfg(test)]
mod tests {
    use super::*;

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
