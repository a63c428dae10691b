//! DynamicResources: PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve and PreBind. Mirrors
//! `pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.
//!
//! Allocates devices to the pod's claims. All of its rejections are UnschedulableAndUnresolvable: evicting pods does
//! not free devices at once, so a shortage of devices never triggers preemption.

mod allocated;
mod allocator;
mod args;
mod binding;
mod capacity;
mod claims;
mod constraint;
mod counters;
mod disabled;
mod error;
mod explain;
mod extended;
mod hints;
mod matches;
mod pools;
mod prepare;
mod request;
mod result;
mod search;
mod state;
mod taint_rules;
mod taints;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;

pub use self::args::DynamicResourcesArgs;
pub(crate) use self::claims::selector_environment;
pub use self::disabled::DisabledDynamicResources;
pub use self::extended::extended_resource_class;
pub(crate) use self::taint_rules::slices_tainted_otherwise;

use self::allocator::{AllocationError, Allocator};
use self::claims::{ClaimStore, is_ready_for_binding, is_timed_out, pod_claims};
use self::extended::NodeClaim;
use self::request::{Request, Spec};
use self::state::{DynamicResourcesState, NodeAllocation};
use crate::cluster::resource::{AllocationResult, ResourceClaim};
use crate::cluster::{Cluster, Object, Pod};
use crate::framework::{
    ClusterEventWithHint, Context, CycleState, FilterPlugin, NodeDevices, NodeInfo, Plugin, PodInfo, PostFilterContext, PostFilterPlugin,
    PostFilterResult, PreEnqueuePlugin, PreFilterPlugin, PreFilterResult, Reason, ScorePlugin, Status,
};
use crate::plugins::helper::default_normalize_score;
use crate::release::{Emulation, Gate};

/// Maximum number of alternatives in a prioritized list; `FirstAvailableDeviceRequestMaxSize` in
/// `staging/src/k8s.io/api/resource/v1/types.go`.
const MAX_ALTERNATIVES: i64 = 8;
/// Upstream's error if PreFilter did not run this plugin.
const STATE_ABSENT: &str = "not found";

/// Allocates devices to claims.
#[derive(Clone, Debug)]
pub struct DynamicResources {
    args: DynamicResourcesArgs,
    scores: bool,
}

impl DynamicResources {
    /// Makes the plugin with its arguments; `scores` sets whether it has the Score point.
    pub fn new(args: DynamicResourcesArgs, scores: bool) -> Self {
        Self { args, scores }
    }
}

/// Makes the plugin of the newest release with its default arguments.
impl Default for DynamicResources {
    fn default() -> Self {
        Self::new(DynamicResourcesArgs::default(), true)
    }
}

/// Whether binding conditions are enabled.
fn binding_conditions_enabled(emulation: Emulation) -> bool {
    emulation.enabled(Gate::DRADeviceBindingConditions) && emulation.enabled(Gate::DRAResourceClaimDeviceStatus)
}

impl Plugin for DynamicResources {
    plugin!(DynamicResources: pre_enqueue, pre_filter, filter, post_filter, reserve, pre_bind);

    fn score(&self) -> Option<&dyn ScorePlugin> {
        self.scores.then_some(self)
    }

    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(hints::events())
    }
}

impl PreEnqueuePlugin for DynamicResources {
    fn pre_enqueue(&self, cx: &Context<'_>, pod: &Pod, _preempting: bool) -> Status {
        match pod_claims(cx.cluster, pod) {
            Ok(_) => Status::success(),
            Err(reason) => Status::rejected(reason),
        }
    }
}

impl PreFilterPlugin for DynamicResources {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        // Written first, so that PostFilter finds a state even after an error.
        state.write(DynamicResourcesState::default());
        let status = match self.prepare(cx, &pod.pod) {
            Ok(Some(prepared)) => {
                state.write(prepared);
                Status::success()
            }
            Ok(None) => Status::skip(),
            Err(status) => status,
        };
        (PreFilterResult::default(), status)
    }
}

impl DynamicResources {
    /// Prepares the state of a pod with claims.
    fn prepare(&self, cx: &Context<'_>, pod: &Pod) -> Result<Option<DynamicResourcesState>, Status> {
        let user_claims = pod_claims(cx.cluster, pod).map_err(Status::rejected)?;
        let (special, resources) = extended::prepare(cx.cluster, cx.emulation, pod).unzip();
        let claims = ClaimStore::new(user_claims, special);
        if claims.is_empty() {
            return Ok(None);
        }
        for (index, claim) in claims.all().iter().enumerate() {
            match &claim.status.allocation {
                Some(allocation) => {
                    if let Some(error) = allocation.node_selector.as_ref().and_then(pools::selector_error) {
                        return Err(Status::error(error.to_string()));
                    }
                }
                // The requests for extended resources differ by node; Filter checks them.
                None if claims.is_extended(index) => {}
                None => validate(cx, claim)?,
            }
        }
        let mut state =
            DynamicResourcesState { claims, extended: Arc::new(resources.unwrap_or_default()), ..DynamicResourcesState::default() };
        if state.claims.to_allocate().next().is_some() {
            let classes = state.extended.iter().filter_map(|r| r.class.clone());
            let claims = state.claims.to_allocate().map(|(_, claim)| &**claim);
            let allocator = Allocator::new(cx.cluster, cx.emulation, self.args.filter_timeout.as_secs(), claims, classes);
            state.allocator = Some(Arc::new(allocator));
        }
        Ok(Some(state))
    }
}

/// Checks that every class a claim refers to exists.
fn validate(cx: &Context<'_>, claim: &ResourceClaim) -> Result<(), Status> {
    let key = claim.metadata.key();
    for request in &claim.spec.devices.requests {
        // Upstream looks at `exactly` first, the allocator at `firstAvailable`; only one of them can be set.
        if request.exactly.is_none() && !request.first_available.is_empty() && !cx.emulation.enabled(Gate::DRAPrioritizedList) {
            return Err(Status::rejected(Reason::SubrequestsDisabled { claim: key, request: request.name.clone() }));
        }
        let mut alternatives = Request::alternatives(request);
        if let Some(exactly) = &request.exactly {
            alternatives = vec![Request { name: &request.name, parent: None, spec: Spec::Exact(exactly) }];
        }
        if alternatives.is_empty() {
            return Err(Status::rejected(Reason::UnknownRequestType { claim: key, request: request.name.clone() }));
        }
        for alternative in alternatives {
            validate_class(cx.cluster, alternative)?;
        }
    }
    Ok(())
}

fn validate_class(cluster: &Cluster, request: Request<'_>) -> Result<(), Status> {
    let class = request.class_name();
    if class.is_empty() {
        return Err(Status::error(format!("request {}: unsupported request type", request.full_name())));
    }
    match cluster.device_classes.named(class) {
        Some(_) => Ok(()),
        None => Err(Status::rejected(Reason::DeviceClassNotFound { request: request.full_name(), class: class.clone() })),
    }
}

impl FilterPlugin for DynamicResources {
    fn filter(&self, cx: &Context<'_>, cycle: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(state) = cycle.read::<DynamicResourcesState>() else { return Status::error(STATE_ABSENT) };
        if state.claims.is_empty() {
            return Status::success();
        }
        let no_user_claim = state.claims.no_user_claim();
        let extended = match state.claims.extended() {
            Some(claim) => match extended::for_node(claim, &state.extended, no_user_claim, &pod.pod, node) {
                Ok(extended) => extended,
                Err(status) => return status,
            },
            None => None,
        };
        if extended.is_none() && no_user_claim {
            return Status::success();
        }
        let unavailable: Vec<usize> =
            (0..state.claims.all().len()).filter(|i| !self.is_available(cx, &state.claims.all()[*i], node)).collect();
        let results = match allocate(cycle, state, extended.as_ref(), node) {
            Ok(results) => results,
            Err(status) => return status,
        };
        if !unavailable.is_empty() {
            let claim = state.claims.all()[unavailable[0]].metadata.name.clone();
            state.found().unavailable.extend(unavailable);
            return Status::rejected(Reason::ResourceClaimUnavailable { claim });
        }
        if let Some(results) = results {
            state.found().nodes.insert(node.name().clone(), NodeAllocation { results, extended });
        }
        Status::success()
    }

    fn devices(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo, verdict: &Status) -> Option<NodeDevices> {
        let state = state.read::<DynamicResourcesState>().filter(|state| !state.claims.is_empty())?;
        let no_user_claim = state.claims.no_user_claim();
        let of_node = |claim| extended::for_node(claim, &state.extended, no_user_claim, &pod.pod, node);
        let extended = state.claims.extended().and_then(|claim| of_node(claim).ok().flatten());
        let usable = |claim: &ResourceClaim| claim.status.allocation.as_ref().map(|_| self.is_available(cx, claim, node));
        Some(explain::on_node(cx, state, extended.as_ref(), node, &usable, !verdict.is_success()))
    }
}

impl DynamicResources {
    /// Whether an allocated claim can be used on the node; true for a claim without allocation.
    fn is_available(&self, cx: &Context<'_>, claim: &ResourceClaim, node: &NodeInfo) -> bool {
        let Some(allocation) = &claim.status.allocation else { return true };
        if allocation.node_selector.as_ref().is_some_and(|s| !s.matches(&node.node.metadata.labels, Some(node.name()))) {
            return false;
        }
        if !binding_conditions_enabled(cx.emulation) {
            return true;
        }
        match is_ready_for_binding(claim) {
            Ok(ready) => ready || !is_timed_out(claim, self.args.binding_timeout(), cx.now),
            Err(_) => false,
        }
    }
}

/// Allocates devices to the claims without an allocation; `None` if there is no such claim.
fn allocate(
    cycle: &CycleState,
    state: &DynamicResourcesState,
    extended: Option<&NodeClaim>,
    node: &NodeInfo,
) -> Result<Option<Vec<AllocationResult>>, Status> {
    let Some(allocator) = &state.allocator else { return Ok(None) };
    let on_node = |(index, claim): (usize, &Arc<ResourceClaim>)| match extended {
        Some(extended) if state.claims.is_extended(index) => extended.claim.clone(),
        _ => claim.clone(),
    };
    let claims: Vec<Arc<ResourceClaim>> = state.claims.to_allocate().map(on_node).collect();
    match allocator.allocate(&node.node, &claims, cycle) {
        Ok(Some(results)) => Ok(Some(results)),
        Ok(None) => Err(Status::rejected(Reason::CannotAllocateClaims)),
        Err(AllocationError::OnNode(reason)) => Err(Status::rejected(reason)),
        Err(AllocationError::TimedOut) => Err(Status::error(format!("node {}: timed out trying to allocate devices", node.name()))),
        Err(AllocationError::NotDecided(steps)) => {
            Err(Status::error(format!("node {}: not decided: the search for devices takes more than {steps} steps", node.name())))
        }
        Err(AllocationError::Fatal(error)) => Err(Status::error(error.to_string())),
    }
}

impl PostFilterPlugin for DynamicResources {
    fn post_filter(&self, cx: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> PostFilterResult {
        let result = |status, writes| PostFilterResult { status, nominating: None, preemption: None, writes };
        let Some(state) = state.read::<DynamicResourcesState>() else { return result(Status::error(STATE_ABSENT), Vec::new()) };
        if state.claims.is_empty() {
            return result(Status::rejected(Reason::NoClaimsToDeallocate), Vec::new());
        }
        let stale = state.claims.stale_extended();
        // Upstream picks one of the claims at random; here it is the pod's first.
        let unavailable = state.found().unavailable.clone();
        for index in unavailable {
            if state.claims.is_extended(index) {
                if stale.is_some() {
                    break;
                }
                continue;
            }
            let claim = &state.claims.all()[index];
            if claim.status.reserved_for.iter().all(|c| c.uid == pod.pod.metadata.uid) && claim.status.reserved_for.len() <= 1 {
                let mut claim = ResourceClaim::clone(claim);
                claim.status.reserved_for.clear();
                claim.status.allocation = None;
                claim.status.devices.clear();
                return result(Status::rejected(Reason::ClaimDeallocated), vec![Object::ResourceClaim(Arc::new(claim))]);
            }
        }
        if let Some(stale) = stale {
            // Deleted as the API server reports it, without finalizers.
            let mut claim = ResourceClaim::clone(stale);
            claim.metadata.finalizers.clear();
            claim.metadata.deletion_timestamp = Some(whole_second(cx.cx.now));
            return result(Status::rejected(Reason::ClaimDeleted), vec![Object::ResourceClaim(Arc::new(claim))]);
        }
        result(Status::rejected(Reason::StillNotSchedulable), Vec::new())
    }
}

impl ScorePlugin for DynamicResources {
    fn score(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let allocated = if cx.emulation.behaviour().devices.allocated_claims_scored { Allocated::Counted } else { Allocated::Confused };
        if allocated == Allocated::Counted && !cx.emulation.enabled(Gate::DRAPrioritizedList) {
            return Ok(0);
        }
        let state = state.read::<DynamicResourcesState>().ok_or_else(|| Status::error(STATE_ABSENT))?;
        if state.claims.is_empty() {
            return Ok(0);
        }
        match state.found().nodes.get(node.name()) {
            Some(allocation) => score(&state.claims, &allocation.results, allocated),
            None => Ok(0),
        }
    }

    fn score_all(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        if state.read::<DynamicResourcesState>().is_some_and(|state| state.claims.is_empty()) {
            return Ok(vec![0; nodes.len()]);
        }
        nodes.iter().map(|node| ScorePlugin::score(self, cx, state, pod, node)).collect()
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        default_normalize_score(false, scores);
        Status::success()
    }
}

/// How claims count in scores that are allocated already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allocated {
    /// With their allocations.
    Counted,
    /// As upstream in some releases, claims take the results in order, allocated ones too.
    Confused,
}

/// Scores a node's results; earlier alternatives of a list score higher.
fn score(claims: &ClaimStore, results: &[AllocationResult], allocated: Allocated) -> Result<i64, Status> {
    let (mut score, mut pending) = (0, results.iter());
    for claim in claims.all() {
        let own = claim.status.allocation.as_ref().filter(|_| allocated == Allocated::Counted);
        let allocation = own.or_else(|| pending.next()).ok_or_else(|| {
            let end = if allocated == Allocated::Counted { " needing allocation" } else { "" };
            Status::error(format!("number of allocations {} is smaller than number of claims{end}", results.len()))
        })?;
        for request in claim.spec.devices.requests.iter().filter(|r| r.exactly.is_none()) {
            for (alternative, i) in Request::alternatives(request).iter().zip(0..) {
                let name = alternative.full_name();
                if allocation.devices.results.iter().any(|r| r.request == name) {
                    score += MAX_ALTERNATIVES - i;
                }
            }
        }
    }
    Ok(score)
}

/// Truncates to seconds, because API times have no fraction.
fn whole_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
