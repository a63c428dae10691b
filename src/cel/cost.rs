//! The run-time costs of operations. Mirrors `costCall` in cel-go's `interpreter/runtimecost.go`, the trackers of
//! `ext/lists.go` and `ext/sets.go`, and `CallCost` in `staging/src/k8s.io/apiserver/pkg/cel/library/cost.go`.

use super::budget;
use super::error::EvalError;
use super::value::Value;

/// The costs of constructing a list, a map and a message.
pub(super) const LIST: u64 = 10;
pub(super) const MAP: u64 = 30;
pub(super) const MESSAGE: u64 = 40;

/// Returns the cost of traversing a text.
fn traversal(size: u64, times: f64) -> u64 {
    (size as f64 * times * 0.1).ceil() as u64
}

/// Returns the cost of matching a text with a pattern, given their sizes.
fn matching(text: u64, pattern: u64) -> u64 {
    let regex = (pattern as f64 * 0.25).ceil() as u64;
    (((1.0 + text as f64) * 0.1).ceil() as u64).saturating_mul(regex)
}

/// Returns the cost of constructing a list.
fn allocating(size: u64, factor: f64) -> u64 {
    (size as f64 * factor) as u64 + 1 + LIST
}

/// Returns the size of a value, or of the value in an optional.
fn held_size(value: &Value) -> u64 {
    match value {
        Value::Optional(Some(held)) => held_size(held),
        other => other.size(),
    }
}

/// Returns the cost of traversing a value completely.
fn whole(value: &Value) -> u64 {
    if !budget::spend(1) {
        return u64::MAX;
    }
    match value {
        Value::String(s) => (s.len() as f64 * 0.1) as u64,
        Value::Bytes(b) => (b.len() as f64 * 0.1) as u64,
        Value::List(items) => items.iter().map(whole).fold(0, u64::saturating_add),
        Value::Map(map) => map.entries.iter().map(|(k, v)| whole(&k.0).saturating_add(whole(v))).fold(0, u64::saturating_add),
        _ => 1,
    }
}

/// Returns the cost of `==`, or of `!=` if negated; a failed side counts as one.
pub(super) fn equality(left: &Value, right: &Value, negated: bool) -> u64 {
    let kubernetes =
        matches!(left, Value::Quantity(_) | Value::Semver(_) | Value::Ip(_) | Value::Cidr(_) | Value::Url(_) | Value::Format(_));
    if kubernetes && !negated { 1 } else { traversal(held_size(left).min(held_size(right)), 1.0) }
}

/// Returns the cost of sorting a list, or of comparing its elements pairwise.
fn self_compared(value: &Value) -> u64 {
    let size = value.size();
    let text = matches!(value, Value::List(items) if matches!(items.first(), Some(Value::String(_) | Value::Bytes(_))));
    allocating(size.saturating_mul(size), if text { 2.1 } else { 2.0 })
}

/// Checks that the arguments have the types that cel-go needs for the cost of a call; it panics otherwise.
pub(super) fn check(overload: Option<&str>, args: &[Value]) -> Result<(), EvalError> {
    let list = match overload.unwrap_or_default() {
        "list_flatten_int" => {
            return match args.get(1) {
                None | Some(Value::Int(_)) => Ok(()),
                Some(other) => Err(EvalError::NotInt(other.go_type())),
            };
        }
        "list_distinct" => args.first(),
        id if id.ends_with("_sort") => args.first(),
        id if id.ends_with("_sortByAssociatedKeys") => args.get(1),
        _ => None,
    };
    match list {
        None | Some(Value::List(_)) => Ok(()),
        Some(other) => {
            let is_number = matches!(other, Value::Int(_) | Value::Uint(_) | Value::Double(_));
            let adds = is_number || matches!(other, Value::String(_) | Value::Bytes(_) | Value::Duration(_) | Value::Timestamp(_));
            Err(EvalError::NotLister { go: other.go_type(), missing: if adds { "Contains" } else { "Add" } })
        }
    }
}

/// Whether the cost of a call depends on its result.
pub(super) fn by_result(function: &str) -> bool {
    matches!(function, "slice" | "lists.range" | "reverse" | "join")
}

/// Returns the cost of a call; `overload` is set if only one matches.
pub(super) fn call(function: &str, overload: Option<&str>, args: &[Value], result: &Value) -> u64 {
    let size = |i: usize| args.get(i).map_or(1, Value::size);
    match overload.unwrap_or_default() {
        "list_slice" | "lists_range" | "list_reverse" => return allocating(result.size(), 1.0),
        "list_flatten" => return allocating(size(0), 1.0),
        "list_flatten_int" => {
            let depth = if let Some(Value::Int(depth)) = args.get(1) { *depth as f64 } else { 1.0 };
            let size = size(0) as f64 * depth;
            // A negative depth wraps around, as in Go.
            let size = if size < 0.0 { size as i64 as u64 } else { size as u64 };
            return size.wrapping_add(1 + LIST);
        }
        "list_distinct" => return args.first().map_or(1, self_compared),
        id if id.ends_with("_sort") => return args.first().map_or(1, self_compared),
        id if id.ends_with("_sortByAssociatedKeys") => return args.get(1).map_or(1, self_compared),
        "list_sets_contains_list" | "list_sets_intersects_list" => return 1 + size(0).saturating_mul(size(1)),
        "list_sets_equivalent_list" => return 1 + size(0).saturating_mul(size(1)).saturating_mul(2),
        _ => {}
    }
    match function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => args.first().map_or(0, whole),
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "quantity" | "isQuantity" | "semver"
        | "isSemver" => traversal(size(0), 1.0),
        "replace" | "split" | "ip.isCanonical" => traversal(size(0), 2.0),
        "join" => traversal(result.size(), 2.0),
        "find" | "findAll" => matching(size(0), size(1)),
        "ip" if overload == Some("cidr_ip") => 1,
        "ip" => traversal(size(0), 1.0),
        "containsIP" => {
            let parsed = if overload == Some("cidr_contains_ip_string") { traversal(size(1), 1.0) } else { 0 };
            traversal(size(0) * 2, 1.0) + parsed
        }
        "containsCIDR" => {
            let parsed = if overload == Some("cidr_contains_cidr_string") { traversal(size(1), 1.0) } else { 0 };
            traversal(size(0) * 2, 1.0) + traversal(size(0), 1.0) + 1 + parsed
        }
        "validate" => match args.first() {
            Some(Value::Format(format)) => matching(size(1), format.regex_size),
            _ => 1,
        },
        _ => by_overload(overload.unwrap_or_default(), args),
    }
}

fn by_overload(overload: &str, args: &[Value]) -> u64 {
    let size = |i: usize| args.get(i).map_or(1, held_size);
    match overload {
        "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => {
            traversal(size(0), 1.0)
        }
        "in_list" => size(1),
        "add_string" | "add_bytes" => traversal(size(0) + size(1), 1.0),
        "matches_string" => matching(size(0), size(1)),
        "contains_string" => traversal(size(0), 1.0).saturating_mul(traversal(size(1), 1.0)),
        id if ["less_", "greater_"].iter().any(|p| id.starts_with(p)) && (id.ends_with("_string") || id.ends_with("_bytes")) => {
            traversal(size(0).min(size(1)), 1.0)
        }
        _ => 1,
    }
}
