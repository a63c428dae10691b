//! x
#![allow(missing_docs)]
pub mod cluster;
pub mod source;
