//! Decisions without loading: one preempting pod on 500 nodes with 15,000 pods and on 5,000 with 150,000; a run of
//! 2,000 pending pods on the latter, recorded and quiet, with sampling and on all nodes, on both cores and on one; runs of 500
//! and 2,000 preemptors on full nodes, each of which evicts three pods; and trials of a patched pod. All run in one
//! process, so that their times can be compared.
//!
//! Goals, on two cores: 15,000 decisions a second quiet and 6,000 recorded; 1,500 on all nodes; 2,000 preemptors a second on 500
//! nodes and 570 on 5,000; 15 ms for a recorded dry run of all candidates; 0.3 ms for a trial.
//!
//! `SCHEDSCOPE_BENCH_DUMP` names a dump to measure as well: a pending pod that preempts, and a run of all pending pods.

mod common;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use schedscope::cluster::{Key, Object, Pod};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, DryOptions, Operation, Options, PostFilter, Quiescence, Sampling, Scheduler};
use schedscope::session::Session;
use schedscope::source::{Input, load};
use schedscope::trace::Event;

/// Pending pods of the run.
const WAITING: usize = 2000;

fn objects(name: &str, text: Vec<u8>) -> Vec<Object> {
    load(&[Input::Bytes { name: name.into(), bytes: text.into() }]).objects
}

fn scheduler(objects: Vec<Object>, all_nodes: bool) -> Scheduler {
    let sampling = Sampling { all_nodes, ..Sampling::default() };
    Scheduler::new(Config::defaults(Emulation::default()), objects, Options { sampling, ..Options::default() })
}

/// Runs `work` with one thread.
fn on_one_core<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be had").install(work)
}

/// Decides about one pod, on every node and with kube-scheduler's own sampling.
fn explain(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, objects: &[Object], pod: &Key) {
    for (all_nodes, what) in [(false, ""), (true, ", every candidate")] {
        let scheduler = scheduler(objects.to_vec(), all_nodes);
        let pod = scheduler.state().cluster().pods.get(pod).expect("the pod").clone();
        group.bench_function(format!("{name}{what}"), |b| b.iter(|| black_box(scheduler.explain(&pod))));
        let one_core = format!("{name}{what}, one core");
        group.bench_function(one_core, |b| on_one_core(|| b.iter(|| black_box(scheduler.explain(&pod)))));
    }
}

fn recorded(mut session: Session) -> Session {
    while session.settle() {}
    session
}

/// Schedules until no pod can be popped, and keeps no events about nodes and candidates.
fn quiet(mut scheduler: Scheduler) -> Scheduler {
    while scheduler.next_pod().is_some() {
        black_box(scheduler.apply(Operation::Schedule));
    }
    scheduler
}

/// Runs until nothing changes, quietly.
fn settled(mut scheduler: Scheduler) -> Scheduler {
    let mut settling = Quiescence::default();
    while let Some(operation) = scheduler.next_operation(&settling) {
        settling.observe(&scheduler.apply(operation));
    }
    scheduler
}

/// Runs all pending pods.
fn run(c: &mut Criterion, name: &str, objects: &[Object]) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for (all_nodes, nodes) in [(false, ""), (true, ", all nodes")] {
        let scheduler = scheduler(objects.to_vec(), all_nodes);
        let session = Session::new(scheduler.clone(), "bench");
        group.throughput(Throughput::Elements(scheduler.state().arrivals().len() as u64));
        let without = scheduler.quietly();
        group.bench_function(format!("recorded{nodes}"), |b| b.iter_batched(|| session.clone(), recorded, BatchSize::PerIteration));
        group.bench_function(format!("quiet{nodes}"), |b| b.iter_batched(|| without.clone(), quiet, BatchSize::PerIteration));
        group.bench_function(format!("recorded{nodes}, one core"), |b| {
            b.iter_batched(|| session.clone(), |session| on_one_core(|| recorded(session)), BatchSize::PerIteration);
        });
        group.bench_function(format!("quiet{nodes}, one core"), |b| {
            b.iter_batched(|| without.clone(), |scheduler| on_one_core(|| quiet(scheduler)), BatchSize::PerIteration);
        });
    }
    group.finish();
}

/// Runs preemptors that evict three pods each until nothing changes.
fn preemptors(c: &mut Criterion) {
    for (nodes, preemptors) in [(500, 500), (5000, 2000)] {
        let scheduler = scheduler(objects("bench", common::full_cluster(nodes, preemptors).into_bytes()), false);
        let mut group = c.benchmark_group(format!("run of {preemptors} preemptors on {nodes} full nodes"));
        group.sample_size(10).throughput(Throughput::Elements(preemptors as u64));
        let session = Session::new(scheduler.clone(), "bench");
        let without = scheduler.quietly();
        group.bench_function("recorded", |b| b.iter_batched(|| session.clone(), recorded, BatchSize::PerIteration));
        group.bench_function("quiet", |b| b.iter_batched(|| without.clone(), settled, BatchSize::PerIteration));
        group.finish();
    }
}

fn made(c: &mut Criterion) {
    let mut group = c.benchmark_group("explain a preempting pod");
    group.sample_size(10);
    for nodes in [500, 5000] {
        let objects = objects("bench", common::cluster_json(nodes, 30).into_bytes());
        explain(&mut group, &format!("{nodes} nodes"), &objects, &Key::new("team-0", "preemptor"));
    }
    group.finish();
    let waiting = common::cluster_with_pending(5000, 30, WAITING, "100m").into_bytes();
    run(c, "run of 2,000 waiting pods on 5,000 nodes", &objects("bench", waiting));
}

/// Trials of a fix, on one core: patches a pending pod and decides about it on a copy of the scheduler, with and
/// without a record. The pod fits on no node or on all of them. Also adds a node.
fn trials(c: &mut Criterion) {
    let mut group = c.benchmark_group("trial");
    group.sample_size(10);
    for nodes in [500, 5000] {
        for (cpu, fits) in [("40", "no node"), ("100m", "all nodes")] {
            let objects = objects("bench", common::cluster_with_pending(nodes, 30, 1, cpu).into_bytes());
            let scheduler = scheduler(objects, true);
            let name = format!("{nodes} nodes, fits on {fits}");
            trial(&mut group, &name, &scheduler);
        }
        let scheduler = scheduler(objects("bench", common::cluster_json(nodes, 30).into_bytes()), true);
        group.bench_function(format!("{nodes} nodes: a node comes"), |b| {
            b.iter_batched(|| scheduler.clone(), node_comes, BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn trial(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, scheduler: &Scheduler) {
    let key = Key::new("team-0", "waiting-00000");
    let pod = scheduler.state().cluster().pods.get(&key).expect("the pod").clone();
    let mut patched = Pod::clone(&pod);
    patched.metadata.labels = [("app", "patched".into())].into_iter().collect();
    let patched = Arc::new(patched);
    let prepared = || {
        let mut trial = scheduler.clone();
        trial.apply(Operation::Update { object: Object::Pod(patched.clone()) });
        trial
    };
    group.bench_function(format!("{name}: clone and patch"), |b| b.iter(|| black_box(prepared())));
    let recorded = || prepared().explain(&patched);
    group.bench_function(format!("{name}: clone, patch, decide, recorded"), |b| on_one_core(|| b.iter(|| black_box(recorded()))));
    // As the search for fixes tries them.
    let options = DryOptions { only_fit: true, ..PostFilter::LeaveOut.into() };
    let quiet = || prepared().dry_decision(&patched, options);
    group.bench_function(format!("{name}: clone, patch, decide"), |b| on_one_core(|| b.iter(|| black_box(quiet()))));
}

fn node_comes(mut scheduler: Scheduler) -> Scheduler {
    let node = r#"{"metadata":{"name":"node-new","uid":"new","labels":{"kubernetes.io/hostname":"node-new","topology.kubernetes.io/zone":"zone-1"}},"status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"}}}"#;
    let object = Object::Node(Arc::new(serde_json::from_str(node).expect("a node")));
    black_box(scheduler.apply(Operation::Create { object }));
    scheduler
}

/// Returns the first pending pod for which preemption runs, or else the first pending pod.
fn preemptor(scheduler: &Scheduler) -> Option<Key> {
    let state = scheduler.state();
    let preempts = |key: &&Key| {
        let pod = state.cluster().pods.get(key);
        pod.is_some_and(|pod| scheduler.explain(pod).iter().any(|e| matches!(e, Event::PreemptionStarted(_))))
    };
    state.arrivals().iter().find(preempts).or_else(|| state.arrivals().first()).cloned()
}

/// Measures the dump that the environment names, if it does.
fn dump(c: &mut Criterion) {
    let Some(path) = std::env::var_os("SCHEDSCOPE_BENCH_DUMP") else { return };
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let objects = objects("dump", text);
    let Some(pod) = preemptor(&scheduler(objects.clone(), false)) else { return };
    let mut group = c.benchmark_group("explain a waiting pod of the dump");
    group.sample_size(10);
    explain(&mut group, &pod.to_string(), &objects, &pod);
    group.finish();
    run(c, "run of the dump's waiting pods", &objects);
}

criterion_group!(benches, trials, made, preemptors, dump);
criterion_main!(benches);
