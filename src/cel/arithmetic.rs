//! Sums, products and negations; mirrors the traits of cel-go's `common/types` and its `overflow.go`.

use std::sync::Arc;

use super::ast::op;
use super::budget::{MAX_BYTES, MAX_ELEMENTS, spend_copies};
use super::error::EvalError;
use super::value::Value;

/// Applies `!` or `-`.
pub(super) fn unary(name: &str, value: &Value) -> Result<Value, EvalError> {
    use Value as V;
    match (name, value) {
        (op::NOT, V::Bool(b)) => Ok(V::Bool(!b)),
        (op::NEGATE, V::Int(i)) => i.checked_neg().map(V::Int).ok_or(EvalError::IntegerOverflow),
        (op::NEGATE, V::Double(d)) => Ok(V::Double(-d)),
        (op::NEGATE, V::Duration(d)) => d.checked_neg().map(V::Duration).ok_or(EvalError::IntegerOverflow),
        (op::NOT, _) | (_, V::Bool(_) | V::String(_) | V::Timestamp(_)) => Err(EvalError::NoSuchOverload),
        _ => Err(EvalError::NoSuchOperation(name.into())),
    }
}

/// Applies `+`, `-`, `*`, `/` or `%`.
pub(super) fn binary(name: &str, left: &Value, right: &Value) -> Result<Value, EvalError> {
    use Value as V;
    match (left, right) {
        (V::Int(a), V::Int(b)) => int(name, *a, *b),
        (V::Uint(a), V::Uint(b)) => uint(name, *a, *b),
        (V::Double(a), V::Double(b)) if name != op::MODULO => Ok(V::Double(match name {
            op::ADD => a + b,
            op::SUBTRACT => a - b,
            op::MULTIPLY => a * b,
            _ => a / b,
        })),
        (V::Duration(a), V::Duration(b)) if matches!(name, op::ADD | op::SUBTRACT) => {
            let result = if name == op::ADD { a.checked_add(*b) } else { a.checked_sub(*b) };
            result.map(V::Duration).ok_or(EvalError::IntegerOverflow)
        }
        (V::Timestamp(a), V::Duration(b)) | (V::Duration(b), V::Timestamp(a)) if name == op::ADD => a.plus((*b).into()).map(V::Timestamp),
        (V::Timestamp(_), V::Duration(i64::MIN)) if name == op::SUBTRACT => Err(EvalError::IntegerOverflow),
        (V::Timestamp(a), V::Duration(b)) if name == op::SUBTRACT => a.plus(-i128::from(*b)).map(V::Timestamp),
        (V::Timestamp(a), V::Timestamp(b)) if name == op::SUBTRACT => a.since(*b).map(V::Duration),
        (V::String(a), V::String(b)) if name == op::ADD && a.len() + b.len() > MAX_BYTES => Err(EvalError::CostLimit),
        (V::List(a), V::List(b)) if name == op::ADD && (a.len() + b.len() > MAX_ELEMENTS || !spend_copies(a.len() + b.len())) => {
            Err(EvalError::CostLimit)
        }
        (V::Bytes(a), V::Bytes(b)) if name == op::ADD && a.len() + b.len() > MAX_BYTES => Err(EvalError::CostLimit),
        (V::String(a), V::String(b)) if name == op::ADD => Ok(V::string(format!("{a}{b}"))),
        (V::Bytes(a), V::Bytes(b)) if name == op::ADD => Ok(V::Bytes(a.iter().chain(b.iter()).copied().collect())),
        (V::List(a), V::List(b)) if name == op::ADD => Ok(V::List(match (a.is_empty(), b.is_empty()) {
            (true, _) => b.clone(),
            (_, true) => a.clone(),
            _ => Arc::new(a.iter().chain(b.iter()).cloned().collect()),
        })),
        _ => Err(if has_operation(left, name) { EvalError::NoSuchOverload } else { EvalError::NoSuchOperation(name.into()) }),
    }
}

/// Whether a value has the operation for some operand, or returns its own error for it.
fn has_operation(value: &Value, name: &str) -> bool {
    match value {
        Value::String(_) | Value::Duration(_) | Value::Timestamp(_) | Value::Int(_) | Value::Uint(_) => true,
        Value::Double(_) => name != op::MODULO,
        Value::Bytes(_) | Value::List(_) => name == op::ADD,
        _ => false,
    }
}

fn int(name: &str, a: i64, b: i64) -> Result<Value, EvalError> {
    let result = match name {
        op::ADD => a.checked_add(b),
        op::SUBTRACT => a.checked_sub(b),
        op::MULTIPLY => a.checked_mul(b),
        op::DIVIDE if b == 0 => return Err(EvalError::DivisionByZero),
        op::DIVIDE => a.checked_div(b),
        _ if b == 0 => return Err(EvalError::ModulusByZero),
        _ => a.checked_rem(b),
    };
    result.map(Value::Int).ok_or(EvalError::IntegerOverflow)
}

fn uint(name: &str, a: u64, b: u64) -> Result<Value, EvalError> {
    let result = match name {
        op::ADD => a.checked_add(b),
        op::SUBTRACT => a.checked_sub(b),
        op::MULTIPLY => a.checked_mul(b),
        op::DIVIDE => return a.checked_div(b).map(Value::Uint).ok_or(EvalError::DivisionByZero),
        _ => return a.checked_rem(b).map(Value::Uint).ok_or(EvalError::ModulusByZero),
    };
    result.map(Value::Uint).ok_or(EvalError::UnsignedOverflow)
}
