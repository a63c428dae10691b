//! kube-scheduler v1.30, as differences from v1.31.

use super::behaviour::{Behaviour, LeftOutNodes, MigratedPlugins, MissingNodes, NarrowingOrder, PotentialNodes, StartWrap};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::Profile;
use super::queue_behaviour::{AssignedPods, AssignedUpdates, EventNames, GatedPods, QueueBehaviour, VictimStatus};
use super::v1_31;
use super::version::Release;

/// The checked patch.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(30, 1),
    since: Release::patch(30, 0),
    behaviour: Behaviour {
        volume_attributes_compared: false,
        merges_match_label_keys: false,
        migrated_plugins: MigratedPlugins::AllButPortworx,
        narrowing_order: NarrowingOrder::Running,
        narrowing_rejects: false,
        nominated_node_rejects: false,
        left_out: LeftOutNodes::FilteredOut,
        missing_nodes: MissingNodes::Crash,
        start_wraps: StartWrap::AmongLeft,
        potential_nodes: PotentialNodes::NotUnresolvable,
        queue: QueueBehaviour {
            event_names: EventNames::Own,
            assigned_updates: AssignedUpdates::One,
            assigned_pods: AssignedPods::AffinityTerms,
            gated_pods: GatedPods::AsOthers,
            restrictions_wait_for_claim_updates: true,
            zones_wait_for_claim_updates: false,
            nominated_pods_kept: true,
            victim_status: VictimStatus::OfPreemptor,
            ..v1_31::PROFILE.behaviour.queue
        },
        ..v1_31::PROFILE.behaviour
    },
    ..v1_31::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [1, 14], CHANGES).last_compared_with_queues();

const CHANGES: &[PatchChange] = &[
    picks::left_out_are_silent(Release::patch(30, 2)),
    picks::gated_pods_stay(Release::patch(30, 2)).until(3),
    picks::gates_hold(Release::patch(30, 3)),
    picks::victims_patched_rightly(Release::patch(30, 5), 126_693),
    picks::local_volumes_filtered(Release::patch(30, 7), 125_398),
    picks::victims_sorted(Release::patch(30, 7), 128_434),
];
