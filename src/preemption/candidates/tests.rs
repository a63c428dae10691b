//! Tests of `candidates`.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::cluster::Str;
use crate::framework::{Candidate, Status};
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
    let names = |statuses: &NodeToStatus| -> [String; 2] {
        let rules = [PotentialNodes::Unschedulable, PotentialNodes::NotUnresolvable];
        let of =
            |rule| potential_nodes(statuses, &snapshot, rule).iter().map(|(_, node)| node.name().as_str()).collect::<Vec<_>>().join(" ");
        rules.map(of)
    };
    assert_eq!(names(&statuses), ["a", "a pending error"]);
    statuses.set_absent(Status::unschedulable("every node"));
    assert_eq!(names(&statuses), ["c a", "c a pending error"]);
    statuses.set_absent(Status::success());
    assert_eq!(names(&statuses), ["a", "c a pending error"]);
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Fails,
    Violates,
    Fits,
}

fn dry_run(node: &Str, outcome: Outcome) -> NodeDryRun {
    let status = if outcome == Outcome::Fails { Status::unschedulable("x") } else { Status::success() };
    let pdb_violations = i64::from(outcome == Outcome::Violates);
    let candidate = Candidate { node: node.clone(), victims: Vec::new(), pdb_violations };
    NodeDryRun { node: node.clone(), status, candidate: (outcome != Outcome::Fails).then_some(candidate), ..NodeDryRun::default() }
}

/// Runs the search over made-up outcomes. Returns the number of recorded runs, the number of nodes tried, and the
/// candidates in walking order.
fn walk(outcomes: &[Outcome], wanted: usize) -> (usize, usize, Vec<String>) {
    let nodes: Vec<Arc<NodeInfo>> = (0..outcomes.len()).map(|i| Arc::new(node(&i.to_string(), 0, &[]))).collect();
    let nodes: Vec<(usize, &Arc<NodeInfo>)> = nodes.iter().enumerate().collect();
    let tried = AtomicUsize::new(0);
    let try_node = |(): &mut (), (at, node): (usize, &Arc<NodeInfo>)| {
        tried.fetch_add(1, Ordering::Relaxed);
        (at, Arc::new(dry_run(node.name(), outcomes[at])))
    };
    let mut noted = Vec::new();
    let take = |(at, run): (usize, Arc<NodeDryRun>)| {
        noted.push((at, run.clone()));
        run
    };
    let runs = try_until_enough(&nodes, wanted, &Scratches::new(), (|| (), try_node), take);
    assert!(noted.iter().enumerate().all(|(i, (at, run))| i == *at && **run == dry_run(nodes[i].1.name(), outcomes[i])), "as tried");
    assert!(runs.iter().enumerate().all(|(i, r)| r.node == i.to_string().as_str()), "walking order");
    let candidates = runs.iter().filter_map(|r| r.candidate.as_ref()).map(|c| c.node.to_string());
    (runs.len(), tried.into_inner(), candidates.collect())
}

#[test]
fn the_search_ends_with_enough_candidates_of_which_one_violates_nothing() {
    use Outcome::{Fails, Fits, Violates};
    let check = |outcomes: &[Outcome], wanted, runs: usize, candidates: &[&str]| {
        let (got, _, names) = walk(outcomes, wanted);
        assert_eq!((got, names), (runs, candidates.iter().map(ToString::to_string).collect()), "{outcomes:?}, {wanted} wanted");
    };
    check(&[Fits, Fails, Fits, Fits], 2, 3, &["0", "2"]);
    check(&[Violates, Violates, Fails, Fits, Fits], 2, 4, &["0", "1", "3"]);
    check(&[Violates, Violates, Violates], 2, 3, &["0", "1"]);
    check(&[Fits, Violates, Fits], 3, 3, &["0", "1", "2"]);
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
        // The rule for a sequential search, written out.
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
        fits.sort_by_key(|name| name.parse::<usize>().unwrap());
        let (got, _, candidates) = walk(&outcomes, wanted);
        prop_assert_eq!(got, runs);
        prop_assert_eq!(candidates, fits);
    }
}
