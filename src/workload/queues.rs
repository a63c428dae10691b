//! The queues of Kueue and the requests for capacity through which a pod waits.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::funnel::WorkloadInput;
use super::holders::{Holder, holder_of_gate};
use super::voices::{Voice, groups};
use crate::cluster::neighbors::{About, Neighbor, NeighborKind, Neighbors};
use crate::cluster::{Key, Pod, Quantity, Str};

/// The label with the LocalQueue of a pod or of its owner.
pub(super) const QUEUE_LABEL: &str = "kueue.x-k8s.io/queue-name";

/// The annotations with the ProvisioningRequest whose capacity a pod takes, the current one first (`pods_filter.go` of
/// cluster-autoscaler's `processors/provreq`).
pub(super) const REQUEST_ANNOTATIONS: [&str; 2] =
    ["autoscaling.x-k8s.io/consume-provisioning-request", "cluster-autoscaler.kubernetes.io/consume-provisioning-request"];

/// The quota of a resource in a flavor of a ClusterQueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueQuota {
    /// The ClusterQueue.
    pub queue: About,
    /// The resource.
    pub resource: Str,
    /// The flavor.
    pub flavor: Str,
    /// The amount that admitted workloads have reserved.
    pub reserved: Quantity,
    /// The nominal quota.
    pub nominal: Quantity,
}

/// A kind that the source lacks and that could say why a pod waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownVoice {
    /// Kueue's Workloads: what the pod waits for.
    Workloads,
    /// ProvisioningRequests: whether the capacity that the pod is to take is there.
    ProvisioningRequests,
    /// PodGroups of gang schedulers: what the pod's gang waits for.
    PodGroups,
}

/// Returns the kinds of which the source lacks objects that could say why a pod waits, and none of which says so in `voices`: the pod
/// itself names what they would be about.
pub fn unknown_voices(neighbors: &Neighbors, pod: &Pod, voices: &[Voice]) -> Vec<UnknownVoice> {
    let is_queued = pod.spec.scheduling_gates.iter().any(|gate| holder_of_gate(&gate.name) == Some(Holder::Kueue));
    let takes_request = REQUEST_ANNOTATIONS.iter().any(|key| pod.metadata.annotations.contains_key(key));
    let is_unknown = |kind: NeighborKind| {
        let is_silent = voices.iter().all(|voice| voice.about.kind != <&str>::from(kind));
        is_silent && (!neighbors.knows(kind) || neighbors.why(kind).is_some())
    };
    let workloads = (is_queued && is_unknown(NeighborKind::Workload)).then_some(UnknownVoice::Workloads);
    let requests = (takes_request && is_unknown(NeighborKind::ProvisioningRequest)).then_some(UnknownVoice::ProvisioningRequests);
    let groups = (groups(pod).next().is_some() && is_unknown(NeighborKind::PodGroup)).then_some(UnknownVoice::PodGroups);
    workloads.into_iter().chain(requests).chain(groups).collect()
}

/// Adds to the objects about which words concern a pod: Kueue's Workloads of these objects, their queues, and the
/// ProvisioningRequests of the pod and of the Workloads.
pub(super) fn add_queues(input: &WorkloadInput<'_>, pod: &Pod, objects: &mut Vec<About>) {
    let namespace = &pod.metadata.namespace;
    let owners: Vec<About> = objects.clone();
    let mut known: HashSet<About> = owners.iter().cloned().collect();
    let mut add = |about: About| {
        if known.insert(about.clone()) {
            objects.push(about);
        }
    };
    let mut queues: BTreeSet<Str> = pod.metadata.labels.get(QUEUE_LABEL).into_iter().cloned().collect();
    for workload in owners.iter().flat_map(|about| input.held(about)).filter(|object| object.kind == NeighborKind::Workload) {
        let about = About::new("Workload", workload.metadata.key());
        queues.extend(workload.field("/spec/queueName").and_then(Value::as_str).map(Str::from));
        for request in input.held(&about).iter().filter(|object| object.kind == NeighborKind::ProvisioningRequest) {
            add(About::new("ProvisioningRequest", request.metadata.key()));
        }
        add(about);
    }
    for name in REQUEST_ANNOTATIONS.iter().filter_map(|key| pod.metadata.annotations.get(key)) {
        add(About::new("ProvisioningRequest", Key::new(namespace.clone(), name.clone())));
    }
    for name in queues {
        let local = Key::new(namespace.clone(), name);
        if let Some(queue) = cluster_queue(input, &local) {
            add(queue);
        }
        add(About::new("LocalQueue", local));
    }
}

/// Returns the ClusterQueue of a LocalQueue.
fn cluster_queue(input: &WorkloadInput<'_>, local: &Key) -> Option<About> {
    let queue = input.neighbors.get(NeighborKind::LocalQueue, local)?;
    let name = queue.field("/spec/clusterQueue")?.as_str()?;
    Some(About::new("ClusterQueue", Key::new("", name)))
}

/// Returns the quota of a resource in a flavor for which a Workload waits, if its queues are known.
pub(super) fn quota_of(input: &WorkloadInput<'_>, workload: &About, resource: &str, flavor: &str) -> Option<QueueQuota> {
    let workload = input.neighbors.get(NeighborKind::Workload, &workload.key).filter(|_| workload.kind == "Workload")?;
    let local = workload.field("/spec/queueName")?.as_str()?;
    let about = cluster_queue(input, &Key::new(workload.metadata.namespace.clone(), local))?;
    let queue = input.neighbors.get(NeighborKind::ClusterQueue, &about.key)?;
    let groups = queue.field("/spec/resourceGroups")?.as_array()?;
    let nominal = groups.iter().find_map(|group| amount(&group["flavors"], resource, flavor, "nominalQuota"))?;
    let of = |field: &str| amount(queue.field(field)?, resource, flavor, "total");
    // A flavor that nothing uses is left out of the status.
    let used = of("/status/flavorsReservation").or_else(|| of("/status/flavorsUsage"));
    let is_listed = || queue.field("/status/flavorsReservation").or_else(|| queue.field("/status/flavorsUsage")).is_some();
    let reserved = used.or_else(|| is_listed().then(Quantity::default))?;
    Some(QueueQuota { queue: about, resource: resource.into(), flavor: flavor.into(), reserved, nominal })
}

/// Returns an amount of a list of flavors with their resources.
fn amount(flavors: &Value, resource: &str, flavor: &str, field: &str) -> Option<Quantity> {
    let flavor = flavors.as_array()?.iter().find(|item| item["name"] == flavor)?;
    match flavor["resources"].as_array()?.iter().find(|item| item["name"] == resource)?.get(field)? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// Returns the owners of a Workload or of a ProvisioningRequest: the objects for which it holds a place.
pub(super) fn holds_for(object: &Neighbor) -> impl Iterator<Item = About> + '_ {
    let is_held = matches!(object.kind, NeighborKind::Workload | NeighborKind::ProvisioningRequest);
    let owners = object.metadata.owner_references.iter().filter(move |_| is_held);
    owners.map(|owner| About::new(owner.kind.as_str(), Key::new(object.metadata.namespace.clone(), owner.name.clone())))
}

#[cfg(test)]
mod tests;
