//! A scheduler with everything it did so far on a timeline.

use std::sync::Arc;

use crate::cluster::{Key, Object};
use crate::scheduler::{Operation, Scheduler, State};
use crate::trace::Event;

use super::timeline::{Frame, Moment, Timeline};
use super::wakes::WakeEvents;

/// A scheduler and its timeline. Operations go to the end of the timeline; the cursor may stand anywhere.
#[derive(Clone, Debug)]
pub struct Session {
    scheduler: Scheduler,
    timeline: Timeline,
    source: String,
    wakes: Arc<WakeEvents>,
}

impl Session {
    /// A session in which nothing has happened yet; `source` says where the cluster came from.
    pub fn new(scheduler: Scheduler, source: impl Into<String>) -> Self {
        let wakes = Arc::new(WakeEvents::new(scheduler.state().queue().hints().registrations()));
        let timeline = Timeline::new(moment(scheduler.state(), &wakes));
        Self { scheduler, timeline, source: source.into(), wakes }
    }

    /// Where the cluster came from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What happened, with the cursor.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// What happened, for moving the cursor.
    pub fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.timeline
    }

    /// The scheduler at the end of the timeline.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Applies an operation at the end of the timeline; the cursor stays. False when nothing came of it.
    pub fn apply(&mut self, operation: Operation) -> bool {
        let before = moment(self.scheduler.state(), &self.wakes);
        let title = title(&operation, &self.scheduler);
        let events = self.scheduler.apply(operation);
        let after = moment(self.scheduler.state(), &self.wakes);
        self.push(title, events, before, after)
    }

    /// Tries the next waiting pod; false when none can be popped.
    pub fn run_next(&mut self) -> bool {
        self.scheduler.next_pod().is_some() && self.apply(Operation::Schedule)
    }

    /// Tries waiting pods until none can be popped, at most `limit` times; says how often.
    pub fn run_to_quiescence(&mut self, limit: usize) -> usize {
        (0..limit).take_while(|_| self.run_next()).count()
    }

    /// Decides about one pod on the cluster as it stands at the end of the timeline, without consequences; the cursor
    /// stays. False when there is no such pod.
    pub fn explain(&mut self, pod: &Key) -> bool {
        let state = self.scheduler.state();
        let Some(object) = state.cluster().pods.get(pod).cloned() else { return false };
        let now = moment(state, &self.wakes);
        let events = self.scheduler.explain(&object);
        self.push(format!("explain {pod}"), events, now.clone(), now)
    }

    fn push(&mut self, title: String, events: Vec<Event>, before: Moment, after: Moment) -> bool {
        if events.is_empty() {
            return false;
        }
        self.timeline.push(Frame { title, events: events.into(), before, after });
        true
    }
}

fn moment(state: &State, wakes: &Arc<WakeEvents>) -> Moment {
    Moment {
        cluster: state.cluster().clone(),
        snapshot: state.snapshot(),
        queues: state.queue().view().clone(),
        clock: state.clock(),
        wakes: wakes.clone(),
    }
}

fn title(operation: &Operation, scheduler: &Scheduler) -> String {
    let object = |verb: &str, o: &Object| format!("{verb} {} {}", o.kind(), o.key());
    match operation {
        Operation::Schedule => scheduler.next_pod().map_or_else(|| "schedule".to_owned(), |pod| format!("schedule {pod}")),
        Operation::Create { object: o } => object("create", o),
        Operation::Update { object: o } => object("update", o),
        Operation::Delete { object: o } => object("delete", o),
        Operation::Advance { seconds } => format!("advance {seconds} s"),
        Operation::AdvanceTo { time } => format!("advance to {time}"),
        Operation::Allow { pod } => format!("allow {pod}"),
        Operation::Reject { pod } => format!("reject {pod}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Meta, Node};
    use crate::framework::{FeatureGates, PluginName};
    use crate::scheduler::{Config, Options};

    #[test]
    fn the_events_that_wake_pods_are_found_once_and_shared() {
        let scheduler = Scheduler::new(Config::defaults(FeatureGates::default()), Vec::new(), Options::default());
        let mut session = Session::new(scheduler, "nothing");
        let wakes = session.timeline().moment().wakes.clone();
        for (plugin, expected) in [
            (PluginName::NodeName, &["NodeAdd", "NodeUpdateNodeTaint"][..]),
            (PluginName::NodeAffinity, &["NodeAdd", "NodeUpdateNodeTaint", "NodeUpdateNodeLabel"]),
            (PluginName::NodePorts, &["AssignedPodDelete", "NodeAdd", "NodeUpdateNodeTaint"]),
            (PluginName::DefaultPreemption, &["AssignedPodDelete"]),
            (PluginName::SchedulingGates, &["UnschedulablePodUpdatePodSchedulingGatesEliminated"]),
            (PluginName::PrioritySort, &[]),
        ] {
            assert_eq!(wakes.of("default-scheduler", plugin), expected, "{plugin}");
            assert!(wakes.of("other", plugin).is_empty());
        }
        let node = Node { metadata: Meta { name: "n".into(), ..Meta::default() }, ..Node::default() };
        assert!(session.apply(Operation::Create { object: Object::Node(Arc::new(node)) }));
        let frame = session.timeline().frame().expect("it was recorded");
        assert!(Arc::ptr_eq(&frame.before.wakes, &wakes) && Arc::ptr_eq(&frame.after.wakes, &wakes));
    }
}
