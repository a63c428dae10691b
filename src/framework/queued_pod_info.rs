//! What the scheduling queue knows about one pod; mirrors `QueuedPodInfo` in `pkg/scheduler/framework/types.go`.

use std::sync::Arc;

use jiff::Timestamp;

use super::{PluginName, PluginSet, PodInfo};
use crate::cluster::{Key, Pod};
use crate::release::Emulation;

/// A pod with its history in the queue.
///
/// `BackoffExpiration` is not kept: it follows from the counters and the timestamp, and the queue works it out. Nor is
/// `WasFlushedFromUnschedulable`, which only a metric reads.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedPodInfo {
    /// The pod and what is derived from it.
    pub pod_info: Arc<PodInfo>,
    /// When the pod came to the queue, or came back from its last attempt. Moves between queues leave it alone: it
    /// orders activeQ and is the base of backoff and of the leftover flush.
    pub timestamp: Timestamp,
    /// Number that was drawn together with the timestamp, to order pods with equal ones.
    pub sequence: u64,
    /// How often the pod was popped; takes part in no decision.
    pub attempts: u32,
    /// How often the pod came back rejected by plugins; the exponent of the backoff.
    pub unschedulable_count: u32,
    /// How often in a row the pod came back without a rejecting plugin; goes before the other count.
    pub consecutive_errors_count: u32,
    /// When the pod first entered activeQ; `None` while it has been gated all the time.
    pub initial_attempt_timestamp: Option<Timestamp>,
    /// The plugins that turned the pod down, in its last attempt or at `PreEnqueue`.
    pub unschedulable_plugins: PluginSet,
    /// The plugins that answered Pending in its last attempt: when one of their hints says Queue, backoff is skipped.
    pub pending_plugins: PluginSet,
    /// The `PreEnqueue` plugin that keeps the pod out.
    pub gating_plugin: Option<PluginName>,
}

impl QueuedPodInfo {
    /// A pod that is new to the queue.
    pub fn new(pod: Arc<Pod>, now: Timestamp, sequence: u64, emulation: Emulation) -> Self {
        Self {
            pod_info: Arc::new(PodInfo::with_emulation(pod, emulation)),
            timestamp: now,
            sequence,
            attempts: 0,
            unschedulable_count: 0,
            consecutive_errors_count: 0,
            initial_attempt_timestamp: None,
            unschedulable_plugins: PluginSet::default(),
            pending_plugins: PluginSet::default(),
            gating_plugin: None,
        }
    }

    /// The pod.
    pub fn pod(&self) -> &Arc<Pod> {
        &self.pod_info.pod
    }

    /// `namespace/name`.
    pub fn key(&self) -> Key {
        self.pod_info.key()
    }

    /// Replaces the pod's object; the history stays.
    pub fn update(&mut self, pod: Arc<Pod>, emulation: Emulation) {
        self.pod_info = Arc::new(PodInfo::with_emulation(pod, emulation));
    }

    /// Whether a `PreEnqueue` plugin keeps the pod out.
    pub fn gated(&self) -> bool {
        self.gating_plugin.is_some()
    }

    /// All plugins that turned the pod down.
    pub fn rejectors(&self) -> PluginSet {
        self.unschedulable_plugins.union(self.pending_plugins)
    }

    /// Forgets who turned the pod down, before the outcome of another attempt is noted.
    pub fn clear_rejector_plugins(&mut self) {
        self.unschedulable_plugins = PluginSet::default();
        self.pending_plugins = PluginSet::default();
        self.gating_plugin = None;
    }
}
