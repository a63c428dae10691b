//! kube-scheduler v1.33: what differs from v1.34.

use super::behaviour::Behaviour;
use super::defaults::DefaultPlugin;
use super::profile::Profile;
use super::queue_behaviour::{Backoff, GatedPods, QueueBehaviour};
use super::v1_34;
use super::version::Release;

/// The release. DynamicResources is in the list only with a gate that is off, and is not emulated.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(33, 0),
    since: Release::patch(33, 0),
    default_plugins: PLUGINS,
    behaviour: Behaviour {
        oversized_is_unresolvable: false,
        sidecar_ports: false,
        queue: QueueBehaviour {
            backoff: Backoff::ByAttempts,
            gating_plugin_first: false,
            gated_pods: GatedPods::HeldByGates,
            terminating_victims_deleted: true,
            ..v1_34::PROFILE.behaviour.queue
        },
        ..v1_34::PROFILE.behaviour
    },
    ..v1_34::PROFILE
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
    DefaultPlugin::plain("DefaultPreemption"),
    DefaultPlugin::weighing("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin::weighing("ImageLocality", 1),
    DefaultPlugin::plain("DefaultBinder"),
];
