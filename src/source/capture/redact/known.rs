//! Names that are Kubernetes' own, and exceptions within its domains.

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

/// Node roles that are the same in every cluster.
const ROLES: [&str; 4] = ["control-plane", "infra", "master", "worker"];

/// Kubernetes' domains in which users choose the names.
const OPEN_DOMAINS: [&str; 2] = ["node-restriction.kubernetes.io", "node-role.kubernetes.io"];

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
    if domain == "node-role.kubernetes.io" && ROLES.contains(&name) {
        return Own::All;
    }
    if OPEN_DOMAINS.contains(&domain) {
        return Own::Domain(domain, name);
    }
    // Users may also put a prefix before the domain: `acme.node-restriction.kubernetes.io`.
    if OPEN_DOMAINS.iter().any(|open| domain.ends_with(open)) {
        return Own::None;
    }
    let of = |own: &str| domain.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if ["kubernetes.io", "k8s.io"].into_iter().any(of) { Own::All } else { Own::None }
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
            ("resource.k8s.io/x", Own::All),
            ("notkubernetes.io/x", Own::None),
            ("acme.com/kubernetes.io", Own::None),
            ("app", Own::None),
        ] {
            assert_eq!(own(key), expected, "{key}");
        }
    }
}
