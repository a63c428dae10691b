//! The kinds that scheduling does not read and that explain missing pods.

use serde::Serialize;
use strum::IntoEnumIterator as _;

use crate::cluster::Kind;
use crate::cluster::kind::Scope;

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

/// A kind in the table.
struct Row {
    kind: NeighborKind,
    /// The resource's name in the API.
    resource: &'static str,
    /// kubectl's short name; empty without one.
    short: &'static str,
    /// The API groups that have the kind.
    groups: &'static [&'static str],
    scope: Scope,
}

const CORE: &[&str] = &[""];
const APPS: &[&str] = &["apps", "extensions"];
const BATCH: &[&str] = &["batch"];
const KUEUE: &[&str] = &["kueue.x-k8s.io"];
const KARPENTER: &[&str] = &["karpenter.sh"];
const POD_GROUPS: &[&str] = &["scheduling.volcano.sh", "scheduling.x-k8s.io", "scheduling.sigs.k8s.io", "scheduling.run.ai"];

const fn row(kind: NeighborKind, resource: &'static str, short: &'static str, groups: &'static [&'static str], scope: Scope) -> Row {
    Row { kind, resource, short, groups, scope }
}

/// The table, in the order of [`NeighborKind`].
static KINDS: [Row; 21] = [
    row(NeighborKind::ClusterQueue, "clusterqueues", "", KUEUE, Scope::Cluster),
    row(NeighborKind::CronJob, "cronjobs", "cj", BATCH, Scope::Namespace),
    row(NeighborKind::DaemonSet, "daemonsets", "ds", APPS, Scope::Namespace),
    row(NeighborKind::Deployment, "deployments", "deploy", APPS, Scope::Namespace),
    row(NeighborKind::HorizontalPodAutoscaler, "horizontalpodautoscalers", "hpa", &["autoscaling"], Scope::Namespace),
    row(NeighborKind::Job, "jobs", "", BATCH, Scope::Namespace),
    row(NeighborKind::JobSet, "jobsets", "", &["jobset.x-k8s.io"], Scope::Namespace),
    row(NeighborKind::LeaderWorkerSet, "leaderworkersets", "lws", &["leaderworkerset.x-k8s.io"], Scope::Namespace),
    row(NeighborKind::LimitRange, "limitranges", "limits", CORE, Scope::Namespace),
    row(NeighborKind::LocalQueue, "localqueues", "", KUEUE, Scope::Namespace),
    row(NeighborKind::NodeClaim, "nodeclaims", "", KARPENTER, Scope::Cluster),
    row(NeighborKind::NodePool, "nodepools", "", KARPENTER, Scope::Cluster),
    row(NeighborKind::PodGroup, "podgroups", "pg", POD_GROUPS, Scope::Namespace),
    row(NeighborKind::ProvisioningRequest, "provisioningrequests", "", &["autoscaling.x-k8s.io"], Scope::Namespace),
    row(NeighborKind::ReplicaSet, "replicasets", "rs", APPS, Scope::Namespace),
    row(NeighborKind::ReplicationController, "replicationcontrollers", "rc", CORE, Scope::Namespace),
    row(NeighborKind::ResourceQuota, "resourcequotas", "quota", CORE, Scope::Namespace),
    row(NeighborKind::RuntimeClass, "runtimeclasses", "", &["node.k8s.io"], Scope::Cluster),
    row(NeighborKind::ServiceAccount, "serviceaccounts", "sa", CORE, Scope::Namespace),
    row(NeighborKind::StatefulSet, "statefulsets", "sts", APPS, Scope::Namespace),
    row(NeighborKind::Workload, "workloads", "", KUEUE, Scope::Namespace),
];

impl NeighborKind {
    fn row(self) -> &'static Row {
        &KINDS[self as usize]
    }

    /// Returns the kind of a name and an API group; without a group, by the name alone where that is certain.
    pub fn of(name: &str, group: Option<&str>) -> Option<Self> {
        let kind: Self = name.parse().ok()?;
        let is_plain = !matches!(kind, Self::PodGroup | Self::Workload);
        group.map_or(is_plain, |group| kind.groups().contains(&group)).then_some(kind)
    }

    /// Returns the kind as which a kind that scheduling reads explains missing pods, if it is one.
    pub fn of_model(kind: Kind) -> Option<Self> {
        Self::of(kind.into(), Some(kind.group()))
    }

    /// Returns whether scheduling reads objects of the kind too.
    pub fn is_in_model(self) -> bool {
        Kind::iter().any(|kind| Self::of_model(kind) == Some(self))
    }

    /// Returns the kind of a word: its name or its resource's in any case, or kubectl's short name.
    pub fn named(word: &str) -> Option<Self> {
        let is_meant = |row: &&Row| [row.kind.into(), row.resource, row.short].iter().any(|name| word.eq_ignore_ascii_case(name));
        KINDS.iter().find(is_meant).filter(|_| !word.is_empty()).map(|row| row.kind)
    }

    /// Returns the API groups that have the kind.
    pub fn groups(self) -> &'static [&'static str] {
        self.row().groups
    }

    /// Returns whether every API server has the kind: it is none of a custom resource.
    pub fn is_built_in(self) -> bool {
        matches!(self.groups().first(), Some(&("" | "apps" | "autoscaling" | "batch" | "node.k8s.io")))
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

    /// Returns whether objects of the kind are workloads: they make pods, or group them.
    pub fn is_workload(self) -> bool {
        self.is_owner() || self == Self::PodGroup
    }

    /// Returns whether objects of the kind live in a namespace.
    pub fn namespaced(self) -> bool {
        self.row().scope == Scope::Namespace
    }

    /// Returns the resource's name in the API, such as `resourcequotas`.
    pub fn resource(self) -> &'static str {
        self.row().resource
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
    fn the_table_has_each_kind_once_with_names_that_fit() {
        assert_eq!(NeighborKind::iter().count(), KINDS.len());
        for kind in NeighborKind::iter() {
            assert_eq!((kind.row().kind, kind.resource()), (kind, kind.plural().to_lowercase().as_str()));
            if let Ok(same) = kind.to_string().parse::<Kind>() {
                assert_eq!((kind.resource(), kind.namespaced()), (same.resource(), same.namespaced()));
            }
        }
        for (word, expected) in
            [("sts", Some(NeighborKind::StatefulSet)), ("Deployments", Some(NeighborKind::Deployment)), ("", None), ("pod", None)]
        {
            assert_eq!(NeighborKind::named(word), expected, "{word}");
        }
        let in_model: Vec<NeighborKind> = NeighborKind::iter().filter(|kind| kind.is_in_model()).collect();
        assert_eq!(in_model, [NeighborKind::ReplicaSet, NeighborKind::ReplicationController, NeighborKind::StatefulSet]);
    }

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
