//! DefaultBinder: Bind. Mirrors `pkg/scheduler/framework/plugins/defaultbinder/default_binder.go`.
//!
//! Binding happens in memory: the scheduler sets `spec.nodeName` as the API server would.

use crate::framework::Plugin;

/// Binds pods.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultBinder;

impl Plugin for DefaultBinder {
    plugin!(DefaultBinder);

    fn binds(&self) -> bool {
        true
    }
}
