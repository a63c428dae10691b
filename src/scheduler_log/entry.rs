//! Parses one line of klog, as text or JSON, into a message and its values.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::time::When;
use crate::limits::sources::LOG_VALUES;

/// A klog line: a message with its values.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) when: When,
    /// The process id of a text line; 0 for JSON, which has none.
    pub(super) pid: u32,
    pub(super) message: Cow<'a, str>,
    pub(super) values: Values<'a>,
}

/// The values of a line, in the format in which it was written.
#[derive(Debug)]
pub(super) enum Values<'a> {
    /// The rest of a text line, after the message.
    Text(&'a str),
    /// The keys of a JSON object with their values.
    Json(Vec<(Cow<'a, str>, &'a RawValue)>),
    /// The values cut out of the text of an unstructured message.
    Inline(&'a [(&'static str, Cow<'a, str>)]),
}

/// Returns whether a line begins with klog's header: `I1122 10:15:35.117990    1 `.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.len() > 24
        && matches!(line[0], b'I' | b'W' | b'E' | b'F')
        && line[1..5].iter().all(u8::is_ascii_digit)
        && line[5] == b' '
        && line[8] == b':'
        && line[11] == b':'
        && line[14] == b'.'
        && line[21] == b' '
}

impl<'a> Entry<'a> {
    /// Parses a line; `None` if it is not klog's.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        if line.starts_with('{') { Self::json(line) } else { Self::text(line) }
    }

    fn text(line: &'a str) -> Option<Self> {
        let bytes = line.as_bytes();
        if !is_header(bytes) {
            return None;
        }
        let digits = |from: usize, to: usize| -> Option<i64> {
            bytes[from..to].iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
        };
        let (month, day) = (digits(1, 3)?, digits(3, 5)?);
        let (hours, minutes, seconds, micros) = (digits(6, 8)?, digits(9, 11)?, digits(12, 14)?, digits(15, 21)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hours > 23 || minutes > 59 || seconds > 60 {
            return None;
        }
        let micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros;
        let rest = line.get(22..)?.trim_start_matches(' ');
        let (pid, rest) = rest.split_once(' ')?;
        let pid = pid.parse().ok()?;
        let (_, rest) = rest.split_once("] ").or_else(|| rest.strip_suffix(']').map(|place| (place, "")))?;
        let (message, values) = match rest.as_bytes().first() {
            Some(b'"') => {
                let end = quoted_end(rest)?;
                (unquote(&rest[..end]), Values::Text(&rest[end..]))
            }
            _ => (Cow::Borrowed(rest), Values::Text("")),
        };
        Some(Self { when: When::Text { month: month as u8, day: day as u8, micros }, pid, message, values })
    }

    fn json(line: &'a str) -> Option<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(line);
        let pairs = deserializer.deserialize_map(Pairs).ok()?;
        let find = |key: &str| pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.get());
        let milliseconds: f64 = find("ts")?.parse().ok()?;
        let message = serde_json::from_str::<Cow<'a, str>>(find("msg")?).ok()?;
        // A double holds milliseconds since 1970 exactly to the microsecond.
        let when = When::Unix((milliseconds * 1000.0).round() as i64);
        let message = match message {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches('\n')),
            Cow::Owned(text) => Cow::Owned(text.trim_end_matches('\n').to_owned()),
        };
        Some(Self { when, pid: 0, message, values: Values::Json(pairs) })
    }
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::with_capacity(8);
        while let Some(key) = map.next_key::<Borrowed<'de>>()? {
            if pairs.len() < LOG_VALUES {
                pairs.push((key.0, map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(pairs)
    }
}

#[derive(serde::Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

impl Values<'_> {
    /// Returns a value as text: a string without its quotes, an object as `namespace/name`, others as written.
    pub(super) fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => {
                let raw = find(text, key)?;
                Some(match raw.as_bytes().first() {
                    Some(b'"') => unquote(raw),
                    Some(b'<') if raw.starts_with("<\n") => Cow::Owned(lines(raw)),
                    _ => Cow::Borrowed(raw),
                })
            }
            Self::Json(pairs) => {
                let raw = pairs.iter().find(|(name, _)| name == key)?.1.get();
                match raw.as_bytes().first() {
                    Some(b'"') => serde_json::from_str::<Borrowed<'_>>(raw).ok().map(|text| text.0),
                    Some(b'{') => Some(serde_json::from_str::<Reference<'_>>(raw).map_or(Cow::Borrowed(raw), Reference::path)),
                    _ => Some(Cow::Borrowed(raw)),
                }
            }
            Self::Inline(pairs) => pairs.iter().find(|(name, _)| *name == key).map(|(_, text)| Cow::Borrowed(&**text)),
        }
    }

    /// Returns a value that is a whole number.
    pub(super) fn number(&self, key: &str) -> Option<i64> {
        self.text(key)?.parse().ok()
    }

    /// Returns a value as written, such as a map.
    pub(super) fn raw(&self, key: &str) -> Option<&str> {
        match self {
            Self::Text(text) => find(text, key),
            Self::Json(pairs) => pairs.iter().find(|(name, _)| name == key).map(|(_, raw)| raw.get()),
            Self::Inline(_) => None,
        }
    }

    /// Returns whether the key has a value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }
}

/// An object reference in a JSON line.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
}

impl<'a> Reference<'a> {
    fn path(self) -> Cow<'a, str> {
        if self.namespace.is_empty() { self.name } else { Cow::Owned(format!("{}/{}", self.namespace, self.name)) }
    }
}

/// Returns the value of a key in ` key="value" other=1`, including its quotes.
fn find<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\n']);
        // Keys may contain blanks, but no `=`.
        let at = memchr::memchr(b'=', rest.as_bytes())?;
        let (name, value) = (&rest[..at], &rest[at + 1..]);
        let end = value_end(value)?;
        if name == key {
            return value.get(..end);
        }
        rest = value.get(end..)?;
    }
}

/// Returns the end of a value; `None` if it is cut off.
fn value_end(value: &str) -> Option<usize> {
    match value.as_bytes().first() {
        None => Some(0),
        Some(b'"') => quoted_end(value),
        Some(b'<') if value.starts_with("<\n") => value.find("\n >").map(|at| at + 3),
        Some(b'{' | b'[') => balanced_end(value),
        // `map[a:b c:d]`, the notation of maps in older releases.
        Some(b'm') if value.starts_with("map[") => balanced_end(value),
        _ => Some(memchr::memchr2(b' ', b'\n', value.as_bytes()).unwrap_or(value.len())),
    }
}

/// Returns the end of a text in double quotes, after the closing quote.
fn quoted_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn balanced_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += quoted_end(&text[at..])? - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns a multi-line value without the tab before each line.
fn lines(raw: &str) -> String {
    let inner = raw.strip_prefix("<\n").unwrap_or(raw);
    let inner = inner.strip_suffix("\n >").unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    for (n, line) in inner.split('\n').enumerate() {
        if n > 0 {
            text.push('\n');
        }
        text.push_str(line.strip_prefix('\t').unwrap_or(line));
    }
    text
}

/// Reads a Go string literal in double quotes; invalid escapes are kept as they are.
fn unquote(literal: &str) -> Cow<'_, str> {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out: Vec<u8> = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let Some(sign) = rest.bytes().next() else { break };
        let number = |from: usize, count: usize, radix: u32| {
            let digits = rest.get(from..from + count)?;
            u32::from_str_radix(digits, radix).ok().map(|code| (code, from + count))
        };
        let plain = match sign {
            b'n' => Some(b'\n'),
            b't' => Some(b'\t'),
            b'r' => Some(b'\r'),
            b'a' => Some(7),
            b'b' => Some(8),
            b'f' => Some(12),
            b'v' => Some(11),
            b'\\' | b'"' | b'\'' => Some(sign),
            _ => None,
        };
        let code = match sign {
            _ if plain.is_some() => plain.map(|byte| (Ok(byte), 1)),
            b'x' => number(1, 2, 16).map(|(code, end)| (Ok(code as u8), end)),
            b'0'..=b'3' => number(0, 3, 8).map(|(code, end)| (Ok(code as u8), end)),
            b'u' => number(1, 4, 16).map(|(code, end)| (Err(code), end)),
            b'U' => number(1, 8, 16).map(|(code, end)| (Err(code), end)),
            _ => None,
        };
        match code {
            Some((Ok(byte), end)) => {
                out.push(byte);
                rest = &rest[end..];
            }
            Some((Err(code), end)) => {
                let sign = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[end..];
            }
            None => out.push(b'\\'),
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Cow::Owned(String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Returns the names in a set of plugins: `{"A":{},"B":{}}`, `map[A:{} B:{}]` or `["A","B"]`, sorted.
#[allow(clippy::zero_sized_map_values, reason = "values of any kind are skipped")]
pub(super) fn set(raw: &str) -> Vec<String> {
    let mut names: Vec<String> = match raw.as_bytes().first() {
        Some(b'{') => serde_json::from_str::<std::collections::BTreeMap<String, IgnoredAny>>(raw).unwrap_or_default().into_keys().collect(),
        Some(b'[') => serde_json::from_str::<Vec<String>>(raw).unwrap_or_else(|_| words(&raw[1..])),
        Some(b'm') => words(raw.trim_start_matches("map[")),
        _ => Vec::new(),
    };
    names.sort_unstable();
    names
}

fn words(inner: &str) -> Vec<String> {
    let inner = inner.trim_end_matches(']');
    inner.split_whitespace().map(|word| word.split(':').next().unwrap_or(word).to_owned()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests;
