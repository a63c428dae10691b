//! What a release enables and passes to plugins where a configuration does not say; mirrors
//! `pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go`.

use super::gates::Gate;

/// A plugin of the default multiPoint list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultPlugin {
    /// Its name as a configuration spells it.
    pub name: &'static str,
    /// Its weight as a score plugin; 0 where the list gives none, which counts as 1.
    pub weight: i32,
    /// The gate without which it is not in the list.
    pub gate: Option<Gate>,
}

impl DefaultPlugin {
    /// Returns a plugin without a weight.
    pub(super) const fn plain(name: &'static str) -> Self {
        Self::weighing(name, 0)
    }

    /// Returns a plugin with a weight.
    pub(super) const fn weighing(name: &'static str, weight: i32) -> Self {
        Self { name, weight, gate: None }
    }

    /// Leaves the plugin out while a gate is off.
    pub(super) const fn with(self, gate: Gate) -> Self {
        Self { gate: Some(gate), ..self }
    }
}

/// The default of one argument of a plugin, where the release's is not that of the plugin's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultArgument {
    /// The plugin's name.
    pub plugin: &'static str,
    /// The field of its arguments.
    pub field: &'static str,
    /// The value as JSON.
    pub value: &'static str,
}
