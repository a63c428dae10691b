//! The session, as the screen sees it.

use std::error::Error;

use jiff::Timestamp;

use crate::analysis::{LastReported, ListedLeaving, Preempted, ReleaseReport, SeenLeaving, last_leaving, leavings};
use crate::cluster::neighbors::About;
use crate::cluster::{Key, Kind};
use crate::framework::NodeFilters;
use crate::output;
use crate::release::Emulated;
use crate::session::{Branch, Breakpoint, EtcdRevisions, InitialQueues, RunEnd, Timeline, Until};
use crate::ui::model::effect::NewFile;
use crate::ui::model::live_status::LiveStatus;
use crate::ui::model::overview::OverviewStatus;
use crate::ui::model::text;
use crate::ui::model::text_view::Form;
pub use crate::workspace::{Advance, Applied, Change, FixToApply};

/// A session. The screen reads its timeline and makes requests.
///
/// Every error has a type of the implementation; its text is a sentence for the user.
pub trait SessionHandle {
    /// Returns the record of the current branch, with its cursor.
    fn timeline(&self) -> &Timeline;
    /// Returns the record, to move the cursor.
    fn timeline_mut(&mut self) -> &mut Timeline;
    /// Returns a short name of the source.
    fn source(&self) -> String;
    /// Returns the release of kube-scheduler at the cursor, and why it was chosen.
    fn emulated(&self) -> Emulated;
    /// Returns the release report for the decision at the cursor.
    fn release_report(&self) -> ReleaseReport;
    /// Returns the completeness of the source, a line each.
    fn report_lines(&self) -> Vec<String>;

    /// Records the next step of the scheduler at the end of the branch. Returns false if nothing is left to schedule.
    fn run_next(&mut self) -> bool;
    /// Seeks the next event that meets a condition. Tries at most `turns` more pods.
    fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd;
    /// Records the next step, timers included. Returns false once nothing changes any more.
    fn settle(&mut self) -> bool;
    /// Records a dry decision about a pod at the cursor. Returns its revision; `None` if the pod does not exist.
    fn explain(&mut self, pod: &Key) -> Option<usize>;
    /// Applies a change at the cursor; in the past, on a new branch.
    fn apply(&mut self, change: &Change) -> Result<Applied, SessionError>;
    /// Restarts the record, with waiting pods placed as given.
    fn restart(&mut self, queues: InitialQueues) -> Result<Restarted, SessionError>;

    /// Returns the breakpoints.
    fn breakpoints(&self) -> &[Breakpoint];
    /// Replaces the breakpoints.
    fn set_breakpoints(&mut self, breakpoints: Vec<Breakpoint>);

    /// Returns all branches, and the index of the current one.
    fn branches(&self) -> (&[Branch], usize);
    /// Begins a branch at the cursor, which shares the revisions so far, and switches to it.
    fn fork(&mut self);
    /// Switches to another branch. Returns false for an invalid index.
    fn switch_branch(&mut self, to: usize) -> bool;

    /// Starts a job; it replaces the current one.
    fn start_job(&mut self, job: Job) -> Result<(), SessionError>;
    /// Returns the progress of the job. Its result is returned once.
    fn poll_job(&mut self) -> JobState;
    /// Stops the job.
    fn stop_job(&mut self);

    /// Returns the overview of pending pods, as far as it is made.
    fn overview(&self) -> OverviewStatus;
    /// Starts the overview of the state at the cursor, unless it is there or under way. On a cluster that changes it waits for
    /// a pause. `again` also starts one that was stopped.
    fn renew_overview(&mut self, again: bool) -> Result<(), SessionError>;
    /// Stops the overview; its parts stay.
    fn stop_overview(&mut self);

    /// Returns the answer about a pod at the cursor in short; `None` without such a pod. Searches its best fix.
    fn short_answer(&self, _pod: &Key) -> Option<String> {
        None
    }
    /// Returns the workload that words name as `KIND/NAME`, `NAME`, or either after `NAMESPACE/`; without words, that of a pod.
    fn workload_named(&self, _words: &str, _pod: Option<&Key>) -> Option<About> {
        None
    }
    /// Returns the numbers and the causes of a workload, with the decisions of the overview as far as it is made.
    fn workload(&self, _workload: &About) -> Option<output::Document> {
        None
    }
    /// Returns where a pod left its node last on the timeline; `None` if it did not.
    fn leaving(&self, pod: &Key) -> Option<SeenLeaving> {
        last_leaving(self.timeline().revisions(), pod)
    }
    /// Returns who evicted a pod as events and conditions record it; `None` without a record.
    fn recorded_eviction(&self, _pod: &Key) -> Option<Document> {
        None
    }
    /// Returns the preemptions that events and conditions record, oldest first.
    fn recorded_preemptions(&self) -> Vec<Preempted> {
        Vec::new()
    }
    /// Returns the pods that left their nodes on the timeline, the newest first.
    fn leavings(&self) -> Vec<ListedLeaving> {
        leavings(self.timeline().revisions(), &[])
    }
    /// Writes them as a list.
    fn leavings_list(&self, _found: &[ListedLeaving]) -> output::Document {
        output::Document::default()
    }
    /// Returns who evicted a pod that left its node, and why it. The cursor is before that.
    fn eviction(&self, _seen: SeenLeaving) -> Document {
        Document { title: String::new(), body: output::Document::default(), form: Form::Prose, fixes: Vec::new() }
    }
    /// Returns the revisions of etcd on the timeline; `None` for any other source.
    fn etcd_revisions(&self) -> Option<&EtcdRevisions> {
        None
    }
    /// Returns the attempts of the cluster's scheduler about a pod that the timeline records, compared with our decisions then; `None`
    /// if it shows none.
    fn attempts(&self, _pod: &Key) -> Option<Document> {
        None
    }
    /// Returns the status of a live cluster; `None` for any other source.
    fn live_status(&self) -> Option<LiveStatus> {
        None
    }
    /// Returns when the dump was taken; `None` if it is unknown, or for any other source.
    fn taken(&self) -> Option<DumpTime> {
        None
    }
    /// Applies pending changes of a live cluster if the cursor is at its end. Returns false if there are none.
    fn follow(&mut self) -> bool {
        false
    }
    /// Goes to the end of the record of a live cluster and applies pending changes.
    fn catch_up(&mut self) -> Result<CaughtUp, SessionError>;
    /// Returns whether a live cluster has changed since the decision in a revision of this branch.
    fn is_outdated(&self, _frame: usize) -> bool {
        false
    }

    /// Returns all Filter plugins' answers about a node for a pod, on the cluster before the revision at the cursor; `None`
    /// if either does not exist. Costs as much as filtering one node.
    fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters>;
    /// Returns the last report of the cluster's own scheduler about a pod.
    fn written(&self, pod: &Key) -> Option<LastReported>;
    /// Writes the session to a new file. Fails if the file exists.
    fn save(&self, path: &str) -> Result<(), SessionError>;
}

/// When a dump was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpTime {
    /// The time according to the dump.
    Taken(Timestamp),
    /// The newest time in the dump, which is close to when it was taken and not after.
    Newest(Timestamp),
}

impl DumpTime {
    /// Returns the age in a few words; `None` for a time that is not past.
    pub fn age(self, now: Timestamp) -> Option<String> {
        let (at, words) = match self {
            Self::Taken(at) => (at, "taken"),
            Self::Newest(at) => (at, "as of"),
        };
        (at <= now).then(|| format!("{words} {} ago", text::age(at, now)))
    }
}

/// Why the session refused a request. The text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SessionError(Box<dyn Error + Send + Sync>);

impl SessionError {
    /// Wraps an error of the session.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// The subject of a ticket: what is on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TicketSubject {
    /// The decision of a revision, with its fixes.
    Decision {
        /// The index of the revision.
        revision: usize,
        /// The result of the what-if that led to it.
        result: Option<Page>,
    },
    /// A text about all pending pods.
    Overview(Page),
    /// A text about the fixes of a pod.
    Fixes(Key, Page),
    /// A text about how far the pods of a workload come.
    Workload(About, Page),
    /// Any other text.
    Text(Page),
}

/// A text with its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The title.
    pub title: String,
    /// Its text.
    pub body: output::Document,
    /// The file of the manifest of which it is the answer, if nothing else was changed.
    pub manifest: Option<String>,
}

/// The result of a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restarted {
    /// The number of waiting pods.
    pub waiting: usize,
    /// The number of waiting pods whose place is inferred.
    pub inferred: usize,
}

/// The result of catching up with a live cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaughtUp {
    /// Whether there were pending changes.
    pub changed: bool,
    /// Whether older revisions were dropped, because the record was full.
    pub dropped: bool,
}

/// A task that takes too long for the UI thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Compares the decision about every pending pod with the cluster's scheduler.
    SchedulerMatch,
    /// Compares two observed states of the cluster, or the dump in a file with the newest of them.
    Diff(Option<String>),
    /// Compares two branches, by their indices.
    Compare(usize, usize),
    /// Searches fixes for a pod at the cursor.
    Fixes(Key),
    /// Counts how many more of a pod fit at the cursor.
    Capacity(Key),
    /// Finds who is evicted first if pods like one at the cursor keep coming.
    Flood(Key),
    /// Counts the odds of the decision of a revision over all starting nodes of the search.
    Odds(usize),
    /// Reads an object with all its fields, from the source or the live cluster.
    Object(Kind, Key),
    /// Writes a ticket.
    Ticket {
        /// The file.
        file: NewFile,
        /// The subject of the ticket.
        subject: TicketSubject,
    },
    /// Writes the cluster as last seen to a dump.
    Capture {
        /// The file.
        path: String,
        /// Whether to replace names and texts.
        redact: bool,
    },
}

/// The progress of a job.
#[derive(Debug)]
pub enum JobState {
    /// No job is running.
    Idle,
    /// The number of finished items and of all items; 0 of 0 if unknown.
    Going(usize, usize),
    /// Finished with a text to show.
    Done(Document),
    /// Finished with a sentence.
    Said(String),
    /// Failed.
    Failed(SessionError),
}

/// A text to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: output::Document,
    /// The form of the text.
    pub form: Form,
    /// The fixes that its spans name by index.
    pub fixes: Vec<FixToApply>,
}
