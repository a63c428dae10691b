//! Members of a pod group, which leave the queue together.

use std::sync::Arc;

use super::moves::label;
use super::{QueueEnv, SchedulingQueue};
use crate::cluster::Pod;
use crate::framework::{EventLabel, QueuedPodInfo};
use crate::release::Gate;
use crate::trace::{Event, MoveCause, Place};

impl SchedulingQueue {
    /// Takes a pod out of whichever queue it waits in, by way of activeQ; `None` for a pod that waits nowhere or that
    /// `PreEnqueue` keeps out. Mirrors `PopSpecificPod`.
    pub fn pop_specific_pod(&mut self, env: &mut dyn QueueEnv, pod: &Pod) -> Option<Arc<QueuedPodInfo>> {
        let key = pod.key();
        if self.active.get(&key).is_none() {
            let place = self.place(&key);
            let info = self.unschedulable.get(&key).cloned().or_else(|| self.backoff.of(&key).remove(&key))?;
            if !self.move_to_active(env, info, place, label(EventLabel::ForceActivate), None) {
                return None;
            }
        }
        let mut info = self.active.of(&key).remove(&key)?;
        let tried = Arc::make_mut(&mut info);
        tried.attempts = tried.attempts.saturating_add(1);
        if self.in_flight.contains(info.pod()) {
            self.record_move(env, &info, Some(Place::Active), Place::Gone, MoveCause::Cycle, None);
            return None;
        }
        self.scheduling_cycle += 1;
        self.in_flight.start(info.clone());
        self.popped_group = self.entry_of(info.pod());
        self.record(env, Event::PodPopped { pod: info.key(), attempts: info.attempts, early_from_backoff: false });
        self.record_move(env, &info, Some(Place::Active), Place::InFlight, MoveCause::Cycle, None);
        Some(info)
    }

    /// Whether a pod is tried with its group, and so is never woken by an event after a failed attempt.
    pub(super) fn is_group_member(&self, pod: &Pod) -> bool {
        pod.spec.scheduling_group.is_some() && self.config.emulation.enabled(Gate::GenericWorkload)
    }
}
