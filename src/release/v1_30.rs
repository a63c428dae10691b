//! kube-scheduler v1.30, as differences from v1.31.

use super::behaviour::{
    AssignedPods, AssignedUpdates, EventNames, GatedPods, LeftOutNodes, MigratedPlugins, MissingNodes, NarrowingOrder, PotentialNodes,
    StartWrap, VictimStatus,
};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::Profile;
use super::v1_31;
use super::version::Release;

/// The checked patch.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(30, 1),
    since: Release::patch(30, 0),
    behaviour: {
        let mut b = v1_31::PROFILE.behaviour;
        b.cycle.narrowing_order = NarrowingOrder::Running;
        b.cycle.narrowing_rejects = false;
        b.cycle.nominated_node_rejects = false;
        b.cycle.left_out = LeftOutNodes::FilteredOut;
        b.cycle.missing_nodes = MissingNodes::Crash;
        b.search.start_wraps = StartWrap::AmongLeft;
        b.preemption.potential_nodes = PotentialNodes::NotUnresolvable;
        b.affinity.merges_match_label_keys = false;
        b.volumes.attributes_compared = false;
        b.volumes.migrated_plugins = MigratedPlugins::AllButPortworx;
        b.queue.event_names = EventNames::Own;
        b.queue.assigned_updates = AssignedUpdates::One;
        b.queue.assigned_pods = AssignedPods::AffinityTerms;
        b.queue.gated_pods = GatedPods::AsOthers;
        b.queue.restrictions_wait_for_claim_updates = true;
        b.queue.zones_wait_for_claim_updates = false;
        b.queue.nominated_pods_kept = true;
        b.queue.victim_status = VictimStatus::OfPreemptor;
        b
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
