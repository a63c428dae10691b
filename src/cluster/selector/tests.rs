//! Tests of `selector`.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn label_selector(json: &str) -> LabelSelector {
    serde_json::from_str(json).unwrap()
}

fn labels(json: &str) -> Labels {
    serde_json::from_str(json).unwrap()
}

#[test]
fn label_selectors_match_by_every_requirement() {
    let check = |selector: &str, text: &str, expected: bool| {
        assert_eq!(label_selector(selector).matches(&labels(text)), expected, "{selector} on {text}");
    };
    check("{}", "{}", true);
    check(r#"{"matchLabels":{"a":"1","b":"2"}}"#, r#"{"a":"1","b":"2"}"#, true);
    check(r#"{"matchLabels":{"a":"1","b":"2"}}"#, r#"{"a":"1"}"#, false);
    for (operator, values, present, other, absent) in [
        ("In", r#"["1"]"#, true, false, false),
        ("NotIn", r#"["1"]"#, false, true, true),
        ("Exists", "[]", true, true, false),
        ("DoesNotExist", "[]", false, false, true),
        ("Near", "[]", false, false, false),
    ] {
        let selector = format!(r#"{{"matchExpressions":[{{"key":"a","operator":"{operator}","values":{values}}}]}}"#);
        check(&selector, r#"{"a":"1"}"#, present);
        check(&selector, r#"{"a":"2"}"#, other);
        check(&selector, "{}", absent);
    }
}

#[test]
fn label_selector_errors_are_worded_as_upstream() {
    let check = |selector: &str, expected: &str| {
        let error = label_selector(selector).validate().map_or_else(|e| e.0, |()| String::new());
        assert_eq!(error, expected, "{selector}");
    };
    check(r#"{"matchLabels":{"example.com/a":"","b":"x_1"}}"#, "");
    check(
        r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#,
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    );
    check(
        r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["x","y"]}]}"#,
        r#"values: Invalid value: ["x","y"]: values set must be empty for exists and does not exist"#,
    );
    check(r#"{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}"#, r#""Gt" is not a valid label selector operator"#);
    let name = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
                    (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    check(r#"{"matchLabels":{"":"x"}}"#, &format!(r#"key: Invalid value: "": name part must be non-empty; name part {name}"#));
    check(
        r#"{"matchLabels":{"a/b/c":""}}"#,
        &format!(
            r#"key: Invalid value: "a/b/c": a valid label key {name} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"#
        ),
    );
    check(r#"{"matchLabels":{"/c":""}}"#, r#"key: Invalid value: "/c": prefix part must be non-empty"#);
    let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                     with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    check(
        r#"{"matchExpressions":[{"key":"a","operator":"In","values":["b c","-"]}]}"#,
        &format!(r#"[values[0][a]: Invalid value: "b c": {value}, values[1][a]: Invalid value: "-": {value}]"#),
    );
    let long = "x".repeat(64);
    check(
        &format!(r#"{{"matchLabels":{{"a":"{long}"}}}}"#),
        &format!(r#"values[0][a]: Invalid value: "{long}": must be no more than 63 bytes"#),
    );
    check(
        &format!(r#"{{"matchLabels":{{"A/{long}":""}}}}"#),
        &format!(
            r#"key: Invalid value: "A/{long}": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'); name part must be no more than 63 bytes"#
        ),
    );
    check(
        &format!(r#"{{"matchLabels":{{"{}/a":""}}}}"#, "x".repeat(254)),
        &format!(r#"key: Invalid value: "{}/a": prefix part must be no more than 253 bytes"#, "x".repeat(254)),
    );
}

#[test]
fn node_terms_match_only_where_they_are_valid() {
    let node = (labels(r#"{"n":"5","z":"a"}"#), Str::from("node-1"));
    let check = |term: &str, matches: bool, error: &str| {
        let term: NodeSelectorTerm = serde_json::from_str(term).unwrap();
        assert_eq!(term.matches(&node.0, Some(&node.1)), matches, "{term:?}");
        assert_eq!(term.error().map_or(String::new(), |e| e.0), error, "{term:?}");
    };
    let expression =
        |operator: &str, values: &str| format!(r#"{{"matchExpressions":[{{"key":"n","operator":"{operator}","values":{values}}}]}}"#);
    check("{}", false, "");
    check(&expression("Gt", r#"["4"]"#), true, "");
    check(&expression("Lt", r#"["5"]"#), false, "");
    check(
        &expression("Gt", r#"["-4"]"#),
        false,
        &validation::requirement_errors(
            &Requirement { key: "n".into(), operator: "In".into(), values: vec!["-4".into()].into() },
            Operators::Node,
            "matchExpressions[0]",
            SelectorWords::Paths,
        )[0],
    );
    check(
        &expression("Gt", r#"["x"]"#),
        false,
        r#"matchExpressions[0].values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer"#,
    );
    check(
        &expression("Lt", "[]"),
        false,
        "matchExpressions[0].values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required",
    );
    check(
        &expression("Same", "[]"),
        false,
        r#"matchExpressions[0].operator: Unsupported value: "Same": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt""#,
    );
    let field = |operator: &str, values: &str| {
        format!(r#"{{"matchFields":[{{"key":"metadata.name","operator":"{operator}","values":{values}}}]}}"#)
    };
    check(&field("In", r#"["node-1"]"#), true, "");
    check(&field("In", r#"["node-2"]"#), false, "");
    check(&field("NotIn", r#"["node-1"]"#), false, "");
    check(&field("NotIn", r#"["node-2"]"#), true, "");
    check(&field("In", r#"["a","b"]"#), false, r#"matchFields[0].values: Invalid value: ["a","b"]: must have one element"#);
    check(&field("Exists", "[]"), false, r#"matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn""#);
}

#[test]
fn earlier_releases_write_lists_as_go_does() {
    let go = SelectorWords::PathsAndGoLists;
    let label = |text: &str| serde_json::from_str::<LabelSelector>(text).unwrap().validate_in(go).unwrap_err().0;
    let empty = "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty";
    assert_eq!(label(r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#), empty);
    let two = r#"values: Invalid value: []string{"x", "y"}: values set must be empty for exists and does not exist"#;
    assert_eq!(label(r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["x","y"]}]}"#), two);
    let term: NodeSelectorTerm =
        serde_json::from_str(r#"{"matchFields":[{"key":"metadata.name","operator":"In","values":["a","b"]}]}"#).unwrap();
    assert_eq!(term.errors_in("", go), [r#"matchFields[0].values: Invalid value: []string{"a", "b"}: must have one element"#]);
}

#[test]
fn quoting_is_that_of_go() {
    assert_eq!(validation::quote("a\"\\\n\x01\u{7f}é\u{200b}\u{e0001}'"), r#""a\"\\\n\x01\x7fé\u200b\U000e0001'""#);
}

#[test]
fn errors_of_a_selector_are_named_up_to_a_number() {
    let aggregate = |number: usize| SelectorError::aggregate((0..number).map(|at| format!("e{at}"))).unwrap().0;
    assert!(aggregate(SELECTOR_ERRORS).ends_with(&format!(", e{}]", SELECTOR_ERRORS - 1)));
    assert!(aggregate(SELECTOR_ERRORS + 7).ends_with(&format!(", e{}, and 7 more]", SELECTOR_ERRORS - 1)));
}

#[test]
fn aggregates_say_each_thing_once() {
    let aggregate = |list: &[&str]| SelectorError::aggregate(list.iter().map(ToString::to_string)).map(|e| e.0);
    assert_eq!(aggregate(&[]), None);
    assert_eq!(aggregate(&["a", "a"]), Some("a".into()));
    assert_eq!(aggregate(&["a", "b", "a"]), Some("[a, b]".into()));
}

#[test]
fn node_selector_terms_match_or_are_in_error() {
    let labels: Labels = [("a", "1"), ("example.com/n", "7")].into_iter().map(|(k, v)| (k, Str::from(v))).collect();
    let long = "x".repeat(64);
    // (expression or field, matches, in error)
    for (field, key, operator, values, matches, error) in [
        (false, "a", "In", vec!["1"], true, false),
        (false, "a", "In", vec!["2"], false, false),
        (false, "b", "NotIn", vec!["2"], true, false),
        (false, "example.com/n", "Gt", vec!["6"], true, false),
        (false, "example.com/n", "Lt", vec!["7"], false, false),
        (false, "example.com/n", "Gt", vec!["x"], false, true),
        (false, "a", "In", vec![], false, true),
        (false, "a", "Exists", vec!["1"], false, true),
        (false, "a", "Like", vec!["1"], false, true),
        (false, "a", "NotIn", vec!["not valid"], false, true),
        (false, "a", "NotIn", vec![long.as_str()], false, true),
        (false, "a", "NotIn", vec![""], true, false),
        (false, "-a", "DoesNotExist", vec![], false, true),
        (false, "UPPER/a", "DoesNotExist", vec![], false, true),
        (false, "x/y/z", "DoesNotExist", vec![], false, true),
        (false, "", "DoesNotExist", vec![], false, true),
        (false, "x.y/z", "DoesNotExist", vec![], true, false),
        (true, "metadata.name", "In", vec!["n1"], true, false),
        (true, "metadata.name", "NotIn", vec!["n1"], false, false),
        (true, "metadata.uid", "NotIn", vec!["n1"], true, false),
        (true, "metadata.name", "In", vec!["n1", "n2"], false, true),
        (true, "metadata.name", "Exists", vec![], false, true),
    ] {
        let requirement = Requirement { key: key.into(), operator: operator.into(), values: values.into_iter().map(Str::from).collect() };
        let list = List(vec![requirement]);
        let term = if field {
            NodeSelectorTerm { match_fields: list, ..NodeSelectorTerm::default() }
        } else {
            NodeSelectorTerm { match_expressions: list, ..NodeSelectorTerm::default() }
        };
        assert_eq!((term.matches(&labels, Some(&"n1".into())), term.error().is_some()), (matches, error), "{term:?}");
    }
    assert!(!NodeSelectorTerm::default().matches(&labels, None));
}

proptest! {
    #[test]
    fn prepared_terms_match_as_each_by_itself(terms in vec((term(), -5..100i64), 0..24), labels in any_labels(), name in proptest::option::of("[ab]")) {
        let name = name.as_deref().map(Str::from);
        let matching = || terms.iter().filter(|(term, _)| term.matches_parsed(&labels, name.as_ref()));
        let requirements: usize = terms.iter().map(|(term, _)| term.match_expressions.len() + term.match_fields.len()).sum();
        match PreparedTerms::of(terms.iter().map(|(term, weight)| (term, *weight))) {
            None => prop_assert!(requirements < 16),
            Some(prepared) => {
                prop_assert!(requirements >= 16);
                prop_assert_eq!(prepared.weight(&labels, name.as_ref()), matching().map(|(_, weight)| weight).sum::<i64>());
                prop_assert_eq!(prepared.any(&labels, name.as_ref()), matching().next().is_some());
            }
        }
    }
}

proptest! {
    #[test]
    fn a_valid_term_is_one_without_an_error(one in term(), key in "[a-c./-]{0,4}|x{63,64}", values in vec("[a-c1.-]{0,3}|x{63,64}", 0..3)) {
        let mut term = one;
        prop_assert_eq!(term.is_valid(), term.error().is_none());
        if let Some(first) = term.match_expressions.iter_mut().next() {
            *first = Requirement { key: key.as_str().into(), values: values.iter().map(|value| Str::from(value.as_str())).collect(), ..first.clone() };
            prop_assert_eq!(validation::is_valid(first, validation::Operators::Label),
                validation::requirement_errors(first, validation::Operators::Label, "", SelectorWords::Paths).is_empty());
        }
        prop_assert_eq!(term.is_valid(), term.error().is_none());
    }
}

fn any_labels() -> impl Strategy<Value = Labels> {
    vec(("[a-d]", "[a-c]|[0-9]{1,2}"), 0..4)
        .prop_map(|all| all.into_iter().map(|(key, value)| (Str::from(key), Str::from(value))).collect())
}

fn requirement(key: &'static str) -> impl Strategy<Value = Requirement> {
    let operator = select(vec!["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Other"]);
    (key, operator, vec("[a-c]|[0-9]{1,2}", 0..4)).prop_map(|(key, operator, values)| Requirement {
        key: key.into(),
        operator: operator.into(),
        values: values.into_iter().map(Str::from).collect(),
    })
}

fn term() -> impl Strategy<Value = NodeSelectorTerm> {
    let parts = (vec(requirement("[a-d]"), 0..3), vec(requirement("metadata.name"), 0..2));
    parts.prop_map(|(expressions, fields)| NodeSelectorTerm { match_expressions: expressions.into(), match_fields: fields.into() })
}
