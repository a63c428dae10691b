//! Laws of manifests, for drawn clusters: a manifest places as many pods as a run of the pods that it makes, and its capacity is exact.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use schedscope::admission::{Admission, Policies};
use schedscope::cluster::neighbors::Neighbors;
use schedscope::cluster::{Key, Object, Str};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Evictions, Options, Scheduler};
use schedscope::whatif::{
    CapacityEnd, LiveObjects, ManifestAnswer, ManifestPodEnd, ManifestRequest, Rehearsal, Stage as _, apply_manifest,
};
use serde_json::{Value, json};

use crate::worlds::{World, object, world};

/// The same cases on every run.
fn always_the_same(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(33), failure_persistence: None, ..ProptestConfig::default() }
}

/// A cluster without its pending pod, and a Deployment of pods like it.
struct Case {
    objects: Vec<Value>,
    deployment: Value,
}

impl Case {
    /// `preempts` says whether its pods may preempt others.
    fn new(world: &World, replicas: u64, preempts: bool) -> Self {
        let mut objects = world.values();
        let mut pod = objects.pop().expect("the pending pod");
        let policy = if preempts { "PreemptLowerPriority" } else { "Never" };
        let priority = pod["spec"]["priority"].take();
        objects.push(json!({"kind": "PriorityClass", "metadata": {"name": "class"}, "value": priority, "preemptionPolicy": policy}));
        let spec = pod["spec"].as_object_mut().expect("a spec");
        spec.remove("priority");
        spec.remove("nodeName");
        spec.insert("priorityClassName".to_owned(), json!("class"));
        spec["containers"][0]["image"] = json!("image");
        let labels = pod["metadata"]["labels"].clone();
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w", "namespace": "a"}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod["spec"]}}});
        Self { objects, deployment }
    }

    /// Applies the Deployment with a number of replicas. Returns the answer, and the scheduler at the end.
    fn apply(&self, replicas: u64, capacity: bool) -> (ManifestAnswer, Rehearsal) {
        let mut stage = Rehearsal::new(scheduler(self.objects.iter().map(object).collect()));
        let admission = Admission::new(Policies::default(), stage.scheduler().state().config().emulation);
        let request = ManifestRequest { namespace: "a".into(), replicas: Some(replicas), capacity, ..ManifestRequest::default() };
        let live = LiveObjects { neighbors: &Neighbors::default(), originals: &|_, _| None };
        let answer = apply_manifest(&mut stage, &[&self.deployment], admission, &request, live).expect("a valid manifest");
        (answer, stage)
    }
}

fn scheduler(objects: Vec<Object>) -> Scheduler {
    let start = "2026-11-20T00:00:00Z".parse().expect("a time");
    let options = Options { start, evictions: Evictions::AtOnce, ..Options::default() };
    Scheduler::new(Config::defaults(Emulation::default()), objects, options)
}

fn placed(answer: &ManifestAnswer) -> BTreeMap<&Key, Str> {
    let node = |end: &'_ ManifestPodEnd| if let ManifestPodEnd::Placed { node, .. } = end { Some(node.clone()) } else { None };
    answer.pods.iter().filter_map(|pod| Some((&pod.pod, node(&pod.end)?))).collect()
}

proptest! {
    #![proptest_config(always_the_same(96))]

    #[test]
    fn a_manifest_places_as_many_pods_as_a_run_of_them(world in world(), replicas in 1..7_u64, preempts in any::<bool>()) {
        let case = Case::new(&world, replicas, preempts);
        let (answer, stage) = case.apply(replicas, false);
        prop_assert_eq!(answer.pods.len() as u64, replicas);
        // The dump in which they exist, with nothing decided.
        let cluster = stage.scheduler().state().cluster();
        let mut objects: Vec<Object> = case.objects.iter().map(object).collect();
        objects.extend(cluster.replica_sets.iter().cloned().map(Object::ReplicaSet));
        let own: Vec<Key> = answer.pods.iter().map(|pod| pod.pod.clone()).collect();
        for key in &own {
            let pod = cluster.pods.get(key).expect("no pod of it is preempted by another of its priority");
            let mut value = serde_json::to_value(&**pod).expect("a pod");
            value["kind"] = json!("Pod");
            value["spec"].as_object_mut().expect("a spec").remove("nodeName");
            value["status"] = json!({"phase": "Pending"});
            objects.push(object(&value));
        }
        let mut run = Rehearsal::new(scheduler(objects));
        while run.settle_step() {}
        let bound = |key: &&Key| run.scheduler().state().cluster().pods.get(key).is_some_and(|pod| !pod.node_name.is_empty());
        prop_assert_eq!(own.iter().filter(bound).count(), placed(&answer).len(), "{:?}", answer.pods);
    }

    #[test]
    fn as_many_as_the_capacity_says_fit_and_one_more_does_not(world in world()) {
        let case = Case::new(&world, 1, false);
        let (first, _) = case.apply(1, true);
        let capacity = &first.capacity.as_ref().expect("it was asked for").capacity;
        prop_assert!(matches!(capacity.end, CapacityEnd::Full(_)));
        let fits = capacity.fits as u64;
        if placed(&first).is_empty() {
            prop_assert_eq!(fits, 0);
            return Ok(());
        }
        let (exact, _) = case.apply(1 + fits, false);
        prop_assert!(exact.is_complete() && exact.victims.is_empty(), "{} more fit: {:?}", fits, exact.pods);
        let (more, _) = case.apply(2 + fits, false);
        prop_assert!(!more.is_complete(), "{} more fit, and not {}", fits + 1, fits);
        prop_assert_eq!(placed(&more).len() as u64, 1 + fits);
    }
}

/// The laws hold for clusters in which something is at stake.
#[test]
fn drawn_manifests_are_placed_in_part_and_preempt() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::new(always_the_same(1));
    let (mut all, mut some, mut none, mut victims, mut room) = (0, 0, 0, 0, 0);
    for _ in 0..96 {
        let world = world().new_tree(&mut runner).expect("a world").current();
        let (answer, _) = Case::new(&world, 5, true).apply(5, false);
        match placed(&answer).len() {
            0 => none += 1,
            5 => all += 1,
            _ => some += 1,
        }
        victims += usize::from(!answer.victims.is_empty());
        let (first, _) = Case::new(&world, 1, false).apply(1, true);
        room += usize::from(first.capacity.is_some_and(|found| found.capacity.fits > 1));
    }
    assert!(all > 5 && some > 5 && none > 5 && victims > 5 && room > 5, "{all} {some} {none} {victims} {room}");
}
