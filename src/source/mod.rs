//! Loads dumps into the cluster model, with a report of what was read and what is unknown.
//!
//! [`load()`] takes files, directories, archives, standard input and embedded text: `kubectl get -o json|yaml` lists,
//! typed lists whose items have no kind (as written by `kubectl cluster-info dump`), single objects, several YAML
//! documents, JSON objects one after another, records of changes, and all of these compressed or in archives. It never
//! fails as a whole: each error becomes a [`Diagnostic`] with file and line, and everything else is loaded.
//!
//! The modules, by stage. Each imports only from modules above it in this list; `tests/engine/layers.rs` checks that.
//!
//! | module | does |
//! | --- | --- |
//! | `read` | finds, opens and decompresses inputs, and cuts their text into one span per object, in a window of a few megabytes |
//! | `layout` | detects by paths which tool made a dump, and which files to read: one file per kind of dump |
//! | `decode` | turns the spans of a window into typed objects, in parallel and each on its own, and shares equal parts of pods |
//! | `assemble` | walks the documents, keeps the newest copy of each object, and reports what is present and what is missing |
//! | [`live`] | lists and watches a cluster through its API server, into the same objects and report, and queues changes |
//! | [`capture`] | writes a cluster as a dump |
//! | [`journal`] | records the changes of a live cluster, and reads the state at any moment of the record |
//! | [`history`] | reads the state at any revision that etcd's database holds |
//! | `logs` | reads kube-scheduler's logs from the same inputs |
//! | `manifest` | reads manifests, the files that `kubectl apply -f` takes |
//!
//! Objects of a dump are loaded as they are, except for defaults in objects without a uid, which no API server has seen; see
//! `decode::admission` and [`crate::admission`].

mod assemble;
#[cfg(feature = "dumps")]
pub mod capture;
mod decode;
mod demos;
#[cfg(feature = "live")]
pub mod history;
#[cfg(feature = "live")]
pub mod journal;
mod layout;
#[cfg(feature = "live")]
pub mod live;
mod logs;
mod manifest;
mod read;

pub use assemble::diagnostic::{Diagnostic, Severity};
pub use assemble::report::{Absence, FileReport, KindCount, Origin, ReadAgain, Report, effect_of_absence, effect_of_part};
pub use assemble::{DumpLogs, Loaded, SavedConfiguration};
pub use decode::dump_metadata::{SchedulerHint, ServerVersion, VersionPlace};
pub use decode::raw_object::{as_json, as_yaml};
pub use demos::{STORIES, Story};
pub use layout::{Layout, Layouts};
pub use logs::{LogTail, LogTimes, read_logs_of_dump, read_scheduler_logs};
pub use manifest::{ManifestError, ManifestObject, ManifestPlace, read_manifests};
pub use read::input::{Input, OpenText};
pub use read::limits::Limits;
pub use read::progress::Progress;
pub use read::sniff::looks_like_dump;

use std::sync::Arc;

use assemble::Assembly;
use assemble::walk::Walk;
use decode::dedup;
use read::input::Found;

use crate::cluster::Str;

/// Loads all `inputs` within the default [`Limits`]. If no object could be read, [`Loaded::objects`] is empty and the
/// diagnostics say why.
pub fn load(inputs: &[Input]) -> Loaded {
    load_within(inputs, &Limits::default())
}

/// Loads within the given limits. A file that exceeds them ends there, with a diagnostic.
pub fn load_within(inputs: &[Input], limits: &Limits) -> Loaded {
    load_watched(inputs, limits, &Arc::default())
}

/// Loads within limits, while another thread can watch the progress and cancel.
pub fn load_watched(inputs: &[Input], limits: &Limits, progress: &Arc<Progress>) -> Loaded {
    let found = Found::new(inputs);
    let mut assembly = Assembly::default();
    assembly.add_failed(&found);
    let mut walk = Walk::new(&mut assembly, limits, progress);
    for document in found.documents {
        walk.document(document);
    }
    let spread = walk.spread;
    // Its patterns are needed no longer.
    drop(walk);
    let mut loaded = assembly.finish();
    loaded.report.complete = inputs.iter().all(|input| matches!(input, Input::Bytes { .. }));
    // The decoding threads need their tables no longer.
    let forget = || {
        dedup::forget();
        Str::forget_interned();
    };
    forget();
    if spread {
        rayon::broadcast(|_| forget());
    }
    loaded
}
