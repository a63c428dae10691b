//! Splits a file into one span of text per object, without decoding the objects.
//!
//! A splitter works on a window of the file. It takes the whole spans in the window and leaves the rest for the next
//! one. So a file of any size passes through a small window, and the spans of a window can be decoded in parallel.

mod export;
mod json;
#[cfg(test)]
mod tests;
mod yaml;

pub(in crate::source) use json::{Json, blank, key_and_value, page_of, peek as peek_json, skip_string, skip_value};
pub(in crate::source) use yaml::{Yaml, peek as peek_yaml};

/// The syntax of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Syntax {
    Json,
    Yaml,
}

/// The type of an object, as far as it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::source) struct TypeMeta {
    pub(in crate::source) kind: Option<String>,
    pub(in crate::source) api_version: Option<String>,
    /// The path under which an API server once served it (`metadata.selfLink`), if it has no kind.
    pub(in crate::source) self_link: Option<String>,
}

/// A list whose items are spans. Its `kind` may follow the items, so it is certain only once the list is closed.
#[derive(Clone, Debug, Default)]
pub(in crate::source) struct ItemList {
    pub(in crate::source) types: TypeMeta,
    pub(in crate::source) closed: bool,
    /// It holds text that is no item of it, so that items may be missing.
    pub(in crate::source) broken: bool,
    /// It is a page of a longer list.
    pub(in crate::source) page: Option<Page>,
    /// It is one of several lists in one object, under a key that implies its kind.
    pub(in crate::source) export: bool,
}

/// The place of a list in a longer one that was given in pages. Mirrors `ListMeta` in
/// `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::source) struct Page {
    /// The number of items on the pages after it, where it says so.
    pub(in crate::source) remaining: Option<u64>,
}

/// The form of a file, as far as the splitter detects it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::source) struct Form {
    /// There are logs between the objects.
    pub(in crate::source) logs: bool,
    /// Lists are under keys of their own, as in exports of kube-scheduler-simulator.
    pub(in crate::source) export: bool,
    /// There are objects of kwok's API.
    pub(in crate::source) kwok: bool,
}

/// The start of a log among the lists that `kubectl cluster-info dump` prints.
const LOG_START: &[u8] = b"==== START logs for container ";

/// The starts of lines that kubectl prints around the objects.
const CHATTER: [&[u8]; 2] = [b"Cluster info dumped to ", b"Warning: "];

/// Returns whether `text` starts with a line that kubectl prints around objects.
fn is_chatter(text: &[u8]) -> bool {
    CHATTER.iter().any(|start| text.starts_with(start))
}

/// Returns the line that ends the log opened by the first line of `text`, with the line break before it; `None` if that
/// first line is incomplete.
fn log_end(text: &[u8], last: bool) -> Option<Vec<u8>> {
    let end = memchr::memchr(b'\n', text).or(last.then_some(text.len()))?;
    let rest = text[..end].strip_prefix(LOG_START).unwrap_or_default();
    Some([b"\n==== END logs for container ", rest].concat())
}

/// Returns the length of a log's part in `text`, and whether the log ends there. The window may cut its end line in two.
fn skip_log(text: &[u8], end: &[u8], last: bool) -> (usize, bool) {
    match memchr::memmem::find(text, end) {
        Some(at) => (at + end.len(), true),
        None if last => (text.len(), false),
        None => (text.len().saturating_sub(end.len()), false),
    }
}

/// A part of the window that holds one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) struct Span {
    pub(in crate::source) start: usize,
    pub(in crate::source) end: usize,
    pub(in crate::source) syntax: Syntax,
    /// The list that it is an item of (an index in [`Splitter::lists`]), and its index in the list.
    pub(in crate::source) item: Option<(usize, u32)>,
    pub(in crate::source) state: SpanState,
}

/// Whether a span can be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) enum SpanState {
    Whole,
    /// The file ends within it.
    Cut,
    /// It is not an object; the text says why.
    Stray(&'static str),
}

/// Splits windows into spans.
pub(in crate::source) trait Splitter {
    /// Appends the spans of `window` and returns the length that is done. The caller passes the rest again, with more
    /// text after it. At the end of the file (`last`) the whole window is done.
    fn split(&mut self, window: &mut [u8], last: bool, spans: &mut Vec<Span>) -> usize;

    /// Returns the lists seen so far.
    fn lists(&self) -> &[ItemList];

    /// Returns the form of the file, as detected so far.
    fn form(&self) -> Form;
}

/// Returns whether `items` of this kind may hold objects; an unknown kind may.
fn may_be_list(kind: Option<&str>) -> bool {
    kind.is_none_or(|kind| kind.ends_with("List"))
}
