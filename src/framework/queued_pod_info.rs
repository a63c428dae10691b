//! A pod in the scheduling queue; mirrors `QueuedPodInfo` in `pkg/scheduler/framework/types.go`.

use std::sync::Arc;

use jiff::Timestamp;

use super::{PluginName, PluginSet, PodInfo};
use crate::cluster::{Key, Pod};
use crate::release::Emulation;

/// A pod with its history in the queue.
///
/// `BackoffExpiration` is not stored, because the queue computes it from the counters and the timestamp.
/// `WasFlushedFromUnschedulable` is left out, because only a metric reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedPodInfo {
    /// The pod and its derived data.
    pub pod_info: Arc<PodInfo>,
    /// When the pod entered the queue, or returned from its last attempt. Moves between queues leave it unchanged. It
    /// orders activeQ and is the base of backoff and of the leftover flush.
    pub timestamp: Timestamp,
    /// When the leftover flush last offered the pod to PreEnqueue, while it was gated.
    pub flushed: Option<Timestamp>,
    /// A number drawn together with the timestamp; it orders pods with equal timestamps.
    pub sequence: u64,
    /// How often the pod was popped. It affects no decision.
    pub attempts: u32,
    /// How often the pod returned rejected by plugins; the exponent of the backoff.
    pub unschedulable_count: u32,
    /// How often in a row the pod returned without a rejecting plugin; it takes precedence over `unschedulable_count`.
    pub consecutive_errors_count: u32,
    /// When the pod first entered activeQ; `None` while it has always been gated.
    pub initial_attempt_timestamp: Option<Timestamp>,
    /// The number of pods of its group that returned with it, itself included; 0 for a pod that is queued by itself.
    pub group_size: u32,
    /// The plugins that rejected the pod, in its last attempt or at `PreEnqueue`.
    pub unschedulable_plugins: PluginSet,
    /// The plugins that answered Pending in the last attempt. If one of their hints returns Queue, backoff is skipped.
    pub pending_plugins: PluginSet,
    /// The `PreEnqueue` plugin that gates the pod.
    pub gating_plugin: Option<PluginName>,
}

impl QueuedPodInfo {
    /// Makes the entry of a pod that is new to the queue.
    pub fn new(pod: Arc<Pod>, now: Timestamp, sequence: u64, emulation: Emulation) -> Self {
        Self::of(Arc::new(PodInfo::with_emulation(pod, emulation)), now, sequence)
    }

    /// Makes the entry of a parsed pod that is new to the queue.
    pub fn of(pod_info: Arc<PodInfo>, now: Timestamp, sequence: u64) -> Self {
        Self {
            pod_info,
            timestamp: now,
            flushed: None,
            sequence,
            attempts: 0,
            unschedulable_count: 0,
            consecutive_errors_count: 0,
            initial_attempt_timestamp: None,
            group_size: 0,
            unschedulable_plugins: PluginSet::default(),
            pending_plugins: PluginSet::default(),
            gating_plugin: None,
        }
    }

    pub fn pod(&self) -> &Arc<Pod> {
        &self.pod_info.pod
    }

    /// Returns `namespace/name`.
    pub fn key(&self) -> Key {
        self.pod_info.key()
    }

    /// Replaces the pod object and keeps the history.
    pub fn update(&mut self, pod: Arc<Pod>, emulation: Emulation) {
        self.pod_info = Arc::new(self.pod_info.like(pod, emulation));
    }

    /// Whether a `PreEnqueue` plugin gates the pod.
    pub fn gated(&self) -> bool {
        self.gating_plugin.is_some()
    }

    /// Returns all plugins that rejected the pod.
    pub fn rejectors(&self) -> PluginSet {
        self.unschedulable_plugins.union(self.pending_plugins)
    }

    /// Clears the rejecting plugins before the result of another attempt is recorded.
    pub fn clear_rejector_plugins(&mut self) {
        self.unschedulable_plugins = PluginSet::default();
        self.pending_plugins = PluginSet::default();
        self.gating_plugin = None;
    }
}
