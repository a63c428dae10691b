//! Reads kube-scheduler's own log: its attempts, the queue of each pod over time, and its preemptions.
//!
//! A [`Reader`] takes files line by line and folds them into a [`SchedulerLog`]. It reads klog's text and JSON of
//! releases from 1.20 on, with the prefixes of container runtimes, kubectl and journald, among lines of other
//! components. Messages are recognized by their text, since line numbers change with every release.
//!
//! | file | does |
//! | --- | --- |
//! | `lines` | splits a stream into lines of bounded length |
//! | `prefix` | strips the prefixes of runtimes, kubectl and journald |
//! | `entry` | parses a line into a message and its values |
//! | `message` | lists the known messages and the verbosity of each |
//! | `reader` | joins split lines and passes them to the fold |
//! | `fold` | follows pods through attempts and queues |
//! | `dump` | parses the dump that the scheduler logs on SIGUSR2 |
//! | `replicas` | distinguishes schedulers that share a log |
//! | `story` | holds the result, with the queues at any time and their certainty |
//! | `excerpt` | selects the lines that are understood, for a copy of the log |
//! | `finding` | holds remarks about the log itself |
//!
//! Facts that a log does not hold are unknown, never empty: see [`Process::complete`] and [`Queues`].

mod dump;
mod entry;
mod excerpt;
mod finding;
mod fold;
mod lines;
mod message;
mod names;
mod prefix;
mod reader;
mod replicas;
mod story;
#[cfg(test)]
mod tests;
mod time;

pub use dump::{Amounts, CachedNode, Dump};
pub use excerpt::{Excerpt, LineParts};
pub use finding::{Finding, FindingKind};
pub use names::{Name, Names};
pub use reader::{FileFacts, Reader, first_stamp};
pub use story::{
    Attempt, Cause, Certainty, Change, Fact, Leadership, Outcome, Place, Process, QueuedPod, Queues, Requeued, SchedulerLog, Scores, Seen,
    Sight,
};
pub use time::{Clock, Stamp};
