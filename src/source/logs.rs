//! Reads logs of kube-scheduler from files, directories, archives and standard input, as dumps are read.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;

use super::read::archive::{self, MemberKind, Sort, Stream};
use super::read::input::{BoxRead, Content, Failed, Found, Input, Place, peek};
use super::read::limits::{Budget, Limits};
use super::read::progress::Progress;
use crate::limits::sources::ARCHIVES_WITHIN;
use crate::scheduler_log::{FileFacts, Reader, SchedulerLog, Stamp, first_stamp};
use crate::source::assemble::Loaded;

/// Bytes at the start of a file that are searched for its first time.
const GLANCE: usize = 64 << 10;

/// How to read the times of text logs, which lack year and zone.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogTimes {
    /// A time near the end of logs that have no file time, such as when the dump was taken.
    pub latest: Option<Timestamp>,
    /// Seconds east of UTC.
    pub offset: Option<i32>,
}

/// A log to read.
struct Log {
    name: String,
    place: Place,
    facts: FileFacts,
    first: Option<Stamp>,
}

/// Reads logs of kube-scheduler in the order of their times. It never fails as a whole: errors become
/// [`SchedulerLog::findings`]. Of directories and archives, it reads the files whose path names a scheduler.
pub fn read_scheduler_logs(inputs: &[Input], times: LogTimes, limits: &Limits, progress: &Arc<Progress>) -> SchedulerLog {
    let budget = Budget::new(limits, Arc::clone(progress));
    let mut reader = Reader::default();
    let is_stdin = |input: &Input| matches!(input, Input::Stdin) || matches!(input, Input::Path(path) if path.as_os_str() == "-");
    let (stdin, others): (Vec<Input>, Vec<Input>) = inputs.iter().cloned().partition(is_stdin);
    let found = Found::new(&others);
    for Failed { path, error, .. } in &found.failed {
        reader.failed(path, &error.to_string());
    }
    let mut logs = Vec::new();
    for document in found.documents.into_iter().take(limits.files) {
        if document.found && !names_scheduler(&document.path) && document.path.contains('/') {
            continue;
        }
        let latest = times.latest.or_else(|| modified(&document.content));
        let writer = document.found.then(|| writer(&document.path)).flatten();
        let facts = FileFacts { writer, found: document.found, latest, offset: times.offset };
        let place = Place { base: document.content.clone(), members: Vec::new() };
        match document.content.stream(&budget) {
            Ok(stream) => list(&document.name, stream, &place, &facts, &budget, &mut logs),
            Err(error) => reader.failed(&document.name, &error.to_string()),
        }
    }
    read_all(&mut reader, logs, &budget);
    // Standard input is read as it arrives, so it cannot be ordered among the files.
    if !stdin.is_empty() {
        let facts = FileFacts { latest: times.latest, offset: times.offset, ..FileFacts::default() };
        progress.enter("-");
        let stream = archive::open(Box::new(io::stdin()), None, &budget);
        match stream.sort {
            Sort::Plain => {
                let mut input = stream.reader;
                reader.file("-", &facts, &mut *input, &mut |bytes| watch(&budget, bytes));
            }
            Sort::Tar | Sort::Zip | Sort::Database => reader.failed("-", "an archive on standard input is not read as a log"),
        }
    }
    reader.finish()
}

/// Counts bytes; returns false if the load was cancelled.
fn watch(budget: &Budget, bytes: u64) -> bool {
    budget.progress().add(bytes, 0);
    !budget.progress().is_cancelled()
}

fn read_all(reader: &mut Reader, mut logs: Vec<Log>, budget: &Budget) {
    // Files without a time come last; the sort keeps the given order of equal times.
    logs.sort_by_key(|log| log.first.map_or((true, None), |first| (false, Some(first))));
    for log in &logs {
        budget.progress().enter(&log.name);
        let read = log.place.within(budget, &mut |stream| {
            let mut input = stream.reader;
            reader.file(&log.name, &log.facts, &mut *input, &mut |bytes| watch(budget, bytes));
            Ok(String::new())
        });
        if let Err(error) = read {
            reader.failed(&log.name, &error.to_string());
        }
    }
}

/// Reads the logs of kube-scheduler in a dump; `None` if it has none.
pub fn read_logs_of_dump(loaded: &Loaded, times: LogTimes, limits: &Limits, progress: &Arc<Progress>) -> Option<SchedulerLog> {
    if loaded.logs.0.is_empty() {
        return None;
    }
    let budget = Budget::new(limits, Arc::clone(progress));
    let mut reader = Reader::default();
    let mut logs = Vec::new();
    for (name, place) in &loaded.logs.0 {
        let path = name.rsplit("!/").next().unwrap_or(name);
        let facts = FileFacts { writer: writer(path), found: true, latest: times.latest, offset: times.offset };
        let listed = place.within(&budget, &mut |stream| {
            list(name, stream, place, &facts, &budget, &mut logs);
            Ok(String::new())
        });
        if let Err(error) = listed {
            reader.failed(name, &error.to_string());
        }
    }
    read_all(&mut reader, logs, &budget);
    Some(reader.finish()).filter(|log| !log.is_empty())
}

/// Adds a file, or the members of an archive, to `logs`.
fn list(name: &str, stream: Stream<'_>, place: &Place, facts: &FileFacts, budget: &Budget, logs: &mut Vec<Log>) {
    if stream.sort == Sort::Plain {
        let (start, _) = peek(stream.reader, GLANCE);
        let first = first_stamp(&start, facts);
        if first.is_some() || !facts.found {
            logs.push(Log { name: name.to_owned(), place: place.clone(), facts: facts.clone(), first });
        }
        return;
    }
    if stream.sort == Sort::Database || place.members.len() == ARCHIVES_WITHIN {
        return;
    }
    let base = place.members.is_empty().then(|| place.base.clone());
    // An archive that breaks off is reported when its members are read.
    let _ = archive::members(stream, base.as_ref(), budget, None, &mut |number, head, reader: BoxRead<'_>| {
        if head.kind == MemberKind::File && names_scheduler(&head.name) {
            let members = place.members.iter().copied().chain([number]).collect();
            let inner = Place { base: place.base.clone(), members };
            let facts = FileFacts { writer: writer(&head.name), found: true, ..facts.clone() };
            let stream = archive::open(reader, head.size, budget);
            list(&format!("{name}!/{}", head.name), stream, &inner, &facts, budget, logs);
        }
        true
    });
}

fn names_scheduler(path: &str) -> bool {
    path.to_ascii_lowercase().contains("scheduler")
}

/// Returns the directory of a path that names a scheduler's pod, such as `kube-scheduler-cp-1` or
/// `openshift-kube-scheduler-cp-1`. Files of one pod are of one scheduler.
fn writer(path: &str) -> Option<String> {
    let (directories, file) = path.rsplit_once('/')?;
    let named = |part: &&str| part.contains("kube-scheduler-");
    directories.split('/').rev().find(named).map(str::to_owned).or_else(|| {
        // `kube-system/kube-scheduler-cp-1.log`, or with the container after the pod.
        Some(file).filter(named).map(|file| file.split('.').next().unwrap_or(file).to_owned())
    })
}

fn modified(content: &Content) -> Option<Timestamp> {
    let Content::File(path) = content else { return None };
    Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_known_by_its_directory() {
        for (path, expected) in [
            ("kube-system/kube-scheduler-cp-1/logs.txt", Some("kube-scheduler-cp-1")),
            ("ns/pods/openshift-kube-scheduler-cp-1/kube-scheduler/kube-scheduler/logs/current.log", Some("openshift-kube-scheduler-cp-1")),
            ("logs/kube-scheduler-cp-1.log", Some("kube-scheduler-cp-1")),
            ("scheduler.log", None),
            ("logs/scheduler.1.log", None),
        ] {
            assert_eq!(writer(path).as_deref(), expected, "{path}");
        }
    }
}
