//! `PreFilter` and Filter of `InterPodAffinity`; mirrors
//! `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use std::sync::Arc;

use super::domains::{Counts, Domains};
use super::{InterPodAffinity, matches_all_terms, merge_namespaces, namespace_labels};
use crate::cluster::{Labels, Pod};
use crate::framework::{
    AffinityTerm, Context, CycleState, FilterPlugin, NodeInfo, PodBits, PodInfo, PreFilterPlugin, PreFilterResult, Snapshot, Status,
};

/// A required anti-affinity term of a pod in the node's domains is about the incoming pod.
pub const ERR_REASON_EXISTING_ANTI_AFFINITY: &str = "node(s) didn't satisfy existing pods anti-affinity rules";
/// The node's domains hold no pod that matches all required affinity terms, or the node lacks a topology key.
pub const ERR_REASON_AFFINITY_RULES_NOT_MATCH: &str = "node(s) didn't match pod affinity rules";
/// The node's domains hold a pod that a required anti-affinity term is about.
pub const ERR_REASON_ANTI_AFFINITY_RULES_NOT_MATCH: &str = "node(s) didn't match pod anti-affinity rules";

const NO_STATE: &str = "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";

/// What stays the same during the cycle.
#[derive(Debug)]
struct Incoming {
    /// Required terms, namespace selectors resolved.
    affinity: Vec<AffinityTerm>,
    anti_affinity: Vec<AffinityTerm>,
    namespace_labels: Labels,
}

/// What `PreFilter` computes; a copy shares all but the changes.
#[derive(Clone, Debug)]
struct PreFilterState {
    incoming: Arc<Incoming>,
    /// By the required anti-affinity terms of existing pods that are about the incoming pod.
    existing_anti_affinity: Counts,
    /// By the existing pods that match all required affinity terms of the incoming pod, once for each term.
    affinity: Counts,
    /// By the existing pods that match a required anti-affinity term of the incoming pod.
    anti_affinity: Counts,
}

impl PreFilterState {
    fn update_with_pod(&mut self, pod: &Pod, updated: &PodInfo, node: &NodeInfo, amount: i64) {
        let labels = &node.node.metadata.labels;
        for term in updated.required_anti_affinity() {
            if term.matches(pod, &self.incoming.namespace_labels) {
                self.existing_anti_affinity.update(labels, &term.topology_key, amount);
            }
        }
        if matches_all_terms(&self.incoming.affinity, &updated.pod) {
            for term in &self.incoming.affinity {
                self.affinity.update(labels, &term.topology_key, amount);
            }
        }
        let unknown = Labels::default();
        for term in &self.incoming.anti_affinity {
            if term.matches(&updated.pod, &unknown) {
                self.anti_affinity.update(labels, &term.topology_key, amount);
            }
        }
    }

    fn satisfies_affinity(&self, pod: &Pod, labels: &Labels) -> bool {
        let mut pods_exist = true;
        for term in &self.incoming.affinity {
            let Some(value) = labels.get(&term.topology_key) else { return false };
            pods_exist &= self.affinity.get(&term.topology_key, value) > 0;
        }
        // The first of a group of pods with affinity to each other has nobody to join yet.
        pods_exist || (self.affinity.is_empty() && matches_all_terms(&self.incoming.affinity, pod))
    }

    fn satisfies_anti_affinity(&self, labels: &Labels) -> bool {
        self.anti_affinity.is_empty()
            || !self
                .incoming
                .anti_affinity
                .iter()
                .any(|term| labels.get(&term.topology_key).is_some_and(|value| self.anti_affinity.get(&term.topology_key, value) > 0))
    }
}

/// Counts the required anti-affinity terms of existing pods that are about `pod`.
fn existing_anti_affinity_counts(snapshot: &Snapshot, pod: &PodInfo, namespace_labels: &Labels) -> Domains {
    let mut domains = Domains::default();
    for (existing, nodes) in snapshot.pods().with_required_anti_affinity_to(pod.bits()) {
        for term in existing.required_anti_affinity().iter().filter(|t| t.matches(&pod.pod, namespace_labels)) {
            domains.add_counts(snapshot, &term.topology_key, nodes.clone(), 1);
        }
    }
    domains
}

/// Counts the pods that match all required affinity terms of the incoming pod, and those that match each of its
/// required anti-affinity terms.
fn incoming_counts(snapshot: &Snapshot, incoming: &Incoming) -> (Domains, Domains) {
    let (mut affinity, mut anti_affinity) = (Domains::default(), Domains::default());
    let unknown = Labels::default();
    if !incoming.affinity.is_empty() {
        let wanted = incoming.affinity.iter().map(AffinityTerm::wanted_bits).fold(PodBits::default(), PodBits::and);
        let matching = snapshot.pods().count(wanted, |p| matches_all_terms(&incoming.affinity, &p.pod));
        for term in &incoming.affinity {
            affinity.add_counts(snapshot, &term.topology_key, matching.iter().copied(), 1);
        }
    }
    for term in &incoming.anti_affinity {
        let matching = snapshot.pods().count(term.wanted_bits(), |p| term.matches(&p.pod, &unknown));
        anti_affinity.add_counts(snapshot, &term.topology_key, matching, 1);
    }
    (affinity, anti_affinity)
}

impl PreFilterPlugin for InterPodAffinity {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        if let Some(error) = pod.parse_error() {
            return (PreFilterResult::default(), Status::unresolvable(format!("parsing pod: {error}")));
        }
        let merged = |terms: &[AffinityTerm]| terms.iter().map(|t| merge_namespaces(cx.cluster, t)).collect();
        let incoming = Incoming {
            affinity: merged(pod.required_affinity()),
            anti_affinity: merged(pod.required_anti_affinity()),
            namespace_labels: namespace_labels(cx.cluster, &pod.pod.metadata.namespace),
        };
        let existing = existing_anti_affinity_counts(cx.snapshot, pod, &incoming.namespace_labels);
        if existing.is_empty() && incoming.affinity.is_empty() && incoming.anti_affinity.is_empty() {
            return (PreFilterResult::default(), Status::skip());
        }
        let (affinity, anti_affinity) = incoming_counts(cx.snapshot, &incoming);
        state.write(PreFilterState {
            incoming: Arc::new(incoming),
            existing_anti_affinity: Counts::new(existing),
            affinity: Counts::new(affinity),
            anti_affinity: Counts::new(anti_affinity),
        });
        (PreFilterResult::default(), Status::success())
    }

    fn has_extensions(&self) -> bool {
        true
    }

    fn add_pod(&self, _cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) -> Status {
        update_state(state, pod, added, node, 1)
    }

    fn remove_pod(&self, _cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) -> Status {
        update_state(state, pod, removed, node, -1)
    }
}

fn update_state(state: &mut CycleState, pod: &PodInfo, updated: &PodInfo, node: &NodeInfo, amount: i64) -> Status {
    let Some(state) = state.get_mut::<PreFilterState>() else { return Status::error(NO_STATE) };
    state.update_with_pod(&pod.pod, updated, node, amount);
    Status::success()
}

impl FilterPlugin for InterPodAffinity {
    fn filter(&self, _cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(state) = state.read::<PreFilterState>() else { return Status::error(NO_STATE) };
        let labels = &node.node.metadata.labels;
        if !state.satisfies_affinity(&pod.pod, labels) {
            return Status::unresolvable(ERR_REASON_AFFINITY_RULES_NOT_MATCH);
        }
        if !state.satisfies_anti_affinity(labels) {
            return Status::unschedulable(ERR_REASON_ANTI_AFFINITY_RULES_NOT_MATCH);
        }
        if state.existing_anti_affinity.any_positive(labels) {
            return Status::unschedulable(ERR_REASON_EXISTING_ANTI_AFFINITY);
        }
        Status::success()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, info, node, pod, pod_in};
    use super::*;

    const AFFINITY: &str = ERR_REASON_AFFINITY_RULES_NOT_MATCH;
    const ANTI: &str = ERR_REASON_ANTI_AFFINITY_RULES_NOT_MATCH;
    const EXISTING: &str = ERR_REASON_EXISTING_ANTI_AFFINITY;

    fn term(selector: &str, key: &str, rest: &str) -> String {
        format!(r#"{{"labelSelector":{selector},"topologyKey":"{key}"{rest}}}"#)
    }

    fn required(stanza: &str, terms: &[String]) -> String {
        format!(r#"{{"{stanza}":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}}"#, terms.join(","))
    }

    fn near(terms: &[String]) -> String {
        required("podAffinity", terms)
    }

    fn apart(terms: &[String]) -> String {
        required("podAntiAffinity", terms)
    }

    /// Nodes `n1` in zone a, `n2` in zone b and `n3` without a zone, with the given pods.
    fn world(pods: [Vec<Pod>; 3], namespaces: &[(&str, &str)]) -> World {
        let labels = [r#"{"zone":"a","host":"n1"}"#, r#"{"zone":"b","host":"n2"}"#, r#"{"host":"n3"}"#];
        let nodes = pods.into_iter().zip(labels).enumerate();
        World::new(nodes.map(|(i, (pods, labels))| (node(&format!("n{}", i + 1), labels), pods)).collect(), namespaces)
    }

    fn statuses(world: &World, state: &CycleState, pod: &PodInfo) -> Vec<String> {
        let filter = |n: &Arc<NodeInfo>| FilterPlugin::filter(&InterPodAffinity::default(), &world.cx(), state, pod, n);
        world.nodes().iter().map(|n| filter(n).message()).collect()
    }

    /// Reasons on the three nodes, or `None` where `PreFilter` skips.
    #[track_caller]
    fn check(world: &World, pod: Pod, expected: Option<[&str; 3]>) {
        let (pod, mut state) = (info(pod), CycleState::default());
        let (_, status) = PreFilterPlugin::pre_filter(&InterPodAffinity::default(), &world.cx(), &mut state, &pod);
        match expected {
            None => assert!(status.is_skip(), "{status}"),
            Some(expected) => {
                assert!(status.is_success(), "{status}");
                assert_eq!(statuses(world, &state, &pod), expected);
            }
        }
    }

    const WEB: &str = r#"{"app":"web"}"#;
    const IS_WEB: &str = r#"{"matchLabels":{"app":"web"}}"#;

    #[test]
    fn affinity_needs_every_key_and_a_pod_in_every_domain() {
        let world = world([vec![pod("w", WEB, "{}")], vec![], vec![]], &[]);
        check(&world, pod("p", "{}", "{}"), None);
        check(&world, pod("p", "{}", &near(&[term(IS_WEB, "zone", "")])), Some(["", AFFINITY, AFFINITY]));
        check(&world, pod("p", "{}", &near(&[term(IS_WEB, "zone", ""), term(IS_WEB, "host", "")])), Some(["", AFFINITY, AFFINITY]));
        // One pod must match all terms.
        let other = term(r#"{"matchLabels":{"app":"db"}}"#, "zone", "");
        check(&world, pod("p", "{}", &near(&[term(IS_WEB, "zone", ""), other])), Some([AFFINITY; 3]));
        check(&world, pod_in("elsewhere", "p", "{}", &near(&[term(IS_WEB, "zone", "")])), Some([AFFINITY; 3]));
        check(
            &world,
            pod_in("elsewhere", "p", "{}", &near(&[term(IS_WEB, "zone", r#","namespaces":["default"]"#)])),
            Some(["", AFFINITY, AFFINITY]),
        );
    }

    #[test]
    fn the_first_pod_of_a_group_goes_wherever_the_keys_are() {
        let group = near(&[term(IS_WEB, "zone", "")]);
        check(&world([vec![], vec![], vec![]], &[]), pod("p", WEB, &group), Some(["", "", AFFINITY]));
        check(&world([vec![], vec![], vec![]], &[]), pod("p", "{}", &group), Some([AFFINITY; 3]));
        // A member on a node without the key founds no domain.
        check(&world([vec![], vec![], vec![pod("w", WEB, "{}")]], &[]), pod("p", WEB, &group), Some(["", "", AFFINITY]));
        check(&world([vec![pod("w", WEB, "{}")], vec![], vec![]], &[]), pod("p", WEB, &group), Some(["", AFFINITY, AFFINITY]));
    }

    #[test]
    fn anti_affinity_works_both_ways_and_needs_the_key() {
        let pods = || [vec![pod("w", WEB, "{}")], vec![], vec![pod("v", WEB, "{}")]];
        check(&world(pods(), &[]), pod("p", "{}", &apart(&[term(IS_WEB, "zone", "")])), Some([ANTI, "", ""]));
        check(&world(pods(), &[]), pod("p", "{}", &apart(&[term(IS_WEB, "host", "")])), Some([ANTI, "", ANTI]));
        let against = apart(&[term(IS_WEB, "zone", "")]);
        let existing = world([vec![pod("x", "{}", &against)], vec![], vec![pod("y", "{}", &against)]], &[]);
        check(&existing, pod("p", WEB, "{}"), Some([EXISTING, "", ""]));
        check(&existing, pod("p", "{}", "{}"), None);
        check(&existing, pod_in("elsewhere", "p", WEB, "{}"), None);
        // The pod's own terms come first.
        let own = apart(&[term("{}", "zone", "")]);
        check(&existing, pod("p", WEB, &own), Some([ANTI, "", ""]));
        check(&existing, pod("p", WEB, &near(&[term(IS_WEB, "zone", "")])), Some([EXISTING, "", AFFINITY]));
    }

    #[test]
    fn namespace_selectors_of_the_incoming_pod_are_resolved_and_stay() {
        let namespaces = [("default", "{}"), ("blue", r#"{"team":"blue"}"#), ("red", r#"{"team":"red"}"#)];
        let world = world([vec![pod_in("blue", "w", WEB, "{}")], vec![pod_in("red", "v", WEB, "{}")], vec![]], &namespaces);
        let check_selector = |selector: &str, expected: [&str; 3]| {
            let rest = format!(r#","namespaceSelector":{selector}"#);
            check(&world, pod("p", "{}", &apart(&[term(IS_WEB, "zone", &rest)])), Some(expected));
        };
        check_selector("null", ["", "", ""]);
        check_selector("{}", [ANTI, ANTI, ""]);
        check_selector(r#"{"matchLabels":{"team":"blue"}}"#, [ANTI, "", ""]);
        check_selector(r#"{"matchExpressions":[{"key":"team","operator":"Exists"}]}"#, [ANTI, ANTI, ""]);
        // Matched without namespace labels, an exclusion excludes nothing.
        check_selector(r#"{"matchExpressions":[{"key":"team","operator":"NotIn","values":["blue"]}]}"#, [ANTI, ANTI, ""]);
    }

    #[test]
    fn namespace_selectors_of_existing_pods_see_the_real_labels() {
        let rest = r#","namespaceSelector":{"matchExpressions":[{"key":"team","operator":"NotIn","values":["blue"]}]}"#;
        let against = apart(&[term(IS_WEB, "zone", rest)]);
        let world = world([vec![pod_in("x", "x", "{}", &against)], vec![], vec![]], &[("blue", r#"{"team":"blue"}"#), ("red", "{}")]);
        check(&world, pod_in("blue", "p", WEB, "{}"), None);
        check(&world, pod_in("red", "p", WEB, "{}"), Some([EXISTING, "", ""]));
        check(&world, pod_in("unknown", "p", WEB, "{}"), Some([EXISTING, "", ""]));
    }

    #[test]
    fn adding_and_removing_pods_changes_only_the_clone() {
        let against = apart(&[term(IS_WEB, "zone", "")]);
        let both = format!(
            r#"{{"podAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}},"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}}"#,
            term(r#"{"matchLabels":{"group":"1"}}"#, "zone", ""),
            term(r#"{"matchLabels":{"app":"db"}}"#, "zone", ""),
        );
        let member = pod("member", r#"{"group":"1"}"#, "{}");
        let hater = pod("hater", "{}", &against);
        let db = pod("db", r#"{"app":"db"}"#, "{}");
        let world = world([vec![member.clone(), db.clone(), hater.clone()], vec![], vec![]], &[]);
        let (incoming, mut state) = (info(pod("p", r#"{"app":"web","group":"1"}"#, &both)), CycleState::default());
        let plugin = InterPodAffinity::default();
        assert!(PreFilterPlugin::pre_filter(&plugin, &world.cx(), &mut state, &incoming).1.is_success());
        assert!(plugin.has_extensions());
        assert_eq!(statuses(&world, &state, &incoming), [ANTI, AFFINITY, AFFINITY]);
        let mut dry_run = state.clone();
        let mut step = |pod: &Pod, node: usize, add: bool, expected: [&str; 3]| {
            let (updated, node) = (info(pod.clone()), &world.nodes()[node]);
            let update = if add { PreFilterPlugin::add_pod } else { PreFilterPlugin::remove_pod };
            assert!(update(&plugin, &world.cx(), &mut dry_run, &incoming, &updated, node).is_success());
            assert_eq!(statuses(&world, &dry_run, &incoming), expected);
        };
        step(&db, 0, false, [EXISTING, AFFINITY, AFFINITY]);
        step(&hater, 0, false, ["", AFFINITY, AFFINITY]);
        // Without any member the exception for the first pod holds, until one comes back.
        step(&member, 0, false, ["", "", AFFINITY]);
        step(&member, 1, true, [AFFINITY, "", AFFINITY]);
        step(&hater, 1, true, [AFFINITY, EXISTING, AFFINITY]);
        step(&db, 1, true, [AFFINITY, ANTI, AFFINITY]);
        step(&db, 2, true, [AFFINITY, ANTI, AFFINITY]);
        assert_eq!(statuses(&world, &state, &incoming), [ANTI, AFFINITY, AFFINITY]);
    }

    #[test]
    fn terms_that_do_not_parse_reject_the_pod() {
        let odd = r#"{"matchExpressions":[{"key":"a","operator":"Odd"}]}"#;
        let pod = info(pod("p", "{}", &near(&[term(odd, "zone", "")])));
        let (_, status) = PreFilterPlugin::pre_filter(
            &InterPodAffinity::default(),
            &world([vec![], vec![], vec![]], &[]).cx(),
            &mut CycleState::default(),
            &pod,
        );
        let expected = r#"parsing pod: requiredAffinityTerms: "Odd" is not a valid label selector operator"#;
        assert_eq!(status, Status::unresolvable(expected));
    }

    #[test]
    fn without_state_everything_is_an_error() {
        let (world, plugin) = (world([vec![], vec![], vec![]], &[]), InterPodAffinity::default());
        let (pod, node) = (info(pod("p", "{}", "{}")), &world.nodes()[0]);
        let mut state = CycleState::default();
        assert_eq!(FilterPlugin::filter(&plugin, &world.cx(), &state, &pod, node), Status::error(NO_STATE));
        assert_eq!(plugin.add_pod(&world.cx(), &mut state, &pod, &pod, node), Status::error(NO_STATE));
        assert_eq!(plugin.remove_pod(&world.cx(), &mut state, &pod, &pod, node), Status::error(NO_STATE));
    }

    #[test]
    fn many_nodes_count_as_few_do() {
        let nodes = (0..1000).map(|i| {
            let labels = format!(r#"{{"zone":"z{}","host":"n{i}"}}"#, i % 10);
            (node(&format!("n{i}"), &labels), if i % 7 == 0 { vec![pod(&format!("w{i}"), WEB, "{}")] } else { vec![] })
        });
        let world = World::new(nodes.collect(), &[]);
        let incoming = info(pod("p", "{}", &apart(&[term(IS_WEB, "host", "")])));
        let mut state = CycleState::default();
        assert!(PreFilterPlugin::pre_filter(&InterPodAffinity::default(), &world.cx(), &mut state, &incoming).1.is_success());
        let failing: Vec<bool> = statuses(&world, &state, &incoming).iter().map(|s| s == ANTI).collect();
        assert_eq!(failing, (0..1000).map(|i| i % 7 == 0).collect::<Vec<_>>());
    }
}
