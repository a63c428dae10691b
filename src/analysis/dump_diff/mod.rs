//! Two states of one cluster: the objects that changed, as far as scheduling reads them, and the pods whose decision changed.

mod cause;
mod fields;
#[cfg(test)]
mod tests;
mod words;

pub use cause::{Because, How};
pub use fields::{FieldChange, FieldPath, Step};
pub use words::written;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use rayon::prelude::*;
use serde::Serialize;
use strum::IntoEnumIterator as _;

use super::release::{ReleaseReport, decision_parts};
use super::steps;
use super::why::why;
use crate::cluster::{Cluster, Key, Kind, MissingReason, Object, Pod, Str};
use crate::framework::{EndingVictims, Victim};
use crate::limits::engine::DIFF_TRIALS;
use crate::plural::{count, count_of};
use crate::scheduler::{ObjectEdit, Scheduler, StepBound};
use crate::trace::{CycleView, Outcome, PreemptionView};
use cause::Search;
use fields::field_changes;

/// Limit on the pods that [`DumpDiff::sentences`] names.
const SENTENCES: usize = 8;

/// A state of a cluster: what it comes from, and when it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DumpState {
    /// The name of the dump.
    pub name: String,
    /// The time of the state; `None` if the dump does not show it.
    pub at: Option<Timestamp>,
}

/// How an object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It is gone.
    Deleted,
    /// It was deleted, and another one has its name.
    Replaced,
    /// Fields differ.
    Updated,
}

/// An object that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectChange {
    pub kind: Kind,
    /// Its namespace and name.
    #[serde(flatten)]
    pub key: Key,
    /// How it changed.
    pub change: ChangeKind,
    /// The fields that differ; empty for an object that is new or gone.
    pub fields: Vec<FieldChange>,
    /// The node of a pod before and after; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<[Option<Str>; 2]>,
    #[serde(skip)]
    pub(super) before: Option<Object>,
    #[serde(skip)]
    pub(super) after: Option<Object>,
}

/// A kind that is not compared, or not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotCompared {
    pub kind: Kind,
    /// Whether the older state lacks it, or a part of it; else the newer one does.
    pub in_older: bool,
    /// Why that state lacks it.
    pub why: MissingReason,
    /// Whether that state has objects of it, which are compared.
    pub in_part: bool,
    /// The number of objects that only the other state has; whether they are new or gone is unknown.
    pub objects: usize,
}

/// A decision in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Brief {
    /// The outcome; `None` if nothing was decided.
    pub outcome: Option<Outcome>,
    /// The node on which the pod fits; `None` if it fits on none.
    pub node: Option<Str>,
    /// The sentence about it.
    pub sentence: String,
}

/// The part of a decision that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Differs {
    /// The pod fits in one state only, or waits for another kind of reason, such as a gate.
    Outcome,
    /// It fits on another node.
    Node,
    /// It stays pending, and waits for the pods that were preempted for it since.
    Nominated,
    /// It stays pending, and preemption would evict other pods.
    Victims,
    /// It stays pending, for other reasons.
    Reasons,
}

/// Where a pod that was pending in the older state is in the newer one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "is", content = "node")]
pub enum Now {
    Pending,
    /// It was bound to the node.
    Bound(Str),
    /// It is deleted, or has ended.
    Gone,
    /// The newer state does not have it, and may lack it.
    Unknown,
}

/// A pod that is pending in one of the states.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodDiff {
    pub pod: Key,
    /// Whether the older state does not have it. Its decision there is that about the same pod.
    pub is_new: bool,
    /// Whether the older state may lack it, so that it may not be new.
    #[serde(skip)]
    pub may_be_old: bool,
    /// Where it is in the newer state.
    pub now: Now,
    /// The part of the decision that differs; `None` if nothing does.
    pub differs: Option<Differs>,
    /// The decision on the older state.
    pub from: Brief,
    /// The decision on the newer state; `None` for a pod that waits no more.
    pub to: Option<Brief>,
    /// The changes that explain it, verified by taking them back; `None` where they were not searched.
    pub because: Option<Because>,
    pub sentence: String,
    /// The sentence without the pod's name at its begin.
    #[serde(skip)]
    pub clause: String,
}

/// The difference between two states of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DumpDiff {
    /// The emulated release.
    pub release: ReleaseReport,
    /// The older state.
    pub from: DumpState,
    /// The newer state.
    pub to: DumpState,
    /// The pods that are pending in one of the states and differ, those with another outcome first.
    pub pods: Vec<PodDiff>,
    /// The number of pods that are pending in both, with the same decision.
    pub unchanged: usize,
    /// The objects that changed: nodes, then others by kind, then pods.
    pub changes: Vec<ObjectChange>,
    /// The kinds that one of the states lacks.
    pub not_compared: Vec<NotCompared>,
    /// The pods that are not decided, as the decisions about the others took all steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_decided: Vec<Key>,
}

/// The difference of one pod from an older state, with the changes that explain it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Since {
    /// The older state.
    pub dump: DumpState,
    /// The part of the decision that differs; `None` if nothing does.
    pub differs: Option<Differs>,
    /// The decision on the older state.
    pub from: Option<Brief>,
    /// The difference in a sentence.
    pub sentence: String,
    /// The changes that explain it.
    pub changes: Vec<ObjectChange>,
}

impl DumpDiff {
    /// Returns the difference of one pod, as the only pod that was compared.
    pub fn since(&self, pod: &Key) -> Since {
        let found = self.pods.iter().find(|diff| diff.pod == *pod);
        let because = found.and_then(|diff| diff.because.as_ref());
        let changes = because.iter().flat_map(|because| &because.changes).filter_map(|at| self.changes.get(*at)).cloned().collect();
        Since {
            dump: self.from.clone(),
            differs: found.and_then(|diff| diff.differs),
            from: found.map(|diff| diff.from.clone()),
            sentence: found.map_or_else(|| format!("The decision about {pod} is the same."), |diff| diff.sentence.clone()),
            changes,
        }
    }

    /// Compares two states of a cluster, given as schedulers on them. `wanted` selects pods. Calls `go_on` with the number of pods before
    /// each decision; `false` skips the rest.
    pub fn of(
        schedulers: [&Scheduler; 2],
        states: [DumpState; 2],
        wanted: impl Fn(&Key) -> bool,
        go_on: impl Fn(usize) -> bool + Sync,
    ) -> Self {
        Self::of_some(schedulers, states, (wanted, u64::MAX), go_on)
    }

    /// Does the same for as long as half of the bound on steps allows; the pods that are left are listed.
    pub fn within_bound(schedulers: [&Scheduler; 2], states: [DumpState; 2], wanted: impl Fn(&Key) -> bool) -> Self {
        // Explanations are searched besides.
        let most = StepBound::allowance_of_recorded(schedulers[1]) / 2;
        Self::of_some(schedulers, states, (wanted, most), |_| true)
    }

    fn of_some(
        [old, new]: [&Scheduler; 2],
        [from, to]: [DumpState; 2],
        (wanted, most): (impl Fn(&Key) -> bool, u64),
        go_on: impl Fn(usize) -> bool + Sync,
    ) -> Self {
        let clusters = [old, new].map(|scheduler| scheduler.state().cluster());
        let (changes, not_compared) = object_changes(clusters);
        let mut pods = pods(clusters, wanted);
        let not_decided = pods.split_off(within_steps(&pods, [old, new], most)).into_iter().map(|pod| pod.old.key()).collect();
        let number = pods.len();
        let alike: Vec<&[Meant]> = pods.chunk_by(|a, b| a.is_decided_like(b, [old, new])).collect();
        let decided = |alike: &[Meant]| -> Vec<(PodDiff, Option<Arc<Contrast>>)> {
            let Some(first) = alike.first().filter(|_| go_on(number)) else { return Vec::new() };
            let (of_first, contrast) = first.decide([old, new]);
            alike.iter().map(|pod| (PodDiff { pod: pod.old.key(), ..of_first.clone() }, contrast.clone())).collect()
        };
        let mut decided: Vec<(PodDiff, Option<Arc<Contrast>>)> = alike.into_par_iter().flat_map_iter(decided).collect();
        decided.sort_by(|(a, _), (b, _)| (a.rank(), &a.pod).cmp(&(b.rank(), &b.pod)));
        let unchanged = decided.iter().filter(|(pod, _)| pod.is_unchanged()).count();
        let mut search = Search::new(new, &changes, DIFF_TRIALS, StepBound::allowance(new));
        let explain = |(mut pod, contrast): (PodDiff, Option<Arc<Contrast>>)| {
            pod.because = contrast.map(|contrast| search.because(&pod, &contrast));
            pod.clause = words::clause(&pod, &changes, &not_compared);
            pod.sentence = format!("{} {}", pod.pod, pod.clause);
            pod
        };
        let pods = decided.into_iter().filter(|(pod, _)| !pod.is_unchanged()).map(explain).collect();
        let release = ReleaseReport::of(new.emulated(), &decision_parts(new.state().config()));
        Self { release, from, to, pods, unchanged, changes, not_compared, not_decided }
    }

    /// Returns a sentence about each of the first pods that differ, and the number of objects and decisions that changed.
    pub fn sentences(&self) -> Vec<String> {
        let more = self.pods.len().saturating_sub(SENTENCES);
        let more = (more > 0).then(|| format!("and {}", count(more, "more pod")));
        let objects = (!self.changes.is_empty()).then(|| format!("{} changed", count(self.changes.len(), "object")));
        let objects = objects.unwrap_or_else(|| "no object that scheduling reads changed".to_owned());
        let left =
            (!self.not_decided.is_empty()).then(|| format!("{} not decided", count_of(self.not_decided.len(), "pod is", "pods are")));
        self.pods.iter().take(SENTENCES).map(|pod| pod.sentence.clone()).chain(more).chain(left).chain([objects]).collect()
    }

    pub fn some_decision_changed(&self) -> bool {
        self.pods.iter().any(|pod| pod.differs.is_some())
    }
}

impl PodDiff {
    fn rank(&self) -> (bool, Option<Differs>) {
        (self.differs.is_none(), self.differs)
    }

    /// Returns whether it is pending in both states, with the same decision.
    fn is_unchanged(&self) -> bool {
        self.differs.is_none() && !self.is_new && self.now == Now::Pending
    }
}

/// Returns the objects that changed, and the kinds that are not compared, or not whole.
fn object_changes(clusters: [&Cluster; 2]) -> (Vec<ObjectChange>, Vec<NotCompared>) {
    let [old, new] = clusters;
    let mut kinds: Vec<Kind> = Kind::iter().collect();
    kinds.sort_by_key(|kind| match kind {
        Kind::Node => 0,
        Kind::Pod => 2,
        _ => 1,
    });
    let (mut found, mut not_compared) = (Vec::new(), Vec::new());
    for kind in kinds {
        let objects = clusters.map(|cluster| cluster.objects_of(kind));
        let mut keys: Vec<Key> = objects.iter().flatten().map(Object::key).collect();
        keys.sort();
        keys.dedup();
        // These tell only where some namespaces were read.
        let namespaces = [0, 1].map(|at| {
            let is_partial = clusters[at].unknown.why(kind) == Some(MissingReason::Partial);
            let objects: &[Object] = if is_partial { &objects[at] } else { &[] };
            objects.iter().map(|object| object.key().namespace).collect::<BTreeSet<Str>>()
        });
        let mut only_in_other = [0, 0];
        for key in keys {
            let both = clusters.map(|cluster| cluster.get(kind, &key));
            let lacking = match both {
                [None, Some(_)] => Some(0),
                [Some(_), None] => Some(1),
                _ => None,
            };
            match lacking.filter(|at| clusters[*at].unknown.may_lack(kind, || namespaces[*at].contains(&key.namespace))) {
                Some(at) => only_in_other[at] += 1,
                None => found.extend(change_of(both, kind, key)),
            }
        }
        for (at, cluster) in [old, new].into_iter().enumerate() {
            let in_part = !objects[at].is_empty();
            let other_is_known = !objects[1 - at].is_empty() || clusters[1 - at].unknown.why(kind).is_none();
            // Decisions need nodes and pods, also where no object shows that some are missing.
            let matters = if in_part { only_in_other[at] > 0 || matches!(kind, Kind::Node | Kind::Pod) } else { other_is_known };
            if let Some(why) = cluster.unknown.why(kind).filter(|_| matters) {
                not_compared.push(NotCompared { kind, in_older: at == 0, why, in_part, objects: only_in_other[at] });
            }
        }
    }
    not_compared.sort_by_key(|not| not.kind);
    (found, not_compared)
}

fn change_of([before, after]: [Option<Object>; 2], kind: Kind, key: Key) -> Option<ObjectChange> {
    let node = |object: &Option<Object>| match object {
        Some(Object::Pod(pod)) if !pod.node_name.is_empty() => Some(pod.node_name.clone()),
        _ => None,
    };
    let nodes = (kind == Kind::Pod).then(|| [node(&before), node(&after)]).filter(|nodes| nodes.iter().any(Option::is_some));
    let (change, fields) = match (&before, &after) {
        (None, None) => return None,
        (None, Some(_)) => (ChangeKind::Created, Vec::new()),
        (Some(_), None) => (ChangeKind::Deleted, Vec::new()),
        (Some(old), Some(new)) if old == new => return None,
        (Some(old), Some(new)) => {
            let fields = field_changes(old, new);
            let uids = [old, new].map(|object| &object.meta().uid);
            let is_other = uids[0] != uids[1] && uids.iter().all(|uid| !uid.is_empty());
            match is_other {
                true => (ChangeKind::Replaced, fields),
                false if fields.is_empty() => return None,
                false => (ChangeKind::Updated, fields),
            }
        }
    };
    Some(ObjectChange { kind, key, change, fields, nodes, before, after })
}

/// A pod that is pending in one of the states.
struct Meant {
    /// The pod in the older state; that of the newer one if it is new.
    old: Arc<Pod>,
    /// The pod in the newer state, if it is pending there.
    new: Option<Arc<Pod>>,
    is_new: bool,
    /// Whether the older state may lack it.
    may_be_old: bool,
    now: Now,
}

/// Returns the pods that are pending in one of the states, by namespace and name.
fn pods([old, new]: [&Cluster; 2], wanted: impl Fn(&Key) -> bool) -> Vec<Meant> {
    let pending = |cluster: &Cluster| cluster.pods.iter().filter(|pod| pod.is_pending()).map(|pod| pod.key()).collect::<Vec<_>>();
    let keys: BTreeSet<Key> = pending(old).into_iter().chain(pending(new)).filter(wanted).collect();
    let lacks_pod =
        |cluster: &Cluster, key: &Key| cluster.unknown.may_lack(Kind::Pod, || cluster.pods.in_namespace(&key.namespace).next().is_some());
    let meant = |key: Key| {
        let [before, after] = [old, new].map(|cluster| cluster.pods.get(&key));
        let same = |a: &Pod, b: &Pod| a.metadata.uid == b.metadata.uid || a.metadata.uid.is_empty() || b.metadata.uid.is_empty();
        let is_in_older = before.is_some();
        let before = before.filter(|pod| pod.is_pending());
        match (before, after) {
            (Some(old), Some(new)) if same(old, new) => {
                let now = match () {
                    () if new.is_pending() => Now::Pending,
                    () if new.is_terminal() => Now::Gone,
                    () => Now::Bound(new.node_name.clone()),
                };
                let new = (now == Now::Pending).then(|| new.clone());
                Some(Meant { old: old.clone(), new, is_new: false, may_be_old: false, now })
            }
            (_, Some(new)) if new.is_pending() => Some(Meant {
                old: new.clone(),
                new: Some(new.clone()),
                is_new: true,
                may_be_old: !is_in_older && lacks_pod(old, &key),
                now: Now::Pending,
            }),
            (Some(before), after) => {
                let is_unknown = after.is_none() && lacks_pod(new, &key);
                let now = if is_unknown { Now::Unknown } else { Now::Gone };
                Some(Meant { old: before.clone(), new: None, is_new: false, may_be_old: false, now })
            }
            _ => None,
        }
    };
    keys.into_iter().filter_map(meant).collect()
}

/// Returns how many pods, from the first on, may be decided in both states in a number of steps; see [`steps::within_steps`].
fn within_steps(pods: &[Meant], [old, new]: [&Scheduler; 2], most: u64) -> usize {
    let of_both = |pod: &Meant| {
        let after = pod.new.as_ref().map_or(0, |pod| StepBound::steps_of_recorded(new, pod));
        StepBound::steps_of_recorded(old, &pod.old).saturating_add(after)
    };
    steps::within_steps(pods, |a, b| a.is_decided_like(b, [old, new]), of_both, most)
}

impl Meant {
    /// Returns whether the decisions about the pod are those about another one, in both states.
    fn is_decided_like(&self, other: &Self, [old, new]: [&Scheduler; 2]) -> bool {
        let after = match (&self.new, &other.new) {
            (Some(one), Some(other)) => new.decides_alike(one, other),
            (None, None) => true,
            _ => false,
        };
        let of = |pod: &Self| (pod.is_new, pod.may_be_old, pod.now.clone());
        after && of(self) == of(other) && old.decides_alike(&self.old, &other.old)
    }

    fn before(&self, old: &Scheduler) -> CycleView {
        if self.is_new {
            // Its claims and group are asked for by its name.
            CycleView::of(&old.with_edits([ObjectEdit::Put(Object::Pod(self.old.clone()))]).explain(&self.old))
        } else {
            CycleView::of(&old.explain(&self.old))
        }
    }

    fn after(&self, new: &Scheduler) -> Option<CycleView> {
        self.new.as_ref().map(|pod| CycleView::of(&new.explain(pod)))
    }

    /// Decides about the pod on both states. Keeps no decisions, which are large.
    fn decide(&self, [old, new]: [&Scheduler; 2]) -> (PodDiff, Option<Arc<Contrast>>) {
        let (before, after) = (self.before(old), self.after(new));
        let facts = [Some(&before), after.as_ref()].map(|view| view.map(Facts::of));
        let from = Brief::of(&before);
        let differs = match (&facts, &self.now) {
            ([Some(before), Some(after)], _) => before.differs_from(after),
            (_, Now::Bound(node)) => match &from.node {
                None => Some(Differs::Outcome),
                Some(expected) => (expected != node).then_some(Differs::Node),
            },
            _ => None,
        };
        let contrast = match (facts, after.as_ref().filter(|_| differs.is_some())) {
            ([Some(first), Some(last)], Some(view)) => {
                Some(Arc::new(Contrast { before: first, after: last, node: cause::node_that_changed(&before, view) }))
            }
            _ => None,
        };
        let pod = PodDiff {
            pod: self.old.key(),
            is_new: self.is_new,
            may_be_old: self.may_be_old,
            now: self.now.clone(),
            differs,
            from,
            to: after.as_ref().map(Brief::of),
            because: None,
            sentence: String::new(),
            clause: String::new(),
        };
        (pod, contrast)
    }
}

/// The parts of a decision in which two can differ.
struct Facts {
    outcome: Option<Outcome>,
    node: Option<Str>,
    waits_for: Option<Arc<EndingVictims>>,
    /// The candidate that preemption chose, and its victims.
    victims: Option<(Str, BTreeSet<Key>)>,
    message: Option<Str>,
}

impl Facts {
    fn of(view: &CycleView) -> Self {
        let chosen = view.preemption.as_ref().and_then(PreemptionView::chosen);
        let message = view.failure.as_ref().map(|failure| failure.message.clone());
        Self {
            outcome: view.outcome,
            node: view.scoring.selected.as_ref().map(|(node, ..)| node.clone()),
            waits_for: view.preemption.as_ref().and_then(PreemptionView::waits_for).cloned(),
            victims: chosen.map(|chosen| (chosen.node.clone(), chosen.victims.iter().map(Victim::key).collect())),
            message: message.or_else(|| view.pre_enqueue.as_ref().map(|status| status.message().into())),
        }
    }

    /// Returns the part in which a later decision differs.
    fn differs_from(&self, after: &Self) -> Option<Differs> {
        match () {
            () if self.outcome != after.outcome => Some(Differs::Outcome),
            () if self.node != after.node => Some(Differs::Node),
            () if after.waits_for.is_some() && self.waits_for.is_none() => Some(Differs::Nominated),
            () if self.victims != after.victims => Some(Differs::Victims),
            () => (self.message != after.message).then_some(Differs::Reasons),
        }
    }
}

/// Two decisions about a pod that differ.
struct Contrast {
    before: Facts,
    after: Facts,
    /// The node whose answer explains it, and whether it is about passing.
    node: Option<(Str, bool)>,
}

impl Brief {
    fn of(view: &CycleView) -> Self {
        let node = view.scoring.selected.as_ref().filter(|_| view.outcome == Some(Outcome::Scheduled)).map(|(node, ..)| node.clone());
        Self { outcome: view.outcome, node, sentence: why(view) }
    }
}
