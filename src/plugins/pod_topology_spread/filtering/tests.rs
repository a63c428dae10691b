use super::super::testing::{World, info, node, pod};
use super::*;
use crate::framework::Code;

const SKEW: &str = "node(s) didn't match pod topology spread constraints";
const LABEL: &str = "node(s) didn't match pod topology spread constraints (missing required label)";
const WEB: &str = r#"{"app":"web"}"#;
const IS_WEB: &str = r#""labelSelector":{"matchLabels":{"app":"web"}}"#;

fn hard(max_skew: i32, key: &str, rest: &str) -> String {
    format!(r#"{{"maxSkew":{max_skew},"topologyKey":"{key}","whenUnsatisfiable":"DoNotSchedule",{rest}}}"#)
}

fn web(number: usize) -> Vec<Pod> {
    (0..number).map(|i| pod(&format!("w{i}"), WEB, "[]")).collect()
}

/// Makes `n0` and `n1` in zone a, `n2` in zone b and `n3` without a zone, with the given number of web pods.
fn world(pods: [usize; 4]) -> World {
    let labels = [r#"{"zone":"a","host":"0"}"#, r#"{"zone":"a","host":"1"}"#, r#"{"zone":"b","host":"2"}"#, r#"{"host":"3"}"#];
    let nodes = labels.iter().zip(pods).enumerate().map(|(i, (labels, pods))| (node(&format!("n{i}"), labels), web(pods)));
    World::new(nodes.collect(), [])
}

fn statuses(world: &World, state: &CycleState, pod: &PodInfo) -> Vec<String> {
    let filter = |n: &Arc<NodeInfo>| FilterPlugin::filter(&PodTopologySpread::default(), &world.cx(), state, pod, n);
    world.nodes().iter().map(|n| filter(n).message()).collect()
}

#[test]
fn constraints_with_one_key_share_their_counts_in_earlier_releases() {
    let pod = info(pod(
        "p",
        WEB,
        &format!("[{},{}]", hard(1, "zone", IS_WEB), hard(1, "zone", r#""labelSelector":{"matchLabels":{"app":"db"}}"#)),
    ));
    let mut world = world([2, 1, 1, 0]);
    assert_eq!(statuses(&world, &pre_filter(&world, &pod), &pod), [SKEW, SKEW, "", LABEL]);
    // The last constraint counts no node's pods.
    world.emulation = crate::release::Profile::named("v1.32.2").expect("an emulated release").into();
    assert_eq!(statuses(&world, &pre_filter(&world, &pod), &pod), ["", "", "", LABEL]);
}

#[test]
fn up_to_v1_23_pods_count_on_all_nodes_of_a_domain_and_constraints_with_one_key_add_up() {
    let is_db = r#""labelSelector":{"matchLabels":{"app":"db"}}"#;
    let affinity = r#"{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
            {"matchExpressions":[{"key":"host","operator":"In","values":["0","2"]}]}]}}}"#;
    let mut world = world([0, 3, 1, 0]);
    let mut check = |version: &str, constraints: &[String], expected: [&str; 4]| {
        let mut pod = pod("p", WEB, &format!("[{}]", constraints.join(",")));
        Arc::make_mut(&mut pod.spec).affinity = serde_json::from_str(affinity).unwrap();
        let pod = info(pod);
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        assert_eq!(statuses(&world, &pre_filter(&world, &pod), &pod), expected, "{version}");
    };
    // The pod may go to n0 and n2; n1 is in the zone of n0.
    let one = [hard(1, "zone", IS_WEB)];
    check("v1.24.4", &one, ["", "", SKEW, LABEL]);
    check("v1.22.6", &one, [SKEW, SKEW, "", LABEL]);
    let two = [hard(1, "zone", IS_WEB), hard(1, "zone", is_db)];
    check("v1.24.4", &two, ["", "", "", LABEL]);
    check("v1.22.6", &two, [SKEW, SKEW, "", LABEL]);
}

#[track_caller]
fn pre_filter(world: &World, pod: &PodInfo) -> CycleState {
    let mut state = CycleState::default();
    let (_, status) = PreFilterPlugin::pre_filter(&PodTopologySpread::default(), &world.cx(), &mut state, pod);
    assert!(status.is_success(), "{status}");
    state
}

#[track_caller]
fn check(world: &World, labels: &str, constraints: &[String], expected: [&str; 4]) {
    let pod = info(pod("p", labels, &format!("[{}]", constraints.join(","))));
    assert_eq!(statuses(world, &pre_filter(world, &pod), &pod), expected);
}

#[test]
fn skew_counts_pods_by_domain_and_the_pod_itself() {
    check(&world([1, 1, 1, 0]), WEB, &[hard(1, "zone", IS_WEB)], [SKEW, SKEW, "", LABEL]);
    check(&world([1, 1, 1, 0]), WEB, &[hard(2, "zone", IS_WEB)], ["", "", "", LABEL]);
    // An incoming pod that the selector does not match adds nothing.
    check(&world([1, 1, 1, 0]), "{}", &[hard(1, "zone", IS_WEB)], ["", "", "", LABEL]);
    check(&world([1, 0, 2, 5]), WEB, &[hard(1, "host", IS_WEB)], [SKEW, "", SKEW, SKEW]);
    // A node without the zone counts for neither constraint: by host the lowest count is 1, not the 0 of the last
    // node.
    check(&world([1, 1, 2, 0]), WEB, &[hard(1, "host", IS_WEB), hard(1, "zone", IS_WEB)], ["", "", SKEW, LABEL]);
    check(&world([1, 0, 0, 0]), WEB, &[hard(2, "host", IS_WEB), hard(1, "zone", IS_WEB)], [SKEW, SKEW, "", LABEL]);
    check(&world([3, 3, 3, 3]), WEB, &[hard(1, "nowhere", IS_WEB)], [LABEL; 4]);
}

#[test]
fn fewer_domains_than_asked_for_count_as_an_empty_one() {
    check(&world([1, 0, 1, 0]), WEB, &[hard(1, "zone", &format!(r#"{IS_WEB},"minDomains":2"#))], ["", "", "", LABEL]);
    check(&world([1, 0, 1, 0]), WEB, &[hard(1, "zone", &format!(r#"{IS_WEB},"minDomains":3"#))], [SKEW, SKEW, SKEW, LABEL]);
    check(&world([1, 0, 1, 0]), WEB, &[hard(2, "zone", &format!(r#"{IS_WEB},"minDomains":3"#))], ["", "", "", LABEL]);
}

#[test]
fn absent_and_empty_selectors() {
    check(&world([3, 0, 0, 0]), WEB, &[hard(1, "zone", r#""labelSelector":null"#)], ["", "", "", LABEL]);
    // The empty selector counts no pod but the incoming one.
    check(&world([3, 0, 0, 0]), WEB, &[hard(1, "zone", r#""labelSelector":{}"#)], ["", "", "", LABEL]);
    let zero = hard(1, "zone", r#""labelSelector":{}"#).replace(r#""maxSkew":1"#, r#""maxSkew":0"#);
    check(&world([3, 0, 0, 0]), WEB, &[zero], [SKEW, SKEW, SKEW, LABEL]);
}

#[test]
fn nodes_left_out_by_policy_are_no_domain() {
    let world = world([1, 0, 0, 0]);
    let constraint = hard(1, "zone", IS_WEB);
    let mut on_a = pod("p", WEB, &format!("[{constraint}]"));
    on_a.spec_mut().node_selector = serde_json::from_str(r#"{"zone":"a"}"#).unwrap();
    let on_a = info(on_a);
    // Zone b is not a domain, so the lowest count is zone a's; zone b's count is 0.
    assert_eq!(statuses(&world, &pre_filter(&world, &on_a), &on_a), ["", "", "", LABEL]);
    let mut any = pod("p", WEB, &format!("[{}]", hard(1, "zone", &format!(r#"{IS_WEB},"nodeAffinityPolicy":"Ignore""#))));
    any.spec_mut().node_selector = serde_json::from_str(r#"{"zone":"a"}"#).unwrap();
    let any = info(any);
    assert_eq!(statuses(&world, &pre_filter(&world, &any), &any), [SKEW, SKEW, "", LABEL]);
}

#[test]
fn adding_and_removing_pods_changes_only_the_clone() {
    let world = world([2, 0, 1, 0]);
    let incoming = info(pod("p", WEB, &format!("[{}]", hard(1, "zone", IS_WEB))));
    let state = pre_filter(&world, &incoming);
    let plugin = PodTopologySpread::default();
    assert!(plugin.has_extensions(world.cx().emulation));
    let mut dry_run = state.clone();
    let mut step = |updated: &Pod, node: usize, add: bool, expected: [&str; 4]| {
        let update = if add { PreFilterPlugin::add_pod } else { PreFilterPlugin::remove_pod };
        assert!(update(&plugin, &world.cx(), &mut dry_run, &incoming, &info(updated.clone()), &world.nodes()[node]).is_success());
        assert_eq!(statuses(&world, &dry_run, &incoming), expected);
    };
    let w = pod("w0", WEB, "[]");
    let mut elsewhere = w.clone();
    elsewhere.metadata.namespace = "elsewhere".into();
    let mut terminating = w.clone();
    terminating.metadata.deletion_timestamp = Some(jiff::Timestamp::UNIX_EPOCH);
    step(&elsewhere, 0, false, [SKEW, SKEW, "", LABEL]);
    step(&pod("d", r#"{"app":"db"}"#, "[]"), 0, false, [SKEW, SKEW, "", LABEL]);
    step(&w, 3, false, [SKEW, SKEW, "", LABEL]);
    step(&terminating, 0, false, ["", "", "", LABEL]);
    step(&w, 1, false, ["", "", SKEW, LABEL]);
    step(&w, 0, true, ["", "", "", LABEL]);
    step(&w, 0, true, [SKEW, SKEW, "", LABEL]);
    assert_eq!(statuses(&world, &state, &incoming), [SKEW, SKEW, "", LABEL]);
}

#[test]
fn removing_counts_for_an_empty_selector() {
    let world = world([1, 0, 1, 0]);
    let incoming = info(pod("p", WEB, &format!("[{}]", hard(1, "zone", r#""labelSelector":{}"#))));
    let mut state = pre_filter(&world, &incoming);
    let (plugin, gone) = (PodTopologySpread::default(), info(pod("x", "{}", "[]")));
    assert!(plugin.remove_pod(&world.cx(), &mut state, &incoming, &gone, &world.nodes()[0]).is_success());
    assert_eq!(statuses(&world, &state, &incoming), ["", "", SKEW, LABEL]);
}

#[test]
fn a_domain_that_policy_left_out_stays_out_and_a_new_one_comes_in() {
    let world = world([1, 0, 0, 0]);
    let rest = format!(r#"{IS_WEB},"minDomains":3"#);
    let incoming = info(pod("p", WEB, &format!("[{}]", hard(1, "zone", &rest))));
    let mut state = pre_filter(&world, &incoming);
    let mut fresh = NodeInfo::new(Arc::new(node("n9", r#"{"zone":"c"}"#)));
    fresh.add_pod(Arc::new(info(pod("w9", WEB, "[]"))));
    let plugin = PodTopologySpread::default();
    assert_eq!(statuses(&world, &state, &incoming), [SKEW, SKEW, "", LABEL]);
    assert!(plugin.add_pod(&world.cx(), &mut state, &incoming, &info(pod("w9", WEB, "[]")), &fresh).is_success());
    let status = FilterPlugin::filter(&plugin, &world.cx(), &state, &incoming, &fresh);
    assert_eq!((status.code(), status.message().as_str()), (Code::Unschedulable, SKEW));
    assert_eq!(status.fact().as_deref(), Some("zone=c would have 2 matching pods, 0 the fewest: skew 2 > 1"));
}

#[test]
fn skips_errors_and_missing_state() {
    let (world, plugin) = (world([0; 4]), PodTopologySpread::default());
    let run = |constraints: &str| {
        PreFilterPlugin::pre_filter(&plugin, &world.cx(), &mut CycleState::default(), &info(pod("p", WEB, constraints))).1
    };
    assert!(run("[]").is_skip());
    assert!(run(r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]"#).is_skip());
    let odd = format!("[{}]", hard(1, "zone", r#""labelSelector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}"#));
    let expected =
        r#"get constraints from pod: obtaining pod's hard topology spread constraints: "Odd" is not a valid label selector operator"#;
    assert_eq!(run(&odd), Status::error(expected));
    let (pod, mut state) = (info(pod("p", WEB, "[]")), CycleState::default());
    assert_eq!(FilterPlugin::filter(&plugin, &world.cx(), &state, &pod, &world.nodes()[0]), Status::error(NO_STATE));
    assert_eq!(plugin.add_pod(&world.cx(), &mut state, &pod, &pod, &world.nodes()[0]), Status::error(NO_STATE));
    assert_eq!(plugin.remove_pod(&world.cx(), &mut state, &pod, &pod, &world.nodes()[0]), Status::error(NO_STATE));
}

#[test]
fn many_nodes_count_as_few_do() {
    let nodes = (0..1000).map(|i| (node(&format!("n{i}"), &format!(r#"{{"host":"{i}"}}"#)), web(usize::from(i % 3 == 0))));
    let world = World::new(nodes.collect(), []);
    let incoming = info(pod("p", WEB, &format!("[{}]", hard(1, "host", IS_WEB))));
    let failing: Vec<bool> = statuses(&world, &pre_filter(&world, &incoming), &incoming).iter().map(|s| s == SKEW).collect();
    assert_eq!(failing, (0..1000).map(|i| i % 3 == 0).collect::<Vec<_>>());
}
