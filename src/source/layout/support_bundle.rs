//! Replicated's troubleshoot support bundle: `cluster-resources/<resource>.json`,
//! `cluster-resources/<resource>/<namespace>.json`, and beside each `<...>-errors.json` with what could not be had.
//!
//! Items of old bundles tell no kind, and `namespaces.json` may be a bare array. See `pkg/collect/cluster_resources.go`
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
        // Links to the JSON files beside them, or copies.
        _ if !path.is_json() => skip(LAYOUT),
        ["groups.json" | "resources.json"] => skip(LAYOUT),
        [_] => objects(LAYOUT, 10, named(path.stem, 0)),
        [resource, _] => objects(LAYOUT, 10, named_in(path.stem, resource, 0)),
        _ => None,
    }
}
