//! Laws for every session, whatever its operations and cursor positions: branches are independent, a saved session
//! loads unchanged, and a run stops where it should.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use schedscope::cluster::Key;
use schedscope::framework::PluginName;
use schedscope::output::Headings;
use schedscope::release::{Emulation, FoundVersion, ReleaseChoice, VersionSource};
use schedscope::report::{Stories, comparison, stories_document};
use schedscope::scheduler::{Config, Evictions, Operation, Options, Scheduler};
use schedscope::session::{
    Breakpoint, Comparison, Cursor, Edit, Occurrence, PodLocation, RunEnd, Session, SessionFileError, Timeline, Until,
};
use schedscope::trace::RecordedEvents;

use crate::deciding::scheduler;
use crate::histories::{Deed, beginning, history};

/// One action of a reader.
#[derive(Clone, Debug)]
enum Deal {
    Do(Deed),
    Explain(Index),
    Seek(Index, Index),
    Switch(Index),
}

fn deals() -> impl Strategy<Value = (Vec<crate::worlds::NodeSpec>, Vec<Deal>)> {
    let spice = prop_oneof![
        3 => any::<Index>().prop_map(Deal::Explain),
        3 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Deal::Seek(a, b)),
        1 => any::<Index>().prop_map(Deal::Switch),
    ];
    (history(), proptest::collection::vec((any::<Index>(), spice), 0..12)).prop_map(|((nodes, deeds), spices)| {
        let mut deals: Vec<Deal> = deeds.into_iter().map(Deal::Do).collect();
        for (at, spice) in spices {
            deals.insert(at.index(deals.len() + 1), spice);
        }
        (nodes, deals)
    })
}

fn start() -> Timestamp {
    "2026-11-20T00:00:00Z".parse().expect("a time")
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(36), failure_persistence: None, ..ProptestConfig::default() }
}

/// A branch: its name, its revisions' titles and events, and its cursor.
type Recorded = (String, Vec<(String, Arc<RecordedEvents>)>, Cursor);

/// Returns the visible record of a session.
fn record(session: &Session) -> Vec<Recorded> {
    let revisions = |t: &Timeline| t.revisions().iter().map(|f| (f.title.clone(), f.events.clone())).collect();
    session.branches().iter().map(|b| (b.name().to_owned(), revisions(b.timeline()), b.timeline().cursor())).collect()
}

fn seek_end(session: &mut Session) {
    session.timeline_mut().seek(Cursor { revision: usize::MAX, event: usize::MAX });
}

/// Takes one action and checks that no other branch and no past revision changed.
fn deal(session: &mut Session, deal: &Deal, number: usize) {
    match deal {
        Deal::Do(deed) => {
            for operation in deed.operations(session.scheduler_here(), number) {
                let before = record(session);
                let (branch, done, revisions) =
                    (session.current(), session.timeline().revisions_done(), session.timeline().revisions().len());
                if session.apply(operation) {
                    let after = record(session);
                    if done < revisions {
                        assert_eq!(session.current(), before.len(), "the past was changed, and so there is a new branch");
                        assert_eq!(&after[..before.len()], &before[..], "the others stay as they are");
                        assert_eq!(after[before.len()].1[..done], before[branch].1[..done], "the past is shared");
                    } else {
                        assert_eq!((session.current(), after.len()), (branch, before.len()));
                        assert_eq!(after[branch].1[..revisions], before[branch].1[..]);
                    }
                    seek_end(session);
                } else {
                    assert_eq!(record(session), before);
                }
            }
        }
        Deal::Explain(index) => {
            let pods: Vec<Key> = session.scheduler_here().state().cluster().pods.iter().map(|p| p.key()).collect();
            if pods.is_empty() {
                return;
            }
            let ends: Vec<_> = session.branches().iter().map(|b| b.timeline().end().queues.clone()).collect();
            let shown = session.timeline().queues().clone();
            let at = session.explain(index.get(&pods)).expect("the pod is there");
            assert_eq!(session.timeline().queues(), &shown, "the cursor shows what it showed");
            assert!(session.timeline().revisions()[at].title.starts_with("explain "));
            assert_eq!(session.branches().iter().map(|b| b.timeline().end().queues.clone()).collect::<Vec<_>>(), ends);
            session.timeline_mut().seek(Cursor { revision: at, event: usize::MAX });
        }
        Deal::Seek(revision, event) => {
            let revisions = session.timeline().revisions();
            if !revisions.is_empty() {
                let at = revision.index(revisions.len());
                let cursor = Cursor { revision: at, event: event.index(revisions[at].events.len() + 1) };
                session.timeline_mut().seek(cursor);
            }
        }
        Deal::Switch(index) => assert!(session.switch(index.index(session.branches().len()))),
    }
}

fn play(nodes: &[crate::worlds::NodeSpec], deals: &[Deal]) -> Session {
    let mut session = Session::new(scheduler(beginning(nodes), start()), "a test");
    for (number, one) in deals.iter().enumerate() {
        deal(&mut session, one, number);
    }
    session
}

fn saved(session: &Session) -> Vec<u8> {
    let mut file = Vec::new();
    session.save(&mut file).expect("memory takes everything");
    file
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_saved_session_comes_back_as_it_was((nodes, deals) in deals()) {
        let session = play(&nodes, &deals);
        let file = saved(&session);
        prop_assert!(schedscope::session::is_session_file(&file[..file.len().min(512)]));
        let loaded = Session::load(&file[..]).expect("it was saved just now");
        prop_assert_eq!(record(&loaded), record(&session));
        prop_assert_eq!((loaded.source(), loaded.current()), (session.source(), session.current()));
        for (a, b) in loaded.branches().iter().zip(session.branches()) {
            prop_assert_eq!(a.forked(), b.forked());
            prop_assert_eq!(&a.timeline().end().queues, &b.timeline().end().queues);
            prop_assert_eq!(a.timeline().keyframe().clock, b.timeline().keyframe().clock);
            prop_assert_eq!(a.scheduler().state().cluster(), b.scheduler().state().cluster());
            prop_assert_eq!(a.scheduler().state().clock(), b.scheduler().state().clock());
        }
        prop_assert_eq!(saved(&loaded), file, "and saves as the same file");
    }

    /// A branch equals its own operations replayed from the start.
    #[test]
    fn every_branch_is_its_own_operations_from_the_start((nodes, deals) in deals()) {
        let session = play(&nodes, &deals);
        for branch in session.branches() {
            let mut alone = Session::new(scheduler(beginning(&nodes), start()), "a test");
            for action in branch.actions() {
                match action {
                    schedscope::session::Action::Apply(_) | schedscope::session::Action::WhatIf { .. } => {
                        assert!(alone.apply(action.clone()));
                    }
                    schedscope::session::Action::Explain(pod) => assert!(alone.explain(pod).is_some()),
                    schedscope::session::Action::Logged(attempt) => assert!(alone.log((**attempt).clone())),
                    schedscope::session::Action::Release(_) | schedscope::session::Action::Configure(_) => {
                        unreachable!("no deal changes the scheduler")
                    }
                }
                seek_end(&mut alone);
            }
            let revisions = |t: &Timeline| t.revisions().iter().map(|f| f.events.clone()).collect::<Vec<_>>();
            prop_assert_eq!(revisions(alone.timeline()), revisions(branch.timeline()));
            prop_assert_eq!(&alone.timeline().end().queues, &branch.timeline().end().queues);
            // Comparing it with itself shows no difference.
            prop_assert!(Comparison::of(branch, alone.branch(), |_| true).is_empty());
        }
    }

    /// A run stops after the first event that meets its condition.
    #[test]
    fn a_run_stops_at_the_first_event_of_its_kind((nodes, deals) in deals(), which in 0..8_usize) {
        let mut session = play(&nodes, &deals);
        session.timeline_mut().seek(Cursor::default());
        let node = || session.timeline().start().snapshot.nodes()[0].name().clone();
        let until = match which {
            5 => Until::Node(node()),
            6 => Until::Breakpoint([Breakpoint::Node(node()), Breakpoint::Pod(Key::new("a", "p1"))].into()),
            7 => Until::Breakpoint([Breakpoint::Plugin(PluginName::NodeResourcesFit)].into()),
            word => schedscope::session::UNTIL_WORDS[word].parse().expect("a word without an argument"),
        };
        let mut from = session.timeline().cursor();
        while session.run_until(&until, 30) == RunEnd::Met {
            let to = session.timeline().cursor();
            assert!(until.met(&session.timeline().occurrence().expect("something has happened")));
            let between = session.timeline().revisions()[from.revision..=to.revision].iter().enumerate().flat_map(|(i, f)| {
                let first = if i == 0 { from.event.min(f.events.len()) } else { 0 };
                let last = if from.revision + i == to.revision { to.event - 1 } else { f.events.len() };
                (first..last).map(move |at| (at.checked_sub(1).and_then(|before| f.events.get(before)), f.events.get(at).expect("an event")))
            });
            for (before, event) in between {
                assert!(!until.met(&Occurrence { before: before.as_deref(), event: &event, cycle: None }));
            }
            from = to;
        }
        prop_assert!(session.timeline().at_end());
    }
}

fn one_node() -> Session {
    let text = r#"[
        {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "9"}}},
        {"kind": "Pod", "metadata": {"name": "p", "namespace": "a", "uid": "p"}, "spec": {"schedulerName": "default-scheduler",
         "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}},
        {"kind": "Pod", "metadata": {"name": "q", "namespace": "a", "uid": "q"}, "spec": {"schedulerName": "default-scheduler",
         "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}]"#;
    let values: Vec<serde_json::Value> = serde_json::from_str(text).expect("JSON");
    Session::new(scheduler(values.iter().map(crate::worlds::object).collect(), start()), "one node")
}

fn cordon(session: &Session) -> Operation {
    let node = session.scheduler_here().state().cluster().nodes.iter().next().expect("there is one").clone();
    let mut node = (*node).clone();
    node.spec.unschedulable = Some(true);
    Operation::Update { object: schedscope::cluster::Object::Node(Arc::new(node)) }
}

#[test]
fn two_branches_side_by_side() {
    let mut session = one_node();
    assert_eq!((0..9).take_while(|_| session.run_next()).count(), 2);
    session.timeline_mut().seek(Cursor { revision: 0, event: usize::MAX });
    assert!(session.apply(cordon(&session)));
    assert_eq!((session.branches().len(), session.current()), (2, 1));
    assert!(session.run_next());
    let compared = Comparison::of(&session.branches()[0], &session.branches()[1], |_| true);
    assert_eq!(compared.names, ["main", "branch 2"]);
    assert_eq!((compared.shared, compared.since.clone().map(|s| s.len())), (1, [1, 2]));
    assert_eq!(compared.pods.len(), 1);
    assert_eq!(compared.pods[0].pod, Key::new("a", "q"));
    assert_eq!(compared.pods[0].at[0], PodLocation::Node("n".into()));
    assert_eq!(compared.pods[0].at[1].to_string(), "unschedulablePods (NodeUnschedulable)");
    let [decided] = &compared.decisions[..] else { panic!("{:?}", compared.decisions) };
    assert_eq!(decided.outcomes[0].as_deref(), Some("bound to n"));
    assert!(decided.outcomes[1].as_deref().is_some_and(|o| o.starts_with("0/1 nodes are available: 1 node(s) were unschedulable.")));
    assert_eq!((decided.verdicts.len(), decided.verdicts[0].nodes.clone()), (1, vec!["n".into()]));
    assert!(compared.evicted.iter().all(Vec::is_empty));
}

/// Both pods find their node with or without the label: the what-if is not blamed for it.
#[test]
fn a_comparison_settles_both_and_tells_apart_what_happens_anyway() {
    let mut session = one_node();
    session.fork();
    let label = Edit::parse("patch node n {\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    let operation = label.and_then(|edit| edit.operation(session.scheduler_here().state().cluster())).expect("a label");
    assert!(session.apply(operation));
    while session.settle() {}
    let [main, branch] = session.branches() else { panic!("two branches") };
    assert_eq!(Comparison::of(main, branch, |_| true).pods.len(), 2, "only one side was run");
    let compared = Comparison::settled(main, branch, |_| true);
    assert!(compared.is_empty() && compared.settled, "{compared:?}");
    assert_eq!(compared.anyway.iter().map(|pod| pod.pod.to_string()).collect::<Vec<_>>(), ["a/p", "a/q"]);
    assert_eq!(compared.since.each_ref().map(Vec::len), [0, session.timeline().revisions().len()]);
    let text = comparison(&compared).plain(Headings::Colon).into_vec().join("\n");
    assert!(text.contains("Both are compared after running until nothing changes."), "{text}");
    assert!(text.contains("2 pods move on both, with or without the changes since main:\n  a/p: activeQ → on n"), "{text}");
    // A pod that stays pending is not about to be tried.
    let mut session = one_node();
    session.fork();
    assert!(session.apply(cordon(&session)));
    let compared = Comparison::settled(&session.branches()[0], &session.branches()[1], |_| true);
    let text = comparison(&compared).plain(Headings::Colon).into_vec().join("\n");
    assert!(text.contains("a/p: on n → still pending"), "{text}");
    assert!(PodLocation::Waiting(schedscope::trace::Place::Active, "".into(), None).settled() == "still pending");
}

#[test]
fn what_has_no_effect_leaves_no_trace() {
    let mut session = one_node();
    while session.run_next() {}
    let clock = session.scheduler().state().clock();
    assert!(!session.apply(Operation::Allow { pod: Key::new("a", "p") }));
    assert!(!session.run_next());
    assert_eq!((session.timeline().revisions().len(), session.scheduler().state().clock()), (2, clock));
    session.timeline_mut().seek(Cursor::default());
    assert!(!session.apply(Operation::Delete { object: schedscope::cluster::Object::Pod(Arc::default()) }));
    assert_eq!((session.branches().len(), session.current()), (1, 0));
    assert_eq!(session.explain(&Key::new("a", "nobody")), None);
}

/// Returns the text of a session with the checksum of its lines.
fn sealed(text: &str) -> String {
    let (lines, _) = text.trim_end().rsplit_once('\n').expect("lines");
    let mut crc = flate2::Crc::new();
    let values = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    values.for_each(|value| crc.update(value.to_string().as_bytes()));
    format!("{lines}\n{{\"checksum\":\"{:08x}\"}}\n", crc.sum())
}

/// A damaged file is refused, or is the same session.
#[test]
fn no_damage_gives_another_session() {
    let mut session = one_node();
    session.run_next();
    let file = saved(&session);
    let expected = record(&session);
    for length in 0..file.len() {
        assert!(Session::load(&file[..length]).is_err(), "{length} of {} bytes", file.len());
    }
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&file[..]), &mut text).expect("gzip");
    for (what, bytes) in [("compressed", file), ("plain", text)] {
        for bit in (0..bytes.len() * 8).step_by(3) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(session) = Session::load(&flipped[..]) {
                assert_eq!((record(&session), session.source()), (expected.clone(), "one node"), "{what}, bit {bit}");
            }
        }
    }
}

#[test]
fn other_files_are_refused_in_words() {
    let mut session = one_node();
    session.run_next();
    let file = saved(&session);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&file[..]), &mut text).expect("gzip");
    let load = |text: &str| {
        let mut changed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut changed, text.as_bytes()).expect("memory takes everything");
        Session::load(&changed.finish().expect("memory")[..])
    };
    let check = |from: &str, to: &str, expected: &str| {
        assert!(text.contains(from), "{from}");
        let error = load(&sealed(&text.replacen(from, to, 1))).expect_err(to).to_string();
        assert!(error.contains(expected), "{error}");
    };
    assert!(load(&sealed(&text)).is_ok());
    assert_eq!(sealed(&text), text);
    let error = load(&text.replacen("\"n\"", "\"m\"", 1)).expect_err("another name").to_string();
    assert!(error.contains("the checksum does not match"), "{error}");
    let unsealed = text.trim_end().rsplit_once('\n').expect("lines").0;
    assert!(load(unsealed).is_err(), "without its checksum");
    check("\"version\":4", "\"version\":5", "file format 5), which may decide differently");
    check("v1.36.2", "v1.99.0", "kube-scheduler v1.99.0");
    check("schedscope session", "something else", "not a saved session");
    check(",\"cursor\":", "0,\"cursor\":", "does not replay as it was saved");
    check("\"actions\":[{\"apply\"", "\"actions\":[{\"explian\"", "line 5: ");
    check("\"current\":0", "\"current\":4", "line 1: the current branch");
    let short = Session::load(&file[..file.len() / 2]).expect_err("half of it is missing");
    assert!(matches!(short, SessionFileError::Line { .. } | SessionFileError::NotASession), "{short}");
    assert!(matches!(Session::load(&b"junk"[..]), Err(SessionFileError::NotASession)));
    assert!(!schedscope::session::is_session_file(b"apiVersion: v1"));
}

/// A preemption from start to end: the victim keeps its grace period, the preemptor waits for it, and both stories
/// report it.
#[test]
fn a_run_until_nothing_changes_tells_the_story_of_each_pod() {
    let text = r#"[
        {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "9"}}},
        {"kind": "Pod", "metadata": {"name": "weak", "namespace": "a", "uid": "w"}, "status": {"phase": "Running"},
         "spec": {"nodeName": "n", "terminationGracePeriodSeconds": 20,
          "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}},
        {"kind": "Pod", "metadata": {"name": "strong", "namespace": "a", "uid": "s"}, "spec": {"schedulerName": "default-scheduler",
         "priority": 5, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}]"#;
    let values: Vec<serde_json::Value> = serde_json::from_str(text).expect("JSON");
    let options = Options { start: start(), evictions: Evictions::AfterGracePeriod, ..Options::default() };
    let config = Config::defaults(Emulation::default());
    let mut session = Session::new(Scheduler::new(config, values.iter().map(crate::worlds::object).collect(), options), "a story");
    assert!((0..100).take_while(|_| session.settle()).count() < 100);
    let expected = "\
a/strong: on n, 2 attempts
  +00:00.000  attempt 1: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.
  +00:00.000  to unschedulablePods, rejected by NodeResourcesFit (ScheduleAttemptFailure)
  +00:00.000  nominated to n
  +00:00.000  evicts a/weak from n
  +00:20.000  to activeQ (AssignedPodDelete, which may help NodeResourcesFit)
  +00:20.000  no longer nominated
  +00:20.000  attempt 2: bound to n
a/weak: gone
  +00:00.000  evicted, with its grace period, from n for a/strong
  +00:20.000  its grace period has ended
  +00:20.000  gone
";
    let stories = |with_events| {
        let (timeline, end) = (session.timeline(), session.timeline().end());
        let mut stories = Stories::new(timeline.start().clock, with_events);
        for revision in timeline.revisions() {
            stories.observe(revision.before.clock, &revision.before.cluster, revision.events.others());
        }
        stories_document(&stories.finish(&end.cluster, &end.queues)).plain(Headings::Colon).to_string()
    };
    assert_eq!(stories(false), expected);
    let wide = stories(true);
    assert!(wide.contains("  +00:00.000  Event Normal Preempted: Preempted by pod s on node n\n"), "{wide}");
    assert!(wide.contains("  +00:20.000  Event Normal Scheduled: Successfully assigned a/strong to n\n"), "{wide}");
    assert!(!session.settle());
    // On another branch, the victim is deleted by hand before its grace period ends.
    session.timeline_mut().seek(Cursor { revision: 0, event: usize::MAX });
    let edit = Edit::parse("delete pod a/weak").and_then(|e| e.operation(session.scheduler_here().state().cluster()));
    assert!(session.apply(edit.expect("it is there")));
    while session.settle() {}
    assert!(session.timeline().end().clock < session.branches()[0].timeline().end().clock);
    let compared = Comparison::of(&session.branches()[0], session.branch(), |_| true);
    assert!(compared.pods.is_empty() && compared.since[1][0].1 == "delete Pod a/weak", "{compared:?}");
}

/// Observed changes extend the first branch, operations never do, and saving keeps both apart.
#[test]
fn what_is_seen_of_a_cluster_stays_apart_from_what_is_done() {
    let mut session = one_node();
    session.background_mut().observed = true;
    let pod = |text: &str| -> schedscope::cluster::Object { serde_json::from_str(text).expect("a pod") };
    assert!(session.run_next(), "p is tried, on a branch");
    assert_eq!((session.branches().len(), session.current(), session.branches()[0].timeline().revisions().len()), (2, 1, 0));
    // The cluster's scheduler has tried p and failed; this session has not.
    let failed = r#"{"kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"p"},"spec":{"priority":7,"schedulerName":"default-scheduler",
        "containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"conditions":[{"type":"PodScheduled","status":"False",
        "reason":"Unschedulable","message":"0/1 nodes are available: 1 Insufficient cpu."}]}}"#;
    let clock = session.scheduler_as_seen().state().clock();
    let time = clock + SignedDuration::from_secs(3);
    let seen = Operation::Batch {
        name: "seen".to_owned(),
        operations: vec![
            Operation::Observe { time, pods: Vec::new(), events: Vec::new(), unknown: None },
            Operation::Update { object: pod(failed) },
            Operation::Observe { time, pods: vec![Key::new("a", "p")], events: Vec::new(), unknown: None },
        ],
    };
    assert!(session.observe(seen));
    assert_eq!(session.current(), 1, "the reader stays where they are");
    assert_eq!(session.branches()[0].timeline().revisions()[0].title, "seen: 1 change");
    let at = PodLocation::of(
        session.scheduler_as_seen().state().cluster(),
        session.scheduler_as_seen().state().queue().view(),
        &Key::new("a", "p"),
    );
    assert_eq!(at.to_string(), "unschedulablePods (NodeResourcesFit)");
    assert!(session.scheduler_as_seen().state().clock() >= time);
    // A reader at the end of the observations follows new ones.
    assert!(session.switch(0));
    session.timeline_mut().seek(Cursor { revision: usize::MAX, event: usize::MAX });
    assert!(session.observe(Operation::Observe { time, pods: vec![Key::new("a", "p")], events: Vec::new(), unknown: None }));
    assert!(session.timeline().at_end());
    assert!(session.explain(&Key::new("a", "p")).is_some(), "a decision without consequences is no branch");
    assert_eq!(session.branches().len(), 2);
    let loaded = Session::load(&saved(&session)[..]).expect("a session");
    assert!(loaded.background().observed);
    assert_eq!(loaded.branches()[0].timeline().revisions().len(), 3);
    assert_eq!(loaded.scheduler_as_seen().state().queue().view(), session.scheduler_as_seen().state().queue().view());
}

/// A pod on the node has a sidecar with the host port that another pod wants: ports of sidecars count from 1.33.6 on.
fn sidecar_port() -> Session {
    let port = r#""ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]"#;
    let text = format!(
        r#"[{{"kind": "Node", "metadata": {{"name": "n"}}, "status": {{"allocatable": {{"cpu": "2", "memory": "4Gi", "pods": "9"}}}}}},
        {{"kind": "Pod", "metadata": {{"name": "there", "namespace": "a", "uid": "t"}}, "status": {{"phase": "Running"}},
         "spec": {{"nodeName": "n", "containers": [{{"name": "c"}}],
          "initContainers": [{{"name": "s", "restartPolicy": "Always", {port}}}]}}}},
        {{"kind": "Pod", "metadata": {{"name": "waits", "namespace": "a", "uid": "w"}},
         "spec": {{"schedulerName": "default-scheduler", "containers": [{{"name": "c", {port}}}]}}}}]"#
    );
    let values: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    let found = FoundVersion { release: "1.33.0".parse().expect("a release"), source: VersionSource::Kubelets };
    let release = ReleaseChoice { wanted: Some(found), cluster: Some(found) };
    let options = Options { start: start(), release, ..Options::default() };
    let config = Config::defaults(Emulation::from(release.profile()));
    Session::new(Scheduler::new(config, values.iter().map(crate::worlds::object).collect(), options), "a port")
}

#[test]
fn another_release_takes_over_on_a_branch_and_is_compared() {
    let mut session = sidecar_port();
    session.change_release("1.36".parse().expect("a release")).expect("it starts");
    assert_eq!((session.branches().len(), session.current()), (2, 1), "a branch begins even at the end of another");
    let labels = |session: &Session| session.branches().iter().map(|b| b.scheduler().emulated().label()).collect::<Vec<_>>();
    assert_eq!(labels(&session), ["v1.33.0 (kubelets)", "v1.36.4 (:release)"]);
    assert_eq!(session.scheduler().emulated().choice.cluster, session.scheduler_as_seen().emulated().choice.cluster);
    let revision = &session.timeline().revisions()[0];
    assert_eq!((revision.title.as_str(), revision.events.len()), ("release v1.36.4", 1));
    assert!(
        revision.events.others()[0].sentence().starts_with("kube-scheduler v1.36.4 started with 1 waiting pod"),
        "{:?}",
        revision.events
    );
    // The folded queues match the state, and the requeue events are those of the release.
    session.timeline_mut().seek(Cursor::END);
    assert_eq!(session.timeline().queues(), &session.timeline().end().queues);
    assert!(!Arc::ptr_eq(&revision_events(&session, 0), &revision_events(&session, 1)));
    let compared = Comparison::of(&session.branches()[0], session.branch(), |_| true);
    let upgrade = compared.upgrade.as_ref().expect("the releases differ");
    assert_eq!((upgrade.versions.clone(), upgrade.pods), (["v1.33.0".to_owned(), "v1.36.4".to_owned()], 1));
    let [decided] = &upgrade.otherwise[..] else { panic!("{upgrade:?}") };
    assert_eq!((decided.pod.clone(), decided.outcomes[0].as_deref()), (Key::new("a", "waits"), Some("fits on n")));
    assert!(upgrade.other_reasons.is_empty() && compared.pods.is_empty(), "a queue is no difference: {compared:?}");
    let text = comparison(&compared).plain(Headings::Colon).into_vec().join("\n");
    assert!(text.contains("1 of 1 pending pod is decided differently by kube-scheduler v1.36.4 than by v1.33.0:"), "{text}");
    // Both branches continue independently.
    assert!(session.run_next());
    assert!(session.switch(0) && session.run_next());
    let at = |branch: usize| {
        let end = session.branches()[branch].timeline().end();
        PodLocation::of(&end.cluster, &end.queues, &Key::new("a", "waits")).to_string()
    };
    assert_eq!((at(0), at(1)), ("on n".to_owned(), "unschedulablePods (NodePorts)".to_owned()));
}

/// Returns the events that requeue pods at the end of a branch.
fn revision_events(session: &Session, branch: usize) -> Arc<schedscope::session::RequeueEvents> {
    session.branches()[branch].timeline().end().requeue_events.clone()
}

#[test]
fn a_saved_session_keeps_its_releases() {
    let mut session = sidecar_port();
    assert!(session.explain(&Key::new("a", "waits")).is_some());
    session.change_release("1.99".parse().expect("a release")).expect("it starts");
    assert!(session.run_next());
    session.change_release("1.28.3".parse().expect("a release")).expect("it starts");
    assert!(session.run_next());
    let loaded = Session::load(&saved(&session)[..]).expect("a session");
    assert_eq!(record(&loaded), record(&session));
    let labels = |session: &Session| session.branches().iter().map(|b| b.scheduler().emulated().label()).collect::<Vec<_>>();
    assert_eq!(labels(&loaded), ["v1.33.0 (kubelets)", "v1.37.0 for v1.99 (:release)", "v1.28.3 (:release)"]);
    assert_eq!(loaded.scheduler_as_seen().emulated(), session.scheduler_as_seen().emulated());
    let ends = |session: &Session| session.branches().iter().map(|b| b.scheduler().state().queue().view().clone()).collect::<Vec<_>>();
    assert_eq!(ends(&loaded), ends(&session));
}

#[test]
fn a_release_that_refuses_the_configuration_does_not_take_over() {
    let text = "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n";
    let found = FoundVersion { release: "1.28".parse().expect("a release"), source: VersionSource::Flag };
    let release = ReleaseChoice { wanted: Some(found), cluster: None };
    let config = Config::parse(text, Emulation::from(release.profile())).expect("1.28 reads it");
    let mut session = Session::new(Scheduler::new(config, Vec::new(), Options { release, ..Options::default() }), "an old file");
    let refused = session.change_release("1.36".parse().expect("a release")).expect_err("1.36 does not read it").to_string();
    assert!(refused.starts_with("kube-scheduler v1.36.4 would not start with this configuration: "), "{refused}");
    assert_eq!((session.branches().len(), session.current()), (1, 0));
}
