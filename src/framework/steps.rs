//! Counts the steps of decisions, so that searches of many decisions end after a bounded number of them.

use crate::cluster::{Pod, PodAffinity};
use crate::limits::engine::{SEARCH_STEPS, SEARCH_STEPS_ON_NODE};

/// Returns how many steps a plugin's search may take on each of some nodes, in a decision that is one of many.
pub fn search_steps_on_node(nodes: usize) -> u64 {
    (SEARCH_STEPS / nodes.max(1) as u64).max(SEARCH_STEPS_ON_NODE)
}

/// Returns about how many steps a decision about a pod takes on all of some nodes: one for each node, and one for each node and
/// constraint over pods. Searches of plugins are not included; they count with [`super::CycleState::spend`].
pub fn decision_steps(nodes: usize, pod: &Pod) -> u64 {
    let affinity = pod.spec.affinity.as_ref();
    let terms = |of: Option<&PodAffinity>| of.map_or(0, |of| of.required.len() + of.preferred.len());
    let terms = terms(affinity.and_then(|a| a.pod_affinity.as_ref())) + terms(affinity.and_then(|a| a.pod_anti_affinity.as_ref()));
    let constraints = 1 + pod.spec.topology_spread_constraints.len() + terms;
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
        assert_eq!(decision_steps(usize::MAX, &pod), u64::MAX);
    }
}
