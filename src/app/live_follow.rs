//! Follows a live cluster. Its changes are applied at the end of the first branch, and a cursor there moves along.
//! While the cursor is elsewhere, changes wait.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::analysis::{LogMark, LogReport, SchedulerComparer, SeenChange, changes_decisions};
use crate::cluster::{Cluster, Key, Kind, Object, ObservedEvent, Pod};
use crate::release::Release;
use crate::scheduler::Operation;
use crate::scheduler::queue::{PlaceInLog, QueueInLog};
use crate::scheduler_log::SchedulerLog;
use crate::session::{Cursor, Session, has_new_report};
use crate::source::live::{Change, KindStatus, Live, RetryCause, State, Subject, runs_scheduler};
use crate::trace::{Event, ObjectChange, Place, QueueEntry};
use crate::ui::{Kinds, LiveState};

/// Minimum pause between two batches of changes, as a multiple of the time that applying the last one took.
const SHARE: u32 = 8;
/// Maximum number of changes applied at once.
const AT_ONCE: usize = 20_000;
/// Maximum number of revisions kept of a live cluster: about 120 MB where every other one decides over 5,000 nodes.
pub(super) const REVISIONS: usize = 128;
/// Maximum number of attempts of the cluster's scheduler added at once; each pending pod among them is decided again.
const ATTEMPTS: usize = 16;
/// Maximum number of the cluster's Events kept.
const EVENTS: usize = 20_000;

/// Settings for following a live cluster.
#[derive(Clone, Copy, Debug)]
pub struct FollowConfig {
    /// Minimum pause between two batches of changes.
    pub pause: Duration,
    /// Time after which a requeued pod counts as tried though the scheduler wrote nothing: one that fails for the same
    /// reason as before writes nothing for minutes.
    pub tried_by: Duration,
    /// Offset of the cluster's clock from this machine's; positive where it is ahead.
    pub ahead: SignedDuration,
}

impl Default for FollowConfig {
    fn default() -> Self {
        Self { pause: Duration::from_millis(500), tried_by: Duration::from_secs(3), ahead: SignedDuration::ZERO }
    }
}

/// State of following a live cluster.
#[derive(Clone, Debug)]
pub(super) struct LiveFollow {
    live: Arc<Live>,
    config: FollowConfig,
    /// End of the pause before the next batch of changes.
    cooldown_until: Instant,
    /// Pods that an event moved to activeQ and that the scheduler has not written about since, with the time of the
    /// move.
    moved: BTreeMap<Key, Timestamp>,
    /// Kinds that could not be read at first and can be now.
    pub(super) listed: BTreeSet<Kind>,
    /// Whether all objects of a kind can be read, for kinds of which some could not since the first read.
    readable: BTreeMap<Kind, bool>,
    /// The server's version that was considered last.
    version: Option<String>,
    /// How often what scheduling does not read was another, as far as it is taken in.
    neighbors: u64,
    /// Why the server's release is not emulated, though it changed.
    release_refused: Option<String>,
    /// How far the scheduler's log is taken in; `None` if it is not followed.
    log: Option<FollowedLog>,
}

/// How far the log of the cluster's scheduler is taken in.
#[derive(Clone, Copy, Debug, Default)]
struct FollowedLog {
    /// The number of parts that were read at the last look.
    generation: u64,
    mark: LogMark,
    /// The log shows every place, so nothing is inferred.
    exact: bool,
}

impl LiveFollow {
    pub(super) fn new(live: Arc<Live>, config: FollowConfig) -> Self {
        let version = live.server_version();
        Self {
            live,
            config,
            cooldown_until: Instant::now(),
            moved: BTreeMap::new(),
            listed: BTreeSet::new(),
            readable: BTreeMap::new(),
            version,
            neighbors: 0,
            release_refused: None,
            log: None,
        }
    }

    /// Follows the log of the cluster's scheduler too. `known` is the part that is on the timeline already.
    pub(super) fn with_log(mut self, known: &SchedulerLog) -> Self {
        let mut log = FollowedLog::default();
        if let Some(report) = LogReport::new(known, None) {
            report.skip(&mut log.mark);
        }
        self.log = Some(log);
        self
    }

    /// Returns whether the cluster, its release or its scheduler's log has changes.
    pub(super) fn has_changes(&self) -> bool {
        self.live.has_changes()
            || self.version != self.live.server_version()
            || self.neighbors != self.live.neighbors_generation()
            || self.log.is_some_and(|log| log.generation != self.live.log_generation())
    }

    pub(super) fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Returns the time left until changes may be applied again.
    pub(super) fn cooldown(&self) -> Duration {
        self.cooldown_until.saturating_duration_since(Instant::now())
    }

    /// Returns the time until the first requeued pod counts as tried; `None` without one.
    pub(super) fn poll_after(&self) -> Option<Duration> {
        let first = self.moved.values().min()?;
        let left = first.checked_add(self.tried_by()).ok()?.duration_since(self.now());
        Some(Duration::try_from(left).unwrap_or_default() + self.config.pause)
    }

    /// Returns the time on the cluster's clock.
    pub(super) fn now(&self) -> Timestamp {
        Timestamp::now().checked_add(self.config.ahead).unwrap_or(Timestamp::MAX)
    }

    fn tried_by(&self) -> SignedDuration {
        SignedDuration::try_from(self.config.tried_by).unwrap_or(SignedDuration::MAX)
    }

    /// Applies the changes at the end of the first branch. Returns false without changes.
    pub(super) fn take_in(&mut self, session: &mut Session) -> bool {
        let (begin, now) = (Instant::now(), self.now());
        let changes = self.live.take(AT_ONCE);
        let ripe: Vec<Key> =
            self.moved.iter().filter(|(_, since)| now.duration_since(**since) >= self.tried_by()).map(|(key, _)| key.clone()).collect();
        let changed = !changes.is_empty() || !ripe.is_empty();
        let mut done = self.take_release(session);
        if !changed && !done && self.log.is_none_or(|log| log.generation == self.live.log_generation()) {
            return false;
        }
        self.follow_new_schedulers(&changes);
        let new: Vec<ObservedEvent> =
            changes.iter().filter_map(|c| if let Change::Event(e) = c { Some(e.clone()) } else { None }).collect();
        let cluster = session.scheduler_as_seen().state().cluster().clone();
        remember(&mut session.background_mut().events, new, &cluster);
        if changed {
            let operation = self.operation(session, changes, ripe, now);
            done |= session.observe(operation);
        }
        done |= self.take_log(session);
        self.note_moved(session, now);
        self.cooldown_until = Instant::now() + self.config.pause.max(begin.elapsed() * SHARE);
        done
    }

    /// Takes in what scheduling does not read. Returns whether it is another.
    pub(super) fn take_neighbors(&mut self, session: &mut Session) -> bool {
        if self.neighbors == self.live.neighbors_generation() {
            return false;
        }
        let (generation, neighbors) = self.live.newest_neighbors();
        self.neighbors = generation;
        session.background_mut().neighbors = Arc::new(neighbors);
        true
    }

    /// Emulates the release of the API server from now on if it has changed, unless the user or the scheduler's log names another.
    /// Returns whether it changed.
    fn take_release(&mut self, session: &mut Session) -> bool {
        let version = self.live.server_version();
        if version == self.version {
            return false;
        }
        self.version = version;
        let choice = session.scheduler_as_seen().emulated().choice;
        let release = self.version.as_deref().and_then(|version| Release::parse(version).ok());
        let Some(release) = release.filter(|release| choice.followed_to(*release).is_some()) else { return false };
        let result = session.observe_release(release);
        self.release_refused = result.as_ref().err().map(ToString::to_string);
        match &result {
            Ok(()) => tracing::info!(%release, "the server's release changed"),
            Err(error) => tracing::warn!(%error, "the server's release changed"),
        }
        result.is_ok()
    }

    /// Places pods where the log of the scheduler shows them, and adds its new attempts to the timeline. The changes of the
    /// cluster have requeued pods by our rules; the log says what the scheduler did.
    fn take_log(&mut self, session: &mut Session) -> bool {
        let Some(log) = self.log.as_mut() else { return false };
        log.generation = self.live.log_generation();
        let logged =
            self.live.with_log(|read| LogReport::new(read, None).map(|report| (report.queue_places(), report.has_new_attempts(log.mark))));
        let Some((logged, attempted)) = logged else { return false };
        log.exact = logged.is_some();
        let mut done = false;
        if let Some((time, mut places)) = logged {
            let state = session.scheduler_as_seen().state();
            let entries = &state.queue().view().entries;
            let waits = |pod: &Key| state.cluster().pods.get(pod).is_some_and(|pod| pod.is_pending());
            places.retain(|logged| waits(&logged.pod) && entries.get(&logged.pod).is_none_or(|entry| differs(entry, logged)));
            if !places.is_empty() {
                done = session.observe(Operation::TakeLog { time, places });
            }
        }
        if attempted {
            done |= self.add_attempts(session);
        }
        done
    }

    /// Adds the latest attempts of the cluster's scheduler to the timeline, each beside our decision.
    fn add_attempts(&mut self, session: &mut Session) -> bool {
        let Some(log) = &mut self.log else { return false };
        let scheduler = session.scheduler_as_seen().clone();
        let cluster = scheduler.state().cluster().clone();
        let (attempts, skipped) = self.live.with_log(|read| {
            let Some(report) = LogReport::new(read, None) else { return (Vec::new(), 0) };
            report.new_attempts(&mut log.mark, ATTEMPTS, |pod, said| {
                let pod = cluster.pods.get(pod).filter(|pod| pod.is_pending())?;
                let found = SchedulerComparer::new(&scheduler, std::slice::from_ref(said)).decide(pod);
                Some(found.text().iter().map(str::trim).collect::<Vec<_>>().join(" "))
            })
        });
        if skipped > 0 {
            tracing::info!(skipped, "attempts in the scheduler's log that are not shown");
        }
        let follow = session.timeline().at_end();
        let mut done = false;
        for attempt in attempts {
            done |= session.log(attempt);
        }
        if done && follow {
            session.timeline_mut().seek(Cursor::END);
        }
        done
    }

    /// Reads the logs of schedulers that have started since.
    fn follow_new_schedulers(&self, changes: &[Change]) {
        if self.log.is_none() {
            return;
        }
        for change in changes {
            if let Change::Put(Object::Pod(pod)) = change
                && runs_scheduler(pod)
            {
                self.live.read_log(&pod.key(), true);
            }
        }
    }

    /// Returns the changes as one batch.
    fn operation(&mut self, session: &Session, changes: Vec<Change>, ripe: Vec<Key>, now: Timestamp) -> Operation {
        let cluster = session.scheduler_as_seen().state().cluster();
        let mut operations = vec![Operation::Observe { time: now, pods: Vec::new(), events: Vec::new(), unknown: None }];
        let mut changed_pods = ripe;
        let newest: BTreeMap<Key, Arc<Pod>> = changes.iter().filter_map(put_pod).map(|pod| (pod.key(), Arc::clone(pod))).collect();
        // Other components, such as autoscalers, write events of the same reason.
        let is_of_its_scheduler =
            |event: &ObservedEvent| newest.get(&event.pod).or_else(|| cluster.pods.get(&event.pod)).is_some_and(|pod| event.is_about(pod));
        for change in changes {
            match change {
                Change::Put(object) => {
                    if let Object::Pod(pod) = &object
                        && has_new_report(cluster.pods.get(&pod.key()).map(|p| &**p), pod)
                    {
                        changed_pods.push(pod.key());
                    }
                    operations.push(Operation::put(cluster, object));
                }
                Change::Gone(object) => operations.push(Operation::Delete { object }),
                Change::Event(event) if event.reason == "FailedScheduling" && is_of_its_scheduler(&event) => changed_pods.push(event.pod),
                Change::Event(_) => {}
                Change::Listed(kind) => drop(self.listed.insert(kind)),
                Change::Unreadable(kind, count) => drop(self.readable.insert(kind, count == 0)),
            }
        }
        if self.log.is_some_and(|log| log.exact) {
            changed_pods.clear();
        }
        changed_pods.sort();
        changed_pods.dedup();
        for key in &changed_pods {
            self.moved.remove(key);
        }
        let about = |event: &&ObservedEvent| changed_pods.binary_search(&event.pod).is_ok();
        let events: Vec<ObservedEvent> = session.background().events.iter().filter(about).cloned().collect();
        let mut unknown = self.listed.iter().fold(cluster.unknown, |unknown, kind| unknown.without(*kind));
        for (kind, readable) in &self.readable {
            if *readable { unknown.failed.remove(*kind) } else { unknown.failed.insert(*kind) }
        }
        let unknown = (unknown != cluster.unknown).then_some(unknown);
        operations.push(Operation::Observe { time: now, pods: changed_pods, events, unknown });
        Operation::Batch { name: "the cluster changed".to_owned(), operations }
    }

    /// Updates the set of pods that an event moved to activeQ. Pods with an inferred place are left out: nothing better
    /// is known about them.
    fn note_moved(&mut self, session: &Session, now: Timestamp) {
        if self.log.is_some_and(|log| log.exact) {
            self.moved.clear();
            return;
        }
        let entries = &session.scheduler_as_seen().state().queue().view().entries;
        let in_active = |key: &Key| entries.get(key).is_some_and(|e| e.inferred.is_none() && matches!(e.place, Place::Active));
        self.moved.retain(|key, _| in_active(key));
        for (key, entry) in entries {
            let tried_before = entry.attempts > 0;
            if tried_before && in_active(key) {
                self.moved.entry(key.clone()).or_insert(now);
            }
        }
    }

    /// Returns how the cluster is followed. `waits` tells whether changes wait for the user.
    pub(super) fn state(&self, waits: bool) -> LiveState {
        let status = self.live.status();
        let of = |wanted: &dyn Fn(&KindStatus) -> bool| -> Option<(Kinds, usize)> {
            let mut found = status.kinds.iter().filter(|kind| wanted(kind));
            let first = found.next()?;
            Some((Kinds { first: first.subject.to_string(), more: found.count() }, first.degraded))
        };
        let is_caused_by =
            |wanted: RetryCause| status.kinds.iter().any(|kind| matches!(kind.state, State::Retrying { cause, .. } if cause == wanted));
        let retries = |kind: &KindStatus| matches!(kind.state, State::Retrying { .. });
        // A kind that was read before is missed now; nodes, pods and budgets are needed by every decision.
        let essential = [Kind::Node, Kind::Pod, Kind::PodDisruptionBudget].map(Subject::Objects);
        let is_forbidden = |kind: &KindStatus| matches!(kind.state, State::Forbidden { .. });
        let refused = |kind: &KindStatus| is_forbidden(kind) && (kind.lists > 0 || essential.contains(&kind.subject));
        let logs = self.live.logs();
        if is_caused_by(RetryCause::CredentialsRefused) {
            LiveState::CredentialsRefused
        } else if is_caused_by(RetryCause::NoCredentials) {
            LiveState::NoCredentials
        } else if status.kinds.iter().filter(|kind| retries(kind)).count() * 2 > status.kinds.len() {
            LiveState::Disconnected
        } else if status.kinds.iter().all(|kind| is_forbidden(kind) || matches!(kind.state, State::Absent | State::OldVersion { .. })) {
            LiveState::NothingAllowed
        } else if let Some((kinds, _)) = of(&refused) {
            LiveState::NotAllowed(kinds)
        } else if let Some((kinds, _)) = of(&retries) {
            LiveState::PartlyDisconnected(kinds)
        } else if let Some((kinds, objects)) = of(&|kind| kind.degraded > 0) {
            LiveState::Unreadable { objects, kinds }
        } else if !logs.is_empty() && logs.iter().all(|log| log.state.trouble().is_some()) {
            LiveState::LogNotRead
        } else if waits {
            LiveState::ChangesWait
        } else {
            LiveState::Following
        }
    }

    /// Returns a line per list and watch.
    pub(super) fn lines(&self) -> Vec<String> {
        let status = self.live.status();
        let version = status.server_version.as_deref().unwrap_or("of unknown version");
        let mut lines = vec![format!("Live from {}, API server {version}:", status.target)];
        lines.extend(self.state(false).advice().map(|advice| format!("  {advice}")));
        lines.extend(self.release_refused.iter().map(|why| format!("  the server's release changed, and is not emulated: {why}")));
        for kind in &status.kinds {
            let place = kind.namespace.as_deref().map(|n| format!(" in {n}")).unwrap_or_default();
            let state = match &kind.state {
                State::Listing => "being listed".to_owned(),
                State::Watching => format!("{} followed", kind.objects),
                State::Retrying { since, why, next, cause } => {
                    let in_seconds = next.duration_since(Timestamp::now()).as_secs().max(0);
                    let what = match cause {
                        RetryCause::CredentialsRefused => "credentials refused",
                        RetryCause::NoCredentials => "without credentials",
                        RetryCause::Request => "disconnected",
                    };
                    format!("{what} since {}: {why}; next try in {in_seconds} s", since.strftime("%H:%M:%SZ"))
                }
                State::Forbidden { why } => format!("may not be read: {why}"),
                State::Absent => "not on this server".to_owned(),
                State::OldVersion { version } => format!("only as {version}, which is not understood"),
            };
            let unread = if kind.degraded > 0 { format!("; {} cannot be read", kind.degraded) } else { String::new() };
            lines.push(format!("  {}{place}: {state}{unread}", kind.subject));
        }
        for log in self.live.logs() {
            let state = log.state.trouble().unwrap_or_else(|| "followed".to_owned());
            lines.push(format!("  log of {}: {state}", log.pod));
        }
        if self.log.is_some_and(|log| !log.exact) {
            lines.push(
                "  the log does not show every move (that takes -v=5): queue places are inferred from conditions and events".to_owned(),
            );
        }
        lines.push(String::new());
        lines
    }
}

/// Returns the new state of a pod.
fn put_pod(change: &Change) -> Option<&Arc<Pod>> {
    if let Change::Put(Object::Pod(pod)) = change { Some(pod) } else { None }
}

/// Returns whether a pod's place on the screen differs from the one that the log shows, or is inferred.
fn differs(entry: &QueueEntry, logged: &PlaceInLog) -> bool {
    let same = matches!(
        (&entry.place, logged.queue),
        (Place::Active | Place::InFlight, QueueInLog::Active)
            | (Place::Backoff { .. }, QueueInLog::Backoff(_))
            | (Place::Unschedulable { .. }, QueueInLog::Unschedulable)
    );
    !same || entry.inferred.is_some()
}

/// Returns the deletions and updates of a followed cluster with their times, which the objects do not have.
pub(super) fn seen(session: &Session) -> Vec<SeenChange> {
    if !session.background().observed {
        return Vec::new();
    }
    let mut seen = Vec::new();
    for revision in session.branches()[0].timeline().revisions() {
        let (before, after) = (&revision.before.cluster, &revision.after.cluster);
        for event in revision.events.others() {
            let Event::ObjectChanged { kind, key, change } = event else { continue };
            let decides = match change {
                ObjectChange::Deleted => true,
                ObjectChange::Updated => changes_decisions(*kind),
                ObjectChange::Added => false,
            };
            if let Some(was) = before.get(*kind, key).filter(|_| decides) {
                seen.push(SeenChange { at: revision.after.clock, before: was, after: after.get(*kind, key) });
            }
        }
    }
    seen
}

/// Keeps the newest Event per pod, reason, component and note.
fn remember(known: &mut Vec<ObservedEvent>, new: Vec<ObservedEvent>, cluster: &Cluster) {
    if new.is_empty() {
        return;
    }
    let about = |e: &ObservedEvent| (e.pod.clone(), e.uid.clone(), e.reason.clone(), e.controller.clone(), e.note.clone());
    let mut places: HashMap<_, usize> = known.iter().enumerate().map(|(at, e)| (about(e), at)).collect();
    for event in new {
        match places.entry(about(&event)) {
            Entry::Occupied(place) => known[*place.get()] = event,
            Entry::Vacant(place) => {
                place.insert(known.len());
                known.push(event);
            }
        }
    }
    if known.len() > EVENTS {
        // Drop Events about pods that no longer wait, except for evictions, whose preemptor may be shown.
        let waits = |key: &Key| cluster.pods.get(key).is_some_and(|pod| pod.is_pending());
        known.retain(|e| e.reason == "Preempted" || waits(&e.pod));
        known.sort_by_key(|e| e.last.max(e.first));
        known.drain(..known.len().saturating_sub(EVENTS));
    }
}
