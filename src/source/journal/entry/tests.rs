//! Tests of `entry`.

use super::*;

#[test]
fn lines_are_read_as_they_are_written() {
    let pod = EntryKey::Object(Kind::Pod, Key::new("a\tb\n\"", "web"));
    let event = EntryKey::Event(7);
    let mut neighbors = Neighbors::default();
    neighbors.add_listed(NeighborKind::Job);
    neighbors.withhold(NeighborKind::Deployment, MissingReason::Partial);
    neighbors.events_withheld = Some(MissingReason::Refused);
    let mut marked = Neighbors::default();
    KnownNeighbors::of(&neighbors).mark(&mut marked);
    assert_eq!(marked, neighbors);
    let knowledge = Knowledge {
        unlisted: [Kind::PodGroup].into_iter().collect(),
        stale: [Kind::Node].into_iter().collect(),
        version: Some("v1.36.2".to_owned()),
        neighbors: Some(KnownNeighbors::of(&neighbors)),
        ..Knowledge::default()
    };
    let mut out = Vec::new();
    let item = |out: &mut Vec<u8>| out.write_all(b"{\"a\":\"\\t\"}");
    put(&mut out, &pod, item).unwrap();
    put(&mut out, &event, item).unwrap();
    gone(&mut out, &pod).unwrap();
    let web = EntryKey::Neighbor(NeighborKind::Deployment, "apps/v1".into(), Key::new("shop", "web"));
    put(&mut out, &web, item).unwrap();
    gone(&mut out, &web).unwrap();
    put(&mut out, &EntryKey::OtherEvent(7), item).unwrap();
    known(&mut out, &knowledge).unwrap();
    let lines: Vec<Option<Entry<'_>>> = out.split(|byte| *byte == b'\n').map(read).collect();
    let json = b"{\"a\":\"\\t\"}".as_slice();
    let expected = [
        Some(Entry::Put(pod.clone(), json)),
        Some(Entry::Put(event, json)),
        Some(Entry::Gone(pod)),
        Some(Entry::Put(web.clone(), json)),
        Some(Entry::Gone(web)),
        Some(Entry::Put(EntryKey::OtherEvent(7), json)),
        Some(Entry::Known(Box::new(knowledge.clone()))),
        None,
    ];
    assert_eq!(lines, expected);
    assert_eq!(knowledge.missing().incomplete.iter().collect::<Vec<_>>(), [Kind::Node]);
}

#[test]
fn other_lines_are_none() {
    for line in [
        "+Pod",
        "+Pod\t\t[\"a\"]\t{}",
        "-Pod\t\t[\"a\",\"b\"]\t{}",
        "+Pod\t[\"a\",\"b\"]\t{}",
        "+Secret\tv1\t[\"a\",\"b\"]\t{}",
        "+Pod\tv1\t[\"a\",\"b\"]\t{}",
        "+Secret\t\t[\"a\",\"b\"]\t{}",
        "+Deployment\t\t[\"a\",\"b\"]\t{}",
        "*Pod\t\t[\"a\",\"b\"]\t{}",
        "?",
        "?{",
    ] {
        assert_eq!(read(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn keys_sort_as_captures_do() {
    let object = |kind, namespace: &str, name: &str| EntryKey::Object(kind, Key::new(namespace, name));
    let sorted = [
        object(Kind::CSIDriver, "", "z"),
        object(Kind::Pod, "a", "b"),
        object(Kind::Pod, "a", "c"),
        object(Kind::Pod, "b", "a"),
        object(Kind::VolumeAttachment, "", "a"),
        EntryKey::Neighbor(NeighborKind::CronJob, "batch/v1".into(), Key::new("b", "a")),
        EntryKey::Neighbor(NeighborKind::Deployment, "apps/v1".into(), Key::new("a", "a")),
        EntryKey::Event(9),
        EntryKey::Event(10),
        EntryKey::OtherEvent(1),
    ];
    assert!(sorted.is_sorted());
}
