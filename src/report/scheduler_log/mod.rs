//! Reports of kube-scheduler's log, as text and as data.

mod json;
mod replay;
mod text;
mod timeline;
mod told;

pub use replay::{Beside, BesideKind, Gap, Moment, Replay};
pub use told::LogMark;

use crate::release::Release;
use crate::scheduler_log::{Clock, Process, Queues, SchedulerLog, Stamp};

/// A report of a log, with the queues at a time.
#[derive(Debug)]
pub struct LogReport<'a> {
    log: &'a SchedulerLog,
    /// The process whose queues are shown.
    process: usize,
    /// An empty process, for a source that has only metrics.
    none: Process,
    queues: Queues,
    at: Option<Stamp>,
}

impl<'a> LogReport<'a> {
    /// Reports a log with the queues at a time, or at its end; `None` if the log has no line of kube-scheduler.
    pub fn new(log: &'a SchedulerLog, at: Option<Stamp>) -> Option<Self> {
        if log.is_empty() {
            return None;
        }
        let process = log.leading(at).unwrap_or(0);
        Some(Self { log, process, none: Process::default(), queues: log.queues(process, at), at })
    }

    fn process(&self) -> &Process {
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
    fn time(&self, process: u16, at: Stamp) -> String {
        self.log.processes.get(usize::from(process)).map_or_else(Clock::default, |p| p.clock).show(at)
    }

    /// Returns the first and last time over all processes.
    fn span(&self) -> (Option<String>, Option<String>) {
        let processes = &self.log.processes;
        let first = processes.iter().min_by_key(|p| p.from).map(|p| p.clock.show(p.from));
        let last = processes.iter().max_by_key(|p| p.to).map(|p| p.clock.show(p.to));
        (first, last)
    }

    /// Returns the release that the scheduler logged; `None` for a build without a version.
    fn release(&self) -> Option<&str> {
        let version = self.process().version.as_deref()?;
        Release::parse(version).is_ok().then_some(version)
    }
}
