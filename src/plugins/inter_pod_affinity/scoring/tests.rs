//! Tests of `scoring`.

use super::super::InterPodAffinityArgs;
use super::super::testing::{World, info, namespaces, node, pod, pod_in};
use super::*;
use crate::cluster::Pod;

const WEB: &str = r#"{"app":"web"}"#;

fn preferred(stanza: &str, weight: i32, key: &str, rest: &str) -> String {
    format!(
        r#""{stanza}":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{weight},"podAffinityTerm":{{"labelSelector":{{"matchLabels":{{"app":"web"}}}},"topologyKey":"{key}"{rest}}}}}]}}"#
    )
}

fn world(pods: [Vec<Pod>; 3]) -> World {
    let labels = [r#"{"zone":"a","rack":"1"}"#, r#"{"zone":"b","rack":"1"}"#, r#"{"rack":"2"}"#];
    let nodes = pods.into_iter().zip(labels).enumerate();
    World::new(
        nodes.map(|(i, (pods, labels))| (node(&format!("n{i}"), labels), pods)).collect(),
        namespaces(&[("default", r#"{"team":"x"}"#)]),
    )
}

/// Checks the raw scores of the three nodes, or that `PreScore` skips if `None`.
#[track_caller]
fn check(args: &InterPodAffinityArgs, world: &World, pod: Pod, expected: Option<[i64; 3]>) {
    let (plugin, pod, mut state) = (InterPodAffinity::new(args.clone()), info(pod), CycleState::default());
    let status = plugin.pre_score(&world.cx(), &mut state, &pod, &world.nodes().to_vec());
    match expected {
        None => assert!(status.is_skip(), "{status}"),
        Some(expected) => {
            assert!(status.is_success(), "{status}");
            let scores: Vec<i64> =
                world.nodes().iter().map(|n| ScorePlugin::score(&plugin, &world.cx(), &state, &pod, n).unwrap()).collect();
            assert_eq!(scores, expected);
        }
    }
}

#[test]
fn own_preferences_weigh_every_pod() {
    let args = InterPodAffinityArgs::default();
    let world = world([vec![pod("w", WEB, "{}"), pod("v", WEB, "{}")], vec![pod("d", "{}", "{}")], vec![pod("u", WEB, "{}")]]);
    let own = |stanza: &str, key: &str, rest: &str| pod("p", "{}", &format!("{{{}}}", preferred(stanza, 5, key, rest)));
    check(&args, &world, own("podAffinity", "zone", ""), Some([10, 0, 0]));
    check(&args, &world, own("podAntiAffinity", "zone", ""), Some([-10, 0, 0]));
    check(&args, &world, own("podAffinity", "rack", ""), Some([10, 10, 5]));
    check(&args, &world, own("podAffinity", "nowhere", ""), None);
    check(&args, &world, own("podAffinity", "zone", r#","namespaces":["other"]"#), None);
    check(&args, &world, own("podAffinity", "zone", r#","namespaceSelector":{"matchLabels":{"team":"x"}}"#), Some([10, 0, 0]));
    let both = format!("{{{},{}}}", preferred("podAffinity", 5, "zone", ""), preferred("podAntiAffinity", 5, "zone", ""));
    // Sums of 0 are still scored.
    check(&args, &world, pod("p", "{}", &both), Some([0, 0, 0]));
}

#[test]
fn terms_of_existing_pods_weigh_the_incoming_pod() {
    let like = format!("{{{}}}", preferred("podAffinity", 3, "zone", ""));
    let dislike = format!("{{{}}}", preferred("podAntiAffinity", 4, "zone", ""));
    let need = like.replace("preferred", "required").replace(r#"{"weight":3,"podAffinityTerm":"#, "").replacen("}}]", "}]", 1);
    let pods = || [vec![pod("l", "{}", &like)], vec![pod("d", "{}", &dislike)], vec![]];
    let args = InterPodAffinityArgs::default();
    check(&args, &world(pods()), pod("p", WEB, "{}"), Some([3, -4, 0]));
    check(&args, &world(pods()), pod("p", "{}", "{}"), None);
    check(&args, &world(pods()), pod_in("other", "p", WEB, "{}"), None);
    let needing = || world([vec![pod("n", "{}", &need)], vec![], vec![]]);
    assert_eq!(info(pod("n", "{}", &need)).required_affinity().len(), 1);
    check(&args, &needing(), pod("p", WEB, "{}"), Some([1, 0, 0]));
    let weight = |hard_pod_affinity_weight| InterPodAffinityArgs { hard_pod_affinity_weight, ..InterPodAffinityArgs::default() };
    check(&weight(40), &needing(), pod("p", WEB, "{}"), Some([40, 0, 0]));
    check(&weight(0), &needing(), pod("p", WEB, "{}"), None);
    let ignoring = InterPodAffinityArgs { ignore_preferred_terms_of_existing_pods: true, ..InterPodAffinityArgs::default() };
    check(&ignoring, &world(pods()), pod("p", WEB, "{}"), None);
    // With preferred terms of its own, those of other pods count again.
    let own = format!("{{{}}}", preferred("podAffinity", 1, "rack", ""));
    check(&ignoring, &world(pods()), pod("p", WEB, &own), Some([3, -4, 0]));
}

#[test]
fn normalising_divides_first_and_cuts_off() {
    let world = world([vec![], vec![], vec![]]);
    let (plugin, pod, mut state) = (InterPodAffinity::default(), info(pod("p", "{}", "{}")), CycleState::default());
    state.write(PreScoreState { topology_score: Arc::default() });
    let check = |raw: &[i64], expected: &[i64]| {
        let mut scores = raw.to_vec();
        assert!(plugin.normalize(&world.cx(), &state, &pod, &world.nodes().to_vec(), &mut scores).is_success());
        assert_eq!(scores, expected);
    };
    check(&[0, 29, 100], &[0, 28, 100]);
    check(&[-5, 0, 5], &[0, 50, 100]);
    check(&[7, 7], &[0, 0]);
    check(&[], &[]);
}

#[test]
fn missing_state_and_unparsable_terms_are_errors() {
    let world = world([vec![], vec![], vec![]]);
    let (plugin, mut state) = (InterPodAffinity::default(), CycleState::default());
    let plain = info(pod("p", "{}", "{}"));
    assert_eq!(ScorePlugin::score(&plugin, &world.cx(), &state, &plain, &world.nodes()[0]), Err(Status::error(NO_STATE)));
    assert_eq!(plugin.normalize(&world.cx(), &state, &plain, &[], &mut []), Status::error(NO_STATE));
    let odd =
        format!("{{{}}}", preferred("podAffinity", 1, "zone", "")).replace(r#""matchLabels":{"app":"web"}"#, r#""matchLabels":{"":"web"}"#);
    let status = plugin.pre_score(&world.cx(), &mut state, &info(pod("p", "{}", &odd)), &world.nodes().to_vec());
    assert!(status.is_error() && status.message().starts_with("failed to parse pod: preferredAffinityTerms: key: Invalid value: \"\": "));
}
