//! Preempt: evicts pods of lower priority. Mirrors `Preempt` in `pkg/scheduler/core/generic_scheduler.go`, on top of
//! [`crate::preemption`].

use std::sync::Arc;

use crate::cluster::Str;
use crate::framework::{
    CycleState, NominatingInfo, Plugin, PodInfo, PostFilterContext, PostFilterPlugin, PostFilterResult, Reason, Status,
};
use crate::preemption::{CandidateLimits, Evaluator, Preemption};

/// Makes room for a pod by evicting pods of lower priority. It adds nothing to the pod's message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preempt;

impl Plugin for Preempt {
    plugin!(Preempt: post_filter);
}

impl PostFilterPlugin for Preempt {
    fn post_filter(&self, cx: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> PostFilterResult {
        let limits = CandidateLimits { percentage: 100, absolute: i32::MAX };
        let Preemption { status, mut nominating, mut record } = Evaluator::new(cx, limits).preempt(state, pod);
        let is_tried = record.ineligible.is_none();
        if nominating == Some(NominatingInfo::Override(Str::default())) {
            // The nomination is cleared only if there are no potential nodes.
            if is_tried && record.potential_nodes.is_empty() {
                record.cleared_nominations = vec![pod.key()];
            } else {
                nominating = None;
            }
        }
        let status = if status.is_success() { status } else { Status::new(crate::framework::Code::Unschedulable, Vec::<Reason>::new()) };
        PostFilterResult { status, nominating, preemption: Some(Arc::new(record)), writes: Vec::new() }
    }
}
