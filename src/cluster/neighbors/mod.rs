//! Objects and events that scheduling does not read. They say why pods are missing, and what others than the scheduler report.
//!
//! | file | holds |
//! | --- | --- |
//! | `kind` | the kinds, with their API groups |
//! | `object` | one object: a workload, or another kind as JSON |
//! | `event` | an event of any component but the kubelet |

mod event;
mod kind;
mod object;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use event::{About, OtherEvent};
pub use kind::NeighborKind;
pub use object::{
    FailureCondition, FailurePolicy, FailureRule, JobTemplate, JobTemplateSpec, Neighbor, NeighborCondition, NeighborContent, NeighborMeta,
    Ordinals, OwnerFacts, OwnerSpec, OwnerStatus, RollingUpdate, Strategy, Template, TemplateContainer, TemplateSpec,
};

use super::{Key, MissingReason, Str};

/// The objects and events beside those of a [`super::Cluster`]. A kind without an object or an empty list is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbors {
    kinds: BTreeMap<NeighborKind, BTreeMap<Key, Arc<Neighbor>>>,
    listed: BTreeSet<NeighborKind>,
    withheld: BTreeMap<NeighborKind, MissingReason>,
    /// Why events about other objects than pods are not known; `None` where the source has them or does not say.
    pub events_withheld: Option<MissingReason>,
    /// The events, in the order in which they were read.
    pub events: Vec<OtherEvent>,
}

impl Neighbors {
    /// Returns an object.
    pub fn get(&self, kind: NeighborKind, key: &Key) -> Option<&Arc<Neighbor>> {
        self.kinds.get(&kind)?.get(key)
    }

    /// Returns an object by the words of an owner reference; `None` for kinds that are not read.
    pub fn owner(&self, kind: &str, key: &Key) -> Option<&Arc<Neighbor>> {
        self.get(kind.parse().ok()?, key)
    }

    /// Returns the objects of a kind, by namespace and name.
    pub fn of_kind(&self, kind: NeighborKind) -> impl Iterator<Item = &Arc<Neighbor>> {
        self.kinds.get(&kind).into_iter().flat_map(BTreeMap::values)
    }

    /// Returns all objects, by kind, namespace and name.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<Neighbor>> {
        self.kinds.values().flat_map(BTreeMap::values)
    }

    /// Returns the objects of a kind in a namespace, by name.
    pub fn in_namespace<'a>(&'a self, kind: NeighborKind, namespace: &Str) -> impl Iterator<Item = &'a Arc<Neighbor>> + use<'a> {
        let from = Key { namespace: namespace.clone(), name: Str::default() };
        let namespace = namespace.clone();
        let range = self.kinds.get(&kind).map(|objects| objects.range(from..));
        range.into_iter().flatten().take_while(move |(key, _)| key.namespace == namespace).map(|(_, object)| object)
    }

    /// Returns the namespaces of all objects, some of them more than once.
    pub fn namespaces(&self) -> impl Iterator<Item = Str> {
        self.kinds.values().flat_map(BTreeMap::keys).map(|key| key.namespace.clone()).filter(|namespace| !namespace.is_empty())
    }

    /// Returns whether the source shows which objects of a kind there are: it has some, or an empty list of them.
    pub fn knows(&self, kind: NeighborKind) -> bool {
        self.listed.contains(&kind) || self.kinds.get(&kind).is_some_and(|objects| !objects.is_empty())
    }

    /// Returns why a kind is not known, or only in part; `None` where the source has it or does not say.
    pub fn why(&self, kind: NeighborKind) -> Option<MissingReason> {
        self.withheld.get(&kind).copied()
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.listed.is_empty() && self.events.is_empty()
    }

    /// Returns the number of objects.
    pub fn count(&self) -> usize {
        self.kinds.values().map(BTreeMap::len).sum()
    }

    /// Returns the kinds that are listed, those without an object too.
    pub fn listed(&self) -> impl Iterator<Item = NeighborKind> {
        self.listed.iter().copied()
    }

    /// Returns the kinds that are not known, or only in part, and why.
    pub fn withheld(&self) -> impl Iterator<Item = (NeighborKind, MissingReason)> {
        self.withheld.iter().map(|(kind, why)| (*kind, *why))
    }

    /// Adds an object, in place of an older state of it.
    pub fn insert(&mut self, object: Neighbor) {
        let objects = self.kinds.entry(object.kind).or_default();
        let key = object.metadata.key();
        let is_newer = |known: &Arc<Neighbor>| known.metadata.version().is_none_or(|known| object.metadata.version() >= Some(known));
        if objects.get(&key).is_none_or(is_newer) {
            objects.insert(key, Arc::new(object));
        }
    }

    /// Removes an object.
    pub fn remove(&mut self, kind: NeighborKind, key: &Key) {
        if let Some(objects) = self.kinds.get_mut(&kind) {
            objects.remove(key);
        }
    }

    /// Marks a kind as listed.
    pub fn add_listed(&mut self, kind: NeighborKind) {
        self.listed.insert(kind);
        self.withheld.remove(&kind);
    }

    /// Marks a kind as not known, or only in part.
    pub fn withhold(&mut self, kind: NeighborKind, why: MissingReason) {
        self.listed.remove(&kind);
        self.withheld.insert(kind, why);
    }

    /// Adds the objects and events of others, which hold other events.
    pub fn extend(&mut self, others: Self) {
        let Self { kinds, listed, withheld, events_withheld, events } = others;
        for (kind, objects) in kinds {
            self.kinds.entry(kind).or_default().extend(objects);
        }
        for (kind, why) in withheld {
            self.withhold(kind, why);
        }
        for kind in listed {
            self.add_listed(kind);
        }
        self.events_withheld = events_withheld;
        self.events.extend(events);
    }
}

#[cfg(test)]
mod tests;
