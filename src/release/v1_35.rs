//! kube-scheduler v1.35, as differences from v1.36.

use super::behaviour::{BalanceScore, ImageSources, MigratedPlugins};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::{Part, Profile};
use super::v1_36;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(35, 2),
    since: Release::patch(35, 0),
    verified: &[Part::Decisions, Part::Queues],
    other_gates: v1_36::gates::OTHER_EARLIER,
    gate_dependencies: &[
        ("DRADeviceBindingConditions", &["DRAResourceClaimDeviceStatus"]),
        ("DRADeviceTaintRules", &["DRADeviceTaints"]),
        ("GangScheduling", &["GenericWorkload"]),
    ],
    behaviour: {
        let mut b = v1_36::PROFILE.behaviour;
        b.resources.balance = BalanceScore::Result;
        b.images.sources = ImageSources::InitContainers;
        b.devices.selectors.includes = false;
        b.devices.conditional_slices_last = true;
        b.devices.alternatives_confused = true;
        b.devices.has_stable_allocator = true;
        b.devices.allocated_claims_scored = false;
        b.volumes.counted_undeclared = MigratedPlugins::AllButPortworx;
        b.queue.recreated_pods_marked = true;
        b.queue.equal_pods_in_random_order = false;
        b.queue.hints_count_nominated = false;
        b.queue.own_update_helps_affinity = false;
        b.queue.deleted_anti_affinity_helps = false;
        b
    },
    ..v1_36::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [0, 6], CHANGES).last_compared_with_queues();

const CHANGES: &[PatchChange] = &[
    PatchChange::elsewhere(Release::patch(35, 1), Some(135_904), "SchedulerAsyncAPICalls is off by default."),
    picks::recreated_pods_unmarked(Release::patch(35, 5), 138_434),
    PatchChange::new(
        Release::patch(35, 6),
        None,
        "DynamicResources scores nodes also for pods that have allocated claims beside others, instead of failing.",
        |b| b.devices.allocated_claims_scored = true,
    ),
];
