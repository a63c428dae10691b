//! Tests of `events`.

use super::*;
use crate::source::{Input, Loaded, Severity, load};

const CORE: &str = r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"web.1","namespace":"shop","uid":"e1",
        "creationTimestamp":"2026-01-01T00:00:00Z"},"involvedObject":{"apiVersion":"v1","kind":"Pod","name":"web","namespace":"shop",
        "uid":"u1"},"reason":"FailedScheduling","message":"0/1 nodes are available: 1 \"Too\" many pods.","count":3,"eventTime":null,
        "firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:30Z","source":{"component":"default-scheduler"},
        "reportingComponent":"","series":null,"type":"Warning"}"#;

const NEW: &str = r#"{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"web.2","namespace":"shop",
        "creationTimestamp":"2026-01-01T00:00:00Z"},"regarding":{"kind":"Pod","name":"web","namespace":"shop"},
        "reason":"FailedScheduling","note":"a note","eventTime":"2026-01-01T00:01:00.123456Z","deprecatedCount":0,
        "deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null,"deprecatedSource":{},
        "series":{"count":7,"lastObservedTime":"2026-01-01T00:02:00.5Z"},"reportingController":"mine"}"#;

fn read(text: &str) -> Loaded {
    load(&[Input::Bytes { name: "test".into(), bytes: text.as_bytes().to_vec().into() }])
}

fn words(event: &ObservedEvent) -> String {
    let time = |t: Option<Timestamp>| t.map_or_else(|| "-".to_owned(), |t| t.to_string());
    let ObservedEvent { pod, uid, reason, note, controller, count, first, last } = event;
    format!("{pod} {uid:?} {reason} {note:?} {controller:?} {count} {} {}", time(*first), time(*last))
}

const CORE_WORDS: &str = r#"shop/web "u1" FailedScheduling "0/1 nodes are available: 1 \"Too\" many pods." "default-scheduler" 3 2026-01-01T00:00:00Z 2026-01-01T00:00:30Z"#;
const NEW_WORDS: &str = r#"shop/web "" FailedScheduling "a note" "mine" 7 2026-01-01T00:01:00.123456Z 2026-01-01T00:02:00.5Z"#;

#[track_caller]
fn check(text: &str, expected: &[&str]) -> Loaded {
    let loaded = read(text);
    assert_eq!(loaded.events.iter().map(words).collect::<Vec<_>>(), expected, "{text}");
    assert_eq!(loaded.report.events.read, expected.len());
    loaded
}

#[test]
fn both_apis_are_read_in_every_layout() {
    check(CORE, &[CORE_WORDS]);
    check(NEW, &[NEW_WORDS]);
    let loaded = check(&format!(r#"{{"kind":"List","apiVersion":"v1","items":[{CORE},{NEW}]}}"#), &[CORE_WORDS, NEW_WORDS]);
    assert_eq!(loaded.report.newest.unwrap().to_string(), "2026-01-01T00:02:00.5Z");
    // The items of a typed list carry neither kind nor version.
    let bare = |text: &str, version: &str| text.replace(&format!(r#""apiVersion":"{version}","kind":"Event","#), "");
    check(&format!(r#"{{"items":[{}],"kind":"EventList","apiVersion":"v1"}}"#, bare(CORE, "v1")), &[CORE_WORDS]);
    let list = format!(r#"{{"kind":"EventList","apiVersion":"events.k8s.io/v1","items":[{}]}}"#, bare(NEW, "events.k8s.io/v1"));
    check(&list, &[NEW_WORDS]);
    for text in [CORE, NEW] {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let yaml = serde_yaml::to_string(&value).unwrap();
        check(&yaml, &[if text == CORE { CORE_WORDS } else { NEW_WORDS }]);
        let items: String = yaml.lines().map(|line| format!("  {line}\n")).collect();
        let list = format!("apiVersion: v1\nkind: List\nitems:\n-{}", &items[1..]);
        check(&list, &[if text == CORE { CORE_WORDS } else { NEW_WORDS }]);
    }
}

#[test]
fn only_words_of_schedulers_about_pods_are_kept() {
    for (text, kept) in [
        (CORE.replace("FailedScheduling", "Scheduled"), 1),
        (CORE.replace("FailedScheduling", "Preempted"), 1),
        (CORE.replace("FailedScheduling", "NotTriggerScaleUp"), 0),
        (CORE.replace("FailedScheduling", "Killing"), 0),
        (CORE.replace(r#""kind":"Pod""#, r#""kind":"PodGroup""#), 0),
        (CORE.replace(r#""name":"web","#, ""), 0),
        (NEW.replace("events.k8s.io", "events.example.com"), 0),
    ] {
        let loaded = read(&text);
        let other = loaded.report.other_kinds.get("Event").copied().unwrap_or_default();
        assert_eq!((loaded.events.len(), loaded.report.events.read, other), (kept, kept, 1 - kept), "{text}");
        assert!(loaded.diagnostics.iter().all(|d| d.severity != Severity::Error), "{:?}", loaded.diagnostics);
    }
}

#[test]
fn the_newest_state_of_an_event_counts_once_and_keeps_its_place() {
    let later = CORE.replace(r#""count":3"#, r#""count":4"#).replace("00:00:30Z", "00:00:40Z");
    let scheduled = NEW.replace("FailedScheduling", "Scheduled");
    for (first, second) in [(CORE, later.as_str()), (later.as_str(), CORE)] {
        let loaded = read(&format!("{first}{scheduled}{second}"));
        let counts: Vec<u32> = loaded.events.iter().map(|e| e.count).collect();
        assert_eq!((counts, loaded.report.events.superseded), (vec![4, 7], 1));
    }
}

#[test]
fn what_is_missing_is_left_out() {
    check(
        r#"{"kind":"Event","metadata":{"name":"e","namespace":"ns","creationTimestamp":"2026-01-01T00:00:00Z"},
            "involvedObject":{"kind":"Pod","name":"p"},"reason":"Preempted","count":-5,"lastTimestamp":"soon"}"#,
        &[r#"ns/p "" Preempted "" "" 1 2026-01-01T00:00:00Z 2026-01-01T00:00:00Z"#],
    );
}

#[test]
fn a_broken_event_is_reported() {
    for broken in [CORE.replace(r#""count":3"#, r#""count":"x""#), CORE.replace(r#""series":null"#, r#""series":[1]"#)] {
        let loaded = read(&format!(r#"{{"kind":"List","apiVersion":"v1","items":[{broken},{NEW}]}}"#));
        let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
        assert_eq!((errors.len(), loaded.events.len(), loaded.report.events.unreadable), (1, 1, 1), "{errors:?}");
        assert_eq!(errors[0].object.as_deref(), Some("Event shop/web.1"));
        assert!(errors[0].line.is_some());
    }
}
