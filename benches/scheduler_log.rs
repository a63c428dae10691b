//! Reading kube-scheduler's log at `-v=6`: 20 MB of generated lines, and the file that `SCHEDSCOPE_BENCH_LOG` names, if
//! it does. The goal is 200 MB in less than 3 s, with 300 MB of memory.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use schedscope::source::{Input, Limits, LogTimes, read_scheduler_logs};

/// Pods that fail, are moved and fail again, with irrelevant lines between.
fn log(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 4096);
    let mut number: u64 = 0;
    let moved = "\"Pod moved to an internal scheduling queue\"";
    while text.len() < bytes {
        let pod = format!("load/pod-{}", number % 5000);
        let (seconds, micros) = (number / 1000 % 3600, number % 1000 * 1000);
        let head = format!("I1122 10:{:02}:{:02}.{micros:06}       1 a.go:1]", seconds / 60, seconds % 60);
        let _ = writeln!(text, "{head} {moved} pod=\"{pod}\" event=\"BackoffComplete\" queue=\"Active\"");
        let _ =
            writeln!(text, "{head} \"About to try and schedule pod\" pod=\"{pod}\"\n{head} \"Attempting to schedule pod\" pod=\"{pod}\"");
        for node in 0..8 {
            let _ = writeln!(
                text,
                "{head} \"node had untolerated taints\" node=\"node-{node}\" untoleratedTaint={{\"key\":\"a\",\"effect\":\"NoSchedule\"}}"
            );
        }
        let _ = writeln!(
            text,
            "{head} \"Unable to schedule pod; no fit; waiting\" pod=\"{pod}\" err=\"0/26 nodes are available: 26 Insufficient cpu.\""
        );
        let tail = "schedulingCycle=1 hint=0 unschedulable plugins={\"NodeResourcesFit\":{}}";
        let _ = writeln!(text, "{head} {moved} pod=\"{pod}\" event=\"ScheduleAttemptFailure\" queue=\"Unschedulable\" {tail}");
        let _ = writeln!(text, "{head} {moved} pod=\"{pod}\" event=\"AssignedPodDelete\" queue=\"Backoff\"");
        number += 1;
    }
    text
}

fn reading(c: &mut Criterion) {
    let text = log(20 << 20);
    let mut group = c.benchmark_group("scheduler log");
    group.sample_size(10).throughput(Throughput::Bytes(text.len() as u64));
    let input = [Input::Bytes { name: "log".into(), bytes: text.into_bytes().into() }];
    let read = |inputs: &[Input]| read_scheduler_logs(inputs, LogTimes::default(), &Limits::default(), &Arc::default()).attempts.len();
    group.bench_function("made here", |b| b.iter(|| black_box(read(&input))));
    if let Some(path) = std::env::var_os("SCHEDSCOPE_BENCH_LOG").map(PathBuf::from) {
        group.throughput(Throughput::Bytes(std::fs::metadata(&path).expect("SCHEDSCOPE_BENCH_LOG names a file").len()));
        let input = [Input::Path(path)];
        group.bench_function("file", |b| b.iter(|| black_box(read(&input))));
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
