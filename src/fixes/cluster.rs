//! Searches single changes of nodes: uncordon, remove a taint, add another.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::change::{Change, NodeChange, UNSCHEDULABLE_TAINT};
use super::constraints::{Demand, Matrix, Row};
use super::trial::Trials;
use super::{Fix, FixOutcome, Fixes, Limits, Untried, deletions};
use crate::cluster::resource::ResourceSlice;
use crate::cluster::{Cluster, Controller, Node, NodeStage, Object, Pod, Str, Taint, Uid};
use crate::framework::Snapshot;

/// Tries every single change of nodes and pods on them.
pub(super) fn singles(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Fixes) {
    uncordon(trials, matrix, limits, &mut fixes.fixes);
    untaint(trials, matrix, limits, &mut fixes.fixes);
    deletions::deletions(trials, matrix, limits, fixes);
    one_more(trials, limits, &mut fixes.fixes);
}

/// Returns for each node the number of failing demands that a change of the node must drop, because nothing else helps against them.
fn obstacles(trials: &Trials<'_>, matrix: &Matrix) -> Vec<usize> {
    let preempts = trials.may_preempt();
    let mut counts = vec![0; trials.scheduler().state().snapshot().len()];
    for row in matrix.rows.iter().filter(|row| !yields(preempts, row)) {
        row.fails.iter().for_each(|at| counts[at] += 1);
    }
    counts
}

/// Returns whether a demand that fails may hold once pods are evicted.
fn yields(preempts: bool, row: &Row) -> bool {
    preempts && depends_on_pods(row)
}

/// Returns the nodes, by name, that a change of the node alone might open, where the change drops these of its demands.
/// Other nodes answer as before if the pod is local, so that all else must hold on the node, or yield to preemption.
fn openable(trials: &Trials<'_>, matrix: &Matrix, obstacles: &[usize], drops: impl Fn(&Demand) -> bool) -> Vec<Str> {
    let snapshot = trials.scheduler().state().snapshot();
    let (preempts, is_local) = (trials.may_preempt(), trials.is_local());
    // Obstacles on the nodes on which a dropped demand fails that the change drops.
    let mut dropped: BTreeMap<usize, usize> = BTreeMap::new();
    for row in matrix.rows.iter().filter(|row| drops(&row.demand)) {
        let is_obstacle = usize::from(!yields(preempts, row));
        row.fails.iter().for_each(|at| *dropped.entry(at).or_default() += is_obstacle);
    }
    let might = |(at, dropped): (usize, usize)| (!is_local || obstacles[at] == dropped).then(|| snapshot.nodes()[at].name().clone());
    let mut names: Vec<Str> = dropped.into_iter().filter_map(might).collect();
    names.sort();
    names
}

fn uncordon(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Vec<Fix>) {
    let by_cordon = |demand: &Demand| match demand {
        Demand::Cordon => true,
        Demand::Taint(taint) => taint.key == UNSCHEDULABLE_TAINT,
        _ => false,
    };
    let names = openable(trials, matrix, &obstacles(trials, matrix), by_cordon);
    for name in trials.first_of(names, limits.alike, Untried::CordonedNodes) {
        trials.try_all(vec![Change::Node(name, NodeChange::Uncordon)], fixes);
    }
}

fn untaint(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Vec<Fix>) {
    let mut changes = Vec::new();
    let obstacles = obstacles(trials, matrix);
    for row in &matrix.rows {
        let Demand::Taint(taint) = &row.demand else { continue };
        if taint.owned().is_some() {
            continue;
        }
        let names = openable(trials, matrix, &obstacles, |demand| *demand == row.demand);
        changes.extend(names.into_iter().map(|name| Change::Node(name, NodeChange::RemoveTaint(taint.clone()))));
    }
    for change in trials.first_of(changes, limits.alike, Untried::TaintedNodes) {
        trials.try_all(vec![change], fixes);
    }
}

/// Returns whether a demand may fail because of a pod on some node.
pub(super) fn depends_on_pods(row: &Row) -> bool {
    match row.demand {
        Demand::Selector { .. } | Demand::Requirement(_) | Demand::NodeAffinity(_) | Demand::Taint(_) | Demand::Cordon => false,
        // A claim keeps its devices when a pod that used it is gone.
        Demand::Claim(_) => false,
        _ => true,
    }
}

/// Whatever nodes of a group have in common: labels, and the rest as text.
type Group = (Vec<(Str, Str)>, String);

/// Tries another node of each group.
fn one_more(trials: &mut Trials<'_>, limits: Limits, fixes: &mut Vec<Fix>) {
    let snapshot = trials.scheduler().state().snapshot();
    let cluster = trials.scheduler().state().cluster().clone();
    let counts = label_counts(&snapshot);
    let mut devices: BTreeMap<&Str, Vec<String>> = BTreeMap::new();
    for slice in cluster.resource_slices.iter() {
        let Some(node) = &slice.spec.node_name else { continue };
        let of_slice = format!("{} {:?} {:?}", slice.spec.driver, slice.spec.devices, slice.spec.shared_counters);
        devices.entry(node).or_default().push(of_slice);
    }
    let mut groups: BTreeMap<Group, Arc<Node>> = BTreeMap::new();
    for info in snapshot.nodes().iter().filter(|info| is_sound(&info.node)) {
        let node = &info.node;
        let shared =
            |key: &Str, value: &Str| !is_of_one_node(key) && counts.get(&(key, value)).is_some_and(|n| *n > 1 || snapshot.len() == 1);
        let labels = node.metadata.labels.iter().filter(|(k, v)| shared(k, v)).map(|(k, v)| (k.clone(), v.clone())).collect();
        let taints: Vec<_> = node.spec.taints.iter().filter(|t| !comes_and_goes(t)).collect();
        let drivers = cluster.csi_nodes.named(node.name()).map(|csi| &csi.spec.drivers);
        let mut daemons: Vec<&Str> = info.pods.iter().filter_map(|p| daemon_set(&p.pod)).collect();
        daemons.sort();
        let shape = format!("{taints:?} {:?} {drivers:?} {daemons:?} {:?}", node.status.allocatable, devices.get(node.name()));
        let first = groups.entry((labels, shape)).or_insert_with(|| node.clone());
        if node.name() < first.name() {
            *first = node.clone();
        }
    }
    let mut likes: Vec<Arc<Node>> = groups.into_values().collect();
    likes.sort_by(|a, b| a.name().cmp(b.name()));
    for like in trials.first_of(likes, limits.alike, Untried::NodeGroups) {
        let objects = another(&cluster, &snapshot, &like);
        let create = |object| Change::Create { object, like: Some(like.name().clone()) };
        let changes: Vec<Change> = objects.into_iter().map(create).collect();
        if let Some(verified) = trials.attempt(&changes).filter(|v| v.outcome == FixOutcome::Scheduled) {
            fixes.push(Fix::new(changes, verified));
        }
    }
}

/// Returns whether a node is a model for a new one: it runs and is ready, and the node controller found nothing wrong with it.
fn is_sound(node: &Node) -> bool {
    let ready = node.status.conditions.iter().find(|condition| condition.kind == "Ready");
    let is_bad = |taint: &Taint| taint.condition().is_some() || taint.owned().is_some_and(|owned| owned.stage != NodeStage::Leaving);
    ready.is_none_or(|condition| condition.status == "True") && !node.spec.taints.iter().any(is_bad)
}

fn daemon_set(pod: &Pod) -> Option<&Str> {
    pod.metadata.controller().filter(|_| Controller::of(pod) == Controller::DaemonSet).map(|owner| &owner.name)
}

/// Returns whether the node controller writes the taint from the node's conditions and from cordons, or its owner puts it on nodes
/// for a time. A new node is ready.
fn comes_and_goes(taint: &Taint) -> bool {
    taint.key.starts_with("node.kubernetes.io/") || taint.owned().is_some()
}

fn label_counts(snapshot: &Snapshot) -> BTreeMap<(&Str, &Str), usize> {
    let mut counts = BTreeMap::new();
    for (key, value) in snapshot.nodes().iter().flat_map(|n| n.node.metadata.labels.iter()) {
        *counts.entry((key, value)).or_insert(0) += 1;
    }
    counts
}

fn is_of_one_node(key: &str) -> bool {
    key == "kubernetes.io/hostname"
}

/// Returns a copy of a node under a new name, the node first, with its CSI drivers, its devices and the pods of its
/// DaemonSets. The node is neither cordoned nor has taints that come and go.
pub fn another(cluster: &Cluster, snapshot: &Snapshot, like: &Node) -> Vec<Object> {
    let name = |number: usize| Str::from(format!("{}-like-{number}", like.name()));
    let is_taken = |number: usize| cluster.nodes.named(&name(number)).is_some();
    // The numbers are mostly taken one after another.
    let (mut taken, mut step) = (0, 1);
    while step > 0 {
        if is_taken(taken + step) {
            (taken, step) = (taken + step, step * 2);
        } else {
            step /= 2;
        }
    }
    let name = name(taken + 1);
    let mut node = like.clone();
    node.metadata.name = name.clone();
    node.metadata.uid = Uid::EMPTY;
    node.metadata.creation_timestamp = None;
    if node.metadata.labels.contains_key("kubernetes.io/hostname") {
        node.metadata.labels.insert("kubernetes.io/hostname".into(), name.clone());
    }
    node.spec.unschedulable = None;
    node.spec.taints.retain(|t| !comes_and_goes(t));
    let mut objects = vec![Object::Node(Arc::new(node))];
    if let Some(csi) = cluster.csi_nodes.named(like.name()) {
        let mut csi = csi.as_ref().clone();
        csi.metadata.name = name.clone();
        csi.metadata.uid = Uid::EMPTY;
        objects.push(Object::CSINode(Arc::new(csi)));
    }
    for slice in cluster.resource_slices.iter().filter(|slice| slice.spec.node_name.as_ref() == Some(like.name())) {
        let mut slice = ResourceSlice::clone(slice);
        slice.metadata.name = format!("{}-{name}", slice.metadata.name).into();
        slice.metadata.uid = Uid::EMPTY;
        slice.spec.node_name = Some(name.clone());
        // Drivers name the pool after the node; a pool of another name would be one with the original's.
        let pool = &mut slice.spec.pool.name;
        *pool = if *pool == *like.name() { name.clone() } else { format!("{pool}-{name}").into() };
        objects.push(Object::ResourceSlice(Arc::new(slice)));
    }
    let pods = snapshot.get(like.name()).map(|info| info.pods.as_slice()).unwrap_or_default();
    for pod in pods.iter().filter(|p| daemon_set(&p.pod).is_some()) {
        let mut pod = Pod::clone(&pod.pod);
        pod.metadata.name = format!("{}-{name}", pod.metadata.name).into();
        pod.metadata.uid = Uid::from(format!("{}-{name}", pod.metadata.uid));
        pod.metadata.creation_timestamp = None;
        pod.node_name = name.clone();
        pod.status.start_time = None;
        objects.push(Object::Pod(Arc::new(pod)));
    }
    objects
}
