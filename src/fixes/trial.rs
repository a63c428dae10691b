//! Verifies changes by a full decision on the changed cluster.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde_json::Value;

use super::admitted::NewPods;
use super::change::Change;
use super::reaction::without_waiting_pods;
use super::{Background, CutShort, Fix, FixOutcome, GroupTrial, Limits, PreemptsToday, Untried};
use crate::cluster::{Key, Kind, Object, Pod, Str};
use crate::framework::{NodeInfo, PodResourcesOptions, Resource, Victim, decision_steps, pod_requests};
use crate::limits::engine::{
    FIXES_STEPS_OF_ERROR, FIXES_STEPS_OF_LONG_SEARCH, FIXES_STEPS_OF_PLUGIN, FIXES_STEPS_OF_VALUE, STEPS_OF_MEMBER,
};
use crate::scheduler::{DryDecision, DryOptions, ObjectEdit, PostFilter, ScheduleResult, Scheduler};
use crate::trace::{CycleView, Outcome};

/// Callback before each trial, with the number of trials so far; returns false to cancel the search.
pub type Watch<'a> = &'a (dyn Fn(usize) -> bool + Sync);

/// Result of a trial that let the pod in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verified {
    /// Way in which the pod gets in.
    pub(super) outcome: FixOutcome,
    /// Nodes that the pod fits on, or all candidates of preemption, by name.
    pub(super) nodes: Vec<Str>,
    /// Victims on each candidate, most important first.
    pub(super) victims: BTreeMap<Str, Vec<Victim>>,
}

/// Tries changes for one pod, within limits.
pub(super) struct Trials<'a> {
    /// The scheduler, set to filter every node.
    scheduler: Scheduler,
    pod: Arc<Pod>,
    /// The pod as JSON, for edits.
    written: Value,
    /// The number of its values.
    values: u64,
    /// Changes that precede those of every trial.
    pub(super) first: Vec<Change>,
    /// Whether the pod preempts without changes; then only fixes without victims count.
    pub(super) preempts_today: bool,
    /// Lowest priority of a pod on a node.
    lowest: Option<i32>,
    limits: Limits,
    count: usize,
    /// Steps of the decisions so far.
    steps: u64,
    /// Steps of the attempts of pod groups so far.
    group_steps: u64,
    nodes: usize,
    cut_short_by: Vec<CutShort>,
    watch: Watch<'a>,
    background: Background<'a>,
    /// Admission in the namespace of the pod; `None` until it is asked.
    pub(super) admission: Option<Box<NewPods>>,
    /// The scheduler without other waiting pods, for the reaction of controllers.
    alone: Option<Scheduler>,
}

impl<'a> Trials<'a> {
    /// Prepares trials for a pod, of a limited number and number of steps.
    pub(super) fn new(scheduler: &Scheduler, pod: &Arc<Pod>, limits: Limits, background: Background<'a>, watch: Watch<'a>) -> Self {
        let scheduler = scheduler.looking_at_all_nodes();
        let snapshot = scheduler.state().snapshot();
        let lowest = snapshot.nodes().iter().flat_map(|n| &n.pods).map(|p| p.priority()).min();
        let nodes = snapshot.len();
        let written = serde_json::to_value(pod.as_ref()).unwrap_or_default();
        let values = count_values(&written);
        let first = Vec::new();
        Self {
            scheduler,
            pod: pod.clone(),
            written,
            values,
            first,
            preempts_today: false,
            lowest,
            limits,
            count: 0,
            steps: 0,
            group_steps: 0,
            nodes,
            cut_short_by: Vec::new(),
            watch,
            background,
            admission: None,
            alone: None,
        }
    }

    /// Returns the scheduler without the other pods that wait, for runs over time.
    pub(super) fn alone(&mut self) -> Scheduler {
        let of = || self.scheduler.with_edits(without_waiting_pods(&self.scheduler)).quietly();
        self.alone.get_or_insert_with(of).clone()
    }

    /// Returns whether the search is to go on; records it if not.
    pub(super) fn may_continue(&mut self) -> bool {
        if !(self.watch)(self.count) {
            self.cut_short(CutShort::Stopped);
            return false;
        }
        if self.steps > self.limits.steps {
            self.cut_short(CutShort::Steps(self.count));
            return false;
        }
        true
    }

    /// Returns the scheduler, which filters every node.
    pub(super) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Returns what the search reads beside the cluster.
    pub(super) fn background(&self) -> Background<'a> {
        self.background
    }

    /// Returns the pod as held, as JSON.
    pub(super) fn written(&self) -> &Value {
        &self.written
    }

    /// Counts the steps of an admission of the pod, which is written, changed and read as for a decision.
    pub(super) fn spend_on_admission(&mut self) {
        self.spend_on_values(self.values);
    }

    /// Returns the pod without changes.
    pub(super) fn pod(&self) -> &Arc<Pod> {
        &self.pod
    }

    /// Returns the number of trials so far.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Counts the steps of operations that follow a change, each about as many as a decision about the pod takes.
    pub(super) fn spend(&mut self, operations: usize) {
        self.steps = self.steps.saturating_add(decision_steps(self.nodes, &self.pod).saturating_mul(operations as u64));
    }

    /// Counts the steps of the attempt of a pod group.
    pub(super) fn spend_on_group(&mut self, attempt: &CycleView) {
        self.group_steps = self.group_steps.saturating_add(group_steps(self.nodes, &self.pod, attempt));
    }

    /// Returns whether pod groups may be tried on; records it if not.
    pub(super) fn may_try_group(&mut self) -> bool {
        let is_over = self.group_steps >= self.limits.group_steps;
        if is_over {
            self.cut_short(CutShort::GroupSteps);
        }
        !is_over
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Counts the steps that plugins' searches took apart from decisions.
    pub(super) fn spend_on_plugins(&mut self, steps: u64) {
        self.steps = self.steps.saturating_add(steps.saturating_mul(FIXES_STEPS_OF_PLUGIN));
    }

    /// Returns the steps of the attempts of pod groups so far.
    pub(super) fn group_steps(&self) -> u64 {
        self.group_steps
    }

    /// Returns why the search is incomplete; empty where it is complete.
    pub(super) fn cut_short_by(&self) -> &[CutShort] {
        &self.cut_short_by
    }

    /// Records a reason why the search is incomplete.
    pub(super) fn cut_short(&mut self, by: CutShort) {
        if !self.cut_short_by.contains(&by) {
            self.cut_short_by.push(by);
        }
    }

    /// Returns the first `limit` items, and records it if there are more.
    pub(super) fn first_of<T>(&mut self, mut items: Vec<T>, limit: usize, what: Untried) -> Vec<T> {
        self.count_untried(limit, items.len(), what);
        items.truncate(limit);
        items
    }

    /// Records that only the first items are tried, if there are more.
    pub(super) fn count_untried(&mut self, tried: usize, of: usize, what: Untried) {
        if of > tried {
            self.cut_short(CutShort::Untried { what, tried, of });
        }
    }

    /// Returns whether trials have ended.
    pub(super) fn is_over(&self) -> bool {
        self.cut_short_by.iter().any(|by| matches!(by, CutShort::Trials(_) | CutShort::Steps(_) | CutShort::Stopped))
    }

    /// Returns whether a change of one node, or of the nodes that the pod may use, leaves the answer about every other
    /// node as it is. Spread constraints count whole domains, on nodes that the pod may use.
    pub(super) fn is_local(&self) -> bool {
        self.pod.spec.topology_spread_constraints.iter().all(|constraint| constraint.when_unsatisfiable == "ScheduleAnyway")
    }

    /// Returns the pod after some changes; `None` where the result is not a valid pod.
    pub(super) fn changed_pod(&self, changes: &[Change]) -> Option<Arc<Pod>> {
        let mut of_pod = self.first.iter().chain(changes).filter(|c| matches!(c, Change::Pod(_))).peekable();
        if of_pod.peek().is_none() {
            return Some(self.pod.clone());
        }
        let mut written = self.written.clone();
        of_pod.for_each(|change| change.edit(&mut written));
        serde_json::from_value(written).ok().map(Arc::new)
    }

    /// Does the same as [`Self::changed_pod`], and counts the steps.
    fn change_pod(&mut self, changes: &[Change]) -> Option<Arc<Pod>> {
        let pod = self.changed_pod(changes)?;
        if !Arc::ptr_eq(&pod, &self.pod) {
            self.spend_on_values(self.values);
        }
        Some(pod)
    }

    /// Counts the steps of the values of an object that is written as JSON, changed, and read.
    fn spend_on_values(&mut self, values: u64) {
        self.steps = self.steps.saturating_add(values.saturating_mul(FIXES_STEPS_OF_VALUE));
    }

    /// Returns the edits of other objects; `None` where an edit is not possible.
    fn edits(&mut self, changes: &[Change]) -> Option<Vec<ObjectEdit>> {
        let mut written: BTreeMap<(Kind, Key), Value> = BTreeMap::new();
        let mut edits = Vec::new();
        let cluster = self.scheduler.state().cluster();
        for change in self.first.iter().chain(changes) {
            match change {
                Change::Pod(_) => {}
                Change::Node(..) | Change::Claim(..) | Change::Bind { .. } => {
                    let (kind, key) = change.target(&Key::default());
                    let object = match written.entry((kind, key)) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(new) => {
                            let object = cluster.get(kind, &new.key().1)?;
                            new.insert(serde_json::to_value(object).ok()?)
                        }
                    };
                    change.edit(object);
                }
                Change::Create { object, .. } => edits.push(ObjectEdit::Put(object.clone())),
                Change::Delete(kind, key) => edits.push(ObjectEdit::Remove(*kind, key.clone())),
                Change::RollOut { pod, .. } => edits.push(ObjectEdit::Remove(Kind::Pod, pod.clone())),
            }
        }
        self.spend_on_values(written.values().map(count_values).sum());
        for ((kind, _), object) in written {
            edits.push(ObjectEdit::Put(Object::deserialize_kind(kind, object).ok()?));
        }
        Some(edits)
    }

    /// Makes a dry decision about the changed pod on the changed cluster; `None` once trials have ended, or where a
    /// change is not possible.
    pub(super) fn decide(&mut self, changes: &[Change], post_filter: PostFilter) -> Option<(Scheduler, DryDecision)> {
        self.decide_by(changes, |_, _| post_filter)
    }

    fn decide_by(&mut self, changes: &[Change], post_filter: impl FnOnce(&Self, &Pod) -> PostFilter) -> Option<(Scheduler, DryDecision)> {
        if self.is_over() {
            return None;
        }
        if self.count >= self.limits.trials {
            self.cut_short(CutShort::Trials(self.count));
            return None;
        }
        if self.steps > self.limits.steps {
            self.cut_short(CutShort::Steps(self.count));
            return None;
        }
        if !(self.watch)(self.count) {
            self.cut_short(CutShort::Stopped);
            return None;
        }
        self.count += 1;
        let pod = self.change_pod(changes)?;
        self.decide_about(&pod, changes, post_filter)
    }

    /// Decides about a pod on the cluster with the other changes.
    fn decide_about(
        &mut self,
        pod: &Arc<Pod>,
        changes: &[Change],
        post_filter: impl FnOnce(&Self, &Pod) -> PostFilter,
    ) -> Option<(Scheduler, DryDecision)> {
        let post_filter = post_filter(self, pod);
        let mut edits = self.edits(changes)?;
        if !Arc::ptr_eq(pod, &self.pod) {
            // Preemption reads the pod from the cluster.
            edits.push(ObjectEdit::Put(Object::Pod(pod.clone())));
        }
        let scheduler = if edits.is_empty() { self.scheduler.clone() } else { self.scheduler.with_edits(edits) };
        let (steps, all_steps) = (AtomicU64::default(), AtomicU64::default());
        let options = DryOptions { only_fit: true, steps: Some(&steps), all_steps: Some(&all_steps), ..post_filter.into() };
        let decision = scheduler.dry_decision(pod, options);
        let of_plugins = match steps.into_inner().saturating_mul(FIXES_STEPS_OF_PLUGIN) {
            // An error ends the search on other nodes at a chance moment.
            steps if decision.outcome() == Outcome::Error => {
                if steps > FIXES_STEPS_OF_LONG_SEARCH {
                    FIXES_STEPS_OF_ERROR
                } else {
                    0
                }
            }
            steps => steps,
        };
        self.steps = self.steps.saturating_add(of_plugins).saturating_add(decision_steps(self.nodes, pod));
        if post_filter == PostFilter::Run {
            self.steps = self.steps.saturating_add(steps_of_dry_runs(all_steps.into_inner(), pod));
        }
        Some((scheduler, decision))
    }

    /// Tries the pod's group with some changes; `None` for a pod that is decided on its own or that `PreEnqueue` keeps out,
    /// once trials have ended, and where a change is not possible.
    pub(super) fn try_group(&mut self, changes: &[Change]) -> Option<GroupTrial> {
        if self.is_over() || !self.may_continue() || !self.may_try_group() {
            return None;
        }
        let pod = self.change_pod(changes)?;
        let mut edits = self.edits(changes)?;
        if !Arc::ptr_eq(&pod, &self.pod) {
            edits.push(ObjectEdit::Put(Object::Pod(pod.clone())));
        }
        let changed = if edits.is_empty() { None } else { Some(self.scheduler.with_edits(edits)) };
        let view = changed.unwrap_or_else(|| self.scheduler.clone()).quietly().group_view(&pod)?;
        self.count += 1;
        self.spend_on_group(&view);
        let group = Arc::new(view.group.as_ref()?.summary());
        Some(GroupTrial { group, scheduled: view.member(&pod.key())?.outcome == Some(Outcome::Scheduled) })
    }

    /// Returns the nodes that the changed pod fits on; `None` where it fits on none.
    pub(super) fn fits(&mut self, changes: &[Change]) -> Option<Vec<Str>> {
        let (scheduler, decision) = self.decide(changes, PostFilter::LeaveOut)?;
        takers(&scheduler, &decision)
    }

    /// Returns how some changes let the pod in; `None` where they do not. Preemption counts only if the pod does not
    /// preempt without changes.
    pub(super) fn attempt(&mut self, changes: &[Change]) -> Option<Verified> {
        let found = self.decide_by(changes, Self::preempts_with)?;
        Self::verified(found)
    }

    /// Returns how a pod gets in that admission made of the changed one; `None` where it does not.
    pub(super) fn attempt_as(&mut self, pod: &Arc<Pod>, changes: &[Change]) -> Option<Verified> {
        if self.is_over() {
            return None;
        }
        self.count += 1;
        let found = self.decide_about(pod, changes, Self::preempts_with)?;
        Self::verified(found)
    }

    fn preempts_with(&self, pod: &Pod) -> PostFilter {
        if self.may_preempt_with(pod) { PostFilter::Run } else { PostFilter::LeaveOut }
    }

    fn verified((scheduler, decision): (Scheduler, DryDecision)) -> Option<Verified> {
        match takers(&scheduler, &decision) {
            Some(nodes) => Some(Verified { outcome: FixOutcome::Scheduled, nodes, victims: BTreeMap::new() }),
            None => preempts(decision),
        }
    }

    /// Adds changes to the fixes if they let the pod in. Returns the nodes that take it or, for preemption, the candidates.
    pub(super) fn try_all(&mut self, changes: Vec<Change>, fixes: &mut Vec<Fix>) -> Option<Vec<Str>> {
        let verified = self.attempt(&changes)?;
        let nodes = verified.nodes.clone();
        fixes.push(Fix::new(changes, verified));
        Some(nodes)
    }

    /// Returns whether preemption is worth a trial of the pod without changes.
    pub(super) fn may_preempt(&self) -> bool {
        self.changed_pod(&[]).is_some_and(|pod| self.may_preempt_with(&pod))
    }

    /// Returns whether preemption is worth a trial of a changed pod.
    fn may_preempt_with(&self, pod: &Pod) -> bool {
        let lowest = self.lowest.filter(|_| !self.preempts_today);
        lowest.is_some_and(|lowest| pod.spec.preemption_policy.as_deref() != Some("Never") && lowest < pod.priority())
    }
}

/// Demands of a pod on each node up to which its dry runs of preemption are quick and do not count.
const ORDINARY_DEMANDS: u64 = 5;
/// Steps of an attempt that take as long as one of a search for fixes.
const STEPS_OF_ATTEMPT: u64 = 4;

/// Returns the steps of a search for fixes that dry runs of preemption count for: a part of the steps of the attempt that grows with
/// the pod's demands.
fn steps_of_dry_runs(steps: u64, pod: &Pod) -> u64 {
    let demands = decision_steps(1, pod).saturating_sub(ORDINARY_DEMANDS);
    (steps / STEPS_OF_ATTEMPT / (demands + 3 * ORDINARY_DEMANDS)).saturating_mul(demands)
}

/// Returns the number of values in a value, itself among them.
pub(crate) fn count_values(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<u64>(),
        Value::Object(fields) => 1 + fields.values().map(count_values).sum::<u64>(),
        _ => 1,
    }
}

/// Returns the approximate number of steps of the attempt of a pod's group: those of each member that was tried, which may be all of them
/// for several placements, and for victims again.
pub(super) fn group_steps(nodes: usize, pod: &Pod, attempt: &CycleView) -> u64 {
    let Some(group) = &attempt.group else { return 0 };
    let members = group.start.pods.len();
    let is_tried = |member: &&Key| attempt.member(member).is_some_and(|member| member.start.is_some());
    let tried = if group.placements.is_empty() { group.start.pods.iter().filter(is_tried).count() } else { members };
    let for_victims = group.preemption.as_ref().filter(|record| !record.units.is_empty()).map_or(0, |_| members);
    decision_steps(nodes, pod).saturating_mul((tried + for_victims) as u64).saturating_mul(STEPS_OF_MEMBER)
}

/// Returns how a decision lets the pod in by preemption; `None` where it does not.
fn preempts(decision: DryDecision) -> Option<Verified> {
    let DryDecision::Tried(ScheduleResult::FitError(error)) = decision else { return None };
    let record = error.preemption.as_ref().filter(|record| error.preempted && !record.hypothetical && record.selected().is_some())?;
    let victims: BTreeMap<Str, Vec<Victim>> = record.candidates().map(|c| (c.node.clone(), c.victims.clone())).collect();
    Some(Verified { outcome: FixOutcome::Preempts, nodes: victims.keys().cloned().collect(), victims })
}

/// Returns the nodes that a pod fits on, by name; `None` where it fits on none.
pub(super) fn takers(scheduler: &Scheduler, decision: &DryDecision) -> Option<Vec<Str>> {
    let DryDecision::Tried(ScheduleResult::Selected { feasible, .. }) = decision else { return None };
    let snapshot = scheduler.state().snapshot();
    let mut names: Vec<Str> = feasible.iter().map(|at| snapshot.nodes()[*at].name().clone()).collect();
    names.sort();
    Some(names)
}

/// Returns the node that a decision selects for preemption; `None` where it selects none.
pub(super) fn preempting(decision: &DryDecision) -> Option<PreemptsToday> {
    let DryDecision::Tried(ScheduleResult::FitError(error)) = decision else { return None };
    let record = error.preemption.as_ref().filter(|record| error.preempted && !record.hypothetical)?;
    let node = record.selected()?;
    let chosen = record.final_candidates().find(|candidate| candidate.node == *node);
    let victims = chosen.into_iter().flat_map(|candidate| candidate.victims.iter().map(Victim::key)).collect();
    Some(PreemptsToday { node: node.clone(), of: record.best.len(), victims })
}

/// Returns the free amount of a resource on a node, in thousandths for cpu, else in units.
pub(super) fn free(node: &NodeInfo, resource: &str) -> i64 {
    amount_of(&node.allocatable, resource).saturating_sub(amount_of(&node.requested, resource))
}

/// Returns the amount of a resource by its name: thousandths for cpu, else units.
pub(super) fn amount_of(resources: &Resource, resource: &str) -> i64 {
    match resource {
        "cpu" => resources.milli_cpu,
        "memory" => resources.memory,
        "ephemeral-storage" => resources.ephemeral_storage,
        other => resources.scalar(other),
    }
}

pub(super) fn requests_any(pod: &Pod, resource: &str) -> bool {
    pod_requests(pod, PodResourcesOptions::default()).get(resource).is_some_and(|q| !q.is_zero())
}

#[cfg(test)]
mod tests;
