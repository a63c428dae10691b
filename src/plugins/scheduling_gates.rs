//! SchedulingGates: PreEnqueue. Mirrors `pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go`.

use std::sync::Arc;

use crate::cluster::{Object, Pod};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, EventResource, Plugin, PreEnqueuePlugin, QueueingHint, Reason, Status,
};
use crate::release::Emulation;

/// Keeps pods with scheduling gates out of activeQ.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchedulingGates;

impl Plugin for SchedulingGates {
    plugin!(SchedulingGates: pre_enqueue);

    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let event = ClusterEvent::new(EventResource::Pod, ActionType::UPDATE_POD_SCHEDULING_GATES_ELIMINATED);
        Some(vec![ClusterEventWithHint { event, hint: Some(Arc::new(|_, pod, change| Ok(hint(pod, change)))) }])
    }
}

/// Returns Queue if the last gate of the pod itself was removed.
fn hint(pod: &Pod, change: &Change) -> QueueingHint {
    match &change.new {
        Some(Object::Pod(new)) if new.metadata.uid == pod.metadata.uid => QueueingHint::Queue,
        _ => QueueingHint::QueueSkip,
    }
}

impl PreEnqueuePlugin for SchedulingGates {
    fn pre_enqueue(&self, _cx: &Context<'_>, pod: &Pod, _preempting: bool) -> Status {
        if pod.spec.scheduling_gates.is_empty() {
            return Status::success();
        }
        let gates = pod.spec.scheduling_gates.iter().map(|g| g.name.clone()).collect();
        Status::rejected(Reason::SchedulingGates { gates })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Cluster;
    use crate::framework::{Code, Snapshot};

    fn pod(gates: &str) -> Pod {
        serde_json::from_str(&format!(r#"{{"metadata":{{"name":"p","uid":"u"}},"spec":{{"schedulingGates":{gates}}}}}"#)).unwrap()
    }

    #[test]
    fn gates_keep_the_pod_out_and_are_named_in_order() {
        let (cluster, snapshot) = (Cluster::default(), Snapshot::default());
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH };
        assert!(PreEnqueuePlugin::pre_enqueue(&SchedulingGates, &cx, &pod("[]"), false).is_success());
        let status = PreEnqueuePlugin::pre_enqueue(&SchedulingGates, &cx, &pod(r#"[{"name":"b"},{"name":"a"}]"#), false);
        assert_eq!((status.code(), status.message().as_str()), (Code::UnschedulableAndUnresolvable, "waiting for scheduling gates: [b a]"));
    }

    #[test]
    fn only_the_pods_own_change_queues_it() {
        let own = Change { old: None, new: Some(Object::Pod(Arc::new(pod("[]")))) };
        assert_eq!(hint(&pod("[]"), &own), QueueingHint::Queue);
        let mut other = pod("[]");
        other.metadata.uid = "v".into();
        assert_eq!(hint(&other, &own), QueueingHint::QueueSkip);
    }
}
