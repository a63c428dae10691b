//! The functions selectors may call: CEL's own, its string, list and set extensions, and Kubernetes' quantities, semantic
//! versions and regular expressions (`staging/src/k8s.io/apiserver/pkg/cel/library`).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use regex::Regex;

use super::check::Ty;
use super::error::{EvalError, SemverError};
use super::semver::Semver;
use super::value::Value;
use crate::cluster::{Quantity, Str};

/// What a function takes and gives; of a member function the first parameter is the target.
pub(super) struct Overload {
    name: &'static str,
    pub(super) member: bool,
    pub(super) params: &'static [Ty],
    pub(super) returns: Ty,
}

/// Regular expressions that stand in the selector as literals, compiled once.
pub(super) type Regexes = BTreeMap<Str, Regex>;

macro_rules! overloads {
    ($($name:literal $kind:ident ($($param:ident),*) -> $returns:ident;)*) => {
        &[$(Overload { name: $name, member: overloads!(@$kind), params: &[$(Ty::$param),*], returns: Ty::$returns },)*]
    };
    (@member) => { true };
    (@global) => { false };
}

static OVERLOADS: &[Overload] = overloads! {
    "size" global(String) -> Int; "size" global(Bytes) -> Int; "size" global(List) -> Int; "size" global(Map) -> Int;
    "size" member(String) -> Int; "size" member(Bytes) -> Int; "size" member(List) -> Int; "size" member(Map) -> Int;
    "contains" member(String, String) -> Bool;
    "startsWith" member(String, String) -> Bool;
    "endsWith" member(String, String) -> Bool;
    "matches" member(String, String) -> Bool; "matches" global(String, String) -> Bool;
    "find" member(String, String) -> String;
    "findAll" member(String, String) -> List; "findAll" member(String, String, Int) -> List;
    "int" global(Int) -> Int; "int" global(Uint) -> Int; "int" global(Double) -> Int; "int" global(String) -> Int;
    "uint" global(Int) -> Uint; "uint" global(Uint) -> Uint; "uint" global(Double) -> Uint; "uint" global(String) -> Uint;
    "double" global(Int) -> Double; "double" global(Uint) -> Double; "double" global(Double) -> Double; "double" global(String) -> Double;
    "string" global(Bool) -> String; "string" global(Int) -> String; "string" global(Uint) -> String;
    "string" global(Double) -> String; "string" global(String) -> String; "string" global(Bytes) -> String;
    "bytes" global(Bytes) -> Bytes; "bytes" global(String) -> Bytes;
    "bool" global(Bool) -> Bool; "bool" global(String) -> Bool;
    "type" global(Any) -> Type;
    "dyn" global(Any) -> Any;
    "quantity" global(String) -> Quantity;
    "isQuantity" global(String) -> Bool;
    "sign" member(Quantity) -> Int;
    "isInteger" member(Quantity) -> Bool;
    "asInteger" member(Quantity) -> Int;
    "asApproximateFloat" member(Quantity) -> Double;
    "add" member(Quantity, Quantity) -> Quantity; "add" member(Quantity, Int) -> Quantity;
    "sub" member(Quantity, Quantity) -> Quantity; "sub" member(Quantity, Int) -> Quantity;
    "isGreaterThan" member(Quantity, Quantity) -> Bool; "isGreaterThan" member(Semver, Semver) -> Bool;
    "isLessThan" member(Quantity, Quantity) -> Bool; "isLessThan" member(Semver, Semver) -> Bool;
    "compareTo" member(Quantity, Quantity) -> Int; "compareTo" member(Semver, Semver) -> Int;
    "semver" global(String) -> Semver; "semver" global(String, Bool) -> Semver;
    "isSemver" global(String) -> Bool; "isSemver" global(String, Bool) -> Bool;
    "major" member(Semver) -> Int;
    "minor" member(Semver) -> Int;
    "patch" member(Semver) -> Int;
    "charAt" member(String, Int) -> String;
    "indexOf" member(String, String) -> Int; "indexOf" member(String, String, Int) -> Int; "indexOf" member(List, Any) -> Int;
    "lastIndexOf" member(String, String) -> Int; "lastIndexOf" member(String, String, Int) -> Int; "lastIndexOf" member(List, Any) -> Int;
    "lowerAscii" member(String) -> String;
    "upperAscii" member(String) -> String;
    "trim" member(String) -> String;
    "replace" member(String, String, String) -> String; "replace" member(String, String, String, Int) -> String;
    "split" member(String, String) -> List; "split" member(String, String, Int) -> List;
    "substring" member(String, Int) -> String; "substring" member(String, Int, Int) -> String;
    "join" member(List) -> String; "join" member(List, String) -> String;
    "isSorted" member(List) -> Bool;
    "sum" member(List) -> Any;
    "min" member(List) -> Any;
    "max" member(List) -> Any;
    "sets.contains" global(List, List) -> Bool;
    "sets.equivalent" global(List, List) -> Bool;
    "sets.intersects" global(List, List) -> Bool;
};

/// The overloads of a function; none where the function does not exist.
pub(super) fn overloads(name: &str) -> impl Iterator<Item = &'static Overload> {
    OVERLOADS.iter().filter(move |o| o.name == name)
}

/// Functions that kube-scheduler has and this evaluator has not: dates, addresses, URLs, formats, optionals.
pub(super) fn is_left_out(name: &str) -> bool {
    const NAMES: [&str; 34] = [
        "duration",
        "timestamp",
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getFullYear",
        "getHours",
        "getMilliseconds",
        "getMinutes",
        "getMonth",
        "getSeconds",
        "ip",
        "isIP",
        "cidr",
        "isCIDR",
        "containsIP",
        "containsCIDR",
        "family",
        "masked",
        "prefixLength",
        "url",
        "isURL",
        "getScheme",
        "getHost",
        "getHostname",
        "getPort",
        "getQuery",
        "format",
        "validate",
        "orValue",
        "hasValue",
        "optMap",
        "value",
    ];
    NAMES.contains(&name) || ["math.", "base64.", "strings.", "optional."].iter().any(|p| name.starts_with(p))
}

/// Calls a function; `args` begins with the target of a member function.
pub(super) fn call<'a>(name: &str, args: &[Value<'a>], regexes: &Regexes) -> Result<Value<'a>, EvalError> {
    use Value::{Bool, Bytes, Double, Int, List, Quantity as Q, Semver as V, String as S};
    Ok(match (name, args) {
        ("size", [S(s)]) => Int(s.chars().count() as i64),
        ("size", [Bytes(b)]) => Int(b.len() as i64),
        ("size", [List(items)]) => Int(items.len() as i64),
        ("size", [map]) if map.entries().is_some() => Int(map.entries().map_or(0, |e| e.len() as i64)),
        ("contains", [S(s), S(part)]) => Bool(s.contains(part.as_str())),
        ("startsWith", [S(s), S(part)]) => Bool(s.starts_with(part.as_str())),
        ("endsWith", [S(s), S(part)]) => Bool(s.ends_with(part.as_str())),
        ("matches" | "find" | "findAll", [S(s), S(pattern), rest @ ..]) => return search(name, s, pattern, rest, regexes),
        ("int" | "uint" | "double" | "string" | "bytes" | "bool", [value]) => return convert(name, value),
        ("type", [value]) => Value::Type(value.type_name()),
        ("dyn", [value]) => value.clone(),
        ("quantity", [S(s)]) => Q(parse_quantity(s)?),
        ("isQuantity", [S(s)]) => Bool(parse_quantity(s).is_ok()),
        ("sign", [Q(q)]) => Int(q.nanos().signum() as i64),
        ("isInteger", [Q(q)]) => Bool(whole(*q).is_some()),
        ("asInteger", [Q(q)]) => Int(whole(*q).ok_or(EvalError::NotWhole)?),
        ("asApproximateFloat", [Q(q)]) => Double(q.nanos() as f64 / 1e9),
        ("add", [Q(a), Q(b)]) => Q(*a + *b),
        ("add", [Q(a), Int(b)]) => Q(*a + Quantity::units(*b)),
        ("sub", [Q(a), Q(b)]) => Q(*a - *b),
        ("sub", [Q(a), Int(b)]) => Q(*a - Quantity::units(*b)),
        ("isGreaterThan", [Q(a), Q(b)]) => Bool(a > b),
        ("isLessThan", [Q(a), Q(b)]) => Bool(a < b),
        ("compareTo", [Q(a), Q(b)]) => Int(a.cmp(b) as i64),
        ("isGreaterThan", [V(a), V(b)]) => Bool(a > b),
        ("isLessThan", [V(a), V(b)]) => Bool(a < b),
        ("compareTo", [V(a), V(b)]) => Int(a.cmp(b) as i64),
        ("semver", [S(s)]) => V(Arc::new(Semver::parse(s)?)),
        ("semver", [S(s), Bool(tolerant)]) => V(Arc::new(parse_semver(s, *tolerant)?)),
        ("isSemver", [S(s)]) => Bool(Semver::parse(s).is_ok()),
        ("isSemver", [S(s), Bool(tolerant)]) => Bool(parse_semver(s, *tolerant).is_ok()),
        ("major", [V(v)]) => Int(v.major as i64),
        ("minor", [V(v)]) => Int(v.minor as i64),
        ("patch", [V(v)]) => Int(v.patch as i64),
        ("sets.contains", [List(a), List(b)]) => Bool(subset(b, a)?),
        ("sets.equivalent", [List(a), List(b)]) => Bool(subset(a, b)? && subset(b, a)?),
        ("sets.intersects", [List(a), List(b)]) => Bool(a.iter().any(|x| b.iter().any(|y| x.equals(y) == Ok(true)))),
        (_, [List(items), rest @ ..]) => return list_function(name, items, rest),
        (_, [S(s), rest @ ..]) => return string_function(name, s, rest),
        _ => return Err(no_overload(name, args)),
    })
}

fn no_overload(name: &str, args: &[Value<'_>]) -> EvalError {
    EvalError::NoSuchFunction { function: name.into(), types: args.iter().map(Value::type_name).collect() }
}

fn parse_quantity(text: &str) -> Result<Quantity, EvalError> {
    text.parse().map_err(|_| EvalError::Quantity)
}

fn parse_semver(text: &str, tolerant: bool) -> Result<Semver, SemverError> {
    if tolerant { Semver::parse_tolerant(text) } else { Semver::parse(text) }
}

fn whole(quantity: Quantity) -> Option<i64> {
    (quantity.nanos() % 1_000_000_000 == 0).then(|| quantity.value())
}

fn search<'a>(name: &str, text: &str, pattern: &Str, rest: &[Value<'a>], regexes: &Regexes) -> Result<Value<'a>, EvalError> {
    let fresh;
    let regex = if let Some(regex) = regexes.get(pattern) {
        regex
    } else {
        fresh = Regex::new(pattern).map_err(|_| EvalError::Regex(pattern.clone()))?;
        &fresh
    };
    match (name, rest) {
        ("matches", []) => Ok(Value::Bool(regex.is_match(text))),
        ("find", []) => Ok(Value::string(regex.find(text).map_or("", |m| m.as_str()))),
        ("findAll", [] | [Value::Int(_)]) => {
            let limit = match rest {
                [Value::Int(n)] => usize::try_from(*n).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            Ok(Value::list(regex.find_iter(text).take(limit).map(|m| Value::string(m.as_str())).collect()))
        }
        _ => Err(no_overload(name, rest)),
    }
}

fn convert<'a>(name: &str, value: &Value<'a>) -> Result<Value<'a>, EvalError> {
    use Value::{Bool, Bytes, Double, Int, String as S, Uint};
    let unparsable = |to: &'static str| EvalError::Conversion { from: value.type_name(), to };
    Ok(match (name, value) {
        ("int", Int(_)) | ("uint", Uint(_)) | ("double", Double(_)) | ("string", S(_)) | ("bytes", Bytes(_)) | ("bool", Bool(_)) => {
            value.clone()
        }
        ("int", Uint(u)) => Int(i64::try_from(*u).map_err(|_| EvalError::IntegerOverflow)?),
        ("int", Double(d)) if *d > -9.3e18 && *d < 9.2e18 => Int(*d as i64),
        ("uint", Int(i)) => Uint(u64::try_from(*i).map_err(|_| EvalError::IntegerOverflow)?),
        ("uint", Double(d)) if *d >= 0.0 && *d < 1.8e19 => Uint(*d as u64),
        ("int" | "uint", Double(_)) => return Err(EvalError::IntegerOverflow),
        ("double", Int(i)) => Double(*i as f64),
        ("double", Uint(u)) => Double(*u as f64),
        ("int", S(s)) => Int(s.parse().map_err(|_| unparsable("int"))?),
        ("uint", S(s)) => Uint(s.parse().map_err(|_| unparsable("uint"))?),
        ("double", S(s)) => Double(s.parse().map_err(|_| unparsable("double"))?),
        ("bool", S(s)) => match s.as_str() {
            "true" | "True" | "TRUE" | "t" | "1" => Bool(true),
            "false" | "False" | "FALSE" | "f" | "0" => Bool(false),
            _ => return Err(unparsable("bool")),
        },
        ("string", Bool(_) | Int(_) | Uint(_) | Double(_)) => Value::string(value.to_string()),
        ("string", Bytes(b)) => Value::string(std::str::from_utf8(b).map_err(|_| EvalError::Utf8)?),
        ("bytes", S(s)) => Bytes(s.as_bytes().into()),
        _ => return Err(no_overload(name, std::slice::from_ref(value))),
    })
}

/// Whether every item of `a` is in `b`.
fn subset<'a>(a: &[Value<'a>], b: &[Value<'a>]) -> Result<bool, EvalError> {
    let b = Value::list(b.to_vec());
    for item in a {
        if !b.contains(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn list_function<'a>(name: &str, items: &[Value<'a>], rest: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let position = |mut indexes: Box<dyn Iterator<Item = usize>>, wanted: &Value<'a>| {
        indexes.find(|i| items[*i].equals(wanted) == Ok(true)).map_or(-1, |i| i as i64)
    };
    match (name, rest) {
        ("indexOf", [wanted]) => Ok(Value::Int(position(Box::new(0..items.len()), wanted))),
        ("lastIndexOf", [wanted]) => Ok(Value::Int(position(Box::new((0..items.len()).rev()), wanted))),
        ("isSorted", []) => {
            for pair in items.windows(2) {
                if pair[0].compare(&pair[1])? == Ordering::Greater {
                    return Ok(Value::Bool(false));
                }
            }
            Ok(Value::Bool(true))
        }
        ("min" | "max", []) => {
            let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
            let mut best = items.first().ok_or_else(|| EvalError::EmptyList(name.into()))?;
            for item in items {
                if item.compare(best)? == wanted {
                    best = item;
                }
            }
            Ok(best.clone())
        }
        ("sum", []) => items.iter().skip(1).try_fold(items.first().cloned().unwrap_or(Value::Int(0)), |sum, item| match (sum, item) {
            (Value::Int(a), Value::Int(b)) => a.checked_add(*b).map(Value::Int).ok_or(EvalError::IntegerOverflow),
            (Value::Uint(a), Value::Uint(b)) => a.checked_add(*b).map(Value::Uint).ok_or(EvalError::UnsignedOverflow),
            (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
            (sum, item) => Err(no_overload(name, &[sum, item.clone()])),
        }),
        ("join", [] | [Value::String(_)]) => {
            let mut parts = Vec::with_capacity(items.len());
            for item in items {
                let Value::String(s) = item else { return Err(EvalError::JoinInput(item.to_string())) };
                parts.push(s.as_str());
            }
            let separator = if let [Value::String(s)] = rest { s.as_str() } else { "" };
            Ok(Value::string(parts.join(separator)))
        }
        _ => Err(no_overload(name, &[&[Value::list(items.to_vec())], rest].concat())),
    }
}

fn string_function<'a>(name: &str, text: &Str, rest: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    use Value::{Int, String as S};
    let chars: Vec<char> = text.chars().collect();
    let index = |at: i64| usize::try_from(at).ok().filter(|i| *i <= chars.len()).ok_or(EvalError::IndexOutOfRange(at));
    let slice = |from: usize, to: usize| Value::string(chars[from..to].iter().collect::<String>());
    match (name, rest) {
        ("charAt", [Int(at)]) => index(*at).map(|i| slice(i, (i + 1).min(chars.len()))),
        ("lowerAscii", []) => Ok(Value::string(text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Value::string(text.to_ascii_uppercase())),
        ("trim", []) => Ok(Value::string(text.trim())),
        ("substring", [Int(from)]) => index(*from).map(|from| slice(from, chars.len())),
        ("substring", [Int(from), Int(to)]) if from > to => Err(EvalError::SubstringRange { from: *from, to: *to }),
        ("substring", [Int(from), Int(to)]) => Ok(slice(index(*from)?, index(*to)?)),
        ("indexOf" | "lastIndexOf", [S(part), at @ ..]) => {
            let part: Vec<char> = part.chars().collect();
            let starts = |i: &usize| chars[*i..].starts_with(&part);
            let found = match (name, at) {
                ("indexOf", []) => (0..=chars.len()).find(starts),
                ("indexOf", [Int(at)]) => (index(*at)?..=chars.len()).find(starts),
                ("lastIndexOf", []) => (0..=chars.len()).rev().find(starts),
                ("lastIndexOf", [Int(at)]) => (0..=index(*at)?).rev().find(starts),
                _ => return Err(no_overload(name, rest)),
            };
            Ok(Int(found.map_or(-1, |i| i as i64)))
        }
        ("replace", [S(old), S(new), limit @ ..]) => {
            let limit = if let [Int(n)] = limit { usize::try_from(*n).unwrap_or(usize::MAX) } else { usize::MAX };
            Ok(Value::string(text.replacen(old.as_str(), new, limit)))
        }
        ("split", [S(separator), limit @ ..]) => {
            let limit = if let [Int(n)] = limit { usize::try_from(*n).unwrap_or(usize::MAX) } else { usize::MAX };
            Ok(Value::list(split(text, separator, limit).into_iter().map(Value::string).collect()))
        }
        _ => Err(no_overload(name, &[&[S(text.clone())], rest].concat())),
    }
}

/// Go's `strings.SplitN`: an empty separator splits between characters.
fn split(text: &str, separator: &str, limit: usize) -> Vec<String> {
    if limit == 0 {
        return Vec::new();
    }
    if !separator.is_empty() {
        return text.splitn(limit, separator).map(str::to_owned).collect();
    }
    let mut parts: Vec<String> = text.chars().map(String::from).collect();
    if parts.len() > limit {
        let rest = parts.split_off(limit - 1).concat();
        parts.push(rest);
    }
    parts
}
