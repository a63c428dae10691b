//! Tests of the comparison of two states.

use serde_json::{Value, json};

use super::*;
use crate::cluster::MissingKinds;
use crate::cluster::testing::object_with_kind;
use crate::release::Emulation;
use crate::scheduler::{Config, Options};

fn node(name: &str, cpu: &str) -> Value {
    json!({"kind": "Node", "metadata": {"name": name, "uid": name}, "status": {"allocatable": {"cpu": cpu, "pods": "10"}}})
}

fn pod(name: &str, node: &str, cpu: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"nodeName": node, "schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}})
}

fn scheduler(objects: &[Value]) -> Scheduler {
    Scheduler::new(Config::defaults(Emulation::default()), objects.iter().map(object_with_kind).collect(), Options::default())
}

fn diff(old: &[Value], new: &[Value]) -> DumpDiff {
    let state = |name: &str| DumpState { name: name.to_owned(), at: None };
    DumpDiff::of([&scheduler(old), &scheduler(new)], [state("old"), state("new")], |_| true, |_| true)
}

fn sentences(diff: &DumpDiff) -> Vec<&str> {
    diff.pods.iter().map(|pod| pod.sentence.as_str()).collect()
}

#[test]
fn a_pod_that_fitted_names_the_taint_that_its_node_got() {
    let mut tainted = node("w1", "4");
    tainted["spec"] = json!({"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]});
    tainted["metadata"]["labels"] = json!({"zone": "a"});
    let other = pod("other", "w2", "2");
    let old = [node("w1", "4"), node("w2", "2"), other.clone(), pod("web", "", "2")];
    let new = [tainted, node("w2", "2"), other, pod("web", "", "2")];
    let found = diff(&old, &new);
    assert!(found.some_decision_changed());
    let words = "shop/web fitted on w1; it does not fit on any node now: since then w1 got the label zone=a, got the taint dedicated=gpu:NoSchedule.";
    assert_eq!(sentences(&found), [words]);
    let because = found.pods[0].because.as_ref().unwrap();
    assert_eq!((because.how, because.node.as_ref().map(Str::as_str), &because.changes[..]), (How::One, Some("w1"), &[0][..]));
    // The other way round it begins to fit.
    let back = diff(&new, &old);
    assert_eq!(
        sentences(&back),
        [
            "shop/web did not fit on any node; it fits on w1 now: since then w1 lost the label zone=a, lost the taint dedicated=gpu:NoSchedule."
        ]
    );
}

#[test]
fn changes_that_explain_together_are_named_together_and_others_are_not() {
    let web = pod("web", "", "3");
    let with = |cpu: &str| [node("w1", "4"), pod("a", "w1", cpu), pod("b", "w1", cpu), pod("c", "w2", "1"), web.clone()];
    // 1 cpu is free beside it: each of two pods of 1 takes what the other left, and of two pods of 2 one is too much.
    for (cpu, how) in [("1", How::Each), ("2", How::Together)] {
        let found = diff(&[node("w1", "4"), web.clone()], &with(cpu));
        let because = found.pods[0].because.as_ref().unwrap();
        assert_eq!((because.how, because.changes.len()), (how, 2));
        assert_eq!(
            sentences(&found),
            ["shop/web fitted on w1; it does not fit on any node now: since then shop/a was bound to w1, and shop/b was bound to w1."]
        );
        assert_eq!(found.changes.len(), 3);
    }
}

#[test]
fn pods_that_wait_no_more_and_new_ones_are_named_and_equal_decisions_counted() {
    let same = pod("same", "", "9");
    let old = [node("w1", "4"), same.clone(), pod("bound", "", "1"), pod("gone", "", "1")];
    let new = [node("w1", "4"), same, pod("bound", "w1", "1"), pod("late", "", "1")];
    let found = diff(&old, &new);
    assert!(!found.some_decision_changed(), "{found:#?}");
    assert_eq!(
        sentences(&found),
        [
            "shop/bound fitted on w1, and was bound there: w1.",
            "shop/gone fitted on w1; it waits no more: it is deleted, or has ended.",
            "shop/late is new, and would have fitted on w1 then as it does now.",
        ]
    );
    assert_eq!(found.unchanged, 1);
    let none = diff(&old, &old);
    assert!(none.pods.is_empty() && none.changes.is_empty() && none.unchanged == 3);
}

#[test]
fn a_kind_that_one_state_lacks_is_not_compared() {
    let object = |value: Value| object_with_kind(&value);
    let cluster = |with: bool| {
        let mut cluster: Cluster = [object(node("w1", "4"))].into_iter().collect();
        if with {
            cluster.insert(object(json!({"kind": "PersistentVolume", "metadata": {"name": "v"}})));
        } else {
            cluster.unknown.absent.insert(Kind::PersistentVolume);
        }
        cluster
    };
    let why = MissingReason::NotInSource;
    for (older, newer) in [(true, false), (false, true)] {
        let (changes, lacking) = object_changes([&cluster(older), &cluster(newer)]);
        assert_eq!(lacking, [NotCompared { kind: Kind::PersistentVolume, in_older: !older, why, in_part: false, objects: 1 }]);
        assert!(changes.is_empty());
    }
    assert_eq!(object_changes([&cluster(false), &cluster(false)]), (Vec::new(), Vec::new()));
    // An empty list is known.
    let empty = Cluster { unknown: MissingKinds::default(), ..cluster(false) };
    let (changes, lacking) = object_changes([&cluster(true), &empty]);
    assert!(lacking.is_empty() && changes.len() == 1);
}

/// Returns a scheduler on objects of which the source may lack some of a kind.
fn scheduler_in_part(objects: &[Value], unknown: MissingKinds) -> Scheduler {
    let options = Options { unknown, ..Options::default() };
    Scheduler::new(Config::defaults(Emulation::default()), objects.iter().map(object_with_kind).collect(), options)
}

#[test]
fn objects_that_a_state_may_lack_are_neither_new_nor_gone() {
    let all = [node("w1", "4"), node("w2", "4"), pod("web", "", "1"), pod("other", "w1", "1")];
    let part = [node("w1", "4"), node("w2", "2"), pod("other", "w1", "2")];
    let state = |name: &str| DumpState { name: name.to_owned(), at: None };
    let diff = |old: &Scheduler, new: &Scheduler| DumpDiff::of([old, new], [state("old"), state("new")], |_| true, |_| true);
    let pods: crate::cluster::KindSet = std::iter::once(Kind::Pod).collect();
    let changes = |found: &DumpDiff| found.changes.iter().map(|change| (change.key.name.to_string(), change.change)).collect::<Vec<_>>();
    let updated = [("w2".to_owned(), ChangeKind::Updated), ("other".to_owned(), ChangeKind::Updated)];
    for (missing, why) in [
        (MissingKinds { refused: pods, ..MissingKinds::default() }, MissingReason::Refused),
        (MissingKinds { failed: pods, ..MissingKinds::default() }, MissingReason::Failed),
        (MissingKinds { incomplete: pods, ..MissingKinds::default() }, MissingReason::Incomplete),
        (MissingKinds { selected: pods, ..MissingKinds::default() }, MissingReason::Selected),
    ] {
        let found = diff(&scheduler(&all), &scheduler_in_part(&part, missing));
        assert_eq!(sentences(&found), ["shop/web fitted on w2; whether it still waits is unknown: the newer state may lack it."]);
        assert_eq!((found.pods[0].now.clone(), changes(&found)), (Now::Unknown, updated.to_vec()), "{why}");
        assert_eq!(found.not_compared, [NotCompared { kind: Kind::Pod, in_older: false, why, in_part: true, objects: 1 }]);
        // The other way round it may be new.
        let back = diff(&scheduler_in_part(&part, missing), &scheduler(&all));
        assert_eq!((changes(&back), back.not_compared[0].in_older), (updated.to_vec(), true));
        assert!(back.pods[0].may_be_old, "{:?}", back.pods);
    }
    // The namespace was read.
    let partial = MissingKinds { partial: pods, ..MissingKinds::default() };
    let found = diff(&scheduler(&all), &scheduler_in_part(&part, partial));
    assert_eq!((found.pods[0].now.clone(), found.not_compared[0].objects), (Now::Gone, 0));
    // A node that the newer state may lack was not removed.
    let nodes = MissingKinds { failed: std::iter::once(Kind::Node).collect(), ..MissingKinds::default() };
    let found =
        diff(&scheduler(&[node("w1", "4"), pod("web", "", "3")]), &scheduler_in_part(&[node("w2", "1"), pod("web", "", "3")], nodes));
    assert_eq!(changes(&found), [("w2".to_owned(), ChangeKind::Created)]);
    assert_eq!(
        sentences(&found),
        ["shop/web fitted on w1; it does not fit on any node now: no changes were found that explain it, and not all Nodes are compared."]
    );
}

#[test]
fn explanations_are_searched_within_a_number_of_trials() {
    let new = scheduler(&[node("w1", "1"), pod("web", "", "2")]);
    let old = scheduler(&[node("w1", "4"), pod("web", "", "2")]);
    let state = DumpState { name: String::new(), at: None };
    let found = DumpDiff::of([&old, &new], [state.clone(), state], |_| true, |_| true);
    let (_, contrast) = pods([&old, &new].map(|scheduler| scheduler.state().cluster()), |_| true).remove(0).decide([&old, &new]);
    let contrast = contrast.unwrap();
    for (trials, expected) in [(0, How::NotSearched), (1, How::One)] {
        let because = Search::new(&new, &found.changes, trials, 1_000).because(&found.pods[0], &contrast);
        assert_eq!(because.how, expected);
    }
    // One trial takes 30 steps for its change and 10 on the node.
    for (steps, expected) in [(39, How::NotSearched), (40, How::One)] {
        let because = Search::new(&new, &found.changes, 9, steps).because(&found.pods[0], &contrast);
        assert_eq!(because.how, expected);
    }
    assert_eq!(sentences(&found), ["shop/web fitted on w1; it does not fit on any node now: since then w1 has 1 cpu instead of 4."]);
}

#[test]
fn pods_that_differ_in_their_names_are_decided_once_and_named_each() {
    let names = ["a", "b", "c"];
    let with = |cpu: &str| [node("w1", cpu)].into_iter().chain(names.map(|name| pod(name, "", "2"))).collect::<Vec<_>>();
    let found = diff(&with("4"), &with("1"));
    let about = |name: &str| format!("shop/{name} fitted on w1; it does not fit on any node now: since then w1 has 1 cpu instead of 4.");
    assert_eq!(sentences(&found), names.map(about));
    let (old, new) = (scheduler(&with("4")), scheduler(&with("1")));
    let meant = pods([&old, &new].map(|scheduler| scheduler.state().cluster()), |_| true);
    assert_eq!(meant.chunk_by(|a, b| a.is_decided_like(b, [&old, &new])).count(), 1);
    // Another spec, another state and another end have decisions of their own.
    let (old, new) = (
        [node("w1", "4"), pod("a", "", "2"), pod("b", "", "1"), pod("c", "", "1")],
        [node("w1", "4"), pod("a", "", "2"), pod("b", "", "1")],
    );
    let (old, new) = (scheduler(&old), scheduler(&new));
    let meant = pods([&old, &new].map(|scheduler| scheduler.state().cluster()), |_| true);
    assert_eq!(meant.chunk_by(|a, b| a.is_decided_like(b, [&old, &new])).count(), 3);
}

#[test]
fn states_are_compared_within_a_number_of_steps() {
    let objects: Vec<Value> = [node("w1", "4"), pod("a", "", "1"), pod("b", "", "2"), pod("c", "", "3")].into();
    let (old, new) = (scheduler(&objects), scheduler(&objects));
    let meant = || pods([&old, &new].map(|scheduler| scheduler.state().cluster()), |_| true);
    let of_one = 2 * StepBound::steps_of_recorded(&new, new.state().cluster().pods.iter().next().unwrap());
    assert_eq!([1, of_one, of_one + 1, u64::MAX].map(|steps| within_steps(&meant(), [&old, &new], steps)), [1, 1, 2, 3]);
    let state = DumpState { name: String::new(), at: None };
    let cut = DumpDiff::of_some([&old, &new], [state.clone(), state], (|_: &Key| true, 1), |_| true);
    assert_eq!(
        (cut.unchanged, cut.not_decided.iter().map(ToString::to_string).collect::<Vec<_>>()),
        (1, vec!["shop/b".into(), "shop/c".into()])
    );
    let text = cut.document().plain(crate::output::Headings::Colon).into_vec().join("\n");
    assert!(text.contains("2 pods are not decided, from shop/b on: the decisions about the others took all steps"), "{text}");
}

#[test]
fn a_gate_that_went_is_a_change_of_the_pod() {
    let mut gated = pod("web", "", "1");
    gated["spec"]["schedulingGates"] = json!([{"name": "example.com/quota"}]);
    let found = diff(&[node("w1", "4"), gated], &[node("w1", "4"), pod("web", "", "1")]);
    assert_eq!(found.pods[0].differs, Some(Differs::Outcome));
    let words = "shop/web was held back by a gate; it fits on w1 now: since then it has spec.schedulingGates[example.com/quota]";
    assert!(sentences(&found)[0].starts_with(words), "{:?}", sentences(&found));
}

/// Only several changes on several nodes together explain other reasons, and other victims.
#[test]
fn changes_on_several_nodes_explain_together() {
    let low = |name: &str, node: &str| pod(name, node, "2");
    let mut web = pod("web", "", "4");
    web["spec"]["priority"] = json!(9);
    let nodes = [node("w1", "4"), node("w2", "4")];
    let on = |pods: &[Value]| nodes.iter().cloned().chain(pods.iter().cloned()).chain([web.clone()]).collect::<Vec<_>>();
    // Preemption takes the node with fewer victims, and that changes with pods on either.
    let old = on(&[low("a", "w1"), low("b", "w2"), low("c", "w2")]);
    let new = on(&[low("a", "w1"), low("d", "w1"), low("b", "w2")]);
    let found = diff(&old, &new);
    assert_eq!(found.pods[0].differs, Some(Differs::Victims));
    let because = found.pods[0].because.as_ref().unwrap();
    assert!(matches!(because.how, How::One | How::Together) && !because.changes.is_empty(), "{because:?}");
    let said = sentences(&found)[0];
    assert!(
        said.starts_with("shop/web did not fit on any node; it still does not, and preemption would evict others: since then shop/"),
        "{said}"
    );
}

#[test]
fn a_pod_that_was_nominated_since_waits_for_its_victims() {
    let mut web = pod("web", "", "4");
    web["spec"]["priority"] = json!(9);
    let old = [node("w1", "4"), pod("low", "w1", "4"), web.clone()];
    let mut ending = pod("low", "w1", "4");
    ending["metadata"]["deletionTimestamp"] = json!("2026-11-20T18:00:00Z");
    ending["status"]["conditions"] = json!([{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]);
    web["status"] = json!({"nominatedNodeName": "w1"});
    let found = diff(&old, &[node("w1", "4"), ending, web]);
    assert_eq!(found.pods[0].differs, Some(Differs::Nominated));
    let said = sentences(&found)[0];
    let words = "shop/web did not fit on any node; preemption chose a node for it: since then shop/low ";
    assert!(said.starts_with(words), "{said}");
}

#[test]
fn a_pod_that_another_was_nominated_before_names_the_nomination() {
    let nominated = |node: Option<&str>| {
        let mut big = pod("big", "", "3");
        big["spec"]["priority"] = json!(100);
        big["status"] = json!({"phase": "Pending", "nominatedNodeName": node});
        big
    };
    let old = [node("w1", "4"), pod("there", "w1", "1"), nominated(None), pod("web", "", "2")];
    let new = [node("w1", "4"), pod("there", "w1", "1"), nominated(Some("w1")), pod("web", "", "2")];
    for (from, to, expected) in [
        (&old, &new, "shop/web fitted on w1; it does not fit on any node now: since then shop/big was nominated to w1."),
        (&new, &old, "shop/web did not fit on any node; it fits on w1 now: since then shop/big is no longer nominated to w1."),
    ] {
        let found = diff(from, to);
        assert!(sentences(&found).contains(&expected), "{:?}", sentences(&found));
    }
}
