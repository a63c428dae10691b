//! A session: timelines of what the scheduler did, on branches, and a cursor in each.

mod branch;
mod compare;
mod edit;
mod file;
mod recording;
mod series;
mod timeline;
mod until;
mod wakes;

pub use branch::{Action, Branch, Fork};
pub use compare::{Comparison, Decided, PodDifference, VerdictChange, Whereabouts};
pub use edit::{Edit, EditError, key_named, kind_named};
pub use file::{LineProblem, SessionFileError, is_session_file};
pub use recording::{Background, RunEnd, Session};
pub use series::{changes, is_news, is_same_cluster};
pub use timeline::{Cursor, Frame, Moment, RevisionKind, Started, Timeline};
pub use until::{Until, UntilError, WORDS as UNTIL_WORDS};
pub use wakes::WakeEvents;
