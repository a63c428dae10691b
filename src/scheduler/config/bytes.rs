//! Bytes that a configuration writes in base64, such as certificates.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Bytes, read from base64 with padding; null and a missing field are no bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        decoded(text.as_bytes()).map(Self).ok_or_else(|| D::Error::custom("illegal base64 data"))
    }
}

/// Returns the six bits of a digit; `None` for any other byte.
fn digit(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

/// Decodes base64 with padding; `None` for any other text. As in Go, line breaks are skipped, and unused bits may be set.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let (groups, []) = text.as_chunks::<4>() else { return None };
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    for (i, group) in groups.iter().enumerate() {
        let padding = group.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 || padding > 0 && i + 1 < groups.len() {
            return None;
        }
        let digits = group[..4 - padding].iter().map(|byte| digit(*byte));
        let bits = digits.rev().enumerate().try_fold(0, |bits, (at, digit)| Some(bits | digit? << (6 * (at + padding))))?;
        let [_, three @ ..] = bits.to_be_bytes();
        bytes.extend_from_slice(&three[..3 - padding]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_with_padding() {
        for (text, expected) in [
            ("", Some(&b""[..])),
            ("Zg==", Some(b"f")),
            ("Zm8=", Some(b"fo")),
            ("Zm9v", Some(b"foo")),
            ("Zm9vYmE=", Some(b"fooba")),
            ("+/+/", Some(b"\xfb\xff\xbf")),
            ("Zg=", None),
            ("Zg", None),
            ("Zm\r\n9v\n", Some(b"foo")),
            ("Zh==", Some(b"f")),
            ("Z===", None),
            ("====", None),
            ("Zg==Zg==", None),
            ("Z=g=", None),
            ("Zm9 ", None),
        ] {
            assert_eq!(decoded(text.as_bytes()).as_deref(), expected, "{text}");
        }
        assert_eq!(serde_json::from_str::<Bytes>("null").unwrap(), Bytes::default());
        assert!(serde_json::from_str::<Bytes>("\"Z\"").unwrap_err().to_string().contains("illegal base64 data"));
    }
}
