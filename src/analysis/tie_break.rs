//! The tie-break among candidates in people's numbers: the value that a score function compares, and why it eliminates a
//! candidate.

use crate::cluster::Str;
use crate::framework::{Candidate, ScoreFunction, ScoreFunctionName, Victim};
use crate::plural::count;
use crate::trace::PreemptionView;

/// Returns the value that a function compares for a candidate, as people read it: priorities with their own sign and without
/// the 2^31 that kube-scheduler adds to each, start times in nanoseconds since 1970. `None` for a candidate that an earlier
/// function eliminated.
pub fn plain_value(function: &ScoreFunction, candidate: &Candidate) -> Option<i64> {
    let score = score(function, candidate)?;
    Some(match function.name {
        ScoreFunctionName::LatestStartTime => score,
        ScoreFunctionName::MinSumPriorities => sum_of_priorities(candidate),
        ScoreFunctionName::MinNumPDBViolations | ScoreFunctionName::MinHighestPriority | ScoreFunctionName::MinNumPods => {
            score.saturating_neg()
        }
    })
}

/// Returns the least and the greatest value of each function over the candidates, in the order of the functions; without
/// functions that gave no value.
pub fn value_ends(preemption: &PreemptionView) -> Vec<(ScoreFunctionName, (i64, i64))> {
    let ends = |function: &ScoreFunction| {
        let values = preemption.candidates().filter_map(|candidate| plain_value(function, candidate));
        let ends = values.fold(None, |ends: Option<(i64, i64)>, value| {
            Some(ends.map_or((value, value), |(least, greatest)| (least.min(value), greatest.max(value))))
        });
        Some((function.name, ends?))
    };
    preemption.score_functions().iter().filter_map(ends).collect()
}

fn score(function: &ScoreFunction, candidate: &Candidate) -> Option<i64> {
    let at = function.scores.binary_search_by(|(node, _)| node.cmp(&candidate.node)).ok()?;
    Some(function.scores[at].1)
}

/// Returns the priorities of the victims that weigh something in the sum: one of the least priority there is adds nothing, not even as a
/// pod more.
fn weighing(candidate: &Candidate) -> impl Iterator<Item = i64> {
    candidate.victims.iter().map(Victim::priority).filter(|priority| *priority > i32::MIN).map(i64::from)
}

fn sum_of_priorities(candidate: &Candidate) -> i64 {
    weighing(candidate).sum()
}

/// Returns the number of victims that the sum of priorities counts.
pub fn victims_in_sum(candidate: &Candidate) -> usize {
    weighing(candidate).count()
}

/// The candidates that one function eliminates.
#[derive(Clone, Debug, PartialEq)]
pub struct Elimination {
    pub function: ScoreFunctionName,
    /// The nodes of the eliminated candidates, by name.
    pub losers: Vec<Str>,
    /// The node of a candidate that remains: the chosen one, or else the first by name.
    pub best: Str,
    /// The value of the loser that came closest, with its noun.
    pub value: String,
    /// The same in fewer words.
    pub short_value: String,
    /// The value of the best candidate, to be read after [`Self::value`].
    pub best_value: String,
    /// The same, to be read after [`Self::short_value`].
    pub short_best: String,
}

/// Formats two start times that are compared, in a form in which they differ; then the same in fewer words.
pub type WriteTimes<'t> = &'t dyn Fn([i64; 2]) -> [[String; 2]; 2];

/// Returns what each function eliminated so far, in order; nothing for functions that kept all candidates. `times` formats
/// start times.
pub fn eliminations(preemption: &PreemptionView, times: WriteTimes<'_>) -> Vec<Elimination> {
    let all = preemption.score_functions().iter();
    all.filter_map(|function| {
        let losers = function.scores.iter().map(|(node, _)| node).filter(|node| function.remaining.binary_search(node).is_err());
        elimination(preemption, function, losers.filter_map(|node| preemption.candidate(node)).collect(), times)
    })
    .collect()
}

/// Returns why a candidate was eliminated; `None` for one that remains.
pub fn elimination_of(preemption: &PreemptionView, node: &str, times: WriteTimes<'_>) -> Option<Elimination> {
    let fell = |f: &&ScoreFunction| f.remaining.binary_search_by(|kept| kept.as_str().cmp(node)).is_err();
    let function = preemption.score_functions().iter().find(fell)?;
    elimination(preemption, function, vec![preemption.candidate(node)?], times)
}

fn elimination(
    preemption: &PreemptionView,
    function: &ScoreFunction,
    losers: Vec<&Candidate>,
    times: WriteTimes<'_>,
) -> Option<Elimination> {
    let chosen = preemption.selected().map(|(node, _)| node).filter(|node| function.remaining.binary_search(node).is_ok());
    let best = preemption.candidate(chosen.or_else(|| function.remaining.first())?)?;
    let closest = losers.iter().copied().max_by_key(|loser| score(function, loser))?;
    // Losers further away are covered by "or more".
    let lowest = losers.iter().filter_map(|loser| score(function, loser)).min();
    let differ = lowest != score(function, closest);
    let Compared { value, short_value, best_value, short_best } = compared(function, closest, best, losers.len() > 1, differ, times)?;
    let (losers, best) = (losers.into_iter().map(|loser| loser.node.clone()).collect(), best.node.clone());
    Some(Elimination { function: function.name, losers, best, value, short_value, best_value, short_best })
}

/// The values of a loser and of the best candidate in words.
struct Compared {
    value: String,
    short_value: String,
    best_value: String,
    short_best: String,
}

/// Compares a loser with the best candidate. `several` losers are spoken of in the plural; the value is that of the closest one
/// if they `differ`.
fn compared(
    function: &ScoreFunction,
    loser: &Candidate,
    best: &Candidate,
    several: bool,
    differ: bool,
    times: WriteTimes<'_>,
) -> Option<Compared> {
    let (value, best_value) = (plain_value(function, loser)?, plain_value(function, best)?);
    let (its, it, s) = if several { ("their", "they", "s") } else { ("its", "it", "") };
    let more = if differ { " or more" } else { "" };
    let verb = if several { "evict" } else { "evicts" };
    let pods = |candidate: &Candidate| count(candidate.victims.len(), "pod");
    let counted = |candidate: &Candidate| count(victims_in_sum(candidate), "pod");
    let (value, short_value, best_value) = match function.name {
        ScoreFunctionName::MinNumPDBViolations => {
            let violate = if value == 1 && !differ { "violates" } else { "violate" };
            let none = if best_value == 0 { "none".to_owned() } else { best_value.to_string() };
            (
                format!("{value}{more} of {its} victims {violate} a budget"),
                format!("{}{more}", count(usize::try_from(value).unwrap_or(0), "budget violation")),
                none,
            )
        }
        ScoreFunctionName::MinHighestPriority => {
            let have = if several { "have" } else { "has" };
            (
                format!("{its} highest victim{s} {have} priority {value}{more}"),
                format!("highest victim{s} {value}{more}"),
                best_value.to_string(),
            )
        }
        ScoreFunctionName::MinSumPriorities if victims_in_sum(loser) == victims_in_sum(best) => {
            (format!("{its} victims' priorities add up to {value}{more}"), format!("priorities of {value}{more}"), best_value.to_string())
        }
        // 2^31 is added for every pod, so that more pods weigh more whatever their priorities.
        ScoreFunctionName::MinSumPriorities => (
            format!("{it} {verb} {}{more} with priorities of {value} in all (more pods weigh more)", counted(loser)),
            format!("{}{more} with {value}", counted(loser)),
            format!("{} with {best_value}", counted(best)),
        ),
        ScoreFunctionName::MinNumPods => {
            (format!("{it} {verb} {}{more}", pods(loser)), format!("{}{more}", pods(loser)), best_value.to_string())
        }
        ScoreFunctionName::LatestStartTime => {
            let earlier = if differ { " or earlier" } else { "" };
            let [[own, best_value], [short_own, short_best]] = times([value, best_value]);
            return Some(Compared {
                value: format!("{its} highest victim{s} started {own}{earlier}"),
                short_value: format!("highest victim{s} started {short_own}{earlier}"),
                best_value,
                short_best,
            });
        }
    };
    Some(Compared { value, short_value, short_best: best_value.clone(), best_value })
}

impl Elimination {
    /// Returns the elimination as sentences without a full stop, the most complete first: `worker-a1 is eliminated by
    /// MinHighestPriority: its highest victim has priority 1000, on worker-a2 -10`. All of them have both values.
    pub fn sentences(&self) -> [String; 5] {
        let Self { function, losers, best, value, best_value, .. } = self;
        let names: Vec<&str> = losers.iter().take(2).map(Str::as_str).collect();
        let rest = losers.len().saturating_sub(names.len());
        let listed = if rest == 0 { names.join(", ") } else { format!("{} and {rest} more", names.join(", ")) };
        let (who, short, shortest) = match &losers[..] {
            [one] => (format!("{one} is"), format!("{one} is"), one.to_string()),
            _ => {
                let n = losers.len();
                (format!("{n} candidates ({listed}) are"), format!("{n} are"), n.to_string())
            }
        };
        let on = format!("on {best} {best_value}");
        [
            format!("{who} eliminated by {function}: {value}, {on}"),
            format!("{short} eliminated by {function}: {value}, {on}"),
            format!("{short} eliminated: {value}, {on}"),
            format!("{short} eliminated: {value}, best {best_value}"),
            self.shortest_about(&shortest),
        ]
    }

    /// Returns the shortest sentence, with another name for the losers.
    pub fn shortest_about(&self, name: &str) -> String {
        format!("{name} eliminated: {}, best {}", self.short_value, self.short_best)
    }
}

#[cfg(test)]
mod tests;
