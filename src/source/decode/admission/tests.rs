//! Tests of `admission`.

use super::*;
use crate::admission::defaults::source_pod;
use crate::cluster::Pod;

fn object(json: &str) -> Object {
    serde_json::from_str(json).unwrap()
}

fn pod(json: &str) -> Pod {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_priority_comes_from_the_class() {
    let classes = r#"{"kind":"PriorityClass","metadata":{"name":"high"},"value":7,"preemptionPolicy":"Never"}
            {"kind":"PriorityClass","metadata":{"name":"usual"},"value":3,"globalDefault":true}
            {"kind":"PriorityClass","metadata":{"name":"other-default"},"value":4,"globalDefault":true}"#;
    let classes: Vec<Object> = serde_json::Deserializer::from_str(classes).into_iter().map(Result::unwrap).collect();
    for (spec, with_classes, priority, policy, unknown) in [
        (r#"{"priorityClassName":"high"}"#, true, Some(7), Some("Never"), false),
        (r#"{"priorityClassName":"high","preemptionPolicy":"PreemptLowerPriority"}"#, true, Some(7), Some("PreemptLowerPriority"), false),
        (r#"{"priorityClassName":"high","priority":1}"#, true, Some(1), None, false),
        ("{}", true, Some(3), None, false),
        ("{}", false, None, None, false),
        (r#"{"priorityClassName":"nope"}"#, true, None, None, true),
        (r#"{"priorityClassName":"system-node-critical"}"#, false, Some(2_000_001_000), None, false),
        (r#"{"priorityClassName":"system-cluster-critical"}"#, false, Some(2_000_000_000), None, false),
    ] {
        let mut objects = vec![object(&format!(r#"{{"kind":"Pod","metadata":{{"name":"p"}},"spec":{spec}}}"#))];
        objects.extend(classes.iter().filter(|_| with_classes).cloned());
        assert_eq!(resolve_priorities(&mut objects), if unknown { vec![0] } else { vec![] }, "{spec}");
        let Object::Pod(pod) = &objects[0] else { unreachable!() };
        assert_eq!((pod.spec.priority, pod.spec.preemption_policy.as_deref()), (priority, policy), "{spec}");
    }
}

#[test]
fn requests_follow_limits_only_where_no_api_server_saw_the_pod() {
    let text = |uid: &str, rest: &str| {
        format!(
            r#"{{"metadata":{{"name":"p","uid":"{uid}"}},"spec":{{"containers":[{{"resources":{{"limits":{{"cpu":"2","memory":"1Gi"}},
                "requests":{{"cpu":"1"}}}}}}]{rest}}}}}"#
        )
    };
    let requests = |pod: &Pod| pod.spec.containers[0].resources.requests.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
    let (mut raw, mut known) = (pod(&text("", "")), pod(&text("1", "")));
    source_pod(&mut raw);
    source_pod(&mut known);
    assert_eq!((requests(&raw), requests(&known)), (vec!["cpu=1".to_owned(), "memory=1Gi".into()], vec!["cpu=1".to_owned()]));
    assert_eq!(known.spec.scheduler_name, "default-scheduler");

    let rest = r#","resources":{"limits":{"cpu":"9","hugepages-2Mi":"4Mi","memory":"8Gi"}},
            "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"3"}}},{"resources":{"requests":{"cpu":"2"}}}]"#;
    let mut raw = pod(&text("", rest));
    source_pod(&mut raw);
    let whole = raw.spec.resources.as_ref().unwrap().requests.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
    assert_eq!(whole, ["cpu=5", "hugepages-2Mi=4Mi", "memory=1Gi"]);
}

#[test]
fn namespaces_are_where_they_belong() {
    for (json, namespace, defaulted) in [
        (r#"{"kind":"Pod","metadata":{"name":"a"}}"#, "default", true),
        (r#"{"kind":"Pod","metadata":{"name":"a","namespace":"b"}}"#, "b", false),
        (r#"{"kind":"Node","metadata":{"name":"a","namespace":"b"}}"#, "", false),
        (r#"{"kind":"Node","metadata":{"name":"a"}}"#, "", false),
    ] {
        let mut in_file = object(json);
        assert!(!place(&mut in_file, Some("shop")));
        assert_eq!(in_file.meta().namespace, if defaulted { "shop" } else { namespace }, "{json}");
        let mut object = object(json);
        assert_eq!((place(&mut object, None), object.meta().namespace.as_str()), (defaulted, namespace), "{json}");
    }
}

#[test]
fn an_empty_selector_of_the_beta_version_matches_nothing() {
    for (version, kept) in [("policy/v1beta1", false), ("policy/v1", true)] {
        let mut object = object(r#"{"kind":"PodDisruptionBudget","metadata":{"name":"a"},"spec":{"selector":{}}}"#);
        read_version(&mut object, Some(version));
        let Object::PodDisruptionBudget(budget) = object else { unreachable!() };
        assert_eq!(budget.spec.selector.is_some(), kept);
    }
}
