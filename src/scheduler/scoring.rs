//! Runs the Score plugins of a profile; mirrors `RunScorePlugins` in `pkg/scheduler/framework/runtime/framework.go`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::ScheduleError;
use super::equivalence_cache::EquivalenceClass;
use super::runtime::{Framework, PluginRef};
use crate::cluster::Str;
use crate::framework::{Context, CycleState, NodeInfo, PluginName, PodInfo, ScorePlugin, Status, in_parts};
use crate::release::{Algorithm, RepeatedScores};
use crate::trace::{NodeScore, Part, PluginScore};

/// The scores of some nodes, in their order.
pub(super) struct Scores {
    /// Weighted sums over all plugins.
    pub(super) totals: Vec<i64>,
    /// Scores of each plugin, in profile order; empty if only the totals are kept.
    columns: Vec<Column>,
    /// Whether an extender scored the node; empty where none did.
    scored: Vec<bool>,
}

/// A plugin to run.
struct Point<'a> {
    name: PluginName,
    plugin: &'a dyn ScorePlugin,
    weight: i64,
    /// How often it is in the list, usually once.
    runs: u32,
}

impl Point<'_> {
    /// Returns raw scores in the order of the nodes, or the first error; asks only about nodes whose score is not known.
    fn score_class(
        &self,
        cx: &Context<'_>,
        state: &CycleState,
        pod: &PodInfo,
        (nodes, positions): (&[Arc<NodeInfo>], &[usize]),
        class: &mut EquivalenceClass,
    ) -> Result<Vec<i64>, Status> {
        let column = class.column(self.name);
        let (mut raw, mut missing) = (Vec::with_capacity(nodes.len()), Vec::new());
        for (i, (node, at)) in nodes.iter().zip(positions).enumerate() {
            let score = class.score(column, *at, node);
            if score.is_none() {
                missing.push(i);
            }
            raw.push(score.unwrap_or_default());
        }
        if !missing.is_empty() {
            let some: Vec<Arc<NodeInfo>> = missing.iter().map(|i| nodes[*i].clone()).collect();
            for (i, score) in missing.into_iter().zip(self.plugin.score_all(cx, state, pod, &some)?) {
                class.learn_score(column, positions[i], &nodes[i], score);
                raw[i] = score;
            }
        }
        debug_assert_eq!(Ok(&raw), self.plugin.score_all(cx, state, pod, nodes).as_ref(), "{} of {}", self.name, pod.key());
        Ok(raw)
    }
}

/// The scores of one plugin, in the order of the nodes.
#[derive(Clone)]
struct Column {
    plugin: PluginName,
    weight: i64,
    raw: Vec<i64>,
    normalized: Vec<i64>,
}

/// The answers about pods like one, and the positions of the nodes in the snapshot.
type KnownScores<'a> = (&'a mut EquivalenceClass, &'a [usize]);

impl Framework {
    /// Scores every node; mirrors `RunScorePlugins`. Keeps the scores of each plugin only with `keep_columns`. The nodes come with the
    /// answers about pods like this one, where these are kept, and their positions in the snapshot.
    ///
    /// # Errors
    /// Returns the failure of the first plugin, in profile order, that fails or returns an invalid score.
    pub(super) fn run_score(
        &self,
        cx: &Context<'_>,
        state: &CycleState,
        pod: &PodInfo,
        (nodes, mut class): (&[Arc<NodeInfo>], Option<KnownScores<'_>>),
        keep_columns: bool,
    ) -> Result<Scores, ScheduleError> {
        let points = self.score_points(state);
        let mut known: Vec<Option<Result<Vec<i64>, Status>>> = Vec::with_capacity(points.len());
        for point in &points {
            let class = class.as_mut().filter(|_| point.plugin.depends_on_node_alone());
            known.push(class.map(|(class, positions)| point.score_class(cx, state, pod, (nodes, positions), class)));
        }
        let asked: Vec<&Point<'_>> = points.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(point, _)| point).collect();
        // Each core runs all plugins on its share of the nodes, so the work is distributed once.
        let some = |part: Range<usize>| -> Vec<Result<Vec<i64>, Status>> {
            asked.iter().map(|point| point.plugin.score_all(cx, state, pod, &nodes[part.clone()])).collect()
        };
        let mut parts: Vec<_> = if asked.is_empty() { Vec::new() } else { in_parts(0..nodes.len(), some) };
        let mut next = 0;
        let release = cx.emulation.behaviour();
        let mut scores = Scores { totals: vec![0; nodes.len()], columns: Vec::new(), scored: Vec::new() };
        for (i, Point { name, plugin, weight, runs }) in points.into_iter().enumerate() {
            let raw = known[i].take().unwrap_or_else(|| {
                let given = parts.iter_mut().map(|part| std::mem::replace(&mut part[next], Ok(Vec::new())));
                let raw = given.collect::<Result<Vec<Vec<i64>>, Status>>().map(|parts| parts.concat());
                next += 1;
                raw
            });
            let raw = raw.map_err(|status| score_error(cx, name, status))?;
            let kept = keep_columns.then(|| raw.clone());
            let mut normalized = raw;
            // All runs of a plugin share its scores.
            for _ in 0..runs {
                let status = plugin.normalize(cx, state, pod, nodes, &mut normalized);
                if !status.is_success() {
                    return Err(ScheduleError::Normalize { plugin: name, status });
                }
            }
            let check = |factor: i64| {
                let checked = normalized.iter().filter(|_| release.algorithm == Algorithm::Plugins).map(|score| score * factor);
                let invalid = checked.into_iter().find(|score| !(0..=release.cycle.score_max).contains(score));
                invalid.map_or(Ok(()), |score| Err(ScheduleError::InvalidScore { plugin: name, score, max: release.cycle.score_max }))
            };
            let mut factor = 1_i64;
            let (weighted, counted) = match release.cycle.repeated_scores {
                RepeatedScores::CountedTwice => (1, runs),
                RepeatedScores::WeightedTwice => (runs, 1),
            };
            for _ in 0..weighted {
                check(factor)?;
                factor = factor.saturating_mul(weight);
            }
            for (total, score) in scores.totals.iter_mut().zip(&normalized) {
                *total += score * factor * i64::from(counted);
            }
            if let Some(raw) = kept {
                let column = Column { plugin: name, weight: factor, raw, normalized };
                scores.columns.extend((1..counted).map(|_| column.clone()));
                scores.columns.push(column);
            }
        }
        Ok(scores)
    }

    /// Returns the plugins to run: all but those that PreScore skipped, each once.
    fn score_points<'a>(&'a self, state: &CycleState) -> Vec<Point<'a>> {
        let asked = |(plugin, weight): &'a (PluginRef, i64)| {
            let point = plugin.score().filter(|_| !state.skip_score.contains(plugin.name()))?;
            Some((plugin.name(), point, *weight))
        };
        let mut points: Vec<Point<'a>> = Vec::with_capacity(self.score.len());
        for (name, plugin, weight) in self.score.iter().filter_map(asked) {
            match points.iter_mut().find(|point| point.name == name) {
                Some(point) => point.runs += 1,
                None => points.push(Point { name, plugin, weight, runs: 1 }),
            }
        }
        points
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
    /// Returns a score of one for each node, as without Score plugins and extenders.
    pub(super) fn equal(nodes: usize) -> Self {
        Self { totals: vec![1; nodes], columns: Vec::new(), scored: Vec::new() }
    }

    /// Adds what extenders gave, by node.
    pub(super) fn add(&mut self, nodes: &[Arc<NodeInfo>], sums: &BTreeMap<Str, i64>) {
        self.scored = nodes.iter().map(|node| sums.contains_key(node.name())).collect();
        for (node, total) in nodes.iter().zip(&mut self.totals) {
            *total = total.wrapping_add(sums.get(node.name()).copied().unwrap_or(0));
        }
    }

    /// Returns the names of the nodes with the highest total, by name. Of equals, those that an extender scored go first.
    /// `by_name` has the place of each node in the order of names.
    pub(super) fn best(&self, nodes: &[Arc<NodeInfo>], by_name: &[u32]) -> Vec<Str> {
        let rank = |at: usize| (self.totals[at], self.scored.get(at).copied().unwrap_or(false));
        let highest = (0..nodes.len()).map(rank).max();
        let mut best: Vec<usize> = (0..nodes.len()).filter(|at| Some(rank(*at)) == highest).collect();
        best.sort_unstable_by_key(|at| by_name[*at]);
        best.into_iter().map(|at| nodes[at].name().clone()).collect()
    }

    /// Returns the table of scores, highest total first, then by name. Needs the columns. `by_name` has the place of each node in the
    /// order of names.
    pub(super) fn table(&self, nodes: &[Arc<NodeInfo>], by_name: &[u32]) -> Vec<NodeScore> {
        let Self { totals, columns, .. } = self;
        let mut ranking: Vec<(Reverse<i64>, u32, usize)> =
            totals.iter().zip(by_name).enumerate().map(|(i, (total, by_name))| (Reverse(*total), *by_name, i)).collect();
        ranking.sort_unstable();
        let of_node = |i: usize| {
            columns.iter().map(move |Column { plugin, weight, raw, normalized }| PluginScore {
                plugin: *plugin,
                raw: raw[i],
                normalized: normalized[i] as i32,
                weighted: normalized[i] * weight,
            })
        };
        let rows: Vec<Part<PluginScore>> = Part::all(ranking.iter().map(|(_, _, i)| of_node(*i)), columns.len()).collect();
        let ranked = ranking.into_iter().zip(rows);
        ranked.map(|((Reverse(total), _, i), plugins)| NodeScore { node: nodes[i].name().clone(), plugins, total }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, node, pod};
    use super::super::{Config, Operation, Options, Scheduler};
    use crate::release::{Emulation, nearest};
    use crate::trace::Event;

    /// Schedules a pod with a profile that lists plugins at Score; returns each node with its total, or the error.
    fn totals(release: &str, listed: &str) -> String {
        let version = if release == "1.36.2" { "v1" } else { "v1beta3" };
        let text = format!(
            "apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n\
             profiles: [{{plugins: {{score: {{{listed}}}}}}}]"
        );
        let emulation = Emulation::from(nearest(release.parse().unwrap()).profile);
        let config = Config::parse(&text, emulation).unwrap();
        let objects = vec![node("a"), node("b"), pod("p", 0, 1, "", "")];
        let events = Scheduler::new(config, objects, Options { start: at(0), ..Options::default() }).apply(Operation::Schedule);
        let words = events.iter().filter_map(|event| match event {
            Event::NodeScored(row) => Some(format!("{} {}", row.node, row.total)),
            Event::AttemptFailed { failure, .. } => Some(failure.message.to_string()),
            _ => None,
        });
        words.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn plugins_that_run_twice_are_normalized_twice() {
        let of = |third| format!("enabled: [{{name: InterPodAffinity}}, {{name: ImageLocality}}, {{name: {third}, weight: 3}}]");
        assert_eq!(totals("1.28.6", &of("TaintToleration")), "a 475, b 475");
        // The best score of 100 becomes the worst.
        assert_eq!(totals("1.28.5", &of("TaintToleration")), "a 175, b 175");
        let error = "applying score defaultWeights on Score plugins: plugin \"PodTopologySpread\" returns an invalid score 300, it \
                     should in the range of [0, 100] after normalizing";
        assert_eq!(totals("1.24.4", &of("PodTopologySpread")), error);
    }

    #[test]
    fn without_score_plugins_every_node_has_a_score_of_one() {
        assert_eq!(totals("1.27.1", "disabled: [{name: '*'}]"), "a 1, b 1");
        assert_eq!(totals("1.36.2", "disabled: [{name: '*'}]"), "");
    }
}
