//! Shares equal parts of pods.
//!
//! Nearly all pods come from templates, so a cluster holds far fewer different specs, labels and owners than pods. Each
//! thread replaces such a part by an equal one that it saw recently, which keeps memory low while decoding. A final pass
//! over all pods shares what the threads' tables missed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

use crate::cluster::{MetaTemplate, Object, Pod, PodSpec, RarePodStatus};

/// Initial and maximal slots of a table of recent parts; powers of two.
const FIRST_SLOTS: usize = 1 << 5;
const MOST_SLOTS: usize = 1 << 13;

thread_local! {
    static TABLES: RefCell<Tables> = const { RefCell::new(Tables { specs: Recent::NEW, templates: Recent::NEW, statuses: Recent::NEW }) };
}

/// The parts that a thread saw recently.
struct Tables {
    specs: Recent<PodSpec>,
    templates: Recent<MetaTemplate>,
    statuses: Recent<RarePodStatus>,
}

/// Recent values; a new value replaces the one in its slot.
struct Recent<T> {
    slots: Vec<Option<(u64, Arc<T>)>>,
    /// Values added since the table last grew.
    put: usize,
}

impl<T: Hash + Eq> Recent<T> {
    const NEW: Self = Self { slots: Vec::new(), put: 0 };

    /// Replaces a value by an equal one that was seen recently.
    fn share(&mut self, value: &mut Arc<T>) {
        if self.put >= self.slots.len() && self.slots.len() < MOST_SLOTS {
            self.enlarge();
        }
        let mut hasher = Quick::default();
        value.hash(&mut hasher);
        let hash = hasher.finish();
        let at = hash as usize & (self.slots.len() - 1);
        let slot = &mut self.slots[at];
        match slot {
            Some((known_hash, known)) if *known_hash == hash && *known == *value => *value = Arc::clone(known),
            _ => {
                self.put += 1;
                *slot = Some((hash, Arc::clone(value)));
            }
        }
    }

    fn enlarge(&mut self) {
        let slots = (self.slots.len() * 4).clamp(FIRST_SLOTS, MOST_SLOTS);
        let old = std::mem::take(&mut self.slots);
        self.slots.resize_with(slots, || None);
        for (hash, value) in old.into_iter().flatten() {
            self.slots[hash as usize & (slots - 1)] = Some((hash, value));
        }
        self.put = 0;
    }
}

/// A multiplying hasher. Specs are long, and a collision costs only a comparison or a little memory.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// Shares a pod's parts with those that this thread saw recently.
pub(in crate::source) fn dedup_parts(pod: &mut Pod) {
    TABLES.with_borrow_mut(|tables| {
        tables.specs.share(&mut pod.spec);
        if let Some(template) = pod.metadata.template.handle_mut() {
            tables.templates.share(template);
        }
        if let Some(status) = pod.status.rare.handle_mut() {
            tables.statuses.share(status);
        }
    });
}

/// Clears this thread's tables.
pub(in crate::source) fn forget() {
    TABLES.set(Tables { specs: Recent::NEW, templates: Recent::NEW, statuses: Recent::NEW });
}

/// All different values of one type.
struct All<T> {
    values: HashSet<Arc<T>, BuildHasherDefault<Quick>>,
    /// Shared values by address, since most pods share already. An entry keeps its value alive, so that its address is
    /// not reused.
    seen: HashMap<*const T, (Arc<T>, Arc<T>), BuildHasherDefault<Quick>>,
}

impl<T: Hash + Eq> All<T> {
    fn new() -> Self {
        Self { values: HashSet::default(), seen: HashMap::default() }
    }

    /// Returns the value to use instead of `value`, if it is another one.
    fn instead(&mut self, value: &Arc<T>) -> Option<Arc<T>> {
        let (_, shared) = self.seen.entry(Arc::as_ptr(value)).or_insert_with(|| {
            let shared = self.values.get(value).cloned().unwrap_or_else(|| {
                self.values.insert(Arc::clone(value));
                Arc::clone(value)
            });
            (Arc::clone(value), shared)
        });
        (!Arc::ptr_eq(shared, value)).then(|| Arc::clone(shared))
    }
}

/// Shares all equal parts.
pub(in crate::source) fn dedup_all(objects: &mut [Object]) {
    let (mut specs, mut templates, mut statuses) = (All::new(), All::new(), All::new());
    for object in objects {
        let Object::Pod(pod) = object else { continue };
        let spec = specs.instead(&pod.spec);
        let template = pod.metadata.template.handle().and_then(|t| templates.instead(t));
        let status = pod.status.rare.handle().and_then(|s| statuses.instead(s));
        if spec.is_none() && template.is_none() && status.is_none() {
            continue;
        }
        let Some(pod) = Arc::get_mut(pod) else { continue };
        if let Some(spec) = spec {
            pod.spec = spec;
        }
        if let (Some(template), Some(part)) = (template, pod.metadata.template.handle_mut()) {
            *part = template;
        }
        if let (Some(status), Some(part)) = (status, pod.status.rare.handle_mut()) {
            *part = status;
        }
    }
}

#[cfg(test)]
mod tests;
