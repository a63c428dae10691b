//! Searches the pods in the way: per node, the least important pod whose deletion lets the pod fit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::Change;
use super::cluster::depends_on_pods;
use super::constraints::{Demand, Matrix};
use super::reaction::held;
use super::requests::amount;
use super::trial::{Trials, amount_of, free};
use super::{CutShort, Fix, FixOutcome, Fixes, Limits, Untried};
use crate::cluster::{Cluster, Controller, Key, Kind, LabelSelector, Labels, Pod, PodDisruptionBudget, Str};
use crate::controllers::Workload;
use crate::framework::{AffinityTerm, NodeInfo, Nodes, PodInfo, PodResourcesOptions, pod_requests};

/// Tries the deletion of pods, on each node the least important first, until one lets the pod fit.
pub(super) fn deletions(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Fixes) {
    let cluster = trials.scheduler().state().cluster().clone();
    let mut nodes = InTheWay::new(trials, matrix).by_node();
    // Nodes with one failing demand first.
    nodes.sort_by_key(|(at, _)| !matrix.one.contains(*at));
    let mut left: usize = nodes.iter().map(|(_, pods)| pods.len()).sum();
    let mut tried = 0;
    for (_, pods) in nodes {
        let mut left_on_node = pods.len();
        left -= left_on_node;
        for pod in pods {
            if trials.is_over() {
                return;
            }
            if tried >= limits.deletions {
                return trials.cut_short(CutShort::Untried { what: Untried::Deletions, tried, of: tried + left_on_node + left });
            }
            tried += 1;
            left_on_node -= 1;
            let change = Change::Delete(Kind::Pod, pod.key());
            let Some(verified) = trials.attempt(std::slice::from_ref(&change)).filter(|v| v.outcome == FixOutcome::Scheduled) else {
                continue;
            };
            let budgets = exhausted_budgets(&cluster, &pod);
            match held(trials, Fix { budgets, ..Fix::new(vec![change], verified) }) {
                Ok(fix) => fixes.fixes.push(fix),
                Err(by) => {
                    fixes.note_undone(by);
                    continue;
                }
            }
            break;
        }
    }
}

/// Returns the budgets that allow no disruption of a pod, by name.
pub(super) fn exhausted_budgets(cluster: &Cluster, pod: &Pod) -> Vec<Key> {
    let counted = |budget: &PodDisruptionBudget| budget.status.disrupted_pods.contains_key(&pod.metadata.name);
    let budgets = cluster.pod_disruption_budgets.in_namespace(&pod.metadata.namespace);
    let exhausted = budgets.filter(|b| b.covers(pod) && b.status.disruptions_allowed <= 0 && !counted(b));
    exhausted.map(|b| b.metadata.key()).collect()
}

/// Returns whether a pod may be deleted for another: it neither terminates already nor comes back at once, and is of another
/// workload, which would otherwise be as short of a pod as before.
pub(super) fn is_deletable(cluster: &Cluster, pod: &Pod, wanted: &Pod) -> bool {
    let workload = |pod: &Pod| Workload::of(cluster, pod).filter(|_| pod.metadata.namespace == wanted.metadata.namespace);
    !pod.is_terminating()
        && !matches!(Controller::of(pod), Controller::DaemonSet | Controller::Node)
        && workload(pod).is_none_or(|own| workload(wanted) != Some(own))
}

/// The pods whose deletion might let the pod fit.
struct InTheWay<'a> {
    matrix: &'a Matrix,
    nodes: Nodes,
    cluster: Cluster,
    wanted: PodInfo,
    /// The requests of the pod, by demand; `None` for other demands than of resources.
    requests: Vec<Option<i64>>,
    /// Names of the claims that the pod mounts.
    claims: BTreeSet<Str>,
    /// Pending pods that are nominated to a node, which filters count as running there.
    nominated: BTreeMap<Str, Vec<Arc<PodInfo>>>,
    /// Combinations of failing demands of nodes on which a pod elsewhere can cure all of them.
    curable_from_elsewhere: BTreeSet<Vec<usize>>,
}

impl<'a> InTheWay<'a> {
    fn new(trials: &Trials<'_>, matrix: &'a Matrix) -> Self {
        let state = trials.scheduler().state();
        let nodes = state.snapshot().nodes().clone();
        let pod = trials.changed_pod(&[]).unwrap_or_else(|| trials.pod().clone());
        let mut claims = BTreeSet::new();
        for volume in &pod.spec.volumes {
            claims.extend(volume.persistent_volume_claim.as_ref().map(|source| source.claim_name.clone()));
        }
        let reaches = |row: usize| {
            let demand = &matrix.rows[row].demand;
            matches!(demand, Demand::PodTerm { .. } | Demand::ExistingAntiAffinity | Demand::Spread { .. })
                || matches!(demand, Demand::Volume { .. } | Demand::Other { .. })
        };
        let combinations = (0..nodes.len()).map(|at| matrix.failing(at).collect::<Vec<usize>>());
        let curable_from_elsewhere = combinations.filter(|rows| !rows.is_empty() && rows.iter().all(|row| reaches(*row))).collect();
        let emulation = state.config().emulation;
        let mut nominated: BTreeMap<Str, Vec<Arc<PodInfo>>> = BTreeMap::new();
        let is_waiting = |other: &&Arc<Pod>| other.node_name.is_empty() && !other.status.nominated_node_name.is_empty();
        for other in state.cluster().pods.iter().filter(is_waiting).filter(|other| other.key() != pod.key()) {
            let info = Arc::new(PodInfo::with_emulation(other.clone(), emulation));
            nominated.entry(other.status.nominated_node_name.clone()).or_default().push(info);
        }
        let wanted = PodInfo::with_emulation(pod, emulation);
        let all = pod_requests(&wanted.pod, PodResourcesOptions::default());
        let request = |demand: &Demand| match demand {
            Demand::Resource { resource, .. } => Some(amount(resource, all.get(resource).copied().unwrap_or_default())),
            _ => None,
        };
        let requests = matrix.rows.iter().map(|row| request(&row.demand)).collect();
        Self { matrix, nodes, cluster: state.cluster().clone(), wanted, requests, claims, nominated, curable_from_elsewhere }
    }

    /// Returns the pods per node, both by name, the least important pod of a node first; nodes without any are left out.
    fn by_node(&self) -> Vec<(usize, Vec<Arc<Pod>>)> {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by(|a, b| self.nodes[*a].name().cmp(self.nodes[*b].name()));
        let of_node = |at: usize| {
            let node = &self.nodes[at];
            let failing: Vec<usize> = self.matrix.failing(at).collect();
            let here = !failing.is_empty() && failing.iter().all(|row| depends_on_pods(&self.matrix.rows[*row]));
            if !here && self.curable_from_elsewhere.is_empty() {
                return Vec::new();
            }
            let cures_here = |other: &PodInfo| here && failing.iter().all(|row| self.may_cure(*row, other, Some(node)));
            let cures_there = |other: &PodInfo| {
                let mut combinations = self.curable_from_elsewhere.iter();
                combinations.any(|rows| rows.iter().all(|row| self.may_cure(*row, other, None)))
            };
            let in_the_way = |other: &&Arc<PodInfo>| {
                (cures_here(other) || cures_there(other)) && is_deletable(&self.cluster, &other.pod, &self.wanted.pod)
            };
            let mut pods: Vec<&Arc<PodInfo>> = node.pods.iter().filter(in_the_way).collect();
            pods.extend(self.nominated.get(node.name()).into_iter().flatten().filter(|_| here));
            pods.sort_by_cached_key(|p| (p.priority(), std::cmp::Reverse(p.start_time()), p.key()));
            pods.into_iter().map(|p| p.pod.clone()).collect()
        };
        order.into_iter().map(|at| (at, of_node(at))).filter(|(_, pods)| !pods.is_empty()).collect()
    }

    /// Returns whether a demand may hold once a pod is gone from the node, or from any other node where `node` is `None`.
    /// Answers `true` where only a decision can tell.
    fn may_cure(&self, row: usize, other: &PodInfo, node: Option<&NodeInfo>) -> bool {
        match &self.matrix.rows[row].demand {
            Demand::Resource { resource, .. } => node.is_some_and(|node| {
                let room = free(node, resource).saturating_add(amount_of(&other.resource.resource, resource));
                self.requests[row].is_some_and(|wanted| room >= wanted)
            }),
            Demand::HostPort { .. } => node.is_some() && !other.host_ports().is_empty(),
            Demand::PodSlot => node.is_some(),
            // A pod may come first where none matches its own term, if it matches that itself.
            Demand::PodTerm { anti: true, .. } => self.is_matched(other, self.wanted.required_anti_affinity()),
            Demand::PodTerm { anti: false, .. } => self.is_matched(other, self.wanted.required_affinity()),
            Demand::ExistingAntiAffinity => !other.required_anti_affinity().is_empty(),
            Demand::Spread { .. } => {
                let mut constraints = self.wanted.pod.spec.topology_spread_constraints.iter();
                let selects = |selector: &LabelSelector| selector.matches(&other.pod.metadata.labels);
                other.namespace() == self.wanted.namespace() && constraints.any(|c| c.label_selector.as_ref().is_some_and(selects))
            }
            // Limits and disks are of the node, a claim for one pod is of the cluster.
            Demand::Volume { .. } => {
                let mut claims = other.pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref());
                match node {
                    Some(_) => !other.pod.spec.volumes.is_empty(),
                    None => claims.any(|source| self.claims.contains(&source.claim_name)),
                }
            }
            Demand::Other { .. } => true,
            _ => false,
        }
    }

    /// Returns whether any term matches a pod. Terms of pods to schedule are matched without the labels of namespaces in some
    /// places.
    fn is_matched(&self, other: &PodInfo, terms: &[AffinityTerm]) -> bool {
        let namespace = self.cluster.namespaces.named(other.namespace());
        let (unknown, known) = (Labels::default(), namespace.map(|n| &n.metadata.labels));
        terms.iter().any(|term| term.matches(&other.pod, &unknown) || known.is_some_and(|labels| term.matches(&other.pod, labels)))
    }
}
