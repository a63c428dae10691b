//! Loading a dump, beside a bare serde_json skip over the same text: 500 nodes with 15,000 pods.

mod common;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use schedscope::source::{Input, load};
use serde::de::IgnoredAny;

fn loading(c: &mut Criterion) {
    let json = common::cluster_json(500, 30);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let yaml = serde_yaml::to_string(&value).expect("YAML");
    let mut group = c.benchmark_group("load");
    group.sample_size(10);
    for (name, text) in [("json", json.clone()), ("yaml", yaml)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| black_box(load(&[Input::Bytes { name: name.into(), bytes: text.clone().into_bytes().into() }])).objects.len());
        });
    }
    group.throughput(Throughput::Bytes(json.len() as u64));
    group.bench_function("json, skipped by serde_json", |b| {
        b.iter(|| black_box(serde_json::from_str::<IgnoredAny>(&json)).is_ok());
    });
    group.finish();
}

criterion_group!(benches, loading);
criterion_main!(benches);
