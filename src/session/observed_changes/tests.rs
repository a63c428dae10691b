use super::*;

#[test]
fn changes_of_some_seconds_become_one_operation() {
    let time = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
    let pod = |name: &str, uid: &str| -> Object {
        serde_json::from_str(&format!(r#"{{"kind":"Pod","metadata":{{"name":"{name}","namespace":"x","uid":"{uid}"}}}}"#)).unwrap()
    };
    let mut made = ObservedChanges::new([pod("a", "1")].into_iter().collect(), Vec::new());
    made.flush();
    assert_eq!((made.count(), made.begun()), (0, None));
    made.at(time(1));
    made.put(pod("a", "2"));
    made.put(pod("b", "3"));
    made.at(time(2));
    made.gone(Kind::Pod, Key::new("x", "b"));
    assert_eq!((made.begun(), made.last()), (Some(time(1)), Some(time(2))));
    made.pause("gap".to_owned(), time(9));
    made.state([pod("a", "2"), pod("c", "4")].into_iter().collect(), Vec::new(), "again", time(9));
    let (operations, events) = made.finish();
    let shape = |operation: &Operation| {
        let Operation::Batch { name, operations } = operation else { return String::new() };
        let of = operations.iter().map(|operation| match operation {
            Operation::Create { object } => format!("+{}", object.key()),
            Operation::Update { object } => format!("={}", object.key()),
            Operation::Delete { object } => format!("-{}", object.key()),
            _ => "@".to_owned(),
        });
        format!("{name}: {}", of.collect::<Vec<_>>().join(" "))
    };
    let shapes: Vec<String> = operations.iter().map(shape).collect();
    // A pod with another uid is another one; a pod that came and went within is none.
    let second = time(2).strftime("%H:%M:%SZ");
    assert_eq!(shapes, [format!("recorded at {second}: @ -x/a +x/a @"), "gap: @".to_owned(), "again: @ +x/c @".to_owned()]);
    assert!(events.is_empty());
}

#[test]
fn events_cost_as_much_each_among_many_as_among_few() {
    let time = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
    let event = |number: i64| ObservedEvent {
        pod: Key::new("x", format!("pod-{number}").as_str()),
        reason: "FailedScheduling".into(),
        ..ObservedEvent::default()
    };
    let operations = |events: i64| {
        let mut made = ObservedChanges::new(Cluster::default(), Vec::new());
        let ((), operations) = crate::cluster::operations::counted(|| {
            for number in 0..events {
                made.at(time(number));
                made.event(event(number));
                made.flush();
            }
        });
        assert_eq!(made.count() as i64, events);
        operations
    };
    let (few, many) = (operations(100), operations(400));
    assert!(few > 0 && many < 6 * few, "{few} and {many}");
}
