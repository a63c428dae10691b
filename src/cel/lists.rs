//! Functions of lists; mirrors cel-go's `ext/lists.go` and `ext/sets.go`, and
//! `staging/src/k8s.io/apiserver/pkg/cel/library/lists.go`.

use std::cmp::Ordering;

use super::arithmetic;
use super::ast::op;
use super::budget;
use super::error::EvalError;
use super::functions::no_overload;
use super::value::Value;

/// Whether the list contains all of `wanted`.
pub(super) fn contains_all(items: &[Value], wanted: &[Value]) -> bool {
    wanted.iter().all(|item| item.is_in(items))
}

/// Calls a member function of a list.
pub(super) fn call(name: &str, items: &[Value], rest: &[Value]) -> Result<Value, EvalError> {
    use Value::{Int, List};
    let at = |found: Option<usize>| Value::Int(found.map_or(-1, |i| i as i64));
    Ok(match (name, rest) {
        ("indexOf", [wanted]) => at(items.iter().position(|item| budget::spend(1) && item.same(wanted) == Ok(true))),
        ("lastIndexOf", [wanted]) => at(items.iter().rposition(|item| budget::spend(1) && item.same(wanted) == Ok(true))),
        ("isSorted", []) => {
            if items.iter().any(|item| !comparable(item)) {
                return Err(EvalError::NoSuchOverload);
            }
            Value::Bool(items.windows(2).all(|pair| order(&pair[0], &pair[1]) != Some(Ordering::Greater)))
        }
        ("min" | "max", []) => {
            let wrong = if name == "min" { Ordering::Greater } else { Ordering::Less };
            let mut best: Option<&Value> = None;
            for item in items {
                if !comparable(item) {
                    return Err(EvalError::NoSuchOverload);
                }
                if best.is_none_or(|best| order(best, item) == Some(wrong)) {
                    best = Some(item);
                }
            }
            best.cloned().ok_or_else(|| EvalError::EmptyList(name.into()))?
        }
        ("sum", []) => {
            let zero = match items.first() {
                Some(Value::Uint(_)) => Value::Uint(0),
                Some(Value::Double(_)) => Value::Double(0.0),
                Some(Value::Duration(_)) => Value::Duration(0),
                _ => Value::Int(0),
            };
            items.iter().try_fold(zero, |sum, item| arithmetic::binary(op::ADD, &sum, item))?
        }
        ("join", []) => Value::string(join(items, "")?),
        ("join", [Value::String(separator)]) => Value::string(join(items, separator)?),
        ("first", []) => items.first().map_or(Value::NONE, |item| Value::some(item.clone())),
        ("last", []) => items.last().map_or(Value::NONE, |item| Value::some(item.clone())),
        ("unwrapOpt" | "optional.unwrap", []) => {
            if !budget::spend_copies(items.len()) {
                return Err(EvalError::CostLimit);
            }
            let mut values = Vec::new();
            for item in items {
                let Value::Optional(held) = item else { return Err(EvalError::NotOptional(item.show())) };
                values.extend(held.as_ref().map(|v| (**v).clone()));
            }
            Value::list(values)
        }
        ("slice", [Int(start), Int(end)]) => slice(items, *start, *end)?,
        ("flatten", []) => Value::list(flatten(items, 1)?),
        ("flatten", [Int(depth)]) => Value::list(flatten(items, *depth)?),
        ("flatten", [other]) => return Err(EvalError::NotFlat(format!("list(dyn).flatten({})", other.ty()))),
        ("sort", []) => sorted(items, items)?,
        (op::SORT_BY_KEYS, [List(keys)]) => sorted(items, keys)?,
        ("reverse", []) => Value::list(items.iter().rev().cloned().collect()),
        ("distinct", []) => {
            let mut distinct: Vec<Value> = Vec::new();
            for item in items {
                if !item.is_in(&distinct) {
                    distinct.push(item.clone());
                }
            }
            Value::list(distinct)
        }
        _ => return Err(no_overload(name, &[&[Value::list(items.to_vec())], rest].concat())),
    })
}

fn comparable(value: &Value) -> bool {
    value.compare(value).is_some()
}

/// Returns the order of two values; `None` if they cannot be compared.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    a.compare(b)?.ok()
}

fn join(items: &[Value], separator: &str) -> Result<String, EvalError> {
    let mut parts = Vec::with_capacity(items.len());
    for item in items {
        let Value::String(part) = item else { return Err(EvalError::JoinInput(item.show())) };
        parts.push(part.as_str());
    }
    if parts.iter().map(|part| part.len() + separator.len()).sum::<usize>() > budget::MAX_BYTES {
        return Err(EvalError::CostLimit);
    }
    Ok(parts.join(separator))
}

fn slice(items: &[Value], start: i64, end: i64) -> Result<Value, EvalError> {
    let failed = |why: String| Err(EvalError::Slice { start, end, why });
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return failed("negative indexes not supported".to_owned());
    };
    if from > to {
        return failed("start index must be less than or equal to end index".to_owned());
    }
    match items.get(from..to) {
        Some(part) => Ok(Value::list(part.to_vec())),
        None => failed(format!("list is length {}", items.len())),
    }
}

fn flatten(items: &[Value], depth: i64) -> Result<Vec<Value>, EvalError> {
    if depth < 0 {
        return Err(EvalError::FlattenLevel);
    }
    let mut flat = Vec::new();
    for item in items {
        if !budget::spend(1) {
            return Err(EvalError::CostLimit);
        }
        match item {
            Value::List(nested) if depth > 0 => flat.extend(flatten(nested, depth - 1)?),
            other => flat.push(other.clone()),
        }
    }
    Ok(flat)
}

fn sorted(items: &[Value], keys: &[Value]) -> Result<Value, EvalError> {
    let Some(first) = keys.first() else { return Ok(Value::list(items.to_vec())) };
    if !comparable(first) && !matches!(first, Value::Double(_)) {
        return Err(EvalError::Incomparable);
    }
    if keys.len() > 1 && keys.iter().any(|key| key.ty() != first.ty()) {
        return Err(EvalError::MixedElements);
    }
    let mut indexes: Vec<usize> = (0..items.len().min(keys.len())).collect();
    go_sort(&mut indexes, &|a, b| order(&keys[a], &keys[b]) == Some(Ordering::Less));
    Ok(Value::list(indexes.into_iter().map(|i| items[i].clone()).collect()))
}

/// Sorts up to 12 items by insertion as Go's `sort.Slice` does, and longer lists stably.
fn go_sort(indexes: &mut [usize], less: &impl Fn(usize, usize) -> bool) {
    if indexes.len() > 12 {
        indexes.sort_by(|a, b| {
            if less(*a, *b) {
                Ordering::Less
            } else if less(*b, *a) {
                Ordering::Greater
            } else {
                Ordering::Equal
            }
        });
        return;
    }
    for i in 1..indexes.len() {
        let mut j = i;
        while j > 0 && less(indexes[j], indexes[j - 1]) {
            indexes.swap(j, j - 1);
            j -= 1;
        }
    }
}
