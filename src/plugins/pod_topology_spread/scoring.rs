//! `PreScore` and Score of `PodTopologySpread`; mirrors `pkg/scheduler/framework/plugins/podtopologyspread/scoring.go`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::PodTopologySpread;
use super::common::{Action, Constraint, LABEL_HOSTNAME, NodePolicies, PolicyReader, has_all_keys, slots};
use crate::cluster::{Node, Pod, Str};
use crate::framework::{Context, CycleState, MAX_NODE_SCORE, NodeInfo, PodInfo, PreScorePlugin, ScorePlugin, Status};
use crate::release::{IdleScores, Rounding, SpreadCounts};

const NO_STATE: &str = "error reading \"PreScorePodTopologySpread\" from cycleState: not found";
/// Marks an ignored node. A constraint with an invalid skew can also give a raw score of -1, which counts as ignored.
const INVALID_SCORE: i64 = -1;

/// A constraint with its matching pods by topology value.
#[derive(Debug)]
struct Spread {
    constraint: Constraint,
    /// Counts by topology value of feasible nodes; for the host name, by names of nodes with matching pods.
    counts: HashMap<Str, i64>,
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
    fn new(constraints: Vec<Constraint>, feasible: &[Arc<NodeInfo>], require_all: bool, counts: SpreadCounts) -> Self {
        let takes_part = |n: &Arc<NodeInfo>| !require_all || has_all_keys(&n.node.metadata.labels, &constraints);
        let (ranked, ignored): (Vec<_>, Vec<_>) = feasible.iter().partition(|n| takes_part(n));
        let shares = |key: &Str| counts == SpreadCounts::PerTopologyKey && key != LABEL_HOSTNAME;
        let slots: Arc<[usize]> = slots(constraints.iter().map(|c| &c.topology_key), shares).into();
        let spread = |(i, constraint): (usize, Constraint)| {
            let mut counts = HashMap::new();
            if slots[i] != i {
                // All domains belong to the other constraint, so this one has none.
                return Spread { constraint, counts, weight: 2.0f64.ln() };
            }
            let by_host = constraint.topology_key == LABEL_HOSTNAME;
            for node in ranked.iter().filter(|_| !by_host) {
                let value = node.node.metadata.labels.get(&constraint.topology_key).cloned().unwrap_or_default();
                counts.entry(value).or_insert(0);
            }
            let domains = if by_host { ranked.len() } else { counts.len() };
            Spread { constraint, counts, weight: ((domains + 2) as f64).ln() }
        };
        let ignored = Arc::new(ignored.into_iter().map(|n| n.name().clone()).collect());
        Self { spreads: constraints.into_iter().enumerate().map(spread).collect(), slots, ignored }
    }
}

/// Returns the node's domain; nodes without the key share the empty one.
fn value_of<'a>(node: &'a Node, constraint: &Constraint) -> &'a str {
    node.metadata.labels.get(&constraint.topology_key).map_or("", Str::as_str)
}

/// Counts the matching pods of all nodes in the domains of feasible nodes.
fn count_pods(cx: &Context<'_>, pod: &Pod, spreads: &mut [Spread], slots: &[usize], require_all: bool) {
    let constraints: Vec<Constraint> = spreads.iter().map(|s| s.constraint.clone()).collect();
    let reader = PolicyReader::new(&constraints, pod, cx.emulation);
    let mut policies: HashMap<usize, NodePolicies> = HashMap::new();
    for i in 0..spreads.len() {
        let matching = spreads[i].constraint.matching_pods(cx.snapshot, &pod.metadata.namespace);
        let mut counts = std::mem::take(&mut spreads[slots[i]].counts);
        let constraint = &spreads[i].constraint;
        let counted = matching.into_iter().map(|(at, count)| (at, &*cx.snapshot.nodes()[at].node, count));
        if constraint.topology_key == LABEL_HOSTNAME {
            counts.extend(counted.map(|(_, node, count)| (node.name().clone(), count)));
            spreads[slots[i]].counts = counts;
            continue;
        }
        for (at, node, count) in counted {
            let policies = policies.entry(at).or_insert_with(|| reader.read(node));
            if (!require_all || policies.has_all_keys)
                && policies.include(constraint)
                && let Some(total) = counts.get_mut(value_of(node, constraint))
            {
                *total += count;
            }
        }
        spreads[slots[i]].counts = counts;
    }
}

impl PreScorePlugin for PodTopologySpread {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Status {
        if cx.snapshot.is_empty() {
            return Status::skip();
        }
        // With the system defaults, a node without a zone is still spread by host.
        let require_all = !pod.pod.spec.topology_spread_constraints.is_empty() || !self.system_defaulted;
        let constraints = match self.constraints(cx, &pod.pod, Action::ScheduleAnyway) {
            Ok(constraints) if constraints.is_empty() && cx.emulation.behaviour().idle_scores != IdleScores::Kept => return Status::skip(),
            Ok(constraints) => constraints,
            Err(error) => return Status::error(format!("calculating preScoreState: {error}")),
        };
        let mut computed = PreScoreState::new(constraints, nodes, require_all, cx.emulation.behaviour().spread_counts);
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
        if state.ignored.contains(node.name()) {
            return Ok(0);
        }
        let mut score = 0.0;
        for (Spread { constraint, weight, .. }, slot) in state.spreads.iter().zip(state.slots.iter()) {
            let counts = &state.spreads[*slot].counts;
            let Some(value) = node.node.metadata.labels.get(&constraint.topology_key) else { continue };
            let by_host = constraint.topology_key == LABEL_HOSTNAME;
            // A node that an extender returned has no pods, whatever runs on it.
            let is_bare = by_host && node.pods.is_empty();
            let domain = if by_host { node.name() } else { value };
            let count = counts.get(domain).copied().filter(|_| !is_bare).unwrap_or(0);
            score += count as f64 * weight + f64::from(constraint.max_skew.wrapping_sub(1));
        }
        Ok(match cx.emulation.behaviour().spread_score {
            Rounding::Nearest => score.round() as i64,
            Rounding::Down => score as i64,
        })
    }

    fn normalize(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        let Some(state) = state.read::<PreScoreState>() else { return Status::error(NO_STATE) };
        let (mut lowest, mut highest) = (i64::MAX, 0);
        for (node, score) in nodes.iter().zip(scores.iter_mut()) {
            if state.ignored.contains(node.name()) {
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
mod tests {
    use super::super::testing::{World, info, node, pod};
    use super::super::{DefaultingType, PodTopologySpreadArgs};
    use super::*;
    use crate::cluster::Object;

    const WEB: &str = r#"{"app":"web"}"#;
    const IS_WEB: &str = r#""labelSelector":{"matchLabels":{"app":"web"}}"#;

    fn soft(max_skew: i32, key: &str, rest: &str) -> String {
        format!(r#"{{"maxSkew":{max_skew},"topologyKey":"{key}","whenUnsatisfiable":"ScheduleAnyway",{rest}}}"#)
    }

    fn service() -> Object {
        let text = r#"{"metadata":{"name":"s","namespace":"default"},"spec":{"selector":{"app":"web"}}}"#;
        Object::Service(Arc::new(serde_json::from_str(text).unwrap()))
    }

    /// Makes `n0` and `n1` in zone a, `n2` in zone b and `n3` without a zone, with the given number of web pods.
    fn world(pods: [usize; 4]) -> World {
        let zone = |zone: &str, i: usize| format!(r#"{{"topology.kubernetes.io/zone":"{zone}","kubernetes.io/hostname":"n{i}"}}"#);
        let labels = [zone("a", 0), zone("a", 1), zone("b", 2), r#"{"kubernetes.io/hostname":"n3"}"#.to_string()];
        let nodes = labels.iter().zip(pods).enumerate().map(|(i, (labels, number))| {
            (node(&format!("n{i}"), labels), (0..number).map(|p| pod(&format!("w{i}-{p}"), WEB, "[]")).collect())
        });
        World::new(nodes.collect(), [service()])
    }

    fn raw(plugin: &PodTopologySpread, world: &World, pod: &PodInfo, feasible: &[Arc<NodeInfo>]) -> (CycleState, Vec<i64>) {
        let mut state = CycleState::default();
        let status = plugin.pre_score(&world.cx(), &mut state, pod, feasible);
        assert!(status.is_success(), "{status}");
        let scores = feasible.iter().map(|n| ScorePlugin::score(plugin, &world.cx(), &state, pod, n).unwrap()).collect();
        (state, scores)
    }

    /// Checks the raw and normalized scores of all four nodes.
    #[track_caller]
    fn check(world: &World, constraints: &[String], expected: ([i64; 4], [i64; 4])) {
        let (plugin, pod) = (PodTopologySpread::default(), info(pod("p", WEB, &format!("[{}]", constraints.join(",")))));
        let (state, mut scores) = raw(&plugin, world, &pod, &world.nodes().to_vec());
        assert_eq!(scores, expected.0);
        assert!(plugin.normalize(&world.cx(), &state, &pod, &world.nodes().to_vec(), &mut scores).is_success());
        assert_eq!(scores, expected.1);
    }

    #[test]
    fn counts_are_weighed_by_domains_and_fewer_is_better() {
        let zone = "topology.kubernetes.io/zone";
        // ln 4 = 1.386: zone a 3 pods, zone b 1 pod; the node without a zone is not ranked.
        check(&world([2, 1, 1, 4]), &[soft(1, zone, IS_WEB)], ([4, 4, 1, 0], [25, 25, 100, 0]));
        // A larger maxSkew reduces the difference.
        check(&world([2, 1, 1, 4]), &[soft(5, zone, IS_WEB)], ([8, 8, 5, 0], [62, 62, 100, 0]));
        // By host there are four domains, ln 6 = 1.792, or three if the zone is required too.
        check(&world([2, 1, 0, 4]), &[soft(1, LABEL_HOSTNAME, IS_WEB)], ([4, 2, 0, 7], [42, 71, 100, 0]));
        let both = [soft(1, LABEL_HOSTNAME, IS_WEB), soft(1, zone, IS_WEB)];
        check(&world([2, 1, 0, 4]), &both, ([7, 6, 0, 0], [0, 14, 100, 0]));
        check(&world([0; 4]), &[soft(1, zone, IS_WEB)], ([0; 4], [100, 100, 100, 0]));
        check(&world([2, 1, 1, 4]), &[soft(1, zone, r#""labelSelector":{}"#)], ([0; 4], [100, 100, 100, 0]));
        // A maxSkew below the API server's minimum makes a raw score of -1, which counts as ignored.
        check(&world([0; 4]), &[soft(0, zone, IS_WEB)], ([-1, -1, -1, 0], [0, 0, 0, 0]));
    }

    #[test]
    fn only_domains_of_feasible_nodes_count_but_all_their_nodes_do() {
        let world = world([2, 1, 1, 4]);
        let pod_of = |rest: &str| pod("p", WEB, &format!("[{}]", soft(1, "topology.kubernetes.io/zone", &format!("{IS_WEB}{rest}"))));
        let plugin = PodTopologySpread::default();
        // One feasible domain: ln 3 = 1.099 times the 3 pods of zone a, one of them on an infeasible node.
        assert_eq!(raw(&plugin, &world, &info(pod_of("")), &world.nodes().to_vec()[..1]).1, [3]);
        let selecting = |rest: &str| {
            let mut pod = pod_of(rest);
            pod.spec_mut().node_selector = serde_json::from_str(r#"{"kubernetes.io/hostname":"n0"}"#).unwrap();
            info(pod)
        };
        assert_eq!(raw(&plugin, &world, &selecting(""), &world.nodes().to_vec()[..1]).1, [2]);
        assert_eq!(raw(&plugin, &world, &selecting(r#","nodeAffinityPolicy":"Ignore""#), &world.nodes().to_vec()[..1]).1, [3]);
    }

    #[test]
    fn system_defaults_rank_nodes_without_a_zone_and_a_list_does_not() {
        let world = world([2, 1, 1, 4]);
        let pod = info(pod("p", WEB, "[]"));
        let system = PodTopologySpread::default();
        // Hosts: ln 6 · n + 2; zones a, b and none: ln 5 · n + 4, where there is a zone.
        let (state, mut scores) = raw(&system, &world, &pod, &world.nodes().to_vec());
        assert_eq!(scores, [14, 13, 9, 9]);
        assert!(system.normalize(&world.cx(), &state, &pod, &world.nodes().to_vec(), &mut scores).is_success());
        assert_eq!(scores, [64, 71, 100, 100]);
        let constraints = system.default_constraints.clone().into();
        let args = PodTopologySpreadArgs { defaulting_type: DefaultingType::List, default_constraints: constraints, ..Default::default() };
        // Without the node that lacks a zone: ln 5 and ln 4.
        assert_eq!(raw(&PodTopologySpread::new(args), &world, &pod, &world.nodes().to_vec()).1, [13, 12, 9, 0]);
    }

    #[test]
    fn skips_errors_and_missing_state() {
        let (world, plugin) = (world([0; 4]), PodTopologySpread::default());
        let run = |world: &World, labels: &str, constraints: &str| {
            plugin.pre_score(&world.cx(), &mut CycleState::default(), &info(pod("p", labels, constraints)), &world.nodes().to_vec())
        };
        assert!(run(&world, "{}", "[]").is_skip());
        let hard = r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]"#;
        assert!(run(&world, WEB, hard).is_skip());
        assert!(run(&World::new(vec![], [service()]), WEB, "[]").is_skip());
        let odd = format!("[{}]", soft(1, "z", r#""labelSelector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}"#));
        let expected =
            r#"calculating preScoreState: obtaining pod's soft topology spread constraints: "Odd" is not a valid label selector operator"#;
        assert_eq!(run(&world, WEB, &odd), Status::error(expected));
        let (pod, state) = (info(pod("p", WEB, "[]")), CycleState::default());
        assert_eq!(ScorePlugin::score(&plugin, &world.cx(), &state, &pod, &world.nodes()[0]), Err(Status::error(NO_STATE)));
        assert_eq!(plugin.normalize(&world.cx(), &state, &pod, &[], &mut []), Status::error(NO_STATE));
    }
}
