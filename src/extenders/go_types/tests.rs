//! Tests of `go_types`.

use super::super::go_json::first_value;
use super::*;

/// Returns whether decoding ends, and the text of the error.
fn wrong(text: &str) -> Option<(bool, String)> {
    wrong_in_node(&first_value(text.as_bytes()).unwrap(), "NodeList", "Nodes.items").map(|wrong| match wrong {
        Wrong::Type(wrong) => (false, wrong.to_string()),
        Wrong::Value(error) => (true, error.to_string()),
    })
}

#[test]
fn a_wrong_type_is_named_with_its_struct_and_its_path() {
    let field = |what: &str, field: &str, go_type: &str| {
        Some((false, format!("json: cannot unmarshal {what} into Go struct field {field} of type {go_type}")))
    };
    for (text, expected) in [
        (r#"{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"taints":null},"more":7}"#, None),
        (r#"{"metadata":{"name":7}}"#, field("number", "ObjectMeta.Nodes.items.metadata.name", "string")),
        (r#"{"Metadata":{"NAME":[]}}"#, field("array", "ObjectMeta.Nodes.items.metadata.name", "string")),
        (r#"{"metadata":{"uid":true}}"#, field("bool", "ObjectMeta.Nodes.items.metadata.uid", "types.UID")),
        (r#"{"metadata":{"labels":{"a":1}}}"#, field("number", "ObjectMeta.Nodes.items.metadata.labels", "string")),
        (r#"{"metadata":{"labels":[]}}"#, field("array", "ObjectMeta.Nodes.items.metadata.labels", "map[string]string")),
        (r#"{"metadata":[]}"#, field("array", "Node.Nodes.items.metadata", "v1.ObjectMeta")),
        (r#"{"spec":{"unschedulable":"yes"}}"#, field("string", "NodeSpec.Nodes.items.spec.unschedulable", "bool")),
        (r#"{"spec":{"taints":[{"effect":1}]}}"#, field("number", "Taint.Nodes.items.spec.taints.effect", "v1.TaintEffect")),
        (
            r#"{"status":{"images":[{"sizeBytes":1.5}]}}"#,
            field("number 1.5", "ContainerImage.Nodes.items.status.images.sizeBytes", "int64"),
        ),
        (r#"{"status":{"allocatable":7}}"#, field("number", "NodeStatus.Nodes.items.status.allocatable", "v1.ResourceList")),
        // The first counts.
        (r#"{"kind":1,"spec":7}"#, field("number", "Node.Nodes.items.kind", "string")),
    ] {
        assert_eq!(wrong(text), expected, "{text}");
    }
}

#[test]
fn times_and_amounts_end_the_decoding() {
    let value = |text: &str| Some((true, text.to_owned()));
    for (text, expected) in [
        (r#"{"kind":1,"status":{"allocatable":{"cpu":"4x"}}}"#, value(FORMAT_WRONG)),
        (r#"{"status":{"allocatable":{"cpu":true}}}"#, value(FORMAT_WRONG)),
        (r#"{"status":{"allocatable":{"cpu":"4kk"}}}"#, value(SUFFIX_WRONG)),
        (r#"{"status":{"allocatable":{"cpu":4,"memory":null,"pods":" 1k "}}}"#, None),
        (r#"{"metadata":{"creationTimestamp":7}}"#, value("json: cannot unmarshal number into Go value of type string")),
    ] {
        assert_eq!(wrong(text), expected, "{text}");
    }
}
