//! Scales workloads: makes pods like a living one, or from the template, and removes those that the controller would.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::Originals;
use super::answer::{Answer, Departure, PodEnd};
use super::error::WhatIfError;
use super::names::{named, pod_named};
use super::stage::Stage;
use crate::admission::TooLong;
use crate::cluster::{Cluster, Controller, Key, Kind, Pod, Str};
use crate::controllers::Draft;
use crate::controllers::pods as owners;
use crate::session::{Owner, OwnerKind, Verb};
use crate::suggest::nearest;

/// The pods of a workload.
struct Workload {
    key: Key,
    /// The controller that makes pods: of a Deployment, its ReplicaSet.
    controller: (Kind, Key),
    /// Its pods that have not ended and are not being deleted.
    pods: Vec<Arc<Pod>>,
}

/// Scales a workload to a number of pods.
pub(super) fn scale(
    stage: &mut dyn Stage,
    verb: &Verb,
    owner: &Owner,
    replicas: usize,
    originals: Originals<'_>,
    answer: &mut Answer,
) -> Result<(), WhatIfError> {
    let cluster = stage.scheduler().state().cluster().clone();
    let workload = find(&cluster, owner)?;
    let mut draft = Draft::new(&cluster);
    if replicas == workload.pods.len() {
        return Err(WhatIfError::NothingChanges);
    }
    if replicas < workload.pods.len() {
        for pod in superfluous(&workload, owner.kind, replicas) {
            owners::remove(&mut draft, &pod);
            answer.pod(pod.key(), pod.node_name.clone(), PodEnd::Gone(Departure::ScaledDown));
        }
    } else {
        let now = stage.scheduler().state().clock();
        let like = sibling(&workload.pods).or_else(|| from_template(&cluster, owner.kind, &workload, originals));
        if let Some(what) = like.as_ref().and_then(|pod| TooLong::in_metadata(&pod.metadata)) {
            return Err(WhatIfError::TooLong { owner: owner.to_string(), what });
        }
        let like = like.ok_or_else(|| WhatIfError::NoTemplate { owner: owner.to_string() })?;
        let taken: BTreeSet<u32> = workload.pods.iter().filter_map(|pod| ordinal(pod)).collect();
        let mut ordinals = (0..).filter(|ordinal| !taken.contains(ordinal));
        for _ in workload.pods.len()..replicas {
            let pod = match owner.kind {
                OwnerKind::StatefulSet => with_ordinal(&like, &workload.key.name, ordinals.next().unwrap_or_default(), now),
                _ => owners::successor(&draft, &like, now),
            };
            let key = pod.key();
            owners::create(&mut draft, &cluster, &like, pod, &mut answer.notes);
            answer.pod(key, Str::default(), PodEnd::Created);
        }
    }
    let left = stage.apply_within(Some(verb), &verb.to_string(), draft.into_operations());
    answer.pods.retain(|pod| !left.contains(&pod.pod));
    answer.not_created(&left);
    Ok(())
}

/// Returns the pod of a workload that is counted: its first pending one, or else the newest; `None` where the workload has no pod.
///
/// # Errors
/// When the cluster has no such workload.
fn pod_of(cluster: &Cluster, owner: &Owner) -> Result<Option<Arc<Pod>>, WhatIfError> {
    let pods = find(cluster, owner)?.pods;
    Ok(pods.iter().find(|pod| pod.is_pending()).cloned().or_else(|| sibling(&pods).map(Arc::new)))
}

/// Returns the pod with a name, as [`pod_named`], or one of the workload that `KIND/NAMESPACE/NAME` names.
///
/// # Errors
/// When there is no such pod or workload, or several.
pub fn pod_or_workload_named(cluster: &Cluster, text: &str) -> Result<Arc<Pod>, WhatIfError> {
    let (kind, name) = text.split_once('/').unwrap_or_default();
    match (pod_named(cluster, text), OwnerKind::named(kind)) {
        (Err(WhatIfError::NotFound { .. }), Some(kind)) => {
            let owner = Owner { kind, name: name.into() };
            pod_of(cluster, &owner)?.ok_or_else(|| WhatIfError::NoTemplate { owner: owner.to_string() })
        }
        (found, _) => found,
    }
}

/// Returns the pod to copy: one with a node before one without, the newest of each.
fn sibling(pods: &[Arc<Pod>]) -> Option<Pod> {
    let newest = |pod: &&Arc<Pod>| (!pod.node_name.is_empty(), pod.metadata.creation_timestamp, Reverse(pod.key()));
    pods.iter().max_by_key(newest).map(|pod| Pod::clone(pod))
}

/// Returns the ordinal of a StatefulSet's pod.
fn ordinal(pod: &Pod) -> Option<u32> {
    let owner = pod.metadata.controller()?;
    pod.metadata.name.strip_prefix(owner.name.as_str())?.strip_prefix('-')?.parse().ok()
}

/// Returns a copy of a StatefulSet's pod with another ordinal.
fn with_ordinal(like: &Pod, set: &Str, ordinal: u32, now: jiff::Timestamp) -> Pod {
    let name = Str::from(format!("{set}-{ordinal}"));
    let mut pod = owners::copy(like, name.clone(), now);
    for (label, value) in [("statefulset.kubernetes.io/pod-name", name), ("apps.kubernetes.io/pod-index", ordinal.to_string().into())] {
        if pod.metadata.labels.contains_key(label) {
            pod.metadata.labels.insert(label.into(), value);
        }
    }
    pod
}

/// Returns the pods that the controller deletes: of a StatefulSet those with the highest ordinals, else as
/// `ActivePodsWithRanks` in `pkg/controller/controller_utils.go` orders them, as far as scheduling knows: without a node,
/// pending, unready, beside more of their kind, newest.
fn superfluous(workload: &Workload, kind: OwnerKind, replicas: usize) -> Vec<Arc<Pod>> {
    let mut pods = workload.pods.clone();
    if kind == OwnerKind::StatefulSet {
        pods.sort_by_key(|pod| Reverse((ordinal(pod), pod.key())));
    } else {
        let mut pods_on_node: BTreeMap<Str, usize> = BTreeMap::new();
        for pod in &pods {
            *pods_on_node.entry(pod.node_name.clone()).or_default() += 1;
        }
        pods.sort_by_key(|pod| {
            let alone = Reverse(pods_on_node.get(&pod.node_name).copied().unwrap_or(0));
            let started = pod.status.phase != "Pending";
            (!pod.node_name.is_empty(), started, !pod.status.unready, alone, Reverse(pod.metadata.creation_timestamp), pod.key())
        });
    }
    pods.truncate(workload.pods.len() - replicas);
    pods
}

/// Finds a workload with its pods.
fn find(cluster: &Cluster, owner: &Owner) -> Result<Workload, WhatIfError> {
    let all = workloads(cluster, owner.kind, usize::MAX);
    let key = named(Kind::Pod, &owner.name, || all.iter().map(|key| (&key.namespace, &key.name))).map_err(|error| match error {
        WhatIfError::NotFound { meant, .. } => {
            let kind = owner.kind.to_string().to_lowercase();
            let own = || nearest(&owner.name, all.iter().map(|key| key.name.as_str())).map(str::to_owned);
            WhatIfError::NoOwner { owner: owner.to_string(), meant: meant.or_else(own).map(|name| format!("{kind}/{name}")) }
        }
        error => error,
    })?;
    let is_living = |pod: &&Arc<Pod>| !pod.is_terminal() && !pod.is_terminating();
    let controllers = match owner.kind {
        OwnerKind::Deployment => replica_sets(cluster, &key),
        _ => vec![key.name.clone()],
    };
    let kind = controller_kind(owner.kind);
    let of = |pod: &Pod, names: &[Str]| pod.metadata.controller().is_some_and(|o| o.kind == kind && names.contains(&o.name));
    let pods: Vec<Arc<Pod>> =
        cluster.pods.in_namespace(&key.namespace).filter(|pod| of(pod, &controllers)).filter(is_living).cloned().collect();
    // The ReplicaSet of the newest pod, or else the newest one.
    let newest = sibling(&pods).and_then(|pod| pod.metadata.controller().map(|owner| owner.name.clone()));
    let newest = newest.or_else(|| controllers.last().cloned()).unwrap_or_else(|| key.name.clone());
    let controller = Key { namespace: key.namespace.clone(), name: newest };
    let read = match owner.kind {
        OwnerKind::StatefulSet => Kind::StatefulSet,
        OwnerKind::ReplicationController => Kind::ReplicationController,
        _ => Kind::ReplicaSet,
    };
    Ok(Workload { key, controller: (read, controller), pods })
}

/// Returns the kind that controls the pods of a workload.
fn controller_kind(kind: OwnerKind) -> Str {
    match kind {
        OwnerKind::Deployment => "ReplicaSet".into(),
        other => other.to_string().into(),
    }
}

/// Returns the ReplicaSets of a Deployment, the newest last.
fn replica_sets(cluster: &Cluster, deployment: &Key) -> Vec<Str> {
    let controls =
        |meta: &crate::cluster::Meta| meta.controller().is_some_and(|owner| owner.kind == "Deployment" && owner.name == deployment.name);
    let mut sets: Vec<_> = cluster.replica_sets.in_namespace(&deployment.namespace).filter(|set| controls(&set.metadata)).collect();
    sets.sort_by_key(|set| (set.metadata.creation_timestamp, set.metadata.name.clone()));
    let mut names: Vec<Str> = sets.into_iter().map(|set| set.metadata.name.clone()).collect();
    // Where ReplicaSets were not read, their names tell.
    let named: BTreeSet<(Str, Str)> = cluster.pods.in_namespace(&deployment.namespace).filter_map(|pod| named_set(cluster, pod)).collect();
    for (set, of) in named {
        if of == deployment.name && !names.contains(&set) {
            names.insert(0, set);
        }
    }
    names
}

/// Returns the ReplicaSet that a pod names and the cluster lacks, with the Deployment that its name and the pod's
/// `pod-template-hash` show.
fn named_set(cluster: &Cluster, pod: &Pod) -> Option<(Str, Str)> {
    let owner = pod.metadata.controller().filter(|owner| owner.kind == "ReplicaSet")?;
    let is_read = cluster.replica_sets.namespaced(&pod.metadata.namespace, &owner.name).is_some();
    let hash = pod.metadata.labels.get("pod-template-hash").filter(|_| !is_read)?;
    let deployment = owner.name.strip_suffix(hash.as_str())?.strip_suffix('-')?;
    Some((owner.name.clone(), Str::from(deployment)))
}

/// Returns the workloads of a kind, by namespace and name: those that were read, and those that own pods, of which at
/// most `most` are considered.
fn workloads(cluster: &Cluster, kind: OwnerKind, most: usize) -> BTreeSet<Key> {
    let mut keys: BTreeSet<Key> = match kind {
        OwnerKind::ReplicaSet => cluster.replica_sets.iter().map(|set| set.metadata.key()).collect(),
        OwnerKind::StatefulSet => cluster.stateful_sets.iter().map(|set| set.metadata.key()).collect(),
        OwnerKind::ReplicationController => cluster.replication_controllers.iter().map(|rc| rc.metadata.key()).collect(),
        OwnerKind::Deployment | OwnerKind::Job => BTreeSet::new(),
    };
    if kind == OwnerKind::Deployment {
        let owned = cluster.replica_sets.iter().filter_map(|set| {
            let owner = set.metadata.controller().filter(|owner| owner.kind == "Deployment")?;
            Some(Key { namespace: set.metadata.namespace.clone(), name: owner.name.clone() })
        });
        keys.extend(owned);
        let of_pod = |pod: &Arc<Pod>| {
            let (_, name) = named_set(cluster, pod)?;
            Some(Key { namespace: pod.metadata.namespace.clone(), name })
        };
        keys.extend(cluster.pods.iter().take(most).filter_map(of_pod));
        return keys;
    }
    let wanted = kind.to_string();
    keys.extend(cluster.pods.iter().take(most).filter_map(|pod| {
        let owner = pod.metadata.controller().filter(|owner| owner.kind == wanted.as_str())?;
        Some(Key { namespace: pod.metadata.namespace.clone(), name: owner.name.clone() })
    }));
    keys
}

/// Returns the workload that makes pods like this one; `None` if it cannot be scaled.
pub fn workload_of(cluster: &Cluster, pod: &Pod) -> Option<Owner> {
    let owner = pod.metadata.controller()?;
    let own = OwnerKind::named(&owner.kind)?;
    let set = cluster.replica_sets.namespaced(&pod.metadata.namespace, &owner.name).filter(|_| own == OwnerKind::ReplicaSet);
    let above = set.and_then(|set| set.metadata.controller()).filter(|owner| owner.kind == "Deployment").map(|owner| owner.name.clone());
    let (kind, name) = match above.or_else(|| named_set(cluster, pod).map(|(_, deployment)| deployment)) {
        Some(deployment) => (OwnerKind::Deployment, deployment),
        None => (own, owner.name.clone()),
    };
    let key = Key { namespace: pod.metadata.namespace.clone(), name };
    Some(Owner { kind, name: key.to_string().into() })
}

/// Returns workloads that can be scaled: those that were read, and the owners of at most `pods` pods.
pub fn scalable(cluster: &Cluster, pods: usize) -> Vec<Owner> {
    use strum::IntoEnumIterator as _;
    let of = |kind: OwnerKind| workloads(cluster, kind, pods).into_iter().map(move |key| Owner { kind, name: key.to_string().into() });
    OwnerKind::iter().flat_map(of).collect()
}

/// Returns a pod made from the template of a workload without living pods, as the source has it.
fn from_template(cluster: &Cluster, kind: OwnerKind, workload: &Workload, originals: Originals<'_>) -> Option<Pod> {
    let (controller, key) = &workload.controller;
    if kind == OwnerKind::Job {
        return None;
    }
    let object = originals(*controller, key)?;
    let template = object.pointer("/spec/template")?;
    let uid = object.pointer("/metadata/uid").and_then(serde_json::Value::as_str).unwrap_or_default();
    let mut pod = json!({
        "metadata": {
            "name": format!("{}-0", key.name), "namespace": key.namespace.as_str(),
            "labels": template.pointer("/metadata/labels").cloned().unwrap_or_default(),
            "ownerReferences": [{"apiVersion": controller.api_version(), "kind": controller.to_string(), "name": key.name.as_str(),
                                 "uid": uid, "controller": true}],
        },
        "spec": template.get("spec")?.clone(),
    });
    admit(cluster, &mut pod["spec"]);
    let pod: Pod = serde_json::from_value(pod).ok()?;
    (Controller::of(&pod) != Controller::None).then_some(pod)
}

/// Sets the defaults that the API server's admission sets: the scheduler, and the priority of the class.
fn admit(cluster: &Cluster, spec: &mut serde_json::Value) {
    let Some(spec) = spec.as_object_mut() else { return };
    spec.entry("schedulerName").or_insert_with(|| json!("default-scheduler"));
    let named = spec.get("priorityClassName").and_then(serde_json::Value::as_str).map(Str::from);
    let class = match &named {
        Some(name) => cluster.priority_classes.named(name),
        None => cluster.priority_classes.iter().find(|class| class.global_default == Some(true)),
    };
    if let Some(class) = class {
        spec.entry("priority").or_insert_with(|| json!(class.value));
        if let Some(policy) = &class.preemption_policy {
            spec.entry("preemptionPolicy").or_insert_with(|| json!(policy.as_str()));
        }
    }
}
