//! A session: the timeline of what the scheduler did, and a cursor in it.

mod timeline;

pub use timeline::{Cursor, Frame, Moment, Timeline};
