//! Fixes: trials per second on one core, and the whole page, on 500 nodes with 15,000 pods and on 5,000 with 150,000.
//!
//! Goals: 100 trials per second and core on the larger cluster, and the whole page in under 2 s there and under 50 ms
//! on the smaller one.

mod common;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use schedscope::cluster::{Key, Object};
use schedscope::fixes::{Background, Limits, find};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Options, Scheduler};
use schedscope::source::{Input, load};

fn scheduler(objects: Vec<Object>) -> Scheduler {
    Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default())
}

/// A pod that fits on no node, and one that preempts.
fn pages(c: &mut Criterion) {
    let mut group = c.benchmark_group("fixes");
    group.sample_size(10);
    for nodes in [500, 5000] {
        let text = common::cluster_with_pending(nodes, 30, 1, "40");
        let loaded = load(&[Input::Bytes { name: "bench".into(), bytes: text.into_bytes().into() }]);
        let scheduler = scheduler(loaded.objects);
        for (name, key) in [("fits on no node", "waiting-00000"), ("preempts", "preemptor")] {
            let pod = scheduler.state().cluster().pods.get(&Key::new("team-0", key)).expect("the pod").clone();
            let page = || find(&scheduler, &pod, Limits::of(nodes), Background::nothing(), &|_| true);
            let trials = page().search.trials;
            group.throughput(Throughput::Elements(trials as u64));
            group.bench_function(format!("{nodes} nodes, {name}: the page of {trials} trials"), |b| b.iter(|| black_box(page())));
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be had");
            group.bench_function(format!("{nodes} nodes, {name}: the same on one core"), |b| one.install(|| b.iter(|| black_box(page()))));
        }
    }
    group.finish();
}

criterion_group!(benches, pages);
criterion_main!(benches);
