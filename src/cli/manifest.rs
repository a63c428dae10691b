//! `schedscope explain -f`: what would become of a manifest that is not in the cluster yet.

use std::collections::BTreeSet;

use serde_json::Value;

use super::args::ExplainArgs;
use super::{EXIT_NO_FIT, EXIT_OK, EXIT_SOURCE, Failure, StandardError, original, write_answer};
use crate::admission::{Admission, Policies};
use crate::cluster::neighbors::NeighborKind;
use crate::limits::live::NEIGHBORS_ASKED;
use crate::output::{Document, Lines};
use crate::report::{Answer, ManifestReport};
use crate::scheduler::Evictions;
use crate::source::live::NeighborsQuestion;
use crate::source::{ManifestObject, read_manifests};
use crate::whatif::{LiveObjects, ManifestProblem, ManifestRequest, Rehearsal, Stage as _, apply_manifest};

/// Applies manifests to a cluster without changing it. Returns `EXIT_SOURCE` if pods are not decided, and
/// `EXIT_NO_FIT` if a pod would not get a node.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let is_stdin = |paths: &[std::path::PathBuf]| paths.iter().any(|path| path.as_os_str() == "-");
    if is_stdin(&args.manifests) && is_stdin(&args.cluster.source.from) {
        return Err(Failure::usage("-f and --from cannot both read standard input"));
    }
    // A wrong manifest is found before the long part.
    let objects =
        read_manifests(&args.manifests).map_err(|errors| Failure::usage(errors.iter().map(ToString::to_string).collect::<Lines>()))?;
    let mut loaded = super::one_state(&args.cluster, &args.scheduler, args.merge)?;
    super::live::add_neighbors(&mut loaded, |_| Some(question(args, &objects)));
    let policies = Policies::of(&loaded.neighbors);
    let (scheduler_args, limits) = (args.cluster.scheduler(&args.scheduler), args.cluster.limits.limits());
    let scheduler = super::begin(&scheduler_args, &mut loaded, &limits, Evictions::AtOnce, &StandardError)?;
    let cluster = scheduler.state().cluster();
    let is_made =
        |name: &&str| objects.iter().any(|object| object.value["kind"] == "Namespace" && object.value["metadata"]["name"] == **name);
    // A manifest may be the first object of a namespace that the source does not list.
    let named = args.namespace.as_deref().filter(|name| !cluster.namespaces.is_empty() && !is_made(name));
    if let Some(failure) = super::explain::unknown_namespace(&[cluster], &[&loaded.neighbors], named) {
        return Err(failure);
    }
    let admission = Admission::new(policies, scheduler.state().config().emulation);
    let request = ManifestRequest {
        namespace: args.namespace().into(),
        replicas: args.replicas.map(u64::from),
        capacity: args.capacity,
        odds: args.odds,
        ..ManifestRequest::default()
    };
    let mut without = Rehearsal::new(scheduler.clone());
    let mut stage = Rehearsal::new(scheduler);
    let values: Vec<&Value> = objects.iter().map(|object| &object.value).collect();
    let live = LiveObjects { neighbors: &loaded.neighbors, originals: &|kind, key| original(&loaded, kind, key) };
    let answer = apply_manifest(&mut stage, &values, admission, &request, live);
    let answer = answer.map_err(|problem| Failure::usage(placed(&problem, &objects)))?;
    while without.settle_step() {}
    let report = ManifestReport::new(answer, stage.scheduler()).compared(&without, stage.scheduler());
    let mut more = super::unread(stage.scheduler());
    more.append(if args.output.wide { super::completeness(&loaded) } else { Document::default() });
    write_answer(&args.output.write(&Answer::Manifest(&report), more)?, &args.file)?;
    let code = match () {
        () if report.is_complete() => EXIT_OK,
        () if report.is_cut_short() => EXIT_SOURCE,
        () => EXIT_NO_FIT,
    };
    let code = super::code(code, stage.scheduler());
    // Skip the destructors: the process exits here, and freeing a large cluster takes time.
    std::mem::forget((without, stage, loaded));
    Ok(code)
}

/// Returns what an API server's admission and the controllers read of a live cluster for these objects.
fn question(args: &ExplainArgs, objects: &[ManifestObject]) -> NeighborsQuestion {
    let namespace =
        |object: &ManifestObject| object.value["metadata"]["namespace"].as_str().map_or_else(|| args.namespace(), str::to_owned);
    let namespaces: BTreeSet<String> = objects.iter().map(namespace).collect();
    let namespace = if namespaces.len() == 1 { namespaces.into_iter().next() } else { None };
    let policies = [NeighborKind::LimitRange, NeighborKind::ResourceQuota, NeighborKind::RuntimeClass, NeighborKind::ServiceAccount];
    // The workloads that the manifest changes, and what else changes them.
    let named =
        objects.iter().filter_map(|object| object.value["kind"].as_str()?.parse::<NeighborKind>().ok()).filter(|kind| kind.is_owner());
    let mut kinds: BTreeSet<NeighborKind> = policies.into_iter().chain(named).collect();
    if kinds.contains(&NeighborKind::CronJob) {
        kinds.insert(NeighborKind::Job);
    }
    if objects.iter().any(|object| object.value["spec"].get("replicas").is_some()) {
        kinds.insert(NeighborKind::HorizontalPodAutoscaler);
    }
    NeighborsQuestion { namespace, kinds, events: false, within: NEIGHBORS_ASKED }
}

/// Returns a problem with the place of its object.
fn placed(problem: &ManifestProblem, objects: &[ManifestObject]) -> String {
    let place = problem.object().and_then(|at| objects.get(at)).map(|object| &object.place);
    place.map_or_else(|| problem.to_string(), |place| format!("{place}: {problem}"))
}
