use std::sync::Arc;

use super::*;
use crate::cluster::Cluster;
use crate::plugins::helper::testing::{node_info, pod, pod_info, with_context};

fn spec(names: &[&str]) -> Vec<ResourceSpec> {
    names.iter().map(|name| ResourceSpec { name: (*name).into(), weight: 1 }).collect()
}

const DEFAULT_MEMORY: i64 = 200 * 1024 * 1024;

#[test]
fn only_the_balanced_scorer_sees_pod_level_requests_and_resizes() {
    let resources = spec(&["cpu", "memory", "example.com/x", "nonsense"]);
    for (yaml, fit, balanced) in [
        ("{spec: {containers: [{}]}}", [100, DEFAULT_MEMORY, 0, 0], [0, 0, 0, 0]),
        ("{spec: {containers: [{resources: {requests: {cpu: 0, memory: 5, example.com/x: 3}}}]}}", [0, 5, 3, 0], [0, 5, 3, 0]),
        ("{spec: {containers: [{}], resources: {requests: {cpu: 2}}}}", [100, DEFAULT_MEMORY, 0, 0], [2000, 0, 0, 0]),
        (
            "{spec: {containers: [{name: c, resources: {requests: {cpu: 1, memory: 5}}}]}, \
             status: {containerStatuses: [{name: c, resources: {requests: {cpu: 3}}}]}}",
            [1000, 5, 0, 0],
            [3000, 5, 0, 0],
        ),
    ] {
        let emulation = Emulation::default();
        assert_eq!(
            ResourceAllocationScorer::new(&resources, Requests::Assumed, &emulation.behaviour().resources)
                .pod_requests(&pod(yaml), emulation),
            fit,
            "{yaml}"
        );
        assert_eq!(
            ResourceAllocationScorer::new(&resources, Requests::Real, &emulation.behaviour().resources).pod_requests(&pod(yaml), emulation),
            balanced,
            "{yaml}"
        );
    }
}

#[test]
fn usage_counts_what_is_there() {
    let names = ["cpu", "memory", "ephemeral-storage", "example.com/x", "example.com/y", "nonsense", "pods", "example.com/z", "cpu"];
    let mut node = node_info(
        "{status: {allocatable: {cpu: 4, memory: 100, ephemeral-storage: 50, example.com/x: 8, example.com/y: 8, example.com/z: 0, pods: 9}}}",
    );
    node.add_pod(Arc::new(pod_info(
        "{spec: {containers: [{resources: {requests: {memory: 10, example.com/x: 1, ephemeral-storage: 3}}}]}}",
    )));
    let incoming = pod_info(
        "{spec: {containers: [{resources: {requests: {cpu: 1, memory: 1, example.com/x: 2, ephemeral-storage: 4, example.com/z: 1}}}]}}",
    );
    for (requests, cpu) in [(Requests::Assumed, (1100, 100, 4000)), (Requests::Real, (1000, 0, 4000))] {
        let scorer = ResourceAllocationScorer::new(&spec(&names), requests, &Emulation::default().behaviour().resources);
        let mut seen = Vec::new();
        with_context(&Cluster::default(), &[], |cx| {
            scorer.with_usages(&scorer.pre_score(&cx, &incoming.pod), &node, |usages| {
                seen = usages.iter().map(|u| (u.requested, u.allocated, u.allocatable)).collect();
                0
            })
        });
        let none = (0, 0, 0);
        assert_eq!(seen, [cpu, (11, 10, 100), (7, 3, 50), (3, 1, 8), none, none, none, none, cpu]);
    }
}
