//! Reads files of lines into the fold. Prefixes are stripped, split lines and multi-line values are joined, and lines of
//! other components are skipped.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use jiff::Timestamp;

use super::entry::Entry;
use super::finding::FindingKind;
use super::fold::{At, Fold, Stream};
use super::lines::{Line, Lines};
use super::message::known;
use super::prefix::strip;
use super::story::SchedulerLog;
use super::time::{Calendar, Clock, Stamp, When};
use crate::limits::sources::{LOG_LINE, LOG_LINES, LOG_WRITERS};

/// Half a minute in microseconds: zones differ by quarters of an hour.
const ZONE_SLACK: i64 = 30_000_000;
const QUARTER: i64 = 900_000_000;

/// Facts about a file that its lines do not hold.
#[derive(Clone, Debug, Default)]
pub struct FileFacts {
    /// The writer, such as a pod in the file's path. If it is `None`, files are assigned to schedulers by their times.
    pub writer: Option<String>,
    /// The file was found in a folder, not named by the user. If it holds no scheduler line, that is not reported.
    pub found: bool,
    /// When it was last written, or another time near its end. Text lines have no year.
    pub latest: Option<Timestamp>,
    /// The zone of its times, in seconds east of UTC; `None` if unknown.
    pub offset: Option<i32>,
}

/// Reads one or more files, in the order of their times, into a [`SchedulerLog`].
#[derive(Debug, Default)]
pub struct Reader {
    pub(super) fold: Fold,
    flows: Vec<Flow>,
}

/// The lines of one scheduler across its restarts, in one or more files.
#[derive(Debug)]
struct Flow {
    stream: Stream,
    /// The writer; `None` if the files name none.
    writer: Option<Arc<str>>,
    /// The stamp of its last line so far.
    to: Stamp,
    /// The file that is being read has lines of it.
    in_use: bool,
}

/// The lines of one writer within a file.
#[derive(Debug, Default)]
struct Writer {
    source: Arc<str>,
    /// The prefix or the path names the writer.
    named: bool,
    /// The parts of a split line or of a multi-line value.
    gathered: Vec<u8>,
    /// The line number at which they begin.
    since: u64,
    gathers: Gathers,
    /// The index in [`Reader::flows`], once it wrote a line of a scheduler.
    flow: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Gathers {
    #[default]
    Nothing,
    /// The pieces of a split line.
    Pieces,
    /// The lines of a value.
    Value,
    /// The lines of a value that is not needed or is too long.
    Skipped,
}

/// A file that is being read.
struct File<'a> {
    name: Arc<str>,
    writer: Option<Arc<str>>,
    calendar: Calendar,
    offset: Option<i32>,
    writers: HashMap<Vec<u8>, Writer>,
    reader: &'a mut Reader,
    understood: u64,
    not_utf8: bool,
    has_zeros: bool,
    has_other_writers: bool,
}

impl Reader {
    /// Reads a file. `watch` is called about once a MiB with the bytes read since the last call, and returns false to
    /// cancel.
    pub fn file(&mut self, name: &str, facts: &FileFacts, input: &mut dyn Read, watch: &mut dyn FnMut(u64) -> bool) {
        let name: Arc<str> = Arc::from(name);
        let mut lines = Lines::new(input);
        for flow in &mut self.flows {
            flow.in_use = false;
        }
        let mut file = File {
            name: Arc::clone(&name),
            writer: facts.writer.as_deref().map(Arc::from),
            calendar: Calendar::new(facts.latest),
            offset: facts.offset,
            writers: HashMap::new(),
            reader: self,
            understood: 0,
            not_utf8: false,
            has_zeros: false,
            has_other_writers: false,
        };
        let (mut reported, mut breaks_off) = (0, false);
        loop {
            let number = lines.number + 1;
            match lines.next() {
                Ok(Some(Line::Whole(line))) => file.line(line, number),
                Ok(Some(Line::TooLong)) => file.reader.fold.find(&name, Some(number), FindingKind::TooLong),
                Ok(None) => break,
                Err(error) => {
                    breaks_off = true;
                    file.reader.fold.find(&name, Some(number), FindingKind::BreaksOff(error.to_string()));
                }
            }
            if lines.bytes - reported > 1 << 20 {
                if !watch(lines.bytes - reported) {
                    break;
                }
                reported = lines.bytes;
            }
        }
        watch(lines.bytes - reported);
        file.end();
        let (understood, count) = (file.understood, lines.number);
        if understood == 0 && count == 0 && lines.bytes == 0 && breaks_off {
            // Nothing shows whose lines it held.
            self.fold.lose_all();
        }
        self.fold.log.lines += count;
        if understood == 0 && !facts.found {
            self.fold.find(&name, None, FindingKind::NotScheduler { lines: count });
        }
    }

    /// Records that a file cannot be opened.
    pub fn failed(&mut self, name: &str, why: &str) {
        self.fold.find(&Arc::from(name), None, FindingKind::Unopened(why.to_owned()));
    }

    /// Returns the log of what was read so far, without remarks about replicas.
    pub fn so_far(&self) -> &SchedulerLog {
        &self.fold.log
    }

    pub fn finish(self) -> SchedulerLog {
        let mut log = self.fold.log;
        super::replicas::note(&mut log);
        log
    }

    /// Returns the flow that a writer's lines continue: the writer's own, or, if it has no name, the one that ended last
    /// before them. Rotated files continue one flow; files that overlap in time belong to different schedulers.
    fn flow(&mut self, writer: &Writer, at: Stamp) -> usize {
        let fits = |flow: &Flow| match (&flow.writer, writer.named) {
            (Some(name), true) => **name == *writer.source,
            (None, false) => !flow.in_use && flow.to <= at,
            _ => false,
        };
        let before = self.flows.iter().enumerate().filter(|(_, flow)| fits(flow)).max_by_key(|(_, flow)| flow.to);
        if let Some((index, _)) = before {
            return index;
        }
        let name = writer.named.then(|| Arc::clone(&writer.source));
        self.flows.push(Flow { stream: Stream::default(), writer: name, to: at, in_use: true });
        self.flows.len() - 1
    }
}

impl File<'_> {
    fn line(&mut self, line: &[u8], number: u64) {
        if line.first() == Some(&b's') && self.metric(line) {
            return;
        }
        if !self.has_zeros && memchr::memchr(0, line).is_some() {
            self.has_zeros = true;
            self.reader.fold.find(&self.name, Some(number), FindingKind::Zeros);
        }
        let stripped = strip(line);
        if !self.writers.contains_key(&*stripped.source) {
            if self.writers.len() >= LOG_WRITERS {
                if !self.has_other_writers {
                    self.has_other_writers = true;
                    self.reader.fold.find(&self.name, Some(number), FindingKind::ManyWriters);
                }
                return;
            }
            let text = String::from_utf8_lossy(&stripped.source);
            let named = !text.is_empty() || self.writer.is_some();
            let source = if text.is_empty() { self.writer.clone().unwrap_or_else(|| Arc::clone(&self.name)) } else { Arc::from(&*text) };
            self.writers.insert(stripped.source.to_vec(), Writer { source, named, ..Writer::default() });
        }
        // The writer is taken out, since the fold is borrowed mutably meanwhile.
        let Some(mut writer) = self.writers.get_mut(&*stripped.source).map(std::mem::take) else { return };
        if let Some(time) = stripped.time {
            self.calendar.learn(time);
        }
        self.gather(&mut writer, &stripped.text, stripped.partial, stripped.time, number);
        if let Some(slot) = self.writers.get_mut(&*stripped.source) {
            *slot = writer;
        }
    }

    /// Reads a line of saved metrics, `scheduler_pending_pods{queue="active"} 3`; returns false if it is none.
    fn metric(&mut self, line: &[u8]) -> bool {
        let Some(text) = std::str::from_utf8(line).ok().and_then(|line| line.strip_prefix("scheduler_pending_pods{")) else { return false };
        let Some((labels, value)) = text.split_once("} ") else { return false };
        let queue = labels.split(',').find_map(|label| label.trim().strip_prefix("queue=\"")?.strip_suffix('"'));
        let number = value.split(' ').next().and_then(|value| value.parse::<f64>().ok());
        let (Some(queue), Some(number)) = (queue, number.filter(|n| *n >= 0.0)) else { return false };
        let pending = &mut self.reader.fold.log.pending_pods;
        if pending.len() < 100 {
            pending.insert(queue.to_owned(), number as u64);
        }
        self.understood += 1;
        true
    }

    fn gather(&mut self, writer: &mut Writer, text: &[u8], partial: bool, time: Option<i64>, number: u64) {
        match writer.gathers {
            Gathers::Nothing if !partial => self.whole(writer, text, time, number),
            Gathers::Nothing => {
                writer.gathered.extend_from_slice(text);
                (writer.gathers, writer.since) = (Gathers::Pieces, number);
            }
            Gathers::Pieces => {
                if writer.gathered.len() + text.len() <= LOG_LINE {
                    writer.gathered.extend_from_slice(text);
                }
                if !partial {
                    let line = std::mem::take(&mut writer.gathered);
                    writer.gathers = Gathers::Nothing;
                    self.whole(writer, &line, time, writer.since);
                }
            }
            Gathers::Value | Gathers::Skipped => self.value_line(writer, text, time, number),
        }
    }

    /// Takes a line of a multi-line value, or a line that cuts it short.
    fn value_line(&mut self, writer: &mut Writer, text: &[u8], time: Option<i64>, number: u64) {
        let ends = text.starts_with(b" >");
        if !ends && text.first() != Some(&b'\t') && super::entry::is_header(text) {
            self.reader.fold.find(&self.name, Some(writer.since), FindingKind::Cut);
            writer.gathers = Gathers::Nothing;
            writer.gathered.clear();
            return self.whole(writer, text, time, number);
        }
        if writer.gathers == Gathers::Value {
            if writer.gathered.len() + text.len() > LOG_LINES {
                self.reader.fold.find(&self.name, Some(writer.since), FindingKind::TooLong);
                writer.gathers = Gathers::Skipped;
                writer.gathered = Vec::new();
            } else {
                writer.gathered.push(b'\n');
                writer.gathered.extend_from_slice(text);
            }
        }
        // Another value of the line may follow.
        if ends && !text.ends_with(b"=<") {
            let keeps = writer.gathers == Gathers::Value;
            writer.gathers = Gathers::Nothing;
            let mut line = std::mem::take(&mut writer.gathered);
            if keeps {
                self.entry(writer, &line, time, writer.since);
            }
            line.clear();
            writer.gathered = line;
        }
    }

    fn whole(&mut self, writer: &mut Writer, text: &[u8], time: Option<i64>, number: u64) {
        if text.ends_with(b"=<") && super::entry::is_header(text) {
            // The line has no values after this one, so its message can be parsed already.
            let line = String::from_utf8_lossy(text);
            let wanted = Entry::parse(&line).is_some_and(|entry| known(&entry.message).is_some());
            writer.gathers = if wanted { Gathers::Value } else { Gathers::Skipped };
            writer.since = number;
            writer.gathered.clear();
            if wanted {
                writer.gathered.extend_from_slice(text);
            }
            return;
        }
        self.entry(writer, text, time, number);
    }

    fn entry(&mut self, writer: &mut Writer, text: &[u8], time: Option<i64>, number: u64) {
        let lossy;
        let line = match std::str::from_utf8(text) {
            Ok(line) => line,
            Err(_) => {
                lossy = String::from_utf8_lossy(text).into_owned();
                &lossy
            }
        };
        let Some(entry) = Entry::parse(line) else { return };
        if known(&entry.message).is_none() && super::message::inline(&entry.message).is_none() {
            return;
        }
        if !self.not_utf8 && std::str::from_utf8(text).is_err() {
            self.not_utf8 = true;
            self.reader.fold.find(&self.name, Some(number), FindingKind::NotUtf8);
        }
        let stamp = self.calendar.stamp(entry.when);
        let clock = match entry.when {
            When::Unix(_) => Clock::UTC,
            When::Text { .. } => {
                if let Some(time) = time.filter(|_| self.offset.is_none()) {
                    self.offset = zone(stamp.0 - time);
                }
                Clock { year: self.calendar.knows_year(), offset: self.offset }
            }
        };
        let index = match writer.flow {
            Some(index) => index,
            None => {
                let index = self.reader.flow(writer, stamp);
                writer.flow = Some(index);
                index
            }
        };
        let at = At { file: Arc::clone(&self.name), line: number, source: Arc::clone(&writer.source), stamp, clock };
        let Reader { fold, flows } = &mut *self.reader;
        let Some(flow) = flows.get_mut(index) else { return };
        if fold.take(&mut flow.stream, &entry, &at) {
            self.understood += 1;
            (flow.to, flow.in_use) = (flow.to.max(stamp), true);
        }
    }

    fn end(&mut self) {
        let mut cut: Vec<u64> = Vec::new();
        for writer in self.writers.values() {
            if writer.gathers == Gathers::Value {
                cut.push(writer.since);
            }
        }
        cut.sort_unstable();
        for line in cut {
            self.reader.fold.find(&self.name, Some(line), FindingKind::Cut);
        }
    }
}

/// Returns the zone of a log, in seconds east of UTC. `ahead` is the time in the line minus the time in its prefix, in
/// microseconds.
fn zone(ahead: i64) -> Option<i32> {
    let quarters = (ahead + QUARTER / 2).div_euclid(QUARTER);
    let near = (ahead - quarters * QUARTER).abs() <= ZONE_SLACK;
    (near && quarters.abs() <= 56).then_some((quarters * 900) as i32)
}

/// Returns the stamp of the first klog line at the start of a file, for ordering files.
pub fn first_stamp(start: &[u8], facts: &FileFacts) -> Option<Stamp> {
    let mut calendar = Calendar::new(facts.latest);
    start.split(|b| *b == b'\n').find_map(|line| {
        let stripped = strip(line);
        let text = String::from_utf8_lossy(&stripped.text);
        if let Some(time) = stripped.time {
            calendar.learn(time);
        }
        Entry::parse(&text).map(|entry| calendar.stamp(entry.when))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_found_in_what_took_the_lines_in() {
        let hour = 3_600_000_000;
        for (ahead, offset) in [
            (-50, Some(0)),
            (2 * hour - 4_000_000, Some(7200)),
            (-hour * 7 / 2, Some(-12_600)),
            (hour + 5 * 60_000_000, None),
            (20 * hour, None),
        ] {
            assert_eq!(zone(ahead), offset, "{ahead}");
        }
    }
}
