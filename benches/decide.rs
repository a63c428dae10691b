//! Decisions, apart from loading: one preempting pod on 500 nodes with 15,000 pods and on 5,000 with 150,000; and a whole
//! run of 2,000 waiting pods on the latter, recorded, unrecorded, and on one core.

mod common;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use schedscope::cluster::Key;
use schedscope::framework::FeatureGates;
use schedscope::scheduler::{Config, Operation, Options, Sampling, Scheduler};
use schedscope::session::Session;
use schedscope::source::{Input, load};

/// Waiting pods of the whole run.
const WAITING: usize = 2000;

fn scheduler(nodes: usize, all_nodes: bool) -> Scheduler {
    scheduler_of(common::cluster_json(nodes, 30), all_nodes)
}

fn scheduler_of(text: String, all_nodes: bool) -> Scheduler {
    let loaded = load(&[Input::Bytes { name: "bench".into(), bytes: text.into_bytes().into() }]);
    let sampling = Sampling { all_nodes, ..Sampling::default() };
    Scheduler::new(Config::defaults(FeatureGates::default()), loaded.objects, Options { sampling, ..Options::default() })
}

fn decide(c: &mut Criterion) {
    let mut group = c.benchmark_group("explain a preempting pod");
    group.sample_size(10);
    for (nodes, all) in [(500, false), (500, true), (5000, false), (5000, true)] {
        let scheduler = scheduler(nodes, all);
        let pod = scheduler.state().cluster().pods.get(&Key::new("team-0", "preemptor")).expect("the preemptor").clone();
        let name = format!("{nodes} nodes{}", if all { ", every candidate" } else { "" });
        group.bench_function(name, |b| b.iter(|| black_box(scheduler.explain(&pod))));
    }
    group.finish();
}

/// Runs `work` with one thread.
fn on_one_core<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be had").install(work)
}

fn run(c: &mut Criterion) {
    let scheduler = scheduler_of(common::cluster_with_pending(5000, 30, WAITING, "100m"), false);
    let session = Session::new(scheduler.clone(), "bench");
    let recorded = |mut session: Session| {
        while session.settle() {}
        session
    };
    let unrecorded = |mut scheduler: Scheduler| {
        while scheduler.next_pod().is_some() {
            black_box(scheduler.apply(Operation::Schedule));
        }
        scheduler
    };
    let mut group = c.benchmark_group("run of 2,000 waiting pods on 5,000 nodes");
    group.sample_size(10).throughput(Throughput::Elements(WAITING as u64));
    group.bench_function("recorded", |b| b.iter_batched(|| session.clone(), recorded, BatchSize::PerIteration));
    group.bench_function("not recorded", |b| b.iter_batched(|| scheduler.clone(), unrecorded, BatchSize::PerIteration));
    group.bench_function("recorded, one core", |b| {
        b.iter_batched(|| session.clone(), |session| on_one_core(|| recorded(session)), BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, decide, run);
criterion_main!(benches);
