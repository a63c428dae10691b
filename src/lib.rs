//! x
#![allow(missing_docs)]
pub mod cluster;
