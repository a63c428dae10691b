//! Extended resources served by a DeviceClass; mirrors
//! `pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go` and
//! `staging/src/k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache`.
//!
//! The scheduler creates one claim for a pod that requests such resources. Its requests differ by node: a resource in a
//! node's allocatable comes from a device plugin and needs no request.

use std::collections::HashMap;
use std::sync::Arc;

use super::result::derived_uid;
use crate::cluster::resource::{DeviceClass, DeviceRequest, ExactDeviceRequest, ResourceClaim};
use crate::cluster::{Cluster, Container, ContainerExtendedResourceRequest, Map, Meta, OwnerReference, Pod, Str};
use crate::framework::{NodeInfo, PodResourcesOptions, Reason, Resource, Status, is_extended_resource_name, pod_requests};
use crate::release::{Emulation, Gate};

/// Prefix of resource names that contain their class.
const CLASS_PREFIX: &str = "deviceclass.resource.kubernetes.io/";
/// Marks the claim that the scheduler creates for extended resources.
const CLAIM_ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";
/// The name of that claim while it exists in memory only.
const SPECIAL_NAME: &str = "<extended-resources>";
/// Longest prefix of a generated name; `maxGeneratedNameLength` in `staging/src/k8s.io/apiserver/pkg/storage/names`.
const MAX_GENERATED_PREFIX: usize = 58;

/// Returns the DeviceClass that serves an extended resource: the class in its name, or else the newest class with this
/// `extendedResourceName`, by name if equally old.
pub fn extended_resource_class(cluster: &Cluster, resource: &str) -> Option<Arc<DeviceClass>> {
    let in_name = resource.strip_prefix(CLASS_PREFIX).and_then(|name| cluster.device_classes.named(&name.into()));
    if let Some(class) = in_name.filter(|class| !is_passed_over(cluster, class)) {
        return Some(class.clone());
    }
    let serves = |class: &&Arc<DeviceClass>| class.spec.extended_resource_name.as_deref() == Some(resource);
    cluster
        .device_classes
        .iter()
        .filter(serves)
        // Classes are in order of name; the first of equally old ones wins.
        .reduce(|best, class| if class.metadata.creation_timestamp > best.metadata.creation_timestamp { class } else { best })
        .cloned()
}

/// Whether a class does not even serve the resource named after it. Upstream learns of the classes one by one, and
/// ignores one whose `extendedResourceName` a known class serves that takes precedence. An API server lists classes in
/// order of name.
fn is_passed_over(cluster: &Cluster, class: &DeviceClass) -> bool {
    let (meta, Some(resource)) = (&class.metadata, &class.spec.extended_resource_name) else { return false };
    let known = cluster.device_classes.iter().take_while(|known| known.metadata.name < meta.name);
    let mut rivals = known.filter(|known| known.spec.extended_resource_name.as_ref() == Some(resource));
    rivals.any(|known| known.metadata.creation_timestamp >= meta.creation_timestamp)
}

/// Whether a DeviceClass can serve a resource of this name.
fn is_dra_extended_resource_name(name: &str) -> bool {
    is_extended_resource_name(name) || name.starts_with(CLASS_PREFIX)
}

pub(super) fn is_special_name(name: &str) -> bool {
    name == SPECIAL_NAME
}

/// An extended resource that the pod requests.
#[derive(Clone, Debug)]
pub(super) struct ExtendedResource {
    name: Str,
    /// The class that serves it on nodes without a device plugin.
    pub(super) class: Option<Arc<DeviceClass>>,
}

/// Returns the pod's claim for extended resources and those resources; `None` if no class serves any of them.
pub(super) fn prepare(cluster: &Cluster, emulation: Emulation, pod: &Pod) -> Option<(Arc<ResourceClaim>, Vec<ExtendedResource>)> {
    if !emulation.enabled(Gate::DRAExtendedResource) || cluster.device_classes.is_empty() {
        return None;
    }
    let requests = pod_requests(pod, PodResourcesOptions::default());
    let served = |name: &str| is_dra_extended_resource_name(name) && extended_resource_class(cluster, name).is_some();
    if !requests.iter().any(|(name, amount)| !amount.is_zero() && served(name)) {
        return None;
    }
    let scalar = Resource::from_list(&requests).scalar;
    let wanted = scalar.iter().filter(|(name, amount)| **amount != 0 && is_dra_extended_resource_name(name));
    let resources =
        wanted.map(|(name, _)| ExtendedResource { name: name.clone(), class: extended_resource_class(cluster, name) }).collect();
    Some((find_claim(cluster, pod).unwrap_or_else(|| Arc::new(new_claim(pod))), resources))
}

/// Returns the claim that an earlier cycle created for the pod.
fn find_claim(cluster: &Cluster, pod: &Pod) -> Option<Arc<ResourceClaim>> {
    let ours = |claim: &&Arc<ResourceClaim>| {
        claim.metadata.annotations.get(CLAIM_ANNOTATION).is_some_and(|v| v == "true")
            && claim
                .metadata
                .owner_references
                .iter()
                .any(|o| o.name == pod.metadata.name && o.controller == Some(true) && o.uid == pod.metadata.uid)
    };
    // Upstream searches an unordered list of all namespaces; an owner is always in the pod's own.
    cluster.resource_claims.iter().find(ours).cloned()
}

fn new_claim(pod: &Pod) -> ResourceClaim {
    let mut metadata = Meta { namespace: pod.metadata.namespace.clone(), name: SPECIAL_NAME.into(), ..Meta::default() };
    metadata.owner_references = vec![OwnerReference::to_pod(pod)].into();
    metadata.annotations = [(CLAIM_ANNOTATION, Str::from("true"))].into_iter().collect();
    ResourceClaim { metadata, ..ResourceClaim::default() }
}

/// Sets name and uid of the claim as the API server would.
pub(super) fn name_claim(claim: &mut ResourceClaim, pod: &Pod) {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let uid = derived_uid(&["extended-resources", &pod.metadata.uid.text(), &pod.key().to_string()]);
    let mut name = format!("{}-extended-resources-", pod.metadata.name);
    let end = (0..=name.len().min(MAX_GENERATED_PREFIX)).rev().find(|i| name.is_char_boundary(*i)).unwrap_or(0);
    name.truncate(end);
    // The random suffix of a generated name, derived from the uid here.
    name.extend(uid.bytes().rev().take(5).map(|b| char::from(ALPHABET[usize::from(b) % ALPHABET.len()])));
    claim.metadata.name = name.into();
    claim.metadata.uid = uid.into();
}

/// The claim for one node.
#[derive(Clone, Debug)]
pub(super) struct NodeClaim {
    pub(super) claim: Arc<ResourceClaim>,
    /// The resources that it requests, with their classes.
    resources: Vec<(Str, Arc<DeviceClass>)>,
}

impl NodeClaim {
    /// Returns the share of each container in the requests.
    pub(super) fn mappings(&self, pod: &Pod) -> Vec<ContainerExtendedResourceRequest> {
        requests_and_mappings(pod, &self.resources).1
    }
}

/// Returns the claim for this node; `None` if device plugins serve everything.
pub(super) fn for_node(
    claim: &Arc<ResourceClaim>,
    resources: &[ExtendedResource],
    no_user_claim: bool,
    pod: &Pod,
    node: &NodeInfo,
) -> Result<Option<NodeClaim>, Status> {
    if !claim.spec.devices.requests.is_empty() {
        return Err(Status::rejected(Reason::ExtendedResourceClaimConflict));
    }
    let mut through_dra = Vec::new();
    for resource in resources {
        let allocatable = node.allocatable.scalar.get(&resource.name);
        match &resource.class {
            Some(class) if allocatable.is_none_or(|a| *a == 0) => through_dra.push((resource.name.clone(), class.clone())),
            _ if allocatable.is_none() => {
                return Err(Status::rejected(Reason::ExtendedResourceMissing { resource: resource.name.clone() }));
            }
            _ => {}
        }
    }
    if (no_user_claim && through_dra.is_empty()) || claim.status.allocation.is_some() {
        return Ok(None);
    }
    let mut claim = ResourceClaim::clone(claim);
    claim.spec.devices.requests = requests(pod, &through_dra).into();
    Ok(Some(NodeClaim { claim: Arc::new(claim), resources: through_dra }))
}

/// Returns the requests of [`requests_and_mappings`], in a time that grows with the containers' requests only.
fn requests(pod: &Pod, resources: &[(Str, Arc<DeviceClass>)]) -> Vec<DeviceRequest> {
    let num_init = pod.spec.init_containers.len();
    let mut asking: HashMap<&Str, Vec<(usize, usize, &Container)>> = HashMap::new();
    for (index, container) in pod.spec.init_containers.iter().chain(&pod.spec.containers).enumerate() {
        for (position, name) in container.resources.requests.keys().enumerate() {
            asking.entry(name).or_default().push((index, position, container));
        }
    }
    let mut requests = Vec::new();
    for (resource, class) in resources {
        let asking = asking.get(resource).map_or(&[][..], Vec::as_slice);
        let (short, long): (Vec<_>, Vec<_>) = asking.iter().partition(|(index, _, of)| *index < num_init && !of.is_restartable());
        let wanted = |&(index, position, container): &(usize, usize, &Container)| {
            let amount = *container.resources.requests.get(resource)?;
            let is_whole = !amount.is_zero() && amount.nanos() % 1_000_000_000 == 0;
            is_whole.then(|| (index, position, amount.value()))
        };
        let long: Vec<(usize, usize, i64)> = long.iter().filter_map(wanted).collect();
        // The devices of the container and of all long-lived ones after it.
        let mut reusable: Vec<i64> = long
            .iter()
            .rev()
            .scan(0i64, |sum, (.., count)| {
                Some({
                    *sum = sum.saturating_add(*count);
                    *sum
                })
            })
            .collect();
        reusable.reverse();
        let mut largest: Option<DeviceRequest> = None;
        for (index, position, wanted) in short.iter().filter_map(wanted) {
            let after = long.partition_point(|(other, ..)| *other < index);
            let covered = reusable.get(after).copied().unwrap_or(0);
            if (after == long.len() || covered < wanted) && largest.as_ref().is_none_or(|largest| count(largest) < wanted - covered) {
                largest = Some(request(index, position, &class.metadata.name, wanted - covered));
            }
        }
        requests.extend(largest);
        requests.extend(long.iter().map(|(index, position, count)| request(*index, *position, &class.metadata.name, *count)));
    }
    requests.sort_by(|a, b| a.name.cmp(&b.name));
    requests
}

fn request(index: usize, position: usize, class: &Str, count: i64) -> DeviceRequest {
    let exactly = ExactDeviceRequest {
        device_class_name: class.clone(),
        allocation_mode: "ExactCount".into(),
        count,
        ..ExactDeviceRequest::default()
    };
    DeviceRequest { name: format!("container-{index}-request-{position}").into(), exactly: Some(exactly), ..DeviceRequest::default() }
}

type Mapping = ContainerExtendedResourceRequest;

/// Makes one request per container and resource. Ordinary init containers run first, so they reuse each other's
/// requests and those of later containers; of the rest only the largest is requested.
fn requests_and_mappings(pod: &Pod, resources: &[(Str, Arc<DeviceClass>)]) -> (Vec<DeviceRequest>, Vec<Mapping>) {
    let containers: Vec<&Container> = pod.spec.init_containers.iter().chain(&pod.spec.containers).collect();
    let num_init = pod.spec.init_containers.len();
    let is_short_lived = |i: usize| i < num_init && !containers[i].is_restartable();
    let (mut requests, mut mappings) = (Vec::new(), Vec::new());
    for (resource, class) in resources {
        let mut long_lived: Vec<Option<DeviceRequest>> = vec![None; containers.len()];
        for (i, container) in containers.iter().enumerate().filter(|(i, _)| !is_short_lived(*i)) {
            let (request, mapped) = request_and_mappings(i, container, resource, &class.metadata.name, &[]);
            long_lived[i] = request;
            mappings.extend(mapped);
        }
        let (mut largest, mut names): (Option<DeviceRequest>, Vec<Str>) = (None, Vec::new());
        let mut short_mappings = Vec::new();
        for (i, container) in containers.iter().enumerate().filter(|(i, _)| is_short_lived(*i)) {
            let (request, mapped) = request_and_mappings(i, container, resource, &class.metadata.name, &long_lived[i..]);
            short_mappings.extend(mapped);
            if let Some(request) = request {
                names.push(request.name.clone());
                if largest.as_ref().is_none_or(|l| count(l) < count(&request)) {
                    largest = Some(request);
                }
            }
        }
        if let Some(largest) = largest {
            for mapping in short_mappings.iter_mut().filter(|m| names.contains(&m.request_name)) {
                mapping.request_name = largest.name.clone();
            }
            requests.push(largest);
        }
        requests.extend(long_lived.into_iter().flatten());
        mappings.extend(short_mappings);
    }
    requests.sort_by(|a, b| a.name.cmp(&b.name));
    (requests, mappings)
}

fn count(request: &DeviceRequest) -> i64 {
    request.exactly.as_ref().map_or(0, |e| e.count)
}

fn request_and_mappings(
    index: usize,
    container: &Container,
    resource: &Str,
    class: &Str,
    reusable: &[Option<DeviceRequest>],
) -> (Option<DeviceRequest>, Vec<Mapping>) {
    let requests: &Map<_> = &container.resources.requests;
    let Some((position, amount)) = requests.iter().enumerate().find(|(_, (name, _))| *name == resource).map(|(i, (_, q))| (i, *q)) else {
        return (None, Vec::new());
    };
    let wanted = amount.value();
    if amount.is_zero() || amount.nanos() % 1_000_000_000 != 0 {
        return (None, Vec::new());
    }
    let mapping =
        |request: &Str| Mapping { container_name: container.name.clone(), resource_name: resource.clone(), request_name: request.clone() };
    let (mut covered, mut mappings) = (0i64, Vec::new());
    for request in reusable.iter().flatten() {
        covered = covered.saturating_add(count(request));
        mappings.push(mapping(&request.name));
        if covered >= wanted {
            return (None, mappings);
        }
    }
    let request = self::request(index, position, class, wanted - covered);
    mappings.push(mapping(&request.name));
    (Some(request), mappings)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn requests_are_those_with_mappings(kinds in proptest::collection::vec((0..3u8, 0..4i64, 0..4i64), 0..12)) {
            let container = |name: String, a: i64, b: i64, sidecar: bool| {
                let mut container = json!({"name": name, "resources": {"requests": {"example.com/a": a.to_string(), "example.com/b": b.to_string()}}});
                if sidecar {
                    container["restartPolicy"] = json!("Always");
                }
                container
            };
            let of = |wanted: &[u8]| {
                let some = kinds.iter().enumerate().filter(|(_, (kind, ..))| wanted.contains(kind));
                some.map(|(i, (kind, a, b))| container(format!("c{i}"), *a, *b, *kind == 1)).collect::<Vec<_>>()
            };
            let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": {"initContainers": of(&[0, 1]), "containers": of(&[2])}})).unwrap();
            let class = |name: &str| (Str::from(format!("example.com/{name}")), Arc::new(DeviceClass::default()));
            let resources = [class("a"), class("b")];
            prop_assert_eq!(requests(&pod, &resources), requests_and_mappings(&pod, &resources).0);
        }
    }
}
