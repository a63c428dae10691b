//! Tests of `explain`.

use std::cell::RefCell;
use std::sync::Arc;

use clap::Parser as _;

use super::super::{Cli, Command, FailureKind};
use super::*;
use crate::cluster::operations::counted;
use crate::limits::engine::VOICES_OF_OBJECT;
use crate::source::{Input, load};

/// Returns a cluster with a pod that fits on no node, whose condition has this message; empty for none.
fn cluster(message: &str) -> Loaded {
    let condition = if message.is_empty() {
        String::new()
    } else {
        format!(
            r#","conditions":[{{"type":"PodScheduled","status":"False","reason":"Unschedulable","lastTransitionTime":"2026-01-01T00:00:00Z","message":"{message}"}}]"#
        )
    };
    let text = format!(
        r#"{{"kind":"List","apiVersion":"v1","items":[
            {{"kind":"Node","apiVersion":"v1","metadata":{{"name":"n"}},"status":{{"allocatable":{{"cpu":"1","pods":"10"}}}}}},
            {{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"web","namespace":"shop"}},
             "spec":{{"schedulerName":"default-scheduler","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"2"}}}}}}]}},
             "status":{{"phase":"Pending"{condition}}}}}]}}"#
    );
    load(&[Input::Bytes { name: "cluster.json".into(), bytes: text.into_bytes().into() }])
}

/// Explains on one read of a cluster and, if it is read again, on another. Returns the exit code, whether the scheduler
/// disagrees, the answer, and what was done in between.
#[track_caller]
fn explained(args: &[&str], first: &str, second: Result<&str, &str>) -> Result<(u8, bool, String, Vec<String>), String> {
    let words = ["schedscope", "explain"].iter().chain(args);
    let Some(Command::Explain(args)) = Cli::try_parse_from(words).unwrap().command else { unreachable!("it is explain") };
    let done = RefCell::new(Vec::new());
    let wait = |time: Duration| done.borrow_mut().push(format!("wait {time:?}"));
    let again = || {
        done.borrow_mut().push("read".to_owned());
        second.map(cluster).map_err(Failure::source)
    };
    let found = explain_twice(&args, cluster(first), None, &wait, again);
    found.map(|found| (found.code, found.disagrees, found.text.as_str().to_owned(), done.take())).map_err(|e| format!("{:?}", e.message))
}

/// The message that kube-scheduler writes about the pod, and one about a node that it has no more.
const AGREES: &str = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
const DIFFERS: &str = "0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";

#[test]
fn a_difference_is_reported_only_if_a_second_look_finds_it_too() {
    for pods in [&["--pending", "-A"][..], &["web", "-n", "shop"]] {
        let (code, disagrees, text, done) = explained(pods, DIFFERS, Ok(AGREES)).unwrap();
        assert_eq!((code, disagrees, done), (EXIT_NO_FIT, false, vec!["wait 1s".to_owned(), "read".to_owned()]), "{text}");
        assert!(!text.contains("the scheduler said"), "{text}");

        let (code, disagrees, text, done) = explained(pods, DIFFERS, Ok(DIFFERS)).unwrap();
        assert_eq!((code, disagrees, done.len()), (EXIT_NO_FIT, true, 2), "it looks again once: {text}");
        assert!(text.contains("Too many pods: the scheduler said 1 node, not reported by schedscope"), "{text}");

        for first in [AGREES, ""] {
            let (_, disagrees, text, done) = explained(pods, first, Err("not read twice")).unwrap();
            assert!(!disagrees && done.is_empty(), "{text}");
        }
        // A cluster that can no longer be read gives no answer of the first look.
        assert!(explained(pods, DIFFERS, Err("it is gone")).unwrap_err().contains("it is gone"));
    }
    // A dump does not change.
    let (_, disagrees, _, done) = explained(&["--pending", "-A", "--from", "dump.json"], DIFFERS, Err("not read twice")).unwrap();
    assert!(disagrees && done.is_empty());
}

#[test]
fn a_fit_that_the_source_may_lack_pods_for_is_not_said_to_be_sure() {
    let words = ["schedscope", "explain", "web", "-n", "shop", "--from", "dump.json"];
    let Some(Command::Explain(args)) = Cli::try_parse_from(words).unwrap().command else { unreachable!("it is explain") };
    let message = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";
    let with = |selected: bool| {
        let mut loaded = cluster(message);
        for object in &mut loaded.objects {
            if let crate::cluster::Object::Pod(pod) = object {
                Arc::make_mut(pod).spec_mut().containers = crate::cluster::List::default();
            }
        }
        if selected {
            let missing = crate::cluster::MissingKinds { selected: [Kind::Pod].into_iter().collect(), ..Default::default() };
            loaded.report.set_missing(missing);
        }
        let found = explain(&args, loaded, None, &Silent, None).map_err(|e| e.message).unwrap();
        (found.code, found.text.as_str().to_owned())
    };
    let (code, text) = with(true);
    assert_eq!(code, super::super::EXIT_SOURCE, "{text}");
    let lines = "; the source may lack the reason:\n  the source seems to hold only some of the Pods\n";
    assert!(text.replace("    ", "  ").contains(lines), "{text}");
    let (code, text) = with(false);
    assert!(code == EXIT_OK && text.contains("for no known reason."), "{text}");
}

#[test]
fn pods_are_named_as_kubectl_does_or_with_their_namespace() {
    for (text, expected) in [("web", "shop/web"), ("pod/web", "shop/web"), ("po/web", "shop/web"), ("batch/web", "batch/web")] {
        let key = pod_key(text, Some(expected.split('/').next().unwrap()), "default").unwrap();
        assert_eq!(key.to_string(), expected);
    }
    assert_eq!(pod_key("web", None, "default").unwrap(), Key::new("default", "web"));
    assert_eq!(pod_key("shop/web", None, "default").unwrap(), Key::new("shop", "web"));
    assert!(pod_key("shop/web", Some("batch"), "default").is_err());
    // The namespace of a context is only for pods that name none.
    for (text, expected) in [("web", "shop/web"), ("po/web", "shop/web"), ("postgres/db-0", "postgres/db-0")] {
        assert_eq!(pod_key(text, None, "shop").unwrap().to_string(), expected);
    }
    for kind in ["deployment/web", "sts/db", "node/n1", "persistentvolumeclaims/data"] {
        let error = pod_key(kind, None, "default").unwrap_err();
        assert_eq!(error.kind, FailureKind::Usage, "{kind}");
    }
}

#[test]
fn the_events_are_read_once_for_all_pods_that_are_asked_for() {
    let operations = |count: usize| {
        let mut items =
            vec![r#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"allocatable":{"pods":"0"}}}"#.to_owned()];
        for at in 0..count {
            let metadata = format!(
                r#""metadata":{{"name":"web-{at}","namespace":"shop","ownerReferences":[{{"kind":"ReplicaSet","name":"web","controller":true}}]}}"#
            );
            items.push(format!(r#"{{"kind":"Pod","apiVersion":"v1",{metadata},"spec":{{"containers":[{{"name":"c"}}]}}}}"#));
            let about = |kind: &str, name: &str| {
                format!(
                    r#"{{"kind":"Event","apiVersion":"v1","metadata":{{"name":"{kind}{at}","namespace":"shop"}},"involvedObject":{{"kind":"{kind}","name":"{name}","namespace":"shop"}},"reason":"FailedCreate","message":"no {at}","source":{{"component":"replicaset-controller"}}}}"#
                )
            };
            items.extend([about("ReplicaSet", "web"), about("Pod", &format!("web-{at}"))]);
        }
        let text = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{}]}}"#, items.join(","));
        let [loaded, again] =
            [(); 2].map(|()| load(&[Input::Bytes { name: "cluster.json".into(), bytes: text.clone().into_bytes().into() }]));
        let words = ["schedscope", "explain", "-A", "--selector", "a!=b", "-o", "json", "--from", "dump.json"];
        let Some(Command::Explain(args)) = Cli::try_parse_from(words).unwrap().command else { unreachable!("it is explain") };
        let (found, operations) = counted(|| explain(&args, loaded, None, &Silent, None).map_err(|e| e.message).unwrap());
        assert_eq!(found.text.as_str().lines().count(), count);
        let at_once = std::cell::RefCell::new(Vec::new());
        let print = |text: &Text| {
            at_once.borrow_mut().push(text.as_str().to_owned());
            Ok(at_once.borrow().len() < 7)
        };
        let rest = explain(&args, again, None, &Silent, Some(&print)).map_err(|e| e.message).unwrap();
        let first: String = found.text.as_str().split_inclusive('\n').take(7).collect();
        assert_eq!((rest.text.as_str(), at_once.into_inner().concat()), ("", first), "until the reader goes");
        let left_out = format!(r#""othersLeftOut":{}"#, count - VOICES_OF_OBJECT);
        assert!(found.text.as_str().lines().all(|line| line.contains(&left_out)), "{left_out}");
        operations
    };
    let (few, many) = (operations(50), operations(200));
    assert!(many < 6 * few, "{few} and {many}");
}

#[test]
fn options_of_manifests_are_refused_for_pods_of_the_cluster() {
    for (words, option) in [(&["--capacity"][..], "--capacity"), (&["--replicas", "3"], "--replicas")] {
        let line = ["schedscope", "explain", "web", "--demo", "payments"].iter().chain(words);
        let Ok(Cli { command: Some(Command::Explain(args)), .. }) = Cli::try_parse_from(line) else { continue };
        let failure = check_options(&args).expect_err(option);
        let message = failure.message.into_vec().join(" ");
        assert!(message.contains(option) && message.contains("--what-if"), "{message}");
    }
    let ways = analysis_of_spread();
    assert!(ways.contains("each is decided on its own: without evictions 2 of 5 fit together"), "{ways}");
}

fn analysis_of_spread() -> String {
    let Ok(Cli { command: Some(Command::Explain(args)), .. }) =
        Cli::try_parse_from(["schedscope", "explain", "deployment/spread", "-n", "shop", "--demo", "payments"])
    else {
        panic!("arguments")
    };
    let connect = args.cluster.connect.clone();
    let loaded = super::super::history::read_source(&args.cluster.source, &connect, &args.cluster.limits.limits(), None)
        .map_err(|_| ())
        .expect("a story");
    explain(&args, loaded, None, &Silent, None).map_err(|_| ()).expect("an answer").text.as_str().to_owned()
}

#[test]
fn selected_pods_are_decided_within_the_bound_on_steps() {
    use crate::cluster::testing::object_with_kind;
    use crate::release::Emulation;
    use crate::scheduler::{Config, Options};
    let pod = |name: &str| object_with_kind(&serde_json::json!({"kind": "Pod", "metadata": {"name": name, "namespace": "d"}}));
    let objects = vec![pod("a"), pod("b"), pod("c")];
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default());
    let pods: Vec<Option<&Arc<Pod>>> = scheduler.state().cluster().pods.iter().map(Some).collect();
    let of_one = STEPS_OF_ANSWER * StepBound::steps_of_recorded(&scheduler, pods[0].unwrap());
    assert!(of_one > 0);
    // One is decided in any case, and pods that are alike count whole: each has an answer of its own.
    assert_eq!([1, of_one, of_one + 1, 3 * of_one].map(|steps| within_bound(&scheduler, &pods, steps)), [1, 1, 2, 3]);
    assert_eq!(within_bound(&scheduler, &[], 1), 0);
    // A name of no pod takes no steps.
    assert_eq!(within_bound(&scheduler, &[None, pods[0], None, pods[1]], 1), 3);
}

#[test]
fn selected_pods_of_a_group_count_with_all_of_it() {
    use crate::cluster::testing::object_with_kind;
    use crate::release::{Emulation, FeatureGates};
    use crate::scheduler::{Config, Options};
    let pod = |name: &str| {
        object_with_kind(&serde_json::json!({"kind": "Pod", "metadata": {"name": name, "namespace": "d"},
            "spec": {"schedulingGroup": {"podGroupName": "g"}}}))
    };
    let within = |gates: &str, answers: u64| {
        let profile = Emulation::default().profile();
        let emulation = Emulation::new(profile, FeatureGates::parse(gates, profile).unwrap());
        let objects = ["a", "b", "c", "e"].map(pod).to_vec();
        let scheduler = Scheduler::new(Config::defaults(emulation), objects, Options::default());
        let pods: Vec<Option<&Arc<Pod>>> = scheduler.state().cluster().pods.iter().map(Some).collect();
        within_bound(&scheduler, &pods, answers * STEPS_OF_ANSWER * StepBound::steps_of_recorded(&scheduler, pods[0].unwrap()))
    };
    let counts = |gates: &str| [1, 4, 5, 8, 9].map(|answers| within(gates, answers));
    assert_eq!(counts("GenericWorkload=true"), [1, 1, 2, 2, 3]);
    assert_eq!(counts("GenericWorkload=false"), [1, 4, 4, 4, 4]);
}
