//! Nominations while a group is tried: a member that is assumed has none, and gets the one of its object back afterwards.

use std::sync::Arc;

use imbl::OrdMap;

use crate::cluster::{Cluster, Key, Meta, Pod, Str};
use crate::framework::{PodInfo, hash_of};
use crate::scheduler::queue::{Nominated, SchedulingQueue};
use crate::scheduler::runtime::Nominations;

/// The queue's nominations, with what changed since. Clones share their contents.
#[derive(Clone)]
pub(super) struct GroupNominations<'a> {
    queue: &'a SchedulingQueue,
    /// Members that were assumed: with the hash of the node to which they are nominated now, if they are.
    changed: OrdMap<Key, Option<u64>>,
    /// Their nominations, by this hash.
    nominated: OrdMap<u64, OrdMap<Key, (Str, Arc<PodInfo>)>>,
}

impl<'a> GroupNominations<'a> {
    pub(super) fn new(queue: &'a SchedulingQueue) -> Self {
        Self { queue, changed: OrdMap::new(), nominated: OrdMap::new() }
    }

    /// A member was assumed.
    pub(super) fn delete(&mut self, pod: &Pod) {
        self.change(pod.key(), None);
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
        self.change(pod.key(), nomination);
    }

    fn change(&mut self, pod: Key, nomination: Option<(Str, Arc<PodInfo>)>) {
        let hash = nomination.as_ref().map(|(node, _)| hash_of(node));
        if let Some(Some(before)) = self.changed.insert(pod.clone(), hash)
            && let Some(pods) = self.nominated.get_mut(&before)
        {
            pods.remove(&pod);
            if pods.is_empty() {
                self.nominated.remove(&before);
            }
        }
        if let (Some(hash), Some(nomination)) = (hash, nomination) {
            self.nominated.entry(hash).or_default().insert(pod, nomination);
        }
    }
}

impl Nominations for GroupNominations<'_> {
    fn nominated(&self, node: &str, name_hash: u64) -> Option<Arc<Nominated>> {
        let of_queue = self.queue.nominated_to(node, name_hash);
        let is_changed = |info: &Arc<PodInfo>| self.changed.contains_key(&info.key());
        let restored = self.nominated.get(&name_hash).into_iter().flat_map(OrdMap::values).filter(|(on, _)| on == node);
        let mut restored = restored.map(|(_, info)| info).peekable();
        let queued = of_queue.as_ref().map_or(&[][..], |nominated| nominated.pods());
        if restored.peek().is_none() && !queued.iter().any(is_changed) {
            return of_queue;
        }
        let pods: Vec<Arc<PodInfo>> = queued.iter().filter(|info| !is_changed(info)).chain(restored).cloned().collect();
        (!pods.is_empty()).then(|| Arc::new(pods.into()))
    }

    fn any(&self) -> bool {
        self.queue.any() || !self.nominated.is_empty()
    }

    fn may_be_on(&self, name_hash: u64) -> bool {
        self.queue.may_be_on(name_hash) || self.nominated.contains_key(&name_hash)
    }
}
