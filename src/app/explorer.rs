//! Implements the session behind the screen.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::cancel_guard::CancelGuard;
use super::error::{ExplorerError, WriteError};
use super::jobs::RunningJob;
use super::live_follow::{self, FollowConfig, LiveFollow};
use super::object_text::{Finding, Sources};
use super::overview_job::{MadeOf, OverviewJob};
use super::short_answer::short_answer;
use super::ticket::Reproduction;
use crate::analysis::{LastReported, ReleaseReport, SchedulerEvents, decision_parts, why};
use crate::cluster::neighbors::About;
use crate::cluster::{Cluster, Key, Object, Pod, Str};
use crate::fixes;
use crate::framework::NodeFilters;
use crate::output;
use crate::release::{Emulated, Release};
use crate::report::WhatIfReport;
use crate::scheduler::{Operation, Waiting};
use crate::scheduler_log::SchedulerLog;
use crate::session::{Branch, Breakpoint, Cursor, Edit, InitialQueues, RunEnd, Session, SessionFileError, Timeline, Until};
use crate::source::live::Live;
use crate::source::{self, Input, Report, Severity};
use crate::trace::{CycleView, Event, Outcome};
use crate::ui::{
    Advance, Applied, CaughtUp, Change, Document, DumpTime, FixToApply, Form, Job, JobState, LiveStatus, OverviewStatus, Restarted,
    SessionError, SessionHandle, WhatIf,
};
use crate::whatif::{self, OnBranch, Verb};

/// A session that reads and writes files. Clones share their parts and the running job.
#[derive(Clone, Debug)]
pub struct Explorer {
    session: Session,
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
    /// Where the last what-if ended, at the decision about its subject: the branch and the cursor. A further one there goes on at
    /// the end of the branch.
    ended_at: Option<(usize, Cursor)>,
    /// The Events of the cluster's scheduler, indexed on first use.
    heard: Arc<OnceLock<SchedulerEvents>>,
    /// Guards irreversible effects.
    guard: CancelGuard,
}

impl Explorer {
    /// Makes an explorer of a session.
    pub fn new(session: Session) -> Self {
        Self {
            session,
            reports: Vec::new(),
            taken: None,
            reproduction: None,
            following: None,
            job: None,
            overview: None,
            ended_at: None,
            heard: Arc::default(),
            guard: CancelGuard::default(),
        }
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
        self.session.background_mut().observed = true;
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
            && self.session.branches().len() > 1
            && self.session.branches()[0].timeline().revisions().len() > live_follow::REVISIONS
    }

    /// Applies the changes of the live cluster, then decides again about the pod whose decision is shown.
    fn take_in(&mut self, looked_at: Option<Key>) -> bool {
        let Some(following) = &mut self.following else { return false };
        if !self.guard.commit() || !following.take_in(&mut self.session) {
            return false;
        }
        self.heard = Arc::default();
        let full = self.session.branches().len() == 1 && self.session.timeline().revisions().len() > live_follow::REVISIONS;
        if full {
            // Bound memory: drop the earlier revisions.
            self.session = self.session.forgotten();
            self.ended_at = None;
        }
        self.decide_again(looked_at);
        true
    }

    /// Returns whether the cursor is at the end of a live cluster's branch, where changes are applied.
    fn at_its_end(&self) -> bool {
        self.following.is_some() && self.session.current() == 0 && self.session.timeline().at_end() && !self.is_full()
    }

    /// Makes a dry decision about a pod at the end of the observed branch, if the pod still waits for a node.
    fn decide_again(&mut self, pod: Option<Key>) {
        let Some(pod) = pod.filter(|_| self.at_its_end()) else { return };
        let waits = |p: &Arc<Pod>| p.is_pending() && !p.is_terminating();
        let cluster = self.session.scheduler_as_seen().state().cluster();
        if cluster.pods.get(&pod).is_some_and(waits) && self.session.explain_again(&pod).is_some() {
            self.session.timeline_mut().seek(Cursor::END);
        }
    }

    /// Applies an operation at the cursor, in the past on a new branch.
    fn apply_operation(&mut self, operation: Operation) -> Result<Applied, ExplorerError> {
        self.apply_by(|session| session.apply(operation))
    }

    /// Applies an edit at the cursor. One of the cluster as it was read begins a branch, as a what-if does, so that both can
    /// be compared.
    fn apply_edit(&mut self, operation: Operation) -> Result<Applied, ExplorerError> {
        let as_read = self.session.current() == 0 && self.session.timeline().revisions().is_empty();
        self.apply_by(|session| if as_read { session.apply_on_new_branch(operation) } else { session.apply(operation) })
    }

    fn apply_by(&mut self, apply: impl FnOnce(&mut Session) -> bool) -> Result<Applied, ExplorerError> {
        let (branches, old) = (self.session.branches().len(), self.session.branch().name().to_owned());
        if !apply(&mut self.session) {
            return Err(ExplorerError::NothingDone);
        }
        let done = self.session.timeline().revisions().last();
        let (kind, title) = done.map(|revision| (revision.kind.clone(), revision.title.clone())).unwrap_or_default();
        let forked = self.session.branches().len() > branches;
        let branch = forked.then(|| (self.session.branch().name().to_owned(), old));
        Ok(Applied { kind, title, objects: 1, branch })
    }

    fn edit(&mut self, edit: &Edit) -> Result<Applied, ExplorerError> {
        let operation = edit.operation(self.session.scheduler_here().state().cluster())?;
        match (self.apply_edit(operation), edit) {
            (Err(ExplorerError::NothingDone), Edit::Allow(pod) | Edit::Reject(pod)) => Err(ExplorerError::NotWaitingOnPermit(pod.clone())),
            (result, _) => result,
        }
    }

    /// Creates or updates the objects of a file.
    fn apply_file(&mut self, path: &str) -> Result<Applied, ExplorerError> {
        let loaded = source::load(&[Input::Path(PathBuf::from(path))]);
        if let Some(wrong) = loaded.diagnostics.into_iter().find(|d| d.severity == Severity::Error) {
            return Err(ExplorerError::Load(Box::new(wrong)));
        }
        let objects: Vec<Object> = loaded.objects;
        let mut result = Err(ExplorerError::NothingInFile { path: path.to_owned() });
        let count = objects.len();
        let mut branch = None;
        for object in objects {
            let operation = Operation::put(self.session.scheduler_here().state().cluster(), object);
            let applied = self.apply_edit(operation)?;
            branch = branch.or(applied.branch);
            result = Ok(Applied { objects: count, branch: branch.clone(), ..applied });
            self.session.timeline_mut().seek(Cursor::END);
        }
        result
    }

    /// Makes the changes of a fix, always on a new branch.
    fn fix(&mut self, fix: &FixToApply) -> Result<Applied, ExplorerError> {
        let cluster = self.session.scheduler_here().state().cluster();
        let operations = if fix.pods.is_empty() {
            fixes::operations(cluster, &fix.pod, &fix.changes)
        } else {
            fixes::operations_of_all(cluster, &fix.pod, &fix.changes, &fix.pods)
        };
        let operations = operations.ok_or(ExplorerError::FixOutdated)?;
        let is_done = |operation: &Operation| match operation {
            Operation::Update { object } => cluster.get(object.kind(), &object.key()).as_ref() == Some(object),
            _ => false,
        };
        if operations.iter().all(is_done) {
            return Err(ExplorerError::NothingDone);
        }
        self.apply_by(|session| session.apply_on_new_branch(Operation::Batch { name: fix.text.clone(), operations }))
    }

    fn advance(&mut self, by: Advance) -> Result<Applied, ExplorerError> {
        match by {
            Advance::Seconds(seconds) => self.apply_operation(Operation::Advance { seconds }),
            Advance::NextTimer => match self.session.scheduler_here().next_timer() {
                Some(wake_up) => self.apply_operation(Operation::AdvanceTo { time: wake_up.time }),
                None => Err(ExplorerError::NoTimer),
            },
        }
    }

    /// Continues with another release, on a new branch.
    fn change_release(&mut self, release: Release) -> Result<Applied, ExplorerError> {
        let old = self.session.branch().name().to_owned();
        self.session.change_release(release)?;
        let done = self.session.timeline().revisions().last();
        let (kind, title) = done.map(|revision| (revision.kind.clone(), revision.title.clone())).unwrap_or_default();
        Ok(Applied { kind, title, objects: 1, branch: Some((self.session.branch().name().to_owned(), old)) })
    }

    /// Applies a what-if on a branch. At a dry decision, one that does not run the scheduler is applied before the
    /// decision, which is then taken again. The cursor ends at the decision about the subject, if it still has one. An error, or
    /// a cancelled run, leaves the session as it was.
    fn apply_what_if(&mut self, verb: &Verb, subject: Option<&Key>) -> Result<WhatIf, ExplorerError> {
        let cursor = self.session.timeline().cursor();
        let was = subject.map(|pod| (pod.clone(), self.decision_about(pod), self.node_of(pod)));
        let at_end_of_last = self.ended_at == Some((self.session.current(), cursor));
        let goes_on = at_end_of_last || self.session.explained().is_none();
        if at_end_of_last {
            self.session.timeline_mut().seek(Cursor::END);
        } else if self.session.explained().is_some() && !verb.settles() {
            self.session.timeline_mut().seek(Cursor { event: 0, ..cursor });
        }
        let finding = Finding::new(&self.session, &self.sources());
        let branch = self.session.begin_what_if();
        let begun_at = self.session.timeline().revisions().len();
        let guard = self.guard.clone();
        let go_on = || !guard.is_cancelled();
        let result = whatif::apply(&mut OnBranch::new(&mut self.session, &go_on), verb, &|kind, key| finding.original(kind, key));
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                if branch.is_some() {
                    self.session.abandon_branch();
                }
                self.session.timeline_mut().seek(cursor);
                return Err(error.into());
            }
        };
        self.session.timeline_mut().seek(Cursor::END);
        let report = WhatIfReport::new(vec![answer], self.session.scheduler(), Vec::new());
        let subject = was.map(|(pod, decision, node)| {
            self.show_end_of(&pod, begun_at, goes_on);
            let decisions = [decision, self.decision_about(&pod)];
            fate(&pod, node.as_ref(), self.session.scheduler().state().cluster(), &decisions)
        });
        let document = Document { title: format!("What if: {verb}"), body: report.answers(), form: Form::Prose, fixes: Vec::new() };
        Ok(WhatIf { headline: report.headline(), subject, document, branch })
    }

    /// Returns whether a pod fits and the sentence about it, by the whole decision at the cursor; `None` if that is not about the
    /// pod.
    fn decision_about(&self, pod: &Key) -> Option<(bool, String)> {
        let revision = self.session.timeline().revision()?;
        let view = CycleView::of(revision.events.iter()).showing(pod);
        let is_about = view.start.as_ref().is_some_and(|start| start.pod == *pod);
        is_about.then(|| (view.outcome == Some(Outcome::Scheduled), why(&view)))
    }

    /// Returns the node that a pod is bound to at the cursor; empty without one, `None` without the pod.
    fn node_of(&self, pod: &Key) -> Option<Str> {
        self.session.scheduler_here().state().cluster().pods.get(pod).map(|pod| pod.node_name.clone())
    }

    /// Seeks the decision about a pod at the end of a branch, whose revisions from `from` on are those of a what-if. A pod that
    /// still waits is decided there; for another one it is the decision that ended its wait. Without one the end stays.
    /// `goes_on` tells whether a further what-if goes on there, instead of before that decision.
    fn show_end_of(&mut self, pod: &Key, from: usize, goes_on: bool) {
        self.session.timeline_mut().seek(Cursor::END);
        self.ended_at = None;
        let waits = |p: &Arc<Pod>| p.is_pending() && !p.is_terminating();
        if self.session.scheduler().state().cluster().pods.get(pod).is_some_and(waits) {
            let _ = self.session.explain(pod);
            self.session.timeline_mut().seek(Cursor::END);
            self.ended_at = goes_on.then(|| (self.session.current(), self.session.timeline().cursor()));
            return;
        }
        let ended = |event: &Event| matches!(event, Event::CycleFinished { pod: p, .. } if p == pod);
        let timeline = self.session.timeline();
        let found = (from..timeline.revisions().len()).rev().find_map(|revision| {
            let events = &timeline.revisions()[revision].events;
            let at = events.iter().rposition(ended)?;
            // The cycle of a pod group goes on with other members.
            let is_group = events.iter().any(|event| matches!(event, Event::Group(_)));
            Some(Cursor { revision, event: if is_group { at + 1 } else { events.len() } })
        });
        if let Some(cursor) = found {
            self.session.timeline_mut().seek(cursor);
            self.ended_at = Some((self.session.current(), self.session.timeline().cursor()));
        }
    }

    /// Applies an edit. At a dry decision, applies it before the decision, on a new branch, so that both decisions can be
    /// compared. Then decides again about the pod of the decision at the cursor, if it still waits.
    fn edit_and_decide_again(&mut self, apply: impl FnOnce(&mut Self) -> Result<Applied, ExplorerError>) -> Result<Applied, ExplorerError> {
        let (explained, cursor) = (self.session.explained(), self.session.timeline().cursor());
        let decided = || self.session.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
        let subject = explained.clone().or_else(decided);
        let is_cycle = explained.is_none() || self.ended_at == Some((self.session.current(), cursor));
        if self.ended_at == Some((self.session.current(), cursor)) {
            self.session.timeline_mut().seek(Cursor::END);
        } else if explained.is_some() {
            self.session.timeline_mut().seek(Cursor { event: 0, ..cursor });
        }
        let result = apply(self);
        match (&result, subject) {
            (Ok(_), Some(pod)) => {
                self.session.timeline_mut().seek(Cursor::END);
                let waits = |pod: &Arc<Pod>| pod.is_pending() && !pod.is_terminating();
                if self.session.scheduler().state().cluster().pods.get(&pod).is_some_and(waits) {
                    let _ = self.session.explain(&pod);
                    self.session.timeline_mut().seek(Cursor::END);
                    self.ended_at = is_cycle.then(|| (self.session.current(), self.session.timeline().cursor()));
                }
            }
            (Err(_), _) => self.session.timeline_mut().seek(cursor),
            (Ok(_), None) => {}
        }
        result
    }
}

/// Returns where a pod ends, which was on a node before; on an empty one if it waited. The decisions about it are those before
/// and after: whether it fits, and the sentence.
fn fate(pod: &Key, before: Option<&Str>, cluster: &Cluster, decisions: &[Option<(bool, String)>; 2]) -> String {
    let Some(now) = cluster.pods.get(pod) else { return format!("{pod} is gone") };
    let node = &now.node_name;
    if !node.is_empty() {
        let verb = if before == Some(node) { "stays" } else { "ends" };
        return format!("{pod} {verb} on {node}");
    }
    let fits = decisions.each_ref().map(|decision| decision.as_ref().map(|(fits, _)| *fits));
    match fits {
        _ if decisions[0] == decisions[1] => format!("nothing changes for {pod}"),
        [Some(true), Some(true)] => format!("{pod} still fits"),
        [_, Some(true)] => format!("{pod} fits now"),
        [Some(true), _] => format!("{pod} no longer fits"),
        _ => format!("{pod} stays pending, for other reasons"),
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
        self.session.timeline()
    }

    fn emulated(&self) -> Emulated {
        self.session.scheduler_here().emulated()
    }

    fn release_report(&self) -> ReleaseReport {
        let scheduler = self.session.scheduler_here();
        ReleaseReport::of(scheduler.emulated(), &decision_parts(scheduler.state().config()))
    }

    fn timeline_mut(&mut self) -> &mut Timeline {
        self.session.timeline_mut()
    }

    fn run_next(&mut self) -> bool {
        self.session.run_next()
    }

    fn explain(&mut self, pod: &Key) -> Option<usize> {
        self.session.explain(pod)
    }

    fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd {
        self.session.run_until(until, turns)
    }

    fn apply(&mut self, change: Change) -> Result<Applied, SessionError> {
        Ok(match change {
            Change::Edit(edit) => self.edit_and_decide_again(|explorer| explorer.edit(&edit))?,
            Change::File(path) => self.edit_and_decide_again(|explorer| explorer.apply_file(&path))?,
            Change::Advance(by) => self.advance(by)?,
            Change::Fix(fix) => self.edit_and_decide_again(|explorer| explorer.fix(&fix))?,
            Change::Release(release) => self.edit_and_decide_again(|explorer| explorer.change_release(release))?,
        })
    }

    fn short_answer(&self, pod: &Key) -> Option<String> {
        short_answer(&self.session, &self.sources(), pod)
    }

    fn what_if(&mut self, verb: &Verb, subject: Option<&Key>) -> Result<WhatIf, SessionError> {
        Ok(self.apply_what_if(verb, subject)?)
    }

    fn settle(&mut self) -> bool {
        self.session.settle()
    }

    fn breakpoints(&self) -> &[Breakpoint] {
        self.session.breakpoints()
    }

    fn set_breakpoints(&mut self, breakpoints: Vec<Breakpoint>) {
        self.session.set_breakpoints(breakpoints);
    }

    fn branches(&self) -> (&[Branch], usize) {
        (self.session.branches(), self.session.current())
    }

    fn fork(&mut self) {
        self.session.fork();
    }

    fn switch_branch(&mut self, to: usize) -> bool {
        self.session.switch(to)
    }

    fn restart(&mut self, queues: InitialQueues) -> Result<Restarted, SessionError> {
        let waiting = match queues {
            InitialQueues::AsObserved => Waiting::AsObserved(self.session.background().events.clone()),
            InitialQueues::Fresh => Waiting::Fresh,
        };
        self.session = self.session.restarted(waiting);
        (self.overview, self.ended_at) = (None, None);
        let entries = &self.session.timeline().queues().entries;
        Ok(Restarted { waiting: entries.len(), inferred: entries.values().filter(|e| e.inferred.is_some()).count() })
    }

    fn save(&self, path: &str) -> Result<(), SessionError> {
        if self.session.is_forgetful() {
            return Err(ExplorerError::Truncated.into());
        }
        if Path::new(path).exists() {
            return Err(WriteError::Exists { path: path.to_owned() }.into());
        }
        self.commit()?;
        output::write_new(Path::new(path), |file| self.session.save(file)).map_err(|error| match error {
            SessionFileError::Io(error) => WriteError::create(path, error).into(),
            error => WriteError::Session { path: path.to_owned(), error }.into(),
        })
    }

    fn start_job(&mut self, job: Job) -> Result<(), SessionError> {
        if matches!(job, Job::Capture { .. } | Job::Ticket { .. }) {
            self.commit()?;
        }
        self.job = Some(Arc::new(RunningJob::start(&self.session, &self.sources(), job).map_err(ExplorerError::from)?));
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
        let here = MadeOf::here(&self.session);
        self.overview.as_ref().map_or_else(OverviewStatus::default, |job| OverviewStatus {
            newest: job.newest(),
            runs: job.runs(),
            is_current: job.of == here,
        })
    }

    fn renew_overview(&mut self, again: bool) -> Result<(), SessionError> {
        let here = MadeOf::here(&self.session);
        let changed_by_itself = |job: &Arc<OverviewJob>| self.following.is_some() && self.session.current() == 0 && job.of.is_beside(here);
        let waits = |job: &Arc<OverviewJob>| {
            (job.of == here && (!again || job.runs())) || (changed_by_itself(job) && (job.runs() || !job.is_due_again()))
        };
        if !self.overview.as_ref().is_some_and(waits) {
            let before = self.overview.as_ref().filter(|job| changed_by_itself(job)).and_then(|job| job.newest());
            self.overview = Some(Arc::new(OverviewJob::start(&self.session, &self.sources(), before).map_err(ExplorerError::from)?));
        }
        Ok(())
    }

    fn stop_overview(&mut self) {
        if let Some(job) = &self.overview {
            job.stop();
        }
    }

    fn workload_named(&self, words: &str, pod: Option<&Key>) -> Option<About> {
        super::workload::named(&self.session, words, pod)
    }

    fn workload(&self, workload: &About) -> Option<Vec<String>> {
        let overview = self.overview.as_ref().and_then(|job| job.newest());
        Some(super::workload::lines(&self.session, workload, overview.as_deref()))
    }

    fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters> {
        self.session.every_filter(pod, node)
    }

    fn written(&self, pod: &Key) -> Option<LastReported> {
        let heard = self.heard.get_or_init(|| SchedulerEvents::new(&self.session.background().events));
        heard.about(self.session.scheduler_as_seen().state().cluster().pods.get(pod)?)
    }

    fn follow(&mut self) -> bool {
        self.at_its_end() && self.take_in(self.session.explained())
    }

    fn is_outdated(&self, revision: usize) -> bool {
        self.following.is_some() && self.session.current() == 0 && self.session.changed_since(revision)
    }

    fn catch_up(&mut self) -> Result<CaughtUp, SessionError> {
        if self.following.is_none() {
            return Err(ExplorerError::NotLive.into());
        }
        let dropped = self.is_full();
        let looked_at = self.session.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
        self.session.switch(0);
        self.session.timeline_mut().seek(Cursor::END);
        if dropped {
            // Bound memory: drop the earlier revisions.
            self.session = self.session.forgotten();
            self.ended_at = None;
        }
        let changed = self.take_in(looked_at.clone());
        if !changed {
            self.session.timeline_mut().seek(Cursor::END);
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
        self.session.source().to_owned()
    }

    fn report_lines(&self) -> Vec<String> {
        let live = self.following.as_ref().map(LiveFollow::lines).unwrap_or_default();
        live.into_iter().chain(self.session.background().report.iter().cloned()).collect()
    }
}
