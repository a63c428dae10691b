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
mod tests {
    use super::super::helper::testing::{node_change, node_info, pod, pod_change, pod_info, with_context};
    use super::*;
    use crate::cluster::Cluster;
    use crate::framework::Code;

    const RESTARTS: &str = "{spec: {containers: [{restartPolicyRules: [{action: Restart}, {action: RestartAllContainers}]}]}}";
    const INIT_RESTARTS: &str = "{spec: {initContainers: [{restartPolicyRules: [{action: RestartAllContainers}]}]}}";
    const NAMESPACED: &str = "{spec: {hostNetwork: true, hostUsers: false}}";

    #[test]
    fn the_registry_is_sorted() {
        assert!(REGISTRY.is_sorted());
        assert_eq!((REGISTRY[3], REGISTRY[4]), (RESTART_ALL, USER_NAMESPACES));
    }

    #[test]
    fn a_node_must_declare_what_the_pod_needs() {
        let both = "[ExtendWebSocketsToKubelet, Newer, RestartAllContainersOnContainerExits, UserNamespacesHostNetworkSupport]";
        let unsorted = "[UserNamespacesHostNetworkSupport, RestartAllContainersOnContainerExits]";
        // (pod, declared, `None` if PreFilter skips, else whether the node passes)
        for (pod, declared, passes) in [
            ("{}", "[]", None),
            ("{spec: {hostNetwork: true}}", "[]", None),
            ("{spec: {hostNetwork: true, hostUsers: true}}", "[]", None),
            ("{spec: {hostUsers: false}}", "[]", None),
            (RESTARTS, "[]", Some(false)),
            (RESTARTS, both, Some(true)),
            (INIT_RESTARTS, "[RestartAllContainersOnContainerExits]", Some(true)),
            (NAMESPACED, "[RestartAllContainersOnContainerExits]", Some(false)),
            (NAMESPACED, both, Some(true)),
            (NAMESPACED, unsorted, Some(true)),
            (RESTARTS, unsorted, Some(false)),
        ] {
            let (pod, mut state) = (pod_info(pod), CycleState::default());
            let node = node_info(&format!("{{status: {{declaredFeatures: {declared}}}}}"));
            with_context(&Cluster::default(), &[], |cx| {
                let (_, status) = PreFilterPlugin::pre_filter(&NodeDeclaredFeatures, &cx, &mut state, &pod);
                assert_eq!(status.is_skip(), passes.is_none(), "{declared}");
                let Some(passes) = passes else { return };
                let status = FilterPlugin::filter(&NodeDeclaredFeatures, &cx, &state, &pod, &node);
                let (code, message) = if passes {
                    (Code::Success, "")
                } else {
                    (Code::UnschedulableAndUnresolvable, "node(s) didn't match Pod's required features")
                };
                assert_eq!((status.code(), status.message().as_str()), (code, message), "{declared}");
                assert_eq!(status.fact().is_some_and(|f| f.starts_with("lacks ")), !passes, "{declared}");
            });
        }
    }

    #[test]
    fn the_gate_switches_it_off() {
        with_context(&Cluster::default(), &[], |mut cx| {
            let filter = |cx: &Context<'_>| {
                FilterPlugin::filter(&NodeDeclaredFeatures, cx, &CycleState::default(), &pod_info(RESTARTS), &node_info("{}"))
            };
            assert_eq!(filter(&cx).message(), "error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found");
            assert_eq!(NodeDeclaredFeatures.events_to_register(cx.emulation).map(|e| e.len()), Some(2));
            cx.emulation.set(Gate::NodeDeclaredFeatures, false);
            let (_, status) = PreFilterPlugin::pre_filter(&NodeDeclaredFeatures, &cx, &mut CycleState::default(), &pod_info(RESTARTS));
            assert!(status.is_skip());
            assert!(filter(&cx).is_success());
            assert_eq!(NodeDeclaredFeatures.events_to_register(cx.emulation).map(|e| e.len()), Some(0));
        });
    }

    #[test]
    fn changed_features_queue_the_pod() {
        use QueueingHint::{Queue, QueueSkip};
        let declaring = "{status: {declaredFeatures: [x]}}";
        for (old, new, expected) in
            [(None, "{}", Queue), (Some("{}"), declaring, Queue), (Some(declaring), declaring, QueueSkip), (Some("{}"), "{}", QueueSkip)]
        {
            assert_eq!(after_node_change(&node_change(old, Some(new))), Ok(expected), "{old:?} {new}");
        }
        let mine = pod("{}");
        for (old, new, expected) in [
            ("{}", RESTARTS, Queue),
            (RESTARTS, RESTARTS, QueueSkip),
            ("{}", "{metadata: {uid: other}, spec: {hostNetwork: true, hostUsers: false}}", QueueSkip),
        ] {
            assert_eq!(after_pod_update(&mine, &pod_change(Some(old), Some(new))), Ok(expected), "{old} {new}");
        }
        assert!(after_pod_update(&mine, &node_change(None, Some("{}"))).is_err());
    }
}
