//! The odds of nodes over all starting nodes of the search, by one pass over the scores of all feasible nodes.
//!
//! A search from any start finds as many feasible nodes, one after another around the ring of nodes: a window. The raw scores of a node
//! are the same in every window, and normalizing changes them only where the lowest or the highest raw score of the window changes. So
//! the windows fall into runs with the same normalization; within a run the nodes with the highest total are those of a sliding maximum.

use std::collections::{BTreeMap, VecDeque};

use crate::cluster::Str;
use crate::framework::PluginName;
use crate::odds::Share;
use crate::plugins::helper::default_normalize_score;
use crate::plugins::inter_pod_affinity::normalize_in_range;
use crate::release::AffinityRange;
use crate::trace::NodeScore;

/// How a plugin's scores depend on the other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Normalization {
    /// Not at all.
    None,
    /// By the highest raw score; reversed if it is a penalty.
    Highest { reverse: bool },
    /// By the lowest and the highest raw score.
    Range,
}

impl Normalization {
    /// Returns that of a plugin; `None` if its scores depend on the nodes in another way.
    fn of(plugin: PluginName) -> Option<Self> {
        Some(match plugin {
            PluginName::TaintToleration => Self::Highest { reverse: true },
            PluginName::NodeAffinity | PluginName::DynamicResources => Self::Highest { reverse: false },
            PluginName::InterPodAffinity => Self::Range,
            PluginName::ImageLocality
            | PluginName::NodePreferAvoidPods
            | PluginName::NodeResourcesBalancedAllocation
            | PluginName::NodeResourcesFit
            | PluginName::NodeResourcesLeastAllocated
            | PluginName::NodeResourcesMostAllocated
            | PluginName::VolumeBinding => Self::None,
            _ => return None,
        })
    }
}

/// The scores of one plugin, in the order of the ring.
struct Column {
    normalization: Normalization,
    weight: i64,
    raw: Vec<i64>,
    /// As a decision over all nodes normalizes them.
    normalized: Vec<i64>,
}

/// The feasible nodes in the order of the search, with their scores.
pub(super) struct Ring {
    names: Vec<Str>,
    columns: Vec<Column>,
    affinity_range: AffinityRange,
}

/// More steps than the limit would be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManySteps;

impl Ring {
    /// Reads the scores of a decision over all nodes, of the feasible nodes in their order; `None` if a plugin's scores depend on the
    /// nodes in a way that windows cannot share.
    pub(super) fn new(names: Vec<Str>, scores: &[&NodeScore], affinity_range: AffinityRange) -> Option<Self> {
        let by_name: BTreeMap<&Str, &NodeScore> = scores.iter().map(|score| (&score.node, *score)).collect();
        let rows: Vec<&NodeScore> = names.iter().map(|name| by_name.get(name).copied()).collect::<Option<_>>()?;
        let first = rows.first()?;
        let mut columns = Vec::new();
        for (i, score) in first.plugins.iter().enumerate() {
            // A plugin that is listed twice is normalized twice.
            if first.plugins.iter().filter(|other| other.plugin == score.plugin).count() > 1 {
                return None;
            }
            let of = |row: &&NodeScore| row.plugins.get(i).copied().filter(|other| other.plugin == score.plugin);
            let column: Vec<_> = rows.iter().map(of).collect::<Option<_>>()?;
            let weight = column.iter().find(|score| score.normalized != 0).map_or(0, |score| score.weighted / i64::from(score.normalized));
            columns.push(Column {
                normalization: Normalization::of(score.plugin)?,
                weight,
                raw: column.iter().map(|score| score.raw).collect(),
                normalized: column.iter().map(|score| i64::from(score.normalized)).collect(),
            });
        }
        Some(Self { names, columns, affinity_range })
    }

    /// Returns the share of each node over all windows of `found` nodes, and whether a window has several nodes with the highest score.
    /// `counts` are the starts that lead to each window, by its first node, out of `nodes`.
    ///
    /// # Errors
    /// When more than `steps` totals would be computed.
    pub(super) fn shares(
        &self,
        found: usize,
        counts: &[usize],
        nodes: usize,
        steps: usize,
    ) -> Result<(Vec<(Str, Share)>, bool), TooManySteps> {
        let ring = self.names.len();
        let ranges: Vec<Vec<(i64, i64)>> = self.columns.iter().map(|column| column.ranges(found)).collect();
        // Of each node, the starts whose windows it wins, by the number of nodes that win with it.
        let mut won: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); ring];
        let (mut begin, mut used) = (0, 0);
        while begin < ring {
            let same = |window: &usize| ranges.iter().all(|range| range[*window] == range[begin]);
            let end = (begin..ring).take_while(same).last().map_or(begin + 1, |last| last + 1);
            used += end - begin + found;
            if used > steps {
                return Err(TooManySteps);
            }
            let totals = self.totals(begin, end - begin + found - 1);
            win(&totals, begin, found, &counts[begin..end], &mut won);
            begin = end;
        }
        let tied = won.iter().any(|won| won.keys().any(|ties| *ties > 1));
        let shares = self
            .names
            .iter()
            .zip(&won)
            .flat_map(|(name, won)| won.iter().map(move |(ties, starts)| (name.clone(), Share::new(*starts, (nodes * ties) as u64))));
        Ok((shares.collect(), tied))
    }

    /// Returns the totals of consecutive nodes from one on, normalized among themselves.
    fn totals(&self, begin: usize, count: usize) -> Vec<i64> {
        let ring = self.names.len();
        let mut totals = vec![0; count];
        for Column { normalization, weight, raw, normalized } in &self.columns {
            let from = |scores: &[i64]| -> Vec<i64> { (begin..begin + count).map(|at| scores[at % ring]).collect() };
            let mut scores = from(if *normalization == Normalization::None { normalized } else { raw });
            match normalization {
                Normalization::None => {}
                Normalization::Highest { reverse } => default_normalize_score(*reverse, &mut scores),
                Normalization::Range => normalize_in_range(self.affinity_range, &mut scores),
            }
            totals.iter_mut().zip(scores).for_each(|(total, score)| *total += score * weight);
        }
        totals
    }
}

impl Column {
    /// Returns the lowest and the highest raw score of each window, as far as normalizing depends on them.
    fn ranges(&self, found: usize) -> Vec<(i64, i64)> {
        let highest = || sliding(&self.raw, found, |new, old| new >= old);
        match self.normalization {
            Normalization::None => vec![(0, 0); self.raw.len()],
            Normalization::Highest { .. } => highest().into_iter().map(|highest| (0, highest)).collect(),
            Normalization::Range => sliding(&self.raw, found, |new, old| new <= old).into_iter().zip(highest()).collect(),
        }
    }
}

/// Returns the first element of each window around a ring that no later one of it `replaces`.
fn sliding(values: &[i64], found: usize, replaces: impl Fn(i64, i64) -> bool) -> Vec<i64> {
    let ring = values.len();
    let mut kept: VecDeque<usize> = VecDeque::new();
    let mut result = Vec::with_capacity(ring);
    for at in 0..ring + found - 1 {
        while kept.back().is_some_and(|last| replaces(values[at % ring], values[last % ring])) {
            kept.pop_back();
        }
        kept.push_back(at);
        if at + 1 >= found {
            let begin = at + 1 - found;
            while kept.front().is_some_and(|first| *first < begin) {
                kept.pop_front();
            }
            result.extend(kept.front().map(|first| values[first % ring]));
        }
    }
    result
}

/// Adds the starts of each window to the nodes with its highest total. `totals` are those of the nodes from `begin` on.
fn win(totals: &[i64], begin: usize, found: usize, counts: &[usize], won: &mut [BTreeMap<usize, u64>]) {
    let (ring, windows) = (won.len(), counts.len());
    // Windows in which each node has the highest total: those without a greater one before or behind it.
    let (mut from, mut until) = (vec![0; totals.len()], vec![windows; totals.len()]);
    let mut greater: Vec<usize> = Vec::new();
    for at in 0..totals.len() {
        while let Some(last) = greater.last().copied().filter(|last| totals[*last] < totals[at]) {
            until[last] = until[last].min((at + 1).saturating_sub(found));
            greater.pop();
        }
        from[at] = (at + 1).saturating_sub(found);
        // Equals below the nearest greater one stay on the stack.
        let nearest = greater.partition_point(|before| totals[*before] > totals[at]);
        if let Some(before) = nearest.checked_sub(1).map(|i| greater[i]) {
            from[at] = from[at].max(before + 1);
        }
        until[at] = until[at].min(at + 1);
        greater.push(at);
    }
    let mut ties = vec![0_i64; windows + 1];
    for (from, until) in from.iter().zip(&until).filter(|(from, until)| from < until) {
        ties[*from] += 1;
        ties[*until] -= 1;
    }
    // Runs of windows with as many winners, and the starts before each window.
    let (mut runs, mut starts): (Vec<(usize, usize)>, Vec<u64>) = (Vec::new(), vec![0]);
    let mut winners = 0;
    for (window, count) in counts.iter().enumerate() {
        winners += ties[window];
        if runs.last().is_none_or(|(_, last)| *last as i64 != winners) {
            runs.push((window, winners as usize));
        }
        starts.push(starts[window] + *count as u64);
    }
    for (at, (from, until)) in from.into_iter().zip(until).enumerate().filter(|(_, (from, until))| from < until) {
        let first = runs.partition_point(|(begin, _)| *begin <= from).saturating_sub(1);
        for (i, (begin_of_run, winners)) in runs.iter().enumerate().skip(first).take_while(|(_, (begin, _))| *begin < until) {
            let end_of_run = runs.get(i + 1).map_or(windows, |(begin, _)| *begin);
            let sum = starts[end_of_run.min(until)] - starts[(*begin_of_run).max(from)];
            if sum > 0 {
                *won[(begin + at) % ring].entry(*winners).or_default() += sum;
            }
        }
    }
}

#[cfg(test)]
mod tests;
