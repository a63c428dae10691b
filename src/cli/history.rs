//! Sources that hold their own past, journals and etcd's database: the state at a moment.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::args::{ConnectArgs, SourceArgs};
use super::{Failure, StandardError};
use crate::cluster::{Key, Kind};
use crate::limits::sources::JOURNAL_LOG;
use crate::output::Lines;
use crate::plural::{and_more, count};
use crate::session::AtTime;
use crate::source::history::{EtcdHistory, RevisionError};
use crate::source::journal::{Deletion, Journal, JournalLog, Moment, RecordedChange};
use crate::source::{Input, Limits, Loaded};

/// Gaps that are listed on standard error.
const LISTED_GAPS: usize = 5;

/// A source that holds its own past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Past {
    /// The folder of a journal.
    Journal(PathBuf),
    /// A file with etcd's database.
    Etcd(PathBuf),
}

impl Past {
    /// Returns the source at a path; `None` if it is another.
    pub(super) fn at(path: &Path) -> Option<Self> {
        if Journal::is_at(path) {
            return Some(Self::Journal(path.to_owned()));
        }
        EtcdHistory::is_at(path).then(|| Self::Etcd(path.to_owned()))
    }

    pub(super) fn path(&self) -> &Path {
        let (Self::Journal(path) | Self::Etcd(path)) = self;
        path
    }

    pub(super) fn failed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::source(format!("{}: {error}", self.path().display()))
    }

    /// Loads the text of a moment.
    pub(super) fn load(
        &self,
        text: std::sync::Arc<dyn crate::source::OpenText>,
        time: Option<Timestamp>,
        read: &dyn Fn(&[Input]) -> Loaded,
    ) -> Loaded {
        let mut loaded = read(&[Input::Text { name: self.path().display().to_string(), text }]);
        if time.is_some() {
            // The moment is the time of the state, whatever the clocks of its objects say.
            (loaded.report.taken, loaded.report.newest) = (time, time);
        }
        loaded
    }
}

/// Time before a moment of a journal of which the schedulers' log is read.
const LOG_BEFORE: SignedDuration = SignedDuration::from_hours(1);

impl Past {
    /// Adds the schedulers' log that a journal has from an hour before a time up to another one; returns lines about what it lacks.
    pub(super) fn add_log(&self, journal: &Journal, from: Timestamp, to: Timestamp, loaded: &mut Loaded) -> Result<Lines, Failure> {
        let from = from.checked_sub(LOG_BEFORE).unwrap_or(Timestamp::MIN);
        let JournalLog { writers, dropped, is_cut, damaged } = journal.log(from, to).map_err(|error| self.failed(&error))?;
        let mut lines = Lines::default();
        for (writer, text) in writers {
            loaded.logs.add(format!("{}!/{writer}", self.path().display()), text);
        }
        if dropped > 0 {
            lines.line(format_args!(
                "the schedulers' log is incomplete: {} came too fast and were not recorded",
                count(dropped as usize, "byte")
            ));
        }
        if is_cut {
            lines.line(format_args!("only the newest {} MiB of the schedulers' log are read", JOURNAL_LOG >> 20));
        }
        if damaged > 0 {
            lines.line(format_args!("{} of the schedulers' log could not be read", count(damaged, "frame")));
        }
        Ok(lines)
    }
}

/// Returns the source with its own past that a command names as its only source; `None` for any other source.
///
/// # Errors
/// Fails if `--at` is given without such a source.
pub(super) fn named(paths: &[PathBuf], at: Option<AtTime>) -> Result<Option<Past>, Failure> {
    let past = if let [path] = paths { Past::at(path) } else { None };
    if at.is_some() && past.is_none() {
        let words = "--at needs one journal, the folder that schedscope record writes, or one snapshot of etcd that is in no archive";
        return Err(Failure::usage(words));
    }
    if paths.len() > 1 && paths.iter().any(|path| Journal::is_at(path)) {
        return Err(Failure::usage("a journal cannot be merged with other sources"));
    }
    if let Some(Past::Journal(path)) = &past
        && let Some(line) = unread_line(path)
    {
        crate::output::say(line);
    }
    Ok(past)
}

/// Returns a line about the files of a journal's folder that are not of the journal; `None` if there are none.
fn unread_line(folder: &Path) -> Option<String> {
    let is_of_journal = |name: &str| name.starts_with('.') || name.starts_with("segment-") || name == "journal.lock";
    let names = folder.read_dir().ok()?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut others: Vec<String> = names.filter(|name| !is_of_journal(name)).collect();
    // The first in order, whatever the order of the folder is.
    others.sort_unstable();
    let first = others.first()?;
    let more = and_more(others.len());
    Some(format!("{}: only the journal in it is read, not {first}{more}", folder.display()))
}

/// Returns the schedulers' log of a journal that is the only path; `None` for other paths. Its gaps go to standard error.
///
/// # Errors
/// Fails if the journal cannot be read.
pub(super) fn recorded_log(paths: &[PathBuf]) -> Result<Option<Loaded>, Failure> {
    let [path] = paths else { return Ok(None) };
    if !Journal::is_at(path) {
        return Ok(None);
    }
    let (past, journal) = (Past::Journal(path.clone()), journal_at(path)?);
    let mut loaded = Loaded::default();
    crate::output::say_all(&past.add_log(&journal, journal.begin(), journal.end(), &mut loaded)?);
    Ok(Some(loaded))
}

pub(super) fn journal_at(path: &Path) -> Result<Journal, Failure> {
    Journal::open(path).map_err(|error| Failure::source(error.to_string()))
}

/// Returns the time of a moment of a journal; by default, that of its end.
pub(super) fn time_in(journal: &Journal, at: Option<AtTime>) -> Result<Timestamp, Failure> {
    match at.map(|at| at.in_record(journal.end())) {
        None => Ok(journal.end()),
        Some(Some(time)) => Ok(time),
        Some(None) => Err(Failure::usage("--at rev:N needs a snapshot of etcd; the moments of a journal are times")),
    }
}

/// Returns the revision of a moment of etcd's history; by default, the newest.
pub(super) fn revision_in(history: &EtcdHistory, at: Option<AtTime>) -> Result<u64, RevisionError> {
    match at {
        None => Ok(history.newest()),
        Some(AtTime::Revision(revision)) => history.check(revision),
        Some(at) => {
            let end = history.time_of(history.newest()).ok_or(RevisionError::NoTimes(history.newest()))?;
            history.revision_at(at.in_record(end).unwrap_or(end))
        }
    }
}

/// Returns the lines about what the journal does not know of a moment.
pub(super) fn doubts(moment: &Moment) -> Lines {
    let mut lines = Lines::default();
    if moment.in_doubt {
        lines.line(format_args!(
            "the journal is incomplete at {}: changes before that moment may be missing, so every kind counts as known in part",
            moment.time
        ));
    }
    let hidden = moment.gaps.len().saturating_sub(LISTED_GAPS);
    for gap in moment.gaps.iter().skip(hidden) {
        lines.line(format_args!("gap in the journal: {gap}"));
    }
    let more = hidden + moment.more_gaps;
    if more > 0 {
        lines.line(format_args!("{more} more gaps since the last keyframe"));
    }
    lines
}

impl Past {
    /// Reads the state at a moment; by default, the end. Doubts go to standard error.
    ///
    /// # Errors
    /// Fails if the source does not reach the moment, or cannot be read.
    pub(super) fn read(&self, at: Option<AtTime>, limits: &Limits) -> Result<Loaded, Failure> {
        let watched = |inputs: &[Input]| super::read_inputs(inputs, limits, &StandardError);
        let loaded = match self {
            Self::Journal(path) => {
                let journal = journal_at(path)?;
                let moment = journal.at(time_in(&journal, at)?).map_err(|error| self.failed(&error))?;
                crate::output::say_all(&doubts(&moment));
                let mut loaded = self.load(moment.text(), Some(moment.time), &watched);
                crate::output::say_all(&self.add_log(&journal, moment.time, moment.time, &mut loaded)?);
                loaded
            }
            Self::Etcd(path) => {
                let history = EtcdHistory::open(path, limits).map_err(|error| self.failed(&error))?;
                let revision = revision_in(&history, at).map_err(|error| self.failed(&error))?;
                self.load(history.text(revision), history.time_of(revision), &watched)
            }
        };
        super::tell(&loaded, &StandardError);
        if loaded.objects.is_empty() {
            return Err(self.failed(&"the state at this moment has no objects"));
        }
        super::judgeable(loaded)
    }

    /// Returns the moment before a pod was deleted last, and words for it; `None` if it was not.
    ///
    /// # Errors
    /// Fails if the source cannot be read.
    pub(super) fn before_deletion(&self, pod: &Key, limits: &Limits) -> Result<Option<(AtTime, String)>, Failure> {
        match self {
            Self::Journal(path) => {
                let deletion = journal_at(path)?.last_deletion(Kind::Pod, pod).map_err(|error| self.failed(&error))?;
                Ok(deletion.map(|Deletion { before, after }| {
                    let words = format!("{pod} was deleted after {before} and before {after}; this is the moment before");
                    (AtTime::At(before), words)
                }))
            }
            Self::Etcd(path) => {
                let history = EtcdHistory::open(path, limits).map_err(|error| self.failed(&error))?;
                let steps = history.after(history.begin()).map_err(|error| self.failed(&error))?;
                let is_gone = |change: &RecordedChange| matches!(change, RecordedChange::Gone(Kind::Pod, key) if key == pod);
                let gone = steps.filter(|step| step.changes.iter().any(is_gone)).last();
                Ok(gone.map(|step| {
                    let before = step.revision.saturating_sub(1);
                    let time = step.time.map_or_else(String::new, |time| format!(" ({time})"));
                    let words = format!("{pod} was deleted at revision {}{time}; this is the revision before", step.revision);
                    (AtTime::Revision(before), words)
                }))
            }
        }
    }
}

/// Loads the source that a command names, at a moment if it holds its past.
///
/// # Errors
/// Fails if it cannot be read.
pub(super) fn read_source(source: &SourceArgs, connect: &ConnectArgs, limits: &Limits, at: Option<AtTime>) -> Result<Loaded, Failure> {
    match named(&source.from, at)? {
        Some(past) if !connect.is_given() && (at.is_some() || matches!(past, Past::Journal(_))) => past.read(at, limits),
        _ => super::read(source, connect, limits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_of_a_journals_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), "").unwrap();
        ["segment-0000000001.ssj", "journal.lock", ".hidden"].into_iter().for_each(write);
        assert_eq!(unread_line(folder.path()), None);
        ["b.json", "a.json"].into_iter().for_each(write);
        let line = unread_line(folder.path()).unwrap();
        assert!(line.ends_with(": only the journal in it is read, not a.json (and 1 more)"), "{line}");
    }

    #[test]
    fn at_is_for_sources_with_a_past() {
        let paths = ["a.json".into(), "b.json".into()];
        assert!(named(&paths, Some(AtTime::Before(SignedDuration::ZERO))).is_err());
        assert_eq!(named(&paths, None).unwrap(), None);
    }
}
