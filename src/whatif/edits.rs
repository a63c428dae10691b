//! Verbs that edit a few objects: taints, labels, priorities, gates, budgets, more nodes.

use std::sync::Arc;

use serde_json::json;

use super::answer::{Answer, NodeAnswer, NodeEnd, PodEnd};
use super::disrupt;
use super::error::WhatIfError;
use super::stage::Stage;
use super::{batch, edited};
use crate::cluster::{Cluster, Controller, Kind, Node, Object, Pod, PodDisruptionBudget, Str};
use crate::fixes::another_node;
use crate::plugins::helper::tolerates;
use crate::scheduler::Operation;
use crate::session::{PriorityWord, TaintEdit, Verb};
use crate::suggest::nearest;

/// Adds or removes a taint. One with the effect NoExecute drives out the pods that do not tolerate it.
pub(super) fn taint(
    stage: &mut dyn Stage,
    verb: &Verb,
    node: &Arc<Node>,
    edit: &TaintEdit,
    answer: &mut Answer,
) -> Result<(), WhatIfError> {
    let mut new = Node::clone(node);
    match edit {
        TaintEdit::Add(taint) => {
            new.spec.taints.retain(|t| t.key != taint.key || t.effect != taint.effect);
            new.spec.taints.push(taint.clone());
        }
        TaintEdit::Remove { key, effect } => {
            new.spec.taints.retain(|t| t.key != *key || effect.as_ref().is_some_and(|effect| t.effect != *effect));
            if new.spec.taints.len() == node.spec.taints.len() {
                let keys = node.spec.taints.iter().map(|taint| taint.key.as_str());
                let meant = nearest(key, keys).map(|key| format!("{key}-"));
                return Err(WhatIfError::NoTaint { node: node.name().clone(), taint: edit.to_string(), meant });
            }
        }
    }
    if new.spec.taints == node.spec.taints {
        return Err(WhatIfError::NothingChanges);
    }
    let object = Object::Node(Arc::new(new));
    let TaintEdit::Add(taint) = edit else {
        stage.apply(verb, batch(verb, vec![Operation::Update { object }]));
        return Ok(());
    };
    let state = stage.scheduler().state();
    let emulation = state.config().emulation;
    let stays = |pod: &Pod| Controller::of(pod) == Controller::Node || tolerates(&pod.spec.tolerations, taint, emulation);
    let driven_out = |pod: &&Arc<Pod>| taint.effect == "NoExecute" && pod.node_name == *node.name() && !stays(pod);
    let pods: Vec<Arc<Pod>> = state.cluster().pods.iter().filter(driven_out).cloned().collect();
    disrupt::drive_out(stage, verb, object, &pods, answer);
    Ok(())
}

/// Returns a node with a label, or without it.
pub(super) fn label(node: &Node, key: &Str, value: Option<&Str>) -> Result<Object, WhatIfError> {
    let mut new = node.clone();
    match value {
        Some(value) => drop(new.metadata.labels.insert(key.clone(), value.clone())),
        None if new.metadata.labels.remove(key).is_none() => {
            let meant = nearest(key, node.metadata.labels.keys().map(Str::as_str)).map(|key| format!("{key}-"));
            return Err(WhatIfError::NoLabel { node: node.name().clone(), label: key.clone(), meant });
        }
        None => {}
    }
    if new == *node { Err(WhatIfError::NothingChanges) } else { Ok(Object::Node(Arc::new(new))) }
}

/// Returns a pod with another priority. A class sets the preemption policy as well.
pub(super) fn priority(cluster: &Cluster, pod: &Pod, word: &PriorityWord) -> Result<Object, WhatIfError> {
    let mut new = pod.clone();
    let spec = new.spec_mut();
    match word {
        PriorityWord::Value(value) => {
            spec.priority = Some(*value);
            spec.priority_class_name = Str::default();
        }
        PriorityWord::Class(name) => {
            let class = cluster.priority_classes.named(name).ok_or_else(|| {
                let meant = nearest(name, cluster.priority_classes.iter().map(|class| class.metadata.name.as_str()));
                WhatIfError::NotFound { kind: Kind::PriorityClass, name: name.to_string(), meant: meant.map(str::to_owned) }
            })?;
            spec.priority = Some(class.value);
            spec.priority_class_name = name.clone();
            if let Some(policy) = &class.preemption_policy {
                spec.preemption_policy = Some(policy.clone());
            }
        }
    }
    if new == *pod { Err(WhatIfError::NothingChanges) } else { Ok(Object::Pod(Arc::new(new))) }
}

/// Returns a pod without scheduling gates.
pub(super) fn ungate(pod: &Pod) -> Result<Object, WhatIfError> {
    if pod.spec.scheduling_gates.is_empty() {
        return Err(WhatIfError::NotGated(pod.key()));
    }
    let mut new = pod.clone();
    new.spec_mut().scheduling_gates = Vec::new().into();
    Ok(Object::Pod(Arc::new(new)))
}

/// Returns a budget that allows the disruption of every pod it covers, as `minAvailable: 0` would.
pub(super) fn relax(cluster: &Cluster, budget: &PodDisruptionBudget) -> Result<Object, WhatIfError> {
    let running = |pod: &&Arc<Pod>| !pod.node_name.is_empty() && !pod.is_terminal();
    let covered =
        cluster.pods.in_namespace(&budget.metadata.namespace).filter(running).filter(|pod| budget.covers_eviction_of(pod)).count();
    let covered = i32::try_from(covered).unwrap_or(i32::MAX);
    if budget.status.disruptions_allowed >= covered && budget.status.desired_healthy == 0 {
        return Err(WhatIfError::NothingChanges);
    }
    let allowed = covered.max(budget.status.disruptions_allowed);
    let patch = json!({"status": {"disruptionsAllowed": allowed, "desiredHealthy": null}});
    edited(&Object::PodDisruptionBudget(Arc::new(budget.clone())), &patch)
}

/// Adds nodes like one, each with copies of its devices and of the DaemonSets' pods on it. They are neither cordoned
/// nor tainted by the node's conditions.
pub(super) fn add(stage: &mut dyn Stage, verb: &Verb, count: usize, like: &Arc<Node>, answer: &mut Answer) -> Result<(), WhatIfError> {
    let state = stage.scheduler().state();
    let snapshot = state.snapshot();
    let mut cluster = state.cluster().clone();
    let mut operations = Vec::new();
    for _ in 0..count {
        let objects = another_node(&cluster, &snapshot, like);
        let Some(Object::Node(node)) = objects.first() else { return Err(WhatIfError::NothingChanges) };
        let name = node.name().clone();
        for object in objects {
            if let Object::Pod(pod) = &object {
                answer.pod(pod.key(), Str::default(), PodEnd::Created);
            }
            cluster.insert(object.clone());
            operations.push(Operation::Create { object });
        }
        answer.nodes.push(NodeAnswer { node: name, end: NodeEnd::Added });
    }
    stage.apply(verb, batch(verb, operations));
    Ok(())
}
