//! The odds of nodes over all starting nodes of the search: in clusters of 100 nodes or more kube-scheduler stops searching once enough
//! nodes fit, and the index where it starts moves with every cycle.
//!
//! Only the feasible nodes that a search finds decide, and searches that start after one feasible node and up to the next find
//! the same. So one decision is taken for each feasible node, and counts once for each start that leads to it.

use std::sync::Arc;

use rayon::prelude::*;

use super::{DecisionInput, PostFilter, Scheduler, decide, decide_quietly};
use crate::cluster::{Pod, Str};
use crate::extenders::Asking;
use crate::odds::{Chance, Odds, Share, UnknownOdds, sum_by_name};
use crate::release::Algorithm;
use crate::trace::{CycleView, Selection};

/// Starts times nodes to score that are decided at most, for a pod with a spec of [`SPEC`] bytes; fewer for a longer one.
const MOST_SCORED: usize = 3_000_000;
/// Bytes of a spec up to which a node is scored in about the same time.
const SPEC: usize = 2 << 10;

impl Scheduler {
    /// Decides about a pending pod as [`Self::explain`] does, and counts all odds, whatever their cost.
    pub fn explain_with_odds(&self, pod: &Arc<Pod>) -> CycleView {
        let input = DecisionInput { odds_nodes: usize::MAX, asking: Asking::Ask, ..self.decision_input() };
        let mut view = CycleView::of(&decide(&input, pod));
        view.odds_over_starts = self.odds_over_starts(pod, &view).map(Arc::new);
        view
    }

    /// Returns the odds of nodes for a dry decision about a pod, over all starting nodes of the search; `None` if the start changes
    /// nothing. `view` is the decision from the first start.
    pub fn odds_over_starts(&self, pod: &Arc<Pod>, view: &CycleView) -> Option<Odds> {
        let (_, why, _) = view.selected.as_ref()?;
        let (found, nodes) = (view.feasible().count(), self.state.cache.snapshot().len());
        if *why == Selection::NominatedNode || self.sampling.all_nodes || view.verdicts.len() >= nodes {
            return None;
        }
        let all = self.looking_at_all_nodes();
        let decision = all.dry_fit(pod, PostFilter::LeaveOut);
        let feasible = decision.feasible();
        if feasible.len() <= found {
            return None;
        }
        let unknown = |why| Some(Odds::unknown(Chance::Start, why));
        if self.state.config.extenders.look_at_all_nodes() {
            return unknown(UnknownOdds::Extenders);
        }
        if view.narrowed.is_some() {
            return unknown(UnknownOdds::NarrowedNodes);
        }
        if found > 1 && feasible.len().saturating_mul(found) > MOST_SCORED / (1 + pod.spec_length() / SPEC) {
            return unknown(UnknownOdds::Starts(feasible.len()));
        }
        let before = feasible.iter().cycle().skip(feasible.len() - 1);
        let starts: Vec<(usize, usize)> =
            feasible.iter().zip(before).map(|(at, before)| (*at, (at + nodes - before - 1) % nodes + 1)).collect();
        let takes_turns = self.state.config.emulation.behaviour().algorithm == Algorithm::PredicatesAndPriorities;
        let decide = |(start, count): &(usize, usize)| -> Result<Vec<(Str, Share)>, UnknownOdds> {
            let decision = decide_quietly(&DecisionInput { start: *start, ..self.decision_input() }, pod, PostFilter::LeaveOut);
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
}
