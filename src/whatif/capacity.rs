//! How many more of a pod fit, and what stops the next.
//!
//! Copies are placed until the scheduler finds no node for the next one. Where a copy changes nothing but its own node,
//! the number is found node by node: Filter accepts a copy beside all but the last of those counted, and rejects one
//! more. Everything else is placed one by one, each by a decision of its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::WhatIfError;
use crate::cluster::{Cluster, Container, Key, Kind, Object, Pod, Str, Volume};
use crate::controllers::pods as owners;
use crate::framework::{NodeInfo, PodResourcesOptions, Resource, decision_steps, pod_requests};
use crate::limits::engine::{CAPACITY_COPIES, CAPACITY_DECISION_STEPS, CAPACITY_STEPS};
use crate::plugins::volume_restrictions::needs_restrictions_check;
use crate::scheduler::{DryDecision, DryOptions, ObjectEdit, Operation, PostFilter, ScheduleResult, Scheduler};
use crate::trace::CycleView;

/// Maximum number of copies on one node.
const ON_A_NODE: usize = 10_000;
/// Maximum number of copies on all nodes together, as long as a node takes as many as [`KUBELET_PODS`].
const IN_ALL: usize = 200_000;
/// Volumes, containers, requests, ports and labels that an ordinary pod has at most.
const ORDINARY_ENTRIES: usize = 40;
/// Pods that a kubelet takes by default.
const KUBELET_PODS: usize = 110;

/// How many more of a pod fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    pub pod: Key,
    /// Whether the pod waits for a node; it is then the first of those counted.
    pub is_pending: bool,
    /// Number of other pending pods, which are not placed.
    pub others: usize,
    /// The number that fits.
    pub fits: usize,
    /// The number on each node that takes any, by name.
    pub nodes: BTreeMap<Str, usize>,
    /// Why no more were counted.
    pub end: CapacityEnd,
    /// The decision about the one that fits nowhere; `None` if counting ended before.
    pub next: Option<Arc<CycleView>>,
}

/// Why counting ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapacityEnd {
    /// The next one fits nowhere; holds the scheduler's message.
    Full(String),
    /// The limit was reached; more may fit.
    Limit,
    /// The count was cancelled; more may fit.
    Cancelled,
}

/// Callback while counting, with the number of copies so far; returns false to cancel.
pub type Watch<'a> = &'a dyn Fn(usize) -> bool;

/// Counts how many more of a pod fit. Other pending pods wait meanwhile, and nothing is evicted.
///
/// # Errors
/// When the pod has ended, or no profile schedules it.
pub fn capacity(scheduler: &Scheduler, pod: &Arc<Pod>, watch: Watch<'_>) -> Result<Capacity, WhatIfError> {
    capacity_within(scheduler, pod, watch, CAPACITY_DECISION_STEPS)
}

/// Returns the same with another limit on the steps of decisions.
pub(super) fn capacity_within(scheduler: &Scheduler, pod: &Arc<Pod>, watch: Watch<'_>, steps: u64) -> Result<Capacity, WhatIfError> {
    if pod.is_terminal() {
        return Err(WhatIfError::Ended(pod.key()));
    }
    if scheduler.state().config().profile(&pod.spec.scheduler_name).is_none() {
        return Err(WhatIfError::NoProfile { pod: pod.key(), scheduler: pod.spec.scheduler_name.clone() });
    }
    let base = if pod.node_name.is_empty() { scheduler.with_edits([ObjectEdit::Remove(Kind::Pod, pod.key())]) } else { scheduler.clone() };
    let mut count = Count { base, copies: 0, nodes: BTreeMap::new(), like: template(pod), watch, steps, next: None };
    let cluster = count.base.state().cluster().clone();
    let end = if needs_claims(&count.like, &cluster) {
        count.by_scheduling()
    } else {
        let filled = if is_independent(&count.like, &count.base) { count.node_by_node() } else { Ok(()) };
        filled.map_or_else(|end| end, |()| count.one_by_one())
    };
    let fits = count.nodes.values().sum();
    let is_pending = pod.node_name.is_empty();
    let others = cluster.pods.iter().filter(|other| other.is_pending() && other.key() != pod.key()).count();
    Ok(Capacity { pod: pod.key(), is_pending, others, fits, nodes: count.nodes, end, next: count.next })
}

/// Returns a pod without gates and without its group: copies are placed on their own.
pub(super) fn template(pod: &Pod) -> Pod {
    let mut like = pod.clone();
    like.spec_mut().scheduling_gates = Vec::new().into();
    like.spec_mut().scheduling_group = None;
    like
}

/// Returns whether a pod uses claims, which scheduling one copy may use up.
pub(super) fn needs_claims(pod: &Pod, cluster: &Cluster) -> bool {
    let claims = pod.spec.volumes.iter().any(|volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some());
    claims || !pod.spec.resource_claims.is_empty() || is_served_by_devices(pod, cluster)
}

/// Returns whether the pod requests an extended resource that a DeviceClass may serve.
fn is_served_by_devices(pod: &Pod, cluster: &Cluster) -> bool {
    let requests = pod_requests(pod, PodResourcesOptions::default());
    cluster.device_classes.iter().any(|class| {
        let implicit = format!("deviceclass.resource.kubernetes.io/{}", class.metadata.name);
        requests.contains_key(&implicit) || class.spec.extended_resource_name.as_ref().is_some_and(|name| requests.contains_key(name))
    })
}

/// Returns whether a copy of the pod on a node changes nothing for copies on other nodes.
fn is_independent(pod: &Pod, scheduler: &Scheduler) -> bool {
    let affinity = pod.spec.affinity.as_ref();
    let of_pods = |terms: Option<&crate::cluster::PodAffinity>| terms.is_some_and(|terms| !terms.required.is_empty());
    let spreads = pod.spec.topology_spread_constraints.iter().any(|constraint| constraint.when_unsatisfiable != "ScheduleAnyway");
    !of_pods(affinity.and_then(|a| a.pod_affinity.as_ref()))
        && !of_pods(affinity.and_then(|a| a.pod_anti_affinity.as_ref()))
        && !spreads
        && !scheduler.state().config().has_extenders()
}

/// A count in progress.
struct Count<'a> {
    /// The scheduler with the copies so far.
    base: Scheduler,
    /// Number of copies that were named.
    copies: usize,
    nodes: BTreeMap<Str, usize>,
    like: Pod,
    watch: Watch<'a>,
    /// Steps of decisions about copies after which no further one is placed.
    steps: u64,
    /// The decision about the one that fits nowhere.
    next: Option<Arc<CycleView>>,
}

impl Count<'_> {
    /// Returns another copy, on a node if one is given.
    fn copy(&mut self, node: Option<&Str>) -> Pod {
        self.copies += 1;
        let name = Str::from(format!("{}-more-{}", self.like.metadata.name, self.copies));
        let mut pod = owners::copy(&self.like, name, self.base.state().clock());
        pod.node_name = node.cloned().unwrap_or_default();
        pod
    }

    /// Returns the scheduler with more copies on nodes.
    fn with(&mut self, counts: &[(Str, usize)]) -> Scheduler {
        let mut edits = Vec::new();
        for (node, count) in counts {
            for _ in 0..*count {
                edits.push(ObjectEdit::Put(Object::Pod(Arc::new(self.copy(Some(node))))));
            }
        }
        self.base.with_edits(edits)
    }

    /// Fills every node on its own, and places the copies.
    fn node_by_node(&mut self) -> Result<(), CapacityEnd> {
        let snapshot = self.base.state().snapshot();
        let request = Resource::from_list(&pod_requests(&self.like, PodResourcesOptions::default()));
        let ports = self.like.spec.containers.iter().flat_map(|c| &c.ports).any(|port| port.host_port.is_some_and(|port| port > 0));
        // A copy may keep out another one.
        let one = ports || self.like.spec.volumes.iter().any(needs_restrictions_check);
        let guess = |node: &NodeInfo| if one { 1 } else { room(node, &request) };
        let pod = Arc::new(self.copy(None));
        let Some(table) = self.base.filter_table(&pod, None) else { return Ok(()) };
        let accepting: Vec<Str> =
            table.names.into_iter().zip(table.nodes).filter(|(_, rejections)| rejections.is_empty()).map(|(node, _)| node).collect();
        let most_each = most_on_each(accepting.len(), entries(&self.like));
        let mut open: Vec<Search> = accepting
            .into_iter()
            .map(|node| {
                let next = snapshot.get(&node).map_or(1, |node| guess(node)).clamp(1, most_each);
                Search { node, least: 1, most: None, next, limit: most_each }
            })
            .collect();
        let mut found: Vec<(Str, usize)> = Vec::new();
        let mut is_cut = false;
        while !open.is_empty() {
            let counted = found.iter().map(|(_, count)| count).sum::<usize>() + open.iter().map(|s| s.least).sum::<usize>();
            if !(self.watch)(counted) {
                return Err(CapacityEnd::Cancelled);
            }
            let counts: Vec<(Str, usize)> = open.iter().map(|search| (search.node.clone(), search.next)).collect();
            let Some(table) = self.with(&counts).filter_table(&pod, None) else { return Ok(()) };
            let accepts: BTreeMap<Str, bool> = table.names.into_iter().zip(table.nodes.iter().map(Vec::is_empty)).collect();
            let mut going = Vec::new();
            for mut search in open {
                if search.narrow(accepts.get(&search.node).copied().unwrap_or(false)) {
                    is_cut |= search.most.is_none();
                    found.push((search.node, search.least));
                } else {
                    going.push(search);
                }
            }
            open = going;
        }
        self.base = self.with(&found);
        self.nodes.extend(found);
        if is_cut { Err(CapacityEnd::Limit) } else { Ok(()) }
    }

    /// Places copies one by one, each where a dry decision puts it.
    fn one_by_one(&mut self) -> CapacityEnd {
        let steps = AtomicU64::new(0);
        let options = DryOptions { all_steps: Some(&steps), ..PostFilter::LeaveOut.into() };
        for placed in 0..most_one_by_one(self.base.state().snapshot().len(), &self.like) {
            if !(self.watch)(placed) {
                return CapacityEnd::Cancelled;
            }
            if steps.load(Ordering::Relaxed) > self.steps {
                return CapacityEnd::Limit;
            }
            let mut pod = self.copy(None);
            let decision = self.base.dry_decision(&Arc::new(pod.clone()), options);
            let DryDecision::Tried(ScheduleResult::Selected { node, .. }) = &decision else {
                self.explain_next(pod);
                return CapacityEnd::Full(decision.message());
            };
            pod.node_name = node.clone();
            self.base = self.base.with_edits([ObjectEdit::Put(Object::Pod(Arc::new(pod)))]);
            *self.nodes.entry(node.clone()).or_default() += 1;
        }
        CapacityEnd::Limit
    }

    /// Records the decision about the copy that fits nowhere, with the preemption that it would try.
    fn explain_next(&mut self, pod: Pod) {
        let pod = Arc::new(pod);
        // Preemption looks the pod up.
        let with_it = self.base.with_edits([ObjectEdit::Put(Object::Pod(Arc::clone(&pod)))]);
        self.next = Some(Arc::new(CycleView::of(&with_it.explain(&pod))));
    }

    /// Places copies one by one by scheduling cycles, which bind claims and devices. Other pending pods are left out.
    fn by_scheduling(&mut self) -> CapacityEnd {
        let pending: Vec<Key> = self.base.state().cluster().pods.iter().filter(|pod| pod.is_pending()).map(|pod| pod.key()).collect();
        for key in pending {
            if let Some(object) = self.base.state().cluster().get(Kind::Pod, &key) {
                self.base.apply(Operation::Delete { object });
            }
        }
        // The copies evict no pod.
        let policy = self.like.spec_mut().preemption_policy.replace("Never".into());
        let like = self.like.clone();
        let old = self.base.state().cluster().clone();
        let end = self.base.state().steps().saturating_add(self.steps);
        for placed in 0..most_one_by_one(self.base.state().snapshot().len(), &self.like) {
            if !(self.watch)(placed) {
                return CapacityEnd::Cancelled;
            }
            if self.base.state().steps() > end {
                return CapacityEnd::Limit;
            }
            let pod = self.copy(None);
            let key = pod.key();
            let mut draft = crate::controllers::Draft::new(self.base.state().cluster());
            owners::create(&mut draft, &old, &like, pod, &mut Vec::new());
            for operation in draft.into_operations() {
                self.base.apply(operation);
            }
            self.base.apply(Operation::Schedule);
            let Some(pod) = self.base.state().cluster().pods.get(&key) else { return CapacityEnd::Limit };
            if pod.node_name.is_empty() {
                let message = pod.condition("PodScheduled").map(|condition| condition.message.to_string());
                let mut next = Pod::clone(pod);
                next.spec_mut().preemption_policy = policy;
                self.explain_next(next);
                return CapacityEnd::Full(message.unwrap_or_default());
            }
            *self.nodes.entry(pod.node_name.clone()).or_default() += 1;
        }
        CapacityEnd::Limit
    }
}

/// The search for the number of copies that a node takes.
struct Search {
    node: Str,
    /// The number that fits for certain.
    least: usize,
    /// The number that can fit at most, if it is known.
    most: Option<usize>,
    /// The number of copies beside which the next one is tried.
    next: usize,
    /// The number from which on no more are counted.
    limit: usize,
}

impl Search {
    /// Takes the answer about one copy beside `next` others. Returns whether the number is found: `least`.
    fn narrow(&mut self, accepts: bool) -> bool {
        if accepts {
            self.least = self.next + 1;
        } else {
            self.most = Some(self.next);
        }
        match self.most {
            Some(most) if most <= self.least => return true,
            // A good guess is off by one at most; otherwise halve.
            Some(most) if most - self.least <= 2 || !accepts && self.least == 1 && most > 2 => self.next = most - 1,
            Some(most) => self.next = self.least + (most - self.least) / 2,
            None if self.least >= self.limit => return true,
            None => self.next = (self.least * 2).min(self.limit - 1).max(self.least),
        }
        false
    }
}

/// Returns the number of copies up to which each of some nodes is filled. Copies with more entries than [`ORDINARY_ENTRIES`] count as
/// several.
fn most_on_each(nodes: usize, entries: usize) -> usize {
    let as_many = entries.div_ceil(ORDINARY_ENTRIES).max(1);
    ((IN_ALL / nodes.max(1)).clamp(KUBELET_PODS, ON_A_NODE) / as_many).max(1)
}

/// Returns how many entries of a pod are compared with those of the other pods of a node, or counted for it.
fn entries(pod: &Pod) -> usize {
    let spec = &pod.spec;
    let of_volume = |volume: &Volume| 1 + volume.rbd.as_ref().map_or(0, |rbd| rbd.monitors.len());
    let of_container = |container: &Container| 1 + container.ports.len() + container.resources.requests.len();
    let containers = spec.containers.iter().chain(spec.init_containers.iter());
    pod.metadata.labels.len() + spec.volumes.iter().map(of_volume).sum::<usize>() + containers.map(of_container).sum::<usize>()
}

/// Returns how many copies of a pod are placed one by one at most on some nodes. Each of them asks every node about each of its
/// constraints.
fn most_one_by_one(nodes: usize, pod: &Pod) -> usize {
    let steps = decision_steps(nodes, pod);
    usize::try_from(CAPACITY_STEPS / steps).unwrap_or(usize::MAX).clamp(1, CAPACITY_COPIES)
}

/// Returns how many copies the free resources of a node are enough for.
fn room(node: &NodeInfo, request: &Resource) -> usize {
    let mut room = node.allocatable.allowed_pod_number - i64::try_from(node.pods.len()).unwrap_or(i64::MAX);
    let mut limit = |allocatable: i64, requested: i64, request: i64| {
        if request > 0 {
            room = room.min(allocatable.saturating_sub(requested) / request);
        }
    };
    let (all, used) = (&node.allocatable, &node.requested);
    limit(all.milli_cpu, used.milli_cpu, request.milli_cpu);
    limit(all.memory, used.memory, request.memory);
    limit(all.ephemeral_storage, used.ephemeral_storage, request.ephemeral_storage);
    for (name, amount) in request.scalar.iter() {
        limit(all.scalar(name), used.scalar(name), *amount);
    }
    usize::try_from(room).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_clusters_are_filled_up_to_what_kubelets_take() {
        assert_eq!([0, 1, 20, 100, 1000, 1818, 5000].map(|nodes| most_on_each(nodes, 40)), [10_000, 10_000, 10_000, 2000, 200, 110, 110]);
        assert_eq!([41, 400, 40_000].map(|entries| most_on_each(5000, entries)), [55, 11, 1]);
    }

    #[test]
    fn copies_of_pods_with_many_constraints_are_counted_up_to_fewer() {
        let spread = |count: usize| -> Pod {
            let one = serde_json::json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
            let pod = serde_json::json!({"metadata": {"name": "p"}, "spec": {"topologySpreadConstraints": vec![one; count]}});
            serde_json::from_value(pod).unwrap()
        };
        assert_eq!([0, 1].map(|constraints| most_one_by_one(200, &spread(constraints))), [CAPACITY_COPIES; 2]);
        assert_eq!(most_one_by_one(5000, &spread(1)) as u64, CAPACITY_STEPS / 10_000);
        assert_eq!(most_one_by_one(700, &spread(249)) as u64, CAPACITY_STEPS / 261_800);
        assert_eq!(most_one_by_one(usize::MAX, &spread(200)), 1);
    }

    #[test]
    fn a_node_that_takes_as_many_as_are_counted_is_not_cut() {
        let search = |fits: usize| {
            let mut search = Search { node: "n".into(), least: 1, most: None, next: 110, limit: 110 };
            while !search.narrow(search.next < fits) {}
            (search.least, search.most.is_none())
        };
        assert_eq!((search(109), search(110)), ((109, false), (110, false)));
        assert!(search(5000).1, "more may fit");
    }

    /// Searches for a number from a guess; returns the number that was found, and the questions it took.
    fn search(fits: usize, guess: usize) -> (usize, usize) {
        let mut search = Search { node: "n".into(), least: 1, most: None, next: guess, limit: ON_A_NODE };
        for questions in 1..100 {
            if search.narrow(search.next < fits) {
                return (search.least, questions);
            }
        }
        panic!("it goes on for ever");
    }

    #[test]
    fn the_number_is_found_from_any_guess() {
        for fits in 1..60 {
            for guess in 1..80 {
                assert_eq!(search(fits, guess).0, fits, "{fits} from {guess}");
            }
            assert!(search(fits, fits).1 <= 2, "a right guess of {fits} takes {} questions", search(fits, fits).1);
        }
        assert!(search(1000, 3).1 < 25);
        assert_eq!(search(usize::MAX, 7).0, ON_A_NODE);
    }
}
