//! Infers the kind of objects that have none: from the path under which an API server served them, from fields that only
//! one kind has, and from the form of Kubernetes' internal types.
//!
//! Before 1.14, `kubectl cluster-info dump` printed the internal types of `pkg/apis/core/types.go`: metadata among the
//! object's own fields, and all other fields under their Go names (`Spec`, `NodeName`, `PodCIDR`).

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::null_as_zero::NullAsZero;
use super::read_json;
use crate::source::layout::{KindOf, of_resource};
use crate::source::read::split::Syntax;

/// Properties of an object without a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::source) struct Untyped {
    /// It has a name, as every object of a cluster does.
    pub(in crate::source) named: bool,
    /// It has Kubernetes' internal form.
    pub(in crate::source) internal: bool,
    /// It refers to another object, as only an Event does.
    pub(in crate::source) event: bool,
    pub(in crate::source) self_link: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Names {
    name: String,
    self_link: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Glance {
    metadata: Option<Names>,
    name: Option<Value>,
    self_link: Option<Value>,
    involved_object: Option<IgnoredAny>,
    #[serde(rename = "Spec")]
    spec: Option<IgnoredAny>,
    #[serde(rename = "Status")]
    status: Option<IgnoredAny>,
    #[serde(rename = "InvolvedObject")]
    internal_involved: Option<IgnoredAny>,
}

/// Inspects the text of an object without a kind; all properties are false if it is not an object.
pub(in crate::source) fn look(text: &[u8], syntax: Syntax) -> Untyped {
    let glance: Option<Glance> = match syntax {
        Syntax::Json => read_json(text, |d| Glance::deserialize(d)).ok(),
        Syntax::Yaml => Glance::deserialize(NullAsZero(serde_yaml::Deserializer::from_slice(text))).ok(),
    };
    let Some(glance) = glance else { return Untyped::default() };
    let internal = glance.metadata.is_none() && (glance.spec.is_some() || glance.status.is_some() || glance.internal_involved.is_some());
    let inlined = |value: Option<Value>| value.as_ref().and_then(Value::as_str).filter(|_| internal).unwrap_or_default().to_owned();
    let Names { name, self_link } =
        glance.metadata.unwrap_or_else(|| Names { name: inlined(glance.name), self_link: inlined(glance.self_link) });
    Untyped {
        named: !name.is_empty(),
        internal,
        event: glance.involved_object.is_some() || (internal && glance.internal_involved.is_some()),
        self_link: Some(self_link).filter(|link| !link.is_empty()),
    }
}

/// Returns the kind and `apiVersion` of objects served under a path such as `/api/v1/namespaces/shop/pods/web` or
/// `/apis/apps/v1/deployments`. A kind outside the model is named by its resource: `deployments.apps`.
pub(in crate::source) fn of_self_link(link: &str) -> Option<(String, String)> {
    let parts: Vec<&str> = link.split('/').filter(|part| !part.is_empty()).collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    let resource = match rest {
        ["namespaces", _, resource, ..] | [resource, ..] => *resource,
        [] => return None,
    };
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let full = if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") };
    Some((of_resource(&full).map_or(full, |KindOf { kind, .. }| kind.to_owned()), api_version))
}

/// Fields whose keys are user data and are kept.
const MAPS: [&str; 10] =
    ["NodeSelector", "Selector", "Limits", "Requests", "Overhead", "Capacity", "Allocatable", "Hard", "Used", "Parameters"];

/// Fields that a scheduler reads and whose `v1` names differ in more than their first letters.
const RENAMED: [(&str, &str); 4] =
    [("CephMonitors", "monitors"), ("RBDPool", "pool"), ("RBDImage", "image"), ("PodDisruptionsAllowed", "disruptionsAllowed")];

/// Converts an object of internal form to JSON of its `v1` form; `None` if it does not parse.
pub(in crate::source) fn present_form(text: &[u8], syntax: Syntax) -> Option<Vec<u8>> {
    let object: Map<String, Value> = match syntax {
        Syntax::Json => serde_json::from_slice(text).ok()?,
        Syntax::Yaml => Map::deserialize(serde_yaml::Deserializer::from_slice(text)).ok()?,
    };
    let (mut metadata, mut present) = (Map::new(), Map::new());
    for (key, value) in object {
        match key.as_str() {
            "kind" | "apiVersion" => drop(present.insert(key, value)),
            _ if is_exported(&key) => drop(present.insert(field(&key), fields(value, &key))),
            _ => drop(metadata.insert(key, value)),
        }
    }
    // This field of the internal security context is a field of the pod.
    if let Some(spec) = present.get_mut("spec").and_then(Value::as_object_mut)
        && let Some(host_network) = spec.get("securityContext").and_then(|context| context.get("hostNetwork")).cloned()
    {
        spec.insert("hostNetwork".to_owned(), host_network);
    }
    present.insert("metadata".to_owned(), Value::Object(metadata));
    serde_json::to_vec(&present).ok()
}

/// Returns whether a key is a Go field name. Types of `k8s.io/apimachinery` use the API's names.
fn is_exported(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Returns a field's API name: `Spec` is `spec`, `PodCIDR` is `podCIDR` and `GCEPersistentDisk` is `gcePersistentDisk`.
fn field(key: &str) -> String {
    if let Some((_, name)) = RENAMED.iter().find(|(internal, _)| *internal == key) {
        return (*name).to_owned();
    }
    let capitals = key.bytes().take_while(u8::is_ascii_uppercase).count();
    let lowered = if capitals > 1 && capitals < key.len() { capitals - 1 } else { capitals };
    format!("{}{}", key[..lowered].to_ascii_lowercase(), &key[lowered..])
}

/// Renames all fields in a value to their API names.
fn fields(value: Value, of: &str) -> Value {
    match value {
        Value::Object(object) if !MAPS.contains(&of) => {
            let rename = |(key, value): (String, Value)| {
                if is_exported(&key) { (field(&key), fields(value, &key)) } else { (key, value) }
            };
            Value::Object(object.into_iter().map(rename).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| fields(item, of)).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
