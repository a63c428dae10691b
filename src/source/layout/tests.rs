//! One path per rule of each profile.

use super::*;

fn check(path: &str, expected: &str) {
    let found = role(path).map_or_else(String::new, |role| {
        let task = match role.task {
            Task::Objects(Hint { kind, namespace, rank, .. }) => {
                let kind = kind.map_or("?", |kind| kind.kind);
                format!("{kind} in {} rank {rank}", namespace.as_deref().unwrap_or("-"))
            }
            Task::Fact(Fact::Errors(of)) => format!("errors of {}", of.map_or("?", |of| of.kind)),
            Task::Fact(fact) => format!("{fact:?}"),
            Task::Skip => "skip".into(),
        };
        format!("{}: {task}", role.layout)
    });
    assert_eq!(found, expected, "{path}");
}

#[test]
fn paths_tell_what_to_do_with_files() {
    for (path, expected) in [
        ("dump/nodes.json", "kubectl cluster-info dump: Node in - rank 0"),
        ("dump/shop/pods.yaml", "kubectl cluster-info dump: Pod in shop rank 0"),
        ("dump/shop/replication-controllers.txt", "kubectl cluster-info dump: ReplicationController in shop rank 0"),
        ("dump/shop/web-1/logs.txt", "kubectl cluster-info dump: skip"),
        ("q/cluster-scoped-resources/core/nodes.yaml", "OpenShift must-gather: Node in - rank 1"),
        ("q/cluster-scoped-resources/core/nodes/n1.yaml", "OpenShift must-gather: Node in - rank 0"),
        ("q/namespaces/shop/shop.yaml", "OpenShift must-gather: Namespace in - rank 1"),
        ("q/namespaces/shop/core/pods.yaml", "OpenShift must-gather: Pod in shop rank 1"),
        ("q/namespaces/shop/policy/poddisruptionbudgets.yaml", "OpenShift must-gather: PodDisruptionBudget in shop rank 1"),
        ("q/namespaces/shop/pods/web-1/web-1.yaml", "OpenShift must-gather: Pod in shop rank 0"),
        ("q/namespaces/shop/pods/web-1/c/c/logs/current.log", "OpenShift must-gather: skip"),
        ("i/config/node/n1.example.com.json", "OpenShift Insights archive: Node in - rank 0"),
        ("config/pod/shop/web-1.json", "OpenShift Insights archive: Pod in shop rank 0"),
        ("config/pod/shop/logs/web-1/errors.log", "OpenShift Insights archive: skip"),
        ("config/node/logs/n1.log", "OpenShift Insights archive: skip"),
        ("config/pdbs/shop/web.json", "OpenShift Insights archive: PodDisruptionBudget in shop rank 0"),
        ("config/persistentvolumes/v.json", "OpenShift Insights archive: PersistentVolume in - rank 0"),
        ("config/storage/storageclasses/fast.json", "OpenShift Insights archive: StorageClass in - rank 0"),
        ("events/shop.json", "OpenShift Insights archive: Event in shop rank 0"),
        ("insights-operator/gathers.json", "OpenShift Insights archive: skip"),
        ("conditional/namespaces/shop/pods/web-1/web-1.json", "OpenShift Insights archive: Pod in shop rank 0"),
        ("config/machineconfigs/75.json", ""),
        ("q/timestamp", "OpenShift must-gather: Time"),
        ("q/audit_logs/kube-apiserver.audit_logs.gz", "OpenShift must-gather: skip"),
        ("b/cluster-resources/nodes.json", "Replicated support bundle: Node in - rank 0"),
        ("b/cluster-resources/storage-classes.json", "Replicated support bundle: StorageClass in - rank 0"),
        ("b/cluster-resources/pod-disruption-budgets/shop.json", "Replicated support bundle: PodDisruptionBudget in shop rank 0"),
        ("b/cluster-resources/pods-errors.json", "Replicated support bundle: errors of Pod"),
        ("b/cluster-resources/pods/logs/shop/web-1/c.log", "Replicated support bundle: skip"),
        ("b/cluster-info/cluster_version.json", "Replicated support bundle: ServerVersion"),
        ("resources/cluster/core_v1_nodes.json", "Sonobuoy snapshot: Node in - rank 0"),
        ("resources/ns/shop/policy_v1_poddisruptionbudgets.json", "Sonobuoy snapshot: PodDisruptionBudget in shop rank 0"),
        ("resources/ns/shop/Pods.json", "Sonobuoy snapshot: Pod in shop rank 0"),
        ("serverversion.json", "Sonobuoy snapshot: ServerVersion"),
        ("podlogs/shop/web/logs/c.txt", "Sonobuoy snapshot: skip"),
        ("resources/pods/namespaces/shop/web.json", "Velero backup: Pod in shop rank 2"),
        ("resources/pods/v1-preferredversion/namespaces/shop/web.json", "Velero backup: Pod in shop rank 1"),
        ("resources/nodes/v1/cluster/n1.json", "Velero backup: Node in - rank 0"),
        ("resources/priorityclasses.scheduling.k8s.io/cluster/high.json", "Velero backup: PriorityClass in - rank 2"),
        ("r/yamls/cluster/kubernetes/nodes.yaml", "Rancher support bundle: Node in - rank 0"),
        ("r/yamls/namespaced/shop/policy/v1/poddisruptionbudgets.yaml", "Rancher support bundle: PodDisruptionBudget in shop rank 0"),
        ("r/metadata.yaml", "Rancher support bundle: ServerVersion"),
        ("crashd/core_v1/shop/pods-20260101-1200.json", "Crash Diagnostics dump: Pod in - rank 0"),
        ("crashd/core_v1/nodes/n1-20260101.yaml", "Crash Diagnostics dump: Node in - rank 0"),
        ("logs/shop/MachineDeployment/md-0.yaml", "Cluster API artifacts: ? in shop rank 0"),
        ("values.yaml", ""),
        ("shop/web.yaml", ""),
        ("readme", ""),
    ] {
        check(path, expected);
    }
}

#[test]
fn files_are_named_after_resources() {
    for (path, expected) in [
        ("a/pods.json", Some("Pod")),
        ("pods/shop.json", Some("Pod")),
        ("storage-classes.yaml", Some("StorageClass")),
        ("Nodes.json", Some("Node")),
        ("web.json", None),
        ("pod/shop/web.json", Some("Pod")),
        ("pods/a/b/web.json", None),
    ] {
        assert_eq!(general_hint(path).kind.map(|k| k.kind), expected, "{path}");
    }
    assert_eq!(kinds::of_resource("services.serving.knative.dev"), None);
}
