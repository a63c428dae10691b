//! Sorts objects by namespace and name.

use std::cmp::Ordering;

use super::{Meta, Object};

/// The first bytes of a namespace and a name, as numbers that sort like them. Most names differ there, and comparing numbers
/// needs no further memory.
type Start = [u64; 4];

const BYTES: usize = size_of::<Start>();

/// Objects of any kinds by namespace and name; equal ones are in the order in which they came.
#[derive(Clone, Debug)]
pub struct ObjectsByName(Vec<Object>);

impl ObjectsByName {
    /// Returns the objects in order.
    pub fn as_slice(&self) -> &[Object] {
        &self.0
    }
}

impl FromIterator<Object> for ObjectsByName {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        Self(by_name(objects, Object::meta))
    }
}

impl IntoIterator for ObjectsByName {
    type Item = Object;
    type IntoIter = std::vec::IntoIter<Object>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Returns the items by namespace and name; equal ones stay in their order.
fn by_name<T>(items: impl IntoIterator<Item = T>, meta: impl Fn(&T) -> &Meta) -> Vec<T> {
    let mut keyed: Vec<(Start, T)> = items.into_iter().map(|item| (start(meta(&item)), item)).collect();
    // A NUL separates the two, so that one within a namespace would be taken for the end of it.
    if keyed.iter().any(|(_, item)| meta(item).namespace.contains('\0')) {
        for (start, _) in &mut keyed {
            *start = Start::default();
        }
    }
    keyed.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| full(meta(one), meta(other))));
    keyed.into_iter().map(|(_, item)| item).collect()
}

fn full(one: &Meta, other: &Meta) -> Ordering {
    (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name))
}

fn start(meta: &Meta) -> Start {
    let mut bytes = [0; BYTES];
    let namespace = &meta.namespace.as_bytes()[..meta.namespace.len().min(BYTES)];
    bytes[..namespace.len()].copy_from_slice(namespace);
    let from = (namespace.len() + 1).min(BYTES);
    let name = &meta.name.as_bytes()[..meta.name.len().min(BYTES - from)];
    bytes[from..from + name.len()].copy_from_slice(name);
    let mut start = Start::default();
    for (word, bytes) in start.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_be_bytes(*bytes);
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_names_whatever_their_length() {
        let long = "n".repeat(BYTES);
        let texts = ["", "a", "a\0", "a\0b", "aa", "b", "a-b", "é", long.as_str(), &long[1..], &format!("{long}x"), &format!("{long}a")];
        for with_nul in [false, true] {
            let namespaces = || texts.into_iter().filter(|text| with_nul || !text.contains('\0'));
            let metas: Vec<Meta> = namespaces()
                .flat_map(|namespace| texts.map(|name| Meta { name: name.into(), namespace: namespace.into(), ..Meta::default() }))
                .enumerate()
                .map(|(place, meta)| Meta { uid: place.to_string().into(), ..meta })
                .collect();
            let twice = || metas.iter().rev().chain(&metas);
            let mut expected: Vec<&Meta> = twice().collect();
            expected.sort_by(|a, b| full(a, b));
            let uids = |metas: &[&Meta]| metas.iter().map(|meta| meta.uid.to_string()).collect::<Vec<_>>();
            assert_eq!(uids(&by_name(twice(), |meta| *meta)), uids(&expected));
        }
    }
}
