//! Folds a log's lines into processes, attempts and changes of place. Mirrors the flow of
//! `pkg/scheduler/schedule_one.go` and `pkg/scheduler/backend/queue`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::dump;
use super::entry::{Entry, Values, set};
use super::finding::{Finding, FindingKind};
use super::message::{Message, inline, known};
use super::names::Name;
use super::story::{Attempt, Cause, Change, Leadership, Outcome, Place, Process, Requeued, SchedulerLog, Scores, Seen, Sight};
use super::time::{Clock, Stamp};
use crate::limits::sources::{LOG_EVENTS, LOG_FINDINGS};

/// The maximal number of nodes with the best total kept per attempt.
const MAX_TIED: usize = 64;

/// Microseconds; a clock that goes back by less comes from two threads that write at once.
const CLOCK_SLACK: i64 = 1_000_000;

/// The state of a pod in one process.
#[derive(Clone, Debug)]
struct Pod {
    place: Place,
    /// Its last attempt, as an index.
    attempt: Option<usize>,
    /// Its last change, as an index.
    change: usize,
    plugins: u32,
    gated_by: Name,
    /// The log holds the pod's first entry into the queue, so the counts below are exact.
    from_first: bool,
    rejections: u32,
    errors: u32,
    expires: Option<Stamp>,
    /// The queue's own line about its place after the attempt came already.
    requeued: bool,
    /// It was deleted during its attempt.
    deleted: bool,
}

impl Default for Pod {
    fn default() -> Self {
        Self {
            place: Place::Unplaced,
            attempt: None,
            change: 0,
            plugins: 0,
            gated_by: Name::default(),
            from_first: false,
            rejections: 0,
            errors: 0,
            expires: None,
            requeued: false,
            deleted: false,
        }
    }
}

/// Lines of a process before its first line that only a scheduler writes.
#[derive(Clone, Debug, Default)]
struct Startup {
    flags: Vec<(String, String)>,
    leadership: Leadership,
}

/// The state of a process while its lines are read.
#[derive(Debug, Default)]
struct Live {
    pods: HashMap<Name, Pod>,
    /// The attempt that is in its scheduling cycle.
    cycle: Option<usize>,
    /// Potential victims of that attempt, by node.
    victims: Vec<(Name, Name)>,
    /// The log has lines of it after the start.
    active: bool,
    /// Initial and maximal backoff in microseconds.
    backoff: Option<(i64, i64)>,
    /// The last dump of the cache, as an index.
    dump: Option<usize>,
}

/// The processes that wrote the lines of one writer.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The current process of each process id.
    processes: HashMap<u32, usize>,
    startups: HashMap<u32, Startup>,
    last: HashMap<u32, Stamp>,
}

/// The place of a line.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) file: Arc<str>,
    pub(super) line: u64,
    /// The writer of the line.
    pub(super) source: Arc<str>,
    pub(super) stamp: Stamp,
    pub(super) clock: Clock,
}

/// The log as read so far, and the state of its processes.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) log: SchedulerLog,
    live: Vec<Live>,
    sets: HashMap<String, u32>,
    /// The same by the names of the plugins.
    sets_of_names: HashMap<Vec<Name>, u32>,
    /// Files of which lines may be missing.
    in_part: HashSet<Arc<str>>,
    /// Lines of any process may be missing.
    all_in_part: bool,
    full: bool,
    /// The maximal number of events of each kind.
    pub(super) most: usize,
}

impl Default for Fold {
    fn default() -> Self {
        Self {
            log: SchedulerLog { plugin_sets: vec![Vec::new()], ..SchedulerLog::default() },
            live: Vec::new(),
            sets: HashMap::new(),
            sets_of_names: HashMap::from([(Vec::new(), 0)]),
            in_part: HashSet::new(),
            all_in_part: false,
            full: false,
            most: LOG_EVENTS,
        }
    }
}

impl Fold {
    pub(super) fn find(&mut self, file: &Arc<str>, line: Option<u64>, kind: FindingKind) {
        match &kind {
            // These may be lines of any process.
            FindingKind::Unopened(_) | FindingKind::TooMany => self.lose_all(),
            kind if kind.loses_lines() && self.in_part.insert(Arc::clone(file)) => {
                let of_file = self.log.processes.iter_mut().filter(|process| process.files.contains(file));
                of_file.for_each(|process| process.in_part = true);
            }
            _ => {}
        }
        if self.log.findings.len() < LOG_FINDINGS {
            self.log.findings.push(Finding { file: Arc::clone(file), line, kind });
        } else {
            self.log.more_findings += 1;
        }
    }

    /// Records that lines of every process may be missing.
    pub(super) fn lose_all(&mut self) {
        self.all_in_part = true;
        self.log.processes.iter_mut().for_each(|process| process.in_part = true);
    }

    /// Takes a line; returns whether its message is known.
    pub(super) fn take(&mut self, stream: &mut Stream, entry: &Entry<'_>, at: &At) -> bool {
        if let Some(row) = known(&entry.message) {
            self.message(stream, row.message, row.verbosity, &entry.values, entry.pid, at);
            return true;
        }
        let Some((row, values)) = inline(&entry.message) else { return false };
        self.message(stream, row.message, row.verbosity, &Values::Inline(&values), entry.pid, at);
        true
    }

    fn message(&mut self, stream: &mut Stream, message: Message, level: u8, values: &Values<'_>, pid: u32, at: &At) {
        if !message.is_schedulers() {
            return self.startup(stream, message, values, pid, at);
        }
        let process = self.process(stream, message, pid, at);
        let last = stream.last.entry(pid).or_insert(at.stamp);
        let back = last.micros_since(at.stamp);
        *last = at.stamp;
        if back > CLOCK_SLACK {
            self.find(&at.file, Some(at.line), FindingKind::ClockBack(back / 1_000_000));
        }
        let known = &mut self.log.processes[process];
        known.to = known.to.max(at.stamp);
        // The files are read one after another.
        if known.files.last().is_none_or(|file| !Arc::ptr_eq(file, &at.file)) {
            known.files.push(Arc::clone(&at.file));
            known.in_part |= self.all_in_part || self.in_part.contains(&at.file);
        }
        known.evidence.verbosity = known.evidence.verbosity.max(level);
        self.log.understood += 1;
        let mut step = Step { fold: self, process, at };
        if step.fold.full {
            return;
        }
        step.message(message, values);
        if [self.log.attempts.len(), self.log.changes.len(), self.log.dumps.len()].into_iter().any(|events| events >= self.most) {
            self.full = true;
            self.find(&at.file, Some(at.line), FindingKind::TooMany);
        }
    }

    /// Takes a line that other components write too. It counts once the process is known to be a scheduler.
    fn startup(&mut self, stream: &mut Stream, message: Message, values: &Values<'_>, pid: u32, at: &At) {
        if message == Message::Response {
            if let Some(process) = stream.processes.get(&pid) {
                let evidence = &mut self.log.processes[*process].evidence;
                evidence.verbosity = evidence.verbosity.max(6);
            }
            return;
        }
        let leadership = match message {
            Message::LeaseWanted => Some(Leadership::Waits),
            Message::LeaseHeld => Some(Leadership::Leads),
            Message::LeaseLost => Some(Leadership::Lost),
            _ => None,
        };
        if let (Some(leadership), Some(process)) = (leadership, stream.processes.get(&pid)) {
            let ours = values.text("lock").is_none_or(|lock| lock.contains("kube-scheduler"));
            if ours {
                self.log.processes[*process].leadership = leadership;
                if leadership == Leadership::Lost {
                    self.find(&at.file, Some(at.line), FindingKind::LostLease);
                }
            }
            return;
        }
        let startup = stream.startups.entry(pid).or_default();
        if let Some(leadership) = leadership {
            startup.leadership = leadership;
        }
        if let (Message::Flag, Some(name), Some(value)) = (message, values.text("name"), values.text("value"))
            && startup.flags.len() < 1000
        {
            startup.flags.push((name.into_owned(), value.into_owned()));
        }
    }

    /// Returns the process that wrote a line, as an index.
    fn process(&mut self, stream: &mut Stream, message: Message, pid: u32, at: &At) -> usize {
        let startup = stream.startups.remove(&pid);
        let known = stream.processes.get(&pid).copied();
        if let Some(known) = known {
            let again = startup.as_ref().is_some_and(|s| !s.flags.is_empty()) || message.is_start();
            if !(again && self.live[known].active) {
                if let Some(startup) = startup {
                    self.adopt(known, startup);
                }
                return known;
            }
            self.find(&at.file, Some(at.line), FindingKind::Restarted);
        } else if !stream.processes.is_empty() {
            self.find(&at.file, Some(at.line), FindingKind::AnotherProcess { pid });
        }
        let index = self.log.processes.len().min(usize::from(u16::MAX));
        if index < self.log.processes.len() {
            return index;
        }
        let started = message.is_start() || startup.is_some();
        if !started {
            self.find(&at.file, Some(at.line), FindingKind::NoStart);
        }
        self.log.processes.push(Process {
            source: Arc::clone(&at.source),
            pid: (pid != 0).then_some(pid),
            started,
            from: at.stamp,
            to: at.stamp,
            clock: at.clock,
            ..Process::default()
        });
        self.live.push(Live::default());
        stream.processes.insert(pid, index);
        if let Some(startup) = startup {
            self.adopt(index, startup);
        }
        index
    }

    fn adopt(&mut self, process: usize, startup: Startup) {
        let known = &mut self.log.processes[process];
        known.flags.extend(startup.flags);
        if startup.leadership != Leadership::Unknown {
            known.leadership = startup.leadership;
        }
    }

    /// Returns the index of a plugin set, which is added if it is new.
    fn plugin_set(&mut self, raw: &str) -> u32 {
        if let Some(number) = self.sets.get(raw) {
            return *number;
        }
        let names: Vec<Name> = set(raw).iter().map(|name| self.log.names.add(name)).collect();
        let next = u32::try_from(self.log.plugin_sets.len()).unwrap_or(0);
        let number = *self.sets_of_names.entry(names).or_insert_with_key(|names| {
            self.log.plugin_sets.push(names.clone());
            next
        });
        self.sets.insert(raw.to_owned(), number);
        number
    }
}

/// One line of one process.
struct Step<'a> {
    fold: &'a mut Fold,
    process: usize,
    at: &'a At,
}

impl Step<'_> {
    fn message(&mut self, message: Message, values: &Values<'_>) {
        match message {
            Message::PodAdded => self.with_pod(values, Self::added),
            Message::PodDeleted => self.with_pod(values, Self::deleted),
            Message::Popped => self.with_pod(values, |step, pod| step.put(pod, Place::InFlight, Cause::Popped)),
            Message::AttemptStarted => self.with_pod(values, Self::attempt_started),
            Message::Skipped | Message::NotRequeued => self.with_pod(values, Self::dropped),
            Message::Discarded => self.discarded(values),
            Message::Binding => self.binding(values),
            Message::Bound => self.bound(values),
            Message::Unschedulable | Message::NoNodes => self.failed(Outcome::Unschedulable, values),
            Message::Error => self.failed(Outcome::Error, values),
            Message::Moved => self.moved(values),
            Message::MovedGated => {
                self.process().evidence.moves = true;
                self.moved_to(values, Place::Unschedulable);
            }
            Message::MovedByUpdate => self.process().evidence.moves = true,
            Message::PreEnqueue => self.gated(values),
            Message::Condition => self.condition(values),
            Message::Waiting => self.with_pod(values, |step, pod| step.put(pod, Place::WaitingOnPermit, Cause::Permit)),
            Message::RejectedOnPermit => self.with_pod(values, |step, pod| step.put(pod, Place::InFlight, Cause::Permit)),
            Message::PotentialVictim => self.potential_victim(values),
            Message::PreemptionNode => self.preemption_node(values),
            Message::Victim => self.victim(values),
            Message::Score => self.score(values),
            Message::QueueRemark => self.process().evidence.moves = true,
            Message::Plugins => {
                let text = values.raw("Plugins").unwrap_or_default().to_owned();
                self.process().plugins.push(text);
            }
            Message::Extender => {
                let text = values.raw("extender").unwrap_or_default().to_owned();
                self.process().extenders.push(text);
            }
            Message::Config => self.config(values),
            Message::Starting => self.process().version = values.text("version").map(std::borrow::Cow::into_owned),
            Message::PodOnNode => self.see(Sight::PodOnNode, values, "pod"),
            Message::PodOffNode => self.see(Sight::PodOffNode, values, "pod"),
            Message::NodeChanged | Message::NodeInTree | Message::NodeOutOfTree => self.see(Sight::Node, values, "node"),
            Message::NodeDump => self.node_dump(values),
            Message::QueueDump => self.queue_dump(values),
            Message::CacheMismatch => {
                // Pods in flight always show up as missed.
                let others = ["missedNodes", "redundantNodes", "redundantPods"];
                if others.iter().any(|key| values.raw(key).is_some_and(|raw| !matches!(raw, "[]" | "null" | "\"\""))) {
                    self.find(FindingKind::CacheMismatch);
                }
            }
            Message::DryRun
            | Message::NotEligible
            | Message::PostFilter
            | Message::Remark
            | Message::Flag
            | Message::LeaseWanted
            | Message::LeaseHeld
            | Message::LeaseLost
            | Message::Response => {}
        }
    }

    fn process(&mut self) -> &mut Process {
        &mut self.fold.log.processes[self.process]
    }

    fn live(&mut self) -> &mut Live {
        &mut self.fold.live[self.process]
    }

    fn find(&mut self, kind: FindingKind) {
        self.fold.find(&self.at.file, Some(self.at.line), kind);
    }

    fn name(&mut self, text: &str) -> Name {
        self.fold.log.names.add(text)
    }

    fn value(&mut self, values: &Values<'_>, key: &str) -> Option<Name> {
        values.text(key).map(|text| self.name(&text))
    }

    fn with_pod(&mut self, values: &Values<'_>, act: impl FnOnce(&mut Self, Name)) {
        if let Some(pod) = self.value(values, "pod").filter(|pod| !pod.is_empty()) {
            self.live().active = true;
            act(self, pod);
        }
    }

    fn pod(&mut self, pod: Name) -> &mut Pod {
        self.live().pods.entry(pod).or_default()
    }

    /// Records a pod's place if it changed.
    fn put(&mut self, pod: Name, place: Place, cause: Cause) {
        let Ok(process) = u16::try_from(self.process) else { return };
        let at = self.at.stamp;
        let number = self.fold.log.changes.len();
        let known = self.pod(pod);
        if known.place == place && !matches!(cause, Cause::Moved(_) | Cause::Added | Cause::Failed) {
            return;
        }
        known.place = place;
        known.change = number;
        if place == Place::InFlight {
            known.gated_by = Name::default();
        }
        let expires = known.expires.filter(|_| place == Place::Backoff);
        let gated_by = if place == Place::Unschedulable { known.gated_by } else { Name::default() };
        let plugins = known.plugins;
        if place == Place::Gone {
            self.live().pods.remove(&pod);
        }
        self.fold.log.changes.push(Change { at, process, pod, place, cause, plugins, gated_by, expires });
    }

    /// Notes a change of an object that is no matter of the queues.
    fn see(&mut self, sight: Sight, values: &Values<'_>, key: &str) {
        let (Some(name), Ok(process)) = (self.value(values, key), u16::try_from(self.process)) else { return };
        if self.fold.log.sights.len() < self.fold.most {
            self.fold.log.sights.push(Seen { at: self.at.stamp, process, sight, name });
        }
    }

    fn added(&mut self, pod: Name) {
        self.process().added += 1;
        let known = self.pod(pod);
        // The next line may name the queue. An attempt for an earlier pod of the same name may still be open.
        *known = Pod { from_first: true, attempt: known.attempt, ..Pod::default() };
        self.put(pod, Place::Unplaced, Cause::Added);
    }

    fn deleted(&mut self, pod: Name) {
        let Some(known) = self.live().pods.get_mut(&pod) else { return };
        known.deleted = true;
        let (place, attempt) = (known.place, known.attempt);
        // An open attempt goes on to its end, which shows whether the pod was bound.
        let open = attempt.is_some_and(|number| self.fold.log.attempts[number].outcome == Outcome::Unfinished);
        if !(open && matches!(place, Place::InFlight | Place::WaitingOnPermit)) {
            self.put(pod, Place::Gone, Cause::Deleted);
        }
    }

    fn dropped(&mut self, pod: Name) {
        let place = self.live().pods.get(&pod).map(|known| known.place);
        if place.is_some_and(|place| matches!(place, Place::InFlight | Place::WaitingOnPermit)) {
            self.put(pod, Place::Gone, Cause::Dropped);
        }
    }

    /// Drops a popped pod that is lost until its next update. The error ends with the pod's name.
    fn discarded(&mut self, values: &Values<'_>) {
        let named = values.text("pod").or_else(|| values.text("err"));
        let Some(text) = named.as_deref().and_then(|text| text.rsplit(": ").next()).filter(|name| name.contains('/')) else { return };
        let pod = self.name(text);
        if self.live().pods.contains_key(&pod) {
            self.put(pod, Place::Gone, Cause::Dropped);
        }
    }

    /// Adds an attempt and returns its index.
    fn attempt(&mut self, pod: Name, begin_logged: bool) -> usize {
        let number = self.fold.log.attempts.len();
        let process = u16::try_from(self.process).unwrap_or(u16::MAX);
        self.process().attempts += 1;
        self.fold.log.attempts.push(Attempt {
            process,
            at: self.at.stamp,
            begin_logged,
            end: None,
            pod,
            outcome: Outcome::Unfinished,
            node: Name::default(),
            message: Name::default(),
            nominated: Name::default(),
            preemption_node: Name::default(),
            victims: Vec::new(),
            requeued: None,
            nodes: None,
            scores: None,
        });
        let known = self.pod(pod);
        known.attempt = Some(number);
        (known.requeued, known.deleted) = (false, false);
        number
    }

    fn attempt_started(&mut self, pod: Name) {
        self.put(pod, Place::InFlight, Cause::Popped);
        let number = self.attempt(pod, true);
        let live = self.live();
        live.cycle = Some(number);
        live.victims.clear();
    }

    /// Returns the pod's open attempt. One is added if the log lacks its start.
    fn open_attempt(&mut self, pod: Name) -> usize {
        let open = self.live().pods.get(&pod).and_then(|known| known.attempt);
        match open {
            Some(number) if self.fold.log.attempts[number].outcome == Outcome::Unfinished => number,
            _ => self.attempt(pod, false),
        }
    }

    fn binding(&mut self, values: &Values<'_>) {
        let node = self.value(values, "node").unwrap_or_default();
        self.with_pod(values, |step, pod| {
            step.put(pod, Place::InFlight, Cause::Permit);
            let number = step.open_attempt(pod);
            step.fold.log.attempts[number].node = node;
        });
    }

    fn bound(&mut self, values: &Values<'_>) {
        let node = self.value(values, "node").unwrap_or_default();
        let number_of = |key: &str| values.number(key).and_then(|n| u32::try_from(n).ok());
        let nodes = number_of("evaluatedNodes").zip(number_of("feasibleNodes"));
        self.with_pod(values, |step, pod| {
            let number = step.open_attempt(pod);
            let end = step.at.stamp;
            let attempt = &mut step.fold.log.attempts[number];
            (attempt.outcome, attempt.node, attempt.nodes, attempt.end) = (Outcome::Scheduled, node, nodes, Some(end));
            step.put(pod, Place::Gone, Cause::Bound);
        });
    }

    fn failed(&mut self, outcome: Outcome, values: &Values<'_>) {
        let message = match values.text("err") {
            Some(text) => self.name(&text),
            // `handleSchedulingFailure` logs no message if there are no nodes.
            None => Name::default(),
        };
        self.with_pod(values, |step, pod| {
            let number = step.open_attempt(pod);
            let end = step.at.stamp;
            let attempt = &mut step.fold.log.attempts[number];
            (attempt.outcome, attempt.message, attempt.end) = (outcome, message, Some(end));
            if outcome == Outcome::Error {
                attempt.node = Name::default();
            }
            let flies = !attempt.begin_logged || matches!(step.pod(pod).place, Place::InFlight | Place::WaitingOnPermit);
            // Another pod of the same name may be queued by now.
            if flies {
                step.put(pod, Place::InFlight, Cause::Failed);
            }
        });
    }

    fn moved(&mut self, values: &Values<'_>) {
        let place = match values.text("queue").as_deref() {
            Some("Active") => Place::Active,
            Some("Backoff") => Place::Backoff,
            Some("Unschedulable") => Place::Unschedulable,
            _ => return,
        };
        let after_attempt = values.text("event").as_deref() == Some("ScheduleAttemptFailure");
        match (after_attempt, values.has("hint") || values.has("schedulingCycle")) {
            (true, with_cycle) => {
                let process = self.process();
                process.evidence.requeues = true;
                if !with_cycle {
                    process.evidence.verbosity = process.evidence.verbosity.max(5);
                }
                self.requeued(values, place);
            }
            // From 1.28 to 1.34 a move caused by an event leaves a second line at -v=4.
            (false, true) => {
                let process = self.process();
                process.evidence.verbosity = process.evidence.verbosity.max(4);
                self.moved_again(values, place);
            }
            (false, false) => {
                let process = self.process();
                process.evidence.moves = true;
                process.evidence.verbosity = process.evidence.verbosity.max(5);
                self.moved_to(values, place);
            }
        }
    }

    fn moved_to(&mut self, values: &Values<'_>, place: Place) {
        let event = self.value(values, "event").unwrap_or_default();
        self.with_pod(values, |step, pod| {
            if place != Place::Unschedulable {
                step.pod(pod).gated_by = Name::default();
            }
            step.put(pod, place, Cause::Moved(event));
        });
    }

    /// Does the same as [`Self::moved_to`], unless an earlier line reported this move.
    fn moved_again(&mut self, values: &Values<'_>, place: Place) {
        let event = self.value(values, "event").unwrap_or_default();
        let pod = self.value(values, "pod").unwrap_or_default();
        let logged = self.live().pods.get(&pod).map(|known| (known.place, known.change));
        let is_logged = |(old, number): (Place, usize)| {
            old == place && self.fold.log.changes.get(number).is_some_and(|change| change.cause == Cause::Moved(event))
        };
        // The pod may have been popped in between.
        let is_flying = self.log_moves() && logged.is_some_and(|(old, _)| old == Place::InFlight);
        if !logged.is_some_and(is_logged) && !is_flying {
            self.moved_to(values, place);
        }
    }

    fn log_moves(&self) -> bool {
        self.fold.log.processes[self.process].evidence.moves
    }

    /// Places a pod after a failed attempt; up to two lines report it.
    fn requeued(&mut self, values: &Values<'_>, place: Place) {
        let pod = self.value(values, "pod").unwrap_or_default();
        // If moves are logged, this is the second line, and the pod has left since the first.
        if self.log_moves() && values.has("hint") && !self.live().pods.contains_key(&pod) {
            return;
        }
        let plugins = values.raw("unschedulable plugins").map(|raw| self.fold.plugin_set(raw));
        let backoff = self.live().backoff.unwrap_or((1_000_000, 10_000_000));
        let now = self.at.stamp;
        let event = self.name("ScheduleAttemptFailure");
        self.with_pod(values, |step, pod| {
            let started = step.fold.log.processes[step.process].started;
            let last = step.live().pods.get(&pod).and_then(|known| known.attempt);
            // Another thread may have popped the pod again before the second line was written.
            let late = last.is_some_and(|number| step.fold.log.attempts[number].outcome == Outcome::Unfinished);
            let known = step.pod(pod);
            let again = late || std::mem::replace(&mut known.requeued, true);
            let (attempt, change) = (last.filter(|_| !late), known.change);
            if let Some(plugins) = plugins {
                known.plugins = plugins;
                let rejected = plugins != 0;
                if rejected {
                    known.rejections += 1;
                } else {
                    known.errors += 1;
                }
                if rejected {
                    known.errors = 0;
                }
                let count = if known.errors > 0 { known.errors } else { known.rejections };
                known.expires = (known.from_first && started).then(|| Stamp(now.0 + delay(backoff, count)));
            } else if !again {
                known.expires = None;
            }
            let (set, expires) = (known.plugins, known.expires);
            if let Some(attempt) = attempt {
                let attempt = &mut step.fold.log.attempts[attempt];
                let before = attempt.requeued.and_then(|requeued| requeued.plugins);
                attempt.requeued = Some(Requeued { place, plugins: plugins.or(before) });
            }
            if again {
                // The first line moved the pod; this one adds the plugins.
                if let Some(change) = step.fold.log.changes.get_mut(change).filter(|c| c.pod == pod && c.cause == Cause::Moved(event)) {
                    change.plugins = set;
                    change.expires = expires.filter(|_| change.place == Place::Backoff);
                }
                return;
            }
            let deleted = known_deleted(step, pod);
            step.put(pod, place, Cause::Moved(event));
            if deleted {
                step.put(pod, Place::Gone, Cause::Deleted);
            }
        });
    }

    fn gated(&mut self, values: &Values<'_>) {
        let plugin = self.value(values, "plugin").unwrap_or_default();
        self.with_pod(values, |step, pod| {
            step.pod(pod).gated_by = plugin;
            // PreEnqueue runs before a pod enters a queue, never during an attempt. The line belongs to the pod that is
            // entering.
            let was = step.pod(pod).place;
            if was == Place::Unschedulable {
                // The change that placed it there gets the plugin.
                let number = step.pod(pod).change;
                if let Some(change) = step.fold.log.changes.get_mut(number).filter(|change| change.pod == pod) {
                    change.gated_by = plugin;
                }
            } else if was != Place::InFlight {
                step.put(pod, Place::Unschedulable, Cause::Gated);
            }
        });
    }

    fn condition(&mut self, values: &Values<'_>) {
        let nominated = self.value(values, "nominatedNodeName").unwrap_or_default();
        let pod = self.value(values, "pod").unwrap_or_default();
        let Some(attempt) = self.live().pods.get(&pod).and_then(|known| known.attempt) else { return };
        if !nominated.is_empty() {
            self.fold.log.attempts[attempt].nominated = nominated;
        }
    }

    fn potential_victim(&mut self, values: &Values<'_>) {
        let pair = (self.value(values, "node"), self.value(values, "pod"));
        let (Some(node), Some(pod)) = pair else { return };
        let live = self.live();
        if live.cycle.is_some() && live.victims.len() < 100_000 {
            live.victims.push((node, pod));
        }
    }

    fn preemption_node(&mut self, values: &Values<'_>) {
        let node = self.value(values, "node").unwrap_or_default();
        self.with_pod(values, |step, pod| {
            let attempt = step.open_attempt(pod);
            let is_current = step.live().cycle == Some(attempt);
            let victims: Vec<Name> = if is_current {
                step.live().victims.iter().filter(|(on, _)| *on == node).map(|(_, victim)| *victim).collect()
            } else {
                Vec::new()
            };
            let attempt = &mut step.fold.log.attempts[attempt];
            attempt.preemption_node = node;
            attempt.victims = victims;
        });
    }

    fn victim(&mut self, values: &Values<'_>) {
        let keys = ["victim", "waitingPod", "podInPreBind"];
        let Some(victim) = keys.iter().find_map(|key| values.text(key)).map(|text| self.name(&text)) else { return };
        let Some(preemptor) = self.value(values, "preemptor") else { return };
        let node = self.value(values, "node").unwrap_or_default();
        let Some(attempt) = self.live().pods.get(&preemptor).and_then(|known| known.attempt) else { return };
        let attempt = &mut self.fold.log.attempts[attempt];
        if attempt.preemption_node.is_empty() {
            attempt.preemption_node = node;
        }
        if !attempt.victims.contains(&victim) {
            attempt.victims.push(victim);
        }
    }

    fn score(&mut self, values: &Values<'_>) {
        self.process().evidence.scores = true;
        let (node, score) = (self.value(values, "node").unwrap_or_default(), values.number("score"));
        let Some((score, pod)) = score.zip(self.value(values, "pod")) else { return };
        let Some(attempt) = self.live().pods.get(&pod).and_then(|known| known.attempt) else { return };
        let attempt = &mut self.fold.log.attempts[attempt];
        if attempt.outcome != Outcome::Unfinished {
            return;
        }
        let scores = attempt.scores.get_or_insert_with(|| Box::new(Scores { best: i64::MIN, ..Scores::default() }));
        scores.nodes += 1;
        if score > scores.best {
            (scores.best, scores.ties) = (score, 0);
            scores.tied.clear();
        }
        if score == scores.best {
            scores.ties += 1;
            if scores.tied.len() < MAX_TIED {
                scores.tied.push(node);
            }
        }
    }

    fn config(&mut self, values: &Values<'_>) {
        let Some(text) = values.text("config") else { return };
        let seconds = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))?;
            line.trim().parse::<i64>().ok().filter(|seconds| (0..1_000_000).contains(seconds))
        };
        let backoff = seconds("podInitialBackoffSeconds").zip(seconds("podMaxBackoffSeconds"));
        let text = text.into_owned();
        self.process().configuration = Some(text);
        self.live().backoff = backoff.map(|(initial, max)| (initial * 1_000_000, max * 1_000_000));
    }

    fn node_dump(&mut self, values: &Values<'_>) {
        let Some(text) = values.text("nodes") else { return };
        let nodes = dump::nodes(&text, &mut self.fold.log.names);
        let process = u16::try_from(self.process).unwrap_or(u16::MAX);
        // Only the newest nodes are kept.
        let number = self.fold.log.dumps.len();
        if let Some(older) = self.live().dump.replace(number).and_then(|older| self.fold.log.dumps.get_mut(older)) {
            older.nodes = Vec::new();
        }
        let dump = dump::Dump { at: self.at.stamp, process, lengths: [0; 3], pods: Vec::new(), nodes, elsewhere: None };
        self.fold.log.dumps.push(dump);
    }

    fn queue_dump(&mut self, values: &Values<'_>) {
        // Before 1.25 the dump has no summary, so the queue of each pod is unknown.
        let Some(lengths) = values.text("summary").and_then(|summary| dump::lengths(&summary)) else { return };
        let text = values.text("pods").unwrap_or_default();
        let pods = dump::pods(&text, &mut self.fold.log.names);
        if lengths.iter().sum::<usize>() != pods.len() {
            return self.find(FindingKind::Cut);
        }
        let process = u16::try_from(self.process).unwrap_or(u16::MAX);
        let places = [Place::Active, Place::Backoff, Place::Unschedulable];
        let places = places.into_iter().zip(lengths).flat_map(|(place, length)| std::iter::repeat_n(place, length));
        let logged: HashMap<Name, Place> = pods.iter().copied().zip(places).collect();
        let queued = |place: Place| matches!(place, Place::Active | Place::Backoff | Place::Unschedulable);
        let live = &self.fold.live[self.process];
        // A pod in flight may be on its way back.
        let moved = logged
            .iter()
            .filter(|(pod, place)| live.pods.get(pod).is_none_or(|known| known.place != **place && known.place != Place::InFlight));
        let missing: Vec<Name> =
            live.pods.iter().filter(|(pod, known)| queued(known.place) && !logged.contains_key(pod)).map(|(pod, _)| *pod).collect();
        let elsewhere = moved.count() + missing.len();
        let knows = self.fold.log.processes[self.process].complete().contains(&super::story::Fact::Queues);
        if knows && elsewhere > 0 {
            self.find(FindingKind::DumpDiffers { pods: elsewhere });
        }
        let mut pods_now: Vec<(Name, Place)> = logged.into_iter().collect();
        pods_now.sort_unstable_by_key(|(pod, _)| *pod);
        for (pod, place) in pods_now {
            self.put(pod, place, Cause::Dumped);
        }
        for pod in missing {
            self.put(pod, Place::Gone, Cause::Dumped);
        }
        let stamp = self.at.stamp;
        self.process().dumped = Some(stamp);
        let elsewhere = knows.then_some(elsewhere);
        // The dump of the cache comes just before.
        let with_nodes =
            |dump: &&mut dump::Dump| dump.process == process && dump.pods.is_empty() && dump.lengths == [0; 3] && !dump.nodes.is_empty();
        match self.fold.log.dumps.last_mut().filter(with_nodes) {
            Some(dump) => (dump.lengths, dump.pods, dump.elsewhere) = (lengths, pods, elsewhere),
            None => self.fold.log.dumps.push(dump::Dump { at: stamp, process, lengths, pods, nodes: Vec::new(), elsewhere }),
        }
    }
}

/// Returns whether a pod was deleted during its attempt.
fn known_deleted(step: &mut Step<'_>, pod: Name) -> bool {
    step.pod(pod).deleted
}

/// Returns the backoff after `count` failures in a row, in microseconds. It doubles with each failure, up to the
/// maximum.
fn delay((initial, max): (i64, i64), count: u32) -> i64 {
    let doubled = initial.checked_shl(count.saturating_sub(1).min(40)).unwrap_or(max);
    doubled.clamp(0, max)
}
