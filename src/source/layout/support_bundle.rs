//! Replicated's troubleshoot support bundle: `cluster-resources/<resource>.json`,
//! `cluster-resources/<resource>/<namespace>.json`, and for each a `<...>-errors.json` with the errors of collecting it.
//!
//! Items of old bundles have no kind, and `namespaces.json` may be a bare array. See `pkg/collect/cluster_resources.go`
//! in replicatedhq/troubleshoot.

use super::{Fact, Layout, Parts, Role, fact, named, named_in, objects, of_resource, skip};

const LAYOUT: Layout = Layout::SupportBundle;

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    if let [.., "cluster-info", "cluster_version.json"] = path.all {
        return fact(LAYOUT, Fact::ServerVersion);
    }
    let below = path.below("cluster-resources")?;
    match below {
        _ if path.stem.ends_with("-errors") => {
            let kind = path.stem.strip_suffix("-errors").and_then(of_resource);
            fact(LAYOUT, Fact::Errors(kind))
        }
        ["pods", "logs", ..] | ["auth-cani-list", ..] => skip(LAYOUT),
        // Links to the JSON files, or copies of them.
        _ if !path.is_json() => skip(LAYOUT),
        ["groups.json" | "resources.json"] => skip(LAYOUT),
        [_] => objects(LAYOUT, 10, named(path.stem, 0)),
        [resource, _] => objects(LAYOUT, 10, named_in(path.stem, resource, 0)),
        _ => None,
    }
}
