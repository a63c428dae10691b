//! Tests of `default_preemption`.

use super::*;
use crate::cluster::{Cluster, Object};
use crate::framework::{Change, Code, DryRunPolicy, FilterRunner, NodeInfo, NodeToStatus, NominatingInfo, Snapshot};

fn emulation(on: bool) -> Emulation {
    let mut emulation = Emulation::default();
    emulation.set(Gate::SchedulerAsyncPreemption, on);
    emulation
}

fn plugin() -> DefaultPreemption {
    DefaultPreemption::new(DefaultPreemptionArgs::default())
}

#[test]
fn arguments_have_defaults_and_refuse_what_they_do_not_know() {
    let read = |text| serde_json::from_str::<DefaultPreemptionArgs>(text);
    assert_eq!(read("{}").unwrap(), DefaultPreemptionArgs::default());
    let named = r#"{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"DefaultPreemptionArgs",
            "minCandidateNodesPercentage":20,"minCandidateNodesAbsolute":null}"#;
    let want = DefaultPreemptionArgs { min_candidate_nodes_percentage: 20, min_candidate_nodes_absolute: 100 };
    assert_eq!(read(named).unwrap(), want);
    assert!(read(r#"{"minCandidateNodes":3}"#).is_err());
}

#[test]
fn a_pod_waits_while_its_preemption_is_under_way() {
    let (cluster, snapshot, pod) = (Cluster::default(), Snapshot::default(), Pod::default());
    let check = |gate, preempting| {
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: emulation(gate), now: jiff::Timestamp::UNIX_EPOCH };
        PreEnqueuePlugin::pre_enqueue(&plugin(), &cx, &pod, preempting)
    };
    assert!(check(true, false).is_success());
    assert!(check(false, true).is_success());
    assert_eq!(check(true, true), Status::rejected(Reason::PreemptionInProgress));
}

#[test]
fn deleted_pods_are_of_interest_and_never_queue() {
    assert_eq!(plugin().events_to_register(emulation(false)).unwrap().len(), 0);
    let events = plugin().events_to_register(emulation(true)).unwrap();
    assert_eq!(events.iter().map(|e| e.event.to_string()).collect::<Vec<_>>(), ["PodDelete"]);
    let (cluster, snapshot, pod) = (Cluster::default(), Snapshot::default(), Arc::new(Pod::default()));
    let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: emulation(true), now: jiff::Timestamp::UNIX_EPOCH };
    let deleted = Change { old: Some(Object::Pod(pod.clone())), new: None };
    assert_eq!(events[0].hint.as_ref().unwrap()(&cx, &pod, &deleted), Ok(QueueingHint::QueueSkip));
}

/// Filters that pass empty nodes only.
struct Alone;

impl FilterRunner for Alone {
    fn filter_with_nominated_pods(&self, _: &CycleState, _: &PodInfo, node: &NodeInfo) -> Status {
        if node.pods.is_empty() { Status::success() } else { Status::unschedulable("taken") }
    }
    fn add_pod(&self, _: &mut CycleState, _: &PodInfo, _: &PodInfo, _: &NodeInfo) -> Status {
        Status::success()
    }
    fn remove_pod(&self, _: &mut CycleState, _: &PodInfo, _: &PodInfo, _: &NodeInfo) -> Status {
        Status::success()
    }
    fn nominated_pods(&self, _: &str) -> Vec<Arc<PodInfo>> {
        Vec::new()
    }
}

fn pod(name: &str, priority: i32) -> Arc<PodInfo> {
    let text = format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}"}},"spec":{{"priority":{priority}}}}}"#);
    Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&text).unwrap())))
}

fn check(priority: i32, code: Code, message: &str, nominated: &str) {
    check_in(emulation(true), priority, code, message, nominated);
}

/// Runs the plugin for a pod of priority 10 and one node that a pod of the given priority occupies.
fn check_in(emulation: Emulation, priority: i32, code: Code, message: &str, nominated: &str) {
    let mut node = NodeInfo::new(Arc::new(serde_json::from_str(r#"{"metadata":{"name":"a"}}"#).unwrap()));
    node.add_pod(pod("v", priority));
    let (snapshot, preemptor) = (Snapshot::of([node]), pod("p", 10));
    let cluster: Cluster = [Object::Pod(preemptor.pod.clone())].into_iter().collect();
    let mut statuses = NodeToStatus::default();
    statuses.set(0, Status::unschedulable("taken"));
    let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation, now: jiff::Timestamp::UNIX_EPOCH };
    let cx = PostFilterContext { cx, runner: &Alone, statuses: &statuses, dry_run: DryRunPolicy::default(), quiet: false, extenders: None };
    let state = CycleState::default();
    let result = PostFilterPlugin::post_filter(&plugin(), &cx, &state, &preemptor);
    assert_eq!((result.status.code(), result.status.message().as_str()), (code, message));
    assert_eq!(result.nominating, Some(NominatingInfo::Override(nominated.into())));
    let dry_run_only = plugin().dry_run_only(&cx, &state, &preemptor).unwrap();
    assert_eq!(result.preemption.unwrap().dry_runs, dry_run_only.dry_runs);
    assert_eq!(dry_run_only.candidates().next().is_none(), nominated.is_empty());
}

#[test]
fn messages_say_that_preemption_speaks() {
    check(1, Code::Success, "", "a");
    let text = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    check(10, Code::Unschedulable, text, "");
    let later: Emulation = crate::release::Profile::named("v1.37.0").expect("an emulated release").into();
    let found = "preemption: found a potential placement for pod on node a, preempting 1 victims";
    check_in(later, 1, Code::Success, found, "a");
    check_in(later, 10, Code::Unschedulable, text, "");
}
