//! What the pane in focus speaks of, to be marked in all others: a pod with its node and budgets, a budget with its pods.

use std::collections::BTreeSet;

use crate::cluster::Str;
use crate::session::Timeline;
use crate::ui::action::Pane;
use crate::ui::list::RowId;
use crate::ui::pages;
use crate::ui::state::State;

impl State {
    /// What the selected row of the pane in focus is about, and what that is tied to: a pod to its node and budgets, a
    /// budget to its pods.
    pub(super) fn linked(&self, timeline: &Timeline) -> BTreeSet<RowId> {
        let cluster = &timeline.moment().cluster;
        let mut linked = BTreeSet::new();
        linked.extend(self.linked_node(timeline).cloned().map(RowId::Node));
        let selected = match self.focus {
            Pane::Queues => self.queues.selected.as_ref(),
            Pane::Nodes => self.nodes.selected.as_ref(),
            Pane::NodeDetail => self.detail_list.selected.as_ref(),
            pane => self.pages.get(&pane).and_then(|list| list.selected.as_ref()),
        };
        match selected {
            Some(RowId::Pod(key)) => {
                linked.insert(RowId::Pod(key.clone()));
                if let Some(pod) = cluster.pods.get(key) {
                    linked.extend((!pod.node_name.is_empty()).then(|| RowId::Node(pod.node_name.clone())));
                    linked.extend(pages::pod::covering(cluster, pod).map(|b| RowId::Budget(b.metadata.key())));
                }
            }
            Some(RowId::Budget(key)) => {
                linked.insert(RowId::Budget(key.clone()));
                if let Some(budget) = cluster.pod_disruption_budgets.get(key) {
                    let covered = cluster.pods.in_namespace(&budget.metadata.namespace).filter(|pod| budget.covers(pod));
                    for pod in covered {
                        linked.extend((!pod.node_name.is_empty()).then(|| RowId::Node(pod.node_name.clone())));
                        linked.insert(RowId::Pod(pod.key()));
                    }
                }
            }
            _ => {}
        }
        linked
    }

    /// The node that the pane in focus speaks of, to be marked in the others.
    pub fn linked_node<'a>(&'a self, timeline: &'a Timeline) -> Option<&'a Str> {
        match self.focus {
            Pane::Preemption => self.selected_candidate(timeline.cycle()),
            Pane::NodeDetail => self.detail.as_ref(),
            Pane::Nodes => match &self.nodes.selected {
                Some(RowId::Node(node)) => Some(node),
                _ => None,
            },
            Pane::Queues => {
                let entry = timeline.queues().entries.get(self.selected_pod()?)?;
                (!entry.nominated.is_empty()).then_some(&entry.nominated)
            }
            Pane::Candidate => self.selected_candidate(timeline.cycle()),
            Pane::PodDetail | Pane::Budgets => None,
            Pane::Steps | Pane::Message => timeline.cycle().current_node.as_ref(),
        }
    }
}
