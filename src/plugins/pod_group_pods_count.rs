//! PodGroupPodsCount: PlacementScore. Mirrors
//! `pkg/scheduler/framework/plugins/podgrouppodscount/podgroup_pods_count.go`.

use crate::cluster::Key;
use crate::framework::{ClusterEventWithHint, Context, MAX_NODE_SCORE, PlacementScorePlugin, Plugin, PodGroupAssignments, Status};
use crate::release::Emulation;

/// Prefers placements that take more of a group.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodGroupPodsCount;

impl Plugin for PodGroupPodsCount {
    plugin!(PodGroupPodsCount: placement_score);

    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(Vec::new())
    }
}

impl PlacementScorePlugin for PodGroupPodsCount {
    /// Members that have a node already count in every placement.
    fn score_placement(&self, cx: &Context<'_>, group: &Key, assignments: &PodGroupAssignments<'_>) -> Result<i64, Status> {
        let state = cx.snapshot.pod_groups().get(group);
        let state = state.ok_or_else(|| Status::error(format!("pod group state not found for pod group {group}")))?;
        Ok(i64::try_from(state.scheduled_count() + assignments.pods.len()).unwrap_or(i64::MAX))
    }

    fn normalize_placement_scores(&self, scores: &mut [i64]) -> Result<(), Status> {
        let most = scores.iter().copied().max().unwrap_or(0).max(0);
        if most == 0 {
            return Err(Status::error("no pods from pod group are assigned to any of the candidate placements"));
        }
        for score in scores {
            *score = score.saturating_mul(MAX_NODE_SCORE) / most;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_pods_are_worth_most() {
        let normal = |mut scores: Vec<i64>| PodGroupPodsCount.normalize_placement_scores(&mut scores).map(|()| scores);
        assert_eq!(normal(vec![3, 1, 0, 2]), Ok(vec![100, 33, 0, 66]));
        assert!(normal(vec![0, 0]).is_err() && normal(Vec::new()).is_err());
    }
}
