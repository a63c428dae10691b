//! Shows the facts of kube-scheduler's log, with our decisions beside its attempts.

mod cache;
mod places;
mod replay;
mod timeline;
mod words;

pub use cache::{CacheDifference, ComparedNode, Difference};
pub use places::LogMark;
pub(super) use replay::judge;
pub use replay::{AttemptMatch, ComparedAttempt, Gap, Moment, Replay};

pub(crate) use words::is_shown;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::release::Release;
use crate::scheduler::Scheduler;
use crate::scheduler_log::{Attempt, Clock, Process, Queues, SchedulerLog, Stamp};

/// A report of a log, with the queues at a time.
#[derive(Debug)]
pub struct LogReport<'a> {
    pub(crate) log: &'a SchedulerLog,
    /// The process whose queues are shown.
    pub(crate) process: usize,
    /// An empty process, for a source that has only metrics.
    none: Process,
    pub(crate) queues: Queues,
    pub(crate) at: Option<Stamp>,
    /// The comparison with our decisions, where a dump has the objects.
    pub(crate) comparison: Option<LogComparison>,
}

/// The attempts and the cache of a log beside ours.
#[derive(Debug, Default)]
pub(crate) struct LogComparison {
    /// By the attempt's index.
    pub(crate) attempts: BTreeMap<usize, ComparedAttempt>,
    /// Attempts of the shown process without a comparison.
    not_compared: usize,
    /// How many of these were left out, as the newer ones took all steps.
    pub(crate) left_out: usize,
    pub(crate) cache: Option<(Stamp, Vec<ComparedNode>)>,
}

/// Limit on the attempts that are compared; the last ones are.
const MAX_COMPARED: usize = 1000;

impl<'a> LogReport<'a> {
    /// Reports a log with the queues at a time, or at its end; `None` if the log has no line of kube-scheduler.
    pub fn new(log: &'a SchedulerLog, at: Option<Stamp>) -> Option<Self> {
        if log.is_empty() {
            return None;
        }
        let process = log.leading(at).unwrap_or(0);
        Some(Self { log, process, none: Process::default(), queues: log.queues(process, at), at, comparison: None })
    }

    /// Adds our decision beside each of the last attempts, on the objects of its moment, and our cache beside the last one
    /// in the log. `scheduler` has the objects of a dump that was taken at `taken`.
    #[must_use]
    pub fn compared_with(mut self, scheduler: &Scheduler, taken: Option<Timestamp>) -> Self {
        let ours = |attempt: &&(usize, &Attempt)| usize::from(attempt.1.process) == self.process;
        let mut attempts: Vec<(usize, &Attempt)> = self.log.attempts.iter().enumerate().filter(|one| ours(&one)).collect();
        attempts.sort_by_key(|(number, attempt)| (attempt.at, *number));
        let mut replay = Replay::new(&self, scheduler, taken);
        let newest = &attempts[attempts.len().saturating_sub(MAX_COMPARED)..];
        let comparable = replay.comparable(newest.iter().map(|(_, attempt)| *attempt));
        let skipped = attempts.len() - comparable;
        let mut found = LogComparison { left_out: newest.len() - comparable, ..LogComparison::default() };
        for (order, (number, attempt)) in attempts.into_iter().enumerate() {
            match replay.at(attempt, order >= skipped).comparison {
                Some(comparison) => drop(found.attempts.insert(number, comparison)),
                None => found.not_compared += 1,
            }
        }
        found.cache = self.cache(&mut Replay::new(&self, scheduler, taken));
        self.comparison = Some(found);
        self
    }

    /// Returns how many attempts there are of each relation, and how many could not be compared; `None` without a dump.
    pub fn agreement(&self) -> Option<(BTreeMap<AttemptMatch, usize>, usize)> {
        let found = self.comparison.as_ref()?;
        let mut counts = BTreeMap::from([AttemptMatch::Agrees, AttemptMatch::Explained, AttemptMatch::Differs].map(|kind| (kind, 0)));
        for comparison in found.attempts.values() {
            *counts.entry(comparison.kind).or_default() += 1;
        }
        Some((counts, found.not_compared))
    }

    /// Returns the attempts that were compared, each with our decision.
    pub fn compared(&self) -> impl Iterator<Item = (&Attempt, &ComparedAttempt)> {
        let found = self.comparison.iter().flat_map(|comparison| &comparison.attempts);
        found.filter_map(|(number, comparison)| Some((self.log.attempts.get(*number)?, comparison)))
    }

    pub(crate) fn process(&self) -> &Process {
        self.log.processes.get(self.process).unwrap_or(&self.none)
    }

    /// Returns the configuration and feature gates that the scheduler printed at its start, as YAML and as `A=true,B=false`;
    /// `None` if the log shows no configuration.
    pub fn configuration(&self) -> Option<(&str, String)> {
        let gates = self.process().feature_gates();
        let gates: Vec<String> = gates.iter().map(|(name, on)| format!("{name}={on}")).collect();
        Some((self.process().configuration.as_deref()?, gates.join(",")))
    }

    /// Returns a time in the clock of a process.
    pub(crate) fn time(&self, process: u16, at: Stamp) -> String {
        self.log.processes.get(usize::from(process)).map_or_else(Clock::default, |p| p.clock).show(at)
    }

    /// Returns the first and last time over all processes.
    pub(crate) fn span(&self) -> (Option<String>, Option<String>) {
        let processes = &self.log.processes;
        let first = processes.iter().min_by_key(|p| p.from).map(|p| p.clock.show(p.from));
        let last = processes.iter().max_by_key(|p| p.to).map(|p| p.clock.show(p.to));
        (first, last)
    }

    /// Returns the release that the scheduler logged; `None` for a build without a version.
    pub(crate) fn release(&self) -> Option<&str> {
        let version = self.process().version.as_deref()?;
        Release::parse(version).is_ok().then_some(version)
    }
}
