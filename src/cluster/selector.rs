//! Label selectors and node selectors.
//!
//! Mirrors `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go` (`LabelSelectorAsSelector`),
//! `pkg/labels/selector.go` and `staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

mod prepared;
mod validation;
mod values;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Labels, List, Str};
use crate::limits::engine::SELECTOR_ERRORS;
pub use prepared::PreparedTerms;
use validation::Operators;
pub use validation::subdomain_errors;
pub use values::Values;

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
    #[serde(skip_serializing_if = "<[Str]>::is_empty")]
    pub values: Values,
}

/// Why a selector is invalid, in Kubernetes' own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(pub String);

/// The wording of selector errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectorWords {
    /// All errors, each with the path of the invalid field.
    #[default]
    Paths,
    /// The same, with lists as Go writes them.
    PathsAndGoLists,
    /// The same, and label selectors with an unknown operator are called pod selectors.
    PathsOfPodSelectors,
    /// The first error, as a sentence.
    Sentences,
}

fn unknown_operator(operator: &str, words: SelectorWords) -> String {
    let selector = match words {
        SelectorWords::Paths | SelectorWords::PathsAndGoLists => "label",
        SelectorWords::PathsOfPodSelectors | SelectorWords::Sentences => "pod",
    };
    format!("{} is not a valid {selector} selector operator", validation::quote(operator))
}

impl LabelSelector {
    /// Returns whether there is no requirement. Such a selector matches everything.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Returns whether `labels` satisfy every requirement. A requirement with an unknown operator matches nothing.
    /// Malformed keys and values are reported by [`Self::validate`] only.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.match_labels.iter().all(|(k, v)| labels.get(k) == Some(v)) && self.match_expressions.iter().all(|r| r.matches_label(labels))
    }

    /// Returns the first error, worded as by `LabelSelectorAsSelector`. `matchLabels` are checked in key order.
    pub fn validate(&self) -> Result<(), SelectorError> {
        self.validate_with_paths(SelectorWords::Paths)
    }

    fn validate_with_paths(&self, words: SelectorWords) -> Result<(), SelectorError> {
        for (key, value) in self.match_labels.iter() {
            SelectorError::aggregate(validation::label_errors(key, value)).map_or(Ok(()), Err)?;
        }
        self.match_expressions.iter().try_for_each(|r| match r.operator.as_str() {
            "In" | "NotIn" | "Exists" | "DoesNotExist" if validation::is_valid(r, Operators::Label) => Ok(()),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {
                SelectorError::aggregate(validation::requirement_errors(r, Operators::Label, "", words)).map_or(Ok(()), Err)
            }
            other => Err(SelectorError(unknown_operator(other, words))),
        })
    }

    /// Returns the same as [`Self::validate`], in the given wording.
    pub fn validate_in(&self, words: SelectorWords) -> Result<(), SelectorError> {
        if words != SelectorWords::Sentences || self.validate().is_ok() {
            return self.validate_with_paths(words);
        }
        let label = |(key, value): (&Str, &Str)| {
            let requirement = Requirement { key: key.clone(), operator: "In".into(), values: vec![value.clone()].into() };
            validation::requirement_error(&requirement, Operators::Label)
        };
        let expression = |r: &Requirement| match r.operator.as_str() {
            "In" | "NotIn" | "Exists" | "DoesNotExist" => validation::requirement_error(r, Operators::Label),
            other => Some(unknown_operator(other, words)),
        };
        let mut errors = self.match_labels.iter().filter_map(label).chain(self.match_expressions.iter().filter_map(expression));
        errors.next().map_or(Ok(()), |error| Err(SelectorError(error)))
    }

    /// Returns the errors of a label key; empty if it is valid.
    pub fn key_errors(key: &str) -> Vec<String> {
        validation::key_errors(key)
    }

    /// Returns the errors of a label value; empty if it is valid.
    pub fn value_errors(value: &str) -> Vec<String> {
        validation::value_errors(value)
    }
}

impl SelectorError {
    /// Joins errors into one, each text once; `None` if there are none. Of very many the first are named. Mirrors `NewAggregate` in
    /// `staging/src/k8s.io/apimachinery/pkg/util/errors/errors.go`.
    pub fn aggregate(errors: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut known: HashSet<String> = HashSet::new();
        let mut each: Vec<String> = errors.into_iter().filter(|error| known.insert(error.clone())).collect();
        if each.len() > SELECTOR_ERRORS {
            let more = each.len() - SELECTOR_ERRORS;
            each.truncate(SELECTOR_ERRORS);
            each.push(format!("and {more} more"));
        }
        match each.len() {
            0 => None,
            1 => each.pop().map(Self),
            _ => Some(Self(format!("[{}]", each.join(", ")))),
        }
    }
}

impl Requirement {
    /// Evaluates with label selector semantics: `NotIn` and `DoesNotExist` hold if the key is absent.
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

    /// Evaluates with node selector semantics: as labels, plus `Gt` and `Lt` on base-10 integers.
    pub fn matches_node_label(&self, labels: &Labels) -> bool {
        match self.operator.as_str() {
            "Gt" | "Lt" => {
                let (Some(value), Some(bound)) = (labels.get(&self.key), self.values.first()) else { return false };
                let (Ok(value), Ok(bound)) = (value.parse::<i64>(), bound.parse::<i64>()) else { return false };
                if self.operator == "Gt" { value > bound } else { value < bound }
            }
            _ => self.matches_label(labels),
        }
    }

    /// Evaluates as a requirement on the fields of a node, which have its name only; see [`NodeSelector::matches`].
    pub fn matches_node_field(&self, name: Option<&Str>) -> bool {
        let actual = match self.key.as_str() {
            "metadata.name" => name.map_or("", |n| n.as_str()),
            _ => "",
        };
        match (self.operator.as_str(), &self.values[..]) {
            ("In", [value]) => name.is_none() || *value == actual,
            ("NotIn", [value]) => name.is_none() || *value != actual,
            _ => false,
        }
    }
}

/// `core/v1.NodeSelector`: terms are alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    pub node_selector_terms: List<NodeSelectorTerm>,
}

/// `core/v1.NodeSelectorTerm`: all requirements must hold; an empty term matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    #[serde(skip_serializing_if = "List::is_empty")]
    pub match_expressions: List<Requirement>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub match_fields: List<Requirement>,
}

impl NodeSelector {
    /// Returns whether any term matches. `name` is the node's name for `matchFields`; if it is `None`, well-formed
    /// requirements on fields hold. Terms that do not parse match nothing.
    pub fn matches(&self, labels: &Labels, name: Option<&Str>) -> bool {
        self.node_selector_terms.iter().any(|t| t.matches(labels, name))
    }
}

impl NodeSelectorTerm {
    /// Returns whether the term has neither expressions nor fields.
    pub fn is_empty(&self) -> bool {
        self.match_expressions.is_empty() && self.match_fields.is_empty()
    }

    /// Returns why the term is invalid, with paths relative to the term; `None` if it is valid.
    pub fn error(&self) -> Option<SelectorError> {
        SelectorError::aggregate(self.errors(""))
    }

    /// Returns whether the term has no [error](Self::error).
    pub fn is_valid(&self) -> bool {
        self.has_valid_labels() && self.match_fields.iter().all(|requirement| validation::field_sentence(requirement).is_none())
    }

    /// Returns all errors of the term. `path` is the term's own path, such as `nodeSelectorTerms[0]`, and may be empty.
    pub fn errors(&self, path: &str) -> Vec<String> {
        self.errors_with_paths(path, SelectorWords::Paths)
    }

    fn errors_with_paths(&self, path: &str, words: SelectorWords) -> Vec<String> {
        let dot = if path.is_empty() { "" } else { "." };
        let expressions = self.match_expressions.iter().enumerate();
        let fields = self.match_fields.iter().enumerate();
        // Paths are written for the few requirements that have errors.
        expressions
            .filter(|(_, r)| !validation::is_valid(r, Operators::Node))
            .flat_map(|(i, r)| validation::requirement_errors(r, Operators::Node, &format!("{path}{dot}matchExpressions[{i}]"), words))
            .chain(fields.filter_map(|(i, r)| validation::field_error(r, &format!("{path}{dot}matchFields[{i}]"), words)))
            .collect()
    }

    /// Returns the errors in the given wording; as sentences, at most one.
    pub fn errors_in(&self, path: &str, words: SelectorWords) -> Vec<String> {
        if words != SelectorWords::Sentences {
            return self.errors_with_paths(path, words);
        }
        let expressions = self.match_expressions.iter().filter_map(|r| validation::requirement_error(r, Operators::Node));
        expressions.chain(self.match_fields.iter().filter_map(validation::field_sentence)).take(1).collect()
    }

    /// Returns whether the requirements on labels have no errors.
    fn has_valid_labels(&self) -> bool {
        self.match_expressions.iter().all(|r| validation::is_valid(r, Operators::Node))
    }

    /// Returns whether the term matches; see [`NodeSelector::matches`].
    pub fn matches(&self, labels: &Labels, name: Option<&Str>) -> bool {
        // Validity is checked last: most terms already fail by the labels.
        !self.is_empty() && self.matches_parsed(labels, name) && self.has_valid_labels()
    }

    /// Returns whether a term matches that is not empty and has no [error](Self::error), for callers that match one term
    /// with many nodes.
    pub fn matches_parsed(&self, labels: &Labels, name: Option<&Str>) -> bool {
        self.match_expressions.iter().all(|r| r.matches_node_label(labels)) && self.match_fields.iter().all(|r| r.matches_node_field(name))
    }
}

/// `core/v1.TopologySelectorTerm`, of a `StorageClass`' `allowedTopologies`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySelectorTerm {
    pub match_label_expressions: List<TopologySelectorLabelRequirement>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySelectorLabelRequirement {
    pub key: Str,
    pub values: Values,
}

#[cfg(test)]
mod tests;
