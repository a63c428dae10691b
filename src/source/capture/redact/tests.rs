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
    redactor.collect("", &mut pod.clone());
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
        redactor.collect("", &mut item(name));
    }
    redactor.finish();
    let early = [redactor.of("b"), redactor.of("m")];
    let mut names = vec!["b".to_owned(), "m".to_owned()];
    // Before, between and behind, again and again at the same place, and several at once.
    for round in 0..40 {
        let new = [format!("a{round:02}"), format!("b{round:02}"), format!("c{:02}", 40 - round), format!("z{round:02}")];
        for name in new {
            redactor.collect("", &mut item(&name));
            names.push(name);
        }
        redactor.finish();
        names.sort();
        let labels: Vec<String> = names.iter().map(|name| redactor.of(name)).collect();
        assert!(labels.windows(2).all(|pair| pair[0] < pair[1]), "{names:?} {labels:?}");
    }
    assert_eq!([redactor.of("b"), redactor.of("m")], early);
    for number in 0..2000 {
        redactor.collect("", &mut item(&format!("job-{number:05}")));
        redactor.finish();
    }
    let labels: Vec<String> = (0..2000).map(|number| redactor.of(&format!("job-{number:05}"))).collect();
    assert!(labels.is_sorted_by(|a, b| a < b) && labels.iter().all(|label| label.len() < 30), "{:?}", labels.last());
}

/// Returns items of kinds, redacted together.
fn all_redacted(items: &[(&str, Value)]) -> (Vec<Value>, BTreeMap<String, String>) {
    let vocabulary = Vocabulary::of(crate::framework::reason_texts());
    let mut redactor = Redactor::new(&vocabulary);
    for (kind, item) in items {
        redactor.collect(kind, &mut item.clone());
    }
    redactor.finish();
    let mut items = items.to_vec();
    for (kind, item) in &mut items {
        redactor.apply(kind, item);
    }
    (items.into_iter().map(|(_, item)| item).collect(), redactor.replacements())
}

#[test]
fn controllers_whose_pods_a_node_avoids_stay_the_same_as_their_pods() {
    let annotation = |value: &str| json!({"metadata": {"name": "n", "annotations": {PREFER_AVOID_PODS: value}}});
    let controller = json!({"apiVersion": "v1", "kind": "ReplicationController", "name": "rc", "uid": "uid-1", "controller": true});
    let avoid = json!({"preferAvoidPods": [{"podSignature": {"podController": controller}, "reason": "hush"}]}).to_string();
    let (items, _) = all_redacted(&[
        ("Node", annotation(&avoid)),
        ("Node", annotation("hush")),
        ("Pod", json!({"metadata": {"name": "p", "namespace": "d", "ownerReferences": [controller]}})),
    ]);
    let avoided = |node: &Value| avoided_controllers(node["metadata"]["annotations"][PREFER_AVOID_PODS].as_str().unwrap());
    let owner = &items[2]["metadata"]["ownerReferences"][0];
    let expected = AvoidedController {
        kind: "ReplicationController".into(),
        uid: owner["uid"].as_str().filter(|uid| *uid != "uid-1").unwrap().into(),
    };
    assert_eq!(avoided(&items[0]), [expected]);
    assert!(avoided(&items[1]).is_empty());
    assert!(!items[0].to_string().contains("hush") && !items[1].to_string().contains("hush"), "{items:?}");
}

/// Checks that a pod and its ephemeral volume derive the name of a claim.
fn assert_derived(claim: &Value, pod: &Value) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let derived = format!("{}-{}", text(&pod["metadata"]["name"]), text(&pod["spec"]["volumes"][0]["name"]));
    assert_eq!(claim, &json!(derived));
}

#[test]
fn claims_of_pods_in_two_namespaces_stay_derived_from_their_pods() {
    let pod = |namespace: &str, name: &str, volume: &str| json!({"metadata": {"name": name, "namespace": namespace}, "spec": {"volumes": [{"name": volume, "ephemeral": {}}]}});
    let claim = |namespace: &str, owner: &str| json!({"metadata": {"name": "a-b-c", "namespace": namespace, "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": owner}]}});
    let volume = |namespace: &str| json!({"spec": {"claimRef": {"namespace": namespace, "name": "a-b-c"}}});
    let user = |namespace: &str| {
        json!({"metadata": {"name": "u", "namespace": namespace, "labels": {"x": "a-b-c"}},
            "spec": {"nodeName": "a-b-c", "volumes": [{"persistentVolumeClaim": {"claimName": "a-b-c"}}]},
            "message": "persistentvolumeclaim \"a-b-c\" not found"})
    };
    let event = json!({"metadata": {"name": "e", "namespace": "n2"},
        "involvedObject": {"kind": "PersistentVolumeClaim", "namespace": "n2", "name": "a-b-c"}});
    // Within `n2`, a pod that does not own the claim derives its name as well.
    let (items, replacements) = all_redacted(&[
        ("Pod", pod("n1", "a-b", "c")),
        ("Pod", pod("n2", "a-b", "c")),
        ("Pod", pod("n2", "a", "b-c")),
        ("PersistentVolumeClaim", claim("n1", "a-b")),
        ("PersistentVolumeClaim", claim("n2", "a")),
        ("PersistentVolume", volume("n1")),
        ("PersistentVolume", volume("n2")),
        ("Pod", user("n1")),
        ("Pod", user("n2")),
        ("Event", event),
        ("Node", json!({"metadata": {"name": "a-b-c"}})),
    ]);
    for (at, pod) in [(0, &items[0]), (1, &items[2])] {
        assert_derived(&items[3 + at]["metadata"]["name"], pod);
        assert_derived(&items[5 + at]["spec"]["claimRef"]["name"], pod);
        let user = &items[7 + at];
        assert_derived(&user["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"], pod);
        let name = items[3 + at]["metadata"]["name"].as_str().unwrap();
        assert_eq!(user["message"], format!("persistentvolumeclaim \"{name}\" not found"));
        assert_eq!(replacements.get(name).map(String::as_str), Some("a-b-c"));
        // Other names are compared across namespaces.
        assert_eq!(
            (&user["spec"]["nodeName"], &user["metadata"]["labels"]),
            (&items[10]["metadata"]["name"], &items[7]["metadata"]["labels"])
        );
    }
    assert_derived(&items[9]["involvedObject"]["name"], &items[2]);
}

#[test]
fn a_volume_with_a_name_that_is_kept_still_derives_its_claim() {
    let (items, _) = all_redacted(&[
        ("Pod", json!({"metadata": {"name": "default", "namespace": "d"}, "spec": {"volumes": [{"name": "yes", "ephemeral": {}}]}})),
        ("PersistentVolumeClaim", json!({"metadata": {"name": "default-yes", "namespace": "d"}})),
    ]);
    assert_derived(&items[1]["metadata"]["name"], &items[0]);
}

#[test]
fn keys_that_users_chose_are_replaced_in_objects_with_all_their_fields() {
    let (items, _) = all_redacted(&[
        ("PodGroup", json!({"spec": {"minMember": 3, "minTaskMember": {"hush-task": 2, "name": 1}}, "status": {"phase": "Inqueue"}})),
        (
            "PodGroup",
            json!({"status": {"phase": "hush phase", "conditions": [{"type": "Scheduled", "status": "hush"}, {"status": "True"}]}}),
        ),
        (
            "ProvisioningRequest",
            json!({"spec": {"parameters": {"hush-key": "hush"}}, "status": {"provisioningClassDetails": {"hush": "x"}}}),
        ),
        (
            "Workload",
            json!({"status": {"admission": {"podSetAssignments": [{"flavors": {"cpu": "hush", "acme.com/gpu": "hush", "hush": "hush"},
            "resourceUsage": {"cpu": "1"}}]}}}),
        ),
        (
            "JobSet",
            json!({"spec": {"replicatedJobs": [{"template": {"spec": {"template": {"spec": {
            "volumes": [{"csi": {"driver": "d.io", "volumeAttributes": {"driver": "hush"}}}, {"flexVolume": {"options": {"hush": "x"}}}],
            "containers": [{"resources": {"requests": {"cpu": "1", "memory": "hush"}}}]}}}}}]}}),
        ),
        ("NodePool", json!({"spec": {"template": {"spec": {"kubelet": {"evictionHard": {"hush": "1"}}}}}})),
        ("Pod", json!({"spec": {"containers": [{"resources": {"requests": {"acme.com/gpu": "1"}}}]}})),
    ]);
    let text = Value::from(items.clone()).to_string();
    assert!(!text.contains("hush"), "{text}");
    let [group, other, _, workload, set, ..] = &items[..] else { panic!("{items:?}") };
    assert_eq!((&group["spec"]["minMember"], &group["status"]["phase"]), (&json!(3), &json!("Inqueue")));
    assert_eq!(group["spec"]["minTaskMember"].as_object().unwrap().get("name"), None);
    assert_eq!(
        (&other["status"]["conditions"][0]["type"], &other["status"]["conditions"][1]["status"]),
        (&json!("Scheduled"), &json!("True"))
    );
    let flavors = workload["status"]["admission"]["podSetAssignments"][0]["flavors"].as_object().unwrap();
    assert!(flavors["cpu"] == flavors["acme.com/gpu"] && flavors.len() == 3, "{flavors:?}");
    let spec = &set["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"];
    assert_eq!(
        (&spec["volumes"][0]["csi"]["driver"], &spec["containers"][0]["resources"]["requests"]["cpu"]),
        (&json!("d.io"), &json!("1"))
    );
}

#[test]
fn known_components_groups_and_drivers_are_kept_and_others_replaced() {
    let event = |component: &str| ("Event", json!({"reportingComponent": component}));
    let reserved = |group: &str, resource: &str| ("ResourceClaim", json!({"reservedFor": [{"apiGroup": group, "resource": resource}]}));
    let (items, _) = all_redacted(&[
        event("kubelet"),
        event("ephemeral_volume"),
        event("acme-scheduler"),
        event("ebs.csi.aws.com_hush-0"),
        event("hush_operator"),
        event("hush-operator"),
        reserved("", "pods"),
        reserved("scheduling.k8s.io", "podgroups"),
        reserved("hush.k8s.io", "hushes"),
        ("Node", json!({"metadata": {"labels": {"team-hush.kubernetes.io/gpu": "1", "hush.k8s.io/role": "1"}}})),
        (
            "Pod",
            json!({"metadata": {"ownerReferences": [{"apiVersion": "hush.k8s.io/v1"}, {"apiVersion": "kueue.x-k8s.io/v1beta1"}]},
            "spec": {"schedulerName": "acme-scheduler"}}),
        ),
        ("CSIDriver", json!({"metadata": {"name": "ebs.csi.aws.com"}})),
    ]);
    let text = Value::from(items.clone()).to_string();
    assert!(!text.contains("hush"), "{text}");
    let component = |at: usize| items[at]["reportingComponent"].as_str().unwrap();
    assert_eq!([component(0), component(1), component(2)], ["kubelet", "ephemeral_volume", "acme-scheduler"]);
    assert!(component(3).starts_with("ebs.csi.aws.com_r"), "{}", component(3));
    assert_eq!(items[6], json!({"reservedFor": [{"apiGroup": "", "resource": "pods"}]}));
    assert_eq!(items[7], json!({"reservedFor": [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups"}]}));
    assert_eq!(items[10]["metadata"]["ownerReferences"][1]["apiVersion"], "kueue.x-k8s.io/v1beta1");
}

/// Returns an item among others, redacted, with `<name>` in place of each replacement of a name.
fn redacted(others: &[Value], item: &Value) -> Value {
    let vocabulary = Vocabulary::of(crate::framework::reason_texts());
    let mut redactor = Redactor::new(&vocabulary);
    for other in others.iter().chain([item]) {
        redactor.collect("", &mut other.clone());
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
    items.clone().iter_mut().for_each(|item| redactor.collect("", item));
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
