use super::*;
use crate::framework::{PodInfo, Status};

fn node(name: &str, starts: &[Option<i64>]) -> Arc<NodeInfo> {
    let object = serde_json::json!({"metadata": {"name": name}});
    let mut node = NodeInfo::new(Arc::new(serde_json::from_value(object).unwrap()));
    for (at, start) in starts.iter().enumerate() {
        let start = start.map(|seconds| jiff::Timestamp::from_second(seconds).unwrap().to_string());
        let pod = serde_json::json!({"metadata": {"name": at.to_string()}, "status": {"startTime": start}});
        node.add_pod(Arc::new(PodInfo::new(Arc::new(serde_json::from_value(pod).unwrap()))));
    }
    Arc::new(node)
}

const BUDGET: &str = r#"{"metadata":{"name":"b","namespace":"d"},"spec":{"selector":{"matchLabels":{"app":"web"}}}}"#;

#[test]
fn a_dry_run_is_known_until_the_node_or_a_budget_changes() {
    let nodes: Nodes = [node("a", &[Some(5), None]), node("b", &[])].into_iter().collect();
    let (of, now) = ((7, PluginSet::default()), 6_000_000_000);
    let (budgets, run) = (BudgetIndex::default(), Arc::new(NodeDryRun::default()));
    let mut known = KnownDryRuns::default().of(of, &budgets);
    known.learn(0, &nodes, None, run.clone(), now);
    known.learn(2, &nodes, None, run.clone(), now);
    assert!(known.get(0, &nodes[0], None).is_some_and(|known| Arc::ptr_eq(known, &run)));
    assert!([1, 2, 0].iter().all(|at| known.get(*at, &nodes[1], None).is_none()));
    assert!(known.get(0, &node("a", &[Some(5), None]), None).is_none(), "it is as it was, but another one");
    let known = known.of(of, &budgets);
    assert!(known.get(0, &nodes[0], None).is_some());
    let other: BudgetIndex = [&Arc::new(serde_json::from_str(BUDGET).unwrap())].into_iter().collect();
    let mut known = known.of(of, &other);
    assert!(known.get(0, &nodes[0], None).is_none(), "a budget has changed");
    known.learn(0, &nodes, None, Arc::new(NodeDryRun { status: Status::unschedulable("Insufficient cpu"), ..NodeDryRun::default() }), now);
    let known = known.of(of, &budgets);
    assert!(known.get(0, &nodes[0], None).is_some(), "rejected before any budget was read");
    assert!(known.of((8, PluginSet::default()), &budgets).get(0, &nodes[0], None).is_none(), "of another priority");
}

#[test]
fn a_dry_run_that_depends_on_the_time_is_not_kept() {
    let nodes: Nodes = [node("a", &[Some(5), None]), node("b", &[Some(4)])].into_iter().collect();
    let mut known = KnownDryRuns::default();
    (0..2).for_each(|at| known.learn(at, &nodes, None, Arc::default(), 5_000_000_000));
    assert_eq!([0, 1].map(|at| known.get(at, &nodes[at], None).is_some()), [false, true]);
}

#[test]
fn a_dry_run_holds_with_the_same_sums_of_nominated_pods() {
    let nodes: Nodes = [node("a", &[])].into_iter().collect();
    let sums = |pods: usize| PodSums { pods, ..PodSums::default() };
    let mut known = KnownDryRuns::default();
    known.learn(0, &nodes, Some(sums(1)), Arc::default(), 0);
    let holds = |nominated: Option<PodSums>| known.get(0, &nodes[0], nominated.as_ref()).is_some();
    assert_eq!([Some(sums(1)), Some(sums(2)), None].map(holds), [true, false, false]);
}
