//! Moments as they are typed: a time, a time of day, or a time before the end.

use std::time::Duration;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A moment of a record, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtTime {
    /// A time in RFC 3339.
    At(Timestamp),
    /// A time of the last day of the record, in UTC.
    Clock(Time),
    /// Time before the end of the record.
    Before(SignedDuration),
    /// A revision of etcd.
    Revision(u64),
}

/// Why a text is no moment or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AtTimeError {
    /// It is no moment.
    #[error("expected RFC 3339, HH:MM[:SS] of the last day (UTC), -5m before the end, or rev:N of a snapshot of etcd")]
    Moment,
    /// It is no length of time.
    #[error("expected a time such as 90s, 15m, 24h or 7d")]
    Length,
}

impl std::str::FromStr for AtTime {
    type Err = AtTimeError;

    fn from_str(text: &str) -> Result<Self, AtTimeError> {
        let of_clock = || {
            let digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            let parts: Vec<&str> = text.split(':').collect();
            let is_clock = (parts.len() == 2 || parts.len() == 3) && parts.iter().all(|part| digits(part));
            let number = |at: usize| parts.get(at).map_or(Some(0), |part| part.parse::<i8>().ok());
            if is_clock { Time::new(number(0)?, number(1)?, number(2)?, 0).ok() } else { None }
        };
        if let Some(time) = of_clock() {
            return Ok(Self::Clock(time));
        }
        if let Some(revision) = text.strip_prefix("rev:") {
            let digits = revision.bytes().all(|byte| byte.is_ascii_digit());
            return revision.parse().ok().filter(|_| digits).map(Self::Revision).ok_or(AtTimeError::Moment);
        }
        if let Some(before) = text.strip_prefix('-') {
            return parse_length(before).map(|before| Self::Before(before.try_into().unwrap_or(SignedDuration::MAX)));
        }
        text.parse().map(Self::At).map_err(|_| AtTimeError::Moment)
    }
}

impl AtTime {
    /// Returns the moment in a record that ends at `end`; `None` for a revision, which is no time.
    pub fn in_record(self, end: Timestamp) -> Option<Timestamp> {
        match self {
            Self::At(time) => Some(time),
            Self::Before(before) => Some(end.checked_sub(before).unwrap_or(Timestamp::MIN)),
            Self::Clock(time) => {
                let civil = end.to_zoned(TimeZone::UTC).datetime();
                let at = civil.date().to_datetime(time);
                let at = if at > civil { at.checked_sub(SignedDuration::from_hours(24)).unwrap_or(at) } else { at };
                Some(at.to_zoned(TimeZone::UTC).map_or(end, |zoned| zoned.timestamp()))
            }
            Self::Revision(_) => None,
        }
    }
}

/// Parses a length of time such as `90s`, `1h30m` or `7d`.
///
/// # Errors
/// Returns an error if the text is none.
pub fn parse_length(text: &str) -> Result<Duration, AtTimeError> {
    let (mut total, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or(AtTimeError::Length)?;
        let number: u64 = rest[..digits].parse().map_err(|_| AtTimeError::Length)?;
        let seconds = match rest.as_bytes()[digits] {
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            b'd' => 86_400,
            _ => return Err(AtTimeError::Length),
        };
        let part = number.checked_mul(seconds).map(Duration::from_secs).ok_or(AtTimeError::Length)?;
        total = total.checked_add(part).ok_or(AtTimeError::Length)?;
        rest = &rest[digits + 1..];
    }
    if text.is_empty() { Err(AtTimeError::Length) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_they_are_typed() {
        let clock = |hour, minute, second| AtTime::Clock(Time::new(hour, minute, second, 0).unwrap());
        for (text, expected) in [
            ("03:12", Some(clock(3, 12, 0))),
            ("03:12:45", Some(clock(3, 12, 45))),
            ("-5m", Some(AtTime::Before(SignedDuration::from_mins(5)))),
            ("2026-11-27T03:12:00Z", Some(AtTime::At("2026-11-27T03:12:00Z".parse().unwrap()))),
            ("2026-11-27T04:12:00+01:00", Some(AtTime::At("2026-11-27T03:12:00Z".parse().unwrap()))),
            ("rev:1234", Some(AtTime::Revision(1234))),
            ("rev:", None),
            ("rev:+1", None),
            ("rev:99999999999999999999", None),
            ("3:12", None),
            ("25:00", None),
            ("03:12:99", None),
            ("-5", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_clock_time_is_of_the_last_day() {
        let time = |text: &str| -> Timestamp { text.parse().unwrap() };
        for (text, expected) in [
            ("03:12", "2026-11-27T03:12:00Z"),
            ("03:12:31", "2026-11-26T03:12:31Z"),
            ("23:30", "2026-11-26T23:30:00Z"),
            ("-30s", "2026-11-27T03:12:00Z"),
            ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
        ] {
            assert_eq!(text.parse::<AtTime>().unwrap().in_record(time("2026-11-27T03:12:30Z")), Some(time(expected)), "{text}");
        }
        assert_eq!(AtTime::Revision(7).in_record(time("2026-11-27T03:12:30Z")), None);
    }

    #[test]
    fn lengths_are_in_seconds_minutes_hours_and_days() {
        for (text, expected) in [("90s", Some(90)), ("1h30m", Some(5400)), ("7d", Some(604_800)), ("0s", Some(0)), ("5", None), ("", None)]
        {
            assert_eq!(parse_length(text).ok(), expected.map(Duration::from_secs), "{text}");
        }
        for text in ["h", "-5m", "5x", "5é", "99999999999999999999s", "9999999999999999999d"] {
            assert!(parse_length(text).is_err(), "{text}");
        }
    }
}
