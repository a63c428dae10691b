//! Tests of `node_ranking`.

use std::sync::Arc;

use super::*;
use crate::framework::PodInfo;
use crate::ui::model::verdict::Verdicts;
use crate::ui::testing;

#[test]
fn what_is_lacking_is_measured_by_what_is_asked_for() {
    let mut node = NodeInfo::new(Arc::new(testing::node("n", "4", "8Gi")));
    node.add_pod(Arc::new(PodInfo::new(Arc::new(testing::pod("a/b", 0, "1", "2Gi", "n")))));
    let check = |requests: &[(&str, &str)], expected: i64| {
        let amounts = requests.iter().map(|(n, q)| (Str::from(*n), (*q).to_owned())).collect();
        let wanted = PodRequests::at(&CycleStart { requests: amounts, ..CycleStart::default() });
        assert_eq!(wanted.share(&node), expected, "{requests:?}");
    };
    check(&[], 0);
    check(&[("cpu", "3"), ("memory", "6Gi")], 0);
    check(&[("cpu", "4"), ("memory", "6Gi")], 250_000);
    check(&[("cpu", "3100m")], 32_258);
    check(&[("cpu", "4"), ("memory", "12Gi")], 500_000);
    check(&[("cpu", "0"), ("example.com/gpu", "2")], 1_000_000);
    check(&[("cpu", "nonsense"), ("ephemeral-storage", "1Gi")], 1_000_000);
}

#[test]
fn what_lacks_resources_is_nearer_than_what_fails_otherwise() {
    use crate::framework::Status;
    use crate::trace::Verdict;
    let mut cycle = CycleView::default();
    let requests = vec![("cpu".into(), "6".to_owned())];
    cycle.start = Some(Arc::new(CycleStart { requests, ..CycleStart::default() }));
    let statuses = [
        ("fits", "8", Status::success()),
        ("nearly", "5900m", Status::unresolvable("Insufficient cpu").with_plugin(PluginName::NodeResourcesFit)),
        ("far", "1", Status::unschedulable("Insufficient cpu").with_plugin(PluginName::NodeResourcesFit)),
        ("ports", "8", Status::unschedulable("ports").with_plugin(PluginName::NodePorts)),
        ("taint", "8", Status::unresolvable("taint").with_plugin(PluginName::TaintToleration)),
        ("unseen", "8", Status::success()),
    ];
    let nodes = statuses.each_ref().map(|(name, cpu, _)| NodeInfo::new(Arc::new(testing::node(name, cpu, "1Gi"))));
    for (name, _, status) in statuses.into_iter().take(5) {
        cycle.filter.verdicts.insert(name.into(), Verdict { status, nominated: Vec::new().into() });
    }
    let (ranking, verdicts) = (NodeRanking::new(&cycle), Verdicts::new(&cycle));
    let rank = |node: &NodeInfo| {
        let verdict = verdicts.of(node.name());
        ranking.of(node, verdict.class, verdict.plugin, None)
    };
    assert!(nodes.windows(2).all(|pair| rank(&pair[0]) < rank(&pair[1])));
}
