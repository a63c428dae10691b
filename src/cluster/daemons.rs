//! The taints that the DaemonSet controller lets its pods tolerate. Mirrors `AddOrUpdateDaemonPodTolerations` in
//! `pkg/controller/daemon/util/daemonset_util.go`.

/// Keys and effects.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];
/// The one that pods in the network of their node tolerate too.
const OF_HOST_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// Returns the keys and effects of the taints that the pods of every DaemonSet tolerate.
pub fn taints_of_daemons(host_network: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    TOLERATED.into_iter().chain(host_network.then_some(OF_HOST_NETWORK))
}
