//! The replacement of a pod that is gone, with the claims that are made for it.

use std::sync::Arc;

use jiff::Timestamp;

use super::Note;
use super::draft::Draft;
use super::jobs::{Removal, failed_job};
use crate::cluster::neighbors::Neighbors;
use crate::cluster::resource::{ResourceClaim, ResourceClaimStatus};
use crate::cluster::storage::PersistentVolumeClaim;
use crate::cluster::{
    Controller, Key, Kind, Object, OwnerReference, Pod, PodResourceClaimStatus, PodSpec, PodStatus, ResourceVersion, Str,
};

/// The characters of generated names; those of `k8s.io/apimachinery/pkg/util/rand`.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Number of generated characters.
const GENERATED: usize = 5;

/// Beginning of the uids of pods that are made as copies of others.
const MADE_HERE: &str = "what-if-";

/// Deletes a pod, with the claims that go with it. Frees the claims that it shared.
pub(crate) fn remove(draft: &mut Draft, pod: &Pod) {
    let namespace = &pod.metadata.namespace;
    for (_, claim) in generated_volume_claims(pod) {
        draft.delete(Kind::PersistentVolumeClaim, &Key { namespace: namespace.clone(), name: claim });
    }
    for entry in &pod.spec.resource_claims {
        let Some(key) = resource_claim_key(pod, &entry.name) else { continue };
        if entry.resource_claim_template_name.is_some() {
            draft.delete(Kind::ResourceClaim, &key);
            continue;
        }
        let Some(claim) = draft.cluster().resource_claims.get(&key) else { continue };
        let mut claim = ResourceClaim::clone(claim);
        claim.status.reserved_for.retain(|consumer| consumer.uid != pod.metadata.uid);
        if claim.status.reserved_for.is_empty() {
            // Its controller deallocates a claim without users.
            claim.status = ResourceClaimStatus::default();
        }
        draft.put(Object::ResourceClaim(Arc::new(claim)));
    }
    if let Some(extended) = &pod.status.extended_resource_claim_status {
        let key = Key { namespace: namespace.clone(), name: extended.resource_claim_name.clone() };
        draft.delete(Kind::ResourceClaim, &key);
    }
    draft.delete(Kind::Pod, &pod.key());
}

/// Returns the pod that a controller makes like another, pending, under a name that is free.
///
/// A StatefulSet keeps the name; everything else gets a generated one.
pub(crate) fn successor(draft: &Draft, pod: &Pod, now: Timestamp) -> Pod {
    let keeps_name = Controller::of(pod) == Controller::StatefulSet;
    let name = if keeps_name { pod.metadata.name.clone() } else { generated_name(draft, pod) };
    copy(pod, name, now)
}

/// Returns the pod that the controller makes in place of one that goes; `None` if none is made.
pub(crate) fn replacement(draft: &Draft, pod: &Pod, now: Timestamp, neighbors: &Neighbors, removal: Removal) -> Option<Pod> {
    if failed_job(neighbors, draft, pod, removal).is_some() {
        return None;
    }
    let keeps_name = Controller::of(pod) == Controller::StatefulSet;
    // Other controllers replace a pod when it begins to terminate.
    if pod.is_terminal() || pod.is_terminating() && !keeps_name {
        return None;
    }
    match Controller::of(pod) {
        Controller::None | Controller::DaemonSet | Controller::Node => None,
        Controller::StatefulSet | Controller::Workload | Controller::Unknown => Some(successor(draft, pod, now)),
    }
}

/// Returns a pending copy of a pod under a name.
pub(crate) fn copy(pod: &Pod, name: Str, now: Timestamp) -> Pod {
    let mut new = pod.clone();
    let uid = format!("{:016x}", hash(&[&pod.metadata.uid.text(), &pod.metadata.namespace, &name]));
    new.metadata.name = name;
    new.metadata.uid = format!("{MADE_HERE}{uid}").into();
    new.metadata.resource_version = ResourceVersion::default();
    new.metadata.creation_timestamp = Some(now);
    if new.metadata.deletion_timestamp.is_some() {
        new.metadata.deletion_timestamp = None;
    }
    if !new.metadata.finalizers.is_empty() {
        new.metadata.finalizers = Vec::new().into();
    }
    new.node_name = Str::default();
    new.status = PodStatus { phase: "Pending".into(), ..PodStatus::default() };
    new
}

/// Returns whether a pod was made as a copy of another.
pub(super) fn is_made_here(pod: &Pod) -> bool {
    pod.metadata.uid.text().starts_with(MADE_HERE)
}

/// Returns the FNV-1a hash of some texts, so that the same pods get the same names in every run.
fn hash(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns characters of a generated name that follow from some texts.
pub(super) fn suffix(texts: &[&str], length: usize) -> String {
    let mut number = hash(texts);
    let mut suffix = String::with_capacity(length);
    for _ in 0..length {
        if number == 0 {
            number = hash(&[&suffix, texts.first().copied().unwrap_or_default()]);
        }
        let at = usize::try_from(number % ALPHABET.len() as u64).unwrap_or(0);
        suffix.push(char::from(ALPHABET[at]));
        number /= ALPHABET.len() as u64;
    }
    suffix
}

/// Returns a free name: the owner's, with five characters that follow from the pod's name.
fn generated_name(draft: &Draft, pod: &Pod) -> Str {
    let own = pod.metadata.name.as_str();
    let base = pod.metadata.controller().map_or(own, |owner| owner.name.as_str());
    // An indexed Job puts the index between its name and the characters.
    let index = own.strip_prefix(base).and_then(|rest| rest.strip_prefix('-')?.rsplit_once('-'));
    let base = match index {
        Some((index, _)) if !index.is_empty() => format!("{base}-{index}"),
        _ => base.to_owned(),
    };
    loop {
        let salt = draft.next_salt(pod);
        let name = Str::from(format!("{base}-{}", suffix(&[own, &pod.metadata.uid.text(), &salt.to_string()], GENERATED)));
        if draft.cluster().pods.namespaced(&pod.metadata.namespace, &name).is_none() {
            return name;
        }
    }
}

/// Creates a pod with the claims that controllers make for it, copied from those of the pod that it is like. `old` is
/// the cluster that still has them.
pub(crate) fn create(draft: &mut Draft, old: &crate::cluster::Cluster, like: &Pod, mut pod: Pod, notes: &mut Vec<Note>) {
    if Controller::of(&pod) == Controller::Unknown
        && let Some(owner) = pod.metadata.controller()
    {
        Note::UnknownController(owner.kind.clone()).add_to(notes);
    }
    let namespace = pod.metadata.namespace.clone();
    let generated = generated_volume_claims(like);
    for (volume, claim) in &generated {
        let name = Str::from(format!("{}-{volume}", pod.metadata.name));
        make_volume_claim(draft, old, (&namespace, claim), name, Some(&pod), notes);
    }
    own_claims(draft, old, like, &mut pod, notes);
    let mut statuses: Vec<PodResourceClaimStatus> = Vec::new();
    for entry in pod.spec.resource_claims.clone().iter().filter(|entry| entry.resource_claim_template_name.is_some()) {
        let Some(key) = resource_claim_key(like, &entry.name) else { continue };
        let Some(claim) = old.resource_claims.get(&key) else {
            Note::NoClaim(key).add_to(notes);
            continue;
        };
        let mut claim = ResourceClaim::clone(claim);
        let name = Str::from(format!("{}-{}", pod.metadata.name, entry.name));
        claim.metadata.name = name.clone();
        claim.metadata.uid = format!("{}-{}", pod.metadata.uid, entry.name).into();
        claim.metadata.resource_version = ResourceVersion::default();
        claim.metadata.owner_references = vec![OwnerReference::to_pod(&pod)].into();
        claim.metadata.finalizers = Vec::new().into();
        claim.status = ResourceClaimStatus::default();
        draft.put(Object::ResourceClaim(Arc::new(claim)));
        statuses.push(PodResourceClaimStatus { name: entry.name.clone(), resource_claim_name: Some(name) });
    }
    if !statuses.is_empty() {
        pod.status.resource_claim_statuses = statuses.into();
    }
    draft.put(Object::Pod(Arc::new(pod)));
}

/// Renames the claims of a StatefulSet's pod to those of its copy, and makes them where the cluster lacks them. A pod
/// that keeps its name keeps its claims.
fn own_claims(draft: &mut Draft, old: &crate::cluster::Cluster, like: &Pod, pod: &mut Pod, notes: &mut Vec<Note>) {
    if Controller::of(pod) != Controller::StatefulSet || pod.metadata.name == like.metadata.name {
        return;
    }
    let ending = format!("-{}", like.metadata.name);
    let mut spec = PodSpec::clone(&pod.spec);
    let mut made: Vec<(Str, Str)> = Vec::new();
    for claim in spec.volumes.iter_mut().filter_map(|volume| volume.persistent_volume_claim.as_mut()) {
        if let Some(template) = claim.claim_name.strip_suffix(&ending) {
            let name = Str::from(format!("{template}-{}", pod.metadata.name));
            made.push((std::mem::replace(&mut claim.claim_name, name.clone()), name));
        }
    }
    if !made.is_empty() {
        pod.spec = Arc::new(spec);
    }
    let namespace = pod.metadata.namespace.clone();
    for (from, name) in made {
        if draft.cluster().persistent_volume_claims.namespaced(&namespace, &name).is_none() {
            make_volume_claim(draft, old, (&namespace, &from), name, None, notes);
        }
    }
}

/// Makes an unbound claim like another.
fn make_volume_claim(
    draft: &mut Draft,
    old: &crate::cluster::Cluster,
    (namespace, like): (&Str, &Str),
    name: Str,
    owner: Option<&Pod>,
    notes: &mut Vec<Note>,
) {
    let Some(claim) = old.persistent_volume_claims.namespaced(namespace, like) else {
        Note::NoClaim(Key { namespace: namespace.clone(), name: like.clone() }).add_to(notes);
        return;
    };
    let mut claim = PersistentVolumeClaim::clone(claim);
    claim.metadata.uid =
        format!("what-if-{:016x}", hash(&[namespace, &name, &owner.map(|pod| pod.metadata.uid.text()).unwrap_or_default()])).into();
    claim.metadata.name = name;
    claim.metadata.resource_version = ResourceVersion::default();
    claim.metadata.finalizers = Vec::new().into();
    for annotation in ["pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node"] {
        claim.metadata.annotations.remove(annotation);
    }
    if let Some(pod) = owner {
        claim.metadata.owner_references = vec![OwnerReference::to_pod(pod)].into();
    }
    claim.spec.volume_name = Str::default();
    claim.status.phase = "Pending".into();
    let class = claim.spec.storage_class_name.as_ref().and_then(|name| draft.cluster().storage_classes.named(name));
    if class.is_some_and(|class| class.volume_binding_mode.as_deref() != Some("WaitForFirstConsumer")) {
        Note::ImmediateClaim(claim.metadata.key()).add_to(notes);
    }
    draft.put(Object::PersistentVolumeClaim(Arc::new(claim)));
}

/// Returns the names of a pod's ephemeral volumes, each with its claim.
fn generated_volume_claims(pod: &Pod) -> Vec<(Str, Str)> {
    let ephemeral = pod.spec.volumes.iter().filter(|volume| volume.ephemeral.is_some());
    ephemeral.map(|volume| (volume.name.clone(), format!("{}-{}", pod.metadata.name, volume.name).into())).collect()
}

/// Returns the key of the claim behind an entry of the pod's `resourceClaims`.
fn resource_claim_key(pod: &Pod, entry: &Str) -> Option<Key> {
    let of_spec = pod.spec.resource_claims.iter().find(|claim| claim.name == *entry)?.resource_claim_name.clone();
    let of_status = || pod.status.resource_claim_statuses.iter().find(|claim| claim.name == *entry)?.resource_claim_name.clone();
    let name = of_spec.or_else(of_status)?;
    Some(Key { namespace: pod.metadata.namespace.clone(), name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Cluster, Object};

    #[test]
    fn a_search_for_a_name_begins_where_the_last_one_ended() {
        let text = r#"{"metadata":{"name":"web-a","namespace":"d","uid":"u"},"spec":{"containers":[]}}"#;
        let pod: Pod = serde_json::from_str(text).unwrap();
        let mut draft = Draft::new(&Cluster::default());
        for made in 0..500 {
            let new = successor(&draft, &pod, Timestamp::UNIX_EPOCH);
            assert!(draft.cluster().pods.get(&new.key()).is_none());
            draft.put(Object::Pod(new.into()));
            assert_eq!(draft.cluster().pods.iter().count(), made + 1);
        }
        assert!(draft.next_salt(&pod) < 510);
    }
}
