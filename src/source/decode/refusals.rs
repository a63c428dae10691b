//! Decodes an API server's refusal to list a kind: a `Status` with the resource in its details, as left by
//! `kubectl get --raw` and as written by captures.

use serde::Deserialize;

use super::null_as_zero::NullAsZero;
use super::{DecodedItem, read_json};
use crate::cluster::{Kind, MissingReason};
use crate::source::layout::{KindOf, of_resource};
use crate::source::read::split::Syntax;

/// The reason of a kind that the source of a capture may have held in part only.
pub(in crate::source) const INCOMPLETE: &str = "Incomplete";
/// The reason of a kind that was read in some namespaces only.
pub(in crate::source) const SOME_NAMESPACES: &str = "SomeNamespaces";
/// The reason of a kind of which the source of a capture held only some objects.
pub(in crate::source) const SOME_OBJECTS: &str = "SomeObjects";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    status: String,
    reason: String,
    message: String,
    code: u16,
    details: Details,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    /// The requested object; empty for a list.
    name: String,
    group: String,
    /// The resource, in the plural.
    kind: String,
}

/// Returns the kind that was refused; `None` for any other status.
pub(in crate::source) fn decode(text: &[u8], syntax: Syntax) -> Option<DecodedItem> {
    let refusal: Refusal = match syntax {
        Syntax::Json => read_json(text, |d| Refusal::deserialize(d)).ok()?,
        Syntax::Yaml => Refusal::deserialize(NullAsZero(serde_yaml::Deserializer::from_slice(text))).ok()?,
    };
    let Details { name, group, kind } = refusal.details;
    if refusal.status != "Failure" || !name.is_empty() {
        return None;
    }
    let KindOf { kind, .. } = of_resource(&if group.is_empty() { kind } else { format!("{kind}.{group}") })?;
    let kind: Kind = kind.parse().ok()?;
    let why = match (refusal.reason.as_str(), refusal.code) {
        (INCOMPLETE, _) => MissingReason::Incomplete,
        (SOME_NAMESPACES, _) => MissingReason::Partial,
        (SOME_OBJECTS, _) => MissingReason::Selected,
        ("Forbidden", _) | (_, 403) => MissingReason::Refused,
        _ => MissingReason::Failed,
    };
    Some(DecodedItem::Refusal(kind, why, refusal.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_tells_the_kind_that_was_not_given() {
        let decoded = |text: &str| match decode(text.as_bytes(), Syntax::Json) {
            Some(DecodedItem::Refusal(kind, why, message)) => Some((kind, why, message)),
            _ => None,
        };
        let refused = r#"{"status":"Failure","reason":"Forbidden","message":"m","code":403,"details":{"kind":"pods"}}"#;
        assert_eq!(decoded(refused), Some((Kind::Pod, MissingReason::Refused, "m".to_owned())));
        let group = r#"{"status":"Failure","code":500,"details":{"group":"policy","kind":"poddisruptionbudgets"}}"#;
        assert_eq!(decoded(group), Some((Kind::PodDisruptionBudget, MissingReason::Failed, String::new())));
        for other in [
            r#"{"status":"Success","details":{"kind":"pods"}}"#,
            r#"{"status":"Failure","reason":"NotFound","details":{"name":"a","kind":"pods"}}"#,
            r#"{"status":"Failure","details":{"kind":"widgets"}}"#,
            r#"{"status":"Failure"}"#,
        ] {
            assert_eq!(decoded(other), None, "{other}");
        }
    }
}
