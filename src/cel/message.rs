//! Well-known messages of protocol buffers that represent values.

use std::sync::Arc;

use super::error::EvalError;
use super::time::Timestamp;
use super::value::{Map, Value};
use crate::cluster::Str;

/// Makes a message from its fields.
pub(super) fn make(name: &Str, fields: &[(&Str, Value)]) -> Result<Value, EvalError> {
    let field = |wanted: &str| fields.iter().rev().find(|(name, _)| name.as_str() == wanted).map(|(_, value)| value.clone());
    let int = |wanted: &str| if let Some(Value::Int(i)) = field(wanted) { i } else { 0 };
    let short = match name.as_str().strip_prefix("google.protobuf.") {
        Some(short) => short,
        None if name.as_str() == "kubernetes.DRADevice" => return Err(EvalError::UnknownMessage(name.clone())),
        None => return Err(EvalError::UnresolvedMessage(name.clone())),
    };
    let overflow = |error: EvalError| EvalError::Field { message: name.clone(), field: "value".into(), error: Box::new(error) };
    Ok(match (short, field("value")) {
        ("Int32Value", Some(Value::Int(i))) if i32::try_from(i).is_err() => return Err(overflow(EvalError::IntegerOverflow)),
        ("UInt32Value", Some(Value::Uint(u))) if u32::try_from(u).is_err() => return Err(overflow(EvalError::UnsignedOverflow)),
        ("FloatValue", Some(Value::Double(d))) => Value::Double(f64::from(d as f32)),
        (wrapper, Some(value)) if wrapper.ends_with("Value") && !matches!(value, Value::Null) => value,
        ("BoolValue", _) => Value::Bool(false),
        ("BytesValue", _) => Value::Bytes(Arc::from([].as_slice())),
        ("DoubleValue" | "FloatValue", _) => Value::Double(0.0),
        ("Int64Value" | "Int32Value", _) => Value::Int(0),
        ("UInt64Value" | "UInt32Value", _) => Value::Uint(0),
        ("StringValue", _) => Value::string(""),
        ("Duration", _) => {
            let nanos = i128::from(int("seconds")) * 1_000_000_000 + i128::from(int("nanos"));
            Value::Duration(nanos.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        }
        ("Timestamp", _) => Value::Timestamp(Timestamp::of_seconds(int("seconds"), int("nanos"))?),
        ("ListValue", _) => field("values").unwrap_or_else(|| Value::list(Vec::new())),
        ("Struct", _) => field("fields").unwrap_or_else(|| Value::Map(Arc::new(Map::default()))),
        ("Value", _) => match fields.last() {
            Some((name, _)) if name.as_str() == "null_value" => Value::Null,
            Some((_, value)) => value.clone(),
            None => Value::Null,
        },
        ("Empty", _) => Value::Message("google.protobuf.Empty"),
        ("Any", _) => return Err(EvalError::Unconvertible { go: "*dynamicpb.Message", value: String::new() }),
        _ => return Err(EvalError::UnresolvedMessage(name.clone())),
    })
}
