//! Counts the steps of decisions, so that searches of many decisions end after a bounded number of them.

use crate::cluster::{Pod, PodAffinity};
use crate::limits::engine::{SEARCH_STEPS, SEARCH_STEPS_ON_NODE};

/// Returns how many steps a plugin's search may take on each of some nodes, in a decision that is one of many.
pub fn search_steps_on_node(nodes: usize) -> u64 {
    (SEARCH_STEPS / nodes.max(1) as u64).max(SEARCH_STEPS_ON_NODE)
}

/// Demands on the labels of a node that take about as long as a constraint over pods.
const LABELS_OF_A_STEP: usize = 4;

/// Returns about how many steps a decision about a pod takes on all of some nodes: one for each node, one for each node and
/// constraint over pods, and one for each node and 4 demands on its labels. Searches of plugins are not included; they count with [`super::CycleState::spend`].
pub fn decision_steps(nodes: usize, pod: &Pod) -> u64 {
    let affinity = pod.spec.affinity.as_ref();
    let terms = |of: Option<&PodAffinity>| of.map_or(0, |of| of.required.len() + of.preferred.len());
    let terms = terms(affinity.and_then(|a| a.pod_affinity.as_ref())) + terms(affinity.and_then(|a| a.pod_anti_affinity.as_ref()));
    let selected = pod.spec.node_selector.as_ref().map_or(0, crate::cluster::Map::len);
    let required = affinity.and_then(|a| a.node_affinity.as_ref()).and_then(|a| a.required.as_ref());
    let required: usize = required.map_or(0, |of| of.node_selector_terms.iter().map(|term| term.match_expressions.len()).sum());
    let constraints = 1 + pod.spec.topology_spread_constraints.len() + terms + (selected + required) / LABELS_OF_A_STEP;
    (nodes.max(1) as u64).saturating_mul(constraints as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_constraint_over_pods_asks_each_node() {
        let term = serde_json::json!({"topologyKey": "zone"});
        let spread = serde_json::json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
        let affinity = serde_json::json!({
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term, term]},
            "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]},
        });
        let pod: Pod = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "p"}, "spec": {"topologySpreadConstraints": [spread], "affinity": affinity},
        }))
        .unwrap();
        assert_eq!([0, 1, 700].map(|nodes| decision_steps(nodes, &pod)), [5, 5, 3500]);
        assert_eq!(decision_steps(700, &Pod::default()), 700);
        let selecting = |keys: usize| -> Pod {
            let selector: serde_json::Map<String, serde_json::Value> = (0..keys).map(|i| (format!("k{i}"), "v".into())).collect();
            serde_json::from_value(serde_json::json!({"metadata": {"name": "p"}, "spec": {"nodeSelector": selector}})).unwrap()
        };
        assert_eq!([3, 8].map(|keys| decision_steps(700, &selecting(keys))), [700, 2100]);
        assert_eq!(decision_steps(usize::MAX, &pod), u64::MAX);
    }
}
