use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::admission::Policies;
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Kind, Object};
use crate::release::Emulation;
use crate::scheduler::{Config, Options};
use crate::whatif::Rehearsal;
use crate::whatif::testing::{node, object, pod, pod_with};

fn stage(objects: Vec<Object>) -> Rehearsal {
    Rehearsal::new(Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default()))
}

static NEIGHBORS: std::sync::LazyLock<Neighbors> = std::sync::LazyLock::new(Neighbors::default);

/// A source without objects beside those of the cluster.
fn none() -> LiveObjects<'static> {
    LiveObjects { neighbors: &NEIGHBORS, originals: &|_, _| None }
}

fn template(cpu: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}})
}

fn workload(kind: &str, name: &str, spec: &Value) -> Value {
    let mut value = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "d"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template("1")}});
    crate::whatif::testing::merge(&mut value, &json!({"spec": spec}));
    value
}

fn applied(stage: &mut Rehearsal, objects: &[Value], request: &ManifestRequest) -> ManifestAnswer {
    let admission = Admission::new(Policies::default(), Emulation::default());
    let objects: Vec<&Value> = objects.iter().collect();
    apply_manifest(stage, &objects, admission, request, none()).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Returns the numbers of pods that are placed, pending, refused and not made.
fn numbers(answer: &ManifestAnswer) -> [u64; 4] {
    let placed = answer.pods.iter().filter(|pod| matches!(pod.end, ManifestPodEnd::Placed { .. })).count();
    let refused = answer.refused.iter().map(|refused| refused.count).sum();
    let not_made = answer.not_made.iter().map(|not| not.count).sum();
    [placed as u64, (answer.pods.len() - placed) as u64, refused, not_made]
}

#[test]
fn replicas_are_placed_as_far_as_nodes_have_room_and_evict_pods_of_lower_priority() {
    let low = |name: &str| pod_with(name, "n1", "", &json!({"spec": {"priority": -5}}));
    let class = object(Kind::PriorityClass, &json!({"metadata": {"name": "high"}, "value": 10}));
    let mut stage = stage(vec![node("n1", 4, "a"), node("n2", 4, "b"), low("b1"), low("b2"), class]);
    let mut web = workload("Deployment", "web", &json!({"replicas": 10}));
    web["spec"]["template"]["spec"]["priorityClassName"] = json!("high");
    let answer = applied(
        &mut stage,
        &[web, json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})],
        &ManifestRequest::default(),
    );
    assert_eq!(numbers(&answer), [8, 2, 0, 0]);
    let victims: Vec<String> = answer.victims.iter().map(|victim| format!("{} {}", victim.pod.name, victim.node)).collect();
    assert_eq!(
        (victims, answer.skipped.get("ConfigMap"), answer.is_complete()),
        (vec!["b2 n1".to_owned(), "b1 n1".into()], Some(&1), false)
    );
    assert!(answer.victims.iter().all(|victim| !victim.made_again), "bare pods are gone");
    let said = crate::report::ManifestReport::new(answer.clone(), stage.scheduler()).answer().plain(crate::output::Headings::Colon);
    assert!(said.into_vec().join("\n").contains("  priority 10, of PriorityClass high"));
    let of_set = stage.scheduler().state().cluster().replica_sets.iter().next().unwrap().metadata.controller().unwrap().name.clone();
    assert_eq!(of_set, "web");
}

#[test]
fn a_class_of_which_it_is_unknown_whether_it_exists_refuses_no_pod() {
    let mut options = Options::default();
    options.unknown.absent.insert(Kind::PriorityClass);
    let mut stage = Rehearsal::new(Scheduler::new(Config::defaults(Emulation::default()), vec![node("n1", 4, "a")], options));
    let mut web = workload("Deployment", "web", &json!({"replicas": 2}));
    web["spec"]["template"]["spec"]["priorityClassName"] = json!("gold");
    let answer = applied(&mut stage, &[web], &ManifestRequest::default());
    assert_eq!((numbers(&answer), answer.notes), ([2, 0, 0, 0], vec![Note::UnknownPriorityClass("gold".into())]));
}

#[test]
fn objects_of_a_manifest_count_for_its_pods() {
    let mut stage = stage(vec![]);
    let nodes =
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "9", "pods": "9"}}});
    let quota =
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "d"}, "spec": {"hard": {"pods": "2"}}});
    let answer = applied(&mut stage, &[workload("Deployment", "web", &json!({"replicas": 5})), nodes, quota], &ManifestRequest::default());
    assert_eq!(numbers(&answer), [2, 0, 3, 0]);
    let text = answer.refused[0].refusal.to_string();
    assert!(text.ends_with("is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"), "{text}");
}

#[test]
fn a_stateful_set_waits_for_the_pod_before_and_makes_its_claims() {
    let class = object(
        Kind::StorageClass,
        &json!({"metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "p", "volumeBindingMode": "WaitForFirstConsumer"}),
    );
    let mut stage = stage(vec![node("n1", 2, "a"), class]);
    let claims = json!([{"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}]);
    let set = workload("StatefulSet", "db", &json!({"replicas": 5, "volumeClaimTemplates": claims}));
    let answer = applied(&mut stage, &[set], &ManifestRequest::default());
    assert_eq!(numbers(&answer), [2, 1, 0, 2]);
    assert_eq!(answer.not_made[0].why, WhyNotMade::Ordered(Key::new("d", "db-2")));
    let claim = stage.scheduler().state().cluster().persistent_volume_claims.namespaced(&"d".into(), &"data-db-0".into()).unwrap().clone();
    assert_eq!(claim.spec.storage_class_name.as_deref(), Some("fast"));
}

#[test]
fn a_daemon_set_without_an_eligible_node_says_so() {
    let said = |selector: &Value| {
        let mut stage = stage(vec![node("n1", 2, "a")]);
        let mut set = workload("DaemonSet", "agent", &json!({}));
        set["spec"]["template"]["spec"]["nodeSelector"] = selector.clone();
        let answer = applied(&mut stage, &[set], &ManifestRequest::default());
        let text = crate::report::ManifestReport::new(answer, stage.scheduler()).answer().plain(crate::output::Headings::Colon);
        text.into_vec().join("\n")
    };
    let none = said(&json!({"gpu": "yes"}));
    assert!(none.contains("0 wanted, since its node selector, affinity and tolerations leave out every node"), "{none}");
    assert!(!said(&json!({})).contains("leave out"));
}

/// The pods of a Deployment's ReplicaSet in the cluster, as its controller made them from [`template`].
fn running(count: usize, node: &str) -> Vec<Object> {
    let set = json!({"metadata": {"name": "web-1", "namespace": "d", "uid": "rs",
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": true}]},
        "spec": {"selector": {"matchLabels": {"app": "web"}}}});
    let of = |at: usize| {
        let more = json!({"metadata": {"labels": {"app": "web", "pod-template-hash": "1"}}, "spec": {"priority": 0}});
        pod_with(&format!("web-1-{at}"), node, "ReplicaSet/web-1", &more)
    };
    std::iter::once(object(Kind::ReplicaSet, &set)).chain((0..count).map(of)).collect()
}

#[test]
fn of_a_workload_that_exists_only_new_pods_are_made() {
    let with = |replicas: u64| {
        let mut objects = running(2, "n1");
        objects.push(node("n1", 3, "a"));
        let mut stage = stage(objects);
        let answer = applied(&mut stage, &[workload("Deployment", "web", &json!({"replicas": replicas}))], &ManifestRequest::default());
        let summary = &answer.workloads[0];
        (summary.change, summary.kept, summary.removed, numbers(&answer))
    };
    assert_eq!(with(2), (ManifestChange::Unchanged, 2, 0, [0, 0, 0, 0]));
    assert_eq!(with(4), (ManifestChange::Scaled, 2, 0, [1, 1, 0, 0]));
    assert_eq!(with(1), (ManifestChange::Scaled, 1, 1, [0, 0, 0, 0]));
}

#[test]
fn a_changed_template_is_rolled_out_with_its_surge() {
    let with = |cpus: u32, strategy: &Value| {
        let mut objects = running(2, "n1");
        objects.push(node("n1", cpus, "a"));
        let mut stage = stage(objects);
        let mut web = workload("Deployment", "web", &json!({"replicas": 2, "strategy": strategy}));
        web["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:2");
        let answer = applied(&mut stage, &[web], &ManifestRequest::default());
        assert_eq!(answer.workloads[0].change, ManifestChange::RolledOut);
        (answer.workloads[0].removed, numbers(&answer))
    };
    let surge = |above: u32, below: u32| json!({"rollingUpdate": {"maxSurge": above, "maxUnavailable": below}});
    assert_eq!(with(3, &surge(1, 0)), (2, [2, 0, 0, 0]), "one beyond the two has room");
    assert_eq!(with(2, &surge(1, 0)), (0, [0, 1, 0, 1]), "it has none, and the old pods stay");
    assert_eq!(with(2, &surge(0, 1)), (2, [2, 0, 0, 0]), "one of the two goes first");
    assert_eq!(with(2, &json!({"type": "Recreate"})), (2, [2, 0, 0, 0]));
}

#[test]
fn names_and_labels_that_no_api_server_accepts_are_refused() {
    let refused = |object: &Value| {
        let admission = Admission::new(Policies::default(), Emulation::default());
        let request = ManifestRequest::default();
        let found = apply_manifest(&mut stage(vec![node("n", 4, "a")]), &[object], admission, &request, none());
        found.err().map(|problem| (problem.object(), problem.to_string()))
    };
    let long = "x".repeat(1025);
    let labels = json!({"template": {"metadata": {"labels": {"app": "web", "long": long}}}});
    for (object, what) in [
        (workload("Deployment", &long, &json!({})), "Deployment has a name"),
        (workload("Deployment", "web", &labels), "Deployment has a label"),
        (json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": long}}), "Namespace has a name"),
    ] {
        assert_eq!(refused(&object), Some((Some(0), format!("{what} of 1025 bytes, which no API server accepts"))));
    }
    assert_eq!(refused(&workload("Deployment", "web", &json!({"replicas": 1}))), None);
}

#[test]
fn capacity_says_what_stops_the_next() {
    let request = ManifestRequest { capacity: true, ..ManifestRequest::default() };
    let web = workload("Deployment", "web", &json!({"replicas": 2}));
    let mut full = stage(vec![node("n1", 4, "a"), node("n2", 4, "b")]);
    let found = applied(&mut full, std::slice::from_ref(&web), &request).capacity.unwrap();
    assert_eq!((found.capacity.fits, found.refused), (6, None));
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "d"}, "spec": {"hard": {"requests.cpu": "5"}}});
    let mut bounded = stage(vec![node("n1", 4, "a"), node("n2", 4, "b")]);
    let found = applied(&mut bounded, &[web.clone(), quota], &request).capacity.unwrap();
    assert_eq!((found.capacity.fits, found.refused.is_some()), (3, true));
    let admission = Admission::new(Policies::default(), Emulation::default());
    let two = apply_manifest(&mut full, &[&web, &web], admission, &request, none());
    assert!(matches!(two, Err(ManifestProblem::SeveralWorkloads(2))));
}

#[test]
fn a_manifest_of_two_billion_replicas_is_bounded() {
    let request = ManifestRequest { most_pods: 20, ..ManifestRequest::default() };
    let both = [workload("Deployment", "web", &json!({"replicas": 2_000_000_000})), workload("DaemonSet", "agent", &json!({}))];
    let answer = applied(&mut stage(vec![node("n1", 4, "a")]), &both, &request);
    assert_eq!(numbers(&answer), [4, 16, 0, 1_999_999_981]);
    assert_eq!(answer.not_made[0].why, WhyNotMade::Limit);
}

#[test]
fn long_pods_of_a_manifest_are_bounded() {
    let long = |kind: &str, length: usize| {
        let mut workload = workload(kind, "web", &json!({"replicas": 5, "podManagementPolicy": "Parallel"}));
        workload["spec"]["template"]["metadata"]["annotations"] = json!({"text": "x".repeat(length)});
        workload
    };
    let request = ManifestRequest { most_bytes: 5 << 10, ..ManifestRequest::default() };
    for kind in ["Deployment", "StatefulSet"] {
        let made = |length: usize| numbers(&applied(&mut stage(vec![node("n1", 9, "a")]), &[long(kind, length)], &request));
        assert_eq!((made(10 << 10), made(7 << 10)), ([2, 0, 0, 3], [5, 0, 0, 0]), "{kind}");
    }
    // The claims of a pod count too.
    let mut claiming = workload("StatefulSet", "web", &json!({"replicas": 5, "podManagementPolicy": "Parallel"}));
    let claim = |at: usize| json!({"metadata": {"name": format!("v{at}")}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}});
    claiming["spec"]["volumeClaimTemplates"] = (0..30).map(claim).collect();
    assert_eq!(numbers(&applied(&mut stage(vec![node("n1", 9, "a")]), &[claiming], &request)), [0, 3, 0, 2]);
}

#[test]
fn rounds_of_ordered_pods_are_bounded() {
    let request = ManifestRequest { most_rounds: 3, ..ManifestRequest::default() };
    let answer = applied(&mut stage(vec![node("n1", 9, "a")]), &[workload("StatefulSet", "db", &json!({"replicas": 8}))], &request);
    assert_eq!((numbers(&answer), &answer.not_made[0].why), ([3, 0, 0, 5], &WhyNotMade::Limit));
}

#[test]
fn decisions_about_a_manifest_end_after_a_number_of_steps() {
    let of = |most_steps: Option<u64>, replicas: u64| {
        let request = ManifestRequest { most_steps, ..ManifestRequest::default() };
        let web = workload("Deployment", "web", &json!({"replicas": replicas}));
        applied(&mut stage(vec![node("n1", 9, "a"), node("n2", 9, "b")]), &[web], &request)
    };
    let undecided = |answer: &ManifestAnswer| answer.pods.iter().filter(|pod| matches!(pod.end, ManifestPodEnd::Undecided)).count();
    // All pods come at once; then each attempt takes the steps of two nodes and of the move to one, and so does the decision before
    // it, without the move, that counts the odds.
    let least = |decided: u64| (0..).step_by(5).find(|steps| numbers(&of(Some(*steps), 5))[0] == decided).expect("they end");
    let begins = [1, 2, 3, 4, 5].map(least);
    assert!(begins.windows(2).all(|two| two[1] - two[0] == begins[1] - begins[0]) && begins[1] - begins[0] >= 40, "{begins:?}");
    for (begin, decided) in begins.into_iter().zip(1..) {
        let answer = of(Some(begin - 5), 5);
        assert_eq!((numbers(&answer)[0], undecided(&answer)), (decided - 1, 6 - decided as usize), "{begin}");
        assert!(answer.notes.contains(&Note::CutShort) && !answer.is_complete());
    }
    // A run that is over just then is complete.
    for steps in [Some(begins[4]), None] {
        let answer = of(steps, 5);
        assert!(answer.is_complete() && answer.notes.is_empty(), "{steps:?}");
    }
}

#[test]
fn pods_that_take_too_many_steps_are_not_created() {
    let of = |most_steps: u64| {
        let request = ManifestRequest { most_steps: Some(most_steps), ..ManifestRequest::default() };
        applied(&mut stage(vec![node("n1", 9, "a")]), &[workload("Deployment", "web", &json!({"replicas": 5}))], &request)
    };
    // Each takes the steps of passing PreEnqueue and of a move to activeQ.
    for (steps, made) in [(0, 0), (120, 1), (121, 2), (480, 4)] {
        let answer = of(steps);
        assert_eq!((numbers(&answer), &answer.not_made[0].why), ([0, made, 0, 5 - made], &WhyNotMade::Limit), "{steps}");
        assert!(answer.pods.iter().all(|pod| matches!(pod.end, ManifestPodEnd::Undecided)) && answer.notes == [Note::CutShort]);
    }
    assert!(of(481).not_made.is_empty());
}

#[test]
fn odds_that_take_many_steps_are_counted_when_asked_for() {
    let with_odds = |nodes: usize, odds: bool| {
        let mut stage = stage((0..nodes).map(|at| node(&format!("n{at:03}"), 99, "a")).collect());
        let request = ManifestRequest { odds, ..ManifestRequest::default() };
        let answer = applied(&mut stage, &[workload("Deployment", "web", &json!({"replicas": MANIFEST_ODDS - 10}))], &request);
        // Odds take no steps from decisions.
        assert!(answer.is_complete());
        let number = answer.pods.iter().filter(|pod| matches!(&pod.end, ManifestPodEnd::Placed { odds: Some(_), .. })).count();
        // Where they are asked for, the answer has the number of the others.
        let left = answer.pods.len() - number;
        let expected = if odds && left > 0 { vec![Note::OddsNotCounted(left)] } else { Vec::new() };
        assert_eq!(answer.notes, expected);
        number
    };
    let (counted, asked) = (with_odds(200, false), with_odds(200, true));
    assert!((1..asked).contains(&counted), "{counted} {asked}");
    assert_eq!((with_odds(20, false), with_odds(20, true)), (MANIFEST_ODDS - 10, MANIFEST_ODDS - 10));
}

#[test]
fn odds_of_many_pods_are_counted_when_asked_for() {
    let with_odds = |odds: bool| {
        let mut stage = stage(vec![node("n1", 99, "a"), node("n2", 99, "b")]);
        let request = ManifestRequest { odds, ..ManifestRequest::default() };
        let answer = applied(&mut stage, &[workload("Deployment", "web", &json!({"replicas": MANIFEST_ODDS + 2}))], &request);
        answer.pods.iter().filter(|pod| matches!(&pod.end, ManifestPodEnd::Placed { odds: Some(_), .. })).count()
    };
    assert_eq!((with_odds(false), with_odds(true)), (MANIFEST_ODDS, MANIFEST_ODDS + 2));
}

#[test]
fn decisions_about_pending_pods_are_bounded() {
    let most = crate::limits::engine::MANIFEST_DECISIONS;
    let many: Vec<Value> = (0..most + 5).map(|at| workload("Deployment", &format!("w{at}"), &json!({"replicas": 2}))).collect();
    let answer = applied(&mut stage(vec![node("n1", 0, "a")]), &many, &ManifestRequest::default());
    let decided = answer.pods.iter().filter(|pod| matches!(&pod.end, ManifestPodEnd::Pending { decision: Some(_), .. })).count();
    assert_eq!((answer.pods.len(), decided), (2 * (most + 5), 2 * most));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_workload_that_is_taken_out_and_applied_places_as_many_pods_as_a_run_with_it(
        nodes in proptest::collection::vec(0u32..5, 1..4),
        bound in 0usize..4,
        replicas in 0usize..9,
    ) {
        let mut objects: Vec<Object> = nodes.iter().enumerate().map(|(at, cpu)| node(&format!("n{at}"), *cpu, "a")).collect();
        objects.extend((0..bound.min(nodes[0] as usize)).map(|at| pod(&format!("other-{at}"), "n0", "")));
        let mut whole = stage(objects.iter().cloned().chain(running(replicas, "")).collect());
        while whole.settle_step() {}
        let is_placed = |pod: &&std::sync::Arc<crate::cluster::Pod>| pod.metadata.labels.contains_key("app") && !pod.node_name.is_empty();
        let expected = whole.scheduler().state().cluster().pods.iter().filter(is_placed).count() as u64;
        let answer = applied(&mut stage(objects), &[workload("Deployment", "web", &json!({"replicas": replicas}))], &ManifestRequest::default());
        prop_assert_eq!(numbers(&answer)[0], expected);
        prop_assert_eq!(numbers(&answer).iter().sum::<u64>(), replicas as u64);
    }

    #[test]
    fn as_many_as_the_capacity_says_fit_and_no_more(nodes in proptest::collection::vec(0u32..5, 1..4), replicas in 1u64..4) {
        let objects: Vec<Object> = nodes.iter().enumerate().map(|(at, cpu)| node(&format!("n{at}"), *cpu, "a")).collect();
        let web = workload("Deployment", "web", &json!({}));
        let request = |replicas: u64, capacity: bool| ManifestRequest { replicas: Some(replicas), capacity, ..ManifestRequest::default() };
        let first = applied(&mut stage(objects.clone()), std::slice::from_ref(&web), &request(replicas, true));
        let more = first.capacity.as_ref().map_or(0, |found| found.capacity.fits) as u64;
        let all = numbers(&first)[0] + if numbers(&first)[1] > 0 { 0 } else { more };
        prop_assert!(applied(&mut stage(objects.clone()), std::slice::from_ref(&web), &request(all, false)).is_complete());
        prop_assert!(!applied(&mut stage(objects), std::slice::from_ref(&web), &request(all + 1, false)).is_complete());
    }
}
