use super::testing::{World, node, pod};
use super::*;
use crate::cluster::Object;

#[test]
fn arguments_have_the_defaults_of_v1_36_and_are_checked() {
    let read = |json: &str| serde_json::from_str::<PodTopologySpreadArgs>(json);
    assert_eq!(read("{}").unwrap(), PodTopologySpreadArgs::default());
    assert_eq!(read(r#"{"defaultingType":"","kind":"K","apiVersion":"v"}"#).unwrap(), PodTopologySpreadArgs::default());
    assert!(read(r#"{"constraints":[]}"#).is_err());
    assert!(PodTopologySpread::default().system_defaulted);
    let check = |defaulting: &str, constraints: &str, expected: &str| {
        let args = read(&format!(r#"{{"defaultingType":"{defaulting}","defaultConstraints":[{constraints}]}}"#)).unwrap();
        assert_eq!(args.validate().err().unwrap_or_default().to_string(), expected, "{constraints}");
        args
    };
    let good = r#"{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}"#;
    let plugin = PodTopologySpread::new(check("List", good, ""));
    assert_eq!((plugin.default_constraints.len(), plugin.system_defaulted), (1, false));
    check("List", "", "");
    check("Some", "", r#"defaultingType: Unsupported value: "Some": supported values: "System", "List""#);
    check("System", good, r#"defaultingType: Invalid value: "System": when .defaultConstraints are not empty"#);
    check("List", &good.replace('1', "0"), "defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)");
    check("List", &good.replace("zone", ""), "defaultConstraints[0].topologyKey: Required value: can not be empty");
    check("List", &good.replace("zone", "/a"), r#"defaultConstraints[0].topologyKey: Invalid value: "/a": prefix part must be non-empty"#);
    check("List", &good.replace("ScheduleAnyway", ""), "defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty");
    check(
        "List",
        &good.replace("ScheduleAnyway", "Never"),
        r#"defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway""#,
    );
    check(
        "List",
        &good.replace('}', r#","labelSelector":{}}"#),
        "defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod",
    );
    check("List", &format!("{good},{good}"), r#"defaultConstraints[1]: Duplicate value: "{zone, ScheduleAnyway}""#);
}

#[test]
fn hints_are_registered_for_pods_and_nodes() {
    let events = PodTopologySpread::default().events_to_register(Emulation::default()).unwrap();
    let text: Vec<String> = events.iter().map(|e| format!("{:?}:{:b} {}", e.event.resource, e.event.action.0, e.hint.is_some())).collect();
    assert_eq!(text, ["Pod:10100000011 true", "Node:11011 true"]);
}

const TWO: &str = r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"1"}}},
    {"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"b":"1"}}}]"#;
const HONORING: &str =
    r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"nodeTaintsPolicy":"Honor"}]"#;

/// Runs a registered hint by index: 0 for pods, 1 for nodes.
fn hint(event: usize, constraints: &str, old: Option<Object>, new: Option<Object>) -> Result<QueueingHint, HintError> {
    let world = World::new(vec![], []);
    let events = PodTopologySpread::default().events_to_register(Emulation::default()).unwrap();
    let hint = events[event].hint.clone().unwrap();
    hint(&world.cx(), &Arc::new(pod("p", "{}", constraints)), &Change { old, new })
}

#[test]
fn pod_changes_help_where_a_constraint_counts_them() {
    let placed = |labels: &str, namespace: &str, node: &str, nominated: &str| {
        let mut pod = pod("other", labels, "[]");
        pod.metadata.namespace = namespace.into();
        pod.node_name = node.into();
        pod.status.nominated_node_name = nominated.into();
        Some(Object::Pod(Arc::new(pod)))
    };
    let at = |labels: &str| placed(labels, "default", "n", "");
    let check = |constraints: &str, old, new, queue: bool| assert_eq!(hint(0, constraints, old, new), Ok(queue_if(queue)));
    let (a, b, other) = (r#"{"a":"1"}"#, r#"{"b":"1"}"#, r#"{"c":"1"}"#);
    check(TWO, None, at(a), true);
    check(TWO, None, at(b), true);
    check(TWO, None, at(other), false);
    check(TWO, at(a), None, true);
    check(TWO, at(other), None, false);
    check(TWO, None, placed(a, "elsewhere", "n", ""), false);
    check(TWO, None, placed(a, "default", "", ""), false);
    check(TWO, None, placed(a, "default", "", "n"), true);
    check(TWO, placed(a, "default", "", ""), None, false);
    check(TWO, at(a), at(b), true);
    check(TWO, at(a), at(a), false);
    check(TWO, at(a), at(r#"{"a":"1","c":"1"}"#), false);
    let own = |labels: &str, tolerations: &str| {
        let mut pod = pod("p", labels, "[]");
        pod.spec_mut().tolerations = serde_json::from_str(tolerations).unwrap();
        Some(Object::Pod(Arc::new(pod)))
    };
    let tolerant = r#"[{"operator":"Exists"}]"#;
    check(HONORING, own("{}", "[]"), own("{}", tolerant), true);
    check(TWO, own("{}", "[]"), own("{}", tolerant), false);
    check(TWO, own("{}", "[]"), own(a, "[]"), true);
    check("[]", None, at(a), false);
}

#[test]
fn node_changes_help_where_all_keys_are() {
    let at = |labels: &str, taints: &str| {
        let mut node = node("n", labels);
        node.spec.taints = serde_json::from_str(taints).unwrap();
        Some(Object::Node(Arc::new(node)))
    };
    let check = |old, new, queue: bool| assert_eq!(hint(1, TWO, old, new), Ok(queue_if(queue)));
    let (none, zone, both, moved) = ("{}", r#"{"zone":"a"}"#, r#"{"zone":"a","rack":"1"}"#, r#"{"zone":"b","rack":"1"}"#);
    let taint = r#"[{"key":"k","effect":"NoSchedule"}]"#;
    check(None, at(both, "[]"), true);
    check(None, at(zone, "[]"), false);
    check(at(both, "[]"), None, true);
    check(at(zone, "[]"), None, false);
    check(at(both, "[]"), at(zone, "[]"), true);
    check(at(zone, "[]"), at(both, "[]"), true);
    check(at(none, "[]"), at(zone, "[]"), false);
    check(at(both, "[]"), at(moved, "[]"), true);
    check(at(both, "[]"), at(both, "[]"), false);
    check(at(both, "[]"), at(both, taint), true);
    check(at(zone, "[]"), at(zone, taint), false);
}

#[test]
fn hints_report_what_they_cannot_read() {
    let odd =
        r#"[{"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}}]"#;
    let (a_pod, a_node) = (|| Some(Object::Pod(Arc::new(pod("p", "{}", "[]")))), || Some(Object::Node(Arc::new(node("n", "{}")))));
    let expected = "obtaining pod's hard topology spread constraints: \"Odd\" is not a valid label selector operator";
    assert_eq!(hint(0, odd, None, a_pod()).unwrap_err().to_string(), expected);
    assert_eq!(hint(1, odd, None, a_node()).unwrap_err().to_string(), expected);
    assert_eq!(hint(0, TWO, None, a_node()).unwrap_err().to_string(), "expected *v1.Pod, but got *v1.Node");
    assert_eq!(hint(1, TWO, a_pod(), None).unwrap_err().to_string(), "expected *v1.Node, but got *v1.Pod");
    assert!(hint(0, TWO, None, None).is_err() && hint(1, TWO, None, None).is_err());
}
