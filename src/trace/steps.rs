//! Step sizes of navigation through events, and what each event is about.

use super::event::Event;
use super::preemption::DryRunStepAt;
use crate::cluster::{Key, Str};
use crate::framework::{DryRunStep, ExtenderVerb, PluginName};

/// The size of a step through events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, strum::Display, strum::EnumIter, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum StepSize {
    /// To the next event.
    Event,
    /// To the next event of another plugin.
    Plugin,
    /// To the next event about another node.
    Node,
    /// To the next extension point; inside PostFilter to the next phase of preemption: the potential nodes, each dry run, each
    /// reprieve, each score function, the choice.
    #[default]
    Phase,
    /// To the next extension point.
    ExtensionPoint,
    /// To the next cycle or operation.
    Cycle,
}

/// The parts of a cycle, as the framework names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display, strum::EnumIter)]
#[allow(missing_docs, reason = "the names are the framework's own")]
pub enum ExtensionPoint {
    Queue,
    PreEnqueue,
    PreFilter,
    Filter,
    PostFilter,
    PreScore,
    Score,
    Reserve,
    Permit,
    PreBind,
    Bind,
    Failure,
}

impl Event {
    /// Returns the extension point of the event.
    pub fn extension_point(&self) -> ExtensionPoint {
        use ExtensionPoint as P;
        match self {
            Self::Logged(_)
            | Self::ClockMoved { .. }
            | Self::SchedulerStarted(_)
            | Self::ObjectChanged { .. }
            | Self::GracePeriodEnded { .. }
            | Self::QueueMoved(_)
            | Self::PlaceInferred(_)
            | Self::PriorityChanged { .. }
            | Self::HintAsked { .. }
            | Self::GroupGateChanged { .. }
            | Self::PodPopped { .. }
            | Self::CycleStarted(_)
            | Self::CycleSkipped { .. } => P::Queue,
            Self::Group(event) => event.extension_point(),
            Self::PreEnqueueRejected { .. } => P::PreEnqueue,
            Self::PreFiltered { .. } | Self::NodesNarrowed { .. } => P::PreFilter,
            Self::NominatedNodeTried { .. }
            | Self::AllNodesTried
            | Self::NodeFiltered { .. }
            | Self::FilterStopped { .. }
            | Self::NotEmulated { .. } => P::Filter,
            Self::ExtenderTookPart(call) => match call.outcome.verb() {
                ExtenderVerb::Filter => P::Filter,
                ExtenderVerb::Prioritize => P::Score,
                ExtenderVerb::Preempt => P::PostFilter,
                ExtenderVerb::Bind => P::Bind,
            },
            Self::PostFiltered { .. }
            | Self::PreemptionStarted(_)
            | Self::DryRunStepped(_)
            | Self::DryRunFinished(_)
            | Self::CandidatesScored(_)
            | Self::CandidateSelected(_)
            | Self::NominationCleared { .. }
            | Self::VictimEvicted { .. } => P::PostFilter,
            Self::PreScored { .. } => P::PreScore,
            Self::NodeScored(_) | Self::NodeSelected { .. } => P::Score,
            Self::PodAssumed { .. } | Self::Reserved { .. } | Self::Unreserved { .. } => P::Reserve,
            Self::Permitted { .. } | Self::PermitWaited { .. } | Self::PermitResolved { .. } => P::Permit,
            Self::PreBound { .. } => P::PreBind,
            Self::PodBound { .. } => P::Bind,
            Self::PodNominated { .. } | Self::AttemptFailed { .. } | Self::CycleFinished { .. } => P::Failure,
        }
    }

    /// Returns whether a step of size [`StepSize::Phase`] that began with `first` goes on to this event, right after `last`.
    pub fn continues_phase(&self, first: &Self, last: &Self) -> bool {
        match (last, self) {
            // The result of a dry run belongs to its last step.
            (Self::DryRunStepped(at), Self::DryRunFinished(run)) => *at.node() == run.node,
            (Self::DryRunStepped(last), Self::DryRunStepped(next)) => {
                let removes = |at: &DryRunStepAt| matches!(at.step(), Some(DryRunStep::Removed(_) | DryRunStep::Filtered(_)));
                last.node() == next.node() && removes(last) && removes(next)
            }
            _ if last.is_preemption_phase() || self.is_preemption_phase() => false,
            _ => self.extension_point() == first.extension_point(),
        }
    }

    /// Returns whether a phase of preemption ends before or after the event.
    fn is_preemption_phase(&self) -> bool {
        matches!(
            self,
            Self::PreemptionStarted(_)
                | Self::DryRunStepped(_)
                | Self::DryRunFinished(_)
                | Self::CandidatesScored(_)
                | Self::CandidateSelected(_)
        )
    }

    /// Returns the plugin that the event is from, if any.
    pub fn plugin(&self) -> Option<PluginName> {
        match self {
            Self::HintAsked { plugin, .. }
            | Self::PreFiltered { plugin, .. }
            | Self::PreScored { plugin, .. }
            | Self::PostFiltered { plugin, .. }
            | Self::Reserved { plugin, .. }
            | Self::Permitted { plugin, .. }
            | Self::PreBound { plugin, .. } => Some(*plugin),
            Self::ExtenderTookPart(_) => Some(PluginName::Extender),
            Self::PreEnqueueRejected { status, .. } | Self::NodeFiltered { status, .. } => status.plugin(),
            Self::PreemptionStarted(_)
            | Self::DryRunStepped(_)
            | Self::DryRunFinished(_)
            | Self::CandidatesScored(_)
            | Self::CandidateSelected(_)
            | Self::NominationCleared { .. }
            | Self::VictimEvicted { .. } => Some(PluginName::DefaultPreemption),
            _ => None,
        }
    }

    /// Returns the node that the event is about, if any.
    pub fn node(&self) -> Option<&Str> {
        match self {
            Self::NominatedNodeTried { node }
            | Self::NodeFiltered { node, .. }
            | Self::NodeSelected { node, .. }
            | Self::PodNominated { node, .. }
            | Self::NominationCleared { node, .. }
            | Self::VictimEvicted { node, .. }
            | Self::GracePeriodEnded { node, .. }
            | Self::PermitWaited { node, .. }
            | Self::PermitResolved { node, .. }
            | Self::PodAssumed { node, .. }
            | Self::Unreserved { node, .. }
            | Self::PodBound { node, .. } => Some(node),
            Self::Group(event) => event.node(),
            Self::NodeScored(score) => Some(&score.node),
            Self::DryRunStepped(at) => Some(at.node()),
            Self::DryRunFinished(run) => Some(&run.node),
            Self::CandidateSelected(preemption) => preemption.selected(),
            _ => None,
        }
    }

    /// Returns whether the event is about the pod.
    pub fn is_about(&self, pod: &Key) -> bool {
        match self {
            Self::DryRunStepped(at) => at.pod().is_some_and(|p| p.metadata.name == pod.name && p.metadata.namespace == pod.namespace),
            _ => self.pod() == Some(pod),
        }
    }

    /// Returns the namespace and name of the pod that the event is about.
    pub fn pod_key(&self) -> Option<Key> {
        match self {
            Self::DryRunStepped(at) => at.pod().map(|pod| pod.key()),
            _ => self.pod().cloned(),
        }
    }

    /// Returns the pod that the event names.
    fn pod(&self) -> Option<&Key> {
        match self {
            Self::Logged(event) => Some(&event.pod),
            Self::QueueMoved(m) => Some(&m.pod),
            Self::PlaceInferred(p) => Some(&p.pod),
            Self::CycleStarted(start) => Some(&start.pod),
            Self::PriorityChanged { pod, .. }
            | Self::HintAsked { pod, .. }
            | Self::PreEnqueueRejected { pod, .. }
            | Self::PodPopped { pod, .. }
            | Self::CycleSkipped { pod, .. }
            | Self::PodNominated { pod, .. }
            | Self::NominationCleared { pod, .. }
            | Self::GracePeriodEnded { pod, .. }
            | Self::PodAssumed { pod, .. }
            | Self::Unreserved { pod, .. }
            | Self::PodBound { pod, .. }
            | Self::AttemptFailed { pod, .. }
            | Self::CycleFinished { pod, .. } => Some(pod),
            Self::Group(event) => event.pod(),
            Self::VictimEvicted { pod, .. } | Self::PermitWaited { pod, .. } | Self::PermitResolved { pod, .. } => Some(pod),
            _ => None,
        }
    }
}
