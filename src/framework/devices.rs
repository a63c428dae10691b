//! A node's devices for a pod's claims: which request each could serve, and what speaks against it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cluster::{Key, Quantity, Str};

/// The devices of one node for the claims of a pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeDevices {
    pub node: Str,
    /// Whether the node is rejected for its devices, or by an error of a claim, a class or a selector.
    pub rejected: bool,
    /// The claims, in the order of the pod.
    pub claims: Vec<ClaimDevices>,
}

/// The devices for one claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimDevices {
    /// The claim's name.
    pub claim: Str,
    /// For an allocated claim: whether its devices can be used on the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usable_here: Option<bool>,
    /// Its requests that await devices, each alternative by itself, in order.
    pub requests: Vec<RequestDevices>,
    /// The number of constraints over the devices of several requests.
    pub constraints: usize,
}

/// The devices for one request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestDevices {
    /// Its name; of an alternative `request/alternative`.
    pub request: Str,
    /// Its DeviceClass.
    pub class: Str,
    /// The number of devices to allocate; `None` for all that match.
    pub wanted: Option<i64>,
    /// The number of devices with nothing against them.
    pub suitable: usize,
    /// The first devices of the node, by pool and slice.
    pub devices: Vec<DeviceVerdict>,
    /// The number of further devices by the first thing against each; empty if all are listed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<Against, usize>,
    /// The number of devices that were not judged, because there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_judged: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A device by driver and pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceId {
    pub driver: Str,
    pub pool: Str,
    /// Its name.
    pub device: Str,
}

/// Displays `driver/pool/device`, as kube-scheduler does.
impl std::fmt::Display for DeviceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.driver, self.pool, self.device)
    }
}

/// One device for one request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceVerdict {
    #[serde(flatten)]
    pub id: DeviceId,
    /// The obstacles, in the order in which the allocator checks them; it stops at the first. Empty if the device suits.
    pub obstacles: Vec<Obstacle>,
}

/// The kind of the first obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as the obstacles")]
pub enum Against {
    Nothing,
    Pool,
    Taken,
    BindingConditions,
    Selector,
    SelectorError,
    OtherNode,
    Capacity,
    Counter,
    Tainted,
}

/// Something that keeps a device from a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields' names and the variants' docs say it")]
pub enum Obstacle {
    /// The slice is of an older generation than the pool.
    OldGeneration { generation: i64, newest: i64 },
    /// Some slices of the pool are not published.
    PoolIncomplete { slices: usize, expected: i64 },
    /// The slices of the pool contradict each other.
    PoolInvalid { duplicate: Option<Str> },
    /// It is allocated to another claim; `None` if that is no longer there.
    Taken { claim: Option<Key> },
    /// It has binding conditions, which the release or its gates leave out.
    BindingConditions,
    /// A selector is false or fails.
    Selector(SelectorFailure),
    /// The device itself selects other nodes.
    OtherNode,
    /// It lacks a capacity (`free` is `None` if altogether), or its policy excludes the amount.
    Capacity { name: Str, requested: Quantity, free: Option<Quantity>, against_policy: bool },
    /// Counters that partitions of a device share are used up.
    Counter { counter_set: Str, counter: Str, needed: Quantity, free: Option<Quantity> },
    /// It consumes counters, which the release or its gates leave out.
    CountersDisabled,
    /// It has a taint that the request does not tolerate.
    Tainted { key: Str, value: Str, effect: Str },
}

/// A selector that does not select a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectorFailure {
    /// The class that holds it; `None` for a selector of the request.
    pub class: Option<Str>,
    /// Its place among the selectors of the class or request, from 0.
    pub index: usize,
    /// Its expression, shortened.
    pub expression: String,
    /// kube-scheduler's error; `None` if the selector is false.
    pub error: Option<String>,
    /// The device's values of the names that the expression mentions, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(Str, String)>,
}

impl Obstacle {
    /// Returns its kind.
    pub fn against(&self) -> Against {
        match self {
            Self::OldGeneration { .. } | Self::PoolIncomplete { .. } | Self::PoolInvalid { .. } => Against::Pool,
            Self::Taken { .. } => Against::Taken,
            Self::BindingConditions => Against::BindingConditions,
            Self::Selector(SelectorFailure { error: None, .. }) => Against::Selector,
            Self::Selector(_) => Against::SelectorError,
            Self::OtherNode => Against::OtherNode,
            Self::Capacity { .. } => Against::Capacity,
            Self::Counter { .. } | Self::CountersDisabled => Against::Counter,
            Self::Tainted { .. } => Against::Tainted,
        }
    }
}

impl DeviceVerdict {
    /// Returns the kind of the first obstacle.
    pub fn against(&self) -> Against {
        self.obstacles.first().map_or(Against::Nothing, Obstacle::against)
    }
}

impl RequestDevices {
    /// Returns the number of devices that the node shows for the request.
    pub fn count(&self) -> usize {
        self.devices.len() + self.more.values().sum::<usize>() + self.not_judged
    }

    /// Whether there are too few suitable devices, whatever other requests take.
    pub fn lacks(&self) -> bool {
        match self.wanted {
            Some(wanted) => self.not_judged == 0 && i64::try_from(self.suitable).is_ok_and(|n| n < wanted),
            None => self.not_judged == 0 && self.suitable == 0,
        }
    }
}

impl NodeDevices {
    /// Returns whether the node shows any device for any request.
    pub fn has_devices(&self) -> bool {
        self.claims.iter().flat_map(|claim| &claim.requests).any(|request| request.count() > 0)
    }
}

/// The devices of the nodes that a decision rejects for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceFindings {
    /// The first nodes, those that have devices first.
    pub nodes: Vec<NodeDevices>,
    /// The number of nodes that are not listed.
    pub more: usize,
}
