//! Fixes as patches: RFC 7386 merge patches of the original objects.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::FixSource;
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Cluster, Key, Kind, Object};
use crate::fixes::{Change, Originals, count_values};
use crate::limits::engine::FIXES_PATCH_VALUES;

/// An object as it is written.
#[derive(Clone)]
struct Written {
    value: Rc<Value>,
    /// Its number of values.
    count: u64,
    /// Whether it has the fields that scheduling does not read.
    is_original: bool,
}

/// The objects that changes apply to.
pub(super) struct Targets<'a> {
    /// The pod that a fix is for.
    pub(super) pod: &'a Key,
    /// The decoded objects, with the fields that scheduling reads.
    pub(super) cluster: &'a Cluster,
    /// The objects that scheduling does not read.
    pub(super) neighbors: &'a Neighbors,
    /// The original objects.
    originals: Originals<'a>,
    /// Those that were asked for.
    known: RefCell<BTreeMap<(Kind, Key), Option<Written>>>,
    /// Values that patches of demands may still take to make.
    left: Cell<u64>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(pod: &'a Key, cluster: &'a Cluster, (originals, neighbors): FixSource<'a>) -> Self {
        Self { pod, cluster, neighbors, originals, known: RefCell::default(), left: Cell::new(FIXES_PATCH_VALUES) }
    }

    /// Returns the original object, or else the decoded one.
    pub(super) fn written(&self, kind: Kind, key: &Key) -> Option<Rc<Value>> {
        Some(self.known(kind, key)?.value)
    }

    /// Returns whether an object is known with the fields that scheduling does not read.
    pub(super) fn is_original(&self, kind: Kind, key: &Key) -> bool {
        self.known(kind, key).is_some_and(|written| written.is_original)
    }

    /// Returns an object with the fields that scheduling does not read; `None` if its source cannot be read again.
    pub(super) fn original(&self, kind: Kind, key: &Key) -> Option<Value> {
        (self.originals)(kind, key)
    }

    fn known(&self, kind: Kind, key: &Key) -> Option<Written> {
        let held = || Some((serde_json::to_value(self.cluster.get(kind, key)?).ok()?, false));
        let read = || (self.originals)(kind, key).map(|value| (value, true)).or_else(held);
        let written = || {
            let (value, is_original) = read()?;
            Some(Written { count: count_values(&value), value: Rc::new(value), is_original })
        };
        self.known.borrow_mut().entry((kind, key.clone())).or_insert_with(written).clone()
    }

    /// Does the same as [`Self::patches`] for a demand; `None` where those of other demands took too long to make.
    pub(super) fn patches_of_demand(&self, changes: &[Change]) -> Option<Vec<Value>> {
        let edited: BTreeSet<(Kind, Key)> =
            changes.iter().filter(|change| change.is_edit()).map(|change| change.target(self.pod)).collect();
        let taken = edited.iter().filter_map(|(kind, key)| self.known(*kind, key)).map(|written| written.count).sum();
        self.left.set(self.left.get().checked_sub(taken)?);
        Some(self.patches(changes))
    }

    /// Returns the patches that make changes, one per object, in order.
    pub(super) fn patches(&self, changes: &[Change]) -> Vec<Value> {
        let mut patches = Vec::new();
        let mut done: Vec<(Kind, Key)> = Vec::new();
        for change in changes {
            let (kind, key) = change.target(self.pod);
            match change {
                Change::Create { object, .. } => patches.push(json!({"op": "create", "object": manifest(object)})),
                Change::Delete(..) | Change::RollOut { .. } => patches.push(named(json!({"op": "delete"}), kind, &key)),
                _ if done.contains(&(kind, key.clone())) => {}
                _ => {
                    let Some(before) = self.written(kind, &key) else { continue };
                    let mut after = Value::clone(&before);
                    changes.iter().filter(|c| c.target(self.pod) == (kind, key.clone())).for_each(|c| c.edit(&mut after));
                    let mut patch = named(json!({"op": "patch"}), kind, &key);
                    patch["patch"] = difference(&before, &after).unwrap_or_else(|| json!({}));
                    patches.push(patch);
                    done.push((kind, key));
                }
            }
        }
        patches
    }

    /// Returns each change with its object and field, and the field's value before and after.
    pub(super) fn changes(&self, changes: &[Change]) -> Vec<Value> {
        let mut states: Vec<((Kind, Key), Value)> = Vec::new();
        let mut list = Vec::new();
        for change in changes {
            let (kind, key) = change.target(self.pod);
            let field = change.field();
            let mut entry = named(json!({}), kind, &key);
            entry["field"] = json!(field);
            if change.is_edit() {
                let target = (kind, key);
                let at = states.iter().position(|(known, _)| *known == target).unwrap_or_else(|| {
                    let written = self.written(target.0, &target.1).map(|value| Value::clone(&value)).unwrap_or_default();
                    states.push((target, written));
                    states.len() - 1
                });
                entry["from"] = value_of(&states[at].1, change);
                change.edit(&mut states[at].1);
                entry["to"] = value_of(&states[at].1, change);
            }
            list.push(entry);
        }
        list
    }
}

/// Adds kind, namespace and name.
fn named(mut value: Value, kind: Kind, key: &Key) -> Value {
    value["kind"] = json!(kind);
    if !key.namespace.is_empty() {
        value["namespace"] = json!(key.namespace);
    }
    value["name"] = json!(key.name);
    value
}

/// Returns the value of a change's field.
fn value_of(object: &Value, change: &Change) -> Value {
    let field = change.field();
    let spec = &object["spec"];
    match field {
        "status.allocation" => object["status"]["allocation"].clone(),
        "resources" => {
            let of = |c: &Value| json!({"name": c["name"], "requests": c["resources"]["requests"]});
            let list = |kind: &str| spec[kind].as_array().into_iter().flatten().map(of).collect::<Vec<_>>();
            let containers = [list("containers"), list("initContainers")].concat();
            if spec["resources"].is_object() {
                json!({"pod": spec["resources"]["requests"], "containers": containers})
            } else {
                json!(containers)
            }
        }
        "ports" => {
            let containers = spec["containers"].as_array().into_iter().flatten();
            let ports = containers.flat_map(|c| c["ports"].as_array().into_iter().flatten()).map(|p| p["hostPort"].clone());
            ports.filter(|p| !p.is_null()).collect()
        }
        _ => field.split('.').fold(spec, |value, name| &value[name]).clone(),
    }
}

/// Returns an object as a manifest, with `apiVersion` and `kind`.
pub(super) fn manifest(object: &Object) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    prune(&mut value);
    value["apiVersion"] = json!(object.kind().api_version());
    value
}

/// Removes null, empty strings and empty objects.
fn prune(value: &mut Value) {
    let Value::Object(fields) = value else { return };
    fields.values_mut().for_each(prune);
    fields.retain(|_, value| !(value.is_null() || *value == json!("") || *value == json!({})));
}

/// Returns the RFC 7386 merge patch from one value to another; `None` if they are equal.
pub(super) fn difference(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else { return Some(after.clone()) };
    let mut patch = Map::new();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in new {
        let change = match old.get(name) {
            Some(old) => difference(old, value),
            None => Some(value.clone()),
        };
        patch.extend(change.map(|change| (name.clone(), change)));
    }
    Some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_leads_from_one_value_to_the_other() {
        for (before, after, expected) in [
            (json!({"a": 1}), json!({"a": 1}), None),
            (
                json!({"a": 1, "b": {"c": [1], "d": 2}}),
                json!({"b": {"c": [2], "d": 2}, "e": {}}),
                Some(json!({"a": null, "b": {"c": [2]}, "e": {}})),
            ),
            (json!({"a": {"b": 1}}), json!({"a": []}), Some(json!({"a": []}))),
        ] {
            assert_eq!(difference(&before, &after), expected);
        }
    }
}
