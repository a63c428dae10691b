//! A decision for reading and for programs: one sentence, text, JSON.

mod completeness;
mod decision;
mod operation;
mod text;
mod why;

pub use completeness::completeness;
pub use decision::*;
pub use operation::{BackoffReport, MoveReport, OperationReport, QueuesReport, UnschedulableReport};
pub use text::{decided_by, text};
pub use why::{reason_groups, why};
