//! `PodTopologySpread`: `PreFilter`, Filter, `PreScore`, Score and the hints.
//!
//! Mirrors `pkg/scheduler/framework/plugins/podtopologyspread/{plugin,common,filtering,scoring}.go`. A constraint
//! spreads the pods of its selector evenly over the values of a node label.

mod common;
mod filtering;
mod scoring;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cluster::{LabelSelector, Labels, List, Node, Pod, Str, TopologySpreadConstraint};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, EventResource, FieldErrors, HintError, Plugin, QueueingHint,
    QueueingHintFn, is_same_pod,
};
use crate::plugins::helper::{changed_nodes, changed_pods};
use crate::release::Emulation;
pub(super) use common::default_selector;
use common::{Action, Constraint, LABEL_HOSTNAME, LABEL_TOPOLOGY_ZONE, has_all_keys};

/// The constraints of pods that have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum DefaultingType {
    /// kube-scheduler's own: maxSkew 3 by host and 5 by zone, both ScheduleAnyway.
    #[default]
    #[serde(alias = "")]
    System,
    /// The constraints in the arguments.
    List,
    /// Any other value, which is invalid.
    #[serde(untagged)]
    Unsupported(Str),
}

/// `PodTopologySpreadArgs` of `kubescheduler.config.k8s.io/v1`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PodTopologySpreadArgs {
    /// Accepted and ignored.
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    pub kind: IgnoredAny,
    /// Constraints without selectors for pods that have none; must be empty with [`DefaultingType::System`].
    pub default_constraints: List<TopologySpreadConstraint>,
    /// Whether `default_constraints` or kube-scheduler's own apply.
    pub defaulting_type: DefaultingType,
}

impl PodTopologySpreadArgs {
    /// Validates the arguments; mirrors `ValidatePodTopologySpreadArgs`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        match &self.defaulting_type {
            DefaultingType::System if !self.default_constraints.is_empty() => {
                errors.invalid("defaultingType", &"System", "when .defaultConstraints are not empty");
            }
            DefaultingType::Unsupported(other) => errors.unsupported("defaultingType", other, &["System", "List"]),
            DefaultingType::System | DefaultingType::List => {}
        }
        for i in 0..self.default_constraints.len() {
            validate_constraint(&self.default_constraints, i, &mut errors);
        }
        errors.into_result()
    }
}

fn validate_constraint(constraints: &[TopologySpreadConstraint], at: usize, errors: &mut FieldErrors) {
    let TopologySpreadConstraint { max_skew, topology_key, when_unsatisfiable, label_selector, .. } = &constraints[at];
    let path = format!("defaultConstraints[{at}]");
    if *max_skew <= 0 {
        errors.invalid(format!("{path}.maxSkew"), max_skew, "not in valid range (0, inf)");
    }
    if topology_key.is_empty() {
        errors.required(format!("{path}.topologyKey"), "can not be empty");
    } else {
        for problem in LabelSelector::key_errors(topology_key) {
            errors.invalid(format!("{path}.topologyKey"), topology_key, problem);
        }
    }
    match when_unsatisfiable.as_str() {
        "DoNotSchedule" | "ScheduleAnyway" => {}
        "" => errors.required(format!("{path}.whenUnsatisfiable"), "can not be empty"),
        other => errors.unsupported(format!("{path}.whenUnsatisfiable"), other, &["DoNotSchedule", "ScheduleAnyway"]),
    }
    if label_selector.is_some() {
        errors.forbidden(format!("{path}.labelSelector"), "constraint must not define a selector, as they deduced for each pod");
    }
    if constraints[..at].iter().any(|c| c.topology_key == *topology_key && c.when_unsatisfiable == *when_unsatisfiable) {
        errors.duplicate(path, &format!("{{{topology_key}, {when_unsatisfiable}}}"));
    }
}

/// Spreads pods evenly over hosts, zones or other domains.
#[derive(Clone, Debug, PartialEq)]
pub struct PodTopologySpread {
    default_constraints: Vec<TopologySpreadConstraint>,
    system_defaulted: bool,
}

impl Default for PodTopologySpread {
    fn default() -> Self {
        Self::new(PodTopologySpreadArgs::default())
    }
}

impl PodTopologySpread {
    /// Makes the plugin with its arguments.
    pub fn new(args: PodTopologySpreadArgs) -> Self {
        let system = |topology_key: &str, max_skew| TopologySpreadConstraint {
            max_skew,
            topology_key: topology_key.into(),
            when_unsatisfiable: "ScheduleAnyway".into(),
            ..TopologySpreadConstraint::default()
        };
        match args.defaulting_type {
            DefaultingType::System => {
                Self { default_constraints: vec![system(LABEL_HOSTNAME, 3), system(LABEL_TOPOLOGY_ZONE, 5)], system_defaulted: true }
            }
            DefaultingType::List | DefaultingType::Unsupported(_) => {
                Self { default_constraints: args.default_constraints.0, system_defaulted: false }
            }
        }
    }
}

impl Plugin for PodTopologySpread {
    plugin!(PodTopologySpread: pre_filter, filter, pre_score, score);

    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let both_ends = ActionType::ADD.or(ActionType::DELETE);
        let pod_actions = both_ends.or(ActionType::UPDATE_POD_LABEL).or(ActionType::UPDATE_POD_TOLERATION);
        let node_actions = both_ends.or(ActionType::UPDATE_NODE_LABEL).or(ActionType::UPDATE_NODE_TAINT);
        let (for_pods, for_nodes) = (self.clone(), self.clone());
        let pod_hint: QueueingHintFn = Arc::new(move |cx, pod, change| for_pods.hint_after_pod_change(cx, pod, change));
        let node_hint: QueueingHintFn = Arc::new(move |cx, pod, change| for_nodes.hint_after_node_change(cx, pod, change));
        Some(vec![
            ClusterEventWithHint { event: ClusterEvent::new(EventResource::Pod, pod_actions), hint: Some(pod_hint) },
            ClusterEventWithHint { event: ClusterEvent::new(EventResource::Node, node_actions), hint: Some(node_hint) },
        ])
    }
}

fn queue_if(helps: bool) -> QueueingHint {
    if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip }
}

/// Whether `other` is the parked pod, or a pod of its namespace with a node or a nomination.
fn involved_in_spreading(other: &Pod, pod: &Pod, emulation: Emulation) -> bool {
    let nominated = emulation.behaviour().queue.hints_count_nominated && !other.status.nominated_node_name.is_empty();
    let placed = nominated || !other.node_name.is_empty();
    is_same_pod(other, pod) || (placed && other.metadata.namespace == pod.metadata.namespace)
}

impl PodTopologySpread {
    /// Returns Queue if a pod starts or stops counting for a constraint, or the parked pod's tolerations changed.
    /// Mirrors `isSchedulableAfterPodChange`.
    fn hint_after_pod_change(&self, cx: &Context<'_>, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
        let (old, new) = changed_pods(change)?;
        if [old, new].into_iter().flatten().any(|p| !involved_in_spreading(p, pod, cx.emulation)) {
            return Ok(QueueingHint::QueueSkip);
        }
        let constraints = self.constraints(cx, pod, Action::DoNotSchedule).map_err(HintError::plugin)?;
        let any_selects = |p: &Pod| constraints.iter().any(|c| c.selects(&p.metadata.labels));
        match (old, new) {
            (Some(old), Some(new)) => {
                let tolerates_more = is_same_pod(pod, new)
                    && new.spec.tolerations != old.spec.tolerations
                    && constraints.iter().any(|c| c.honors_node_taints);
                let changes = |c: &Constraint| c.selects(&old.metadata.labels) != c.selects(&new.metadata.labels);
                Ok(queue_if(tolerates_more || constraints.iter().any(changes)))
            }
            (None, Some(only)) | (Some(only), None) => Ok(queue_if(any_selects(only))),
            (None, None) => Err(HintError::NoObject("pod")),
        }
    }

    /// Returns Queue if a domain is added, removed or changed, or a node's taints changed. Mirrors
    /// `isSchedulableAfterNodeChange`.
    fn hint_after_node_change(&self, cx: &Context<'_>, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
        let (old, new) = changed_nodes(change)?;
        let constraints = self.constraints(cx, pod, Action::DoNotSchedule).map_err(HintError::plugin)?;
        let takes_part = |node: &Node| has_all_keys(&node.metadata.labels, &constraints);
        match (old, new) {
            (Some(old), Some(new)) => {
                let (before, after): (&Labels, &Labels) = (&old.metadata.labels, &new.metadata.labels);
                let moved = || constraints.iter().any(|c| before.get(&c.topology_key) != after.get(&c.topology_key));
                let differs = || moved() || old.spec.taints != new.spec.taints;
                Ok(queue_if(takes_part(old) != takes_part(new) || (takes_part(new) && differs())))
            }
            (None, Some(only)) | (Some(only), None) => Ok(queue_if(takes_part(only))),
            (None, None) => Err(HintError::NoObject("node")),
        }
    }
}

#[cfg(test)]
mod tests;
