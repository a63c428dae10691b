//! Deployments, ReplicaSets, ReplicationControllers, StatefulSets.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{FieldError, Found, Hold, Owner, Revision, Surge, Unfolded, UnfoldedPod, Update, Work, checked, suffix, surplus, whole};
use crate::admission::TemplatedPod;
use crate::cluster::storage::PersistentVolumeClaim;
use crate::cluster::{Key, Str};

/// Unfolds a Deployment: pods of a ReplicaSet that exists, or of a new one, which is named after the hash of its template.
pub(super) fn deployment(work: &Work<'_>, revision: Option<&Revision>) -> Found {
    let mut errors = Vec::new();
    let wanted = work.replicas(&mut errors);
    let template = work.template(&["Always"], &mut errors);
    work.check_selector(template, &mut errors);
    let Revision { name: set, uid, hash } = revision.cloned().unwrap_or_else(|| {
        let hash = suffix(&[&template.to_string()], 10);
        let set = format!("{}-{hash}", work.key.name);
        Revision { uid: format!("new-{}", suffix(&[&work.uid, &set], 16)).into(), name: set.into(), hash: hash.into() }
    });
    let owner = Owner { api_version: "apps/v1", kind: "ReplicaSet", name: &set, uid: &uid };
    let mut found = Unfolded { surge: surge(work, wanted, &mut errors), ..work.unfolded(wanted) };
    found.controllers = vec![("ReplicaSet".into(), Key::new(work.key.namespace.clone(), set.as_str()))];
    // A paused Deployment makes no ReplicaSet, and scales the one that it has.
    if work.spec("paused").and_then(Value::as_bool) == Some(true) && revision.is_none() {
        found.hold = Some(Hold::Paused);
    }
    found.pods = work.pods(template, &owner, work.made(wanted));
    found.pods.iter_mut().for_each(|pod| pod.pod.set_label("pod-template-hash", &hash));
    checked(found, errors)
}

/// Reads the numbers of a rolling update; mirrors `ResolveFenceposts` in `pkg/controller/deployment/util`.
fn surge(work: &Work<'_>, wanted: u64, errors: &mut Vec<FieldError>) -> Surge {
    match work.spec("strategy/type").and_then(Value::as_str) {
        None | Some("RollingUpdate") => {}
        Some("Recreate") => return Surge { recreates: true, ..Surge::default() },
        Some(other) => {
            let detail = format!("Unsupported value: \"{other}\": supported values: \"Recreate\", \"RollingUpdate\"");
            errors.push(FieldError { path: "spec.strategy.type".to_owned(), detail });
        }
    }
    let mut read = |field: &str, up: bool| {
        let value = work.spec(&format!("strategy/rollingUpdate/{field}")).cloned().unwrap_or_else(|| json!("25%"));
        share(&value, wanted, up, &format!("spec.strategy.rollingUpdate.{field}"), errors)
    };
    let (above, below) = (read("maxSurge", true), read("maxUnavailable", false));
    let is_none = |field: &str| work.spec(&format!("strategy/rollingUpdate/{field}")).is_some_and(is_zero);
    if is_none("maxSurge") && is_none("maxUnavailable") {
        let (path, detail) = ("spec.strategy.rollingUpdate.maxUnavailable", "Invalid value: 0: may not be 0 when `maxSurge` is 0");
        errors.push(FieldError { path: path.to_owned(), detail: detail.to_owned() });
    }
    // Both 0 would never get on.
    Surge { above, below: if above == 0 && below == 0 { 1 } else { below }, recreates: false }
}

/// Returns whether a number of pods, or a share of them, is given as none.
pub(super) fn is_zero(value: &Value) -> bool {
    value.as_i64() == Some(0) || value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<u64>().ok()) == Some(0)
}

/// Returns a number of pods, or a share of those that are wanted.
pub(super) fn share(value: &Value, wanted: u64, up: bool, path: &str, errors: &mut Vec<FieldError>) -> u64 {
    let Some(text) = value.as_str() else { return whole(value, path, 0, errors) };
    let Some(percent) = text.strip_suffix('%').and_then(|number| number.parse::<u64>().ok()) else {
        let detail = format!("Invalid value: \"{text}\": must be an integer or percentage (e.g '5%%')");
        errors.push(FieldError { path: path.to_owned(), detail });
        return 0;
    };
    let parts = wanted.saturating_mul(percent);
    if up { parts.div_ceil(100) } else { parts / 100 }
}

/// Unfolds a ReplicaSet, a ReplicationController, or a kind like them.
pub(super) fn replica_set(work: &Work<'_>) -> Found {
    let mut errors = Vec::new();
    let wanted = work.replicas(&mut errors);
    let is_known = matches!(work.kind.as_str(), "ReplicaSet" | "ReplicationController");
    let template = work.template(if is_known { &["Always"] } else { &[] }, &mut errors);
    if is_known {
        work.check_selector(template, &mut errors);
    }
    let mut found = work.unfolded(wanted);
    if is_known {
        found.update = Update::New;
    }
    found.pods = work.pods(template, &work.owner(), work.made(wanted));
    checked(found, errors)
}

/// Reads which pods a changed template replaces.
pub(super) fn update(work: &Work<'_>, errors: &mut Vec<FieldError>) -> Update {
    match work.spec("updateStrategy/type").and_then(Value::as_str) {
        None | Some("RollingUpdate") => Update::All,
        Some("OnDelete") => Update::Deleted,
        Some(other) => {
            let detail = format!("Unsupported value: \"{other}\": supported values: \"OnDelete\", \"RollingUpdate\"");
            errors.push(FieldError { path: "spec.updateStrategy.type".to_owned(), detail });
            Update::All
        }
    }
}

/// Unfolds a StatefulSet: pods with ordinals, each with its claims.
pub(super) fn stateful_set(work: &Work<'_>) -> Found {
    let mut errors = Vec::new();
    let wanted = work.replicas(&mut errors);
    let template = work.template(&["Always"], &mut errors);
    work.check_selector(template, &mut errors);
    let start = work.number("ordinals/start", 0, &mut errors);
    let revision = format!("{}-{}", work.key.name, suffix(&[&template.to_string()], 10));
    let claims = ClaimTemplates::read(work, &mut errors);
    let is_parallel = work.spec("podManagementPolicy").and_then(Value::as_str) == Some("Parallel");
    let below = work.spec("updateStrategy/rollingUpdate/maxUnavailable").cloned().unwrap_or_else(|| json!(1));
    let surge =
        Surge { below: share(&below, wanted, true, "spec.updateStrategy.rollingUpdate.maxUnavailable", &mut errors), ..Surge::default() };
    let update = match update(work, &mut errors) {
        Update::All => match work.number("updateStrategy/rollingUpdate/partition", 0, &mut errors) {
            0 => Update::All,
            partition => Update::From(partition),
        },
        other => other,
    };
    let mut found = Unfolded { is_ordered: !is_parallel, surge, update, ..work.unfolded(wanted) };
    let shared = Work::shared(template);
    // One more than there is room for, so that the rest is known to be left out.
    let most = work.options.most_bytes.checked_div(surplus(shared.size(), claims.size)).map_or(usize::MAX, |most| most.saturating_add(1));
    for at in 0..work.made(wanted).min(most) as u64 {
        let ordinal = (start + at).to_string();
        let name = format!("{}-{ordinal}", work.key.name);
        let mut pod = work.pod(&shared, &name, &work.owner());
        pod.set_label("statefulset.kubernetes.io/pod-name", &name);
        pod.set_label("apps.kubernetes.io/pod-index", &ordinal);
        pod.set_label("controller-revision-hash", &revision);
        let made = claims.make(work, &mut pod);
        found.pods.push(UnfoldedPod { claims: made, claims_size: claims.size, ..UnfoldedPod::plain(pod) });
    }
    checked(found, errors)
}

/// How many times the length of its JSON a claim takes, with the pod's volume.
const SIZE_IN_MEMORY: usize = 4;

/// The claims that a StatefulSet makes for each of its pods.
struct ClaimTemplates {
    /// With the names of the volumes.
    claims: Vec<(String, PersistentVolumeClaim)>,
    /// The volumes that the template of the pods has besides.
    volumes: Vec<Value>,
    /// Length of a pod's claims and volumes as JSON, [`SIZE_IN_MEMORY`] times.
    size: usize,
}

impl ClaimTemplates {
    fn read(work: &Work<'_>, errors: &mut Vec<FieldError>) -> Self {
        let templates = work.spec("volumeClaimTemplates").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let name = |template: &'_ Value| template.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        // Of templates with one name the last counts.
        let mut seen = HashSet::new();
        let last: Vec<&Value> = templates.iter().rev().filter(|template| seen.insert(name(template))).collect();
        let mut claims = Vec::new();
        for template in last.into_iter().rev() {
            match serde_json::from_value::<PersistentVolumeClaim>(template.clone()) {
                Ok(claim) => claims.push((name(template), claim)),
                Err(error) => {
                    let path = format!("spec.volumeClaimTemplates[{}]", name(template));
                    errors.push(FieldError { path, detail: error.to_string() });
                }
            }
        }
        let volumes = work.spec("template/spec/volumes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let volumes: Vec<Value> = if claims.is_empty() {
            Vec::new()
        } else {
            volumes.iter().filter(|volume| !volume["name"].as_str().is_some_and(|name| seen.contains(name))).cloned().collect()
        };
        let length = |values: &[Value]| serde_json::to_vec(values).map_or(usize::MAX, |text| text.len());
        let size = if claims.is_empty() { 0 } else { length(templates).saturating_add(length(&volumes)).saturating_mul(SIZE_IN_MEMORY) };
        Self { claims, volumes, size }
    }

    /// Makes the claims of a pod, and names them in its volumes.
    fn make(&self, work: &Work<'_>, pod: &mut TemplatedPod) -> Vec<PersistentVolumeClaim> {
        if self.claims.is_empty() {
            return Vec::new();
        }
        let pod_name = pod.key().name;
        let mut volumes = self.volumes.clone();
        let made = self.claims.iter().map(|(volume, claim)| {
            let name = format!("{volume}-{pod_name}");
            volumes.push(json!({"name": volume, "persistentVolumeClaim": {"claimName": name}}));
            let mut claim = claim.clone();
            claim.metadata.name = Str::from(name);
            claim.metadata.namespace = work.key.namespace.clone();
            claim
        });
        let made = made.collect();
        pod.set_volumes(volumes.into());
        made
    }
}
