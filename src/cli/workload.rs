//! `schedscope explain` of a workload: its funnel, the causes of its missing pods, and the words of others.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::args::ExplainArgs;
use super::explain::{Explained, Write, events};
use super::{EXIT_NO_FIT, EXIT_OK, EXIT_SOURCE, Failure, original};
use crate::analysis::{self, Agreements, Cause, Missing, Voices, WorkloadReport, missing_clause};
use crate::cluster::neighbors::{About, NeighborKind};
use crate::cluster::{Key, Kind, MissingReason};
use crate::fixes::{Acts, Background};
use crate::output::Document;
use crate::report::{Answer, voices_lines};
use crate::scheduler::Scheduler;
use crate::source::Loaded;
use crate::workload::{
    OtherWords, SubjectError, WorkloadInput, kind_named, short_workloads, subject, subject_named, voices_about, voices_of_workload,
};

/// Returns the workload that an argument names as `KIND/NAME` or `KIND/NAMESPACE/NAME`; `None` for other arguments, such as a pod or `NAMESPACE/NAME`.
///
/// # Errors
/// Fails if the kind is a workload's and there is none of that name.
pub(super) fn named(argument: &str, args: &ExplainArgs, scheduler: &Scheduler, loaded: &Loaded) -> Result<Option<About>, Failure> {
    let cluster = scheduler.state().cluster();
    let Some((kind, name)) = argument.split_once('/') else {
        let key = Key::new(args.namespace(), argument);
        if cluster.pods.get(&key).is_some() {
            return Ok(None);
        }
        return match subject_named(cluster, &loaded.neighbors, &key) {
            Ok(workload) => Ok(Some(workload)),
            Err(SubjectError::Several(found)) => {
                let names = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                Err(Failure::usage(format!("several workloads have the name {key}: {names}")).with_hint("name the kind too"))
            }
            // The pod is then said to be absent.
            Err(SubjectError::Absent(_)) => Ok(None),
        };
    };
    // A name with a namespace names it, as of a pod.
    let known = kind_named(kind);
    let key = match name.split_once('/').filter(|_| known.is_some()) {
        Some((namespace, name)) if args.namespace.as_ref().is_none_or(|given| given == namespace) => Key::new(namespace, name),
        Some((namespace, _)) => {
            return Err(Failure::usage(format!("{argument} is in namespace {namespace}, but -n names another")));
        }
        None => Key::new(args.namespace(), name),
    };
    match (subject(cluster, &loaded.neighbors, kind, &key), known) {
        (Ok(workload), _) => Ok(Some(workload)),
        (Err(_), None) => Ok(None),
        (Err(why), Some(kind)) => Err(absent(scheduler, loaded, kind, &key, &why)),
    }
}

fn absent(scheduler: &Scheduler, loaded: &Loaded, kind: &str, key: &Key, why: &SubjectError) -> Failure {
    let near = if let SubjectError::Absent(near) = why { near.as_deref() } else { None };
    let message = format!("there is no {kind} {key} in the source, and no pod names it as its owner");
    let own = kind.parse::<NeighborKind>().ok().and_then(|kind| Some((kind, loaded.neighbors.why(kind)?)));
    let own = own.map(|(kind, why)| missing_clause(&kind.plural(), why));
    let pods = || {
        let missing = Missing::all(scheduler.state().cluster().unknown);
        missing.iter().find(|missing| missing.kind == Kind::Pod).map(Missing::clause)
    };
    match own.or_else(pods) {
        Some(unknown) => Failure::source(message).with_nearest(near).with_hint(unknown),
        None => Failure::usage(message).with_nearest(near),
    }
}

/// Explains a workload.
///
/// # Errors
/// Fails if the answer cannot be written.
pub(super) fn explain(
    workload: &About,
    scheduler: &Scheduler,
    loaded: &Loaded,
    write: Write<'_>,
    more: Document,
) -> Result<Explained, Failure> {
    let report = report_of(workload, scheduler, loaded);
    let code = match report.is_short() {
        _ if !report.is_counted() => EXIT_SOURCE,
        Some(true) => EXIT_NO_FIT,
        Some(false) => EXIT_OK,
        None => EXIT_SOURCE,
    };
    let text = write(&Answer::Workload(&report), more)?;
    Ok(Explained { text, code: super::code(code, scheduler), disagrees: false })
}

/// Returns the causes of pods that do not exist, in some namespaces.
pub(super) fn short(scheduler: &Scheduler, loaded: &Loaded, is_wanted: impl Fn(&str) -> bool) -> Vec<Cause> {
    if loaded.neighbors.is_empty() {
        return Vec::new();
    }
    let input = WorkloadInput::new(scheduler.state().cluster(), &loaded.neighbors);
    analysis::short_causes(&short_workloads(&input, is_wanted), Some(scheduler.state().clock()))
}

fn report_of(workload: &About, scheduler: &Scheduler, loaded: &Loaded) -> WorkloadReport {
    let input = WorkloadInput::new(scheduler.state().cluster(), &loaded.neighbors);
    let found = input.findings(workload);
    let unscheduled: BTreeSet<&Key> = found.unscheduled.iter().collect();
    let wanted = |pod: &Key| unscheduled.contains(pod);
    let mut decided = Agreements::within_bound(scheduler, events(scheduler, loaded), wanted);
    let originals = |kind: Kind, key: &Key| original(loaded, kind, key);
    let background = Background { neighbors: &loaded.neighbors, originals: &originals, acts: &Acts::default() };
    decided.causes = analysis::causes(&decided, scheduler, background);
    let is_ours = |name: &str| scheduler.state().config().profile(name).is_some();
    let others = voices_of_workload(&input, workload, &found.unscheduled, is_ours);
    let pods: Vec<_> = decided.pods.iter().collect();
    WorkloadReport::new(&found, (&pods, &decided.causes), &others, scheduler, Some(scheduler.state().clock()))
}

/// Returns the words of others as a section, and why some may be missing; empty without any.
pub(super) fn others_section(voices: &Voices, unknown: Option<MissingReason>, now: Timestamp) -> Document {
    let unknown = unknown.map(|why| {
        let why = if why == MissingReason::Refused { "cannot be read (no permission)" } else { "could not all be read" };
        format!("Events about its owners, claims and group {why}.")
    });
    super::section("Others", voices.together.iter().cloned().chain(voices_lines(&voices.others, voices.left_out, Some(now))).chain(unknown))
}

/// Returns the words of others about a pod that is gone.
pub(super) fn voices_of_gone(pod: &Key, scheduler: &Scheduler, loaded: &Loaded) -> OtherWords {
    let input = WorkloadInput::of_events(scheduler.state().cluster(), &loaded.neighbors);
    voices_about(&input, &[About::new("Pod", pod.clone())], None)
}
