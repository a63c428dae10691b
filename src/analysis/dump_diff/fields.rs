//! The fields that differ between two states of an object, as far as scheduling reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::cluster::{Kind, OTHER_ANNOTATIONS, Object};

/// A step of the path to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field by its name.
    Field(String),
    /// An item of a list by what identifies it: its name, type, or key and effect.
    Item(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldPath(pub Vec<Step>);

impl FieldPath {
    fn with(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// Returns whether the path begins with fields of these names.
    pub fn is_under(&self, names: &[&str]) -> bool {
        names.len() <= self.0.len() && self.0.iter().zip(names).all(|(step, name)| matches!(step, Step::Field(field) if field == name))
    }

    /// Returns the name of the last step.
    pub fn last(&self) -> &str {
        match self.0.last() {
            Some(Step::Field(name) | Step::Item(name)) => name,
            None => "",
        }
    }
}

/// Writes the path as `spec.containers[app].resources.requests.cpu`. A name with dots is quoted.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Item(name) => write!(f, "[{name}]")?,
                Step::Field(name) if name.contains('.') => write!(f, "[{name:?}]")?,
                Step::Field(name) if at == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for FieldPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldChange {
    pub field: FieldPath,
    /// Its value before; `None` if the object did not have it.
    pub from: Option<Value>,
    /// Its value after; `None` if the object does not have it.
    pub to: Option<Value>,
}

/// Returns the fields that differ, in the order of their paths. Leaves out those that no decision reads: versions, times of
/// conditions, reports of schedulers and of the kubelet.
pub(super) fn field_changes(before: &Object, after: &Object) -> Vec<FieldChange> {
    let [from, to] = [before, after].map(|object| Some(read_by_scheduling(object)));
    let mut found = Vec::new();
    compare(&FieldPath::default(), from.as_ref(), to.as_ref(), &mut found);
    found
}

/// Returns the part of an object that decisions read.
fn read_by_scheduling(object: &Object) -> Value {
    // Objects of the model are always values.
    let mut value = serde_json::to_value(object).unwrap_or_default();
    let mut without = |parent: &str, names: &[&str]| {
        if let Some(Value::Object(fields)) = value.get_mut(parent) {
            fields.retain(|name, _| !names.contains(&name.as_str()));
        }
    };
    without("metadata", &["uid", "resourceVersion", "creationTimestamp", "managedFields"]);
    match object.kind() {
        Kind::Pod => without("status", &["conditions", "startTime"]),
        Kind::Node => without("status", &["capacity", "nodeInfo"]),
        _ => {}
    }
    if let Some(Value::Object(annotations)) = value.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations")) {
        annotations.remove(OTHER_ANNOTATIONS);
    }
    let Some(Value::Object(status)) = value.get_mut("status") else { return value };
    if object.kind() == Kind::Pod {
        // A decision reads only that a pod has ended.
        let is_over = status.get("phase").is_some_and(|phase| phase == "Succeeded" || phase == "Failed");
        if !is_over {
            status.remove("phase");
        }
    }
    if object.kind() == Kind::Node {
        for condition in status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(fields) = condition {
                fields.retain(|name, _| name == "type" || name == "status");
            }
        }
        if let Some(images) = status.get_mut("images") {
            // Their names fill pages; a score reads them, and no filter does.
            *images = Value::from(images.as_array().map_or(0, Vec::len));
        }
    }
    value
}

fn compare(path: &FieldPath, from: Option<&Value>, to: Option<&Value>, out: &mut Vec<FieldChange>) {
    if from == to {
        return;
    }
    let fields = |value: Option<&Value>| match value {
        Some(Value::Object(fields)) => Some(fields.clone()),
        // A map that is absent is empty: its entries are named one by one.
        None => Some(Map::new()),
        _ => None,
    };
    let is_map =
        |value: Option<&Value>| matches!(value, Some(Value::Object(fields)) if fields.values().all(|v| !v.is_object() && !v.is_array()));
    let both = matches!((from, to), (Some(Value::Object(_)), Some(Value::Object(_))));
    if (both || (is_map(from) || is_map(to)) && (from.is_none() || to.is_none()))
        && !path.0.last().is_some_and(|step| matches!(step, Step::Item(_)) && !both)
        && let (Some(from), Some(to)) = (fields(from), fields(to))
    {
        let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        for name in names {
            compare(&path.with(Step::Field(name.clone())), from.get(name), to.get(name), out);
        }
        return;
    }
    let is_list = matches!(from, Some(Value::Array(_))) || matches!(to, Some(Value::Array(_)));
    if is_list && let (Some(from), Some(to)) = (items(from), items(to)) {
        let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        for name in names {
            compare(&path.with(Step::Item(name.clone())), from.get(name).copied(), to.get(name).copied(), out);
        }
        return;
    }
    out.push(FieldChange { field: path.clone(), from: from.cloned(), to: to.cloned() });
}

/// Returns the items of a list by what identifies them; `None` where nothing does.
fn items(list: Option<&Value>) -> Option<BTreeMap<String, &Value>> {
    let Some(list) = list else { return Some(BTreeMap::new()) };
    let list = list.as_array()?;
    let mut items = BTreeMap::new();
    for item in list {
        if items.insert(identity(item)?, item).is_some() {
            return None;
        }
    }
    Some(items)
}

fn identity(item: &Value) -> Option<String> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    match item {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => match (text("key"), text("effect")) {
            (Some(key), Some(effect)) => Some(format!("{key}:{effect}")),
            _ => text("name").or_else(|| text("type")).map(str::to_owned),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;
