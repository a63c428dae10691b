//! Objects for tests, read as they are written in a dump.

use serde_json::Value;

use super::{Kind, Object};

/// Reads an object of a kind from JSON.
#[track_caller]
pub(crate) fn object(kind: Kind, text: &str) -> Object {
    Object::deserialize_kind(kind, &mut serde_json::Deserializer::from_str(text)).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Reads an object of a kind from a value.
#[track_caller]
pub(crate) fn object_of(kind: Kind, value: &Value) -> Object {
    Object::deserialize_kind(kind, value).unwrap_or_else(|error| panic!("{error} in {value}"))
}

/// Reads an object from a value with its kind.
#[track_caller]
pub(crate) fn object_with_kind(value: &Value) -> Object {
    let kind = value["kind"].as_str().unwrap_or_else(|| panic!("no kind in {value}"));
    object_of(kind.parse().unwrap_or_else(|_| panic!("an unknown kind in {value}")), value)
}
