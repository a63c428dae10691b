//! A session: the timeline of what the scheduler did, and a cursor in it.

mod recording;
mod timeline;

pub use recording::Session;
pub use timeline::{Cursor, Frame, Moment, Timeline};
