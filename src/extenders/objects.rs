//! Pods and nodes as kube-scheduler's informers hold them and Go writes them: without `kind`, `apiVersion` and managed
//! fields, quantities in canonical form, and structs that are never left out written empty.
//!
//! An object that is still as its source has it is sent whole. One that has changed since is what scheduling reads of it over
//! the original; without an original it is what scheduling reads of it alone.

use serde::Deserialize as _;
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

pub(super) fn pod_object(pod: &Pod, original: Option<Value>) -> Value {
    let same = |original: &Value| serde_json::from_value::<Pod>(original.clone()).is_ok_and(|read| read == *pod);
    let mut value = whole(serde_json::to_value(pod).unwrap_or_default(), original, same);
    edit(&mut value, "spec", |spec| {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            for container in items(spec, list) {
                edit(container, "resources", |resources| {
                    quantities(resources, "requests");
                    quantities(resources, "limits");
                });
            }
        }
        spec.entry("containers").or_insert(Value::Null);
        quantities(spec, "overhead");
        if let Some(Value::Object(resources)) = spec.get_mut("resources") {
            quantities(resources, "requests");
            quantities(resources, "limits");
        }
    });
    edit(&mut value, "status", |status| {
        for condition in items(status, "conditions") {
            or_null(condition, &["lastProbeTime", "lastTransitionTime"]);
        }
        for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
            for container in items(status, list) {
                edit(container, "state", |_| {});
                edit(container, "lastState", |_| {});
                let Value::Object(container) = container else { continue };
                let zeros: [(&str, Value); 4] =
                    [("ready", false.into()), ("restartCount", 0.into()), ("image", "".into()), ("imageID", "".into())];
                for (name, zero) in zeros {
                    container.entry(name).or_insert(zero);
                }
            }
        }
    });
    value
}

pub(super) fn node_object(node: &Node, original: Option<Value>) -> Value {
    let same = |original: &Value| serde_json::from_value::<Node>(original.clone()).is_ok_and(|read| read == *node);
    returned_node(whole(serde_json::to_value(node).unwrap_or_default(), original, same))
}

/// Returns a node that an extender returned, as the next one gets it.
pub(super) fn returned_node(mut value: Value) -> Value {
    edit(&mut value, "spec", |_| {});
    edit(&mut value, "status", |status| {
        for name in ["allocatable", "capacity"] {
            quantities(status, name);
        }
        without_empty(status, "images");
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

/// Returns a request with its pods and nodes as scheduling reads them.
pub(super) fn as_read(request: &Value) -> Value {
    let mut request = request.clone();
    let pod = |value: &mut Value| {
        if let Ok(read) = Pod::deserialize(&*value) {
            *value = pod_object(&read, None);
        }
    };
    if let Some(value) = request.get_mut("Pod") {
        pod(value);
    }
    for value in request.pointer_mut("/Nodes/items").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Ok(read) = Node::deserialize(&*value) {
            *value = node_object(&read, None);
        }
    }
    if let Some(Value::Object(victims)) = request.get_mut("NodeNameToVictims") {
        for row in victims.values_mut() {
            for value in row.get_mut("Pods").and_then(Value::as_array_mut).into_iter().flatten() {
                pod(value);
            }
        }
    }
    request
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
        Some(original) => over(original, &read),
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
fn over(mut original: Value, read: &Value) -> Value {
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

/// Takes out a list or map without items.
fn without_empty(object: &mut Map<String, Value>, name: &str) {
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty);
    if object.get(name).is_some_and(is_empty) {
        object.remove(name);
    }
}

/// Writes amounts as Go does; a list without any is left out.
fn quantities(object: &mut Map<String, Value>, name: &str) {
    without_empty(object, name);
    let Some(Value::Object(list)) = object.get_mut(name) else { return };
    for value in list.values_mut() {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => continue,
        };
        if let Ok(quantity) = text.parse::<Quantity>() {
            *value = if stays_as_written(&text) { text.into() } else { quantity.to_string().into() };
        }
    }
}

/// Decimal digits that Go's `int64` holds, whatever they are.
const MAX_DIGITS: usize = 18;

/// Returns whether Go takes the text of a quantity for canonical, and sends it as it is. That is not always so; mirrors
/// `ParseQuantity` in `staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go`.
fn stays_as_written(text: &str) -> bool {
    if text == "0" {
        return true;
    }
    let digits = text.trim_start_matches(['+', '-']);
    let end = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = digits.split_at(end(digits));
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), |rest| rest.split_at(end(rest)));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let shifted = format!("{whole}{fraction}");
    if let Some(exponent) = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|binary| *binary == suffix).map(|at| 10 * (at + 1)) {
        let fits = fraction.is_empty() && whole.len() + exponent * 3 / 10 < 15;
        return fits && shifted.parse::<i64>().is_ok_and(|value| value & 7 != 0);
    }
    let exponent = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => match suffix.get(1..).and_then(|exponent| exponent.parse::<i32>().ok()) {
            Some(exponent) => exponent,
            None => return false,
        },
    };
    let scale = exponent.saturating_sub(i32::try_from(fraction.len()).unwrap_or(i32::MAX));
    let is_short = shifted.len() <= MAX_DIGITS && scale >= -9;
    is_short && scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0')
}

#[cfg(test)]
mod tests;
