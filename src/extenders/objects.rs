//! Pods and nodes as kube-scheduler's informers hold them and Go writes them: without `kind`, `apiVersion` and managed
//! fields, quantities in canonical form, and structs that are never left out written empty.
//!
//! An object that is still as its source has it is sent whole. One that has changed since is what scheduling reads of it over
//! the original; without an original it is what scheduling reads of it alone.

use serde_json::{Map, Value};

use crate::cluster::{Node, OTHER_ANNOTATIONS, Pod, Quantity};

/// Fields that scheduling reads, which are gone where they are not read any more.
const READ: [(&str, &[&str]); 3] = [
    ("metadata", &["deletionTimestamp", "labels", "finalizers", "ownerReferences"]),
    (
        "spec",
        &[
            "nodeName",
            "unschedulable",
            "taints",
            "nodeSelector",
            "affinity",
            "tolerations",
            "schedulingGates",
            "resourceClaims",
            "overhead",
            "resources",
            "topologySpreadConstraints",
            "preemptionPolicy",
            "priority",
        ],
    ),
    ("status", &["nominatedNodeName", "startTime", "conditions", "allocatable", "capacity", "images", "declaredFeatures"]),
];

/// Lists whose items are known by name, and hold more than is read.
const BY_NAME: [&str; 3] = ["containers", "initContainers", "volumes"];

/// Returns a pod.
pub(super) fn pod_object(pod: &Pod, original: Option<Value>) -> Value {
    let same = |original: &Value| serde_json::from_value::<Pod>(original.clone()).is_ok_and(|read| read == *pod);
    let mut value = whole(serde_json::to_value(pod).unwrap_or_default(), original, same);
    edit(&mut value, "spec", |spec| {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            for container in items(spec, list) {
                edit(container, "resources", |resources| {
                    quantities(resources.get_mut("requests"));
                    quantities(resources.get_mut("limits"));
                });
            }
        }
        spec.entry("containers").or_insert(Value::Null);
        quantities(spec.get_mut("overhead"));
        if let Some(Value::Object(resources)) = spec.get_mut("resources") {
            quantities(resources.get_mut("requests"));
            quantities(resources.get_mut("limits"));
        }
    });
    edit(&mut value, "status", |status| {
        for condition in items(status, "conditions") {
            or_null(condition, &["lastProbeTime", "lastTransitionTime"]);
        }
    });
    value
}

/// Returns a node.
pub(super) fn node_object(node: &Node, original: Option<Value>) -> Value {
    let same = |original: &Value| serde_json::from_value::<Node>(original.clone()).is_ok_and(|read| read == *node);
    let mut value = whole(serde_json::to_value(node).unwrap_or_default(), original, same);
    edit(&mut value, "spec", |_| {});
    edit(&mut value, "status", |status| {
        quantities(status.get_mut("allocatable"));
        quantities(status.get_mut("capacity"));
        for condition in items(status, "conditions") {
            or_null(condition, &["lastHeartbeatTime", "lastTransitionTime"]);
        }
        for image in items(status, "images") {
            or_null(image, &["names"]);
        }
    });
    if let Some(status) = value.get_mut("status") {
        edit(status, "daemonEndpoints", |_| {});
        edit(status, "nodeInfo", |info| {
            for name in NODE_INFO {
                info.entry(name).or_insert_with(|| "".into());
            }
        });
        if let Some(endpoints) = status.get_mut("daemonEndpoints") {
            edit(endpoints, "kubeletEndpoint", |kubelet| {
                kubelet.entry("Port").or_insert_with(|| 0.into());
            });
        }
    }
    value
}

/// Fields of `NodeSystemInfo` that are never left out.
const NODE_INFO: [&str; 10] = [
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
];

/// Returns the object without what informers drop.
fn whole(read: Value, original: Option<Value>, same: impl FnOnce(&Value) -> bool) -> Value {
    let mut value = match original {
        Some(original) if same(&original) => original,
        Some(original) => over(original, read),
        None => read,
    };
    if let Value::Object(value) = &mut value {
        value.remove("kind");
        value.remove("apiVersion");
    }
    edit(&mut value, "metadata", |meta| {
        meta.remove("managedFields");
        if let Some(Value::Object(annotations)) = meta.get_mut("annotations") {
            annotations.remove(OTHER_ANNOTATIONS);
            if annotations.is_empty() {
                meta.remove("annotations");
            }
        }
    });
    value
}

/// Puts what is read of an object over its original.
fn over(mut original: Value, read: Value) -> Value {
    for (section, gone) in READ {
        let Some(Value::Object(read)) = read.get(section) else { continue };
        edit(&mut original, section, |fields| {
            for name in gone {
                fields.remove(*name);
            }
            for (name, value) in read {
                let before = fields.remove(name).unwrap_or_default();
                let value = match (name.as_str(), before, value.clone()) {
                    ("annotations", Value::Object(before), Value::Object(read)) => Value::Object(before.into_iter().chain(read).collect()),
                    (list, Value::Array(before), Value::Array(read)) if BY_NAME.contains(&list) => by_name(before, read, list == "volumes"),
                    (_, _, read) => read,
                };
                fields.insert(name.clone(), value);
            }
        });
    }
    original
}

/// Puts items over those of the same name. Volumes that are not read stay.
fn by_name(before: Vec<Value>, read: Vec<Value>, others_stay: bool) -> Value {
    let name = |item: &Value| item.get("name").cloned().unwrap_or_default();
    let mut before: Vec<Option<Value>> = before.into_iter().map(Some).collect();
    let mut merged: Vec<Value> = Vec::new();
    for item in read {
        let known = before.iter_mut().find(|known| known.as_ref().is_some_and(|known| name(known) == name(&item)));
        merged.push(match (known.and_then(Option::take), item) {
            (Some(Value::Object(known)), Value::Object(item)) => Value::Object(known.into_iter().chain(item).collect()),
            (_, item) => item,
        });
    }
    if others_stay {
        merged.extend(before.into_iter().flatten());
    }
    Value::Array(merged)
}

/// Changes the object in a field, which is made where it is not there.
fn edit(value: &mut Value, name: &str, change: impl FnOnce(&mut Map<String, Value>)) {
    let mut outer = match value.take() {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let mut inner = match outer.remove(name) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    change(&mut inner);
    outer.insert(name.to_owned(), Value::Object(inner));
    *value = Value::Object(outer);
}

fn items<'a>(object: &'a mut Map<String, Value>, name: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Fields that Go writes as null where there is nothing in them.
fn or_null(object: &mut Value, names: &[&str]) {
    let Value::Object(object) = object else { return };
    for name in names {
        object.entry(*name).or_insert(Value::Null);
    }
}

/// Puts amounts in canonical form.
fn quantities(list: Option<&mut Value>) {
    let Some(Value::Object(list)) = list else { return };
    for value in list.values_mut() {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => continue,
        };
        if let Ok(quantity) = text.parse::<Quantity>() {
            *value = quantity.to_string().into();
        }
    }
}
