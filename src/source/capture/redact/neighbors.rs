//! Words of workloads, quotas and other programs that are the same in every cluster.

use super::{Pass, resource};

/// Kinds and properties of workloads.
pub(super) const TEXTS: [&str; 27] = [
    "AdmissionCheck",
    "ClusterQueue",
    "ConfigMap",
    "Container",
    "CronJob",
    "Deployment",
    "HorizontalPodAutoscaler",
    "JobSet",
    "LeaderWorkerSet",
    "LimitRange",
    "LocalQueue",
    "Namespace",
    "NodeClaim",
    "NodePool",
    "OrderedReady",
    "Parallel",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodGroup",
    "PriorityClass",
    "ProvisioningRequest",
    "ResourceClaim",
    "ResourceQuota",
    "ServiceAccount",
    "TerminatingOrFailed",
    "Workload",
    "default",
];

/// Types of conditions, and of the items of a LimitRange.
pub(super) const TYPES: [&str; 34] = [
    "AbleToScale",
    "Accepted",
    "Active",
    "Admitted",
    "Available",
    "BookingExpired",
    "CapacityRevoked",
    "Complete",
    "Consolidatable",
    "Container",
    "Drained",
    "Drifted",
    "FailureTarget",
    "Failed",
    "Finished",
    "Launched",
    "NodeClassReady",
    "NodeRegistrationHealthy",
    "PersistentVolumeClaim",
    "Pod",
    "PodsReady",
    "Provisioned",
    "QuotaReserved",
    "Registered",
    "Requeued",
    "ScalingActive",
    "ScalingLimited",
    "Scheduled",
    "SuccessCriteriaMet",
    "Suspended",
    "Unschedulable",
    "UnschedulableOnNodePool",
    "ValidationSucceeded",
    "VolumesDetached",
];

/// Reasons of events and conditions.
pub(super) const REASONS: [&str; 76] = [
    "Admitted",
    "BackoffLimitExceeded",
    "CapacityIsNotFound",
    "CapacityIsProvisioned",
    "ClaimLost",
    "ClaimMisbound",
    "ClusterQueueIsInactive",
    "CreatedWorkload",
    "DeadlineExceeded",
    "DeploymentPaused",
    "DesiredWithinRange",
    "DeviceTaintManagerEviction",
    "DisruptionBlocked",
    "Evict",
    "ExceedsMaxQuota",
    "ExternalProvisioning",
    "FailedCreate",
    "FailedDaemonPod",
    "FailedGetScale",
    "FailedPlacement",
    "FailedResourceClaimCreation",
    "FailedToScaleUpGroup",
    "FailedUpdateScale",
    "FlavorNotFound",
    "HighNodeUtilization",
    "InsufficientCapacityError",
    "JobSuspended",
    "LowNodeUtilization",
    "MinimumReplicasAvailable",
    "MinimumReplicasUnavailable",
    "Misconfigured",
    "NewReplicaSetAvailable",
    "NoCompatibleInstanceTypes",
    "NoMatchingFlavor",
    "NoReservation",
    "NodeClassNotReady",
    "Nominated",
    "NonPreemptibleOverQuota",
    "NotEnoughResources",
    "NotTriggerScaleUp",
    "OverLimit",
    "Pending",
    "PodUnschedulable",
    "Preempted",
    "ProgressDeadlineExceeded",
    "Provisioning",
    "ProvisioningFailed",
    "ProvisioningSucceeded",
    "QueueDoesNotExist",
    "QuotaReserved",
    "RemoveDuplicates",
    "ReplicaSetCreateError",
    "ReplicaSetUpdated",
    "ScaleDown",
    "ScaleDownFailed",
    "ScaleUpTimedOut",
    "ScaledUpGroup",
    "ScalingReplicaSet",
    "Stopped",
    "SuccessfulCreate",
    "SuccessfulDelete",
    "SuccessfulRescale",
    "Suspended",
    "TaintManagerEviction",
    "TooFewReplicas",
    "TooManyReplicas",
    "TopologyPlacementFailed",
    "TriggeredScaleUp",
    "UnhealthyDependents",
    "UnregisteredTaintMissing",
    "UnsatisfiedAdmissionChecks",
    "ValidMetricFound",
    "VolumeMismatch",
    "WaitForFirstConsumer",
    "WaitForPodScheduled",
    "WaitingForQuota",
];

/// Texts of the speakers whose shapes are known, without names.
pub(super) const MESSAGES: &[&str] = &[
    "pod didn't trigger scale-up: max node group size reached, in backoff after failed not ready for max total nodes in cluster reached",
    "pod triggered scale-up: (max: node(s) had untolerated taint(s)",
    "Unschedulable pod didn't trigger scale-up, because it's consuming ProvisioningRequest",
    "Pod should schedule on: Failed to schedule pod, incompatible requirements, did not tolerate taint node limits have been exhausted for \
     nodepool all available instance types exceed limits for nodepool no instance type met the scheduling requirements or had enough \
     resources or had a required offering",
    "Error creating: pods is forbidden: exceeded quota: requested: used: limited: failed quota: must specify for:",
    "maximum minimum usage per Container Pod is but limit request storage max limit to request ratio provided",
    "error looking up service account not found no PriorityClass with name was found violates PodSecurity",
    "admission webhook denied the request: failed calling webhook: Internal error occurred: because it is being terminated",
    "leader pod not yet scheduled, not creating follower pod. this is an expected, transient error",
    "Job suspended Job resumed create Pod in StatefulSet failed error: Created pod: Deleted pod: Scaled up down replica set to from",
    "waiting for first consumer to be created before binding waiting for pod to be scheduled",
    "no persistent volumes available for this claim and no storage class is set",
    "couldn't assign flavors to pod set main: insufficient unused quota for in flavor more needed Pending the preemption of workload(s)",
    "Can't submit admit new workloads to clusterQueue references missing ResourceFlavor(s): is inactive LocalQueue ClusterQueue doesn't exist",
    "tasks in gang unschedulable: pod group is not ready, Pending, minAvailable; Unschedulable, Undetermined queue resource quota insufficient",
    "Task is skipped from scheduling because the queue quota has been exceed is pending for the requested resources become available",
    "NonPreemptibleOverQuota: Non-preemptible workload is over quota. OverLimit",
    "Marking for deletion Cancelling deletion of Pod pod evicted from node by sigs.k8s.io/descheduler deleting pod for node scale down",
    "ReplicaSet has timed out progressing. Deployment is paused does not have minimum availability. successfully progressed.",
];

/// Speakers with an underscore that are no driver with a pod behind it.
const SPEAKERS: [&str; 3] = ["ephemeral_volume", "resource_claim", "volume_expand"];

/// The part of a quota's resource that follows the name of a class.
const OF_STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";

/// Handles the component that wrote an event. A CSI provisioner adds its pod to the name of its driver.
pub(super) fn speaker(text: &str, pass: &mut Pass<'_>) -> String {
    match text.split_once('_') {
        Some((driver, pod)) if !SPEAKERS.contains(&text) => format!("{driver}_{}", pass.text(pod)),
        _ => text.to_owned(),
    }
}

/// Handles a resource of a quota: the name of a class in it is replaced.
pub(super) fn quota_resource(name: &str, pass: &mut Pass<'_>) -> String {
    match name.split_once(OF_STORAGE_CLASS) {
        Some((class, of)) => format!("{}{OF_STORAGE_CLASS}{of}", pass.text(class)),
        None => resource(name, pass),
    }
}

/// Returns the amounts of a quota in a message, such as `requests.cpu=500m,pods=1`; `None` for other words.
pub(super) fn amounts(core: &str, pass: &mut Pass<'_>) -> Option<String> {
    let is_name = |name: &str| {
        ["requests.", "limits.", "count/"].iter().any(|begin| name.starts_with(begin))
            || ["cpu", "memory", "pods", "services", "persistentvolumeclaims"].contains(&name)
            || name.contains(OF_STORAGE_CLASS)
    };
    let is_amount = |amount: &str| !amount.is_empty() && amount.len() <= 16 && amount.starts_with(|c: char| c.is_ascii_digit());
    let pairs: Option<Vec<(&str, &str)>> = core.split(',').map(|pair| pair.split_once('=')).collect();
    let pairs = pairs?;
    if !pairs.iter().all(|(name, amount)| is_name(name) && is_amount(amount)) {
        return None;
    }
    Some(pairs.iter().map(|(name, amount)| format!("{}={amount}", quota_resource(name, pass))).collect::<Vec<_>>().join(","))
}

/// Returns a planned object in a message, such as `nodeclaim/default-x7k2p`; `None` for other words.
pub(super) fn planned(core: &str, pass: &mut Pass<'_>) -> Option<String> {
    let (kind, name) = core.split_once('/')?;
    ["nodeclaim", "node", "nodepool"].contains(&kind).then(|| format!("{kind}/{}", pass.text(name)))
}
