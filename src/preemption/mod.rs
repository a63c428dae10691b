//! Preemption: which pods of lower priority to evict, and on which node, so that a pod can be scheduled.
//!
//! Mirrors `pkg/scheduler/framework/preemption/preemption.go` with the rules of `DefaultPreemption`
//! (`pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`). A [`PreemptionRecord`] keeps every
//! step. Nothing is carried out here: the record names victims and cleared nominations, and the caller acts on them.
//! Extenders are called through the context.
//!
//! kube-scheduler draws two choices at random. Here [`DryRunPolicy`](crate::framework::DryRunPolicy) sets the node
//! where the dry run starts, and the first node by name breaks the last tie among candidates. The record
//! says how likely each outcome is.

mod budgets;
mod candidates;
mod chance;
mod dry_run;
mod eligibility;
mod group;
mod importance;
mod orders;
mod recall;
mod select;
#[cfg(test)]
mod testing;
mod units;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use self::dry_run::{Scratch, Scratches};
use crate::cluster::{Key, Str};
use crate::framework::{
    Candidate, CycleState, NodeToStatus, NominatingInfo, PodInfo, PostFilterContext, PreemptionRecord, Reason, SharedList, Status,
};
use crate::release::{DryRunReport, Gate, WithoutVictims};

pub use candidates::CandidateLimits;
pub use group::{GroupPreemptor, GroupTrial};
pub use units::Evictable;

/// Runs preemption for one pod after a cycle found no feasible node.
#[derive(Clone, Copy)]
pub struct Evaluator<'a> {
    post: &'a PostFilterContext<'a>,
    limits: CandidateLimits,
}

/// The result of a preemption.
#[derive(Clone, Debug, PartialEq)]
pub struct Preemption {
    /// Success if a node is nominated, Unschedulable if preemption does not help or is not allowed.
    pub status: Status,
    /// The nomination; `None` leaves it unchanged.
    pub nominating: Option<NominatingInfo>,
    /// Every step and result.
    pub record: PreemptionRecord,
}

impl<'a> Evaluator<'a> {
    /// Makes an evaluator for one cycle; `limits` set how many candidates to find.
    pub fn new(post: &'a PostFilterContext<'a>, limits: CandidateLimits) -> Self {
        Self { post, limits }
    }

    /// Runs all steps; mirrors `Evaluator.Preempt`.
    pub fn preempt(&self, state: &CycleState, pod: &PodInfo) -> Preemption {
        let mut record = self.empty_record();
        let (status, nominating) = match self.nominate(state, pod, &mut record) {
            Ok(node) => (Status::success(), Some(NominatingInfo::Override(node))),
            Err(Failure::Status(status)) => (status, None),
            Err(Failure::NotHelpful(message)) => (Status::unschedulable(message), Some(NominatingInfo::Override(Str::default()))),
        };
        Preemption { status, nominating, record }
    }

    /// Finds eligibility and candidates only, and selects none. Runs for cycles in which an earlier `PostFilter` plugin
    /// ended the extension point.
    pub fn dry_run_only(&self, state: &CycleState, pod: &PodInfo) -> PreemptionRecord {
        let mut record = PreemptionRecord { hypothetical: true, ..self.empty_record() };
        if let Ok(preemptor) = self.latest(pod) {
            // The record already holds the reason of a failure that matters.
            let _ = self.find_candidates(state, &preemptor, &mut record, &Scratches::new());
        }
        record
    }

    fn empty_record(&self) -> PreemptionRecord {
        PreemptionRecord { tie_break: self.post.cx.emulation.behaviour().preemption.tie_break, ..PreemptionRecord::default() }
    }

    fn nominate(&self, state: &CycleState, pod: &PodInfo, record: &mut PreemptionRecord) -> Result<Str, Failure> {
        let preemptor = self.latest(pod)?;
        let scratches = Scratches::new();
        let statuses = self.find_candidates(state, &preemptor, record, &scratches)?;
        if record.candidates().next().is_none() {
            return Err(Failure::NotHelpful(statuses.fit_error(self.post.cx.snapshot.len(), "", "")));
        }
        if let Some(extenders) = self.post.extenders {
            let candidates: Vec<&Candidate> = record.candidates().collect();
            let (calls, left) = extenders.process_preemption(&preemptor, &candidates);
            record.extender_calls = calls.into_iter().map(Arc::new).collect();
            record.after_extenders = left?;
        }
        let release = &self.post.cx.emulation.behaviour().preemption;
        // Older releases choose a candidate without victims at once, whichever is found first.
        let costless: SharedList<Str> = match release.without_victims {
            WithoutVictims::Chosen => record.final_candidates().filter(|c| c.victims.is_empty()).map(|c| c.node.clone()).collect(),
            _ => SharedList::default(),
        };
        (record.score_functions, record.best) = if costless.is_empty() {
            select::pick_one_node(record.final_candidates(), release.tie_break, self.post.cx.now)
        } else {
            (Vec::new(), costless)
        };
        let best = record
            .selected()
            .cloned()
            .ok_or_else(|| Status::rejected(Reason::NoCandidate).in_words_of(self.post.cx.emulation.release()))?;
        if !self.post.quiet {
            record.odds = chance::odds(self.post, state, &preemptor, record, &scratches).map(Arc::new);
        }
        let evicts = record.evictions().next().is_some() || self.post.cx.emulation.behaviour().queue.terminating_victims_deleted;
        if evicts || !self.post.cx.emulation.enabled(Gate::SchedulerAsyncPreemption) {
            record.cleared_nominations = self.lower_nominations(&preemptor, &best);
        }
        Ok(best)
    }

    /// Returns the pod as the informer has it now; it can differ from the filtered copy.
    fn latest<'p>(&self, pod: &'p PodInfo) -> Result<Cow<'p, PodInfo>, Status> {
        let meta = &pod.pod.metadata;
        match self.post.cx.cluster.pods.namespaced(&meta.namespace, &meta.name) {
            None => Err(Status::error(format!("pod {:?} not found", meta.name.as_str()))),
            Some(latest) if Arc::ptr_eq(latest, &pod.pod) => Ok(Cow::Borrowed(pod)),
            Some(latest) => Ok(Cow::Owned(PodInfo::with_emulation(latest.clone(), self.post.cx.emulation))),
        }
    }

    /// Fills the record up to its candidates. Returns the status of every node, which makes the message if there are no
    /// candidates.
    fn find_candidates(
        &self,
        state: &CycleState,
        pod: &PodInfo,
        record: &mut PreemptionRecord,
        scratches: &Scratches<Scratch<'a>>,
    ) -> Result<NodeToStatus, Status> {
        let snapshot = self.post.cx.snapshot;
        if let Some(reason) = eligibility::ineligible_reason(&pod.pod, self.post.statuses, &self.post.cx) {
            if reason == Reason::TerminatingVictims {
                record.waits_for = eligibility::ending_victims(&pod.pod, &self.post.cx).map(Arc::new);
            }
            let status = Status::rejected(reason).in_words_of(self.post.cx.emulation.release());
            record.ineligible = Some(status.clone());
            return Err(status);
        }
        if snapshot.is_empty() {
            return Err(Status::error("no nodes available"));
        }
        candidates::search(self.post, self.limits, state, pod, record, scratches);
        let mut statuses = NodeToStatus::default();
        // Errors are dropped if there is at least one candidate.
        if record.candidates().next().is_some() {
            return Ok(statuses);
        }
        if let Some(error) =
            aggregate_errors(record).filter(|_| self.post.cx.emulation.behaviour().preemption.dry_run == DryRunReport::Errors)
        {
            return Err(error);
        }
        for run in record.dry_runs.in_order().iter().filter(|r| !r.status.is_success()) {
            if let Some(position) = snapshot.position(&run.node) {
                statuses.set(position, run.status.clone());
            }
        }
        statuses.set_absent(Status::rejected(Reason::PreemptionNotHelpful).in_words_of(self.post.cx.emulation.release()));
        Ok(statuses)
    }

    /// Returns nominated pods of lower priority on the node; mirrors `getLowerPriorityNominatedPods` and
    /// `clearNominatedNodeName` in `executor.go`.
    fn lower_nominations(&self, preemptor: &PodInfo, node: &str) -> Vec<Key> {
        let nominated = self.post.runner.nominated_pods(node);
        let lower = nominated.iter().map(|p| &p.pod).filter(|p| p.priority() < preemptor.pod.priority());
        lower.filter(|p| !p.status.nominated_node_name.is_empty()).map(|p| p.key()).collect()
    }
}

/// Why no node is nominated.
enum Failure {
    /// Preemption could not run; the nomination stays.
    Status(Status),
    /// Preemption ran and found no candidate; the nomination is cleared.
    NotHelpful(String),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// Joins the errors of the dry runs; equal texts count once. Mirrors `aggregate.Error` in
/// `staging/src/k8s.io/apimachinery/pkg/util/errors/errors.go`.
fn aggregate_errors(record: &PreemptionRecord) -> Option<Status> {
    let mut seen = BTreeSet::new();
    let errors = record.dry_runs.in_order().iter().filter(|r| r.status.is_error()).map(|r| r.status.message());
    let mut texts: Vec<String> = errors.filter(|text| seen.insert(text.clone())).collect();
    match texts.len() {
        0 => None,
        1 => texts.pop().map(Status::error),
        _ => Some(Status::error(format!("[{}]", texts.join(", ")))),
    }
}

#[cfg(test)]
mod tests;
