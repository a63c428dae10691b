//! Ingests the objects of a file, a window at a time. Resolves duplicates, collects events and reports errors.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Severity};
use super::losses::{names_kind, namespace_of};
use super::report::{FileReport, Origin};
use super::{Assembly, FileToRead, Tally, label};
use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Kind, KindSet, MissingReason, Object};
use crate::limits::sources::ERRORS_OF_FILE;
use crate::plural::{and_more, count_of};
use crate::source::decode::any_kind::AnyKind;
use crate::source::decode::dump_metadata::{SchedulerHint, SchedulerMetadata};
use crate::source::decode::events::SeenEvent;
use crate::source::decode::neighbors::DecodedNeighbor;
use crate::source::decode::windows::{Contents, Entry as Read};
use crate::source::decode::{Change, DecodeError, Decoded, DecodedItem, OtherValue, SeenList};
use crate::source::layout::Signs;
use crate::source::read::input::{Content, Place};

/// The ingest of one file, with counters for remarks that are made once a file.
pub(in crate::source) struct Ingest<'a> {
    file: &'a FileToRead,
    /// The rank of the file among copies of an object.
    rank: u8,
    /// Signs in the entries of the tool that wrote the file.
    signs: Signs,
    entries: usize,
    /// The number of objects taken from it.
    objects: usize,
    /// The number of objects, but for those of lists, that could not be decoded and whose kind is unknown.
    of_no_kind: usize,
    /// The lists that are empty or within other objects.
    lists: Vec<SeenList>,
    /// The kinds of these objects, and that of the last one.
    kinds: KindSet,
    last: Option<AnyKind>,
    namespace_defaulted: Tally,
    versionless: Tally,
    reported: usize,
    unreported: usize,
    /// Objects that were read without their invalid times, beyond those reported one by one.
    mended: usize,
    kindless: usize,
    /// The number of values that are not objects, or are of an unknown kind, and the index of the diagnostic about them.
    strays: usize,
    stray: Option<usize>,
    /// Whether one of them has a name, as objects of a cluster do.
    named_stray: bool,
    /// The number of them that are in no list.
    top_strays: usize,
    /// The file holds words rather than objects, such as the message of an error.
    is_of_words: bool,
}

/// Why an entry is not read.
struct Fault {
    severity: Severity,
    object: Option<String>,
    /// The line within the entry, from 0.
    line: u32,
    message: String,
}

impl<'a> Ingest<'a> {
    pub(in crate::source) fn new(file: &'a FileToRead, rank: u8) -> Self {
        Self {
            file,
            rank,
            signs: Signs::default(),
            entries: 0,
            objects: 0,
            of_no_kind: 0,
            lists: Vec::new(),
            kinds: KindSet::default(),
            last: None,
            namespace_defaulted: Tally::default(),
            versionless: Tally::default(),
            reported: 0,
            unreported: 0,
            mended: 0,
            kindless: 0,
            strays: 0,
            stray: None,
            named_stray: false,
            top_strays: 0,
            is_of_words: false,
        }
    }

    /// Counts an object, and what it lacks.
    fn note(&mut self, object: &Object, namespace_defaulted: bool, versionless: bool) {
        if namespace_defaulted {
            self.namespace_defaulted.add(|| label(object));
        }
        if versionless {
            self.versionless.add(|| label(object));
        }
        self.last = Some(object.kind().into());
        self.kinds.insert(object.kind());
    }
}

impl Assembly {
    /// Ingests a window of a file.
    pub(in crate::source) fn take(&mut self, ingest: &mut Ingest<'_>, entries: Vec<Read>) {
        let before = self.objects.len();
        ingest.entries += entries.len();
        for entry in entries {
            match (entry.decoded.change, entry.decoded.index) {
                (Some(Change::Recorded), _) => ingest.signs.recorded += 1,
                (Some(Change::Watched), _) => ingest.signs.watched += 1,
                (None, Some(_)) => ingest.signs.items += 1,
                (None, None) => ingest.signs.singles += 1,
            }
            self.add_entry(ingest, entry);
        }
        ingest.objects += self.objects.len() - before;
    }

    /// Ingests the rest of a file at its end.
    pub(in crate::source) fn add(&mut self, mut ingest: Ingest<'_>, mut contents: Contents) {
        let to_read = ingest.file;
        let FileToRead { name, found, .. } = to_read;
        if contents.binary {
            if *found {
                self.lose_named(&to_read.path);
                self.pass_over(to_read);
            } else {
                self.lose(to_read);
                let message =
                    "contains no text; JSON and YAML can be read, compressed (gzip, xz, zstd, bzip2) and in archives (tar, zip) too";
                self.remark(Severity::Error, name, message.to_owned());
            }
            return;
        }
        for entries in std::mem::take(&mut contents.entries) {
            self.take(&mut ingest, entries);
        }
        for list in &std::mem::take(&mut ingest.lists) {
            contents.lists.add(list);
        }
        let lists = &contents.lists;
        if namespace_of(to_read).is_none() {
            for kind in &lists.listed {
                self.report.count(*kind);
            }
            for kind in &lists.listed_neighbors {
                self.neighbors.add_listed(*kind);
            }
        }
        let is_known = !lists.listed.is_empty() || !lists.listed_neighbors.is_empty();
        if ingest.entries == 0 && !is_known && contents.broken_off.is_none() && lists.unfinished == 0 && !found {
            let what = if contents.bytes == 0 { "is empty" } else { "contains no objects" };
            self.remark(Severity::Warning, name, what.to_owned());
        }
        if ingest.objects > 0 {
            self.layouts.note_signs(to_read.input, Signs { form: contents.form, ..std::mem::take(&mut ingest.signs) });
        }
        if self.finish_file(&ingest) {
            contents.lists.untyped_lacks = false;
        }
        self.weigh_lists(to_read, &contents, ingest.last, ingest.kinds);
        // Of a file that is cut, the lists tell what its broken end may have been.
        if ingest.of_no_kind > 0 && contents.broken_off.is_none() && contents.lists.unfinished == 0 {
            self.lose(to_read);
        }
        if let Some(error) = contents.broken_off {
            self.remark(Severity::Error, name, error.to_string());
        } else if contents.lists.unfinished > 0 {
            self.remark(Severity::Warning, name, "ends within a list; the file may be truncated".to_owned());
        }
        if let Some((kind, remaining)) = contents.lists.pages.first() {
            let rest = remaining.map_or_else(|| "the rest".to_owned(), |count| count_of(count as usize, "more item", "more items"));
            let others = and_more(contents.lists.pages.len());
            let message = format!("holds a page of a longer list of {kind}s: {rest} was left out when it was made{others}");
            self.remark(Severity::Error, name, message);
        }
        self.report.bytes += contents.bytes;
        self.report.files.push(FileReport {
            name: name.clone(),
            path: match (&to_read.place.base, to_read.place.members.is_empty()) {
                (Content::File(path), true) => Some(path.clone()),
                _ => None,
            },
            bytes: contents.bytes,
            objects: ingest.objects,
        });
        self.report.places.push(to_read.place.clone());
    }

    /// Makes the remarks about a file at its end. Returns whether it was found and is no part of the cluster.
    fn finish_file(&mut self, ingest: &Ingest<'_>) -> bool {
        let file = ingest.file;
        let name = file.name.as_str();
        if ingest.unreported > 0 {
            self.remark(Severity::Error, name, format!("{} more objects could not be read", ingest.unreported));
        }
        if ingest.mended > 0 {
            let objects = count_of(ingest.mended, "more object was", "more objects were");
            self.remark(Severity::Warning, name, format!("{objects} read without invalid times"));
        }
        if ingest.kindless > 0 && file.found {
            if ingest.objects > 0 {
                self.lose(file);
            } else if ingest.is_of_words {
                self.lose_named(&file.path);
            } else {
                self.lose_named_after_kind(&file.path);
            }
            self.pass_over(file);
        }
        // A file that was found and holds lists of anything else, such as alerts, is no part of the cluster.
        let foreign = ingest.strays > 0 && ingest.strays == ingest.entries && !ingest.named_stray && file.found && !names_kind(&file.path);
        if foreign {
            ingest.stray.into_iter().for_each(|place| drop(self.diagnostics.remove(place)));
            self.report.unknown -= ingest.strays;
            self.pass_over(file);
        } else if ingest.strays > 0 && (ingest.objects == 0 || ingest.top_strays > 0) {
            self.lose(file);
        }
        if let Some(place) = ingest.stray.filter(|_| !foreign)
            && ingest.strays > 1
        {
            let more = count_of(ingest.strays - 1, "more item was", "more items were");
            self.diagnostics[place].message.push_str(&format!("; {more} skipped too"));
        }
        let Tally { count, first } = &ingest.namespace_defaulted;
        if *count > 0 {
            self.remark(
                Severity::Note,
                name,
                format!(
                    "{} taken to be in namespace default: {first}",
                    count_of(*count, "object without a namespace is", "objects without a namespace are")
                ),
            );
        }
        let Tally { count, first } = &ingest.versionless;
        if *count > 0 {
            self.remark(
                Severity::Warning,
                name,
                format!(
                    "{} by kind alone: {first}",
                    count_of(*count, "object without an apiVersion was read", "objects without an apiVersion were read")
                ),
            );
        }
        foreign
    }

    fn add_entry(&mut self, ingest: &mut Ingest<'_>, entry: Read) {
        let name = &ingest.file.name;
        let Read { decoded: Decoded { index, newest, what, metadata, neighbor, change, .. }, line, offset, length, .. } = entry;
        self.report.newest = self.report.newest.max(newest);
        if let Some(neighbor) = neighbor {
            ingest.last = neighbor.kind().or(ingest.last);
            self.add_neighbor(*neighbor);
        }
        if let Some(metadata) = metadata {
            self.add_metadata(*metadata, name, line);
        }
        let place = || index.map(|index| format!("items[{index}]"));
        let what = self.take_mended(ingest, what, line, &place);
        let fault = match what {
            DecodedItem::Object { object, namespace_defaulted, versionless } => {
                let file = self.report.files.len() as u32;
                let origin = Origin { file, line: line + 1, offset, length, rank: ingest.rank };
                ingest.note(&object, namespace_defaulted, versionless);
                return self.add_object(object, origin, change.is_some());
            }
            DecodedItem::Deleted(kind, key) => {
                if let Some(place) = self.index.remove(&self.objects, kind, &key) {
                    self.deleted.insert(place);
                    self.report.count(kind).read -= 1;
                }
                return;
            }
            DecodedItem::Event(event) => return self.add_event(*event),
            DecodedItem::List(list) => {
                ingest.entries -= 1;
                return ingest.lists.push(list);
            }
            DecodedItem::Version | DecodedItem::Mended(..) => return,
            DecodedItem::Other(kind) => return *self.report.other_kinds.entry(kind).or_default() += 1,
            DecodedItem::Unread(kind) => return *self.report.unread_kinds.entry(kind).or_default() += 1,
            DecodedItem::Refusal(kind, MissingReason::Incomplete, message) => {
                self.losses.may_lack(kind);
                return self.in_part.add(|| format!("{name}: {} were not given whole: {message}", kind.plural()));
            }
            DecodedItem::Refusal(kind, why, message) => self.take_refusal(kind, why, &message),
            DecodedItem::OldVersion(kind, version) => {
                self.report.count(kind).old_version += 1;
                self.withhold_neighbor(NeighborKind::of_model(kind));
                let message = format!("{kind} of {version} cannot be read; only newer versions can");
                Fault { severity: Severity::Warning, object: place(), line: 0, message }
            }
            DecodedItem::Nameless(kind) => {
                self.report.count(kind).nameless += 1;
                self.withhold_neighbor(NeighborKind::of_model(kind));
                let object = place().or_else(|| Some(kind.to_string()));
                Fault { severity: Severity::Error, object, line: 0, message: format!("{kind} without a name; skipped") }
            }
            DecodedItem::Kindless { .. } | DecodedItem::NoObject(_) | DecodedItem::Pending(..) => {
                return self.add_kindless(ingest, &what, line, place());
            }
            DecodedItem::Error(bad) => self.take_error(ingest, *bad, place()),
        };
        if ingest.reported == ERRORS_OF_FILE {
            ingest.unreported += 1;
            return;
        }
        ingest.reported += 1;
        let Fault { severity, object, line: within, message } = fault;
        self.diagnostics.push(Diagnostic { severity, file: name.clone(), line: Some(line + within + 1), object, message });
    }

    /// Adds what an entry says about the cluster's version and its scheduler.
    fn add_metadata(&mut self, metadata: SchedulerMetadata, file: &str, line: u32) {
        if let Some((version, found_in)) = &metadata.version {
            self.add_version(version.clone(), found_in(file.to_owned()));
        }
        if !metadata.what.is_empty() {
            self.add_hint(metadata.what, metadata.config, || format!("{file}:{}", line + 1));
        }
    }

    /// Adds a hint at the scheduler's configuration, unless there is the same one.
    fn add_hint(&mut self, what: String, config: Option<String>, place: impl FnOnce() -> String) {
        if !self.report.scheduler.iter().any(|hint| (&hint.what, &hint.config) == (&what, &config)) {
            self.report.scheduler.push(SchedulerHint { what, place: place(), config });
        }
    }

    /// Says what was left out of an object that was mended, and returns what was read; returns any other item as it is.
    fn take_mended(&mut self, ingest: &mut Ingest<'_>, what: DecodedItem, line: u32, place: &dyn Fn() -> Option<String>) -> DecodedItem {
        let DecodedItem::Mended(object, message) = what else { return what };
        if ingest.reported < ERRORS_OF_FILE {
            ingest.reported += 1;
            let label = if let DecodedItem::Object { object, .. } = &*object { Some(label(object)) } else { place() };
            let (file, line) = (ingest.file.name.clone(), Some(line + 1));
            self.diagnostics.push(Diagnostic { severity: Severity::Warning, file, line, object: label, message });
        } else {
            ingest.mended += 1;
        }
        *object
    }

    /// Notes a kind that an API server did not list.
    fn take_refusal(&mut self, kind: Kind, why: MissingReason, message: &str) -> Fault {
        match why {
            MissingReason::Refused => self.report.refused.insert(kind),
            MissingReason::Partial => self.report.partial.insert(kind),
            MissingReason::Selected => self.report.selected.insert(kind),
            MissingReason::Failed | MissingReason::Incomplete | MissingReason::NotInSource => self.report.failed.insert(kind),
        }
        let severity = match why {
            MissingReason::Partial | MissingReason::Selected => Severity::Note,
            MissingReason::Refused | MissingReason::Failed | MissingReason::Incomplete | MissingReason::NotInSource => Severity::Error,
        };
        Fault { severity, object: None, line: 0, message: format!("{} were not given: {message}", kind.plural()) }
    }

    /// Counts a value that is no object or has no kind. Of those of a list, or of a file that the user named, says the first.
    fn add_kindless(&mut self, ingest: &mut Ingest<'_>, what: &DecodedItem, line: u32, object: Option<String>) {
        let FileToRead { name, found, .. } = ingest.file;
        let is_named = matches!(what, DecodedItem::Kindless { named: true });
        if *found && object.is_none() {
            if is_named {
                self.report.unknown += 1;
                self.kindless.add(|| name.clone());
            } else {
                ingest.kindless += 1;
                ingest.is_of_words |= matches!(what, DecodedItem::NoObject(OtherValue::Words));
            }
            return;
        }
        self.report.unknown += 1;
        ingest.strays += 1;
        ingest.top_strays += usize::from(object.is_none());
        ingest.named_stray |= is_named;
        if ingest.strays > 1 {
            return;
        }
        ingest.stray = Some(self.diagnostics.len());
        let message = match what {
            DecodedItem::NoObject(found) => format!("expected an object, found {found}; skipped"),
            _ => "object without a kind; skipped".to_owned(),
        };
        let (file, severity) = (name.clone(), if *found { Severity::Warning } else { Severity::Error });
        self.diagnostics.push(Diagnostic { severity, file, line: Some(line + 1), object, message });
    }

    /// Notes that an object of a kind which explains missing pods could not be read.
    fn withhold_neighbor(&mut self, kind: Option<NeighborKind>) {
        self.withheld_neighbors.extend(kind.map(|kind| (Some(kind), MissingReason::Incomplete)));
    }

    /// Counts an object that could not be decoded.
    fn take_error(&mut self, ingest: &mut Ingest<'_>, bad: DecodeError, place: Option<String>) -> Fault {
        let DecodeError { kind, neighbor, event, object, line, message, .. } = bad;
        let neighbor = neighbor.or_else(|| NeighborKind::of_model(kind?));
        self.withhold_neighbor(neighbor);
        if event {
            self.withheld_neighbors.push((None, MissingReason::Incomplete));
        }
        match kind {
            Some(kind) => self.report.count(kind).unreadable += 1,
            None if event => self.report.events.unreadable += 1,
            None if neighbor.is_some() => {}
            None => {
                self.report.unknown += 1;
                // Lists tell about their own items.
                ingest.of_no_kind += usize::from(place.is_none());
            }
        }
        let kind = kind.map(|kind| kind.to_string()).or_else(|| neighbor.map(|kind| kind.to_string()));
        let kind = kind.or_else(|| event.then(|| "Event".to_owned()));
        let object = object.or_else(|| match (kind, place) {
            (Some(kind), Some(place)) => Some(format!("{kind} {place}")),
            (Some(kind), None) => Some(kind),
            (None, place) => place,
        });
        Fault { severity: Severity::Error, object, line: line.unwrap_or(0), message }
    }

    /// Ingests the answers of an API server: objects (each once), scheduler metadata, events, and what could not be
    /// read.
    pub(in crate::source) fn add_answers(
        &mut self,
        name: &str,
        objects: Vec<Object>,
        mut found_in: impl FnMut(&Object) -> Option<SchedulerMetadata>,
        events: Vec<SeenEvent>,
        rest: Vec<Decoded>,
        bytes: u64,
    ) {
        let count = objects.len();
        for object in objects {
            if let Some(SchedulerMetadata { what, config, .. }) = found_in(&object) {
                self.add_hint(what, config, || label(&object));
            }
            self.add_object(object, Origin { file: 0, line: 0, offset: 0, length: 0, rank: 0 }, false);
        }
        for event in events {
            self.add_event(event);
        }
        let no_place = Place { base: Content::Memory(Arc::default()), members: Vec::new() };
        let file = FileToRead { name: name.to_owned(), path: String::new(), found: false, input: 0, place: no_place };
        let (mut ingest, before) = (Ingest::new(&file, 0), self.diagnostics.len());
        for decoded in rest {
            self.add_entry(&mut ingest, Read::of_answer(decoded));
        }
        // Lines of an answer mean nothing to the user.
        self.diagnostics[before..].iter_mut().for_each(|diagnostic| diagnostic.line = None);
        if ingest.of_no_kind > 0 {
            self.lose(&file);
        }
        if ingest.unreported > 0 {
            self.error(name, format!("{} more objects could not be read", ingest.unreported));
        }
        self.report.bytes += bytes;
        self.report.files.push(FileReport { name: name.to_owned(), path: None, bytes, objects: count });
    }

    /// Adds an object or event that scheduling does not read.
    pub(in crate::source) fn add_neighbor(&mut self, neighbor: DecodedNeighbor) {
        match neighbor {
            DecodedNeighbor::Object(object) => self.neighbors.insert(object),
            DecodedNeighbor::Withheld(kind, why) => self.withheld_neighbors.push((kind, why)),
            DecodedNeighbor::Event(identity, event) => match self.other_event_places.entry(identity) {
                Entry::Vacant(entry) => {
                    entry.insert(self.neighbors.events.len());
                    self.neighbors.events.push(event);
                }
                Entry::Occupied(entry) => {
                    let known = &mut self.neighbors.events[*entry.get()];
                    if (event.count, event.last) > (known.count, known.last) {
                        *known = event;
                    }
                }
            },
        }
    }

    /// Adds an event. Of several states of one event the one with the highest count is kept, and of these the newest.
    fn add_event(&mut self, seen: SeenEvent) {
        let SeenEvent { identity, event } = seen;
        match self.event_places.entry(identity) {
            Entry::Vacant(entry) => {
                entry.insert(self.events.len());
                self.events.push(event);
                self.report.events.read += 1;
            }
            Entry::Occupied(entry) => {
                let known = &mut self.events[*entry.get()];
                if (event.count, event.last) > (known.count, known.last) {
                    *known = event;
                }
                self.report.events.superseded += 1;
            }
        }
    }

    /// Adds an object, or decides which of two with the same key is kept. With `follows`, it is the next state in a
    /// record and replaces the one before.
    fn add_object(&mut self, object: Object, origin: Origin, follows: bool) {
        let kind = object.kind();
        let meta = object.meta();
        let Some(place) = self.index.place(&self.objects, kind, &meta.namespace, &meta.name) else {
            self.report.count(kind).read += 1;
            self.objects.push(object);
            self.index.add(&self.objects, origin);
            return;
        };
        let known = self.index.origin(place);
        if follows || origin.rank != known.rank {
            // Tools write copies in several places; that is not worth a remark.
            if follows || origin.rank > known.rank {
                self.objects[place] = object;
                *known = origin;
            }
            return;
        }
        let (old, new) = (self.objects[place].meta(), object.meta());
        let replaces = match (old.resource_version.number(), new.resource_version.number()) {
            (Some(old), Some(new)) => new > old,
            // Without versions to compare, the one read later is kept: the user added it last.
            _ => true,
        };
        let same = old.uid.is_empty() || new.uid.is_empty() || old.uid == new.uid;
        let tally = if same { &mut self.repeated } else { &mut self.recreated };
        tally.add(|| label(&object));
        if replaces {
            self.objects[place] = object;
            *known = origin;
        }
        self.report.count(kind).superseded += 1;
    }
}
