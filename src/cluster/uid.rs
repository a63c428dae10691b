//! `metadata.uid`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Str;
use super::str::deserialize_with;

/// The uid of an object: opaque text by the API's contract, a UUID in practice, which is held as a number.
#[derive(Clone, PartialEq, Eq)]
pub struct Uid(Form);

#[derive(Clone, PartialEq, Eq)]
enum Form {
    /// A UUID in lower case.
    Uuid([u8; 16]),
    /// Any other text.
    Text(Str),
}

/// The length of a UUID as text, and the places of its hyphens.
const LENGTH: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

impl Uid {
    /// No uid.
    pub const EMPTY: Self = Self(Form::Text(Str::EMPTY));

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Form::Text(text) if text.is_empty())
    }

    /// Returns the text.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Text(text) => Cow::Borrowed(text),
            Form::Uuid(bytes) => Cow::Owned(String::from_utf8_lossy(&written(*bytes)).into_owned()),
        }
    }

    fn is(&self, text: &str) -> bool {
        match &self.0 {
            Form::Text(own) => own == text,
            Form::Uuid(bytes) => text.as_bytes() == written(*bytes),
        }
    }
}

/// Reads a UUID in lower case; `None` for any other text.
fn parse(text: &str) -> Option<[u8; 16]> {
    let text: &[u8; LENGTH] = text.as_bytes().try_into().ok()?;
    let (mut bytes, mut at, mut hyphens) = ([0; 16], 0, 0);
    for byte in &mut bytes {
        if hyphens < HYPHENS.len() && at == HYPHENS[hyphens] {
            (text[at] == b'-').then_some(())?;
            (at, hyphens) = (at + 1, hyphens + 1);
        }
        let (high, low) = (DIGITS[usize::from(text[at])], DIGITS[usize::from(text[at + 1])]);
        (high | low < 16).then_some(())?;
        *byte = high << 4 | low;
        at += 2;
    }
    Some(bytes)
}

/// The values of hexadecimal digits in lower case; 16 for all other bytes.
const DIGITS: [u8; 256] = {
    let mut values = [16; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value] as usize] = value as u8;
        value += 1;
    }
    values
};

fn written(bytes: [u8; 16]) -> [u8; LENGTH] {
    let mut text = [b'-'; LENGTH];
    let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
    for (place, byte) in bytes.into_iter().enumerate() {
        let at = 2 * place + HYPHENS.iter().enumerate().filter(|(before, hyphen)| 2 * place + before >= **hyphen).count();
        (text[at], text[at + 1]) = (digit(byte >> 4), digit(byte & 15));
    }
    text
}

impl Default for Uid {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        Self(parse(text).map_or_else(|| Form::Text(text.into()), Form::Uuid))
    }
}

impl From<String> for Uid {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<Str> for Uid {
    fn from(text: Str) -> Self {
        Self(parse(&text).map_or(Form::Text(text), Form::Uuid))
    }
}

impl From<Uid> for Str {
    fn from(uid: Uid) -> Self {
        match uid.0 {
            Form::Text(text) => text,
            Form::Uuid(_) => uid.text().as_ref().into(),
        }
    }
}

impl Hash for Uid {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Form::Text(text) => text.hash(state),
            Form::Uuid(bytes) => u128::from_ne_bytes(*bytes).hash(state),
        }
    }
}

impl PartialOrd for Uid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By text.
impl Ord for Uid {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Form::Uuid(a), Form::Uuid(b)) => a.cmp(b),
            _ => self.text().cmp(&other.text()),
        }
    }
}

impl PartialEq<str> for Uid {
    fn eq(&self, other: &str) -> bool {
        self.is(other)
    }
}

impl PartialEq<&str> for Uid {
    fn eq(&self, other: &&str) -> bool {
        self.is(other)
    }
}

impl PartialEq<String> for Uid {
    fn eq(&self, other: &String) -> bool {
        self.is(other)
    }
}

impl PartialEq<Str> for Uid {
    fn eq(&self, other: &Str) -> bool {
        self.is(other)
    }
}

impl PartialEq<Uid> for Str {
    fn eq(&self, other: &Uid) -> bool {
        other.is(self)
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text())
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), f)
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_with(deserializer, |text| Self::from(text))
    }
}

#[cfg(test)]
mod tests;
