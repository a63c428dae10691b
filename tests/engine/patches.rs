//! Small clusters on which releases decide differently: above all one for each change that came with a
//! patch, in every minor version that it came to.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use pretty_assertions::assert_eq;
use schedscope::cluster::Key;
use schedscope::release::{Emulation, FeatureGates, Profile};
use schedscope::scheduler::{Config, Evictions, Operation, Options, Sampling, Scheduler};
use schedscope::trace::Event;
use serde_json::{Value, json};

use crate::deciding::decision;
use crate::recorded::object;

const AFTER: &str = "2026-11-20T00:00:00Z";

fn profile(version: &str) -> &'static Profile {
    Profile::named(&format!("v{version}")).unwrap_or_else(|| panic!("{version} is not known"))
}

fn scheduler_with(version: &str, gates: &str, objects: &[Value]) -> Scheduler {
    let release = profile(version);
    let config = Config::defaults(Emulation::new(release, FeatureGates::parse(gates, release).unwrap()));
    let sampling = Sampling { all_nodes: true, ..Sampling::default() };
    let objects = objects.iter().map(|value| object(value).unwrap()).collect();
    let options = Options { start: AFTER.parse().unwrap(), sampling, evictions: Evictions::Marked, ..Options::default() };
    Scheduler::new(config, objects, options)
}

fn scheduler(version: &str, objects: &[Value]) -> Scheduler {
    scheduler_with(version, "", objects)
}

/// The decision about pod `n/p`.
fn decide(version: &str, objects: &[Value]) -> Value {
    decision(&scheduler(version, objects), &Key::new("n", "p"))
}

/// Asserts the answer of each version.
#[track_caller]
fn assert_each<T: PartialEq + std::fmt::Debug>(answer: impl Fn(&str) -> T, expected: &[(&[&str], T)]) {
    for (versions, expected) in expected {
        for version in *versions {
            assert_eq!(&answer(version), expected, "{version}");
        }
    }
}

fn node(name: &str, cpu: &str, spec: &Value) -> Value {
    json!({"kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "20"}}})
}

fn pod(name: &str, cpu: &str, priority: i64, spec: &Value) -> Value {
    let mut own = json!({"schedulerName": "default-scheduler", "priority": priority,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]});
    own.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": "n", "uid": name, "labels": {"app": name},
        "creationTimestamp": "2026-11-19T00:00:00Z"}, "spec": own, "status": {"phase": "Pending"}})
}

fn bound(name: &str, cpu: &str, priority: i64, to: &str) -> Value {
    let mut pod = pod(name, cpu, priority, &json!({"nodeName": to}));
    pod["status"] = json!({"phase": "Running", "startTime": "2026-11-19T00:00:00Z", "qosClass": "Burstable"});
    pod
}

/// An affinity to the nodes of these names, which NodeAffinity's PreFilter reads.
fn named(names: &[&str]) -> Value {
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        names.iter().map(|name| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]})).collect::<Vec<_>>()}}}})
}

fn names(value: &Value) -> String {
    value.as_array().map(|all| all.iter().map(|v| v.as_str().unwrap()).collect::<Vec<_>>().join(" ")).unwrap_or_default()
}

#[test]
fn the_first_rejection_ends_the_filters() {
    let objects = [node("a", "1", &json!({"taints": [{"key": "k", "effect": "NoSchedule"}]})), pod("p", "2", 0, &json!({}))];
    let reasons = |version: &str| decide(version, &objects)["filter"][0]["reasons"].as_array().unwrap().len();
    assert_each(reasons, &[(&["1.24.4", "1.24.9", "1.25.2", "1.25.5"], 2), (&["1.24.10", "1.25.6", "1.25.9"], 1)]);
}

#[test]
fn preemption_passes_over_nodes_that_pre_filter_rejected() {
    let claimed = pod("p", "1", 9, &json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]}));
    let objects = [node("a", "1", &json!({})), bound("low", "1", 0, "a"), claimed];
    let tried = |version: &str| decide(version, &objects)["preemption"]["nodeStatuses"].as_array().unwrap().len();
    assert_each(tried, &[(&["1.26.8", "1.27.1", "1.27.5"], 1), (&["1.26.9", "1.26.15", "1.27.6", "1.28.3"], 0)]);
}

/// The status of the victim that `n/p` evicts.
fn victim_status(version: &str) -> Value {
    let objects = [node("a", "1", &json!({})), bound("low", "1", 0, "a"), pod("p", "1", 9, &json!({}))];
    let mut scheduler = scheduler(version, &objects);
    scheduler.apply(Operation::Schedule);
    let victim = scheduler.state().cluster().pods.get(&Key::new("n", "low")).expect("it terminates").clone();
    serde_json::to_value(&victim.status).unwrap()
}

#[test]
fn a_victim_is_patched_on_the_basis_of_one_pod_or_the_other() {
    assert_each(
        |version| victim_status(version)["phase"].as_str().unwrap_or_default().to_owned(),
        &[
            (&["1.26.10", "1.27.1", "1.27.7", "1.28.3"], "Running".to_owned()),
            (&["1.26.11", "1.26.15", "1.27.8", "1.27.16", "1.28.4", "1.28.13", "1.29.8", "1.30.4", "1.31.0"], "Pending".to_owned()),
            (&["1.28.14", "1.28.15", "1.29.9", "1.29.14", "1.30.5", "1.30.14", "1.31.1", "1.31.14", "1.32.13"], "Running".to_owned()),
        ],
    );
}

#[test]
fn nodes_that_pre_filter_excludes_have_a_status_in_some_patches() {
    let objects = [node("a", "1", &json!({})), node("b", "1", &json!({})), bound("low", "1", 0, "b"), pod("p", "2", 9, &named(&["a"]))];
    let message = |version: &str| decide(version, &objects)["message"].as_str().unwrap().split(". ").next().unwrap().to_owned();
    let counted = "0/2 nodes are available: 1 Insufficient cpu, 1 node is filtered out by the prefilter result".to_owned();
    let silent = "0/2 nodes are available: 1 Insufficient cpu".to_owned();
    assert_each(
        message,
        &[
            (&["1.27.1", "1.27.13", "1.28.3", "1.28.9", "1.29.1", "1.29.4"], silent.clone()),
            (&["1.27.14", "1.28.10", "1.29.5", "1.30.1"], counted),
            (&["1.27.15", "1.27.16", "1.28.11", "1.28.15", "1.29.6", "1.29.14", "1.30.2", "1.30.14", "1.31.0", "1.31.14"], silent),
        ],
    );
}

#[test]
fn preemption_considers_excluded_nodes_in_some_patches() {
    let objects = [
        node("a", "1", &json!({})),
        node("b", "1", &json!({})),
        bound("low", "1", 0, "a"),
        bound("high", "1", 99, "b"),
        pod("p", "1", 9, &named(&["b"])),
    ];
    let dry_run = |version: &str| {
        let preemption = decide(version, &objects)["preemption"].clone();
        let tried = preemption["nodeStatuses"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|s| s["code"] == "UnschedulableAndUnresolvable" && s["node"] == "a");
        (tried.count(), preemption["nodeStatuses"].as_array().unwrap().len())
    };
    assert_each(
        dry_run,
        &[
            (&["1.27.6", "1.27.13", "1.28.9", "1.29.4"], (1, 2)),
            (&["1.27.14", "1.27.15", "1.28.10", "1.28.11", "1.29.5", "1.29.6", "1.30.1", "1.30.2"], (0, 1)),
        ],
    );
}

#[test]
fn missing_nodes_end_an_attempt_in_some_patches() {
    let objects = [node("a", "1", &json!({})), pod("p", "1", 0, &named(&["gone"]))];
    let outcome = |version: &str| {
        let message = decide(version, &objects)["message"].as_str().unwrap().to_owned();
        ["not found", "divide by zero"].into_iter().find(|part| message.contains(part)).unwrap_or("passes").to_owned()
    };
    let of = |text: &str| text.to_owned();
    assert_each(
        outcome,
        &[
            (&["1.27.13", "1.28.9", "1.29.4"], of("not found")),
            (&["1.27.14", "1.28.10", "1.29.5", "1.30.1"], of("divide by zero")),
            (&["1.27.15", "1.28.11", "1.29.6", "1.30.2", "1.31.1"], of("passes")),
        ],
    );
}

#[test]
fn local_volumes_are_checked_node_by_node() {
    let host = json!({"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": ["label-of-a"]}]}]}}, "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"], "local": {"path": "/x"}, "claimRef": {"name": "c", "namespace": "n", "uid": "c"}});
    let mut labelled = node("a", "1", &json!({}));
    labelled["metadata"]["labels"]["kubernetes.io/hostname"] = "label-of-a".into();
    let objects = [
        labelled,
        node("b", "1", &json!({})),
        json!({"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": host, "status": {"phase": "Bound"}}),
        json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "n", "uid": "c",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"volumeName": "v", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            "status": {"phase": "Bound"}}),
        pod("p", "1", 0, &json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]})),
    ];
    // The label does not have the name of the node, which narrowing takes for granted.
    let feasible = |version: &str| names(&decide(version, &objects)["feasible"]);
    assert_each(
        feasible,
        &[
            (&["1.29.10", "1.30.1", "1.30.6", "1.31.1", "1.31.2"], String::new()),
            (&["1.29.11", "1.29.14", "1.30.7", "1.30.14", "1.31.3", "1.31.14", "1.32.2"], "a".to_owned()),
        ],
    );
}

#[test]
fn victims_inside_and_outside_a_budget_are_sorted_together() {
    let budget = json!({"kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "n"},
        "spec": {"selector": {"matchLabels": {"app": "kept"}}}, "status": {"disruptionsAllowed": 0}});
    let objects = [
        node("a", "2", &json!({})),
        node("b", "2", &json!({})),
        bound("kept", "1", 1, "a"),
        bound("high", "1", 5, "a"),
        bound("other", "1", 1, "b"),
        bound("third", "1", 4, "b"),
        budget,
        pod("p", "2", 9, &named(&["a"])),
    ];
    let victims = |version: &str| names(&decide(version, &objects)["preemption"]["candidates"][0]["victims"]);
    assert_each(
        victims,
        &[
            (&["1.28.15", "1.29.10", "1.30.6", "1.31.1", "1.31.2"], "n/kept n/high".to_owned()),
            (&["1.29.11", "1.29.14", "1.30.7", "1.30.14", "1.31.3", "1.31.14", "1.32.2"], "n/high n/kept".to_owned()),
        ],
    );
}

/// With victims inside a budget on both nodes, the first victim of each list decides.
#[test]
fn another_node_is_chosen_once_victims_are_sorted() {
    let budget = json!({"kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "n"},
        "spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["kept", "other"]}]}},
        "status": {"disruptionsAllowed": 0}});
    let objects = [
        node("a", "2", &json!({})),
        node("b", "2", &json!({})),
        bound("kept", "1", 1, "a"),
        bound("high", "1", 5, "a"),
        bound("other", "1", 2, "b"),
        bound("third", "1", 3, "b"),
        budget,
        pod("p", "2", 9, &json!({})),
    ];
    let selected = |version: &str| decide(version, &objects)["preemption"]["selected"].as_str().unwrap().to_owned();
    assert_each(
        selected,
        &[(&["1.29.10", "1.30.6", "1.31.2"], "a".to_owned()), (&["1.29.11", "1.30.7", "1.31.3", "1.31.14", "1.36.2"], "b".to_owned())],
    );
}

#[test]
fn host_ports_of_sidecars_count() {
    let port = json!([{"containerPort": 80, "hostPort": 80}]);
    let sidecar = json!({"initContainers": [{"name": "s", "restartPolicy": "Always", "ports": port}]});
    let mut first = bound("first", "1m", 0, "a");
    first["spec"]["initContainers"] = sidecar["initContainers"].clone();
    let objects = [node("a", "1", &json!({})), first, pod("p", "1m", 0, &sidecar)];
    let outcome = |version: &str| decide(version, &objects)["outcome"].as_str().unwrap().to_owned();
    assert_each(
        outcome,
        &[(&["1.32.13", "1.33.0", "1.33.5"], "scheduled".to_owned()), (&["1.33.6", "1.33.13", "1.34.1"], "unschedulable".to_owned())],
    );
}

#[test]
fn untolerated_taints_are_named_up_to_a_patch() {
    let objects = [node("a", "1", &json!({"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]})), pod("p", "1", 0, &json!({}))];
    let reason = |version: &str| decide(version, &objects)["filter"][0]["reasons"][0].as_str().unwrap().to_owned();
    assert_each(
        reason,
        &[
            (&["1.33.13", "1.34.1"], "node(s) had untolerated taint {k: v}".to_owned()),
            (&["1.34.2", "1.34.9", "1.35.0", "1.36.3"], "node(s) had untolerated taint(s)".to_owned()),
        ],
    );
}

#[test]
fn terminating_victims_are_deleted_again_in_some_patches() {
    let mut leaving = bound("leaving", "1", 0, "a");
    leaving["metadata"]["deletionTimestamp"] = "2026-11-20T01:00:00Z".into();
    let objects = [node("a", "1", &json!({})), leaving, pod("p", "1", 9, &json!({}))];
    let evictions = |version: &str| {
        let events = scheduler(version, &objects).apply(Operation::Schedule);
        events.iter().filter(|event| matches!(event, Event::VictimEvicted { .. })).count()
    };
    assert_each(evictions, &[(&["1.33.13", "1.34.2", "1.34.9"], 1), (&["1.34.1", "1.35.0", "1.35.6", "1.36.2"], 0)]);
}

#[test]
fn a_default_gate_follows_the_patch() {
    let on = |gate: &str, version: &str| {
        let release = profile(version);
        FeatureGates::parse(&format!("{gate}=false"), release).is_ok_and(|gates| gates.changes(release).is_empty())
    };
    for (version, off) in [("1.28.5", false), ("1.28.6", true), ("1.28.15", true)] {
        assert_eq!(on("SchedulerQueueingHints", version), off, "{version}");
    }
    // A gate that is not emulated may be set to its default only.
    let refused = |version: &str| FeatureGates::parse("SchedulerAsyncAPICalls=false", profile(version)).is_err();
    assert_each(refused, &[(&["1.34.1", "1.35.0"], true), (&["1.34.2", "1.34.9", "1.35.1", "1.35.6"], false)]);
}

/// The event of a new node moves no pod that SchedulingGates gates in any patch, because that plugin registers none.
#[test]
fn events_leave_gated_pods_alone() {
    let kind = |version: &str| format!("{:?}", profile(version).behaviour.queue.gated_pods);
    assert_each(
        kind,
        &[
            (&["1.27.14", "1.28.10", "1.29.5", "1.30.1"], "AsOthers".to_owned()),
            (&["1.27.15", "1.27.16", "1.28.11", "1.29.6", "1.30.2"], "Stay".to_owned()),
            (&["1.28.12", "1.28.15", "1.29.7", "1.29.14", "1.30.3", "1.30.14", "1.31.1"], "HeldByGates".to_owned()),
        ],
    );
    let gated = pod("p", "1", 0, &json!({"schedulingGates": [{"name": "g"}]}));
    for version in ["1.28.10", "1.28.11", "1.28.12"] {
        let mut scheduler = scheduler(version, std::slice::from_ref(&gated));
        scheduler.apply(Operation::Create { object: object(&node("a", "1", &json!({}))).unwrap() });
        assert_eq!(scheduler.state().queue().len(), (0, 0, 1), "{version}");
    }
}

/// The filters of a profile that lists three of those that multiPoint implies.
#[test]
fn overriding_plugins_are_loaded_once() {
    let filters = |version: &str| {
        let list = ["TaintToleration", "NodePorts", "NodeName"].map(|name| json!({"name": name}));
        let text = json!({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": {"filter": {"enabled": list}}}]});
        let config = Config::parse(&text.to_string(), profile(version).into()).unwrap();
        config.profiles[0].filter.iter().map(|plugin| plugin.name().to_string()).collect::<Vec<_>>()
    };
    let begins = |version: &str| filters(version)[..3].join(" ");
    let listed = "TaintToleration NodePorts NodeName".to_owned();
    for version in ["1.26.12", "1.27.9", "1.28.5", "1.29.0"] {
        assert_ne!(begins(version), listed, "{version}");
    }
    assert_each(begins, &[(&["1.26.13", "1.27.10", "1.28.6", "1.29.1", "1.29.14"], listed)]);
}

/// Where the next search starts after one among the nodes that PreFilter left.
#[test]
fn the_start_of_the_next_search_wraps_around_at_a_number_of_nodes() {
    let objects = [node("a", "1", &json!({})), node("b", "1", &json!({})), node("c", "1", &json!({})), pod("p", "1", 0, &named(&["b"]))];
    let start = |version: &str| {
        let mut scheduler = scheduler(version, &objects);
        scheduler.apply(Operation::Schedule);
        scheduler.state().next_start_node_index()
    };
    assert_each(start, &[(&["1.27.13", "1.28.9", "1.29.4", "1.30.1"], 0), (&["1.27.15", "1.28.11", "1.29.6", "1.30.2", "1.31.1"], 1)]);
}

/// The decision about pod `n/p` under a configuration that enables or disables plugins.
fn decide_with(version: &str, plugins: &Value, objects: &[Value]) -> (Scheduler, Value) {
    let profiles = json!([{"schedulerName": "default-scheduler", "plugins": plugins}]);
    let text = json!({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles});
    let config = Config::parse(&text.to_string(), Emulation::from(profile(version))).unwrap();
    let objects = objects.iter().map(|value| object(value).unwrap()).collect();
    let options = Options { start: AFTER.parse().unwrap(), ..Options::default() };
    let scheduler = Scheduler::new(config, objects, options);
    let decision = decision(&scheduler, &Key::new("n", "p"));
    (scheduler, decision)
}

/// A release whose gate of DynamicResources is off accepts the plugin, which then only answers PostFilter.
#[test]
fn a_disabled_dynamic_resources_precedes_preemption_in_the_message() {
    let objects = [node("a", "1", &json!({})), pod("p", "2", 0, &json!({}))];
    let order =
        json!({"postFilter": {"enabled": [{"name": "DynamicResources"}, {"name": "DefaultPreemption"}], "disabled": [{"name": "*"}]}});
    for version in ["1.28.3", "1.30.1", "1.33.0"] {
        let (_, decision) = decide_with(version, &order, &objects);
        let message = decision["message"].as_str().unwrap();
        let begins = "0/1 nodes are available: 1 Insufficient cpu. plugin disabled, preemption: 0/1 nodes are available: ";
        assert!(message.starts_with(begins), "{version}: {message}");
        assert!(decision["notEmulated"].as_array().is_none_or(Vec::is_empty), "{version}");
    }
}

/// Before 1.28 the API has no `restartPolicy` of init containers.
#[test]
fn sidecars_are_init_containers_where_the_release_has_none() {
    let more = json!({"initContainers": [{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "2"}}}]});
    let objects = [node("a", "2500m", &json!({})), pod("p", "1", 0, &more)];
    let outcome = |version: &str| decide(version, &objects)["outcome"].as_str().unwrap().to_owned();
    let (fits, does_not) = ("scheduled".to_owned(), "unschedulable".to_owned());
    assert_each(outcome, &[(&["1.24.4", "1.27.1", "1.27.16"], fits), (&["1.28.3", "1.29.1", "1.36.2"], does_not)]);
}

/// With its Filter off, DynamicResources has found no devices when Reserve runs.
#[test]
fn a_dry_decision_fails_where_reserve_fails() {
    let claim = json!({"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "c", "namespace": "n", "uid": "c"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}});
    let class = json!({"kind": "DeviceClass", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "gpu"}, "spec": {}});
    let objects =
        [node("a", "2", &json!({})), claim, class, pod("p", "1", 0, &json!({"resourceClaims": [{"name": "x", "resourceClaimName": "c"}]}))];
    let (mut scheduler, decision) = decide_with("1.36.2", &json!({"filter": {"disabled": [{"name": "DynamicResources"}]}}), &objects);
    let text = "running Reserve plugin \"DynamicResources\": claim allocation not found for node";
    assert_eq!((decision["outcome"].as_str(), decision["message"].as_str()), (Some("error"), Some(text)));
    let said = scheduler.apply(Operation::Schedule).into_iter().find_map(|event| match event {
        Event::AttemptFailed { failure, .. } => Some(failure.message.to_string()),
        _ => None,
    });
    assert_eq!(said.as_deref(), Some(text), "a run says the same");
}

/// 1.37 has storage scoring on, and names the node that preemption found.
#[test]
fn the_release_after_scores_storage_and_announces_preemption() {
    let objects = [node("a", "2", &json!({})), node("b", "2", &json!({})), pod("p", "1", 0, &json!({}))];
    let scored = |version: &str| decide(version, &objects)["score"][0]["plugins"]["VolumeBinding"].as_i64();
    assert_each(scored, &[(&["1.36.2", "1.36.3"], None), (&["1.37.0"], Some(0))]);
    let objects = [node("a", "1", &json!({})), bound("low", "1", 0, "a"), pod("p", "1", 9, &json!({}))];
    let message = |version: &str| decide(version, &objects)["message"].as_str().unwrap().to_owned();
    let plain = "0/1 nodes are available: 1 Insufficient cpu.".to_owned();
    let announced = format!("{plain} preemption: found a potential placement for pod on node a, preempting 1 victims");
    assert_each(message, &[(&["1.31.1", "1.36.3"], plain), (&["1.37.0"], announced)]);
}
