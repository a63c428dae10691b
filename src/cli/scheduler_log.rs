//! `schedscope log`: attempts, queues and victims from kube-scheduler's own log.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::args::{LogArgs, SchedulerArgs};
use super::history::Past;
use super::loading::input;
use super::progress::Showing;
use super::{Audience, EXIT_OK, EXIT_SOURCE, Failure, StandardError, print};
use crate::analysis::LogReport;
use crate::output::{self, Lines};
use crate::report::Answer;
use crate::scheduler::queue::{PlaceInLog, QueueInLog};
use crate::scheduler::{Evictions, InitialQueues, Operation, PostFilter, Scheduler};
use crate::scheduler_log::{Clock, SchedulerLog, Stamp};
use crate::session::{Cursor, ReportedAttempt, Session};
use crate::source::{Input, Limits, Loaded, LogTimes, Progress, read_logs_of_dump, read_scheduler_logs};

/// Reads logs and prints the report.
pub(super) fn run(args: &LogArgs) -> Result<u8, Failure> {
    let limits = args.limits.limits();
    let mut loaded = match &args.from[..] {
        [] => None,
        paths => {
            if !args.merge {
                super::dumps::refuse_series(paths, &|inputs| super::read_inputs(inputs, &limits, &StandardError))?;
            }
            Some(match super::history::named(paths, None)? {
                Some(past @ Past::Journal(_)) => past.read(None, &limits)?,
                _ => super::load(&paths.iter().map(input).collect::<Vec<_>>(), &limits)?,
            })
        }
    };
    let latest = loaded.as_ref().and_then(|loaded| loaded.report.newest);
    let times = LogTimes { latest, offset: args.zone.log_timezone };
    let inputs: Vec<Input> = args.files.iter().map(input).collect();
    let progress = Arc::new(Progress::default());
    let recorded = super::history::recorded_log(&args.files)?;
    let shown = Showing::on_terminal(&progress, |_| String::new());
    let log = match &recorded {
        Some(recorded) => read_logs_of_dump(recorded, times, &limits, &progress).unwrap_or_default(),
        None => read_scheduler_logs(&inputs, times, &limits, &progress),
    };
    drop(shown);
    tell(&log);
    let at = args.at.as_deref().map(|text| time(text, &log)).transpose()?;
    let log = Arc::new(log);
    let Some(mut report) = LogReport::new(&log, at) else { return Err(Failure::source("no log of kube-scheduler could be read")) };
    if let Some(loaded) = &mut loaded {
        loaded.scheduler_log = Some(Arc::clone(&log));
        // The scheduler decided with the configuration that it printed.
        let args = SchedulerArgs { config_from_log: report.configuration().is_some(), ..SchedulerArgs::default() };
        let scheduler = super::scheduler(&args, loaded, Evictions::AfterGracePeriod, &StandardError)?;
        report = report.compared_with(&scheduler, latest);
    }
    let answer = print(&args.output.write(&Answer::Log(&report), Lines::default())?);
    let is_in_part = log.is_in_part();
    // Skip the destructors: the process exits here, and freeing a large log takes time.
    std::mem::forget((log, loaded));
    answer.map(|code| if is_in_part && code == EXIT_OK { EXIT_SOURCE } else { code })
}

/// Prints the log's findings to standard error.
fn tell(log: &SchedulerLog) {
    findings(log).for_each(output::say);
}

fn findings(log: &SchedulerLog) -> impl Iterator<Item = String> {
    let more = (log.more_findings > 0).then(|| format!("and {} more warnings about the log", log.more_findings));
    log.findings.iter().map(ToString::to_string).chain(more)
}

/// Reads the named log, or else the dump's, into `loaded`. The audience gets the findings about it.
pub(super) fn read_log(args: &SchedulerArgs, loaded: &mut Loaded, limits: &Limits, audience: &dyn Audience) -> Result<(), Failure> {
    if args.asks_for_live_log() {
        let Some(log) = &loaded.scheduler_log else {
            return Err(Failure::usage("--scheduler-log live needs a live cluster; to read a file called live, write ./live"));
        };
        for line in findings(log) {
            audience.say(line);
        }
        return Ok(());
    }
    let times = LogTimes { latest: loaded.report.newest, offset: args.zone.log_timezone };
    let progress = Arc::new(Progress::default());
    let log = if args.scheduler_log.is_empty() {
        read_logs_of_dump(loaded, times, limits, &progress)
    } else {
        let inputs: Vec<Input> = args.scheduler_log.iter().map(input).collect();
        let log = read_scheduler_logs(&inputs, times, limits, &progress);
        if log.is_empty() {
            for line in findings(&log) {
                audience.say(line);
            }
            return Err(Failure::source("--scheduler-log: no log of kube-scheduler could be read"));
        }
        Some(log)
    };
    if let Some(log) = log {
        for line in findings(&log) {
            audience.say(line);
        }
        loaded.scheduler_log = Some(Arc::new(log));
    }
    Ok(())
}

/// How long after the end of a log its queues still count as those of the dump.
const STILL: SignedDuration = SignedDuration::from_secs(60);

/// Returns the operation that places pending pods where the log shows them at the start of a scheduler; `None` unless the
/// queues are to be as observed or the log is named, and it is of that time and shows every place. The audience gets why a named
/// log is not used.
pub(super) fn log_places(
    args: &SchedulerArgs,
    log: Option<&SchedulerLog>,
    scheduler: &Scheduler,
    audience: &dyn Audience,
) -> Option<Operation> {
    let named = args.queues.is_none() && !args.scheduler_log.is_empty();
    let log = log.filter(|_| args.start_queues() == InitialQueues::AsObserved)?;
    let found = places(log, scheduler);
    if found.is_none() && named {
        audience.say(
            "--scheduler-log: its queues are not those of the source: it is of another time, or does not show every move (-v=5 does)"
                .to_owned(),
        );
    }
    found
}

fn places(log: &SchedulerLog, scheduler: &Scheduler) -> Option<Operation> {
    let process = log.processes.get(log.leading(None)?)?;
    let (start, clock) = (scheduler.options().start, process.clock);
    let (from, to) = (clock.timestamp(process.from)?, clock.timestamp(process.to)?);
    if start < from || start.duration_since(to) > STILL {
        return None;
    }
    let (_, mut places) = LogReport::new(log, Some(clock.stamp(start)))?.queue_places()?;
    for place in &mut places {
        with_own_rejectors(place, scheduler);
    }
    Some(Operation::TakeLog { time: start, places })
}

/// Takes the plugins of our own decision for a pod in backoffQ that was rejected, where the log lists none and has no message.
fn with_own_rejectors(place: &mut PlaceInLog, scheduler: &Scheduler) {
    if !matches!(place.queue, QueueInLog::Backoff(_)) || place.error || !place.plugins.is_empty() {
        return;
    }
    let pod = scheduler.state().cluster().pods.get(&place.pod);
    let decision = pod.map(|pod| scheduler.dry_decision(pod, PostFilter::LeaveOut));
    if let Some(diagnosis) = decision.as_ref().and_then(|decision| decision.diagnosis()) {
        place.plugins = diagnosis.unschedulable_plugins;
    }
}

/// Limit on the attempts on the timeline of a dump; the last ones are kept.
pub(super) const MAX_ATTEMPTS: usize = 1000;

/// Puts the scheduler's last attempts on the timeline of a session, at most `limit`. The last attempt of each pending pod also gets the
/// comparison with our decision.
pub(super) fn onto_timeline(log: &SchedulerLog, session: &mut Session, limit: usize) {
    let Some(report) = LogReport::new(log, None) else { return };
    let scheduler = session.scheduler().clone();
    let attempts = report.timeline(limit, &scheduler, Some(scheduler.options().start));
    for attempt in attempts {
        session.log(attempt);
    }
    session.timeline_mut().seek(Cursor::END);
}

/// Returns the attempts in a log that is of the time of a timeline; none without a log.
pub(super) fn reported(log: Option<&SchedulerLog>) -> Vec<ReportedAttempt> {
    log.and_then(|log| LogReport::new(log, None)).map(|report| report.reported()).unwrap_or_default()
}

/// Parses a time as the log has it: RFC 3339, the same without a zone, or the time of day alone.
fn time(text: &str, log: &SchedulerLog) -> Result<Stamp, Failure> {
    let wrong = || Failure::usage(format!("--at {text}: expected a time such as 2026-11-20T18:26:00Z, or 18:26:00 of the log's last day"));
    let process = log.leading(None).and_then(|index| log.processes.get(index));
    let Some(process) = process else { return Ok(Stamp::default()) };
    let clock = process.clock;
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(clock.stamp(time));
    }
    // Missing parts are those of the log's last line; the rest is in the zone that the answers show.
    let plain = Clock { year: true, ..clock };
    let last = plain.show(process.to);
    let full = if text.get(4..5) == Some("-") {
        text.to_owned()
    } else if text.get(2..3) == Some("-") {
        format!("{}{text}", last.get(..5).unwrap_or_default())
    } else {
        format!("{}{text}", last.get(..11).unwrap_or_default())
    };
    let time = format!("{}Z", full.trim_end_matches('Z')).parse::<Timestamp>().map_err(|_| wrong())?;
    Ok(plain.stamp(time))
}
