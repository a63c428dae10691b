//! Reads and follows the logs of kube-scheduler's pods, if that was asked for.
//!
//! A log is read once up to its present end, and then followed. A connection that breaks off is resumed from the time of
//! the last line; lines that were read before are skipped by their times, which the server writes before each line.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::answer::Pace;
use super::connection::{Shared, lock};
use super::failure::{Failure, FailureKind};
use super::timing::Backoff;
use super::waiting::Waiting;
use crate::cluster::{Key, Pod};
use crate::limits::live::{LOG_PODS, LOG_VALUE, LOG_WAITING};
use crate::scheduler_log::{FileFacts, Reader, SchedulerLog};

/// The name of kube-scheduler's container in its static pods.
const CONTAINER: &str = "kube-scheduler";

/// The log of one scheduler's pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogStatus {
    pub pod: Key,
    /// How far it is read.
    pub state: LogState,
}

/// How far the log of a pod is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogState {
    /// Being read for the first time.
    Reading,
    /// Read up to its end, and followed if that was asked for.
    Read,
    /// The user may not read it; the server's message.
    Forbidden(String),
    /// The pod or its container is gone, or has not started; the server's message.
    Absent(String),
    /// Another failure; it is read again. The message.
    Failed(String),
}

impl LogState {
    /// Returns why it is not read; `None` if it is, or is not yet.
    pub fn trouble(&self) -> Option<String> {
        Some(match self {
            Self::Reading | Self::Read => return None,
            Self::Forbidden(why) => format!("no permission to read it ({why}); it needs \"get\" on \"pods/log\""),
            Self::Absent(why) => format!("there is no log ({why})"),
            Self::Failed(why) => format!("it could not be read ({why})"),
        })
    }
}

/// Returns whether a pod runs kube-scheduler, as a static pod of the control plane does.
pub fn runs_scheduler(pod: &Pod) -> bool {
    !pod.is_terminal() && pod.spec.containers.iter().any(|container| container.name == CONTAINER)
}

/// The logs that were read so far.
#[derive(Debug, Default)]
pub(super) struct LogFeed {
    reader: Reader,
    /// The text that waits to be recorded, instead of being read; `None` unless it is recorded.
    waiting: Option<LogText>,
    states: BTreeMap<Key, LogState>,
    /// The number of changes of the log so far.
    generation: u64,
}

impl LogFeed {
    /// Keeps the text of logs for a recorder.
    pub(super) fn keep_text(&mut self) {
        self.waiting.get_or_insert_default();
    }

    /// Takes the text that has come since.
    pub(super) fn take_text(&mut self) -> LogText {
        self.waiting.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Forgets the pods for which a condition does not hold, so that their logs are read no longer.
    pub(super) fn retain(&mut self, is_there: impl Fn(&Key) -> bool) {
        self.states.retain(|pod, _| is_there(pod));
    }

    /// Adds a pod; returns false if its log is read already, or too many are.
    pub(super) fn add(&mut self, pod: &Key) -> bool {
        if self.states.contains_key(pod) || self.states.len() >= LOG_PODS {
            return false;
        }
        self.states.insert(pod.clone(), LogState::Reading);
        true
    }

    pub(super) fn log(&self) -> &SchedulerLog {
        self.reader.so_far()
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn statuses(&self) -> Vec<LogStatus> {
        self.states.iter().map(|(pod, state)| LogStatus { pod: pod.clone(), state: state.clone() }).collect()
    }

    fn take(&mut self, pod: &Key, text: &[u8]) {
        self.generation += 1;
        if let Some(waiting) = &mut self.waiting {
            return waiting.add(pod, text, LOG_WAITING);
        }
        let facts = FileFacts { writer: Some(pod.to_string()), found: true, latest: None, offset: None };
        self.reader.file(&format!("log of {pod}"), &facts, &mut &*text, &mut |_| true);
    }
}

/// The text of logs, by pod, in the order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogText {
    /// Whole lines, with their times before them.
    pub parts: Vec<(Key, Vec<u8>)>,
    /// Bytes that were dropped because too much waited.
    pub dropped: u64,
    bytes: usize,
}

impl LogText {
    fn add(&mut self, pod: &Key, text: &[u8], most: usize) {
        if self.bytes + text.len() > most {
            self.dropped += text.len() as u64;
            return;
        }
        self.bytes += text.len();
        match self.parts.last_mut() {
            Some((last, part)) if last == pod => part.extend_from_slice(text),
            _ => self.parts.push((pod.clone(), text.to_vec())),
        }
    }
}

/// How to read the log of a pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogRead {
    pub(super) follow: bool,
    /// The time of the first lines; `None` for all that the server has.
    pub(super) since: Option<Timestamp>,
}

/// Reads the log of a pod, and follows it if that was asked for.
pub(super) async fn run(shared: Arc<Shared>, pod: Key, LogRead { follow, since }: LogRead) {
    let mut cutter = Cutter { last: since, ..Cutter::default() };
    let mut backoff = Backoff::default();
    let mut follows = false;
    loop {
        let before = cutter.last;
        let read = read(&shared, &pod, &mut cutter, follows).await;
        if cutter.last > before {
            backoff.succeeded();
        }
        let state = match &read {
            Ok(()) => LogState::Read,
            Err(failure) => match failure.what {
                FailureKind::Forbidden | FailureKind::Unauthorised => LogState::Forbidden(failure.message.clone()),
                FailureKind::NotFound | FailureKind::Rejected => LogState::Absent(failure.message.clone()),
                // A log without news is no trouble.
                FailureKind::Timeout if follows => LogState::Read,
                _ => LogState::Failed(failure.message.clone()),
            },
        };
        let before = match lock(&shared.scheduler_log).states.get_mut(&pod) {
            Some(known) => std::mem::replace(known, state.clone()),
            // It was forgotten.
            None => return,
        };
        if before != state {
            shared.wake();
        }
        if !follow {
            return;
        }
        let timing = &shared.timing;
        let pause = match (&read, &state) {
            (Ok(()), _) if !follows => Duration::ZERO,
            (Err(failure), LogState::Failed(_)) => backoff.next(timing, failure.asked(timing.second)),
            (_, LogState::Forbidden(_)) => timing.forbidden,
            _ => backoff.next(timing, None),
        };
        follows |= read.is_ok();
        tokio::time::sleep(pause).await;
    }
}

/// Reads a log up to the end of the answer, which for a followed one comes with the end of the container.
async fn read(shared: &Shared, pod: &Key, cutter: &mut Cutter, follows: bool) -> Result<(), Failure> {
    let mut path = format!("/api/v1/namespaces/{}/pods/{}/log?container={CONTAINER}&timestamps=true", pod.namespace, pod.name);
    if follows {
        path.push_str("&follow=true");
    }
    if let Some(last) = cutter.last {
        path.push_str(&format!("&sinceTime={}", last.strftime("%Y-%m-%dT%H:%M:%SZ")));
    }
    cutter.resume();
    let within = if follows { shared.timing.log_silence } else { shared.timing.answer };
    let bounds = shared.client.bounds();
    let mut answer = shared.client.get(&path, Waiting::Log(pod.clone()), None).await?;
    let mut pace = Pace::new(within);
    let (mut piece, mut length) = (Vec::new(), 0);
    // A followed log may drip.
    while if follows { answer.next(within, &mut piece).await? } else { answer.next_in_time(&mut pace, &mut piece).await? } {
        shared.note_read(piece.len(), None);
        length += piece.len() as u64;
        if !follows && length > bounds.log {
            return Err(Failure::new(FailureKind::Limit, format!("the log is longer than {} bytes", bounds.log)));
        }
        let whole = cutter.take(&piece);
        piece.clear();
        if !whole.is_empty() {
            lock(&shared.scheduler_log).take(pod, &whole);
            shared.wake();
        }
    }
    Ok(())
}

/// Cuts a stream of lines with times into parts that end with a whole value, and drops the lines that came before.
#[derive(Debug, Default)]
struct Cutter {
    /// The text after the last whole value.
    rest: Vec<u8>,
    /// The number of bytes of `rest` that are scanned.
    seen: usize,
    /// Within a value of several lines.
    in_value: bool,
    /// The time of the last line.
    last: Option<Timestamp>,
    /// The number of lines with that time.
    same: usize,
    /// The lines to skip after a break: those before this time, and this many of this time.
    known: Option<(Timestamp, usize)>,
}

impl Cutter {
    /// Begins an answer that repeats lines: they are given in whole seconds.
    fn resume(&mut self) {
        self.rest.clear();
        (self.seen, self.in_value) = (0, false);
        self.known = self.last.map(|last| (last, self.same));
    }

    /// Takes a piece; returns the whole values that it completes.
    fn take(&mut self, piece: &[u8]) -> Vec<u8> {
        self.take_values(piece, LOG_VALUE)
    }

    /// Takes a piece; returns the whole values that it completes, and all text once the rest is longer than `most`.
    fn take_values(&mut self, piece: &[u8], most: usize) -> Vec<u8> {
        self.rest.extend_from_slice(piece);
        let (mut whole, mut kept) = (0, Vec::new());
        while let Some(length) = memchr::memchr(b'\n', &self.rest[self.seen..]) {
            let end = self.seen + length + 1;
            let line = &self.rest[self.seen..end];
            let at = memchr::memchr(b' ', line).unwrap_or(0);
            let time = std::str::from_utf8(&line[..at]).ok().and_then(|time| time.parse::<Timestamp>().ok());
            let text = line[(at + 1).min(line.len())..].trim_ascii_end();
            // A value begins behind `=<`. Its lines begin with a tab, up to one that begins with ` >`; others cut it short.
            let continues = self.in_value && (text.is_empty() || text.starts_with(b"\t"));
            self.in_value = continues || text.ends_with(b"=<");
            let is_known = time.is_some_and(|time| Self::is_known(&mut self.known, time));
            if let Some(time) = time.filter(|_| !is_known) {
                self.same = if self.last == Some(time) { self.same + 1 } else { 1 };
                self.last = Some(time);
            }
            if is_known {
                self.rest.drain(self.seen..end);
            } else {
                self.seen = end;
            }
            if !self.in_value {
                whole = self.seen;
            }
        }
        if self.rest.len() > most {
            whole = self.rest.len();
        }
        if whole > 0 {
            kept = self.rest.drain(..whole).collect();
            self.seen -= self.seen.min(whole);
        }
        kept
    }

    /// Returns whether a line of this time was read before.
    fn is_known(known: &mut Option<(Timestamp, usize)>, time: Timestamp) -> bool {
        match known {
            Some((last, _)) if time < *last => true,
            Some((last, left)) if time == *last && *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
