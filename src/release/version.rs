//! Version numbers of kube-scheduler and the only place where they are compared.

use std::fmt;
use std::str::FromStr;

/// A release of kube-scheduler by minor and patch version; the major version is 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    minor: u8,
    /// [`Self::LATEST`] if the patch is unknown.
    patch: u8,
}

impl Release {
    /// The newest release that was verified.
    pub const NEWEST: Self = Self::patch(36, 2);

    /// The patch version of a minor without a known patch; later than every patch.
    const LATEST: u8 = u8::MAX;

    /// Returns a patch release.
    pub(super) const fn patch(minor: u8, patch: u8) -> Self {
        Self { minor, patch }
    }

    /// Returns another patch of the minor version.
    pub(super) const fn with_patch(self, patch: u8) -> Self {
        Self { patch, ..self }
    }

    pub(super) const fn patch_number(self) -> u8 {
        self.patch
    }

    /// Returns whether the patch is unknown.
    pub(super) fn is_bare(self) -> bool {
        self.patch == Self::LATEST
    }

    /// Returns the minor version without a leading `v`, such as `1.36`.
    pub fn minor(self) -> String {
        format!("1.{}", self.minor)
    }

    /// Returns whether both have the same minor version.
    pub(super) fn same_minor(self, other: Self) -> bool {
        self.minor == other.minor
    }

    /// Reads `1.31`, `v1.31.4`, `v1.31.4-eks-a1b2c3` or `v1.31.4+k3s1`. A bare minor is its latest patch.
    ///
    /// # Errors
    ///
    /// If the text is not a version or its major version is not 1.
    pub fn parse(text: &str) -> Result<Self, ReleaseError> {
        let unknown = || ReleaseError(text.to_owned());
        let trimmed = text.trim();
        let version = trimmed.strip_prefix('v').unwrap_or(trimmed);
        // Suffixes of distributions do not change the release.
        let version = version.split(['-', '+']).next().unwrap_or_default();
        let mut parts = version.split('.');
        let mut number = || parts.next().map(|part| number(part).ok_or_else(unknown)).transpose();
        let (major, minor, patch) = (number()?, number()?, number()?);
        match (major, minor, patch, parts.next()) {
            (Some(1), Some(minor), patch, None) => Ok(Self { minor, patch: patch.unwrap_or(Self::LATEST) }),
            _ => Err(unknown()),
        }
    }
}

/// Parses decimal digits only, without signs or blanks.
fn number(text: &str) -> Option<u8> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Returns the newest release.
impl Default for Release {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl FromStr for Release {
    type Err = ReleaseError;

    fn from_str(text: &str) -> Result<Self, ReleaseError> {
        Self::parse(text)
    }
}

/// Writes `v1.31.4`, or `v1.31` if the patch is unknown.
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.patch {
            Self::LATEST => write!(f, "v1.{}", self.minor),
            patch => write!(f, "v1.{}.{patch}", self.minor),
        }
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A text that is not a version of kube-scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version of kube-scheduler; emulated are {range}", range = super::known::range())]
pub struct ReleaseError(pub String);

/// The range of releases that have a feature such as a plugin: from the first one up to, but without, the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    since: Release,
    until: Option<Release>,
}

impl Lifetime {
    /// Starts at the first patch of a minor version.
    pub const fn since(minor: u8) -> Self {
        Self { since: Release::patch(minor, 0), until: None }
    }

    /// Starts at a patch of a minor version.
    pub const fn since_patch(minor: u8, patch: u8) -> Self {
        Self { since: Release::patch(minor, patch), until: None }
    }

    /// Ends before the first patch of a minor version.
    #[must_use]
    pub const fn until(self, minor: u8) -> Self {
        self.until_patch(minor, 0)
    }

    /// Ends before a patch of a minor version.
    #[must_use]
    pub const fn until_patch(self, minor: u8, patch: u8) -> Self {
        Self { since: self.since, until: Some(Release::patch(minor, patch)) }
    }

    /// Returns whether a release has it.
    pub fn contains(self, release: Release) -> bool {
        self.since <= release && self.until.is_none_or(|until| release < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_what_distributions_add() {
        for (text, expected, shown) in [
            ("1.31", Release { minor: 31, patch: Release::LATEST }, "v1.31"),
            ("v1.31", Release { minor: 31, patch: Release::LATEST }, "v1.31"),
            ("v1.31.4", Release::patch(31, 4), "v1.31.4"),
            ("v1.31.4-eks-a1b2c3", Release::patch(31, 4), "v1.31.4"),
            ("v1.31.4+k3s1", Release::patch(31, 4), "v1.31.4"),
            ("1.30.0-rc.2", Release::patch(30, 0), "v1.30.0"),
            (" v1.5.1 ", Release::patch(5, 1), "v1.5.1"),
        ] {
            assert_eq!(Release::parse(text), Ok(expected), "{text}");
            assert_eq!(expected.to_string(), shown);
        }
        for text in ["", "v", "latest", "1", "2.1", "0.9", "1.x", "1.+5", "1.36.2.1", "1.36.", "1.999", "vv1.2"] {
            assert_eq!(Release::parse(text), Err(ReleaseError(text.to_owned())), "{text}");
        }
        assert_eq!(
            Release::parse("latest").unwrap_err().to_string(),
            "\"latest\" is not a version of kube-scheduler; emulated are 1.11 to 1.37"
        );
    }

    #[test]
    fn releases_are_ordered_and_a_bare_minor_is_its_latest_patch() {
        let sorted = ["1.9.11", "1.28.3", "1.28.6", "1.28", "1.29.0", "1.36.2"];
        assert!(sorted.windows(2).all(|pair| pair[0].parse::<Release>().unwrap() < pair[1].parse::<Release>().unwrap()));
    }

    #[test]
    fn a_lifetime_has_its_first_release_and_not_its_end() {
        let life = Lifetime::since(20).until(32);
        for (release, expected) in [("1.19.9", false), ("1.20.0", true), ("1.31", true), ("1.32.0", false)] {
            assert_eq!(life.contains(release.parse().unwrap()), expected, "{release}");
        }
        assert!(Lifetime::since(20).contains("1.36".parse().unwrap()));
    }
}
