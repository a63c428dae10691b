//! Splitters alone: the spans that they cut, for windows of every size.

use super::{Json, Span, SpanState, Splitter, Yaml};

/// Returns the texts of the spans if windows grow by `step` bytes.
fn spans(mut splitter: impl Splitter, text: &str, step: usize) -> Vec<String> {
    let bytes = text.as_bytes();
    let (mut found, mut window, mut read) = (Vec::new(), Vec::new(), 0);
    loop {
        let more = step.min(bytes.len() - read);
        window.extend_from_slice(&bytes[read..read + more]);
        read += more;
        let mut cut = Vec::new();
        let done = splitter.split(&mut window, read == bytes.len(), &mut cut);
        let show = |span: &Span| {
            let text = String::from_utf8_lossy(&window[span.start..span.end]).trim().to_owned();
            if span.state == SpanState::Whole { text } else { format!("!{text}") }
        };
        found.extend(cut.iter().map(show));
        window.drain(..done);
        if read == bytes.len() {
            return found;
        }
    }
}

#[track_caller]
fn check<S: Splitter>(new: impl Fn() -> S, text: &str, expected: &[&str]) {
    for step in (1..40).chain([text.len().max(1)]) {
        assert_eq!(spans(new(), text, step), expected, "in steps of {step}: {text}");
    }
}

#[test]
fn json() {
    let pretty = "{\n  \"items\": [\n    {\n      \"a\": {\n        \"b\": 1\n      }\n    },\n    {\n      \"c\": \"}\"\n    }\n  ],\n  \"kind\": \"List\"\n}\n";
    let (first, second) = ("{\n      \"a\": {\n        \"b\": 1\n      }\n    }", "{\n      \"c\": \"}\"\n    }");
    check(Json::default, pretty, &[first, second]);
    check(Json::careful, pretty, &[first, second]);
    check(Json::default, &pretty.replace('\n', "\r\n"), &[&first.replace('\n', "\r\n"), &second.replace('\n', "\r\n")]);
    check(
        Json::default,
        r#"{"kind":"PodList","items":[{"a":"\"}"},{"b":[{}]}]}{"kind":"Pod"}"#,
        &[r#"{"a":"\"}"}"#, r#"{"b":[{}]}"#, r#"{"kind":"Pod"}"#],
    );
    check(Json::default, r#"[{"a":1},{"b":2}]"#, &[r#"{"a":1}"#, r#"{"b":2}"#]);
    check(Json::default, r#"{"kind":"Other","items":[{"a":1}]}"#, &[r#"{"kind":"Other","items":[{"a":1}]}"#]);
    check(Json::default, r#"{"items":[],"kind":"List"} {"a":1}"#, &[r#"{"a":1}"#]);
    check(Json::default, "{\"a\":1}\n{\"b\":\"x}\n{\"c\":3}\n", &["{\"a\":1}", "{\"b\":\"x}", "{\"c\":3}"]);
    check(Json::default, "{\"items\":[{\"a\":1},{\"b\"", &["{\"a\":1}", "!{\"b\""]);
    check(Json::default, "{\"a\":1}\njunk\n{\"b\":2}", &["{\"a\":1}", "!junk", "{\"b\":2}"]);
}

#[test]
fn lines_of_compact_json() {
    let items = [r#"{"a":[{"b":1},{"c":"]"}]}"#, r#"{"d":{"e":"}"}}"#, r#"{"f":[]}"#];
    for (between, end) in [(",\n", "\n]}\n"), (",\r\n", "\r\n]}\r\n"), (" ,\n", "]}")] {
        let list = format!("{{\"kind\":\"List\",\"items\":[\n{}{end}", items.join(between));
        check(Json::default, &list, &items);
        check(Json::careful, &list, &items);
    }
    // A line within an object may begin and end like one.
    let broken = "{\"a\":[{\"b\":1},\n{\"c\":2},\n{\"d\":3}]}";
    check(Json::default, &format!("[\n{broken},\n{broken}\n]"), &[broken, broken]);
    // A line that ends too early takes nothing with it.
    check(Json::default, "[\n{\"a\":1},\n{\"b\":{\"c\":2},\n{\"d\":3}\n]", &["{\"a\":1}", "{\"b\":{\"c\":2}", "{\"d\":3}"]);
}

#[test]
fn yaml() {
    let entries = ["a: 1\n  b:\n  - x\n  - y", "c: |\n    - z\n\n    w", "d: 3"];
    let list = "apiVersion: v1\nitems:\n- a: 1\n  b:\n  - x\n  - y\n- c: |\n    - z\n\n    w\n- d: 3\nkind: List\nmetadata:\n  x: y\n";
    check(Yaml::default, list, &entries);
    check(Yaml::careful, list, &[list.trim()]);
    check(Yaml::default, &format!("---\n{list}---\n{list}...\n"), &[entries, entries].concat());
    check(Yaml::default, "items:\n  - a: 1\n  # between\n\n  -\n    b: 2\n", &["a: 1\n  # between", "b: 2"]);
    check(Yaml::default, "- a: 1\n- b: 2\n---\n- c: 3\n", &["a: 1", "b: 2", "c: 3"]);
    check(Yaml::default, "items:\n- a: 1\n\u{b} b: 2\n- c: 3\nkind: List\n", &["a: 1", "!b: 2", "c: 3"]);
    check(Yaml::default, "items:\n- a: 1\nodd: 2\n  b: 3\n- c: 3\nkind: List\n??\n", &["a: 1", "!", "c: 3", "!??"]);
    check(Yaml::default, "- a: 1\nodd: 2\n- c: 3\n---\nb: 1", &["a: 1", "!odd: 2", "c: 3", "b: 1"]);
    check(Yaml::default, "# only\n--- # a comment\n...\n", &[]);
    for whole in [
        "kind: Pod\nspec:\n- items:",
        "kind: NotAListing\nitems:\n- a: 1",
        "items: [a, b]",
        "items: &x\n- a: 1",
        "\"kind\": List\nitems:\n- a: 1",
        "kind: >\n  List\nitems:\n- a: 1",
        "{items: [\n- a]}",
        "%YAML 1.1\n---\nitems:\n- a: 1",
        "--- {a: 1}",
        "items:\n  a: 1",
    ] {
        check(Yaml::default, whole, &[whole]);
        check(Yaml::default, &format!("{whole}\n---\na: 1\n"), &[whole, "a: 1"]);
    }
}
