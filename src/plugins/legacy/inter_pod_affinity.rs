//! MatchInterPodAffinity. Mirrors `InterPodAffinityMatches` in `pkg/scheduler/algorithm/predicates/predicates.go` and the
//! maps of topology pairs in `metadata.go` there.
//!
//! A nominated pod has no node yet: its own anti-affinity counts on the nominated node, and the incoming pod's terms
//! ignore it.

use std::sync::Arc;

use super::{pods_without_node, reject};
use crate::cluster::{Key, Labels, Node, Pod, Str};
use crate::framework::{
    AffinityTerm, Context, CycleState, DomainConflict, FilterPlugin, NoMatchInDomain, NodeInfo, Plugin, PodInfo, PreFilterPlugin,
    PreFilterResult, Reason, Snapshot, Status,
};
use crate::plugins::inter_pod_affinity::{counts::Counts, domains::Domains};
use crate::release::{AffinityTerms, Emulation};

/// Keeps pods near to, or away from, other pods.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatchInterPodAffinity;

/// Returns whether a term of `owner` matches `pod`, by namespaces and labels only.
pub(super) fn matches(term: &AffinityTerm, owner: &Pod, pod: &Pod) -> bool {
    let namespace = &pod.metadata.namespace;
    // Namespace selectors do not exist yet, so a term without namespaces applies to its owner's namespace.
    let in_namespace =
        if term.namespaces.is_empty() { *namespace == owner.metadata.namespace } else { term.namespaces.contains(namespace) };
    in_namespace && term.selector.as_ref().is_some_and(|s| s.matches(&pod.metadata.labels))
}

fn matches_all(terms: &[AffinityTerm], owner: &Pod, pod: &Pod) -> bool {
    !terms.is_empty() && terms.iter().all(|term| matches(term, owner, pod))
}

/// Matching pods by place.
#[derive(Clone, Debug)]
enum Matching {
    /// Number of pods in each domain of each term.
    ByTerm(Counts),
    /// Number of pods on each node; one of the nodes must share the domains of all terms.
    ByNode(Vec<(Arc<NodeInfo>, i64)>),
}

impl Matching {
    /// Whether no pod matches.
    fn is_empty(&self) -> bool {
        match self {
            Self::ByTerm(counts) => counts.is_empty(),
            Self::ByNode(nodes) => nodes.iter().all(|(_, pods)| *pods == 0),
        }
    }

    /// Whether the domains of all terms have matching pods.
    fn in_all(&self, terms: &[AffinityTerm], node: &Arc<Node>) -> bool {
        match self {
            Self::ByTerm(counts) => terms.iter().all(|term| has_pods(counts, node, term)),
            Self::ByNode(nodes) => nodes.iter().any(|(other, pods)| {
                let same = |term: &AffinityTerm| same_domain(&other.node.metadata.labels, &node.metadata.labels, &term.topology_key);
                *pods > 0 && terms.iter().all(same)
            }),
        }
    }

    /// Returns the first term whose domain has a matching pod.
    fn in_any<'t>(&self, terms: &'t [AffinityTerm], node: &Arc<Node>) -> Option<&'t AffinityTerm> {
        match self {
            Self::ByTerm(counts) => terms.iter().find(|term| has_pods(counts, node, term)),
            Self::ByNode(_) => terms.first().filter(|_| self.in_all(terms, node)),
        }
    }

    /// Counts a pod added to a node or removed from it; it matches the terms selected by `chosen`.
    fn update(&mut self, terms: &[AffinityTerm], node: &NodeInfo, amount: i64, chosen: impl Fn(&AffinityTerm) -> bool) {
        match self {
            Self::ByTerm(counts) => {
                for term in terms.iter().filter(|t| chosen(t)) {
                    let place = counts.place_or_add(&term.topology_key);
                    counts.update(&node.node, place, amount);
                }
            }
            Self::ByNode(nodes) => {
                if terms.is_empty() || !terms.iter().all(chosen) {
                    return;
                }
                match nodes.iter_mut().find(|(known, _)| known.name() == node.name()) {
                    Some((_, pods)) => *pods += amount,
                    None => nodes.push((Arc::new(NodeInfo::new(node.node.clone())), amount)),
                }
            }
        }
    }
}

/// Whether the node's domain of a term has matching pods.
fn has_pods(counts: &Counts, node: &Arc<Node>, term: &AffinityTerm) -> bool {
    counts.place(&term.topology_key).and_then(|place| counts.get(node, place)).is_some_and(|pods| pods > 0)
}

fn same_domain(a: &Labels, b: &Labels, key: &str) -> bool {
    !key.is_empty() && a.get(key).is_some_and(|value| b.get(key) == Some(value))
}

/// Pods on missing nodes. If there are any, kube-scheduler has no metadata and checks all pods for each node. The
/// checks run in cache order without nominated pods, and a single pod must match all terms.
#[derive(Clone, Debug, Default)]
struct Lost {
    any: bool,
    /// The node of a pod that matches all required affinity terms.
    affinity: Option<Str>,
    /// Whether a pod matches all required anti-affinity terms.
    anti_affinity: bool,
}

impl Lost {
    fn of(cx: &Context<'_>, pod: &PodInfo) -> Self {
        let (mut lost, terms, anti_terms) = (Self::default(), pod.required_affinity(), pod.required_anti_affinity());
        for other in pods_without_node(cx) {
            lost.any = true;
            if lost.affinity.is_none() && matches_all(terms, &pod.pod, other) {
                lost.affinity = Some(other.node_name.clone());
            }
            lost.anti_affinity |= matches_all(anti_terms, &pod.pod, other);
        }
        lost
    }
}

/// Data computed before nodes are filtered.
#[derive(Clone, Debug)]
struct Metadata {
    lost: Arc<Lost>,
    /// Existing pods' required anti-affinity terms that match the pod.
    existing_anti_affinity: Counts,
    /// Pods that match all required affinity terms of the pod.
    affinity: Matching,
    /// Pods that match required anti-affinity terms of the pod: any term, or all terms in some releases.
    anti_affinity: Matching,
}

/// Returns the topology keys of an existing pod's anti-affinity terms that match `pod`.
fn opposing_keys(existing: &PodInfo, pod: &Pod, release: AffinityTerms) -> Vec<Str> {
    let terms = existing.required_anti_affinity();
    let about = terms.iter().filter(|term| matches(term, &existing.pod, pod));
    match release {
        AffinityTerms::Each => about.map(|term| term.topology_key.clone()).collect(),
        // Every matching term is compared by the key of the last term.
        AffinityTerms::Together => about.filter_map(|_| terms.last().map(|last| last.topology_key.clone())).collect(),
    }
}

fn metadata(cx: &Context<'_>, pod: &PodInfo) -> Metadata {
    let (snapshot, release) = (cx.snapshot, cx.emulation.behaviour().predicates.affinity_terms);
    let mut existing_anti_affinity = Domains::default();
    for (existing, nodes) in snapshot.pods().with_required_anti_affinity_to(pod.bits()) {
        for key in opposing_keys(existing, &pod.pod, release) {
            existing_anti_affinity.add_counts(snapshot, &key, nodes.clone(), 1);
        }
    }
    let nodes_of = |chosen: &dyn Fn(&Pod) -> bool| snapshot.pods().count(crate::framework::LabelBloom::default(), |p| chosen(&p.pod));
    let (terms, anti_terms) = (pod.required_affinity(), pod.required_anti_affinity());
    let by_node = |terms: &[AffinityTerm]| {
        let found = if terms.is_empty() { Vec::new() } else { nodes_of(&|other| matches_all(terms, &pod.pod, other)) };
        Matching::ByNode(found.into_iter().map(|(at, pods)| (snapshot.nodes()[at].clone(), pods)).collect())
    };
    let lost = Lost::of(cx, pod);
    let own = if lost.any { AffinityTerms::Together } else { release };
    let (affinity, anti_affinity) = match own {
        AffinityTerms::Together => (by_node(terms), by_node(anti_terms)),
        AffinityTerms::Each => {
            let (mut affinity, mut anti_affinity) = (Domains::default(), Domains::default());
            if !terms.is_empty() {
                let found = nodes_of(&|other| matches_all(terms, &pod.pod, other));
                for term in terms {
                    affinity.add_counts(snapshot, &term.topology_key, found.iter().copied(), 1);
                }
            }
            for term in anti_terms {
                anti_affinity.add_counts(snapshot, &term.topology_key, nodes_of(&|other| matches(term, &pod.pod, other)), 1);
            }
            (Matching::ByTerm(Counts::new(affinity)), Matching::ByTerm(Counts::new(anti_affinity)))
        }
    };
    Metadata { lost: Arc::new(lost), existing_anti_affinity: Counts::new(existing_anti_affinity), affinity, anti_affinity }
}

impl Metadata {
    fn update(&mut self, cx: &Context<'_>, pod: &PodInfo, updated: &PodInfo, node: &NodeInfo, amount: i64) {
        if self.lost.any && updated.pod.node_name.is_empty() {
            return;
        }
        let release = cx.emulation.behaviour().predicates.affinity_terms;
        for key in opposing_keys(updated, &pod.pod, release) {
            let place = self.existing_anti_affinity.place_or_add(&key);
            self.existing_anti_affinity.update(&node.node, place, amount);
        }
        if updated.pod.node_name.is_empty() {
            return;
        }
        let terms = pod.required_affinity();
        if matches_all(terms, &pod.pod, &updated.pod) {
            self.affinity.update(terms, node, amount, |_| true);
        }
        self.anti_affinity.update(pod.required_anti_affinity(), node, amount, |term| matches(term, &pod.pod, &updated.pod));
    }
}

impl Plugin for MatchInterPodAffinity {
    plugin!(MatchInterPodAffinity: pre_filter, filter);
}

impl PreFilterPlugin for MatchInterPodAffinity {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        state.write(metadata(cx, pod));
        (PreFilterResult::default(), Status::success())
    }

    fn has_extensions(&self, _emulation: Emulation) -> bool {
        true
    }

    fn add_pod(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) -> Status {
        update(cx, state, pod, added, node, 1)
    }

    fn remove_pod(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) -> Status {
        update(cx, state, pod, removed, node, -1)
    }
}

fn update(cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, updated: &PodInfo, node: &NodeInfo, amount: i64) -> Status {
    // Skipping pods that change nothing avoids a copy of the metadata.
    let has_say =
        !updated.required_anti_affinity().is_empty() || !pod.required_affinity().is_empty() || !pod.required_anti_affinity().is_empty();
    if has_say && let Some(metadata) = state.get_mut::<Metadata>() {
        metadata.update(cx, pod, updated, node, amount);
    }
    Status::success()
}

impl FilterPlugin for MatchInterPodAffinity {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let computed;
        let found = if let Some(found) = state.read::<Metadata>() {
            found
        } else {
            computed = metadata(cx, pod);
            &computed
        };
        let labels = &node.node.metadata.labels;
        let reject_for = |reason| reject(vec![Reason::PodAffinityRules, reason], cx.emulation.behaviour());
        if let Some(key) = found.existing_anti_affinity.first_positive(&node.node) {
            let release = cx.emulation.behaviour().predicates.affinity_terms;
            let opposes = |other: &PodInfo| opposing_keys(other, &pod.pod, release).contains(key);
            return reject_for(Reason::ExistingPodAntiAffinity(Box::new(conflict(cx.snapshot, node, key, opposes))));
        }
        let terms = pod.required_affinity();
        if !terms.is_empty() && !found.affinity.in_all(terms, &node.node) {
            if let Some(lost) = &found.lost.affinity {
                let (pod, node) = (pod.key(), node.name());
                let text =
                    format!("Cannot schedule pod {pod} onto node {node}, because of PodAffinity, err: node {:?} not found", lost.as_str());
                return Status::error(text);
            }
            // The first pod of a group with affinity to itself is exempt, because no other pod exists yet.
            let is_first = found.affinity.is_empty() && matches_all(terms, &pod.pod, &pod.pod);
            if !is_first {
                let key = &unmet(&found.affinity, terms, &node.node).topology_key;
                let miss = NoMatchInDomain { topology_key: key.clone(), domain: labels.get(key).cloned() };
                return reject_for(Reason::PodAffinityMismatch(Box::new(miss)));
            }
        }
        if let Some(term) = pod.required_anti_affinity().first().filter(|_| found.lost.anti_affinity) {
            let domain = labels.get(&term.topology_key).cloned().unwrap_or_default();
            return reject_for(Reason::PodAntiAffinity(Box::new(DomainConflict {
                topology_key: term.topology_key.clone(),
                domain,
                with: None,
            })));
        }
        if let Some(term) = found.anti_affinity.in_any(pod.required_anti_affinity(), &node.node) {
            let in_the_way = |other: &PodInfo| matches(term, &pod.pod, &other.pod);
            return reject_for(Reason::PodAntiAffinity(Box::new(conflict(cx.snapshot, node, &term.topology_key, in_the_way))));
        }
        Status::success()
    }
}

/// Returns the first term whose domain has no matching pod, or the first of all if a single node must share all
/// domains.
fn unmet<'t>(matching: &Matching, terms: &'t [AffinityTerm], node: &Arc<Node>) -> &'t AffinityTerm {
    terms.iter().find(|term| !matching.in_all(std::slice::from_ref(term), node)).unwrap_or(&terms[0])
}

/// Names a pod in the node's domain: first on the node itself, which a dry run may have changed, then elsewhere.
fn conflict(snapshot: &Snapshot, node: &NodeInfo, key: &Str, matches: impl Fn(&PodInfo) -> bool) -> DomainConflict {
    let labels = &node.node.metadata.labels;
    let on = |node: &NodeInfo| node.pods.iter().find(|p| matches(p)).map(|p| p.key());
    let with: Option<Key> = on(node).or_else(|| {
        let others = snapshot.nodes().iter().filter(|n| n.name() != node.name());
        others.filter(|n| same_domain(&n.node.metadata.labels, labels, key)).find_map(|n| on(n))
    });
    DomainConflict { topology_key: key.clone(), domain: labels.get(key).cloned().unwrap_or_default(), with }
}
