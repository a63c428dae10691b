//! The facts of reasons with more than one or two fields.

use std::sync::Arc;

use memchr::memmem;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::fact::whole_bytes;
use crate::cluster::{Key, Requirement, Str};

/// The members of a gang while it is tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GangCount {
    /// How many must be scheduled together.
    pub min_count: i32,
    /// How many have a place.
    pub scheduled: usize,
    /// How many were not tried yet.
    pub remaining: usize,
}

/// A resource shortage: amounts requested, used and available. The unit is thousandths for CPU, else units (bytes for
/// memory).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub resource: Str,
    /// The pod's request.
    pub requested: i64,
    /// The sum of requests of the pods on the node.
    pub used: i64,
    /// The node's allocatable amount.
    pub capacity: i64,
}

impl Shortage {
    /// Returns the free amount; below 0 if pods request more than the node's capacity.
    pub fn free(&self) -> i64 {
        self.capacity.saturating_sub(self.used)
    }

    /// Returns an amount of the resource as a Kubernetes quantity.
    pub fn quantity(&self, amount: i64) -> String {
        quantity(&self.resource, amount)
    }
}

/// Writes an amount as a Kubernetes quantity: CPU from thousandths, memory as a whole number of the largest possible
/// unit.
fn quantity(resource: &str, amount: i64) -> String {
    match resource {
        "cpu" if amount % 1000 == 0 => (amount / 1000).to_string(),
        "cpu" => format!("{amount}m"),
        "memory" | "ephemeral-storage" => whole_bytes(amount).unwrap_or_else(|| amount.to_string()),
        _ => amount.to_string(),
    }
}

impl Serialize for Shortage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Shortage", 4)?;
        out.serialize_field("resource", &self.resource)?;
        out.serialize_field("requested", &self.quantity(self.requested))?;
        out.serialize_field("used", &self.quantity(self.used))?;
        out.serialize_field("capacity", &self.quantity(self.capacity))?;
        out.end()
    }
}

/// The source of a node requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeSelectorPart {
    /// `spec.nodeSelector`.
    NodeSelector,
    /// A term's `matchExpressions`.
    MatchExpressions,
    /// A term's `matchFields`.
    MatchFields,
}

/// A requirement that a node does not meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnmetRequirement {
    /// The source of the requirement.
    pub part: NodeSelectorPart,
    #[serde(flatten)]
    pub requirement: Arc<Requirement>,
    /// The node's value; `None` if it has none.
    pub found: Option<Str>,
    /// The number of alternative terms, all of them unmet; 0 for `nodeSelector`.
    pub terms: usize,
}

/// A host port in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PortConflict {
    pub port: i32,
    pub protocol: Str,
    /// The host IP that the pod requests; empty for all.
    #[serde(rename = "hostIP")]
    pub host_ip: Str,
    /// The pod that uses the port.
    #[serde(serialize_with = "optional_name")]
    pub with: Option<Key>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskInUse {
    /// The volume of the pod.
    pub volume: Str,
    /// The pod that uses the disk.
    #[serde(serialize_with = "name")]
    pub with: Key,
}

/// A CSI driver's limit on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeLimit {
    pub driver: Str,
    /// Volumes attached to the node.
    pub attached: i64,
    /// Volumes that the pod adds.
    pub added: i64,
    /// The number of volumes that the driver can attach.
    pub limit: i64,
}

/// A volume whose zone or region differs from the node's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ZoneMismatch {
    pub volume: Str,
    /// The label.
    pub key: Str,
    /// The volume's zones or regions.
    pub values: Zones,
    /// The node's value; `None` if it has no such label.
    pub found: Option<Str>,
}

/// Zones or regions as the label of a volume lists them, as in `a__b`. A list of any length is shared and not copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zones(Str);

impl Zones {
    pub fn of(label: &Str) -> Self {
        Self(label.clone())
    }

    /// Returns the zones or regions in the order of the label.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        const MARK: &str = "__";
        let text = self.0.as_str();
        let (mut marks, mut start) = (memmem::find_iter(text.as_bytes(), MARK), Some(0));
        std::iter::from_fn(move || {
            let from = start?;
            let mark = marks.next();
            start = mark.map(|at| at + MARK.len());
            Some(text[from..mark.unwrap_or(text.len())].trim())
        })
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.iter().count()
    }
}

impl Serialize for Zones {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// A spread constraint that placing the pod would violate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpreadSkew {
    /// The constraint's key.
    pub topology_key: Str,
    /// The node's domain.
    pub domain: Str,
    /// Matching pods in the domain, including the pod itself if it matches.
    pub matching: i64,
    /// The number of matching pods in the domain with the fewest.
    pub lowest: i64,
    /// The constraint's `maxSkew`.
    pub max_skew: i64,
}

/// A pod affinity term without a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoMatchInDomain {
    /// The term's key.
    pub topology_key: Str,
    /// The node's domain; `None` where the node lacks the key.
    pub domain: Option<Str>,
}

/// A pod that conflicts by anti-affinity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainConflict {
    /// The term's key.
    pub topology_key: Str,
    /// The node's domain.
    pub domain: Str,
    /// One of the conflicting pods.
    #[serde(serialize_with = "optional_name")]
    pub with: Option<Key>,
}

/// Writes an object as `namespace/name`.
pub(super) fn name<S: Serializer>(key: &Key, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(key)
}

#[allow(clippy::ref_option, reason = "serde passes the field")]
fn optional_name<S: Serializer>(key: &Option<Key>, serializer: S) -> Result<S::Ok, S::Error> {
    match key {
        Some(key) => name(key, serializer),
        None => serializer.serialize_none(),
    }
}
