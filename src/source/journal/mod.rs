//! Journals: what a recorder has seen of a cluster, and the cluster as it was at any moment of that.
//!
//! A journal is a folder of segments. A segment is a file of frames: a keyframe, which is the whole state, and then the changes
//! since, a frame for each second with changes. Every frame has a length, a checksum and a place in the order of all frames.
//! Payloads are compressed with gzip.
//!
//! | module | does |
//! | --- | --- |
//! | `frame` | the bytes of a frame, and finding frames in damaged files |
//! | `entry` | the lines of a payload: states of objects and events |
//! | `log` | the log of schedulers, which has frames of its own |
//! | `gap` | times of which nothing is known, and why |
//! | `segment` | the files of a journal |
//! | `state` | the state that is recorded, and the lines of its changes |
//! | `write` | the writer: segments, retention, recovery |
//! | `read` | the reader: the state at a moment as the text of a dump, and the steps after it |
//!
//! A state is written as a capture writes it, so that a journal at a moment is read as the capture of that moment would be.

mod entry;
mod frame;
mod gap;
mod log;
mod read;
mod segment;
mod state;
mod write;

pub use entry::{Knowledge, KnownNeighbors};
pub use gap::{Gap, GapReason};
pub use log::{JournalLog, LogLines, LogWriter};
pub(super) use read::recorded_changes;
pub use read::{Deletion, Journal, Moment, MomentError, RecordedChange, Step, Steps};
pub use state::{RecordedState, unlisted};
pub use write::{JournalError, JournalHealth, JournalOptions, JournalWriter};

#[cfg(test)]
mod tests;
