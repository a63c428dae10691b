use super::*;
use crate::release::Gate;

fn info(affinity: &str) -> PodInfo {
    let pod = format!(r#"{{"metadata":{{"name":"p","namespace":"own","labels":{{"a":"1"}}}},"spec":{{"affinity":{affinity}}}}}"#);
    PodInfo::new(Arc::new(serde_json::from_str(&pod).unwrap()))
}

#[test]
fn a_term_is_about_its_namespaces_and_its_labels() {
    let check = |term: &str, namespace_labels: &str, expected: bool| {
        let info = info(&format!(r#"{{"podAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{term}]}}}}"#));
        let labels: Labels = serde_json::from_str(namespace_labels).unwrap();
        assert_eq!(info.required_affinity()[0].matches(&info.pod, &labels), expected, "{term} in {namespace_labels}");
    };
    check("{}", "{}", false);
    check(r#"{"labelSelector":{}}"#, "{}", true);
    check(r#"{"labelSelector":{"matchLabels":{"a":"2"}}}"#, "{}", false);
    check(r#"{"labelSelector":{},"namespaces":["other"]}"#, "{}", false);
    check(r#"{"labelSelector":{},"namespaces":["other","own"]}"#, "{}", true);
    check(r#"{"labelSelector":{},"namespaceSelector":{}}"#, "{}", true);
    check(r#"{"labelSelector":{},"namespaceSelector":{"matchLabels":{"t":"x"}}}"#, "{}", false);
    check(r#"{"labelSelector":{},"namespaceSelector":{"matchLabels":{"t":"x"}}}"#, r#"{"t":"x"}"#, true);
    check(r#"{"labelSelector":{},"namespaces":["own"],"namespaceSelector":{"matchLabels":{"t":"x"}}}"#, "{}", true);
}

#[test]
fn pods_of_one_spec_and_namespace_share_their_terms() {
    let affinity = r#"{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{},"topologyKey":"t"}]}}"#;
    let first = info(affinity).pod;
    let (mut second, mut third) = (Pod::clone(&first), Pod::clone(&first));
    second.metadata.name = "second".into();
    third.metadata.namespace = "elsewhere".into();
    let mut known = KnownPods::default();
    let [a, b, c] = [first, Arc::new(second), Arc::new(third)].map(|pod| {
        let shared = PodInfo::among(pod.clone(), Emulation::default(), &mut known);
        assert_eq!(shared, PodInfo::new(pod));
        shared.terms.clone().unwrap()
    });
    assert!(Arc::ptr_eq(&a, &b) && !Arc::ptr_eq(&a, &c));
    assert_eq!(info("{}").terms, None);
    assert!(KnownPods::default().terms_of(&info("{}").pod, Emulation::default()).is_none());
}

#[test]
fn pods_among_others_are_as_alone_whatever_parts_they_share() {
    let text = |name: &str, labels: &str, status: &str| {
        let spec = r#"{"priority":7,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}},"ports":[{"hostPort":80}]}]}"#;
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"n","labels":{labels}}},"spec":{spec},"status":{status}}}"#)
    };
    let resized = r#"{"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"3"}}}]}"#;
    let texts = [("a", "{}", "{}"), ("b", r#"{"x":"1"}"#, "{}"), ("c", r#"{"x":"2"}"#, "{}"), ("d", "{}", resized)];
    let mut pods: Vec<Pod> = texts.map(|(name, labels, status)| serde_json::from_str(&text(name, labels, status)).unwrap()).into();
    let spec = pods[0].spec.clone();
    for pod in &mut pods {
        pod.spec = spec.clone();
    }
    let mut elsewhere = pods[0].clone();
    elsewhere.metadata.namespace = "elsewhere".into();
    pods.push(elsewhere);
    let started = r#"{"phase":"Running","startTime":"2026-01-01T00:00:00Z"}"#;
    let mut twins: Vec<Pod> = pods.clone();
    for pod in &mut twins {
        pod.metadata.uid = format!("u-{}", pod.metadata.name).into();
    }
    twins[0].status = serde_json::from_str(started).unwrap();
    let mut known = KnownPods::default();
    for pod in pods.into_iter().chain(twins).map(Arc::new) {
        assert_eq!(PodInfo::among(pod.clone(), Emulation::default(), &mut known), PodInfo::new(pod));
    }
    assert_eq!(known.alike.len(), 5);
}

#[test]
fn a_list_with_an_error_is_empty_and_every_list_is_reported() {
    let bad = r#"{"labelSelector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}}"#;
    let good = r#"{"labelSelector":{}}"#;
    let check = |required: &str, preferred: &str, affinity: usize, anti: usize, error: Option<&str>| {
        let stanza = format!(
            r#"{{"requiredDuringSchedulingIgnoredDuringExecution":[{required}],"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":7,"podAffinityTerm":{preferred}}}]}}"#
        );
        let info = info(&format!(r#"{{"podAffinity":{stanza},"podAntiAffinity":{{}}}}"#));
        assert_eq!((info.required_affinity().len(), info.preferred_affinity().len()), (affinity, anti));
        assert!(info.required_anti_affinity().is_empty() && info.preferred_anti_affinity().is_empty());
        assert_eq!(info.parse_error().map(|e| e.0).as_deref(), error);
        assert_eq!(info.has_affinity(), affinity + anti > 0);
    };
    check(&format!("{good},{good}"), good, 2, 1, None);
    let odd = r#""Odd" is not a valid label selector operator"#;
    check(&format!("{good},{bad}"), good, 0, 1, Some(&format!("requiredAffinityTerms: {odd}")));
    check(bad, bad, 0, 0, Some(&format!("[requiredAffinityTerms: {odd}, preferredAffinityTerms: {odd}]")));
    assert_eq!(info("{}").terms, None);
}

#[test]
fn pods_that_come_one_after_another_share_what_was_parsed_of_one_release() {
    let mut last = LastPod::default();
    let first = info("{}").pod;
    let mut copy = Pod::clone(&first);
    copy.metadata.name = "b".into();
    let copy = Arc::new(copy);
    let mut other = Emulation::default();
    other.set(Gate::PodLevelResources, !other.enabled(Gate::PodLevelResources));
    let [one, two, of_other] = [(&first, Emulation::default()), (&copy, Emulation::default()), (&first, other)]
        .map(|(pod, emulation)| last.parse(pod.clone(), emulation));
    assert!(Arc::ptr_eq(&one.parts, &two.parts) && !Arc::ptr_eq(&one.parts, &of_other.parts));
    assert_eq!((one.key(), two.key()), (first.key(), copy.key()));
}
