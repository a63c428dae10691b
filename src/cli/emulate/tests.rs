//! Tests of `emulate`.

use std::sync::Arc;

use super::*;
use crate::source::ServerVersion;

fn node(version: &str) -> Object {
    let text = format!(r#"{{"metadata":{{"name":"n"}},"status":{{"nodeInfo":{{"kubeletVersion":"{version}"}}}}}}"#);
    Object::Node(Arc::new(serde_json::from_str(&text).unwrap()))
}

fn scheduler(image: &str) -> Object {
    let text = format!(r#"{{"metadata":{{"name":"s"}},"spec":{{"containers":[{{"name":"kube-scheduler","image":"{image}"}}]}}}}"#);
    Object::Pod(Arc::new(serde_json::from_str(&text).unwrap()))
}

fn loaded(objects: &[Object], found: Option<(&str, VersionPlace)>) -> Loaded {
    let mut loaded = Loaded { objects: objects.to_vec(), ..Loaded::default() };
    loaded.report.server_version = found.map(|(version, found_in)| ServerVersion { version: version.to_owned(), found_in });
    loaded
}

#[test]
fn the_schedulers_image_goes_before_kubelets_and_the_newest_counts() {
    let found = |objects: &[Object]| detect(&loaded(objects, None)).map(|d| (d.release.to_string(), d.source));
    let kubelets = [node(""), node("v1.31.4-eks-a1b2c3"), node("v1.30.9"), node("kwok-v0.6.0")];
    assert_eq!(found(&kubelets), Some(("v1.31.4".into(), VersionSource::Kubelets)));
    for (image, expected) in [
        ("registry.k8s.io/kube-scheduler:v1.29.2@sha256:00", ("v1.29.2", VersionSource::SchedulerImage)),
        ("registry:5000/kube-scheduler:v1.29.2_vendor.1", ("v1.29.2", VersionSource::SchedulerImage)),
        ("registry:5000/kube-scheduler", ("v1.31.4", VersionSource::Kubelets)),
        ("kube-scheduler:latest", ("v1.31.4", VersionSource::Kubelets)),
    ] {
        let objects: Vec<Object> = kubelets.iter().cloned().chain([scheduler(image)]).collect();
        assert_eq!(found(&objects), Some((expected.0.into(), expected.1)), "{image}");
    }
    assert_eq!(found(&[node("")]), None);
}

#[test]
fn a_server_or_a_version_file_goes_before_images() {
    let objects = [scheduler("kube-scheduler:v1.30.1"), node("v1.29.0")];
    for (version, found_in, expected) in [
        ("v1.33.1-gke.1", VersionPlace::Server("s".into()), ("v1.33.1", VersionSource::Server)),
        ("v1.32.0", VersionPlace::File("version.json".into()), ("v1.32.0", VersionSource::VersionFile)),
        ("v1.32.0", VersionPlace::ClusterOperator("a.yaml".into()), ("v1.32.0", VersionSource::ClusterOperator)),
        ("v1.29.0", VersionPlace::Kubelets, ("v1.30.1", VersionSource::SchedulerImage)),
        ("unknown", VersionPlace::Server("s".into()), ("v1.30.1", VersionSource::SchedulerImage)),
    ] {
        let found = detect(&loaded(&objects, Some((version, found_in))));
        assert_eq!(found.map(|f| (f.release.to_string(), f.source)), Some((expected.0.to_owned(), expected.1)), "{version}");
    }
}

#[test]
fn the_flag_wins_and_the_cluster_is_remembered() {
    let source = loaded(&[node("v1.30.1")], None);
    let words = |asked: Option<&str>| {
        let choice = choose(asked.map(|text| text.parse().unwrap()), &source);
        let version = |found: Option<FoundVersion>| found.map(|f| f.release.to_string()).unwrap_or_default();
        (version(choice.wanted), version(choice.cluster), substitution(choice))
    };
    for asked in [None, Some("auto")] {
        assert_eq!(words(asked), ("v1.30.1".into(), "v1.30.1".into(), None));
    }
    assert_eq!(words(Some("1.31.9")), ("v1.31.9".into(), "v1.30.1".into(), None));
    let newer = words(Some("1.99")).2.unwrap();
    assert!(newer.starts_with("emulates kube-scheduler v1.37.0: v1.99 was requested, which is newer"), "{newer}");
}

#[test]
fn a_release_is_asked_for_by_name_or_looked_for() {
    assert_eq!("auto".parse(), Ok(Emulate::Auto));
    assert_eq!("1.31".parse(), Ok(Emulate::Release("1.31".parse().unwrap())));
    assert!("latest".parse::<Emulate>().is_err());
}
