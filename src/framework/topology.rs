//! The domains that a label of nodes makes: a number for each value, and the value of each node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Nodes;
use crate::cluster::Str;
use crate::limits::engine::{TOPOLOGIES, TOPOLOGY_VALUES};

/// Marks a node without the label.
const NONE: u32 = u32::MAX;

/// The values of a topology key.
#[derive(Debug, Default)]
pub struct Topology {
    /// Numbers by value.
    numbers: HashMap<Str, u32>,
    /// The values in the order of first occurrence.
    values: Vec<Str>,
    /// The number of the value of each node, [`NONE`] without the key.
    of_nodes: Vec<u32>,
    /// Whether a node lacks the key.
    is_partial: bool,
}

impl Topology {
    /// Reads the values of a key from nodes in walking order.
    fn of(nodes: &Nodes, key: &Str) -> Self {
        let mut found = Self { of_nodes: Vec::with_capacity(nodes.len()), ..Self::default() };
        for node in nodes {
            let number = node.node.metadata.labels.get(key).map_or(NONE, |value| {
                found.numbers.get(value).copied().unwrap_or_else(|| {
                    let number = found.values.len() as u32;
                    found.numbers.insert(value.clone(), number);
                    found.values.push(value.clone());
                    number
                })
            });
            found.of_nodes.push(number);
            found.is_partial |= number == NONE;
        }
        found
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no node has the key.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether every node has the key.
    pub fn is_complete(&self) -> bool {
        !self.is_partial
    }

    pub fn value(&self, number: usize) -> &Str {
        &self.values[number]
    }

    /// Returns the number of a value; `None` if no node has it.
    pub fn number(&self, value: &str) -> Option<usize> {
        self.numbers.get(value).map(|number| *number as usize)
    }

    /// Returns the number of the value of the node at a position; `None` without the key.
    pub fn of_node(&self, position: usize) -> Option<usize> {
        self.of_nodes.get(position).filter(|number| **number != NONE).map(|number| *number as usize)
    }

    /// Returns the number of the value of each node in walking order; `None` without the key.
    pub fn of_nodes(&self) -> impl ExactSizeIterator<Item = Option<usize>> {
        self.of_nodes.iter().map(|number| (*number != NONE).then_some(*number as usize))
    }
}

/// The topologies of some nodes, read when they are first asked for. Clones share them, so whoever changes the labels or the
/// walking order of the nodes starts with an empty one.
#[derive(Clone, Debug)]
pub(super) struct Topologies {
    known: Arc<Mutex<Known>>,
    /// The number of values of nodes up to which topologies are kept beyond the first ones.
    values: usize,
}

impl Default for Topologies {
    fn default() -> Self {
        Self::up_to(TOPOLOGY_VALUES)
    }
}

#[derive(Debug, Default)]
struct Known {
    by_key: HashMap<Str, Arc<Topology>>,
    /// The topology of every key that no node has.
    absent: Option<Arc<Topology>>,
    /// The number of kept topologies without `absent`.
    kept: usize,
}

impl Topologies {
    fn up_to(values: usize) -> Self {
        Self { known: Arc::default(), values }
    }

    /// Returns the topology of a key on these nodes, which are the same at every call.
    pub(super) fn get(&self, nodes: &Nodes, key: &Str) -> Arc<Topology> {
        let mut guard = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = &mut *guard;
        if let Some(topology) = known.by_key.get(key) {
            return topology.clone();
        }
        let mut topology = Arc::new(Topology::of(nodes, key));
        if topology.is_empty() {
            topology = known.absent.get_or_insert(topology).clone();
        } else if known.kept >= TOPOLOGIES.max(self.values / nodes.len().max(1)) {
            return topology;
        } else {
            known.kept += 1;
        }
        known.by_key.insert(key.clone(), topology.clone());
        topology
    }
}

#[cfg(test)]
mod tests;
