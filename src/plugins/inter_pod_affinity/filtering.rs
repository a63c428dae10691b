//! `PreFilter` and Filter of `InterPodAffinity`; mirrors
//! `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use std::sync::Arc;

use super::domains::{Counts, Domains};
use super::{InterPodAffinity, matches_all_terms, merge_namespaces, namespace_labels};
use crate::cluster::{Key, Labels, Pod, Str};
use crate::framework::{
    AffinityTerm, Context, CycleState, DomainConflict, FilterPlugin, LabelBloom, NoMatchInDomain, NodeInfo, PodInfo, PreFilterPlugin,
    PreFilterResult, Reason, Snapshot, Status,
};
use crate::release::{AffinityReasons, Emulation};

const NO_STATE: &str = "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";

/// The incoming pod's data, constant during the cycle.
#[derive(Debug)]
struct Incoming {
    /// Required terms with resolved namespace selectors.
    affinity: Vec<AffinityTerm>,
    anti_affinity: Vec<AffinityTerm>,
    namespace_labels: Labels,
}

/// State of `PreFilter`; a clone shares all but the changes.
#[derive(Clone, Debug)]
struct PreFilterState {
    incoming: Arc<Incoming>,
    /// Existing pods' required anti-affinity terms that match the incoming pod.
    existing_anti_affinity: Counts,
    /// Existing pods that match all required affinity terms of the incoming pod, counted once per term.
    affinity: Counts,
    /// Existing pods that match a required anti-affinity term of the incoming pod.
    anti_affinity: Counts,
    in_the_way: Arc<InTheWay>,
}

/// Positions of the nodes with conflicting pods, for naming one of the pods.
#[derive(Debug, Default)]
struct InTheWay {
    /// Nodes of pods that match a required anti-affinity term of the incoming pod, by term.
    by_term: Vec<Vec<usize>>,
    /// Nodes of pods with a required anti-affinity term that matches the incoming pod.
    existing: Vec<usize>,
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

    /// Returns the term that the node's domains do not satisfy.
    fn unmet_affinity(&self, pod: &Pod, labels: &Labels) -> Option<NoMatchInDomain> {
        let mut unmet = None;
        for term in &self.incoming.affinity {
            let topology_key = term.topology_key.clone();
            let Some(value) = labels.get(&topology_key) else { return Some(NoMatchInDomain { topology_key, domain: None }) };
            if self.affinity.get(&topology_key, value) <= 0 {
                unmet.get_or_insert_with(|| NoMatchInDomain { topology_key, domain: Some(value.clone()) });
            }
        }
        // The first pod of a group with affinity to itself is exempt, because no other pod exists yet.
        unmet.filter(|_| !(self.affinity.is_empty() && matches_all_terms(&self.incoming.affinity, pod)))
    }

    /// Returns the position of the first required anti-affinity term that a pod in the node's domains matches.
    fn violated_anti_affinity(&self, labels: &Labels) -> Option<usize> {
        let violated =
            |term: &AffinityTerm| labels.get(&term.topology_key).is_some_and(|value| self.anti_affinity.get(&term.topology_key, value) > 0);
        if self.anti_affinity.is_empty() { None } else { self.incoming.anti_affinity.iter().position(violated) }
    }

    /// Names the pod that violates a required anti-affinity term on the node.
    fn anti_affinity_conflict(&self, snapshot: &Snapshot, node: &NodeInfo, term: usize) -> Reason {
        let (unknown, nodes) = (Labels::default(), self.in_the_way.by_term.get(term));
        let term = &self.incoming.anti_affinity[term];
        let nodes = nodes.map_or(&[][..], Vec::as_slice);
        let with = find_pod(snapshot, node, &term.topology_key, nodes, |p| term.matches(&p.pod, &unknown));
        Reason::PodAntiAffinity(Box::new(conflict(node, &term.topology_key, with)))
    }

    /// Names the pod in the node's domain whose required anti-affinity matches the incoming pod.
    fn existing_conflict(&self, snapshot: &Snapshot, pod: &Pod, node: &NodeInfo, topology_key: &Str) -> Reason {
        let opposes = |p: &PodInfo| {
            let mut terms = p.required_anti_affinity().iter().filter(|t| t.topology_key == *topology_key);
            terms.any(|t| t.matches(pod, &self.incoming.namespace_labels))
        };
        let with = find_pod(snapshot, node, topology_key, &self.in_the_way.existing, opposes);
        Reason::ExistingPodAntiAffinity(Box::new(conflict(node, topology_key, with)))
    }
}

/// Finds a pod in the node's domain: first on the node itself, which a dry run may have changed, then on the given
/// nodes.
fn find_pod(snapshot: &Snapshot, node: &NodeInfo, key: &Str, nodes: &[usize], matches: impl Fn(&PodInfo) -> bool) -> Option<Key> {
    if let Some(pod) = node.pods.iter().find(|p| matches(p)) {
        return Some(pod.key());
    }
    let value = node.node.metadata.labels.get(key)?;
    let others = nodes.iter().filter_map(|at| snapshot.nodes().get(*at));
    let mut others = others.filter(|n| n.name() != node.name() && n.node.metadata.labels.get(key) == Some(value));
    others.find_map(|n| n.pods.iter().find(|p| matches(p))).map(|pod| pod.key())
}

fn conflict(node: &NodeInfo, topology_key: &Str, with: Option<Key>) -> DomainConflict {
    let domain = node.node.metadata.labels.get(topology_key).cloned().unwrap_or_default();
    DomainConflict { topology_key: topology_key.clone(), domain, with }
}

/// Counts the required anti-affinity terms of existing pods that match `pod`, with the nodes of these pods.
fn existing_anti_affinity_counts(snapshot: &Snapshot, pod: &PodInfo, namespace_labels: &Labels) -> (Domains, Vec<usize>) {
    let (mut domains, mut at) = (Domains::default(), Vec::new());
    for (existing, nodes) in snapshot.pods().with_required_anti_affinity_to(pod.bits()) {
        for term in existing.required_anti_affinity().iter().filter(|t| t.matches(&pod.pod, namespace_labels)) {
            at.extend(nodes.clone().map(|(node, _)| node));
            domains.add_counts(snapshot, &term.topology_key, nodes.clone(), 1);
        }
    }
    (domains, at)
}

/// Counts the pods that match all required affinity terms of the incoming pod, and those that match each of its
/// required anti-affinity terms; with the nodes of the latter, by term.
fn incoming_counts(snapshot: &Snapshot, incoming: &Incoming) -> (Domains, Domains, Vec<Vec<usize>>) {
    let (mut affinity, mut anti_affinity, mut by_term) = (Domains::default(), Domains::default(), Vec::new());
    let unknown = Labels::default();
    if !incoming.affinity.is_empty() {
        let wanted = incoming.affinity.iter().map(AffinityTerm::wanted_bits).fold(LabelBloom::default(), LabelBloom::and);
        let matching = snapshot.pods().count(wanted, |p| matches_all_terms(&incoming.affinity, &p.pod));
        for term in &incoming.affinity {
            affinity.add_counts(snapshot, &term.topology_key, matching.iter().copied(), 1);
        }
    }
    for term in &incoming.anti_affinity {
        let matching = snapshot.pods().count(term.wanted_bits(), |p| term.matches(&p.pod, &unknown));
        by_term.push(matching.iter().map(|(node, _)| *node).collect());
        anti_affinity.add_counts(snapshot, &term.topology_key, matching, 1);
    }
    (affinity, anti_affinity, by_term)
}

impl PreFilterPlugin for InterPodAffinity {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        if let Some(error) = pod.parse_error() {
            return (PreFilterResult::default(), Status::rejected(Reason::InvalidPodAffinity { error: error.to_string().into() }));
        }
        let merged = |terms: &[AffinityTerm]| terms.iter().map(|t| merge_namespaces(cx.cluster, cx.emulation, t)).collect();
        let incoming = Incoming {
            affinity: merged(pod.required_affinity()),
            anti_affinity: merged(pod.required_anti_affinity()),
            namespace_labels: namespace_labels(cx.cluster, &pod.pod.metadata.namespace),
        };
        let (existing, at) = existing_anti_affinity_counts(cx.snapshot, pod, &incoming.namespace_labels);
        if existing.is_empty() && incoming.affinity.is_empty() && incoming.anti_affinity.is_empty() {
            return (PreFilterResult::default(), Status::skip());
        }
        let (affinity, anti_affinity, by_term) = incoming_counts(cx.snapshot, &incoming);
        state.write(PreFilterState {
            incoming: Arc::new(incoming),
            existing_anti_affinity: Counts::new(existing),
            affinity: Counts::new(affinity),
            anti_affinity: Counts::new(anti_affinity),
            in_the_way: Arc::new(InTheWay { by_term, existing: at }),
        });
        (PreFilterResult::default(), Status::success())
    }

    fn has_extensions(&self, _emulation: Emulation) -> bool {
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
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(state) = state.read::<PreFilterState>() else { return Status::error(NO_STATE) };
        let labels = &node.node.metadata.labels;
        let reason = if let Some(unmet) = state.unmet_affinity(&pod.pod, labels) {
            Reason::PodAffinityMismatch(Box::new(unmet))
        } else if let Some(term) = state.violated_anti_affinity(labels) {
            state.anti_affinity_conflict(cx.snapshot, node, term)
        } else if let Some(key) = state.existing_anti_affinity.first_positive(labels) {
            state.existing_conflict(cx.snapshot, &pod.pod, node, key)
        } else {
            return Status::success();
        };
        match cx.emulation.behaviour().affinity_reasons {
            AffinityReasons::One => Status::rejected(reason),
            AffinityReasons::Two => Status::new(reason.code(), [Reason::PodAffinityRules, reason]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, info, node, pod, pod_in};
    use super::*;
    use crate::framework::Code;

    const AFFINITY: &str = "node(s) didn't match pod affinity rules";
    const ANTI: &str = "node(s) didn't match pod anti-affinity rules";
    const EXISTING: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

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

    /// Checks the reasons on the three nodes, or that `PreFilter` skips if `None`.
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
        // A matching pod on a node without the key makes no domain.
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
        let mut world = world([vec![pod_in("blue", "w", WEB, "{}")], vec![pod_in("red", "v", WEB, "{}")], vec![]], &namespaces);
        let check_selector = |world: &World, selector: &str, expected: [&str; 3]| {
            let rest = format!(r#","namespaceSelector":{selector}"#);
            check(world, pod("p", "{}", &apart(&[term(IS_WEB, "zone", &rest)])), Some(expected));
        };
        let not_blue = r#"{"matchExpressions":[{"key":"team","operator":"NotIn","values":["blue"]}]}"#;
        check_selector(&world, "null", ["", "", ""]);
        check_selector(&world, "{}", [ANTI, ANTI, ""]);
        check_selector(&world, r#"{"matchLabels":{"team":"blue"}}"#, [ANTI, "", ""]);
        check_selector(&world, r#"{"matchExpressions":[{"key":"team","operator":"Exists"}]}"#, [ANTI, ANTI, ""]);
        // Matched without namespace labels, `NotIn` excludes no namespace.
        check_selector(&world, not_blue, [ANTI, ANTI, ""]);
        for (release, expected) in [("v1.34.1", [ANTI, ANTI, ""]), ("v1.33.0", ["", ANTI, ""]), ("v1.22.6", ["", ANTI, ""])] {
            world.emulation = crate::release::Profile::named(release).expect("an emulated release").into();
            check_selector(&world, not_blue, expected);
            check_selector(&world, "{}", [ANTI, ANTI, ""]);
        }
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
        assert!(plugin.has_extensions(world.cx().emulation));
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
        // Without a matching pod the exception for the first pod holds, until one is added again.
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
        assert_eq!((status.code(), status.message().as_str()), (Code::UnschedulableAndUnresolvable, expected));
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
