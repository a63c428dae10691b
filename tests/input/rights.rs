//! Users without the right to read everything, and dumps that say so: the missing parts are unknown, never none.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::{Command, Output};

use pretty_assertions::assert_eq;
use schedscope::source::{Story, load};
use serde_json::{Value, json};

use crate::api_server::{ApiServer, Fault};

const ALWAYS: usize = usize::MAX / 2;

/// Returns the objects of a story.
fn story(name: &str) -> Vec<Value> {
    load(&[Story::named(name).unwrap().input()]).objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect()
}

/// Runs the program on a server, or on the source in its arguments.
fn program(server: Option<&ApiServer>, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    std::fs::write(&config, server.map_or_else(String::new, ApiServer::kubeconfig)).unwrap();
    Command::new(env!("CARGO_BIN_EXE_schedscope")).args(arguments).env("KUBECONFIG", config).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", stdout(output), stderr(output)))
}

/// Returns the entry of a kind in an answer's `missing`, as kind and reason.
fn missing(answer: &Value, kind: &str) -> Value {
    answer["missing"].as_array().unwrap().iter().find(|m| m["kind"] == kind).map_or(Value::Null, |m| m["why"].clone())
}

#[test]
fn a_user_without_rights_is_reported_what_is_missing() {
    let server = ApiServer::new(&story("budgets"));
    server.fault("/api/v1/", ALWAYS, Fault::Status(403, None));
    server.fault("/apis/", ALWAYS, Fault::Status(403, None));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.json");
    let screen = folder.path().join("screen.txt");
    for arguments in [
        &["explain", "checkout", "-n", "shop"][..],
        &["explain", "-A", "--pending"],
        &["explain", "-A", "--pending", "-o", "json"],
        &["run", "--live"],
        &["capture", file.to_str().unwrap()],
        &["live", "--print", screen.to_str().unwrap()],
    ] {
        let output = program(Some(&server), arguments);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), ""), "{arguments:?}: {}", stderr(&output));
        let said = stderr(&output);
        // One line counts and names them.
        assert_eq!(said.lines().filter(|line| line.contains("403 Forbidden")).count(), 1, "{said}");
        for expected in [
            " lists cannot be read: ",
            "nodes, persistentvolumes, ",
            "schedscope: Nodes cannot be read (no permission): where pods fit is unknown. Pods cannot be read (no permission): which pods are pending is unknown",
        ] {
            assert!(said.contains(expected), "{arguments:?}: {said}");
        }
    }
    assert!(!file.exists() && !screen.exists());
}

#[test]
fn without_nodes_the_answer_says_what_is_known() {
    let mut objects = story("budgets");
    let message = "0/3 nodes are available: 3 Insufficient cpu.";
    let checkout = objects.iter_mut().find(|object| object["metadata"]["name"] == "checkout").unwrap();
    checkout["status"] = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": message, "lastTransitionTime": "2026-11-20T18:00:01Z"}]});
    checkout["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}]);
    let mut gated = checkout.clone();
    gated["metadata"]["name"] = "gated".into();
    gated["metadata"]["uid"] = "gated".into();
    gated["spec"]["schedulingGates"] = json!([{"name": "example.com/wait"}]);
    objects.push(gated);
    let server = ApiServer::new(&objects);
    server.fault("/api/v1/nodes", ALWAYS, Fault::Status(403, None));
    let output = program(Some(&server), &["explain", "checkout", "-n", "shop"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    for expected in [
        "Not decided: nodes cannot be read (no permission), so where it fits is unknown.",
        "KNOWN\n  the cluster's scheduler reported at 2026-11-20T18:00:01Z: 0/3 nodes are available: 3 Insufficient cpu.\n",
        "\n  its claim \"gone\" does not exist\n",
        "\n  budget ",
        "\n  priority ",
        "UNKNOWN\n  Nodes cannot be read (no permission): where pods fit is unknown.\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("no nodes available"), "{text}");
    let found = answer(&program(Some(&server), &["explain", "checkout", "-n", "shop", "-o", "json"]));
    assert_eq!((&found["outcome"], &found["message"], missing(&found, "Node")), (&Value::Null, &json!(""), json!("refused")));
    assert_eq!((&found["reported"]["message"], &found["known"]["missingClaims"]), (&json!(message), &json!(["gone"])));
    assert!(found["known"]["budgets"].as_array().is_some_and(|budgets| !budgets.is_empty()), "{found}");

    let all = program(Some(&server), &["explain", "-A", "--pending"]);
    assert_eq!(all.status.code(), Some(3), "{}", stderr(&all));
    assert!(
        stdout(&all).contains(message) && stdout(&all).contains("no fix known: Nodes cannot be read (no permission)"),
        "{}",
        stdout(&all)
    );
    let all = answer(&program(Some(&server), &["explain", "-A", "--pending", "-o", "json"]));
    let pod = all["pods"].as_array().unwrap().iter().find(|pod| pod["pod"]["name"] == "checkout" || pod["pod"] == "shop/checkout").unwrap();
    assert_eq!((&pod["accord"], &pod["outcome"], &pod["there"]["message"]), (&json!("undecided"), &Value::Null, &json!(message)));
    // A gate needs no node.
    let gated = program(Some(&server), &["explain", "gated", "-n", "shop"]);
    assert_eq!(gated.status.code(), Some(3));
    assert!(stdout(&gated).contains("Held back by its scheduling gate example.com/wait"), "{}", stdout(&gated));

    let folder = tempfile::tempdir().unwrap();
    let screen = folder.path().join("screen.txt");
    let printed = program(Some(&server), &["live", "--print", screen.to_str().unwrap()]);
    assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
    let screen = std::fs::read_to_string(&screen).unwrap();
    assert!(screen.contains("may not read nodes") && screen.contains("not decided: nodes cannot be read (no permission)"), "{screen}");
    assert!(screen.contains("Nodes cannot be read (no permission) (i shows all)"), "{screen}");
    // Runs and captures need nodes.
    for arguments in [&["run", "--live"][..], &["capture", folder.path().join("dump.json").to_str().unwrap()]] {
        let output = program(Some(&server), arguments);
        assert_eq!(output.status.code(), Some(3));
        let expected = "schedscope: Nodes cannot be read (no permission): where pods fit is unknown.\n";
        assert!(stderr(&output).ends_with(expected), "{}", stderr(&output));
    }
}

#[test]
fn nodes_that_were_deleted_are_not_called_unread() {
    let server = ApiServer::new(&story("budgets"));
    server
        .put(json!({"kind": "Pod", "metadata": {"name": "left", "namespace": "shop"}, "spec": {"nodeName": "deleted", "containers": []}}));
    let said = |server: &ApiServer| stderr(&program(Some(server), &["explain", "-A", "--pending"]));
    let expected = "1 pod is bound to nodes that do not exist: they were deleted, and ignored (the first node is deleted)";
    assert!(said(&server).contains(expected), "{}", said(&server));
    server.fault("/api/v1/nodes", ALWAYS, Fault::Status(403, None));
    assert!(!said(&server).contains("deleted, and ignored"), "{}", said(&server));
}

#[test]
fn budgets_that_were_refused_are_unknown_and_stay_so_in_a_capture() {
    let server = ApiServer::new(&story("budgets"));
    server.fault("/poddisruptionbudgets", ALWAYS, Fault::Status(403, None));
    let violations = |output: &Output| -> Vec<Value> {
        let candidates = answer(output)["preemption"]["candidates"].as_array().unwrap().clone();
        candidates.iter().map(|candidate| candidate["pdbViolations"].clone()).collect()
    };
    let explain = ["explain", "checkout", "-n", "shop", "-o", "json"];
    let live = program(Some(&server), &explain);
    let found = violations(&live);
    assert!(!found.is_empty() && found.iter().all(Value::is_null), "{found:?}");
    assert_eq!(missing(&answer(&live), "PodDisruptionBudget"), "refused");
    let text = stdout(&program(Some(&server), &explain[..4]));
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("  big-")).take(3).collect();
    assert!(rows.len() == 3 && rows.iter().all(|row| row.matches('?').count() == 2), "violations and their function: {rows:?}");
    assert!(
        text.contains(
            "\nUNKNOWN\n  PodDisruptionBudgets cannot be read (no permission): which preemptions would violate a budget is unknown."
        ),
        "{text}"
    );

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.json");
    let path = file.to_str().unwrap();
    assert_eq!(program(Some(&server), &["capture", path]).status.code(), Some(0));
    let again = program(None, &[&explain[..], &["--from", path]].concat());
    assert_eq!(answer(&again)["preemption"], answer(&live)["preemption"]);
    assert_eq!(missing(&answer(&again), "PodDisruptionBudget"), "refused");
    // Every answer names it: all pending pods, and each line of a run.
    let all = program(None, &["explain", "--pending", "-A", "-o", "json", "--from", path]);
    assert_eq!(missing(&answer(&all), "PodDisruptionBudget"), "refused");
    let run = program(None, &["run", "-o", "json", "--from", path]);
    for line in stdout(&run).lines() {
        assert_eq!(missing(&serde_json::from_str(line).unwrap(), "PodDisruptionBudget"), "refused");
    }
}

#[test]
fn a_dump_that_merely_lacks_budgets_counts_none_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.json");
    let objects: Vec<Value> = story("budgets").into_iter().filter(|object| object["kind"] != "PodDisruptionBudget").collect();
    let write = |more: Value| {
        let mut items = objects.clone();
        items.extend(more.as_array().unwrap().iter().cloned());
        std::fs::write(&path, json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string()).unwrap();
    };
    let explain = || program(None, &["explain", "checkout", "-n", "shop", "-o", "json", "--from", path.to_str().unwrap()]);
    let counts = |output: &Output| answer(output)["preemption"]["candidates"][0]["pdbViolations"].clone();
    write(json!([]));
    let plain = explain();
    assert_eq!((counts(&plain), missing(&answer(&plain), "PodDisruptionBudget")), (json!(0), json!("notInSource")));
    assert_eq!(answer(&plain)["budgetsUnknown"], true);
    // An unreadable budget may be the decisive one.
    write(json!([{"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": "b", "namespace": "shop"}, "spec": 7}]));
    let broken = explain();
    assert_eq!((counts(&broken), missing(&answer(&broken), "PodDisruptionBudget")), (Value::Null, json!("failed")));
    // An embedded cluster is complete.
    let demo = program(None, &["explain", "checkout", "-n", "shop", "-o", "json", "--demo", "budgets"]);
    assert_eq!(answer(&demo)["missing"], json!([]));
}

#[test]
fn pods_and_stories_that_are_not_there_are_guessed() {
    for (arguments, code, expected) in [
        (&["explain", "shop/checkout", "--demo", "budgets"][..], 1, ""),
        (&["explain", "checkout", "--demo", "budgets"], 2, "there is no Pod default/checkout in the source; did you mean shop/checkout?"),
        (&["explain", "shop/chekout", "--demo", "budgets"], 2, "there is no Pod shop/chekout in the source; did you mean shop/checkout?"),
        (
            &["explain", "shp/nothing-like-it", "--demo", "budgets"],
            2,
            "there is no Pod shp/nothing-like-it in the source; did you mean namespace shop?",
        ),
        (&["explain", "x", "--demo", "budget"], 2, "; did you mean budgets?"),
        (&["explain", "shop/checkout", "-o", "md", "--demo", "budgets"], 1, ""),
        (&["explain", "-A", "--pending", "--demo", "budgets"], 1, ""),
    ] {
        let output = program(None, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn pods_that_a_source_does_not_hold_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.json");
    std::fs::write(&path, r#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}"#).unwrap();
    let output = program(None, &["explain", "-A", "--pending", "--from", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).starts_with("Whether pods are pending is unknown: the source contains no Pods.\n"), "{}", stdout(&output));
    std::fs::write(&path, r#"{"kind":"PodList","apiVersion":"v1","items":[]}{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}"#)
        .unwrap();
    let output = program(None, &["explain", "-A", "--pending", "--from", path.to_str().unwrap()]);
    assert!(stdout(&output).starts_with("No pod is pending.\n"), "{}", stdout(&output));
    // An API server's refusal in place of a list.
    let refusal = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods is forbidden","details":{"kind":"pods"}}"#;
    std::fs::write(&path, format!(r#"{refusal}{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"a"}}}}"#)).unwrap();
    let output = program(None, &["explain", "-A", "--pending", "--from", path.to_str().unwrap()]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), ""));
    assert!(stderr(&output).contains("Pods were not given: pods is forbidden"), "{}", stderr(&output));
}
