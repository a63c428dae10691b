//! Text that fits: clipping and wrapping by columns rather than characters, and amounts as an operator reads them.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

/// Columns that a text takes on the screen.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text in at most `columns`, with an ellipsis where something was cut; wide characters are never halved.
pub fn clip<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(width(ellipsis));
    let cut = prefix(text, room);
    if columns < width(ellipsis) { Cow::Borrowed(prefix(text, columns)) } else { Cow::Owned(format!("{cut}{ellipsis}")) }
}

/// The beginning of a text and an ellipsis, in at most `columns`, whether or not the text alone would have fitted.
pub fn cut(text: &str, columns: usize, ellipsis: &str) -> String {
    match columns.checked_sub(width(ellipsis)) {
        Some(room) => format!("{}{ellipsis}", prefix(text, room)),
        None => prefix(text, columns).to_owned(),
    }
}

/// The text in at most `columns`, cut in its middle: the names of pods begin alike and end apart.
pub fn clip_middle<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if width(text) <= columns || columns < 8 {
        return clip(text, columns, ellipsis);
    }
    let tail_room = (columns / 3).max(5);
    let start = text.char_indices().map(|(i, _)| i).find(|i| width(&text[*i..]) <= tail_room).unwrap_or(text.len());
    let head = prefix(text, columns - width(&text[start..]) - width(ellipsis));
    Cow::Owned(format!("{head}{ellipsis}{}", &text[start..]))
}

/// The longest beginning that takes at most `columns`; marks that combine with the last character stay with it.
fn prefix(text: &str, columns: usize) -> &str {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        if width(&text[..next]) > columns {
            break;
        }
        end = next;
    }
    &text[..end]
}

/// Breaks a text into lines of at most `columns`, between words where it can.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ').filter(|w| !w.is_empty()) {
            let mut word = word;
            if !line.is_empty() && width(&line) + 1 + width(word) > columns {
                lines.push(std::mem::take(&mut line));
            }
            while width(word) > columns {
                let mut head = prefix(word, columns);
                if head.is_empty() {
                    // A single wide character in a single column: it cannot fit, and must not hold things up.
                    head = &word[..word.chars().next().map_or(word.len(), char::len_utf8)];
                }
                lines.push(head.to_owned());
                word = &word[head.len()..];
            }
            if !line.is_empty() && !word.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if !line.is_empty() || paragraph.is_empty() {
            lines.push(line);
        }
    }
    lines
}

/// Thousandths of a core, as cores: `6`, `1.9`, `0.25`.
pub fn cpu(milli: i64) -> String {
    let sign = if milli < 0 { "-" } else { "" };
    let (whole, rest) = (milli.unsigned_abs() / 1000, milli.unsigned_abs() % 1000);
    match rest {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{}", format!("{whole}.{rest:03}").trim_end_matches('0')),
    }
}

/// Bytes in the largest binary unit that leaves at least one: `8Gi`, `1.5Gi`, `512Mi`.
pub fn memory(bytes: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let size = bytes.unsigned_abs();
    match UNITS.iter().find(|(unit, _)| size >= unit.unsigned_abs()) {
        Some((unit, name)) if bytes % unit == 0 => format!("{}{name}", bytes / unit),
        Some((unit, name)) => format!("{:.1}{name}", bytes as f64 / *unit as f64),
        None => bytes.to_string(),
    }
}

/// The time of day in UTC.
pub fn time_of_day(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%H:%M:%S").to_string()
}

/// The time of day in UTC from nanoseconds since 1970; a dash for what no clock shows.
pub fn time_of_day_nanos(nanos: i64) -> String {
    Timestamp::from_nanosecond(i128::from(nanos)).map_or_else(|_| "-".to_owned(), time_of_day)
}

/// Time gone by since a start, as `+00:12` or `+1:00:12`.
pub fn since(start: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(start).as_secs();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if h > 0 { format!("{sign}{h}:{m:02}:{s:02}") } else { format!("{sign}{m:02}:{s:02}") }
}

/// How long until a moment, for waiting lists: `1.2s`, `4m10s`, `now`.
pub fn until(now: Timestamp, then: Timestamp) -> String {
    let millis = then.duration_since(now).as_millis();
    match millis {
        i128::MIN..=0 => "now".to_owned(),
        1..60_000 => format!("{}.{}s", millis / 1000, millis % 1000 / 100),
        _ => format!("{}m{:02}s", millis / 60_000, millis / 1000 % 60),
    }
}

/// A moment as an operator reads it: the time of day in UTC, with the date where that is not today's.
pub fn moment(now: Timestamp, at: Timestamp) -> String {
    let (today, at) = (now.to_zoned(TimeZone::UTC), at.to_zoned(TimeZone::UTC));
    let format = if today.date() == at.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    at.strftime(format).to_string()
}

/// A length of time, as short as can be: `0.8s`, `12s`, `4m10s`, `2h05m`, `3d4h`.
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

/// `1 node`, `3 nodes`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{} {what}s", thousands(n)) }
}

/// Returns how far a budget is overdrawn by the disruptions it has left: `1 over its budget`.
pub fn over_budget(left: i32) -> String {
    format!("{} over its budget", left.saturating_neg())
}

/// A number with its thousands apart.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clipping_counts_columns() {
        let check = |text: &str, columns: usize, expected: &str| {
            let clipped = clip(text, columns, "…");
            assert_eq!(clipped, expected, "{text:?} in {columns}");
            assert!(width(&clipped) <= columns);
        };
        check("worker-a1", 9, "worker-a1");
        check("worker-a1", 8, "worker-…");
        check("worker-a1", 1, "…");
        check("worker-a1", 0, "");
        check("節点一号", 8, "節点一号");
        check("節点一号", 7, "節点一…");
        check("節点一号", 6, "節点…");
        check("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}");
        check("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…");
        assert_eq!(clip("worker", 4, "..."), "w...");
    }

    #[test]
    fn pod_names_keep_their_end() {
        let check = |text: &str, columns: usize, expected: &str| assert_eq!(clip_middle(text, columns, "…"), expected);
        check("shop/spread-85969bc548-7z2j5", 28, "shop/spread-85969bc548-7z2j5");
        check("shop/spread-85969bc548-7z2j5", 20, "shop/spread-8…-7z2j5");
        check("shop/spread-85969bc548-7z2j5", 6, "shop/…");
        check("節点/節点節点節点節点", 12, "節点/節…節点");
        assert_eq!(cut("abc", 3, "…"), "ab…");
        assert_eq!(cut("abc", 0, "…"), "");
    }

    #[test]
    fn wrapping_keeps_every_character() {
        let check = |text: &str, columns: usize, expected: &[&str]| assert_eq!(wrap(text, columns), expected, "{text:?}");
        check("0/12 nodes are available", 10, &["0/12 nodes", "are", "available"]);
        check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
        check("ab abcdefghij k", 4, &["ab", "abcd", "efgh", "ij k"]);
        check("a\nb", 4, &["a", "b"]);
        check("節点", 1, &["節", "点"]);
        check("", 4, &[]);
    }

    #[test]
    fn amounts_read_naturally() {
        for (milli, text) in [(6000, "6"), (1900, "1.9"), (250, "0.25"), (1, "0.001"), (0, "0"), (-500, "-0.5")] {
            assert_eq!(cpu(milli), text);
        }
        for (bytes, text) in [(8 << 30, "8Gi"), (3 << 29, "1.5Gi"), (512 << 20, "512Mi"), (1000, "1000"), (0, "0"), (-(1 << 30), "-1Gi")] {
            assert_eq!(memory(bytes), text);
        }
        for (n, text) in [(5, "5"), (999, "999"), (5000, "5,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(n), text);
        }
    }

    #[test]
    fn times_read_naturally() {
        let at = |s: i64| Timestamp::from_second(s).unwrap();
        assert_eq!(since(at(0), at(12)), "+00:12");
        assert_eq!(since(at(0), at(3612)), "+1:00:12");
        assert_eq!(until(at(0), at(0)), "now");
        assert_eq!(until(at(0), Timestamp::from_millisecond(1250).unwrap()), "1.2s");
        assert_eq!(until(at(0), at(250)), "4m10s");
        assert_eq!(moment(at(0), at(12)), "00:00:12");
        assert_eq!(moment(at(0), at(86_412)), "1970-01-02 00:00:12");
        for (millis, text) in
            [(0, "0s"), (850, "0.8s"), (9900, "9.9s"), (12_300, "12s"), (250_000, "4m10s"), (7_500_000, "2h05m"), (273_600_000, "3d4h")]
        {
            assert_eq!(span(at(0), Timestamp::from_millisecond(millis).unwrap()), text);
        }
        assert_eq!(time_of_day(at(1_795_199_129)), "18:25:29");
        assert_eq!(time_of_day_nanos(i64::MAX), "23:47:16");
    }
}
