use serde_json::{Value, json};

use super::*;
use crate::cluster::Object;

fn cluster(objects: &[Value]) -> Cluster {
    objects.iter().map(|object| serde_json::from_value::<Object>(object.clone()).unwrap()).collect()
}

fn options() -> UnfoldOptions<'static> {
    UnfoldOptions {
        namespace: "default",
        replicas: None,
        most: 100,
        most_bytes: 1 << 20,
        emulation: Emulation::default(),
        now: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn workload(api_version: &str, kind: &str, spec: &Value) -> Value {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec});
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}});
    if object["spec"]["template"].is_null() && object["spec"]["jobTemplate"].is_null() && kind != "Pod" {
        object["spec"]["template"] = template;
        object["spec"]["selector"] = json!({"matchLabels": {"app": "web"}});
        if kind == "Job" {
            object["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
        }
    }
    object
}

fn unfolded(object: &Value) -> Unfolded {
    unfold(&Cluster::default(), object, &options()).unwrap().unwrap()
}

fn names(found: &Unfolded) -> Vec<String> {
    found.pods.iter().map(|pod| pod.pod.key().name.to_string()).collect()
}

#[test]
fn thousands_of_pods_have_names_of_their_own() {
    let options = UnfoldOptions { most: 10_000, ..options() };
    let object = workload("apps/v1", "Deployment", &json!({"replicas": 10_000}));
    let mut names = names(&unfold(&Cluster::default(), &object, &options).unwrap().unwrap());
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 10_000);
}

#[test]
fn a_deployment_makes_pods_of_a_replica_set_named_after_its_template() {
    let found = unfolded(&workload("apps/v1", "Deployment", &json!({"replicas": 3})));
    let metadata = &found.pods[0].pod.json()["metadata"];
    let (set, hash) = (metadata["ownerReferences"][0]["name"].as_str().unwrap(), metadata["labels"]["pod-template-hash"].as_str().unwrap());
    assert_eq!((set, metadata["labels"]["app"].as_str()), (format!("web-{hash}").as_str(), Some("web")));
    assert!(names(&found).iter().all(|name| name.len() == set.len() + 6 && name.starts_with(set)), "{:?}", names(&found));
    assert_eq!((found.wanted, found.surge, found.hold), (3, Surge { above: 1, below: 0, recreates: false }, None));
    let distinct: std::collections::BTreeSet<_> = names(&found).into_iter().collect();
    assert_eq!(distinct.len(), 3);
    assert_eq!(names(&found), names(&unfolded(&workload("apps/v1", "Deployment", &json!({"replicas": 3})))), "the same in every run");

    let paused = unfolded(&workload("apps/v1", "Deployment", &json!({"paused": true, "strategy": {"type": "Recreate"}})));
    assert_eq!((paused.hold, paused.surge.recreates, paused.wanted), (Some(Hold::Paused), true, 1));
    let shares = json!({"replicas": 10, "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}});
    assert_eq!(unfolded(&workload("apps/v1", "Deployment", &shares)).surge, Surge { above: 3, below: 2, recreates: false });
    let rounded = json!({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "10%"}}});
    assert_eq!(unfolded(&workload("apps/v1", "Deployment", &rounded)).surge, Surge { above: 0, below: 1, recreates: false });
}

#[test]
fn a_stateful_set_makes_ordinals_with_their_claims() {
    let claims =
        json!([{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]);
    let found =
        unfolded(&workload("apps/v1", "StatefulSet", &json!({"replicas": 2, "ordinals": {"start": 5}, "volumeClaimTemplates": claims})));
    assert_eq!((names(&found), found.is_ordered), (vec!["web-5".to_owned(), "web-6".into()], true));
    let pod = found.pods[1].pod.json();
    assert_eq!(pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"], "data-web-6");
    assert_eq!(pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"], "6");
    assert_eq!(found.pods[1].claims[0].metadata.key().to_string(), "shop/data-web-6");
    assert!(!unfolded(&workload("apps/v1", "StatefulSet", &json!({"podManagementPolicy": "Parallel"}))).is_ordered);
}

#[test]
fn a_daemon_set_makes_a_pod_for_each_node_that_takes_it() {
    let node = |name: &str, pool: &str, taints: Value| json!({"kind": "Node", "metadata": {"name": name, "labels": {"pool": pool}}, "spec": {"taints": taints}});
    let cordoned = json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]);
    let cluster = cluster(&[
        node("a", "web", json!([])),
        node("b", "web", cordoned),
        node("c", "web", json!([{"key": "gpu", "effect": "NoSchedule"}])),
        node("d", "db", json!([])),
    ]);
    let template =
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"nodeSelector": {"pool": "web"}, "containers": [{"name": "c"}]}});
    let object = workload("apps/v1", "DaemonSet", &json!({"template": template, "selector": {"matchLabels": {"app": "web"}}}));
    let found = unfold(&cluster, &object, &options()).unwrap().unwrap();
    let nodes: Vec<String> = found
        .pods
        .iter()
        .map(|pod| serde_json::from_value::<crate::cluster::Pod>(pod.pod.json()).unwrap().daemon_node().unwrap().to_string())
        .collect();
    assert_eq!((nodes, found.wanted, found.surge.below), (vec!["a".to_owned(), "b".into()], 2, 1));
}

#[test]
fn jobs_make_as_many_pods_as_run_at_once() {
    for (spec, wanted, later, hold) in [
        (json!({}), 1, 0, None),
        (json!({"completions": 5, "parallelism": 2}), 2, 3, None),
        (json!({"completions": 2, "parallelism": 9}), 2, 0, None),
        (json!({"parallelism": 4}), 4, 0, None),
        (json!({"parallelism": 4, "suspend": true}), 4, 0, Some(Hold::Suspended)),
    ] {
        let found = unfolded(&workload("batch/v1", "Job", &spec));
        assert_eq!((found.wanted, found.later, found.hold, found.pods.len() as u64), (wanted, later, hold, wanted), "{spec}");
    }
    let indexed = unfolded(&workload("batch/v1", "Job", &json!({"completions": 2, "parallelism": 2, "completionMode": "Indexed"})));
    assert!(names(&indexed)[1].starts_with("web-1-"), "{:?}", names(&indexed));
    let job = json!({"spec": {"parallelism": 2, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}}});
    let cron = unfolded(&workload("batch/v1", "CronJob", &json!({"jobTemplate": job})));
    assert_eq!((cron.wanted, cron.pods[0].pod.owner().and_then(|owner| owner["name"].as_str())), (2, Some("web-0")));
    let replicated = json!([{"name": "w", "replicas": 3, "template": job}]);
    let set = unfolded(&workload("jobset.x-k8s.io/v1alpha2", "JobSet", &json!({"template": {}, "replicatedJobs": replicated})));
    assert_eq!((set.wanted, set.controllers.len()), (6, 3));
    let groups = json!({"template": {}, "replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": {"spec": {"containers": [{"name": "c"}]}}}});
    let found = unfolded(&workload("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", &groups));
    assert_eq!(names(&found), ["web-0", "web-0-1", "web-0-2", "web-1", "web-1-1", "web-1-2"]);
}

#[test]
fn other_kinds_are_unfolded_by_their_template_or_not_at_all() {
    assert_eq!(unfolded(&workload("argoproj.io/v1alpha1", "Rollout", &json!({"replicas": 4}))).pods.len(), 4);
    for kind in ["Service", "ConfigMap"] {
        let object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "web"}});
        assert!(unfold(&Cluster::default(), &object, &options()).unwrap().is_none());
    }
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Running"}});
    let copies = unfold(&Cluster::default(), &pod, &UnfoldOptions { replicas: Some(3), ..options() }).unwrap().unwrap();
    assert_eq!((names(&copies)[0].as_str(), copies.pods.len(), copies.pods[0].pod.json().get("status").cloned()), ("one", 3, None));
    assert_eq!(copies.pods[0].pod.json()["metadata"]["namespace"], "default");
    let elsewhere = unfold(&Cluster::default(), &pod, &UnfoldOptions { namespace: "shop", ..options() }).unwrap().unwrap();
    assert_eq!((&*elsewhere.key.namespace, elsewhere.pods[0].pod.key().namespace), ("shop", "shop".into()));
}

#[test]
fn workloads_that_an_api_server_refuses_are_errors() {
    let refused = |object: &Value| unfold(&Cluster::default(), object, &options()).unwrap_err().to_string();
    let text = refused(&workload("apps/v1", "Deployment", &json!({"replicas": -1})));
    assert_eq!(text, "Deployment \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0");
    let mut other = workload("apps/v1", "Deployment", &json!({}));
    other["spec"]["selector"] = json!({"matchLabels": {"app": "db"}});
    assert!(
        refused(&other)
            .ends_with("spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`")
    );
    let mut job = workload("batch/v1", "Job", &json!({}));
    job["spec"]["template"]["spec"]["restartPolicy"] = json!("Always");
    assert!(
        refused(&job)
            .ends_with("spec.template.spec.restartPolicy: Unsupported value: \"Always\": supported values: \"OnFailure\", \"Never\"")
    );
    let empty = workload("apps/v1", "Deployment", &json!({"template": {}}));
    assert!(refused(&empty).contains("spec.template.spec.containers: Required value"));
}

#[test]
fn fields_of_a_template_that_an_api_server_refuses_are_errors_of_the_workload() {
    let refused = |object: &Value| unfold(&Cluster::default(), object, &options()).map(|_| ()).unwrap_err().to_string();
    let pod = |requests: Value, limits: Value| json!({"restartPolicy": "Never", "containers": [{"name": "c", "resources": {"requests": requests, "limits": limits}}]});
    let lots = json!({"spec": pod(json!({"cpu": "500x"}), json!({}))});
    let mut deployment = workload("apps/v1", "StatefulSet", &json!({"replicas": 0}));
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "500x"}});
    let text = refused(&deployment);
    assert!(text.starts_with("StatefulSet \"web\" is invalid: spec.template: quantity \"500x\" is not a number"), "{text}");
    let text = refused(&workload("batch/v1", "CronJob", &json!({"jobTemplate": {"spec": {"template": lots}}})));
    assert!(text.starts_with("CronJob \"web\" is invalid: spec.jobTemplate.spec.template: quantity \"500x\""), "{text}");
    let bare = |spec: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-"}, "spec": spec});
    let text = refused(&bare(pod(json!({"cpu": 2}), json!({"cpu": 1}))));
    assert!(text.ends_with(
        "is invalid: spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"
    ));
    assert!(refused(&bare(json!({"containers": []}))).ends_with("is invalid: spec.containers: Required value"));
    assert!(unfold(&Cluster::default(), &bare(pod(json!({"cpu": 1}), json!({"cpu": 1}))), &options()).is_ok());
}

#[test]
fn pods_of_a_workload_are_made_up_to_a_limit() {
    for (kind, spec) in [("Deployment", json!({"replicas": 2_000_000_000})), ("StatefulSet", json!({"replicas": 2_000_000_000}))] {
        let found = unfolded(&workload("apps/v1", kind, &spec));
        assert_eq!((found.wanted, found.pods.len()), (2_000_000_000, 100), "{kind}");
    }
    let job = unfolded(&workload("batch/v1", "Job", &json!({"parallelism": 2_000_000_000, "completions": 2_147_483_647})));
    assert_eq!((job.wanted, job.pods.len()), (2_000_000_000, 100));
    let inner =
        json!({"spec": {"parallelism": 2_000_000_000, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}}});
    let replicated = json!([{"name": "w", "replicas": 2_000_000_000, "template": inner}]);
    let set = unfolded(&workload("jobset.x-k8s.io/v1alpha2", "JobSet", &json!({"template": {}, "replicatedJobs": replicated})));
    assert_eq!((set.wanted, set.pods.len()), (2_000_000_000 * 2_000_000_000, 100));
    let groups = json!({"template": {}, "replicas": 2_000_000_000, "leaderWorkerTemplate": {"size": 2_000_000_000, "workerTemplate": {"spec": {"containers": [{"name": "c"}]}}}});
    let found = unfolded(&workload("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", &groups));
    assert_eq!((found.pods.len(), found.wanted), (100, 2_000_000_000 * 2_000_000_000));
}
