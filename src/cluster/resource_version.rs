//! `metadata.resourceVersion`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Str;
use super::str::deserialize_with;

/// The version of an object: opaque text by the API's contract, a growing number in practice. It is held as a number if
/// that loses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceVersion(Version);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Version {
    /// A number in its canonical decimal form.
    Number(u64),
    Text(Str),
}

impl ResourceVersion {
    /// Returns the version as a number, if it is one.
    pub fn number(&self) -> Option<u64> {
        match &self.0 {
            Version::Number(number) => Some(*number),
            Version::Text(text) => text.parse().ok(),
        }
    }

    /// Returns whether no version is known.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Version::Text(text) if text.is_empty())
    }
}

impl Default for ResourceVersion {
    fn default() -> Self {
        Self(Version::Text(Str::EMPTY))
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        let number = text.parse().ok().filter(|_| plain);
        Self(number.map_or_else(|| Version::Text(text.into()), Version::Number))
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Version::Number(number) => number.fmt(f),
            Version::Text(text) => text.fmt(f),
        }
    }
}

impl Serialize for ResourceVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ResourceVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_with(deserializer, |text| Self::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_stays_what_it_was() {
        for (text, number, compact) in [
            ("4733993", Some(4_733_993), true),
            ("0", Some(0), true),
            ("18446744073709551615", Some(u64::MAX), true),
            ("18446744073709551616", None, false),
            ("007", Some(7), false),
            ("+7", Some(7), false),
            ("v7", None, false),
            ("", None, false),
        ] {
            let version: ResourceVersion = serde_json::from_value(text.into()).unwrap();
            assert_eq!(version.to_string(), text);
            assert_eq!(serde_json::to_value(&version).unwrap(), text);
            assert_eq!((version.number(), matches!(version.0, Version::Number(_))), (number, compact), "{text}");
            assert_eq!((version.is_empty(), version == ResourceVersion::default()), (text.is_empty(), text.is_empty()));
        }
        assert!(serde_json::from_str::<ResourceVersion>("null").unwrap().is_empty());
        assert!(serde_json::from_str::<ResourceVersion>("7").is_err());
    }
}
