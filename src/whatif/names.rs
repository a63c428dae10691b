//! Looks up the objects that verbs name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::WhatIfError;
use crate::cluster::{Cluster, Key, Kind, Node, Pod, PodDisruptionBudget, Str};
use crate::session::{Edit, EditError, Lost};
use crate::suggest::nearest;

pub(super) fn node(cluster: &Cluster, name: &Str) -> Result<Arc<Node>, WhatIfError> {
    cluster.nodes.named(name).cloned().ok_or_else(|| {
        let meant = nearest(name, cluster.nodes.iter().map(|node| node.name().as_str())).map(str::to_owned);
        WhatIfError::NotFound { kind: Kind::Node, name: name.to_string(), meant }
    })
}

/// Returns the pod with a name: `NAMESPACE/NAME`, or a name that only one pod has.
///
/// # Errors
/// When no pod or several have the name.
pub fn pod_named(cluster: &Cluster, text: &str) -> Result<Arc<Pod>, WhatIfError> {
    let key = named(Kind::Pod, text, || cluster.pods.iter().map(|pod| (&pod.metadata.namespace, &pod.metadata.name)))?;
    cluster.pods.get(&key).cloned().ok_or(WhatIfError::NotFound { kind: Kind::Pod, name: text.to_owned(), meant: None })
}

/// Returns the budget with a name: `NAMESPACE/NAME`, or a name that only one budget has.
pub(super) fn budget(cluster: &Cluster, text: &Str) -> Result<Arc<PodDisruptionBudget>, WhatIfError> {
    let kind = Kind::PodDisruptionBudget;
    let budgets = &cluster.pod_disruption_budgets;
    let key = named(kind, text, || budgets.iter().map(|b| (&b.metadata.namespace, &b.metadata.name)))?;
    budgets.get(&key).cloned().ok_or(WhatIfError::NotFound { kind, name: text.to_string(), meant: None })
}

/// Returns the key of an object among `all`, each with namespace and name.
pub(super) fn named<'a, I>(kind: Kind, text: &str, all: impl Fn() -> I) -> Result<Key, WhatIfError>
where
    I: Iterator<Item = (&'a Str, &'a Str)>,
{
    let wanted = text.split_once('/');
    let is_meant = |(namespace, name): &(&Str, &Str)| match wanted {
        Some((in_namespace, wanted)) => namespace.as_str() == in_namespace && name.as_str() == wanted,
        None => name.as_str() == text,
    };
    let key = |(namespace, name): (&Str, &Str)| Key { namespace: namespace.clone(), name: name.clone() };
    let mut found = all().filter(is_meant).map(key);
    match (found.next(), found.next()) {
        (Some(only), None) => return Ok(only),
        (Some(one), Some(other)) => return Err(WhatIfError::Ambiguous { one, other }),
        (None, _) => {}
    }
    let (namespace, name) = wanted.map_or((None, text), |(namespace, name)| (Some(namespace), name));
    let elsewhere = || all().find(|(_, own)| own.as_str() == name).map(key);
    let similar = || {
        let near = |(of, _): &(&Str, &Str)| namespace.is_none_or(|namespace| of.as_str() == namespace);
        let own = nearest(name, all().filter(near).map(|(_, own)| own.as_str()))?;
        all().filter(near).find(|(_, other)| other.as_str() == own).map(key)
    };
    let in_namespace = || {
        let namespaces: BTreeSet<&str> = all().map(|(namespace, _)| namespace.as_str()).collect();
        let near = nearest(namespace?, namespaces.into_iter())?;
        nearest(name, all().filter(|(of, _)| of.as_str() == near).map(|(_, own)| own.as_str())).map(|own| Key::new(near, own))
    };
    let meant = elsewhere().or_else(similar).or_else(in_namespace).map(|key| key.to_string());
    Err(WhatIfError::NotFound { kind, name: text.to_owned(), meant })
}

/// Returns the error of an edit, with the name that was probably meant where the object does not exist.
pub(super) fn meant_by(cluster: &Cluster, edit: &Edit, error: EditError) -> WhatIfError {
    let EditError::NotFound { kind, key } = &error else { return error.into() };
    let kind = match edit {
        Edit::Cordon(_) | Edit::Uncordon(_) => Kind::Node,
        Edit::Allow(_) | Edit::Reject(_) => Kind::Pod,
        Edit::Delete(..) | Edit::Patch(..) => *kind,
    };
    let keys: Vec<Key> = cluster.objects_of(kind).iter().map(crate::cluster::Object::key).collect();
    let found = named(kind, &key.to_string(), || keys.iter().map(|key| (&key.namespace, &key.name)));
    found.err().unwrap_or_else(|| error.into())
}

/// Returns the nodes that are lost, by name.
pub(super) fn lost_nodes(cluster: &Cluster, lost: &Lost) -> Result<Vec<Str>, WhatIfError> {
    match lost {
        Lost::Node(name) => Ok(vec![node(cluster, name)?.name().clone()]),
        Lost::Label(short, value) => {
            let mut values: BTreeMap<&Str, BTreeSet<&Str>> = BTreeMap::new();
            for (key, value) in cluster.nodes.iter().flat_map(|node| node.metadata.labels.iter()) {
                values.entry(key).or_default().insert(value);
            }
            let label = format!("{short}={value}");
            let Some(key) = label_key(&values, short)? else {
                let own = |key: &&Str| key.rsplit('/').next().unwrap_or_default().to_owned();
                let mut names: Vec<String> = values.keys().map(ToString::to_string).collect();
                names.extend(values.keys().map(own));
                let meant = nearest(short, names.iter().map(String::as_str)).map(|key| format!("{key}={value}"));
                return Err(WhatIfError::NoNodeWithLabel { label, meant });
            };
            let has = |node: &&Arc<Node>| node.metadata.labels.get(&key) == Some(value);
            let found: Vec<Str> = cluster.nodes.iter().filter(has).map(|node| node.name().clone()).collect();
            if found.is_empty() {
                let known = values.get(&key).into_iter().flatten().map(|value| value.as_str());
                let meant = nearest(value, known).map(|value| format!("{short}={value}"));
                return Err(WhatIfError::NoNodeWithLabel { label, meant });
            }
            Ok(found)
        }
    }
}

/// Returns the label key that a name is, or is short for: the last part of a key that nodes have. Of several, the one
/// of Kubernetes counts.
fn label_key(keys: &BTreeMap<&Str, BTreeSet<&Str>>, short: &Str) -> Result<Option<Str>, WhatIfError> {
    if keys.contains_key(short) {
        return Ok(Some(short.clone()));
    }
    for prefix in ["topology.kubernetes.io", "kubernetes.io", "node.kubernetes.io", "failure-domain.beta.kubernetes.io"] {
        let key = Str::from(format!("{prefix}/{short}"));
        if keys.contains_key(&key) {
            return Ok(Some(key));
        }
    }
    let mut found = keys.keys().filter(|key| key.rsplit_once('/').is_some_and(|(_, own)| own == short.as_str()));
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => {
            Err(WhatIfError::AmbiguousLabel { short: short.to_string(), one: (*one).clone(), other: (*other).clone() })
        }
        (one, _) => Ok(one.map(|key| (*key).clone())),
    }
}
