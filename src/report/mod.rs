//! A decision for reading and for programs: JSON, text.

mod decision;

pub use decision::Decision;
