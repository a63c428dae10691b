//! The claims that controllers make for a new pod: of a StatefulSet, of ephemeral volumes, of resource claim templates.

use std::sync::Arc;

use serde_json::Value;

use super::super::{Draft, Note};
use super::UnfoldedPod;
use crate::cluster::resource::ResourceClaim;
use crate::cluster::storage::PersistentVolumeClaim;
use crate::cluster::{Cluster, Key, Object, OwnerReference, Pod, PodResourceClaimStatus, Str};

/// The mark of the default storage class.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Creates an admitted pod of a workload with its claims.
pub(crate) fn create_with_claims(draft: &mut Draft, unfolded: &UnfoldedPod, mut pod: Pod, notes: &mut Vec<Note>) {
    for claim in &unfolded.claims {
        put_claim(draft, claim.clone(), notes);
    }
    let empty = Vec::new();
    let volumes = unfolded.pod.volumes().as_array().unwrap_or(&empty);
    for volume in volumes {
        let Some(template) = volume.pointer("/ephemeral/volumeClaimTemplate") else { continue };
        let Ok(mut claim) = serde_json::from_value::<PersistentVolumeClaim>(template.clone()) else { continue };
        let name = volume.get("name").and_then(Value::as_str).unwrap_or_default();
        claim.metadata.name = Str::from(format!("{}-{name}", pod.metadata.name));
        claim.metadata.namespace = pod.metadata.namespace.clone();
        claim.metadata.owner_references = vec![OwnerReference::to_pod(&pod)].into();
        put_claim(draft, claim, notes);
    }
    let mut statuses: Vec<PodResourceClaimStatus> = Vec::new();
    for entry in &pod.spec.resource_claims.clone() {
        let Some(template) = &entry.resource_claim_template_name else { continue };
        let key = Key { namespace: pod.metadata.namespace.clone(), name: template.clone() };
        let Some(template) = draft.cluster().resource_claim_templates.get(&key).cloned() else {
            // The pod waits until the template exists.
            Note::NoClaim(key).add_to(notes);
            continue;
        };
        let name = Str::from(format!("{}-{}", pod.metadata.name, entry.name));
        let mut claim = ResourceClaim { spec: template.spec.spec.clone(), ..ResourceClaim::default() };
        claim.metadata.name = name.clone();
        claim.metadata.namespace = pod.metadata.namespace.clone();
        claim.metadata.uid = format!("{}-{}", pod.metadata.uid, entry.name).into();
        claim.metadata.creation_timestamp = pod.metadata.creation_timestamp;
        claim.metadata.owner_references = vec![OwnerReference::to_pod(&pod)].into();
        claim.metadata.annotations.insert("resource.kubernetes.io/pod-claim-name".into(), entry.name.clone());
        draft.put(Object::ResourceClaim(Arc::new(claim)));
        statuses.push(PodResourceClaimStatus { name: entry.name.clone(), resource_claim_name: Some(name) });
    }
    if !statuses.is_empty() {
        pod.status.resource_claim_statuses = statuses.into();
    }
    draft.put(Object::Pod(Arc::new(pod)));
}

/// Creates a claim, unless it exists. One that names no class gets the default class.
fn put_claim(draft: &mut Draft, mut claim: PersistentVolumeClaim, notes: &mut Vec<Note>) {
    if draft.cluster().persistent_volume_claims.get(&claim.metadata.key()).is_some() {
        return;
    }
    claim_defaults(draft.cluster(), &mut claim);
    let class = claim.spec.storage_class_name.as_ref().and_then(|name| draft.cluster().storage_classes.named(name));
    if class.is_some_and(|class| class.volume_binding_mode.as_deref() != Some("WaitForFirstConsumer")) {
        Note::ImmediateClaim(claim.metadata.key()).add_to(notes);
    }
    draft.put(Object::PersistentVolumeClaim(Arc::new(claim)));
}

/// Sets the defaults of a claim: phase, volume mode, uid, and the default storage class.
pub(crate) fn claim_defaults(cluster: &Cluster, claim: &mut PersistentVolumeClaim) {
    if claim.status.phase.is_empty() {
        claim.status.phase = "Pending".into();
    }
    if claim.metadata.uid.is_empty() {
        claim.metadata.uid = format!("new-{}", super::suffix(&[&claim.metadata.namespace, &claim.metadata.name], 16)).into();
    }
    claim.spec.volume_mode.get_or_insert_with(|| "Filesystem".into());
    let has_class =
        claim.spec.storage_class_name.is_some() || claim.metadata.annotations.contains_key("volume.beta.kubernetes.io/storage-class");
    if !has_class {
        let is_default = |meta: &crate::cluster::Meta| meta.annotations.get(DEFAULT_CLASS).is_some_and(|value| value == "true");
        // Of several the API server takes the newest, and of those the first by name.
        let classes = cluster.storage_classes.iter().filter(|class| is_default(&class.metadata));
        let newest = classes.max_by_key(|class| (class.metadata.creation_timestamp, std::cmp::Reverse(class.metadata.name.clone())));
        claim.spec.storage_class_name = newest.map(|class| class.metadata.name.clone());
    }
}
