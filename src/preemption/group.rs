//! Preemption for a whole pod group: whom to evict anywhere in the cluster so that the group finds its places. Mirrors
//! `pkg/scheduler/framework/preemption/{podgrouppreemption,types}.go`.
//!
//! Where kube-scheduler leaves the order of equal units to chance, they come by name here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::eligibility::is_going_by_preemption;
use super::units::{group_of, priority_in_group};
use crate::cluster::{Cluster, Key, PodGroup, Str};
use crate::framework::{BudgetIndex, Code, EvictionUnit, GroupPreemptionRecord, PodInfo, Reason, Snapshot, Status, unix_nanoseconds};
use crate::release::GroupRule;

/// A trial of the group on nodes without some pods.
pub trait GroupTrial {
    /// Takes pods off their nodes.
    fn remove(&mut self, pods: &[Arc<PodInfo>]);
    /// Puts pods back on their nodes.
    fn add(&mut self, pods: &[Arc<PodInfo>]);
    /// Returns success if the group finds its places now.
    fn schedule(&mut self) -> Status;
    /// Returns the nodes of the places that the group found, where they are kept.
    fn places(&self) -> Vec<(Key, Str)> {
        Vec::new()
    }
    /// Puts pods back if the group still finds its places, or still has those that it found; returns whether it does.
    fn reprieve(&mut self, pods: &[Arc<PodInfo>]) -> Result<bool, Status> {
        self.add(pods);
        let fits = self.schedule().is_success();
        if !fits {
            self.remove(pods);
        }
        Ok(fits)
    }
}

/// The group that preempts.
#[derive(Clone, Copy)]
pub struct GroupPreemptor<'a> {
    /// Its object.
    pub group: &'a PodGroup,
    /// Its members that wait.
    pub pods: &'a [Arc<PodInfo>],
    /// The rule of the release.
    pub rule: GroupRule,
}

impl GroupPreemptor<'_> {
    /// Finds whom to evict. All pods of a lower priority than the group's are taken away first, then put back one unit after
    /// another as long as the group still finds its places.
    pub fn preempt(&self, cluster: &Cluster, snapshot: &Snapshot, now: Timestamp, trial: &mut dyn GroupTrial) -> GroupPreemptionRecord {
        let mut record = GroupPreemptionRecord { priority: self.group.priority(), ..GroupPreemptionRecord::default() };
        if self.pods.iter().any(|info| info.pod.spec.preemption_policy.as_deref() == Some("Never")) {
            record.status = Status::rejected(Reason::PreemptionPolicyNever);
            return record;
        }
        if self.rule == GroupRule::Feasible && self.awaits_victims(cluster, snapshot) {
            record.status = Status::new(Code::Success, [Reason::GroupPreemptionOngoing]);
            let nominated = self.pods.iter().filter(|info| !info.pod.status.nominated_node_name.is_empty());
            record.nominated = nominated.map(|info| (info.key(), info.pod.status.nominated_node_name.clone())).collect();
            return record;
        }
        let mut units: Vec<(i64, EvictionUnit)> = units(cluster, snapshot, now, self.rule);
        units.retain(|(_, unit)| unit.priority < self.group.priority());
        if units.is_empty() {
            record.status = Status::rejected(Reason::NoVictimsForGroup);
            return record;
        }
        units.sort_by(|a, b| rank(a).cmp(&rank(b)));
        record.units = units.into_iter().map(|(_, unit)| unit).collect();
        record.units.iter().for_each(|unit| trial.remove(&unit.pods));
        record.status = trial.schedule();
        if !record.status.is_success() {
            return record;
        }
        record.nominated = trial.places();
        mark_violations(&mut record.units, snapshot.budgets(), self.rule);
        for violating in [true, false] {
            for unit in record.units.iter_mut().filter(|unit| unit.violates == violating) {
                match trial.reprieve(&unit.pods) {
                    Ok(reprieved) => unit.reprieved = reprieved,
                    Err(status) => {
                        record.status = status;
                        return record;
                    }
                }
            }
        }
        if self.rule == GroupRule::Feasible {
            let victims = record.victims().count();
            record.status = Status::new(Code::Success, [Reason::GroupPlacementFound { victims }]);
        }
        record
    }

    /// Returns whether a pod of a lower priority that was preempted is still on a node to which a pod of the group is nominated.
    fn awaits_victims(&self, cluster: &Cluster, snapshot: &Snapshot) -> bool {
        let nodes: BTreeSet<&Str> = self.pods.iter().map(|info| &info.pod.status.nominated_node_name).filter(|n| !n.is_empty()).collect();
        let pods = nodes.into_iter().filter_map(|node| snapshot.get(node)).flat_map(|node| &node.pods);
        pods.into_iter().any(|info| priority_in_group(cluster, info) < self.group.priority() && is_going_by_preemption(&info.pod))
    }
}

/// Everything that runs, in units, each with when it started in nanoseconds since 1970. Of a group that is the start of the
/// pod that is met first; in later releases it is the earliest start, and a single pod counts with the priority of its group.
fn units(cluster: &Cluster, snapshot: &Snapshot, now: Timestamp, rule: GroupRule) -> Vec<(i64, EvictionUnit)> {
    let mut units: Vec<(i64, EvictionUnit)> = Vec::new();
    let mut groups: BTreeMap<Key, usize> = BTreeMap::new();
    for info in snapshot.nodes().iter().flat_map(|node| &node.pods) {
        let group = group_of(cluster, info).filter(|group| group.is_disrupted_as_one());
        let start = info.start_time().unwrap_or_else(|| unix_nanoseconds(now));
        let Some(group) = group else {
            let priority = if rule == GroupRule::Feasible { priority_in_group(cluster, info) } else { info.pod.priority() };
            let unit = EvictionUnit { name: info.key(), pods: vec![info.clone()], priority, ..EvictionUnit::default() };
            units.push((start, unit));
            continue;
        };
        let key = group.metadata.key();
        if let Some(at) = groups.get(&key) {
            let (since, unit) = &mut units[*at];
            unit.pods.push(info.clone());
            if rule == GroupRule::Feasible {
                *since = start.min(*since);
            }
            continue;
        }
        groups.insert(key.clone(), units.len());
        let unit = EvictionUnit { name: key, group: true, pods: vec![info.clone()], priority: group.priority(), ..EvictionUnit::default() };
        units.push((start, unit));
    }
    units
}

/// Where a unit comes in an order that has the more important ones first. A pod of any group is worth more than one of none;
/// of the former, more pods are worth more.
fn rank((start, unit): &(i64, EvictionUnit)) -> (Reverse<i32>, bool, Reverse<usize>, i64, &Key) {
    let of_group = unit.pods.first().is_some_and(|info| info.pod.spec.scheduling_group.is_some());
    let size = if of_group { unit.pods.len() } else { 0 };
    (Reverse(unit.priority), !of_group, Reverse(size), *start, &unit.name)
}

/// Notes which units violate a budget: those with a pod for which a budget has nothing left. Budgets are counted down pod by
/// pod, and a pod that finds one exhausted is not counted by those behind it. Earlier releases do not count the pods of a unit
/// after one that violates. Mirrors `filterVictimsWithPDBViolation`.
fn mark_violations(units: &mut [EvictionUnit], budgets: &BudgetIndex, rule: GroupRule) {
    let mut left: BTreeMap<Key, i32> = BTreeMap::new();
    let mut violates = |info: &PodInfo| {
        let covering = budgets.in_namespace(info.namespace()).iter().filter(|selector| info.is_labelled() && selector.matches(info));
        for budget in covering.map(crate::framework::BudgetSelector::budget) {
            if budget.status.disrupted_pods.contains_key(&info.pod.metadata.name) {
                continue;
            }
            let left = left.entry(budget.metadata.key()).or_insert(budget.status.disruptions_allowed);
            *left = left.saturating_sub(1);
            if *left < 0 {
                return true;
            }
        }
        false
    };
    for unit in units {
        unit.violates = match rule {
            GroupRule::Permit => unit.pods.iter().any(|info| violates(info)),
            GroupRule::Feasible => unit.pods.iter().filter(|info| violates(info)).count() > 0,
        };
    }
}

#[cfg(test)]
mod tests;
