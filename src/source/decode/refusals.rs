//! Decodes an API server's refusal to list a kind: a `Status` with the resource in its details, as left by
//! `kubectl get --raw` and as written by captures.

use serde::Deserialize;
use strum::IntoEnumIterator as _;

use super::neighbors::DecodedNeighbor;
use super::null_as_zero::NullAsZero;
use super::{DecodeError, DecodedItem, read_json};
use crate::cluster::MissingReason;
use crate::cluster::neighbors::NeighborKind;
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

/// Returns the kind that was refused, or an error where the status does not say which; `None` for any other status.
pub(in crate::source) fn decode(text: &[u8], syntax: Syntax) -> Option<DecodedItem> {
    let refused = refused(text, syntax)?;
    if refused.kind.is_empty() {
        return Some(DecodeError::new(&format!("an error of the API server in place of objects: {}", refused.message)).into());
    }
    let KindOf { kind, .. } = of_resource(&refused.resource())?;
    Some(DecodedItem::Refusal(kind.parse().ok()?, refused.why, refused.message))
}

/// Returns the kind that scheduling does not read that was refused, or events about other objects than pods; `None` for any other
/// status.
pub(in crate::source) fn decode_neighbor(text: &[u8], syntax: Syntax) -> Option<DecodedNeighbor> {
    let refused = refused(text, syntax)?;
    if refused.group.is_empty() && refused.kind == "events" {
        return Some(DecodedNeighbor::Withheld(None, refused.why));
    }
    let kind = NeighborKind::iter().find(|kind| kind.resource() == refused.kind && kind.groups().contains(&refused.group.as_str()))?;
    Some(DecodedNeighbor::Withheld(Some(kind), refused.why))
}

/// A list that was refused.
struct Refused {
    group: String,
    /// The resource, in the plural.
    kind: String,
    why: MissingReason,
    message: String,
}

impl Refused {
    fn resource(&self) -> String {
        if self.group.is_empty() { self.kind.clone() } else { format!("{}.{}", self.kind, self.group) }
    }
}

fn refused(text: &[u8], syntax: Syntax) -> Option<Refused> {
    let refusal: Refusal = match syntax {
        Syntax::Json => read_json(text, |d| Refusal::deserialize(d)).ok()?,
        Syntax::Yaml => Refusal::deserialize(NullAsZero(serde_yaml::Deserializer::from_slice(text))).ok()?,
    };
    let Details { name, group, kind } = refusal.details;
    // There is no such object, or no such kind.
    let is_absent = refusal.reason == "NotFound" && (kind.is_empty() || !name.is_empty());
    if refusal.status != "Failure" || is_absent {
        return None;
    }
    let why = match (refusal.reason.as_str(), refusal.code) {
        _ if !name.is_empty() => MissingReason::Incomplete,
        (INCOMPLETE, _) => MissingReason::Incomplete,
        (SOME_NAMESPACES, _) => MissingReason::Partial,
        (SOME_OBJECTS, _) => MissingReason::Selected,
        ("Forbidden", _) | (_, 403) => MissingReason::Refused,
        _ => MissingReason::Failed,
    };
    Some(Refused { group, kind, why, message: refusal.message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Kind;

    #[test]
    fn a_status_tells_the_workloads_that_were_not_given() {
        let decoded = |group: &str, kind: &str| {
            let text = format!(r#"{{"status":"Failure","reason":"Forbidden","code":403,"details":{{"group":"{group}","kind":"{kind}"}}}}"#);
            match decode_neighbor(text.as_bytes(), Syntax::Json) {
                Some(DecodedNeighbor::Withheld(kind, why)) => format!("{} {why:?}", kind.map_or("Event", Into::into)),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(decoded("apps", "deployments"), "Deployment Refused");
        assert_eq!(decoded("", "events"), "Event Refused");
        assert_eq!(decoded("example.com", "deployments"), "None");
        assert_eq!(decoded("", "pods"), "None");
    }

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
            r#"{"status":"Failure","reason":"NotFound","details":{}}"#,
        ] {
            assert_eq!(decoded(other), None, "{other}");
        }
        let of_one = r#"{"status":"Failure","reason":"Forbidden","message":"m","details":{"name":"a","kind":"pods"}}"#;
        assert_eq!(decoded(of_one), Some((Kind::Pod, MissingReason::Incomplete, "m".to_owned())));
        let text = br#"{"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#;
        let Some(DecodedItem::Error(found)) = decode(text, Syntax::Json) else { panic!("no error") };
        assert_eq!(found.message, "an error of the API server in place of objects: Unauthorized");
    }
}
