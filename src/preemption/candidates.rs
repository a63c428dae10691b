//! Which nodes are tried, how many, and when enough candidates are found; mirrors `NodesForStatusCode` in
//! `pkg/scheduler/framework/interface.go`, `GetOffsetAndNumCandidates` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go` and `DryRunPreemption` in
//! `pkg/scheduler/framework/preemption/preemption.go`.

use std::sync::Arc;

use rayon::prelude::*;

use super::budgets::Budgets;
use super::dry_run::{self, Trial};
use crate::framework::{
    Candidate, Code, CycleState, DryRun, DryRunPolicy, NodeInfo, NodeToStatus, PodInfo, PostFilterContext, PreemptionRecord, Snapshot,
};
use crate::release::Candidates;

/// How many candidates are worth finding in a large cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CandidateLimits {
    /// At least so many, in per cent of the potential nodes.
    pub percentage: i32,
    /// At least so many, in nodes.
    pub absolute: i32,
}

impl CandidateLimits {
    /// The number wanted among `nodes` potential nodes; never more than there are.
    fn wanted(self, nodes: usize) -> usize {
        let nodes = i32::try_from(nodes).unwrap_or(i32::MAX);
        // 32-bit arithmetic that wraps, as upstream's does.
        let share = nodes.wrapping_mul(self.percentage) / 100;
        usize::try_from(share.max(self.absolute).min(nodes)).unwrap_or(0)
    }
}

/// Nodes that eviction might help, in walking order: those whose status is Unschedulable and no other.
fn potential_nodes<'a>(statuses: &NodeToStatus, snapshot: &'a Snapshot) -> Vec<&'a Arc<NodeInfo>> {
    let nodes = snapshot.nodes().iter().enumerate();
    nodes.filter(|(position, _)| statuses.get(*position).code() == Code::Unschedulable).map(|(_, node)| node).collect()
}

/// Tries nodes until enough candidates are found, and writes into the record what was tried.
pub(super) fn search(
    post: &PostFilterContext<'_>,
    limits: CandidateLimits,
    state: &CycleState,
    pod: &PodInfo,
    record: &mut PreemptionRecord,
) {
    let nodes = potential_nodes(post.statuses, post.cx.snapshot);
    record.potential_nodes = nodes.iter().map(|n| n.name().clone()).collect();
    if nodes.is_empty() {
        return;
    }
    let DryRunPolicy { offset, all_nodes } = post.dry_run;
    record.offset = offset % nodes.len();
    let all_nodes = all_nodes || post.cx.emulation.behaviour().candidates == Candidates::All;
    record.wanted_candidates = if all_nodes { nodes.len() } else { limits.wanted(nodes.len()) };
    let budgets = Budgets::shared(post.cx.cluster.pod_disruption_budgets.iter());
    let mut walk = nodes;
    walk.rotate_left(record.offset);
    let try_node = |node: &NodeInfo| dry_run::select_victims_on_node(post, state, pod, node, &budgets);
    let (trials, shortlist) = try_until_enough(&walk, record.wanted_candidates, try_node);
    record.dry_runs = trials;
    record.candidates = shortlist.into_iter().map(Arc::new).collect();
    record.candidates.sort_by(|a, b| a.node.cmp(&b.node));
}

/// Nodes tried at one go beyond those that are needed anyway.
const CHUNK: usize = 32;
/// Nodes that one thread takes at a time at least.
const NODES_PER_TASK: usize = 4;

/// Dry runs of different nodes do not touch each other, so they run beside each other; their results are then taken in
/// walking order, and what lies behind the node that made enough is dropped. So the result is that of one walker.
fn try_until_enough(walk: &[&Arc<NodeInfo>], wanted: usize, try_node: impl Fn(&NodeInfo) -> Trial + Sync) -> (Vec<DryRun>, Vec<Candidate>) {
    let mut shortlist = Shortlist::new(wanted);
    let mut runs = Vec::new();
    let mut rest = walk;
    while !rest.is_empty() {
        // No smaller number of nodes can end the search, so none of these is tried in vain.
        let needed = wanted.saturating_sub(shortlist.len()).max(CHUNK).min(rest.len());
        let (chunk, after) = rest.split_at(needed);
        rest = after;
        let trials: Vec<Trial> = if chunk.len() <= NODES_PER_TASK {
            chunk.iter().map(|n| try_node(n)).collect()
        } else {
            chunk.par_iter().with_min_len(NODES_PER_TASK).map(|n| try_node(n)).collect()
        };
        for trial in trials {
            runs.push(trial.run);
            if let Some(candidate) = trial.candidate
                && shortlist.add(candidate)
            {
                return (runs, shortlist.take());
            }
        }
    }
    (runs, shortlist.take())
}

/// Candidates found so far. Each of the two lists takes as many as are wanted and drops what comes later.
struct Shortlist {
    wanted: usize,
    without_violations: Vec<Candidate>,
    violating: Vec<Candidate>,
}

impl Shortlist {
    fn new(wanted: usize) -> Self {
        Self { wanted, without_violations: Vec::new(), violating: Vec::new() }
    }

    fn len(&self) -> usize {
        self.without_violations.len() + self.violating.len()
    }

    /// True when the search may end. Candidates that violate budgets never end it by themselves.
    fn add(&mut self, candidate: Candidate) -> bool {
        let list = if candidate.pdb_violations == 0 { &mut self.without_violations } else { &mut self.violating };
        if list.len() < self.wanted {
            list.push(candidate);
        }
        !self.without_violations.is_empty() && self.len() >= self.wanted
    }

    fn take(self) -> Vec<Candidate> {
        let mut all = self.without_violations;
        all.extend(self.violating);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::cluster::Str;
    use crate::framework::Status;
    use crate::preemption::testing::node;

    #[test]
    fn a_tenth_of_the_nodes_and_at_least_a_hundred_are_wanted() {
        let wanted = |percentage, absolute, nodes| CandidateLimits { percentage, absolute }.wanted(nodes);
        for (nodes, want) in [(1, 1), (99, 99), (100, 100), (101, 100), (1000, 100), (1009, 100), (1010, 101), (5000, 500)] {
            assert_eq!(wanted(10, 100, nodes), want, "{nodes} nodes");
        }
        assert_eq!(wanted(100, 0, 7), 7);
        assert_eq!(wanted(10, 0, 7), 0);
        assert_eq!(wanted(0, 3, 7), 3);
        assert_eq!(wanted(-5, -5, 7), 0, "nonsense is no reason to panic");
    }

    #[test]
    fn only_nodes_that_are_unschedulable_and_no_worse_are_potential() {
        let snapshot = Snapshot::of(["c", "b", "a", "pending", "error"].map(|n| node(n, 0, &[])));
        let mut statuses = NodeToStatus::default();
        let mut set = |name: &str, status| statuses.set(snapshot.position(name).unwrap(), status);
        set("a", Status::unschedulable("x"));
        set("b", Status::unresolvable("x"));
        set("pending", Status::new(Code::Pending, ["x"]));
        set("error", Status::error("x"));
        statuses.set(snapshot.len(), Status::unschedulable("not in the snapshot"));
        let names = |statuses: &NodeToStatus| -> Vec<String> {
            potential_nodes(statuses, &snapshot).iter().map(|n| n.name().to_string()).collect()
        };
        assert_eq!(names(&statuses), ["a"]);
        statuses.set_absent(Status::unschedulable("every node"));
        assert_eq!(names(&statuses), ["c", "a"]);
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Outcome {
        Fails,
        Violates,
        Fits,
    }

    fn trial(node: &Str, outcome: Outcome) -> Trial {
        let status = if outcome == Outcome::Fails { Status::unschedulable("x") } else { Status::success() };
        let violations = i64::from(outcome == Outcome::Violates);
        let candidate = Candidate { node: node.clone(), victims: Vec::new(), pdb_violations: violations };
        Trial { run: DryRun { node: node.clone(), steps: Vec::new(), status }, candidate: (outcome != Outcome::Fails).then_some(candidate) }
    }

    /// Runs the search over made-up outcomes; answers with how many nodes count as tried, how many were tried, and the
    /// candidates.
    fn walk(outcomes: &[Outcome], wanted: usize) -> (usize, usize, Vec<String>) {
        let nodes: Vec<Arc<NodeInfo>> = (0..outcomes.len()).map(|i| Arc::new(node(&i.to_string(), 0, &[]))).collect();
        let nodes: Vec<&Arc<NodeInfo>> = nodes.iter().collect();
        let tried = AtomicUsize::new(0);
        let (runs, candidates) = try_until_enough(&nodes, wanted, |n| {
            tried.fetch_add(1, Ordering::Relaxed);
            trial(n.name(), outcomes[n.name().parse::<usize>().unwrap()])
        });
        assert!(runs.iter().enumerate().all(|(i, r)| r.node == i.to_string().as_str()), "walking order");
        (runs.len(), tried.into_inner(), candidates.iter().map(|c| c.node.to_string()).collect())
    }

    #[test]
    fn the_search_ends_with_enough_candidates_of_which_one_violates_nothing() {
        use Outcome::{Fails, Fits, Violates};
        let check = |outcomes: &[Outcome], wanted, runs: usize, candidates: &[&str]| {
            let (got, _, names) = walk(outcomes, wanted);
            assert_eq!((got, names), (runs, candidates.iter().map(ToString::to_string).collect()), "{outcomes:?}, {wanted} wanted");
        };
        check(&[Fits, Fails, Fits, Fits], 2, 3, &["0", "2"]);
        check(&[Violates, Violates, Fails, Fits, Fits], 2, 4, &["3", "0", "1"]);
        check(&[Violates, Violates, Violates], 2, 3, &["0", "1"]);
        check(&[Fits, Violates, Fits], 3, 3, &["0", "2", "1"]);
        check(&[Fails, Fails], 2, 2, &[]);
        check(&[Fits, Fits], 0, 2, &[]);
    }

    #[test]
    fn no_more_nodes_are_tried_than_one_chunk_beyond_need() {
        let (runs, tried, _) = walk(&[Outcome::Fits; 500], 100);
        assert_eq!((runs, tried), (100, 100));
        let mut some_fail = vec![Outcome::Fails; 5];
        some_fail.extend([Outcome::Fits; 495]);
        let (runs, tried, _) = walk(&some_fail, 100);
        assert_eq!((runs, tried), (105, 100 + CHUNK));
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(
            outcomes in prop::collection::vec(prop_oneof![
                3 => Just(Outcome::Fails), 3 => Just(Outcome::Violates), 1 => Just(Outcome::Fits)], 0..200),
            wanted in 0..60_usize,
        ) {
            // One walker, written down as the rule has it.
            let (mut runs, mut fits, mut violating) = (0, Vec::new(), Vec::new());
            for (i, outcome) in outcomes.iter().enumerate() {
                runs += 1;
                match outcome {
                    Outcome::Fails => continue,
                    Outcome::Fits => fits.push(i.to_string()),
                    Outcome::Violates => violating.push(i.to_string()),
                }
                fits.truncate(wanted);
                violating.truncate(wanted);
                let any_fit = outcomes[..=i].contains(&Outcome::Fits) && wanted > 0;
                if any_fit && fits.len() + violating.len() >= wanted {
                    break;
                }
            }
            fits.extend(violating);
            let (got, _, candidates) = walk(&outcomes, wanted);
            prop_assert_eq!(got, runs);
            prop_assert_eq!(candidates, fits);
        }
    }
}
