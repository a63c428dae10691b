//! The workloads of a manifest as the source has them: a manifest is applied over them, as `kubectl apply` does.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::merge;
use super::objects::{OwnedPods, kind_of, text};
use crate::admission::{FieldError, QuotaAmount, Refusal};
use crate::cluster::neighbors::{Neighbor, NeighborContent, NeighborKind, Neighbors};
use crate::cluster::{Cluster, Key, Kind, LabelSelector, Pod, Quantity, Str, Workload as ReplicaSet};
use crate::controllers::unfold::{InvalidWorkload, Revision};
use crate::whatif::Originals;

/// Limit on the fields of a live object that a note names.
const FIELDS_NAMED: usize = 5;
/// Limit on the ReplicaSets of a Deployment that are read to find the one with its template.
const SETS_READ: usize = 4;
/// The annotation of `kubectl apply`.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The annotation that numbers the ReplicaSets of a Deployment.
const REVISION: &str = "deployment.kubernetes.io/revision";
/// The label that a Deployment gives the pods of a ReplicaSet.
const HASH: &str = "pod-template-hash";

/// The objects of the source beside those that scheduling reads, and the objects as it has them.
#[derive(Clone, Copy)]
pub struct LiveObjects<'a> {
    pub neighbors: &'a Neighbors,
    pub originals: Originals<'a>,
}

/// Whether a workload exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existence {
    New,
    Exists,
    /// Its kind was not read.
    Unknown,
}

/// A workload of a manifest over the live one.
pub(super) struct Applied {
    pub object: Value,
    pub existence: Existence,
    /// The live replicas, if they are known.
    pub replicas: Option<u64>,
    /// The replicas are those that are assumed.
    pub assumes_replicas: bool,
    /// Whether the template changes; `None` where the live one is not known whole.
    pub changes_template: Option<bool>,
    /// The live template, whole.
    pub template: Option<Value>,
    /// The ReplicaSet that has the live template of a Deployment.
    pub revision: Option<Revision>,
    /// Fields that the live object has and the manifest leaves out, where it is unknown whether the manifest before had them.
    pub left_out: Vec<String>,
    /// A Job that has completed or failed.
    pub has_ended: bool,
    /// The Jobs of a CronJob that have not ended.
    pub jobs: Vec<Key>,
}

/// The objects of the source by what they belong to.
pub(super) struct Index<'a> {
    live: LiveObjects<'a>,
    sets: HashMap<Key, Vec<Arc<ReplicaSet>>>,
    jobs: HashMap<Key, Vec<Key>>,
    scalers: HashMap<(Str, Key), Scaler>,
}

/// A HorizontalPodAutoscaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scaler {
    pub key: Key,
    pub min: u64,
    pub max: u64,
}

impl<'a> Index<'a> {
    pub(super) fn of(cluster: &Cluster, live: LiveObjects<'a>) -> Self {
        let mut sets: HashMap<Key, Vec<Arc<ReplicaSet>>> = HashMap::new();
        for set in cluster.replica_sets.iter() {
            if let Some(owner) = set.metadata.controller().filter(|owner| owner.kind == "Deployment") {
                sets.entry(Key::new(set.metadata.namespace.clone(), owner.name.clone())).or_default().push(set.clone());
            }
        }
        let mut jobs: HashMap<Key, Vec<Key>> = HashMap::new();
        for job in live.neighbors.of_kind(NeighborKind::Job).filter(|job| !has_ended(job)) {
            if let Some(owner) = job.metadata.controller().filter(|owner| owner.kind == "CronJob") {
                jobs.entry(Key::new(job.metadata.namespace.clone(), owner.name.clone())).or_default().push(job.metadata.key());
            }
        }
        let scalers = live.neighbors.of_kind(NeighborKind::HorizontalPodAutoscaler).filter_map(|scaler| {
            let target = |field: &str| scaler.field(&format!("/spec/scaleTargetRef/{field}")).and_then(Value::as_str);
            let number = |field: &str, default: u64| scaler.number(field).map_or(default, |number| u64::try_from(number).unwrap_or(0));
            let key = scaler.metadata.key();
            let found = Scaler { min: number("/spec/minReplicas", 1), max: number("/spec/maxReplicas", u64::MAX), key: key.clone() };
            Some(((target("kind")?.into(), Key::new(key.namespace, target("name")?)), found))
        });
        Self { live, sets, jobs, scalers: scalers.collect() }
    }

    /// Returns the autoscaler of a workload.
    pub(super) fn scaler(&self, kind: &Str, key: &Key) -> Option<&Scaler> {
        self.scalers.get(&(kind.clone(), key.clone()))
    }

    /// Returns the error of the API server where a quota has no room for a workload that does not exist.
    pub(super) fn refusal(&self, kind: &Str, key: &Key, applied: &Applied) -> Option<String> {
        let group = text(&applied.object, "/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
        let resource = NeighborKind::of(kind, Some(group)).filter(|_| applied.existence != Existence::Exists)?.resource();
        let name = if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") };
        let counted = Str::from(format!("count/{name}"));
        let exceeded = |quota: &Arc<Neighbor>| {
            let of = |list: &str| merge::amount(quota.field(list)?.get(counted.as_str())?);
            let (hard, used) = (of("/status/hard")?, of("/status/used")?);
            let one = Quantity::units(1);
            let amounts = vec![QuotaAmount { resource: counted.clone(), requested: one, used, hard }];
            (used + one > hard).then(|| Refusal::QuotaExceeded { quota: quota.metadata.key(), amounts })
        };
        let refusal = self.live.neighbors.in_namespace(NeighborKind::ResourceQuota, &key.namespace).find_map(exceeded)?;
        Some(format!("{name} \"{}\" is forbidden: {refusal}", key.name))
    }

    /// Returns the quotas and limit ranges of a namespace that limit claims.
    pub(super) fn limits_of_claims(&self, namespace: &Str) -> Vec<String> {
        let of_quota = |quota: &Arc<Neighbor>| {
            let hard = quota.field("/spec/hard").and_then(Value::as_object);
            let is_of_claims = |name: &String| {
                matches!(name.as_str(), "persistentvolumeclaims" | "count/persistentvolumeclaims" | "requests.storage")
                    || name.contains(".storageclass.storage.k8s.io/")
            };
            hard.is_some_and(|hard| hard.keys().any(is_of_claims))
        };
        let of_range = |range: &Arc<Neighbor>| {
            let items = range.field("/spec/limits").and_then(Value::as_array);
            items.is_some_and(|items| items.iter().any(|item| item["type"] == "PersistentVolumeClaim"))
        };
        let all = |kind: NeighborKind| self.live.neighbors.in_namespace(kind, namespace);
        let limiting = all(NeighborKind::ResourceQuota).filter(|quota| of_quota(quota));
        let limiting = limiting.chain(all(NeighborKind::LimitRange).filter(|range| of_range(range)));
        limiting.take(FIELDS_NAMED).map(|object| format!("{} {}", object.kind, object.metadata.name)).collect()
    }

    /// Applies a workload of a manifest, which has a namespace.
    ///
    /// # Errors
    /// When immutable fields change.
    pub(super) fn apply(&self, cluster: &Cluster, owned: &mut OwnedPods, object: &Value) -> Result<Applied, InvalidWorkload> {
        let kind = kind_of(object);
        let key = Key::new(text(object, "/metadata/namespace"), text(object, "/metadata/name"));
        let group = text(object, "/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
        let in_model = kind.parse::<Kind>().ok().filter(|kind| kind.group() == group);
        let as_neighbor = NeighborKind::of(&kind, Some(group)).filter(|kind| kind.is_owner());
        let is_there = in_model.is_some_and(|kind| cluster.get(kind, &key).is_some());
        let original = in_model.filter(|_| is_there).and_then(|kind| (self.live.originals)(kind, &key));
        let neighbor = as_neighbor.and_then(|kind| self.live.neighbors.get(kind, &key));
        let neighbors = self.live.neighbors;
        let existence = match as_neighbor {
            _ if is_there || neighbor.is_some() => Existence::Exists,
            Some(kind) if neighbors.knows(kind) && neighbors.why(kind).is_none() => Existence::New,
            None if kind == "Pod" => Existence::New,
            _ => Existence::Unknown,
        };
        let mut applied = Applied {
            object: object.clone(),
            existence,
            replicas: None,
            assumes_replicas: false,
            changes_template: None,
            template: None,
            revision: None,
            left_out: Vec::new(),
            has_ended: neighbor.is_some_and(|job| kind == "Job" && has_ended(job)),
            jobs: self.jobs.get(&key).filter(|_| kind == "CronJob").cloned().unwrap_or_default(),
        };
        if kind == "Pod" {
            let errors = original.map_or_else(Vec::new, |live| changes_of_pod(&live, object));
            return checked(applied, errors, kind, key);
        }
        let pods = owned.of_workload(cluster, &kind, &key);
        let is_whole = original.is_some();
        let mut live = match (&original, neighbor) {
            (Some(original), _) => original.get("spec").cloned().unwrap_or(Value::Null),
            (None, Some(neighbor)) => facts(neighbor),
            (None, None) => Value::Null,
        };
        if kind == "Deployment" {
            self.add_replica_set(&mut applied, &mut live, &key, &pods);
        } else if is_whole {
            applied.template = live.get("template").cloned();
        }
        let has_replicas =
            matches!(kind.as_str(), "Deployment" | "ReplicaSet" | "ReplicationController" | "StatefulSet" | "LeaderWorkerSet");
        let is_default = existence == Existence::Exists && has_replicas && !live.is_null();
        applied.replicas = live.get("replicas").and_then(Value::as_u64).or(is_default.then_some(1));
        if !live.is_null() {
            let last = original.as_ref().map_or(Value::Null, last_applied);
            let manifest = object.get("spec").unwrap_or(&Value::Null);
            applied.object["spec"] = merge::apply(&live, last.get("spec").unwrap_or(&Value::Null), manifest);
            if !is_whole {
                applied.left_out = merge::left_out(&live, manifest, FIELDS_NAMED);
            }
        }
        let uid = original.as_ref().map(|live| text(live, "/metadata/uid")).or(neighbor.map(|live| live.metadata.uid.as_str()));
        if let Some(uid) = uid.filter(|uid| !uid.is_empty()) {
            applied.object["metadata"]["uid"] = json!(uid);
        }
        if let (Some(template), Some(new)) = (&applied.template, applied.object.pointer("/spec/template")) {
            applied.changes_template = Some(!merge::is_same(template, new));
        }
        let mut errors = immutable(&kind, is_whole, &live, &applied.object, &pods);
        if kind == "Job" {
            errors.extend(changes_of_job(&live, &applied.object, &pods));
            set_remaining(&mut applied.object, neighbor);
        }
        checked(applied, errors, kind, key)
    }

    /// Adds the selector and the template of a Deployment, from the newest of its ReplicaSets.
    fn add_replica_set(&self, applied: &mut Applied, live: &mut Value, key: &Key, pods: &[Arc<Pod>]) {
        let mut sets = self.sets.get(key).cloned().unwrap_or_default();
        sets.sort_by_key(|set| std::cmp::Reverse((set.metadata.creation_timestamp, set.metadata.name.clone())));
        let owns = |set: &Arc<ReplicaSet>| pods.iter().any(|pod| pod.metadata.controller().is_some_and(|c| c.name == set.metadata.name));
        let (mut read, others): (Vec<_>, Vec<_>) = sets.into_iter().enumerate().partition(|(at, set)| *at == 0 || owns(set));
        drop(others);
        read.truncate(SETS_READ);
        let with_original = |(_, set): (usize, Arc<ReplicaSet>)| {
            let original = (self.live.originals)(Kind::ReplicaSet, &set.metadata.key());
            let number = original.as_ref().and_then(|o| o["metadata"]["annotations"][REVISION].as_str()?.parse::<u64>().ok());
            (number, set, original)
        };
        // The first of several with the same number is the newest.
        let newest = read.into_iter().map(with_original).reduce(|best, other| if other.0 > best.0 { other } else { best });
        let Some((_, set, original)) = newest else { return };
        if !live.is_object() {
            *live = json!({});
        }
        let mut selector = set.spec.selector.clone().unwrap_or_default();
        let hash = selector.match_labels.remove(HASH).unwrap_or_default();
        applied.revision = Some(Revision { name: set.metadata.name.clone(), uid: Str::from(set.metadata.uid.to_string()), hash })
            .filter(|r| !r.hash.is_empty());
        live["selector"] = serde_json::to_value(&selector).unwrap_or(Value::Null);
        if let Some(mut template) = original.and_then(|original| original.pointer("/spec/template").cloned()) {
            if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
                labels.remove(HASH);
            }
            live["template"] = template.clone();
            applied.template = Some(template);
        }
    }
}

impl Applied {
    /// Returns the object with the live template.
    pub(super) fn with_live_template(&self) -> Option<Value> {
        let mut object = self.object.clone();
        object["spec"]["template"] = self.template.clone()?;
        Some(object)
    }
}

fn checked(applied: Applied, errors: Vec<FieldError>, kind: Str, key: Key) -> Result<Applied, InvalidWorkload> {
    if errors.is_empty() { Ok(applied) } else { Err(InvalidWorkload { kind, key, errors }) }
}

/// Returns whether a Job has completed or failed.
fn has_ended(job: &Neighbor) -> bool {
    job.conditions().iter().any(|condition| matches!(condition.kind.as_str(), "Complete" | "Failed") && condition.status == "True")
}

/// Returns the known fields of a workload's spec that a manifest may leave out.
fn facts(neighbor: &Neighbor) -> Value {
    let taken: &[&str] = match neighbor.kind {
        NeighborKind::Job => &["suspend", "parallelism", "completions", "template"],
        NeighborKind::CronJob | NeighborKind::JobSet => &["suspend"],
        NeighborKind::LeaderWorkerSet => &["replicas"],
        _ => &["replicas", "paused", "podManagementPolicy", "strategy", "updateStrategy", "template"],
    };
    let spec = match &neighbor.content {
        NeighborContent::Owner(facts) => serde_json::to_value(&facts.spec).unwrap_or(Value::Null),
        NeighborContent::Other(fields) => fields.get("spec").cloned().unwrap_or(Value::Null),
    };
    let mut fields: Map<String, Value> =
        taken.iter().filter_map(|name| Some(((*name).to_owned(), spec.get(name).filter(|value| !value.is_null())?.clone()))).collect();
    if let Some(spec) = fields.get_mut("template").and_then(|template| template.get_mut("spec")?.as_object_mut()) {
        // Those that are kept whole.
        let is_whole =
            |name: &str| matches!(name, "affinity" | "nodeSelector" | "priorityClassName" | "serviceAccountName" | "tolerations");
        spec.retain(|name, _| is_whole(name));
    }
    fields.into()
}

/// Returns the manifest that was applied last; null where there was none.
fn last_applied(live: &Value) -> Value {
    let annotation = live["metadata"]["annotations"][LAST_APPLIED].as_str();
    annotation.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
}

/// Leaves a Job the completions that are left.
fn set_remaining(object: &mut Value, neighbor: Option<&Arc<Neighbor>>) {
    let succeeded = neighbor.and_then(|job| job.facts()?.status.succeeded).unwrap_or(0);
    let completions = object.pointer("/spec/completions").and_then(Value::as_i64);
    if let Some(completions) = completions.filter(|_| succeeded > 0) {
        object["spec"]["completions"] = json!(completions.saturating_sub(succeeded).max(0));
    }
}

fn is_immutable(path: &str, value: &Value) -> FieldError {
    FieldError { path: path.to_owned(), detail: format!("Invalid value: {value}: field is immutable") }
}

/// Returns the errors of immutable fields that change; mirrors the update validations of `pkg/apis/apps/validation` and
/// `pkg/apis/batch/validation`.
fn immutable(kind: &str, is_whole: bool, live: &Value, applied: &Value, pods: &[Arc<Pod>]) -> Vec<FieldError> {
    let new = |field: &str| applied.get("spec").and_then(|spec| spec.get(field)).unwrap_or(&Value::Null);
    let mut errors = Vec::new();
    match kind {
        "Deployment" | "ReplicaSet" | "DaemonSet" => {
            let selector = new("selector");
            let differs = match live.get("selector") {
                Some(live) => !merge::is_same(live, selector),
                // A controller releases pods that its selector does not match.
                None => serde_json::from_value::<LabelSelector>(selector.clone())
                    .is_ok_and(|selector| !selector.is_empty() && pods.iter().any(|pod| !selector.matches(&pod.metadata.labels))),
            };
            if differs && text(applied, "/apiVersion").starts_with("apps/") && !selector.is_null() {
                errors.push(is_immutable("spec.selector", selector));
            }
        }
        "StatefulSet" if is_whole => {
            const MAY_CHANGE: [&str; 7] = [
                "replicas",
                "ordinals",
                "template",
                "updateStrategy",
                "revisionHistoryLimit",
                "persistentVolumeClaimRetentionPolicy",
                "minReadySeconds",
            ];
            let rest = |spec: &Value| {
                let mut spec = spec.clone();
                if let Some(fields) = spec.as_object_mut() {
                    fields.retain(|name, _| !MAY_CHANGE.contains(&name.as_str()));
                }
                spec
            };
            if !merge::is_same(&rest(live), &rest(&applied["spec"])) {
                let detail = "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                    'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
                errors.push(FieldError { path: "spec".to_owned(), detail: detail.to_owned() });
            }
        }
        "Job" => {
            let (completions, known) = (new("completions"), live.get("completions"));
            let is_elastic = new("completionMode") == "Indexed" && completions == new("parallelism");
            if known.is_some_and(|known| !merge::is_same(known, completions)) && !is_elastic {
                errors.push(is_immutable("spec.completions", completions));
            }
        }
        _ => {}
    }
    errors
}

/// Returns the error of a Job whose template changes: by what is known of the live template, or as its pods have other requests, images
/// or node selectors.
fn changes_of_job(live: &Value, applied: &Value, pods: &[Arc<Pod>]) -> Vec<FieldError> {
    let error = |of: &str, value: &Value| {
        let detail = format!("Invalid value: {value}: field is immutable");
        vec![FieldError { path: format!("spec.template{of}"), detail }]
    };
    // Of a Job that has not begun, what decides about scheduling may change.
    if live.get("suspend") == Some(&Value::Bool(true)) {
        return Vec::new();
    }
    let none = Value::Null;
    let new = applied.pointer("/spec/template/spec").unwrap_or(&none);
    let known = live.pointer("/template/spec").and_then(Value::as_object);
    for (name, value) in known.into_iter().flatten() {
        if !merge::is_same(value, new.get(name).unwrap_or(&none)) {
            return error(&format!(".spec.{name}"), new.get(name).unwrap_or(&none));
        }
    }
    let Some(pod) = pods.iter().max_by_key(|pod| (pod.metadata.creation_timestamp, pod.key())) else { return Vec::new() };
    let containers = new.get("containers").and_then(Value::as_array);
    for container in containers.into_iter().flatten() {
        let name = text(container, "/name");
        let Some(own) = pod.spec.containers.iter().find(|own| own.name == name) else { continue };
        let requests = serde_json::to_value(&own.resources.requests).unwrap_or(Value::Null);
        let asked = container.pointer("/resources/requests").and_then(Value::as_object);
        for (resource, amount) in asked.into_iter().flatten() {
            if !merge::is_same(requests.get(resource).unwrap_or(&none), amount) {
                return error(&format!(".spec.containers[{name}].resources.requests[{resource}]"), amount);
            }
        }
        let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
        if !image.is_empty() && !own.image.is_empty() && own.image != image {
            return error(&format!(".spec.containers[{name}].image"), &json!(image));
        }
    }
    Vec::new()
}

/// Returns the error of a pod of which more changes than an API server allows; mirrors `ValidatePodUpdate` in
/// `pkg/apis/core/validation/validation.go`.
fn changes_of_pod(live: &Value, manifest: &Value) -> Vec<FieldError> {
    let none = Value::Null;
    let (old, new) = (live.get("spec").unwrap_or(&none), manifest.get("spec").unwrap_or(&none));
    let last = last_applied(live);
    let merged = merge::apply(old, last.get("spec").unwrap_or(&none), new);
    // A gated pod may get further node selectors.
    let is_gated = old.get("schedulingGates").and_then(Value::as_array).is_some_and(|gates| !gates.is_empty());
    let rest = |spec: &Value| {
        let mut spec = spec.clone();
        let Some(fields) = spec.as_object_mut() else { return spec };
        for name in ["activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"] {
            fields.remove(name);
        }
        if is_gated {
            fields.remove("nodeSelector");
            fields.remove("affinity");
        }
        for list in ["containers", "initContainers"] {
            for container in fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                container.as_object_mut().map(|container| container.remove("image"));
            }
        }
        spec
    };
    if merge::is_same(&rest(old), &rest(&merged)) {
        return Vec::new();
    }
    let detail = "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
        `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` \
        (allow it to be set to 1 if it was previously negative)";
    vec![FieldError { path: "spec".to_owned(), detail: detail.to_owned() }]
}
