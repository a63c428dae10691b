//! Small clusters for tests of the volume plugins, as JSON with the kind of each object.

use std::sync::Arc;

use jiff::Timestamp;

use crate::cluster::{Cluster, Object, Pod};
use crate::framework::{Change, Context, CycleState, HintError, NodeInfo, Plugin, PodInfo, QueueingHint, Snapshot, Status};
use crate::release::{Emulation, Gate};

/// Makes an object from its kind and JSON.
pub(in crate::plugins) fn object(kind: &str, text: &str) -> Object {
    crate::cluster::testing::object(kind.parse().unwrap(), text)
}

/// Makes a pod from JSON.
pub(in crate::plugins) fn pod(text: &str) -> Arc<Pod> {
    let Object::Pod(pod) = object("Pod", text) else { unreachable!("asked for a pod") };
    pod
}

/// Makes a pod `a/p` with these volumes.
pub(in crate::plugins) fn pod_with(volumes: &str) -> Arc<Pod> {
    pod(&format!(r#"{{"metadata":{{"name":"p","namespace":"a","uid":"p"}},"spec":{{"volumes":[{volumes}]}}}}"#))
}

/// Makes a volume of a claim.
pub(in crate::plugins) fn pvc_volume(claim: &str) -> String {
    format!(r#"{{"name":"{claim}","persistentVolumeClaim":{{"claimName":"{claim}"}}}}"#)
}

/// A cluster with its snapshot.
pub(in crate::plugins) struct World {
    pub(in crate::plugins) cluster: Cluster,
    pub(in crate::plugins) snapshot: Snapshot,
    pub(in crate::plugins) emulation: Emulation,
}

impl World {
    /// Makes a world from kinds and JSON of all objects; pods with a node run on it.
    pub(in crate::plugins) fn new<'a>(objects: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let cluster: Cluster = objects.into_iter().map(|(kind, text)| object(kind, &text)).collect();
        let mut nodes: Vec<NodeInfo> = cluster.nodes.iter().map(|n| NodeInfo::new(n.clone())).collect();
        for pod in cluster.pods.iter() {
            if let Some(node) = nodes.iter_mut().find(|n| *n.name() == pod.node_name) {
                node.add_pod(Arc::new(PodInfo::new(pod.clone())));
            }
        }
        Self { cluster, snapshot: Snapshot::of(nodes), emulation: Emulation::default() }
    }

    /// Enables a gate.
    pub(in crate::plugins) fn with(mut self, gate: Gate) -> Self {
        self.emulation.set(gate, true);
        self
    }

    pub(in crate::plugins) fn cx(&self) -> Context<'_> {
        Context { cluster: &self.cluster, snapshot: &self.snapshot, emulation: self.emulation, now: Timestamp::UNIX_EPOCH }
    }

    pub(in crate::plugins) fn node(&self, name: &str) -> &Arc<NodeInfo> {
        self.snapshot.get(name).unwrap_or_else(|| panic!("no node {name}"))
    }

    /// Returns PreFilter's status and, if it is Success, the status on every node, by node name; reasons are texts.
    pub(in crate::plugins) fn verdicts(&self, plugin: &dyn Plugin, pod: &Arc<Pod>) -> (Status, Vec<Status>) {
        let (state, status) = self.pre_filter(plugin, pod);
        if !status.is_success() {
            return (status, Vec::new());
        }
        let (info, filter) = (PodInfo::new(pod.clone()), plugin.filter().expect("a Filter plugin"));
        let mut nodes: Vec<_> = self.snapshot.nodes().to_vec();
        nodes.sort_by(|a, b| a.name().cmp(b.name()));
        (status, nodes.iter().map(|node| filter.filter(&self.cx(), &state, &info, node).in_text()).collect())
    }

    /// Returns the state after PreFilter, and its status.
    pub(in crate::plugins) fn pre_filter(&self, plugin: &dyn Plugin, pod: &Arc<Pod>) -> (CycleState, Status) {
        let mut state = CycleState::default();
        let point = plugin.pre_filter().expect("a PreFilter plugin");
        let (result, status) = point.pre_filter(&self.cx(), &mut state, &PodInfo::new(pod.clone()));
        assert_eq!(result.node_names, None, "no volume plugin narrows the nodes");
        (state, status.in_text())
    }
}

/// Returns the result of a plugin's hint for an event; `None` if the event is not registered, `Queue` if it has no
/// hint.
pub(in crate::plugins) fn hint(
    plugin: &dyn Plugin,
    event: &str,
    pod: &Arc<Pod>,
    old: Option<&Object>,
    new: Option<&Object>,
) -> Option<Result<QueueingHint, HintError>> {
    let world = World::new([]);
    let registered = plugin.events_to_register(world.emulation).expect("registers events");
    let found = registered.into_iter().find(|e| e.event.to_string() == event)?;
    let change = Change { old: old.cloned(), new: new.cloned() };
    Some(found.hint.map_or(Ok(QueueingHint::Queue), |hint| hint(&world.cx(), pod, &change)))
}

/// Returns the labels of the events that a plugin registers, with a note on those that have a hint.
pub(in crate::plugins) fn registered(plugin: &dyn Plugin) -> Vec<String> {
    let events = plugin.events_to_register(Emulation::default()).expect("registers events");
    events.iter().map(|e| format!("{}:{}{}", e.event.resource, e.event.action.0, if e.hint.is_some() { " hint" } else { "" })).collect()
}
