//! Equal pod specs as one.
//!
//! Nearly all pods come from templates, so a cluster holds far fewer different specs than pods. Each thread replaces a
//! spec by an equal one that it saw lately, which keeps memory low while decoding; at the end one pass over all pods
//! joins what the threads' tables missed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

use crate::cluster::{Object, Pod, PodSpec};

/// Slots of the table of specs seen lately; a power of two.
const SLOTS: usize = 1 << 15;

thread_local! {
    static SPECS: RefCell<Vec<Option<Arc<PodSpec>>>> = const { RefCell::new(Vec::new()) };
}

/// A multiplying hasher: specs are long, and a collision costs a comparison or a little memory only.
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

/// Lets a pod share its spec with one that this thread saw lately.
pub(super) fn share_spec(pod: &mut Pod) {
    let mut hasher = Quick::default();
    pod.spec.hash(&mut hasher);
    SPECS.with_borrow_mut(|slots| {
        if slots.is_empty() {
            slots.resize(SLOTS, None);
        }
        let slot = &mut slots[hasher.finish() as usize & (SLOTS - 1)];
        match slot {
            Some(known) if *known == pod.spec => pod.spec = Arc::clone(known),
            _ => *slot = Some(Arc::clone(&pod.spec)),
        }
    });
}

/// Gives up this thread's table.
pub(super) fn forget() {
    SPECS.with_borrow_mut(|slots| *slots = Vec::new());
}

/// Joins all equal specs.
pub(super) fn share_all(objects: &mut [Object]) {
    let mut specs: HashSet<Arc<PodSpec>, BuildHasherDefault<Quick>> = HashSet::default();
    // Most pods share already: the address tells without looking at the spec again. The table keeps every spec whose
    // address it knows alive, so that no address is used twice.
    let mut seen: HashMap<*const PodSpec, (Arc<PodSpec>, Arc<PodSpec>)> = HashMap::new();
    for object in objects {
        let Object::Pod(pod) = object else { continue };
        let (_, shared) = seen.entry(Arc::as_ptr(&pod.spec)).or_insert_with(|| {
            let shared = specs.get(&pod.spec).cloned().unwrap_or_else(|| {
                specs.insert(Arc::clone(&pod.spec));
                Arc::clone(&pod.spec)
            });
            (Arc::clone(&pod.spec), shared)
        });
        if !Arc::ptr_eq(shared, &pod.spec)
            && let Some(pod) = Arc::get_mut(pod)
        {
            pod.spec = Arc::clone(shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(scheduler: &str) -> Pod {
        let mut pod = Pod::default();
        pod.spec_mut().scheduler_name = scheduler.into();
        pod
    }

    #[test]
    fn equal_specs_become_one_and_others_stay() {
        let mut objects: Vec<Object> = ["a", "b", "a", "b"].map(|s| Object::Pod(Arc::new(pod(s)))).into();
        share_all(&mut objects);
        let specs: Vec<_> = objects.iter().map(|o| if let Object::Pod(p) = o { Arc::as_ptr(&p.spec) } else { unreachable!() }).collect();
        assert_eq!((specs[0], specs[1]), (specs[2], specs[3]));
        assert_ne!(specs[0], specs[1]);
        let (mut one, mut two, mut other) = (pod("a"), pod("a"), pod("b"));
        [&mut one, &mut two, &mut other].into_iter().for_each(share_spec);
        forget();
        assert!(Arc::ptr_eq(&one.spec, &two.spec) && !Arc::ptr_eq(&one.spec, &other.spec));
    }
}
