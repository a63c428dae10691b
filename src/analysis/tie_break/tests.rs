//! Tests of `tie_break`.

use std::sync::Arc;

use super::*;
use crate::cluster::Pod;
use crate::framework::{NodeDryRun, PodInfo, PreemptionRecord, Victim};
use ScoreFunctionName::{LatestStartTime, MinHighestPriority, MinNumPDBViolations, MinNumPods, MinSumPriorities};

fn candidate(node: &str, priorities: &[i32], violations: i64) -> Candidate {
    let victim = |priority: &i32| {
        let mut pod = Pod::default();
        pod.metadata.name = format!("v{priority}").as_str().into();
        pod.spec_mut().priority = Some(*priority);
        Victim::new(Arc::new(PodInfo::new(Arc::new(pod))), None)
    };
    Candidate { node: node.into(), victims: priorities.iter().map(victim).collect(), pdb_violations: violations }
}

/// Makes a preemption with one function, which keeps the candidates with the highest score.
fn preemption(name: ScoreFunctionName, candidates: &[(Candidate, i64)]) -> PreemptionView {
    let run = |c: &Candidate| Arc::new(NodeDryRun { node: c.node.clone(), candidate: Some(c.clone()), ..NodeDryRun::default() });
    let highest = candidates.iter().map(|(_, score)| *score).max();
    let remaining: Vec<_> = candidates.iter().filter(|(_, s)| Some(*s) == highest).map(|(c, _)| c.node.clone()).collect();
    PreemptionView::whole(Arc::new(PreemptionRecord {
        dry_runs: candidates.iter().map(|(c, _)| run(c)).collect::<Vec<_>>().into(),
        score_functions: vec![ScoreFunction {
            name,
            scores: candidates.iter().map(|(c, score)| (c.node.clone(), *score)).collect(),
            remaining: remaining.clone().into(),
        }],
        best: remaining.into(),
        ..PreemptionRecord::default()
    }))
}

fn times(both: [i64; 2]) -> [[String; 2]; 2] {
    ["time ", "t"].map(|word| both.map(|at| format!("{word}{at}")))
}

fn check(name: ScoreFunctionName, candidates: &[(Candidate, i64)], expected: &str) {
    let view = preemption(name, candidates);
    let found: Vec<String> = eliminations(&view, &times).iter().map(|e| e.sentences()[0].clone()).collect();
    assert_eq!(found, [expected]);
}

#[test]
fn each_function_names_the_losers_reason() {
    let one = |node: &str| candidate(node, &[5], 0);
    let cases = [
        (MinNumPDBViolations, (-1, 0), "b is eliminated by MinNumPDBViolations: 1 of its victims violates a budget, on a none"),
        (MinHighestPriority, (-1000, 10), "b is eliminated by MinHighestPriority: its highest victim has priority 1000, on a -10"),
        (MinNumPods, (-1, 0), "b is eliminated by MinNumPods: it evicts 1 pod, on a 0"),
        (LatestStartTime, (3, 4), "b is eliminated by LatestStartTime: its highest victim started time 3, on a time 4"),
    ];
    for (name, (loser, best), sentence) in cases {
        check(name, &[(one("a"), best), (one("b"), loser)], sentence);
    }
}

#[test]
fn priorities_add_up_without_the_offset() {
    let (raised, two) = (1_i64 << 31, candidate("a", &[50, 50], 0));
    check(
        MinSumPriorities,
        &[(two.clone(), -2 * raised - 100), (candidate("b", &[100, 50], 0), -2 * raised - 150)],
        "b is eliminated by MinSumPriorities: its victims' priorities add up to 150, on a 100",
    );
    // Fewer pods weigh less even if their priorities add up to more.
    check(
        MinSumPriorities,
        &[(candidate("a", &[100], 0), -raised - 100), (candidate("b", &[10, 10], 0), -2 * raised - 20)],
        "b is eliminated by MinSumPriorities: it evicts 2 pods with priorities of 20 in all (more pods weigh more), on a 1 pod with 100",
    );
    // A pod of the least priority there is adds nothing to the sum: both are equal.
    let view =
        preemption(MinSumPriorities, &[(candidate("a", &[100], 0), -raised - 100), (candidate("b", &[100, i32::MIN], 0), -raised - 100)]);
    let values: Vec<_> = view.candidates().map(|one| plain_value(&view.score_functions()[0], one)).collect();
    assert_eq!(values, [Some(100), Some(100)]);
    assert_eq!(view.candidates().map(victims_in_sum).collect::<Vec<_>>(), [1, 1]);
    let view = preemption(MinSumPriorities, &[(two.clone(), -2 * raised - 100)]);
    assert_eq!(plain_value(&view.score_functions()[0], &two), Some(100));
    assert_eq!(plain_value(&view.score_functions()[0], &candidate("z", &[], 0)), None);
}

#[test]
fn several_losers_are_counted_and_measured_by_the_closest() {
    let one = |node: &str| candidate(node, &[5], 0);
    let all = [(one("a"), -1), (one("b"), -7), (one("c"), -9), (one("d"), -9)];
    let sentence = "3 candidates (b, c and 1 more) are eliminated by MinHighestPriority: \
                        their highest victims have priority 7 or more, on a 1";
    check(MinHighestPriority, &all, sentence);
    check(
        MinHighestPriority,
        &[(one("a"), -1), (one("b"), -7), (one("c"), -7)],
        "2 candidates (b, c) are eliminated by MinHighestPriority: their highest victims have priority 7, on a 1",
    );
    let view = preemption(MinHighestPriority, &all);
    let own = elimination_of(&view, "c", &times).unwrap().sentences();
    assert_eq!(own[3..], ["c is eliminated: its highest victim has priority 9, best 1", "c eliminated: highest victim 9, best 1"]);
    assert_eq!(elimination_of(&view, "a", &times), None);
    let started = preemption(LatestStartTime, &[(one("a"), 9), (one("b"), 7), (one("c"), 5)]);
    let said = eliminations(&started, &times)[0].sentences();
    assert_eq!(said[4], "2 eliminated: highest victims started t7 or earlier, best t9");
    let own = elimination_of(&started, "b", &times).unwrap().shortest_about("b");
    assert_eq!(own, "b eliminated: highest victim started t7, best t9");
}
