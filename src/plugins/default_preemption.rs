//! `DefaultPreemption`: `PostFilter` and `PreEnqueue`. Mirrors
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`, on top of [`crate::preemption`].

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cluster::Pod;
use crate::framework::{
    ActionType, ClusterEvent, ClusterEventWithHint, Code, Context, CycleState, EventResource, FieldErrors, Plugin, PodInfo,
    PostFilterContext, PostFilterPlugin, PostFilterResult, PreEnqueuePlugin, PreemptionRecord, QueueingHint, Reason, Status,
};
use crate::preemption::{CandidateLimits, Evaluator, Preemption};
use crate::release::{Emulation, Gate, PreemptionText};

/// `kubescheduler.config.k8s.io/v1.DefaultPreemptionArgs`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "ArgsWire")]
pub struct DefaultPreemptionArgs {
    /// Minimum number of candidates, in per cent of the potential nodes.
    pub min_candidate_nodes_percentage: i32,
    /// Minimum number of candidates, in nodes.
    pub min_candidate_nodes_absolute: i32,
}

impl Default for DefaultPreemptionArgs {
    fn default() -> Self {
        Self { min_candidate_nodes_percentage: 10, min_candidate_nodes_absolute: 100 }
    }
}

impl DefaultPreemptionArgs {
    /// Validates the arguments; mirrors `ValidateDefaultPreemptionArgs`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let (percentage, absolute) = (self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute);
        let mut errors = FieldErrors::default();
        if !(0..=100).contains(&percentage) {
            errors.invalid("minCandidateNodesPercentage", &percentage, "not in valid range [0, 100]");
        }
        if absolute < 0 {
            errors.invalid("minCandidateNodesAbsolute", &absolute, "not in valid range [0, inf)");
        }
        if percentage == 0 && absolute == 0 {
            let same_time = "cannot be zero at the same time as";
            errors.invalid("minCandidateNodesPercentage", &0, format!("{same_time} minCandidateNodesAbsolute"));
            errors.invalid("minCandidateNodesAbsolute", &0, format!("{same_time} minCandidateNodesPercentage"));
        }
        errors.into_result()
    }
}

/// The serialized arguments: fields may be absent or null, and the object may name its type.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ArgsWire {
    #[serde(rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    min_candidate_nodes_percentage: Option<i32>,
    min_candidate_nodes_absolute: Option<i32>,
}

impl From<ArgsWire> for DefaultPreemptionArgs {
    fn from(wire: ArgsWire) -> Self {
        let defaults = Self::default();
        Self {
            min_candidate_nodes_percentage: wire.min_candidate_nodes_percentage.unwrap_or(defaults.min_candidate_nodes_percentage),
            min_candidate_nodes_absolute: wire.min_candidate_nodes_absolute.unwrap_or(defaults.min_candidate_nodes_absolute),
        }
    }
}

/// Makes room for a pod by evicting pods of lower priority.
#[derive(Clone, Debug)]
pub struct DefaultPreemption {
    args: DefaultPreemptionArgs,
}

impl DefaultPreemption {
    /// Makes the plugin with its arguments.
    pub fn new(args: DefaultPreemptionArgs) -> Self {
        Self { args }
    }

    fn evaluator<'a>(&self, cx: &'a PostFilterContext<'a>) -> Evaluator<'a> {
        let (percentage, absolute) = (self.args.min_candidate_nodes_percentage, self.args.min_candidate_nodes_absolute);
        Evaluator::new(cx, CandidateLimits { percentage, absolute })
    }
}

impl Plugin for DefaultPreemption {
    plugin!(DefaultPreemption: pre_enqueue, post_filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        if !emulation.enabled(Gate::SchedulerAsyncPreemption) {
            return Some(Vec::new());
        }
        // The event ungates pods; the plugins that rejected a pod decide whether to retry it.
        let event = ClusterEvent::new(EventResource::Pod, ActionType::DELETE);
        Some(vec![ClusterEventWithHint { event, hint: Some(Arc::new(|_, _, _| Ok(QueueingHint::QueueSkip))) }])
    }
}

impl PreEnqueuePlugin for DefaultPreemption {
    fn pre_enqueue(&self, cx: &Context<'_>, pod: &Pod, preempting: bool) -> Status {
        if preempting && cx.emulation.enabled(Gate::SchedulerAsyncPreemption) {
            let of_group = pod.spec.scheduling_group.is_some() && cx.emulation.enabled(Gate::WorkloadAwarePreemption);
            return Status::rejected(if of_group { Reason::GroupPreemptionInProgress } else { Reason::PreemptionInProgress });
        }
        Status::success()
    }
}

/// Why a member of a group does not preempt by itself; `None` where it may.
fn left_to_group(cx: &Context<'_>, pod: &Pod) -> Option<Reason> {
    let key = pod.group_key()?;
    if cx.emulation.enabled(Gate::TopologyAwareWorkloadScheduling) {
        match cx.cluster.pod_groups.get(&key) {
            None => return Some(Reason::PreemptorGroupMissing),
            Some(group) if group.spec.scheduling_constraints.is_some() => return Some(Reason::PreemptionLimitedByPlacements),
            Some(_) => {}
        }
    }
    cx.emulation.enabled(Gate::WorkloadAwarePreemption).then_some(Reason::PreemptionLeftToGroup)
}

impl PostFilterPlugin for DefaultPreemption {
    fn post_filter(&self, cx: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> PostFilterResult {
        if let Some(reason) = left_to_group(&cx.cx, &pod.pod) {
            let status = Status::rejected(Reason::Preemption { reason: Box::new(reason) });
            return PostFilterResult { status, nominating: None, preemption: None, writes: Vec::new() };
        }
        let Preemption { mut status, nominating, record } = self.evaluator(cx).preempt(state, pod);
        if let Some(chosen) = record.selected().filter(|_| status.is_success() && cx.cx.emulation.behaviour().preemption.announced) {
            let victims = record.candidates().find(|c| c.node == *chosen).map_or(0, |c| c.victims.len());
            let found = Reason::PlacementFound { node: chosen.clone(), victims };
            status = Status::new(Code::Success, [Reason::Preemption { reason: Box::new(found) }]);
            return PostFilterResult { status, nominating, preemption: Some(Arc::new(record)), writes: Vec::new() };
        }
        let message = status.message();
        if !message.is_empty() {
            let code = status.code();
            status = match cx.cx.emulation.behaviour().preemption.text {
                PreemptionText::Prefixed => Status::new(code, [format!("preemption: {message}")]),
                PreemptionText::None if !status.is_error() => Status::new(code, Vec::<Reason>::new()),
                PreemptionText::Plain | PreemptionText::None => status,
            };
        }
        PostFilterResult { status, nominating, preemption: Some(Arc::new(record)), writes: Vec::new() }
    }

    fn dry_run_only(&self, cx: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> Option<Arc<PreemptionRecord>> {
        if left_to_group(&cx.cx, &pod.pod).is_some() {
            return None;
        }
        Some(Arc::new(self.evaluator(cx).dry_run_only(state, pod)))
    }
}

#[cfg(test)]
mod tests;
