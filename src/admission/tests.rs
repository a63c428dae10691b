use serde_json::{Value, json};

use super::*;
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Object, Quantity};

fn cluster(objects: &[Value]) -> Cluster {
    objects.iter().map(|object| serde_json::from_value::<Object>(object.clone()).unwrap()).collect()
}

fn policies(objects: &[Value]) -> Policies {
    let mut policies = Policies::default();
    for object in objects {
        let (kind, _) = policies.insert(object).unwrap().unwrap();
        policies.add_known(kind);
    }
    policies
}

fn pod(spec: &Value) -> Value {
    json!({"metadata": {"name": "web-0", "namespace": "shop", "labels": {"app": "web"}}, "spec": spec})
}

fn container(resources: &Value) -> Value {
    json!({"containers": [{"name": "c", "resources": resources}]})
}

fn admitted(objects: &[Value], rules: &[Value], spec: &Value) -> Result<Pod, String> {
    admit(&cluster(objects), &policies(rules), Emulation::default(), &pod(spec)).map_err(|refused| refused.to_string())
}

fn refused(objects: &[Value], rules: &[Value], spec: &Value) -> String {
    admitted(objects, rules, spec).unwrap_err()
}

fn quota(spec: &Value, used: Option<&Value>) -> Value {
    let mut quota =
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "compute", "namespace": "shop"}, "spec": spec});
    if let Some(used) = used {
        quota["status"] = json!({"hard": spec["hard"], "used": used});
    }
    quota
}

#[test]
fn a_pod_gets_the_defaults_of_an_api_server() {
    let classes = [
        json!({"kind": "PriorityClass", "metadata": {"name": "usual"}, "value": 5, "globalDefault": true, "preemptionPolicy": "Never"}),
        json!({"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}),
    ];
    let found = admitted(&classes, &[], &container(&json!({"limits": {"cpu": "2"}}))).unwrap();
    let spec = &found.spec;
    assert_eq!((spec.scheduler_name.as_str(), spec.restart_policy.as_deref()), ("default-scheduler", Some("Always")));
    assert_eq!((spec.priority, spec.priority_class_name.as_str(), spec.preemption_policy.as_deref()), (Some(5), "usual", Some("Never")));
    assert_eq!((spec.termination_grace_period_seconds, found.status.phase.as_str()), (Some(30), "Pending"));
    assert_eq!(spec.containers[0].resources.requests.get("cpu"), Some(&Quantity::units(2)));
    let tolerated: Vec<_> = spec.tolerations.iter().map(|t| (t.key.as_str(), t.effect.as_str())).collect();
    assert_eq!(tolerated, [("node.kubernetes.io/not-ready", "NoExecute"), ("node.kubernetes.io/unreachable", "NoExecute")]);

    let mut own = container(&json!({}));
    own["priorityClassName"] = json!("high");
    own["tolerations"] = json!([{"operator": "Exists"}]);
    own["hostNetwork"] = json!(true);
    own["containers"][0]["ports"] = json!([{"containerPort": 80}]);
    let found = admitted(&classes, &[], &own).unwrap();
    assert_eq!((found.spec.priority, found.spec.preemption_policy.as_deref()), (Some(9), Some("PreemptLowerPriority")));
    assert_eq!((found.spec.tolerations.len(), found.spec.containers[0].ports[0].host_port), (1, Some(80)));
    assert_eq!(admitted(&[], &[], &container(&json!({}))).unwrap().spec.priority, Some(0));
}

#[test]
fn names_and_labels_are_checked_as_by_an_api_server() {
    let refused = |metadata: Value| {
        let pod = json!({"metadata": metadata, "spec": container(&json!({}))});
        let found = admit(&Cluster::default(), &Policies::default(), Emulation::default(), &pod);
        found.map_or_else(|refused| refused.to_string(), |_| String::new())
    };
    let (most, label) = ("n".repeat(253), "l".repeat(63));
    assert_eq!(refused(json!({"name": most, "labels": {format!("{most}/{label}"): label, "A_b": ""}})), "");
    for (metadata, begin) in [
        (json!({"name": "Web_1"}), "metadata.name: Invalid value: \"Web_1\": a lowercase RFC 1123 subdomain must"),
        (json!({"name": "a".repeat(254)}), "metadata.name: Invalid value: \"aaa"),
        (json!({"name": "a", "labels": {"a b": "c"}}), "metadata.labels: Invalid value: \"a b\": name part must consist of"),
        (json!({"name": "a", "labels": {"a": "c d"}}), "metadata.labels: Invalid value: \"c d\": a valid label must be"),
        (json!({"name": "a", "labels": {"a": "c".repeat(64)}}), "metadata.labels: Invalid value: \"ccc"),
    ] {
        let found = refused(metadata);
        assert!(found.contains(&format!("is invalid: {begin}")), "{found}");
    }
    assert!(refused(json!({"name": "a".repeat(1000)})).ends_with("a...\": must be no more than 253 bytes"));
}

#[test]
fn keys_of_labels_are_added_to_selectors_since_the_release_that_does() {
    let term = json!({"topologyKey": "zone", "labelSelector": {"matchLabels": {"x": "y"}}, "matchLabelKeys": ["app"], "mismatchLabelKeys": ["none"]});
    let mut spec = container(&json!({}));
    spec["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let keys = |release: &str| -> Vec<String> {
        let profile = crate::release::Profile::all().iter().find(|profile| profile.release.minor() == release).unwrap();
        let found = admit(&Cluster::default(), &Policies::default(), Emulation::from(*profile), &pod(&spec)).unwrap();
        let terms = &found.spec.affinity.as_ref().unwrap().pod_anti_affinity.as_ref().unwrap().required;
        let selector = terms[0].label_selector.as_ref().unwrap();
        selector.match_expressions.iter().map(|r| format!("{} {} {}", r.key, r.operator, r.values[0])).collect()
    };
    assert_eq!((keys("1.31"), keys("1.30")), (vec!["app In web".to_owned()], vec![]));
}

#[test]
fn limit_ranges_give_defaults_and_refuse_in_the_servers_words() {
    let range = |item: Value| json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "bounds", "namespace": "shop"}, "spec": {"limits": [item]}});
    let of = |item: &Value, resources: &Value| admitted(&[], &[range(item.clone())], &container(resources));
    let found = of(&json!({"type": "Container", "max": {"cpu": "2"}, "defaultRequest": {"memory": "1Gi"}}), &json!({})).unwrap();
    let resources = &found.spec.containers[0].resources;
    assert_eq!(resources.limits.get("cpu").map(ToString::to_string).as_deref(), Some("2"));
    assert_eq!(resources.requests.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>(), ["cpu=2", "memory=1Gi"]);
    for (item, resources, text) in [
        (
            json!({"type": "Container", "max": {"cpu": "1"}}),
            json!({"limits": {"cpu": "2"}}),
            "maximum cpu usage per Container is 1, but limit is 2",
        ),
        (
            json!({"type": "Container", "min": {"memory": "1Gi"}}),
            json!({"requests": {"memory": "1Mi"}}),
            "minimum memory usage per Container is 1Gi, but request is 1Mi",
        ),
        (json!({"type": "Pod", "max": {"cpu": "1"}}), json!({}), "maximum cpu usage per Pod is 1.  No limit is specified"),
        (
            json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}),
            json!({"requests": {"cpu": "1"}, "limits": {"cpu": "3"}}),
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
    ] {
        assert_eq!(of(&item, &resources).unwrap_err(), format!("pods \"web-0\" is forbidden: {text}"), "{item}");
    }
    // Another namespace's range does nothing.
    let mut other = range(json!({"type": "Pod", "max": {"cpu": "1"}}));
    other["metadata"]["namespace"] = json!("batch");
    assert!(admitted(&[], &[other], &container(&json!({}))).is_ok());
}

#[test]
fn quotas_refuse_in_the_servers_words_and_count_what_they_admit() {
    let hard = json!({"hard": {"requests.cpu": "2", "pods": "10", "services": "1"}});
    let half = container(&json!({"requests": {"cpu": "500m"}}));
    let text = refused(&[], &[quota(&hard, Some(&json!({"requests.cpu": "2", "pods": "4"})))], &half);
    let words =
        "pods \"web-0\" is forbidden: exceeded quota: compute, requested: requests.cpu=500m, used: requests.cpu=2, limited: requests.cpu=2";
    assert_eq!(text, words);
    let text = refused(&[], &[quota(&json!({"hard": {"limits.cpu": "2", "requests.memory": "1Gi"}}), None)], &half);
    assert_eq!(text, "pods \"web-0\" is forbidden: failed quota: compute: must specify limits.cpu for: c; requests.memory for: c");

    // Without a status the pods of the cluster count.
    let running = json!({"kind": "Pod", "metadata": {"name": "old", "namespace": "shop"}, "spec": half});
    let cluster = cluster(&[running]);
    let mut admission = Admission::new(policies(&[quota(&hard, None)]), Emulation::default());
    let fits = (0..9).take_while(|_| admission.admit(&cluster, &pod(&half)).is_ok()).count();
    assert_eq!(fits, 3);
    let gone = cluster.pods.iter().next().unwrap().clone();
    admission.forget(&cluster, &gone);
    assert!(admission.admit(&cluster, &pod(&half)).is_ok());
    assert!(admission.admit(&cluster, &pod(&half)).is_err());
}

#[test]
fn quotas_count_the_pods_of_their_scopes() {
    let class = json!({"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9});
    let plain = container(&json!({"requests": {"cpu": "1"}}));
    let mut high = plain.clone();
    high["priorityClassName"] = json!("high");
    let mut short = plain.clone();
    short["activeDeadlineSeconds"] = json!(60);
    let scoped = |scopes: Value| quota(&json!({"hard": {"pods": "0"}, "scopes": scopes}), None);
    let selected = |operator: &str, values: Value| {
        let expression = json!({"scopeName": "PriorityClass", "operator": operator, "values": values});
        quota(&json!({"hard": {"pods": "0"}, "scopeSelector": {"matchExpressions": [expression]}}), None)
    };
    let best_effort = container(&json!({}));
    for (rule, spec, admits) in [
        (scoped(json!(["Terminating"])), &plain, true),
        (scoped(json!(["Terminating"])), &short, false),
        (scoped(json!(["NotTerminating"])), &short, true),
        (scoped(json!(["BestEffort"])), &plain, true),
        (scoped(json!(["BestEffort"])), &best_effort, false),
        (scoped(json!(["NotBestEffort"])), &best_effort, true),
        (selected("In", json!(["high"])), &high, false),
        (selected("In", json!(["high"])), &plain, true),
        (selected("NotIn", json!(["high"])), &plain, false),
        (selected("Exists", json!([])), &high, false),
    ] {
        assert_eq!(admitted(std::slice::from_ref(&class), std::slice::from_ref(&rule), spec).is_ok(), admits, "{rule} {spec}");
    }
}

#[test]
fn pods_of_missing_objects_are_refused_in_the_servers_words() {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "builder", "namespace": "shop"}});
    let mut spec = container(&json!({}));
    spec["serviceAccountName"] = json!("web");
    let text = "pods \"web-0\" is forbidden: error looking up service account shop/web: serviceaccount \"web\" not found";
    assert_eq!(refused(&[], std::slice::from_ref(&account), &spec), text);
    // A namespace without any account was not read.
    assert!(admitted(&[], &[], &spec).is_ok());
    spec["serviceAccountName"] = json!("builder");
    assert!(admitted(&[], &[account], &spec).is_ok());

    let mut spec = container(&json!({}));
    spec["priorityClassName"] = json!("gold");
    assert_eq!(refused(&[], &[], &spec), "pods \"web-0\" is forbidden: no PriorityClass with name gold was found");
    let mut partial = cluster(&[]);
    partial.unknown.absent.insert(Kind::PriorityClass);
    let without = admit(&partial, &policies(&[]), Emulation::default(), &pod(&spec)).unwrap();
    assert_eq!((without.spec.priority, without.spec.priority_class_name.as_str()), (None, "gold"), "it may exist");
    let mut spec = container(&json!({}));
    spec["priority"] = json!(7);
    assert!(refused(&[], &[], &spec).contains("the integer value of priority (7) must not be provided in pod spec"));
    let other = json!({"kind": "Namespace", "metadata": {"name": "batch"}});
    assert_eq!(refused(&[other], &[], &container(&json!({}))), "namespaces \"shop\" not found");
    let ending = json!({"kind": "Namespace", "metadata": {"name": "shop", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let text = "pods \"web-0\" is forbidden: unable to create new content in namespace shop because it is being terminated";
    assert_eq!(refused(&[ending], &[], &container(&json!({}))), text);
    assert!(refused(&[], &[], &json!({"containers": []})).ends_with("is invalid: spec.containers: Required value"));
    let more = container(&json!({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}));
    let text = "Pod \"web-0\" is invalid: spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1";
    assert_eq!(refused(&[], &[], &more), text);
}

#[test]
fn a_runtime_class_adds_overhead_and_nodes() {
    let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"}, "handler": "kata",
        "overhead": {"podFixed": {"cpu": "250m"}}, "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm"}]}});
    let mut spec = container(&json!({}));
    spec["runtimeClassName"] = json!("kata");
    let found = admitted(&[], std::slice::from_ref(&class), &spec).unwrap();
    assert_eq!(found.spec.overhead.get("cpu"), Some(&Quantity::milli(250)));
    assert_eq!(found.spec.node_selector.as_ref().unwrap().get("vm").map(Str::as_str), Some("yes"));
    // The pod may have them itself, but no others.
    spec["overhead"] = json!({"cpu": "250m"});
    spec["nodeSelector"] = json!({"vm": "yes"});
    assert!(admitted(&[], std::slice::from_ref(&class), &spec).is_ok());
    let with = |field: &str, value: Value| {
        let mut spec = spec.clone();
        spec[field] = value;
        refused(&[], std::slice::from_ref(&class), &spec)
    };
    let conflict = "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no";
    assert_eq!(with("nodeSelector", json!({"vm": "no"})), format!("pods \"web-0\" is forbidden: {conflict}"));
    let other = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
    assert_eq!(with("overhead", json!({"cpu": "1"})), format!("pods \"web-0\" is forbidden: {other}"));
    let without = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    assert_eq!(with("runtimeClassName", json!("")), format!("pods \"web-0\" is forbidden: {without}"));
    spec["runtimeClassName"] = json!("none");
    assert_eq!(refused(&[], &[class], &spec), "pods \"web-0\" is forbidden: pod rejected: RuntimeClass \"none\" not found");
    assert_eq!(Policies::default().unknown().count(), 4);
}

#[test]
fn copies_of_a_template_are_admitted_as_their_json_is_and_share_their_specs() {
    let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "bounds", "namespace": "shop"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"memory": "1Gi"}}]}});
    let hard = quota(&json!({"hard": {"pods": "5"}}), None);
    let term = json!({"topologyKey": "zone", "labelSelector": {"matchLabels": {"x": "y"}}, "matchLabelKeys": ["index"]});
    let mut spec = container(&json!({"requests": {"cpu": "500m"}}));
    spec["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    spec["volumes"] = json!([{"name": "own", "persistentVolumeClaim": {"claimName": "x"}}]);
    let mut shared = pod(&spec);
    shared["metadata"]["annotations"] = json!({"note": "kept"});
    let template = PodTemplate::new(shared);
    let policies = policies(&[range, hard]);
    let (mut copies, mut whole) = (Admission::new(policies.clone(), Emulation::default()), Admission::new(policies, Emulation::default()));
    let metadata = |name: &str| {
        json!({"uid": format!("new-{name}"), "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": true}]})
            .as_object()
            .cloned()
            .unwrap()
    };
    let mut made = Vec::new();
    for (name, index, own) in [("a", "1", 0), ("b", "1", 0), ("c", "2", 0), ("d", "1", 1), ("e", "1", 2), ("f", "1", 0)] {
        let mut copy = TemplatedPod::new(&template, "shop", name, metadata(name));
        copy.set_label("index", index);
        if own == 1 {
            copy.set_volumes(json!([]));
        }
        if own == 2 {
            copy.set_affinity(json!({"nodeAffinity": {}}));
        }
        assert_eq!(copy.key(), Key::new("shop", name));
        let (found, expected) = (copies.admit_templated(&Cluster::default(), &copy), whole.admit(&Cluster::default(), &copy.json()));
        match (found, expected) {
            (Ok(found), Ok(expected)) => {
                assert_eq!(found, expected, "{name}");
                made.push(found);
            }
            (found, expected) => assert_eq!(found.unwrap_err().to_string(), expected.unwrap_err().to_string()),
        }
    }
    assert_eq!(made.len(), 5, "the quota refuses the last");
    assert!(std::sync::Arc::ptr_eq(&made[0].spec, &made[1].spec), "equal specs are one");
    assert_ne!(made[0].spec, made[2].spec, "a key of labels is in the selector");
    assert_eq!((made[3].spec.volumes.len(), made[4].spec.volumes.len()), (0, 1));

    let mut renamed = TemplatedPod::new(&template, "shop", "a", metadata("a"));
    renamed.rename("g");
    assert_eq!((renamed.key().name.as_str(), renamed.json()["metadata"].get("uid")), ("g", None));
    let wrong = PodTemplate::new(json!({"metadata": {"name": "x"}, "spec": {"containers": "none"}}));
    let copy = TemplatedPod::new(&wrong, "shop", "h", serde_json::Map::new());
    let errors = [copies.admit_templated(&Cluster::default(), &copy), whole.admit(&Cluster::default(), &copy.json())];
    let texts: Vec<String> = errors.map(|found| found.unwrap_err().to_string()).into();
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn copies_that_quotas_are_known_to_allow_are_counted_as_each_by_itself() {
    let quota = |name: &str, hard: &Value, used: Option<&Value>| {
        let mut quota = quota(&json!({"hard": hard}), used);
        quota["metadata"]["name"] = json!(name);
        quota
    };
    let rules = [
        quota("a", &json!({"requests.cpu": "7", "pods": "40"}), Some(&json!({"requests.cpu": "1500m"}))),
        quota("b", &json!({"limits.memory": "20Gi", "requests.cpu": "100"}), None),
        // Full of what no pod asks for.
        quota("c", &json!({"requests.memory": "1", "requests.cpu": "99"}), Some(&json!({"requests.memory": "9Gi"}))),
    ];
    let spec = |cpu: &str, memory: &str| container(&json!({"requests": {"cpu": cpu, "memory": "0"}, "limits": {"memory": memory}}));
    let templates = [("500m", "1Gi"), ("300m", "64Mi"), ("0", "3Gi")].map(|(cpu, memory)| PodTemplate::new(pod(&spec(cpu, memory))));
    let running = |name: &str| json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop"}, "spec": spec("250m", "1Gi")});
    let cluster = cluster(&[running("x"), running("y")]);
    let gone: Vec<_> = cluster.pods.iter().cloned().collect();
    let (mut copies, mut each) =
        (Admission::new(policies(&rules), Emulation::default()), Admission::new(policies(&rules), Emulation::default()));
    let mut refused = 0;
    for turn in 0..120 {
        // A copy is mostly of the template of the one before.
        let template = &templates[turn / 7 % 3];
        let copy = TemplatedPod::new(template, "shop", &format!("p{turn}"), serde_json::Map::new());
        let (found, expected) = (copies.admit_templated(&cluster, &copy), each.admit(&cluster, &copy.json()));
        refused += usize::from(found.is_err());
        assert_eq!(found.map_err(|e| e.to_string()), expected.map_err(|e| e.to_string()), "{turn}");
        if turn == 20 || turn == 51 {
            copies.forget(&cluster, &gone[turn / 50]);
            each.forget(&cluster, &gone[turn / 50]);
        }
        if turn == 30 || turn == 60 {
            let more = quota(if turn == 30 { "aa" } else { "b" }, &json!({"requests.cpu": "12"}), None);
            assert_eq!(copies.learn(&more), each.learn(&more));
        }
    }
    assert!((20..100).contains(&refused), "{refused}");
}

/// Returns a LimitRange of containers.
fn range(item: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "bounds", "namespace": "shop"}, "spec": {"limits": [item]}})
}

fn resources(number: usize, amount: &str) -> Value {
    (0..number).map(|at| (format!("example.com/r{at}"), json!(amount))).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_pod_that_defaults_make_too_large_is_refused() {
    let spec = |containers: usize| {
        let each = (0..containers).map(|at| json!({"name": format!("c{at}"), "resources": {}})).collect::<Vec<_>>();
        json!({"containers": each})
    };
    let rules = [range(&json!({"type": "Container", "defaultRequest": resources(4_000, "1"), "default": resources(4_000, "1")}))];
    let few = admitted(&[], &rules, &spec(3)).unwrap();
    assert!(few.spec.containers.iter().all(|container| container.resources.requests.len() == 4_000));
    assert_eq!(refused(&[], &rules, &spec(100)), "pods \"web-0\" is forbidden: etcdserver: request is too large");
}

#[test]
fn violated_bounds_beyond_the_limit_are_not_listed() {
    use crate::limits::engine::BREACHES_LISTED;
    let listed = |bounds: usize, containers: usize| {
        let each = (0..containers).map(|at| json!({"name": format!("c{at}"), "resources": {}})).collect::<Vec<_>>();
        let text = refused(
            &[],
            &[range(&json!({"type": "Container", "maxLimitRequestRatio": resources(bounds, "1")}))],
            &json!({"containers": each}),
        );
        (text.matches("max limit to request ratio").count(), text.ends_with("] and more"))
    };
    // Containers that violate a bound alike are one.
    assert_eq!(listed(3, 50), (3, false));
    assert_eq!(listed(BREACHES_LISTED, 2), (BREACHES_LISTED, false));
    assert_eq!(listed(BREACHES_LISTED + 1, 2), (BREACHES_LISTED, true));
}

/// Bounds that hold for the extremes of all containers are not compared with each: the answer is that of comparing.
#[test]
fn bounds_are_those_of_each_container() {
    let amounts = [None, Some("0"), Some("1"), Some("2"), Some("4")];
    let given = |request: Option<&str>, limit: Option<&str>| {
        let list = |amount: Option<&str>| amount.map_or(json!({}), |amount| json!({"memory": amount}));
        json!({"requests": list(request), "limits": list(limit)})
    };
    let bounds = [json!({"min": {"memory": "1"}}), json!({"max": {"memory": "2"}}), json!({"maxLimitRequestRatio": {"memory": "2"}})];
    let mut passes = 0;
    for mut bound in bounds {
        bound["type"] = json!("Container");
        let rules = [range(&bound)];
        let of = |containers: &[Value]| {
            let each: Vec<_> = containers.iter().enumerate().map(|(at, own)| json!({"name": format!("c{at}"), "resources": own})).collect();
            admitted(&[], &rules, &json!({"containers": each}))
        };
        let all: Vec<Value> = amounts.iter().flat_map(|request| amounts.iter().map(move |limit| given(*request, *limit))).collect();
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            let (alone, both) = ([of(std::slice::from_ref(one)), of(std::slice::from_ref(other))], of(&[one.clone(), other.clone()]));
            // With its defaults a container may have a request above its limit.
            if alone.iter().any(|found| found.as_ref().is_err_and(|text| text.contains("is invalid"))) {
                continue;
            }
            passes += usize::from(both.is_ok());
            assert_eq!(both.is_ok(), alone.iter().all(Result::is_ok), "{bound} {one} {other}");
            let error = both.err().unwrap_or_default();
            let causes = alone.into_iter().filter_map(Result::err).map(|text| text.rsplit(": ").next().unwrap_or_default().to_owned());
            assert!(causes.into_iter().all(|text| error.contains(&text)), "{error}");
        }
    }
    assert!((200..1_200).contains(&passes), "{passes}");
}

#[test]
fn policies_that_are_not_known_whole_refuse_nothing_by_their_absence() {
    let of = |objects: &[Value], withheld: &[NeighborKind]| {
        let mut neighbors = Neighbors::default();
        for object in objects {
            neighbors.insert(serde_json::from_value(object.clone()).unwrap());
        }
        for kind in withheld {
            neighbors.withhold(*kind, crate::cluster::MissingReason::Incomplete);
        }
        Policies::of(&neighbors)
    };
    let unknown = |policies: &Policies| policies.unknown().collect::<Vec<_>>();
    let object = |kind: &str, version: &str, name: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
    let class = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"}});
    let objects =
        [quota(&json!({"hard": {"pods": "5"}}), None), object("LimitRange", "v1", "bounds"), object("ServiceAccount", "v1", "web"), class];
    assert_eq!(unknown(&of(&objects, &[])), []);
    let parts = [NeighborKind::ServiceAccount, NeighborKind::RuntimeClass];
    let partial = of(&objects, &parts);
    assert_eq!(unknown(&partial), parts);
    // One that cannot be read leaves its kind unknown.
    let broken = quota(&json!({"hard": {"pods": {}}}), None);
    assert_eq!(unknown(&of(&[broken], &[]))[0], NeighborKind::ResourceQuota);
    // So does a manifest that has one of a kind.
    let mut learned = Admission::new(Policies::default(), Emulation::default());
    assert_eq!(learned.learn(&objects[0]), Ok(true));
    assert_eq!(learned.policies().unknown().count(), 4);
    for (field, name) in [("serviceAccountName", "api"), ("runtimeClassName", "other")] {
        let mut spec = container(&json!({}));
        spec[field] = json!(name);
        let admitted = |policies: &Policies| admit(&Cluster::default(), policies, Emulation::default(), &pod(&spec)).is_ok();
        assert_eq!((admitted(&of(&objects, &[])), admitted(&partial)), (false, true), "{field}");
    }
}

#[test]
fn fields_that_an_api_server_refuses_are_errors_in_its_words() {
    let of = |spec: Value, container: Value| {
        let mut first = json!({"name": "c", "image": "a"});
        first.as_object_mut().unwrap().extend(container.as_object().unwrap().clone());
        let mut spec = spec;
        spec["containers"].as_array().is_none().then(|| spec["containers"] = json!([first]));
        let pod = json!({"metadata": {"name": "p"}, "spec": spec});
        let mut errors = template_errors(&pod);
        errors.extend(mount_errors(&pod));
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let resources = |requests: Value, limits: Value| of(json!({}), json!({"resources": {"requests": requests, "limits": limits}}));
    let spread = |more: Value| {
        let mut constraint = json!({"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"});
        constraint.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        constraint
    };
    let required = |terms: Value| json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}});
    let port = |name: &str| json!({"name": name, "ports": [{"containerPort": 80, "hostPort": 80}]});
    for (found, expected) in [
        (
            resources(json!({"nvidia.com/gpu": 1}), json!({})),
            "resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (resources(json!({"nvidia.com/gpu": 1}), json!({"nvidia.com/gpu": 2})), "\"1\": must be equal to nvidia.com/gpu limit of 2"),
        (resources(json!({}), json!({"hugepages-2Mi": "2Mi"})), "Forbidden: HugePages require cpu or memory"),
        (
            resources(json!({"gpu": 1}), json!({})),
            "requests[gpu]: Invalid value: \"gpu\": must be a standard resource type or fully qualified",
        ),
        (of(required(json!([])), json!({})), "nodeSelectorTerms: Required value: must have at least one node selector term"),
        (
            of(required(json!([{"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}])), json!({})),
            "matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        ),
        (of(json!({"tolerations": [{"operator": "Equal", "value": "x"}]}), json!({})), "operator must be Exists when `key` is empty"),
        (
            of(json!({"tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]}), json!({})),
            "value must be empty when `operator` is 'Exists'",
        ),
        (of(json!({"containers": [{"name": "c"}, {"name": "c"}]}), json!({})), "spec.containers[1].name: Duplicate value: \"c\""),
        (
            of(json!({"containers": [port("c"), port("d")]}), json!({})),
            "spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//80\"",
        ),
        (
            of(json!({"topologySpreadConstraints": [spread(json!({})), spread(json!({"maxSkew": 2}))]}), json!({})),
            "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{z, DoNotSchedule}\"",
        ),
        (
            of(json!({"topologySpreadConstraints": [spread(json!({"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"}))]}), json!({})),
            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
        ),
        (
            of(
                json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {}}]}}}),
                json!({}),
            ),
            "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
        ),
        (of(json!({"nodeName": "n1", "schedulingGates": [{"name": "a/b"}]}), json!({})), "spec.nodeName: Forbidden: cannot be set until"),
        (of(json!({"nodeSelector": {"a": "b c"}}), json!({})), "spec.nodeSelector: Invalid value: \"b c\": a valid label must be"),
        (of(json!({"preemptionPolicy": "Sometimes"}), json!({})), "spec.preemptionPolicy: Unsupported value: \"Sometimes\""),
        (of(json!({}), json!({"volumeMounts": [{"name": "data"}]})), "spec.containers[0].volumeMounts[0].name: Not found: \"data\""),
    ] {
        assert!(found.contains(expected), "{found}: {expected}");
    }
    let valid = json!({"nodeSelector": {"a": ""}, "tolerations": [{"operator": "Exists"}], "topologySpreadConstraints": [spread(json!({})),
        spread(json!({"whenUnsatisfiable": "ScheduleAnyway"}))]});
    let container = json!({"resources": {"requests": {"cpu": 1, "nvidia.com/gpu": 1}, "limits": {"cpu": 2, "nvidia.com/gpu": 1}}});
    assert_eq!(of(valid, container), "");
}
