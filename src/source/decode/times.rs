//! Finds the newest time in a dump: the moment at which it was taken, near enough to start a virtual clock from.

use jiff::Timestamp;
use serde::Deserialize;

use crate::cluster::{Condition, Object, Str};

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
    /// The newest time; what does not parse is left out.
    pub(in crate::source) fn newest(&self) -> Option<Timestamp> {
        [&self.metadata.creation_timestamp, &self.spec.renew_time].into_iter().filter_map(|text| text.parse().ok()).max()
    }
}

/// The newest time in an object. A deletion timestamp does not count: it lies ahead by the grace period.
pub(in crate::source) fn newest(object: &Object) -> Option<Timestamp> {
    let conditions = |conditions: &[Condition]| conditions.iter().filter_map(|c| c.last_transition_time).max();
    let status = match object {
        Object::Pod(pod) => conditions(&pod.status.conditions).max(pod.status.start_time),
        Object::Node(node) => conditions(&node.status.conditions),
        _ => None,
    };
    status.max(object.meta().creation_timestamp)
}

/// The newest time under `keys` in an object's text, for times that the model has no use for but that tell when a dump
/// was taken: the heartbeats of nodes, the readiness of pods.
pub(in crate::source) fn newest_in_text(text: &[u8], keys: &[&str]) -> Option<Timestamp> {
    let times = keys.iter().flat_map(|key| {
        memchr::memmem::find_iter(text, key).filter_map(move |at| {
            let rest = &text[at + key.len()..];
            let start = rest.iter().take(8).position(u8::is_ascii_digit)?;
            let end = rest[start..].iter().take(40).position(|b| *b == b'Z')?;
            Some(&rest[start..=start + end])
        })
    });
    // Times of one format are in order as text.
    std::str::from_utf8(times.max()?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_are_found_in_json_and_yaml() {
        let expected: Option<Timestamp> = "2026-11-20T00:00:05Z".parse().ok();
        let newest_heartbeat = |text: &[u8]| newest_in_text(text, &["lastHeartbeatTime", "startedAt"]);
        assert_eq!(newest_heartbeat(br#"{"lastHeartbeatTime": "2026-11-20T00:00:05Z","x":1}, {"lastHeartbeatTime": null}"#), expected);
        assert_eq!(newest_heartbeat(b"- lastHeartbeatTime: 2026-11-20T00:00:05Z\n- lastHeartbeatTime: \"2026-11-20T00:00:01Z\""), expected);
        assert_eq!(newest_heartbeat(b"lastHeartbeatTime: 2026-11-20T00:00:01Z\nstartedAt: 2026-11-20T00:00:05Z"), expected);
        assert_eq!(newest_heartbeat(b"lastHeartbeatTime: soon"), None);
        assert_eq!(newest_heartbeat(b"lastHeartbeatTime"), None);
    }

    #[test]
    fn a_lease_counts_with_its_newest_time() {
        let text = r#"{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"renewTime":"2026-01-01T00:00:07.5Z"}}"#;
        let newest = |text: &str| serde_json::from_str::<Clock>(text).unwrap().newest().unwrap().to_string();
        assert_eq!(newest(text), "2026-01-01T00:00:07.5Z");
        assert_eq!(newest(&text.replace("2026-01-01T00:00:07.5Z", "junk")), "2026-01-01T00:00:00Z");
    }
}
