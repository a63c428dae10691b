//! Tests of `inter_pod_affinity`.

use super::testing::{node, pod};
use super::*;
use crate::cluster::Object;

const OUTCOME: [QueueingHint; 2] = [QueueingHint::QueueSkip, QueueingHint::Queue];

#[test]
fn arguments_have_the_defaults_of_v1_36_and_are_checked() {
    let read = |json: &str| serde_json::from_str::<InterPodAffinityArgs>(json);
    assert_eq!(read("{}").unwrap(), InterPodAffinityArgs::default());
    let args = read(r#"{"apiVersion":"x/v1","kind":"K","hardPodAffinityWeight":100,"ignorePreferredTermsOfExistingPods":true}"#).unwrap();
    assert_eq!((args.hard_pod_affinity_weight, args.ignore_preferred_terms_of_existing_pods), (100, true));
    assert!(args.validate().is_ok());
    assert!(read(r#"{"weight":1}"#).is_err());
    for weight in [-1, 101] {
        let args = InterPodAffinityArgs { hard_pod_affinity_weight: weight, ..InterPodAffinityArgs::default() };
        let expected = format!("hardPodAffinityWeight: Invalid value: {weight}: not in valid range [0, 100]");
        assert_eq!(args.validate().unwrap_err().to_string(), expected);
    }
}

#[test]
fn hints_are_registered_for_pods_and_nodes() {
    let events: Vec<String> = InterPodAffinity::default()
        .events_to_register(Emulation::default())
        .unwrap()
        .iter()
        .map(|e| {
            assert!(e.hint.is_some());
            format!("{:?}:{:b}", e.event.resource, e.event.action.0)
        })
        .collect();
    assert_eq!(events, ["Pod:100000011", "Node:1001"]);
}

const AFFINITY: &str = r#"{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
    {"labelSelector":{"matchLabels":{"a":"1"}},"topologyKey":"zone"},{"labelSelector":{"matchLabels":{"b":"1"}},"topologyKey":"rack"}]}}"#;
const ANTI: &str = r#"{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
    {"labelSelector":{"matchLabels":{"a":"1"}},"topologyKey":"zone"},{"labelSelector":{"matchLabels":{"b":"1"}},"topologyKey":"rack"}]}}"#;
const NS_SELECTOR: &str = r#"{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
    {"labelSelector":{},"namespaceSelector":{"matchLabels":{"t":"x"}},"topologyKey":"zone"}]}}"#;

fn other(labels: &str, placed: bool, affinity: &str) -> Object {
    let mut pod = pod("other", labels, affinity);
    pod.node_name = if placed { "n".into() } else { Str::default() };
    Object::Pod(Arc::new(pod))
}

#[test]
fn pod_changes_help_by_the_whole_of_the_terms() {
    let check = |own: &str, old: Option<Object>, new: Option<Object>, queue: bool| {
        let target = pod("p", "{}", own);
        assert_eq!(hint_after_pod_change(Emulation::default(), &target, &Change { old, new }), Ok(OUTCOME[usize::from(queue)]), "{own}");
    };
    let (both, one, none) = (r#"{"a":"1","b":"1"}"#, r#"{"a":"1"}"#, "{}");
    let at = |labels: &str| Some(other(labels, true, "{}"));
    // Additions and label changes with affinity terms.
    check(AFFINITY, None, at(both), true);
    check(AFFINITY, None, at(one), false);
    check(AFFINITY, None, Some(other(both, false, "{}")), false);
    check(AFFINITY, at(one), at(both), true);
    check(AFFINITY, at(both), at(one), false);
    check(AFFINITY, at(both), at(both), false);
    check(AFFINITY, at(both), None, false);
    check("{}", None, at(both), false);
    // Hints do not resolve namespace selectors.
    check(NS_SELECTOR, None, at(none), false);
    // Label changes and deletions with anti-affinity terms.
    check(ANTI, None, at(both), false);
    check(ANTI, at(both), at(one), true);
    check(ANTI, at(one), at(none), false);
    check(ANTI, at(both), None, true);
    check(ANTI, at(one), None, false);
    check(ANTI, Some(other(both, false, "{}")), None, false);
    // Anti-affinity of a deleted pod to the parked pod.
    let against = r#"{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{},"topologyKey":"zone"}]}}"#;
    check("{}", Some(other(none, true, against)), None, true);
    check("{}", Some(other(none, true, AFFINITY)), None, false);
    let earlier: Emulation = crate::release::Profile::named("v1.35.2").unwrap().into();
    let deleted = Change { old: Some(other(none, true, against)), new: None };
    assert_eq!(hint_after_pod_change(earlier, &pod("p", "{}", "{}"), &deleted), Ok(QueueingHint::QueueSkip));
    // From 1.37 on, any anti-affinity term counts.
    let later: Emulation = crate::release::Profile::named("v1.37.0").unwrap().into();
    for (old, new) in [(at(one), at(none)), (at(one), None)] {
        let change = Change { old, new };
        assert_eq!(hint_after_pod_change(later, &pod("p", "{}", ANTI), &change), Ok(QueueingHint::Queue));
    }
    let hit = Change { old: Some(other(none, true, ANTI)), new: None };
    assert_eq!(hint_after_pod_change(later, &pod("p", r#"{"b":"1"}"#, "{}"), &hit), Ok(QueueingHint::Queue));
    assert_eq!(hint_after_pod_change(Emulation::default(), &pod("p", r#"{"b":"1"}"#, "{}"), &hit), Ok(QueueingHint::QueueSkip));
}

#[test]
fn the_pods_own_labels_and_places_not_yet_taken() {
    let own = |labels: &str| Some(Object::Pod(Arc::new(pod("p", labels, "{}"))));
    let change = Change { old: own("{}"), new: own(r#"{"a":"1"}"#) };
    assert_eq!(hint_after_pod_change(Emulation::default(), &pod("p", "{}", AFFINITY), &change), Ok(QueueingHint::Queue));
    let mut nominated = pod("other", r#"{"a":"1","b":"1"}"#, "{}");
    nominated.status.nominated_node_name = "n".into();
    let change = Change { old: None, new: Some(Object::Pod(Arc::new(nominated))) };
    assert_eq!(hint_after_pod_change(Emulation::default(), &pod("p", "{}", AFFINITY), &change), Ok(QueueingHint::Queue));
}

#[test]
fn node_changes_help_by_any_term() {
    let at = |labels: &str| Some(Object::Node(Arc::new(node("n", labels))));
    let check = |own: &str, old: Option<Object>, new: &str, queue: bool| {
        let change = Change { old, new: at(new) };
        assert_eq!(
            hint_after_node_change(Emulation::default(), &pod("p", "{}", own), &change),
            Ok(OUTCOME[usize::from(queue)]),
            "{own} {new}"
        );
    };
    let (bare, zone_a, zone_b, rack) = ("{}", r#"{"zone":"a"}"#, r#"{"zone":"b"}"#, r#"{"rack":"a"}"#);
    check("{}", None, zone_a, false);
    check(AFFINITY, None, bare, false);
    check(AFFINITY, None, rack, true);
    check(AFFINITY, at(bare), zone_a, true);
    check(AFFINITY, at(zone_a), zone_b, true);
    check(AFFINITY, at(zone_a), zone_a, false);
    check(AFFINITY, at(zone_a), bare, false);
    check(ANTI, None, bare, true);
    check(ANTI, at(zone_a), bare, true);
    check(ANTI, at(zone_a), zone_b, true);
    check(ANTI, at(bare), zone_a, false);
    check(ANTI, at(zone_a), zone_a, false);
}

#[test]
fn hints_report_what_they_cannot_read() {
    let bad = r#"{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}}]}}"#;
    let placed = Change { old: None, new: Some(other("{}", true, "{}")) };
    let odd = r#""Odd" is not a valid label selector operator"#;
    assert_eq!(hint_after_pod_change(Emulation::default(), &pod("p", "{}", bad), &placed).unwrap_err().to_string(), odd);
    let added = Change { old: None, new: Some(Object::Node(Arc::new(node("n", "{}")))) };
    assert_eq!(hint_after_node_change(Emulation::default(), &pod("p", "{}", bad), &added).unwrap_err().to_string(), odd);
    assert_eq!(
        hint_after_pod_change(Emulation::default(), &pod("p", "{}", "{}"), &added).unwrap_err().to_string(),
        "expected *v1.Pod, but got *v1.Node"
    );
    assert!(hint_after_node_change(Emulation::default(), &pod("p", "{}", "{}"), &placed).is_err());
    assert!(hint_after_pod_change(Emulation::default(), &pod("p", "{}", "{}"), &Change::default()).is_err());
    assert!(hint_after_node_change(Emulation::default(), &pod("p", "{}", "{}"), &Change::default()).is_err());
}
