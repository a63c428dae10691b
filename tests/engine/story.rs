//! The embedded stories show the outcome that their titles announce.
//!
//! `payments` is a real cluster, and its expectations are kube-scheduler v1.36.2's own results there:
//! `fixtures/stories/payments.decisions.json` holds its decision about each pending pod alone, and the tables below its
//! further actions, from its events, conditions and log. The other stories are constructed, and their expectations
//! follow from the rules that they demonstrate.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use pretty_assertions::assert_eq;
use schedscope::analysis::why;
use schedscope::cluster::{Key, Kind, List, Object, Pod, PodStatus};
use schedscope::framework::{Candidate, DryRunStep, PluginName, Victim};
use schedscope::report::{BriefOperation, OperationLine, OperationReport};
use schedscope::scheduler::{Operation, Scheduler};
use schedscope::source::{Story, load};
use schedscope::trace::{CycleView, Event};
use serde_json::{Value, json};

use crate::contract::within;
use crate::deciding::{decision, explained, scheduler};

fn key(text: &str) -> Key {
    let (namespace, name) = text.split_once('/').expect("namespace/name");
    Key::new(namespace, name)
}

fn objects(story: &str) -> (Vec<Object>, Timestamp) {
    let loaded = load(&[Story::named(story).expect("a story").input()]);
    (loaded.objects, loaded.report.newest.expect("the story has times"))
}

fn start(story: &str) -> Scheduler {
    let (objects, newest) = objects(story);
    scheduler(objects, newest)
}

/// One turn of the scheduling loop.
struct Turn {
    events: Vec<Event>,
    report: OperationReport,
}

fn apply(scheduler: &mut Scheduler, operation: Operation) -> Turn {
    let events = scheduler.apply(operation);
    let report = OperationReport::of(&events, scheduler);
    check_brief(&report, &events, scheduler);
    Turn { events, report }
}

/// In brief, an operation is what it is at length, with the lengths of the queues instead of the queues.
fn check_brief(report: &OperationReport, events: &[Event], scheduler: &Scheduler) {
    let brief = serde_json::to_value(OperationLine::Brief(BriefOperation::of(events, scheduler))).expect("plain data");
    let whole = serde_json::to_value(OperationLine::Whole(Box::new(report.clone()))).expect("plain data");
    for (key, value) in brief.as_object().expect("an object").iter().filter(|(key, _)| *key != "queues") {
        assert_eq!(*value, whole[key], "{key}");
    }
    for (queue, length) in brief["queues"].as_object().expect("an object") {
        assert_eq!(*length, whole["queues"][queue].as_array().expect("a list").len(), "{queue}");
    }
}

/// Schedules until no pod can be popped.
fn run(scheduler: &mut Scheduler) -> Vec<Turn> {
    let mut turns = Vec::new();
    while scheduler.next_pod().is_some() {
        turns.push(apply(scheduler, Operation::Schedule));
        assert!(turns.len() < 1000, "the story does not come to rest");
    }
    turns
}

/// Describes the fate of a pod in one line: `bound NODE`, or `parked PLUGINS` with `gated` or `for NODE` if it is.
fn fate(scheduler: &Scheduler, pod: &str) -> String {
    let state = scheduler.state();
    let object = state.cluster().pods.get(&key(pod)).expect("the pod");
    if !object.node_name.is_empty() {
        return format!("bound {}", object.node_name);
    }
    let report = serde_json::to_value(OperationReport::of(&[], scheduler)).expect("plain data");
    let parked = report["queues"]["unschedulable"].as_array().expect("a list").iter().find(|p| p["pod"] == pod);
    let Some(parked) = parked else { return "in no queue".to_owned() };
    let plugins: Vec<&str> = parked["plugins"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let gated = if parked["gatedBy"].is_null() { "" } else { " gated" };
    let nominated = report["nominations"][pod].as_str().map_or(String::new(), |node| format!(" for {node}"));
    assert_eq!(object.status.nominated_node_name.as_str(), report["nominations"][pod].as_str().unwrap_or_default());
    format!("parked {}{gated}{nominated}", plugins.join(" "))
}

fn check_fates(scheduler: &Scheduler, want: &[(&str, &str)]) {
    let own: Vec<(&str, String)> = want.iter().map(|(pod, _)| (*pod, fate(scheduler, pod))).collect();
    let want: Vec<(&str, String)> = want.iter().map(|(pod, fate)| (*pod, (*fate).to_owned())).collect();
    assert_eq!(own, want);
}

/// Returns the keys of an expected decision that differ. Where kube-scheduler draws at random, any value of the set is
/// right.
fn disagreements(want: &Value, got: &Value, path: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (key, value) in want.as_object().expect("an object") {
        let own = &got[key];
        let among = |set: &str| want[set].as_array().is_some_and(|set| set.contains(own));
        let right = match key.as_str() {
            "node" if value.is_string() => among("bestNodes"),
            "selected" if value.is_string() => among("bestCandidates"),
            "preemption" if value.is_object() && own.is_object() => {
                wrong.extend(disagreements(value, own, "preemption."));
                true
            }
            _ => *value == within(value, own),
        };
        if !right {
            wrong.push(format!("{path}{key}: expected {value}, got {own}"));
        }
    }
    wrong
}

#[test]
fn each_waiting_pod_of_payments_alone_is_decided_as_recorded() {
    let recorded: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("../../fixtures/stories/payments.decisions.json")).expect("decisions");
    let scheduler = start("payments");
    let pods = scheduler.state().cluster().pods.iter();
    let waiting: Vec<String> = pods.filter(|p| p.node_name.is_empty()).map(|p| p.key().to_string()).collect();
    assert_eq!(waiting, recorded.keys().cloned().collect::<Vec<_>>());
    assert_eq!(waiting.len(), 15);
    for (pod, want) in &recorded {
        let wrong = disagreements(want, &decision(&scheduler, &key(pod)), "");
        assert!(wrong.is_empty(), "{pod}\n  {}", wrong.join("\n  "));
    }
}

/// A pod's only attempt in `payments`, as recorded: the pod, the plugins that parked it or its node, the nominated node
/// with the number of victims, and the message of the condition.
type Attempt = (&'static str, &'static str, &'static str, &'static str);

const NO_HELP: &str = " no new claims to deallocate, preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.";
const NO_CPU: &str = "0/12 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), 8 Insufficient cpu.";
const NO_ZONE: &str = "0/12 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), \
                       7 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/12 nodes are \
                       available: 4 Preemption is not helpful for scheduling, 8 node(s) didn't match pod anti-affinity rules.";
const NO_SPREAD: &str = "0/12 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable, \
                         3 node(s) had untolerated taint(s), 7 Insufficient cpu.";

/// The attempts in kube-scheduler's order.
const ATTEMPTS: [Attempt; 13] = [
    ("shop/payments", "NodeResourcesFit NodeUnschedulable TaintToleration", "worker-a2 2", "{NO_CPU}"),
    ("batch/too-big", "NodeResourcesFit NodeUnschedulable TaintToleration", "", "{NO_CPU}{NO_HELP}"),
    ("platform/ingress-extra-66cb5965df-mkwvj", "InterPodAffinity NodeResourcesFit NodeUnschedulable TaintToleration", "", "{NO_ZONE}"),
    ("platform/ingress-extra-66cb5965df-vcc6p", "InterPodAffinity NodeResourcesFit NodeUnschedulable TaintToleration", "", "{NO_ZONE}"),
    (
        "shop/patient-job",
        "NodeResourcesFit NodeUnschedulable TaintToleration",
        "",
        "{NO_CPU} no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
    ),
    (
        "ml/no-toleration",
        "NodeAffinity NodeUnschedulable TaintToleration",
        "",
        "0/12 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), 8 node(s) didn't match Pod's node \
         affinity/selector.{NO_HELP}",
    ),
    (
        "ml/gpu-hungry",
        "NodeResourcesFit NodeUnschedulable TaintToleration",
        "",
        "0/12 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 10 Insufficient nvidia.com/gpu, 8 \
         Insufficient cpu.{NO_HELP}",
    ),
    ("platform/needs-volume", "VolumeRestrictions", "", "0/12 nodes are available: persistentvolumeclaim \"missing\" not found. not found"),
    ("shop/spread-85969bc548-vz9rf", "worker-b1", "", ""),
    ("shop/spread-85969bc548-b5rrz", "worker-a3", "", ""),
    ("shop/spread-85969bc548-xtc2r", "NodeResourcesFit NodeUnschedulable PodTopologySpread TaintToleration", "worker-c2 1", "{NO_SPREAD}"),
    ("shop/spread-85969bc548-7z2j5", "NodeResourcesFit NodeUnschedulable PodTopologySpread TaintToleration", "worker-c1 2", "{NO_SPREAD}"),
    (
        "shop/spread-85969bc548-zhslg",
        "NodeResourcesFit NodeUnschedulable PodTopologySpread TaintToleration",
        "",
        "{NO_SPREAD} no new claims to deallocate, preemption: 0/12 nodes are available: 4 Insufficient cpu, 4 Preemption is not helpful \
         for scheduling, 4 node(s) didn't match pod topology spread constraints.",
    ),
];

fn message(text: &str) -> String {
    [("{NO_HELP}", NO_HELP), ("{NO_CPU}", NO_CPU), ("{NO_ZONE}", NO_ZONE), ("{NO_SPREAD}", NO_SPREAD)]
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// The evicted pods in order of eviction, each with its node and preemptor.
const EVICTED: [(&str, &str, &str); 5] = [
    ("batch/reports-646f8d7fc5-zgcpb", "worker-a2", "shop/payments"),
    ("batch/reports-646f8d7fc5-kdjfj", "worker-a2", "shop/payments"),
    ("batch/reports-646f8d7fc5-kp8hp", "worker-c2", "shop/spread-85969bc548-xtc2r"),
    ("batch/reports-646f8d7fc5-c6cvk", "worker-c1", "shop/spread-85969bc548-7z2j5"),
    ("batch/reports-646f8d7fc5-bzpz7", "worker-c1", "shop/spread-85969bc548-7z2j5"),
];

fn attempt_of(turn: &Turn) -> [String; 4] {
    let report = &turn.report;
    let view = CycleView::of(&turn.events);
    let taken = match &view.effects.bound {
        Some(node) => node.to_string(),
        None => view.failure.as_ref().map_or(String::new(), |f| f.plugins.iter().map(PluginName::as_str).collect::<Vec<_>>().join(" ")),
    };
    let nominated = report.nominated.as_ref().map_or(String::new(), |node| format!("{node} {}", report.victims.len()));
    [report.popped.clone().unwrap_or_default(), taken, nominated, report.message.clone().unwrap_or_default()]
}

fn evictions(turns: &[Turn]) -> Vec<(String, String, String)> {
    let events = turns.iter().flat_map(|t| &t.events);
    let evicted = events.filter_map(|e| match e {
        Event::VictimEvicted { pod, node, preemptor, .. } => Some((pod.to_string(), node.to_string(), preemptor.to_string())),
        _ => None,
    });
    evicted.collect()
}

/// One draw was random: `shop/payments` could equally have got worker-b1. The recording chose worker-a2, which is also
/// the first by name.
#[test]
fn payments_run_in_the_recorded_order_repeats_the_recording_to_the_letter() {
    let (objects, newest) = objects("payments");
    // The order in which the pods arrived in the recorded queue; it decides among those of equal priority.
    let came = |o: &Object| ATTEMPTS.iter().position(|a| key(a.0) == o.key()).unwrap_or(ATTEMPTS.len());
    let (mut waiting, mut rest): (Vec<Object>, Vec<Object>) =
        objects.into_iter().partition(|o| matches!(o, Object::Pod(p) if p.node_name.is_empty()));
    waiting.sort_by_key(came);
    rest.extend(waiting);
    let mut scheduler = scheduler(rest, newest);
    let turns = run(&mut scheduler);

    let own: Vec<[String; 4]> = turns.iter().map(attempt_of).collect();
    let want: Vec<[String; 4]> =
        ATTEMPTS.iter().map(|(pod, taken, nominated, text)| [(*pod).into(), (*taken).into(), (*nominated).into(), message(text)]).collect();
    assert_eq!(own, want);
    let want: Vec<_> = EVICTED.iter().map(|(pod, node, by)| ((*pod).into(), (*node).into(), (*by).into())).collect();
    assert_eq!(evictions(&turns), want);
    check_evicted(&scheduler);
    check_fates(&scheduler, &[("batch/gated", "parked SchedulingGates gated"), ("shop/wrong-scheduler", "in no queue")]);
    check_replacements(&mut scheduler);
}

/// Checks that victims still exist, with a deletion timestamp and the condition that gives the reason.
fn check_evicted(scheduler: &Scheduler) {
    for (pod, node, _) in EVICTED {
        let pod = scheduler.state().cluster().pods.get(&key(pod)).expect("it still exists");
        assert!(pod.is_terminating() && pod.node_name == node);
        let condition = pod.condition("DisruptionTarget").expect("a condition");
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("True", "PreemptionByScheduler"));
        assert_eq!(condition.message, "default-scheduler: preempting to accommodate a higher priority pod");
    }
}

/// The ReplicaSet created five pods in place of the evicted ones: four found a node, the last did not.
fn check_replacements(scheduler: &mut Scheduler) {
    let evicted = scheduler.state().cluster().pods.get(&key(EVICTED[0].0)).expect("it still exists").clone();
    let mut nodes = Vec::new();
    let mut last = None;
    for name in ["lp556", "g8pm4", "d5kpq", "jdsmx", "9ggzv"] {
        let mut pod = Pod { node_name: "".into(), status: PodStatus::default(), ..Pod::clone(&evicted) };
        pod.metadata.name = format!("reports-646f8d7fc5-{name}").as_str().into();
        pod.metadata.uid = name.into();
        pod.metadata.deletion_timestamp = None;
        apply(scheduler, Operation::Create { object: Object::Pod(Arc::new(pod)) });
        let turn = apply(scheduler, Operation::Schedule).report;
        assert_eq!(turn.popped, Some(format!("batch/reports-646f8d7fc5-{name}")));
        nodes.extend(turn.node.map(|n| n.to_string()));
        last = turn.message;
    }
    nodes.sort();
    assert_eq!(nodes, ["worker-a1", "worker-b2", "worker-b3", "worker-b3"]);
    let message = format!(
        "{NO_CPU} no new claims to deallocate, preemption: 0/12 nodes are available: 4 Preemption is not helpful for scheduling, 8 No \
         preemption victims found for incoming pod."
    );
    assert_eq!(last, Some(message));
}

/// kube-scheduler orders equal priorities by the arrival of the pods. In the order of the dump the five `spread` pods
/// change places, and nothing else changes.
#[test]
fn payments_run_in_the_order_of_the_dump_ends_as_recorded_but_for_which_of_equal_pods() {
    let mut scheduler = start("payments");
    let turns = run(&mut scheduler);
    let payments = turns.iter().find(|t| t.report.popped.as_deref() == Some("shop/payments")).expect("its attempt");
    assert!(["worker-a2", "worker-b1"].contains(&payments.report.nominated.as_deref().expect("nominated")));
    assert_eq!(payments.report.victims, ["batch/reports-646f8d7fc5-zgcpb", "batch/reports-646f8d7fc5-kdjfj"]);
    check_fates(
        &scheduler,
        &[
            ("shop/payments", "parked NodeResourcesFit NodeUnschedulable TaintToleration for worker-a2"),
            ("batch/gated", "parked SchedulingGates gated"),
            ("batch/too-big", "parked NodeResourcesFit NodeUnschedulable TaintToleration"),
            ("ml/gpu-hungry", "parked NodeResourcesFit NodeUnschedulable TaintToleration"),
            ("ml/no-toleration", "parked NodeAffinity NodeUnschedulable TaintToleration"),
            // Tried before payments took its room, so cpu is not yet among their reasons.
            ("platform/ingress-extra-66cb5965df-mkwvj", "parked InterPodAffinity NodeUnschedulable TaintToleration"),
            ("platform/ingress-extra-66cb5965df-vcc6p", "parked InterPodAffinity NodeUnschedulable TaintToleration"),
            ("platform/needs-volume", "parked VolumeRestrictions"),
            ("shop/patient-job", "parked NodeResourcesFit NodeUnschedulable TaintToleration"),
            ("shop/wrong-scheduler", "in no queue"),
        ],
    );
    let spread = turns.iter().map(attempt_of).filter(|a| a[0].starts_with("shop/spread-"));
    let recorded = ATTEMPTS.iter().filter(|a| a.0.starts_with("shop/spread-"));
    assert_eq!(
        spread.map(|[_, taken, nominated, message]| (taken, nominated, message)).collect::<Vec<_>>(),
        recorded.map(|a| (a.1.to_owned(), a.2.to_owned(), message(a.3))).collect::<Vec<_>>()
    );
    check_evicted(&scheduler);
}

#[test]
fn each_score_function_decides_once_and_at_last_none_does() {
    let scheduler = start("tie-breaks");
    let want: [(&str, Option<&str>, &str, &[&str]); 6] = [
        ("1-fewest-violations", Some("MinNumPDBViolations"), "budgets-2", &["demo/cache-0"]),
        ("2-lowest-priority", Some("MinHighestPriority"), "highest-2", &["demo/crawler-0"]),
        ("3-smallest-sum", Some("MinSumPriorities"), "sum-2", &["demo/thumbs-0", "demo/thumbs-1"]),
        ("4-fewest-victims", Some("MinNumPods"), "count-2", &["demo/index-2"]),
        ("5-latest-start", Some("LatestStartTime"), "start-2", &["demo/render-1"]),
        ("6-a-true-tie", None, "tie-1", &["demo/twin-0"]),
    ];
    for (i, (name, decided_by, node, victims)) in want.into_iter().enumerate() {
        let preemption = &decision(&scheduler, &Key::new("demo", name))["preemption"];
        let functions = preemption["scoreFunctions"].as_array().expect("a list");
        let (last, before) = functions.split_last().expect("it was asked");
        let left = |function: &Value| function["remaining"].as_array().expect("a list").len();
        assert!(before.iter().all(|f| left(f) > 1), "{name}: {functions:?}");
        let decider = (left(last) == 1).then(|| last["name"].as_str().expect("a name"));
        assert_eq!((decider, functions.len()), (decided_by, (i + 1).min(5)), "{name}");
        assert_eq!(preemption["selected"], node, "{name}");
        let best = if decided_by.is_some() { json!([node]) } else { json!(["tie-1", "tie-2"]) };
        assert_eq!(preemption["bestCandidates"], best, "{name}");
        let chosen = preemption["candidates"].as_array().expect("a list").iter().find(|c| c["node"] == node).expect("the candidate");
        assert_eq!(chosen["victims"], json!(victims), "{name}");
    }
}

#[test]
fn each_preemptor_of_the_tie_breaks_gets_its_node() {
    let mut scheduler = start("tie-breaks");
    assert_eq!(run(&mut scheduler).len(), 6, "one attempt each");
    let pods = ["1-fewest-violations", "2-lowest-priority", "3-smallest-sum", "4-fewest-victims", "5-latest-start", "6-a-true-tie"];
    let nominations: Vec<String> = scheduler.state().nominations().iter().map(|(pod, node)| format!("{}={node}", pod.name)).collect();
    let nodes = ["budgets-2", "highest-2", "sum-2", "count-2", "start-2", "tie-1"];
    assert_eq!(nominations, pods.iter().zip(nodes).map(|(p, n)| format!("{p}={n}")).collect::<Vec<_>>());
}

/// Describes a dry run: reprieved pods (`+`) and victims (`!`), with the budget of each.
fn reprieves(view: &CycleView, node: &str) -> String {
    let run = view.preemption.as_ref().and_then(|p| p.dry_run(node)).expect("a dry run");
    let violated =
        |v: &Victim| v.violates().map(|b| format!("({} allows {}, {} left)", b.budget, b.allowed, b.left)).collect::<Vec<_>>().concat();
    let words = run.steps().filter_map(|step| match step {
        DryRunStep::Reprieved(v) => Some(format!("+{}{}", v.pod().metadata.name, violated(v))),
        DryRunStep::NotReprieved(v, status) => Some(format!("!{}{} {}", v.pod().metadata.name, violated(v), status.message())),
        DryRunStep::Removed(_) | DryRunStep::Filtered(_) => None,
    });
    words.collect::<Vec<_>>().join("; ")
}

fn summary(candidate: &Candidate) -> String {
    let victims: Vec<&str> = candidate.victims.iter().map(|v| v.pod().metadata.name.as_str()).collect();
    format!("{}: {} ({} violations)", candidate.node, victims.join(" "), candidate.pdb_violations)
}

#[test]
fn budgets_say_who_is_put_back_first_and_whose_eviction_violates_one() {
    let scheduler = start("budgets");
    let view = explained(&scheduler, &key("shop/checkout"));
    let preemption = view.preemption.as_ref().expect("a preemption");
    let candidates: Vec<String> = preemption.candidates().map(summary).collect();
    assert_eq!(
        candidates,
        ["big-1: cart-0 report-0 (0 violations)", "big-2: search-1 (1 violations)", "big-3: report-1 cart-3 (0 violations)"]
    );

    // The budget `cart` allows one disruption: it covers the most important of three, and the other two are reprieved
    // before all other pods.
    assert_eq!(
        reprieves(&view, "big-1"),
        "+cart-1(cart allows 1, 0 left); +cart-2(cart allows 1, -1 left); !cart-0 Insufficient cpu; !report-0 Insufficient cpu"
    );
    // The budget `search` allows no disruption, and one of its two pods is evicted all the same.
    assert_eq!(reprieves(&view, "big-2"), "+search-0(search allows 0, 0 left); !search-1(search allows 0, -1 left) Insufficient cpu");
    // The least important pod is reprieved, because it is the one whose eviction would violate a budget.
    assert_eq!(reprieves(&view, "big-3"), "+search-2(search allows 0, 0 left); !report-1 Insufficient cpu; !cart-3 Insufficient cpu");

    let functions: Vec<String> = preemption.score_functions().iter().map(|f| format!("{:?} {}", f.name, f.remaining.join(" "))).collect();
    assert_eq!(functions, ["MinNumPDBViolations big-1 big-3", "MinHighestPriority big-1"]);
    assert_eq!(
        why(&view),
        "Pending because no node has 4 free cpu (none free); preempting 2 pods of priority 100 or less on big-1 makes room and violates no budget."
    );
}

fn moves(turn: &Turn) -> Vec<String> {
    turn.report.moves.iter().map(|m| format!("{} {} {}", m.pod, m.event, m.to)).collect()
}

#[test]
fn queues_show_pods_gated_parked_backing_off_and_bound() {
    let mut scheduler = start("queues");
    let report = OperationReport::of(&[], &scheduler);
    let active = ["web/urgent", "web/follower", "web/small", "batch/patient", "web/leader", "batch/needs-ssd", "batch/too-big"];
    assert_eq!(report.queues.active, active, "by priority, then by who came first; the gated pod and the other scheduler's are not there");

    let turns = run(&mut scheduler);
    let popped: Vec<&str> = turns.iter().filter_map(|t| t.report.popped.as_deref()).collect();
    assert_eq!(popped, [&active[..], &["web/follower"]].concat(), "the follower is tried twice");
    assert_eq!(turns[0].report.victims, ["batch/night-0"]);
    // The binding of the leader is the event the follower needs: it backs off, and is popped early as activeQ is empty.
    assert_eq!(moves(&turns[4]), ["web/follower AssignedPodAdd Backoff"]);
    assert_eq!(turns[4].report.queues.backoff.len(), 1);
    check_fates(
        &scheduler,
        &[
            ("batch/gated", "parked SchedulingGates gated"),
            ("batch/needs-ssd", "parked NodeAffinity TaintToleration"),
            ("batch/patient", "parked NodeResourcesFit TaintToleration"),
            ("batch/too-big", "parked NodeResourcesFit TaintToleration"),
            ("web/follower", "bound node-2"),
            ("web/leader", "bound node-2"),
            ("web/other-scheduler", "in no queue"),
            ("web/small", "bound node-2"),
            ("web/urgent", "parked NodeResourcesFit TaintToleration for node-1"),
        ],
    );
    let follower = why(&CycleView::of(&turns[1].events));
    assert!(follower.ends_with("; even evicting every lower-priority pod would not help on the one node considered."), "{follower}");
}

#[test]
fn queues_wake_whom_a_change_may_help_and_nobody_else() {
    let mut scheduler = start("queues");
    run(&mut scheduler);

    // The victim is gone. Every pod that lacks cpu is requeued, however much it lacks, and waits for the rest of its
    // backoff.
    let object = scheduler.state().cluster().get(Kind::Pod, &key("batch/night-0")).expect("it still exists");
    let turn = apply(&mut scheduler, Operation::Delete { object });
    let woken = ["batch/patient", "batch/too-big", "web/urgent"];
    assert_eq!(moves(&turn), woken.map(|pod| format!("{pod} AssignedPodDelete Backoff")));
    let turn = apply(&mut scheduler, Operation::Advance { seconds: 2 });
    assert_eq!(moves(&turn), woken.map(|pod| format!("{pod} BackoffComplete Active")));
    assert_eq!(turn.report.queues.active, ["web/urgent", "batch/patient", "batch/too-big"]);
    run(&mut scheduler);
    check_fates(&scheduler, &[("web/urgent", "bound node-1"), ("batch/patient", "parked NodeResourcesFit TaintToleration")]);

    // Without its gate the gated pod is an ordinary one.
    let Some(Object::Pod(gated)) = scheduler.state().cluster().get(Kind::Pod, &key("batch/gated")) else { panic!("the pod") };
    let mut open = Pod::clone(&gated);
    open.spec_mut().scheduling_gates = List::default();
    let turn = apply(&mut scheduler, Operation::Update { object: Object::Pod(Arc::new(open)) });
    assert_eq!(turn.report.queues.active, ["batch/gated"]);
    run(&mut scheduler);
    check_fates(&scheduler, &[("batch/gated", "bound node-1")]);
}
