//! A decision for reading and for programs: one sentence, text, JSON.

mod agreement;
mod comparison;
mod completeness;
mod decision;
mod form;
mod missing;
mod operation;
mod story;
mod text;
mod why;

pub use agreement::{
    Agreements, LastReported, MatchKind, Preempted, SchedulerComparer, SchedulerEvents, SchedulerMatch, differences, pending, preempted,
};
pub use comparison::comparison;
pub use completeness::completeness;
pub use decision::*;
pub use form::{Answer, FORMATS, Format, FormatError, WriteOperation};
pub use missing::{Missing, budgets_unknown_because};
pub use operation::{BackoffReport, MoveReport, OperationReport, QueuesReport, UnschedulableReport};
pub use story::{PodStory, Stories, stories, stories_text};
pub use text::{decided_by, text};
pub use why::{so_far, so_far_in_short, why};
