//! The objects that admission reads and scheduling does not: ResourceQuotas, LimitRanges, ServiceAccounts, RuntimeClasses.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::limit_range::LimitRange;
use super::quota::Quota;
use super::{NewPod, Refusal};
use crate::cluster::neighbors::{Neighbor, NeighborContent, NeighborKind, Neighbors};
use crate::cluster::{Key, Labels, List, Meta, ResourceList, Str, Toleration};

/// The kinds of [`Policies`].
const KINDS: [NeighborKind; 4] =
    [NeighborKind::ResourceQuota, NeighborKind::LimitRange, NeighborKind::ServiceAccount, NeighborKind::RuntimeClass];

/// Returns the kind of an object; `None` for objects that are no policies.
fn policy_kind(kind: &str, api_version: &str) -> Option<NeighborKind> {
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    kind.parse().ok().filter(|found: &NeighborKind| KINDS.contains(found) && found.groups().contains(&group))
}

/// The policies of a cluster, which admission reads beside [`crate::cluster::Cluster`].
#[derive(Clone, Debug, Default)]
pub struct Policies {
    quotas: BTreeMap<Key, Arc<Quota>>,
    limit_ranges: BTreeMap<Key, Arc<LimitRange>>,
    accounts: BTreeSet<Key>,
    runtime_classes: BTreeMap<Str, RuntimeClass>,
    /// The kinds of which all objects are known.
    known: BTreeSet<NeighborKind>,
}

/// `node.k8s.io/v1.RuntimeClass`, as far as it changes pods.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RuntimeClass {
    metadata: Meta,
    overhead: Overhead,
    scheduling: RuntimeScheduling,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Overhead {
    pod_fixed: ResourceList,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RuntimeScheduling {
    node_selector: Labels,
    tolerations: List<Toleration>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AnyPolicy {
    metadata: Meta,
}

/// Returns an object with its kind and version.
fn whole(object: &Neighbor) -> Value {
    let mut value = if let NeighborContent::Other(content) = &object.content { Value::clone(content) } else { json!({}) };
    value["apiVersion"] = json!(if object.kind == NeighborKind::RuntimeClass { "node.k8s.io/v1" } else { "v1" });
    value["kind"] = json!(object.kind.to_string());
    value["metadata"] = json!({"name": object.metadata.name.as_str(), "namespace": object.metadata.namespace.as_str()});
    value
}

/// Returns the key before which no other of the namespace is.
fn first_of(namespace: &Str) -> Key {
    Key { namespace: namespace.clone(), name: Str::default() }
}

/// Returns the objects of a namespace, by name.
fn in_namespace<'a, T>(objects: &'a BTreeMap<Key, T>, namespace: &Str) -> impl Iterator<Item = &'a T> {
    let namespace = namespace.clone();
    objects.range(first_of(&namespace)..).take_while(move |(key, _)| key.namespace == namespace).map(|(_, object)| object)
}

/// A policy with fields of other types than the API's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its fields have other types than the API's")]
pub struct OtherTypes;

impl From<serde_json::Error> for OtherTypes {
    fn from(_: serde_json::Error) -> Self {
        Self
    }
}

/// One of [`Policies`].
enum Policy {
    Quota(Quota),
    LimitRange(LimitRange),
    Account,
    RuntimeClass(RuntimeClass),
}

impl Policy {
    /// Reads an object with its `kind` and `apiVersion`; `None` for other kinds.
    fn read(object: &Value) -> Result<Option<(NeighborKind, Key, Self)>, OtherTypes> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let Some(kind) = policy_kind(text("kind"), text("apiVersion")) else { return Ok(None) };
        let mut key = AnyPolicy::deserialize(object)?.metadata.key();
        if key.namespace.is_empty() && kind != NeighborKind::RuntimeClass {
            key.namespace = "default".into();
        }
        let policy = match kind {
            NeighborKind::ResourceQuota => Self::Quota(Quota::read(object, &key)?),
            NeighborKind::LimitRange => Self::LimitRange(LimitRange::read(object, &key)?),
            NeighborKind::ServiceAccount => Self::Account,
            NeighborKind::RuntimeClass => Self::RuntimeClass(RuntimeClass::deserialize(object)?),
            _ => return Ok(None),
        };
        Ok(Some((kind, key, policy)))
    }
}

impl Policies {
    /// Adds or replaces an object, which must have its `kind` and `apiVersion`. Returns its kind and key; `None` for objects that are no
    /// policies.
    ///
    /// # Errors
    /// When a field has another type than the API's.
    pub fn insert(&mut self, object: &Value) -> Result<Option<(NeighborKind, Key)>, OtherTypes> {
        let Some((kind, key, policy)) = Policy::read(object)? else { return Ok(None) };
        match policy {
            Policy::Quota(quota) => drop(self.quotas.insert(key.clone(), Arc::new(quota))),
            Policy::LimitRange(range) => drop(self.limit_ranges.insert(key.clone(), Arc::new(range))),
            Policy::Account => drop(self.accounts.insert(key.clone())),
            Policy::RuntimeClass(class) => drop(self.runtime_classes.insert(key.name.clone(), class)),
        }
        Ok(Some((kind, key)))
    }

    /// Checks the fields of an object, if its kind is that of a policy.
    ///
    /// # Errors
    /// When a field has another type than the API's.
    pub fn check(object: &Neighbor) -> Result<(), OtherTypes> {
        if KINDS.contains(&object.kind) { Policy::read(&whole(object)).map(drop) } else { Ok(()) }
    }

    /// Notes that all objects of a kind are known.
    pub(super) fn add_known(&mut self, kind: NeighborKind) {
        self.known.insert(kind);
    }

    /// Returns the policies among the objects beside a cluster. A kind of which one cannot be read is not known.
    pub fn of(neighbors: &Neighbors) -> Self {
        let mut policies = Self::default();
        for kind in KINDS {
            let mut is_known = neighbors.knows(kind) && neighbors.why(kind).is_none();
            for object in neighbors.of_kind(kind) {
                is_known &= policies.insert(&whole(object)).is_ok();
            }
            if is_known {
                policies.add_known(kind);
            }
        }
        policies
    }

    /// Returns the policies for the pods of one namespace. A kind of which one there cannot be read is not known.
    pub fn of_namespace(neighbors: &Neighbors, namespace: &Str) -> Self {
        let mut policies = Self::default();
        for kind in KINDS {
            let mut is_known = neighbors.knows(kind) && neighbors.why(kind).is_none();
            let mut insert = |object: &Neighbor| is_known &= policies.insert(&whole(object)).is_ok();
            match kind {
                NeighborKind::RuntimeClass => neighbors.of_kind(kind).for_each(|object| insert(object)),
                _ => neighbors.in_namespace(kind, namespace).for_each(|object| insert(object)),
            }
            if is_known {
                policies.add_known(kind);
            }
        }
        policies
    }

    /// Returns whether there are policies that may refuse or change the pods of a namespace.
    pub fn any_for(neighbors: &Neighbors, namespace: &Str) -> bool {
        let in_namespace = |kind| neighbors.in_namespace(kind, namespace).next().is_some();
        in_namespace(NeighborKind::LimitRange)
            || in_namespace(NeighborKind::ResourceQuota)
            || neighbors.of_kind(NeighborKind::RuntimeClass).next().is_some()
    }

    /// Returns the kinds that the source does not have, or not whole: whether an object of one refuses or changes pods is unknown.
    pub fn unknown(&self) -> impl Iterator<Item = NeighborKind> {
        KINDS.into_iter().filter(|kind| !self.known.contains(kind))
    }

    /// Returns the quotas of a namespace, by name.
    pub(super) fn quotas_in(&self, namespace: &Str) -> impl Iterator<Item = &Arc<Quota>> {
        in_namespace(&self.quotas, namespace)
    }

    pub(super) fn quota(&self, key: &Key) -> Option<&Arc<Quota>> {
        self.quotas.get(key)
    }

    pub(super) fn limit_ranges_in(&self, namespace: &Str) -> impl Iterator<Item = &Arc<LimitRange>> {
        in_namespace(&self.limit_ranges, namespace)
    }

    /// Returns whether a service account exists; `None` if that is unknown. Each namespace has an account `default`, so the accounts of
    /// a namespace without any were not read.
    pub(super) fn has_account(&self, account: &Key) -> Option<bool> {
        let first = self.accounts.range(first_of(&account.namespace)..).next()?;
        let exists = account.name == "default" || self.accounts.contains(account);
        (first.namespace == account.namespace && (exists || self.known.contains(&NeighborKind::ServiceAccount))).then_some(exists)
    }

    /// Returns the node selector of a runtime class; `None` if the class is not known or selects no nodes.
    pub fn runtime_selector(&self, class: &str) -> Option<&Labels> {
        self.runtime_classes.get(&Str::from(class)).map(|class| &class.scheduling.node_selector).filter(|labels| !labels.is_empty())
    }

    /// Removes from a pod, as JSON, the overhead and the node selector that the admission of its runtime class has set.
    pub fn remove_runtime_class(&self, pod: &mut Value) {
        let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
        let name = spec.get("runtimeClassName").and_then(Value::as_str).map(Str::from);
        let Some(class) = name.and_then(|name| self.runtime_classes.get(&name)) else { return };
        spec.remove("overhead");
        if let Some(selector) = spec.get_mut("nodeSelector").and_then(Value::as_object_mut) {
            selector.retain(|key, value| class.scheduling.node_selector.get(key.as_str()).map(Str::as_str) != value.as_str());
        }
    }

    /// Sets the overhead, node selector and tolerations of the pod's runtime class; mirrors
    /// `plugin/pkg/admission/runtimeclass/admission.go`.
    ///
    /// # Errors
    /// When the class does not exist, or the pod has another overhead or selector than it.
    pub(super) fn apply_runtime_class(&self, new: &mut NewPod) -> Result<(), Refusal> {
        let Some(name) = new.runtime_class.clone().filter(|name| !name.is_empty()) else {
            return if new.pod.spec.overhead.is_empty() { Ok(()) } else { Err(Refusal::OverheadWithoutClass) };
        };
        let Some(class) = self.runtime_classes.get(&name) else {
            let is_known = self.known.contains(&NeighborKind::RuntimeClass);
            return if is_known { Err(Refusal::NoRuntimeClass(name)) } else { Ok(()) };
        };
        let spec = new.pod.spec_mut();
        if class.overhead.pod_fixed.is_empty() && !spec.overhead.is_empty() {
            return Err(Refusal::OverheadWithoutClass);
        }
        if !spec.overhead.is_empty() && spec.overhead != class.overhead.pod_fixed {
            return Err(Refusal::OtherOverhead);
        }
        spec.overhead = class.overhead.pod_fixed.clone();
        if !class.scheduling.node_selector.is_empty() {
            let selector = spec.node_selector.get_or_insert_default();
            for (key, value) in class.scheduling.node_selector.iter() {
                if let Some(given) = selector.get(key.as_str()).filter(|given| *given != value) {
                    return Err(Refusal::OtherSelector { key: key.clone(), class: value.clone(), given: given.clone() });
                }
                selector.insert(key.clone(), value.clone());
            }
        }
        let mut seen: HashSet<Toleration> = spec.tolerations.iter().cloned().collect();
        spec.tolerations.extend(class.scheduling.tolerations.iter().filter(|toleration| seen.insert((*toleration).clone())).cloned());
        Ok(())
    }
}
