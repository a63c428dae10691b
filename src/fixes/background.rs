//! The objects that a search reads and scheduling does not.

use std::sync::LazyLock;

use super::{Acts, Originals};
use crate::cluster::neighbors::Neighbors;

static NO_NEIGHBORS: LazyLock<Neighbors> = LazyLock::new(Neighbors::default);
static NO_ACTS: LazyLock<Acts> = LazyLock::new(Acts::default);

/// The objects and acts that a search for fixes reads apart from the cluster.
#[derive(Clone, Copy)]
pub struct Background<'a> {
    /// The policies of admission, and the workloads of pods.
    pub neighbors: &'a Neighbors,
    /// The objects with the fields that scheduling does not read.
    pub originals: Originals<'a>,
    /// The changes that the user made.
    pub acts: &'a Acts,
}

impl<'a> Background<'a> {
    /// Returns what a report of fixes reads of it.
    pub fn source(&self) -> (Originals<'a>, &'a Neighbors) {
        (self.originals, self.neighbors)
    }
}

impl Background<'static> {
    /// Returns a background of which nothing is known.
    pub fn nothing() -> Self {
        Self { neighbors: &NO_NEIGHBORS, originals: &|_, _| None, acts: &NO_ACTS }
    }
}
