use super::*;

#[test]
fn pods_are_found_as_they_come_and_go() {
    let pod = |name: &str, uid: &str, priority: i32| {
        let meta = format!(r#"{{"name":"{name}","namespace":"n","uid":"{uid}"}}"#);
        let text = format!(r#"{{"metadata":{meta},"spec":{{"priority":{priority}}}}}"#);
        Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&text).unwrap())))
    };
    let mut node = NodeInfo::default();
    let pods = [pod("p0", "", 1), pod("p1", "u", 2), pod("p2", "", 1)];
    for pod in &pods {
        node.add_pod(pod.clone());
    }
    for at in 0..=pods.len() {
        let (mut at_once, (some, others)) = (NodeInfo::default(), pods.split_at(at));
        at_once.add_pods(some.to_vec());
        at_once.add_pods(others.to_vec());
        assert_eq!(at_once, node);
    }
    let check = |node: &NodeInfo, below: i32, expected: &[&str]| {
        let names: Vec<&str> = node.pods_below(below).map(|p| p.pod.metadata.name.as_str()).collect();
        assert_eq!(names, expected);
    };
    let found = |node: &NodeInfo, pod: &PodInfo| node.find(&pod.pod).map(|p| p.pod.metadata.name.to_string());
    check(&node, 3, &["p0", "p1", "p2"]);
    check(&node, 2, &["p0", "p2"]);
    // Pods are identified by uid, and by name if there is none.
    assert_eq!(found(&node, &pod("other", "u", 0)).as_deref(), Some("p1"));
    assert_eq!(found(&node, &pod("p0", "", 0)).as_deref(), Some("p0"));
    assert_eq!(found(&node, &pod("p0", "v", 0)), None);
    assert!(node.remove_pod(&pods[0].pod) && !node.remove_pod(&pods[0].pod));
    assert_eq!(found(&node, &pods[0]), None);
    check(&node, 3, &["p2", "p1"]);
    check(&node, 2, &["p2"]);
}

#[test]
fn pods_before_the_last_ones_come_and_go_as_without_these() {
    let pods: Vec<Arc<PodInfo>> = (0..6)
        .map(|i| {
            let text =
                format!(r#"{{"metadata":{{"name":"p{i}"}},"spec":{{"containers":[{{"resources":{{"requests":{{"cpu":"{i}"}}}}}}]}}}}"#);
            Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&text).unwrap())))
        })
        .collect();
    let mut node = NodeInfo::default();
    pods[..4].iter().for_each(|pod| node.add_pod(pod.clone()));
    let mut with = node.clone();
    pods[4..].iter().for_each(|pod| with.add_pod(pod.clone()));
    let check = |node: &NodeInfo, with: &NodeInfo| {
        let mut expected = node.clone();
        pods[4..].iter().for_each(|pod| expected.add_pod(pod.clone()));
        assert_eq!(*with, expected);
    };
    for at in [1, 0, 2] {
        assert!(node.remove(&pods[at]) && with.remove_before(&pods[at], 2));
        check(&node, &with);
    }
    assert!(!with.remove_before(&pods[4], 2) && !with.remove_before(&pods[0], 2));
    for at in [2, 0] {
        node.add_pod(pods[at].clone());
        with.add_pod_before(pods[at].clone(), 2);
        check(&node, &with);
    }
}
