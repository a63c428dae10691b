//! The choice among candidates; mirrors `pickOneNodeForPreemption` in
//! `pkg/scheduler/framework/preemption/preemption.go` and `GetEarliestPodStartTime` in `pkg/scheduler/util/utils.go`.

use std::ops::Range;

use jiff::Timestamp;

use crate::cluster::Str;
use crate::framework::{Candidate, ScoreFunction, ScoreFunctionName, SharedList, Victim, in_parts, unix_nanoseconds};

/// Runs score functions in turn until a single candidate has the highest score. Returns the functions' scores and the
/// remaining candidates by name. A single candidate needs no function. The input must be sorted by name.
///
/// kube-scheduler takes any remaining candidate; here it is the first by name.
pub(super) fn pick_one_node<'a>(
    candidates: impl Iterator<Item = &'a Candidate>,
    order: &[ScoreFunctionName],
    now: Timestamp,
) -> (Vec<ScoreFunction>, SharedList<Str>) {
    let mut left: Vec<&Candidate> = candidates.collect();
    let mut functions = Vec::new();
    for &name in order {
        if left.len() < 2 {
            break;
        }
        let of_part = |part: Range<usize>| -> Vec<i64> { left[part].iter().map(|c| score(name, c, now)).collect() };
        let scores = in_parts(0..left.len(), of_part).concat();
        let highest = scores.iter().max().copied();
        let named = left.iter().map(|c| c.node.clone()).zip(scores.iter().copied()).collect();
        left = left.into_iter().zip(&scores).filter(|(_, s)| Some(**s) == highest).map(|(c, _)| c).collect();
        let remaining: SharedList<Str> = left.iter().map(|c| c.node.clone()).collect();
        functions.push(ScoreFunction { name, scores: named, remaining });
    }
    (functions, left.into_iter().map(|c| c.node.clone()).collect())
}

/// Returns what a candidate is compared by, the most important first; higher is better.
pub(super) fn scores(candidate: &Candidate, order: &[ScoreFunctionName], now: Timestamp) -> Vec<i64> {
    order.iter().map(|name| score(*name, candidate, now)).collect()
}

/// Returns a candidate's score; higher is better.
fn score(name: ScoreFunctionName, candidate: &Candidate, now: Timestamp) -> i64 {
    let victims = &candidate.victims;
    match name {
        ScoreFunctionName::MinNumPDBViolations => candidate.pdb_violations.wrapping_neg(),
        ScoreFunctionName::MinHighestPriority => victims.first().map_or(0, |v| -i64::from(v.priority())),
        // Each priority is shifted to be non-negative, so that more victims cost more even with negative priorities.
        ScoreFunctionName::MinSumPriorities => -victims.iter().map(|v| i64::from(v.priority()) + (i64::from(i32::MAX) + 1)).sum::<i64>(),
        ScoreFunctionName::MinNumPods => -(victims.len() as i64),
        ScoreFunctionName::LatestStartTime => earliest_start(victims, unix_nanoseconds(now)),
    }
}

/// Returns the earliest start of the victims of the highest priority, in nanoseconds since 1970.
fn earliest_start(victims: &[Victim], now: i64) -> i64 {
    let highest = victims.iter().map(Victim::priority).max();
    let starts = victims.iter().filter(|v| Some(v.priority()) == highest).map(|v| v.start_time().unwrap_or(now));
    starts.min().unwrap_or(i64::MIN)
}

#[cfg(test)]
mod tests;
