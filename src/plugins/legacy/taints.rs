//! PodToleratesNodeTaints, PodToleratesNodeNoExecuteTaints and TaintTolerationPriority. Mirrors
//! `pkg/scheduler/algorithm/predicates/predicates.go` and `pkg/scheduler/algorithm/priorities/taint_toleration.go`.

use std::sync::Arc;

use super::{normalize, reject};
use crate::cluster::Toleration;
use crate::framework::{Context, CycleState, FilterPlugin, NodeInfo, Plugin, PluginName, PodInfo, Reason, ScorePlugin, Status};
use crate::plugins::helper::{find_matching_untolerated_taint, is_do_not_schedule_taint, tolerates};

const PREFER_NO_SCHEDULE: &str = "PreferNoSchedule";

/// Keeps pods off nodes whose taints they do not tolerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToleratesTaints {
    /// PodToleratesNodeTaints: NoSchedule and NoExecute.
    All,
    /// PodToleratesNodeNoExecuteTaints.
    NoExecute,
}

impl Plugin for ToleratesTaints {
    fn name(&self) -> PluginName {
        match self {
            Self::All => PluginName::PodToleratesNodeTaints,
            Self::NoExecute => PluginName::PodToleratesNodeNoExecuteTaints,
        }
    }
    fn filter(&self) -> Option<&dyn FilterPlugin> {
        Some(self)
    }
}

impl FilterPlugin for ToleratesTaints {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let tolerations = &pod.pod.spec.tolerations;
        let include = |taint: &_| is_do_not_schedule_taint(taint) && (*self == Self::All || taint.effect == "NoExecute");
        let taint = find_matching_untolerated_taint(node.taints(), tolerations, include, cx.emulation);
        let reason = taint.map(|taint| Reason::UntoleratedTaint { taint: taint.clone() });
        reject(reason.into_iter().collect(), cx.emulation.behaviour())
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
}

/// Prefers nodes with fewer PreferNoSchedule taints that the pod does not tolerate.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaintTolerationPriority;

impl Plugin for TaintTolerationPriority {
    plugin!(TaintTolerationPriority: score);
}

impl ScorePlugin for TaintTolerationPriority {
    fn score(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let counts = |t: &&Toleration| t.effect.is_empty() || t.effect == PREFER_NO_SCHEDULE;
        let soft = node.taints().iter().filter(|t| t.effect == PREFER_NO_SCHEDULE);
        let tolerations = || pod.pod.spec.tolerations.iter().filter(counts);
        Ok(soft.filter(|taint| !tolerations().any(|t| tolerates(std::slice::from_ref(t), taint, cx.emulation))).count() as i64)
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        normalize(scores, true);
        Status::success()
    }
}
