//! The calls of extenders in a decision, as data.

use serde::Serialize;

use crate::cluster::Str;
use crate::framework::{ExtenderCall, ExtenderOutcome, ExtenderVerb};
use crate::trace::{CycleView, Outcome, PreemptionView};

/// Who would bind the pod.
#[derive(Clone, Debug, Serialize)]
pub struct BindReport {
    /// `extender N`, by its place in the configuration, or `DefaultBinder`.
    pub by: String,
    pub node: Str,
}

impl BindReport {
    /// Returns who would bind the pod; `None` where extenders are not asked, or no node was chosen.
    pub fn of(view: &CycleView) -> Option<Self> {
        let asks = view.start.as_ref().is_some_and(|start| start.asks_extenders);
        let (node, ..) = view.scoring.selected.as_ref().filter(|_| asks && view.outcome == Some(Outcome::Scheduled))?;
        let binder = view.extenders.calls.iter().find(|call| matches!(call.outcome, ExtenderOutcome::WouldBind(_)));
        let by = binder.map_or_else(|| "DefaultBinder".to_owned(), |call| format!("extender {}", call.extender.index));
        Some(Self { by, node: node.clone() })
    }
}

/// One extender's part in a decision.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtenderReport {
    /// Its place in the configuration.
    pub extender: usize,
    /// Its `urlPrefix`.
    pub url: Str,
    /// The call.
    pub verb: ExtenderVerb,
    /// The nodes it was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Vec<Str>>,
    /// The nodes it left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Vec<Str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Str>,
    /// Whether its error is passed over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Whether it was not asked, and no earlier answer is known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
}

impl ExtenderReport {
    /// Returns the part of each extender, in order.
    pub fn all(view: &CycleView) -> Vec<Self> {
        calls(view).map(Self::of).collect()
    }

    fn of(call: &ExtenderCall) -> Self {
        let mut report = Self {
            extender: call.extender.index,
            url: call.extender.url.clone(),
            verb: call.outcome.verb(),
            asked: None,
            left: None,
            error: None,
            ignored: false,
            unknown: false,
        };
        match &call.outcome {
            ExtenderOutcome::Filtered(filter) => {
                (report.asked, report.left) = (Some(filter.asked.clone()), Some(filter.left.clone()));
            }
            ExtenderOutcome::Preempted(preemption) => {
                let left = preemption.left.iter().map(|candidate| candidate.node.clone()).collect();
                (report.asked, report.left) = (Some(preemption.asked.clone()), Some(left));
            }
            ExtenderOutcome::Failed { text, ignored, .. } => (report.error, report.ignored) = (Some(text.clone()), *ignored),
            ExtenderOutcome::Unknown(_) => report.unknown = true,
            ExtenderOutcome::Scored { .. } | ExtenderOutcome::WouldBind(_) => {}
        }
        report
    }
}

/// The parts of extenders so far, in order; those that were not asked to score are left out.
pub(super) fn calls(view: &CycleView) -> impl Iterator<Item = &ExtenderCall> {
    let of_preemption = view.preemption.iter().flat_map(PreemptionView::extender_calls);
    let is_asked = |call: &&ExtenderCall| !matches!(call.outcome, ExtenderOutcome::Scored { asked: false, .. });
    view.extenders.calls.iter().chain(of_preemption).map(AsRef::as_ref).filter(is_asked)
}
