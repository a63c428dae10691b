//! The fields that a configuration may have; mirrors `staging/src/k8s.io/kube-scheduler/config/v1/{types,types_pluginargs}.go`,
//! `staging/src/k8s.io/component-base/config/v1alpha1/types.go` and, for plugin arguments, parts of
//! `staging/src/k8s.io/api/core/v1/types.go`.

use super::schema::Schema::{self, Any, Bool, Bytes, Duration, Float, Int32, Int64, List, Object, String, StringMap};
use crate::framework::PluginName;

const STRINGS: Schema = List(&String);

/// A `KubeSchedulerConfiguration`. [`plugin_args`] decodes the arguments of plugins.
pub(super) const CONFIGURATION: Schema = Object(&[
    ("apiVersion", String),
    ("kind", String),
    ("parallelism", Int32),
    ("leaderElection", LEADER_ELECTION),
    ("clientConnection", CLIENT_CONNECTION),
    ("healthzBindAddress", String),
    ("metricsBindAddress", String),
    ("enableProfiling", Bool),
    ("enableContentionProfiling", Bool),
    ("percentageOfNodesToScore", Int32),
    ("podInitialBackoffSeconds", Int64),
    ("podMaxBackoffSeconds", Int64),
    ("profiles", List(&PROFILE)),
    ("extenders", List(&EXTENDER)),
    ("delayCacheUntilActive", Bool),
]);

pub(super) const POLICY: Schema = Object(&[
    ("apiVersion", String),
    ("kind", String),
    ("predicates", List(&Object(&[("name", String), ("argument", PREDICATE_ARGUMENT)]))),
    ("priorities", List(&Object(&[("name", String), ("weight", Int64), ("argument", PRIORITY_ARGUMENT)]))),
    ("extenders", List(&EXTENDER)),
    ("hardPodAffinitySymmetricWeight", Int32),
    ("alwaysCheckAllPredicates", Bool),
]);

const PREDICATE_ARGUMENT: Schema =
    Object(&[("serviceAffinity", Object(&[("labels", STRINGS)])), ("labelsPresence", Object(&[("labels", STRINGS), ("presence", Bool)]))]);

const PRIORITY_ARGUMENT: Schema = Object(&[
    ("serviceAntiAffinity", Object(&[("label", String)])),
    ("labelPreference", Object(&[("label", String), ("presence", Bool)])),
    ("requestedToCapacityRatioArguments", Object(&[("shape", List(&SHAPE_POINT)), ("resources", List(&RESOURCE_SPEC))])),
]);

const LEADER_ELECTION: Schema = Object(&[
    ("leaderElect", Bool),
    ("leaseDuration", Duration),
    ("renewDeadline", Duration),
    ("retryPeriod", Duration),
    ("resourceLock", String),
    ("resourceName", String),
    ("resourceNamespace", String),
]);

const CLIENT_CONNECTION: Schema =
    Object(&[("kubeconfig", String), ("acceptContentTypes", String), ("contentType", String), ("qps", Float), ("burst", Int32)]);

const PROFILE: Schema = Object(&[
    ("schedulerName", String),
    ("percentageOfNodesToScore", Int32),
    ("plugins", PLUGINS),
    ("pluginConfig", List(&Object(&[("name", String), ("args", Any)]))),
]);

const PLUGINS: Schema = Object(&[
    ("preEnqueue", PLUGIN_SET),
    ("queueSort", PLUGIN_SET),
    ("preFilter", PLUGIN_SET),
    ("filter", PLUGIN_SET),
    ("postFilter", PLUGIN_SET),
    ("preScore", PLUGIN_SET),
    ("score", PLUGIN_SET),
    ("reserve", PLUGIN_SET),
    ("permit", PLUGIN_SET),
    ("preBind", PLUGIN_SET),
    ("bind", PLUGIN_SET),
    ("postBind", PLUGIN_SET),
    ("multiPoint", PLUGIN_SET),
    ("placementGenerate", PLUGIN_SET),
    ("placementScore", PLUGIN_SET),
]);

const PLUGIN_SET: Schema = Object(&[("enabled", List(&PLUGIN)), ("disabled", List(&PLUGIN))]);

const PLUGIN: Schema = Object(&[("name", String), ("weight", Int32)]);

pub(super) const EXTENDER: Schema = Object(&[
    ("urlPrefix", String),
    ("filterVerb", String),
    ("preemptVerb", String),
    ("prioritizeVerb", String),
    ("weight", Int64),
    ("bindVerb", String),
    ("enableHTTPS", Bool),
    ("tlsConfig", TLS_CONFIG),
    ("httpTimeout", Duration),
    ("nodeCacheCapable", Bool),
    ("managedResources", List(&Object(&[("name", String), ("ignoredByScheduler", Bool)]))),
    ("ignorable", Bool),
]);

const TLS_CONFIG: Schema = Object(&[
    ("insecure", Bool),
    ("serverName", String),
    ("certFile", String),
    ("keyFile", String),
    ("caFile", String),
    ("certData", Bytes),
    ("keyData", Bytes),
    ("caData", Bytes),
]);

/// Returns the fields of a plugin's arguments; `None` for a plugin without arguments.
pub(super) fn plugin_args(plugin: &str) -> Option<Schema> {
    Some(match plugin.parse().ok()? {
        PluginName::DefaultPreemption => Object(&[
            ("apiVersion", String),
            ("kind", String),
            ("minCandidateNodesPercentage", Int32),
            ("minCandidateNodesAbsolute", Int32),
        ]),
        PluginName::DynamicResources => {
            Object(&[("apiVersion", String), ("kind", String), ("filterTimeout", Duration), ("bindingTimeout", Duration)])
        }
        PluginName::InterPodAffinity => Object(&[
            ("apiVersion", String),
            ("kind", String),
            ("hardPodAffinityWeight", Int32),
            ("ignorePreferredTermsOfExistingPods", Bool),
        ]),
        PluginName::NodeAffinity => Object(&[("apiVersion", String), ("kind", String), ("addedAffinity", NODE_AFFINITY)]),
        PluginName::NodeLabel => Object(&[
            ("apiVersion", String),
            ("kind", String),
            ("presentLabels", STRINGS),
            ("absentLabels", STRINGS),
            ("presentLabelsPreference", STRINGS),
            ("absentLabelsPreference", STRINGS),
        ]),
        PluginName::NodeResourcesLeastAllocated | PluginName::NodeResourcesMostAllocated => {
            Object(&[("apiVersion", String), ("kind", String), ("resources", List(&RESOURCE_SPEC))])
        }
        PluginName::RequestedToCapacityRatio => {
            Object(&[("apiVersion", String), ("kind", String), ("shape", List(&SHAPE_POINT)), ("resources", List(&RESOURCE_SPEC))])
        }
        PluginName::ServiceAffinity => {
            Object(&[("apiVersion", String), ("kind", String), ("affinityLabels", STRINGS), ("antiAffinityLabelsPreference", STRINGS)])
        }
        PluginName::NodeResourcesBalancedAllocation => {
            Object(&[("apiVersion", String), ("kind", String), ("resources", List(&RESOURCE_SPEC))])
        }
        PluginName::NodeResourcesFit => Object(&[
            ("apiVersion", String),
            ("kind", String),
            ("ignoredResources", STRINGS),
            ("ignoredResourceGroups", STRINGS),
            ("scoringStrategy", SCORING_STRATEGY),
        ]),
        PluginName::PodTopologySpread => Object(&[
            ("apiVersion", String),
            ("kind", String),
            ("defaultConstraints", List(&TOPOLOGY_SPREAD_CONSTRAINT)),
            ("defaultingType", String),
        ]),
        PluginName::VolumeBinding => {
            Object(&[("apiVersion", String), ("kind", String), ("bindTimeoutSeconds", Int64), ("shape", List(&SHAPE_POINT))])
        }
        _ => return None,
    })
}

const RESOURCE_SPEC: Schema = Object(&[("name", String), ("weight", Int64)]);

const SHAPE_POINT: Schema = Object(&[("utilization", Int32), ("score", Int32)]);

const SCORING_STRATEGY: Schema = Object(&[
    ("type", String),
    ("resources", List(&RESOURCE_SPEC)),
    ("requestedToCapacityRatio", Object(&[("shape", List(&SHAPE_POINT))])),
]);

const NODE_AFFINITY: Schema = Object(&[
    ("requiredDuringSchedulingIgnoredDuringExecution", Object(&[("nodeSelectorTerms", List(&NODE_SELECTOR_TERM))])),
    ("preferredDuringSchedulingIgnoredDuringExecution", List(&Object(&[("weight", Int32), ("preference", NODE_SELECTOR_TERM)]))),
]);

const NODE_SELECTOR_TERM: Schema = Object(&[("matchExpressions", List(&REQUIREMENT)), ("matchFields", List(&REQUIREMENT))]);

const REQUIREMENT: Schema = Object(&[("key", String), ("operator", String), ("values", STRINGS)]);

const TOPOLOGY_SPREAD_CONSTRAINT: Schema = Object(&[
    ("maxSkew", Int32),
    ("topologyKey", String),
    ("whenUnsatisfiable", String),
    ("labelSelector", Object(&[("matchLabels", StringMap), ("matchExpressions", List(&REQUIREMENT))])),
    ("minDomains", Int32),
    ("nodeAffinityPolicy", String),
    ("nodeTaintsPolicy", String),
    ("matchLabelKeys", STRINGS),
]);
