//! Validation errors of configuration fields, in Kubernetes' words; mirrors
//! `staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go`.

use std::collections::HashSet;
use std::fmt::{self, Display};

use serde::Serialize;

use crate::limits::engine::CONFIG_ERRORS;

/// A validation error of one field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldError {
    /// The path of the field, such as `profiles[0].plugins.score.enabled[1]`.
    pub path: String,
    /// The error text without the path.
    pub message: String,
}

impl Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

/// Validation errors in the order found. Displays each distinct error on its own line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(pub Vec<FieldError>);

impl Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.distinct().enumerate() {
            write!(f, "{}{error}", if i > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for FieldErrors {}

impl FieldErrors {
    /// Returns each distinct error once, in the order found.
    pub fn distinct(&self) -> impl Iterator<Item = &FieldError> {
        let mut seen = HashSet::new();
        self.0.iter().filter(move |error| seen.insert(*error))
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an error with a given message, unless too many are listed.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        match self.0.len() {
            CONFIG_ERRORS => self.0.push(FieldError { path: String::new(), message: "further errors are not listed".to_owned() }),
            listed if listed < CONFIG_ERRORS => self.0.push(FieldError { path: path.into(), message: message.into() }),
            _ => {}
        }
    }

    /// Adds `field.Invalid`; the value is shown as JSON.
    pub fn invalid(&mut self, path: impl Into<String>, value: &impl Serialize, detail: impl Display) {
        self.add(path, format!("Invalid value: {}: {detail}", json(value)));
    }

    /// Adds `field.Duplicate`; the value is shown as JSON.
    pub fn duplicate(&mut self, path: impl Into<String>, value: &impl Serialize) {
        self.add(path, format!("Duplicate value: {}", json(value)));
    }

    /// Adds `field.NotSupported`.
    pub fn unsupported(&mut self, path: impl Into<String>, value: &str, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(json).collect();
        self.add(path, format!("Unsupported value: {}: supported values: {}", json(&value), supported.join(", ")));
    }

    /// Adds `field.Required`; the detail may be empty.
    pub fn required(&mut self, path: impl Into<String>, detail: &str) {
        self.add(path, if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") });
    }

    /// Adds `field.Forbidden`.
    pub fn forbidden(&mut self, path: impl Into<String>, detail: &str) {
        self.add(path, format!("Forbidden: {detail}"));
    }

    /// Adds errors whose paths are relative to `path`.
    pub fn extend_at(&mut self, path: &str, errors: Self) {
        for FieldError { path: rest, message } in errors.0 {
            let dot = if rest.is_empty() || rest.starts_with('[') || path.is_empty() { "" } else { "." };
            self.add(format!("{path}{dot}{rest}"), message);
        }
    }

    /// Returns `Ok` if there are no errors.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

/// Writes a value as JSON, or `null` if it has no JSON form.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_those_of_kubernetes() {
        let mut errors = FieldErrors::default();
        assert_eq!(errors.clone().into_result(), Ok(()));
        errors.invalid("a", &-1, "not in valid range [0, 100]");
        errors.invalid("b", &"x/y", "no");
        errors.duplicate("c[1]", &"x");
        errors.unsupported("d", "z", &["A", "B"]);
        errors.required("e", "");
        errors.required("f", "say something");
        errors.forbidden("g", "not here");
        errors.invalid("a", &-1, "not in valid range [0, 100]");
        let mut outer = FieldErrors::default();
        outer.extend_at("top", errors);
        outer.add("", "all of it");
        assert_eq!(
            outer.into_result().unwrap_err().to_string(),
            "top.a: Invalid value: -1: not in valid range [0, 100]\ntop.b: Invalid value: \"x/y\": no\n\
             top.c[1]: Duplicate value: \"x\"\ntop.d: Unsupported value: \"z\": supported values: \"A\", \"B\"\n\
             top.e: Required value\ntop.f: Required value: say something\ntop.g: Forbidden: not here\nall of it"
        );
        let mut at = FieldErrors::default();
        for (path, rest) in [("p", ""), ("p", "[1]"), ("", "q"), ("p", "q")] {
            let mut inner = FieldErrors::default();
            inner.add(rest, "m");
            at.extend_at(path, inner);
        }
        assert_eq!(at.to_string(), "p: m\np[1]: m\nq: m\np.q: m");
    }
}
