//! `PreScore` and Score of `PodTopologySpread`; mirrors `pkg/scheduler/framework/plugins/podtopologyspread/scoring.go`.

use std::collections::HashSet;
use std::sync::Arc;

use super::PodTopologySpread;
use super::common::{Action, Constraint, LABEL_HOSTNAME, NodePolicies, PolicyReader, has_all_keys, slots};
use crate::cluster::{Pod, Str};
use crate::framework::{Context, CycleState, MAX_NODE_SCORE, NodeInfo, PodInfo, PreScorePlugin, ScorePlugin, Status, Topology};
use crate::release::{IdleScores, Rounding, SpreadCounts};

/// Services of which the selectors are compared with a pod in a step.
const SERVICES_OF_A_STEP: usize = 2;
/// Steps that a default constraint takes on a node, of those of [`crate::framework::node_steps`].
const STEPS_OF_DEFAULT: u64 = 5;

const NO_STATE: &str = "error reading \"PreScorePodTopologySpread\" from cycleState: not found";
/// Marks an ignored node. A constraint with an invalid skew can also give a raw score of -1, which counts as ignored.
const INVALID_SCORE: i64 = -1;

/// A constraint with its matching pods by topology value.
#[derive(Debug)]
struct Spread {
    constraint: Constraint,
    /// The values of the key.
    topology: Arc<Topology>,
    /// Counts by number of the value; last that of the empty value, where no node of the snapshot has it. For the host name, counts by
    /// position of the node in the snapshot; nodes beyond the end have none.
    counts: Vec<i64>,
    /// ln(domains + 2): normalizes constraints with few domains against those with many.
    weight: f64,
}

/// State of `PreScore`.
#[derive(Clone, Debug)]
struct PreScoreState {
    spreads: Arc<[Spread]>,
    /// For each constraint, the one that holds its counts.
    slots: Arc<[usize]>,
    /// Feasible nodes that lack a required topology key.
    ignored: Arc<HashSet<Str>>,
}

impl PreScoreState {
    /// Collects the domains of the feasible nodes, without counts.
    fn new(cx: &Context<'_>, constraints: Vec<Constraint>, feasible: &[Arc<NodeInfo>], require_all: bool) -> Self {
        let counts = cx.emulation.behaviour().spread.counts;
        let topologies: Vec<Arc<Topology>> = constraints.iter().map(|c| cx.snapshot.topology(&c.topology_key)).collect();
        let partial: Vec<&Arc<Topology>> = topologies.iter().filter(|topology| require_all && !topology.is_complete()).collect();
        let takes_part = |(node, at): &(&Arc<NodeInfo>, Option<usize>)| match at {
            Some(at) => partial.iter().all(|topology| topology.of_node(*at).is_some()),
            None => !require_all || has_all_keys(&node.node.metadata.labels, &constraints),
        };
        let placed = feasible.iter().map(|node| (node, cx.snapshot.position_of(node)));
        let (ranked, ignored): (Vec<_>, Vec<_>) = placed.partition(takes_part);
        let shares = |key: &Str| counts == SpreadCounts::PerTopologyKey && key != LABEL_HOSTNAME;
        let slots: Arc<[usize]> = slots(constraints.iter().map(|c| &c.topology_key), shares).into();
        let spread = |((i, constraint), topology): ((usize, Constraint), Arc<Topology>)| {
            let domains = if slots[i] != i {
                // All domains belong to the other constraint, so this one has none.
                0
            } else if constraint.topology_key == LABEL_HOSTNAME {
                ranked.len()
            } else {
                domains(&topology, &constraint.topology_key, &ranked)
            };
            Spread { constraint, topology, counts: Vec::new(), weight: ((domains + 2) as f64).ln() }
        };
        let ignored = Arc::new(ignored.into_iter().map(|(node, _)| node.name().clone()).collect());
        Self { spreads: constraints.into_iter().enumerate().zip(topologies).map(spread).collect(), slots, ignored }
    }
}

/// Returns the number of values that nodes have for a key. A node without the key has the empty value.
fn domains(topology: &Topology, key: &Str, nodes: &[(&Arc<NodeInfo>, Option<usize>)]) -> usize {
    let mut found = vec![false; topology.len()];
    // Values that no node of the snapshot has.
    let mut others = HashSet::new();
    let mut is_missing = false;
    for (node, at) in nodes {
        let labels = &node.node.metadata.labels;
        let number = match at {
            Some(at) => topology.of_node(*at),
            None => match labels.get(key).map(|value| (value, topology.number(value))) {
                Some((value, None)) => {
                    others.insert(value);
                    continue;
                }
                found => found.and_then(|(_, number)| number),
            },
        };
        match number {
            Some(number) => found[number] = true,
            None => is_missing = true,
        }
    }
    let has_empty = topology.number("").is_some_and(|number| found[number]) || others.iter().any(|value| value.is_empty());
    found.iter().filter(|found| **found).count() + others.len() + usize::from(is_missing && !has_empty)
}

/// Counts the matching pods of all nodes in the domains of feasible nodes. A node without the key is in the domain of the empty value.
fn count_pods(cx: &Context<'_>, pod: &Pod, spreads: &mut [Spread], slots: &[usize], require_all: bool) {
    let constraints: Vec<Constraint> = spreads.iter().map(|s| s.constraint.clone()).collect();
    let reader = PolicyReader::new(&constraints, pod, cx.emulation);
    let nodes = cx.snapshot.nodes();
    let counts_all = reader.includes_all() && !require_all;
    let mut policies: Vec<Option<NodePolicies>> = if counts_all { Vec::new() } else { vec![None; nodes.len()] };
    let mut matching: Vec<(usize, i64)> = Vec::new();
    for (i, constraint) in constraints.iter().enumerate() {
        if i == 0 || !constraint.counts_as(&constraints[i - 1]) {
            matching = constraint.matching_pods(cx.snapshot, &pod.metadata.namespace);
        }
        if constraint.topology_key == LABEL_HOSTNAME {
            let of_hosts = &mut spreads[slots[i]].counts;
            of_hosts.resize(matching.last().map_or(0, |(at, _)| at + 1), 0);
            for (at, count) in &matching {
                of_hosts[*at] = *count;
            }
            continue;
        }
        let topology = spreads[i].topology.clone();
        let (mut totals, mut without) = (vec![0; topology.len() + 1], 0);
        for (at, count) in &matching {
            if !counts_all {
                let policies = *policies[*at].get_or_insert_with(|| reader.read(&nodes[*at].node));
                if require_all && !policies.has_all_keys || !policies.include(constraint) {
                    continue;
                }
            }
            *topology.of_node(*at).map_or(&mut without, |value| &mut totals[value]) += count;
        }
        // A node without the key is in the domain of the empty value.
        let empty = topology.number("").unwrap_or(topology.len());
        totals[empty] += without;
        let counts = &mut spreads[slots[i]].counts;
        counts.resize(totals.len(), 0);
        counts.iter_mut().zip(totals).for_each(|(count, total)| *count += total);
    }
}

impl PreScorePlugin for PodTopologySpread {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Status {
        if cx.snapshot.is_empty() {
            return Status::skip();
        }
        // With the system defaults, a node without a zone is still spread by host.
        let has_own = !pod.pod.spec.topology_spread_constraints.is_empty();
        let require_all = has_own || !self.system_defaulted;
        if !has_own {
            // The default selector is put together from those of the Services.
            state.count_list_steps((cx.cluster.services.in_namespace(pod.namespace()).count() / SERVICES_OF_A_STEP) as u64);
        }
        let constraints = match self.constraints(cx, &pod.pod, Action::ScheduleAnyway) {
            Ok(constraints) if constraints.is_empty() && cx.emulation.behaviour().cycle.idle_scores != IdleScores::Kept => {
                return Status::skip();
            }
            Ok(constraints) => constraints,
            Err(error) => return Status::error(format!("calculating preScoreState: {error}")),
        };
        if !has_own {
            state.count_list_steps(STEPS_OF_DEFAULT.saturating_mul((constraints.len() * nodes.len()) as u64));
        }
        let mut computed = PreScoreState::new(cx, constraints, nodes, require_all);
        if let Some(spreads) = Arc::get_mut(&mut computed.spreads) {
            count_pods(cx, &pod.pod, spreads, &computed.slots, require_all);
        }
        state.write(computed);
        Status::success()
    }
}

impl ScorePlugin for PodTopologySpread {
    fn score(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let state = state.read::<PreScoreState>().ok_or_else(|| Status::error(NO_STATE))?;
        if !state.ignored.is_empty() && state.ignored.contains(node.name()) {
            return Ok(0);
        }
        let at = cx.snapshot.position_of(node);
        let mut score = 0.0;
        for (Spread { constraint, topology, weight, .. }, slot) in state.spreads.iter().zip(state.slots.iter()) {
            let counts = &state.spreads[*slot].counts;
            let of_label = || {
                let empty = |value: &Str| value.is_empty().then_some(topology.len());
                node.node.metadata.labels.get(&constraint.topology_key).map(|value| topology.number(value).or_else(|| empty(value)))
            };
            let value = at.map_or_else(of_label, |at| topology.of_node(at).map(Some));
            debug_assert_eq!(value, of_label(), "{}", node.name());
            let Some(value) = value else { continue };
            let count = if constraint.topology_key == LABEL_HOSTNAME {
                // A node that an extender returned has no pods, whatever runs on it.
                let at = if node.pods.is_empty() { None } else { at.or_else(|| cx.snapshot.position(node.name())) };
                at.and_then(|at| counts.get(at))
            } else {
                value.and_then(|value| counts.get(value))
            };
            let count = count.copied().unwrap_or(0);
            score += count as f64 * weight + f64::from(constraint.max_skew.wrapping_sub(1));
        }
        Ok(match cx.emulation.behaviour().spread.score {
            Rounding::Nearest => score.round() as i64,
            Rounding::Down => score as i64,
        })
    }

    fn normalize(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        let Some(state) = state.read::<PreScoreState>() else { return Status::error(NO_STATE) };
        let (mut lowest, mut highest) = (i64::MAX, 0);
        for (node, score) in nodes.iter().zip(scores.iter_mut()) {
            if !state.ignored.is_empty() && state.ignored.contains(node.name()) {
                *score = INVALID_SCORE;
            } else {
                lowest = lowest.min(*score);
                highest = highest.max(*score);
            }
        }
        for score in scores {
            *score = match *score {
                INVALID_SCORE => 0,
                _ if highest == 0 => MAX_NODE_SCORE,
                raw => MAX_NODE_SCORE.wrapping_mul(highest.wrapping_add(lowest).wrapping_sub(raw)) / highest,
            };
        }
        Status::success()
    }
}

#[cfg(test)]
mod tests;
