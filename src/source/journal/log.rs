//! The log of the cluster's schedulers in a journal: frames of their own, with the lines that a reader of logs understands.

use std::collections::BTreeMap;
use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cluster::Key;
use crate::limits::sources::JOURNAL_LOG_FRAME;
use crate::scheduler_log::Excerpt;

/// A part of a frame, which is a list of them in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum LogPart {
    /// Lines of a writer.
    Lines {
        /// The scheduler's pod, as `namespace/name`, or the file.
        writer: String,
        /// Whole lines, with their prefixes.
        text: String,
    },
    /// Text that is not recorded, because it was too much at once.
    Dropped { bytes: u64 },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogWriter {
    /// A scheduler's pod.
    Pod(Key),
    File(String),
}

/// Lines that are not recorded yet.
#[derive(Clone, Debug, Default)]
pub struct LogLines {
    pub(super) parts: Vec<LogPart>,
    bytes: usize,
    dropped: u64,
    /// Where each writer's text ended.
    excerpts: BTreeMap<LogWriter, Excerpt>,
}

impl LogLines {
    /// Returns the lines of a text that a reader of logs understands.
    pub(super) fn excerpt(&mut self, writer: &LogWriter, text: &[u8]) -> Vec<u8> {
        let mut lines = Vec::new();
        self.excerpts.entry(writer.clone()).or_default().take(text, &mut lines);
        lines
    }

    /// Adds lines; counts them if too many wait.
    pub(super) fn add(&mut self, writer: String, text: String) {
        self.add_within(writer, text, JOURNAL_LOG_FRAME);
    }

    fn add_within(&mut self, writer: String, text: String, most: usize) {
        if self.bytes + text.len() > most {
            return self.add_dropped(text.len() as u64);
        }
        self.bytes += text.len();
        if !text.is_empty() {
            self.parts.push(LogPart::Lines { writer, text });
        }
    }

    /// Counts bytes that were not taken.
    pub fn add_dropped(&mut self, bytes: u64) {
        self.dropped += bytes;
    }

    /// Takes the content of a frame; `None` if nothing is to be recorded.
    pub(super) fn take(&mut self) -> Option<io::Result<Vec<u8>>> {
        let dropped = std::mem::take(&mut self.dropped);
        self.parts.extend((dropped > 0).then_some(LogPart::Dropped { bytes: dropped }));
        self.bytes = 0;
        let parts = std::mem::take(&mut self.parts);
        (!parts.is_empty()).then(|| serde_json::to_vec(&parts).map_err(io::Error::from))
    }
}

/// The log of schedulers before a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalLog {
    /// The text by writer, in the order of its lines.
    pub writers: BTreeMap<String, Vec<u8>>,
    /// Bytes that were not recorded, because they came too fast.
    pub dropped: u64,
    /// Older lines are in the journal that were not read.
    pub is_cut: bool,
    /// Frames that could not be read.
    pub damaged: usize,
}

/// Gathers frames from the newest to the oldest, up to a number of bytes.
#[derive(Debug)]
pub(super) struct LogGatherer {
    /// The parts of each frame, the newest frame first.
    frames: Vec<Vec<LogPart>>,
    left: usize,
    found: JournalLog,
}

impl LogGatherer {
    pub(super) fn new(most: usize) -> Self {
        Self { frames: Vec::new(), left: most, found: JournalLog::default() }
    }

    /// Adds the frame before the last one; returns whether more may be added.
    pub(super) fn add(&mut self, lines: Option<Vec<u8>>) -> bool {
        let Some(parts) = lines.and_then(|lines| serde_json::from_slice::<Vec<LogPart>>(&lines).ok()) else {
            self.found.damaged += 1;
            return true;
        };
        let length = |part: &LogPart| if let LogPart::Lines { text, .. } = part { text.len() } else { 0 };
        let Some(left) = self.left.checked_sub(parts.iter().map(length).sum()) else {
            self.found.is_cut = true;
            return false;
        };
        self.left = left;
        self.frames.push(parts);
        true
    }

    /// Returns the log, without lines that a recorder that began anew read again.
    pub(super) fn finish(mut self) -> JournalLog {
        let mut last: BTreeMap<String, Timestamp> = BTreeMap::new();
        for part in self.frames.into_iter().rev().flatten() {
            match part {
                LogPart::Dropped { bytes } => self.found.dropped += bytes,
                LogPart::Lines { writer, text } => {
                    let new = last.get(&writer).map_or(text.as_str(), |last| behind(&text, *last));
                    if let Some(time) = new.lines().rev().find_map(time_of) {
                        last.insert(writer.clone(), time);
                    }
                    self.found.writers.entry(writer).or_default().extend_from_slice(new.as_bytes());
                }
            }
        }
        self.found
    }
}

/// Returns the time before a line, as API servers write it.
fn time_of(line: &str) -> Option<Timestamp> {
    line.split_once(' ')?.0.parse().ok()
}

/// Returns the lines that are not older than a time.
fn behind(text: &str, last: Timestamp) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if time_of(line).is_none_or(|time| time >= last) {
            break;
        }
        at += line.len();
    }
    &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(writer: &str, text: &str) -> LogPart {
        LogPart::Lines { writer: writer.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_log_that_is_too_much_at_once_is_counted() {
        let mut log = LogLines::default();
        for text in ["12\n", "345678\n", "9\n"] {
            log.add_within("a".to_owned(), text.to_owned(), 6);
        }
        let parts: Vec<LogPart> = serde_json::from_slice(&log.take().unwrap().unwrap()).unwrap();
        assert_eq!(parts, [lines("a", "12\n"), lines("a", "9\n"), LogPart::Dropped { bytes: 7 }]);
        assert!(log.take().is_none());
    }

    #[test]
    fn the_newest_part_of_a_log_is_read() {
        let frame = |text: &str| Some(serde_json::to_vec(&[lines("a", text)]).unwrap());
        let mut log = LogGatherer::new(7);
        assert!(log.add(frame("3333\n")) && log.add(None) && !log.add(frame("222\n")));
        let found = log.finish();
        assert_eq!((found.is_cut, found.damaged, &found.writers["a"][..]), (true, 1, &b"3333\n"[..]));
    }

    #[test]
    fn lines_that_were_read_again_come_once() {
        let frame = |parts: &[LogPart]| Some(serde_json::to_vec(parts).unwrap());
        let (first, second, third) = ("2026-11-21T01:00:00.1Z a\n", "2026-11-21T01:00:00.2Z b\n", "2026-11-21T01:00:00.3Z c\n");
        let mut log = LogGatherer::new(1000);
        log.add(frame(&[lines("w", &format!("{first}{second}{third}")), lines("v", first)]));
        log.add(frame(&[lines("w", &format!("{first}{second}")), LogPart::Dropped { bytes: 4 }]));
        let found = log.finish();
        let text = |writer: &str| String::from_utf8(found.writers[writer].clone()).unwrap();
        // A line of the same time may be another one.
        assert_eq!((text("w"), text("v"), found.dropped), (format!("{first}{second}{second}{third}"), first.to_owned(), 4));
    }
}
