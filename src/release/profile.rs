//! Data of one release, the list of emulated releases, and the choice of one of them for other versions.

use strum::IntoEnumIterator as _;

use super::behaviour::Behaviour;
use super::config_fields::{CONFIG_FIELDS, ConfigField, V1, V1BETA1};
use super::defaults::{DefaultArgument, DefaultPlugin, default_sets};
use super::gates::{Gate, OtherGates};
use super::version::Release;
use super::{
    v1_11, v1_12, v1_20, v1_21, v1_22, v1_23, v1_24, v1_25, v1_26, v1_27, v1_28, v1_29, v1_30, v1_31, v1_32, v1_33, v1_34, v1_35, v1_36,
};

/// A release of kube-scheduler as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The release whose code the data was checked against.
    pub release: Release,
    /// The first release that the data covers.
    pub(super) since: Release,
    /// The parts that were verified against kube-scheduler's own answers.
    pub verified: &'static [Part],
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

/// Every emulated release, oldest first.
static PROFILES: [Profile; 27] = [
    v1_11::PROFILE,
    v1_12::PROFILE,
    v1_20::PROFILE,
    v1_21::PROFILE,
    v1_22::PROFILE,
    v1_23::PROFILE,
    v1_23::REORDERED,
    v1_24::PROFILE,
    v1_25::PROFILE,
    v1_26::PROFILE,
    v1_26::WITH_STATUSES,
    v1_26::WITH_ORDER,
    v1_27::PROFILE,
    v1_27::WITH_STATUSES,
    v1_27::WITH_ORDER,
    v1_28::PROFILE,
    v1_28::WITHOUT_HINTS,
    v1_29::FIRST,
    v1_29::PROFILE,
    v1_30::PROFILE,
    v1_30::WITHOUT_CRASH,
    v1_31::PROFILE,
    v1_32::PROFILE,
    v1_33::PROFILE,
    v1_34::PROFILE,
    v1_35::PROFILE,
    v1_36::PROFILE,
];

impl Profile {
    /// Returns the newest emulated release.
    pub fn newest() -> &'static Self {
        let [.., newest] = &PROFILES;
        newest
    }

    /// Returns every emulated release, oldest first.
    pub fn all() -> &'static [Self] {
        &PROFILES
    }

    /// Returns the profile with exactly this version, written as [`Release`] displays it.
    pub fn named(version: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|p| p.release.to_string() == version)
    }

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

/// Returns the emulated minor versions as text, oldest first.
pub fn supported() -> String {
    let mut minors: Vec<String> = PROFILES.iter().map(|p| p.release.minor()).collect();
    minors.dedup();
    minors.join(", ")
}

/// Returns the oldest and the newest emulated minor version as text: `1.11 to 1.36`.
pub(super) fn range() -> String {
    let minor = |profile: Option<&Profile>| profile.map_or_else(String::new, |p| p.release.minor());
    format!("{} to {}", minor(PROFILES.first()), minor(PROFILES.last()))
}

/// Returns the newest release among texts; ignores texts that are not versions.
pub fn newest<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Release> {
    texts.filter_map(|text| Release::parse(text).ok()).max()
}

/// The emulated release for a wanted version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The emulated release.
    pub profile: &'static Profile,
    /// Its relation to the wanted version.
    pub is: Match,
}

/// The relation of the emulated release to the wanted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Same minor version.
    Same,
    /// Older than the wanted one.
    Older,
    /// Newer than the wanted one.
    Newer,
}

/// Returns the profile for a release: the last one that covers it, or the oldest for earlier releases.
pub fn nearest(release: Release) -> Nearest {
    let [oldest, ..] = &PROFILES;
    let profile = PROFILES.iter().rfind(|p| p.since <= release).unwrap_or(oldest);
    let is = match profile.release {
        own if own.same_minor(release) => Match::Same,
        own if own < release => Match::Older,
        _ => Match::Newer,
    };
    Nearest { profile, is }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_listed_oldest_first() {
        assert!(Profile::all().windows(2).all(|pair| pair[0].release < pair[1].release && pair[0].since < pair[1].since));
        assert!(Profile::all().iter().all(|p| p.since <= p.release && !p.config_api_versions.is_empty()));
        let named = "1.11, 1.12, 1.20, 1.21, 1.22, 1.23, 1.24, 1.25, 1.26, 1.27, 1.28, 1.29, 1.30, 1.31, 1.32, 1.33, 1.34, 1.35, 1.36";
        assert_eq!(supported(), named);
    }

    #[test]
    fn every_version_has_a_release_that_answers_for_it() {
        for (version, profile, is) in [
            ("1.36", "v1.36.2", Match::Same),
            ("v1.36.0", "v1.36.2", Match::Same),
            ("1.36.9", "v1.36.2", Match::Same),
            ("1.40", "v1.36.2", Match::Older),
            ("1.5", "v1.11.1", Match::Newer),
            ("1.10.13", "v1.11.1", Match::Newer),
            ("1.11.1", "v1.11.1", Match::Same),
            ("1.12.10", "v1.12.0", Match::Same),
            ("1.17.4", "v1.12.0", Match::Older),
            ("1.18.2", "v1.20.15", Match::Newer),
            ("1.19", "v1.20.15", Match::Newer),
            ("1.20.1", "v1.20.15", Match::Same),
            ("1.26.8", &v1_26::PROFILE.release.to_string(), Match::Same),
            ("1.26.9", &v1_26::WITH_STATUSES.release.to_string(), Match::Same),
            ("1.27.5", "v1.27.1", Match::Same),
            ("1.27.6", &v1_27::WITH_STATUSES.release.to_string(), Match::Same),
            ("v1.31.4-eks-a1b2c3", "v1.31.1", Match::Same),
            ("1.28.5", "v1.28.3", Match::Same),
            ("1.28.6", "v1.28", Match::Same),
            ("1.28", "v1.28", Match::Same),
            ("1.30.1", "v1.30.1", Match::Same),
            ("1.30.2", "v1.30", Match::Same),
        ] {
            let found = nearest(version.parse().unwrap());
            assert_eq!((found.profile.release.to_string().as_str(), found.is), (profile, is), "{version}");
        }
    }

    #[test]
    fn neighbours_differ_and_say_what_no_case_covers() {
        assert!(PROFILES.windows(2).all(|pair| pair[0] != pair[1]));
        let not_verified = |version: &str| Profile::named(version).unwrap().not_verified().collect::<Vec<_>>();
        assert_eq!(not_verified("v1.36.2"), []);
        assert_eq!(not_verified("v1.12.0"), [Part::Queues, Part::Configuration, Part::Extenders]);
        assert_eq!(not_verified("v1.31.1"), [Part::Configuration, Part::Extenders]);
        assert_eq!(not_verified("v1.28.3"), [Part::Queues, Part::Configuration, Part::Extenders]);
        assert_eq!(not_verified("v1.20.15"), [Part::Queues, Part::Configuration, Part::Extenders]);
        assert_eq!(not_verified("v1.28").len(), 4);
    }

    #[test]
    fn pods_were_looked_for_in_the_queue_more_often_once() {
        for profile in Profile::all().iter().filter(|p| p.release >= v1_20::PROFILE.release) {
            let seconds = if profile.release < Release::patch(24, 0) { 60 } else { 300 };
            assert_eq!(profile.behaviour.leftover.as_secs(), seconds, "{}", profile.release);
            // Any event moves a pod without a recorded rejecting plugin.
            assert_eq!(profile.behaviour.rejectors_noted, profile.release >= Release::patch(21, 0), "{}", profile.release);
            assert_eq!(profile.reads_policies(), profile.release < Release::patch(23, 0), "{}", profile.release);
        }
    }

    #[test]
    fn a_release_is_found_by_its_exact_name() {
        assert_eq!(Profile::named("v1.36.2"), Some(Profile::newest()));
        assert_eq!(Profile::named("v1.36"), None);
        assert_eq!(Profile::named("1.36.2"), None);
    }
}
