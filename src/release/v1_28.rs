//! kube-scheduler v1.28, as differences from v1.29.

use super::behaviour::{Behaviour, PluginOrder};
use super::profile::{Part, Profile};
use super::v1_29;
use super::version::Release;

/// The first patches, which have queueing hints.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(28, 3),
    since: Release::patch(28, 0),
    verified: &[Part::Decisions],
    config_api_versions: &["kubescheduler.config.k8s.io/v1beta3", "kubescheduler.config.k8s.io/v1"],
    behaviour: Behaviour {
        plugin_order: PluginOrder::OverridesMixedUp,
        message_end: ".",
        beta_zones_translated: false,
        nominated_node_rejects: true,
        ..v1_29::PROFILE.behaviour
    },
    ..v1_29::PROFILE
};

/// The patches from v1.28.6 on, which disable the gate of queueing hints and load overriding plugins once.
pub(super) const WITHOUT_HINTS: Profile = Profile {
    release: Release::latest(28),
    since: Release::patch(28, 6),
    verified: &[],
    behaviour: Behaviour { plugin_order: PluginOrder::OverridesFirst, ..PROFILE.behaviour },
    ..PROFILE
};
