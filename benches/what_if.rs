//! What-ifs on 5,000 nodes with 150,000 pods: how many more of a pod fit, and a drain with the pods going through the
//! queue, for one node and for ten. On 500 nodes, the loss of a zone, whose pods all go through the queue.
//!
//! The pods are owned by ReplicaSets, a third of them under budgets that allow none to three disruptions, so a drain of
//! ten nodes ends at the first one that a budget stops.

mod common;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use schedscope::cluster::{Key, Object, OwnerReference};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Options, Scheduler};
use schedscope::source::{Input, load};
use schedscope::whatif::{Rehearsal, Verb, apply, capacity};

/// Lets a ReplicaSet of the name in the pod's label `app` own it.
fn owned(mut object: Object) -> Object {
    if let Object::Pod(pod) = &mut object
        && let Some(app) = pod.metadata.labels.get("app").cloned()
    {
        let owner = OwnerReference {
            api_version: "apps/v1".into(),
            kind: "ReplicaSet".into(),
            uid: app.clone().into(),
            name: app,
            controller: Some(true),
        };
        Arc::make_mut(pod).metadata.owner_references = vec![owner].into();
    }
    object
}

fn cluster(nodes: usize) -> Scheduler {
    let text = common::cluster_with_pending(nodes, 30, 1, "300m");
    let loaded = load(&[Input::Bytes { name: "bench".into(), bytes: text.into_bytes().into() }]);
    let objects = loaded.objects.into_iter().map(owned).collect();
    Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default())
}

fn what_ifs(c: &mut Criterion) {
    let scheduler = cluster(5000);
    let mut group = c.benchmark_group("what if, 5,000 nodes");
    group.sample_size(10);

    let pod = scheduler.state().cluster().pods.get(&Key::new("team-0", "waiting-00000")).expect("the pod").clone();
    let count = || capacity(&scheduler, &pod, &|_| true).expect("it can be counted");
    let fits = count().fits;
    group.bench_function(format!("capacity, {fits} fit"), |b| b.iter(|| black_box(count())));

    let ten: Vec<String> = (0..10).map(|n| format!("node-{n:05}")).collect();
    for (name, nodes) in [("drain of one node", ten[..1].to_vec()), ("drain of ten nodes", ten)] {
        let verb: Verb = format!("drain {}", nodes.join(" ")).parse().expect("a verb");
        let drain = |mut stage: Rehearsal| apply(&mut stage, &verb, &|_, _| None).map(|answer| (stage, answer));
        group.bench_function(name, |b| b.iter_batched(|| Rehearsal::new(scheduler.clone()), drain, BatchSize::PerIteration));
    }
    group.finish();

    let mut group = c.benchmark_group("what if, 500 nodes");
    group.sample_size(10);
    let scheduler = cluster(500);
    let verb: Verb = "lose zone=zone-0".parse().expect("a verb");
    let lose = |mut stage: Rehearsal| apply(&mut stage, &verb, &|_, _| None).map(|answer| (stage, answer));
    group.bench_function("loss of a zone", |b| b.iter_batched(|| Rehearsal::new(scheduler.clone()), lose, BatchSize::PerIteration));
    group.finish();
}

criterion_group!(benches, what_ifs);
criterion_main!(benches);
