//! Tests of the rows of the overview.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::*;
use crate::analysis::{Cause, SchedulerMatch, Stage, WaitReason};
use crate::cluster::Cluster;
use crate::framework::{PluginName, PluginSet};
use crate::session::Keyframe;
use crate::trace::Place;
use crate::ui::testing;

fn decided(name: &str, cause: Option<&str>, accord: MatchKind) -> (Key, Arc<SchedulerMatch>) {
    let key = Key::new("ns", name);
    let waits_for = cause.map(|cause| WaitReason {
        key: cause.to_owned(),
        words: cause.to_owned(),
        words_of_several: cause.to_owned(),
        shorter: Vec::new(),
        nodes: BTreeMap::new(),
        plugins: PluginSet::default(),
        preemption: PreemptionHelp::No,
    });
    let found = SchedulerMatch {
        pod: key.clone(),
        accord,
        here: String::new(),
        clause: String::new(),
        message: String::new(),
        outcome: Some(if cause.is_some() { Outcome::Unschedulable } else { Outcome::Scheduled }),
        there: None,
        nominated: Str::default(),
        differences: Vec::new(),
        other_words: Vec::new(),
        since: Vec::new(),
        suspects: Vec::new(),
        waits_for,
        group: None,
        decided_by: None,
        untried: 0,
        known: None,
    };
    (key, Arc::new(found))
}

/// Five pods: `a` and `b` wait for cpu, `c` for a volume, `d` fits, `e` is not decided.
fn world() -> (Timeline, OverviewStatus) {
    let mut keyframe = Keyframe { clock: Timestamp::from_second(10_000).unwrap(), ..Keyframe::default() };
    let mut cluster = Cluster::default();
    for (name, priority) in [("a", 1), ("b", 5), ("c", 9), ("d", 0), ("e", 0)] {
        let pod = testing::pod(&format!("ns/{name}"), priority, "1", "1Gi", "");
        cluster.insert(crate::cluster::Object::Pod(Arc::new(pod)));
        let entry = QueueEntry { priority, ..QueueEntry::at(Key::new("ns", name), Place::Active) };
        keyframe.queues.entries.insert(Key::new("ns", name), Arc::new(entry));
    }
    keyframe.cluster = cluster;
    let cause = |key: &str, pods: &[&str]| Cause {
        missing: 0,
        workloads: Vec::new(),
        key: key.to_owned(),
        sentence: key.to_owned(),
        shorter: Vec::new(),
        pods: pods.iter().map(|name| Key::new("ns", *name)).collect(),
        main_reasons: Vec::new(),
        nodes: BTreeMap::new(),
        preemption: PreemptionHelp::No,
        helped: 0,
        helped_pods: Vec::new(),
        fix: FixSearch::Ahead,
    };
    let pods = [
        decided("a", Some("cpu"), MatchKind::Same),
        decided("b", Some("cpu"), MatchKind::Unexplained),
        decided("c", Some("volume"), MatchKind::Same),
        decided("d", None, MatchKind::Unwritten),
        // It was bound since.
        decided("gone", Some("cpu"), MatchKind::Same),
    ];
    let overview = Overview {
        pods: pods.into_iter().collect(),
        causes: vec![cause("cpu", &["a", "b"]), cause("volume", &["c"])],
        pending: 5,
        compared: true,
        stage: Stage::Complete,
        others: Arc::default(),
    };
    (Timeline::new(keyframe), OverviewStatus { newest: Some(Arc::new(overview)), runs: false, is_current: true })
}

fn shape(order: Sort, filter: &str, turned: &[&str]) -> Vec<String> {
    let (timeline, status) = world();
    let turned: BTreeSet<Str> = turned.iter().map(|key| Str::from(*key)).collect();
    let rows = overview_rows(&timeline, &RowsInput { status: &status, turned: &turned, seen: None, order, filter });
    let words = |row: &OverviewRow| match row {
        OverviewRow::Cause(cause) => format!("{}: {} of {}, {} disagree", cause.key, cause.matching, cause.all, cause.disagree),
        OverviewRow::Fix { words, .. } => format!("- {words}"),
        OverviewRow::Pod(pod) => pod.key.name.to_string(),
        OverviewRow::Workload(workload) => workload.to_string(),
    };
    rows.iter().map(words).collect()
}

#[test]
fn workloads_whose_pods_do_not_exist_are_under_a_cause_and_count_no_pending_pod() {
    let (timeline, mut status) = world();
    let mut overview = Overview::clone(status.newest.as_ref().unwrap());
    let mut short = overview.causes[0].clone();
    short.key = "not-created:quota".to_owned();
    (short.pods, short.missing, short.fix) = (Vec::new(), 3, FixSearch::Said("fix: raise it".to_owned(), Vec::new()));
    short.workloads = vec![crate::cluster::neighbors::About::new("Deployment", Key::new("shop", "web"))];
    overview.causes.push(short);
    status.newest = Some(Arc::new(overview));
    let rows = |filter: &str| {
        let turned = BTreeSet::from([Str::from("not-created:quota")]);
        overview_rows(&timeline, &RowsInput { status: &status, turned: &turned, seen: None, order: Sort::Usual, filter })
    };
    let found = rows("");
    let at = found.iter().position(|row| matches!(row, OverviewRow::Cause(cause) if cause.kind == CauseKind::Missing)).unwrap();
    assert!(matches!(&found[at], OverviewRow::Cause(cause) if (cause.all, cause.matching, cause.open) == (3, 3, true)));
    assert!(matches!(&found[at + 2], OverviewRow::Workload(workload) if workload.to_string() == "deployment/web"));
    assert_eq!(found[at].things(), 0);
    let is_missing = |row: &OverviewRow| matches!(row, OverviewRow::Cause(cause) if cause.kind == CauseKind::Missing);
    assert!(rows("name:web").iter().any(is_missing) && !rows("name:other").iter().any(is_missing));
}

#[test]
fn every_pending_pod_is_under_one_cause() {
    let fix = "- searching for a fix";
    let closed =
        ["cpu: 2 of 2, 1 disagree", fix, "volume: 1 of 1, 0 disagree", fix, "fits: 1 of 1, 0 disagree", "undecided: 1 of 1, 0 disagree"];
    assert_eq!(shape(Sort::Usual, "", &[]), closed);
    let open = [
        "cpu: 2 of 2, 1 disagree",
        fix,
        "a",
        "b",
        "volume: 1 of 1, 0 disagree",
        fix,
        "fits: 1 of 1, 0 disagree",
        "undecided: 1 of 1, 0 disagree",
    ];
    assert_eq!(shape(Sort::Usual, "", &["cpu"]), open);
}

#[test]
fn a_filter_opens_causes_and_counts_their_pods() {
    let fix = "- searching for a fix";
    assert_eq!(shape(Sort::Usual, "name:b", &[]), ["cpu: 1 of 2, 1 disagree", fix, "b"]);
    assert_eq!(shape(Sort::Usual, "name:b", &["cpu"]), ["cpu: 1 of 2, 1 disagree", fix]);
    assert_eq!(shape(Sort::Usual, "cause:volume", &[]), ["volume: 1 of 1, 0 disagree", fix, "c"]);
    assert_eq!(shape(Sort::Usual, "agreement:disagrees", &[]), ["cpu: 1 of 2, 1 disagree", fix, "b"]);
}

#[test]
fn causes_are_sorted_by_the_extreme_of_their_pods() {
    let rows = shape(Sort::Priority, "", &["cpu"]);
    assert_eq!(
        rows.iter().filter(|row| !row.starts_with('-')).map(|row| row.split(':').next().unwrap()).collect::<Vec<_>>(),
        ["volume", "cpu", "b", "a", "fits", "undecided"]
    );
    let rows = shape(Sort::Agreement, "", &["cpu"]);
    assert_eq!(&rows[..4], ["cpu: 2 of 2, 1 disagree", "- searching for a fix", "b", "a"]);
}

#[test]
fn all_queues_are_counted_and_empty_ones_too() {
    let (timeline, _) = world();
    let counts = queue_counts(timeline.queues());
    assert_eq!(counts.iter().map(|(_, pods)| *pods).collect::<Vec<_>>(), [5, 0, 0, 0, 0, 0]);
    assert_eq!(counts.len(), QueuePart::iter().count());
}

#[test]
fn words_and_fields_keep_pods() {
    let row = PodRow {
        key: Key::new("shop", "payments"),
        queue: Some(QueuePart::Unschedulable),
        inferred: false,
        priority: 1000,
        since: Timestamp::from_second(1000).ok(),
        attempts: 3,
        preemption: Some(PreemptionHelp::No),
        accord: Some(MatchKind::Unexplained),
        is_new: false,
    };
    let mut plugins = PluginSet::default();
    plugins.insert(PluginName::NodeResourcesFit);
    let waits = WaitReason {
        key: "Insufficient(cpu)".to_owned(),
        words: String::new(),
        words_of_several: String::new(),
        shorter: Vec::new(),
        nodes: BTreeMap::from([("Insufficient cpu".to_owned(), 3)]),
        plugins,
        preemption: PreemptionHelp::No,
    };
    let now = Timestamp::from_second(1000 + 7200).unwrap();
    let cause = Group::new(&waits.key, CauseKind::Waits, "no node has enough free cpu", None, None).row;
    let key = row.key.to_string();
    let facts = facts(&row, &cause, &key, Some(&waits), now);
    let check = |text: &str, expected: bool| assert_eq!(Filter::new(text).keeps(&facts), expected, "{text:?}");
    for kept in [
        "",
        "  ",
        "shpay",
        "enough",
        "enough !gpu",
        "cause:cpu",
        "cause:\"free cpu\"",
        "plugin:resources",
        "reason:\"insufficient cpu\"",
        "queue:unsched",
        "ns:shop name:pay",
        "namespace:shop",
        "priority:1000",
        "priority:>=1000",
        "priority:<1001",
        "!priority:5",
        "age:>1h",
        "age:2h",
        "age:<3h",
        "age:<=7200s",
        "attempts:3",
        "tries:>2",
        "preemption:no",
        "agreement:disagrees",
        "!agreement:agrees",
        "queue:",
        "!",
    ] {
        check(kept, true);
    }
    for dropped in [
        "zzz",
        "!enough",
        "cause:memory",
        "plugin:taint",
        "queue:gated",
        "ns:other",
        "priority:999",
        "priority:>1000",
        "priority:high",
        "age:>2h",
        "age:3d",
        "attempts:<3",
        "preemption:helps",
        "odd:cpu",
        "cpu odd",
        "Enough",
        "priority:5m",
        "agreement:agrees",
        "helps",
        "1000",
    ] {
        check(dropped, false);
    }
}

#[test]
fn pods_that_came_since_the_last_look_are_new() {
    let (timeline, status) = world();
    let rows = |seen: Option<&[&str]>, filter: &str| {
        let seen = seen.map(|names| names.iter().map(|name| Key::new("ns", *name)).collect::<BTreeSet<Key>>());
        let turned = BTreeSet::from([Str::from("cpu")]);
        let input = RowsInput { status: &status, turned: &turned, seen: seen.as_ref(), order: Sort::Usual, filter };
        let words = |row: OverviewRow| match row {
            OverviewRow::Cause(cause) => Some(format!("{} {}", cause.key, cause.new)),
            OverviewRow::Pod(pod) if pod.is_new => Some(format!("+{}", pod.key.name)),
            _ => None,
        };
        overview_rows(&timeline, &input).into_iter().filter_map(words).collect::<Vec<_>>().join(" ")
    };
    // A pod that is not decided yet is not said to be new.
    assert_eq!(rows(Some(&["a", "d"]), ""), "cpu 1 +b volume 1 fits 0 undecided 0");
    assert_eq!(rows(None, ""), "cpu 0 volume 0 fits 0 undecided 0");
    assert_eq!(rows(Some(&["a", "c", "d"]), "new:new"), "cpu 1");
}
