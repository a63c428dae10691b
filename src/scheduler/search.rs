//! Filtering nodes in parts, and putting the parts together as if one worker had walked the nodes; mirrors `Diagnosis` in
//! `pkg/scheduler/framework/types.go`.

use std::ops::Range;
use std::sync::Arc;

use super::runtime::Filtered;
use crate::framework::{Code, NodeInfo, NodeToStatus, PluginSet, SharedStatuses, Status};
use crate::trace::Event;

/// What the search for nodes found.
#[derive(Default)]
pub(super) struct Search {
    pub(super) feasible: Vec<Arc<NodeInfo>>,
    /// How many nodes were turned down.
    pub(super) rejected: usize,
    /// Where the events about nodes begin.
    pub(super) events_from: usize,
    /// The status of nodes that are not looked at.
    pub(super) absent: Option<Status>,
    pub(super) noted: Noted,
    pub(super) pre_filter_message: String,
    pub(super) by_nomination: bool,
}

/// The plugins that turned nodes down.
#[derive(Clone, Copy, Default)]
pub(super) struct Noted {
    pub(super) plugins: PluginSet,
    /// Those that answered Pending.
    pub(super) pending: PluginSet,
}

impl Noted {
    /// Mirrors `Diagnosis.AddPluginStatus`.
    pub(super) fn note(&mut self, status: &Status) {
        let Some(plugin) = status.plugin().filter(|_| status.is_rejected()) else { return };
        self.plugins.insert(plugin);
        if status.code() == Code::Pending {
            self.pending.insert(plugin);
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.plugins = self.plugins.union(other.plugins);
        self.pending = self.pending.union(other.pending);
    }
}

impl Search {
    /// Takes in the next nodes of the walk, of which there are `n` in all; true where the search ends among them.
    pub(super) fn take<'a>(
        &mut self,
        walked: Walked,
        node_at: impl Fn(usize) -> &'a Arc<NodeInfo>,
        (n, wanted): (usize, usize),
        events: &mut Vec<Event>,
    ) -> Result<bool, String> {
        if !walked.failed && self.feasible.len() + walked.feasible.len() <= wanted {
            self.rejected += walked.events.len() - walked.feasible.len();
            self.feasible.extend(walked.feasible);
            self.noted.add(walked.noted);
            events.extend(walked.events);
            return Ok(false);
        }
        for (i, event) in walked.range.zip(walked.events) {
            let Event::NodeFiltered { status, .. } = &event else { continue };
            if status.is_success() {
                if self.feasible.len() == wanted {
                    events.push(Event::FilterStopped { looked_at: i, of: n, wanted });
                    return Ok(true);
                }
                self.feasible.push(node_at(i).clone());
            } else if status.is_error() {
                let message = status.message();
                events.push(event);
                return Err(message);
            } else {
                self.rejected += 1;
                self.noted.note(status);
            }
            events.push(event);
        }
        Ok(false)
    }

    /// Why each node was turned down, as far as it was looked at; the events are those of the search.
    pub(super) fn statuses(&self, events: &[Event]) -> NodeToStatus {
        let mut statuses = NodeToStatus::default();
        if let Some(absent) = &self.absent {
            statuses.set_absent(absent.clone());
        }
        for event in &events[self.events_from..] {
            if let Event::NodeFiltered { node, status, .. } = event
                && status.is_rejected()
            {
                statuses.set(node.clone(), status.clone());
            }
        }
        statuses
    }
}

/// Some nodes that were looked at one after another, beside others that were looked at elsewhere.
pub(super) struct Walked {
    /// Their places in the walk.
    range: Range<usize>,
    /// One for each.
    events: Vec<Event>,
    /// Those that fit.
    pub(super) feasible: Vec<Arc<NodeInfo>>,
    /// By whom others were turned down.
    pub(super) noted: Noted,
    /// What the statuses of nodes share, here and before.
    pub(super) shared: SharedStatuses,
    /// Whether the filters failed on any.
    failed: bool,
}

impl Walked {
    pub(super) fn over<'a>(range: Range<usize>, shared: SharedStatuses, filter: impl Fn(usize) -> (&'a Arc<NodeInfo>, Filtered)) -> Self {
        let (events, feasible) = (Vec::with_capacity(range.len()), Vec::with_capacity(range.len()));
        let mut walked = Self { range: range.clone(), events, feasible, noted: Noted::default(), shared, failed: false };
        for i in range {
            let (node, Filtered { status, nominated }) = filter(i);
            if status.is_success() {
                walked.feasible.push(node.clone());
            } else {
                walked.noted.note(&status);
                walked.failed |= status.is_error();
            }
            let status = walked.shared.share(status);
            walked.events.push(Event::NodeFiltered { node: node.name().clone(), status, nominated });
        }
        walked
    }
}

#[cfg(test)]
mod tests {
    use crate::cluster::Object;
    use crate::release::Emulation;
    use crate::scheduler::{Config, Operation, Options, Sampling, Scheduler};
    use crate::trace::Event;

    /// Every third node is tainted, every seventh is small, and the others hold more and more from one to the next.
    fn cluster(nodes: usize) -> Vec<Object> {
        let mut objects = Vec::new();
        for i in 0..nodes {
            let taint = if i % 3 == 0 { r#"{"key":"k","effect":"NoSchedule"}"# } else { "" };
            let cpu = if i % 7 == 0 { 1 } else { 8 };
            let zone = i % 5;
            let labels = format!(r#"{{"kubernetes.io/hostname":"n{i}","topology.kubernetes.io/zone":"z{zone}"}}"#);
            let images = format!(r#"[{{"names":["i:{zone}"],"sizeBytes":900000000}}]"#);
            let text = format!(
                r#"{{"metadata":{{"name":"n{i}","uid":"n{i}","labels":{labels}}},"spec":{{"taints":[{taint}]}},"status":{{"allocatable":{{"cpu":"{cpu}","memory":"8Gi","pods":"9"}},"images":{images}}}}}"#
            );
            objects.push(Object::Node(std::sync::Arc::new(serde_json::from_str(&text).unwrap())));
            objects.push(pod(&format!("on-{i}"), &format!(r#""nodeName":"n{i}","#), "web", i % 900, ""));
        }
        let spread = r#""topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}],"#;
        for i in 0..12 {
            objects.push(pod(&format!("new-{i}"), if i % 2 == 0 { spread } else { "" }, "web", 1500 + 600 * i, ""));
        }
        objects.push(pod("urgent", "", "db", 7900, r#","priority":1000"#));
        objects.push(pod("huge", "", "db", 90_000, ""));
        objects
    }

    fn pod(name: &str, spec: &str, app: &str, milli: usize, rest: &str) -> Object {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"{name}","labels":{{"app":"{app}"}}}},"spec":{{{spec}"schedulerName":"default-scheduler","containers":[{{"name":"c","image":"i:2","resources":{{"requests":{{"cpu":"{milli}m"}}}}}}]{rest}}}}}"#
        );
        Object::Pod(std::sync::Arc::new(serde_json::from_str(&text).unwrap()))
    }

    fn run(threads: usize, nodes: usize, all_nodes: bool) -> Vec<Vec<Event>> {
        let sampling = Sampling { all_nodes, ..Sampling::default() };
        let options = Options { sampling, ..Options::default() };
        let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), cluster(nodes), options);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| (0..14).map(|_| scheduler.apply(Operation::Schedule)).collect())
    }

    #[test]
    fn the_events_do_not_depend_on_how_many_threads_there_are() {
        for (nodes, all_nodes) in [(100, true), (700, false), (700, true), (1000, false)] {
            let one = run(1, nodes, all_nodes);
            let count = |met: fn(&Event) -> bool| one.iter().flatten().filter(|e| met(e)).count();
            assert_eq!(count(|e| matches!(e, Event::FilterStopped { .. })) > 0, nodes > 100 && !all_nodes);
            assert!(count(|e| matches!(e, Event::NodeScored(_))) > nodes && count(|e| matches!(e, Event::PreemptionStarted(_))) > 0);
            for threads in [2, 3] {
                assert_eq!(run(threads, nodes, all_nodes), one, "{nodes} nodes, {threads} threads");
            }
        }
    }
}
