//! Strict decoding: checks a value against the fields of its type and reports every mismatch.
//!
//! Mirrors the acceptance of `sigs.k8s.io/json` and the strict serializer of
//! `staging/src/k8s.io/apimachinery/pkg/runtime/serializer`. Null is the zero value everywhere.

use serde_json::{Map, Number, Value};

use crate::framework::{FieldErrors, parse_duration};
use crate::limits::engine::CONFIG_ITEMS;

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Schema {
    /// Anything.
    Any,
    /// A boolean.
    Bool,
    Int32,
    Int64,
    /// A `float32`.
    Float,
    /// Text.
    String,
    /// A `metav1.Duration`, such as `1m30s`.
    Duration,
    /// Base64.
    Bytes,
    List(&'static Schema),
    /// A map from text to text.
    StringMap,
    /// An object with these fields and no others.
    Object(Fields),
}

/// The fields of an object.
pub(super) type Fields = &'static [(&'static str, Schema)];

impl Schema {
    /// Returns the value without nulls; nulls in lists become zero values. Drops and reports mismatches.
    pub(super) fn read(self, value: Value, path: &str, errors: &mut FieldErrors) -> Option<Value> {
        if value.is_null() {
            return None;
        }
        match (self, value) {
            (Self::Object(fields), Value::Object(map)) => Some(read_object(fields, map, path, errors)),
            (Self::List(item), Value::Array(list)) => Some(item.read_list(list, path, errors)),
            (Self::StringMap, Value::Object(map)) => {
                let read = |(key, value): (String, Value)| {
                    let value = Self::String.read(value, &format!("{path}[{key}]"), errors);
                    (key, value.unwrap_or_else(|| Self::String.zero()))
                };
                Some(Value::Object(map.into_iter().map(read).collect()))
            }
            (Self::Int32, Value::Number(number)) => integer(&number, i32::MIN.into(), i32::MAX.into(), "int32", path, errors),
            (Self::Int64, Value::Number(number)) => integer(&number, i64::MIN, i64::MAX, "int64", path, errors),
            (Self::Duration, Value::String(text)) => match parse_duration(&text) {
                Ok(_) => Some(Value::String(text)),
                Err(error) => {
                    errors.add(path, error.to_string());
                    None
                }
            },
            (Self::Bytes, Value::String(text)) => {
                if !is_base64(&text) {
                    errors.add(path, "illegal base64 data");
                }
                Some(Value::String(text))
            }
            (Self::Any, value)
            | (Self::Bool, value @ Value::Bool(_))
            | (Self::Float, value @ Value::Number(_))
            | (Self::String, value @ Value::String(_)) => Some(value),
            (_, value) => {
                errors.add(path, format!("cannot unmarshal {} into a field of type {}", describe(&value), self.name()));
                None
            }
        }
    }

    fn read_list(self, list: Vec<Value>, path: &str, errors: &mut FieldErrors) -> Value {
        if list.len() > CONFIG_ITEMS {
            errors.add(path, format!("has {} items; schedscope reads no more than {CONFIG_ITEMS}", list.len()));
            return Value::Array(Vec::new());
        }
        let items = list.into_iter().enumerate();
        items.map(|(i, item)| self.read(item, &format!("{path}[{i}]"), errors).unwrap_or_else(|| self.zero())).collect()
    }

    fn zero(self) -> Value {
        match self {
            Self::Any => Value::Null,
            Self::Bool => Value::Bool(false),
            Self::Int32 | Self::Int64 | Self::Float => Value::from(0),
            Self::String | Self::Bytes => Value::from(""),
            Self::Duration => Value::from("0s"),
            Self::List(_) => Value::Array(Vec::new()),
            Self::StringMap | Self::Object(_) => Value::Object(Map::new()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Bool => "bool",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float => "float32",
            Self::String | Self::Duration | Self::Bytes => "string",
            Self::List(_) => "list",
            Self::StringMap | Self::Object(_) => "object",
        }
    }
}

fn read_object(fields: Fields, map: Map<String, Value>, path: &str, errors: &mut FieldErrors) -> Value {
    let dot = if path.is_empty() { "" } else { "." };
    let mut out = Map::new();
    for (key, value) in map {
        let path = format!("{path}{dot}{key}");
        match fields.iter().find(|(name, _)| *name == key) {
            Some((_, schema)) => {
                if let Some(value) = schema.read(value, &path, errors) {
                    out.insert(key, value);
                }
            }
            None => errors.add(path, "unknown field"),
        }
    }
    Value::Object(out)
}

/// Returns an integer; YAML may have written it with a zero fraction.
fn integer(number: &Number, min: i64, max: i64, name: &str, path: &str, errors: &mut FieldErrors) -> Option<Value> {
    // Beyond 2^53 a float no longer identifies an integer.
    let exact = |f: f64| (f.fract() == 0.0 && f.abs() <= 9_007_199_254_740_992.0).then_some(f as i64);
    let whole = number.as_i64().or_else(|| number.as_f64().filter(|_| number.is_f64()).and_then(exact));
    let fits = whole.filter(|n| (min..=max).contains(n));
    if fits.is_none() {
        errors.add(path, format!("cannot unmarshal number {number} into a field of type {name}"));
    }
    fits.map(Value::from)
}

/// Whether text is base64 of the standard alphabet, padded.
fn is_base64(text: &str) -> bool {
    let text: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    let padding = text.iter().rev().take_while(|b| **b == b'=').count();
    let letter = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    text.len().is_multiple_of(4) && padding <= 2 && text[..text.len() - padding].iter().all(letter)
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests;
