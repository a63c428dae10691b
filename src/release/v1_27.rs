//! kube-scheduler v1.27, as differences from v1.28.

use super::behaviour::{IdleScores, MigratedPlugins, PreFilterRejection, SidecarCheck, ZeroRequests};
use super::config_fields::{V1, V1BETA2, V1BETA3};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::{Part, Profile};
use super::v1_28;
use super::version::Release;

/// The checked patch.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(27, 1),
    since: Release::patch(27, 0),
    verified: &[Part::Decisions],
    config_api_versions: &[V1BETA2, V1BETA3, V1],
    behaviour: {
        let mut b = v1_28::PROFILE.behaviour;
        b.cycle.idle_scores = IdleScores::Kept;
        b.cycle.pre_filter_rejection = PreFilterRejection::WithoutStatus;
        b.resources.sidecars_refused_in = SidecarCheck::Unknown;
        b.resources.zero_requests = ZeroRequests::BasicChecked;
        b.volumes.migrated_plugins = MigratedPlugins::Disks;
        b.volumes.counted_undeclared = MigratedPlugins::DisksButGce;
        // As recorded from 1.27.1. In its code, and that of 1.26.4 and 1.27.16, a gated pod that is added is not nominated; no pod of a
        // cluster is gated once it has been nominated.
        b.queue.gated_pods_nominate = true;
        b
    },
    ..v1_28::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [1, 16], CHANGES).last_compared();

const CHANGES: &[PatchChange] = &[
    picks::rejection_shared(Release::patch(27, 6)),
    picks::victims_patched(Release::patch(27, 8), None),
    picks::extenders_reject(Release::patch(27, 9), 122_019),
    picks::overrides_first(Release::patch(27, 10)),
    picks::left_out_have_status(Release::patch(27, 14)).until(15),
    picks::left_out_are_silent(Release::patch(27, 15)),
    picks::gated_pods_stay(Release::patch(27, 15)),
];
