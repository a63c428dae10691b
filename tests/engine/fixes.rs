//! Fixes: every fix shown works, every single change that works is shown, and counts match those of single nodes.
//!
//! Patches are applied here to the objects as JSON. The pod is then decided about again on the result, independently of
//! the search that found them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use schedscope::analysis::FixesReport;
use schedscope::cluster::neighbors::Neighbors;
use schedscope::cluster::{Key, Kind, MissingKinds, Object, Taint};
use schedscope::fixes::{
    Background, Change, Closest, CutShort, Demand, Fix, FixOutcome, Fixes, Limits, Matrix, NodeChange, PodChange, Unproposed, Untried, find,
};
use schedscope::framework::{PluginName, Reason};
use schedscope::report::Decision;
use schedscope::scheduler::{Config, Options, PostFilter, Sampling, Scheduler};
use schedscope::trace::CycleView;
use serde_json::{Map, Value, json};

use crate::cases;
use crate::recorded::object;
use crate::worlds::{World, world};

/// One in this many unschedulable cases of a file is tested.
const EVERY: usize = 4;

/// A cluster as JSON, and the configuration of its scheduler.
struct Case {
    items: Vec<Value>,
    config: Box<dyn Fn() -> Config>,
    pod: Key,
}

impl Case {
    fn scheduler(&self, items: &[Value]) -> Scheduler {
        let sampling = Sampling { all_nodes: true, ..Sampling::default() };
        let start = "2026-11-20T00:00:00Z".parse().expect("a time");
        let objects: Vec<Object> = items.iter().filter_map(object).collect();
        Scheduler::new((self.config)(), objects, Options { start, sampling, ..Options::default() })
    }

    fn decide(&self, items: &[Value]) -> Value {
        let scheduler = self.scheduler(items);
        let pod = scheduler.state().cluster().pods.get(&self.pod).expect("the pod");
        serde_json::to_value(Decision::of(&CycleView::of(&scheduler.explain(pod)))).expect("plain data")
    }

    fn found(&self) -> (Fixes, Value) {
        let scheduler = self.scheduler(&self.items);
        let cluster = scheduler.state().cluster();
        let found = find(
            &scheduler,
            cluster.pods.get(&self.pod).expect("the pod"),
            Limits::of(cluster.nodes.len()),
            Background::nothing(),
            &|_| true,
        );
        let original = |kind: Kind, key: &Key| self.items.iter().find(|item| is(item, kind.into(), &key.namespace, &key.name)).cloned();
        let report = FixesReport::new(&found, cluster, (&original, &Neighbors::default()));
        (found, serde_json::to_value(report).expect("plain data"))
    }

    fn written_pod(&self) -> &Value {
        self.items.iter().find(|item| is(item, "Pod", &self.pod.namespace, &self.pod.name)).expect("the pod")
    }
}

fn is(item: &Value, kind: &str, namespace: &str, name: &str) -> bool {
    let meta = &item["metadata"];
    item["kind"] == kind && meta["namespace"].as_str().unwrap_or_default() == namespace && meta["name"] == name
}

/// Applies a JSON merge patch (RFC 7386).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (name, patch) in patch {
        if patch.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), patch);
        }
    }
}

fn patched(items: &[Value], patches: &Value) -> Vec<Value> {
    let mut items = items.to_vec();
    for patch in patches.as_array().expect("patches") {
        if patch["op"] == "create" {
            items.push(patch["object"].clone());
            continue;
        }
        let text = |field: &str| patch[field].as_str().unwrap_or_default().to_owned();
        let at = items.iter().position(|item| is(item, &text("kind"), &text("namespace"), &text("name"))).expect("the object");
        match text("op").as_str() {
            "delete" => drop(items.remove(at)),
            "patch" => merge(&mut items[at], &patch["patch"]),
            other => panic!("unknown op {other}"),
        }
    }
    items
}

fn names(value: &Value) -> BTreeSet<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the promise of a fix that its decision breaks, if any.
fn broken_promise(fix: &Value, decision: &Value) -> Option<String> {
    if fix["outcome"] == "scheduled" {
        let kept = decision["outcome"] == "scheduled" && names(&fix["nodes"]) == names(&decision["feasible"]);
        return (!kept).then(|| format!("{} came to {} on {}", fix["text"], decision["outcome"], decision["feasible"]));
    }
    let preemption = &decision["preemption"];
    let candidates = preemption["candidates"].as_array().cloned().unwrap_or_default();
    let victims: Map<String, Value> =
        candidates.iter().map(|c| (c["node"].as_str().unwrap_or_default().to_owned(), c["victims"].clone())).collect();
    let kept = preemption["selected"].is_string() && fix["victims"] == Value::Object(victims);
    (!kept).then(|| format!("{} came to {preemption}", fix["text"]))
}

/// Checks a case; returns its number of fixes.
fn check(case: &Case, id: &str) -> usize {
    let (found, report) = case.found();
    assert!(found.search.is_complete(), "{id}: {:?}", found.search);
    for fix in report["fixes"].as_array().expect("fixes") {
        let decision = case.decide(&patched(&case.items, &fix["patches"]));
        assert_eq!(broken_promise(fix, &decision), None, "{id}");
    }
    for row in report["constraints"].as_array().expect("constraints").iter().filter(|row| row["without"].is_array()) {
        let decision = case.decide(&patched(&case.items, &row["without"]));
        let opens = if decision["outcome"] == "scheduled" { decision["feasible"].as_array().map_or(0, Vec::len) } else { 0 };
        assert_eq!(row["opens"], opens, "{id}: {}", row["text"]);
    }
    let alone = |fix: &&Value| fix["changes"].as_array().is_some_and(|changes| changes.len() == 1);
    let touched = |kind: &str, name: &str, field: &str| {
        let fixes = report["fixes"].as_array().into_iter().flatten().filter(alone);
        let mut changes = fixes.map(|fix| &fix["changes"][0]);
        changes.any(|change| change["kind"] == kind && change["name"] == name && change["field"] == field)
    };
    for (kind, name, field, patch) in plain_changes(case) {
        let patch = json!([{"op": "patch", "kind": kind, "namespace": if kind == "Pod" { &*case.pod.namespace } else { "" }, "name": name, "patch": patch}]);
        let decision = case.decide(&patched(&case.items, &patch));
        let preempts = field == "priority" && found.preempts_today.is_none() && decision["preemption"]["selected"].is_string();
        if decision["outcome"] == "scheduled" || preempts {
            assert!(touched(kind, &name, field), "{id}: {patch} lets the pod in, and no fix changes {field} of {name} alone");
        }
    }
    values(case, id, &report);
    deletions(case, id, &found);
    found.fixes.len()
}

/// Checks that every value of a selector that lets the pod fit is among the fixes.
fn values(case: &Case, id: &str, report: &Value) {
    let Some(selector) = case.written_pod()["spec"]["nodeSelector"].as_object() else { return };
    for key in selector.keys() {
        let labels = case.items.iter().filter(|item| item["kind"] == "Node").filter_map(|node| node["metadata"]["labels"][key].as_str());
        for value in labels.collect::<BTreeSet<&str>>() {
            let mut wanted = selector.clone();
            wanted.insert(key.clone(), json!(value));
            let patch = json!({"spec": {"nodeSelector": wanted}});
            let patch = json!([{"op": "patch", "kind": "Pod", "namespace": &*case.pod.namespace, "name": &*case.pod.name, "patch": patch}]);
            if case.decide(&patched(&case.items, &patch))["outcome"] == "scheduled" {
                let fixes = report["fixes"].as_array().expect("fixes");
                let is_this = |fix: &Value| fix["changes"].as_array().is_some_and(|c| c.len() == 1 && c[0]["to"] == json!(wanted));
                assert!(fixes.iter().any(is_this), "{id}: {key}={value} lets the pod fit, and is no fix");
            }
        }
    }
}

/// Checks that where the deletion of a pod lets the pod fit, that of no more important one on its node is a fix.
fn deletions(case: &Case, id: &str, found: &Fixes) {
    let node_of = |pod: &Value| {
        let nominated = pod["status"]["nominatedNodeName"].as_str().unwrap_or_default();
        pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty()).unwrap_or(nominated).to_owned()
    };
    let priority = |pod: &Value| pod["spec"]["priority"].as_i64().unwrap_or(0);
    let pods = || case.items.iter().filter(|item| item["kind"] == "Pod");
    let deleted = |fix: &Fix| match &fix.changes[..] {
        [Change::Delete(Kind::Pod, key)] => pods().find(|pod| is(pod, "Pod", &key.namespace, &key.name)).cloned(),
        _ => None,
    };
    let deleted: Vec<Value> = found.fixes.iter().filter_map(deleted).collect();
    for pod in pods().filter(|pod| !node_of(pod).is_empty() && !is(pod, "Pod", &case.pod.namespace, &case.pod.name)) {
        let owners = pod["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        let comes_back =
            owners.into_iter().any(|owner| owner["controller"] == true && (owner["kind"] == "DaemonSet" || owner["kind"] == "Node"));
        if comes_back || !pod["metadata"]["deletionTimestamp"].is_null() {
            continue;
        }
        let items: Vec<Value> = case.items.iter().filter(|item| *item != pod).cloned().collect();
        if case.decide(&items)["outcome"] == "scheduled" {
            let covered = deleted.iter().any(|other| node_of(other) == node_of(pod) && priority(other) <= priority(pod));
            assert!(covered, "{id}: without {} the pod fits, and no fix says so", pod["metadata"]["name"]);
        }
    }
}

/// Returns simple changes of one thing, by kind, name and field, each as a merge patch.
fn plain_changes(case: &Case) -> Vec<(&'static str, String, &'static str, Value)> {
    let spec = &case.written_pod()["spec"];
    let name = case.pod.name.to_string();
    let mut changes = Vec::new();
    let mut pod = |field, patch: Value| changes.push(("Pod", name.clone(), field, json!({"spec": patch})));
    for key in spec["nodeSelector"].as_object().into_iter().flat_map(Map::keys) {
        pod("nodeSelector", json!({"nodeSelector": {key: null}}));
    }
    for (index, _) in spec["topologySpreadConstraints"].as_array().into_iter().flatten().enumerate() {
        let mut rest = spec["topologySpreadConstraints"].as_array().cloned().unwrap_or_default();
        rest.remove(index);
        pod("topologySpreadConstraints", json!({"topologySpreadConstraints": rest}));
    }
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    pod("affinity.nodeAffinity", json!({"affinity": {"nodeAffinity": {required: null}}}));
    for (kind, field) in [("podAffinity", "affinity.podAffinity"), ("podAntiAffinity", "affinity.podAntiAffinity")] {
        for (index, _) in spec["affinity"][kind][required].as_array().into_iter().flatten().enumerate() {
            let mut rest = spec["affinity"][kind][required].as_array().cloned().unwrap_or_default();
            rest.remove(index);
            pod(field, json!({"affinity": {kind: {required: rest}}}));
        }
    }
    if spec["preemptionPolicy"] != "Never" && spec["priority"].as_i64().unwrap_or(0) < 1_000_000_000 {
        pod("priority", json!({"priority": 1_000_000_000, "priorityClassName": null}));
    }
    for node in case.items.iter().filter(|item| item["kind"] == "Node") {
        for taint in node["spec"]["taints"].as_array().into_iter().flatten().filter(|t| t["effect"] != "PreferNoSchedule") {
            let mut tolerations = spec["tolerations"].as_array().cloned().unwrap_or_default();
            tolerations.push(json!({"key": taint["key"], "operator": "Equal", "value": taint["value"].as_str().unwrap_or_default(), "effect": taint["effect"]}));
            pod("tolerations", json!({"tolerations": tolerations}));
        }
    }
    for node in case.items.iter().filter(|item| item["kind"] == "Node") {
        let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        for (index, taint) in taints.iter().enumerate() {
            if taint["key"] == "node.kubernetes.io/unschedulable" || taint["effect"] == "PreferNoSchedule" {
                continue;
            }
            let mut rest = taints.clone();
            rest.remove(index);
            let name = node["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            changes.push(("Node", name, "taints", json!({"spec": {"taints": rest}})));
        }
    }
    for node in case.items.iter().filter(|item| item["kind"] == "Node" && item["spec"]["unschedulable"] == true) {
        let mut taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        taints.retain(|t| t["key"] != "node.kubernetes.io/unschedulable");
        let name = node["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        changes.push(("Node", name, "unschedulable", json!({"spec": {"unschedulable": null, "taints": taints}})));
    }
    changes
}

#[test]
fn recorded_cases_have_sound_and_complete_fixes() {
    let (mut held, mut fixes, mut seen) = (0, 0, 0);
    for recorded in cases::cases(&cases::folder(), "decisions-") {
        if recorded["expected"]["outcome"] != "unschedulable" {
            continue;
        }
        seen += 1;
        if seen % EVERY != 0 {
            continue;
        }
        let (namespace, name) = recorded["pod"].as_str().and_then(|p| p.split_once('/')).expect("namespace/name");
        let items = recorded["cluster"]["items"].as_array().expect("a List").clone();
        let (pod, id) = (Key::new(namespace, name), recorded["id"].to_string());
        let config = Box::new(move || cases::config(&recorded));
        fixes += check(&Case { items, config, pod }, &id);
        held += 1;
    }
    assert!(held >= 50 && fixes > 2 * held, "{held} cases with {fixes} fixes");
}

fn drawn(world: &World) -> Case {
    let config = Box::new(|| Config::defaults(schedscope::release::Emulation::default()));
    Case { items: world.values(), config, pod: Key::new("a", "waiting") }
}

/// Checks a law on generated clusters, the same ones each time, until enough of them have an unschedulable pod.
fn for_unschedulable(law: impl Fn(&Case, &Fixes, &Value)) {
    let config = ProptestConfig { cases: 48, rng_seed: RngSeed::Fixed(36), failure_persistence: None, ..ProptestConfig::default() };
    let kept = std::cell::Cell::new(0);
    let run = |world: World| {
        let case = drawn(&world);
        let (found, report) = case.found();
        if !found.fixes.is_empty() {
            kept.set(kept.get() + 1);
            law(&case, &found, &report);
        }
        Ok(())
    };
    TestRunner::new(config).run(&world(), run).expect("the laws hold");
    assert!(kept.get() >= 8, "only {} clusters have fixes", kept.get());
}

#[test]
fn generated_clusters_have_sound_and_complete_fixes() {
    for_unschedulable(|case, _, _| {
        check(case, "a generated cluster");
    });
}

#[test]
fn applying_a_fix_and_taking_it_back_is_identity() {
    for_unschedulable(|case, _, report| {
        let before = case.decide(&case.items);
        for fix in report["fixes"].as_array().expect("fixes") {
            let mut items = patched(&case.items, &fix["patches"]);
            for change in fix["changes"].as_array().expect("changes") {
                let text = |field: &str| change[field].as_str().unwrap_or_default().to_owned();
                let (kind, namespace, name) = (text("kind"), text("namespace"), text("name"));
                let same = |item: &Value| is(item, &kind, &namespace, &name);
                let old = case.items.iter().find(|item| same(item));
                match (text("field").as_str(), old) {
                    ("new", _) => items.retain(|item| !same(item)),
                    ("deleted", Some(old)) => {
                        let at = case.items.iter().position(same).expect("it was there");
                        items.insert(at, old.clone());
                    }
                    ("resources" | "ports", Some(old)) => {
                        let now = items.iter_mut().find(|item| same(item)).expect("it is there");
                        assert_ne!(now["spec"]["containers"], old["spec"]["containers"]);
                        now["spec"]["containers"] = old["spec"]["containers"].clone();
                    }
                    (field, Some(old)) => {
                        let now = items.iter_mut().find(|item| same(item)).expect("it is there");
                        let path: Vec<&str> = field.split('.').collect();
                        let patch = path.iter().rev().fold(change["from"].clone(), |value, name| json!({*name: value}));
                        let to = path.iter().fold(&now["spec"], |value, name| &value[*name]);
                        assert_eq!(*to, change["to"], "{field}");
                        merge(now, &json!({"spec": patch}));
                        // A cordon changes with its taint, which is not a separate field of the change.
                        if field == "unschedulable" {
                            now["spec"] = old["spec"].clone();
                        }
                    }
                    (field, None) => panic!("{field} of nothing"),
                }
            }
            assert_eq!(items, case.items, "{}", fix["text"]);
            assert_eq!(case.decide(&items), before);
        }
    });
}

/// Whether a change contains everything that another does, and more.
fn contains(larger: &Change, smaller: &Change) -> bool {
    let (Change::Pod(larger), Change::Pod(smaller)) = (larger, smaller) else { return false };
    match (larger, smaller) {
        (
            PodChange::DropSelector { key, .. },
            PodChange::SetSelector { key: other, .. } | PodChange::RenameSelector { from: other, .. },
        ) => key == other,
        (PodChange::DropNodeAffinity, PodChange::DropRequirement { .. } | PodChange::AddValue { .. })
        | (PodChange::DropHostPorts(None), PodChange::DropHostPorts(Some(_))) => true,
        (PodChange::DropRequirement { place, .. }, PodChange::AddValue { place: other, .. }) => place == other,
        (PodChange::DropSpread { index, .. }, PodChange::MaxSkew { index: other, .. }) => index == other,
        _ => false,
    }
}

#[test]
fn a_smaller_fix_never_comes_after_one_that_contains_it() {
    for_unschedulable(|_, found, _| {
        let within = |small: &Fix, large: &Fix| {
            small.changes.iter().all(|s| large.changes.iter().any(|l| l == s || contains(l, s))) && small.changes != large.changes
        };
        for (at, large) in found.fixes.iter().enumerate() {
            let after = found.fixes[at + 1..].iter().find(|small| within(small, large));
            assert_eq!(after, None, "behind {large:?}");
        }
    });
}

#[test]
fn the_largest_request_fits_and_one_unit_more_does_not() {
    let seen = std::cell::Cell::new(0);
    for_unschedulable(|case, found, report| {
        for (fix, written) in found.fixes.iter().zip(report["fixes"].as_array().expect("fixes")) {
            let [Change::Pod(PodChange::Lower(lowered))] = &fix.changes[..] else { continue };
            if fix.outcome != FixOutcome::Scheduled || lowered.to + 1 >= lowered.from {
                continue;
            }
            let mut items = patched(&case.items, &written["patches"]);
            let fits = case.decide(&items);
            let pod = items.iter_mut().find(|item| is(item, "Pod", "a", "waiting")).expect("the pod");
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!(format!("{}m", lowered.to + 1));
            let more = case.decide(&items);
            assert_eq!((&fits["outcome"], &more["outcome"]), (&json!("scheduled"), &json!("unschedulable")), "{lowered:?}");
            seen.set(seen.get() + 1);
        }
    });
    assert!(seen.get() >= 4, "only {} requests were lowered", seen.get());
}

#[test]
fn counts_are_those_of_nodes_one_by_one() {
    for_unschedulable(|case, found, _| {
        let scheduler = case.scheduler(&case.items);
        let snapshot = scheduler.state().snapshot();
        let pod = scheduler.state().cluster().pods.get(&case.pod).expect("the pod").clone();
        let matrix = Matrix::of(&scheduler, &pod, u64::MAX).expect("a profile");
        let without_terms = |is_dropped: &dyn Fn(&Value) -> bool| {
            let mut items = case.items.clone();
            for item in items.iter_mut().filter(|item| item["kind"] == "Pod" && is_dropped(item)) {
                item["spec"]["affinity"] = Value::Null;
            }
            case.scheduler(&items)
        };
        let is_own = |item: &Value| is(item, "Pod", &case.pod.namespace, &case.pod.name);
        let (own_terms, terms_of_others) = (without_terms(&|item| !is_own(item)), without_terms(&is_own));
        let mut failing = vec![0; snapshot.len()];
        let mut counted: Vec<Vec<bool>> = Vec::new();
        for row in &matrix.rows {
            let fails = |at: usize| {
                let node = &snapshot.nodes()[at];
                let filters = scheduler.every_filter(&case.pod, node.name()).expect("the node");
                let by = |plugin: PluginName| filters.rejections().find(|(name, _)| *name == plugin).map(|(_, status)| status);
                let has = |plugin, test: &dyn Fn(&Reason) -> bool| by(plugin).is_some_and(|status| status.reasons().iter().any(test));
                match &row.demand {
                    Demand::Selector { key, value } => node.node.metadata.labels.get(key) != Some(value),
                    Demand::Taint(taint) => node.node.spec.taints.iter().any(|t| t == taint),
                    Demand::Cordon => node.node.unschedulable(),
                    Demand::Resource { resource, .. } => {
                        has(PluginName::NodeResourcesFit, &|r| matches!(r, Reason::Insufficient(s) if s.resource == *resource))
                    }
                    Demand::PodSlot => has(PluginName::NodeResourcesFit, &|r| matches!(r, Reason::TooManyPods { .. })),
                    Demand::Spread { .. } => by(PluginName::PodTopologySpread).is_some(),
                    Demand::HostPort { .. } => by(PluginName::NodePorts).is_some(),
                    // Of its own terms and those of others, the first failing one hides the rest: each is asked without the other.
                    Demand::PodTerm { .. } => is_rejected_by_pods(&own_terms, &case.pod, node.name()),
                    Demand::ExistingAntiAffinity => is_rejected_by_pods(&terms_of_others, &case.pod, node.name()),
                    other => panic!("these clusters have no {other:?}"),
                }
            };
            counted.push((0..snapshot.len()).map(fails).collect());
        }
        for row in &counted {
            row.iter().enumerate().for_each(|(at, fails)| failing[at] += usize::from(*fails));
        }
        for (row, constraint) in counted.iter().zip(&found.constraints) {
            let only = row.iter().enumerate().filter(|(at, fails)| **fails && failing[*at] == 1).count();
            let fails = row.iter().filter(|fails| **fails).count();
            assert_eq!((constraint.fails, constraint.only), (fails, only), "{:?}", constraint.demand);
        }
        // Every rejection by a plugin has a demand that explains it, and no demand explains more.
        for (at, count) in failing.iter().enumerate() {
            let filters = scheduler.every_filter(&case.pod, snapshot.nodes()[at].name()).expect("the node");
            assert_eq!(*count > 0, filters.rejections().next().is_some(), "{}", snapshot.nodes()[at].name());
        }
    });
}

/// Returns whether affinity between pods keeps a pod from a node.
fn is_rejected_by_pods(scheduler: &Scheduler, pod: &Key, node: &str) -> bool {
    let filters = scheduler.every_filter(pod, node).expect("the node");
    filters.rejections().any(|(plugin, _)| *plugin == PluginName::InterPodAffinity)
}

fn one_node_case(pod: Value, node: Value) -> Case {
    let config = Box::new(|| Config::defaults(schedscope::release::Emulation::default()));
    Case { items: vec![json!({"kind": "Namespace", "metadata": {"name": "a"}}), node, pod], config, pod: Key::new("a", "waiting") }
}

fn written(spec: &Value) -> Value {
    let mut pod =
        json!({"kind": "Pod", "metadata": {"name": "waiting", "namespace": "a", "uid": "w"}, "spec": spec, "status": {"phase": "Pending"}});
    pod["spec"]["schedulerName"] = json!("default-scheduler");
    pod
}

fn node(labels: &Value, spec: &Value) -> Value {
    let allocatable = json!({"cpu": "4", "memory": "8Gi", "pods": "10"});
    json!({"kind": "Node", "metadata": {"name": "n", "uid": "n", "labels": labels}, "spec": spec, "status": {"allocatable": allocatable}})
}

#[test]
fn likely_typos_come_first() {
    let spec = json!({"containers": [{"name": "c"}], "nodeSelector": {"disk": "sssd", "zon": "a"}});
    let case = one_node_case(written(&spec), node(&json!({"disk": "ssd", "zone": "a"}), &json!({})));
    let (found, _) = case.found();
    let pair = &found.fixes.first().expect("a fix").changes;
    assert!(found.search.pairs && pair.len() == 2, "{pair:?}");
    for (selector, expected) in [
        (json!({"disk": "sssd"}), PodChange::SetSelector { key: "disk".into(), from: "sssd".into(), to: "ssd".into(), typo: true }),
        (json!({"zon": "a"}), PodChange::RenameSelector { from: "zon".into(), to: "zone".into(), value: "a".into() }),
    ] {
        let spec = json!({"containers": [{"name": "c"}], "nodeSelector": selector});
        let (found, _) = one_node_case(written(&spec), node(&json!({"disk": "ssd", "zone": "a"}), &json!({}))).found();
        assert_eq!(found.fixes[0].changes, [Change::Pod(expected)]);
    }
}

#[test]
fn a_typo_is_looked_for_among_a_number_of_values() {
    let typo = |asked: usize| {
        let values: Vec<String> = std::iter::once("sssd".to_owned()).chain((0..asked).map(|at| format!("other-{at}"))).collect();
        let terms = json!([{"matchExpressions": [{"key": "disk", "operator": "In", "values": values}]}]);
        let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
        let spec = json!({"containers": [{"name": "c"}], "affinity": affinity});
        let mut case = one_node_case(written(&spec), node(&json!({"disk": "ssd"}), &json!({})));
        case.items.extend((0..400).map(|at| {
            let mut other = node(&json!({"disk": format!("disk-{at}")}), &json!({}));
            other["metadata"]["name"] = json!(format!("n{at}"));
            other
        }));
        let changes = case.found().0.fixes.into_iter().flat_map(|fix| fix.changes);
        let is_typo = |change: &Change| matches!(change, Change::Pod(PodChange::AddValue { value, typo: Some(_), .. }) if value == "ssd");
        changes.into_iter().any(|change| is_typo(&change))
    };
    assert!(typo(200) && !typo(400));
}

#[test]
fn gates_are_removed_alone_or_with_what_else_is_needed() {
    let taint = json!({"taints": [{"key": "k", "effect": "NoSchedule"}]});
    let spec = json!({"containers": [{"name": "c"}], "schedulingGates": [{"name": "g"}]});
    let gates = Change::Pod(PodChange::RemoveGates(vec!["g".into()]));
    let (found, _) = one_node_case(written(&spec), node(&json!({}), &json!({}))).found();
    assert_eq!(found.fixes.iter().map(|f| f.changes.clone()).collect::<Vec<_>>(), [vec![gates.clone()]]);
    let case = one_node_case(written(&spec), node(&json!({}), &taint));
    let (found, report) = case.found();
    let taint = Taint { key: "k".into(), effect: "NoSchedule".into(), ..Taint::default() };
    let tolerate = vec![gates.clone(), Change::Pod(PodChange::Tolerate(taint.clone()))];
    let remove = vec![gates, Change::Node("n".into(), NodeChange::RemoveTaint(taint))];
    assert!([tolerate, remove].iter().all(|changes| found.fixes.iter().any(|f| f.changes == *changes)), "{:?}", found.fixes);
    for fix in report["fixes"].as_array().expect("fixes") {
        assert_eq!(broken_promise(fix, &case.decide(&patched(&case.items, &fix["patches"]))), None);
    }
}

#[test]
fn a_pod_that_fits_needs_none_and_an_unknown_scheduler_is_named() {
    let mut pod = written(&json!({"containers": [{"name": "c"}]}));
    let (found, report) = one_node_case(pod.clone(), node(&json!({}), &json!({}))).found();
    assert!(found.fixes.is_empty() && report["complete"] == true);
    pod["spec"]["schedulerName"] = json!("defualt-scheduler");
    let (found, _) = one_node_case(pod, node(&json!({}), &json!({}))).found();
    let change = PodChange::SchedulerName { from: "defualt-scheduler".into(), to: "default-scheduler".into() };
    assert_eq!(found.fixes.iter().map(|f| f.changes.clone()).collect::<Vec<_>>(), [vec![Change::Pod(change)]]);
}

#[test]
fn a_search_that_is_cut_short_says_by_what() {
    let spec = json!({"containers": [{"name": "c"}], "nodeSelector": {"disk": "ssd"}});
    let case = one_node_case(written(&spec), node(&json!({}), &json!({})));
    let scheduler = case.scheduler(&case.items);
    let pod = scheduler.state().cluster().pods.get(&case.pod).expect("the pod");
    let search = |limits, watch: &(dyn Fn(usize) -> bool + Sync)| find(&scheduler, pod, limits, Background::nothing(), watch).search;
    let all = search(Limits::of(1), &|_| true);
    assert!(all.is_complete() && all.trials > 3);
    let some = search(Limits { trials: 3, ..Limits::of(1) }, &|_| true);
    assert_eq!((some.trials, some.cut_short_by), (3, vec![CutShort::Trials(3)]));
    let stopped = search(Limits::of(1), &|trial| trial < 2);
    assert_eq!((stopped.trials, stopped.cut_short_by), (2, vec![CutShort::Stopped]));
    let quiet = scheduler.dry_decision(pod, PostFilter::LeaveOut);
    assert_eq!(quiet.best().len(), 0, "the scheduler itself is as it was");
}

#[test]
fn demands_are_tried_on_their_own_up_to_a_number_of_steps() {
    let term = |i: usize| json!({"topologyKey": format!("zone-{i}"), "labelSelector": {"matchLabels": {"app": "db"}}});
    let terms: Vec<Value> = (0..40).map(term).collect();
    let affinity = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}});
    let case = one_node_case(written(&json!({"containers": [{"name": "c"}], "affinity": affinity})), node(&json!({}), &json!({})));
    let scheduler = case.scheduler(&case.items);
    let pod = scheduler.state().cluster().pods.get(&case.pod).expect("the pod").clone();
    let matrix = |most: u64| Matrix::of(&scheduler, &pod, most).expect("a profile");
    let tried = |most: u64| {
        let matrix = matrix(most);
        let alone = matrix.rows.iter().filter(|row| matches!(row.demand, Demand::PodTerm { .. })).count();
        let left: Vec<usize> = matrix.rows[alone..].iter().map(|row| row.fails.count()).collect();
        (alone, left, matrix.untried)
    };
    let untried = |tried: usize| vec![CutShort::Untried { what: Untried::PodAffinity, tried, of: 40 }];
    let find = |steps: u64| find(&scheduler, &pod, Limits { steps, ..Limits::of(1) }, Background::nothing(), &|_| true).search;
    assert_eq!(tried(u64::MAX), (40, Vec::new(), Vec::new()));
    assert_eq!(tried(79), (10, vec![1], untried(10)), "8 steps for the node in each");
    assert_eq!(tried(0), (1, vec![1], untried(1)));
    assert_eq!(tried(38 * 8 + 7), (40, Vec::new(), Vec::new()), "the last one takes no longer than what is left");
    assert_eq!((matrix(0).one.count(), matrix(0).two.count()), (0, 1), "those that were not tried count");
    let is_cut = |by: &CutShort| matches!(by, CutShort::Steps(_));
    let cut = find(79).cut_short_by;
    assert!(cut.iter().any(is_cut) && cut.contains(&untried(10)[0]), "{cut:?}");
    assert!(find(Limits::of(1).steps).cut_short_by.is_empty());
}

#[test]
fn a_search_for_fixes_ends_after_a_number_of_steps() {
    let spec = json!({"containers": [{"name": "c"}], "nodeSelector": {"disk": "ssd"}});
    let devices = json!({"containers": [{"name": "c"}], "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]});
    let request = |name: &str, count: u32| json!({"name": name, "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}});
    let claim = json!({"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "c", "namespace": "a"},
        "spec": {"devices": {"requests": [request("a", 2), request("b", 2), request("c", 3)]}}});
    let gpus: Vec<Value> = (0..6).map(|i| json!({"name": format!("gpu-{i}")})).collect();
    let slice = json!({"kind": "ResourceSlice", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "s"},
        "spec": {"driver": "d", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "allNodes": true, "devices": gpus}});
    let class = json!({"kind": "DeviceClass", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "gpu"}, "spec": {}});
    let trials = |spec: &Value, objects: &[&Value], steps: u64| {
        let mut case = one_node_case(written(spec), node(&json!({}), &json!({})));
        case.items.extend(objects.iter().map(|object| (*object).clone()));
        let scheduler = case.scheduler(&case.items);
        let pod = scheduler.state().cluster().pods.get(&case.pod).expect("the pod");
        let search = find(&scheduler, pod, Limits { steps, ..Limits::of(1) }, Background::nothing(), &|_| true).search;
        let is_cut = search.cut_short_by == [CutShort::Steps(search.trials)];
        (search.trials, is_cut)
    };
    assert_eq!(
        trials(&spec, &[], 10),
        (2, true),
        "a step for the node in each, 8 for the filter of pods' terms, and more for a changed pod"
    );
    let (all, is_cut) = trials(&devices, &[&claim, &slice, &class], Limits::of(1).steps);
    let (some, some_is_cut) = trials(&devices, &[&claim, &slice, &class], 100);
    assert!(
        !is_cut && some_is_cut && some < all.min(50),
        "{some} of {all}, {is_cut} {some_is_cut}: the search for devices takes steps too"
    );
}

/// Returns the search for fixes of a pod with many node selectors, none of which the node has.
fn found_of_selectors(selectors: usize) -> (Fixes, Value) {
    let selectors: Map<String, Value> = (0..selectors).map(|i| (format!("k{i}"), json!("v"))).collect();
    one_node_case(written(&json!({"containers": [{"name": "c"}], "nodeSelector": selectors})), node(&json!({}), &json!({}))).found()
}

#[test]
fn trials_on_large_objects_end_after_a_number_of_steps() {
    let tried = |selectors: usize| {
        let search = found_of_selectors(selectors).0.search;
        (search.trials > selectors, search.cut_short_by.iter().any(|by| matches!(by, CutShort::Steps(_))))
    };
    assert_eq!(tried(20), (true, false));
    assert_eq!(tried(2000), (false, true));
}

#[test]
fn patches_of_many_demands_of_a_large_pod_are_left_out() {
    for (selectors, expected) in [(20, 0), (1000, 1)] {
        let report = found_of_selectors(selectors).1;
        let rows: Vec<&Value> =
            report["constraints"].as_array().expect("rows").iter().filter(|row| row["field"] == "nodeSelector").collect();
        let left_out: Vec<bool> = rows.iter().map(|row| row["withoutLeftOut"] == true).collect();
        assert_eq!((rows.len(), usize::from(left_out.contains(&true))), (selectors, expected));
        for (row, left_out) in rows.iter().zip(&left_out) {
            assert_eq!(row["without"].is_null(), *left_out, "patches, or a word that they are left out: {row:#}");
        }
        assert!(left_out.is_sorted() && !left_out[0], "the first ones have patches");
    }
}

#[test]
fn claims_beyond_the_limit_are_not_tried() {
    let search = |claims: usize| {
        let claims: Vec<Value> = (0..claims).map(|i| json!({"name": format!("c{i}"), "resourceClaimName": format!("c{i}")})).collect();
        let spec = json!({"containers": [{"name": "c"}], "nodeSelector": {"disk": "ssd"}, "resourceClaims": claims});
        let mut case = one_node_case(written(&spec), node(&json!({}), &json!({})));
        let claim = |claim: &Value| {
            json!({"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": claim["name"], "namespace": "a"},
                "spec": {"devices": {"requests": []}}})
        };
        case.items.extend(claims.iter().map(claim));
        let (found, _) = case.found();
        let rows = found.constraints.iter().filter(|row| matches!(row.demand, Demand::Claim(_))).count();
        (rows, found.search.cut_short_by)
    };
    assert_eq!(search(40), (40, Vec::new()));
    assert_eq!(search(41), (40, vec![CutShort::Untried { what: Untried::Claims, tried: 40, of: 41 }]));
}

/// A long spec takes long to decide about, and has as many demands to try.
#[test]
fn a_pod_with_a_spec_out_of_all_measure_is_not_searched() {
    let search = |constraints: usize| {
        let constraint = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
        let items = vec![
            json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}),
            json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "d"},
                "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c"}], "topologySpreadConstraints": vec![constraint; constraints]},
                "status": {"phase": "Pending"}}),
        ];
        let case =
            Case { items, config: Box::new(|| Config::defaults(schedscope::release::Emulation::default())), pod: Key::new("d", "p") };
        case.found()
    };
    let (few, _) = search(2);
    assert_eq!((few.constraints.len(), few.search.cut_short_by), (2, Vec::new()));
    let (many, report) = search(2000);
    assert!(many.constraints.is_empty() && many.fixes.is_empty());
    assert!(matches!(many.search.cut_short_by[..], [CutShort::Spec(length)] if length > 100_000), "{:?}", many.search);
    assert_eq!(many.search.trials, 1, "{report:#}");
}

fn case_of(items: Vec<Value>) -> Case {
    let config = Box::new(|| Config::defaults(schedscope::release::Emulation::default()));
    Case { items, config, pod: Key::new("a", "waiting") }
}

fn named_node(name: &str, labels: &Value, spec: &Value) -> Value {
    let mut node = node(labels, spec);
    node["metadata"]["name"] = json!(name);
    node["metadata"]["uid"] = json!(name);
    node
}

fn running(name: &str, node: &str, priority: i64, cpu: &str, labels: &Value) -> Value {
    json!({
        "kind": "Pod", "metadata": {"name": name, "namespace": "a", "uid": name, "labels": labels},
        "spec": {"schedulerName": "default-scheduler", "nodeName": node, "priority": priority,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Running"}
    })
}

/// Every limit of the search that leaves something out is named; without a limit the same search is complete.
#[test]
fn every_limit_that_leaves_something_out_is_named() {
    let three =
        |spec: Value| (0..3).map(move |i| named_node(&format!("n{i}"), &json!({"zone": format!("z{i}")}), &spec)).collect::<Vec<_>>();
    let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "1"}}}]);
    let taint = |key: &str| json!({"key": key, "effect": "NoSchedule"});
    let tainted = |i: usize| named_node(&format!("n{i}"), &json!({}), &json!({"taints": [taint(&format!("k{i}"))]}));
    let full = |i: usize| running(&format!("p{i}"), &format!("n{i}"), 0, "4", &json!({}));
    let priority = |i: usize| running(&format!("q{i}"), &format!("n{i}"), 10 + i as i64, "4", &json!({"app": "db"}));
    let near = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        [{"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}]}});
    let requirement = |i: usize| json!({"key": format!("k{i}"), "operator": "Exists"});
    let required = json!({"nodeSelectorTerms": [{"matchExpressions": [requirement(0), requirement(1), requirement(2)]}]});
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}});
    let claim = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]);
    let class = |i: usize| json!({"kind": "StorageClass", "metadata": {"name": format!("c{i}")}, "provisioner": "p", "volumeBindingMode": "WaitForFirstConsumer"});
    let device = json!([{"name": "d", "resourceClaimName": "gpu"}]);
    let devices = |i: usize| json!({"kind": "DeviceClass", "metadata": {"name": format!("c{i}")}, "spec": {}});
    let cases: Vec<(Untried, Value, Vec<Value>)> = vec![
        (Untried::Values("zone".into()), json!({"nodeSelector": {"zone": "z9"}}), three(json!({}))),
        (Untried::CordonedNodes, json!({}), three(json!({"unschedulable": true}))),
        (Untried::TaintedNodes, json!({}), three(json!({"taints": [taint("k")]}))),
        (Untried::Taints, json!({}), (0..3).map(tainted).collect()),
        (Untried::NodeGroups, json!({}), (0..3).map(tainted).collect()),
        (Untried::Deletions, json!({"preemptionPolicy": "Never"}), three(json!({})).into_iter().chain((0..3).map(full)).collect()),
        (Untried::Requirements, json!({"affinity": affinity}), three(json!({}))),
        (Untried::Priorities, json!({"affinity": near}), three(json!({})).into_iter().chain((0..3).map(priority)).collect()),
        (Untried::StorageClasses, json!({"volumes": claim}), three(json!({})).into_iter().chain((0..3).map(class)).collect()),
        (Untried::DeviceClasses, json!({"resourceClaims": device}), three(json!({})).into_iter().chain((0..3).map(devices)).collect()),
    ];
    for (what, spec, mut items) in cases {
        let mut pod = written(&json!({"containers": containers}));
        merge(&mut pod["spec"], &spec);
        items.extend([json!({"kind": "Namespace", "metadata": {"name": "a"}}), pod]);
        let case = case_of(items);
        let scheduler = case.scheduler(&case.items);
        let pod = scheduler.state().cluster().pods.get(&case.pod).expect("the pod");
        let search = |limits| find(&scheduler, pod, limits, Background::nothing(), &|_| true);
        assert_eq!(search(Limits::of(3)).search.cut_short_by, [], "{what:?}");
        let cut = search(Limits { alike: 2, deletions: 2, ..Limits::of(3) });
        let is_named = |by: &CutShort| matches!(by, CutShort::Untried { what: of, tried: 2, of: 3 | 4 } if *of == what);
        assert!(cut.search.cut_short_by.iter().any(is_named), "{what:?}: {:?}", cut.search.cut_short_by);
        let report = serde_json::to_value(FixesReport::new(&cut, scheduler.state().cluster(), (&|_, _| None, &Neighbors::default())))
            .expect("plain data");
        assert_eq!(report["complete"], false);
        assert!(report["cutShortBy"].as_str().is_some_and(|text| text.contains("2 of ")), "{report}");
    }
}

/// A pod of a higher priority would evict the very pod that this one needs near it.
#[test]
fn the_least_priority_is_found_where_a_higher_one_would_not_do() {
    let near = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        [{"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}]}});
    let spec = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}], "affinity": near});
    let mut items = vec![
        json!({"kind": "Namespace", "metadata": {"name": "a"}}),
        written(&spec),
        named_node("n", &json!({"kubernetes.io/hostname": "n"}), &json!({})),
        named_node("other", &json!({"kubernetes.io/hostname": "other"}), &json!({"taints": [{"key": "k", "effect": "NoSchedule"}]})),
        running("filler", "n", 1, "2", &json!({})),
        running("db", "n", 3, "2", &json!({"app": "db"})),
    ];
    items.extend((0..20).map(|i| running(&format!("p{i}"), "other", 10 + i, "0", &json!({}))));
    let (found, _) = case_of(items).found();
    let priority = |fix: &Fix| match &fix.changes[..] {
        [Change::Pod(PodChange::Priority { to, .. })] => Some(*to),
        _ => None,
    };
    assert_eq!(found.fixes.iter().filter_map(priority).collect::<Vec<_>>(), [2]);
    assert!(found.search.is_complete());
}

/// Returns the changes of each fix that is not about the node or the pod itself, in words, each of which keeps its promise.
fn provisions(case: &Case) -> (Fixes, Vec<String>) {
    let (found, report) = case.found();
    assert!(found.search.is_complete(), "{:?}", found.search);
    let mut texts = Vec::new();
    for (fix, written) in found.fixes.iter().zip(report["fixes"].as_array().expect("fixes")) {
        let decision = case.decide(&patched(&case.items, &written["patches"]));
        assert_eq!(broken_promise(written, &decision), None);
        if fix.changes.iter().all(|change| !matches!(change, Change::Pod(_) | Change::Node(..) | Change::Create { like: Some(_), .. })) {
            texts.push(written["text"].as_str().unwrap_or_default().to_owned());
        }
    }
    (found, texts)
}

#[test]
fn storage_that_is_missing_is_provided() {
    let class = |name: &str, provisioner: &str, mode: &str| json!({"kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode});
    let claim = |class: &str, volume: &str| {
        json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "a", "uid": "d"},
            "spec": {"storageClassName": class, "volumeName": volume, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}})
    };
    let bound = |mut claim: Value| {
        claim["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
        claim
    };
    let (waits, immediate, none) = ("WaitForFirstConsumer", "Immediate", "kubernetes.io/no-provisioner");
    let volume = "create PersistentVolume for-a-data";
    let bind = format!("{volume} and bind a/data to for-a-data");
    let cases = [
        ("a missing claim, by a class", vec![class("fast", "p", waits)], vec!["create PersistentVolumeClaim a/data".to_owned()], vec![]),
        ("a missing claim, no class", vec![], vec![format!("create PersistentVolumeClaim a/data and {volume}")], vec![]),
        (
            "a missing claim, an immediate class",
            vec![class("now", "p", immediate)],
            vec![format!("create PersistentVolumeClaim a/data and {volume}")],
            vec![],
        ),
        ("a class without provisioner", vec![class("local", none, waits), claim("local", "")], vec![volume.to_owned()], vec![]),
        ("an unbound immediate claim", vec![class("now", "p", immediate), claim("now", "")], vec![bind.clone()], vec![]),
        ("a claim without a class", vec![claim("", "")], vec![bind.clone()], vec![]),
        (
            "a missing class, like another",
            vec![class("slow", "p", waits), claim("fast", "")],
            vec!["create StorageClass fast".to_owned(), bind.clone()],
            vec![],
        ),
        (
            "a missing class, no provisioner",
            vec![class("local", none, waits), claim("fast", "")],
            vec![bind.clone()],
            vec![Unproposed::NoProvisioner { claim: "data".into(), class: "fast".into() }],
        ),
        ("a missing volume", vec![bound(claim("", "gone"))], vec!["create PersistentVolume gone".to_owned()], vec![]),
    ];
    for (what, storage, expected, unproposed) in cases {
        let spec = json!({"containers": [{"name": "c"}], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]});
        let mut items = vec![json!({"kind": "Namespace", "metadata": {"name": "a"}}), node(&json!({}), &json!({})), written(&spec)];
        items.extend(storage);
        let (found, texts) = provisions(&case_of(items));
        assert_eq!((&texts, &found.unproposed), (&expected, &unproposed), "{what}");
        let row = found.constraints.iter().find(|row| matches!(row.demand, Demand::Volume { .. })).expect("a row");
        assert!(row.fails == 1 && matches!(row.closest, Closest::Reason(_)), "{what}: {row:?}");
    }
}

#[test]
fn a_claim_that_no_controller_can_be_replaced_for_is_said() {
    let with = |volume: Value, more: Vec<Value>| {
        let spec = json!({"containers": [{"name": "c"}], "volumes": [volume]});
        let mut items = vec![json!({"kind": "Namespace", "metadata": {"name": "a"}}), node(&json!({}), &json!({})), written(&spec)];
        items.extend(more);
        let (found, report) = case_of(items).found();
        assert_eq!(report["notProposed"].as_array().map(Vec::len), Some(1), "{report}");
        found.unproposed
    };
    let ephemeral = json!({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}});
    assert_eq!(with(ephemeral, vec![]), [Unproposed::EphemeralClaim("waiting-scratch".into())]);
    let named = json!({"name": "v", "persistentVolumeClaim": {"claimName": "data"}});
    let mut claim =
        json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "a"}, "spec": {}, "status": {"phase": "Lost"}});
    assert_eq!(with(named.clone(), vec![claim.clone()]), [Unproposed::Lost("data".into())]);
    claim["metadata"]["deletionTimestamp"] = json!("2026-11-20T00:00:00Z");
    let deleting = Unproposed::Deleting { kind: Kind::PersistentVolumeClaim, name: "data".into() };
    assert_eq!(with(named, vec![claim]), [deleting]);
}

fn slice(node: &str, models: &[&str], taint: Option<&str>) -> Value {
    let device = |(i, model): (usize, &&str)| {
        let taints: Vec<Value> = taint.iter().map(|key| json!({"key": key, "effect": "NoSchedule"})).collect();
        json!({"name": format!("gpu-{i}"), "attributes": {"model": {"string": model}}, "taints": taints})
    };
    let devices: Vec<Value> = models.iter().enumerate().map(device).collect();
    json!({"kind": "ResourceSlice", "metadata": {"name": format!("slice-{node}")}, "spec": {"driver": "gpu.example.com", "nodeName": node,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}, "devices": devices}})
}

fn device_claim(name: &str, request: &Value) -> Value {
    let mut exactly = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1});
    merge(&mut exactly, request);
    json!({"kind": "ResourceClaim", "metadata": {"name": name, "namespace": "a", "uid": name},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}})
}

/// A claim that holds devices of node `n`, and the pod that uses it.
fn held(name: &str, devices: &[usize], user: Option<&str>) -> Value {
    let mut claim = device_claim(name, &json!({}));
    let result = |i: &usize| json!({"request": "r", "driver": "gpu.example.com", "pool": "n", "device": format!("gpu-{i}")});
    let results: Vec<Value> = devices.iter().map(result).collect();
    claim["status"] = json!({"allocation": {"devices": {"results": results}}});
    if let Some(user) = user {
        claim["status"]["reservedFor"] = json!([{"resource": "pods", "name": user, "uid": user}]);
    }
    claim
}

#[test]
fn claims_and_devices_are_provided_or_freed() {
    let class = |name: &str, model: &str| {
        let expression = format!("device.attributes['gpu.example.com'].model == '{model}'");
        json!({"kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": expression}}]}})
    };
    let selects = |model: &str| json!({"cel": {"expression": format!("device.attributes['gpu.example.com'].model == '{model}'")}});
    let drop = |model: &str| format!("drop selector \"device.attributes['gpu.example.com'].model == '{model}'\" of request r of a/gpu");
    let gpu = || class("gpu", "a100");
    let text = |text: &str| vec![text.to_owned()];
    let owned = |mut claim: Value| {
        claim["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "v1", "kind": "Pod", "name": "user", "uid": "user", "controller": true}]);
        claim
    };
    let user = || {
        let mut pod = running("user", "n", 0, "0", &json!({}));
        pod["spec"]["preemptionPolicy"] = json!("Never");
        pod
    };
    let both = json!({"selectors": [selects("h100"), selects("b200")]});
    let cases: Vec<(&str, Vec<Value>, Vec<String>)> = vec![
        ("a missing claim", vec![gpu(), slice("n", &["a100"], None)], text("create ResourceClaim a/gpu")),
        ("a missing class", vec![device_claim("gpu", &json!({})), slice("n", &["a100"], None)], text("create DeviceClass gpu")),
        (
            "a misspelt class",
            vec![class("gpus", "a100"), device_claim("gpu", &json!({})), slice("n", &["a100"], None)],
            vec![
                "DeviceClass gpus instead of gpu in request r of a/gpu (likely typo)".to_owned(),
                "create DeviceClass gpu".to_owned(),
                "create DeviceClass gpu".to_owned(),
            ],
        ),
        (
            "a selector that no device matches",
            vec![gpu(), device_claim("gpu", &json!({"selectors": [selects("h100")]})), slice("n", &["a100"], None)],
            vec![drop("h100")],
        ),
        (
            "two selectors that no device matches",
            vec![gpu(), device_claim("gpu", &both), slice("n", &["a100"], None)],
            text("drop all selectors of request r of a/gpu"),
        ),
        (
            "too many devices",
            vec![gpu(), device_claim("gpu", &json!({"count": 7})), slice("n", &["a100"; 3], None)],
            text("request r of a/gpu for 3 devices instead of 7"),
        ),
        (
            "tainted devices",
            vec![gpu(), device_claim("gpu", &json!({})), slice("n", &["a100"], Some("broken"))],
            text("tolerate device taint broken:NoSchedule in request r of a/gpu"),
        ),
        (
            "a claim that nobody uses",
            vec![gpu(), device_claim("gpu", &json!({})), slice("n", &["a100"], None), held("idle", &[0], None)],
            text("delete ResourceClaim a/idle"),
        ),
        (
            "a claim of a pod",
            vec![gpu(), device_claim("gpu", &json!({})), slice("n", &["a100"], None), owned(held("of-user", &[0], Some("user"))), user()],
            text("delete Pod a/user and delete ResourceClaim a/of-user"),
        ),
        (
            "a claim that one pod uses",
            vec![gpu(), device_claim("gpu", &json!({})), slice("n", &["a100"], None), held("shared", &[0], Some("user")), user()],
            text("delete Pod a/user and deallocate a/shared"),
        ),
    ];
    for (what, devices, expected) in cases {
        let spec = json!({"containers": [{"name": "c"}], "resourceClaims": [{"name": "g", "resourceClaimName": "gpu"}]});
        let mut items = vec![json!({"kind": "Namespace", "metadata": {"name": "a"}}), node(&json!({}), &json!({})), written(&spec)];
        items.extend(devices);
        let (found, texts) = provisions(&case_of(items));
        assert_eq!((&texts, &found.unproposed[..]), (&expected, &[][..]), "{what}");
        let row = found.constraints.iter().find(|row| matches!(row.demand, Demand::Claim(_))).expect("a row");
        assert!((row.fails, row.opens) == (1, 1) && row.closest != Closest::Unknown, "{what}: {row:?}");
    }
}

#[test]
fn devices_that_a_request_selects_are_counted_with_their_holders() {
    let class = json!({"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}});
    let selectors = json!([{"cel": {"expression": "device.attributes['gpu.example.com'].model == 'a100'"}}]);
    let wanted = device_claim("gpu", &json!({"selectors": selectors, "count": 2}));
    let spec = json!({"containers": [{"name": "c"}], "resourceClaims": [{"name": "g", "resourceClaimName": "gpu"}]});
    let items = vec![
        json!({"kind": "Namespace", "metadata": {"name": "a"}}),
        node(&json!({}), &json!({})),
        written(&spec),
        class,
        wanted,
        slice("n", &["a100", "a100", "h100"], None),
        held("idle", &[1], None),
    ];
    let (found, report) = case_of(items).found();
    let row = report["constraints"].as_array().into_iter().flatten().find(|row| row["kind"] == "resourceClaim").expect("a row");
    assert_eq!(row["closest"], "request r selects 2 devices in the cluster, 1 of them free; the others are held by a/idle");
    let another = found.fixes.iter().find(|fix| matches!(fix.changes[0], Change::Create { like: Some(_), .. })).expect("one more node");
    let kinds: Vec<Kind> = another.changes.iter().map(|change| change.target(&found.pod).0).collect();
    assert_eq!(kinds, [Kind::Node, Kind::ResourceSlice], "its devices come with it");
}

#[test]
fn claims_that_only_a_controller_makes_are_said() {
    let with = |claims: Value, more: Vec<Value>| {
        let spec = json!({"containers": [{"name": "c"}], "resourceClaims": claims});
        let mut items = vec![json!({"kind": "Namespace", "metadata": {"name": "a"}}), node(&json!({}), &json!({})), written(&spec)];
        items.extend(more);
        let (found, report) = case_of(items).found();
        assert_eq!(report["notProposed"].as_array().map(Vec::len), Some(1), "{report}");
        found.unproposed
    };
    let from = json!([{"name": "g", "resourceClaimTemplateName": "t"}]);
    let template = json!({"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "a"}, "spec": {"spec": {}}});
    let awaited = |exists| [Unproposed::FromTemplate { name: "g".into(), template: "t".into(), exists }];
    assert_eq!(with(from.clone(), vec![]), awaited(false));
    assert_eq!(with(from, vec![template]), awaited(true));
    let named = || json!([{"name": "g", "resourceClaimName": "gpu"}]);
    assert_eq!(with(named(), vec![]), [Unproposed::NoDeviceClass("gpu".into())]);
    assert_eq!(with(named(), vec![device_claim("gpu", &json!({}))]), [Unproposed::NoDevices("gpu".into())]);
    let mut elsewhere = held("gpu", &[0], Some("user"));
    elsewhere["status"]["allocation"]["nodeSelector"] =
        json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["other"]}]}]});
    assert_eq!(with(named(), vec![elsewhere.clone()]), [Unproposed::AllocatedElsewhere("gpu".into())]);
    elsewhere["metadata"]["deletionTimestamp"] = json!("2026-11-20T00:00:00Z");
    let deleting = Unproposed::Deleting { kind: Kind::ResourceClaim, name: "gpu".into() };
    assert_eq!(with(named(), vec![elsewhere]), [deleting]);
}

/// Creating an object whose kind could not be read may fail, or replace the answer that it would give.
#[test]
fn objects_that_may_exist_are_not_created() {
    let claim = json!({"name": "v", "persistentVolumeClaim": {"claimName": "data"}});
    let device = json!({"name": "g", "resourceClaimName": "gpu"});
    let wants = |spec: Value| {
        let mut pod = written(&json!({"containers": [{"name": "c"}]}));
        merge(&mut pod["spec"], &spec);
        vec![json!({"kind": "Namespace", "metadata": {"name": "a"}}), node(&json!({}), &json!({})), pod]
    };
    for (kind, name, spec) in [
        (Kind::PersistentVolumeClaim, "data", json!({"volumes": [claim]})),
        (Kind::ResourceClaim, "gpu", json!({"resourceClaims": [device]})),
    ] {
        let case = case_of(wants(spec));
        let objects: Vec<Object> = case.items.iter().filter_map(object).collect();
        let refused = [kind].into_iter().collect();
        let unknown = MissingKinds { refused, ..MissingKinds::default() };
        let scheduler = Scheduler::new((case.config)(), objects, Options { unknown, ..Options::default() });
        let pod = scheduler.state().cluster().pods.get(&case.pod).expect("the pod");
        let found = find(&scheduler, pod, Limits::of(1), Background::nothing(), &|_| true);
        assert_eq!(found.unproposed, [Unproposed::Unread { kind, name: name.into() }]);
        let creates = |fix: &Fix| fix.changes.iter().any(|change| matches!(change, Change::Create { object, .. } if object.kind() == kind));
        assert!(!found.fixes.iter().any(creates), "{:?}", found.fixes);
    }
}
