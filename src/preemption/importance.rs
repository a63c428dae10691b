//! The importance of pods; mirrors `MoreImportantPod` in `pkg/scheduler/util/utils.go`.

use std::cmp::Reverse;

use crate::framework::PodInfo;
use crate::release::Importance;

/// A sort key that orders the more important unit first: by priority, by the number of its pods if they are of a group, by start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(Reverse<i32>, Reverse<usize>, i64);

impl Rank {
    /// Makes the rank of a unit that started in nanoseconds since 1970. `of_group` is the number of its pods, or 0 for a pod without
    /// a group.
    #[inline]
    pub(super) fn of_unit(priority: i32, of_group: usize, start: i64) -> Self {
        Self(Reverse(priority), Reverse(of_group), start)
    }

    /// Returns the priority of the unit.
    #[inline]
    pub(super) fn priority(self) -> i32 {
        self.0.0
    }
}

/// Returns the rank of a pod: higher priority first, then earlier start. A pod that has not started counts as started
/// `now`, in nanoseconds since 1970.
///
/// kube-scheduler's order of equal pods depends on its cache and on a sort that is stable for at most a dozen pods.
/// Here every sort is stable, so equal pods keep their order of arrival on the node.
#[inline]
pub(super) fn rank(pod: &PodInfo, now: i64, importance: Importance) -> Rank {
    let start = match importance {
        Importance::PriorityAndStart => pod.start_time().unwrap_or(now),
        Importance::Priority => 0,
    };
    Rank::of_unit(pod.priority(), 0, start)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::preemption::testing::pod;

    #[test]
    fn priority_then_age_decide_and_equals_keep_their_order() {
        let pods = [
            pod("new", "", 5, 0, Some(300)),
            pod("b", "", 5, 0, Some(100)),
            pod("unstarted", "", 5, 0, None),
            pod("low", "", -7, 0, Some(1)),
            pod("a", "", 5, 0, Some(100)),
            pod("high", "", 9, 0, None),
        ]
        .map(|pod| PodInfo::new(Arc::new(pod)));
        let by = |now_seconds: i64, importance| {
            let mut sorted = pods.to_vec();
            sorted.sort_by_key(|pod| rank(pod, now_seconds * 1_000_000_000, importance));
            sorted.iter().map(|pod| pod.pod.metadata.name.to_string()).collect::<Vec<_>>()
        };
        let order = |now_seconds| by(now_seconds, Importance::PriorityAndStart);
        assert_eq!(by(1000, Importance::Priority), ["high", "new", "b", "unstarted", "a", "low"]);
        assert_eq!(order(1000), ["high", "b", "a", "new", "unstarted", "low"]);
        assert_eq!(order(200), ["high", "b", "a", "unstarted", "new", "low"], "a pod without a start time starts now");
    }
}
