//! Pods that wait on Permit: assumed on their node, their binding held back until every plugin that asked for a wait
//! has allowed them. Mirrors `pkg/scheduler/framework/runtime/waiting_pods_map.go`, `WaitOnPermit` in
//! `pkg/scheduler/framework/runtime/framework.go`, and the code around it in `bindingCycle` in
//! `pkg/scheduler/schedule_one.go`.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Failed;
use super::binding::{Binding, PermitTimeouts, failure_cause, rejected};
use crate::cluster::{Key, Pod, Str};
use crate::framework::{PluginName, Status, format_duration, is_same_pod};
use crate::scheduler::State;
use crate::trace::{Event, FailureCause, PermitEnd};

/// A pod that waits on Permit.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct WaitingPod {
    binding: Binding,
    /// The plugins it waits for, in the order of the profile; never empty.
    plugins: Vec<Waiting>,
}

/// A plugin that makes a pod wait.
#[derive(Clone, Debug)]
struct Waiting {
    plugin: PluginName,
    timeout: SignedDuration,
    deadline: Timestamp,
}

impl WaitingPod {
    /// Returns the node it is assumed on.
    pub(in crate::scheduler) fn node(&self) -> &Str {
        self.binding.node.name()
    }

    /// Whether it is the given pod.
    pub(in crate::scheduler) fn is(&self, pod: &Pod) -> bool {
        is_same_pod(self.binding.info.pod(), pod)
    }

    /// Returns the earliest deadline and its plugin; of equals the first in the profile.
    pub(in crate::scheduler) fn deadline(&self) -> Option<(Timestamp, PluginName)> {
        self.plugins.iter().min_by_key(|w| w.deadline).map(|w| (w.deadline, w.plugin))
    }
}

impl State {
    /// Ends the scheduling cycle and holds the binding back. Events are still kept for the pod.
    pub(super) fn wait_on_permit(&mut self, binding: Binding, patience: PermitTimeouts, events: &mut Vec<Event>) {
        let (key, node) = (binding.info.key(), binding.node.name().clone());
        let until = |timeout| self.clock.checked_add(timeout).unwrap_or(Timestamp::MAX);
        let plugins: Vec<Waiting> =
            patience.into_iter().map(|(plugin, timeout)| Waiting { plugin, timeout, deadline: until(timeout) }).collect();
        let deadlines = plugins.iter().map(|w| (w.plugin, w.deadline)).collect();
        events.push(Event::PermitWaited { pod: Box::new(key.clone()), node: node.clone(), plugins: deadlines });
        self.with_queue(events, |queue, env| queue.wait_on_permit(env, binding.info.pod(), &node));
        self.waiting.insert(key, Arc::new(WaitingPod { binding, plugins }));
    }

    /// Allows a pod for every plugin it waits for, and resumes its binding. No effect on a pod that is not waiting.
    pub(in crate::scheduler) fn allow(&mut self, pod: &Key, events: &mut Vec<Event>) {
        self.end_wait(pod, PermitEnd::Allowed, None, events);
    }

    /// Rejects a pod by the first plugin it waits for, in the order of the profile. No effect on a pod that is not
    /// waiting.
    pub(in crate::scheduler) fn reject(&mut self, pod: &Key, events: &mut Vec<Event>) {
        let Some(plugin) = self.waiting.get(pod).and_then(|w| w.plugins.first()).map(|w| w.plugin) else { return };
        let message = format!("rejected by plugin {plugin}");
        self.end_wait(pod, PermitEnd::Rejected, Some((Some(plugin), message)), events);
    }

    /// Rejects a waiting pod that is deleted or terminating.
    pub(in crate::scheduler) fn reject_removed(&mut self, pod: &Key, events: &mut Vec<Event>) {
        self.end_wait(pod, PermitEnd::Rejected, Some((None, "removed".to_owned())), events);
    }

    /// Ends the wait of a pod at its first deadline.
    pub(in crate::scheduler) fn time_out(&mut self, pod: &Key, events: &mut Vec<Event>) {
        let Some(first) = self.waiting.get(pod).and_then(|w| w.plugins.iter().min_by_key(|w| w.deadline)).cloned() else { return };
        let Waiting { plugin, timeout, .. } = first;
        let message = format!("rejected due to timeout after waiting {} at plugin {plugin}", format_duration(timeout));
        self.end_wait(pod, PermitEnd::TimedOut, Some((Some(plugin), message)), events);
    }

    /// Ends a wait with a timeout of zero.
    pub(super) fn time_out_at_once(&mut self, pod: &Key, events: &mut Vec<Event>) {
        if self.waiting.get(pod).and_then(|w| w.deadline()).is_some_and(|(deadline, _)| deadline <= self.clock) {
            self.time_out(pod, events);
        }
    }

    /// Ends a wait: the pod is bound or requeued. `by` is the rejecting plugin, if there is one, and the message.
    pub(super) fn end_wait(&mut self, pod: &Key, end: PermitEnd, by: Option<(Option<PluginName>, String)>, events: &mut Vec<Event>) {
        let Some(waiting) = self.waiting.remove(pod) else { return };
        let mut binding = Arc::unwrap_or_clone(waiting).binding;
        let node = binding.node.name().clone();
        let (plugin, message) = match end {
            PermitEnd::Preempted => (Some(PluginName::DefaultPreemption), "preempted".to_owned()),
            _ => by.unwrap_or_default(),
        };
        let said = message.as_str().into();
        events.push(Event::PermitResolved { pod: Box::new(pod.clone()), node: node.clone(), end, plugin, message: said });
        let (status, failed) = match end {
            PermitEnd::Allowed => {
                let mut writes = Vec::new();
                let bound = self.finish_binding(&mut binding, &mut writes, events);
                self.carry_out(writes, events);
                let Err(status) = bound else { return };
                let failed = Failed::new(failure_cause(&status), status.message());
                (status, failed)
            }
            PermitEnd::Preempted => {
                let status = Status::error(format!("waiting on permit for pod: {message}"));
                let failed = Failed::new(FailureCause::Error, status.message());
                (status, failed)
            }
            PermitEnd::Rejected | PermitEnd::TimedOut => {
                let status = Status::unschedulable(message);
                let status = if let Some(plugin) = plugin { status.with_plugin(plugin) } else { status };
                let failed = rejected(&status);
                (status, failed)
            }
        };
        let failed = self.binding_failed(&mut binding, &status, failed, events);
        let own = self.handle_failure(&mut binding.info, failed, events);
        self.carry_out(own, events);
    }
}
