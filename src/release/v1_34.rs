//! kube-scheduler v1.34, as differences from v1.35.

use super::behaviour::{InvalidPools, NominationEnds};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::Profile;
use super::v1_35;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(34, 1),
    since: Release::patch(34, 0),
    gate_dependencies: &[],
    behaviour: {
        let mut b = v1_35::PROFILE.behaviour;
        b.devices.nodes_scored = false;
        b.devices.incomplete_pools_serve = true;
        b.devices.invalid_pools = InvalidPools::Error;
        b.devices.all_values_distinct = true;
        b.devices.counter_slices_as_others = true;
        b.devices.capacity_of_whole_request = true;
        b.devices.has_stable_allocator = false;
        b.queue.nomination_ends = NominationEnds::OnDeleteUpdateOrBind;
        b
    },
    ..v1_35::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [1, 9], CHANGES).last_compared_with_queues();

const CHANGES: &[PatchChange] = &[
    PatchChange::new(
        Release::patch(34, 2),
        Some(134_247),
        "Victims that terminate already are deleted again, so that the preemptor waits for them.",
        |b| b.queue.terminating_victims_deleted = true,
    ),
    PatchChange::elsewhere(Release::patch(34, 2), Some(135_023), "The reason of an untolerated taint no longer names the taint."),
    PatchChange::elsewhere(Release::patch(34, 2), Some(134_401), "SchedulerAsyncAPICalls is off by default."),
    picks::recreated_pods_unmarked(Release::patch(34, 8), 138_435),
];
