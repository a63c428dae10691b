//! Workloads of a manifest, unfolded to the pods that their controllers would make.
//!
//! Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets, Jobs, CronJobs, JobSets, LeaderWorkerSets, and
//! any other kind with `spec.template.spec.containers`, as it were a ReplicaSet. A bare pod is itself.

mod batch;
mod claims;
mod daemon;
mod sets;
#[cfg(test)]
mod tests;

pub(crate) use claims::{claim_defaults, create_with_claims};

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::pods::suffix;
use crate::admission::{FieldError, PodTemplate, TemplatedPod, mount_errors, template_errors};
use crate::cluster::storage::PersistentVolumeClaim;
use crate::cluster::{Cluster, Key, LabelSelector, Labels, Str};
use crate::limits::engine::MANIFEST_POD;
use crate::release::Emulation;

/// The pods of a workload.
#[derive(Clone, Debug)]
pub struct Unfolded {
    /// The kind of the object in the manifest.
    pub kind: Str,
    pub key: Key,
    /// The controllers that own pods, with their kinds: of a Deployment, its new ReplicaSet.
    pub controllers: Vec<(Str, Key)>,
    /// The number of pods that the workload wants at once.
    pub wanted: u64,
    /// The number that it makes later, when others have completed.
    pub later: u64,
    /// The pods, in the order in which they are made; at most as many as were asked for.
    pub pods: Vec<UnfoldedPod>,
    /// Each pod is made only when the one before is ready.
    pub is_ordered: bool,
    /// The numbers of pods that a rollout keeps.
    pub surge: Surge,
    /// Which pods a changed template replaces.
    pub update: Update,
    /// Why no pods are made for now.
    pub hold: Option<Hold>,
}

/// One pod of a workload before admission.
#[derive(Clone, Debug)]
pub struct UnfoldedPod {
    pub pod: TemplatedPod,
    /// The claims that a StatefulSet makes for it, if they do not exist.
    pub claims: Vec<PersistentVolumeClaim>,
    /// Length of its claims and volumes as JSON, about.
    claims_size: usize,
    /// The part of the workload that it belongs to: a replicated Job of a JobSet, the leader or the workers of a group.
    pub part: u32,
    /// The parts whose pods must be ready before it is made.
    pub after: Vec<u32>,
}

/// Which pods a changed template replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// All of them.
    #[default]
    All,
    /// Those of a StatefulSet from this place on, counted from its first ordinal.
    From(u64),
    /// Those that are deleted by hand: `OnDelete`.
    Deleted,
    /// None: a ReplicaSet and a ReplicationController take a template for new pods only.
    New,
}

/// The ReplicaSet to which a Deployment's pods belong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    pub name: Str,
    pub uid: Str,
    /// The value of `pod-template-hash`.
    pub hash: Str,
}

/// Why a workload makes no pods for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Hold {
    /// A Deployment without a ReplicaSet is paused.
    Paused,
    /// A Job, CronJob or JobSet is suspended.
    Suspended,
}

/// The numbers of pods that a rollout keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surge {
    /// Pods beyond those that are wanted.
    pub above: u64,
    /// Pods that may be missing.
    pub below: u64,
    /// All old pods go before new ones are made.
    pub recreates: bool,
}

/// Options of unfolding.
#[derive(Clone, Copy, Debug)]
pub struct UnfoldOptions<'a> {
    /// The namespace of a workload that names none.
    pub namespace: &'a str,
    /// The number of replicas, or of a Job's pods, in place of the manifest's.
    pub replicas: Option<u64>,
    /// The number of pods that are made at most.
    pub most: usize,
    /// Bytes of claims and of long pods that are made at most, about; see [`pods_within`].
    pub most_bytes: usize,
    /// The release, whose API server names labels and fields.
    pub emulation: Emulation,
    /// The time of creation.
    pub now: jiff::Timestamp,
}

/// A workload that an API server would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidWorkload {
    pub kind: Str,
    pub key: Key,
    /// The fields that are missing or invalid.
    pub errors: Vec<FieldError>,
}

/// Writes the error that the API server returns.
impl fmt::Display for InvalidWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: Vec<String> = self.errors.iter().map(ToString::to_string).collect();
        write!(f, "{} \"{}\" is invalid: {}", self.kind, self.key.name, errors.join(", "))
    }
}

impl std::error::Error for InvalidWorkload {}

/// Unfolds an object of a manifest; `None` for objects that make no pods.
///
/// # Errors
/// When an API server would refuse the workload.
pub fn unfold(cluster: &Cluster, object: &Value, options: &UnfoldOptions<'_>) -> Result<Option<Unfolded>, InvalidWorkload> {
    unfold_for(cluster, object, options, None)
}

/// Unfolds an object as [`unfold`] does; the pods of a Deployment for a ReplicaSet that exists, if one is given.
///
/// # Errors
/// When an API server would refuse the workload.
pub fn unfold_for(
    cluster: &Cluster,
    object: &Value,
    options: &UnfoldOptions<'_>,
    revision: Option<&Revision>,
) -> Result<Option<Unfolded>, InvalidWorkload> {
    let work = Work::of(cluster, object, options);
    let group = work.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let unfolded = match (group, work.kind.as_str()) {
        ("", "Pod") => work.bare(),
        ("", "PodTemplate") => return Ok(None),
        ("apps" | "extensions", "Deployment") => sets::deployment(&work, revision),
        ("apps" | "extensions", "ReplicaSet") | ("", "ReplicationController") => sets::replica_set(&work),
        ("apps", "StatefulSet") => sets::stateful_set(&work),
        ("apps" | "extensions", "DaemonSet") => daemon::daemon_set(&work),
        ("batch", "Job") => batch::job(&work),
        ("batch", "CronJob") => batch::cron_job(&work),
        ("jobset.x-k8s.io", "JobSet") => batch::job_set(&work),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => batch::leader_worker_set(&work),
        _ if object.pointer("/spec/template/spec/containers").is_some_and(Value::is_array) => sets::replica_set(&work),
        _ => return Ok(None),
    };
    unfolded.map(Some).map_err(|errors| InvalidWorkload { kind: work.kind.clone(), key: work.key.clone(), errors })
}

type Found = Result<Unfolded, Vec<FieldError>>;

/// A workload with what unfolding needs.
struct Work<'a> {
    cluster: &'a Cluster,
    object: &'a Value,
    options: &'a UnfoldOptions<'a>,
    kind: Str,
    api_version: Str,
    key: Key,
    uid: Str,
}

/// The owner that a pod names.
struct Owner<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    uid: &'a str,
}

impl<'a> Work<'a> {
    fn of(cluster: &'a Cluster, object: &'a Value, options: &'a UnfoldOptions<'a>) -> Self {
        let text = |pointer: &str| Str::from(object.pointer(pointer).and_then(Value::as_str).unwrap_or_default());
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        let namespace = Some(text("/metadata/namespace")).filter(|n| !n.is_empty()).unwrap_or_else(|| options.namespace.into());
        let uid = Some(text("/metadata/uid")).filter(|uid| !uid.is_empty());
        let uid = uid.unwrap_or_else(|| format!("new-{}", suffix(&[&kind, &namespace, &name], 16)).into());
        Self { cluster, object, options, kind, api_version: text("/apiVersion"), key: Key { namespace, name }, uid }
    }

    /// Returns a field of the spec.
    fn spec(&self, pointer: &str) -> Option<&'a Value> {
        self.object.pointer(&format!("/spec/{pointer}")).filter(|value| !value.is_null())
    }

    /// Returns a whole number of the spec.
    fn number(&self, field: &str, default: u64, errors: &mut Vec<FieldError>) -> u64 {
        self.spec(field).map_or(default, |value| whole(value, &format!("spec.{field}"), default, errors))
    }

    /// Returns the replicas that are wanted.
    fn replicas(&self, errors: &mut Vec<FieldError>) -> u64 {
        let written = self.number("replicas", 1, errors);
        self.options.replicas.unwrap_or(written)
    }

    /// Returns the number of pods that are made of a number that is wanted.
    fn made(&self, wanted: u64) -> usize {
        usize::try_from(wanted).unwrap_or(usize::MAX).min(self.options.most)
    }

    /// Returns what the pods of a template share.
    fn shared(template: &Value) -> Arc<PodTemplate> {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {}});
        for field in ["labels", "annotations"] {
            if let Some(value) = template.pointer(&format!("/metadata/{field}")).filter(|value| value.is_object()) {
                pod["metadata"][field] = value.clone();
            }
        }
        if let Some(spec) = template.get("spec") {
            pod["spec"] = spec.clone();
        }
        PodTemplate::new(pod)
    }

    /// Returns a pod of a template, under a name.
    fn pod(&self, template: &Arc<PodTemplate>, name: &str, owner: &Owner<'_>) -> TemplatedPod {
        let reference =
            json!({"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid, "controller": true});
        let metadata = Map::from_iter([
            ("uid".to_owned(), json!(format!("new-{}", suffix(&[owner.uid, &self.key.namespace, name], 16)))),
            ("creationTimestamp".to_owned(), json!(self.options.now.to_string())),
            ("ownerReferences".to_owned(), json!([reference])),
        ]);
        TemplatedPod::new(template, &self.key.namespace, name, metadata)
    }

    /// Returns pods of a template under generated names, as `GenerateName` makes them.
    fn pods(&self, template: &Value, owner: &Owner<'_>, count: usize) -> Vec<UnfoldedPod> {
        let (template, mut names) = (Self::shared(template), Names::new(self.cluster, &self.key.namespace));
        (0..count).map(|_| UnfoldedPod::plain(self.pod(&template, &names.generate(owner.name, owner.uid), owner))).collect()
    }

    /// Returns this object as the owner of pods.
    fn owner(&self) -> Owner<'_> {
        Owner { api_version: &self.api_version, kind: &self.kind, name: &self.key.name, uid: &self.uid }
    }

    /// Returns an unfolded workload without pods, whose pods it owns itself.
    fn unfolded(&self, wanted: u64) -> Unfolded {
        Unfolded {
            kind: self.kind.clone(),
            key: self.key.clone(),
            controllers: vec![(self.kind.clone(), self.key.clone())],
            wanted,
            later: 0,
            pods: Vec::new(),
            is_ordered: false,
            surge: Surge::default(),
            update: Update::default(),
            hold: None,
        }
    }

    /// Returns a bare pod; with `replicas`, copies of it.
    fn bare(&self) -> Found {
        let mut errors = template_errors(self.object);
        errors.extend(mount_errors(self.object));
        if !errors.is_empty() {
            return Err(errors);
        }
        let wanted = self.options.replicas.unwrap_or(1);
        let mut names = Names::new(self.cluster, &self.key.namespace);
        let generate = self.object.pointer("/metadata/generateName").and_then(Value::as_str);
        let mut found = Unfolded { controllers: Vec::new(), ..self.unfolded(wanted) };
        let mut pod = self.object.clone();
        // Only the controller of the source may bind it or report about it.
        pod.as_object_mut().map(|pod| pod.remove("status"));
        let is_created = pod.pointer("/metadata/creationTimestamp").is_some_and(|time| !time.is_null());
        let template = PodTemplate::new(pod);
        for at in 0..self.made(wanted) {
            let name = match generate {
                Some(prefix) if self.key.name.is_empty() => names.generate(prefix.trim_end_matches('-'), prefix),
                _ if at == 0 => self.key.name.to_string(),
                _ => names.generate(&self.key.name, &self.uid),
            };
            let mut metadata = Map::from_iter([("uid".to_owned(), json!(format!("new-{}", suffix(&[&self.uid, &name], 16))))]);
            if !is_created {
                metadata.insert("creationTimestamp".to_owned(), json!(self.options.now.to_string()));
            }
            found.pods.push(UnfoldedPod::plain(TemplatedPod::new(&template, &self.key.namespace, &name, metadata)));
        }
        Ok(found)
    }

    /// Returns the template of the spec, and checks what the API requires of it.
    fn template(&self, restart: &[&str], errors: &mut Vec<FieldError>) -> &'a Value {
        let template = self.spec("template").unwrap_or(&Value::Null);
        check_template(template, "spec.template", restart, errors);
        // An API server does not look at those of a StatefulSet.
        if self.kind != "StatefulSet" {
            errors.extend(mount_errors(template).into_iter().map(|error| error.below("spec.template")));
        }
        template
    }

    /// Checks that the selector matches the labels of the template.
    fn check_selector(&self, template: &Value, errors: &mut Vec<FieldError>) {
        let Some(selector) = self.spec("selector") else {
            // Versions before `apps/v1` and ReplicationControllers take it from the labels.
            if self.api_version == "apps/v1" {
                errors.push(FieldError { path: "spec.selector".to_owned(), detail: "Required value".to_owned() });
            }
            return;
        };
        let labels: Labels = template.pointer("/metadata/labels").cloned().and_then(|l| serde_json::from_value(l).ok()).unwrap_or_default();
        let is_plain = self.kind == "ReplicationController";
        let parsed: Option<LabelSelector> = if is_plain {
            serde_json::from_value(selector.clone()).ok().map(|match_labels| LabelSelector { match_labels, ..LabelSelector::default() })
        } else {
            serde_json::from_value(selector.clone()).ok()
        };
        let matches = parsed.is_some_and(|selector| !selector.is_empty() && selector.matches(&labels));
        if !matches {
            let text: Vec<String> = labels.iter().map(|(key, value)| format!("\"{key}\":\"{value}\"")).collect();
            let detail = format!("Invalid value: {{{}}}: `selector` does not match template `labels`", text.join(", "));
            errors.push(FieldError { path: "spec.template.metadata.labels".to_owned(), detail });
        }
    }
}

impl UnfoldedPod {
    fn plain(pod: TemplatedPod) -> Self {
        Self { pod, claims: Vec::new(), claims_size: 0, part: 0, after: Vec::new() }
    }

    /// Returns by how many bytes the pod with its claims is longer than [`MANIFEST_POD`].
    fn surplus(&self) -> usize {
        surplus(self.pod.template().size(), self.claims_size)
    }
}

/// Returns by how many bytes a pod with its claims is longer than [`MANIFEST_POD`].
fn surplus(pod: usize, claims: usize) -> usize {
    pod.saturating_add(claims).saturating_sub(MANIFEST_POD)
}

/// Returns how many pods come before those for whose length too few bytes are left, and takes theirs.
pub fn pods_within(pods: &[UnfoldedPod], bytes_left: &mut usize) -> usize {
    let fits = |pod: &&UnfoldedPod| {
        let rest = bytes_left.checked_sub(pod.surplus());
        rest.map(|rest| *bytes_left = rest).is_some()
    };
    pods.iter().take_while(fits).count()
}

/// Reads a whole number of a manifest.
fn whole(value: &Value, path: &str, default: u64, errors: &mut Vec<FieldError>) -> u64 {
    let detail = match value.as_i64() {
        Some(number) if i32::try_from(number).is_ok() => match u64::try_from(number) {
            Ok(number) => return number,
            Err(_) => format!("Invalid value: {number}: must be greater than or equal to 0"),
        },
        _ => format!("Invalid value: {value}: must be a whole number of 32 bits"),
    };
    errors.push(FieldError { path: path.to_owned(), detail });
    default
}

/// Checks a template of pods: it has containers, one of the restart policies that the kind takes, and fields that the API takes.
fn check_template(template: &Value, path: &str, restart: &[&str], errors: &mut Vec<FieldError>) {
    let has_containers = template.pointer("/spec/containers").and_then(Value::as_array).is_some_and(|containers| !containers.is_empty());
    if !has_containers {
        errors.push(FieldError { path: format!("{path}.spec.containers"), detail: "Required value".to_owned() });
    }
    let policy = template.pointer("/spec/restartPolicy").and_then(Value::as_str);
    let is_default = policy.is_none() && restart.contains(&"Always");
    if !is_default && !restart.is_empty() && !policy.is_some_and(|policy| restart.contains(&policy)) {
        let list = restart.iter().map(|policy| format!("\"{policy}\"")).collect::<Vec<_>>().join(", ");
        let detail = match policy {
            Some(policy) => format!("Unsupported value: \"{policy}\": supported values: {list}"),
            None => format!("Required value: valid values: {list}"),
        };
        errors.push(FieldError { path: format!("{path}.spec.restartPolicy"), detail });
    }
    if has_containers {
        errors.extend(template_errors(template).into_iter().map(|error| error.below(path)));
    }
}

/// Returns the result of a workload, or its errors.
fn checked(found: Unfolded, errors: Vec<FieldError>) -> Found {
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

/// Makes free names, the same in every run.
struct Names<'a> {
    cluster: &'a Cluster,
    namespace: Str,
    made: u64,
    /// The names that were made.
    taken: HashSet<String>,
}

/// Length of a generated name before its five characters; mirrors `maxGeneratedNameLength`.
const GENERATED_BASE: usize = 57;

impl<'a> Names<'a> {
    fn new(cluster: &'a Cluster, namespace: &Str) -> Self {
        Self { cluster, namespace: namespace.clone(), made: 0, taken: HashSet::new() }
    }

    /// Returns a name that neither a pod of the cluster has nor one that was made: a base with five characters.
    fn generate(&mut self, base: &str, salt: &str) -> String {
        let base: String = base.chars().take(GENERATED_BASE).collect();
        loop {
            self.made += 1;
            let name = format!("{base}-{}", suffix(&[salt, &self.made.to_string()], 5));
            let is_known = self.cluster.pods.namespaced(&self.namespace, &Str::from(name.as_str())).is_some();
            if !is_known && self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
