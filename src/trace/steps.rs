//! Step sizes of navigation through events, and the sentence that describes each event.

use super::event::{Event, Eviction, LoggedEvent, MoveCause, Outcome, PermitEnd, Place, Selection};
use super::preemption::DryRunStepAt;
use crate::cluster::{Key, Str};
use crate::framework::{DryRunStep, EventLabel, ExtenderVerb, PluginName, Status, Victim};
use crate::output::{Words, words};
use crate::plural::count;

/// The size of a step through events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, strum::Display, strum::EnumIter, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum StepSize {
    /// To the next event.
    Event,
    /// To the next event of another plugin.
    Plugin,
    /// To the next event about another node.
    Node,
    /// To the next extension point; inside PostFilter to the next phase of preemption: the potential nodes, each dry run, each
    /// reprieve, each score function, the choice.
    #[default]
    Phase,
    /// To the next extension point.
    ExtensionPoint,
    /// To the next cycle or operation.
    Cycle,
}

/// The parts of a cycle, as the framework names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display, strum::EnumIter)]
#[allow(missing_docs, reason = "the names are the framework's own")]
pub enum ExtensionPoint {
    Queue,
    PreEnqueue,
    PreFilter,
    Filter,
    PostFilter,
    PreScore,
    Score,
    Reserve,
    Permit,
    PreBind,
    Bind,
    Failure,
}

impl Event {
    /// Returns the extension point of the event.
    pub fn extension_point(&self) -> ExtensionPoint {
        use ExtensionPoint as P;
        match self {
            Self::Logged(_)
            | Self::ClockMoved { .. }
            | Self::SchedulerStarted(_)
            | Self::ObjectChanged { .. }
            | Self::GracePeriodEnded { .. }
            | Self::QueueMoved(_)
            | Self::PlaceInferred(_)
            | Self::PriorityChanged { .. }
            | Self::HintAsked { .. }
            | Self::GroupGateChanged { .. }
            | Self::PodPopped { .. }
            | Self::CycleStarted(_)
            | Self::CycleSkipped { .. } => P::Queue,
            Self::Group(event) => event.extension_point(),
            Self::PreEnqueueRejected { .. } => P::PreEnqueue,
            Self::PreFiltered { .. } | Self::NodesNarrowed { .. } => P::PreFilter,
            Self::NominatedNodeTried { .. }
            | Self::AllNodesTried
            | Self::NodeFiltered { .. }
            | Self::FilterStopped { .. }
            | Self::NotEmulated { .. } => P::Filter,
            Self::ExtenderTookPart(call) => match call.outcome.verb() {
                ExtenderVerb::Filter => P::Filter,
                ExtenderVerb::Prioritize => P::Score,
                ExtenderVerb::Preempt => P::PostFilter,
                ExtenderVerb::Bind => P::Bind,
            },
            Self::PostFiltered { .. }
            | Self::PreemptionStarted(_)
            | Self::DryRunStepped(_)
            | Self::DryRunFinished(_)
            | Self::CandidatesScored(_)
            | Self::CandidateSelected(_)
            | Self::NominationCleared { .. }
            | Self::VictimEvicted { .. } => P::PostFilter,
            Self::PreScored { .. } => P::PreScore,
            Self::NodeScored(_) | Self::NodeSelected { .. } => P::Score,
            Self::PodAssumed { .. } | Self::Reserved { .. } | Self::Unreserved { .. } => P::Reserve,
            Self::Permitted { .. } | Self::PermitWaited { .. } | Self::PermitResolved { .. } => P::Permit,
            Self::PreBound { .. } => P::PreBind,
            Self::PodBound { .. } => P::Bind,
            Self::PodNominated { .. } | Self::AttemptFailed { .. } | Self::CycleFinished { .. } => P::Failure,
        }
    }

    /// Returns whether a step of size [`StepSize::Phase`] that began with `first` goes on to this event, right after `last`.
    pub fn continues_phase(&self, first: &Self, last: &Self) -> bool {
        match (last, self) {
            // The result of a dry run belongs to its last step.
            (Self::DryRunStepped(at), Self::DryRunFinished(run)) => *at.node() == run.node,
            (Self::DryRunStepped(last), Self::DryRunStepped(next)) => {
                let removes = |at: &DryRunStepAt| matches!(at.step(), Some(DryRunStep::Removed(_) | DryRunStep::Filtered(_)));
                last.node() == next.node() && removes(last) && removes(next)
            }
            _ if last.is_preemption_phase() || self.is_preemption_phase() => false,
            _ => self.extension_point() == first.extension_point(),
        }
    }

    /// Returns whether a phase of preemption ends before or after the event.
    fn is_preemption_phase(&self) -> bool {
        matches!(
            self,
            Self::PreemptionStarted(_)
                | Self::DryRunStepped(_)
                | Self::DryRunFinished(_)
                | Self::CandidatesScored(_)
                | Self::CandidateSelected(_)
        )
    }

    /// Returns the plugin that the event is from, if any.
    pub fn plugin(&self) -> Option<PluginName> {
        match self {
            Self::HintAsked { plugin, .. }
            | Self::PreFiltered { plugin, .. }
            | Self::PreScored { plugin, .. }
            | Self::PostFiltered { plugin, .. }
            | Self::Reserved { plugin, .. }
            | Self::Permitted { plugin, .. }
            | Self::PreBound { plugin, .. } => Some(*plugin),
            Self::ExtenderTookPart(_) => Some(PluginName::Extender),
            Self::PreEnqueueRejected { status, .. } | Self::NodeFiltered { status, .. } => status.plugin(),
            Self::PreemptionStarted(_)
            | Self::DryRunStepped(_)
            | Self::DryRunFinished(_)
            | Self::CandidatesScored(_)
            | Self::CandidateSelected(_)
            | Self::NominationCleared { .. }
            | Self::VictimEvicted { .. } => Some(PluginName::DefaultPreemption),
            _ => None,
        }
    }

    /// Returns the node that the event is about, if any.
    pub fn node(&self) -> Option<&Str> {
        match self {
            Self::NominatedNodeTried { node }
            | Self::NodeFiltered { node, .. }
            | Self::NodeSelected { node, .. }
            | Self::PodNominated { node, .. }
            | Self::NominationCleared { node, .. }
            | Self::VictimEvicted { node, .. }
            | Self::GracePeriodEnded { node, .. }
            | Self::PermitWaited { node, .. }
            | Self::PermitResolved { node, .. }
            | Self::PodAssumed { node, .. }
            | Self::Unreserved { node, .. }
            | Self::PodBound { node, .. } => Some(node),
            Self::Group(event) => event.node(),
            Self::NodeScored(score) => Some(&score.node),
            Self::DryRunStepped(at) => Some(at.node()),
            Self::DryRunFinished(run) => Some(&run.node),
            Self::CandidateSelected(preemption) => preemption.selected(),
            _ => None,
        }
    }

    /// Returns whether the event is about the pod.
    pub fn is_about(&self, pod: &Key) -> bool {
        match self {
            Self::DryRunStepped(at) => at.pod().is_some_and(|p| p.metadata.name == pod.name && p.metadata.namespace == pod.namespace),
            _ => self.pod() == Some(pod),
        }
    }

    /// Returns the namespace and name of the pod that the event is about.
    pub fn pod_key(&self) -> Option<Key> {
        match self {
            Self::DryRunStepped(at) => at.pod().map(|pod| pod.key()),
            _ => self.pod().cloned(),
        }
    }

    /// Returns the pod that the event names.
    fn pod(&self) -> Option<&Key> {
        match self {
            Self::Logged(event) => Some(&event.pod),
            Self::QueueMoved(m) => Some(&m.pod),
            Self::PlaceInferred(p) => Some(&p.pod),
            Self::CycleStarted(start) => Some(&start.pod),
            Self::PriorityChanged { pod, .. }
            | Self::HintAsked { pod, .. }
            | Self::PreEnqueueRejected { pod, .. }
            | Self::PodPopped { pod, .. }
            | Self::CycleSkipped { pod, .. }
            | Self::PodNominated { pod, .. }
            | Self::NominationCleared { pod, .. }
            | Self::GracePeriodEnded { pod, .. }
            | Self::PodAssumed { pod, .. }
            | Self::Unreserved { pod, .. }
            | Self::PodBound { pod, .. }
            | Self::AttemptFailed { pod, .. }
            | Self::CycleFinished { pod, .. } => Some(pod),
            Self::Group(event) => event.pod(),
            Self::VictimEvicted { pod, .. } | Self::PermitWaited { pod, .. } | Self::PermitResolved { pod, .. } => Some(pod),
            _ => None,
        }
    }

    /// Describes the event in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        self.words().to_string()
    }

    /// Returns the event as a sentence without a full stop, with the pod and the node that it names.
    pub fn words(&self) -> Words {
        match self {
            Self::Logged(event) if event.is_ours => logged("", event),
            Self::Logged(event) => logged(&format!("the cluster's scheduler, {}: ", event.at), event),
            Self::ClockMoved { from, to } => format!("the clock advanced by {}", seconds(to.duration_since(**from))).into(),
            Self::SchedulerStarted(start) => {
                format!("kube-scheduler {} started with {}", start.release, count(start.queues.entries.len(), "waiting pod")).into()
            }
            Self::ObjectChanged { kind, key, change } => format!("{kind} {key} was {}", change.to_string().to_lowercase()).into(),
            Self::QueueMoved(m) => queue_move(&m.pod, &m.to, m.cause, m.plugin),
            Self::PlaceInferred(p) => {
                let how = if p.from_log { "by the scheduler's log" } else { "inferred" };
                at_place(&p.pod, &p.place).text(format!(" ({how}: {})", p.from))
            }
            Self::PriorityChanged { pod, priority } => words![pod, format!(" has priority {priority} now")],
            Self::HintAsked { pod, plugin, event, hint, .. } => words![format!("{event}: {plugin} says {hint} for "), pod],
            Self::PreEnqueueRejected { pod, status } => words![pod, format!(" is gated: {}", by_plugin(status))],
            Self::GroupGateChanged { group, gate: Some(gate) } => {
                words![format!("pod group {group} is gated: {} rejects its pod ", gate.plugin), &gate.pod]
            }
            Self::GroupGateChanged { group, gate: None } => format!("pod group {group} is no longer gated").into(),
            Self::PodPopped { pod, attempts, early_from_backoff } => {
                let early = if *early_from_backoff { " from backoffQ, early, as activeQ is empty" } else { "" };
                words![pod, format!(" was popped{early} for attempt {attempts}")]
            }
            Self::CycleStarted(start) => {
                words![format!("cycle {} started for ", start.cycle), &start.pod, format!(", priority {}", start.priority)]
            }
            Self::CycleSkipped { pod, why } => words![pod, format!(" was skipped: {}", why.text(pod))],
            Self::NotEmulated { plugin, what } => format!("{plugin} is not emulated: {what}").into(),
            Self::PreFiltered { plugin, status, nodes } => match nodes {
                Some(nodes) if status.is_success() => format!("{plugin} left {} to filter", count(nodes.len(), "node")).into(),
                _ if status.is_success() => format!("{plugin} is ready to filter").into(),
                _ if status.is_skip() => format!("{plugin} has nothing to filter for this pod").into(),
                _ => format!("{plugin} rejected the pod for every node: {}", status.message()).into(),
            },
            Self::NodesNarrowed { rejected: Some(_), status, .. } => format!("no node is filtered: {}", status.message()).into(),
            Self::NodesNarrowed { nodes, .. } => format!("{} left to filter after PreFilter", count(nodes.len(), "node")).into(),
            Self::NominatedNodeTried { node } => words![node, " is tried first: the pod is nominated to it"],
            Self::AllNodesTried => "all nodes are tried".into(),
            Self::NodeFiltered { node, status, nominated } => {
                let nominations = if nominated.is_empty() {
                    String::new()
                } else {
                    format!(", counting {} nominated there", count(nominated.len(), "pod"))
                };
                let verdict = if status.is_success() { "fits".to_owned() } else { by_plugin(status) };
                words![node, format!(": {verdict}{nominations}")]
            }
            Self::ExtenderTookPart(call) => call.sentence().into(),
            Self::FilterStopped { evaluated, of, wanted } => {
                format!("stopped after {evaluated} of {of} nodes: more than {wanted} fit").into()
            }
            Self::PreScored { plugin, status } if status.is_skip() => format!("{plugin} does not score this pod").into(),
            Self::PreScored { plugin, status } if status.is_success() => format!("{plugin} is ready to score").into(),
            Self::PreScored { plugin, status } => format!("{plugin} could not prepare scoring: {}", status.message()).into(),
            Self::NodeScored(score) => words![&score.node, format!(" scores {}", score.total)],
            Self::NodeSelected { node, why, tied } => match why {
                Selection::NominatedNode => words![node, " is taken: the pod is nominated to it and it fits"],
                Selection::OnlyFeasibleNode => words![node, " is taken: no other node fits"],
                Selection::HighestScore if tied.len() > 1 => {
                    words![node, format!(" is taken: the highest score, shared by {} (any of them may win)", tied.len())]
                }
                Selection::HighestScore => words![node, " is taken: the highest score"],
                Selection::Turn => words![node, format!(" is taken: {} share the highest score and take turns", tied.len())],
            },
            Self::PostFiltered { plugin, status } if status.is_success() => format!("{plugin} found room for the pod").into(),
            Self::PostFiltered { plugin, status } => format!("{plugin}: {}", status.message()).into(),
            Self::PreemptionStarted(start) => {
                if let Some(why) = start.ineligible.as_ref().map(Status::message) {
                    return format!("preemption: {why}").into();
                }
                let would = if start.hypothetical { " (not reached; shown for information)" } else { "" };
                format!("preemption may help on {}{would}", count(start.potential_nodes.len(), "node")).into()
            }
            Self::DryRunStepped(at) => at.step().map_or_else(Words::default, |step| dry_run_step(at.node(), step)),
            Self::DryRunFinished(run) => match &run.candidate {
                // Zero violations are left out: the budgets may be unknown here.
                Some(c) if c.pdb_violations == 0 => words![&run.node, format!(" is a candidate: {}", count(c.victims.len(), "victim"))],
                Some(c) => {
                    let violations = count(c.pdb_violations.unsigned_abs() as usize, "budget violation");
                    words![&run.node, format!(" is a candidate: {}, {violations}", count(c.victims.len(), "victim"))]
                }
                None => words![&run.node, format!(" is not a candidate: {}", run.status.message())],
            },
            Self::CandidatesScored(at) => {
                at.function().map_or_else(Words::default, |f| format!("{} keeps {}", f.name, names(&f.remaining)).into())
            }
            Self::CandidateSelected(preemption) => match &preemption.best[..] {
                [] => Words::default(),
                [node] => words![node, " is nominated"],
                [node, ..] => words![node, format!(" is nominated, the first by name of {} equal ones", preemption.best.len())],
            },
            Self::PodNominated { pod, node } if node.is_empty() => words![pod, " no longer has a nominated node"],
            Self::PodNominated { pod, node } => words![pod, " is nominated to ", node],
            Self::NominationCleared { pod, node } => words![pod, " loses its nomination to ", node],
            Self::VictimEvicted { pod, node, how, .. } => match how {
                Eviction::Deleted => words![&**pod, " was evicted from ", node],
                Eviction::Terminating => words![&**pod, " was evicted from ", node, " and is terminating"],
                Eviction::InMemory => words![&**pod, " was rejected while waiting on Permit for ", node],
            },
            Self::GracePeriodEnded { pod, node } => words![pod, " is gone from ", node, ": its grace period is over"],
            Self::PodAssumed { pod, node } => words![pod, " is assumed on ", node],
            Self::Reserved { plugin, status } => point("Reserve", *plugin, status).into(),
            Self::Unreserved { pod, node } => words!["the reservations for ", pod, " on ", node, " were released"],
            Self::Permitted { plugin, status } => point("Permit", *plugin, status).into(),
            Self::PermitWaited { pod, node, plugins } => {
                let names: Vec<&str> = plugins.iter().map(|(p, _)| p.as_str()).collect();
                words![&**pod, " waits on Permit for ", node, format!(": {}", names.join(", "))]
            }
            Self::PermitResolved { pod, end: PermitEnd::Allowed, .. } => words![&**pod, " may be bound: every Permit plugin allows it"],
            Self::PermitResolved { pod, message, .. } => words![&**pod, format!(" no longer waits on Permit: {message}")],
            Self::PreBound { plugin, status, writes } if status.is_success() => {
                format!("{plugin} wrote {}", count(writes.len(), "object")).into()
            }
            Self::PreBound { plugin, status, .. } => point("PreBind", *plugin, status).into(),
            Self::PodBound { pod, node } => words![pod, " was bound to ", node],
            Self::AttemptFailed { failure, .. } => format!("{}: {}", failure.reason, failure.message).into(),
            Self::Group(event) => event.words(),
            Self::CycleFinished { pod, outcome: Outcome::Gated } => words![pod, " is not tried: it is gated"],
            Self::CycleFinished { pod, outcome } => words!["the attempt for ", pod, format!(" ended: {outcome}")],
        }
    }
}

/// Returns an action of the cluster's scheduler, whose words are kept as text, with the name of its pod in them.
fn logged(before: &str, event: &LoggedEvent) -> Words {
    match event.words.split_once(&event.pod.to_string()) {
        Some((first, rest)) => words![format!("{before}{first}"), &event.pod, rest],
        None => format!("{before}{}", event.words).into(),
    }
}

fn queue_move(pod: &Key, to: &Place, cause: MoveCause, plugin: Option<PluginName>) -> Words {
    let text = at_place(pod, to);
    if !matches!(to, Place::Active | Place::Backoff { .. } | Place::Unschedulable { .. }) {
        return text;
    }
    text.text(match plugin {
        Some(plugin) => format!(" ({cause}, which may help {plugin})"),
        None if cause == MoveCause::Label(EventLabel::ScheduleAttemptFailure) => " (attempt failed)".to_owned(),
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
    let violations: String = victim.violates().iter().map(|violation| format!(", violates {}", violation.budget)).collect();
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
