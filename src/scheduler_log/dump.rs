//! Reads the dump that kube-scheduler logs on SIGUSR2: its cache by node, and its queues.

use std::collections::BTreeMap;

use super::names::{Name, Names};
use super::time::Stamp;

/// The queues and the cache that the scheduler logged on a signal.
#[derive(Clone, Debug)]
pub struct Dump {
    /// When the queues were logged.
    pub at: Stamp,
    /// The process, as an index in [`SchedulerLog::processes`](super::SchedulerLog::processes).
    pub process: u16,
    /// The numbers of pods in activeQ, backoffQ and unschedulablePods.
    pub lengths: [usize; 3],
    /// The pods, queue by queue, in the order of the dump.
    pub pods: Vec<Name>,
    /// The nodes of the cache; empty if the dump has none, or a later dump of the process has nodes.
    pub nodes: Vec<CachedNode>,
    /// The number of pods whose place in the dump differs from the one that the earlier lines give; `None` if these do
    /// not give the places of all pods.
    pub elsewhere: Option<usize>,
}

/// Resource amounts as in the scheduler's cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Thousandths of a CPU.
    pub milli_cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// Bytes.
    pub ephemeral_storage: i64,
    /// Number of pods; 0 among requested amounts.
    pub pods: i64,
    /// Other resources, in units.
    pub scalars: BTreeMap<String, i64>,
}

/// A node of the scheduler's cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CachedNode {
    /// The node's name.
    pub name: Name,
    /// The Node object is deleted, but pods remain.
    pub deleted: bool,
    /// The requests of its pods, assumed ones included.
    pub requested: Amounts,
    /// The node's allocatable resources.
    pub allocatable: Amounts,
    /// Its pods, assumed ones included.
    pub pods: Vec<Name>,
    /// Pods nominated to it.
    pub nominated: Vec<Name>,
}

/// Reads `activeQ:1; backoffQ:2; unschedulablePods:2`.
pub(super) fn lengths(summary: &str) -> Option<[usize; 3]> {
    let mut found = [None; 3];
    for part in summary.split(';') {
        let (name, length) = part.trim().split_once(':')?;
        let slot = match name {
            "activeQ" => 0,
            "backoffQ" => 1,
            // `unschedulableQ` is the older name of the pool.
            "unschedulablePods" | "unschedulableQ" => 2,
            _ => continue,
        };
        found[slot] = length.trim().parse().ok();
    }
    Some([found[0]?, found[1]?, found[2]?])
}

/// Reads `name: pod-1, namespace: default, uid: …` as `default/pod-1`.
fn pod(line: &str, names: &mut Names) -> Option<Name> {
    let rest = line.strip_prefix("name: ")?;
    let (name, rest) = rest.split_once(", namespace: ")?;
    let (namespace, _) = rest.split_once(", ")?;
    Some(names.add(&format!("{namespace}/{name}")))
}

/// Reads the pods of a queue, in the order of the dump.
pub(super) fn pods(text: &str, names: &mut Names) -> Vec<Name> {
    text.lines().filter_map(|line| pod(line, names)).collect()
}

/// Reads the nodes of the cache.
pub(super) fn nodes(text: &str, names: &mut Names) -> Vec<CachedNode> {
    let mut nodes: Vec<CachedNode> = Vec::new();
    let mut nominated = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("Node name: ") {
            nodes.push(CachedNode { name: names.add(name), ..CachedNode::default() });
            nominated = false;
            continue;
        }
        let Some(node) = nodes.last_mut() else { continue };
        if let Some(deleted) = line.strip_prefix("Deleted: ") {
            node.deleted = deleted == "true";
        } else if let Some(text) = line.strip_prefix("Requested Resources: ") {
            node.requested = amounts(text);
        } else if let Some(text) = line.strip_prefix("Allocatable Resources:") {
            node.allocatable = amounts(text.trim_start());
        } else if line.starts_with("Scheduled Pods(") {
            nominated = false;
        } else if line.starts_with("Nominated Pods(") {
            nominated = true;
        } else if let Some(pod) = pod(line, names) {
            if nominated { &mut node.nominated } else { &mut node.pods }.push(pod);
        }
    }
    nodes
}

/// Reads `&{MilliCPU:4000 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[nvidia.com/gpu:1]}`.
fn amounts(text: &str) -> Amounts {
    let inner = text.trim_start_matches("&{").trim_end_matches('}');
    let (plain, scalars) = inner.split_once("ScalarResources:map[").unwrap_or((inner, ""));
    let mut found = Amounts::default();
    for (name, amount) in plain.split_whitespace().filter_map(|pair| pair.split_once(':')) {
        let amount = amount.parse().unwrap_or_default();
        match name {
            "MilliCPU" => found.milli_cpu = amount,
            "Memory" => found.memory = amount,
            "EphemeralStorage" => found.ephemeral_storage = amount,
            "AllowedPodNumber" => found.pods = amount,
            _ => {}
        }
    }
    for pair in scalars.trim_end_matches(']').split_whitespace() {
        if let Some((name, amount)) = pair.rsplit_once(':') {
            found.scalars.insert(name.to_owned(), amount.parse().unwrap_or_default());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: &str = "Node name: n-2
Deleted: false
Requested Resources: &{MilliCPU:4000 Memory:1 EphemeralStorage:2 AllowedPodNumber:0 ScalarResources:map[a.b/gpu:3 hugepages-2Mi:4]}
Allocatable Resources:&{MilliCPU:8000 Memory:8589934592 EphemeralStorage:0 AllowedPodNumber:5 ScalarResources:map[]}
Scheduled Pods(number: 1):
name: run-3, namespace: default, uid: 99e7, phase: Running, nominated node: 
Nominated Pods(number: 1):
name: pod-3, namespace: shop, uid: 8389, phase: Pending, nominated node: n-2


Node name: n-3
Deleted: true
";

    #[test]
    fn the_cache_is_read_by_node() {
        let mut names = Names::default();
        let nodes = nodes(NODES, &mut names);
        let [first, second] = &nodes[..] else { panic!("{nodes:?}") };
        assert_eq!((names.text(first.name), first.deleted, names.text(second.name), second.deleted), ("n-2", false, "n-3", true));
        let scalars = BTreeMap::from([("a.b/gpu".to_owned(), 3), ("hugepages-2Mi".to_owned(), 4)]);
        assert_eq!(first.requested, Amounts { milli_cpu: 4000, memory: 1, ephemeral_storage: 2, pods: 0, scalars });
        assert_eq!(first.allocatable.pods, 5);
        let texts = |list: &[Name]| list.iter().map(|name| names.text(*name).to_owned()).collect::<Vec<_>>();
        assert_eq!((texts(&first.pods), texts(&first.nominated)), (vec!["default/run-3".into()], vec!["shop/pod-3".into()]));
    }

    #[test]
    fn a_summary_names_each_queue() {
        assert_eq!(lengths("activeQ:1; backoffQ:2; unschedulablePods:30"), Some([1, 2, 30]));
        for summary in ["", "activeQ:1; backoffQ:2", "activeQ:x; backoffQ:2; unschedulablePods:3", "activeQ"] {
            assert_eq!(lengths(summary), None, "{summary}");
        }
    }
}
