//! Trials: a scheduler on an edited cluster, for dry decisions, and all filters on all nodes.

use super::cycle::RecentFailures;
use super::event_handlers::HandlerStep;
use super::runtime::Runner;
use super::{Scheduler, State};
use crate::cluster::{Key, Str};
use crate::cluster::{Kind, Object, Pod};
use crate::extenders::Asking;
use crate::framework::{Context, CycleState, LongStatuses, PluginName, PluginSet, PodInfo, Reason, Status, in_parts, search_steps_on_node};

use std::sync::Arc;

/// An edit of one object.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectEdit {
    /// Add the object, or replace the one of its kind and name.
    Put(Object),
    /// Remove the object.
    Remove(Kind, Key),
}

/// The results of every Filter plugin of a profile on every node; a cycle stops at the first rejection of each node.
#[derive(Clone, Debug, Default)]
pub struct FilterTable {
    /// The names of the nodes, in the order of the snapshot.
    pub names: Vec<Str>,
    /// Rejections of each node with their plugins, in the order of [`Self::names`]. A plugin whose PreFilter rejects
    /// the pod rejects every node; one whose PreFilter excludes a node rejects that node.
    pub nodes: Vec<Vec<(PluginName, Status)>>,
    /// Plugins with a Filter or PreFilter point that ran.
    pub asked: PluginSet,
    /// Steps that searches of plugins took.
    pub steps: u64,
}

impl Scheduler {
    /// Returns the scheduler on the edited cluster. No time passes and no pod moves between queues: use it for dry
    /// decisions only.
    #[must_use]
    pub fn with_edits(&self, edits: impl IntoIterator<Item = ObjectEdit>) -> Self {
        let mut changed = self.clone();
        changed.recent_failures = RecentFailures::default();
        changed.asking = Asking::Recall;
        for edit in edits {
            changed.state.take_quietly(edit);
        }
        changed
    }

    /// Returns the scheduler with every node filtered and every candidate dry-run.
    #[must_use]
    pub fn looking_at_all_nodes(&self) -> Self {
        let mut all = self.clone();
        all.recent_failures = RecentFailures::default();
        all.sampling.all_nodes = true;
        all
    }

    /// Runs every Filter plugin of the pod's profile, or those of `only`, on every node; `None` if the profile does not
    /// exist.
    pub fn filter_table(&self, pod: &Arc<Pod>, only: Option<PluginSet>) -> Option<FilterTable> {
        let input = self.decision_input();
        let snapshot = input.cache.snapshot();
        let cx = Context { cluster: input.cluster, snapshot: &snapshot, emulation: input.config.emulation, now: input.now };
        let mut framework = input.config.profile(&pod.spec.scheduler_name)?.clone();
        if let Some(only) = only {
            framework.pre_filter.retain(|p| only.contains(p.name()));
            framework.filter.retain(|p| only.contains(p.name()));
        }
        let info = PodInfo::with_emulation(pod.clone(), input.config.emulation);
        let mut state = CycleState::within(Some(search_steps_on_node(snapshot.len())));
        let mut everywhere = Vec::new();
        let mut narrowed = Vec::new();
        for (plugin, result, status) in framework.run_every_pre_filter(&cx, &mut state, &info) {
            if status.is_success() {
                narrowed.extend(result.node_names.map(|names| (plugin, names)));
            } else if !status.is_skip() {
                // Its Filter lacks the state that PreFilter computes.
                state.skip_filter.insert(plugin);
                everywhere.push((plugin, status));
            }
        }
        let runner = Runner::new(&framework, cx, input.nominations, &state);
        let nodes = snapshot.nodes();
        let long = LongStatuses::default();
        let of_node = |at: usize| {
            let node = &nodes[at];
            let (found, not_asked) = match runner.every_rejection(&state, &info, node) {
                Ok(found) => (found, None),
                Err(status) => (Vec::new(), Some(status)),
            };
            debug_assert!(found.iter().eq(runner.every_filter(&state, &info, node).rejections()));
            let found: Vec<_> = found.into_iter().map(|(plugin, status)| (plugin, long.share(status))).collect();
            let mut rejections = if everywhere.is_empty() { found } else { everywhere.iter().cloned().chain(found).collect() };
            for (plugin, names) in &narrowed {
                if !names.contains(node.name()) && !rejections.iter().any(|(by, _)| by == plugin) {
                    let left_out = Status::rejected(Reason::NotAmongNodes { plugins: [*plugin].into_iter().collect() });
                    rejections.push((*plugin, left_out.with_plugin(*plugin)));
                }
            }
            if let Some(status) = not_asked {
                rejections.push((status.plugin().unwrap_or(PluginName::NodeName), status));
            }
            rejections
        };
        let rows: Vec<Vec<(PluginName, Status)>> =
            in_parts(0..nodes.len(), |part| part.map(of_node).collect::<Vec<_>>()).into_iter().flatten().collect();
        let asked = framework.filter.iter().chain(&framework.pre_filter).map(|p| p.name()).collect();
        let names = nodes.iter().map(|n| n.name().clone()).collect();
        Some(FilterTable { names, nodes: rows, asked, steps: state.spent() })
    }
}

impl State {
    /// Applies an edit as the event handlers would, without moves between queues.
    fn take_quietly(&mut self, edit: ObjectEdit) {
        let (old, new) = match edit {
            ObjectEdit::Put(object) => (self.cluster.get(object.kind(), &object.key()), Some(object)),
            ObjectEdit::Remove(kind, key) => (self.cluster.get(kind, &key), None),
        };
        let steps = self.take_object(old.as_ref(), new.as_ref());
        let mut unseen = Vec::new();
        for step in steps {
            if matches!(step, HandlerStep::QueueAdd(_) | HandlerStep::QueueUpdate { .. }) {
                self.track_group(&step);
            }
            if let HandlerStep::QueueUpdate { old, new } = &step {
                self.queue.follow_nomination(old, new);
            }
            // A member of a group is tried as the queue has it.
            let of_group = matches!(&step, HandlerStep::QueueUpdate { new, .. } if self.is_group_member(new));
            if of_group || !matches!(step, HandlerStep::Move { .. } | HandlerStep::QueueAdd(_) | HandlerStep::QueueUpdate { .. }) {
                self.handle(step, &mut unseen);
            }
        }
        if let Some(Object::Pod(pod)) = &old {
            self.cache.recount_node(&pod.node_name);
        }
    }
}

#[cfg(test)]
mod tests;
