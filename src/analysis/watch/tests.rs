//! Tests of `watch`.

use serde_json::{Value, json};

use super::*;
use crate::cluster::testing::object_with_kind;
use crate::cluster::{MissingKinds, Object};
use crate::release::Emulation;
use crate::scheduler::{Config, Options};

fn pod(name: &str, node: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name},
            "spec": {"nodeName": node, "schedulerName": "default-scheduler", "containers": [{"name": "c"}]}})
}

fn budget(healthy: i32) -> Value {
    json!({"kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "shop"},
            "status": {"disruptionsAllowed": 0, "currentHealthy": healthy, "desiredHealthy": 2}})
}

fn objects(values: &[Value]) -> Vec<Object> {
    values.iter().map(object_with_kind).collect()
}

fn cluster(values: &[Value]) -> Cluster {
    objects(values).into_iter().collect()
}

fn next(watched: &mut Watched, values: &[Value], events: &[ObservedEvent], wanted: &impl Fn(&Key) -> bool) -> Vec<String> {
    let scheduler = || Ok::<_, ()>(Scheduler::new(Config::defaults(Emulation::default()), objects(values), Options::default()));
    let happened = watched.next(Timestamp::UNIX_EPOCH, &cluster(values), events, wanted, scheduler).unwrap();
    happened.iter().map(|event| event.line().split_once(' ').unwrap().1.to_owned()).collect()
}

#[test]
fn each_change_is_a_line_once() {
    let all = |_: &Key| true;
    let mut watched = Watched::of(&cluster(&[budget(2), pod("a", ""), pod("b", "")]), &[], &all);
    assert_eq!(watched.started(Timestamp::UNIX_EPOCH)[0].line(), "1970-01-01T00:00:00Z watching: pending pods: 2, violated budgets: 0");
    let event: ObservedEvent = ObservedEvent {
        pod: Key::new("shop", "v"),
        reason: "Preempted".into(),
        note: "Preempted by shop/c on node w1".to_owned(),
        ..ObservedEvent::default()
    };
    let second = [budget(1), pod("a", "w1"), pod("c", "")];
    let expected = [
        "preempted shop/v on w1 for shop/c",
        "budget violated shop/b: 1 healthy of 2 that must be",
        "pending no more shop/a: bound to w1",
        "pending no more shop/b: deleted, or ended",
        "pending shop/c: Pending because there are no nodes.",
    ];
    assert_eq!(next(&mut watched, &second, &[event], &all), expected);
    assert_eq!(next(&mut watched, &second, &[], &all), Vec::<String>::new());
    let mut again = pod("c", "");
    again["metadata"]["uid"] = json!("another");
    assert_eq!(
        next(&mut watched, &[budget(2), pod("a", "w1"), again], &[], &all),
        ["budget met again shop/b", "pending shop/c: Pending because there are no nodes."]
    );
}

#[test]
fn objects_that_a_state_may_lack_did_not_go() {
    let all = |_: &Key| true;
    let state = |values: &[Value], unknown: MissingKinds| Cluster { unknown, ..cluster(values) };
    let lines = |watched: &mut Watched, cluster: &Cluster| -> Vec<String> {
        let scheduler = || Err(());
        let happened = watched.next(Timestamp::UNIX_EPOCH, cluster, &[], &all, scheduler).expect("no pod began to be pending");
        happened.iter().map(|event| event.line().split_once(' ').unwrap().1.to_owned()).collect()
    };
    let kinds = [Kind::Pod, Kind::PodDisruptionBudget].into_iter().collect();
    let failed = MissingKinds { failed: kinds, ..MissingKinds::default() };
    let said = "not all Pods could be read; not all PodDisruptionBudgets could be read";
    let mut watched = Watched::of(&cluster(&[budget(1), pod("a", ""), pod("b", "")]), &[], &all);
    let part = state(&[pod("b", "")], failed);
    assert_eq!(lines(&mut watched, &part), [format!("unknown: {said}")]);
    assert_eq!(lines(&mut watched, &part), Vec::<String>::new());
    // Once all is known, it is as it was, or it went.
    assert_eq!(
        lines(&mut watched, &cluster(&[budget(1), pod("b", "")])),
        ["known again: nodes, pods and budgets", "pending no more shop/a: deleted, or ended"]
    );
    let first: Vec<String> = Watched::of(&part, &[], &all).started(Timestamp::UNIX_EPOCH).iter().map(WatchEvent::line).collect();
    assert_eq!(first[0], "1970-01-01T00:00:00Z watching: pending pods: ?, violated budgets: ?");
    assert_eq!(first[1], format!("1970-01-01T00:00:00Z unknown: {said}"));
    // A namespace that was read shows all of its own.
    let partial = MissingKinds { partial: kinds, ..MissingKinds::default() };
    let mut watched = Watched::of(&cluster(&[pod("a", ""), pod("b", "")]), &[], &all);
    assert_eq!(lines(&mut watched, &state(&[pod("b", "")], partial)), ["pending no more shop/a: deleted, or ended"]);
}

#[test]
fn pods_of_other_namespaces_are_left_out_and_decisions_are_bounded() {
    let shop = |key: &Key| key.namespace.as_str() == "shop";
    let none = |_: &Key| false;
    let many: Vec<Value> = (0..WATCH_DECISIONS + 2).map(|number| pod(&format!("p{number:04}"), "")).collect();
    assert!(next(&mut Watched::default(), &many, &[], &none).is_empty());
    let lines = next(&mut Watched::default(), &many, &[], &shop);
    let undecided = lines.iter().filter(|line| line.contains("too many pods became pending at once")).count();
    assert_eq!((lines.len(), undecided), (WATCH_DECISIONS + 2, 2));
}
