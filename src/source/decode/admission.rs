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
mod tests {
    use super::*;
    use crate::admission::defaults::source_pod;
    use crate::cluster::Pod;

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
        source_pod(&mut raw);
        source_pod(&mut known);
        assert_eq!((requests(&raw), requests(&known)), (vec!["cpu=1".to_owned(), "memory=1Gi".into()], vec!["cpu=1".to_owned()]));
        assert_eq!(known.spec.scheduler_name, "default-scheduler");

        let rest = r#","resources":{"limits":{"cpu":"9","hugepages-2Mi":"4Mi","memory":"8Gi"}},
            "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"3"}}},{"resources":{"requests":{"cpu":"2"}}}]"#;
        let mut raw = pod(&text("", rest));
        source_pod(&mut raw);
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
