//! Nominations while a group is tried: a member that is assumed has none, and gets the one of its object back afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cluster::{Cluster, Key, Meta, Pod, Str};
use crate::framework::{PodInfo, hash_of};
use crate::scheduler::queue::SchedulingQueue;
use crate::scheduler::runtime::Nominations;

/// The queue's nominations, with what changed since.
#[derive(Clone)]
pub(super) struct GroupNominations<'a> {
    queue: &'a SchedulingQueue,
    /// Members that were assumed: with their nomination now, if they have one.
    changed: BTreeMap<Key, Option<(Str, Arc<PodInfo>)>>,
}

impl<'a> GroupNominations<'a> {
    pub(super) fn new(queue: &'a SchedulingQueue) -> Self {
        Self { queue, changed: BTreeMap::new() }
    }

    /// A member was assumed.
    pub(super) fn delete(&mut self, pod: &Pod) {
        self.changed.insert(pod.key(), None);
    }

    /// A member is not assumed any more. It waits in no queue while it is tried, and so counts with nothing but its name.
    pub(super) fn restore(&mut self, pod: &Pod, cluster: &Cluster) {
        let node = &pod.status.nominated_node_name;
        let waits = cluster.pods.get(&pod.key()).is_some_and(|known| known.is_pending());
        let nomination = (!node.is_empty() && waits).then(|| {
            let meta = &pod.metadata;
            let metadata = Meta { name: meta.name.clone(), namespace: meta.namespace.clone(), uid: meta.uid.clone(), ..Meta::default() };
            (node.clone(), Arc::new(PodInfo::new(Arc::new(Pod { metadata, ..Pod::default() }))))
        });
        self.changed.insert(pod.key(), nomination);
    }
}

impl Nominations for GroupNominations<'_> {
    fn nominated_pods(&self, node: &str) -> Vec<Arc<PodInfo>> {
        let mut pods = self.queue.nominated_pods_for_node(node);
        pods.retain(|info| !self.changed.contains_key(&info.key()));
        pods.extend(self.changed.values().flatten().filter(|(on, _)| on == node).map(|(_, info)| info.clone()));
        pods
    }

    fn any(&self) -> bool {
        self.queue.any() || self.changed.values().any(Option::is_some)
    }

    fn may_be_on(&self, name_hash: u64) -> bool {
        self.queue.may_be_on(name_hash) || self.changed.values().flatten().any(|(on, _)| hash_of(on) == name_hash)
    }
}
