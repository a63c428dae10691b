//! The odds of a decision, where kube-scheduler leaves it to chance: as data, as text, and in the headline.

use std::sync::Arc;

use crate::cluster::Pod;
use crate::extenders::Asking;
use crate::scheduler::{DryOptions, OddsEffort, Scheduler};
use std::borrow::Cow;

use crate::cluster::Str;
use crate::framework::SharedList;
use crate::odds::{Chance, Odds};
use crate::trace::{CycleView, Selection};

/// Returns whether something is left to chance in a decision.
pub fn is_chance(view: &CycleView) -> bool {
    let is_tie = |(_, why, tied): &(Str, Selection, SharedList<Str>)| *why == Selection::HighestScore && tied.len() > 1;
    view.findings.odds_over_starts.is_some()
        || view.scoring.selected.as_ref().is_some_and(is_tie)
        || view.preemption.as_ref().is_some_and(|p| !p.hypothetical() && p.odds().is_some())
}

/// Returns the odds of a decision; `None` if nothing is left to chance, or nothing is chosen yet.
pub fn odds(view: &CycleView) -> Option<Cow<'_, Odds>> {
    if let Some(odds) = &view.findings.odds_over_starts {
        return Some(Cow::Borrowed(odds));
    }
    if let Some((_, Selection::HighestScore, tied)) = view.scoring.selected.as_ref().filter(|(.., tied)| tied.len() > 1) {
        return Some(Cow::Owned(Odds::uniform(Chance::Tie, tied)));
    }
    let preemption = view.preemption.as_ref().filter(|p| !p.hypothetical())?;
    preemption.odds().map(|odds| Cow::Borrowed(&**odds))
}

/// Returns the likelihood of a node and how many others are possible, such as `in 28 of 100 cases, else one of 13 others`; `None` if it
/// is unknown or certain.
pub fn odds_in_words(odds: &Odds, node: &str) -> Option<String> {
    let share = odds.share(node).filter(|share| !share.is_whole())?;
    let others = odds.outcomes() - usize::from(!share.is_none());
    let others = if others == 1 { "another node".to_owned() } else { format!("one of {others} others") };
    Some(format!("{}, else {others}", share.in_words()))
}

/// Returns a cell for a table: a node's likelihood in per cent, `?` if it is unknown.
pub fn odds_cell(odds: &Odds, node: &str) -> String {
    odds.likelihood(node).map_or_else(|| "?".to_owned(), crate::odds::per_cent)
}

/// Decides about a pod without a group, and counts the odds that the effort allows.
pub fn with_odds(scheduler: &Scheduler, pod: &Arc<Pod>, effort: OddsEffort) -> CycleView {
    let options = DryOptions { asking: Asking::Ask, odds_nodes: usize::MAX, ..DryOptions::default() };
    let mut view = CycleView::of(&scheduler.explain_with(pod, options));
    view.findings.unknown = scheduler.state().cluster().unknown;
    view.findings.odds_over_starts = scheduler.odds_over_starts(pod, &view, effort).map(Arc::new);
    view
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::odds::{Contender, Draw};

    #[test]
    fn a_share_of_a_draw_is_said_with_the_number_of_others() {
        let contender = |i: i64| Contender { node: format!("n{i:02}").as_str().into(), violates: false, rank: vec![-i] };
        let odds = Odds::drawn(Chance::Shortlist, Draw::new((0..25).map(contender).collect(), 7));
        assert_eq!(odds_in_words(&odds, "n00").as_deref(), Some("in 28 of 100 cases, else one of 18 others"));
        assert_eq!((odds_cell(&odds, "n00"), odds_cell(&odds, "n24")), ("28 %".to_owned(), "0 %".to_owned()));
        let tie = Odds::uniform(Chance::Tie, &["a".into(), "b".into()]);
        assert_eq!(odds_in_words(&tie, "a").as_deref(), Some("in 1 of 2 cases, else another node"));
    }
}
