//! Label selectors and node selectors.
//!
//! Mirrors `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go` (`LabelSelectorAsSelector`),
//! `pkg/labels/selector.go` and `staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use serde::{Deserialize, Serialize};

use super::{Labels, List, Str};

/// `metav1.LabelSelector`, as written. A selector that is absent (`None` where the API has a pointer) matches
/// nothing; one without requirements matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub match_labels: Labels,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub match_expressions: List<Requirement>,
}

/// One requirement on one label or field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Requirement {
    pub key: Str,
    pub operator: Str,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub values: List<Str>,
}

/// Why a selector cannot be used; the text is Kubernetes' own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(pub String);

impl LabelSelector {
    /// True when there is no requirement, so that everything matches.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether `labels` satisfy every requirement. An invalid requirement matches nothing; ask [`Self::validate`].
    pub fn matches(&self, labels: &Labels) -> bool {
        self.match_labels.iter().all(|(k, v)| labels.get(k) == Some(v)) && self.match_expressions.iter().all(|r| r.matches_label(labels))
    }

    /// The first thing wrong with the selector, as `LabelSelectorAsSelector` words it.
    pub fn validate(&self) -> Result<(), SelectorError> {
        self.match_expressions.iter().try_for_each(|r| match r.operator.as_str() {
            "In" | "NotIn" if r.values.is_empty() => {
                Err(SelectorError("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty".into()))
            }
            "Exists" | "DoesNotExist" if !r.values.is_empty() => {
                Err(SelectorError("values: Invalid value: values set must be empty for exists and does not exist".into()))
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => Ok(()),
            other => Err(SelectorError(format!("{other:?} is not a valid label selector operator"))),
        })
    }
}

impl Requirement {
    /// Label selector semantics: `NotIn` and `DoesNotExist` hold where the key is absent.
    pub fn matches_label(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        match self.operator.as_str() {
            "In" => value.is_some_and(|v| self.values.contains(v)),
            "NotIn" => value.is_none_or(|v| !self.values.contains(v)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    }

    /// Node selector semantics: as labels, and `Gt`, `Lt` on base-10 integers.
    fn matches_node_label(&self, labels: &Labels) -> bool {
        match self.operator.as_str() {
            "Gt" | "Lt" => {
                let (Some(value), Some(bound)) = (labels.get(&self.key), self.values.first()) else { return false };
                let (Ok(value), Ok(bound)) = (value.parse::<i64>(), bound.parse::<i64>()) else { return false };
                if self.operator == "Gt" { value > bound } else { value < bound }
            }
            _ => self.matches_label(labels),
        }
    }

    fn node_expression_error(&self) -> Option<String> {
        if !is_label_key(&self.key) {
            return Some(format!("key: Invalid value: {:?}: not a label key", self.key));
        }
        if let Some(value) = self.values.iter().find(|v| !is_label_value(v)) {
            return Some(format!("values: Invalid value: {value:?}: not a label value"));
        }
        match self.operator.as_str() {
            "In" | "NotIn" if self.values.is_empty() => {
                Some("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty".into())
            }
            "Exists" | "DoesNotExist" if !self.values.is_empty() => {
                Some("values: Invalid value: values set must be empty for exists and does not exist".into())
            }
            "Gt" | "Lt" if self.values.len() != 1 => {
                Some("values: Invalid value: for 'Gt', 'Lt' operators, exactly one value is required".into())
            }
            "Gt" | "Lt" if self.values[0].parse::<i64>().is_err() => {
                Some("values[0]: Invalid value: for 'Gt', 'Lt' operators, the value must be an integer".into())
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => None,
            other => Some(format!("{other:?} is not a valid node selector operator")),
        }
    }

    fn field_error(&self) -> Option<String> {
        match self.operator.as_str() {
            "In" | "NotIn" if self.values.len() != 1 => Some("values: Invalid value: must have one element".to_string()),
            "In" | "NotIn" => None,
            other => Some(format!("{other:?} is not a valid node selector operator")),
        }
    }
}

/// Mirrors `IsQualifiedName` in `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go`: an optional DNS
/// subdomain, a slash and a name.
fn is_label_key(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let subdomain = |prefix: &str| {
        prefix.len() <= 253
            && prefix.split('.').all(|label| {
                label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                    && !label.is_empty()
                    && !label.starts_with('-')
                    && !label.ends_with('-')
            })
    };
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(subdomain)
}

/// Mirrors `IsValidLabelValue` there: empty, or at most 63 of letters, digits, `-`, `_` and `.`, with a letter or digit
/// at either end.
fn is_label_value(value: &str) -> bool {
    let (Some(first), Some(last)) = (value.bytes().next(), value.bytes().last()) else { return true };
    value.len() <= 63
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// `core/v1.NodeSelector`: terms are alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    pub node_selector_terms: List<NodeSelectorTerm>,
}

/// `core/v1.NodeSelectorTerm`: everything in it must hold; a term with nothing in it matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    #[serde(skip_serializing_if = "List::is_empty")]
    pub match_expressions: List<Requirement>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub match_fields: List<Requirement>,
}

impl NodeSelector {
    /// Whether any term matches. `name` is the node's name for `matchFields`; `None` leaves fields unknown, so that a
    /// term that asks for one compares with the empty name. Terms that do not parse match nothing.
    pub fn matches(&self, labels: &Labels, name: Option<&Str>) -> bool {
        self.node_selector_terms.iter().any(|t| t.matches(labels, name))
    }
}

impl NodeSelectorTerm {
    /// True when the term has neither expressions nor fields.
    pub fn is_empty(&self) -> bool {
        self.match_expressions.is_empty() && self.match_fields.is_empty()
    }

    /// What keeps the term from being used, if anything.
    pub fn error(&self) -> Option<SelectorError> {
        let expressions = self.match_expressions.iter().filter_map(Requirement::node_expression_error);
        let fields = self.match_fields.iter().filter_map(Requirement::field_error);
        expressions.chain(fields).next().map(SelectorError)
    }

    /// Whether the term matches; see [`NodeSelector::matches`].
    pub fn matches(&self, labels: &Labels, name: Option<&Str>) -> bool {
        !self.is_empty() && self.error().is_none() && self.matches_parsed(labels, name)
    }

    /// Whether a term matches that is known not to be empty and to have no [error](Self::error), for callers that ask
    /// about many nodes.
    pub fn matches_parsed(&self, labels: &Labels, name: Option<&Str>) -> bool {
        let fields = |r: &Requirement| {
            let actual = match r.key.as_str() {
                "metadata.name" => name.map_or("", |n| n.as_str()),
                _ => "",
            };
            (r.operator == "In") == r.values.first().is_some_and(|v| *v == actual)
        };
        self.match_expressions.iter().all(|r| r.matches_node_label(labels))
            && (self.match_fields.is_empty() || name.is_none() || self.match_fields.iter().all(fields))
    }
}

/// `core/v1.TopologySelectorTerm`, of a StorageClass' `allowedTopologies`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySelectorTerm {
    pub match_label_expressions: List<TopologySelectorLabelRequirement>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySelectorLabelRequirement {
    pub key: Str,
    pub values: List<Str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_selector_terms_match_or_are_in_error() {
        let labels: Labels = [("a", "1"), ("example.com/n", "7")].into_iter().map(|(k, v)| (k, Str::from(v))).collect();
        let long = "x".repeat(64);
        // (expression or field, matches, in error)
        for (field, key, operator, values, matches, error) in [
            (false, "a", "In", vec!["1"], true, false),
            (false, "a", "In", vec!["2"], false, false),
            (false, "b", "NotIn", vec!["2"], true, false),
            (false, "example.com/n", "Gt", vec!["6"], true, false),
            (false, "example.com/n", "Lt", vec!["7"], false, false),
            (false, "example.com/n", "Gt", vec!["x"], false, true),
            (false, "a", "In", vec![], false, true),
            (false, "a", "Exists", vec!["1"], false, true),
            (false, "a", "Like", vec!["1"], false, true),
            (false, "a", "NotIn", vec!["not valid"], false, true),
            (false, "a", "NotIn", vec![long.as_str()], false, true),
            (false, "a", "NotIn", vec![""], true, false),
            (false, "-a", "DoesNotExist", vec![], false, true),
            (false, "UPPER/a", "DoesNotExist", vec![], false, true),
            (false, "x/y/z", "DoesNotExist", vec![], false, true),
            (false, "", "DoesNotExist", vec![], false, true),
            (false, "x.y/z", "DoesNotExist", vec![], true, false),
            (true, "metadata.name", "In", vec!["n1"], true, false),
            (true, "metadata.name", "NotIn", vec!["n1"], false, false),
            (true, "metadata.uid", "NotIn", vec!["n1"], true, false),
            (true, "metadata.name", "In", vec!["n1", "n2"], false, true),
            (true, "metadata.name", "Exists", vec![], false, true),
        ] {
            let requirement =
                Requirement { key: key.into(), operator: operator.into(), values: values.into_iter().map(Str::from).collect() };
            let list = List(vec![requirement]);
            let term = if field {
                NodeSelectorTerm { match_fields: list, ..NodeSelectorTerm::default() }
            } else {
                NodeSelectorTerm { match_expressions: list, ..NodeSelectorTerm::default() }
            };
            assert_eq!((term.matches(&labels, Some(&"n1".into())), term.error().is_some()), (matches, error), "{term:?}");
        }
        assert!(!NodeSelectorTerm::default().matches(&labels, None));
    }
}
