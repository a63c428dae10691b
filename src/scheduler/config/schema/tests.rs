use serde_json::json;

use super::*;

const INNER: Schema = Schema::Object(&[("name", Schema::String)]);
const OUTER: Schema = Schema::Object(&[
    ("bool", Schema::Bool),
    ("small", Schema::Int32),
    ("large", Schema::Int64),
    ("float", Schema::Float),
    ("text", Schema::String),
    ("time", Schema::Duration),
    ("bytes", Schema::Bytes),
    ("any", Schema::Any),
    ("labels", Schema::StringMap),
    ("list", Schema::List(&INNER)),
]);

#[test]
fn what_belongs_is_kept_and_nulls_are_zero() {
    let full = json!({
        "bool": true, "small": -1, "large": 5_000_000_000i64, "float": 1.5, "text": "t", "time": "1m", "bytes": "aGk=",
        "any": [1], "labels": {"a": "b"}, "list": [{"name": "n"}],
    });
    for (value, expected) in [
        (full.clone(), full),
        (json!({"small": 2.0}), json!({"small": 2})),
        (json!({"text": null, "list": [null, {"name": null}], "labels": {"a": null}}), json!({"list": [{}, {}], "labels": {"a": ""}})),
    ] {
        let mut errors = FieldErrors::default();
        assert_eq!(OUTER.read(value.clone(), "", &mut errors), Some(expected), "{value}");
        assert_eq!(errors.to_string(), "", "{value}");
    }
}

#[test]
fn everything_that_does_not_belong_is_named() {
    for (value, expected) in [
        (json!({"other": 1, "list": [{"name": "n", "x": 1}]}), "at.list[0].x: unknown field\nat.other: unknown field"),
        (json!({"Bool": true}), "at.Bool: unknown field"),
        (json!({"bool": "true"}), "at.bool: cannot unmarshal string into a field of type bool"),
        (json!({"small": 2_147_483_648i64}), "at.small: cannot unmarshal number 2147483648 into a field of type int32"),
        (json!({"large": 1.5}), "at.large: cannot unmarshal number 1.5 into a field of type int64"),
        (json!({"large": u64::MAX}), "at.large: cannot unmarshal number 18446744073709551615 into a field of type int64"),
        (json!({"float": "1"}), "at.float: cannot unmarshal string into a field of type float32"),
        (json!({"text": 1}), "at.text: cannot unmarshal number into a field of type string"),
        (json!({"time": 1}), "at.time: cannot unmarshal number into a field of type string"),
        (json!({"time": "1"}), "at.time: time: missing unit in duration \"1\""),
        (json!({"bytes": "a"}), "at.bytes: illegal base64 data"),
        (json!({"bytes": "a==="}), "at.bytes: illegal base64 data"),
        (json!({"labels": {"a": 1}}), "at.labels[a]: cannot unmarshal number into a field of type string"),
        (json!({"list": {}}), "at.list: cannot unmarshal object into a field of type list"),
        (json!({"list": [true]}), "at.list[0]: cannot unmarshal bool into a field of type object"),
        (json!([]), "at: cannot unmarshal array into a field of type object"),
    ] {
        let mut errors = FieldErrors::default();
        OUTER.read(value.clone(), "at", &mut errors);
        assert_eq!(errors.to_string(), expected, "{value}");
    }
}
