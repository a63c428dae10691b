//! Jobs: tasks that take too long for the UI thread, on threads of their own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cluster::{Key, Kind};
use crate::ui::model::effect::NewFile;
use crate::ui::model::session_handle::{LinkedText, SessionError, TicketSubject};

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
    Ticket { file: NewFile, subject: TicketSubject },
    /// Writes the cluster as last seen to a dump.
    Capture {
        /// The file.
        path: String,
        /// Whether to replace names and texts.
        redact: bool,
    },
}

#[derive(Debug)]
pub enum JobState {
    /// The number of finished items and of all items; 0 of 0 if unknown.
    Going(usize, usize),
    /// Finished with a text to show.
    Done(LinkedText),
    /// Finished with a sentence.
    Said(String),
    Failed(SessionError),
}

/// The thread of a job ended without a result.
#[derive(Debug, thiserror::Error)]
#[error("it ended without a result")]
struct BrokeOff;

/// A running job. Dropping the last clone cancels it.
#[derive(Clone, Debug)]
pub struct RunningJob(Arc<Watched>);

/// The end of a running job that the screen polls.
#[derive(Debug)]
struct Watched {
    progress: Arc<Progress>,
    /// The first of the clones to poll gets the result.
    result: Mutex<Receiver<JobState>>,
}

/// The progress of a job.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicUsize,
    of: AtomicUsize,
    cancelled: AtomicBool,
}

impl Progress {
    /// Reports one finished item; returns false if cancelled.
    pub fn another(&self, of: usize) -> bool {
        self.of.store(of, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
        !self.cancelled.load(Ordering::Relaxed)
    }
}

impl RunningJob {
    /// Makes a job, with the progress and the sender of the result for the thread that works on it.
    #[allow(clippy::new_ret_no_self, reason = "the job comes with what its thread needs")]
    pub fn new() -> (Self, Arc<Progress>, Sender<JobState>) {
        let progress = Arc::new(Progress::default());
        let (sender, result) = channel();
        let watched = Watched { progress: Arc::clone(&progress), result: Mutex::new(result) };
        (Self(Arc::new(watched)), progress, sender)
    }

    /// Returns the progress, or the result once.
    pub fn state(&self) -> JobState {
        let Watched { progress, result } = &*self.0;
        match result.lock().unwrap_or_else(PoisonError::into_inner).try_recv() {
            Ok(end) => end,
            Err(TryRecvError::Empty) => JobState::Going(progress.done.load(Ordering::Relaxed), progress.of.load(Ordering::Relaxed)),
            Err(TryRecvError::Disconnected) => JobState::Failed(SessionError::new(BrokeOff)),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.progress.cancelled.store(true, Ordering::Relaxed);
    }
}
