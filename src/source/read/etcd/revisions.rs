//! Finds the newest value of each key in etcd's database.
//!
//! The bucket `key` holds each change of the last revisions: its key is the revision of the change, its value an
//! `mvccpb.KeyValue` with the key that was changed. A deletion has a mark behind its revision. Compaction removes what newer
//! changes have replaced, so the last change of a key is its state.

use std::collections::HashMap;
use std::io::{Read, Seek};

use super::bolt::{Bolt, Bucket, Error, Flaw, Leaf};
use super::wire::{Fields, Wire};

/// Bytes of a revision: the transaction, an underscore, and the change within it.
const REVISION: usize = 17;
/// The mark behind the revision of a deletion.
const DELETED: u8 = b't';

/// The place of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The transaction of the change, which is the object's `resourceVersion`.
    pub(super) revision: u64,
    pub(super) page: u64,
    pub(super) index: u32,
}

/// The newest values of all keys.
#[derive(Debug, Default)]
pub(super) struct Revisions {
    /// By key, in order.
    pub(super) live: Vec<(Box<[u8]>, Place)>,
    /// The newest revision.
    pub(super) newest: u64,
}

/// Reads all revisions; passes what cannot be used to `broken`.
pub(super) fn read<R: Read + Seek>(bolt: &mut Bolt<R>, broken: &mut dyn FnMut(Error)) -> Result<Revisions, Error> {
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
    let mut last: HashMap<Box<[u8]>, Option<Place>> = HashMap::new();
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
                let name = entry(value).ok_or(flawed(Flaw::Entry))?.0;
                let place = (!deleted).then_some(Place { revision: revision.0, page, index: index as u32 });
                match last.get_mut(name) {
                    Some(known) => *known = place,
                    None => {
                        last.insert(name.into(), place);
                    }
                }
            }
            Ok(())
        },
        broken,
    );
    let mut live: Vec<(Box<[u8]>, Place)> = last.into_iter().filter_map(|(key, place)| place.map(|place| (key, place))).collect();
    live.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(Revisions { live, newest: before.0 })
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
