//! A small cluster as YAML, and one pod run through the plugin.

mod allocation;
mod explain;
mod points;

use std::sync::Arc;

use super::*;
use crate::cluster::{Kind, Node, Str};
use crate::framework::{PreBindPlugin, ReservePlugin, Snapshot};
use crate::plugins::helper::testing::{node, pod_info};

/// Parses documents with a `kind` each.
fn objects(documents: &[&str]) -> Vec<Object> {
    let read = |text: &&str| {
        let value: serde_yaml::Value = serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
        let kind: Kind = value["kind"].as_str().unwrap().parse().unwrap();
        Object::deserialize_kind(kind, value).unwrap_or_else(|e| panic!("{e}: {text}"))
    };
    documents.iter().map(read).collect()
}

/// Makes a cluster with the classes `any` and `gpu` (driver `gpu`) and the given documents.
fn cluster(documents: &[&str]) -> Cluster {
    let classes = [
        "{kind: DeviceClass, metadata: {name: any}}",
        "{kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: {expression: 'device.driver == \"gpu\"'}}]}}",
    ];
    objects(&classes).into_iter().chain(objects(documents)).collect()
}

/// Makes a slice of driver `gpu` on a node, the only one of a pool with the node's name.
fn slice(node: &str, devices: &str) -> String {
    format!(
        "{{kind: ResourceSlice, metadata: {{name: slice-{node}}}, spec: {{driver: gpu, nodeName: {node}, \
         pool: {{name: {node}, resourceSliceCount: 1}}, devices: [{devices}]}}}}"
    )
}

/// Makes a claim `name` in the pod's namespace, with uid `name`.
fn claim(name: &str, devices: &str, status: &str) -> String {
    format!(
        "{{kind: ResourceClaim, metadata: {{namespace: d, name: {name}, uid: {name}}}, spec: {{devices: {{{devices}}}}}, status: {{{status}}}}}"
    )
}

/// Makes the status of a claim with devices of driver `gpu` in pool `n1`.
fn holding(devices: &[&str]) -> String {
    let results: Vec<String> = devices.iter().map(|d| format!("{{request: r, driver: gpu, pool: n1, device: {d}}}")).collect();
    format!("allocation: {{devices: {{results: [{}]}}}}", results.join(", "))
}

/// Makes a request for `count` devices of class `any`.
fn exactly(name: &str, count: u32, more: &str) -> String {
    format!("{{name: {name}, exactly: {{deviceClassName: any, allocationMode: ExactCount, count: {count}{more}}}}}")
}

fn zoned_node(name: &str) -> Arc<Node> {
    node(&format!("{{metadata: {{name: {name}, labels: {{zone: z-{name}}}}}}}"))
}

/// Makes a pod in namespace `d` with the named claims.
fn pod_with(claims: &[&str]) -> PodInfo {
    let claims: Vec<String> = claims.iter().map(|c| format!("{{name: {c}, resourceClaimName: {c}}}")).collect();
    pod_info(&format!("{{metadata: {{name: p, namespace: d, uid: p}}, spec: {{resourceClaims: [{}]}}}}", claims.join(", ")))
}

/// The plugin running for one pod.
struct World {
    cluster: Cluster,
    snapshot: Snapshot,
    emulation: Emulation,
    plugin: DynamicResources,
    pod: PodInfo,
    state: CycleState,
}

impl World {
    /// Makes nodes `n1` and `n2` without labels or resources.
    fn new(cluster: Cluster, pod: PodInfo) -> Self {
        let snapshot = Snapshot::of(["n1", "n2"].map(|n| NodeInfo::new(zoned_node(n))));
        Self { cluster, snapshot, emulation: Emulation::default(), plugin: DynamicResources::default(), pod, state: CycleState::default() }
    }

    fn cx(&self) -> Context<'_> {
        Context {
            cluster: &self.cluster,
            snapshot: &self.snapshot,
            emulation: self.emulation,
            now: "2026-01-01T00:00:00.5Z".parse().unwrap(),
        }
    }

    fn node(&self, name: &str) -> Arc<NodeInfo> {
        self.snapshot.get(name).unwrap().clone()
    }

    fn pre_filter(&mut self) -> Status {
        let mut state = std::mem::take(&mut self.state);
        let (_, status) = PreFilterPlugin::pre_filter(&self.plugin, &self.cx(), &mut state, &self.pod);
        self.state = state;
        status
    }

    fn filter(&self, node: &str) -> Status {
        FilterPlugin::filter(&self.plugin, &self.cx(), &self.state, &self.pod, &self.node(node))
    }

    /// Runs PreFilter, then Filter on a node.
    fn run(&mut self, node: &str) -> Status {
        let status = self.pre_filter();
        if status.is_success() { self.filter(node) } else { status }
    }

    /// Returns the results of Filter for a node.
    fn results(&self, node: &str) -> Vec<AllocationResult> {
        let state = self.state.read::<DynamicResourcesState>().unwrap();
        let found = state.found();
        found.nodes.get(node).map(|n| n.results.clone()).unwrap_or_default()
    }

    fn reserve(&mut self, node: &str) -> Status {
        let (mut state, info) = (std::mem::take(&mut self.state), self.node(node));
        let status = ReservePlugin::reserve(&self.plugin, &self.cx(), &mut state, &self.pod, &info);
        self.state = state;
        status
    }

    fn pre_bind(&self, node: &str) -> Result<Vec<Object>, Status> {
        PreBindPlugin::pre_bind(&self.plugin, &self.cx(), &self.state, &self.pod, &self.node(node))
    }
}

/// Lists the devices by claim, as `pool/device` if the pool does not have the node's name.
fn show(results: &[AllocationResult]) -> String {
    let device = |r: &crate::cluster::resource::DeviceRequestAllocationResult| {
        let device = if r.pool == "n1" { r.device.to_string() } else { format!("{}/{}", r.pool, r.device) };
        format!("{}={device}", r.request)
    };
    let claim = |r: &AllocationResult| r.devices.results.iter().map(device).collect::<Vec<_>>().join(" ");
    results.iter().map(claim).collect::<Vec<_>>().join("; ")
}

/// Runs a pod with claims `c0`, `c1`, … of these specs on `n1`, and returns the devices or the status.
fn allocate(documents: &[&str], claims: &[&str]) -> String {
    let names: Vec<String> = (0..claims.len()).map(|i| format!("c{i}")).collect();
    let claims: Vec<String> = names.iter().zip(claims).map(|(name, devices)| claim(name, devices, "")).collect();
    let documents: Vec<&str> = documents.iter().copied().chain(claims.iter().map(String::as_str)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = World::new(cluster(&documents), pod_with(&names));
    match world.run("n1") {
        status if status.is_success() => show(&world.results("n1")),
        status => status.to_string(),
    }
}
