//! The identity of an object through all its changes.

use crate::cluster::{Key, Pod, PodGroup, Uid};

/// Identifies a pod or a pod group through all its changes: by its uid or, without one, by its namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::scheduler) enum ObjectId {
    Uid(Uid),
    Pod(Key),
    PodGroup(Key),
}

impl ObjectId {
    pub(in crate::scheduler) fn of_pod(pod: &Pod) -> Self {
        if pod.metadata.uid.is_empty() { Self::Pod(pod.key()) } else { Self::Uid(pod.metadata.uid.clone()) }
    }

    pub(in crate::scheduler) fn of_group(group: &PodGroup) -> Self {
        if group.metadata.uid.is_empty() { Self::PodGroup(group.metadata.key()) } else { Self::Uid(group.metadata.uid.clone()) }
    }
}
