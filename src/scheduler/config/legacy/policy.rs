//! The policy file of kube-schedulers before v1.23, which selects predicates and priorities; mirrors `Policy` in
//! `pkg/scheduler/api/v1/types.go`.
//!
//! It is decoded as these releases do: unknown fields are ignored. Names are not checked here.

use serde::Deserialize;
use serde_json::Value;

use super::file::Extender;
use crate::framework::FieldErrors;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Policy {
    /// The predicates; `None` leaves those of the default provider.
    pub(super) predicates: Option<Vec<PredicatePolicy>>,
    /// The priorities; `None` leaves those of the default provider.
    pub(super) priorities: Option<Vec<PriorityPolicy>>,
    #[serde(alias = "extenderConfigs", deserialize_with = "null_as_default")]
    pub(super) extenders: Vec<Extender>,
    /// Weight of required affinity terms of other pods; 0 leaves the default.
    pub(super) hard_pod_affinity_symmetric_weight: i32,
    /// Whether all predicates run on a node, even after one fails.
    pub(super) always_check_all_predicates: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PredicatePolicy {
    /// Its name; arbitrary with an argument.
    pub(super) name: String,
    /// Makes it a custom predicate.
    pub(super) argument: Option<PredicateArgument>,
}

/// The argument of a predicate; exactly one is given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PredicateArgument {
    pub(super) service_affinity: Option<Value>,
    pub(super) labels_presence: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PriorityPolicy {
    /// Its name; arbitrary with an argument.
    pub(super) name: String,
    /// Its weight, above 0.
    pub(super) weight: i64,
    /// Makes it a custom priority.
    pub(super) argument: Option<PriorityArgument>,
}

/// The argument of a priority; exactly one is given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PriorityArgument {
    pub(super) service_anti_affinity: Option<Value>,
    pub(super) label_preference: Option<Value>,
    pub(super) requested_to_capacity_ratio_arguments: Option<Value>,
}

fn null_as_default<'de, T: Default + Deserialize<'de>, D: serde::Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl Policy {
    /// Returns whether an object is a policy.
    pub(super) fn is_kind_of(value: &Value) -> bool {
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        text("kind") == "Policy" && matches!(text("apiVersion"), "v1" | "")
    }

    /// Reads a policy.
    ///
    /// Returns the fields with wrong types, and the violations of `ValidatePolicy` in
    /// `pkg/scheduler/api/validation/validation.go`: invalid weights and more than one binding extender.
    pub(super) fn decode(value: Value) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let policy = match Self::deserialize(value) {
            Ok(policy) => policy,
            Err(error) => {
                errors.add("", error.to_string());
                return Err(errors);
            }
        };
        for (i, priority) in policy.priorities.iter().flatten().enumerate() {
            if !(1..i64::MAX / 10).contains(&priority.weight) {
                let name = &priority.name;
                let message = format!("Priority {name} should have a positive weight applied to it or it has overflown");
                errors.add(format!("priorities[{i}].weight"), message);
            }
        }
        let binders = policy.extenders.iter().filter(|e| !e.bind_verb.is_empty()).count();
        for (i, extender) in policy.extenders.iter().enumerate() {
            if !extender.prioritize_verb.is_empty() && extender.weight <= 0 {
                let message = format!("Priority for extender {} should have a positive weight applied to it", extender.url_prefix);
                errors.add(format!("extenders[{i}].weight"), message);
            }
        }
        if binders > 1 {
            errors.add("extenders", format!("Only one extender can implement bind, found {binders}"));
        }
        errors.into_result().map(|()| policy)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_policy_is_read_with_what_is_not_known_passed_over() {
        let value = json!({"kind": "Policy", "apiVersion": "v1", "unknown": 1, "alwaysCheckAllPredicates": true, "extenders": null,
            "predicates": [{"name": "Rack", "argument": {"labelsPresence": {"labels": ["rack"], "presence": true}}}],
            "priorities": [{"name": "LeastRequestedPriority", "weight": 2}]});
        assert!(Policy::is_kind_of(&value) && !Policy::is_kind_of(&json!({"kind": "Pod"})));
        let policy = Policy::decode(value).unwrap();
        assert!(policy.always_check_all_predicates && policy.extenders.is_empty());
        assert_eq!(policy.predicates.unwrap()[0].name, "Rack");
        assert_eq!(policy.priorities.unwrap()[0].weight, 2);
        let absent = Policy::decode(json!({"kind": "Policy"})).unwrap();
        assert!(absent.predicates.is_none() && absent.priorities.is_none());
    }

    #[test]
    fn weights_and_binding_extenders_are_checked() {
        let refused = |value| Policy::decode(value).unwrap_err().to_string();
        let text = refused(json!({"priorities": [{"name": "A"}]}));
        assert_eq!(text, "priorities[0].weight: Priority A should have a positive weight applied to it or it has overflown");
        let extender = json!({"urlPrefix": "http://e", "prioritizeVerb": "p", "bindVerb": "b"});
        let text = refused(json!({"extenders": [extender, {"bindVerb": "b"}]}));
        assert!(text.contains("Priority for extender http://e should have a positive weight applied to it"), "{text}");
        assert!(text.contains("Only one extender can implement bind, found 2"), "{text}");
        assert!(refused(json!({"priorities": 3})).contains("invalid type"));
    }
}
