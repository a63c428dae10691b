//! Keeps the origins of objects in little memory: a dump holds a hundred thousand objects or more.
//!
//! While files are read, [`ObjectIndex`] finds an object by its key through a table of indexes, since the objects hold
//! their keys already. Afterwards [`Origins`] keeps what is needed to find an object's text, sorted by key.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use super::report::Origin;
use crate::cluster::{Key, Kind, Object};

/// A slot of the hash table: the index of an object and a part of its key's hash, so that most other objects are not looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    hash: u32,
    place: u32,
}

impl Slot {
    /// Never used.
    const FREE: Self = Self { hash: 0, place: u32::MAX };
    /// Its object was removed.
    const GONE: Self = Self { hash: 0, place: u32::MAX - 1 };
}

/// The objects read so far by key, with their origins.
#[derive(Debug, Default)]
pub(in crate::source) struct ObjectIndex {
    /// By index of the object.
    origins: Vec<Origin>,
    /// A hash table with linear probing. Its length is a power of two.
    slots: Vec<Slot>,
    /// The number of slots ever used, removed ones included.
    used: usize,
    hasher: RandomState,
}

impl ObjectIndex {
    /// Returns the index of an object.
    pub(in crate::source) fn place(&self, objects: &[Object], kind: Kind, namespace: &str, name: &str) -> Option<usize> {
        self.slot(objects, kind, namespace, name).map(|slot| self.slots[slot].place as usize)
    }

    /// Returns the origin of an object by its index.
    pub(in crate::source) fn origin(&mut self, place: usize) -> &mut Origin {
        &mut self.origins[place]
    }

    /// Adds the last object of `objects`, whose key must be new.
    pub(in crate::source) fn add(&mut self, objects: &[Object], origin: Origin) {
        // At most seven eighths are used, so that probing ends soon.
        if (self.used + 1) * 8 > self.slots.len() * 7 {
            self.enlarge();
        }
        let place = self.origins.len();
        self.origins.push(origin);
        let meta = objects[place].meta();
        let hash = self.hash(objects[place].kind(), &meta.namespace, &meta.name);
        self.put(Slot { hash, place: place as u32 });
    }

    /// Removes an object and returns its index.
    pub(in crate::source) fn remove(&mut self, objects: &[Object], kind: Kind, key: &Key) -> Option<usize> {
        let slot = self.slot(objects, kind, &key.namespace, &key.name)?;
        Some(std::mem::replace(&mut self.slots[slot], Slot::GONE).place as usize)
    }

    fn slot(&self, objects: &[Object], kind: Kind, namespace: &str, name: &str) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let hash = self.hash(kind, namespace, name);
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                Slot::FREE => return None,
                used if used != Slot::GONE && used.hash == hash => {
                    let object = &objects[used.place as usize];
                    let meta = object.meta();
                    if object.kind() == kind && meta.name == name && meta.namespace == namespace {
                        return Some(slot);
                    }
                }
                _ => {}
            }
            slot = (slot + 1) & mask;
        }
    }

    fn hash(&self, kind: Kind, namespace: &str, name: &str) -> u32 {
        self.hasher.hash_one((kind, namespace, name)) as u32
    }

    fn put(&mut self, used: Slot) {
        let mask = self.slots.len() - 1;
        let mut slot = used.hash as usize & mask;
        while self.slots[slot] != Slot::FREE {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = used;
        self.used += 1;
    }

    fn enlarge(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        let old = std::mem::replace(&mut self.slots, vec![Slot::FREE; size]);
        self.used = 0;
        for used in old.into_iter().filter(|slot| *slot != Slot::FREE && *slot != Slot::GONE) {
            self.put(used);
        }
    }

    /// Returns the origins of the final objects; those whose index is in `deleted` are left out.
    pub(in crate::source) fn finish(self, objects: &[Object], deleted: impl Fn(usize) -> bool) -> Origins {
        let Self { origins, slots, .. } = self;
        drop(slots);
        let kept = || objects.iter().zip(&origins).enumerate().filter(|(place, _)| !deleted(*place)).map(|(_, both)| both);
        let mut counts = BTreeMap::<Kind, usize>::new();
        kept().for_each(|(object, _)| *counts.entry(object.kind()).or_default() += 1);
        let mut by_kind: BTreeMap<Kind, Vec<(Key, Origin)>> =
            counts.into_iter().map(|(kind, count)| (kind, Vec::with_capacity(count))).collect();
        for (object, origin) in kept() {
            by_kind.entry(object.kind()).or_default().push((object.key(), *origin));
        }
        Origins(by_kind.into_iter().map(|(kind, origins)| (kind, sorted(origins))).collect())
    }
}

/// Origins by key. They are sorted when one of them is asked for, since most commands ask for none.
type Sorted = Arc<LazyLock<Vec<(Key, Origin)>, Box<dyn FnOnce() -> Vec<(Key, Origin)> + Send + Sync>>>;

fn sorted(mut origins: Vec<(Key, Origin)>) -> Sorted {
    Arc::new(LazyLock::new(Box::new(move || {
        origins.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        origins
    })))
}

/// The origins of all objects by key.
#[derive(Clone, Debug, Default)]
pub(in crate::source) struct Origins(BTreeMap<Kind, Sorted>);

impl Origins {
    pub(in crate::source) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<Origin> {
        let origins = self.0.get(&kind)?;
        let order = |(key, _): &(Key, Origin)| (key.namespace.as_str(), key.name.as_str()).cmp(&(namespace, name));
        origins.binary_search_by(order).ok().map(|at| origins[at].1)
    }

    /// Returns the origins of all objects of a kind, by key.
    pub(in crate::source) fn of_kind(&self, kind: Kind) -> &[(Key, Origin)] {
        self.0.get(&kind).map_or(&[], |origins| origins.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Node, Pod};

    fn object(kind: Kind, namespace: &str, name: &str) -> Object {
        let (mut pod, mut node) = (Pod::default(), Node::default());
        (pod.metadata.namespace, pod.metadata.name) = (namespace.into(), name.into());
        (node.metadata.namespace, node.metadata.name) = (namespace.into(), name.into());
        if kind == Kind::Pod { Object::Pod(Arc::new(pod)) } else { Object::Node(Arc::new(node)) }
    }

    #[test]
    fn objects_are_found_by_kind_and_key_until_they_are_taken_out() {
        let (mut known, mut objects) = (ObjectIndex::default(), Vec::new());
        assert_eq!(known.place(&objects, Kind::Pod, "a", "p"), None);
        for i in 0..300u32 {
            objects.push(object(Kind::Pod, &format!("ns-{}", i % 7), &format!("p-{i}")));
            known.add(&objects, Origin { file: 0, line: i, offset: 0, length: 0, rank: 0 });
        }
        objects.push(object(Kind::Node, "ns-3", "p-3"));
        known.add(&objects, Origin { file: 1, line: 300, offset: 0, length: 0, rank: 0 });
        assert_eq!(known.place(&objects, Kind::Pod, "ns-3", "p-3"), Some(3));
        assert_eq!(known.place(&objects, Kind::Node, "ns-3", "p-3"), Some(300));
        assert_eq!(known.place(&objects, Kind::Pod, "ns-4", "p-3"), None);
        let key = Key::new("ns-3", "p-3");
        assert_eq!((known.remove(&objects, Kind::Pod, &key), known.remove(&objects, Kind::Pod, &key)), (Some(3), None));
        // A removed object may come back, with a new index.
        objects.push(object(Kind::Pod, "ns-3", "p-3"));
        known.add(&objects, Origin { file: 0, line: 301, offset: 0, length: 0, rank: 0 });
        assert_eq!(known.place(&objects, Kind::Pod, "ns-3", "p-3"), Some(301));
        known.origin(299).line = 1000;
        let origins = known.finish(&objects, |place| place == 3);
        let line = |kind, namespace, name| origins.get(kind, namespace, name).map(|o| o.line);
        assert_eq!(line(Kind::Pod, "ns-3", "p-3"), Some(301));
        assert_eq!(line(Kind::Pod, "ns-5", "p-299"), Some(1000));
        assert_eq!(line(Kind::Node, "ns-3", "p-3"), Some(300));
        assert_eq!((line(Kind::Node, "", "p-3"), line(Kind::Service, "", "p-3")), (None, None));
    }
}
