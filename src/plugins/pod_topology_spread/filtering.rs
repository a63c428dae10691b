//! `PreFilter` and Filter of `PodTopologySpread`; mirrors
//! `pkg/scheduler/framework/plugins/podtopologyspread/filtering.go`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::PodTopologySpread;
use super::common::{Action, Constraint, NodePolicies, PolicyReader, slots};
use crate::cluster::{Node, Pod, Str};
use crate::framework::{
    Context, CycleState, FilterPlugin, NodeInfo, PodInfo, PreFilterPlugin, PreFilterResult, Reason, SpreadSkew, Status, Topology, in_parts,
};
use crate::release::{Emulation, SpreadCounts};

const NO_STATE: &str = "reading \"PreFilterPodTopologySpread\" from cycleState: not found";

/// The domain with the lowest count and one with the second lowest. They are exact while counts change in one domain
/// only; a dry run changes those of one node.
#[derive(Clone, Debug)]
struct CriticalPaths([(Str, i64); 2]);

impl CriticalPaths {
    fn new() -> Self {
        Self([(Str::default(), i64::from(i32::MAX)), (Str::default(), i64::from(i32::MAX))])
    }

    fn update(&mut self, value: &Str, count: i64) {
        let paths = &mut self.0;
        if let Some(known) = paths.iter().position(|(v, _)| v == value) {
            paths[known].1 = count;
            if paths[0].1 > paths[1].1 {
                paths.swap(0, 1);
            }
        } else if count < paths[0].1 {
            paths.swap(0, 1);
            paths[0] = (value.clone(), count);
        } else if count < paths[1].1 {
            paths[1] = (value.clone(), count);
        }
    }

    fn lowest(&self) -> i64 {
        self.0[0].1
    }
}

/// Counts by topology value, and the values in the order of first occurrence.
#[derive(Debug, Default)]
struct Domains {
    topology: Arc<Topology>,
    order: Vec<usize>,
    /// `None` for values that are no domain.
    counts: Vec<Option<i64>>,
}

impl Domains {
    fn new(topology: Arc<Topology>) -> Self {
        Self { counts: vec![None; topology.len()], topology, order: Vec::new() }
    }

    fn add(&mut self, value: usize, count: i64) {
        if let Some(total) = &mut self.counts[value] {
            *total += count;
        } else {
            self.counts[value] = Some(count);
            self.order.push(value);
        }
    }

    /// Replaces the counts by those of all nodes in the known domains. A node without the key is in the domain of the empty value.
    fn recount<'m>(&mut self, matching: impl Iterator<Item = &'m (usize, i64)>) {
        self.counts.iter_mut().flatten().for_each(|count| *count = 0);
        let none = self.topology.number("");
        for (at, matches) in matching {
            if let Some(count) = self.topology.of_node(*at).or(none).and_then(|value| self.counts[value].as_mut()) {
                *count += matches;
            }
        }
    }

    /// Returns the count of a domain by the number of its value.
    fn get(&self, value: Option<usize>) -> Option<i64> {
        self.counts[value?]
    }

    /// Returns the domains with their counts, in the order of first occurrence.
    fn iter(&self) -> impl Iterator<Item = (&Str, i64)> {
        self.order.iter().map(|value| (self.topology.value(*value), self.counts[*value].unwrap_or_default()))
    }
}

/// A constraint with its matching pods by topology value.
#[derive(Debug)]
struct Spread {
    constraint: Constraint,
    /// 1 if the constraint's selector matches the incoming pod itself.
    self_match: i64,
    counts: Domains,
}

/// A value with its number in the topology; without one if no node has it.
type NodeValue<S> = (S, Option<usize>);

/// The node that `AddPod` and `RemovePod` changed last: a dry run changes one node many times.
#[derive(Debug)]
struct Last {
    node: Arc<Node>,
    /// The values of the node by the number of their key; `None` without the key.
    values: Vec<Option<NodeValue<Str>>>,
    has_all_keys: bool,
}

/// State of `PreFilter`; a clone shares all but the changes.
#[derive(Clone, Debug)]
struct PreFilterState {
    spreads: Arc<[Spread]>,
    /// For each constraint, the one that holds its counts.
    slots: Arc<[usize]>,
    /// For each constraint, the number of its topology key.
    keys: Arc<[usize]>,
    last: Option<Arc<Last>>,
    /// For each constraint that holds counts, the lowest counts and the number of domains.
    minima: Vec<(CriticalPaths, usize)>,
    /// Changes by `AddPod` and `RemovePod`: constraint, topology value, difference; sorted.
    changes: Vec<(usize, Str, i64)>,
}

impl PreFilterState {
    fn new(cx: &Context<'_>, constraints: &[Constraint], pod: &Pod) -> Self {
        let mut minima = Vec::with_capacity(constraints.len());
        let nodes = cx.snapshot.nodes();
        let spread_counts = cx.emulation.behaviour().spread.counts;
        let shares = spread_counts != SpreadCounts::PerConstraint;
        let slots = slots(constraints.iter().map(|c| &c.topology_key), |_| shares);
        let reader = PolicyReader::new(constraints, pod, cx.emulation);
        let one_key = constraints.iter().all(|c| c.topology_key == constraints[0].topology_key);
        let has_all_keys = || one_key || constraints.iter().all(|c| cx.snapshot.topology(&c.topology_key).is_complete());
        // Where every node with the key of a constraint counts, the domains of the key are known.
        let counts_all = reader.includes_all() && spread_counts != SpreadCounts::OnAllNodes && has_all_keys();
        let policies = |part: Range<usize>| part.map(|at| reader.read(&nodes[at].node)).collect::<Vec<NodePolicies>>();
        let policies = in_parts(0..if counts_all { 0 } else { nodes.len() }, policies).concat();
        let mut sharing: Vec<Vec<&Constraint>> = vec![Vec::new(); constraints.len()];
        for (constraint, slot) in constraints.iter().zip(&slots) {
            sharing[*slot].push(constraint);
        }
        let spread = |(slot, constraint): (usize, Constraint)| {
            let self_match = i64::from(constraint.selects(&pod.metadata.labels));
            let shared = &sharing[slot];
            if slots[slot] != slot {
                minima.push((CriticalPaths::new(), 0));
                return Spread { constraint, self_match, counts: Domains::default() };
            }
            let topology = cx.snapshot.topology(&constraint.topology_key);
            let mut counts = Domains::new(topology.clone());
            // Of constraints with shared counts, the last that counts the node decides.
            if let Some(last) = shared.last().filter(|_| counts_all) {
                (0..topology.len()).for_each(|value| counts.add(value, 0));
                for (at, count) in last.matching_parts(cx.snapshot, &pod.metadata.namespace) {
                    topology.of_node(at).into_iter().for_each(|value| counts.add(value, count));
                }
            } else {
                let matching: Vec<Vec<(usize, i64)>> =
                    shared.iter().map(|c| c.matching_pods(cx.snapshot, &pod.metadata.namespace)).collect();
                let mut of_nodes: Vec<_> = matching.iter().map(|m| m.iter().peekable()).collect();
                for (at, value) in topology.of_nodes().enumerate() {
                    let mut counted = None;
                    for (constraint, matching) in shared.iter().zip(&mut of_nodes) {
                        let count = matching.next_if(|(i, _)| *i == at).map_or(0, |(_, count)| *count);
                        if policies[at].has_all_keys && policies[at].include(constraint) {
                            counted = Some(count);
                        }
                    }
                    if let (Some(count), Some(value)) = (counted, value) {
                        counts.add(value, count);
                    }
                }
                if spread_counts == SpreadCounts::OnAllNodes {
                    counts.recount(matching.iter().flatten());
                }
            }
            let mut paths = CriticalPaths::new();
            counts.iter().for_each(|(value, count)| paths.update(value, count));
            minima.push((paths, counts.order.len()));
            Spread { constraint, self_match, counts }
        };
        let spreads = constraints.iter().cloned().enumerate().map(spread).collect();
        let mut known: HashMap<&Str, usize> = HashMap::new();
        let number = |key| {
            let next = known.len();
            *known.entry(key).or_insert(next)
        };
        let keys = constraints.iter().map(|constraint| &constraint.topology_key).map(number).collect();
        Self { spreads, slots: slots.into(), keys, last: None, minima, changes: Vec::new() }
    }

    /// Returns the value of a node for the key of a constraint; `None` without the key.
    fn value<'a>(&'a self, node: &'a Arc<Node>, constraint: usize) -> Option<NodeValue<&'a Str>> {
        match &self.last {
            Some(last) if Arc::ptr_eq(&last.node, node) => {
                last.values[self.keys[constraint]].as_ref().map(|(value, number)| (value, *number))
            }
            _ => self.find_value(node, constraint),
        }
    }

    fn find_value<'n>(&self, node: &'n Node, constraint: usize) -> Option<NodeValue<&'n Str>> {
        let value = node.metadata.labels.get(&self.spreads[constraint].constraint.topology_key)?;
        Some((value, self.spreads[self.slots[constraint]].counts.topology.number(value)))
    }

    /// Returns the values of a node that changes, found once until another one does.
    fn values_of(&mut self, node: &Arc<Node>) -> Arc<Last> {
        if let Some(last) = self.last.as_ref().filter(|last| Arc::ptr_eq(&last.node, node)) {
            return last.clone();
        }
        let mut values = Vec::new();
        for (constraint, key) in self.keys.iter().enumerate() {
            if *key == values.len() {
                values.push(self.find_value(node, constraint).map(|(value, number)| (value.clone(), number)));
            }
        }
        let has_all_keys = values.iter().all(Option::is_some);
        self.last.insert(Arc::new(Last { node: node.clone(), values, has_all_keys })).clone()
    }

    fn change(&self, constraint: usize, value: &Str) -> Option<i64> {
        self.place(constraint, value).ok().map(|at| self.changes[at].2)
    }

    /// Returns the place of a change, or else where it would be.
    fn place(&self, constraint: usize, value: &Str) -> Result<usize, usize> {
        // A dry run changes the counts of one node, mostly one of each constraint in turn.
        if self.changes.get(constraint).is_some_and(|(i, v, _)| *i == constraint && v == value) {
            return Ok(constraint);
        }
        if self.changes.last().is_none_or(|(i, ..)| *i < constraint) {
            return Err(self.changes.len());
        }
        self.changes.binary_search_by(|(i, v, _)| (*i, v).cmp(&(constraint, value)))
    }

    fn update(&mut self, constraint: usize, (value, number): &NodeValue<Str>, amount: i64) {
        let base = self.spreads[constraint].counts.get(*number);
        let place = self.place(constraint, value);
        let before = place.ok().map(|at| self.changes[at].2);
        match place {
            Ok(at) => self.changes[at].2 += amount,
            Err(at) => self.changes.insert(at, (constraint, value.clone(), amount)),
        }
        let (paths, domains) = &mut self.minima[constraint];
        *domains += usize::from(base.is_none() && before.is_none());
        paths.update(value, base.unwrap_or(0) + before.unwrap_or(0) + amount);
    }

    fn update_with_pod(&mut self, cx: &Context<'_>, pod: &Pod, updated: &Pod, node: &NodeInfo, amount: i64) {
        if updated.metadata.namespace != pod.metadata.namespace {
            return;
        }
        let last = self.values_of(&node.node);
        if !last.has_all_keys {
            return;
        }
        let spreads = self.spreads.clone();
        let on_all_nodes = cx.emulation.behaviour().spread.counts == SpreadCounts::OnAllNodes;
        let mut policies = None;
        let mut policies = || *policies.get_or_insert_with(|| NodePolicies::of(pod, &node.node, cx.emulation));
        for (i, Spread { constraint, .. }) in spreads.iter().enumerate() {
            // Unlike PreFilter, this counts for an empty selector, and counts terminating pods.
            if constraint.selects(&updated.metadata.labels)
                && (on_all_nodes || policies().include(constraint))
                && let Some(value) = &last.values[self.keys[i]]
            {
                self.update(self.slots[i], value, amount);
            }
        }
    }
}

impl PreFilterPlugin for PodTopologySpread {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let status = match self.constraints(cx, &pod.pod, Action::DoNotSchedule) {
            Err(error) => Status::error(format!("{}{error}", cx.emulation.behaviour().spread.constraint_error)),
            Ok(constraints) if constraints.is_empty() => Status::skip(),
            Ok(constraints) => {
                state.write(PreFilterState::new(cx, &constraints, &pod.pod));
                Status::success()
            }
        };
        (PreFilterResult::default(), status)
    }

    fn has_extensions(&self, _emulation: Emulation) -> bool {
        true
    }

    fn add_pod(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) -> Status {
        update_state(cx, state, pod, added, node, 1)
    }

    fn remove_pod(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) -> Status {
        update_state(cx, state, pod, removed, node, -1)
    }
}

fn update_state(cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, updated: &PodInfo, node: &NodeInfo, amount: i64) -> Status {
    let Some(state) = state.get_mut::<PreFilterState>() else { return Status::error(NO_STATE) };
    state.update_with_pod(cx, &pod.pod, &updated.pod, node, amount);
    Status::success()
}

impl FilterPlugin for PodTopologySpread {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(state) = state.read::<PreFilterState>() else { return Status::error(NO_STATE) };
        let own = cx.snapshot.position_of(node);
        for (i, (spread, slot)) in state.spreads.iter().zip(state.slots.iter().copied()).enumerate() {
            let (paths, domains) = &state.minima[slot];
            let number = match own {
                Some(at) => state.spreads[slot].counts.topology.of_node(at).map(Some),
                None => state.value(&node.node, i).map(|(_, number)| number),
            };
            debug_assert_eq!(number, state.value(&node.node, i).map(|(_, number)| number), "{}", node.name());
            let Some(number) = number else {
                let topology_key = spread.constraint.topology_key.clone();
                return Status::rejected(Reason::TopologyKeyMissing { topology_key });
            };
            // With fewer domains than `minDomains`, the lowest count is 0.
            let enough = i64::try_from(*domains).is_ok_and(|n| n >= i64::from(spread.constraint.min_domains));
            let lowest = if enough { paths.lowest() } else { 0 };
            let value = || state.value(&node.node, i).map(|(value, _)| value);
            let changed = if state.changes.is_empty() { None } else { value().and_then(|value| state.change(slot, value)) };
            let count = state.spreads[slot].counts.get(number).unwrap_or(0) + changed.unwrap_or(0);
            let matching = count + spread.self_match;
            let max_skew = i64::from(spread.constraint.max_skew);
            if matching - lowest > max_skew {
                let topology_key = spread.constraint.topology_key.clone();
                let domain = value().cloned().unwrap_or_default();
                let skew = SpreadSkew { topology_key, domain, matching, lowest, max_skew };
                return Status::rejected(Reason::TopologySpreadSkew(Box::new(skew)));
            }
        }
        Status::success()
    }
}

#[cfg(test)]
mod tests;
