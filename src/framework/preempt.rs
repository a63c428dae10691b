//! The records of preemption: the steps and results of dry runs. Mirrors `pkg/scheduler/framework/preemption/types.go`,
//! and keeps every removal and reprieve in order.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jiff::{SignedDuration, Timestamp};

use super::{ExtenderCall, NodeInfo, PodInfo, SharedList, Status};
use crate::cluster::{Key, Pod, Str};
use crate::odds::Odds;

pub use crate::release::ScoreFunctionName;

/// The record of one preemption. The engine builds it once; events and views share it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreemptionRecord {
    /// Why the pod may not preempt; `None` if it may.
    pub ineligible: Option<Status>,
    /// The pods whose end it waits for instead; `None` if it waits for none.
    pub waits_for: Option<Arc<EndingVictims>>,
    /// Whether DefaultPreemption was not reached, and the record shows only the candidates that it would have found.
    pub hypothetical: bool,
    /// Nodes that eviction might help, in walking order.
    pub potential_nodes: SharedList<Str>,
    /// Index into [`Self::potential_nodes`] where the dry run started.
    pub offset: usize,
    /// The number of candidates to find.
    pub wanted_candidates: usize,
    /// The dry runs of single nodes.
    pub dry_runs: DryRuns,
    /// The extenders that had a say in the candidates, in order.
    pub extender_calls: Vec<Arc<ExtenderCall>>,
    /// The candidates that extenders left, by node name; `None` where none had a say, or one failed.
    pub after_extenders: Option<Vec<Candidate>>,
    /// The score functions of the release, in order.
    pub tie_break: &'static [ScoreFunctionName],
    /// The score functions that ran, in order; empty with fewer than two candidates.
    pub score_functions: Vec<ScoreFunction>,
    /// Candidates still tied after the last score function, by name. The first is nominated. Empty if none was chosen.
    pub best: SharedList<Str>,
    /// Pods whose nomination to the selected node is cleared, in order.
    pub cleared_nominations: Vec<Key>,
    /// How likely each outcome is, where chance has a say; a quiet run leaves it out.
    pub odds: Option<Arc<Odds>>,
}

/// Pods that terminate on the node to which their preemptor is nominated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingVictims {
    pub node: Str,
    /// The pods, by name.
    pub pods: Vec<Key>,
    /// The end of the longest grace period; `None` if it is unknown.
    pub until: Option<Timestamp>,
    /// The time of the attempt.
    pub now: Timestamp,
}

/// The time after a grace period by which a pod is gone, unless something holds it.
const OVERDUE: SignedDuration = SignedDuration::from_secs(60);

impl EndingVictims {
    /// Returns whether they should have ended: a finalizer may hold them, or their kubelet does not answer.
    pub fn are_overdue(&self) -> bool {
        self.until.is_some_and(|until| self.now.duration_since(until) > OVERDUE)
    }
}

impl PreemptionRecord {
    /// Returns the node that is nominated.
    pub fn selected(&self) -> Option<&Str> {
        self.best.first()
    }

    /// Returns the nodes where eviction makes room, by node name.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.dry_runs.by_name().filter_map(|run| run.candidate.as_ref())
    }

    /// Returns the candidates that are chosen among, by node name: those that extenders left, where any had a say.
    pub fn final_candidates(&self) -> impl Iterator<Item = &Candidate> {
        let own = self.after_extenders.is_none().then(|| self.candidates());
        self.after_extenders.iter().flatten().chain(own.into_iter().flatten())
    }

    /// Returns the candidate that a node is among those that are chosen among.
    pub fn final_candidate(&self, node: &str) -> Option<&Candidate> {
        match &self.after_extenders {
            Some(left) => left.iter().find(|candidate| candidate.node == node),
            None => self.dry_runs.get(node).and_then(|run| run.candidate.as_ref()),
        }
    }

    /// Returns a record with the dry run of the selected node alone, and without the choice among candidates.
    #[must_use]
    pub fn selected_alone(&self) -> Self {
        let node = self.selected();
        let run = node.and_then(|node| self.dry_runs.get(node)).cloned();
        let left =
            self.after_extenders.as_ref().map(|left| left.iter().filter(|candidate| Some(&candidate.node) == node).cloned().collect());
        Self {
            ineligible: self.ineligible.clone(),
            waits_for: self.waits_for.clone(),
            hypothetical: self.hypothetical,
            dry_runs: run.into_iter().collect::<Vec<_>>().into(),
            after_extenders: left,
            best: node.cloned().into_iter().collect(),
            cleared_nominations: self.cleared_nominations.clone(),
            ..Self::default()
        }
    }

    /// Returns the victims on the selected node, most important first, or as the extender that was asked last lists them.
    pub fn victims(&self) -> impl Iterator<Item = &Victim> {
        let chosen = self.selected().and_then(|node| self.final_candidate(node));
        chosen.into_iter().flat_map(|candidate| &candidate.victims)
    }

    /// Returns the victims on the selected node that this preemption evicts, most important first. Victims that are
    /// already terminating are left out.
    pub fn evictions(&self) -> impl Iterator<Item = &Victim> {
        self.victims().filter(|victim| !victim.is_terminating())
    }
}

/// Dry runs in the order in which the nodes were tried, with an index by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DryRuns {
    runs: Vec<Arc<NodeDryRun>>,
    /// Indices into [`Self::runs`], by node name.
    by_name: Vec<u32>,
}

impl From<Vec<Arc<NodeDryRun>>> for DryRuns {
    fn from(runs: Vec<Arc<NodeDryRun>>) -> Self {
        let mut by_name: Vec<u32> = (0..).take(runs.len()).collect();
        by_name.sort_unstable_by(|a, b| runs[*a as usize].node.cmp(&runs[*b as usize].node));
        Self { runs, by_name }
    }
}

impl DryRuns {
    /// Makes the list where the place of each run's node in the order of names is known.
    pub fn ranked(runs: Vec<Arc<NodeDryRun>>, rank: impl Fn(usize) -> u32) -> Self {
        let mut by_name: Vec<u32> = (0..).take(runs.len()).collect();
        by_name.sort_unstable_by_key(|at| rank(*at as usize));
        Self { runs, by_name }
    }

    /// Returns the dry runs in the order in which the nodes were tried.
    pub fn in_order(&self) -> &[Arc<NodeDryRun>] {
        &self.runs
    }

    pub fn by_name(&self) -> impl Iterator<Item = &Arc<NodeDryRun>> {
        self.indices_by_name().map(|at| &self.runs[at])
    }

    /// Returns indices into [`Self::in_order`], by node name.
    pub fn indices_by_name(&self) -> impl Iterator<Item = usize> {
        self.by_name.iter().map(|at| *at as usize)
    }

    /// Returns the index into [`Self::in_order`] of a node's dry run.
    pub fn index_of(&self, node: &str) -> Option<usize> {
        let found = self.by_name.binary_search_by(|at| self.runs[*at as usize].node.as_str().cmp(node)).ok()?;
        Some(self.by_name[found] as usize)
    }

    pub fn get(&self, node: &str) -> Option<&Arc<NodeDryRun>> {
        self.index_of(node).map(|at| &self.runs[at])
    }
}

/// The dry run on one node. A quiet run keeps only how it ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeDryRun {
    pub node: Str,
    /// Pods of lower priority, in the order of removal.
    pub removed: Removed,
    /// The filters' answer with all of them removed; `None` if a removal failed.
    pub filtered: Option<Status>,
    /// Pods that were put back, in order.
    pub put_back: PutBacks,
    /// The result of the run. Success with victims makes a candidate, unless enough were found before.
    pub status: Status,
    /// The candidate, if this node is one.
    pub candidate: Option<Candidate>,
    /// Whether pods that were put back are equal in importance, so that their order is left to chance.
    pub has_ties: bool,
}

/// Pods that were removed, in order.
#[derive(Clone)]
pub struct Removed(RemovedPods);

#[derive(Clone)]
enum RemovedPods {
    List(Vec<Arc<PodInfo>>),
    /// Places on the node, which cost less to keep.
    On(Arc<NodeInfo>, Box<[u32]>),
}

impl Default for Removed {
    fn default() -> Self {
        Self(RemovedPods::List(Vec::new()))
    }
}

impl From<Vec<Arc<PodInfo>>> for Removed {
    fn from(list: Vec<Arc<PodInfo>>) -> Self {
        Self(RemovedPods::List(list))
    }
}

impl Removed {
    /// Makes the list of the pods at places of a node.
    pub fn on(node: Arc<NodeInfo>, places: &[u32]) -> Self {
        Self(RemovedPods::On(node, places.into()))
    }

    /// Returns how many pods were removed.
    pub fn len(&self) -> usize {
        match &self.0 {
            RemovedPods::List(list) => list.len(),
            RemovedPods::On(_, places) => places.len(),
        }
    }

    /// Returns whether none was.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a pod by its number, from 0.
    pub fn get(&self, number: usize) -> Option<&Arc<PodInfo>> {
        match &self.0 {
            RemovedPods::List(list) => list.get(number),
            RemovedPods::On(node, places) => places.get(number).map(|place| node.at(*place).info()),
        }
    }

    /// Returns the pods, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<PodInfo>> {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}

impl PartialEq for Removed {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|info| info.key())).finish()
    }
}

/// Pods that were put back, in order.
#[derive(Clone)]
pub struct PutBacks(PutBackPods);

#[derive(Clone)]
enum PutBackPods {
    List(Vec<PutBack>),
    /// Places on the node, which cost less to keep, and the list once it was asked for. Most dry runs of a full cluster put nothing back.
    On(Box<(PutBacksOn, OnceLock<Box<[PutBack]>>)>),
}

/// The pods at places of a node that were put back. The answers and budgets that several share are listed once.
#[derive(Clone)]
pub struct PutBacksOn {
    node: Arc<NodeInfo>,
    pods: Vec<PutBackAt>,
    statuses: Vec<Status>,
    budgets: Vec<Arc<CoveringBudgets>>,
}

/// The pod at a place, with its entries in the two lists.
#[derive(Clone, Copy)]
struct PutBackAt {
    place: u32,
    /// [`NO_ENTRY`] if it was reprieved.
    status: u32,
    /// [`NO_ENTRY`] if no budget covers the pod.
    budgets: u32,
}

const NO_ENTRY: u32 = u32::MAX;

impl PutBacksOn {
    /// Makes an empty list with room for some pods.
    pub fn new(node: Arc<NodeInfo>, room: usize) -> Self {
        Self { node, pods: Vec::with_capacity(room), statuses: Vec::new(), budgets: Vec::new() }
    }

    /// Adds a pod, with the budgets that cover it and the filters' answer with the pod back.
    #[inline]
    pub fn push(&mut self, place: u32, budgets: Option<&Arc<CoveringBudgets>>, status: &Status) {
        let budgets = budgets.map_or(NO_ENTRY, |budgets| entry(&mut self.budgets, budgets, |known| Arc::ptr_eq(known, budgets)));
        let status = match status.address() {
            _ if status.is_success() => NO_ENTRY,
            address => entry(&mut self.statuses, status, |known| known.address() == address),
        };
        self.pods.push(PutBackAt { place, status, budgets });
    }

    fn put_back(&self, at: &PutBackAt) -> PutBack {
        let victim = Victim::new(self.node.at(at.place).info().clone(), self.budgets.get(at.budgets as usize).cloned());
        PutBack { victim, status: self.statuses.get(at.status as usize).cloned().unwrap_or_default() }
    }
}

/// Returns the number of an entry, which is added unless it is one of the last few in the list.
#[inline]
fn entry<T: Clone>(list: &mut Vec<T>, new: &T, is_same: impl Fn(&T) -> bool) -> u32 {
    const LOOKED_AT: usize = 4;
    let from = list.len().saturating_sub(LOOKED_AT);
    let at = list[from..].iter().rposition(is_same).map_or(list.len(), |at| from + at);
    if at == list.len() {
        list.push(new.clone());
    }
    at as u32
}

impl Default for PutBacks {
    fn default() -> Self {
        Self(PutBackPods::List(Vec::new()))
    }
}

impl From<Vec<PutBack>> for PutBacks {
    fn from(list: Vec<PutBack>) -> Self {
        Self(PutBackPods::List(list))
    }
}

impl PutBacks {
    /// Makes the list of pods at places of a node.
    pub fn on(pods: PutBacksOn) -> Self {
        Self(PutBackPods::On(Box::new((pods, OnceLock::new()))))
    }

    /// Returns how many pods were put back.
    pub fn len(&self) -> usize {
        match &self.0 {
            PutBackPods::List(list) => list.len(),
            PutBackPods::On(on) => on.0.pods.len(),
        }
    }

    /// Returns whether none was.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pods, in order.
    pub fn list(&self) -> &[PutBack] {
        match &self.0 {
            PutBackPods::List(list) => list,
            PutBackPods::On(on) => {
                let (on, list) = &**on;
                list.get_or_init(|| on.pods.iter().map(|at| on.put_back(at)).collect())
            }
        }
    }
}

impl PartialEq for PutBacks {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.list() == other.list()
    }
}

impl fmt::Debug for PutBacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list().fmt(f)
    }
}

/// A pod that was put back on its node.
#[derive(Clone, Debug, PartialEq)]
pub struct PutBack {
    /// The pod.
    pub victim: Victim,
    /// The filters' answer with the pod back. Success reprieves it; any other answer removes it again.
    pub status: Status,
}

impl NodeDryRun {
    /// Returns how many steps the run took.
    pub fn len(&self) -> usize {
        self.removed.len() + usize::from(self.filtered.is_some()) + self.put_back.len()
    }

    /// Returns whether the run has no steps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a step by its number, from 0.
    pub fn step(&self, number: usize) -> Option<DryRunStep<'_>> {
        if let Some(info) = self.removed.get(number) {
            return Some(DryRunStep::Removed(&info.pod));
        }
        let filtered = self.filtered.as_ref()?;
        let Some(number) = number.checked_sub(self.removed.len() + 1) else { return Some(DryRunStep::Filtered(filtered)) };
        self.put_back.list().get(number).map(|PutBack { victim, status }| {
            if status.is_success() { DryRunStep::Reprieved(victim) } else { DryRunStep::NotReprieved(victim, status) }
        })
    }

    /// Returns all steps, in order.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = DryRunStep<'_>> {
        (0..self.len()).filter_map(|number| self.step(number))
    }
}

/// One step of a dry run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DryRunStep<'a> {
    /// A pod of lower priority was removed from the node.
    Removed(&'a Arc<Pod>),
    /// The filters' answer with all of them removed.
    Filtered(&'a Status),
    /// A pod was put back and is reprieved.
    Reprieved(&'a Victim),
    /// A pod was put back, the filters rejected, and the pod was removed again.
    NotReprieved(&'a Victim, &'a Status),
}

impl<'a> DryRunStep<'a> {
    /// Returns the pod that was removed or put back.
    pub fn pod(self) -> Option<&'a Arc<Pod>> {
        match self {
            Self::Removed(pod) => Some(pod),
            Self::Filtered(_) => None,
            Self::Reprieved(victim) | Self::NotReprieved(victim, _) => Some(victim.pod()),
        }
    }

    /// Returns the pod that was put back, with its budgets.
    pub fn put_back(self) -> Option<&'a Victim> {
        match self {
            Self::Removed(_) | Self::Filtered(_) => None,
            Self::Reprieved(victim) | Self::NotReprieved(victim, _) => Some(victim),
        }
    }
}

/// A pod of lower priority, and the effect of its eviction on budgets.
#[derive(Clone)]
pub struct Victim {
    pod: VictimPod,
    /// `None` where no budget covers the pod.
    budgets: Option<Arc<CoveringBudgets>>,
    /// Whether it goes because its group goes.
    with_group: bool,
}

/// A pod, or its place on a node, so that a dry run of many nodes does not fetch every pod.
#[derive(Clone)]
enum VictimPod {
    Alone(Arc<PodInfo>),
    On(Arc<NodeInfo>, u32),
}

impl Victim {
    /// Makes a victim; `budgets` is `None` if no budget covers the pod.
    #[inline]
    pub fn new(info: Arc<PodInfo>, budgets: Option<Arc<CoveringBudgets>>) -> Self {
        Self { pod: VictimPod::Alone(info), budgets, with_group: false }
    }

    /// Makes a victim of the pod at a place of a node.
    #[inline]
    pub fn on(node: Arc<NodeInfo>, place: u32, budgets: Option<Arc<CoveringBudgets>>) -> Self {
        Self { pod: VictimPod::On(node, place), budgets, with_group: false }
    }

    /// Marks a pod that is evicted because its whole group is.
    #[must_use]
    pub fn with_group(self) -> Self {
        Self { with_group: true, ..self }
    }

    /// Returns the group with which the pod is evicted as a whole.
    pub fn group(&self) -> Option<Key> {
        self.pod().group_key().filter(|_| self.with_group)
    }

    /// Returns the pod with its derived data.
    #[inline]
    pub fn info(&self) -> &Arc<PodInfo> {
        match &self.pod {
            VictimPod::Alone(info) => info,
            VictimPod::On(node, place) => node.at(*place).info(),
        }
    }

    pub fn pod(&self) -> &Arc<Pod> {
        &self.info().pod
    }

    /// Returns the pod's namespace and name.
    pub fn key(&self) -> Key {
        self.info().key()
    }

    /// Returns the pod's priority.
    #[inline]
    pub fn priority(&self) -> i32 {
        match &self.pod {
            VictimPod::Alone(info) => info.priority(),
            VictimPod::On(node, place) => node.at(*place).priority(),
        }
    }

    /// Returns `status.startTime`, in nanoseconds since 1970; `None` counts as now.
    pub fn start_time(&self) -> Option<i64> {
        match &self.pod {
            VictimPod::Alone(info) => info.start_time(),
            VictimPod::On(node, place) => node.at(*place).start_time(),
        }
    }

    /// Returns whether the pod is already terminating.
    #[inline]
    pub fn is_terminating(&self) -> bool {
        self.pod().is_terminating()
    }

    /// Returns kind and name of the workload, such as `Deployment reports`; `None` without a controller.
    pub fn owner(&self) -> Option<String> {
        let (kind, name) = self.pod().owner()?.workload;
        Some(format!("{kind} {name}"))
    }

    /// Returns the budgets that the eviction would violate, by name, with the disruptions each had left before it.
    pub fn violates(&self) -> impl Iterator<Item = BudgetViolation<'_>> {
        self.budgets.iter().flat_map(|budgets| budgets.violated())
    }

    /// Returns whether the eviction would violate a budget.
    #[inline]
    pub fn violates_any(&self) -> bool {
        self.budgets.as_ref().is_some_and(|budgets| budgets.is_violated())
    }

    /// Returns the budgets that cover the pod and still allow its eviction, by name.
    pub fn covered_by(&self) -> impl Iterator<Item = &Str> {
        self.budgets.iter().flat_map(|budgets| budgets.allowing())
    }
}

impl PartialEq for Victim {
    /// Most victims that are compared are one pod in two dry runs.
    fn eq(&self, other: &Self) -> bool {
        let (one, another) = (self.info(), other.info());
        let same_pod = Arc::ptr_eq(one, another) || one == another;
        same_pod && self.with_group == other.with_group && self.budgets == other.budgets
    }
}

impl fmt::Debug for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Victim({}, {:?})", self.key(), self.budgets)
    }
}

/// The answers of the budgets that cover a pod to its eviction, by name. Pods that the same budgets cover share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoveringBudgets {
    budgets: Arc<[CoveringBudget]>,
    /// The disruptions that each of the first budgets had left before the pod; [`Self::ALLOWS`] for one that allows it.
    left: Vec<i32>,
}

/// A budget that covers pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoveringBudget {
    /// The budget's name, in the namespace of the pods.
    pub name: Str,
    /// `status.disruptionsAllowed` at the start.
    pub allowed: i32,
}

/// A budget that the eviction of a pod violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetViolation<'a> {
    /// The budget's name, in the pod's namespace.
    pub budget: &'a Str,
    /// `status.disruptionsAllowed` at the start.
    pub allowed: i32,
    /// Disruptions left before this pod; below zero once overdrawn.
    pub left: i32,
}

impl CoveringBudgets {
    const ALLOWS: i32 = i32::MAX;

    /// Takes the answers of the first of some budgets. `left` are the disruptions that each had left before the pod; `None` if the
    /// budget has already counted the pod.
    pub fn new(budgets: Arc<[CoveringBudget]>, left: impl IntoIterator<Item = Option<i32>>) -> Self {
        let left = left.into_iter().map(Self::shown).collect();
        Self { budgets, left }
    }

    /// Returns whether these are the answers where the first budgets had these disruptions left; see [`Self::new`].
    pub(crate) fn is_of(&self, left: &[Option<i32>]) -> bool {
        self.left.iter().copied().eq(left.iter().copied().map(Self::shown))
    }

    fn shown(left: Option<i32>) -> i32 {
        left.filter(|left| *left <= 0).unwrap_or(Self::ALLOWS)
    }

    /// Returns whether the eviction violates a budget.
    pub fn is_violated(&self) -> bool {
        self.left.iter().any(|left| *left != Self::ALLOWS)
    }

    /// Returns the budgets with no disruptions left, by name.
    pub fn violated(&self) -> impl Iterator<Item = BudgetViolation<'_>> {
        let violated = self.answers().filter(|(_, left)| *left != Self::ALLOWS);
        violated.map(|(budget, left)| BudgetViolation { budget: &budget.name, allowed: budget.allowed, left })
    }

    /// Returns the budgets that allow the eviction, by name.
    pub fn allowing(&self) -> impl Iterator<Item = &Str> {
        self.answers().filter(|(_, left)| *left == Self::ALLOWS).map(|(budget, _)| &budget.name)
    }

    fn answers(&self) -> impl Iterator<Item = (&CoveringBudget, i32)> {
        self.budgets.iter().zip(self.left.iter().copied())
    }
}

/// A node where eviction makes room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    pub node: Str,
    /// The pods to evict, most important first.
    pub victims: Vec<Victim>,
    /// How many of them violate a budget.
    pub pdb_violations: i64,
}

/// A function that chooses among candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreFunction {
    /// Which function.
    pub name: ScoreFunctionName,
    /// The score of each remaining candidate, by node name; higher is better.
    pub scores: Vec<(Str, i64)>,
    /// The candidates with the highest score, by node name.
    pub remaining: SharedList<Str>,
}

/// Returns nanoseconds since 1970, saturating at 64 bits.
#[inline]
pub fn unix_nanoseconds(time: Timestamp) -> i64 {
    let nanoseconds = time.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests;
