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
mod tests {
    use super::*;
    use crate::release::Part;

    #[test]
    fn releases_are_listed_oldest_first() {
        assert!(PROFILES.windows(2).all(|pair| pair[0].release < pair[1].release && pair[0].since <= pair[1].since));
        assert!(PROFILES.iter().all(|p| !p.config_api_versions.is_empty()));
        let named =
            "1.11, 1.12, 1.20, 1.21, 1.22, 1.23, 1.24, 1.25, 1.26, 1.27, 1.28, 1.29, 1.30, 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37";
        assert_eq!(supported(), named);
        assert_eq!(Profile::newest().release, Release::NEWEST);
        assert_eq!(Profile::named(&Release::NEWEST.to_string()), Some(Profile::newest()));
    }

    #[test]
    fn every_version_has_a_release_that_answers_for_it() {
        for (version, profile, is) in [
            ("1.36", "v1.36.3", Match::Same),
            ("v1.36.0", "v1.36.2", Match::Same),
            ("1.36.9", "v1.36.3", Match::Same),
            ("1.37.1", "v1.37.0", Match::Same),
            ("1.38.0-alpha.2", "v1.37.0", Match::Older),
            ("1.40", "v1.37.0", Match::Older),
            ("1.5", "v1.11.1", Match::Newer),
            ("1.10.13", "v1.11.1", Match::Newer),
            ("1.11.1", "v1.11.1", Match::Same),
            ("1.12.10", "v1.12.0", Match::Same),
            ("1.17.4", "v1.12.0", Match::Older),
            ("1.18.2", "v1.20.15", Match::Newer),
            ("1.19", "v1.20.15", Match::Newer),
            ("1.20.1", "v1.20.15", Match::Same),
            ("1.26.8", "v1.26.8", Match::Same),
            ("1.27.99", "v1.27.16", Match::Same),
            ("1.28.1", "v1.28.3", Match::Same),
            ("1.28.5", "v1.28.5", Match::Same),
            ("1.28", "v1.28.15", Match::Same),
            ("1.30.1", "v1.30.1", Match::Same),
            ("v1.31.4-eks-a1b2c3", "v1.31.4", Match::Same),
            ("1.31", "v1.31.14", Match::Same),
        ] {
            let found = nearest(version.parse().unwrap());
            assert_eq!((found.profile.release.to_string().as_str(), found.is), (profile, is), "{version}");
        }
    }

    #[test]
    fn patches_without_a_change_between_them_behave_alike() {
        let of = |version: &str| nearest(version.parse().unwrap()).profile;
        for [a, b] in [["1.31.1", "1.31.2"], ["1.31.3", "1.31.14"], ["1.30.2", "1.30.2"], ["1.28.12", "1.28.13"], ["1.32.2", "1.32"]] {
            assert!(of(a).behaves_like(of(b)) && of(a).behaviour == of(b).behaviour, "{a} {b}");
        }
        for [a, b] in [["1.31.2", "1.31.3"], ["1.26.8", "1.26.9"], ["1.27.5", "1.27.6"], ["1.28.5", "1.28.6"], ["1.29.0", "1.29.1"]] {
            assert!(!of(a).behaves_like(of(b)) && of(a).behaviour != of(b).behaviour, "{a} {b}");
        }
        assert!(PROFILES.chunk_by(Profile::behaves_like).all(|group| group.iter().all(|p| p.behaviour == group[0].behaviour)));
        let verified = |version: &str, parts: &[Part]| {
            let (patch, apart) = of(version).verified_as(parts);
            (patch.to_string(), apart)
        };
        let (decisions, all) = ([Part::Decisions], [Part::Decisions, Part::Queues]);
        assert_eq!(verified("1.31.1", &decisions), ("v1.31.1".to_owned(), 0));
        assert_eq!(verified("1.31.0", &decisions), ("v1.31.1".to_owned(), 1));
        assert_eq!(verified("1.31.14", &decisions), ("v1.31.14".to_owned(), 0));
        assert_eq!(verified("1.31.7", &decisions), ("v1.31.14".to_owned(), 0));
        assert_eq!(verified("1.31.14", &all), ("v1.31.1".to_owned(), 2));
        assert_eq!(verified("1.26.15", &decisions), ("v1.26.9".to_owned(), 3));
        assert_eq!(verified("1.26.4", &decisions), ("v1.26.4".to_owned(), 0));
        assert_eq!(verified("1.25.10", &decisions), ("v1.25.10".to_owned(), 0));
        assert_eq!(verified("1.25.2", &decisions), ("v1.25.2".to_owned(), 0));
    }

    /// The data of a minor version is that of its checked patch, and the rows up to it lead there from the first known patch.
    #[test]
    fn the_changes_lead_from_the_first_patch_to_the_checked_one() {
        for minor in &MINORS {
            let checked = Profile::named(&minor.checked().to_string()).unwrap();
            assert_eq!(checked.behaviour, minor.data().behaviour, "{}", checked.release);
            assert!(minor.changes.is_sorted_by_key(|change| change.since), "{}", checked.release);
            let ends = minor.changes.iter().filter_map(|change| change.until);
            assert!(ends.into_iter().all(|end| minor.changes.iter().any(|other| other.since == end)), "{}", checked.release);
            assert!(minor.changes.iter().all(|change| change.since.same_minor(checked.release)), "{}", checked.release);
            assert!(minor.changes.iter().all(|change| change.about.ends_with('.')), "{}", checked.release);
        }
    }

    #[test]
    fn neighbours_differ_and_say_what_no_case_covers() {
        assert!(Profile::all().windows(2).all(|pair| pair[0] != pair[1] && !pair[0].behaves_like(pair[1])));
        let not_verified = |version: &str| Profile::named(version).unwrap().not_verified().collect::<Vec<_>>();
        assert_eq!(not_verified("v1.36.2"), []);
        assert_eq!(not_verified("v1.37.0").len(), 4);
        assert_eq!(not_verified("v1.12.0"), [Part::Queues, Part::Configuration, Part::Extenders]);
        assert_eq!(not_verified("v1.31.1"), [Part::Configuration, Part::Extenders]);
        assert_eq!(not_verified("v1.28.3"), [Part::Queues, Part::Configuration, Part::Extenders]);
        assert_eq!(not_verified("v1.20.15"), [Part::Queues, Part::Configuration, Part::Extenders]);
        assert_eq!(not_verified("v1.26.15"), [Part::Queues, Part::Configuration, Part::Extenders]);
    }

    #[test]
    fn pods_were_looked_for_in_the_queue_more_often_once() {
        for profile in PROFILES.iter().filter(|p| p.release >= v1_20::PROFILE.release) {
            let seconds = if profile.release < Release::patch(24, 0) { 60 } else { 300 };
            assert_eq!(profile.behaviour.leftover.as_secs(), seconds, "{}", profile.release);
            // Any event moves a pod without a recorded rejecting plugin.
            assert_eq!(profile.behaviour.rejectors_noted, profile.release >= Release::patch(21, 0), "{}", profile.release);
            assert_eq!(profile.reads_policies(), profile.release < Release::patch(23, 0), "{}", profile.release);
        }
    }

    #[test]
    fn a_release_is_found_by_its_exact_name() {
        assert_eq!(Profile::named("v1.36.2").map(|p| p.release), Some(Release::patch(36, 2)));
        assert_eq!(Profile::named("v1.31.7").map(|p| p.release), Some(Release::patch(31, 7)));
        assert_eq!(Profile::named("v1.36"), None);
        assert_eq!(Profile::named("1.36.2"), None);
    }
}
