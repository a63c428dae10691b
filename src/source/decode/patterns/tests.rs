//! Pods that fit a pattern are decoded as without one.

use serde_json::{Value, json};

use super::super::decode_model;
use super::*;
use crate::cluster::Kind;

const TYPES: &str = "v1";

fn plainly(text: &[u8]) -> Modelled {
    decode_model(text, Syntax::Json, Kind::Pod, "Pod", Some(TYPES), &Hint::default())
}

/// Returns the bytes of all patterns, and the number of parts that had one.
fn met(patterns: &Patterns) -> (usize, usize) {
    let known = patterns.read();
    let hits = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    let all = hits(&known.metadata.hits) + hits(&known.specs.hits) + hits(&known.statuses.hits);
    (known.metadata.tree.size().max(known.specs.tree.size()).max(known.statuses.tree.size()), all)
}

/// Decodes a text both ways, compares, and returns how many of its parts had a pattern.
fn check(patterns: &Patterns, text: &str) -> usize {
    let (_, before) = met(patterns);
    let found = patterns.pod(text.as_bytes(), Some(TYPES), &Hint::default());
    let plain = plainly(text.as_bytes());
    match found {
        Some((newest, what, metadata)) => {
            assert_eq!((newest, metadata.is_some()), (plain.0, plain.2.is_some()), "{text}");
            assert_eq!(format!("{what:?}"), format!("{:?}", plain.1), "{text}");
        }
        None => assert!(matches!(plain.1, DecodedItem::Error(_) | DecodedItem::Mended(..)), "{text}"),
    }
    met(patterns).1 - before
}

/// A pod of a workload, as an API server writes it.
fn pod(workload: &str, number: u32) -> Value {
    let time = |second: u32| format!("2026-01-{:02}T00:00:{second:02}Z", number % 28 + 1);
    let condition = |kind: &str| json!({"lastProbeTime": null, "lastTransitionTime": time(9), "status": "True", "type": kind});
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "creationTimestamp": time(1), "labels": {"app": workload, "name": "x"}, "name": format!("{workload}-{number}"),
            "namespace": "shop", "ownerReferences": [{"kind": "ReplicaSet", "name": workload, "uid": "1"}],
            "resourceVersion": format!("{}", 1000 + number), "uid": format!("uid-{number}"),
            "managedFields": [{"time": time(2), "fieldsV1": {"f:status": {}}}],
        },
        "spec": {
            "containers": [{"name": "c", "image": "i:1", "env": [{"name": "A", "value": "b"}],
                "volumeMounts": [{"name": format!("kube-api-access-{:05}", number)}],
                "resources": {"requests": {"cpu": "1"}}}],
            "nodeName": format!("node-{number}"), "priority": 7,
            "volumes": [{"name": format!("kube-api-access-{:05}", number), "projected": {}}],
        },
        "status": {
            "conditions": [condition("Ready"), condition("PodScheduled"), condition("Initialized")],
            "containerStatuses": [{"containerID": format!("c://{number}"), "image": "i:1", "name": "c", "restartCount": 0,
                "state": {"running": {"startedAt": time(3)}}}],
            "hostIP": format!("10.0.0.{number}"), "phase": "Running", "podIP": format!("10.1.0.{number}"),
            "podIPs": [{"ip": format!("10.1.0.{number}")}], "startTime": time(2),
        },
    })
}

fn texts(value: &Value) -> [String; 2] {
    [value.to_string(), serde_json::to_string_pretty(value).unwrap()]
}

#[test]
fn pods_of_one_template_are_recognised_and_equal_what_parsing_yields() {
    let patterns = Patterns::default();
    for form in 0..2 {
        assert_eq!(check(&patterns, &texts(&pod("web", 1))[form]), 0);
        for number in 2..40 {
            assert_eq!(check(&patterns, &texts(&pod("web", number))[form]), 3, "{number}");
        }
        // Another workload has the same spec and status.
        let met: Vec<usize> = (1..4).map(|number| check(&patterns, &texts(&pod("db", number))[form])).collect();
        assert_eq!(met, [2, 3, 3]);
    }
}

#[test]
fn what_differs_in_any_other_way_is_parsed() {
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value = pod("web", 3);
        change(&mut value);
        value
    };
    let set = |pointer: &'static str, to: Value| changed(&|value| *value.pointer_mut(pointer).unwrap() = to.clone());
    let without = |pointer: &'static str, key: &'static str| {
        changed(&|value| drop(value.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap().remove(key)))
    };
    let late = json!({"type": "Own", "status": "False", "lastTransitionTime": "2027-01-01T00:00:00Z"});
    for value in [
        set("/metadata/name", json!("")),
        set("/metadata/name", json!("a\"b\u{e9}")),
        set("/metadata/name", json!(7)),
        set("/metadata/uid", json!("")),
        set("/metadata/namespace", json!("")),
        set("/metadata/namespace", json!("other")),
        set("/metadata/resourceVersion", json!("x7")),
        set("/metadata/creationTimestamp", json!("soon")),
        set("/metadata/creationTimestamp", json!("2026-02-30T00:00:00Z")),
        set("/metadata/creationTimestamp", json!("2026-02-28T00:00:00.5Z")),
        set("/metadata/labels/name", json!("y")),
        set("/metadata/managedFields/0/time", json!(null)),
        set("/spec/nodeName", json!("")),
        set("/spec/nodeName", json!(null)),
        set("/spec/priority", json!(8)),
        set("/spec/priority", json!("8")),
        set("/spec/volumes/0/name", json!("data-00003")),
        set("/spec/containers/0/name", json!("kube-api-access-abcde")),
        set("/spec/containers/0/name", json!("kube-scheduler")),
        set("/status/phase", json!("Failed")),
        set("/status/startTime", json!("x")),
        set("/status/conditions/0/status", json!("False")),
        set("/status/conditions/0/lastTransitionTime", json!("2027-01-01T00:00:00Z")),
        set("/status/conditions/0/lastTransitionTime", json!("2027-01-01")),
        set("/status/conditions/0/lastTransitionTime", json!("2027-13-01T00:00:00Z")),
        set("/status/conditions/2", late),
        set("/status/containerStatuses/0/containerID", json!("")),
        set("/status/containerStatuses/0/restartCount", json!(4)),
        without("/spec", "nodeName"),
        without("/status", "startTime"),
        without("/metadata", "uid"),
        without("/metadata", "namespace"),
        without("", "status"),
    ] {
        let patterns = Patterns::default();
        for form in 0..2 {
            let [text, other] = [texts(&value)[form].clone(), texts(&pod("web", 4))[form].clone()];
            // As the first, among those that are known, and as a pattern itself.
            check(&patterns, &text);
            check(&patterns, &text);
            check(&patterns, &other);
            check(&patterns, &texts(&pod("web", 5))[form]);
            check(&patterns, &text);
        }
    }
}

#[test]
fn text_that_is_broken_is_not_taken_for_a_pod() {
    let patterns = Patterns::default();
    let [text, _] = texts(&pod("web", 1));
    check(&patterns, &text);
    let [text, _] = texts(&pod("web", 2));
    assert_eq!(check(&patterns, &text), 3);
    for at in 0..text.len() {
        for broken in [b'"', b'}', b',', b'\\', 0, 0xff] {
            let mut bytes = text.clone().into_bytes();
            if bytes[at] == broken {
                continue;
            }
            bytes[at] = broken;
            let found = patterns.pod(&bytes, Some(TYPES), &Hint::default());
            let (_, plain, _) = plainly(&bytes);
            if let Some((_, found, _)) = found {
                assert_eq!(format!("{found:?}"), format!("{plain:?}"), "{at} {broken}");
            }
        }
        assert!(patterns.pod(&text.as_bytes()[..at], Some(TYPES), &Hint::default()).is_none(), "{at}");
    }
    for odd in [format!("{text},"), format!("{text}{text}"), text.replacen("{\"", "{,\"", 1), format!("[{text}]")] {
        assert!(patterns.pod(odd.as_bytes(), Some(TYPES), &Hint::default()).is_none());
    }
    // Members in another order are parsed as a whole.
    assert!(patterns.pod(br#"{"status":{},"spec":{},"metadata":{"name":"a"}}"#, Some(TYPES), &Hint::default()).is_none());
}

#[test]
fn patterns_take_bounded_memory() {
    const MOST: usize = 4000;
    let patterns = Patterns { most: MOST, ..Patterns::default() };
    for number in 0..200 {
        let [text, _] = texts(&pod(&format!("workload-{}", number % 50), number));
        check(&patterns, &text);
        // The last pattern may go beyond it.
        assert!(met(&patterns).0 < MOST + 2 * text.len(), "{number}");
    }
    assert!(met(&patterns).1 >= 200);
}

#[test]
fn patterns_that_are_not_met_again_are_not_made_for_ever() {
    let mut known = Met::<u32>::default();
    for value in 0..TRIAL as u32 {
        assert!(known.is_worth_it());
        let text = value.to_string();
        known.add(&[Piece::Literal(format!("{{{text}}}").as_bytes())], value, usize::MAX);
    }
    assert!(!known.is_worth_it());
    known.hits.fetch_add(TRIAL, Ordering::Relaxed);
    assert!(known.is_worth_it());
}

#[test]
fn times_of_gaps_are_read_as_any_time() {
    for text in ["2026-01-02T03:04:05Z", "2024-02-29T23:59:59Z", "2023-02-29T00:00:00Z", "0000-12-31T00:00:00Z", "9999-12-30T21:59:59Z"] {
        let is_gap = Gap::Created.length(format!("{text}\"").as_bytes()).is_some();
        let expected: Option<Timestamp> = text.parse().ok();
        assert_eq!((gap::parse(text.as_bytes()), is_gap), (expected, expected.is_some()), "{text}");
    }
}

#[test]
fn a_pod_of_a_typed_list_needs_no_type_and_may_have_none() {
    let patterns = Patterns::default();
    let listed = |text: &str| patterns.listed_pod(text.as_bytes(), Some(TYPES), &Hint::default());
    for number in 1..5 {
        let mut value = pod("web", number);
        assert!(listed(&value.to_string()).is_none(), "its own type decides");
        let object = value.as_object_mut().unwrap();
        object.remove("kind");
        assert!(listed(&json!(object).to_string()).is_none(), "its own version decides");
        object.remove("apiVersion");
        let text = json!(object).to_string();
        let (before, (newest, what, _)) = (met(&patterns).1, listed(&text).unwrap());
        let plain = plainly(text.as_bytes());
        assert_eq!((newest, format!("{what:?}")), (plain.0, format!("{:?}", plain.1)));
        assert_eq!(met(&patterns).1 - before, if number == 1 { 0 } else { 3 });
    }
}
