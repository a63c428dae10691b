//! Rollouts: a pod of a new revision that waits for the place of one that its Deployment would take away after it.
//!
//! With `maxSurge: 0` and a `maxUnavailable` that suffices the Deployment takes pods of older revisions away first; mirrors
//! `reconcileOldReplicaSets` in `pkg/controller/deployment/rolling.go`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::change::Change;
use super::trial::{Trials, Verified};
use super::{Fix, FixOutcome, Fixes, Limits, Unproposed, Untried};
use crate::cluster::neighbors::{Neighbor, NeighborKind, Neighbors, OwnerFacts};
use crate::cluster::{Cluster, IntOrPercent, Key, Pod, Str};
use crate::controllers::deployment_of;

/// The share of its pods that a Deployment lets be unavailable by default, in per cent.
const DEFAULT_UNAVAILABLE: i64 = 25;

/// Tries to let the rollout take pods of older revisions of the same Deployment away first.
pub(super) fn singles(trials: &mut Trials<'_>, limits: Limits, fixes: &mut Fixes) {
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
    let old: Vec<Arc<Pod>> = cluster.pods.in_namespace(&pod.metadata.namespace).filter(is_old).cloned().collect();
    if !is_newer(&cluster, &pod, &old) {
        return;
    }
    let deployment = Key::new(pod.metadata.namespace.clone(), deployment);
    match Rollout::of(trials.background().neighbors, &cluster, &deployment, set) {
        Some(rollout) => try_rollout(trials, limits, &rollout, &deployment, fixes),
        None => {
            let gets_in = |other: &Arc<Pod>| attempt(trials, &deployment, other, 1, 1).is_some();
            if old.iter().take(limits.alike).any(gets_in) {
                fixes.unproposed.push(Unproposed::RolloutUnread(deployment));
            }
        }
    }
}

/// Tries the pods that the rollout may take away first. It works if it takes one of those that help, whichever it takes.
fn try_rollout(trials: &mut Trials<'_>, limits: Limits, rollout: &Rollout, deployment: &Key, fixes: &mut Fixes) {
    let (Some(unavailable), Some((taken, pods))) = (rollout.unavailable(), rollout.taken()) else { return };
    let mut by_node: BTreeMap<&Str, Vec<&Arc<Pod>>> = BTreeMap::new();
    for pod in pods {
        by_node.entry(&pod.node_name).or_default().push(pod);
    }
    if by_node.len() > limits.deletions {
        return trials.count_untried(0, by_node.len(), Untried::Deletions);
    }
    let mut found: Option<Fix> = None;
    let mut helpful = 0;
    for pods in by_node.values() {
        let Some(Verified { nodes, .. }) = attempt(trials, deployment, pods[0], unavailable, rollout.candidates()) else { continue };
        helpful += pods.len();
        let verified = Verified { outcome: FixOutcome::Scheduled, nodes, victims: BTreeMap::new() };
        let change = Change::RollOut { deployment: deployment.clone(), pod: pods[0].key(), unavailable, of: rollout.candidates() };
        match &mut found {
            Some(fix) => {
                fix.nodes.extend(verified.nodes);
                fix.nodes.sort();
                fix.nodes.dedup();
            }
            None => found = Some(Fix::new(vec![change], verified)),
        }
    }
    let Some(fix) = found else { return };
    if rollout.candidates() - helpful < taken {
        fixes.fixes.push(fix);
    } else {
        fixes.unproposed.push(Unproposed::RolloutByChance {
            deployment: deployment.clone(),
            unavailable,
            helpful,
            of: rollout.candidates(),
        });
    }
}

fn attempt(trials: &mut Trials<'_>, deployment: &Key, pod: &Pod, unavailable: i64, of: usize) -> Option<Verified> {
    let change = Change::RollOut { deployment: deployment.clone(), pod: pod.key(), unavailable, of };
    trials.attempt(&[change]).filter(|verified| verified.outcome == FixOutcome::Scheduled)
}

/// A rollout that goes on, as far as it decides which pods go.
struct Rollout {
    /// `spec.replicas` of the Deployment.
    wanted: i64,
    /// `maxUnavailable` of the Deployment, as a number of pods.
    /// `None` if it takes no pods away one after another: it is paused, or makes its pods anew at once.
    unavailable_now: Option<i64>,
    /// `spec.replicas` of all of its ReplicaSets.
    all: i64,
    /// The pods of all of them that are available.
    available: i64,
    /// The pods of the newest that are not.
    unavailable_new: i64,
    /// The available pods of the oldest ReplicaSet that has any.
    oldest: Vec<Arc<Pod>>,
}

impl Rollout {
    /// Reads a rollout to a ReplicaSet; `None` if the source does not have all of it.
    fn of(neighbors: &Neighbors, cluster: &Cluster, deployment: &Key, newest: &Str) -> Option<Self> {
        let facts = neighbors.get(NeighborKind::Deployment, deployment)?.facts()?;
        let is_known = neighbors.knows(NeighborKind::ReplicaSet) && neighbors.why(NeighborKind::ReplicaSet).is_none();
        let is_own = |set: &&Arc<Neighbor>| {
            set.metadata.controller().is_some_and(|owner| owner.kind == "Deployment" && owner.name == deployment.name)
        };
        let all = neighbors.in_namespace(NeighborKind::ReplicaSet, &deployment.namespace).filter(is_own);
        let mut sets: Vec<(Option<Timestamp>, &Arc<Neighbor>)> = all.map(|set| (set.metadata.created(), set)).collect();
        sets.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| one.metadata.name.cmp(&other.metadata.name)));
        if !is_known {
            return None;
        }
        let names: BTreeSet<&Str> = sets.iter().map(|(_, set)| &set.metadata.name).collect();
        let mut available: BTreeMap<&Str, Vec<Arc<Pod>>> = BTreeMap::new();
        for pod in cluster.pods.in_namespace(&deployment.namespace).filter(|pod| is_available(pod)) {
            if let Some(name) = replica_set(pod).and_then(|name| names.get(name)) {
                available.entry(name).or_default().push(pod.clone());
            }
        }
        let replicas = |set: &Neighbor| set.facts().and_then(|facts| facts.spec.replicas).unwrap_or(1);
        let count = |name: &Str| i64::try_from(available.get(name).map_or(0, Vec::len)).unwrap_or(i64::MAX);
        let wanted = facts.spec.replicas.unwrap_or(1);
        let new = sets.iter().find(|(_, set)| set.metadata.name == *newest).map(|(_, set)| replicas(set))?;
        let oldest = sets.iter().map(|(_, set)| &set.metadata.name).find(|name| *name != newest && available.contains_key(name));
        Some(Self {
            wanted,
            unavailable_now: unavailable_now(facts, wanted),
            all: sets.iter().map(|(_, set)| replicas(set)).fold(0, i64::saturating_add),
            available: sets.iter().map(|(_, set)| count(&set.metadata.name)).sum(),
            unavailable_new: new.saturating_sub(count(newest)),
            oldest: oldest.and_then(|name| available.get(name)).cloned().unwrap_or_default(),
        })
    }

    /// Returns the least `maxUnavailable` with which the Deployment takes a pod of an older revision away; `None` if none does, or if
    /// it takes one away as it is.
    fn unavailable(&self) -> Option<i64> {
        let for_any = 1_i64.saturating_sub(self.all).saturating_add(self.wanted).saturating_add(self.unavailable_new);
        let for_available = 1_i64.saturating_sub(self.available).saturating_add(self.wanted);
        let least = for_any.max(for_available).max(1);
        (least > self.unavailable_now? && least <= self.wanted).then_some(least)
    }

    /// Returns how many available pods go, and those of which they are.
    fn taken(&self) -> Option<(usize, &[Arc<Pod>])> {
        let taken = self.available.saturating_sub(self.wanted).saturating_add(self.unavailable()?);
        let taken = usize::try_from(taken).ok().filter(|taken| *taken > 0)?;
        (!self.oldest.is_empty()).then(|| (taken.min(self.oldest.len()), &self.oldest[..]))
    }

    fn candidates(&self) -> usize {
        self.oldest.len()
    }
}

/// Returns whether the Deployment of a pod makes the pod in its place first: it takes none away that is pending unless it may take one that
/// is available.
pub(super) fn makes_new_first(neighbors: &Neighbors, cluster: &Cluster, pod: &Pod) -> bool {
    let deployment = replica_set(pod).and_then(|set| deployment_of(cluster, pod, set));
    let key = deployment.map(|name| Key::new(pod.metadata.namespace.clone(), name));
    let facts = key.and_then(|key| neighbors.get(NeighborKind::Deployment, &key)).and_then(|known| known.facts());
    facts.is_some_and(|facts| unavailable_now(facts, facts.spec.replicas.unwrap_or(1)) == Some(0))
}

/// Returns the number of pods that a Deployment lets be unavailable; `None` if it is paused, makes its pods anew at once, or has an
/// invalid number. Shares are rounded down; without a surge it is one pod at least (`ResolveFenceposts` in
/// `pkg/controller/deployment/util/deployment_util.go`).
fn unavailable_now(facts: &OwnerFacts, wanted: i64) -> Option<i64> {
    let strategy = &facts.spec.strategy;
    if facts.spec.paused || strategy.kind == "Recreate" {
        return None;
    }
    let share = |percent: i64| wanted.saturating_mul(percent) / 100;
    let number = match &strategy.rolling_update.max_unavailable {
        None => share(DEFAULT_UNAVAILABLE),
        Some(IntOrPercent::Int(number)) => *number,
        Some(IntOrPercent::Percent(text)) => share(text.strip_suffix('%')?.parse().ok()?),
        Some(IntOrPercent::Invalid(_)) => return None,
    };
    let has_surge = match &strategy.rolling_update.max_surge {
        Some(IntOrPercent::Int(number)) => *number > 0,
        Some(IntOrPercent::Percent(text)) => text != "0%",
        None | Some(IntOrPercent::Invalid(_)) => true,
    };
    Some(if has_surge { number } else { number.max(1) })
}

/// Returns whether a pod counts as available.
fn is_available(pod: &Pod) -> bool {
    !pod.node_name.is_empty() && pod.status.phase == "Running" && !pod.status.unready && !pod.is_terminating()
}

fn replica_set(pod: &Pod) -> Option<&Str> {
    pod.metadata.controller().filter(|owner| owner.kind == "ReplicaSet").map(|owner| &owner.name)
}

/// Returns whether the pod's ReplicaSet is newer than those of all other pods, by creation, or by its pods where it was not read.
fn is_newer(cluster: &Cluster, pod: &Pod, old: &[Arc<Pod>]) -> bool {
    let made = |pod: &Pod| {
        let known = replica_set(pod).and_then(|set| cluster.replica_sets.namespaced(&pod.metadata.namespace, set));
        known.and_then(|set| set.metadata.creation_timestamp).or(pod.metadata.creation_timestamp)
    };
    let own = made(pod);
    !old.is_empty() && old.iter().all(|other| made(other) <= own)
}
