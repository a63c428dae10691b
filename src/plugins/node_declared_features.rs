//! NodeDeclaredFeatures: PreFilter, Filter.
//!
//! Mirrors `pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go` and
//! `staging/src/k8s.io/component-helpers/nodedeclaredfeatures`.

use std::sync::Arc;

use super::helper::{changed_nodes, changed_pods};
use crate::cluster::{Pod, PodSpec, Str};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, CycleState, EventResource, FilterPlugin, HintError, NodeInfo, Plugin,
    PodInfo, PreFilterPlugin, PreFilterResult, QueueingHint, Reason, Status,
};
use crate::release::{Emulation, Gate};

/// Every feature that a node may declare, sorted; others are ignored.
const REGISTRY: [&str; 5] = [
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    RESTART_ALL,
    USER_NAMESPACES,
];
const RESTART_ALL: &str = "RestartAllContainersOnContainerExits";
const USER_NAMESPACES: &str = "UserNamespacesHostNetworkSupport";

/// Keeps pods on nodes that declare the features they need.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeDeclaredFeatures;

/// A set of features with one bit for each of [`REGISTRY`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FeatureSet(u8);

impl FeatureSet {
    fn insert(&mut self, at: usize) {
        self.0 |= 1 << at;
    }

    /// Returns the names of the features that are not in `other`.
    fn beyond(self, other: Self) -> impl Iterator<Item = Str> {
        let missing = self.0 & !other.0;
        REGISTRY.into_iter().enumerate().filter(move |(at, _)| missing & (1 << at) != 0).map(|(_, name)| name.into())
    }

    fn is_subset(self, of: Self) -> bool {
        self.0 & !of.0 == 0
    }

    /// Returns the features that a pod requires. Only two of the registry follow from a spec.
    fn required_by(spec: &PodSpec) -> Self {
        let mut set = Self::default();
        let mut containers = spec.containers.iter().chain(&spec.init_containers);
        if containers.any(|c| c.restart_policy_rules.iter().any(|r| r.action == "RestartAllContainers")) {
            set.insert(3);
        }
        if spec.host_network == Some(true) && spec.host_users == Some(false) {
            set.insert(4);
        }
        set
    }

    /// Returns the registered features of a node. As upstream, the list must be sorted, as the kubelet writes it: a
    /// name out of order is missed.
    fn declared(names: &[Str]) -> Self {
        let (mut set, mut known) = (Self::default(), REGISTRY.iter().enumerate().peekable());
        for name in names {
            while known.next_if(|(_, k)| **k < name.as_str()).is_some() {}
            if let Some((at, _)) = known.next_if(|(_, k)| **k == name.as_str()) {
                set.insert(at);
            }
        }
        set
    }
}

impl Plugin for NodeDeclaredFeatures {
    plugin!(NodeDeclaredFeatures: pre_filter, filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        if !emulation.enabled(Gate::NodeDeclaredFeatures) {
            return Some(Vec::new());
        }
        let node = ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_DECLARED_FEATURE));
        let pod = ClusterEvent::new(EventResource::Pod, ActionType::UPDATE);
        Some(vec![
            ClusterEventWithHint { event: node, hint: Some(Arc::new(|_, _, change| after_node_change(change))) },
            ClusterEventWithHint { event: pod, hint: Some(Arc::new(|_, pod, change| after_pod_update(pod, change))) },
        ])
    }
}

/// Returns Queue if a node was added or its declared features changed.
fn after_node_change(change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = changed_nodes(change)?;
    let same = old.zip(new).is_some_and(|(old, new)| old.status.declared_features == new.status.declared_features);
    Ok(if same { QueueingHint::QueueSkip } else { QueueingHint::Queue })
}

/// Returns Queue if the pod's own required features changed.
fn after_pod_update(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (Some(old), Some(new)) = changed_pods(change)? else { return Ok(QueueingHint::QueueSkip) };
    let changed = FeatureSet::required_by(&old.spec) != FeatureSet::required_by(&new.spec);
    Ok(if new.metadata.uid == pod.metadata.uid && changed { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

impl PreFilterPlugin for NodeDeclaredFeatures {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let required = FeatureSet::required_by(&pod.pod.spec);
        if !cx.emulation.enabled(Gate::NodeDeclaredFeatures) || required == FeatureSet::default() {
            return (PreFilterResult::default(), Status::skip());
        }
        state.write(required);
        (PreFilterResult::default(), Status::success())
    }
}

impl FilterPlugin for NodeDeclaredFeatures {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        if !cx.emulation.enabled(Gate::NodeDeclaredFeatures) {
            return Status::success();
        }
        let Some(required) = state.read::<FeatureSet>() else {
            return Status::error("error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found");
        };
        let declared = FeatureSet::declared(&node.node.status.declared_features);
        if required.is_subset(declared) {
            return Status::success();
        }
        Status::rejected(Reason::FeaturesMissing { features: required.beyond(declared).collect() })
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
