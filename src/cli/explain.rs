//! `schedscope explain`: one pod's decision, or all pending pods beside what the cluster's scheduler wrote.

use super::args::ExplainArgs;
use super::{EXIT_NO_FIT, EXIT_OK, Failure, print, section};
use crate::cluster::{Key, Kind, ObservedEvent};
use crate::fixes::{self, Limits};
use crate::output::{self, Lines};
use crate::report::{self, Agreements, Answer, FixesReport, MatchKind, ReleaseReport, SchedulerComparer, SchedulerMatch, decision_parts};
use crate::scheduler::{Evictions, Scheduler, Waiting};
use crate::source::{self, Loaded};
use crate::trace::{CycleView, Outcome};

/// Decides and prints.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let mut loaded = super::read(&args.source, &args.connect, &args.limits.limits())?;
    if !args.fixes && !args.pending {
        loaded.report.forget_origins();
    }
    super::scheduler_log::read_beside(&args.scheduler, &mut loaded, &args.limits.limits(), &|line| output::say(line))?;
    let scheduler = super::scheduler(&args.scheduler.on(&args.source), &mut loaded, Evictions::AtOnce, &|line| output::say(line))?;
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
    let agreement = SchedulerComparer::new(scheduler, events(scheduler, loaded)).compare(pod, &view);
    let mut more = unknown(&view, loaded);
    more.extend(beside(&agreement));
    more.extend(completeness(args, loaded));
    let release = ReleaseReport::of(scheduler.emulated(), &decision_parts(scheduler.state().config()));
    if args.fixes {
        let found = fixes::find(scheduler, pod, Limits::of(cluster.nodes.len()), &|_| true);
        let fixes = FixesReport::new(&found, cluster, &|kind, key| original(loaded, kind, key));
        write(args, &Answer::Fixes(&view, &release, &fixes), more)?;
    } else {
        write(args, &Answer::Decision(&view, &release), more)?;
    }
    Ok(if view.outcome == Some(Outcome::Scheduled) { EXIT_OK } else { EXIT_NO_FIT })
}

/// Returns an object with the fields that scheduling does not read; `None` where its source can be read once only.
fn original(loaded: &Loaded, kind: Kind, key: &Key) -> Option<serde_json::Value> {
    let text = loaded.report.original(kind, key).ok().flatten()?;
    serde_yaml::from_str(&source::as_yaml(&text, kind, key)?).ok()
}

fn all(args: &ExplainArgs, scheduler: &Scheduler, loaded: &Loaded) -> Result<u8, Failure> {
    let wanted = |pod: &Key| args.all_namespaces || pod.namespace.as_str() == args.namespace;
    let mut found = Agreements::of(scheduler, events(scheduler, loaded), Vec::new(), wanted, |_| true);
    found.causes = report::causes(&found, scheduler, &|kind, key| original(loaded, kind, key));
    write(args, &Answer::Agreements(&found), completeness(args, loaded))?;
    Ok(if found.causes.is_empty() { EXIT_OK } else { EXIT_NO_FIT })
}

fn write(args: &ExplainArgs, answer: &Answer<'_>, more: Lines) -> Result<u8, Failure> {
    print(&args.output.write(answer, more).map_err(|e| Failure::source(e.to_string()))?)
}

/// Returns what the source held and lacked, in formats that show it.
fn completeness(args: &ExplainArgs, loaded: &Loaded) -> Lines {
    if args.output.wide { super::completeness(loaded) } else { Lines::default() }
}

/// The Events of the source, wherever they went.
fn events<'a>(scheduler: &'a Scheduler, loaded: &'a Loaded) -> &'a [ObservedEvent] {
    match &scheduler.options().waiting {
        Waiting::AsObserved(events) => events,
        Waiting::Fresh => &loaded.events,
    }
}

/// What the cluster's scheduler wrote, where it wrote something.
fn beside(agreement: &SchedulerMatch) -> Lines {
    if agreement.accord == MatchKind::Unwritten {
        return Lines::default();
    }
    section("THE CLUSTER'S SCHEDULER", agreement.text())
}

/// What the answer cannot know for want of objects in the source.
fn unknown(view: &CycleView, loaded: &Loaded) -> Lines {
    let preempts = view.preemption.as_ref().is_some_and(|p| p.candidate_count() > 0);
    let absent = loaded.report.absent.iter().find(|a| a.kind == Kind::PodDisruptionBudget).filter(|_| preempts);
    absent.map_or_else(Lines::default, |a| section("UNKNOWN", a.effect.into()))
}
