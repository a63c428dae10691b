//! Tests of `requests`.

use serde_json::{Value, json};

use super::super::change::PodChange;
use super::*;

fn lowered(spec: &Value, resource: &str, to: i64) -> Option<(Pod, Value)> {
    let mut value = json!({"metadata": {"name": "p"}, "spec": spec});
    let pod: Pod = serde_json::from_value(value.clone()).unwrap();
    PodChange::Lower(lower(&pod, &resource.into(), to)?).edit(&mut value);
    Some((serde_json::from_value(value.clone()).unwrap(), value))
}

#[test]
fn the_whole_pod_requests_what_it_should() {
    let container = |cpu: &str| json!({"name": "c", "resources": {"requests": {"cpu": cpu}}});
    let sidecar = |cpu: &str| json!({"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": cpu}}});
    for spec in [
        json!({"containers": [container("2"), container("500m")]}),
        json!({"containers": [container("1")], "initContainers": [sidecar("1"), container("3"), sidecar("250m")]}),
        json!({"containers": [container("1500m"), container("1500m")], "overhead": {"cpu": "5m"}}),
        json!({"resources": {"requests": {"cpu": "3"}}, "containers": [container("1"), container("500m")]}),
    ] {
        let from = requested(&serde_json::from_value(json!({"spec": spec})).unwrap(), "cpu");
        for to in [from - 1, from / 2, 700, 5] {
            let (pod, _) = lowered(&spec, "cpu", to).expect("a lower request");
            assert_eq!(requested(&pod, "cpu"), to, "{spec}");
        }
        assert!(lowered(&spec, "cpu", from).is_none());
    }
    assert!(lowered(&json!({"containers": [container("1")], "overhead": {"cpu": "5m"}}), "cpu", 4).is_none());
}

#[test]
fn limits_that_must_equal_requests_do() {
    let spec = json!({"containers": [{"resources": {"requests": {"a.b/gpu": "4", "cpu": "4"}, "limits": {"a.b/gpu": "4", "cpu": "4"}}}]});
    let resources = |resource, to| lowered(&spec, resource, to).expect("a lower request").1["spec"]["containers"][0]["resources"].take();
    assert_eq!(resources("a.b/gpu", 1), json!({"requests": {"a.b/gpu": "1", "cpu": "4"}, "limits": {"a.b/gpu": "1", "cpu": "4"}}));
    assert_eq!(resources("a.b/gpu", 0), json!({"requests": {"cpu": "4"}, "limits": {"cpu": "4"}}));
    assert_eq!(resources("cpu", 0), json!({"requests": {"a.b/gpu": "4", "cpu": "0"}, "limits": {"a.b/gpu": "4", "cpu": "4"}}));
}
