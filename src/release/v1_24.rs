//! kube-scheduler v1.24, as differences from v1.25.

use super::config_fields::{V1BETA2, V1BETA3};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::Profile;
use super::v1_25;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(24, 4),
    since: Release::patch(24, 0),
    config_api_versions: &[V1BETA2, V1BETA3],
    removed_plugins: &[],
    behaviour: {
        let mut b = v1_25::PROFILE.behaviour;
        b.volumes.inline_volumes_counted = false;
        b
    },
    ..v1_25::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [4, 10], CHANGES);

const CHANGES: &[PatchChange] = &[picks::filters_stop(Release::patch(24, 10), 114_526)];
