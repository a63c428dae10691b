//! Implements the session behind the screen.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread;

use super::cancel_guard::CancelGuard;
use super::error::{ExplorerError, JobError, WriteError};
use super::jobs;
use super::live_follow::{self, FollowConfig, LiveFollow};
use super::object_text::{Finding, Sources};
use super::overview_job::{MadeOf, OverviewJob};
use super::short_answer::short_answer;
use super::ticket::Reproduction;
use crate::analysis::{JudgedAttempts, LastReported, SchedulerEvents};
use crate::cluster::Key;
use crate::cluster::neighbors::About;
use crate::output;
use crate::report::attempts_document;
use crate::scheduler_log::SchedulerLog;
use crate::session::{Cursor, InitialQueues, Session, SessionFileError};
use crate::source::Report;
use crate::source::live::Live;
use crate::ui::{
    CaughtUp, DumpTime, Job, JobState, LinkedText, LiveStatus, OverviewStatus, Restarted, RunningJob, SessionError, SessionHandle,
};
use crate::workspace::{Applied, Change, Tools, Workspace};

/// A session that reads and writes files. Clones share their parts.
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
    /// The newest overview of pending pods.
    overview: Option<Arc<OverviewJob>>,
    /// Whether overviews end at the bound on steps: no user can stop them.
    bounds_overview: bool,
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
            overview: None,
            bounds_overview: false,
            scheduler_events: Arc::default(),
            guard: CancelGuard::default(),
        }
    }

    /// Keeps its memory until the process ends, which frees it at once; object by object, freeing a large cluster takes as long as a tenth
    /// of reading it. The connection to a live cluster still ends when it is dropped.
    pub fn end_with_the_process(&self) {
        if let Some(overview) = &self.overview {
            overview.stop();
        }
        std::mem::forget(Self { following: None, ..self.clone() });
    }

    /// Decides pods for overviews as far as the bound on steps allows.
    #[must_use]
    pub fn with_bounded_overview(self) -> Self {
        Self { bounds_overview: true, ..self }
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
        self.background_mut().observed = true;
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
        self.following.is_some() && self.branches().len() > 1 && self.branches()[0].timeline().revisions().len() > live_follow::REVISIONS
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
        let full = self.branches().len() == 1 && self.timeline().revisions().len() > live_follow::REVISIONS;
        if full {
            // Bound memory: drop the earlier revisions.
            self.workspace.forget();
        }
        self.decide_again(looked_at);
        true
    }

    /// Returns whether the cursor is at the end of a live cluster's branch, where changes are applied.
    fn at_its_end(&self) -> bool {
        self.following.is_some() && self.current() == 0 && self.timeline().at_end() && !self.is_full()
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

impl Deref for Explorer {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.workspace.session
    }
}

impl DerefMut for Explorer {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.workspace.session
    }
}

impl SessionHandle for Explorer {
    fn apply(&mut self, change: &Change) -> Result<Applied, SessionError> {
        let finding = Finding::new(self, &self.sources());
        let guard = self.guard.clone();
        let tools = Tools { originals: &|kind, key| finding.original(kind, key), go_on: &|| !guard.is_cancelled() };
        self.workspace.apply(change, &tools).map_err(SessionError::new)
    }

    fn short_answer(&self, pod: &Key) -> Option<String> {
        short_answer(self, &self.sources(), pod)
    }

    fn restart(&mut self, queues: InitialQueues) -> Result<Restarted, SessionError> {
        self.workspace.restart(queues);
        self.overview = None;
        let entries = &self.timeline().queues().entries;
        Ok(Restarted { waiting: entries.len(), inferred: entries.values().filter(|e| e.inferred.is_some()).count() })
    }

    fn save(&self, path: &str) -> Result<(), SessionError> {
        if self.is_forgetful() {
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

    fn start_job(&mut self, job: Job) -> Result<RunningJob, SessionError> {
        if matches!(job, Job::Capture { .. } | Job::Ticket { .. }) {
            self.commit()?;
        }
        let (session, sources) = (&self.workspace.session, &self.sources());
        let work: Result<jobs::Work, JobError> = match job {
            Job::SchedulerMatch => Ok(jobs::scheduler_match(session)),
            Job::Diff(Some(path)) => Ok(jobs::diff_with(session, path)),
            Job::Diff(None) => jobs::diff(session, self.following.is_some()),
            Job::Compare(one, other) => jobs::compare(session, one, other),
            Job::Fixes(pod) => jobs::fixes(session, sources, pod),
            Job::Capacity(pod) => jobs::how_many_fit(session, pod),
            Job::Flood(pod) => jobs::who_is_evicted(session, pod),
            Job::Odds(revision) => jobs::odds(session, revision),
            Job::Object(kind, key) => Ok(jobs::object(session, sources, kind, key)),
            Job::Ticket { file, subject } => jobs::ticket(session, sources, file, subject),
            Job::Capture { path, redact } => Ok(jobs::capture(session, sources, path, redact)),
        };
        let work = work.map_err(ExplorerError::from)?;
        let (job, progress, result) = RunningJob::new();
        let run = move || {
            let end = work(&progress).unwrap_or_else(|error| JobState::Failed(SessionError::new(error)));
            // The receiver is gone if the user left.
            drop(result.send(end));
        };
        thread::Builder::new().name("jobs".to_owned()).spawn(run).map_err(JobError::Thread).map_err(ExplorerError::from)?;
        Ok(job)
    }

    fn overview(&self) -> OverviewStatus {
        let here = MadeOf::here(self);
        self.overview.as_ref().map_or_else(OverviewStatus::default, |job| OverviewStatus {
            newest: job.newest(),
            runs: job.runs(),
            is_current: job.of == here,
        })
    }

    fn renew_overview(&mut self, again: bool) -> Result<(), SessionError> {
        let here = MadeOf::here(self);
        let changed_by_itself =
            |job: &Arc<OverviewJob>| self.following.is_some() && self.current() == 0 && job.of.is_other_state_of_branch(here);
        let waits = |job: &Arc<OverviewJob>| {
            (job.of == here && (!again || job.runs())) || (changed_by_itself(job) && (job.runs() || !job.is_due_again()))
        };
        if !self.overview.as_ref().is_some_and(waits) {
            let before = self.overview.as_ref().filter(|job| changed_by_itself(job)).and_then(|job| job.newest());
            self.overview =
                Some(Arc::new(OverviewJob::start(self, &self.sources(), before, self.bounds_overview).map_err(ExplorerError::from)?));
        }
        Ok(())
    }

    fn stop_overview(&mut self) {
        if let Some(job) = &self.overview {
            job.stop();
        }
    }

    fn attempts(&self, pod: &Key) -> Option<LinkedText> {
        if !self.background().observed {
            return None;
        }
        let found = JudgedAttempts::new(self, pod);
        let title = format!("Attempts of the cluster's scheduler about {pod}");
        (!found.attempts.is_empty()).then(|| LinkedText::prose(title, attempts_document(&found)))
    }

    fn workload_named(&self, words: &str, pod: Option<&Key>) -> Option<About> {
        super::workload::named(self, words, pod)
    }

    fn workloads_unknown(&self) -> String {
        super::workload::unknown(self)
    }

    fn workload(&self, workload: &About) -> output::Document {
        let overview = self.overview.as_ref().and_then(|job| job.newest());
        super::workload::page(self, workload, overview.as_deref())
    }

    fn written(&self, pod: &Key) -> Option<LastReported> {
        let scheduler_events = self.scheduler_events.get_or_init(|| SchedulerEvents::new(&self.background().events));
        scheduler_events.about(self.scheduler_as_seen().state().cluster().pods.get(pod)?)
    }

    fn follow(&mut self) -> bool {
        self.at_its_end() && self.take_in(self.explained())
    }

    fn is_outdated(&self, revision: usize) -> bool {
        self.following.is_some() && self.current() == 0 && self.changed_since(revision)
    }

    fn catch_up(&mut self) -> Result<CaughtUp, SessionError> {
        if self.following.is_none() {
            return Err(ExplorerError::NotLive.into());
        }
        let dropped = self.is_full();
        let looked_at = self.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
        self.switch(0);
        self.timeline_mut().seek(Cursor::END);
        if dropped {
            // Bound memory: drop the earlier revisions.
            self.workspace.forget();
        }
        let changed = self.take_in(looked_at.clone());
        if !changed {
            self.timeline_mut().seek(Cursor::END);
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

    fn report_lines(&self) -> Vec<String> {
        let live = self.following.as_ref().map(LiveFollow::lines).unwrap_or_default();
        live.into_iter().chain(self.background().report.iter().cloned()).collect()
    }
}
