//! `PreFilter` and Filter of `PodTopologySpread`; mirrors
//! `pkg/scheduler/framework/plugins/podtopologyspread/filtering.go`.

use std::ops::Range;
use std::sync::Arc;

use super::PodTopologySpread;
use super::common::{Action, Constraint, NodePolicies, PolicyReader, slots};
use crate::cluster::{Pod, Str};
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

    /// Returns the count of a domain.
    fn get(&self, value: &Str) -> Option<i64> {
        self.counts[self.topology.number(value)?]
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

/// State of `PreFilter`; a clone shares all but the changes.
#[derive(Clone, Debug)]
struct PreFilterState {
    spreads: Arc<[Spread]>,
    /// For each constraint, the one that holds its counts.
    slots: Arc<[usize]>,
    /// For each constraint that holds counts, the lowest counts and the number of domains.
    minima: Vec<(CriticalPaths, usize)>,
    /// Changes by `AddPod` and `RemovePod`: constraint, topology value, difference.
    changes: Vec<(usize, Str, i64)>,
}

impl PreFilterState {
    fn new(cx: &Context<'_>, constraints: &[Constraint], pod: &Pod) -> Self {
        let mut minima = Vec::with_capacity(constraints.len());
        let nodes = cx.snapshot.nodes();
        let spread_counts = cx.emulation.behaviour().spread_counts;
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
        Self { spreads, slots: slots.into(), minima, changes: Vec::new() }
    }

    fn change(&self, constraint: usize, value: &Str) -> Option<i64> {
        self.changes.iter().find(|(i, v, _)| *i == constraint && v == value).map(|(_, _, change)| *change)
    }

    fn update(&mut self, constraint: usize, value: &Str, amount: i64) {
        let base = self.spreads[constraint].counts.get(value);
        let before = self.change(constraint, value);
        match self.changes.iter_mut().find(|(i, v, _)| *i == constraint && v == value) {
            Some((_, _, change)) => *change += amount,
            None => self.changes.push((constraint, value.clone(), amount)),
        }
        let (paths, domains) = &mut self.minima[constraint];
        *domains += usize::from(base.is_none() && before.is_none());
        paths.update(value, base.unwrap_or(0) + before.unwrap_or(0) + amount);
    }

    fn update_with_pod(&mut self, cx: &Context<'_>, pod: &Pod, updated: &Pod, node: &NodeInfo, amount: i64) {
        let labels = &node.node.metadata.labels;
        if updated.metadata.namespace != pod.metadata.namespace
            || self.spreads.iter().any(|s| !labels.contains_key(&s.constraint.topology_key))
        {
            return;
        }
        let spreads = self.spreads.clone();
        let on_all_nodes = cx.emulation.behaviour().spread_counts == SpreadCounts::OnAllNodes;
        for (i, Spread { constraint, .. }) in spreads.iter().enumerate() {
            // Unlike PreFilter, this counts for an empty selector, and counts terminating pods.
            if constraint.selects(&updated.metadata.labels)
                && (on_all_nodes || constraint.matches_node_inclusion_policies(pod, &node.node, cx.emulation))
                && let Some(value) = labels.get(&constraint.topology_key)
            {
                self.update(self.slots[i], value, amount);
            }
        }
    }
}

impl PreFilterPlugin for PodTopologySpread {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let status = match self.constraints(cx, &pod.pod, Action::DoNotSchedule) {
            Err(error) => Status::error(format!("{}{error}", cx.emulation.behaviour().constraint_error)),
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
    fn filter(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(state) = state.read::<PreFilterState>() else { return Status::error(NO_STATE) };
        for (spread, slot) in state.spreads.iter().zip(state.slots.iter().copied()) {
            let (paths, domains) = &state.minima[slot];
            let Some(value) = node.node.metadata.labels.get(&spread.constraint.topology_key) else {
                let topology_key = spread.constraint.topology_key.clone();
                return Status::rejected(Reason::TopologyKeyMissing { topology_key });
            };
            // With fewer domains than `minDomains`, the lowest count is 0.
            let enough = i64::try_from(*domains).is_ok_and(|n| n >= i64::from(spread.constraint.min_domains));
            let lowest = if enough { paths.lowest() } else { 0 };
            let count = state.spreads[slot].counts.get(value).unwrap_or(0) + state.change(slot, value).unwrap_or(0);
            let matching = count + spread.self_match;
            let max_skew = i64::from(spread.constraint.max_skew);
            if matching - lowest > max_skew {
                let topology_key = spread.constraint.topology_key.clone();
                let skew = SpreadSkew { topology_key, domain: value.clone(), matching, lowest, max_skew };
                return Status::rejected(Reason::TopologySpreadSkew(Box::new(skew)));
            }
        }
        Status::success()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, info, node, pod};
    use super::*;
    use crate::framework::Code;

    const SKEW: &str = "node(s) didn't match pod topology spread constraints";
    const LABEL: &str = "node(s) didn't match pod topology spread constraints (missing required label)";
    const WEB: &str = r#"{"app":"web"}"#;
    const IS_WEB: &str = r#""labelSelector":{"matchLabels":{"app":"web"}}"#;

    fn hard(max_skew: i32, key: &str, rest: &str) -> String {
        format!(r#"{{"maxSkew":{max_skew},"topologyKey":"{key}","whenUnsatisfiable":"DoNotSchedule",{rest}}}"#)
    }

    fn web(number: usize) -> Vec<Pod> {
        (0..number).map(|i| pod(&format!("w{i}"), WEB, "[]")).collect()
    }

    /// Makes `n0` and `n1` in zone a, `n2` in zone b and `n3` without a zone, with the given number of web pods.
    fn world(pods: [usize; 4]) -> World {
        let labels = [r#"{"zone":"a","host":"0"}"#, r#"{"zone":"a","host":"1"}"#, r#"{"zone":"b","host":"2"}"#, r#"{"host":"3"}"#];
        let nodes = labels.iter().zip(pods).enumerate().map(|(i, (labels, pods))| (node(&format!("n{i}"), labels), web(pods)));
        World::new(nodes.collect(), [])
    }

    fn statuses(world: &World, state: &CycleState, pod: &PodInfo) -> Vec<String> {
        let filter = |n: &Arc<NodeInfo>| FilterPlugin::filter(&PodTopologySpread::default(), &world.cx(), state, pod, n);
        world.nodes().iter().map(|n| filter(n).message()).collect()
    }

    #[test]
    fn constraints_with_one_key_share_their_counts_in_earlier_releases() {
        let pod = info(pod(
            "p",
            WEB,
            &format!("[{},{}]", hard(1, "zone", IS_WEB), hard(1, "zone", r#""labelSelector":{"matchLabels":{"app":"db"}}"#)),
        ));
        let mut world = world([2, 1, 1, 0]);
        assert_eq!(statuses(&world, &pre_filter(&world, &pod), &pod), [SKEW, SKEW, "", LABEL]);
        // The last constraint counts no node's pods.
        world.emulation = crate::release::Profile::named("v1.32.2").expect("an emulated release").into();
        assert_eq!(statuses(&world, &pre_filter(&world, &pod), &pod), ["", "", "", LABEL]);
    }

    #[test]
    fn up_to_v1_23_pods_count_on_all_nodes_of_a_domain_and_constraints_with_one_key_add_up() {
        let is_db = r#""labelSelector":{"matchLabels":{"app":"db"}}"#;
        let affinity = r#"{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
            {"matchExpressions":[{"key":"host","operator":"In","values":["0","2"]}]}]}}}"#;
        let mut world = world([0, 3, 1, 0]);
        let mut check = |version: &str, constraints: &[String], expected: [&str; 4]| {
            let mut pod = pod("p", WEB, &format!("[{}]", constraints.join(",")));
            Arc::make_mut(&mut pod.spec).affinity = serde_json::from_str(affinity).unwrap();
            let pod = info(pod);
            world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
            assert_eq!(statuses(&world, &pre_filter(&world, &pod), &pod), expected, "{version}");
        };
        // The pod may go to n0 and n2; n1 is in the zone of n0.
        let one = [hard(1, "zone", IS_WEB)];
        check("v1.24.4", &one, ["", "", SKEW, LABEL]);
        check("v1.22.6", &one, [SKEW, SKEW, "", LABEL]);
        let two = [hard(1, "zone", IS_WEB), hard(1, "zone", is_db)];
        check("v1.24.4", &two, ["", "", "", LABEL]);
        check("v1.22.6", &two, [SKEW, SKEW, "", LABEL]);
    }

    #[track_caller]
    fn pre_filter(world: &World, pod: &PodInfo) -> CycleState {
        let mut state = CycleState::default();
        let (_, status) = PreFilterPlugin::pre_filter(&PodTopologySpread::default(), &world.cx(), &mut state, pod);
        assert!(status.is_success(), "{status}");
        state
    }

    #[track_caller]
    fn check(world: &World, labels: &str, constraints: &[String], expected: [&str; 4]) {
        let pod = info(pod("p", labels, &format!("[{}]", constraints.join(","))));
        assert_eq!(statuses(world, &pre_filter(world, &pod), &pod), expected);
    }

    #[test]
    fn skew_counts_pods_by_domain_and_the_pod_itself() {
        check(&world([1, 1, 1, 0]), WEB, &[hard(1, "zone", IS_WEB)], [SKEW, SKEW, "", LABEL]);
        check(&world([1, 1, 1, 0]), WEB, &[hard(2, "zone", IS_WEB)], ["", "", "", LABEL]);
        // An incoming pod that the selector does not match adds nothing.
        check(&world([1, 1, 1, 0]), "{}", &[hard(1, "zone", IS_WEB)], ["", "", "", LABEL]);
        check(&world([1, 0, 2, 5]), WEB, &[hard(1, "host", IS_WEB)], [SKEW, "", SKEW, SKEW]);
        // A node without the zone counts for neither constraint: by host the lowest count is 1, not the 0 of the last
        // node.
        check(&world([1, 1, 2, 0]), WEB, &[hard(1, "host", IS_WEB), hard(1, "zone", IS_WEB)], ["", "", SKEW, LABEL]);
        check(&world([1, 0, 0, 0]), WEB, &[hard(2, "host", IS_WEB), hard(1, "zone", IS_WEB)], [SKEW, SKEW, "", LABEL]);
        check(&world([3, 3, 3, 3]), WEB, &[hard(1, "nowhere", IS_WEB)], [LABEL; 4]);
    }

    #[test]
    fn fewer_domains_than_asked_for_count_as_an_empty_one() {
        check(&world([1, 0, 1, 0]), WEB, &[hard(1, "zone", &format!(r#"{IS_WEB},"minDomains":2"#))], ["", "", "", LABEL]);
        check(&world([1, 0, 1, 0]), WEB, &[hard(1, "zone", &format!(r#"{IS_WEB},"minDomains":3"#))], [SKEW, SKEW, SKEW, LABEL]);
        check(&world([1, 0, 1, 0]), WEB, &[hard(2, "zone", &format!(r#"{IS_WEB},"minDomains":3"#))], ["", "", "", LABEL]);
    }

    #[test]
    fn absent_and_empty_selectors() {
        check(&world([3, 0, 0, 0]), WEB, &[hard(1, "zone", r#""labelSelector":null"#)], ["", "", "", LABEL]);
        // The empty selector counts no pod but the incoming one.
        check(&world([3, 0, 0, 0]), WEB, &[hard(1, "zone", r#""labelSelector":{}"#)], ["", "", "", LABEL]);
        let zero = hard(1, "zone", r#""labelSelector":{}"#).replace(r#""maxSkew":1"#, r#""maxSkew":0"#);
        check(&world([3, 0, 0, 0]), WEB, &[zero], [SKEW, SKEW, SKEW, LABEL]);
    }

    #[test]
    fn nodes_left_out_by_policy_are_no_domain() {
        let world = world([1, 0, 0, 0]);
        let constraint = hard(1, "zone", IS_WEB);
        let mut on_a = pod("p", WEB, &format!("[{constraint}]"));
        on_a.spec_mut().node_selector = serde_json::from_str(r#"{"zone":"a"}"#).unwrap();
        let on_a = info(on_a);
        // Zone b is not a domain, so the lowest count is zone a's; zone b's count is 0.
        assert_eq!(statuses(&world, &pre_filter(&world, &on_a), &on_a), ["", "", "", LABEL]);
        let mut any = pod("p", WEB, &format!("[{}]", hard(1, "zone", &format!(r#"{IS_WEB},"nodeAffinityPolicy":"Ignore""#))));
        any.spec_mut().node_selector = serde_json::from_str(r#"{"zone":"a"}"#).unwrap();
        let any = info(any);
        assert_eq!(statuses(&world, &pre_filter(&world, &any), &any), [SKEW, SKEW, "", LABEL]);
    }

    #[test]
    fn adding_and_removing_pods_changes_only_the_clone() {
        let world = world([2, 0, 1, 0]);
        let incoming = info(pod("p", WEB, &format!("[{}]", hard(1, "zone", IS_WEB))));
        let state = pre_filter(&world, &incoming);
        let plugin = PodTopologySpread::default();
        assert!(plugin.has_extensions(world.cx().emulation));
        let mut dry_run = state.clone();
        let mut step = |updated: &Pod, node: usize, add: bool, expected: [&str; 4]| {
            let update = if add { PreFilterPlugin::add_pod } else { PreFilterPlugin::remove_pod };
            assert!(update(&plugin, &world.cx(), &mut dry_run, &incoming, &info(updated.clone()), &world.nodes()[node]).is_success());
            assert_eq!(statuses(&world, &dry_run, &incoming), expected);
        };
        let w = pod("w0", WEB, "[]");
        let mut elsewhere = w.clone();
        elsewhere.metadata.namespace = "elsewhere".into();
        let mut terminating = w.clone();
        terminating.metadata.deletion_timestamp = Some(jiff::Timestamp::UNIX_EPOCH);
        step(&elsewhere, 0, false, [SKEW, SKEW, "", LABEL]);
        step(&pod("d", r#"{"app":"db"}"#, "[]"), 0, false, [SKEW, SKEW, "", LABEL]);
        step(&w, 3, false, [SKEW, SKEW, "", LABEL]);
        step(&terminating, 0, false, ["", "", "", LABEL]);
        step(&w, 1, false, ["", "", SKEW, LABEL]);
        step(&w, 0, true, ["", "", "", LABEL]);
        step(&w, 0, true, [SKEW, SKEW, "", LABEL]);
        assert_eq!(statuses(&world, &state, &incoming), [SKEW, SKEW, "", LABEL]);
    }

    #[test]
    fn removing_counts_for_an_empty_selector() {
        let world = world([1, 0, 1, 0]);
        let incoming = info(pod("p", WEB, &format!("[{}]", hard(1, "zone", r#""labelSelector":{}"#))));
        let mut state = pre_filter(&world, &incoming);
        let (plugin, gone) = (PodTopologySpread::default(), info(pod("x", "{}", "[]")));
        assert!(plugin.remove_pod(&world.cx(), &mut state, &incoming, &gone, &world.nodes()[0]).is_success());
        assert_eq!(statuses(&world, &state, &incoming), ["", "", SKEW, LABEL]);
    }

    #[test]
    fn a_domain_that_policy_left_out_stays_out_and_a_new_one_comes_in() {
        let world = world([1, 0, 0, 0]);
        let rest = format!(r#"{IS_WEB},"minDomains":3"#);
        let incoming = info(pod("p", WEB, &format!("[{}]", hard(1, "zone", &rest))));
        let mut state = pre_filter(&world, &incoming);
        let mut fresh = NodeInfo::new(Arc::new(node("n9", r#"{"zone":"c"}"#)));
        fresh.add_pod(Arc::new(info(pod("w9", WEB, "[]"))));
        let plugin = PodTopologySpread::default();
        assert_eq!(statuses(&world, &state, &incoming), [SKEW, SKEW, "", LABEL]);
        assert!(plugin.add_pod(&world.cx(), &mut state, &incoming, &info(pod("w9", WEB, "[]")), &fresh).is_success());
        let status = FilterPlugin::filter(&plugin, &world.cx(), &state, &incoming, &fresh);
        assert_eq!((status.code(), status.message().as_str()), (Code::Unschedulable, SKEW));
        assert_eq!(status.fact().as_deref(), Some("zone=c would have 2 matching pods, 0 the fewest: skew 2 > 1"));
    }

    #[test]
    fn skips_errors_and_missing_state() {
        let (world, plugin) = (world([0; 4]), PodTopologySpread::default());
        let run = |constraints: &str| {
            PreFilterPlugin::pre_filter(&plugin, &world.cx(), &mut CycleState::default(), &info(pod("p", WEB, constraints))).1
        };
        assert!(run("[]").is_skip());
        assert!(run(r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]"#).is_skip());
        let odd = format!("[{}]", hard(1, "zone", r#""labelSelector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}"#));
        let expected =
            r#"get constraints from pod: obtaining pod's hard topology spread constraints: "Odd" is not a valid label selector operator"#;
        assert_eq!(run(&odd), Status::error(expected));
        let (pod, mut state) = (info(pod("p", WEB, "[]")), CycleState::default());
        assert_eq!(FilterPlugin::filter(&plugin, &world.cx(), &state, &pod, &world.nodes()[0]), Status::error(NO_STATE));
        assert_eq!(plugin.add_pod(&world.cx(), &mut state, &pod, &pod, &world.nodes()[0]), Status::error(NO_STATE));
        assert_eq!(plugin.remove_pod(&world.cx(), &mut state, &pod, &pod, &world.nodes()[0]), Status::error(NO_STATE));
    }

    #[test]
    fn many_nodes_count_as_few_do() {
        let nodes = (0..1000).map(|i| (node(&format!("n{i}"), &format!(r#"{{"host":"{i}"}}"#)), web(usize::from(i % 3 == 0))));
        let world = World::new(nodes.collect(), []);
        let incoming = info(pod("p", WEB, &format!("[{}]", hard(1, "host", IS_WEB))));
        let failing: Vec<bool> = statuses(&world, &pre_filter(&world, &incoming), &incoming).iter().map(|s| s == SKEW).collect();
        assert_eq!(failing, (0..1000).map(|i| i % 3 == 0).collect::<Vec<_>>());
    }
}
