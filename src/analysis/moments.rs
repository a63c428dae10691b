//! Moments and spans in words.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the time of day in UTC, with the date if it is not that of `now`: `18:31:12`.
pub(super) fn moment(now: Timestamp, at: Timestamp) -> String {
    let (today, at) = (now.to_zoned(TimeZone::UTC), at.to_zoned(TimeZone::UTC));
    let format = if today.date() == at.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    at.strftime(format).to_string()
}

/// Returns a span in its largest unit: `90 s`, `5 min`, `3 h`, `2 days`.
pub(super) fn span(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.duration_since(from).as_secs().unsigned_abs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", (seconds + 30) / 60),
        7200..172_800 => format!("{} h", (seconds + 1800) / 3600),
        _ => format!("{} days", (seconds + 43_200) / 86_400),
    }
}

/// Returns a coming moment with the time until then: `18:31:12 (in 5 min)`; a past one with the time since: `18:31:12 (5 min ago)`.
pub(super) fn moment_and_span(now: Timestamp, at: Timestamp) -> String {
    let span = span(now, at);
    let relative = if at > now { format!("in {span}") } else { format!("{span} ago") };
    format!("{} ({relative})", moment(now, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_say_how_far_they_are() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-11-20T18:26:12Z");
        for (then, expected) in [
            ("2026-11-20T18:31:12Z", "18:31:12 (in 5 min)"),
            ("2026-11-20T18:27:42Z", "18:27:42 (in 90 s)"),
            ("2026-11-20T18:26:12Z", "18:26:12 (0 s ago)"),
            ("2026-11-20T15:26:12Z", "15:26:12 (3 h ago)"),
            ("2026-11-23T18:26:12Z", "2026-11-23 18:26:12 (in 3 days)"),
        ] {
            assert_eq!(moment_and_span(now, at(then)), expected);
        }
    }
}
