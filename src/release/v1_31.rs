//! kube-scheduler v1.31, as differences from v1.32.

use super::behaviour::{AssumedUsage, Behaviour, CsiLimits, LeftOutNodes, LocalVolumes, VictimOrder};
use super::profile::{Profile, RemovedPlugins};
use super::queue_behaviour::{AssignedPods, AssignedUpdates, ClassAdditions, EventMatching, EventNames, NodeRegistrations, QueueBehaviour};
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
