use super::super::testing::{World, info, namespaces, node, pod, pod_in};
use super::*;
use crate::framework::Code;

const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI: &str = "node(s) didn't match pod anti-affinity rules";
const EXISTING: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

fn term(selector: &str, key: &str, rest: &str) -> String {
    format!(r#"{{"labelSelector":{selector},"topologyKey":"{key}"{rest}}}"#)
}

fn required(stanza: &str, terms: &[String]) -> String {
    format!(r#"{{"{stanza}":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}}"#, terms.join(","))
}

fn near(terms: &[String]) -> String {
    required("podAffinity", terms)
}

fn apart(terms: &[String]) -> String {
    required("podAntiAffinity", terms)
}

/// Nodes `n1` in zone a, `n2` in zone b and `n3` without a zone, with the given pods.
fn world(pods: [Vec<Pod>; 3], named: &[(&str, &str)]) -> World {
    let labels = [r#"{"zone":"a","host":"n1"}"#, r#"{"zone":"b","host":"n2"}"#, r#"{"host":"n3"}"#];
    let nodes = pods.into_iter().zip(labels).enumerate();
    World::new(nodes.map(|(i, (pods, labels))| (node(&format!("n{}", i + 1), labels), pods)).collect(), namespaces(named))
}

fn statuses(world: &World, state: &CycleState, pod: &PodInfo) -> Vec<String> {
    let filter = |n: &Arc<NodeInfo>| FilterPlugin::filter(&InterPodAffinity::default(), &world.cx(), state, pod, n);
    world.nodes().iter().map(|n| filter(n).message()).collect()
}

/// Checks the reasons on the three nodes, or that `PreFilter` skips if `None`.
#[track_caller]
fn check(world: &World, pod: Pod, expected: Option<[&str; 3]>) {
    let (pod, mut state) = (info(pod), CycleState::default());
    let (_, status) = PreFilterPlugin::pre_filter(&InterPodAffinity::default(), &world.cx(), &mut state, &pod);
    match expected {
        None => assert!(status.is_skip(), "{status}"),
        Some(expected) => {
            assert!(status.is_success(), "{status}");
            assert_eq!(statuses(world, &state, &pod), expected);
        }
    }
}

const WEB: &str = r#"{"app":"web"}"#;
const IS_WEB: &str = r#"{"matchLabels":{"app":"web"}}"#;

#[test]
fn affinity_needs_every_key_and_a_pod_in_every_domain() {
    let world = world([vec![pod("w", WEB, "{}")], vec![], vec![]], &[]);
    check(&world, pod("p", "{}", "{}"), None);
    check(&world, pod("p", "{}", &near(&[term(IS_WEB, "zone", "")])), Some(["", AFFINITY, AFFINITY]));
    check(&world, pod("p", "{}", &near(&[term(IS_WEB, "zone", ""), term(IS_WEB, "host", "")])), Some(["", AFFINITY, AFFINITY]));
    // One pod must match all terms.
    let other = term(r#"{"matchLabels":{"app":"db"}}"#, "zone", "");
    check(&world, pod("p", "{}", &near(&[term(IS_WEB, "zone", ""), other])), Some([AFFINITY; 3]));
    check(&world, pod_in("elsewhere", "p", "{}", &near(&[term(IS_WEB, "zone", "")])), Some([AFFINITY; 3]));
    check(
        &world,
        pod_in("elsewhere", "p", "{}", &near(&[term(IS_WEB, "zone", r#","namespaces":["default"]"#)])),
        Some(["", AFFINITY, AFFINITY]),
    );
}

#[test]
fn the_first_pod_of_a_group_goes_wherever_the_keys_are() {
    let group = near(&[term(IS_WEB, "zone", "")]);
    check(&world([vec![], vec![], vec![]], &[]), pod("p", WEB, &group), Some(["", "", AFFINITY]));
    check(&world([vec![], vec![], vec![]], &[]), pod("p", "{}", &group), Some([AFFINITY; 3]));
    // A matching pod on a node without the key makes no domain.
    check(&world([vec![], vec![], vec![pod("w", WEB, "{}")]], &[]), pod("p", WEB, &group), Some(["", "", AFFINITY]));
    check(&world([vec![pod("w", WEB, "{}")], vec![], vec![]], &[]), pod("p", WEB, &group), Some(["", AFFINITY, AFFINITY]));
}

#[test]
fn anti_affinity_works_both_ways_and_needs_the_key() {
    let pods = || [vec![pod("w", WEB, "{}")], vec![], vec![pod("v", WEB, "{}")]];
    check(&world(pods(), &[]), pod("p", "{}", &apart(&[term(IS_WEB, "zone", "")])), Some([ANTI, "", ""]));
    check(&world(pods(), &[]), pod("p", "{}", &apart(&[term(IS_WEB, "host", "")])), Some([ANTI, "", ANTI]));
    let against = apart(&[term(IS_WEB, "zone", "")]);
    let existing = world([vec![pod("x", "{}", &against)], vec![], vec![pod("y", "{}", &against)]], &[]);
    check(&existing, pod("p", WEB, "{}"), Some([EXISTING, "", ""]));
    check(&existing, pod("p", "{}", "{}"), None);
    check(&existing, pod_in("elsewhere", "p", WEB, "{}"), None);
    // The pod's own terms come first.
    let own = apart(&[term("{}", "zone", "")]);
    check(&existing, pod("p", WEB, &own), Some([ANTI, "", ""]));
    check(&existing, pod("p", WEB, &near(&[term(IS_WEB, "zone", "")])), Some([EXISTING, "", AFFINITY]));
}

#[test]
fn namespace_selectors_of_the_incoming_pod_are_resolved_and_stay() {
    let namespaces = [("default", "{}"), ("blue", r#"{"team":"blue"}"#), ("red", r#"{"team":"red"}"#)];
    let mut world = world([vec![pod_in("blue", "w", WEB, "{}")], vec![pod_in("red", "v", WEB, "{}")], vec![]], &namespaces);
    let check_selector = |world: &World, selector: &str, expected: [&str; 3]| {
        let rest = format!(r#","namespaceSelector":{selector}"#);
        check(world, pod("p", "{}", &apart(&[term(IS_WEB, "zone", &rest)])), Some(expected));
    };
    let not_blue = r#"{"matchExpressions":[{"key":"team","operator":"NotIn","values":["blue"]}]}"#;
    check_selector(&world, "null", ["", "", ""]);
    check_selector(&world, "{}", [ANTI, ANTI, ""]);
    check_selector(&world, r#"{"matchLabels":{"team":"blue"}}"#, [ANTI, "", ""]);
    check_selector(&world, r#"{"matchExpressions":[{"key":"team","operator":"Exists"}]}"#, [ANTI, ANTI, ""]);
    // Matched without namespace labels, `NotIn` excludes no namespace.
    check_selector(&world, not_blue, [ANTI, ANTI, ""]);
    for (release, expected) in [("v1.34.1", [ANTI, ANTI, ""]), ("v1.33.0", ["", ANTI, ""]), ("v1.22.6", ["", ANTI, ""])] {
        world.emulation = crate::release::Profile::named(release).expect("an emulated release").into();
        check_selector(&world, not_blue, expected);
        check_selector(&world, "{}", [ANTI, ANTI, ""]);
    }
}

#[test]
fn namespace_selectors_of_existing_pods_see_the_real_labels() {
    let rest = r#","namespaceSelector":{"matchExpressions":[{"key":"team","operator":"NotIn","values":["blue"]}]}"#;
    let against = apart(&[term(IS_WEB, "zone", rest)]);
    let world = world([vec![pod_in("x", "x", "{}", &against)], vec![], vec![]], &[("blue", r#"{"team":"blue"}"#), ("red", "{}")]);
    check(&world, pod_in("blue", "p", WEB, "{}"), None);
    check(&world, pod_in("red", "p", WEB, "{}"), Some([EXISTING, "", ""]));
    check(&world, pod_in("unknown", "p", WEB, "{}"), Some([EXISTING, "", ""]));
}

#[test]
fn adding_and_removing_pods_changes_only_the_clone() {
    let against = apart(&[term(IS_WEB, "zone", "")]);
    let both = format!(
        r#"{{"podAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}},"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}}"#,
        term(r#"{"matchLabels":{"group":"1"}}"#, "zone", ""),
        term(r#"{"matchLabels":{"app":"db"}}"#, "zone", ""),
    );
    let member = pod("member", r#"{"group":"1"}"#, "{}");
    let hater = pod("hater", "{}", &against);
    let db = pod("db", r#"{"app":"db"}"#, "{}");
    let world = world([vec![member.clone(), db.clone(), hater.clone()], vec![], vec![]], &[]);
    let (incoming, mut state) = (info(pod("p", r#"{"app":"web","group":"1"}"#, &both)), CycleState::default());
    let plugin = InterPodAffinity::default();
    assert!(PreFilterPlugin::pre_filter(&plugin, &world.cx(), &mut state, &incoming).1.is_success());
    assert!(plugin.has_extensions(world.cx().emulation));
    assert_eq!(statuses(&world, &state, &incoming), [ANTI, AFFINITY, AFFINITY]);
    let mut dry_run = state.clone();
    let mut step = |pod: &Pod, node: usize, add: bool, expected: [&str; 3]| {
        let (updated, node) = (info(pod.clone()), &world.nodes()[node]);
        let update = if add { PreFilterPlugin::add_pod } else { PreFilterPlugin::remove_pod };
        assert!(update(&plugin, &world.cx(), &mut dry_run, &incoming, &updated, node).is_success());
        assert_eq!(statuses(&world, &dry_run, &incoming), expected);
    };
    step(&db, 0, false, [EXISTING, AFFINITY, AFFINITY]);
    step(&hater, 0, false, ["", AFFINITY, AFFINITY]);
    // Without a matching pod the exception for the first pod holds, until one is added again.
    step(&member, 0, false, ["", "", AFFINITY]);
    step(&member, 1, true, [AFFINITY, "", AFFINITY]);
    step(&hater, 1, true, [AFFINITY, EXISTING, AFFINITY]);
    step(&db, 1, true, [AFFINITY, ANTI, AFFINITY]);
    step(&db, 2, true, [AFFINITY, ANTI, AFFINITY]);
    assert_eq!(statuses(&world, &state, &incoming), [ANTI, AFFINITY, AFFINITY]);
}

#[test]
fn terms_that_do_not_parse_reject_the_pod() {
    let odd = r#"{"matchExpressions":[{"key":"a","operator":"Odd"}]}"#;
    let pod = info(pod("p", "{}", &near(&[term(odd, "zone", "")])));
    let (_, status) = PreFilterPlugin::pre_filter(
        &InterPodAffinity::default(),
        &world([vec![], vec![], vec![]], &[]).cx(),
        &mut CycleState::default(),
        &pod,
    );
    let expected = r#"parsing pod: requiredAffinityTerms: "Odd" is not a valid label selector operator"#;
    assert_eq!((status.code(), status.message().as_str()), (Code::UnschedulableAndUnresolvable, expected));
}

#[test]
fn without_state_everything_is_an_error() {
    let (world, plugin) = (world([vec![], vec![], vec![]], &[]), InterPodAffinity::default());
    let (pod, node) = (info(pod("p", "{}", "{}")), &world.nodes()[0]);
    let mut state = CycleState::default();
    assert_eq!(FilterPlugin::filter(&plugin, &world.cx(), &state, &pod, node), Status::error(NO_STATE));
    assert_eq!(plugin.add_pod(&world.cx(), &mut state, &pod, &pod, node), Status::error(NO_STATE));
    assert_eq!(plugin.remove_pod(&world.cx(), &mut state, &pod, &pod, node), Status::error(NO_STATE));
}

#[test]
fn many_nodes_count_as_few_do() {
    let nodes = (0..1000).map(|i| {
        let labels = format!(r#"{{"zone":"z{}","host":"n{i}"}}"#, i % 10);
        (node(&format!("n{i}"), &labels), if i % 7 == 0 { vec![pod(&format!("w{i}"), WEB, "{}")] } else { vec![] })
    });
    let world = World::new(nodes.collect(), []);
    let incoming = info(pod("p", "{}", &apart(&[term(IS_WEB, "host", "")])));
    let mut state = CycleState::default();
    assert!(PreFilterPlugin::pre_filter(&InterPodAffinity::default(), &world.cx(), &mut state, &incoming).1.is_success());
    let failing: Vec<bool> = statuses(&world, &state, &incoming).iter().map(|s| s == ANTI).collect();
    assert_eq!(failing, (0..1000).map(|i| i % 7 == 0).collect::<Vec<_>>());
}
