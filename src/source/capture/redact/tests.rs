//! Redacts single items.

use super::*;
use serde_json::json;

#[test]
fn every_text_is_replaced_but_those_that_say_what_a_thing_is_like() {
    let vocabulary = Vocabulary::of(crate::framework::reason_texts());
    let mut pod = json!({
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "u-1", "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "web", "app.kubernetes.io/name": "web", "tier": "3", "kubernetes.io/os": "linux"},
            "annotations": {"schedscope/other-annotations": "0123", "volume.kubernetes.io/selected-node": "host-a"},
            "ownerReferences": [{"apiVersion": "acme.com/v1", "kind": "Rocket", "name": "r"}, {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web"}]},
        "spec": {"nodeName": "host-a", "schedulerName": "mine", "secret-field": "hush",
            "containers": [{"name": "web", "image": "registry.acme.com/web:1.2", "resources": {"requests": {"cpu": "1", "acme.com/gpu": "2"}}},
                {"name": "b", "image": "web"}, {"name": "c", "image": "web:latest"}],
            "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "web", "effect": "NoSchedule"}]},
        "status": {"conditions": [{"type": "Ready"}, {"type": "acme.com/Ready"}], "images": [{"names": ["web@sha256:0a"]}], "message": "0/3 nodes are available: 1 Insufficient cpu, 2 hush."},
    });
    let mut redactor = Redactor::new(&vocabulary);
    redactor.collect(&mut pod.clone());
    redactor.finish();
    redactor.apply("Pod", &mut pod);
    let r = |text: &str| redactor.of(text);
    let image = |repository: &str, tag: &str| format!("{}:{}", r(repository), r(tag));
    assert_eq!(
        pod,
        json!({
            "metadata": {"name": r("web-1"), "namespace": r("shop"), "uid": r("u-1"), "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {r("app"): r("web"), "app.kubernetes.io/name": r("web"), r("tier"): r("3"), "kubernetes.io/os": "linux"},
                "annotations": {"volume.kubernetes.io/selected-node": r("host-a")},
                "ownerReferences": [{"apiVersion": format!("{}/v1", r("acme.com")), "kind": r("Rocket"), "name": r("r")}, {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": r("web")}]},
            "spec": {"nodeName": r("host-a"), "schedulerName": "mine", "secret-field": r("hush"),
                "containers": [{"name": r("web"), "image": image("registry.acme.com/web", "1.2"), "resources": {"requests": {"cpu": "1", "acme.com/gpu": "2"}}},
                    {"name": r("b"), "image": r("web")}, {"name": r("c"), "image": format!("{}:latest", r("web"))}],
                "tolerations": [{"key": r("dedicated"), "operator": "Equal", "value": r("web"), "effect": "NoSchedule"}]},
            "status": {"conditions": [{"type": "Ready"}, {"type": r("acme.com/Ready")}], "images": [{"names": [image("web@sha256", "0a")]}], "message": format!("0/3 nodes are available: 1 Insufficient cpu, 2 {}.", r("hush"))},
        })
    );
    assert!(r("host-a") < r("shop") && r("shop") < r("web"), "the order stays");
}

#[test]
fn replacements_of_later_texts_sort_like_the_originals() {
    let vocabulary = Vocabulary::of(crate::framework::reason_texts());
    let mut redactor = Redactor::new(&vocabulary);
    let item = |name: &str| json!({"metadata": {"name": name}});
    for name in ["b", "m"] {
        redactor.collect(&mut item(name));
    }
    redactor.finish();
    let early = [redactor.of("b"), redactor.of("m")];
    let mut names = vec!["b".to_owned(), "m".to_owned()];
    // Before, between and behind, again and again at the same place, and several at once.
    for round in 0..40 {
        let new = [format!("a{round:02}"), format!("b{round:02}"), format!("c{:02}", 40 - round), format!("z{round:02}")];
        for name in new {
            redactor.collect(&mut item(&name));
            names.push(name);
        }
        redactor.finish();
        names.sort();
        let labels: Vec<String> = names.iter().map(|name| redactor.of(name)).collect();
        assert!(labels.windows(2).all(|pair| pair[0] < pair[1]), "{names:?} {labels:?}");
    }
    assert_eq!([redactor.of("b"), redactor.of("m")], early);
    for number in 0..2000 {
        redactor.collect(&mut item(&format!("job-{number:05}")));
        redactor.finish();
    }
    let labels: Vec<String> = (0..2000).map(|number| redactor.of(&format!("job-{number:05}"))).collect();
    assert!(labels.is_sorted_by(|a, b| a < b) && labels.iter().all(|label| label.len() < 30), "{:?}", labels.last());
}

/// Returns an item among others, redacted, with `<name>` in place of each replacement of a name.
fn redacted(others: &[Value], item: &Value) -> Value {
    let vocabulary = Vocabulary::of(crate::framework::reason_texts());
    let mut redactor = Redactor::new(&vocabulary);
    for other in others.iter().chain([item]) {
        redactor.collect(&mut other.clone());
    }
    redactor.finish();
    let mut item = item.clone();
    redactor.apply("Node", &mut item);
    let mut text = item.to_string();
    for (replacement, original) in redactor.replacements() {
        text = text
            .replace(&format!("\"{replacement}\""), &format!("\"<{original}>\""))
            .replace(&format!("/{replacement}\""), &format!("/<{original}>\""));
    }
    serde_json::from_str(&text).unwrap()
}

#[test]
fn names_in_open_domains_are_replaced() {
    let node = json!({"metadata": {"labels": {"node-role.kubernetes.io/acme-payments": "", "node-role.kubernetes.io/worker": ""}},
        "spec": {"taints": [{"key": "node-restriction.kubernetes.io/pci-visa", "effect": "NoSchedule"}]}});
    assert_eq!(
        redacted(&[], &node),
        json!({"metadata": {"labels": {"node-role.kubernetes.io/<acme-payments>": "", "node-role.kubernetes.io/worker": ""}},
            "spec": {"taints": [{"key": "node-restriction.kubernetes.io/<pci-visa>", "effect": "NoSchedule"}]}})
    );
}

#[test]
fn conditions_and_reasons_of_ones_own_are_replaced() {
    let item = json!({"conditions": [{"type": "Ready", "reason": "KubeletReady"}, {"type": "AcmeHealthy", "reason": "VisaDown"},
        {"type": "acme.com/Ready", "reason": ""}], "bindingConditions": ["AcmeHealthy"], "bindingFailureConditions": ["acme.com/Ready"]});
    assert_eq!(
        redacted(&[], &item),
        json!({"conditions": [{"type": "Ready", "reason": "KubeletReady"}, {"type": "<AcmeHealthy>", "reason": "<VisaDown>"},
            {"type": "<acme.com/Ready>", "reason": ""}], "bindingConditions": ["<AcmeHealthy>"], "bindingFailureConditions": ["<acme.com/Ready>"]})
    );
}

#[test]
fn attributes_of_devices_are_replaced() {
    let class = json!({"selectors": [{"cel": {"expression": "device.attributes['acme.com'].slot == 'front'"}}]});
    let slice = json!({"devices": [{"attributes": {"serial": {"string": "GPU-1"}, "resource.kubernetes.io/pcieRoot": {"string": "pci0000:00"},
        "model": {"string": "a100"}, "slot": {"string": "front"}, "acme.com/list": {"strings": ["GPU-1"]}, "numa": {"int": 1},
        "driver": {"version": "1.2.3"}}, "capacity": {"memory": {"value": "80Gi"}},
        "consumesCounters": [{"counterSet": "visa", "counters": {"payments-slices": {"value": "4"}}}]}]});
    assert_eq!(
        redacted(&[class], &slice),
        json!({"devices": [{"attributes": {"serial": {"string": "<GPU-1>"}, "resource.kubernetes.io/pcieRoot": {"string": "<pci0000:00>"},
            "model": {"string": "a100"}, "slot": {"string": "front"}, "acme.com/list": {"strings": ["<GPU-1>"]}, "numa": {"int": 1},
            "driver": {"version": "1.2.3"}}, "capacity": {"memory": {"value": "80Gi"}},
            "consumesCounters": [{"counterSet": "<visa>", "counters": {"<payments-slices>": {"value": "4"}}}]}]})
    );
}

#[test]
fn numbers_stay_where_they_are_compared() {
    let pod = json!({"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}, {"key": "account", "operator": "In", "values": ["123456789012"]}]});
    assert_eq!(
        redacted(&[], &pod),
        json!({"matchExpressions": [{"key": "<cores>", "operator": "Gt", "values": ["8"]}, {"key": "<account>", "operator": "In", "values": ["<123456789012>"]}]})
    );
    let node = json!({"spec": {"taints": [{"key": "cores", "value": "16"}, {"key": "account", "value": "16"}]}, "nodeSelector": {"kubernetes.io/hostname": "123456789012"}});
    assert_eq!(
        redacted(&[pod], &node),
        json!({"spec": {"taints": [{"key": "<cores>", "value": "16"}, {"key": "<account>", "value": "<16>"}]}, "nodeSelector": {"kubernetes.io/hostname": "<123456789012>"}})
    );
}

#[test]
fn queues_and_pools_keep_their_amounts_and_links() {
    let vocabulary = Vocabulary::of(crate::framework::reason_texts());
    let mut items = [
        json!({"metadata": {"name": "gpus"}, "spec": {"resourceGroups": [{"flavors": [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]}]}]},
            "status": {"conditions": [{"type": "Active", "status": "False", "reason": "FlavorNotFound"}],
                "flavorsReservation": [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": "6", "borrowed": "0"}]}]}}),
        json!({"metadata": {"name": "team", "namespace": "ml"}, "spec": {"clusterQueue": "gpus"}}),
        json!({"metadata": {"name": "train", "namespace": "ml", "labels": {"kueue.x-k8s.io/queue-name": "team"},
            "annotations": {"autoscaling.x-k8s.io/consume-provisioning-request": "team"}}}),
        json!({"metadata": {"name": "general"}, "spec": {"limits": {"cpu": "8"}}, "status": {"resources": {"cpu": "4", "memory": "8Gi"}}}),
    ];
    let mut redactor = Redactor::new(&vocabulary);
    items.clone().iter_mut().for_each(|item| redactor.collect(item));
    redactor.finish();
    for item in &mut items {
        redactor.apply("x", item);
    }
    let [queue, local, pod, pool] = items;
    let flavor = &queue["spec"]["resourceGroups"][0]["flavors"][0];
    assert_eq!(flavor["resources"][0]["nominalQuota"], "8");
    let reserved = &queue["status"]["flavorsReservation"][0];
    assert_eq!((&reserved["resources"][0]["total"], &reserved["resources"][0]["borrowed"]), (&json!("6"), &json!("0")));
    assert_eq!((&reserved["name"], &reserved["resources"][0]["name"]), (&flavor["name"], &flavor["resources"][0]["name"]));
    assert_eq!(queue["status"]["conditions"][0], json!({"type": "Active", "status": "False", "reason": "FlavorNotFound"}));
    assert_eq!((&local["spec"]["clusterQueue"], &queue["metadata"]["name"] == "gpus"), (&queue["metadata"]["name"], false));
    assert_eq!(pod["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], local["metadata"]["name"]);
    assert_eq!(pod["metadata"]["annotations"]["autoscaling.x-k8s.io/consume-provisioning-request"], local["metadata"]["name"]);
    assert_eq!(pool["status"]["resources"], json!({"cpu": "4", "memory": "8Gi"}));
}
