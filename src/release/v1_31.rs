//! kube-scheduler v1.31, as differences from v1.32.

use super::behaviour::{
    AssignedPods, AssignedUpdates, AssumedUsage, ClassAdditions, CsiLimits, EventMatching, EventNames, LeftOutNodes, LocalVolumes,
    NodeRegistrations, VictimOrder, VictimStatus,
};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::{Profile, RemovedPlugins};
use super::v1_32;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(31, 1),
    since: Release::patch(31, 0),
    removed_plugins: &[RemovedPlugins::invalid(&["SelectorSpread"])],
    behaviour: {
        let mut b = v1_32::PROFILE.behaviour;
        b.cycle.left_out = LeftOutNodes::WithoutStatus;
        b.preemption.victims = VictimOrder::ViolatingFirst;
        b.resources.assumed_usage = AssumedUsage::PerPhase;
        b.volumes.local_volumes = LocalVolumes::Narrow;
        b.volumes.csi_limits = CsiLimits::NodeAndCsiNode;
        b.queue.event_names = EventNames::OwnWithLabels;
        b.queue.node_registrations = NodeRegistrations::AnyUpdate;
        b.queue.binding_waits_for_any_driver = true;
        b.queue.node_deletions = false;
        b.queue.tolerations_registered = false;
        b.queue.class_additions = ClassAdditions::WaitForFirstConsumer;
        b.queue.event_matching = EventMatching::Overlap;
        b.queue.assigned_updates = AssignedUpdates::LabelsAndScaleDown;
        b.queue.assigned_pods = AssignedPods::AffinityTermsAndSpread;
        b
    },
    ..v1_32::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor =
    Minor::since(|b| b.queue.victim_status = VictimStatus::OfPreemptor, PROFILE, [0, 14], CHANGES).last_compared_with_queues();

const CHANGES: &[PatchChange] = &[
    picks::victims_patched_rightly(Release::patch(31, 1), 126_691),
    picks::local_volumes_filtered(Release::patch(31, 3), 127_584),
    picks::victims_sorted(Release::patch(31, 3), 128_431),
];
