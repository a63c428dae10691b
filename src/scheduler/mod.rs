//! The scheduler: configuration and profiles, the runtime that runs extension points, cache and snapshot, queue, and
//! the scheduling and binding cycle. It is the only emitter of [`crate::trace`].

mod algorithm;
mod alike;
mod binding_under_way;
#[cfg(test)]
mod budget_tests;
mod cache;
mod config;
mod cycle;
mod decide;
mod dry_group;
mod equivalence_cache;
mod error;
mod event_handlers;
mod extending;
mod object_id;
mod observed;
mod operations;
mod pod_group;
mod pod_groups;
#[cfg(test)]
mod predicates_tests;
pub mod queue;
mod quiescence;
mod rejectors;
mod ring;
mod runtime;
mod scoring;
mod search;
mod starts;
mod state;
#[cfg(test)]
mod testing;
mod timers;
mod trial;

pub use algorithm::{FitError, NO_NODES, PostFilter, Sampling, SchedulePod, ScheduleResult};
pub use binding_under_way::binding_under_way;
pub use cache::Cache;
pub use config::{Config, ConfigEdit, ConfigEditError, ConfigError, value_without_credentials};
pub use decide::{DryDecision, DryOptions};
pub use dry_group::GroupViews;
pub use error::ScheduleError;
pub use event_handlers::{HandlerEnv, HandlerStep, PodFilter, handle_change};
pub use operations::{Evictions, InitialQueues, Operation, Options, ReleaseRefused, Scheduler};
pub use quiescence::{Quiescence, StepBound};
pub use rejectors::{LONGEST_MESSAGE, Rejectors, reasons};
pub use runtime::{Framework, Nominations, PluginRef};
pub use starts::OddsEffort;
pub use state::State;
pub use timers::{Timer, TimerKind};
pub use trial::{FilterTable, ObjectEdit};

pub use crate::plugins::registry::may_extend;
