//! Semantic versions, parsed and compared as `github.com/blang/semver/v4` does, with its error texts.

use std::cmp::Ordering;

/// A version; what follows `+` takes no part in comparisons and is not kept.
#[derive(Clone, Debug)]
pub(super) struct Semver {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    pre: Vec<Pre>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pre {
    Number(u64),
    Text(String),
}

impl Semver {
    /// Reads `major.minor.patch[-pre][+build]`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let &[major, minor, rest] = parts.as_slice() else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let (major, minor, patch) = (number("major", major)?, number("minor", minor)?, number("patch", patch)?);
        let pre = pre.map_or(Ok(Vec::new()), |pre| pre.split('.').map(Pre::parse).collect())?;
        for part in build.into_iter().flat_map(|b| b.split('.')) {
            if part.is_empty() {
                return Err("Build meta data is empty".to_owned());
            }
            if !alphanumeric(part) {
                return Err(format!("Invalid character(s) found in build meta data {part:?}"));
            }
        }
        Ok(Self { major, minor, patch, pre })
    }

    /// Reads with spaces around, a leading `v`, missing parts and leading zeros allowed; mirrors `normalizeAndParse`
    /// in `staging/src/k8s.io/apiserver/pkg/cel/library/semverlib.go`.
    pub(super) fn parse_tolerant(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('v');
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
                return Err("short version cannot contain PreRelease/Build meta data".to_owned());
            }
            parts.resize(3, "0".to_owned());
        }
        Self::parse(&parts.join("."))
    }
}

impl Pre {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Prerelease is empty".to_owned());
        }
        if text.bytes().all(|b| b.is_ascii_digit()) {
            if text.len() > 1 && text.starts_with('0') {
                return Err(format!("Numeric PreRelease version must not contain leading zeroes {text:?}"));
            }
            return text.parse().map(Self::Number).map_err(|_| out_of_range(text));
        }
        if alphanumeric(text) { Ok(Self::Text(text.to_owned())) } else { Err(format!("Invalid character(s) found in prerelease {text:?}")) }
    }
}

fn number(what: &str, text: &str) -> Result<u64, String> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {what} number {text:?}"));
    }
    if text.len() > 1 && text.starts_with('0') {
        let title = format!("{}{}", what[..1].to_uppercase(), &what[1..]);
        return Err(format!("{title} number must not contain leading zeroes {text:?}"));
    }
    text.parse()
        .map_err(|_| if text.is_empty() { format!("strconv.ParseUint: parsing {text:?}: invalid syntax") } else { out_of_range(text) })
}

fn out_of_range(text: &str) -> String {
    format!("strconv.ParseUint: parsing {text:?}: value out of range")
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
            assert_eq!(Semver::parse(text).unwrap_err(), error);
        }
        for (text, full) in [("v1.2.3", "1.2.3"), ("1", "1.0.0"), ("v01.02", "1.2.0")] {
            assert_eq!(Semver::parse_tolerant(text).unwrap(), Semver::parse(full).unwrap(), "{text}");
        }
        assert!(Semver::parse_tolerant("1.2-rc").is_err());
    }
}
