//! `schedscope explain`: one pod's decision, or all pending pods compared with the cluster's scheduler.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::args::ExplainArgs;
use super::reproduce;
use super::{EXIT_NO_FIT, EXIT_OK, Failure, original, print, section};
use crate::app::{Reproduction, pod_meant};
use crate::cluster::{Cluster, Key, Kind, MissingReason, ObservedEvent};
use crate::fixes::{self, Limits};
use crate::output::{self, Lines, Text};
use crate::report::{
    self, Agreements, Answer, FixesReport, MatchKind, Missing, Origin, ReleaseReport, Reported, SchedulerComparer, SchedulerMatch, Ticket,
    decision_parts, missing_sentences,
};
use crate::scheduler::{Evictions, OddsEffort, Scheduler, Waiting};
use crate::source::Loaded;
use crate::trace::{CycleView, Outcome};

/// Wait before a live cluster is read again: its scheduler may not have written its latest decision yet.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// An answer, and whether the cluster's scheduler disagrees with it.
struct Explained {
    text: Text,
    code: u8,
    disagrees: bool,
}

/// Decides and prints.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let connect = args.connect.with_log(&args.scheduler, args.source.is_live())?;
    let loaded = super::read(&args.source, &connect, &args.limits.limits())?;
    let again = || super::judgeable(super::live::first(&connect)?.1);
    let explained = explain_twice(args, loaded, &std::thread::sleep, again)?;
    print(&explained.text)?;
    Ok(explained.code)
}

/// Decides, and once more on a second read of a live cluster if its scheduler seems to disagree: the first read may fall
/// between a decision and the condition or event that reports it.
fn explain_twice(
    args: &ExplainArgs,
    loaded: Loaded,
    wait: &dyn Fn(Duration),
    again: impl FnOnce() -> Result<Loaded, Failure>,
) -> Result<Explained, Failure> {
    let first = explain(args, loaded, &|line| output::say(line))?;
    if !(first.disagrees && args.source.is_live()) {
        return Ok(first);
    }
    wait(LOOK_AGAIN);
    // The first pass has already printed the lines about the release.
    explain(args, again()?, &|_| ())
}

fn explain(args: &ExplainArgs, mut loaded: Loaded, say: &dyn Fn(String)) -> Result<Explained, Failure> {
    if !args.fixes && !args.pending && args.scheduler.extenders.ask_extenders.is_none() {
        loaded.report.forget_origins();
    }
    super::scheduler_log::read_beside(&args.scheduler, &mut loaded, &args.limits.limits(), say)?;
    let scheduler = super::scheduler(&args.scheduler.on(&args.source), &mut loaded, Evictions::AtOnce, say)?;
    let explained = match &args.pod {
        Some(pod) => one(args, pod, &scheduler, &loaded),
        None => all(args, &scheduler, &loaded),
    };
    // Skip the destructors: the process exits here, and freeing a large cluster takes time.
    std::mem::forget((scheduler, loaded));
    explained
}

fn one(args: &ExplainArgs, pod: &str, scheduler: &Scheduler, loaded: &Loaded) -> Result<Explained, Failure> {
    let key = pod_key(pod, args.namespace.as_deref())?;
    let cluster = scheduler.state().cluster();
    let pod = cluster.pods.get(&key).ok_or_else(|| absent(cluster, &key))?;
    if !pod.node_name.is_empty() {
        return Err(Failure::usage(format!("pod {key} is not pending: it is bound to {}", pod.node_name)));
    }
    if pod.is_terminal() {
        return Err(Failure::usage(format!("pod {key} is not pending: its phase is {}", pod.status.phase)));
    }
    let effort = if args.odds { OddsEffort::Asked } else { OddsEffort::Little };
    let mut view = scheduler.explain_group(pod).map_or_else(|| scheduler.explain_with_odds(pod, effort), |events| CycleView::of(&events));
    view.devices = scheduler.device_findings(pod, &view).map(Arc::new);
    let agreement = SchedulerComparer::new(scheduler, events(scheduler, loaded)).compare(pod, &view);
    // A ticket has its own list of what is unknown.
    let mut more = if args.output.is_ticket() { Lines::default() } else { unknown(&view) };
    more.extend(beside(&agreement));
    more.extend(completeness(args, loaded));
    let release = ReleaseReport::of(scheduler.emulated(), &decision_parts(scheduler.state().config()));
    if view.nodes_unknown().is_some() {
        let mut more = unknown(&view);
        more.extend(completeness(args, loaded));
        let text = write(args, &Answer::Undecided(&view, &release, &agreement), more)?;
        return Ok(Explained { text, code: super::EXIT_SOURCE, disagrees: false });
    }
    let found = args.fixes.then(|| fixes::find(scheduler, pod, Limits::of(cluster.nodes.len()), &|_| true));
    let fixes = found.map(|found| FixesReport::new(&found, cluster, &|kind, key| original(loaded, kind, key)));
    let origin = Origin { reported: Reported::of(&view, agreement.there.as_ref()), ..origin(args, &key, scheduler) };
    let ticket = Ticket { view: &view, release: &release, fixes: fixes.as_ref(), origin: &origin };
    let text = write(args, &Answer::Ticket(ticket), more)?;
    let code = if view.outcome == Some(Outcome::Scheduled) { EXIT_OK } else { EXIT_NO_FIT };
    let code = super::code(code, scheduler);
    Ok(Explained { text, code, disagrees: agreement.accord == MatchKind::Unexplained })
}

/// Returns the failure about a pod that the source does not hold, or whose part of the source could not be read.
fn absent(cluster: &Cluster, key: &Key) -> Failure {
    let message = format!("there is no Pod {key} in the source{}", pod_meant(cluster, key));
    match Missing::all(cluster.unknown).iter().find(|missing| missing.kind == Kind::Pod && missing.why != MissingReason::NotInSource) {
        Some(missing) => Failure::source(format!("{message}; {}", missing.clause())),
        None => Failure::usage(message),
    }
}

/// Returns where a decision comes from, for a ticket.
fn origin(args: &ExplainArgs, pod: &Key, scheduler: &Scheduler) -> Origin {
    let ExplainArgs { source, connect, limits, .. } = args;
    let is_stdin = source.from.iter().any(|path| path.as_os_str() == "-");
    let (name, words) = match (&source.demo, &connect.context) {
        (Some(demo), _) => (format!("demo {demo}"), vec!["--demo".to_owned(), demo.clone()]),
        _ if !source.from.is_empty() => {
            let paths = source.from.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
            (paths, reproduce::dump_words(source.from.iter().map(PathBuf::as_path)))
        }
        (None, Some(context)) => (format!("live cluster {context}"), reproduce::connect_words(connect)),
        (None, None) => ("live cluster of the current context".to_owned(), reproduce::connect_words(connect)),
    };
    let words = [words, reproduce::limit_words(limits), reproduce::scheduler_words(&args.scheduler)].concat();
    Origin {
        source: name,
        at: Some(scheduler.state().clock()),
        command: (!is_stdin).then(|| Reproduction::new(words).command(pod)),
        is_live: source.is_live(),
        ..Origin::default()
    }
}

/// Parses `NAME`, `pod/NAME` or `NAMESPACE/NAME` as a pod's key. Takes the namespace that `-n` names.
fn pod_key(pod: &str, namespace: Option<&str>) -> Result<Key, Failure> {
    match (pod.split_once('/'), namespace) {
        (Some((first, _)), Some(named)) if !is_pods(first) && first != named => {
            Err(Failure::usage(format!("pod {pod} is in namespace {first}, but -n names {named}")))
        }
        (Some((first, name)), _) if !is_pods(first) => Ok(Key::new(first, name)),
        (found, namespace) => Ok(Key::new(namespace.unwrap_or("default"), found.map_or(pod, |(_, name)| name))),
    }
}

/// Returns whether a word is kubectl's for pods.
fn is_pods(word: &str) -> bool {
    matches!(word, "pod" | "pods" | "po")
}

fn all(args: &ExplainArgs, scheduler: &Scheduler, loaded: &Loaded) -> Result<Explained, Failure> {
    let wanted = |pod: &Key| args.all_namespaces || pod.namespace.as_str() == args.namespace();
    let mut found = Agreements::of(scheduler, events(scheduler, loaded), Vec::new(), wanted, |_| true);
    found.causes = report::causes(&found, scheduler, &|kind, key| original(loaded, kind, key));
    let code = if found.some_does_not_fit() { EXIT_NO_FIT } else { EXIT_OK };
    let code = super::code(code, scheduler);
    let mut more = super::unread(scheduler);
    more.extend(completeness(args, loaded));
    let text = write(args, &Answer::Agreements(&found), more)?;
    Ok(Explained { text, code, disagrees: found.some_disagrees() })
}

fn write(args: &ExplainArgs, answer: &Answer<'_>, more: Lines) -> Result<Text, Failure> {
    args.output.write(answer, more).map_err(|e| Failure::source(e.to_string()))
}

/// Returns the completeness of the source, for formats that show it.
fn completeness(args: &ExplainArgs, loaded: &Loaded) -> Lines {
    if args.output.wide { super::completeness(loaded) } else { Lines::default() }
}

/// Returns the source's Events; with observed queues the scheduler owns them.
fn events<'a>(scheduler: &'a Scheduler, loaded: &'a Loaded) -> &'a [ObservedEvent] {
    match &scheduler.options().waiting {
        Waiting::AsObserved(events) => events,
        Waiting::Fresh => &loaded.events,
    }
}

/// Returns the agreement with the cluster's scheduler; empty if that has written nothing about the pod.
fn beside(agreement: &SchedulerMatch) -> Lines {
    if agreement.accord == MatchKind::Unwritten {
        return Lines::default();
    }
    section("THE CLUSTER'S SCHEDULER", agreement.text())
}

/// Returns the gaps of the source that limit this answer: kinds that could not be read, and kinds absent from the source
/// that the decision depends on.
fn unknown(view: &CycleView) -> Lines {
    let matters = |missing: &&Missing| missing.matters_to(view);
    let lines: Lines = missing_sentences(Missing::all(view.missing()).iter().filter(matters)).into_iter().collect();
    if lines.is_empty() { lines } else { section("UNKNOWN", lines) }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use clap::Parser as _;

    use super::super::{Cli, Command};
    use super::*;
    use crate::source::{Input, load};

    /// Returns a cluster with a pod that fits on no node, whose condition has this message; empty for none.
    fn cluster(message: &str) -> Loaded {
        let condition = if message.is_empty() {
            String::new()
        } else {
            format!(
                r#","conditions":[{{"type":"PodScheduled","status":"False","reason":"Unschedulable","lastTransitionTime":"2026-01-01T00:00:00Z","message":"{message}"}}]"#
            )
        };
        let text = format!(
            r#"{{"kind":"List","apiVersion":"v1","items":[
            {{"kind":"Node","apiVersion":"v1","metadata":{{"name":"n"}},"status":{{"allocatable":{{"cpu":"1","pods":"10"}}}}}},
            {{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"web","namespace":"shop"}},
             "spec":{{"schedulerName":"default-scheduler","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"2"}}}}}}]}},
             "status":{{"phase":"Pending"{condition}}}}}]}}"#
        );
        load(&[Input::Bytes { name: "cluster.json".into(), bytes: text.into_bytes().into() }])
    }

    /// Explains on one read of a cluster and, if it is read again, on another. Returns the exit code, whether the scheduler
    /// disagrees, the answer, and what was done in between.
    #[track_caller]
    fn explained(args: &[&str], first: &str, second: Result<&str, &str>) -> Result<(u8, bool, String, Vec<String>), String> {
        let words = ["schedscope", "explain"].iter().chain(args);
        let Some(Command::Explain(args)) = Cli::try_parse_from(words).unwrap().command else { unreachable!("it is explain") };
        let done = RefCell::new(Vec::new());
        let wait = |time: Duration| done.borrow_mut().push(format!("wait {time:?}"));
        let again = || {
            done.borrow_mut().push("read".to_owned());
            second.map(cluster).map_err(Failure::source)
        };
        let found = explain_twice(&args, cluster(first), &wait, again);
        found
            .map(|found| (found.code, found.disagrees, found.text.as_str().to_owned(), done.take()))
            .map_err(|e| format!("{:?}", e.message))
    }

    /// The message that kube-scheduler writes about the pod, and one about a node that it has no more.
    const AGREES: &str = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
    const DIFFERS: &str = "0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";

    #[test]
    fn a_difference_is_told_only_if_a_second_look_finds_it_too() {
        for pods in [&["--pending", "-A"][..], &["web", "-n", "shop"]] {
            let (code, disagrees, text, done) = explained(pods, DIFFERS, Ok(AGREES)).unwrap();
            assert_eq!((code, disagrees, done), (EXIT_NO_FIT, false, vec!["wait 1s".to_owned(), "read".to_owned()]), "{text}");
            assert!(!text.contains("the scheduler said"), "{text}");

            let (code, disagrees, text, done) = explained(pods, DIFFERS, Ok(DIFFERS)).unwrap();
            assert_eq!((code, disagrees, done.len()), (EXIT_NO_FIT, true, 2), "it looks again once: {text}");
            assert!(text.contains("Too many pods: the scheduler said 1 node, not reported by schedscope"), "{text}");

            for first in [AGREES, ""] {
                let (_, disagrees, text, done) = explained(pods, first, Err("not read twice")).unwrap();
                assert!(!disagrees && done.is_empty(), "{text}");
            }
            // A cluster that can no longer be read gives no answer of the first look.
            assert!(explained(pods, DIFFERS, Err("it is gone")).unwrap_err().contains("it is gone"));
        }
        // A dump does not change.
        let (_, disagrees, _, done) = explained(&["--pending", "-A", "--from", "dump.json"], DIFFERS, Err("not read twice")).unwrap();
        assert!(disagrees && done.is_empty());
    }

    #[test]
    fn pods_are_named_as_kubectl_does_or_with_their_namespace() {
        for (text, expected) in [("web", "shop/web"), ("pod/web", "shop/web"), ("po/web", "shop/web"), ("batch/web", "batch/web")] {
            let key = pod_key(text, Some(expected.split('/').next().unwrap())).unwrap();
            assert_eq!(key.to_string(), expected);
        }
        assert_eq!(pod_key("web", None).unwrap(), Key::new("default", "web"));
        assert_eq!(pod_key("shop/web", None).unwrap(), Key::new("shop", "web"));
        assert!(pod_key("shop/web", Some("batch")).is_err());
    }
}
