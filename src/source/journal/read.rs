//! Reads a journal at any moment: the keyframe before it, and the last state of each object that changed since.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::io::{self, BufRead as _, BufReader, Read};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use strum::IntoEnumIterator;

use super::entry::{self, Entry, EntryKey, Knowledge};
use super::frame::{Frame, FrameKind, Frames};
use super::gap::{Gap, GapReason};
use super::segment::{self, Segment, SegmentBytes};
use super::write::{BEAT, JournalError, is_being_written};
use crate::cluster::{Key, Kind, MissingKinds, Object, ObservedEvent};
use crate::limits::sources::{GROWTH, GROWTH_BEYOND, JOURNAL_GAPS, JOURNAL_LINE};
use crate::source::capture::write_refusal;
use crate::source::decode::{Context, DecodedItem, decode_text};
use crate::source::layout::Hint;
use crate::source::read::input::{BoxRead, OpenText};
use crate::source::read::made::{MadeText, WriteParts};
use crate::source::read::split::{Syntax, TypeMeta};

/// Silence after which nothing was recorded: a recorder writes a frame every [`BEAT`].
const SILENCE: SignedDuration = SignedDuration::from_secs(3 * BEAT.as_secs());

/// A journal that is read, perhaps while a recorder writes it.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
    /// The segments that begin with a frame, with its time.
    segments: Vec<(Segment, Timestamp)>,
    end: Timestamp,
    is_written: bool,
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

/// Returns the lines of a frame; an error if they are damaged or too many.
fn unpack(payload: &[u8]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    let limit = payload.len() as u64 * GROWTH + GROWTH_BEYOND;
    MultiGzDecoder::new(payload).take(limit + 1).read_to_end(&mut lines)?;
    if lines.len() as u64 > limit { Err(io::Error::other("a frame of the journal unpacks too far")) } else { Ok(lines) }
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
        for segment in segment::list(folder).map_err(at)? {
            // A segment that a writer has just removed is not missed.
            if let Ok(Some(head)) = segment.head() {
                segments.push((segment, head.time));
            }
        }
        // A segment whose keyframe is not written yet, or was cut, holds nothing.
        let end = loop {
            let Some((last, _)) = segments.last() else { return Err(JournalError::Empty(folder.display().to_string())) };
            if let Some(frame) = last.read().ok().and_then(|(_, frames)| frames.whole.last().cloned()) {
                break frame.time;
            }
            segments.pop();
        };
        Ok(Self { folder: folder.to_owned(), segments, end, is_written: is_being_written(folder) })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the time of the first frame.
    pub fn begin(&self) -> Timestamp {
        self.segments.first().map_or(self.end, |(_, time)| *time)
    }

    /// Returns the time of the last frame.
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// Returns whether a recorder is writing it.
    pub fn is_being_written(&self) -> bool {
        self.is_written
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
        for frame in segment.frames.whole.iter().take_while(|frame| frame.time <= time) {
            let last = before.map_or(frame.time, |before| before.time);
            if before.is_some_and(|before| before.sequence + 1 != frame.sequence) {
                gaps.add(Gap::new(last, frame.time, GapReason::Damaged));
                in_doubt = true;
            }
            match frame.kind {
                FrameKind::Keyframe => match first_line(segment.payload(frame)) {
                    Some(found) => knowledge = found,
                    None => in_doubt = true,
                },
                FrameKind::Changes => match unpack(segment.payload(frame)) {
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
            }
            before = Some(frame);
            count += 1;
        }
        // The rest of a segment that is too long is not read.
        in_doubt |= segment.bytes.is_cut && count == segment.frames.whole.len();
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
            return if is_silent || next.sequence != sequence + 1 { damaged(next.time) } else { None };
        }
        // The last segment ends with the last frame, after which no moment is asked for.
        let (next, begin) = self.segments.get(number + 1)?;
        let Ok(next) = LoadedSegment::read(next) else { return damaged(*begin) };
        let Some(first) = next.frames.whole.first() else { return damaged(*begin) };
        if first.sequence != sequence + 1 || first.time <= time {
            return damaged(first.time);
        }
        if !is_silent {
            return None;
        }
        let recorded = next.frames.whole.iter().skip(1).take_while(|frame| frame.kind == FrameKind::Gap);
        let mut recorded = recorded.filter_map(|frame| serde_json::from_slice::<Gap>(next.payload(frame)).ok());
        recorded.find(|gap| gap.contains(time)).or_else(|| damaged(first.time))
    }

    /// Returns the steps after a moment, oldest first.
    pub fn after(&self, moment: &Moment) -> Steps<'_> {
        let FramePlace { segment, frame } = moment.place;
        let last =
            frame.checked_sub(1).and_then(|last| moment.content.segment.frames.whole.get(last)).map(|last| (last.sequence, last.time));
        Steps { journal: self, segment, frame, read: Some(moment.content.segment.clone()), last }
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
            kinds: Kind::iter().map(Some).chain([None]).collect(),
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
    /// The lists that follow; `None` is that of events.
    kinds: Vec<Option<Kind>>,
    /// Items of the list that is being written.
    items: Option<usize>,
    /// The next entry.
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

    /// Returns whether the next entry is of a kind; `None` are events.
    fn next_is(&self, kind: Option<Kind>) -> bool {
        match &self.next {
            Some((EntryKey::Object(of, _), _)) => kind == Some(*of),
            Some((EntryKey::Event(_), _)) => kind.is_none(),
            None => false,
        }
    }
}

impl WriteParts for DumpText<'_> {
    fn write_part(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        if !self.is_begun {
            self.is_begun = true;
            self.next = self.advance()?;
        }
        let Some(kind) = self.kinds.first().copied() else { return Ok(false) };
        if self.items.is_none() {
            if let Some(kind) = kind {
                write_refusal(out, kind, self.missing.why(kind))?;
            }
            if !self.next_is(kind) && kind.is_some_and(|kind| self.knowledge.unlisted.contains(kind)) {
                self.kinds.remove(0);
                return Ok(true);
            }
            let (name, api_version) =
                kind.map_or_else(|| ("Event".to_owned(), "v1".to_owned()), |kind| (kind.to_string(), kind.api_version()));
            out.extend(format!("{{\"kind\":\"{name}List\",\"apiVersion\":\"{api_version}\",\"items\":[").as_bytes());
            self.items = Some(0);
        }
        while self.next_is(kind) {
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
        self.kinds.remove(0);
        if kind.is_none()
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
            let follows = last.is_none_or(|(sequence, _)| sequence + 1 == frame.sequence);
            if !follows && frame.kind != FrameKind::Keyframe {
                // The frame comes again, without a gap before it.
                self.read = Some(read);
                let from = last.map_or(frame.time, |(_, time)| time);
                self.last = Some((frame.sequence - u64::from(frame.sequence > 0), from));
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
                FrameKind::Changes => {
                    let lines = unpack(read.payload(&frame));
                    self.read = Some(read);
                    let Ok(lines) = lines else {
                        let from = last.map_or(frame.time, |(_, time)| time);
                        return Some(Step::Gap(Gap::new(from, frame.time, GapReason::Damaged)));
                    };
                    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                    let changes: Vec<RecordedChange> = lines.filter_map(change).collect();
                    if !changes.is_empty() {
                        return Some(Step::Changes(frame.time, changes));
                    }
                }
            }
        }
    }
}

/// Returns the change of a line; `None` if it is about an event that is forgotten.
fn change(line: &[u8]) -> Option<RecordedChange> {
    match entry::read(line) {
        Some(Entry::Put(EntryKey::Object(kind, _), item)) => Some(decoded(&kind.to_string(), kind.api_version(), item)),
        Some(Entry::Put(EntryKey::Event(_), item)) => Some(decoded("Event", "v1".to_owned(), item)),
        Some(Entry::Gone(EntryKey::Object(kind, key))) => Some(RecordedChange::Gone(kind, key)),
        Some(Entry::Gone(EntryKey::Event(_))) => None,
        Some(Entry::Known(knowledge)) => Some(RecordedChange::Known(knowledge)),
        None => Some(RecordedChange::Unreadable),
    }
}

/// Decodes an item of a list of a kind, as the items of a dump are.
fn decoded(kind: &str, api_version: String, item: &[u8]) -> RecordedChange {
    let list = TypeMeta { kind: Some(format!("{kind}List")), api_version: Some(api_version), self_link: None };
    decoded_in(&list, item).unwrap_or(RecordedChange::Unreadable)
}

/// Decodes an object with its kind, as those of a dump are; `None` if scheduling does not read it.
pub(in crate::source) fn recorded_change(object: &[u8]) -> Option<RecordedChange> {
    decoded_in(&TypeMeta::default(), object)
}

fn decoded_in(list: &TypeMeta, item: &[u8]) -> Option<RecordedChange> {
    let hint = Hint::default();
    let context = Context { list, list_open: false, index: Some(0), depth: 1, hint: &hint, patterns: None };
    let mut out = Vec::with_capacity(1);
    decode_text(item, Syntax::Json, context, 0, &mut out);
    let what = out.pop().map(|decoded| decoded.what);
    let what = if let Some(DecodedItem::Mended(what, _)) = what { Some(*what) } else { what };
    match what {
        Some(DecodedItem::Object { object, .. }) => Some(RecordedChange::Put(object)),
        Some(DecodedItem::Event(seen)) => Some(RecordedChange::Event(seen.event)),
        Some(DecodedItem::Other(_) | DecodedItem::Unread(_)) => None,
        _ => Some(RecordedChange::Unreadable),
    }
}
