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
mod tests;
