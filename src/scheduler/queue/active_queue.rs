//! activeQ; mirrors the heap of `pkg/scheduler/backend/queue/active_queue.go`.

use std::cmp::Reverse;
use std::sync::Arc;

use imbl::{HashMap, OrdMap};
use jiff::Timestamp;

use crate::cluster::Key;
use crate::framework::QueuedPodInfo;

/// The sort key of `PrioritySort`, then a tie-break of our own.
pub(super) type PodOrder = (Reverse<i32>, Timestamp, u64);

/// Returns the sort key of a pod in activeQ: higher priority, then earlier timestamp, then smaller sequence number.
/// kube-scheduler leaves equal timestamps to its heap. They are common under a virtual clock, so the pod that arrived
/// first goes first.
pub(super) fn pod_order(info: &QueuedPodInfo) -> PodOrder {
    (Reverse(info.pod().priority()), info.timestamp, info.sequence)
}

/// Pods to be tried, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveQueue {
    order: OrdMap<PodOrder, Arc<QueuedPodInfo>>,
    index: HashMap<Key, PodOrder>,
}

impl ActiveQueue {
    /// Adds a pod; replaces one of the same name.
    pub(super) fn insert(&mut self, info: Arc<QueuedPodInfo>) {
        let (key, order) = (info.key(), pod_order(&info));
        self.remove(&key);
        self.index.insert(key, order);
        self.order.insert(order, info);
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<QueuedPodInfo>> {
        let order = self.index.remove(key)?;
        self.order.remove(&order)
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<QueuedPodInfo>> {
        self.order.get(self.index.get(key)?)
    }

    pub(super) fn pop(&mut self) -> Option<Arc<QueuedPodInfo>> {
        let (_, info) = self.order.get_min()?;
        let key = info.key();
        self.remove(&key)
    }

    /// Returns the pods in the order of popping.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.order.values()
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }
}
