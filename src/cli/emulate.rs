//! The kube-scheduler to emulate: the named release, or the one that the source shows.

use std::str::FromStr;

use crate::cluster::{Object, Pod};
use crate::release::{FoundVersion, Release, ReleaseChoice, ReleaseError, VersionSource, newest};
use crate::source::{Loaded, VersionPlace};

/// The value of `--emulate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emulate {
    /// The release that the source shows.
    Auto,
    /// A release.
    Release(Release),
}

impl FromStr for Emulate {
    type Err = ReleaseError;

    fn from_str(text: &str) -> Result<Self, ReleaseError> {
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Release) }
    }
}

/// Returns the version of the cluster: of its scheduler's log, the live API server, the dump's version file, OpenShift's operator, the newest
/// kube-scheduler image, or the newest kubelet, in this order. Skips texts that are not versions.
pub(super) fn detect(loaded: &Loaded) -> Option<FoundVersion> {
    let log = loaded.scheduler_log.as_deref();
    let version = log.and_then(|log| log.processes.get(log.leading(None)?)?.version.as_deref());
    if let Some(release) = version.and_then(|version| Release::parse(version).ok()) {
        return Some(FoundVersion { release, source: VersionSource::SchedulerLog });
    }
    let found = loaded.report.server_version.as_ref();
    let found = found.and_then(|found| {
        let source = match found.found_in {
            VersionPlace::Server(_) => VersionSource::Server,
            VersionPlace::File(_) => VersionSource::VersionFile,
            VersionPlace::ClusterOperator(_) => VersionSource::ClusterOperator,
            VersionPlace::Kubelets => return None,
        };
        Some(FoundVersion { release: Release::parse(&found.version).ok()?, source })
    });
    found
        .or_else(|| {
            let pods = loaded.objects.iter().filter_map(|o| if let Object::Pod(pod) = o { image_tag(pod) } else { None });
            newest(pods).map(|release| FoundVersion { release, source: VersionSource::SchedulerImage })
        })
        .or_else(|| {
            let kubelets =
                loaded.objects.iter().filter_map(|o| if let Object::Node(node) = o { node.status.node_info.as_ref() } else { None });
            newest(kubelets.map(|info| info.kubelet_version.as_str()))
                .map(|release| FoundVersion { release, source: VersionSource::Kubelets })
        })
}

/// Returns the choice of release: the requested one, or the one that the source shows.
pub(super) fn choose(asked: Option<Emulate>, loaded: &Loaded) -> ReleaseChoice {
    let cluster = detect(loaded);
    let wanted = match asked {
        None | Some(Emulate::Auto) => cluster,
        Some(Emulate::Release(release)) => Some(FoundVersion { release, source: VersionSource::Flag }),
    };
    ReleaseChoice { wanted, cluster }
}

/// Returns the tag of the kube-scheduler image that a pod runs.
fn image_tag(pod: &Pod) -> Option<&str> {
    let container = pod.spec.containers.iter().find(|c| c.name == "kube-scheduler")?;
    let image = container.image.split('@').next().unwrap_or_default();
    let tag = image.rsplit('/').next()?.split_once(':')?.1;
    // `v1.18.3_coreos.0`: tags cannot have the plus sign of a version.
    tag.split('_').next()
}

/// Returns a sentence that names the emulated release if it replaces the wanted one; `None` if the minor versions agree.
pub(super) fn substitution(choice: ReleaseChoice) -> Option<String> {
    let emulated = choice.emulated();
    emulated.stand_in()
}

#[cfg(test)]
mod tests {
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
}
