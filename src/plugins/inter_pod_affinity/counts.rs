//! Matching pods by topology domain as `PreFilter` counts them and `AddPod` and `RemovePod` change them; mirrors the methods of
//! `topologyToMatchedTermCount` in `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use std::collections::HashMap;
use std::sync::Arc;

use super::domains::{Domains, FEW_KEYS, Keys};
use crate::cluster::{Node, Str};

/// Matching pods per domain: the shared result of `PreFilter`, and the changes of `AddPod` and `RemovePod`. A domain exists while its
/// count is not 0. Keys go by their place.
///
/// A dry run changes one node many times, so that the domains of the last changed node are found once for all its changes.
#[derive(Clone, Debug)]
pub(in crate::plugins) struct Counts {
    base: Arc<Domains>,
    /// Keys that only changes have; their places follow those of `base`.
    added: Keys,
    /// Changes on nodes before the last, by place of the key and value.
    changes: HashMap<(usize, Str), i64>,
    last: Option<Last>,
    /// Number of domains that exist.
    present: usize,
}

/// The node that was changed last.
#[derive(Clone, Debug)]
struct Last {
    node: Arc<Node>,
    /// The counts of the node's domains by place of the key, before its changes and now; `None` where the node lacks the key.
    counts: Vec<Option<(i64, i64)>>,
}

impl Counts {
    /// Makes the counts of `PreFilter`.
    pub(in crate::plugins) fn new(base: Domains) -> Self {
        let present = base.len();
        Self { base: Arc::new(base), added: Keys::default(), changes: HashMap::new(), last: None, present }
    }

    /// Returns the place of a key; `None` if no domain of it was ever counted.
    pub(in crate::plugins) fn place(&self, key: &str) -> Option<usize> {
        let known = self.base.keys();
        known.place(key).or_else(|| Some(known.as_slice().len() + self.added.place(key)?))
    }

    /// Returns the place of a key, which has one from then on.
    pub(in crate::plugins) fn place_or_add(&mut self, key: &Str) -> usize {
        self.place(key).unwrap_or_else(|| self.base.keys().as_slice().len() + self.added.place_or_add(key))
    }

    fn keys(&self) -> impl Iterator<Item = &Str> {
        self.base.keys().as_slice().iter().chain(self.added.as_slice())
    }

    fn key(&self, place: usize) -> Option<&Str> {
        let known = self.base.keys().as_slice();
        known.get(place).or_else(|| self.added.as_slice().get(place - known.len()))
    }

    /// Returns the count of the node's domain of the key at a place; `None` if the node lacks the key.
    pub(in crate::plugins) fn get(&self, node: &Arc<Node>, place: usize) -> Option<i64> {
        match &self.last {
            Some(last) if Arc::ptr_eq(&last.node, node) && place < last.counts.len() => last.counts[place].map(|(_, now)| now),
            _ => self.find(node, place, self.key(place)?),
        }
    }

    /// Does the same as [`Self::get`] without the counts of the last node.
    fn find(&self, node: &Node, place: usize, key: &Str) -> Option<i64> {
        let value = node.metadata.labels.get(key)?;
        let mut count = self.base.get(place, value);
        if !self.changes.is_empty() {
            count += self.changes.get(&(place, value.clone())).copied().unwrap_or(0);
        }
        if let Some(last) = &self.last
            && let Some((before, now)) = last.counts.get(place).copied().flatten()
            && last.node.metadata.labels.get(key) == Some(value)
        {
            count += now - before;
        }
        Some(count)
    }

    /// Changes the count of the node's domain of the key at a place; does nothing if the node lacks the key.
    pub(in crate::plugins) fn update(&mut self, node: &Arc<Node>, place: usize, amount: i64) {
        match &self.last {
            Some(last) if Arc::ptr_eq(&last.node, node) && place < last.counts.len() => {}
            Some(last) if Arc::ptr_eq(&last.node, node) => self.extend_last(last.counts.len()),
            _ => self.begin(node),
        }
        let Some(Some((_, now))) = self.last.as_mut().and_then(|last| last.counts.get_mut(place)) else { return };
        let before = *now;
        *now += amount;
        match (before, *now) {
            (0, after) if after != 0 => self.present += 1,
            (before, 0) if before != 0 => self.present -= 1,
            _ => {}
        }
    }

    /// Finds the domains of the last node for the keys from a place on.
    fn extend_last(&mut self, place: usize) {
        let Some(mut last) = self.last.take() else { return };
        let keys = self.keys().enumerate().skip(place);
        let added = keys.map(|(place, key)| self.find(&last.node, place, key).map(|count| (count, count)));
        last.counts.extend(added);
        self.last = Some(last);
    }

    /// Finds the domains of the node that changes next, and keeps the changes on the last one.
    fn begin(&mut self, node: &Arc<Node>) {
        let twice = |count| (count, count);
        let counts = self.keys().enumerate().map(|(place, key)| self.find(node, place, key).map(twice)).collect();
        let Some(last) = self.last.replace(Last { node: node.clone(), counts }) else { return };
        for (place, count) in last.counts.into_iter().enumerate() {
            if let Some((before, now)) = count.filter(|(before, now)| before != now)
                && let Some(value) = self.key(place).and_then(|key| last.node.metadata.labels.get(key))
            {
                *self.changes.entry((place, value.clone())).or_default() += now - before;
            }
        }
    }

    /// Whether no domain exists.
    pub(in crate::plugins) fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Returns the key of the first domain of a node that has a count above 0.
    pub(in crate::plugins) fn first_positive(&self, node: &Arc<Node>) -> Option<&Str> {
        if self.is_empty() {
            return None;
        }
        self.first_positive_of(node, self.keys().count()).and_then(|place| self.key(place))
    }

    /// Returns the place of the first of some keys, from the first one on, whose domain of a node has a count above 0.
    pub(super) fn first_positive_of(&self, node: &Arc<Node>, keys: usize) -> Option<usize> {
        let is_positive = |place: &usize| self.get(node, *place).is_some_and(|count| count > 0);
        let labels = &node.metadata.labels;
        if keys <= FEW_KEYS.max(labels.len()) {
            return (0..keys).find(is_positive);
        }
        // Of many keys, most are on no node.
        let places = labels.iter().filter_map(|(key, _)| self.place(key));
        places.filter(|place| *place < keys).filter(is_positive).min()
    }
}

#[cfg(test)]
mod tests;
