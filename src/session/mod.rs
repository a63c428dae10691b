//! Records a session: timelines of scheduling on branches, each with a cursor.
//!
//! A [`Session`] is a list of [`Branch`]es. A branch is a [`Timeline`] and the scheduler at its end. A timeline is a list of
//! [`Revision`]s and a [`Cursor`] among their events:
//!
//! ```text
//!             revision 0            revision 1            revision 2
//! main      K ── e e e e ── K     K ── e e e ── K       K ── e e ── K
//!           before       after    (after 0 = before 1)              scheduler at the end
//!                                        ▲ cursor { revision: 1, event: 2 }
//!                                 │
//! branch 2                        └ (shares revision 0) ── e e e e e ── K
//! ```
//!
//! - A **revision** is one [`Action`] with its events (`e`), the [`Keyframe`] (`K`) before and after it, and the scheduler before it.
//!   Revisions never change: branches share them, and so do clones.
//! - A **keyframe** is the full state. Keyframes share their parts, so that one per revision is cheap.
//! - The **cursor** says that the first `event` events of a revision have happened. Moving it folds events onto the views of the
//!   cycle and the queues. It never asks the engine, so that each position always shows the same. Stepping back starts from the
//!   nearest **checkpoint**, a view kept within the revision.
//! - An action **at the end** of a branch extends it. An action **in the past** leaves the branch as it is and forks one that shares
//!   the revisions before the cursor; it continues with the scheduler before the next revision.
//! - A **dry decision** and an attempt **from a log** leave the state as it was. A dry decision is therefore inserted at the cursor,
//!   into every branch that shares the place, and no branch begins.
//! - Where the session **observes** a cluster ([`Background::observed`]), the first branch records that cluster alone: user's actions
//!   go to other branches.
//!
//! A saved session ([`Session::save`]) holds the objects at the start and the actions. The engine replays them to the same revisions.

mod at_time;
mod branch;
mod breakpoint;
mod compare;
mod dump_series;
mod edit;
mod event_log;
#[cfg(feature = "dumps")]
mod file;
mod grammar;
mod logged;
#[cfg(feature = "dumps")]
mod neighbors;
mod observed_changes;
mod recording;
mod replay;
mod reported;
mod requeue_events;
mod revision;
mod timeline;
mod until;
mod upgrade;
#[cfg(feature = "dumps")]
mod values;
mod verb;

pub use crate::scheduler::InitialQueues;
pub use at_time::{AtTime, AtTimeError, parse_length};
pub use branch::{Branch, Fork};
pub use breakpoint::{Breakpoint, BreakpointError, WORDS as BREAKPOINT_WORDS};
pub use compare::{Comparison, Decided, PodDifference, PodLocation, ScoreChange, VerdictChange};
pub use dump_series::{changes, has_new_report, in_order_of_time, is_same_cluster};
pub(crate) use edit::patched;
pub use edit::{Edit, EditError, key_named};
pub use event_log::EventLog;
#[cfg(feature = "dumps")]
pub use file::{LineProblem, SESSION_HEAD, SessionFileError, is_session_file};
pub use grammar::{GRAMMAR, Names, Row, Subject, Thing, VerbError};
pub use logged::{LoggedAttempt, LoggedPlace};
pub use observed_changes::ObservedChanges;
pub(crate) use recording::objects_in_order;
pub use recording::{Background, EtcdRevisions, ReleaseChangeError, RunEnd, Session, requeue_events};
pub use replay::ReplayLimit;
pub use reported::{PlacedAttempt, ReportedAttempt, ReportedBy, ReportedOutcome, reported_attempts};
pub use requeue_events::RequeueEvents;
pub use revision::{Action, Keyframe, ObjectChange, Revision, RevisionKind};
pub use timeline::{Cursor, Occurrence, Timeline};
pub use until::{Until, UntilError, WORDS as UNTIL_WORDS};
pub use upgrade::{PodDecisions, UpgradeComparison, pending};
pub use verb::{Lost, Owner, OwnerKind, PriorityWord, TaintEdit, Verb};
