//! Implements the session behind the screen.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::cancel_guard::CancelGuard;
use super::error::{ExplorerError, WriteError};
use super::jobs::RunningJob;
use super::live_follow::{self, FollowConfig, LiveFollow};
use super::object_text::{Finding, Sources};
use super::overview_job::{MadeOf, OverviewJob};
use super::short_answer::short_answer;
use super::ticket::Reproduction;
use crate::analysis::{
    EvictionStory, JudgedAttempts, LastReported, ListedLeaving, Preempted, ReleaseReport, SchedulerEvents, SeenLeaving, decision_parts,
    leavings, preempted,
};
use crate::cluster::Key;
use crate::cluster::neighbors::About;
use crate::framework::NodeFilters;
use crate::output;
use crate::release::Emulated;
use crate::report::{attempts_document, eviction_document, leavings_document, recorded_preemptions};
use crate::scheduler_log::SchedulerLog;
use crate::session::{Branch, Breakpoint, Cursor, EtcdRevisions, InitialQueues, RunEnd, Session, SessionFileError, Timeline, Until};
use crate::source::Report;
use crate::source::live::Live;
use crate::ui::{CaughtUp, Document, DumpTime, Form, Job, JobState, LiveStatus, OverviewStatus, Restarted, SessionError, SessionHandle};
use crate::workspace::{Applied, Change, Tools, Workspace};

/// A session that reads and writes files. Clones share their parts and the running job.
#[derive(Clone, Debug)]
pub struct Explorer {
    workspace: Workspace,
    /// Reports of the loaded sources, the newest last; originals of objects are read through them.
    reports: Vec<Arc<Report>>,
    /// When the dump was taken; `None` if it is unknown, or the source is no dump.
    taken: Option<DumpTime>,
    /// The arguments that name the source, for tickets; `None` if it cannot be read again.
    reproduction: Option<Reproduction>,
    /// The live cluster, if the source is one.
    following: Option<LiveFollow>,
    /// The running job.
    job: Option<Arc<RunningJob>>,
    /// The newest overview of pending pods.
    overview: Option<Arc<OverviewJob>>,
    /// The Events of the cluster's scheduler, indexed on first use.
    scheduler_events: Arc<OnceLock<SchedulerEvents>>,
    /// Guards irreversible effects.
    guard: CancelGuard,
}

impl Explorer {
    /// Makes an explorer of a session.
    pub fn new(session: Session) -> Self {
        Self {
            workspace: Workspace::new(session),
            reports: Vec::new(),
            taken: None,
            reproduction: None,
            following: None,
            job: None,
            overview: None,
            scheduler_events: Arc::default(),
            guard: CancelGuard::default(),
        }
    }

    /// Keeps its memory until the process ends, which frees it at once; object by object, freeing a large cluster takes as long as a tenth
    /// of reading it. The connection to a live cluster and the running job still end when it is dropped.
    pub fn end_with_the_process(&self) {
        if let Some(overview) = &self.overview {
            overview.stop();
        }
        std::mem::forget(Self { following: None, job: None, ..self.clone() });
    }

    /// Adds the reports of the loaded sources, the newest last.
    #[must_use]
    pub fn with_reports(self, reports: Vec<Arc<Report>>) -> Self {
        Self { reports, ..self }
    }

    /// Takes the time of the dump from its report.
    #[must_use]
    pub fn of_dump(self) -> Self {
        let report = self.reports.last();
        let taken = report.and_then(|report| report.taken.map(DumpTime::Taken).or(report.newest.map(DumpTime::Newest)));
        Self { taken, ..self }
    }

    /// Sets the arguments that name the source, for tickets.
    #[must_use]
    pub fn reproduced_by(self, reproduction: Option<Reproduction>) -> Self {
        Self { reproduction, ..self }
    }

    /// Follows a live cluster.
    #[must_use]
    pub fn following(mut self, live: Arc<Live>, config: FollowConfig) -> Self {
        self.workspace.session.background_mut().observed = true;
        Self { following: Some(LiveFollow::new(live, config)), ..self }
    }

    /// Follows the log of the cluster's scheduler too, if a live cluster is followed. `known` is the part that is on the
    /// timeline already.
    #[must_use]
    pub fn following_log(mut self, known: &SchedulerLog) -> Self {
        self.following = self.following.map(|following| following.with_log(known));
        self
    }

    /// Sets the guard of irreversible effects, so that a task on a copy of the explorer can be cancelled.
    #[must_use]
    pub(super) fn with_guard(self, guard: CancelGuard) -> Self {
        Self { guard, ..self }
    }

    /// Commits to an irreversible effect; fails if cancelled.
    fn commit(&self) -> Result<(), ExplorerError> {
        if self.guard.commit() { Ok(()) } else { Err(ExplorerError::Stopped) }
    }

    /// Returns the sources of objects' texts.
    fn sources(&self) -> Sources {
        let mut unknown = self.reports.last().map(|report| super::object_text::unknown_kinds(report)).unwrap_or_default();
        if let Some(following) = &self.following {
            unknown.retain(|kind| !following.listed.contains(kind));
        }
        Sources {
            unknown,
            reports: self.reports.clone(),
            live: self.following.as_ref().map(|f| Arc::clone(f.live())),
            reproduction: self.reproduction.clone(),
        }
    }

    /// Returns whether the first branch has reached its limit and other branches fork from it; then no more changes are
    /// applied.
    fn is_full(&self) -> bool {
        self.following.is_some()
            && self.workspace.session.branches().len() > 1
            && self.workspace.session.branches()[0].timeline().revisions().len() > live_follow::REVISIONS
    }

    /// Applies the changes of the live cluster, then decides again about the pod whose decision is shown.
    fn take_in(&mut self, looked_at: Option<Key>) -> bool {
        let Some(following) = &mut self.following else { return false };
        if !self.guard.commit() {
            return false;
        }
        let others = following.take_neighbors(&mut self.workspace.session);
        if !following.take_in(&mut self.workspace.session) {
            return others;
        }
        self.scheduler_events = Arc::default();
        let full =
            self.workspace.session.branches().len() == 1 && self.workspace.session.timeline().revisions().len() > live_follow::REVISIONS;
        if full {
            // Bound memory: drop the earlier revisions.
            self.workspace.forget();
        }
        self.decide_again(looked_at);
        true
    }

    /// Returns whether the cursor is at the end of a live cluster's branch, where changes are applied.
    fn at_its_end(&self) -> bool {
        self.following.is_some() && self.workspace.session.current() == 0 && self.workspace.session.timeline().at_end() && !self.is_full()
    }

    /// Decides again about a pod at the end of a live cluster's branch.
    fn decide_again(&mut self, pod: Option<Key>) {
        if let Some(pod) = pod.filter(|_| self.at_its_end()) {
            self.workspace.decide_again(&pod);
        }
    }
}

impl From<ExplorerError> for SessionError {
    fn from(error: ExplorerError) -> Self {
        Self::new(error)
    }
}

impl From<WriteError> for SessionError {
    fn from(error: WriteError) -> Self {
        ExplorerError::from(error).into()
    }
}

impl SessionHandle for Explorer {
    fn timeline(&self) -> &Timeline {
        self.workspace.session.timeline()
    }

    fn emulated(&self) -> Emulated {
        self.workspace.session.scheduler_here().emulated()
    }

    fn release_report(&self) -> ReleaseReport {
        let scheduler = self.workspace.session.scheduler_here();
        ReleaseReport::of(scheduler.emulated(), &decision_parts(scheduler.state().config()))
    }

    fn timeline_mut(&mut self) -> &mut Timeline {
        self.workspace.session.timeline_mut()
    }

    fn run_next(&mut self) -> bool {
        self.workspace.session.run_next()
    }

    fn explain(&mut self, pod: &Key) -> Option<usize> {
        self.workspace.session.explain(pod)
    }

    fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd {
        self.workspace.session.run_until(until, turns)
    }

    fn apply(&mut self, change: &Change) -> Result<Applied, SessionError> {
        let finding = Finding::new(&self.workspace.session, &self.sources());
        let guard = self.guard.clone();
        let tools = Tools { originals: &|kind, key| finding.original(kind, key), go_on: &|| !guard.is_cancelled() };
        self.workspace.apply(change, &tools).map_err(SessionError::new)
    }

    fn short_answer(&self, pod: &Key) -> Option<String> {
        short_answer(&self.workspace.session, &self.sources(), pod)
    }

    fn settle(&mut self) -> bool {
        self.workspace.session.settle()
    }

    fn breakpoints(&self) -> &[Breakpoint] {
        self.workspace.session.breakpoints()
    }

    fn set_breakpoints(&mut self, breakpoints: Vec<Breakpoint>) {
        self.workspace.session.set_breakpoints(breakpoints);
    }

    fn branches(&self) -> (&[Branch], usize) {
        (self.workspace.session.branches(), self.workspace.session.current())
    }

    fn fork(&mut self) {
        self.workspace.session.fork();
    }

    fn switch_branch(&mut self, to: usize) -> bool {
        self.workspace.session.switch(to)
    }

    fn restart(&mut self, queues: InitialQueues) -> Result<Restarted, SessionError> {
        self.workspace.restart(queues);
        self.overview = None;
        let entries = &self.workspace.session.timeline().queues().entries;
        Ok(Restarted { waiting: entries.len(), inferred: entries.values().filter(|e| e.inferred.is_some()).count() })
    }

    fn save(&self, path: &str) -> Result<(), SessionError> {
        if self.workspace.session.is_forgetful() {
            return Err(ExplorerError::Truncated.into());
        }
        if Path::new(path).exists() {
            return Err(WriteError::Exists { path: path.to_owned() }.into());
        }
        self.commit()?;
        output::write_new(Path::new(path), |file| self.workspace.session.save(file)).map_err(|error| match error {
            SessionFileError::Io(error) => WriteError::create(path, error).into(),
            error => WriteError::Session { path: path.to_owned(), error }.into(),
        })
    }

    fn start_job(&mut self, job: Job) -> Result<(), SessionError> {
        if matches!(job, Job::Capture { .. } | Job::Ticket { .. }) {
            self.commit()?;
        }
        self.job = Some(Arc::new(RunningJob::start(&self.workspace.session, &self.sources(), job).map_err(ExplorerError::from)?));
        Ok(())
    }

    fn poll_job(&mut self) -> JobState {
        let state = self.job.as_ref().map_or(JobState::Idle, |job| job.state());
        if matches!(state, JobState::Done(..)) {
            self.job = None;
        }
        state
    }

    fn stop_job(&mut self) {
        self.job = None;
    }

    fn overview(&self) -> OverviewStatus {
        let here = MadeOf::here(&self.workspace.session);
        self.overview.as_ref().map_or_else(OverviewStatus::default, |job| OverviewStatus {
            newest: job.newest(),
            runs: job.runs(),
            is_current: job.of == here,
        })
    }

    fn renew_overview(&mut self, again: bool) -> Result<(), SessionError> {
        let here = MadeOf::here(&self.workspace.session);
        let changed_by_itself = |job: &Arc<OverviewJob>| {
            self.following.is_some() && self.workspace.session.current() == 0 && job.of.is_other_state_of_branch(here)
        };
        let waits = |job: &Arc<OverviewJob>| {
            (job.of == here && (!again || job.runs())) || (changed_by_itself(job) && (job.runs() || !job.is_due_again()))
        };
        if !self.overview.as_ref().is_some_and(waits) {
            let before = self.overview.as_ref().filter(|job| changed_by_itself(job)).and_then(|job| job.newest());
            self.overview =
                Some(Arc::new(OverviewJob::start(&self.workspace.session, &self.sources(), before).map_err(ExplorerError::from)?));
        }
        Ok(())
    }

    fn stop_overview(&mut self) {
        if let Some(job) = &self.overview {
            job.stop();
        }
    }

    fn leavings(&self) -> Vec<ListedLeaving> {
        leavings(self.timeline().revisions(), &self.workspace.session.background().events)
    }

    fn leavings_list(&self, found: &[ListedLeaving]) -> output::Document {
        leavings_document(found)
    }

    fn eviction(&self, seen: SeenLeaving) -> Document {
        let session = &self.workspace.session;
        let title = format!("Eviction of {}", seen.pod);
        let story = EvictionStory::new(seen, session.scheduler_here(), &session.background().events);
        Document { title, body: eviction_document(&story), form: Form::Prose, fixes: Vec::new() }
    }

    fn recorded_preemptions(&self) -> Vec<Preempted> {
        let session = &self.workspace.session;
        preempted(session.scheduler_here().state().cluster(), &session.background().events)
    }

    fn recorded_eviction(&self, pod: &Key) -> Option<Document> {
        let session = &self.workspace.session;
        let body = recorded_preemptions(pod, session.scheduler_here(), &session.background().events)?;
        Some(Document { title: format!("Eviction of {pod}"), body, form: Form::Prose, fixes: Vec::new() })
    }

    fn etcd_revisions(&self) -> Option<&EtcdRevisions> {
        // Those of other branches are not etcd's.
        self.workspace.session.background().etcd.as_ref().filter(|_| self.workspace.session.current() == 0)
    }

    fn attempts(&self, pod: &Key) -> Option<Document> {
        let session = &self.workspace.session;
        if !session.background().observed {
            return None;
        }
        let found = JudgedAttempts::new(session, pod);
        let title = format!("Attempts of the cluster's scheduler about {pod}");
        (!found.attempts.is_empty()).then(|| Document { title, body: attempts_document(&found), form: Form::Prose, fixes: Vec::new() })
    }

    fn workload_named(&self, words: &str, pod: Option<&Key>) -> Option<About> {
        super::workload::named(&self.workspace.session, words, pod)
    }

    fn workload(&self, workload: &About) -> Option<output::Document> {
        let overview = self.overview.as_ref().and_then(|job| job.newest());
        Some(super::workload::page(&self.workspace.session, workload, overview.as_deref()))
    }

    fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters> {
        self.workspace.session.every_filter(pod, node)
    }

    fn written(&self, pod: &Key) -> Option<LastReported> {
        let scheduler_events = self.scheduler_events.get_or_init(|| SchedulerEvents::new(&self.workspace.session.background().events));
        scheduler_events.about(self.workspace.session.scheduler_as_seen().state().cluster().pods.get(pod)?)
    }

    fn follow(&mut self) -> bool {
        self.at_its_end() && self.take_in(self.workspace.session.explained())
    }

    fn is_outdated(&self, revision: usize) -> bool {
        self.following.is_some() && self.workspace.session.current() == 0 && self.workspace.session.changed_since(revision)
    }

    fn catch_up(&mut self) -> Result<CaughtUp, SessionError> {
        if self.following.is_none() {
            return Err(ExplorerError::NotLive.into());
        }
        let dropped = self.is_full();
        let looked_at = self.workspace.session.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
        self.workspace.session.switch(0);
        self.workspace.session.timeline_mut().seek(Cursor::END);
        if dropped {
            // Bound memory: drop the earlier revisions.
            self.workspace.forget();
        }
        let changed = self.take_in(looked_at.clone());
        if !changed {
            self.workspace.session.timeline_mut().seek(Cursor::END);
            self.decide_again(looked_at);
        }
        Ok(CaughtUp { changed, dropped })
    }

    fn taken(&self) -> Option<DumpTime> {
        self.taken
    }

    fn live_status(&self) -> Option<LiveStatus> {
        let following = self.following.as_ref()?;
        let (at_end, pending) = (self.at_its_end(), following.has_changes());
        let (state, live) = (following.state(!at_end && pending), following.live());
        let silent_for = if state.is_refusal() { live.refused_for() } else { live.silent_for() };
        Some(LiveStatus {
            state,
            silent_for,
            has_changes: at_end && pending,
            cooldown: following.cooldown(),
            poll_after: if at_end { following.poll_after() } else { None },
        })
    }

    fn source(&self) -> String {
        self.workspace.session.source().to_owned()
    }

    fn report_lines(&self) -> Vec<String> {
        let live = self.following.as_ref().map(LiveFollow::lines).unwrap_or_default();
        live.into_iter().chain(self.workspace.session.background().report.iter().cloned()).collect()
    }
}
