//! Decodes the objects and events that scheduling does not read, beside the items that it does.

use serde_json::Deserializer as Json;

use super::events::{RawEvent, Times};
use super::null_as_zero::NullAsZero;
use crate::cluster::MissingReason;
use crate::cluster::neighbors::{Neighbor, NeighborKind, OtherEvent};
use crate::limits::sources::NAME;
use crate::source::layout::Hint;
use crate::source::read::split::Syntax;

/// A part of a text that explains missing pods, whatever scheduling reads of it.
#[derive(Debug)]
pub(in crate::source) enum DecodedNeighbor {
    Object(Neighbor),
    /// An event, with its uid or else its namespace and name.
    Event(String, OtherEvent),
    /// A kind that was not given, or only in part; `None` for events about other objects than pods.
    Withheld(Option<NeighborKind>, MissingReason),
}

/// Returns the object of a text; `None` for other kinds, and for one that cannot be read or has no name.
pub(in crate::source) fn object(
    text: &[u8],
    syntax: Syntax,
    kind: &str,
    api_version: Option<&str>,
    hint: &Hint,
) -> Option<Box<DecodedNeighbor>> {
    let version = api_version.filter(|version| !version.is_empty());
    let group = version.map(|version| version.split_once('/').map_or("", |(group, _)| group));
    let kind = NeighborKind::of(kind, group)?;
    let api_version = version.unwrap_or_default().into();
    let mut object = match syntax {
        Syntax::Json => Neighbor::deserialize_kind(kind, api_version, NullAsZero(&mut Json::from_slice(text))).ok()?,
        Syntax::Yaml => Neighbor::deserialize_kind(kind, api_version, NullAsZero(serde_yaml::Deserializer::from_slice(text))).ok()?,
    };
    if object.metadata.name.is_empty() || object.metadata.name.len().max(object.metadata.namespace.len()) > NAME {
        return None;
    }
    if kind.namespaced() && object.metadata.namespace.is_empty() {
        object.metadata.namespace = hint.namespace.as_deref().unwrap_or("default").into();
    }
    Some(Box::new(DecodedNeighbor::Object(object)))
}

/// Returns an event, unless only the kubelet or kube-scheduler's default profile writes such.
pub(in crate::source) fn event(event: &RawEvent<'_>, times: Times) -> Option<Box<DecodedNeighbor>> {
    let (identity, event) = event.other(times)?;
    let is_kept_already = matches!(event.speaker.as_str(), "default-scheduler" | "kubelet");
    (!is_kept_already).then(|| Box::new(DecodedNeighbor::Event(identity, event)))
}

#[cfg(test)]
mod tests;
