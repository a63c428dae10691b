//! The reaction of controllers to a fix: they make deleted and preempted pods again, and a changed template makes all pods of its
//! workload anew.
//!
//! A fix holds if the pod still gets in once they have reacted and the scheduler has run until nothing changes. Other pending
//! pods are left out, as in every decision of a search.

use std::sync::Arc;

use super::change::{Change, PodChange};
use super::trial::Trials;
use super::{Fix, FixOutcome, Fixes, Unproposed, operations};
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Cluster, Controller, Key, Kind, Object, Pod, Str};
use crate::controllers::jobs::{Removal, failed_job};
use crate::controllers::{Draft, Workload, pods};
use crate::limits::engine;
use crate::scheduler::{ObjectEdit, Operation, Quiescence, Scheduler};
use crate::trace::{CycleView, Event};

/// The reaction of controllers to a fix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reaction {
    /// The pods that they make in place of deleted and preempted ones.
    pub recreated: Vec<Recreated>,
    /// The preempted pods that no controller makes again.
    pub lost: Vec<Key>,
    /// The Jobs that fail with a pod that goes.
    pub failed_jobs: Vec<Key>,
    /// The node whose pods are preempted for the pod; `None` if none are.
    pub evicts_on: Option<Str>,
    /// Whether the run ended before nothing changed any more: a pod without a node may still get one.
    pub is_cut: bool,
    /// The other pending pods of the workload whose template changes; `None` without any.
    pub siblings: Option<Siblings>,
}

/// A pod that a controller makes in place of a deleted or preempted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recreated {
    /// The pod that is gone.
    pub pod: Key,
    pub workload: Workload,
    /// The pod in its place.
    pub replacement: Key,
    /// The node that it gets; `None` where it stays pending.
    pub node: Option<Str>,
}

/// The pending pods of a workload that get the same change as the pod, which is one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Siblings {
    pub workload: Workload,
    /// Number of pods that get in, with the pod.
    pub placed: usize,
    /// Number of pods that were tried, with the pod.
    pub of: usize,
    /// Number of further pods, which were not tried.
    pub untried: usize,
}

/// Leaves out the fixes from `first` on that controllers undo, and records what they do after the others.
pub(super) fn keep_those_that_hold(trials: &mut Trials<'_>, fixes: &mut Fixes, first: usize) {
    let mut kept = fixes.fixes.split_off(first);
    let mut undone = Vec::new();
    kept.retain_mut(|fix| {
        fix.reaction != Reaction::default()
            || match react(trials, fix) {
                Ok(reaction) => {
                    fix.reaction = reaction;
                    true
                }
                Err(by) => {
                    undone.push(by);
                    false
                }
            }
    });
    fixes.fixes.extend(kept);
    for by in undone {
        fixes.note_undone(by);
    }
}

impl Fixes {
    /// Records that the deletion of a pod is undone, once for each workload.
    pub(super) fn note_undone(&mut self, by: Option<Recreated>) {
        let Some(by) = by else { return };
        let is_known = |one: &Unproposed| matches!(one, Unproposed::Undone(known) if known.workload == by.workload);
        if !self.unproposed.iter().any(is_known) {
            self.unproposed.push(Unproposed::Undone(by));
        }
    }
}

/// Returns a fix with the reaction of controllers; `Err` if they undo it, with the pod that takes the place.
pub(super) fn held(trials: &mut Trials<'_>, fix: Fix) -> Result<Fix, Option<Recreated>> {
    let reaction = react(trials, &fix)?;
    Ok(Fix { reaction, ..fix })
}

/// Returns what controllers do after a fix; `Err` if the pod does not get in then, with the pod in its place.
fn react(trials: &mut Trials<'_>, fix: &Fix) -> Result<Reaction, Option<Recreated>> {
    let cluster = trials.scheduler().state().cluster().clone();
    let first = trials.first.iter().filter(|first| !fix.changes.contains(first));
    let all: Vec<Change> = first.chain(&fix.changes).cloned().collect();
    let deleted: Vec<Arc<Pod>> = all.iter().filter_map(|change| made_again(&cluster, change)).collect();
    let mut siblings = if changes_template(&all) || opens_node(&all) { siblings(&cluster, trials.pod()) } else { Vec::new() };
    let untried = siblings.len().saturating_sub(engine::REACTING_SIBLINGS);
    siblings.truncate(engine::REACTING_SIBLINGS);
    let evicts = fix.outcome == FixOutcome::Preempts;
    if deleted.is_empty() && siblings.is_empty() && !evicts {
        return Ok(Reaction::default());
    }
    let workload = Workload::of(&cluster, trials.pod());
    if deleted.is_empty() && has_room_for(trials, fix, siblings.len()) {
        let of = siblings.len() + 1;
        return Ok(Reaction { siblings: workload.map(|workload| Siblings { workload, placed: of, of, untried }), ..Reaction::default() });
    }
    if !trials.may_continue() || !trials.may_try_group() {
        return Err(None);
    }
    let Some(mut world) = World::after(trials, &all, &deleted) else { return Ok(Reaction::default()) };
    world.run(trials, &cluster);
    let mut together = None;
    if let Some(workload) = workload.filter(|_| !siblings.is_empty()) {
        for sibling in &siblings {
            world.add_changed(sibling, &all);
        }
        world.run(trials, &cluster);
        let placed = siblings.iter().filter(|sibling| world.is_in(&sibling.key())).count();
        together = Some(Siblings { workload, placed: placed + 1, of: siblings.len() + 1, untried });
    }
    let mut reaction = Reaction { siblings: together, ..world.reaction.clone() };
    for one in &mut reaction.recreated {
        let pod = world.scheduler.state().cluster().pods.get(&one.replacement);
        one.node = pod.map(|pod| pod.node_name.clone()).filter(|node| !node.is_empty());
    }
    if world.is_in(&trials.pod().key()) {
        return Ok(reaction);
    }
    Err(reaction.recreated.into_iter().find(|one| one.node.is_some()))
}

/// Returns whether a fix opens more nodes than there are siblings, each of which takes a place on one node and changes no other.
fn has_room_for(trials: &Trials<'_>, fix: &Fix, siblings: usize) -> bool {
    let has_terms = trials.pod().spec.affinity.as_ref().is_some_and(|a| a.pod_affinity.is_some() || a.pod_anti_affinity.is_some());
    let claims = trials.pod().spec.volumes.iter().any(|volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some());
    let is_plain = !claims && trials.pod().spec.resource_claims.is_empty();
    fix.outcome == FixOutcome::Scheduled && fix.nodes.len() > siblings && trials.is_local() && !has_terms && is_plain
}

/// Returns the pod that a change deletes, if its controller makes another.
fn made_again(cluster: &Cluster, change: &Change) -> Option<Arc<Pod>> {
    let Change::Delete(Kind::Pod, key) = change else { return None };
    let pod = cluster.pods.get(key).filter(|pod| !pod.is_terminal())?;
    matches!(Controller::of(pod), Controller::StatefulSet | Controller::Workload | Controller::Unknown).then(|| pod.clone())
}

/// Returns whether changes of a pod go to the template of its owner. Only tolerations can be added to a pod that exists, and gates
/// removed.
pub(super) fn changes_template(changes: &[Change]) -> bool {
    let of_spec = |change: &Change| match change {
        Change::Pod(change) => !matches!(change, PodChange::Tolerate(_) | PodChange::RemoveGates(_)),
        _ => false,
    };
    changes.iter().any(of_spec)
}

/// Returns whether changes add or open a node, whose room the siblings of a pod may take as well.
fn opens_node(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::Node(..) | Change::Create { object: Object::Node(_), .. }))
}

/// Returns the other pending pods of a pod's controller, by name.
fn siblings(cluster: &Cluster, pod: &Pod) -> Vec<Arc<Pod>> {
    let Some(owner) = pod.metadata.controller() else { return Vec::new() };
    if !matches!(Controller::of(pod), Controller::StatefulSet | Controller::Workload) {
        return Vec::new();
    }
    let is_sibling = |other: &&Arc<Pod>| {
        other.is_pending()
            && !other.is_terminating()
            && other.key() != pod.key()
            && other.metadata.controller().is_some_and(|its| its.kind == owner.kind && its.name == owner.name)
    };
    cluster.pods.in_namespace(&pod.metadata.namespace).filter(is_sibling).cloned().collect()
}

/// A cluster in which controllers react.
struct World {
    scheduler: Scheduler,
    settling: Quiescence,
    /// The pod that the fix is for.
    pod: Key,
    /// Victims of preemption that no controller has been asked about, each with whether it is evicted for that pod.
    preempted: Vec<(Key, bool)>,
    reaction: Reaction,
}

impl World {
    /// Makes the changes, and the pods in place of the deleted ones; `None` where a change is not possible. The pod enters the
    /// queue before them, because it waits longer.
    fn after(trials: &mut Trials<'_>, changes: &[Change], deleted: &[Arc<Pod>]) -> Option<Self> {
        let pod = trials.changed_pod(changes)?;
        let scheduler = trials.alone();
        let cluster = scheduler.state().cluster().clone();
        let others: Vec<Change> = changes.iter().filter(|change| !matches!(change, Change::Pod(_))).cloned().collect();
        let mut draft = Draft::new(&cluster);
        for operation in operations(&cluster, &pod.key(), &others)? {
            match operation {
                Operation::Delete { object: Object::Pod(pod) } => pods::remove(&mut draft, &pod),
                Operation::Delete { object } => draft.delete(object.kind(), &object.key()),
                Operation::Create { object } | Operation::Update { object } => draft.put(object),
                _ => {}
            }
        }
        let key = pod.key();
        draft.put(Object::Pod(pod));
        let mut world = Self { scheduler, settling: Quiescence::default(), pod: key, preempted: Vec::new(), reaction: Reaction::default() };
        for old in deleted {
            world.make_again(trials.background().neighbors, &mut draft, &cluster, old, Removal::Deleted);
        }
        world.apply(draft.into_operations());
        Some(world)
    }

    /// Makes the pod in place of one that is gone. Returns whether its controller does.
    fn make_again(&mut self, neighbors: &Neighbors, draft: &mut Draft, before: &Cluster, old: &Arc<Pod>, removal: Removal) -> bool {
        if let Some(job) = failed_job(neighbors, draft, old, removal) {
            if !self.reaction.failed_jobs.contains(&job) {
                self.reaction.failed_jobs.push(job);
            }
            return false;
        }
        let now = self.scheduler.state().clock();
        // A DaemonSet makes the pod of a node again, for the same node.
        let of_daemon_set =
            || (Controller::of(old) == Controller::DaemonSet && !old.is_terminal()).then(|| pods::successor(draft, old, now));
        let Some(new) = pods::replacement(draft, old, now, neighbors, removal).or_else(of_daemon_set) else { return false };
        let Some(workload) = Workload::of(before, old) else { return false };
        self.reaction.recreated.push(Recreated { pod: old.key(), workload, replacement: new.key(), node: None });
        pods::create(draft, before, old, new, &mut Vec::new());
        true
    }

    /// Runs until nothing changes, and makes the preempted pods again each time. Counts the steps.
    fn run(&mut self, trials: &mut Trials<'_>, before: &Cluster) {
        let mut count = 0;
        loop {
            let operations = self.settle(trials, engine::REACTION_STEPS.saturating_sub(count));
            trials.spend(operations);
            count += operations;
            let cluster = self.scheduler.state().cluster().clone();
            let mut draft = Draft::new(&cluster);
            for (key, is_own) in std::mem::take(&mut self.preempted) {
                // A pod that a controller made in this run is on its list already.
                let Some(old) = before.pods.get(&key) else { continue };
                if is_own {
                    self.reaction.evicts_on = Some(old.node_name.clone());
                }
                let is_made = self.make_again(trials.background().neighbors, &mut draft, before, old, Removal::Disrupted);
                if !is_made && Controller::of(old) == Controller::None {
                    self.reaction.lost.push(key);
                }
            }
            if draft.is_empty() || self.reaction.is_cut {
                return;
            }
            self.apply(draft.into_operations());
        }
    }

    fn apply(&mut self, operations: Vec<Operation>) {
        self.scheduler.apply(Operation::Batch { name: String::new(), operations });
        self.settling = Quiescence::default();
    }

    /// Adds a pod with the changes that another pod of its template gets.
    fn add_changed(&mut self, pod: &Pod, changes: &[Change]) {
        let Ok(mut written) = serde_json::to_value(pod) else { return };
        changes.iter().filter(|change| matches!(change, Change::Pod(_))).for_each(|change| change.edit(&mut written));
        if let Ok(changed) = serde_json::from_value::<Pod>(written) {
            self.apply(vec![Operation::Create { object: Object::Pod(Arc::new(changed)) }]);
        }
    }

    /// Runs until nothing changes, for a limited number of operations, which it returns, and as long as pod groups may be tried.
    fn settle(&mut self, trials: &mut Trials<'_>, limit: usize) -> usize {
        let mut count = 0;
        while count < limit && trials.may_try_group() {
            let Some(operation) = self.scheduler.next_operation(&self.settling) else { return count };
            let events = self.scheduler.apply(operation);
            self.settling.observe(&events);
            count += 1;
            if events.iter().any(|event| matches!(event, Event::Group(_))) {
                trials.spend_on_group(&CycleView::of(&events));
            }
            for event in &events {
                let Event::VictimEvicted { pod: victim, preemptor, .. } = event else { continue };
                self.preempted.push((Key::clone(victim), **preemptor == self.pod));
            }
        }
        self.reaction.is_cut = self.scheduler.next_operation(&self.settling).is_some();
        count
    }

    /// Returns whether a pod has a node, or waits for its victims to end.
    fn is_in(&self, pod: &Key) -> bool {
        let state = self.scheduler.state();
        let Some(known) = state.cluster().pods.get(pod) else { return false };
        !known.node_name.is_empty() || state.queue().nominated_node(known).is_some() || state.queue().get(pod).is_none()
    }
}

/// Returns the edits that leave only pods in the queues that count on a node.
pub(super) fn without_waiting_pods(scheduler: &Scheduler) -> Vec<ObjectEdit> {
    let queue = scheduler.state().queue();
    let waiting = queue.active_pods().chain(queue.backoff_pods()).chain(queue.unschedulable_pods());
    let pods = waiting.filter_map(|info| scheduler.state().cluster().pods.get(&info.key()));
    // Filters count nominated pods on their nodes, and a group needs its members.
    let others = pods.filter(|pod| queue.nominated_node(pod).is_none() && pod.group_key().is_none());
    others.map(|pod| ObjectEdit::Remove(Kind::Pod, pod.key())).collect()
}
