//! Tests of `delta_queue`.

use super::*;

fn pod(name: &str, node: &str) -> Object {
    let json = format!(r#"{{"kind":"Pod","metadata":{{"name":"{name}","namespace":"x"}},"spec":{{"nodeName":"{node}"}}}}"#);
    serde_json::from_str(&json).unwrap()
}

fn words(changes: &[Change]) -> String {
    let node = |object: &Object| if let Object::Pod(pod) = object { pod.node_name.to_string() } else { unreachable!() };
    let word = |change: &Change| match change {
        Change::Put(object) => format!("+{}@{}", object.key().name, node(object)),
        Change::Gone(object) => format!("-{}@{}", object.key().name, node(object)),
        Change::Event(event) => format!("!{}x{}", event.pod.name, event.count),
        Change::Listed(kind) => format!("?{kind}"),
        Change::Unreadable(kind, count) => format!("%{kind}x{count}"),
    };
    changes.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn only_the_outcome_of_several_changes_is_reported() {
    type Step = fn(&mut DeltaQueue, Object, Object, Object);
    let (old, new, newer) = (|| pod("a", "1"), || pod("a", "2"), || pod("a", "3"));
    let cases: [(Step, &str); 9] = [
        (|p, _, new, _| p.put(None, new, false), "+a@2"),
        (|p, old, new, newer| (p.put(Some(old), new.clone(), false), p.put(Some(new), newer, false)).0, "+a@3"),
        (|p, old, new, _| (p.put(Some(old.clone()), new.clone(), false), p.put(Some(new), old, false)).0, ""),
        (|p, _, new, _| (p.put(None, new.clone(), false), p.gone(new)).0, ""),
        (|p, old, new, _| (p.put(Some(old), new.clone(), false), p.gone(new)).0, "-a@1"),
        (|p, old, new, _| (p.gone(old), p.put(None, new, false)).0, "-a@1 +a@2"),
        (|p, old, new, _| (p.gone(old), p.put(None, new.clone(), false), p.gone(new)).0, "-a@1"),
        (|p, old, new, _| p.put(Some(old), new, true), "-a@1 +a@2"),
        (|p, old, new, newer| (p.put(Some(old), new.clone(), false), p.put(Some(new), newer, true)).0, "-a@1 +a@3"),
    ];
    for (number, (step, expected)) in cases.into_iter().enumerate() {
        let mut pending = DeltaQueue::default();
        step(&mut pending, old(), new(), newer());
        assert_eq!(words(&pending.take(10)), expected, "case {number}");
        assert!(pending.is_empty() && pending.places.is_empty());
    }
}

#[test]
fn order_is_that_of_arrival_and_events_are_bounded() {
    let mut pending = DeltaQueue::default();
    let event = |name: &str, count| ObservedEvent { pod: Key::new("x", name), count, ..ObservedEvent::default() };
    pending.put(None, pod("b", "1"), false);
    pending.event("1".into(), event("b", 1));
    pending.put(None, pod("a", "1"), false);
    pending.listed(Kind::Pod);
    pending.listed(Kind::Pod);
    pending.unreadable(Kind::Pod, 1);
    pending.unreadable(Kind::Pod, 2);
    pending.put(Some(pod("b", "1")), pod("b", "2"), false);
    pending.event("1".into(), event("b", 2));
    assert_eq!(words(&pending.take(2)), "+b@2 !bx2");
    assert_eq!(words(&pending.take(9)), "+a@1 ?Pod %Podx2");
    for number in 0..=QUEUED_EVENTS {
        pending.event(number.to_string(), event("c", number as u32));
    }
    let taken = pending.take(usize::MAX);
    assert_eq!(taken.len(), QUEUED_EVENTS);
    assert!(matches!(&taken[0], Change::Event(event) if event.count == 1));
    assert!(pending.is_empty());
}
