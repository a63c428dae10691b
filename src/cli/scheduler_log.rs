//! `schedscope log`: what kube-scheduler's own log tells.

use std::sync::Arc;

use jiff::Timestamp;

use super::args::LogArgs;
use super::{Failure, print};
use crate::report::{Answer, LogReport};
use crate::scheduler_log::{Clock, SchedulerLog, Stamp};
use crate::source::{Input, LogTimes, Progress, read_scheduler_logs};

/// Reads logs and prints.
pub(super) fn run(args: &LogArgs) -> Result<u8, Failure> {
    let limits = args.limits.limits();
    let input = |path: &std::path::PathBuf| if path.as_os_str() == "-" { Input::Stdin } else { Input::Path(path.clone()) };
    let latest = match &args.from[..] {
        [] => None,
        paths => {
            let loaded = super::load(&paths.iter().map(input).collect::<Vec<_>>(), &limits)?;
            loaded.report.newest
        }
    };
    let times = LogTimes { latest, offset: args.zone.log_timezone };
    let inputs: Vec<Input> = args.files.iter().map(input).collect();
    let progress = Arc::new(Progress::default());
    let log = super::watched_by(&progress, false, || read_scheduler_logs(&inputs, times, &limits, &progress));
    tell(&log);
    let at = args.at.as_deref().map(|text| time(text, &log)).transpose()?;
    let Some(report) = LogReport::new(&log, at) else { return Err(Failure::source("nothing of kube-scheduler could be read")) };
    let answer = print(&args.output.write(&Answer::Log(&report), "").map_err(|e| Failure::source(e.to_string()))?);
    // The program ends here: to give a large log back piece by piece would only take time.
    std::mem::forget(log);
    answer
}

/// Findings go to standard error.
fn tell(log: &SchedulerLog) {
    for finding in &log.findings {
        eprintln!("{finding}");
    }
    if log.more_findings > 0 {
        eprintln!("and {} more", log.more_findings);
    }
}

/// Reads a time as the log has it: RFC 3339, the same without a zone, or the time of day alone.
fn time(text: &str, log: &SchedulerLog) -> Result<Stamp, Failure> {
    let wrong = || Failure::usage(format!("--at {text}: expected a time such as 2026-11-20T18:26:00Z, or 18:26:00 of the log's last day"));
    let process = log.leading(None).and_then(|index| log.processes.get(index));
    let Some(process) = process else { return Ok(Stamp::default()) };
    let clock = process.clock;
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(clock.stamp(time));
    }
    // What is left out is as in the log's last line, which is shown in full.
    let plain = Clock { year: true, offset: clock.offset.map(|_| 0) };
    let last = plain.show(process.to);
    let full = match text.len() {
        _ if text.get(4..5) == Some("-") => text.to_owned(),
        _ if text.get(2..3) == Some("-") => format!("{}{text}", last.get(..5).unwrap_or_default()),
        _ => format!("{}{text}", last.get(..11).unwrap_or_default()),
    };
    let time = format!("{}Z", full.trim_end_matches('Z')).parse::<Timestamp>().map_err(|_| wrong())?;
    Ok(Clock { year: true, offset: Some(0) }.stamp(time))
}
