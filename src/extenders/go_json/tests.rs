use super::*;

#[test]
fn an_answer_of_too_many_values_is_refused() {
    let of = |text: &str, values| value_within(text.as_bytes(), values, 2).map(|_| ());
    assert_eq!(of("[1, {\"a\": []}]", 4), Ok(()));
    for (text, values) in [("[1, {\"a\": []}]", 3), ("[1, 2, 3]", 10), ("{\"a\": 1, \"b\": 2, \"c\": 3}", 10)] {
        assert_eq!(of(text, values), Err(SyntaxError::TooManyValues));
    }
}

fn error(text: &str) -> String {
    first_value(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn errors_are_in_the_words_of_go() {
    for (text, expected) in [
        ("", "EOF"),
        (" \n\t", "EOF"),
        ("{", "unexpected EOF"),
        ("[1,", "unexpected EOF"),
        ("\"a", "unexpected EOF"),
        ("tru", "unexpected EOF"),
        ("-", "unexpected EOF"),
        ("this is not JSON", "invalid character 'h' in literal true (expecting 'r')"),
        ("nul!", "invalid character '!' in literal null (expecting 'l')"),
        ("fb", "invalid character 'b' in literal false (expecting 'a')"),
        ("<html>", "invalid character '<' looking for beginning of value"),
        ("\u{feff}{}", "invalid character 'ï' looking for beginning of value"),
        ("{a", "invalid character 'a' looking for beginning of object key string"),
        ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
        ("{\"a\" 1", "invalid character '1' after object key"),
        ("{\"a\":1 \"b\"", "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("[\"a\nb\"]", "invalid character '\\n' in string literal"),
        ("[\"\\x\"]", "invalid character 'x' in string escape code"),
        ("[\"\\u12g4\"]", "invalid character 'g' in \\u hexadecimal character escape"),
        ("[-a]", "invalid character 'a' in numeric literal"),
        ("[1.a]", "invalid character 'a' after decimal point in numeric literal"),
        ("[1e']", "invalid character '\\'' in exponent of numeric literal"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    assert_eq!(error(&"[".repeat(ANSWER_DEPTH + 2)), "exceeded max depth");
}

#[test]
fn the_first_value_counts() {
    let read = |text: &str| first_value(text.as_bytes()).unwrap();
    assert_eq!(read(" 7x"), Json::Number("7".into()));
    assert_eq!(read("null garbage"), Json::Null);
    assert_eq!(read("[] ["), Json::Array(vec![]));
    assert_eq!(read(r#""a\u00e9\ud83d\ude00\ud800b""#), Json::Text("aé😀\u{fffd}b".into()));
    assert_eq!(read(r#"{"a":1,"a":[true,{}]}"#).into_value(), serde_json::json!({"a": [true, {}]}));
    assert_eq!(first_value(b"\"\xff\"").unwrap(), Json::Text("\u{fffd}".into()));
    assert_eq!(read(&format!("{}{}", "[".repeat(ANSWER_DEPTH), "]".repeat(ANSWER_DEPTH))).kind(), "array");
}
