//! Small clusters for the tests of verbs.

use serde_json::{Value, json};

pub(super) use super::manifest::merge;
use super::{Answer, NodeEnd, PodEnd, Rehearsal, Stage as _, Stay, WhatIfError, Whereabouts, apply};
pub(super) use crate::cluster::testing::object_of as object;
use crate::cluster::{Key, Kind, Object};
use crate::release::Emulation;
use crate::scheduler::{Config, Options, Scheduler};

/// A node with a number of CPUs, in a zone.
pub(super) fn node(name: &str, cpu: u32, zone: &str) -> Object {
    object(
        Kind::Node,
        &json!({"metadata": {"name": name, "uid": name, "labels": {"topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": name}},
                "status": {"allocatable": {"cpu": cpu.to_string(), "memory": "64Gi", "pods": "110"}}}),
    )
}

/// A pod of one CPU in the namespace `d`; pending if `node` is empty, bare if `owner` is. The owner is `kind/name`, and
/// its name is the pod's label `app`.
pub(super) fn pod(name: &str, node: &str, owner: &str) -> Object {
    pod_with(name, node, owner, &json!({}))
}

/// A pod with further fields, merged as a patch.
pub(super) fn pod_with(name: &str, node: &str, owner: &str, patch: &Value) -> Object {
    let mut value = json!({
        "metadata": {"name": name, "namespace": "d", "uid": format!("uid-{name}")},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": if node.is_empty() { "Pending" } else { "Running" }},
    });
    if !node.is_empty() {
        value["spec"]["nodeName"] = json!(node);
    }
    if let Some((kind, owner)) = owner.split_once('/') {
        value["metadata"]["labels"] = json!({"app": owner});
        let reference = json!({"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": format!("uid-{owner}"), "controller": true});
        value["metadata"]["ownerReferences"] = json!([reference]);
    }
    merge(&mut value, patch);
    object(Kind::Pod, &value)
}

/// A budget of the pods of an owner, with a status.
pub(super) fn budget(owner: &str, status: &Value) -> Object {
    object(
        Kind::PodDisruptionBudget,
        &json!({"metadata": {"name": owner, "namespace": "d"}, "spec": {"selector": {"matchLabels": {"app": owner}}}, "status": status}),
    )
}

pub(super) fn scheduler(objects: Vec<Object>) -> Scheduler {
    Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default())
}

pub(super) fn stage(objects: Vec<Object>) -> Rehearsal {
    Rehearsal::new(scheduler(objects))
}

/// Applies a verb.
#[track_caller]
pub(super) fn run(stage: &mut Rehearsal, verb: &str) -> Answer {
    try_run(stage, verb).unwrap_or_else(|error| panic!("{verb}: {error}"))
}

pub(super) fn try_run(stage: &mut Rehearsal, verb: &str) -> Result<Answer, WhatIfError> {
    apply(stage, &verb.parse()?, &|_, _| None)
}

/// Returns what became of the pods, a line each: `web-a n1 → n2`.
pub(super) fn fates(stage: &Rehearsal, answer: &Answer) -> Vec<String> {
    let place = |key: &Key| match Whereabouts::of(stage.scheduler(), key).node() {
        Some(node) => node.to_string(),
        None => "pending".to_owned(),
    };
    let fate = |pod: &super::PodAnswer| {
        let end = match &pod.end {
            PodEnd::Recreated(new) => place(new),
            PodEnd::Created => format!("new, {}", place(&pod.pod)),
            PodEnd::Gone(why) => format!("gone: {why:?}"),
            PodEnd::Stays(Stay::Blocked(block)) => format!("stays: {block:?}"),
            PodEnd::Stays(stay) => format!("stays: {stay:?}"),
        };
        format!("{} {} → {end}", pod.pod.name, pod.node)
    };
    answer.pods.iter().map(fate).collect()
}

pub(super) fn ends(answer: &Answer) -> Vec<&NodeEnd> {
    answer.nodes.iter().map(|node| &node.end).collect()
}
