//! Tests of `select`.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::framework::{NodeDryRun, PodInfo, PreemptionRecord};
use crate::preemption::testing::pod;
use crate::release::Emulation;
use ScoreFunctionName::{LatestStartTime, MinHighestPriority, MinNumPDBViolations, MinNumPods, MinSumPriorities};

const NOW: i64 = 1000;

fn now() -> Timestamp {
    Timestamp::from_nanosecond(NOW.into()).unwrap()
}

/// Makes a candidate with victims of (priority, start time).
fn candidate(node: &str, pdb_violations: i64, victims: &[(i32, Option<i64>)]) -> Candidate {
    let victims = victims.iter().map(|(priority, start_time)| {
        let mut pod = pod("v", node, *priority, 0, None);
        pod.status.start_time = start_time.map(|ns| Timestamp::from_nanosecond(ns.into()).unwrap());
        Victim::new(Arc::new(PodInfo::new(Arc::new(pod))), None)
    });
    Candidate { node: node.into(), victims: victims.collect(), pdb_violations }
}

/// Picks among candidates in any order.
fn pick(candidates: &[Candidate]) -> (Vec<ScoreFunction>, SharedList<Str>) {
    let run = |c: &Candidate| Arc::new(NodeDryRun { node: c.node.clone(), candidate: Some(c.clone()), ..NodeDryRun::default() });
    let dry_runs = candidates.iter().map(run).collect::<Vec<_>>().into();
    pick_one_node(
        PreemptionRecord { dry_runs, ..PreemptionRecord::default() }.candidates(),
        Emulation::default().behaviour().preemption.tie_break,
        now(),
    )
}

fn check(candidates: &[Candidate], asked: &[ScoreFunctionName], best: &[&str]) -> Vec<ScoreFunction> {
    let (functions, left) = pick(candidates);
    assert_eq!(functions.iter().map(|f| f.name).collect::<Vec<_>>(), asked);
    assert_eq!(left, best);
    if let Some(last) = functions.last() {
        assert_eq!(last.remaining, left);
    }
    functions
}

#[test]
fn no_candidate_and_one_candidate_need_no_function() {
    check(&[], &[], &[]);
    check(&[candidate("a", 3, &[(1, None)])], &[], &["a"]);
}

#[test]
fn each_function_decides_only_what_those_before_it_left_open() {
    let few = candidate("few", 0, &[(9, None), (9, None)]);
    check(&[candidate("many", 1, &[(1, None)]), few.clone()], &[MinNumPDBViolations], &["few"]);
    check(&[few.clone(), candidate("low", 0, &[(8, None), (8, None), (8, None)])], &[MinNumPDBViolations, MinHighestPriority], &["low"]);
    let three = [MinNumPDBViolations, MinHighestPriority, MinSumPriorities];
    check(&[few.clone(), candidate("sum", 0, &[(9, None), (8, None)])], &three, &["sum"]);
    // All victims have the lowest priority, so that the sums are 0 and only the count distinguishes them.
    let lowest = |node, count: usize| candidate(node, 0, &vec![(i32::MIN, Some(1)); count]);
    let four = [MinNumPDBViolations, MinHighestPriority, MinSumPriorities, MinNumPods];
    check(&[lowest("x", 2), lowest("y", 1)], &four, &["y"]);
    let five = [MinNumPDBViolations, MinHighestPriority, MinSumPriorities, MinNumPods, LatestStartTime];
    check(&[candidate("old", 0, &[(1, Some(5))]), candidate("new", 0, &[(1, Some(6))])], &five, &["new"]);
    check(&[candidate("b", 0, &[(1, Some(5))]), candidate("a", 0, &[(1, Some(5))])], &five, &["a", "b"]);
}

#[test]
fn more_victims_cost_more_even_with_negative_priorities() {
    let three = [MinNumPDBViolations, MinHighestPriority, MinSumPriorities];
    let functions = check(&[candidate("two", 0, &[(-5, None), (-5, None)]), candidate("one", 0, &[(-5, None)])], &three, &["one"]);
    assert_eq!(functions[2].scores, [("one".into(), -2_147_483_643), ("two".into(), -4_294_967_286)]);
}

#[test]
fn only_victims_of_the_highest_priority_tell_the_start_time_and_an_absent_one_is_now() {
    let start = |victims: &[(i32, Option<i64>)]| score(LatestStartTime, &candidate("a", 0, victims), now());
    assert_eq!(start(&[(5, Some(40)), (5, Some(30)), (1, Some(2))]), 30);
    assert_eq!(start(&[(5, None), (1, Some(2))]), NOW);
    assert_eq!(start(&[]), i64::MIN);
}

proptest! {
    #[test]
    fn the_order_of_candidates_makes_no_difference(
        specs in prop::collection::vec((0..2_i64, prop::collection::vec((0..2_i32, prop::option::of(0..3_i64)), 1..4)), 0..8),
        seed in prop::collection::vec(any::<u32>(), 8),
    ) {
        let sorted: Vec<Candidate> = specs.iter().enumerate().map(|(i, (violations, victims))| {
            candidate(&format!("n{i}"), *violations, victims)
        }).collect();
        let mut shuffled: Vec<(u32, Candidate)> = seed.into_iter().zip(sorted.clone()).collect();
        shuffled.sort_by_key(|(key, _)| *key);
        let shuffled: Vec<Candidate> = shuffled.into_iter().map(|(_, c)| c).collect();
        let (functions, best) = pick(&sorted);
        prop_assert_eq!(&pick(&shuffled), &(functions.clone(), best.clone()));
        prop_assert_eq!(best.is_empty(), sorted.is_empty());
        for function in &functions {
            let highest = function.scores.iter().map(|(_, s)| *s).max();
            let kept: Vec<&Str> = function.scores.iter().filter(|(_, s)| Some(*s) == highest).map(|(n, _)| n).collect();
            prop_assert_eq!(kept, function.remaining.iter().collect::<Vec<_>>());
        }
    }
}
