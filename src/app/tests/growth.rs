//! No step of a default command grows faster than n log n, neither in nodes with their pods nor in pending pods: the operations of each
//! are counted at two sizes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::analysis::{Overview, SchedulerComparer, voices_of_pods, with_odds};
use crate::cluster::operations::counted;
use crate::cluster::{Key, Object, Pod};
use crate::fixes;
use crate::release::Emulation;
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
    let (found, n) = counted(|| fixes::find(&scheduler, &large, fixes::Limits::of(nodes), &fixes::Acts::default(), &|_| true));
    note("fixes", n);
    assert!(found.search.trials > 0);
    let (found, n) = counted(|| capacity(&scheduler, &small, &|_| true).unwrap());
    note("capacity", n);
    assert!(found.fits > nodes);
    let ((), n) = counted(|| {
        let comparer = SchedulerComparer::new(&scheduler, &[]);
        let publish = |overview: Overview| assert!(overview.pending == pending + 1);
        Overview::make(&scheduler, (&comparer, true), &[], (&|_, _| None, &fixes::Acts::default()), &|| true, &publish);
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
