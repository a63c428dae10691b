//! Findings: remarks about the log itself, such as gaps in it.

use std::fmt;
use std::sync::Arc;

use crate::limits::sources::{LOG_LINE, LOG_WRITERS};

/// A remark about a log, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, `-` for standard input.
    pub file: Arc<str>,
    /// The line, from 1; `None` for the file as a whole.
    pub line: Option<u64>,
    /// The remark.
    pub kind: FindingKind,
}

/// The kinds of remarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The file holds no line of kube-scheduler.
    NotScheduler {
        /// The number of lines in the file.
        lines: u64,
    },
    /// The file cannot be opened, with the error.
    Unopened(String),
    /// The stream ends with an error.
    BreaksOff(String),
    /// A line is longer than the limit.
    TooLong,
    /// A multi-line value has no end.
    Cut,
    /// A line is not UTF-8.
    NotUtf8,
    /// The clock goes back, in seconds.
    ClockBack(i64),
    /// The scheduler restarted, with empty queues.
    Restarted,
    /// Another process continues the log or writes to it at the same time; it has queues of its own.
    AnotherProcess {
        /// The process id.
        pid: u32,
    },
    /// A process waits for the lease while another one leads.
    Waits,
    /// A process lost the lease.
    LostLease,
    /// The file does not hold the start of the scheduler.
    NoStart,
    /// A dump of the queues disagrees with the lines before it.
    DumpDiffers {
        /// The number of pods in another place.
        pods: usize,
    },
    /// The scheduler reports that its cache differs from the API server.
    CacheMismatch,
    /// The log has more attempts or changes than are kept.
    TooMany,
    /// The file has lines of more writers than are distinguished.
    ManyWriters,
    /// A line has zero bytes.
    Zeros,
}

impl FindingKind {
    /// Returns whether lines of a scheduler may be missing.
    pub(super) fn loses_lines(&self) -> bool {
        match self {
            Self::Unopened(_) | Self::BreaksOff(_) | Self::TooLong | Self::Cut | Self::TooMany | Self::ManyWriters | Self::Zeros => true,
            Self::NotScheduler { .. }
            | Self::NotUtf8
            | Self::ClockBack(_)
            | Self::Restarted
            | Self::AnotherProcess { .. }
            | Self::Waits
            | Self::LostLease
            | Self::NoStart
            | Self::DumpDiffers { .. }
            | Self::CacheMismatch => false,
        }
    }
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
            Self::NotScheduler { lines } => write!(f, "none of its {lines} lines is from kube-scheduler"),
            Self::Unopened(why) => f.write_str(why),
            Self::BreaksOff(why) => write!(f, "is truncated ({why}); the lines before were read"),
            Self::TooLong => write!(f, "a line of more than {} MiB was skipped", LOG_LINE >> 20),
            Self::Cut => f.write_str("a multi-line value is truncated"),
            Self::NotUtf8 => f.write_str("a line is not UTF-8; the bytes that are not were replaced"),
            Self::ClockBack(seconds) => write!(f, "the clock goes back by {seconds} s"),
            Self::Restarted => f.write_str("the scheduler restarted here: its queues start over"),
            Self::AnotherProcess { pid } => write!(f, "another process, {pid}, writes this log too, with its own queues"),
            Self::Waits => f.write_str("this scheduler waits for the lease that another one holds; its queues are not the leader's"),
            Self::LostLease => f.write_str("the scheduler lost the lease"),
            Self::NoStart => {
                f.write_str("the scheduler's start is not in the log: pods that were queued before and did not move are missing")
            }
            Self::DumpDiffers { pods } => {
                write!(f, "the dump of the queues places {pods} pods differently than the lines before it; the dump is used")
            }
            Self::CacheMismatch => f.write_str("the scheduler found its cache different from the API server"),
            Self::TooMany => f.write_str("the log has more attempts or moves than can be kept; the rest was skipped"),
            Self::ManyWriters => write!(f, "lines of more than {LOG_WRITERS} writers; those of the others were skipped"),
            Self::Zeros => f.write_str("a line has zero bytes, as a crash leaves them; lines may be missing"),
        }
    }
}
