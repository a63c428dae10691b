//! Nominated pods by node; mirrors `pkg/scheduler/backend/queue/nominator.go`.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError, RwLock};

use imbl::{HashMap, OrdMap};

use super::in_flight::pod_id;
use crate::cluster::{Key, Pod, Str};
use crate::framework::{NominatingInfo, PodInfo, hash_of};

/// A nominated pod, and its key for lookups.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PodRef {
    pub(super) uid: Str,
    pub(super) key: Key,
    pub(super) pod: Arc<Pod>,
}

/// At most one nomination per pod, in the order of nomination on each node.
#[derive(Clone, Debug, Default)]
pub(super) struct Nominator {
    /// By node, by number.
    pods: HashMap<Str, OrdMap<u64, PodRef>>,
    /// The node and the number of each nomination, by the id of the pod.
    node: OrdMap<Str, (Str, u64)>,
    /// The number of the next nomination.
    next: u64,
    marks: Marks,
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
        let id = pod_id(pod);
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
        let kept = match self.node.get(&pod_id(old)) {
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
        let id = pod_id(pod);
        let Some((node, number)) = self.node.remove(&id) else { return };
        if let Some(list) = self.pods.get_mut(&node) {
            list.remove(&number);
            if list.is_empty() {
                self.pods.remove(&node);
                self.marks.remove(&node);
            }
        }
    }

    /// Returns the node that a pod is nominated to; `None` also if the nomination is an empty name.
    pub(super) fn node_of(&self, pod: &Pod) -> Option<&Str> {
        self.node.get(&pod_id(pod)).map(|(node, _)| node).filter(|node| !node.is_empty())
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

/// A part of the queue, with the number of times that it may have changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted<T> {
    part: T,
    changes: u64,
}

impl<T> From<T> for Counted<T> {
    fn from(part: T) -> Self {
        Self { part, changes: 0 }
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.part
    }
}

impl<T> DerefMut for Counted<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changes += 1;
        &mut self.part
    }
}

impl<T> Counted<T> {
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }
}

/// The pods nominated to each node that was asked for, for as long as the parts of the queue that they are looked up in do not change: a
/// cycle asks about a node for its filters and for each step of a dry run.
#[derive(Debug, Default)]
pub(super) struct NominatedPods(RwLock<Known>);

/// The pods by node, and the changes of the queue's parts until they were looked up.
#[derive(Clone, Debug, Default)]
struct Known {
    changes: [u64; 4],
    nodes: HashMap<Str, Arc<[Arc<PodInfo>]>>,
}

impl Clone for NominatedPods {
    fn clone(&self) -> Self {
        Self(RwLock::new(self.0.read().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

impl NominatedPods {
    /// Returns the pods of a node, which `look_up` finds if they are not known for these changes.
    pub(super) fn on_node(&self, node: &str, changes: [u64; 4], look_up: impl FnOnce() -> Arc<[Arc<PodInfo>]>) -> Arc<[Arc<PodInfo>]> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(pods) = known.nodes.get(node).filter(|_| known.changes == changes) {
            return Arc::clone(pods);
        }
        drop(known);
        let pods = look_up();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.changes != changes {
            *known = Known { changes, ..Known::default() };
        }
        known.nodes.insert(node.into(), Arc::clone(&pods));
        pods
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, nominated: &str, node: &str) -> Pod {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","uid":"u-{name}"}},"spec":{{"nodeName":"{node}"}},"status":{{"nominatedNodeName":"{nominated}"}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn on(node: &str) -> NominatingInfo {
        NominatingInfo::Override(node.into())
    }

    #[track_caller]
    fn check(nominator: &Nominator, expected: &[(&str, &str)]) {
        let all: Vec<(String, &str)> = nominator.iter().map(|(k, n)| (k.to_string(), n.as_str())).collect();
        assert_eq!(all.iter().map(|(k, n)| (k.as_str(), *n)).collect::<Vec<_>>(), expected);
        for (id, (node, number)) in &nominator.node {
            assert_eq!(pod_id(&nominator.pods[node][number].pod), *id);
        }
        assert_eq!(nominator.pods.values().map(OrdMap::len).sum::<usize>(), nominator.node.len());
        assert!(nominator.pods.values().all(|list| !list.is_empty()));
        let marked: u64 = nominator.marks.0.iter().flat_map(|counts| counts.iter()).map(|count| u64::from(*count)).sum();
        assert_eq!(marked, nominator.pods.len() as u64);
        assert!(nominator.pods.keys().all(|node| nominator.may_be_on(hash_of(node))));
    }

    #[test]
    fn the_given_node_goes_before_the_field_and_replaces_what_was() {
        let (a, mut n) = (pod("a", "n1", ""), Nominator::default());
        n.add(&a, &NominatingInfo::Noop, Some(&a));
        check(&n, &[("a", "n1")]);
        n.add(&a, &on("n2"), Some(&a));
        check(&n, &[("a", "n2")]);
        n.add(&a, &on(""), Some(&a));
        check(&n, &[]);
        assert_eq!(n.node_of(&a), None);
        n.add(&pod("a", "", ""), &NominatingInfo::Noop, Some(&a));
        check(&n, &[]);
    }

    #[test]
    fn pods_that_are_gone_or_bound_are_refused_but_lose_what_they_had() {
        for informer in [None, Some(pod("a", "", "n3"))] {
            let (a, mut n) = (pod("a", "n1", ""), Nominator::default());
            n.add(&a, &NominatingInfo::Noop, Some(&a));
            n.add(&a, &on("n2"), informer.as_ref());
            check(&n, &[]);
        }
    }

    #[test]
    fn updates_follow_the_field_unless_it_never_was_set() {
        // (field before, field after, in memory) and what is left.
        for (old, new, memory, expected) in [
            ("", "", "n1", "n1"),
            ("n1", "", "n1", ""),
            ("", "n2", "n1", "n2"),
            ("n1", "n2", "n3", "n2"),
            ("n1", "n1", "n3", "n1"),
            ("", "", "", ""),
        ] {
            let (before, after, mut n) = (pod("a", old, ""), pod("a", new, ""), Nominator::default());
            n.add(&before, &on(memory), Some(&before));
            n.update(&before, &after, Some(&after));
            assert_eq!(n.node_of(&after).map_or("", Str::as_str), expected, "{old:?} {new:?} {memory:?}");
        }
    }

    #[test]
    fn a_full_count_of_marks_stays() {
        let mut marks = Marks::default();
        assert!(!marks.may_have(hash_of("n")));
        for _ in 0..300 {
            marks.add("n");
        }
        for _ in 0..300 {
            marks.remove("n");
        }
        assert!(marks.may_have(hash_of("n")));
        let mut few = Marks::default();
        few.add("n");
        assert!(few.may_have(hash_of("n")));
        few.remove("n");
        assert!(!few.may_have(hash_of("n")));
    }

    #[test]
    fn nominations_keep_their_order_per_node() {
        let mut n = Nominator::default();
        for name in ["b", "a", "c"] {
            n.add(&pod(name, "n1", ""), &NominatingInfo::Noop, Some(&pod(name, "", "")));
        }
        n.delete(&pod("a", "", ""));
        n.delete(&pod("x", "", ""));
        check(&n, &[("b", "n1"), ("c", "n1")]);
    }

    #[test]
    fn nominated_pods_are_looked_up_again_once_the_queue_has_changed() {
        let known = NominatedPods::default();
        let mut part = Counted::from(vec![1]);
        let looked_up = std::cell::Cell::new(0);
        let ask = |known: &NominatedPods, changes: u64| {
            let look_up = || {
                looked_up.set(looked_up.get() + 1);
                Arc::from([])
            };
            known.on_node("n", [changes, 0, 0, 0], look_up);
            looked_up.get()
        };
        assert_eq!((ask(&known, part.changes()), ask(&known, part.changes())), (1, 1));
        assert_eq!((part.len(), ask(&known, part.changes())), (1, 1), "reading changes nothing");
        let copy = known.clone();
        part.push(2);
        assert_eq!((ask(&known, part.changes()), ask(&known, part.changes())), (2, 2));
        assert_eq!(ask(&copy, 0), 2, "a copy keeps what it knows");
    }
}
