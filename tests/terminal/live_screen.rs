//! The screen of a live cluster, on a pseudo-terminal and without a key.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use schedscope::source::{Story, load};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api_server::{ApiServer, Fault};
use crate::pty::Pty;

fn story(name: &str) -> Vec<Value> {
    load(&[Story::named(name).unwrap().input()]).objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect()
}

/// Starts the explorer on a server, with its kubeconfig in the folder.
fn start(server: &ApiServer, columns: u16) -> (TempDir, Pty) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, server.kubeconfig()).unwrap();
    let pty = Pty::start_in(&[("KUBECONFIG", path.to_str().unwrap())], &["live"], columns, 24);
    (folder, pty)
}

fn pod(name: &str, cpu: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-11-20T18:00:00Z"},
        "spec": {"schedulerName": "default-scheduler", "priority": 5, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}})
}

#[test]
fn a_narrow_header_keeps_the_context_the_release_and_the_age() {
    let server = ApiServer::new(&story("payments"));
    server.fault("/api/v1/nodes?", usize::MAX / 4, Fault::Status(403, None));
    server.fault("/poddisruptionbudgets", usize::MAX / 4, Fault::Status(403, None));
    for (columns, state) in [(60, "2 kinds refused, now"), (80, "may not read nodes and 1 more, heard just now")] {
        let (_folder, pty) = start(&server, columns);
        let screen = pty.wait_for("pending pods");
        let header = screen.lines().next().unwrap_or_default();
        for part in ["live test", state, "v1.36.2"] {
            assert!(header.contains(part), "{columns} columns: {header}");
        }
    }
}

#[test]
fn credentials_that_expire_are_said_in_the_header() {
    let server = ApiServer::new(&story("payments"));
    let (_folder, pty) = start(&server, 60);
    pty.wait_for("following");
    server.fault("/api/v1/", usize::MAX / 4, Fault::Status(401, None));
    server.fault("/apis/", usize::MAX / 4, Fault::Status(401, None));
    server.end_watches();
    let screen = pty.wait_for("refused (401), ");
    let header = screen.lines().next().unwrap_or_default();
    assert!(header.contains("live test") && header.contains("v1.36.2"), "{header}");
    // The clock has moved: it gives way to the release.
    server.forgive();
    pty.wait_for("following");
    server.put(pod("late", "1m"));
    let screen = pty.wait_for("16 pending pods");
    let header = screen.lines().next().unwrap_or_default();
    assert!(header.contains("live test · following, ") && header.contains("v1.36.2"), "{header}");
}

#[test]
fn the_overview_of_a_cluster_that_changes_is_decided_again_without_a_key() {
    let server = ApiServer::new(&story("payments"));
    let (_folder, pty) = start(&server, 120);
    pty.wait_for("following");
    let is_decided = |screen: &str| !screen.contains("not decided yet") && !screen.contains("of the state before");
    pty.wait_until("the first overview", |screen| {
        screen.contents().contains("15 pending pods") && is_decided(&screen.contents()) && !screen.contents().contains("searching")
    });
    server.put(pod("late", "1m"));
    pty.wait_until("the pod to be decided", |screen| screen.contents().contains("16 pending pods") && is_decided(&screen.contents()));
    assert!(pty.screen().contains("6 pods (1 new)  fit"), "{}", pty.screen());
}
