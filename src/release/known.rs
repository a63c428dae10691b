//! The known patches of every emulated minor version, and the choice of one of them for a version.

use std::sync::LazyLock;

use super::patches::{Minor, PatchChange};
use super::profile::{Part, Profile};
use super::version::Release;
use super::{
    v1_11, v1_12, v1_20, v1_21, v1_22, v1_23, v1_24, v1_25, v1_26, v1_27, v1_28, v1_29, v1_30, v1_31, v1_32, v1_33, v1_34, v1_35, v1_36,
    v1_37,
};

/// Every emulated minor version, oldest first.
static MINORS: [Minor; 20] = [
    v1_11::MINOR,
    v1_12::MINOR,
    v1_20::MINOR,
    v1_21::MINOR,
    v1_22::MINOR,
    v1_23::MINOR,
    v1_24::MINOR,
    v1_25::MINOR,
    v1_26::MINOR,
    v1_27::MINOR,
    v1_28::MINOR,
    v1_29::MINOR,
    v1_30::MINOR,
    v1_31::MINOR,
    v1_32::MINOR,
    v1_33::MINOR,
    v1_34::MINOR,
    v1_35::MINOR,
    v1_36::MINOR,
    v1_37::MINOR,
];

/// The known patches of every minor version, oldest first.
static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| MINORS.iter().flat_map(Minor::profiles).collect());

/// One patch of each group of neighbours that behave alike, oldest first.
static DISTINCT: LazyLock<Vec<&'static Profile>> = LazyLock::new(|| {
    let groups = PROFILES.chunk_by(Profile::behaves_like);
    groups.filter_map(|group| group.iter().find(|p| p.is_checked()).or(group.last())).collect()
});

/// The newest release that was verified; the default without a version.
static NEWEST: Profile = v1_36::PROFILE;

impl Profile {
    /// Returns the newest release that was verified. Later patches are known from their changes.
    pub fn newest() -> &'static Self {
        &NEWEST
    }

    /// Returns every emulated release that behaves unlike the one before, oldest first. Among patches that behave alike, it is
    /// the one that was checked, or else the last.
    pub fn all() -> &'static [&'static Self] {
        &DISTINCT
    }

    /// Returns whether both are patches of a minor version without a change between them.
    pub fn behaves_like(&self, other: &Self) -> bool {
        self.since == other.since
    }

    fn minor(&self) -> Option<&'static Minor> {
        MINORS.iter().find(|minor| minor.checked().same_minor(self.release))
    }

    /// Returns the patch of the minor version whose decisions, queues and configurations were compared with kube-scheduler's own.
    pub fn checked(&self) -> Release {
        self.minor().map_or(self.release, Minor::checked)
    }

    fn is_checked(&self) -> bool {
        self.release == self.checked()
    }

    /// Returns the changes that came with patches of the minor version after the first known one, oldest first.
    pub fn changes(&self) -> &'static [PatchChange] {
        self.minor().map_or(&[], |minor| minor.changes)
    }

    /// Returns whether the release has a change of its minor version.
    pub fn has(&self, change: &PatchChange) -> bool {
        change.is_in(self.release)
    }

    /// Returns the first and the last known patch of the minor version.
    pub fn known_patches(&self) -> [Release; 2] {
        self.minor().map_or([self.release; 2], Minor::known)
    }

    /// Returns the patch of the minor version, among those of which all these parts were compared with kube-scheduler's own code, that
    /// has the fewest changes apart from this one, and the number of these changes; the first of equals.
    pub fn verified_as(&self, parts: &[Part]) -> (Release, usize) {
        let Some(minor) = self.minor() else { return (self.release, 0) };
        let compared = minor.compared(Part::Decisions).filter(|patch| parts.iter().all(|part| minor.compared(*part).any(|p| p == *patch)));
        let apart = |patch: Release| minor.changes.iter().filter(|change| self.has(change) != change.is_in(patch)).count();
        compared.map(|patch| (patch, apart(patch))).min_by_key(|(_, apart)| *apart).unwrap_or((minor.checked(), 0))
    }

    /// Returns the profile with exactly this version, written as [`Release`] displays it.
    pub fn named(version: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|p| p.release.to_string() == version)
    }
}

/// Returns whether a release is of the newest emulated minor version.
pub(super) fn is_of_newest_minor(release: Release) -> bool {
    MINORS.last().is_some_and(|minor| minor.checked().same_minor(release))
}

/// Returns the emulated minor versions as text, oldest first.
pub fn supported() -> String {
    MINORS.iter().map(|minor| minor.checked().minor()).collect::<Vec<_>>().join(", ")
}

/// Returns the oldest and the newest emulated minor version as text: `1.11 to 1.37`.
pub(super) fn range() -> String {
    let [oldest, .., newest] = &MINORS;
    format!("{} to {}", oldest.checked().minor(), newest.checked().minor())
}

/// Returns the newest release among texts; ignores texts that are not versions.
pub fn newest<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Release> {
    texts.filter_map(|text| Release::parse(text).ok()).max()
}

/// The emulated release for a wanted version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The emulated release.
    pub profile: &'static Profile,
    /// Its relation to the wanted version.
    pub is: Match,
}

/// The relation of the emulated release to the wanted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Same minor version.
    Same,
    /// Older than the wanted one.
    Older,
    /// Newer than the wanted one.
    Newer,
}

/// Returns the profile for a release: its own or that of the closest known patch, earlier patches first; for another minor
/// version the last patch of the one before, or the first of all.
pub fn nearest(release: Release) -> Nearest {
    let same = || PROFILES.iter().filter(|p| p.release.same_minor(release));
    let of_minor = same().rfind(|p| p.release <= release).or_else(|| same().next());
    let before = || PROFILES.iter().rfind(|p| p.since <= release).or(PROFILES.first());
    let profile = of_minor.or_else(before).unwrap_or(&NEWEST);
    let is = match profile.release {
        own if own.same_minor(release) => Match::Same,
        own if own < release => Match::Older,
        _ => Match::Newer,
    };
    Nearest { profile, is }
}

#[cfg(test)]
mod tests;
