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
mod tests {
    use super::*;
    use crate::cluster::Cluster;
    use crate::cluster::operations::counted;
    use crate::workload::{Joint, Meaning, joint, voices_of_pod};
    use serde_json::json;

    fn kueue(kind: NeighborKind, name: &str, namespace: &str, more: &Value) -> Neighbor {
        let mut object = json!({"metadata": {"name": name, "namespace": namespace}});
        for (field, value) in more.as_object().unwrap() {
            if field == "ownerReferences" { object["metadata"][field] = value.clone() } else { object[field] = value.clone() }
        }
        Neighbor::deserialize_kind(kind, "x/v1".into(), object).unwrap()
    }

    /// Returns a Workload of a pod that waits for GPUs in a queue of 8, with this much reserved.
    fn world(reserved: &Value) -> Neighbors {
        let mut all = Neighbors::default();
        let waits = json!({"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota",
            "message": "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed"});
        let owner = json!([{"kind": "Pod", "name": "train", "uid": "u", "apiVersion": "v1"}]);
        all.insert(kueue(
            NeighborKind::Workload,
            "pod-train",
            "ml",
            &json!({"spec": {"queueName": "team"}, "status": {"conditions": [waits]}, "ownerReferences": owner}),
        ));
        all.insert(kueue(NeighborKind::LocalQueue, "team", "ml", &json!({"spec": {"clusterQueue": "gpus"}})));
        let resources = json!([{"name": "nvidia.com/gpu", "nominalQuota": 8}]);
        let groups = json!([{"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "v100", "resources": []}, {"name": "a100", "resources": resources}]}]);
        let stopped = json!([{"type": "Active", "status": "False", "reason": "Stopped", "message": "is stopped"}]);
        all.insert(kueue(
            NeighborKind::ClusterQueue,
            "gpus",
            "",
            &json!({"spec": {"resourceGroups": groups}, "status": {"conditions": stopped, "flavorsReservation": reserved}}),
        ));
        all
    }

    fn pod() -> Pod {
        serde_json::from_str(
            r#"{"metadata":{"name":"train","namespace":"ml"},"spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/admission"}]}}"#,
        )
        .unwrap()
    }

    #[test]
    fn a_pod_waits_for_the_quota_of_its_queue_and_for_the_queue_itself() {
        let cluster = Cluster::default();
        for (reserved, expected) in [
            (json!([{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": "6", "borrowed": "0"}]}]), Some("6 of 8")),
            // A flavor without use is left out of the status. Without a list the amount is unknown.
            (json!([]), Some("0 of 8")),
            (Value::Null, None),
        ] {
            let neighbors = world(&reserved);
            let input = WorkloadInput::of_events(&cluster, &neighbors);
            let voices = voices_of_pod(&input, &pod(), None).voices;
            assert!(voices.iter().any(|voice| matches!(voice.means, Some(Meaning::QueueQuota(_)))), "{voices:?}");
            assert!(
                voices.iter().any(|voice| voice.means == Some(Meaning::QueueInactive(About::new("ClusterQueue", Key::new("", "gpus")))))
            );
            let quota = joint(&input, &pod(), &voices, false).into_iter().find_map(|found| match found {
                Joint::Quota(quota) => Some(format!("{} of {}", quota.reserved, quota.nominal)),
                _ => None,
            });
            assert_eq!(quota.as_deref(), expected);
        }
    }

    #[test]
    fn a_kind_that_the_source_lacks_is_unknown_where_a_pod_waits_for_it() {
        let plain: Pod = serde_json::from_str(r#"{"metadata":{"name":"web","namespace":"ml"}}"#).unwrap();
        let text = json!({"metadata": {"name": "batch", "namespace": "ml", "annotations": {REQUEST_ANNOTATIONS[0]: "ask"}}}).to_string();
        let batch: Pod = serde_json::from_str(&text).unwrap();
        let none = Neighbors::default();
        assert_eq!(unknown_voices(&none, &pod(), &[]), [UnknownVoice::Workloads]);
        assert_eq!(unknown_voices(&none, &batch, &[]), [UnknownVoice::ProvisioningRequests]);
        let gang =
            json!({"metadata": {"name": "batch", "namespace": "ml", "annotations": {"scheduling.k8s.io/group-name": "g"}}}).to_string();
        assert_eq!(unknown_voices(&none, &serde_json::from_str(&gang).unwrap(), &[]), [UnknownVoice::PodGroups]);
        assert_eq!(unknown_voices(&none, &plain, &[]), []);
        assert_eq!(unknown_voices(&world(&Value::Null), &pod(), &[]), []);
    }

    #[test]
    fn many_workloads_of_one_owner_cost_as_much_each_as_few() {
        let operations = |number: usize| {
            let mut neighbors = Neighbors::default();
            let owner = json!([{"kind": "Pod", "name": "train", "uid": "u", "apiVersion": "v1"}]);
            for at in 0..number {
                let more = json!({"spec": {"queueName": format!("q{at}")}, "ownerReferences": owner});
                neighbors.insert(kueue(NeighborKind::Workload, &format!("w{at}"), "ml", &more));
            }
            let cluster = Cluster::default();
            counted(|| voices_of_pod(&WorkloadInput::of_events(&cluster, &neighbors), &pod(), None)).1
        };
        let (few, many) = (operations(100), operations(800));
        assert!(many < few * 8 * 2, "{few} for 100, {many} for 800");
    }

    #[test]
    fn capacity_is_asked_for_by_an_annotation_or_for_a_workload() {
        let failed = |more: &Value| {
            let mut object = json!({"status": {"conditions": [{"type": "Failed", "status": "True"}]}});
            for (field, value) in more.as_object().unwrap() {
                object[field] = value.clone();
            }
            let mut neighbors = world(&Value::Null);
            neighbors.insert(kueue(NeighborKind::ProvisioningRequest, "ask", "ml", &object));
            neighbors
        };
        let is_found = |neighbors: &Neighbors, pod: &Pod| {
            let cluster = Cluster::default();
            voices_of_pod(&WorkloadInput::of_events(&cluster, neighbors), pod, None)
                .voices
                .iter()
                .any(|voice| matches!(voice.means, Some(Meaning::Capacity(..))))
        };
        let of_workload =
            failed(&json!({"ownerReferences": [{"kind": "Workload", "name": "pod-train", "uid": "w", "apiVersion": "x/v1"}]}));
        assert!(is_found(&of_workload, &pod()));
        let alone = failed(&json!({}));
        assert!(!is_found(&alone, &pod()));
        for key in REQUEST_ANNOTATIONS {
            let text = json!({"metadata": {"name": "batch", "namespace": "ml", "annotations": {key: "ask"}}}).to_string();
            assert!(is_found(&alone, &serde_json::from_str(&text).unwrap()), "{key}");
        }
    }
}
