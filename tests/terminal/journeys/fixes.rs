//! "What should I change?"

use super::{ENTER, ESC, line, quit};
use crate::pty::Pty;

/// A node with a label, and a pod that asks for it with two letters swapped.
const CLUSTER: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "fast", "labels": {"disk": "ssd"}},
 "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "9"}}},
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "slow", "labels": {"disk": "hdd"}},
 "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "9"}}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cache", "namespace": "shop", "uid": "c"},
 "spec": {"schedulerName": "default-scheduler", "nodeSelector": {"disk": "sds"}, "containers": [{"name": "c"}]}}]}"#;

/// "No node has what this pod selects. What is meant?"
/// The value of a node, one edit apart, comes first; Enter changes it on a branch, and S shows that it does it.
#[test]
fn find_a_typo_in_a_node_selector_and_correct_it() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cluster.json"), CLUSTER).expect("it can be written");
    for size in [(80, 24), (120, 40)] {
        let mut pty = Pty::start_at(folder.path(), &[], &["open", "cluster.json"], size.0, size.1);
        pty.wait_for("shop/cache: ");
        pty.send("x");
        let screen = pty.wait_for("Fixes for shop/cache");
        line(&screen, &["1. nodeSelector disk=ssd instead of sds (likely typo): fits on fast"]);
        pty.send(ENTER);
        pty.wait_for("on new branch 2");
        pty.send("S");
        pty.wait_for("settled after");
        pty.send("=");
        let screen = pty.wait_for("main compared with branch 2");
        line(&screen, &["shop/cache: ", " on fast"]);
        pty.send(ESC);
        pty.wait_gone("main compared with branch 2");
        quit(pty);
    }
}
