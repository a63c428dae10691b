//! The report of a load: what was read, skipped and missing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use strum::IntoEnumIterator;

use super::origins::Origins;
use super::unpacked::Unpacked;
use crate::cluster::neighbors::{NeighborKind, Neighbors};
use crate::cluster::{Key, Kind, KindSet, MissingKinds, MissingReason, Str};
use crate::source::decode::dump_metadata::{SchedulerHint, ServerVersion};
use crate::source::layout::Layouts;
use crate::source::read::input::{Opened, Place};

/// Numbers of objects of a kind: those read, and those skipped by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCount {
    /// Objects in the cluster.
    pub read: usize,
    /// Skipped: the text could not be decoded.
    pub unreadable: usize,
    /// Skipped: no name.
    pub nameless: usize,
    /// Skipped: a version of the kind that cannot be read.
    pub old_version: usize,
    /// Skipped: a newer state of the same object was read elsewhere.
    pub superseded: usize,
}

impl KindCount {
    /// Returns the number of objects that were seen but are not in the cluster.
    pub fn skipped(&self) -> usize {
        self.unreadable + self.nameless + self.old_version + self.superseded
    }
}

/// A kind of which no object was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    pub kind: Kind,
    /// The facts that are unknown without it, as the rest of a sentence.
    pub effect: &'static str,
}

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// The name that diagnostics use.
    pub name: String,
    /// Its path in the file system; `None` for standard input, embedded text and members of archives.
    pub path: Option<PathBuf>,
    /// The length of its text in bytes, decompressed.
    pub bytes: u64,
    /// The number of objects taken from it.
    pub objects: usize,
}

/// The place of an object's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, as an index in [`Report::files`].
    pub file: u32,
    /// The line on which the object starts, from 1.
    pub line: u32,
    /// Offset of the object's text in the decompressed file. An item of a list that was parsed as a whole has the place
    /// of the list.
    pub(in crate::source) offset: u64,
    pub(in crate::source) length: u32,
    /// The rank of its file among copies of an object.
    pub(in crate::source) rank: u8,
}

/// The kinds and events that a question needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighborsQuestion {
    /// The namespace that it is about; `None` for all.
    pub namespace: Option<String>,
    pub kinds: BTreeSet<NeighborKind>,
    /// Whether events about objects other than pods are needed.
    pub events: bool,
    /// The time after which kinds that are not listed are unknown.
    pub within: Duration,
}

impl NeighborsQuestion {
    /// Returns the question for all kinds and events.
    pub fn all(namespace: Option<String>, within: Duration) -> Self {
        Self { namespace, kinds: NeighborKind::iter().collect(), events: true, within }
    }
}

/// Reads objects of a live cluster again, with the fields that scheduling does not read.
pub trait ReadAgain: Send + Sync + std::fmt::Debug {
    /// Returns an object as it is now; `None` if it cannot be read.
    fn object(&self, kind: Kind, key: &Key) -> Option<serde_json::Value>;
    /// Returns all objects of a kind as they are now.
    ///
    /// # Errors
    /// Why they cannot be read.
    fn objects(&self, kind: Kind) -> Result<Vec<serde_json::Value>, Box<dyn std::error::Error + Send + Sync>>;
    /// Returns the objects and events that scheduling does not read, as far as a question needs them; `None` if the connection has
    /// ended.
    fn neighbors(&self, question: &NeighborsQuestion) -> Option<Neighbors>;
}

/// A report on what was read, skipped and missing; see [`crate::source::load()`].
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Counts by kind, of the kinds in the model that were seen.
    pub kinds: BTreeMap<Kind, KindCount>,
    /// Events of schedulers about pods. Other events are counted in `other_kinds`.
    pub events: KindCount,
    /// Counts by kind, of kinds outside the model. Any dump has them; they are no error.
    pub other_kinds: BTreeMap<String, usize>,
    /// Counts of Secrets and ConfigMaps, which are never read.
    pub unread_kinds: BTreeMap<String, usize>,
    /// The number of texts whose kind is unknown.
    pub unknown: usize,
    /// Kinds of the model of which no object was read, and what that leaves unknown.
    pub absent: Vec<Absence>,
    /// Kinds whose listing was forbidden, according to the source.
    pub refused: KindSet,
    /// Kinds whose listing failed wholly or in part, according to the source.
    pub failed: KindSet,
    /// Kinds that a file which could not be read, or not to its end, may have held.
    pub incomplete: KindSet,
    /// The number of files, members of archives and folders that were not read, or not to their end.
    pub left_out: usize,
    /// Kinds that were read in some namespaces only.
    pub partial: KindSet,
    /// Kinds of which the tool that made the source takes only some objects.
    pub selected: KindSet,
    /// Kinds of which every object is known, since the source listed them in full.
    pub whole: KindSet,
    /// The number of known namespaces.
    pub namespaces: usize,
    /// The number of namespaces with pods.
    pub namespaces_with_pods: usize,
    /// Pods bound to nodes that do not exist or were not read, by the node's name; scheduling ignores them.
    pub pods_on_unknown_nodes: BTreeMap<Str, usize>,
    /// The newest time in the source, which is close to when it was taken.
    pub newest: Option<Timestamp>,
    /// When the dump was taken, according to the dump.
    pub taken: Option<Timestamp>,
    /// When the dump was taken, according to the name of the file or directory, in an unknown zone.
    pub taken_by_name: Option<DateTime>,
    /// The layouts of the dumps.
    pub layout: Layouts,
    /// The API server's version.
    pub server_version: Option<ServerVersion>,
    /// Statements about the scheduler's configuration, in the order in which they were read.
    pub scheduler: Vec<SchedulerHint>,
    /// The files, in the order read.
    pub files: Vec<FileReport>,
    /// The length of all text read in bytes, decompressed.
    pub bytes: u64,
    /// Reads objects of a live cluster again; `None` for other sources.
    pub again: Option<Arc<dyn ReadAgain>>,
    /// All inputs were embedded, which are complete.
    pub(in crate::source) complete: bool,
    pub(in crate::source) origins: Origins,
    /// The place of each file.
    pub(in crate::source) places: Vec<Place>,
    /// The packed file that was read again last.
    pub(in crate::source) unpacked: Arc<Unpacked>,
}

impl Report {
    /// Returns whether it is unknown which budgets there are: no budget was read, nor an empty list of them. Embedded
    /// clusters are complete.
    pub fn budgets_unknown(&self) -> bool {
        !self.complete && !self.kinds.contains_key(&Kind::PodDisruptionBudget)
    }

    /// Returns the kinds that are not known of the cluster, and why. Embedded clusters are complete.
    pub fn missing(&self) -> MissingKinds {
        let lost = |count: &KindCount| count.unreadable + count.nameless + count.old_version > 0;
        let mut failed = self.failed;
        self.kinds.iter().filter(|(_, count)| lost(count)).for_each(|(kind, _)| failed.insert(*kind));
        let absent = self.absent.iter().map(|absence| absence.kind).filter(|_| !self.complete).collect();
        let Self { refused, incomplete, partial, selected, .. } = *self;
        let missing = MissingKinds { budgets: false, absent, refused, failed, incomplete, partial, selected };
        MissingKinds { budgets: self.budgets_unknown() || missing.budgets_withheld(), ..missing }
    }

    /// Returns the kinds behind feature gates of which it is unknown what objects there are: none was read, nor an empty list of
    /// them. Embedded clusters are complete.
    pub fn gated_unknown(&self) -> KindSet {
        let is_unknown = |kind: &Kind| self.kinds.get(kind).is_none_or(|count| count.read == 0 && count.skipped() > 0);
        Kind::iter().filter(|kind| !self.complete && kind.is_gated() && is_unknown(kind)).collect()
    }

    /// Returns [`Self::missing`] for a scheduler that reads these of the kinds behind feature gates. Rules that taint devices are
    /// not missed where the source has no devices.
    pub fn missing_for(&self, gated: KindSet) -> MissingKinds {
        let mut missing = self.missing();
        let unknown = self.gated_unknown();
        let has_devices = self.kinds.get(&Kind::ResourceSlice).is_some_and(|count| count.read > 0);
        for kind in Kind::iter().filter(|kind| kind.is_gated()) {
            if !gated.contains(kind) {
                missing = missing.without(kind);
            } else if unknown.contains(kind) && (kind != Kind::DeviceTaintRule || has_devices) {
                missing.absent.insert(kind);
            }
        }
        missing
    }

    /// Returns the kinds that every decision needs and that were requested but not read.
    pub fn withheld(&self) -> Vec<Kind> {
        let missing = self.missing();
        let is_withheld = |kind: &Kind| {
            let asked = matches!(missing.why(*kind), Some(MissingReason::Refused | MissingReason::Failed));
            asked && self.kinds.get(kind).is_none_or(|count| count.read == 0)
        };
        [Kind::Node, Kind::Pod].into_iter().filter(is_withheld).collect()
    }

    /// Marks kinds as unknown, for the same reasons.
    pub fn set_missing(&mut self, missing: MissingKinds) {
        let MissingKinds { refused, failed, incomplete, partial, selected, .. } = missing;
        (self.refused, self.failed, self.incomplete, self.partial, self.selected) = (refused, failed, incomplete, partial, selected);
        let absent = missing.absent.iter().filter(|kind| !kind.is_gated());
        self.absent = absent.map(|kind| Absence { kind, effect: effect_of_absence(kind) }).collect();
        for kind in Kind::iter().filter(|kind| missing.why(*kind) != Some(MissingReason::NotInSource)) {
            self.kinds.entry(kind).or_default();
        }
        self.complete = false;
    }

    /// Returns whether a node that was not read does not exist: all nodes are known.
    pub fn unread_nodes_are_gone(&self) -> bool {
        self.whole.contains(Kind::Node) && self.missing().why(Kind::Node).is_none()
    }

    /// Returns the number of objects read.
    pub fn objects(&self) -> usize {
        self.kinds.values().map(|count| count.read).sum()
    }

    /// Returns the origin of an object.
    pub fn origin(&self, kind: Kind, key: &Key) -> Option<Origin> {
        self.origins.get(kind, &key.namespace, &key.name)
    }

    /// Returns the file and line of an object.
    pub fn file_and_line(&self, kind: Kind, key: &Key) -> Option<(&str, u32)> {
        let origin = self.origin(kind, key)?;
        Some((self.files.get(origin.file as usize)?.name.as_str(), origin.line))
    }

    /// Returns the object's text as written in its file, which is read again; `None` if the origin is unknown.
    ///
    /// # Errors
    /// Returns the error of the file if it can no longer be read or has become shorter.
    pub fn original(&self, kind: Kind, key: &Key) -> io::Result<Option<String>> {
        let Some(origin) = self.origin(kind, key) else { return Ok(None) };
        let Some(mut place) = self.places.get(origin.file as usize) else { return Ok(None) };
        let part = place.part(origin.offset, origin.length as usize)?;
        let unpacked = if part.is_none() { self.unpacked.place(place) } else { None };
        let part = match &unpacked {
            Some(unpacked) => {
                place = unpacked;
                place.part(origin.offset, origin.length as usize)?
            }
            None => part,
        };
        if let Some(text) = part {
            return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
        }
        let text = place.with(&mut |stream| {
            let mut reader = Opened::new(stream)?.reader;
            io::copy(&mut reader.by_ref().take(origin.offset), &mut io::sink())?;
            Ok(String::from_utf8_lossy(&exactly(&mut reader, u64::from(origin.length))?).into_owned())
        })?;
        Ok(Some(text))
    }

    /// Returns whether [`Self::original`] reads a file from its start, because it is packed or not in UTF-8; false if the origin is
    /// unknown.
    pub fn is_packed(&self, kind: Kind, key: &Key) -> bool {
        let place = |origin: Origin| self.places.get(origin.file as usize).map(|place| place.part(origin.offset, 0));
        matches!(self.origin(kind, key).and_then(place), Some(Ok(None)))
    }

    /// Passes the text of every object of a kind as written in its file, with the object's key; reads each file once. Several
    /// keys come with the text of a list that was parsed as a whole.
    ///
    /// # Errors
    /// Returns the error of a file that can no longer be read or has become shorter.
    pub fn originals(&self, kind: Kind, take: &mut dyn FnMut(&[Key], &str)) -> io::Result<()> {
        let mut by_place: BTreeMap<(u32, u64, u32), Vec<Key>> = BTreeMap::new();
        for (key, origin) in self.origins.of_kind(kind) {
            by_place.entry((origin.file, origin.offset, origin.length)).or_default().push(key.clone());
        }
        for (file, place) in (0_u32..).zip(&self.places) {
            let texts: Vec<_> = by_place.range((file, 0, 0)..(file + 1, 0, 0)).collect();
            if texts.is_empty() {
                continue;
            }
            place.with(&mut |stream| {
                let mut reader = Opened::new(stream)?.reader;
                let mut at = 0;
                for ((_, offset, length), keys) in &texts {
                    // Texts in one file never overlap.
                    let gap = offset.checked_sub(at).ok_or(io::ErrorKind::InvalidData)?;
                    io::copy(&mut reader.by_ref().take(gap), &mut io::sink())?;
                    let text = exactly(&mut reader, u64::from(*length))?;
                    at = offset + u64::from(*length);
                    take(keys, &String::from_utf8_lossy(&text));
                }
                Ok(String::new())
            })?;
        }
        Ok(())
    }

    /// Drops the origins, for callers that do not need them: they take memory for each object.
    pub fn forget_origins(&mut self) {
        self.origins = Origins::default();
    }

    pub(in crate::source) fn count(&mut self, kind: Kind) -> &mut KindCount {
        self.kinds.entry(kind).or_default()
    }
}

/// Reads some bytes; an error if there are fewer, or memory is too little.
fn exactly(reader: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if (reader.take(length).read_to_end(&mut text)? as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(text)
}

/// Returns what a kind that is known in part leaves unknown, as the rest of a sentence.
pub fn effect_of_part(kind: Kind) -> &'static str {
    match kind {
        Kind::Pod => "nodes may be fuller than they look, and more pods may be pending.",
        Kind::Node => "pods may fit on nodes that were not read.",
        other => effect_of_absence(other),
    }
}

/// Returns what the absence of a kind leaves unknown, as the rest of a sentence.
pub fn effect_of_absence(kind: Kind) -> &'static str {
    match kind {
        Kind::CSIDriver => "whether a driver tracks storage capacity is unknown, so it is not checked.",
        Kind::CSINode => "how many volumes a node can attach is unknown, so volume limits are not checked.",
        Kind::CSIStorageCapacity => "free storage capacity for new volumes is unknown.",
        Kind::DeviceClass => "pods with resource claims cannot be evaluated.",
        Kind::DeviceTaintRule => "whether a rule taints devices is unknown.",
        Kind::Namespace => "affinity terms that select namespaces by label match none.",
        Kind::Node => "where pods fit is unknown.",
        Kind::PersistentVolume => "which nodes can use bound volumes is unknown.",
        Kind::PersistentVolumeClaim => "pods that use claims cannot be evaluated.",
        Kind::Pod => "which pods are pending is unknown, and all nodes look empty.",
        Kind::PodDisruptionBudget => "which preemptions would violate a budget is unknown.",
        Kind::PodGroup => "whether pods that name a group may be scheduled, and how many at once, is unknown.",
        Kind::PriorityClass => "priorities are known only where pods specify them.",
        Kind::ReplicaSet => "default topology spreading does not group pods by them.",
        Kind::ReplicationController => "default topology spreading does not group pods by them.",
        Kind::ResourceClaim => "pods with resource claims cannot be evaluated, and devices in use look free.",
        Kind::ResourceClaimTemplate => "claims not yet created from them are unknown.",
        Kind::ResourceSlice => "which devices nodes offer is unknown.",
        Kind::Service => "default topology spreading does not group pods by them.",
        Kind::StatefulSet => "default topology spreading does not group pods by them.",
        Kind::StorageClass => "how unbound claims would be bound is unknown.",
        Kind::VolumeAttachment => "attached volumes that no pod uses are not counted.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_behind_gates_are_missed_by_schedulers_that_read_them() {
        let missing = |report: &Report, gated: &[Kind]| {
            let missing = report.missing_for(gated.iter().copied().collect());
            missing.iter().map(|(kind, _)| kind).collect::<Vec<_>>()
        };
        let both = [Kind::DeviceTaintRule, Kind::PodGroup];
        let mut report = Report::default();
        assert_eq!(missing(&report, &[]), []);
        assert_eq!(missing(&report, &both), [Kind::PodGroup], "without devices there is nothing to taint");
        report.count(Kind::ResourceSlice).read = 1;
        assert_eq!(missing(&report, &both), both);
        assert_eq!(missing(&report, &[Kind::DeviceTaintRule]), [Kind::DeviceTaintRule]);
        report.refused.insert(Kind::DeviceTaintRule);
        assert_eq!(missing(&report, &[Kind::PodGroup]), [Kind::PodGroup]);
        // An empty list.
        report.refused.remove(Kind::DeviceTaintRule);
        report.count(Kind::DeviceTaintRule);
        assert_eq!(missing(&report, &both), [Kind::PodGroup]);
        report.complete = true;
        assert_eq!(missing(&report, &both), []);
    }
}
