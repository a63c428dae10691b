//! NodeAffinity: PreFilter, Filter, PreScore, Score.
//!
//! Mirrors `pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go` and
//! `staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::helper::{changed_nodes, default_normalize_score, node_actions};
use crate::cluster::{
    self, Node, NodeSelector, Pod, PodSpec, PreferredSchedulingTerm, PreparedTerms, Requirement, SelectorError, SelectorWords, Str,
};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, CycleState, EventResource, FieldErrors, FilterPlugin, HintError,
    NodeInfo, NodeSelectorPart, Plugin, PodInfo, PreFilterPlugin, PreFilterResult, PreScorePlugin, QueueingHint, Reason, ScorePlugin,
    Status, UnmetRequirement,
};
use crate::release::{Emulation, IdleScores, NodeAffinityConflict, NodeAffinityPreFilter};

/// Arguments of the plugin.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeAffinityArgs {
    /// Accepted and ignored.
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    pub kind: IgnoredAny,
    /// Node affinity that applies to every pod in addition to its own.
    pub added_affinity: Option<cluster::NodeAffinity>,
}

impl NodeAffinityArgs {
    /// Validates the arguments; mirrors `ValidateNodeAffinityArgs`, which rejects selector terms that cannot be parsed.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        let Some(added) = &self.added_affinity else { return Ok(()) };
        let required =
            added.required.iter().flat_map(|s| required_errors(s, "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."));
        let preferred = added.preferred.iter().flat_map(|terms| {
            preferred_errors(terms, "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution", SelectorWords::Paths)
        });
        for error in required.chain(preferred) {
            let (path, message) = error.split_once(": ").unwrap_or(("addedAffinity", &error));
            errors.add(path, message);
        }
        errors.into_result()
    }
}

/// Returns the errors of the terms of a selector at `path`, which is empty or ends with a dot.
pub(super) fn required_errors(selector: &NodeSelector, path: &str) -> Vec<String> {
    let terms = selector.node_selector_terms.iter().enumerate().filter(|(_, t)| !t.is_empty());
    terms.flat_map(|(i, t)| t.errors(&format!("{path}nodeSelectorTerms[{i}]"))).collect()
}

/// Returns the errors of a list of preferred terms at `path`. Terms without effect are not checked.
fn preferred_errors(terms: &[PreferredSchedulingTerm], path: &str, words: SelectorWords) -> Vec<String> {
    let counting = terms.iter().enumerate().filter(|(_, t)| counts(t));
    counting.flat_map(|(i, t)| t.preference.errors_in(&format!("{path}[{i}]"), words)).collect()
}

/// A pod's node requirements, parsed once for many nodes; mirrors `RequiredNodeAffinity`.
#[derive(Clone, Debug)]
pub struct RequiredNodeAffinity {
    spec: Arc<PodSpec>,
    /// Indexes of the terms that can match; `None` without required affinity.
    terms: Option<Vec<usize>>,
    /// The same terms for many nodes; `None` where they are few.
    prepared: Option<Arc<PreparedTerms>>,
    error: Option<SelectorError>,
    /// The entries of the `nodeSelector` as requirements; filled when a node is the first not to match.
    entries: OnceLock<Vec<Arc<Requirement>>>,
    /// Filled when a node is the first not to match.
    first: OnceLock<FirstTerm>,
}

impl RequiredNodeAffinity {
    /// Parses the `nodeSelector` and the required node affinity of a pod.
    pub fn of(pod: &Pod) -> Self {
        let required = required_affinity(&pod.spec);
        let usable = |required: &NodeSelector| -> Vec<usize> {
            let terms = required.node_selector_terms.iter().enumerate();
            terms.filter(|(_, t)| !t.is_empty() && t.is_valid()).map(|(at, _)| at).collect()
        };
        let terms = required.map(usable);
        let each = required.zip(terms.as_ref()).map(|(required, terms)| terms.iter().map(|at| (&required.node_selector_terms[*at], 1)));
        let prepared = each.and_then(PreparedTerms::of).map(Arc::new);
        let error = required.and_then(|r| SelectorError::aggregate(required_errors(r, "")));
        Self { spec: pod.spec.clone(), terms, prepared, error, entries: OnceLock::new(), first: OnceLock::new() }
    }

    /// Whether the pod requires nothing, so that every node matches.
    pub fn is_trivial(&self) -> bool {
        self.terms.is_none() && self.spec.node_selector.as_ref().is_none_or(|labels| labels.iter().len() == 0)
    }

    /// Whether the node matches both. Terms that cannot be parsed match nothing.
    pub fn matches(&self, node: &Node) -> bool {
        selector_matches(&self.spec, node) && self.any_term_matches(node)
    }

    /// Does the same as [`Self::matches`]; returns an error if no term matches and one of them cannot be parsed.
    pub fn try_matches(&self, node: &Node) -> Result<bool, SelectorError> {
        if !selector_matches(&self.spec, node) {
            return Ok(false);
        }
        match (self.any_term_matches(node), &self.error) {
            (false, Some(error)) => Err(error.clone()),
            (matched, _) => Ok(matched),
        }
    }

    /// Returns the same as [`unmet_requirement`].
    fn unmet(&self, node: &Node) -> Option<UnmetRequirement> {
        let entries = || selector_entries(&self.spec).map(|(key, value)| Arc::new(entry_requirement(key, value))).collect();
        let of_entry = || {
            let at = first_unmet_entry(&self.spec, node)?;
            Some(unmet_entry(self.entries.get_or_init(entries)[at].clone(), node))
        };
        of_entry().or_else(|| {
            let required = required_affinity(&self.spec)?;
            self.first.get_or_init(|| FirstTerm::of(required)).unmet(node)
        })
    }

    fn any_term_matches(&self, node: &Node) -> bool {
        if let Some(prepared) = &self.prepared {
            return prepared.any(&node.metadata.labels, node_name(node));
        }
        let (Some(usable), Some(required)) = (&self.terms, required_affinity(&self.spec)) else { return true };
        usable.iter().any(|at| required.node_selector_terms[*at].matches_parsed(&node.metadata.labels, node_name(node)))
    }
}

/// Whether a node matches a pod's `nodeSelector` and required node affinity.
///
/// For one pod and many nodes, parse a [`RequiredNodeAffinity`] once instead.
pub fn required_node_affinity_matches(pod: &Pod, node: &Node) -> bool {
    selector_matches(&pod.spec, node)
        && required_affinity(&pod.spec).is_none_or(|required| required.matches(&node.metadata.labels, node_name(node)))
}

fn required_affinity(spec: &PodSpec) -> Option<&NodeSelector> {
    spec.affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref()
}

fn selector_matches(spec: &PodSpec, node: &Node) -> bool {
    spec.node_selector.as_ref().is_none_or(|selector| selector.is_within(&node.metadata.labels))
}

/// Returns the name for `matchFields`; `None` for a node without one, on which fields are ignored.
fn node_name(node: &Node) -> Option<&Str> {
    Some(node.name()).filter(|name| !name.is_empty())
}

fn counts(term: &PreferredSchedulingTerm) -> bool {
    term.weight != 0 && !term.preference.is_empty()
}

/// Returns the preferred terms that have an effect, or their errors; mirrors `NewPreferredSchedulingTerms`.
fn parse_preferred(terms: &[PreferredSchedulingTerm], words: SelectorWords) -> Result<Vec<PreferredSchedulingTerm>, SelectorError> {
    match SelectorError::aggregate(preferred_errors(terms, "", words)) {
        Some(error) => Err(error),
        None => Ok(terms.iter().filter(|t| counts(t)).cloned().collect()),
    }
}

/// Preferred terms that have an effect and no error.
#[derive(Clone, Debug, Default)]
pub(super) struct PreferredTerms {
    terms: Vec<PreferredSchedulingTerm>,
    /// The same for many nodes; `None` where they are few.
    prepared: Option<Arc<PreparedTerms>>,
}

impl PreferredTerms {
    pub(super) fn new(terms: Vec<PreferredSchedulingTerm>) -> Self {
        let prepared = PreparedTerms::of(terms.iter().map(|term| (&term.preference, i64::from(term.weight)))).map(Arc::new);
        Self { terms, prepared }
    }

    /// Returns the sum of the weights of the terms that match a node.
    pub(super) fn score(&self, node: &Node) -> i64 {
        let (labels, name) = (&node.metadata.labels, node_name(node));
        if let Some(prepared) = &self.prepared {
            return prepared.weight(labels, name);
        }
        self.terms.iter().filter(|term| term.preference.matches_parsed(labels, name)).map(|term| i64::from(term.weight)).sum()
    }
}

/// Keeps pods on nodes that match their selector and affinity, and prefers nodes with more matching preferred terms.
#[derive(Clone, Debug, Default)]
pub struct NodeAffinity {
    added_required: Option<Arc<NodeSelector>>,
    added_preferred: Option<PreferredTerms>,
}

impl NodeAffinity {
    /// Makes the plugin with its arguments. Added terms that [`NodeAffinityArgs::validate`] rejects match nothing.
    pub fn new(args: NodeAffinityArgs) -> Self {
        let added = args.added_affinity.unwrap_or_default();
        let added_preferred = added.preferred.filter(|terms| !terms.is_empty()).map(|mut terms| {
            terms.retain(|t| counts(t) && t.preference.is_valid());
            PreferredTerms::new(terms)
        });
        Self { added_required: added.required.map(Arc::new), added_preferred }
    }

    /// Whether the node matches the affinity that the profile adds.
    fn added_matches(&self, node: &Node) -> bool {
        self.added_required.as_ref().is_none_or(|added| added.matches(&node.metadata.labels, node_name(node)))
    }

    /// Returns the sum of the weights of the matching preferred terms of each node: the pod's and the added ones.
    fn scores<'n>(
        &self,
        cx: &Context<'_>,
        state: &CycleState,
        pod: &PodInfo,
        nodes: impl Iterator<Item = &'n NodeInfo>,
    ) -> Result<Vec<i64>, Status> {
        let parsed;
        let own = match state.read::<PreScoreState>() {
            Some(own) => Some(own),
            // Releases without PreScore parse them for each node.
            None => {
                parsed = pod_preferred(&pod.pod, cx.emulation.behaviour().messages.selector_words)?;
                parsed.as_ref()
            }
        };
        let terms = || own.map(|PreScoreState(terms)| terms).into_iter().chain(&self.added_preferred);
        Ok(nodes.map(|node| terms().map(|terms| terms.score(&node.node)).sum()).collect())
    }

    /// Returns Queue if a matching node was added, or a node matches that did not before.
    fn after_node_change(&self, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
        let (old, Some(new)) = changed_nodes(change)? else { return Ok(QueueingHint::QueueSkip) };
        if !self.added_matches(new) {
            return Ok(QueueingHint::QueueSkip);
        }
        let required = RequiredNodeAffinity::of(pod);
        let helps = required.try_matches(new)? && !old.map_or(Ok(false), |n| required.try_matches(n))?;
        Ok(if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip })
    }
}

/// The pod's parsed requirements.
#[derive(Clone, Debug)]
struct PreFilterState(RequiredNodeAffinity);

/// Returns the pod's preferred terms; `None` if the pod lists none.
fn pod_preferred(pod: &Pod, words: SelectorWords) -> Result<Option<PreScoreState>, Status> {
    let affinity = pod.spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
    let terms = affinity.and_then(|a| a.preferred.as_ref());
    let parsed = |terms: &Vec<PreferredSchedulingTerm>| parse_preferred(terms, words).map(PreferredTerms::new);
    terms.map(|terms| parsed(terms).map(PreScoreState)).transpose().map_err(|e| Status::error(e.to_string()))
}

/// The pod's parsed preferred terms.
#[derive(Clone, Debug)]
struct PreScoreState(PreferredTerms);

impl Plugin for NodeAffinity {
    plugin!(NodeAffinity: pre_filter, filter, pre_score, score);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let event = ClusterEvent::new(EventResource::Node, node_actions(emulation, ActionType::UPDATE_NODE_LABEL));
        let plugin = self.clone();
        Some(vec![ClusterEventWithHint { event, hint: Some(Arc::new(move |_, pod, change| plugin.after_node_change(pod, change))) }])
    }
}

impl PreFilterPlugin for NodeAffinity {
    /// Restricts the nodes to those that `matchFields` names, if every term names some.
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let required = required_affinity(&pod.pod.spec);
        if required.is_none() && self.added_required.is_none() && pod.pod.spec.node_selector.is_none() {
            return (PreFilterResult::default(), Status::skip());
        }
        state.write(PreFilterState(RequiredNodeAffinity::of(&pod.pod)));
        let release = &cx.emulation.behaviour().affinity;
        if release.node_pre_filter == NodeAffinityPreFilter::Prepares {
            return (PreFilterResult::default(), Status::success());
        }
        let node_names = required.and_then(|required| named_nodes(required, release.node_conflict));
        if node_names.as_ref().is_some_and(BTreeSet::is_empty) {
            return (PreFilterResult::default(), Status::rejected(Reason::NodeAffinityConflict));
        }
        (PreFilterResult { node_names }, Status::success())
    }
}

/// Returns the first entry of the `nodeSelector` that the node does not match, else the first requirement of the first
/// affinity term that it does not match.
pub(super) fn unmet_requirement(spec: &PodSpec, node: &Node) -> Option<UnmetRequirement> {
    let of_entry = || {
        let (key, value) = selector_entries(spec).nth(first_unmet_entry(spec, node)?)?;
        Some(unmet_entry(Arc::new(entry_requirement(key, value)), node))
    };
    of_entry().or_else(|| unmet_term(required_affinity(spec)?, node))
}

fn selector_entries(spec: &PodSpec) -> impl Iterator<Item = (&Str, &Str)> {
    spec.node_selector.iter().flat_map(cluster::Labels::iter)
}

/// Returns the index of the first entry of the `nodeSelector` that the node does not match.
fn first_unmet_entry(spec: &PodSpec, node: &Node) -> Option<usize> {
    let labels = &node.metadata.labels;
    selector_entries(spec).position(|(key, value)| labels.get(key.as_str()) != Some(value))
}

/// Returns an entry of a `nodeSelector` as a requirement.
fn entry_requirement(key: &Str, value: &Str) -> Requirement {
    Requirement { key: key.clone(), operator: "In".into(), values: [value.clone()].into_iter().collect() }
}

/// Returns an entry of the `nodeSelector` with what the node has instead.
fn unmet_entry(requirement: Arc<Requirement>, node: &Node) -> UnmetRequirement {
    let found = node.metadata.labels.get(requirement.key.as_str()).cloned();
    UnmetRequirement { part: NodeSelectorPart::NodeSelector, requirement, found, terms: 0 }
}

/// Returns the first requirement of the first term that the node does not match.
fn unmet_term(required: &NodeSelector, node: &Node) -> Option<UnmetRequirement> {
    FirstTerm::of(required).unmet(node)
}

/// The first term of a selector, with requirements that the answers for all nodes share: a requirement may have many values.
#[derive(Clone, Debug)]
struct FirstTerm {
    expressions: Vec<Arc<Requirement>>,
    fields: Vec<Arc<Requirement>>,
    /// Number of terms of the selector.
    terms: usize,
}

impl FirstTerm {
    fn of(required: &NodeSelector) -> Self {
        let shared = |list: &[Requirement]| list.iter().cloned().map(Arc::new).collect();
        let first = required.node_selector_terms.first();
        Self {
            expressions: first.map_or_else(Vec::new, |term| shared(&term.match_expressions)),
            fields: first.map_or_else(Vec::new, |term| shared(&term.match_fields)),
            terms: required.node_selector_terms.len(),
        }
    }

    /// Returns the first requirement that the node does not match.
    fn unmet(&self, node: &Node) -> Option<UnmetRequirement> {
        let (labels, name) = (&node.metadata.labels, node_name(node));
        let of_labels = || {
            let requirement = self.expressions.iter().find(|r| !r.matches_node_label(labels))?;
            Some((NodeSelectorPart::MatchExpressions, requirement, labels.get(&requirement.key).cloned()))
        };
        let of_fields = || {
            let requirement = self.fields.iter().find(|r| !r.matches_node_field(name))?;
            Some((NodeSelectorPart::MatchFields, requirement, name.cloned()))
        };
        let (part, requirement, found) = of_labels().or_else(of_fields)?;
        Some(UnmetRequirement { part, requirement: requirement.clone(), found, terms: self.terms })
    }
}

/// Returns the nodes that the terms name; `None` if a term names none or there is no term. Empty if the terms conflict.
fn named_nodes(required: &NodeSelector, conflict: NodeAffinityConflict) -> Option<BTreeSet<Str>> {
    let mut names: Option<BTreeSet<Str>> = None;
    for term in &required.node_selector_terms {
        let fields = term.match_fields.iter().filter(|r| r.key == "metadata.name" && r.operator == "In");
        let by_field = fields.map(|r| r.values.iter().cloned().collect::<BTreeSet<Str>>());
        let of_term = by_field.reduce(|all, more| all.intersection(&more).cloned().collect())?;
        if of_term.is_empty() && conflict == NodeAffinityConflict::InAnyTerm {
            return Some(BTreeSet::new());
        }
        names.get_or_insert_default().extend(of_term);
    }
    names
}

impl FilterPlugin for NodeAffinity {
    fn filter(&self, _cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        if !self.added_matches(&node.node) {
            let unmet = self.added_required.as_ref().and_then(|added| unmet_term(added, &node.node));
            return Status::rejected(Reason::AddedAffinityMismatch { unmet: unmet.map(Box::new) });
        }
        let unmet = match state.read() {
            Some(PreFilterState(required)) if required.matches(&node.node) => return Status::success(),
            Some(PreFilterState(required)) => required.unmet(&node.node),
            None if required_node_affinity_matches(&pod.pod, &node.node) => return Status::success(),
            None => unmet_requirement(&pod.pod.spec, &node.node),
        };
        Status::rejected(Reason::NodeAffinityMismatch { unmet: unmet.map(Box::new) })
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

impl PreScorePlugin for NodeAffinity {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        let skips = self.added_preferred.is_none() && cx.emulation.behaviour().cycle.idle_scores == IdleScores::Skipped;
        match pod_preferred(&pod.pod, cx.emulation.behaviour().messages.selector_words) {
            Err(status) => return status,
            Ok(None) if skips => return Status::skip(),
            // Without preferred terms of its own the pod is scored by the added ones.
            Ok(terms) => state.write(terms.unwrap_or(PreScoreState(PreferredTerms::default()))),
        }
        Status::success()
    }
}

impl ScorePlugin for NodeAffinity {
    fn score(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        self.scores(cx, state, pod, std::iter::once(node)).map(|scores| scores.into_iter().sum())
    }

    fn score_all(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        self.scores(cx, state, pod, nodes.iter().map(|node| &**node))
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        default_normalize_score(false, scores);
        Status::success()
    }

    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
