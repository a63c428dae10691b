//! Holds the server's known state, assembles the initial state, and queues changes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::delta_queue::{Change, DeltaQueue};
use crate::cluster::neighbors::{NeighborKind, Neighbors, OtherEvent};
use crate::cluster::{Cluster, Key, Kind, KindSet, Object, Str};
use crate::limits::live::KNOWN_EVENTS;
use crate::source::assemble::Assembly;
use crate::source::assemble::Loaded;
use crate::source::assemble::diagnostic::Diagnostic;
use crate::source::decode::dedup;
use crate::source::decode::dump_metadata::{SchedulerMetadata, ServerVersion, VersionPlace};
use crate::source::decode::events::SeenEvent;
use crate::source::decode::neighbors::DecodedNeighbor;
use crate::source::decode::{Decoded, DecodedItem};

/// The content of the initial state besides objects.
#[derive(Debug, Default)]
struct Gathered {
    events: Vec<SeenEvent>,
    /// Objects that could not be read.
    rest: Vec<Decoded>,
    /// Scheduler metadata, by the pod that has it.
    metadata: BTreeMap<Key, SchedulerMetadata>,
    /// The newest time in all objects.
    newest: Option<Timestamp>,
}

/// Objects and events that scheduling does not read: states of workloads, and events of others about pods.
#[derive(Debug, Default)]
struct Others {
    objects: Neighbors,
    events: HashMap<String, OtherEvent>,
    /// The identities of the events, oldest first.
    order: VecDeque<String>,
}

impl Others {
    fn put(&mut self, neighbor: DecodedNeighbor) {
        match neighbor {
            DecodedNeighbor::Object(object) => self.objects.insert(object),
            // A server answers a request with its refusal, not an item of a list.
            DecodedNeighbor::Withheld(..) => {}
            // Those about others are listed for questions.
            DecodedNeighbor::Event(_, event) if event.about.kind != "Pod" => {}
            DecodedNeighbor::Event(identity, event) => {
                if let Some(known) = self.events.get_mut(&identity) {
                    if (event.count, event.last) > (known.count, known.last) {
                        *known = event;
                    }
                    return;
                }
                self.events.insert(identity.clone(), event);
                self.order.push_back(identity);
                if self.order.len() > KNOWN_EVENTS
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.events.remove(&oldest);
                }
            }
        }
    }

    /// Removes the state of a workload.
    fn gone(&mut self, kind: Kind, key: &Key) {
        if let Some(kind) = NeighborKind::of_model(kind) {
            self.objects.remove(kind, key);
        }
    }

    fn all(&self) -> Neighbors {
        let mut all = self.objects.clone();
        all.events = self.order.iter().filter_map(|identity| self.events.get(identity)).cloned().collect();
        all
    }
}

/// The events seen so far.
#[derive(Debug, Default)]
struct Events {
    seen: HashMap<String, (u32, Option<Timestamp>)>,
    order: VecDeque<String>,
}

impl Events {
    /// Returns whether an event is new or occurred again.
    fn is_new(&mut self, seen: &SeenEvent) -> bool {
        let state = (seen.event.count, seen.event.last);
        if let Some(known) = self.seen.get_mut(&seen.identity) {
            let is_new = state > *known;
            if is_new {
                *known = state;
            }
            return is_new;
        }
        self.seen.insert(seen.identity.clone(), state);
        self.order.push_back(seen.identity.clone());
        if self.order.len() > KNOWN_EVENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        true
    }
}

#[derive(Debug)]
pub(super) struct Store {
    known: BTreeMap<Kind, HashMap<Key, Object>>,
    events: Events,
    others: Others,
    /// Set until the initial state is assembled.
    gathered: Option<Gathered>,
    /// Kinds that the initial state lacks.
    unlisted: BTreeSet<Kind>,
    /// Objects whose current state cannot be read, by kind. The empty key is one without a name.
    unreadable: BTreeMap<Kind, HashSet<Key>>,
    pending: DeltaQueue,
}

/// The result of ingesting answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// The known state changed.
    pub(super) changed: bool,
    /// The number of objects that could not be read.
    pub(super) unreadable: usize,
}

impl std::ops::AddAssign for Taken {
    fn add_assign(&mut self, other: Self) {
        self.changed |= other.changed;
        self.unreadable += other.unreadable;
    }
}

/// The content of the report besides the objects.
#[derive(Debug, Default)]
pub(super) struct About {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) date: Option<Timestamp>,
    /// Kinds that are completely known, even if there are none.
    pub(super) listed: Vec<Kind>,
    /// Kinds that are not known, or only in part.
    pub(super) unlisted: BTreeSet<Kind>,
    /// Kinds whose listing was refused, failed, or was limited to some namespaces.
    pub(super) refused: KindSet,
    pub(super) failed: KindSet,
    pub(super) partial: KindSet,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Bytes read.
    pub(super) bytes: u64,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            known: BTreeMap::new(),
            events: Events::default(),
            others: Others::default(),
            gathered: Some(Gathered::default()),
            unlisted: BTreeSet::new(),
            unreadable: BTreeMap::new(),
            pending: DeltaQueue::default(),
        }
    }
}

impl Store {
    /// Ingests a decoded object; `seen` collects the keys of objects during a list.
    pub(super) fn put(&mut self, decoded: Decoded, seen: Option<&mut HashSet<Key>>) -> Taken {
        let Decoded { what, metadata, neighbor, line, index, newest, change } = decoded;
        if let Some(gathered) = &mut self.gathered {
            gathered.newest = gathered.newest.max(newest);
        }
        if let Some(neighbor) = neighbor {
            self.others.put(*neighbor);
        }
        let what = if let DecodedItem::Mended(object, _) = what { *object } else { what };
        match what {
            DecodedItem::Object { object, .. } => {
                let key = object.key();
                if let (Some(gathered), Some(metadata)) = (&mut self.gathered, metadata) {
                    gathered.metadata.insert(key.clone(), *metadata);
                }
                if let Some(seen) = seen {
                    seen.insert(key.clone());
                }
                Taken { changed: self.put_object(key, object), unreadable: 0 }
            }
            DecodedItem::Event(event) => Taken { changed: self.put_event(*event), unreadable: 0 },
            DecodedItem::Other(_) => Taken::default(),
            what => {
                if let DecodedItem::Error(bad) = &what
                    && let Some(kind) = bad.kind
                {
                    let key = bad.object.as_deref().and_then(key_of).unwrap_or_default();
                    // It exists, even if it cannot be read.
                    if let Some(seen) = seen {
                        seen.insert(key.clone());
                    }
                    self.set_unreadable(kind, |keys| keys.insert(key));
                }
                if let Some(gathered) = &mut self.gathered {
                    gathered.rest.push(Decoded { what, metadata: None, neighbor: None, line, index, newest, change });
                }
                Taken { changed: false, unreadable: 1 }
            }
        }
    }

    /// Changes the set of a kind's objects that cannot be read, and queues their number if it changes.
    fn set_unreadable<T>(&mut self, kind: Kind, change: impl FnOnce(&mut HashSet<Key>) -> T) {
        let keys = self.unreadable.entry(kind).or_default();
        let before = keys.len();
        change(keys);
        let now = keys.len();
        // A kind that is not listed stays unknown until it is.
        if self.gathered.is_none() && now != before && !(now == 0 && self.unlisted.contains(&kind)) {
            self.pending.unreadable(kind, now);
        }
    }

    /// Returns the number of objects of a kind whose current state cannot be read, in a namespace or all.
    pub(super) fn unreadable(&self, kind: Kind, namespace: Option<&str>) -> usize {
        let keys = self.unreadable.get(&kind).into_iter().flatten();
        keys.filter(|key| namespace.is_none_or(|namespace| key.namespace == *namespace)).count()
    }

    fn put_object(&mut self, key: Key, mut object: Object) -> bool {
        self.set_unreadable(object.kind(), |keys| keys.remove(&key));
        let objects = self.known.entry(object.kind()).or_default();
        let Some(known) = objects.get_mut(&key) else {
            objects.insert(key, object.clone());
            if self.gathered.is_none() {
                self.pending.put(None, object, false);
            }
            return true;
        };
        let recreated = known.meta().uid != object.meta().uid;
        if !recreated && is_same(known, &mut object) {
            return false;
        }
        let before = std::mem::replace(known, object.clone());
        if self.gathered.is_none() {
            self.pending.put(Some(before), object, recreated);
        }
        true
    }

    fn put_event(&mut self, seen: SeenEvent) -> bool {
        if !self.events.is_new(&seen) {
            return false;
        }
        match &mut self.gathered {
            Some(gathered) => gathered.events.push(seen),
            None => self.pending.event(seen.identity, seen.event),
        }
        true
    }

    /// Removes an object. A known `uid` protects a successor of the same name.
    pub(super) fn gone(&mut self, kind: Kind, key: &Key, uid: Option<&str>) -> bool {
        self.set_unreadable(kind, |keys| keys.remove(key));
        let Some(objects) = self.known.get_mut(&kind) else { return false };
        if objects.get(key).is_none_or(|known| uid.is_some_and(|uid| !uid.is_empty() && known.meta().uid != *uid)) {
            return false;
        }
        let Some(object) = objects.remove(key) else { return false };
        self.others.gone(kind, key);
        if self.gathered.is_none() {
            self.pending.gone(object);
        }
        true
    }

    /// After a list, removes all known objects of its kind and namespace that were not in it.
    pub(super) fn sweep(&mut self, kind: Kind, namespace: Option<&str>, seen: &HashSet<Key>) -> bool {
        let in_list = |key: &Key| namespace.is_none_or(|namespace| key.namespace == *namespace || key.name.is_empty());
        self.set_unreadable(kind, |keys| keys.retain(|key| !in_list(key) || seen.contains(key)));
        let known = self.known.entry(kind).or_default();
        let of_list = |key: &&Key| namespace.is_none_or(|namespace| key.namespace == *namespace);
        let mut gone: Vec<Key> = known.keys().filter(of_list).filter(|key| !seen.contains(*key)).cloned().collect();
        gone.sort_unstable();
        for key in &gone {
            self.gone(kind, key, None);
        }
        let in_list = |key: &Key| namespace.is_none_or(|namespace| key.namespace == *namespace || key.name.is_empty());
        self.set_unreadable(kind, |keys| keys.retain(|key| !in_list(key) || seen.contains(key)));
        !gone.is_empty()
    }

    /// Records that a list of a kind is complete; returns true if the initial state lacked it.
    pub(super) fn listed(&mut self, kind: Kind) -> bool {
        let late = self.gathered.is_none() && self.unlisted.remove(&kind);
        if late {
            self.pending.listed(kind);
        }
        late
    }

    /// Returns the resource version of a known object.
    pub(super) fn version_of(&self, kind: Kind, key: &Key) -> Option<String> {
        self.known.get(&kind)?.get(key).map(|object| object.meta().resource_version.to_string())
    }

    /// Returns the number of known objects of a kind, in a namespace or all.
    pub(super) fn count(&self, kind: Kind, namespace: Option<&str>) -> usize {
        let Some(objects) = self.known.get(&kind) else { return 0 };
        match namespace {
            None => objects.len(),
            Some(namespace) => objects.keys().filter(|key| key.namespace == *namespace).count(),
        }
    }

    pub(super) fn is_gathering(&self) -> bool {
        self.gathered.is_some()
    }

    /// Assembles the initial state; from then on, changes are queued.
    pub(super) fn assemble(&mut self, about: About) -> Option<Loaded> {
        let Gathered { events, rest, mut metadata, newest } = self.gathered.take()?;
        let mut assembly = Assembly::default();
        assembly.report.server_version =
            about.version.map(|version| ServerVersion { version, found_in: VersionPlace::Server(about.name.clone()) });
        assembly.report.taken = about.date;
        assembly.report.newest = newest;
        for kind in about.listed.iter().filter(|kind| !about.partial.contains(**kind)) {
            if let Some(kind) = NeighborKind::of_model(*kind) {
                self.others.objects.add_listed(kind);
            }
        }
        assembly.neighbors = self.others.all();
        (assembly.report.refused, assembly.report.failed, assembly.report.partial) = (about.refused, about.failed, about.partial);
        for kind in about.listed {
            assembly.report.kinds.entry(kind).or_default();
            if !about.partial.contains(kind) {
                assembly.report.whole.insert(kind);
            }
        }
        let mut objects = Vec::new();
        for (_, of_kind) in std::mem::take(&mut self.known) {
            let from = objects.len();
            objects.extend(of_kind.into_values());
            objects[from..].sort_unstable_by_key(Object::key);
        }
        let found_in = |object: &Object| (object.kind() == Kind::Pod).then(|| metadata.remove(&object.key())).flatten();
        assembly.add_answers(&about.name, objects, found_in, events, rest, about.bytes);
        let mut loaded = assembly.finish();
        loaded.report.forget_origins();
        loaded.diagnostics.extend(about.diagnostics);
        for object in &loaded.objects {
            self.known.entry(object.kind()).or_default().insert(object.key(), object.clone());
        }
        self.unlisted = about.unlisted;
        forget_shared();
        Some(loaded)
    }

    /// Takes changes, oldest first; none before the initial state is assembled.
    pub(super) fn take(&mut self, limit: usize) -> Vec<Change> {
        self.pending.take(limit)
    }

    pub(super) fn has_changes(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns the states of workloads and the events of others that came with the objects.
    pub(super) fn neighbors(&self) -> Neighbors {
        self.others.all()
    }

    /// Returns the known state.
    pub(super) fn cluster(&self) -> Cluster {
        self.known.values().flat_map(HashMap::values).cloned().collect()
    }
}

/// Clears the tables with which decoding shares equal strings and specs; they help only while much is decoded.
pub(super) fn forget_shared() {
    rayon::broadcast(|_| {
        dedup::forget();
        Str::forget_interned();
    });
}

/// Returns whether an object equals a known one except for its resource version, which is set to the known one.
fn is_same(known: &Object, object: &mut Object) -> bool {
    let reported = changed(object).map(|changed| std::mem::replace(changed, known.meta().changed));
    let same = is_same_but_for_time(known, object);
    if let (false, Some(reported), Some(changed)) = (same, reported, changed(object)) {
        *changed = reported;
    }
    same
}

/// Returns the time of an object's last change, for kinds that have it. A change of this time alone is no change.
fn changed(object: &mut Object) -> Option<&mut Option<Timestamp>> {
    match object {
        Object::Node(node) => Arc::get_mut(node).map(|node| &mut node.metadata.changed),
        Object::PodDisruptionBudget(budget) => Arc::get_mut(budget).map(|budget| &mut budget.metadata.changed),
        _ => None,
    }
}

fn is_same_but_for_time(known: &Object, object: &mut Object) -> bool {
    macro_rules! level {
        ($($kind:ident)*) => {
            match object {
                $(Object::$kind(object) => match Arc::get_mut(object) {
                    Some(object) => std::mem::replace(&mut object.metadata.resource_version, known.meta().resource_version.clone()),
                    None => return *known == Object::$kind(Arc::clone(object)),
                },)*
            }
        };
    }
    macro_rules! restore {
        ($version:ident: $($kind:ident)*) => {
            match object {
                $(Object::$kind(object) => if let Some(object) = Arc::get_mut(object) { object.metadata.resource_version = $version },)*
            }
        };
    }
    let version = level!(CSIDriver CSINode CSIStorageCapacity DeviceClass DeviceTaintRule Namespace Node PersistentVolume PersistentVolumeClaim Pod
        PodDisruptionBudget PodGroup PriorityClass ReplicaSet ReplicationController ResourceClaim ResourceClaimTemplate ResourceSlice
        Service StatefulSet StorageClass VolumeAttachment);
    let same = known == object;
    if !same {
        restore!(version: CSIDriver CSINode CSIStorageCapacity DeviceClass DeviceTaintRule Namespace Node PersistentVolume PersistentVolumeClaim Pod
            PodDisruptionBudget PodGroup PriorityClass ReplicaSet ReplicationController ResourceClaim ResourceClaimTemplate ResourceSlice
            Service StatefulSet StorageClass VolumeAttachment);
    }
    same
}

/// Returns the key in `Pod shop/web`.
fn key_of(label: &str) -> Option<Key> {
    let (_, key) = label.split_once(' ')?;
    Some(match key.split_once('/') {
        Some((namespace, name)) => Key::new(namespace, name),
        None => Key::new("", key),
    })
}

#[cfg(test)]
mod tests;
