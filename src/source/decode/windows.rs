//! Passes one file through the splitter and the decoder, a window at a time.

use std::fmt;
use std::io::{self, Read};

use rayon::prelude::*;

use super::patterns::Patterns;
use super::untyped::of_self_link;
use super::{Context, Decoded, DecodedItem, decode, decode_text};
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

/// Bytes of a file in memory per decoding thread; two windows exist at a time. A window is longer if a single object is.
const WINDOW_PER_THREAD: usize = 512 << 10;

/// The maximal length of a window in bytes, however many threads there are.
const MAX_WINDOW: usize = 4 << 20;

/// Up to this many spans are decoded on the current thread, since handing them out costs more.
const FEW: usize = 8;

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
    /// The number of lists that the file's end leaves open.
    pub(in crate::source) unfinished_lists: usize,
    /// The kinds of the lists in the file, empty ones included.
    pub(in crate::source) listed: std::collections::BTreeSet<Kind>,
    /// The same, of the kinds that scheduling does not read.
    pub(in crate::source) listed_neighbors: std::collections::BTreeSet<NeighborKind>,
    /// The number of lists that are whole.
    pub(in crate::source) closed_lists: usize,
    /// The kinds of the lists that the file's end leaves open, as far as they are known.
    pub(in crate::source) open_lists: std::collections::BTreeSet<Kind>,
    /// The file is not text.
    pub(in crate::source) binary: bool,
    /// The file's form, as far as the splitter has detected it.
    pub(in crate::source) form: Form,
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
    let opened = Opened::new(stream)?;
    // On one of the threads that decode: to wait for them from another costs a switch for each window.
    let fast = rayon::scope(|_| read_as(opened, Kept { hint, patterns }, false, budget.progress(), keep, take));
    let Some(again) = again.filter(|_| fast.bytes <= CAREFUL_LIMIT && fast.syntax_is_broken()) else { return Ok(fast) };
    let careful = read_as(Opened::new(again.stream(budget)?)?, Kept { hint, patterns }, true, budget.progress(), u64::MAX, take);
    let better = (careful.objects() >= fast.objects() && careful.mistakes() < fast.mistakes()) || careful.objects() > fast.objects();
    Ok(if better { careful } else { fast })
}

/// A part of the file, split into spans.
#[derive(Default)]
struct Window {
    text: Vec<u8>,
    /// The length of the text that the spans cover; the rest belongs to the next window.
    done: usize,
    spans: Vec<Span>,
    /// The lists that the spans belong to; `first_list` is the index of the first of them in the file.
    lists: Vec<ItemList>,
    first_list: usize,
    /// The line and offset in the file at which the text starts.
    line: u32,
    offset: u64,
    last: bool,
}

/// Fills windows one after another.
struct Source<'a> {
    reader: Box<dyn Read + Send + 'a>,
    window: usize,
    /// The number of bytes to come, if known, which limits the memory reserved at first.
    left: Option<usize>,
    splitter: Box<dyn Splitter + Send>,
    broken_off: Option<BrokenOff>,
    first: Option<Vec<u8>>,
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
    let window = (rayon::current_num_threads() * WINDOW_PER_THREAD).min(MAX_WINDOW);
    let mut contents = Contents::default();
    let left = opened.size.map(|size| size as usize);
    let splitter = splitter_of(Syntax::Json, false);
    let mut source = Source { reader: opened.reader, window, left, splitter, broken_off: None, first: None, longest: OBJECT };
    let mut start = Vec::new();
    source.fill(&mut start, window.min(64 << 10));
    if is_binary(&start) {
        contents.binary = true;
        contents.bytes = start.len() as u64;
        return contents;
    }
    let kwok = memchr::memmem::find(&start, b"kwok.x-k8s.io").is_some();
    source.splitter = splitter_of(syntax_of(&start), careful);
    source.first = Some(start);

    let mut window = Window::default();
    source.next(&mut window, &[], 0);
    let mut spare = Window::default();
    let mut pending = false;
    loop {
        let offset = window.offset + window.done as u64;
        let (entries, line) = if window.last {
            decode_window(&window, kept, &mut contents.spread)
        } else {
            // The next window is read while this one is decoded.
            let tail = window.text[window.done..].to_vec();
            contents.spread = true;
            let (decoded, ()) = rayon::join(|| decode_window(&window, kept, &mut true), || source.next(&mut spare, &tail, offset));
            decoded
        };
        spare.line = line;
        progress.add(window.done as u64, entries.len());
        contents.entries.push(entries);
        // Items that wait for the kind of their list hold back all entries after them.
        pending |= contents.entries.last().is_some_and(|e| e.iter().any(|e| matches!(e.decoded.what, DecodedItem::Pending(..))));
        if offset > keep && !pending {
            contents.entries.drain(..).for_each(&mut *take);
        }
        if progress.is_cancelled() {
            contents.bytes = offset;
            contents.broken_off = Some(BrokenOff::cut("the load was stopped".to_owned()));
            return contents;
        }
        if window.last {
            contents.bytes = offset;
            break;
        }
        std::mem::swap(&mut window, &mut spare);
    }
    contents.broken_off = source.broken_off.take();
    settle(&mut contents, source.splitter.lists(), kept);
    contents.form = Form { kwok, ..source.splitter.form() };
    contents
}

impl Source<'_> {
    /// Reads until `text` holds `target` bytes or the file ends; returns true at the end.
    fn fill(&mut self, text: &mut Vec<u8>, target: usize) -> bool {
        if text.len() >= target {
            return false;
        }
        let wanted = target - text.len();
        // One more than the known length, since only an empty read shows the end.
        if let Err(error) = text.try_reserve_exact(self.left.map_or(wanted, |left| wanted.min(left + 1))) {
            self.broken_off = Some(BrokenOff::cut(error.to_string()));
            return true;
        }
        match self.reader.by_ref().take(wanted as u64).read_to_end(text) {
            Ok(count) => {
                self.left = self.left.map(|left| left.saturating_sub(count));
                count < wanted
            }
            Err(error) => {
                self.broken_off = Some(BrokenOff::of(&error));
                true
            }
        }
    }

    /// Reads the next part of the file into `window`, after the `tail` of the one before.
    fn next(&mut self, window: &mut Window, tail: &[u8], offset: u64) {
        window.text.clear();
        window.text.extend(self.first.take().unwrap_or_default());
        window.text.extend_from_slice(tail);
        window.offset = offset;
        let mut target = self.window.max(tail.len() * 2);
        loop {
            window.last = self.fill(&mut window.text, target);
            window.spans.clear();
            window.done = self.splitter.split(&mut window.text, window.last, &mut window.spans);
            if window.last || window.done > 0 {
                break;
            }
            if window.text.len() as u64 > self.longest {
                // Whatever it is, it must not use all memory.
                self.broken_off = Some(BrokenOff::cut(format!("an object is longer than {}", size(self.longest))));
                window.last = true;
                window.done = self.splitter.split(&mut window.text, true, &mut window.spans);
                break;
            }
            target = window.text.len() * 2;
        }
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
    }
}

fn count_lines(text: &[u8]) -> u32 {
    memchr::memchr_iter(b'\n', text).count() as u32
}

/// Decodes the spans of a window, and returns the line on which it ends; `spread` becomes true if other threads take part.
fn decode_window(window: &Window, kept: Kept<'_>, spread: &mut bool) -> (Vec<Entry>, u32) {
    let mut lines = Vec::with_capacity(window.spans.len());
    let (mut line, mut counted) = (window.line, 0);
    for span in &window.spans {
        line += count_lines(&window.text[counted..span.start]);
        counted = span.start;
        lines.push(line);
    }
    line += count_lines(&window.text[counted..window.done]);
    let unknown = ItemList::default();
    let decode_one = |(span, line): (&Span, &u32)| {
        let list = span.item.map_or(&unknown, |(list, _)| &window.lists[list - window.first_list]);
        let index = span.item.map(|(_, index)| index);
        let context = kept.context(&list.types, span.item.is_some() && !list.closed, index);
        let mut out = Vec::with_capacity(1);
        decode(&window.text, span, context, &mut out);
        out.into_iter()
            .map(|decoded| Entry {
                line: line + decoded.line,
                offset: window.offset + span.start as u64,
                length: (span.end - span.start) as u32,
                list: span.item.map(|(list, _)| list as u32),
                decoded,
            })
            .collect::<Vec<_>>()
    };
    if window.spans.len() <= FEW {
        return (window.spans.iter().zip(&lines).flat_map(decode_one).collect(), line);
    }
    *spread = true;
    let spans = window.spans.par_iter().with_min_len(FEW).zip(&lines);
    (spans.flat_map_iter(decode_one).collect(), line)
}

/// Decodes the items that had to wait for the kind of their list.
fn settle(contents: &mut Contents, lists: &[ItemList], kept: Kept<'_>) {
    let kind_of = |types: &TypeMeta| match (&types.kind, &types.self_link) {
        (Some(kind), _) => kind.strip_suffix("List")?.parse().ok(),
        (None, link) => of_self_link(link.as_deref()?)?.0.parse().ok(),
    };
    contents.listed = lists.iter().filter(|l| l.closed).filter_map(|l| kind_of(&l.types)).collect();
    let neighbor_of = |types: &TypeMeta| {
        let group = types.api_version.as_deref().map(|version| version.split_once('/').map_or("", |(group, _)| group));
        NeighborKind::of(types.kind.as_deref()?.strip_suffix("List")?, group)
    };
    contents.listed_neighbors = lists.iter().filter(|l| l.closed).filter_map(|l| neighbor_of(&l.types)).collect();
    contents.open_lists = lists.iter().filter(|l| !l.closed).filter_map(|l| kind_of(&l.types)).collect();
    contents.closed_lists = lists.iter().filter(|l| l.closed).count();
    contents.unfinished_lists = lists.iter().filter(|l| !l.closed).count();
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
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::read::archive::Sort;
    use crate::source::read::limits::Limits;

    /// Returns the names of the objects handed over while the text is read, and of those at the end.
    fn read_names(text: &str, again: bool) -> (Vec<String>, Vec<String>) {
        let budget = Budget::new(&Limits::default(), Arc::default());
        let content = Content::Memory(Arc::new(text.as_bytes().to_vec().into()));
        let stream = Stream { reader: Box::new(text.as_bytes()), size: Some(text.len() as u64), sort: Sort::Plain, compressed: false };
        let name = |entry: Entry| match entry.decoded.what {
            DecodedItem::Object { object, .. } => object.meta().name.to_string(),
            other => format!("{other:?}"),
        };
        let mut taken = Vec::new();
        let contents = read(stream, again.then_some(&content), &Hint::default(), &Patterns::default(), &budget, &mut |entries| {
            taken.extend(entries.into_iter().map(name));
        });
        (taken, contents.unwrap().entries.into_iter().flatten().map(name).collect())
    }

    #[test]
    fn an_object_without_end_ends_its_file() {
        let text = format!(r#"{{"kind":"Pod","metadata":{{"name":"a","annotations":{{"x":"{}"#, "y".repeat(10_000));
        let (reader, splitter) = (Box::new(text.as_bytes()), Box::new(Json::default()));
        let mut source = Source { reader, window: 256, left: None, splitter, broken_off: None, first: None, longest: 4096 };
        let mut window = Window::default();
        source.next(&mut window, &[], 0);
        let message = source.broken_off.map(|why| why.to_string());
        assert_eq!(message.as_deref(), Some("is truncated (an object is longer than 4 KiB); the part before that was read"));
        assert!(window.last);
        assert!(window.text.len() < 10_000);
    }

    #[test]
    fn what_cannot_change_any_more_is_handed_over_in_order() {
        const ITEMS: usize = 5000;
        let names: Vec<String> = (0..ITEMS).map(|i| format!("n{i:05}")).collect();
        let list = |kind: &str, end: &str| {
            let padding = "x".repeat(MAX_WINDOW * 3 / ITEMS);
            let items = names.iter().map(|n| format!(r#"{{{kind}"metadata":{{"name":"{n}"}},"padding":"{padding}"}}"#));
            format!(r#"{{"apiVersion":"v1","items":[{}]{end}}}"#, items.collect::<Vec<_>>().join(",\n"))
        };
        let own = r#""apiVersion":"v1","kind":"Node","#;
        // Read as a stream, the objects come a window at a time.
        let (taken, rest) = read_names(&list(own, ""), false);
        assert_eq!((taken.len(), rest.len()), (ITEMS, 0));
        assert_eq!(taken, names);
        // A file that may be read a second time keeps its entries until that is decided.
        let (taken, rest) = read_names(&list(own, ""), true);
        assert_eq!((taken.len(), rest), (0, names.clone()));
        // Items wait if only the end of their list shows their kind.
        let (taken, rest) = read_names(&list("", r#","kind":"NodeList""#), false);
        assert_eq!((taken.len(), rest), (0, names.clone()));
    }
}
