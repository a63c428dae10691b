//! Records a session: timelines of scheduling on branches, each with a cursor.

mod branch;
mod breakpoint;
mod compare;
mod dump_series;
mod edit;
#[cfg(feature = "dumps")]
mod file;
mod logged;
mod recording;
mod replay;
mod requeue_events;
mod timeline;
mod until;
mod upgrade;
#[cfg(feature = "dumps")]
mod values;

pub use branch::{Action, Branch, Fork};
pub use breakpoint::{Breakpoint, BreakpointError, WORDS as BREAKPOINT_WORDS};
pub use compare::{Comparison, Decided, PodDifference, PodLocation, ScoreChange, VerdictChange};
pub use dump_series::{changes, is_news, is_same_cluster};
pub(crate) use edit::patched;
pub use edit::{Edit, EditError, key_named, kind_named};
#[cfg(feature = "dumps")]
pub use file::{LineProblem, SESSION_HEAD, SessionFileError, is_session_file};
pub use logged::{LoggedAttempt, LoggedPlace};
pub(crate) use recording::objects_in_order;
pub use recording::{Background, ReleaseChangeError, RunEnd, Session, requeue_events};
pub use replay::ReplayLimit;
pub use requeue_events::RequeueEvents;
pub use timeline::{Cursor, InitialQueues, Keyframe, Occurrence, Revision, RevisionKind, Timeline};
pub use until::{Until, UntilError, WORDS as UNTIL_WORDS};
pub use upgrade::{PodDecisions, UpgradeComparison, pending};
