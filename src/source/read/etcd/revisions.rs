//! Finds the values of each key in etcd's database: the newest, and those since the last compaction.
//!
//! The bucket `key` holds each change of the last revisions: its key is the revision of the change, its value an
//! `mvccpb.KeyValue` with the key that was changed. A deletion has a mark behind its revision. Compaction removes what newer
//! changes have replaced up to its revision, so the state at that revision and at each later one can be read. The bucket `meta`
//! holds the revision of the last compaction, and of one that is not finished.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{Read, Seek};
use std::sync::Arc;

use super::bolt::{Bolt, Bucket, Error, Flaw, Leaf};
use super::clock::{Clock, written_at};
use super::keys;
use super::wire::{Fields, Wire};

/// Bytes of a revision: the transaction, an underscore, and the change within it.
const REVISION: usize = 17;
/// The mark behind the revision of a deletion.
const DELETED: u8 = b't';
/// The revisions of compactions, in the bucket `meta`.
const COMPACTIONS: [&[u8]; 2] = [b"scheduledCompactRev", b"finishedCompactRev"];

/// The place of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The transaction of the change, which is the object's `resourceVersion`.
    pub(super) revision: u64,
    pub(super) page: u64,
    pub(super) index: u32,
}

#[derive(Clone, Debug)]
pub(super) struct KeyChange {
    pub(super) key: Arc<[u8]>,
    /// The transaction.
    pub(super) revision: u64,
    /// The new value; `None` if the key was deleted.
    pub(super) value: Option<Place>,
}

/// The state at a revision, and the changes after it.
#[derive(Debug, Default)]
pub(super) struct Revisions {
    /// The values at `begin`, by key.
    base: HashMap<Arc<[u8]>, Place>,
    /// The changes after `begin`, in their order.
    pub(super) changes: VecDeque<KeyChange>,
    /// The first revision whose state is known.
    pub(super) begin: u64,
    /// The newest revision.
    pub(super) newest: u64,
    /// The times of the revisions.
    pub(super) clock: Clock,
}

impl Revisions {
    /// Returns the keys of all values, once or more.
    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.base.keys().map(|key| &**key).chain(self.changes.iter().map(|change| &*change.key))
    }

    /// Returns the values at a revision, in the order of their keys.
    pub(super) fn at(&self, revision: u64) -> Vec<(Arc<[u8]>, Place)> {
        let mut last: HashMap<&Arc<[u8]>, Option<Place>> = HashMap::new();
        for change in self.changes.iter().take_while(|change| change.revision <= revision) {
            last.insert(&change.key, change.value);
        }
        let unchanged = self.base.iter().filter(|(key, _)| !last.contains_key(key)).map(|(key, place)| (Arc::clone(key), *place));
        let mut all: Vec<(Arc<[u8]>, Place)> = unchanged.collect();
        all.extend(last.iter().filter_map(|(key, place)| place.map(|place| (Arc::clone(key), place))));
        sorted(all)
    }

    /// Returns the values at the newest revision, in the order of their keys.
    pub(super) fn into_newest(mut self) -> Vec<(Arc<[u8]>, Place)> {
        for change in std::mem::take(&mut self.changes) {
            self.fold(change);
        }
        sorted(self.base.into_iter().collect())
    }

    fn fold(&mut self, change: KeyChange) {
        match change.value {
            Some(place) => drop(self.base.insert(change.key, place)),
            None => drop(self.base.remove(&change.key)),
        }
    }

    /// Moves the beginning forward, until there are at most `keep` changes.
    fn shorten(&mut self, keep: usize) {
        while self.changes.len() > keep {
            let Some(revision) = self.changes.front().map(|change| change.revision) else { return };
            while self.changes.front().is_some_and(|change| change.revision == revision) {
                if let Some(change) = self.changes.pop_front() {
                    self.fold(change);
                }
            }
            self.begin = revision;
            self.clock.forget(revision);
        }
    }
}

fn sorted(mut values: Vec<(Arc<[u8]>, Place)>) -> Vec<(Arc<[u8]>, Place)> {
    values.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    values
}

/// Reads all revisions; passes errors of pages to `broken`. At most `keep` changes are kept as such: with 0, the newest state alone.
pub(super) fn read<R: Read + Seek>(bolt: &mut Bolt<R>, keep: usize, broken: &mut dyn FnMut(Error)) -> Result<Revisions, Error> {
    let root = match bolt.bucket("key")? {
        Bucket::Page(page) => page,
        // A database without a change, or with so few that they are held by the root.
        Bucket::Inline(bytes) => {
            return match Leaf::new(&bytes) {
                Some(leaf) if leaf.len() == 0 => Ok(Revisions::default()),
                _ => Err(Error::NoBucket("key")),
            };
        }
    };
    // Without the revision of the last compaction, only the newest state is known to be whole.
    let compacted = if keep == 0 { None } else { compacted(bolt, broken) };
    let mut found = Revisions { begin: compacted.unwrap_or_default(), ..Revisions::default() };
    let mut names: HashSet<Arc<[u8]>> = HashSet::new();
    let mut before = (0, 0);
    bolt.leaves(
        root,
        &mut |page, leaf| {
            let flawed = |flaw| Error::Page(page, flaw);
            for index in 0..leaf.len() {
                let (_, key, value) = leaf.item(index).ok_or(flawed(Flaw::Element))?;
                let (revision, deleted) = revision(key).ok_or(flawed(Flaw::Entry))?;
                if revision <= before {
                    return Err(flawed(Flaw::Order));
                }
                before = revision;
                let (name, value) = entry(value).ok_or(flawed(Flaw::Entry))?;
                let place = (!deleted).then_some(Place { revision: revision.0, page, index: index as u32 });
                let is_kept = compacted.is_some_and(|compacted| revision.0 > compacted);
                if keep > 0 && !deleted && !keys::is_confidential(name) {
                    found.clock.note(revision.0, written_at(value));
                }
                if is_kept {
                    let known = names.get(name).or_else(|| found.base.get_key_value(name).map(|(key, _)| key)).cloned();
                    let key = known.unwrap_or_else(|| name.into());
                    names.insert(Arc::clone(&key));
                    found.changes.push_back(KeyChange { key, revision: revision.0, value: place });
                    found.shorten(keep);
                    continue;
                }
                match (found.base.get_mut(name), place) {
                    (Some(known), Some(place)) => *known = place,
                    (Some(_), None) => drop(found.base.remove(name)),
                    (None, Some(place)) => drop(found.base.insert(name.into(), place)),
                    (None, None) => {}
                }
            }
            Ok(())
        },
        broken,
    );
    found.newest = before.0;
    found.begin = if compacted.is_some() { found.begin.min(found.newest) } else { found.newest };
    found.clock.forget(found.begin);
    Ok(found)
}

/// Returns the revision of the last compaction, 0 for none; `None` if that cannot be read.
fn compacted<R: Read + Seek>(bolt: &mut Bolt<R>, broken: &mut dyn FnMut(Error)) -> Option<u64> {
    let mut highest = Some(0);
    let mut note = |leaf: Leaf<'_>| {
        for index in 0..leaf.len() {
            match leaf.item(index) {
                Some((_, key, value)) if COMPACTIONS.contains(&key) => {
                    highest = highest.zip(revision(value)).map(|(highest, ((of, _), _))| of.max(highest));
                }
                Some(_) => {}
                None => highest = None,
            }
        }
    };
    let mut failed = false;
    match bolt.bucket("meta") {
        Ok(Bucket::Inline(bytes)) => note(Leaf::new(&bytes)?),
        Ok(Bucket::Page(page)) => {
            let mut visit = |_, leaf: Leaf<'_>| {
                note(leaf);
                Ok(())
            };
            bolt.leaves(page, &mut visit, &mut |error| {
                failed = true;
                broken(error);
            });
        }
        Err(error) => {
            broken(error);
            return None;
        }
    }
    highest.filter(|_| !failed)
}

/// Returns a revision as its transaction and the change within, and whether the change is a deletion.
fn revision(key: &[u8]) -> Option<((u64, u64), bool)> {
    let number = |at: usize| Some(u64::from_be_bytes(key.get(at..at + 8)?.try_into().ok()?));
    let deleted = match key.get(REVISION..)? {
        [] => false,
        [DELETED] => true,
        _ => return None,
    };
    (key[8] == b'_').then_some(((number(0)?, number(9)?), deleted))
}

/// Returns the key and the value of an entry; `None` if it is not an `mvccpb.KeyValue`.
pub(super) fn entry(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut key, mut value) = (None, &[][..]);
    for field in Fields::new(bytes) {
        match field.ok()? {
            (1, Wire::Bytes(bytes)) => key = Some(bytes),
            (5, Wire::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Some((key?, value))
}
