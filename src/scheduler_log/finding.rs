//! What the reader of a log should know about it.

use std::fmt;
use std::sync::Arc;

use super::lines::MAX_LINE;

/// One remark about a log, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, `-` for standard input.
    pub file: Arc<str>,
    /// The line, from 1; `None` for the file as a whole.
    pub line: Option<u64>,
    /// The remark.
    pub kind: FindingKind,
}

/// What a remark says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The file holds nothing of kube-scheduler.
    NotScheduler {
        /// How many lines it has.
        lines: u64,
    },
    /// The file cannot be opened, and why.
    Unopened(String),
    /// The stream breaks off, and why.
    BreaksOff(String),
    /// A line is longer than can be read.
    TooLong,
    /// A value over several lines does not end.
    Cut,
    /// A line is no UTF-8.
    NotUtf8,
    /// The clock goes back by so many seconds.
    ClockBack(i64),
    /// The scheduler started again: its queues begin anew.
    Restarted,
    /// Another process takes over or writes beside: its queues are its own.
    AnotherProcess {
        /// The process id.
        pid: u32,
    },
    /// A process waits for the lease, while another one leads.
    Waits,
    /// A process lost the lease.
    LostLease,
    /// The file does not hold the start of the scheduler.
    NoStart,
    /// A dump of the queue has other pods than the moves before it.
    DumpDiffers {
        /// How many pods are elsewhere.
        pods: usize,
    },
    /// The scheduler's own comparison of its cache with the API server.
    CacheMismatch,
    /// More attempts or moves than are kept.
    TooMany,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotScheduler { lines: 0 } => f.write_str("is empty"),
            Self::NotScheduler { lines } => write!(f, "none of its {lines} lines is one of kube-scheduler"),
            Self::Unopened(why) => f.write_str(why),
            Self::BreaksOff(why) => write!(f, "breaks off ({why}); the lines before were read"),
            Self::TooLong => write!(f, "a line of more than {} MiB was passed over", MAX_LINE >> 20),
            Self::Cut => f.write_str("a value over several lines is cut"),
            Self::NotUtf8 => f.write_str("a line is not UTF-8; the bytes that are not were replaced"),
            Self::ClockBack(seconds) => write!(f, "the clock goes back by {seconds} s"),
            Self::Restarted => f.write_str("the scheduler starts again here: its queues begin anew"),
            Self::AnotherProcess { pid } => write!(f, "another process, {pid}, writes here: its queues are its own"),
            Self::Waits => f.write_str("this scheduler waits for the lease that another one holds; its queues are not the leader's"),
            Self::LostLease => f.write_str("the scheduler lost the lease"),
            Self::NoStart => {
                f.write_str("the scheduler's start is not in the log: pods that were queued before and did not move are missing")
            }
            Self::DumpDiffers { pods } => {
                write!(f, "the dump of the queue has {pods} pods elsewhere than the lines before it tell; the dump counts")
            }
            Self::CacheMismatch => f.write_str("the scheduler found its cache different from the API server"),
            Self::TooMany => f.write_str("the log tells more than can be kept; the rest was passed over"),
        }
    }
}
