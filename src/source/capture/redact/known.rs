//! Names that are Kubernetes' own, and exceptions within its domains.

use strum::IntoEnumIterator as _;

use crate::cluster::Kind;
use crate::cluster::neighbors::NeighborKind;

/// Types of conditions, services, addresses and the like.
pub(super) const TYPES: [&str; 49] = [
    "AllContainersRestarting",
    "ClusterIP",
    "ContainersReady",
    "ControllerResizeError",
    "CorruptDockerOverlay2",
    "DiskPressure",
    "DisruptionAllowed",
    "DisruptionTarget",
    "ExternalDNS",
    "ExternalIP",
    "ExternalName",
    "FileSystemResizePending",
    "FrequentContainerdRestart",
    "FrequentDockerRestart",
    "FrequentKubeletRestart",
    "FrequentUnregisterNetDevice",
    "Hostname",
    "Initialized",
    "InternalDNS",
    "InternalIP",
    "KernelDeadlock",
    "LoadBalancer",
    "Localhost",
    "MemoryPressure",
    "ModifyVolumeError",
    "ModifyingVolume",
    "NetworkUnavailable",
    "NodePort",
    "NodeResizeError",
    "Normal",
    "OnDelete",
    "Opaque",
    "PIDPressure",
    "PodHasNetwork",
    "PodReadyToStartContainers",
    "PodResizeInProgress",
    "PodResizePending",
    "PodScheduled",
    "Progressing",
    "ReadonlyFilesystem",
    "Ready",
    "Recreate",
    "ReplicaFailure",
    "Resizing",
    "RollingUpdate",
    "RuntimeDefault",
    "Unconfined",
    "Unhealthy",
    "Warning",
];

/// Reasons of conditions and events.
pub(super) const REASONS: [&str; 62] = [
    "AllocatedResourcesExceeded",
    "BackOff",
    "BindingConditionsPending",
    "CalicoIsUp",
    "CiliumIsUp",
    "Completed",
    "ContainersNotInitialized",
    "ContainersNotReady",
    "ContainersPrepareFailed",
    "Created",
    "Deferred",
    "DeletionByPodGC",
    "DeletionByTaintManager",
    "Error",
    "Evicted",
    "EvictionByEvictionAPI",
    "Failed",
    "FailedAttachVolume",
    "FailedBinding",
    "FailedMount",
    "FailedScheduling",
    "FilesystemIsNotReadOnly",
    "FlannelIsUp",
    "Infeasible",
    "InsufficientPods",
    "KernelHasNoDeadlock",
    "Killing",
    "KubeletHasDiskPressure",
    "KubeletHasInsufficientMemory",
    "KubeletHasInsufficientPID",
    "KubeletHasNoDiskPressure",
    "KubeletHasSufficientDisk",
    "KubeletHasSufficientMemory",
    "KubeletHasSufficientPID",
    "KubeletNotReady",
    "KubeletReady",
    "NodeAffinity",
    "NodeLost",
    "NodeStatusNeverUpdated",
    "NodeStatusUnknown",
    "NotTriggerScaleUp",
    "OOMKilled",
    "PodCompleted",
    "PodFailed",
    "Preempted",
    "Preempting",
    "PreemptionByScheduler",
    "Pulled",
    "Pulling",
    "RouteCreated",
    "Scheduled",
    "SchedulerError",
    "SchedulingGated",
    "Started",
    "SufficientPods",
    "SyncFailed",
    "TerminationByKubelet",
    "TriggeredScaleUp",
    "UnexpectedAdmissionError",
    "Unhealthy",
    "Unschedulable",
    "WaitForFirstConsumer",
];

/// Keys of labels, taints and annotations that are the same in every cluster, by domain.
const KEYS: [(&str, &[&str]); 30] = [
    ("app.kubernetes.io", &["component", "created-by", "instance", "managed-by", "name", "part-of", "version"]),
    ("apps.kubernetes.io", &["pod-index"]),
    ("autoscaling.x-k8s.io", &["consume-provisioning-request", "provisioning-class-name"]),
    ("batch.kubernetes.io", &["controller-uid", "cronjob-scheduled-timestamp", "job-completion-index", "job-name", "job-tracking"]),
    ("beta.kubernetes.io", &["arch", "fluentd-ds-ready", "instance-type", "os"]),
    ("cluster.x-k8s.io", &["cluster-name", "deployment-name", "set-name"]),
    (
        "cluster-autoscaler.kubernetes.io",
        &["consume-provisioning-request", "provisioning-class-name", "safe-to-evict", "safe-to-evict-local-volumes", "scale-down-disabled"],
    ),
    ("deployment.kubernetes.io", &["desired-replicas", "max-replicas", "revision"]),
    ("endpointslice.kubernetes.io", &["managed-by", "skip-mirror"]),
    ("failure-domain.beta.kubernetes.io", &["region", "zone"]),
    ("jobset.sigs.k8s.io", &["job-index", "jobset-name", "replicatedjob-name", "replicatedjob-replicas"]),
    ("kops.k8s.io", &["instancegroup"]),
    (
        "kubernetes.io",
        &[
            "arch",
            "change-cause",
            "config.hash",
            "config.mirror",
            "config.seen",
            "config.source",
            "created-by",
            "hostname",
            "limit-ranger",
            "metadata.name",
            "no-provisioner",
            "os",
            "pv-protection",
            "pvc-protection",
            "role",
            "service-name",
        ],
    ),
    (
        "kueue.x-k8s.io",
        &["admission", "managed", "pod-group-name", "pod-group-total-count", "podset", "priority-class", "queue-name", "topology"],
    ),
    ("leaderworkerset.sigs.k8s.io", &["group-index", "group-key", "name", "size", "template-revision-hash", "worker-index"]),
    ("node.alpha.kubernetes.io", &["notReady", "ttl", "unreachable"]),
    ("node.cloudprovider.kubernetes.io", &["shutdown", "uninitialized"]),
    (
        "node.kubernetes.io",
        &[
            "disk-pressure",
            "exclude-disruption",
            "exclude-from-external-load-balancers",
            "instance-type",
            "memory-pressure",
            "network-unavailable",
            "not-ready",
            "out-of-disk",
            "out-of-service",
            "pid-pressure",
            "unreachable",
            "unschedulable",
            "windows-build",
        ],
    ),
    ("node-role.kubernetes.io", &["control-plane", "infra", "master", "worker"]),
    ("pv.kubernetes.io", &["bind-completed", "bound-by-controller", "migrated-to", "provisioned-by"]),
    ("resource.k8s.io", &["delete-protection"]),
    ("resource.kubernetes.io", &["delete-protection", "extended-resource-claim", "pcieRoot", "pciBusID", "pod-claim-name"]),
    ("scheduler.alpha.kubernetes.io", &["affinity", "critical-pod", "node-selector", "preferAvoidPods", "tolerations"]),
    ("scheduling.k8s.io", &["group-name"]),
    ("statefulset.kubernetes.io", &["pod-name"]),
    ("storage.alpha.kubernetes.io", &["migrated-plugins"]),
    ("storageclass.kubernetes.io", &["is-default-class"]),
    ("topology.kubernetes.io", &["region", "zone"]),
    ("volume.beta.kubernetes.io", &["storage-class", "storage-provisioner"]),
    ("volume.kubernetes.io", &["selected-node", "storage-provisioner", "storage-resizer"]),
];

/// Domains of Kubernetes whose keys say nothing of their own here. A user may choose any other one below `kubernetes.io` and `k8s.io`.
const DOMAINS: [&str; 39] = [
    "admission.kubernetes.io",
    "alpha.kubernetes.io",
    "applyset.kubernetes.io",
    "authentication.kubernetes.io",
    "authorization.k8s.io",
    "autoscaling.alpha.kubernetes.io",
    "autoscaling.kubernetes.io",
    "container.apparmor.security.beta.kubernetes.io",
    "container.seccomp.security.alpha.kubernetes.io",
    "control-plane.alpha.kubernetes.io",
    "controller.kubernetes.io",
    "csi.storage.k8s.io",
    "endpoints.kubernetes.io",
    "external-attacher.csi.storage.k8s.io",
    "feature.node.kubernetes.io",
    "ingress.kubernetes.io",
    "ingressclass.kubernetes.io",
    "k8s.io",
    "kubeadm.alpha.kubernetes.io",
    "kubectl.kubernetes.io",
    "kubelet.kubernetes.io",
    "node-restriction.kubernetes.io",
    "node.beta.kubernetes.io",
    "nfd.node.kubernetes.io",
    "pod-security.kubernetes.io",
    "pod.beta.kubernetes.io",
    "podpreset.admission.kubernetes.io",
    "rbac.authorization.kubernetes.io",
    "scheduler.kubernetes.io",
    "scheduling.kubernetes.io",
    "seccomp.security.alpha.kubernetes.io",
    "security.alpha.kubernetes.io",
    "service.alpha.kubernetes.io",
    "service.beta.kubernetes.io",
    "service.kubernetes.io",
    "snapshot.storage.kubernetes.io",
    "storage.kubernetes.io",
    "volume.alpha.kubernetes.io",
    "windows.kubernetes.io",
];

/// API groups of Kubernetes and of the additions that the program reads.
const GROUPS: [&str; 29] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "cluster.x-k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "gateway.networking.k8s.io",
    "internal.apiserver.k8s.io",
    "metrics.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "snapshot.storage.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
    "topology.node.k8s.io",
];

/// Returns whether an API group belongs to Kubernetes or to an addition that the program reads.
pub(super) fn is_group(group: &str) -> bool {
    GROUPS.contains(&group) || NeighborKind::iter().any(|kind| kind.groups().contains(&group))
}

/// Returns whether a name is that of a resource of the API that the program reads, such as `pods`.
pub(super) fn is_api_resource(name: &str) -> bool {
    Kind::iter().any(|kind| kind.resource() == name) || NeighborKind::iter().any(|kind| kind.resource() == name)
}

/// The part of a key that is kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Own<'a> {
    /// The whole key: `kubernetes.io/hostname`, `topology.kubernetes.io/zone`.
    All,
    /// The domain; a user chose the name after it.
    Domain(&'a str, &'a str),
    /// Nothing.
    None,
}

/// Returns which part of the key of a label, annotation or taint is Kubernetes' own.
pub(super) fn own(key: &str) -> Own<'_> {
    let Some((domain, name)) = key.split_once('/') else { return Own::None };
    if KEYS.iter().any(|(of, names)| *of == domain && names.contains(&name)) {
        return Own::All;
    }
    // Tools put names of clusters and teams after the domain: `kubernetes.io/cluster/acme`.
    if DOMAINS.contains(&domain) || KEYS.iter().any(|(own, _)| *own == domain) { Own::Domain(domain, name) } else { Own::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_kubernetes_own_stay() {
        for (key, expected) in [
            ("kubernetes.io/hostname", Own::All),
            ("topology.kubernetes.io/zone", Own::All),
            ("node-role.kubernetes.io/control-plane", Own::All),
            ("node-role.kubernetes.io/master", Own::All),
            ("node-role.kubernetes.io/acme-payments", Own::Domain("node-role.kubernetes.io", "acme-payments")),
            ("node-restriction.kubernetes.io/pci-visa", Own::Domain("node-restriction.kubernetes.io", "pci-visa")),
            ("node-restriction.kubernetes.io/worker", Own::Domain("node-restriction.kubernetes.io", "worker")),
            ("acme.node-restriction.kubernetes.io/pci", Own::None),
            ("resource.k8s.io/x", Own::Domain("resource.k8s.io", "x")),
            ("kubernetes.io/cluster/acme", Own::Domain("kubernetes.io", "cluster/acme")),
            ("kubernetes.io/cluster-acme", Own::Domain("kubernetes.io", "cluster-acme")),
            ("kueue.x-k8s.io/queue-name", Own::All),
            ("notkubernetes.io/x", Own::None),
            ("kubectl.kubernetes.io/x", Own::Domain("kubectl.kubernetes.io", "x")),
            ("team-acme.kubernetes.io/gpu", Own::None),
            ("acme.k8s.io/role", Own::None),
            ("acme.com/kubernetes.io", Own::None),
            ("app", Own::None),
        ] {
            assert_eq!(own(key), expected, "{key}");
        }
    }
}
