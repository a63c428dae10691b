//! Which kube-scheduler a command emulates: the one that is named, or the one that the source shows.

use std::str::FromStr;

use crate::cluster::{Object, Pod};
use crate::release::{Match, Nearest, Profile, Release, ReleaseError, nearest, newest};

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

/// The release of a cluster, and where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detected {
    pub(super) release: Release,
    pub(super) source: Source,
}

/// Where the release of a cluster is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub(super) enum Source {
    /// The image of kube-scheduler's pods.
    #[strum(to_string = "the image of its kube-scheduler")]
    Image,
    /// The newest kubelet.
    #[strum(to_string = "its newest kubelet")]
    Kubelet,
}

/// Returns the release of the newest kube-scheduler pod, or else of the newest kubelet; `None` where neither has a version.
pub(super) fn detect(objects: &[Object]) -> Option<Detected> {
    let pods = objects.iter().filter_map(|o| if let Object::Pod(pod) = o { image_tag(pod) } else { None });
    if let Some(release) = newest(pods) {
        return Some(Detected { release, source: Source::Image });
    }
    let kubelets = objects.iter().filter_map(|o| if let Object::Node(node) = o { node.status.node_info.as_ref() } else { None });
    newest(kubelets.map(|info| info.kubelet_version.as_str())).map(|release| Detected { release, source: Source::Kubelet })
}

/// Returns the tag of the kube-scheduler image that a pod runs.
fn image_tag(pod: &Pod) -> Option<&str> {
    let container = pod.spec.containers.iter().find(|c| c.name == "kube-scheduler")?;
    let image = container.image.split('@').next().unwrap_or_default();
    image.rsplit('/').next()?.split_once(':').map(|(_, tag)| tag)
}

/// Returns how the release that is emulated relates to the one that was asked for, to follow the former's name.
pub(super) fn answers_for(asked: Release) -> String {
    match nearest(asked).is {
        Match::Same => format!(" for {asked}"),
        Match::Older => format!(", the newest that is known, for the newer {asked}"),
        Match::Newer => format!(", the oldest that is known, for the older {asked}"),
    }
}

/// Returns a sentence that names the release that answers for another; `None` where it is of the same minor version.
pub(super) fn substitution(asked: Release) -> Option<String> {
    let Nearest { profile, is } = nearest(asked);
    if is == Match::Same {
        return None;
    }
    Some(format!("emulates kube-scheduler {}{}", profile.release, answers_for(asked)))
}

/// Returns the release that answers for the one asked for, or the newest.
pub(super) fn profile(asked: Option<Release>) -> &'static Profile {
    asked.map_or_else(Profile::newest, |release| nearest(release).profile)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn node(version: &str) -> Object {
        let text = format!(r#"{{"metadata":{{"name":"n"}},"status":{{"nodeInfo":{{"kubeletVersion":"{version}"}}}}}}"#);
        Object::Node(Arc::new(serde_json::from_str(&text).unwrap()))
    }

    fn scheduler(image: &str) -> Object {
        let text = format!(r#"{{"metadata":{{"name":"s"}},"spec":{{"containers":[{{"name":"kube-scheduler","image":"{image}"}}]}}}}"#);
        Object::Pod(Arc::new(serde_json::from_str(&text).unwrap()))
    }

    #[test]
    fn the_schedulers_image_goes_before_kubelets_and_the_newest_counts() {
        let found = |objects: &[Object]| detect(objects).map(|d| (d.release.to_string(), d.source));
        let kubelets = [node(""), node("v1.31.4-eks-a1b2c3"), node("v1.30.9")];
        assert_eq!(found(&kubelets), Some(("v1.31.4".into(), Source::Kubelet)));
        for (image, expected) in [
            ("registry.k8s.io/kube-scheduler:v1.29.2@sha256:00", ("v1.29.2", Source::Image)),
            ("registry:5000/kube-scheduler", ("v1.31.4", Source::Kubelet)),
            ("kube-scheduler:latest", ("v1.31.4", Source::Kubelet)),
        ] {
            let objects: Vec<Object> = kubelets.iter().cloned().chain([scheduler(image)]).collect();
            assert_eq!(found(&objects), Some((expected.0.into(), expected.1)), "{image}");
        }
        assert_eq!(found(&[node("")]), None);
    }

    #[test]
    fn another_release_is_named_where_it_answers() {
        let words = |asked: &str| substitution(asked.parse().unwrap());
        assert_eq!(words("1.31.9"), None);
        assert_eq!(words("1.19").unwrap(), "emulates kube-scheduler v1.20.15, the oldest that is known, for the older v1.19");
        assert!(words("1.99").unwrap().ends_with(", the newest that is known, for the newer v1.99"));
    }

    #[test]
    fn a_release_is_asked_for_by_name_or_looked_for() {
        assert_eq!("auto".parse(), Ok(Emulate::Auto));
        assert_eq!("1.31".parse(), Ok(Emulate::Release("1.31".parse().unwrap())));
        assert!("latest".parse::<Emulate>().is_err());
    }
}
