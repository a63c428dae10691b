//! `InterPodAffinity`: `PreFilter`, Filter, `PreScore`, Score and the hints.
//!
//! Mirrors `pkg/scheduler/framework/plugins/interpodaffinity/{plugin,filtering,scoring}.go`. A term matches pods by
//! namespace and labels. The plugin counts matching pods in each topology domain, a key and value of node labels.

pub(super) mod counts;
pub(super) mod domains;
mod filtering;
mod scoring;
#[cfg(test)]
mod testing;

use std::sync::Arc;

pub use scoring::normalize_in_range;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cluster::{Cluster, Labels, Node, Pod, PodAffinity, PodAffinityTerm, SelectorError, Str};
use crate::framework::{
    ActionType, AffinityTerm, Change, ClusterEvent, ClusterEventWithHint, EventResource, FieldErrors, HintError, Plugin, QueueingHint,
    QueueingHintFn, is_same_pod,
};
use crate::plugins::helper::{changed_nodes, changed_pods};
use crate::release::Emulation;

/// `InterPodAffinityArgs` of `kubescheduler.config.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct InterPodAffinityArgs {
    /// Accepted and ignored.
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    pub kind: IgnoredAny,
    /// Score added to a domain for each required affinity term of an existing pod that matches the incoming pod; 0 to
    /// 100.
    pub hard_pod_affinity_weight: i32,
    /// Whether preferred terms of existing pods are ignored if the incoming pod has none.
    pub ignore_preferred_terms_of_existing_pods: bool,
}

impl Default for InterPodAffinityArgs {
    fn default() -> Self {
        Self { api_version: IgnoredAny, kind: IgnoredAny, hard_pod_affinity_weight: 1, ignore_preferred_terms_of_existing_pods: false }
    }
}

impl InterPodAffinityArgs {
    /// Validates the arguments; mirrors `ValidateInterPodAffinityArgs`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        if !(0..=100).contains(&self.hard_pod_affinity_weight) {
            errors.invalid("hardPodAffinityWeight", &self.hard_pod_affinity_weight, "not in valid range [0, 100]");
        }
        errors.into_result()
    }
}

/// Keeps pods near to, or away from, other pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterPodAffinity {
    args: InterPodAffinityArgs,
}

impl InterPodAffinity {
    /// Makes the plugin with its arguments.
    pub fn new(args: InterPodAffinityArgs) -> Self {
        Self { args }
    }
}

impl Plugin for InterPodAffinity {
    plugin!(InterPodAffinity: pre_filter, filter, pre_score, score);

    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let pod_actions = ActionType::ADD.or(ActionType::UPDATE_POD_LABEL).or(ActionType::DELETE);
        let pod_hint: QueueingHintFn = Arc::new(|cx, pod, change| hint_after_pod_change(cx.emulation, pod, change));
        let node_hint: QueueingHintFn = Arc::new(|cx, pod, change| hint_after_node_change(cx.emulation, pod, change));
        Some(vec![
            ClusterEventWithHint { event: ClusterEvent::new(EventResource::Pod, pod_actions), hint: Some(pod_hint) },
            ClusterEventWithHint {
                event: ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL)),
                hint: Some(node_hint),
            },
        ])
    }
}

/// Returns a term of the incoming pod with the namespaces of its namespace selector added.
///
/// In some releases the selector stays in the term: they clear it in a copy only. Terms are then matched without
/// namespace labels, so a selector that matches empty labels (`NotIn`, `DoesNotExist`) matches pods of every namespace.
fn merge_namespaces(cluster: &Cluster, emulation: Emulation, term: &AffinityTerm) -> AffinityTerm {
    let mut term = term.clone();
    if let Some(selector) = term.namespace_selector.as_ref().filter(|s| !s.is_empty()) {
        let picked = cluster.namespaces.iter().filter(|n| selector.matches(&n.metadata.labels));
        term.namespaces.extend(picked.map(|n| n.metadata.name.clone()));
        term.namespaces.sort();
        term.namespaces.dedup();
        if emulation.behaviour().affinity.namespace_selectors_cleared {
            term.namespace_selector = None;
        }
    }
    term
}

/// Returns the labels of a namespace; empty if it does not exist.
fn namespace_labels(cluster: &Cluster, namespace: &Str) -> Labels {
    cluster.namespaces.named(namespace).map(|n| n.metadata.labels.clone()).unwrap_or_default()
}

/// Whether there are terms and all of them match the pod, ignoring the labels of its namespace.
fn matches_all_terms(terms: &[AffinityTerm], pod: &Pod) -> bool {
    let unknown = Labels::default();
    !terms.is_empty() && terms.iter().all(|t| t.matches(pod, &unknown))
}

/// Parses the required terms of the parked pod, without resolving namespace selectors.
fn required_terms(pod: &Pod, list: impl Fn(&crate::cluster::Affinity) -> Option<&PodAffinity>) -> Result<Vec<AffinityTerm>, SelectorError> {
    let terms: &[PodAffinityTerm] = pod.spec.affinity.as_ref().and_then(list).map_or(&[], |a| &a.required);
    AffinityTerm::parse(pod, terms)
}

fn affinity_terms(pod: &Pod) -> Result<Vec<AffinityTerm>, SelectorError> {
    required_terms(pod, |a| a.pod_affinity.as_ref())
}

fn anti_affinity_terms(pod: &Pod) -> Result<Vec<AffinityTerm>, SelectorError> {
    required_terms(pod, |a| a.pod_anti_affinity.as_ref())
}

/// Returns Queue if another pod now matches all affinity terms, or no longer violates the anti-affinity terms. Mirrors
/// `isSchedulableAfterPodChange`.
fn hint_after_pod_change(emulation: Emulation, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = changed_pods(change)?;
    let release = &emulation.behaviour().queue;
    if let (Some(_), Some(new)) = (old, new)
        && is_same_pod(pod, new)
        && release.own_update_helps_affinity
    {
        return Ok(QueueingHint::Queue);
    }
    let nominated = |p: &Pod| release.hints_count_nominated && !p.status.nominated_node_name.is_empty();
    let nowhere = |p: &Arc<Pod>| p.node_name.is_empty() && !nominated(p);
    if old.is_some_and(nowhere) || new.is_some_and(nowhere) {
        return Ok(QueueingHint::QueueSkip);
    }
    let (terms, anti_terms) = (affinity_terms(pod)?, anti_affinity_terms(pod)?);
    let hits = |terms: &[AffinityTerm], pod: &Pod| {
        if release.any_anti_affinity_term_helps {
            terms.iter().any(|term| matches_all_terms(std::slice::from_ref(term), pod))
        } else {
            matches_all_terms(terms, pod)
        }
    };
    let helps = match (old, new) {
        (Some(old), Some(new)) => {
            (!matches_all_terms(&terms, old) && matches_all_terms(&terms, new)) || (hits(&anti_terms, old) && !hits(&anti_terms, new))
        }
        (None, Some(new)) => matches_all_terms(&terms, new),
        (Some(old), None) => hits(&anti_terms, old) || (release.deleted_anti_affinity_helps && hits(&anti_affinity_terms(old)?, pod)),
        (None, None) => return Err(HintError::NoObject("pod")),
    };
    Ok(if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

/// Returns Queue if a node joined or changed a domain of the affinity terms, or left or changed one of the
/// anti-affinity terms. Mirrors `isSchedulableAfterNodeChange`.
fn hint_after_node_change(emulation: Emulation, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = changed_nodes(change)?;
    let Some(new) = new else { return Err(HintError::NoObject("new node")) };
    if emulation.behaviour().queue.any_label_helps_affinity && old.is_some() {
        let (terms, anti_terms) = (affinity_terms(pod)?, anti_affinity_terms(pod)?);
        let helps = terms.iter().chain(&anti_terms).any(|term| new.metadata.labels.contains_key(&term.topology_key));
        return Ok(if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip });
    }
    let value = |node: &Node, term: &AffinityTerm| node.metadata.labels.get(&term.topology_key).cloned();
    let joins = |term: &AffinityTerm| match (old, value(new, term)) {
        (None, now) => now.is_some(),
        (Some(old), now) => now.is_some() && value(old, term) != now,
    };
    // A node without the key accepts any pod with anti-affinity, so every new node may help.
    let leaves = |term: &AffinityTerm| match old {
        None => true,
        Some(old) => value(old, term).is_some_and(|before| value(new, term) != Some(before)),
    };
    let helps = affinity_terms(pod)?.iter().any(joins) || anti_affinity_terms(pod)?.iter().any(leaves);
    Ok(if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

#[cfg(test)]
mod tests;
