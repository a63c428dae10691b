use super::*;
use crate::cluster::testing::object;

fn cluster() -> Cluster {
    let pod = r#"{"metadata":{"name":"p","namespace":"a"},"spec":{"priority":5,"nodeSelector":{"disk":"ssd"},
        "containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}"#;
    let node = r#"{"metadata":{"name":"n"},"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}"#;
    [object(Kind::Pod, pod), object(Kind::Node, node)].into_iter().collect()
}

fn edit(text: &str) -> Result<Value, EditError> {
    match Edit::parse(text)?.operation(&cluster())? {
        Operation::Update { object } | Operation::Delete { object } => Ok(serde_json::to_value(object).unwrap()),
        other => Ok(serde_json::to_value(other).unwrap()),
    }
}

#[test]
fn a_node_is_cordoned_with_its_taint_and_uncordoned_without() {
    let mut cluster = cluster();
    for (word, unschedulable, taints) in [("cordon", json!(true), 2), ("uncordon", Value::Null, 1), ("cordon", json!(true), 2)] {
        let operation = Edit::parse(&format!("{word} n")).unwrap().operation(&cluster).unwrap();
        let Operation::Update { object } = operation else { panic!() };
        let value = serde_json::to_value(&object).unwrap();
        assert_eq!((&value["spec"]["unschedulable"], value["spec"]["taints"].as_array().unwrap().len()), (&unschedulable, taints));
        cluster.insert(object);
    }
    assert_eq!(edit("uncordon n").unwrap_err().to_string(), "Node n would not change");
    let again = Edit::parse("cordon n").unwrap().operation(&cluster).unwrap_err();
    assert_eq!(again.to_string(), "Node n would not change");
    let Object::Node(node) = cluster.get(Kind::Node, &key_named(Kind::Node, "n")).unwrap() else { panic!() };
    let mut node = crate::cluster::Node::clone(&node);
    node.spec.taints = Vec::new().into();
    cluster.insert(Object::Node(node.into()));
    assert!(Edit::parse("cordon n").unwrap().operation(&cluster).is_err(), "it is cordoned without the taint, too");
}

#[test]
fn a_patch_merges() {
    let patched = edit(r#"patch po a/p {"spec":{"priority":7,"nodeSelector":null,"tolerations":[{"operator":"Exists"}]}}"#).unwrap();
    assert_eq!(patched["spec"]["priority"], 7);
    assert_eq!(patched["spec"].get("nodeSelector"), None);
    assert_eq!(patched["spec"]["containers"][0]["name"], "c");
    assert_eq!(edit("delete pods a/p").unwrap()["metadata"]["name"], "p");
    assert_eq!(edit("allow a/p").unwrap()["op"], "allow");
    assert!(edit(r#"patch po a/p {"metadata":{"annotations":{"x":"y"}}}"#).is_ok());
}

#[test]
fn what_cannot_be_is_said() {
    let check = |text: &str, expected: &str| {
        let error = edit(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    check("delete", "expected a kind and a name");
    check("delete secret x", "not a kind that scheduling reads");
    check("delete po", "expected a name");
    check("delete po p", "there is no Pod default/p");
    check("delete po a/p now", "unexpected \"now\" at the end");
    check("patch po a/p", "a patch, such as");
    check("patch po a/p {", "not valid JSON");
    check("patch po a/p []", "not a JSON object");
    check(r#"patch po a/p {"spec":{"priorty":7}}"#, "spec.priorty of a Pod does not affect scheduling");
    check(r#"patch po a/p {"spec":{"priority":"high"}}"#, "the patched Pod a/p is invalid");
    check(r#"patch po a/p {"metadata":{"name":"q"}}"#, "name");
    check(r#"patch po a/p {"spec":{"priority":5}}"#, "would not change");
    check("cordon", "expected a node name");
    check("cordon m", "there is no Node m");
    check("drain n", "\"drain\" is not one of");
}

#[test]
fn a_name_without_a_namespace_is_that_of_the_only_object_with_it() {
    let mut cluster = cluster();
    let parse = |text: &str, cluster: &Cluster| Edit::parse_in(text, cluster).map(|edit| edit.to_string()).map_err(|e| e.to_string());
    assert_eq!(parse("patch po p {}", &cluster).unwrap(), "patch Pod a/p {}");
    assert_eq!(parse("delete po q", &cluster).unwrap(), "delete Pod default/q");
    for namespace in ["b", "default"] {
        assert_eq!(parse("allow p", &cluster).is_ok(), namespace == "b");
        let pod = serde_json::from_value(json!({ "metadata": { "name": "p", "namespace": namespace } })).unwrap();
        cluster.insert(Object::Pod(std::sync::Arc::new(pod)));
        let expected = if namespace == "b" { Err("a/p and b/p have this name: give the namespace too") } else { Ok("reject default/p") };
        assert_eq!(parse("reject p", &cluster).as_deref().map_err(String::as_str), expected);
    }
}

#[test]
fn kinds_have_many_names() {
    for (word, expected) in [
        ("pods", Kind::Pod),
        ("PodDisruptionBudget", Kind::PodDisruptionBudget),
        ("pdb", Kind::PodDisruptionBudget),
        ("priorityclasses", Kind::PriorityClass),
        ("csistoragecapacities", Kind::CSIStorageCapacity),
    ] {
        assert_eq!(Kind::named(word), Some(expected), "{word}");
    }
    assert_eq!(Kind::named("configmap"), None);
}
