//! The report of a load: what was read, skipped and missing.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::origins::Origins;
use crate::cluster::{Key, Kind, KindSet, MissingKinds, MissingReason, Str};
use crate::source::decode::dump_metadata::{SchedulerHint, ServerVersion};
use crate::source::layout::Layouts;
use crate::source::read::input::{Opened, Place};

/// How many objects of a kind were read, and how many not, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCount {
    /// In the cluster now.
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
    /// All that were seen and are not in the cluster.
    pub fn skipped(&self) -> usize {
        self.unreadable + self.nameless + self.old_version + self.superseded
    }
}

/// A kind of which nothing was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    /// The kind.
    pub kind: Kind,
    /// What cannot be known without it, as the rest of a sentence.
    pub effect: &'static str,
}

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// As diagnostics name it.
    pub name: String,
    /// Where it stands as a file of its own; `None` for standard input, embedded text and members of archives.
    pub path: Option<PathBuf>,
    /// How much text it held, decompressed.
    pub bytes: u64,
    /// Objects taken from it.
    pub objects: usize,
}

/// Where an object's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file: a place in [`Report::files`].
    pub file: u32,
    /// The line on which the object starts, counted from 1.
    pub line: u32,
    /// The stretch of the decompressed file that holds it (and, for an item of a list that was read as a whole, the
    /// list around it).
    pub(in crate::source) offset: u64,
    pub(in crate::source) length: u32,
    /// How much its file counts among copies of an object.
    pub(in crate::source) rank: u8,
}

/// What was read, skipped and missing; see [`crate::source::load()`].
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Kinds of the model that were seen, with counts.
    pub kinds: BTreeMap<Kind, KindCount>,
    /// Events of schedulers about pods. Other events are among the other kinds.
    pub events: KindCount,
    /// Kinds that the model does not hold, with counts: expected in any dump, and no error.
    pub other_kinds: BTreeMap<String, usize>,
    /// Secrets and ConfigMaps, skipped without looking into them, with counts.
    pub unread_kinds: BTreeMap<String, usize>,
    /// Pieces of text of which not even the kind is known.
    pub unknown: usize,
    /// Kinds of the model of which nothing was read, and what that leaves unknown.
    pub absent: Vec<Absence>,
    /// Kinds that may not be read, by what the source says.
    pub refused: KindSet,
    /// Kinds that could not be read, or not wholly, by what the source says.
    pub failed: KindSet,
    /// Kinds that were read in some namespaces only, since all may not be.
    pub partial: KindSet,
    /// Namespaces that are known of.
    pub namespaces: usize,
    /// Those of them that have pods.
    pub namespaces_with_pods: usize,
    /// Pods bound to nodes that were not read, by the node's name: they take part in nothing.
    pub pods_on_unknown_nodes: BTreeMap<Str, usize>,
    /// The newest time in the source: when it was taken, near enough.
    pub newest: Option<Timestamp>,
    /// When the dump says it was taken.
    pub taken: Option<Timestamp>,
    /// The same as told by the name of the file or directory, by the clock of whoever took it.
    pub taken_by_name: Option<DateTime>,
    /// What kinds of dump these are.
    pub layout: Layouts,
    /// The API server's version.
    pub server_version: Option<ServerVersion>,
    /// What the source tells about the scheduler's configuration, in the order in which it was read.
    pub scheduler: Vec<SchedulerHint>,
    /// The files, in the order read.
    pub files: Vec<FileReport>,
    /// Text read in all, decompressed.
    pub bytes: u64,
    /// All inputs were embedded, and so nothing can have been left out.
    pub(in crate::source) complete: bool,
    pub(in crate::source) origins: Origins,
    /// Where each of the files lies.
    pub(in crate::source) places: Vec<Place>,
}

impl Report {
    /// Whether it is unknown which budgets there are: nothing was read of them, and not even an empty list says that
    /// there are none. Embedded clusters hold all that there is.
    pub fn budgets_unknown(&self) -> bool {
        !self.complete && !self.kinds.contains_key(&Kind::PodDisruptionBudget)
    }

    /// What is not known of the cluster, and why. Embedded clusters hold all that there is.
    pub fn missing(&self) -> MissingKinds {
        if self.complete {
            return MissingKinds::default();
        }
        let lost = |count: &KindCount| count.unreadable + count.nameless + count.old_version > 0;
        let mut failed = self.failed;
        self.kinds.iter().filter(|(_, count)| lost(count)).for_each(|(kind, _)| failed.insert(*kind));
        let absent = self.absent.iter().map(|absence| absence.kind).collect();
        let missing = MissingKinds { budgets: false, absent, refused: self.refused, failed, partial: self.partial };
        MissingKinds { budgets: self.budgets_unknown() || missing.budgets_withheld(), ..missing }
    }

    /// Kinds without which nothing can be said of any pod, and of which nothing was read though it was asked for.
    pub fn withheld(&self) -> Vec<Kind> {
        let missing = self.missing();
        let is_withheld = |kind: &Kind| {
            let asked = matches!(missing.why(*kind), Some(MissingReason::Refused | MissingReason::Failed));
            asked && self.kinds.get(kind).is_none_or(|count| count.read == 0)
        };
        [Kind::Node, Kind::Pod].into_iter().filter(is_withheld).collect()
    }

    /// True when no object was read.
    pub fn is_empty(&self) -> bool {
        self.kinds.values().all(|count| count.read == 0)
    }

    /// How many objects were read.
    pub fn objects(&self) -> usize {
        self.kinds.values().map(|count| count.read).sum()
    }

    /// Where an object came from.
    pub fn origin(&self, kind: Kind, key: &Key) -> Option<Origin> {
        self.origins.get(kind, &key.namespace, &key.name)
    }

    /// The file and line that an object came from.
    pub fn file_and_line(&self, kind: Kind, key: &Key) -> Option<(&str, u32)> {
        let origin = self.origin(kind, key)?;
        Some((self.files.get(origin.file as usize)?.name.as_str(), origin.line))
    }

    /// The object's text as it stands in its file, which is read again for it; `None` where the origin is not known.
    ///
    /// # Errors
    /// Where the file can no longer be read, or has become shorter.
    pub fn original(&self, kind: Kind, key: &Key) -> io::Result<Option<String>> {
        let Some(origin) = self.origin(kind, key) else { return Ok(None) };
        let Some(place) = self.places.get(origin.file as usize) else { return Ok(None) };
        let text = place.with(&mut |stream| {
            let mut reader = Opened::new(stream)?.reader;
            io::copy(&mut reader.by_ref().take(origin.offset), &mut io::sink())?;
            let mut text = vec![0; origin.length as usize];
            reader.read_exact(&mut text)?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        })?;
        Ok(Some(text))
    }

    /// Gives up where objects came from, for who will not ask: it takes memory for each object.
    pub fn forget_origins(&mut self) {
        self.origins = Origins::default();
    }

    pub(in crate::source) fn count(&mut self, kind: Kind) -> &mut KindCount {
        self.kinds.entry(kind).or_default()
    }
}

/// What the absence of a kind leaves unknown, as the rest of a sentence.
pub fn effect_of_absence(kind: Kind) -> &'static str {
    match kind {
        Kind::CSIDriver => "whether a driver tracks storage capacity is unknown, so it is not checked.",
        Kind::CSINode => "how many volumes a node can attach is unknown, so volume limits are not checked.",
        Kind::CSIStorageCapacity => "free storage for volumes yet to be made is unknown.",
        Kind::DeviceClass => "pods that claim devices cannot be judged.",
        Kind::Namespace => "affinity terms that select namespaces by label match none.",
        Kind::Node => "where pods fit is unknown.",
        Kind::PersistentVolume => "where bound volumes can be used from is unknown.",
        Kind::PersistentVolumeClaim => "pods that use claims cannot be judged.",
        Kind::Pod => "which pods are pending is unknown, and all nodes look empty.",
        Kind::PodDisruptionBudget => "which preemptions would violate a budget is unknown.",
        Kind::PodGroup => "whether pods that name a group may be scheduled, and how many at once, is unknown.",
        Kind::PriorityClass => "priorities are known only where pods state them.",
        Kind::ReplicaSet => "default spreading does not see which pods belong together through them.",
        Kind::ReplicationController => "default spreading does not see which pods belong together through them.",
        Kind::ResourceClaim => "pods that claim devices cannot be judged, and devices in use look free.",
        Kind::ResourceClaimTemplate => "claims that are still to be made from them are unknown.",
        Kind::ResourceSlice => "which devices nodes offer is unknown.",
        Kind::Service => "default spreading does not see which pods belong together through them.",
        Kind::StatefulSet => "default spreading does not see which pods belong together through them.",
        Kind::StorageClass => "how unbound claims would be bound is unknown.",
        Kind::VolumeAttachment => "volumes that are attached without a pod using them are not counted.",
    }
}
