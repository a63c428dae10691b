//! Reading kube-scheduler's log at `-v=6`: first a file of `SCHEDSCOPE_BENCH_LOG_MB` megabytes (200) once, with its time,
//! its progress and the peak memory of the process (Linux); then 20 MB of generated lines, and the file that
//! `SCHEDSCOPE_BENCH_LOG` names, if it does. The goal is 200 MB in less than 3 s, with 300 MB of memory.

use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use schedscope::source::{Input, Limits, LogTimes, Progress, read_scheduler_logs};

/// Writes about this many bytes of lines: pods that fail, are moved and fail again, with irrelevant lines between.
fn write_log(to: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    let mut written = 0;
    let mut number: u64 = 0;
    let moved = "\"Pod moved to an internal scheduling queue\"";
    while written < bytes {
        let pod = format!("load/pod-{}", number % 5000);
        let (seconds, micros) = (number / 1000, number % 1000 * 1000);
        let head =
            format!("I1122 {:02}:{:02}:{:02}.{micros:06}       1 a.go:1]", 10 + seconds / 3600 % 12, seconds / 60 % 60, seconds % 60);
        let mut text = format!("{head} {moved} pod=\"{pod}\" event=\"BackoffComplete\" queue=\"Active\"\n");
        text += &format!("{head} \"About to try and schedule pod\" pod=\"{pod}\"\n{head} \"Attempting to schedule pod\" pod=\"{pod}\"\n");
        for node in 0..8 {
            let taint = "{\"key\":\"a\",\"effect\":\"NoSchedule\"}";
            text += &format!("{head} \"node had untolerated taints\" node=\"node-{node}\" untoleratedTaint={taint}\n");
        }
        let why = "0/26 nodes are available: 26 Insufficient cpu.";
        text += &format!("{head} \"Unable to schedule pod; no fit; waiting\" pod=\"{pod}\" err=\"{why}\"\n");
        let tail = "schedulingCycle=1 hint=0 unschedulable plugins={\"NodeResourcesFit\":{}}";
        text += &format!("{head} {moved} pod=\"{pod}\" event=\"ScheduleAttemptFailure\" queue=\"Unschedulable\" {tail}\n");
        text += &format!("{head} {moved} pod=\"{pod}\" event=\"AssignedPodDelete\" queue=\"Backoff\"\n");
        to.write_all(text.as_bytes())?;
        written += text.len();
        number += 1;
    }
    Ok(())
}

/// Returns the peak memory of this process in megabytes; `None` where `/proc` does not tell it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes: u64 = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())?;
    Some(kilobytes / 1000)
}

/// Reads a large file once. Comes first: the peak is that of the whole process.
fn whole_file(_: &mut Criterion) {
    let megabytes = std::env::var("SCHEDSCOPE_BENCH_LOG_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(200_usize);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scheduler.log");
    let mut file = BufWriter::new(std::fs::File::create(&path).expect("a file"));
    write_log(&mut file, megabytes * 1_000_000).and_then(|()| file.flush()).expect("the log is written");
    drop(file);
    let progress = Arc::new(Progress::default());
    let begin = Instant::now();
    let log = read_scheduler_logs(&[Input::Path(path)], LogTimes::default(), &Limits::default(), &progress);
    let (took, bytes) = (begin.elapsed(), progress.bytes());
    let peak = peak().map_or_else(|| "unknown".to_owned(), |peak| format!("{peak} MB"));
    println!("{megabytes} MB in {took:.2?} with a peak of {peak}: {} attempts, progress at {bytes} bytes", log.attempts.len());
    black_box(log);
}

fn reading(c: &mut Criterion) {
    let mut text = Vec::new();
    write_log(&mut text, 20 << 20).expect("memory takes it");
    let mut group = c.benchmark_group("scheduler log");
    group.sample_size(10).throughput(Throughput::Bytes(text.len() as u64));
    let input = [Input::Bytes { name: "log".into(), bytes: text.into() }];
    let read = |inputs: &[Input]| read_scheduler_logs(inputs, LogTimes::default(), &Limits::default(), &Arc::default()).attempts.len();
    group.bench_function("made here", |b| b.iter(|| black_box(read(&input))));
    if let Some(path) = std::env::var_os("SCHEDSCOPE_BENCH_LOG").map(PathBuf::from) {
        group.throughput(Throughput::Bytes(std::fs::metadata(&path).expect("SCHEDSCOPE_BENCH_LOG names a file").len()));
        let input = [Input::Path(path)];
        group.bench_function("file", |b| b.iter(|| black_box(read(&input))));
    }
    group.finish();
}

criterion_group!(benches, whole_file, reading);
criterion_main!(benches);
