//! kube-scheduler v1.24, as differences from v1.25.

use super::behaviour::Behaviour;
use super::config_fields::{V1BETA2, V1BETA3};
use super::profile::{Part, Profile};
use super::v1_25;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(24, 4),
    since: Release::patch(24, 0),
    verified: &[Part::Decisions],
    config_api_versions: &[V1BETA2, V1BETA3],
    removed_plugins: &[],
    behaviour: Behaviour { inline_volumes_counted: false, ..v1_25::PROFILE.behaviour },
    ..v1_25::PROFILE
};
