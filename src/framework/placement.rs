//! Sets of nodes in which a pod group is tried as a whole; mirrors `Placement` and `PodGroupAssignments` in
//! `staging/src/k8s.io/kube-scheduler/framework/interface.go`.

use std::sync::Arc;

use super::{Context, PodInfo, Status};
use crate::cluster::{Key, Str};

/// Nodes among which all members of a group must find their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The value of the topology key; empty where all nodes are meant.
    pub name: Str,
    /// The nodes as positions in the snapshot, in walking order.
    pub nodes: Vec<usize>,
}

/// A placement with the members that would be put there.
#[derive(Clone, Debug)]
pub struct PodGroupAssignments<'a> {
    /// The nodes.
    pub placement: &'a Placement,
    /// The members that would get a node, without it.
    pub pods: Vec<Arc<PodInfo>>,
}

/// Generates the placements in which a group is tried.
pub trait PlacementGeneratePlugin {
    /// Returns the placements within `all`.
    ///
    /// # Errors
    /// Returns the error of the plugin.
    fn generate_placements(&self, cx: &Context<'_>, group: &Key, all: Placement) -> Result<Vec<Placement>, Status>;
}

/// Ranks placements that take a group.
pub trait PlacementScorePlugin {
    /// Returns a raw score for one placement.
    ///
    /// # Errors
    /// Returns the error of the plugin.
    fn score_placement(&self, cx: &Context<'_>, group: &Key, assignments: &PodGroupAssignments<'_>) -> Result<i64, Status>;
    /// Normalises raw scores to 0..=100.
    ///
    /// # Errors
    /// Returns the error of the plugin.
    fn normalize_placement_scores(&self, _scores: &mut [i64]) -> Result<(), Status> {
        Ok(())
    }
}
