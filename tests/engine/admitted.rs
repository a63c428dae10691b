//! Fixes whose pod is made anew: an API server must admit it, and controllers must make it as the fix says.

use schedscope::analysis::{Agreements, causes};
use schedscope::engine::Engine;
use schedscope::fixes::Background;
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Options, Scheduler};
use schedscope::source::{Input, load};
use serde_json::{Value, json};

/// The kinds of policies, empty.
fn no_policies() -> Vec<Value> {
    let list = |kind: &str, version: &str| json!({"kind": format!("{kind}List"), "apiVersion": version, "items": []});
    vec![list("LimitRange", "v1"), list("ResourceQuota", "v1"), list("RuntimeClass", "node.k8s.io/v1")]
}

fn node(name: &str, cpu: &str, taint: &str) -> Value {
    let taints = if taint.is_empty() { json!([]) } else { json!([{"key": taint, "effect": "NoSchedule"}]) };
    json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": {"taints": taints},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "50"}}})
}

/// A pending pod without an owner.
fn pod(name: &str, resources: &Value) -> Value {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "image": "i", "resources": resources}]},
        "status": {"phase": "Pending"}})
}

fn running(mut pod: Value, on: &str) -> Value {
    pod["spec"]["nodeName"] = json!(on);
    pod["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    pod
}

fn owned(mut object: Value, kind: &str, owner: &str) -> Value {
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    object["metadata"]["ownerReferences"] = json!([{"apiVersion": version, "kind": kind, "name": owner, "uid": owner, "controller": true}]);
    object
}

fn policy(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"kind": kind, "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop"}, "spec": spec})
}

/// Returns the fixes of a pod as JSON.
fn fixes(objects: &[Value], pod: &str) -> Value {
    let list = json!({"kind": "List", "apiVersion": "v1", "items": objects}).to_string();
    let engine = Engine::builder().objects(&list).build().expect("a cluster");
    engine.fixes("shop", pod).expect("a pending pod").to_json()["fixes"].clone()
}

fn texts(found: &Value) -> Vec<String> {
    let fixes = found["fixes"].as_array().expect("fixes");
    fixes.iter().map(|fix| fix["text"].as_str().expect("text").to_owned()).collect()
}

fn notes(found: &Value) -> String {
    found["notProposed"].as_array().map(|notes| notes.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")).unwrap_or_default()
}

fn with(mut objects: Vec<Value>, more: &[Value]) -> Vec<Value> {
    objects.extend(more.iter().cloned());
    objects
}

#[test]
fn a_fix_whose_pod_would_be_refused_is_not_offered() {
    let cpu = |request: &str| json!({"requests": {"cpu": request}});
    let objects = [node("n1", "1", ""), pod("p", &cpu("2"))];
    let lower = "lower the cpu request from 2 to 1";
    let free = fixes(&with(no_policies(), &objects), "p");
    assert!(texts(&free).contains(&lower.to_owned()), "{free}");
    assert_eq!(free["unknownPolicies"], json!(null));

    let range = policy("LimitRange", "bounds", &json!({"limits": [{"type": "Container", "min": {"cpu": "1500m"}}]}));
    let bounded = fixes(&with(no_policies(), &[&objects[..], &[range]].concat()), "p");
    assert!(!texts(&bounded).contains(&lower.to_owned()), "{bounded}");
    let why = "the changed pod would be refused: minimum cpu usage per Container is 1500m, but request is 1";
    assert!(notes(&bounded).contains(&format!("{lower}: {why}")), "{bounded}");

    // The old pod is out of the quota when the new one comes.
    let quota = |hard: &Value| {
        let mut quota = policy("ResourceQuota", "compute", &json!({"hard": hard}));
        quota["status"] = json!({"hard": hard, "used": hard});
        quota
    };
    let full = fixes(&with(no_policies(), &[&objects[..], &[quota(&json!({"pods": "1", "requests.cpu": "2"}))]].concat()), "p");
    assert!(texts(&full).contains(&lower.to_owned()), "{full}");

    // Unknown policies are said once.
    let unknown = fixes(&objects, "p");
    assert!(texts(&unknown).contains(&lower.to_owned()), "{unknown}");
    assert_eq!(unknown["unknownPolicies"], json!(["ResourceQuotas", "LimitRanges"]));
}

#[test]
fn a_class_without_a_quota_is_not_offered() {
    let class = json!({"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": "high"}, "value": 100});
    let cpu = json!({"requests": {"cpu": "1"}});
    let objects = [node("n1", "1", ""), running(pod("low", &cpu), "n1"), pod("p", &cpu), class];
    let named = |found: &Value| texts(found).iter().any(|text| text.starts_with("PriorityClass high"));
    assert!(named(&fixes(&with(no_policies(), &objects), "p")));
    let scope = json!({"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]});
    let quota = policy("ResourceQuota", "of-high", &json!({"hard": {"pods": "0"}, "scopeSelector": scope}));
    let found = fixes(&with(no_policies(), &[&objects[..], &[quota]].concat()), "p");
    assert!(!named(&found), "{found}");
    assert!(notes(&found).contains("exceeded quota: of-high, requested: pods=1, used: pods=0, limited: pods=0"), "{found}");
}

#[test]
fn a_pod_is_made_with_the_class_as_it_is_now() {
    let class = |value: i32, policy: &str| json!({"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": "mid"}, "value": value, "preemptionPolicy": policy});
    let mut asked = pod("p", &json!({"requests": {"cpu": "2"}}));
    asked["spec"]["priorityClassName"] = json!("mid");
    asked["spec"]["priority"] = json!(100);
    asked["spec"]["preemptionPolicy"] = json!("PreemptLowerPriority");
    let lowered = |class: Value| {
        let found = fixes(&with(no_policies(), &[node("n1", "1", ""), asked.clone(), class]), "p");
        let all = found["fixes"].as_array().expect("fixes").clone();
        let fix = all.into_iter().find(|fix| fix["text"] == "lower the cpu request from 2 to 1").expect("a lower request");
        fix["kubectl"].as_str().expect("a command").contains(r#""preemptionPolicy":null,"priority":null"#)
    };
    assert!(!lowered(class(100, "PreemptLowerPriority")));
    // The API server refuses what differs from the class.
    assert!(lowered(class(100, "Never")) && lowered(class(50, "PreemptLowerPriority")));
}

#[test]
fn the_selector_of_a_runtime_class_is_neither_dropped_nor_changed() {
    let class = json!({"kind": "RuntimeClass", "apiVersion": "node.k8s.io/v1", "metadata": {"name": "vm"}, "handler": "vm",
        "scheduling": {"nodeSelector": {"sandbox": "vm"}}});
    let mut n1 = node("n1", "4", "");
    n1["metadata"]["labels"]["sandbox"] = json!("kata");
    let mut asked = pod("p", &json!({"requests": {"cpu": "1"}}));
    asked["spec"]["nodeSelector"] = json!({"sandbox": "vm"});
    let free = fixes(&with(no_policies(), &[n1.clone(), asked.clone()]), "p");
    assert_eq!(texts(&free)[..2], ["nodeSelector sandbox=kata instead of vm", "drop nodeSelector sandbox=vm"]);
    asked["spec"]["runtimeClassName"] = json!("vm");
    for asked in [asked.clone(), owned(asked, "ReplicaSet", "web")] {
        let found = fixes(&[n1.clone(), asked, class.clone()], "p");
        assert!(!texts(&found).iter().any(|text| text.contains("sandbox")), "{found}");
        assert!(notes(&found).contains("drop nodeSelector sandbox=vm: the runtime class vm sets it again"), "{found}");
    }
}

#[test]
fn a_request_that_a_limit_range_sets_again_is_not_dropped() {
    let dongle = json!({"example.com/dongle": "1"});
    let range = policy("LimitRange", "defaults", &json!({"limits": [{"type": "Container", "default": dongle, "defaultRequest": dongle}]}));
    let objects = [node("n1", "2", ""), pod("p", &json!({"requests": dongle, "limits": dongle}))];
    let drop = "drop the example.com/dongle request of 1".to_owned();
    let free = fixes(&with(no_policies(), &objects), "p");
    assert_eq!(texts(&free), [&drop[..]]);
    let found = fixes(&with(no_policies(), &[&objects[..], &[range]].concat()), "p");
    assert_eq!(texts(&found), Vec::<String>::new());
    assert_eq!(notes(&found), format!("{drop}: the admission of the changed pod undoes it"));
}

#[test]
fn taints_with_owners_are_left_to_them() {
    let asked = pod("p", &json!({"requests": {"cpu": "1"}}));
    for (taint, note) in [
        ("ToBeDeletedByClusterAutoscaler", "which is about to be removed: Cluster Autoscaler says so"),
        ("karpenter.sh/disrupted", "which is about to be removed: Karpenter says so"),
        ("node.cloudprovider.kubernetes.io/shutdown", "which is down: the cloud controller manager says so"),
    ] {
        let found = fixes(&with(no_policies(), &[node("n1", "4", taint), asked.clone()]), "p");
        assert!(!texts(&found).iter().any(|text| text.contains(taint)), "{found}");
        assert!(notes(&found).contains(&format!("the pod would fit on n1, {note} by the taint {taint}")), "{found}");
    }
    let found = fixes(&with(no_policies(), &[node("n1", "4", "node.cilium.io/agent-not-ready"), asked]), "p");
    let only = &found["fixes"][0];
    assert_eq!(texts(&found), ["tolerate node.cilium.io/agent-not-ready:NoSchedule"]);
    assert_eq!(only["lastResort"], "Cilium removes the taint once the node is ready: wait, unless this pod makes it ready");
}

#[test]
fn a_taint_of_a_condition_is_not_removed_by_a_command() {
    let taint = "node.kubernetes.io/memory-pressure";
    let found = fixes(&with(no_policies(), &[node("n1", "4", taint), pod("p", &json!({"requests": {"cpu": "1"}}))]), "p");
    let all = found["fixes"].as_array().expect("fixes");
    let removal = all.iter().find(|fix| fix["text"].as_str().is_some_and(|text| text.starts_with("remove taint"))).expect("a removal");
    assert_eq!(removal["kubectl"], Value::Null);
}

#[test]
fn the_claim_of_a_stateful_set_is_left_to_its_controller() {
    let storage = json!({"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "aaa"}, "provisioner": "csi.example.com",
        "volumeBindingMode": "WaitForFirstConsumer"});
    let set = |templates: Value| {
        json!({"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": {"name": "db", "namespace": "shop"},
            "spec": {"serviceName": "db", "volumeClaimTemplates": templates}})
    };
    let mut asked = owned(pod("db-0", &json!({})), "StatefulSet", "db");
    asked["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]);
    let claims = json!({"kind": "PersistentVolumeClaimList", "apiVersion": "v1", "items": []});
    let found = |templates: Value| {
        fixes(&with(no_policies(), &[node("n1", "4", ""), storage.clone(), claims.clone(), set(templates), asked.clone()]), "db-0")
    };
    let of_template = found(json!([{"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "100Gi"}}}}]));
    assert_eq!(texts(&of_template), Vec::<String>::new());
    assert!(notes(&of_template).contains("\"data-db-0\" is created by the controller of StatefulSet db"), "{of_template}");
    // A claim that only looks like one of a template.
    assert_eq!(texts(&found(json!([]))), ["create PersistentVolumeClaim shop/data-db-0"]);
}

#[test]
fn a_class_is_made_like_those_of_its_provisioner_and_a_typo_is_named() {
    let class = |name: &str, parameters: Value| {
        json!({"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": name}, "provisioner": "nfs.example.com",
            "reclaimPolicy": "Retain", "parameters": parameters, "volumeBindingMode": "Immediate"})
    };
    let claim = |class: &str| {
        json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": "c", "namespace": "shop"},
            "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            "status": {"phase": "Pending"}})
    };
    let mut asked = pod("p", &json!({}));
    asked["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]);
    let all = |claim: Value, more: &[Value]| {
        let objects = [node("n1", "4", ""), class("fast", json!({"server": "a"})), claim, asked.clone()];
        let found = fixes(&with(no_policies(), &[&objects[..], more].concat()), "p");
        found["fixes"].as_array().expect("fixes").clone()
    };
    let class_of =
        |fixes: &[Value]| fixes.iter().find(|fix| fix["text"].as_str().is_some_and(|text| text.contains("StorageClass"))).cloned();
    let found = |claim: Value, more: &[Value]| class_of(&all(claim, more)).expect("a class");
    let made = found(claim("slow"), &[]);
    assert_eq!(made["text"], "create StorageClass slow");
    let command = made["kubectl"].as_str().expect("a command");
    assert!(command.contains(r#""parameters":{"server":"a"}"#) && command.contains(r#""reclaimPolicy":"Retain""#), "{command}");
    assert_eq!(made["lastResort"], Value::Null);
    assert_eq!(found(claim("slow"), &[class("other", json!({"server": "b"}))])["kubectl"], Value::Null, "which parameters is a choice");
    // Neither the class nor a volume of it is made for a typo, if anything else helps.
    for typo in all(claim("fst"), &[]) {
        assert!(typo["lastResort"].as_str().is_some_and(|why| why.contains("class \"fst\", likely a typo of \"fast\"")), "{typo}");
    }
}

/// Lists the pods of the fix of the only cause.
fn freed(objects: &[Value]) -> (Vec<String>, Value) {
    let list = json!({"kind": "List", "apiVersion": "v1", "items": objects}).to_string();
    let loaded = load(&[Input::Bytes { name: "cluster.json".into(), bytes: list.into_bytes().into() }]);
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, Options::default());
    let agreements = Agreements::of(&scheduler, &[], Vec::new(), |_| true, |_| true);
    let background = Background { neighbors: &loaded.neighbors, ..Background::nothing() };
    let cause = causes(&agreements, &scheduler, background).remove(0);
    let fix = cause.fix.as_ref().expect("a fix");
    (fix.freed.iter().map(ToString::to_string).collect(), serde_json::to_value(fix).expect("plain data"))
}

#[test]
fn a_fix_of_a_cause_frees_only_pods_that_are_admitted() {
    let asked = |name: &str, namespace: &str| {
        let mut asked = pod(name, &json!({"requests": {"cpu": "2"}}));
        asked["metadata"]["namespace"] = json!(namespace);
        asked
    };
    let objects = [node("n1", "1", ""), node("n2", "1", ""), asked("p", "shop"), asked("q", "vault")];
    let mut range = policy("LimitRange", "bounds", &json!({"limits": [{"type": "Container", "min": {"cpu": "1500m"}}]}));
    range["metadata"]["namespace"] = json!("vault");
    let (all, fix) = freed(&with(no_policies(), &objects));
    assert_eq!(all, ["shop/p", "vault/q"], "{fix}");
    assert_eq!((&fix["text"], &fix["unknownPolicies"]), (&json!("lower the cpu request from 2 to 1"), &json!(null)));
    assert_eq!(freed(&with(no_policies(), &[&objects[..], &[range]].concat())).0, ["shop/p"]);
}

#[test]
fn a_deployment_that_makes_the_new_pod_first_needs_a_quota_for_both() {
    let cpu = json!({"requests": {"cpu": "2"}});
    let set =
        json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web-a", "namespace": "shop"}, "spec": {"replicas": 1}});
    let mut quota = policy("ResourceQuota", "compute", &json!({"hard": {"pods": "1"}}));
    quota["status"] = json!({"hard": {"pods": "1"}, "used": {"pods": "1"}});
    let found = |strategy: Value| {
        let deployment = json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"replicas": 1, "strategy": strategy}});
        let asked = owned(pod("web-a-1", &cpu), "ReplicaSet", "web-a");
        let objects = [node("n1", "1", ""), deployment, owned(set.clone(), "Deployment", "web"), asked, quota.clone()];
        let found = fixes(&with(no_policies(), &objects), "web-a-1");
        (texts(&found).contains(&"lower the cpu request from 2 to 1".to_owned()), notes(&found))
    };
    let (is_offered, notes) = found(json!({}));
    assert!(!is_offered && notes.contains("exceeded quota: compute"), "{notes}");
    for strategy in [json!({"type": "Recreate"}), json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"}})] {
        assert!(found(strategy.clone()).0, "{strategy}");
    }
}

/// A Deployment in a rollout: three old pods, one a node, and new ones that wait.
fn rollout(replicas: usize, new: usize, only_on: &str, paused: bool) -> Vec<Value> {
    let set = |name: &str, replicas: usize, made: &str| {
        let set = json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": name, "namespace": "shop", "creationTimestamp": made},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}}});
        owned(set, "Deployment", "web")
    };
    let deployment = json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": replicas, "paused": paused, "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}}});
    let mut objects = vec![deployment, set("web-old", 3, "2026-01-01T00:00:00Z"), set("web-new", new, "2026-02-01T00:00:00Z")];
    let cpu = json!({"requests": {"cpu": "1"}});
    for at in 1..=3 {
        objects.push(node(&format!("n{at}"), "1", ""));
        objects.push(running(owned(pod(&format!("web-old-{at}"), &cpu), "ReplicaSet", "web-old"), &format!("n{at}")));
    }
    for at in 0..new {
        let mut asked = owned(pod(&format!("web-new-{at}"), &cpu), "ReplicaSet", "web-new");
        if !only_on.is_empty() {
            asked["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": only_on});
        }
        objects.push(asked);
    }
    with(no_policies(), &objects)
}

#[test]
fn a_rollout_takes_an_older_pod_away_only_if_its_controller_would() {
    let of_rollout = |found: &Value| texts(found).into_iter().find(|text| text.starts_with("let the rollout"));
    // maxUnavailable 1 leaves no pod to take away while two new ones are not available.
    let found = fixes(&rollout(4, 2, "", false), "web-new-0");
    let text = "let the rollout of Deployment web take one of 3 older pods away first (maxSurge 0, maxUnavailable 2)";
    assert_eq!(of_rollout(&found).as_deref(), Some(text), "{found}");
    let fix = found["fixes"].as_array().and_then(|all| all.iter().find(|fix| fix["text"] == text)).expect("the fix");
    assert_eq!(fix["nodes"], json!(["n1", "n2", "n3"]));
    assert!(fix["kubectl"].as_str().is_some_and(|command| command.contains(r#""maxUnavailable":2"#)), "{fix}");
    // Only the place of one of three helps.
    let found = fixes(&rollout(4, 2, "n3", false), "web-new-0");
    assert_eq!(of_rollout(&found), None);
    assert!(notes(&found).contains("only 1 of the 3 that it may take would make room"), "{found}");
    // A paused Deployment takes none away.
    let found = fixes(&rollout(4, 2, "", true), "web-new-0");
    assert_eq!((of_rollout(&found), notes(&found).contains("older pod")), (None, false), "{found}");
    // Without the Deployment nothing is concluded.
    let mut unread = rollout(4, 2, "", false);
    unread.retain(|object| object["kind"] != "Deployment");
    let found = fixes(&unread, "web-new-0");
    assert_eq!(of_rollout(&found), None);
    assert!(notes(&found).contains("whether it does is unknown"), "{found}");
}

#[test]
fn the_last_pod_that_a_job_may_lose_is_not_made_again() {
    let cpu = json!({"requests": {"cpu": "1"}});
    let job = |limit: u32| json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "k", "namespace": "shop"}, "spec": {"backoffLimit": limit}});
    let mut asked = pod("p", &cpu);
    asked["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": "n1"});
    let objects = |limit| {
        let held = running(owned(pod("k-1", &cpu), "Job", "k"), "n1");
        with(no_policies(), &[node("n1", "1", ""), node("n2", "1", ""), job(limit), held, asked.clone()])
    };
    let deletion = |limit| {
        let found = fixes(&objects(limit), "p");
        let all = found["fixes"].as_array().expect("fixes").clone();
        all.into_iter().find(|fix| fix["text"] == "delete Pod shop/k-1").expect("a deletion")
    };
    assert_eq!(deletion(1)["result"], "fits on n1; Job k makes shop/k-1 again, on n2");
    let last = deletion(0);
    assert_eq!((&last["result"], &last["lastResort"]), (&json!("fits on n1"), &json!("Job shop/k fails, as its pod counts as failed")));
}
