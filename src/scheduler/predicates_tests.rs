//! Whole cycles and the queue of a kube-scheduler with predicates and priorities.

use std::collections::BTreeSet;

use super::testing::{apply, at, key, node, pod};
use super::{Config, Evictions, Operation, Options, Scheduler};
use crate::cluster::Object;
use crate::release::Profile;

fn scheduler(release: &str, objects: Vec<Object>) -> Scheduler {
    let emulation = Profile::named(release).unwrap().into();
    Scheduler::new(
        Config::defaults(emulation),
        objects,
        Options { start: at(0), evictions: Evictions::AfterGracePeriod, ..Options::default() },
    )
}

fn create(object: Object) -> Operation {
    Operation::Create { object }
}

#[test]
fn equal_nodes_take_turns() {
    for release in ["v1.12.0", "v1.11.1"] {
        let nodes = ["a", "b", "c"].map(node);
        let pods = ["1", "2", "3"].map(|name| pod(name, 0, 0, "", ""));
        let mut s = scheduler(release, nodes.into_iter().chain(pods).collect());
        let mut places = BTreeSet::new();
        for _ in 0..3 {
            let words = apply(&mut s, Operation::Schedule);
            places.extend(words.iter().filter_map(|w| w.split_once(" bound to ")).map(|(_, node)| node.to_owned()));
        }
        assert_eq!(places.len(), 3, "{release}: {places:?}");
    }
}

#[test]
fn pods_that_fit_nowhere_are_parked_until_something_happens_and_never_back_off() {
    let mut s = scheduler("v1.12.0", vec![node("n"), pod("big", 0, 5, "", ""), pod("small", 0, 1, "n", "")]);
    let words = apply(&mut s, Operation::Schedule);
    assert!(words.contains(&"big parked by ScheduleAttemptFailure".to_owned()), "{words:?}");
    assert!(words.iter().any(|w| w == "big Unschedulable: 0/1 nodes are available: 1 Insufficient cpu."), "{words:?}");
    assert_eq!(apply(&mut s, Operation::Advance { seconds: 3600 }), [""; 0]);
    for operation in [create(node("m")), Operation::Delete { object: pod("small", 0, 1, "n", "") }] {
        let words = apply(&mut s, operation);
        assert!(words.iter().any(|w| w.starts_with("big active by ")), "{words:?}");
        apply(&mut s, Operation::Schedule);
    }
}

#[test]
fn the_one_with_least_to_lose_is_evicted_and_lower_nominations_are_cleared() {
    let objects = vec![node("a"), node("b"), pod("v", 1, 4, "a", ""), pod("w", 2, 4, "b", ""), pod("low", 5, 3, "", "")];
    let mut s = scheduler("v1.12.0", objects);
    let words = apply(&mut s, Operation::Schedule);
    assert!(words.iter().any(|w| w.starts_with("v evicted")), "{words:?}");
    assert_eq!(s.state().nominations().get(&key("low")).map(ToString::to_string), Some("a".into()));
    apply(&mut s, create(pod("high", 9, 4, "", "")));
    let words = apply(&mut s, Operation::Schedule);
    assert!(!words.iter().any(|w| w.starts_with("w evicted")), "{words:?}");
}
