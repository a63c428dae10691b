//! Jobs, CronJobs, JobSets, LeaderWorkerSets.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{FieldError, Found, Hold, Names, Owner, Unfolded, UnfoldedPod, Work, check_template, checked, suffix, whole};
use crate::admission::{PodTemplate, mount_errors};
use crate::cluster::Key;

/// The restart policies that Jobs take.
const RESTARTS: [&str; 2] = ["OnFailure", "Never"];

/// Unfolds a Job: as many pods as run at once.
pub(super) fn job(work: &Work<'_>) -> Found {
    let mut errors = Vec::new();
    let mut found = work.unfolded(0);
    let owner = work.owner();
    let template = job_template(work.object, "spec", &mut errors);
    let job = Job { object: work.object, template: &template, path: "spec", owner: &owner, copies: work.options.replicas };
    add_job(work, &mut found, &job, &mut errors);
    checked(found, errors)
}

/// Unfolds a CronJob: the pods of its next Job.
pub(super) fn cron_job(work: &Work<'_>) -> Found {
    let mut errors = Vec::new();
    let mut found = work.unfolded(0);
    let minute = work.options.now.as_second() / 60;
    let name = format!("{}-{minute}", work.key.name);
    let uid = format!("new-{}", suffix(&[&work.uid, &name], 16));
    let owner = Owner { api_version: "batch/v1", kind: "Job", name: &name, uid: &uid };
    let none = json!({});
    let object = work.spec("jobTemplate").unwrap_or(&none);
    found.controllers = vec![("Job".into(), Key::new(work.key.namespace.clone(), name.as_str()))];
    let path = "spec.jobTemplate.spec";
    let template = job_template(object, path, &mut errors);
    let job = Job { object, template: &template, path, owner: &owner, copies: work.options.replicas };
    add_job(work, &mut found, &job, &mut errors);
    if is_suspended(work.object) {
        found.hold = Some(Hold::Suspended);
    }
    checked(found, errors)
}

/// Unfolds a JobSet: the Jobs of all its templates at once.
pub(super) fn job_set(work: &Work<'_>) -> Found {
    let mut errors = Vec::new();
    let mut found = Unfolded { controllers: Vec::new(), ..work.unfolded(0) };
    let empty = Vec::new();
    let templates = work.spec("replicatedJobs").and_then(Value::as_array).unwrap_or(&empty);
    let parts: HashMap<&str, u32> =
        templates.iter().filter_map(|replicated| replicated.get("name").and_then(Value::as_str)).zip(0..).collect();
    let in_order = work.spec("startupPolicy/startupPolicyOrder").and_then(Value::as_str) == Some("InOrder");
    for (at, replicated) in templates.iter().enumerate() {
        let dependencies = || replicated.get("dependsOn").and_then(Value::as_array).into_iter().flatten();
        let is_complete = |dependency: &Value| dependency.get("status").and_then(Value::as_str) == Some("Complete");
        // Pods of Jobs that others must complete for come later.
        let is_later = dependencies().any(is_complete);
        let part = u32::try_from(at).unwrap_or(u32::MAX);
        let mut after: Vec<u32> = dependencies().filter_map(|dependency| parts.get(dependency.get("name")?.as_str()?).copied()).collect();
        after.extend(part.checked_sub(1).filter(|_| in_order));
        let path = format!("spec.replicatedJobs[{at}]");
        let replicas = replicated.get("replicas").map_or(1, |value| whole(value, &format!("{path}.replicas"), 1, &mut errors));
        let job_name = replicated.get("name").and_then(Value::as_str).unwrap_or_default();
        let none = json!({});
        let object = replicated.get("template").unwrap_or(&none);
        let path = format!("{path}.template.spec");
        let template = job_template(object, &path, &mut errors);
        for index in 0..replicas {
            let name = format!("{}-{job_name}-{index}", work.key.name);
            let uid = format!("new-{}", suffix(&[&work.uid, &name], 16));
            let owner = Owner { api_version: "batch/v1", kind: "Job", name: &name, uid: &uid };
            if found.pods.len() >= work.options.most {
                let first = found.wanted.checked_div(index.max(1)).unwrap_or(0).max(1);
                found.wanted = found.wanted.saturating_add(first.saturating_mul(replicas - index));
                break;
            }
            found.controllers.push(("Job".into(), Key::new(work.key.namespace.clone(), name.as_str())));
            let job = Job { object, template: &template, path: &path, owner: &owner, copies: None };
            let (first, wanted) = (found.pods.len(), found.wanted);
            add_job(work, &mut found, &job, &mut errors);
            if !errors.is_empty() {
                break;
            }
            if is_later {
                found.pods.truncate(first);
                found.later = found.later.saturating_add(found.wanted - wanted);
                found.wanted = wanted;
            }
            for pod in &mut found.pods[first..] {
                (pod.part, pod.after) = (part, after.clone());
            }
        }
    }
    if is_suspended(work.object) {
        found.hold = Some(Hold::Suspended);
    }
    checked(found, errors)
}

/// A Job, or the template of one.
struct Job<'a> {
    object: &'a Value,
    template: &'a Arc<PodTemplate>,
    /// The path of its spec in the manifest.
    path: &'a str,
    owner: &'a Owner<'a>,
    /// The number of pods in place of the manifest's.
    copies: Option<u64>,
}

fn is_suspended(object: &Value) -> bool {
    object.pointer("/spec/suspend").and_then(Value::as_bool) == Some(true)
}

/// Returns what the pods of a Job share, and checks its template.
fn job_template(object: &Value, path: &str, errors: &mut Vec<FieldError>) -> Arc<PodTemplate> {
    let template = object.pointer("/spec/template").unwrap_or(&Value::Null);
    check_template(template, &format!("{path}.template"), &RESTARTS, errors);
    errors.extend(mount_errors(template).into_iter().map(|error| error.below(&format!("{path}.template"))));
    Work::shared(template)
}

/// Adds the pods of a Job.
fn add_job(work: &Work<'_>, found: &mut Unfolded, job: &Job<'_>, errors: &mut Vec<FieldError>) {
    let spec = |pointer: &str| job.object.pointer(&format!("/spec/{pointer}")).filter(|value| !value.is_null());
    let mut number = |field: &str| spec(field).map(|value| whole(value, &format!("{}.{field}", job.path), 1, errors));
    let (parallelism, completions) = (number("parallelism"), number("completions"));
    // Without completions the pods share a queue of work, and one success ends the Job.
    let at_once = parallelism.unwrap_or(1).min(completions.unwrap_or(u64::MAX));
    let at_once = job.copies.unwrap_or(at_once);
    found.wanted = found.wanted.saturating_add(at_once);
    found.later = found.later.saturating_add(completions.unwrap_or(0).saturating_sub(at_once));
    if is_suspended(job.object) {
        found.hold = Some(Hold::Suspended);
    }
    let is_indexed = spec("completionMode").and_then(Value::as_str) == Some("Indexed");
    if is_indexed && completions.is_none() {
        let detail = "Required value: when completion mode is Indexed".to_owned();
        errors.push(FieldError { path: format!("{}.completions", job.path), detail });
    }
    let room = work.options.most.saturating_sub(found.pods.len());
    let mut names = Names::new(work.cluster, &work.key.namespace);
    for index in 0..work.made(at_once).min(room) {
        let base = if is_indexed { format!("{}-{index}", job.owner.name) } else { job.owner.name.to_owned() };
        let mut pod = work.pod(job.template, &names.generate(&base, job.owner.uid), job.owner);
        for (label, value) in [
            ("batch.kubernetes.io/controller-uid", job.owner.uid),
            ("batch.kubernetes.io/job-name", job.owner.name),
            ("controller-uid", job.owner.uid),
            ("job-name", job.owner.name),
        ] {
            pod.set_label(label, value);
        }
        if is_indexed {
            pod.set_label("batch.kubernetes.io/job-completion-index", &index.to_string());
        }
        found.pods.push(UnfoldedPod::plain(pod));
    }
}

/// Unfolds a LeaderWorkerSet: groups of one leader and its workers.
pub(super) fn leader_worker_set(work: &Work<'_>) -> Found {
    let mut errors: Vec<FieldError> = Vec::new();
    let groups = work.replicas(&mut errors);
    let size = work.number("leaderWorkerTemplate/size", 1, &mut errors).max(1);
    let none = Value::Null;
    let worker = work.spec("leaderWorkerTemplate/workerTemplate").unwrap_or(&none);
    let leader = work.spec("leaderWorkerTemplate/leaderTemplate").unwrap_or(worker);
    check_template(worker, "spec.leaderWorkerTemplate.workerTemplate", &[], &mut errors);
    let (leader, worker) = (Work::shared(leader), Work::shared(worker));
    let mut found = Unfolded { controllers: Vec::new(), ..work.unfolded(groups.saturating_mul(size)) };
    // Workers wait for their leader alone.
    let waits = work.spec("startupPolicy").and_then(Value::as_str) == Some("LeaderReady");
    let mut seen: BTreeSet<String> = BTreeSet::new();
    'groups: for group in 0..groups {
        let leader_name = format!("{}-{group}", work.key.name);
        for index in 0..size {
            if found.pods.len() >= work.options.most {
                break 'groups;
            }
            let (template, name) = if index == 0 { (&leader, leader_name.clone()) } else { (&worker, format!("{leader_name}-{index}")) };
            // The leaders are a StatefulSet, and the workers of each leader are another.
            let set = if index == 0 { work.key.name.to_string() } else { leader_name.clone() };
            let uid = format!("new-{}", suffix(&[&work.uid, &set, if index == 0 { "leaders" } else { "workers" }], 16));
            let mut pod = work.pod(template, &name, &Owner { api_version: "apps/v1", kind: "StatefulSet", name: &set, uid: &uid });
            for (label, value) in [
                ("leaderworkerset.sigs.k8s.io/name", work.key.name.to_string()),
                ("leaderworkerset.sigs.k8s.io/group-index", group.to_string()),
                ("leaderworkerset.sigs.k8s.io/worker-index", index.to_string()),
            ] {
                pod.set_label(label, &value);
            }
            let controller = ("StatefulSet".into(), Key::new(work.key.namespace.clone(), set.as_str()));
            if seen.insert(set) {
                found.controllers.push(controller);
            }
            let leader = u32::try_from(group).unwrap_or(u32::MAX).saturating_mul(2);
            let (part, after) = match index {
                0 => (leader, Vec::new()),
                _ => (leader.saturating_add(1), waits.then_some(leader).into_iter().collect()),
            };
            found.pods.push(UnfoldedPod { part, after, ..UnfoldedPod::plain(pod) });
        }
    }
    checked(found, errors)
}
