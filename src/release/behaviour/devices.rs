//! Behaviours of DynamicResources and its allocator.

use serde::{Deserialize, Serialize};

/// The named behaviours of DynamicResources and its allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceBehaviour {
    /// Whether DynamicResources scores nodes.
    pub nodes_scored: bool,
    /// Functions and fields that device selectors may use.
    pub selectors: DeviceSelectors,
    /// Whether the error of a device selector names the device, and a missing attribute comes with a hint.
    pub selector_errors_name_device: bool,
    /// Whether devices are allocated from incomplete pools.
    pub incomplete_pools_serve: bool,
    /// Whether slices with binding conditions go after the others of their pool.
    pub conditional_slices_last: bool,
    /// How an attempt handles a pool whose slices contradict each other.
    pub invalid_pools: InvalidPools,
    /// Whether the allocator confuses the alternatives of a request.
    pub alternatives_confused: bool,
    /// Whether the values of a `distinctAttribute` are never found equal.
    pub all_values_distinct: bool,
    /// Whether slices with shared counters belong to a pool like others.
    pub counter_slices_as_others: bool,
    /// Whether a capacity request of an alternative is reported for the whole request while it is not supported.
    pub capacity_of_whole_request: bool,
    /// Whether an allocator without the newer features runs while their gates are off.
    pub has_stable_allocator: bool,
    /// Whether the counters and constraints that were recorded of a rejected device are taken back, and the counters of a shared
    /// device that the search gives up.
    pub rejected_devices_taken_back: bool,
    /// Whether a `distinctAttribute` compares every device of a request, instead of only the last one.
    pub distinct_of_each_device: bool,
    /// Whether drivers with pools of one name have counters of their own.
    pub counters_by_driver: bool,
    /// Whether a device that claims share has drawn on its counters also where no claim records a capacity of it.
    pub shares_without_capacity_drawn: bool,
    /// Whether a request for all devices fails if one of them lacks capacity, instead of leaving that device out.
    pub all_devices_need_capacity: bool,
    /// Whether requests for capacity that are negative or cannot be counted end an attempt with an error.
    pub capacity_requests_checked: bool,
    /// Whether DynamicResources scores nodes for pods that have allocated claims beside others; if not, such scores fail.
    pub allocated_claims_scored: bool,
}

/// How an attempt handles a pool whose slices contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidPools {
    /// The attempt ends with an error.
    Error,
    /// The pool offers no devices, and a node left without a device is rejected.
    Rejection,
}

/// Additions to the functions and fields of device selectors that all releases have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSelectors {
    /// The function `includes`.
    pub includes: bool,
    /// The field `device.allowMultipleAllocations`.
    pub multiple_allocations: bool,
    /// Functions that slice, order and build lists: `slice`, `flatten`, `sort`, `distinct`, `reverse`, `lists.range`.
    pub list_functions: bool,
    /// Attributes that are lists.
    #[serde(default)]
    pub list_attributes: bool,
}
