//! The end of a Job with one of its pods.

use super::draft::Draft;
use crate::cluster::neighbors::{FailureCondition, NeighborKind, Neighbors, OwnerSpec};
use crate::cluster::{Key, Pod};

/// The failed pods that a Job takes by default; `SetDefaults_Job` in `pkg/apis/batch/v1/defaults.go`.
const BACKOFF_LIMIT: i64 = 6;
/// The condition of pods that are evicted, preempted or lost with their node.
const DISRUPTED: &str = "DisruptionTarget";

/// How a pod goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// It is evicted, preempted or lost with its node.
    Disrupted,
    /// It is deleted by hand.
    Deleted,
}

/// Returns the Job that makes a pod.
pub(super) fn job_of(pod: &Pod) -> Option<Key> {
    let owner = pod.metadata.controller().filter(|owner| owner.kind == "Job")?;
    Some(Key::new(pod.metadata.namespace.clone(), owner.name.clone()))
}

/// Returns the Job that makes no pod in place of one that goes, since that counts as failed; `None` if there is none, or if the Job is not
/// known. Mirrors `pkg/controller/job/job_controller.go` and `pod_failure_policy.go`.
pub(crate) fn failed_job(neighbors: &Neighbors, draft: &Draft, pod: &Pod, removal: Removal) -> Option<Key> {
    let key = job_of(pod)?;
    let facts = neighbors.get(NeighborKind::Job, &key)?.facts()?;
    let spec = &facts.spec;
    let fails = match action(spec, removal).unwrap_or("Count") {
        "Ignore" => false,
        "FailJob" | "FailIndex" => true,
        _ if let Some(limit) = spec.backoff_limit_per_index => limit <= 0,
        _ => {
            let before = facts.status.failed.unwrap_or(0).saturating_add(draft.copies_of_job(&key));
            before.saturating_add(1) > spec.backoff_limit.unwrap_or(BACKOFF_LIMIT)
        }
    };
    fails.then_some(key)
}

/// Returns the action of the first rule that a pod matches by the way it goes; `None` without one. Exit codes are not known before.
fn action(spec: &OwnerSpec, removal: Removal) -> Option<&str> {
    let matches =
        |on: &FailureCondition| removal == Removal::Disrupted && on.kind == DISRUPTED && (on.status.is_empty() || on.status == "True");
    let rule = spec.pod_failure_policy.rules.iter().find(|rule| rule.on_pod_conditions.iter().any(matches))?;
    Some(rule.action.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::Cluster;
    use crate::cluster::neighbors::Neighbor;

    #[test]
    fn a_job_ends_with_a_pod_that_counts_as_failed() {
        let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "k-1", "namespace": "d",
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "k", "controller": true}]}, "spec": {"containers": []}}))
        .unwrap();
        let ends = |spec: serde_json::Value, failed: i64, removal: Removal| {
            let job = json!({"metadata": {"name": "k", "namespace": "d"}, "spec": spec, "status": {"failed": failed}});
            let mut neighbors = Neighbors::default();
            neighbors.insert(Neighbor::deserialize_kind(NeighborKind::Job, "batch/v1".into(), job).unwrap());
            failed_job(&neighbors, &Draft::new(&Cluster::default()), &pod, removal).is_some()
        };
        assert!(ends(json!({"backoffLimit": 0}), 0, Removal::Disrupted));
        assert!(ends(json!({}), 6, Removal::Deleted) && !ends(json!({}), 5, Removal::Deleted));
        let ignores = json!({"backoffLimit": 0, "podFailurePolicy": {"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}});
        assert!(!ends(ignores.clone(), 0, Removal::Disrupted));
        assert!(ends(ignores, 0, Removal::Deleted), "a pod that is deleted by hand is not disrupted");
        let fails = json!({"podFailurePolicy": {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}]}});
        assert!(ends(fails, 0, Removal::Disrupted));
        assert!(ends(json!({"backoffLimitPerIndex": 0}), 0, Removal::Deleted));
        assert!(
            failed_job(&Neighbors::default(), &Draft::new(&Cluster::default()), &pod, Removal::Deleted).is_none(),
            "the Job is not known"
        );
    }
}
