//! Detects by paths which tool made a dump: one file per kind of dump, and one walk for all.
//!
//! Most of a dump needs no knowledge of its tool, since objects have their kinds. A profile adds what only paths show:
//! facts in files without objects, which copy of an object counts, the kind of the items of a bare list, and which files
//! to skip unread. Each file is classified by its own path, so that archives can be read as streams. The profile that
//! most files match is the dump's layout.

mod cluster_api;
mod cluster_info;
mod crashd;
mod insights;
mod kinds;
mod kubectl;
mod kwok;
mod must_gather;
mod simulator;
mod sonobuoy;
mod support_bundle;
mod support_bundle_kit;
mod velero;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub(super) use kinds::{KindOf, general_hint, of_resource};

/// A kind of dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
pub enum Layout {
    /// `kubectl get -o json|yaml`, or a watch with `--output-watch-events`.
    #[strum(to_string = "kubectl get")]
    Kubectl,
    /// `kubectl cluster-info dump`, as a directory or as one text.
    #[strum(to_string = "kubectl cluster-info dump")]
    ClusterInfo,
    /// `oc adm must-gather` or `oc adm inspect`.
    #[strum(to_string = "OpenShift must-gather")]
    MustGather,
    /// The archive that OpenShift's Insights operator gathers.
    #[strum(to_string = "OpenShift Insights archive")]
    Insights,
    /// Replicated's troubleshoot support bundle.
    #[strum(to_string = "Replicated support bundle")]
    SupportBundle,
    /// A Sonobuoy snapshot.
    #[strum(to_string = "Sonobuoy snapshot")]
    Sonobuoy,
    /// A Velero backup.
    #[strum(to_string = "Velero backup")]
    Velero,
    /// An export of kube-scheduler-simulator.
    #[strum(to_string = "kube-scheduler-simulator export")]
    SimulatorExport,
    /// A record of kube-scheduler-simulator.
    #[strum(to_string = "kube-scheduler-simulator record")]
    SimulatorRecord,
    /// `kwokctl snapshot export`.
    #[strum(to_string = "kwokctl snapshot")]
    Kwok,
    /// The support bundle of Rancher, Harvester or Longhorn.
    #[strum(to_string = "Rancher support bundle")]
    SupportBundleKit,
    /// Crash Diagnostics.
    #[strum(to_string = "Crash Diagnostics dump")]
    Crashd,
    /// The artifacts of Cluster API's end-to-end tests.
    #[strum(to_string = "Cluster API artifacts")]
    ClusterApi,
    /// A snapshot of etcd, or the database of a member.
    #[strum(to_string = "etcd snapshot")]
    Etcd,
    /// Files of objects.
    #[strum(to_string = "manifests")]
    Manifests,
}

/// The layouts of a source, one per input, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layouts(pub Vec<Layout>);

impl fmt::Display for Layouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    }
}

/// A hint from a file's path about its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hint {
    /// The kind of objects that have none.
    pub(super) kind: Option<KindOf>,
    /// The tool writes only this kind there. The hint then applies to objects outside a list and without a name too.
    pub(super) certain: bool,
    /// The namespace of objects that have none.
    pub(super) namespace: Option<String>,
    /// Of several copies of an object, the one of the highest rank counts, whatever its version.
    pub(super) rank: u8,
}

/// The fact that a file without objects holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// The API server's version: `version.Info` as JSON, or anything with a `gitVersion` or `kubernetesVersion`.
    ServerVersion,
    /// When the dump was taken: the last time in the file.
    Time,
    /// Errors of collecting a kind; empty or `null` if there were none.
    Errors(Option<KindOf>),
}

/// How to treat a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    Objects(Hint),
    Fact(Fact),
    /// Logs and the like, which are skipped unread and unreported.
    Skip,
}

/// The result of matching a path with a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) layout: Layout,
    /// How specific the path is to the layout; 10 if no other tool has such a path.
    pub(super) weight: u32,
    pub(super) task: Task,
}

/// A file's path below its input, split into parts.
#[derive(Clone, Copy)]
struct Parts<'a> {
    all: &'a [&'a str],
    /// The file's name without its extension, and the extension. An extension of a compression is ignored.
    stem: &'a str,
    ending: &'a str,
}

impl<'a> Parts<'a> {
    /// Returns the directories and the file below the first directory of a name.
    fn below(&self, directory: &str) -> Option<&'a [&'a str]> {
        let above = &self.all[..self.all.len().saturating_sub(1)];
        above.iter().position(|part| *part == directory).map(|at| &self.all[at + 1..])
    }

    fn file(&self) -> &'a str {
        self.all.last().copied().unwrap_or_default()
    }

    fn is_json(&self) -> bool {
        self.ending == "json"
    }

    fn is_yaml(&self) -> bool {
        matches!(self.ending, "yaml" | "yml")
    }
}

type Profile = fn(&Parts<'_>) -> Option<Role>;

/// The order matters, since some paths match several profiles.
const PROFILES: [Profile; 9] = [
    velero::role,
    sonobuoy::role,
    support_bundle::role,
    support_bundle_kit::role,
    insights::role,
    must_gather::role,
    cluster_info::role,
    crashd::role,
    cluster_api::role,
];

/// Returns the role of a file by its path.
pub(super) fn role(path: &str) -> Option<Role> {
    let all: Vec<&str> = path.split('/').collect();
    let file = all.last().copied().unwrap_or_default();
    let file = ["gz", "xz", "zst", "bz2"].iter().find_map(|e| file.strip_suffix(e)?.strip_suffix('.')).unwrap_or(file);
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    let parts = Parts { all: &all, stem, ending };
    PROFILES.iter().find_map(|profile| profile(&parts))
}

#[allow(clippy::unnecessary_wraps, reason = "profiles return an Option")]
fn objects(layout: Layout, weight: u32, hint: Hint) -> Option<Role> {
    Some(Role { layout, weight, task: Task::Objects(hint) })
}

#[allow(clippy::unnecessary_wraps, reason = "profiles return an Option")]
fn fact(layout: Layout, fact: Fact) -> Option<Role> {
    Some(Role { layout, weight: 1, task: Task::Fact(fact) })
}

#[allow(clippy::unnecessary_wraps, reason = "profiles return an Option")]
fn skip(layout: Layout) -> Option<Role> {
    Some(Role { layout, weight: 0, task: Task::Skip })
}

/// Returns a hint for a file named after a resource.
fn named(resource: &str, rank: u8) -> Hint {
    Hint { kind: kinds::of_resource(resource), certain: true, namespace: None, rank }
}

/// Returns a hint for a file named after a resource, in a namespace.
fn named_in(namespace: &str, resource: &str, rank: u8) -> Hint {
    Hint { namespace: Some(namespace.to_owned()), ..named(resource, rank) }
}

/// The structure of a single file, which shows its layout if paths do not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    pub(super) form: crate::source::read::split::Form,
    pub(super) items: usize,
    pub(super) singles: usize,
    pub(super) recorded: usize,
    pub(super) watched: usize,
}

/// The weight that a layout needs; one odd path does not reach it.
const ENOUGH: u32 = 10;

/// Collects evidence for layouts over all files.
#[derive(Debug, Default)]
pub(super) struct Detector {
    /// By input.
    weights: BTreeMap<usize, BTreeMap<Layout, u32>>,
    signs: BTreeMap<usize, BTreeMap<Layout, u32>>,
    /// Namespaces for which `kubectl cluster-info dump` wrote a directory.
    pub(super) namespaces: BTreeSet<String>,
    /// Namespaces for which a support bundle has a list of pods.
    pub(super) namespaces_of_pods: BTreeSet<String>,
}

impl Detector {
    /// Adds the role of a path.
    pub(super) fn note(&mut self, input: usize, role: Option<&Role>) {
        if let Some(role) = role {
            if let (Layout::ClusterInfo, Task::Objects(Hint { namespace: Some(namespace), .. })) = (role.layout, &role.task) {
                self.namespaces.insert(namespace.clone());
            }
            if let (Layout::SupportBundle, Task::Objects(Hint { namespace: Some(namespace), kind: Some(KindOf { kind: "Pod", .. }), .. })) =
                (role.layout, &role.task)
            {
                self.namespaces_of_pods.insert(namespace.clone());
            }
            *self.weights.entry(input).or_default().entry(role.layout).or_default() += role.weight;
        }
    }

    /// Adds a database of etcd, which no other tool writes.
    pub(super) fn note_database(&mut self, input: usize) {
        *self.weights.entry(input).or_default().entry(Layout::Etcd).or_default() += ENOUGH;
    }

    /// Adds the structure of a file with objects.
    pub(super) fn note_signs(&mut self, input: usize, signs: Signs) {
        let found = [cluster_info::sign, simulator::sign, kwok::sign, kubectl::sign].iter().find_map(|sign| sign(signs));
        *self.signs.entry(input).or_default().entry(found.unwrap_or(Layout::Manifests)).or_default() += 1;
    }

    /// Returns the layout of each input that has one.
    pub(super) fn finish(&self) -> Layouts {
        let mut found = Vec::new();
        for (input, signs) in &self.signs {
            let most = |of: &BTreeMap<Layout, u32>| {
                of.iter().max_by_key(|(layout, weight)| (**weight, std::cmp::Reverse(**layout))).map(|(l, w)| (*l, *w))
            };
            let by_paths = self.weights.get(input).and_then(most).filter(|(_, weight)| *weight >= ENOUGH);
            if let Some((layout, _)) = by_paths.or_else(|| most(signs))
                && !found.contains(&layout)
            {
                found.push(layout);
            }
        }
        Layouts(found)
    }
}

#[cfg(test)]
mod tests;
