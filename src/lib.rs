//! x
#![allow(missing_docs)]

pub mod app;
pub mod cli;
pub mod cluster;
pub mod framework;
pub mod plugins;
pub mod preemption;
pub mod report;
pub mod scheduler;
pub mod session;
pub mod source;
pub mod trace;
pub mod ui;
