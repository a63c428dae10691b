//! The names that verbs use.

pub use crate::ui::actions::error::CommandError;
pub use crate::ui::actions::verb::{Answer, Command, Verb, keys};
pub use crate::ui::config::context::Context;
pub use crate::ui::model::session_handle::SessionHandle;
pub use crate::ui::model::state::State;
