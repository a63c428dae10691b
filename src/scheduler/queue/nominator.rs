//! Nominated pods by node; mirrors `pkg/scheduler/backend/queue/nominator.go`.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use imbl::{HashMap, OrdMap, OrdSet};

use crate::cluster::{Key, Pod, Str, Uid};
use crate::framework::{NominatingInfo, PodInfo, PodSums, SharedList, hash_of};
use crate::scheduler::object_id::ObjectId;

/// A nominated pod, and its key for lookups.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PodRef {
    pub(super) uid: Uid,
    pub(super) key: Key,
    pub(super) pod: Arc<Pod>,
}

/// At most one nomination per pod, in the order of nomination on each node.
#[derive(Clone, Debug, Default)]
pub(super) struct Nominator {
    /// By node, by number.
    pods: HashMap<Str, OrdMap<u64, PodRef>>,
    /// The node and the number of each nomination, by the id of the pod.
    node: OrdMap<ObjectId, (Str, u64)>,
    /// The number of the next nomination.
    next: u64,
    marks: Marks,
    /// The nodes whose nominations changed.
    journal: Journal<Str>,
}

/// Rules out that a pod is nominated to a node by the hash of the node's name, because a cycle asks for every node.
#[derive(Clone, Debug, Default)]
struct Marks(Option<Arc<[u8; Self::LEN]>>);

impl Marks {
    const LEN: usize = 4096;

    fn at(hash: u64) -> usize {
        hash as usize % Self::LEN
    }

    /// Counts a node to which a pod is nominated. A count that is full stays so.
    fn add(&mut self, node: &str) {
        let counts = Arc::make_mut(self.0.get_or_insert_with(|| Arc::new([0; Self::LEN])));
        let count = &mut counts[Self::at(hash_of(node))];
        *count = count.saturating_add(1);
    }

    /// Uncounts a node to which no pod is nominated any more.
    fn remove(&mut self, node: &str) {
        if let Some(counts) = &mut self.0 {
            let count = &mut Arc::make_mut(counts)[Self::at(hash_of(node))];
            *count -= u8::from((1..u8::MAX).contains(count));
        }
    }

    fn may_have(&self, hash: u64) -> bool {
        self.0.as_ref().is_some_and(|counts| counts[Self::at(hash)] > 0)
    }
}

impl Nominator {
    /// Replaces the pod's nomination by the given node, which may be empty, or else by the one in the object's status.
    /// A pod that is gone or has a node is not nominated; `informer` is its newest object.
    pub(super) fn add(&mut self, pod: &Pod, info: &NominatingInfo, informer: Option<&Pod>) {
        self.delete(pod);
        let node = match info {
            NominatingInfo::Override(node) => node,
            NominatingInfo::Noop if pod.status.nominated_node_name.is_empty() => return,
            NominatingInfo::Noop => &pod.status.nominated_node_name,
        };
        if informer.is_none_or(|p| !p.node_name.is_empty()) {
            return;
        }
        let id = ObjectId::of_pod(pod);
        self.journal.note(node.clone());
        self.node.insert(id.clone(), (node.clone(), self.next));
        let list = self.pods.entry(node.clone()).or_default();
        if list.is_empty() {
            self.marks.add(node);
        }
        list.insert(self.next, PodRef { uid: pod.metadata.uid.clone(), key: pod.key(), pod: Arc::new(pod.clone()) });
        self.next += 1;
    }

    /// Follows an update of the object. If neither the old nor the new status names a node, a nomination that exists
    /// only in memory is kept: the update may be older than the nomination.
    pub(super) fn update(&mut self, old: &Pod, new: &Pod, informer: Option<&Pod>) {
        let kept = match self.node.get(&ObjectId::of_pod(old)) {
            Some((node, _)) if old.status.nominated_node_name.is_empty() && new.status.nominated_node_name.is_empty() => {
                NominatingInfo::Override(node.clone())
            }
            _ => NominatingInfo::Noop,
        };
        self.delete(old);
        self.add(new, &kept, informer);
    }

    /// Removes the pod's nomination, if there is one.
    pub(super) fn delete(&mut self, pod: &Pod) {
        let id = ObjectId::of_pod(pod);
        let Some((node, number)) = self.node.remove(&id) else { return };
        self.journal.note(node.clone());
        if let Some(list) = self.pods.get_mut(&node) {
            list.remove(&number);
            if list.is_empty() {
                self.pods.remove(&node);
                self.marks.remove(&node);
            }
        }
    }

    pub(super) fn journal(&self) -> &Journal<Str> {
        &self.journal
    }

    /// Returns the node that a pod is nominated to; `None` also if the nomination is an empty name.
    pub(super) fn node_of(&self, pod: &Pod) -> Option<&Str> {
        self.node.get(&ObjectId::of_pod(pod)).map(|(node, _)| node).filter(|node| !node.is_empty())
    }

    /// Returns the pods nominated to a node, in order of nomination.
    pub(super) fn on_node(&self, node: &str) -> impl Iterator<Item = &PodRef> {
        self.pods.get(node).into_iter().flat_map(OrdMap::values)
    }

    /// Returns whether a pod may be nominated to a node whose name has this hash; `false` is certain, `true` is not.
    pub(super) fn may_be_on(&self, name_hash: u64) -> bool {
        self.marks.may_have(name_hash)
    }

    /// Returns whether no pod is nominated to a node.
    pub(super) fn is_empty(&self) -> bool {
        self.pods.len() == usize::from(self.pods.contains_key(""))
    }

    /// Returns all nominations with a non-empty node name, by node.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &Str)> {
        let mut nodes: Vec<_> = self.pods.iter().filter(|(node, _)| !node.is_empty()).collect();
        nodes.sort_unstable_by_key(|(node, _)| *node);
        nodes.into_iter().flat_map(|(node, pods)| pods.values().map(move |p| (&p.key, node)))
    }
}

/// Notes what changes touch, the latest of them by name.
#[derive(Clone, Debug)]
pub(super) struct Journal<K> {
    changes: u64,
    last: VecDeque<K>,
}

impl<K> Default for Journal<K> {
    fn default() -> Self {
        Self { changes: 0, last: VecDeque::new() }
    }
}

impl<K> Journal<K> {
    /// The number of changes that are kept by name.
    const KEPT: usize = 64;

    /// Notes a change of one thing.
    fn note(&mut self, of: K) {
        self.changes += 1;
        if self.last.len() == Self::KEPT {
            self.last.pop_front();
        }
        self.last.push_back(of);
    }

    /// Notes a change of anything.
    fn note_any(&mut self) {
        self.changes += 1;
        self.last.clear();
    }

    /// Returns what was touched since there were this many changes; `None` where that may be anything.
    fn since(&self, changes: u64) -> Option<impl Iterator<Item = &K>> {
        let new = usize::try_from(self.changes.checked_sub(changes)?).ok()?;
        Some(self.last.range(self.last.len().checked_sub(new)?..))
    }
}

/// A part of the queue that holds pods, with the pods that were touched.
#[derive(Clone, Debug, Default)]
pub(super) struct Journaled<T> {
    part: T,
    journal: Journal<Key>,
}

impl<T> From<T> for Journaled<T> {
    fn from(part: T) -> Self {
        Self { part, journal: Journal::default() }
    }
}

impl<T> Deref for Journaled<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.part
    }
}

impl<T> Journaled<T> {
    /// Returns the part, to change the entry of a pod.
    pub(super) fn of(&mut self, pod: &Key) -> &mut T {
        self.journal.note(pod.clone());
        &mut self.part
    }

    /// Returns the part, to change the entries of any pods.
    pub(super) fn of_any(&mut self) -> &mut T {
        self.journal.note_any();
        &mut self.part
    }

    pub(super) fn journal(&self) -> &Journal<Key> {
        &self.journal
    }
}

/// The pods nominated to a node, in order of nomination; at least one.
#[derive(Debug)]
pub struct Nominated {
    pods: Vec<Arc<PodInfo>>,
    keys: SharedList<Key>,
    sums: PodSums,
    /// The lowest priority.
    lowest: i32,
    /// Hashes that are equal for one pod.
    ids: Vec<u64>,
}

impl From<Vec<Arc<PodInfo>>> for Nominated {
    fn from(pods: Vec<Arc<PodInfo>>) -> Self {
        let keys = pods.iter().map(|pod| pod.key()).collect();
        let sums = PodSums::of(&pods);
        let lowest = pods.iter().map(|pod| pod.priority()).min().unwrap_or(i32::MAX);
        let ids = pods.iter().map(|pod| pod.id_hash()).collect();
        Self { pods, keys, sums, lowest, ids }
    }
}

impl Nominated {
    pub fn pods(&self) -> &[Arc<PodInfo>] {
        &self.pods
    }

    /// Returns the namespaces and names of the pods.
    pub fn keys(&self) -> &SharedList<Key> {
        &self.keys
    }

    /// Returns whether surely all have at least the priority of a pod that is none of them.
    pub fn all_count_for(&self, pod: &PodInfo) -> bool {
        self.lowest >= pod.priority() && !self.ids.contains(&pod.id_hash())
    }

    pub fn sums(&self) -> &PodSums {
        &self.sums
    }
}

/// The journals of the parts in which nominated pods are looked up: pods of the queue, and nodes of the nominator.
#[derive(Clone, Copy)]
pub(super) struct Touched<'a> {
    pub(super) pods: [&'a Journal<Key>; 4],
    pub(super) nodes: &'a Journal<Str>,
}

impl Touched<'_> {
    fn changes(&self) -> [u64; 5] {
        let [a, b, c, d] = self.pods.map(|journal| journal.changes);
        [a, b, c, d, self.nodes.changes]
    }
}

/// The pods nominated to each node that was asked for, for as long as neither they nor the node are touched: a cycle asks about a node
/// for its filters and for its dry run, and most nodes are the same in the next cycle.
#[derive(Debug, Default)]
pub(super) struct NominatedPods(RwLock<Known>);

/// Nominated pods by node, as they were after some changes.
#[derive(Clone, Debug, Default)]
struct Known {
    changes: [u64; 5],
    /// By the hash of the node's name.
    nodes: OrdMap<u64, (Str, Option<Arc<Nominated>>)>,
    /// The pods on these nodes, each with the hash of the node's name.
    pods: OrdSet<(Key, u64)>,
}

impl Known {
    /// Forgets what was touched since the last time.
    fn follow(&mut self, touched: &Touched<'_>) {
        let since = self.changes;
        let pods = touched.pods.iter().zip(since).map(|(journal, changes)| journal.since(changes));
        let (Some(pods), Some(nodes)) = (pods.collect::<Option<Vec<_>>>(), touched.nodes.since(since[4])) else {
            *self = Self { changes: touched.changes(), ..Self::default() };
            return;
        };
        let of_pod = |known: &Self, pod: &Key| -> Vec<u64> {
            known.pods.range((pod.clone(), 0)..=(pod.clone(), u64::MAX)).map(|(_, node)| *node).collect()
        };
        for pod in pods.into_iter().flatten() {
            for node in of_pod(self, pod) {
                self.forget(node);
            }
        }
        nodes.for_each(|node| self.forget(hash_of(node)));
        self.changes = touched.changes();
    }

    fn forget(&mut self, node: u64) {
        if let Some((_, Some(nominated))) = self.nodes.remove(&node) {
            for pod in nominated.keys() {
                self.pods.remove(&(pod.clone(), node));
            }
        }
    }
}

impl Clone for NominatedPods {
    fn clone(&self) -> Self {
        Self(RwLock::new(self.0.read().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

impl NominatedPods {
    /// Returns the pods of a node, given its name and the hash of that; `look_up` finds them if they are not known. `None` if there are
    /// none.
    pub(super) fn on_node(
        &self,
        node: &str,
        hash: u64,
        touched: Touched<'_>,
        look_up: impl FnOnce() -> Vec<Arc<PodInfo>>,
    ) -> Option<Arc<Nominated>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if known.changes == touched.changes()
            && let Some((_, nominated)) = known.nodes.get(&hash).filter(|(name, _)| name == node)
        {
            return nominated.clone();
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.changes != touched.changes() {
            known.follow(&touched);
        }
        if let Some((name, nominated)) = known.nodes.get(&hash) {
            if name == node {
                return nominated.clone();
            }
            // Another node whose name has the same hash.
            known.forget(hash);
        }
        let pods = look_up();
        let nominated: Option<Arc<Nominated>> = (!pods.is_empty()).then(|| Arc::new(pods.into()));
        for pod in nominated.iter().flat_map(|nominated| nominated.keys()) {
            known.pods.insert((pod.clone(), hash));
        }
        known.nodes.insert(hash, (node.into(), nominated.clone()));
        nominated
    }
}

#[cfg(test)]
mod tests;
