//! kube-scheduler v1.31, as differences from v1.32.

use super::behaviour::{AssumedUsage, Behaviour, CsiLimits, LeftOutNodes, LocalVolumes, VictimOrder};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::{Profile, RemovedPlugins};
use super::queue_behaviour::{
    AssignedPods, AssignedUpdates, ClassAdditions, EventMatching, EventNames, NodeRegistrations, QueueBehaviour, VictimStatus,
};
use super::v1_32;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(31, 1),
    since: Release::patch(31, 0),
    removed_plugins: &[RemovedPlugins::invalid(&["SelectorSpread"])],
    behaviour: Behaviour {
        assumed_usage: AssumedUsage::PerPhase,
        local_volumes: LocalVolumes::Narrow,
        csi_limits: CsiLimits::NodeAndCsiNode,
        left_out: LeftOutNodes::WithoutStatus,
        victims: VictimOrder::ViolatingFirst,
        queue: QueueBehaviour {
            event_names: EventNames::OwnWithLabels,
            node_registrations: NodeRegistrations::AnyUpdate,
            binding_waits_for_any_driver: true,
            node_deletions: false,
            tolerations_registered: false,
            class_additions: ClassAdditions::WaitForFirstConsumer,
            event_matching: EventMatching::Overlap,
            assigned_updates: AssignedUpdates::LabelsAndScaleDown,
            assigned_pods: AssignedPods::AffinityTermsAndSpread,
            ..v1_32::PROFILE.behaviour.queue
        },
        ..v1_32::PROFILE.behaviour
    },
    ..v1_32::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::since(
    Behaviour { queue: QueueBehaviour { victim_status: VictimStatus::OfPreemptor, ..PROFILE.behaviour.queue }, ..PROFILE.behaviour },
    PROFILE,
    [0, 14],
    CHANGES,
)
.last_compared_with_queues();

const CHANGES: &[PatchChange] = &[
    picks::victims_patched_rightly(Release::patch(31, 1), 126_691),
    picks::local_volumes_filtered(Release::patch(31, 3), 127_584),
    picks::victims_sorted(Release::patch(31, 3), 128_431),
];
