//! The door on 500 and 5,000 nodes with 30 pods each: a clone, a decision, and 20 new pods.

mod common;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use schedscope::engine::Engine;
use serde_json::json;

fn door(c: &mut Criterion) {
    let mut group = c.benchmark_group("engine");
    group.sample_size(10);
    for nodes in [500, 5000] {
        let engine = Engine::builder().objects(common::cluster_with_pending(nodes, 30, 1, "300m")).build().expect("a cluster");
        let pod = engine.queues().active().next().expect("a pending pod").to_owned();
        let (namespace, name) = pod.split_once('/').expect("namespace/name");
        let new = json!({"kind": "Pod", "metadata": {"name": "new"},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]}});
        group.bench_function(format!("clone/{nodes}"), |b| b.iter(|| black_box(engine.clone())));
        group.bench_function(format!("decide/{nodes}"), |b| b.iter(|| black_box(engine.decide(namespace, name))));
        group.bench_function(format!("place_20/{nodes}"), |b| b.iter(|| black_box(engine.place(&new, 20))));
    }
    group.finish();
}

criterion_group!(benches, door);
criterion_main!(benches);
