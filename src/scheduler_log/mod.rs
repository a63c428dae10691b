//! What kube-scheduler's own log tells: its attempts, in which queue each pod was, and whom it evicted.
//!
//! A [`Reader`] takes files line by line and folds them into a [`SchedulerLog`]: lines of klog as text or JSON, of the
//! releases from 1.20 on, behind whatever prefix a container runtime, kubectl or journald gave them, with lines of other
//! components between. Messages are known by their text, since line numbers change with every release.
//!
//! | file | does |
//! | --- | --- |
//! | `lines` | cuts a stream into lines of bounded length |
//! | `prefix` | takes away what a runtime, kubectl or journald wrote in front |
//! | `entry` | reads a line into a message and its values |
//! | `message` | knows the messages that tell something, and the verbosity that each needs |
//! | `reader` | puts together what comes in several lines, and gives it to the fold |
//! | `fold` | follows pods through attempts and queues |
//! | `dump` | reads what the scheduler writes on SIGUSR2 |
//! | `replicas` | tells schedulers apart that wrote into one log |
//! | `story` | is what the log tells, with the queues at any time and how sure they are |
//! | `finding` | is what the reader should know about the log itself |
//!
//! What a log does not tell is unknown, never none: see [`Process::complete`] and [`Queues`].

mod dump;
mod entry;
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
pub use finding::{Finding, FindingKind};
pub use names::{Name, Names};
pub use reader::{FileFacts, Reader, first_stamp};
pub use story::{
    Attempt, Cause, Certainty, Change, Fact, Leadership, Outcome, Place, Process, QueuedPod, Queues, Requeued, SchedulerLog, Scores,
};
pub use time::{Clock, Stamp};
