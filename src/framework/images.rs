//! How many nodes have an image, as each node's entry in the snapshot says; mirrors `ImageStateSummary`.
//!
//! A cycle copies only the nodes that changed since the one before it, and a copy has the counts of that time. So a node on
//! which nothing happens keeps the count that an image had before another node got or lost it.

use std::collections::HashSet;
use std::sync::Arc;

use imbl::HashMap;

use crate::cluster::{Node, Str};
use crate::limits::engine::IMAGE_COUNTS;

/// Size and spread of an image; mirrors `ImageStateSummary`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageState {
    /// Bytes, as reported by the first node that has the image.
    pub size: i64,
    /// Number of nodes that have the image.
    pub num_nodes: usize,
}

/// The images of all nodes. Cloning is free.
#[derive(Clone, Debug, Default)]
pub struct Images {
    now: HashMap<Str, ImageState>,
    /// The number of cycles so far.
    cycle: u64,
    /// Of images whose count changed after the first cycle: the counts, each with the number of cycles before the change.
    counts: HashMap<Str, Arc<Vec<(u64, ImageState)>>>,
    /// The number of cycles before a node's last change, by slot; zero for the others.
    changed: HashMap<usize, u64>,
}

impl Images {
    /// Returns the state of an image by its exact name, as all nodes have it now; `None` if no node has it.
    pub fn get(&self, name: &str) -> Option<ImageState> {
        self.now.get(name).copied()
    }

    /// Whether nodes may have different counts of the image.
    pub fn differs(&self, name: &str) -> bool {
        self.counts.contains_key(name)
    }

    /// Returns the state of an image as the copy of the node at a slot has it.
    pub fn at(&self, name: &str, slot: usize) -> Option<ImageState> {
        let Some(counts) = self.counts.get(name) else { return self.get(name) };
        let seen = self.changed.get(&slot).copied().unwrap_or_default();
        counts.iter().rfind(|(cycle, _)| *cycle <= seen).or(counts.first()).map(|(_, state)| *state)
    }

    /// Notes that a cycle copies the nodes that have changed.
    pub fn begin_cycle(&mut self) {
        self.cycle += 1;
        if self.counts.is_empty() {
            self.changed.clear();
        }
    }

    /// Notes that the node at a slot changes.
    pub fn change(&mut self, slot: usize) {
        if self.cycle > 0 {
            self.changed.insert(slot, self.cycle);
        }
    }

    /// Counts the images of a node that comes.
    pub fn add(&mut self, node: &Node) {
        self.count(node, 1);
    }

    /// Counts the images of a node no more.
    pub fn remove(&mut self, node: &Node) {
        self.count(node, -1);
    }

    fn count(&mut self, node: &Node, sign: isize) {
        let mut seen = HashSet::new();
        for image in &node.status.images {
            // A node counts once per image name, however often it lists it.
            for name in image.names.iter().filter(|n| seen.insert((*n).clone())) {
                let old = self.get(name);
                let num_nodes = old.map_or(0, |state| state.num_nodes).saturating_add_signed(sign);
                let new = ImageState { size: old.map_or(image.size_bytes.unwrap_or(0), |state| state.size), num_nodes };
                if num_nodes == 0 {
                    self.now.remove(name);
                } else {
                    self.now.insert(name.clone(), new);
                }
                if self.cycle > 0 {
                    self.keep(name, old.unwrap_or_default(), new);
                }
            }
        }
    }

    fn keep(&mut self, name: &Str, old: ImageState, new: ImageState) {
        let counts = Arc::make_mut(self.counts.entry(name.clone()).or_insert_with(|| Arc::new(vec![(0, old)])));
        counts.retain(|(cycle, _)| *cycle != self.cycle);
        counts.push((self.cycle, new));
        if counts.len() > IMAGE_COUNTS {
            counts.remove(0);
        }
    }
}

#[cfg(test)]
mod tests;
