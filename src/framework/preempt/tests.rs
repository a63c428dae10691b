//! Tests of `preempt`.

use super::*;

fn pod(name: &str, rest: &str) -> Arc<PodInfo> {
    let pod = serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","namespace":"n"{rest}}}}}"#));
    Arc::new(PodInfo::new(Arc::new(pod.unwrap())))
}

#[test]
fn steps_come_in_the_order_in_which_they_were_taken() {
    let victim = |name| Victim::new(pod(name, ""), None);
    let put_back = |name, status| PutBack { victim: victim(name), status };
    let status = Status::unschedulable("x");
    let run = NodeDryRun {
        removed: vec![pod("a", ""), pod("b", "")].into(),
        filtered: Some(Status::success()),
        put_back: vec![put_back("b", Status::success()), put_back("a", status.clone())].into(),
        ..NodeDryRun::default()
    };
    let (a, b) = (victim("a"), victim("b"));
    let want = [
        DryRunStep::Removed(a.pod()),
        DryRunStep::Removed(b.pod()),
        DryRunStep::Filtered(&Status::success()),
        DryRunStep::Reprieved(&b),
        DryRunStep::NotReprieved(&a, &status),
    ];
    assert_eq!(run.steps().collect::<Vec<_>>(), want);
    assert_eq!((run.len(), run.step(5)), (5, None));
    let failed = NodeDryRun { removed: vec![pod("a", "")].into(), ..NodeDryRun::default() };
    assert_eq!((failed.len(), failed.step(1), NodeDryRun::default().is_empty()), (1, None, true));
}

#[test]
fn dry_runs_are_found_by_name_and_kept_in_order() {
    let run = |node: &str| Arc::new(NodeDryRun { node: node.into(), ..NodeDryRun::default() });
    let runs = DryRuns::from(["c", "a", "b"].map(run).to_vec());
    assert_eq!(runs.by_name().map(|r| r.node.as_str()).collect::<String>(), "abc");
    assert_eq!(["a", "b", "c", "d"].map(|node| runs.index_of(node)), [Some(1), Some(2), Some(0), None]);
    assert_eq!(DryRuns::ranked(["c", "a", "b"].map(run).to_vec(), |at| [7, 2, 5][at]), runs);
}

#[test]
fn a_victim_names_its_controller_and_whether_it_ends() {
    let owners = r#","ownerReferences":[{"kind":"Node","name":"n"},{"kind":"ReplicaSet","name":"web-1","controller":true}]"#;
    let owned = Victim::new(pod("v", owners), None);
    assert_eq!((owned.owner().as_deref(), owned.is_terminating()), (Some("ReplicaSet web-1"), false));
    let ending = Victim::new(pod("v", r#","deletionTimestamp":"2026-01-01T00:00:00Z""#), None);
    assert_eq!((ending.owner(), ending.is_terminating()), (None, true));
}

#[test]
fn times_beyond_64_bits_stay_at_the_edge() {
    assert_eq!(unix_nanoseconds(Timestamp::MAX), i64::MAX);
    assert_eq!(unix_nanoseconds(Timestamp::MIN), i64::MIN);
}
