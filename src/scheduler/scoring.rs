//! Runs the Score plugins of a profile; mirrors `RunScorePlugins` in `pkg/scheduler/framework/runtime/framework.go`.

use std::ops::Range;
use std::sync::Arc;

use super::runtime::{Framework, PluginRef};
use crate::cluster::Str;
use crate::framework::{Context, CycleState, NodeInfo, PARALLEL_ABOVE, PluginName, PodInfo, ScorePlugin, Status, in_parts};
use crate::trace::{NodeScore, Part, PluginScore};

impl Framework {
    /// Scores of every node, the highest first and by name where they are equal; mirrors `RunScorePlugins`.
    pub fn run_score<'a>(
        &'a self,
        cx: &Context<'_>,
        state: &CycleState,
        pod: &PodInfo,
        nodes: &[Arc<NodeInfo>],
    ) -> Result<Vec<NodeScore>, String> {
        let asked = |(plugin, weight): &'a (PluginRef, i64)| {
            let point = plugin.score().filter(|_| !state.skip_score.contains(plugin.name()))?;
            Some((plugin.name(), point, *weight))
        };
        let points: Vec<(PluginName, &'a dyn ScorePlugin, i64)> = self.score.iter().filter_map(asked).collect();
        // All plugins on some nodes after another, so that the work is spread over the cores only once.
        let some = |part: Range<usize>| -> Vec<Result<Vec<i64>, Status>> {
            points.iter().map(|(_, point, _)| point.score_all(cx, state, pod, &nodes[part.clone()])).collect()
        };
        let mut parts = if nodes.len() > PARALLEL_ABOVE { in_parts(0..nodes.len(), some) } else { vec![some(0..nodes.len())] };
        let score_max = cx.emulation.behaviour().score_max;
        let mut columns = Vec::with_capacity(points.len());
        for (i, (name, point, weight)) in points.iter().enumerate() {
            let mut raw = Vec::with_capacity(nodes.len());
            for part in &mut parts {
                let scores = std::mem::replace(&mut part[i], Ok(Vec::new()));
                raw.extend(scores.map_err(|s| format!("running Score plugins: plugin \"{name}\" failed with: {}", s.message()))?);
            }
            let mut normalized = raw.clone();
            let status = point.normalize(cx, state, pod, nodes, &mut normalized);
            if !status.is_success() {
                return Err(format!("running Normalize on Score plugins: plugin \"{name}\" failed with: {}", status.message()));
            }
            if let Some(invalid) = normalized.iter().find(|score| !(0..=score_max).contains(*score)) {
                return Err(format!(
                    "applying score defaultWeights on Score plugins: plugin \"{name}\" returns an invalid score {invalid}, it should in the range of [0, {score_max}] after normalizing"
                ));
            }
            columns.push(Column { plugin: *name, weight: *weight, raw, normalized });
        }
        Ok(ranked(nodes, &columns))
    }
}

/// What one plugin gave the nodes, in their order.
struct Column {
    plugin: PluginName,
    weight: i64,
    raw: Vec<i64>,
    normalized: Vec<i64>,
}

/// The rows of a table of scores, the highest first and by name where they are equal.
fn ranked(nodes: &[Arc<NodeInfo>], columns: &[Column]) -> Vec<NodeScore> {
    let total = |i: usize| columns.iter().map(|c| c.normalized[i] * c.weight).sum();
    let mut ranking: Vec<(i64, Str, usize)> = nodes.iter().enumerate().map(|(i, n)| (total(i), n.name().clone(), i)).collect();
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
