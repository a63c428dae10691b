//! Searches the objects that the pod's volumes lack: claims, StorageClasses and PersistentVolumes.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::change::Change;
use super::constraints::{Demand, Matrix, VOLUME_PLUGINS};
use super::trial::Trials;
use super::{Fixes, Limits, Unproposed, Untried};
use crate::cluster::storage::{ObjectReference, PersistentVolume, PersistentVolumeClaim, StorageClass};
use crate::cluster::{Cluster, Controller, Key, Kind, Meta, Object, Pod, Quantity, Str};
use crate::plugins::volume_helpers::{
    ANN_BIND_COMPLETED, NOT_SUPPORTED_PROVISIONER, STORAGE, WAIT_FOR_FIRST_CONSUMER, claim_class, claim_of, is_fully_bound,
};

/// Size of a proposed volume. No manifest says how large a missing claim should be.
const SIZE: Quantity = Quantity::bytes(1 << 30);

/// Tries every single change that provides for the pod's volumes, if any of them keeps it out.
pub(super) fn singles(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Fixes) {
    let concerns = |demand: &Demand| match demand {
        Demand::Volume { .. } => true,
        Demand::Other { plugin, .. } => VOLUME_PLUGINS.contains(plugin),
        _ => false,
    };
    if !matrix.combined && !matrix.rows.iter().any(|row| concerns(&row.demand) && row.fails.count() > 0) {
        return;
    }
    let pod = trials.pod().clone();
    let cluster = trials.scheduler().state().cluster().clone();
    let mut storage = Storage { trials, cluster, limits, fixes };
    let (mut seen, mut missing) = (BTreeSet::new(), Vec::new());
    for (volume, named) in pod.spec.volumes.iter().filter_map(|volume| Some((volume, claim_of(&pod, volume)?))) {
        if !seen.insert(named.name.clone()) {
            continue;
        }
        match storage.cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, &named.name).cloned() {
            None if named.ephemeral && !is_unread(&storage.cluster, Kind::PersistentVolumeClaim) => {
                storage.fixes.unproposed.push(Unproposed::EphemeralClaim(named.name));
            }
            None if is_unread(&storage.cluster, Kind::PersistentVolumeClaim) => {
                storage.fixes.unproposed.push(Unproposed::Unread { kind: Kind::PersistentVolumeClaim, name: named.name });
            }
            None if let Some(set) = template_of_claim(storage.trials, &pod, &volume.name, &named.name) => {
                storage.fixes.unproposed.push(Unproposed::TemplateClaim { claim: named.name, set });
            }
            None => missing.push(Key::new(pod.metadata.namespace.clone(), named.name)),
            Some(claim) => storage.provide(&claim),
        }
    }
    storage.create(&missing);
}

/// Returns the StatefulSet that makes a claim of the pod from a template: claims are named after template and pod, and volumes after the
/// template; mirrors `updateStorage` in `pkg/controller/statefulset/stateful_set_utils.go`.
fn template_of_claim(trials: &Trials<'_>, pod: &Pod, volume: &Str, claim: &Str) -> Option<Str> {
    let owner = pod.metadata.controller().filter(|_| Controller::of(pod) == Controller::StatefulSet)?;
    if claim.strip_prefix(volume.as_str())?.strip_prefix('-')? != pod.metadata.name.as_str() {
        return None;
    }
    let key = Key::new(pod.metadata.namespace.clone(), owner.name.clone());
    let set = (trials.background().originals)(Kind::StatefulSet, &key);
    let is_named = |template: &Value| template.pointer("/metadata/name").and_then(Value::as_str) == Some(volume.as_str());
    let has_template =
        |set: &Value| set.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_named));
    set.as_ref().is_none_or(has_template).then(|| owner.name.clone())
}

/// Returns whether objects of a kind may exist that the source did not show.
pub(super) fn is_unread(cluster: &Cluster, kind: Kind) -> bool {
    cluster.unknown.why(kind).is_some()
}

struct Storage<'a, 'b> {
    trials: &'a mut Trials<'b>,
    cluster: Cluster,
    limits: Limits,
    fixes: &'a mut Fixes,
}

impl Storage<'_, '_> {
    fn works(&mut self, changes: Vec<Change>) -> bool {
        self.trials.try_all(changes, &mut self.fixes.fixes).is_some()
    }

    /// Tries to create claims that do not exist, together: by each class that waits for the first consumer, since a claim of
    /// any other class stays unbound until a controller binds it; or else each bound to a volume.
    fn create(&mut self, missing: &[Key]) {
        if missing.is_empty() {
            return;
        }
        let waits = |class: &&Arc<StorageClass>| class.volume_binding_mode.as_deref() == Some(WAIT_FOR_FIRST_CONSUMER);
        let classes: Vec<Str> = self.cluster.storage_classes.iter().filter(waits).map(|class| class.metadata.name.clone()).collect();
        let mut works = false;
        for class in self.trials.first_of(classes, self.limits.alike, Untried::StorageClasses) {
            let claims = missing.iter().map(|key| create(Object::PersistentVolumeClaim(Arc::new(new_claim(key, &class)))));
            works |= self.works(claims.collect());
        }
        if works {
            return;
        }
        let bound = missing.iter().flat_map(|key| {
            let mut claim = new_claim(key, &Str::default());
            let volume = new_volume(&self.cluster, &claim, true);
            claim.spec.volume_name = volume.metadata.name.clone();
            claim.metadata.annotations.insert(ANN_BIND_COMPLETED.into(), "yes".into());
            claim.status.phase = "Bound".into();
            [create(Object::PersistentVolumeClaim(Arc::new(claim))), create(Object::PersistentVolume(Arc::new(volume)))]
        });
        let changes = bound.collect();
        self.works(changes);
    }

    /// Tries to provide for an existing claim.
    fn provide(&mut self, claim: &PersistentVolumeClaim) {
        let name = claim.metadata.name.clone();
        if claim.metadata.deletion_timestamp.is_some() {
            return self.fixes.unproposed.push(Unproposed::Deleting { kind: Kind::PersistentVolumeClaim, name });
        }
        if claim.status.phase == "Lost" {
            return self.fixes.unproposed.push(Unproposed::Lost(name));
        }
        if !claim.spec.volume_name.is_empty() {
            return self.bound(claim);
        }
        let class_name = claim_class(claim);
        let class = self.cluster.storage_classes.named(&class_name).cloned();
        if class.is_none() && !class_name.is_empty() {
            self.new_class(claim, &class_name);
        }
        let waits = class.is_some_and(|class| class.volume_binding_mode.as_deref() == Some(WAIT_FOR_FIRST_CONSUMER));
        let available = new_volume(&self.cluster, claim, false);
        if waits && self.works(vec![create(Object::PersistentVolume(Arc::new(available)))]) {
            return;
        }
        // The volume controller binds a volume that refers to the claim.
        let volume = new_volume(&self.cluster, claim, true);
        let bind = Change::Bind { claim: claim.metadata.key(), volume: volume.metadata.name.clone() };
        self.works(vec![create(Object::PersistentVolume(Arc::new(volume))), bind]);
    }

    /// Tries to provide the volume that a claim names.
    fn bound(&mut self, claim: &PersistentVolumeClaim) {
        let name = claim.spec.volume_name.clone();
        let exists = self.cluster.persistent_volumes.named(&name).is_some();
        if !exists && is_unread(&self.cluster, Kind::PersistentVolume) {
            return self.fixes.unproposed.push(Unproposed::Unread { kind: Kind::PersistentVolume, name });
        }
        let mut changes = Vec::new();
        if !exists {
            let mut volume = new_volume(&self.cluster, claim, true);
            volume.metadata.name = name.clone();
            changes.push(create(Object::PersistentVolume(Arc::new(volume))));
        }
        if !is_fully_bound(claim) {
            changes.push(Change::Bind { claim: claim.metadata.key(), volume: name });
        }
        if !changes.is_empty() {
            self.works(changes);
        }
    }

    /// Tries to create the class that a claim names, like each other class.
    fn new_class(&mut self, claim: &PersistentVolumeClaim, name: &Str) {
        if is_unread(&self.cluster, Kind::StorageClass) {
            return self.fixes.unproposed.push(Unproposed::Unread { kind: Kind::StorageClass, name: name.clone() });
        }
        let classes = self.cluster.storage_classes.iter().filter(|class| provisions(&class.provisioner));
        let mut likes: Vec<Arc<StorageClass>> = classes.cloned().collect();
        // One class of each provisioner and topology.
        let shape = |class: &StorageClass| (class.provisioner.clone(), format!("{:?}", class.allowed_topologies));
        likes.sort_by_cached_key(|class| (shape(class), class.metadata.name.clone()));
        likes.dedup_by_key(|class| shape(class));
        if likes.is_empty() {
            self.fixes.unproposed.push(Unproposed::NoProvisioner { claim: claim.metadata.name.clone(), class: name.clone() });
        }
        for like in self.trials.first_of(likes, self.limits.alike, Untried::StorageClasses) {
            let mut class = StorageClass { metadata: Meta::default(), ..StorageClass::clone(&like) };
            class.metadata.name = name.clone();
            class.volume_binding_mode = Some(WAIT_FOR_FIRST_CONSUMER.into());
            self.works(vec![create(Object::StorageClass(Arc::new(class)))]);
        }
    }
}

/// Returns whether a provisioner makes volumes.
pub fn provisions(provisioner: &str) -> bool {
    !provisioner.is_empty() && provisioner != NOT_SUPPORTED_PROVISIONER
}

fn create(object: Object) -> Change {
    Change::Create { object, like: None }
}

fn new_claim(key: &Key, class: &Str) -> PersistentVolumeClaim {
    let mut claim = PersistentVolumeClaim::default();
    claim.metadata.name = key.name.clone();
    claim.metadata.namespace = key.namespace.clone();
    claim.spec.access_modes = vec![Str::from("ReadWriteOnce")].into();
    claim.spec.resources.requests.insert(STORAGE.into(), SIZE);
    claim.spec.storage_class_name = Some(class.clone());
    claim
}

/// Returns a volume that matches a claim, available or reserved for it.
fn new_volume(cluster: &Cluster, claim: &PersistentVolumeClaim, is_reserved: bool) -> PersistentVolume {
    let mut volume = PersistentVolume::default();
    let mut name = Str::from(format!("for-{}-{}", claim.metadata.namespace, claim.metadata.name));
    while cluster.persistent_volumes.named(&name).is_some() {
        name = format!("{name}-x").into();
    }
    volume.metadata.name = name;
    volume.metadata.labels = claim.spec.selector.as_ref().map(|s| s.match_labels.clone()).unwrap_or_default();
    volume.spec.capacity = claim.spec.resources.requests.clone();
    volume.spec.access_modes = claim.spec.access_modes.clone();
    volume.spec.storage_class_name = claim_class(claim);
    volume.spec.volume_mode.clone_from(&claim.spec.volume_mode);
    volume.spec.volume_attributes_class_name.clone_from(&claim.spec.volume_attributes_class_name);
    volume.status.phase = if is_reserved { "Bound" } else { "Available" }.into();
    volume.spec.claim_ref = is_reserved.then(|| ObjectReference {
        namespace: claim.metadata.namespace.clone(),
        name: claim.metadata.name.clone(),
        uid: claim.metadata.uid.clone().into(),
    });
    volume
}
