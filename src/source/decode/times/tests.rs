//! Tests of `times`.

use super::*;

#[test]
fn times_that_are_none_are_named_and_taken_out() {
    let text = r#"{"metadata":{"creationTimestamp":"soon","annotations":{"startTime":"x"}},
        "status":{"startTime":null,"conditions":[{"lastTransitionTime":5}]}}"#;
    let (mended, said) = without_bad_times(text.as_bytes(), Syntax::Json).unwrap();
    let mended: Value = serde_json::from_slice(&mended).unwrap();
    assert_eq!(mended["metadata"]["creationTimestamp"], Value::Null);
    assert_eq!(
        (&mended["metadata"]["annotations"]["startTime"], &mended["status"]["conditions"][0]["lastTransitionTime"]),
        (&"x".into(), &Value::Null)
    );
    assert_eq!(said, r#"metadata.creationTimestamp "soon" is not a time, and 1 more are not; the object was read without them"#);
    let yaml = "metadata:\n  creationTimestamp: 2026-13-01T00:00:00Z\n";
    let (_, said) = without_bad_times(yaml.as_bytes(), Syntax::Yaml).unwrap();
    assert_eq!(said, r#"metadata.creationTimestamp "2026-13-01T00:00:00Z" is not a time; the object was read without it"#);
    assert!(without_bad_times(br#"{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}"#, Syntax::Json).is_none());
}

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
