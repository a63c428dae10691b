//! The contents of all files into one cluster: duplicates, defaults that need other objects, counts and remarks.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io;

use strum::IntoEnumIterator;

use super::decode::{Bad, Decoded, What};
use super::diagnostic::{Diagnostic, Severity};
use super::events::SeenEvent;
use super::input::{Document, Found};
use super::load::{Contents, Entry as Read};
use super::report::{Absence, FileReport, Origin, Report, effect_of_absence};
use super::{Loaded, admission, share};
use crate::cluster::{Key, Kind, Object, ObservedEvent, Str};

/// Mistakes of one file that are told one by one; the others are counted.
const TOLD_PER_FILE: usize = 50;

/// A remark that stands for many alike: how many, and the first.
#[derive(Debug, Default)]
struct Tally {
    count: usize,
    first: String,
}

impl Tally {
    fn add(&mut self, first: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = first();
        }
        self.count += 1;
    }
}

#[derive(Debug, Default)]
pub(super) struct Assembly {
    objects: Vec<Object>,
    events: Vec<ObservedEvent>,
    /// Places among the events, by what tells them apart.
    event_places: HashMap<String, usize>,
    report: Report,
    diagnostics: Vec<Diagnostic>,
    /// Files in directories that turned out to hold no objects.
    passed_over: Tally,
    repeated: Tally,
    recreated: Tally,
}

/// The remarks about one file that are told once however often they apply.
#[derive(Default)]
struct FileTallies {
    namespace_defaulted: Tally,
    versionless: Tally,
    told: usize,
    untold: usize,
    kindless: usize,
}

impl Assembly {
    fn remark(&mut self, severity: Severity, file: &str, message: String) {
        self.diagnostics.push(Diagnostic { severity, file: file.to_owned(), line: None, object: None, message });
    }

    /// Notes what could not even be listed, and files of directories that are not opened.
    pub(super) fn add_failed(&mut self, found: &Found) {
        if let Some((file, error)) = found.failed.first() {
            let more = more(found.failed.len());
            self.remark(Severity::Error, file, format!("cannot be read: {error}{more}"));
        }
        for name in &found.passed_over {
            self.passed_over.add(|| name.clone());
        }
    }

    /// Notes a file that cannot be opened.
    pub(super) fn add_unopened(&mut self, document: &Document, error: &io::Error) {
        self.remark(Severity::Error, &document.name, format!("cannot be read: {error}"));
    }

    /// Takes over the contents of a file.
    pub(super) fn add(&mut self, document: Document, contents: Contents) {
        let Document { name, found, .. } = &document;
        if contents.binary {
            if *found {
                self.passed_over.add(|| name.clone());
            } else {
                self.remark(Severity::Error, name, "holds no text; JSON, YAML and gzip of these can be read".to_owned());
            }
            return;
        }
        let file = self.report.files.len() as u32;
        let mut tallies = FileTallies::default();
        let before = self.objects.len();
        if contents.entries.iter().all(Vec::is_empty) && contents.broken_off.is_none() && contents.unfinished_lists == 0 && !found {
            let what = if contents.bytes == 0 { "is empty" } else { "holds no objects" };
            self.remark(Severity::Warning, name, what.to_owned());
        }
        for entry in contents.entries.into_iter().flatten() {
            self.add_entry(file, name, *found, entry, &mut tallies);
        }
        self.finish_file(name, *found, &tallies);
        if let Some(error) = contents.broken_off {
            self.remark(Severity::Error, name, format!("breaks off before its end ({error}); what stands before that was read"));
        } else if contents.unfinished_lists > 0 {
            self.remark(Severity::Warning, name, "ends before a list in it does; the file may be cut short".to_owned());
        }
        self.report.bytes += contents.bytes;
        self.report.files.push(FileReport {
            name: name.clone(),
            path: Report::path_of(&document).map(ToOwned::to_owned),
            bytes: contents.bytes,
            objects: self.objects.len() - before,
        });
        if Report::path_of(&document).is_none() {
            self.report.embedded.insert(file, document);
        }
    }

    fn finish_file(&mut self, name: &str, found: bool, tallies: &FileTallies) {
        if tallies.untold > 0 {
            self.remark(Severity::Error, name, format!("{} more objects could not be read", tallies.untold));
        }
        if tallies.kindless > 0 && found {
            self.passed_over.add(|| name.to_owned());
        }
        let Tally { count, first } = &tallies.namespace_defaulted;
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
        let Tally { count, first } = &tallies.versionless;
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
    }

    fn add_entry(&mut self, file: u32, name: &str, found: bool, entry: Read, tallies: &mut FileTallies) {
        let Read { decoded: Decoded { index, newest, what, .. }, line, offset, length, .. } = entry;
        self.report.newest = self.report.newest.max(newest);
        let place = || index.map(|index| format!("items[{index}]"));
        let (severity, object, line_within, message) = match what {
            What::Object { object, namespace_defaulted, versionless } => {
                if namespace_defaulted {
                    tallies.namespace_defaulted.add(|| label(&object));
                }
                if versionless {
                    tallies.versionless.add(|| label(&object));
                }
                self.add_object(object, Origin { file, line: line + 1, offset, length, place: 0 });
                return;
            }
            What::Event(event) => {
                self.add_event(*event);
                return;
            }
            What::Other(kind) => {
                *self.report.other_kinds.entry(kind).or_default() += 1;
                return;
            }
            What::Unread(kind) => {
                *self.report.unread_kinds.entry(kind).or_default() += 1;
                return;
            }
            What::OldVersion(kind, version) => {
                self.report.count(kind).old_version += 1;
                (Severity::Warning, place(), 0, format!("{kind} of {version} cannot be read; only newer versions can"))
            }
            What::Nameless(kind) => {
                self.report.count(kind).nameless += 1;
                (Severity::Error, place().or_else(|| Some(kind.to_string())), 0, format!("{kind} without a name; skipped"))
            }
            What::Kindless | What::Pending(..) if found && index.is_none() => {
                tallies.kindless += 1;
                return;
            }
            What::Kindless | What::Pending(..) => {
                self.report.unknown += 1;
                (Severity::Error, place(), 0, "object without a kind; skipped".to_owned())
            }
            What::Bad(bad) => {
                let Bad { kind, event, object, line, message, .. } = *bad;
                match kind {
                    Some(kind) => self.report.count(kind).unreadable += 1,
                    None if event => self.report.events.unreadable += 1,
                    None => self.report.unknown += 1,
                }
                let kind = kind.map(|kind| kind.to_string()).or_else(|| event.then(|| "Event".to_owned()));
                let object = object.or_else(|| match (kind, place()) {
                    (Some(kind), Some(place)) => Some(format!("{kind} {place}")),
                    (Some(kind), None) => Some(kind),
                    (None, place) => place,
                });
                (Severity::Error, object, line.unwrap_or(0), message)
            }
        };
        if tallies.told == TOLD_PER_FILE {
            tallies.untold += 1;
            return;
        }
        tallies.told += 1;
        self.diagnostics.push(Diagnostic { severity, file: name.to_owned(), line: Some(line + line_within + 1), object, message });
    }

    /// Adds an event. Of several states of one, that with the highest count counts, and of these the newest.
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

    /// Adds an object, or decides which of two that share a key stays.
    fn add_object(&mut self, object: Object, origin: Origin) {
        let kind = object.kind();
        let known = match self.report.origins.entry((kind, object.key())) {
            Entry::Vacant(entry) => {
                entry.insert(Origin { place: self.objects.len() as u32, ..origin });
                self.report.count(kind).read += 1;
                self.objects.push(object);
                return;
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        let place = known.place as usize;
        let (old, new) = (self.objects[place].meta(), object.meta());
        let replaces = match (old.resource_version.parse::<u64>(), new.resource_version.parse::<u64>()) {
            (Ok(old), Ok(new)) => new > old,
            // Without versions to compare, what was read later is what the user added on top.
            _ => true,
        };
        let same = old.uid.is_empty() || new.uid.is_empty() || old.uid == new.uid;
        let tally = if same { &mut self.repeated } else { &mut self.recreated };
        tally.add(|| label(&object));
        if replaces {
            self.objects[place] = object;
            *known = Origin { place: known.place, ..origin };
        }
        self.report.count(kind).superseded += 1;
    }

    /// The last steps, over all objects.
    pub(super) fn finish(mut self) -> Loaded {
        for place in admission::resolve_priorities(&mut self.objects) {
            let object = &self.objects[place];
            let Object::Pod(pod) = object else { continue };
            let (file, line) = self.report.file_and_line(Kind::Pod, &pod.key()).map_or(("", None), |(file, line)| (file, Some(line)));
            let message = format!("priority class {} does not exist; the pod counts as priority 0", pod.spec.priority_class_name);
            let (file, object) = (file.to_owned(), Some(label(object)));
            self.diagnostics.push(Diagnostic { severity: Severity::Warning, file, line, object, message });
        }
        share::share_all(&mut self.objects);
        self.note_pods_on_unknown_nodes();
        self.note_tallies();
        let counts = &self.report.kinds;
        let absent = Kind::iter().filter(|kind| counts.get(kind).is_none_or(|count| count.read == 0));
        self.report.absent = absent.map(|kind| Absence { kind, effect: effect_of_absence(kind) }).collect();
        Loaded { objects: self.objects, events: self.events, report: self.report, diagnostics: self.diagnostics }
    }

    fn note_pods_on_unknown_nodes(&mut self) {
        let mut unknown = BTreeMap::<Str, usize>::new();
        for object in &self.objects {
            let Object::Pod(pod) = object else { continue };
            if pod.node_name.is_empty() || pod.is_terminal() {
                continue;
            }
            let node = (Kind::Node, Key { namespace: Str::default(), name: pod.node_name.clone() });
            if !self.report.origins.contains_key(&node) {
                *unknown.entry(pod.node_name.clone()).or_default() += 1;
            }
        }
        if let Some(first) = unknown.keys().next() {
            let pods = count_of(unknown.values().sum(), "pod is", "pods are");
            let message = format!("{pods} bound to nodes that were not read (the first is {first}) and left out of account");
            self.remark(Severity::Warning, "", message);
        }
        self.report.pods_on_unknown_nodes = unknown;
    }

    fn note_tallies(&mut self) {
        let unread: usize = self.report.unread_kinds.values().sum();
        if unread > 0 {
            let kinds: Vec<&str> = self.report.unread_kinds.keys().map(String::as_str).collect();
            let objects = count_of(unread, "object was", "objects were");
            let message = format!("{objects} skipped unread, since scheduling does not depend on them: {}", kinds.join(", "));
            self.remark(Severity::Note, "", message);
        }
        let Tally { count, first } = std::mem::take(&mut self.repeated);
        if count > 0 {
            let times = count_of(count, "object was", "objects were");
            self.remark(Severity::Note, "", format!("{times} read more than once, and the newest state of each was kept: {first}"));
        }
        let Tally { count, first } = std::mem::take(&mut self.recreated);
        if count > 0 {
            let times = count_of(count, "name stands", "names stand");
            let message = format!("{times} for different objects, of which the newest was kept; are these dumps of one cluster? {first}");
            self.remark(Severity::Warning, "", message);
        }
        let Tally { count, first } = std::mem::take(&mut self.passed_over);
        if count > 0 {
            let files = count_of(count, "file holds", "files hold");
            self.remark(Severity::Note, "", format!("{files} no Kubernetes objects and passed over: {first}"));
        }
    }
}

/// `Pod shop/web`.
fn label(object: &Object) -> String {
    format!("{} {}", object.kind(), object.key())
}

fn count_of(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn more(count: usize) -> String {
    if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() }
}
