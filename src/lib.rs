//! x
#![allow(missing_docs)]
pub mod app;
pub mod cluster;
pub mod framework;
pub mod plugins;
pub mod preemption;
pub mod session;
pub mod trace;
pub mod ui;
