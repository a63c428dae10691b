//! Tests of `schema`.

use strum::IntoEnumIterator as _;

use super::*;
use crate::framework::ReasonKind;

#[test]
fn every_kind_of_reason_is_in_the_schema_and_no_other() {
    let schema: Value = serde_json::from_str(&AnswerSchema::named("reasons").unwrap().text()).unwrap();
    let described: BTreeSet<String> =
        schema["oneOf"].as_array().unwrap().iter().map(|reason| reason["title"].as_str().unwrap().to_owned()).collect();
    let camel = |kind: ReasonKind| {
        let name = kind.to_string();
        name[..1].to_lowercase() + &name[1..]
    };
    assert_eq!(described, ReasonKind::iter().map(camel).collect());
    for name in ["explain", "fixes"] {
        let schema: Value = serde_json::from_str(&AnswerSchema::named(name).unwrap().text()).unwrap();
        let kinds = schema["$defs"]["reason"]["properties"]["kind"]["enum"].as_array().unwrap();
        assert_eq!(kinds.iter().map(|kind| kind.as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(), described, "{name}");
    }
}

/// Collects the properties without a description, at any depth.
fn undescribed(schema: &Value, at: &str, out: &mut Vec<String>) {
    let Value::Object(fields) = schema else { return };
    for (name, value) in fields {
        match value {
            Value::Object(properties) if name == "properties" || name == "$defs" => {
                for (property, schema) in properties {
                    let at = format!("{at}.{property}");
                    undescribed(schema, &at, out);
                    if name == "properties" && schema["description"].as_str().is_none_or(str::is_empty) {
                        out.push(at);
                    }
                }
            }
            Value::Array(schemas) => schemas.iter().for_each(|schema| undescribed(schema, at, out)),
            schema => undescribed(schema, at, out),
        }
    }
}

#[test]
fn schemas_are_json_with_a_title_and_describe_each_key_at_any_depth() {
    let mut keys = Vec::new();
    undescribed(&serde_json::json!({"properties": {"a": {"items": {"properties": {"b": {}}}, "description": "A."}}}), "", &mut keys);
    assert_eq!(keys, [".a.b"]);
    for schema in SCHEMAS {
        let text = schema.text();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value["title"].is_string() && value["$schema"].is_string(), "{}", schema.name);
        // Keys may be added, so that none may be forbidden.
        assert!(!text.contains("\"additionalProperties\": false"), "{}", schema.name);
        let mut bare = Vec::new();
        undescribed(&value, "", &mut bare);
        assert!(bare.is_empty(), "{}: {bare:?} have no description", schema.name);
        let Some(properties) = value["properties"].as_object() else { continue };
        assert_eq!(properties["schemaVersion"]["const"], super::super::SCHEMA_VERSION, "{}", schema.name);
    }
}

#[test]
fn an_answer_that_adds_keys_has_those_of_the_other_one_too() {
    let read = |name| -> Value { serde_json::from_str(&AnswerSchema::named(name).unwrap().text()).unwrap() };
    let (explain, fixes) = (read("explain"), read("fixes"));
    let keys = |schema: &Value| schema["properties"].as_object().unwrap().clone();
    let (mut expected, more) = (keys(&explain), keys(&fixes)["fixes"].clone());
    expected.insert("fixes".to_owned(), more);
    assert_eq!(keys(&fixes), expected);
    let required = |schema: &Value| schema["required"].as_array().unwrap().clone();
    assert_eq!(required(&fixes), [required(&explain), vec!["fixes".into()]].concat());
    assert_ne!(fixes["title"], explain["title"]);
}

#[test]
fn every_reference_has_its_definition_and_every_definition_is_used() {
    let (shared, mut used): (Value, _) = (serde_json::from_str(SHARED).unwrap(), BTreeSet::new());
    for schema in SCHEMAS {
        let (whole, mut names): (Value, _) = (serde_json::from_str(&schema.text()).unwrap(), Vec::new());
        references(&whole, &mut names);
        let names: BTreeSet<String> = names.into_iter().collect();
        let definitions = whole["$defs"].as_object().cloned().unwrap_or_default();
        assert_eq!(names, definitions.keys().cloned().collect::<BTreeSet<_>>(), "{}", schema.name);
        assert!(definitions.iter().all(|(name, definition)| *definition == shared[name]), "{}", schema.name);
        used.extend(names);
    }
    assert_eq!(used, shared.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>());
}
