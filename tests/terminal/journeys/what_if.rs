//! "Can I take this node down, and how much more fits?"

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{ESC, command, line, quit};
use crate::pty::Pty;

/// Two nodes of four CPUs. Three pods under a budget that allows one disruption are on `old`, and `new` takes two more.
fn cluster() -> Value {
    let node = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": format!("zone-{name}")}},
               "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}}})
    };
    let pod = |name: &str, node: &str, set: &str, cpu: &str| {
        let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": set, "controller": true});
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name,
            "labels": {"app": set}, "ownerReferences": [owner]}, "spec": {"schedulerName": "default-scheduler", "nodeName": node,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}, "status": {"phase": "Running"}});
        if node.is_empty() {
            pod["status"]["phase"] = json!("Pending");
        }
        pod
    };
    json!({"apiVersion": "v1", "kind": "List", "items": [
        node("old"), node("new"),
        pod("web-1", "old", "web", "1"), pod("web-2", "old", "web", "1"), pod("web-3", "old", "web", "1"),
        pod("api-1", "new", "api", "2500m"), pod("wants-much", "", "big", "3"),
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"},
         "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
         "status": {"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3}}
    ]})
}

/// "I want to drain a node. What keeps me from it?"
/// The budget, as soon as a replacement has no place; with one more node it works.
#[test]
fn drain_a_node_and_read_which_budget_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cluster.json"), cluster().to_string()).expect("it can be written");
    for size in [(80, 24), (120, 40)] {
        let mut pty = Pty::start_at(folder.path(), &[], &["open", "cluster.json"], size.0, size.1);
        pty.wait_for("shop/wants-much: ");
        command(&mut pty, "drain odl");
        pty.wait_for("there is no Node odl; did you mean old?");
        command(&mut pty, "drain old");
        let screen = pty.wait_for("old is cordoned, but not drained");
        line(&screen, &["drain old: old is not drained, 1 pod placed, 1 pod pending, 1 pod"]);
        line(&screen, &["shop/web-3 stays on old: budget shop/web allows no more disruptions"]);
        line(&screen, &["until", "shop/web-"]);
        line(&screen, &["shop/web-2 on old → shop/web-", " pending: 0/2 nodes are available"]);
        line(&screen, &["shop/web-1 on old → shop/web-", " on new"]);
        pty.send(ESC);
        pty.wait_gone("old is cordoned, but not drained");
        pty.wait_for("branch 2 of 2");
        pty.send("=");
        let screen = pty.wait_for("main compared with branch 2");
        line(&screen, &["branch 2: drain old:"]);
        pty.send(ESC);
        pty.wait_gone("main compared with branch 2");
        command(&mut pty, "branch 1");
        pty.wait_for("this is main");
        command(&mut pty, "add 1 like new");
        pty.wait_for("new-like-1 is added");
        pty.send(ESC);
        pty.wait_gone("new-like-1 is added");
        command(&mut pty, "delete pod shop/wants-much");
        pty.wait_for("deleted Pod shop/wants-much");
        command(&mut pty, "drain old");
        pty.wait_for("old is cordoned and drained");
        pty.send(ESC);
        pty.wait_gone("old is cordoned and drained");
        let name = format!("session-{}", size.0);
        command(&mut pty, &format!("save {name}"));
        pty.wait_for("saved to");
        quit(pty);
        let again = Pty::start_at(folder.path(), &[], &["open", &name], size.0, size.1);
        again.wait_for("branch 3 of 3");
        quit(again);
    }
}

/// "How many more of these fit, and what is in short supply then?"
#[test]
fn count_how_many_more_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cluster.json"), cluster().to_string()).expect("it can be written");
    let mut pty = Pty::start_at(folder.path(), &[], &["open", "cluster.json"], 120, 40);
    pty.wait_for("activeQ");
    command(&mut pty, "capacity shop/web-1");
    let screen = pty.wait_for("How many more of shop/web-1 fit");
    line(&screen, &["2 more pods like it fit"]);
    line(&screen, &["the next one does not fit because "]);
    line(&screen, &["1 on new"]);
    pty.send(ESC);
    pty.wait_gone("How many more");
    // Without an argument it is about the selected pod.
    command(&mut pty, "capacity");
    let screen = pty.wait_for("How many more of shop/wants-much fit");
    line(&screen, &["this pod does not fit"]);
    pty.send(ESC);
    pty.wait_gone("How many more");
    quit(pty);
}

fn run(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    let output = program.args(["run", "--from", "cluster.json"]).args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = output.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// "The same in a script."
#[test]
fn ask_the_same_without_a_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cluster.json"), cluster().to_string()).expect("it can be written");
    let json = |arguments: &[&str]| {
        let (code, out, error) = run(folder.path(), arguments);
        (code, serde_json::from_str::<Value>(&out).unwrap_or_else(|e| panic!("{e}: {out} {error}")))
    };
    let (code, drained) = json(&["--what-if", "drain old", "-o", "json"]);
    let answer = &drained["whatIf"][0];
    assert_eq!((code, &drained["complete"], &answer["nodes"][0]["end"]), (Some(1), &json!(false), &json!("blocked")));
    let pods = answer["pods"].as_array().expect("a list");
    let blocked: Vec<&Value> = pods.iter().filter(|pod| pod["end"] == "stays").collect();
    assert_eq!(blocked.len(), 1);
    assert_eq!((&blocked[0]["blockedBy"]["why"], &blocked[0]["blockedBy"]["budgets"]), (&json!("waits"), &json!(["shop/web"])));
    let pending = pods.iter().find(|pod| pod["end"] == "recreated" && pod["node"].is_null()).expect("one is pending");
    assert_eq!(blocked[0]["blockedBy"]["waitsFor"], json!([pending["now"]]));
    assert!(pending["message"].as_str().is_some_and(|message| message.contains("Insufficient cpu")), "{pending}");

    let (code, both) = json(&["--what-if", "add 2 like new", "--what-if", "drain old", "-o", "json"]);
    assert_eq!((code, &both["complete"], &both["whatIf"][1]["nodes"][0]["end"]), (Some(0), &json!(true), &json!("drained")));
    assert_eq!(
        both["elsewhere"],
        json!([{"pod": "shop/wants-much", "without": "unschedulablePods (NodeResourcesFit)", "with": "on new-like-1"}])
    );

    let (code, fits) = json(&["--what-if", "capacity web-1", "-o", "json"]);
    assert_eq!(
        (code, &fits["whatIf"][0]["capacity"]["fits"], &fits["whatIf"][0]["capacity"]["nodes"]),
        (Some(0), &json!(2), &json!({"new": 1, "old": 1}))
    );

    let (code, out, error) = run(folder.path(), &["--what-if", "drain odl"]);
    assert!(code == Some(2) && out.is_empty() && error.contains("did you mean old?"), "{code:?} {out} {error}");
    let (code, _, error) = run(folder.path(), &["--what-if", "drian old"]);
    assert!(code == Some(2) && error.contains("did you mean drain?"), "{error}");
}

/// "Will this Deployment fit?" Its pods are placed on a branch, and those that wait are counted with their reason.
#[test]
fn apply_a_manifest_and_read_who_fits_and_who_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cluster.json"), cluster().to_string()).expect("it can be written");
    let front = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "front", "namespace": "shop"}, "spec": {
        "replicas": 4, "selector": {"matchLabels": {"app": "front"}},
        "template": {"metadata": {"labels": {"app": "front"}}, "spec": {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}}});
    std::fs::write(folder.path().join("front.yaml"), front.to_string()).expect("it can be written");
    let mut pty = Pty::start_at(folder.path(), &[], &["open", "cluster.json"], 120, 40);
    pty.wait_for("shop/wants-much: ");
    command(&mut pty, "apply front.yml");
    pty.wait_for("front.yml: cannot be read");
    command(&mut pty, "apply front.yaml");
    let screen = pty.wait_for("2 fit, 2 wait for cpu");
    line(&screen, &["Deployment shop/front: 4 wanted, 2 fit, 2 wait for cpu"]);
    line(&screen, &["1 on new"]);
    pty.send(ESC);
    // Without a pause, Esc and the key behind it are read as one key with Alt.
    pty.wait_gone("What if: apply");
    assert!(pty.screen().contains("branch 2 of 2"));
    quit(pty);
}
