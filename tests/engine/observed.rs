//! Compares inferred queue places with the truth: the rejecting plugins recorded from kube-scheduler v1.36.2, and the
//! queues at the end of stories of which only the objects are read.
//!
//! Cases come from `fixtures/conformance`, or from another folder with `SCHEDSCOPE_CONFORMANCE=DIR`.

use std::io::Write as _;

use schedscope::cluster::{Key, Kind, Object};
use schedscope::framework::{PluginName, PluginSet};
use schedscope::scheduler::{Evictions, InitialQueues, Operation, Options, Rejectors, Sampling, Scheduler};
use schedscope::trace::Place;
use serde_json::Value;

use crate::cases::{self, config};
use crate::recorded::{object, operation};

fn plugins(names: &Value) -> PluginSet {
    let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| name.parse::<PluginName>().expect("a plugin of the tree")).collect()
}

#[test]
fn messages_name_their_rejectors() {
    let (mut read, mut wrong) = (0, Vec::new());
    let mut check = |id: &Value, message: &str, want: PluginSet| {
        let Some(found) = Rejectors::of(message) else { return };
        read += 1;
        if found.plugins != want || !found.unknown.is_empty() {
            wrong.push(format!("{id}: {message}\n  {found:?}, not {want:?}"));
        }
    };
    cases::cases(&cases::folder(), "decisions-").for_each(|case| {
        let case = &case;
        let expected = &case["expected"];
        check(&case["id"], expected["message"].as_str().unwrap_or_default(), plugins(&expected["unschedulablePlugins"]));
    });
    cases::cases(&cases::folder(), "runs-").for_each(|case| {
        let case = &case;
        for step in case["expected"].as_array().expect("answers") {
            let parked = step["queues"]["unschedulable"].as_array().into_iter().flatten();
            // A plugin that gates the pod after its attempt is a rejector that the message does not name.
            let of_popped = parked.filter(|p| p["pod"] == step["popped"] && p["gatedBy"].is_null());
            for popped in of_popped {
                check(&case["id"], step["message"].as_str().unwrap_or_default(), plugins(&popped["plugins"]));
            }
        }
    });
    assert!(wrong.is_empty(), "{} of {read}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(read > 100, "{read}");
    println!("{read} messages");
}

/// Plays a story to its end, then starts another scheduler on the remaining objects. It parks every pod that the first
/// has parked, for the same reasons; pods that `PreEnqueue` rejects are gated in both.
#[test]
fn parked_pods_are_found_by_what_their_objects_say() {
    let (mut parked, mut elsewhere, mut wrong) = (0, 0, Vec::new());
    cases::cases(&cases::folder(), "runs-").for_each(|case| {
        let case = &case;
        let start = "2026-11-20T00:00:00Z".parse().expect("a time");
        let sampling = Sampling { percentage: config(case).percentage_of_nodes_to_score, ..Sampling::default() };
        let options = Options { start, sampling, evictions: Evictions::Marked, ..Options::default() };
        let all: Vec<Object> = case["cluster"]["items"].as_array().expect("a List").iter().filter_map(object).collect();
        let mut known: Vec<(Kind, Key)> = all.iter().map(|o| (o.kind(), o.key())).collect();
        let mut first = Scheduler::new(config(case), all, options.clone());
        for op in case["ops"].as_array().expect("operations").iter().filter_map(operation) {
            if let Operation::Create { object } = &op {
                known.retain(|(kind, key)| (*kind, key) != (object.kind(), &object.key()));
                known.push((object.kind(), object.key()));
            }
            first.apply(op);
        }
        let left = known.iter().filter_map(|(kind, key)| first.state().cluster().get(*kind, key)).collect();
        let options = Options { start: first.state().clock(), queues: InitialQueues::AsObserved, events: Vec::new(), ..options };
        let mut second = Scheduler::new(config(case), left, options);
        let places = |scheduler: &Scheduler| scheduler.state().queue().view().entries.clone();
        let (truth, seen) = (places(&first), places(&second));
        for (key, entry) in &truth {
            let Place::Unschedulable { plugins, gated_by: None } = entry.place else { continue };
            match seen.get(key).map(|e| &e.place) {
                Some(Place::Unschedulable { plugins: found, gated_by: None }) if *found == plugins => parked += 1,
                // Its gate or its claim changed without an event that moves a parked pod.
                Some(Place::Unschedulable { gated_by: Some(_), .. }) => elsewhere += 1,
                other => wrong.push(format!("{} {key}: {:?}, not {:?}", case["id"], other, entry.place)),
            }
        }
        // A pod group that does not fit never rests: its pods wait in backoffQ, from which an idle scheduler pops early.
        let rests = case["featureGates"]["GenericWorkload"] != true;
        let mut turns = 0;
        while rests && second.next_pod().is_some() && turns < 1000 {
            second.apply(Operation::Schedule);
            turns += 1;
        }
        assert!(turns < 1000, "{}: no rest", case["id"]);
    });
    assert!(wrong.is_empty(), "{parked} found, {} not:\n{}", wrong.len(), wrong.join("\n"));
    assert!(parked > 50 && elsewhere < parked, "{parked} {elsewhere}");
    println!("{parked} parked pods found, {elsewhere} gated by now");
}

/// A cluster of one node that is too small for a tried pod, with an untried pod and a gated one; the event counts two
/// more attempts.
const DUMP: &str = r#"
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: "1", memory: 1Gi, pods: "9"}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: tried, namespace: d, uid: u, creationTimestamp: "2026-11-20T00:00:00Z"}
  spec: {schedulerName: default-scheduler, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
  status:
    conditions:
    - type: PodScheduled
      status: "False"
      reason: Unschedulable
      message: "0/1 nodes are available: 1 Insufficient cpu."
      lastTransitionTime: "2026-11-20T00:00:01Z"
- apiVersion: v1
  kind: Pod
  metadata: {name: new, namespace: d, uid: v, creationTimestamp: "2026-11-20T00:00:00Z"}
  spec: {schedulerName: default-scheduler, containers: [{name: c}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: gated, namespace: d, uid: w, creationTimestamp: "2026-11-20T00:00:00Z"}
  spec: {schedulerName: default-scheduler, schedulingGates: [{name: g}], containers: [{name: c}]}
- apiVersion: events.k8s.io/v1
  kind: Event
  metadata: {name: tried.1, namespace: d}
  regarding: {kind: Pod, name: tried, namespace: d, uid: u}
  reason: FailedScheduling
  reportingController: default-scheduler
  eventTime: "2026-11-20T00:00:01.5Z"
  series: {count: 3, lastObservedTime: "2026-11-20T00:00:09Z"}
"#;

#[test]
fn run_says_how_the_queues_began() {
    let mut dump = tempfile::NamedTempFile::with_suffix(".yaml").expect("a file");
    dump.write_all(DUMP.as_bytes()).expect("written");
    let run = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"));
        let output = command.args(["run", "--from"]).arg(dump.path()).args(more).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let fresh = "queues fresh: 3 pending pods are new to the scheduler";
    assert_eq!(run(&[]).lines().next(), Some(fresh));
    assert_eq!(run(&["--queues", "fresh"]).lines().next(), Some(fresh));
    let observed = run(&["--queues", "observed"]);
    let line = "queues observed: 2 of 3 places inferred; 1 in activeQ, 0 in backoffQ, 2 in unschedulablePods";
    assert_eq!(observed.lines().next(), Some(line));
    let first = |text: &str| text.lines().skip_while(|line| !line.starts_with("d/tried: ")).nth(1).map(str::to_owned);
    assert!(first(&run(&[])).is_some_and(|line| line.starts_with("  +00:00.000  attempt 1: ")));
    // A parked pod is tried after something moves it, here the flush.
    assert!(first(&observed).is_some_and(|line| line.contains("to activeQ (UnschedulableTimeout)")), "{observed}");
    assert!(run(&["--queues", "observed", "-o", "json"]).lines().all(|l| l.starts_with('{')), "JSON lines and nothing else");
}

/// An event may claim any number of attempts.
#[test]
fn a_number_of_attempts_that_is_out_of_reason_is_only_large() {
    let mut dump = tempfile::NamedTempFile::with_suffix(".yaml").expect("a file");
    dump.write_all(DUMP.replace("count: 3", "count: 4294967295").as_bytes()).expect("written");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"));
    let output = command.args(["run", "--queues", "observed", "--from"]).arg(dump.path()).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
