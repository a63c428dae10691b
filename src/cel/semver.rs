//! Semantic versions, parsed and compared as `github.com/blang/semver/v4` does, with its error texts.

use std::cmp::Ordering;

use super::error::{SemverError, VersionPart};
use crate::cluster::Str;

/// A version; the part after `+` is ignored in comparisons.
#[derive(Clone, Debug)]
pub(super) struct Semver {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    pre: Vec<Pre>,
    text: Str,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pre {
    Number(u64),
    Text(String),
}

impl Semver {
    /// Parses `major.minor.patch[-pre][+build]`.
    pub(super) fn parse(text: &str) -> Result<Self, SemverError> {
        if text.is_empty() {
            return Err(SemverError::Empty);
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let &[major, minor, rest] = parts.as_slice() else {
            return Err(SemverError::TooFewParts);
        };
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let (major, minor, patch) =
            (number(VersionPart::Major, major)?, number(VersionPart::Minor, minor)?, number(VersionPart::Patch, patch)?);
        let pre = pre.map_or(Ok(Vec::new()), |pre| pre.split('.').map(Pre::parse).collect())?;
        for part in build.into_iter().flat_map(|b| b.split('.')) {
            if part.is_empty() {
                return Err(SemverError::BuildEmpty);
            }
            if !alphanumeric(part) {
                return Err(SemverError::BuildCharacters(part.to_owned()));
            }
        }
        Ok(Self { major, minor, patch, pre, text: text.into() })
    }

    /// Parses with a leading `v`, missing parts and leading zeros allowed; mirrors `normalizeAndParse` in
    /// `staging/src/k8s.io/apiserver/pkg/cel/library/semverlib.go`.
    pub(super) fn parse_tolerant(text: &str) -> Result<Self, SemverError> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(str::to_owned).collect();
        let last = parts.len() - 1;
        for part in &mut parts {
            if part.len() > 1 {
                let stripped = part.trim_start_matches('0');
                *part = if stripped.starts_with(|c: char| c.is_ascii_digit()) { stripped.to_owned() } else { format!("0{stripped}") };
            }
        }
        if parts.len() < 3 {
            if parts[last].contains(['+', '-']) {
                return Err(SemverError::ShortWithMeta);
            }
            parts.resize(3, "0".to_owned());
        }
        Self::parse(&parts.join("."))
    }
}

impl Pre {
    fn parse(text: &str) -> Result<Self, SemverError> {
        if text.is_empty() {
            return Err(SemverError::PrereleaseEmpty);
        }
        if text.bytes().all(|b| b.is_ascii_digit()) {
            if text.len() > 1 && text.starts_with('0') {
                return Err(SemverError::PrereleaseLeadingZeroes(text.to_owned()));
            }
            return text.parse().map(Self::Number).map_err(|_| SemverError::OutOfRange(text.to_owned()));
        }
        if alphanumeric(text) { Ok(Self::Text(text.to_owned())) } else { Err(SemverError::PrereleaseCharacters(text.to_owned())) }
    }
}

fn number(part: VersionPart, text: &str) -> Result<u64, SemverError> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(SemverError::NumberCharacters { part, text: text.to_owned() });
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(SemverError::NumberLeadingZeroes { part, text: text.to_owned() });
    }
    let failed = if text.is_empty() { SemverError::NumberSyntax } else { SemverError::OutOfRange };
    text.parse().map_err(|_| failed(text.to_owned()))
}

fn alphanumeric(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

impl PartialEq for Semver {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Semver {}

impl PartialOrd for Semver {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Semver {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |v: &Self| (v.major, v.minor, v.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self.pre.cmp(&other.pre),
        })
    }
}

impl std::fmt::Display for Semver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_order_by_number_then_prerelease() {
        let ascending =
            ["0.9.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0", "1.2.0", "1.10.0"];
        for pair in ascending.windows(2) {
            assert!(Semver::parse(pair[0]).unwrap() < Semver::parse(pair[1]).unwrap(), "{pair:?}");
        }
        assert_eq!(Semver::parse("1.0.0+a").unwrap(), Semver::parse("1.0.0+b").unwrap());
    }

    #[test]
    fn strict_parsing_says_what_is_wrong() {
        for (text, error) in [
            ("", "Version string empty"),
            ("1.2", "No Major.Minor.Patch elements found"),
            ("v1.2.3", "Invalid character(s) found in major number \"v1\""),
            ("1.02.3", "Minor number must not contain leading zeroes \"02\""),
            ("1.2.3-", "Prerelease is empty"),
            ("1.2.3-01", "Numeric PreRelease version must not contain leading zeroes \"01\""),
            ("1.2.3+", "Build meta data is empty"),
            ("1.2.3+a_b", "Invalid character(s) found in build meta data \"a_b\""),
            ("1.2.99999999999999999999", "strconv.ParseUint: parsing \"99999999999999999999\": value out of range"),
        ] {
            assert_eq!(Semver::parse(text).unwrap_err().to_string(), error);
        }
        for (text, full) in [("v1.2.3", "1.2.3"), ("1", "1.0.0"), ("v01.02", "1.2.0")] {
            assert_eq!(Semver::parse_tolerant(text).unwrap(), Semver::parse(full).unwrap(), "{text}");
        }
        assert!(Semver::parse_tolerant("1.2-rc").is_err());
    }
}
