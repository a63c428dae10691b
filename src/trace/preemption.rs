//! A preemption step by step: events that refer to the engine's record, and the record up to the cursor.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::event::Event;
use crate::cluster::{Key, Pod, Str};
use crate::framework::{
    Candidate, DryRunStep, EndingVictims, ExtenderCall, NodeDryRun, PreemptionRecord, ScoreFunction, ScoreFunctionName, SharedList, Status,
    Victim,
};
use crate::odds::Odds;

/// One step of a node's dry run.
#[derive(Clone)]
pub struct DryRunStepAt {
    run: Arc<NodeDryRun>,
    number: u32,
}

impl DryRunStepAt {
    /// Makes the step of a dry run with a number, from 0.
    pub(super) fn new(run: Arc<NodeDryRun>, number: usize) -> Self {
        Self { run, number: u32::try_from(number).unwrap_or(u32::MAX) }
    }

    pub fn node(&self) -> &Str {
        &self.run.node
    }

    pub fn step(&self) -> Option<DryRunStep<'_>> {
        self.run.step(self.number as usize)
    }

    /// Returns the pod that was removed or added back.
    pub fn pod(&self) -> Option<&Arc<Pod>> {
        self.step().and_then(DryRunStep::pod)
    }
}

impl PartialEq for DryRunStepAt {
    fn eq(&self, other: &Self) -> bool {
        self.node() == other.node() && self.step() == other.step()
    }
}

impl fmt::Debug for DryRunStepAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DryRunStepAt({}, {:?})", self.node(), self.step())
    }
}

/// One score function of a preemption.
#[derive(Clone)]
pub struct ScoreFunctionAt {
    preemption: Arc<PreemptionRecord>,
    number: u32,
}

impl ScoreFunctionAt {
    pub fn function(&self) -> Option<&ScoreFunction> {
        self.preemption.score_functions.get(self.number as usize)
    }
}

impl PartialEq for ScoreFunctionAt {
    fn eq(&self, other: &Self) -> bool {
        self.function() == other.function()
    }
}

impl fmt::Debug for ScoreFunctionAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScoreFunctionAt({:?})", self.function())
    }
}

/// Returns a victim's name for a list of the victims on a node, and whether it ends already or goes with its group, maybe elsewhere.
pub fn victim_label(victim: &Victim, node: &str) -> String {
    let mut label = victim.key().to_string();
    if victim.is_terminating() {
        label.push_str(" (terminating)");
    }
    if let Some(group) = victim.group() {
        let on = &victim.pod().node_name;
        let elsewhere = if on.as_str() == node { String::new() } else { format!(" on {on}") };
        label.push_str(&format!(" (with group {group}{elsewhere})"));
    }
    label
}

/// Adds the events of a preemption, in order of occurrence. The steps of dry runs are left out, as the events about their ends hold them.
pub fn record_preemption(preemption: &Arc<PreemptionRecord>, events: &mut Vec<Event>) {
    let runs = preemption.dry_runs.in_order();
    let others = 2 + preemption.extender_calls.len() + preemption.score_functions.len();
    events.reserve(runs.len() + others);
    events.push(Event::PreemptionStarted(preemption.clone()));
    events.extend(runs.iter().map(|run| Event::DryRunFinished(run.clone())));
    events.extend(preemption.extender_calls.iter().map(|call| Event::ExtenderTookPart(call.clone())));
    let scored = |number| Event::CandidatesScored(ScoreFunctionAt { preemption: preemption.clone(), number });
    events.extend((0..preemption.score_functions.len() as u32).map(scored));
    events.extend(preemption.selected().map(|_| Event::CandidateSelected(preemption.clone())));
}

/// Returns the events of a preemption with the steps of dry runs, in order of occurrence.
#[cfg(test)]
pub(crate) fn preemption_events(preemption: &Arc<PreemptionRecord>) -> impl Iterator<Item = Event> {
    let mut events = Vec::new();
    record_preemption(preemption, &mut events);
    let recorded = super::RecordedEvents::new(events, &crate::framework::Snapshot::default());
    recorded.iter().map(std::borrow::Cow::into_owned).collect::<Vec<_>>().into_iter()
}

/// A preemption up to the cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct PreemptionView {
    record: Arc<PreemptionRecord>,
    /// Number of dry runs that have ended.
    finished: usize,
    /// Number of candidates among them.
    candidates: usize,
    /// Number of steps of the current dry run.
    steps: usize,
    /// Extenders that had their part.
    extenders: usize,
    /// Number of score functions that have run.
    functions: usize,
    /// Whether a candidate was chosen.
    selected: bool,
}

impl PreemptionView {
    /// Returns a preemption at its start.
    pub fn started(record: Arc<PreemptionRecord>) -> Self {
        Self { record, finished: 0, candidates: 0, steps: 0, extenders: 0, functions: 0, selected: false }
    }

    /// Returns a preemption at its end.
    pub fn whole(record: Arc<PreemptionRecord>) -> Self {
        let (finished, functions) = (record.dry_runs.in_order().len(), record.score_functions.len());
        let candidates = record.candidates().count();
        let extenders = record.extender_calls.len();
        Self { finished, candidates, steps: 0, extenders, functions, selected: record.selected().is_some(), record }
    }

    /// Applies the next event; ignores events about anything else.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::DryRunStepped(_) => self.steps += 1,
            Event::DryRunFinished(run) => {
                (self.finished, self.steps) = (self.finished + 1, 0);
                self.candidates += usize::from(run.candidate.is_some());
            }
            Event::ExtenderTookPart(_) => self.extenders += 1,
            Event::CandidatesScored(_) => self.functions += 1,
            Event::CandidateSelected(_) => self.selected = true,
            _ => {}
        }
    }

    /// Returns why the pod may not preempt; `None` if it may.
    pub fn ineligible(&self) -> Option<&Status> {
        self.record.ineligible.as_ref()
    }

    /// Returns the pods whose end the pod waits for on its nominated node; `None` if it waits for none.
    pub fn waits_for(&self) -> Option<&Arc<EndingVictims>> {
        self.record.waits_for.as_ref()
    }

    /// Returns the pods whose nomination is cleared, in order; empty until the candidate is chosen, if one is.
    pub fn cleared_nominations(&self) -> &[Key] {
        let is_known = self.selected || self.record.selected().is_none();
        if is_known { &self.record.cleared_nominations } else { &[] }
    }

    /// Returns whether this is only a dry run, because an earlier plugin ended PostFilter before DefaultPreemption.
    pub fn hypothetical(&self) -> bool {
        self.record.hypothetical
    }

    /// Returns the nodes on which eviction might help, in walking order.
    pub fn potential_nodes(&self) -> &[Str] {
        &self.record.potential_nodes
    }

    /// Returns the number of candidates wanted.
    pub fn wanted_candidates(&self) -> usize {
        self.record.wanted_candidates
    }

    /// Returns the number of dry runs that have ended.
    pub fn finished_dry_runs(&self) -> usize {
        self.finished
    }

    /// Returns the number of dry runs that have begun.
    pub fn begun_dry_runs(&self) -> usize {
        self.finished + usize::from(self.steps > 0)
    }

    /// Returns the dry run that has begun and not ended.
    pub fn under_way(&self) -> Option<DryRunView<'_>> {
        self.dry_run_at(self.finished)
    }

    /// Returns the dry runs that have begun, by node name.
    pub fn dry_runs(&self) -> impl Iterator<Item = DryRunView<'_>> {
        self.record.dry_runs.indices_by_name().filter_map(|at| self.dry_run_at(at))
    }

    /// Returns the dry run of a node, if it has begun.
    pub fn dry_run(&self, node: &str) -> Option<DryRunView<'_>> {
        self.dry_run_at(self.record.dry_runs.index_of(node)?)
    }

    fn dry_run_at(&self, at: usize) -> Option<DryRunView<'_>> {
        let run = self.record.dry_runs.in_order().get(at)?;
        match at.cmp(&self.finished) {
            std::cmp::Ordering::Less => Some(DryRunView { run, steps: run.len(), finished: true }),
            std::cmp::Ordering::Equal if self.steps > 0 => Some(DryRunView { run, steps: self.steps, finished: false }),
            _ => None,
        }
    }

    /// Returns the candidates so far, by node name.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.dry_runs().filter_map(DryRunView::candidate)
    }

    /// Returns the number of candidates so far.
    pub fn candidate_count(&self) -> usize {
        self.candidates
    }

    /// Returns a node's candidate so far, with the victims that extenders left it.
    pub fn candidate(&self, node: &str) -> Option<&Candidate> {
        let left = self.after_extenders().and_then(|left| left.iter().find(|candidate| candidate.node == node));
        left.or_else(|| self.dry_run(node).and_then(DryRunView::candidate))
    }

    /// Returns all candidates so far, by node name: those of dry runs, and those that extenders added.
    pub fn all_candidates(&self) -> impl Iterator<Item = &Candidate> {
        let dry_run = self.candidates().map(|candidate| (&candidate.node, candidate));
        let left = self.after_extenders().unwrap_or_default().iter().map(|candidate| (&candidate.node, candidate));
        dry_run.chain(left).collect::<std::collections::BTreeMap<_, _>>().into_values()
    }

    /// Returns whether extenders dropped a candidate.
    pub fn is_dropped(&self, node: &str) -> bool {
        self.after_extenders().is_some_and(|left| left.iter().all(|candidate| candidate.node != node))
    }

    /// Returns the score functions of the release, in order, whether or not they ran.
    pub fn tie_break(&self) -> &'static [ScoreFunctionName] {
        self.record.tie_break
    }

    /// Returns the score functions that have run, in order.
    pub fn score_functions(&self) -> &[ScoreFunction] {
        &self.record.score_functions[..self.functions.min(self.record.score_functions.len())]
    }

    /// Returns the chosen node and all equal ones, by name; `None` before the choice.
    pub fn selected(&self) -> Option<(&Str, &SharedList<Str>)> {
        self.record.selected().filter(|_| self.selected).map(|node| (node, &self.record.best))
    }

    /// Returns the likelihood of each outcome; `None` if nothing is left to chance, or before a candidate is chosen.
    pub fn odds(&self) -> Option<&Arc<Odds>> {
        self.record.odds.as_ref().filter(|_| self.selected)
    }

    /// Returns whether the choice, once it is made, is left to chance.
    pub fn is_chance(&self) -> bool {
        self.record.odds.is_some()
    }

    /// Returns the index into [`Self::potential_nodes`] where the dry run started.
    pub fn offset(&self) -> usize {
        self.record.offset
    }

    /// Returns the chosen candidate, with the victims that extenders left it.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.selected().and_then(|(node, _)| self.record.final_candidate(node))
    }

    /// Returns the parts of extenders so far, in order.
    pub fn extender_calls(&self) -> &[Arc<ExtenderCall>] {
        &self.record.extender_calls[..self.extenders.min(self.record.extender_calls.len())]
    }

    /// Returns the candidates that extenders left, by node name; `None` where none had a say, or not all have had it.
    pub fn after_extenders(&self) -> Option<&[Candidate]> {
        let all = self.extenders >= self.record.extender_calls.len();
        self.record.after_extenders.as_deref().filter(|_| all)
    }
}

/// The fate of a pod in a dry run so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate<'a> {
    /// It was removed and not yet put back.
    Removed,
    /// It was put back and stays.
    Reprieved(&'a Victim),
    /// It must be evicted.
    Victim(&'a Victim),
}

/// A node's dry run up to the cursor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DryRunView<'a> {
    run: &'a NodeDryRun,
    steps: usize,
    finished: bool,
}

impl<'a> DryRunView<'a> {
    pub fn node(self) -> &'a Str {
        &self.run.node
    }

    /// Returns the number of steps so far.
    pub fn len(self) -> usize {
        self.steps
    }

    /// Returns whether there are no steps so far.
    pub fn is_empty(self) -> bool {
        self.steps == 0
    }

    /// Returns a past step by its number from 0.
    pub fn step(self, number: usize) -> Option<DryRunStep<'a>> {
        self.run.step(number).filter(|_| number < self.steps)
    }

    /// Returns the steps so far, in order.
    pub fn steps(self) -> impl DoubleEndedIterator<Item = DryRunStep<'a>> {
        (0..self.steps).filter_map(move |number| self.run.step(number))
    }

    /// Returns the pods of lower priority with their fate so far: those that were put back, in order, then the others, in order
    /// of removal.
    pub fn pods(self) -> Vec<(&'a Arc<Pod>, Fate<'a>)> {
        let put_back = |step: DryRunStep<'a>| match step {
            DryRunStep::Reprieved(victim) => Some((victim.pod(), Fate::Reprieved(victim))),
            DryRunStep::NotReprieved(victim, _) => Some((victim.pod(), Fate::Victim(victim))),
            DryRunStep::Removed(_) | DryRunStep::Filtered(_) => None,
        };
        let mut pods: Vec<(&Arc<Pod>, Fate<'_>)> = self.steps().filter_map(put_back).collect();
        let back: BTreeSet<Key> = pods.iter().map(|(pod, _)| pod.key()).collect();
        let removed = self.steps().filter_map(|step| if let DryRunStep::Removed(pod) = step { Some(pod) } else { None });
        pods.extend(removed.filter(|pod| !back.contains(&pod.key())).map(|pod| (pod, Fate::Removed)));
        pods
    }

    /// Returns the result of the run; `None` while it is under way.
    pub fn status(self) -> Option<&'a Status> {
        self.finished.then_some(&self.run.status)
    }

    /// Returns the candidate that the node became.
    pub fn candidate(self) -> Option<&'a Candidate> {
        self.run.candidate.as_ref().filter(|_| self.finished)
    }
}

#[cfg(test)]
mod tests;
