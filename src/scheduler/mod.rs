//! The scheduler: configuration and profiles, the runtime that runs extension points, cache and snapshot, queue, and
//! the scheduling and binding cycle. It is the only emitter of [`crate::trace`].

mod algorithm;
#[cfg(test)]
mod budget_tests;
mod cache;
mod config;
mod cycle;
mod decide;
mod event_handlers;
mod observed;
mod operations;
pub mod queue;
mod rejectors;
mod runtime;
mod scoring;
mod search;
mod settling;
mod state;
#[cfg(test)]
mod testing;
mod wake_up;

/// The version whose decisions are taken.
pub const EMULATED_VERSION: &str = "v1.36.2";

pub use algorithm::{Attempt, Attempted, FitError, NO_NODES, Sampling};
pub use cache::Cache;
pub use config::{Config, ConfigError};
pub use decide::{Ground, decide, every_filter};
pub use event_handlers::{HandlerEnv, HandlerStep, PodFilter, handle_change};
pub use operations::{Evictions, Operation, Options, Scheduler, Waiting};
pub use rejectors::{Rejectors, reasons};
pub use runtime::{Framework, Nominations, PluginRef};
pub use settling::Settling;
pub use state::State;
pub use wake_up::{Wake, WakeUp};
