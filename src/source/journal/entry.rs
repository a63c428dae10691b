//! Entries: the lines of a keyframe and of changes.
//!
//! | line | means |
//! | --- | --- |
//! | `+Pod TAB TAB ["shop","web"] TAB {...}` | the state of an object, as an item of a capture's list |
//! | `-Pod TAB TAB ["shop","web"]` | the object is gone |
//! | `+Deployment TAB apps/v1 TAB ["shop","web"] TAB {...}` | the state of an object that scheduling does not read, with its API |
//! | `+Event TAB TAB ["","00000007"] TAB {...}` | an event, by its number in the order of arrival |
//! | `+OtherEvent TAB TAB ["","00000007"] TAB {...}` | an event of another component than a scheduler, or about another object than a pod |
//! | `?{...}` | what is known from here on, a [`Knowledge`] |
//!
//! A keyframe is a knowledge and then the states of all objects and events, sorted by [`EntryKey`].

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator as _;

use crate::cluster::neighbors::{NeighborKind, Neighbors};
use crate::cluster::{Key, Kind, KindSet, MissingKinds, MissingReason, Str};

/// The kind in lines about events.
const EVENT: &str = "Event";
/// The kind in lines about events of others.
const OTHER_EVENT: &str = "OtherEvent";

/// The state of a recording at a moment, apart from the objects: which kinds are known, and the cluster's version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Knowledge {
    /// The kinds that are not known, or in part.
    pub unknown: MissingKinds,
    /// The kinds without a list.
    pub unlisted: KindSet,
    /// The kinds whose changes do not arrive, because their list or watch fails.
    pub stale: KindSet,
    /// The cluster's version.
    pub version: Option<String>,
    /// Names and texts are replaced.
    pub redacted: bool,
    /// Which of the kinds that scheduling does not read are known; `None` before they are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbors: Option<KnownNeighbors>,
}

/// Which kinds that scheduling does not read are known, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct KnownNeighbors {
    /// The kinds that are listed.
    listed: BTreeSet<String>,
    /// The kinds that are not known, or in part, with the reason.
    withheld: BTreeMap<String, String>,
    /// Why events about other objects than pods are not known.
    events: Option<String>,
}

impl KnownNeighbors {
    pub(super) fn of(neighbors: &Neighbors) -> Self {
        Self {
            listed: neighbors.listed().map(|kind| kind.to_string()).collect(),
            withheld: neighbors.withheld().map(|(kind, why)| (kind.to_string(), why.to_string())).collect(),
            events: neighbors.events_withheld.map(|why| why.to_string()),
        }
    }

    /// Returns whether a kind is listed.
    pub(super) fn lists(&self, kind: NeighborKind) -> bool {
        self.listed.contains(<&str>::from(kind))
    }

    /// Returns why a kind is not known, or in part. A reason that is not known counts as a failure.
    pub(super) fn why(&self, kind: NeighborKind) -> Option<MissingReason> {
        self.withheld.get(<&str>::from(kind)).map(|why| why.parse().unwrap_or(MissingReason::Failed))
    }

    /// Returns why events about other objects than pods are not known.
    pub(super) fn why_no_events(&self) -> Option<MissingReason> {
        self.events.as_ref().map(|why| why.parse().unwrap_or(MissingReason::Failed))
    }

    /// Marks what is listed as known in part.
    pub(super) fn doubt(&mut self) {
        let part = MissingReason::Incomplete.to_string();
        self.withheld.extend(std::mem::take(&mut self.listed).into_iter().map(|kind| (kind, part.clone())));
        self.events.get_or_insert(part);
    }

    /// Marks in others what is known and what is not.
    pub fn mark(&self, neighbors: &mut Neighbors) {
        for kind in NeighborKind::iter() {
            match self.why(kind) {
                Some(why) => neighbors.withhold(kind, why),
                None if self.lists(kind) => neighbors.add_listed(kind),
                None => {}
            }
        }
        neighbors.events_withheld = self.why_no_events();
    }
}

impl Knowledge {
    /// Returns the kinds that are not known: stale ones count as read in part.
    pub fn missing(&self) -> MissingKinds {
        let mut missing = self.unknown;
        for kind in self.stale.iter() {
            missing.incomplete.insert(kind);
        }
        missing
    }
}

/// The subject of a line: sorts as a capture's objects and events do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum EntryKey {
    Object(Kind, Key),
    /// An object that scheduling does not read, by its kind and API.
    Neighbor(NeighborKind, Str, Key),
    /// An event, by its number in the order of arrival.
    Event(u64),
    /// An event of others, by its number in the order of arrival.
    OtherEvent(u64),
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry<'a> {
    /// The state of an object or event, as JSON.
    Put(EntryKey, &'a [u8]),
    Gone(EntryKey),
    Known(Box<Knowledge>),
}

impl EntryKey {
    /// Returns the kind, and the API of an object that scheduling does not read.
    fn kind(&self) -> (&'static str, &str) {
        match self {
            Self::Object(kind, _) => (kind.into(), ""),
            Self::Neighbor(kind, api_version, _) => (kind.into(), api_version),
            Self::Event(_) => (EVENT, ""),
            Self::OtherEvent(_) => (OTHER_EVENT, ""),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (kind, api_version) = self.kind();
        for field in [kind, api_version] {
            out.write_all(field.as_bytes())?;
            out.write_all(b"\t")?;
        }
        match self {
            Self::Object(_, key) | Self::Neighbor(.., key) => serde_json::to_writer(out, &(key.namespace.as_str(), key.name.as_str()))?,
            Self::Event(number) | Self::OtherEvent(number) => serde_json::to_writer(out, &("", number.to_string()))?,
        }
        Ok(())
    }

    fn read(kind: &[u8], api_version: &[u8], key: &[u8]) -> Option<Self> {
        let (namespace, name): (Str, Str) = serde_json::from_slice(key).ok()?;
        let (kind, api_version) = (std::str::from_utf8(kind).ok()?, std::str::from_utf8(api_version).ok()?);
        if !api_version.is_empty() {
            // Those that scheduling reads too are one with what it reads.
            let kind = kind.parse().ok().filter(|kind: &NeighborKind| !kind.is_in_model())?;
            return Some(Self::Neighbor(kind, api_version.into(), Key { namespace, name }));
        }
        if kind == EVENT || kind == OTHER_EVENT {
            let of = if kind == EVENT { Self::Event } else { Self::OtherEvent };
            return name.as_str().parse().ok().map(of);
        }
        Some(Self::Object(kind.parse().ok()?, Key { namespace, name }))
    }
}

/// Writes the state of an object or event; `item` writes it as JSON without a line break.
pub(super) fn put(out: &mut Vec<u8>, key: &EntryKey, item: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
    out.push(b'+');
    key.write(out)?;
    out.push(b'\t');
    item(out)?;
    out.push(b'\n');
    Ok(())
}

/// Writes that an object is gone.
pub(super) fn gone(out: &mut Vec<u8>, key: &EntryKey) -> io::Result<()> {
    out.push(b'-');
    key.write(out)?;
    out.push(b'\n');
    Ok(())
}

/// Writes what is known from here on.
pub(super) fn known(out: &mut Vec<u8>, knowledge: &Knowledge) -> io::Result<()> {
    out.push(b'?');
    serde_json::to_writer(&mut *out, knowledge)?;
    out.push(b'\n');
    Ok(())
}

/// Reads a line without its line break; `None` if it is none.
pub(super) fn read(line: &[u8]) -> Option<Entry<'_>> {
    let (mark, rest) = line.split_first()?;
    if *mark == b'?' {
        return serde_json::from_slice(rest).ok().map(|knowledge| Entry::Known(Box::new(knowledge)));
    }
    let mut parts = rest.splitn(4, |byte| *byte == b'\t');
    let key = EntryKey::read(parts.next()?, parts.next()?, parts.next()?)?;
    match (mark, parts.next()) {
        (b'+', Some(item)) => Some(Entry::Put(key, item)),
        (b'-', None) => Some(Entry::Gone(key)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
