//! Functions and operators; mirrors the bindings of cel-go's `common/stdlib/standard.go` and `cel/library.go`, and of
//! `staging/src/k8s.io/apiserver/pkg/cel/library`.
//!
//! The caller has compared the arguments with the overloads. Remaining errors are those of cel-go's own code.

use std::cmp::Ordering;
use std::sync::Arc;

use super::address;
use super::arithmetic;
use super::ast::op;
use super::budget::MAX_ELEMENTS;
use super::convert;
use super::error::EvalError;
use super::eval::held_value;
use super::format;
use super::lists;
use super::named_format;
use super::quantity::Quantity;
use super::regex_syntax::{self, Pattern};
use super::semver::Semver;
use super::strings;
use super::time::Timestamp;
use super::url::{self, Url};
use super::value::{Key, Map, Value};

/// Calls a function; `args` begins with the target of a member function. `regex` is the pattern if it is constant.
pub(super) fn call(name: &str, args: &[Value], regex: Option<&Pattern>) -> Result<Value, EvalError> {
    use Value as V;
    Ok(match (name, args) {
        (op::NOT_STRICTLY_FALSE, [V::Bool(b)]) => V::Bool(*b),
        (op::NOT_STRICTLY_FALSE, _) => V::Bool(true),
        (op::ADD | op::SUBTRACT | op::MULTIPLY | op::DIVIDE | op::MODULO, [left, right]) => return arithmetic::binary(name, left, right),
        (op::NOT | op::NEGATE, [value]) => return arithmetic::unary(name, value),
        (op::LESS | op::LESS_EQUALS | op::GREATER | op::GREATER_EQUALS, [left, right]) => return compare(name, left, right),
        (op::IN, [value, container]) => match container {
            V::List(items) => V::Bool(value.is_in(items)),
            V::Map(map) if map.domains => V::Bool(map.entries.contains_key(&Key(value.clone()))),
            V::Map(map) if !map.native && !map.entries.is_empty() && value.is_unhashable() => {
                return Err(EvalError::Unhashable(value.go_type()));
            }
            V::Map(map) => V::Bool(map.find(value).is_some()),
            _ => return Err(EvalError::NoSuchOverload),
        },
        ("size", [value]) => match value {
            V::String(_) | V::Bytes(_) | V::List(_) | V::Map(_) => V::Int(value.size() as i64),
            V::Duration(_) | V::Timestamp(_) => return Err(EvalError::NoSuchOverload),
            _ => return Err(EvalError::NoSuchOperation(name.into())),
        },
        (name, [value]) if convert::is_conversion(name) => return convert::convert(name, value),
        ("matches" | "find" | "findAll", [text, pattern, rest @ ..]) => return search(name, text, pattern, rest, regex),
        ("contains" | "startsWith" | "endsWith", [V::String(text), V::String(part)]) => V::Bool(match name {
            "contains" => text.contains(part.as_str()),
            "startsWith" => text.starts_with(part.as_str()),
            _ => text.ends_with(part.as_str()),
        }),
        ("contains" | "startsWith" | "endsWith", _) => return Err(EvalError::NoSuchOverload),
        ("format", [V::String(text), V::List(items)]) => V::string(format::apply(text, items)?),
        ("strings.quote", [V::String(text)]) => V::string(strings::quote(text)),
        ("includes", [target, wanted]) => return includes(target, wanted),
        (op::MAP_INSERT, [V::Map(map), added @ ..]) => return insert(map, added),
        ("value", [V::Optional(held)]) => return held.as_ref().map_or(Err(EvalError::NoneDereference), |held| held_value(held)),
        ("hasValue", [V::Optional(held)]) => V::Bool(held.is_some()),
        ("optional.of", [value]) => V::some(value.clone()),
        ("optional.ofNonZeroValue", [value]) => {
            if value.is_zero() {
                V::NONE
            } else {
                V::some(value.clone())
            }
        }
        ("optional.none", []) => V::NONE,
        ("sort" | op::SORT_BY_KEYS, [V::String(_) | V::Duration(_) | V::Timestamp(_), ..]) => return Err(EvalError::NoSuchOverload),
        (_, [V::Quantity(q), rest @ ..]) => return quantity(name, *q, rest),
        (_, [V::Semver(version), rest @ ..]) => return semver(name, version, rest),
        (_, [V::Timestamp(timestamp), rest @ ..]) => return timestamp_part(name, *timestamp, rest),
        (_, [V::Duration(nanos)]) => match name {
            "getHours" => V::Int(nanos / 3_600_000_000_000),
            "getMinutes" => V::Int(nanos / 60_000_000_000),
            "getSeconds" => V::Int(nanos / 1_000_000_000),
            "getMilliseconds" => V::Int(nanos / 1_000_000),
            _ => return Err(no_overload(name, args)),
        },
        (_, [V::Url(url)]) => url.part(name).ok_or_else(|| no_overload(name, args))?,
        (_, [V::Ip(_) | V::Cidr(_), ..]) => return address::call(name, args),
        ("validate", [V::Format(format), V::String(text)]) => {
            let problems = (format.validate)(text);
            if problems.is_empty() { V::NONE } else { V::some(V::strings(problems)) }
        }
        ("lists.range", [V::Int(n)]) if *n > MAX_ELEMENTS as i64 => return Err(EvalError::CostLimit),
        ("lists.range", [V::Int(n)]) => V::list((0..*n).map(V::Int).collect()),
        ("sets.contains", [V::List(a), V::List(b)]) => V::Bool(lists::contains_all(a, b)),
        ("sets.equivalent", [V::List(a), V::List(b)]) => V::Bool(lists::contains_all(a, b) && lists::contains_all(b, a)),
        ("sets.intersects", [V::List(a), V::List(b)]) => V::Bool(a.iter().any(|x| x.is_in(b))),
        (_, [V::List(items), rest @ ..]) => return lists::call(name, items, rest),
        ("flatten", [other]) => return Err(EvalError::NotFlat(format!("{}.flatten()", other.ty()))),
        ("flatten", [other, depth]) => return Err(EvalError::NotFlat(format!("{}.flatten({})", other.ty(), depth.ty()))),
        ("sort" | op::SORT_BY_KEYS, _) => return Err(EvalError::NoSuchOperation(name.into())),
        (_, [V::String(text), rest @ ..]) => return of_text(name, text, rest),
        _ => return named_format::named(name).map(V::Format).ok_or_else(|| no_overload(name, args)),
    })
}

/// Returns the error for arguments without an overload.
pub(super) fn no_overload(name: &str, args: &[Value]) -> EvalError {
    EvalError::NoSuchFunction { function: name.into(), types: args.iter().map(Value::type_name).collect() }
}

fn compare(name: &str, left: &Value, right: &Value) -> Result<Value, EvalError> {
    let order = left.compare(right).ok_or_else(|| EvalError::NoSuchOperation(name.into()))??;
    Ok(Value::Bool(match name {
        op::LESS => order == Ordering::Less,
        op::LESS_EQUALS => order != Ordering::Greater,
        op::GREATER => order == Ordering::Greater,
        _ => order != Ordering::Less,
    }))
}

fn search(name: &str, text: &Value, pattern: &Value, rest: &[Value], regex: Option<&Pattern>) -> Result<Value, EvalError> {
    let (Value::String(text), Value::String(pattern)) = (text, pattern) else {
        let no_operation =
            name == "matches" && regex.is_none() && !matches!(text, Value::String(_) | Value::Duration(_) | Value::Timestamp(_));
        return Err(if no_operation { EvalError::NoSuchOperation(name.into()) } else { EvalError::NoSuchOverload });
    };
    let fresh;
    let regex = match regex {
        Some(regex) => regex,
        None => {
            let failed = if name == "matches" { EvalError::Regex } else { EvalError::IllegalRegex };
            fresh = regex_syntax::compile(pattern).map_err(failed)?;
            &fresh
        }
    };
    if !matches!(rest, [] | [Value::Int(_)]) {
        return Err(EvalError::NoSuchOverload);
    }
    Ok(match (name, rest) {
        ("matches", _) => Value::Bool(regex.is_match(text)),
        ("find", _) => Value::string(regex.find(text, 1).next().unwrap_or_default()),
        (_, rest) => {
            let limit = if let [Value::Int(n)] = rest { usize::try_from(*n).unwrap_or(usize::MAX) } else { usize::MAX };
            Value::strings(regex.find(text, limit))
        }
    })
}

/// Maximum number of elements that `includes` searches.
const INCLUDES_LIMIT: usize = 48;

fn includes(target: &Value, wanted: &Value) -> Result<Value, EvalError> {
    let Value::List(items) = target else { return Ok(Value::Bool(target.same(wanted) == Ok(true))) };
    match items.iter().position(|item| item.same(wanted) == Ok(true)) {
        Some(at) if at < INCLUDES_LIMIT => Ok(Value::Bool(true)),
        _ if items.len() > INCLUDES_LIMIT => Err(EvalError::IncludesTooLong),
        found => Ok(Value::Bool(found.is_some())),
    }
}

fn insert(map: &Arc<Map>, added: &[Value]) -> Result<Value, EvalError> {
    let mut map = (**map).clone();
    let entries: Vec<(&Value, &Value)> = match added {
        [key, value] => vec![(key, value)],
        [Value::Map(added)] => added.entries.iter().map(|(key, value)| (&key.0, value)).collect(),
        _ => return Err(EvalError::NoSuchOverload),
    };
    for (key, value) in entries {
        if map.find(key).is_some() {
            return Err(EvalError::RepeatedKey(key.show()));
        }
        map.entries.insert(Key(key.clone()), value.clone());
    }
    Ok(Value::Map(Arc::new(map)))
}

/// Calls a function of a text.
fn of_text(name: &str, text: &str, rest: &[Value]) -> Result<Value, EvalError> {
    use Value as V;
    let semver = |rest: &[Value]| match rest {
        [V::Bool(true)] => Semver::parse_tolerant(text),
        _ => Semver::parse(text),
    };
    Ok(match (name, rest) {
        ("quantity", []) => V::Quantity(Quantity::parse(text)?),
        ("isQuantity", []) => V::Bool(Quantity::parse(text).is_ok()),
        ("semver", rest) => V::Semver(Arc::new(semver(rest)?)),
        ("isSemver", rest) => V::Bool(semver(rest).is_ok()),
        ("ip", []) => V::Ip(address::parse_ip(text)?),
        ("isIP", []) => V::Bool(address::parse_ip(text).is_ok()),
        ("ip.isCanonical", []) => V::Bool(address::parse_ip(text)?.to_string() == text),
        ("cidr", []) => V::Cidr(address::parse_cidr(text)?),
        ("isCIDR", []) => V::Bool(address::check_cidr(text).is_ok()),
        ("url", []) => V::Url(Arc::new(Url::parse(text).map_err(EvalError::Url)?)),
        ("isURL", []) => V::Bool(url::check(text).is_ok()),
        ("format.named", []) => named_format::by_name(text).map_or(V::NONE, |format| V::some(V::Format(format))),
        _ => return strings::call(name, text, rest),
    })
}

fn quantity(name: &str, quantity: Quantity, rest: &[Value]) -> Result<Value, EvalError> {
    use Value as V;
    Ok(match (name, rest) {
        ("sign", []) => V::Int(quantity.sign()),
        ("isInteger", []) => V::Bool(quantity.as_int().is_ok()),
        ("asInteger", []) => V::Int(quantity.as_int()?),
        ("asApproximateFloat", []) => V::Double(quantity.as_float()),
        ("add", [V::Quantity(other)]) => V::Quantity(quantity.add(*other)),
        ("add", [V::Int(other)]) => V::Quantity(quantity.add(Quantity::units(*other))),
        ("sub", [V::Quantity(other)]) => V::Quantity(quantity.sub(*other)),
        ("sub", [V::Int(other)]) => V::Quantity(quantity.sub(Quantity::units(*other))),
        ("isGreaterThan", [V::Quantity(other)]) => V::Bool(quantity.cmp(*other) == Ordering::Greater),
        ("isLessThan", [V::Quantity(other)]) => V::Bool(quantity.cmp(*other) == Ordering::Less),
        ("compareTo", [V::Quantity(other)]) => V::Int(quantity.cmp(*other) as i64),
        _ => return Err(no_overload(name, &[&[V::Quantity(quantity)], rest].concat())),
    })
}

fn semver(name: &str, version: &Arc<Semver>, rest: &[Value]) -> Result<Value, EvalError> {
    use Value as V;
    Ok(match (name, rest) {
        ("major", []) => V::Int(version.major as i64),
        ("minor", []) => V::Int(version.minor as i64),
        ("patch", []) => V::Int(version.patch as i64),
        ("isGreaterThan", [V::Semver(other)]) => V::Bool(version > other),
        ("isLessThan", [V::Semver(other)]) => V::Bool(version < other),
        ("compareTo", [V::Semver(other)]) => V::Int(version.cmp(other) as i64),
        _ => return Err(no_overload(name, &[&[V::Semver(version.clone())], rest].concat())),
    })
}

/// Returns a part of a timestamp, in a time zone or in UTC.
fn timestamp_part(name: &str, timestamp: Timestamp, rest: &[Value]) -> Result<Value, EvalError> {
    let offset = match rest {
        [] => 0,
        [Value::String(zone)] => timestamp.offset_in(zone)?,
        _ => return Err(no_overload(name, &[&[Value::Timestamp(timestamp)], rest].concat())),
    };
    let civil = timestamp.civil(offset);
    Ok(Value::Int(match name {
        "getFullYear" => civil.year,
        "getMonth" => civil.month - 1,
        "getDate" => civil.day,
        "getDayOfMonth" => civil.day - 1,
        "getDayOfYear" => civil.day_of_year,
        "getDayOfWeek" => civil.day_of_week,
        "getHours" => civil.hour,
        "getMinutes" => civil.minute,
        "getSeconds" => civil.second,
        "getMilliseconds" => timestamp.nanos / 1_000_000,
        _ => return Err(no_overload(name, &[&[Value::Timestamp(timestamp)], rest].concat())),
    }))
}
