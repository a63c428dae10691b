//! Words of workloads, quotas and other programs that are the same in every cluster.

use super::{Pass, resource};
use crate::cluster::Quantity;

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

/// Components of Kubernetes and of common additions to it that write events.
const COMPONENTS: [&str; 74] = [
    "attachdetach-controller",
    "autoscaler",
    "batch-scheduler",
    "binder",
    "bootstrap-signer",
    "cloud-node-controller",
    "cloud-node-lifecycle-controller",
    "cloud-provider",
    "cluster-autoscaler",
    "clusterrole-aggregation-controller",
    "controllermanager",
    "cronjob-controller",
    "daemonset-controller",
    "default-scheduler",
    "deployment-controller",
    "descheduler",
    "device-taint-eviction-controller",
    "disruption-controller",
    "endpoint-controller",
    "endpoint-slice-controller",
    "endpointslice-controller",
    "ephemeral_volume",
    "ephemeral-volume-controller",
    "garbage-collector-controller",
    "gpu-operator",
    "horizontal-pod-autoscaler",
    "ingress-nginx-controller",
    "job-controller",
    "jobset",
    "jobset-controller",
    "kai-scheduler",
    "karpenter",
    "keda-operator",
    "koord-descheduler",
    "koord-scheduler",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubelet",
    "kueue-admission",
    "kueue-clusterqueue-controller",
    "kueue-job-controller",
    "kueue-localqueue-controller",
    "kueue-pod-controller",
    "kueue-workload-controller",
    "leaderworkerset",
    "namespace-controller",
    "node-controller",
    "node-ipam-controller",
    "node-lifecycle-controller",
    "node-problem-detector",
    "nodecontroller",
    "persistentvolume-controller",
    "pod-garbage-collector",
    "podautoscaler",
    "pod-scaler",
    "podgroup-controller",
    "replicaset-controller",
    "replication-controller",
    "replicationcontroller-controller",
    "resource_claim",
    "resourceclaim-controller",
    "resourcequota-controller",
    "route_controller",
    "service-controller",
    "serviceaccount-controller",
    "sigs.k8s.io/descheduler",
    "statefulset-controller",
    "taint-eviction-controller",
    "vc-controller-manager",
    "vc-scheduler",
    "volcano",
    "volume_expand",
    "yunikorn",
];

/// The state of an object, and that of a condition.
pub(super) const STATES: [&str; 27] = [
    "Active",
    "Available",
    "Bound",
    "Closed",
    "Closing",
    "Completed",
    "Failed",
    "False",
    "Finished",
    "Inqueue",
    "Lost",
    "Open",
    "Pending",
    "PreScheduling",
    "Released",
    "Running",
    "Scheduled",
    "Scheduling",
    "Succeeded",
    "Terminated",
    "Terminating",
    "True",
    "Unknown",
    "Unschedulable",
    "false",
    "true",
    "unknown",
];

/// The part of a quota's resource that follows the name of a class.
pub(super) const OF_STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";

/// Handles the component that wrote an event: known ones and schedulers are kept. A CSI provisioner adds its pod to the name of its
/// driver.
pub(super) fn speaker(text: &str, pass: &mut Pass<'_>) -> String {
    if COMPONENTS.contains(&text) {
        return text.to_owned();
    }
    let of_driver = text.split_once('_').map(|(driver, pod)| (driver, pass.text(pod)));
    let replaced = pass.text(text);
    match (pass.kept(), of_driver) {
        (Some(kept), _) if kept.is_scheduler(text) => text.to_owned(),
        (Some(kept), Some((driver, pod))) if kept.is_driver(driver) => format!("{driver}_{pod}"),
        _ => replaced,
    }
}

/// Handles a resource of a quota: the name of a class in it is replaced.
pub(super) fn quota_resource(name: &str, pass: &mut Pass<'_>) -> String {
    match name.split_once(OF_STORAGE_CLASS) {
        Some((class, of)) => format!("{}{OF_STORAGE_CLASS}{of}", pass.text(class)),
        None => resource(name, pass),
    }
}

/// Returns the amounts of a quota in a message, such as `requests.cpu=500m,pods=1`, with names that are no resource's left out;
/// `None` for other words.
pub(super) fn amounts(core: &str, pass: &mut Pass<'_>) -> Option<String> {
    let pairs: Option<Vec<(&str, &str)>> = core.split(',').map(|pair| pair.split_once('=')).collect();
    let pairs = pairs?;
    if !pairs.iter().all(|(_, amount)| amount.parse::<Quantity>().is_ok()) {
        return None;
    }
    let pair = |(name, amount): (&str, &str)| {
        let replaced = quota_resource(name, pass);
        let is_resource = pass.kept().is_some_and(|kept| kept.is_quota_resource(name));
        if is_resource { format!("{replaced}={amount}") } else { format!("…={amount}") }
    };
    Some(pairs.into_iter().map(pair).collect::<Vec<_>>().join(","))
}

/// Returns a planned object in a message, such as `nodeclaim/default-x7k2p`; `None` for other words.
pub(super) fn planned(core: &str, pass: &mut Pass<'_>) -> Option<String> {
    let (kind, name) = core.split_once('/')?;
    ["nodeclaim", "node", "nodepool"].contains(&kind).then(|| format!("{kind}/{}", pass.text(name)))
}
