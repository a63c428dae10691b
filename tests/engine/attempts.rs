//! Each attempt of a real scheduler compared our decision on the objects of that moment: a capture, and the log of what the
//! scheduler then did. `SCHEDSCOPE_BATCHES=FILE` takes other batches than those of the fixture; with `--nocapture` their table is printed.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pretty_assertions::assert_eq;
use schedscope::analysis::{AttemptMatch, LogReport};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Evictions, Options, Scheduler};
use schedscope::scheduler_log::SchedulerLog;
use schedscope::source::{Input, Limits, LogTimes, Story, load, read_scheduler_logs};
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/scheduler-logs").join(name)
}

fn read_log(input: Input) -> SchedulerLog {
    let times = LogTimes { latest: Some("2026-11-23T00:00:00Z".parse().unwrap()), offset: Some(0) };
    read_scheduler_logs(&[input], times, &Limits::default(), &Arc::default())
}

fn scheduler(input: Input, config: &Value) -> Scheduler {
    let loaded = load(&[input]);
    let config = match config {
        Value::Null => Config::defaults(Emulation::default()),
        value => Config::parse(&value.to_string(), Emulation::default()).unwrap(),
    };
    let start = loaded.report.newest.unwrap();
    let options = Options { start, evictions: Evictions::AfterGracePeriod, unknown: loaded.report.missing(), ..Options::default() };
    Scheduler::new(config, loaded.objects, options)
}

/// Returns the counts of a log compared a capture, and the lines about attempts that do not agree.
fn compared(log: &SchedulerLog, scheduler: &Scheduler) -> (BTreeMap<AttemptMatch, usize>, usize, Vec<String>) {
    let report = LogReport::new(log, None).unwrap().compared_with(scheduler, Some(scheduler.options().start));
    let (counts, not_compared) = report.agreement().unwrap();
    let others = report.compared().filter(|(_, compared)| compared.kind != AttemptMatch::Agrees);
    let lines = others.map(|(attempt, compared)| format!("{}: {}", log.names.text(attempt.pod), compared.words)).collect();
    (counts, not_compared, lines)
}

fn counts(counts: &BTreeMap<AttemptMatch, usize>) -> [usize; 3] {
    [AttemptMatch::Agrees, AttemptMatch::Explained, AttemptMatch::Differs].map(|kind| counts[&kind])
}

/// Returns a batch's record of the scheduler as its log, 10 ms from line to line, after the capture. The record has no lines
/// about preemption: an attempt that preempted has a message without a part about it, its node is the one where the pod is in
/// the end, and its victims are the pods of lower priority on that node that are gone in the end.
fn log_of(batch: &Value) -> String {
    let mut text = String::new();
    let pods = batch["cluster"]["items"].as_array().unwrap().iter().filter(|object| object["kind"] == "Pod");
    let name =
        |object: &Value| format!("{}/{}", object["metadata"]["namespace"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
    let priorities: BTreeMap<String, i64> = pods.map(|pod| (name(pod), pod["spec"]["priority"].as_i64().unwrap_or(0))).collect();
    let (before, after) = (batch["before"].as_object().unwrap(), batch["after"].as_object().unwrap());
    let preemption = |head: &str, pod: &str| {
        let node = after.get(pod).map_or(&Value::Null, |end| if end["node"].is_null() { &end["nom"] } else { &end["node"] });
        let Some(node) = node.as_str() else { return String::new() };
        let mut lines = format!("{head} \"the target node for the preemption is determined\" pod=\"{pod}\" node=\"{node}\"\n");
        for (victim, on) in before {
            if *on == *node && !after.contains_key(victim) && priorities[victim] < priorities[pod] {
                let _ = writeln!(
                    lines,
                    "{head} \"Preemptor Pod preempted victim Pod\" preemptor=\"{pod}\" victim=\"{victim}\" node=\"{node}\""
                );
            }
        }
        lines
    };
    for (number, line) in batch["real"].as_array().unwrap().iter().enumerate() {
        let (seconds, micros) = (number / 100, number % 100 * 10_000);
        let head = format!("I1122 23:00:{seconds:02}.{micros:06}       1 a.go:1]");
        let pod = &line[1];
        let _ = match line[0].as_str().unwrap() {
            "attempt" => writeln!(text, "{head} \"Attempting to schedule pod\" pod={pod}"),
            "bound" => {
                writeln!(text, "{head} \"Successfully bound pod to node\" pod={pod} node={} evaluatedNodes=14 feasibleNodes=1", line[2])
            }
            "fail" if !line[2].as_str().unwrap().contains("preemption: ") && line[2].as_str().unwrap().ends_with('.') => {
                let lines = preemption(&head, pod.as_str().unwrap());
                writeln!(text, "{lines}{head} \"Unable to schedule pod; no fit; waiting\" pod={pod} err={}", line[2])
            }
            "fail" => writeln!(text, "{head} \"Unable to schedule pod; no fit; waiting\" pod={pod} err={}", line[2]),
            other => panic!("{other}"),
        };
    }
    text
}

#[test]
fn attempts_of_real_batches_agree_or_are_explained() {
    let given = std::env::var_os("SCHEDSCOPE_BATCHES").map(PathBuf::from);
    let path = given.clone().unwrap_or_else(|| fixture("batches.jsonl.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let (mut table, mut all) = (Vec::new(), [0; 3]);
    for line in text.lines() {
        let batch: Value = serde_json::from_str(line).unwrap();
        let capture = Input::Bytes { name: "capture.json".into(), bytes: batch["cluster"].to_string().into_bytes().into() };
        let log = read_log(Input::Bytes { name: "scheduler.log".into(), bytes: log_of(&batch).into_bytes().into() });
        let (found, not_compared, lines) = compared(&log, &scheduler(capture, &batch["config"]));
        let found = counts(&found);
        for (sum, count) in all.iter_mut().zip(found) {
            *sum += count;
        }
        table.push(format!("{}: {found:?}, {not_compared} not compared", batch["id"].as_str().unwrap()));
        table.extend(lines.into_iter().map(|line| format!("  {line}")));
    }
    let table = table.join("\n");
    if given.is_some() {
        println!("agrees, explained, differs {all:?}\n{table}");
        assert!(all[2] * 20 <= all.iter().sum::<usize>(), "{all:?}");
        return;
    }
    assert_eq!(all, [50, 1, 0], "agrees, explained, differs\n{table}");
}

#[test]
fn attempts_of_a_real_log_agree_or_are_explained() {
    let log = read_log(Input::Path(fixture("payments.log.gz")));
    let (found, not_compared, lines) = compared(&log, &scheduler(Story::named("payments").unwrap().input(), &Value::Null));
    assert_eq!((counts(&found), not_compared), ([88, 10, 0], 10), "agrees, explained, differs\n{}", lines.join("\n"));
}
