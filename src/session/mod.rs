//! A session: the timeline of what the scheduler did, and a cursor in it.

mod recording;
mod timeline;
mod wakes;

pub use recording::Session;
pub use timeline::{Cursor, Frame, Moment, Started, Timeline};
pub use wakes::WakeEvents;
