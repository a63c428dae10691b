use super::super::testing::{World, info, node, pod};
use super::*;
use crate::cluster::{Kind, Object};

#[test]
fn constraints_with_one_key_share_a_slot_where_they_may() {
    let keys: Vec<Str> = ["zone", "host", "zone", "host"].into_iter().map(Into::into).collect();
    assert_eq!(slots(keys.iter(), |_| false), [0, 1, 2, 3]);
    assert_eq!(slots(keys.iter(), |_| true), [0, 1, 0, 1]);
    assert_eq!(slots(keys.iter(), |key| key != "host"), [0, 1, 0, 3]);
}

fn world(objects: &[(Kind, &str)]) -> World {
    let objects =
        objects.iter().map(|(kind, text)| Object::deserialize_kind(*kind, &mut serde_json::Deserializer::from_str(text)).unwrap());
    World::new(vec![], objects)
}

fn soft(world: &World, pod: &Pod) -> Vec<Constraint> {
    PodTopologySpread::default().constraints(&world.cx(), pod, Action::ScheduleAnyway).unwrap()
}

#[test]
fn constraint_defaults_and_gates() {
    let world = world(&[]);
    let text =
        |rest: &str| format!(r#"[{{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{{}}{rest}}}]"#);
    let parse = |rest: &str, world: &World| {
        let pod = pod("p", r#"{"v":"1"}"#, &text(rest));
        PodTopologySpread::default().constraints(&world.cx(), &pod, Action::DoNotSchedule).unwrap().remove(0)
    };
    let plain = parse("", &world);
    assert_eq!((plain.max_skew, plain.min_domains, plain.honors_node_affinity, plain.honors_node_taints), (2, 1, true, false));
    let rest = r#","minDomains":3,"nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor","matchLabelKeys":["v","w"]"#;
    let full = parse(rest, &world);
    assert_eq!((full.min_domains, full.honors_node_affinity, full.honors_node_taints), (3, false, true));
    assert!(full.selects(&serde_json::from_str(r#"{"v":"1"}"#).unwrap()) && !full.selects(&Labels::default()));
    let without = World {
        emulation: world.emulation(&[Gate::MatchLabelKeysInPodTopologySpread, Gate::NodeInclusionPolicyInPodTopologySpread]),
        ..world
    };
    let gated = parse(rest, &without);
    assert_eq!((gated.min_domains, gated.honors_node_affinity, gated.honors_node_taints), (3, true, false));
    assert!(gated.selects(&Labels::default()));
}

#[test]
fn match_label_keys_narrow_a_selector_but_not_an_absent_one() {
    let check = |selector: &str, labels: &str, expected: bool| {
        let text = format!(
            r#"[{{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{selector},"matchLabelKeys":["v"]}}]"#
        );
        let constraint = soft(&world(&[]), &pod("p", r#"{"v":"1"}"#, &text)).remove(0);
        assert_eq!(constraint.selects(&serde_json::from_str(labels).unwrap()), expected, "{selector} on {labels}");
    };
    check("null", r#"{"v":"1"}"#, false);
    check("{}", r#"{"v":"1"}"#, true);
    check("{}", r#"{"v":"2"}"#, false);
    check(r#"{"matchLabels":{"v":"2"}}"#, r#"{"v":"2"}"#, false);
    check(r#"{"matchLabels":{"v":"2"}}"#, r#"{"v":"1"}"#, false);
}

#[test]
fn what_counts_on_a_node() {
    let other = r#""namespace":"other""#;
    let pods = vec![
        pod("a", r#"{"app":"web"}"#, "[]"),
        pod("b", r#"{"app":"db"}"#, "[]"),
        serde_json::from_str(&format!(r#"{{"metadata":{{"name":"c",{other},"labels":{{"app":"web"}}}}}}"#)).unwrap(),
        serde_json::from_str(
            r#"{"metadata":{"name":"d","namespace":"default","deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web"}}}"#,
        )
        .unwrap(),
    ];
    let world = World::new(vec![(node("n", "{}"), pods)], []);
    let check = |selector: &str, counted: i64| {
        let text = format!(r#"[{{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{selector}}}]"#);
        let constraint = soft(&world, &pod("p", "{}", &text)).remove(0);
        let expected: Vec<(usize, i64)> = (counted > 0).then_some((0, counted)).into_iter().collect();
        assert_eq!(constraint.matching_pods(&world.snapshot, &"default".into()), expected, "{selector}");
    };
    check("null", 0);
    check("{}", 0);
    check(r#"{"matchLabels":{"app":"web"}}"#, 1);
    check(r#"{"matchExpressions":[{"key":"app","operator":"Exists"}]}"#, 2);
}

#[test]
fn default_constraints_need_an_empty_list_and_a_selector() {
    let service = (Kind::Service, r#"{"metadata":{"name":"s","namespace":"default"},"spec":{"selector":{"app":"web"}}}"#);
    let web = r#"{"app":"web"}"#;
    let keys = |world: &World, pod: &Pod| -> Vec<(String, i32)> {
        soft(world, pod).iter().map(|c| (c.topology_key.to_string(), c.max_skew)).collect()
    };
    let expected = [(LABEL_HOSTNAME.to_string(), 3), (LABEL_TOPOLOGY_ZONE.to_string(), 5)];
    assert_eq!(keys(&world(&[service]), &pod("p", web, "[]")), expected);
    assert!(keys(&world(&[service]), &pod("p", "{}", "[]")).is_empty());
    let hard = r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]"#;
    assert!(keys(&world(&[service]), &pod("p", web, hard)).is_empty());
    let list = PodTopologySpread { default_constraints: Vec::new(), system_defaulted: false };
    assert!(list.constraints(&world(&[service]).cx(), &pod("p", web, "[]"), Action::ScheduleAnyway).unwrap().is_empty());
}

#[test]
fn the_default_selector_joins_services_and_the_controller() {
    let objects = |kind: Kind, namespace: &str, selector: &str| {
        (kind, format!(r#"{{"metadata":{{"name":"o","namespace":"{namespace}"}},"spec":{{"selector":{selector}}}}}"#))
    };
    let check = |objects: &[(Kind, String)], owner: &str, expected: &str| {
        let objects: Vec<(Kind, &str)> = objects.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        let world = world(&objects);
        let mut pod = pod("p", r#"{"a":"1","b":"2"}"#, "[]");
        pod.metadata.owner_references = serde_json::from_str(owner).unwrap();
        let selector = default_selector(&world.cx(), &pod);
        assert_eq!(serde_json::to_string(&selector).unwrap(), expected, "{owner}");
    };
    let owner = |version: &str, kind: &str, rest: &str| format!(r#"[{{"apiVersion":"{version}","kind":"{kind}","name":"o"{rest}}}]"#);
    let controller = |version: &str, kind: &str| owner(version, kind, r#","controller":true"#);
    let service = |selector: &str| objects(Kind::Service, "default", selector);
    check(&[service(r#"{"a":"1"}"#)], "[]", r#"{"matchLabels":{"a":"1"}}"#);
    check(&[service("null")], "[]", "{}");
    check(&[service("{}")], "[]", "{}");
    check(&[service(r#"{"a":"2"}"#)], "[]", "{}");
    check(&[objects(Kind::Service, "other", r#"{"a":"1"}"#)], "[]", "{}");
    let set = objects(Kind::ReplicaSet, "default", r#"{"matchLabels":{"a":"1"}}"#);
    let in_one = r#"{"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]}"#;
    check(std::slice::from_ref(&set), &controller("apps/v1", "ReplicaSet"), in_one);
    check(std::slice::from_ref(&set), &owner("apps/v1", "ReplicaSet", ""), "{}");
    check(std::slice::from_ref(&set), &controller("apps/v1beta2", "ReplicaSet"), "{}");
    check(std::slice::from_ref(&set), &controller("apps/v1", "StatefulSet"), "{}");
    check(&[set], &controller("apps/v1", "Deployment"), "{}");
    let set = objects(Kind::StatefulSet, "default", r#"{"matchExpressions":[{"key":"b","operator":"Exists"}]}"#);
    let both = r#"{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"Exists"}]}"#;
    check(&[set, service(r#"{"a":"1"}"#)], &controller("apps/v1", "StatefulSet"), both);
    check(&[objects(Kind::StatefulSet, "default", "null")], &controller("apps/v1", "StatefulSet"), "{}");
    let odd = objects(Kind::StatefulSet, "default", r#"{"matchExpressions":[{"key":"b","operator":"Odd"}]}"#);
    check(&[odd], &controller("apps/v1", "StatefulSet"), "{}");
    let replication = objects(Kind::ReplicationController, "default", r#"{"a":"9","c":"3"}"#);
    let merged = r#"{"matchLabels":{"a":"9","c":"3"}}"#;
    check(&[replication.clone(), service(r#"{"a":"1"}"#)], &controller("v1", "ReplicationController"), merged);
    check(&[replication], &controller("apps/v1", "ReplicationController"), "{}");
}

#[test]
fn up_to_1_21_the_default_selector_joins_all_that_select_the_pod() {
    let object = |kind: Kind, name: &str, selector: &str| {
        (kind, format!(r#"{{"metadata":{{"name":"{name}","namespace":"default"}},"spec":{{"selector":{selector}}}}}"#))
    };
    let check = |version: &str, objects: &[(Kind, String)], expected: &str| {
        let objects: Vec<(Kind, &str)> = objects.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        let mut world = world(&objects);
        world.emulation = Emulation::from(crate::release::nearest(version.parse().unwrap()).profile);
        let selector = default_selector(&world.cx(), &pod("p", r#"{"a":"1","b":"2"}"#, "[]"));
        assert_eq!(serde_json::to_string(&selector).unwrap(), expected, "{version} {objects:?}");
    };
    let of_one = [object(Kind::StatefulSet, "s", r#"{"matchLabels":{"a":"1"}}"#)];
    let in_one = r#"{"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]}"#;
    check("1.20.15", &of_one, in_one);
    check("1.21.9", &of_one, in_one);
    check("1.22.6", &of_one, "{}");
    let replication = object(Kind::ReplicationController, "r", r#"{"b":"2"}"#);
    let set = object(Kind::ReplicaSet, "s", r#"{"matchExpressions":[{"key":"b","operator":"Exists"}]}"#);
    let both = r#"{"matchLabels":{"b":"2"},"matchExpressions":[{"key":"b","operator":"Exists"}]}"#;
    check("1.20.15", &[replication.clone(), set], both);
    let others = [object(Kind::ReplicationController, "r", r#"{"b":"3"}"#), object(Kind::ReplicaSet, "s", "{}")];
    check("1.20.15", &others, "{}");
    let invalid = object(Kind::StatefulSet, "odd", r#"{"matchExpressions":[{"key":"b","operator":"Odd"}]}"#);
    let of_services = r#"{"matchLabels":{"b":"2"}}"#;
    check("1.20.15", &[replication, of_one[0].clone(), invalid], of_services);
}

#[test]
fn errors_name_the_kind_of_constraint() {
    let odd = |action: &str| {
        format!(
            r#"[{{"topologyKey":"z","whenUnsatisfiable":"{action}","labelSelector":{{"matchExpressions":[{{"key":"a","operator":"Odd"}}]}}}}]"#
        )
    };
    let world = world(&[]);
    for (action, name, nickname) in [(Action::DoNotSchedule, "DoNotSchedule", "hard"), (Action::ScheduleAnyway, "ScheduleAnyway", "soft")] {
        let error = PodTopologySpread::default().constraints(&world.cx(), &pod("p", "{}", &odd(name)), action).unwrap_err();
        let expected = format!("obtaining pod's {nickname} topology spread constraints: \"Odd\" is not a valid label selector operator");
        assert_eq!(error.to_string(), expected);
        let other = if action == Action::DoNotSchedule { Action::ScheduleAnyway } else { Action::DoNotSchedule };
        assert!(PodTopologySpread::default().constraints(&world.cx(), &pod("p", "{}", &odd(name)), other).unwrap().is_empty());
    }
}

#[test]
fn inclusion_policies_look_at_affinity_and_taints() {
    let mut tainted = node("n", r#"{"disk":"ssd"}"#);
    tainted.spec.taints = serde_json::from_str(r#"[{"key":"k","effect":"NoSchedule"}]"#).unwrap();
    let world = world(&[]);
    let check = |policies: &str, selector: &str, tolerations: &str, expected: bool| {
        let text = format!(r#"[{{"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"{policies}}}]"#);
        let mut pod = pod("p", "{}", &text);
        pod.spec_mut().node_selector = serde_json::from_str(selector).unwrap();
        pod.spec_mut().tolerations = serde_json::from_str(tolerations).unwrap();
        let constraint = soft(&world, &pod).remove(0);
        let info = info(pod);
        assert_eq!(NodePolicies::of(&info.pod, &tainted, Emulation::default()).include(&constraint), expected, "{policies}");
    };
    check("", "null", "[]", true);
    check("", r#"{"disk":"ssd"}"#, "[]", true);
    check("", r#"{"disk":"hdd"}"#, "[]", false);
    check(r#","nodeAffinityPolicy":"Ignore""#, r#"{"disk":"hdd"}"#, "[]", true);
    check(r#","nodeTaintsPolicy":"Honor""#, "null", "[]", false);
    check(r#","nodeTaintsPolicy":"Honor""#, "null", r#"[{"key":"k","operator":"Exists"}]"#, true);
}
