//! Tests of `overview`.

use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::cluster::testing::object_with_kind;
use crate::fixes::Background;
use crate::output::Headings;
use crate::release::Emulation;
use crate::scheduler::{Config, InitialQueues, Options};

fn scheduler(pods: usize) -> Scheduler {
    let pod = |at: usize| {
        object_with_kind(&json!({
            "kind": "Pod",
            "metadata": {"name": format!("p{at:03}"), "namespace": "d"},
            "spec": {"schedulerName": "default-scheduler", "priority": at, "containers": []}
        }))
    };
    let node = object_with_kind(&json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "0"}}}));
    let objects = std::iter::once(node).chain((0..pods).map(pod)).collect();
    Scheduler::new(Config::defaults(Emulation::default()), objects, Options { queues: InitialQueues::Fresh, ..Options::default() })
}

/// Returns the parts that are published of an overview of the first pods that take a number of steps.
fn parts(pods: usize, most: u64) -> Vec<Overview> {
    let scheduler = scheduler(pods);
    let comparer = SchedulerComparer::new(&scheduler, &[]);
    let parts = Mutex::new(Vec::new());
    let publish = |overview: Overview| parts.lock().unwrap().push(overview);
    Overview::make(&scheduler, (&comparer, true), most, &[], Background::nothing(), &|| true, &publish);
    parts.into_inner().unwrap()
}

#[test]
fn an_overview_that_is_out_of_steps_says_how_many_pods_are_not_decided() {
    let last = |most: u64| parts(3, most).pop().unwrap();
    let bounded = last(1);
    assert_eq!((bounded.stage, bounded.pods.len(), bounded.pending), (Stage::OutOfSteps, 1, 3));
    assert!(bounded.causes[0].fix.found().is_some() || matches!(bounded.causes[0].fix, FixSearch::Nothing(_)), "fixes are searched");
    let text = bounded.document().plain(Headings::Colon).into_vec().join("\n");
    assert!(text.contains("3 pending pods") && text.contains("2 are not decided: the others took all steps"), "{text}");
    for most in [1_000_000, u64::MAX] {
        let whole = last(most);
        assert_eq!((whole.stage, whole.pods.len()), (Stage::Complete, 3));
        assert!(!whole.document().plain(Headings::Colon).into_vec().join("\n").contains("not decided"));
    }
}

#[test]
fn parts_grow_with_the_pods_that_are_decided() {
    let pods: Vec<usize> = parts(700, u64::MAX).iter().map(|part| part.pods.len()).collect();
    assert_eq!(pods[0], CHUNK);
    // One by one in parts of 32 they would be 22.
    assert!(pods.len() < 20 && pods.last() == Some(&700), "{pods:?}");
    let grows = pods.windows(2).all(|two| two[1] - two[0] <= CHUNK.max(two[0] / SHARE_OF_DECIDED));
    assert!(grows, "{pods:?}");
}
