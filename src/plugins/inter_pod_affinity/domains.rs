//! Counts and weights by topology domain; mirrors `topologyToMatchedTermCount` and `scoreMap` in
//! `pkg/scheduler/framework/plugins/interpodaffinity/{filtering,scoring}.go`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::cluster::{Labels, Str};
use crate::framework::Snapshot;

/// Numbers by topology domain, grouped by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::plugins) struct Domains {
    keys: Vec<(Str, HashMap<Str, i64>)>,
    /// The place of each key.
    at: HashMap<Str, usize>,
}

/// Number of keys up to which each is compared.
const FEW_KEYS: usize = 8;

impl Domains {
    /// Adds to a domain's number. The domain exists from then on, even with a sum of 0.
    #[cfg(test)]
    fn add(&mut self, key: &Str, value: &Str, amount: i64) {
        add_to(self.values_of(key), value, amount);
    }

    /// Returns the domains of a key, which exists from then on.
    fn values_of(&mut self, key: &Str) -> &mut HashMap<Str, i64> {
        let at = self.place(key).unwrap_or_else(|| {
            self.keys.push((key.clone(), HashMap::new()));
            self.at.insert(key.clone(), self.keys.len() - 1);
            self.keys.len() - 1
        });
        &mut self.keys[at].1
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.keys.len() <= FEW_KEYS { self.keys.iter().position(|(k, _)| k.as_str() == key) } else { self.at.get(key).copied() }
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

    /// Returns a domain's number; 0 for an unknown domain.
    pub(in crate::plugins) fn get(&self, key: &str, value: &str) -> i64 {
        self.place(key).and_then(|at| self.keys[at].1.get(value)).copied().unwrap_or(0)
    }

    /// Returns the sum of the numbers of a node's domains.
    pub(in crate::plugins) fn sum(&self, labels: &Labels) -> i64 {
        self.keys.iter().filter_map(|(key, values)| values.get(labels.get(key)?)).sum()
    }

    /// Whether there are no domains.
    pub(in crate::plugins) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn keys(&self) -> impl Iterator<Item = &Str> {
        self.keys.iter().map(|(key, _)| key)
    }

    fn len(&self) -> usize {
        self.keys.iter().map(|(_, values)| values.len()).sum()
    }
}

fn add_to(values: &mut HashMap<Str, i64>, value: &Str, amount: i64) {
    match values.get_mut(value) {
        Some(number) => *number += amount,
        None => drop(values.insert(value.clone(), amount)),
    }
}

/// Matching pods per domain: the shared result of `PreFilter`, and the changes of `AddPod` and `RemovePod`. A domain
/// exists while its count is not 0.
#[derive(Clone, Debug)]
pub(in crate::plugins) struct Counts {
    base: Arc<Domains>,
    changes: Vec<(Str, Str, i64)>,
    present: usize,
}

impl Counts {
    /// Makes the counts of `PreFilter`.
    pub(in crate::plugins) fn new(base: Domains) -> Self {
        let present = base.len();
        Self { base: Arc::new(base), changes: Vec::new(), present }
    }

    /// Returns a domain's count.
    pub(in crate::plugins) fn get(&self, key: &str, value: &str) -> i64 {
        let change = self.changes.iter().find(|(k, v, _)| k.as_str() == key && v.as_str() == value).map_or(0, |(_, _, n)| *n);
        self.base.get(key, value) + change
    }

    /// Changes the count of the node's domain of that key; does nothing if the node lacks the key.
    pub(in crate::plugins) fn update(&mut self, labels: &Labels, key: &Str, amount: i64) {
        let Some(value) = labels.get(key) else { return };
        let before = self.get(key, value);
        match self.changes.iter_mut().find(|(k, v, _)| k == key && v == value) {
            Some((_, _, change)) => *change += amount,
            None => self.changes.push((key.clone(), value.clone(), amount)),
        }
        match (before, before + amount) {
            (0, after) if after != 0 => self.present += 1,
            (before, 0) if before != 0 => self.present -= 1,
            _ => {}
        }
    }

    /// Whether no domain exists.
    pub(in crate::plugins) fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Returns the key of the first domain of a node that has a count above 0.
    pub(in crate::plugins) fn first_positive(&self, labels: &Labels) -> Option<&Str> {
        let changed = self.changes.iter().map(|(key, _, _)| key);
        let mut keys = self.base.keys().chain(changed);
        if self.is_empty() { None } else { keys.find(|key| labels.get(key).is_some_and(|value| self.get(key, value) > 0)) }
    }
}

#[cfg(test)]
mod tests;
