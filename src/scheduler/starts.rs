//! The odds of nodes over all starting nodes of the search: in clusters of 100 nodes or more kube-scheduler stops searching once enough
//! nodes fit, and the index where it starts moves with every cycle.
//!
//! Only the feasible nodes that a search finds decide, and searches that start after one feasible node and up to the next find
//! the same. Where the scores allow it, one pass over them counts all these searches ([`super::ring`]). Elsewhere one decision is
//! taken for each feasible node, and counts once for each start that leads to it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::ring::Ring;
use super::{DryOptions, PostFilter, Scheduler};
use crate::cluster::{Pod, Str};
use crate::limits::engine::{ODDS_SCORED, ODDS_SCORED_ASKED, ODDS_TOTALS};
use crate::odds::{Chance, Odds, Share, UnknownOdds, sum_by_name};
use crate::release::Algorithm;
use crate::trace::{CycleView, Event, NodeScore, Selection};

/// Bytes of a spec up to which a node is scored in about the same time.
const SPEC: usize = 2 << 10;

/// How much work odds are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OddsEffort {
    /// Odds that cost little.
    Little,
    /// All that can be counted.
    Asked,
}

impl OddsEffort {
    /// Returns the number of nodes that may be scored one by one.
    fn most_scored(self) -> usize {
        match self {
            Self::Little => ODDS_SCORED,
            Self::Asked => ODDS_SCORED_ASKED,
        }
    }
}

impl Scheduler {
    /// Returns the odds of nodes for a dry decision about a pod, over all starting nodes of the search; `None` if the start changes
    /// nothing. `view` is the decision from the first start.
    pub fn odds_over_starts(&self, pod: &Arc<Pod>, view: &CycleView, effort: OddsEffort) -> Option<Odds> {
        self.odds_over_starts_counting(pod, view, effort, &AtomicU64::new(0))
    }

    /// Does the same, and adds the steps of its decisions, as [`DryOptions::all_steps`].
    pub(crate) fn odds_over_starts_counting(
        &self,
        pod: &Arc<Pod>,
        view: &CycleView,
        effort: OddsEffort,
        steps: &AtomicU64,
    ) -> Option<Odds> {
        let counting = DryOptions { all_steps: Some(steps), ..DryOptions::default() };
        let (_, why, _) = view.scoring.selected.as_ref()?;
        let (found, nodes) = (view.feasible().count(), self.state.cache.snapshot().len());
        if *why == Selection::NominatedNode || self.sampling.all_nodes || view.filter.verdicts.len() >= nodes {
            return None;
        }
        let all = self.looking_at_all_nodes();
        let decision = all.dry_decision(pod, DryOptions { only_fit: true, post_filter: PostFilter::LeaveOut, ..counting });
        let feasible = decision.feasible();
        if feasible.len() <= found {
            return None;
        }
        let unknown = |why| Some(Odds::unknown(Chance::Start, why));
        if self.state.config.extenders.look_at_all_nodes() {
            return unknown(UnknownOdds::Extenders);
        }
        if view.pre_filter.narrowed.is_some() {
            return unknown(UnknownOdds::NarrowedNodes);
        }
        let before = feasible.iter().cycle().skip(feasible.len() - 1);
        let starts: Vec<(usize, usize)> =
            feasible.iter().zip(before).map(|(at, before)| (*at, (at + nodes - before - 1) % nodes + 1)).collect();
        if found > 1
            && let Some(odds) = self.odds_in_one_pass(pod, &all, (found, &starts), counting)
        {
            return Some(odds);
        }
        if found > 1 && feasible.len().saturating_mul(found) > effort.most_scored() / (1 + pod.spec_length() / SPEC) {
            let starts = feasible.len();
            return unknown(if effort == OddsEffort::Little { UnknownOdds::NotCounted(starts) } else { UnknownOdds::Starts(starts) });
        }
        let takes_turns = self.state.config.emulation.behaviour().algorithm == Algorithm::PredicatesAndPriorities;
        let decide = |(start, count): &(usize, usize)| -> Result<Vec<(Str, Share)>, UnknownOdds> {
            let decision = self.dry_decision(pod, DryOptions { start: *start, post_filter: PostFilter::LeaveOut, ..counting });
            match decision.best() {
                [] => Err(UnknownOdds::OtherOutcome),
                [_, _, ..] if takes_turns => Err(UnknownOdds::Turns),
                best => Ok(best.iter().map(|node| (node.clone(), Share::new(*count as u64, (nodes * best.len()) as u64))).collect()),
            }
        };
        let cases: Result<Vec<Vec<(Str, Share)>>, UnknownOdds> = starts.par_iter().map(decide).collect();
        match cases {
            Err(why) => unknown(why),
            Ok(cases) => {
                let tied = cases.iter().any(|case| case.len() > 1);
                let odds = Odds::counted(Chance::Start, sum_by_name(cases.into_iter().flatten(), nodes as u32));
                Some(if tied { odds.and(Chance::Tie) } else { odds })
            }
        }
    }

    /// Returns the odds from the scores of one decision over all nodes; `None` where windows of nodes cannot share scores.
    fn odds_in_one_pass(
        &self,
        pod: &Arc<Pod>,
        all: &Self,
        (found, starts): (usize, &[(usize, usize)]),
        counting: DryOptions<'_>,
    ) -> Option<Odds> {
        let behaviour = self.state.config.emulation.behaviour();
        if behaviour.algorithm != Algorithm::Plugins {
            return None;
        }
        let events = all.explain_with(pod, DryOptions { odds_nodes: 0, ..counting });
        let scores: Vec<&NodeScore> =
            events.iter().filter_map(|event| if let Event::NodeScored(row) = event { Some(&**row) } else { None }).collect();
        let snapshot = self.state.cache.snapshot();
        let names = starts.iter().map(|(at, _)| snapshot.nodes()[*at].name().clone()).collect();
        let ring = Ring::new(names, &scores, behaviour.affinity.range)?;
        let counts: Vec<usize> = starts.iter().map(|(_, count)| *count).collect();
        let (shares, tied) = ring.shares(found, &counts, snapshot.len(), ODDS_TOTALS).ok()?;
        let odds = Odds::counted(Chance::Start, sum_by_name(shares, snapshot.len() as u32));
        Some(if tied { odds.and(Chance::Tie) } else { odds })
    }
}
