//! A session: the timeline of what the scheduler did, and a cursor in it.

mod branch;
mod recording;
mod timeline;
mod until;

pub use branch::{Action, Branch, Fork};
pub use recording::{RunEnd, Session};
pub use timeline::{Cursor, Frame, Moment, Timeline};
pub use until::{Until, WORDS as UNTIL_WORDS};
