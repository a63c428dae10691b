//! Data of one release, the list of emulated releases, and the choice of one of them for other versions.

use strum::IntoEnumIterator as _;

use super::behaviour::Behaviour;
use super::config_fields::{CONFIG_FIELDS, ConfigField, V1, V1BETA1};
use super::defaults::{DefaultArgument, DefaultPlugin, default_sets};
use super::gates::{Gate, OtherGates};
use super::novelty::Novelty;
use super::version::Release;

/// A release of kube-scheduler as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub release: Release,
    /// The first release that behaves like this one.
    pub(super) since: Release,
    /// The parts that were verified against kube-scheduler's own answers.
    pub verified: &'static [Part],
    /// Changes from the minor version before, of a release that was not compared with its own code.
    pub novelties: &'static [Novelty],
    /// Predicates and priorities that are on by default, with their releases.
    pub(super) predicates: &'static [DefaultPlugin],
    /// Plugin arguments whose defaults differ from the plugin's own code.
    pub default_arguments: &'static [DefaultArgument],
    /// In-tree plugins of earlier releases that configurations must not name.
    pub removed_plugins: &'static [RemovedPlugins],
    /// The `apiVersion`s of configurations. The last one is the default without a file.
    pub config_api_versions: &'static [&'static str],
    /// Gates that the binary accepts and the scheduler does not read.
    pub(super) other_gates: &'static [OtherGates],
    /// Gates with those they depend on, if both can be set.
    pub(super) gate_dependencies: &'static [(&'static str, &'static [&'static str])],
    /// Named behaviours of the engine.
    pub behaviour: Behaviour,
}

/// In-tree plugins that configurations must not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovedPlugins {
    /// The apiVersion of these configurations.
    pub api_version: &'static str,
    /// The fixed part of the error, in kube-scheduler's words.
    pub why: &'static str,
    /// The names.
    pub plugins: &'static [&'static str],
}

impl RemovedPlugins {
    /// Returns plugins that the first stable apiVersion does not accept.
    pub(super) const fn invalid(plugins: &'static [&'static str]) -> Self {
        // Upstream compares with the version of the core group.
        Self { api_version: V1, why: "was invalid in version \"v1\"", plugins }
    }
}

/// A part of the emulation that conformance cases of a release may cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumIter, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Part {
    /// The chosen node, and the rejection of the others.
    Decisions,
    /// The queue of a pod, and its moves.
    Queues,
    /// Accepted and refused configurations.
    Configuration,
    /// Calls of HTTP extenders.
    Extenders,
}

impl Profile {
    /// Returns the parts that no case of the release covers.
    pub fn not_verified(&self) -> impl Iterator<Item = Part> {
        Part::iter().filter(|part| !self.verified.contains(part))
    }

    /// Returns the apiVersion of the default configuration.
    pub fn default_config_api_version(&self) -> &'static str {
        self.config_api_versions.last().copied().unwrap_or_default()
    }

    /// Returns the release's predicates in running order, then its priorities, for any gates; empty for a release with
    /// plugins.
    pub fn predicates_and_priorities(&self) -> impl Iterator<Item = &'static DefaultPlugin> {
        let release = self.release;
        self.predicates.iter().filter(move |plugin| plugin.releases.contains(release))
    }

    /// Returns the default plugins for an apiVersion and gates, in order, each with its extension point. Most releases
    /// list all at `multiPoint`.
    pub fn plugins(
        &self,
        api_version: &str,
        enabled: impl Fn(Gate) -> bool,
    ) -> impl Iterator<Item = (&'static str, &'static DefaultPlugin)> {
        let release = self.release;
        let sets = default_sets(api_version).iter();
        let all = sets.flat_map(|set| set.plugins.iter().map(|plugin| (set.point, plugin)));
        all.filter(move |(_, plugin)| {
            plugin.releases.contains(release) && plugin.gate.is_none_or(&enabled) && !plugin.without.is_some_and(&enabled)
        })
    }

    /// Returns whether a plugin that a configuration of an apiVersion enables replaces the default of the same name
    /// instead of being enabled twice.
    pub fn merges_config(&self, api_version: &str) -> bool {
        api_version != V1BETA1
    }

    /// Returns whether a scheduler accepts a policy.
    pub fn reads_policies(&self) -> bool {
        self.release < Release::patch(23, 0)
    }

    /// Returns whether configurations of an apiVersion may list constraints for PodTopologySpread without setting
    /// `defaultingType: List`.
    pub fn lists_own_constraints(&self, api_version: &str) -> bool {
        api_version == V1BETA1
    }

    /// Returns why a configuration of an apiVersion must not name a plugin; `None` if it may.
    pub fn removed(&self, api_version: &str, plugin: &str) -> Option<&'static str> {
        let of_version = self.removed_plugins.iter().filter(|removed| removed.api_version == api_version);
        of_version.filter(|removed| removed.plugins.contains(&plugin)).map(|removed| removed.why).next()
    }

    /// Returns whether configurations of an apiVersion have a field of an owner, such as `profile`,
    /// `plugins` or, for its arguments, the name of a plugin.
    pub fn has_config_field(&self, api_version: &str, owner: &str, field: &str) -> bool {
        let mut rows = CONFIG_FIELDS.iter().filter(|row| row.owner == owner && row.field == field);
        let Some(first) = rows.next() else { return true };
        let has = |row: &ConfigField| row.api_versions.contains(&api_version) && row.releases.contains(self.release);
        has(first) || rows.any(has)
    }
}
