//! A node with running sums over its pods; mirrors `NodeInfo` in `pkg/scheduler/framework/types.go` and
//! `HostPortInfo` in `staging/src/k8s.io/kube-scheduler/framework/types.go`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::pod_info::PodRow;
use super::{PodBits, PodInfo, Resource};
use crate::cluster::{ContainerPort, Key, Node, Pod, Str};

/// A node, the pods on it, and what they take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeInfo {
    /// The node.
    pub node: Arc<Node>,
    /// The pods on the node, in the order they came. Only [`Self::add_pod`] and [`Self::remove_pod`] change the list.
    pub pods: Vec<Arc<PodInfo>>,
    /// The pods of [`Self::pods`] with any inter-pod affinity or anti-affinity.
    pub pods_with_affinity: Vec<Arc<PodInfo>>,
    /// The pods of [`Self::pods`] with required anti-affinity.
    pub pods_with_required_anti_affinity: Vec<Arc<PodInfo>>,
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
    /// How many pods on the node use each claim.
    pub pvc_ref_counts: BTreeMap<Key, usize>,
    /// Goes with [`Self::pods`].
    rows: Vec<PodRow>,
    /// Goes with [`Self::pods_with_affinity`]: what a pod has that their terms are about.
    affinity_bits: Vec<PodBits>,
    /// Goes with [`Self::pods_with_required_anti_affinity`], likewise.
    anti_affinity_bits: Vec<PodBits>,
}

impl NodeInfo {
    /// A node without pods.
    pub fn new(node: Arc<Node>) -> Self {
        let mut info = Self::default();
        info.set_node(node);
        info
    }

    /// The node's name.
    pub fn name(&self) -> &Str {
        self.node.name()
    }

    /// Replaces the node object, keeping the pods.
    pub fn set_node(&mut self, node: Arc<Node>) {
        self.allocatable = Resource::from_list(&node.status.allocatable);
        self.node = node;
    }

    /// Adds a pod and what it takes.
    pub fn add_pod(&mut self, pod: Arc<PodInfo>) {
        if pod.has_affinity() {
            self.affinity_bits.push(pod.wanted_bits());
            self.pods_with_affinity.push(pod.clone());
        }
        if !pod.required_anti_affinity().is_empty() {
            self.anti_affinity_bits.push(pod.wanted_by_required_anti_affinity());
            self.pods_with_required_anti_affinity.push(pod.clone());
        }
        self.account(&pod, 1);
        self.rows.push(pod.row());
        self.pods.push(pod);
    }

    /// Removes a pod by uid (and name, where objects carry no uid); true when it was there.
    pub fn remove_pod(&mut self, pod: &Pod) -> bool {
        self.remove_row(pod, PodRow::id_of(pod))
    }

    /// As [`Self::remove_pod`], for a pod that is known already.
    pub fn remove(&mut self, pod: &PodInfo) -> bool {
        self.remove_row(&pod.pod, pod.row().id)
    }

    fn remove_row(&mut self, pod: &Pod, id: u64) -> bool {
        let same = |p: &Arc<PodInfo>| std::ptr::eq(&raw const *p.pod, pod) || is_same_pod(&p.pod, pod);
        let found = self.rows.iter().zip(&self.pods).position(|(row, p)| row.id == id && same(p));
        let Some(at) = found else { return false };
        let removed = swap_remove(&mut self.pods, at);
        swap_remove(&mut self.rows, at);
        let lists = [
            (&mut self.pods_with_affinity, &mut self.affinity_bits),
            (&mut self.pods_with_required_anti_affinity, &mut self.anti_affinity_bits),
        ];
        for (list, bits) in lists.into_iter().filter(|_| removed.terms.is_some()) {
            if let Some(at) = list.iter().position(same) {
                swap_remove(list, at);
                swap_remove(bits, at);
            }
        }
        self.account(&removed, -1);
        true
    }

    /// The pods that have all of the wanted bits, among them every pod that matches what the bits were made from.
    pub fn candidates(&self, wanted: PodBits) -> impl Iterator<Item = &Arc<PodInfo>> {
        self.rows.iter().zip(&self.pods).filter(move |(row, _)| row.bits.covers(wanted)).map(|(_, pod)| pod)
    }

    /// The pods of a priority below this one, in the order of [`Self::pods`].
    pub fn pods_below(&self, priority: i32) -> impl Iterator<Item = &Arc<PodInfo>> {
        self.rows.iter().zip(&self.pods).filter(move |(row, _)| row.priority < priority).map(|(_, pod)| pod)
    }

    /// The pods with affinity or anti-affinity of which any term may be about a pod with these bits.
    pub fn with_affinity_to(&self, pod: PodBits) -> impl Iterator<Item = &Arc<PodInfo>> {
        let rows = self.affinity_bits.iter().zip(&self.pods_with_affinity);
        rows.filter(move |(wanted, _)| pod.covers(**wanted)).map(|(_, pod)| pod)
    }

    /// The pods of which any required anti-affinity term may be about a pod with these bits.
    pub fn with_required_anti_affinity_to(&self, pod: PodBits) -> impl Iterator<Item = &Arc<PodInfo>> {
        let rows = self.anti_affinity_bits.iter().zip(&self.pods_with_required_anti_affinity);
        rows.filter(move |(wanted, _)| pod.covers(**wanted)).map(|(_, pod)| pod)
    }

    fn account(&mut self, pod: &PodInfo, sign: i64) {
        self.requested.apply(&pod.resource.resource, sign);
        self.non_zero_cpu = self.non_zero_cpu.wrapping_add(sign.wrapping_mul(pod.resource.non_zero_cpu));
        self.non_zero_memory = self.non_zero_memory.wrapping_add(sign.wrapping_mul(pod.resource.non_zero_memory));
        if !pod.row().takes_more {
            return;
        }
        for port in host_ports(&pod.pod) {
            if sign > 0 {
                self.used_ports.add(port);
            } else {
                self.used_ports.remove(port);
            }
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

/// Upstream fills the gap of a removed pod with the last one; keeping to it keeps the order of later lists.
fn swap_remove<T>(list: &mut Vec<T>, at: usize) -> T {
    list.swap_remove(at)
}

/// Whether two objects are the same pod.
pub fn is_same_pod(a: &Pod, b: &Pod) -> bool {
    a.metadata.uid == b.metadata.uid && (!a.metadata.uid.is_empty() || a.key() == b.key())
}

/// The host ports that a pod takes on its node: of containers, and of init containers that keep running.
pub fn host_ports(pod: &Pod) -> impl Iterator<Item = &ContainerPort> {
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.is_restartable());
    pod.spec.containers.iter().chain(sidecars).flat_map(|c| c.ports.iter()).filter(|p| p.host_port.unwrap_or(0) > 0)
}

/// Ports in use on a node: a set of (IP, protocol, port), so that one of two pods that share a port frees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostPorts(Vec<(Str, Str, i32)>);

const ANY_IP: &str = "0.0.0.0";

fn port_parts(port: &ContainerPort) -> (&str, &str, i32) {
    let ip = if port.host_ip.is_empty() { ANY_IP } else { port.host_ip.as_str() };
    let protocol = if port.protocol.is_empty() { "TCP" } else { port.protocol.as_str() };
    (ip, protocol, port.host_port.unwrap_or(0))
}

impl HostPorts {
    /// Adds a port.
    pub fn add(&mut self, port: &ContainerPort) {
        let (ip, protocol, number) = port_parts(port);
        if number > 0 && self.position(ip, protocol, number).is_none() {
            self.0.push((ip.into(), protocol.into(), number));
        }
    }

    /// Takes a port away.
    pub fn remove(&mut self, port: &ContainerPort) {
        let (ip, protocol, number) = port_parts(port);
        if let Some(at) = self.position(ip, protocol, number) {
            self.0.swap_remove(at);
        }
    }

    /// Whether a port cannot be taken beside those in use.
    pub fn conflicts(&self, port: &ContainerPort) -> bool {
        let (ip, protocol, number) = port_parts(port);
        number > 0 && self.0.iter().any(|(i, p, n)| *n == number && p == protocol && (ip == ANY_IP || i == ANY_IP || i == ip))
    }

    fn position(&self, ip: &str, protocol: &str, number: i32) -> Option<usize> {
        self.0.iter().position(|(i, p, n)| *n == number && p == protocol && i == ip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_follow_the_pods_on_the_node() {
        let pod = |name: &str, label: &str| {
            let text = format!(r#"{{"metadata":{{"name":"{name}","namespace":"n","labels":{{"a":"{label}"}}}}}}"#);
            Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&text).unwrap())))
        };
        let mut node = NodeInfo::default();
        let pods = [pod("p0", "1"), pod("p1", "2"), pod("p2", "1")];
        for pod in &pods {
            node.add_pod(pod.clone());
        }
        let check = |node: &NodeInfo, wanted: PodBits, expected: &[&str]| {
            let names: Vec<&str> = node.candidates(wanted).map(|p| p.pod.metadata.name.as_str()).collect();
            assert_eq!(names, expected);
        };
        let selector = serde_json::from_str(r#"{"matchLabels":{"a":"1"}}"#).unwrap();
        let ones = PodBits::namespace("n").and(PodBits::selected_by(&selector));
        check(&node, PodBits::default(), &["p0", "p1", "p2"]);
        check(&node, ones, &["p0", "p2"]);
        assert!(node.remove_pod(&pods[0].pod) && !node.remove_pod(&pods[0].pod));
        check(&node, PodBits::default(), &["p2", "p1"]);
        check(&node, ones, &["p2"]);
    }
}
