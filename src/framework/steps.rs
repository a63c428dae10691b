//! Counts the steps of decisions, so that searches of many decisions end after a bounded number of them.

use std::collections::BTreeSet;

use super::{PodInfo, Snapshot};
use crate::cluster::{LabelSelector, NodeSelectorTerm, Pod, PodAffinity, PodAffinityTerm, Requirement, Str};
use crate::limits::engine::{SEARCH_STEPS, SEARCH_STEPS_ON_NODE};

/// Returns how many steps a plugin's search may take on each of some nodes, in a decision that is one of many.
pub fn search_steps_on_node(nodes: usize) -> u64 {
    (SEARCH_STEPS / nodes.max(1) as u64).max(SEARCH_STEPS_ON_NODE)
}

/// Demands on the labels of a node that take about as long as a constraint over pods.
const LABELS_OF_A_STEP: usize = 4;

/// Requirements of a selector of pods that take as long as the rest of its constraint or term.
const ORDINARY_REQUIREMENTS: usize = 8;

/// Resources that a pod asks for of which a node's answer takes about as long as without any.
const ORDINARY_RESOURCES: usize = 8;

/// Steps that a request of a container takes once for a decision, on any number of nodes: it is read several times, and summed.
const STEPS_TO_READ: usize = 10;
/// Bytes of long texts in selectors that a decision reads in a step: it checks and quotes them.
const BYTES_OF_A_STEP: usize = 16;
/// Bytes of an ordinary key or value.
const ORDINARY_TEXT: usize = 63;
/// Requests of all containers together that a decision reads in about the time that it takes without any.
const ORDINARY_REQUESTS: usize = 100;

/// How many demands on each node a pod has.
struct Demands {
    spread: usize,
    /// Affinity terms over pods.
    terms: usize,
    /// Requirements of selectors of pods, of spread constraints and terms, beyond [`ORDINARY_REQUIREMENTS`] of each.
    of_pods: usize,
    /// Labels of the node selector.
    selected: usize,
    required: Requirements,
    preferred: Requirements,
}

/// Requirements on labels and fields of nodes.
#[derive(Default)]
struct Requirements {
    count: usize,
    /// Values that they list.
    values: usize,
}

impl Requirements {
    fn of<'a>(terms: impl Iterator<Item = &'a NodeSelectorTerm>) -> Self {
        let each = terms.flat_map(|term| term.match_expressions.iter().chain(term.match_fields.iter()));
        each.fold(Self::default(), |all, one| Self { count: all.count + 1, values: all.values + one.values.len() })
    }
}

impl Demands {
    fn of(pod: &Pod) -> Self {
        let affinity = pod.spec.affinity.as_ref();
        let terms = |of: Option<&PodAffinity>| of.map_or(0, |of| of.required.len() + of.preferred.len());
        let of_nodes = affinity.and_then(|a| a.node_affinity.as_ref());
        let required = of_nodes.and_then(|a| a.required.as_ref()).map(|of| of.node_selector_terms.iter());
        let preferred = of_nodes.and_then(|a| a.preferred.as_ref()).map(|of| of.iter().map(|term| &term.preference));
        let of_selector =
            |selector: &Option<LabelSelector>| selector.as_ref().map_or(0, |s| s.match_labels.len() + s.match_expressions.len());
        let beyond = |requirements: usize| requirements.saturating_sub(ORDINARY_REQUIREMENTS);
        let constraints = pod.spec.topology_spread_constraints.iter();
        let of_constraints: usize = constraints.map(|one| beyond(of_selector(&one.label_selector) + one.match_label_keys.len())).sum();
        let over_pods =
            affinity.and_then(|a| a.pod_affinity.as_ref()).into_iter().chain(affinity.and_then(|a| a.pod_anti_affinity.as_ref()));
        let over_pods = over_pods.flat_map(|of| of.required.iter().chain(of.preferred.iter().map(|one| &one.pod_affinity_term)));
        let keys = |term: &PodAffinityTerm| term.match_label_keys.len() + term.mismatch_label_keys.len();
        let of_terms: usize =
            over_pods.map(|term| beyond(of_selector(&term.label_selector) + of_selector(&term.namespace_selector) + keys(term))).sum();
        Self {
            of_pods: of_constraints + of_terms,
            spread: pod.spec.topology_spread_constraints.len(),
            terms: terms(affinity.and_then(|a| a.pod_affinity.as_ref())) + terms(affinity.and_then(|a| a.pod_anti_affinity.as_ref())),
            selected: pod.spec.node_selector.as_ref().map_or(0, crate::cluster::Map::len),
            required: Requirements::of(required.into_iter().flatten()),
            preferred: Requirements::of(preferred.into_iter().flatten()),
        }
    }
}

/// Returns about how many steps a decision about a pod takes on all of some nodes: one for each node, one for each node and
/// affinity term, three for each node and two topology spread constraints, one for each node and 4 demands on its labels or those of pods, one for each node
/// and resource beyond 8, and a few to read each request of its containers and each long text of its selectors. Searches of plugins are not
/// included; they count with [`super::CycleState::spend`].
pub fn decision_steps(nodes: usize, pod: &Pod) -> u64 {
    let Demands { spread, terms, of_pods, selected, required, .. } = Demands::of(pod);
    let resources = requested_resources(pod).saturating_sub(ORDINARY_RESOURCES);
    let of_node = 1 + spread + spread / 2 + terms + (of_pods + selected + required.count) / LABELS_OF_A_STEP + resources;
    (nodes.max(1) as u64).saturating_mul(of_node as u64).saturating_add(steps_to_read(pod))
}

/// Returns the steps that a decision about a pod takes to read its requests and selectors, on any number of nodes.
fn steps_to_read(pod: &Pod) -> u64 {
    let containers = pod.spec.containers.iter().chain(pod.spec.init_containers.iter());
    let requests: usize = containers.map(|container| container.resources.requests.len()).sum();
    (STEPS_TO_READ * requests.saturating_sub(ORDINARY_REQUESTS) + long_text(pod) / BYTES_OF_A_STEP) as u64
}

/// Returns how many bytes the keys and values of a pod's selectors have beyond [`ORDINARY_TEXT`] each.
fn long_text(pod: &Pod) -> usize {
    let affinity = pod.spec.affinity.as_ref();
    let nodes = affinity.and_then(|affinity| affinity.node_affinity.as_ref());
    let required = nodes.and_then(|nodes| nodes.required.as_ref()).into_iter().flat_map(|of| of.node_selector_terms.iter());
    let preferred = nodes.and_then(|nodes| nodes.preferred.as_ref()).into_iter().flat_map(|of| of.iter().map(|term| &term.preference));
    let of_nodes = required.chain(preferred).flat_map(|term| term.match_expressions.iter().chain(term.match_fields.iter()));
    let pods = affinity.and_then(|affinity| affinity.pod_affinity.as_ref()).into_iter();
    let pods = pods.chain(affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref()));
    let terms = pods.flat_map(|of| of.required.iter().chain(of.preferred.iter().map(|preferred| &preferred.pod_affinity_term)));
    let of_terms = terms.flat_map(|term| [&term.label_selector, &term.namespace_selector]);
    let selectors = of_terms.chain(pod.spec.topology_spread_constraints.iter().map(|constraint| &constraint.label_selector)).flatten();
    let long = |text: &Str| text.len().saturating_sub(ORDINARY_TEXT);
    let of_requirement = |one: &Requirement| long(&one.key) + one.values.iter().map(long).sum::<usize>();
    let of_selector = |selector: &LabelSelector| {
        let labels: usize = selector.match_labels.iter().map(|(key, value)| long(key) + long(value)).sum();
        labels + selector.match_expressions.iter().map(of_requirement).sum::<usize>()
    };
    of_nodes.map(of_requirement).sum::<usize>() + selectors.map(of_selector).sum::<usize>()
}

/// Returns how many resources a pod asks for.
fn requested_resources(pod: &Pod) -> usize {
    let containers = pod.spec.containers.iter().chain(pod.spec.init_containers.iter());
    let names: BTreeSet<&Str> = containers.flat_map(|container| container.resources.requests.keys()).collect();
    names.len()
}

/// Steps of [`node_steps`] that each of these takes on a node: a decision without any constraint, a topology spread constraint, a
/// volume or claim.
const OF_NODE: u64 = 10;
const OF_SPREAD: u64 = 6;
const OF_VOLUME: u64 = 5;
/// The same for a requirement on a label, which is looked up among those of the node.
const OF_REQUIREMENT: usize = 4;
/// The same for the check of one whether it is valid.
const OF_CHECK: usize = 20;
/// Values of requirements, and labels of a node selector, of a step.
const VALUES_OF_A_STEP: usize = 8;
const SELECTED_OF_A_STEP: usize = 2;
/// Host ports, and labels of the pod, by which pods of its workload may be counted, of a step.
const PORTS_OF_A_STEP: usize = 8;
const OWN_LABELS_OF_A_STEP: usize = 16;
/// Tolerations times taints of a step.
const TOLERATIONS_OF_A_STEP: u64 = 6;
/// Steps of [`node_steps`] for each step that the search of a plugin takes.
const OF_SEARCH: u64 = 12;

/// Returns about how many steps a decision about a pod takes on each node, on average: a step is what takes about as long as one
/// affinity term on one node. They are finer than those of [`decision_steps`], and count what nodes list as well.
pub fn node_steps(pod: &PodInfo, snapshot: &Snapshot) -> u64 {
    let spec = &pod.pod.spec;
    let Demands { spread, terms, of_pods, selected, required, preferred } = Demands::of(&pod.pod);
    let requirements = OF_REQUIREMENT * (required.count + preferred.count) + (required.values + preferred.values) / VALUES_OF_A_STEP;
    let labels = (of_pods + selected) / SELECTED_OF_A_STEP + requirements;
    let scalars = pod.resource.resource.scalar.len();
    let ports: usize = spec.containers.iter().map(|container| container.ports.len()).sum();
    let own = ports / PORTS_OF_A_STEP + pod.pod.metadata.labels.len() / OWN_LABELS_OF_A_STEP;
    let listed = OF_NODE
        + OF_SPREAD * spread as u64
        + OF_VOLUME * (spec.volumes.len() + spec.resource_claims.len()) as u64
        + (terms + labels + own + 3 * scalars) as u64;
    let tolerations = spec.tolerations.len() as u64;
    // Of few tolerations the product is small, and nodes with many taints are rare.
    let taints = if tolerations < TOLERATIONS_OF_A_STEP { 0 } else { average_taints(snapshot) };
    listed + tolerations * taints / TOLERATIONS_OF_A_STEP + steps_to_read(&pod.pod) / snapshot.len().max(1) as u64
}

/// Returns about how many steps a queueing hint takes for a pod, as those of [`node_steps`]. A hint checks requirements before it
/// asks for them.
pub fn hint_steps(pod: &Pod) -> u64 {
    let Demands { spread, terms, selected, required, .. } = Demands::of(pod);
    2 * OF_NODE + (spread + terms + selected + OF_CHECK * required.count + required.values + long_text(pod) / BYTES_OF_A_STEP) as u64
}

/// Returns the average number of taints on a node.
fn average_taints(snapshot: &Snapshot) -> u64 {
    let taints: usize = snapshot.nodes().iter().map(|node| node.node.spec.taints.len()).sum();
    (taints / snapshot.len().max(1)) as u64
}

/// Returns about how many steps the search of plugins took, as those of [`node_steps`].
pub fn steps_of_search(spent: u64) -> u64 {
    spent.saturating_mul(OF_SEARCH)
}

#[cfg(test)]
mod tests;
