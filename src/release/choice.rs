//! The emulated release and the reason for it: requested by the user, or read from the source.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::known::{Match, is_of_newest_minor, nearest};
use super::profile::{Part, Profile};
use super::version::Release;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum VersionSource {
    /// The command line.
    Flag,
    /// The `:release` command of the explorer.
    Command,
    /// The version in kube-scheduler's own log.
    SchedulerLog,
    /// The API server's `/version`.
    Server,
    /// A file of the dump.
    VersionFile,
    /// The `ClusterOperator` of OpenShift's kube-scheduler.
    ClusterOperator,
    /// The image of kube-scheduler's pods.
    SchedulerImage,
    /// The newest kubelet.
    Kubelets,
}

impl VersionSource {
    /// Returns a word or two for a header.
    pub fn short(self) -> &'static str {
        match self {
            Self::Flag => "--emulate",
            Self::Command => ":release",
            Self::SchedulerLog => "its log",
            Self::Server => "server",
            Self::VersionFile => "version file",
            Self::ClusterOperator => "operator",
            Self::SchedulerImage => "image",
            Self::Kubelets => "kubelets",
        }
    }

    /// Returns the end of a sentence about a version.
    fn clause(self) -> &'static str {
        match self {
            Self::Flag => "was requested",
            Self::Command => "was requested with :release",
            Self::SchedulerLog => "is the version in the log of its kube-scheduler",
            Self::Server => "is the API server's version",
            Self::VersionFile => "is the version in the dump's version file",
            Self::ClusterOperator => "is the version of the kube-scheduler ClusterOperator",
            Self::SchedulerImage => "is the version of its kube-scheduler image",
            Self::Kubelets => "is the version of its newest kubelet",
        }
    }
}

/// A version and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundVersion {
    /// The version.
    pub release: Release,
    /// Where the version comes from.
    pub source: VersionSource,
}

/// The requested release and the cluster's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseChoice {
    /// The version to emulate; `None` if neither the user nor the source gave one.
    pub wanted: Option<FoundVersion>,
    /// The version of the cluster; `None` if the source does not show it.
    pub cluster: Option<FoundVersion>,
}

impl ReleaseChoice {
    /// Returns the emulated release with this choice.
    pub fn emulated(self) -> Emulated {
        Emulated { profile: self.profile(), choice: self }
    }

    /// Returns the choice of another release, by the user or by the cluster's API server.
    #[must_use]
    pub fn changed_to(self, release: Release, source: VersionSource) -> Self {
        let wanted = Some(FoundVersion { release, source });
        match source {
            VersionSource::Server => Self { wanted, cluster: wanted },
            _ => Self { wanted, ..self },
        }
    }

    /// Returns the choice once the API server says that it is of a release; `None` if that changes nothing, or if the user or the
    /// scheduler's log names the release.
    pub fn followed_to(self, release: Release) -> Option<Self> {
        let is_pinned =
            |wanted: FoundVersion| matches!(wanted.source, VersionSource::Flag | VersionSource::Command | VersionSource::SchedulerLog);
        let stays = self.wanted.is_some_and(|wanted| is_pinned(wanted) || wanted.release == release);
        (!stays).then(|| self.changed_to(release, VersionSource::Server))
    }

    /// Returns the profile that covers the wanted version; the newest if none is wanted.
    pub fn profile(&self) -> &'static Profile {
        self.wanted.map_or_else(Profile::newest, |wanted| nearest(wanted.release).profile)
    }
}

/// The emulated release and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulated {
    /// The emulated release.
    pub profile: &'static Profile,
    /// The reason.
    pub choice: ReleaseChoice,
}

impl Default for Emulated {
    fn default() -> Self {
        Self { profile: Profile::newest(), choice: ReleaseChoice::default() }
    }
}

impl Emulated {
    /// Returns the short version: `v1.31.4`, or `v1.31.14 for v1.31.20` if another release is emulated for it. A version
    /// without a patch is that of the emulated patch.
    pub fn version(&self) -> String {
        match self.choice.wanted.map(|wanted| wanted.release) {
            None => format!("v{}", self.profile.release.minor()),
            Some(wanted) if self.has_version(wanted) => self.profile.release.to_string(),
            Some(wanted) => format!("{} for {wanted}", self.profile.release),
        }
    }

    /// Returns whether a version, with or without a patch, is that of the emulated release.
    fn has_version(&self, wanted: Release) -> bool {
        let own = self.profile.release;
        own == wanted || wanted.is_bare() && own.same_minor(wanted)
    }

    /// Returns the version and its source for a header: `v1.31.4 (kubelets)`.
    pub fn label(&self) -> String {
        match self.choice.wanted {
            Some(wanted) => format!("{} ({})", self.version(), wanted.source.short()),
            None => self.version(),
        }
    }

    /// Returns whether the emulated release has another minor version than the wanted one.
    pub fn is_stand_in(&self) -> bool {
        self.choice.wanted.is_some_and(|wanted| self.relation_to(wanted.release) != Match::Same)
    }

    /// Returns a sentence that says so if the emulated release has another minor version than the wanted one.
    pub fn stand_in(&self) -> Option<String> {
        self.is_stand_in().then(|| format!("emulates kube-scheduler {}: {}", self.profile.release, self.because()))
    }

    /// Returns how the emulated release relates to the wanted one.
    fn relation_to(&self, wanted: Release) -> Match {
        match self.profile.release {
            own if own.same_minor(wanted) => Match::Same,
            own if own < wanted => Match::Older,
            _ => Match::Newer,
        }
    }

    /// Returns a clause with the reason for this release: `v1.31.4 is the version of its newest kubelet`.
    pub fn because(&self) -> String {
        let Some(FoundVersion { release, source }) = self.choice.wanted else {
            return "the newest verified version, as no other is given or found".to_owned();
        };
        let own = self.profile.release;
        let stand_in = match self.relation_to(release) {
            Match::Same if own == release => "",
            Match::Same if release.is_bare() => ", and this is its last known patch",
            Match::Same if own < release => ", and this is the closest known patch before it",
            Match::Same => ", and this is the closest known patch after it",
            Match::Older if is_of_newest_minor(own) => ", which is newer than the newest supported version",
            Match::Older => ", and this is the closest supported version before it",
            Match::Newer if Profile::all().first().is_some_and(|oldest| oldest.behaves_like(self.profile)) => {
                ", and this is the oldest supported version"
            }
            Match::Newer => ", and this is the closest supported version after it",
        };
        format!("{release} {}{stand_in}", source.clause())
    }

    /// Returns those of `parts` that were not verified against kube-scheduler, in the given order.
    pub fn not_verified(&self, parts: &[Part]) -> Vec<Part> {
        self.profile.not_verified().filter(|part| parts.contains(part)).collect()
    }
}

impl Release {
    /// Returns the version without a leading `v`: `1.31.4`, or `1.31` if the patch is unknown.
    pub fn number(self) -> String {
        self.to_string().trim_start_matches('v').to_owned()
    }
}

/// Writes the version as [`Release`] displays it.
impl Serialize for Release {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Release {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
