//! Distinguishes schedulers that share a log.

use super::finding::{Finding, FindingKind};
use super::story::{Leadership, SchedulerLog};

/// Adds a finding for each scheduler that waits while another one works.
pub(super) fn note(log: &mut SchedulerLog) {
    let works = |other: &super::story::Process| other.attempts > 0 || other.leadership == Leadership::Leads;
    let mut waits = Vec::new();
    for (number, process) in log.processes.iter().enumerate() {
        let others =
            log.processes.iter().enumerate().any(|(other, p)| other != number && works(p) && p.from <= process.to && process.from <= p.to);
        if process.attempts == 0 && process.leadership != Leadership::Leads && others {
            waits.push(Finding { file: process.source.clone(), line: None, kind: FindingKind::Waits });
        }
    }
    log.findings.append(&mut waits);
}
