//! What-ifs in the verbs that operators use: what becomes of the pods if a node is drained, a zone is lost, a workload
//! is scaled; how many more of a pod fit.
//!
//! A verb is typed, parsed ([`Verb`], by the grammar of [`crate::session`]) and applied to a [`Stage`]: a scheduler, or a branch of a session. Where pods are
//! evicted or lost, their controllers are emulated: replacements are created, go through the queue, and count in their
//! budgets again once they have a node. The real cluster is never changed.

mod answer;
mod budgets;
mod capacity;
mod disrupt;
mod edits;
mod error;
mod flood;
mod manifest;
mod names;
mod scale;
mod stage;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Block, Departure, Elsewhere, NodeAnswer, NodeEnd, Note, PodAnswer, PodEnd, Stay, Tally, Whereabouts};
pub use capacity::{Capacity, CapacityEnd, Watch, capacity};
pub use error::WhatIfError;
pub use flood::{Flood, FloodVictim, flood};
pub use manifest::*;
pub use names::pod_named;
pub use scale::{pod_or_workload_named, scalable, workload_of};
pub use stage::{OnBranch, Rehearsal, Stage};

use crate::cluster::{Cluster, Controller, Object, Pod, Str};
pub use crate::fixes::Originals;
use crate::scheduler::Operation;
use crate::session::{Edit, EditError};
pub use crate::session::{Lost, Owner, OwnerKind, PriorityWord, TaintEdit, Verb, VerbError};

/// Applies a verb, and runs the scheduler until nothing changes where pods come or go ([`Verb::settles`]).
///
/// # Errors
/// When the verb names what the cluster does not have, or changes nothing. The stage is then as it was.
pub fn apply(stage: &mut dyn Stage, verb: &Verb, originals: Originals<'_>) -> Result<Answer, WhatIfError> {
    let without = if is_compared(verb) {
        let mut without = Rehearsal::new(stage.scheduler().clone());
        settled(&mut without, stage)
    } else {
        None
    };
    apply_compared(stage, without, verb, originals)
}

/// Applies verbs in order. Unless all only ask, runs until nothing changes with them and without them, and returns the pods that end
/// elsewhere. A run that took too many steps is noted in the last answer, and the pods that it left are not among them.
///
/// # Errors
/// As of [`apply`], with the position of the verb.
pub fn apply_all(
    with: &mut dyn Stage,
    without: &mut Rehearsal,
    verbs: &[Verb],
    originals: Originals<'_>,
) -> Result<(Vec<Answer>, Vec<Elsewhere>), (usize, WhatIfError)> {
    let mut answers = Vec::new();
    if !verbs.iter().all(Verb::asks) {
        with.set_bound(with.bound().halved(with.scheduler().state()));
        without.set_bound(without.bound().halved(without.scheduler().state()));
    }
    for (at, verb) in verbs.iter().enumerate() {
        let answer = if at == 0 && is_compared(verb) {
            // Only the first verb's run without it is also that without all verbs.
            let settled = settled(without, with);
            apply_compared(with, settled, verb, originals)
        } else {
            apply(with, verb, originals)
        };
        answers.push(answer.map_err(|error| (at, error))?);
    }
    let elsewhere = if verbs.iter().all(Verb::asks) { Vec::new() } else { settle_both(with, without, &mut answers) };
    Ok((answers, elsewhere))
}

/// Returns whether the end of a verb is compared with the end without it.
fn is_compared(verb: &Verb) -> bool {
    matches!(verb, Verb::Add { .. })
}

/// Applies a verb; `without` is the cluster at the end of a run without it.
fn apply_compared(stage: &mut dyn Stage, without: Option<Cluster>, verb: &Verb, originals: Originals<'_>) -> Result<Answer, WhatIfError> {
    let mut answer = Answer::new(verb.clone());
    let cluster = stage.scheduler().state().cluster().clone();
    match verb {
        Verb::Drain(nodes) => {
            let found = |node: &Str| names::node(&cluster, node).map(|node| node.name().clone());
            let nodes = nodes.iter().map(found).collect::<Result<Vec<Str>, _>>()?;
            disrupt::drain(stage, verb, &nodes, &mut answer);
        }
        Verb::Lose(lost) => disrupt::lose(stage, verb, &names::lost_nodes(&cluster, lost)?, &mut answer),
        Verb::Evict(pod) => disrupt::evict(stage, verb, &pod_named(&cluster, pod)?, &mut answer)?,
        Verb::Taint(node, edit) => edits::taint(stage, verb, &names::node(&cluster, node)?, edit, &mut answer)?,
        Verb::Label(node, key, value) => {
            let object = edits::label(&*names::node(&cluster, node)?, key, value.as_ref())?;
            stage.apply(verb, batch(verb, vec![Operation::Update { object }]));
        }
        Verb::Add { count, like } => edits::add(stage, verb, *count, &names::node(&cluster, like)?, &mut answer)?,
        Verb::Scale { owner, replicas } => scale::scale(stage, verb, owner, *replicas, originals, &mut answer)?,
        Verb::Priority(pod, word) => {
            let object = edits::priority(&cluster, &*pod_named(&cluster, pod)?, word)?;
            stage.apply(verb, batch(verb, vec![Operation::Update { object }]));
        }
        Verb::Ungate(pod) => {
            let object = edits::ungate(&*pod_named(&cluster, pod)?)?;
            stage.apply(verb, batch(verb, vec![Operation::Update { object }]));
        }
        Verb::Relax(budget) => {
            let object = edits::relax(&cluster, &*names::budget(&cluster, budget)?)?;
            stage.apply(verb, batch(verb, vec![Operation::Update { object }]));
        }
        Verb::Capacity(pod) => {
            let pod = pod_or_workload_named(&cluster, pod)?;
            answer.capacity = Some(capacity(stage.scheduler(), &pod, &|_| true)?);
        }
        Verb::Flood(pod) => {
            let pod = pod_or_workload_named(&cluster, pod)?;
            answer.flood = Some(flood(stage.scheduler(), &pod, &|_| stage.continues())?);
        }
        Verb::Configure(edit) => stage.configure(edit)?,
        Verb::Release(release) => stage.change_release(*release)?,
        Verb::Edit(edit) => {
            let operation = edit.operation(&cluster).map_err(|error| names::meant_by(&cluster, edit, error))?;
            if !stage.apply(verb, operation) {
                return Err(match edit {
                    Edit::Allow(pod) | Edit::Reject(pod) => WhatIfError::NotWaitingOnPermit(pod.clone()),
                    _ => WhatIfError::NothingChanges,
                });
            }
        }
    }
    if verb.settles() {
        while stage.settle_step() {}
        if stage.bound().is_reached() {
            answer.note(Note::CutShort);
        }
        let end = stage.scheduler().state().cluster();
        let without = without.filter(|_| !stage.bound().is_reached());
        answer.tallies = without.map(|without| [&without, end].map(|end| Tally::of(&cluster, end)));
        answer.preempted = stage.preempted();
        answer.made_again = answer.preempted.keys().filter(|pod| cluster.pods.get(pod).is_some_and(|pod| is_made_again(pod))).count();
    }
    Ok(answer)
}

/// Returns whether a controller makes a pod again that is evicted.
fn is_made_again(pod: &Pod) -> bool {
    matches!(Controller::of(pod), Controller::StatefulSet | Controller::Workload | Controller::DaemonSet | Controller::Unknown)
}

/// Returns the cluster once nothing changes any more without a verb; `None` if that takes too many steps.
fn settled(without: &mut Rehearsal, stage: &dyn Stage) -> Option<Cluster> {
    while stage.continues() && without.settle_step() {}
    (!without.bound().is_reached()).then(|| without.scheduler().state().cluster().clone())
}

fn settle_both(with: &mut dyn Stage, without: &mut dyn Stage, answers: &mut [Answer]) -> Vec<Elsewhere> {
    while with.settle_step() {}
    // A turn of a large group may go far beyond the bound, which both runs share.
    let mut bound = without.bound();
    bound.spend(with.bound().steps_beyond(with.scheduler().state()));
    without.set_bound(bound);
    while with.continues() && without.settle_step() {}
    let is_cut = [without.bound(), with.bound()].map(|bound| bound.is_reached());
    if let Some(answer) = answers.last_mut().filter(|_| is_cut.contains(&true)) {
        answer.note(Note::CutShort);
    }
    let mut elsewhere = Elsewhere::of(without.scheduler(), with.scheduler(), answers);
    let [without, with] = is_cut;
    elsewhere.retain(|Elsewhere { at: [a, b], .. }| !(without && may_move(a, b) || with && may_move(b, a)));
    elsewhere
}

/// Returns the operations of a verb as one.
fn batch(verb: &Verb, operations: Vec<Operation>) -> Operation {
    Operation::Batch { name: verb.to_string(), operations }
}

/// Returns an object after a change of its JSON, for fields that only the serialized form shows.
fn edited(old: &Object, patch: &serde_json::Value) -> Result<Object, WhatIfError> {
    match crate::session::patched(old, patch) {
        Ok(Operation::Update { object }) => Ok(object),
        Ok(_) | Err(EditError::Unchanged { .. }) => Err(WhatIfError::NothingChanges),
        Err(error) => Err(error.into()),
    }
}
