use super::*;
use crate::source::{Input, load};

fn places(pod: &str, volume: &str) -> Vec<VolumePlace> {
    places_of(pod, volume, PLACE_COMPARISONS)
}

fn places_of(pod: &str, volume: &str, comparisons: usize) -> Vec<VolumePlace> {
    let text = format!(
        r#"{{"kind":"List","apiVersion":"v1","items":[
        {{"kind":"Pod","metadata":{{"name":"db","namespace":"shop"}},
          "spec":{{"volumes":[{{"name":"d","persistentVolumeClaim":{{"claimName":"data"}}}}],{pod}}}}},
        {{"kind":"PersistentVolumeClaim","metadata":{{"name":"data","namespace":"shop"}},"spec":{{"volumeName":"pv"}}}},
        {{"kind":"PersistentVolume",{volume}}}]}}"#
    );
    let loaded = load(&[Input::Bytes { name: "a.json".into(), bytes: text.into_bytes().into() }]);
    let cluster = loaded.cluster();
    let pod = cluster.pods.iter().next().unwrap();
    places_within(&cluster, pod, comparisons)
}

/// The affinity of a volume in zones.
fn in_zones(zones: &str) -> String {
    format!(
        r#""metadata":{{"name":"pv"}},"spec":{{"nodeAffinity":{{"required":{{"nodeSelectorTerms":[
        {{"matchExpressions":[{{"key":"topology.kubernetes.io/zone","operator":"In","values":[{zones}]}}]}}]}}}}}}"#
    )
}

#[test]
fn a_zone_and_its_contradiction_are_said() {
    let selects = |zone: &str| format!(r#""nodeSelector":{{"topology.kubernetes.io/zone":"{zone}"}}"#);
    let found = places(&selects("b"), &in_zones(r#""a""#));
    assert_eq!(found[0].place, "topology.kubernetes.io/zone=a");
    assert_eq!(
        found[0].conflict_sentence().unwrap(),
        "the volume pv of claim data is on nodes with topology.kubernetes.io/zone=a, and the pod asks for topology.kubernetes.io/zone=b: no node has both"
    );
    for (pod, zones) in [(selects("a"), r#""a""#), (selects("b"), r#""a","b""#), (r#""nodeSelector":{"disk":"ssd"}"#.to_owned(), r#""a""#)]
    {
        assert_eq!(places(&pod, &in_zones(zones))[0].against, None, "{pod} {zones}");
    }
    let labelled =
        places(&selects("b"), r#""metadata":{"name":"pv","labels":{"failure-domain.beta.kubernetes.io/zone":"a__c"}},"spec":{}"#);
    assert_eq!((labelled[0].place.as_str(), &labelled[0].against), ("failure-domain.beta.kubernetes.io/zone in (a, c)", &None));
    assert_eq!(places(&selects("b"), r#""metadata":{"name":"pv"},"spec":{}"#), []);
}

#[test]
fn one_alternative_that_goes_together_is_no_contradiction() {
    let affinity = |zones: [&str; 2]| {
        let term =
            |zone: &str| format!(r#"{{"matchExpressions":[{{"key":"topology.kubernetes.io/zone","operator":"In","values":["{zone}"]}}]}}"#);
        let terms = zones.map(term).join(",");
        format!(r#""affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{terms}]}}}}}}"#)
    };
    assert_eq!(places(&affinity(["b", "a"]), &in_zones(r#""a""#))[0].against, None);
    assert!(places(&affinity(["b", "c"]), &in_zones(r#""a""#))[0].against.is_some());
}

#[test]
fn contradictions_of_many_terms_are_not_searched() {
    let zone = r#"{"key":"topology.kubernetes.io/zone","operator":"In","values":["b"]}"#;
    let terms = vec![format!(r#"{{"matchExpressions":[{zone}]}}"#); 10].join(",");
    let required =
        format!(r#""affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{terms}]}}}}}}"#);
    let is_found = |comparisons| places_of(&required, &in_zones(r#""a","c""#), comparisons)[0].against.is_some();
    assert_eq!((is_found(20), is_found(19)), (true, false), "10 terms with a value each, and a volume in two zones");
    let with_selector = format!(r#""nodeSelector":{{"topology.kubernetes.io/zone":"b"}},{required}"#);
    assert!(places_of(&with_selector, &in_zones(r#""a","c""#), 2)[0].against.is_some(), "the selector is compared once for all terms");
}
