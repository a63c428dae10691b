//! kube-scheduler v1.29: what differs from v1.30.

use super::behaviour::{Behaviour, ImageSources, LeftOutNodes, MissingNodes, SidecarCheck};
use super::defaults::DefaultPlugin;
use super::gates::Gate;
use super::profile::Profile;
use super::queue_behaviour::{NodeRegistrations, NodeUpdates, QueueBehaviour};
use super::v1_30;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(29, 1),
    since: Release::patch(29, 0),
    default_plugins: PLUGINS,
    behaviour: Behaviour {
        images: ImageSources::Containers,
        idle_scores_skipped: false,
        sidecars_refused_in: SidecarCheck::Filter,
        missing_claim_rejects: false,
        pre_filter_goes_on: false,
        no_node_left_is_unresolvable: false,
        left_out: LeftOutNodes::WithoutStatus,
        missing_nodes: MissingNodes::Error,
        one_node_without_scores: false,
        queue: QueueBehaviour {
            node_registrations: NodeRegistrations::AnyUpdateButUnschedulable,
            node_updates: NodeUpdates::First,
            taints_told_with_nodes: false,
            limits_wait_for_claims: false,
            ..v1_30::PROFILE.behaviour.queue
        },
        ..v1_30::PROFILE.behaviour
    },
    ..v1_30::PROFILE
};

/// The default multiPoint list.
const PLUGINS: &[DefaultPlugin] = &[
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
    DefaultPlugin::plain("SchedulingGates").with(Gate::PodSchedulingReadiness),
];
