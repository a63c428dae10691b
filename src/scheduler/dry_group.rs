//! The decision about a member of a pod group as if it were popped now, together with its group.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Scheduler;
use super::pod_group::{TakeEvents, Turn};
use crate::cluster::{Key, Pod};
use crate::framework::{QueuedPodInfo, Reason, Status};
use crate::release::Gate;
use crate::trace::{CycleView, Event, Fold};

impl Scheduler {
    /// Tries the group of a pending pod as if the pod were popped now, without consequences. `None` for a pod without a
    /// group, for one that waits in no queue, and for one that PreEnqueue keeps out: [`Self::explain`] answers for these.
    pub fn explain_group(&self, pod: &Arc<Pod>) -> Option<Vec<Event>> {
        self.try_group_of(pod, &mut |_| {})
    }

    /// Hands on the events of [`Self::explain_group`] member by member.
    pub(crate) fn explain_group_in_parts(&self, pod: &Arc<Pod>, take_in: &mut dyn FnMut(Vec<Event>)) -> Option<()> {
        let mut take_in = |events: &mut Vec<Event>| {
            events.retain(is_of_decision);
            take_in(std::mem::take(events));
        };
        let mut last = self.try_group_of(pod, &mut take_in)?;
        take_in(&mut last);
        Some(())
    }

    /// Returns the decision of [`Self::explain_group`]. The events of a member are dropped before the next one is tried.
    pub fn group_view(&self, pod: &Arc<Pod>) -> Option<CycleView> {
        let (mut view, mut fold) = (CycleView::default(), Fold::default());
        let mut take_in = |events: &mut Vec<Event>| {
            events.drain(..).filter(is_of_decision).for_each(|event| fold.apply(&mut view, Cow::Owned(event)));
        };
        let mut last = self.try_group_of(pod, &mut take_in)?;
        take_in(&mut last);
        fold.finish(&mut view);
        Some(view)
    }

    /// Returns the events that `after_member` leaves.
    fn try_group_of(&self, pod: &Arc<Pod>, after_member: TakeEvents<'_>) -> Option<Vec<Event>> {
        let group = pod.group_key().filter(|_| self.state.config.emulation.enabled(Gate::GenericWorkload))?;
        let mut copy = self.clone();
        // Asking the other pods of the group would not let this one in.
        if copy.state.with_queue(&mut Vec::new(), |queue, env| queue.rejected_with_group(env, pod, |_| true)).is_some() {
            return None;
        }
        let popped = copy.state.with_queue(&mut Vec::new(), |queue, env| queue.pop_specific_pod(env, pod))?;
        let mut events = Vec::new();
        copy.schedule_one_pod_group(QueuedPodInfo::clone(&popped), group, &mut events, Turn::Decision(after_member));
        events.retain(is_of_decision);
        Some(events)
    }

    /// Returns why another pod of the group of a pod keeps it out of activeQ, where the group is queued as one entry.
    pub(super) fn group_gate(&self, pod: &Pod) -> Option<Status> {
        if !self.state.queue.has_gated_group(pod) {
            return None;
        }
        let mut state = self.state.clone();
        let (other, status) =
            state.with_queue(&mut Vec::new(), |queue, env| queue.rejected_with_group(env, pod, |other| other.key() != pod.key()))?;
        let reason = Reason::GroupGated { pod: other.key(), reasons: status.reasons().to_vec() };
        Some(status.plugin().into_iter().fold(Status::rejected(reason), Status::with_plugin))
    }
}

/// Decisions about pod groups, each taken once for all of its pods.
#[derive(Clone, Debug, Default)]
pub struct GroupViews(BTreeMap<Key, CycleView>);

impl GroupViews {
    /// Returns the decision of [`Scheduler::view_of`] about a member of a group, without the cycles of the other members; `None` for a pod
    /// that is decided on its own.
    pub fn member(&mut self, scheduler: &Scheduler, pod: &Arc<Pod>) -> Option<CycleView> {
        let group = pod.group_key()?;
        let mut member = self.0.get(&group).and_then(|view| view.only_member(&pod.key()));
        if member.is_none() {
            let view = scheduler.group_view(pod)?;
            member = view.only_member(&pod.key());
            self.0.insert(group, view);
        }
        let mut member = member?;
        member.findings.unknown = scheduler.state().cluster().unknown;
        Some(member)
    }
}

/// Returns whether an event says how the decision comes about, rather than what changes by it.
fn is_of_decision(event: &Event) -> bool {
    !matches!(
        event,
        Event::ClockMoved { .. }
            | Event::ObjectChanged { .. }
            | Event::QueueMoved(_)
            | Event::PlaceInferred(_)
            | Event::PriorityChanged { .. }
            | Event::HintAsked { .. }
            | Event::PreEnqueueRejected { .. }
            | Event::GroupGateChanged { .. }
            | Event::PodPopped { .. }
            | Event::PodNominated { .. }
            | Event::NominationCleared { .. }
            | Event::GracePeriodEnded { .. }
            | Event::VictimEvicted { .. }
            | Event::PodAssumed { .. }
            | Event::PermitWaited { .. }
            | Event::PermitResolved { .. }
            | Event::PreBound { .. }
            | Event::PodBound { .. }
    )
}
