//! The units of eviction on a node: single pods, and groups that are disrupted as one, with their pods on other nodes. Mirrors
//! `getCrossNodesVictims` and `searchCrossNodesVictimPods` in `pkg/scheduler/framework/preemption/types.go`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::importance::{Rank, rank};
use crate::cluster::{Cluster, Key, Pod, PodGroup};
use crate::framework::{Context, NodeInfo, PodGroupState, PodInfo, Snapshot, Status, unix_nanoseconds};
use crate::release::{Emulation, Gate};

/// Pods that are evicted all or none.
#[derive(Clone, Debug)]
pub(super) enum Unit<'a> {
    /// One pod.
    Pod(&'a Arc<PodInfo>),
    /// All pods of a group that have a node, those of this node and others.
    Group(Arc<[Arc<PodInfo>]>),
}

impl Unit<'_> {
    #[inline]
    pub(super) fn pods(&self) -> &[Arc<PodInfo>] {
        match self {
            Self::Pod(info) => std::slice::from_ref(*info),
            Self::Group(pods) => pods,
        }
    }

    /// Returns whether its pods go because their group goes.
    #[inline]
    pub(super) fn is_group(&self) -> bool {
        matches!(self, Self::Group(_))
    }
}

/// Pods that preemption by a single pod evicts all or none.
#[derive(Clone, Debug, PartialEq)]
pub struct Evictable {
    /// The pods; those of a group are on several nodes.
    pub pods: Vec<Arc<PodInfo>>,
    /// The group that is evicted as a whole.
    pub group: Option<Key>,
    /// The priority that is compared with the preemptor's.
    pub priority: i32,
}

impl Evictable {
    /// Returns everything on a node with a priority below this one, or everything, as a dry run orders it: the most important first,
    /// and equals in the order of the node. Empty if a dry run on the node ends with an error.
    pub fn on_node(cx: &Context<'_>, node: &NodeInfo, below: Option<i32>) -> Vec<Self> {
        // The highest priority of all is below no other.
        let mut units = units_where(cx, node, |priority| below.is_none_or(|below| priority < below)).unwrap_or_default();
        units.sort_by_key(|(rank, _)| *rank);
        let evictable = |(rank, unit): (Rank, Unit<'_>)| {
            let group = unit.pods().first().and_then(|info| info.pod.group_key()).filter(|_| unit.is_group());
            Self { pods: unit.pods().to_vec(), group, priority: rank.priority() }
        };
        units.into_iter().map(evictable).collect()
    }
}

/// Returns whether preemption by a single pod respects groups.
pub(super) fn respects_groups(emulation: Emulation) -> bool {
    emulation.behaviour().groups.are_victims && emulation.enabled(Gate::GenericWorkload)
}

/// Returns the group of a pod, if its object is there.
pub(super) fn group_of<'a>(cluster: &'a Cluster, info: &PodInfo) -> Option<&'a Arc<PodGroup>> {
    info.pod.group_key().and_then(|key| cluster.pod_groups.get(&key))
}

/// Returns the priority of a pod's group, or its own without a group. Mirrors `getPodPriority`.
pub(super) fn priority_in_group(cluster: &Cluster, info: &PodInfo) -> i32 {
    group_of(cluster, info).map_or_else(|| info.priority(), |group| group.priority())
}

/// Returns the priority with which a pod can be evicted for another pod.
pub(super) fn victim_priority(cx: &Context<'_>, info: &PodInfo) -> i32 {
    if respects_groups(cx.emulation) { priority_in_group(cx.cluster, info) } else { info.priority() }
}

/// Returns the units with a pod on this node whose priority is below `priority`, in the order of the node's pods. Fails if a pod of
/// a group is on a node that the snapshot lacks.
pub(super) fn units_below<'n>(cx: &Context<'_>, priority: i32, node: &'n NodeInfo) -> Result<Vec<(Rank, Unit<'n>)>, Status> {
    if respects_groups(cx.emulation) {
        return units_where(cx, node, |other| other < priority);
    }
    let (now, importance) = (unix_nanoseconds(cx.now), cx.emulation.behaviour().preemption.importance);
    let mut units = Vec::with_capacity(node.pods.len());
    units.extend(node.pods_below(priority).map(|info| (rank(info, now, importance), Unit::Pod(info))));
    Ok(units)
}

/// Returns the units with a pod on this node whose priority is wanted.
fn units_where<'n>(cx: &Context<'_>, node: &'n NodeInfo, wanted: impl Fn(i32) -> bool) -> Result<Vec<(Rank, Unit<'n>)>, Status> {
    let (now, importance) = (unix_nanoseconds(cx.now), cx.emulation.behaviour().preemption.importance);
    if !respects_groups(cx.emulation) {
        let pods = node.pods.iter().filter(|info| wanted(info.priority()));
        return Ok(pods.map(|info| (rank(info, now, importance), Unit::Pod(info))).collect());
    }
    let mut units = Vec::new();
    let mut seen: BTreeSet<Key> = BTreeSet::new();
    let mut indexes = PodIndexes::default();
    for info in &node.pods {
        let group = group_of(cx.cluster, info);
        let priority = group.map_or_else(|| info.priority(), |group| group.priority());
        let unit = match group.filter(|group| group.is_disrupted_as_one()).map(|group| group.metadata.key()) {
            Some(key) if seen.insert(key.clone()) => match members(cx, &key, &mut indexes)? {
                pods if pods.is_empty() => Unit::Pod(info),
                pods => Unit::Group(pods.into()),
            },
            Some(_) => continue,
            None => Unit::Pod(info),
        };
        if wanted(priority) {
            units.push((group_rank(priority, &unit, now), unit));
        }
    }
    Ok(units)
}

/// Returns the rank of a unit among others: a pod of any group is worth more than one of none, and more of them than fewer.
fn group_rank(priority: i32, unit: &Unit<'_>, now: i64) -> Rank {
    let pods = unit.pods();
    let of_group = pods.first().is_some_and(|info| info.pod.spec.scheduling_group.is_some());
    let start = pods.iter().map(|info| info.start_time().unwrap_or(now)).min().unwrap_or(now);
    Rank::of_unit(priority, if of_group { pods.len() } else { 0 }, start)
}

/// Returns the pods of a group that have a node.
fn members<'a>(cx: &Context<'a>, group: &Key, indexes: &mut PodIndexes<'a>) -> Result<Vec<Arc<PodInfo>>, Status> {
    let state = cx.snapshot.pod_groups().get(group);
    let member = |pod: &Arc<Pod>| {
        let known = indexes.find(on_node(cx.snapshot, pod)?, pod);
        Ok(known.cloned().unwrap_or_else(|| Arc::new(PodInfo::with_emulation(pod.clone(), cx.emulation))))
    };
    state.into_iter().flat_map(PodGroupState::scheduled).map(member).collect()
}

/// Pods of nodes with many, by namespace and name.
#[derive(Default)]
struct PodIndexes<'a>(HashMap<*const NodeInfo, HashMap<(&'a str, &'a str), &'a Arc<PodInfo>>>);

/// Pods of a node up to which none is looked up in an index.
const FEW_PODS: usize = 32;

impl<'a> PodIndexes<'a> {
    /// Returns what a node knows of a pod.
    fn find(&mut self, node: &'a Arc<NodeInfo>, pod: &Pod) -> Option<&'a Arc<PodInfo>> {
        let name = |pod: &'a Pod| (pod.metadata.namespace.as_str(), pod.metadata.name.as_str());
        let wanted = (pod.metadata.namespace.as_str(), pod.metadata.name.as_str());
        if node.pods.len() <= FEW_PODS {
            return node.pods.iter().find(|info| name(&info.pod) == wanted);
        }
        // The first of a name counts.
        let index = || node.pods.iter().rev().map(|info| (name(&info.pod), info)).collect();
        self.0.entry(Arc::as_ptr(node)).or_insert_with(index).get(&wanted).copied()
    }
}

fn on_node<'a>(snapshot: &'a Snapshot, pod: &Pod) -> Result<&'a Arc<NodeInfo>, Status> {
    let name = pod.node_name.as_str();
    snapshot.get(name).ok_or_else(|| {
        Status::error(format!("failed to get node info for node {name:?} from snapshot: nodeinfo not found for node name {name:?}"))
    })
}
