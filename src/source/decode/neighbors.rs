//! Decodes the objects and events that scheduling does not read, beside the items that it does.

use super::any_kind::AnyKind;
use super::events::{RawEvent, Times};
use super::null_as_zero::NullAsZero;
use super::{DecodeError, json_error, name_of, read_json, yaml_error};
use crate::admission::{Policies, TooLong};
use crate::cluster::MissingReason;
use crate::cluster::neighbors::{Neighbor, NeighborKind, NeighborMeta, OtherEvent};
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

impl DecodedNeighbor {
    /// Returns the kind of the object or event; `None` for one that was not given.
    pub(in crate::source) fn kind(&self) -> Option<AnyKind> {
        match self {
            Self::Object(object) => Some(object.kind.into()),
            Self::Event(..) => Some(AnyKind::of("Event", Some(""))),
            Self::Withheld(..) => None,
        }
    }
}

/// Returns the object of a text, or why it cannot be read; `None` for other kinds.
pub(in crate::source) fn object(
    text: &[u8],
    syntax: Syntax,
    kind: &str,
    api_version: Option<&str>,
    hint: &Hint,
) -> Option<Result<Box<DecodedNeighbor>, DecodeError>> {
    let version = api_version.filter(|version| !version.is_empty());
    let group = version.map(|version| version.split_once('/').map_or("", |(group, _)| group));
    let kind = NeighborKind::of(kind, group)?;
    let read = read(text, syntax, kind, version.unwrap_or_default(), hint);
    Some(read.map(|object| Box::new(DecodedNeighbor::Object(object))).map_err(|bad| {
        let object = bad.object.or_else(|| name_of(text, syntax, kind.into(), kind.namespaced()));
        DecodeError { kind: <&str>::from(kind).parse().ok().filter(|_| kind.is_in_model()), neighbor: Some(kind), object, ..bad }
    }))
}

fn read(text: &[u8], syntax: Syntax, kind: NeighborKind, api_version: &str, hint: &Hint) -> Result<Neighbor, DecodeError> {
    let mut object = match syntax {
        Syntax::Json => read_json(text, |json| Neighbor::deserialize_kind(kind, api_version.into(), json)).map_err(|e| json_error(&e))?,
        Syntax::Yaml => Neighbor::deserialize_kind(kind, api_version.into(), NullAsZero(serde_yaml::Deserializer::from_slice(text)))
            .map_err(|e| yaml_error(&e, text))?,
    };
    let NeighborMeta { name, namespace, labels, .. } = &object.metadata;
    if name.is_empty() {
        return Err(DecodeError::new(&format!("{kind} without a name; skipped")));
    }
    if let Some(what) = TooLong::find([name.as_str(), namespace], labels.iter().flat_map(|(key, value)| [key.as_str(), value])) {
        return Err(DecodeError { object: Some(kind.to_string()), ..DecodeError::new(&format!("{what}; skipped")) });
    }
    Policies::check(&object).map_err(|problem| DecodeError::new(&format!("{problem}; skipped")))?;
    if kind.namespaced() && object.metadata.namespace.is_empty() {
        object.metadata.namespace = hint.namespace.as_deref().unwrap_or("default").into();
    }
    Ok(object)
}

/// Returns an event, unless only the kubelet or kube-scheduler's default profile writes such.
pub(in crate::source) fn event(event: &RawEvent<'_>, times: Times) -> Option<Box<DecodedNeighbor>> {
    let (identity, event) = event.other(times)?;
    let is_kept_already = matches!(event.speaker.as_str(), "default-scheduler" | "kubelet");
    (!is_kept_already).then(|| Box::new(DecodedNeighbor::Event(identity, event)))
}

#[cfg(test)]
mod tests;
