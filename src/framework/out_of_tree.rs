//! Plugins that an embedder adds to those of kube-scheduler.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{FieldErrors, Plugin, PluginName};
use crate::release::Emulation;

/// Makes a plugin from its arguments in a configuration; `None` if that gives none. Error paths are relative to the arguments.
pub type OutOfTreeFactory = Arc<dyn Fn(Option<&Value>, Emulation) -> Result<Arc<dyn Plugin>, FieldErrors> + Send + Sync>;

/// Out-of-tree plugins, in the order in which they were added.
#[derive(Clone, Default)]
pub struct OutOfTree(Vec<(PluginName, OutOfTreeFactory)>);

impl OutOfTree {
    /// Adds a plugin, or replaces that of the same name.
    pub fn add(&mut self, name: PluginName, factory: OutOfTreeFactory) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, factory));
    }

    /// Returns the names, in order.
    pub fn names(&self) -> impl Iterator<Item = PluginName> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// Returns the factory of a plugin.
    pub fn find(&self, name: &str) -> Option<&OutOfTreeFactory> {
        self.0.iter().find(|(known, _)| known.as_str() == name).map(|(_, factory)| factory)
    }
}

impl fmt::Debug for OutOfTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
