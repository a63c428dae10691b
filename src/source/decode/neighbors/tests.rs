//! Tests of `neighbors`.

use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Key, MissingReason};
use crate::source::{Input, Severity, load};

const WEB: &str = r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web"},"spec":{"replicas":3,"paused":null}}"#;

fn read(text: &str) -> crate::source::Loaded {
    load(&[Input::Bytes { name: "test".into(), bytes: text.as_bytes().to_vec().into() }])
}

#[test]
fn objects_are_read_in_json_and_yaml_and_stay_counted_as_not_read_by_scheduling() {
    let yaml = serde_yaml::to_string(&serde_json::from_str::<serde_json::Value>(WEB).unwrap()).unwrap();
    for text in [WEB.to_owned(), format!(r#"{{"kind":"List","apiVersion":"v1","items":[{WEB}]}}"#), yaml] {
        let loaded = read(&text);
        let web = loaded.neighbors.get(NeighborKind::Deployment, &Key::new("default", "web")).unwrap();
        assert_eq!(web.facts().unwrap().spec.replicas, Some(3), "{text}");
        assert_eq!(loaded.report.other_kinds.get("Deployment"), Some(&1), "{text}");
    }
}

#[test]
fn a_replica_set_is_read_for_scheduling_and_as_a_workload() {
    let loaded = read(&WEB.replace("Deployment", "ReplicaSet"));
    assert_eq!((loaded.objects.len(), loaded.neighbors.of_kind(NeighborKind::ReplicaSet).count()), (1, 1));
}

#[test]
fn an_empty_list_shows_that_there_are_none() {
    let loaded = read(&format!(r#"{WEB}{{"kind":"ResourceQuotaList","apiVersion":"v1","items":[]}}"#));
    assert!(loaded.neighbors.knows(NeighborKind::ResourceQuota) && !loaded.neighbors.knows(NeighborKind::LimitRange));
}

#[test]
fn what_cannot_be_read_leaves_its_kind_unknown() {
    let label = format!(r#""name":"web","labels":{{"a":"{}"}}"#, "l".repeat(2000));
    for (text, message) in [
        (WEB.replace('3', r#""three""#), r#"Deployment web: invalid type: string "three", expected i64"#),
        (WEB.replace(r#""name":"web""#, ""), "Deployment: Deployment without a name; skipped"),
        (WEB.replace(r#""name":"web""#, &label), "Deployment: has a label of 2000 bytes, which no API server accepts; skipped"),
    ] {
        for kind in ["Deployment", "ReplicaSet"] {
            let named = |text: &str| text.replace("Deployment", kind);
            let loaded = read(&format!("{}{}", named(&text), named(&WEB.replace("web", "api"))));
            let errors = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error);
            let said: Vec<String> = errors.map(|d| format!("{}: {}", d.object.as_deref().unwrap_or_default(), d.message)).collect();
            assert_eq!(said, [named(message)], "{text}");
            let kind: NeighborKind = kind.parse().unwrap();
            assert_eq!((loaded.neighbors.of_kind(kind).count(), loaded.neighbors.why(kind)), (1, Some(MissingReason::Incomplete)));
        }
    }
    let quota = |pods: &str| {
        format!(r#"{{"kind":"ResourceQuota","apiVersion":"v1","metadata":{{"name":"q"}},"spec":{{"hard":{{"pods":"{pods}"}}}}}}"#)
    };
    for (pods, errors) in [("5", 0), ("zero", 1)] {
        let loaded = read(&quota(pods));
        let named = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error && d.object.as_deref() == Some("ResourceQuota q"));
        assert_eq!((named.count(), loaded.neighbors.why(NeighborKind::ResourceQuota).is_some()), (errors, errors == 1), "{pods}");
    }
    let other = read(&WEB.replace("apps/v1", "example.com/v1"));
    assert!(!other.neighbors.knows(NeighborKind::Deployment));
}

#[test]
fn events_are_kept_by_speaker() {
    let event = |component: &str, kind: &str, reason: &str| {
        format!(
            r#"{{"kind":"Event","apiVersion":"v1","metadata":{{"name":"{component}.{reason}","namespace":"shop"}},"involvedObject":{{"kind":"{kind}",
                "name":"web","namespace":"shop"}},"reason":"{reason}","message":"m","type":"Warning","count":2,"source":{{"component":"{component}"}}}}"#
        )
    };
    let text = [
        event("cluster-autoscaler", "Pod", "NotTriggerScaleUp"),
        event("replicaset-controller", "ReplicaSet", "FailedCreate"),
        event("karpenter", "Pod", "FailedScheduling"),
        event("default-scheduler", "Pod", "FailedScheduling"),
        event("kubelet", "Pod", "BackOff"),
        event("cluster-autoscaler", "Pod", ""),
    ];
    let loaded = read(&text.concat());
    let kept: Vec<String> = loaded.neighbors.events.iter().map(|e| format!("{} {} {}", e.speaker, e.about, e.reason)).collect();
    let expected = [
        "cluster-autoscaler pod/web NotTriggerScaleUp",
        "replicaset-controller replicaset/web FailedCreate",
        "karpenter pod/web FailedScheduling",
        "cluster-autoscaler pod/web ",
    ];
    assert_eq!(kept, expected);
    assert_eq!(loaded.events.len(), 2, "schedulers' events about pods are kept as before");
}
