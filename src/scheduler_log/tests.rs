use super::*;

fn read_as(files: &[(&str, Option<&str>, &str)]) -> SchedulerLog {
    let mut reader = Reader::default();
    for (name, writer, text) in files {
        let facts = FileFacts { writer: writer.map(str::to_owned), ..FileFacts::default() };
        reader.file(name, &facts, &mut text.as_bytes(), &mut |_| true);
    }
    reader.finish()
}

fn read(text: &str) -> SchedulerLog {
    read_as(&[("a.log", None, text)])
}

/// Returns lines one second apart, of process 1 unless given as `7|message`.
fn lines(messages: &[&str]) -> String {
    let line = |(n, text): (usize, &&str)| {
        let (pid, text) = text.split_once('|').filter(|(pid, _)| pid.parse::<u32>().is_ok()).unwrap_or(("1", text));
        format!("I1122 10:{:02}:{:02}.000000 {pid:>7} a.go:1] {text}\n", n / 60, n % 60)
    };
    messages.iter().enumerate().map(line).collect()
}

const START: &str = r#""Starting Kubernetes Scheduler" version="v1.36.2""#;

fn moved(pod: &str, event: &str, queue: &str) -> String {
    format!(r#""Pod moved to an internal scheduling queue" pod="{pod}" event="{event}" queue="{queue}""#)
}

fn requeued(pod: &str, queue: &str, plugins: &str) -> String {
    format!(r"{} schedulingCycle=1 hint=0 unschedulable plugins={plugins}", moved(pod, "ScheduleAttemptFailure", queue))
}

fn added(pod: &str) -> String {
    format!(r#""Add event for unscheduled pod" pod="{pod}""#)
}

fn attempted(pod: &str) -> String {
    format!(r#""Attempting to schedule pod" pod="{pod}""#)
}

fn unfit(pod: &str) -> String {
    format!(r#""Unable to schedule pod; no fit; waiting" pod="{pod}" err="0/1 nodes are available: 1 Insufficient cpu.""#)
}

/// Returns the pods of a queue at the end.
fn pods(log: &SchedulerLog, queue: impl Fn(&Queues) -> Option<&Vec<QueuedPod>>) -> Option<Vec<String>> {
    let queues = log.queues(log.leading(None)?, None);
    let found = queue(&queues)?.iter().map(|pod| log.names.text(pod.pod).to_owned()).collect();
    Some(found)
}

fn kinds(log: &SchedulerLog) -> Vec<&FindingKind> {
    log.findings.iter().map(|finding| &finding.kind).collect()
}

#[test]
fn a_pod_is_followed_through_the_queues() {
    let messages = [
        START.to_owned(),
        added("a/x"),
        moved("a/x", "UnschedulablePodAdd", "Active"),
        r#""About to try and schedule pod" pod="a/x""#.to_owned(),
        attempted("a/x"),
        unfit("a/x"),
        requeued("a/x", "Unschedulable", r#"{"NodeResourcesFit":{}}"#),
        r#""Updating pod condition and nominated node name" pod="a/x" nominatedNodeName="n""#.to_owned(),
        moved("a/x", "NodeAdd", "Backoff"),
        moved("a/x", "BackoffComplete", "Active"),
        attempted("a/x"),
        r#""Successfully bound pod to node" pod="a/x" node="n" evaluatedNodes=2 feasibleNodes=1"#.to_owned(),
    ];
    let log = read(&lines(&messages.iter().map(String::as_str).collect::<Vec<_>>()));
    let places: Vec<Place> = log.changes.iter().map(|change| change.place).collect();
    let expected = [
        Place::Unplaced,
        Place::Active,
        Place::InFlight,
        Place::InFlight,
        Place::Unschedulable,
        Place::Backoff,
        Place::Active,
        Place::InFlight,
        Place::Gone,
    ];
    assert_eq!(places, expected);
    let [first, second] = &log.attempts[..] else { panic!("{:?}", log.attempts) };
    assert_eq!((first.outcome, log.names.text(first.nominated)), (Outcome::Unschedulable, "n"));
    assert_eq!(log.names.text(first.message), "0/1 nodes are available: 1 Insufficient cpu.");
    let requeued = first.requeued.unwrap();
    assert_eq!(
        (requeued.place, log.plugins(requeued.plugins.unwrap()).collect::<Vec<_>>()),
        (Place::Unschedulable, vec!["NodeResourcesFit"])
    );
    assert_eq!((second.outcome, log.names.text(second.node), second.nodes), (Outcome::Scheduled, "n", Some((2, 1))));
    // The failure was six seconds in, and the first backoff is of one second.
    let backoff = log.changes.iter().find(|change| change.place == Place::Backoff).unwrap();
    let failed = log.changes.iter().find(|change| change.place == Place::Unschedulable).unwrap();
    assert_eq!(backoff.expires.unwrap().micros_since(failed.at), 1_000_000);
    // At any time.
    let process = &log.processes[0];
    assert_eq!(process.complete(), [Fact::Attempts, Fact::Moves, Fact::Queues]);
    let parked = log.queues(0, Some(failed.at));
    assert_eq!((parked.certainty, parked.unschedulable.unwrap().len(), parked.active.unwrap().len()), (Certainty::Exact, 1, 0));
    assert_eq!(log.queues(0, None).in_flight, Some(vec![]));
}

#[test]
fn without_moves_queues_are_unknown_and_parked_pods_may_have_moved() {
    let messages = [
        START.to_owned(),
        added("a/x"),
        added("a/new"),
        attempted("a/x"),
        unfit("a/x"),
        requeued("a/x", "Unschedulable", r#"{"NodeResourcesFit":{}}"#),
    ];
    let log = read(&lines(&messages.iter().map(String::as_str).collect::<Vec<_>>()));
    let queues = log.queues(0, None);
    assert_eq!((queues.certainty, queues.active, queues.backoff), (Certainty::ParkedOrMovedSince, None, None));
    assert_eq!(pods(&log, |q| q.unschedulable.as_ref()), Some(vec!["a/x".into()]));
    assert_eq!(pods(&log, |q| Some(&q.unplaced)), Some(vec!["a/new".into()]));
    assert_eq!((log.processes[0].verbosity(), log.processes[0].complete()), (Some(3), vec![Fact::Attempts, Fact::Requeues]));
}

#[test]
fn a_second_line_about_a_move_is_no_second_move() {
    let event = "AssignedPodDelete";
    let messages = [
        START.to_owned(),
        added("a/x"),
        moved("a/x", "PodAdd", "Active"),
        attempted("a/x"),
        unfit("a/x"),
        moved("a/x", "ScheduleAttemptFailure", "Backoff"),
        // Another thread takes it before the second line is written.
        attempted("a/x"),
        requeued("a/x", "Backoff", r#"{"NodePorts":{}}"#),
        unfit("a/x"),
        moved("a/x", "ScheduleAttemptFailure", "Unschedulable"),
        requeued("a/x", "Unschedulable", r#"{"NodePorts":{}}"#),
        moved("a/x", event, "Backoff"),
        format!("{} hint=1", moved("a/x", event, "Backoff")),
    ];
    let log = read(&lines(&messages.iter().map(String::as_str).collect::<Vec<_>>()));
    let moves: Vec<Place> = log.changes.iter().filter(|c| matches!(c.cause, Cause::Moved(_))).map(|c| c.place).collect();
    assert_eq!(moves, [Place::Active, Place::Backoff, Place::Unschedulable, Place::Backoff]);
    assert_eq!(pods(&log, |q| q.backoff.as_ref()), Some(vec!["a/x".into()]));
    let set = log.changes.last().unwrap().plugins;
    assert_eq!(log.plugins(set).collect::<Vec<_>>(), ["NodePorts"]);
}

#[test]
fn queues_begin_again_with_the_scheduler() {
    let messages = [
        START,
        &added("a/x"),
        &moved("a/x", "UnschedulablePodAdd", "Active"),
        "FLAG: --v=\"5\"",
        START,
        &added("a/y"),
        &moved("a/y", "UnschedulablePodAdd", "Active"),
    ];
    let log = read(&lines(&messages));
    assert_eq!(pods(&log, |q| q.active.as_ref()), Some(vec!["a/y".into()]));
    assert_eq!(kinds(&log), [&FindingKind::Restarted]);
    assert_eq!((log.processes.len(), log.processes[1].flags["v"].as_str()), (2, "5"));
    // Another process id is a restart, too.
    let other = [
        START,
        &added("a/x"),
        &moved("a/x", "UnschedulablePodAdd", "Active"),
        "7|\"Starting Kubernetes Scheduler\"",
        &format!("7|{}", attempted("a/z")),
    ];
    let log = read(&lines(&other));
    assert_eq!((log.leading(None), pods(&log, |q| q.active.as_ref())), (Some(1), None));
    assert_eq!(kinds(&log), [&FindingKind::AnotherProcess { pid: 7 }]);
}

#[test]
fn the_queues_of_a_replica_that_waits_are_not_the_leaders() {
    let leader = lines(&[
        START,
        "successfully acquired lease kube-system/kube-scheduler",
        &added("a/x"),
        &moved("a/x", "UnschedulablePodAdd", "Active"),
        &attempted("a/x"),
        START,
    ]);
    let waits = lines(&[
        START,
        "attempting to acquire leader lease kube-system/kube-scheduler...",
        &added("a/x"),
        &moved("a/x", "UnschedulablePodAdd", "Active"),
    ]);
    for files in [
        vec![("a.log", None, leader.as_str()), ("b.log", None, waits.as_str())],
        vec![("b.log", Some("cp-2"), waits.as_str()), ("a.log", Some("cp-1"), leader.as_str())],
    ] {
        let log = read_as(&files);
        assert_eq!(log.processes[log.leading(None).unwrap()].attempts, 0, "the leader's restart counts");
        assert!(kinds(&log).contains(&&FindingKind::Waits), "{:?}", kinds(&log));
    }
    // With kubectl's prefix, line by line.
    let mixed: String = leader
        .lines()
        .zip(waits.lines().chain(std::iter::repeat("")))
        .map(|(a, b)| format!("[pod/s-1/kube-scheduler] {a}\n[pod/s-2/kube-scheduler] {b}\n"))
        .collect();
    let log = read(&mixed);
    assert_eq!(
        log.processes.iter().map(|p| &*p.source).collect::<Vec<_>>(),
        ["s-1/kube-scheduler", "s-2/kube-scheduler", "s-1/kube-scheduler"]
    );
    assert_eq!(log.processes.iter().map(|p| p.leadership).collect::<Vec<_>>(), [Leadership::Leads, Leadership::Waits, Leadership::Unknown]);
}

#[test]
fn rotated_files_go_on_with_each_other() {
    let text = lines(&[
        START,
        &added("a/x"),
        &moved("a/x", "UnschedulablePodAdd", "Active"),
        &added("a/y"),
        &moved("a/y", "UnschedulablePodAdd", "Active"),
    ]);
    let (first, second) = text.split_at(text.match_indices('\n').nth(2).unwrap().0 + 1);
    let log = read_as(&[("0.log", None, first), ("1.log", None, second)]);
    assert_eq!((log.processes.len(), pods(&log, |q| q.active.as_ref()).unwrap().len()), (1, 2));
    // Without the first file the start is not known, and neither is a queue without a pod.
    let log = read(second);
    assert_eq!(kinds(&log), [&FindingKind::NoStart]);
    let queues = log.queues(0, None);
    assert_eq!((queues.certainty, queues.active.map(|q| q.len()), queues.backoff), (Certainty::SinceBegin, Some(1), None));
    assert_eq!(log.processes[0].complete(), [Fact::Attempts, Fact::Moves]);
}

#[test]
fn a_dump_says_where_every_pod_is() {
    let dump = "\"Dump of scheduling queue\" summary=\"activeQ:1; backoffQ:0; unschedulablePods:1\" pods=<\n\
                \tname: x, namespace: a, uid: 1, phase: Pending, nominated node: \n\tname: y, namespace: a, uid: 2, phase: Pending, nominated node: n\n >";
    let add = [added("a/x"), moved("a/x", "UnschedulablePodAdd", "Active"), added("a/z"), moved("a/z", "UnschedulablePodAdd", "Active")];
    let mut messages = vec![START];
    messages.extend(add.iter().map(String::as_str));
    messages.push(dump);
    let log = read(&lines(&messages));
    let FindingKind::DumpDiffers { pods: 2 } = kinds(&log)[0] else { panic!("{:?}", log.findings) };
    assert_eq!(pods(&log, |q| q.active.as_ref()), Some(vec!["a/x".into()]));
    assert_eq!(pods(&log, |q| q.unschedulable.as_ref()), Some(vec!["a/y".into()]));
    // From the middle of a log on, a dump makes the queues known.
    let log = read(&lines(&[messages[1], messages[2], dump]));
    assert_eq!((log.queues(0, None).certainty, log.dumps[0].elsewhere), (Certainty::Exact, None));
}

#[test]
fn lines_in_pieces_are_put_together() {
    let line = format!("I1122 10:00:00.000000       1 a.go:1] {}", attempted("a/x"));
    let (first, second) = line.split_at(30);
    let cri = format!("2026-11-22T08:00:00.000001Z stderr P {first}\n2026-11-22T08:00:00.000001Z stderr F {second}\n");
    let log = read(&cri);
    assert_eq!((log.attempts.len(), log.understood), (1, 1));
    // The prefix has year and zone.
    let process = &log.processes[0];
    assert_eq!(process.clock, Clock { year: true, offset: Some(7200) });
    assert_eq!(process.clock.show(process.from), "2026-11-22T08:00:00.000000Z");
}

#[test]
fn what_is_wrong_with_a_log_is_said() {
    let log = read("kind: Pod\nmetadata:\n  name: x\n");
    assert!(log.is_empty());
    assert_eq!(kinds(&log), [&FindingKind::NotScheduler { lines: 3 }]);
    let cut = lines(&[START, "\"Dump of cached NodeInfo\" nodes=<\n\tNode name: a", &attempted("a/x")]);
    let back = cut.replace("10:00:02", "09:58:00");
    let log = read(&(back + "I1122 10:00:03.000000       1 a.go:1] \"Dump of scheduling queue\" summary=\"activeQ:1; backoffQ:0; unsch"));
    assert_eq!(kinds(&log), [&FindingKind::Cut, &FindingKind::ClockBack(120)]);
    assert_eq!(log.attempts.len(), 1);
    let odd = format!("\u{feff}\0\0\n{}", lines(&[START]).replace("v1.36.2", "\u{fffd}"));
    let bytes: Vec<u8> = odd.bytes().map(|b| if b == 0xbd { 0xff } else { b }).collect();
    let mut reader = Reader::default();
    reader.file("b.log", &FileFacts::default(), &mut bytes.as_slice(), &mut |_| true);
    assert_eq!(kinds(&reader.finish()), [&FindingKind::Zeros, &FindingKind::NotUtf8]);
}

#[test]
fn victims_are_those_of_the_node_that_was_chosen() {
    let messages = [
        START.to_owned(),
        attempted("a/x"),
        r#""Pod is a potential preemption victim on node" pod="b/1" node="n-1""#.to_owned(),
        r#""Pod is a potential preemption victim on node" pod="b/2" node="n-2""#.to_owned(),
        r#""the target node for the preemption is determined" node="n-2" pod="a/x""#.to_owned(),
        unfit("a/x"),
        r#""Preemptor Pod preempted victim Pod" preemptor="a/x" victim="b/2" node="n-2""#.to_owned(),
        r#""Victim Pod is already being deleted, skipping the API call for it" preemptor="a/x" node="n-2" victim="b/3""#.to_owned(),
    ];
    let log = read(&lines(&messages.iter().map(String::as_str).collect::<Vec<_>>()));
    let victims: Vec<&str> = log.attempts[0].victims.iter().map(|victim| log.names.text(*victim)).collect();
    assert_eq!((log.names.text(log.attempts[0].preemption_node), victims), ("n-2", vec!["b/2", "b/3"]));
}

#[test]
fn a_pod_that_is_lost_in_a_race_is_in_no_queue() {
    let messages = [
        START.to_owned(),
        added("a/x"),
        moved("a/x", "UnschedulablePodAdd", "Active"),
        attempted("a/x"),
        r#""Error scheduling pod; retrying" err="binding" logger="UnhandledError" pod="a/x""#.to_owned(),
        moved("a/x", "ScheduleAttemptFailure", "Backoff"),
        r#""Discarding the popped pod" err="the same pod is tracked in multiple places in the scheduler: a/x" logger="UnhandledError""#
            .to_owned(),
        requeued("a/x", "Backoff", "{}"),
    ];
    let log = read(&lines(&messages.iter().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!(pods(&log, |q| q.backoff.as_ref()), Some(vec![]));
    assert_eq!(log.changes.last().map(|change| (change.place, change.cause)), Some((Place::Gone, Cause::Dropped)));
}

#[test]
fn findings_are_kept_up_to_a_number() {
    use crate::limits::sources::LOG_FINDINGS;
    let value = "\"Dump of cached NodeInfo\" nodes=<\n\tNode name: a";
    let cut: Vec<&str> = std::iter::once(START).chain(std::iter::repeat_n(value, LOG_FINDINGS + 6)).collect();
    let log = read(&lines(&cut));
    assert_eq!(log.findings.len(), LOG_FINDINGS);
    assert!(log.more_findings >= 5, "{}", log.more_findings);
}

#[test]
fn a_log_of_too_many_events_ends_early() {
    let mut reader = Reader::default();
    reader.fold.most = 3;
    let messages: Vec<String> = (0..6).map(|i| attempted(&format!("a/p{i}"))).collect();
    let all: Vec<&str> = std::iter::once(START).chain(messages.iter().map(String::as_str)).collect();
    reader.file("a.log", &FileFacts::default(), &mut lines(&all).as_bytes(), &mut |_| true);
    let log = reader.finish();
    assert_eq!((log.attempts.len(), kinds(&log)), (3, vec![&FindingKind::TooMany]));
}

#[test]
fn a_value_of_too_many_lines_is_skipped() {
    use crate::limits::sources::{LOG_LINE, LOG_LINES};
    let long = "x".repeat(LOG_LINE - 100);
    let value = format!("\t{long}\n").repeat(LOG_LINES / long.len() + 1);
    let text = lines(&[START]) + "I1122 10:00:03.000000       1 a.go:1] \"Dump of cached NodeInfo\" nodes=<\n" + &value + " >\n";
    let log = read(&(text + &lines(&[attempted("a/x").as_str()]).replace("10:00:00", "10:00:04")));
    assert_eq!((kinds(&log), log.attempts.len()), (vec![&FindingKind::TooLong], 1));
}

#[test]
fn writers_are_distinguished_up_to_a_number() {
    use crate::limits::sources::LOG_WRITERS;
    let line =
        |writer: usize, text: &str| format!("[pod/kube-scheduler-{writer}/kube-scheduler] I1122 10:00:00.000000       1 a.go:1] {text}\n");
    let text: String = (0..LOG_WRITERS + 2).map(|writer| line(writer, START)).collect();
    let log = read(&text);
    assert_eq!(log.processes.len(), LOG_WRITERS);
    let others: Vec<_> = kinds(&log).into_iter().filter(|kind| **kind == FindingKind::ManyWriters).collect();
    assert_eq!((others.len(), log.is_in_part()), (1, true));
}

/// Returns a log of every move, whose queues are known.
fn whole_log() -> String {
    lines(&[START, &added("a/x"), &moved("a/x", "UnschedulablePodAdd", "Active"), &attempted("a/x"), &unfit("a/x")])
}

#[test]
fn a_log_that_is_not_whole_is_complete_in_nothing() {
    struct Broken<'a>(&'a [u8]);
    impl std::io::Read for Broken<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(out)? {
                0 => Err(std::io::Error::other("cut")),
                count => Ok(count),
            }
        }
    }
    let text = whole_log();
    let whole = read(&text);
    assert_eq!(whole.processes[0].complete(), [Fact::Attempts, Fact::Moves, Fact::Queues]);
    assert!(!whole.is_in_part() && whole.queues(0, None).certainty == Certainty::Exact);
    let is_unknown = |log: &SchedulerLog| {
        let queues = log.queues(0, None);
        let lists = [&queues.active, &queues.backoff, &queues.unschedulable];
        log.is_in_part()
            && log.processes[0].complete().is_empty()
            && queues.certainty == Certainty::InPart
            && lists.iter().all(|list| list.is_none())
    };
    let zeros = read(&text.replacen("I1122 10:00:03", &format!("{}I1122 10:00:03", "\0".repeat(4_000)), 1));
    assert!(is_unknown(&zeros) && kinds(&zeros) == [&FindingKind::Zeros]);
    let cut = text.clone() + &lines(&["\"Dump of cached NodeInfo\" nodes=<\n\tNode name: a"]);
    assert!(is_unknown(&read(&cut)));
    let mut reader = Reader::default();
    reader.file("a.log", &FileFacts::default(), &mut Broken(text.as_bytes()), &mut |_| true);
    assert!(is_unknown(&reader.finish()));
    // A file that is not opened, or of which nothing is read, may be anyone's.
    for broken in [false, true] {
        let mut reader = Reader::default();
        reader.file("a.log", &FileFacts::default(), &mut text.as_bytes(), &mut |_| true);
        if broken {
            reader.file("b.log", &FileFacts::default(), &mut Broken(b""), &mut |_| true);
        } else {
            reader.failed("b.log", "Permission denied");
        }
        assert!(is_unknown(&reader.finish()), "{broken}");
    }
    // Another scheduler's log is as whole as before.
    let (first, second) = (("a.log", Some("kube-scheduler-a"), text.as_str()), ("b.log", Some("kube-scheduler-b"), cut.as_str()));
    let log = read_as(&[first, second]);
    assert_eq!(log.processes.iter().map(|process| process.in_part).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn sets_of_plugins_are_one_in_any_spelling_and_only_the_newest_nodes_are_kept() {
    let spellings = [r#"{"NodeAffinity":{},"NodePorts":{}}"#, r#"{ "NodeAffinity":{},"NodePorts":{}}"#, r#"{"NodePorts":{}}"#, "{}"];
    let messages: Vec<String> = spellings.iter().map(|plugins| requeued("a/x", "Unschedulable", plugins)).collect();
    let log = read(&lines(&messages.iter().map(String::as_str).collect::<Vec<_>>()));
    let mut sets: Vec<Vec<&str>> = (0..log.plugin_sets.len()).map(|set| log.plugins(set as u32).collect()).collect();
    for set in &mut sets {
        set.sort_unstable();
    }
    sets.sort_unstable();
    sets.dedup();
    assert_eq!(sets.len(), log.plugin_sets.len(), "{sets:?}");
    let dump = "\"Dump of cached NodeInfo\" nodes=<\n\tNode name: a\n\tRequested Resources: {}\n >";
    let log = read(&lines(&[START, dump, &added("a/x"), dump, dump]));
    let nodes: Vec<usize> = log.dumps.iter().map(|dump| dump.nodes.len()).collect();
    assert_eq!((nodes.len(), &nodes[..2]), (3, &[0, 0][..]));
}
