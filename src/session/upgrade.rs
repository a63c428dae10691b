//! Pending pods as kube-schedulers of two releases decide about them, each pod on its own.

use std::sync::Arc;

use rayon::prelude::*;

use super::compare::{Decided, ScoreChange, VerdictChange, outcome, verdict_changes, victims};
use crate::cluster::{Key, Pod, Str};
use crate::framework::{PluginName, Status};
use crate::release::Release;
use crate::scheduler::Scheduler;
use crate::trace::CycleView;

/// What two schedulers decide about a pod, without consequences.
#[derive(Clone, Debug)]
pub struct PodDecisions {
    /// The pod.
    pub pod: Key,
    /// The decisions.
    pub views: [CycleView; 2],
}

/// Where a pod goes and whom that costs, without the words for it.
#[allow(clippy::type_complexity, reason = "compared as a whole and nothing else")]
fn effect(view: &CycleView) -> (Option<String>, Option<&Str>, Option<(Str, Vec<Key>)>) {
    let victims = victims(view).map(|(node, mut victims)| {
        // Releases list the same victims in different orders.
        victims.sort();
        (node, victims)
    });
    (view.outcome.map(|o| o.to_string()), view.selected.as_ref().map(|(node, ..)| node), victims)
}

/// Whether two verdicts say the same, whichever words their releases have for it.
fn means_the_same(a: Option<&Status>, b: Option<&Status>) -> bool {
    let plain = |status: &Status| (status.code(), status.clone().in_words_of(Release::default()).message());
    match (a, b) {
        (Some(a), Some(b)) => plain(a) == plain(b),
        (a, b) => a == b,
    }
}

impl PodDecisions {
    /// Lets two schedulers decide about a pod as each of them knows it.
    pub fn of(schedulers: [&Scheduler; 2], pods: [&Arc<Pod>; 2]) -> Self {
        let views = [0, 1].map(|i: usize| CycleView::of(&schedulers[i].explain(pods[i])));
        Self { pod: pods[0].key(), views }
    }

    /// Returns whether the outcome, the node or a victim differs.
    pub fn differs(&self) -> bool {
        effect(&self.views[0]) != effect(&self.views[1])
    }

    /// Returns what differs, words apart; `None` where nothing does.
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

    /// Returns the scores that moved the pod from one node to another.
    fn score_changes(&self) -> Vec<ScoreChange> {
        let [a, b] = &self.views;
        let (Some((from, ..)), Some((to, ..))) = (&a.selected, &b.selected) else { return Vec::new() };
        if from == to {
            return Vec::new();
        }
        let score = |view: &CycleView, node: &Str, plugin: PluginName| {
            view.scores.get(node)?.plugins.iter().find(|p| p.plugin == plugin).map(|p| p.weighted)
        };
        let mut plugins: Vec<PluginName> = Vec::new();
        for view in [a, b] {
            let rows = view.scores.get(from).into_iter().chain(view.scores.get(to));
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

/// Pending pods as two releases decide about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpgradeComparison {
    /// The releases, in short.
    pub versions: [String; 2],
    /// How many pending pods were compared.
    pub pods: usize,
    /// Pods whose outcome, node or victims differ, by namespace and name.
    pub otherwise: Vec<Decided>,
    /// Pods with the same outcome for other reasons, by namespace and name.
    pub other_reasons: Vec<Decided>,
}

impl UpgradeComparison {
    /// Compares the decisions of two schedulers about every pod that is pending for both. `go_on` is told of each pod that
    /// is done and of how many, and stops the rest.
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
        let mut found = Self { versions, pods: decided.len(), ..Self::default() };
        for (otherwise, decided) in decided.into_iter().flatten() {
            found.push(otherwise, decided);
        }
        found
    }

    /// Adds what differs in the decisions about a pod.
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

/// Returns the pods that wait for a node in both clusters and that both schedulers have a profile for, as each cluster has
/// them, by namespace and name.
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
    /// Returns whether only the code differs: whether eviction might help.
    pub fn is_of_code(&self) -> bool {
        let [Some(a), Some(b)] = &self.verdicts else { return false };
        a.code() != b.code() && a.message() == b.message()
    }
}
