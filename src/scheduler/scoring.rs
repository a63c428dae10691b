//! Runs the Score plugins of a profile; mirrors `RunScorePlugins` in `pkg/scheduler/framework/runtime/framework.go`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::ScheduleError;
use super::runtime::{Framework, PluginRef};
use crate::cluster::Str;
use crate::framework::{Context, CycleState, NodeInfo, PluginName, PodInfo, ScorePlugin, Status, in_parts};
use crate::release::Algorithm;
use crate::trace::{NodeScore, Part, PluginScore};

/// The scores of some nodes, in their order.
pub struct Scores {
    /// Weighted sums over all plugins.
    pub totals: Vec<i64>,
    /// Scores of each plugin, in profile order; empty if only the totals are kept.
    columns: Vec<Column>,
    /// Whether an extender scored the node; empty where none did.
    scored: Vec<bool>,
}

/// The scores of one plugin, in the order of the nodes.
struct Column {
    plugin: PluginName,
    weight: i64,
    raw: Vec<i64>,
    normalized: Vec<i64>,
}

impl Framework {
    /// Scores every node; mirrors `RunScorePlugins`. Keeps the scores of each plugin only with `keep_columns`.
    ///
    /// # Errors
    /// Returns the failure of the first plugin, in profile order, that fails or returns an invalid score.
    pub fn run_score<'a>(
        &'a self,
        cx: &Context<'_>,
        state: &CycleState,
        pod: &PodInfo,
        nodes: &[Arc<NodeInfo>],
        keep_columns: bool,
    ) -> Result<Scores, ScheduleError> {
        let asked = |(plugin, weight): &'a (PluginRef, i64)| {
            let point = plugin.score().filter(|_| !state.skip_score.contains(plugin.name()))?;
            Some((plugin.name(), point, *weight))
        };
        let points: Vec<(PluginName, &'a dyn ScorePlugin, i64)> = self.score.iter().filter_map(asked).collect();
        // Each core runs all plugins on its share of the nodes, so the work is distributed once.
        let some = |part: Range<usize>| -> Vec<Result<Vec<i64>, Status>> {
            points.iter().map(|(_, point, _)| point.score_all(cx, state, pod, &nodes[part.clone()])).collect()
        };
        let mut parts = in_parts(0..nodes.len(), some);
        let score_max = cx.emulation.behaviour().score_max;
        let mut scores = Scores { totals: vec![0; nodes.len()], columns: Vec::new(), scored: Vec::new() };
        for (i, (name, point, weight)) in points.iter().enumerate() {
            let mut raw = Vec::with_capacity(nodes.len());
            for part in &mut parts {
                let given = std::mem::replace(&mut part[i], Ok(Vec::new()));
                raw.extend(given.map_err(|status| score_error(cx, *name, status))?);
            }
            let kept = keep_columns.then(|| raw.clone());
            let mut normalized = raw;
            let status = point.normalize(cx, state, pod, nodes, &mut normalized);
            if !status.is_success() {
                return Err(ScheduleError::Normalize { plugin: *name, status });
            }
            let checked = cx.emulation.behaviour().algorithm == Algorithm::Plugins;
            if let Some(invalid) = normalized.iter().filter(|_| checked).find(|score| !(0..=score_max).contains(*score)) {
                return Err(ScheduleError::InvalidScore { plugin: *name, score: *invalid, max: score_max });
            }
            for (total, score) in scores.totals.iter_mut().zip(&normalized) {
                *total += score * weight;
            }
            if let Some(raw) = kept {
                scores.columns.push(Column { plugin: *name, weight: *weight, raw, normalized });
            }
        }
        Ok(scores)
    }
}

/// Returns the error of an attempt in which a node cannot be scored.
fn score_error(cx: &Context<'_>, plugin: PluginName, status: Status) -> ScheduleError {
    match cx.emulation.behaviour().algorithm {
        Algorithm::Plugins => ScheduleError::Score { plugin, status },
        Algorithm::PredicatesAndPriorities => ScheduleError::PriorityCrash(status),
    }
}

impl Scores {
    /// Adds what extenders gave, by node.
    pub(super) fn add(&mut self, nodes: &[Arc<NodeInfo>], sums: &BTreeMap<Str, i64>) {
        self.scored = nodes.iter().map(|node| sums.contains_key(node.name())).collect();
        for (node, total) in nodes.iter().zip(&mut self.totals) {
            *total = total.wrapping_add(sums.get(node.name()).copied().unwrap_or(0));
        }
    }

    /// Returns the names of the nodes with the highest total, by name. Of equals, those that an extender scored go first.
    pub fn best(&self, nodes: &[Arc<NodeInfo>]) -> Vec<Str> {
        let rank = |at: usize| (self.totals[at], self.scored.get(at).copied().unwrap_or(false));
        let highest = (0..nodes.len()).map(rank).max();
        let is_best = |(at, _): &(usize, &Arc<NodeInfo>)| Some(rank(*at)) == highest;
        let mut best: Vec<Str> = nodes.iter().enumerate().filter(is_best).map(|(_, node)| node.name().clone()).collect();
        best.sort_unstable();
        best
    }

    /// Returns the table of scores, highest total first, then by name. Needs the columns.
    pub fn table(&self, nodes: &[Arc<NodeInfo>]) -> Vec<NodeScore> {
        let Self { totals, columns, .. } = self;
        let mut ranking: Vec<(i64, Str, usize)> =
            nodes.iter().zip(totals).enumerate().map(|(i, (n, total))| (*total, n.name().clone(), i)).collect();
        ranking.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut scores = Vec::with_capacity(nodes.len() * columns.len());
        for (_, _, i) in &ranking {
            scores.extend(columns.iter().map(|Column { plugin, weight, raw, normalized }| PluginScore {
                plugin: *plugin,
                raw: raw[*i],
                normalized: normalized[*i] as i32,
                weighted: normalized[*i] * weight,
            }));
        }
        let rows = Part::all(scores, columns.len()).chain(std::iter::repeat_with(|| Vec::new().into()));
        ranking.into_iter().zip(rows).map(|((total, node, _), plugins)| NodeScore { node, plugins, total }).collect()
    }
}
