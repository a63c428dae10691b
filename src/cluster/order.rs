//! Sorts objects by namespace and name.

use std::collections::HashMap;

use super::{Meta, Object, Str};

/// The first bytes of a name, as numbers that sort like them. Most names of a namespace differ there, and comparing numbers needs no
/// further memory.
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

/// Returns the items by namespace and name; equal ones stay in their order. Namespace by namespace, which takes little further memory.
fn by_name<T>(items: impl IntoIterator<Item = T>, meta: impl Fn(&T) -> &Meta) -> Vec<T> {
    let mut namespaces: Vec<(Str, Vec<T>)> = Vec::new();
    let mut places: HashMap<Str, usize> = HashMap::new();
    // The objects of a namespace mostly share the text of its name.
    let mut by_address: HashMap<*const u8, usize> = HashMap::new();
    for item in items {
        let namespace = &meta(&item).namespace;
        let place = *by_address.entry(namespace.as_ptr()).or_insert_with(|| {
            *places.entry(namespace.clone()).or_insert_with(|| {
                namespaces.push((namespace.clone(), Vec::new()));
                namespaces.len() - 1
            })
        });
        namespaces[place].1.push(item);
    }
    namespaces.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    let mut sorted = Vec::with_capacity(namespaces.iter().map(|(_, items)| items.len()).sum());
    for (_, items) in namespaces {
        let mut keyed: Vec<(Start, T)> = items.into_iter().map(|item| (start(&meta(&item).name), item)).collect();
        keyed.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| meta(one).name.cmp(&meta(other).name)));
        sorted.extend(keyed.into_iter().map(|(_, item)| item));
    }
    sorted
}

fn start(name: &str) -> Start {
    let mut bytes = [0; BYTES];
    let length = name.len().min(BYTES);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
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
            expected.sort_by_key(|meta| (&meta.namespace, &meta.name));
            let uids = |metas: &[&Meta]| metas.iter().map(|meta| meta.uid.to_string()).collect::<Vec<_>>();
            assert_eq!(uids(&by_name(twice(), |meta| *meta)), uids(&expected));
        }
    }
}
