//! Passes one file through the splitter and the decoder, a window at a time.
//!
//! Each thread reads a window, splits it, and decodes it itself, while the text is still in its processor's cache. Only one at a time
//! reads and splits, and what they decode is handed over in the order of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::any_kind::AnyKind;
use super::classify::item_kind;
use super::patterns::Patterns;
use super::untyped::of_self_link;
use super::{Context, Decoded, DecodedItem, SeenList, decode, decode_text};
use crate::cluster::Kind;
use crate::cluster::neighbors::NeighborKind;
use crate::limits::sources::OBJECT;
use crate::source::layout::Hint;
use crate::source::read::archive::Stream;
use crate::source::read::etcd;
use crate::source::read::input::{Content, Opened, is_binary};
use crate::source::read::limits::{Budget, size};
use crate::source::read::progress::Progress;
use crate::source::read::split::{Form, ItemList, Json, Span, SpanState, Splitter, Syntax, TypeMeta, Yaml};

/// Bytes of a file in memory per decoding thread. A window is longer if a single object is.
const WINDOW: usize = 256 << 10;

/// The minimal length of a window.
const SHORTEST_WINDOW: usize = 32 << 10;

/// The length of a buffer that a thread keeps for the next window; the room for a longer object is given back.
const LONGEST_KEPT: usize = 8 * WINDOW;

/// The maximal number of decoding threads: one at a time reads and splits.
const MOST_THREADS: usize = 16;

/// Files beyond this size, in bytes, are not read a second time: a generic parse of a whole document takes many times
/// its size.
const CAREFUL_LIMIT: u64 = 64 << 20;

/// A decoded object and the place of its text.
#[derive(Debug)]
pub(in crate::source) struct Entry {
    pub(in crate::source) decoded: Decoded,
    /// The line on which the object starts, from 0.
    pub(in crate::source) line: u32,
    pub(in crate::source) offset: u64,
    pub(in crate::source) length: u32,
    /// The list that it is an item of, as an index.
    list: Option<u32>,
}

impl Entry {
    /// Makes an entry for an object that is not in a file.
    pub(in crate::source) fn of_answer(decoded: Decoded) -> Self {
        Self { decoded, line: 0, offset: 0, length: 0, list: None }
    }
}

/// Why a file could not be read to its end.
#[derive(Debug)]
pub(in crate::source) struct BrokenOff {
    /// The file has an end, but what is in it is not as it was written.
    damaged: bool,
    error: String,
}

impl BrokenOff {
    /// Returns the reason of a file that ends early.
    pub(in crate::source) fn cut(error: String) -> Self {
        Self { damaged: false, error }
    }

    /// Returns the reason of an error of reading.
    pub(in crate::source) fn of(error: &io::Error) -> Self {
        Self { damaged: etcd::is_damage(error), error: error.to_string() }
    }
}

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { damaged: true, error } => write!(f, "is damaged ({error}); what could be read was read"),
            Self { damaged: false, error } => write!(f, "is truncated ({error}); the part before that was read"),
        }
    }
}

/// The contents of one file, without the entries handed over while it was read.
#[derive(Debug, Default)]
pub(in crate::source) struct Contents {
    /// By window, so that no long vector has to grow.
    pub(in crate::source) entries: Vec<Vec<Entry>>,
    /// Other threads took part in decoding.
    pub(in crate::source) spread: bool,
    pub(in crate::source) bytes: u64,
    /// Why the file could not be read to its end; `None` if it was.
    pub(in crate::source) broken_off: Option<BrokenOff>,
    pub(in crate::source) lists: Lists,
    /// The file is not text.
    pub(in crate::source) binary: bool,
    /// The file's form, as far as the splitter has detected it.
    pub(in crate::source) form: Form,
}

/// The kinds of a file's lists, by how whole these are.
#[derive(Debug, Default)]
pub(in crate::source) struct Lists {
    /// The number of lists that the file's end leaves open.
    pub(in crate::source) unfinished: usize,
    /// The kinds of the lists that are whole, empty ones included.
    pub(in crate::source) listed: BTreeSet<Kind>,
    /// The same, of the kinds that scheduling does not read.
    pub(in crate::source) listed_neighbors: BTreeSet<NeighborKind>,
    /// The number of lists that have an end.
    pub(in crate::source) closed: usize,
    /// The kinds of the lists that the file's end leaves open, as far as they are known, in the order of the lists.
    pub(in crate::source) open: Vec<AnyKind>,
    /// The kinds of the lists that lack items though they have an end.
    pub(in crate::source) lacking: Vec<AnyKind>,
    /// A list without a kind lacks items.
    pub(in crate::source) untyped_lacks: bool,
    /// The kinds of the lists that are pages of longer ones, and the number of items after them, where that is known.
    pub(in crate::source) pages: Vec<(String, Option<u64>)>,
    /// The indexes of the lists of which an item was not read.
    damaged: BTreeSet<u32>,
}

impl Lists {
    /// Notes the entries of items that were not read.
    fn note_items(&mut self, entries: &[Entry]) {
        let lost = entries.iter().filter(|entry| entry.decoded.what.is_lost_item());
        self.damaged.extend(lost.filter_map(|entry| entry.list));
    }

    /// Adds a list that has an end.
    pub(in crate::source) fn add(&mut self, list: &SeenList) {
        self.closed += 1;
        let SeenList { types, whole, page } = list;
        let item = types.kind.as_deref().map_or(Some(""), item_kind).unwrap_or_default();
        if let Some(page) = page {
            let kind = if item.is_empty() { "List" } else { item };
            self.pages.push((kind.to_owned(), page.remaining));
        }
        let kind = kind_of_list(types);
        if *whole && page.is_none() {
            let Some(kind) = kind else { return };
            self.listed.extend(kind.model.filter(|_| kind.is_readable));
            self.listed_neighbors.extend(kind.neighbor);
        } else if let Some(kind) = kind {
            self.lacking.push(kind);
        } else {
            self.untyped_lacks |= item.is_empty() && types.self_link.is_none();
        }
    }
}

/// Returns the kind of a list's items, if objects of it are read.
fn kind_of_list(types: &TypeMeta) -> Option<AnyKind> {
    let linked = || Some(AnyKind::from(of_self_link(types.self_link.as_deref()?)?.0.parse::<Kind>().ok()?));
    match &types.kind {
        Some(kind) => Some(AnyKind::of_version(item_kind(kind)?, types.api_version.as_deref())).filter(|kind| kind.is_read()),
        None => linked(),
    }
}

impl Contents {
    fn all(&self) -> impl Iterator<Item = &DecodedItem> {
        self.entries.iter().flatten().map(|entry| &entry.decoded.what)
    }

    fn mistakes(&self) -> usize {
        self.all().filter(|what| matches!(what, DecodedItem::Error(_) | DecodedItem::Kindless { .. } | DecodedItem::NoObject(_))).count()
    }

    fn objects(&self) -> usize {
        self.all().filter(|what| matches!(what, DecodedItem::Object { .. } | DecodedItem::Mended(..))).count()
    }

    fn syntax_is_broken(&self) -> bool {
        self.all().any(|what| matches!(what, DecodedItem::Error(bad) if bad.syntax))
    }
}

/// The context that all objects of a file share.
#[derive(Clone, Copy)]
struct Kept<'a> {
    hint: &'a Hint,
    patterns: &'a Patterns,
}

impl<'a> Kept<'a> {
    fn context(self, list: &'a TypeMeta, list_open: bool, index: Option<u32>) -> Context<'a> {
        Context { list, list_open, index, depth: 0, hint: self.hint, patterns: Some(self.patterns) }
    }
}

/// Takes the entries of a window.
pub(in crate::source) type Take<'a> = dyn FnMut(Vec<Entry>) + Send + 'a;

/// Reads a file. If spans are broken, it is read a second time without assumptions about its layout.
///
/// `again` opens the file for that; a large member of an archive cannot be opened again. Entries that are final go to
/// `take` while the file is read, in order; they come before those in [`Contents`].
pub(in crate::source) fn read(
    stream: Stream<'_>,
    again: Option<&Content>,
    hint: &Hint,
    patterns: &Patterns,
    budget: &Budget,
    take: &mut Take<'_>,
) -> io::Result<Contents> {
    let keep = again.map_or(0, |_| CAREFUL_LIMIT);
    let fast = read_as(Opened::new(stream)?, Kept { hint, patterns }, false, budget.progress(), keep, take);
    let Some(again) = again.filter(|_| fast.bytes <= CAREFUL_LIMIT && fast.syntax_is_broken()) else { return Ok(fast) };
    let careful = read_as(Opened::new(again.stream(budget)?)?, Kept { hint, patterns }, true, budget.progress(), u64::MAX, take);
    let better = (careful.objects() >= fast.objects() && careful.mistakes() < fast.mistakes()) || careful.objects() > fast.objects();
    Ok(if better { careful } else { fast })
}

/// A part of the file, split into spans.
#[derive(Default)]
struct Window {
    text: Text,
    /// The length of the text that the spans cover; the rest belongs to the next window.
    done: usize,
    spans: Vec<Span>,
    /// The lists that the spans belong to; `first_list` is the index of the first of them in the file.
    lists: Vec<ItemList>,
    first_list: usize,
    /// The number of windows before it.
    number: usize,
    /// The offset in the file at which the text starts.
    offset: u64,
    last: bool,
}

/// Text in a buffer that is used again.
#[derive(Default)]
struct Text {
    buffer: Vec<u8>,
    len: usize,
}

impl Text {
    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.len]
    }

    /// Makes the buffer at least this long.
    fn reserve(&mut self, len: usize) -> io::Result<()> {
        if let Some(more) = len.checked_sub(self.buffer.len()) {
            self.buffer.try_reserve_exact(more)?;
            self.buffer.resize(len, 0);
        }
        Ok(())
    }

    /// Replaces the text.
    fn set(&mut self, text: &[u8]) -> io::Result<()> {
        self.len = 0;
        self.reserve(text.len())?;
        self.buffer[..text.len()].copy_from_slice(text);
        self.len = text.len();
        Ok(())
    }

    /// Appends what a stream gives for the room that is left, up to a length of `target`; returns how much, 0 at the stream's end.
    fn read(&mut self, reader: &mut dyn Read, target: usize) -> io::Result<usize> {
        let room = self.len..self.buffer.len().min(target);
        loop {
            match reader.read(&mut self.buffer[room.clone()]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.inspect(|count| self.len += count),
            }
        }
    }
}

/// Fills windows one after another.
struct Source<'a> {
    reader: Box<dyn Read + Send + 'a>,
    window: usize,
    /// The number of bytes to come, if known, which limits the memory reserved at first.
    left: Option<usize>,
    splitter: Box<dyn Splitter + Send>,
    broken_off: Option<BrokenOff>,
    /// Text that was read and belongs to the next window, which starts at `offset`.
    tail: Vec<u8>,
    offset: u64,
    /// The number of windows filled.
    filled: usize,
    /// No window follows.
    ended: bool,
    /// The maximal length of an object.
    longest: u64,
}

fn splitter_of(syntax: Syntax, careful: bool) -> Box<dyn Splitter + Send> {
    match (syntax, careful) {
        (Syntax::Json, false) => Box::new(Json::default()),
        (Syntax::Json, true) => Box::new(Json::careful()),
        (Syntax::Yaml, false) => Box::new(Yaml::default()),
        (Syntax::Yaml, true) => Box::new(Yaml::careful()),
    }
}

/// Reads a file, handing entries over once more than `keep` bytes of it are read.
fn read_as(opened: Opened<'_>, kept: Kept<'_>, careful: bool, progress: &Progress, keep: u64, take: &mut Take<'_>) -> Contents {
    let threads = rayon::current_num_threads().min(MOST_THREADS);
    // A short file has some windows for each thread too.
    let part = opened.size.map_or(WINDOW, |size| size as usize / threads / 2);
    let mut source = Source::new(opened.reader, opened.size, part.clamp(SHORTEST_WINDOW, WINDOW));
    let mut start = Text::default();
    source.fill(&mut start, source.window.min(64 << 10));
    let start = start.bytes();
    if is_binary(start) {
        return Contents { binary: true, bytes: start.len() as u64, ..Contents::default() };
    }
    let kwok = memchr::memmem::find(start, b"kwok.x-k8s.io").is_some();
    source.splitter = splitter_of(syntax_of(start), careful);
    source.tail = start.to_vec();

    let mut first = Window::default();
    source.next(&mut first);
    let spread = threads > 1 && !first.last;
    let contents = Contents { spread, ..Contents::default() };
    let delivery = Mutex::new(Delivery { contents, next: 0, early: BTreeMap::new(), line: 0, pending: false, keep, progress, take });
    let source = Mutex::new(source);
    if spread {
        rayon::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| decode_windows(None, &source, &delivery, kept));
            }
            decode_windows(Some(first), &source, &delivery, kept);
        });
    } else {
        decode_windows(Some(first), &source, &delivery, kept);
    }
    let Delivery { mut contents, .. } = delivery.into_inner().unwrap_or_else(PoisonError::into_inner);
    if contents.broken_off.is_some() {
        return contents;
    }
    let source = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    contents.broken_off = source.broken_off;
    settle(&mut contents, source.splitter.lists(), kept);
    contents.form = Form { kwok, ..source.splitter.form() };
    contents
}

/// Reads, decodes and delivers windows, beginning with `first`, until none follows.
fn decode_windows(first: Option<Window>, source: &Mutex<Source<'_>>, delivery: &Mutex<Delivery<'_, '_>>, kept: Kept<'_>) {
    let mut has_text = first.is_some();
    let mut window = first.unwrap_or_default();
    while has_text || lock(source).next(&mut window) {
        has_text = false;
        let decoded = decode_window(&window, kept);
        if window.text.buffer.len() > LONGEST_KEPT {
            window.text = Text::default();
        }
        if !lock(delivery).put(window.number, decoded) {
            lock(source).ended = true;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entries of a window, whose lines count from its start.
struct DecodedWindow {
    entries: Vec<Entry>,
    lines: u32,
    bytes: usize,
}

/// Puts decoded windows into the order of the file.
struct Delivery<'a, 't> {
    contents: Contents,
    /// The number of the window that comes next, and those that came before their turn.
    next: usize,
    early: BTreeMap<usize, DecodedWindow>,
    /// The line on which the next window starts.
    line: u32,
    /// There are items that wait for the kind of their list, which hold back all entries after them.
    pending: bool,
    keep: u64,
    progress: &'a Progress,
    take: &'a mut Take<'t>,
}

impl Delivery<'_, '_> {
    /// Takes a window. Returns false if the load was cancelled.
    fn put(&mut self, number: usize, window: DecodedWindow) -> bool {
        self.early.insert(number, window);
        while let Some(window) = self.early.remove(&self.next) {
            if self.contents.broken_off.is_some() {
                return false;
            }
            self.next += 1;
            self.add(window);
        }
        self.contents.broken_off.is_none()
    }

    fn add(&mut self, window: DecodedWindow) {
        let DecodedWindow { mut entries, lines, bytes } = window;
        for entry in &mut entries {
            entry.line += self.line;
        }
        self.line += lines;
        self.progress.add(bytes as u64, entries.len());
        self.pending |= entries.iter().any(|entry| matches!(entry.decoded.what, DecodedItem::Pending(..)));
        self.contents.bytes += bytes as u64;
        self.contents.lists.note_items(&entries);
        self.contents.entries.push(entries);
        if self.contents.bytes > self.keep && !self.pending {
            self.contents.entries.drain(..).for_each(&mut *self.take);
        }
        if self.progress.is_cancelled() {
            self.contents.broken_off = Some(BrokenOff::cut("the load was stopped".to_owned()));
        }
    }
}

impl<'a> Source<'a> {
    fn new(reader: Box<dyn Read + Send + 'a>, size: Option<u64>, window: usize) -> Self {
        Self {
            reader,
            window,
            left: size.map(|size| size as usize),
            splitter: splitter_of(Syntax::Json, false),
            broken_off: None,
            tail: Vec::new(),
            offset: 0,
            filled: 0,
            ended: false,
            longest: OBJECT,
        }
    }

    /// Reads until `text` holds `target` bytes or the file ends; returns true at the end.
    fn fill(&mut self, text: &mut Text, target: usize) -> bool {
        while text.len < target {
            match self.read(text, target) {
                Ok(0) => return true,
                Ok(count) => self.left = self.left.map(|left| left.saturating_sub(count)),
                Err(error) => {
                    self.broken_off = Some(BrokenOff::of(&error));
                    return true;
                }
            }
        }
        false
    }

    fn read(&mut self, text: &mut Text, target: usize) -> io::Result<usize> {
        if text.len == text.buffer.len() {
            // One more than the known length, since only an empty read shows the end. A file that is longer doubles the room.
            let most = self.left.map_or(target, |left| text.len + left.max(text.len) + 1);
            text.reserve(target.min(most))?;
        }
        text.read(&mut *self.reader, target)
    }

    /// Reads the next part of the file into `window`; returns false if there is none.
    fn next(&mut self, window: &mut Window) -> bool {
        if self.ended {
            return false;
        }
        self.read_into(window);
        if window.last
            && self.broken_off.is_some()
            && let Some(span) = window.spans.last_mut()
            && span.syntax == Syntax::Yaml
        {
            // YAML does not distinguish half an object from a whole one.
            span.state = SpanState::Cut;
        }
        window.first_list = window.spans.iter().filter_map(|p| p.item).map(|(list, _)| list).min().unwrap_or(0);
        window.lists = self.splitter.lists()[window.first_list..].to_vec();
        (window.number, window.offset) = (self.filled, self.offset);
        self.filled += 1;
        self.offset += window.done as u64;
        self.tail.extend_from_slice(&window.text.bytes()[window.done..]);
        self.ended = window.last;
        true
    }

    /// Reads as many bytes as are needed for at least one span, and splits them.
    fn read_into(&mut self, window: &mut Window) {
        let mut target = self.window.max(self.tail.len() * 2);
        window.last = match window.text.set(&self.tail) {
            Ok(()) => self.fill(&mut window.text, target),
            Err(error) => {
                self.broken_off = Some(BrokenOff::of(&error));
                true
            }
        };
        self.tail.clear();
        loop {
            window.spans.clear();
            window.done = self.splitter.split(window.text.bytes_mut(), window.last, &mut window.spans);
            if window.last || window.done > 0 {
                return;
            }
            if window.text.len as u64 > self.longest {
                // Whatever it is, it must not use all memory.
                self.broken_off = Some(BrokenOff::cut(format!("an object is longer than {}", size(self.longest))));
                window.last = true;
                window.done = self.splitter.split(window.text.bytes_mut(), true, &mut window.spans);
                return;
            }
            target = window.text.len * 2;
            window.last = self.fill(&mut window.text, target);
        }
    }
}

fn count_lines(text: &[u8]) -> u32 {
    memchr::memchr_iter(b'\n', text).count() as u32
}

/// Decodes the spans of a window.
fn decode_window(window: &Window, kept: Kept<'_>) -> DecodedWindow {
    let text = window.text.bytes();
    let unknown = ItemList::default();
    let mut entries = Vec::with_capacity(window.spans.len());
    let mut decoded = Vec::with_capacity(1);
    let (mut line, mut counted) = (0, 0);
    for span in &window.spans {
        line += count_lines(&text[counted..span.start]);
        counted = span.start;
        let list = span.item.map_or(&unknown, |(list, _)| &window.lists[list - window.first_list]);
        let index = span.item.map(|(_, index)| index);
        let context = kept.context(&list.types, span.item.is_some() && !list.closed, index);
        decode(text, span, context, &mut decoded);
        entries.extend(decoded.drain(..).map(|decoded| Entry {
            line: line + decoded.line,
            offset: window.offset + span.start as u64,
            length: (span.end - span.start) as u32,
            list: span.item.map(|(list, _)| list as u32),
            decoded,
        }));
    }
    line += count_lines(&text[counted..window.done]);
    DecodedWindow { entries, lines: line, bytes: window.done }
}

/// Decodes the items that had to wait for the kind of their list, and notes what the lists say.
fn settle(contents: &mut Contents, lists: &[ItemList], kept: Kept<'_>) {
    settle_items(contents, lists, kept);
    let kept_back = std::mem::take(&mut contents.entries);
    for entries in &kept_back {
        contents.lists.note_items(entries);
    }
    contents.entries = kept_back;
    for (at, list) in lists.iter().enumerate() {
        if list.closed {
            let whole = !list.broken && !contents.lists.damaged.contains(&(at as u32));
            contents.lists.add(&SeenList { types: list.types.clone(), whole, page: list.page });
        } else {
            contents.lists.unfinished += 1;
            contents.lists.open.extend(kind_of_list(&list.types));
        }
    }
}

fn settle_items(contents: &mut Contents, lists: &[ItemList], kept: Kept<'_>) {
    if !contents.all().any(|what| matches!(what, DecodedItem::Pending(..))) {
        return;
    }
    let unknown = TypeMeta::default();
    let settle_one = |entry: Entry| {
        let DecodedItem::Pending(syntax, text) = &entry.decoded.what else { return vec![entry] };
        let list = entry.list.map_or(&unknown, |list| &lists[list as usize].types);
        let mut out = Vec::with_capacity(1);
        decode_text(text, *syntax, kept.context(list, false, entry.decoded.index), 0, &mut out);
        let Entry { line, offset, length, list, .. } = entry;
        let place = |decoded: Decoded| Entry { line: line + decoded.line, decoded, offset, length, list };
        out.into_iter().map(place).collect()
    };
    let entries = std::mem::take(&mut contents.entries);
    contents.spread = true;
    contents.entries = entries.into_par_iter().map(|window| window.into_iter().flat_map(settle_one).collect()).collect();
}

/// Returns the syntax of a text by its first characters.
fn syntax_of(start: &[u8]) -> Syntax {
    let text = start.trim_ascii_start();
    let then = text.get(1..).and_then(|rest| rest.trim_ascii_start().first());
    match (text.first(), then) {
        (Some(0x1e), _) | (Some(b'{'), Some(b'"' | b'}') | None) | (Some(b'['), Some(b'{' | b']') | None) => Syntax::Json,
        _ => Syntax::Yaml,
    }
}

#[cfg(test)]
mod tests;
