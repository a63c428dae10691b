//! Durations as Go reads and writes them; mirrors `time.ParseDuration` and `Duration.String` of Go's standard library,
//! which read and write `metav1.Duration`.

use jiff::SignedDuration;

/// Why a text cannot be parsed as a duration, in Go's words. Each variant holds the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// The text is not a sequence of numbers with units, or the duration overflows.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number has no unit.
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    /// Go has no such unit.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit {
        unit: String,
        /// The whole text.
        text: String,
    },
}

/// Units with their nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Parses a sign and decimal numbers with a unit each, such as `1m30s` or `-1.5h`. The error is Go's.
pub fn parse_duration(text: &str) -> Result<SignedDuration, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (whole, fraction) = rest[..end].split_once('.').unwrap_or((&rest[..end], ""));
        // A number ends at its second point; the point is then read as the unit.
        let (fraction, end) = match fraction.find('.') {
            Some(at) => (&fraction[..at], whole.len() + 1 + at),
            None => (fraction, end),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        rest = &rest[end..];
        let unit_end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = &rest[..unit_end];
        if unit.is_empty() {
            return Err(DurationError::MissingUnit(text.to_owned()));
        }
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(DurationError::UnknownUnit { unit: unit.to_owned(), text: text.to_owned() });
        };
        rest = &rest[unit_end..];
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        let part = whole.checked_mul(*scale).and_then(|n| n.checked_add(fraction_of(fraction, *scale))).ok_or_else(invalid)?;
        total = total.checked_add(part).filter(|t| *t <= 1 << 63).ok_or_else(invalid)?;
    }
    let nanos = if negative { 0i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() };
    nanos.map(SignedDuration::from_nanos).ok_or_else(invalid)
}

/// Returns the digits after the point times the unit, truncated to whole nanoseconds.
fn fraction_of(digits: &str, scale: u64) -> u64 {
    let (mut value, mut weight) = (0u128, 1u128);
    // No unit has more than 13 digits of nanoseconds.
    for digit in digits.bytes().take(18) {
        value = value * 10 + u128::from(digit - b'0');
        weight *= 10;
    }
    u64::try_from(value * u128::from(scale) / weight).unwrap_or(u64::MAX)
}

/// Formats a duration as Go does, such as `1m30s`, `500ms` or `0s`.
pub fn format_duration(duration: SignedDuration) -> String {
    let nanos = duration.as_nanos();
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let decimal = |unit: u128| {
        let (whole, part) = (nanos / unit, nanos % unit);
        let width = unit.ilog10() as usize;
        let fraction = format!("{part:0width$}");
        let fraction = if width == 0 { "" } else { fraction.trim_end_matches('0') };
        if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") }
    };
    match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{nanos}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", decimal(1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", decimal(1_000_000)),
        _ => {
            let minutes = nanos / 60_000_000_000;
            let seconds = decimal(1_000_000_000);
            let (whole, fraction) = seconds.split_once('.').map_or((seconds.as_str(), String::new()), |(w, f)| (w, format!(".{f}")));
            let whole: u128 = whole.parse::<u128>().unwrap_or_default() % 60;
            let (hours, minutes) = (minutes / 60, minutes % 60);
            match (hours, minutes) {
                (0, 0) => format!("{sign}{whole}{fraction}s"),
                (0, _) => format!("{sign}{minutes}m{whole}{fraction}s"),
                _ => format!("{sign}{hours}h{minutes}m{whole}{fraction}s"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written_as_go_does() {
        for (text, nanos, shown) in [
            ("0", 0, "0s"),
            ("0s", 0, "0s"),
            ("+5s", 5_000_000_000, "5s"),
            ("500ms", 500_000_000, "500ms"),
            ("1.5s", 1_500_000_000, "1.5s"),
            (".5s", 500_000_000, "500ms"),
            ("1m30s", 90_000_000_000, "1m30s"),
            ("1h", 3_600_000_000_000, "1h0m0s"),
            ("-1.5h", -5_400_000_000_000, "-1h30m0s"),
            ("1s2s", 3_000_000_000, "3s"),
            ("7us", 7_000, "7µs"),
            ("1500ns", 1_500, "1.5µs"),
            ("3ns", 3, "3ns"),
            ("-9223372036854775808ns", i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            let read = parse_duration(text).unwrap();
            assert_eq!((read.as_nanos(), format_duration(read).as_str()), (i128::from(nanos), shown), "{text}");
        }
        for (text, error) in [
            ("", "time: invalid duration \"\""),
            ("-", "time: invalid duration \"-\""),
            ("s", "time: invalid duration \"s\""),
            (".s", "time: invalid duration \".s\""),
            ("10", "time: missing unit in duration \"10\""),
            ("1.2.3s", "time: missing unit in duration \"1.2.3s\""),
            ("1x", "time: unknown unit \"x\" in duration \"1x\""),
            ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
            ("9999999999999h", "time: invalid duration \"9999999999999h\""),
        ] {
            assert_eq!(parse_duration(text).unwrap_err().to_string(), error);
        }
    }
}
