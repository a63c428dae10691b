//! A manifest over a live object, as `kubectl apply` merges them; mirrors `CreateThreeWayMergePatch` in
//! `staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch.go`, with the patch strategies of `k8s.io/api/core/v1`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::cluster::Quantity;

/// Returns the live object with the fields of a manifest. Fields that `last`, the manifest that was applied last, has and this one has
/// not are removed; the others keep their live values.
pub(super) fn apply(live: &Value, last: &Value, manifest: &Value) -> Value {
    field("", live, last, manifest)
}

fn field(name: &str, live: &Value, last: &Value, manifest: &Value) -> Value {
    match (live, manifest) {
        (Value::Object(known), Value::Object(fields)) => object(known, last, fields, retains_keys(name)).into(),
        (Value::Array(known), Value::Array(items)) => match merge_key(name) {
            Some(key) => list(name, key, known, last, items).into(),
            None => manifest.clone(),
        },
        _ => manifest.clone(),
    }
}

fn object(live: &Map<String, Value>, last: &Value, manifest: &Map<String, Value>, retains: bool) -> Map<String, Value> {
    let is_removed = |name: &String| !manifest.contains_key(name) && (retains || last.get(name).is_some());
    let mut merged: Map<String, Value> =
        live.iter().filter(|(name, _)| !is_removed(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, value) in manifest {
        if value.is_null() {
            merged.remove(name);
        } else {
            let known = live.get(name).unwrap_or(&Value::Null);
            merged.insert(name.clone(), field(name, known, last.get(name).unwrap_or(&Value::Null), value));
        }
    }
    merged
}

/// Merges lists by the key of their items. The order is the live one, unless the manifest has another.
fn list(name: &str, key: &str, live: &[Value], last: &Value, manifest: &[Value]) -> Vec<Value> {
    let id = |item: &Value| item.get(key).map(Value::to_string).unwrap_or_default();
    let last: HashMap<String, &Value> = last.as_array().into_iter().flatten().map(|item| (id(item), item)).collect();
    let known: HashMap<String, &Value> = live.iter().map(|item| (id(item), item)).collect();
    let wanted: HashMap<String, &Value> = manifest.iter().map(|item| (id(item), item)).collect();
    let merged = |item: &Value| {
        let id = id(item);
        let find = |items: &HashMap<String, &Value>| items.get(&id).map_or(Value::Null, |item| Value::clone(item));
        field_of_item(name, &find(&known), &find(&last), item)
    };
    let both: Vec<String> = live.iter().map(id).filter(|id| wanted.contains_key(id)).collect();
    let is_same_order = manifest.iter().map(id).filter(|id| known.contains_key(id)).eq(both.iter().cloned());
    let mut done: HashSet<String> = HashSet::new();
    let mut items = Vec::new();
    if is_same_order {
        for item in live {
            match wanted.get(&id(item)) {
                Some(wanted) => items.push(merged(wanted)),
                None if last.contains_key(&id(item)) => {}
                None => items.push(item.clone()),
            }
            done.insert(id(item));
        }
    }
    items.extend(manifest.iter().filter(|item| done.insert(id(item))).map(merged));
    let kept = |item: &&Value| done.insert(id(item)) && !last.contains_key(&id(item));
    items.extend(live.iter().filter(kept).cloned().collect::<Vec<_>>());
    items
}

fn field_of_item(list: &str, live: &Value, last: &Value, manifest: &Value) -> Value {
    match (live, manifest) {
        (Value::Object(known), Value::Object(fields)) => object(known, last, fields, retains_keys(list)).into(),
        _ => manifest.clone(),
    }
}

/// Returns the field by which the items of a list are merged; `None` for lists that are replaced.
fn merge_key(list: &str) -> Option<&'static str> {
    Some(match list {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "imagePullSecrets"
        | "resourceClaims"
        | "schedulingGates"
        | "volumes" => "name",
        "ports" => "containerPort",
        "volumeMounts" => "mountPath",
        "volumeDevices" => "devicePath",
        "hostAliases" => "ip",
        "topologySpreadConstraints" => "topologyKey",
        _ => return None,
    })
}

/// Returns whether fields that the manifest leaves out are removed from an object, as it is one of several forms.
fn retains_keys(name: &str) -> bool {
    matches!(name, "strategy" | "volumes" | "resourceClaims")
}

/// Returns whether two values are the same to an API server: quantities as amounts, defaults as absent.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    is_same_field("", one, other)
}

fn is_same_field(name: &str, one: &Value, other: &Value) -> bool {
    match (one, other) {
        // Their keys are no fields, and an empty value is one.
        (Value::Object(a), Value::Object(b)) if is_map(name) => a == b,
        (Value::Object(a), Value::Object(b)) => {
            let is_unset = |name: &str, value: &Value| is_empty(value) || is_default(name, value);
            let same = |(name, value): (&String, &Value)| match b.get(name) {
                Some(other) => is_same_field(name, value, other),
                None => is_unset(name, value),
            };
            a.iter().all(same) && b.iter().all(|(name, value)| a.contains_key(name) || is_unset(name, value))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(one, other)| is_same(one, other)),
        (one, other) if one == other => true,
        (one, other) => match (amount(one), amount(other)) {
            (Some(one), Some(other)) => one == other,
            _ => is_empty(one) && is_empty(other),
        },
    }
}

/// Returns the paths of fields that the live object has and a manifest leaves out, at most `most`. Defaults are none.
pub(super) fn left_out(live: &Value, manifest: &Value, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    collect("", live, manifest, most, &mut found);
    found
}

fn collect(path: &str, live: &Value, manifest: &Value, most: usize, found: &mut Vec<String>) {
    if found.len() >= most {
        return;
    }
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (live, manifest) {
        (Value::Object(known), Value::Object(fields)) => {
            // The API server sets requests from limits.
            let requests = known.get("limits").filter(|limits| known.get("requests").is_some_and(|requests| is_same(requests, limits)));
            let is_of_map = is_map(path.rsplit('.').next().unwrap_or_default());
            let is_unset = |name: &str, value: &Value| !is_of_map && (is_empty(value) || is_default(name, value));
            for (name, value) in known {
                match fields.get(name) {
                    Some(Value::Null) => {}
                    Some(field) => collect(&below(name), value, field, most, found),
                    None if is_unset(name, value) || name == "requests" && requests.is_some() => {}
                    None if found.len() < most => found.push(below(name)),
                    None => return,
                }
            }
        }
        (Value::Array(known), Value::Array(items)) => {
            let name = path.rsplit('.').next().unwrap_or_default();
            let Some(key) = merge_key(name) else { return };
            let wanted: HashMap<String, &Value> = items.iter().filter_map(|item| Some((item.get(key)?.to_string(), item))).collect();
            for item in known {
                let Some(id) = item.get(key) else { continue };
                let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
                match wanted.get(&id.to_string()) {
                    Some(wanted) => collect(&format!("{path}[{text}]"), item, wanted, most, found),
                    None if found.len() < most => found.push(format!("{path}[{text}]")),
                    None => return,
                }
            }
        }
        _ => {}
    }
}

/// Returns whether an object in this field is a map of any keys to text.
fn is_map(name: &str) -> bool {
    matches!(name, "labels" | "annotations" | "matchLabels" | "nodeSelector")
}

/// Returns whether the API server leaves out a field with this value.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(on) => !on,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
    }
}

/// Returns whether the API server gives a field of a workload or a template this value where a manifest leaves it out; mirrors
/// `pkg/apis/core/v1/defaults.go` and those of `apps` and `batch`.
fn is_default(name: &str, value: &Value) -> bool {
    match name {
        // They depend on other fields.
        "imagePullPolicy" | "serviceAccount" | "hostPort" => true,
        "restartPolicy" => value == "Always",
        "dnsPolicy" => value == "ClusterFirst",
        "schedulerName" => value == "default-scheduler",
        "protocol" => value == "TCP",
        "scheme" => value == "HTTP",
        "terminationMessagePath" => value == "/dev/termination-log",
        "terminationMessagePolicy" => value == "File",
        "enableServiceLinks" => value == true,
        "apiVersion" => value == "v1",
        "divisor" => value == "0",
        "procMount" => value == "Default",
        "podManagementPolicy" => value == "OrderedReady",
        "podReplacementPolicy" => value == "TerminatingOrFailed",
        "concurrencyPolicy" => value == "Allow",
        "terminationGracePeriodSeconds" => value == 30,
        "timeoutSeconds" | "successThreshold" | "replicas" | "parallelism" | "completions" => value == 1,
        "periodSeconds" => value == 10,
        "failureThreshold" => value == 3,
        "backoffLimit" => value == 6,
        "defaultMode" => value == 420,
        "expirationSeconds" => value == 3600 || value == 3607,
        "type" => value == "RollingUpdate",
        "maxSurge" => value == "25%" || value == 0,
        "maxUnavailable" => value == "25%" || value == 1,
        "strategy" | "updateStrategy" | "rollingUpdate" => {
            value.as_object().is_some_and(|fields| fields.iter().all(|(name, value)| is_empty(value) || is_default(name, value)))
        }
        _ => false,
    }
}

/// Reads a quantity.
pub(super) fn amount(value: &Value) -> Option<Quantity> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_that_a_manifest_leaves_out_keep_their_live_values_unless_the_last_one_had_them() {
        let live = json!({"spec": {"replicas": 5, "template": {"spec": {"nodeSelector": {"zone": "a", "disk": "ssd"},
            "containers": [{"name": "c", "image": "web:1", "imagePullPolicy": "Always"}, {"name": "proxy"}],
            "tolerations": [{"key": "a"}]}}}});
        let manifest = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}],
            "nodeSelector": {"disk": "hdd"}, "tolerations": []}}}});
        let kept = json!({"spec": {"replicas": 5, "template": {"spec": {"nodeSelector": {"zone": "a", "disk": "hdd"},
            "containers": [{"name": "c", "image": "web:2", "imagePullPolicy": "Always"}, {"name": "proxy"}], "tolerations": []}}}});
        assert_eq!(apply(&live, &Value::Null, &manifest), kept);
        let last = json!({"spec": {"replicas": 5, "template": {"spec": {"nodeSelector": {"zone": "a"},
            "containers": [{"name": "c"}, {"name": "proxy"}]}}}});
        let removed = json!({"spec": {"template": {"spec": {"nodeSelector": {"disk": "hdd"},
            "containers": [{"name": "c", "image": "web:2", "imagePullPolicy": "Always"}], "tolerations": []}}}});
        assert_eq!(apply(&live, &last, &manifest), removed);
    }

    #[test]
    fn items_that_are_new_or_in_another_order_follow_the_manifest() {
        let live = json!({"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]});
        let names = |manifest: Value| {
            let merged = apply(&live, &Value::Null, &json!({"containers": manifest}));
            merged["containers"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect::<String>()
        };
        assert_eq!(names(json!([{"name": "a"}, {"name": "c"}, {"name": "d"}])), "abcd");
        assert_eq!(names(json!([{"name": "c"}, {"name": "a"}])), "cab");
        let strategy = json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}});
        let recreate = json!({"strategy": {"type": "Recreate"}});
        assert_eq!(apply(&strategy, &Value::Null, &recreate), recreate);
    }

    #[test]
    fn defaults_and_other_words_for_an_amount_are_the_same() {
        let one = json!({"containers": [{"resources": {"requests": {"cpu": "1000m"}}, "imagePullPolicy": "Always"}], "dnsPolicy": "ClusterFirst"});
        let other = json!({"containers": [{"resources": {"requests": {"cpu": 1}, "limits": {}}}], "nodeSelector": {}});
        assert!(is_same(&one, &other) && is_same(&other, &one));
        assert!(!is_same(&json!({"nodeSelector": {"a": ""}}), &json!({"nodeSelector": {}})));
        assert!(!is_same(&json!({"a": {"b": "c"}}), &json!({})) && !is_same(&json!([1]), &json!([1, 2])));
    }

    #[test]
    fn left_out_are_fields_that_are_no_defaults() {
        let live = json!({"replicas": 5, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}, "template": {"spec": {
            "nodeSelector": {"zone": "a"}, "dnsPolicy": "ClusterFirst", "containers": [
                {"name": "c", "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}}, {"name": "proxy"}]}}});
        let manifest = json!({"template": {"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]}}});
        assert_eq!(left_out(&live, &manifest, 9), ["replicas", "template.spec.containers[proxy]", "template.spec.nodeSelector"]);
        assert_eq!(left_out(&live, &manifest, 1).len(), 1);
        assert!(left_out(&live, &live, 9).is_empty());
    }
}
