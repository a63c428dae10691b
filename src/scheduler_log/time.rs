//! Times of a log: klog's text lacks year and zone, its JSON has both.

use std::fmt;

use jiff::Timestamp;

const DAY: i64 = 86_400_000_000;
/// A leap year, so that February 29 exists if the year is unknown.
const SOME_YEAR: i64 = 2000;

/// Microseconds since 1970 on the log's clock, which [`Clock`] relates to UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub(super) i64);

impl Stamp {
    /// Returns the next stamp.
    #[must_use]
    pub fn after(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the microseconds from an earlier stamp of the same clock.
    pub fn micros_since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }
}

/// How the stamps of a log relate to UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Whether the year is known.
    pub year: bool,
    /// Seconds east of UTC; `None` if unknown.
    pub offset: Option<i32>,
}

impl Clock {
    /// The clock of JSON lines.
    pub(super) const UTC: Self = Self { year: true, offset: Some(0) };

    /// Returns RFC 3339 in UTC, without `Z` if the zone is unknown and without the year if that is unknown.
    pub fn show(self, stamp: Stamp) -> String {
        Shown { clock: self, stamp }.to_string()
    }

    /// Returns the point in time, taking an unknown zone as UTC; `None` if the year is unknown.
    pub fn timestamp(self, stamp: Stamp) -> Option<Timestamp> {
        self.year.then(|| Timestamp::from_microsecond(stamp.0 - self.shift()).ok()).flatten()
    }

    /// Returns the stamp of a point in time, taking an unknown zone as UTC.
    pub fn stamp(self, time: Timestamp) -> Stamp {
        Stamp(time.as_microsecond() + self.shift())
    }

    fn shift(self) -> i64 {
        i64::from(self.offset.unwrap_or(0)) * 1_000_000
    }
}

struct Shown {
    clock: Clock,
    stamp: Stamp,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(time) = Timestamp::from_microsecond(self.stamp.0 - self.clock.shift()) else { return f.write_str("?") };
        let text = format!("{time:.6}");
        let text = if self.clock.year { text.as_str() } else { text.get(5..).unwrap_or_default() };
        f.write_str(if self.clock.offset.is_some() { text } else { text.trim_end_matches('Z') })
    }
}

/// The time of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Text: month, day, and microseconds of the day.
    Text { month: u8, day: u8, micros: i64 },
    /// JSON: microseconds since 1970.
    Unix(i64),
}

/// Assigns stamps to the lines of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Calendar {
    /// The year of the last line, if there was one.
    year: Option<i64>,
    last: i64,
    /// The latest possible time of the log, in microseconds since 1970.
    latest: Option<i64>,
}

impl Calendar {
    /// Makes a calendar. `latest` is when the file was last written, or another time near the log's end.
    pub(super) fn new(latest: Option<Timestamp>) -> Self {
        Self { latest: latest.map(Timestamp::as_microsecond), ..Self::default() }
    }

    /// Returns whether the year of text lines is known.
    pub(super) fn knows_year(&self) -> bool {
        self.latest.is_some()
    }

    /// Takes a time known from elsewhere, such as a prefix, if no latest time is known yet.
    pub(super) fn learn(&mut self, unix: i64) {
        self.latest.get_or_insert(unix);
    }

    /// Returns the stamp of a line.
    pub(super) fn stamp(&mut self, when: When) -> Stamp {
        let (month, day, micros) = match when {
            When::Unix(micros) => return Stamp(micros),
            When::Text { month, day, micros } => (i64::from(month), i64::from(day), micros),
        };
        let at = |year: i64| days(year, month, day) * DAY + micros;
        let year = match self.year {
            // A log may run past the end of a year; a clock is never set back by most of a year.
            Some(year) if at(year) < self.last - 300 * DAY => year + 1,
            Some(year) if at(year) > self.last + 300 * DAY => year - 1,
            Some(year) => year,
            None => self.latest.map_or(SOME_YEAR, |latest| {
                // A day's slack, for zones and for clocks that differ.
                let year = year_of(latest + DAY);
                if at(year) > latest + DAY { year - 1 } else { year }
            }),
        };
        self.year = Some(year);
        self.last = at(year);
        Stamp(self.last)
    }
}

/// Returns the days since 1970 of a Gregorian date, counting years from March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn year_of(micros: i64) -> i64 {
    let time = Timestamp::from_microsecond(micros).unwrap_or_default();
    i64::from(time.strftime("%Y").to_string().parse::<i16>().unwrap_or(1970))
}

/// Parses `2026-11-22T10:15:35.123456789Z`, or with an offset, with `T` or a blank; returns microseconds since 1970.
pub(super) fn rfc3339(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    text.parse::<Timestamp>().ok().map(Timestamp::as_microsecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(month: u8, day: u8, hours: i64) -> When {
        When::Text { month, day, micros: hours * 3_600_000_000 }
    }

    #[test]
    fn the_year_comes_from_the_end_of_the_log() {
        let latest: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
        let mut calendar = Calendar::new(Some(latest));
        let clock = Clock { year: true, offset: None };
        let shown: Vec<_> = [text(12, 31, 23), text(1, 1, 0), text(12, 31, 23)].map(|w| clock.show(calendar.stamp(w))).into();
        assert_eq!(shown, ["2025-12-31T23:00:00.000000", "2026-01-01T00:00:00.000000", "2025-12-31T23:00:00.000000"]);
    }

    #[test]
    fn what_is_not_known_of_a_time_is_left_out() {
        let stamp = Calendar::default().stamp(text(2, 29, 10));
        assert_eq!(Clock::default().show(stamp), "02-29T10:00:00.000000");
        assert_eq!(Clock { year: false, offset: Some(7200) }.show(stamp), "02-29T08:00:00.000000Z");
        assert_eq!(Clock::default().timestamp(stamp), None);
        let time: Timestamp = "2026-11-22T10:15:35.25Z".parse().unwrap();
        for clock in [Clock::UTC, Clock { year: true, offset: Some(-3600) }] {
            assert_eq!(clock.timestamp(clock.stamp(time)), Some(time));
        }
        assert_eq!(Clock::UTC.show(Clock::UTC.stamp(time)), "2026-11-22T10:15:35.250000Z");
    }

    #[test]
    fn dates_count_as_days() {
        assert_eq!([days(1970, 1, 1), days(2000, 3, 1), days(2026, 11, 22)], [0, 11_017, 20_779]);
    }
}
