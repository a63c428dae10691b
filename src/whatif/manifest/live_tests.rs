//! Manifests of workloads that exist.

use serde_json::{Value, json};

use super::*;
use crate::admission::Policies;
use crate::cluster::neighbors::{Neighbor, Neighbors};
use crate::cluster::{Kind, Object};
use crate::release::Emulation;
use crate::scheduler::{Config, Options};
use crate::whatif::Rehearsal;

/// Applies a manifest to a source with these objects.
fn apply(source: &[Value], manifest: &Value) -> Result<ManifestAnswer, ManifestProblem> {
    let mut neighbors = Neighbors::default();
    let mut objects: Vec<Object> = Vec::new();
    let kind_of = |value: &Value| value["kind"].as_str().unwrap().to_owned();
    for value in source {
        objects.extend(kind_of(value).parse::<Kind>().ok().map(|kind| Object::deserialize_kind(kind, value).unwrap()));
        if let Ok(kind) = kind_of(value).parse::<NeighborKind>() {
            let version = value["apiVersion"].as_str().unwrap_or_default();
            neighbors.insert(Neighbor::deserialize_kind(kind, version.into(), value.clone()).unwrap());
        }
    }
    let originals = |kind: Kind, key: &Key| {
        let is_meant = |value: &&Value| kind_of(value) == kind.to_string() && value["metadata"]["name"] == key.name.as_str();
        source.iter().find(is_meant).cloned()
    };
    let admission = Admission::new(Policies::default(), Emulation::default());
    let mut stage = Rehearsal::new(Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default()));
    apply_manifest(
        &mut stage,
        &[manifest],
        admission,
        &ManifestRequest::default(),
        LiveObjects { neighbors: &neighbors, originals: &originals },
    )
}

fn applied(source: &[Value], manifest: &Value) -> ManifestAnswer {
    apply(source, manifest).unwrap_or_else(|problem| panic!("{problem}"))
}

fn refused(source: &[Value], manifest: &Value) -> String {
    apply(source, manifest).err().map(|problem| problem.to_string()).unwrap_or_default()
}

/// Returns the change, the pods that are kept, removed, and placed or pending, and why pods keep their template.
fn summary(answer: &ManifestAnswer) -> (ManifestChange, usize, usize, usize, Vec<(usize, WhyKept)>) {
    let workload = &answer.workloads[0];
    (workload.change, workload.kept, workload.removed, answer.pods.len(), workload.outdated.clone())
}

fn node(cpu: u32) -> Value {
    json!({"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": cpu, "pods": 110}}})
}

fn template(cpu: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}, "annotations": {"config": "1"}},
        "spec": {"containers": [{"name": "c", "image": "web", "resources": {"requests": {"cpu": cpu}}}]}})
}

fn with(mut value: Value, more: &Value) -> Value {
    crate::whatif::testing::merge(&mut value, more);
    value
}

fn workload(kind: &str, name: &str, spec: &Value) -> Value {
    let base = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "d", "uid": name},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template("1")}});
    with(base, &json!({"spec": spec}))
}

fn pod(name: &str, owner: &str, node: &str) -> Value {
    let (kind, of) = owner.split_once('/').unwrap_or_default();
    let mut pod = with(
        template("1"),
        &json!({"kind": "Pod", "metadata": {"name": name, "namespace": "d", "uid": name},
        "spec": {"nodeName": node, "priority": 0, "schedulerName": "default-scheduler"}}),
    );
    if !kind.is_empty() {
        pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": kind, "name": of, "uid": of, "controller": true}]);
    }
    pod
}

/// A Deployment with its ReplicaSet and pods.
fn deployment(replicas: usize, spec: &Value) -> Vec<Value> {
    let hash = json!({"pod-template-hash": "abc"});
    let set = with(
        workload(
            "ReplicaSet",
            "web-abc",
            &json!({"replicas": replicas, "selector": {"matchLabels": hash},
            "template": {"metadata": {"labels": hash}}}),
        ),
        &json!({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "web", "controller": true}]}}),
    );
    let pod = |at: usize| with(pod(&format!("web-abc-{at}"), "ReplicaSet/web-abc", "n1"), &json!({"metadata": {"labels": hash}}));
    let live = with(workload("Deployment", "web", &json!({"replicas": replicas})), &json!({"spec": spec}));
    [node(16), live, set].into_iter().chain((0..replicas).map(pod)).collect()
}

/// A StatefulSet with its pods, of which those from `pending` on have no node.
fn stateful_set(replicas: usize, pending: usize, spec: &Value) -> Vec<Value> {
    let live = with(workload("StatefulSet", "db", &json!({"replicas": replicas, "serviceName": "db"})), &json!({"spec": spec}));
    let pod = |at: usize| pod(&format!("db-{at}"), "StatefulSet/db", if at < pending { "n1" } else { "" });
    [node(16), live].into_iter().chain((0..replicas).map(pod)).collect()
}

fn new_image() -> Value {
    json!({"template": {"spec": {"containers": [{"name": "c", "image": "web:2", "resources": {"requests": {"cpu": "1"}}}]}}})
}

#[test]
fn replicas_that_a_manifest_leaves_out_stay_as_they_are() {
    use ManifestChange::{Scaled, Unchanged};
    let manifest = workload("Deployment", "web", &json!({}));
    let answer = applied(&deployment(5, &json!({})), &manifest);
    assert_eq!(summary(&answer), (Unchanged, 5, 0, 0, vec![]));
    let web = || Workload { kind: "Deployment".into(), key: Key::new("d", "web") };
    assert_eq!(answer.notes, [Note::FieldsLeftOut { workload: web(), fields: vec!["replicas".to_owned()] }]);
    // A source without Deployments has those of its pods.
    let without: Vec<Value> = deployment(5, &json!({})).into_iter().filter(|object| object["kind"] != "Deployment").collect();
    let answer = applied(&without, &manifest);
    assert_eq!(summary(&answer), (Unchanged, 5, 0, 0, vec![]));
    assert_eq!(answer.notes, [Note::LiveUnknown { workload: web(), replicas: Some(5), has_pods: true }]);
    let answer = applied(&[node(16)], &manifest);
    assert_eq!(answer.notes, [Note::LiveUnknown { workload: web(), replicas: Some(1), has_pods: false }]);

    // A StatefulSet is known whole, with the manifest that was applied last.
    let manifest = workload("StatefulSet", "db", &json!({"serviceName": "db"}));
    let mut source = stateful_set(3, 3, &json!({}));
    let answer = applied(&source, &manifest);
    assert_eq!((summary(&answer), answer.notes.is_empty()), ((Unchanged, 3, 0, 0, vec![]), true));
    let last = workload("StatefulSet", "db", &json!({"replicas": 3})).to_string();
    source[1]["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": last});
    assert_eq!(summary(&applied(&source, &manifest)), (Scaled, 1, 2, 0, vec![]));
}

#[test]
fn a_template_is_compared_with_its_metadata_over_the_live_one() {
    let source = deployment(2, &json!({}));
    let change = |spec: &Value| summary(&applied(&source, &workload("Deployment", "web", &with(json!({"replicas": 2}), spec)))).0;
    assert_eq!(change(&json!({})), ManifestChange::Unchanged);
    assert_eq!(change(&json!({"template": {"metadata": {"annotations": {"config": "2"}}}})), ManifestChange::RolledOut);
    assert_eq!(change(&json!({"template": {"metadata": {"labels": {"tier": "a"}}}})), ManifestChange::RolledOut);
    assert_eq!(change(&new_image()), ManifestChange::RolledOut);
    // Fields of the live template that the manifest leaves out stay, as far as is known.
    let mut zoned = deployment(1, &json!({}));
    zoned[2]["spec"]["template"]["spec"]["nodeSelector"] = json!({"zone": "a"});
    let answer = applied(&zoned, &workload("Deployment", "web", &json!({"replicas": 1})));
    assert_eq!(summary(&answer).0, ManifestChange::Unchanged);
    assert!(
        matches!(&answer.notes[..], [Note::FieldsLeftOut { fields, .. }] if fields[..] == ["template.spec.nodeSelector"]),
        "{:?}",
        answer.notes
    );
}

#[test]
fn a_paused_deployment_rolls_nothing_and_scales_the_replica_set_that_it_has() {
    let manifest = |replicas: usize| workload("Deployment", "web", &with(json!({"replicas": replicas}), &new_image()));
    for (spec, manifest) in [
        (json!({"paused": true}), manifest(2)),
        (json!({}), with(manifest(2), &json!({"spec": {"paused": true, "strategy": {"type": "Recreate"}}}))),
    ] {
        let answer = applied(&deployment(2, &spec), &manifest);
        assert_eq!(summary(&answer), (ManifestChange::Unchanged, 2, 0, 0, vec![(2, WhyKept::Paused)]));
    }
    let answer = applied(&deployment(2, &json!({"paused": true})), &manifest(4));
    assert_eq!(summary(&answer), (ManifestChange::Scaled, 2, 0, 2, vec![(2, WhyKept::Paused)]));
    assert!(answer.is_complete() && answer.pods.iter().all(|pod| pod.pod.name.starts_with("web-abc-")), "{:?}", answer.pods);
}

#[test]
fn a_stateful_set_replaces_pods_by_its_strategy() {
    let manifest =
        |spec: &Value| workload("StatefulSet", "db", &with(with(json!({"replicas": 3, "serviceName": "db"}), &new_image()), spec));
    let of = |live: &Value, spec: &Value| summary(&applied(&stateful_set(3, 3, live), &manifest(spec)));
    let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
    let kept = (ManifestChange::Unchanged, 3, 0, 0, vec![(3, WhyKept::OnDelete)]);
    assert_eq!((of(&on_delete, &json!({})), of(&json!({}), &on_delete)), (kept.clone(), kept));
    let partition = json!({"updateStrategy": {"rollingUpdate": {"partition": 2}}});
    assert_eq!(of(&json!({}), &partition), (ManifestChange::RolledOut, 2, 1, 1, vec![(2, WhyKept::Partition(2))]));
    assert_eq!(of(&json!({}), &json!({})), (ManifestChange::RolledOut, 0, 3, 3, vec![]));
}

#[test]
fn a_stateful_set_waits_for_a_pod_that_is_not_ready() {
    let manifest = workload("StatefulSet", "db", &with(json!({"replicas": 3, "serviceName": "db"}), &new_image()));
    let mut source = stateful_set(1, 0, &json!({"replicas": 3}));
    source[2]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("99");
    let answer = applied(&source, &manifest);
    let waits = Key::new("d", "db-0");
    assert_eq!(summary(&answer), (ManifestChange::RolledOut, 0, 0, 1, vec![(1, WhyKept::Unready(waits.clone()))]));
    assert_eq!((answer.not_made[0].count, &answer.not_made[0].why), (2, &WhyNotMade::Ordered(waits)));
    // A parallel one replaces it.
    let parallel = json!({"podManagementPolicy": "Parallel"});
    let mut source = stateful_set(1, 0, &with(json!({"replicas": 3}), &parallel));
    source[2]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("99");
    let answer = applied(&source, &with(manifest, &json!({"spec": parallel})));
    assert_eq!((summary(&answer), answer.is_complete()), ((ManifestChange::RolledOut, 0, 1, 3, vec![]), true));
}

#[test]
fn a_daemon_set_with_on_delete_and_a_replica_set_keep_their_pods() {
    let source = |kind: &str, name: &str| {
        vec![node(16), workload(kind, name, &json!({"replicas": 1})), pod(&format!("{name}-a"), &format!("{kind}/{name}"), "n1")]
    };
    let on_delete = with(new_image(), &json!({"updateStrategy": {"type": "OnDelete"}}));
    let answer = applied(&source("DaemonSet", "agent"), &workload("DaemonSet", "agent", &on_delete));
    assert_eq!(summary(&answer), (ManifestChange::Unchanged, 1, 0, 0, vec![(1, WhyKept::OnDelete)]));
    let answer = applied(&source("ReplicaSet", "one"), &workload("ReplicaSet", "one", &with(new_image(), &json!({"replicas": 2}))));
    assert_eq!(summary(&answer), (ManifestChange::Scaled, 1, 0, 1, vec![(1, WhyKept::NewOnly)]));
    // It adopts a pod that its selector matches.
    let answer = applied(&[node(16), pod("stray", "", "n1")], &workload("ReplicaSet", "new", &json!({"replicas": 2})));
    assert_eq!((answer.workloads[0].kept, answer.pods.len()), (1, 1));
}

#[test]
fn changes_of_immutable_fields_are_refused() {
    let mut other = workload("Deployment", "web", &json!({"replicas": 5}));
    other["spec"]["selector"] = json!({"matchLabels": {"app": "api"}});
    other["spec"]["template"]["metadata"]["labels"] = json!({"app": "api"});
    let text = refused(&deployment(5, &json!({})), &other);
    assert_eq!(
        text,
        "Deployment \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"api\"}}: field is immutable"
    );
    let claims = json!({"serviceName": "db", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}]});
    let text = refused(&stateful_set(1, 1, &json!({})), &workload("StatefulSet", "db", &claims));
    assert!(
        text.contains("spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template'"),
        "{text}"
    );
    let pod = |cpu: &str| with(template(cpu), &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": "d"}}));
    let source = [node(16), with(pod("1"), &json!({"spec": {"nodeName": "n1"}}))];
    assert!(refused(&source, &pod("99")).contains("spec: Forbidden: pod updates may not change fields other than"));
    assert_eq!(refused(&source, &pod("1000m")), "");
    let class =
        |value: i32| json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": value});
    assert!(refused(&[class(10)], &class(20)).ends_with("value: Forbidden: may not be changed in an update."));
    assert_eq!(refused(&[class(10)], &class(10)), "");
}

fn job(spec: &Value, more: &Value) -> Value {
    let base = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "d", "uid": "j"},
        "spec": {"template": with(template("1"), &json!({"spec": {"restartPolicy": "Never"}}))}});
    with(with(base, &json!({"spec": spec})), more)
}

#[test]
fn jobs_that_exist_keep_what_they_have_done() {
    let twice = json!({"parallelism": 2, "completions": 2});
    let done = json!({"status": {"succeeded": 2, "conditions": [{"type": "Complete", "status": "True"}]}});
    let answer = applied(&[node(16), job(&twice, &done)], &job(&twice, &json!({})));
    assert_eq!(
        (summary(&answer), &answer.notes[..]),
        ((ManifestChange::Unchanged, 0, 0, 0, vec![]), &[Note::HasEnded(Key::new("d", "j"))][..])
    );
    let half = job(&json!({"parallelism": 3, "completions": 10}), &json!({"status": {"succeeded": 8}}));
    let answer = applied(&[node(16), half], &job(&json!({"parallelism": 3, "completions": 10}), &json!({})));
    assert_eq!((answer.workloads[0].wanted, answer.workloads[0].later, answer.pods.len()), (2, 0, 2));
    let running = [node(16), job(&twice, &json!({})), pod("j-a", "Job/j", "n1"), pod("j-b", "Job/j", "n1")];
    let answer = applied(&running, &job(&with(twice.clone(), &json!({"suspend": true})), &json!({})));
    assert_eq!(summary(&answer), (ManifestChange::Scaled, 0, 2, 0, vec![]));
    let larger = with(
        job(&twice, &json!({})),
        &json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "99"}}}]}}}}),
    );
    assert!(refused(&running, &larger).ends_with("Invalid value: \"99\": field is immutable"), "{}", refused(&running, &larger));
    assert!(
        refused(&running, &job(&json!({"parallelism": 2, "completions": 3}), &json!({}))).contains("spec.completions: Invalid value: 3")
    );
}

#[test]
fn a_cron_job_that_forbids_concurrent_jobs_skips_a_run() {
    let cron = |policy: &str| {
        json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "etl", "namespace": "d"},
        "spec": {"concurrencyPolicy": policy, "jobTemplate": {"spec": job(&json!({}), &json!({}))["spec"]}}})
    };
    let owner = json!({"metadata": {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "etl", "uid": "e", "controller": true}]}});
    let source = [node(16), cron("Forbid"), job(&json!({}), &owner), pod("j-a", "Job/j", "n1")];
    let answer = applied(&source, &cron("Forbid"));
    assert_eq!((answer.pods.len(), &answer.not_made[0].why), (0, &WhyNotMade::Concurrent(Key::new("d", "j"))));
    assert_eq!(applied(&source, &cron("Allow")).pods.len(), 1);
}

#[test]
fn parts_of_a_workload_come_after_those_that_they_wait_for() {
    let part = |name: &str, cpu: &str, more: &Value| {
        with(
            json!({"name": name, "replicas": 1, "template": {"spec": {
        "template": with(template(cpu), &json!({"spec": {"restartPolicy": "Never"}}))}}}),
            more,
        )
    };
    let set = |spec: &Value| json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "js", "namespace": "d"}, "spec": spec});
    let ready = json!({"dependsOn": [{"name": "driver", "status": "Ready"}]});
    for spec in [
        json!({"replicatedJobs": [part("driver", "99", &json!({})), part("workers", "1", &ready)]}),
        json!({"startupPolicy": {"startupPolicyOrder": "InOrder"}, "replicatedJobs": [part("driver", "99", &json!({})), part("workers", "1", &json!({}))]}),
    ] {
        let answer = applied(&[node(16)], &set(&spec));
        assert_eq!((answer.pods.len(), answer.not_made[0].count), (1, 1));
        assert!(matches!(&answer.not_made[0].why, WhyNotMade::Part(pod) if pod.name.starts_with("js-driver-0-")));
    }
    let both = json!({"replicatedJobs": [part("driver", "1", &json!({})), part("workers", "1", &ready)]});
    assert_eq!((applied(&[node(16)], &set(&both)).pods.len(), applied(&[node(16)], &set(&both)).is_complete()), (2, true));
    let complete = json!({"dependsOn": [{"name": "driver", "status": "Complete"}]});
    let later = json!({"replicatedJobs": [part("driver", "1", &json!({})), part("workers", "1", &complete)]});
    let answer = applied(&[node(16)], &set(&later));
    assert_eq!((answer.workloads[0].wanted, answer.workloads[0].later, answer.pods.len()), (1, 1, 1));
    let groups = json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "lw", "namespace": "d"}, "spec": {
        "replicas": 2, "startupPolicy": "LeaderReady", "leaderWorkerTemplate": {"size": 3, "leaderTemplate": template("9"), "workerTemplate": template("1")}}});
    let answer = applied(&[node(16)], &groups);
    assert_eq!((answer.pods.len(), answer.not_made[0].count, &answer.not_made[0].why), (4, 2, &WhyNotMade::Part(Key::new("d", "lw-1"))));
}

#[test]
fn others_that_change_or_refuse_a_workload_are_named() {
    let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web", "namespace": "d"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "minReplicas": 5, "maxReplicas": 10}});
    let mut source = deployment(5, &json!({}));
    source.push(scaler);
    let answer = applied(&source, &workload("Deployment", "web", &json!({"replicas": 2})));
    assert!(matches!(&answer.notes[..], [Note::Autoscaled { min: 5, max: 10, .. }]), "{:?}", answer.notes);
    let quota = |hard: &Value, used: &Value| {
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "d"},
        "spec": {"hard": hard}, "status": {"hard": hard, "used": used}})
    };
    let none = json!({"count/deployments.apps": "0"});
    let answer = applied(&[node(16), quota(&none, &none)], &workload("Deployment", "api", &json!({"replicas": 1})));
    assert!(matches!(&answer.notes[..], [Note::ForbiddenIfNew { .. }]), "{:?}", answer.notes);
    let mut listed = deployment(1, &json!({}));
    listed.push(quota(&none, &none));
    let text = refused(&listed, &workload("Deployment", "api", &json!({"replicas": 1})));
    assert_eq!(
        text,
        "deployments.apps \"api\" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, \
         limited: count/deployments.apps=0"
    );
    assert_eq!(refused(&listed, &workload("Deployment", "web", &json!({"replicas": 1}))), "");
    let claims = json!({"serviceName": "db", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}]});
    let answer = applied(
        &[node(16), quota(&json!({"persistentvolumeclaims": "1"}), &json!({}))],
        &workload("StatefulSet", "db", &with(claims, &json!({"replicas": 1}))),
    );
    assert!(
        answer.notes.contains(&Note::ClaimsNotChecked { namespace: "d".into(), by: vec!["ResourceQuota q".to_owned()] }),
        "{:?}",
        answer.notes
    );
    let namespace = json!({"kind": "Namespace", "metadata": {"name": "d", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}});
    let answer = applied(&[node(16), namespace], &workload("Deployment", "web", &json!({"replicas": 1})));
    assert!(answer.notes.contains(&Note::PodSecurity { namespace: "d".into(), level: "baseline".into() }), "{:?}", answer.notes);
}
