//! Splits YAML: documents, and the entries of a list's `items` or of a top-level sequence.
//!
//! In block style an entry reaches from its dash to the next line that is not indented deeper, so indentation alone
//! finds the spans. That holds for lists of plain layout; any other document is one span. Text that breaks the rule (a
//! quoted string that continues at the dash's column, an anchor used by a later entry) gives spans that do not parse.
//! The loader then reads the file again, document by document ([`Yaml::careful`]).

use memchr::memchr;

use super::json::skip_value;
use super::{Form, ItemList, LOG_START, Page, Span, SpanState, Splitter, Syntax, TypeMeta, is_chatter, log_end, may_be_list, skip_log};

/// See the [module](self).
#[derive(Debug, Default)]
pub(in crate::source) struct Yaml {
    state: State,
    lists: Vec<ItemList>,
    careful: bool,
    form: Form,
    /// The line that ends the log being skipped.
    log: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Before a document.
    #[default]
    Start,
    /// Among the entries of a list.
    Entries(Entries),
    /// After the entries.
    Tail(Entries),
}

/// The position among a list's entries.
#[derive(Clone, Copy, Debug)]
struct Entries {
    /// An index in [`Yaml::lists`].
    list: usize,
    /// The index of the next entry.
    index: u32,
    /// The column of the dashes.
    column: usize,
    /// It is a top-level sequence, without a mapping around it.
    bare: bool,
}

/// One line of the window.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// The text without its line break.
    text: &'a [u8],
    /// The offset of the next line.
    next: usize,
}

impl<'a> Line<'a> {
    /// Returns the line at `at`; `None` if its end is not in the window.
    fn read(window: &'a [u8], at: usize, last: bool) -> Option<Self> {
        let rest = &window[at..];
        match memchr(b'\n', rest) {
            Some(end) => {
                let text = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
                Some(Self { text, next: at + end + 1 })
            }
            None => (last && !rest.is_empty()).then_some(Self { text: rest, next: window.len() }),
        }
    }

    fn indentation(&self) -> usize {
        self.text.iter().take_while(|b| **b == b' ').count()
    }

    /// Returns whether the line is indented beyond a column.
    fn is_deeper(&self, column: usize) -> bool {
        self.text.get(..=column).is_some_and(|margin| margin.iter().all(|byte| *byte == b' '))
    }

    /// Returns whether the line is white space or a comment.
    fn is_blank(&self) -> bool {
        matches!(self.text.trim_ascii_start().first(), None | Some(b'#'))
    }

    /// Returns whether the line is `---` or `...`, which end a document in any context.
    fn is_marker(&self) -> bool {
        (self.text.starts_with(b"---") || self.text.starts_with(b"...")) && matches!(self.text.get(3), None | Some(b' ' | b'\t'))
    }

    /// Returns whether an entry starts with a dash at `column`.
    fn is_entry(&self, column: usize) -> bool {
        self.indentation() == column && self.has_dash(column) && !self.is_marker()
    }

    /// Returns whether the line has a key at the margin.
    fn is_member(&self) -> bool {
        self.text.first().is_some_and(u8::is_ascii_alphanumeric) && self.text.contains(&b':')
    }

    /// Returns whether there is a dash at `column` that may start an entry.
    fn has_dash(&self, column: usize) -> bool {
        self.text.get(column) == Some(&b'-') && matches!(self.text.get(column + 1), None | Some(b' ' | b'\t'))
    }
}

impl Yaml {
    /// Returns a splitter that splits at document markers only.
    pub(in crate::source) fn careful() -> Self {
        Self { careful: true, ..Self::default() }
    }

    /// Takes the start of a document up to its first entry, or the whole document. `None` asks for more text.
    fn start(&mut self, window: &[u8], at: usize, last: bool, spans: &mut Vec<Span>) -> Option<usize> {
        let line = Line::read(window, at, last)?;
        if line.is_blank() || (line.is_marker() && line.text.starts_with(b"...")) {
            return Some(line.next);
        }
        if line.text.starts_with(b"---") && line.is_marker() {
            let rest = Line { text: &line.text[3..], next: line.next };
            if rest.is_blank() {
                return Some(line.next);
            }
        } else if !self.careful && line.text[0] != b'%' {
            if line.has_dash(0) {
                self.open(TypeMeta::default(), None, 0, true);
                return Some(at);
            }
            match list_head(window, at, last) {
                Head::Items { start, column, types, page } => {
                    self.open(types, page, column, false);
                    return Some(start);
                }
                Head::More => return None,
                Head::Other => {}
            }
        }
        let end = document_end(window, at, last)?;
        let text = &window[at..end];
        let syntax = if is_json(text) { Syntax::Json } else { Syntax::Yaml };
        spans.push(Span { start: at, end, syntax, item: None, state: SpanState::Whole });
        Some(end)
    }

    fn open(&mut self, types: TypeMeta, page: Option<Page>, column: usize, bare: bool) {
        self.lists.push(ItemList { types, page, ..ItemList::default() });
        self.state = State::Entries(Entries { list: self.lists.len() - 1, index: 0, column, bare });
    }

    /// Takes one entry, or ends the list.
    fn entry(&mut self, window: &[u8], at: usize, last: bool, spans: &mut Vec<Span>) -> Option<usize> {
        let State::Entries(entries) = self.state else { return None };
        let Entries { list, index, column, bare } = entries;
        let line = Line::read(window, at, last)?;
        if line.is_blank() {
            return Some(line.next);
        }
        if !line.is_entry(column) {
            if line.is_marker() || (!bare && line.is_member()) {
                self.lists[list].closed = bare;
                self.state = if bare { State::Start } else { State::Tail(entries) };
                return Some(at);
            }
            self.lists[list].broken = true;
            return stray(window, at, last, column, spans);
        }
        let mut end = line.next;
        while end < window.len() {
            let line = Line::read(window, end, last)?;
            // A line indented by a tab belongs to the entry, which will then not parse.
            let ends = !line.is_deeper(column) && line.text.get(line.indentation()) != Some(&b'\t');
            if ends && !line.is_blank() {
                break;
            }
            end = line.next;
        }
        if end == window.len() && !last {
            return None;
        }
        spans.push(Span { start: at + column, end, syntax: Syntax::Yaml, item: Some((list, index)), state: SpanState::Whole });
        self.state = State::Entries(Entries { index: index + 1, ..entries });
        Some(end)
    }

    /// Takes one line after the entries.
    fn tail(&mut self, window: &[u8], at: usize, last: bool, spans: &mut Vec<Span>) -> Option<usize> {
        let State::Tail(entries) = self.state else { return None };
        let list = entries.list;
        let line = Line::read(window, at, last)?;
        if line.is_marker() {
            self.lists[list].closed = true;
            self.state = State::Start;
            return Some(at);
        }
        if line.is_entry(entries.column) {
            // A line at the margin looked like the list's end.
            self.lists[list].broken = true;
            spans.push(stray_piece(at, at, "an entry of a list that seemed to have ended"));
            self.state = State::Entries(entries);
            return Some(at);
        }
        if !line.is_blank() && !line.is_member() && line.indentation() == 0 {
            self.lists[list].broken = true;
            return stray(window, at, last, entries.column, spans);
        }
        note_type(&mut self.lists[list].types, line.text);
        note_page(&mut self.lists[list].page, line.text);
        if is_items(line.text) {
            self.lists[list].broken = true;
            spans.push(stray_piece(at, line.next, "a second `items` in one list"));
        }
        Some(line.next)
    }
}

impl Splitter for Yaml {
    fn split(&mut self, window: &mut [u8], last: bool, spans: &mut Vec<Span>) -> usize {
        let mut at = 0;
        while at < window.len() {
            if let Some(end) = &self.log {
                let (skipped, ended) = skip_log(&window[at..], end, last);
                at += skipped;
                if !ended {
                    return at;
                }
                self.log = None;
                continue;
            }
            if window[at] == b'=' && window[at..].starts_with(LOG_START) {
                let Some(end) = log_end(&window[at..], last) else { return at };
                at += memchr(b'\n', &window[at..]).unwrap_or(window.len() - at);
                self.form.logs = true;
                self.log = Some(end);
                // Text after a log is a new document.
                if let State::Tail(entries) | State::Entries(entries) = self.state {
                    self.lists[entries.list].closed = true;
                }
                self.state = State::Start;
                continue;
            }
            if matches!(window[at], b'C' | b'W') && is_chatter(&window[at..]) {
                match memchr(b'\n', &window[at..]) {
                    Some(end) => at += end + 1,
                    None if last => at = window.len(),
                    None => return at,
                }
                continue;
            }
            let known = spans.len();
            let next = match self.state {
                State::Start => self.start(window, at, last, spans),
                State::Entries(_) => self.entry(window, at, last, spans),
                State::Tail(_) => self.tail(window, at, last, spans),
            };
            let Some(next) = next else { return at };
            if let Some(Span { start, item: Some(_), .. }) = spans.get(known) {
                // Without its dash an entry is a document of its own.
                window[*start] = b' ';
            }
            at = next;
        }
        if last && let State::Tail(entries) | State::Entries(entries) = self.state {
            // Only a list written by an API server has an apiVersion, and its kind then follows the items. The file ends
            // before that.
            let ItemList { types, closed, .. } = &mut self.lists[entries.list];
            *closed = entries.bare || types.kind.is_some() || types.api_version.is_none();
        }
        at
    }

    fn lists(&self) -> &[ItemList] {
        &self.lists
    }

    fn form(&self) -> Form {
        self.form
    }
}

/// Takes text that is not part of any entry, up to the next line that is.
fn stray(window: &[u8], at: usize, last: bool, column: usize, spans: &mut Vec<Span>) -> Option<usize> {
    let mut end = Line::read(window, at, last)?.next;
    while end < window.len() {
        let line = Line::read(window, end, last)?;
        if line.is_marker() || line.is_member() || line.is_entry(column) {
            break;
        }
        end = line.next;
    }
    if end == window.len() && !last {
        return None;
    }
    spans.push(stray_piece(at, end, "this text belongs to no entry of the list"));
    Some(end)
}

fn stray_piece(start: usize, end: usize, message: &'static str) -> Span {
    Span { start, end, syntax: Syntax::Yaml, item: None, state: SpanState::Stray(message) }
}

/// Returns the end of the document that starts at `at`, possibly with its marker line.
fn document_end(window: &[u8], at: usize, last: bool) -> Option<usize> {
    let mut end = at;
    while end < window.len() {
        let line = Line::read(window, end, last)?;
        if line.text.starts_with(LOG_START) || (end != at && is_chatter(line.text)) {
            return Some(end);
        }
        // Directives belong to the document after the marker that follows them.
        if line.is_marker() && end != at && !(window[at] == b'%' && directives_only(&window[at..end])) {
            return Some(end);
        }
        end = line.next;
    }
    last.then_some(end)
}

fn directives_only(text: &[u8]) -> bool {
    text.split(|b| *b == b'\n').all(|line| line.starts_with(b"%") || line.starts_with(b"#") || line.trim_ascii().is_empty())
}

/// Returns whether a document is one JSON object; the JSON decoder is several times faster.
fn is_json(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.starts_with(b"{") && matches!(text[1..].trim_ascii_start().first(), Some(b'"' | b'}')) && skip_value(text, 0) == Some(text.len())
}

/// Returns whether a list's items start after a line; kubectl before 1.14 wrote the key with a capital.
fn is_items(line: &[u8]) -> bool {
    line.starts_with(b"items:") || line.starts_with(b"Items:")
}

enum Head {
    Items { start: usize, column: usize, types: TypeMeta, page: Option<Page> },
    Other,
    More,
}

/// Reads the lines at the margin of the document at `at` until `items:`, as long as they are plain.
fn list_head(window: &[u8], mut at: usize, last: bool) -> Head {
    let mut types = TypeMeta::default();
    let mut page = None;
    let mut in_mapping = false;
    while at < window.len() {
        let Some(line) = Line::read(window, at, last) else { return Head::More };
        at = line.next;
        if line.is_blank() || (line.text.starts_with(b" ") && in_mapping) {
            note_page(&mut page, line.text);
            continue;
        }
        if !is_plain_member(line.text) || line.is_marker() {
            return Head::Other;
        }
        in_mapping = true;
        if !note_type(&mut types, line.text) {
            return Head::Other;
        }
        if !may_be_list(types.kind.as_deref()) {
            return Head::Other;
        }
        if is_items(line.text) {
            if !(Line { text: &line.text[6..], next: 0 }).is_blank() {
                return Head::Other;
            }
            return first_entry(window, at, last, types, page);
        }
    }
    if last { Head::Other } else { Head::More }
}

fn first_entry(window: &[u8], mut at: usize, last: bool, types: TypeMeta, page: Option<Page>) -> Head {
    while at < window.len() {
        let Some(line) = Line::read(window, at, last) else { return Head::More };
        if !line.is_blank() {
            let column = line.indentation();
            return if line.has_dash(column) && !line.is_marker() { Head::Items { start: at, column, types, page } } else { Head::Other };
        }
        at = line.next;
    }
    if last { Head::Other } else { Head::More }
}

/// Records what a line within a list's metadata says about pages after it.
fn note_page(page: &mut Option<Page>, line: &[u8]) {
    let line = line.strip_prefix(b"  ").unwrap_or_default().trim_ascii();
    let value = |key: &[u8]| line.strip_prefix(key)?.strip_prefix(b":").map(<[u8]>::trim_ascii);
    if value(b"continue").is_some_and(|token| !matches!(token, b"" | b"\"\"" | b"''" | b"null" | b"~")) {
        page.get_or_insert_default();
    } else if let Some(count) = value(b"remainingItemCount") {
        // It comes after the token.
        if let Some(page) = page {
            page.remaining = std::str::from_utf8(count).ok().and_then(|count| count.parse().ok());
        }
    }
}

/// Returns whether a line is `key:` or `key: value`, where the value certainly ends on the line.
fn is_plain_member(line: &[u8]) -> bool {
    let Some(colon) = memchr(b':', line) else { return false };
    if colon == 0 || !line[..colon].iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    let value = line[colon + 1..].trim_ascii();
    match value.first() {
        Some(quote @ (b'"' | b'\'')) => value.len() > 1 && value[1..].iter().position(|b| b == quote) == Some(value.len() - 2),
        Some(b'{' | b'[') => matches!(value, b"{}" | b"[]"),
        Some(b'&' | b'*' | b'!' | b'|' | b'>') => false,
        None | Some(_) => true,
    }
}

/// Records the value of a `kind:` or `apiVersion:` at the margin. Returns false if the value is not a plain or simply
/// quoted word, so that it needs the parser.
fn note_type(types: &mut TypeMeta, line: &[u8]) -> bool {
    let (slot, value) = if let Some(value) = line.strip_prefix(b"kind:") {
        (&mut types.kind, value)
    } else if let Some(value) = line.strip_prefix(b"apiVersion:") {
        (&mut types.api_version, value)
    } else {
        return true;
    };
    let value = memchr::memmem::find(value, b" #").map_or(value, |comment| &value[..comment]).trim_ascii();
    let value = [b'"', b'\''].iter().find_map(|q| value.strip_prefix(&[*q])?.strip_suffix(&[*q])).unwrap_or(value);
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/' | b'-' | b'_');
    match std::str::from_utf8(value) {
        Ok(text) if !text.is_empty() && value.iter().all(plain) => {
            *slot = Some(text.to_owned());
            true
        }
        _ => false,
    }
}

/// Returns the type of a YAML object in block style, by the column of its first key; `None` if the text has to be
/// parsed.
pub(in crate::source) fn peek(text: &[u8]) -> Option<TypeMeta> {
    let mut types = TypeMeta::default();
    let mut column = None;
    let mut at = 0;
    while at < text.len() {
        let line = Line::read(text, at, true)?;
        at = line.next;
        if line.is_blank() || (column.is_none() && line.is_marker()) {
            continue;
        }
        let indentation = line.indentation();
        let first = column.is_none();
        let column = *column.get_or_insert(indentation);
        if indentation > column {
            continue;
        }
        let line = &line.text[indentation..];
        // A dash continues a sequence under the key before it; any other character at the keys' column needs the parser.
        let plain = line[0].is_ascii_alphanumeric() && line.contains(&b':') || (line[0] == b'-' && !first);
        if indentation < column || !plain || !note_type(&mut types, line) {
            return None;
        }
        if types.kind.is_some() && types.api_version.is_some() {
            return Some(types);
        }
    }
    column.is_some().then_some(types)
}
