//! Events that may make a pod schedulable, and their hints.

use std::sync::Arc;

use super::claims::pod_claims;
use crate::cluster::{Kind, Object, Pod};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, EventResource, HintError, QueueingHint, QueueingHintFn,
};

/// In upstream's order.
pub(super) fn events() -> Vec<ClusterEventWithHint> {
    let add_or_update = ActionType::ADD.or(ActionType::UPDATE);
    let node = ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL).or(ActionType::UPDATE_NODE_ALLOCATABLE);
    let event = |resource, action, hint: Option<QueueingHintFn>| ClusterEventWithHint { event: ClusterEvent::new(resource, action), hint };
    vec![
        event(EventResource::Node, node, None),
        event(EventResource::ResourceClaim, add_or_update, Some(Arc::new(after_claim_change))),
        event(
            EventResource::Pod,
            ActionType::UPDATE_POD_GENERATED_RESOURCE_CLAIM,
            Some(Arc::new(|cx, pod, change| Ok(after_pod_change(cx, pod, change)))),
        ),
        event(EventResource::DeviceClass, add_or_update, None),
        event(EventResource::ResourceSlice, add_or_update, None),
    ]
}

/// Queue once the pod's claims all exist, if devices came free or one of its own claims came or changed its status.
fn after_claim_change(cx: &Context<'_>, pod: &Arc<Pod>, change: &Change) -> Result<QueueingHint, HintError> {
    let unexpected = |object: &Object| HintError::UnexpectedObject {
        hint: "isSchedulableAfterClaimChange",
        expected: Kind::ResourceClaim,
        got: object.kind(),
    };
    let old = match &change.old {
        Some(Object::ResourceClaim(claim)) => Some(claim),
        Some(other) => return Err(unexpected(other)),
        None => None,
    };
    let new = match &change.new {
        Some(Object::ResourceClaim(claim)) => claim,
        Some(other) => return Err(unexpected(other)),
        None => return Ok(QueueingHint::QueueSkip),
    };
    let Ok(claims) = pod_claims(cx.cluster, pod) else { return Ok(QueueingHint::QueueSkip) };
    if old.is_some_and(|old| old.status.allocation.is_some()) && new.status.allocation.is_none() {
        return Ok(QueueingHint::Queue);
    }
    let uses_claim = claims.iter().any(|c| c.metadata.uid == new.metadata.uid);
    let changed = old.is_none_or(|old| old.status != new.status);
    Ok(if uses_claim && changed { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

/// Queue once the pod's own claims all exist.
fn after_pod_change(cx: &Context<'_>, pod: &Pod, change: &Change) -> QueueingHint {
    match &change.new {
        Some(Object::Pod(new)) if new.metadata.uid == pod.metadata.uid && pod_claims(cx.cluster, new).is_ok() => QueueingHint::Queue,
        _ => QueueingHint::QueueSkip,
    }
}
