//! Tests of the order of steps.

use super::testing::{CpuRunner, context, node, pod};
use super::*;
use crate::cluster::{Cluster, Object, Pod};
use crate::framework::{Candidate, DryRunPolicy, NodeDryRun, NodeInfo, Snapshot, Victim};

const LIMITS: CandidateLimits = CandidateLimits { percentage: 10, absolute: 100 };

/// A cycle without a feasible node: every node is Unschedulable unless `statuses` sets another status.
struct Cycle {
    preemptor: Pod,
    nodes: Vec<NodeInfo>,
    statuses: NodeToStatus,
    runner: CpuRunner,
    known: bool,
    gate: bool,
    policy: DryRunPolicy,
}

impl Cycle {
    fn new(preemptor: Pod, nodes: Vec<NodeInfo>) -> Self {
        let mut statuses = NodeToStatus::default();
        for position in 0..nodes.len() {
            statuses.set(position, Status::unschedulable("Insufficient cpu"));
        }
        let policy = DryRunPolicy::default();
        Self { preemptor, nodes, statuses, runner: CpuRunner::default(), known: true, gate: true, policy }
    }

    fn with<T>(&self, run: impl FnOnce(&Evaluator<'_>, &PodInfo) -> T) -> T {
        let info = PodInfo::new(Arc::new(self.preemptor.clone()));
        let known = self.known.then(|| Object::Pod(info.pod.clone()));
        let (cluster, snapshot): (Cluster, Snapshot) = (known.into_iter().collect(), Snapshot::of(self.nodes.clone()));
        let mut post = context(&cluster, &snapshot, &self.statuses, &self.runner);
        post.cx.emulation.set(Gate::SchedulerAsyncPreemption, self.gate);
        post.dry_run = self.policy;
        run(&Evaluator::new(&post, LIMITS), &info)
    }

    fn preempt(&self) -> Preemption {
        self.with(|evaluator, pod| evaluator.preempt(&CycleState::default(), pod))
    }
}

fn full(name: &str, victim: &str, priority: i32) -> NodeInfo {
    node(name, 100, &[pod(victim, name, priority, 100, Some(1))])
}

fn tried(record: &PreemptionRecord) -> Vec<&str> {
    record.dry_runs.in_order().iter().map(|run: &Arc<NodeDryRun>| run.node.as_str()).collect()
}

fn candidates(record: &PreemptionRecord) -> Vec<&str> {
    record.candidates().map(|candidate: &Candidate| candidate.node.as_str()).collect()
}

fn evicted(record: &PreemptionRecord) -> Vec<&str> {
    record.evictions().map(|victim: &Victim| victim.pod().metadata.name.as_str()).collect()
}

fn names(keys: &[Key]) -> Vec<&str> {
    keys.iter().map(|k| k.name.as_str()).collect()
}

#[track_caller]
fn check(got: &Preemption, status: &Status, nominating: Option<&str>) {
    assert_eq!(got.status, *status);
    assert_eq!(got.nominating, nominating.map(|n| NominatingInfo::Override(n.into())));
    assert_eq!(got.record.selected().is_some(), status.is_success());
}

#[test]
fn the_node_with_the_least_important_victim_is_nominated() {
    let got = Cycle::new(pod("p", "", 10, 100, None), vec![full("c", "v3", 2), full("b", "v2", 1), full("a", "v1", 3)]).preempt();
    check(&got, &Status::success(), Some("b"));
    let record = &got.record;
    assert_eq!(record.best, ["b"]);
    assert_eq!(record.selected(), Some(&"b".into()));
    assert_eq!(record.score_functions.len(), 2);
    assert_eq!(evicted(record), ["v2"]);
    assert_eq!(record.potential_nodes, ["c", "b", "a"]);
    assert_eq!(tried(record), ["c", "b", "a"]);
    assert_eq!(candidates(record), ["a", "b", "c"]);
}

#[test]
fn the_offset_turns_the_walk_and_not_the_choice() {
    let mut cycle = Cycle::new(pod("p", "", 10, 100, None), ["c", "b", "a"].map(|n| full(n, n, 1)).into());
    cycle.policy.offset = 5;
    let got = cycle.preempt();
    check(&got, &Status::success(), Some("a"));
    assert_eq!(got.record.offset, 2);
    assert_eq!(tried(&got.record), ["a", "c", "b"]);
    assert_eq!(got.record.best, ["a", "b", "c"]);
}

#[test]
fn large_clusters_are_searched_until_enough_unless_all_nodes_are_requested() {
    let nodes: Vec<NodeInfo> = (0..130).map(|i| full(&format!("n{i:03}"), &format!("v{i}"), 1)).collect();
    let mut cycle = Cycle::new(pod("p", "", 10, 100, None), nodes);
    cycle.policy.offset = 120;
    let cut = cycle.preempt().record;
    assert_eq!((cut.wanted_candidates, tried(&cut).len(), candidates(&cut).len()), (100, 100, 100));
    assert_eq!((tried(&cut)[0], tried(&cut)[99]), ("n120", "n089"));
    assert_eq!(cut.selected(), Some(&"n000".into()));
    cycle.policy.all_nodes = true;
    let all = cycle.preempt().record;
    assert_eq!((all.wanted_candidates, tried(&all).len(), candidates(&all).len()), (130, 130, 130));
}

#[test]
fn a_pod_that_is_not_there_any_more_is_an_error() {
    let mut cycle = Cycle::new(pod("p", "", 10, 100, None), vec![full("a", "v", 1)]);
    cycle.known = false;
    check(&cycle.preempt(), &Status::error("pod \"p\" not found"), None);
    let record = cycle.with(|e, p| e.dry_run_only(&CycleState::default(), p));
    let tie_break = record.tie_break;
    assert_eq!((tie_break.len(), record), (5, PreemptionRecord { hypothetical: true, tie_break, ..PreemptionRecord::default() }));
}

#[test]
fn the_informers_pod_decides_not_the_one_that_was_filtered() {
    let cycle = Cycle::new(pod("p", "", 10, 100, None), vec![full("a", "v", 5)]);
    let mut filtered = cycle.preemptor.clone();
    filtered.spec_mut().priority = Some(1);
    let got = cycle.with(|e, _| e.preempt(&CycleState::default(), &PodInfo::new(Arc::new(filtered))));
    check(&got, &Status::success(), Some("a"));
}

#[test]
fn an_ineligible_pod_keeps_its_nomination() {
    let mut preemptor = pod("p", "", 10, 100, None);
    preemptor.spec_mut().preemption_policy = Some("Never".into());
    let got = Cycle::new(preemptor, vec![full("a", "v", 1)]).preempt();
    check(&got, &Status::rejected(Reason::PreemptionPolicyNever), None);
    assert_eq!(got.record.ineligible.as_ref().map(Status::message).as_deref(), Some("not eligible due to preemptionPolicy=Never."));
    assert!(tried(&got.record).is_empty());
}

#[test]
fn without_nodes_there_is_an_error() {
    check(&Cycle::new(pod("p", "", 10, 100, None), Vec::new()).preempt(), &Status::error("no nodes available"), None);
}

#[test]
fn nothing_found_says_why_for_every_node_and_clears_the_nomination() {
    let mut cycle = Cycle::new(pod("p", "", 10, 100, None), vec![full("a", "strong", 20), full("b", "v", 1), full("c", "w", 1)]);
    cycle.runner.nominate("b", pod("waits", "", 10, 100, None));
    cycle.statuses.set(2, Status::unresolvable("cordoned"));
    let text = "0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, \
        1 Preemption is not helpful for scheduling.";
    check(&cycle.preempt(), &Status::unschedulable(text), Some(""));
    cycle.statuses = NodeToStatus::default();
    let text = "0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
    check(&cycle.preempt(), &Status::unschedulable(text), Some(""));
}

#[test]
fn errors_count_only_where_no_candidate_was_found() {
    // A rejected node that nevertheless has room: all pods are reprieved, which is an error.
    let roomy = |name: &str| node(name, 1000, &[pod(name, name, 1, 100, None)]);
    let preemptor = pod("p", "", 10, 100, None);
    let one = Cycle::new(preemptor.clone(), vec![roomy("a"), full("s", "strong", 20)]).preempt();
    check(&one, &Status::error("expected at least one victim pod on node \"a\""), None);
    let two = Cycle::new(preemptor.clone(), vec![roomy("a"), roomy("b")]).preempt();
    let text = "[expected at least one victim pod on node \"a\", expected at least one victim pod on node \"b\"]";
    check(&two, &Status::error(text), None);
    check(&Cycle::new(preemptor.clone(), vec![roomy("a"), full("b", "v", 1)]).preempt(), &Status::success(), Some("b"));
    let mut same = Cycle::new(preemptor, vec![full("a", "v", 1), full("b", "v", 1)]);
    same.runner.fail_remove = true;
    check(&same.preempt(), &Status::error("remove v"), None);
}

#[test]
fn weaker_nominations_are_cleared_where_the_object_has_one() {
    let mut cycle = Cycle::new(pod("p", "", 10, 100, None), vec![full("a", "v", 1)]);
    let nominated = |name: &str, priority, node: &str| {
        let mut pod = pod(name, "", priority, 0, None);
        pod.status.nominated_node_name = node.into();
        pod
    };
    for waiting in [nominated("z", 1, "a"), nominated("peer", 10, "a"), nominated("memory", 1, ""), nominated("b", 2, "a")] {
        cycle.runner.nominate("a", waiting);
    }
    cycle.runner.nominate("other", nominated("elsewhere", 1, "other"));
    assert_eq!(names(&cycle.preempt().record.cleared_nominations), ["z", "b"]);
}

#[test]
fn victims_that_end_already_are_not_evicted_again() {
    let mut ending = pod("v", "a", 1, 50, Some(1));
    ending.metadata.deletion_timestamp = Some(jiff::Timestamp::UNIX_EPOCH);
    let mut waiting = pod("w", "", 1, 0, None);
    waiting.status.nominated_node_name = "a".into();
    let mut cycle = Cycle::new(pod("p", "", 10, 100, None), vec![node("a", 100, &[ending.clone()])]);
    cycle.runner.nominate("a", waiting);
    let got = cycle.preempt();
    check(&got, &Status::success(), Some("a"));
    assert!(evicted(&got.record).is_empty() && got.record.cleared_nominations.is_empty(), "nothing is left to do");
    cycle.gate = false;
    assert_eq!(names(&cycle.preempt().record.cleared_nominations), ["w"], "preempting in the cycle clears all the same");
    cycle.gate = true;
    cycle.nodes = vec![node("a", 100, &[ending, pod("x", "a", 1, 50, Some(2))])];
    let got = cycle.preempt();
    assert_eq!((evicted(&got.record), names(&got.record.cleared_nominations)), (vec!["x"], vec!["w"]));
}

#[test]
fn considering_finds_candidates_and_selects_none() {
    let cycle = Cycle::new(pod("p", "", 10, 100, None), vec![full("a", "v", 1), full("b", "w", 2), full("c", "x", 30)]);
    let record = cycle.with(|e, p| e.dry_run_only(&CycleState::default(), p));
    assert_eq!(candidates(&record), ["a", "b"]);
    assert_eq!(tried(&record).len(), 3);
    assert!(record.selected().is_none() && record.best.is_empty() && record.score_functions.is_empty() && evicted(&record).is_empty());
}
