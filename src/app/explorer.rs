//! The session behind the screen.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::beside::Beside;
use super::error::{ExplorerError, WriteError};
use super::following::{self, Following, Pace};
use super::leave::Leave;
use super::objects::Sources;
use crate::cluster::{Key, Object, Pod};
use crate::framework::NodeFilters;
use crate::release::Release;
use crate::report::{LastReported, SchedulerEvents};
use crate::scheduler::{Operation, Waiting};
use crate::session::{Branch, Cursor, Edit, EditError, RunEnd, Session, Timeline, Until};
use crate::source::live::Live;
use crate::source::{self, Input, Report, Severity};
use crate::ui::{Driver, DriverError, HowFar, Work, WorkState};

/// A session, with files to read and to write. A clone shares all that is large, and what goes on beside the screen.
#[derive(Clone, Debug)]
pub struct Explorer {
    session: Session,
    /// What the session was loaded from, the newest last: objects' texts are read again from there.
    reports: Vec<Arc<Report>>,
    /// The live cluster, where it is one.
    following: Option<Following>,
    /// What goes on beside the screen.
    work: Option<Arc<Beside>>,
    /// What the cluster's scheduler wrote, once somebody asks.
    heard: Arc<OnceLock<SchedulerEvents>>,
    /// The leave to do what cannot be undone.
    leave: Leave,
}

impl Explorer {
    /// An explorer of a session.
    pub fn new(session: Session) -> Self {
        Self { session, reports: Vec::new(), following: None, work: None, heard: Arc::default(), leave: Leave::default() }
    }

    /// The same explorer, which knows where objects were read; of several sources the newest comes last.
    #[must_use]
    pub fn with_reports(self, reports: Vec<Arc<Report>>) -> Self {
        Self { reports, ..self }
    }

    /// The same explorer, on a cluster that goes on.
    #[must_use]
    pub fn following(mut self, live: Arc<Live>, pace: Pace) -> Self {
        self.session.background_mut().observed = true;
        Self { following: Some(Following::new(live, pace)), ..self }
    }

    /// The same explorer, which asks for leave before it does what cannot be undone: whoever works on a copy of an
    /// explorer may have been given up meanwhile.
    #[must_use]
    pub(super) fn with_leave(self, leave: Leave) -> Self {
        Self { leave, ..self }
    }

    /// From here on it is done, or not at all.
    fn for_good(&self) -> Result<(), ExplorerError> {
        if self.leave.take() { Ok(()) } else { Err(ExplorerError::Stopped) }
    }

    /// Where objects' texts are.
    fn sources(&self) -> Sources {
        let mut unknown = self.reports.last().map(|report| super::objects::unknown_kinds(report)).unwrap_or_default();
        if let Some(following) = &self.following {
            unknown.retain(|kind| !following.listed.contains(kind));
        }
        Sources { unknown, reports: self.reports.clone(), live: self.following.as_ref().map(|f| Arc::clone(f.live())) }
    }

    /// Whether so much was seen that nothing more is taken in beside the branches that hang on it.
    fn is_full(&self) -> bool {
        self.following.is_some()
            && self.session.branches().len() > 1
            && self.session.branches()[0].timeline().frames().len() > following::FRAMES
    }

    /// Takes in what is new of the live cluster. A decision that the reader looks at is taken again.
    fn take_in(&mut self, looked_at: Option<Key>) -> bool {
        let Some(following) = &mut self.following else { return false };
        if !self.leave.take() || !following.take_in(&mut self.session) {
            return false;
        }
        self.heard = Arc::default();
        let full = self.session.branches().len() == 1 && self.session.timeline().frames().len() > following::FRAMES;
        if full {
            // What is kept must not grow.
            self.session = self.session.forgotten();
        }
        self.decide_again(looked_at);
        true
    }

    /// Whether the reader stands at the end of what is seen of a live cluster.
    fn at_its_end(&self) -> bool {
        self.following.is_some() && self.session.current() == 0 && self.session.timeline().at_end() && !self.is_full()
    }

    /// Decides about a pod at the end of what was seen, where it still waits for a node.
    fn decide_again(&mut self, pod: Option<Key>) {
        let Some(pod) = pod.filter(|_| self.at_its_end()) else { return };
        let waits = |p: &Arc<Pod>| p.is_pending() && !p.is_terminating();
        let cluster = self.session.scheduler_as_seen().state().cluster();
        if cluster.pods.get(&pod).is_some_and(waits) && self.session.explain(&pod).is_some() {
            self.session.timeline_mut().seek(Cursor::END);
        }
    }

    fn apply(&mut self, operation: Operation) -> Result<String, ExplorerError> {
        let branches = self.session.branches().len();
        if !self.session.apply(operation) {
            return Err(ExplorerError::NothingDone);
        }
        let title = self.session.timeline().frames().last().map_or_else(String::new, |f| f.title.clone());
        let fork = if self.session.branches().len() > branches {
            format!("; this is {} now, and the old one stays", self.session.branch().name())
        } else {
            String::new()
        };
        Ok(format!("{title}{fork}"))
    }

    fn operation(&self, line: &str) -> Result<Operation, EditError> {
        Edit::parse(line)?.operation(self.session.scheduler_here().state().cluster())
    }

    /// Creates or updates what is in a file.
    fn apply_file(&mut self, path: &str) -> Result<String, ExplorerError> {
        if path.is_empty() {
            return Err(ExplorerError::NoFile);
        }
        let loaded = source::load(&[Input::Path(PathBuf::from(path))]);
        if let Some(wrong) = loaded.diagnostics.into_iter().find(|d| d.severity == Severity::Error) {
            return Err(ExplorerError::Load(Box::new(wrong)));
        }
        let objects: Vec<Object> = loaded.objects;
        let mut said = Err(ExplorerError::NothingInFile { path: path.to_owned() });
        let count = objects.len();
        for object in objects {
            let operation = Operation::put(self.session.scheduler_here().state().cluster(), object);
            said = Ok(self.apply(operation)?);
            self.session.timeline_mut().seek(Cursor::END);
        }
        if count > 1 { said.map(|last| format!("{count} objects, the last of them: {last}")) } else { said }
    }
}

impl From<ExplorerError> for DriverError {
    fn from(error: ExplorerError) -> Self {
        Self::new(error)
    }
}

impl From<WriteError> for DriverError {
    fn from(error: WriteError) -> Self {
        ExplorerError::from(error).into()
    }
}

impl Driver for Explorer {
    fn timeline(&self) -> &Timeline {
        self.session.timeline()
    }

    fn release(&self) -> Release {
        self.session.scheduler().state().config().emulation.release()
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

    fn edit(&mut self, line: &str) -> Result<String, DriverError> {
        // Whoever changes something while they look at a decision that was asked for alone wants to know what it changes
        // about that: it is done before the question, on a branch beside it, and the question is asked again.
        let (asked, cursor) = (self.session.explained(), self.session.timeline().cursor());
        if asked.is_some() {
            self.session.timeline_mut().seek(Cursor { event: 0, ..cursor });
        }
        let answer = match line.strip_prefix("apply ") {
            Some(path) => self.apply_file(path.trim()),
            None => self.operation(line).map_err(ExplorerError::from).and_then(|operation| self.apply(operation)),
        };
        match (&answer, asked) {
            (Ok(_), Some(pod)) => {
                self.session.timeline_mut().seek(Cursor::END);
                // It may be gone, or have its node by now.
                let _ = self.session.explain(&pod);
            }
            (Err(_), Some(_)) => self.session.timeline_mut().seek(cursor),
            (_, None) => {}
        }
        Ok(answer?)
    }

    fn advance(&mut self, how_far: HowFar) -> Result<String, DriverError> {
        Ok(match how_far {
            HowFar::Seconds(seconds) => self.apply(Operation::Advance { seconds })?,
            HowFar::NextTimer => match self.session.scheduler_here().next_timer() {
                Some(wake_up) => self.apply(Operation::AdvanceTo { time: wake_up.time })?,
                None => return Err(ExplorerError::NoWakeUp.into()),
            },
        })
    }

    fn settle(&mut self) -> bool {
        self.session.settle()
    }

    fn branches(&self) -> (&[Branch], usize) {
        (self.session.branches(), self.session.current())
    }

    fn switch_branch(&mut self, to: usize) -> bool {
        self.session.switch(to)
    }

    fn restart(&mut self, observed: bool) -> Result<String, DriverError> {
        let waiting = if observed { Waiting::AsObserved(self.session.background().events.clone()) } else { Waiting::Fresh };
        self.session = self.session.restarted(waiting);
        let entries = &self.session.timeline().queues().entries;
        let inferred = entries.values().filter(|e| e.inferred.is_some()).count();
        Ok(if observed {
            format!("as observed: where {inferred} of {} waiting pods are is inferred; ~ marks them", entries.len())
        } else {
            format!("fresh start: all {} waiting pods are new to the scheduler", entries.len())
        })
    }

    fn save(&self, path: &str) -> Result<String, DriverError> {
        if self.session.is_forgetful() {
            return Err(ExplorerError::Truncated.into());
        }
        if Path::new(path).exists() {
            return Err(WriteError::Exists { path: path.to_owned() }.into());
        }
        self.for_good()?;
        let file = File::create_new(path).map_err(|error| WriteError::Io { path: path.to_owned(), error })?;
        if let Err(error) = self.session.save(file) {
            // Half a session is of no use, and would be in the way of the next try.
            let _ = std::fs::remove_file(path);
            return Err(WriteError::Session { path: path.to_owned(), error }.into());
        }
        Ok(format!("saved to {path}; schedscope open {path} goes on from here"))
    }

    fn start(&mut self, work: Work) -> Result<(), DriverError> {
        if matches!(work, Work::Capture { .. }) {
            self.for_good()?;
        }
        self.work = Some(Arc::new(Beside::start(&self.session, &self.sources(), work).map_err(ExplorerError::from)?));
        Ok(())
    }

    fn poll(&mut self) -> WorkState {
        let state = self.work.as_ref().map_or(WorkState::Idle, |work| work.state());
        if matches!(state, WorkState::Done(..)) {
            self.work = None;
        }
        state
    }

    fn stop(&mut self) {
        self.work = None;
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

    fn rest(&self) -> Duration {
        self.following.as_ref().map_or(Duration::ZERO, Following::rest)
    }

    fn look_again(&self) -> Option<Duration> {
        self.following.as_ref().filter(|_| self.at_its_end())?.next_tried()
    }

    fn has_news(&self) -> bool {
        self.at_its_end() && self.following.as_ref().is_some_and(|f| f.live().has_changes())
    }

    fn is_outdated(&self, frame: usize) -> bool {
        self.following.is_some() && self.session.current() == 0 && self.session.changed_since(frame)
    }

    fn catch_up(&mut self) -> Result<String, DriverError> {
        if self.following.is_none() {
            return Err(ExplorerError::NotLive.into());
        }
        let full = self.is_full();
        let looked_at = self.session.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
        self.session.switch(0);
        self.session.timeline_mut().seek(Cursor::END);
        if full {
            // What is kept must not grow.
            self.session = self.session.forgotten();
        }
        let taken = self.take_in(looked_at.clone());
        if !taken {
            self.session.timeline_mut().seek(Cursor::END);
            self.decide_again(looked_at);
        }
        Ok(if full {
            "here is the cluster as it is; what was kept of before has become too much and is gone".to_owned()
        } else if taken {
            "here is the cluster as it is".to_owned()
        } else {
            "nothing new; here is the cluster as it is".to_owned()
        })
    }

    fn news(&self) -> Option<(String, bool)> {
        let following = self.following.as_ref()?;
        Some(following.news(!self.at_its_end() && following.live().has_changes()))
    }

    fn source(&self) -> String {
        self.session.source().to_owned()
    }

    fn report_lines(&self) -> Vec<String> {
        let live = self.following.as_ref().map(Following::lines).unwrap_or_default();
        live.into_iter().chain(self.session.background().report.iter().cloned()).collect()
    }
}
