//! Tests of `equivalence_classes`.

use super::super::NodeInfo;
use super::*;

fn pod(name: &str, labels: &str, rest: &str) -> Arc<PodInfo> {
    let text = format!(r#"{{"metadata":{{"name":"{name}","namespace":"n","labels":{labels}}}{rest}}}"#);
    Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&text).unwrap())))
}

const WEB: &str = r#"{"app":"web"}"#;

#[test]
fn pods_are_counted_by_node_as_they_come_and_go() {
    let mut classes = EquivalenceClasses::default();
    let (web, more, db) = (pod("a", WEB, ""), pod("b", WEB, ""), pod("c", r#"{"app":"db"}"#, ""));
    for (pod, node) in [(&web, 7), (&more, 7), (&web, 2), (&db, 2), (&db, 300)] {
        classes.add(pod, node);
    }
    assert_eq!(classes.classes.len(), 2);
    let before = classes.clone();
    let selector = serde_json::from_str(r#"{"matchLabels":{"app":"web"}}"#).unwrap();
    let is_web = |p: &PodInfo| p.pod.metadata.labels == web.pod.metadata.labels;
    let pairs = |counts: Vec<i64>| -> Vec<(usize, i64)> { counts.into_iter().enumerate().filter(|(_, count)| *count != 0).collect() };
    let check = |classes: &EquivalenceClasses, webs: &[(usize, i64)], all: &[(usize, i64)]| {
        assert_eq!(pairs(classes.count(LabelBloom::default(), |_| true)), all);
        assert_eq!(pairs(classes.count(LabelBloom::selected_by(&selector), is_web)), webs);
        assert!(classes.count(LabelBloom::ALL, |_| true).is_empty());
        let nodes: NodeList = std::iter::repeat_n(NodeInfo::default(), 301).collect();
        let pods = PodsByPosition::new(classes, &nodes, None);
        let mut parts = std::collections::BTreeMap::new();
        for (at, count) in pods.parts(LabelBloom::selected_by(&selector), is_web) {
            *parts.entry(at).or_default() += count;
        }
        assert_eq!(parts.into_iter().collect::<Vec<_>>(), pods.count(LabelBloom::selected_by(&selector), is_web));
    };
    check(&classes, &[(2, 1), (7, 2)], &[(2, 2), (7, 2), (300, 1)]);
    classes.remove(&more, 7);
    classes.remove(&web, 2);
    classes.remove(&web, 5);
    check(&classes, &[(7, 1)], &[(2, 1), (7, 1), (300, 1)]);
    classes.remove(&web, 7);
    classes.remove(&web, 7);
    check(&classes, &[], &[(2, 1), (300, 1)]);
    classes.add(&more, 1);
    check(&classes, &[(1, 1)], &[(1, 1), (2, 1), (300, 1)]);
    assert_eq!(classes.classes.len(), 2);
    check(&before, &[(2, 1), (7, 2)], &[(2, 2), (7, 2), (300, 1)]);
}

#[test]
fn many_pods_are_counted_as_one_by_one() {
    let texts = [("a", WEB, ""), ("b", "{}", ""), ("c", r#"{"app":"db"}"#, "")];
    let samples = texts.map(|(name, labels, rest)| pod(name, labels, rest));
    // Each three times, with shared labels, and once with equal ones of its own.
    let pods: Vec<(Arc<PodInfo>, usize)> = (0..4)
        .flat_map(|turn| {
            samples.iter().zip(texts).map(
                move |(sample, (name, labels, rest))| {
                    if turn < 3 { Arc::new(PodInfo::clone(sample)) } else { pod(name, labels, rest) }
                },
            )
        })
        .zip([7, 2, 7, 2, 300, 1, 7, 7, 0, 5, 5, 5])
        .collect();
    let (mut one_by_one, mut at_once) = (EquivalenceClasses::default(), EquivalenceClasses::default());
    for (pod, slot) in &pods {
        one_by_one.add(pod, *slot);
    }
    at_once.add(&pods[0].0, 9);
    at_once.add_all(pods.iter().cloned());
    at_once.remove(&pods[0].0, 9);
    let shown = |classes: &EquivalenceClasses| -> Vec<(String, Vec<(u32, u32)>)> {
        classes.classes.iter().map(|class| (class.sample.pod.metadata.name.to_string(), class.nodes.to_vec())).collect()
    };
    assert_eq!(shown(&at_once), shown(&one_by_one));
    assert_eq!((at_once.vacant, one_by_one.vacant), (0, 0));
}

#[test]
fn classes_without_pods_are_dropped_once_they_are_most() {
    let mut classes = EquivalenceClasses::default();
    let near = r#","spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{},"topologyKey":"zone"}]}}}"#;
    let pods: Vec<_> = (0..300).map(|i| pod("p", &format!(r#"{{"app":"{i}"}}"#), if i % 2 == 0 { "" } else { near })).collect();
    for pod in &pods {
        classes.add(pod, 3);
    }
    for (i, pod) in pods.iter().enumerate().take(280) {
        classes.remove(pod, 3);
        assert_eq!(classes.vacant, classes.classes.iter().filter(|c| c.nodes.is_empty()).count());
        assert!(classes.vacant <= VACANT_AT_LEAST.max(classes.classes.len() / 2));
        assert_eq!(classes.count(LabelBloom::default(), |_| true), [0, 0, 0, 299 - i as i64]);
    }
    assert!(classes.classes.len() < 100);
    for pod in &pods[..280] {
        classes.add(pod, 0);
    }
    assert_eq!((classes.classes.len(), classes.vacant), (300, 0));
    assert_eq!(classes.with_terms(|_| true).count(), 150);
    assert_eq!(classes.count(LabelBloom::default(), |_| true), [280, 0, 0, 20]);
}

#[test]
fn what_tells_classes_apart() {
    let near = r#","spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"web"}},"topologyKey":"zone"}]}}}"#;
    let mut classes = EquivalenceClasses::default();
    let other = r#"{"metadata":{"name":"e","namespace":"other","labels":{"app":"web"},"deletionTimestamp":null}}"#;
    let gone = r#"{"metadata":{"name":"f","namespace":"n","labels":{"app":"web"},"deletionTimestamp":"2026-01-01T00:00:00Z"}}"#;
    let read = |text: &str| Arc::new(PodInfo::new(Arc::new(serde_json::from_str(text).unwrap())));
    for pod in [pod("a", WEB, ""), pod("b", WEB, near), pod("c", WEB, near), pod("d", "{}", near), read(other), read(gone)] {
        classes.add(&pod, 0);
    }
    assert_eq!(classes.classes.len(), 5);
    let nodes: NodeList = [NodeInfo::default()].into_iter().collect();
    let names = |pod: &PodInfo| -> Vec<(String, Vec<(usize, i64)>)> {
        let found = PodsByPosition::new(&classes, &nodes, None).with_affinity_to(pod.bits(), false);
        found.map(|(sample, nodes)| (sample.pod.metadata.name.to_string(), nodes.collect())).collect()
    };
    assert_eq!(names(&pod("x", WEB, "")), [("b".to_owned(), vec![(0, 2)]), ("d".to_owned(), vec![(0, 1)])]);
    assert!(names(&pod("x", "{}", "")).is_empty());
}
