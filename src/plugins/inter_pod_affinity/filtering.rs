//! `PreFilter` and Filter of `InterPodAffinity`; mirrors
//! `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use std::collections::HashMap;
use std::sync::Arc;

use super::counts::Counts;
use super::domains::Domains;
use super::{InterPodAffinity, matches_all_terms, merge_namespaces, namespace_labels};
use crate::cluster::{Key, Labels, Node, Pod, Str};
use crate::framework::{
    AffinityTerm, Context, CycleState, DomainConflict, FilterPlugin, LabelBloom, NoMatchInDomain, NodeInfo, PodInfo, PreFilterPlugin,
    PreFilterResult, Reason, Snapshot, Status,
};
use crate::release::{AffinityReasons, Emulation};

/// Steps that count for a term that is compared with the pods of others or of the incoming pod, and for each node that it then counts on.
pub(super) const STEPS_OF_TERM: u64 = 4;
pub(super) const STEPS_OF_COUNT: u64 = 8;
/// Steps that count for a term of the incoming pod once in a cycle.
const STEPS_OF_OWN_TERM: u64 = 50;

const NO_STATE: &str = "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";

/// The incoming pod's data, constant during the cycle.
#[derive(Debug)]
struct Incoming {
    /// Required terms with resolved namespace selectors.
    affinity: Vec<AffinityTerm>,
    anti_affinity: Vec<AffinityTerm>,
    /// The topology keys of the terms, as all terms with one count the same domains.
    affinity_keys: Vec<TopologyKey>,
    anti_affinity_keys: Vec<TopologyKey>,
    namespace_labels: Labels,
}

/// A topology key of some terms.
#[derive(Clone, Debug, PartialEq)]
struct TopologyKey {
    key: Str,
    /// The places of the terms, in order.
    terms: Vec<usize>,
}

/// Returns the topology keys in the order of the first term with each.
fn keys_of(terms: &[AffinityTerm]) -> Vec<TopologyKey> {
    let mut keys: Vec<TopologyKey> = Vec::new();
    let mut known: HashMap<&Str, usize> = HashMap::new();
    for (place, term) in terms.iter().enumerate() {
        let at = *known.entry(&term.topology_key).or_insert(keys.len());
        if at == keys.len() {
            keys.push(TopologyKey { key: term.topology_key.clone(), terms: Vec::new() });
        }
        keys[at].terms.push(place);
    }
    keys
}

/// Returns an amount for each of some terms.
fn for_each(amount: i64, terms: usize) -> i64 {
    amount.saturating_mul(i64::try_from(terms).unwrap_or(i64::MAX))
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
        let node = &node.node;
        for term in updated.required_anti_affinity() {
            if term.matches(pod, &self.incoming.namespace_labels) {
                let place = self.existing_anti_affinity.place_or_add(&term.topology_key);
                self.existing_anti_affinity.update(node, place, amount);
            }
        }
        if matches_all_terms(&self.incoming.affinity, &updated.pod) {
            for (place, TopologyKey { terms, .. }) in self.incoming.affinity_keys.iter().enumerate() {
                self.affinity.update(node, place, for_each(amount, terms.len()));
            }
        }
        let unknown = Labels::default();
        let matches = |place: &&usize| self.incoming.anti_affinity[**place].matches(&updated.pod, &unknown);
        for (place, TopologyKey { terms, .. }) in self.incoming.anti_affinity_keys.iter().enumerate() {
            let matching = terms.iter().filter(matches).count();
            if matching > 0 {
                self.anti_affinity.update(node, place, for_each(amount, matching));
            }
        }
    }

    /// Returns the term that the node's domains do not satisfy.
    fn unmet_affinity(&self, pod: &Pod, node: &Arc<Node>) -> Option<NoMatchInDomain> {
        let mut unmet = None;
        for (place, TopologyKey { key, .. }) in self.incoming.affinity_keys.iter().enumerate() {
            let no_match = || NoMatchInDomain { topology_key: key.clone(), domain: node.metadata.labels.get(key).cloned() };
            match self.affinity.get(node, place) {
                None => return Some(no_match()),
                Some(count) if count <= 0 => drop(unmet.get_or_insert_with(no_match)),
                Some(_) => {}
            }
        }
        // The first pod of a group with affinity to itself is exempt, because no other pod exists yet.
        unmet.filter(|_| !(self.affinity.is_empty() && matches_all_terms(&self.incoming.affinity, pod)))
    }

    /// Returns the position of the first required anti-affinity term that a pod in the node's domains matches.
    fn violated_anti_affinity(&self, node: &Arc<Node>) -> Option<usize> {
        if self.anti_affinity.is_empty() {
            return None;
        }
        let place = self.anti_affinity.first_positive_of(node, self.incoming.anti_affinity_keys.len())?;
        self.incoming.anti_affinity_keys[place].terms.first().copied()
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
fn existing_anti_affinity_counts(
    snapshot: &Snapshot,
    state: &CycleState,
    pod: &PodInfo,
    namespace_labels: &Labels,
) -> (Domains, Vec<usize>) {
    let (mut domains, mut at) = (Domains::default(), Vec::new());
    let mut terms = 0;
    for (existing, nodes) in snapshot.pods().with_required_anti_affinity_to(pod.bits()) {
        terms += existing.required_anti_affinity().len();
        for term in existing.required_anti_affinity().iter().filter(|t| t.matches(&pod.pod, namespace_labels)) {
            at.extend(nodes.clone().map(|(node, _)| node));
            domains.add_counts(snapshot, &term.topology_key, nodes.clone(), 1);
        }
    }
    state.count_list_steps(terms as u64 * STEPS_OF_TERM + at.len() as u64 * STEPS_OF_COUNT);
    (domains, at)
}

/// Counts the pods that match all required affinity terms of the incoming pod, and those that match each of its
/// required anti-affinity terms; with the nodes of the latter, by term.
fn incoming_counts(snapshot: &Snapshot, state: &CycleState, incoming: &Incoming) -> (Domains, Domains, Vec<Vec<usize>>) {
    let domains = |keys: &[TopologyKey]| Domains::of_keys(keys.iter().map(|of| &of.key).collect());
    let (mut affinity, mut anti_affinity) = (domains(&incoming.affinity_keys), domains(&incoming.anti_affinity_keys));
    let mut by_term = Vec::new();
    let unknown = Labels::default();
    if !incoming.affinity.is_empty() {
        let wanted = incoming.affinity.iter().map(AffinityTerm::wanted_bits).fold(LabelBloom::default(), LabelBloom::and);
        let matching = snapshot.pods().count(wanted, |p| matches_all_terms(&incoming.affinity, &p.pod));
        state.count_list_steps((incoming.affinity_keys.len() * matching.len()) as u64 * STEPS_OF_COUNT);
        for TopologyKey { key, terms } in &incoming.affinity_keys {
            affinity.add_counts(snapshot, key, matching.iter().copied(), for_each(1, terms.len()));
        }
    }
    for term in &incoming.anti_affinity {
        let matching = snapshot.pods().count(term.wanted_bits(), |p| term.matches(&p.pod, &unknown));
        state.count_list_steps(matching.len() as u64 * STEPS_OF_COUNT);
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
        state.count_list_steps((pod.required_affinity().len() + pod.required_anti_affinity().len()) as u64 * STEPS_OF_OWN_TERM);
        let merged =
            |terms: &[AffinityTerm]| -> Vec<AffinityTerm> { terms.iter().map(|t| merge_namespaces(cx.cluster, cx.emulation, t)).collect() };
        let (affinity, anti_affinity) = (merged(pod.required_affinity()), merged(pod.required_anti_affinity()));
        let incoming = Incoming {
            affinity_keys: keys_of(&affinity),
            anti_affinity_keys: keys_of(&anti_affinity),
            affinity,
            anti_affinity,
            namespace_labels: namespace_labels(cx.cluster, &pod.pod.metadata.namespace),
        };
        let (existing, at) = existing_anti_affinity_counts(cx.snapshot, state, pod, &incoming.namespace_labels);
        if existing.is_empty() && incoming.affinity.is_empty() && incoming.anti_affinity.is_empty() {
            return (PreFilterResult::default(), Status::skip());
        }
        let (affinity, anti_affinity, by_term) = incoming_counts(cx.snapshot, state, &incoming);
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
        let reason = if let Some(unmet) = state.unmet_affinity(&pod.pod, &node.node) {
            Reason::PodAffinityMismatch(Box::new(unmet))
        } else if let Some(term) = state.violated_anti_affinity(&node.node) {
            state.anti_affinity_conflict(cx.snapshot, node, term)
        } else if let Some(key) = state.existing_anti_affinity.first_positive(&node.node) {
            state.existing_conflict(cx.snapshot, &pod.pod, node, key)
        } else {
            return Status::success();
        };
        match cx.emulation.behaviour().affinity.reasons {
            AffinityReasons::One => Status::rejected(reason),
            AffinityReasons::Two => Status::new(reason.code(), [Reason::PodAffinityRules, reason]),
        }
    }
}

#[cfg(test)]
mod tests;
