//! Tests of `entry`.

use super::*;

#[test]
fn text_and_json_say_the_same() {
    let text = r#"I1122 10:15:35.117990       1 scheduling_queue.go:958] "Pod moved" pod="default/pod-2" event="ScheduleAttemptFailure" hint=0 unschedulable plugins={"A":{},"B":{}} err="0/3 nodes: \"x\" pod=\"no/no\"" last=1"#;
    let json = r#"{"ts":1795342535117.99,"caller":"a.go:1","msg":"Pod moved","v":3,"pod":{"name":"pod-2","namespace":"default"},"event":"ScheduleAttemptFailure","hint":0,"unschedulable plugins":{"A":{},"B":{}},"err":"0/3 nodes: \"x\" pod=\"no/no\"","last":1}"#;
    for (line, pid) in [(text, 1), (json, 0)] {
        let entry = Entry::parse(line).unwrap();
        assert_eq!((entry.pid, &*entry.message), (pid, "Pod moved"));
        let values = |key: &str| entry.values.text(key).map(Cow::into_owned);
        assert_eq!(values("pod").unwrap(), "default/pod-2");
        assert_eq!(values("event").unwrap(), "ScheduleAttemptFailure");
        assert_eq!(values("err").unwrap(), r#"0/3 nodes: "x" pod="no/no""#);
        assert_eq!(set(entry.values.raw("unschedulable plugins").unwrap()), ["A", "B"]);
        assert_eq!((entry.values.number("last"), entry.values.number("hint"), entry.values.number("pod")), (Some(1), Some(0), None));
        assert_eq!((values("none"), entry.values.has("last")), (None, true));
    }
    let (text, json) = (Entry::parse(text).unwrap().when, Entry::parse(json).unwrap().when);
    let When::Text { month: 11, day: 22, micros } = text else { panic!("{text:?}") };
    let When::Unix(unix) = json else { panic!("{json:?}") };
    assert_eq!(micros, unix.rem_euclid(86_400_000_000));
}

#[test]
fn values_of_a_line_are_kept_up_to_a_number() {
    let values: String = (0..LOG_VALUES + 5).map(|i| format!(r#","k{i}":{i}"#)).collect();
    let line = format!(r#"{{"ts":1732269600000.0,"msg":"m"{values}}}"#);
    let entry = Entry::parse(&line).unwrap();
    assert!(entry.values.text("k1").is_some() && entry.values.text(&format!("k{}", LOG_VALUES + 1)).is_none());
}

#[test]
fn values_may_have_several_lines() {
    let line = "I1122 10:15:35.117990 1 dumper.go:52] \"Dump\" nodes=<\n\tNode name: a\n\t\n\t\tx\n > summary=\"activeQ:1\"";
    let entry = Entry::parse(line).unwrap();
    assert_eq!(entry.values.text("nodes").unwrap(), "Node name: a\n\n\tx");
    assert_eq!(entry.values.text("summary").unwrap(), "activeQ:1");
}

#[test]
fn messages_without_quotes_are_taken_whole() {
    let entry = Entry::parse("I1122 10:15:35.117990       1 flags.go:64] FLAG: --v=\"6\"").unwrap();
    assert_eq!((&*entry.message, entry.values.has("v")), ("FLAG: --v=\"6\"", false));
}

#[test]
fn go_strings_are_read() {
    for (literal, expected) in [
        (r#""a""#, "a"),
        (r#""a\tb\n\\\"""#, "a\tb\n\\\""),
        (r#"":\x00:zone-b""#, ":\0:zone-b"),
        (r#""\u00e9\U0001F600\101\xc3\xa9""#, "\u{e9}\u{1f600}A\u{e9}"),
        (r#""\q\x\u12""#, r"\q\x\u12"),
        (r#""\xff""#, "\u{fffd}"),
    ] {
        assert_eq!(unquote(literal), expected);
    }
}

#[test]
fn cut_lines_do_no_harm() {
    let line = r#"I1122 10:15:35.117990       1 a.go:1] "Pod moved" pod="a/b" set={"A":{"x":"}"}} event="E""#;
    for end in 0..line.len() {
        if let Some(entry) = Entry::parse(&line[..end]) {
            for key in ["pod", "set", "event"] {
                let _ = (entry.values.text(key), entry.values.raw(key).map(set));
            }
        }
    }
    for line in ["{}", "{\"ts\":1}", "{\"ts\":\"x\",\"msg\":\"a\"}", "I1399 10:15:35.117990       1 a.go:1] \"a\"", "x"] {
        assert!(Entry::parse(line).is_none(), "{line}");
    }
    assert!(set("{").is_empty() && set("map[A:{} B:{}]") == ["A", "B"] && set(r#"["B","A"]"#) == ["A", "B"] && set("[B A]") == ["A", "B"]);
}
