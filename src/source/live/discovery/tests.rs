//! Tests of `discovery`.

use super::*;

#[test]
fn the_newest_version_that_is_offered_and_understood_is_taken() {
    let claims = Resource::of(Subject::Objects(Kind::ResourceClaim));
    let offers = |versions: &[&str], with: &[&str]| Offers {
        groups: Some([("resource.k8s.io".to_owned(), versions.iter().map(ToString::to_string).collect())].into()),
        resources: with.iter().map(|v| (("resource.k8s.io".to_owned(), (*v).to_owned()), vec!["resourceclaims".to_owned()])).collect(),
    };
    for (offers, expected) in [
        (offers(&["v1", "v1beta1"], &["v1", "v1beta1"]), Offer::Version(0)),
        (offers(&["v1beta1", "v1beta2"], &["v1beta1", "v1beta2"]), Offer::Version(1)),
        (offers(&["v1alpha3", "v1beta1"], &["v1beta1"]), Offer::Version(2)),
        (offers(&["v1alpha3"], &[]), Offer::Old),
        (offers(&["v1"], &[]), Offer::Unknown),
        (Offers { groups: Some(BTreeMap::new()), ..Offers::default() }, Offer::Absent),
        (Offers::default(), Offer::Unknown),
    ] {
        assert_eq!(offers.of(claims), expected, "{offers:?}");
    }
    let mut without = offers(&["v1"], &["v1"]);
    without.resources.values_mut().for_each(Vec::clear);
    assert_eq!(without.of(claims), Offer::Absent);
    assert_eq!(offers(&["v1alpha3", "v1alpha2"], &[]).versions(claims), "resource.k8s.io/v1alpha3, resource.k8s.io/v1alpha2");
}

#[test]
fn what_every_server_has_is_never_absent() {
    let groups: BTreeMap<String, Vec<String>> = [(String::new(), vec!["v1".to_owned()])].into();
    let offers = Offers { groups: Some(groups), resources: [((String::new(), "v1".to_owned()), vec!["pods".to_owned()])].into() };
    for (kind, expected) in [(Kind::Pod, Offer::Version(0)), (Kind::Node, Offer::Unknown), (Kind::PodDisruptionBudget, Offer::Absent)] {
        assert_eq!(offers.of(Resource::of(Subject::Objects(kind))), expected, "{kind}");
    }
}

#[test]
fn pod_groups_are_absent_where_their_group_has_only_priority_classes() {
    let pod_groups = Resource::of(Subject::Objects(Kind::PodGroup));
    let group = "scheduling.k8s.io".to_owned();
    let offers = |versions: &[&str], with: &[&str]| Offers {
        groups: Some([(group.clone(), versions.iter().map(ToString::to_string).collect())].into()),
        resources: with.iter().map(|v| ((group.clone(), (*v).to_owned()), vec!["podgroups".to_owned()])).collect(),
    };
    assert_eq!(offers(&["v1"], &[]).of(pod_groups), Offer::Absent);
    assert_eq!(offers(&["v1", "v1alpha1"], &[]).of(pod_groups), Offer::Absent);
    assert_eq!(offers(&["v1", "v1alpha2"], &["v1alpha2"]).of(pod_groups), Offer::Version(2));
    assert_eq!(offers(&["v1", "v1beta1"], &["v1beta1"]).of(pod_groups), Offer::Version(0));
    assert_eq!(offers(&["v1", "v1alpha2"], &[]).of(pod_groups), Offer::Unknown, "the server did not answer about the version");
}

#[test]
fn lists_are_streamed_where_the_server_can() {
    for (version, expected) in [
        (Some("v1.36.2"), true),
        (Some("v1.32.0-eks-1"), true),
        (Some("v1.31.9"), false),
        (Some("v1.34+"), true),
        (Some("?"), false),
        (None, false),
    ] {
        assert_eq!(streams_lists(version), expected, "{version:?}");
    }
}
