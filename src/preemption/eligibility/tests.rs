use super::*;
use crate::cluster::Cluster;
use crate::framework::{Snapshot, Status};
use crate::preemption::testing::{node, pod};
use crate::release::Emulation;

const WAITS: Option<Reason> = Some(Reason::TerminatingVictims);
const EVICTED: &str = r#"[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]"#;

struct Case {
    release: &'static str,
    policy: Option<&'static str>,
    nominated: &'static str,
    status: Option<Status>,
    victim_priority: i32,
    terminating: bool,
    conditions: &'static str,
}

fn waiting() -> Case {
    let status = Some(Status::unschedulable("Insufficient cpu"));
    Case { release: "v1.36.2", policy: None, nominated: "a", status, victim_priority: 1, terminating: true, conditions: EVICTED }
}

fn check(case: &Case) -> Option<Reason> {
    let mut victim = pod("v", "a", case.victim_priority, 100, None);
    if case.terminating {
        victim.metadata.deletion_timestamp = Some(jiff::Timestamp::UNIX_EPOCH);
    }
    victim.status.conditions = serde_json::from_str(case.conditions).unwrap();
    let mut preemptor = pod("p", "", 10, 100, None);
    preemptor.spec_mut().preemption_policy = case.policy.map(Into::into);
    preemptor.status.nominated_node_name = case.nominated.into();
    let mut statuses = NodeToStatus::default();
    if let Some(status) = &case.status {
        statuses.set(0, status.clone());
    }
    let (cluster, snapshot) = (Cluster::default(), Snapshot::of([node("a", 1000, &[victim])]));
    let emulation = Emulation::from(crate::release::Profile::named(case.release).unwrap());
    ineligible_reason(&preemptor, &statuses, &Context { cluster: &cluster, snapshot: &snapshot, emulation, now: jiff::Timestamp::MAX })
}

#[test]
fn policy_never_forbids_and_other_policies_do_not() {
    assert_eq!(check(&Case { policy: Some("Never"), ..waiting() }), Some(Reason::PreemptionPolicyNever));
    assert_eq!(check(&Case { policy: Some("PreemptLowerPriority"), nominated: "", ..waiting() }), None);
}

#[test]
fn a_victim_that_still_ends_on_the_nominated_node_forbids() {
    assert_eq!(check(&waiting()), WAITS);
    assert_eq!(check(&Case { nominated: "", ..waiting() }), None);
    assert_eq!(check(&Case { nominated: "gone", status: None, ..waiting() }), None);
    assert_eq!(check(&Case { terminating: false, ..waiting() }), None);
    assert_eq!(check(&Case { victim_priority: 10, ..waiting() }), None);
}

#[test]
fn a_nominated_node_beyond_help_allows() {
    assert_eq!(check(&Case { status: Some(Status::unresolvable("cordoned")), ..waiting() }), None);
    assert_eq!(check(&Case { status: None, ..waiting() }), None, "absent nodes are unresolvable by default");
}

#[test]
fn any_terminating_pod_forbids_where_the_release_does_not_ask_why() {
    let any = |conditions| check(&Case { release: "v1.26.4", conditions, ..waiting() });
    assert_eq!((any("[]"), any(EVICTED)), (WAITS, WAITS));
    assert_eq!(check(&Case { release: "v1.26.4", terminating: false, ..waiting() }), None);
}

#[test]
fn only_the_first_condition_of_the_type_counts() {
    let with = |conditions| check(&Case { conditions, ..waiting() });
    assert_eq!(with("[]"), None);
    assert_eq!(with(r#"[{"type":"DisruptionTarget","status":"False","reason":"PreemptionByScheduler"}]"#), None);
    assert_eq!(with(r#"[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI"}]"#), None);
    let second = r#"[{"type":"DisruptionTarget","status":"True","reason":"TerminationByKubelet"},
        {"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]"#;
    assert_eq!(with(second), None);
    let other_type_first = r#"[{"type":"Ready","status":"False"},
        {"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]"#;
    assert_eq!(with(other_type_first), WAITS);
}
