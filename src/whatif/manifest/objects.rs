//! The objects of a manifest that make no pods: applied as `kubectl apply` does.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::answer::ManifestAnswer;
use super::{ManifestProblem, ManifestRequest};
use crate::admission::Admission;
use crate::cluster::{Cluster, Key, Kind, LabelSelector, Object, Pod, Str};
use crate::controllers::unfold::{Unfolded, claim_defaults};
use crate::controllers::{Draft, Workload};

pub(super) fn kind_of(object: &Value) -> Str {
    Str::from(text(object, "/kind"))
}

/// Returns the kind and the key of an object that has a namespace.
pub(super) fn name_of(object: &Value) -> (Str, Key) {
    (kind_of(object), Key::new(text(object, "/metadata/namespace"), text(object, "/metadata/name")))
}

pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether an object makes pods, or is one.
pub fn makes_pods(object: &Value) -> bool {
    let (api_version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let is_known = matches!(
        (group, kind),
        ("", "Pod" | "ReplicationController")
            | ("apps" | "extensions", "Deployment" | "ReplicaSet" | "DaemonSet")
            | ("apps", "StatefulSet")
            | ("batch", "Job" | "CronJob")
            | ("jobset.x-k8s.io", "JobSet")
            | ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
    );
    is_known || (kind.parse::<Kind>().is_err() && object.pointer("/spec/template/spec/containers").is_some_and(Value::is_array))
}

pub(super) fn with_namespace(object: &Value, namespace: &Str) -> Value {
    let mut object = object.clone();
    let may_be_set = object.get("metadata").is_none_or(|metadata| metadata.is_object() || metadata.is_null());
    if text(&object, "/metadata/namespace").is_empty() && may_be_set {
        object["metadata"]["namespace"] = json!(namespace.as_str());
    }
    object
}

/// Applies an object that makes no pods.
pub(super) fn apply(
    draft: &mut Draft,
    admission: &mut Admission,
    at: usize,
    object: &Value,
    request: &ManifestRequest,
    answer: &mut ManifestAnswer,
) -> Result<(), ManifestProblem> {
    let kind = kind_of(object);
    let placed = with_namespace(object, &request.namespace);
    if admission.learn(&placed).map_err(|error| problem(at, &placed, error.to_string()))? {
        *answer.applied.entry(kind).or_default() += 1;
        return Ok(());
    }
    let group = text(object, "/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let Some(known) = kind.parse::<Kind>().ok().filter(|known| known.group() == group) else {
        *answer.skipped.entry(kind).or_default() += 1;
        return Ok(());
    };
    let object = if known.namespaced() { placed } else { object.clone() };
    put(draft, at, known, &object)?;
    *answer.applied.entry(kind).or_default() += 1;
    Ok(())
}

/// Creates an object, or merges it into the one that exists.
fn put(draft: &mut Draft, at: usize, kind: Kind, object: &Value) -> Result<(), ManifestProblem> {
    let key = Key::new(text(object, "/metadata/namespace"), text(object, "/metadata/name"));
    let merged = match draft.cluster().get(kind, &key) {
        Some(known) => {
            let mut value = serde_json::to_value(&known).map_err(|error| problem(at, object, error.to_string()))?;
            merge(&mut value, object);
            value
        }
        None => object.clone(),
    };
    if let Some(known) = draft.cluster().get(kind, &key) {
        check_immutable(kind, &known, &merged).map_err(|error| problem(at, object, error))?;
    }
    let mut read = Object::deserialize_kind(kind, &merged).map_err(|error| problem(at, object, error.to_string()))?;
    if let Object::PersistentVolumeClaim(claim) = &mut read {
        claim_defaults(draft.cluster(), Arc::make_mut(claim));
    }
    if draft.cluster().get(kind, &key).as_ref() != Some(&read) {
        draft.put(read);
    }
    Ok(())
}

/// Returns the error of an immutable field that changes; mirrors the update validations of `pkg/apis/scheduling/validation` and
/// `pkg/apis/storage/validation`.
fn check_immutable(kind: Kind, known: &Object, merged: &Value) -> Result<(), String> {
    let fields: &[(&str, &str)] = match kind {
        Kind::PriorityClass => &[
            ("value", "value: Forbidden: may not be changed in an update."),
            ("preemptionPolicy", "preemptionPolicy: Invalid value: field is immutable"),
        ],
        Kind::StorageClass => &[
            ("provisioner", "provisioner: Forbidden: updates to provisioner are forbidden."),
            ("volumeBindingMode", "volumeBindingMode: Invalid value: field is immutable"),
        ],
        _ => return Ok(()),
    };
    let known = serde_json::to_value(known).map_err(|error| error.to_string())?;
    let differs = |name: &str| known.get(name).is_some_and(|known| !known.is_null() && merged.get(name) != Some(known));
    fields.iter().find(|(name, _)| differs(name)).map_or(Ok(()), |(_, error)| Err((*error).to_owned()))
}

/// Puts the fields of a value over those of another.
pub(in crate::whatif) fn merge(value: &mut Value, patch: &Value) {
    match (value, patch) {
        (Value::Object(fields), Value::Object(patch)) => {
            for (name, patch) in patch {
                merge(fields.entry(name.clone()).or_insert(Value::Null), patch);
            }
        }
        (value, patch) => *value = patch.clone(),
    }
}

fn problem(at: usize, object: &Value, error: String) -> ManifestProblem {
    let key = Key::new(text(object, "/metadata/namespace"), text(object, "/metadata/name"));
    ManifestProblem::Object { at, kind: kind_of(object), key, error }
}

/// Creates the controller of a workload's pods, as far as scheduling reads it: default spreading counts by its selector.
pub(super) fn put_controller(draft: &mut Draft, at: usize, object: &Value, found: &Unfolded) -> Result<(), ManifestProblem> {
    let Some(owner) = found.pods.first().and_then(|pod| pod.pod.owner()) else { return Ok(()) };
    let (kind, name) = (text(owner, "/kind"), text(owner, "/name"));
    let Ok(kind) = kind.parse::<Kind>() else { return Ok(()) };
    let namespace = found.key.namespace.as_str();
    let mut selector = object.pointer("/spec/selector").cloned().unwrap_or_else(|| {
        let labels = object.pointer("/spec/template/metadata/labels").cloned().unwrap_or_else(|| json!({}));
        if kind == Kind::ReplicationController { labels } else { json!({"matchLabels": labels}) }
    });
    let mut metadata = json!({"name": name, "namespace": namespace, "uid": text(owner, "/uid")});
    if found.kind == "Deployment" {
        let hash = found.pods[0].pod.label("pod-template-hash").cloned().unwrap_or_default();
        selector["matchLabels"]["pod-template-hash"] = hash;
        metadata["ownerReferences"] =
            json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": found.key.name.as_str(), "uid": "", "controller": true}]);
    } else if kind_of(object) != kind.to_string().as_str() {
        return Ok(());
    }
    if draft.cluster().get(kind, &Key::new(namespace, name)).is_some() {
        return Ok(());
    }
    put(draft, at, kind, &json!({"metadata": metadata, "spec": {"selector": selector}}))
}

/// The living pods of a cluster by owner, of the namespaces that were asked for.
#[derive(Default)]
pub(super) struct OwnedPods(HashMap<Str, OfNamespace>);

/// The pods of a namespace, by kind and name of what owns them.
#[derive(Default)]
struct OfNamespace {
    by_workload: HashMap<(Str, Str), Vec<Arc<Pod>>>,
    by_controller: HashMap<(Str, Str), Vec<Arc<Pod>>>,
    /// Those without a controller, by each of their labels.
    orphans: HashMap<(Str, Str), Vec<Arc<Pod>>>,
}

fn is_living(pod: &Pod) -> bool {
    !pod.is_terminal() && !pod.is_terminating()
}

impl OwnedPods {
    fn of_namespace(&mut self, cluster: &Cluster, namespace: &Str) -> &OfNamespace {
        self.0.entry(namespace.clone()).or_insert_with_key(|namespace| {
            let mut known = OfNamespace::default();
            for pod in cluster.pods.in_namespace(namespace).filter(|pod| is_living(pod)) {
                if let Some(of) = Workload::of(cluster, pod).filter(|of| of.key.namespace == *namespace) {
                    known.by_workload.entry((of.kind, of.key.name)).or_default().push(pod.clone());
                }
                match pod.metadata.controller() {
                    Some(owner) => {
                        known.by_controller.entry((owner.kind.clone(), owner.name.clone())).or_default().push(pod.clone());
                    }
                    None => {
                        for (label, value) in pod.metadata.labels.iter() {
                            known.orphans.entry((label.clone(), value.clone())).or_default().push(pod.clone());
                        }
                    }
                }
            }
            known
        })
    }

    /// Returns the living pods of a workload or a controller, by name. The pods of a namespace and their owners are those of the cluster
    /// in the first call for it.
    pub(super) fn of_workload(&mut self, cluster: &Cluster, kind: &Str, key: &Key) -> Vec<Arc<Pod>> {
        let known = self.of_namespace(cluster, &key.namespace);
        let id = (kind.clone(), key.name.clone());
        by_name(known.by_workload.get(&id).into_iter().chain(known.by_controller.get(&id)).flatten().cloned().collect())
    }

    /// Returns the living pods that a workload owns, by itself or through its controllers, and those that it adopts, by name.
    pub(super) fn of(&mut self, cluster: &Cluster, object: &Value, found: &Unfolded) -> Vec<Arc<Pod>> {
        if found.kind == "Pod" {
            return cluster.pods.get(&found.key).filter(|pod| is_living(pod)).cloned().into_iter().collect();
        }
        let known = self.of_namespace(cluster, &found.key.namespace);
        let whole = known.by_workload.get(&(found.kind.clone(), found.key.name.clone()));
        let through = found.controllers.iter().filter_map(|(kind, key)| known.by_controller.get(&(kind.clone(), key.name.clone())));
        let mut pods: Vec<Arc<Pod>> = whole.into_iter().chain(through).flatten().cloned().collect();
        pods.extend(known.adopted(object, found));
        by_name(pods)
    }
}

fn by_name(mut pods: Vec<Arc<Pod>>) -> Vec<Arc<Pod>> {
    pods.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    pods.dedup_by(|a, b| a.metadata.name == b.metadata.name);
    pods
}

impl OfNamespace {
    /// Returns the pods without a controller that a workload's selector matches; mirrors `ClaimPods` in
    /// `pkg/controller/controller_ref_manager.go`. The pods of a Deployment and of a Job have labels that no other pod has.
    fn adopted(&self, object: &Value, found: &Unfolded) -> Vec<Arc<Pod>> {
        let selector = object.pointer("/spec/selector");
        let selector: Option<LabelSelector> = match found.kind.as_str() {
            "ReplicaSet" | "DaemonSet" | "StatefulSet" => selector.and_then(|selector| LabelSelector::deserialize(selector).ok()),
            "ReplicationController" => {
                let labels = selector.and_then(|selector| serde_json::from_value(selector.clone()).ok());
                labels.map(|match_labels| LabelSelector { match_labels, ..LabelSelector::default() })
            }
            _ => None,
        };
        let Some(selector) = selector else { return Vec::new() };
        let of = |(label, value): (&Str, &Str)| self.orphans.get(&(label.clone(), value.clone()));
        // Selectors without a label are rare, and their pods are left out.
        let fewest = selector.match_labels.iter().map(|pair| of(pair).map_or(&[][..], Vec::as_slice)).min_by_key(|pods| pods.len());
        let is_named = |pod: &Arc<Pod>| {
            let ordinal = pod.metadata.name.strip_prefix(found.key.name.as_str()).and_then(|rest| rest.strip_prefix('-'));
            found.kind != "StatefulSet" || ordinal.is_some_and(|ordinal| ordinal.parse::<u32>().is_ok())
        };
        fewest.into_iter().flatten().filter(|pod| selector.matches(&pod.metadata.labels) && is_named(pod)).cloned().collect()
    }
}
