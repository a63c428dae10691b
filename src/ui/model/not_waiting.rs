//! Why a pod of the cluster is in no queue.

use thiserror::Error;

use crate::cluster::{Key, Str};
use crate::session::Timeline;

/// Why a pod is in no queue. The text continues the pod's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotWaiting {
    /// The pod has ended.
    #[error("is not waiting to be scheduled: it has finished")]
    Finished,
    /// The pod is bound to a node.
    #[error("is not waiting to be scheduled: it is on {0}")]
    Bound(Str),
    /// No profile of the emulated scheduler has the name that the pod requires.
    #[error("belongs to the scheduler {0}, which is not emulated")]
    OtherScheduler(Str),
    /// None of these.
    #[error("is not waiting to be scheduled")]
    NotQueued,
}

impl NotWaiting {
    /// Returns why a pod is in no queue at the cursor; `None` for a pod that does not exist.
    pub fn of(timeline: &Timeline, pod: &Key) -> Option<Self> {
        let keyframe = timeline.keyframe();
        let pod = keyframe.cluster.pods.get(pod)?;
        Some(match &pod.spec.scheduler_name {
            _ if pod.is_terminal() => Self::Finished,
            _ if !pod.node_name.is_empty() => Self::Bound(pod.node_name.clone()),
            name if !keyframe.requeue_events.has_profile(name) => Self::OtherScheduler(name.clone()),
            _ => Self::NotQueued,
        })
    }
}
