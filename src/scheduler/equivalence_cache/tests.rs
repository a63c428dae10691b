use proptest::prelude::*;

use super::*;
use crate::cluster::{Kind, Object, Pod};
use crate::framework::Snapshot;
use crate::release::{Emulation, Gate, nearest};
use crate::scheduler::testing::{at, key, node, object, pod, scheduler};
use crate::scheduler::{Evictions, Operation, Options, Scheduler};

fn quiet(objects: Vec<Object>) -> Scheduler {
    scheduler(Evictions::AtOnce, objects).quietly()
}

/// Returns a scheduler with kube-scheduler's plugins alone.
fn plain(emulation: Emulation, objects: Vec<Object>) -> Scheduler {
    let options = Options { start: at(0), evictions: Evictions::AtOnce, ..Options::default() };
    Scheduler::new(Config::defaults(emulation), objects, options)
}

fn info(scheduler: &Scheduler, name: &str) -> PodInfo {
    PodInfo::new(scheduler.state().cluster().pods.get(&key(name)).unwrap().clone())
}

/// Returns a pod of the same workload.
fn copy_of(pod: &Pod, name: &str) -> Object {
    let mut copy = pod.clone();
    copy.metadata.name = name.into();
    copy.metadata.uid = name.into();
    Object::Pod(Arc::new(copy))
}

#[test]
fn answers_of_a_node_are_kept_until_it_changes() {
    let Object::Pod(first) = pod("a", 0, 1, "", "app=web") else { unreachable!() };
    let waiting = |name: &str| copy_of(&first, name);
    let mut scheduler = quiet(vec![node("n1"), node("n2"), pod("full", 0, 4, "n2", "app=db"), waiting("a"), waiting("b"), waiting("c")]);
    scheduler.apply(Operation::Schedule);
    let before = scheduler.state().snapshot();
    scheduler.apply(Operation::Schedule);
    let (config, after) = (scheduler.state().config().clone(), scheduler.state().snapshot());
    let infos = ["c", "full"].map(|name| info(&scheduler, name));
    let mut copy = scheduler.equivalence_cache.clone();
    let class = scheduler.equivalence_cache.of(&config, &infos[0]).unwrap();
    let known = |snapshot: &Snapshot, name: &str, class: &EquivalenceClass| {
        let at = snapshot.position(name).unwrap();
        class.status(at, &snapshot.nodes()[at], None).map(Status::is_success)
    };
    assert_eq!(["n1", "n2"].map(|name| known(&before, name, class)), [Some(true), Some(false)]);
    assert_eq!(["n1", "n2"].map(|name| known(&after, name, class)), [None, Some(false)], "a pod came to n1");
    let filters = class.filters;
    assert!(class.is_of(filters) && filters.contains(PluginName::NodeResourcesFit));
    class.learn_statuses(PluginSet::default(), Vec::new(), after.nodes());
    assert_eq!(known(&after, "n2", class), None, "other filters are asked");
    assert!(scheduler.equivalence_cache.of(&config, &infos[1]).is_none() && scheduler.equivalence_cache.of(&config, &infos[1]).is_none());
    let other = Arc::new(Config::clone(&config));
    assert!(scheduler.equivalence_cache.of(&other, &infos[0]).is_none() && copy.of(&config, &infos[0]).is_none());
}

/// Returns the victims of the nodes whose dry runs are known after two pods preempted.
fn known_victims(emulation: Emulation) -> Vec<usize> {
    let Object::Pod(first) = pod("a", 9, 3, "", "app=web") else { unreachable!() };
    let full = |name: &str, node: &str| pod(name, 0, 4, node, "app=db");
    let waiting = ["a", "b", "c"].map(|name| copy_of(&first, name));
    let objects = ["1", "2", "3"].into_iter().flat_map(|at| [node(&format!("n{at}")), full(&format!("full{at}"), &format!("n{at}"))]);
    let mut scheduler = plain(emulation, objects.chain(waiting).collect()).quietly();
    (0..2).for_each(|_| drop(scheduler.apply(Operation::Schedule)));
    let (config, snapshot) = (scheduler.state().config().clone(), scheduler.state().snapshot());
    let infos = ["c", "full3"].map(|name| info(&scheduler, name));
    let framework = config.profile(&first.spec.scheduler_name).unwrap();
    let class = scheduler.equivalence_cache.of(&config, &infos[0]).unwrap();
    assert!(class.take_dry_runs(framework, &infos[1].pod, true).is_none(), "a pod unlike them");
    let known = class.take_dry_runs(framework, &infos[0].pod, true).unwrap();
    let victims = |position: usize| {
        let run = known.get(position, &snapshot.nodes()[position], None)?;
        run.candidate.as_ref().map(|candidate| candidate.victims.len())
    };
    (0..3).filter_map(victims).collect()
}

#[test]
fn dry_runs_are_kept_for_the_next_preemptor() {
    assert_eq!(known_victims(Emulation::default()), [1], "the nodes that are taken have changed, or have nominated pods");
    // Where groups are victims, a dry run removes pods of other nodes.
    let mut with_groups = Emulation::from(nearest("1.37.0".parse().unwrap()).profile);
    with_groups.set(Gate::GenericWorkload, true);
    assert!(known_victims(with_groups).is_empty());
}

#[test]
fn the_kind_of_pod_tried_longest_ago_is_forgotten() {
    let name = |i: usize| format!("p{i}");
    let objects = (0..=EQUIVALENCE_CLASSES).map(|i| pod(&name(i), 0, 1 + i as u32, "", "app=web")).collect();
    let scheduler = quiet(objects);
    let config = scheduler.state().config().clone();
    let mut cache = EquivalenceCache::default();
    let mut is_known = |i: usize| cache.of(&config, &info(&scheduler, &name(i))).is_some();
    assert!((0..EQUIVALENCE_CLASSES).all(|i| !is_known(i)));
    assert!(is_known(0) && !is_known(EQUIVALENCE_CLASSES));
    assert!(is_known(0) && is_known(EQUIVALENCE_CLASSES) && !is_known(1));
    assert_eq!(cache.classes.len(), EQUIVALENCE_CLASSES);
}

#[test]
fn workloads_that_require_the_same_of_a_node_share_answers() {
    let scheduler = quiet(vec![pod("a", 0, 1, "", "app=a"), pod("b", 1, 1, "", "app=b"), pod("c", 0, 2, "", "app=a")]);
    let [a, b, c] = ["a", "b", "c"].map(|name| info(&scheduler, name).pod);
    let changed = |change: fn(&mut PodSpec)| {
        let mut pod = Pod::clone(&b);
        change(Arc::make_mut(&mut pod.spec));
        pod
    };
    assert!(require_alike(&a.spec, &b.spec) && !require_alike(&a.spec, &c.spec));
    let ssd = || Some([("disk", "ssd".into())].into_iter().collect());
    assert!(!require_alike(&a.spec, &changed(|spec| spec.host_network = Some(true)).spec));
    assert!(!require_alike(&a.spec, &changed(|spec| spec.scheduler_name = "other".into()).spec), "other plugins answer");
    let mut selects = changed(|_| ());
    Arc::make_mut(&mut selects.spec).node_selector = ssd();
    assert!(!require_alike(&a.spec, &selects.spec));
    let framework = scheduler.state().config().profile(&a.spec.scheduler_name).unwrap();
    assert!(are_alike_on_a_node(framework, &a, &b) && !are_alike(&a, &b), "labels differ");
}

/// Something that happens between two attempts.
#[derive(Clone, Debug)]
enum Step {
    Schedule,
    Cordon(usize, bool),
    Label(usize, bool),
    Leave(usize),
    End(usize),
    /// The budget of the first workload allows this many disruptions.
    Allow(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Schedule),
        1 => (0..3_usize, any::<bool>()).prop_map(|(at, on)| Step::Cordon(at, on)),
        1 => (0..3_usize, any::<bool>()).prop_map(|(at, on)| Step::Label(at, on)),
        1 => (0..3_usize).prop_map(Step::Leave),
        1 => (0..12_usize).prop_map(Step::End),
        1 => (0..3_usize).prop_map(Step::Allow),
    ];
    prop::collection::vec(step, 0..30)
}

/// Returns a node with a hundred CPUs.
fn node_as(name: &str, cordoned: bool, labelled: bool) -> Object {
    let disk = if labelled { r#""disk":"ssd","# } else { "" };
    let labels = format!(r#"{{{disk}"kubernetes.io/hostname":"{name}"}}"#);
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","labels":{labels}}},"spec":{{"unschedulable":{cordoned}}},
        "status":{{"allocatable":{{"cpu":"100","pods":"9"}}}}}}"#
    );
    object(Kind::Node, &text)
}

/// Returns the budget of the first workload.
fn budget(allowed: usize) -> Object {
    let text = format!(
        r#"{{"metadata":{{"name":"budget","namespace":"d"}},"spec":{{"selector":{{"matchLabels":{{"app":"w0"}}}}}},
        "status":{{"disruptionsAllowed":{allowed}}}}}"#
    );
    object(Kind::PodDisruptionBudget, &text)
}

/// Returns the constraint that no node has more than one pod of a workload more than another.
fn spread(workload: usize) -> crate::cluster::TopologySpreadConstraint {
    let text = format!(
        r#"{{"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"DoNotSchedule",
        "labelSelector":{{"matchLabels":{{"app":"w{workload}"}}}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// Takes the steps, and returns where each pod ends.
fn ends(mut scheduler: Scheduler, steps: &[Step]) -> Vec<(String, String)> {
    let name = |at: usize| format!("n{at}");
    for step in steps {
        let operation = match step {
            Step::Schedule => Operation::Schedule,
            Step::Cordon(at, on) => Operation::put(scheduler.state().cluster(), node_as(&name(*at), *on, false)),
            Step::Label(at, on) => Operation::put(scheduler.state().cluster(), node_as(&name(*at), false, *on)),
            Step::Allow(allowed) => Operation::put(scheduler.state().cluster(), budget(*allowed)),
            Step::Leave(at) => Operation::Delete { object: node_as(&name(*at), false, false) },
            Step::End(at) => match scheduler.state().cluster().pods.iter().nth(*at).cloned() {
                Some(pod) => Operation::Delete { object: Object::Pod(pod) },
                None => continue,
            },
        };
        scheduler.apply(operation);
        scheduler.apply(Operation::Advance { seconds: 20 });
    }
    scheduler.state().cluster().pods.iter().map(|pod| (pod.key().to_string(), pod.node_name.to_string())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn quiet_runs_decide_as_recorded_ones(
        waiting in prop::collection::vec((0..3_i32, 5..60_u32, 1..6_usize, any::<bool>(), any::<bool>()), 1..6),
        steps in steps(),
    ) {
        let mut objects: Vec<Object> = (0..3).map(|at| node_as(&format!("n{at}"), false, at == 0)).collect();
        objects.push(budget(1));
        for (at, (priority, cpu, copies, selects, spreads)) in waiting.iter().enumerate() {
            let first = pod(&format!("w{at}-0"), *priority, *cpu, "", &format!("app=w{at}"));
            let Object::Pod(first) = first else { unreachable!() };
            let mut first = Pod::clone(&first);
            if *selects {
                Arc::make_mut(&mut first.spec).node_selector = Some([("disk", "ssd".into())].into_iter().collect());
            }
            if *spreads {
                Arc::make_mut(&mut first.spec).topology_spread_constraints = [spread(at)].into_iter().collect();
            }
            for copy in 0..*copies {
                objects.push(copy_of(&first, &format!("w{at}-{copy}")));
            }
        }
        let recorded = ends(scheduler(Evictions::AtOnce, objects.clone()), &steps);
        prop_assert_eq!(ends(quiet(objects.clone()), &steps), recorded);
        // Without plugins of others dry runs are kept too.
        let plain = |objects| plain(Emulation::default(), objects);
        let recorded = ends(plain(objects.clone()), &steps);
        prop_assert_eq!(ends(plain(objects).quietly(), &steps), recorded);
    }
}
