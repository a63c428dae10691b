//! The resource.k8s.io/v1 kinds of dynamic resource allocation.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Condition, List, Map, Meta, NodeSelector, Quantity, Str, Toleration};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaim {
    pub metadata: Meta,
    pub spec: ResourceClaimSpec,
    pub status: ResourceClaimStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaimTemplate {
    pub metadata: Meta,
    pub spec: ResourceClaimTemplateSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaimTemplateSpec {
    pub spec: ResourceClaimSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaimSpec {
    pub devices: DeviceClaim,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceClaim {
    pub requests: List<DeviceRequest>,
    pub constraints: List<DeviceConstraint>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceRequest {
    pub name: Str,
    pub exactly: Option<ExactDeviceRequest>,
    pub first_available: List<DeviceSubRequest>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExactDeviceRequest {
    pub device_class_name: Str,
    pub selectors: List<DeviceSelector>,
    pub allocation_mode: Str,
    pub count: i64,
    pub admin_access: Option<bool>,
    pub tolerations: List<Toleration>,
    pub capacity: Option<CapacityRequirements>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceSubRequest {
    pub name: Str,
    pub device_class_name: Str,
    pub selectors: List<DeviceSelector>,
    pub allocation_mode: Str,
    pub count: i64,
    pub tolerations: List<Toleration>,
    pub capacity: Option<CapacityRequirements>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CapacityRequirements {
    pub requests: Map<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceSelector {
    pub cel: Option<CELDeviceSelector>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CELDeviceSelector {
    #[serde(deserialize_with = "expression")]
    pub expression: Str,
}

/// Rejects an expression that is too long for the API; mirrors `CELSelectorExpressionMaxLength` in
/// `staging/src/k8s.io/api/resource/v1/types.go` and `field.TooLong`.
fn expression<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Str, D::Error> {
    const MOST: usize = 10 << 10;
    let text = Str::deserialize(deserializer)?;
    if text.len() > MOST {
        return Err(D::Error::custom(format!("cel.expression: Too long: may not be more than {MOST} bytes")));
    }
    Ok(text)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceConstraint {
    pub requests: List<Str>,
    pub match_attribute: Option<Str>,
    pub distinct_attribute: Option<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaimStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation: Option<AllocationResult>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub reserved_for: List<ResourceClaimConsumerReference>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub devices: List<AllocatedDeviceStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AllocationResult {
    pub devices: DeviceAllocationResult,
    pub node_selector: Option<NodeSelector>,
    pub allocation_timestamp: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceAllocationResult {
    pub results: List<DeviceRequestAllocationResult>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceRequestAllocationResult {
    pub request: Str,
    pub driver: Str,
    pub pool: Str,
    pub device: Str,
    pub admin_access: Option<bool>,
    pub tolerations: List<Toleration>,
    pub binding_conditions: List<Str>,
    pub binding_failure_conditions: List<Str>,
    #[serde(rename = "shareID")]
    pub share_id: Option<Str>,
    pub consumed_capacity: Map<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaimConsumerReference {
    #[serde(rename = "apiGroup")]
    pub api_group: Str,
    pub resource: Str,
    pub name: Str,
    pub uid: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AllocatedDeviceStatus {
    pub driver: Str,
    pub pool: Str,
    pub device: Str,
    #[serde(rename = "shareID", skip_serializing_if = "Option::is_none")]
    pub share_id: Option<Str>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub conditions: List<Condition>,
    /// The driver's own data; compared, never read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    /// The driver's own network data; compared, never read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_data: Option<serde_json::Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceClass {
    pub metadata: Meta,
    pub spec: DeviceClassSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceClassSpec {
    pub selectors: List<DeviceSelector>,
    pub extended_resource_name: Option<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSlice {
    pub metadata: Meta,
    pub spec: ResourceSliceSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSliceSpec {
    pub driver: Str,
    pub pool: ResourcePool,
    pub node_name: Option<Str>,
    pub node_selector: Option<NodeSelector>,
    pub all_nodes: Option<bool>,
    pub per_device_node_selection: Option<bool>,
    pub devices: List<Device>,
    pub shared_counters: List<CounterSet>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourcePool {
    pub name: Str,
    pub generation: i64,
    pub resource_slice_count: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Device {
    pub name: Str,
    pub attributes: Map<DeviceAttribute>,
    pub capacity: Map<DeviceCapacity>,
    pub consumes_counters: List<DeviceCounterConsumption>,
    pub node_name: Option<Str>,
    pub node_selector: Option<NodeSelector>,
    pub all_nodes: Option<bool>,
    pub taints: List<DeviceTaint>,
    pub binds_to_node: Option<bool>,
    pub binding_conditions: List<Str>,
    pub binding_failure_conditions: List<Str>,
    pub allow_multiple_allocations: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceAttribute {
    pub int: Option<i64>,
    pub bool: Option<bool>,
    pub string: Option<Str>,
    pub version: Option<Str>,
    pub ints: Option<List<i64>>,
    pub bools: Option<List<bool>>,
    pub strings: Option<List<Str>>,
    pub versions: Option<List<Str>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceCapacity {
    pub value: Quantity,
    pub request_policy: Option<CapacityRequestPolicy>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CapacityRequestPolicy {
    pub default: Option<Quantity>,
    pub valid_values: List<Quantity>,
    pub valid_range: Option<CapacityRequestPolicyRange>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CapacityRequestPolicyRange {
    pub min: Option<Quantity>,
    pub max: Option<Quantity>,
    pub step: Option<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceCounterConsumption {
    pub counter_set: Str,
    pub counters: Map<Counter>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CounterSet {
    pub name: Str,
    pub counters: Map<Counter>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Counter {
    pub value: Quantity,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceTaint {
    pub key: Str,
    pub value: Str,
    pub effect: Str,
    pub time_added: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceTaintRule {
    pub metadata: Meta,
    pub spec: DeviceTaintRuleSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceTaintRuleSpec {
    pub device_selector: Option<DeviceTaintSelector>,
    pub taint: DeviceTaint,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceTaintSelector {
    pub driver: Option<Str>,
    pub pool: Option<Str>,
    pub device: Option<Str>,
}

#[cfg(test)]
mod tests;
