//! Sets the defaults of the API server in manifests that it has not seen.
//!
//! Mirrors the parts of `plugin/pkg/admission/priority/admission.go` and `pkg/apis/core/v1/defaults.go` that a scheduler
//! depends on. Objects from a real cluster have these values already and are not changed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::cluster::{Container, NO_QUANTITY, Object, Pod, PodSpec, PriorityClass, Quantity, ResourceList, Str};

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
    set!(CSIDriver CSINode CSIStorageCapacity DeviceClass Namespace Node PersistentVolume PersistentVolumeClaim Pod
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

/// Sets the defaults that depend on the pod only.
pub(in crate::source) fn default_pod(pod: &mut Pod) {
    if pod.spec.scheduler_name.is_empty() {
        pod.spec_mut().scheduler_name = Str::interned("default-scheduler");
    }
    // The API server gives every object a uid, and sets the default requests at the same time.
    if pod.metadata.uid.is_empty() {
        default_requests(pod.spec_mut());
    }
}

/// Sets missing requests to the limits. Missing requests of the whole pod are the sum over its containers, or else its
/// limits.
fn default_requests(spec: &mut PodSpec) {
    for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut()) {
        let resources = &mut container.resources;
        fill(&mut resources.requests, &resources.limits);
    }
    let Some(mut resources) = spec.resources.take() else { return };
    let from_containers: ResourceList =
        container_requests(spec).iter().filter(|(name, _)| at_pod_level(name)).map(|(k, v)| (k.clone(), *v)).collect();
    fill(&mut resources.requests, &from_containers);
    let limits: ResourceList = resources.limits.iter().filter(|(name, _)| at_pod_level(name)).map(|(k, v)| (k.clone(), *v)).collect();
    fill(&mut resources.requests, &limits);
    spec.resources = Some(resources);
}

fn fill(requests: &mut ResourceList, from: &ResourceList) {
    for (name, amount) in from.iter() {
        if !requests.contains_key(name) {
            requests.insert(name.clone(), *amount);
        }
    }
}

/// Returns whether the resource can be set for a whole pod.
fn at_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// Returns the sum of the containers' requests: regular containers and sidecars, or more if an init container needs
/// more.
fn container_requests(spec: &PodSpec) -> ResourceList {
    let add = |sum: &mut ResourceList, container: &Container| {
        for (name, amount) in container.resources.requests.iter() {
            let total = sum.get(name).copied().unwrap_or(NO_QUANTITY) + *amount;
            sum.insert(name.clone(), total);
        }
    };
    let at_least = |sum: &mut ResourceList, other: &ResourceList| {
        for (name, amount) in other.iter() {
            let most: Quantity = sum.get(name).copied().map_or(*amount, |known| known.max(*amount));
            sum.insert(name.clone(), most);
        }
    };
    let (mut sidecars, mut peak) = (ResourceList::default(), ResourceList::default());
    for container in &spec.init_containers {
        let mut now = sidecars.clone();
        add(&mut now, container);
        at_least(&mut peak, &now);
        if container.is_restartable() {
            sidecars = now;
        }
    }
    let mut total = sidecars;
    spec.containers.iter().for_each(|container| add(&mut total, container));
    at_least(&mut total, &peak);
    total
}

/// The classes that exist in every cluster.
const SYSTEM_CLASSES: [(&str, i32); 2] = [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// Sets missing priorities to that of the pod's class or of the default class. Returns the indexes in `objects` of pods
/// whose class does not exist; these keep no priority.
pub(in crate::source) fn resolve_priorities(objects: &mut [Object]) -> Vec<usize> {
    let classes: HashMap<Str, Arc<PriorityClass>> = objects
        .iter()
        .filter_map(|o| if let Object::PriorityClass(c) = o { Some((c.metadata.name.clone(), c.clone())) } else { None })
        .collect();
    // Of several default classes the API server uses the one with the lowest value.
    let default = objects.iter().filter_map(|o| if let Object::PriorityClass(c) = o { Some(c) } else { None });
    let default = default.filter(|c| c.global_default == Some(true)).min_by_key(|c| c.value).cloned();
    let mut unknown = Vec::new();
    for (place, object) in objects.iter_mut().enumerate() {
        let Object::Pod(pod) = object else { continue };
        if pod.spec.priority.is_some() {
            continue;
        }
        let name = &pod.spec.priority_class_name;
        let (value, policy) = if name.is_empty() {
            let Some(class) = &default else { continue };
            (class.value, class.preemption_policy.clone())
        } else if let Some(class) = classes.get(name) {
            (class.value, class.preemption_policy.clone())
        } else if let Some((_, value)) = SYSTEM_CLASSES.iter().find(|(system, _)| name == system) {
            (*value, None)
        } else {
            unknown.push(place);
            continue;
        };
        let spec = Arc::make_mut(pod).spec_mut();
        spec.priority = Some(value);
        if let (true, Some(class)) = (spec.priority_class_name.is_empty(), &default) {
            spec.priority_class_name = class.metadata.name.clone();
        }
        spec.preemption_policy = spec.preemption_policy.take().or(policy);
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> Object {
        serde_json::from_str(json).unwrap()
    }

    fn pod(json: &str) -> Pod {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_priority_comes_from_the_class() {
        let classes = r#"{"kind":"PriorityClass","metadata":{"name":"high"},"value":7,"preemptionPolicy":"Never"}
            {"kind":"PriorityClass","metadata":{"name":"usual"},"value":3,"globalDefault":true}
            {"kind":"PriorityClass","metadata":{"name":"other-default"},"value":4,"globalDefault":true}"#;
        let classes: Vec<Object> = serde_json::Deserializer::from_str(classes).into_iter().map(Result::unwrap).collect();
        for (spec, with_classes, priority, policy, unknown) in [
            (r#"{"priorityClassName":"high"}"#, true, Some(7), Some("Never"), false),
            (
                r#"{"priorityClassName":"high","preemptionPolicy":"PreemptLowerPriority"}"#,
                true,
                Some(7),
                Some("PreemptLowerPriority"),
                false,
            ),
            (r#"{"priorityClassName":"high","priority":1}"#, true, Some(1), None, false),
            ("{}", true, Some(3), None, false),
            ("{}", false, None, None, false),
            (r#"{"priorityClassName":"nope"}"#, true, None, None, true),
            (r#"{"priorityClassName":"system-node-critical"}"#, false, Some(2_000_001_000), None, false),
            (r#"{"priorityClassName":"system-cluster-critical"}"#, false, Some(2_000_000_000), None, false),
        ] {
            let mut objects = vec![object(&format!(r#"{{"kind":"Pod","metadata":{{"name":"p"}},"spec":{spec}}}"#))];
            objects.extend(classes.iter().filter(|_| with_classes).cloned());
            assert_eq!(resolve_priorities(&mut objects), if unknown { vec![0] } else { vec![] }, "{spec}");
            let Object::Pod(pod) = &objects[0] else { unreachable!() };
            assert_eq!((pod.spec.priority, pod.spec.preemption_policy.as_deref()), (priority, policy), "{spec}");
        }
    }

    #[test]
    fn requests_follow_limits_only_where_no_api_server_saw_the_pod() {
        let text = |uid: &str, rest: &str| {
            format!(
                r#"{{"metadata":{{"name":"p","uid":"{uid}"}},"spec":{{"containers":[{{"resources":{{"limits":{{"cpu":"2","memory":"1Gi"}},
                "requests":{{"cpu":"1"}}}}}}]{rest}}}}}"#
            )
        };
        let requests = |pod: &Pod| pod.spec.containers[0].resources.requests.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
        let (mut raw, mut known) = (pod(&text("", "")), pod(&text("1", "")));
        default_pod(&mut raw);
        default_pod(&mut known);
        assert_eq!((requests(&raw), requests(&known)), (vec!["cpu=1".to_owned(), "memory=1Gi".into()], vec!["cpu=1".to_owned()]));
        assert_eq!(known.spec.scheduler_name, "default-scheduler");

        let rest = r#","resources":{"limits":{"cpu":"9","hugepages-2Mi":"4Mi","memory":"8Gi"}},
            "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"3"}}},{"resources":{"requests":{"cpu":"2"}}}]"#;
        let mut raw = pod(&text("", rest));
        default_pod(&mut raw);
        let whole = raw.spec.resources.as_ref().unwrap().requests.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
        assert_eq!(whole, ["cpu=5", "hugepages-2Mi=4Mi", "memory=1Gi"]);
    }

    #[test]
    fn namespaces_are_where_they_belong() {
        for (json, namespace, defaulted) in [
            (r#"{"kind":"Pod","metadata":{"name":"a"}}"#, "default", true),
            (r#"{"kind":"Pod","metadata":{"name":"a","namespace":"b"}}"#, "b", false),
            (r#"{"kind":"Node","metadata":{"name":"a","namespace":"b"}}"#, "", false),
            (r#"{"kind":"Node","metadata":{"name":"a"}}"#, "", false),
        ] {
            let mut in_file = object(json);
            assert!(!place(&mut in_file, Some("shop")));
            assert_eq!(in_file.meta().namespace, if defaulted { "shop" } else { namespace }, "{json}");
            let mut object = object(json);
            assert_eq!((place(&mut object, None), object.meta().namespace.as_str()), (defaulted, namespace), "{json}");
        }
    }

    #[test]
    fn an_empty_selector_of_the_beta_version_matches_nothing() {
        for (version, kept) in [("policy/v1beta1", false), ("policy/v1", true)] {
            let mut object = object(r#"{"kind":"PodDisruptionBudget","metadata":{"name":"a"},"spec":{"selector":{}}}"#);
            read_version(&mut object, Some(version));
            let Object::PodDisruptionBudget(budget) = object else { unreachable!() };
            assert_eq!(budget.spec.selector.is_some(), kept);
        }
    }
}
