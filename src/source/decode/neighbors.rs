//! Decodes the objects and events that scheduling does not read, beside the items that it does.

use serde_json::Deserializer as Json;

use super::events::{RawEvent, Times};
use super::null_as_zero::NullAsZero;
use crate::cluster::MissingReason;
use crate::cluster::neighbors::{Neighbor, NeighborKind, OtherEvent};
use crate::source::layout::Hint;
use crate::source::read::split::Syntax;

/// A part of a text that explains missing pods, whatever scheduling reads of it.
#[derive(Debug)]
pub(in crate::source) enum DecodedNeighbor {
    /// An object.
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
    if object.metadata.name.is_empty() {
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
mod tests {
    use crate::cluster::Key;
    use crate::cluster::neighbors::NeighborKind;
    use crate::source::{Input, load};

    const WEB: &str = r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web"},"spec":{"replicas":3,"paused":null}}"#;

    fn read(text: &str) -> crate::source::Loaded {
        load(&[Input::Bytes { name: "test".into(), bytes: text.as_bytes().to_vec().into() }])
    }

    #[test]
    fn objects_are_read_in_json_and_yaml_and_stay_counted_as_not_read_by_scheduling() {
        let yaml = serde_yaml::to_string(&serde_json::from_str::<serde_json::Value>(WEB).unwrap()).unwrap();
        for text in [WEB.to_owned(), format!(r#"{{"kind":"List","apiVersion":"v1","items":[{WEB}]}}"#), yaml] {
            let loaded = read(&text);
            let web = loaded.neighbors.get(NeighborKind::Deployment, &Key::new("default", "web")).unwrap();
            assert_eq!(web.facts().unwrap().spec.replicas, Some(3), "{text}");
            assert_eq!(loaded.report.other_kinds.get("Deployment"), Some(&1), "{text}");
        }
    }

    #[test]
    fn a_replica_set_is_read_for_scheduling_and_as_a_workload() {
        let loaded = read(&WEB.replace("Deployment", "ReplicaSet"));
        assert_eq!((loaded.objects.len(), loaded.neighbors.of_kind(NeighborKind::ReplicaSet).count()), (1, 1));
    }

    #[test]
    fn an_empty_list_shows_that_there_are_none() {
        let loaded = read(&format!(r#"{WEB}{{"kind":"ResourceQuotaList","apiVersion":"v1","items":[]}}"#));
        assert!(loaded.neighbors.knows(NeighborKind::ResourceQuota) && !loaded.neighbors.knows(NeighborKind::LimitRange));
    }

    #[test]
    fn what_cannot_be_read_leaves_its_kind_unknown() {
        let loaded = read(&WEB.replace('3', r#""three""#));
        assert!(!loaded.neighbors.knows(NeighborKind::Deployment));
        let other = read(&WEB.replace("apps/v1", "example.com/v1"));
        assert!(!other.neighbors.knows(NeighborKind::Deployment));
    }

    #[test]
    fn events_are_kept_by_speaker() {
        let event = |component: &str, kind: &str, reason: &str| {
            format!(
                r#"{{"kind":"Event","apiVersion":"v1","metadata":{{"name":"{component}.{reason}","namespace":"shop"}},"involvedObject":{{"kind":"{kind}",
                "name":"web","namespace":"shop"}},"reason":"{reason}","message":"m","type":"Warning","count":2,"source":{{"component":"{component}"}}}}"#
            )
        };
        let text = [
            event("cluster-autoscaler", "Pod", "NotTriggerScaleUp"),
            event("replicaset-controller", "ReplicaSet", "FailedCreate"),
            event("karpenter", "Pod", "FailedScheduling"),
            event("default-scheduler", "Pod", "FailedScheduling"),
            event("kubelet", "Pod", "BackOff"),
            event("cluster-autoscaler", "Pod", ""),
        ];
        let loaded = read(&text.concat());
        let kept: Vec<String> = loaded.neighbors.events.iter().map(|e| format!("{} {} {}", e.speaker, e.about, e.reason)).collect();
        let expected = [
            "cluster-autoscaler pod/web NotTriggerScaleUp",
            "replicaset-controller replicaset/web FailedCreate",
            "karpenter pod/web FailedScheduling",
            "cluster-autoscaler pod/web ",
        ];
        assert_eq!(kept, expected);
        assert_eq!(loaded.events.len(), 2, "schedulers' events about pods are kept as before");
    }
}
