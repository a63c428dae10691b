//! Dumps into the cluster model, with a report of what was read and what stays unknown.
//!
//! [`load()`] takes files, directories, archives, standard input and embedded text: `kubectl get -o json|yaml` lists,
//! typed lists whose items carry no kind (as `kubectl cluster-info dump` writes them), single objects, several YAML
//! documents, JSON objects one after another, records of changes, and all of these compressed or in archives. It never
//! fails as a whole: what cannot be read is told in a [`Diagnostic`] with file and line, and everything else is loaded.
//!
//! How it works, file by file: `input` finds the files; `visit` opens them, and the `archive`s among them, and looks
//! which are worth reading, with what `layout` knows of the tools that make dumps; `split` cuts the text into one piece
//! per object while it passes through a window of a megabyte or a few; `decode` turns the pieces of a window into typed
//! objects, in parallel and each on its own (`wrapped` those that are no plain objects); `share` lets equal parts of pods
//! be one; `entries` takes the newest of objects that were read several times, and keeps in `origins` where they came
//! from. Then, over all files, `admission` fills in what an API server would have, and `assemble` and `report` say what
//! is there and what is not.
//!
//! [`live`] reads a cluster through its API server instead, into the same objects with the same report, and goes on to tell
//! what changes; [`capture`] writes a cluster as a dump.
//!
//! Objects of a dump are taken as they stand. Only what an object without a uid, and so one that no API server has
//! seen, lacks for certain is filled in; see `admission`.

mod admission;
mod archive;
mod assemble;
pub mod capture;
mod decode;
mod diagnostic;
mod entries;
mod events;
mod facts;
mod input;
mod known;
mod layout;
mod lenient;
mod limits;
pub mod live;
mod load;
mod old_versions;
mod original;
mod origins;
mod progress;
mod recognize;
mod records;
mod remarks;
mod report;
mod share;
mod split;
mod stories;
mod times;
mod visit;
mod wrapped;

pub use diagnostic::{Diagnostic, Severity};
pub use facts::{SchedulerHint, ServerVersion};
pub use input::Input;
pub use layout::{Layout, Layouts};
pub use limits::Limits;
pub use original::as_yaml;
pub use progress::Progress;
pub use recognize::looks_like_dump;
pub use report::{Absence, FileReport, KindCount, Origin, Report};
pub use stories::{STORIES, Story};

use std::sync::Arc;

use crate::cluster::{Cluster, Object, ObservedEvent, Unknown};

/// What [`load()`] brings.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The objects in the order in which they were read, each one once.
    pub objects: Vec<Object>,
    /// What schedulers said about pods, in the order in which it was read, each event once.
    pub events: Vec<ObservedEvent>,
    /// What was read, skipped and missing.
    pub report: Report,
    /// Remarks, in the order of the input; those about the whole come last.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// The objects as a cluster.
    pub fn cluster(&self) -> Cluster {
        let mut cluster: Cluster = self.objects.iter().cloned().collect();
        cluster.unknown = Unknown { budgets: self.report.budgets_unknown() };
        cluster
    }
}

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
    let found = input::Found::new(inputs);
    let mut assembly = assemble::Assembly::default();
    assembly.add_failed(&found);
    let mut visitor = visit::Visitor::new(&mut assembly, limits, progress);
    for document in found.documents {
        visitor.document(document);
    }
    let spread = visitor.spread;
    let mut loaded = assembly.finish();
    loaded.report.complete = inputs.iter().all(|input| matches!(input, Input::Bytes { .. }));
    // The tables of the decoding threads have done their work.
    let forget = || {
        share::forget();
        crate::cluster::Str::forget_interned();
    };
    forget();
    if spread {
        rayon::broadcast(|_| forget());
    }
    loaded
}
