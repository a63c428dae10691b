//! The changes of objects that explain a changed decision. Each is verified: the decision about the node is taken again on the newer
//! state without the change.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::Serialize;

use super::{ChangeKind, Contrast, Differs, Facts, ObjectChange, PodDiff};
use crate::cluster::{Key, Kind, Pod, Str};
use crate::framework::{PluginName, PodInfo, node_steps};
use crate::limits::engine::RUN_STEPS_OF_RECORDED;
use crate::scheduler::{DryOptions, ObjectEdit, Scheduler};
use crate::trace::{CycleView, Outcome};

/// Limit on the changes that are taken back one by one for a node, those on the node first.
const CANDIDATES: usize = 24;

/// How changes explain a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum How {
    /// The one change does: without it the node's answer is another.
    One,
    /// Each of several: without any one of them the node's answer is another.
    Each,
    /// Only together: without all of them the node's answer is another.
    Together,
    /// No changes were found that do. Scores or the sample of nodes may.
    NotFound,
    /// The limit on trials was reached before.
    NotSearched,
}

/// The changes that explain a changed decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Because {
    /// The node whose answer changed; `None` where the reason is not one of a node.
    pub node: Option<Str>,
    /// How the changes explain it.
    pub how: How,
    /// The changes, as indexes into those of the objects.
    pub changes: Vec<usize>,
}

impl Because {
    fn of(node: Option<&Str>, how: How, changes: Vec<usize>) -> Self {
        Self { node: node.cloned(), how, changes }
    }
}

/// The rejections of a pod on a node, with the plugins; empty if it passes. `None` without the node.
type Rejections = Option<Vec<(Option<PluginName>, String)>>;

/// Steps of a trial for each change that it takes back, and for each node where that adds or removes one.
const STEPS_OF_EDIT: u64 = 30;
const STEPS_OF_ANOTHER_NODE: u64 = 1;

/// A search for explanations, within a number of trials and of their steps.
pub(super) struct Search<'a> {
    new: &'a Scheduler,
    changes: &'a [ObjectChange],
    trials: usize,
    steps: u64,
    /// The last explanation of another pod than the one that is explained, and its decisions.
    last: Option<(Arc<Contrast>, Because)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(new: &'a Scheduler, changes: &'a [ObjectChange], trials: usize, steps: u64) -> Self {
        Self { new, changes, trials, steps, last: None }
    }

    /// Returns the changes that explain why the decisions on both states differ. Pods that share their decisions share explanations too,
    /// except by changes of a pod among them.
    pub(super) fn because(&mut self, pod: &PodDiff, contrast: &Arc<Contrast>) -> Because {
        if let Some((last, because)) = &self.last
            && Arc::ptr_eq(last, contrast)
        {
            return because.clone();
        }
        let because = self.searched(pod, contrast);
        let is_of_pod = |at: &usize| self.changes[*at].kind == Kind::Pod && self.changes[*at].key == pod.pod;
        if because.how != How::NotSearched && !because.changes.iter().any(is_of_pod) {
            self.last = Some((Arc::clone(contrast), because.clone()));
        }
        because
    }

    /// Counts a trial with its steps. Returns `None` if there are none left.
    fn spend(&mut self, pod: &Key, changes: &[usize]) -> Option<()> {
        self.trials = self.trials.checked_sub(1)?;
        let snapshot = self.new.state().snapshot();
        let nodes = snapshot.len() as u64;
        let is_other_node = |at: &&usize| {
            let change = &self.changes[**at];
            change.kind == Kind::Node && matches!(change.change, ChangeKind::Created | ChangeKind::Deleted)
        };
        let other_nodes = changes.iter().filter(is_other_node).count() as u64;
        let edits = changes.len() as u64 * STEPS_OF_EDIT + other_nodes.saturating_mul(nodes).saturating_mul(STEPS_OF_ANOTHER_NODE);
        let emulation = self.new.state().config().emulation;
        let steps_of = |pod: &Arc<Pod>| node_steps(&PodInfo::with_emulation(pod.clone(), emulation), &snapshot);
        let of_node = self.new.state().cluster().pods.get(pod).map_or(1, steps_of);
        let Some(left) = self.steps.checked_sub(edits.saturating_add(nodes.saturating_mul(of_node))) else {
            self.trials = 0;
            return None;
        };
        self.steps = left;
        Some(())
    }

    fn searched(&mut self, pod: &PodDiff, Contrast { before, after, node }: &Contrast) -> Because {
        let of_queue = |facts: &Facts| matches!(facts.outcome, None | Some(Outcome::Gated | Outcome::Error));
        if of_queue(before) || of_queue(after) {
            let own = self.own(&pod.pod);
            let how = if own.is_some() { How::One } else { How::NotFound };
            return Because::of(None, how, own.into_iter().collect());
        }
        if pod.differs == Some(Differs::Nominated)
            && let Some(victims) = &after.waits_for
        {
            let ends = |change: &ObjectChange| change.kind == Kind::Pod && victims.pods.contains(&change.key);
            let ended: Vec<usize> = (0..self.changes.len()).filter(|at| ends(&self.changes[*at])).collect();
            let how = if ended.is_empty() { How::NotFound } else { How::Together };
            return Because::of(Some(&victims.node), how, ended);
        }
        let of_node = node.as_ref().map(|(node, by_pass)| self.on_node(&pod.pod, node, *by_pass));
        match of_node {
            Some(found) if found.how != How::NotFound => found,
            _ => self.together(&pod.pod, before),
        }
    }

    /// Returns changes with which the whole decision is the older one again when they are taken back: those that move pods, or else
    /// those of nodes too, or else all. Leaves out those that are not needed, as far as the trials last.
    fn together(&mut self, pod: &Key, before: &Facts) -> Because {
        let moves = |change: &ObjectChange| change.kind == Kind::Pod && change.nodes.is_some();
        let all = |limit: fn(&ObjectChange, bool) -> bool| -> Vec<usize> {
            let is_usable = |change: &ObjectChange| change.kind != Kind::Pod || change.key != *pod || change.change == ChangeKind::Updated;
            (0..self.changes.len())
                .filter(|at| is_usable(&self.changes[*at]) && limit(&self.changes[*at], moves(&self.changes[*at])))
                .collect()
        };
        let sets = [all(|_, moves| moves), all(|change, moves| moves || change.kind == Kind::Node), all(|_, _| true)];
        for mut needed in sets {
            match self.is_older(pod, before, &needed) {
                None => return Because::of(None, How::NotSearched, Vec::new()),
                Some(false) => continue,
                Some(true) => {}
            }
            let mut at = 0;
            while at < needed.len() && needed.len() > 1 {
                let rest: Vec<usize> = needed.iter().copied().filter(|other| *other != needed[at]).collect();
                match self.is_older(pod, before, &rest) {
                    Some(true) => needed = rest,
                    Some(false) => at += 1,
                    None => break,
                }
            }
            let how = if needed.len() == 1 { How::One } else { How::Together };
            return Because::of(None, how, needed);
        }
        Because::of(None, How::NotFound, Vec::new())
    }

    /// Returns whether the decision about a pod without changes is an older one; `None` if there are no trials left.
    fn is_older(&mut self, pod: &Key, before: &Facts, changes: &[usize]) -> Option<bool> {
        self.spend(pod, changes)?;
        let scheduler = self.new.with_edits(self.taken_back(changes));
        let pod = scheduler.state().cluster().pods.get(pod)?;
        let steps = AtomicU64::new(0);
        let decision = scheduler.explain_with(pod, DryOptions { all_steps: Some(&steps), ..DryOptions::default() });
        self.steps = self.steps.saturating_sub(steps.into_inner().saturating_mul(RUN_STEPS_OF_RECORDED));
        Some(!changes.is_empty() && before.differs_from(&Facts::of(&CycleView::of(&decision))).is_none())
    }

    /// Returns the edits that take changes back.
    fn taken_back(&self, changes: &[usize]) -> Vec<ObjectEdit> {
        let edit = |at: &usize| {
            let change = &self.changes[*at];
            match &change.before {
                Some(object) => ObjectEdit::Put(object.clone()),
                None => ObjectEdit::Remove(change.kind, change.key.clone()),
            }
        };
        changes.iter().map(edit).collect()
    }

    /// Returns the change of the pod itself.
    fn own(&self, pod: &Key) -> Option<usize> {
        self.changes.iter().position(|change| change.kind == Kind::Pod && change.key == *pod && change.change == ChangeKind::Updated)
    }

    /// Explains the answer of a node. `by_pass` compares only whether the pod passes; else its reasons too.
    fn on_node(&mut self, pod: &Key, node: &Str, by_pass: bool) -> Because {
        let of_node = |change: &ObjectChange| change.kind == Kind::Node && change.key.name == *node;
        if let Some(at) = self.changes.iter().position(|c| of_node(c) && matches!(c.change, ChangeKind::Created | ChangeKind::Deleted)) {
            return Because::of(Some(node), How::One, vec![at]);
        }
        let is = rejections(self.new, pod, node);
        let differs = |rejections: &Rejections| match (rejections, &is) {
            (Some(a), Some(b)) if by_pass => a.is_empty() != b.is_empty(),
            (a, b) => a != b,
        };
        let candidates = self.candidates(pod, node);
        let mut alone = Vec::new();
        for at in candidates.iter().take(CANDIDATES) {
            match self.without(pod, node, &[*at]) {
                None if alone.is_empty() => return Because::of(Some(node), How::NotSearched, Vec::new()),
                None => break,
                Some(found) if differs(&found) => alone.push(*at),
                Some(_) => {}
            }
        }
        match alone[..] {
            [] => {}
            [_] => return Because::of(Some(node), How::One, alone),
            _ => return Because::of(Some(node), How::Each, alone),
        }
        let mut needed = candidates;
        match self.without(pod, node, &needed) {
            None => return Because::of(Some(node), How::NotSearched, Vec::new()),
            Some(found) if !differs(&found) => return Because::of(Some(node), How::NotFound, Vec::new()),
            Some(_) => {}
        }
        // Halves first: of many changes few are needed.
        let mut size = needed.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < needed.len() && needed.len() > 1 {
                let end = (at + size).min(needed.len());
                let rest: Vec<usize> = needed[..at].iter().chain(&needed[end..]).copied().collect();
                match self.without(pod, node, &rest) {
                    Some(found) if !rest.is_empty() && differs(&found) => needed = rest,
                    Some(_) => at = end,
                    // The changes found so far explain it too.
                    None => return Because::of(Some(node), How::Together, needed),
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        let how = if needed.len() == 1 { How::One } else { How::Together };
        Because::of(Some(node), how, needed)
    }

    /// Returns the changes that may explain the answer of a node, those of the node and on it first.
    fn candidates(&self, pod: &Key, node: &Str) -> Vec<usize> {
        let rank = |change: &ObjectChange| match change.kind {
            Kind::Node if change.key.name == *node => 0,
            Kind::Pod if change.key == *pod => 1,
            Kind::CSINode if change.key.name == *node => 2,
            Kind::Pod if change.nodes.as_ref().is_some_and(|nodes| nodes.iter().flatten().any(|on| on == node)) => 3,
            Kind::Pod => 6,
            Kind::Node => 5,
            _ => 4,
        };
        let usable = |change: &ObjectChange| change.key != *pod || change.kind != Kind::Pod || change.change == ChangeKind::Updated;
        let mut found: Vec<usize> = (0..self.changes.len()).filter(|at| usable(&self.changes[*at])).collect();
        found.sort_by_key(|at| rank(&self.changes[*at]));
        found
    }

    /// Returns the answer of a node on the newer state without changes; `None` if there are no trials left.
    fn without(&mut self, pod: &Key, node: &Str, changes: &[usize]) -> Option<Rejections> {
        self.spend(pod, changes)?;
        Some(rejections(&self.new.with_edits(self.taken_back(changes)), pod, node))
    }
}

/// Returns the node whose answer explains two decisions that differ, and whether it is about passing.
pub(super) fn node_that_changed(before: &CycleView, after: &CycleView) -> Option<(Str, bool)> {
    let chosen = |view: &CycleView| view.scoring.selected.as_ref().map(|(node, ..)| node.clone());
    let passes = |view: &CycleView, node: &Str| view.filter.verdicts.get(node).is_some_and(|verdict| verdict.status.is_success());
    match (chosen(before), chosen(after)) {
        // It fits elsewhere, because the node of before does not pass, or because the new one does.
        (Some(old), _) if !passes(after, &old) => Some((old, true)),
        (_, Some(new)) if !passes(before, &new) => Some((new, true)),
        (None, None) => {
            let reads_alike = |node: &&Str| match (before.filter.verdicts.get(*node), after.filter.verdicts.get(*node)) {
                (Some(a), Some(b)) => a.status.reads_like(&b.status),
                _ => false,
            };
            let nodes = before.filter.verdicts.keys().chain(after.filter.verdicts.keys());
            nodes.filter(|node| !reads_alike(node)).min().map(|node| (node.clone(), false))
        }
        _ => None,
    }
}

fn rejections(scheduler: &Scheduler, pod: &Key, node: &Str) -> Rejections {
    let filters = scheduler.every_filter(pod, node)?;
    let not_asked = filters.not_asked.iter().map(|status| (status.plugin(), status.message()));
    let left_out = filters.left_out.then(|| (None, String::new()));
    let rejected = filters.rejections().map(|(plugin, status)| (Some(*plugin), status.message()));
    Some(not_asked.chain(left_out).chain(rejected).collect())
}
