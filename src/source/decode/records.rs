//! Decodes records of changes, one a line: kube-scheduler-simulator's `{"time", "event", "resource"}` and the
//! `{"type", "object"}` of `kubectl get --watch --output-watch-events -o json`.
//!
//! A record replayed to its end is a cluster with the last state of each object that was not deleted.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::classify::{Class, classify};
use super::{Change, Context, DecodeError, Decoded, DecodedItem, decode_text, push};
use crate::cluster::Key;
use crate::source::read::split::Syntax;

/// One line of a record, in either form.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    time: Option<String>,
    #[serde(alias = "type")]
    event: String,
    #[serde(borrow, alias = "object")]
    resource: &'a RawValue,
}

/// The fields of a deleted object that are read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Gone {
    kind: String,
    api_version: String,
    metadata: Name,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Name {
    name: String,
    namespace: String,
}

/// Returns whether a JSON object starts like a record. No object of a cluster has these keys at its top level.
pub(in crate::source) fn may_be(text: &[u8]) -> bool {
    let Some(key) = text.trim_ascii_start().strip_prefix(b"{") else { return false };
    let key = key.trim_ascii_start();
    [&b"\"time\""[..], b"\"event\"", b"\"type\"", b"\"resource\"", b"\"object\""].iter().any(|known| key.starts_with(known))
}

/// Decodes a line of a record; returns false if it is none.
pub(in crate::source) fn decode(text: &[u8], context: Context<'_>, line: u32, out: &mut Vec<Decoded>) -> bool {
    let Ok(record) = serde_json::from_slice::<Line<'_>>(text) else { return false };
    let time = record.time.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
    let change = if record.time.is_some() { Change::Recorded } else { Change::Watched };
    let before = out.len();
    match record.event.as_str() {
        "Add" | "Update" | "ADDED" | "MODIFIED" => decode_text(record.resource.get().as_bytes(), Syntax::Json, context, line, out),
        "Delete" | "DELETED" => push(out, line, context, gone(record.resource)),
        "BOOKMARK" => {}
        "ERROR" => push(out, line, context, ended(record.resource)),
        _ => return false,
    }
    for decoded in &mut out[before..] {
        decoded.newest = decoded.newest.max(time);
        decoded.change = Some(change);
        if let DecodedItem::Error(bad) = &mut decoded.what {
            // The line is that of the record, not one within the object.
            bad.line = None;
        }
    }
    true
}

/// Returns the error with which a server ended a watch: what came after it is not in the record.
fn ended(status: &RawValue) -> DecodedItem {
    #[derive(Deserialize)]
    struct Status {
        message: String,
    }
    let why = serde_json::from_str(status.get()).map_or_else(|_| "without a reason".to_owned(), |Status { message }| message);
    DecodeError::new(&format!("the watch ended with an error: {why}")).into()
}

fn gone(resource: &RawValue) -> DecodedItem {
    let Ok(Gone { kind, api_version, metadata }) = serde_json::from_str(resource.get()) else {
        return DecodeError::new("a deletion without an object").into();
    };
    match classify(&kind, Some(&api_version)) {
        Class::Model(kind) | Class::Convertible(kind) | Class::OldVersion(kind) => {
            let namespace = if kind.namespaced() { metadata.namespace } else { String::new() };
            DecodedItem::Deleted(kind, Key::new(namespace.as_str(), metadata.name.as_str()))
        }
        _ => DecodedItem::Other(kind),
    }
}
