//! Decodes an API server's answers: pages of lists and lines of watches, directly from their text.

use std::borrow::Cow;
use std::fmt;

use rayon::prelude::*;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::failure::{self, Failure, Status, excerpt};
use super::resource::{Resource, Subject};
use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Key, Kind};
use crate::limits::live::PAGE_ITEMS;
use crate::source::decode::neighbors::{self, DecodedNeighbor};
use crate::source::decode::{Context, DecodeError, Decoded, DecodedItem, decode_text};
use crate::source::layout::Hint;
use crate::source::read::split::{Syntax, TypeMeta};

/// A page of a list.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) items: Vec<Decoded>,
    pub(super) resource_version: String,
    /// The token of the next page; empty on the last one.
    pub(super) next: String,
}

/// A line of a watch.
#[derive(Debug)]
pub(super) enum Line {
    /// Added or modified, with its resource version.
    Put(Box<Decoded>, String),
    /// Deleted: the key, the uid and the resource version of the deletion.
    Gone(Key, String, String),
    /// The stream is complete up to this resource version. True at the end of the initial events.
    Bookmark(String, bool),
    /// The server ends the watch with an error.
    Error(Failure),
}

#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(default)]
    kind: String,
    #[serde(default, rename = "apiVersion")]
    api_version: String,
    #[serde(default)]
    metadata: PageMeta,
    #[serde(borrow, default)]
    items: Option<Items<'a>>,
}

/// The items of a page.
#[derive(Default)]
struct Items<'a> {
    kept: Vec<&'a RawValue>,
    /// There are more than [`PAGE_ITEMS`], and the rest is not kept.
    too_many: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sequence;
        impl<'de> Visitor<'de> for Sequence {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
                let mut items = Items::default();
                while items.kept.len() < PAGE_ITEMS {
                    let Some(item) = sequence.next_element()? else { return Ok(items) };
                    items.kept.push(item);
                }
                while sequence.next_element::<IgnoredAny>()?.is_some() {
                    items.too_many = true;
                }
                Ok(items)
            }
        }
        deserializer.deserialize_seq(Sequence)
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PageMeta {
    resource_version: String,
    r#continue: Option<String>,
}

#[derive(Deserialize)]
struct RawLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    metadata: Names,
}

#[derive(Deserialize)]
struct OwnKind {
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Names {
    name: String,
    namespace: String,
    uid: String,
    resource_version: String,
    annotations: Option<Marks>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Marks {
    #[serde(rename = "k8s.io/initial-events-end")]
    initial_events_end: String,
}

/// Checks the kind of a list by the start of its text, as API servers begin it; other texts are checked once they are whole.
pub(super) fn check_start(start: &[u8], resource: &Resource) -> Result<(), Failure> {
    let after = |text: &'_ [u8], token: &[u8]| text.trim_ascii_start().strip_prefix(token).map(<[u8]>::to_vec);
    let rest = after(start, b"{").and_then(|rest| after(&rest, b"\"kind\"")).and_then(|rest| after(&rest, b":"));
    let Some(rest) = rest.and_then(|rest| after(&rest, b"\"")) else { return Ok(()) };
    let Some(end) = memchr::memchr2(b'"', b'\\', &rest).filter(|end| rest[*end] == b'"') else { return Ok(()) };
    let kind = String::from_utf8_lossy(&rest[..end]);
    if kind.strip_suffix("List") == Some(resource.kind) { Ok(()) } else { Err(other_kind(resource.plural, &kind, start)) }
}

/// Returns the failure of a page of another kind.
fn other_kind(plural: &str, kind: &str, text: &[u8]) -> Failure {
    Failure::new(failure::FailureKind::OtherKind, format!("expected a list of {plural}, got {kind:?}: {}", excerpt(text)))
}

/// Decodes a page on several threads.
pub(super) fn page(text: &[u8], resource: &Resource) -> Result<Page, Failure> {
    let raw: RawPage<'_> = serde_json::from_slice(text).map_err(|error| broken(resource.plural, text, &error))?;
    if raw.kind.strip_suffix("List") != Some(resource.kind) {
        return Err(other_kind(resource.plural, &raw.kind, text));
    }
    let types = TypeMeta { kind: Some(raw.kind), api_version: Some(raw.api_version), self_link: None };
    let hint = Hint::default();
    let decode_one = |(index, item): (usize, &&RawValue)| {
        let context = Context { list: &types, list_open: false, index: Some(index as u32), depth: 1, hint: &hint, patterns: None };
        let mut out = Vec::with_capacity(1);
        decode_text(item.get().as_bytes(), Syntax::Json, context, 0, &mut out);
        if let Subject::Objects(kind) = resource.subject {
            if out.is_empty() {
                out.push(lost(kind, index));
            }
            for decoded in &mut out {
                require(decoded, kind);
            }
        }
        out
    };
    let Items { kept: items, too_many } = raw.items.unwrap_or_default();
    if too_many {
        return Err(Failure::new(failure::FailureKind::Limit, format!("a page of {} has more than {PAGE_ITEMS} items", resource.plural)));
    }
    let items = items.par_iter().enumerate().with_min_len(16).map(|(i, item)| (i, item)).flat_map_iter(decode_one).collect();
    Ok(Page { items, resource_version: raw.metadata.resource_version, next: raw.metadata.r#continue.unwrap_or_default() })
}

/// Makes anything else than an object of a kind an error of this kind: an unknown object takes its place.
fn require(decoded: &mut Decoded, kind: Kind) {
    let message = match &decoded.what {
        what if is_of(what, kind) => return,
        DecodedItem::Error(error) => error.message.clone(),
        DecodedItem::Object { object, .. } => format!("expected a {kind}, got a {}", object.kind()),
        DecodedItem::Other(other) | DecodedItem::Unread(other) => format!("expected a {kind}, got a {other}"),
        DecodedItem::OldVersion(_, version) => format!("{version} cannot be read"),
        DecodedItem::Nameless(_) => "it has no name".to_owned(),
        DecodedItem::NoObject(found) => format!("expected an object, got {found}"),
        _ => format!("it is not a {kind}"),
    };
    decoded.what = DecodeError { kind: Some(kind), ..DecodeError::new(&message) }.into();
    (decoded.metadata, decoded.neighbor) = (None, None);
}

fn is_of(what: &DecodedItem, kind: Kind) -> bool {
    match what {
        DecodedItem::Object { object, .. } => object.kind() == kind,
        DecodedItem::Mended(what, _) => is_of(what, kind),
        DecodedItem::Error(error) => error.kind == Some(kind),
        _ => false,
    }
}

/// Returns an item that holds no object.
fn lost(kind: Kind, index: usize) -> Decoded {
    let what = DecodeError { kind: Some(kind), ..DecodeError::new("it holds no object") }.into();
    Decoded { line: 0, index: Some(index as u32), newest: None, what, metadata: None, neighbor: None, change: None }
}

/// A page of objects or events that scheduling does not read.
#[derive(Debug, Default)]
pub(super) struct NeighborPage {
    pub(super) found: Vec<DecodedNeighbor>,
    /// Items, those that are not kept too.
    pub(super) count: usize,
    /// Items that could not be read.
    pub(super) unreadable: usize,
    /// The token of the next page; empty on the last one.
    pub(super) next: String,
}

/// Decodes a page of objects of a kind that scheduling does not read.
pub(super) fn neighbors(text: &[u8], kind: NeighborKind, api_version: &str) -> Result<NeighborPage, Failure> {
    let plural = kind.resource();
    let raw: RawPage<'_> = serde_json::from_slice(text).map_err(|error| broken(plural, text, &error))?;
    if raw.kind.strip_suffix("List") != Some(<&str>::from(kind)) {
        return Err(other_kind(plural, &raw.kind, text));
    }
    let Items { kept, too_many } = raw.items.unwrap_or_default();
    if too_many {
        return Err(Failure::new(failure::FailureKind::Limit, format!("a page of {plural} has more than {PAGE_ITEMS} items")));
    }
    let hint = Hint::default();
    let decode_one =
        |item: &&RawValue| neighbors::object(item.get().as_bytes(), Syntax::Json, <&str>::from(kind), Some(api_version), &hint);
    let found: Vec<DecodedNeighbor> = kept.iter().filter_map(decode_one).flatten().map(|object| *object).collect();
    let unreadable = kept.len() - found.len();
    Ok(NeighborPage { found, count: kept.len(), unreadable, next: raw.metadata.r#continue.unwrap_or_default() })
}

/// Returns the failure of a page that is no JSON.
fn broken(plural: &str, text: &[u8], error: &serde_json::Error) -> Failure {
    let how = if error.is_eof() { "is truncated" } else { "is invalid" };
    Failure::new(failure::FailureKind::Content, format!("the list of {plural} {how} ({error}): {}", excerpt(text)))
}

/// Below this many bytes, threads cost more than they gain.
const SMALL: usize = 64 << 10;

/// Decodes whole lines of a watch, in order.
pub(super) fn lines(text: &[u8], resource: &Resource, api_version: &str) -> Vec<Result<Line, Failure>> {
    let types = TypeMeta { kind: Some(format!("{}List", resource.kind)), api_version: Some(api_version.to_owned()), self_link: None };
    let texts: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    if text.len() < SMALL {
        texts.iter().map(|text| line(text, resource, &types)).collect()
    } else {
        texts.par_iter().with_min_len(16).map(|text| line(text, resource, &types)).collect()
    }
}

/// Checks the kind of an object of a watch, if it names one: the object of another kind has the name of one that it is not.
fn check_kind(object: &[u8], resource: &Resource) -> Result<(), Failure> {
    match serde_json::from_slice(object) {
        Ok(OwnKind { kind }) if kind != resource.kind => {
            Err(Failure::new(failure::FailureKind::Content, format!("the watch of {} sent a {kind:?}", resource.plural)))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn line(text: &[u8], resource: &Resource, types: &TypeMeta) -> Result<Line, Failure> {
    let strange = || Failure::new(failure::FailureKind::Content, format!("the watch sent an invalid line: {}", excerpt(text)));
    let raw: RawLine<'_> = serde_json::from_slice(text).map_err(|_| strange())?;
    let object = raw.object.get().as_bytes();
    let names = || serde_json::from_slice::<Named>(object).map(|named| named.metadata).map_err(|_| strange());
    match raw.kind.as_ref() {
        "ADDED" | "MODIFIED" => {
            let hint = Hint::default();
            let context = Context { list: types, list_open: false, index: None, depth: 1, hint: &hint, patterns: None };
            let mut out = Vec::with_capacity(1);
            decode_text(object, Syntax::Json, context, 0, &mut out);
            let mut decoded = out.pop().ok_or_else(strange)?;
            let version = match &decoded.what {
                DecodedItem::Object { object, .. } if resource.subject == Subject::Objects(object.kind()) => {
                    object.meta().resource_version.to_string()
                }
                // An object that is not kept still has the resource version of the watch.
                _ => {
                    check_kind(object, resource)?;
                    names().map(|names| names.resource_version).unwrap_or_default()
                }
            };
            if let Subject::Objects(kind) = resource.subject {
                require(&mut decoded, kind);
            }
            Ok(Line::Put(Box::new(decoded), version))
        }
        "DELETED" => {
            check_kind(object, resource)?;
            let Names { name, namespace, uid, resource_version, .. } = names()?;
            let namespace = if resource.namespaced() { namespace } else { String::new() };
            Ok(Line::Gone(Key::new(namespace, name), uid, resource_version))
        }
        "BOOKMARK" => {
            let names = names()?;
            Ok(Line::Bookmark(names.resource_version, names.annotations.unwrap_or_default().initial_events_end == "true"))
        }
        "ERROR" => Ok(Line::Error(Failure::of_status(&serde_json::from_slice::<Status>(object).map_err(|_| strange())?))),
        _ => Err(strange()),
    }
}

#[cfg(test)]
mod tests;
