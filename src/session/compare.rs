//! Compares the ends of two branches: pods, evictions and decisions that differ.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::branch::Branch;
use super::revision::{Action, Keyframe, Revision};
use super::upgrade::UpgradeComparison;
use crate::cluster::{Cluster, Key, Str};
use crate::framework::{PluginName, Status, Victim};
use crate::scheduler::binding_under_way;
use crate::trace::{BindingUnderWay, CycleView, Event, GroupGate, Place, QueuesView};

/// Place of a pod at the end of a branch.
#[derive(Clone, Debug, PartialEq)]
pub enum PodLocation {
    /// Bound to a node.
    Node(Str),
    /// Bound to a node and terminating.
    Leaving(Str),
    /// In a queue, with the nominated node, which is empty without a nomination, and with what gates its group alone.
    Waiting(Place, Str, Option<Arc<GroupGate>>),
    /// Unbound and in no queue, and `PreBind` binds its claim.
    PreBind(BindingUnderWay),
    /// Unbound and in no queue.
    Nowhere,
    /// Deleted, or succeeded or failed.
    Gone,
    /// Never created on the branch.
    NotCreated,
}

impl std::fmt::Display for PodLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Node(node) => write!(f, "on {node}"),
            Self::Leaving(node) => write!(f, "terminating on {node}"),
            Self::Waiting(place, nominated, group_gate) => {
                match place {
                    Place::Unschedulable { .. } if let Some(gate) = group_gate => write!(f, "{gate}")?,
                    Place::Active => f.write_str("activeQ")?,
                    Place::Backoff { error: false, .. } => f.write_str("backoffQ")?,
                    Place::Backoff { error: true, .. } => f.write_str("backoffQ (error)")?,
                    Place::Unschedulable { gated_by: Some(plugin), .. } => write!(f, "gated by {plugin}")?,
                    Place::Unschedulable { plugins, gated_by: None } => {
                        let names: Vec<&str> = plugins.iter().map(PluginName::as_str).collect();
                        write!(f, "unschedulablePods ({})", names.join(", "))?;
                    }
                    Place::InFlight => f.write_str("in flight")?,
                    Place::WaitingOnPermit { node } => write!(f, "waiting on Permit for {node}")?,
                    Place::Bound { node } => write!(f, "on {node}")?,
                    Place::Gone => f.write_str("gone")?,
                }
                if nominated.is_empty() { Ok(()) } else { write!(f, ", nominated to {nominated}") }
            }
            Self::PreBind(binding) => write!(f, "waiting in PreBind: {binding}"),
            Self::Nowhere => f.write_str("in no queue"),
            Self::Gone => f.write_str("gone"),
            Self::NotCreated => f.write_str("not created"),
        }
    }
}

/// A pod whose place differs between two branches.
#[derive(Clone, Debug, PartialEq)]
pub struct PodDifference {
    pub pod: Key,
    /// Place on each branch.
    pub at: [PodLocation; 2],
}

/// Nodes whose verdicts changed in the same way.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictChange {
    /// Verdict on each branch; `None` where Filter did not run on the node.
    pub verdicts: [Option<Status>; 2],
    /// Names of the nodes, sorted.
    pub nodes: Vec<Str>,
}

/// A pod whose newest decision differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    pub pod: Key,
    /// Outcome on each branch as a short sentence; `None` where the pod was not tried since the fork.
    pub outcomes: [Option<String>; 2],
    /// Node and victims that preemption selected on each branch.
    pub victims: [Option<(Str, Vec<Key>)>; 2],
    /// Changed verdicts; empty unless the pod was tried on both branches.
    pub verdicts: Vec<VerdictChange>,
    /// Scores that moved the pod to another node; filled only when two releases are compared.
    pub scores: Vec<ScoreChange>,
}

impl Decided {
    /// Returns whether the pod is bound on both branches.
    fn is_bound(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.as_ref().is_some_and(|words| words.starts_with(BOUND)))
    }

    /// Returns whether the pod is bound on one branch only, or other victims are evicted for it.
    fn ends_otherwise(&self) -> bool {
        let [one, other] = self.outcomes.each_ref().map(|outcome| outcome.as_ref().is_some_and(|words| words.starts_with(BOUND)));
        one != other || self.victims[0] != self.victims[1]
    }
}

/// Begins the outcome of a pod that was bound.
const BOUND: &str = "bound to ";

/// A plugin's score of a node that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreChange {
    /// The plugin that scores.
    pub plugin: PluginName,
    /// Name of the node.
    pub node: Str,
    /// Weighted score on each branch; `None` where the plugin does not score.
    pub scores: [Option<i64>; 2],
}

/// Differences between the ends of two branches.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Names of the branches.
    pub names: [String; 2],
    /// Number of revisions that both share.
    pub shared: usize,
    /// Action and title of each branch's own revisions.
    pub since: [Vec<(Action, String)>; 2],
    /// Whether both were settled before they were compared.
    pub settled: bool,
    /// Pods that get from one place to another in the same way on both branches while they settle, by namespace and name.
    pub anyway: Vec<PodDifference>,
    /// Pods in different places, by namespace and name.
    pub pods: Vec<PodDifference>,
    /// Pods evicted on one branch only, in order of eviction.
    pub evicted: [Vec<Key>; 2],
    /// Pods whose newest decision differs, by namespace and name.
    pub decisions: Vec<Decided>,
    /// Pods that stay pending on both settled branches, for reasons that differ.
    pub reasons: Vec<Key>,
    /// Decisions of both releases about every pending pod; `None` where both ends have the same release.
    pub upgrade: Option<UpgradeComparison>,
}

impl Comparison {
    /// Returns whether neither branch has scheduled or decided since they diverge, and one has changes.
    pub fn decided_nothing_since(&self) -> bool {
        let actions = || self.since.iter().flatten().map(|(action, _)| action);
        actions().all(Action::is_what_if) && actions().next().is_some()
    }

    /// Compares two branches at their ends. Where the releases differ, both decide about every pending pod. `go_on` is
    /// called with the number of pods before each one; returning false cancels the remaining pods.
    pub fn of(a: &Branch, b: &Branch, go_on: impl Fn(usize) -> bool + Sync) -> Self {
        let schedulers = [a.scheduler(), b.scheduler()];
        let upgrade = differ_in_release(a, b).then(|| UpgradeComparison::of(schedulers, go_on));
        let revisions = [a.timeline().revisions(), b.timeline().revisions()];
        let shared = revisions[0].iter().zip(revisions[1]).take_while(|(x, y)| Arc::ptr_eq(&x.events, &y.events)).count();
        let since = revisions.map(|list| &list[shared..]);
        let ends = [a, b].map(|branch| branch.timeline().end());
        let evicted = since.map(evictions);
        let only = |own: &[Key], other: &[Key]| own.iter().filter(|key| !other.contains(key)).cloned().collect::<Vec<_>>();
        Self {
            names: [a.name().to_owned(), b.name().to_owned()],
            shared,
            since: since.map(|list| list.iter().map(|f| (f.action.clone(), f.title.clone())).collect()),
            settled: false,
            anyway: Vec::new(),
            pods: pods(ends, upgrade.is_some()).into_iter().map(|pod| with_origin(pod, revisions)).collect(),
            evicted: [only(&evicted[0], &evicted[1]), only(&evicted[1], &evicted[0])],
            decisions: decisions(since),
            reasons: Vec::new(),
            upgrade,
        }
    }

    /// Compares two branches after both have settled, so that only the changes on one of them make a difference. Branches of
    /// different releases are compared as they are. `go_on` is called as in [`Self::of`], and before each step.
    pub fn settled(a: &Branch, b: &Branch, go_on: impl Fn(usize) -> bool + Sync) -> Self {
        if differ_in_release(a, b) {
            return Self::of(a, b, go_on);
        }
        let as_it_is = Self::of(a, b, |_| true);
        let ends = [a, b].map(|branch| branch.settled(|| go_on(0)).0);
        let both = Self::of(&ends[0], &ends[1], &go_on);
        let first = |branch: &'_ Branch| branch.timeline().revisions().get(as_it_is.shared).cloned();
        let start =
            first(&ends[0]).or_else(|| first(&ends[1])).map_or_else(|| a.timeline().end().clone(), |revision| revision.before.clone());
        let anyway = moves_of_both(&start, ends.each_ref().map(|branch| branch.timeline().end()));
        let is_queue_only = |difference: &PodDifference| difference.at.iter().all(PodLocation::is_pending);
        let pods = both.pods.into_iter().filter(|difference| !is_queue_only(difference) || nominations_differ(difference)).collect();
        // Pods on one branch only are among those in other places.
        let tried = |decided: &Decided| decided.outcomes.iter().all(Option::is_some);
        let known = |pod: &Key| as_it_is.decisions.iter().any(|decided| decided.pod == *pod && tried(decided));
        let (decisions, others): (Vec<Decided>, Vec<Decided>) =
            both.decisions.into_iter().filter(tried).partition(|decided| known(&decided.pod) || decided.ends_otherwise());
        // The places show which are bound elsewhere.
        let reasons = others.into_iter().filter(|decided| !decided.is_bound()).map(|decided| decided.pod).collect();
        Self { since: as_it_is.since, settled: true, anyway, pods, decisions, reasons, ..both }
    }

    /// Returns whether the branches do not differ.
    pub fn is_empty(&self) -> bool {
        let upgrade = self.upgrade.as_ref().is_none_or(|u| u.otherwise.is_empty() && u.other_reasons.is_empty());
        upgrade && self.reasons.is_empty() && self.pods.is_empty() && self.evicted.iter().all(Vec::is_empty) && self.decisions.is_empty()
    }
}

/// Tells a pod that a branch never had from one that is gone.
fn with_origin(mut difference: PodDifference, revisions: [&[Arc<Revision>]; 2]) -> PodDifference {
    for (at, revisions) in difference.at.iter_mut().zip(revisions) {
        let has = |frame: &Keyframe| frame.cluster.pods.get(&difference.pod).is_some();
        let never = || !revisions.first().is_some_and(|first| has(&first.before)) && !revisions.iter().any(|one| has(&one.after));
        // Without a revision the end is all there is.
        if *at == PodLocation::Gone && never() {
            *at = PodLocation::NotCreated;
        }
    }
    difference
}

fn evictions(revisions: &[Arc<Revision>]) -> Vec<Key> {
    let events = revisions.iter().flat_map(|f| f.events.others());
    events.filter_map(|e| if let Event::VictimEvicted { pod, .. } = e { Some(Key::clone(pod)) } else { None }).collect()
}

/// Returns the pods in different places. After a change of release the queue of a pod is ignored: the new scheduler has
/// tried none yet.
fn pods(ends: [&Keyframe; 2], restarted: bool) -> Vec<PodDifference> {
    let mut keys: Vec<Key> = Vec::new();
    // An object that both ends share is the same allocation, so only the others are compared.
    for (own, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
        let touched = own.cluster.pods.iter().filter(|pod| {
            let key = pod.key();
            other.cluster.pods.get(&key).is_none_or(|twin| !Arc::ptr_eq(pod, twin))
        });
        keys.extend(touched.map(|pod| pod.key()));
        let moved = own.queues.entries.iter().filter(|(key, entry)| {
            let twin = other.queues.entries.get(*key);
            twin.is_none_or(|twin| !Arc::ptr_eq(entry, twin))
        });
        keys.extend(moved.map(|(key, _)| key.clone()));
    }
    keys.sort();
    keys.dedup();
    let difference = |pod: Key| {
        let at = ends.map(|end| whereabouts(&end.cluster, &end.queues, &pod));
        let alike = match &at {
            [PodLocation::Waiting(_, a, _), PodLocation::Waiting(_, b, _)] if restarted => a == b,
            [a, b] => a == b,
        };
        (!alike).then_some(PodDifference { pod, at })
    };
    keys.into_iter().filter_map(difference).collect()
}

/// Returns whether two branches end with different releases.
fn differ_in_release(a: &Branch, b: &Branch) -> bool {
    let [old, new] = [a, b].map(|branch| branch.scheduler().emulated().profile);
    !std::ptr::eq(old, new)
}

/// Returns whether a pod is nominated to different nodes.
fn nominations_differ(difference: &PodDifference) -> bool {
    let nominated = |at: &PodLocation| if let PodLocation::Waiting(_, node, _) = at { node.clone() } else { Str::default() };
    nominated(&difference.at[0]) != nominated(&difference.at[1])
}

/// Returns the pods that end in the same place on both branches, and not where they began.
fn moves_of_both(start: &Keyframe, ends: [&Keyframe; 2]) -> Vec<PodDifference> {
    let of_first = pods([start, ends[0]], false);
    let same_on_both = |difference: &PodDifference| {
        let is_queue_only = difference.at.iter().all(PodLocation::is_pending);
        !is_queue_only && whereabouts(&ends[1].cluster, &ends[1].queues, &difference.pod) == difference.at[1]
    };
    of_first.into_iter().filter(same_on_both).collect()
}

impl PodLocation {
    /// Returns whether the pod waits in a queue of pods that are tried again, in whichever.
    pub fn is_pending(&self) -> bool {
        matches!(self, Self::Waiting(Place::Active | Place::Backoff { .. } | Place::Unschedulable { gated_by: None, .. }, _, None))
    }

    /// Returns the place in words at the end of a run until nothing changes: a pod in a queue was tried in vain, and which queue it is
    /// in says nothing more.
    pub fn settled(&self) -> String {
        match self {
            Self::Waiting(_, nominated, _) if self.is_pending() => {
                let nominated = if nominated.is_empty() { String::new() } else { format!(", nominated to {nominated}") };
                format!("still pending{nominated}")
            }
            _ => self.to_string(),
        }
    }

    /// Returns the place of a pod. The end of a backoff is left out, so that it does not count as a difference.
    pub fn of(cluster: &Cluster, queues: &QueuesView, pod: &Key) -> Self {
        whereabouts(cluster, queues, pod)
    }
}

fn whereabouts(cluster: &Cluster, queues: &QueuesView, key: &Key) -> PodLocation {
    if let Some(entry) = queues.entries.get(key) {
        // Ignore the end of a backoff: it shifts by seconds without meaning.
        let place = match &entry.place {
            Place::Backoff { error, .. } => Place::Backoff { expires: jiff::Timestamp::UNIX_EPOCH, error: *error },
            other => other.clone(),
        };
        let group_gate = cluster.pods.get(key).and_then(|pod| queues.group_gate(pod)).cloned();
        return PodLocation::Waiting(place, entry.nominated.clone(), group_gate);
    }
    match cluster.pods.get(key) {
        None => PodLocation::Gone,
        Some(pod) if pod.is_terminal() => PodLocation::Gone,
        Some(pod) if pod.node_name.is_empty() => binding_under_way(cluster, pod).map_or(PodLocation::Nowhere, PodLocation::PreBind),
        Some(pod) if pod.is_terminating() => PodLocation::Leaving(pod.node_name.clone()),
        Some(pod) => PodLocation::Node(pod.node_name.clone()),
    }
}

fn decisions(since: [&[Arc<Revision>]; 2]) -> Vec<Decided> {
    let newest = since.map(newest_decisions);
    let keys: Vec<&Key> = {
        let mut keys: Vec<&Key> = newest.iter().flat_map(BTreeMap::keys).collect();
        keys.sort();
        keys.dedup();
        keys
    };
    let decided = |pod: &Key| {
        let views = [0, 1].map(|i: usize| newest[i].get(pod).map(|revision| revision.events.cycle_view_of(pod)));
        let outcomes = [0, 1].map(|i: usize| views[i].as_ref().map(outcome));
        let victims = [0, 1].map(|i: usize| views[i].as_ref().and_then(victims));
        let verdicts = match &views {
            [Some(a), Some(b)] => verdict_changes(a, b, same),
            _ => Vec::new(),
        };
        let differs = outcomes[0] != outcomes[1] || victims[0] != victims[1] || !verdicts.is_empty();
        differs.then(|| Decided { pod: pod.clone(), outcomes, victims, verdicts, scores: Vec::new() })
    };
    keys.into_iter().filter_map(decided).collect()
}

fn newest_decisions(revisions: &[Arc<Revision>]) -> BTreeMap<Key, &Revision> {
    // The cycle of a pod group starts one for each member.
    let pods = |revision: &'_ Revision| -> Vec<Key> {
        revision
            .events
            .others()
            .iter()
            .filter_map(|e| if let Event::CycleStarted(start) = e { Some(start.pod.clone()) } else { None })
            .collect()
    };
    revisions.iter().flat_map(|revision| pods(revision).into_iter().map(|pod| (pod, &**revision))).collect()
}

pub(super) fn outcome(view: &CycleView) -> String {
    match (&view.effects.bound, &view.scoring.selected, &view.failure) {
        (Some(node), ..) => format!("{BOUND}{node}"),
        (None, Some((node, ..)), None) => format!("fits on {node}"),
        (_, _, Some(failure)) => failure.message.to_string(),
        _ => view.outcome.map_or_else(|| "undecided".to_owned(), |o| o.to_string()),
    }
}

pub(super) fn victims(view: &CycleView) -> Option<(Str, Vec<Key>)> {
    let preemption = view.preemption.as_ref()?;
    let (node, _) = preemption.selected()?;
    let victims = preemption.chosen().map(|c| c.victims.iter().map(Victim::key).collect());
    Some((node.clone(), victims.unwrap_or_default()))
}

/// Returns whether two verdicts read the same. Ignores by how much a resource is short.
fn same(a: Option<&Status>, b: Option<&Status>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.reads_like(b),
        (a, b) => a == b,
    }
}

/// Returns the nodes whose verdicts are not `same`, grouped by the change.
pub(super) fn verdict_changes(a: &CycleView, b: &CycleView, same: fn(Option<&Status>, Option<&Status>) -> bool) -> Vec<VerdictChange> {
    let mut changes: Vec<VerdictChange> = Vec::new();
    let (mut of_a, mut of_b) = (a.filter.verdicts.iter().peekable(), b.filter.verdicts.iter().peekable());
    while let Some(node) = [of_a.peek(), of_b.peek()].into_iter().flatten().map(|(node, _)| *node).min() {
        let pair = [&mut of_a, &mut of_b].map(|verdicts| verdicts.next_if(|(of, _)| *of == node).map(|(_, verdict)| &verdict.status));
        if same(pair[0], pair[1]) {
            continue;
        }
        let alike = |change: &VerdictChange| (0..2).all(|i| same(change.verdicts[i].as_ref(), pair[i]));
        match changes.iter_mut().find(|change| alike(change)) {
            Some(change) => change.nodes.push(node.clone()),
            None => changes.push(VerdictChange { verdicts: pair.map(Option::<&Status>::cloned), nodes: vec![node.clone()] }),
        }
    }
    changes
}
