//! The kinds that scheduling does not read and that explain missing pods.

use serde::Serialize;

/// A kind that scheduling does not read.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::EnumIter,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    Serialize,
)]
pub enum NeighborKind {
    /// Of Kueue.
    ClusterQueue,
    /// Of `batch`.
    CronJob,
    /// Of `apps`.
    DaemonSet,
    /// Of `apps`.
    Deployment,
    /// Of `autoscaling`.
    HorizontalPodAutoscaler,
    /// Of `batch`.
    Job,
    /// Of `jobset.x-k8s.io`.
    JobSet,
    /// Of `leaderworkerset.x-k8s.io`.
    LeaderWorkerSet,
    /// Of the core group.
    LimitRange,
    /// Of Kueue.
    LocalQueue,
    /// Of Karpenter.
    NodeClaim,
    /// Of Karpenter.
    NodePool,
    /// Of Volcano, scheduler-plugins or KAI, by its `apiVersion`; that of `scheduling.k8s.io` is read by scheduling.
    PodGroup,
    /// Of cluster-autoscaler.
    ProvisioningRequest,
    /// Of `apps`.
    ReplicaSet,
    /// Of the core group.
    ReplicationController,
    /// Of the core group.
    ResourceQuota,
    /// Of `node.k8s.io`.
    RuntimeClass,
    /// Of the core group.
    ServiceAccount,
    /// Of `apps`.
    StatefulSet,
    /// Of Kueue.
    Workload,
}

impl NeighborKind {
    /// Returns the kind of a name and an API group; without a group, by the name alone where that is certain.
    pub fn of(name: &str, group: Option<&str>) -> Option<Self> {
        let kind: Self = name.parse().ok()?;
        let is_plain = !matches!(kind, Self::PodGroup | Self::Workload);
        group.map_or(is_plain, |group| kind.groups().contains(&group)).then_some(kind)
    }

    /// Returns the API groups that have the kind.
    pub fn groups(self) -> &'static [&'static str] {
        match self {
            Self::LimitRange | Self::ReplicationController | Self::ResourceQuota | Self::ServiceAccount => &[""],
            Self::DaemonSet | Self::Deployment | Self::ReplicaSet | Self::StatefulSet => &["apps", "extensions"],
            Self::CronJob | Self::Job => &["batch"],
            Self::HorizontalPodAutoscaler => &["autoscaling"],
            Self::ClusterQueue | Self::LocalQueue | Self::Workload => &["kueue.x-k8s.io"],
            Self::JobSet => &["jobset.x-k8s.io"],
            Self::LeaderWorkerSet => &["leaderworkerset.x-k8s.io"],
            Self::NodeClaim | Self::NodePool => &["karpenter.sh"],
            Self::PodGroup => &["scheduling.volcano.sh", "scheduling.x-k8s.io", "scheduling.sigs.k8s.io", "scheduling.run.ai"],
            Self::ProvisioningRequest => &["autoscaling.x-k8s.io"],
            Self::RuntimeClass => &["node.k8s.io"],
        }
    }

    /// Returns whether objects of the kind make pods, by themselves or through others of these kinds.
    pub fn is_owner(self) -> bool {
        matches!(
            self,
            Self::CronJob
                | Self::DaemonSet
                | Self::Deployment
                | Self::Job
                | Self::JobSet
                | Self::LeaderWorkerSet
                | Self::ReplicaSet
                | Self::ReplicationController
                | Self::StatefulSet
        )
    }

    /// Returns whether objects of the kind live in a namespace.
    pub fn namespaced(self) -> bool {
        !matches!(self, Self::ClusterQueue | Self::NodeClaim | Self::NodePool | Self::RuntimeClass)
    }

    /// Returns the resource's name in the API, such as `resourcequotas`.
    pub fn resource(self) -> String {
        self.plural().to_lowercase()
    }

    /// Returns the plural, such as `ResourceQuotas`.
    pub fn plural(self) -> String {
        if self == Self::RuntimeClass { format!("{self}es") } else { format!("{self}s") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_group_must_both_fit() {
        for (name, group, expected) in [
            ("Deployment", Some("apps"), Some(NeighborKind::Deployment)),
            ("Deployment", None, Some(NeighborKind::Deployment)),
            ("Deployment", Some("example.com"), None),
            ("Workload", Some("kueue.x-k8s.io"), Some(NeighborKind::Workload)),
            ("Workload", Some("scheduling.k8s.io"), None),
            ("Workload", None, None),
            ("PodGroup", Some("scheduling.volcano.sh"), Some(NeighborKind::PodGroup)),
            ("PodGroup", Some("scheduling.k8s.io"), None),
            ("Pod", Some(""), None),
        ] {
            assert_eq!(NeighborKind::of(name, group), expected, "{name} {group:?}");
        }
    }
}
