//! Tests of `store`.

use super::*;

fn decoded(what: DecodedItem) -> Decoded {
    Decoded { line: 0, index: None, newest: None, what, metadata: None, neighbor: None, change: None }
}

fn node(name: &str, uid: &str, version: u32, unschedulable: bool) -> Decoded {
    let json = format!(
        r#"{{"kind":"Node","metadata":{{"name":"{name}","uid":"{uid}","resourceVersion":"{version}"}},
            "spec":{{"unschedulable":{unschedulable}}}}}"#
    );
    decoded(DecodedItem::Object { object: serde_json::from_str(&json).unwrap(), namespace_defaulted: false, versionless: false })
}

fn words(changes: &[Change]) -> String {
    let word = |object: &Object| format!("{}.{}@{}", object.key(), object.meta().uid, object.meta().resource_version);
    let word = |change: &Change| match change {
        Change::Put(object) => format!("+{}", word(object)),
        Change::Gone(object) => format!("-{}", word(object)),
        Change::Event(event) => format!("!{}", event.count),
        Change::Listed(kind) => format!("?{kind}"),
        Change::Unreadable(kind, count) => format!("%{kind}x{count}"),
    };
    changes.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn an_object_that_turns_unreadable_counts_until_it_is_read_or_gone() {
    let broken = |name: Option<&str>| {
        let object = name.map(|name| format!("Node {name}"));
        let bad = crate::source::decode::DecodeError::new("broken");
        let error = crate::source::decode::DecodeError { kind: Some(Kind::Node), object, ..bad };
        decoded(DecodedItem::Error(Box::new(error)))
    };
    let mut store = Store::default();
    store.put(node("a", "1", 1, false), None);
    store.put(broken(Some("b")), None);
    store.assemble(About::default()).unwrap();
    assert_eq!(store.unreadable(Kind::Node, None), 1);
    store.put(broken(Some("a")), None);
    assert_eq!((words(&store.take(9)).as_str(), store.count(Kind::Node, None)), ("%Nodex2", 1), "its last state stays");
    store.put(node("a", "1", 1, false), None);
    store.gone(Kind::Node, &Key::new("", "b"), None);
    assert_eq!(words(&store.take(9)), "%Nodex0");
    store.put(broken(None), None);
    assert_eq!(words(&store.take(9)), "%Nodex1");
    store.sweep(Kind::Node, None, &[Key::new("", "a")].into());
    assert_eq!((words(&store.take(9)).as_str(), store.unreadable(Kind::Node, None)), ("%Nodex0", 0), "a list without it");
}

#[test]
fn what_changes_nothing_for_scheduling_is_no_change() {
    let mut store = Store::default();
    assert!(store.put(node("a", "1", 1, false), None).changed);
    assert!(!store.put(node("a", "1", 2, false), None).changed);
    let loaded = store.assemble(About { unlisted: [Kind::Pod].into(), ..About::default() }).unwrap();
    assert_eq!((loaded.objects.len(), store.is_gathering()), (1, false));
    assert!(store.assemble(About::default()).is_none());
    for (object, changed, expected) in [
        (node("a", "1", 3, false), false, ""),
        (node("a", "1", 4, true), true, "+a.1@4"),
        (node("a", "2", 5, true), true, "-a.1@4 +a.2@5"),
        (node("b", "1", 6, true), true, "+b.1@6"),
    ] {
        assert_eq!(store.put(object, None).changed, changed);
        assert_eq!(words(&store.take(9)), expected);
    }
    let key = |name: &str| Key::new("", name);
    assert!(!store.gone(Kind::Node, &key("a"), Some("1")), "its successor stays");
    assert!(store.gone(Kind::Node, &key("a"), Some("2")));
    assert!(!store.gone(Kind::Node, &key("a"), None) && !store.gone(Kind::Pod, &key("a"), None));
    assert_eq!(words(&store.take(9)), "-a.2@5");
    assert!(!store.sweep(Kind::Node, None, &[key("b")].into()));
    assert!(store.sweep(Kind::Node, None, &HashSet::new()));
    assert!(store.listed(Kind::Pod) && !store.listed(Kind::Pod) && !store.listed(Kind::Node));
    assert_eq!(words(&store.take(9)), "-b.1@6 ?Pod");
    assert!(!store.has_changes() && store.count(Kind::Node, None) == 0);
}

#[test]
fn events_are_new_once() {
    let event = |count| {
        let event = crate::cluster::ObservedEvent { count, ..Default::default() };
        decoded(DecodedItem::Event(Box::new(SeenEvent { identity: "e".into(), event })))
    };
    let mut store = Store::default();
    assert!(store.put(event(1), None).changed && !store.put(event(1), None).changed && store.put(event(2), None).changed);
    let loaded = store.assemble(About::default()).unwrap();
    assert_eq!(loaded.events.iter().map(|e| e.count).collect::<Vec<_>>(), [2]);
    assert!(!store.put(event(2), None).changed && store.put(event(3), None).changed);
    assert_eq!(words(&store.take(9)), "!3");
}

#[test]
fn what_cannot_be_read_is_reported_and_still_there() {
    let mut store = Store::default();
    let mut seen = HashSet::new();
    let bad = crate::source::decode::DecodeError { kind: Some(Kind::Node), object: Some("Node a".into()), ..bad() };
    assert_eq!(store.put(decoded(bad.into()), Some(&mut seen)), Taken { changed: false, unreadable: 1 });
    assert!(seen.contains(&Key::new("", "a")));
    let loaded = store.assemble(About { name: "there".into(), ..About::default() }).unwrap();
    assert_eq!(loaded.report.kinds[&Kind::Node].unreadable, 1);
    assert_eq!(loaded.diagnostics[0].to_string(), "there: Node a: odd");
}

#[test]
fn old_events_are_forgotten() {
    let mut events = Events::default();
    let event = |number: usize| SeenEvent { identity: number.to_string(), event: crate::cluster::ObservedEvent::default() };
    assert!((0..=KNOWN_EVENTS).all(|number| events.is_new(&event(number))));
    assert!(!events.is_new(&event(1)) && events.is_new(&event(0)), "the oldest is");
    assert_eq!((events.seen.len(), events.order.len()), (KNOWN_EVENTS, KNOWN_EVENTS));
}

fn bad() -> crate::source::decode::DecodeError {
    crate::source::decode::DecodeError::new("odd")
}
