//! Conversions between types (`int(…)`, `string(…)` and others), and of the result of a selector.

use super::error::EvalError;
use super::number::{parse_float, show, to_int, to_uint};
use super::time::{Timestamp, parse_duration, show_duration};
use super::value::Value;

/// Whether a function is a conversion. Conversions of constants are computed when the program is made.
pub(super) fn is_conversion(name: &str) -> bool {
    matches!(name, "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "type" | "uint")
}

/// Converts a value with the named function.
pub(super) fn convert(name: &str, value: &Value) -> Result<Value, EvalError> {
    use Value as V;
    let failed = |to: &'static str| EvalError::Conversion { from: value.ty().to_string(), to };
    Ok(match (name, value) {
        ("dyn", _) => value.clone(),
        ("type", _) => V::Type(value.ty()),
        ("int", V::Int(_))
        | ("uint", V::Uint(_))
        | ("double", V::Double(_))
        | ("string", V::String(_))
        | ("bytes", V::Bytes(_))
        | ("bool", V::Bool(_))
        | ("duration", V::Duration(_))
        | ("timestamp", V::Timestamp(_)) => value.clone(),
        ("int", V::Uint(u)) => V::Int(i64::try_from(*u).map_err(|_| EvalError::IntegerOverflow)?),
        ("int", V::Double(d)) => V::Int(to_int(*d)?),
        ("int", V::Duration(d)) => V::Int(*d),
        ("int", V::Timestamp(t)) => V::Int(t.seconds),
        ("int", V::String(s)) => V::Int(s.parse().map_err(|_| failed("int"))?),
        ("uint", V::Int(i)) => V::Uint(u64::try_from(*i).map_err(|_| EvalError::UnsignedOverflow)?),
        ("uint", V::Double(d)) => V::Uint(to_uint(*d)?),
        // Go's parser accepts no sign here.
        ("uint", V::String(s)) if s.starts_with('+') => return Err(failed("uint")),
        ("uint", V::String(s)) => V::Uint(s.parse().map_err(|_| failed("uint"))?),
        ("double", V::Int(i)) => V::Double(*i as f64),
        ("double", V::Uint(u)) => V::Double(*u as f64),
        ("double", V::String(s)) => V::Double(parse_float(s).ok_or_else(|| failed("double"))?),
        ("bool", V::String(s)) => match s.as_str() {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => V::Bool(true),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => V::Bool(false),
            _ => return Err(failed("bool")),
        },
        ("string", V::Bool(_) | V::Int(_) | V::Uint(_) | V::Ip(_) | V::Cidr(_)) => V::string(value.show()),
        ("string", V::Double(d)) => V::string(show(*d, 6)),
        ("string", V::Duration(d)) => V::string(show_duration(*d)),
        ("string", V::Timestamp(t)) => V::string(t.show()),
        ("string", V::Bytes(b)) => V::string(std::str::from_utf8(b).map_err(|_| EvalError::Utf8)?),
        ("bytes", V::String(s)) => V::Bytes(s.as_bytes().into()),
        ("duration", V::String(s)) => V::Duration(parse_duration(s).ok_or_else(|| failed("google.protobuf.Duration"))?),
        ("duration", V::Int(_)) => return Err(failed("google.protobuf.Duration")),
        ("timestamp", V::Int(i)) => V::Timestamp(Timestamp::of_seconds(*i, 0)?),
        ("timestamp", V::String(s)) => V::Timestamp(Timestamp::parse(s).ok_or_else(|| failed("google.protobuf.Timestamp"))??),
        _ => return Err(EvalError::NoSuchFunction { function: name.into(), types: vec![value.type_name()] }),
    })
}

/// Converts the result of a selector to a boolean; the error is kube-scheduler's.
pub(super) fn to_bool(value: &Value) -> Result<bool, EvalError> {
    let ty = value.type_name();
    let why = match value {
        Value::Bool(b) => return Ok(*b),
        Value::Int(_) | Value::Uint(_) => format!("unsupported type conversion from '{ty}' to bool"),
        Value::Double(_) => "type conversion error from Double to 'bool'".to_owned(),
        Value::String(_) => "unsupported native conversion from string to 'bool'".to_owned(),
        Value::Null => "type conversion error from 'null_type' to 'bool'".to_owned(),
        Value::Duration(_) => "type conversion error from 'Duration' to 'bool'".to_owned(),
        Value::Timestamp(_) => "type conversion error from 'Timestamp' to 'bool'".to_owned(),
        Value::Quantity(_) => "type conversion error from 'Quantity' to 'bool'".to_owned(),
        Value::Semver(_) => "type conversion error from 'Semver' to 'bool'".to_owned(),
        Value::Ip(_) => "type conversion error from 'IP' to 'bool'".to_owned(),
        Value::Cidr(_) => "type conversion error from 'CIDR' to 'bool'".to_owned(),
        Value::Url(_) => "type conversion error from 'URL' to 'bool'".to_owned(),
        Value::Format(_) => "type conversion error from 'Format' to 'bool'".to_owned(),
        Value::List(_) => "type conversion error from list to 'bool'".to_owned(),
        Value::Map(_) => "type conversion error from map to 'bool'".to_owned(),
        Value::Bytes(_) => "type conversion error from Bytes to 'bool'".to_owned(),
        Value::Type(_) => "type conversion not supported for 'type'".to_owned(),
        Value::Optional(Some(held)) => match to_bool(held) {
            Ok(verdict) => return Ok(verdict),
            Err(EvalError::Result { why, .. }) => why,
            Err(error) => error.to_string(),
        },
        Value::Optional(None) => "optional.none() dereference".to_owned(),
        Value::Message(_) => format!("type conversion error from '{ty}' to 'bool'"),
        Value::Failed(error) => return Err((**error).clone()),
    };
    Err(EvalError::Result { ty, why })
}
