//! Tests of `scheduler_log`.

use super::*;

fn text(cutter: &mut Cutter, piece: &str) -> String {
    String::from_utf8(cutter.take(piece.as_bytes())).unwrap()
}

#[test]
fn values_come_whole_however_they_are_sent() {
    let all = "2026-11-22T10:00:00.1Z I1122 \"a\"\n2026-11-22T10:00:00.2Z I1122 \"Dump\" nodes=<\n\
                   2026-11-22T10:00:00.2Z \tNode name: a\n2026-11-22T10:00:00.2Z  >\n2026-11-22T10:00:00.3Z I1122 \"b\"\n";
    for size in 1..all.len() {
        let mut cutter = Cutter::default();
        let mut parts = Vec::new();
        for piece in all.as_bytes().chunks(size) {
            let part = cutter.take(piece);
            if !part.is_empty() {
                parts.push(String::from_utf8(part).unwrap());
            }
        }
        assert_eq!(parts.concat(), all);
        assert!(parts.iter().all(|part| part.contains("nodes=<") == part.contains(" >\n")), "{parts:?}");
    }
}

#[test]
fn a_value_that_is_too_long_is_passed_on_in_parts() {
    let mut cutter = Cutter::default();
    assert_eq!(cutter.take_values(b"2026-11-22T10:00:00.2Z I1122 \"Dump\" nodes=<\n", 60), b"");
    let part = cutter.take_values(b"2026-11-22T10:00:00.2Z \tNode name: a\n", 60);
    let expected = "2026-11-22T10:00:00.2Z I1122 \"Dump\" nodes=<\n2026-11-22T10:00:00.2Z \tNode name: a\n";
    assert_eq!((String::from_utf8(part).unwrap().as_str(), cutter.rest.len()), (expected, 0));
}

#[test]
fn logs_of_many_schedulers_are_not_all_read() {
    let mut feed = LogFeed::default();
    let added = (0..LOG_PODS + 2).filter(|number| feed.add(&Key::new("kube-system", number.to_string()))).count();
    assert_eq!((added, feed.statuses().len()), (LOG_PODS, LOG_PODS));
}

#[test]
fn lines_that_wait_too_long_are_counted() {
    let (a, b) = (Key::new("kube-system", "a"), Key::new("kube-system", "b"));
    let mut text = LogText::default();
    for (pod, part) in [(&a, "1\n"), (&a, "2\n"), (&b, "3\n"), (&a, "long\n"), (&b, "4\n")] {
        text.add(pod, part.as_bytes(), 8);
    }
    assert_eq!((text.parts, text.dropped), (vec![(a.clone(), b"1\n2\n".to_vec()), (b, b"3\n4\n".to_vec())], 5));
    let mut feed = LogFeed::default();
    feed.keep_text();
    feed.add(&a);
    feed.take(&a, b"5\n");
    assert_eq!((feed.take_text().parts, feed.take_text()), (vec![(a.clone(), b"5\n".to_vec())], LogText::default()));
    feed.retain(|pod| *pod != a);
    assert!(feed.statuses().is_empty());
}

#[test]
fn a_value_that_is_cut_keeps_nothing_back() {
    let mut cutter = Cutter::default();
    let all = "2026-11-22T10:00:00.2Z I1122 \"Dump\" nodes=<\n2026-11-22T10:00:00.2Z \tNode name: a\n2026-11-22T10:00:00.3Z I1122 \"b\"\n";
    assert_eq!(text(&mut cutter, all), all);
}

#[test]
fn lines_that_were_read_before_a_break_are_skipped() {
    let mut cutter = Cutter::default();
    assert_eq!(
        text(&mut cutter, "2026-11-22T10:00:00.1Z a\n2026-11-22T10:00:00.1Z b\n2026-11-22T10:00:00.2Z half"),
        "\
            2026-11-22T10:00:00.1Z a\n2026-11-22T10:00:00.1Z b\n"
    );
    cutter.resume();
    // The time is the same, with trailing zeros.
    let again = "2026-11-22T10:00:00.05Z 0\n2026-11-22T10:00:00.100Z a\n2026-11-22T10:00:00.100Z b\n2026-11-22T10:00:00.1Z c\n2026-11-22T10:00:00.2Z half\n";
    assert_eq!(text(&mut cutter, again), "2026-11-22T10:00:00.1Z c\n2026-11-22T10:00:00.2Z half\n");
    cutter.resume();
    assert_eq!(text(&mut cutter, "2026-11-22T10:00:00.200Z half\n2026-11-22T10:00:01Z d\n"), "2026-11-22T10:00:01Z d\n");
}
