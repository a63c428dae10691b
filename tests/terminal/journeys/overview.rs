//! All pending pods at a glance, and from a cause to its fix.

use std::fmt::Write as _;

use super::{ENTER, ESC, line, quit};
use crate::pty::Pty;

/// A full node, one with a taint and room for twenty pods, and twenty-two pods that wait.
fn cluster() -> String {
    let mut items = String::from(
        r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "full"}, "status": {"allocatable": {"cpu": "100m", "memory": "8Gi", "pods": "110"}}},
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "db"}, "spec": {"taints": [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]},
 "status": {"allocatable": {"cpu": "20", "memory": "64Gi", "pods": "110"}}}"#,
    );
    for i in 0..22 {
        let _ = write!(
            items,
            r#",{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "api-{i:02}", "namespace": "shop", "uid": "{i}"}},
 "spec": {{"schedulerName": "default-scheduler", "containers": [{{"name": "c", "resources": {{"requests": {{"cpu": "1"}}}}}}]}}}}"#
        );
    }
    format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{items}]}}"#)
}

/// "Twenty-two pods are pending. What one change helps most of them, and does it really?"
/// A toleration frees twenty: x, Enter; and on the branch S binds them.
#[test]
fn from_the_overview_to_the_fix_that_frees_twenty_pods_and_to_its_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cluster.json"), cluster()).expect("it can be written");
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut pty = Pty::start_at(folder.path(), &[], &["open", "cluster.json"], size.0, size.1);
        let screen = pty.wait_for("fix: tolerate dedicated=db:NoSchedule (frees 20 of 22)");
        line(&screen, &["0 Overview: 22 pending pods, 1 cause"]);
        pty.send("x");
        pty.wait_for("Fix for 22 pods");
        pty.send(ENTER);
        pty.wait_for("on new branch 2");
        pty.wait_for("20 pods  fit (each decided on its own)");
        pty.send("S");
        pty.wait_for("settled after");
        let screen = pty.wait_for("0 Overview: 2 pending pods, 1 cause");
        assert!(!screen.contains("pods  fit ("), "{screen}");
        pty.send("=");
        let screen = pty.wait_for("main compared with branch 2");
        line(&screen, &["shop/api-00: still pending → on db"]);
        pty.send(ESC);
        pty.wait_gone("main compared with branch 2");
        quit(pty);
    }
}

/// "Which pods wait for the same reason as ingress-extra?"
/// Two keys list them: down, and open.
#[test]
fn all_pods_of_one_cause_in_two_keys() {
    for size in [(80, 24), (120, 40)] {
        let mut pty = Pty::start(&["demo", "payments"], size.0, size.1);
        pty.wait_for("drop the pod anti-affinity");
        pty.send("j");
        pty.send(ENTER);
        let screen = pty.wait_for("platform/ingress-extra-66cb5965df-vcc6p");
        line(&screen, &["platform/ingress-extra-66cb5965df-mkwvj"]);
        quit(pty);
    }
}

/// "Why does my Deployment have too few pods?"
/// A quota holds it; the command that raises it is one key away, and the workload's numbers two more.
#[test]
fn from_the_overview_to_the_fix_of_a_deployment_that_a_quota_holds() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let folder = tempfile::tempdir().expect("a folder");
        let dump = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/workloads/01-quota.yaml");
        let mut pty = Pty::start_at(folder.path(), &[], &["open", dump], columns, rows);
        pty.wait_for("the quota compute refuses the next one");
        pty.send("x");
        let page = pty.wait_for("kubectl patch resourcequota/compute -n shop");
        assert!(!page.contains("Fix:"), "the line says itself that it is a fix: {page}");
        pty.send(ESC);
        pty.wait_gone("kubectl patch");
        pty.send(ENTER);
        let screen = pty.wait_for("deployment/web in shop");
        assert!(screen.contains("fix: raise the quota compute"), "{screen}");
        quit(pty);
    }
}
