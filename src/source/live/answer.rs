//! The body of an answer: unpacked as it comes, within bounds of bytes and of time.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flate2::write::MultiGzDecoder;
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::client::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::bounds::Bounds;
use super::failure::{Failure, FailureKind};
use super::waiting::Waiting;

/// When the server last sent something.
#[derive(Clone, Debug)]
pub(super) struct AnswerTimes {
    pub(super) any: Arc<Mutex<Instant>>,
    /// When it last sent a part of an accepted request; `None` for an answer that does not count.
    pub(super) accepted: Option<Arc<Mutex<Instant>>>,
}

impl AnswerTimes {
    /// Notes that the server sent something now.
    pub(super) fn note(&self) {
        for time in std::iter::once(&self.any).chain(&self.accepted) {
            *time.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
    }
}

/// The body of an answer, in pieces.
pub(super) struct Answer {
    body: Body,
    gzip: Option<MultiGzDecoder<Unpacked>>,
    /// Bytes that were sent.
    sent: u64,
    times: AnswerTimes,
    bounds: Arc<Bounds>,
    waiting: Waiting,
    /// The server's clock, if the answer has a date.
    pub(super) date: Option<Timestamp>,
}

/// Takes unpacked bytes up to a limit.
#[derive(Debug, Default)]
struct Unpacked {
    out: Vec<u8>,
    length: u64,
    allowed: u64,
}

impl io::Write for Unpacked {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.length += piece.len() as u64;
        if self.length > self.allowed {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.out.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Notices answers that drip: a number of bytes must come in each stretch of time.
#[derive(Debug)]
pub(super) struct Pace {
    from: Instant,
    bytes: u64,
    within: Duration,
}

impl Pace {
    pub(super) fn new(within: Duration) -> Self {
        Self { from: Instant::now(), bytes: 0, within }
    }

    fn left(&self) -> Duration {
        self.within.saturating_sub(self.from.elapsed())
    }

    fn note(&mut self, bytes: u64, slowest: u64) {
        self.bytes += bytes;
        if self.bytes >= slowest {
            *self = Self::new(self.within);
        }
    }
}

impl Answer {
    pub(super) fn new(body: Body, gzip: bool, date: Option<Timestamp>, waiting: Waiting, about: (AnswerTimes, Arc<Bounds>)) -> Self {
        let (times, bounds) = about;
        Self { body, gzip: gzip.then(|| MultiGzDecoder::new(Unpacked::default())), sent: 0, times, bounds, waiting, date }
    }

    /// Appends the next piece of the answer to `out`; returns false at its end.
    pub(super) async fn next(&mut self, within: Duration, out: &mut Vec<u8>) -> Result<bool, Failure> {
        let piece = timeout(within, self.piece(out)).await;
        Ok(piece.map_err(|_| silence(within, &self.waiting))??.is_some())
    }

    /// Appends the next piece of the answer to `out`, unless it comes too slowly; returns false at its end.
    pub(super) async fn next_in_time(&mut self, pace: &mut Pace, out: &mut Vec<u8>) -> Result<bool, Failure> {
        match timeout(pace.left(), self.piece(out)).await {
            Ok(piece) => Ok(piece?.map(|sent| pace.note(sent, self.bounds.slowest)).is_some()),
            Err(_) if pace.bytes == 0 => Err(silence(pace.within, &self.waiting)),
            Err(_) => {
                let Pace { bytes, within, .. } = pace;
                Err(Failure::new(FailureKind::Timeout, format!("only {bytes} bytes of {} in {within:?}", self.waiting)))
            }
        }
    }

    /// Appends the next piece of the answer to `out`; returns the number of bytes that were sent for it.
    async fn piece(&mut self, out: &mut Vec<u8>) -> Result<Option<u64>, Failure> {
        loop {
            let Some(frame) = self.body.frame().await else {
                self.unpack(&[], out, true)?;
                return Ok(None);
            };
            let frame = frame.map_err(|error| {
                let failure = Failure::of_client(&error);
                Failure::new(FailureKind::Connection, format!("the connection was interrupted: {}", failure.message))
            })?;
            self.times.note();
            if let Ok(data) = frame.into_data() {
                self.sent += data.len() as u64;
                self.unpack(&data, out, false)?;
                return Ok(Some(data.len() as u64));
            }
        }
    }

    fn unpack(&mut self, data: &[u8], out: &mut Vec<u8>, ended: bool) -> Result<(), Failure> {
        let Some(gzip) = &mut self.gzip else {
            out.extend_from_slice(data);
            return Ok(());
        };
        let unpacked = gzip.get_mut();
        unpacked.out = std::mem::take(out);
        unpacked.allowed = self.bounds.growth_free.saturating_add(self.sent.saturating_mul(self.bounds.growth));
        let result = gzip.write_all(data).and_then(|()| if ended { gzip.try_finish() } else { gzip.flush() });
        *out = std::mem::take(&mut gzip.get_mut().out);
        result.map_err(|error| {
            let (sent, allowed) = (self.sent, gzip.get_ref().allowed);
            if error.kind() == io::ErrorKind::FileTooLarge {
                let message = format!("{} unpacks from {sent} bytes to more than {allowed}", self.waiting);
                return Failure::new(FailureKind::Limit, message);
            }
            Failure::new(FailureKind::Connection, format!("{} cannot be unpacked: {error}", self.waiting))
        })
    }

    /// Reads the rest of the answer, of at most `most` bytes. A long one waits for its turn among the long ones. `check` sees its start.
    pub(super) async fn whole(
        mut self,
        within: Duration,
        most: u64,
        costs: &Arc<Costs>,
        check: impl Fn(&[u8]) -> Result<(), Failure>,
    ) -> Result<Text, Failure> {
        let mut pace = Pace::new(within);
        let mut text = Text { bytes: Vec::new(), date: self.date, turn: None, costs: Arc::clone(costs), is_used: false };
        let mut is_checked = false;
        while self.next_in_time(&mut pace, &mut text.bytes).await? {
            let length = text.bytes.len() as u64;
            if !is_checked && length >= START {
                check(&text.bytes)?;
                is_checked = true;
            }
            if length > self.bounds.small_answer && text.turn.is_none() {
                text.turn = costs.turn().await;
                pace = Pace::new(within);
            }
            let most = most.min(costs.allowed(&self.bounds));
            if length > most {
                return Err(Failure::new(FailureKind::TooLong, format!("{} is longer than {most} bytes", self.waiting)));
            }
        }
        Ok(text)
    }

    /// Reads the start of the answer, up to `most` bytes, as far as it comes in time.
    pub(super) async fn start(mut self, within: Duration, most: u64) -> Vec<u8> {
        let mut text = Vec::new();
        let read = async { while (text.len() as u64) < most && self.piece(&mut text).await.is_ok_and(|piece| piece.is_some()) {} };
        let _ = timeout(within, read).await;
        text.truncate(most as usize);
        text
    }
}

/// Bytes of an answer by which its kind shows.
const START: u64 = 64;

/// A whole answer. The next long one is read once this one is dropped. It came to nothing unless it is [used](Self::used).
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    /// The server's clock, if the answer has a date.
    pub(super) date: Option<Timestamp>,
    turn: Option<OwnedSemaphorePermit>,
    costs: Arc<Costs>,
    is_used: bool,
}

impl Text {
    /// Notes that the answer could be used.
    pub(super) fn used(mut self) {
        self.is_used = true;
    }

    /// Returns the answer for use.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.bytes);
        self.costs.used(bytes.len());
        bytes
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        if self.is_used { self.costs.used(self.bytes.len()) } else { self.costs.wasted(self.bytes.len()) }
    }
}

/// The costs of all answers of a connection together.
#[derive(Debug)]
pub(super) struct Costs {
    /// The turn of the answer that is long.
    long: Arc<Semaphore>,
    /// Bytes of answers that came to nothing, less those that could be used since.
    wasted: AtomicU64,
}

impl Default for Costs {
    fn default() -> Self {
        Self { long: Arc::new(Semaphore::new(1)), wasted: AtomicU64::new(0) }
    }
}

impl Costs {
    /// Waits for the turn of a long answer.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(&self.long).acquire_owned().await.ok()
    }

    /// Counts bytes that came to nothing.
    pub(super) fn wasted(&self, bytes: usize) {
        self.change(|wasted| wasted.saturating_add(bytes as u64));
    }

    /// Counts bytes that could be used, which make up for others.
    pub(super) fn used(&self, bytes: usize) {
        self.change(|wasted| wasted.saturating_sub(bytes as u64));
    }

    fn change(&self, new: impl Fn(u64) -> u64) {
        let _ = self.wasted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |wasted| Some(new(wasted)));
    }

    fn left(&self, bounds: &Bounds) -> u64 {
        bounds.unusable_answers.saturating_sub(self.wasted.load(Ordering::Relaxed))
    }

    /// Returns whether so much came to nothing that only small answers are read.
    pub(super) fn are_exhausted(&self, bounds: &Bounds) -> bool {
        self.left(bounds) <= bounds.small_answer
    }

    /// Returns the greatest length of an answer now.
    pub(super) fn allowed(&self, bounds: &Bounds) -> u64 {
        bounds.small_answer.saturating_add(self.left(bounds) / 2)
    }
}

pub(super) fn silence(limit: Duration, waiting: &Waiting) -> Failure {
    Failure::new(FailureKind::Timeout, format!("no answer for {limit:?} to {waiting}"))
}

#[cfg(test)]
mod tests;
