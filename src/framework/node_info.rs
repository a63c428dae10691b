//! A node with running sums over its pods; mirrors `NodeInfo` in `pkg/scheduler/framework/types.go` and
//! `HostPortInfo` in `staging/src/k8s.io/kube-scheduler/framework/types.go`.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::pod_info::{PodRow, VictimRow};
use super::{LabelBloom, PodInfo, Resource};
use crate::cluster::{ContainerPort, HostPorts, Key, Node, Pod, Str, Taint};
use crate::release::Emulation;

/// A node, its pods, and the resources, ports and claims they use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeInfo {
    pub node: Arc<Node>,
    /// The pods on the node, in the order of arrival. Only [`Self::add_pod`] and [`Self::remove_pod`] change the list.
    pub pods: Vec<Arc<PodInfo>>,
    /// Sum of the pods' requests.
    pub requested: Resource,
    /// Sum of the pods' CPU with scoring defaults, in thousandths of a core.
    pub non_zero_cpu: i64,
    /// Sum of the pods' memory with scoring defaults, in bytes.
    pub non_zero_memory: i64,
    /// `status.allocatable`.
    pub allocatable: Resource,
    /// Host ports in use.
    pub used_ports: HostPorts,
    /// The number of pods on the node that use each claim.
    pub pvc_ref_counts: BTreeMap<Key, usize>,
    /// Copies of `spec.unschedulable` and of whether there are taints. Reading them does not fetch the node object.
    unschedulable: bool,
    tainted: bool,
    /// Parallel to [`Self::pods`].
    rows: Vec<PodRow>,
    /// Parallel to [`Self::pods`]; apart from the rows, which more walks read.
    victims: Vec<VictimRow>,
    /// Hashes of the image names on the node, in ascending order, each with the position of its image in the node's
    /// list. They rule out a missing image without comparing names.
    images: Arc<[(u64, u32)]>,
    /// The hash of the node's name.
    name_hash: u64,
    /// Where its list has it.
    slot: Slot,
}

/// The slot of a node in the list that it was put in. Nodes that differ in it alone are equal.
#[derive(Clone, Copy, Debug, Default)]
struct Slot(u32);

impl PartialEq for Slot {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The number of some pods, and the sum of their requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodSums {
    /// The number of pods.
    pub pods: usize,
    /// The sum of their requests.
    pub requested: Resource,
}

impl PodSums {
    /// Returns the sums of pods.
    pub fn of<'a>(pods: impl IntoIterator<Item = &'a Arc<PodInfo>>) -> Self {
        let mut sums = Self::default();
        for pod in pods {
            sums.add(pod);
        }
        sums
    }

    pub fn add(&mut self, pod: &PodInfo) {
        self.pods += 1;
        self.requested.apply(&pod.resource.resource, 1);
    }

    /// Returns the sums of these pods and others.
    #[must_use]
    pub fn and(&self, others: &Self) -> Self {
        let mut sums = self.clone();
        sums.pods += others.pods;
        sums.requested.apply(&others.requested, 1);
        sums
    }
}

impl NodeInfo {
    /// Makes a node without pods.
    pub fn new(node: Arc<Node>) -> Self {
        let mut info = Self::default();
        info.set_node(node);
        info
    }

    /// Returns the same node without pods.
    #[must_use]
    pub fn without_pods(&self) -> Self {
        Self { slot: self.slot, ..Self::new(self.node.clone()) }
    }

    /// A node without pods as an extender returned it: where images are is known of the cluster's own nodes only.
    pub fn from_extender(node: Arc<Node>) -> Self {
        Self { images: Arc::default(), ..Self::new(node) }
    }

    /// Returns the slot that the node has in the list that it was put in, and any in other lists.
    #[inline]
    pub(super) fn slot(&self) -> usize {
        self.slot.0 as usize
    }

    pub(super) fn set_slot(&mut self, slot: u32) {
        self.slot = Slot(slot);
    }

    /// Returns the node's name.
    #[inline]
    pub fn name(&self) -> &Str {
        self.node.name()
    }

    /// Replaces the node object, keeping the pods.
    pub fn set_node(&mut self, node: Arc<Node>) {
        self.allocatable = Resource::from_list(&node.status.allocatable);
        let named = (0..).zip(&node.status.images.0).flat_map(|(at, image)| image.names.iter().map(move |name| (hash_of(name), at)));
        let mut images: Vec<(u64, u32)> = named.collect();
        images.sort_unstable();
        self.images = images.into();
        self.name_hash = hash_of(node.name());
        self.unschedulable = node.unschedulable();
        self.tainted = !node.spec.taints.is_empty();
        self.node = node;
    }

    /// Returns whether the node is cordoned (`spec.unschedulable`).
    #[inline]
    pub fn unschedulable(&self) -> bool {
        self.unschedulable
    }

    /// Returns the node's taints.
    #[inline]
    pub fn taints(&self) -> &[Taint] {
        if self.tainted { &self.node.spec.taints } else { &[] }
    }

    /// Whether the node has an image with exactly this name, of which [`hash_of`] is the hash.
    pub fn has_image(&self, name: &str, hash: u64) -> bool {
        let from = self.images.partition_point(|(other, _)| *other < hash);
        let same_hash = self.images[from..].iter().take_while(|(other, _)| *other == hash);
        let mut images = same_hash.filter_map(|(_, at)| self.node.status.images.get(*at as usize));
        images.any(|image| image.names.iter().any(|n| n.as_str() == name))
    }

    /// Returns the hash of the node's name, as [`hash_of`] computes it.
    #[inline]
    pub fn name_hash(&self) -> u64 {
        self.name_hash
    }

    /// Adds pods and accounts for their usage.
    pub fn add_pods(&mut self, pods: Vec<Arc<PodInfo>>) {
        for pod in &pods {
            self.account(pod, 1);
        }
        self.rows.reserve_exact(pods.len());
        self.rows.extend(pods.iter().map(|pod| pod.row()));
        self.victims.reserve_exact(pods.len());
        self.victims.extend(pods.iter().map(|pod| pod.victim_row()));
        if self.pods.is_empty() {
            self.pods = pods;
        } else {
            self.pods.extend(pods);
        }
    }

    /// Adds a pod and accounts for its usage.
    pub fn add_pod(&mut self, pod: Arc<PodInfo>) {
        self.account(&pod, 1);
        self.rows.push(pod.row());
        self.victims.push(pod.victim_row());
        self.pods.push(pod);
    }

    /// Adds a pod before the last `behind` pods of the list.
    pub fn add_pod_before(&mut self, pod: Arc<PodInfo>, behind: usize) {
        self.add_pod(pod);
        let last = self.pods.len() - 1;
        let at = last.saturating_sub(behind);
        self.pods[at..].rotate_right(1);
        self.rows[at..].rotate_right(1);
        self.victims[at..].rotate_right(1);
    }

    /// Removes a pod that is not among the last `behind` of the list, as [`Self::remove`] does in a list without these.
    pub fn remove_before(&mut self, pod: &PodInfo, behind: usize) -> bool {
        let id = pod.row().id;
        let (pods, rows) = (self.pods.len().saturating_sub(behind), &self.rows);
        let found = rows.iter().zip(&self.pods).take(pods).position(|(row, p)| row.id == id && is_entry(p, &pod.pod));
        let Some(at) = found else { return false };
        self.pods.swap(at, pods - 1);
        self.rows.swap(at, pods - 1);
        self.victims.swap(at, pods - 1);
        let removed = self.pods.remove(pods - 1);
        self.rows.remove(pods - 1);
        self.victims.remove(pods - 1);
        self.account(&removed, -1);
        true
    }

    /// Returns the node's own entry of a pod, found by uid, or by name if objects have no uid.
    pub fn find(&self, pod: &Pod) -> Option<&Arc<PodInfo>> {
        let id = PodRow::id_of(pod);
        self.rows.iter().zip(&self.pods).find(|(row, p)| row.id == id && is_same_pod(&p.pod, pod)).map(|(_, p)| p)
    }

    /// Removes a pod, found by uid, or by name if objects have no uid. Returns whether it was found.
    pub fn remove_pod(&mut self, pod: &Pod) -> bool {
        self.remove_row(pod, PodRow::id_of(pod))
    }

    /// Does the same as [`Self::remove_pod`], with the id already computed.
    #[inline]
    pub fn remove(&mut self, pod: &PodInfo) -> bool {
        self.remove_row(&pod.pod, pod.row().id)
    }

    fn remove_row(&mut self, pod: &Pod, id: u64) -> bool {
        let found = self.rows.iter().zip(&self.pods).position(|(row, p)| row.id == id && is_entry(p, pod));
        let Some(at) = found else { return false };
        let removed = swap_remove(&mut self.pods, at);
        swap_remove(&mut self.rows, at);
        swap_remove(&mut self.victims, at);
        self.account(&removed, -1);
        true
    }

    /// Returns the pods with a priority below this one, in the order of [`Self::pods`].
    #[inline]
    pub fn pods_below(&self, priority: i32) -> impl Iterator<Item = &Arc<PodInfo>> {
        self.rows.iter().zip(&self.pods).filter(move |(row, _)| row.priority < priority).map(|(_, pod)| pod)
    }

    /// Returns the places in [`Self::pods`] of those with a priority below this one, in order.
    #[inline]
    pub fn places_below(&self, priority: i32) -> impl Iterator<Item = u32> {
        (0..).zip(&self.rows).filter(move |(_, row)| row.priority < priority).map(|(place, _)| place)
    }

    /// Returns the pod at a place of [`Self::pods`], by what the node keeps of it.
    #[inline]
    pub fn at(&self, place: u32) -> PodAt<'_> {
        let place = place as usize;
        PodAt { info: &self.pods[place], row: &self.rows[place], victim: &self.victims[place] }
    }

    /// Returns the number of the pods, and the sum of their requests.
    pub fn sums(&self) -> PodSums {
        PodSums { pods: self.pods.len(), requested: self.requested.clone() }
    }

    /// Returns whether all pods that have started did so before a time, in nanoseconds since 1970.
    pub fn starts_are_before(&self, time: i64) -> bool {
        self.victims.iter().all(|row| row.start_time().is_none_or(|start| start < time))
    }

    /// Returns whether two entries may be the same pod; `false` is certain.
    pub fn may_hold_a_pod_twice(&self) -> bool {
        // The ids are hashes. Few are equal in these bits alone.
        let mut seen = [0_u64; 64];
        let is_new = |row: &PodRow| {
            let (word, bit) = ((row.id >> 6) as usize % seen.len(), 1 << (row.id % 64));
            let is_new = seen[word] & bit == 0;
            seen[word] |= bit;
            is_new
        };
        if self.rows.iter().all(is_new) {
            return false;
        }
        let mut ids: Vec<u64> = self.rows.iter().map(|row| row.id).collect();
        ids.sort_unstable();
        ids.windows(2).any(|pair| pair[0] == pair[1])
    }

    #[inline]
    fn account(&mut self, pod: &PodInfo, sign: i64) {
        self.requested.apply(&pod.resource.resource, sign);
        self.non_zero_cpu = self.non_zero_cpu.wrapping_add(sign.wrapping_mul(pod.resource.non_zero_cpu));
        self.non_zero_memory = self.non_zero_memory.wrapping_add(sign.wrapping_mul(pod.resource.non_zero_memory));
        if !pod.row().takes_more {
            return;
        }
        if sign > 0 {
            self.used_ports.add(pod.host_ports());
        } else {
            self.used_ports.remove(pod.host_ports());
        }
        for volume in pod.pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref()) {
            let key = Key { namespace: pod.pod.metadata.namespace.clone(), name: volume.claim_name.clone() };
            let count = self.pvc_ref_counts.entry(key.clone()).or_default();
            *count = count.saturating_add_signed(sign as isize);
            if *count == 0 {
                self.pvc_ref_counts.remove(&key);
            }
        }
    }
}

/// A pod on a node, by what the node keeps of it. Reading it does not fetch the pod.
#[derive(Clone, Copy)]
pub struct PodAt<'a> {
    info: &'a Arc<PodInfo>,
    row: &'a PodRow,
    victim: &'a VictimRow,
}

impl<'a> PodAt<'a> {
    #[inline]
    pub fn info(self) -> &'a Arc<PodInfo> {
        self.info
    }

    /// Returns [`PodInfo::priority`].
    #[inline]
    pub fn priority(self) -> i32 {
        self.row.priority
    }

    /// Returns [`PodInfo::start_time`].
    #[inline]
    pub fn start_time(self) -> Option<i64> {
        self.victim.start_time()
    }

    /// Returns [`PodInfo::is_labelled`].
    #[inline]
    pub fn is_labelled(self) -> bool {
        self.row.labelled
    }

    /// Returns [`PodInfo::bits`].
    #[inline]
    pub fn bits(self) -> LabelBloom {
        self.row.bits
    }

    /// Returns the addresses of the pod's template and namespace; `None` without a template. Pods with the same addresses have the
    /// same labels, for as long as the pods are there.
    #[inline]
    pub fn label_addresses(self) -> Option<(usize, usize)> {
        self.victim.label_addresses()
    }

    /// Adds the pod to sums (`sign` 1), or subtracts it (`sign` -1).
    #[inline]
    pub fn count_in(self, sums: &mut PodSums, sign: i64) {
        sums.pods = sums.pods.wrapping_add_signed(sign as isize);
        sums.requested.apply(self.victim.requests(), sign);
    }
}

/// Returns the hash by which nodes know their name and those of their images.
pub fn hash_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Moves the last pod into the gap, as upstream does, which keeps the order of later lists the same.
fn swap_remove<T>(list: &mut Vec<T>, at: usize) -> T {
    list.swap_remove(at)
}

/// Whether an entry of a node is this pod.
#[inline]
fn is_entry(entry: &PodInfo, pod: &Pod) -> bool {
    std::ptr::eq(&raw const *entry.pod, pod) || is_same_pod(&entry.pod, pod)
}

/// Whether two objects are the same pod.
#[inline]
pub fn is_same_pod(a: &Pod, b: &Pod) -> bool {
    let (a, b) = (&a.metadata, &b.metadata);
    a.uid == b.uid && (!a.uid.is_empty() || (a.name == b.name && a.namespace == b.namespace))
}

/// Returns the host ports that a pod uses on its node: those of containers and, if the release counts them, of
/// sidecars.
pub fn host_ports(pod: &Pod, emulation: Emulation) -> impl Iterator<Item = &ContainerPort> {
    pod.spec.host_port_list(emulation.behaviour().resources.sidecar_ports)
}

#[cfg(test)]
mod tests;
