//! Errors of the allocator and of binding, in kube-scheduler's words.

use super::capacity::CapacityError;
use super::search::MAX_RESULTS;
use crate::cel::{CelError, EvalError};
use crate::cluster::{Key, SelectorError, Str};

/// Why the allocator cannot use a claim, a class or a slice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum AllocatorError {
    #[error("gather pool information: {0}")]
    Pools(#[from] PoolError),
    /// The node selector of a device is invalid.
    #[error(transparent)]
    NodeSelector(#[from] NodeSelectorError),
    /// The slices of the allocated devices select nodes by several terms, which an allocation cannot express.
    #[error("create NodeSelector for claim {claim}: unsupported ResourceSlice.NodeSelector with {terms} terms")]
    TooManyTerms { claim: Str, terms: usize },
    /// Every choice of alternatives exceeds a claim's limit.
    #[error("allocation max size exceeded")]
    TooManyDevices,
    #[error("claim {claim}: number of requested devices {devices} exceeds the claim limit of {MAX_RESULTS}")]
    TooManyRequested { claim: Key, devices: i64 },
    #[error("pool {pool} is invalid: duplicate device name {device}")]
    DuplicateDevice { pool: Str, device: Str },
    #[error("claim {claim}: request #{request} asks for nothing")]
    EmptyRequest { claim: Key, request: usize },
    #[error("claim {claim}, constraint #{constraint}: empty constraint (unsupported constraint type?)")]
    EmptyConstraint { claim: Key, constraint: usize },
    #[error("claim {claim}, request {request}{error}")]
    Request { claim: Key, request: Str, error: RequestError },
    #[error("claim {claim}, subrequest {subrequest}: has capacity requests, but the DRAConsumableCapacity feature is disabled")]
    SubrequestCapacity { claim: Key, subrequest: Str },
    #[error(transparent)]
    Capacity(CapacityError),
    #[error("{owner}: selector #{selector}: {error}")]
    Selector { owner: SelectorOwner, selector: usize, error: SelectorProblem },
    /// An evaluation that failed, in the words of later releases.
    #[error("{owner}: selector #{selector} on device {driver}/{pool}/{device}: CEL runtime error: {error}{}", hint(error))]
    Evaluation { owner: SelectorOwner, selector: usize, driver: Str, pool: Str, device: Str, error: EvalError },
}

/// Returns where optional fields are explained, after the error of a field that is missing; mirrors `EnhanceRuntimeError`.
fn hint(error: &EvalError) -> &'static str {
    if !matches!(error, EvalError::NoSuchKey(_)) {
        return "";
    }
    "\n\nSee https://pkg.go.dev/k8s.io/api/resource/v1#CELDeviceSelector for documentation on CEL device selectors and how to handle \
     optional fields."
}

/// Why a request is invalid. The text directly follows the request's name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum RequestError {
    #[error(": has subrequests, but the DRAPrioritizedList feature is disabled")]
    SubrequestsDisabled,
    #[error(": has capacity requests, but the DRAConsumableCapacity feature is disabled")]
    CapacityDisabled,
    #[error(": admin access is requested, but the feature is disabled")]
    AdminAccessDisabled,
    /// The selector at an index is empty.
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

/// The object that contains a selector.
#[derive(Clone, Debug, PartialEq, strum::Display)]
pub(super) enum SelectorOwner {
    #[strum(to_string = "class {0}")]
    Class(Str),
    #[strum(to_string = "claim {0}")]
    Claim(Key),
}

/// Why a selector cannot be evaluated on a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum SelectorProblem {
    #[error(transparent)]
    Cel(#[from] CelError),
    #[error("CEL expression empty (unsupported selector type?)")]
    Empty,
}

/// Why a slice's pool is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum PoolError {
    #[error("failed to perform node selection for slice {slice}: {error}")]
    Slice { slice: Str, error: NodeSelectorError },
    #[error("failed to perform node selection for device {device} in slice {slice}: {error}")]
    Device { device: Str, slice: Str, error: NodeSelectorError },
}

/// The node selector of a slice or a device is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("failed to parse node selector: {0}")]
pub(super) struct NodeSelectorError(pub(super) SelectorError);

/// Why an allocated claim cannot be bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum BindError {
    #[error("device binding timeout: claim={claim}")]
    Timeout { claim: Str },
    /// A failure condition of a device holds.
    #[error("device binding failed: claim={claim}, reason={reason}, message={:?}", message.as_str())]
    Failed { claim: Str, reason: Str, message: Str },
    /// Filter recorded no claim for extended resources for the node.
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

#[cfg(test)]
mod tests;
