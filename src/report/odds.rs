//! The odds of a decision, where kube-scheduler leaves it to chance: as data and as text.

use std::collections::BTreeMap;

use serde::Serialize;

use super::text::table;
use crate::analysis::{odds, odds_in_words};
use crate::cluster::Str;
use crate::odds::{Odds, Share};
use crate::output::Lines;
use crate::plural::count;
use crate::trace::CycleView;

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
            of: odds.first_chance().name(),
            node: odds.why_unknown().is_none().then(|| odds.shares().into_iter().collect()),
            victims: victims.iter().map(|(pod, share)| (pod.to_string(), share.clone())).collect(),
            unknown,
            assumes: odds.assumptions().collect(),
        }
    }
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
    let chosen = view.scoring.selected.as_ref().map(|(node, ..)| node);
    let chosen = chosen.or_else(|| view.preemption.as_ref().and_then(|p| p.selected().map(|(node, _)| node)));
    if let Some(why) = odds.why_unknown() {
        out.line(format_args!("  unknown: {why}"));
    }
    if let Some((node, words)) = chosen.and_then(|node| Some((node, odds_in_words(&odds, node)?))) {
        out.line(format_args!("  {node} {words}"));
        let rows: Vec<Vec<String>> = odds.most_likely(SHOWN).iter().map(|(node, share)| row(node.to_string(), share)).collect();
        table(&rows, &mut out);
        let more = odds.outcomes().saturating_sub(rows.len());
        if more > 0 {
            out.line(format_args!("  … and {}", count(more, "more node")));
        }
    }
    match odds.victims() {
        Ok([]) => {}
        Ok(victims) => {
            let on = chosen.map_or_else(String::new, |node| format!(" from {node}"));
            out.line(format_args!("  evicted{on}, by share of cases:"));
            let rows: Vec<Vec<String>> = victims.iter().take(SHOWN).map(|(pod, share)| row(pod.to_string(), share)).collect();
            table(&rows, &mut out);
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
    Some((odds.first_chance().title(), out))
}

fn row(name: String, share: &Share) -> Vec<String> {
    let exact = share.to_string();
    vec![name, share.per_cent(), if exact.len() > DIGITS_SHOWN { String::new() } else { exact }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::odds::Chance;

    #[test]
    fn shares_are_exact_fractions_in_data() {
        let tie = Odds::uniform(Chance::Tie, &["a".into(), "b".into()]);
        let report = serde_json::to_value(OddsReport::of(&tie)).unwrap();
        assert_eq!(report["node"], serde_json::json!({"a": "1/2", "b": "1/2"}));
        assert_eq!((report["of"].as_str(), report["assumes"].as_array().map(Vec::len)), (Some("ties"), Some(1)));
    }
}
