//! Reads a journal at any moment: the keyframe before it, and the last state of each object that changed since.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::io::{self, BufRead as _, BufReader, Read};
use std::iter::Peekable;
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use strum::IntoEnumIterator;

use super::entry::{self, Entry, EntryKey, Knowledge, KnownNeighbors};
use super::frame::{self, Frame, FrameKind, Frames};
use super::gap::{Gap, GapReason};
use super::log::{JournalLog, LogGatherer};
use super::segment::{self, Segment, SegmentBytes};
use super::write::{BEAT, JournalError, other_format};
use crate::cluster::neighbors::{Neighbor, NeighborKind, OtherEvent};
use crate::cluster::{Key, Kind, MissingKinds, Object, ObservedEvent, Str};
use crate::limits::sources::{GROWTH, GROWTH_BEYOND, JOURNAL_GAPS, JOURNAL_LINE, JOURNAL_LOG};
use crate::source::capture::{write_refusal, write_status};
use crate::source::decode::neighbors::DecodedNeighbor;
use crate::source::decode::{Context, Decoded, DecodedItem, decode_text};
use crate::source::layout::Hint;
use crate::source::read::input::{BoxRead, OpenText};
use crate::source::read::made::{MadeText, WriteParts};
use crate::source::read::split::{Syntax, TypeMeta};

/// Silence after which nothing was recorded: a recorder writes a frame every [`BEAT`].
const SILENCE: SignedDuration = SignedDuration::from_secs(3 * BEAT.as_secs());

/// A journal that is read, perhaps while a recorder writes it.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The segments that begin with a frame, with its time.
    segments: Vec<(Segment, Timestamp)>,
    end: Timestamp,
    tail: Tail,
}

/// The bytes after the last frame of a journal.
#[derive(Clone, Copy, Debug, Default)]
struct Tail {
    bytes: u64,
    /// Whether they are more than the start of a frame, as a recorder leaves that is killed while it writes.
    is_damaged: bool,
}

impl Tail {
    /// Adds a segment that does not begin with a frame.
    fn add(&mut self, segment: &Segment) {
        match segment.read() {
            Ok((read, frames)) if frames.whole.is_empty() => self.add_part(&read.bytes, frames.tail),
            Ok(_) | Err(_) => *self = Self { bytes: self.bytes + segment.length(), is_damaged: true },
        }
    }

    /// Adds what is behind the last frame of a segment.
    fn add_part(&mut self, segment: &[u8], tail: usize) {
        let part = &segment[segment.len() - tail..];
        self.is_damaged |= !frame::is_start(part) || self.bytes > 0 && tail > 0;
        self.bytes += tail as u64;
    }
}

/// Why a moment cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MomentError {
    /// The moment is before the first keyframe.
    #[error("the journal begins at {0}")]
    Before(Timestamp),
    /// The moment is after the last frame.
    #[error("the journal ends at {0}")]
    After(Timestamp),
    /// No keyframe before the moment can be read.
    #[error("no keyframe before {0} can be read")]
    NoKeyframe(Timestamp),
    /// A file cannot be read.
    #[error("{0}")]
    Io(String),
}

/// The state of the cluster at a moment.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The moment that was asked for.
    pub time: Timestamp,
    /// Which kinds are known, and the cluster's version.
    pub knowledge: Knowledge,
    /// Gaps since the keyframe, and the one that the moment is in.
    pub gaps: Vec<Gap>,
    /// Gaps that are not in the list.
    pub more_gaps: usize,
    /// Changes before the moment may be missing: it is in a gap, or frames before it are damaged.
    pub in_doubt: bool,
    content: Arc<MomentContent>,
    place: FramePlace,
}

/// The place of a frame in a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FramePlace {
    segment: usize,
    frame: usize,
}

/// A segment that is in memory.
#[derive(Clone, Debug)]
struct LoadedSegment {
    bytes: Arc<SegmentBytes>,
    frames: Frames,
}

impl LoadedSegment {
    fn read(segment: &Segment) -> io::Result<Self> {
        let (bytes, frames) = segment.read()?;
        Ok(Self { bytes: Arc::new(bytes), frames })
    }

    fn payload(&self, frame: &Frame) -> &[u8] {
        &self.bytes.bytes[frame.payload.clone()]
    }
}

/// The keyframe and the states that replace those in it.
#[derive(Debug)]
struct MomentContent {
    segment: LoadedSegment,
    /// The last state of each object and event that changed; `None` if it is gone.
    latest: BTreeMap<EntryKey, Option<Box<[u8]>>>,
}

/// Returns the lines of a frame; an error if they are damaged or too many. Takes from `beyond` the bytes by which it grows beyond
/// [`GROWTH`].
fn unpack(payload: &[u8], beyond: &mut u64) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    let growth = payload.len() as u64 * GROWTH;
    let limit = growth + *beyond;
    MultiGzDecoder::new(payload).take(limit + 1).read_to_end(&mut lines)?;
    let length = lines.len() as u64;
    if length > limit {
        return Err(io::Error::other("a frame of the journal unpacks too far"));
    }
    *beyond -= length.saturating_sub(growth);
    Ok(lines)
}

/// Returns the lines of a frame of which nothing is kept.
fn unpack_one(payload: &[u8]) -> io::Result<Vec<u8>> {
    unpack(payload, &mut { GROWTH_BEYOND })
}

impl Journal {
    /// Returns whether a path is a folder with segments of a journal.
    pub fn is_at(path: &Path) -> bool {
        path.is_dir() && segment::list(path).is_ok_and(|segments| !segments.is_empty())
    }

    /// Opens a journal for reading.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read or holds no keyframe.
    pub fn open(folder: &Path) -> Result<Self, JournalError> {
        let at = |error| JournalError::Io { path: folder.display().to_string(), error };
        let mut segments = Vec::new();
        let found = segment::list(folder).map_err(at)?;
        if let Some(format) = other_format(&found) {
            return Err(JournalError::OtherFormat(folder.display().to_string(), format));
        }
        let mut tail = Tail::default();
        for segment in found {
            match segment.head() {
                Ok(Some(head)) => {
                    segments.push((segment, head.time));
                    tail = Tail::default();
                }
                // A segment that a writer has just removed is not missed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Ok(None) | Err(_) => tail.add(&segment),
            }
        }
        // A segment whose keyframe is not written yet, or was cut, holds nothing.
        let end = loop {
            let Some((last, _)) = segments.last() else { return Err(JournalError::Empty(folder.display().to_string())) };
            match last.read() {
                Ok((read, Frames { whole, tail: behind, .. })) if !whole.is_empty() => {
                    tail.add_part(&read.bytes, behind);
                    break whole.last().map_or(Timestamp::MIN, |frame| frame.time);
                }
                _ => tail.add(last),
            }
            segments.pop();
        };
        Ok(Self { segments, end, tail })
    }

    /// Returns the time of the first frame.
    pub fn begin(&self) -> Timestamp {
        self.segments.first().map_or(self.end, |(_, time)| *time)
    }

    /// Returns the time of the last frame.
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// Returns the state at a moment: after all frames up to it.
    ///
    /// # Errors
    /// Returns an error if the journal does not reach the moment, or no keyframe before it can be read.
    pub fn at(&self, time: Timestamp) -> Result<Moment, MomentError> {
        if time < self.begin() {
            return Err(MomentError::Before(self.begin()));
        }
        if time > self.end {
            return Err(MomentError::After(self.end));
        }
        let later = self.segments.partition_point(|(_, begin)| *begin <= time);
        let mut lost = false;
        for number in (0..later).rev() {
            let read = LoadedSegment::read(&self.segments[number].0).map_err(|error| MomentError::Io(error.to_string()))?;
            if read.frames.whole.first().is_some_and(|first| first.kind == FrameKind::Keyframe && first.time <= time) {
                return Ok(self.moment(number, read, time, lost));
            }
            // Its changes are lost with its keyframe.
            lost = true;
        }
        Err(MomentError::NoKeyframe(time))
    }

    fn moment(&self, number: usize, segment: LoadedSegment, time: Timestamp, lost: bool) -> Moment {
        let mut knowledge = Knowledge::default();
        let mut latest = BTreeMap::new();
        let mut gaps = Gaps::default();
        let mut before: Option<&Frame> = None;
        let mut count = 0;
        let mut in_doubt = lost;
        let mut beyond = GROWTH_BEYOND;
        for frame in segment.frames.whole.iter().take_while(|frame| frame.time <= time) {
            let last = before.map_or(frame.time, |before| before.time);
            in_doubt |= frame.time < last;
            if before.is_some_and(|before| !frame.follows(before.sequence)) {
                gaps.add(Gap::new(last, frame.time, GapReason::Damaged));
                in_doubt = true;
            }
            match frame.kind {
                FrameKind::Keyframe => match first_line(segment.payload(frame)) {
                    Some(found) => knowledge = found,
                    None => in_doubt = true,
                },
                FrameKind::Changes => match unpack(segment.payload(frame), &mut beyond) {
                    Ok(lines) => in_doubt |= !apply(&lines, &mut latest, &mut knowledge),
                    Err(_) => {
                        gaps.add(Gap::new(last, frame.time, GapReason::Damaged));
                        in_doubt = true;
                    }
                },
                FrameKind::Gap => match serde_json::from_slice(segment.payload(frame)) {
                    Ok(gap) => gaps.add(gap),
                    Err(_) => in_doubt = true,
                },
                FrameKind::Log => {}
            }
            before = Some(frame);
            count += 1;
        }
        // A recorder writes frames in the order of their times.
        in_doubt |= segment.frames.whole[count..].iter().any(|frame| frame.time <= time);
        // The rest of a segment that is too long is not read.
        in_doubt |= segment.bytes.is_cut && count == segment.frames.whole.len();
        if self.tail.bytes > 0 && number + 1 == self.segments.len() && count == segment.frames.whole.len() {
            let reason = if self.tail.is_damaged { GapReason::Damaged } else { GapReason::Cut { bytes: self.tail.bytes } };
            gaps.add(Gap::new(before.map_or(time, |before| before.time), time, reason));
            // The state is as it was recorded up to a frame that was never written whole.
            in_doubt |= self.tail.is_damaged;
        }
        let last = before.map_or((0, time), |before| (before.sequence, before.time));
        if let Some(gap) = self.gap_at(number, &segment, count, last, time) {
            in_doubt |= gap.contains(time) || gap.reason == GapReason::Damaged;
            gaps.add(gap);
        }
        let Gaps { list, more } = gaps;
        Moment {
            time,
            knowledge,
            gaps: list,
            more_gaps: more,
            in_doubt,
            content: Arc::new(MomentContent { segment, latest }),
            place: FramePlace { segment: number, frame: count },
        }
    }

    /// Returns the gap that a moment after the last frame before it is in: the next frame is not the one that followed, or no frame
    /// came for a while.
    fn gap_at(&self, number: usize, segment: &LoadedSegment, count: usize, last: (u64, Timestamp), time: Timestamp) -> Option<Gap> {
        let (sequence, last) = last;
        if time <= last {
            return None;
        }
        let damaged = |to: Timestamp| Some(Gap::new(last, to.max(time), GapReason::Damaged));
        let is_silent = time.duration_since(last) >= SILENCE;
        if let Some(next) = segment.frames.whole.get(count) {
            return if is_silent || !next.follows(sequence) { damaged(next.time) } else { None };
        }
        // The last segment ends with the last frame, after which no moment is asked for.
        let (next, begin) = self.segments.get(number + 1)?;
        let Ok(next) = LoadedSegment::read(next) else { return damaged(*begin) };
        let Some(first) = next.frames.whole.first() else { return damaged(*begin) };
        if !first.follows(sequence) || first.time <= time {
            return damaged(first.time);
        }
        if !is_silent {
            return None;
        }
        let recorded = next.frames.whole.iter().skip(1).take_while(|frame| frame.kind == FrameKind::Gap);
        let mut recorded = recorded.filter_map(|frame| serde_json::from_slice::<Gap>(next.payload(frame)).ok());
        recorded.find(|gap| gap.contains(time)).or_else(|| damaged(first.time))
    }

    /// Returns the log of schedulers that was recorded from a time up to another one.
    ///
    /// # Errors
    /// Returns an error if a segment cannot be read.
    pub fn log(&self, from: Timestamp, to: Timestamp) -> Result<JournalLog, MomentError> {
        let later = self.segments.partition_point(|(_, begin)| *begin <= to);
        let mut gatherer = LogGatherer::new(JOURNAL_LOG);
        'segments: for (segment, begin) in self.segments[..later].iter().rev() {
            let read = LoadedSegment::read(segment).map_err(|error| MomentError::Io(error.to_string()))?;
            let is_wanted = |frame: &&Frame| frame.kind == FrameKind::Log && from <= frame.time && frame.time <= to;
            for frame in read.frames.whole.iter().rev().filter(is_wanted) {
                if !gatherer.add(unpack_one(read.payload(frame)).ok()) {
                    break 'segments;
                }
            }
            if *begin < from {
                break;
            }
        }
        Ok(gatherer.finish())
    }

    /// Returns the last deletion of an object. Segments are read from the end, one at a time, and none before that of the deletion.
    ///
    /// # Errors
    /// Returns an error if a segment cannot be read.
    pub fn last_deletion(&self, kind: Kind, key: &Key) -> Result<Option<Deletion>, MomentError> {
        let read = |number: usize| LoadedSegment::read(&self.segments[number].0).map_err(|error| MomentError::Io(error.to_string()));
        let lines = ObjectLines::new(EntryKey::Object(kind, key.clone()));
        let mut number = self.segments.len();
        let mut next: Option<LoadedSegment> = None;
        while number > 0 {
            number -= 1;
            let segment = match next.take() {
                Some(segment) => segment,
                None => read(number)?,
            };
            if let Some(deletion) = lines.last_deletion_in(&segment) {
                return Ok(Some(deletion));
            }
            let Some(begin) = number.checked_sub(1).and(segment.frames.whole.first()) else { continue };
            let earlier = read(number - 1)?;
            let is_after_gap = segment.frames.whole.get(1).is_some_and(|second| second.kind == FrameKind::Gap);
            if let Some(end) = earlier.frames.whole.last()
                && (is_after_gap || !begin.follows(end.sequence))
                && begin.kind == FrameKind::Keyframe
                && lines.is_at_end_of(&earlier)
                && !lines.is_in_keyframe(segment.payload(begin))
            {
                return Ok(Some(Deletion { before: end.time, after: begin.time }));
            }
            next = Some(earlier);
        }
        Ok(None)
    }

    /// Returns the steps after a moment, oldest first.
    pub fn after(&self, moment: &Moment) -> Steps<'_> {
        let FramePlace { segment, frame } = moment.place;
        let last =
            frame.checked_sub(1).and_then(|last| moment.content.segment.frames.whole.get(last)).map(|last| (last.sequence, last.time));
        Steps { journal: self, segment, frame, read: Some(moment.content.segment.clone()), last }
    }
}

/// The deletion of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The last moment that is recorded with the object.
    pub before: Timestamp,
    /// The first moment that is recorded without it.
    pub after: Timestamp,
}

/// The lines about an object.
struct ObjectLines {
    key: EntryKey,
    /// The line of its deletion.
    gone: Vec<u8>,
    /// The start of the line of a state.
    put: Vec<u8>,
}

impl ObjectLines {
    fn new(key: EntryKey) -> Self {
        let (mut gone, mut put) = (Vec::new(), Vec::new());
        // Writing into memory does not fail.
        let _ = entry::gone(&mut gone, &key).and_then(|()| entry::put(&mut put, &key, |_| Ok(())));
        gone.pop();
        put.pop();
        Self { key, gone, put }
    }

    /// Returns whether the last of the lines about the object is a state; `None` without one.
    fn last_in(&self, lines: &[u8]) -> Option<bool> {
        let of = |line: &[u8]| if line == self.gone { Some(false) } else { line.starts_with(&self.put).then_some(true) };
        lines.split(|byte| *byte == b'\n').rev().find_map(of)
    }

    fn last_deletion_in(&self, segment: &LoadedSegment) -> Option<Deletion> {
        let (mut before, mut found) = (segment.frames.whole.first()?.time, None);
        for frame in &segment.frames.whole {
            match frame.kind {
                FrameKind::Keyframe => before = frame.time,
                FrameKind::Gap | FrameKind::Log => {}
                FrameKind::Changes => {
                    let is_gone = unpack_one(segment.payload(frame))
                        .is_ok_and(|lines| lines.split(|byte| *byte == b'\n').any(|line| line == self.gone));
                    if is_gone {
                        found = Some(Deletion { before, after: frame.time });
                    }
                    before = frame.time;
                }
            }
        }
        found
    }

    /// Returns whether the object is there after all frames of a segment.
    fn is_at_end_of(&self, segment: &LoadedSegment) -> bool {
        let changes = segment.frames.whole.iter().rev().filter(|frame| frame.kind == FrameKind::Changes);
        let last = changes.filter_map(|frame| unpack_one(segment.payload(frame)).ok()).find_map(|lines| self.last_in(&lines));
        let keyframe = || segment.frames.whole.first().filter(|frame| frame.kind == FrameKind::Keyframe);
        last.unwrap_or_else(|| keyframe().is_some_and(|frame| self.is_in_keyframe(segment.payload(frame))))
    }

    /// Returns whether a keyframe has the object. Its lines are in the order of their keys.
    fn is_in_keyframe(&self, payload: &[u8]) -> bool {
        let limit = payload.len() as u64 * GROWTH + GROWTH_BEYOND;
        let mut lines = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(payload).take(limit));
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = lines.by_ref().take(JOURNAL_LINE).read_until(b'\n', &mut line);
            if !read.is_ok_and(|count| count > 0) {
                return false;
            }
            if line.starts_with(&self.put) {
                return true;
            }
            if let Some(Entry::Put(key, _)) = entry::read(line.strip_suffix(b"\n").unwrap_or(&line))
                && key > self.key
            {
                return false;
            }
        }
    }
}

/// The first gaps, and the number of others.
#[derive(Debug, Default)]
struct Gaps {
    list: Vec<Gap>,
    more: usize,
}

impl Gaps {
    fn add(&mut self, gap: Gap) {
        if self.list.len() < JOURNAL_GAPS { self.list.push(gap) } else { self.more += 1 }
    }
}

/// Takes the last state of each object from lines; returns false if a line cannot be read.
fn apply(lines: &[u8], latest: &mut BTreeMap<EntryKey, Option<Box<[u8]>>>, knowledge: &mut Knowledge) -> bool {
    let mut is_whole = true;
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match entry::read(line) {
            Some(Entry::Put(key, item)) => drop(latest.insert(key, Some(item.into()))),
            Some(Entry::Gone(key)) => drop(latest.insert(key, None)),
            Some(Entry::Known(known)) => *knowledge = *known,
            None => is_whole = false,
        }
    }
    is_whole
}

/// Returns what a keyframe knows, which is on its first line.
fn first_line(payload: &[u8]) -> Option<Knowledge> {
    let mut line = Vec::new();
    BufReader::new(MultiGzDecoder::new(payload)).take(JOURNAL_LINE).read_until(b'\n', &mut line).ok()?;
    match entry::read(line.strip_suffix(b"\n")?)? {
        Entry::Known(knowledge) => Some(*knowledge),
        Entry::Put(..) | Entry::Gone(_) => None,
    }
}

impl Moment {
    /// Returns the kinds that are not known. Where changes may be missing, every kind counts as read in part.
    fn knowledge_for_readers(&self) -> Knowledge {
        let mut knowledge = self.knowledge.clone();
        if self.in_doubt {
            knowledge.stale = Kind::iter().collect();
            if let Some(neighbors) = &mut knowledge.neighbors {
                neighbors.doubt();
            }
        }
        knowledge
    }

    /// Returns the state as the text of a dump: that of a capture at this moment.
    pub fn text(&self) -> Arc<dyn OpenText> {
        Arc::new(MomentText { content: Arc::clone(&self.content), knowledge: self.knowledge_for_readers() })
    }
}

/// The state at a moment, as the text of a dump.
#[derive(Debug)]
struct MomentText {
    content: Arc<MomentContent>,
    knowledge: Knowledge,
}

impl OpenText for MomentText {
    fn open(&self) -> io::Result<BoxRead<'_>> {
        let MomentContent { segment, latest } = &*self.content;
        let Some(keyframe) = segment.frames.whole.first() else { return Err(io::ErrorKind::NotFound.into()) };
        let payload = segment.payload(keyframe);
        let limit = payload.len() as u64 * GROWTH + GROWTH_BEYOND;
        Ok(Box::new(MadeText::new(DumpText {
            lines: BufReader::with_capacity(1 << 16, MultiGzDecoder::new(payload).take(limit)),
            line: Vec::new(),
            ahead: None,
            last: None,
            latest: latest.range(..).peekable(),
            knowledge: &self.knowledge,
            missing: self.knowledge.missing(),
            lists: lists(),
            version: None,
            items: None,
            next: None,
            is_begun: false,
        })))
    }
}

/// Merges the lines of a keyframe with the states that replace them, and writes them as a capture does.
struct DumpText<'a> {
    lines: BufReader<io::Take<MultiGzDecoder<&'a [u8]>>>,
    line: Vec<u8>,
    /// The key and item of the keyframe's next line.
    ahead: Option<(EntryKey, Vec<u8>)>,
    /// The key of the keyframe's last line.
    last: Option<EntryKey>,
    latest: Peekable<Range<'a, EntryKey, Option<Box<[u8]>>>>,
    knowledge: &'a Knowledge,
    missing: MissingKinds,
    /// The lists that follow, the next one last.
    lists: Vec<ListOf>,
    /// The API of the list that is being written, and of the last one of the same kind that scheduling does not read.
    version: Option<Str>,
    /// Items of the list that is being written.
    items: Option<usize>,
    next: Option<(EntryKey, Vec<u8>)>,
    is_begun: bool,
}

/// Text that is written at once.
const CHUNK: usize = 1 << 16;

impl DumpText<'_> {
    fn damage(words: &str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("the keyframe of the journal is damaged: {words}"))
    }

    /// Reads the keyframe's next object or event.
    fn read_line(&mut self) -> io::Result<Option<(EntryKey, Vec<u8>)>> {
        loop {
            self.line.clear();
            let read = self.lines.by_ref().take(JOURNAL_LINE).read_until(b'\n', &mut self.line)?;
            if read == 0 && self.lines.get_ref().limit() == 0 {
                return Err(Self::damage("it unpacks too far"));
            }
            if read == 0 {
                return Ok(None);
            }
            let Some(line) = self.line.strip_suffix(b"\n") else { return Err(Self::damage("a line is too long or cut")) };
            match entry::read(line) {
                Some(Entry::Known(_)) if self.last.is_none() => {}
                Some(Entry::Put(key, item)) => {
                    if self.last.as_ref().is_some_and(|last| *last >= key) {
                        return Err(Self::damage("its order is wrong"));
                    }
                    self.last = Some(key.clone());
                    return Ok(Some((key, item.to_vec())));
                }
                _ => return Err(Self::damage("a line is not understood")),
            }
        }
    }

    /// Returns the next object or event of the moment.
    fn advance(&mut self) -> io::Result<Option<(EntryKey, Vec<u8>)>> {
        loop {
            if self.ahead.is_none() {
                self.ahead = self.read_line()?;
            }
            let key = self.ahead.as_ref().map(|(key, _)| key);
            let Some((latest, _)) = self.latest.peek() else { return Ok(self.ahead.take()) };
            if key.is_some_and(|key| key < *latest) {
                return Ok(self.ahead.take());
            }
            if key == Some(*latest) {
                self.ahead = None;
            }
            if let Some((key, Some(item))) = self.latest.next() {
                return Ok(Some((key.clone(), item.to_vec())));
            }
        }
    }

    /// Returns the API of the next entry if it is of a list.
    fn next_in(&self, list: ListOf) -> Option<Str> {
        match (&self.next.as_ref()?.0, list) {
            (EntryKey::Object(kind, _), ListOf::Objects(of)) if *kind == of => Some(of.api_version().into()),
            (EntryKey::Neighbor(kind, api_version, _), ListOf::Neighbors(of)) if *kind == of => Some(api_version.clone()),
            (EntryKey::Event(_) | EntryKey::OtherEvent(_), ListOf::Events) => Some("v1".into()),
            _ => None,
        }
    }

    /// Writes the refusal of a list, and returns the API of the list if one is written though it has no items.
    fn begin(&self, list: ListOf, out: &mut Vec<u8>) -> io::Result<Option<Str>> {
        let neighbors = self.knowledge.neighbors.as_ref();
        Ok(match list {
            ListOf::Objects(kind) => {
                write_refusal(out, kind, self.missing.why(kind))?;
                (!self.knowledge.unlisted.contains(kind)).then(|| kind.api_version().into())
            }
            ListOf::Neighbors(kind) => {
                let group = kind.groups()[0];
                if let Some(why) = neighbors.and_then(|known| known.why(kind)) {
                    write_status(out, group, kind.resource(), why)?;
                }
                let is_listed = neighbors.is_some_and(|known| known.lists(kind));
                is_listed.then(|| if group.is_empty() { "v1".into() } else { format!("{group}/v1").into() })
            }
            ListOf::Events => {
                if let Some(why) = neighbors.and_then(KnownNeighbors::why_no_events) {
                    write_status(out, "", "events", why)?;
                }
                Some("v1".into())
            }
        })
    }

    /// Writes the items of a list that are there, up to a length; returns whether more follow.
    fn write_items(&mut self, list: ListOf, out: &mut Vec<u8>) -> io::Result<bool> {
        while self.next_in(list).is_some_and(|api_version| self.version.as_ref() == Some(&api_version)) {
            if out.len() > CHUNK {
                return Ok(true);
            }
            if let Some((_, item)) = self.next.take() {
                out.extend_from_slice(if self.items == Some(0) { b"\n" } else { b",\n" });
                out.extend(item);
                self.items = self.items.map(|count| count + 1);
            }
            self.next = self.advance()?;
        }
        out.extend_from_slice(b"]}\n");
        self.items = None;
        Ok(false)
    }
}

/// A list of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListOf {
    Objects(Kind),
    /// One for each API of the kind.
    Neighbors(NeighborKind),
    Events,
}

impl ListOf {
    fn kind(self) -> String {
        match self {
            Self::Objects(kind) => kind.to_string(),
            Self::Neighbors(kind) => kind.to_string(),
            Self::Events => "Event".to_owned(),
        }
    }
}

/// Returns the lists of a dump, the first one last.
fn lists() -> Vec<ListOf> {
    let neighbors = NeighborKind::iter().filter(|kind| !kind.is_in_model()).map(ListOf::Neighbors);
    let mut lists: Vec<ListOf> = Kind::iter().map(ListOf::Objects).chain(neighbors).chain([ListOf::Events]).collect();
    lists.reverse();
    lists
}

impl WriteParts for DumpText<'_> {
    fn write_part(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        if !self.is_begun {
            self.is_begun = true;
            self.next = self.advance()?;
        }
        let Some(list) = self.lists.last().copied() else { return Ok(false) };
        if self.items.is_none() {
            // Without items, a list is written once at most.
            let empty = if self.version.is_none() { self.begin(list, out)? } else { None };
            match self.next_in(list).or(empty) {
                Some(api_version) => {
                    out.extend(format!("{{\"kind\":\"{}List\",\"apiVersion\":\"{api_version}\",\"items\":[", list.kind()).as_bytes());
                    (self.version, self.items) = (Some(api_version), Some(0));
                }
                None => {
                    self.version = None;
                    self.lists.pop();
                    return Ok(true);
                }
            }
        }
        if !self.write_items(list, out)?
            && list == ListOf::Events
            && let Some(version) = &self.knowledge.version
        {
            out.extend(format!("{}\n", json!({"serverVersion": {"gitVersion": version}})).as_bytes());
        }
        Ok(true)
    }
}

/// A change that a journal holds.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedChange {
    /// The new state of an object.
    Put(Object),
    /// An object is gone.
    Gone(Kind, Key),
    /// An event, or its next occurrence.
    Event(ObservedEvent),
    /// The new state of an object that scheduling does not read, or of the part of one that it does not.
    Neighbor(Box<Neighbor>),
    /// An object that scheduling does not read is gone.
    NeighborGone(NeighborKind, Key),
    /// An event of others, or its next occurrence.
    OtherEvent(OtherEvent),
    /// Another knowledge from here on.
    Known(Box<Knowledge>),
    /// A line that cannot be read.
    Unreadable,
}

/// A step of a journal.
#[derive(Clone, Debug)]
pub enum Step {
    /// Changes at a time.
    Changes(Timestamp, Vec<RecordedChange>),
    /// Nothing is known of this time. Later changes follow.
    Gap(Gap),
    /// A new keyframe after a gap: the state is not that before with the changes after.
    State(Box<Moment>),
}

/// The steps of a journal after a moment; see [`Journal::after`].
#[derive(Debug)]
pub struct Steps<'a> {
    journal: &'a Journal,
    segment: usize,
    frame: usize,
    read: Option<LoadedSegment>,
    /// The order and time of the last frame.
    last: Option<(u64, Timestamp)>,
}

impl Steps<'_> {
    fn next_segment(&mut self) {
        self.segment += 1;
        self.frame = 0;
        self.read = None;
    }

    fn state(&mut self, at: Timestamp, segment: LoadedSegment) -> Step {
        let moment = self.journal.moment(self.segment, segment.clone(), at, false);
        self.read = Some(segment);
        Step::State(Box::new(moment))
    }
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            let (segment, _) = self.journal.segments.get(self.segment)?;
            let Some(read) = self.read.take().or_else(|| LoadedSegment::read(segment).ok()) else {
                self.next_segment();
                continue;
            };
            let Some(frame) = read.frames.whole.get(self.frame).cloned() else {
                self.next_segment();
                continue;
            };
            let last = self.last.replace((frame.sequence, frame.time));
            let follows = last.is_none_or(|(sequence, _)| frame.follows(sequence));
            if !follows && frame.kind != FrameKind::Keyframe {
                // The frame comes again, without a gap before it.
                self.read = Some(read);
                let from = last.map_or(frame.time, |(_, time)| time);
                self.last = frame.sequence.checked_sub(1).map(|before| (before, from));
                return Some(Step::Gap(Gap::new(from, frame.time, GapReason::Damaged)));
            }
            self.frame += 1;
            match frame.kind {
                FrameKind::Keyframe => {
                    let is_after_gap = read.frames.whole.get(self.frame).is_some_and(|next| next.kind == FrameKind::Gap);
                    if !follows || is_after_gap {
                        return Some(self.state(frame.time, read));
                    }
                    self.read = Some(read);
                }
                FrameKind::Gap => {
                    let gap = serde_json::from_slice(read.payload(&frame)).ok();
                    self.read = Some(read);
                    if let Some(gap) = gap {
                        return Some(Step::Gap(gap));
                    }
                }
                FrameKind::Log => self.read = Some(read),
                FrameKind::Changes => {
                    let lines = unpack_one(read.payload(&frame));
                    self.read = Some(read);
                    let Ok(lines) = lines else {
                        let from = last.map_or(frame.time, |(_, time)| time);
                        return Some(Step::Gap(Gap::new(from, frame.time, GapReason::Damaged)));
                    };
                    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                    let changes: Vec<RecordedChange> = lines.flat_map(changes_of).collect();
                    if !changes.is_empty() {
                        return Some(Step::Changes(frame.time, changes));
                    }
                }
            }
        }
    }
}

/// Returns the changes of a line; none if it is about an event that is forgotten.
fn changes_of(line: &[u8]) -> Vec<RecordedChange> {
    match entry::read(line) {
        Some(Entry::Put(EntryKey::Object(kind, _), item)) => decoded(&kind.to_string(), kind.api_version().to_owned(), item),
        Some(Entry::Put(EntryKey::Neighbor(kind, api_version, _), item)) => decoded(kind.into(), api_version.to_string(), item),
        Some(Entry::Put(EntryKey::Event(_) | EntryKey::OtherEvent(_), item)) => decoded("Event", "v1".to_owned(), item),
        Some(Entry::Gone(EntryKey::Object(kind, key))) => vec![RecordedChange::Gone(kind, key)],
        Some(Entry::Gone(EntryKey::Neighbor(kind, _, key))) => vec![RecordedChange::NeighborGone(kind, key)],
        Some(Entry::Gone(EntryKey::Event(_) | EntryKey::OtherEvent(_))) => Vec::new(),
        Some(Entry::Known(knowledge)) => vec![RecordedChange::Known(knowledge)],
        None => vec![RecordedChange::Unreadable],
    }
}

/// Decodes an item of a list of a kind, as the items of a dump are.
fn decoded(kind: &str, api_version: String, item: &[u8]) -> Vec<RecordedChange> {
    let list = TypeMeta { kind: Some(format!("{kind}List")), api_version: Some(api_version), self_link: None };
    let changes = decoded_in(&list, item);
    if changes.is_empty() { vec![RecordedChange::Unreadable] } else { changes }
}

/// Decodes an object with its kind, as those of a dump are; none if nothing reads it.
pub(in crate::source) fn recorded_changes(object: &[u8]) -> Vec<RecordedChange> {
    decoded_in(&TypeMeta::default(), object)
}

fn decoded_in(list: &TypeMeta, item: &[u8]) -> Vec<RecordedChange> {
    let hint = Hint::default();
    let context = Context { list, list_open: false, index: Some(0), depth: 1, hint: &hint, patterns: None };
    let mut out = Vec::with_capacity(1);
    decode_text(item, Syntax::Json, context, 0, &mut out);
    let Some(Decoded { what, neighbor, .. }) = out.pop() else { return vec![RecordedChange::Unreadable] };
    let what = if let DecodedItem::Mended(what, _) = what { *what } else { what };
    let change = match what {
        DecodedItem::Object { object, .. } => Some(RecordedChange::Put(object)),
        DecodedItem::Event(seen) => Some(RecordedChange::Event(seen.event)),
        DecodedItem::Other(_) | DecodedItem::Unread(_) => None,
        _ => Some(RecordedChange::Unreadable),
    };
    let neighbor = neighbor.and_then(|neighbor| match *neighbor {
        DecodedNeighbor::Object(neighbor) => Some(RecordedChange::Neighbor(Box::new(neighbor))),
        DecodedNeighbor::Event(_, event) => Some(RecordedChange::OtherEvent(event)),
        DecodedNeighbor::Withheld(..) => None,
    });
    change.into_iter().chain(neighbor).collect()
}
