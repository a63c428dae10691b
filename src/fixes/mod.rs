//! Fixes: what keeps a pod out, demand by demand, and the smallest changes that let it in.
//!
//! [`find`] asks all filters about all nodes once ([`Matrix`]), proposes changes of one thing from what it sees, and takes a
//! full decision on the changed cluster for each, so that every fix that is returned works. Where no single change does, it
//! tries pairs. Nothing here makes text: [`crate::report`] does.
//!
//! | file | holds |
//! | --- | --- |
//! | `change` | changes of objects, and how each edits an object |
//! | `constraints` | the demands of a pod, and the nodes on which each fails |
//! | `trial` | a decision on a changed cluster |
//! | `search` | single changes of the pod |
//! | `cluster` | single changes of other objects |
//! | `pairs` | two changes at once |
//! | `requests`, `typo` | lower requests, names one edit apart |

mod change;
mod cluster;
mod constraints;
mod pairs;
mod requests;
mod search;
mod trial;
mod typo;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use change::{Change, Lowered, LoweredPart, NodeChange, PodChange, RequestPlace, RequirementPlace, UNSCHEDULABLE_TAINT, toleration};
pub use constraints::{Closest, Constraint, Demand, Matrix, NodeBits, Row};
pub use trial::Watch;

use crate::cluster::{Cluster, Key, Kind, Object, Pod, Str};
use crate::framework::Victim;
use crate::scheduler::{DryDecision, Operation, PostFilter, ScheduleError, ScheduleResult, Scheduler};
use crate::trace::Outcome;
use trial::{Trials, Verified, is_preempting};

/// What keeps a pod out, and what lets it in.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixes {
    /// The pod.
    pub pod: Key,
    /// How its decision ends today.
    pub outcome: Outcome,
    /// Whether it preempts today.
    pub preempts_today: bool,
    /// How many nodes there are.
    pub nodes: usize,
    /// Every demand of the pod, in the order of its spec.
    pub constraints: Vec<Constraint>,
    /// The changes that let it in, the smallest and least intrusive first.
    pub fixes: Vec<Fix>,
    /// What was searched.
    pub search: Search,
}

/// How far a search went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Decisions that were taken.
    pub trials: usize,
    /// Whether pairs of changes were tried.
    pub pairs: bool,
    /// What cut it short; `None` where every single change of the kinds that are tried was tried.
    pub cut_short_by: Option<CutShort>,
}

impl Search {
    /// Whether every single change that works is among the fixes.
    pub fn is_complete(&self) -> bool {
        self.cut_short_by.is_none()
    }
}

/// What cuts a search short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutShort {
    /// As many decisions as are allowed were taken.
    Trials(usize),
    /// It was stopped.
    Stopped,
    /// The filters are those of an old release, whose demands are not told apart.
    CombinedFilters,
    /// There are more objects of a kind than are tried one by one: how many are.
    Alike(usize),
}

/// Changes that let the pod in.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What changes, of one object each.
    pub changes: Vec<Change>,
    /// How it lets the pod in.
    pub outcome: FixOutcome,
    /// The nodes that take the pod, or all candidates of preemption, by name.
    pub nodes: Vec<Str>,
    /// The victims on each candidate, most important first.
    pub victims: BTreeMap<Str, Vec<Victim>>,
    /// Budgets that have nothing left for what the changes delete, by name.
    pub budgets: Vec<Key>,
}

/// How a fix lets the pod in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FixOutcome {
    /// A node takes it.
    Scheduled,
    /// It preempts other pods.
    Preempts,
}

impl Fix {
    fn new(changes: Vec<Change>, verified: Verified) -> Self {
        let Verified { outcome, nodes, victims } = verified;
        Self { changes, outcome, nodes, victims, budgets: Vec::new() }
    }

    /// Returns how intrusive the fix is; smaller fixes come first.
    fn rank(&self) -> (usize, u32) {
        let created = self.changes.iter().filter(|c| matches!(c, Change::Create { .. })).count();
        // What comes together counts once.
        (self.changes.len() - created.saturating_sub(1), self.changes.iter().map(rank).max().unwrap_or(0))
    }
}

/// How intrusive a change is. A change that another contains comes before it.
fn rank(change: &Change) -> u32 {
    match change {
        Change::Pod(change) => match change {
            PodChange::RemoveGates(_) | PodChange::SchedulerName { .. } => 0,
            PodChange::SetSelector { typo: true, .. } | PodChange::AddValue { typo: Some(_), .. } | PodChange::RenameSelector { .. } => 1,
            PodChange::SetSelector { .. } | PodChange::AddValue { .. } => 2,
            PodChange::MaxSkew { .. } => 4,
            PodChange::Tolerate(taint) if taint.key == UNSCHEDULABLE_TAINT => 9,
            PodChange::Tolerate(_) => 5,
            PodChange::Lower(_) => 6,
            PodChange::DropSelector { .. } => 10,
            PodChange::DropRequirement { .. } => 11,
            PodChange::DropNodeAffinity => 12,
            PodChange::DropSpread { .. } => 13,
            PodChange::DropPodTerm { anti: true, .. } => 14,
            PodChange::DropPodTerm { .. } => 15,
            PodChange::DropHostPorts(Some(_)) => 16,
            PodChange::DropHostPorts(None) => 17,
            PodChange::DropVolume(_) | PodChange::DropClaim(_) => 18,
            PodChange::Preempt => 19,
            PodChange::Priority { class: Some(_), .. } => 20,
            PodChange::Priority { .. } => 21,
        },
        Change::Node(_, NodeChange::Uncordon) => 7,
        Change::Node(_, NodeChange::RemoveTaint(_)) => 8,
        Change::Create { like: None, .. } => 22,
        Change::Delete(..) => 23,
        Change::Create { .. } => 24,
    }
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Decisions that are taken at most.
    pub trials: usize,
    /// Objects of a kind that are tried one by one, such as cordoned nodes.
    pub alike: usize,
}

impl Limits {
    /// Returns the limits that keep a search within seconds on a cluster of this many nodes.
    pub fn of(nodes: usize) -> Self {
        Self { trials: (3_000_000 / nodes.max(1)).clamp(500, 5000), alike: 200 }
    }
}

/// Returns what changes do to a cluster, an operation for each object; `None` where an object that changes is not there.
pub fn operations(cluster: &Cluster, pod: &Key, changes: &[Change]) -> Option<Vec<Operation>> {
    let mut operations = Vec::new();
    let mut edited: Vec<((Kind, Key), serde_json::Value)> = Vec::new();
    for change in changes {
        let (kind, key) = change.target(pod);
        match change {
            Change::Create { object, .. } => operations.push(Operation::Create { object: object.clone() }),
            Change::Delete(..) => operations.push(Operation::Delete { object: cluster.get(kind, &key)? }),
            Change::Pod(_) | Change::Node(..) => {
                let target = (kind, key);
                let at = if let Some(at) = edited.iter().position(|(known, _)| *known == target) {
                    at
                } else {
                    let written = serde_json::to_value(cluster.get(target.0, &target.1)?).ok()?;
                    edited.push((target, written));
                    edited.len() - 1
                };
                change.edit(&mut edited[at].1);
            }
        }
    }
    for ((kind, _), written) in edited {
        operations.push(Operation::Update { object: Object::deserialize_kind(kind, written).ok()? });
    }
    Some(operations)
}

/// Finds what keeps a pending pod out and what lets it in. `watch` is called before each trial.
pub fn find(scheduler: &Scheduler, pod: &Arc<Pod>, limits: Limits, watch: Watch<'_>) -> Fixes {
    let mut trials = Trials::new(scheduler, pod, limits.trials, watch);
    let nodes = trials.scheduler().state().snapshot().len();
    let mut fixes = Fixes {
        pod: pod.key(),
        outcome: Outcome::Unschedulable,
        preempts_today: false,
        nodes,
        constraints: Vec::new(),
        fixes: Vec::new(),
        search: Search::default(),
    };
    if let Some((_, decision)) = trials.decide(&[], PostFilter::Run) {
        fixes.outcome = decision.outcome();
        trials.preempts_today = is_preempting(&decision);
        fixes.preempts_today = trials.preempts_today;
        let gates: Vec<Str> = pod.spec.scheduling_gates.iter().map(|gate| gate.name.clone()).collect();
        match &decision {
            DryDecision::Tried(ScheduleResult::Error(ScheduleError::UnknownProfile(_))) => search::profiles(&mut trials, &mut fixes.fixes),
            DryDecision::Tried(ScheduleResult::Error(ScheduleError::Deleting(_))) => {}
            DryDecision::Gated(_) if gates.is_empty() => {}
            DryDecision::Gated(_) => gated(&mut trials, &mut fixes, gates, limits),
            DryDecision::Tried(_) => of_cluster(&mut trials, &mut fixes, limits),
        }
    }
    fixes.fixes.sort_by(|a, b| (a.rank(), a.outcome).cmp(&(b.rank(), b.outcome)).then_with(|| b.nodes.len().cmp(&a.nodes.len())));
    fixes.search.trials = trials.count();
    fixes.search.cut_short_by = trials.cut_short_by();
    fixes
}

/// A gated pod fits without its gates, or needs something else as well.
fn gated(trials: &mut Trials<'_>, fixes: &mut Fixes, gates: Vec<Str>, limits: Limits) {
    let open = Change::Pod(PodChange::RemoveGates(gates));
    let alone = trials.attempt(std::slice::from_ref(&open));
    trials.first = vec![open.clone()];
    if let Some(verified) = alone {
        fixes.fixes.push(Fix::new(vec![open], verified));
        fixes.constraints = search::constraints(trials, &matrix(trials), limits);
        return;
    }
    of_cluster(trials, fixes, limits);
    for fix in &mut fixes.fixes {
        fix.changes.insert(0, open.clone());
    }
}

fn matrix(trials: &Trials<'_>) -> Matrix {
    let pod = trials.changed_pod(&[]).unwrap_or_else(|| trials.pod().clone());
    Matrix::of(trials.scheduler(), &pod).unwrap_or_default()
}

fn of_cluster(trials: &mut Trials<'_>, fixes: &mut Fixes, limits: Limits) {
    let matrix = matrix(trials);
    fixes.constraints = search::constraints(trials, &matrix, limits);
    if fixes.outcome == Outcome::Scheduled {
        return;
    }
    if matrix.combined {
        trials.cut_short(CutShort::CombinedFilters);
    }
    search::singles(trials, &matrix, limits, &mut fixes.fixes);
    cluster::singles(trials, &matrix, limits, &mut fixes.fixes);
    if fixes.fixes.is_empty() && !trials.is_over() {
        fixes.search.pairs = true;
        pairs::pairs(trials, &matrix, limits, &mut fixes.fixes);
    }
}
