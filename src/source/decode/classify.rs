//! Classifies objects by kind and API group, which must both match.

use crate::cluster::Kind;

/// How the loader treats a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Class {
    Model(Kind),
    /// A kind of the model in a version of another shape, which can be converted.
    Convertible(Kind),
    /// A kind of the model in a version that cannot be converted.
    OldVersion(Kind),
    /// A scheduler's configuration.
    Configuration,
    /// An Event, which may be a scheduler's about a pod; otherwise only its time counts.
    Event,
    /// Only its times are read, which show when the dump was taken.
    Clock,
    /// Never read, since its content is confidential.
    Unread,
    /// An API server's refusal of a request.
    Refusal,
    /// A list of other objects in `items`.
    List,
    /// Any other kind, which is counted.
    Other,
}

/// Classifies a version of a model kind by how its shape differs from the current one.
fn of_version(kind: Kind, group: &str, version: &str) -> Class {
    match (group, version) {
        ("resource.k8s.io", "v1" | "v1beta2") => Class::Model(kind),
        // v1beta1 has a request's fields and a device's attributes in other places.
        ("resource.k8s.io", "v1beta1") if kind != Kind::DeviceClass => Class::Convertible(kind),
        ("resource.k8s.io", "v1beta1") | ("", "v1") => Class::Model(kind),
        ("resource.k8s.io" | "", _) => Class::OldVersion(kind),
        _ if version.starts_with('v') => Class::Model(kind),
        _ => Class::OldVersion(kind),
    }
}

/// Classifies an object by its kind and `apiVersion`; without an `apiVersion`, by its kind alone.
pub(in crate::source) fn classify(kind: &str, api_version: Option<&str>) -> Class {
    // Nearly all objects.
    if kind == "Pod" && api_version == Some("v1") {
        return Class::Model(Kind::Pod);
    }
    let (found_group, version) = match api_version {
        None | Some("") => (None, "v1"),
        Some(text) => text.split_once('/').map_or((Some(""), text), |(group, version)| (Some(group), version)),
    };
    let in_group = |group: &str| found_group.is_none_or(|found| found == group);
    if let Ok(known) = kind.parse::<Kind>() {
        // ReplicaSets were in `extensions` before `apps`.
        return if in_group(known.group()) || (known == Kind::ReplicaSet && in_group("extensions")) {
            of_version(known, known.group(), version)
        } else {
            Class::Other
        };
    }
    match kind {
        "Secret" | "ConfigMap" if in_group("") => Class::Unread,
        "Event" if in_group("") || in_group("events.k8s.io") => Class::Event,
        "Lease" if in_group("coordination.k8s.io") => Class::Clock,
        "KubeSchedulerConfiguration" if in_group("kubescheduler.config.k8s.io") => Class::Configuration,
        "Scheduler" | "ClusterOperator" if found_group == Some("config.openshift.io") => Class::Configuration,
        "Status" if in_group("") => Class::Refusal,
        "List" => Class::List,
        _ if kind.ends_with("List") => Class::List,
        _ => Class::Other,
    }
}

/// Returns the kind of a typed list's items: `PodList` holds `Pod`s. `None` for a plain `List`.
pub(in crate::source) fn item_kind(list_kind: &str) -> Option<&str> {
    list_kind.strip_suffix("List").filter(|kind| !kind.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_group_must_both_fit() {
        for (kind, api_version, expected) in [
            ("Pod", Some("v1"), Class::Model(Kind::Pod)),
            ("Pod", None, Class::Model(Kind::Pod)),
            ("Service", Some("v1"), Class::Model(Kind::Service)),
            ("Service", Some("serving.knative.dev/v1"), Class::Other),
            ("Node", Some("metrics.k8s.io/v1"), Class::Other),
            ("PodDisruptionBudget", Some("policy/v1beta1"), Class::Model(Kind::PodDisruptionBudget)),
            ("ReplicaSet", Some("extensions/v1beta1"), Class::Model(Kind::ReplicaSet)),
            ("ResourceClaim", Some("resource.k8s.io/v1alpha3"), Class::OldVersion(Kind::ResourceClaim)),
            ("ResourceClaim", Some("resource.k8s.io/v1beta1"), Class::Convertible(Kind::ResourceClaim)),
            ("DeviceClass", Some("resource.k8s.io/v1beta1"), Class::Model(Kind::DeviceClass)),
            ("CSINode", Some("storage.k8s.io/v1beta1"), Class::Model(Kind::CSINode)),
            ("CSIStorageCapacity", Some("storage.k8s.io/v1beta1"), Class::Model(Kind::CSIStorageCapacity)),
            ("PriorityClass", Some("scheduling.k8s.io/v1beta1"), Class::Model(Kind::PriorityClass)),
            ("KubeSchedulerConfiguration", Some("kubescheduler.config.k8s.io/v1"), Class::Configuration),
            ("Scheduler", Some("config.openshift.io/v1"), Class::Configuration),
            ("Scheduler", None, Class::Other),
            ("ResourceClaim", Some("resource.k8s.io/v1beta2"), Class::Model(Kind::ResourceClaim)),
            ("Secret", Some("v1"), Class::Unread),
            ("Event", Some("events.k8s.io/v1"), Class::Event),
            ("Lease", Some("coordination.k8s.io/v1"), Class::Clock),
            ("Status", Some("v1"), Class::Refusal),
            ("PodList", Some("v1"), Class::List),
            ("Deployment", Some("apps/v1"), Class::Other),
        ] {
            assert_eq!(classify(kind, api_version), expected, "{kind} {api_version:?}");
        }
        assert_eq!((item_kind("PodList"), item_kind("List"), item_kind("Pod")), (Some("Pod"), None, None));
    }
}
