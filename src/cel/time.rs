//! Timestamps and durations as Go's `time` parses and formats them.

use jiff::tz::TimeZone;

use super::error::EvalError;

/// Seconds since 1970 of the first and the last timestamp, 0001-01-01 and 9999-12-31.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
const NANOS: i64 = 1_000_000_000;

/// A point in time, with the offset from UTC in which it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamp {
    pub(super) seconds: i64,
    pub(super) nanos: i64,
    /// In seconds; used for display only.
    offset: i64,
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        (self.seconds, self.nanos) == (other.seconds, other.nanos)
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

/// A date and a time of day.
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    /// Days since the first of January.
    pub(super) day_of_year: i64,
    /// Days since Sunday.
    pub(super) day_of_week: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

/// Returns the days from 1970-01-01 to a date in the Gregorian calendar.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Timestamp {
    /// Makes a timestamp from seconds since 1970.
    pub(super) fn of_seconds(seconds: i64, nanos: i64) -> Result<Self, EvalError> {
        let (seconds, nanos) = (seconds.saturating_add(nanos.div_euclid(NANOS)), nanos.rem_euclid(NANOS));
        if !RANGE.contains(&seconds) {
            return Err(EvalError::TimestampOverflow);
        }
        Ok(Self { seconds, nanos, offset: 0 })
    }

    /// Parses RFC 3339 as `time.Parse` does; `None` if it fails.
    pub(super) fn parse(text: &str) -> Option<Result<Self, EvalError>> {
        let mut reader = Reader(text.as_bytes());
        let year = reader.fixed(4)?;
        reader.byte(b'-')?;
        let month = reader.fixed(2)?;
        reader.byte(b'-')?;
        let day = reader.fixed(2)?;
        reader.byte(b'T')?;
        // Only an hour may have a single digit.
        let hour = reader.fixed(2).or_else(|| reader.fixed(1))?;
        reader.byte(b':')?;
        let minute = reader.fixed(2)?;
        reader.byte(b':')?;
        let second = reader.fixed(2)?;
        let mut nanos = 0;
        if matches!(reader.0, [b'.' | b',', b'0'..=b'9', ..]) {
            reader.0 = &reader.0[1..];
            let mut unit = NANOS / 10;
            while let Some(digit) = reader.fixed(1) {
                nanos += digit * unit;
                unit /= 10;
            }
        }
        let offset = reader.offset()?;
        let fits = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day) && hour < 24 && minute < 60 && second < 60;
        if !fits || !reader.0.is_empty() {
            return None;
        }
        let seconds = days_of(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset;
        Some(Self::of_seconds(seconds, nanos).map(|timestamp| Self { offset, ..timestamp }))
    }

    /// Formats the timestamp as RFC 3339 with its own fraction.
    pub(super) fn show(self) -> String {
        let Civil { year, month, day, hour, minute, second, .. } = self.civil(self.offset);
        let fraction = format!(".{:09}", self.nanos);
        let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
        let zone = match self.offset / 60 {
            0 => "Z".to_owned(),
            minutes => format!("{}{:02}:{:02}", if minutes < 0 { '-' } else { '+' }, minutes.abs() / 60, minutes.abs() % 60),
        };
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
    }

    /// Returns date and time of day at an offset in seconds.
    pub(super) fn civil(self, offset: i64) -> Civil {
        let seconds = self.seconds + offset;
        let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Civil {
            year,
            month,
            day,
            day_of_year: days - days_of(year, 1, 1),
            day_of_week: (days + 4).rem_euclid(7),
            hour: time / 3_600,
            minute: time / 60 % 60,
            second: time % 60,
        }
    }

    /// Adds a duration in nanoseconds.
    pub(super) fn plus(self, duration: i128) -> Result<Self, EvalError> {
        let nanos = i128::from(self.nanos) + duration;
        let seconds = i128::from(self.seconds) + nanos.div_euclid(NANOS.into());
        let seconds = i64::try_from(seconds).map_err(|_| EvalError::TimestampOverflow)?;
        let later = Self::of_seconds(seconds, nanos.rem_euclid(NANOS.into()) as i64)?;
        Ok(Self { offset: self.offset, ..later })
    }

    /// Returns the duration since another timestamp, in nanoseconds.
    pub(super) fn since(self, other: Self) -> Result<i64, EvalError> {
        let seconds = i128::from(self.seconds) - i128::from(other.seconds);
        i64::try_from(seconds * i128::from(NANOS) + i128::from(self.nanos - other.nanos)).map_err(|_| EvalError::IntegerOverflow)
    }

    /// Returns the offset from UTC, in seconds, of a zone at this time: an IANA name, or `[+-]HH:MM`.
    pub(super) fn offset_in(self, zone: &str) -> Result<i64, EvalError> {
        if let Some((hours, minutes)) = zone.split_once(':') {
            let (hours, minutes) = (atoi(hours)?, atoi(minutes)?);
            let total = hours.saturating_mul(60);
            let total = if zone.starts_with('-') { total.saturating_sub(minutes) } else { total.saturating_add(minutes) };
            // Such offsets leave the range of dates; Go wraps around.
            return Ok(total.saturating_mul(60).clamp(-1 << 40, 1 << 40));
        }
        if matches!(zone, "" | "UTC") {
            return Ok(0);
        }
        if zone.contains("..") || zone.starts_with(['/', '\\']) || zone.contains('\\') {
            return Err(EvalError::TimeZone("time: invalid location name".to_owned()));
        }
        let unknown = || EvalError::TimeZone(format!("unknown time zone {zone}"));
        // Go looks for a file with exactly this name.
        let known = TimeZone::get(zone).ok().filter(|known| known.iana_name() == Some(zone)).ok_or_else(unknown)?;
        // jiff's times end some hours earlier than cel-go's.
        let timestamp = jiff::Timestamp::new(self.seconds, 0).unwrap_or(jiff::Timestamp::MAX);
        Ok(known.to_offset(timestamp).seconds().into())
    }
}

/// Parses a whole number as Go's `strconv.Atoi` does.
fn atoi(text: &str) -> Result<i64, EvalError> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        let why = match error.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        EvalError::TimeZone(format!("strconv.Atoi: parsing {}: {why}", super::number::quote(text)))
    })
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self, wanted: u8) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        (*first == wanted).then_some(())
    }

    /// Parses a number of exactly `digits` digits.
    fn fixed(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        let value = number.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))?;
        self.0 = rest;
        Some(value)
    }

    /// Parses `Z`, or hours and minutes, into seconds.
    fn offset(&mut self) -> Option<i64> {
        if self.0.first() == Some(&b'Z') {
            return self.byte(b'Z').map(|()| 0);
        }
        let sign = match self.0.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let hours = self.fixed(2)?;
        self.byte(b':')?;
        let minutes = self.fixed(2)?;
        (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3_600 + minutes * 60))
    }
}

/// Parses a duration such as `1h30m` into nanoseconds, as `time.ParseDuration` does; `None` if it fails.
pub(super) fn parse_duration(text: &str) -> Option<i64> {
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, after) = rest.split_at(digits(rest));
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(digits(after)),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let unit: u64 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let mut value = whole.checked_mul(unit).filter(|v| *v <= 1 << 63)?;
        // Digits of the fraction beyond the range of an integer are ignored.
        let (mut numerator, mut scale) = (0_u64, 1.0_f64);
        for digit in fraction.bytes().map(|b| u64::from(b - b'0')) {
            match numerator.checked_mul(10).and_then(|n| n.checked_add(digit)).filter(|n| *n <= 1 << 63) {
                Some(next) => (numerator, scale) = (next, scale * 10.0),
                None => break,
            }
        }
        if numerator > 0 {
            value = value.checked_add((numerator as f64 * (unit as f64 / scale)) as u64).filter(|v| *v <= 1 << 63)?;
        }
        total = total.checked_add(value).filter(|t| *t <= 1 << 63)?;
        rest = after;
    }
    if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

/// Formats a duration in seconds, as conversions do.
pub(super) fn show_duration(nanos: i64) -> String {
    // Go's `Seconds()` adds whole seconds and the rest separately.
    let seconds = (nanos / NANOS) as f64 + (nanos % NANOS) as f64 / 1e9;
    format!("{seconds}s")
}
