//! Keeps what may be missing: the kinds whose objects a file that could not be read, or not to its end, may have held.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use strum::IntoEnumIterator;

use super::{Assembly, FileToRead};
use crate::cluster::neighbors::{NeighborKind, Neighbors};
use crate::cluster::{Kind, KindSet, MissingReason, Object};
use crate::source::decode::any_kind::AnyKind;
use crate::source::decode::windows::Contents;
use crate::source::layout::{self, Hint};

/// Kinds of any sort.
#[derive(Debug, Default)]
struct Kinds {
    /// Kinds that scheduling reads.
    model: KindSet,
    /// Kinds that explain missing pods.
    neighbors: BTreeSet<NeighborKind>,
    events: bool,
}

impl Kinds {
    fn insert(&mut self, kind: AnyKind) {
        kind.model.into_iter().for_each(|kind| self.model.insert(kind));
        self.neighbors.extend(kind.neighbor);
        self.events |= kind.is_event;
    }
}

/// The kinds that the files which were not read to their end may have held.
#[derive(Debug, Default)]
pub(in crate::source) struct Losses {
    /// Kinds of which objects are missing.
    certain: Kinds,
    /// Kinds of which objects may be missing.
    possible: Kinds,
    /// Objects of any kind may be missing.
    any: bool,
    /// Kinds of which a list over the whole cluster was read to its end.
    whole: Kinds,
    /// The kinds of which lists of single namespaces were read to their end, with the namespaces.
    by_namespace: BTreeMap<AnyKind, BTreeSet<String>>,
    /// The number of files, members and folders that were not read, or not to their end.
    pub(super) files: usize,
}

impl Losses {
    /// Records that objects of a kind may be missing.
    pub(super) fn may_lack(&mut self, kind: Kind) {
        self.possible.model.insert(kind);
    }

    /// Returns the kinds of which a list over the whole cluster was read to its end.
    pub(super) fn whole(&self) -> KindSet {
        self.whole.model
    }

    /// Returns the kinds that lack objects, and those that may lack some.
    pub(super) fn kinds(&self) -> (KindSet, KindSet) {
        let maybe = |kind: &Kind| self.possible.model.contains(*kind) || (self.any && !self.whole.model.contains(*kind));
        let certain = self.certain.model;
        (certain, Kind::iter().filter(|kind| !certain.contains(*kind) && maybe(kind)).collect())
    }

    /// Marks the other kinds that lack objects, or may.
    pub(super) fn mark(&self, neighbors: &mut Neighbors) {
        let Self { certain, possible, whole, any, .. } = self;
        let why = |is_certain: bool, is_possible: bool, is_whole: bool| match (is_certain, is_possible || (*any && !is_whole)) {
            (true, _) => Some(MissingReason::Failed),
            (false, true) => Some(MissingReason::Incomplete),
            (false, false) => None,
        };
        for kind in NeighborKind::iter().filter(|kind| neighbors.why(*kind).is_none()).collect::<Vec<_>>() {
            let of = |kinds: &Kinds| kinds.neighbors.contains(&kind);
            if let Some(why) = why(of(certain), of(possible), of(whole)) {
                neighbors.withhold(kind, why);
            }
        }
        neighbors.events_withheld = neighbors.events_withheld.or(why(certain.events, possible.events, whole.events));
    }
}

/// Returns the kind that the path of a file names; `None` for other paths.
fn kind_of_path(path: &str) -> Option<AnyKind> {
    let of_role = layout::role(path).and_then(|role| match role.task {
        layout::Task::Objects(Hint { kind, .. }) => kind,
        _ => None,
    });
    of_role.or_else(|| layout::general_hint(path).kind).map(|kind| AnyKind::of(kind.kind, Some(kind.group())))
}

/// Returns the namespace whose objects a file holds; `None` where it is of the whole cluster, by its path.
pub(super) fn namespace_of(file: &FileToRead) -> Option<String> {
    let of_role = layout::role(&file.path).and_then(|role| match role.task {
        layout::Task::Objects(Hint { namespace, .. }) => namespace,
        _ => None,
    });
    let in_folder = || {
        let (_, below) = file.path.split_once("namespaces/").filter(|_| file.found)?;
        Some(below.split('/').next().unwrap_or_default().to_owned())
    };
    of_role.or_else(in_folder)
}

/// Whether a path has an extension of JSON or YAML, which may be compressed.
fn has_ending_of_text(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let inner = ["gz", "xz", "zst", "bz2"].iter().find_map(|ending| file.strip_suffix(ending)?.strip_suffix('.')).unwrap_or(&file);
    inner.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "json" | "yaml" | "yml" | "jsonl" | "ndjson"))
}

/// Returns whether the path of a file names a kind that scheduling reads.
pub(super) fn names_kind(path: &str) -> bool {
    kind_of_path(path).is_some_and(|kind| kind.model.is_some())
}

/// Whether a path is of a file that a tool writes and that is never read.
fn is_skipped(path: &str) -> bool {
    layout::role(path).is_some_and(|role| role.task == layout::Task::Skip)
}

/// Whether a file is a log by its name, such as `a.log`, `a.log.gz` and `a.log.1`. Logs are never searched for objects.
fn is_log(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    file.split('.').skip(1).any(|part| part.eq_ignore_ascii_case("log"))
}

/// Whether a file is a database of etcd by its name: `db`, `snapshot.db`, `etcd.snapshot`.
pub(super) fn names_database(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    file == "db" || file.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "db" | "snapshot"))
}

/// Whether a file that was found may hold objects, by its name.
fn may_hold_objects(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let inner = ["gz", "xz", "zst", "bz2"].iter().find_map(|ending| file.strip_suffix(ending)?.strip_suffix('.')).unwrap_or(&file);
    match inner.rsplit_once('.') {
        Some((_, ending)) => matches!(ending, "json" | "yaml" | "yml" | "jsonl" | "ndjson" | "tar" | "tgz" | "txz" | "tbz2" | "zip"),
        None => true,
    }
}

impl Assembly {
    /// Takes lists whose objects are all of one namespace for lists of that namespace. Where a file was lost, it may have held another.
    fn doubt_lists_of_one_namespace(&mut self) {
        let mut namespaces: BTreeMap<Kind, (&str, bool)> = BTreeMap::new();
        for object in self.objects.iter().filter(|object| object.kind().namespaced()) {
            let namespace = object.meta().namespace.as_str();
            let (first, has_others) = namespaces.entry(object.kind()).or_insert((namespace, false));
            *has_others |= *first != namespace;
        }
        let of_one = namespaces.into_iter().filter(|(_, (_, has_others))| !has_others).map(|(kind, _)| kind);
        of_one.for_each(|kind| self.losses.whole.model.remove(kind));
    }

    /// Settles the kinds of which only lists of single namespaces were read: they are known where the lists are those of all namespaces
    /// that the source shows.
    pub(super) fn settle_lists_of_namespaces(&mut self) {
        if self.losses.any {
            self.doubt_lists_of_one_namespace();
        }
        let by_namespace = std::mem::take(&mut self.losses.by_namespace);
        if by_namespace.is_empty() {
            return;
        }
        let mut namespaces: HashSet<&str> = HashSet::new();
        for object in &self.objects {
            namespaces.insert(match object {
                Object::Namespace(namespace) => namespace.metadata.name.as_str(),
                other => other.meta().namespace.as_str(),
            });
        }
        namespaces.remove("");
        for (kind, listed) in by_namespace {
            let covers = namespaces.iter().all(|namespace| listed.contains(*namespace));
            if let Some(model) = kind.model.filter(|model| !self.losses.whole.model.contains(*model)) {
                self.report.count(model);
                if !covers {
                    self.report.partial.insert(model);
                }
            }
            if let Some(kind) = kind.neighbor.filter(|kind| !self.losses.whole.neighbors.contains(kind)) {
                if covers {
                    self.neighbors.add_listed(kind);
                } else if self.neighbors.why(kind).is_none() {
                    self.neighbors.withhold(kind, MissingReason::Partial);
                }
            }
        }
    }

    /// Records that a file was not read, or not to its end.
    pub(in crate::source) fn lose(&mut self, file: &FileToRead) {
        self.lose_path(&file.path, file.found);
    }

    /// Records the same of a path. Files that were `found` and whose names promise no objects do not count.
    pub(in crate::source) fn lose_path(&mut self, path: &str, found: bool) {
        if !found || may_hold_objects(path) {
            self.lose_unread(path, found);
        }
    }

    /// Records the same of a file whose content is unknown or damaged: it counts whatever its name promises. Of those that were `found`,
    /// logs do not count, as they are never searched for objects.
    pub(in crate::source) fn lose_unread(&mut self, path: &str, found: bool) {
        if !found || !(is_log(path) || is_skipped(path)) {
            self.lose_any(path);
        }
    }

    /// Records that a folder was not listed.
    pub(in crate::source) fn lose_directory(&mut self, path: &str, found: bool) {
        // Layouts have roles for files only.
        if !found || !["x.json", "x.yaml"].iter().all(|file| is_skipped(&format!("{path}/{file}"))) {
            self.lose_any(path);
        }
    }

    fn lose_any(&mut self, path: &str) {
        self.losses.files += 1;
        match kind_of_path(path) {
            Some(kind) => self.losses.possible.insert(kind),
            None => self.losses.any = true,
        }
    }

    /// Records a path that is left out by its name, if that names a kind and an extension of dumps.
    pub(in crate::source) fn lose_hidden(&mut self, path: &str) {
        let file = path.rsplit('/').next().unwrap_or_default();
        // Archives made on a Mac have a hidden shadow of every file.
        if file.starts_with("._") || !file.contains('.') || !may_hold_objects(file) {
            return;
        }
        if let Some(kind) = kind_of_path(file.trim_start_matches('.')) {
            self.losses.files += 1;
            self.losses.possible.insert(kind);
        }
    }

    /// Records that a file is empty, or has only zeros, though its name is that of a database.
    pub(super) fn lose_blank(&mut self, file: &FileToRead) {
        self.lose_unread(&file.path, file.found);
        self.hollow.add(|| format!("{} is empty", file.name));
    }

    /// Records that a file holds no objects though its name and extension promise some.
    pub(in crate::source) fn lose_named(&mut self, path: &str) {
        if has_ending_of_text(path) || (path.rsplit('/').next().is_some_and(|file| file.contains('.')) && kind_of_path(path).is_some()) {
            self.lose_path(path, true);
        }
    }

    /// Records that a file of a folder or archive has no content that could be read, though its extension promises some.
    pub(super) fn lose_hollow(&mut self, file: &FileToRead, what: &'static str) {
        let before = self.losses.files;
        self.lose_named(&file.path);
        if self.losses.files > before {
            self.hollow.add(|| format!("{} {what}", file.name));
        }
    }

    /// Records the same of a file that holds objects of anything else: only a name of a kind promises some of a cluster.
    pub(in crate::source) fn lose_named_after_kind(&mut self, path: &str) {
        if kind_of_path(path).is_some() {
            self.lose_named(path);
        }
    }

    /// Records that a folder or an archive was not read to its end.
    pub(in crate::source) fn lose_rest(&mut self) {
        self.losses.files += 1;
        self.losses.any = true;
    }

    /// Records what a file's lists prove: those that are whole, and those that the end of the file leaves open. `kinds` are those of the
    /// objects that were read from it, and `last` that of the last one.
    pub(in crate::source) fn weigh_lists(&mut self, file: &FileToRead, contents: &Contents, last: Option<AnyKind>, kinds: KindSet) {
        let lists = &contents.lists;
        let named = kind_of_path(&file.path);
        let others = kinds.iter().any(|kind| named.is_none_or(|named| named.model != Some(kind)));
        let cut = contents.broken_off.is_some() || lists.unfinished > 0;
        let lacks = !lists.lacking.is_empty() || lists.untyped_lacks;
        match namespace_of(file) {
            None => {
                lists.listed.iter().for_each(|kind| self.losses.whole.model.insert(*kind));
                self.losses.whole.neighbors.extend(&lists.listed_neighbors);
                if let Some(kind) = named.filter(|_| !cut && !lacks && lists.closed > 0 && !others) {
                    self.losses.whole.insert(kind);
                }
            }
            Some(namespace) => {
                let of_model = lists.listed.iter().map(|kind| AnyKind::from(*kind));
                for kind in of_model.chain(lists.listed_neighbors.iter().map(|kind| AnyKind::from(*kind))) {
                    self.losses.by_namespace.entry(kind).or_default().insert(namespace.clone());
                }
            }
        }
        lists.lacking.iter().for_each(|kind| self.losses.certain.insert(*kind));
        if lists.untyped_lacks {
            self.lose(file);
        } else if lacks || cut {
            self.losses.files += 1;
        }
        if !cut {
            return;
        }
        let open = || lists.open.iter().copied();
        open().chain(last.filter(|_| open().next().is_none())).for_each(|kind| self.losses.certain.insert(kind));
        let typed = contents.broken_off.is_none() && lists.open.len() == lists.unfinished;
        match named.filter(|_| !others) {
            Some(kind) => self.losses.certain.insert(kind),
            // The rest of a typed list holds one kind; of anything else it may hold all.
            None if typed => {}
            None => self.losses.any = true,
        }
    }
}

#[cfg(test)]
mod tests;
