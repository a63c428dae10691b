use serde_json::json;

use super::*;

fn sent(amount: &str) -> String {
    let mut object = json!({"list": {"x": amount}});
    let Value::Object(fields) = &mut object else { return String::new() };
    quantities(fields, "list");
    object["list"]["x"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn amounts_are_written_as_go_writes_them() {
    for (text, expected) in [
        ("0", "0"),
        ("0.5", "500m"),
        ("0.101", "101m"),
        ("2.999", "2.999"),
        ("4.75", "4750m"),
        ("4000m", "4"),
        ("500000u", "500m"),
        ("8e0", "8e0"),
        ("128974.848k", "128974.848k"),
        ("8053063.68k", "8053063680"),
        ("8192Mi", "8Gi"),
        ("7680Mi", "7680Mi"),
        ("7.5Gi", "7680Mi"),
        ("16384Ki", "16Mi"),
        ("0m", "0"),
        ("1001", "1001"),
    ] {
        assert_eq!(sent(text), expected, "{text}");
    }
}

#[test]
fn an_object_that_did_not_change_is_sent_whole() {
    let original = json!({"kind": "Node", "apiVersion": "v1",
        "metadata": {"name": "a", "annotations": {"example.com/gpu": "1"}, "managedFields": [{}]},
        "spec": {"podCIDR": "10.0.0.0/24"}, "status": {"allocatable": {"cpu": "4000m"}}});
    let node: Node = serde_json::from_value(original.clone()).unwrap();
    let sent = node_object(&node, Some(original.clone()));
    assert_eq!((&sent["metadata"]["annotations"]["example.com/gpu"], &sent["spec"]["podCIDR"]), (&json!("1"), &json!("10.0.0.0/24")));
    assert_eq!(
        (&sent["kind"], &sent["metadata"]["managedFields"], &sent["status"]["allocatable"]["cpu"]),
        (&Value::Null, &Value::Null, &json!("4"))
    );
    assert!(node_object(&node, None)["metadata"].get("annotations").is_none(), "what is not known is not made up");
    // Changes of a session replace fields of the original, and the other fields stay.
    let mut changed = node;
    changed.spec.unschedulable = Some(true);
    let sent = node_object(&changed, Some(original));
    assert_eq!((&sent["spec"]["unschedulable"], &sent["spec"]["podCIDR"]), (&json!(true), &json!("10.0.0.0/24")));
    assert_eq!(sent["metadata"]["annotations"]["example.com/gpu"], "1");
}

#[test]
fn a_changed_pod_keeps_what_is_not_read() {
    let original = json!({"metadata": {"name": "p", "namespace": "n", "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "env": [{"name": "X"}]}], "volumes": [{"name": "v", "emptyDir": {}}], "nodeName": "x"}});
    let mut pod: Pod = serde_json::from_value(original.clone()).unwrap();
    pod.node_name = "".into();
    pod.metadata.labels = [("c", "d".into())].into_iter().collect();
    let sent = pod_object(&pod, Some(original));
    assert_eq!(sent["metadata"]["labels"], json!({"c": "d"}));
    assert_eq!((&sent["spec"]["containers"][0]["env"], &sent["spec"]["volumes"][0]["emptyDir"]), (&json!([{"name": "X"}]), &json!({})));
    assert!(sent["spec"].get("nodeName").is_none());
}
