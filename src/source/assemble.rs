//! The contents of all files into one cluster: duplicates, defaults that need other objects, counts and remarks.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;

use strum::IntoEnumIterator;

use super::decode::{Bad, Change, Decoded, What};
use super::diagnostic::{Diagnostic, Severity};
use super::events::SeenEvent;
use super::facts::{self, SchedulerHint, ServerVersion, Told};
use super::input::{Content, Found, Place};
use super::layout::{Detector, Fact, Hint, Signs};
use super::load::{Contents, Entry as Read};
use super::report::{Absence, FileReport, Origin, Report, effect_of_absence};
use super::{Loaded, admission, share};
use crate::cluster::{Kind, Object, ObservedEvent, Str};

/// Mistakes of one file that are told one by one; the others are counted.
const TOLD_PER_FILE: usize = 50;

/// A remark that stands for many alike: how many, and the first.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) count: usize,
    pub(super) first: String,
}

impl Tally {
    pub(super) fn add(&mut self, first: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = first();
        }
        self.count += 1;
    }
}

/// A file on its way to be read.
#[derive(Clone, Debug)]
pub(super) struct FileToRead {
    /// As diagnostics name it.
    pub(super) name: String,
    /// Its path below the input.
    pub(super) path: String,
    /// Found in a directory or archive, not named by the user.
    pub(super) found: bool,
    /// The place of its input among all.
    pub(super) input: usize,
    pub(super) place: Place,
}

#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) objects: Vec<Object>,
    events: Vec<ObservedEvent>,
    /// Places among the events, by what tells them apart.
    event_places: HashMap<String, usize>,
    pub(super) report: Report,
    diagnostics: Vec<Diagnostic>,
    /// Files in directories that turned out to hold no objects.
    pub(super) passed_over: Tally,
    /// The same by the endings of their names.
    pub(super) passed_over_by_ending: BTreeMap<String, usize>,
    pub(super) layouts: Detector,
    /// Links in archives.
    pub(super) links: Tally,
    /// Files beyond the number that is read.
    pub(super) too_many: Tally,
    /// Compressed files behind the one that used up what may come out of them.
    pub(super) unaffordable: Tally,
    /// What the dump says that it could not collect.
    pub(super) not_collected: Tally,
    /// Places among the objects of those that a record deleted.
    deleted: HashSet<usize>,
    pub(super) repeated: Tally,
    pub(super) recreated: Tally,
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
    pub(super) fn error(&mut self, file: &str, message: String) {
        self.remark(Severity::Error, file, message);
    }

    pub(super) fn warn(&mut self, file: &str, message: String) {
        self.remark(Severity::Warning, file, message);
    }

    /// How many files were read so far.
    pub(super) fn looked_at(&self) -> usize {
        self.report.files.len()
    }

    /// Notes a file that nobody named and that holds no objects.
    pub(super) fn pass_over(&mut self, file: &FileToRead) {
        self.passed_over.add(|| file.name.clone());
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map_or("without an ending", |(_, ending)| ending);
        *self.passed_over_by_ending.entry(ending.chars().take(20).collect()).or_default() += 1;
    }

    /// Notes what the name of a file tells.
    pub(super) fn note_name(&mut self, name: &str) {
        if self.report.taken_by_name.is_none() {
            self.report.taken_by_name = facts::time_in_name(name);
        }
    }

    /// Notes what a file tells that holds no objects.
    pub(super) fn add_fact(&mut self, file: &FileToRead, fact: Fact, text: &str) {
        match fact {
            Fact::ServerVersion => {
                if let Some(version) = facts::server_version(text) {
                    self.report.server_version.get_or_insert(ServerVersion { version, source: file.name.clone() });
                }
                self.report.taken = self.report.taken.max(facts::last_time(text));
            }
            Fact::Time => self.report.taken = self.report.taken.max(facts::last_time(text)),
            Fact::Errors => {
                if let Some(error) = facts::collection_error(text) {
                    self.not_collected.add(|| format!("{}: {error}", file.name));
                }
            }
        }
    }

    pub(super) fn remark(&mut self, severity: Severity, file: &str, message: String) {
        self.diagnostics.push(Diagnostic { severity, file: file.to_owned(), line: None, object: None, message });
    }

    /// Notes what could not even be listed, and files of directories that are not opened.
    pub(super) fn add_failed(&mut self, found: &Found) {
        if let Some((file, error)) = found.failed.first() {
            let more = more(found.failed.len());
            self.remark(Severity::Error, file, format!("cannot be read: {error}{more}"));
        }
        if let Some(link) = found.led_out.first() {
            let more = more(found.led_out.len());
            self.remark(Severity::Warning, link, format!("leads out of the directory that was given, and is not followed{more}"));
        }
    }

    /// Notes a file that cannot be opened.
    pub(super) fn add_unopened(&mut self, name: &str, error: &io::Error) {
        self.remark(Severity::Error, name, format!("cannot be read: {error}"));
    }

    /// Takes over the contents of a file.
    pub(super) fn add(&mut self, to_read: &FileToRead, hint: &Hint, contents: Contents) {
        let FileToRead { name, found, .. } = to_read;
        if contents.binary {
            if *found {
                self.pass_over(to_read);
            } else {
                let message = "holds no text; JSON and YAML can be read, compressed (gzip, xz, zstd, bzip2) and in archives (tar, zip) too";
                self.remark(Severity::Error, name, message.to_owned());
            }
            return;
        }
        for kind in &contents.listed {
            self.report.count(*kind);
        }
        let mut signs = Signs { form: contents.form, ..Signs::default() };
        let file = self.report.files.len() as u32;
        let mut tallies = FileTallies::default();
        let before = self.objects.len();
        if contents.entries.iter().all(Vec::is_empty) && contents.broken_off.is_none() && contents.unfinished_lists == 0 && !found {
            let what = if contents.bytes == 0 { "is empty" } else { "holds no objects" };
            self.remark(Severity::Warning, name, what.to_owned());
        }
        for entry in contents.entries.into_iter().flatten() {
            match (entry.decoded.change, entry.decoded.index) {
                (Some(Change::Recorded), _) => signs.recorded += 1,
                (Some(Change::Watched), _) => signs.watched += 1,
                (None, Some(_)) => signs.items += 1,
                (None, None) => signs.singles += 1,
            }
            self.add_entry(file, name, *found, entry, hint.rank, &mut tallies);
        }
        if self.objects.len() > before {
            self.layouts.note_signs(to_read.input, signs);
        }
        self.finish_file(to_read, &tallies);
        if let Some(error) = contents.broken_off {
            self.remark(Severity::Error, name, format!("breaks off before its end ({error}); what stands before that was read"));
        } else if contents.unfinished_lists > 0 {
            self.remark(Severity::Warning, name, "ends before a list in it does; the file may be cut short".to_owned());
        }
        self.report.bytes += contents.bytes;
        self.report.files.push(FileReport {
            name: name.clone(),
            path: match (&to_read.place.base, to_read.place.members.is_empty()) {
                (Content::File(path), true) => Some(path.clone()),
                _ => None,
            },
            bytes: contents.bytes,
            objects: self.objects.len() - before,
        });
        self.report.places.push(to_read.place.clone());
    }

    fn finish_file(&mut self, file: &FileToRead, tallies: &FileTallies) {
        let name = file.name.as_str();
        if tallies.untold > 0 {
            self.remark(Severity::Error, name, format!("{} more objects could not be read", tallies.untold));
        }
        if tallies.kindless > 0 && file.found {
            self.pass_over(file);
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

    fn add_entry(&mut self, file: u32, name: &str, found: bool, entry: Read, rank: u8, tallies: &mut FileTallies) {
        let Read { decoded: Decoded { index, newest, what, told, change, .. }, line, offset, length, .. } = entry;
        self.report.newest = self.report.newest.max(newest);
        if let Some(told) = told
            && !self.report.scheduler.iter().any(|hint| (&hint.what, &hint.config) == (&told.what, &told.config))
        {
            self.report.scheduler.push(SchedulerHint { what: told.what, place: format!("{name}:{}", line + 1), config: told.config });
        }
        let place = || index.map(|index| format!("items[{index}]"));
        let (severity, object, line_within, message) = match what {
            What::Object { object, namespace_defaulted, versionless } => {
                if namespace_defaulted {
                    tallies.namespace_defaulted.add(|| label(&object));
                }
                if versionless {
                    tallies.versionless.add(|| label(&object));
                }
                self.add_object(object, Origin { file, line: line + 1, offset, length, place: 0, rank }, change.is_some());
                return;
            }
            What::Deleted(kind, key) => {
                if let Some(origin) = self.report.origins.remove(&(kind, key)) {
                    self.deleted.insert(origin.place as usize);
                    self.report.count(kind).read -= 1;
                }
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

    /// Takes over what an API server answered: objects, each one once, what they tell about the scheduler, events, and
    /// what could not be read.
    pub(super) fn add_answers(
        &mut self,
        name: &str,
        objects: Vec<Object>,
        mut told_by: impl FnMut(&Object) -> Option<Told>,
        events: Vec<SeenEvent>,
        rest: Vec<Decoded>,
        bytes: u64,
    ) {
        let count = objects.len();
        for object in objects {
            if let Some(Told { what, config }) = told_by(&object)
                && !self.report.scheduler.iter().any(|hint| (&hint.what, &hint.config) == (&what, &config))
            {
                self.report.scheduler.push(SchedulerHint { what, place: label(&object), config });
            }
            self.add_object(object, Origin { file: 0, line: 0, offset: 0, length: 0, place: 0, rank: 0 }, false);
        }
        for event in events {
            self.add_event(event);
        }
        let (mut tallies, before) = (FileTallies::default(), self.diagnostics.len());
        for decoded in rest {
            self.add_entry(0, name, false, Read::of_answer(decoded), 0, &mut tallies);
        }
        // Answers have no lines that anybody could look up.
        self.diagnostics[before..].iter_mut().for_each(|diagnostic| diagnostic.line = None);
        if tallies.untold > 0 {
            self.error(name, format!("{} more objects could not be read", tallies.untold));
        }
        self.report.bytes += bytes;
        self.report.files.push(FileReport { name: name.to_owned(), path: None, bytes, objects: count });
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

    /// Adds an object, or decides which of two that share a key stays. The next state in a record simply follows.
    fn add_object(&mut self, object: Object, origin: Origin, follows: bool) {
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
        if follows || origin.rank != known.rank {
            // Copies that a tool writes in several places are no news.
            if follows || origin.rank > known.rank {
                self.objects[place] = object;
                *known = Origin { place: known.place, ..origin };
            }
            return;
        }
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
        self.drop_deleted();
        self.report.layout = self.layouts.finish();
        self.report.newest = self.report.newest.max(self.report.taken);
        if self.report.server_version.is_none() {
            self.report.server_version = self.kubelet_version();
        }
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
        self.count_namespaces();
        self.note_tallies();
        self.note_what_layouts_lack();
        let counts = &self.report.kinds;
        // An empty list says that there are none.
        let absent = Kind::iter().filter(|kind| counts.get(kind).is_none_or(|count| count.read == 0 && count.skipped() > 0));
        self.report.absent = absent.map(|kind| Absence { kind, effect: effect_of_absence(kind) }).collect();
        Loaded { objects: self.objects, events: self.events, report: self.report, diagnostics: self.diagnostics }
    }

    /// Of how many namespaces there are pods, and of how many there are Namespaces or anything else.
    fn count_namespaces(&mut self) {
        let mut known: BTreeSet<&Str> = BTreeSet::new();
        let mut with_pods: BTreeSet<&Str> = BTreeSet::new();
        for object in &self.objects {
            match object {
                Object::Namespace(namespace) => known.insert(&namespace.metadata.name),
                Object::Pod(pod) => with_pods.insert(&pod.metadata.namespace) | known.insert(&pod.metadata.namespace),
                other if other.kind().namespaced() => known.insert(&other.meta().namespace),
                _ => false,
            };
        }
        self.report.namespaces = known.len();
        self.report.namespaces_with_pods = with_pods.len();
    }

    /// Takes out what a record deleted. Places are not used any more after this.
    fn drop_deleted(&mut self) {
        let deleted = std::mem::take(&mut self.deleted);
        if deleted.is_empty() {
            return;
        }
        let mut place = 0;
        self.objects.retain(|_| {
            place += 1;
            !deleted.contains(&(place - 1))
        });
    }

    /// The newest kubelet: the API server is at least as new.
    fn kubelet_version(&self) -> Option<ServerVersion> {
        let versions = self
            .objects
            .iter()
            .filter_map(|o| if let Object::Node(node) = o { Some(&node.status.node_info.as_ref()?.kubelet_version) } else { None });
        let numbers = |version: &str| -> Vec<u32> {
            version.trim_start_matches('v').split(['.', '-', '+']).map_while(|part| part.parse().ok()).take(3).collect()
        };
        let newest = versions.filter(|v| !v.is_empty()).max_by_key(|v| numbers(v))?;
        Some(ServerVersion { version: newest.to_string(), source: "of the newest kubelet".to_owned() })
    }
}

/// `Pod shop/web`.
fn label(object: &Object) -> String {
    format!("{} {}", object.kind(), object.key())
}

pub(super) fn count_of(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn more(count: usize) -> String {
    if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() }
}
