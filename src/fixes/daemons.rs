//! The node of a DaemonSet's pod, which its controller chooses.

use super::Fix;
use super::change::{Change, PodChange};
use crate::cluster::{Controller, Pod, Requirement};

/// Leaves out the fixes that would move a DaemonSet's pod to another node: its controller makes each pod for one node.
pub(super) fn leave_out_moves(pod: &Pod, fixes: &mut Vec<Fix>) {
    if Controller::of(pod) == Controller::DaemonSet {
        fixes.retain(|fix| !fix.changes.iter().any(moves));
    }
}

fn moves(change: &Change) -> bool {
    match change {
        Change::Pod(PodChange::DropRequirement { requirement, .. } | PodChange::AddValue { requirement, .. }) => is_of_node(requirement),
        Change::Pod(PodChange::DropNodeAffinity) | Change::Create { like: Some(_), .. } => true,
        _ => false,
    }
}

/// Returns whether a requirement names a node, as the DaemonSet controller writes it.
fn is_of_node(requirement: &Requirement) -> bool {
    requirement.key == "metadata.name" || requirement.key == "kubernetes.io/hostname"
}
