//! `schedscope explain`: one pod's decision, or all pending pods beside what the cluster's scheduler wrote.

use super::args::ExplainArgs;
use super::{EXIT_NO_FIT, EXIT_OK, Failure, print};
use crate::cluster::{Key, Kind, MissingReason, ObservedEvent};
use crate::report::{Agreements, Answer, MatchKind, Missing, SchedulerComparer, SchedulerMatch};
use crate::scheduler::{Evictions, Scheduler, Waiting};
use crate::source::Loaded;
use crate::trace::{CycleView, Outcome};

/// Decides and prints.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let mut loaded = super::read(&args.source, &args.connect, &args.limits.limits())?;
    loaded.report.forget_origins();
    let scheduler = super::scheduler(&args.scheduler.on(&args.source), &mut loaded, Evictions::AtOnce, &|line| eprintln!("{line}"))?;
    let code = match &args.pod {
        Some(pod) => one(args, pod, &scheduler, &loaded),
        None => all(args, &scheduler, &loaded),
    };
    // The program ends here: to give a large cluster back piece by piece would only take time.
    std::mem::forget((scheduler, loaded));
    code
}

fn one(args: &ExplainArgs, pod: &str, scheduler: &Scheduler, loaded: &Loaded) -> Result<u8, Failure> {
    let name = pod.strip_prefix("pod/").unwrap_or(pod);
    let key = Key::new(args.namespace.as_str(), name);
    let cluster = scheduler.state().cluster();
    let pod = cluster.pods.get(&key).ok_or_else(|| Failure::usage(format!("pod {key} is not in the source")))?;
    if !pod.node_name.is_empty() {
        return Err(Failure::usage(format!("pod {key} is not pending: it is bound to {}", pod.node_name)));
    }
    if pod.is_terminal() {
        return Err(Failure::usage(format!("pod {key} is not pending: its phase is {}", pod.status.phase)));
    }
    let view = CycleView::of(&scheduler.explain(pod));
    let agreement = SchedulerComparer::new(cluster, events(scheduler, loaded)).compare(pod, &view);
    let more = unknown(&view) + &beside(&agreement) + &completeness(args, loaded);
    write(args, &Answer::Decision(&view), &more)?;
    Ok(if view.outcome == Some(Outcome::Scheduled) { EXIT_OK } else { EXIT_NO_FIT })
}

fn all(args: &ExplainArgs, scheduler: &Scheduler, loaded: &Loaded) -> Result<u8, Failure> {
    let wanted = |pod: &Key| args.all_namespaces || pod.namespace.as_str() == args.namespace;
    let found = Agreements::of(scheduler, events(scheduler, loaded), Vec::new(), wanted, |_| true);
    write(args, &Answer::Agreements(&found), &completeness(args, loaded))
}

fn write(args: &ExplainArgs, answer: &Answer<'_>, more: &str) -> Result<u8, Failure> {
    print(&args.output.write(answer, more).map_err(|e| Failure::source(e.to_string()))?)
}

/// Returns what the source held and lacked, in formats that show it.
fn completeness(args: &ExplainArgs, loaded: &Loaded) -> String {
    if args.output.wide { super::completeness(loaded) } else { String::new() }
}

/// The Events of the source, wherever they went.
fn events<'a>(scheduler: &'a Scheduler, loaded: &'a Loaded) -> &'a [ObservedEvent] {
    match &scheduler.options().waiting {
        Waiting::AsObserved(events) => events,
        Waiting::Fresh => &loaded.events,
    }
}

/// What the cluster's scheduler wrote, where it wrote something.
fn beside(agreement: &SchedulerMatch) -> String {
    if agreement.accord == MatchKind::Unwritten {
        return String::new();
    }
    let lines: String = agreement.text().lines().map(|line| format!("  {line}\n")).collect();
    format!("\nTHE CLUSTER'S SCHEDULER\n{lines}")
}

/// What the answer cannot know for want of objects in the source: what was asked for and not given, and what the source
/// merely lacks where the answer hangs on it.
fn unknown(view: &CycleView) -> String {
    let preempts = view.preemption.as_ref().is_some_and(|p| p.candidate_count() > 0);
    let no_nodes = view.start.as_ref().is_some_and(|start| start.nodes == 0);
    let matters = |missing: &&Missing| match (missing.why, missing.kind) {
        (MissingReason::NotInSource, Kind::PodDisruptionBudget) => preempts,
        (MissingReason::NotInSource, Kind::Node) => no_nodes,
        (MissingReason::NotInSource, _) => false,
        _ => true,
    };
    let lines: String = Missing::all(view.missing()).iter().filter(matters).map(|m| format!("  {}\n", m.sentence())).collect();
    if lines.is_empty() { lines } else { format!("\nUNKNOWN\n{lines}") }
}
