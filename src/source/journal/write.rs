//! Writes a journal: one writer at a time, whole frames only, a gap wherever something is missing.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::{SignedDuration, Timestamp};

use super::frame::{self, FORMAT, FrameKind};
use super::gap::{Gap, GapReason};
use super::log::LogLines;
use super::segment::{self, Segment};
use super::state::RecordedState;
use crate::limits::sources::JOURNAL_SEGMENT;
use crate::source::capture::gzip;

/// The file that a writer locks.
const LOCK: &str = "journal.lock";
/// How often the lock is tried, and the pause between two tries.
const LOCK_TRIES: usize = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// Time between two frames of a cluster that does not change: a longer silence means that nothing was recorded.
pub(super) const BEAT: SignedDuration = SignedDuration::from_secs(10);

/// How a journal is divided, and how much of it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalOptions {
    /// Time that is kept at least; `None` keeps all.
    pub keep: Option<Duration>,
    /// Bytes of all segments; the oldest are removed beyond it. `None` is no limit.
    pub max_size: Option<u64>,
    /// Bytes after which a segment ends, if they are twice its keyframe at least. A reader reads a segment up to the moment.
    pub segment_size: u64,
    /// Time after which a segment ends.
    pub segment_time: Duration,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self { keep: None, max_size: None, segment_size: 4 << 20, segment_time: Duration::from_secs(3600) }
    }
}

/// Why a journal cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process has the lock.
    #[error("{0} is being written by another recorder")]
    Locked(String),
    /// The folder is not one of a journal.
    #[error("{0} is not empty and holds no journal")]
    NotAJournal(String),
    /// The journal has another format: its folder and format.
    #[error("{0} is a journal of format {1}; this version reads and writes format {FORMAT}")]
    OtherFormat(String, u8),
    /// No frame of the journal can be read.
    #[error("{0} is a journal without a frame that can be read")]
    Empty(String),
    /// Any other error of the file system.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        error: io::Error,
    },
}

impl JournalError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |error| Self::Io { path, error }
    }
}

/// The segment that is being written.
#[derive(Debug)]
struct Current {
    file: File,
    path: PathBuf,
    begun: Timestamp,
    bytes: u64,
    keyframe: u64,
}

/// A segment that is whole.
#[derive(Debug)]
struct Whole {
    path: PathBuf,
    begun: Timestamp,
    bytes: u64,
}

/// The state of a journal's writer, for its health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalHealth {
    /// Bytes written since the start.
    pub written: u64,
    /// Bytes of all segments.
    pub size: u64,
    /// The number of segments.
    pub segments: usize,
    /// Frames that could not be written since the start.
    pub failed: u64,
    /// The time of the last frame.
    pub last: Option<Timestamp>,
}

/// The writer of a journal. The lock ends with it.
#[derive(Debug)]
pub struct JournalWriter {
    folder: PathBuf,
    options: JournalOptions,
    /// Held until the writer ends.
    _lock: File,
    sequence: u64,
    number: u64,
    current: Option<Current>,
    whole: VecDeque<Whole>,
    /// Gaps that are not written yet.
    gaps: Vec<Gap>,
    /// Since when frames cannot be written, and why.
    failing: Option<(Timestamp, String)>,
    health: JournalHealth,
    /// Bytes that the disk has for segments, as a test sets them.
    #[cfg(test)]
    pub(super) room: Option<u64>,
}

impl JournalWriter {
    /// Opens a journal for writing, or makes one. The cut end of the last segment is removed. The missing time becomes a gap
    /// behind the first keyframe.
    ///
    /// # Errors
    /// Returns an error if another writer has the journal, the folder holds anything else, or it cannot be read.
    pub fn open(folder: &Path, options: JournalOptions) -> Result<Self, JournalError> {
        if !folder.is_dir() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(JournalError::at(folder))?;
        }
        let found = segment::list(folder).map_err(JournalError::at(folder))?;
        // Its frames would count as a cut end, and be removed.
        if let Some(format) = other_format(&found) {
            return Err(JournalError::OtherFormat(folder.display().to_string(), format));
        }
        let lock_path = folder.join(LOCK);
        let is_empty = fs::read_dir(folder).map_err(JournalError::at(folder))?.next().is_none();
        if found.is_empty() && !is_empty && !lock_path.exists() {
            return Err(JournalError::NotAJournal(folder.display().to_string()));
        }
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&lock_path);
        let lock = lock.map_err(JournalError::at(&lock_path))?;
        // A reader that asks whether there is a writer has the lock for an instant.
        let locked = (0..LOCK_TRIES).find_map(|tried| match lock.try_lock() {
            Err(TryLockError::WouldBlock) if tried + 1 < LOCK_TRIES => {
                std::thread::sleep(LOCK_PAUSE);
                None
            }
            result => Some(result),
        });
        match locked {
            Some(Ok(())) => {}
            Some(Err(TryLockError::Error(error))) => return Err(JournalError::at(&lock_path)(error)),
            Some(Err(TryLockError::WouldBlock)) | None => return Err(JournalError::Locked(folder.display().to_string())),
        }
        let mut writer = Self {
            folder: folder.to_owned(),
            options,
            _lock: lock,
            sequence: 0,
            number: found.last().map_or(0, |last| last.number),
            current: None,
            whole: VecDeque::new(),
            gaps: Vec::new(),
            failing: None,
            health: JournalHealth::default(),
            #[cfg(test)]
            room: None,
        };
        writer.recover(found)?;
        Ok(writer)
    }

    /// Takes up the segments that are there; removes the end of the last one that is no frame.
    fn recover(&mut self, found: Vec<Segment>) -> Result<(), JournalError> {
        let mut found = found.into_iter().peekable();
        while let Some(segment) = found.next() {
            let at = || JournalError::at(&segment.path);
            let is_last = found.peek().is_none();
            let mut bytes = fs::metadata(&segment.path).map_err(at())?.len();
            if is_last {
                let (read, frames) = segment.read().map_err(at())?;
                let whole = read.bytes.len() - frames.tail;
                if bytes > whole as u64 {
                    let file = OpenOptions::new().write(true).open(&segment.path).map_err(at())?;
                    file.set_len(whole as u64).and_then(|()| file.sync_all()).map_err(at())?;
                }
                let Some(last) = frames.whole.last() else {
                    // It ended within its keyframe.
                    fs::remove_file(&segment.path).map_err(at())?;
                    self.recover_end(bytes)?;
                    continue;
                };
                (self.sequence, self.health.last) = (last.sequence, Some(last.time));
                if bytes > whole as u64 {
                    self.gaps.push(Gap::new(last.time, last.time, GapReason::Cut { bytes: bytes - whole as u64 }));
                }
                bytes = whole as u64;
            }
            // One without a head is as old as the one before it.
            let begun = segment.head().map_err(at())?.map(|head| head.time);
            let begun = begun.or(self.whole.back().map(|before| before.begun)).unwrap_or_default();
            self.whole.push_back(Whole { path: segment.path.clone(), begun, bytes });
        }
        Ok(())
    }

    /// Takes the order and time from the segment before the one whose keyframe was cut.
    fn recover_end(&mut self, cut: u64) -> Result<(), JournalError> {
        let Some(before) = self.whole.back() else { return Ok(()) };
        let path = before.path.clone();
        let (_, frames) = Segment::at(&path).read().map_err(JournalError::at(&path))?;
        if let Some(last) = frames.whole.last() {
            (self.sequence, self.health.last) = (last.sequence, Some(last.time));
            // A recorder that was killed before it wrote to the segment has cut nothing.
            if cut > 0 {
                self.gaps.push(Gap::new(last.time, last.time, GapReason::Cut { bytes: cut }));
            }
        }
        Ok(())
    }

    /// Returns the state of the writer.
    pub fn health(&self) -> JournalHealth {
        let size = self.whole.iter().map(|segment| segment.bytes).sum::<u64>() + self.current.as_ref().map_or(0, |current| current.bytes);
        JournalHealth { size, segments: self.whole.len() + usize::from(self.current.is_some()), ..self.health }
    }

    /// Returns why frames cannot be written at present, and since when.
    pub fn failing(&self) -> Option<(Timestamp, &str)> {
        self.failing.as_ref().map(|(since, why)| (*since, why.as_str()))
    }

    /// Begins with the state of a cluster that was just read. If the journal has frames, the time since the last one is a gap.
    pub fn begin(&mut self, state: &RecordedState<'_>, time: Timestamp) {
        let mut time = time;
        if let Some(last) = self.health.last {
            time = self.after_last(time);
            self.gaps.push(Gap::new(last, time, GapReason::NotRunning));
        }
        self.rotate(state, time);
    }

    /// Appends the lines of changes, which `state` has taken in. Without changes, a frame comes every ten seconds. If it cannot be
    /// written, the next frame that can be is a keyframe, with a gap behind it.
    pub fn append(&mut self, lines: &[u8], state: &RecordedState<'_>, time: Timestamp) {
        let time = self.after_last(time);
        let is_beat = self.health.last.is_none_or(|last| time.duration_since(last) >= BEAT);
        if self.failing.is_some() || self.current.is_none() {
            return self.rotate(state, time);
        }
        if (!lines.is_empty() || is_beat)
            && let Err(error) = compressed(lines).and_then(|payload| self.frame(FrameKind::Changes, time, &payload))
        {
            return self.fail(time, &error);
        }
        if self.is_full(time) {
            self.rotate(state, time);
        }
    }

    /// Appends lines of schedulers' logs. Those that cannot be written are lost, as the changes of that time are.
    pub fn append_log(&mut self, lines: &mut LogLines, time: Timestamp) {
        let Some(content) = lines.take() else { return };
        let time = self.health.last.map_or(time, |last| last.max(time));
        if self.failing.is_some() || self.current.is_none() {
            return;
        }
        let payload = content.and_then(|content| compressed(&content));
        if let Err(error) = payload.and_then(|payload| self.frame(FrameKind::Log, time, &payload)) {
            self.fail(time, &error);
        }
    }

    /// Begins a segment, so that the state is written anew.
    pub fn restate(&mut self, state: &RecordedState<'_>, time: Timestamp) {
        self.rotate(state, self.after_last(time));
    }

    /// Returns a time after the last frame, so that its moment stays what a reader has seen, though the clock of the cluster may have been
    /// set back.
    fn after_last(&self, time: Timestamp) -> Timestamp {
        let next = |last: Timestamp| last.checked_add(SignedDuration::from_millis(1)).unwrap_or(Timestamp::MAX);
        self.health.last.map_or(time, |last| time.max(next(last)))
    }

    fn is_full(&self, time: Timestamp) -> bool {
        let Some(current) = &self.current else { return true };
        let part = self.options.max_size.map_or(u64::MAX, |size| size / 4);
        let size = self.options.segment_size.min(part).min(JOURNAL_SEGMENT / 2);
        // A keyframe after every few changes would be most of the journal.
        let is_long = current.bytes >= size && current.bytes >= current.keyframe.saturating_mul(2);
        let age = SignedDuration::try_from(self.options.segment_time).unwrap_or(SignedDuration::MAX);
        is_long || time.duration_since(current.begun) >= age
    }

    /// Ends the segment and begins the next with a keyframe.
    fn rotate(&mut self, state: &RecordedState<'_>, time: Timestamp) {
        let time = self.health.last.map_or(time, |last| last.max(time));
        self.end_segment();
        self.drop_old(time);
        let result = self.new_segment(state, time);
        if let Err(error) = result {
            self.fail(time, &error);
            // A segment without a keyframe is of no use.
            if let Some(current) = self.current.take() {
                let _ = fs::remove_file(current.path);
            }
            return;
        }
        if let Some((since, _)) = self.failing.take() {
            self.gaps.push(Gap::new(since, time, GapReason::NotWritten));
        }
        for gap in std::mem::take(&mut self.gaps) {
            let payload = serde_json::to_vec(&gap).map_err(io::Error::from);
            if let Err(error) = payload.and_then(|payload| self.frame(FrameKind::Gap, time, &payload)) {
                self.gaps.push(gap);
                self.fail(time, &error);
                return;
            }
        }
        self.drop_old(time);
    }

    fn new_segment(&mut self, state: &RecordedState<'_>, time: Timestamp) -> io::Result<()> {
        let number = self.number + 1;
        let path = self.folder.join(segment::name(number));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        self.number = number;
        self.current = Some(Current { file, path, begun: time, bytes: 0, keyframe: 0 });
        let mut encoder = gzip(Vec::new());
        state.keyframe(&mut encoder)?;
        self.frame(FrameKind::Keyframe, time, &encoder.into_inner()?.finish()?)?;
        if let Some(current) = &mut self.current {
            current.keyframe = current.bytes;
        }
        // So that the name survives a crash, on systems that can sync folders.
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Writes a frame and syncs it to the disk. A frame that cannot be written whole is cut off.
    fn frame(&mut self, kind: FrameKind, time: Timestamp, payload: &[u8]) -> io::Result<()> {
        let bytes = frame::encode(kind, self.sequence.saturating_add(1), time, payload);
        let bytes = bytes.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the frame is too long"))?;
        #[cfg(test)]
        self.take_room(bytes.len() as u64)?;
        let Some(current) = &mut self.current else { return Err(io::ErrorKind::NotFound.into()) };
        if let Err(error) = current.file.write_all(&bytes).and_then(|()| current.file.sync_data()) {
            let _ = current.file.set_len(current.bytes).and_then(|()| current.file.seek(SeekFrom::Start(current.bytes)));
            return Err(error);
        }
        current.bytes += bytes.len() as u64;
        self.sequence = self.sequence.saturating_add(1);
        self.health.written += bytes.len() as u64;
        self.health.last = Some(time);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn frame_for_test(&mut self, kind: FrameKind, time: Timestamp, payload: &[u8]) {
        self.frame(kind, time, payload).unwrap();
    }

    #[cfg(test)]
    fn take_room(&mut self, bytes: u64) -> io::Result<()> {
        let size = self.health().size;
        let has_room = self.room.is_none_or(|room| size + bytes <= room);
        if has_room { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    /// Records that a frame could not be written.
    fn fail(&mut self, time: Timestamp, error: &io::Error) {
        self.health.failed += 1;
        let since = self.failing.take().map_or_else(|| self.health.last.unwrap_or(time), |(since, _)| since);
        self.failing = Some((since, error.to_string()));
    }

    fn end_segment(&mut self) {
        if let Some(Current { path, begun, bytes, .. }) = self.current.take() {
            self.whole.push_back(Whole { path, begun, bytes });
        }
    }

    /// Removes the oldest segments that are not to be kept. The one that is written stays, and so does the one that holds the
    /// beginning of the time to keep.
    fn drop_old(&mut self, now: Timestamp) {
        let keep = self.options.keep.map(|keep| SignedDuration::try_from(keep).unwrap_or(SignedDuration::MAX));
        loop {
            let next = self.whole.get(1).map(|next| next.begun).or(self.current.as_ref().map(|current| current.begun));
            let is_old = keep.zip(next).is_some_and(|(keep, next)| now.duration_since(next) >= keep);
            let is_too_much = self.options.max_size.is_some_and(|max| self.health().size > max);
            let Some(oldest) = self.whole.front().filter(|_| is_old || is_too_much) else { return };
            if let Err(error) = fs::remove_file(&oldest.path)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(path = %oldest.path.display(), %error, "an old segment cannot be removed");
                return;
            }
            self.whole.pop_front();
        }
    }
}

/// Returns the format of the segments, if any has another one than is read here.
pub(super) fn other_format(segments: &[Segment]) -> Option<u8> {
    // A segment that cannot be read, or that a writer has just removed, is reported or missed later.
    segments.iter().find_map(|segment| segment.other_format().ok().flatten())
}

fn compressed(lines: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(lines)?;
    encoder.finish()
}
