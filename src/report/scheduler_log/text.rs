//! The log as text.

use std::fmt::Write as _;

use crate::analysis::{AttemptMatch, LogReport, is_shown};
use crate::output::Lines;
use crate::plural::{count, count_of};
use crate::scheduler_log::{Attempt, Certainty, Change, Dump, Fact, QueuedPod, Stamp};

/// An entry of the story.
enum Happening<'a> {
    Attempt(&'a Attempt),
    Change(&'a Change),
    Dump(&'a Dump),
}

impl LogReport<'_> {
    /// Returns a summary of the log, the queues, and the story, an event a line.
    pub(in crate::report) fn text(&self) -> Lines {
        let mut out = Lines::default();
        self.head(&mut out);
        self.queues_text(&mut out);
        self.comparison_text(&mut out);
        self.story(&mut out);
        out
    }

    fn head(&self, out: &mut Lines) {
        let (log, process) = (self.log, self.process());
        let span = self.span().0.zip(self.span().1).map_or_else(String::new, |(from, to)| format!(", from {from} to {to}"));
        let release = match (self.release(), &process.version) {
            (Some(release), _) => format!("kube-scheduler {release}"),
            (None, Some(version)) => format!("kube-scheduler of unknown release (it says {version})"),
            (None, None) => "kube-scheduler of unknown release".to_owned(),
        };
        let verbosity = process.verbosity().map_or_else(|| "unknown verbosity".to_owned(), |v| format!("-v={v}"));
        out.push("LOG");
        out.line(format_args!("  {release}, {verbosity}{span}"));
        out.line(format_args!("  recognized {} of {}", log.understood, count(log.lines as usize, "line")));
        let has_lines = !log.processes.is_empty();
        if has_lines && !process.clock.year {
            out.line(format_args!("  the year is unknown: neither the log nor the file's time shows it"));
        }
        if has_lines && process.clock.offset.is_none() {
            out.line(format_args!("  the time zone is unknown: set it with --log-timezone"));
        }
        let complete = process.complete();
        let rows = [
            (Fact::Attempts, "every finished attempt", "-v=2"),
            (Fact::Requeues, "the queue of each failed pod", "-v=3"),
            (Fact::Moves, "every move between queues", "-v=5"),
            (Fact::Queues, "the queues", "-v=5, from the scheduler's start"),
            (Fact::Scores, "scores", "-v=10"),
        ];
        let has = |fact: Fact| complete.contains(&fact) || fact == Fact::Requeues && complete.contains(&Fact::Moves);
        let complete: Vec<&str> = rows.iter().filter(|row| has(row.0)).map(|row| row.1).collect();
        let lacks: Vec<String> = rows.iter().filter(|row| !has(row.0)).map(|row| format!("{} (logged from {})", row.1, row.2)).collect();
        out.line(format_args!("  complete: {}", if complete.is_empty() { "nothing".to_owned() } else { complete.join(", ") }));
        if process.in_part {
            out.line(format_args!("  lines are missing: the log was not read whole"));
        } else if !lacks.is_empty() {
            out.line(format_args!("  not complete: {}", lacks.join(", ")));
        }
        if log.processes.len() > 1 {
            out.line(format_args!(
                "  written by {}; the queues below are those of number {}:",
                count_of(log.processes.len(), "process", "processes"),
                self.process + 1
            ));
            for (number, one) in log.processes.iter().enumerate() {
                let pid = one.pid.map_or_else(String::new, |pid| format!(", process {pid}"));
                let (from, to) = (one.clock.show(one.from), one.clock.show(one.to));
                out.line(format_args!("    {}. {}{pid}: {} from {from} to {to}", number + 1, one.source, count(one.attempts, "attempt")));
            }
        }
        out.blank();
    }

    fn queues_text(&self, out: &mut Lines) {
        let queues = &self.queues;
        let when = self.at.map_or_else(|| "AT THE END".to_owned(), |at| format!("AT {}", self.process().clock.show(at)));
        out.line(format_args!("QUEUES {when}"));
        match queues.certainty {
            Certainty::Exact => {}
            Certainty::SinceBegin => {
                out.line(format_args!(
                    "  The log does not include the scheduler's start: pods that have not moved since the log begins are missing."
                ));
            }
            Certainty::ParkedOrMovedSince => {
                out.line(format_args!("  At this verbosity moves are not logged: pods shown in unschedulablePods may have moved since."));
            }
            Certainty::InPart => {
                out.line(format_args!("  Lines of the log are missing: pods may have moved or gone since, and others may be pending."));
            }
            Certainty::Unknown => {
                out.line(format_args!("  The log does not show in which queue a pod is."));
            }
        }
        for (name, pods) in [
            ("activeQ", &queues.active),
            ("backoffQ", &queues.backoff),
            ("unschedulablePods", &queues.unschedulable),
            ("in flight", &queues.in_flight),
            ("waiting on Permit", &queues.waiting_on_permit),
        ] {
            match pods {
                None => {
                    out.line(format_args!("  {name}: unknown"));
                }
                Some(pods) => {
                    out.line(format_args!("  {name}: {}", count(pods.len(), "pod")));
                    for pod in pods {
                        self.queued(out, pod);
                    }
                }
            }
        }
        if !self.log.pending_pods.is_empty() {
            let lengths: Vec<String> = self.log.pending_pods.iter().map(|(queue, length)| format!("{queue} {length}")).collect();
            out.line(format_args!("  by the saved metrics: {} (gated pods are counted separately)", lengths.join(", ")));
        }
        if !queues.unplaced.is_empty() {
            out.line(format_args!("  pending, in an unknown queue: {}", count(queues.unplaced.len(), "pod")));
            queues.unplaced.iter().for_each(|pod| self.queued(out, pod));
        }
        out.blank();
    }

    /// Writes how the attempts and the cache compare with ours, if a dump was given.
    fn comparison_text(&self, out: &mut Lines) {
        let (Some(comparison), Some((counts, not_compared))) = (&self.comparison, self.agreement()) else { return };
        out.line(format_args!("COMPARED WITH SCHEDSCOPE"));
        let counts: Vec<String> = counts.iter().map(|(kind, number)| format!("{number} {}", kind.words(*number))).collect();
        let left_out = comparison.left_out;
        let mut rest = String::new();
        for (number, why) in [(not_compared.saturating_sub(left_out), "cannot be compared"), (left_out, "not compared: too many steps")] {
            if number > 0 {
                rest.push_str(&format!(", {number} {why}"));
            }
        }
        out.line(format_args!("  {}: {}{rest}", count(comparison.attempts.len() + not_compared, "attempt"), counts.join(", ")));
        let clock = self.process().clock;
        for (number, one) in comparison.attempts.iter().filter(|(_, one)| one.kind != AttemptMatch::Agrees) {
            if let Some(attempt) = self.log.attempts.get(*number) {
                out.line(format_args!("  {} {}: {}", clock.show(attempt.at), self.log.names.text(attempt.pod), one.words));
            }
        }
        for line in comparison.cache.iter().flat_map(|cache| Self::cache_lines(cache, |at| clock.show(at))) {
            out.line(format_args!("  {line}"));
        }
        out.blank();
    }

    fn queued(&self, out: &mut Lines, pod: &QueuedPod) {
        let (log, clock) = (self.log, self.process().clock);
        let mut more = String::new();
        let plugins: Vec<&str> = log.plugins(pod.plugins).collect();
        if !plugins.is_empty() {
            let _ = write!(more, ", rejected by {}", plugins.join(", "));
        }
        if !pod.gated_by.is_empty() {
            let _ = write!(more, ", gated by {}", log.names.text(pod.gated_by));
        }
        if let Some(expires) = pod.expires {
            let _ = write!(more, ", backing off until {} (calculated)", clock.show(expires));
        }
        out.line(format_args!("    {} since {}{more}", log.names.text(pod.pod), clock.show(pod.since)));
    }

    fn story(&self, out: &mut Lines) {
        let log = self.log;
        out.line(format_args!("TIMELINE"));
        let mut changes = log.changes.iter().filter(|change| is_shown(change, &|name| log.names.text(name))).peekable();
        let mut attempts: Vec<&Attempt> = log.attempts.iter().collect();
        attempts.sort_by_key(|attempt| attempt.end.unwrap_or(attempt.at));
        let mut attempts = attempts.into_iter().peekable();
        let mut dumps = log.dumps.iter().peekable();
        let at = |attempt: &&Attempt| attempt.end.unwrap_or(attempt.at);
        loop {
            let times = [changes.peek().map(|c| c.at), attempts.peek().map(at), dumps.peek().map(|d| d.at)];
            let Some((next, _)) = times.iter().enumerate().filter_map(|(n, t)| t.map(|t| (n, t))).min_by_key(|(n, t)| (*t, *n)) else {
                break;
            };
            let happening = match next {
                0 => changes.next().map(Happening::Change),
                1 => attempts.next().map(Happening::Attempt),
                _ => dumps.next().map(Happening::Dump),
            };
            if let Some(happening) = happening {
                self.line(out, &happening);
            }
        }
    }

    fn line(&self, out: &mut Lines, happening: &Happening<'_>) {
        let (process, at, words): (u16, Stamp, String) = match happening {
            Happening::Attempt(attempt) => (attempt.process, attempt.end.unwrap_or(attempt.at), self.attempt_words(attempt)),
            Happening::Change(change) => (change.process, change.at, self.change_words(change)),
            Happening::Dump(dump) => (dump.process, dump.at, dump_words(dump)),
        };
        let number = if self.log.processes.len() > 1 { format!("[{}] ", process + 1) } else { String::new() };
        out.line(format_args!("  {} {number}{words}", self.time(process, at)));
    }
}

fn dump_words(dump: &Dump) -> String {
    let [active, backoff, parked] = dump.lengths;
    let agrees = match dump.elsewhere {
        None => String::new(),
        Some(0) => ", as logged before".to_owned(),
        Some(pods) => format!("; {} in another queue than logged before", count(pods, "pod")),
    };
    format!("dump of the queues: {active} in activeQ, {backoff} in backoffQ, {parked} in unschedulablePods{agrees}")
}
