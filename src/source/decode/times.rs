//! Finds the newest time in a dump, which is close to when it was taken and starts the virtual clock.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::cluster::{Condition, Object, Str};
use crate::source::read::split::Syntax;

/// The times of a Lease, as written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::source) struct Clock {
    metadata: ClockMeta,
    spec: LeaseSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClockMeta {
    creation_timestamp: Str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeaseSpec {
    renew_time: Str,
}

impl Clock {
    /// Returns the newest time; invalid ones are ignored.
    pub(in crate::source) fn newest(&self) -> Option<Timestamp> {
        [&self.metadata.creation_timestamp, &self.spec.renew_time].into_iter().filter_map(|text| text.parse().ok()).max()
    }
}

/// Returns the newest time in an object. The deletion timestamp does not count: it lies ahead by the grace period.
pub(in crate::source) fn newest(object: &Object) -> Option<Timestamp> {
    let conditions = |conditions: &[Condition]| conditions.iter().filter_map(|c| c.last_transition_time).max();
    let status = match object {
        Object::Pod(pod) => conditions(&pod.status.conditions).max(pod.status.start_time),
        Object::Node(node) => conditions(&node.status.conditions),
        _ => None,
    };
    status.max(object.meta().creation_timestamp)
}

/// Returns the newest time under `keys` in an object's text. The model does not hold these times (heartbeats of nodes,
/// readiness of pods), but they show when a dump was taken.
pub(in crate::source) fn newest_in_text(text: &[u8], keys: &[&str]) -> Option<Timestamp> {
    let times = keys.iter().flat_map(|key| {
        memchr::memmem::find_iter(text, key).filter_map(move |at| {
            let rest = &text[at + key.len()..];
            let start = rest.iter().take(8).position(u8::is_ascii_digit)?;
            let end = rest[start..].iter().take(40).position(|b| *b == b'Z')?;
            Some(&rest[start..=start + end])
        })
    });
    // Times of one format sort as text.
    std::str::from_utf8(times.max()?).ok()?.parse().ok()
}

/// The fields with times that the model reads.
const FIELDS: [&str; 6] = ["creationTimestamp", "deletionTimestamp", "startTime", "lastTransitionTime", "allocationTimestamp", "timeAdded"];

/// Fields whose keys are user data.
const DATA: [&str; 5] = ["annotations", "labels", "managedFields", "matchLabels", "nodeSelector"];

/// Returns the object as JSON without its invalid times, and a message about these:
/// `metadata.creationTimestamp "soon" is no time`. `None` if all times are valid, or if the text does not parse.
pub(in crate::source) fn without_bad_times(text: &[u8], syntax: Syntax) -> Option<(Vec<u8>, String)> {
    let mut object: Value = match syntax {
        Syntax::Json => serde_json::from_slice(text).ok()?,
        Syntax::Yaml => Value::deserialize(serde_yaml::Deserializer::from_slice(text)).ok()?,
    };
    let mut bad = Vec::new();
    take_bad_times(&mut object, "", &mut bad);
    let first = bad.first()?;
    let said = match bad.len() {
        1 => format!("{first} is not a time; the object was read without it"),
        count => format!("{first} is not a time, and {} more are not; the object was read without them", count - 1),
    };
    Some((serde_json::to_vec(&object).ok()?, said))
}

fn take_bad_times(value: &mut Value, path: &str, bad: &mut Vec<String>) {
    /// The number of characters of an invalid value that are shown.
    const SHOWN: usize = 60;
    let at = |part: &str| if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") };
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter_mut().filter(|(key, _)| !DATA.contains(&key.as_str())) {
                let sound = value.is_null() || value.as_str().is_some_and(|text| text.parse::<Timestamp>().is_ok());
                if FIELDS.contains(&key.as_str()) && !sound {
                    let shown: String = value.to_string().chars().take(SHOWN).collect();
                    bad.push(format!("{} {shown}", at(key)));
                    *value = Value::Null;
                } else {
                    take_bad_times(value, &at(key), bad);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                take_bad_times(item, &format!("{path}[{index}]"), bad);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
