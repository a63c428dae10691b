//! `scheduling.k8s.io` `PodGroup`s of `v1alpha2` to `v1beta1`, as far as scheduling reads it.

#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use serde::{Deserialize, Serialize};

use super::meta::str_empty;
use super::{Condition, List, Meta, Str};

/// Pods that are scheduled together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGroup {
    pub metadata: Meta,
    pub spec: PodGroupSpec,
    #[serde(skip_serializing_if = "PodGroupStatus::is_empty")]
    pub status: PodGroupStatus,
}

impl PodGroup {
    /// The condition that says whether the group was scheduled.
    pub const SCHEDULED: &'static str = "PodGroupScheduled";

    /// The name of that condition from `v1beta1` on.
    pub const INITIALLY_SCHEDULED: &'static str = "PodGroupInitiallyScheduled";

    /// Returns the condition that says whether the group was scheduled, under either name.
    pub fn scheduled_condition(&self) -> Option<&Condition> {
        self.condition(Self::INITIALLY_SCHEDULED).or_else(|| self.condition(Self::SCHEDULED))
    }

    /// How many members must find a place before any is bound; `None` for a group without such a number.
    pub fn min_count(&self) -> Option<i32> {
        self.spec.scheduling_policy.gang.as_ref().map(|gang| gang.min_count)
    }

    /// The priority with which the group preempts, and with which it is preempted as a whole; one without counts as 0.
    pub fn priority(&self) -> i32 {
        self.spec.priority.unwrap_or(0)
    }

    /// Whether its pods are evicted all or none.
    pub fn is_disrupted_as_one(&self) -> bool {
        self.spec.disruption_mode.as_deref() == Some("PodGroup")
    }

    /// The label by whose values all members must be alike; the API allows one such constraint.
    pub fn topology_key(&self) -> Option<&Str> {
        self.spec.scheduling_constraints.as_ref()?.topology.first().map(|constraint| &constraint.key)
    }

    /// The first condition of a type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.iter().find(|c| c.kind == kind)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGroupSpec {
    pub scheduling_policy: PodGroupSchedulingPolicy,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_constraints: Option<PodGroupSchedulingConstraints>,
    /// `Pod` or `PodGroup`, as in `v1alpha2`; later versions have `{single: {}}` or `{all: {}}`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_disruption_mode")]
    pub disruption_mode: Option<Str>,
    #[serde(skip_serializing_if = "str_empty")]
    pub priority_class_name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
}

/// Reads the mode of any version.
fn read_disruption_mode<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Str>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Mode {
        Named(Str),
        Chosen {
            #[serde(default)]
            all: Option<serde::de::IgnoredAny>,
        },
    }
    Ok(Option::deserialize(deserializer)?.map(|mode| match mode {
        Mode::Named(name) => name,
        Mode::Chosen { all } => if all.is_some() { "PodGroup" } else { "Pod" }.into(),
    }))
}

/// One of the two is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGroupSchedulingPolicy {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic: Option<BasicSchedulingPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gang: Option<GangSchedulingPolicy>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BasicSchedulingPolicy {}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GangSchedulingPolicy {
    pub min_count: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGroupSchedulingConstraints {
    pub topology: List<TopologyConstraint>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologyConstraint {
    pub key: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGroupStatus {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl PodGroupStatus {
    fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_has_the_meaning_of_the_api() {
        let read = |spec: &str| -> PodGroup { serde_json::from_str(&format!(r#"{{"metadata":{{"name":"g"}},"spec":{spec}}}"#)).unwrap() };
        let bare = read(r#"{"schedulingPolicy":{"basic":{}}}"#);
        assert_eq!((bare.min_count(), bare.priority(), bare.is_disrupted_as_one(), bare.topology_key()), (None, 0, false, None));
        let full = read(
            r#"{"schedulingPolicy":{"gang":{"minCount":3}},"priority":7,"disruptionMode":"PodGroup",
                "schedulingConstraints":{"topology":[{"key":"zone"}]},"podGroupTemplateRef":{"workload":{"name":"w"}}}"#,
        );
        assert_eq!((full.min_count(), full.priority(), full.is_disrupted_as_one()), (Some(3), 7, true));
        for (mode, as_one) in [(r#"{"all":{}}"#, true), (r#"{"single":{}}"#, false), ("null", false)] {
            let later = read(&format!(r#"{{"schedulingPolicy":{{"gang":{{"minCount":2}}}},"disruptionMode":{mode}}}"#));
            assert_eq!((later.is_disrupted_as_one(), later.min_count()), (as_one, Some(2)), "{mode}");
        }
        assert_eq!(full.topology_key().map(Str::as_str), Some("zone"));
        let again: PodGroup = serde_json::from_str(&serde_json::to_string(&full).unwrap()).unwrap();
        assert_eq!(again, full);
    }
}
