//! The archive of OpenShift's Insights operator: `config/node/<node>.json`, `config/pod/<namespace>/<pod>.json` and
//! similar, objects without a kind; abridged events, `events/<namespace>.json`; and logs.
//!
//! See `docs/gathered-data.md` and `pkg/gatherers/clusterconfig` in openshift/insights-operator.

use super::{Layout, Parts, Role, named, named_in, objects, skip};

const LAYOUT: Layout = Layout::Insights;

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    if let [.., "insights-operator", "gathers.json"] = path.all {
        return Some(Role { weight: 10, ..skip(LAYOUT)? });
    }
    if let Some(below) = path.below("config") {
        return match below {
            ["node" | "pod", .., "logs", _] | ["pod", _, "logs", _, _] => skip(LAYOUT),
            _ if !path.is_json() => None,
            ["node", _] => objects(LAYOUT, 3, named("nodes", 0)),
            ["pod", namespace, _] => objects(LAYOUT, 3, named_in(namespace, "pods", 0)),
            ["pdbs", namespace, _] => objects(LAYOUT, 3, named_in(namespace, "poddisruptionbudgets", 0)),
            ["persistentvolumes", _] => objects(LAYOUT, 3, named("persistentvolumes", 0)),
            ["storage", "storageclasses", _] => objects(LAYOUT, 3, named("storageclasses", 0)),
            _ => None,
        };
    }
    // Pods collected because of an alert are in the directory of their logs.
    if let Some([namespace, "pods", pod, _]) = path.below("namespaces")
        && path.is_json()
        && *pod == path.stem
    {
        return objects(LAYOUT, 1, named_in(namespace, "pods", 0));
    }
    match path.all {
        [.., "events", _] if path.is_json() => objects(LAYOUT, 0, named_in(path.stem, "events", 0)),
        _ => None,
    }
}
