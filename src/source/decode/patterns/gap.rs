//! Gaps of patterns: which strings of a pod's text are gaps, and what may fill them.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use crate::source::read::split::skip_string;

/// A part of a pod whose text has a pattern of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Metadata,
    Spec,
    Status,
}

/// A gap, by the field that its text fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// `metadata.name`
    Name,
    /// `metadata.uid`
    Uid,
    /// `metadata.resourceVersion`
    Version,
    /// `metadata.creationTimestamp`
    Created,
    /// `spec.nodeName`
    Node,
    /// `status.startTime`
    Started,
    /// `lastTransitionTime` of a condition that is not kept
    Transition,
    /// A time that is not read.
    Time,
    /// A text that is not read.
    Text,
    /// The last letters of the name of a volume that the API server adds to each pod.
    Suffix,
}

/// The start of the name of the volume that the API server adds to each pod, and the length of its end.
const ADDED_VOLUME: &[u8] = b"kube-api-access-";
const SUFFIX: usize = 5;

/// The length of a time as the API server writes it.
const TIME: usize = "2026-01-01T00:00:00Z".len();

impl Gap {
    /// Returns the length of what fills the gap at the start of `text`, which is that of a string up to its closing quote; `None`
    /// if the text there is another one.
    pub(super) fn length(self, text: &[u8]) -> Option<usize> {
        let length = match self {
            Self::Created | Self::Started | Self::Transition | Self::Time => TIME,
            Self::Suffix => SUFFIX,
            _ => memchr::memchr(b'"', text)?,
        };
        (length > 0 && text.get(length) == Some(&b'"') && self.takes(&text[..length])).then_some(length)
    }

    fn takes(self, text: &[u8]) -> bool {
        match self {
            Self::Created | Self::Started | Self::Transition | Self::Time => is_time(text),
            Self::Suffix => text.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
            // Without an early end, many bytes are compared at once.
            _ => text.iter().fold(true, |are_plain, byte| are_plain & is_plain(*byte)),
        }
    }

    /// Returns another text for the gap.
    pub(super) fn other(self, text: &[u8]) -> &'static [u8] {
        let [one, two]: [&[u8]; 2] = match self {
            Self::Created | Self::Started | Self::Transition | Self::Time => [b"2001-02-03T04:05:06Z", b"2002-03-04T05:06:07Z"],
            Self::Suffix => [b"xxxxx", b"yyyyy"],
            Self::Version => [b"1", b"2"],
            _ => [b"x", b"y"],
        };
        if text == one { two } else { one }
    }
}

/// Returns whether a byte means itself in a JSON string.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// Returns whether a text is a time as the API server writes it.
fn is_time(text: &[u8]) -> bool {
    const FORM: &[u8; TIME] = b"0000-00-00T00:00:00Z";
    let pair = |at: usize| (text[at] - b'0') * 10 + (text[at + 1] - b'0');
    text.len() == TIME
        && text.iter().zip(FORM).all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form })
        && (1..=12).contains(&pair(5))
        && ((1..=28).contains(&pair(8)) || parse(text).is_some())
        && pair(11) < 24
        && pair(14) < 60
        && pair(17) < 60
}

/// Parses a time of the form that [`is_time`] takes.
pub(super) fn parse(text: &[u8]) -> Option<Timestamp> {
    let number = |range: Range<usize>| text[range].iter().fold(0, |number, digit| number * 10 + i16::from(*digit - b'0'));
    let pair = |at: usize| number(at..at + 2) as i8;
    let time = DateTime::new(number(0..4), pair(5), pair(8), pair(11), pair(14), pair(17), 0).ok()?;
    Offset::UTC.to_timestamp(time).ok()
}

/// The texts in the gaps of a pod's text.
#[derive(Debug, Default)]
pub(super) struct Fills<'t> {
    pub(super) name: Option<&'t [u8]>,
    pub(super) uid: Option<&'t [u8]>,
    pub(super) version: Option<&'t [u8]>,
    pub(super) created: Option<&'t [u8]>,
    pub(super) node: Option<&'t [u8]>,
    pub(super) started: Option<&'t [u8]>,
    /// The newest time of a transition. Times of one form sort as text.
    pub(super) transition: Option<&'t [u8]>,
}

impl<'t> Fills<'t> {
    pub(super) fn put(&mut self, gap: Gap, text: &'t [u8]) {
        match gap {
            Gap::Name => self.name = Some(text),
            Gap::Uid => self.uid = Some(text),
            Gap::Version => self.version = Some(text),
            Gap::Created => self.created = Some(text),
            Gap::Node => self.node = Some(text),
            Gap::Started => self.started = Some(text),
            Gap::Transition => self.transition = self.transition.max(Some(text)),
            Gap::Time | Gap::Text | Gap::Suffix => {}
        }
    }
}

/// Finds the gaps in the text of a part, which must be a valid JSON object. A gap depends on the keys above it and on the text
/// before it.
pub(super) fn gaps(part: Part, text: &[u8]) -> Vec<(Range<usize>, Gap)> {
    let mut gaps = Vec::new();
    // The key of each open object; `None` for an array.
    let mut open: Vec<Option<&[u8]>> = Vec::new();
    let (mut at, mut is_key) = (0, false);
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' => {
                open.push(Some(&[]));
                is_key = true;
            }
            b'[' => {
                open.push(None);
                is_key = false;
            }
            b'}' | b']' => drop(open.pop()),
            b',' => is_key = open.last().is_some_and(Option::is_some),
            b':' => is_key = false,
            b'"' => {
                let Some(end) = skip_string(text, at) else { return gaps };
                let string = at + 1..end - 1;
                if is_key {
                    if let Some(key) = open.last_mut() {
                        *key = Some(&text[string]);
                    }
                } else if let Some((range, gap)) = gap(part, &open, text, string) {
                    gaps.push((range, gap));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    gaps
}

/// Returns the gap in a string, by the keys above it.
fn gap(part: Part, open: &[Option<&[u8]>], text: &[u8], string: Range<usize>) -> Option<(Range<usize>, Gap)> {
    let keys = || open.iter().flatten();
    let key = open.last().copied().flatten()?;
    let top = keys().next().copied()?;
    let gap = match (part, keys().count(), top, key) {
        (Part::Metadata, 1, _, b"name") => Gap::Name,
        (Part::Metadata, 1, _, b"uid") => Gap::Uid,
        (Part::Metadata, 1, _, b"resourceVersion") => Gap::Version,
        (Part::Metadata, 1, _, b"creationTimestamp") => Gap::Created,
        (Part::Metadata, 2, b"managedFields", b"time") => Gap::Time,
        (Part::Spec, 1, _, b"nodeName") => Gap::Node,
        (Part::Spec, 1, _, b"hostname") => Gap::Text,
        (Part::Spec, ..) if text[string.clone()].starts_with(ADDED_VOLUME) => {
            let range = string.start + ADDED_VOLUME.len()..string.end;
            return Gap::Suffix.length(&text[range.start..]).map(|_| (range, Gap::Suffix));
        }
        (Part::Status, 1, _, b"startTime") => Gap::Started,
        (Part::Status, 2, b"conditions", b"lastTransitionTime") => Gap::Transition,
        (Part::Status, 2, b"conditions", b"lastProbeTime") => Gap::Time,
        (Part::Status, _, _, b"startedAt" | b"finishedAt") => Gap::Time,
        (Part::Status, _, _, b"containerID" | b"image" | b"imageID" | b"hostIP" | b"ip" | b"podIP") => Gap::Text,
        _ => return None,
    };
    (gap.length(&text[string.start..]) == Some(string.len())).then_some((string, gap))
}
