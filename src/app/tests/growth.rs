//! No step of a default command grows faster than n log n, neither in nodes with their pods nor in pending pods: the operations of each
//! are counted at two sizes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::analysis::{Overview, SchedulerComparer, voices_of_pods, with_odds};
use crate::cluster::operations::counted;
use crate::cluster::{Key, Object, Pod};
use crate::fixes;
use crate::release::{Emulation, Gate, Profile};
use crate::scheduler::{Config, OddsEffort, Operation, Options, Quiescence, Scheduler};
use crate::session::Session;
use crate::source::{self, Input};
use crate::trace::CycleView;
use crate::whatif::{Rehearsal, Verb, apply, capacity};
use crate::workload::{WorkloadInput, short_workloads};

/// Nodes and pending pods of the smaller cluster.
const NODES: usize = 150;
const PENDING: usize = 15;
/// How much larger the other ones are.
const TIMES: usize = 4;
/// Pods on each node.
const PODS: usize = 10;

/// The growth that n log n allows, with a tenth for constants and rounding: `4 · ln(4n) / ln(n)` is 5.0 at these sizes.
const MOST: f64 = 5.5;

/// Steps that take a decision for each pending pod.
const DECIDING: [&str; 3] = ["drain", "overview", "run to the end"];

/// Returns a cluster in three zones, a third of whose workloads have budgets, with pods that wait for different reasons.
fn text(nodes: usize, pending: usize) -> String {
    let mut out = String::from(r#"{"apiVersion":"v1","kind":"List","items":["#);
    let apps = nodes;
    for node in 0..nodes {
        let _ = write!(
            out,
            r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{node:05}","uid":"n{node}","labels":{{"kubernetes.io/hostname":"node-{node:05}","topology.kubernetes.io/zone":"zone-{}"}}}},"spec":{{}},"status":{{"allocatable":{{"cpu":"16","memory":"64Gi","pods":"110"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}},"#,
            node % 3
        );
        for pod in 0..PODS {
            let app = (node * 7 + pod * 13) % apps;
            let _ = write!(
                out,
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"app-{app}-{node}-{pod}","namespace":"team-{}","uid":"p{node}-{pod}","labels":{{"app":"app-{app}"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"app-{app}","uid":"r{app}","controller":true}}]}},"spec":{{"nodeName":"node-{node:05}","schedulerName":"default-scheduler","priority":{},"containers":[{{"name":"c","image":"registry.example/app-{app}:1","resources":{{"requests":{{"cpu":"1450m","memory":"256Mi"}}}}}}]}},"status":{{"phase":"Running","startTime":"2026-11-{:02}T08:00:00Z"}}}},"#,
                app % 20,
                [-10, 0, 1000][app % 3],
                1 + (node + pod) % 19
            );
        }
    }
    for app in (0..apps).step_by(3) {
        let _ = write!(
            out,
            r#"{{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{{"name":"app-{app}","namespace":"team-{}"}},"spec":{{"selector":{{"matchLabels":{{"app":"app-{app}"}}}}}},"status":{{"disruptionsAllowed":{}}}}},"#,
            app % 20,
            app % 4
        );
    }
    for app in 0..apps {
        let namespace = format!("team-{}", app % 20);
        let meta = |name: &str, owner: &str| format!(r#""metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{name}"{owner}}}"#);
        let (deployment, set) = (format!("deploy-{app}"), format!("app-{app}"));
        let owner = |kind: &str, name: &str| {
            format!(r#","ownerReferences":[{{"kind":"{kind}","name":"{name}","uid":"{name}","controller":true}}]"#)
        };
        let about = format!(r#""involvedObject":{{"kind":"ReplicaSet","namespace":"{namespace}","name":"{set}"}}"#);
        let _ = write!(
            out,
            r#"{{"apiVersion":"apps/v1","kind":"Deployment",{},"spec":{{"replicas":{}}},"status":{{}}}},{{"apiVersion":"apps/v1","kind":"ReplicaSet",{},"spec":{{"replicas":{}}},"status":{{}}}},{{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",{},"spec":{{}}}},{{"apiVersion":"v1","kind":"Event",{},{about},"reason":"FailedCreate","message":"Error creating: pods is forbidden: exceeded quota: q","source":{{"component":"replicaset-controller"}}}},"#,
            meta(&deployment, ""),
            PODS + 1,
            meta(&set, &owner("Deployment", &deployment)),
            PODS + 1,
            meta(&format!("work-{app}"), &owner("ReplicaSet", &set)),
            meta(&format!("event-{app}"), ""),
        );
    }
    for pod in 0..pending {
        // Too large, spread over zones, and small.
        let spec = [
            r#""preemptionPolicy":"Never","containers":[{"name":"c","resources":{"requests":{"cpu":"40"}}}]"#,
            r#""topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"waiting"}}}],"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]"#,
            r#""containers":[{"name":"c","resources":{"requests":{"cpu":"100m"}}}]"#,
        ][pod % 3];
        let _ = write!(
            out,
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"waiting-{pod:05}","namespace":"team-0","uid":"w{pod}","labels":{{"app":"waiting"}}}},"spec":{{"schedulerName":"default-scheduler",{spec}}},"status":{{"phase":"Pending"}}}},"#
        );
    }
    out.push_str(
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"preemptor","namespace":"team-0","uid":"preemptor"},"spec":{"schedulerName":"default-scheduler","priority":100000,"containers":[{"name":"c","resources":{"requests":{"cpu":"12","memory":"2Gi"}}}]},"status":{"phase":"Pending"}}]}"#,
    );
    out
}

fn pod(scheduler: &Scheduler, name: &str) -> Arc<Pod> {
    scheduler.state().cluster().pods.get(&Key::new("team-0", name)).unwrap().clone()
}

/// Returns the operations of each step.
fn operations(nodes: usize, pending: usize) -> BTreeMap<&'static str, u64> {
    let text = text(nodes, pending);
    let mut all = BTreeMap::new();
    let mut note = |step: &'static str, operations: u64| {
        all.insert(step, operations);
    };
    let (loaded, n) = counted(|| source::load(&[Input::Bytes { name: "test".into(), bytes: text.into_bytes().into() }]));
    note("load", n);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics.first());
    let options = || Options { start: "2026-11-20T12:00:00Z".parse().unwrap(), ..Options::default() };
    let objects = loaded.objects.clone();
    let (scheduler, n) = counted(|| Scheduler::new(Config::defaults(Emulation::default()), objects, options()));
    note("queues and snapshot", n);

    let neighbors = &loaded.neighbors;
    let waiting = || scheduler.state().cluster().pods.iter().filter(|pod| pod.is_pending());
    note(
        "words of others about all pending pods",
        counted(|| {
            let input = WorkloadInput::of_events(scheduler.state().cluster(), neighbors);
            voices_of_pods(waiting(), &scheduler, &input)
        })
        .1,
    );
    let (short, n) = counted(|| short_workloads(&WorkloadInput::new(scheduler.state().cluster(), neighbors), |_| true).len());
    note("workloads that are short", n);
    assert!(short > nodes / 2);

    let small = pod(&scheduler, "waiting-00002");
    let (view, n) = counted(|| CycleView::of(&scheduler.explain(&small)));
    note("decide", n);
    assert!(view.scoring.selected.is_some());
    let (found, n) = counted(|| scheduler.odds_over_starts(&small, &view, OddsEffort::Asked));
    note("odds that are asked for", n);
    assert!(found.is_some(), "the search ends before the last node");
    note("decide with odds", counted(|| with_odds(&scheduler, &small, OddsEffort::Little)).1);
    let preemptor = pod(&scheduler, "preemptor");
    let (view, n) = counted(|| CycleView::of(&scheduler.explain(&preemptor)));
    note("dry run of all candidates", n);
    assert!(view.preemption.is_some());
    let large = pod(&scheduler, "waiting-00000");
    let (found, n) = counted(|| fixes::find(&scheduler, &large, fixes::Limits::of(nodes), fixes::Background::nothing(), &|_| true));
    note("fixes", n);
    assert!(found.search.trials > 0);
    let (found, n) = counted(|| capacity(&scheduler, &small, &|_| true).unwrap());
    note("capacity", n);
    assert!(found.fits > nodes);
    let ((), n) = counted(|| {
        let comparer = SchedulerComparer::new(&scheduler, &[]);
        let publish = |overview: Overview| assert!(overview.pending == pending + 1);
        Overview::make(&scheduler, (&comparer, true), u64::MAX, &[], fixes::Background::nothing(), &|| true, &publish);
    });
    note("overview", n);

    let verb: Verb = "drain node-00007".parse().unwrap();
    let staged = scheduler.clone();
    note("drain", counted(move || apply(&mut Rehearsal::new(staged), &verb, &|_, _| None).unwrap()).1);
    let mut running = scheduler.clone();
    let (steps, n) = counted(move || {
        let (mut settling, mut steps) = (Quiescence::default(), 0);
        while let Some(operation) = running.next_operation(&settling) {
            settling.observe(&running.apply(operation));
            steps += 1;
        }
        steps
    });
    note("run to the end", n);
    assert!(steps > pending);

    let mut session = Session::new(scheduler.clone(), "test");
    let mut changed = Pod::clone(&pod(&scheduler, "waiting-00001"));
    changed.metadata.labels.insert("new".into(), "yes".into());
    let update = Operation::Update { object: Object::Pod(Arc::new(changed)) };
    let (done, n) = counted(|| session.observe(update));
    note("live update", n);
    assert!(done);
    all
}

#[test]
fn no_step_of_a_default_command_grows_faster_than_n_log_n() {
    let small = operations(NODES, PENDING);
    for (what, nodes, pending) in [("nodes", TIMES, 1), ("pending pods", 1, TIMES), ("nodes and the pending pods", TIMES, TIMES)] {
        let large = operations(NODES * nodes, PENDING * pending);
        let growth = |step: &str| large[step] as f64 / small[step] as f64;
        // A decision looks at all nodes.
        let most = |step: &&str| if nodes > 1 && pending > 1 && DECIDING.contains(step) { MOST * TIMES as f64 } else { MOST };
        let row = |step: &&str| format!("{step}: {} to {}, {:.2} times", small[step], large[step], growth(step));
        let table = small.keys().map(row).collect::<Vec<_>>().join("\n");
        let beyond: Vec<&&str> = small.keys().filter(|step| growth(step) > most(step)).collect();
        assert!(beyond.is_empty(), "{TIMES} times the {what} cost too much in {beyond:?}\n{table}");
    }
}

/// Returns pods of groups that arrive at the start, and three nodes with room for `cpu` of them each: `group` gives the group of each with its smallest number of
/// pods, `None` for a basic one, and `gated` says which have a scheduling gate.
fn groups_text(pods: usize, cpu: usize, group: impl Fn(usize) -> (usize, Option<usize>), gated: impl Fn(usize) -> bool) -> String {
    let mut out = String::from(r#"{"apiVersion":"v1","kind":"List","items":["#);
    let mut known = BTreeMap::new();
    for pod in 0..pods {
        let (group, least) = group(pod);
        known.insert(group, least);
        let gates = if gated(pod) { r#""schedulingGates":[{"name":"quota"}],"# } else { "" };
        let _ = write!(
            out,
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"pod-{pod:05}","namespace":"d","uid":"p{pod}"}},"spec":{{"schedulerName":"default-scheduler",{gates}"schedulingGroup":{{"podGroupName":"group-{group}"}},"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"Pending"}}}},"#
        );
    }
    for (group, least) in known {
        let policy = least.map_or_else(|| r#""basic":{}"#.to_owned(), |least| format!(r#""gang":{{"minCount":{least}}}"#));
        let _ = write!(
            out,
            r#"{{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{{"name":"group-{group}","namespace":"d"}},"spec":{{"schedulingPolicy":{{{policy}}}}}}},"#
        );
    }
    for node in 0..3 {
        let comma = if node < 2 { "," } else { "]}" };
        let _ = write!(
            out,
            r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n{node}"}},"status":{{"allocatable":{{"cpu":"{cpu}","memory":"8Gi","pods":"{cpu}"}}}}}}{comma}"#
        );
    }
    out
}

/// Returns the operations of the start of a scheduler on such a cluster, and of a run to the end.
fn operations_with_groups(release: &str, text: String) -> [u64; 2] {
    let loaded = source::load(&[Input::Bytes { name: "test".into(), bytes: text.into_bytes().into() }]);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics.first());
    let mut emulation: Emulation = Profile::named(release).expect("an emulated release").into();
    emulation.set(Gate::GenericWorkload, true);
    emulation.set(Gate::GangScheduling, true);
    let options = Options { start: "2026-11-20T12:00:00Z".parse().unwrap(), ..Options::default() };
    let (mut running, start) = counted(|| Scheduler::new(Config::defaults(emulation), loaded.objects, options));
    let ((), run) = counted(move || {
        let mut settling = Quiescence::default();
        while let Some(operation) = running.next_operation(&settling) {
            settling.observe(&running.apply(operation));
        }
    });
    [start, run]
}

#[test]
fn no_step_grows_faster_than_n_log_n_in_the_pods_of_groups() {
    type Shape = (&'static str, usize, fn(usize, usize) -> (usize, Option<usize>), fn(usize) -> bool);
    let shapes: [Shape; 8] = [
        ("a gang that fits", 100_000, |_, pods| (0, Some(pods)), |_| false),
        ("a gang", 4, |_, pods| (0, Some(pods)), |_| false),
        ("a gang that is complete early", 4, |_, _| (0, Some(2)), |_| false),
        ("a gang that is never complete", 4, |_, pods| (0, Some(pods + 1)), |_| false),
        ("two gangs by turns", 4, |pod, pods| (pod % 2, Some(pods / 2)), |_| false),
        ("gangs of one pod that are never complete", 4, |pod, _| (pod, Some(2)), |_| false),
        ("a gang that is gated", 4, |_, pods| (0, Some(pods)), |_| true),
        ("a basic group with a gated pod", 4, |_, _| (0, None), |pod| pod == 1),
    ];
    let sizes = [200, 200 * TIMES];
    let mut beyond = Vec::new();
    for release in ["v1.36.2", "v1.37.0"] {
        for (what, cpu, group, gated) in &shapes {
            let [small, large] = sizes.map(|pods| operations_with_groups(release, groups_text(pods, *cpu, |pod| group(pod, pods), gated)));
            for (step, small, large) in [("start", small[0], large[0]), ("run", small[1], large[1])] {
                // A turn that tries many pods looks at all nodes for each, and nothing else.
                let growth = large as f64 / small.max(1000) as f64;
                if growth > MOST {
                    beyond.push(format!("{release}, {what}, {step}: {small} to {large}, {growth:.1} times"));
                }
            }
        }
    }
    assert!(beyond.is_empty(), "{TIMES} times the pods cost too much:\n{}", beyond.join("\n"));
}
