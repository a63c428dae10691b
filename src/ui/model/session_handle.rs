//! The session, as the screen sees it.

use std::error::Error;
use std::ops::{Deref, DerefMut};

use jiff::Timestamp;

use crate::analysis::{LastReported, ReleaseReport, decision_parts};
use crate::cluster::Key;
use crate::cluster::neighbors::About;
use crate::output;
use crate::release::Emulated;
use crate::session::{InitialQueues, Session};
use crate::ui::model::job::{Job, RunningJob};
use crate::ui::model::live_status::LiveStatus;
use crate::ui::model::overview::OverviewStatus;
use crate::ui::model::text;
use crate::ui::model::text_view::Form;
pub use crate::workspace::{Advance, Applied, Change, FixToApply};

/// A session, with what needs its source, files, threads or a live cluster. The screen reads the session, moves its cursor and runs its
/// scheduler; what a user changes goes through [`Self::apply`].
///
/// Every error has a type of the implementation; its text is a sentence for the user.
pub trait SessionHandle: Deref<Target = Session> + DerefMut {
    /// Returns the release of kube-scheduler at the cursor, and why it was chosen.
    fn emulated(&self) -> Emulated {
        self.scheduler_here().emulated()
    }
    /// Returns the release report for the decision at the cursor.
    fn release_report(&self) -> ReleaseReport {
        ReleaseReport::of(self.emulated(), &decision_parts(self.scheduler_here().state().config()))
    }
    /// Returns the completeness of the source, a line each.
    fn report_lines(&self) -> Vec<String>;

    /// Applies a change at the cursor; in the past, on a new branch.
    fn apply(&mut self, change: &Change) -> Result<Applied, SessionError>;
    /// Restarts the record, with waiting pods placed as given.
    fn restart(&mut self, queues: InitialQueues) -> Result<Restarted, SessionError>;

    fn start_job(&mut self, job: Job) -> Result<RunningJob, SessionError>;

    /// Returns the overview of pending pods, as far as it is made.
    fn overview(&self) -> OverviewStatus;
    /// Starts the overview of the state at the cursor, unless it is there or under way. On a cluster that changes it waits for
    /// a pause. `again` also starts one that was stopped.
    fn renew_overview(&mut self, again: bool) -> Result<(), SessionError>;
    /// Stops the overview; its parts stay.
    fn stop_overview(&mut self);

    /// Returns the answer about a pod at the cursor in short; `None` without such a pod. Searches its best fix.
    fn short_answer(&self, pod: &Key) -> Option<String>;
    /// Returns the workload that words name as `KIND/NAME`, `NAME`, or either after `NAMESPACE/`; without words, that of a pod.
    fn workload_named(&self, words: &str, pod: Option<&Key>) -> Option<About>;
    /// Returns why the source may lack workloads, as the end of a sentence; empty where it has all or does not say.
    fn workloads_unknown(&self) -> String;
    /// Returns the numbers and the causes of a workload, with the decisions of the overview as far as it is made.
    fn workload(&self, workload: &About) -> output::Document;
    /// Returns the attempts of the cluster's scheduler about a pod that the timeline records, compared with our decisions then; `None`
    /// if it shows none.
    fn attempts(&self, pod: &Key) -> Option<LinkedText>;
    /// Returns the status of a live cluster; `None` for any other source.
    fn live_status(&self) -> Option<LiveStatus>;
    /// Returns when the dump was taken; `None` if it is unknown, or for any other source.
    fn taken(&self) -> Option<DumpTime>;
    /// Applies pending changes of a live cluster if the cursor is at its end. Returns false if there are none.
    fn follow(&mut self) -> bool;
    /// Goes to the end of the record of a live cluster and applies pending changes.
    fn catch_up(&mut self) -> Result<CaughtUp, SessionError>;
    /// Returns whether a live cluster has changed since the decision in a revision of this branch.
    fn is_outdated(&self, revision: usize) -> bool;
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

/// A document to show, with its title and the fixes that its spans link to.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedText {
    pub title: String,
    /// Its text.
    pub body: output::Document,
    /// The form of the text.
    pub form: Form,
    /// The fixes that its spans name by index.
    pub fixes: Vec<FixToApply>,
}

impl LinkedText {
    /// Makes a text of words that links to no fix.
    pub fn prose(title: impl Into<String>, body: output::Document) -> Self {
        Self { title: title.into(), body, form: Form::Prose, fixes: Vec::new() }
    }
}
