//! Drains, lost nodes and evictions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::answer::{Answer, Block, Departure, NodeAnswer, NodeEnd, Note, PodEnd, Stay};
use super::budgets::Ledger;
use super::error::WhatIfError;
use super::stage::Stage;
use crate::admission::{Admission, Policies, Refusal};
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Cluster, Controller, DrainAction, Key, Kind, MissingReason, Object, Pod, Str};
use crate::controllers::jobs::Removal;
use crate::controllers::{Draft, pods as owners};
use crate::scheduler::Operation;
use crate::session::Edit;
use crate::session::Verb;

/// Makes the pods in place of those that go.
struct Replacing {
    neighbors: Arc<Neighbors>,
    admission: Admission,
}

impl Replacing {
    fn on(stage: &dyn Stage) -> Self {
        let neighbors = stage.neighbors();
        let admission = Admission::new(Policies::of(&neighbors), stage.scheduler().state().config().emulation);
        Self { neighbors, admission }
    }

    /// Returns the pod that the controller makes; `None` if none is made.
    fn replacement(&self, stage: &dyn Stage, draft: &Draft, pod: &Pod) -> Option<Pod> {
        owners::replacement(draft, pod, stage.scheduler().state().clock(), &self.neighbors, Removal::Disrupted)
    }

    /// Admits the pod that is made in place of another, if one is.
    fn admit(&mut self, cluster: &Cluster, old: &Pod, new: Option<Pod>) -> Result<Option<Pod>, Refusal> {
        match &new {
            Some(new) => self.admission.replace(cluster, old, new)?,
            None if old.is_terminal() => {}
            None => self.admission.forget(cluster, old),
        }
        Ok(new)
    }
}

/// Drains nodes one after another: cordons all of them, then evicts the pods of each in rounds, for as long as budgets
/// allow. A round ends when the scheduler has placed the replacements, or nothing changes any more.
pub(super) fn drain(stage: &mut dyn Stage, verb: &Verb, nodes: &[Str], answer: &mut Answer) {
    note_unknown_budgets(stage.scheduler().state().cluster(), answer);
    let mut draft = Draft::new(stage.scheduler().state().cluster());
    for node in nodes {
        // A node that is cordoned already stays so.
        if let Ok(Operation::Update { object }) = Edit::Cordon(node.clone()).operation(draft.cluster()) {
            draft.put(object);
        }
    }
    commit(stage, verb, draft, answer);
    let mut ledger = Ledger::default();
    let mut replacing = Replacing::on(stage);
    let mut waits = false;
    for node in nodes {
        let end = if waits { NodeEnd::NotReached } else { drain_node(stage, verb, node, (&mut replacing, &mut ledger), answer) };
        waits |= end == NodeEnd::Blocked;
        answer.nodes.push(NodeAnswer { node: node.clone(), end });
    }
    settle_with_budgets(stage, verb, &mut ledger, answer);
}

fn note_unknown_budgets(cluster: &Cluster, answer: &mut Answer) {
    if cluster.unknown.budgets {
        answer.note(Note::BudgetsUnknown(cluster.unknown.why(Kind::PodDisruptionBudget).unwrap_or(MissingReason::NotInSource)));
    }
}

/// Applies a draft as one operation, unless it is empty.
fn commit(stage: &mut dyn Stage, verb: &Verb, draft: Draft, answer: &mut Answer) {
    if !draft.is_empty() {
        answer.not_created(&stage.apply_within(Some(verb), &verb.to_string(), draft.into_operations()));
    }
}

/// Returns the pods on a node, by namespace and name.
fn pods_on(cluster: &Cluster, node: &Str) -> Vec<Arc<Pod>> {
    cluster.pods.iter().filter(|pod| pod.node_name == *node).cloned().collect()
}

fn drain_node(
    stage: &mut dyn Stage,
    verb: &Verb,
    node: &Str,
    (replacing, ledger): (&mut Replacing, &mut Ledger),
    answer: &mut Answer,
) -> NodeEnd {
    let mut evictable: Vec<Arc<Pod>> = Vec::new();
    let mut bare: Vec<Arc<Pod>> = Vec::new();
    for pod in pods_on(stage.scheduler().state().cluster(), node) {
        match DrainAction::of(&pod) {
            DrainAction::LeavesMirror => answer.pod(pod.key(), node.clone(), PodEnd::Stays(Stay::Mirror)),
            DrainAction::LeavesDaemonSet => answer.pod(pod.key(), node.clone(), PodEnd::Stays(Stay::DaemonSet)),
            DrainAction::NeedsForce => bare.push(pod),
            DrainAction::Evicts => evictable.push(pod),
        }
    }
    if !bare.is_empty() {
        let blocks = blocks_of(stage.scheduler().state().cluster(), &bare, &evictable);
        return NodeEnd::Bare { pods: bare.iter().map(|pod| pod.key()).collect(), blocks };
    }
    loop {
        let mut draft = Draft::new(stage.scheduler().state().cluster());
        ledger.give_back(&mut draft);
        let mut refused: Vec<(Arc<Pod>, Block)> = Vec::new();
        for pod in std::mem::take(&mut evictable) {
            // It may have been preempted meanwhile.
            if draft.cluster().pods.get(&pod.key()).is_none_or(|now| now.metadata.uid != pod.metadata.uid) {
                answer.pod(pod.key(), node.clone(), PodEnd::Gone(Departure::Terminating));
                continue;
            }
            if let Err(block) = disrupt(stage, &mut draft, &pod, (replacing, ledger), answer) {
                refused.push((pod, block));
            }
        }
        let blocked = !refused.is_empty();
        let is_stuck = draft.is_empty();
        commit(stage, verb, draft, answer);
        if is_stuck || !blocked {
            for (pod, block) in refused {
                let block = because_of_replacements(block, ledger);
                answer.pod(pod.key(), node.clone(), PodEnd::Stays(Stay::Blocked(block)));
            }
            return if blocked { NodeEnd::Blocked } else { NodeEnd::Drained };
        }
        evictable = refused.into_iter().map(|(pod, _)| pod).collect();
        while !ledger.is_settled(stage.scheduler().state().cluster()) && stage.settle_step() {}
    }
}

/// Returns what would stop the evictions from a node, each budget once. No replacement gives a disruption of a bare pod back,
/// so these take them one after another; other pods count against what their budgets allow now.
fn blocks_of(cluster: &Cluster, bare: &[Arc<Pod>], others: &[Arc<Pod>]) -> Vec<Block> {
    let (mut blocks, mut seen) = (Vec::new(), BTreeSet::new());
    let mut add = |block: Block| {
        let block = as_of(cluster, block);
        if seen.insert(block.clone()) {
            blocks.push(block);
        }
    };
    let (mut draft, mut ledger) = (Draft::new(cluster), Ledger::default());
    bare.iter().filter_map(|pod| ledger.evict(&mut draft, pod, None).err()).for_each(&mut add);
    let alone = |pod: &Arc<Pod>| Ledger::default().evict(&mut Draft::new(cluster), pod, None).err();
    others.iter().filter_map(alone).for_each(add);
    blocks
}

/// Returns a block with the numbers that its budget has in a cluster.
fn as_of(cluster: &Cluster, block: Block) -> Block {
    match block {
        Block::Exhausted { budget, allowed, healthy } => match cluster.pod_disruption_budgets.get(&budget) {
            Some(now) => Block::exhausted(now),
            None => Block::Exhausted { budget, allowed, healthy },
        },
        other => other,
    }
}

/// Returns the block with the replacements that the budget waits for, if there are any.
fn because_of_replacements(block: Block, ledger: &Ledger) -> Block {
    match block {
        Block::Exhausted { budget, allowed, healthy } => {
            let replacements = ledger.awaited(&budget);
            if replacements.is_empty() { Block::Exhausted { budget, allowed, healthy } } else { Block::Waits { budget, replacements } }
        }
        other => other,
    }
}

/// Deletes a pod and lets its controller make another, if budgets let it go.
fn disrupt(
    stage: &dyn Stage,
    draft: &mut Draft,
    pod: &Arc<Pod>,
    (replacing, ledger): (&mut Replacing, &mut Ledger),
    answer: &mut Answer,
) -> Result<(), Block> {
    let new = replacing.replacement(stage, draft, pod);
    ledger.evict(draft, pod, new.as_ref().map(Pod::key).as_ref())?;
    replace(draft, pod, new, (replacing, ledger), answer);
    Ok(())
}

/// Deletes a pod and makes the one in its place.
fn replace(draft: &mut Draft, pod: &Arc<Pod>, new: Option<Pod>, (replacing, ledger): (&mut Replacing, &mut Ledger), answer: &mut Answer) {
    let old = draft.cluster().clone();
    owners::remove(draft, pod);
    let made = new.as_ref().map(Pod::key);
    let end = match replacing.admit(&old, pod, new) {
        Err(refusal) => {
            if let Some(made) = &made {
                ledger.withdraw(made);
            }
            PodEnd::Gone(Departure::Refused(refusal))
        }
        Ok(Some(new)) => {
            let key = new.key();
            owners::create(draft, &old, pod, new, &mut answer.notes);
            PodEnd::Recreated(key)
        }
        Ok(None) if pod.is_terminal() => PodEnd::Gone(Departure::Ended),
        Ok(None) if pod.is_terminating() => PodEnd::Gone(Departure::Terminating),
        Ok(None) => PodEnd::Gone(match Controller::of(pod) {
            Controller::DaemonSet => Departure::DaemonSet,
            Controller::Node => Departure::Mirror,
            Controller::Workload => Departure::JobFails,
            _ => Departure::Bare,
        }),
    };
    answer.pod(pod.key(), pod.node_name.clone(), end);
}

/// Loses nodes: deletes them and what belongs to them, and lets controllers make the pods anew. Budgets count the
/// healthy pods that are lost, but block nothing.
pub(super) fn lose(stage: &mut dyn Stage, verb: &Verb, nodes: &[Str], answer: &mut Answer) {
    let mut draft = Draft::new(stage.scheduler().state().cluster());
    let lost: Vec<Arc<Pod>> = draft.cluster().pods.iter().filter(|pod| nodes.contains(&pod.node_name)).cloned().collect();
    for node in nodes {
        let name = Key { namespace: Str::default(), name: node.clone() };
        draft.delete(Kind::Node, &name);
        draft.delete(Kind::CSINode, &name);
        let slices = draft.cluster().resource_slices.iter().filter(|slice| slice.spec.node_name.as_ref() == Some(node));
        let slices: Vec<Key> = slices.map(|slice| slice.metadata.key()).collect();
        for slice in slices {
            draft.delete(Kind::ResourceSlice, &slice);
        }
        answer.nodes.push(NodeAnswer { node: node.clone(), end: NodeEnd::Lost });
    }
    lose_pods(stage, verb, draft, &lost, answer);
}

/// Loses pods at once after the changes of a draft, without asking budgets, which count the healthy ones. Controllers make them anew.
fn lose_pods(stage: &mut dyn Stage, verb: &Verb, mut draft: Draft, pods: &[Arc<Pod>], answer: &mut Answer) {
    let (mut replacing, mut ledger) = (Replacing::on(stage), Ledger::default());
    for pod in pods {
        let new = replacing.replacement(stage, &draft, pod);
        ledger.lose(&mut draft, pod, new.as_ref().map(Pod::key).as_ref());
        replace(&mut draft, pod, new, (&mut replacing, &mut ledger), answer);
    }
    commit(stage, verb, draft, answer);
    settle_with_budgets(stage, verb, &mut ledger, answer);
}

/// Evicts one pod.
pub(super) fn evict(stage: &mut dyn Stage, verb: &Verb, pod: &Arc<Pod>, answer: &mut Answer) -> Result<(), WhatIfError> {
    if pod.node_name.is_empty() {
        return Err(WhatIfError::NotOnANode(pod.key()));
    }
    note_unknown_budgets(stage.scheduler().state().cluster(), answer);
    let mut draft = Draft::new(stage.scheduler().state().cluster());
    let (mut replacing, mut ledger) = (Replacing::on(stage), Ledger::default());
    match disrupt(stage, &mut draft, pod, (&mut replacing, &mut ledger), answer) {
        Ok(()) => commit(stage, verb, draft, answer),
        Err(block) => answer.pod(pod.key(), pod.node_name.clone(), PodEnd::Stays(Stay::Blocked(block))),
    }
    settle_with_budgets(stage, verb, &mut ledger, answer);
    Ok(())
}

/// Deletes the pods of a node that do not tolerate its NoExecute taints, without asking budgets.
pub(super) fn drive_out(stage: &mut dyn Stage, verb: &Verb, object: Object, pods: &[Arc<Pod>], answer: &mut Answer) {
    let mut draft = Draft::new(stage.scheduler().state().cluster());
    draft.put(object);
    lose_pods(stage, verb, draft, pods, answer);
}

/// Runs until nothing changes, then gives budgets the disruptions of the placed replacements back.
fn settle_with_budgets(stage: &mut dyn Stage, verb: &Verb, ledger: &mut Ledger, answer: &mut Answer) {
    while stage.settle_step() {}
    let mut draft = Draft::new(stage.scheduler().state().cluster());
    if ledger.give_back(&mut draft) {
        commit(stage, verb, draft, answer);
    }
}
