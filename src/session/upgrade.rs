//! Compares the decisions of two releases of kube-scheduler about each pending pod, decided on its own.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::compare::{Decided, ScoreChange, VerdictChange, outcome, verdict_changes, victims};
use crate::cluster::{Key, MissingKinds, Pod, Str};
use crate::framework::{PluginName, Status};
use crate::release::Release;
use crate::scheduler::{DryOptions, Scheduler};
use crate::trace::CycleView;

/// Dry decisions of two schedulers about one pod.
#[derive(Clone, Debug)]
pub struct PodDecisions {
    pub pod: Key,
    /// Decision of each scheduler.
    pub views: [CycleView; 2],
    /// The steps that both took, about.
    pub steps: u64,
}

/// Returns outcome, selected node and victims, without the wording.
#[allow(clippy::type_complexity, reason = "compared as a whole and nothing else")]
fn effect(view: &CycleView) -> (Option<String>, Option<&Str>, Option<(Str, Vec<Key>)>) {
    let victims = victims(view).map(|(node, mut victims)| {
        // Releases list the same victims in different orders.
        victims.sort();
        (node, victims)
    });
    (view.outcome.map(|o| o.to_string()), view.scoring.selected.as_ref().map(|(node, ..)| node), victims)
}

/// Returns whether two verdicts mean the same, translated to one release's wording.
fn means_the_same(a: Option<&Status>, b: Option<&Status>) -> bool {
    let plain = |status: &Status| (status.code(), status.clone().in_words_of(Release::default()).message());
    match (a, b) {
        (Some(a), Some(b)) if a.code() == b.code() && a.surely_reads_like_in_one_release(b) => true,
        (Some(a), Some(b)) => plain(a) == plain(b),
        (a, b) => a == b,
    }
}

impl PodDecisions {
    /// Makes each scheduler's dry decision about its own version of a pod.
    pub fn of(schedulers: [&Scheduler; 2], pods: [&Arc<Pod>; 2]) -> Self {
        let steps = AtomicU64::new(0);
        let options = DryOptions { all_steps: Some(&steps), ..DryOptions::default() };
        let views = [0, 1].map(|i: usize| CycleView::of(&schedulers[i].explain_with(pods[i], options)));
        Self { pod: pods[0].key(), views, steps: steps.into_inner() }
    }

    /// Returns whether the outcome, the node or a victim differs.
    pub fn differs(&self) -> bool {
        effect(&self.views[0]) != effect(&self.views[1])
    }

    /// Returns the differences apart from wording; `None` without any.
    pub fn decided(&self) -> Option<Decided> {
        let [a, b] = &self.views;
        let found = Decided {
            pod: self.pod.clone(),
            outcomes: self.views.each_ref().map(|view| Some(outcome(view))),
            victims: self.views.each_ref().map(victims),
            verdicts: verdict_changes(a, b, means_the_same),
            scores: self.score_changes(),
        };
        (self.differs() || !found.verdicts.is_empty()).then_some(found)
    }

    /// Returns the scores that moved the pod to another node.
    fn score_changes(&self) -> Vec<ScoreChange> {
        let [a, b] = &self.views;
        let (Some((from, ..)), Some((to, ..))) = (&a.scoring.selected, &b.scoring.selected) else { return Vec::new() };
        if from == to {
            return Vec::new();
        }
        let score = |view: &CycleView, node: &Str, plugin: PluginName| {
            view.scoring.scores.get(node)?.plugins.iter().find(|p| p.plugin == plugin).map(|p| p.weighted)
        };
        let mut plugins: Vec<PluginName> = Vec::new();
        for view in [a, b] {
            let rows = view.scoring.scores.get(from).into_iter().chain(view.scoring.scores.get(to));
            plugins.extend(rows.flat_map(|row| row.plugins.iter().map(|p| p.plugin)));
        }
        plugins.sort_unstable();
        plugins.dedup();
        let change = |plugin: PluginName, node: &Str| {
            let scores = [score(a, node, plugin), score(b, node, plugin)];
            (scores[0] != scores[1]).then(|| ScoreChange { plugin, node: node.clone(), scores })
        };
        plugins.into_iter().flat_map(|plugin| [from, to].map(|node| change(plugin, node))).flatten().collect()
    }
}

/// Decisions of two releases about the pending pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpgradeComparison {
    /// Short version of each release.
    pub versions: [String; 2],
    /// Number of pending pods that were compared.
    pub pods: usize,
    /// Pods whose outcome, node or victims differ, by namespace and name.
    pub otherwise: Vec<Decided>,
    /// Pods whose verdicts alone differ, by namespace and name.
    pub other_reasons: Vec<Decided>,
    /// The kinds that the source left unknown.
    pub unknown: MissingKinds,
}

impl UpgradeComparison {
    /// Compares the decisions of two schedulers about every pod that is pending for both. `go_on` is called with the
    /// number of pods before each one; returning false cancels the remaining pods.
    pub fn of(schedulers: [&Scheduler; 2], go_on: impl Fn(usize) -> bool + Sync) -> Self {
        let pending = pending(schedulers);
        let count = pending.len();
        let decided: Vec<Option<(bool, Decided)>> = pending
            .into_par_iter()
            .filter_map(|pods| {
                if !go_on(count) {
                    return None;
                }
                let decisions = PodDecisions::of(schedulers, [&pods[0], &pods[1]]);
                Some(decisions.decided().map(|decided| (decisions.differs(), decided)))
            })
            .collect();
        let versions = schedulers.map(|s| s.emulated().version());
        let unknown = schedulers[0].state().cluster().unknown;
        let mut found = Self { versions, pods: decided.len(), unknown, ..Self::default() };
        for (otherwise, decided) in decided.into_iter().flatten() {
            found.push(otherwise, decided);
        }
        found
    }

    /// Adds the differences between two decisions about a pod.
    pub fn add(&mut self, decisions: &PodDecisions) {
        if let Some(decided) = decisions.decided() {
            self.push(decisions.differs(), decided);
        }
    }

    fn push(&mut self, otherwise: bool, decided: Decided) {
        let list = if otherwise { &mut self.otherwise } else { &mut self.other_reasons };
        list.push(decided);
    }
}

/// Returns the pods that are pending in both clusters and have a profile in both schedulers, by namespace and name.
/// Each pair holds the pod of either cluster.
pub fn pending(schedulers: [&Scheduler; 2]) -> Vec<[Arc<Pod>; 2]> {
    let [a, b] = schedulers.map(Scheduler::state);
    let ours = |pod: &Pod| pod.is_pending() && [a, b].iter().all(|state| state.config().profile(&pod.spec.scheduler_name).is_some());
    let pods = a.cluster().pods.iter().filter(|pod| ours(pod));
    let both = pods.filter_map(|pod| Some([pod.clone(), b.cluster().pods.get(&pod.key()).filter(|pod| ours(pod))?.clone()]));
    let mut found: Vec<[Arc<Pod>; 2]> = both.collect();
    found.sort_by_cached_key(|pods| pods[0].key());
    found
}

impl VerdictChange {
    /// Returns whether only the status code differs, and with it whether eviction might help.
    pub fn is_of_code(&self) -> bool {
        let [Some(a), Some(b)] = &self.verdicts else { return false };
        a.code() != b.code() && a.message() == b.message()
    }
}
