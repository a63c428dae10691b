//! Selects the victims on one node: removes all pods of lower priority, then reprieves those with which the preemptor
//! still fits. Mirrors `SelectVictimsOnNode` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`.
//!
//! Where groups are victims, a group that is disrupted as one goes or stays with its pods on all nodes. Of these, filters see only
//! what plugins keep of them.

mod sums;

use std::sync::{Arc, Mutex, PoisonError};

use super::budgets::BudgetCount;
use super::importance::Rank;
use super::units::{Unit, respects_groups, units_below};
use crate::cluster::Str;
use crate::framework::{
    Candidate, Code, CoveringBudgets, CycleState, NodeDryRun, NodeInfo, PodInfo, PostFilterContext, PutBack, Reason, SharedStatuses,
    Snapshot, Status, Victim,
};
use crate::release::{Behaviour, DryRunReport, FilterRun, VictimOrder, WithoutVictims};
pub(super) use sums::{Ranked, places_by_importance};

/// A potential victim: a unit of lower priority.
struct Potential<'a> {
    unit: Unit<'a>,
    rank: Rank,
    budgets: Covered,
}

/// The budgets that cover each pod of a unit.
enum Covered {
    Pod(Option<Arc<CoveringBudgets>>),
    Group(Vec<Option<Arc<CoveringBudgets>>>),
}

impl Potential<'_> {
    fn budgets(&self) -> &[Option<Arc<CoveringBudgets>>] {
        match &self.budgets {
            Covered::Pod(budgets) => std::slice::from_ref(budgets),
            Covered::Group(budgets) => budgets,
        }
    }

    /// Returns how many of its pods violate a budget.
    fn violations(&self) -> usize {
        self.budgets().iter().flatten().filter(|budgets| budgets.is_violated()).count()
    }

    fn victims(&self) -> impl Iterator<Item = Victim> {
        self.unit.pods().iter().zip(self.budgets()).map(|(info, budgets)| {
            let victim = Victim::new(info.clone(), budgets.clone());
            if self.unit.is_group() { victim.with_group() } else { victim }
        })
    }
}

/// Caches shared by the dry runs of several nodes. They do not change the results.
pub(super) struct Scratch<'a> {
    /// Most pods that are not reprieved are rejected for the same reason.
    statuses: SharedStatuses,
    budgets: BudgetCount<'a>,
    buffers: sums::Buffers,
    /// The status of nodes without pods of lower priority.
    nothing_weaker: Option<Status>,
}

impl<'a> Scratch<'a> {
    /// Makes empty caches for the nodes of a snapshot.
    pub(super) fn new(snapshot: &'a Snapshot, release: &Behaviour) -> Self {
        let budgets = BudgetCount::new(snapshot.budgets(), release.preemption.budgets);
        Self { statuses: SharedStatuses::default(), budgets, buffers: sums::Buffers::default(), nothing_weaker: None }
    }
}

/// Caches that tasks borrow in turn, so that each begins with what an earlier one learned.
pub(super) struct Scratches<S> {
    idle: Mutex<Vec<S>>,
}

impl<S> Scratches<S> {
    /// Begins without caches.
    pub(super) fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()) }
    }

    /// Runs a task with caches that no other task has meanwhile, made by `start` where all are borrowed.
    pub(super) fn lend<R>(&self, start: impl FnOnce() -> S, task: impl FnOnce(&mut S) -> R) -> R {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = idle.unwrap_or_else(start);
        let result = task(&mut scratch);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        result
    }
}

/// The dry run of a node.
pub(super) struct OnNode {
    pub(super) run: NodeDryRun,
    /// Whether sums of the pods decided it: it holds for each pod that requires the same of the node.
    pub(super) by_sums: bool,
}

/// Selects the victims on one node, working on copies of the node and the state, or of sums where filters look at no more.
pub(super) fn select_victims_on_node<'a>(
    post: &PostFilterContext<'_>,
    state: &CycleState,
    pod: &PodInfo,
    node: &'a Arc<NodeInfo>,
    scratch: &mut Scratch<'a>,
) -> OnNode {
    select_victims_in_order(post, state, pod, node, scratch, None)
}

/// Finds the victims on one node where pods of equal importance come in another order: `order` holds the places of all pods of
/// lower priority in the usual one, [`by_importance`].
pub(super) fn select_victims_in_order<'a>(
    post: &PostFilterContext<'_>,
    state: &CycleState,
    pod: &PodInfo,
    node: &'a Arc<NodeInfo>,
    scratch: &mut Scratch<'a>,
    order: Option<&[usize]>,
) -> OnNode {
    let found = try_victims(post, state, pod, node, scratch, order);
    // Each pod is removed and put back; where more than sums change, plugins follow, and filter again.
    state.count_filters(1 + node.pods.len() * if looks_at_sums(post) { 1 } else { 5 });
    let steps = scratch.budgets.take_steps();
    if steps > 0 {
        state.count_list_steps(steps);
    }
    found
}

fn try_victims<'a>(
    post: &PostFilterContext<'_>,
    state: &CycleState,
    pod: &PodInfo,
    node: &'a Arc<NodeInfo>,
    scratch: &mut Scratch<'a>,
    order: Option<&[usize]>,
) -> OnNode {
    let (release, by_sums) = (post.cx.emulation.behaviour(), looks_at_sums(post));
    if by_sums && release.preemption.without_victims != WithoutVictims::Chosen && node.places_below(pod.pod.priority()).next().is_none() {
        return OnNode { run: nothing_weaker(post, pod, node.name().clone(), scratch), by_sums };
    }
    if !node.may_hold_a_pod_twice() {
        if by_sums {
            let (record, found) = sums::Attempt::new(post, state, pod, node, scratch).run(order);
            return OnNode { run: finished(post, record, found), by_sums };
        }
        if !respects_groups(post.cx.emulation)
            && let Some((record, status)) = sums::rejected(post, state, pod, node, scratch)
        {
            return OnNode { run: finished(post, record, Err(status)), by_sums: true };
        }
    }
    OnNode { run: try_one_by_one(post, state, pod, node, scratch, order), by_sums }
}

/// Removes each pod of lower priority, and puts it back.
fn try_one_by_one<'a>(
    post: &PostFilterContext<'_>,
    state: &CycleState,
    pod: &PodInfo,
    node: &'a Arc<NodeInfo>,
    scratch: &mut Scratch<'a>,
    order: Option<&[usize]>,
) -> NodeDryRun {
    let release = post.cx.emulation.behaviour();
    let name = node.name().clone();
    let potential: Vec<Potential<'_>> = match units_below(&post.cx, pod.pod.priority(), node) {
        Ok(units) => {
            let mut potential = Vec::with_capacity(units.len());
            potential.extend(units.into_iter().map(|(rank, unit)| Potential { unit, rank, budgets: Covered::Pod(None) }));
            potential
        }
        Err(status) => return NodeDryRun { node: name, status: scratch.statuses.share(status), ..NodeDryRun::default() },
    };
    if potential.is_empty() && release.preemption.without_victims != WithoutVictims::Chosen {
        return nothing_weaker(post, pod, name, scratch);
    }
    let record = NodeDryRun { node: name, ..NodeDryRun::default() };
    let (removed, put_back) = (Vec::new(), Vec::new());
    let (state, node) = (state.clone(), NodeInfo::clone(node));
    let mut attempt = Attempt { post, pod, state, node, with_nominated: None, order, record, removed, put_back, scratch };
    let found = attempt.run(potential);
    let Attempt { mut record, removed, put_back, .. } = attempt;
    (record.removed, record.put_back) = (removed.into(), put_back.into());
    finished(post, record, found)
}

/// Whether dry runs need to know no more than sums of the pods.
pub(super) fn looks_at_sums(post: &PostFilterContext<'_>) -> bool {
    post.runner.depends_on_sums() && !respects_groups(post.cx.emulation)
}

/// Returns the dry run of a node without pods of lower priority, which ends before any filter runs.
fn nothing_weaker(post: &PostFilterContext<'_>, pod: &PodInfo, node: Str, scratch: &mut Scratch<'_>) -> NodeDryRun {
    let release = &post.cx.emulation.behaviour().preemption;
    let in_words = |status: Status| status.in_words_of(post.cx.emulation.release());
    let status = if release.names_preemptor() {
        in_words(Status::rejected(Reason::NoVictimsOnNode { node: node.clone(), pod: pod.key() }))
    } else {
        // The same for all nodes.
        let of_release = || match release.dry_run {
            DryRunReport::Nothing => in_words(no_status()),
            _ => in_words(Status::rejected(Reason::NoPreemptionVictims)),
        };
        scratch.nothing_weaker.get_or_insert_with(of_release).clone()
    };
    NodeDryRun { node, status, ..NodeDryRun::default() }
}

/// Returns the record with the result: the victims, most important first, and the number of them that violate a budget.
fn finished(post: &PostFilterContext<'_>, mut record: NodeDryRun, found: Result<(Vec<Victim>, i64), Status>) -> NodeDryRun {
    let release = post.cx.emulation.behaviour();
    match found {
        Err(_) if release.preemption.dry_run == DryRunReport::Nothing => record.status = no_status(),
        // kube-scheduler runs all filters in random order here; a fixed order represents all of them.
        Err(status) if release.cycle.filters == FilterRun::All => record.status = sorted(&status),
        Err(status) => record.status = status,
        Ok((victims, _)) if victims.is_empty() && release.preemption.without_victims == WithoutVictims::Error => {
            record.status = Status::error(format!("expected at least one victim pod on node {:?}", record.node.as_str()));
        }
        Ok((victims, pdb_violations)) => {
            record.candidate = Some(Candidate { node: record.node.clone(), victims, pdb_violations });
        }
    }
    record
}

/// Returns the units of lower priority on a node, most important first, each with what it is compared by.
pub(super) fn by_importance<'n>(post: &PostFilterContext<'_>, pod: &PodInfo, node: &'n NodeInfo) -> Vec<(Rank, Unit<'n>)> {
    let mut units = units_below(&post.cx, pod.pod.priority(), node).unwrap_or_default();
    units.sort_by_key(|(rank, _)| *rank);
    units
}

/// Returns the status with its reasons sorted by text.
fn sorted(status: &Status) -> Status {
    let mut reasons: Vec<_> = status.texts().zip(status.reasons().iter().cloned()).collect();
    reasons.sort_by(|a, b| a.0.cmp(&b.0));
    status.with_reasons(status.code(), reasons.into_iter().map(|(_, reason)| reason))
}

/// Returns the empty status of a failed dry run, for releases that keep none.
fn no_status() -> Status {
    Status::new(Code::Unschedulable, Vec::<Reason>::new())
}

/// The changed node and state of one dry run, and its record.
struct Attempt<'a, 'n> {
    post: &'a PostFilterContext<'a>,
    pod: &'a PodInfo,
    state: CycleState,
    node: NodeInfo,
    /// The node with the pods nominated to it at the end, and their number, while pods are put back; `None` where there are none, or
    /// where they change more than the node.
    with_nominated: Option<(NodeInfo, usize)>,
    /// The order of pods, where it is not the usual one.
    order: Option<&'a [usize]>,
    record: NodeDryRun,
    removed: Vec<Arc<PodInfo>>,
    put_back: Vec<PutBack>,
    scratch: &'a mut Scratch<'n>,
}

impl<'a, 'n> Attempt<'a, 'n> {
    /// Returns the victims, most important first, and the number of them that violate a budget.
    fn run(&mut self, mut potential: Vec<Potential<'n>>) -> Result<(Vec<Victim>, i64), Status> {
        if !self.post.quiet {
            self.removed.reserve_exact(potential.len());
        }
        for p in &potential {
            self.remove(&p.unit)?;
            if !self.post.quiet {
                self.removed.extend(p.unit.pods().iter().cloned());
            }
        }
        let status = self.filter();
        let status = self.scratch.statuses.share(status);
        if !self.post.quiet {
            self.record.filtered = Some(status.clone());
        }
        if !status.is_success() {
            return Err(status);
        }
        self.with_nominated = self.post.runner.with_nominated_pods(self.pod, &self.node);
        potential.sort_by_key(|p| p.rank);
        self.record.has_ties = potential.windows(2).any(|pair| pair[0].rank == pair[1].rank);
        if let Some(order) = self.order {
            let mut places = vec![usize::MAX; potential.len()];
            for (place, at) in order.iter().enumerate() {
                places[*at] = place;
            }
            let mut placed: Vec<_> = places.into_iter().zip(potential).collect();
            placed.sort_by_key(|(place, _)| *place);
            potential = placed.into_iter().map(|(_, p)| p).collect();
        }
        self.scratch.budgets.restart();
        for p in &mut potential {
            p.budgets = match &p.unit {
                Unit::Pod(info) => Covered::Pod(self.scratch.budgets.take(info)),
                Unit::Group(pods) => Covered::Group(pods.iter().map(|info| self.scratch.budgets.take_uncached(info)).collect()),
            };
        }
        if !self.post.quiet {
            self.put_back.reserve_exact(potential.len());
        }
        let violating = potential.iter().filter(|p| p.violations() > 0);
        let both_groups = (1..potential.len()).contains(&violating.clone().count());
        // Pods whose eviction would violate a budget are reprieved first.
        let mut victims = Vec::new();
        let mut pdb_violations = 0;
        for p in violating {
            if !self.reprieve(p, &mut victims)? {
                pdb_violations += p.violations() as i64;
            }
        }
        for p in potential.iter().filter(|p| p.violations() == 0) {
            self.reprieve(p, &mut victims)?;
        }
        if both_groups && self.post.cx.emulation.behaviour().preemption.victims == VictimOrder::ByImportance {
            // The sort is stable: of equals, those that violate a budget stay first.
            victims.sort_by_key(|(rank, _)| *rank);
        }
        Ok((victims.into_iter().map(|(_, victim)| victim).collect(), pdb_violations))
    }

    /// Puts a unit back, and returns whether it is reprieved. Adds its pods to the victims, with its rank, if it is not.
    fn reprieve(&mut self, potential: &Potential<'_>, victims: &mut Vec<(Rank, Victim)>) -> Result<bool, Status> {
        self.add(&potential.unit)?;
        let status = self.filter_again();
        let stays = status.is_success();
        if !stays {
            self.remove(&potential.unit)?;
            victims.extend(potential.victims().map(|victim| (potential.rank, victim)));
        }
        if !self.post.quiet {
            let status = self.scratch.statuses.share(status);
            self.put_back.extend(potential.victims().map(|victim| PutBack { victim, status: status.clone() }));
        }
        Ok(stays)
    }

    fn filter(&self) -> Status {
        self.post.runner.filter_with_nominated_pods(&self.state, self.pod, &self.node)
    }

    /// Filters the node again; it passed with all pods of lower priority removed.
    fn filter_again(&self) -> Status {
        match &self.with_nominated {
            Some((with, _)) => self.post.runner.filter_again_on(&self.state, self.pod, with, &self.node),
            None => self.post.runner.filter_again_with_nominated_pods(&self.state, self.pod, &self.node),
        }
    }

    fn add(&mut self, unit: &Unit<'_>) -> Result<(), Status> {
        for added in unit.pods() {
            let node = match self.other_node(unit, added) {
                Some(other) => other,
                None => {
                    if let Some((with, nominated)) = &mut self.with_nominated {
                        with.add_pod_before(added.clone(), *nominated);
                    }
                    self.node.add_pod(added.clone());
                    &self.node
                }
            };
            as_error(&self.post.runner.add_pod(&mut self.state, self.pod, added, node))?;
        }
        Ok(())
    }

    fn remove(&mut self, unit: &Unit<'_>) -> Result<(), Status> {
        for removed in unit.pods() {
            let node = match self.other_node(unit, removed) {
                Some(other) => other,
                None if self.node.remove(removed) => {
                    if let Some((with, nominated)) = &mut self.with_nominated {
                        with.remove_before(removed, *nominated);
                    }
                    &self.node
                }
                None => {
                    let text = format!("no corresponding pod {} in pods of node {}", removed.pod.metadata.name, self.node.name());
                    return Err(Status::error(text));
                }
            };
            as_error(&self.post.runner.remove_pod(&mut self.state, self.pod, removed, node))?;
        }
        Ok(())
    }

    /// Returns the node of a group's pod that is not on the node of this run. It is not changed, as no filter looks at it.
    fn other_node(&self, unit: &Unit<'_>, info: &PodInfo) -> Option<&'a NodeInfo> {
        let elsewhere = unit.is_group() && info.pod.node_name != *self.node.name();
        elsewhere.then(|| self.post.cx.snapshot.get(&info.pod.node_name)).flatten().map(|node| &**node)
    }
}

/// Turns any failure of a `PreFilter` plugin's AddPod or RemovePod into an error, whatever its code.
fn as_error(status: &Status) -> Result<(), Status> {
    if status.is_success() { Ok(()) } else { Err(Status::error(status.message())) }
}

#[cfg(test)]
mod tests;
