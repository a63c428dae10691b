//! kube-scheduler v1.34: what differs from v1.35.

use super::behaviour::Behaviour;
use super::defaults::DefaultPlugin;
use super::profile::Profile;
use super::queue_behaviour::{NominationEnds, QueueBehaviour};
use super::v1_35;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(34, 1),
    since: Release::patch(34, 0),
    default_plugins: PLUGINS,
    gate_dependencies: &[],
    behaviour: Behaviour {
        devices_score: false,
        incomplete_pools_serve: true,
        has_stable_allocator: false,
        queue: QueueBehaviour { nomination_ends: NominationEnds::ToldOfBoundPods, ..v1_35::PROFILE.behaviour.queue },
        ..v1_35::PROFILE.behaviour
    },
    ..v1_35::PROFILE
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
    DefaultPlugin::plain("NodeVolumeLimits"),
    DefaultPlugin::plain("VolumeBinding"),
    DefaultPlugin::plain("VolumeZone"),
    DefaultPlugin::weighing("PodTopologySpread", 2),
    DefaultPlugin::weighing("InterPodAffinity", 2),
    DefaultPlugin::plain("DynamicResources"),
    DefaultPlugin::plain("DefaultPreemption"),
    DefaultPlugin::weighing("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin::weighing("ImageLocality", 1),
    DefaultPlugin::plain("DefaultBinder"),
];
