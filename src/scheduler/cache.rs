//! The scheduler's cache of nodes; mirrors `pkg/scheduler/backend/cache/{cache,node_tree}.go`.
//!
//! Clones share their nodes; a node is copied when it changes. The walking order is that of the node tree: zones in
//! order of first appearance, one node of each in turn. It is rebuilt when a node is added or removed. A node keeps its
//! slot while it exists, so the pod counts of all other nodes stay valid.

use std::collections::HashMap;
use std::sync::Arc;

use imbl::OrdMap;

use super::object_id::ObjectId;
use crate::cluster::{Node, Object, ObjectsByName, Pod, Str};
use crate::framework::{
    BudgetIndex, EquivalenceClasses, Images, KnownPods, LastPod, NodeList, PodGroupStates, PodInfo, Snapshot, is_same_pod,
};
use crate::release::{Emulation, Gate};

/// The slot of a node that does not exist.
const NO_SLOT: u32 = u32::MAX;

/// Nodes with the pods on them, assumed ones included.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// Zones in order of first appearance, each with the slots of its nodes in order of arrival.
    tree: Arc<Vec<(String, Vec<u32>)>>,
    nodes: NodeList,
    images: Images,
    /// The pods of [`Self::nodes`] by class, the nodes by slot.
    pods: EquivalenceClasses,
    /// The PodDisruptionBudgets that a cycle reads.
    pub(super) budgets: BudgetIndex,
    /// Pods bound to nodes that do not exist.
    orphans: OrdMap<Str, Vec<Arc<PodInfo>>>,
    /// Pods added to their node before the API server confirmed it, by `pod_id`.
    assumed: OrdMap<ObjectId, Arc<PodInfo>>,
    /// The pods of each group; empty unless the gate `GenericWorkload` is on.
    pub(super) pod_groups: PodGroupStates,
    pub(super) last_pod: LastPod,
}

impl Cache {
    /// Builds the cache of a starting scheduler: nodes by name, then the pods on them by namespace and name.
    ///
    /// Preemption chooses among equals by the order of a node's pods. kube-scheduler's order is that of the API
    /// server's list.
    pub fn load(objects: &ObjectsByName, emulation: Emulation) -> Self {
        let objects = objects.as_slice();
        let mut cache = Self::default();
        cache.add_nodes(objects.iter().filter_map(|o| if let Object::Node(n) = o { Some(n.clone()) } else { None }));
        cache.budgets = objects.iter().filter_map(|o| if let Object::PodDisruptionBudget(b) = o { Some(b) } else { None }).collect();
        let pods = objects.iter().filter_map(|o| if let Object::Pod(p) = o { Some(p) } else { None });
        let mut bound: Vec<&Arc<Pod>> = Vec::with_capacity(objects.len());
        bound.extend(pods.filter(|p| !p.is_terminal() && !p.node_name.is_empty()));
        // The pods of a node mostly share the text of its name.
        let mut by_address: HashMap<*const u8, u32> = HashMap::new();
        let slot_of = |pod: &&Arc<Pod>| {
            let find = || cache.nodes.slot(&pod.node_name).map_or(NO_SLOT, |slot| slot as u32);
            *by_address.entry(pod.node_name.as_ptr()).or_insert_with(find)
        };
        let slots: Vec<u32> = bound.iter().map(slot_of).collect();
        let mut counts = vec![0; cache.nodes.nodes().len()];
        slots.iter().filter(|slot| **slot != NO_SLOT).for_each(|slot| counts[*slot as usize] += 1);
        if emulation.enabled(Gate::GenericWorkload) {
            for pod in &bound {
                cache.pod_groups.add(pod);
            }
        }
        let mut known = KnownPods::default();
        let mut by_slot: Vec<Vec<Arc<PodInfo>>> = counts.into_iter().map(Vec::with_capacity).collect();
        let Self { nodes, pods, orphans, .. } = &mut cache;
        pods.add_all(bound.into_iter().zip(slots).filter_map(|(pod, slot)| {
            let info = Arc::new(PodInfo::among(pod.clone(), emulation, &mut known));
            if slot != NO_SLOT {
                by_slot[slot as usize].push(info.clone());
                return Some((info, slot as usize));
            }
            orphans.entry(pod.node_name.clone()).or_default().push(info);
            None
        }));
        // A node at a time, since the pods of a workload are on many.
        for (slot, pods) in by_slot.into_iter().enumerate() {
            nodes.by_slot_mut(slot).add_pods(pods);
        }
        cache
    }

    /// Returns the nodes, pods, images and budgets that a cycle reads.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.nodes.clone(), self.images.clone(), self.pods.clone())
            .with_budgets(self.budgets.clone())
            .with_pod_groups(self.pod_groups.clone())
    }

    /// Notes that a cycle begins, which copies the nodes that have changed since the last one.
    pub(super) fn begin_cycle(&mut self, emulation: Emulation) {
        if emulation.behaviour().images.as_copied {
            self.images.begin_cycle();
        }
    }

    /// Adds nodes in order of name, as the API server lists them, and rebuilds the walking order once. The first node
    /// with an image sets its size; zones take turns in order of first appearance.
    pub fn add_nodes(&mut self, nodes: impl IntoIterator<Item = Arc<Node>>) {
        let mut nodes: Vec<Arc<Node>> = nodes.into_iter().collect();
        nodes.sort_by(|a, b| a.name().cmp(b.name()));
        let known = |node: &Arc<Node>| self.nodes.slot(node.name()).is_some();
        let (known, mut new): (Vec<Arc<Node>>, Vec<Arc<Node>>) = nodes.into_iter().partition(known);
        for node in known {
            self.update_node(&node);
        }
        // The last of several objects with one name wins.
        new.dedup_by(|later, earlier| {
            let same = later.name() == earlier.name();
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        for slot in self.nodes.push(new) {
            let node = self.nodes.by_slot(slot).node.clone();
            self.images.add(&node);
            self.images.change(slot);
            self.enter_zone(zone_key(&node), slot);
            for pod in self.orphans.remove(node.name()).unwrap_or_default() {
                self.pods.add(&pod, slot);
                self.nodes.by_slot_mut(slot).add_pod(pod);
            }
        }
        self.nodes.reorder(self.walking_order());
    }

    /// Replaces a node object, or adds an unknown node. A node that changes zone keeps its position until a node is
    /// added or removed: upstream rebuilds the order of its snapshot only then.
    pub fn update_node(&mut self, node: &Arc<Node>) {
        let Some(slot) = self.nodes.slot(node.name()) else { return self.add_nodes([node.clone()]) };
        let old = self.nodes.by_slot(slot).node.clone();
        if old.status.images != node.status.images {
            self.images.remove(&old);
            self.images.add(node);
        }
        let (from, to) = (zone_key(&old), zone_key(node));
        if from != to {
            self.leave_zone(&from, slot);
            self.enter_zone(to, slot);
        }
        self.images.change(slot);
        self.nodes.set_node(slot, node.clone());
    }

    /// Removes a node; keeps its pods in case it returns.
    pub fn remove_node(&mut self, name: &Str) {
        let Some((slot, gone)) = self.nodes.remove(name) else { return };
        self.images.remove(&gone.node);
        self.leave_zone(&zone_key(&gone.node), slot);
        for pod in &gone.pods {
            self.pods.remove(pod, slot);
        }
        if !gone.pods.is_empty() {
            self.orphans.insert(name.clone(), gone.pods.clone());
        }
        self.nodes.reorder(self.walking_order());
    }

    /// Adds a pod to the node it names.
    pub fn add_pod(&mut self, pod: Arc<PodInfo>) {
        match self.nodes.slot(&pod.pod.node_name) {
            Some(slot) => {
                self.pods.add(&pod, slot);
                self.images.change(slot);
                self.nodes.by_slot_mut(slot).add_pod(pod);
            }
            None => self.orphans.entry(pod.pod.node_name.clone()).or_default().push(pod),
        }
    }

    /// Removes a pod from the node it names; returns whether it was there.
    pub fn remove_pod(&mut self, pod: &Pod) -> bool {
        self.assumed.remove(&ObjectId::of_pod(pod));
        if let Some(slot) = self.nodes.slot(&pod.node_name) {
            let Some(found) = self.nodes.by_slot(slot).find(pod).cloned() else { return false };
            self.pods.remove(&found, slot);
            self.images.change(slot);
            return self.nodes.by_slot_mut(slot).remove_pod(pod);
        }
        let Some(list) = self.orphans.get_mut(&pod.node_name) else { return false };
        let before = list.len();
        list.retain(|p| !is_same_pod(&p.pod, pod));
        let removed = list.len() < before;
        if list.is_empty() {
            self.orphans.remove(&pod.node_name);
        }
        removed
    }

    /// Rebuilds a node's state from its pods, by namespace and name, as after a restart. The order of pods and the used
    /// ports otherwise depend on earlier additions and removals.
    pub(super) fn recount_node(&mut self, name: &str) {
        let Some(slot) = self.nodes.slot(name) else { return };
        let node = self.nodes.by_slot_mut(slot);
        let mut pods = std::mem::take(&mut node.pods);
        pods.sort_by(|a, b| (&a.pod.metadata.namespace, &a.pod.metadata.name).cmp(&(&b.pod.metadata.namespace, &b.pod.metadata.name)));
        *node = node.without_pods();
        for pod in pods {
            node.add_pod(pod);
        }
    }

    /// Adds an unbound pod to the node it names.
    pub fn assume(&mut self, pod: Arc<PodInfo>) {
        self.assumed.insert(ObjectId::of_pod(&pod.pod), pod.clone());
        self.pod_groups.assume(&pod);
        self.add_pod(pod);
    }

    /// Whether a pod is on its node in the cache but not yet in the API server.
    pub fn is_assumed(&self, pod: &Pod) -> bool {
        self.assumed.contains_key(&ObjectId::of_pod(pod))
    }

    /// Returns an assumed pod as it was assumed.
    pub(super) fn assumed(&self, pod: &Pod) -> Option<&Arc<PodInfo>> {
        self.assumed.get(&ObjectId::of_pod(pod))
    }

    /// Removes an assumed pod from its node and returns it as it was assumed; `None` if it was not.
    pub fn forget(&mut self, pod: &Pod) -> Option<Arc<PodInfo>> {
        let assumed = self.assumed.remove(&ObjectId::of_pod(pod))?;
        self.remove_pod(&assumed.pod);
        self.pod_groups.forget(&assumed.pod);
        Some(assumed)
    }

    fn enter_zone(&mut self, zone: String, slot: usize) {
        let tree = Arc::make_mut(&mut self.tree);
        match tree.iter_mut().find(|(z, _)| *z == zone) {
            Some((_, slots)) => slots.push(slot as u32),
            None => tree.push((zone, vec![slot as u32])),
        }
    }

    fn leave_zone(&mut self, zone: &str, slot: usize) {
        let tree = Arc::make_mut(&mut self.tree);
        if let Some(at) = tree.iter().position(|(z, _)| z == zone) {
            tree[at].1.retain(|s| *s as usize != slot);
            if tree[at].1.is_empty() {
                tree.remove(at);
            }
        }
    }

    /// Returns the slots of all nodes, one of each zone in turn; mirrors `nodeTree.list`.
    fn walking_order(&self) -> Vec<u32> {
        let mut zones: Vec<_> = self.tree.iter().map(|(_, slots)| slots.iter()).collect();
        let mut order = Vec::with_capacity(self.nodes.nodes().len());
        while !zones.is_empty() {
            zones.retain_mut(|slots| slots.next().map(|slot| order.push(*slot)).is_some());
        }
        order
    }
}

/// Region and zone of a node; mirrors `GetZoneKey` in `staging/src/k8s.io/component-helpers/node/topology/helpers.go`.
fn zone_key(node: &Node) -> String {
    let label = |beta: &str, stable: &str| {
        let labels = &node.metadata.labels;
        labels.get(beta).or_else(|| labels.get(stable)).map_or("", |v| v.as_str()).to_owned()
    };
    let zone = label("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
    let region = label("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region");
    if zone.is_empty() && region.is_empty() { String::new() } else { format!("{region}:\0:{zone}") }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests;
