//! Answers of plugins that depend on the pod and one node alone, for the next pods with the same requirements of a node: in quiet runs,
//! and for the members of a group.
//! After the equivalence cache that kube-scheduler had up to v1.12 (`pkg/scheduler/core/equivalence`), which this does not mirror.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Config;
use super::cycle::{are_alike, requires_by_spec_alone};
use super::runtime::{Framework, Learned};
use crate::cluster::{Container, Pod, PodSpec};
use crate::framework::{KnownDryRuns, NodeInfo, Nodes, PluginName, PluginSet, PodInfo, PodSums, SharedStatuses, Status};
use crate::limits::engine::EQUIVALENCE_CLASSES;

/// Marks a score that is not known.
const UNKNOWN: i64 = i64::MIN;

/// The answers about pods of a number of kinds, the latest last. A copy begins without any.
#[derive(Debug, Default)]
pub(super) struct EquivalenceCache {
    /// The configuration whose plugins gave the answers.
    config: Option<Arc<Config>>,
    classes: Vec<EquivalenceClass>,
}

impl Clone for EquivalenceCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl EquivalenceCache {
    /// Returns the answers about pods like this one. `None` where they depend on more than plugins say, and for a pod unlike the latest
    /// ones: often no other such pod comes soon.
    pub(super) fn of(&mut self, config: &Arc<Config>, pod: &PodInfo) -> Option<&mut EquivalenceClass> {
        let framework = config.profile(&pod.pod.spec.scheduler_name)?;
        if !pod.pod.node_name.is_empty() || !requires_by_spec_alone(&pod.pod) {
            return None;
        }
        if !self.config.as_ref().is_some_and(|known| Arc::ptr_eq(known, config)) {
            *self = Self { config: Some(config.clone()), classes: Vec::new() };
        }
        let is_alike = |class: &EquivalenceClass| are_alike_on_a_node(framework, &class.pod, &pod.pod);
        if let Some(at) = self.classes.iter().rposition(is_alike) {
            self.classes[at..].rotate_left(1);
            return self.classes.last_mut();
        }
        if self.classes.len() == EQUIVALENCE_CLASSES {
            self.classes.remove(0);
        }
        self.classes.push(EquivalenceClass::of(pod));
        None
    }
}

/// Returns whether plugins that depend on the pod and a node alone answer alike about two pods of which [`requires_by_spec_alone`] holds.
/// Those of kube-scheduler read what a pod requires of a node; those of others may read all that
/// [`crate::framework::FilterPlugin::depends_on_node_alone`] names.
fn are_alike_on_a_node(framework: &Framework, one: &Pod, other: &Pod) -> bool {
    if framework.all.iter().any(|plugin| plugin.name().is_out_of_tree()) {
        return are_alike(one, other);
    }
    Arc::ptr_eq(&one.spec, &other.spec) || require_alike(&one.spec, &other.spec)
}

/// Returns whether two specs require the same of a node: its resources, host ports, labels, taints and declared features.
fn require_alike(one: &PodSpec, other: &PodSpec) -> bool {
    fn of_container(container: &Container) -> impl PartialEq + use<'_> {
        let Container { name: _, image: _, resources, ports, restart_policy, restart_policy_rules } = container;
        (resources, ports, restart_policy, restart_policy_rules)
    }
    fn of_spec(spec: &PodSpec) -> impl PartialEq + use<'_> {
        let node_affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
        let of_nodes = (&spec.node_selector, node_affinity, &spec.tolerations, spec.host_network, spec.host_users);
        (&spec.scheduler_name, &spec.resources, &spec.overhead, of_nodes)
    }
    let containers = |spec: &PodSpec, other: &PodSpec| {
        spec.containers.iter().map(of_container).eq(other.containers.iter().map(of_container))
            && spec.init_containers.iter().map(of_container).eq(other.init_containers.iter().map(of_container))
    };
    of_spec(one) == of_spec(other) && containers(one, other)
}

/// The answers about pods that require the same of a node.
#[derive(Debug)]
pub(super) struct EquivalenceClass {
    /// One of them.
    pod: Arc<Pod>,
    /// The filters whose statuses are known: the first ones, as far as they depend on the node alone.
    filters: PluginSet,
    /// Most nodes have one of a few statuses.
    shared: SharedStatuses,
    /// By position in the snapshot.
    nodes: Vec<KnownNode>,
    /// The raw scores of each plugin, by position in the snapshot.
    scores: Vec<(PluginName, Vec<i64>)>,
    /// Those for pods of the last priority: recorded ones, and quiet ones.
    dry_runs: [Mutex<KnownDryRuns>; 2],
}

/// The answers of a node. A node that changes is another allocation, as long as this one is referred to.
#[derive(Debug, Default)]
struct KnownNode {
    node: Weak<NodeInfo>,
    /// The answer of the filters; `None` if it is not known.
    answer: Option<Answer>,
}

/// The status with which the filters answer, with the sums of the pods nominated to the node that count; `None` if there were none.
#[derive(Debug)]
struct Answer {
    status: Status,
    nominated: Option<Box<PodSums>>,
}

impl EquivalenceClass {
    fn of(pod: &PodInfo) -> Self {
        let (filters, shared) = (PluginSet::default(), SharedStatuses::default());
        Self { pod: pod.pod.clone(), filters, shared, nodes: Vec::new(), scores: Vec::new(), dry_runs: Default::default() }
    }

    /// Whether statuses are those of these filters.
    pub(super) fn is_of(&self, filters: PluginSet) -> bool {
        self.filters == filters
    }

    /// Returns the status of a node with the sums of the pods nominated to it that count; `None` if it is not known.
    #[inline]
    pub(super) fn status(&self, position: usize, node: &Arc<NodeInfo>, nominated: Option<&PodSums>) -> Option<&Status> {
        let known = self.nodes.get(position).filter(|known| is_of(known, node))?;
        known.answer.as_ref().filter(|answer| answer.nominated.as_deref() == nominated).map(|answer| &answer.status)
    }

    /// Keeps statuses of these filters, by position.
    pub(super) fn learn_statuses(&mut self, filters: PluginSet, statuses: Vec<(usize, Learned)>, nodes: &Nodes) {
        if !self.is_of(filters) {
            self.nodes.iter_mut().for_each(|known| known.answer = None);
            self.filters = filters;
        }
        for (position, Learned { status, nominated }) in statuses {
            let answer = Answer { status: self.shared.share(status), nominated: nominated.map(Box::new) };
            self.at(position, &nodes[position]).answer = Some(answer);
        }
    }

    /// Takes the dry runs of the last attempt that kept some; `None` for a pod unlike those of the class, as its newest object may be.
    pub(super) fn take_dry_runs(&self, framework: &Framework, pod: &Pod, quiet: bool) -> Option<KnownDryRuns> {
        let take = || std::mem::take(&mut *self.dry_runs[usize::from(quiet)].lock().unwrap_or_else(PoisonError::into_inner));
        are_alike_on_a_node(framework, &self.pod, pod).then(take)
    }

    pub(super) fn keep_dry_runs(&self, known: KnownDryRuns, quiet: bool) {
        *self.dry_runs[usize::from(quiet)].lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// Returns the place of a plugin in the lists of scores.
    pub(super) fn column(&mut self, plugin: PluginName) -> usize {
        let known = self.scores.iter().position(|(name, _)| *name == plugin);
        known.unwrap_or_else(|| {
            self.scores.push((plugin, vec![UNKNOWN; self.nodes.len()]));
            self.scores.len() - 1
        })
    }

    /// Returns the raw score of a node in a column; `None` if it is not known.
    #[inline]
    pub(super) fn score(&self, column: usize, position: usize, node: &Arc<NodeInfo>) -> Option<i64> {
        self.nodes.get(position).filter(|known| is_of(known, node))?;
        Some(self.scores[column].1[position]).filter(|score| *score != UNKNOWN)
    }

    /// Keeps the raw score of a node in a column.
    pub(super) fn learn_score(&mut self, column: usize, position: usize, node: &Arc<NodeInfo>, score: i64) {
        self.at(position, node);
        self.scores[column].1[position] = score;
    }

    /// Returns what is known of a node, which is nothing if it has changed.
    fn at(&mut self, position: usize, node: &Arc<NodeInfo>) -> &mut KnownNode {
        if position >= self.nodes.len() {
            self.nodes.resize_with(position + 1, KnownNode::default);
            for (_, scores) in &mut self.scores {
                scores.resize(position + 1, UNKNOWN);
            }
        }
        let known = &mut self.nodes[position];
        if !is_of(known, node) {
            *known = KnownNode { node: Arc::downgrade(node), answer: None };
            for (_, scores) in &mut self.scores {
                scores[position] = UNKNOWN;
            }
        }
        known
    }
}

/// Whether this is known of the node as it is now.
#[inline]
fn is_of(known: &KnownNode, node: &Arc<NodeInfo>) -> bool {
    std::ptr::eq(known.node.as_ptr(), Arc::as_ptr(node))
}

#[cfg(test)]
mod tests;
