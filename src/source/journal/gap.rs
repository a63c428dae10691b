//! Gaps: times in which nothing was recorded, or of which the record is lost.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::plural::count;

/// A time of which the journal knows no changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The last moment that is recorded before it.
    pub from: Timestamp,
    /// The first moment that is recorded after it.
    pub to: Timestamp,
    pub reason: GapReason,
}

/// Why changes are not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GapReason {
    /// No recorder was running.
    NotRunning,
    /// The recorder could not write, because the disk was full or failed.
    NotWritten,
    /// The last frame was cut when the recorder ended.
    Cut {
        /// The bytes that were cut off.
        bytes: u64,
    },
    /// Frames are damaged or missing.
    Damaged,
}

impl Gap {
    pub(super) fn new(from: Timestamp, to: Timestamp, reason: GapReason) -> Self {
        Self { from, to, reason }
    }

    /// Returns whether a moment is within it.
    pub fn contains(&self, time: Timestamp) -> bool {
        self.from < time && time < self.to
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, reason } = self;
        let seconds = usize::try_from(to.duration_since(*from).as_secs()).unwrap_or_default();
        let (from, to) = (from.strftime("%Y-%m-%d %H:%M:%SZ"), to.strftime("%Y-%m-%d %H:%M:%SZ"));
        match reason {
            GapReason::Cut { bytes } => write!(f, "{from}: the last frame was cut, {} are lost", count(*bytes as usize, "byte")),
            GapReason::NotRunning => write!(f, "{from} to {to} ({}): no recorder was running", count(seconds, "second")),
            GapReason::NotWritten => write!(f, "{from} to {to} ({}): the recorder could not write", count(seconds, "second")),
            GapReason::Damaged => write!(f, "{from} to {to} ({}): frames are damaged or missing", count(seconds, "second")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_a_reason_and_a_length() {
        let (from, to): (Timestamp, Timestamp) = ("2026-11-27T03:00:00Z".parse().unwrap(), "2026-11-27T03:01:01Z".parse().unwrap());
        let gap = |reason| Gap::new(from, to, reason);
        let cut = gap(GapReason::Cut { bytes: 17 });
        assert_eq!(cut.to_string(), "2026-11-27 03:00:00Z: the last frame was cut, 17 bytes are lost");
        let words = gap(GapReason::NotRunning).to_string();
        assert_eq!(words, "2026-11-27 03:00:00Z to 2026-11-27 03:01:01Z (61 seconds): no recorder was running");
        assert_eq!(serde_json::from_str::<Gap>(&serde_json::to_string(&cut).unwrap()).unwrap(), cut);
        assert!(!cut.contains(from) && !cut.contains(to) && cut.contains("2026-11-27T03:00:01Z".parse().unwrap()));
    }
}
