//! `schedscope explain` of a pod that has a node, and of one that was evicted.

use std::sync::Arc;

use super::args::ExplainArgs;
use super::explain::{Explained, Write, absent, events, unknown};
use super::{EXIT_OK, Failure, workload};
use crate::analysis::{Missing, VoiceReport, When, preempted, voices, why};
use crate::cluster::{Controller, Key, Kind, Object, ObservedEvent, Pod, PodStatus, Str};
use crate::output::Document;
use crate::report::{AgainReport, Answer, EvictionReport, PlacedReport};
use crate::scheduler::{ObjectEdit, Scheduler};
use crate::source::Loaded;
use crate::trace::{CycleView, Outcome};
use crate::workload::Meaning;

/// Explains a pod that has a node, or was evicted; with `--evicted` also one that is gone.
///
/// # Errors
/// Fails if the pod is neither in the source nor in an event about an eviction.
pub(super) fn explain(
    args: &ExplainArgs,
    key: &Key,
    scheduler: &Scheduler,
    loaded: &Loaded,
    write: Write<'_>,
    more: Document,
) -> Result<Explained, Failure> {
    let cluster = scheduler.state().cluster();
    let pod = cluster.pods.get(key);
    let others = pod.map_or_else(|| workload::voices_of_gone(key, scheduler, loaded), |pod| voices(pod, scheduler, &loaded.neighbors));
    let ends = pod.is_some_and(|pod| pod.is_terminating());
    let evictions = (args.evicted || ends).then(|| evictions(key, scheduler, loaded, &others.voices));
    // Without being asked for, evictions are shown where there are some.
    let evictions = evictions.filter(|found| args.evicted || !found.is_empty());
    if pod.is_none() && evictions.as_ref().is_none_or(Vec::is_empty) {
        return Err(absent(cluster, key));
    }
    let bound = pod.filter(|pod| !pod.node_name.is_empty());
    let again = bound.filter(|pod| !pod.is_terminal() && !pod.is_terminating()).map(|pod| again(pod, scheduler));
    let mut more_below = again.as_ref().map_or_else(|| super::unread(scheduler), |(_, view)| unknown(view));
    more_below.append(more);
    let report = PlacedReport {
        pod: key.name.clone(),
        namespace: key.namespace.clone(),
        node: bound.map(|pod| pod.node_name.clone()),
        ends: bound.is_some() && ends,
        when: bound.and_then(|pod| When::of_ending(pod, scheduler.state().clock())),
        bound: bound.and_then(|pod| scheduled(pod, events(scheduler, loaded))).and_then(|event| event.last.or(event.first)),
        why: bound.map(|pod| why_here(pod, events(scheduler, loaded))).unwrap_or_default(),
        again: again.map(|(again, _)| again),
        evictions,
        others: others.voices.iter().map(VoiceReport::from).collect(),
        others_left_out: others.left_out,
        missing: Missing::all(cluster.unknown),
        now: Some(scheduler.state().clock()),
    };
    let text = write(&Answer::Placed(&report), more_below)?;
    Ok(Explained { text, code: super::code(EXIT_OK, scheduler), disagrees: false })
}

/// Returns the event in which the pod's scheduler bound it.
fn scheduled<'a>(pod: &Pod, events: &'a [ObservedEvent]) -> Option<&'a ObservedEvent> {
    events.iter().rfind(|event| event.reason == "Scheduled" && event.pod == pod.key() && event.is_about(pod))
}

/// Returns why a pod is on its node, as far as the source shows.
fn why_here(pod: &Pod, events: &[ObservedEvent]) -> Vec<String> {
    let mut why = Vec::new();
    match Controller::of(pod) {
        Controller::DaemonSet => why.push("Its DaemonSet made it for this node.".to_owned()),
        Controller::Node => why.push("It mirrors a static pod: the kubelet of the node runs it, no scheduler chose the node.".to_owned()),
        _ => {}
    }
    match scheduled(pod, events).and_then(|event| event.last.or(event.first)) {
        Some(at) => why.push(format!("The scheduler {} bound it at {at}.", pod.spec.scheduler_name)),
        None if why.is_empty() => {
            why.push("No event in the source says when it was bound; the scores of that moment are not recorded.".to_owned());
        }
        None => {}
    }
    why
}

/// Decides about a pod like a bound one, on the cluster without it. Returns the decision as well.
fn again(pod: &Arc<Pod>, scheduler: &Scheduler) -> (AgainReport, CycleView) {
    let mut like = Pod::clone(pod);
    like.node_name = Str::default();
    like.status = PodStatus { phase: "Pending".into(), ..PodStatus::default() };
    let like = Arc::new(like);
    let without = scheduler.with_edits([ObjectEdit::Remove(Kind::Pod, pod.key()), ObjectEdit::Put(Object::Pod(like.clone()))]);
    let view = CycleView::of(&without.explain(&like));
    let (node, tied) = match &view.scoring.selected {
        Some((node, _, tied)) if view.outcome == Some(Outcome::Scheduled) => (Some(node.clone()), tied.iter().cloned().collect()),
        _ => (None, Vec::new()),
    };
    let among = tied.contains(&pod.node_name);
    let cluster = scheduler.state().cluster();
    let here_unknown = cluster.nodes.named(&pod.node_name).is_none() && cluster.unknown.why(Kind::Node).is_some();
    let same = match &node {
        _ if here_unknown || among && tied.len() > 1 => None,
        Some(node) => Some(*node == pod.node_name),
        None => Some(false),
    };
    (AgainReport { same, here_unknown, node, tied, why: why(&view) }, view)
}

fn evictions(key: &Key, scheduler: &Scheduler, loaded: &Loaded, others: &[crate::workload::Voice]) -> Vec<EvictionReport> {
    let cluster = scheduler.state().cluster();
    let by_scheduler = preempted(cluster, events(scheduler, loaded)).into_iter().filter(|eviction| eviction.victim == *key);
    let mut found: Vec<EvictionReport> = by_scheduler.map(|eviction| EvictionReport::of_preemption(&eviction, scheduler)).collect();
    let evicts = |means: &Option<Meaning>| matches!(means, Some(Meaning::TaintEviction | Meaning::Descheduled | Meaning::ScaleDown));
    found.extend(others.iter().filter(|voice| voice.about.kind == "Pod" && evicts(&voice.means)).map(|voice| EvictionReport {
        speaker: voice.speaker.clone(),
        at: voice.last,
        node: None,
        preemptor: None,
        sentence: format!("{} evicted it{}: {}", voice.speaker, voice.last.map_or_else(String::new, |at| format!(" at {at}")), voice.text),
        why: Vec::new(),
    }));
    found.sort_by_key(|eviction| std::cmp::Reverse(eviction.at));
    found
}
