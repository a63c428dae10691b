//! Pods that wait on Permit: assumed on their node, their binding held back until every plugin that asked for it has
//! allowed them. Mirrors `pkg/scheduler/framework/runtime/waiting_pods_map.go`, `WaitOnPermit` in
//! `pkg/scheduler/framework/runtime/framework.go`, and what `bindingCycle` in `pkg/scheduler/schedule_one.go` does around
//! it.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Failed;
use super::binding::{Binding, PermitTimeouts, failure_cause, rejected};
use crate::cluster::{Key, Pod, Str};
use crate::framework::{PluginName, Status, format_duration, is_same_pod};
use crate::scheduler::State;
use crate::trace::{Event, FailureCause, PermitEnd};

/// What is kept of a pod while it waits.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct WaitingPod {
    binding: Binding,
    /// Who makes it wait, in the order of the profile; never empty.
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
    /// The node it waits for.
    pub(in crate::scheduler) fn node(&self) -> &Str {
        self.binding.node.name()
    }

    /// Whether it is this pod.
    pub(in crate::scheduler) fn is(&self, pod: &Pod) -> bool {
        is_same_pod(self.binding.info.pod(), pod)
    }

    /// When the first plugin's patience ends, and which it is; of several the first in the profile.
    pub(in crate::scheduler) fn deadline(&self) -> Option<(Timestamp, PluginName)> {
        self.plugins.iter().min_by_key(|w| w.deadline).map(|w| (w.deadline, w.plugin))
    }
}

impl State {
    /// The scheduling cycle is over, and the binding waits. Events are still kept for the pod.
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

    /// Every plugin that a pod waits for allows it: its binding goes on. Nothing happens for a pod that does not wait.
    pub(in crate::scheduler) fn allow(&mut self, pod: &Key, events: &mut Vec<Event>) {
        self.end_wait(pod, PermitEnd::Allowed, None, events);
    }

    /// The first of the plugins that a pod waits for, in the order of the profile, rejects it. Nothing happens for a pod
    /// that does not wait.
    pub(in crate::scheduler) fn reject(&mut self, pod: &Key, events: &mut Vec<Event>) {
        let Some(plugin) = self.waiting.get(pod).and_then(|w| w.plugins.first()).map(|w| w.plugin) else { return };
        let message = format!("rejected by plugin {plugin}");
        self.end_wait(pod, PermitEnd::Rejected, Some((Some(plugin), message)), events);
    }

    /// A waiting pod was deleted, or is being deleted.
    pub(in crate::scheduler) fn reject_removed(&mut self, pod: &Key, events: &mut Vec<Event>) {
        self.end_wait(pod, PermitEnd::Rejected, Some((None, "removed".to_owned())), events);
    }

    /// A pod's first deadline has come.
    pub(in crate::scheduler) fn time_out(&mut self, pod: &Key, events: &mut Vec<Event>) {
        let Some(first) = self.waiting.get(pod).and_then(|w| w.plugins.iter().min_by_key(|w| w.deadline)).cloned() else { return };
        let Waiting { plugin, timeout, .. } = first;
        let message = format!("rejected due to timeout after waiting {} at plugin {plugin}", format_duration(timeout));
        self.end_wait(pod, PermitEnd::TimedOut, Some((Some(plugin), message)), events);
    }

    /// A plugin may make a pod wait for no time at all.
    pub(super) fn time_out_at_once(&mut self, pod: &Key, events: &mut Vec<Event>) {
        if self.waiting.get(pod).and_then(|w| w.deadline()).is_some_and(|(deadline, _)| deadline <= self.clock) {
            self.time_out(pod, events);
        }
    }

    /// The wait is over: the pod is bound, or goes back to the queue. `by` is the plugin that rejects it, if a plugin
    /// does, and what it says.
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
