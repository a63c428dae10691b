use super::*;
use crate::framework::LabelBloom;

fn node(name: &str, zone: &str) -> Arc<Node> {
    let json = format!(r#"{{"metadata":{{"name":"{name}","labels":{{"topology.kubernetes.io/zone":"{zone}"}}}}}}"#);
    Arc::new(serde_json::from_str(&json).unwrap())
}

fn pod(name: &str, node: &str) -> Arc<PodInfo> {
    let json = format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}"}},"spec":{{"nodeName":"{node}"}}}}"#);
    Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&json).unwrap())))
}

fn order(cache: &Cache) -> Vec<String> {
    cache.snapshot().nodes().iter().map(|n| n.name().to_string()).collect()
}

#[test]
fn zones_take_turns() {
    let mut cache = Cache::default();
    cache.add_nodes([node("a1", "a"), node("a2", "a"), node("b1", "b"), node("a3", "a"), node("c1", "c")]);
    assert_eq!(order(&cache), ["a1", "b1", "c1", "a2", "a3"]);
    cache.remove_node(&"a1".into());
    assert_eq!(order(&cache), ["a2", "b1", "c1", "a3"]);
}

/// Checks that the classes of pods count exactly the pods on the nodes.
#[track_caller]
fn check_classes(cache: &Cache) {
    let snapshot = cache.snapshot();
    let nodes = snapshot.nodes().iter().enumerate().filter(|(_, n)| !n.pods.is_empty());
    let expected: Vec<(usize, i64)> = nodes.map(|(i, n)| (i, n.pods.len() as i64)).collect();
    assert_eq!(snapshot.pods().count(LabelBloom::default(), |_| true), expected);
}

#[test]
fn the_classes_of_pods_follow_pods_and_nodes() {
    let mut cache = Cache::default();
    cache.add_nodes([node("a1", "a"), node("a2", "a"), node("b1", "b")]);
    for (name, node) in [("p", "a1"), ("q", "a1"), ("r", "b1"), ("s", "c1")] {
        cache.add_pod(pod(name, node));
        check_classes(&cache);
    }
    cache.assume(pod("t", "a2"));
    check_classes(&cache);
    // Another node takes the first place, and a pod was waiting for it.
    cache.add_nodes([node("c1", "")]);
    check_classes(&cache);
    cache.remove_node(&"a1".into());
    check_classes(&cache);
    cache.update_node(&node("b1", "a"));
    assert!(cache.remove_pod(&pod("r", "b1").pod) && cache.forget(&pod("t", "a2").pod).is_some());
    check_classes(&cache);
    assert_eq!(cache.snapshot().pods().count(LabelBloom::default(), |_| true), [(2, 1)]);
    cache.add_nodes([node("a1", "a")]);
    check_classes(&cache);
}

#[test]
fn pods_wait_for_their_node_and_clones_keep_what_they_saw() {
    let mut cache = Cache::default();
    cache.add_pod(pod("p", "a1"));
    cache.add_nodes([node("a1", "a")]);
    let before = cache.snapshot();
    assert!(cache.remove_pod(&pod("p", "a1").pod));
    assert!(!cache.remove_pod(&pod("p", "a1").pod));
    assert_eq!(before.get("a1").unwrap().pods.len(), 1);
    assert_eq!(cache.snapshot().get("a1").unwrap().pods.len(), 0);
}
