//! Names that are kept everywhere: those of resources, drivers and schedulers, as far as an object has them as such.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fields::FREE_MAPS;
use super::neighbors::OF_STORAGE_CLASS;
use super::{DRIVER_ANNOTATIONS, KEPT_MAPS, LABEL_MAPS, LIMIT_MAPS, OF_CLASS, QUOTA_MAPS, is_amount};
use crate::cluster::Quantity;

/// Resources of Kubernetes, and the objects that a quota counts under a name of their own.
const RESOURCES: [&str; 13] = [
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
    "storage",
];

/// Fields with the name of a driver or provisioner.
const DRIVERS: [&str; 3] = ["attacher", "driver", "provisioner"];

/// Kinds that a quota may count, by the resource's name and group.
const COUNTED: [&str; 11] = [
    "configmaps",
    "cronjobs.batch",
    "deployments.apps",
    "jobs.batch",
    "persistentvolumeclaims",
    "pods",
    "replicasets.apps",
    "replicationcontrollers",
    "secrets",
    "services",
    "statefulsets.apps",
];

/// The names that objects have.
#[derive(Debug, Default)]
pub(super) struct Kept {
    resources: BTreeSet<String>,
    drivers: BTreeSet<String>,
    schedulers: BTreeSet<String>,
}

impl Kept {
    /// Takes the names in a field of an object, whose parent is the field `outer`.
    pub(super) fn add(&mut self, outer: &str, field: &str, value: &Value) {
        // Users choose the keys of these.
        if outer != "annotations" && LABEL_MAPS.contains(&outer) || FREE_MAPS.contains(&outer) {
            return;
        }
        match value {
            Value::String(text) if DRIVERS.contains(&field) || outer == "drivers" && field == "name" => {
                self.drivers.insert(text.clone());
            }
            Value::String(text) if outer == "annotations" && DRIVER_ANNOTATIONS.contains(&field) => {
                self.drivers.extend(text.split(',').map(str::to_owned));
            }
            Value::String(text) if field == "schedulerName" => drop(self.schedulers.insert(text.clone())),
            Value::String(text) if field == "extendedResourceName" => drop(self.resources.insert(text.clone())),
            Value::Object(amounts) if is_amounts(outer, field) => {
                self.resources
                    .extend(amounts.iter().filter(|(_, amount)| is_amount(amount) || amount.is_number()).map(|(name, _)| name.clone()));
            }
            _ => {}
        }
    }

    /// Adds the driver of which an object is.
    pub(super) fn add_driver(&mut self, name: &str) {
        self.drivers.insert(name.to_owned());
    }

    /// Returns a number that grows with each name.
    pub(super) fn len(&self) -> usize {
        self.resources.len() + self.drivers.len() + self.schedulers.len()
    }

    pub(super) fn is_driver(&self, name: &str) -> bool {
        self.drivers.contains(name)
    }

    pub(super) fn is_scheduler(&self, name: &str) -> bool {
        self.schedulers.contains(name)
    }

    /// Returns whether a name is that of a resource, of Kubernetes or of an object.
    pub(super) fn is_resource(&self, name: &str) -> bool {
        is_resource_of_kubernetes(name) || self.resources.contains(name)
    }

    /// Returns whether a name is that of a resource as quotas name them.
    pub(super) fn is_quota_resource(&self, name: &str) -> bool {
        let name = name.split_once(OF_STORAGE_CLASS).map_or(name, |(_, of)| of);
        let of_amount = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits.")).unwrap_or(name);
        self.is_resource(of_amount)
            || of_amount.starts_with(OF_CLASS)
            || self.resources.contains(name)
            || name.strip_prefix("count/").is_some_and(|of| COUNTED.contains(&of))
    }
}

/// Returns whether a name is that of a resource of Kubernetes.
pub(super) fn is_resource_of_kubernetes(name: &str) -> bool {
    RESOURCES.contains(&name) || name.strip_prefix("hugepages-").is_some_and(|size| size.parse::<Quantity>().is_ok())
}

/// Returns whether a field of another holds amounts by resource.
fn is_amounts(outer: &str, field: &str) -> bool {
    KEPT_MAPS.contains(&field)
        || QUOTA_MAPS.contains(&field)
        || outer == "limits" && LIMIT_MAPS.contains(&field)
        || matches!((outer, field), ("overhead", "podFixed") | ("status", "resources"))
}
