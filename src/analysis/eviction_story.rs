//! An eviction that a timeline of observed states shows: who evicted a pod, and what the engine decides on the state before it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::agreement::{Preempted, preempted};
use super::why::why;
use crate::cluster::{Cluster, Key, Object, ObservedEvent, Pod, Str};
use crate::framework::Victim;
use crate::scheduler::{Operation, Scheduler};
use crate::session::{Action, Revision};
use crate::trace::{CycleView, Event, Outcome, QueueEntry};

/// The time between an eviction and the event about it, at most: clocks of machines differ, and events come late.
const NEAR: SignedDuration = SignedDuration::from_secs(60);

/// A pod that leaves its node in a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenLeaving {
    /// The index of the revision with which it begins to terminate or is gone.
    pub revision: usize,
    pub pod: Key,
    pub node: Str,
    /// The last moment at which it runs.
    pub before: Timestamp,
    /// The first moment at which it does not.
    pub after: Timestamp,
}

impl SeenLeaving {
    /// Returns whether an event of a time may be about it.
    fn is_near(&self, time: Timestamp) -> bool {
        let earliest = self.before.checked_sub(NEAR).unwrap_or(Timestamp::MIN);
        let latest = self.after.checked_add(NEAR).unwrap_or(Timestamp::MAX);
        (earliest..=latest).contains(&time)
    }
}

/// Returns where a pod left its node last in these revisions; `None` if it did not.
pub fn last_leaving(revisions: &[Arc<Revision>], pod: &Key) -> Option<SeenLeaving> {
    let runs = |cluster: &Cluster| cluster.pods.get(pod).filter(|pod| !pod.node_name.is_empty() && !pod.is_terminating()).cloned();
    let revision = revisions.iter().rposition(|revision| {
        let (before, after) = (runs(&revision.before.cluster), runs(&revision.after.cluster));
        before.is_some_and(|before| after.is_none_or(|after| after.metadata.uid != before.metadata.uid))
    })?;
    let (before, after) = (&revisions[revision].before, &revisions[revision].after);
    let node = runs(&before.cluster)?.node_name.clone();
    Some(SeenLeaving { revision, pod: pod.clone(), node, before: before.clock, after: after.clock })
}

/// A pod that left its node, in the list of all of a timeline.
#[derive(Clone, Debug)]
pub struct ListedLeaving {
    /// Where it left.
    pub seen: SeenLeaving,
    /// Whether a scheduler preempted it, and the pod that it did so for, as far as an event names it.
    pub preempted: Option<Option<Key>>,
}

/// Returns the pods that left their nodes in these revisions, the newest first. `events` reach to their end.
pub fn leavings(revisions: &[Arc<Revision>], events: &[ObservedEvent]) -> Vec<ListedLeaving> {
    let Some(last) = revisions.last() else { return Vec::new() };
    let preemptions = preempted(&last.after.cluster, events);
    let mut by_victim: BTreeMap<&Key, Vec<&Preempted>> = BTreeMap::new();
    for preemption in &preemptions {
        by_victim.entry(&preemption.victim).or_default().push(preemption);
    }
    let mut found = Vec::new();
    for (at, revision) in revisions.iter().enumerate().rev() {
        for pod in touched(revision) {
            let Some(seen) = last_leaving(&revisions[at..=at], &pod) else { continue };
            let seen = SeenLeaving { revision: at, ..seen };
            let near = |preemption: &&&Preempted| preemption.at.is_none_or(|time| seen.is_near(time));
            let event = by_victim.get(&pod).and_then(|all| all.iter().rfind(near));
            let on = |cluster: &Cluster| cluster.pods.get(&pod).is_some_and(|pod| is_preempted(pod));
            let by_condition = || (on(&revision.before.cluster) || on(&revision.after.cluster)).then_some(None);
            let preempted = event.map(|event| event.preemptor.clone().or_else(|| event.gone.clone())).or_else(by_condition);
            found.push(ListedLeaving { seen, preempted });
        }
    }
    found
}

/// Returns whether a condition says that a scheduler preempted a pod.
fn is_preempted(pod: &Pod) -> bool {
    pod.condition("DisruptionTarget").is_some_and(|condition| condition.status == "True" && condition.reason == "PreemptionByScheduler")
}

/// Returns the pods that may leave their nodes in a revision.
fn touched(revision: &Revision) -> BTreeSet<Key> {
    let mut all = BTreeSet::new();
    if let Action::Apply(operation) | Action::WhatIf { operation, .. } = &revision.action {
        changed(operation, &mut all);
    }
    all.extend(
        revision
            .events
            .others()
            .iter()
            .filter_map(|event| if let Event::VictimEvicted { pod, .. } = event { Some(Key::clone(pod)) } else { None }),
    );
    all
}

fn changed(operation: &Operation, out: &mut BTreeSet<Key>) {
    match operation {
        Operation::Batch { operations, .. } => operations.iter().for_each(|operation| changed(operation, out)),
        Operation::Update { object: Object::Pod(pod) } | Operation::Delete { object: Object::Pod(pod) } => drop(out.insert(pod.key())),
        _ => {}
    }
}

/// The relation of a recorded preemption to our decision on the state before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvictionMatch {
    /// We evict the pod too.
    Agrees,
    /// We evict the pod on its node or others on another, which are equal by every score function.
    Equal(Str),
    /// The preemptor fits on a node without an eviction.
    Fits(Str),
    /// We evict these pods on a node.
    Others(Str, Vec<Key>),
    /// We find no pods to evict, and why.
    NoPreemption(String),
    /// No preemption is recorded, or the source does not have the preemptor as it was.
    NotKnown,
}

/// A pod that left its node, the preemption behind it, and our decision.
#[derive(Clone, Debug)]
pub struct EvictionStory {
    /// Where it left.
    pub seen: SeenLeaving,
    pub priority: i32,
    /// The preemption that an event or a condition records near that time.
    pub preemption: Option<Preempted>,
    /// The preemptor as it was before.
    pub preemptor: Option<Arc<Pod>>,
    /// The relation to our decision.
    pub accord: EvictionMatch,
    /// Our decision about the preemptor on the state before.
    pub decision: Option<CycleView>,
    /// The pods of the node that have no lower priority than the preemptor.
    pub not_below: Vec<Key>,
    /// The pods that waited before.
    pub queues: Vec<Arc<QueueEntry>>,
}

impl EvictionStory {
    /// Finds who evicted a pod that left its node. `scheduler` is that before the revision, and `events` reach beyond it.
    pub fn new(seen: SeenLeaving, scheduler: &Scheduler, events: &[ObservedEvent]) -> Self {
        let cluster = scheduler.state().cluster();
        let is_near = |preemption: &Preempted| preemption.at.is_none_or(|time| seen.is_near(time));
        let preemption = preempted(cluster, events).into_iter().rfind(|preemption| preemption.victim == seen.pod && is_near(preemption));
        let preemptor = preemption.as_ref().and_then(|preemption| cluster.pods.get(preemption.preemptor.as_ref()?)).cloned();
        let preemptor = preemptor.filter(|pod| pod.is_pending());
        let decision = preemptor.as_ref().map(|pod| scheduler.view_of(pod).showing(&pod.key()));
        let accord = decision.as_ref().map_or(EvictionMatch::NotKnown, |view| compare(view, &seen));
        let is_not_below = |pod: &&Arc<Pod>| {
            preemptor
                .as_ref()
                .is_some_and(|preemptor| pod.node_name == seen.node && !pod.is_terminal() && pod.priority() >= preemptor.priority())
        };
        let not_below = cluster.pods.iter().filter(is_not_below).map(|pod| pod.key()).collect();
        let priority = cluster.pods.get(&seen.pod).map_or(0, |pod| pod.priority());
        let queues = scheduler.state().queue().view().entries.values().cloned().collect();
        Self { seen, priority, preemption, preemptor, accord, decision, not_below, queues }
    }
}

fn compare(view: &CycleView, seen: &SeenLeaving) -> EvictionMatch {
    if let (Some(Outcome::Scheduled), Some((node, ..))) = (&view.outcome, &view.scoring.selected) {
        return EvictionMatch::Fits(node.clone());
    }
    let chosen = view.preemption.as_ref().and_then(|preemption| Some((preemption, preemption.selected()?)));
    let Some((preemption, (node, best))) = chosen else { return EvictionMatch::NoPreemption(why(view)) };
    let evicts =
        |node: &Str| preemption.candidate(node).is_some_and(|candidate| candidate.victims.iter().any(|victim| victim.key() == seen.pod));
    if evicts(node) {
        return EvictionMatch::Agrees;
    }
    if best.contains(&seen.node) && evicts(&seen.node) {
        return EvictionMatch::Equal(node.clone());
    }
    let victims = preemption.candidate(node).map(|candidate| candidate.victims.iter().map(Victim::key).collect());
    EvictionMatch::Others(node.clone(), victims.unwrap_or_default())
}
