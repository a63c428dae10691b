//! Which of two pods is worth more; mirrors `MoreImportantPod` in `pkg/scheduler/util/utils.go`.

use std::cmp::{Ordering, Reverse};

use jiff::Timestamp;

use crate::cluster::Pod;
use crate::framework::{Owner, Victim};

/// Nanoseconds since 1970, as far as 64 bits reach.
pub(super) fn nanoseconds(time: Timestamp) -> i64 {
    let nanoseconds = time.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// The facts about a pod that stands to be evicted; its budgets are counted later.
pub(super) fn victim(pod: &Pod) -> Victim {
    Victim {
        pod: pod.key(),
        priority: pod.priority(),
        start_time: pod.status.start_time.map(nanoseconds),
        violates: Vec::new(),
        covered_by: Vec::new(),
        terminating: pod.is_terminating(),
        owner: pod.metadata.controller().map_or_else(Owner::default, |o| Owner { kind: o.kind.clone(), name: o.name.clone() }),
    }
}

/// Orders the more important pod first: by priority, then the one that runs longer. A pod that has not started counts
/// as started `now`, in nanoseconds since 1970.
///
/// kube-scheduler leaves the order of pods that are equal in both to its cache and to a sort that is stable for a dozen
/// pods. Here every sort is stable, so that they stand in the order in which they came to the node.
pub(super) fn more_important(a: &Victim, b: &Victim, now: i64) -> Ordering {
    let rank = |v: &Victim| (Reverse(v.priority), v.start_time.unwrap_or(now));
    rank(a).cmp(&rank(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preemption::testing::pod;

    #[test]
    fn priority_then_age_decide_and_equals_stay_as_they_stand() {
        let victims = [
            victim(&pod("new", "", 5, 0, Some(300))),
            victim(&pod("b", "", 5, 0, Some(100))),
            victim(&pod("unstarted", "", 5, 0, None)),
            victim(&pod("low", "", -7, 0, Some(1))),
            victim(&pod("a", "", 5, 0, Some(100))),
            victim(&pod("high", "", 9, 0, None)),
        ];
        let order = |now_seconds: i64| {
            let mut sorted = victims.to_vec();
            sorted.sort_by(|a, b| more_important(a, b, now_seconds * 1_000_000_000));
            sorted.iter().map(|v| v.pod.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(order(1000), ["high", "b", "a", "new", "unstarted", "low"]);
        assert_eq!(order(200), ["high", "b", "a", "unstarted", "new", "low"], "a pod without a start time starts now");
    }

    #[test]
    fn a_victim_names_its_controller_and_whether_it_ends() {
        let mut owned = pod("v", "", 0, 0, Some(2));
        owned.metadata.owner_references =
            serde_json::from_str(r#"[{"kind":"Node","name":"n"},{"kind":"ReplicaSet","name":"web-1","controller":true}]"#).unwrap();
        assert_eq!((victim(&owned).owner.to_string().as_str(), victim(&owned).terminating), ("ReplicaSet web-1", false));
        assert_eq!(victim(&owned).start_time, Some(2_000_000_000));
        owned.metadata.deletion_timestamp = Some(Timestamp::UNIX_EPOCH);
        owned.metadata.owner_references = Vec::new().into();
        assert_eq!((victim(&owned).owner.to_string().as_str(), victim(&owned).terminating), ("", true));
    }

    #[test]
    fn times_beyond_64_bits_stay_at_the_edge() {
        assert_eq!(nanoseconds(Timestamp::MAX), i64::MAX);
        assert_eq!(nanoseconds(Timestamp::MIN), i64::MIN);
    }
}
