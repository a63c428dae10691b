//! Shows an object's text from the source as YAML, without `metadata.managedFields`.

use serde_yaml::{Mapping, Value};

use crate::admission::remove_nulls;
use crate::cluster::{Key, Kind};

/// Returns an object as YAML with its fields in the order of the source. `text` holds it as JSON or YAML, alone or in a
/// list. `metadata.managedFields` is left out, as kubectl does. `None` if the text does not hold the object.
pub fn as_yaml(text: &str, kind: Kind, key: &Key) -> Option<String> {
    serde_yaml::to_string(&held(text, kind, key)?).ok()
}

/// Returns an object as JSON without fields that are null, under the same conditions as [`as_yaml`].
pub fn as_json(text: &str, kind: Kind, key: &Key) -> Option<serde_json::Value> {
    let mut value = serde_json::to_value(held(text, kind, key)?).ok()?;
    remove_nulls(&mut value);
    Some(value)
}

fn held(text: &str, kind: Kind, key: &Key) -> Option<Value> {
    let stripped = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n', ',']);
    // Text after the object, such as a list's comma, is ignored.
    let mut json = serde_json::Deserializer::from_str(stripped).into_iter::<Value>();
    let value = match json.next() {
        Some(Ok(value @ Value::Mapping(_))) => value,
        _ => serde_yaml::from_str(&dedented(text)).ok()?,
    };
    let mut found = find(value, kind, key)?;
    if let Some(Value::Mapping(metadata)) = found.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    Some(Value::Mapping(found))
}

/// Removes the indentation of an item of a YAML list, whose first line starts with a dash.
fn dedented(text: &str) -> String {
    let begin = text.len() - text.trim_start_matches([' ', '\n', '\r']).len();
    let line_start = text[..begin].rfind('\n').map_or(0, |at| at + 1);
    let first = &text[line_start..];
    let indent = first.len() - first.trim_start_matches(' ').len();
    match first.trim_start_matches(' ').strip_prefix("- ") {
        Some(rest) => format!("{}{}", " ".repeat(indent + 2), rest),
        None => first.to_owned(),
    }
}

fn find(value: Value, kind: Kind, key: &Key) -> Option<Mapping> {
    match value {
        Value::Sequence(items) => items.into_iter().find_map(|item| find(item, kind, key)),
        Value::Mapping(object) => {
            if is(&object, kind, key) {
                return Some(object);
            }
            // A list, a watch event, or another envelope.
            object.into_iter().filter(|(_, v)| v.is_sequence() || v.is_mapping()).find_map(|(_, v)| find(v, kind, key))
        }
        _ => None,
    }
}

fn is(object: &Mapping, kind: Kind, key: &Key) -> bool {
    let text = |name: &str| match object.get("metadata") {
        Some(metadata) => metadata.get(name).and_then(Value::as_str),
        // Kubernetes' internal form has the metadata among the other fields.
        None => object.get(name).and_then(Value::as_str).filter(|_| object.contains_key("Spec") || object.contains_key("Status")),
    };
    let same_kind = object.get("kind").and_then(Value::as_str).is_none_or(|k| k == kind.to_string());
    let namespace = if kind.namespaced() { text("namespace").unwrap_or("default") } else { "" };
    same_kind && text("name") == Some(&*key.name) && namespace == &*key.namespace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_and_written_as_yaml() {
        let check = |text: &str, kind: Kind, key: Key, expected: Option<&str>| {
            assert_eq!(as_yaml(text, kind, &key).as_deref(), expected, "{text}");
        };
        let node = |name: &str| Key { namespace: "".into(), name: name.into() };
        let json = r#"{"kind":"Node","metadata":{"name":"a","managedFields":[{"manager":"x"}]},"spec":{"unschedulable":true}}"#;
        let yaml = "kind: Node\nmetadata:\n  name: a\nspec:\n  unschedulable: true\n";
        check(json, Kind::Node, node("a"), Some(yaml));
        check(&format!("{json},{{"), Kind::Node, node("a"), Some(yaml));
        check(
            &format!(r#"{{"kind":"List","items":[{{"kind":"Node","metadata":{{"name":"b"}}}},{json}]}}"#),
            Kind::Node,
            node("a"),
            Some(yaml),
        );
        check(&format!(r#"{{"type":"ADDED","object":{json}}}"#), Kind::Node, node("a"), Some(yaml));
        check(yaml, Kind::Node, node("a"), Some(yaml));
        check("  - kind: Node\n    metadata:\n      name: a\n    spec:\n      unschedulable: true\n", Kind::Node, node("a"), Some(yaml));
        check(yaml, Kind::Node, node("b"), None);
        check("{", Kind::Node, node("b"), None);
        let with_nulls = r#"{"kind":"Node","metadata":{"name":"a","labels":null},"spec":{"taints":[{"key":"k","value":null}]}}"#;
        let without = serde_json::json!({"kind": "Node", "metadata": {"name": "a"}, "spec": {"taints": [{"key": "k"}]}});
        assert_eq!(as_json(with_nulls, Kind::Node, &node("a")), Some(without));
    }

    #[test]
    fn a_pod_is_known_by_its_namespace_and_no_owner_is_taken_for_it() {
        let text = r#"{"kind":"Pod","metadata":{"name":"p","ownerReferences":[{"kind":"Pod","name":"p"}]}}"#;
        assert!(as_yaml(text, Kind::Pod, &Key::new("default", "p")).is_some());
        assert!(as_yaml(text, Kind::Pod, &Key::new("x", "p")).is_none());
        assert!(as_yaml(text, Kind::Node, &Key { namespace: "".into(), name: "p".into() }).is_none());
    }
}
