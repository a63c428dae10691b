//! The history in etcd's database: the state at each revision since the last compaction, and the changes between them.

use std::collections::vec_deque;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::bolt::Bolt;
use super::keys::{Keys, Stored};
use super::revisions::{self, KeyChange, Revisions};
use super::schema::schema;
use super::{DIGEST_DIFFERS, Flaws, HEAD, Objects, State, Values, Walk, damage, is_database, is_whole, write_value_of};
use crate::cluster::{Key, Kind};
use crate::limits::sources::{ETCD_CHANGES, ETCD_IN_MEMORY};
use crate::source::read::archive::{database_within, decompress};
use crate::source::read::input::{BoxRead, OpenText, peek};
use crate::source::read::limits::Budget;
use crate::source::read::made::MadeText;

/// Returns whether a path is a file with etcd's database, compressed or not.
pub(in crate::source) fn is_at(path: &Path) -> bool {
    // A pipe gives its bytes once.
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    let (reader, _, _) = decompress(Box::new(file), None, &Budget::unlimited());
    is_database(&peek(reader, HEAD).0)
}

/// A database's bytes.
#[derive(Clone, Debug)]
enum Content {
    File(PathBuf),
    /// Those of a database that was compressed.
    Memory(Arc<Vec<u8>>),
}

/// A source of a database that can be read at any place.
trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

impl Content {
    fn open(&self) -> io::Result<Box<dyn ReadSeek + '_>> {
        Ok(match self {
            Self::File(path) => Box::new(File::open(path)?),
            Self::Memory(bytes) => Box::new(Cursor::new(bytes.as_slice())),
        })
    }
}

/// The history in a database.
#[derive(Debug)]
pub(in crate::source) struct History {
    content: Content,
    found: Revisions,
    keys: Keys,
    flaws: Flaws,
}

/// A change of an object that scheduling reads, or of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) enum HistoryChange {
    /// The new state, as JSON.
    Put(Vec<u8>),
    Gone(Kind, Key),
    /// A value that cannot be read.
    Unreadable,
}

/// The changes of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) struct HistoryStep {
    pub(in crate::source) revision: u64,
    /// The time that is known of it.
    pub(in crate::source) time: Option<Timestamp>,
    pub(in crate::source) changes: Vec<HistoryChange>,
}

impl History {
    /// Opens a database.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is damaged so that nothing of it can be.
    pub(in crate::source) fn open(path: &Path, budget: &Budget) -> io::Result<Self> {
        Self::keeping(path, budget, ETCD_CHANGES)
    }

    pub(super) fn keeping(path: &Path, budget: &Budget, keep: usize) -> io::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let (reader, _, is_compressed) = decompress(Box::new(file), Some(size), budget);
        let content = if is_compressed {
            Content::Memory(Arc::new(database_within(reader, ETCD_IN_MEMORY)?))
        } else {
            Content::File(path.to_owned())
        };
        let mut flaws = Flaws::default();
        let (found, keys) = {
            let mut file = content.open()?;
            if !is_whole(&mut file)? {
                flaws.add(DIGEST_DIFFERS);
            }
            let mut bolt = Bolt::open(file).map_err(damage)?;
            let found = revisions::read(&mut bolt, keep, &mut |error| flaws.add(error)).map_err(damage)?;
            let keys = Keys::of(found.keys());
            (found, keys)
        };
        Ok(Self { content, found, keys, flaws })
    }

    /// Returns the first revision whose state is known.
    pub(in crate::source) fn begin(&self) -> u64 {
        self.found.begin
    }

    /// Returns the newest revision.
    pub(in crate::source) fn newest(&self) -> u64 {
        self.found.newest
    }

    /// Returns the time of a revision: the latest that an API server had written into any object by then.
    pub(in crate::source) fn time_of(&self, revision: u64) -> Option<Timestamp> {
        self.found.clock.at(revision)
    }

    /// Returns the last revision up to a time.
    pub(in crate::source) fn revision_at(&self, time: Timestamp) -> u64 {
        self.found.clock.first_after(time).map_or(self.found.newest, |after| after.saturating_sub(1))
    }

    #[cfg(test)]
    pub(super) fn found_changes(&self) -> usize {
        self.found.changes.len()
    }

    /// Returns the revisions that change an object that scheduling reads, in their order.
    pub(in crate::source) fn changed(&self) -> impl Iterator<Item = u64> {
        let is_read = |change: &&KeyChange| self.keys.stored(&change.key).is_some();
        let mut last = 0;
        self.found.changes.iter().filter(is_read).map(|change| change.revision).filter(move |revision| {
            let is_next = *revision != last;
            last = *revision;
            is_next
        })
    }

    /// Returns the changes after a revision.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened again.
    pub(in crate::source) fn after(&self, revision: u64) -> io::Result<HistorySteps<'_>> {
        let bolt = Bolt::open(self.content.open()?).map_err(damage)?;
        let from = self.found.changes.partition_point(|change| change.revision <= revision);
        let changes = self.found.changes.range(from..);
        Ok(HistorySteps { history: self, changes, next: None, values: Values::new(bolt) })
    }
}

/// The changes of a history, revision by revision. Revisions that change nothing that scheduling reads are passed over.
pub(in crate::source) struct HistorySteps<'a> {
    history: &'a History,
    changes: vec_deque::Iter<'a, KeyChange>,
    next: Option<&'a KeyChange>,
    values: Values<Box<dyn ReadSeek + 'a>>,
}

impl HistorySteps<'_> {
    fn change(&mut self, change: &KeyChange) -> Option<HistoryChange> {
        let stored = self.history.keys.stored(&change.key)?;
        let Some(place) = change.value else {
            // Events expire, which says nothing.
            return if let Stored::Object(kind, key) = stored { Some(HistoryChange::Gone(kind, key)) } else { None };
        };
        let mut text = Vec::new();
        let expected = stored.kind();
        let value = self.values.get(place).ok();
        let written = value.and_then(|value| write_value_of(expected, &mut text, schema(), value, place.revision).ok());
        Some(if written.is_some() { HistoryChange::Put(text) } else { HistoryChange::Unreadable })
    }
}

impl Iterator for HistorySteps<'_> {
    type Item = HistoryStep;

    fn next(&mut self) -> Option<HistoryStep> {
        loop {
            let first = self.next.take().or_else(|| self.changes.next())?;
            let (revision, mut changes) = (first.revision, Vec::new());
            changes.extend(self.change(first));
            while let Some(change) = self.changes.next() {
                if change.revision != revision {
                    self.next = Some(change);
                    break;
                }
                changes.extend(self.change(change));
            }
            if !changes.is_empty() {
                return Some(HistoryStep { revision, time: self.history.time_of(revision), changes });
            }
        }
    }
}

/// The state at a revision, as the text of a dump.
#[derive(Debug)]
pub(in crate::source) struct HistoryText {
    history: Arc<History>,
    revision: u64,
}

impl HistoryText {
    pub(in crate::source) fn new(history: Arc<History>, revision: u64) -> Self {
        Self { history, revision }
    }
}

impl OpenText for HistoryText {
    fn open(&self) -> io::Result<BoxRead<'_>> {
        let history = &self.history;
        let bolt = Bolt::open(history.content.open()?).map_err(damage)?;
        let walk = Walk::new(bolt, history.keys.clone(), history.found.at(self.revision));
        let state = State::Begun(Box::new(walk), self.revision);
        Ok(Box::new(MadeText::new(Objects { state, flaws: history.flaws.clone() })))
    }

    fn is_of_etcd(&self) -> bool {
        true
    }
}
