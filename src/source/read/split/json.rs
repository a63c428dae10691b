//! Splits JSON: single objects, lists, arrays, and any of these one after another.
//!
//! It parses only brackets and strings. In text indented like kubectl's it skips even these: a JSON string cannot
//! contain a line break, so an item ends at the next line that closes a bracket at the indentation of its opening line.
//! That is a guess about layout, which is right for every well-indented file. If spans do not decode, the loader reads
//! the file again with [`Json::careful`].

use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memchr2};

use super::export::{exported_list, list_of};
use super::{Form, ItemList, LOG_START, Page, Span, SpanState, Splitter, Syntax, TypeMeta, is_chatter, log_end, may_be_list, skip_log};

/// See the [module](self).
#[derive(Debug, Default)]
pub(in crate::source) struct Json {
    state: State,
    lists: Vec<ItemList>,
    careful: bool,
    form: Form,
    /// The line that ends the log being skipped.
    log: Option<Vec<u8>>,
    /// The closing line of items at the current indentation.
    closing: Option<Finder<'static>>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Between top-level values.
    #[default]
    Top,
    /// Inside an array of objects: that of a list, or a top-level one (`bare`), which has neither head nor tail.
    Items { list: usize, index: u32, bare: bool },
    /// After the items of a list.
    Tail { list: usize },
}

/// The result of reading the head of an object.
enum Head {
    /// A list, whose items start here.
    Items { start: usize, types: TypeMeta, page: Option<Page> },
    /// An object of several lists, of which the first starts here.
    Export { start: usize, types: TypeMeta },
    /// Any other object, which ends here.
    Object { end: usize },
    /// The window ends too early to decide.
    More,
}

impl Json {
    /// Returns a splitter that relies on brackets only.
    pub(in crate::source) fn careful() -> Self {
        Self { careful: true, ..Self::default() }
    }

    /// Returns the end of the object that opens at `start`.
    fn object_end(&mut self, window: &[u8], start: usize) -> Option<usize> {
        if self.careful {
            return skip_value(window, start);
        }
        if let Some(indentation) = indentation(window, start) {
            let finder = match self.closing.take().filter(|finder| closes_at(finder.needle(), indentation)) {
                Some(known) => known,
                None => Finder::new(&[b"\n", indentation, b"}"].concat()).into_owned(),
            };
            let end = finder.find(&window[start..]).map(|at| start + at + finder.needle().len());
            self.closing = Some(finder);
            return end;
        }
        item_line(window, start).or_else(|| skip_value(window, start))
    }

    /// Returns the end of the line of the object at `start`, if in JSON lines its brackets balance only far behind it,
    /// at `end`: a broken line must not take the following ones with it.
    fn object_line(&self, window: &[u8], start: usize, end: usize, last: bool) -> Option<usize> {
        let line = memchr(b'\n', &window[start..end]).map(|i| start + i)?;
        let closes = window[start..line].trim_ascii_end().ends_with(b"}");
        let next = window.get(line + 1).map_or(last, |b| *b == b'{');
        (!self.careful && closes && next).then_some(line)
    }

    fn top(&mut self, window: &[u8], at: usize, last: bool, spans: &mut Vec<Span>) -> Option<usize> {
        match window[at] {
            b'{' => match list_head(window, at) {
                Head::Items { start, types, page } => {
                    self.lists.push(ItemList { types, page, ..ItemList::default() });
                    self.state = State::Items { list: self.lists.len() - 1, index: 0, bare: false };
                    Some(start)
                }
                Head::Export { start, types } => {
                    self.form.export = true;
                    Some(self.open_export(types, start))
                }
                Head::Object { end } => {
                    let end = self.object_line(window, at, end, last).unwrap_or(end);
                    spans.push(span(at, end, None, SpanState::Whole));
                    Some(end)
                }
                Head::More => match self.object_line(window, at, window.len(), last) {
                    Some(end) => {
                        spans.push(span(at, end, None, SpanState::Whole));
                        Some(end)
                    }
                    None => cut(window, at, None, last, spans),
                },
            },
            b'[' => {
                self.lists.push(ItemList::default());
                self.state = State::Items { list: self.lists.len() - 1, index: 0, bare: true };
                Some(at + 1)
            }
            b'=' if window[at..].starts_with(LOG_START) => {
                self.log = Some(log_end(&window[at..], last)?);
                self.form.logs = true;
                Some(memchr(b'\n', &window[at..]).map_or(window.len(), |end| at + end))
            }
            b'C' | b'W' if is_chatter(&window[at..]) => match memchr(b'\n', &window[at..]) {
                Some(end) => Some(at + end),
                None => last.then_some(window.len()),
            },
            _ => {
                // The next line that opens an object or a list may be valid again.
                let next =
                    memchr::memchr_iter(b'\n', &window[at..]).map(|i| at + i + 1).find(|i| matches!(window.get(*i), Some(b'{' | b'[')));
                if next.is_none() && !last {
                    return None;
                }
                let end = next.unwrap_or(window.len());
                spans.push(span(at, end, None, SpanState::Stray("expected a JSON object here")));
                Some(end)
            }
        }
    }

    /// Continues with the items of a list under a key of its own.
    fn open_export(&mut self, types: TypeMeta, start: usize) -> usize {
        self.lists.push(ItemList { types, export: true, ..ItemList::default() });
        self.state = State::Items { list: self.lists.len() - 1, index: 0, bare: false };
        start
    }

    /// In an object of several lists, takes the list or configuration at `at`, if there is one.
    fn exported(&mut self, window: &[u8], at: usize, list: usize, spans: &mut Vec<Span>) -> Option<usize> {
        let (name, value) = key(window, at).ok()?;
        let name = &window[name.0..name.1];
        if window[value] == b'['
            && let Some(types) = exported_list(name)
        {
            self.lists[list].closed = true;
            return Some(self.open_export(types, value + 1));
        }
        if name == b"schedulerConfig" {
            let end = skip_value(window, value)?;
            self.lists.push(ItemList {
                types: list_of("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io/v1"),
                closed: true,
                ..ItemList::default()
            });
            spans.push(span(value, end, Some((self.lists.len() - 1, 0)), SpanState::Whole));
            return Some(end);
        }
        None
    }

    fn items(&mut self, window: &[u8], at: usize, last: bool, spans: &mut Vec<Span>) -> Option<usize> {
        let State::Items { list, index, bare } = self.state else { return None };
        let item = Some((list, index));
        match window[at] {
            b']' => {
                self.lists[list].closed = bare;
                self.state = if bare { State::Top } else { State::Tail { list } };
                return Some(at + 1);
            }
            b'}' => {
                self.lists[list].broken = true;
                spans.push(span(at, at + 1, item, SpanState::Stray("a bracket closes that was never opened")));
                return Some(at + 1);
            }
            _ => {}
        }
        let end = if window[at] == b'{' { self.object_end(window, at) } else { skip_value(window, at) };
        match end {
            Some(end) => {
                spans.push(span(at, end, item, SpanState::Whole));
                self.state = State::Items { list, index: index + 1, bare };
                Some(end)
            }
            None => cut(window, at, item, last, spans),
        }
    }

    fn tail(&mut self, window: &[u8], at: usize, last: bool, spans: &mut Vec<Span>) -> Option<usize> {
        let State::Tail { list } = self.state else { return None };
        if window[at] == b'}' {
            self.lists[list].closed = true;
            self.state = State::Top;
            return Some(at + 1);
        }
        if self.lists[list].export
            && let Some(next) = self.exported(window, at, list, spans)
        {
            return Some(next);
        }
        match member(window, at) {
            Member::Found { key, value, end } => {
                let name = &window[key.0..key.1];
                note_type(&mut self.lists[list].types, name, &window[value..end]);
                if name == b"metadata" {
                    self.lists[list].page = page_of(&window[value..end]);
                }
                if is_items(name) {
                    self.lists[list].broken = true;
                    spans.push(span(at, end, None, SpanState::Stray("a second `items` in one list")));
                }
                Some(end)
            }
            Member::More if !last => None,
            Member::More => cut(window, at, None, last, spans),
            Member::DecodeError => {
                spans.push(span(at, at + 1, None, SpanState::Stray("expected a key or the end of the list")));
                (self.lists[list].closed, self.lists[list].broken) = (true, true);
                self.state = State::Top;
                Some(memchr(b'\n', &window[at..]).map_or(window.len(), |i| at + i))
            }
        }
    }
}

impl Splitter for Json {
    fn split(&mut self, window: &mut [u8], last: bool, spans: &mut Vec<Span>) -> usize {
        let mut at = 0;
        // Returns the offset up to which the window is done. The rest starts with the line break before the next item,
        // if there is one, so that the item's indentation stays visible.
        let rest = |done: usize, at: usize| memchr::memrchr(b'\n', &window[done..at]).map_or(at, |i| done + i);
        loop {
            let done = at;
            if let Some(end) = &self.log {
                let (skipped, ended) = skip_log(&window[at..], end, last);
                at += skipped;
                if !ended {
                    return at;
                }
                self.log = None;
            }
            // Commas between values are ignored; RS starts each record of a JSON text sequence.
            while window.get(at).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x1e)) {
                at += 1;
            }
            if at >= window.len() {
                return if last { at } else { rest(done, at) };
            }
            let next = match self.state {
                State::Top => self.top(window, at, last, spans),
                State::Items { .. } => self.items(window, at, last, spans),
                State::Tail { .. } => self.tail(window, at, last, spans),
            };
            match next {
                Some(next) => at = next,
                None => return rest(done, at),
            }
        }
    }

    fn lists(&self) -> &[ItemList] {
        &self.lists
    }

    fn form(&self) -> Form {
        self.form
    }
}

fn span(start: usize, end: usize, item: Option<(usize, u32)>, state: SpanState) -> Span {
    Span { start, end, syntax: Syntax::Json, item, state }
}

/// Handles a value whose end is not in the window: asks for more text, or reports a cut value at the end of the file.
fn cut(window: &[u8], at: usize, item: Option<(usize, u32)>, last: bool, spans: &mut Vec<Span>) -> Option<usize> {
    last.then(|| {
        spans.push(span(at, window.len(), item, SpanState::Cut));
        window.len()
    })
}

/// The maximal distance, in bytes, of the line break that is searched before an object.
const DEEPEST_INDENTATION: usize = 256;

/// Returns the indentation of the line on which the object at `start` opens, in indented text. Where the same indentation precedes a
/// bracket again, the object is closed.
fn indentation(window: &[u8], start: usize) -> Option<&[u8]> {
    let before = &window[start.saturating_sub(DEEPEST_INDENTATION)..start];
    let indentation = &before[memchr::memrchr(b'\n', before)? + 1..];
    if !indentation.iter().all(|b| matches!(b, b' ' | b'\t')) {
        return None;
    }
    let inner = window.get(start + 1..)?;
    let inner = inner.strip_prefix(b"\r").unwrap_or(inner).strip_prefix(b"\n")?.strip_prefix(indentation)?;
    if !matches!(inner.first(), Some(b' ' | b'\t')) {
        return None;
    }
    Some(indentation)
}

/// Returns whether a line break and a closing bracket are around this indentation.
fn closes_at(closing: &[u8], indentation: &[u8]) -> bool {
    closing.strip_prefix(b"\n").and_then(|rest| rest.strip_suffix(b"}")) == Some(indentation)
}

/// Returns the end of the object that opens a line at `start`, if it is the whole line but for a comma, and the next line opens another
/// object or closes the list. Within an object, that could be only where an array is open.
fn item_line(window: &[u8], start: usize) -> Option<usize> {
    if start.checked_sub(1).is_none_or(|before| window[before] != b'\n') {
        return None;
    }
    let end = start + memchr(b'\n', &window[start..])?;
    let line = window[start..end].trim_ascii_end();
    let object = line.strip_suffix(b",").unwrap_or(line);
    let count = |bracket| memchr::memchr_iter(bracket, object).count();
    let is_item = object.ends_with(b"}") && matches!(window.get(end + 1)?, b'{' | b']') && count(b'[') == count(b']');
    is_item.then_some(start + object.len())
}

/// Returns the end of the string that opens at `start`.
pub(in crate::source) fn skip_string(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Returns the end of the value that starts at `start`; `None` if the text ends first. Kinds of brackets are not
/// compared; the decoder does that.
pub(in crate::source) fn skip_value(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = start;
    loop {
        match text.get(at)? {
            b'"' => at = skip_string(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            _ if depth > 0 => {
                at += 1;
                continue;
            }
            _ => {
                // A number or a word: up to a character that may follow it, at least one byte.
                let rest = &text[at + 1..];
                let end = rest.iter().position(|b| matches!(b, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n'))?;
                return Some(at + 1 + end);
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// One `"key": value` of an object.
enum Member {
    Found { key: (usize, usize), value: usize, end: usize },
    More,
    DecodeError,
}

/// Returns the end of the white space at `at`.
pub(in crate::source) fn blank(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// Reads the key at `at` and finds the start of its value.
fn key(text: &[u8], at: usize) -> Result<((usize, usize), usize), Member> {
    match text.get(at) {
        None => return Err(Member::More),
        Some(b'"') => {}
        Some(_) => return Err(Member::DecodeError),
    }
    let end = skip_string(text, at).ok_or(Member::More)?;
    let colon = blank(text, end);
    match text.get(colon) {
        None => Err(Member::More),
        Some(b':') => {
            let value = blank(text, colon + 1);
            if value < text.len() { Ok(((at + 1, end - 1), value)) } else { Err(Member::More) }
        }
        Some(_) => Err(Member::DecodeError),
    }
}

/// Returns the range of the key at `at`, without its quotes, and the start of its value.
pub(in crate::source) fn key_and_value(text: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    key(text, at).ok().map(|((start, end), value)| (start..end, value))
}

fn member(text: &[u8], at: usize) -> Member {
    match key(text, at) {
        Ok((key, value)) => skip_value(text, value).map_or(Member::More, |end| Member::Found { key, value, end }),
        Err(other) => other,
    }
}

/// Returns whether a key holds a list's items; kubectl before 1.14 wrote it with a capital.
fn is_items(key: &[u8]) -> bool {
    matches!(key, b"items" | b"Items")
}

fn note_type(types: &mut TypeMeta, key: &[u8], value: &[u8]) {
    let slot = match key {
        b"kind" => &mut types.kind,
        b"apiVersion" => &mut types.api_version,
        // Metadata fields may be inlined.
        b"selfLink" => &mut types.self_link,
        b"metadata" if types.kind.is_none() && memchr::memmem::find(value, b"\"selfLink\"").is_some() => {
            types.self_link = self_link(value);
            return;
        }
        _ => return,
    };
    if let Ok(text) = serde_json::from_slice::<String>(value) {
        *slot = Some(text);
    }
}

/// Returns the path in an object's metadata, unless it is empty.
fn self_link(metadata: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Link {
        #[serde(rename = "selfLink")]
        self_link: Option<String>,
    }
    serde_json::from_slice::<Link>(metadata).ok()?.self_link.filter(|link| !link.is_empty())
}

/// Reads the object at `start` until it is clear whether it is a list.
fn list_head(window: &[u8], start: usize) -> Head {
    let mut types = TypeMeta::default();
    let mut metadata = 0..0;
    let mut at = start + 1;
    loop {
        at = blank(window, at);
        match window.get(at) {
            None => return Head::More,
            Some(b',') => {
                at += 1;
                continue;
            }
            Some(b'}') => return Head::Object { end: at + 1 },
            Some(_) => {}
        }
        let (key, value) = match key(window, at) {
            Ok(found) => found,
            Err(Member::More) => return Head::More,
            // Not JSON: the decoder reports the error in the text up to the balancing bracket.
            Err(_) => return skip_value(window, start).map_or(Head::More, |end| Head::Object { end }),
        };
        let name = &window[key.0..key.1];
        if is_items(name) && window[value] == b'[' && may_be_list(types.kind.as_deref()) {
            return Head::Items { start: value + 1, types, page: page_of(&window[metadata]) };
        }
        if window[value] == b'['
            && types == TypeMeta::default()
            && let Some(types) = exported_list(name)
        {
            match starts_with_object(window, value + 1) {
                Some(true) => return Head::Export { start: value + 1, types },
                Some(false) => {}
                None => return Head::More,
            }
        }
        let Some(end) = skip_value(window, value) else { return Head::More };
        note_type(&mut types, name, &window[value..end]);
        if name == b"metadata" {
            metadata = value..end;
        }
        at = end;
    }
}

/// Returns what the metadata of a list says about pages after it; `None` if it is the last.
pub(in crate::source) fn page_of(metadata: &[u8]) -> Option<Page> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ListMeta {
        r#continue: Option<serde_json::Value>,
        remaining_item_count: Option<serde_json::Value>,
    }
    memchr::memmem::find(metadata, b"\"continue\"")?;
    let ListMeta { r#continue, remaining_item_count } = serde_json::from_slice(metadata).ok()?;
    r#continue.filter(|token| token.as_str().is_some_and(|token| !token.is_empty()))?;
    Some(Page { remaining: remaining_item_count.and_then(|count| count.as_u64()) })
}

/// Returns whether the array that opens before `at` is empty or starts with a Kubernetes object, by its first key;
/// `None` if the text ends too early to decide.
fn starts_with_object(text: &[u8], at: usize) -> Option<bool> {
    let at = blank(text, at);
    match text.get(at)? {
        b']' => Some(true),
        b'{' => match key(text, blank(text, at + 1)) {
            Ok((name, _)) => {
                Some(matches!(&text[name.0..name.1], b"metadata" | b"kind" | b"apiVersion" | b"spec" | b"status" | b"allowVolumeExpansion"))
            }
            Err(Member::More) => None,
            Err(_) => Some(false),
        },
        _ => Some(false),
    }
}

/// Returns the type of a JSON object, reading no further than needed.
pub(in crate::source) fn peek(text: &[u8]) -> TypeMeta {
    let mut types = TypeMeta::default();
    let mut at = blank(text, 0);
    if text.get(at) != Some(&b'{') {
        return types;
    }
    at += 1;
    while types.kind.is_none() || types.api_version.is_none() {
        at = blank(text, at);
        if text.get(at) == Some(&b',') {
            at = blank(text, at + 1);
        }
        let Member::Found { key, value, end } = member(text, at) else { break };
        note_type(&mut types, &text[key.0..key.1], &text[value..end]);
        at = end;
    }
    types
}
