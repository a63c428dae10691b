//! The odds of a decision, where kube-scheduler leaves it to chance: as data, as text, and in the headline.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::cluster::Str;
use crate::framework::SharedList;
use crate::odds::{Chance, Odds, Share};
use crate::output::Lines;
use crate::plural::count;
use crate::trace::{CycleView, Selection};

/// Shares with more digits than this are shown in per cent alone.
const DIGITS_SHOWN: usize = 24;
/// Outcomes that the text shows.
const SHOWN: usize = 10;

/// The likelihood of each outcome of a decision.
#[derive(Clone, Debug, Serialize)]
pub struct OddsReport {
    /// The first decision that is left to chance: `sampling`, `ties`, `shortlist`, `lastTie` or `victims`.
    pub of: &'static str,
    /// The share of each node that can be selected or nominated; `None` if it is unknown.
    pub node: Option<BTreeMap<Str, Share>>,
    /// The share of each pod that can be evicted from the nominated node, of those
    /// that are not evicted in every case.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub victims: BTreeMap<String, Share>,
    /// The reasons for unknown shares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// The cases that are taken as equally likely.
    pub assumes: Vec<&'static str>,
}

impl OddsReport {
    /// Returns the report of odds.
    pub fn of(odds: &Odds) -> Self {
        let victims = odds.victims().unwrap_or_default();
        let mut unknown: Vec<String> = odds.why_unknown().into_iter().chain(odds.victims().err()).map(ToString::to_string).collect();
        unknown.dedup();
        Self {
            of: odds.of().name(),
            node: odds.why_unknown().is_none().then(|| odds.shares().into_iter().collect()),
            victims: victims.iter().map(|(pod, share)| (pod.to_string(), share.clone())).collect(),
            unknown,
            assumes: odds.assumptions().collect(),
        }
    }
}

/// Returns whether something is left to chance in a decision.
pub fn is_chance(view: &CycleView) -> bool {
    let is_tie = |(_, why, tied): &(Str, Selection, SharedList<Str>)| *why == Selection::HighestScore && tied.len() > 1;
    view.odds_over_starts.is_some()
        || view.selected.as_ref().is_some_and(is_tie)
        || view.preemption.as_ref().is_some_and(|p| !p.hypothetical() && p.odds().is_some())
}

/// Returns the odds of a decision; `None` if nothing is left to chance, or nothing is chosen yet.
pub fn odds(view: &CycleView) -> Option<Cow<'_, Odds>> {
    if let Some(odds) = &view.odds_over_starts {
        return Some(Cow::Borrowed(odds));
    }
    if let Some((_, Selection::HighestScore, tied)) = view.selected.as_ref().filter(|(.., tied)| tied.len() > 1) {
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

/// Writes the section about odds.
pub(super) fn odds_text(view: &CycleView, out: &mut Lines) {
    let Some((title, lines)) = odds_section(view) else { return };
    out.blank();
    out.line(format_args!("ODDS ({title})"));
    out.extend(lines);
}

/// Returns the title and the lines of the section about odds; `None` if nothing is left to chance.
pub(super) fn odds_section(view: &CycleView) -> Option<(&'static str, Lines)> {
    let odds = odds(view)?;
    let mut out = Lines::default();
    let chosen = view.selected.as_ref().map(|(node, ..)| node);
    let chosen = chosen.or_else(|| view.preemption.as_ref().and_then(|p| p.selected().map(|(node, _)| node)));
    if let Some(why) = odds.why_unknown() {
        out.line(format_args!("  unknown: {why}"));
    }
    if let Some((node, words)) = chosen.and_then(|node| Some((node, odds_in_words(&odds, node)?))) {
        let mut best: Vec<(f64, Str, Share)> = odds.shares().into_iter().map(|(node, share)| (share.to_f64(), node, share)).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        out.line(format_args!("  {node} {words}"));
        let rows: Vec<Vec<String>> = best.iter().take(SHOWN).map(|(_, node, share)| row(node.to_string(), share)).collect();
        super::text::table(&rows, &mut out);
        if best.len() > SHOWN {
            out.line(format_args!("  … and {}", count(best.len() - SHOWN, "more node")));
        }
    }
    match odds.victims() {
        Ok([]) => {}
        Ok(victims) => {
            let on = chosen.map_or_else(String::new, |node| format!(" from {node}"));
            out.line(format_args!("  evicted{on}, by share of cases:"));
            let rows: Vec<Vec<String>> = victims.iter().take(SHOWN).map(|(pod, share)| row(pod.to_string(), share)).collect();
            super::text::table(&rows, &mut out);
            if victims.len() > SHOWN {
                out.line(format_args!("  … and {}", count(victims.len() - SHOWN, "more pod")));
            }
        }
        Err(why) if odds.why_unknown() != Some(why) => out.line(format_args!("  victims unknown: {why}")),
        Err(_) => {}
    }
    for assumption in odds.assumptions() {
        out.line(format_args!("  {assumption}"));
    }
    Some((odds.of().title(), out))
}

fn row(name: String, share: &Share) -> Vec<String> {
    let exact = share.to_string();
    vec![name, share.per_cent(), if exact.len() > DIGITS_SHOWN { String::new() } else { exact }]
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
        let report = serde_json::to_value(OddsReport::of(&tie)).unwrap();
        assert_eq!(report["node"], serde_json::json!({"a": "1/2", "b": "1/2"}));
        assert_eq!((report["of"].as_str(), report["assumes"].as_array().map(Vec::len)), (Some("ties"), Some(1)));
    }
}
