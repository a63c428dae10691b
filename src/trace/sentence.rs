//! The sentence that describes each event.

use super::event::{
    Event, Eviction, InferredPlace, LoggedEvent, MoveCause, Outcome, PermitEnd, Place, QueueMove, SchedulerStart, Selection,
};
use super::queues_view::GroupGate;
use crate::cluster::{Key, Str};
use crate::framework::{DryRunStep, EventLabel, NodeDryRun, PluginName, PreemptionRecord, Status, Victim};
use crate::output::{Words, words};
use crate::plural::count;

impl Event {
    /// Describes the event in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        self.words().to_string()
    }

    /// Returns the event as a sentence without a full stop, with the pod and the node that it names.
    pub fn words(&self) -> Words {
        match self {
            Self::Logged(event) => logged(event),
            Self::ClockMoved { from, to } => format!("the clock advanced by {}", seconds(to.duration_since(**from))).into(),
            Self::SchedulerStarted(start) => started(start).into(),
            Self::ObjectChanged { kind, key, change } => format!("{kind} {key} was {}", change.to_string().to_lowercase()).into(),
            Self::QueueMoved(m) => queue_move(m),
            Self::PlaceInferred(p) => inferred(p),
            Self::PriorityChanged { pod, priority } => words![pod, format!(" has priority {priority} now")],
            Self::HintAsked { pod, plugin, event, hint, .. } => words![format!("{event}: {plugin} says {hint} for "), pod],
            Self::PreEnqueueRejected { pod, status } => words![pod, format!(" is gated: {}", by_plugin(status))],
            Self::GroupGateChanged { group, gate } => group_gate(group, gate.as_deref()),
            Self::PodPopped { pod, attempts, early_from_backoff } => popped(pod, *attempts, *early_from_backoff),
            Self::CycleStarted(at) => words![format!("cycle {} started for ", at.cycle), &at.pod, format!(", priority {}", at.priority)],
            Self::CycleSkipped { pod, why } => words![pod, format!(" was skipped: {}", why.text(pod))],
            Self::NotEmulated { plugin, what } => format!("{plugin} is not emulated: {what}").into(),
            Self::PreFiltered { plugin, status, nodes } => pre_filtered(*plugin, status, nodes.as_deref()).into(),
            Self::NodesNarrowed { rejected: Some(_), status, .. } => format!("no node is filtered: {}", status.message()).into(),
            Self::NodesNarrowed { nodes, .. } => format!("{} left to filter after PreFilter", count(nodes.len(), "node")).into(),
            Self::NominatedNodeTried { node } => words![node, " is tried first: the pod is nominated to it"],
            Self::AllNodesTried => "all nodes are tried".into(),
            Self::NodeFiltered { node, status, nominated } => filtered(node, status, nominated.len()),
            Self::ExtenderTookPart(call) => call.sentence().into(),
            Self::FilterStopped { evaluated, of, wanted } => {
                format!("stopped after {evaluated} of {of} nodes: more than {wanted} fit").into()
            }
            Self::PreScored { plugin, status } => pre_scored(*plugin, status).into(),
            Self::NodeScored(score) => words![&score.node, format!(" scores {}", score.total)],
            Self::NodeSelected { node, why, tied } => selected(node, *why, tied.len()),
            Self::PostFiltered { plugin, status } if status.is_success() => format!("{plugin} found room for the pod").into(),
            Self::PostFiltered { plugin, status } => format!("{plugin}: {}", status.message()).into(),
            Self::PreemptionStarted(start) => preemption_started(start).into(),
            Self::DryRunStepped(at) => at.step().map_or_else(Words::default, |step| dry_run_step(at.node(), step)),
            Self::DryRunFinished(run) => dry_run_finished(run),
            Self::CandidatesScored(at) => {
                at.function().map(|f| format!("{} keeps {}", f.name, names(&f.remaining)).into()).unwrap_or_default()
            }
            Self::CandidateSelected(preemption) => candidate_selected(&preemption.best),
            Self::PodNominated { pod, node } if node.is_empty() => words![pod, " no longer has a nominated node"],
            Self::PodNominated { pod, node } => words![pod, " is nominated to ", node],
            Self::NominationCleared { pod, node } => words![pod, " loses its nomination to ", node],
            Self::VictimEvicted { pod, node, how, .. } => evicted(pod, node, *how),
            Self::GracePeriodEnded { pod, node } => words![pod, " is gone from ", node, ": its grace period is over"],
            Self::PodAssumed { pod, node } => words![pod, " is assumed on ", node],
            Self::Reserved { plugin, status } => point("Reserve", *plugin, status).into(),
            Self::Unreserved { pod, node } => words!["the reservations for ", pod, " on ", node, " were released"],
            Self::Permitted { plugin, status } => point("Permit", *plugin, status).into(),
            Self::PermitWaited { pod, node, plugins } => permit_waited(pod, node, plugins.iter().map(|(plugin, _)| *plugin)),
            Self::PermitResolved { pod, end: PermitEnd::Allowed, .. } => words![&**pod, " may be bound: every Permit plugin allows it"],
            Self::PermitResolved { pod, message, .. } => words![&**pod, format!(" no longer waits on Permit: {message}")],
            Self::PreBound { plugin, status, writes } => pre_bound(*plugin, status, writes.len()).into(),
            Self::PodBound { pod, node } => words![pod, " was bound to ", node],
            Self::AttemptFailed { failure, .. } => format!("{}: {}", failure.reason, failure.message).into(),
            Self::Group(event) => event.words(),
            Self::CycleFinished { pod, outcome: Outcome::Gated } => words![pod, " is not tried: it is gated"],
            Self::CycleFinished { pod, outcome } => words!["the attempt for ", pod, format!(" ended: {outcome}")],
        }
    }
}

/// Returns an action of the cluster's scheduler, whose words are kept as text, with the name of its pod in them.
fn logged(event: &LoggedEvent) -> Words {
    let before = if event.is_ours { String::new() } else { format!("the cluster's scheduler, {}: ", event.at) };
    match event.words.split_once(&event.pod.to_string()) {
        Some((first, rest)) => words![format!("{before}{first}"), &event.pod, rest],
        None => format!("{before}{}", event.words).into(),
    }
}

fn started(start: &SchedulerStart) -> String {
    format!("kube-scheduler {} started with {}", start.release, count(start.queues.entries.len(), "waiting pod"))
}

fn inferred(place: &InferredPlace) -> Words {
    let how = if place.from_log { "by the scheduler's log" } else { "inferred" };
    at_place(&place.pod, &place.place).text(format!(" ({how}: {})", place.from))
}

fn group_gate(group: &Key, gate: Option<&GroupGate>) -> Words {
    match gate {
        Some(gate) => words![format!("pod group {group} is gated: {} rejects its pod ", gate.plugin), &gate.pod],
        None => format!("pod group {group} is no longer gated").into(),
    }
}

fn popped(pod: &Key, attempts: u32, early_from_backoff: bool) -> Words {
    let early = if early_from_backoff { " from backoffQ, early, as activeQ is empty" } else { "" };
    words![pod, format!(" was popped{early} for attempt {attempts}")]
}

fn pre_filtered(plugin: PluginName, status: &Status, nodes: Option<&[Str]>) -> String {
    match nodes {
        Some(nodes) if status.is_success() => format!("{plugin} left {} to filter", count(nodes.len(), "node")),
        _ if status.is_success() => format!("{plugin} is ready to filter"),
        _ if status.is_skip() => format!("{plugin} has nothing to filter for this pod"),
        _ => format!("{plugin} rejected the pod for every node: {}", status.message()),
    }
}

fn filtered(node: &Str, status: &Status, nominated: usize) -> Words {
    let nominations = if nominated == 0 { String::new() } else { format!(", counting {} nominated there", count(nominated, "pod")) };
    let verdict = if status.is_success() { "fits".to_owned() } else { by_plugin(status) };
    words![node, format!(": {verdict}{nominations}")]
}

fn pre_scored(plugin: PluginName, status: &Status) -> String {
    match status {
        _ if status.is_skip() => format!("{plugin} does not score this pod"),
        _ if status.is_success() => format!("{plugin} is ready to score"),
        _ => format!("{plugin} could not prepare scoring: {}", status.message()),
    }
}

fn selected(node: &Str, why: Selection, tied: usize) -> Words {
    match why {
        Selection::NominatedNode => words![node, " is taken: the pod is nominated to it and it fits"],
        Selection::OnlyFeasibleNode => words![node, " is taken: no other node fits"],
        Selection::HighestScore if tied > 1 => {
            words![node, format!(" is taken: the highest score, shared by {tied} (any of them may win)")]
        }
        Selection::HighestScore => words![node, " is taken: the highest score"],
        Selection::Turn => words![node, format!(" is taken: {tied} share the highest score and take turns")],
    }
}

fn preemption_started(start: &PreemptionRecord) -> String {
    if let Some(why) = start.ineligible.as_ref().map(Status::message) {
        return format!("preemption: {why}");
    }
    let would = if start.hypothetical { " (not reached; shown for information)" } else { "" };
    format!("preemption may help on {}{would}", count(start.potential_nodes.len(), "node"))
}

fn dry_run_finished(run: &NodeDryRun) -> Words {
    let Some(candidate) = &run.candidate else { return words![&run.node, format!(" is not a candidate: {}", run.status.message())] };
    // Zero violations are left out: the budgets may be unknown here.
    let violations = match candidate.pdb_violations {
        0 => String::new(),
        violations => format!(", {}", count(violations.unsigned_abs() as usize, "budget violation")),
    };
    words![&run.node, format!(" is a candidate: {}{violations}", count(candidate.victims.len(), "victim"))]
}

fn candidate_selected(best: &[Str]) -> Words {
    match best {
        [] => Words::default(),
        [node] => words![node, " is nominated"],
        [node, ..] => words![node, format!(" is nominated, the first by name of {} equal ones", best.len())],
    }
}

fn evicted(pod: &Key, node: &Str, how: Eviction) -> Words {
    match how {
        Eviction::Deleted => words![pod, " was evicted from ", node],
        Eviction::Terminating => words![pod, " was evicted from ", node, " and is terminating"],
        Eviction::InMemory => words![pod, " was rejected while waiting on Permit for ", node],
    }
}

fn permit_waited(pod: &Key, node: &Str, plugins: impl Iterator<Item = PluginName>) -> Words {
    let names: Vec<&str> = plugins.map(PluginName::as_str).collect();
    words![pod, " waits on Permit for ", node, format!(": {}", names.join(", "))]
}

fn pre_bound(plugin: PluginName, status: &Status, writes: usize) -> String {
    if status.is_success() { format!("{plugin} wrote {}", count(writes, "object")) } else { point("PreBind", plugin, status) }
}

fn queue_move(moved: &QueueMove) -> Words {
    let QueueMove { pod, to, cause, plugin, .. } = moved;
    let text = at_place(pod, to);
    if !matches!(to, Place::Active | Place::Backoff { .. } | Place::Unschedulable { .. }) {
        return text;
    }
    text.text(match plugin {
        Some(plugin) => format!(" ({cause}, which may help {plugin})"),
        None if *cause == MoveCause::Label(EventLabel::ScheduleAttemptFailure) => " (attempt failed)".to_owned(),
        None => format!(" ({cause})"),
    })
}

fn at_place(pod: &Key, place: &Place) -> Words {
    match place {
        Place::Active => words![pod, " entered activeQ"],
        Place::Backoff { .. } => words![pod, " entered backoffQ"],
        Place::Unschedulable { gated_by: Some(plugin), .. } => words![pod, format!(" is gated by {plugin}")],
        Place::Unschedulable { .. } => words![pod, " is parked in unschedulablePods"],
        Place::InFlight => words![pod, " left the queue for its attempt"],
        Place::WaitingOnPermit { node } => words![pod, " waits on Permit for ", node],
        Place::Bound { node } => words![pod, " runs on ", node],
        Place::Gone => words![pod, " left the queue"],
    }
}

fn point(name: &str, plugin: PluginName, status: &Status) -> String {
    if status.is_success() || status.is_skip() { format!("{name}: {plugin} agrees") } else { format!("{name}: {plugin}: {status}") }
}

fn by_plugin(status: &Status) -> String {
    match status.plugin() {
        Some(plugin) => format!("{plugin}: {}", status.message()),
        None => status.message(),
    }
}

fn dry_run_step(node: &Str, step: DryRunStep<'_>) -> Words {
    match step {
        DryRunStep::Removed(pod) => words![node, ": remove ", &pod.key()].remark(format!(" (priority {})", pod.priority())),
        DryRunStep::Filtered(status) if status.is_success() => words![node, ": fits without them"],
        DryRunStep::Filtered(status) => words![node, format!(": does not help, {}", status.message())],
        DryRunStep::Reprieved(victim) => words![node, ": "].words(victim_words(victim)).text(" is reprieved"),
        DryRunStep::NotReprieved(victim, status) => {
            words![node, ": "].words(victim_words(victim)).text(format!(" must be evicted: with it, {}", status.message()))
        }
    }
}

fn victim_words(victim: &Victim) -> Words {
    let (pod, priority) = (words![&victim.key()], format!(" (priority {}", victim.priority()));
    let violations: String = victim.violates().map(|violation| format!(", violates {}", violation.budget)).collect();
    let group: String = victim.group().map(|group| format!(", with group {group}")).unwrap_or_default();
    let violations = group + &violations;
    // The priority alone may be left out.
    if violations.is_empty() { pod.remark(format!("{priority})")) } else { pod.text(format!("{priority}{violations})")) }
}

fn names(list: &[Str]) -> String {
    match list {
        [one] => one.to_string(),
        [first, .., last] if list.len() <= 4 => {
            let middle: String = list[1..list.len() - 1].iter().map(|n| format!(", {n}")).collect();
            format!("{first}{middle} and {last}")
        }
        _ => count(list.len(), "node"),
    }
}

fn seconds(duration: jiff::SignedDuration) -> String {
    let millis = duration.as_millis();
    match millis {
        1..1000 => format!("{millis} ms"),
        _ if millis % 1000 == 0 => format!("{} s", millis / 1000),
        _ => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
    }
}
