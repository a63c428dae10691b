//! Searches single changes of objects other than the pod.

use std::sync::Arc;

use super::change::{Change, NodeChange, UNSCHEDULABLE_TAINT};
use super::constraints::{Demand, Matrix, Row};
use super::trial::{Trials, free};
use super::{CutShort, Fix, FixOutcome, Limits};
use crate::cluster::storage::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use crate::cluster::{Cluster, Key, Kind, Node, Object, Pod, PodDisruptionBudget, Quantity, Str};
use crate::framework::{NodeInfo, PodInfo, Snapshot};

/// Maximum number of proposed deletions, one per node.
const DELETIONS: usize = 8;
/// Maximum number of nodes on which a deletion is tried.
const CROWDED_NODES: usize = 64;
/// Maximum number of pods of one node whose deletion is tried.
const PODS_OF_A_NODE: usize = 4;
/// Maximum number of groups of nodes of which another node is tried.
const GROUPS: usize = 64;

/// Tries every single change of other objects.
pub(super) fn singles(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Vec<Fix>) {
    uncordon(trials, matrix, limits, fixes);
    untaint(trials, matrix, limits, fixes);
    provision(trials, fixes);
    delete(trials, matrix, fixes);
    one_more(trials, limits, fixes);
}

/// Returns whether a change of one node affects that node alone. Spread constraints count whole domains.
fn is_local(trials: &Trials<'_>) -> bool {
    trials.pod().spec.topology_spread_constraints.is_empty()
}

fn try_one(trials: &mut Trials<'_>, change: Change, fixes: &mut Vec<Fix>) -> bool {
    let verified = trials.attempt(std::slice::from_ref(&change));
    let works = verified.is_some();
    fixes.extend(verified.map(|v| Fix::new(vec![change], v)));
    works
}

fn uncordon(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Vec<Fix>) {
    let snapshot = trials.scheduler().state().snapshot();
    let row = matrix.rows.iter().position(|row| row.demand == Demand::Cordon);
    let alone = row.map(|row| matrix.only(row)).unwrap_or_default();
    let all = !is_local(trials) || trials.may_preempt(&[]);
    let is_cordoned = |node: &NodeInfo| node.unschedulable() || node.taints().iter().any(|t| t.key == UNSCHEDULABLE_TAINT);
    let cordoned = snapshot.nodes().iter().enumerate().filter(|(at, node)| is_cordoned(node) && (all || alone.contains(*at)));
    let mut names: Vec<Str> = cordoned.map(|(_, node)| node.name().clone()).collect();
    names.sort();
    if names.len() > limits.alike {
        trials.cut_short(CutShort::Alike(names.len()));
    }
    for name in names.into_iter().take(limits.alike) {
        try_one(trials, Change::Node(name, NodeChange::Uncordon), fixes);
    }
}

fn untaint(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Vec<Fix>) {
    let snapshot = trials.scheduler().state().snapshot();
    let (local, preempts) = (is_local(trials), trials.may_preempt(&[]));
    let mut tried = 0;
    for (index, row) in matrix.rows.iter().enumerate() {
        let Demand::Taint(taint) = &row.demand else { continue };
        let alone = matrix.only(index);
        let might = |at: &usize| {
            let others = || matrix.failing(*at).filter(|other| *other != index);
            alone.contains(*at) || !local || preempts && others().all(|other| depends_on_pods(&matrix.rows[other]))
        };
        let mut names: Vec<Str> = row.fails.iter().filter(might).map(|at| snapshot.nodes()[at].name().clone()).collect();
        names.sort();
        for name in names {
            tried += 1;
            if tried > limits.alike {
                return trials.cut_short(CutShort::Alike(row.fails.count()));
            }
            try_one(trials, Change::Node(name, NodeChange::RemoveTaint(taint.clone())), fixes);
        }
    }
}

/// Returns whether a demand may fail because of a pod on the node.
fn depends_on_pods(row: &Row) -> bool {
    !matches!(row.demand, Demand::Selector { .. } | Demand::Requirement(_) | Demand::NodeAffinity(_) | Demand::Taint(_) | Demand::Cordon)
}

/// Tries to delete the least important pod in the way, node by node.
fn delete(trials: &mut Trials<'_>, matrix: &Matrix, fixes: &mut Vec<Fix>) {
    let snapshot = trials.scheduler().state().snapshot();
    let cluster = trials.scheduler().state().cluster().clone();
    let curable = |at: &usize| matrix.failing(*at).next().is_some() && matrix.failing(*at).all(|row| depends_on_pods(&matrix.rows[row]));
    let mut crowded: Vec<usize> = (0..snapshot.len()).filter(curable).collect();
    // Nodes with one failing demand first.
    crowded.sort_by_key(|at| (!matrix.one.contains(*at), snapshot.nodes()[*at].name().clone()));
    let mut found = 0;
    let mut tried: Vec<Key> = Vec::new();
    for at in crowded.into_iter().take(CROWDED_NODES) {
        for pod in in_the_way(trials.pod(), &snapshot, matrix, at) {
            if tried.contains(&pod.key()) {
                continue;
            }
            tried.push(pod.key());
            let change = Change::Delete(Kind::Pod, pod.key());
            let Some(verified) = trials.attempt(std::slice::from_ref(&change)).filter(|v| v.outcome == FixOutcome::Scheduled) else {
                continue;
            };
            let budgets = exhausted_budgets(&cluster, &pod);
            fixes.push(Fix { budgets, ..Fix::new(vec![change], verified) });
            found += 1;
            break;
        }
        if found >= DELETIONS {
            return;
        }
    }
}

/// Returns pods on a node that might make room, the least important first. Pods of DaemonSets and static pods are left
/// out, because they come back at once.
fn in_the_way(pod: &Arc<Pod>, snapshot: &Snapshot, matrix: &Matrix, at: usize) -> Vec<Arc<Pod>> {
    let node = &snapshot.nodes()[at];
    let wanted = PodInfo::new(pod.clone());
    let frees = |other: &PodInfo| {
        matrix.failing(at).all(|row| match &matrix.rows[row].demand {
            Demand::Resource { resource, .. } => {
                let of = |info: &PodInfo| super::requests::requested(&info.pod, resource);
                free(node, resource).saturating_add(of(other)) >= of(&wanted)
            }
            _ => true,
        })
    };
    let returns = |other: &Pod| other.metadata.controller().is_some_and(|o| o.kind == "DaemonSet" || o.kind == "Node");
    let mut pods: Vec<&Arc<PodInfo>> = node.pods.iter().filter(|p| !p.pod.is_terminating() && !returns(&p.pod) && frees(p)).collect();
    let key = |p: &PodInfo| (p.priority(), std::cmp::Reverse(p.start_time()), p.key());
    pods.sort_by_cached_key(|p| key(p));
    pods.into_iter().take(PODS_OF_A_NODE).map(|p| p.pod.clone()).collect()
}

/// Returns the budgets that allow no disruption of a pod, by name.
fn exhausted_budgets(cluster: &Cluster, pod: &Pod) -> Vec<Key> {
    let counted = |budget: &PodDisruptionBudget| budget.status.disrupted_pods.contains_key(&pod.metadata.name);
    let budgets = cluster.pod_disruption_budgets.in_namespace(&pod.metadata.namespace);
    let exhausted = budgets.filter(|b| b.covers(pod) && b.status.disruptions_allowed <= 0 && !counted(b));
    exhausted.map(|b| b.metadata.key()).collect()
}

/// Tries to create the objects that the pod's claims lack: the claim, its class, or a volume.
fn provision(trials: &mut Trials<'_>, fixes: &mut Vec<Fix>) {
    let cluster = trials.scheduler().state().cluster().clone();
    let pod = trials.pod().clone();
    let claims = pod.spec.volumes.iter().filter_map(|volume| volume.persistent_volume_claim.as_ref()).map(|c| c.claim_name.clone());
    for name in claims.take(VOLUMES) {
        let objects = match cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, &name) {
            None => new_claims(&cluster, &pod, &name),
            Some(claim) if claim.spec.volume_name.is_empty() => {
                new_class(&cluster, claim).into_iter().chain([Object::PersistentVolume(Arc::new(new_volume(&cluster, claim)))]).collect()
            }
            Some(_) => Vec::new(),
        };
        for object in objects {
            if try_one(trials, Change::Create { object, like: None }, fixes) {
                break;
            }
        }
    }
}

/// Maximum number of volumes of a pod to provide for.
const VOLUMES: usize = 16;
/// Maximum number of StorageClasses to try for a claim.
const CLASSES: usize = 8;

/// Returns a claim of this name for each class that provisions volumes for the first consumer, by the name of the
/// class.
fn new_claims(cluster: &Cluster, pod: &Pod, name: &Str) -> Vec<Object> {
    let provides = |class: &&Arc<StorageClass>| {
        class.volume_binding_mode.as_deref() == Some(WAIT_FOR_FIRST_CONSUMER) && class.provisioner != "kubernetes.io/no-provisioner"
    };
    let claim = |class: &Arc<StorageClass>| {
        let mut claim = PersistentVolumeClaim::default();
        claim.metadata.name = name.clone();
        claim.metadata.namespace = pod.metadata.namespace.clone();
        claim.spec.access_modes = vec![Str::from("ReadWriteOnce")].into();
        claim.spec.resources.requests.insert("storage".into(), Quantity::bytes(1 << 30));
        claim.spec.storage_class_name = Some(class.metadata.name.clone());
        Object::PersistentVolumeClaim(Arc::new(claim))
    };
    cluster.storage_classes.iter().filter(provides).take(CLASSES).map(claim).collect()
}

const WAIT_FOR_FIRST_CONSUMER: &str = "WaitForFirstConsumer";

/// Returns the class that a claim names and the cluster lacks, with the provisioner of another class.
fn new_class(cluster: &Cluster, claim: &PersistentVolumeClaim) -> Option<Object> {
    let name = claim.spec.storage_class_name.clone().filter(|name| !name.is_empty() && cluster.storage_classes.named(name).is_none())?;
    let other = cluster.storage_classes.iter().find(|class| class.provisioner != "kubernetes.io/no-provisioner")?;
    let mut class = StorageClass { provisioner: other.provisioner.clone(), ..StorageClass::default() };
    class.metadata.name = name;
    class.volume_binding_mode = Some(WAIT_FOR_FIRST_CONSUMER.into());
    Some(Object::StorageClass(Arc::new(class)))
}

/// Returns an available volume that matches a claim.
fn new_volume(cluster: &Cluster, claim: &PersistentVolumeClaim) -> PersistentVolume {
    let mut volume = PersistentVolume::default();
    let mut name = Str::from(format!("for-{}-{}", claim.metadata.namespace, claim.metadata.name));
    while cluster.persistent_volumes.named(&name).is_some() {
        name = format!("{name}-x").into();
    }
    volume.metadata.name = name;
    volume.metadata.labels = claim.spec.selector.as_ref().map(|s| s.match_labels.clone()).unwrap_or_default();
    volume.spec.capacity = claim.spec.resources.requests.clone();
    volume.spec.access_modes = claim.spec.access_modes.clone();
    volume.spec.storage_class_name = claim.spec.storage_class_name.clone().unwrap_or_default();
    volume.spec.volume_mode.clone_from(&claim.spec.volume_mode);
    volume.spec.volume_attributes_class_name.clone_from(&claim.spec.volume_attributes_class_name);
    volume.status.phase = "Available".into();
    volume
}

/// Labels, taints and allocatable resources that nodes of a group share.
type Group = (Vec<(Str, Str)>, String);

/// Tries another node of each group.
fn one_more(trials: &mut Trials<'_>, limits: Limits, fixes: &mut Vec<Fix>) {
    let snapshot = trials.scheduler().state().snapshot();
    let mut groups: std::collections::BTreeMap<Group, Arc<Node>> = std::collections::BTreeMap::new();
    let counts = label_counts(&snapshot);
    for info in snapshot.nodes() {
        let node = &info.node;
        let shared =
            |key: &Str, value: &Str| !is_of_one_node(key) && counts.get(&(key, value)).is_some_and(|n| *n > 1 || snapshot.len() == 1);
        let labels = node.metadata.labels.iter().filter(|(k, v)| shared(k, v)).map(|(k, v)| (k.clone(), v.clone())).collect();
        let shape = format!(
            "{:?} {:?}",
            node.spec.taints.iter().filter(|t| t.key != UNSCHEDULABLE_TAINT).collect::<Vec<_>>(),
            node.status.allocatable
        );
        let first = groups.entry((labels, shape)).or_insert_with(|| node.clone());
        if node.name() < first.name() {
            *first = node.clone();
        }
    }
    let mut likes: Vec<Arc<Node>> = groups.into_values().collect();
    likes.sort_by(|a, b| a.name().cmp(b.name()));
    if likes.len() > GROUPS.min(limits.alike) {
        trials.cut_short(CutShort::Alike(likes.len()));
    }
    for like in likes.into_iter().take(GROUPS.min(limits.alike)) {
        let objects = another(trials.scheduler().state().cluster(), &snapshot, &like);
        let create = |object| Change::Create { object, like: Some(like.name().clone()) };
        let changes: Vec<Change> = objects.into_iter().map(create).collect();
        if let Some(verified) = trials.attempt(&changes).filter(|v| v.outcome == FixOutcome::Scheduled) {
            fixes.push(Fix::new(changes, verified));
        }
    }
}

fn label_counts(snapshot: &Snapshot) -> std::collections::BTreeMap<(&Str, &Str), usize> {
    let mut counts = std::collections::BTreeMap::new();
    for (key, value) in snapshot.nodes().iter().flat_map(|n| n.node.metadata.labels.iter()) {
        *counts.entry((key, value)).or_insert(0) += 1;
    }
    counts
}

fn is_of_one_node(key: &str) -> bool {
    key == "kubernetes.io/hostname"
}

/// Returns a copy of a node under a new name, the node first and not cordoned, with its CSI drivers and the pods of its DaemonSets.
pub fn another(cluster: &Cluster, snapshot: &Snapshot, like: &Node) -> Vec<Object> {
    let mut number = 1;
    let name = loop {
        let name = Str::from(format!("{}-like-{number}", like.name()));
        if cluster.nodes.named(&name).is_none() {
            break name;
        }
        number += 1;
    };
    let mut node = like.clone();
    node.metadata.name = name.clone();
    node.metadata.uid = Str::default();
    node.metadata.creation_timestamp = None;
    if node.metadata.labels.contains_key("kubernetes.io/hostname") {
        node.metadata.labels.insert("kubernetes.io/hostname".into(), name.clone());
    }
    node.spec.unschedulable = None;
    node.spec.taints.retain(|t| t.key != UNSCHEDULABLE_TAINT);
    let mut objects = vec![Object::Node(Arc::new(node))];
    if let Some(csi) = cluster.csi_nodes.named(like.name()) {
        let mut csi = csi.as_ref().clone();
        csi.metadata.name = name.clone();
        csi.metadata.uid = Str::default();
        objects.push(Object::CSINode(Arc::new(csi)));
    }
    let pods = snapshot.get(like.name()).map(|info| info.pods.as_slice()).unwrap_or_default();
    for pod in pods.iter().filter(|p| p.pod.metadata.controller().is_some_and(|o| o.kind == "DaemonSet")) {
        let mut pod = Pod::clone(&pod.pod);
        pod.metadata.name = format!("{}-{name}", pod.metadata.name).into();
        pod.metadata.uid = Str::from(format!("{}-{name}", pod.metadata.uid));
        pod.metadata.creation_timestamp = None;
        pod.node_name = name.clone();
        pod.status.start_time = None;
        objects.push(Object::Pod(Arc::new(pod)));
    }
    objects
}
