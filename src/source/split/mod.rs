//! Cuts a file into one piece of text per object, without understanding the objects.
//!
//! A splitter works on a window of the file: it takes as many whole pieces as the window holds and leaves the rest
//! for the next, longer one. So a file of any size passes through a small window, and the pieces of a window can be
//! decoded in parallel.

mod json;
#[cfg(test)]
mod tests;
mod yaml;

pub(super) use json::{Json, peek as peek_json};
pub(super) use yaml::{Yaml, peek as peek_yaml};

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Yaml,
}

/// What an object says about its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeMeta {
    pub(super) kind: Option<String>,
    pub(super) api_version: Option<String>,
}

/// A list whose items are pieces; its `kind` may stand after them, so it is known for certain once it is closed.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub(super) types: TypeMeta,
    pub(super) closed: bool,
    /// A plain array, without an object around it that could tell a kind.
    pub(super) bare: bool,
}

/// One stretch of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) syntax: Syntax,
    /// The list that the piece is an item of (a place in [`Splitter::lists`]), and which one.
    pub(super) item: Option<(usize, u32)>,
    pub(super) state: PieceState,
}

/// Whether a piece can be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PieceState {
    Whole,
    /// The file ends within it.
    Cut,
    /// Not an object at all; the text says why.
    Stray(&'static str),
}

/// Cuts windows into pieces.
pub(super) trait Splitter {
    /// Appends the pieces of `window` and returns how much of it is dealt with; the caller comes again with the rest
    /// and more behind it. At the end of the file (`last`) everything is dealt with.
    fn split(&mut self, window: &mut [u8], last: bool, pieces: &mut Vec<Piece>) -> usize;

    /// The lists seen so far.
    fn lists(&self) -> &[List];
}

/// Whether `items` under this kind holds objects; a kind not seen yet may turn out to be one.
fn may_be_list(kind: Option<&str>) -> bool {
    kind.is_none_or(|kind| kind.ends_with("List"))
}
