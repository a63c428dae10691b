//! "What will change when we upgrade?"

use super::{ESC, command, line, quit};
use crate::pty::Pty;

/// A node of 1.33 with a pod whose sidecar has a host port, and a pod that wants that port: sidecars' ports count from 1.34 on.
const CLUSTER: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
 "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "9"}, "nodeInfo": {"kubeletVersion": "v1.33.4-eks-1"}}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "there", "namespace": "a", "uid": "t"}, "status": {"phase": "Running"},
 "spec": {"nodeName": "n", "containers": [{"name": "c"}],
  "initContainers": [{"name": "s", "restartPolicy": "Always", "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]}]}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waits", "namespace": "a", "uid": "w", "creationTimestamp": "2026-11-20T18:00:00Z"},
 "spec": {"schedulerName": "default-scheduler",
  "containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]}]}}]}"#;

/// "We run 1.33. Which pending pods will no longer fit with 1.36?"
/// One, whose host port a sidecar has; the saved session still has the answer.
#[test]
fn see_what_an_upgrade_changes_and_keep_the_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cluster.json"), CLUSTER).expect("it can be written");
    for size in [(80, 24), (120, 40)] {
        let mut pty = Pty::start_at(folder.path(), &[], &["open", "cluster.json"], size.0, size.1);
        pty.wait_for("v1.33.4 (kubelets)");
        pty.wait_for("a/waits: ");
        command(&mut pty, "release newest");
        pty.wait_for("is not a version of kube-scheduler");
        command(&mut pty, "release 1.36");
        pty.wait_for("main is unchanged");
        // A narrow header has no room for it beside a dry decision.
        if size.0 >= 100 {
            pty.wait_for("v1.36.4 (:release)");
        }
        pty.send("=");
        let screen = pty.wait_for("main compared with branch 2");
        line(&screen, &["1 of 1 pending pod is decided differently by kube-scheduler v1.36.4 than"]);
        line(&screen, &["a/waits"]);
        line(&screen, &["v1.33.4: fits on n"]);
        pty.send(ESC);
        pty.wait_gone("main compared with branch 2");
        // On the branch it came from, the release is the cluster's own.
        command(&mut pty, "branch 1");
        pty.wait_for("this is main");
        if size.0 > 80 {
            pty.wait_for("v1.33.4 (kubelets)");
        }
        command(&mut pty, "branch 2");
        pty.wait_for("this is branch 2");
        if size.0 > 80 {
            pty.wait_for("v1.36.4 (:release)");
        }
        let name = format!("session-{}", size.0);
        command(&mut pty, &format!("save {name}"));
        pty.wait_for("saved to");
        quit(pty);
        let again = Pty::start_at(folder.path(), &[], &["open", &name], size.0, size.1);
        again.wait_for(if size.0 > 80 { "v1.36.4 (:release)" } else { "branch 2 of 2" });
        quit(again);
    }
}
