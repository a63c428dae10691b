//! `PreScore` and Score of `InterPodAffinity`; mirrors `pkg/scheduler/framework/plugins/interpodaffinity/scoring.go`.

use std::sync::Arc;

use super::domains::Domains;
use super::{InterPodAffinity, merge_namespaces, namespace_labels};
use crate::cluster::Labels;
use crate::framework::{AffinityTerm, Context, CycleState, MAX_NODE_SCORE, NodeInfo, PodInfo, PreScorePlugin, ScorePlugin, Status};
use crate::release::{AffinityRange, IdleScores};

const NO_STATE: &str = "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found";

/// Sums of weights by domain.
#[derive(Clone, Debug)]
struct PreScoreState {
    topology_score: Arc<Domains>,
}

/// Sums the weights of the incoming pod's preferred terms that match existing pods, and of existing pods' terms that
/// match it.
fn topology_score(cx: &Context<'_>, pod: &PodInfo, has_preferences: bool, hard_pod_affinity_weight: i32) -> Domains {
    let mut scores = Domains::default();
    let pods = cx.snapshot.pods();
    let affinity = pod.preferred_affinity().iter().map(|t| (t, 1));
    let anti_affinity = pod.preferred_anti_affinity().iter().map(|t| (t, -1));
    let unknown = Labels::default();
    for (own, sign) in affinity.chain(anti_affinity) {
        let term = merge_namespaces(cx.cluster, cx.emulation, &own.term);
        let matching = pods.count(term.wanted_bits(), |p| term.matches(&p.pod, &unknown));
        scores.add_counts(cx.snapshot, &term.topology_key, matching, sign * i64::from(own.weight));
    }
    let namespace_labels = namespace_labels(cx.cluster, &pod.pod.metadata.namespace);
    // A pod with preferences is compared with the pods of all nodes, others with those of the listed nodes.
    for (existing, nodes) in pods.with_affinity_to(pod.bits(), !has_preferences) {
        let mut add = |term: &AffinityTerm, weight: i64| {
            if term.matches(&pod.pod, &namespace_labels) {
                scores.add_counts(cx.snapshot, &term.topology_key, nodes.clone(), weight);
            }
        };
        if hard_pod_affinity_weight > 0 {
            for term in existing.required_affinity() {
                add(term, i64::from(hard_pod_affinity_weight));
            }
        }
        for theirs in existing.preferred_affinity() {
            add(&theirs.term, i64::from(theirs.weight));
        }
        for theirs in existing.preferred_anti_affinity() {
            add(&theirs.term, -i64::from(theirs.weight));
        }
    }
    scores
}

impl PreScorePlugin for InterPodAffinity {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        let affinity = pod.pod.spec.affinity.as_ref();
        let stanzas = affinity.iter().flat_map(|a| [&a.pod_affinity, &a.pod_anti_affinity]).flatten();
        let has_preferences = stanzas.into_iter().any(|a| !a.preferred.is_empty());
        let keeps_idle = cx.emulation.behaviour().idle_scores == IdleScores::Kept;
        if self.args.ignore_preferred_terms_of_existing_pods && !has_preferences {
            if !keeps_idle {
                return Status::skip();
            }
            state.write(PreScoreState { topology_score: Arc::default() });
            return Status::success();
        }
        if let Some(error) = pod.parse_error() {
            return Status::error(format!("failed to parse pod: {error}"));
        }
        let topology_score = topology_score(cx, pod, has_preferences, self.args.hard_pod_affinity_weight);
        if topology_score.is_empty() && !keeps_idle {
            return Status::skip();
        }
        state.write(PreScoreState { topology_score: Arc::new(topology_score) });
        Status::success()
    }
}

impl ScorePlugin for InterPodAffinity {
    fn score(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let state = state.read::<PreScoreState>().ok_or_else(|| Status::error(NO_STATE))?;
        Ok(state.topology_score.sum(&node.node.metadata.labels))
    }

    fn normalize(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        if state.read::<PreScoreState>().is_none() {
            return Status::error(NO_STATE);
        }
        normalize_in_range(cx.emulation.behaviour().affinity_range, scores);
        Status::success()
    }
}

/// Scales raw scores of InterPodAffinity to 0..=100 between their lowest and highest.
pub fn normalize_in_range(range: AffinityRange, scores: &mut [i64]) {
    let mut lowest = scores.iter().copied().min().unwrap_or(0);
    let mut highest = scores.iter().copied().max().unwrap_or(0);
    if range == AffinityRange::WithZero {
        (lowest, highest) = (lowest.min(0), highest.max(0));
    }
    let spread = highest - lowest;
    for score in scores {
        // Upstream divides before scaling and then truncates: 29 of 100 gives 28.
        let share = if spread > 0 { (*score - lowest) as f64 / spread as f64 } else { 0.0 };
        *score = (MAX_NODE_SCORE as f64 * share) as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::InterPodAffinityArgs;
    use super::super::testing::{World, info, node, pod, pod_in};
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
        World::new(nodes.map(|(i, (pods, labels))| (node(&format!("n{i}"), labels), pods)).collect(), &[("default", r#"{"team":"x"}"#)])
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
        let odd = format!("{{{}}}", preferred("podAffinity", 1, "zone", ""))
            .replace(r#""matchLabels":{"app":"web"}"#, r#""matchLabels":{"":"web"}"#);
        let status = plugin.pre_score(&world.cx(), &mut state, &info(pod("p", "{}", &odd)), &world.nodes().to_vec());
        assert!(
            status.is_error() && status.message().starts_with("failed to parse pod: preferredAffinityTerms: key: Invalid value: \"\": ")
        );
    }
}
