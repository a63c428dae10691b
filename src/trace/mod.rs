//! The scheduler's trace: typed events, the sentences that describe them, and the views that fold them.

mod api_event;
mod cycle_view;
mod event;
mod pod_group;
mod preemption;
mod queues_view;
mod recorded_events;
mod recorder;
mod scores;
mod sentence;
mod steps;
mod verdict_class;

pub use api_event::ApiEvent;
pub(crate) use cycle_view::Fold;
pub use cycle_view::{CycleView, EffectsView, ExtendersView, FilterView, FindingsView, PreFilterView, ScoringView, Verdict};
pub use event::*;
pub use pod_group::{GroupDecision, GroupEvent, GroupOutcome, GroupStart, GroupView, PlacementTry};
#[cfg(test)]
pub(crate) use preemption::preemption_events;
pub use preemption::{DryRunStepAt, DryRunView, Fate, PreemptionView, ScoreFunctionAt, record_preemption, victim_label};
pub use queues_view::{GroupGate, QueueEntry, QueuesView};
pub use recorded_events::RecordedEvents;
pub(crate) use recorded_events::RecordedEventsBuilder;
pub use recorder::{GroupTrace, Quiet, Recorder, Trace};
pub use scores::{NodeScore, Part, PluginScore, Row};
pub use steps::{ExtensionPoint, StepSize};
pub use verdict_class::VerdictClass;
