//! Answers may have more keys than a recorded one; the recorded keys must match exactly.

use serde_json::Value;

/// Maps from names, which are compared as a whole.
const MAPS: [&str; 3] = ["plugins", "scores", "extenders"];

/// Returns `got` with only those keys that `want` has, at every depth.
pub(crate) fn within(want: &Value, got: &Value) -> Value {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            let kept = got.iter().filter_map(|(key, value)| Some((key, want.get(key)?, value)));
            let cut = |key: &str, want, value: &Value| if MAPS.contains(&key) { value.clone() } else { within(want, value) };
            kept.map(|(key, want, value)| (key.clone(), cut(key, want, value))).collect()
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            want.iter().zip(got).map(|(want, got)| within(want, got)).collect()
        }
        _ => got.clone(),
    }
}
