//! Errors of the allocator and of binding, in kube-scheduler's words.

use super::cel::CelError;
use super::search::MAX_RESULTS;
use crate::cluster::{Key, SelectorError, Str};

/// A claim, a class or a slice that the allocator cannot work with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum AllocatorError {
    #[error("gather pool information: {0}")]
    Pools(#[from] PoolError),
    /// A device that selects nodes by a selector that cannot be used.
    #[error(transparent)]
    NodeSelector(#[from] NodeSelectorError),
    /// The slices of the devices found select nodes in a way that no allocation can repeat.
    #[error("create NodeSelector for claim {claim}: unsupported ResourceSlice.NodeSelector with {terms} terms")]
    TooManyTerms { claim: Str, terms: usize },
    /// No choice of alternatives keeps every claim within its limit.
    #[error("allocation max size exceeded")]
    TooManyDevices,
    #[error("claim {claim}: number of requested devices {devices} exceeds the claim limit of {MAX_RESULTS}")]
    TooManyRequested { claim: Key, devices: i64 },
    #[error("claim {claim}: request #{request} asks for nothing")]
    EmptyRequest { claim: Key, request: usize },
    #[error("claim {claim}, constraint #{constraint}: empty constraint (unsupported constraint type?)")]
    EmptyConstraint { claim: Key, constraint: usize },
    #[error("claim {claim}, request {request}{error}")]
    Request { claim: Key, request: Str, error: RequestError },
    #[error("claim {claim}, subrequest {subrequest}: has capacity requests, but the DRAConsumableCapacity feature is disabled")]
    SubrequestCapacity { claim: Key, subrequest: Str },
    #[error("{owner}: selector #{selector}: {error}")]
    Selector { owner: SelectorOwner, selector: usize, error: SelectorProblem },
}

/// What is wrong with a request; the text begins with what follows the request's name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum RequestError {
    #[error(": has subrequests, but the DRAPrioritizedList feature is disabled")]
    SubrequestsDisabled,
    #[error(": has capacity requests, but the DRAConsumableCapacity feature is disabled")]
    CapacityDisabled,
    #[error(": admin access is requested, but the feature is disabled")]
    AdminAccessDisabled,
    /// The selector at an index.
    #[error(", selector #{0}: CEL expression empty (unsupported selector type?)")]
    EmptySelector(usize),
    #[error(": missing device class name (unsupported request type?)")]
    NoClassName,
    #[error(": could not retrieve device class {class}: deviceclass.resource.k8s.io {:?} not found", class.as_str())]
    ClassNotFound { class: Str },
    #[error(": unsupported count mode {0}")]
    CountMode(Str),
    #[error(": asks for all devices, but resource pool {driver}/{pool} is currently being updated")]
    PoolIncomplete { driver: Str, pool: Str },
    #[error(": asks for all devices, but resource pool {driver}/{pool} is currently invalid")]
    PoolInvalid { driver: Str, pool: Str },
    #[error(": cannot add device {driver}/{pool}/{device} because a claim constraint would not be satisfied")]
    Constraint { driver: Str, pool: Str, device: Str },
}

/// Whose selector is meant.
#[derive(Clone, Debug, PartialEq, strum::Display)]
pub(super) enum SelectorOwner {
    #[strum(to_string = "class {0}")]
    Class(Str),
    #[strum(to_string = "claim {0}")]
    Claim(Key),
}

/// Why a selector does not decide about a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum SelectorProblem {
    #[error(transparent)]
    Cel(#[from] CelError),
    #[error("CEL expression empty (unsupported selector type?)")]
    Empty,
}

/// A slice whose pool cannot be gathered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum PoolError {
    #[error("failed to perform node selection for slice {slice}: {error}")]
    Slice { slice: Str, error: NodeSelectorError },
    #[error("failed to perform node selection for device {device} in slice {slice}: {error}")]
    Device { device: Str, slice: Str, error: NodeSelectorError },
}

/// A node selector of a slice or a device that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("failed to parse node selector: {0}")]
pub(super) struct NodeSelectorError(pub(super) SelectorError);

/// Why an allocated claim is not bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum BindError {
    #[error("device binding timeout: claim={claim}")]
    Timeout { claim: Str },
    /// A condition of a device says that it will never be ready.
    #[error("device binding failed: claim={claim}, reason={reason}, message={:?}", message.as_str())]
    Failed { claim: Str, reason: Str, message: Str },
    /// PreFilter has made no claim for extended resources for the node.
    #[error("extended resource claim not found for node {node}")]
    NoExtendedClaim { node: Str },
    #[error("{doing} to claim {claim}: resourceclaims.resource.k8s.io {:?} not found", claim.name.as_str())]
    ClaimNotFound { doing: &'static str, claim: Key },
    #[error("claim {claim} got deleted in the meantime")]
    Deleted { claim: Key },
    #[error("claim {claim} got allocated elsewhere in the meantime")]
    Allocated { claim: Key },
    #[error("claim {claim} got deallocated elsewhere in the meantime")]
    Deallocated { claim: Key },
    #[error("nil or empty request mappings, no update of pod {pod} ExtendedResourceClaimStatus")]
    NoMappings { pod: Key },
}
