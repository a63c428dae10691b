//! Rebuilds the objects as they were at each attempt of the scheduler, and decides on them.
//!
//! A dump shows the objects at one moment. The log says which pods were bound, nominated, evicted and deleted before and
//! after it, so the pods of an earlier or later moment are known. Changes of other objects are not in the log, or
//! only as a line that something changed: these are [`Gap`]s, and explain a difference.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::LogReport;
use crate::analysis::agreement::{MatchKind, SchedulerComparer, SchedulerMatch};
use crate::cluster::{Cluster, Condition, Key, Kind, List, Object, ObservedEvent, Pod, Str};
use crate::framework::{PodInfo, node_steps};
use crate::limits::engine::RUN_STEPS_OF_ATTEMPT;
use crate::limits::sessions::LOG_RELEASES_OBJECTS;
use crate::plural::{count, count_of};
use crate::scheduler::{Operation, Scheduler, StepBound};
use crate::scheduler_log::{Attempt, Cause, Name, Outcome, Seen, Sight, Stamp};
use crate::trace::{self, CycleView, PreemptionView};

/// The relation of our decision to an attempt of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display)]
#[strum(serialize_all = "camelCase")]
pub enum AttemptMatch {
    /// The same message, or a node with the best score, and the same preemption.
    Agrees,
    /// They differ, and something is known that explains it.
    Explained,
    /// They differ, and nothing is known that explains it.
    Differs,
}

impl AttemptMatch {
    /// Returns the kind in words, for a number of attempts.
    pub fn words(self, attempts: usize) -> &'static str {
        match self {
            Self::Agrees if attempts == 1 => "agrees",
            Self::Agrees => "agree",
            Self::Explained => "explained",
            Self::Differs if attempts == 1 => "differs",
            Self::Differs => "differ",
        }
    }
}

/// Steps of a decision on a node that take about as long as loading it.
const STEPS_OF_LOADING: u64 = 20;

/// Something about the moment of an attempt that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gap {
    /// Pods that the log shows on nodes and the dump does not have.
    PodsNotInDump(usize),
    /// Nodes that came, went or changed between the attempt and the dump.
    NodesChanged(usize),
    /// Victims that were being evicted; at this verbosity the log does not say when they were gone.
    VictimsLeaving(usize),
    /// Claims of pods that were bound between the attempt and the dump.
    ClaimsBound(usize),
    /// The log does not say in which order the attempts ran.
    BeginNotLogged,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PodsNotInDump(1) => f.write_str("1 pod on a node is not in the dump"),
            Self::PodsNotInDump(pods) => write!(f, "{pods} pods on nodes are not in the dump"),
            Self::NodesChanged(nodes) => {
                write!(f, "{} added, deleted or changed between this attempt and the dump", count_of(*nodes, "node was", "nodes were"))
            }
            Self::VictimsLeaving(pods) => {
                write!(f, "{} being evicted", if *pods == 1 { "1 pod was".to_owned() } else { format!("{pods} pods were") })
            }
            Self::ClaimsBound(pods) => write!(f, "claims of {} were bound between this attempt and the dump", count(*pods, "pod")),
            Self::BeginNotLogged => f.write_str("the log does not show when the attempt began"),
        }
    }
}

/// Our decision beside an attempt of the scheduler, on the objects of its moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedAttempt {
    /// The relation of the two.
    pub kind: AttemptMatch,
    /// Our decision and the differences, in words.
    pub words: String,
    /// The gaps in what is known of the moment.
    pub gaps: Vec<Gap>,
}

/// The objects at an attempt.
#[derive(Clone, Debug)]
pub struct Moment {
    cluster: Cluster,
    /// The number of changes of pods that lead here; see [`Replay::touched`].
    changes: usize,
    /// Our decision; `None` for a pod that the dump does not have, and for an attempt whose end is not logged.
    pub comparison: Option<ComparedAttempt>,
}

/// A fact that the log tells about an object of the dump.
#[derive(Debug)]
enum Fact {
    /// A pod was bound.
    Bound(Key, Str),
    /// A pod was nominated to a node.
    Nominated(Key, Str),
    /// A pod is being evicted.
    Leaving(Key),
    /// A pod is gone.
    Gone(Key),
    /// A pod that is on a node in the dump came to be.
    Appears(Box<Pod>),
    /// A pod that the dump does not have is on a node.
    Unknown(Name),
    /// That pod is gone.
    UnknownGone(Name),
}

/// The facts of a log, and the pods that they are about.
#[derive(Default)]
struct Gathered {
    facts: Vec<(Stamp, Fact)>,
    bound: BTreeSet<Key>,
    nominated: BTreeSet<Key>,
    victims: BTreeSet<Key>,
    /// Pods that the log shows on nodes.
    on_nodes: BTreeSet<Name>,
}

impl Gathered {
    /// Returns a pod of the dump before these facts, and whether they changed it.
    fn before(&self, pod: &Pod) -> (Pod, bool) {
        let (key, mut then, mut changed) = (pod.key(), pod.clone(), false);
        if self.bound.contains(&key) && !pod.node_name.is_empty() {
            then = unbound(&then);
            changed = true;
        }
        if self.nominated.contains(&key) && !then.status.nominated_node_name.is_empty() {
            then.status.nominated_node_name = Str::default();
            changed = true;
        }
        if self.victims.contains(&key) && then.is_terminating() {
            then.metadata.deletion_timestamp = None;
            then.status.conditions = then.status.conditions.iter().filter(|c| c.kind != "DisruptionTarget").cloned().collect();
            changed = true;
        }
        (then, changed)
    }
}

/// Goes through the attempts of a log in their order; see the module's documentation.
#[derive(Debug)]
pub struct Replay<'a> {
    report: &'a LogReport<'a>,
    dump: Cluster,
    scheduler: Scheduler,
    /// The facts that are still to come, oldest first.
    facts: VecDeque<(Stamp, Fact)>,
    /// When the dump was taken.
    taken: Option<Stamp>,
    /// Facts about nodes, oldest first.
    nodes: Vec<(Stamp, Name)>,
    unknown: BTreeSet<Name>,
    leaving: BTreeSet<Key>,
    /// Pods with claims that the log binds, with the time.
    claimants: Vec<Stamp>,
    /// The log says when pods on nodes were gone.
    tells_gone: bool,
    /// The operations from the dump to the first attempt.
    opening: Vec<Operation>,
    /// The pod of each change so far.
    touched: Vec<Key>,
    /// Objects that schedulers of other releases may still load.
    objects_to_load: Cell<usize>,
}

impl<'a> Replay<'a> {
    /// Prepares the moments of a log. `scheduler` has the objects of a dump that was taken at `taken`.
    pub fn new(report: &'a LogReport<'a>, scheduler: &Scheduler, taken: Option<Timestamp>) -> Self {
        let process = report.process();
        let taken = taken.filter(|_| process.clock.year).map(|time| process.clock.stamp(time));
        let mut replay = Self {
            report,
            dump: scheduler.state().cluster().clone(),
            scheduler: scheduler.clone(),
            facts: VecDeque::new(),
            taken,
            nodes: Vec::new(),
            unknown: BTreeSet::new(),
            leaving: BTreeSet::new(),
            claimants: Vec::new(),
            tells_gone: false,
            opening: Vec::new(),
            touched: Vec::new(),
            objects_to_load: Cell::new(LOG_RELEASES_OBJECTS),
        };
        replay.gather();
        replay
    }

    fn ours(&self) -> u16 {
        u16::try_from(self.report.process).unwrap_or(u16::MAX)
    }

    /// Gathers the facts, and takes back those that came after the first attempt.
    fn gather(&mut self) {
        let (log, ours) = (self.report.log, self.ours());
        let Some(first) = self.attempts().map(|attempt| attempt.at).min() else { return };
        self.tells_gone = log.sights.iter().any(|seen| seen.process == ours && seen.sight == Sight::PodOffNode);
        let mut gathered = Gathered::default();
        for attempt in self.attempts() {
            self.gather_attempt(attempt, &mut gathered);
        }
        for seen in log.sights.iter().filter(|seen| seen.process == ours) {
            self.gather_sight(seen, first, &mut gathered);
        }
        for change in log.changes.iter().filter(|change| change.process == ours && change.cause == Cause::Deleted) {
            if let Some(pod) = self.in_dump(change.pod).filter(|pod| !gathered.bound.contains(pod)) {
                gathered.facts.push((change.at, Fact::Gone(pod)));
            }
        }
        self.take_back(first, &mut gathered);
        gathered.facts.sort_by_key(|(at, _)| *at);
        self.facts = gathered.facts.into();
    }

    /// Returns the attempts of this process.
    fn attempts(&self) -> impl Iterator<Item = &'a Attempt> + use<'a> {
        let ours = self.ours();
        self.report.log.attempts.iter().filter(move |attempt| attempt.process == ours)
    }

    /// Returns a pod that the dump has.
    fn in_dump(&self, pod: Name) -> Option<Key> {
        self.report.key(pod).filter(|pod| self.dump.pods.get(pod).is_some())
    }

    /// Gathers what an attempt says about pods of the dump and others. A pod is assumed on its node from its attempt on.
    fn gather_attempt(&mut self, attempt: &Attempt, gathered: &mut Gathered) {
        let names = &self.report.log.names;
        let Some(pod) = self.report.key(attempt.pod) else { return };
        let just_after = attempt.at.after();
        match attempt.outcome {
            Outcome::Scheduled => {
                gathered.bound.insert(pod.clone());
                match self.dump.pods.get(&pod) {
                    Some(known) => {
                        if has_claims(known) {
                            self.claimants.push(attempt.end.unwrap_or(attempt.at));
                        }
                        gathered.facts.push((just_after, Fact::Bound(pod, names.text(attempt.node).into())));
                    }
                    None => gathered.facts.push((just_after, Fact::Unknown(attempt.pod))),
                }
                gathered.on_nodes.insert(attempt.pod);
            }
            Outcome::Unschedulable | Outcome::Error => {
                let node = if attempt.nominated.is_empty() { attempt.preemption_node } else { attempt.nominated };
                if !node.is_empty() && self.dump.pods.get(&pod).is_some() {
                    gathered.nominated.insert(pod.clone());
                    gathered.facts.push((just_after, Fact::Nominated(pod, names.text(node).into())));
                }
            }
            Outcome::Unfinished => {}
        }
        for victim in &attempt.victims {
            if let Some(victim) = self.in_dump(*victim) {
                gathered.victims.insert(victim.clone());
                gathered.facts.push((just_after, Fact::Leaving(victim)));
                continue;
            }
            // It was there before the log begins, or a later line shows it.
            self.unknown.insert(*victim);
            if !self.tells_gone {
                gathered.facts.push((just_after, Fact::UnknownGone(*victim)));
            }
        }
    }

    /// Gathers what the scheduler saw of a node or a pod. `first` is the time of the first attempt.
    fn gather_sight(&mut self, seen: &Seen, first: Stamp, gathered: &mut Gathered) {
        match seen.sight {
            // Lines before the first attempt are of the list at the start.
            Sight::Node if seen.at > first => self.nodes.push((seen.at, seen.name)),
            Sight::Node => {}
            Sight::PodOnNode => {
                let is_unknown = self.report.key(seen.name).is_some_and(|pod| self.dump.pods.get(&pod).is_none());
                if is_unknown && gathered.on_nodes.insert(seen.name) {
                    self.unknown.remove(&seen.name);
                    gathered.facts.push((seen.at, Fact::Unknown(seen.name)));
                }
            }
            Sight::PodOffNode => {
                let Some(pod) = self.report.key(seen.name) else { return };
                let known = self.dump.pods.get(&pod).is_some();
                gathered.facts.push((seen.at, if known { Fact::Gone(pod) } else { Fact::UnknownGone(seen.name) }));
            }
        }
    }

    /// Takes the facts back from the pods of the dump: the opening leads to the pods as they were at the first attempt.
    fn take_back(&mut self, first: Stamp, gathered: &mut Gathered) {
        let clock = self.report.process().clock;
        for pod in self.dump.pods.iter() {
            let created = pod.metadata.creation_timestamp.filter(|_| clock.year).map(|time| clock.stamp(time));
            let (then, changed) = gathered.before(pod);
            // Another one bound it, after the first attempt.
            let appears = !then.node_name.is_empty() && created.is_some_and(|created| created > first);
            if let Some(created) = created.filter(|_| appears) {
                self.opening.push(Operation::Delete { object: Object::Pod(Arc::clone(pod)) });
                gathered.facts.push((created, Fact::Appears(Box::new(then))));
            } else if changed {
                self.opening.push(Operation::Update { object: Object::Pod(Arc::new(then)) });
            }
        }
    }

    /// Returns how many of the newest of some attempts, which come oldest first, are compared within the bound on steps.
    pub(super) fn comparable<'l>(&self, attempts: impl DoubleEndedIterator<Item = &'l Attempt>) -> usize {
        let (mut left, snapshot) = (StepBound::allowance(&self.scheduler), self.scheduler.state().snapshot());
        let emulation = self.scheduler.state().config().emulation;
        let mut known: HashMap<Name, u64> = HashMap::new();
        let steps_of = |pod: &Arc<Pod>| node_steps(&PodInfo::with_emulation(pod.clone(), emulation), &snapshot);
        let is_left = |attempt: &&Attempt| {
            let of_node = *known.entry(attempt.pod).or_insert_with(|| {
                let pod = self.report.key(attempt.pod);
                pod.and_then(|pod| self.dump.pods.get(&pod)).map_or(0, steps_of)
            });
            left = left.saturating_sub(of_node.saturating_mul(snapshot.len() as u64).saturating_mul(RUN_STEPS_OF_ATTEMPT));
            left > 0
        };
        attempts.rev().take_while(is_left).count()
    }

    /// Goes to an attempt, which must not begin before the last one, and decides there if asked to.
    pub fn at(&mut self, attempt: &Attempt, decide: bool) -> Moment {
        self.until(attempt.at);
        let comparison = if decide { self.compare_attempt(attempt) } else { None };
        Moment { cluster: self.scheduler.state().cluster().clone(), changes: self.touched.len(), comparison }
    }

    /// Goes to a time, which must not be before the last one.
    pub(super) fn until(&mut self, until: Stamp) {
        for operation in std::mem::take(&mut self.opening) {
            self.apply(operation);
        }
        while self.facts.front().is_some_and(|(at, _)| *at <= until) {
            let Some((_, fact)) = self.facts.pop_front() else { break };
            if let Some(operation) = self.operation(fact) {
                self.apply(operation);
            }
        }
    }

    /// Returns the scheduler with the objects of the moment.
    pub(super) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    fn apply(&mut self, operation: Operation) {
        if let Operation::Create { object } | Operation::Update { object } | Operation::Delete { object } = &operation {
            self.touched.push(object.key());
        }
        self.scheduler.apply(operation);
    }

    /// Returns the operations that lead from one moment to another one, before or after it; `None` is the dump.
    pub fn between(&self, from: Option<&Moment>, to: &Moment) -> Vec<Operation> {
        let (before, first) = from.map_or((&self.dump, 0), |from| (&from.cluster, from.changes));
        let range = first.min(to.changes)..first.max(to.changes);
        let pods: BTreeSet<&Key> = self.touched.get(range).unwrap_or_default().iter().collect();
        let operation = |pod: &&Key| match (before.get(Kind::Pod, pod), to.cluster.get(Kind::Pod, pod)) {
            (None, Some(object)) => Some(Operation::Create { object }),
            (Some(old), Some(object)) => (old != object).then_some(Operation::Update { object }),
            (Some(object), None) => Some(Operation::Delete { object }),
            (None, None) => None,
        };
        pods.iter().filter_map(operation).collect()
    }

    /// Returns what a fact changes of the objects.
    fn operation(&mut self, fact: Fact) -> Option<Operation> {
        let cluster = self.scheduler.state().cluster();
        let change = |pod: &Key, change: &dyn Fn(&mut Pod)| {
            let mut pod = (**cluster.pods.get(pod)?).clone();
            change(&mut pod);
            Some(Operation::Update { object: Object::Pod(Arc::new(pod)) })
        };
        match fact {
            Fact::Bound(pod, node) => {
                // A pod of the same name may have been deleted before.
                let known = cluster.pods.get(&pod).or_else(|| self.dump.pods.get(&pod))?;
                let mut bound = unbound(known);
                bound.node_name = node;
                bound.status.nominated_node_name = Str::default();
                Some(Operation::put(cluster, Object::Pod(Arc::new(bound))))
            }
            Fact::Nominated(pod, node) => change(&pod, &|pod| pod.status.nominated_node_name = node.clone()),
            Fact::Leaving(pod) => {
                let now = self.scheduler.state().clock();
                self.leaving.insert(pod.clone());
                change(&pod, &|pod| {
                    pod.metadata.deletion_timestamp = Some(now);
                    // Releases without it do not read it.
                    let evicted = Condition {
                        kind: "DisruptionTarget".into(),
                        status: "True".into(),
                        reason: "PreemptionByScheduler".into(),
                        ..Condition::default()
                    };
                    let others = pod.status.conditions.iter().filter(|condition| condition.kind != "DisruptionTarget").cloned();
                    pod.status.conditions = others.chain([evicted]).collect();
                })
            }
            Fact::Gone(pod) => {
                self.leaving.remove(&pod);
                let pod = cluster.pods.get(&pod)?;
                Some(Operation::Delete { object: Object::Pod(Arc::clone(pod)) })
            }
            Fact::Appears(pod) => Some(Operation::Create { object: Object::Pod(Arc::new(*pod)) }),
            Fact::Unknown(pod) => {
                self.unknown.insert(pod);
                None
            }
            Fact::UnknownGone(pod) => {
                self.unknown.remove(&pod);
                None
            }
        }
    }

    /// Returns what is not known about the moment of an attempt.
    fn gaps(&self, attempt: &Attempt, pod: &Pod) -> Vec<Gap> {
        let between = |at: Stamp| self.taken.is_none_or(|taken| (at > attempt.at) == (at <= taken));
        let nodes: BTreeSet<Name> = self.nodes.iter().filter(|(at, _)| between(*at)).map(|(_, node)| *node).collect();
        let claimants = if has_claims(pod) { self.claimants.iter().filter(|at| between(**at)).count() } else { 0 };
        let leaving = if self.tells_gone { 0 } else { self.leaving.len() };
        let mut gaps = Vec::new();
        gaps.extend((!self.unknown.is_empty()).then_some(Gap::PodsNotInDump(self.unknown.len())));
        gaps.extend((!nodes.is_empty()).then_some(Gap::NodesChanged(nodes.len())));
        gaps.extend((leaving > 0).then_some(Gap::VictimsLeaving(leaving)));
        gaps.extend((claimants > 0).then_some(Gap::ClaimsBound(claimants)));
        gaps.extend((!attempt.begin_logged).then_some(Gap::BeginNotLogged));
        gaps
    }

    fn compare_attempt(&self, attempt: &Attempt) -> Option<ComparedAttempt> {
        let key = self.report.key(attempt.pod)?;
        let pod = self.scheduler.state().cluster().pods.get(&key).filter(|pod| pod.is_pending())?;
        let view = CycleView::of(&self.scheduler.explain(pod));
        let gaps = self.gaps(attempt, pod);
        let (mut kind, mut words) = match attempt.outcome {
            Outcome::Unfinished => return None,
            Outcome::Scheduled => self.bound(attempt, &view),
            Outcome::Unschedulable | Outcome::Error => self.failed(attempt, pod, &view)?,
        };
        if kind == AttemptMatch::Differs && !gaps.is_empty() {
            kind = AttemptMatch::Explained;
        }
        if kind == AttemptMatch::Explained {
            let why: Vec<String> = gaps.iter().map(ToString::to_string).collect();
            if !why.is_empty() {
                words = format!("{words} Explained: {}.", why.join("; "));
            }
        }
        Some(ComparedAttempt { kind, words, gaps })
    }

    /// Compares with an attempt that bound its pod.
    fn bound(&self, attempt: &Attempt, view: &CycleView) -> (AttemptMatch, String) {
        let node = self.report.log.names.text(attempt.node);
        let here = crate::analysis::why::why(view);
        match (&view.scoring.selected, view.outcome) {
            (Some((ours, _, ties)), Some(trace::Outcome::Scheduled)) if *ours == *node || ties.iter().any(|tie| *tie == *node) => {
                let of = if ties.len() > 1 { format!(", one of {} with equal scores", count(ties.len(), "node")) } else { String::new() };
                (AttemptMatch::Agrees, format!("agrees: it fits on {node}{of}."))
            }
            _ => (AttemptMatch::Differs, format!("differs: the scheduler bound it to {node}; schedscope says {here}")),
        }
    }

    /// Compares with an attempt that failed.
    fn failed(&self, attempt: &Attempt, pod: &Arc<Pod>, view: &CycleView) -> Option<(AttemptMatch, String)> {
        let log = self.report.log;
        let mut then = (**pod).clone();
        then.status.conditions = List::default();
        let mut events = vec![self.report.said(&pod.key(), attempt)?];
        let node = if attempt.nominated.is_empty() { attempt.preemption_node } else { attempt.nominated };
        then.status.nominated_node_name = log.names.text(node).into();
        for victim in attempt.victims.iter().filter_map(|victim| self.report.key(*victim)) {
            let by = if pod.metadata.uid.is_empty() { pod.key().to_string() } else { pod.metadata.uid.to_string() };
            let note = format!("Preempted by pod {by} on node {}", log.names.text(attempt.preemption_node));
            let uid = self.scheduler.state().cluster().pods.get(&victim).map(|pod| pod.metadata.uid.to_string()).unwrap_or_default();
            events.push(ObservedEvent { pod: victim, uid: uid.as_str().into(), reason: "Preempted".into(), note, ..events[0].clone() });
        }
        // The log shows the node of a preemption from -v=2 on.
        let silent = then.status.nominated_node_name.is_empty() && self.report.process().verbosity().is_none_or(|level| level < 2);
        let comparer = SchedulerComparer::new(&self.scheduler, &events);
        let tries_releases = self.objects_to_load.get() > 0;
        let comparer = if tries_releases { comparer } else { comparer.of_this_release() };
        let found = comparer.compare(&then, view);
        // A decision that takes many steps on a node is as much work as loading it again.
        let steps = node_steps(
            &PodInfo::with_emulation(pod.clone(), self.scheduler.state().config().emulation),
            &self.scheduler.state().snapshot(),
        );
        let times = usize::try_from(steps / STEPS_OF_LOADING).unwrap_or(usize::MAX).max(1);
        self.objects_to_load.set(self.objects_to_load.get().saturating_sub(comparer.objects_loaded().saturating_mul(times)));
        let preempts = view.preemption.as_ref().and_then(PreemptionView::selected).is_some();
        // The message agrees, and the log has no line about preemptions.
        let (kind, words) = judge(&found, |found| silent && preempts && found.message == log.names.text(attempt.message))?;
        let words = match kind {
            AttemptMatch::Agrees => format!("agrees {words}"),
            AttemptMatch::Differs if !tries_releases => format!("differs: {words} Whether another release decides so was not tried."),
            AttemptMatch::Explained | AttemptMatch::Differs => format!("differs: {words}"),
        };
        Some((kind, words))
    }
}

/// Returns the relation of a comparison with a failed attempt, and its words; `None` if there is none. A difference without a known
/// cause is none if `is_silent` holds.
pub(in crate::analysis) fn judge(found: &SchedulerMatch, is_silent: impl Fn(&SchedulerMatch) -> bool) -> Option<(AttemptMatch, String)> {
    let kind = match found.accord {
        MatchKind::Same => AttemptMatch::Agrees,
        MatchKind::OtherRelease | MatchKind::ChangedSince => AttemptMatch::Explained,
        MatchKind::Unexplained if is_silent(found) => AttemptMatch::Agrees,
        MatchKind::Unexplained => AttemptMatch::Differs,
        MatchKind::SchedulerError | MatchKind::Binding | MatchKind::Undecided | MatchKind::Unwritten | MatchKind::NotOurs => {
            return None;
        }
    };
    let words = match kind {
        AttemptMatch::Agrees if found.other_words.is_empty() => "exactly.".to_owned(),
        AttemptMatch::Agrees => format!("in different words: {}.", found.other_words.join("; ")),
        AttemptMatch::Explained | AttemptMatch::Differs => {
            let since = if found.since.is_empty() { String::new() } else { format!(" Changed since: {}.", found.since.join("; ")) };
            let release = found.decided_by.as_ref();
            let release = release.map_or_else(String::new, |release| format!(" kube-scheduler {release} agrees with the log."));
            let untried = match found.untried {
                0 => String::new(),
                number => format!(" Whether {} so was not tried.", count_of(number, "other release decides", "other releases decide")),
            };
            format!("{}.{since}{release}{untried}", found.differences.join("; "))
        }
    };
    Some((kind, words))
}

/// Returns a pod as it was before it was bound.
fn unbound(pod: &Pod) -> Pod {
    let mut then = pod.clone();
    then.node_name = Str::default();
    then.status.phase = "Pending".into();
    then.status.start_time = None;
    then.status.container_statuses = List::default();
    then.status.init_container_statuses = List::default();
    then
}

fn has_claims(pod: &Pod) -> bool {
    let of_volume = pod.spec.volumes.iter().any(|volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some());
    of_volume || !pod.spec.resource_claims.is_empty()
}

#[cfg(test)]
mod tests;
