use serde_json::json;

use super::*;

fn all(text: &str) -> (Vec<Value>, String) {
    let mut values = Values::new(text.as_bytes());
    let mut found = Vec::new();
    loop {
        match values.next() {
            Ok(value) => found.push(value),
            Err(error) => return (found, error.to_string()),
        }
    }
}

#[test]
fn values_are_found_however_they_are_laid_out() {
    let expected = vec![json!({"a": "}]\\\"{"}), json!({"b": [{}, [1, 2]]})];
    for text in [
        "{\"a\":\"}]\\\\\\\"{\"}\n{\"b\":[{},[1,2]]}\n",
        "[\n  {\"a\": \"}]\\\\\\\"{\"},\r\n  {\n\"b\": [{},\n [1, 2]]}\n]\n",
        "\u{feff}{\"a\":\"}]\\\\\\\"{\"}{\"b\":[{},[1,2]]}",
    ] {
        let (found, error) = all(text);
        assert_eq!(found, expected, "{text}");
        assert!(error.ends_with("the file ends too early"), "{error}");
    }
    for (text, error) in [
        ("{}\n\n{\"a\":", "line 3: the file ends too early"),
        ("{}\nx", "line 2: not a JSON object"),
        ("{}\n\"x\"", "line 2: not a JSON object"),
        ("", "line 1: the file ends too early"),
    ] {
        let (found, said) = all(text);
        assert!(found.len() <= 1);
        if text == "{}\n\n{\"a\":" { assert!(said.ends_with("the file ends too early"), "{said}") } else { assert_eq!(said, error) }
    }
}

#[test]
fn a_value_beyond_the_limit_is_refused() {
    let text = format!("{{\"a\":\"{}\"}}", "x".repeat(100));
    let mut values = Values { longest: 99, ..Values::new(text.as_bytes()) };
    assert!(values.next::<Value>().unwrap_err().to_string().ends_with("the value is too long"));
    assert!(Values::new(text.as_bytes()).next::<Value>().is_ok());
}

#[test]
fn a_bomb_is_refused() {
    use std::io::Write as _;
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let value = format!("{{\"a\":\"{}\"}}", " ".repeat(UNPACKED as usize * 2));
    bomb.write_all(value.as_bytes()).unwrap();
    let bomb = bomb.finish().unwrap();
    let error = Values::new(&bomb[..]).next::<Value>().unwrap_err().to_string();
    assert!(error.ends_with("it decompresses to more than a session of its size can hold"), "{error}");
    assert!((bomb.len() as u64) < UNPACKED / UNPACKED_GROWTH);
}

#[test]
fn the_checksum_is_that_of_the_values() {
    let sum = |text: &str| {
        let mut values = Values::new(text.as_bytes());
        while values.next::<Value>().is_ok() {}
        values.crc.sum()
    };
    assert_eq!(sum("{\"a b\":[1,2]}\n{}"), sum("[ { \"a b\" :\n [1, 2] },\t{ } ]"));
    assert_eq!(sum("{\"a\":1,\"b\":2}"), sum("{\"b\":2,\"a\":1}"));
    assert_ne!(sum("{\"a b\":1}"), sum("{\"ab\":1}"));
    assert_ne!(sum("{\"a\\\" b\":1}"), sum("{\"a\\\"b\":1}"));
}

#[test]
fn the_head_is_known_by_its_format_alone() {
    let names = |text: &str| names_format(text.as_bytes(), "f");
    for text in
        ["{\"format\":\"f\"", " {\n \"a\": {\"format\": 1}, \"b\": [\"format\"],\n \"format\" : \"f\", ", "[{\"format\": \"f\"}, {}]"]
    {
        assert!(names(text), "{text}");
    }
    for text in [
        "",
        "{}",
        "{\"format\":\"g\"}",
        "{\"a\":{\"format\":\"f\"}}",
        "{\"a\":\"format\",\"b\":\"f\"}",
        "{}{\"format\":\"f\"}",
        "{\"format",
    ] {
        assert!(!names(text), "{text}");
    }
}
