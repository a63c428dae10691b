//! The odds that decisions state, compared with counts over every draw that kube-scheduler could make, each decided by the engine.

use std::collections::BTreeMap;

use schedscope::analysis::{odds, why};
use schedscope::cluster::{Key, Kind, Object};
use schedscope::odds::Odds;
use schedscope::release::{Emulation, nearest};
use schedscope::report::{BeforeOperation, Decision, OperationReport, text};
use schedscope::scheduler::{Config, InitialQueues, OddsEffort, Operation, Options, Sampling, Scheduler};
use schedscope::trace::CycleView;
use serde_json::{Value, json};

use crate::deciding::explained;

/// A fraction of 128 bits, for counting.
type Fraction = (u128, u128);

fn plus((a, b): Fraction, (c, d): Fraction) -> Fraction {
    let (cases, of) = (a * d + c * b, b * d);
    let (mut gcd, mut rest) = (cases, of);
    while rest > 0 {
        (gcd, rest) = (rest, gcd % rest);
    }
    (cases / gcd, of / gcd)
}

fn written(counts: BTreeMap<String, Fraction>) -> BTreeMap<String, String> {
    let text = |(cases, of): Fraction| if of == 1 { cases.to_string() } else { format!("{cases}/{of}") };
    counts.into_iter().map(|(name, fraction)| (name, text(fraction))).collect()
}

/// Counts the outcomes of several draws, each as likely; the equal outcomes of a draw share it.
fn counted(draws: &[Vec<String>]) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<String, Fraction> = BTreeMap::new();
    for outcomes in draws {
        for outcome in outcomes {
            let count = counts.entry(outcome.clone()).or_insert((0, 1));
            *count = plus(*count, (1, (draws.len() * outcomes.len()) as u128));
        }
    }
    written(counts)
}

fn stated(odds: &Odds) -> BTreeMap<String, String> {
    odds.shares().into_iter().map(|(node, share)| (node.to_string(), share.to_string())).collect()
}

/// Every order of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |i: usize| {
        let mut rest = list.to_vec();
        let first = rest.remove(i);
        orders(&rest).into_iter().map(move |tail| [vec![first.clone()], tail].concat())
    };
    (0..list.len()).flat_map(with_first).collect()
}

fn object(kind: &str, value: Value) -> Object {
    let kind: Kind = kind.parse().expect("a kind");
    Object::deserialize_kind(kind, value).expect("an object")
}

fn node(name: &str, cpu: &str) -> Object {
    object("Node", json!({"metadata": {"name": name, "uid": name}, "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "50"}}}))
}

/// A pod that started some minutes after midnight.
fn pod(name: &str, node: &str, priority: i32, cpu: &str, app: &str, minute: u32) -> Object {
    let start = (!node.is_empty()).then(|| format!("2026-11-20T00:{minute:02}:00Z"));
    object(
        "Pod",
        json!({
            "metadata": {"name": name, "namespace": "n", "uid": name, "labels": {"app": app}, "creationTimestamp": "2026-11-20T00:00:00Z"},
            "spec": {"nodeName": node, "priority": priority, "schedulerName": "default-scheduler",
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]},
            "status": {"startTime": start},
        }),
    )
}

fn budget(app: &str) -> Object {
    let selector = json!({"matchLabels": {"app": app}});
    object(
        "PodDisruptionBudget",
        json!({"metadata": {"name": app, "namespace": "n", "uid": app}, "spec": {"selector": selector}, "status": {"disruptionsAllowed": 0}}),
    )
}

/// A scheduler to which objects came in this order: those that are there at its start it lists by name.
fn scheduler(objects: Vec<Object>, emulation: Emulation, wanted: usize, offset: usize) -> Scheduler {
    let config = json!({
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "pluginConfig": [
            {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": wanted}}]}],
    });
    let config = Config::parse(&config.to_string(), emulation).expect("a configuration");
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, dry_run_offset: offset, ..Sampling::default() };
    arrived(config, sampling, objects)
}

fn arrived(config: Config, sampling: Sampling, objects: Vec<Object>) -> Scheduler {
    let mut scheduler = Scheduler::new(config, Vec::new(), Options { sampling, ..Options::default() });
    for object in objects {
        scheduler.apply(Operation::Create { object });
    }
    scheduler
}

fn view(scheduler: &Scheduler) -> CycleView {
    explained(scheduler, &Key::new("n", "new"))
}

/// The nominated node, and those that were equal.
fn nominated(view: &CycleView) -> Vec<String> {
    view.preemption.as_ref().and_then(|p| p.selected()).map_or_else(Vec::new, |(_, best)| best.iter().map(ToString::to_string).collect())
}

/// The pod to evict on a node: whether that violates a budget, its priority and the minute of its start; `None` for no candidate.
type Spec = Option<(bool, i32, u32)>;

/// Nodes of which each has one pod to evict: (violates a budget, priority, minute of its start), or none.
fn cluster(specs: &[Spec]) -> (Vec<Object>, Vec<Object>) {
    let nodes = (0..specs.len()).map(|i| node(&format!("w{i}"), "2")).collect();
    let mut others = vec![budget("guarded"), pod("new", "", 100, "2", "new", 0)];
    for (i, spec) in specs.iter().enumerate() {
        let name = format!("on-{i}");
        others.push(match spec {
            Some((violates, priority, minute)) => {
                pod(&name, &format!("w{i}"), *priority, "1", if *violates { "guarded" } else { "free" }, *minute)
            }
            None => pod(&name, &format!("w{i}"), 200, "1", "free", 0),
        });
    }
    (nodes, others)
}

/// Small clusters: no tie, ties, violations of budgets, nodes that are no candidates.
fn clusters() -> Vec<(Vec<Spec>, usize)> {
    let free = |priority, minute| Some((false, priority, minute));
    let guarded = |priority, minute| Some((true, priority, minute));
    vec![
        (vec![free(1, 1), free(2, 1), free(3, 1), free(4, 1), free(5, 1)], 2),
        (vec![free(1, 1), free(1, 1), free(3, 1), free(1, 2), None], 2),
        (vec![guarded(1, 1), guarded(2, 1), guarded(3, 1), free(4, 1), free(5, 1)], 2),
        (vec![guarded(1, 1), guarded(1, 1), guarded(3, 1), free(4, 1), free(4, 1)], 3),
        (vec![guarded(1, 1), guarded(2, 1), None, guarded(3, 1), guarded(3, 1)], 2),
        (vec![guarded(1, 1), free(9, 1), None, None, guarded(3, 1)], 1),
        (vec![free(1, 1), free(1, 1), free(1, 1), free(2, 1)], 4),
    ]
}

/// Asserts that the odds of a decision are the counts over all draws, and that there are none if all draws end the same.
#[track_caller]
fn check(view: &CycleView, draws: &[Vec<String>], what: &str) {
    match odds(view) {
        Some(odds) => assert_eq!(stated(&odds), counted(draws), "{what}"),
        None => assert!(draws.iter().all(|draw| *draw == draws[0] && draw.len() == 1), "{what}"),
    }
}

#[test]
fn the_shares_of_a_shortlist_equal_the_counts_over_every_order_of_nodes() {
    for (specs, wanted) in clusters() {
        let (nodes, others) = cluster(&specs);
        let draws: Vec<Vec<String>> = orders(&nodes)
            .into_iter()
            .map(|order| nominated(&view(&scheduler([order, others.clone()].concat(), Emulation::default(), wanted, 0))))
            .collect();
        let view = view(&scheduler([nodes, others].concat(), Emulation::default(), wanted, 3));
        check(&view, &draws, &format!("{specs:?}, {wanted} wanted"));
    }
}

#[test]
fn the_shares_of_a_shortlist_equal_the_counts_over_every_offset_up_to_1_30() {
    // The last patches consider fewer nodes, in the same order.
    for old in ["1.27.1", "1.27.16", "1.30.14"] {
        let old = Emulation::from(nearest(old.parse().expect("a version")).profile);
        for (specs, wanted) in clusters() {
            let (nodes, others) = cluster(&specs);
            let objects = [nodes, others].concat();
            // The nodes that are no candidates count too, but for those that no eviction helps.
            let all = view(&scheduler(objects.clone(), old, wanted, 0));
            let number = all.preemption.as_ref().map_or(0, |p| p.potential_nodes().len());
            assert!(number >= 4, "{number} potential nodes");
            let draws: Vec<Vec<String>> =
                (0..number).map(|offset| nominated(&view(&scheduler(objects.clone(), old, wanted, offset)))).collect();
            check(&all, &draws, &format!("{specs:?}, {wanted} wanted"));
        }
    }
}

#[test]
fn shares_of_victims_and_nodes_equal_the_counts_over_every_order_of_equal_pods() {
    // One cpu of w0 must be freed: the order of its pods says whether the big one goes, or small ones. w1 costs two pods.
    let small = |name: &str, app: &str| pod(name, "w0", 5, "500m", app, 1);
    let tied = [pod("big", "w0", 5, "1", "free", 1), small("s1", "free"), small("s2", "free"), small("odd", "odd")];
    let alone = vec![node("w0", "2500m"), pod("new", "", 100, "1", "new", 0)];
    let other = vec![node("w1", "1"), pod("x1", "w1", 5, "500m", "free", 1), pod("x2", "w1", 5, "500m", "free", 1)];
    let decide = |objects: &[Vec<Object>]| view(&scheduler(objects.concat(), Emulation::default(), 100, 0));
    let (mut nodes, mut victims) = (Vec::new(), Vec::new());
    for order in orders(&tied) {
        let view = decide(&[alone.clone(), order.clone()]);
        let chosen = view.preemption.as_ref().and_then(|p| p.chosen()).expect("a candidate");
        victims.push(chosen.victims.iter().map(|v| v.key().to_string()).collect::<Vec<_>>());
        nodes.push(nominated(&decide(&[alone.clone(), order, other.clone()])));
    }
    let both = decide(&[alone.clone(), tied.to_vec(), other]);
    assert_eq!(stated(&odds(&both).expect("chance has a say")), counted(&nodes));
    assert!(counted(&nodes).len() > 1, "{:?}", counted(&nodes));

    let mut counts: BTreeMap<String, Fraction> = BTreeMap::new();
    for pod in victims.iter().flatten() {
        let count = counts.entry(pod.clone()).or_insert((0, 1));
        *count = plus(*count, (1, victims.len() as u128));
    }
    counts.retain(|_, share| *share != (1, 1));
    let one = decide(&[alone, tied.to_vec()]);
    let odds = odds(&one).expect("chance has a say");
    let stated: BTreeMap<String, String> =
        odds.victims().expect("known").iter().map(|(pod, share)| (pod.to_string(), share.to_string())).collect();
    assert_eq!(stated, written(counts));
    assert!(stated.len() > 2, "{stated:?}");
}

#[test]
fn one_of_three_alike_pods_is_evicted_in_a_third_of_cases() {
    let on = |name: &str| pod(name, "w", 1, "1", "web", 1);
    let objects = vec![node("w", "3"), on("a"), on("b"), on("c"), pod("new", "", 100, "1", "new", 0)];
    let view = view(&scheduler(objects, Emulation::default(), 100, 0));
    let got = serde_json::to_value(Decision::of(&view)).expect("plain data");
    assert_eq!(got["odds"]["of"], "victims");
    assert_eq!(got["odds"]["node"], json!({"w": "1"}));
    assert_eq!(got["odds"]["victims"], json!({"n/a": "1/3", "n/b": "1/3", "n/c": "1/3"}));
}

#[test]
fn too_many_orders_are_unknown_with_the_reason() {
    let on = |i: usize| pod(&format!("p{i}"), "w0", 1, &format!("{}m", 100 + i), "web", 1);
    let mut objects = vec![node("w0", "2"), node("w1", "2"), pod("q", "w1", 1, "1", "web", 1), pod("new", "", 100, "1500m", "new", 0)];
    objects.extend((0..12).map(on));
    let view = view(&scheduler(objects, Emulation::default(), 100, 0));
    let got = serde_json::to_value(Decision::of(&view)).expect("plain data");
    assert_eq!((&got["odds"]["node"], &got["odds"]["of"]), (&Value::Null, &json!("victims")));
    let reason = "12 pods on w0 share their priority and start time with another: their orders are too many to count";
    assert_eq!(got["odds"]["unknown"], json!([reason]));
    assert!(text(&view).to_string().contains(&format!("unknown: {reason}")));
}

#[test]
fn too_many_combinations_are_unknown_with_the_reason() {
    // Each node has pods of equal rank, of which one or the other goes: two outcomes on each node.
    let decided = |nodes: usize| {
        let mut objects = vec![pod("new", "", 100, "1500m", "new", 0)];
        for i in 0..nodes {
            let on = |name: &str, cpu: &str| pod(&format!("{name}{i}"), &format!("w{i}"), 1, cpu, "web", 1);
            objects.extend([node(&format!("w{i}"), "2500m"), on("a", "1"), on("b", "500m"), on("c", "500m"), on("d", "500m")]);
        }
        let got = serde_json::to_value(Decision::of(&view(&scheduler(objects, Emulation::default(), 100, 0)))).expect("plain data");
        got["odds"]["unknown"].clone()
    };
    assert_eq!(decided(2), Value::Null);
    assert!(decided(12).to_string().contains("too many"), "{}", decided(12));
}

/// Checks the odds over starting nodes against the decision from every start.
#[track_caller]
fn check_starts(nodes: &[Object], new: &Object) -> BTreeMap<String, String> {
    let config = json!({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "percentageOfNodesToScore": 50,
    });
    let config = || Config::parse(&config.to_string(), Emulation::default()).expect("a configuration");
    let decide = |start: usize| {
        let mut objects = nodes.to_vec();
        objects.rotate_left(start);
        objects.push(new.clone());
        arrived(config(), Sampling { percentage: 50, ..Sampling::default() }, objects)
    };
    let best = |view: &CycleView| {
        view.scoring.selected.as_ref().map_or_else(Vec::new, |(.., tied)| tied.iter().map(ToString::to_string).collect())
    };
    let draws: Vec<Vec<String>> = (0..nodes.len()).map(|start| best(&view(&decide(start)))).collect();
    let scheduler = decide(0);
    let view = view(&scheduler);
    let pod = scheduler.state().cluster().pods.get(&Key::new("n", "new")).expect("the pod").clone();
    let odds = scheduler.odds_over_starts(&pod, &view, OddsEffort::Little).expect("chance has a say");
    assert_eq!(stated(&odds), counted(&draws));
    stated(&odds)
}

/// A node with a label and, if one is named, a taint that is better avoided.
fn special(i: usize, cpu: &str, label: &str, taint: &str) -> Object {
    let taints = if taint.is_empty() { json!([]) } else { json!([{"key": taint, "effect": "PreferNoSchedule"}]) };
    object(
        "Node",
        json!({"metadata": {"name": format!("w{i:03}"), "uid": format!("w{i}"), "labels": {"disk": label, "host": format!("h{}", i / 4)}},
            "spec": {"taints": taints}, "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "50"}}}),
    )
}

fn with_spec(name: &str, more: &Value) -> Object {
    let mut spec = json!({"priority": 0, "schedulerName": "default-scheduler", "containers": [{"name": "c", "image": "i"}]});
    spec.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    object("Pod", json!({"metadata": {"name": name, "namespace": "n", "uid": name, "labels": {"app": "a"}}, "spec": spec}))
}

#[test]
fn shares_over_starts_are_those_of_every_start_where_scores_depend_on_the_nodes_found() {
    let taint = |i: usize| if i % 40 == 3 { "" } else { "slow" };
    let label = |i: usize| if i % 35 == 2 { "ssd" } else { "hdd" };
    let cpu = |i: usize| ["4", "8", "4", "4", "64"][i % 5];
    let nodes: Vec<Object> = (0..112).map(|i| special(i, cpu(i), label(i), taint(i))).collect();
    let prefers =
        |weight: i32| json!({"weight": weight, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}});
    let affinity = json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefers(30)]}}});
    assert!(check_starts(&nodes, &with_spec("new", &affinity)).len() > 1);
    // All are equal.
    let equal: Vec<Object> = (0..130).map(|i| special(i, "4", "hdd", "")).collect();
    assert_eq!(check_starts(&equal, &with_spec("new", &json!({}))).len(), 130);
    // Spreading depends on the nodes found in more than their range.
    let spread = json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "a"}}}]});
    assert!(check_starts(&nodes, &with_spec("new", &spread)).len() > 1);
}

#[test]
fn odds_of_many_starts_are_counted_when_asked_for() {
    let nodes: Vec<Object> = (0..220).map(|i| special(i, "4", "hdd", "")).collect();
    let spread = json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "a"}}}]});
    let objects = [nodes, vec![with_spec("new", &spread)]].concat();
    let sampling = Sampling { percentage: 50, ..Sampling::default() };
    let scheduler = arrived(Config::defaults(Emulation::default()), sampling, objects);
    let view = view(&scheduler);
    let pod = scheduler.state().cluster().pods.get(&Key::new("n", "new")).expect("the pod").clone();
    let little = scheduler.odds_over_starts(&pod, &view, OddsEffort::Little).expect("chance has a say");
    assert!(little.shares().is_empty());
    assert!(scheduler.odds_over_starts(&pod, &view, OddsEffort::Asked).is_some_and(|odds| odds.shares().len() == 220));
}

#[test]
fn shares_over_starts_equal_the_counts_over_every_start() {
    // 112 nodes of which 106 fit and 100 are scored; the fullest fit node wins.
    let config = json!({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "percentageOfNodesToScore": 50,
    });
    let config = || Config::parse(&config.to_string(), Emulation::default()).expect("a configuration");
    let nodes: Vec<Object> = (0..112)
        .map(|i| node(&format!("w{i:03}"), if i % 19 == 5 { "1" } else { ["4", "8", "16", "64", "64"][if i < 9 { i % 5 } else { 0 }] }))
        .collect();
    let new = pod("new", "", 0, "2", "new", 0);
    let decide = |start: usize| {
        let mut objects = nodes.clone();
        objects.rotate_left(start);
        objects.push(new.clone());
        let sampling = Sampling { percentage: 50, ..Sampling::default() };
        arrived(config(), sampling, objects)
    };
    let best = |view: &CycleView| {
        view.scoring.selected.as_ref().map_or_else(Vec::new, |(.., tied)| tied.iter().map(ToString::to_string).collect())
    };
    let draws: Vec<Vec<String>> = (0..nodes.len()).map(|start| best(&view(&decide(start)))).collect();
    let scheduler = decide(0);
    let mut view = view(&scheduler);
    let cluster = scheduler.state().cluster();
    let odds = scheduler
        .odds_over_starts(cluster.pods.get(&Key::new("n", "new")).expect("the pod"), &view, OddsEffort::Little)
        .expect("chance has a say");
    assert_eq!(stated(&odds), counted(&draws));
    assert!(stated(&odds).len() > 1, "{:?}", stated(&odds));
    view.findings.odds_over_starts = Some(std::sync::Arc::new(odds));
    assert!(why(&view).contains("; over all starting nodes of the search w003 is picked in "), "{}", why(&view));
}

#[test]
fn ties_are_uniform_and_a_single_best_node_has_no_odds() {
    let ties = vec![node("a", "4"), node("b", "4"), node("c", "4"), pod("new", "", 0, "1", "new", 0)];
    let got = serde_json::to_value(Decision::of(&view(&scheduler(ties, Emulation::default(), 100, 0)))).expect("plain data");
    assert_eq!((&got["odds"]["of"], &got["odds"]["node"]), (&json!("ties"), &json!({"a": "1/3", "b": "1/3", "c": "1/3"})));
    let one = vec![node("a", "4"), node("b", "8"), pod("new", "", 0, "1", "new", 0)];
    let got = serde_json::to_value(Decision::of(&view(&scheduler(one, Emulation::default(), 100, 0)))).expect("plain data");
    assert_eq!((&got["odds"], &got["node"]), (&Value::Null, &json!("b")));
}

#[test]
fn shares_of_a_large_draw_add_up_and_are_in_the_text() {
    let specs: Vec<Spec> = (0..120).map(|i| Some((i % 2 == 0, 1 + i % 7, (i / 7) as u32))).collect();
    let (nodes, others) = cluster(&specs);
    let view = view(&scheduler([nodes, others].concat(), Emulation::default(), 30, 7));
    let odds = odds(&view).expect("chance has a say");
    let shares = odds.shares();
    let sum: f64 = shares.iter().map(|(_, share)| share.to_f64()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && shares.len() > 30, "{sum} over {} nodes", shares.len());
    assert!(why(&view).contains("cases, else one of "), "{}", why(&view));
    let text = text(&view).to_string();
    assert!(text.contains("ODDS (shortlist of candidates)") && text.contains("Go map"), "{text}");
}

#[test]
fn pods_that_came_together_are_popped_with_the_same_chance() {
    let pods = ["x", "y", "z"].map(|name| pod(name, "", i32::from(name == "z"), "1", "new", 0));
    let objects = [vec![node("a", "4")], pods.to_vec()].concat();
    let queues = InitialQueues::AsObserved;
    let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects, Options { queues, ..Options::default() });
    let schedule = |scheduler: &mut Scheduler| {
        let before = BeforeOperation::of(scheduler);
        let alike = scheduler.state().queue().view().alike_next();
        let words = before.pop_odds_in_words();
        assert_eq!(words.is_some(), alike > 1);
        let together = "popped in 1 of 2 cases, else another pod that came to activeQ together with it";
        assert!(words.is_none_or(|words| words == together));
        let events = scheduler.apply(Operation::Schedule);
        serde_json::to_value(OperationReport::after(&before, &events, scheduler)).expect("plain data")
    };
    let popped = |got: &Value| (got["popped"].clone(), got["popOdds"].clone());
    assert_eq!(popped(&schedule(&mut scheduler)), (json!("n/z"), Value::Null), "its priority is higher");
    assert_eq!(popped(&schedule(&mut scheduler)), (json!("n/x"), json!({"n/x": "1/2", "n/y": "1/2"})));
    assert_eq!(popped(&schedule(&mut scheduler)), (json!("n/y"), Value::Null), "it is alone");
}
