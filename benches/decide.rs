//! One preempting pod's decision, apart from loading: 500 nodes with 15,000 pods, and 5,000 with 150,000.

mod common;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use schedscope::cluster::Key;
use schedscope::framework::FeatureGates;
use schedscope::scheduler::{Config, Options, Sampling, Scheduler};
use schedscope::source::{Input, load};

fn scheduler(nodes: usize, all_nodes: bool) -> Scheduler {
    let text = common::cluster_json(nodes, 30);
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

criterion_group!(benches, decide);
criterion_main!(benches);
