//! Counts and weights by topology domain; mirrors `topologyToMatchedTermCount` and `scoreMap` in
//! `pkg/scheduler/framework/plugins/interpodaffinity/{filtering,scoring}.go`.

use std::collections::HashMap;

use crate::cluster::{Labels, Str};
use crate::framework::Snapshot;

/// Topology keys, each with a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Keys {
    keys: Vec<Str>,
    /// The place of each key, where there are more than `FEW_KEYS`.
    places: HashMap<Str, usize>,
}

/// Number of keys up to which each is compared.
pub(super) const FEW_KEYS: usize = 8;

impl Keys {
    /// Returns the place of a key; `None` if it has none.
    pub(super) fn place(&self, key: &str) -> Option<usize> {
        if self.keys.len() <= FEW_KEYS { self.keys.iter().position(|k| k.as_str() == key) } else { self.places.get(key).copied() }
    }

    /// Returns the place of a key; the next one if it has none.
    pub(super) fn place_or_add(&mut self, key: &Str) -> usize {
        self.place(key).unwrap_or_else(|| {
            let place = self.keys.len();
            self.keys.push(key.clone());
            if place >= FEW_KEYS {
                let missing = self.places.len()..=place;
                self.places.extend(missing.map(|place| (self.keys[place].clone(), place)));
            }
            place
        })
    }

    /// Returns the keys, by place.
    pub(super) fn as_slice(&self) -> &[Str] {
        &self.keys
    }
}

impl<'a> FromIterator<&'a Str> for Keys {
    fn from_iter<I: IntoIterator<Item = &'a Str>>(keys: I) -> Self {
        let mut all = Self::default();
        for key in keys {
            all.place_or_add(key);
        }
        all
    }
}

/// Numbers by topology domain, grouped by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::plugins) struct Domains {
    keys: Keys,
    /// By place of the key.
    values: Vec<HashMap<Str, i64>>,
}

impl Domains {
    /// Returns no domains of some keys.
    pub(super) fn of_keys(keys: Keys) -> Self {
        let values = keys.as_slice().iter().map(|_| HashMap::new()).collect();
        Self { keys, values }
    }

    /// Returns the domains of a key, which exists from then on.
    fn values_of(&mut self, key: &Str) -> &mut HashMap<Str, i64> {
        let place = self.keys.place_or_add(key);
        if place == self.values.len() {
            self.values.push(HashMap::new());
        }
        &mut self.values[place]
    }

    /// Adds each node's number to the node's domain of that key; ignores nodes without the key.
    pub(in crate::plugins) fn add_counts(
        &mut self,
        snapshot: &Snapshot,
        key: &Str,
        counts: impl IntoIterator<Item = (usize, i64)>,
        weight: i64,
    ) {
        let value = |(node, count): (usize, i64)| Some((snapshot.nodes()[node].node.metadata.labels.get(key)?, count));
        let mut counts = counts.into_iter().filter_map(value).peekable();
        if counts.peek().is_some() {
            let values = self.values_of(key);
            counts.for_each(|(value, count)| add_to(values, value, count * weight));
        }
    }

    /// Returns the number of a domain of the key at a place; 0 for an unknown domain.
    pub(super) fn get(&self, place: usize, value: &str) -> i64 {
        self.values.get(place).and_then(|values| values.get(value)).copied().unwrap_or(0)
    }

    /// Returns the sum of the numbers of a node's domains.
    pub(in crate::plugins) fn sum(&self, labels: &Labels) -> i64 {
        self.keys.as_slice().iter().zip(&self.values).filter_map(|(key, values)| values.get(labels.get(key)?)).sum()
    }

    /// Whether there are no keys.
    pub(in crate::plugins) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Returns the number of domains.
    pub(super) fn len(&self) -> usize {
        self.values.iter().map(HashMap::len).sum()
    }
}

fn add_to(values: &mut HashMap<Str, i64>, value: &Str, amount: i64) {
    match values.get_mut(value) {
        Some(number) => *number += amount,
        None => drop(values.insert(value.clone(), amount)),
    }
}

#[cfg(test)]
mod tests;
