//! The result of reading a log: processes, attempts, and where each pod was at any time.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::dump::Dump;
use super::finding::Finding;
use super::names::{Name, Names};
use super::time::{Clock, Stamp};

/// How an attempt to schedule a pod ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Outcome {
    /// The pod was bound.
    Scheduled,
    /// No node was found.
    Unschedulable,
    /// It ended in an error.
    Error,
    /// The log lacks its end.
    Unfinished,
}

/// Where a pod is, as far as the log shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "camelCase")]
pub enum Place {
    /// activeQ.
    Active,
    /// backoffQ.
    Backoff,
    /// unschedulablePods, gated pods included.
    Unschedulable,
    /// In an attempt, or being bound.
    InFlight,
    /// In an attempt, waiting on Permit.
    WaitingOnPermit,
    /// Pending, in an unknown queue.
    Unplaced,
    /// Bound, deleted, or dropped by the scheduler.
    Gone,
}

/// Why a pod's place changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The scheduler saw the pod for the first time.
    Added,
    /// An event moved it; the event's label.
    Moved(Name),
    /// An attempt began.
    Popped,
    /// An attempt ended; where the pod went is not yet known.
    Failed,
    /// A PreEnqueue plugin keeps it out of the other queues.
    Gated,
    /// It waits on Permit, or stopped waiting.
    Permit,
    /// It was bound.
    Bound,
    /// It was deleted.
    Deleted,
    /// It was skipped, or not requeued.
    Dropped,
    /// A dump of the queues shows it there.
    Dumped,
}

/// One change of a pod's place.
#[derive(Clone, Debug)]
pub struct Change {
    /// When.
    pub at: Stamp,
    /// The process, as an index in [`SchedulerLog::processes`].
    pub process: u16,
    /// The pod, as `namespace/name`.
    pub pod: Name,
    /// The pod's new place.
    pub place: Place,
    /// Why.
    pub cause: Cause,
    /// The plugins that rejected it last, as an index in [`SchedulerLog::plugin_sets`].
    pub plugins: u32,
    /// The PreEnqueue plugin that gates it; empty for none.
    pub gated_by: Name,
    /// When its backoff ends, as calculated; `None` if the log lacks what the calculation needs.
    pub expires: Option<Stamp>,
}

/// The place of a pod after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requeued {
    /// The queue.
    pub place: Place,
    /// The plugins that rejected it, as an index in [`SchedulerLog::plugin_sets`]; `None` if the log does not say.
    pub plugins: Option<u32>,
}

/// Total scores of an attempt's nodes, if the log has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scores {
    /// The number of nodes with a total.
    pub nodes: u32,
    /// The best total.
    pub best: i64,
    /// The first nodes with the best total, in the order of the log.
    pub tied: Vec<Name>,
    /// The number of nodes with the best total.
    pub ties: u32,
}

/// One attempt of the scheduler to schedule a pod.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The process, as an index in [`SchedulerLog::processes`].
    pub process: u16,
    /// When it began, or when it ended if the log lacks its start.
    pub at: Stamp,
    /// Whether `at` is the start.
    pub begin_logged: bool,
    /// When it ended; `None` if the log lacks its end.
    pub end: Option<Stamp>,
    /// The pod, as `namespace/name`.
    pub pod: Name,
    /// How it ended.
    pub outcome: Outcome,
    /// The node that it was, or was to be, bound to; empty for none.
    pub node: Name,
    /// The scheduler's message; empty for none.
    pub message: Name,
    /// The node that the pod is nominated to; empty for none.
    pub nominated: Name,
    /// The node that preemption chose; empty for none.
    pub preemption_node: Name,
    /// The victims of its preemption.
    pub victims: Vec<Name>,
    /// Where the pod was put afterwards; `None` if the log does not say.
    pub requeued: Option<Requeued>,
    /// The numbers of evaluated and of feasible nodes, for a pod that was bound.
    pub nodes: Option<(u32, u32)>,
    /// Total scores.
    pub scores: Option<Box<Scores>>,
}

/// Whether a process holds the lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leadership {
    /// The log does not say.
    #[default]
    Unknown,
    /// It waits for the lease.
    Waits,
    /// It got the lease.
    Leads,
    /// It lost the lease.
    Lost,
}

/// One run of a kube-scheduler process, from its start or from the start of the log.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// The writer of its lines, by their prefix or file.
    pub source: Arc<str>,
    /// The process id, if the log has one.
    pub pid: Option<u32>,
    /// Whether the log holds its start.
    pub started: bool,
    /// The stamp of its first line.
    pub from: Stamp,
    /// The stamp of its last line.
    pub to: Stamp,
    /// How its stamps relate to UTC.
    pub clock: Clock,
    /// The version that it logged.
    pub version: Option<String>,
    /// Whether it holds the lease.
    pub leadership: Leadership,
    pub flags: BTreeMap<String, String>,
    /// Its configuration, as YAML.
    pub configuration: Option<String>,
    /// Its plugins by extension point, as JSON, for each profile.
    pub plugins: Vec<String>,
    /// Its extenders, as it printed them.
    pub extenders: Vec<String>,
    /// Lines of it may be missing: a file that has some, or may have, was not read whole.
    pub in_part: bool,
    /// The files with its lines.
    pub(super) files: Vec<Arc<str>>,
    /// The number of its attempts.
    pub attempts: usize,
    /// The number of pods that were added to its queue.
    pub(super) added: usize,
    pub(super) evidence: Evidence,
    /// When it last dumped its queues.
    pub(super) dumped: Option<Stamp>,
}

/// Facts about a process's verbosity that its lines prove.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// The highest verbosity that any of its lines needs.
    pub(super) verbosity: u8,
    /// Moves caused by events are logged.
    pub(super) moves: bool,
    /// The places of pods after failed attempts are logged.
    pub(super) requeues: bool,
    /// Scores are logged.
    pub(super) scores: bool,
}

/// A kind of fact that a log may hold in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "camelCase")]
pub enum Fact {
    /// Every attempt that ended.
    Attempts,
    /// The place of each pod after a failed attempt.
    Requeues,
    /// Every move between queues.
    Moves,
    /// The place of every pending pod.
    Queues,
    /// Scores of nodes.
    Scores,
}

impl Process {
    /// Returns the verbosity that its lines prove, or that of its flags if it saw no pods; `None` if neither is known.
    pub fn verbosity(&self) -> Option<u8> {
        let idle = self.attempts == 0 && self.added == 0;
        let flag = self.flags.get("v").and_then(|v| v.parse().ok()).filter(|_| idle);
        flag.or((self.evidence.verbosity > 0).then_some(self.evidence.verbosity))
    }

    /// Returns the facts that the log holds in full, in the order of [`Fact`].
    pub fn complete(&self) -> Vec<Fact> {
        if self.in_part {
            return Vec::new();
        }
        let level = self.verbosity().unwrap_or(0);
        let rows = [
            (Fact::Attempts, level >= 2),
            // Moves include requeues.
            (Fact::Requeues, self.evidence.requeues && !self.tells_moves()),
            (Fact::Moves, self.tells_moves()),
            (Fact::Queues, self.tells_moves() && (self.started || self.dumped.is_some())),
            (Fact::Scores, self.evidence.scores),
        ];
        rows.into_iter().filter(|(_, complete)| *complete).map(|(fact, _)| fact).collect()
    }

    fn tells_moves(&self) -> bool {
        let idle = self.attempts == 0 && self.added == 0;
        self.evidence.moves || idle && self.verbosity().is_some_and(|v| v >= 5)
    }

    /// Returns the feature gates set by its flags.
    pub fn feature_gates(&self) -> BTreeMap<String, bool> {
        let text = self.flags.get("feature-gates").map_or("", String::as_str);
        // Newer releases write the component first: `kube:A=true` or `:A=true`.
        let pairs = text.split(',').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter_map(|(name, on)| Some((name.rsplit(':').next()?.to_owned(), on.parse().ok()?))).collect()
    }
}

/// How certain the queues are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// Every pending pod is in the queue that lists it.
    Exact,
    /// The log lacks the start: pods that did not move since are missing.
    SinceBegin,
    /// Moves are not logged: a pod in unschedulablePods was put there last, but may have moved since.
    ParkedOrMovedSince,
    /// Lines are missing: any pod may have moved or gone since, and others may be pending.
    InPart,
    /// The log has no lines about queues.
    #[default]
    Unknown,
}

/// A pod in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedPod {
    /// The pod, as `namespace/name`.
    pub pod: Name,
    /// Since when it is there.
    pub since: Stamp,
    /// The plugins that rejected it last, as an index in [`SchedulerLog::plugin_sets`].
    pub plugins: u32,
    /// The PreEnqueue plugin that gates it; empty for none.
    pub gated_by: Name,
    /// When its backoff ends, as calculated.
    pub expires: Option<Stamp>,
}

/// The queues at a time; `None` is unknown. Pods are in the order in which they entered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// How certain the lists are.
    pub certainty: Certainty,
    /// activeQ.
    pub active: Option<Vec<QueuedPod>>,
    /// backoffQ.
    pub backoff: Option<Vec<QueuedPod>>,
    /// unschedulablePods.
    pub unschedulable: Option<Vec<QueuedPod>>,
    /// Pods in an attempt or being bound.
    pub in_flight: Option<Vec<QueuedPod>>,
    /// Pods that wait on Permit.
    pub waiting_on_permit: Option<Vec<QueuedPod>>,
    /// Pending pods whose queue is unknown.
    pub unplaced: Vec<QueuedPod>,
}

/// A kind of change of an object outside the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// A pod on a node was seen.
    PodOnNode,
    /// A pod on a node was deleted.
    PodOffNode,
    /// A node came, went or changed.
    Node,
}

/// A change of an object outside the queues, as the scheduler saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub at: Stamp,
    /// The process, as an index in [`SchedulerLog::processes`].
    pub process: u16,
    /// What.
    pub sight: Sight,
    /// The pod, as `namespace/name`, or the node.
    pub name: Name,
}

/// The content of one or more logs.
#[derive(Clone, Debug, Default)]
pub struct SchedulerLog {
    /// Names of pods, nodes, plugins, events, and messages.
    pub names: Names,
    /// Sets of plugins; the first is empty.
    pub plugin_sets: Vec<Vec<Name>>,
    /// The processes, in the order of their first lines.
    pub processes: Vec<Process>,
    /// The attempts, in the order of the log.
    pub attempts: Vec<Attempt>,
    /// Changes of place, in the order of the log.
    pub changes: Vec<Change>,
    /// Changes of nodes and of pods on nodes, in the order of the log.
    pub sights: Vec<Seen>,
    /// SIGUSR2 dumps of queues, in the order of the log.
    pub dumps: Vec<Dump>,
    /// Lengths of the queues in saved metrics (`scheduler_pending_pods`), by the queue's label.
    pub pending_pods: BTreeMap<String, u64>,
    /// Remarks about the log itself.
    pub findings: Vec<Finding>,
    /// The number of findings beyond those kept.
    pub more_findings: usize,
    /// The number of lines read, of the scheduler or not.
    pub lines: u64,
    /// The number of lines with a known message.
    pub understood: u64,
}

impl SchedulerLog {
    /// Returns whether lines of a scheduler may be missing.
    pub fn is_in_part(&self) -> bool {
        self.processes.iter().any(|process| process.in_part)
    }

    /// Returns whether the log holds nothing of kube-scheduler.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty() && self.pending_pods.is_empty()
    }

    /// Returns the process whose queues count at a time, or at the end: the one with the last attempt, or else the last
    /// one that leads, or else the last one.
    pub fn leading(&self, at: Option<Stamp>) -> Option<usize> {
        let until = at.unwrap_or(Stamp(i64::MAX));
        let last_attempt = self.attempts.iter().rev().find(|attempt| attempt.at <= until).map(|a| usize::from(a.process));
        // A process that started later has queues of its own.
        let later = |index: usize| {
            let known = &self.processes[index];
            let next = |p: &&Process| p.from <= until && p.from >= known.to && p.leadership != Leadership::Waits;
            self.processes.iter().rposition(|p| next(&p)).filter(|found| *found > index).unwrap_or(index)
        };
        last_attempt
            .map(later)
            .or_else(|| self.processes.iter().rposition(|p| p.leadership == Leadership::Leads && p.from <= until))
            .or_else(|| self.processes.iter().rposition(|p| p.from <= until).or_else(|| (!self.processes.is_empty()).then_some(0)))
    }

    /// Returns the queues of a process at a time, or at the end of its lines.
    pub fn queues(&self, process: usize, at: Option<Stamp>) -> Queues {
        let Some(known) = self.processes.get(process) else { return Queues::default() };
        let until = at.unwrap_or(Stamp(i64::MAX));
        let mut places = self.last_places(process, until, known.evidence.requeues);
        let mut take = |place: Place| places.remove(<&'static str>::from(place)).unwrap_or_default();
        let [active, backoff, parked] = [Place::Active, Place::Backoff, Place::Unschedulable].map(&mut take);
        let [flying, waiting, mut unplaced] = [Place::InFlight, Place::WaitingOnPermit, Place::Unplaced].map(&mut take);
        let level = known.verbosity().unwrap_or(0);
        let certainty = match (known.tells_moves(), known.evidence.requeues) {
            _ if known.in_part => Certainty::InPart,
            (true, _) if known.started || known.dumped.is_some_and(|dumped| dumped <= until) => Certainty::Exact,
            (true, _) => Certainty::SinceBegin,
            (false, true) => Certainty::ParkedOrMovedSince,
            (false, false) => Certainty::Unknown,
        };
        // A list that may lack pods is unknown, not empty.
        let some = |list: Vec<QueuedPod>| (certainty == Certainty::Exact || !list.is_empty()).then_some(list);
        let (active, backoff, unschedulable) = match certainty {
            Certainty::Exact | Certainty::SinceBegin => (some(active), some(backoff), some(parked)),
            Certainty::ParkedOrMovedSince => {
                unplaced.extend(active.into_iter().chain(backoff));
                (None, None, (known.started && unplaced.is_empty() || !parked.is_empty()).then_some(parked))
            }
            Certainty::InPart | Certainty::Unknown => {
                unplaced.extend(active.into_iter().chain(backoff).chain(parked));
                (None, None, None)
            }
        };
        unplaced.sort_by_key(|pod| pod.since);
        let whole = known.started && !known.in_part;
        let shown_from = |from: u8, list: Vec<QueuedPod>| (level >= from).then(|| some_or_started(list, whole)).flatten();
        Queues {
            certainty,
            active,
            backoff,
            unschedulable,
            in_flight: shown_from(3, flying),
            waiting_on_permit: shown_from(4, waiting),
            unplaced,
        }
    }

    /// Returns the pods of a process by the place of their last change up to a time. Where the log tells no requeues, a failed pod is
    /// unplaced: it may not say where it went.
    fn last_places(&self, process: usize, until: Stamp, requeues: bool) -> HashMap<&'static str, Vec<QueuedPod>> {
        let mut last: HashMap<Name, usize> = HashMap::new();
        for (number, change) in self.changes.iter().enumerate() {
            if usize::from(change.process) == process && change.at <= until {
                last.insert(change.pod, number);
            }
        }
        let mut numbers: Vec<usize> = last.into_values().collect();
        numbers.sort_unstable();
        let mut places: HashMap<&'static str, Vec<QueuedPod>> = HashMap::new();
        for number in numbers {
            let change = &self.changes[number];
            let pod = QueuedPod {
                pod: change.pod,
                since: change.at,
                plugins: change.plugins,
                gated_by: change.gated_by,
                expires: change.expires,
            };
            let lost = change.cause == Cause::Failed && !requeues;
            places.entry(if lost { Place::Unplaced } else { change.place }.into()).or_default().push(pod);
        }
        places
    }

    /// Returns the names in a set of plugins.
    pub fn plugins(&self, set: u32) -> impl Iterator<Item = &str> {
        self.plugin_sets.get(set as usize).into_iter().flatten().map(|name| self.names.text(*name))
    }
}

/// Returns `None` for an empty list if the start is not in the log: an attempt may have begun before.
fn some_or_started(list: Vec<QueuedPod>, started: bool) -> Option<Vec<QueuedPod>> {
    (started || !list.is_empty()).then_some(list)
}
