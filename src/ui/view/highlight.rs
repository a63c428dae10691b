//! Objects to highlight in all panes: that of the selected row in focus, and its related objects.

use std::collections::BTreeSet;

use crate::cluster::Str;
use crate::session::Timeline;
use crate::ui::model::list::RowId;
use crate::ui::model::state::State;
use crate::ui::view::panes::pod;

/// Returns the object of the selected row in focus and its related objects: a pod with its node and budgets, a budget with
/// its pods and their nodes. `node` is that of the selected row.
pub fn linked(state: &State, timeline: &Timeline, node: Option<Str>) -> BTreeSet<RowId> {
    let cluster = &timeline.keyframe().cluster;
    let mut linked = BTreeSet::new();
    linked.extend(node.map(RowId::Node));
    match state.selected_row() {
        Some(RowId::Pod(key)) => {
            linked.insert(RowId::Pod(key.clone()));
            if let Some(pod) = cluster.pods.get(key) {
                linked.extend((!pod.node_name.is_empty()).then(|| RowId::Node(pod.node_name.clone())));
                linked.extend(pod::covering(cluster, pod).map(|b| RowId::Budget(b.metadata.key())));
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
