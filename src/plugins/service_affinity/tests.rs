use serde_json::{Value, json};

use super::*;
use crate::cluster::Object;
use crate::framework::Snapshot;

#[allow(clippy::needless_pass_by_value, reason = "literals are handed over")]
/// Checks nodes a, b and c in racks 1, 1 and 2, with the given number of the Service's pods on each.
fn check(pods: [usize; 3], args: Value, selector: Value) -> (Vec<bool>, Vec<i64>) {
    let plugin = ServiceAffinity::new(serde_json::from_value(args).unwrap());
    let pod = |name: String, node: &str| {
        let spec = json!({"nodeName": node, "nodeSelector": selector});
        let pod = json!({"metadata": {"name": name, "namespace": "n", "uid": name, "labels": {"app": "web"}}, "spec": spec});
        Arc::new(PodInfo::new(Arc::new(serde_json::from_value(pod).unwrap())))
    };
    let nodes: Vec<NodeInfo> = [("a", "1"), ("b", "1"), ("c", "2")]
        .into_iter()
        .zip(pods)
        .map(|((name, rack), pods)| {
            let node = json!({"metadata": {"name": name, "labels": {"rack": rack}}});
            let mut info = NodeInfo::new(Arc::new(serde_json::from_value(node).unwrap()));
            (0..pods).for_each(|i| info.add_pod(pod(format!("{name}{i}"), name)));
            info
        })
        .collect();
    let snapshot = Snapshot::of(nodes);
    let service = json!({"metadata": {"name": "web", "namespace": "n"}, "spec": {"selector": {"app": "web"}}});
    let cluster: Cluster = [Object::Service(Arc::new(serde_json::from_value(service).unwrap()))].into_iter().collect();
    let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH };
    let (mut state, new) = (CycleState::default(), pod("new".into(), ""));
    assert!(PreFilterPlugin::pre_filter(&plugin, &cx, &mut state, &new).1.is_success());
    let fits = snapshot.nodes().iter().map(|n| FilterPlugin::filter(&plugin, &cx, &state, &new, n).is_success()).collect();
    let mut scores = plugin.score_all(&cx, &state, &new, &snapshot.nodes().to_vec()).unwrap();
    assert!(plugin.normalize(&cx, &state, &new, &snapshot.nodes().to_vec(), &mut scores).is_success());
    (fits, scores)
}

#[test]
fn pods_follow_the_first_of_their_service() {
    let args = || json!({"affinityLabels": ["rack"]});
    assert_eq!(check([0, 0, 0], args(), json!({})).0, [true, true, true]);
    assert_eq!(check([0, 1, 0], args(), json!({})).0, [true, true, false]);
    assert_eq!(check([0, 1, 0], args(), json!({"rack": "2"})).0, [false, false, true], "what the pod selects goes before");
}

#[test]
fn pods_are_spread_over_the_values_of_a_label() {
    let args = || json!({"antiAffinityLabelsPreference": ["rack"]});
    assert_eq!(check([1, 1, 2], args(), json!({})).1, [50, 50, 50]);
    assert_eq!(check([1, 0, 3], args(), json!({})).1, [75, 75, 25]);
    assert_eq!(check([0, 0, 0], args(), json!({})).1, [100, 100, 100]);
}
