use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Compares what is written with what the parser of YAML reads, and returns whether anything is written.
#[track_caller]
fn check(yaml: &str) -> bool {
    let Some(written) = to_json(yaml.as_bytes()) else { return false };
    let written: Value = serde_json::from_slice(&written).unwrap_or_else(|error| panic!("{error}: {yaml}"));
    let read: Value = serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{error}: {yaml}"));
    assert_eq!(written, read, "{yaml}");
    true
}

#[test]
fn a_pod_as_kubectl_prints_it_is_written() {
    let pod = "  apiVersion: v1\n  kind: Pod\n  metadata:\n    annotations:\n      a.b/c: 'x: \"y\\'\n      when: \"2026-01-01T00:00:00Z\"\n    \
               labels: {}\n    name: web-5d9c7b-x\n  spec:\n    containers:\n    - args:\n      - --port=80\n      - -c\n      - http://x:1/y\n      \
               - a \"b\" {c}\n      env:\n        - name: A\n          value: \"7\"\n      image: a:1\n      ports:\n      - containerPort: 80\n      \
               resources:\n        requests:\n          cpu: 100m\n          memory: 1Gi\n    - name: b\n    hostNetwork: true\n    \
               priority: -10\n    tolerations: []\n  status:\n    podIP: 10.0.0.1\n    startTime: null\n    x:\n";
    assert!(check(pod));
    assert!(check(pod.trim_end()));
}

#[test]
fn what_is_in_doubt_is_left_to_the_parser() {
    let values = [
        "0x1f",
        "1e3",
        "1.5",
        ".5",
        "-.5",
        "+1",
        "007",
        "1_000",
        "0o7",
        "~",
        "True",
        "NULL",
        ".inf",
        "-.Inf",
        ".nan",
        "yes",
        "Off",
        "y",
        "|",
        ">-",
        "&a x",
        "*a",
        "!!str 1",
        "{a: 1}",
        "[1]",
        "a: b",
        "a #b",
        "a:",
        "'it''s'",
        "\"a\\nb\"",
        "\"a",
        "@x",
        "`x",
        "%x",
        "? x",
        "- x",
        "# x",
        "\u{e9}",
        "a\tb",
        "1234567890123456789",
        "-0",
        "-",
        ".",
        "\"a\" b",
        "'a' b",
    ];
    for value in values {
        assert!(!check(&format!("a: {value}\n")), "{value}");
    }
    let texts = [
        "",
        "a",
        "b: 1\na: 2\n",
        "a: 1\na: 2\n",
        "a: x\n  y\n",
        "a:\n  x\n",
        "a: 1\n\nb: 2\n",
        "a: 1 \n",
        "a: 1\r\n",
        "# c\na: 1\n",
        "a : 1\n",
        "\"a\": 1\n",
        "? a\n: 1\n",
        "<<: {}\n",
        "- a\n",
        "a:\n- - b\n",
        "a:\n-\n",
        "a:\n- b\n  c\n",
        "a:\n - b\n  - c\n",
        "a:\n  b: 1\n c: 2\n",
        "true: 1\n",
        "1: 2\n",
        "---\na: 1\n",
        "a: 1\n...\n",
        "a:  1\n",
        "a:\n-  b\n",
    ];
    for text in texts {
        assert!(!check(text), "{text:?}");
    }
    let deep: String = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert!(!check(&deep));
}

proptest! {
    #[test]
    fn what_is_written_is_what_the_parser_reads(lines in prop::collection::vec((0..4_usize, any::<bool>(), "[a-c]{0,2}", "[ -~]{0,6}|[-+.0-9eExabfint]{0,5}|true|null|\\{\\}"), 1..8)) {
        let text: String = lines
            .iter()
            .map(|(indent, dash, key, value)| {
                let dash = if *dash { "- " } else { "" };
                let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
                format!("{}{dash}{key}{value}\n", "  ".repeat(*indent))
            })
            .collect();
        check(&text);
    }

    #[test]
    fn values_are_written_as_the_parser_reads_them(value in "[ -~]{1,8}|[-+.0-9eEx_abfintyNo]{1,6}") {
        check(&format!("a:\n- {value}\nb: {value}\n"));
    }

    #[test]
    fn printed_yaml_is_mostly_written(names in prop::collection::vec("[a-z]{3,8}", 1..4), number in any::<i32>(), text in "[a-z]{4}[ a-z:/.=-]{0,20}[a-z]") {
        let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "number": number, "text": text})).collect();
        let yaml = serde_yaml::to_string(&json!({"items": items, "zz": {"ok": true}})).unwrap();
        let plain = !text.contains(": ") && names.iter().all(|name| !may_be_other(name.as_bytes()));
        prop_assert!(check(&yaml) || !plain, "{yaml}");
    }
}
