use super::*;

fn read(kind: NeighborKind, text: &str) -> Neighbor {
    Neighbor::deserialize_kind(kind, "apps/v1".into(), &mut serde_json::Deserializer::from_str(text)).unwrap()
}

#[test]
fn a_workload_keeps_its_numbers_and_another_kind_its_fields() {
    let web = read(
        NeighborKind::Deployment,
        r#"{"metadata":{"name":"web","generation":4},"spec":{"replicas":5,"strategy":{"rollingUpdate":{"maxSurge":"25%"}},
        "template":{"spec":{"priorityClassName":"high","containers":[{"name":"c"}]}}},
        "status":{"observedGeneration":3,"conditions":[{"type":"ReplicaFailure","status":"True","lastTransitionTime":"soon"}]}}"#,
    );
    let facts = web.facts().unwrap();
    assert_eq!((web.metadata.generation, facts.spec.replicas, facts.status.observed_generation), (Some(4), Some(5), Some(3)));
    assert_eq!(facts.spec.template.spec.priority_class_name, "high");
    assert_eq!(web.conditions()[0].since(), None);
    // An active CronJob lists its Jobs where a Job has a number.
    read(NeighborKind::CronJob, r#"{"metadata":{"name":"c"},"spec":{"suspend":true},"status":{"active":[{"name":"j"}]}}"#);
    let quota = read(NeighborKind::ResourceQuota, r#"{"metadata":{"name":"q"},"status":{"hard":{"pods":"2"},"conditions":[]}}"#);
    assert_eq!(quota.field("/status/hard/pods").unwrap(), "2");
    assert!(quota.field("/spec/hard").is_none() && quota.facts().is_none());
}

#[test]
fn an_object_is_written_as_it_was_read_without_what_programs_run() {
    for (kind, text) in [
        (
            NeighborKind::StatefulSet,
            r#"{"metadata":{"name":"db","namespace":"shop","uid":"u","ownerReferences":[{"kind":"X","name":"x","controller":true}]},
            "spec":{"replicas":0,"podManagementPolicy":"OrderedReady","updateStrategy":{"type":"OnDelete"},"template":{"spec":{
            "nodeSelector":{"a":"b"},"affinity":{"nodeAffinity":{}},"tolerations":[{"operator":"Exists"}]}}},
            "status":{"readyReplicas":2,"conditions":[{"type":"X","status":"True","message":"m"}]}}"#,
        ),
        (
            NeighborKind::RuntimeClass,
            r#"{"metadata":{"name":"kata"},"overhead":{"podFixed":{"cpu":"250m"}},"scheduling":{"nodeSelector":{"kata":"yes"}}}"#,
        ),
        (NeighborKind::ResourceQuota, r#"{"metadata":{"name":"q"},"spec":{"hard":{"pods":"2"}},"status":{"used":{"pods":"1"}}}"#),
    ] {
        let object = read(kind, text);
        let written = serde_json::to_string(&object).unwrap();
        assert_eq!(serde_json::from_str::<Neighbor>(&written).unwrap(), object, "{written}");
    }
    let set = read(
        NeighborKind::JobSet,
        r#"{"metadata":{"name":"t"},"spec":{"replicatedJobs":[{"template":{"env":[{"name":"KEY","value":"hush"}],"args":["hush"],"x":1}}]}}"#,
    );
    assert_eq!(set.field("/spec/replicatedJobs/0/template").unwrap(), &serde_json::json!({"x": 1}));
    assert!(serde_json::from_str::<Neighbor>(r#"{"kind":"Sparkle"}"#).is_err());
}

#[test]
fn labels_may_have_the_names_of_what_programs_run() {
    let pool = read(
        NeighborKind::NodePool,
        r#"{"metadata":{"name":"p"},"spec":{"template":{"metadata":{"labels":{"env":"prod","data":"x"},"annotations":{"a":"b"}},
        "spec":{"env":["hush"]}},"selector":{"matchLabels":{"command":"c"}},"labels":{"args":{"args":["hush"],"x":null}}}}"#,
    );
    let expected = serde_json::json!({
        "template": {"metadata": {"labels": {"env": "prod", "data": "x"}}, "spec": {}},
        "selector": {"matchLabels": {"command": "c"}},
        "labels": {"args": {}},
    });
    assert_eq!(pool.field("/spec").unwrap(), &expected);
}
