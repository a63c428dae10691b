//! Preemption for the group as a whole; mirrors `runWorkloadAwarePreemption`.

use std::sync::Arc;

use super::{GroupResult, PodGroupCycle};
use crate::framework::{GroupPreemptionRecord, PluginName, PodInfo, Reason, Status};
use crate::plugins::helper::pod_group_not_found;
use crate::preemption::{GroupPreemptor, GroupTrial};
use crate::release::Gate;
use crate::scheduler::algorithm::PostFilter;
use crate::trace::{Event, GroupEvent};

impl PodGroupCycle<'_> {
    /// Looks for victims where the group is unschedulable and preempts as one.
    pub(super) fn preempt_for_group(&mut self, result: &mut GroupResult, events: &mut Vec<Event>) {
        if !self.emulation.enabled(Gate::WorkloadAwarePreemption) || !result.status.is_rejected() {
            return;
        }
        let record = Arc::new(self.find_victims());
        events.push(Event::group(GroupEvent::Preempted(record.clone())));
        if record.status.is_success() {
            result.waiting_on_preemption = true;
        } else if record.status.is_error() {
            result.status = record.status.clone();
        } else {
            let (status, added) = (&result.status, record.status.reasons());
            result.status = status.with_reasons(status.code(), status.reasons().iter().chain(added).cloned());
        }
        result.preemption = Some(record);
    }

    fn find_victims(&mut self) -> GroupPreemptionRecord {
        let refused = |status| GroupPreemptionRecord { status, ..GroupPreemptionRecord::default() };
        if self.framework.all.iter().all(|plugin| plugin.name() != PluginName::DefaultPreemption) {
            return refused(Status::rejected(Reason::GroupPreemptionUnregistered));
        }
        let Some(group) = self.world.cluster.pod_groups.get(self.group).cloned() else {
            return refused(Status::error(format!("failed to get pod group object: {}", pod_group_not_found(&self.group.name))));
        };
        if group.topology_key().is_some() {
            return refused(Status::rejected(Reason::GroupPreemptionConstrained));
        }
        let pods: Vec<Arc<PodInfo>> = self.members.iter().map(|info| info.pod_info.clone()).collect();
        let (cluster, snapshot, now) = (self.world.cluster.clone(), self.world.cache.snapshot(), self.now);
        let cache = self.world.cache.clone();
        let record = GroupPreemptor { group: &group, pods: &pods }.preempt(&cluster, &snapshot, now, self);
        self.world.cache = cache;
        record
    }
}

impl GroupTrial for PodGroupCycle<'_> {
    fn remove(&mut self, pods: &[Arc<PodInfo>]) {
        for info in pods {
            self.world.cache.remove_pod(&info.pod);
        }
    }

    fn add(&mut self, pods: &[Arc<PodInfo>]) {
        for info in pods {
            self.world.cache.add_pod(info.clone());
        }
    }

    fn schedule(&mut self) -> Status {
        PodGroupCycle::schedule(self, PostFilter::LeaveOut, None).status
    }
}
