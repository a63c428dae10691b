//! The workload that a user names, and the owners of a pod.

use std::collections::BTreeSet;

use super::voices::groups_of;
use crate::cluster::neighbors::{About, NeighborKind, Neighbors};
use crate::cluster::{Cluster, Key, Pod, Str};
use crate::suggest::nearest;

/// Owners above a pod that are followed.
pub(super) const GENERATIONS: usize = 6;

/// Why no workload is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectError {
    /// No object has the kind and name, and no pod names it as its owner. Holds the nearest name of the kind.
    Absent(Option<Str>),
    /// Several workloads have the name.
    Several(Vec<About>),
}

/// Returns the kind that kubectl's word means; `None` for other words.
pub fn kind_named(word: &str) -> Option<&'static str> {
    let (word, _) = word.split_once('.').unwrap_or((word, ""));
    NeighborKind::named(word).filter(|kind| kind.is_workload()).map(<&str>::from)
}

/// Returns the workload of a kind and key. The kind is kubectl's word or any owner's kind in lower case.
///
/// # Errors
/// Returns [`SubjectError::Absent`] if neither an object nor a pod's owner has them.
pub fn subject(cluster: &Cluster, neighbors: &Neighbors, kind: &str, key: &Key) -> Result<About, SubjectError> {
    let is_meant = |known: &str| kind_named(kind).map_or_else(|| known.eq_ignore_ascii_case(kind), |meant| known == meant);
    let mut names: BTreeSet<Str> = BTreeSet::new();
    for about in all(cluster, neighbors, &key.namespace) {
        if !is_meant(&about.kind) {
            continue;
        }
        if about.key.name == key.name {
            return Ok(about);
        }
        names.insert(about.key.name);
    }
    Err(SubjectError::Absent(nearest(&key.name, names.iter().map(Str::as_str)).map(Str::from)))
}

/// Returns the one workload of a name that no other workload controls.
///
/// # Errors
/// Returns an error if there is none, or more than one.
pub fn subject_named(cluster: &Cluster, neighbors: &Neighbors, key: &Key) -> Result<About, SubjectError> {
    let named: BTreeSet<About> = all(cluster, neighbors, &key.namespace).filter(|about| about.key.name == key.name).collect();
    let is_controlled = |about: &&About| controller(cluster, neighbors, about).is_some_and(|owner| named.contains(&owner));
    let mut found: Vec<About> = named.iter().filter(|about| !is_controlled(about)).cloned().collect();
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(last), false) => {
            found.push(last);
            Err(SubjectError::Several(found))
        }
        (None, _) => Err(SubjectError::Absent(None)),
    }
}

/// Returns all workloads of a namespace, some of them more than once.
fn all<'a>(cluster: &'a Cluster, neighbors: &'a Neighbors, namespace: &'a Str) -> impl Iterator<Item = About> + 'a {
    use strum::IntoEnumIterator as _;
    let of_kind = |kind: &'static str| move |key: Key| About::new(kind, key);
    let kinds = NeighborKind::iter().filter(|kind| kind.is_workload());
    let objects =
        kinds.flat_map(|kind| neighbors.in_namespace(kind, namespace).map(move |o| About::new(<&str>::from(kind), o.metadata.key())));
    let sets = cluster.replica_sets.in_namespace(namespace).map(|set| set.metadata.key()).map(of_kind("ReplicaSet"));
    let stateful = cluster.stateful_sets.in_namespace(namespace).map(|set| set.metadata.key()).map(of_kind("StatefulSet"));
    let old = cluster.replication_controllers.in_namespace(namespace).map(|set| set.metadata.key()).map(of_kind("ReplicationController"));
    let pod_groups = cluster.pod_groups.in_namespace(namespace).map(|group| group.metadata.key()).map(of_kind("PodGroup"));
    let owners = cluster.pods.in_namespace(namespace).flat_map(|pod| owners(cluster, neighbors, pod));
    let workloads = owners.filter(|about| about.kind != "Node");
    let named = cluster.pods.in_namespace(namespace).flat_map(|pod| groups_of(pod)).map(of_kind("PodGroup"));
    objects.chain(sets).chain(stateful).chain(old).chain(pod_groups).chain(workloads).chain(named)
}

/// Returns the owners of a pod, from its controller to the topmost one that is known.
pub fn owners(cluster: &Cluster, neighbors: &Neighbors, pod: &Pod) -> Vec<About> {
    let namespace = &pod.metadata.namespace;
    let Some(first) = pod.metadata.controller().filter(|owner| !owner.kind.is_empty()) else { return Vec::new() };
    let mut found = vec![About::new(first.kind.clone(), Key::new(namespace.clone(), first.name.clone()))];
    while let Some(next) = found.last().and_then(|last| controller(cluster, neighbors, last)).filter(|next| !found.contains(next)) {
        found.push(next);
        if found.len() == GENERATIONS {
            break;
        }
    }
    // A ReplicaSet or Job that the source lacks is named after its owner.
    if found.len() == 1
        && !is_known(cluster, neighbors, &found[0])
        && let Some(owner) = pod.owner().filter(|owner| owner.through.is_some())
    {
        let (kind, name) = owner.workload;
        found.push(About::new(kind, Key::new(namespace.clone(), name)));
    }
    found
}

/// Returns whether the source has a workload.
pub(super) fn is_known(cluster: &Cluster, neighbors: &Neighbors, about: &About) -> bool {
    neighbors.owner(&about.kind, &about.key).is_some() || about.kind == "ReplicaSet" && cluster.replica_sets.get(&about.key).is_some()
}

/// Returns the controller of a workload, as far as the workload is known.
pub(super) fn controller(cluster: &Cluster, neighbors: &Neighbors, about: &About) -> Option<About> {
    let owner_object = neighbors.owner(&about.kind, &about.key).and_then(|object| object.metadata.controller());
    let read = || match about.kind.as_str() {
        "ReplicaSet" => cluster.replica_sets.get(&about.key)?.metadata.controller(),
        "StatefulSet" => cluster.stateful_sets.get(&about.key)?.metadata.controller(),
        "ReplicationController" => cluster.replication_controllers.get(&about.key)?.metadata.controller(),
        _ => None,
    };
    let owner = owner_object.or_else(read)?;
    Some(About::new(owner.kind.clone(), Key::new(about.key.namespace.clone(), owner.name.clone())))
}
