//! Finds fixes: the demands that keep a pod out, and the smallest changes that let it in.
//!
//! [`find`] runs all filters on all nodes once ([`Matrix`]), derives single changes from the result, and makes a full
//! decision on the changed cluster for each, so that every returned fix works. Without a single change that works, it
//! tries pairs. [`crate::report`] makes the text.
//!
//! A search is complete if every single change that works is among the fixes, with these meanings of single change:
//!
//! - Values: of the values that a key of `nodeSelector` or a requirement can have, those of nodes that take the pod once the
//!   demand is dropped. If such nodes exist, a value that would need an eviction is left out.
//! - Amounts: the largest request (bytes in whole mebibytes), number of devices or the least `maxSkew`, priority and PriorityClass that
//!   works. Each covers all beyond it.
//! - The whole node affinity, all host ports and all selectors of a device request are dropped only where no part
//!   of them suffices.
//! - Deletions: per node, the least important pod whose deletion lets the pod fit. Pods of DaemonSets and static pods
//!   come back at once.
//! - Provisioning: objects of the names that the pod or its claims refer to, each by every class that may serve, and a
//!   volume where no class does.
//! - Taints: not those with an owner that says that the node goes or does not run; of one on a new node only the toleration, as a last
//!   resort. See [`crate::cluster::Taint::owned`].
//! - Templates: a pod that is made anew must be admitted by an API server.
//! - Nodes: one more per group of nodes that differ in nothing that scheduling reads except name and pods.
//!
//! Every limit that leaves out one of these is recorded as [`CutShort`].
//!
//! | file | holds |
//! | --- | --- |
//! | `change` | changes of objects, and how each edits an object |
//! | `constraints` | the demands of a pod, and the nodes on which each fails |
//! | `trial` | a decision on a changed cluster |
//! | `search` | single changes of the pod |
//! | `cluster` | single changes of nodes |
//! | `deletions` | the pods whose deletion makes room |
//! | `storage` | claims, classes and volumes that the pod's volumes lack |
//! | `devices` | resource claims and device classes |
//! | `nodes_needed` | how many new nodes take all of some pods |
//! | `pairs` | two changes at once |
//! | `reaction` | the reaction of controllers to a fix |
//! | `effort` | the cost of a fix, and last resorts |
//! | `daemons` | the node of a DaemonSet's pod |
//! | `rollout` | what a rollout may take away first |
//! | `background` | objects that a search reads and scheduling does not |
//! | `admitted` | the admission of changed pods |
//! | `alike` | fixes of equal nodes |
//! | `shared` | a fix made to all pods that wait for the same reasons |
//! | `requests`, `typo` | lower requests, names one edit apart |

mod admitted;
mod alike;
mod background;
mod change;
mod cluster;
mod constraints;
mod daemons;
mod deletions;
mod devices;
mod effort;
mod nodes_needed;
mod pairs;
mod reaction;
mod requests;
mod rollout;
mod search;
mod shared;
mod storage;
mod trial;
mod typo;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use admitted::admitted;
pub use background::Background;
pub use change::{
    Change, ClaimChange, Lowered, LoweredPart, NodeChange, PodChange, RequestPath, RequestPlace, RequirementPlace, UNSCHEDULABLE_TAINT,
    toleration,
};
pub use cluster::another as another_node;
pub use constraints::{Closest, Constraint, Demand, Matrix, NodeBits, Row, Without};
pub use devices::Devices;
pub use effort::{Acts, Effort, LastResort};
pub use nodes_needed::{NodesNeeded, nodes_needed};
pub use reaction::{Reaction, Recreated, Siblings};
pub use shared::{freed, freed_with_group, operations_of_all};
pub use storage::provisions;
pub use trial::Watch;
pub(crate) use trial::count_values;

use crate::admission::Refusal;
use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Cluster, Key, Kind, Object, OwnedTaint, Pod, Str, Taint};
use crate::framework::{Reason, Status, Victim};
use crate::limits::engine::{FIXES_STEPS, GROUP_STEPS};
use crate::release::Gate;
use crate::scheduler::{DryDecision, Operation, PostFilter, ScheduleError, ScheduleResult, Scheduler};
use crate::trace::{GroupView, Outcome};
use effort::rank;
use trial::{Trials, Verified, preempting, takers};

/// Returns an object with all its fields, also those that scheduling does not read; `None` if its source cannot be read again.
pub type Originals<'a> = &'a dyn Fn(Kind, &Key) -> Option<serde_json::Value>;

/// Demands that keep a pod out, and changes that let it in.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixes {
    pub pod: Key,
    /// Outcome of the decision without changes.
    pub outcome: Outcome,
    /// How preemption makes room without changes; `None` where it does not.
    pub preempts_today: Option<PreemptsToday>,
    /// The pod for which others were preempted that are still ending, so that no fix is needed: this one or another of its pod
    /// group; `None` where the pod waits for no victims.
    pub waits_for_victims_of: Option<Key>,
    /// Those pods, where they should have ended.
    pub overdue_victims: Vec<Key>,
    /// Number of nodes.
    pub nodes: usize,
    /// Every demand of the pod, grouped by plugin.
    pub constraints: Vec<Constraint>,
    /// Changes that let it in, the smallest and least intrusive first.
    pub fixes: Vec<Fix>,
    /// Obstacles for which no change can be proposed.
    pub unproposed: Vec<Unproposed>,
    /// The kinds that may refuse or change the pods of these fixes and are not known.
    pub unknown_policies: Vec<NeighborKind>,
    /// Extent of the search.
    pub search: Search,
    /// The pod group that decides about the pod, tried without changes; `None` for a pod that is decided on its own.
    pub group: Option<GroupTrial>,
}

/// The node that preemption chooses without changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreemptsToday {
    /// Name of the node.
    pub node: Str,
    /// Number of candidates that are equal to it, with it.
    pub of: usize,
    /// The victims, most important first.
    pub victims: Vec<Key>,
}

/// The attempt to schedule a pod with its pod group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupTrial {
    /// The group and how its attempt ended.
    pub group: Arc<GroupView>,
    /// Whether the pod is scheduled with its group.
    pub scheduled: bool,
}

/// Whether a fix holds for the pod group that decides about the pod.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupProof {
    /// The group was tried with the changes.
    Tried(GroupTrial),
    /// The group was not tried with the changes; holds its key.
    NotTried(Key),
}

/// Extent of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Number of decisions made.
    pub trials: usize,
    /// Steps of the attempts of pod groups, which are not those of decisions.
    pub group_steps: u64,
    /// Whether pairs of changes were tried.
    pub pairs: bool,
    /// Number of pairs that were left out. They do not make a search incomplete, which is about single changes.
    pub pairs_untried: usize,
    /// Reasons why the search is incomplete; empty where every single change of the supported kinds was tried.
    pub cut_short_by: Vec<CutShort>,
}

impl Search {
    /// Returns whether every single change that works is among the fixes.
    pub fn is_complete(&self) -> bool {
        self.cut_short_by.is_empty()
    }
}

/// Reason why a search is incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutShort {
    /// The limit on decisions was reached; holds their number.
    Trials(usize),
    /// The decisions took too many steps; holds the number of decisions.
    Steps(usize),
    /// The attempts of pod groups took too many steps. Changes are tried on without the group.
    GroupSteps,
    /// The search was cancelled.
    Stopped,
    /// The profile has combined filters of old releases, which do not separate their demands.
    CombinedFilters,
    /// The pod's spec is too long for a search; holds its length in bytes.
    Spec(usize),
    /// There are more changes or demands of a kind than are tried one by one.
    Untried {
        /// The kind of change or demand.
        what: Untried,
        /// Number of those that were tried.
        tried: usize,
        /// Number of those that there are.
        of: usize,
    },
}

/// Changes of a kind, or demands of a pod, that were not all tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untried {
    /// Other values of a label key in `nodeSelector` or node affinity.
    Values(Str),
    /// Other label keys in place of this one.
    Keys(Str),
    /// Requirements of node affinity.
    Requirements,
    /// Taints to tolerate.
    Taints,
    Priorities,
    /// Nodes to uncordon.
    CordonedNodes,
    /// Nodes with a taint to remove.
    TaintedNodes,
    /// Pods to delete.
    Deletions,
    /// Groups of nodes of which another could be added.
    NodeGroups,
    /// StorageClasses for a claim.
    StorageClasses,
    /// DeviceClasses for a claim, or the contents of a missing one.
    DeviceClasses,
    /// Changes of a resource claim's requests.
    ClaimRequests,
    /// Claims that hold devices.
    ClaimHolders,
    /// Resource claims of the pod, each on its own.
    Claims,
    /// Required terms of the pod's affinity, each on its own.
    PodAffinity,
    /// Required terms of its anti-affinity, each on its own.
    PodAntiAffinity,
    /// Its topology spread constraints, each on its own.
    SpreadConstraints,
    /// Its host ports, each on its own.
    HostPorts,
    /// Its volumes, each on its own.
    Volumes,
}

/// Obstacle that no proposed change removes, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub enum Unproposed {
    /// The object may exist: its kind is not known completely.
    Unread {
        /// Kind of the object.
        kind: Kind,
        /// Name of the object.
        name: Str,
    },
    /// A generic ephemeral volume has no claim; the ephemeral volume controller creates it.
    EphemeralClaim(Str),
    /// The claim is of a `volumeClaimTemplate` of this StatefulSet, whose controller creates it.
    TemplateClaim {
        /// Name of the claim.
        claim: Str,
        /// Name of the StatefulSet.
        set: Str,
    },
    /// These nodes would take the pod but for a taint that says that they go or do not run.
    Owned {
        taint: Taint,
        owned: OwnedTaint,
        /// Names of the nodes.
        nodes: Vec<Str>,
    },
    /// An API server would refuse the changed pod.
    Refused {
        /// The changes.
        changes: Vec<Change>,
        refusal: Refusal,
        /// The number of other fixes that are refused for the same reason.
        others: usize,
    },
    /// Admission would set the changed field again, so that the pod fits nowhere.
    SetAgain {
        /// The changes.
        changes: Vec<Change>,
        /// The runtime class that sets it; `None` where it is a LimitRange.
        class: Option<Str>,
    },
    /// The rollout of this Deployment might take an older pod away first; how it goes on is not known.
    RolloutUnread(Key),
    /// A rollout that takes an older pod away first helps only if it takes one of some.
    RolloutByChance {
        deployment: Key,
        /// `maxUnavailable` with which it takes one away.
        unavailable: i64,
        /// The number of pods that help.
        helpful: usize,
        /// The number of pods that it may take.
        of: usize,
    },
    /// The claim or a resource claim is being deleted.
    Deleting {
        /// Kind of the claim.
        kind: Kind,
        /// Name of the claim.
        name: Str,
    },
    /// The claim's volume is lost.
    Lost(Str),
    /// The class of a claim does not exist, and no other class names a provisioner that it could use.
    NoProvisioner {
        /// Name of the claim.
        claim: Str,
        /// Name of the class.
        class: Str,
    },
    /// The resource claim is created from a template by the claim controller.
    FromTemplate {
        /// Name of the claim in the pod.
        name: Str,
        /// Name of the template.
        template: Str,
        /// Whether the template exists.
        exists: bool,
    },
    /// A resource claim is missing, and without a DeviceClass there is nothing that it could request.
    NoDeviceClass(Str),
    /// A resource claim with this name is to be created, and it is unknown which device classes there are.
    DeviceClassesUnread(Str),
    /// A DeviceClass is missing, and neither another class nor a published device tells what it could select.
    NoDevices(Str),
    /// The resource claim is allocated for other nodes and in use there.
    AllocatedElsewhere(Str),
    /// Another pod of the group, which is queued as one entry, must be let into the queue.
    GroupGated(Key),
    /// The pod would be deleted in vain: its controller makes another, which takes the place.
    Undone(Recreated),
}

/// Changes that together let the pod in.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The changes, of one object each.
    pub changes: Vec<Change>,
    /// Way in which the pod gets in.
    pub outcome: FixOutcome,
    /// Nodes that the pod fits on, or all candidates of preemption, by name.
    pub nodes: Vec<Str>,
    /// Victims on each candidate, most important first.
    pub victims: BTreeMap<Str, Vec<Victim>>,
    /// Budgets that allow no disruption of the deleted pods, by name.
    pub budgets: Vec<Key>,
    /// The reaction of controllers to the changes.
    pub reaction: Reaction,
    /// Why it is for the case that nothing else helps; `None` for a fix that an owner would consider.
    pub last_resort: Option<LastResort>,
    /// Index of the first fix that does the same with an equal node.
    pub equals: Option<usize>,
    /// Its effect on the pod group that decides about the pod; `None` for a pod that is decided on its own. All else is
    /// about the pod alone.
    pub group: Option<GroupProof>,
}

/// A choice that fixes may differ in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// Another value of a label key.
    Value(Str),
    CordonedNode,
    TaintedNode(Taint),
    /// An object of the kind to delete.
    Deletion(Kind),
    /// Another class of a device request.
    DeviceClass(Str),
}

/// Way in which a fix lets the pod in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FixOutcome {
    /// The pod fits on a node.
    Scheduled,
    /// The pod preempts other pods.
    Preempts,
}

impl Fix {
    fn new(changes: Vec<Change>, verified: Verified) -> Self {
        let Verified { outcome, nodes, victims } = verified;
        Self {
            changes,
            outcome,
            nodes,
            victims,
            budgets: Vec::new(),
            reaction: Reaction::default(),
            last_resort: None,
            equals: None,
            group: None,
        }
    }

    /// Returns whether the pod is made anew with the changes, and has to be admitted.
    pub fn needs_admission(&self) -> bool {
        reaction::changes_template(&self.changes)
    }

    /// Returns what the fix is one of several alternatives for; `None` where it is the only one of its kind.
    pub fn alternative(&self) -> Option<Alternative> {
        let mut own = self.changes.iter().filter(|change| !change.follows() && !matches!(change, Change::Pod(PodChange::RemoveGates(_))));
        let (Some(change), None) = (own.next(), own.next()) else { return None };
        Some(match change {
            Change::Pod(PodChange::SetSelector { key, typo: false, .. }) => Alternative::Value(key.clone()),
            Change::Pod(PodChange::AddValue { requirement, typo: None, .. }) => Alternative::Value(requirement.key.clone()),
            Change::Node(_, NodeChange::Uncordon) => Alternative::CordonedNode,
            Change::Node(_, NodeChange::RemoveTaint(taint)) => Alternative::TaintedNode(taint.clone()),
            Change::Delete(kind, _) => Alternative::Deletion(*kind),
            Change::Claim(_, ClaimChange::SetClass { request, typo: false, .. }) => Alternative::DeviceClass(request.name.clone()),
            _ => return None,
        })
    }
}

/// Limit on the fixes that are tried for the pod's group.
const GROUP_TRIALS: usize = 20;

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of decisions.
    pub trials: usize,
    /// Maximum number of objects of a kind to try one by one, such as cordoned nodes.
    pub alike: usize,
    /// Maximum number of deletions to try.
    pub deletions: usize,
    /// Maximum number of steps of all decisions.
    pub steps: u64,
    /// Number of steps of the attempts of pod groups after which no further one is made.
    pub group_steps: u64,
}

impl Limits {
    /// Returns limits that keep a search within seconds on a cluster of this size.
    pub fn of(nodes: usize) -> Self {
        let within = |all: usize, least, most| (all / nodes.max(1)).clamp(least, most);
        Self {
            trials: within(3_000_000, 500, 5000),
            alike: within(50_000, 40, 400),
            deletions: within(20_000, 20, 400),
            steps: FIXES_STEPS,
            group_steps: Self::group_steps(nodes),
        }
    }

    /// Returns a limit on the steps of the attempts of pod groups that keeps them within seconds on a cluster of this size.
    pub fn group_steps(nodes: usize) -> u64 {
        GROUP_STEPS.saturating_mul(nodes.clamp(1_000, 10_000) as u64) / 1_000
    }

    /// Returns these limits for a pod with a spec of this many bytes: the longer it is, the longer one decision takes.
    fn for_spec(self, length: usize) -> Self {
        let share = 1 + length / SPEC;
        let part = |limit: usize| (limit / share).max(1);
        Self { trials: part(self.trials), alike: part(self.alike), deletions: part(self.deletions), ..self }
    }
}

/// Bytes of a spec up to which a decision takes about the same time.
const SPEC: usize = 8 << 10;
/// Maximum length of a spec to search, in bytes. Each demand of a pod needs a decision of its own, so that the time grows
/// with the square of their number.
const LONGEST_SPEC: usize = 64 << 10;

/// Returns the operations of some changes, one per object; `None` where an object to change does not exist.
pub fn operations(cluster: &Cluster, pod: &Key, changes: &[Change]) -> Option<Vec<Operation>> {
    let mut operations = Vec::new();
    let mut edited: Vec<((Kind, Key), serde_json::Value)> = Vec::new();
    for change in changes {
        let (kind, key) = change.target(pod);
        match change {
            Change::Create { object, .. } => operations.push(Operation::Create { object: object.clone() }),
            Change::Delete(..) | Change::RollOut { .. } => operations.push(Operation::Delete { object: cluster.get(kind, &key)? }),
            Change::Pod(_) | Change::Node(..) | Change::Claim(..) | Change::Bind { .. } => {
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

/// Finds the demands that keep a pending pod out and the changes that let it in. Changes that take back one of the user's acts are last
/// resorts. Calls `watch` before each trial.
pub fn find(scheduler: &Scheduler, pod: &Arc<Pod>, limits: Limits, background: Background<'_>, watch: Watch<'_>) -> Fixes {
    let length = pod.spec_length();
    let limits = limits.for_spec(length);
    let mut trials = Trials::new(scheduler, pod, limits, background, watch);
    let nodes = trials.scheduler().state().snapshot().len();
    let mut fixes = Fixes {
        pod: pod.key(),
        outcome: Outcome::Unschedulable,
        preempts_today: None,
        waits_for_victims_of: None,
        overdue_victims: Vec::new(),
        nodes,
        constraints: Vec::new(),
        fixes: Vec::new(),
        unproposed: Vec::new(),
        unknown_policies: Vec::new(),
        search: Search::default(),
        group: trials.try_group(&[]),
    };
    if let Some((tried, decision)) = trials.decide(&[], PostFilter::Run) {
        fixes.outcome = decision.outcome();
        let today: BTreeSet<Str> = takers(&tried, &decision).into_iter().flatten().collect();
        fixes.preempts_today = preempting(&decision);
        trials.preempts_today = fixes.preempts_today.is_some();
        let group_gate = if let DryDecision::Gated(status) = &decision { group_gated_by(status) } else { None };
        let preemptor = || group_gate.clone().unwrap_or_else(|| pod.key());
        fixes.waits_for_victims_of = decision.waits_for_victims().then(preemptor);
        let ending = decision.preemption().and_then(|record| record.waits_for.as_ref());
        fixes.overdue_victims = ending.filter(|victims| victims.are_overdue()).map(|victims| victims.pods.clone()).unwrap_or_default();
        let gates: Vec<Str> = pod.spec.scheduling_gates.iter().map(|gate| gate.name.clone()).collect();
        match &decision {
            DryDecision::Tried(ScheduleResult::Error(ScheduleError::UnknownProfile(_))) => {
                search::profiles(&mut trials, &mut fixes.fixes);
                admitted::keep_admitted(&mut trials, &mut fixes);
            }
            DryDecision::Tried(ScheduleResult::Error(ScheduleError::Deleting(_))) => {}
            _ if length > LONGEST_SPEC => trials.cut_short(CutShort::Spec(length)),
            DryDecision::Gated(_) if let Some(other) = group_gate => {
                // The victims of the other pod are ending: it needs no change either.
                fixes.unproposed.extend(fixes.waits_for_victims_of.is_none().then_some(Unproposed::GroupGated(other)));
            }
            DryDecision::Gated(_) if !gates.is_empty() => gated(&mut trials, &mut fixes, gates, limits),
            // A plugin keeps the pod out of activeQ: DynamicResources does for a claim that does not exist.
            DryDecision::Gated(_) | DryDecision::Tried(_) => of_cluster(&mut trials, &mut fixes, limits, &today),
        }
    }
    let cluster = scheduler.state().cluster();
    for fix in &mut fixes.fixes {
        fix.last_resort = effort::last_resort(cluster, pod, fix, background.acts);
    }
    fixes.fixes.sort_by(|a, b| (a.effort(), a.outcome).cmp(&(b.effort(), b.outcome)).then_with(|| b.nodes.len().cmp(&a.nodes.len())));
    if let Some(group) = pod.group_key().filter(|_| scheduler.state().config().emulation.enabled(Gate::GenericWorkload)) {
        for (i, fix) in fixes.fixes.iter_mut().enumerate() {
            let tried = if i < GROUP_TRIALS { trials.try_group(&fix.changes) } else { None };
            fix.group = Some(tried.map_or_else(|| GroupProof::NotTried(group.clone()), GroupProof::Tried));
        }
        fixes.fixes.sort_by_key(|fix| !matches!(&fix.group, Some(GroupProof::Tried(tried)) if tried.scheduled));
    }
    if !fixes.fixes.iter().any(Fix::needs_admission) {
        fixes.unknown_policies.clear();
    }
    alike::mark(scheduler, &mut fixes.fixes);
    fixes.search.trials = trials.count();
    fixes.search.group_steps = trials.group_steps();
    fixes.search.cut_short_by = trials.cut_short_by().to_vec();
    fixes
}

/// Returns the pod that gates the group of a pod which nothing else gates.
fn group_gated_by(status: &Status) -> Option<Key> {
    status.reasons().iter().find_map(|reason| if let Reason::GroupGated { pod, .. } = reason { Some(pod.clone()) } else { None })
}

/// Searches for a gated pod: without its gates it may fit, or need another change as well.
fn gated(trials: &mut Trials<'_>, fixes: &mut Fixes, gates: Vec<Str>, limits: Limits) {
    let open = Change::Pod(PodChange::RemoveGates(gates));
    let alone = trials.attempt(std::slice::from_ref(&open));
    trials.first = vec![open.clone()];
    if let Some(verified) = alone {
        let today = if verified.outcome == FixOutcome::Scheduled { verified.nodes.iter().cloned().collect() } else { BTreeSet::new() };
        fixes.fixes.push(Fix::new(vec![open], verified));
        reaction::keep_those_that_hold(trials, fixes, 0);
        let matrix = matrix(trials);
        fixes.constraints = search::constraints(trials, &matrix, limits, &today);
        return;
    }
    of_cluster(trials, fixes, limits, &BTreeSet::new());
    for fix in &mut fixes.fixes {
        fix.changes.insert(0, open.clone());
    }
}

fn matrix(trials: &mut Trials<'_>) -> Matrix {
    let pod = trials.changed_pod(&[]).unwrap_or_else(|| trials.pod().clone());
    let matrix = Matrix::of(trials.scheduler(), &pod, trials.limits().steps).unwrap_or_default();
    trials.spend_on_plugins(matrix.steps);
    for untried in &matrix.untried {
        trials.cut_short(untried.clone());
    }
    matrix
}

/// Searches the changes of a pod that takes these nodes without changes.
fn of_cluster(trials: &mut Trials<'_>, fixes: &mut Fixes, limits: Limits, today: &BTreeSet<Str>) {
    let matrix = matrix(trials);
    fixes.constraints = search::constraints(trials, &matrix, limits, today);
    if fixes.outcome == Outcome::Scheduled {
        return;
    }
    if matrix.combined {
        trials.cut_short(CutShort::CombinedFilters);
    }
    search::singles(trials, &matrix, limits, fixes);
    rollout::singles(trials, limits, fixes);
    cluster::singles(trials, &matrix, limits, fixes);
    storage::singles(trials, &matrix, limits, fixes);
    devices::singles(trials, &matrix, limits, fixes);
    daemons::leave_out_moves(trials.pod(), &mut fixes.fixes);
    admitted::keep_admitted(trials, fixes);
    reaction::keep_those_that_hold(trials, fixes, 0);
    if fixes.fixes.is_empty() && !trials.is_over() {
        fixes.search.pairs = true;
        fixes.search.pairs_untried = pairs::pairs(trials, &matrix, limits, &mut fixes.fixes);
        daemons::leave_out_moves(trials.pod(), &mut fixes.fixes);
        admitted::keep_admitted(trials, fixes);
        reaction::keep_those_that_hold(trials, fixes, 0);
    }
}
