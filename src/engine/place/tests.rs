use super::*;

/// Whether a decision is a copy of another one, which holds the same text.
fn shared(a: &Decision, b: &Decision) -> bool {
    std::ptr::eq(a.why(), b.why())
}

fn pending(placed: &Placement) -> Vec<&Decision> {
    placed.pods().iter().filter_map(PlacedPod::decision).collect()
}

#[test]
fn pods_that_stay_pending_for_one_reason_share_a_decision() {
    let node = "{kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 110}}}";
    let waiting = "{kind: Pod, metadata: {name: big, namespace: shop}, spec: {containers: [{name: c, resources: {requests: {cpu: 9}}}]}}";
    let engine = Engine::builder().objects(node).objects(waiting).build().unwrap();
    let spec = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]});
    let pod = json!({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec.clone()});
    let placed = engine.place(&pod, 9).unwrap();
    let decisions = pending(&placed);
    assert_eq!(decisions.len(), 5);
    assert!(decisions.iter().all(|decision| shared(decision, decisions[0])));
    // Each of these has other labels.
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"}, "spec": {
        "serviceName": "db", "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": spec}}});
    let placed = engine.place(&set, 7).unwrap();
    let decisions = pending(&placed);
    assert_eq!((placed.fit(), decisions.len()), (4, 3));
    assert!(decisions.iter().all(|decision| shared(decision, decisions[0])));
    assert!(placed.pods().iter().all(|pod| pod.node().is_some() != pod.why().contains("1 cpu free")), "{placed:?}");
    assert!(!shared(decisions[0], &engine.decide("shop", "big").unwrap()));
}

#[test]
fn a_pod_whose_name_is_taken_gets_another_and_not_the_uid_of_the_one_that_has_it() {
    let node = "{kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 110}}}";
    let spec = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]});
    let object = json!({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "u1"}, "spec": spec.clone()});
    let mut taken = object.clone();
    taken["spec"]["nodeName"] = json!("a");
    let engine = Engine::builder().objects(node).objects(taken.to_string().as_str()).build().unwrap();
    let mut fork = engine.clone();
    let (_, made) = fork.make(&object, 2).unwrap();
    let pods = &fork.scheduler.state().cluster().pods;
    let made: Vec<(&str, String)> =
        made.iter().map(|(_, key)| (key.name.as_str(), pods.get(key).expect("it was made").metadata.uid.to_string())).collect();
    assert_eq!(made[0], ("web-2", String::new()));
    // The second is a copy, which has a name and uid of its own.
    assert!(made[1].0.starts_with("web-") && !["", "u1"].contains(&made[1].1.as_str()), "{made:?}");
    assert_eq!(pods.get(&Key::new("shop", "web")).expect("it stays").metadata.uid, "u1");
    let placed = engine.place(&object, 5).unwrap();
    assert_eq!((placed.fit(), placed.pods().len()), (3, 5));
}
