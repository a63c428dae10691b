//! The pods on the nodes, grouped by everything that selectors can distinguish. Replaces upstream's list of nodes that
//! have pods with affinity (`HavePodsWithAffinityList` in `pkg/scheduler/backend/cache/snapshot.go`).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use imbl::{OrdSet, Vector};

use super::pod_info::PodClass;
use super::{LabelBloom, NodeList, PodInfo, SnapshotIndexes};

/// The number of pods of each class on each node; nodes are given by slot ([`NodeList`]).
///
/// The pods of a workload mostly share one class, so a question about all pods of a cluster is answered once for each
/// class. Cloning is free. A change copies little more than the counts of one class.
#[derive(Clone, Debug, Default)]
pub struct EquivalenceClasses {
    /// Classes by index. A class keeps its index when its last pod is removed, because most come back;
    /// [`Self::drop_vacant`] compacts.
    classes: Vector<Class>,
    /// The number of classes without pods.
    vacant: usize,
    /// The classes that have affinity terms, in ascending order of index. Most classes have none.
    with_terms: Vector<Terms>,
    /// Hash and index of each class.
    places: OrdSet<(u64, usize)>,
}

/// Vacant classes up to this number are kept.
const VACANT_AT_LEAST: usize = 64;

/// Label bits that the terms of a class ask for, stored contiguously for all classes.
#[derive(Clone, Copy, Debug)]
struct Terms {
    place: usize,
    /// Bits common to all pods that any affinity term of the class can match.
    wanted: LabelBloom,
    /// The same for required anti-affinity terms.
    wanted_by_required_anti_affinity: LabelBloom,
}

#[derive(Clone, Debug)]
struct Class {
    bits: LabelBloom,
    /// Any pod of the class; it represents all of them.
    sample: Arc<PodInfo>,
    /// Slots in ascending order, each with its number of pods, which is at least 1.
    nodes: Arc<Vec<(u32, u32)>>,
}

impl EquivalenceClasses {
    /// Counts a pod on the node at a slot.
    pub fn add(&mut self, pod: &Arc<PodInfo>, slot: usize) {
        let place = self.place_or_new(pod);
        self.count_on(place, &[slot as u32]);
    }

    /// Counts many pods, each on the node at its slot. The caller keeps them alive until all are counted.
    pub fn add_all(&mut self, pods: impl IntoIterator<Item = (Arc<PodInfo>, usize)>) {
        let mut known = HashMap::new();
        // Pods that follow each other are often of one class.
        let mut last = None;
        let mut slots: Vec<Vec<u32>> = Vec::new();
        for (pod, slot) in pods {
            let addresses = pod.class_addresses();
            let place = match (addresses, last) {
                (Some(addresses), Some((known, place))) if addresses == known => place,
                (Some(addresses), _) => *known.entry(addresses).or_insert_with(|| self.place_or_new(&pod)),
                (None, _) => self.place_or_new(&pod),
            };
            last = addresses.map(|addresses| (addresses, place));
            if slots.len() <= place {
                slots.resize_with(place + 1, Vec::new);
            }
            slots[place].push(slot as u32);
        }
        for (place, mut slots) in slots.into_iter().enumerate().filter(|(_, slots)| !slots.is_empty()) {
            slots.sort_unstable();
            self.count_on(place, &slots);
            if let Some(nodes) = self.classes.get_mut(place).and_then(|class| Arc::get_mut(&mut class.nodes)) {
                nodes.shrink_to_fit();
            }
        }
    }

    fn place_or_new(&mut self, pod: &Arc<PodInfo>) -> usize {
        let hash = hash(pod.class());
        self.place(hash, pod).unwrap_or_else(|| self.push(hash, Class::of(pod.clone())))
    }

    /// Counts pods of a class on the nodes at these slots, of which there is one at least.
    fn count_on(&mut self, place: usize, slots: &[u32]) {
        let Some(class) = self.classes.get_mut(place) else { return };
        let nodes = Arc::make_mut(&mut class.nodes);
        self.vacant -= usize::from(nodes.is_empty());
        for node in slots {
            match nodes.binary_search_by_key(node, |(n, _)| *n) {
                Ok(at) => nodes[at].1 += 1,
                Err(at) => nodes.insert(at, (*node, 1)),
            }
        }
    }

    /// Adds a class, counted as vacant, and returns its index.
    fn push(&mut self, hash: u64, class: Class) -> usize {
        let (place, pod) = (self.classes.len(), &class.sample);
        if pod.has_affinity() {
            let (wanted, wanted_by_required_anti_affinity) = (pod.wanted_bits(), pod.wanted_by_required_anti_affinity());
            self.with_terms.push_back(Terms { place, wanted, wanted_by_required_anti_affinity });
        }
        self.classes.push_back(class);
        self.places.insert((hash, place));
        self.vacant += 1;
        place
    }

    /// Uncounts a pod on the node at a slot.
    pub fn remove(&mut self, pod: &PodInfo, slot: usize) {
        let place = self.place(hash(pod.class()), pod);
        let Some(class) = place.and_then(|place| self.classes.get_mut(place)) else { return };
        let nodes = Arc::make_mut(&mut class.nodes);
        if let Ok(at) = nodes.binary_search_by_key(&(slot as u32), |(n, _)| *n) {
            nodes[at].1 -= 1;
            if nodes[at].1 == 0 {
                nodes.remove(at);
                self.vacant += usize::from(nodes.is_empty());
            }
        }
        if self.vacant > VACANT_AT_LEAST.max(self.classes.len() / 2) {
            self.drop_vacant();
        }
    }

    /// Drops the classes without pods; the others keep their order.
    fn drop_vacant(&mut self) {
        let mut kept = Self::default();
        for class in self.living() {
            kept.push(hash(class.sample.class()), class.clone());
        }
        kept.vacant = 0;
        *self = kept;
    }

    /// Returns the number of pods of the chosen classes on each node, indexed by slot. Slots beyond the end have none.
    /// `chosen` is called once for each class whose bits cover `wanted`, with one of its pods.
    fn count(&self, wanted: LabelBloom, chosen: impl Fn(&PodInfo) -> bool) -> Vec<i64> {
        let mut counts = Vec::new();
        for class in self.living().filter(|c| c.bits.covers(wanted) && chosen(&c.sample)) {
            let slots = class.nodes.last().map_or(0, |(slot, _)| *slot as usize + 1);
            if counts.len() < slots {
                counts.resize(slots, 0);
            }
            for (slot, count) in class.nodes.iter() {
                counts[*slot as usize] += i64::from(*count);
            }
        }
        counts
    }

    fn living(&self) -> impl Iterator<Item = &Class> {
        self.classes.leaves().flatten().filter(|c| !c.nodes.is_empty())
    }

    fn with_terms(&self, chosen: impl Fn(&Terms) -> bool) -> impl Iterator<Item = &Class> {
        let chosen = self.with_terms.leaves().flatten().filter(move |terms| chosen(terms));
        chosen.filter_map(|terms| self.classes.get(terms.place)).filter(|c| !c.nodes.is_empty())
    }

    fn place(&self, hash: u64, pod: &PodInfo) -> Option<usize> {
        let same = |place: &usize| self.classes.get(*place).is_some_and(|c| c.sample.class() == pod.class());
        self.places.range((hash, 0)..=(hash, usize::MAX)).map(|(_, place)| *place).find(same)
    }
}

impl Class {
    /// Makes the class of a pod, without nodes.
    fn of(pod: Arc<PodInfo>) -> Self {
        Self { bits: pod.bits(), sample: pod, nodes: Arc::default() }
    }
}

/// Tells whether an index lists the node at a position.
type Listed = fn(&SnapshotIndexes, usize) -> bool;

/// The classes of pods, with nodes given by their position in walking order.
#[derive(Clone, Copy, Debug)]
pub struct PodsByPosition<'a> {
    classes: &'a EquivalenceClasses,
    nodes: &'a NodeList,
    /// The nodes that are listed for their pods' terms, where these are not simply those that have such pods.
    indexes: Option<&'a SnapshotIndexes>,
}

impl<'a> PodsByPosition<'a> {
    /// Joins counts by slot with the nodes that have the slots.
    pub(super) fn new(classes: &'a EquivalenceClasses, nodes: &'a NodeList, indexes: Option<&'a SnapshotIndexes>) -> Self {
        Self { classes, nodes, indexes }
    }

    /// Returns the position of each node with pods of the chosen classes and their number, in walking order. `chosen`
    /// is called once for each class whose bits cover `wanted`, with one of its pods.
    pub fn count(self, wanted: LabelBloom, chosen: impl Fn(&PodInfo) -> bool) -> Vec<(usize, i64)> {
        let counts = self.classes.count(wanted, chosen);
        if counts.is_empty() {
            return Vec::new();
        }
        let by_position = self.nodes.slots().enumerate().map(|(position, slot)| (position, counts.get(slot).copied().unwrap_or(0)));
        by_position.filter(|(_, count)| *count != 0).collect()
    }

    /// Returns the same numbers as [`Self::count`] in parts: class by class and in no order, so that a position may come
    /// several times. Takes as long as there are nodes with such pods.
    pub fn parts(self, wanted: LabelBloom, chosen: impl Fn(&PodInfo) -> bool) -> impl Iterator<Item = (usize, i64)> {
        let nodes = self.nodes;
        let chosen = self.classes.living().filter(move |c| c.bits.covers(wanted) && chosen(&c.sample));
        chosen.flat_map(move |c| c.nodes.iter().map(move |(slot, count)| (nodes.position_of_slot(*slot as usize), i64::from(*count))))
    }

    /// Returns one pod of each class that has a term that can match a pod with these bits. Each comes with the
    /// positions of its nodes, in no order, and the number of pods of the class there; `listed` leaves out nodes that the
    /// snapshot does not list for pods with affinity.
    pub fn with_affinity_to(
        self,
        bits: LabelBloom,
        listed: bool,
    ) -> impl Iterator<Item = (&'a PodInfo, impl Iterator<Item = (usize, i64)> + Clone)> {
        let lists = self.indexes.filter(|_| listed).map(|indexes| (indexes, SnapshotIndexes::has_affinity as Listed));
        self.with_terms(move |t| bits.covers(t.wanted), lists)
    }

    /// Does the same as [`Self::with_affinity_to`] for required anti-affinity terms only, on listed nodes.
    pub fn with_required_anti_affinity_to(
        self,
        bits: LabelBloom,
    ) -> impl Iterator<Item = (&'a PodInfo, impl Iterator<Item = (usize, i64)> + Clone)> {
        let listed = self.indexes.map(|indexes| (indexes, SnapshotIndexes::has_required_anti_affinity as Listed));
        self.with_terms(move |t| bits.covers(t.wanted_by_required_anti_affinity), listed)
    }

    fn with_terms(
        self,
        chosen: impl Fn(&Terms) -> bool,
        listed: Option<(&'a SnapshotIndexes, Listed)>,
    ) -> impl Iterator<Item = (&'a PodInfo, impl Iterator<Item = (usize, i64)> + Clone)> {
        let nodes = self.nodes;
        let positions = move |(slot, count): &(u32, u32)| (nodes.position_of_slot(*slot as usize), i64::from(*count));
        let is_listed = move |(at, _): &(usize, i64)| listed.is_none_or(|(indexes, lists)| lists(indexes, *at));
        self.classes.with_terms(chosen).map(move |class| (&*class.sample, class.nodes.iter().map(positions).filter(is_listed)))
    }
}

/// Hashes a class without its affinity terms, because pods with the same labels mostly have the same terms.
fn hash(class: PodClass<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (class.namespace, class.labels, class.terminating).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
