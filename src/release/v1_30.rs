//! kube-scheduler v1.30: what differs from v1.31.

use super::behaviour::{Behaviour, LeftOutNodes, MissingNodes, NarrowingOrder, PotentialNodes};
use super::defaults::DefaultPlugin;
use super::profile::{Part, Profile};
use super::queue_behaviour::{AssignedPods, AssignedUpdates, EventNames, GatedPods, QueueBehaviour, VictimStatus};
use super::v1_31;
use super::version::Release;

/// The first patches.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(30, 1),
    since: Release::patch(30, 0),
    default_plugins: PLUGINS,
    behaviour: Behaviour {
        volume_attributes_compared: false,
        narrowing_order: NarrowingOrder::Running,
        narrowing_rejects: false,
        left_out: LeftOutNodes::FilteredOut,
        missing_nodes: MissingNodes::Crash,
        potential_nodes: PotentialNodes::NotUnresolvable,
        queue: QueueBehaviour {
            event_names: EventNames::Own,
            assigned_updates: AssignedUpdates::One,
            assigned_pods: AssignedPods::AffinityTerms,
            gated_pods: GatedPods::AsOthers,
            restrictions_wait_for_claim_updates: true,
            victim_status: VictimStatus::OfPreemptor,
            ..v1_31::PROFILE.behaviour.queue
        },
        ..v1_31::PROFILE.behaviour
    },
    ..v1_31::PROFILE
};

/// The patches from v1.30.2 on, which do not crash where PreFilter names only nodes that do not exist.
pub(super) const WITHOUT_CRASH: Profile = Profile {
    release: Release::latest(30),
    since: Release::patch(30, 2),
    verified: &[Part::Decisions],
    behaviour: Behaviour { missing_nodes: MissingNodes::PassedOver, ..PROFILE.behaviour },
    ..PROFILE
};

/// The default multiPoint list.
const PLUGINS: &[DefaultPlugin] = &[
    DefaultPlugin::plain("SchedulingGates"),
    DefaultPlugin::plain("PrioritySort"),
    DefaultPlugin::plain("NodeUnschedulable"),
    DefaultPlugin::plain("NodeName"),
    DefaultPlugin::weighing("TaintToleration", 3),
    DefaultPlugin::weighing("NodeAffinity", 2),
    DefaultPlugin::plain("NodePorts"),
    DefaultPlugin::weighing("NodeResourcesFit", 1),
    DefaultPlugin::plain("VolumeRestrictions"),
    DefaultPlugin::plain("EBSLimits"),
    DefaultPlugin::plain("GCEPDLimits"),
    DefaultPlugin::plain("NodeVolumeLimits"),
    DefaultPlugin::plain("AzureDiskLimits"),
    DefaultPlugin::plain("VolumeBinding"),
    DefaultPlugin::plain("VolumeZone"),
    DefaultPlugin::weighing("PodTopologySpread", 2),
    DefaultPlugin::weighing("InterPodAffinity", 2),
    DefaultPlugin::plain("DefaultPreemption"),
    DefaultPlugin::weighing("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin::weighing("ImageLocality", 1),
    DefaultPlugin::plain("DefaultBinder"),
];
