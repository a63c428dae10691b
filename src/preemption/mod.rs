//! Preemption: which pods of lower priority would have to go so that a pod finds a place, and where.
//!
//! Mirrors `pkg/scheduler/framework/preemption/preemption.go` with the rules of `DefaultPreemption`
//! (`pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`). Everything that is tried on the way is
//! kept in a [`PreemptionRecord`]. Nothing is carried out here: victims and cleared nominations are named, and
//! whoever runs the cycle acts on them, and what extenders have to say comes through the context.
//!
//! Where kube-scheduler draws at random (the node where the dry run starts, the last tie among candidates) the
//! [`DryRunPolicy`](crate::framework::DryRunPolicy) and the first node by name decide.

mod budgets;
mod candidates;
mod dry_run;
mod eligibility;
mod importance;
mod select;
#[cfg(test)]
mod testing;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::{Key, Str};
use crate::framework::{
    Candidate, CycleState, NodeToStatus, NominatingInfo, PodInfo, PostFilterContext, PreemptionRecord, Reason, SharedList, Status,
};
use crate::release::{DryRunReport, Gate, WithoutVictims};

pub use candidates::CandidateLimits;

/// Runs preemption for one pod after one cycle found no node.
#[derive(Clone, Copy)]
pub struct Evaluator<'a> {
    post: &'a PostFilterContext<'a>,
    limits: CandidateLimits,
}

/// What preemption came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Preemption {
    /// Success where a node is nominated, Unschedulable where preemption does not help or is not allowed.
    pub status: Status,
    /// The nomination; `None` leaves it as it is.
    pub nominating: Option<NominatingInfo>,
    /// Everything that was tried and found.
    pub record: PreemptionRecord,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for one cycle; `limits` say how many candidates are worth finding.
    pub fn new(post: &'a PostFilterContext<'a>, limits: CandidateLimits) -> Self {
        Self { post, limits }
    }

    /// All steps; mirrors `Evaluator.Preempt`.
    pub fn preempt(&self, state: &CycleState, pod: &PodInfo) -> Preemption {
        let mut record = PreemptionRecord::default();
        let (status, nominating) = match self.nominate(state, pod, &mut record) {
            Ok(node) => (Status::success(), Some(NominatingInfo::Override(node))),
            Err(Failure::Status(status)) => (status, None),
            Err(Failure::NotHelpful(message)) => (Status::unschedulable(message), Some(NominatingInfo::Override(Str::default()))),
        };
        Preemption { status, nominating, record }
    }

    /// Finds eligibility and candidates alone, for cycles in which preemption had no say: an earlier `PostFilter` plugin had
    /// ended the extension point. Nothing is selected.
    pub fn dry_run_only(&self, state: &CycleState, pod: &PodInfo) -> PreemptionRecord {
        let mut record = PreemptionRecord { hypothetical: true, ..PreemptionRecord::default() };
        if let Ok(preemptor) = self.latest(pod) {
            // The reason of a failure, where it matters, is in the record.
            let _ = self.find_candidates(state, &preemptor, &mut record);
        }
        record
    }

    fn nominate(&self, state: &CycleState, pod: &PodInfo, record: &mut PreemptionRecord) -> Result<Str, Failure> {
        let preemptor = self.latest(pod)?;
        let statuses = self.find_candidates(state, &preemptor, record)?;
        if record.candidates().next().is_none() {
            return Err(Failure::NotHelpful(statuses.fit_error(self.post.cx.snapshot.len(), "", "")));
        }
        if let Some(extenders) = self.post.extenders {
            let candidates: Vec<&Candidate> = record.candidates().collect();
            let (calls, left) = extenders.process_preemption(&preemptor, &candidates);
            record.extender_calls = calls.into_iter().map(Arc::new).collect();
            record.after_extenders = left?;
        }
        let release = self.post.cx.emulation.behaviour();
        // A candidate without victims is chosen at once, whichever comes first.
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
        let evicts = record.evictions().next().is_some() || self.post.cx.emulation.behaviour().queue.terminating_victims_deleted;
        if evicts || !self.post.cx.emulation.enabled(Gate::SchedulerAsyncPreemption) {
            record.cleared_nominations = self.lower_nominations(&preemptor, &best);
        }
        Ok(best)
    }

    /// The pod as the informer has it now, which can differ from the copy that was filtered.
    fn latest<'p>(&self, pod: &'p PodInfo) -> Result<Cow<'p, PodInfo>, Status> {
        let meta = &pod.pod.metadata;
        match self.post.cx.cluster.pods.namespaced(&meta.namespace, &meta.name) {
            None => Err(Status::error(format!("pod {:?} not found", meta.name.as_str()))),
            Some(latest) if Arc::ptr_eq(latest, &pod.pod) => Ok(Cow::Borrowed(pod)),
            Some(latest) => Ok(Cow::Owned(PodInfo::with_emulation(latest.clone(), self.post.cx.emulation))),
        }
    }

    /// Fills the record up to its candidates. Answers with the status of every node where there are none, for
    /// the text that is given then.
    fn find_candidates(&self, state: &CycleState, pod: &PodInfo, record: &mut PreemptionRecord) -> Result<NodeToStatus, Status> {
        let snapshot = self.post.cx.snapshot;
        if let Some(reason) = eligibility::ineligible_reason(&pod.pod, self.post.statuses, snapshot, self.post.cx.emulation.behaviour()) {
            let status = Status::rejected(reason).in_words_of(self.post.cx.emulation.release());
            record.ineligible = Some(status.clone());
            return Err(status);
        }
        if snapshot.is_empty() {
            return Err(Status::error("no nodes available"));
        }
        candidates::search(self.post, self.limits, state, pod, record);
        let mut statuses = NodeToStatus::default();
        // Errors are forgotten as soon as there is one candidate.
        if record.candidates().next().is_some() {
            return Ok(statuses);
        }
        if let Some(error) = aggregate_errors(record).filter(|_| self.post.cx.emulation.behaviour().dry_run == DryRunReport::Errors) {
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

    /// Pods of lower priority that count on the node; mirrors `getLowerPriorityNominatedPods` and
    /// `clearNominatedNodeName` in `executor.go`.
    fn lower_nominations(&self, preemptor: &PodInfo, node: &str) -> Vec<Key> {
        let nominated = self.post.runner.nominated_pods(node);
        let lower = nominated.iter().map(|p| &p.pod).filter(|p| p.priority() < preemptor.pod.priority());
        lower.filter(|p| !p.status.nominated_node_name.is_empty()).map(|p| p.key()).collect()
    }
}

/// Why no node is nominated.
enum Failure {
    /// Preemption could not run; the pod keeps its nomination.
    Status(Status),
    /// It ran and found nothing; the pod loses its nomination.
    NotHelpful(String),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// The dry run's errors in one; repeated texts count once. Mirrors `aggregate.Error` in
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
