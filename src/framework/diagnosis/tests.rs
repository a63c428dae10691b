//! Tests of `diagnosis`.

use super::*;
use crate::framework::PluginName;

#[test]
fn histogram_sorts_as_text_and_counts_absent_nodes() {
    let mut statuses = NodeToStatus::default();
    for i in 0..10 {
        statuses.set(i, Status::unschedulable("x"));
    }
    statuses.set(12, Status::new(Code::Unschedulable, ["y", "x2"]));
    statuses.set_absent(Status::unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]"));
    assert_eq!(
        statuses.fit_error(13, "", "preemption: none"),
        "0/13 nodes are available: 1 x2, 1 y, 10 x, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: none"
    );
    assert_eq!(statuses.fit_error(13, "pre", ""), "0/13 nodes are available: pre.");
}

#[test]
fn a_node_counts_once_and_others_have_the_absent_status() {
    let mut statuses = NodeToStatus::default();
    let (one, other) = (Status::unschedulable("one"), Status::unschedulable("other"));
    statuses.set(3, one.clone());
    statuses.set(1, one);
    statuses.set(3, other.clone());
    assert_eq!((statuses.len(), statuses.iter().map(|(at, _)| at).collect::<Vec<_>>()), (2, vec![1, 3]));
    assert_eq!((statuses.get(3), statuses.get(2), statuses.get(9)), (&other, statuses.absent(), statuses.absent()));
    let mut same = statuses.clone();
    same.set(7, other);
    assert_ne!(same, statuses);
    same.set(7, Status::success());
    assert_eq!((same.len(), &same), (2, &statuses));
    same.set_absent(Status::success());
    assert_ne!(same, statuses);
}

#[test]
fn plugins_are_noted_for_rejections_alone() {
    let mut diagnosis = Diagnosis::default();
    diagnosis.add_plugin_status(&Status::error("x").with_plugin(PluginName::NodePorts));
    diagnosis.add_plugin_status(&Status::unschedulable("x"));
    assert_eq!(diagnosis, Diagnosis::default());
    diagnosis.add_plugin_status(&Status::unresolvable("x").with_plugin(PluginName::NodeName));
    diagnosis.add_plugin_status(&Status::new(Code::Pending, ["x"]).with_plugin(PluginName::DynamicResources));
    let names = |set: PluginSet| set.iter().collect::<Vec<_>>();
    assert_eq!(names(diagnosis.unschedulable_plugins), [PluginName::DynamicResources, PluginName::NodeName]);
    assert_eq!(names(diagnosis.pending_plugins), [PluginName::DynamicResources]);
}
