//! `InterPodAffinity`: `PreFilter`, Filter, `PreScore`, Score and the hints.
//!
//! Mirrors `pkg/scheduler/framework/plugins/interpodaffinity/{plugin,filtering,scoring}.go`. A term matches pods by
//! namespace and labels. The plugin counts matching pods in each topology domain, a key and value of node labels.

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
mod tests {
    use super::testing::{node, pod};
    use super::*;
    use crate::cluster::Object;

    const OUTCOME: [QueueingHint; 2] = [QueueingHint::QueueSkip, QueueingHint::Queue];

    #[test]
    fn arguments_have_the_defaults_of_v1_36_and_are_checked() {
        let read = |json: &str| serde_json::from_str::<InterPodAffinityArgs>(json);
        assert_eq!(read("{}").unwrap(), InterPodAffinityArgs::default());
        let args =
            read(r#"{"apiVersion":"x/v1","kind":"K","hardPodAffinityWeight":100,"ignorePreferredTermsOfExistingPods":true}"#).unwrap();
        assert_eq!((args.hard_pod_affinity_weight, args.ignore_preferred_terms_of_existing_pods), (100, true));
        assert!(args.validate().is_ok());
        assert!(read(r#"{"weight":1}"#).is_err());
        for weight in [-1, 101] {
            let args = InterPodAffinityArgs { hard_pod_affinity_weight: weight, ..InterPodAffinityArgs::default() };
            let expected = format!("hardPodAffinityWeight: Invalid value: {weight}: not in valid range [0, 100]");
            assert_eq!(args.validate().unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn hints_are_registered_for_pods_and_nodes() {
        let events: Vec<String> = InterPodAffinity::default()
            .events_to_register(Emulation::default())
            .unwrap()
            .iter()
            .map(|e| {
                assert!(e.hint.is_some());
                format!("{:?}:{:b}", e.event.resource, e.event.action.0)
            })
            .collect();
        assert_eq!(events, ["Pod:100000011", "Node:1001"]);
    }

    const AFFINITY: &str = r#"{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"labelSelector":{"matchLabels":{"a":"1"}},"topologyKey":"zone"},{"labelSelector":{"matchLabels":{"b":"1"}},"topologyKey":"rack"}]}}"#;
    const ANTI: &str = r#"{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"labelSelector":{"matchLabels":{"a":"1"}},"topologyKey":"zone"},{"labelSelector":{"matchLabels":{"b":"1"}},"topologyKey":"rack"}]}}"#;
    const NS_SELECTOR: &str = r#"{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"labelSelector":{},"namespaceSelector":{"matchLabels":{"t":"x"}},"topologyKey":"zone"}]}}"#;

    fn other(labels: &str, placed: bool, affinity: &str) -> Object {
        let mut pod = pod("other", labels, affinity);
        pod.node_name = if placed { "n".into() } else { Str::default() };
        Object::Pod(Arc::new(pod))
    }

    #[test]
    fn pod_changes_help_by_the_whole_of_the_terms() {
        let check = |own: &str, old: Option<Object>, new: Option<Object>, queue: bool| {
            let target = pod("p", "{}", own);
            assert_eq!(
                hint_after_pod_change(Emulation::default(), &target, &Change { old, new }),
                Ok(OUTCOME[usize::from(queue)]),
                "{own}"
            );
        };
        let (both, one, none) = (r#"{"a":"1","b":"1"}"#, r#"{"a":"1"}"#, "{}");
        let at = |labels: &str| Some(other(labels, true, "{}"));
        // Additions and label changes with affinity terms.
        check(AFFINITY, None, at(both), true);
        check(AFFINITY, None, at(one), false);
        check(AFFINITY, None, Some(other(both, false, "{}")), false);
        check(AFFINITY, at(one), at(both), true);
        check(AFFINITY, at(both), at(one), false);
        check(AFFINITY, at(both), at(both), false);
        check(AFFINITY, at(both), None, false);
        check("{}", None, at(both), false);
        // Hints do not resolve namespace selectors.
        check(NS_SELECTOR, None, at(none), false);
        // Label changes and deletions with anti-affinity terms.
        check(ANTI, None, at(both), false);
        check(ANTI, at(both), at(one), true);
        check(ANTI, at(one), at(none), false);
        check(ANTI, at(both), None, true);
        check(ANTI, at(one), None, false);
        check(ANTI, Some(other(both, false, "{}")), None, false);
        // Anti-affinity of a deleted pod to the parked pod.
        let against =
            r#"{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{},"topologyKey":"zone"}]}}"#;
        check("{}", Some(other(none, true, against)), None, true);
        check("{}", Some(other(none, true, AFFINITY)), None, false);
        let earlier: Emulation = crate::release::Profile::named("v1.35.2").unwrap().into();
        let deleted = Change { old: Some(other(none, true, against)), new: None };
        assert_eq!(hint_after_pod_change(earlier, &pod("p", "{}", "{}"), &deleted), Ok(QueueingHint::QueueSkip));
        // From 1.37 on, any anti-affinity term counts.
        let later: Emulation = crate::release::Profile::named("v1.37.0").unwrap().into();
        for (old, new) in [(at(one), at(none)), (at(one), None)] {
            let change = Change { old, new };
            assert_eq!(hint_after_pod_change(later, &pod("p", "{}", ANTI), &change), Ok(QueueingHint::Queue));
        }
        let hit = Change { old: Some(other(none, true, ANTI)), new: None };
        assert_eq!(hint_after_pod_change(later, &pod("p", r#"{"b":"1"}"#, "{}"), &hit), Ok(QueueingHint::Queue));
        assert_eq!(hint_after_pod_change(Emulation::default(), &pod("p", r#"{"b":"1"}"#, "{}"), &hit), Ok(QueueingHint::QueueSkip));
    }

    #[test]
    fn the_pods_own_labels_and_places_not_yet_taken() {
        let own = |labels: &str| Some(Object::Pod(Arc::new(pod("p", labels, "{}"))));
        let change = Change { old: own("{}"), new: own(r#"{"a":"1"}"#) };
        assert_eq!(hint_after_pod_change(Emulation::default(), &pod("p", "{}", AFFINITY), &change), Ok(QueueingHint::Queue));
        let mut nominated = pod("other", r#"{"a":"1","b":"1"}"#, "{}");
        nominated.status.nominated_node_name = "n".into();
        let change = Change { old: None, new: Some(Object::Pod(Arc::new(nominated))) };
        assert_eq!(hint_after_pod_change(Emulation::default(), &pod("p", "{}", AFFINITY), &change), Ok(QueueingHint::Queue));
    }

    #[test]
    fn node_changes_help_by_any_term() {
        let at = |labels: &str| Some(Object::Node(Arc::new(node("n", labels))));
        let check = |own: &str, old: Option<Object>, new: &str, queue: bool| {
            let change = Change { old, new: at(new) };
            assert_eq!(
                hint_after_node_change(Emulation::default(), &pod("p", "{}", own), &change),
                Ok(OUTCOME[usize::from(queue)]),
                "{own} {new}"
            );
        };
        let (bare, zone_a, zone_b, rack) = ("{}", r#"{"zone":"a"}"#, r#"{"zone":"b"}"#, r#"{"rack":"a"}"#);
        check("{}", None, zone_a, false);
        check(AFFINITY, None, bare, false);
        check(AFFINITY, None, rack, true);
        check(AFFINITY, at(bare), zone_a, true);
        check(AFFINITY, at(zone_a), zone_b, true);
        check(AFFINITY, at(zone_a), zone_a, false);
        check(AFFINITY, at(zone_a), bare, false);
        check(ANTI, None, bare, true);
        check(ANTI, at(zone_a), bare, true);
        check(ANTI, at(zone_a), zone_b, true);
        check(ANTI, at(bare), zone_a, false);
        check(ANTI, at(zone_a), zone_a, false);
    }

    #[test]
    fn hints_report_what_they_cannot_read() {
        let bad = r#"{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}}]}}"#;
        let placed = Change { old: None, new: Some(other("{}", true, "{}")) };
        let odd = r#""Odd" is not a valid label selector operator"#;
        assert_eq!(hint_after_pod_change(Emulation::default(), &pod("p", "{}", bad), &placed).unwrap_err().to_string(), odd);
        let added = Change { old: None, new: Some(Object::Node(Arc::new(node("n", "{}")))) };
        assert_eq!(hint_after_node_change(Emulation::default(), &pod("p", "{}", bad), &added).unwrap_err().to_string(), odd);
        assert_eq!(
            hint_after_pod_change(Emulation::default(), &pod("p", "{}", "{}"), &added).unwrap_err().to_string(),
            "expected *v1.Pod, but got *v1.Node"
        );
        assert!(hint_after_node_change(Emulation::default(), &pod("p", "{}", "{}"), &placed).is_err());
        assert!(hint_after_pod_change(Emulation::default(), &pod("p", "{}", "{}"), &Change::default()).is_err());
        assert!(hint_after_node_change(Emulation::default(), &pod("p", "{}", "{}"), &Change::default()).is_err());
    }
}
