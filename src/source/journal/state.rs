//! The state that a recorder keeps: every change becomes a line, and a keyframe is all of it.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize as _;
use serde_json::{Serializer, Value, json};
use strum::IntoEnumIterator as _;

use super::entry::{self, EntryKey, Knowledge, KnownNeighbors};
use super::log::{LogLines, LogWriter};
use crate::cluster::neighbors::{About, Neighbor, NeighborKind, Neighbors, OtherEvent};
use crate::cluster::{Cluster, Key, Kind, KindSet, MissingReason, Object, ObservedEvent, Str};
use crate::limits::sources::JOURNAL_EVENTS;
use crate::output::Json;
use crate::scheduler_log::LineParts;
use crate::source::assemble::Loaded;
use crate::source::capture::{Redactor, Vocabulary, complete, event_value, neighbor_value, other_event_value, value};
use crate::source::live::Change;

/// How long an event is kept: API servers forget theirs after an hour.
const EVENT_AGE: SignedDuration = SignedDuration::from_hours(2);

/// The fields of an event that stay when it occurs again.
type EventIdentity = (Key, Str, Str, Str, String, Option<Timestamp>);

fn identity(event: &ObservedEvent) -> EventIdentity {
    let ObservedEvent { pod, uid, reason, note, controller, first, .. } = event;
    (pod.clone(), uid.clone(), reason.clone(), controller.clone(), note.clone(), *first)
}

/// The fields of an event of others that stay when it occurs again.
type OtherIdentity = (About, Str, Str, Str, String, Option<Timestamp>);

fn other_identity(event: &OtherEvent) -> OtherIdentity {
    let OtherEvent { about, uid, speaker, reason, text, first, .. } = event;
    (about.clone(), uid.clone(), speaker.clone(), reason.clone(), text.clone(), *first)
}

/// The state of a cluster that is recorded.
#[derive(Debug, Default)]
pub struct RecordedState<'w> {
    cluster: Cluster,
    knowledge: Knowledge,
    /// The events by number, in the order of arrival.
    events: BTreeMap<u64, ObservedEvent>,
    numbers: HashMap<EventIdentity, u64>,
    next: u64,
    /// The objects that scheduling does not read.
    neighbors: Neighbors,
    /// The events of others by number, in the order of arrival.
    other_events: BTreeMap<u64, OtherEvent>,
    next_other: u64,
    /// Replaces names and texts in all lines.
    redactor: Option<Redactor<'w>>,
}

impl<'w> RecordedState<'w> {
    /// Returns the state of a cluster that was just read. `unlisted` are the kinds without a list.
    pub fn new(loaded: &Loaded, unlisted: KindSet, version: Option<String>) -> Self {
        let cluster = loaded.cluster();
        let knowledge = Knowledge { unknown: cluster.unknown, unlisted, version, ..Knowledge::default() };
        let mut state = Self { cluster, knowledge, ..Self::default() };
        for event in &loaded.events {
            state.add_event(event.clone());
        }
        state
    }

    /// Replaces names and texts as a redacted capture does, each by the same replacement for as long as this state lives, and in an
    /// order that sorts like the originals. Words of the vocabulary are kept in messages.
    #[must_use]
    pub fn redacted(mut self, words: &'w Vocabulary) -> Self {
        let mut redactor = Redactor::new(words);
        for object in self.cluster.objects() {
            redactor.collect(object.kind().into(), &mut value(&object));
        }
        for (number, event) in &self.events {
            redactor.collect("Event", &mut event_value(*number as usize, event));
        }
        redactor.finish();
        self.redactor = Some(redactor);
        self.knowledge.redacted = true;
        self
    }

    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Returns what is known of it.
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// Returns the events, in the order of arrival.
    #[cfg(test)]
    pub(super) fn events(&self) -> impl Iterator<Item = &ObservedEvent> {
        self.events.values()
    }

    /// Applies changes and writes a line for each. `stale` are the kinds whose changes do not arrive, `version` is the cluster's.
    /// Returns whether lines before these hold texts that are replaced otherwise from here on, so that a keyframe should follow.
    ///
    /// # Errors
    /// Returns an error if an object cannot be written as JSON.
    pub fn apply(
        &mut self,
        changes: Vec<Change>,
        stale: KindSet,
        version: Option<String>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let rules = self.redactor.as_ref().map(Redactor::rules);
        self.collect(&changes);
        let mut knowledge = Knowledge { stale, version, ..self.knowledge.clone() };
        for change in changes {
            match change {
                Change::Put(object) => {
                    self.put_object(out, &object)?;
                    self.cluster.insert(object);
                }
                Change::Gone(object) => {
                    let (kind, key) = (object.kind(), object.key());
                    if self.cluster.remove(kind, &key).is_some() {
                        entry::gone(out, &EntryKey::Object(kind, self.key(kind, key)))?;
                    }
                }
                Change::Event(event) => {
                    let number = self.add_event(event);
                    self.put_event(out, number, &self.events[&number])?;
                }
                Change::Listed(kind) => {
                    knowledge.unknown = knowledge.unknown.without(kind);
                    knowledge.unlisted.remove(kind);
                }
                Change::Unreadable(kind, 0) => knowledge.unknown.failed.remove(kind),
                Change::Unreadable(kind, _) => knowledge.unknown.failed.insert(kind),
            }
        }
        self.forget_events(now, out)?;
        if knowledge != self.knowledge {
            entry::known(out, &knowledge)?;
            self.cluster.unknown = knowledge.unknown;
            self.knowledge = knowledge;
        }
        Ok(self.redactor.as_ref().map(Redactor::rules) != rules)
    }

    /// Takes a part of a scheduler's log, whole lines, near a time. Redacted, lines are rewritten, with the names replaced as in objects;
    /// those with values over several lines, and those of old releases that write names into their messages, are left out.
    pub fn take_log(&mut self, writer: &LogWriter, text: &[u8], near: Timestamp, lines: &mut LogLines) {
        let text = lines.excerpt(writer, text);
        let Some(redactor) = &mut self.redactor else {
            let name = match writer {
                LogWriter::Pod(key) => key.to_string(),
                LogWriter::File(name) => name.clone(),
            };
            return lines.add(name, String::from_utf8_lossy(&text).into_owned());
        };
        let parts: Vec<LineParts> = text.split(|byte| *byte == b'\n').filter_map(|line| LineParts::of(line, near)).collect();
        // Collecting empties the texts.
        for part in &parts {
            redactor.collect("", &mut part.named.clone());
        }
        let mut name = match writer {
            LogWriter::Pod(key) => json!({"name": key.name}),
            LogWriter::File(name) => json!({"name": name}),
        };
        redactor.collect("", &mut name.clone());
        redactor.finish();
        redactor.apply("", &mut name);
        let mut out = String::new();
        for mut part in parts {
            redactor.apply("", &mut part.named);
            out.push_str(&part.line());
            out.push('\n');
        }
        // Readers know a scheduler's log by this name.
        lines.add(format!("kube-scheduler-{}", name["name"].as_str().unwrap_or_default()), out);
    }

    /// Takes in the objects and events that scheduling does not read, as they are now, and writes a line for each that changed. Returns
    /// whether a keyframe should follow, as [`Self::apply`] does.
    ///
    /// # Errors
    /// Returns an error if an object cannot be written as JSON.
    pub fn apply_neighbors(&mut self, mut now: Neighbors, out: &mut Vec<u8>) -> io::Result<bool> {
        let rules = self.redactor.as_ref().map(Redactor::rules);
        let mut events = std::mem::take(&mut now.events);
        if events.len() > JOURNAL_EVENTS {
            events.sort_by_key(|event| event.last.or(event.first));
            events.drain(..events.len() - JOURNAL_EVENTS);
            now.events_withheld = Some(MissingReason::Incomplete);
        }
        if let Some(redactor) = &mut self.redactor {
            for neighbor in now.objects() {
                redactor.collect(neighbor.kind.into(), &mut neighbor_value(neighbor));
            }
            for event in &events {
                redactor.collect("Event", &mut other_event_value(0, event));
            }
            redactor.finish();
        }
        let before = std::mem::replace(&mut self.neighbors, now);
        let now = &self.neighbors;
        for neighbor in before.objects() {
            let other = now.get(neighbor.kind, &neighbor.metadata.key());
            if other.is_none_or(|other| other.api_version != neighbor.api_version) {
                self.gone_neighbor(out, neighbor)?;
            }
        }
        for neighbor in now.objects() {
            if before.get(neighbor.kind, &neighbor.metadata.key()) != Some(neighbor) {
                self.put_neighbor(out, neighbor)?;
            }
        }
        self.take_other_events(events, out)?;
        let known = Some(KnownNeighbors::of(&self.neighbors));
        if known != self.knowledge.neighbors {
            self.knowledge.neighbors = known;
            entry::known(out, &self.knowledge)?;
        }
        Ok(self.redactor.as_ref().map(Redactor::rules) != rules)
    }

    /// Writes the events of others that came, occurred again or expired.
    fn take_other_events(&mut self, events: Vec<OtherEvent>, out: &mut Vec<u8>) -> io::Result<()> {
        let before = std::mem::take(&mut self.other_events);
        let mut numbers: HashMap<OtherIdentity, (u64, OtherEvent)> =
            before.into_iter().map(|(number, event)| (other_identity(&event), (number, event))).collect();
        for event in events {
            let known = numbers.remove(&other_identity(&event));
            let number = known.as_ref().map_or(self.next_other, |(number, _)| *number);
            self.next_other = self.next_other.max(number + 1);
            if known.is_none_or(|(_, known)| known != event) {
                self.put_other_event(out, number, &event)?;
            }
            self.other_events.insert(number, event);
        }
        let mut expired: Vec<u64> = numbers.into_values().map(|(number, _)| number).collect();
        expired.sort_unstable();
        expired.into_iter().try_for_each(|number| entry::gone(out, &EntryKey::OtherEvent(number)))
    }

    /// Returns the line key of an object that scheduling does not read, and its item.
    fn neighbor_entry(&self, neighbor: &Neighbor) -> (EntryKey, Value) {
        let mut item = neighbor_value(neighbor);
        if let Some(redactor) = &self.redactor {
            redactor.apply(neighbor.kind.into(), &mut item);
        }
        (EntryKey::Neighbor(neighbor.kind, neighbor.api_version.clone(), key_of(&item)), item)
    }

    /// Writes the state of an object. Those of kinds that scheduling reads too are one with what it reads.
    fn put_neighbor(&self, out: &mut Vec<u8>, neighbor: &Neighbor) -> io::Result<()> {
        if neighbor.kind.is_in_model() {
            return self.of_cluster(neighbor).map_or(Ok(()), |object| self.put_object(out, &object));
        }
        let (key, item) = self.neighbor_entry(neighbor);
        entry::put(out, &key, |out| write_item(out, &item))
    }

    fn gone_neighbor(&self, out: &mut Vec<u8>, neighbor: &Neighbor) -> io::Result<()> {
        if neighbor.kind.is_in_model() {
            return self.of_cluster(neighbor).map_or(Ok(()), |object| self.put_object(out, &object));
        }
        entry::gone(out, &self.neighbor_entry(neighbor).0)
    }

    fn of_cluster(&self, neighbor: &Neighbor) -> Option<Object> {
        let kind = neighbor.kind.to_string().parse().ok()?;
        self.cluster.get(kind, &neighbor.metadata.key())
    }

    fn put_other_event(&self, out: &mut Vec<u8>, number: u64, event: &OtherEvent) -> io::Result<()> {
        let mut item = other_event_value(number as usize, event);
        if let Some(redactor) = &self.redactor {
            redactor.apply("Event", &mut item);
        }
        entry::put(out, &EntryKey::OtherEvent(number), |out| write_item(out, &item))
    }

    /// Makes replacements for the texts of changes.
    fn collect(&mut self, changes: &[Change]) {
        let Some(redactor) = &mut self.redactor else { return };
        for change in changes {
            match change {
                Change::Put(object) => redactor.collect(object.kind().into(), &mut value(object)),
                Change::Event(event) => redactor.collect("Event", &mut event_value(0, event)),
                Change::Gone(_) | Change::Listed(_) | Change::Unreadable(..) => {}
            }
        }
        redactor.finish();
    }

    /// Returns the key of an object in the journal.
    fn key(&self, kind: Kind, key: Key) -> Key {
        let Some(redactor) = &self.redactor else { return key };
        let mut item = json!({"metadata": {"namespace": key.namespace, "name": key.name}});
        redactor.apply(&kind.to_string(), &mut item);
        key_of(&item)
    }

    fn put_object(&self, out: &mut Vec<u8>, object: &Object) -> io::Result<()> {
        let kind = object.kind();
        let mut item = value(object);
        if let Some(neighbor) = NeighborKind::of_model(kind).and_then(|kind| self.neighbors.get(kind, &object.key())) {
            complete(&mut item, neighbor_value(neighbor));
        }
        let Some(redactor) = &self.redactor else {
            return entry::put(out, &EntryKey::Object(kind, object.key()), |out| write_item(out, &item));
        };
        redactor.apply(&kind.to_string(), &mut item);
        entry::put(out, &EntryKey::Object(kind, key_of(&item)), |out| write_item(out, &item))
    }

    fn put_event(&self, out: &mut Vec<u8>, number: u64, event: &ObservedEvent) -> io::Result<()> {
        let mut item = event_value(number as usize, event);
        if let Some(redactor) = &self.redactor {
            redactor.apply("Event", &mut item);
        }
        entry::put(out, &EntryKey::Event(number), |out| write_item(out, &item))
    }

    /// Adds an event or replaces its last occurrence; returns its number.
    fn add_event(&mut self, event: ObservedEvent) -> u64 {
        let next = self.next;
        let number = *self.numbers.entry(identity(&event)).or_insert(next);
        if number == next {
            self.next += 1;
        }
        self.events.insert(number, event);
        number
    }

    /// Forgets old events, and those beyond the limit.
    fn forget_events(&mut self, now: Timestamp, out: &mut Vec<u8>) -> io::Result<()> {
        while let Some(first) = self.events.first_entry() {
            let is_old = first.get().last.or(first.get().first).is_some_and(|last| now.duration_since(last) > EVENT_AGE);
            let number = *first.key();
            if !is_old && self.numbers.len() <= JOURNAL_EVENTS {
                return Ok(());
            }
            self.numbers.remove(&identity(first.get()));
            first.remove();
            entry::gone(out, &EntryKey::Event(number))?;
        }
        Ok(())
    }

    pub(super) fn keyframe(&self, out: &mut impl Write) -> io::Result<()> {
        let mut lines = Vec::new();
        entry::known(&mut lines, &self.knowledge)?;
        let mut objects: Vec<Object> = self.cluster.objects().collect();
        if self.redactor.is_some() {
            // Texts that are kept do not sort among those that are replaced.
            objects.sort_by_cached_key(|object| (object.kind(), self.key(object.kind(), object.key())));
        }
        for object in &objects {
            self.put_object(&mut lines, object)?;
            if lines.len() > 1 << 16 {
                out.write_all(&lines)?;
                lines.clear();
            }
        }
        let mut neighbors: Vec<(EntryKey, Value)> = Vec::new();
        for kind in NeighborKind::iter().filter(|kind| !kind.is_in_model()) {
            neighbors.extend(self.neighbors.of_kind(kind).map(|neighbor| self.neighbor_entry(neighbor)));
            neighbors.sort_by(|a, b| a.0.cmp(&b.0));
            for (key, item) in neighbors.drain(..) {
                entry::put(&mut lines, &key, |out| write_item(out, &item))?;
            }
            out.write_all(&lines)?;
            lines.clear();
        }
        for (number, event) in &self.events {
            self.put_event(&mut lines, *number, event)?;
        }
        for (number, event) in &self.other_events {
            self.put_other_event(&mut lines, *number, event)?;
        }
        out.write_all(&lines)
    }
}

/// Returns the key in an item's metadata.
fn key_of(item: &Value) -> Key {
    let text = |field: &str| item["metadata"][field].as_str().unwrap_or_default();
    Key::new(text("namespace"), text("name"))
}

/// Writes an item as a capture does, on one line.
fn write_item(out: &mut Vec<u8>, item: &Value) -> io::Result<()> {
    Ok(item.serialize(&mut Serializer::with_formatter(out, Json::default()))?)
}

/// Returns the kinds of which a source has no list.
pub fn unlisted(loaded: &Loaded) -> KindSet {
    loaded.report.absent.iter().map(|absence| absence.kind).chain(loaded.report.gated_unknown().iter()).collect()
}
