//! kube-scheduler v1.36.

mod gates;

use std::time::Duration;

use super::behaviour::{Behaviour, Candidates, NodeSearch, ScoreFunctionName};
use super::defaults::DefaultPlugin;
use super::gates::Gate;
use super::profile::Profile;
use super::version::Release;

/// The release; a newer one is written as what changed, with `..v1_36::PROFILE` for the rest.
pub(super) const PROFILE: Profile = Profile {
    release: Release::NEWEST,
    since: Release::patch(36, 0),
    default_plugins: PLUGINS,
    default_arguments: &[],
    removed_plugins: &["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"],
    config_api_versions: &["kubescheduler.config.k8s.io/v1"],
    other_gates: gates::OTHER,
    gate_dependencies: gates::DEPENDENCIES,
    behaviour: Behaviour {
        search: NodeSearch::Adaptive { min_nodes: 100, min_percentage: 5 },
        candidates: Candidates::Sampled,
        tie_break: &[
            ScoreFunctionName::MinNumPDBViolations,
            ScoreFunctionName::MinHighestPriority,
            ScoreFunctionName::MinSumPriorities,
            ScoreFunctionName::MinNumPods,
            ScoreFunctionName::LatestStartTime,
        ],
        score_max: 100,
        leftover: Duration::from_secs(300),
    },
};

/// The default multiPoint list; mirrors `getDefaultPlugins` in `pkg/scheduler/apis/config/v1/default_plugins.go`.
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
    DefaultPlugin::weighing("DynamicResources", 2),
    DefaultPlugin::plain("DefaultPreemption"),
    DefaultPlugin::weighing("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin::weighing("ImageLocality", 1),
    DefaultPlugin::plain("DefaultBinder"),
    DefaultPlugin::plain("NodeDeclaredFeatures").with(Gate::NodeDeclaredFeatures),
];
