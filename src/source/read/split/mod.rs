//! Cuts a file into one span of text per object, without understanding the objects.
//!
//! A splitter works on a window of the file: it takes as many whole pieces as the window holds and leaves the rest
//! for the next, longer one. So a file of any size passes through a small window, and the pieces of a window can be
//! decoded in parallel.

mod export;
mod json;
#[cfg(test)]
mod tests;
mod yaml;

pub(in crate::source) use json::{Json, peek as peek_json};
pub(in crate::source) use yaml::{Yaml, peek as peek_yaml};

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Syntax {
    Json,
    Yaml,
}

/// What an object says about its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::source) struct TypeMeta {
    pub(in crate::source) kind: Option<String>,
    pub(in crate::source) api_version: Option<String>,
    /// The path that an API server once served it under (`metadata.selfLink`), where it names no kind.
    pub(in crate::source) self_link: Option<String>,
}

/// A list whose items are pieces; its `kind` may stand after them, so it is known for certain once it is closed.
#[derive(Clone, Debug, Default)]
pub(in crate::source) struct ItemList {
    pub(in crate::source) types: TypeMeta,
    pub(in crate::source) closed: bool,
    /// One of several lists in one object, under a key that tells its kind.
    pub(in crate::source) export: bool,
}

/// What kind of file the cuts show it to be.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::source) struct Form {
    /// Logs stand between the objects.
    pub(in crate::source) logs: bool,
    /// Lists stand under keys of their own, as kube-scheduler-simulator exports them.
    pub(in crate::source) export: bool,
    /// The objects are of kwok's making.
    pub(in crate::source) kwok: bool,
}

/// How `kubectl cluster-info dump` opens a log among the lists that it prints.
const LOG_START: &[u8] = b"==== START logs for container ";

/// How the lines begin that kubectl prints around what it was asked for.
const CHATTER: [&[u8]; 2] = [b"Cluster info dumped to ", b"Warning: "];

/// Whether `text` starts with a line that kubectl prints around objects.
fn is_chatter(text: &[u8]) -> bool {
    CHATTER.iter().any(|start| text.starts_with(start))
}

/// The line that ends the log which the line at the start of `text` opens, with the line break before it; `None` where
/// that line does not end in `text`.
fn log_end(text: &[u8], last: bool) -> Option<Vec<u8>> {
    let end = memchr::memchr(b'\n', text).or(last.then_some(text.len()))?;
    let rest = text[..end].strip_prefix(LOG_START).unwrap_or_default();
    Some([b"\n==== END logs for container ", rest].concat())
}

/// How far a log reaches in `text`, and whether it ends there. The end may be cut in two by the end of the window.
fn skip_log(text: &[u8], end: &[u8], last: bool) -> (usize, bool) {
    match memchr::memmem::find(text, end) {
        Some(at) => (at + end.len(), true),
        None if last => (text.len(), false),
        None => (text.len().saturating_sub(end.len()), false),
    }
}

/// One stretch of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) struct Span {
    pub(in crate::source) start: usize,
    pub(in crate::source) end: usize,
    pub(in crate::source) syntax: Syntax,
    /// The list that the piece is an item of (a place in [`Splitter::lists`]), and which one.
    pub(in crate::source) item: Option<(usize, u32)>,
    pub(in crate::source) state: SpanState,
}

/// Whether a piece can be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) enum SpanState {
    Whole,
    /// The file ends within it.
    Cut,
    /// Not an object at all; the text says why.
    Stray(&'static str),
}

/// Cuts windows into pieces.
pub(in crate::source) trait Splitter {
    /// Appends the pieces of `window` and returns how much of it is dealt with; the caller comes again with the rest
    /// and more behind it. At the end of the file (`last`) everything is dealt with.
    fn split(&mut self, window: &mut [u8], last: bool, spans: &mut Vec<Span>) -> usize;

    /// The lists seen so far.
    fn lists(&self) -> &[ItemList];

    /// What has shown of the file's form so far.
    fn form(&self) -> Form;
}

/// Whether `items` under this kind holds objects; a kind not seen yet may turn out to be one.
fn may_be_list(kind: Option<&str>) -> bool {
    kind.is_none_or(|kind| kind.ends_with("List"))
}
