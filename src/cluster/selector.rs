//! Label selectors and node selectors.
//!
//! Mirrors `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go` (`LabelSelectorAsSelector`),
//! `pkg/labels/selector.go` and `staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

mod validation;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Labels, List, Str};
use validation::Operators;

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
}

impl SelectorError {
    /// Joins errors into one, each text once; `None` if there are none. Mirrors `NewAggregate` in
    /// `staging/src/k8s.io/apimachinery/pkg/util/errors/errors.go`.
    pub fn aggregate(errors: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut known: HashSet<String> = HashSet::new();
        let mut each: Vec<String> = errors.into_iter().filter(|error| known.insert(error.clone())).collect();
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
        match (self.operator.as_str(), self.values.as_slice()) {
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

    /// Returns all errors of the term. `path` is the term's own path, such as `nodeSelectorTerms[0]`, and may be empty.
    pub fn errors(&self, path: &str) -> Vec<String> {
        self.errors_with_paths(path, SelectorWords::Paths)
    }

    fn errors_with_paths(&self, path: &str, words: SelectorWords) -> Vec<String> {
        let dot = if path.is_empty() { "" } else { "." };
        let expressions = self.match_expressions.iter().enumerate();
        let fields = self.match_fields.iter().enumerate();
        expressions
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

    fn is_valid(&self) -> bool {
        self.match_expressions.iter().all(|r| validation::requirement_errors(r, Operators::Node, "", SelectorWords::Paths).is_empty())
    }

    /// Returns whether the term matches; see [`NodeSelector::matches`].
    pub fn matches(&self, labels: &Labels, name: Option<&Str>) -> bool {
        // Validity is checked last: most terms already fail by the labels.
        !self.is_empty() && self.matches_parsed(labels, name) && self.is_valid()
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
    pub values: List<Str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label_selector(json: &str) -> LabelSelector {
        serde_json::from_str(json).unwrap()
    }

    fn labels(json: &str) -> Labels {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn label_selectors_match_by_every_requirement() {
        let check = |selector: &str, text: &str, expected: bool| {
            assert_eq!(label_selector(selector).matches(&labels(text)), expected, "{selector} on {text}");
        };
        check("{}", "{}", true);
        check(r#"{"matchLabels":{"a":"1","b":"2"}}"#, r#"{"a":"1","b":"2"}"#, true);
        check(r#"{"matchLabels":{"a":"1","b":"2"}}"#, r#"{"a":"1"}"#, false);
        for (operator, values, present, other, absent) in [
            ("In", r#"["1"]"#, true, false, false),
            ("NotIn", r#"["1"]"#, false, true, true),
            ("Exists", "[]", true, true, false),
            ("DoesNotExist", "[]", false, false, true),
            ("Near", "[]", false, false, false),
        ] {
            let selector = format!(r#"{{"matchExpressions":[{{"key":"a","operator":"{operator}","values":{values}}}]}}"#);
            check(&selector, r#"{"a":"1"}"#, present);
            check(&selector, r#"{"a":"2"}"#, other);
            check(&selector, "{}", absent);
        }
    }

    #[test]
    fn label_selector_errors_are_worded_as_upstream() {
        let check = |selector: &str, expected: &str| {
            let error = label_selector(selector).validate().map_or_else(|e| e.0, |()| String::new());
            assert_eq!(error, expected, "{selector}");
        };
        check(r#"{"matchLabels":{"example.com/a":"","b":"x_1"}}"#, "");
        check(
            r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#,
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        );
        check(
            r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["x","y"]}]}"#,
            r#"values: Invalid value: ["x","y"]: values set must be empty for exists and does not exist"#,
        );
        check(r#"{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}"#, r#""Gt" is not a valid label selector operator"#);
        let name = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
                    (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
        check(r#"{"matchLabels":{"":"x"}}"#, &format!(r#"key: Invalid value: "": name part must be non-empty; name part {name}"#));
        check(
            r#"{"matchLabels":{"a/b/c":""}}"#,
            &format!(
                r#"key: Invalid value: "a/b/c": a valid label key {name} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"#
            ),
        );
        check(r#"{"matchLabels":{"/c":""}}"#, r#"key: Invalid value: "/c": prefix part must be non-empty"#);
        let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                     with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
        check(
            r#"{"matchExpressions":[{"key":"a","operator":"In","values":["b c","-"]}]}"#,
            &format!(r#"[values[0][a]: Invalid value: "b c": {value}, values[1][a]: Invalid value: "-": {value}]"#),
        );
        let long = "x".repeat(64);
        check(
            &format!(r#"{{"matchLabels":{{"a":"{long}"}}}}"#),
            &format!(r#"values[0][a]: Invalid value: "{long}": must be no more than 63 bytes"#),
        );
        check(
            &format!(r#"{{"matchLabels":{{"A/{long}":""}}}}"#),
            &format!(
                r#"key: Invalid value: "A/{long}": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'); name part must be no more than 63 bytes"#
            ),
        );
        check(
            &format!(r#"{{"matchLabels":{{"{}/a":""}}}}"#, "x".repeat(254)),
            &format!(r#"key: Invalid value: "{}/a": prefix part must be no more than 253 bytes"#, "x".repeat(254)),
        );
    }

    #[test]
    fn node_terms_match_only_where_they_are_valid() {
        let node = (labels(r#"{"n":"5","z":"a"}"#), Str::from("node-1"));
        let check = |term: &str, matches: bool, error: &str| {
            let term: NodeSelectorTerm = serde_json::from_str(term).unwrap();
            assert_eq!(term.matches(&node.0, Some(&node.1)), matches, "{term:?}");
            assert_eq!(term.error().map_or(String::new(), |e| e.0), error, "{term:?}");
        };
        let expression =
            |operator: &str, values: &str| format!(r#"{{"matchExpressions":[{{"key":"n","operator":"{operator}","values":{values}}}]}}"#);
        check("{}", false, "");
        check(&expression("Gt", r#"["4"]"#), true, "");
        check(&expression("Lt", r#"["5"]"#), false, "");
        check(
            &expression("Gt", r#"["-4"]"#),
            false,
            &validation::requirement_errors(
                &Requirement { key: "n".into(), operator: "In".into(), values: vec!["-4".into()].into() },
                Operators::Node,
                "matchExpressions[0]",
                SelectorWords::Paths,
            )[0],
        );
        check(
            &expression("Gt", r#"["x"]"#),
            false,
            r#"matchExpressions[0].values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer"#,
        );
        check(
            &expression("Lt", "[]"),
            false,
            "matchExpressions[0].values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required",
        );
        check(
            &expression("Same", "[]"),
            false,
            r#"matchExpressions[0].operator: Unsupported value: "Same": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt""#,
        );
        let field = |operator: &str, values: &str| {
            format!(r#"{{"matchFields":[{{"key":"metadata.name","operator":"{operator}","values":{values}}}]}}"#)
        };
        check(&field("In", r#"["node-1"]"#), true, "");
        check(&field("In", r#"["node-2"]"#), false, "");
        check(&field("NotIn", r#"["node-1"]"#), false, "");
        check(&field("NotIn", r#"["node-2"]"#), true, "");
        check(&field("In", r#"["a","b"]"#), false, r#"matchFields[0].values: Invalid value: ["a","b"]: must have one element"#);
        check(&field("Exists", "[]"), false, r#"matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn""#);
    }

    #[test]
    fn earlier_releases_write_lists_as_go_does() {
        let go = SelectorWords::PathsAndGoLists;
        let label = |text: &str| serde_json::from_str::<LabelSelector>(text).unwrap().validate_in(go).unwrap_err().0;
        let empty = "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty";
        assert_eq!(label(r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#), empty);
        let two = r#"values: Invalid value: []string{"x", "y"}: values set must be empty for exists and does not exist"#;
        assert_eq!(label(r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["x","y"]}]}"#), two);
        let term: NodeSelectorTerm =
            serde_json::from_str(r#"{"matchFields":[{"key":"metadata.name","operator":"In","values":["a","b"]}]}"#).unwrap();
        assert_eq!(term.errors_in("", go), [r#"matchFields[0].values: Invalid value: []string{"a", "b"}: must have one element"#]);
    }

    #[test]
    fn quoting_is_that_of_go() {
        assert_eq!(validation::quote("a\"\\\n\x01\u{7f}é\u{200b}\u{e0001}'"), r#""a\"\\\n\x01\x7fé\u200b\U000e0001'""#);
    }

    #[test]
    fn aggregates_say_each_thing_once() {
        let aggregate = |list: &[&str]| SelectorError::aggregate(list.iter().map(ToString::to_string)).map(|e| e.0);
        assert_eq!(aggregate(&[]), None);
        assert_eq!(aggregate(&["a", "a"]), Some("a".into()));
        assert_eq!(aggregate(&["a", "b", "a"]), Some("[a, b]".into()));
    }

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
