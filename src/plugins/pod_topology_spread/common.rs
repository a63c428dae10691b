//! Parsed constraints, and the selector derived for default constraints; mirrors
//! `pkg/scheduler/framework/plugins/podtopologyspread/common.go` and
//! `pkg/scheduler/framework/plugins/helper/spread.go`.

use std::collections::{BTreeSet, HashMap};

use super::PodTopologySpread;
use crate::cluster::{Cluster, LabelSelector, Labels, Node, Pod, Requirement, SelectorError, Str, TopologySpreadConstraint};
use crate::framework::{Context, LabelBloom, Snapshot};
use crate::plugins::helper::find_untolerated_taint;
use crate::plugins::node_affinity::{RequiredNodeAffinity, required_node_affinity_matches};
use crate::release::{DefaultSelector, EmptySelector, Emulation, Gate};

/// The node label with the node's own name.
pub(super) const LABEL_HOSTNAME: &str = "kubernetes.io/hostname";
/// The node label with the zone.
pub(super) const LABEL_TOPOLOGY_ZONE: &str = "topology.kubernetes.io/zone";

/// The action for a pod that violates a constraint (`whenUnsatisfiable`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    DoNotSchedule,
    ScheduleAnyway,
}

impl Action {
    fn as_str(self) -> &'static str {
        match self {
            Self::DoNotSchedule => "DoNotSchedule",
            Self::ScheduleAnyway => "ScheduleAnyway",
        }
    }

    fn nickname(self) -> &'static str {
        match self {
            Self::DoNotSchedule => "hard",
            Self::ScheduleAnyway => "soft",
        }
    }
}

/// An invalid selector of a constraint, in kube-scheduler's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConstraintError {
    /// In a default constraint.
    #[error("setting default {} topology spread constraints: {error}", action.nickname())]
    Default { action: Action, error: SelectorError },
    /// In a constraint of the pod.
    #[error("obtaining pod's {} topology spread constraints: {error}", action.nickname())]
    Pod { action: Action, error: SelectorError },
}

/// A parsed constraint.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Constraint {
    pub(super) max_skew: i32,
    pub(super) topology_key: Str,
    /// Selects the pods to count; `None` matches nothing.
    pub(super) selector: Option<LabelSelector>,
    pub(super) min_domains: i32,
    pub(super) honors_node_affinity: bool,
    pub(super) honors_node_taints: bool,
    /// Bits common to all pods that count.
    wanted: LabelBloom,
    empty_selector: EmptySelector,
}

impl Constraint {
    fn new(constraint: &TopologySpreadConstraint, pod_labels: &Labels, emulation: Emulation) -> Result<Self, SelectorError> {
        let mut selector = constraint.label_selector.clone();
        if let Some(selector) = &mut selector {
            selector.validate_in(emulation.behaviour().messages.selector_words)?;
            if emulation.enabled(Gate::MatchLabelKeysInPodTopologySpread) {
                // Expressions, because the selector may require another value of the same key.
                let picked = constraint.match_label_keys.iter().filter_map(|key| Some((key, pod_labels.get(key)?)));
                selector.match_expressions.extend(picked.map(|(key, value)| equals(key, value)));
            }
        }
        let inclusion = emulation.enabled(Gate::NodeInclusionPolicyInPodTopologySpread);
        let affinity = constraint.node_affinity_policy.as_deref().filter(|_| inclusion).unwrap_or("Honor");
        let taints = constraint.node_taints_policy.as_deref().filter(|_| inclusion).unwrap_or("Ignore");
        Ok(Self {
            max_skew: constraint.max_skew,
            topology_key: constraint.topology_key.clone(),
            selector,
            min_domains: constraint.min_domains.filter(|_| emulation.enabled(Gate::MinDomainsInPodTopologySpread)).unwrap_or(1),
            honors_node_affinity: affinity == "Honor",
            honors_node_taints: taints == "Honor",
            wanted: LabelBloom::default(),
            empty_selector: emulation.behaviour().spread.empty_selector,
        })
    }

    /// Whether the selector matches these labels; an empty one matches all.
    pub(super) fn selects(&self, labels: &Labels) -> bool {
        self.selector.as_ref().is_some_and(|s| s.matches(labels))
    }

    /// Returns the selector if it counts any pods: an empty one counts none in most releases.
    fn counting(&self) -> Option<&LabelSelector> {
        self.selector.as_ref().filter(|s| !s.is_empty() || self.empty_selector == EmptySelector::Everything)
    }

    /// Whether it counts the same pods as another constraint of the pod.
    pub(super) fn counts_as(&self, other: &Self) -> bool {
        self.selector == other.selector && self.empty_selector == other.empty_selector
    }

    /// Counts the matching pods by position of their node in the snapshot: pods of the namespace that are not
    /// terminating. Nodes without matching pods are left out.
    pub(super) fn matching_pods(&self, snapshot: &Snapshot, namespace: &Str) -> Vec<(usize, i64)> {
        let Some(selector) = self.counting() else { return Vec::new() };
        snapshot.pods().count(self.wanted, |p| is_counted(&p.pod, namespace, selector))
    }

    /// Returns the same numbers as [`Self::matching_pods`] in parts, in no order.
    pub(super) fn matching_parts(&self, snapshot: &Snapshot, namespace: &Str) -> impl Iterator<Item = (usize, i64)> {
        let parts = |selector| snapshot.pods().parts(self.wanted, move |p| is_counted(&p.pod, namespace, selector));
        self.counting().map(parts).into_iter().flatten()
    }
}

fn is_counted(pod: &Pod, namespace: &Str, selector: &LabelSelector) -> bool {
    pod.metadata.namespace == *namespace && !pod.is_terminating() && selector.matches(&pod.metadata.labels)
}

/// Answers of a node that are the same for all constraints of a pod, however many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodePolicies {
    /// Whether the node has the topology keys of all constraints.
    pub(super) has_all_keys: bool,
    /// Whether it matches the pod's required node affinity; true where no constraint honors that.
    matches_affinity: bool,
    /// Whether the pod tolerates its taints; true where no constraint honors them.
    is_tolerated: bool,
}

impl NodePolicies {
    /// Returns the answers of a node that has all keys.
    pub(super) fn of(pod: &Pod, node: &Node, emulation: Emulation) -> Self {
        let is_tolerated = find_untolerated_taint(&node.spec.taints, &pod.spec.tolerations, emulation).is_none();
        Self { has_all_keys: true, matches_affinity: required_node_affinity_matches(pod, node), is_tolerated }
    }

    /// Whether pods on the node count for the constraint; mirrors `matchNodeInclusionPolicies`.
    pub(super) fn include(self, constraint: &Constraint) -> bool {
        (!constraint.honors_node_affinity || self.matches_affinity) && (!constraint.honors_node_taints || self.is_tolerated)
    }
}

/// Reads [`NodePolicies`] for the constraints of one pod.
pub(super) struct PolicyReader<'a> {
    /// The topology keys of the constraints, each once.
    keys: BTreeSet<&'a Str>,
    pod: &'a Pod,
    emulation: Emulation,
    /// `None` where no constraint honors it, or the pod requires nothing.
    required: Option<RequiredNodeAffinity>,
    honors_taints: bool,
}

impl<'a> PolicyReader<'a> {
    pub(super) fn new(constraints: impl IntoIterator<Item = &'a Constraint>, pod: &'a Pod, emulation: Emulation) -> Self {
        let constraints: Vec<&Constraint> = constraints.into_iter().collect();
        let honored = constraints.iter().any(|c| c.honors_node_affinity).then(|| RequiredNodeAffinity::of(pod));
        let required = honored.filter(|required| !required.is_trivial());
        let honors_taints = constraints.iter().any(|c| c.honors_node_taints);
        let keys = constraints.iter().map(|c| &c.topology_key).collect();
        Self { keys, pod, emulation, required, honors_taints }
    }

    /// Whether pods count on every node for every constraint, as far as node affinity and taints decide.
    pub(super) fn includes_all(&self) -> bool {
        self.required.is_none() && !self.honors_taints
    }

    pub(super) fn read(&self, node: &Node) -> NodePolicies {
        let labels = &node.metadata.labels;
        let is_tolerated = || find_untolerated_taint(&node.spec.taints, &self.pod.spec.tolerations, self.emulation).is_none();
        NodePolicies {
            has_all_keys: self.keys.iter().all(|key| labels.contains_key(key)),
            matches_affinity: self.required.as_ref().is_none_or(|required| required.matches(node)),
            is_tolerated: !self.honors_taints || is_tolerated(),
        }
    }
}

fn equals(key: &Str, value: &Str) -> Requirement {
    Requirement { key: key.clone(), operator: "In".into(), values: vec![value.clone()].into() }
}

/// Whether the node has the topology keys of all constraints.
pub(super) fn has_all_keys(labels: &Labels, constraints: &[Constraint]) -> bool {
    constraints.iter().all(|c| labels.contains_key(&c.topology_key))
}

/// Returns for each constraint the index of the first one with which it shares counts, or its own.
pub(super) fn slots<'c>(keys: impl Iterator<Item = &'c Str>, shares: impl Fn(&Str) -> bool) -> Vec<usize> {
    let mut first: HashMap<&Str, usize> = HashMap::new();
    keys.enumerate().map(|(i, key)| if shares(key) { *first.entry(key).or_insert(i) } else { i }).collect()
}

impl PodTopologySpread {
    /// Returns the pod's constraints of one action or, if it has none at all, the default ones with the selector
    /// derived for the pod.
    pub(super) fn constraints(&self, cx: &Context<'_>, pod: &Pod, action: Action) -> Result<Vec<Constraint>, ConstraintError> {
        let own = &pod.spec.topology_spread_constraints;
        let mut constraints = if own.is_empty() {
            self.default_constraints(cx, pod, action).map_err(|error| ConstraintError::Default { action, error })?
        } else {
            let own = filter_constraints(own, &pod.metadata.labels, action, cx.emulation);
            own.map_err(|error| ConstraintError::Pod { action, error })?
        };
        for constraint in &mut constraints {
            let selected = constraint.selector.as_ref().map(LabelBloom::selected_by).unwrap_or_default();
            constraint.wanted = LabelBloom::namespace(&pod.metadata.namespace).and(selected);
        }
        Ok(constraints)
    }

    fn default_constraints(&self, cx: &Context<'_>, pod: &Pod, action: Action) -> Result<Vec<Constraint>, SelectorError> {
        let mut constraints = filter_constraints(&self.default_constraints, &pod.metadata.labels, action, cx.emulation)?;
        if constraints.is_empty() {
            return Ok(constraints);
        }
        let selector = default_selector(cx, pod);
        if selector.is_empty() {
            return Ok(Vec::new());
        }
        for constraint in &mut constraints {
            constraint.selector = Some(selector.clone());
        }
        Ok(constraints)
    }
}

fn filter_constraints(
    constraints: &[TopologySpreadConstraint],
    pod_labels: &Labels,
    action: Action,
    emulation: Emulation,
) -> Result<Vec<Constraint>, SelectorError> {
    let of_kind = constraints.iter().filter(|c| c.when_unsatisfiable == action.as_str());
    of_kind.map(|c| Constraint::new(c, pod_labels, emulation)).collect()
}

/// Returns the selector that combines those of the pod's Services and workloads; empty if there are none. Mirrors `DefaultSelector`.
pub(in crate::plugins) fn default_selector(cx: &Context<'_>, pod: &Pod) -> LabelSelector {
    let cluster = cx.cluster;
    let (namespace, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
    // The selector of a Service that selects the pod is a part of the pod's labels.
    let mut selected = vec![false; labels.len()];
    for service in cluster.services.in_namespace(namespace) {
        for position in service.spec.selector.as_ref().and_then(|wanted| wanted.positions_in(labels)).into_iter().flatten() {
            selected[position] = true;
        }
    }
    let of_services = labels.iter().zip(&selected).filter(|(_, selected)| **selected);
    let match_labels = of_services.map(|((key, value), _)| (key.clone(), value.clone())).collect();
    let mut selector = LabelSelector { match_labels, ..LabelSelector::default() };
    match cx.emulation.behaviour().spread.default_selector {
        DefaultSelector::OfMatching => add_matching_workloads(&mut selector, cluster, pod),
        DefaultSelector::OfController => add_controller(&mut selector, cluster, pod),
    }
    selector
}

fn add_controller(selector: &mut LabelSelector, cluster: &Cluster, pod: &Pod) {
    let Some(owner) = pod.metadata.controller() else { return };
    let namespace = &pod.metadata.namespace;
    let workload = match (owner.api_version.as_str(), owner.kind.as_str()) {
        ("v1" | "/v1", "ReplicationController") => {
            let controller = cluster.replication_controllers.namespaced(namespace, &owner.name);
            for (key, value) in controller.and_then(|c| c.spec.selector.as_ref()).into_iter().flat_map(Labels::iter) {
                selector.match_labels.insert(key.clone(), value.clone());
            }
            None
        }
        ("apps/v1", "ReplicaSet") => cluster.replica_sets.namespaced(namespace, &owner.name),
        ("apps/v1", "StatefulSet") => cluster.stateful_sets.namespaced(namespace, &owner.name),
        _ => None,
    };
    // An absent or invalid selector adds nothing. One that contradicts the Services selects no pods.
    if let Some(wanted) = workload.and_then(|w| w.spec.selector.as_ref()).filter(|s| s.validate().is_ok()) {
        add_requirements(selector, wanted);
    }
}

/// Adds the selectors of all workloads that select the pod. One invalid selector in the namespace hides all of its kind.
fn add_matching_workloads(selector: &mut LabelSelector, cluster: &Cluster, pod: &Pod) {
    let (namespace, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
    if labels.is_empty() {
        return;
    }
    for wanted in cluster.replication_controllers.in_namespace(namespace).filter_map(|c| c.spec.selector.as_ref()) {
        for (key, value) in wanted.positions_in(labels).into_iter().flatten().filter_map(|position| labels.iter().nth(position)) {
            selector.match_labels.insert(key.clone(), value.clone());
        }
    }
    let replica_sets: Vec<_> = cluster.replica_sets.in_namespace(namespace).filter_map(|set| set.spec.selector.as_ref()).collect();
    let stateful_sets: Vec<_> = cluster.stateful_sets.in_namespace(namespace).filter_map(|set| set.spec.selector.as_ref()).collect();
    for of_kind in [replica_sets, stateful_sets] {
        if of_kind.iter().all(|wanted| wanted.validate().is_ok()) {
            for wanted in of_kind.into_iter().filter(|wanted| !wanted.is_empty() && wanted.matches(labels)) {
                add_requirements(selector, wanted);
            }
        }
    }
}

fn add_requirements(selector: &mut LabelSelector, wanted: &LabelSelector) {
    selector.match_expressions.extend(wanted.match_labels.iter().map(|(key, value)| equals(key, value)));
    selector.match_expressions.extend(wanted.match_expressions.iter().cloned());
}

#[cfg(test)]
mod tests;
