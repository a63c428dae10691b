//! `explain -f`: manifests from files, folders and standard input, what becomes of them, and what is wrong with them.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Returns the exit code, standard output and standard error of a command.
fn run(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_schedscope")).args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn deployment(replicas: u64, cpu: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
            "containers": [{"name": "c", "image": "web", "resources": {"requests": {"cpu": cpu}}}]}}}})
}

/// A cluster of two nodes of four CPUs, with a batch pod of one CPU on each.
fn cluster() -> Value {
    let node = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}});
    let pod = |name: &str, node: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "batch", "uid": name}, "spec": {
            "nodeName": node, "priority": -10, "schedulerName": "default-scheduler",
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}, "status": {"phase": "Running"}})
    };
    json!({"apiVersion": "v1", "kind": "List", "items": [node("n1"), node("n2"), pod("b1", "n1"), pod("b2", "n2")]})
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_manifest_ends_in_counts_reasons_and_victims() {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "dump.json", &cluster().to_string());
    let web = write(folder.path(), "web.yaml", &serde_yaml::to_string(&deployment(10, "1")).unwrap());
    let (code, text, said) = run(&["explain", "-f", &web, "--from", &dump]);
    assert_eq!(code, 1, "{text}{said}");
    assert!(text.starts_with("8 fit, 2 wait for cpu; 2 batch pods would be evicted\n"), "{text}");
    assert!(text.contains("Deployment shop/web: 10 wanted, 8 fit, 2 wait for cpu"), "{text}");

    let (code, text, _) = run(&["explain", "-f", &web, "--from", &dump, "-o", "json", "--capacity"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code, 1);
    let lengths = ["placed", "pending", "refused", "victims"].map(|list| answer[list].as_array().unwrap().len());
    assert_eq!((lengths, &answer["capacity"]["fits"]), ([8, 2, 0, 2], &json!(0)), "{text}");
    assert!(answer["placed"][0]["node"].is_string() && answer["placed"][0].get("odds").is_some(), "{text}");
    assert!(answer["pending"][0]["why"].is_string() && answer["pending"][0]["decision"]["filter"].is_array(), "{text}");
    assert!(answer["victims"][0]["violates"].is_array() && answer["victims"][0]["by"].as_str().unwrap().starts_with("shop/web-"), "{text}");

    let (code, text, _) = run(&["explain", "-f", &web, "--replicas", "3", "--from", &dump, "--capacity"]);
    assert!(code == 0 && text.starts_with("3 fit\n") && text.contains("CAPACITY: 3 more pods like it fit"), "{code} {text}");
}

#[test]
fn quotas_of_the_source_refuse_in_the_servers_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut objects = cluster();
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "compute", "namespace": "shop"},
        "spec": {"hard": {"requests.cpu": "2"}}, "status": {"hard": {"requests.cpu": "2"}, "used": {"requests.cpu": "1"}}});
    objects["items"].as_array_mut().unwrap().push(quota);
    let dump = write(folder.path(), "dump.json", &objects.to_string());
    write(folder.path(), "web.yaml", &serde_yaml::to_string(&deployment(3, "1")).unwrap());
    write(folder.path(), "config.yml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
    std::fs::remove_file(&dump).unwrap();
    let manifests = folder.path().display().to_string();
    let elsewhere = tempfile::tempdir().unwrap();
    let dump = write(elsewhere.path(), "dump.json", &objects.to_string());
    let (code, text, _) = run(&["explain", "-f", &manifests, "--from", &dump, "-o", "json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, answer["placed"].as_array().unwrap().len(), &answer["skipped"]["ConfigMap"]), (1, 1, &json!(1)), "{text}");
    let refused = &answer["refused"][0];
    assert_eq!((refused["object"].as_str(), refused["by"].as_str()), (Some("Deployment shop/web"), Some("ResourceQuota shop/compute")));
    let why = refused["why"].as_str().unwrap();
    assert!(why.ends_with("exceeded quota: compute, requested: requests.cpu=1, used: requests.cpu=2, limited: requests.cpu=2"), "{why}");
}

#[test]
fn a_runtime_class_of_the_source_adds_its_overhead_and_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let mut objects = cluster();
    objects["items"][1]["metadata"]["labels"] = json!({"kata": "yes"});
    objects["items"]
        .as_array_mut()
        .unwrap()
        .push(json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"},
        "handler": "kata", "overhead": {"podFixed": {"cpu": "500m"}}, "scheduling": {"nodeSelector": {"kata": "yes"}}}));
    let dump = write(folder.path(), "dump.json", &objects.to_string());
    let mut deployment = deployment(5, "1");
    let ends = |deployment: &Value| {
        let web = write(folder.path(), "web.json", &deployment.to_string());
        let (code, text, _) = run(&["explain", "-f", &web, "--from", &dump, "-o", "json"]);
        let answer: Value = serde_json::from_str(&text).unwrap();
        let nodes = answer["placed"].as_array().unwrap().iter().map(|pod| pod["node"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        (code, nodes, answer)
    };
    let (code, nodes, answer) = ends(&deployment);
    assert_eq!((code, nodes.len()), (0, 5), "{answer}");
    deployment["spec"]["template"]["spec"]["runtimeClassName"] = json!("kata");
    // Of the node's 4 CPUs, the pods take 1.5 each after the batch pod is gone.
    let (code, nodes, answer) = ends(&deployment);
    assert_eq!((code, nodes), (1, vec!["n2".to_owned(), "n2".to_owned()]), "{answer}");
    assert!(!answer["unknown"].as_array().unwrap().contains(&json!("RuntimeClass")), "{answer}");
    deployment["spec"]["template"]["spec"]["runtimeClassName"] = json!("gvisor");
    let (_, nodes, answer) = ends(&deployment);
    assert!(nodes.is_empty(), "{answer}");
    assert!(answer["refused"][0]["why"].as_str().unwrap().ends_with("RuntimeClass \"gvisor\" not found"), "{answer}");
}

#[test]
fn a_wrong_manifest_is_wrong_usage_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "dump.json", &cluster().to_string());
    let refused = |name: &str, text: &str| {
        let file = write(folder.path(), name, text);
        let (code, out, said) = run(&["explain", "-f", &file, "--from", &dump]);
        assert_eq!((code, out.as_str()), (2, ""), "{said}");
        said.replace(&format!("{}/", folder.path().display()), "")
    };
    assert!(refused("broken.yaml", "kind: Pod\n  a: b\n").starts_with("schedscope: broken.yaml:2: "));
    let mut negative = deployment(1, "1");
    negative["spec"]["replicas"] = json!(-3);
    let text = format!("# first\n---\n{}", serde_yaml::to_string(&negative).unwrap());
    let said = refused("negative.yaml", &text);
    assert!(said.starts_with("schedscope: negative.yaml:3: Deployment \"web\" is invalid: spec.replicas: Invalid value: -3"), "{said}");
    let said = refused("lots.json", &deployment(1, "500x").to_string());
    assert!(said.starts_with("schedscope: lots.json:1: Deployment \"web\" is invalid: spec.template: quantity \"500x\""), "{said}");
    let (code, _, said) = run(&["explain", "-f", "/nowhere.yaml", "--from", &dump]);
    assert!(code == 2 && said.contains("/nowhere.yaml: cannot be read"), "{said}");
}

#[test]
fn nothing_is_asked_over_the_network_with_a_dump() {
    let folder = tempfile::tempdir().unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]});
    let config = write(folder.path(), "config", &config.to_string());
    let dump = write(folder.path(), "dump.json", &cluster().to_string());
    let web = write(folder.path(), "web.json", &deployment(1, "1").to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    let command =
        command.args(["explain", "-f", &web, "--from", &dump]).env("KUBECONFIG", &config).env("HTTPS_PROXY", &url).env("HTTP_PROXY", &url);
    assert!(command.stdin(Stdio::null()).status().unwrap().success());
    assert!(server.accept().is_err(), "something connected");
}

#[test]
fn a_runtime_class_without_overhead_and_a_quota_without_a_status_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, objects: &[Value]| {
        let path = folder.path().join(name);
        std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let node =
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}});
    let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "gvisor"}, "handler": "runsc"});
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none", "namespace": "shop"}, "spec": {"hard": {"pods": "0"}}});
    // Without a pod, it would be unknown which there are.
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "dns", "namespace": "kube-system"}, "spec": {"nodeName": "n1", "containers": []}});
    let source = write("source.json", &[node, pod, class, quota]);
    for (namespace, class, refusal) in
        [("default", "gvisor", ""), ("default", "kata", "RuntimeClass \"kata\" not found"), ("shop", "gvisor", "exceeded quota: none")]
    {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": namespace},
            "spec": {"runtimeClassName": class, "containers": [{"name": "c"}]}});
        let args = ["explain", "-f", &write("manifest.json", &[pod]), "--from", &source];
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope")).args(args).output().unwrap();
        let said = String::from_utf8(out.stdout).unwrap();
        assert_eq!(out.status.code(), Some(i32::from(!refusal.is_empty())), "{said}");
        assert!(said.contains(refusal), "{said}");
    }
}

/// A cluster with a Deployment of three pods, as `kubectl get -o json` has it.
fn with_deployment(template: &Value) -> Value {
    let owner = |kind: &str, name: &str| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": true}]);
    let mut live = deployment(3, "1");
    live["spec"]["template"] = template.clone();
    let mut set = live.clone();
    set["kind"] = json!("ReplicaSet");
    set["metadata"] = json!({"name": "web-abc", "namespace": "shop", "uid": "web-abc", "ownerReferences": owner("Deployment", "web")});
    set["spec"]["selector"]["matchLabels"]["pod-template-hash"] = json!("abc");
    set["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] = json!("abc");
    let mut objects = cluster();
    for at in 0..3 {
        let mut pod = set["spec"]["template"].clone();
        pod["apiVersion"] = json!("v1");
        pod["kind"] = json!("Pod");
        let labels = pod["metadata"]["labels"].clone();
        let name = format!("web-abc-{at}");
        pod["metadata"] =
            json!({"name": name, "namespace": "shop", "uid": name, "labels": labels, "ownerReferences": owner("ReplicaSet", "web-abc")});
        pod["spec"]["nodeName"] = json!("n1");
        objects["items"].as_array_mut().unwrap().push(pod);
    }
    objects["items"].as_array_mut().unwrap().extend([live, set]);
    objects
}

#[test]
fn a_manifest_is_applied_over_the_live_object() {
    let folder = tempfile::tempdir().unwrap();
    let template = deployment(3, "1")["spec"]["template"].clone();
    let dump = write(folder.path(), "dump.json", &with_deployment(&template).to_string());
    let run = |manifest: &Value| {
        let file = write(folder.path(), "web.json", &manifest.to_string());
        run(&["explain", "-f", &file, "--from", &dump])
    };
    let mut manifest = deployment(3, "1");
    manifest["spec"].as_object_mut().unwrap().remove("replicas");
    let (code, text, _) = run(&manifest);
    assert!(code == 0 && text.contains("Deployment shop/web: 3 wanted, unchanged, 3 kept"), "{code} {text}");
    assert!(text.contains("the manifest leaves out fields of Deployment shop/web: replicas."), "{text}");
    manifest["spec"]["paused"] = json!(true);
    manifest["spec"]["template"]["metadata"]["annotations"] = json!({"checksum/config": "2"});
    let (code, text, _) = run(&manifest);
    assert!(code == 0 && text.contains("3 wanted, not rolled out, 3 kept"), "{code} {text}");
    assert!(text.contains("3 pods keep the template before: the Deployment is paused"), "{text}");
    manifest["spec"]["selector"]["matchLabels"]["app"] = json!("other");
    manifest["spec"]["template"]["metadata"]["labels"]["app"] = json!("other");
    let (code, _, said) = run(&manifest);
    assert!(
        code == 2 && said.contains("spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"other\"}}: field is immutable"),
        "{said}"
    );
}
