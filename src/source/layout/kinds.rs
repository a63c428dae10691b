//! Infers the kind of objects that have none from the name of their file.

use strum::IntoEnumIterator as _;

use super::Hint;
use crate::cluster::Kind;

/// A kind and its `apiVersion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) struct KindOf {
    pub(in crate::source) kind: &'static str,
    pub(in crate::source) api_version: &'static str,
}

/// The other resources that tools write files of.
const OTHERS: [(&str, KindOf); 10] = [
    ("cronjobs", KindOf { kind: "CronJob", api_version: "batch/v1" }),
    ("daemonsets", KindOf { kind: "DaemonSet", api_version: "apps/v1" }),
    ("deployments", KindOf { kind: "Deployment", api_version: "apps/v1" }),
    ("events", KindOf { kind: "Event", api_version: "v1" }),
    ("horizontalpodautoscalers", KindOf { kind: "HorizontalPodAutoscaler", api_version: "autoscaling/v2" }),
    ("jobs", KindOf { kind: "Job", api_version: "batch/v1" }),
    ("limitranges", KindOf { kind: "LimitRange", api_version: "v1" }),
    ("resourcequotas", KindOf { kind: "ResourceQuota", api_version: "v1" }),
    ("runtimeclasses", KindOf { kind: "RuntimeClass", api_version: "node.k8s.io/v1" }),
    ("serviceaccounts", KindOf { kind: "ServiceAccount", api_version: "v1" }),
];

/// Other names that tools give to resources.
const SHORT: [(&str, Kind); 3] =
    [("pdbs", Kind::PodDisruptionBudget), ("pvcs", Kind::PersistentVolumeClaim), ("pvs", Kind::PersistentVolume)];

impl KindOf {
    /// Returns the API group.
    pub(in crate::source) fn group(self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl From<Kind> for KindOf {
    fn from(kind: Kind) -> Self {
        Self { kind: kind.into(), api_version: kind.api_version() }
    }
}

/// Returns the kind of a resource: `pods`, `storage-classes`, `priorityclasses.scheduling.k8s.io`, in any case.
pub(in crate::source) fn of_resource(name: &str) -> Option<KindOf> {
    let (name, group) = name.split_once('.').unwrap_or((name, ""));
    let name = name.replace('-', "").to_ascii_lowercase();
    let short = SHORT.iter().find(|(short, _)| *short == name).map(|(_, kind)| *kind);
    // Some tools name a folder after the kind of its objects.
    let is = |resource: &str, kind: &str| resource == name || kind.eq_ignore_ascii_case(&name);
    let of_model = || Kind::iter().find(|kind| is(kind.resource(), (*kind).into()));
    let other = || OTHERS.iter().find(|(resource, other)| is(resource, other.kind)).map(|(_, other)| *other);
    let found = short.or_else(of_model).map(KindOf::from).or_else(other)?;
    (group.is_empty() || group == found.group()).then_some(found)
}

/// Returns the hint for a file of any tool: objects in `pods.json`, `pods/shop.json` and `pod/shop/web.json` that have a
/// name are pods.
pub(in crate::source) fn general_hint(path: &str) -> Hint {
    let mut parts = path.rsplit('/');
    let file = parts.next().and_then(|file| file.split('.').next()).unwrap_or_default();
    let kind = of_resource(file).or_else(|| parts.take(2).find_map(of_resource));
    Hint { kind, ..Hint::default() }
}
