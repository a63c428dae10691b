//! Assembles the contents of all files into one cluster, with the defaults that depend on other objects, counts and
//! diagnostics.

pub(super) mod diagnostic;
mod ingest;
mod losses;
mod origins;
pub(super) mod report;
pub(in crate::source) mod unpacked;
pub(super) mod walk;
mod warnings;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::sync::Arc;

use strum::IntoEnumIterator;

use crate::cluster::neighbors::{NeighborKind, Neighbors};
use crate::cluster::{Cluster, Kind, MissingReason, Object, ObservedEvent, Str};
use crate::plural::and_more;
use crate::scheduler_log::SchedulerLog;
use crate::source::decode::any_kind::AnyKind;
use crate::source::decode::dump_metadata::{self, ServerVersion, VersionPlace};
use crate::source::decode::{admission, dedup};
use crate::source::layout::{Detector, Fact};
use crate::source::read::input::{Content, Failed, Found, LedOut, Place};
use diagnostic::{Diagnostic, Severity};
use origins::ObjectIndex;
use report::{Absence, Report, effect_of_absence};

/// The result of [`crate::source::load()`].
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The objects in the order in which they were read, without duplicates.
    pub objects: Vec<Object>,
    /// Events of schedulers about pods, in the order in which they were read, without duplicates.
    pub events: Vec<ObservedEvent>,
    /// The objects and events that scheduling does not read.
    pub neighbors: Arc<Neighbors>,
    /// A report on what was read, skipped and missing.
    pub report: Report,
    /// Diagnostics in the order of the input; those about the whole input come last.
    pub diagnostics: Vec<Diagnostic>,
    /// The parsed log of kube-scheduler; `None` until one is read.
    pub scheduler_log: Option<Arc<SchedulerLog>>,
    /// The configuration that a saved session was recorded with; `None` for other sources.
    pub configuration: Option<SavedConfiguration>,
    /// Logs of kube-scheduler found in the dump, for [`crate::source::read_logs_of_dump`].
    pub logs: DumpLogs,
}

/// The scheduler's configuration of a saved session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedConfiguration {
    /// The name that diagnostics use.
    pub name: String,
    /// The text of the configuration; `None` for the defaults.
    pub text: Option<String>,
    /// The feature gates that differ from the release's defaults, as `--feature-gates` takes them.
    pub feature_gates: String,
}

/// Logs of kube-scheduler found in a dump, with their names and places.
#[derive(Clone, Debug, Default)]
pub struct DumpLogs(pub(in crate::source) Vec<(String, Place)>);

impl DumpLogs {
    /// Adds a log. A directory or file in its name that begins with `kube-scheduler-` is its writer.
    pub fn add(&mut self, name: String, text: Vec<u8>) {
        let base = Content::Memory(Arc::new(Cow::Owned(text)));
        self.0.push((name, Place { base, members: Vec::new() }));
    }
}

impl Loaded {
    /// Returns the objects as a cluster.
    pub fn cluster(&self) -> Cluster {
        let mut cluster: Cluster = self.objects.iter().cloned().collect();
        cluster.unknown = self.report.missing();
        cluster
    }
}

/// A count of alike remarks, with the first of them.
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

/// A file that is about to be read.
#[derive(Clone, Debug)]
pub(super) struct FileToRead {
    /// The name that diagnostics use.
    pub(super) name: String,
    /// The path below the input.
    pub(super) path: String,
    /// It was found in a directory or archive, not named by the user.
    pub(super) found: bool,
    /// The index of its input.
    pub(super) input: usize,
    pub(super) place: Place,
}

#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) objects: Vec<Object>,
    /// The objects by key, with their origins.
    pub(super) index: ObjectIndex,
    pub(super) events: Vec<ObservedEvent>,
    /// Indexes of the events, by their identity.
    pub(super) event_places: HashMap<String, usize>,
    /// The objects and events that scheduling does not read.
    pub(super) neighbors: Neighbors,
    /// The kinds that scheduling does not read that the source says it lacks, wholly or in part; `None` for events.
    pub(super) withheld_neighbors: Vec<(Option<NeighborKind>, MissingReason)>,
    /// Indexes of the events that scheduling does not read, by their identity.
    pub(super) other_event_places: HashMap<String, usize>,
    pub(super) report: Report,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) losses: losses::Losses,
    /// Files with an object whose kind is unknown.
    pub(super) kindless: Tally,
    /// Hidden files and directories.
    pub(super) hidden: Tally,
    /// Files in directories that hold no objects.
    pub(super) passed_over: Tally,
    /// The same, by extension.
    pub(super) passed_over_by_ending: BTreeMap<String, usize>,
    pub(super) layouts: Detector,
    /// Files whose names promise objects and that have no content that could be read.
    pub(super) hollow: Tally,
    /// Segments of journals among other files.
    pub(super) segments: Tally,
    /// Links in archives, which are not followed.
    pub(super) links: Tally,
    /// Files beyond the limit on their number.
    pub(super) too_many: Tally,
    /// Compressed files that were not opened because the limit on decompressed bytes was used up.
    pub(super) unaffordable: Tally,
    /// Statements of the source about kinds that may lack objects.
    pub(super) in_part: Tally,
    /// Errors of collection that the dump records.
    pub(super) not_collected: Tally,
    /// Indexes of the objects that a record deleted.
    pub(super) deleted: HashSet<usize>,
    pub(super) repeated: Tally,
    pub(super) recreated: Tally,
    /// Logs of kube-scheduler.
    pub(super) logs: Vec<(String, Place)>,
}

impl Assembly {
    pub(super) fn error(&mut self, file: &str, message: String) {
        self.remark(Severity::Error, file, message);
    }

    pub(super) fn warn(&mut self, file: &str, message: String) {
        self.remark(Severity::Warning, file, message);
    }

    /// Returns the number of files read so far.
    pub(super) fn looked_at(&self) -> usize {
        self.report.files.len()
    }

    /// Counts a file without objects that the user did not name.
    pub(super) fn pass_over(&mut self, file: &FileToRead) {
        self.passed_over.add(|| file.name.clone());
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map_or("without an ending", |(_, ending)| ending);
        *self.passed_over_by_ending.entry(ending.chars().take(20).collect()).or_default() += 1;
    }

    /// Records the time in a file's name, if it has one.
    pub(super) fn note_name(&mut self, name: &str) {
        if self.report.taken_by_name.is_none() {
            self.report.taken_by_name = dump_metadata::time_in_name(name);
        }
    }

    /// Records the fact in a file without objects.
    pub(super) fn add_fact(&mut self, file: &FileToRead, fact: Fact, text: &str) {
        match fact {
            Fact::ServerVersion => {
                if let Some(version) = dump_metadata::server_version(text) {
                    self.add_version(version, VersionPlace::File(file.name.clone()));
                }
                self.report.taken = self.report.taken.max(dump_metadata::last_time(text));
            }
            Fact::Time => self.report.taken = self.report.taken.max(dump_metadata::last_time(text)),
            Fact::Errors(kind) => {
                let Some(error) = dump_metadata::collection_error(text) else { return };
                let kind = kind.map(|of| AnyKind::of(of.kind, Some(of.group())));
                if let Some(kind) = kind.and_then(|kind| kind.model) {
                    self.report.failed.insert(kind);
                }
                if let Some(kind) = kind.and_then(|kind| kind.neighbor) {
                    self.withheld_neighbors.push((Some(kind), MissingReason::Failed));
                }
                self.not_collected.add(|| format!("{}: {error}", file.name));
            }
        }
    }

    /// Records a version. The most reliable source wins, and of equal ones the first.
    pub(super) fn add_version(&mut self, version: String, found_in: VersionPlace) {
        let rank = |teller: &VersionPlace| std::mem::discriminant(teller) == std::mem::discriminant(&found_in) || *teller < found_in;
        if self.report.server_version.as_ref().is_none_or(|known| !rank(&known.found_in)) {
            self.report.server_version = Some(ServerVersion { version, found_in });
        }
    }

    pub(super) fn remark(&mut self, severity: Severity, file: &str, message: String) {
        self.diagnostics.push(Diagnostic { severity, file: file.to_owned(), line: None, object: None, message });
    }

    /// Reports files and folders that cannot be listed, and links that are not followed.
    pub(super) fn add_failed(&mut self, found: &Found) {
        if let Some(Failed { path: file, error, .. }) = found.failed.first() {
            let more = and_more(found.failed.len());
            self.remark(Severity::Error, file, format!("cannot be read: {error}{more}"));
        }
        for Failed { path, found, is_directory, .. } in &found.failed {
            if *is_directory { self.lose_directory(path, *found) } else { self.lose_unread(path, *found) }
        }
        for hidden in &found.hidden {
            self.hidden.add(|| hidden.clone());
            self.lose_hidden(hidden);
        }
        for path in &found.in_hidden {
            self.lose_hidden(path);
        }
        if let Some(LedOut { path: link, .. }) = found.led_out.first() {
            let more = and_more(found.led_out.len());
            self.remark(Severity::Warning, link, format!("leads out of the directory that was given, and is not followed{more}"));
        }
        if let Some(special) = found.special.first() {
            let more = and_more(found.special.len());
            self.remark(Severity::Warning, special, format!("is no regular file, and is not read{more}"));
        }
        for LedOut { path, is_directory } in &found.led_out {
            if *is_directory { self.lose_directory(path, true) } else { self.lose_unread(path, true) }
        }
        for path in &found.special {
            self.lose_path(path, true);
        }
    }

    /// Reports a file that cannot be opened.
    pub(super) fn add_unopened(&mut self, file: &FileToRead, error: &io::Error) {
        self.lose_unread(&file.path, file.found);
        self.remark(Severity::Error, &file.name, format!("cannot be read: {error}"));
    }

    /// Takes the last steps, over all objects.
    pub(super) fn finish(mut self) -> Loaded {
        self.settle_origins();
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
        dedup::dedup_all(&mut self.objects);
        // A list of a part comes with its refusal.
        for (kind, why) in std::mem::take(&mut self.withheld_neighbors) {
            match kind {
                Some(kind) => self.neighbors.withhold(kind, why),
                None => self.neighbors.events_withheld = Some(why),
            }
        }
        self.settle_lists_of_namespaces();
        self.losses.mark(&mut self.neighbors);
        let (certain, possible) = self.losses.kinds();
        certain.iter().for_each(|kind| self.report.failed.insert(kind));
        (self.report.incomplete, self.report.left_out) = (possible, self.losses.files);
        self.losses.whole().iter().for_each(|kind| self.report.whole.insert(kind));
        self.note_pods_on_unknown_nodes();
        self.count_namespaces();
        self.note_tallies();
        self.note_what_layouts_lack();
        let counts = &self.report.kinds;
        // An empty list proves that there are none.
        // Whether a scheduler reads them depends on its gates; see `Report::missing_for`.
        let absent = Kind::iter().filter(|kind| !kind.is_gated());
        let absent = absent.filter(|kind| counts.get(kind).is_none_or(|count| count.read == 0 && count.skipped() > 0));
        self.report.absent = absent.map(|kind| Absence { kind, effect: effect_of_absence(kind) }).collect();
        Loaded {
            objects: self.objects,
            events: self.events,
            neighbors: Arc::new(self.neighbors),
            report: self.report,
            diagnostics: self.diagnostics,
            scheduler_log: None,
            configuration: None,
            logs: DumpLogs(self.logs),
        }
    }

    /// Counts the namespaces with pods, and all that are known by any object.
    fn count_namespaces(&mut self) {
        let mut known: HashSet<&Str> = HashSet::new();
        let mut with_pods: HashSet<&Str> = HashSet::new();
        // The objects of a namespace mostly share the text of its name.
        let mut seen: HashSet<(*const u8, bool)> = HashSet::new();
        for object in &self.objects {
            let (namespace, is_pod) = match object {
                Object::Namespace(namespace) => (&namespace.metadata.name, false),
                other if other.kind().namespaced() => (&other.meta().namespace, other.kind() == Kind::Pod),
                _ => continue,
            };
            if seen.insert((namespace.as_ptr(), is_pod)) {
                known.insert(namespace);
                if is_pod {
                    with_pods.insert(namespace);
                }
            }
        }
        self.report.namespaces = known.len();
        self.report.namespaces_with_pods = with_pods.len();
    }

    /// Removes the objects that a record deleted, and settles the origins of the others.
    fn settle_origins(&mut self) {
        let deleted = std::mem::take(&mut self.deleted);
        self.report.origins = std::mem::take(&mut self.index).finish(&self.objects, |place| deleted.contains(&place));
        if deleted.is_empty() {
            return;
        }
        let mut place = 0;
        self.objects.retain(|_| {
            place += 1;
            !deleted.contains(&(place - 1))
        });
    }

    /// Returns the version of the newest kubelet, which the API server has at least.
    fn kubelet_version(&self) -> Option<ServerVersion> {
        let versions = self
            .objects
            .iter()
            .filter_map(|o| if let Object::Node(node) = o { Some(&node.status.node_info.as_ref()?.kubelet_version) } else { None });
        let numbers = |version: &str| -> Vec<u32> {
            version.trim_start_matches('v').split(['.', '-', '+']).map_while(|part| part.parse().ok()).take(3).collect()
        };
        let newest = versions.filter(|v| !v.is_empty()).max_by_key(|v| numbers(v))?;
        Some(ServerVersion { version: newest.to_string(), found_in: VersionPlace::Kubelets })
    }
}

/// Returns a label such as `Pod shop/web`.
pub(super) fn label(object: &Object) -> String {
    format!("{} {}", object.kind(), object.key())
}
