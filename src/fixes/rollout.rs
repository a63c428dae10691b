//! Rollouts: a pod of a new revision that waits for the place of one that its Deployment would take away after it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::change::Change;
use super::trial::Trials;
use super::{Fix, FixOutcome, Limits};
use crate::cluster::{Key, Pod, Str};
use crate::controllers::deployment_of;

/// Tries to take a pod of an older revision of the same Deployment away first, the first by name that suffices.
pub(super) fn singles(trials: &mut Trials<'_>, limits: Limits, fixes: &mut Vec<Fix>) {
    let cluster = trials.scheduler().state().cluster().clone();
    let pod = trials.pod().clone();
    let Some(set) = replica_set(&pod) else { return };
    let Some(deployment) = deployment_of(&cluster, &pod, set) else { return };
    let is_old = |other: &&Arc<Pod>| {
        let its = replica_set(other).filter(|its| *its != set);
        !other.node_name.is_empty()
            && !other.is_terminal()
            && !other.is_terminating()
            && its.is_some_and(|its| deployment_of(&cluster, other, its).as_ref() == Some(&deployment))
    };
    let mut old: Vec<Arc<Pod>> = cluster.pods.in_namespace(&pod.metadata.namespace).filter(is_old).cloned().collect();
    if !is_newer(&cluster, &pod, &old) {
        return;
    }
    let mut nodes: BTreeSet<Str> = BTreeSet::new();
    old.retain(|other| nodes.insert(other.node_name.clone()));
    for other in old.into_iter().take(limits.deletions) {
        let deployment = Key::new(pod.metadata.namespace.clone(), deployment.clone());
        let changes = vec![Change::RollOut { deployment, pod: other.key() }];
        if let Some(verified) = trials.attempt(&changes).filter(|verified| verified.outcome == FixOutcome::Scheduled) {
            fixes.push(Fix::new(changes, verified));
            return;
        }
    }
}

fn replica_set(pod: &Pod) -> Option<&Str> {
    pod.metadata.controller().filter(|owner| owner.kind == "ReplicaSet").map(|owner| &owner.name)
}

/// Returns whether the pod's ReplicaSet is newer than those of all other pods, by creation, or by its pods where it was not read.
fn is_newer(cluster: &crate::cluster::Cluster, pod: &Pod, old: &[Arc<Pod>]) -> bool {
    let made = |pod: &Pod| {
        let known = replica_set(pod).and_then(|set| cluster.replica_sets.namespaced(&pod.metadata.namespace, set));
        known.and_then(|set| set.metadata.creation_timestamp).or(pod.metadata.creation_timestamp)
    };
    let own = made(pod);
    !old.is_empty() && old.iter().all(|other| made(other) <= own)
}
