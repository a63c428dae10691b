//! A cluster of any size, made the same way every time: nodes in three zones filled to about nine tenths of their cpu by
//! workloads of many replicas, a third of them under budgets, and one pod that fits only by preemption. Or with full nodes and
//! many such pods.

use std::fmt::Write as _;

/// The allocator of the program.
#[cfg(all(target_os = "linux", feature = "cli"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The cluster as `kubectl get -o json` would print it.
#[allow(dead_code, reason = "not every bench needs it without more pods")]
pub(crate) fn cluster_json(nodes: usize, pods_per_node: usize) -> String {
    cluster_with_pending(nodes, pods_per_node, 0, "100m")
}

/// The cluster with further pending pods of one workload, which ask for so much cpu each.
#[allow(dead_code, reason = "not every bench needs it")]
pub(crate) fn cluster_with_pending(nodes: usize, pods_per_node: usize, pending: usize, cpu: &str) -> String {
    let mut out = filled(nodes, pods_per_node, 14_400);
    for pod in 0..pending {
        let _ = write!(
            out,
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"waiting-{pod:05}","namespace":"team-0","uid":"w{pod}","labels":{{"app":"waiting"}}}},"spec":{{"schedulerName":"default-scheduler","preemptionPolicy":"Never","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]}},"status":{{"phase":"Pending"}}}},"#
        );
    }
    out + &preemptor("preemptor", "12", "2Gi") + "]}"
}

/// The cluster with ten pods on each node that take all of its cpu, and pods that fit only where three others are evicted.
#[allow(dead_code, reason = "not every bench needs it")]
pub(crate) fn full_cluster(nodes: usize, preemptors: usize) -> String {
    let pods: Vec<String> = (0..preemptors).map(|pod| preemptor(&format!("preemptor-{pod:05}"), "4500m", "1Gi")).collect();
    filled(nodes, 10, 16_000) + &pods.join(",") + "]}"
}

fn preemptor(name: &str, cpu: &str, memory: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"team-0","uid":"{name}"}},"spec":{{"schedulerName":"default-scheduler","priority":100000,"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{cpu}","memory":"{memory}"}}}}}}]}},"status":{{"phase":"Pending"}}}}"#
    )
}

/// A list that is not closed, with nodes, the pods on them, which take this much cpu of each, and budgets.
fn filled(nodes: usize, pods_per_node: usize, milli_cpu: usize) -> String {
    let mut out = String::from(r#"{"apiVersion":"v1","kind":"List","items":["#);
    for node in 0..nodes {
        let _ = write!(
            out,
            r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{node:05}","uid":"n{node}","labels":{{"kubernetes.io/hostname":"node-{node:05}","topology.kubernetes.io/zone":"zone-{}"}}}},"spec":{{}},"status":{{"allocatable":{{"cpu":"16","memory":"64Gi","pods":"110"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}},"#,
            node % 3
        );
        for pod in 0..pods_per_node {
            let app = (node * 7 + pod * 13) % 400;
            let cpu = milli_cpu / pods_per_node.max(1);
            let _ = write!(
                out,
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"app-{app}-{node}-{pod}","namespace":"team-{}","uid":"p{node}-{pod}","labels":{{"app":"app-{app}"}}}},"spec":{{"nodeName":"node-{node:05}","schedulerName":"default-scheduler","priority":{},"containers":[{{"name":"c","image":"registry.example/app-{app}:1","resources":{{"requests":{{"cpu":"{cpu}m","memory":"256Mi"}}}}}}]}},"status":{{"phase":"Running","startTime":"2026-11-{:02}T08:00:00Z"}}}},"#,
                app % 20,
                [-10, 0, 1000][app % 3],
                1 + (node + pod) % 19
            );
        }
    }
    for app in (0..400).step_by(3) {
        let _ = write!(
            out,
            r#"{{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{{"name":"app-{app}","namespace":"team-{}"}},"spec":{{"selector":{{"matchLabels":{{"app":"app-{app}"}}}}}},"status":{{"disruptionsAllowed":{}}}}},"#,
            app % 20,
            app % 4
        );
    }
    out
}
