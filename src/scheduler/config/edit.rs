//! Edits of a configuration in use: weights, plugins off, feature gates.

use serde::{Deserialize, Serialize};

use super::{Config, ConfigError};
use crate::framework::{FieldErrors, PluginName};
use crate::release::{Emulation, FeatureGates, GateError};
use crate::scheduler::runtime::{Framework, PluginRef};

/// An edit of a configuration, in all profiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConfigEdit {
    /// Weights of score plugins.
    Weights(Vec<(PluginName, i32)>),
    /// Disables a plugin at every extension point.
    PluginOff(PluginName),
    /// Feature gates, as `A=true,B=false`.
    Gates(String),
}

/// Writes the edit as it is typed.
impl std::fmt::Display for ConfigEdit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Weights(weights) => {
                f.write_str("weights")?;
                weights.iter().try_for_each(|(plugin, weight)| write!(f, " {plugin}={weight}"))
            }
            Self::PluginOff(plugin) => write!(f, "plugin off {plugin}"),
            Self::Gates(gates) => write!(f, "gate {gates}"),
        }
    }
}

/// Error of an edit: the scheduler would not start with it, or it would change nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigEditError {
    /// The plugin is enabled in no profile.
    #[error("{0} is not enabled")]
    NotEnabled(PluginName),
    /// The plugin is enabled, but scores in no profile.
    #[error("{0} does not score")]
    NotScoring(PluginName),
    /// kube-scheduler does not start without the plugin.
    #[error("kube-scheduler does not start without {0}")]
    Required(PluginName),
    /// kube-scheduler takes a weight below one for no weight.
    #[error("the weight of {0} must be at least 1; plugin off {0} disables it")]
    Weight(PluginName),
    /// The scheduler has these weights or gates already.
    #[error("the scheduler is already configured this way")]
    Unchanged,
    /// The release refuses a feature gate.
    #[error(transparent)]
    Gates(#[from] GateError),
    /// The release refuses the configuration under these feature gates.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Config {
    /// Returns the configuration with an edit. It stays with the configuration when another release reads it.
    ///
    /// # Errors
    /// When kube-scheduler would not start with it, or it would change nothing.
    pub fn edited(&self, edit: &ConfigEdit) -> Result<Self, ConfigEditError> {
        let mut edited = match edit {
            ConfigEdit::Gates(gates) => {
                let profile = self.emulation.profile();
                let all = FeatureGates::parse(&format!("{},{gates}", self.emulation.gate_changes()), profile)?;
                let emulation = Emulation::new(profile, all);
                if emulation.gate_changes() == self.emulation.gate_changes() {
                    return Err(ConfigEditError::Unchanged);
                }
                // Its edits of plugins are made again.
                return Ok(self.of_release(emulation)?);
            }
            ConfigEdit::Weights(_) | ConfigEdit::PluginOff(_) => self.clone(),
        };
        edited.edit_plugins(edit)?;
        edited.edits.push(edit.clone());
        Ok(edited)
    }

    /// Makes the edits of another configuration.
    pub(super) fn with_edits_of(mut self, other: &Self) -> Result<Self, ConfigError> {
        for edit in &other.edits {
            match self.edit_plugins(edit) {
                // A release that lacks the plugin, or has the weight by default, is as wanted.
                Ok(()) | Err(ConfigEditError::NotEnabled(_) | ConfigEditError::NotScoring(_) | ConfigEditError::Unchanged) => {}
                Err(error) => {
                    let mut errors = FieldErrors::default();
                    errors.add("", error.to_string());
                    return Err(errors);
                }
            }
            self.edits.push(edit.clone());
        }
        Ok(self)
    }

    fn edit_plugins(&mut self, edit: &ConfigEdit) -> Result<(), ConfigEditError> {
        match edit {
            ConfigEdit::Weights(weights) => {
                let mut changed = false;
                for (plugin, weight) in weights {
                    changed |= self.set_weight(*plugin, *weight)?;
                }
                if changed { Ok(()) } else { Err(ConfigEditError::Unchanged) }
            }
            ConfigEdit::PluginOff(plugin) => {
                let enabled: Vec<&PluginRef> = self.profiles.iter().flat_map(|p| &p.all).filter(|p| p.name() == *plugin).collect();
                if enabled.is_empty() {
                    return Err(ConfigEditError::NotEnabled(*plugin));
                }
                if enabled.iter().any(|p| p.sorts_queue() || p.binds()) {
                    return Err(ConfigEditError::Required(*plugin));
                }
                for profile in &mut self.profiles {
                    profile.disable(*plugin);
                }
                Ok(())
            }
            ConfigEdit::Gates(_) => Ok(()),
        }
    }

    /// Sets the weight of a plugin where it scores. Returns whether it had another.
    fn set_weight(&mut self, plugin: PluginName, weight: i32) -> Result<bool, ConfigEditError> {
        if weight < 1 {
            return Err(ConfigEditError::Weight(plugin));
        }
        let is_enabled = self.profiles.iter().flat_map(|p| &p.all).any(|p| p.name() == plugin);
        let (mut scores, mut changed) = (false, false);
        for (_, of_plugin) in self.profiles.iter_mut().flat_map(|p| &mut p.score).filter(|(p, _)| p.name() == plugin) {
            scores = true;
            changed |= *of_plugin != i64::from(weight);
            *of_plugin = weight.into();
        }
        match (scores, is_enabled) {
            (true, _) => Ok(changed),
            (false, true) => Err(ConfigEditError::NotScoring(plugin)),
            (false, false) => Err(ConfigEditError::NotEnabled(plugin)),
        }
    }
}

impl Framework {
    /// Removes a plugin from every extension point.
    fn disable(&mut self, plugin: PluginName) {
        let Self { pre_enqueue, pre_filter, filter, post_filter, pre_score, score, reserve, permit, pre_bind, all, .. } = self;
        for list in [pre_enqueue, pre_filter, filter, post_filter, pre_score, reserve, permit, pre_bind, all] {
            list.retain(|p| p.name() != plugin);
        }
        score.retain(|(p, _)| p.name() != plugin);
    }
}

#[cfg(test)]
mod tests;
