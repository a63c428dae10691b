//! The length of names and labels.

use std::fmt;

use serde_json::Value;

use crate::cluster::Meta;
use crate::limits::sources::NAME;

/// A name or label that is longer than any of an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// `name` or `label`.
    pub what: &'static str,
    /// In bytes.
    pub length: usize,
}

/// Writes the rest of a sentence about the object.
impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "has a {} of {} bytes, which no API server accepts", self.what, self.length)
    }
}

impl TooLong {
    /// Returns the first of an object's names, or else of its labels, that is too long.
    pub fn find<'a>(names: impl IntoIterator<Item = &'a str>, labels: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let first = |what, mut texts: &mut dyn Iterator<Item = &'a str>| {
            let length = (&mut texts).map(str::len).find(|length| *length > NAME)?;
            Some(Self { what, length })
        };
        first("name", &mut names.into_iter()).or_else(|| first("label", &mut labels.into_iter()))
    }

    /// Returns the same of an object's metadata.
    pub fn in_metadata(meta: &Meta) -> Option<Self> {
        Self::find([meta.name.as_str(), &meta.namespace], meta.labels.iter().flat_map(|(key, value)| [key.as_str(), value]))
    }

    /// Returns the same of an object as JSON, and of the templates within it.
    pub fn in_object(object: &Value) -> Option<Self> {
        let of_metadata = |metadata: &Value| {
            let names: Vec<&str> = ["name", "generateName", "namespace"].iter().filter_map(|field| metadata.get(field)?.as_str()).collect();
            let labels = metadata.get("labels").and_then(Value::as_object).into_iter().flatten();
            Self::find(names, labels.flat_map(|(key, value)| [Some(key.as_str()), value.as_str()]).flatten())
        };
        match object {
            Value::Object(fields) => fields.iter().find_map(|(key, value)| {
                let found = if key == "metadata" { of_metadata(value) } else { None };
                found.or_else(|| Self::in_object(value))
            }),
            Value::Array(items) => items.iter().find_map(Self::in_object),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_names_and_labels_are_found_in_templates_too() {
        let long = "l".repeat(NAME + 1);
        let found = |object: &Value| TooLong::in_object(object).map(|found| found.to_string());
        assert_eq!(found(&json!({"metadata": {"name": "l".repeat(NAME), "labels": {"a": "b"}}, "spec": {"nodeName": long}})), None);
        let name = "has a name of 1025 bytes, which no API server accepts";
        assert_eq!(found(&json!({"metadata": {"namespace": long}})).as_deref(), Some(name));
        let label = "has a label of 1025 bytes, which no API server accepts";
        for labels in [json!({"a": long}), json!({&long: ""})] {
            assert_eq!(found(&json!({"metadata": {"labels": labels}})).as_deref(), Some(label));
            assert_eq!(found(&json!({"spec": [{"template": {"metadata": {"labels": labels}}}]})).as_deref(), Some(label));
            let meta: Meta = serde_json::from_value(json!({"name": "a", "labels": labels})).unwrap();
            assert_eq!(TooLong::in_metadata(&meta).unwrap().to_string(), label);
        }
    }
}
