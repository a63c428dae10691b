//! GeneralPredicates and its four parts, which are also predicates of their own: PodFitsResources, HostName,
//! PodFitsHostPorts and MatchNodeSelector. Mirrors `pkg/scheduler/algorithm/predicates/predicates.go`.

use std::sync::Arc;

use super::reject;
use crate::cluster::{ContainerPort, Pod, Str};
use crate::framework::{
    Context, CycleState, FilterPlugin, NodeInfo, Plugin, PluginName, PodInfo, PreFilterPlugin, PreFilterResult, Reason, Resource, Shortage,
    Status, host_ports,
};
use crate::plugins::node_affinity::{RequiredNodeAffinity, unmet_requirement};
use crate::plugins::node_ports::conflict;

/// A part of GeneralPredicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneralPart {
    /// PodFitsResources.
    Resources,
    /// HostName.
    HostName,
    /// PodFitsHostPorts.
    HostPorts,
    /// MatchNodeSelector.
    NodeSelector,
}

/// GeneralPredicates, which runs all parts and collects their reasons, or one part.
#[derive(Clone, Copy, Debug)]
pub struct General(pub Option<GeneralPart>);

impl General {
    fn has(self, part: GeneralPart) -> bool {
        self.0.is_none_or(|own| own == part)
    }
}

/// The pod's request, equal for all nodes.
#[derive(Clone, Debug)]
struct Requested(Arc<Request>);

#[derive(Debug)]
struct Request {
    resources: Resource,
    ports: Vec<ContainerPort>,
    affinity: RequiredNodeAffinity,
}

impl Request {
    fn of(cx: &Context<'_>, pod: &Pod) -> Self {
        let ports = host_ports(pod, cx.emulation).cloned().collect();
        Self { resources: resource_request(pod), ports, affinity: RequiredNodeAffinity::of(pod) }
    }
}

/// Returns the sum over containers, for each resource at least the request of any init container; mirrors
/// `GetResourceRequest`.
fn resource_request(pod: &Pod) -> Resource {
    let mut request = Resource::default();
    for container in &pod.spec.containers {
        request.add_list(&container.resources.requests);
    }
    for container in &pod.spec.init_containers {
        let init = Resource::max_of_list(&container.resources.requests);
        request.milli_cpu = request.milli_cpu.max(init.milli_cpu);
        request.memory = request.memory.max(init.memory);
        request.ephemeral_storage = request.ephemeral_storage.max(init.ephemeral_storage);
        for (name, amount) in init.scalar.iter().filter(|(name, amount)| **amount > request.scalar(name)).collect::<Vec<_>>() {
            request.scalar.insert(name.clone(), *amount);
        }
    }
    request
}

/// Returns the shortages of the node: pods, cpu, memory, ephemeral-storage, then other resources by name. Mirrors
/// `PodFitsResources`.
fn lacking(request: &Resource, node: &NodeInfo) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let (pods, allowed) = (i64::try_from(node.pods.len()).unwrap_or(i64::MAX), node.allocatable.allowed_pod_number);
    if pods >= allowed {
        reasons.push(Reason::TooManyPods { pods, allowed });
    }
    if (request.milli_cpu, request.memory, request.ephemeral_storage) == (0, 0, 0) && request.scalar.is_empty() {
        return reasons;
    }
    let mut check = |resource: Str, requested: i64, used: i64, capacity: i64| {
        if capacity < requested.wrapping_add(used) {
            reasons.push(Reason::Insufficient(Shortage { resource, requested, used, capacity }));
        }
    };
    let (used, capacity) = (&node.requested, &node.allocatable);
    check(Str::CPU, request.milli_cpu, used.milli_cpu, capacity.milli_cpu);
    check(Str::MEMORY, request.memory, used.memory, capacity.memory);
    check(Str::EPHEMERAL_STORAGE, request.ephemeral_storage, used.ephemeral_storage, capacity.ephemeral_storage);
    for (name, amount) in request.scalar.iter() {
        check(name.clone(), *amount, used.scalar(name), capacity.scalar(name));
    }
    reasons
}

impl Plugin for General {
    fn name(&self) -> PluginName {
        match self.0 {
            None => PluginName::GeneralPredicates,
            Some(GeneralPart::Resources) => PluginName::PodFitsResources,
            Some(GeneralPart::HostName) => PluginName::HostName,
            Some(GeneralPart::HostPorts) => PluginName::PodFitsHostPorts,
            Some(GeneralPart::NodeSelector) => PluginName::MatchNodeSelector,
        }
    }
    fn pre_filter(&self) -> Option<&dyn PreFilterPlugin> {
        Some(self)
    }
    fn filter(&self) -> Option<&dyn FilterPlugin> {
        Some(self)
    }
}

impl PreFilterPlugin for General {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        if state.read::<Requested>().is_none() {
            state.write(Requested(Arc::new(Request::of(cx, &pod.pod))));
        }
        (PreFilterResult::default(), Status::success())
    }
}

impl FilterPlugin for General {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let computed;
        let request = if let Some(Requested(request)) = state.read() {
            request
        } else {
            computed = Arc::new(Request::of(cx, &pod.pod));
            &computed
        };
        let mut reasons = Vec::new();
        if self.has(GeneralPart::Resources) {
            reasons.extend(lacking(&request.resources, node));
        }
        let wanted = &pod.pod.node_name;
        if self.has(GeneralPart::HostName) && !wanted.is_empty() && wanted != node.name() {
            reasons.push(Reason::NodeNameMismatch { wanted: wanted.clone() });
        }
        if self.has(GeneralPart::HostPorts)
            && let Some(port) = request.ports.iter().find(|port| node.used_ports.conflicts(port))
        {
            reasons.push(Reason::HostPortConflict(Box::new(conflict(port, node))));
        }
        if self.has(GeneralPart::NodeSelector) && !request.affinity.matches(&node.node) {
            reasons.push(Reason::NodeAffinityMismatch { unmet: unmet_requirement(&pod.pod.spec, &node.node).map(Box::new) });
        }
        reject(reasons, cx.emulation.behaviour())
    }
    fn depends_on_pods(&self) -> bool {
        self.has(GeneralPart::Resources) || self.has(GeneralPart::HostPorts)
    }
}
