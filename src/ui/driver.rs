//! What the screen asks of the session behind it.

use std::error::Error;
use std::time::Duration;

use crate::cluster::{Key, Kind};
use crate::framework::NodeFilters;
use crate::release::Release;
use crate::report::LastReported;
use crate::session::{Branch, RunEnd, Timeline, Until};
use crate::ui::sheet::Form;

/// A timeline that can grow. The screen reads facts from the timeline alone; these are the only requests it makes.
///
/// Where something cannot be had, the answer is an error whose text is a sentence for the reader.
pub trait Driver {
    /// What has been recorded on the branch that the reader is on, and the cursor.
    fn timeline(&self) -> &Timeline;
    /// Returns the release of kube-scheduler whose decisions are taken.
    fn release(&self) -> Release;
    /// For moving the cursor.
    fn timeline_mut(&mut self) -> &mut Timeline;
    /// Lets the scheduler take its next step and records it past the end; false when nothing is left to schedule.
    fn run_next(&mut self) -> bool;
    /// Decides about a pod on the cluster as it is at the cursor, alone and without consequences, and says in which
    /// frame; `None` when there is no such pod.
    fn explain(&mut self, pod: &Key) -> Option<usize>;
    /// Goes on to right behind the next event that meets a condition, trying at most so many further pods.
    fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd;
    /// Does at the cursor what a line says (`cordon worker-a1`, `apply FILE`); where the cursor is in the past, on a
    /// new branch. Says what was done.
    fn edit(&mut self, line: &str) -> Result<String, DriverError>;
    /// Lets time pass at the cursor, likewise.
    fn advance(&mut self, how_far: HowFar) -> Result<String, DriverError>;
    /// One step, at the end of the branch, of letting everything happen until nothing changes any more; false when that
    /// is so.
    fn settle(&mut self) -> bool;
    /// All branches, and which of them the reader is on.
    fn branches(&self) -> (&[Branch], usize);
    /// Goes to another branch; false when there is none of that number.
    fn switch_branch(&mut self, to: usize) -> bool;
    /// Begins work beside the screen, in place of what may be under way.
    fn start(&mut self, work: Work) -> Result<(), DriverError>;
    /// How far the work has got; what came of it is handed out once.
    fn poll(&mut self) -> WorkState;
    /// Stops the work.
    fn stop(&mut self);
    /// Takes in what is new of a live cluster where the reader stands at the end of it; false where there is nothing
    /// new to show.
    fn follow(&mut self) -> bool {
        false
    }
    /// How long a live cluster is to be left alone before what is new is taken in.
    fn rest(&self) -> Duration {
        Duration::ZERO
    }
    /// When to look again although nothing new is heard.
    fn look_again(&self) -> Option<Duration> {
        None
    }
    /// Goes to the end of what was seen of a live cluster, and takes in what is new.
    fn catch_up(&mut self) -> Result<String, DriverError> {
        Err(DriverError::new("this is no live cluster"))
    }
    /// How following a live cluster goes, and whether something is wrong; `None` for what is not live.
    fn news(&self) -> Option<(String, bool)> {
        None
    }
    /// Whether a live cluster has something new that [`Self::follow`] would take in.
    fn has_news(&self) -> bool {
        false
    }
    /// Whether a live cluster has changed since a decision of this branch.
    fn is_outdated(&self, _frame: usize) -> bool {
        false
    }
    /// What every Filter plugin says about a node for a pod, on what the frame at the cursor was decided on; `None` where
    /// that is not known. It is asked once for each frame and node.
    fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters>;
    /// What the cluster's own scheduler last wrote about a pod.
    fn written(&self, pod: &Key) -> Option<LastReported>;
    /// Begins anew, with waiting pods where they are after a restart, or where the cluster suggests.
    fn restart(&mut self, observed: bool) -> Result<String, DriverError>;
    /// Writes the session to a file.
    fn save(&self, path: &str) -> Result<String, DriverError>;
    /// Where the cluster came from, in a few words.
    fn source(&self) -> String;
    /// What was read, skipped or missing in the source, a line each.
    fn report_lines(&self) -> Vec<String>;
}

/// Why the session behind the screen does not do what it is asked for: an error of a type of its own, whose text is a
/// sentence for the reader.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DriverError(Box<dyn Error + Send + Sync>);

impl DriverError {
    /// Wraps an error of the session.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// What can take so long that the screen must not wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Every pending pod's decision beside what the cluster's scheduler wrote.
    SchedulerMatch,
    /// Two branches side by side.
    Compare(usize, usize),
    /// An object as the cluster has it, or had it when it was read.
    Object(Kind, Key),
    /// The cluster as it was seen last into a file that `open` reads.
    Capture {
        /// The file.
        path: String,
        /// With names and texts replaced.
        redact: bool,
    },
}

/// How far work has got.
#[derive(Debug)]
pub enum WorkState {
    /// There is none.
    Idle,
    /// So many of so many parts are done; 0 of 0 where that is not known.
    Going(usize, usize),
    /// What came of it.
    Done(Document),
    /// It is done, in a sentence.
    Said(String),
    /// Nothing came of it, and why.
    Failed(DriverError),
}

/// Some text to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
    /// How they are to be read.
    pub form: Form,
}

/// How far time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowFar {
    /// So many seconds.
    Seconds(u64),
    /// To the next moment at which something happens by it.
    NextTimer,
}
