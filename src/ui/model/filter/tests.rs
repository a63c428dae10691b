use super::*;

fn facts() -> Vec<Fact<'static>> {
    vec![
        Fact::name("node", "worker-a2"),
        Fact::prose("verdict", "unschedulable"),
        Fact::prose("plugin", "NodeResourcesFit"),
        Fact::prose("reason", "lacks 3.9 of 6 cpu"),
        Fact::prose("taint", "dedicated=db:NoSchedule"),
        Fact::label("topology.kubernetes.io/zone", "a"),
    ]
}

#[test]
fn words_match_any_fact_and_fields_match_their_own() {
    for (text, expected) in [
        ("", true),
        ("  ", true),
        ("wa2", true),
        ("wb2", false),
        ("resources", true),
        ("Resources", true),
        ("RESOURCES", false),
        ("lks", false),
        ("lacks worker", true),
        ("lacks infra", false),
        ("!cpu", false),
        ("!memory", true),
        ("reason:cpu", true),
        ("why:cpu", true),
        ("cause:cpu", true),
        ("rea:cpu", true),
        ("node:cpu", false),
        ("by:fit", true),
        ("plugin:taint", false),
        ("!plugin:taint", true),
        ("label:zone=a", true),
        ("zone=a", true),
        ("zone=b", false),
        ("dedicated=db:noschedule", true),
        ("taint:db:NoSchedule", true),
        ("reason:", true),
        ("!", true),
        ("! cpu", true),
        ("colour:red", false),
    ] {
        assert_eq!(Filter::new(text).keeps(&facts()), expected, "{text:?}");
    }
}

#[test]
fn letters_in_order_do_not_match_where_only_substrings_do() {
    for (text, expected) in [("wa2", false), ("er-a2", true), ("WORKER", false), ("node:a2", true), ("node:wa2", false), ("!wa2", true)] {
        assert_eq!(Filter::new(text).only_substrings(true).keeps(&facts()), expected, "{text:?}");
    }
}

#[test]
fn fields_that_a_list_lacks_are_found() {
    let fields = ["node", "plugin", "reason", "zone"];
    for (text, expected) in [
        ("zone:a", None),
        ("zo:a why:cpu BY:x", None),
        ("foo:", None),
        ("10:80", None),
        ("foo:bar", Some(("foo", false))),
        ("cpu zone:a !foo:bar", Some(("foo", true))),
        ("Foo:bar", Some(("foo", false))),
    ] {
        assert_eq!(Filter::new(text).unknown_field(&fields), expected, "{text:?}");
    }
}

#[test]
fn prose_beyond_ascii_matches_by_substring() {
    assert!(Filter::new("größe").keeps_line("die GRÖSSE und die Größe"));
    assert!(!Filter::new("größer").keeps_line("die Größe"));
}

#[test]
fn letters_are_those_that_match() {
    let check = |text: &str, row: &str, expected: &str| {
        let chars: Vec<char> = row.chars().collect();
        let letters = Filter::new(text).letters(&chars);
        let shown: String = chars.iter().enumerate().map(|(i, c)| if letters.contains(&i) { *c } else { '.' }).collect();
        assert_eq!(shown, expected, "{text:?}");
    };
    check("wa2", "  worker-a2  lacks cpu", "..w......a2...........");
    check("cpu", "cpu free, CPU", "cpu.......CPU");
    check("reason:cpu !free", "cpu free", "cpu.....");
    check("zzz", "worker", "......");
}
