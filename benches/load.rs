//! Loading a dump, compared with a bare serde_json skip over the same text: 500 nodes with 15,000 pods, a single pod,
//! and the file that `SCHEDSCOPE_BENCH_DUMP` names, if it does (a skip reads it each time too, as a load does).

mod common;

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use schedscope::source::{Input, load};
use serde::de::IgnoredAny;

const ONE_POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"u"},
    "spec":{"containers":[{"name":"web","image":"web:1","resources":{"requests":{"cpu":"1"}}}]}}"#;

fn input(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.into(), bytes: text.to_owned().into_bytes().into() }
}

fn loading(c: &mut Criterion) {
    let json = common::cluster_json(500, 30);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let yaml = serde_yaml::to_string(&value).expect("YAML");
    let mut group = c.benchmark_group("load");
    group.sample_size(10);
    for (name, text) in [("json", json.as_str()), ("yaml", &yaml), ("one pod", ONE_POD)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| b.iter(|| black_box(load(&[input(name, text)])).objects.len()));
    }
    group.throughput(Throughput::Bytes(json.len() as u64));
    group.bench_function("json, skipped by serde_json", |b| {
        b.iter(|| black_box(serde_json::from_str::<IgnoredAny>(&json)).is_ok());
    });
    if let Some(path) = std::env::var_os("SCHEDSCOPE_BENCH_DUMP").map(PathBuf::from) {
        let size = std::fs::metadata(&path).expect("SCHEDSCOPE_BENCH_DUMP names a file").len();
        group.throughput(Throughput::Bytes(size));
        group.bench_function("dump", |b| b.iter(|| black_box(load(&[Input::Path(path.clone())])).objects.len()));
        if path.extension().is_some_and(|ending| ending == "json") {
            group.bench_function("dump, skipped by serde_json", |b| {
                b.iter(|| serde_json::from_slice::<IgnoredAny>(&std::fs::read(&path).expect("read before")).is_ok());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, loading);
criterion_main!(benches);
