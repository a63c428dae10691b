//! The history in etcd's database as moments and steps, as a journal has them.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::journal::{RecordedChange, recorded_changes};
use super::read::etcd::{self, History, HistoryChange, HistoryStep, HistorySteps, HistoryText};
use super::read::input::OpenText;
use super::read::limits::{Budget, Limits};

/// The state of a cluster at each revision since etcd's last compaction, in a snapshot or a member's database.
#[derive(Clone, Debug)]
pub struct EtcdHistory(Arc<History>);

/// Why a history cannot be read at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevisionError {
    /// The revision is before the last compaction.
    #[error("the snapshot's history begins at revision {}", WithTime(*.0, *.1))]
    Before(u64, Option<Timestamp>),
    /// The revision is after the newest.
    #[error("the snapshot's history ends at revision {}", WithTime(*.0, *.1))]
    After(u64, Option<Timestamp>),
    /// The API server has written no time into any object.
    #[error("no object of the snapshot has a time; name a revision, as rev:{0}")]
    NoTimes(u64),
}

/// A revision and its time.
struct WithTime(u64, Option<Timestamp>);

impl std::fmt::Display for WithTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.1 {
            Some(time) => write!(f, "{} ({time})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// The changes of a revision.
#[derive(Clone, Debug)]
pub struct EtcdStep {
    pub revision: u64,
    /// The time of the revision, as far as objects say it.
    pub time: Option<Timestamp>,
    /// Changes of objects that scheduling reads, and events.
    pub changes: Vec<RecordedChange>,
}

impl EtcdHistory {
    /// Returns whether a path is a file with etcd's database, compressed or not.
    pub fn is_at(path: &Path) -> bool {
        etcd::is_at(path)
    }

    /// Opens a database.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is damaged so that nothing of it can be.
    pub fn open(path: &Path, limits: &Limits) -> std::io::Result<Self> {
        let opened = History::open(path, &Budget::new(limits, Arc::default()));
        opened.map(|history| Self(Arc::new(history))).map_err(|error| {
            if etcd::is_damage(&error) { std::io::Error::other(format!("the database is damaged: {error}")) } else { error }
        })
    }

    /// Returns the first revision whose state is known: that of the last compaction.
    pub fn begin(&self) -> u64 {
        self.0.begin()
    }

    /// Returns the newest revision.
    pub fn newest(&self) -> u64 {
        self.0.newest()
    }

    /// Returns the time of a revision: the latest that an API server had written into any object by then, as the time of its creation
    /// or of a field's last change; `None` if there is none.
    pub fn time_of(&self, revision: u64) -> Option<Timestamp> {
        self.0.time_of(revision)
    }

    /// Checks that the history has a revision.
    ///
    /// # Errors
    /// Returns an error if it begins later or ends before.
    pub fn check(&self, revision: u64) -> Result<u64, RevisionError> {
        let (begin, newest) = (self.begin(), self.newest());
        if revision < begin {
            return Err(RevisionError::Before(begin, self.time_of(begin)));
        }
        if revision > newest {
            return Err(RevisionError::After(newest, self.time_of(newest)));
        }
        Ok(revision)
    }

    /// Returns the last revision up to a time.
    ///
    /// # Errors
    /// Returns an error if the history begins later or ends before, or has no times.
    pub fn revision_at(&self, time: Timestamp) -> Result<u64, RevisionError> {
        let (begin, newest) = (self.begin(), self.newest());
        let Some(end) = self.time_of(newest) else { return Err(RevisionError::NoTimes(newest)) };
        if self.time_of(begin).is_some_and(|first| time < first) {
            return Err(RevisionError::Before(begin, self.time_of(begin)));
        }
        if time > end {
            return Err(RevisionError::After(newest, Some(end)));
        }
        Ok(self.0.revision_at(time).clamp(begin, newest))
    }

    /// Returns the state at a revision, as the text of a dump.
    pub fn text(&self, revision: u64) -> Arc<dyn OpenText> {
        Arc::new(HistoryText::new(Arc::clone(&self.0), revision))
    }

    /// Returns the revisions that change anything that scheduling reads, in their order.
    pub fn changed(&self) -> Vec<u64> {
        self.0.changed().collect()
    }

    /// Returns the steps after a revision.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened again.
    pub fn after(&self, revision: u64) -> std::io::Result<EtcdSteps<'_>> {
        self.0.after(revision).map(EtcdSteps)
    }
}

/// The steps of a history; see [`EtcdHistory::after`].
pub struct EtcdSteps<'a>(HistorySteps<'a>);

impl Iterator for EtcdSteps<'_> {
    type Item = EtcdStep;

    fn next(&mut self) -> Option<EtcdStep> {
        loop {
            let HistoryStep { revision, time, changes } = self.0.next()?;
            let changes = changes.into_iter().flat_map(|change| match change {
                HistoryChange::Put(text) => recorded_changes(&text),
                HistoryChange::Gone(kind, key) => vec![RecordedChange::Gone(kind, key)],
                HistoryChange::Unreadable => vec![RecordedChange::Unreadable],
            });
            let changes: Vec<RecordedChange> = changes.collect();
            if !changes.is_empty() {
                return Some(EtcdStep { revision, time, changes });
            }
        }
    }
}
