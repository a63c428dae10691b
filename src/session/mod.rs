//! A session: the timeline of what the scheduler did, and a cursor in it.

mod session;
mod timeline;

pub use session::Session;
pub use timeline::{Cursor, Frame, Moment, Timeline};
