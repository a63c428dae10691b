//! The scheduler: what waits, what moves it, and the cycle that takes decisions.

mod event_handlers;
pub mod queue;

pub use event_handlers::{HandlerEnv, HandlerStep, PodFilter, handle_change};
