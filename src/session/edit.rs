//! Parses edits that a user types, such as `cordon NODE`, and turns them into operations.

use serde_json::{Map, Value, json};

use crate::cluster::{Cluster, Key, Kind, Object, Str};
use crate::scheduler::Operation;

/// The taint that the node controller puts on a cordoned node.
const UNSCHEDULABLE_TAINT: &str = "node.kubernetes.io/unschedulable";

/// Error of an edit: it cannot be parsed, or it does not apply to the cluster. The text is for the user.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The first word is no edit.
    #[error("{0:?} is not one of cordon, uncordon, delete, patch, allow, reject")]
    UnknownWord(String),
    /// An argument is missing.
    #[error("expected {0}")]
    Missing(&'static str),
    /// The word is not a kind that scheduling reads.
    #[error("{0:?} is not a kind that scheduling reads")]
    UnknownKind(String),
    /// Text follows the last argument.
    #[error("unexpected {0:?} at the end")]
    TooMuch(String),
    /// The patch is not valid JSON.
    #[error("the patch is not valid JSON: {0}")]
    PatchSyntax(serde_json::Error),
    /// The patch is valid JSON, but not an object.
    #[error("the patch is not a JSON object")]
    PatchNotAnObject,
    /// The cluster does not have the object.
    #[error("there is no {kind} {key}")]
    NotFound {
        /// Kind of the object.
        kind: Kind,
        /// Key of the object.
        key: Key,
    },
    /// Objects in several namespaces have the name.
    #[error("{one} and {other} have this name: give the namespace too")]
    Ambiguous {
        /// One of them.
        one: Key,
        /// Another.
        other: Key,
    },
    /// The object cannot be serialized.
    #[error("{0}")]
    Json(serde_json::Error),
    /// The patched object cannot be deserialized.
    #[error("the patched {kind} {key} is invalid: {error}")]
    Invalid {
        /// Kind of the object.
        kind: Kind,
        /// Key of the object.
        key: Key,
        /// Error of the deserializer.
        error: serde_json::Error,
    },
    /// The patch changes the name or the namespace.
    #[error("a patch cannot change an object's name")]
    Renamed,
    /// The patch sets a field that the model does not have.
    #[error("{path} of a {kind} does not affect scheduling")]
    UnknownField {
        /// Path of the field, such as `spec.cpu`.
        path: String,
        /// Kind of the object.
        kind: Kind,
    },
    /// The edit leaves the object as it is.
    #[error("{kind} {key} would not change")]
    Unchanged {
        /// Kind of the object.
        kind: Kind,
        /// Key of the object.
        key: Key,
    },
}

/// A parsed edit.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Marks a node unschedulable.
    Cordon(Str),
    /// Marks a node schedulable.
    Uncordon(Str),
    /// Deletes an object.
    Delete(Kind, Key),
    /// Applies a JSON merge patch (RFC 7396) to an object.
    Patch(Kind, Key, Value),
    /// Allows a pod that waits on Permit, for every plugin.
    Allow(Key),
    /// Rejects a pod that waits on Permit.
    Reject(Key),
}

/// Writes the edit as it is typed.
impl std::fmt::Display for Edit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cordon(node) => write!(f, "cordon {node}"),
            Self::Uncordon(node) => write!(f, "uncordon {node}"),
            Self::Delete(kind, key) => write!(f, "delete {kind} {key}"),
            Self::Patch(kind, key, patch) => write!(f, "patch {kind} {key} {patch}"),
            Self::Allow(pod) => write!(f, "allow {pod}"),
            Self::Reject(pod) => write!(f, "reject {pod}"),
        }
    }
}

impl Edit {
    /// Parses an edit. A name without a namespace is one in the namespace `default`.
    pub fn parse(text: &str) -> Result<Self, EditError> {
        Self::parse_with(text, |kind, name| Ok(key_named(kind, name)))
    }

    /// Parses an edit of a cluster. A name without a namespace that no object in the namespace `default` has is that of the
    /// only object with this name.
    pub fn parse_in(text: &str, cluster: &Cluster) -> Result<Self, EditError> {
        Self::parse_with(text, |kind, name| {
            let key = key_named(kind, name);
            if !kind.namespaced() || name.contains('/') || cluster.get(kind, &key).is_some() {
                return Ok(key);
            }
            let objects = cluster.objects_of(kind);
            let mut called = objects.iter().map(Object::key).filter(|key| key.name == name);
            match (called.next(), called.next()) {
                (Some(one), Some(other)) => Err(EditError::Ambiguous { one, other }),
                (only, _) => Ok(only.unwrap_or(key)),
            }
        })
    }

    fn parse_with(text: &str, key: impl Fn(Kind, &str) -> Result<Key, EditError>) -> Result<Self, EditError> {
        let (word, rest) = cut(text);
        match word {
            "cordon" | "uncordon" => {
                let node = some(rest, "a node name")?;
                Ok(if word == "cordon" { Self::Cordon(node.into()) } else { Self::Uncordon(node.into()) })
            }
            "allow" => Ok(Self::Allow(key(Kind::Pod, some(rest, "a pod name")?)?)),
            "reject" => Ok(Self::Reject(key(Kind::Pod, some(rest, "a pod name")?)?)),
            "delete" | "patch" => {
                let (kind_word, rest) = cut(some(rest, "a kind and a name")?);
                let kind = Kind::named(kind_word).ok_or_else(|| EditError::UnknownKind(kind_word.to_owned()))?;
                let (name, rest) = cut(some(rest, "a name")?);
                let key = key(kind, name)?;
                if word == "delete" {
                    return if rest.is_empty() { Ok(Self::Delete(kind, key)) } else { Err(EditError::TooMuch(rest.to_owned())) };
                }
                let patch: Value =
                    serde_json::from_str(some(rest, "a patch, such as {\"spec\":{\"priority\":1}}")?).map_err(EditError::PatchSyntax)?;
                if !patch.is_object() {
                    return Err(EditError::PatchNotAnObject);
                }
                Ok(Self::Patch(kind, key, patch))
            }
            _ => Err(EditError::UnknownWord(word.to_owned())),
        }
    }

    /// Returns the operation that applies the edit to a cluster.
    pub fn operation(&self, cluster: &Cluster) -> Result<Operation, EditError> {
        let get = |kind: Kind, key: &Key| cluster.get(kind, key).ok_or_else(|| EditError::NotFound { kind, key: key.clone() });
        let node_key = |node: &Str| Key { namespace: Str::default(), name: node.clone() };
        match self {
            Self::Cordon(node) => {
                let old = get(Kind::Node, &node_key(node))?;
                // As for kubectl, a node without the taint is cordoned, too: the node controller adds it.
                if matches!(&old, Object::Node(node) if node.spec.unschedulable == Some(true)) {
                    return Err(EditError::Unchanged { kind: Kind::Node, key: old.key() });
                }
                let mut taints = taints(&old)?;
                if !taints.iter().any(|t| t["key"] == UNSCHEDULABLE_TAINT) {
                    taints.push(json!({"key": UNSCHEDULABLE_TAINT, "effect": "NoSchedule"}));
                }
                patched(&old, &json!({"spec": {"unschedulable": true, "taints": taints}}))
            }
            Self::Uncordon(node) => {
                let old = get(Kind::Node, &node_key(node))?;
                let mut taints = taints(&old)?;
                taints.retain(|t| t["key"] != UNSCHEDULABLE_TAINT);
                patched(&old, &json!({"spec": {"unschedulable": null, "taints": taints}}))
            }
            Self::Delete(kind, key) => Ok(Operation::Delete { object: get(*kind, key)? }),
            Self::Patch(kind, key, patch) => patched(&get(*kind, key)?, patch),
            Self::Allow(pod) => Ok(Operation::Allow { pod: pod.clone() }),
            Self::Reject(pod) => Ok(Operation::Reject { pod: pod.clone() }),
        }
    }
}

/// Parses a name as [`Edit`] and [`super::Until`] do: `NAMESPACE/NAME`, or a name in the namespace `default`.
pub fn key_named(kind: Kind, text: &str) -> Key {
    if !kind.namespaced() {
        return Key { namespace: Str::default(), name: text.into() };
    }
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    Key::new(namespace, name)
}

fn cut(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

fn some<'a>(text: &'a str, what: &'static str) -> Result<&'a str, EditError> {
    if text.is_empty() { Err(EditError::Missing(what)) } else { Ok(text) }
}

fn taints(node: &Object) -> Result<Vec<Value>, EditError> {
    let value = serde_json::to_value(node).map_err(EditError::Json)?;
    Ok(value["spec"]["taints"].as_array().cloned().unwrap_or_default())
}

/// Returns the update of an object with a JSON merge patch (RFC 7396).
pub(crate) fn patched(old: &Object, patch: &Value) -> Result<Operation, EditError> {
    let mut value = serde_json::to_value(old).map_err(EditError::Json)?;
    merge(&mut value, patch);
    let (kind, key) = (old.kind(), old.key());
    let object = Object::deserialize_kind(kind, value).map_err(|error| EditError::Invalid { kind, key: key.clone(), error })?;
    if object.key() != key {
        return Err(EditError::Renamed);
    }
    let new = serde_json::to_value(&object).map_err(EditError::Json)?;
    match lost(&new, patch, "") {
        Some(path) => Err(EditError::UnknownField { path, kind }),
        None if object == *old => Err(EditError::Unchanged { kind, key }),
        None => Ok(Operation::Update { object }),
    }
}

/// Applies a JSON merge patch (RFC 7396).
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(fields) = value else { return };
    for (name, patch) in patch {
        if patch.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), patch);
        }
    }
}

/// Returns the first field that the patch sets and the object lacks: the model does not have it. Skips defaults, which
/// are not serialized, and annotations, of which only some are kept.
fn lost(value: &Value, patch: &Value, path: &str) -> Option<String> {
    let Value::Object(patch) = patch else { return None };
    for (name, patch) in patch {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let default = matches!(patch, Value::Null | Value::Bool(false))
            || *patch == json!(0)
            || *patch == json!("")
            || patch.as_array().is_some_and(Vec::is_empty)
            || patch.as_object().is_some_and(Map::is_empty);
        if default || path == "metadata.annotations" {
            continue;
        }
        match value.get(name) {
            None => return Some(path),
            Some(value) => {
                if let Some(path) = lost(value, patch, &path) {
                    return Some(path);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
