//! How many pods a workload wants now.

use serde_json::Value;

use crate::cluster::neighbors::{About, Neighbor, NeighborKind, Neighbors, OwnerFacts};
use crate::cluster::{Cluster, MissingReason};
use crate::limits::engine::WANTED_PODS;

use super::subject::controller;

/// Returns the number of pods that a workload wants now; `None` if the source does not show it. A suspended workload wants
/// those that it would have.
pub(super) fn desired(cluster: &Cluster, neighbors: &Neighbors, workload: &About) -> Option<usize> {
    let count = match workload.kind.as_str() {
        "PodGroup" => group_size(cluster, neighbors, workload)?,
        "CronJob" => jobs_of(cluster, neighbors, workload)?,
        _ => of_object(neighbors.owner(&workload.kind, &workload.key)?)?,
    };
    Some(usize::try_from(count.max(0)).unwrap_or(usize::MAX).min(WANTED_PODS))
}

/// Returns what an object says of itself.
fn of_object(object: &Neighbor) -> Option<i64> {
    let facts = object.facts();
    Some(match object.kind {
        NeighborKind::Deployment | NeighborKind::ReplicaSet | NeighborKind::StatefulSet | NeighborKind::ReplicationController => {
            facts?.spec.replicas.unwrap_or(1)
        }
        NeighborKind::DaemonSet => facts?.status.desired_number_scheduled?,
        NeighborKind::Job => of_job(facts?),
        NeighborKind::JobSet => of_job_set(object)?,
        NeighborKind::LeaderWorkerSet => {
            let size = object.number("/spec/leaderWorkerTemplate/size").unwrap_or(1);
            object.number("/spec/replicas").unwrap_or(1).saturating_mul(size)
        }
        _ => return None,
    })
}

/// Returns the pods that the Jobs of a JobSet run at once, without those of Jobs that have succeeded. Mirrors the API of JobSet,
/// `api/jobset/v1alpha2/jobset_types.go` of kubernetes-sigs/jobset.
fn of_job_set(object: &Neighbor) -> Option<i64> {
    if ended_as(object) == Some(End::Complete) {
        return Some(0);
    }
    let states = object.field("/status/replicatedJobsStatus").and_then(Value::as_array);
    let succeeded = |name: Option<&Value>| {
        let state = states.into_iter().flatten().find(|state| name.is_some() && state.get("name") == name);
        state.and_then(|state| state.get("succeeded")?.as_i64()).unwrap_or(0)
    };
    let of = |job: &Value| {
        let number = |pointer: &str| job.pointer(pointer).and_then(Value::as_i64);
        let parallelism = number("/template/spec/parallelism").unwrap_or(1);
        let at_once = number("/template/spec/completions").map_or(parallelism, |completions| parallelism.min(completions));
        number("/replicas").unwrap_or(1).saturating_sub(succeeded(job.get("name"))).max(0).saturating_mul(at_once.max(0))
    };
    Some(object.field("/spec/replicatedJobs")?.as_array()?.iter().map(of).fold(0, i64::saturating_add))
}

/// How a Job or JobSet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    Failed,
}

/// Returns how a Job or JobSet ended; `None` for one that runs, and for other kinds.
pub(super) fn ended_as(object: &Neighbor) -> Option<End> {
    let complete = match object.kind {
        NeighborKind::Job => "Complete",
        NeighborKind::JobSet => "Completed",
        _ => return None,
    };
    let is_true = |kind: &str| object.conditions().iter().any(|condition| condition.kind == kind && condition.status == "True");
    let terminal = object.field("/status/terminalState").and_then(Value::as_str);
    match terminal {
        Some("Completed") => Some(End::Complete),
        Some("Failed") => Some(End::Failed),
        _ if is_true(complete) => Some(End::Complete),
        _ => is_true("Failed").then_some(End::Failed),
    }
}

/// Returns the number of pods that a Job would run at once: `parallelism`, but no more than are left to complete. Mirrors
/// `manageJob` in `pkg/controller/job/job_controller.go`.
fn of_job(facts: &OwnerFacts) -> i64 {
    if ended(facts, "Complete").is_some() || ended(facts, "SuccessCriteriaMet").is_some() {
        return 0;
    }
    let (parallelism, succeeded) = (facts.spec.parallelism.unwrap_or(1), facts.status.succeeded.unwrap_or(0));
    match facts.spec.completions {
        Some(completions) => parallelism.min(completions.saturating_sub(succeeded)),
        // A work queue starts no pod once one has succeeded.
        None if succeeded > 0 => 0,
        None => parallelism,
    }
}

/// Returns the true condition of a type.
pub(super) fn ended<'a>(facts: &'a OwnerFacts, kind: &str) -> Option<&'a crate::cluster::neighbors::NeighborCondition> {
    facts.status.conditions.iter().find(|condition| condition.kind == kind && condition.status == "True")
}

/// Returns the pods that the Jobs of a CronJob want; `None` if not all Jobs of its namespace are known.
fn jobs_of(cluster: &Cluster, neighbors: &Neighbors, cron: &About) -> Option<i64> {
    // A namespace that was read shows all of its own.
    let lacks_some = neighbors.why(NeighborKind::Job).is_some_and(|why| why != MissingReason::Partial);
    if lacks_some || !neighbors.knows(NeighborKind::Job) {
        return None;
    }
    let jobs = neighbors.in_namespace(NeighborKind::Job, &cron.key.namespace);
    let own = jobs.filter(|job| controller(cluster, neighbors, &About::new("Job", job.metadata.key())).as_ref() == Some(cron));
    Some(own.filter_map(|job| job.facts()).filter(|facts| ended(facts, "Failed").is_none()).map(of_job).fold(0, i64::saturating_add))
}

fn group_size(cluster: &Cluster, neighbors: &Neighbors, group: &About) -> Option<i64> {
    if let Some(known) = cluster.pod_groups.get(&group.key) {
        return known.min_count().map(i64::from);
    }
    let known = neighbors.get(NeighborKind::PodGroup, &group.key)?;
    known.number("/spec/minMember").or_else(|| known.number("/spec/minAvailable"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Key;

    #[test]
    fn a_number_beyond_all_measure_is_cut() {
        let mut neighbors = Neighbors::default();
        for (kind, spec) in [
            (NeighborKind::Deployment, r#"{"replicas":9000000000000000000}"#),
            (NeighborKind::JobSet, r#"{"replicatedJobs":[{"replicas":4000000000,"template":{"spec":{"parallelism":4000000000}}}]}"#),
        ] {
            let text = format!(r#"{{"metadata":{{"name":"w","namespace":"shop"}},"spec":{spec}}}"#);
            neighbors.insert(Neighbor::deserialize_kind(kind, "v1".into(), &mut serde_json::Deserializer::from_str(&text)).unwrap());
            let workload = About::new(<&str>::from(kind), Key::new("shop", "w"));
            assert_eq!(desired(&Cluster::default(), &neighbors, &workload), Some(WANTED_PODS), "{kind}");
        }
    }

    #[test]
    fn a_job_set_wants_the_pods_of_the_jobs_that_have_not_succeeded() {
        let wanted = |status: &str| {
            let mut neighbors = Neighbors::default();
            let jobs = r#"[{"name":"a","replicas":2,"template":{"spec":{"parallelism":4,"completions":1}}},
                {"name":"b","replicas":3,"template":{"spec":{"parallelism":2}}}]"#;
            let text =
                format!(r#"{{"metadata":{{"name":"ts","namespace":"ml"}},"spec":{{"replicatedJobs":{jobs}}},"status":{{{status}}}}}"#);
            let object = Neighbor::deserialize_kind(
                NeighborKind::JobSet,
                "jobset.x-k8s.io/v1alpha2".into(),
                &mut serde_json::Deserializer::from_str(&text),
            );
            neighbors.insert(object.unwrap());
            desired(&Cluster::default(), &neighbors, &About::new("JobSet", Key::new("ml", "ts")))
        };
        assert_eq!(wanted(""), Some(8), "two Jobs of one pod, and three of two");
        assert_eq!(wanted(r#""replicatedJobsStatus":[{"name":"a","succeeded":1},{"name":"b","succeeded":2}]"#), Some(3));
        assert_eq!(wanted(r#""terminalState":"Completed""#), Some(0));
        assert_eq!(wanted(r#""conditions":[{"type":"Completed","status":"True"}]"#), Some(0));
        assert_eq!(wanted(r#""conditions":[{"type":"Completed","status":"False"}]"#), Some(8));
    }

    #[test]
    fn the_jobs_of_a_cron_job_count_where_all_of_its_namespace_are_known() {
        let mut neighbors = Neighbors::default();
        let owner = r#""ownerReferences":[{"kind":"CronJob","name":"nightly","controller":true}],"#;
        for (kind, name, owner) in [(NeighborKind::CronJob, "nightly", ""), (NeighborKind::Job, "nightly-1", owner)] {
            let text = format!(r#"{{"metadata":{{{owner}"name":"{name}","namespace":"shop"}},"spec":{{"parallelism":2}}}}"#);
            neighbors.insert(Neighbor::deserialize_kind(kind, "batch/v1".into(), &mut serde_json::Deserializer::from_str(&text)).unwrap());
        }
        let workload = About::new("CronJob", Key::new("shop", "nightly"));
        assert_eq!(desired(&Cluster::default(), &neighbors, &workload), Some(2));
        for (why, wanted) in [(MissingReason::Partial, Some(2)), (MissingReason::Incomplete, None), (MissingReason::Failed, None)] {
            neighbors.withhold(NeighborKind::Job, why);
            assert_eq!(desired(&Cluster::default(), &neighbors, &workload), wanted, "{why}");
        }
    }
}
