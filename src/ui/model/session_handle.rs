//! The session behind the screen, as the screen sees it.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use crate::cluster::{Key, Kind};
use crate::framework::NodeFilters;
use crate::release::{Emulated, Release};
use crate::report::{LastReported, ReleaseReport};
use crate::session::{Branch, Edit, InitialQueues, RevisionKind, RunEnd, Timeline, Until};
use crate::ui::model::text_view::Form;

/// A session. The screen reads facts from its timeline; the rest are the requests it makes.
///
/// Every error is a type of the implementation, with a sentence for the user as its text.
pub trait SessionHandle {
    /// Returns the record of the current branch, with its cursor.
    fn timeline(&self) -> &Timeline;
    /// Returns the same record, to move the cursor.
    fn timeline_mut(&mut self) -> &mut Timeline;
    /// Returns where the cluster came from, in a few words.
    fn source(&self) -> String;
    /// Returns the release of kube-scheduler that takes the decisions at the cursor, and why it is that one.
    fn emulated(&self) -> Emulated;
    /// Returns the same for an answer about the decision at the cursor.
    fn release_report(&self) -> ReleaseReport;
    /// Returns what was read, skipped or missing in the source, a line each.
    fn report_lines(&self) -> Vec<String>;

    /// Records the next step of the scheduler at the end of the branch; returns false when nothing is left to schedule.
    fn run_next(&mut self) -> bool;
    /// Seeks the next event that meets a condition, trying at most `turns` further pods.
    fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd;
    /// Records the next step towards rest, time included; returns false when nothing changes any more.
    fn settle(&mut self) -> bool;
    /// Records a dry decision about a pod at the cursor. Returns its revision; `None` without such a pod.
    fn explain(&mut self, pod: &Key) -> Option<usize>;
    /// Applies a change at the cursor; in the past, on a new branch.
    fn apply(&mut self, change: Change) -> Result<Applied, SessionError>;
    /// Begins anew from the start of the record, with waiting pods placed as given.
    fn restart(&mut self, queues: InitialQueues) -> Result<Restarted, SessionError>;

    /// Returns all branches, and the index of the current one.
    fn branches(&self) -> (&[Branch], usize);
    /// Goes to another branch; returns false where there is no such index.
    fn switch_branch(&mut self, to: usize) -> bool;

    /// Starts a job, in place of the present one.
    fn start_job(&mut self, job: Job) -> Result<(), SessionError>;
    /// Returns the progress of the job. The result is returned once.
    fn poll_job(&mut self) -> JobState;
    /// Stops the job.
    fn stop_job(&mut self);

    /// Returns how following a live cluster goes; `None` for any other source.
    fn live_status(&self) -> Option<LiveStatus> {
        None
    }
    /// Applies pending changes of a live cluster where the cursor is at its end; returns false where there are none.
    fn follow(&mut self) -> bool {
        false
    }
    /// Goes to the end of what was seen of a live cluster, and applies pending changes.
    fn catch_up(&mut self) -> Result<CaughtUp, SessionError>;
    /// Returns whether a live cluster has changed since the decision in a revision of this branch.
    fn is_outdated(&self, _frame: usize) -> bool {
        false
    }

    /// Returns every Filter plugin's answer about a node for a pod, on the cluster before the revision at the cursor; `None`
    /// without such a pod or node. Costs as much as filtering one node.
    fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters>;
    /// Returns the last words of the cluster's own scheduler about a pod.
    fn written(&self, pod: &Key) -> Option<LastReported>;
    /// Writes the session to a file that does not exist yet.
    fn save(&self, path: &str) -> Result<(), SessionError>;
}

/// Why the session did not do what it was asked for. Its text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SessionError(Box<dyn Error + Send + Sync>);

impl SessionError {
    /// Wraps an error of the session.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// A change at the cursor.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Edits an object.
    Edit(Edit),
    /// Creates or updates the objects of a file.
    File(String),
    /// Lets time pass.
    Advance(Advance),
    /// Makes the changes of a fix.
    Fix(FixToApply),
    /// Goes on with another release of kube-scheduler, on a new branch.
    Release(Release),
}

/// A fix that was found, and can be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct FixToApply {
    /// In words.
    pub text: String,
    /// The pod that it lets in.
    pub pod: Key,
    /// What it changes.
    pub changes: Arc<[crate::fixes::Change]>,
}

/// How far time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// By seconds.
    Seconds(u64),
    /// To the next timer.
    NextTimer,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What was done, the last of several.
    pub kind: RevisionKind,
    /// The same in words, as the timeline has it.
    pub title: String,
    /// How many objects were changed.
    pub objects: usize,
    /// The branch that began with it: its name, and that of the branch it left.
    pub branch: Option<(String, String)>,
}

/// The result of beginning anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restarted {
    /// Pods that wait to be scheduled.
    pub waiting: usize,
    /// How many of them are placed by inference.
    pub inferred: usize,
}

/// The result of catching up with a live cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaughtUp {
    /// Whether there were changes.
    pub changed: bool,
    /// Whether older revisions were dropped, as the record is full.
    pub dropped: bool,
}

/// How following a live cluster goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveStatus {
    /// In a few words.
    pub words: String,
    /// Whether something is wrong.
    pub trouble: bool,
    /// Whether changes are pending that [`SessionHandle::follow`] would apply.
    pub has_changes: bool,
    /// How long to wait before changes are applied.
    pub cooldown: Duration,
    /// When to try again even if no change arrives.
    pub poll_after: Option<Duration>,
}

/// A task that takes too long for the UI thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Compares every pending pod's decision with the words of the cluster's scheduler.
    SchedulerMatch,
    /// Compares two branches, by their indices.
    Compare(usize, usize),
    /// Searches for what keeps a pod out at the cursor, and for what lets it in.
    Fixes(Key),
    /// Reads an object as the cluster has it, or had it when it was read.
    Object(Kind, Key),
    /// Writes the cluster as it was last seen to a dump.
    Capture {
        /// The file.
        path: String,
        /// With names and texts replaced.
        redact: bool,
    },
}

/// The progress of a job.
#[derive(Debug)]
pub enum JobState {
    /// There is none.
    Idle,
    /// Finished items, and how many there are; 0 of 0 where that is not known.
    Going(usize, usize),
    /// The result, a text to show.
    Done(Document),
    /// The result, a sentence.
    Said(String),
    /// It failed.
    Failed(SessionError),
}

/// A text to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// Its lines.
    pub lines: Vec<String>,
    /// How they are formatted.
    pub form: Form,
    /// Fixes that lines are about, by the number of the line.
    pub fixes: BTreeMap<usize, FixToApply>,
}
