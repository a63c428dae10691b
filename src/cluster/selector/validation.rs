//! Validates requirements, with errors in Kubernetes' own words.
//!
//! Mirrors `NewRequirement` in `staging/src/k8s.io/apimachinery/pkg/labels/selector.go`, the label rules of
//! `staging/src/k8s.io/apimachinery/pkg/api/validate/content/kube.go` and the texts of
//! `staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go`.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Requirement, SelectorWords};
use crate::cluster::Str;

/// The maximal length of the name part of a label key, and of a label value, in bytes.
const NAME_MAX_LENGTH: usize = 63;
/// The maximal length of the prefix of a label key, in bytes.
const SUBDOMAIN_MAX_LENGTH: usize = 253;

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  \
     or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and \
                          end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                          '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
                              and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
                              '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// The operators that a requirement may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operators {
    /// The operators of label selectors.
    Label,
    /// The operators of node selectors: also `Gt` and `Lt`.
    Node,
}

/// Returns all errors of a requirement on a label. `path` is the requirement's path and may be empty. Callers report
/// unknown operators of label selectors themselves.
pub(super) fn requirement_errors(requirement: &Requirement, operators: Operators, path: &str, words: SelectorWords) -> Vec<String> {
    let Requirement { key, operator, values } = requirement;
    let (mut errors, mut seen) = (Vec::new(), BTreeSet::new());
    let mut add = |field: &str, text: String| {
        let text = if path.is_empty() { format!("{field}: {text}") } else { format!("{path}.{field}: {text}") };
        if seen.insert(text.clone()) {
            errors.push(text);
        }
    };
    if operators == Operators::Node && !matches!(operator.as_str(), "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt") {
        let supported = r#"supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt""#;
        add("operator", format!("Unsupported value: {}: {supported}", json(&operator.as_str())));
        return errors;
    }
    if let Some(problem) = join(&key_errors(key)) {
        add("key", format!("Invalid value: {}: {problem}", quote(key)));
    }
    match operator.as_str() {
        "In" | "NotIn" if values.is_empty() => {
            let empty = list(values, words);
            add("values", format!("Invalid value: {empty}: for 'in', 'notin' operators, values set can't be empty"));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            add("values", format!("Invalid value: {}: values set must be empty for exists and does not exist", list(values, words)));
        }
        "Gt" | "Lt" => {
            if values.len() != 1 {
                add("values", format!("Invalid value: {}: for 'Gt', 'Lt' operators, exactly one value is required", list(values, words)));
            }
            for (i, value) in values.iter().enumerate().filter(|(_, v)| v.parse::<i64>().is_err()) {
                let text = format!("Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer", quote(value));
                add(&format!("values[{i}]"), text);
            }
        }
        _ => {}
    }
    for (i, value) in values.iter().enumerate() {
        if let Some(problem) = join(&value_errors(value)) {
            add(&format!("values[{i}][{key}]"), format!("Invalid value: {}: {problem}", quote(value)));
        }
    }
    errors
}

/// Whether a requirement on a label has no errors, by the rules of [`requirement_errors`].
pub(super) fn is_valid(requirement: &Requirement, operators: Operators) -> bool {
    let Requirement { key, operator, values } = requirement;
    let fits = match operator.as_str() {
        "In" | "NotIn" => !values.is_empty(),
        "Exists" | "DoesNotExist" => values.is_empty(),
        "Gt" | "Lt" => matches!(&values[..], [value] if value.parse::<i64>().is_ok()),
        _ => operators == Operators::Label,
    };
    fits && key_errors(key).is_empty() && values.are_valid()
}

/// Whether a label may have a value.
pub(super) fn is_value(value: &str) -> bool {
    value.is_empty() || (value.len() <= NAME_MAX_LENGTH && is_name(value))
}

/// Returns the first error of a requirement on a label, as a sentence. It reports the same errors as
/// [`requirement_errors`]. Mirrors `NewRequirement` of the releases before its errors had paths.
pub(super) fn requirement_error(requirement: &Requirement, operators: Operators) -> Option<String> {
    let Requirement { key, operator, values } = requirement;
    if operators == Operators::Node && !matches!(operator.as_str(), "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt") {
        return Some(format!("{} is not a valid node selector operator", quote(operator)));
    }
    if let Some(problem) = join(&key_errors(key)) {
        return Some(format!("invalid label key {}: {}", quote(key), in_characters(&problem)));
    }
    let rule = match operator.as_str() {
        "In" | "NotIn" if values.is_empty() => "for 'in', 'notin' operators, values set can't be empty",
        "Exists" | "DoesNotExist" if !values.is_empty() => "values set must be empty for exists and does not exist",
        "Gt" | "Lt" if values.len() != 1 => "for 'Gt', 'Lt' operators, exactly one value is required",
        "Gt" | "Lt" if values.iter().any(|v| v.parse::<i64>().is_err()) => "for 'Gt', 'Lt' operators, the value must be an integer",
        _ => "",
    };
    if !rule.is_empty() {
        return Some(rule.to_owned());
    }
    values.iter().find_map(|value| {
        let problem = join(&value_errors(value))?;
        Some(format!("invalid label value: {}: at key: {}: {}", quote(value), quote(key), in_characters(&problem)))
    })
}

/// Returns the first error of a requirement on a field of a node, as a sentence.
pub(super) fn field_sentence(requirement: &Requirement) -> Option<String> {
    let operator = quote(&requirement.operator);
    match requirement.operator.as_str() {
        "In" | "NotIn" if requirement.values.len() == 1 => None,
        "In" | "NotIn" => {
            Some(format!("unexpected number of value ({}) for node field selector operator {operator}", requirement.values.len()))
        }
        _ => Some(format!("{operator} is not a valid node field selector operator")),
    }
}

/// Rewrites a length limit: these releases gave it in characters.
fn in_characters(problem: &str) -> String {
    problem.replace(" bytes", " characters")
}

/// Returns the error of a requirement on a field of a node, if any.
pub(super) fn field_error(requirement: &Requirement, path: &str, words: SelectorWords) -> Option<String> {
    match requirement.operator.as_str() {
        "In" | "NotIn" if requirement.values.len() == 1 => None,
        "In" | "NotIn" => Some(format!("{path}.values: Invalid value: {}: must have one element", list(&requirement.values, words))),
        other => Some(format!(r#"{path}.operator: Unsupported value: {}: supported values: "In", "NotIn""#, json(&other))),
    }
}

/// Returns the errors of a label's key and value.
pub(super) fn label_errors(key: &str, value: &str) -> Vec<String> {
    if is_name(key) && key.len() <= NAME_MAX_LENGTH && is_value(value) {
        return Vec::new();
    }
    let requirement = Requirement { key: key.into(), operator: "In".into(), values: vec![Str::from(value)].into() };
    requirement_errors(&requirement, Operators::Label, "", SelectorWords::Paths)
}

/// Returns the errors of a label key.
pub(super) fn key_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut parts = key.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(prefix), Some(name), None) => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_string());
            } else {
                errors.extend(subdomain_errors(prefix).into_iter().map(|error| format!("prefix part {error}")));
            }
            name
        }
        (Some(name), None, _) => name,
        _ => {
            let rest = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {NAME_RULE} {rest}")];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_string());
    } else if name.len() > NAME_MAX_LENGTH {
        errors.push(format!("name part must be no more than {NAME_MAX_LENGTH} bytes"));
    }
    if !is_name(name) {
        errors.push(format!("name part {NAME_RULE}"));
    }
    errors
}

/// Returns the errors of a DNS subdomain: the name of most objects, and the prefix of a label key.
pub fn subdomain_errors(name: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if name.len() > SUBDOMAIN_MAX_LENGTH {
        errors.push(format!("must be no more than {SUBDOMAIN_MAX_LENGTH} bytes"));
    }
    if !is_subdomain(name) {
        errors.push(SUBDOMAIN_RULE.to_string());
    }
    errors
}

/// Returns the errors of a label value.
pub(super) fn value_errors(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > NAME_MAX_LENGTH {
        errors.push(format!("must be no more than {NAME_MAX_LENGTH} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        errors.push(VALUE_RULE.to_string());
    }
    errors
}

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn is_subdomain(text: &str) -> bool {
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    text.split('.').all(|label| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(alphanumeric)
            && bytes.last().is_some_and(alphanumeric)
            && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
    })
}

fn join(errors: &[String]) -> Option<String> {
    (!errors.is_empty()).then(|| errors.join("; "))
}

/// Returns a list of values as an error shows it. An API server keeps an empty list as an absent one, so kube-scheduler reads both
/// alike, and `values: []` is shown as no list.
fn list(values: &[Str], words: SelectorWords) -> String {
    match (words, values) {
        (SelectorWords::PathsAndGoLists | SelectorWords::PathsOfPodSelectors, []) => "[]string(nil)".to_string(),
        (SelectorWords::PathsAndGoLists | SelectorWords::PathsOfPodSelectors, _) => {
            let quoted: Vec<String> = values.iter().map(|value| quote(value)).collect();
            format!("[]string{{{}}}", quoted.join(", "))
        }
        (_, []) => "null".to_string(),
        (_, _) => json(&values),
    }
}

/// Returns a value as Go's JSON encoder writes it, which also escapes HTML.
fn json<T: serde::Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Returns a text as Go's `%q` prints it.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let plain = text.bytes().position(|byte| !is_plain(&byte)).unwrap_or(text.len());
    quoted.push_str(&text[..plain]);
    for c in text[plain..].chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            // Writing to a String cannot fail.
            '\0'..='\x1f' | '\x7f' => write!(quoted, "\\x{:02x}", c as u32).unwrap_or_default(),
            '\'' | ' '..='~' => quoted.push(c),
            _ if c.escape_debug().len() == 1 => quoted.push(c),
            '\u{80}'..='\u{ffff}' => write!(quoted, "\\u{:04x}", c as u32).unwrap_or_default(),
            _ => write!(quoted, "\\U{:08x}", c as u32).unwrap_or_default(),
        }
    }
    quoted.push('"');
    quoted
}
