//! Loads dumps into the cluster model, with a report of what was read and what stays unknown.
//!
//! [`load()`] takes files, directories, archives, standard input and embedded text: `kubectl get -o json|yaml` lists,
//! typed lists whose items carry no kind (as `kubectl cluster-info dump` writes them), single objects, several YAML
//! documents, JSON objects one after another, records of changes, and all of these compressed or in archives. It never
//! fails as a whole: what cannot be read is told in a [`Diagnostic`] with file and line, and everything else is loaded.
//!
//! The rooms, by stage; each imports only from rooms above it in this list, and a test (`tests/engine/layers.rs`) says so:
//!
//! | room | does |
//! | --- | --- |
//! | `read` | finds, opens and decompresses inputs, and cuts their text into one span per object, in a window of a few megabytes |
//! | `layout` | knows by paths which tool made a dump, and what to read of it: one file per kind of dump |
//! | `decode` | turns the spans of a window into typed objects, in parallel and each on its own; equal parts of pods become one |
//! | `assemble` | walks the documents, keeps the newest of objects that were read several times, and reports what is there and what is not |
//! | [`live`] | lists and watches a cluster through its API server, into the same objects with the same report, and tells what changes |
//! | [`capture`] | writes a cluster as a dump |
//! | `logs` | reads kube-scheduler's logs, from where dumps are read |
//!
//! Objects of a dump are taken as they stand. Only what an object without a uid, and so one that no API server has
//! seen, lacks for certain is filled in; see `decode::admission`.

mod assemble;
pub mod capture;
mod decode;
mod demos;
mod layout;
pub mod live;
mod logs;
mod read;

pub use assemble::diagnostic::{Diagnostic, Severity};
pub use assemble::report::{Absence, FileReport, KindCount, Origin, Report, effect_of_absence};
pub use assemble::{DumpLogs, Loaded};
pub use decode::dump_metadata::{SchedulerHint, ServerVersion, VersionTeller};
pub use decode::raw_object::as_yaml;
pub use demos::{STORIES, Story};
pub use layout::{Layout, Layouts};
pub use logs::{LogTimes, read_logs_of_dump, read_scheduler_logs};
pub use read::input::Input;
pub use read::limits::Limits;
pub use read::progress::Progress;
pub use read::sniff::looks_like_dump;

use std::sync::Arc;

use assemble::Assembly;
use assemble::walk::Walk;
use decode::dedup;
use read::input::Found;

use crate::cluster::Str;

/// Loads everything that `inputs` hold, within the default [`Limits`]. Where nothing could be read,
/// [`Report::is_empty`] is true and the diagnostics say why.
pub fn load(inputs: &[Input]) -> Loaded {
    load_within(inputs, &Limits::default())
}

/// As [`load()`], with limits of one's own. A file that goes beyond them ends there, with a diagnostic.
pub fn load_within(inputs: &[Input], limits: &Limits) -> Loaded {
    load_watched(inputs, limits, &Arc::default())
}

/// As [`load_within()`], while another thread watches how far it has got, and may stop it.
pub fn load_watched(inputs: &[Input], limits: &Limits, progress: &Arc<Progress>) -> Loaded {
    let found = Found::new(inputs);
    let mut assembly = Assembly::default();
    assembly.add_failed(&found);
    let mut walk = Walk::new(&mut assembly, limits, progress);
    for document in found.documents {
        walk.document(document);
    }
    let spread = walk.spread;
    let mut loaded = assembly.finish();
    loaded.report.complete = inputs.iter().all(|input| matches!(input, Input::Bytes { .. }));
    // The tables of the decoding threads have done their work.
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
