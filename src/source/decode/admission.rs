//! Sets the defaults of the API server in manifests that it has not seen.
//!
//! The defaults of pods are those of [`crate::admission`]. Objects from a real cluster have these values already and are not changed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::admission::priority;
use crate::cluster::{Object, PriorityClass, Str};

/// Sets a missing namespace to that of the file or to `default`, and removes the namespace of a cluster-scoped object.
/// Returns true if it chose `default`.
pub(in crate::source) fn place(object: &mut Object, of_file: Option<&str>) -> bool {
    let missing = object.meta().namespace.is_empty();
    if object.kind().namespaced() != missing {
        return false;
    }
    set_namespace(object, if missing { Str::interned(of_file.unwrap_or("default")) } else { Str::default() });
    missing && of_file.is_none()
}

fn set_namespace(object: &mut Object, namespace: Str) {
    macro_rules! set {
        ($($kind:ident)*) => {
            match object { $(Object::$kind(o) => if let Some(o) = Arc::get_mut(o) { o.metadata.namespace = namespace },)* }
        };
    }
    set!(CSIDriver CSINode CSIStorageCapacity DeviceClass DeviceTaintRule Namespace Node PersistentVolume PersistentVolumeClaim Pod
        PodDisruptionBudget PodGroup PriorityClass ReplicaSet ReplicationController ResourceClaim ResourceClaimTemplate ResourceSlice
        Service StatefulSet StorageClass VolumeAttachment);
}

/// Converts the semantics of an older version with the same fields.
pub(in crate::source) fn read_version(object: &mut Object, api_version: Option<&str>) {
    if let (Object::PodDisruptionBudget(budget), Some("policy/v1beta1")) = (object, api_version)
        && budget.spec.selector.as_ref().is_some_and(crate::cluster::LabelSelector::is_empty)
        && let Some(budget) = Arc::get_mut(budget)
    {
        // In v1beta1 an empty selector matches nothing.
        budget.spec.selector = None;
    }
}

/// Sets missing priorities to that of the pod's class or of the default class. Returns the indexes in `objects` of pods
/// whose class does not exist; these keep no priority.
pub(in crate::source) fn resolve_priorities(objects: &mut [Object]) -> Vec<usize> {
    let classes: HashMap<Str, Arc<PriorityClass>> = objects
        .iter()
        .filter_map(|o| if let Object::PriorityClass(c) = o { Some((c.metadata.name.clone(), c.clone())) } else { None })
        .collect();
    let default = priority::default_class(objects.iter().filter_map(|o| if let Object::PriorityClass(c) = o { Some(c) } else { None }));
    let mut unknown = Vec::new();
    for (place, object) in objects.iter_mut().enumerate() {
        let Object::Pod(pod) = object else { continue };
        if pod.spec.priority.is_some() {
            continue;
        }
        let name = &pod.spec.priority_class_name;
        let class = if name.is_empty() {
            let Some(class) = default.clone() else { continue };
            class
        } else if let Some(class) = priority::named(name, |name| classes.get(name).cloned()) {
            class
        } else {
            unknown.push(place);
            continue;
        };
        let spec = Arc::make_mut(pod).spec_mut();
        spec.priority = Some(class.value);
        spec.priority_class_name = class.name;
        spec.preemption_policy = spec.preemption_policy.take().or(class.preemption_policy);
    }
    unknown
}

#[cfg(test)]
mod tests;
