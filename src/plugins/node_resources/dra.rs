//! Extended resources served by devices: the number of devices on a node, and of those allocated.
//!
//! Mirrors the DRA part of `pkg/scheduler/framework/plugins/noderesources/resource_allocation.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cel::{Activation, CelError, CompileError, Environment, Selector};
use crate::cluster::resource::{Device, DeviceClass, ResourceSlice};
use crate::cluster::{Cluster, Node, NodeSelector, NodeSelectorTerm, Str};
use crate::framework::is_extended_resource_name;
use crate::plugins::dynamic_resources::{extended_resource_class, selector_environment};
use crate::release::Emulation;

/// Prefix of the extended resource that every class serves implicitly.
const RESOURCE_DEVICE_CLASS_PREFIX: &str = "deviceclass.resource.kubernetes.io/";

/// Returns whether a resource may be served by devices; mirrors `IsDRAExtendedResourceName` in
/// `pkg/scheduler/util/utils.go`.
fn is_dra_extended_resource_name(name: &str) -> bool {
    name.starts_with(RESOURCE_DEVICE_CLASS_PREFIX) || is_extended_resource_name(name)
}

/// Whether a device belongs to a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It does not belong to the class.
    Other,
    Free,
    Allocated,
    /// A selector of the class cannot be evaluated.
    Failed,
}

/// A slice with the verdict on each of its devices.
#[derive(Clone, Debug)]
struct Judged {
    slice: Arc<ResourceSlice>,
    verdicts: Vec<Verdict>,
}

/// For each resource of a list, its devices. They are matched once, because only the choice of slices depends on the
/// node.
#[derive(Clone, Debug)]
pub(super) struct DraResources(Vec<Option<Vec<Judged>>>);

impl DraResources {
    /// Gathers all slices and claims, if a DeviceClass serves any of the resources.
    pub(super) fn gather<'a>(cluster: &Cluster, emulation: Emulation, resources: impl Iterator<Item = &'a Str> + Clone) -> Option<Self> {
        let class = |name: &Str| extended_resource_class(cluster, name);
        if !resources.clone().any(|name| is_dra_extended_resource_name(name) && class(name).is_some()) {
            return None;
        }
        let allocated = allocated_devices(cluster);
        Some(Self(resources.map(|name| class(name).map(|class| judge(cluster, emulation, &class, &allocated))).collect()))
    }

    /// Returns the number of devices of the resource at index `resource` that the node can use, and of those allocated.
    /// Both are 0 on any error: upstream logs it and continues without the resource.
    pub(super) fn capacity_and_allocated(&self, resource: usize, node: &Node) -> (i64, i64) {
        let Some(Some(slices)) = self.0.get(resource) else { return (0, 0) };
        let mut counts = (0, 0);
        for judged in slices {
            for verdict in judged.usable_on(node) {
                match verdict {
                    Ok(Verdict::Other) => {}
                    Ok(Verdict::Free) => counts.0 += 1,
                    Ok(Verdict::Allocated) => counts = (counts.0 + 1, counts.1 + 1),
                    Ok(Verdict::Failed) | Err(Unparsable) => return (0, 0),
                }
            }
        }
        counts
    }
}

/// A node selector cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unparsable;

impl Judged {
    /// Returns the verdicts on the devices that the node can use.
    fn usable_on<'a>(&'a self, node: &'a Node) -> Box<dyn Iterator<Item = Result<Verdict, Unparsable>> + 'a> {
        let spec = &self.slice.spec;
        if spec.per_device_node_selection == Some(true) {
            return Box::new(spec.devices.iter().zip(&self.verdicts).filter_map(move |(device, verdict)| {
                match place_matches(device.node_name.as_ref(), device.all_nodes, device.node_selector.as_ref(), node, false) {
                    Ok(true) => Some(Ok(*verdict)),
                    Ok(false) => None,
                    Err(error) => Some(Err(error)),
                }
            }));
        }
        // A slice without a node selection counts for every node.
        match place_matches(spec.node_name.as_ref(), spec.all_nodes, spec.node_selector.as_ref(), node, true) {
            Ok(true) => Box::new(self.verdicts.iter().copied().map(Ok)),
            Ok(false) => Box::new(std::iter::empty()),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }
}

/// Whether a place, by name, for all nodes, or by selector, includes the node; `otherwise` if none is given.
fn place_matches(
    name: Option<&Str>,
    all_nodes: Option<bool>,
    selector: Option<&NodeSelector>,
    node: &Node,
    otherwise: bool,
) -> Result<bool, Unparsable> {
    let name = name.filter(|n| !n.is_empty());
    match (name, selector) {
        _ if all_nodes == Some(true) => Ok(true),
        (Some(name), _) => Ok(name == node.name()),
        (None, None) => Ok(otherwise),
        (None, Some(selector)) => {
            if selector.node_selector_terms.iter().filter(|t| !t.is_empty()).any(|t| NodeSelectorTerm::error(t).is_some()) {
                return Err(Unparsable);
            }
            Ok(selector.matches(&node.metadata.labels, Some(node.name()).filter(|n| !n.is_empty())))
        }
    }
}

/// Returns driver, pool and device of all allocations without admin access.
fn allocated_devices(cluster: &Cluster) -> BTreeSet<(&Str, &Str, &Str)> {
    let allocations = cluster.resource_claims.iter().filter_map(|c| c.status.allocation.as_ref());
    let results = allocations.flat_map(|a| a.devices.results.iter()).filter(|r| r.admin_access != Some(true));
    results.map(|r| (&r.driver, &r.pool, &r.device)).collect()
}

fn judge(cluster: &Cluster, emulation: Emulation, class: &DeviceClass, allocated: &BTreeSet<(&Str, &Str, &Str)>) -> Vec<Judged> {
    let environment = selector_environment(emulation);
    let selectors = ClassSelectors::compile(class, environment);
    let judge_slice = |slice: &Arc<ResourceSlice>| {
        let spec = &slice.spec;
        let verdict = |device: &Device| match selectors.match_device(&Activation::new(&spec.driver, device, environment)) {
            Err(_) => Verdict::Failed,
            Ok(false) => Verdict::Other,
            Ok(true) if allocated.contains(&(&spec.driver, &spec.pool.name, &device.name)) => Verdict::Allocated,
            Ok(true) => Verdict::Free,
        };
        Judged { slice: slice.clone(), verdicts: spec.devices.iter().map(verdict).collect() }
    };
    cluster.resource_slices.iter().map(judge_slice).collect()
}

/// The selectors of a class; all must match.
struct ClassSelectors(Vec<Result<Selector, CompileError>>);

impl ClassSelectors {
    fn compile(class: &DeviceClass, environment: Environment) -> Self {
        let expressions = class.spec.selectors.iter().filter_map(|s| s.cel.as_ref());
        Self(expressions.map(|c| Selector::compile(&c.expression, environment)).collect())
    }

    /// Whether a device belongs to the class. An expression that does not compile fails only when evaluated on a
    /// device.
    fn match_device(&self, activation: &Activation<'_>) -> Result<bool, CelError> {
        for selector in &self.0 {
            if !selector.as_ref().map_err(Clone::clone)?.matches(activation)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
