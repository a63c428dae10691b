//! Text fitting: clips and wraps by columns, not characters, and formats amounts.
//!
//! Texts come from outside: they are measured, clipped and wrapped in their escaped form. Work is bounded by the columns
//! wanted, not by the length of a text.

use std::borrow::Cow;
use std::ops::Range;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::output::escape;
use crate::plural;

/// Limit on the bytes per column: a character of four, and its combining marks.
const BYTES: usize = 4 * 32;

/// Columns that no screen has: texts are measured up to this.
const MOST: usize = 1 << 13;

/// Returns the columns that a text takes on the screen; of one that is wider than any screen, some number above 8192.
pub fn width(text: &str) -> usize {
    if is_plain_ascii(text.as_bytes()) { text.len() } else { measured(text, MOST) }
}

/// Returns the columns that a text takes on the screen, or `None` where they are more than `limit`.
pub fn width_within(text: &str, limit: usize) -> Option<usize> {
    let head = head(text, limit);
    Some(measured(head, limit)).filter(|width| *width <= limit && head.len() == text.len())
}

/// Returns the columns that a text takes on the screen, at most 8192.
pub fn columns(text: &str) -> u16 {
    width_within(text, MOST).unwrap_or(MOST) as u16
}

/// Returns the columns of a text, counted piece by piece until they exceed `limit`.
fn measured(text: &str, limit: usize) -> usize {
    const PIECE: usize = 256;
    let (mut used, mut rest) = (0, text);
    while !rest.is_empty() && used <= limit {
        let mut end = PIECE.min(rest.len());
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, after) = rest.split_at(end);
        used += escape(piece).graphemes(true).map(width_drawn).sum::<usize>();
        rest = after;
    }
    used
}

fn is_plain_ascii(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| matches!(b, b' '..=b'~'))
}

/// Returns the columns of one grapheme as drawn.
fn width_drawn(grapheme: &str) -> usize {
    grapheme.width()
}

/// Returns a prefix that covers at least `columns` + 1 columns, if the text has as many.
fn head(text: &str, columns: usize) -> &str {
    if text.get(..=columns).is_some_and(|start| is_plain_ascii(start.as_bytes())) {
        return &text[..=columns];
    }
    let mut end = columns.saturating_add(2).saturating_mul(BYTES).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns a suffix that covers at least `columns` + 1 columns, if the text has as many.
fn tail(text: &str, columns: usize) -> &str {
    let mut start = text.len() - columns.saturating_add(2).saturating_mul(BYTES).min(text.len());
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Clips a text to `columns`, with an ellipsis if it was longer. Wide characters are never halved.
pub fn clip<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if width_within(text, columns).is_some() {
        return escape(text);
    }
    match columns.checked_sub(width(ellipsis)) {
        Some(room) => Cow::Owned(format!("{}{ellipsis}", prefix(&escape(head(text, columns)), room))),
        None => Cow::Owned(prefix(&escape(head(text, columns)), columns).to_owned()),
    }
}

/// Clips a text to `columns` and always adds an ellipsis.
pub fn cut(text: &str, columns: usize, ellipsis: &str) -> String {
    let head = escape(head(text, columns));
    match columns.checked_sub(width(ellipsis)) {
        Some(room) => format!("{}{ellipsis}", prefix(&head, room)),
        None => prefix(&head, columns).to_owned(),
    }
}

/// Clips a text in its middle: names of pods differ at their ends.
pub fn clip_middle<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if columns < 8 || width_within(text, columns).is_some() {
        return clip(text, columns, ellipsis);
    }
    let end = escape(tail(text, columns));
    let end = suffix(&end, (columns / 3).max(5));
    let head = escape(head(text, columns));
    let head = prefix(&head, columns - width(end) - width(ellipsis));
    Cow::Owned(format!("{head}{ellipsis}{end}"))
}

/// Returns the longest prefix of an escaped text within `room` columns. Combining marks stay with their character.
fn prefix(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.grapheme_indices(true).find_map(|(at, grapheme)| {
        used += width_drawn(grapheme);
        (used > room).then_some(at)
    });
    &text[..end.unwrap_or(text.len())]
}

/// Returns the longest suffix of an escaped text within `room` columns.
fn suffix(text: &str, room: usize) -> &str {
    let mut used = 0;
    let start = text.grapheme_indices(true).rev().find_map(|(at, grapheme)| {
        used += width_drawn(grapheme);
        (used > room).then_some(at + grapheme.len())
    });
    &text[start.unwrap_or(0)..]
}

/// Breaks a text into lines of at most `columns`, between words if possible. Drops blanks at breaks, and joins runs of
/// blanks into one.
pub fn wrap(text: &str, columns: usize) -> impl Iterator<Item = String> {
    wrapped(text, columns).map(|row| joined(&text[row]))
}

/// Returns the ranges of the lines into which [`wrap`] breaks a text.
pub fn wrapped(text: &str, columns: usize) -> Wrapped<'_> {
    Wrapped { text, at: 0, word: 0..0, columns: columns.max(1) }
}

/// Returns the text of such a range, as displayed.
pub fn joined(row: &str) -> String {
    escape(row).split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The iterator of [`wrapped`].
#[derive(Clone, Debug)]
pub struct Wrapped<'a> {
    text: &'a str,
    /// The end of the last word taken.
    at: usize,
    /// The rest of that word.
    word: Range<usize>,
    columns: usize,
}

impl Wrapped<'_> {
    /// Returns the next piece: the rest of a word, or the next word.
    fn word(&mut self) -> Option<Range<usize>> {
        if self.word.is_empty() {
            let rest = &self.text[self.at..];
            let start = self.at + rest.len() - rest.trim_start_matches(' ').len();
            let end = self.text[start..].find(' ').map_or(self.text.len(), |at| start + at);
            (self.word, self.at) = (start..end, end);
        }
        Some(self.word.clone()).filter(|word| !word.is_empty())
    }
}

impl Iterator for Wrapped<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let first = self.word()?;
        let mut row = first.start..first.start;
        let mut used = 0;
        while let Some(word) = self.word() {
            let gap = usize::from(used > 0);
            match width_within(&self.text[word.clone()], self.columns.saturating_sub(used + gap)) {
                Some(width) => {
                    used += gap + width;
                    row.end = word.end;
                    self.word = word.end..word.end;
                }
                None if used > 0 => break,
                None => {
                    row.end = word.start + fitting(&self.text[word.clone()], self.columns);
                    self.word = row.end..word.end;
                    break;
                }
            }
        }
        Some(row)
    }
}

/// Returns how many bytes at the beginning of a text fit, and at least one character, so that wrapping always ends. A
/// character whose marks alone are wider than the line is split.
fn fitting(text: &str, room: usize) -> usize {
    if text.get(..=room).is_some_and(|start| is_plain_ascii(start.as_bytes())) {
        return room;
    }
    let text = head(text, room);
    match beyond(text.grapheme_indices(true), room) {
        Some(0) => {
            // As many marks as are drawn as marks, so that the row is as wide as its character.
            let text = text.char_indices().nth(31).map_or(text, |(end, _)| &text[..end]);
            let first = text.chars().next().map_or(0, char::len_utf8);
            let chars = text.char_indices().map(|(at, c)| (at, &text[at..at + c.len_utf8()]));
            beyond(chars, room).unwrap_or(text.len()).max(first)
        }
        end => end.unwrap_or(text.len()),
    }
}

/// Returns where the first piece begins that ends beyond `room` columns.
fn beyond<'a>(mut pieces: impl Iterator<Item = (usize, &'a str)>, room: usize) -> Option<usize> {
    let mut used = 0;
    pieces.find_map(|(at, piece)| match width_within(piece, room - used) {
        Some(width) => {
            used += width;
            None
        }
        None => Some(at),
    })
}

/// Formats thousandths of a core as cores: `6`, `1.9`, `0.25`.
pub fn cpu(milli: i64) -> String {
    let sign = if milli < 0 { "-" } else { "" };
    let (whole, rest) = (milli.unsigned_abs() / 1000, milli.unsigned_abs() % 1000);
    match rest {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{}", format!("{whole}.{rest:03}").trim_end_matches('0')),
    }
}

/// Formats bytes in the largest binary unit that leaves at least one: `8Gi`, `1.5Gi`, `512Mi`.
pub fn memory(bytes: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let size = bytes.unsigned_abs();
    match UNITS.iter().find(|(unit, _)| size >= unit.unsigned_abs()) {
        Some((unit, name)) if bytes % unit == 0 => format!("{}{name}", bytes / unit),
        Some((unit, name)) => format!("{:.1}{name}", bytes as f64 / *unit as f64),
        None => bytes.to_string(),
    }
}

/// Formats the time of day in UTC.
pub fn time_of_day(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%H:%M:%S").to_string()
}

/// The parts of start times that are written; those that are compared are all written alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartTimes {
    /// The time of day: all are of today.
    #[default]
    OfToday,
    /// Month, day and time: all are of this year.
    OfThisYear,
    /// The date and time.
    Dated,
}

impl StartTimes {
    /// Returns the form in which all times, in nanoseconds since 1970, differ.
    pub fn of(now: Timestamp, all: impl IntoIterator<Item = i64>) -> Self {
        let today = now.to_zoned(TimeZone::UTC);
        let form = |nanos| {
            let at = utc(nanos)?;
            Some(match () {
                () if today.date() == at.date() => Self::OfToday,
                () if today.year() == at.year() => Self::OfThisYear,
                () => Self::Dated,
            })
        };
        // Of times between two others none is written longer.
        let ends = all.into_iter().fold(None, |ends: Option<(i64, i64)>, at| Some(ends.map_or((at, at), |(a, b)| (a.min(at), b.max(at)))));
        ends.and_then(|(first, last)| form(first).max(form(last))).unwrap_or_default()
    }

    /// Writes a start time in UTC; `-` for one out of range.
    pub fn write(self, nanos: i64) -> String {
        let format = match self {
            Self::OfToday => "%H:%M:%S",
            Self::OfThisYear => "%m-%d %H:%M:%S",
            Self::Dated => "%Y-%m-%d %H:%M:%S",
        };
        utc(nanos).map_or_else(|| "-".to_owned(), |at| at.strftime(format).to_string())
    }

    /// Writes the day of a start time in UTC; `-` for one out of range.
    fn write_day(self, nanos: i64) -> String {
        let format = if self == Self::Dated { "%Y-%m-%d" } else { "%m-%d" };
        utc(nanos).map_or_else(|| "-".to_owned(), |at| at.strftime(format).to_string())
    }

    /// Writes two start times that are compared, and the same in fewer columns: only their days if these differ.
    pub fn write_both(now: Timestamp, both: [i64; 2]) -> [[String; 2]; 2] {
        let form = Self::of(now, both);
        let full = both.map(|at| form.write(at));
        let [one, other] = both.map(utc);
        let is_by_day = one.zip(other).is_some_and(|(one, other)| one.date() != other.date());
        let short = if is_by_day { both.map(|at| form.write_day(at)) } else { full.clone() };
        [full, short]
    }
}

fn utc(nanos: i64) -> Option<Zoned> {
    Some(Timestamp::from_nanosecond(i128::from(nanos)).ok()?.to_zoned(TimeZone::UTC))
}

/// Formats the time since a start as `+00:12` or `+1:00:12`.
pub fn since(start: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(start).as_secs();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if h > 0 { format!("{sign}{h}:{m:02}:{s:02}") } else { format!("{sign}{m:02}:{s:02}") }
}

/// Formats the time until a moment: `1.2s`, `4m10s`, `now`.
pub fn until(now: Timestamp, then: Timestamp) -> String {
    let millis = then.duration_since(now).as_millis();
    match millis {
        i128::MIN..=0 => "now".to_owned(),
        1..60_000 => format!("{}.{}s", millis / 1000, millis % 1000 / 100),
        _ => format!("{}m{:02}s", millis / 60_000, millis / 1000 % 60),
    }
}

/// Formats a moment as the time of day in UTC, with the date if it is not today's.
pub fn moment(now: Timestamp, at: Timestamp) -> String {
    let (today, at) = (now.to_zoned(TimeZone::UTC), at.to_zoned(TimeZone::UTC));
    let format = if today.date() == at.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    at.strftime(format).to_string()
}

/// Formats a duration briefly: `0.8s`, `12s`, `4m10s`, `2h05m`, `3d4h`.
pub fn span(from: Timestamp, to: Timestamp) -> String {
    let millis = to.duration_since(from).as_millis().unsigned_abs();
    let (s, m, h) = (millis / 1000, millis / 60_000, millis / 3_600_000);
    match s {
        0..10 if millis % 1000 >= 100 => format!("{s}.{}s", millis % 1000 / 100),
        0..60 => format!("{s}s"),
        60..3600 => format!("{m}m{:02}s", s % 60),
        3600..86_400 => format!("{h}h{:02}m", m % 60),
        _ => format!("{}d{}h", h / 24, h % 24),
    }
}

/// Formats a duration in its largest unit: `90s`, `4m`, `2h`, `3d`.
pub fn age(from: Timestamp, to: Timestamp) -> String {
    age_of(to.as_second().saturating_sub(from.as_second()).max(0).unsigned_abs())
}

/// Returns an age in seconds as [`age`] does.
pub fn age_of(seconds: u64) -> String {
    match seconds {
        seconds @ ..120 => format!("{seconds}s"),
        seconds @ 120..7200 => format!("{}m", seconds / 60),
        seconds @ 7200..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// Returns a number with a noun: `1 node`, `3 nodes`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{} {what}s", thousands(n)) }
}

/// Formats a number with separated thousands.
pub fn thousands(n: usize) -> String {
    plural::thousands(n)
}

#[cfg(test)]
mod tests;
