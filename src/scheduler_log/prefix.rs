//! Strips what a container runtime, kubectl or journald writes before a scheduler's lines.

use std::borrow::Cow;

use serde::Deserialize;

use super::entry::is_header;
use super::time::rfc3339;
use crate::limits::sources::LOG_PREFIXES;

/// A line without its prefix.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stripped<'a> {
    /// The scheduler's own text.
    pub(super) text: Cow<'a, [u8]>,
    /// The writer that the prefix names: a pod and container, or a host; empty if it names none.
    pub(super) source: Cow<'a, [u8]>,
    /// The time in the prefix, in microseconds since 1970.
    pub(super) time: Option<i64>,
    /// The next line of this source continues the line.
    pub(super) partial: bool,
}

/// Strips the prefixes of a line.
pub(super) fn strip(line: &[u8]) -> Stripped<'_> {
    let mut found = Stripped { text: Cow::Borrowed(line), source: Cow::Borrowed(b""), time: None, partial: false };
    if is_plain(line) {
        return found;
    }
    if line.first() == Some(&b'{') {
        return envelope(line).unwrap_or(found);
    }
    let mut rest = line;
    for _ in 0..LOG_PREFIXES {
        if is_plain(rest) {
            break;
        }
        let Some(next) = kubectl(rest, &mut found).or_else(|| timestamp(rest, &mut found)).or_else(|| journal(rest, &mut found)) else {
            break;
        };
        rest = next;
    }
    if rest.len() == line.len()
        && let Some(at) = header_within(rest)
    {
        found.source = Cow::Borrowed(rest[..at].trim_ascii());
        rest = &rest[at..];
    }
    found.text = Cow::Borrowed(rest);
    found
}

/// Returns whether a line begins as kube-scheduler writes it: with klog's header, as JSON, or inside a value.
fn is_plain(line: &[u8]) -> bool {
    match line.first() {
        Some(b'\t') | None => true,
        Some(b'I' | b'W' | b'E' | b'F') => is_header(line),
        Some(b' ') => line.starts_with(b" >"),
        Some(b'{') => line.starts_with(b"{\"ts\":"),
        _ => false,
    }
}

/// Strips `[pod/kube-scheduler-cp-1/kube-scheduler] `.
fn kubectl<'a>(line: &'a [u8], found: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(b"[pod/")?;
    let end = memchr::memchr(b']', rest)?;
    found.source = Cow::Borrowed(&rest[..end]);
    Some(rest[end + 1..].strip_prefix(b" ").unwrap_or(&rest[end + 1..]))
}

/// Strips `2026-11-22T10:15:35.123456789Z ` and, after it, the stream and tag of a CRI line (`stderr F `) or the host
/// and unit of a journal line.
fn timestamp<'a>(line: &'a [u8], found: &mut Stripped<'a>) -> Option<&'a [u8]> {
    if line.len() < 20 || !line[..4].iter().all(u8::is_ascii_digit) || line[4] != b'-' {
        return None;
    }
    let end = memchr::memchr(b' ', &line[..line.len().min(48)]).unwrap_or(line.len().min(48));
    found.time = Some(rfc3339(&line[..end])?);
    let rest = line.get(end + 1..).unwrap_or_default();
    let stream = rest.strip_prefix(b"stderr ").or_else(|| rest.strip_prefix(b"stdout "));
    if let Some(tagged) = stream {
        if let Some(rest) = tagged.strip_prefix(b"P ") {
            found.partial = true;
            return Some(rest);
        }
        return Some(tagged.strip_prefix(b"F ").or_else(|| tagged.strip_prefix(b"F")).unwrap_or(tagged));
    }
    Some(unit(rest, found).unwrap_or(rest))
}

/// Strips `Nov 22 10:15:35 host kube-scheduler[1312]: `.
fn journal<'a>(line: &'a [u8], found: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let head = line.get(..16)?;
    let is_date =
        head[..3].iter().all(u8::is_ascii_alphabetic) && head[3] == b' ' && head[9] == b':' && head[12] == b':' && head[15] == b' ';
    unit(line.get(16..).filter(|_| is_date)?, found)
}

/// Strips `host kube-scheduler[1312]: `.
fn unit<'a>(rest: &'a [u8], found: &mut Stripped<'a>) -> Option<&'a [u8]> {
    let host = memchr::memchr(b' ', &rest[..rest.len().min(254)])?;
    let name = &rest[host + 1..];
    let end = memchr::memmem::find(&name[..name.len().min(300)], b"]: ")?;
    memchr::memchr(b'[', &name[..end])?;
    found.source = Cow::Borrowed(&rest[..host]);
    Some(&name[end + 3..])
}

/// Returns the offset of klog's header after an unknown prefix.
fn header_within(line: &[u8]) -> Option<usize> {
    let near = line.len().min(300);
    memchr::memchr_iter(b' ', &line[..near]).map(|at| at + 1).find(|at| is_header(&line[*at..]))
}

/// A line as JSON of Docker's `json-file` or of `journalctl -o json`.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    log: Option<Cow<'a, str>>,
    #[serde(borrow)]
    time: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "MESSAGE")]
    message: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "_HOSTNAME")]
    host: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "__REALTIME_TIMESTAMP")]
    micros: Option<Cow<'a, str>>,
}

fn envelope(line: &[u8]) -> Option<Stripped<'_>> {
    let found: Envelope<'_> = serde_json::from_slice(line).ok()?;
    let bytes = |text: Cow<'_, str>| Cow::Owned(text.into_owned().into_bytes());
    if let Some(mut text) = found.log {
        // Docker splits lines above 16 KiB, and only the last piece ends with a line feed.
        let partial = !text.ends_with('\n');
        if !partial {
            text = text.trim_end_matches(['\n', '\r']).to_owned().into();
        }
        let time = found.time.and_then(|time| rfc3339(time.as_bytes()));
        return Some(Stripped { text: bytes(text), source: Cow::Borrowed(b""), time, partial });
    }
    let text = found.message?;
    let time = found.micros.and_then(|micros| micros.parse().ok());
    Some(Stripped { text: bytes(text), source: found.host.map_or(Cow::Borrowed(b""), bytes), time, partial: false })
}

#[cfg(test)]
mod tests;
