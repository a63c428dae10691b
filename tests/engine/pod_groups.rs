//! Pod groups: what text and JSON say about them, and dry decisions about their members.

use proptest::prelude::*;
use schedscope::cluster::{Key, Kind, Object, Str};
use schedscope::limits::engine::{PLACED_MEMBERS_KEPT, PLACEMENT_ATTEMPTS, PLACEMENT_ATTEMPTS_OF_NODE};
use schedscope::release::{Emulation, Gate, Profile};
use schedscope::report::{GroupReport, OperationReport, group_text};
use schedscope::scheduler::{Config, Operation, Options, Scheduler};
use schedscope::trace::{CycleView, Event, GroupOutcome, Outcome};
use serde_json::{Value, json};

const GANG: &[Gate] = &[Gate::GenericWorkload, Gate::GangScheduling];

fn object(kind: Kind, value: &Value) -> Object {
    Object::deserialize_kind(kind, value).expect("a valid object")
}

fn node(name: &str, cpu: u32, zone: &str) -> Object {
    let labels = json!({ "zone": zone });
    object(
        Kind::Node,
        &json!({"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"cpu": cpu.to_string(), "pods": "9"}}}),
    )
}

fn pod(name: &str, priority: i32, node: &str, group: Option<&str>) -> Object {
    let group = group.map_or(Value::Null, |group| json!({ "podGroupName": group }));
    let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "1"}}}]);
    let spec = json!({"schedulerName": "default-scheduler", "priority": priority, "nodeName": node, "schedulingGroup": group, "containers": containers});
    object(Kind::Pod, &json!({"metadata": {"namespace": "ml", "name": name, "uid": name}, "spec": spec}))
}

fn group(min: u32, more: &Value) -> Object {
    let mut spec = json!({"schedulingPolicy": {"gang": {"minCount": min}}});
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    object(Kind::PodGroup, &json!({"metadata": {"namespace": "ml", "name": "train", "uid": "train"}, "spec": spec}))
}

/// Three pods of the group `train` on nodes that take two, unless the pod `low` goes.
fn scheduler(gates: &[Gate], min: u32, spec: &Value) -> Scheduler {
    let mut emulation = Emulation::default();
    for gate in gates {
        emulation.set(*gate, true);
    }
    let members = ["train-0", "train-1", "train-2"].map(|name| pod(name, 10, "", Some("train")));
    let nodes = [node("a1", 1, "a"), node("b1", 1, "b"), node("b2", 1, "b")];
    let objects = nodes.into_iter().chain([group(min, spec), pod("low", 10, "b2", None)]).chain(members).collect();
    let start = "2026-11-20T18:26:12Z".parse().expect("a time");
    Scheduler::new(Config::defaults(emulation), objects, Options { start, ..Options::default() })
}

fn text(events: &[Event]) -> Vec<String> {
    group_text(&CycleView::of(events)).into_vec()
}

fn bound(scheduler: &Scheduler) -> Vec<String> {
    let pods = scheduler.state().cluster().pods.iter().filter(|pod| !pod.node_name.is_empty());
    pods.map(|pod| pod.metadata.name.to_string()).collect()
}

#[test]
fn a_group_of_which_too_few_pods_fit_is_not_bound_at_all_and_says_why() {
    let mut scheduler =
        scheduler(&[Gate::GenericWorkload, Gate::GangScheduling, Gate::WorkloadAwarePreemption], 3, &json!({"priority": 20}));
    let with_low = scheduler.apply(Operation::Schedule);
    assert_eq!(text(&with_low)[0], "POD GROUP ml/train: Waits until the 1 pod evicted for it is gone.");
    assert!(text(&with_low).iter().any(|line| line == "  evicts ml/low"), "{:?}", text(&with_low));
    assert!(!bound(&scheduler).contains(&"train-0".to_owned()));

    let mut scheduler = self::scheduler(GANG, 4, &json!({}));
    assert!(scheduler.apply(Operation::Schedule).is_empty(), "a pod is missing, so that all are gated");
    let pod = scheduler.state().cluster().pods.get(&Key::new("ml", "train-0")).expect("the pod").clone();
    assert_eq!(scheduler.explain_group(&pod), None);
    let view = CycleView::of(&scheduler.explain(&pod));
    assert_eq!(schedscope::analysis::why(&view), "Held back until its pod group has 4 pods, which must have a place at once: it has 3.");
}

#[test]
fn the_pods_of_a_group_are_bound_together_and_its_condition_says_so() {
    let mut scheduler = scheduler(GANG, 2, &json!({}));
    let events = scheduler.apply(Operation::Schedule);
    assert_eq!(text(&events)[0], "POD GROUP ml/train: Scheduled: 2 of 3 pods found a place, and 2 are enough.");
    assert_eq!(text(&events).len(), 4, "a line for each pod: {:?}", text(&events));
    assert_eq!(bound(&scheduler), ["low", "train-0", "train-1"]);
    let report = serde_json::to_value(OperationReport::of(&events, &scheduler)).expect("plain data");
    assert_eq!(report["group"]["outcome"], "scheduled");
    assert_eq!(report["group"]["condition"], json!({"status": "True", "reason": "Scheduled", "message": ""}));
    let outcomes: Vec<&Value> = report["group"]["pods"].as_array().expect("pods").iter().map(|pod| &pod["outcome"]).collect();
    assert_eq!(outcomes, ["scheduled", "scheduled", "unschedulable"]);
}

#[test]
fn a_placement_that_takes_all_is_chosen_and_the_others_are_listed() {
    let gates = [Gate::GenericWorkload, Gate::GangScheduling, Gate::TopologyAwareWorkloadScheduling];
    let together = json!({"schedulingConstraints": {"topology": [{"key": "zone"}]}});
    let mut scheduler = scheduler(&gates, 2, &together);
    let events = scheduler.apply(Operation::Schedule);
    let lines = text(&events);
    assert_eq!(
        lines[..3],
        [
            "POD GROUP ml/train: Waits, because all 2 placements are too small: at most 1 pod finds a place, and 2 must have one at once.",
            "  placement a (1 node) does not take the group: 1 pod would fit",
            "  placement b (2 nodes) does not take the group: 1 pod would fit",
        ]
    );
    scheduler.apply(Operation::Delete { object: pod("low", 0, "b2", None) });
    let events = loop {
        let events = scheduler.apply(Operation::Schedule);
        if !events.is_empty() {
            break events;
        }
        scheduler.apply(Operation::Advance { seconds: 1 });
    };
    assert!(text(&events)[0].starts_with("POD GROUP ml/train: Scheduled in b: 2 of 3 pods found a place"), "{:?}", text(&events));
}

#[test]
fn of_many_placements_the_one_that_is_taken_is_tried_again() {
    let mut emulation = Emulation::default();
    for gate in [Gate::GenericWorkload, Gate::GangScheduling, Gate::TopologyAwareWorkloadScheduling] {
        emulation.set(gate, true);
    }
    let decided = |zones: usize, largest: u32| {
        let cpu = |at: usize| if at == 7 { largest } else { 3 };
        let nodes = (0..zones).map(|at| node(&format!("n{at:03}"), cpu(at), &format!("z{at:03}")));
        let members = (0..100).map(|at| pod(&format!("train-{at:02}"), 10, "", Some("train")));
        let together = json!({"schedulingConstraints": {"topology": [{"key": "zone"}]}});
        let objects = nodes.chain(members).chain([group(4, &together)]).collect();
        let start = "2026-11-20T18:26:12Z".parse().expect("a time");
        let mut scheduler = Scheduler::new(Config::defaults(emulation), objects, Options { start, ..Options::default() });
        let events = scheduler.apply(Operation::Schedule);
        let members = CycleView::of(&events).group.map_or(0, |group| group.start.pods.len());
        (text(&events)[0].clone(), bound(&scheduler).len(), members)
    };
    let (few, many) = (PLACED_MEMBERS_KEPT / 100 - 80, PLACED_MEMBERS_KEPT / 100 + 20);
    for zones in [few, many] {
        let (head, bound, members) = decided(zones, 5);
        assert!(head.starts_with("POD GROUP ml/train: Scheduled in z007: 5 of 100 pods found a place"), "{zones}: {head}");
        assert_eq!((bound, members), (5, 100), "{zones}");
        let (head, bound, _) = decided(zones, 1);
        assert!(head.contains(&format!("all {zones} placements are too small: at most 3 pods find a place")), "{zones}: {head}");
        assert_eq!(bound, 0);
    }
}

#[test]
fn a_group_of_very_many_placements_is_not_decided() {
    let mut emulation = Emulation::default();
    for gate in [Gate::GenericWorkload, Gate::GangScheduling, Gate::TopologyAwareWorkloadScheduling] {
        emulation.set(gate, true);
    }
    let zones = 20;
    let most = PLACEMENT_ATTEMPTS + zones * PLACEMENT_ATTEMPTS_OF_NODE;
    let nodes = (0..zones).map(|at| node(&format!("n{at:03}"), 1, &format!("z{at:03}")));
    let members = (0..most / zones + 300).map(|at| pod(&format!("train-{at:04}"), 10, "", Some("train")));
    let together = json!({"schedulingConstraints": {"topology": [{"key": "zone"}]}});
    let objects = nodes.chain(members).chain([group(1, &together)]).collect();
    let start = "2026-11-20T18:26:12Z".parse().expect("a time");
    let mut scheduler = Scheduler::new(Config::defaults(emulation), objects, Options { start, ..Options::default() });
    let events = scheduler.apply(Operation::Schedule);
    let head = text(&events)[0].clone();
    assert!(head.contains("of 20 placements, and more take too long"), "{head}");
    assert!(bound(&scheduler).is_empty());
}

#[test]
fn a_dry_decision_about_a_member_tries_the_group_and_changes_nothing() {
    let mut scheduler = scheduler(GANG, 2, &json!({}));
    let pod = scheduler.state().cluster().pods.get(&Key::new("ml", "train-1")).expect("the pod").clone();
    let before = scheduler.state().queue().view().clone();
    let events = scheduler.explain_group(&pod).expect("a pod of a group");
    assert_eq!((scheduler.state().queue().view(), bound(&scheduler)), (&before, vec!["low".to_owned()]));
    let view = CycleView::of(&events);
    let group = GroupReport::of(&view, None).expect("a group");
    assert_eq!((group.outcome, group.pods.len(), group.condition), (Some(GroupOutcome::Scheduled), 3, None));
    assert_eq!(view.start.as_ref().map(|start| start.pod.to_string()).as_deref(), Some("ml/train-1"), "the pod asked about is on show");
    let real = CycleView::of(&scheduler.apply(Operation::Schedule));
    for pod in &real.group.as_ref().expect("a group").start.pods {
        let outcome = |view: &CycleView| view.member(pod).and_then(|member| member.outcome);
        assert_eq!(outcome(&view), outcome(&real), "{pod}");
    }
}

#[test]
fn with_the_gates_off_a_group_has_no_say() {
    let mut scheduler = scheduler(&[], 4, &json!({}));
    let events = scheduler.apply(Operation::Schedule);
    assert!(!events.iter().any(|event| matches!(event, Event::Group(_))));
    assert_eq!(CycleView::of(&events).outcome, Some(Outcome::Scheduled));
    let pod = scheduler.state().cluster().pods.get(&Key::new("ml", "train-2")).expect("the pod").clone();
    assert_eq!((scheduler.explain_group(&pod), bound(&scheduler).len()), (None, 2));
}

#[test]
fn members_that_are_there_at_the_start_wait_as_those_that_come_one_by_one() {
    let nominated = |name: &str, node: &str, group: &str| {
        let mut value = serde_json::to_value(pod(name, 10, "", Some(group))).expect("plain data");
        value["status"]["nominatedNodeName"] = json!(node);
        object(Kind::Pod, &value)
    };
    let gated = |name: &str| {
        let mut value = serde_json::to_value(pod(name, 10, "", Some("train"))).expect("plain data");
        value["spec"]["schedulingGates"] = json!([{"name": "g"}]);
        object(Kind::Pod, &value)
    };
    let plain = |name: &str, group: Option<&str>| pod(name, 10, "", group);
    let pods = vec![
        nominated("t3", "a1", "train"),
        plain("o1", Some("other")),
        nominated("t1", "a1", "train"),
        plain("alone", None),
        gated("t2"),
        nominated("o2", "a1", "other"),
        plain("t4", Some("train")),
        nominated("t0", "a1", "train"),
    ];
    for min in 1..8 {
        let mut emulation = Emulation::default();
        for gate in GANG {
            emulation.set(*gate, true);
        }
        let rest = [node("a1", 9, "a"), group(min, &json!({}))];
        let start = "2026-11-20T18:26:12Z".parse().expect("a time");
        let new = |objects: Vec<Object>| Scheduler::new(Config::defaults(emulation), objects, Options { start, ..Options::default() });
        let at_start = new(rest.iter().chain(&pods).cloned().collect());
        let mut coming = new(rest.to_vec());
        for pod in &pods {
            coming.apply(Operation::Create { object: pod.clone() });
        }
        let places = |scheduler: &Scheduler| {
            let view = scheduler.state().queue().view().clone();
            let all = view.entries.iter().map(|(key, entry)| {
                let moved = entry.last_move.as_ref().map(|last| (last.from.clone(), last.to.clone(), last.cause));
                (key.clone(), entry.place.clone(), entry.plugins, entry.nominated.clone(), moved)
            });
            let on_node = scheduler.state().queue().nominated_pods_for_node("a1");
            (all.collect::<Vec<_>>(), on_node.iter().map(|pod| pod.key().to_string()).collect::<Vec<_>>())
        };
        assert_eq!(places(&at_start), places(&coming), "{min}");
    }
}

/// A scheduler of a release that reads pod groups and preempts for them.
fn of_release(version: &str, objects: Vec<Object>) -> Scheduler {
    let mut emulation: Emulation = schedscope::release::Profile::named(version).expect("an emulated release").into();
    for gate in [Gate::GenericWorkload, Gate::GangScheduling, Gate::WorkloadAwarePreemption] {
        emulation.set(gate, true);
    }
    let start = "2026-11-20T18:26:12Z".parse().expect("a time");
    Scheduler::new(Config::defaults(emulation), objects, Options { start, ..Options::default() })
}

/// Returns the message of each waiting pod, and of the group.
fn messages(scheduler: &Scheduler) -> Vec<String> {
    let cluster = scheduler.state().cluster();
    let of_pod = |pod: &schedscope::cluster::Pod| {
        let nominated = &pod.status.nominated_node_name;
        let nominated = if nominated.is_empty() { String::new() } else { format!(" ({nominated})") };
        pod.condition("PodScheduled").map(|c| format!("{}{nominated}: {}", pod.metadata.name, c.message))
    };
    let pods = cluster.pods.iter().filter_map(|pod| of_pod(pod));
    let group = cluster.pod_groups.get(&Key::new("ml", "train")).expect("the group");
    let condition = group.scheduled_condition().map(|c| format!("{} {}: {}", c.kind, c.reason, c.message));
    pods.chain(condition).collect()
}

#[test]
fn a_later_release_refuses_a_group_whose_pods_differ_from_it() {
    let objects = |priorities: [i32; 2], more: &Value| {
        let members = ["train-0", "train-1"].into_iter().zip(priorities).map(|(name, priority)| pod(name, priority, "", Some("train")));
        [node("a1", 4, "a"), group(2, more)].into_iter().chain(members).collect::<Vec<_>>()
    };
    let tried = |version: &str, objects: Vec<Object>| {
        let mut scheduler = of_release(version, objects);
        let events = scheduler.apply(Operation::Schedule);
        (text(&events)[0].clone(), messages(&scheduler))
    };
    let refused = "all pods in a single pod group should have the same priority as the pod group's priority, got 10 and 0";
    let (said, written) = tried("v1.37.0", objects([10, 10], &json!({})));
    assert_eq!(said, "POD GROUP ml/train: Not tried, because a pod has priority 10 and the group has priority 0.");
    assert_eq!(
        written,
        [format!("train-0: {refused}"), format!("train-1: {refused}"), format!("PodGroupInitiallyScheduled SchedulerError: {refused}")]
    );
    let (_, written) = tried("v1.37.0", objects([10, 5], &json!({"priority": 10})));
    assert!(written[0].ends_with("got 5 and 10"), "{written:?}");
    let (said, _) = tried("v1.37.0", objects([10, 10], &json!({"priority": 10})));
    assert_eq!(said, "POD GROUP ml/train: Scheduled: all 2 pods found a place.");
    let (said, _) = tried("v1.36.2", objects([10, 10], &json!({})));
    assert_eq!(said, "POD GROUP ml/train: Scheduled: all 2 pods found a place.", "1.36 compares no priorities");
    // Pods with a node count too, and so do preemption policies.
    let mut with_scheduled = objects([10, 10], &json!({"priority": 10}));
    with_scheduled.push(pod("train-2", 7, "a1", Some("train")));
    let (_, written) = tried("v1.37.0", with_scheduled);
    assert!(written[0].ends_with("got 7 and 10"), "{written:?}");
    let mut never = serde_json::to_value(pod("train-1", 10, "", Some("train"))).expect("plain data");
    never["spec"]["preemptionPolicy"] = json!("Never");
    let mut of_both = objects([10, 10], &json!({"priority": 10}));
    of_both[3] = object(Kind::Pod, &never);
    let (said, written) = tried("v1.37.0", of_both);
    assert_eq!(said, "POD GROUP ml/train: Not tried, because its pods have different preemption policies.");
    let policies = "all pods in a single pod group should have the same preemption policy, got Never and PreemptLowerPriority";
    assert_eq!(written[0], format!("train-0: {policies}"));
}

/// With all pods of lower priority away, the group goes to the first node. 1.36 tries it again after each pod that comes back, and finds
/// the other node; 1.37 keeps the places that it found.
#[test]
fn a_later_release_keeps_the_places_that_a_group_found_without_the_victims() {
    let objects = || {
        vec![
            node("a1", 1, "a"),
            node("b1", 1, "b"),
            group(1, &json!({"priority": 10})),
            pod("more", 2, "a1", None),
            pod("less", 1, "b1", None),
            pod("train-0", 10, "", Some("train")),
            pod("train-1", 10, "", Some("train")),
        ]
    };
    let evicted = |version: &str| {
        let mut scheduler = of_release(version, objects());
        scheduler.apply(Operation::Schedule);
        (["more", "less"].map(|name| !bound(&scheduler).contains(&name.to_owned())), messages(&scheduler))
    };
    let (earlier, _) = evicted("v1.36.2");
    assert_eq!(earlier, [false, true]);
    let (later, written) = evicted("v1.37.0");
    assert_eq!(later, [true, true], "both pods found a place without the victims, and both places are kept");
    let group = "pod group is unschedulable, minCount (1) cannot be satisfied: 0 scheduled, 0 remaining, \
                 pod group preemption: found a placement for podgroup, preempting 2 victims";
    let own = "0/2 nodes are available: 2 Insufficient cpu. preemption: not eligible due to workload aware preemption enabled";
    assert_eq!(written[2], format!("PodGroupInitiallyScheduled Unschedulable: {group}"));
    assert!(written[0].starts_with("train-0 (a1): 0/2 nodes are available: 2 Insufficient cpu."), "{written:?} {own}");
    assert!(written[1].starts_with("train-1 (b1): "), "{written:?}");
}

/// Nodes by cpu, then pods on them by node and priority, then members by the node to which they are nominated.
type PreemptingWorld = (Vec<u32>, Vec<(usize, i32)>, Vec<Option<usize>>);

/// Units with whether they are put back, and members with their nodes.
type Preemption = (Vec<(Key, bool)>, Vec<(Key, Str)>);

fn preempting_world() -> impl Strategy<Value = PreemptingWorld> {
    let pods = proptest::collection::vec((0..5usize, 0..4), 0..12);
    let members = proptest::collection::vec(proptest::option::weighted(0.3, 0..5usize), 1..5);
    (proptest::collection::vec(1..4u32, 1..5), pods, members)
}

/// Returns the units that a group in 1.37 evicts and puts back, and the nodes of its members; `more` is added to their spec.
fn preemption((cpus, pods, nominated): &PreemptingWorld, more: &Value) -> Option<Preemption> {
    let node_of = |i: usize| format!("n{}", i % cpus.len());
    let mut objects: Vec<Object> = cpus.iter().enumerate().map(|(i, cpu)| node(&node_of(i), *cpu, "z")).collect();
    objects.push(group(u32::try_from(nominated.len()).expect("few members"), &json!({"priority": 10})));
    objects.extend(pods.iter().enumerate().map(|(i, (on, priority))| pod(&format!("low-{i}"), *priority, &node_of(*on), None)));
    objects.extend(nominated.iter().enumerate().map(|(i, to)| {
        let mut member = serde_json::to_value(pod(&format!("train-{i}"), 10, "", Some("train"))).expect("plain data");
        for (key, value) in more.as_object().into_iter().flatten() {
            member["spec"][key] = value.clone();
        }
        member["status"] = json!({"nominatedNodeName": to.map(node_of)});
        object(Kind::Pod, &member)
    }));
    let mut emulation: Emulation = Profile::named("v1.37.0").expect("a known release").into();
    emulation.set(Gate::GenericWorkload, true);
    let scheduler = Scheduler::new(Config::defaults(emulation), objects, Options::default());
    let first = scheduler.state().cluster().pods.get(&Key::new("ml", "train-0")).expect("the pod").clone();
    let view = CycleView::of(&scheduler.explain_group(&first).expect("a pod of a group"));
    let record = view.group.as_ref().expect("a group").preemption.clone()?;
    let units = record.units.iter().map(|unit| (unit.name.clone(), unit.reprieved)).collect();
    Some((units, record.nominated.clone()))
}

/// Returns the events about nodes and candidates of a dry decision about a gang, whose members preempt one by one; they may be `alike`, or
/// each tolerate a taint of its own, which no node has.
fn tried_on_nodes((cpus, pods, nominated): &PreemptingWorld, alike: bool) -> Vec<Event> {
    let node_of = |i: usize| format!("n{}", i % cpus.len());
    let mut objects: Vec<Object> = cpus.iter().enumerate().map(|(i, cpu)| node(&node_of(i), *cpu, "z")).collect();
    objects.push(group(u32::try_from(nominated.len()).expect("few members"), &json!({})));
    objects.extend(pods.iter().enumerate().map(|(i, (on, priority))| pod(&format!("low-{i}"), *priority, &node_of(*on), None)));
    for (i, to) in nominated.iter().enumerate() {
        let mut member = serde_json::to_value(pod(&format!("train-{i}"), 3, "", Some("train"))).expect("plain data");
        if !alike {
            member["spec"]["tolerations"] = json!([{"key": format!("taint-{i}"), "operator": "Exists"}]);
        }
        objects.push(object(Kind::Pod, &member));
        // A pod of another workload, nominated to the same node with a higher or a lower priority.
        if let Some(to) = to {
            let mut other = serde_json::to_value(pod(&format!("other-{i}"), i32::try_from(i).expect("few"), "", None)).expect("plain data");
            other["status"] = json!({"nominatedNodeName": node_of(*to)});
            objects.push(object(Kind::Pod, &other));
        }
    }
    let mut emulation: Emulation = Profile::named("v1.36.2").expect("a known release").into();
    for gate in GANG {
        emulation.set(*gate, true);
    }
    let scheduler = Scheduler::new(Config::defaults(emulation), objects, Options::default());
    let first = scheduler.state().cluster().pods.get(&Key::new("ml", "train-0")).expect("the pod").clone();
    let events = scheduler.explain_group(&first).expect("a pod of a group");
    let is_of_nodes = |event: &Event| {
        let is_group = matches!(event, Event::Group(event) if event.pod().is_some());
        is_group || matches!(event, Event::NodeFiltered { .. } | Event::NodeSelected { .. } | Event::PreemptionStarted(_))
    };
    events.into_iter().filter(is_of_nodes).collect()
}

/// Two members that preempt on full nodes share the dry runs of nodes that stay as they are.
#[test]
fn members_that_are_alike_share_dry_runs() {
    let full = (vec![1, 1, 1, 1], vec![(0, 0), (1, 0), (2, 0), (3, 0)], vec![None, None, None]);
    let shared = |alike: bool| -> usize {
        let events = tried_on_nodes(&full, alike);
        let of = |event: &Event| if let Event::PreemptionStarted(record) = event { Some(record.clone()) } else { None };
        let records: Vec<_> = events.iter().filter_map(of).collect();
        assert_eq!(records.len(), 3);
        let (second, third) = (&records[1].dry_runs, &records[2].dry_runs);
        let is_shared = |name: &&str| second.get(name).zip(third.get(name)).is_some_and(|(a, b)| std::sync::Arc::ptr_eq(a, b));
        ["n0", "n1", "n2", "n3"].iter().filter(|name| is_shared(name)).count()
    };
    assert_eq!(shared(true), 3, "all but the node that the second takes");
    assert_eq!(shared(false), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn members_find_the_same_whether_what_is_known_of_nodes_is_kept_or_not(world in preempting_world()) {
        prop_assert_eq!(tried_on_nodes(&world, true), tried_on_nodes(&world, false));
    }

    /// A constraint that never fails makes what a member finds on its node depend on pods elsewhere, so that all members are filtered
    /// again for each victim.
    #[test]
    fn victims_are_put_back_alike_where_members_on_other_nodes_are_not_filtered_again(world in preempting_world()) {
        let constraint = json!([{"maxSkew": 1000, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]);
        let everywhere = preemption(&world, &json!({ "topologySpreadConstraints": constraint }));
        prop_assert_eq!(preemption(&world, &json!({})), everywhere);
        // Host ports are no sums, but those of one node.
        let with_port = json!([{"name": "c", "resources": {"requests": {"cpu": "1"}}, "ports": [{"containerPort": 80, "hostPort": 80}]}]);
        let everywhere = preemption(&world, &json!({ "containers": with_port, "topologySpreadConstraints": constraint }));
        prop_assert_eq!(preemption(&world, &json!({ "containers": with_port })), everywhere);
    }
}
