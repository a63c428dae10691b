//! `schedscope diff`: two dumps of one cluster compared, also for `explain`.

use std::path::PathBuf;

use super::args::{DiffArgs, SchedulerArgs};
use super::dumps::Dump;
use super::{EXIT_NO_FIT, EXIT_OK, EXIT_SOURCE, Failure, Silent, StandardError, section, write_answer};
use crate::analysis::{DumpDiff, DumpState};
use crate::cluster::{Cluster, Key};
use crate::output::{self, Document};
use crate::report::Answer;
use crate::scheduler::{Evictions, Scheduler};
use crate::session::is_same_cluster;
use crate::source::Loaded;

/// The dump before the newest of a series, as a scheduler, and the names and times of both.
pub(super) struct Older {
    states: [DumpState; 2],
    scheduler: Scheduler,
}

/// Compares two dumps and prints. Returns `EXIT_NO_FIT` if a decision changed.
pub(super) fn run(args: &DiffArgs) -> Result<u8, Failure> {
    let limits = args.limits.limits();
    let load = |path: &PathBuf| super::load(&[super::input(path)], &limits).map(|loaded| Dump { name: path.display().to_string(), loaded });
    if args.older.as_os_str() == "-" && args.newer.as_os_str() == "-" {
        return Err(Failure::usage("only one of the dumps can be standard input"));
    }
    let (older, mut newer) = (load(&args.older)?, load(&args.newer)?);
    newer.loaded.report.forget_origins();
    if let [Some(one), Some(other)] = [&older, &newer].map(|dump| dump.loaded.report.newest)
        && one > other
    {
        output::say(format!("warning: {} is newer than {}: the older dump comes first", older.name, newer.name));
    }
    let clusters = [&older, &newer].map(|dump| dump.loaded.cluster());
    if !is_same_cluster(&clusters[0], &clusters[1]) && !share_a_node(&clusters) {
        output::say("warning: the dumps seem to be of different clusters");
    }
    let neighbors = [&older, &newer].map(|dump| &*dump.loaded.neighbors);
    if let Some(failure) = super::explain::unknown_namespace(&[&clusters[0], &clusters[1]], &neighbors, args.namespace.as_deref()) {
        return Err(failure);
    }
    drop(clusters);
    let mut loaded = newer.loaded;
    let scheduler = super::begin(&args.scheduler, &mut loaded, &limits, Evictions::AtOnce, &StandardError)?;
    let older = Older::new(&args.scheduler, older, newer.name, &loaded)?;
    let wanted = |pod: &Key| args.namespace.as_ref().is_none_or(|namespace| pod.namespace.as_str() == namespace);
    let found = older.compared_with(&scheduler, wanted);
    let more = if args.output.wide { super::completeness(&loaded) } else { Document::default() };
    write_answer(&args.output.write(&Answer::Diff(&found), more)?, &args.file)?;
    let code = match found.some_decision_changed() {
        _ if !found.not_decided.is_empty() => EXIT_SOURCE,
        true => EXIT_NO_FIT,
        false => EXIT_OK,
    };
    let code = super::code(super::code(code, &older.scheduler), &scheduler);
    // Skip the destructors: the process exits here, and freeing a large cluster takes time.
    std::mem::forget((older, scheduler, loaded, found));
    Ok(code)
}

impl Older {
    /// Makes a scheduler of the older dump, with the configuration in the log of the newer one where that is asked for. The lines
    /// about the release are those of the newer one.
    pub(super) fn new(args: &SchedulerArgs, mut older: Dump, name: String, newer: &Loaded) -> Result<Self, Failure> {
        let times = [(older.name, older.loaded.report.newest), (name, newer.report.newest)];
        let states = times.map(|(name, at)| DumpState { name, at });
        older.loaded.scheduler_log.clone_from(&newer.scheduler_log);
        older.loaded.report.forget_origins();
        let scheduler = super::scheduler(args, &mut older.loaded, Evictions::AtOnce, &Silent)?;
        Ok(Self { states, scheduler })
    }

    /// Compares with the newer state.
    pub(super) fn compared_with(&self, newer: &Scheduler, wanted: impl Fn(&Key) -> bool) -> DumpDiff {
        DumpDiff::within_bound([&self.scheduler, newer], self.states.clone(), wanted)
    }

    /// Returns the older state.
    pub(super) fn cluster(&self) -> &Cluster {
        self.scheduler.state().cluster()
    }

    /// Returns lines about what changed since.
    pub(super) fn section(&self, lines: impl IntoIterator<Item = String>) -> Document {
        let DumpState { name, at } = &self.states[0];
        let at = at.map_or_else(String::new, |at| format!(" of {at}"));
        section("Since the dump before", [format!("compared with {name}{at}")].into_iter().chain(lines))
    }
}

/// Returns whether two states have a node of the same name.
fn share_a_node([one, other]: &[Cluster; 2]) -> bool {
    one.nodes.iter().any(|node| other.nodes.named(&node.metadata.name).is_some())
}
