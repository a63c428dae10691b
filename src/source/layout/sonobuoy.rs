//! Sonobuoy: `resources/cluster/<group>_<version>_<resource>.json` and `resources/ns/<namespace>/...`; older snapshots
//! have `Nodes.json` and `Pods.json` there.
//!
//! See `pkg/discovery/query.go` in vmware-tanzu/sonobuoy.

use super::{Fact, Layout, Parts, Role, fact, named, named_in, objects, skip};

const LAYOUT: Layout = Layout::Sonobuoy;

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    match path.all {
        [.., "serverversion.json"] => return fact(LAYOUT, Fact::ServerVersion),
        [.., "servergroups.json"] | [.., "meta", "config.json"] => return skip(LAYOUT),
        ["podlogs", ..] | [_, "podlogs", ..] => return skip(LAYOUT),
        _ => {}
    }
    let below = path.below("resources")?;
    if !path.is_json() {
        return None;
    }
    let resource = path.stem.rsplit('_').next().unwrap_or(path.stem);
    match below {
        ["cluster", _] => objects(LAYOUT, 10, named(resource, 0)),
        ["ns", namespace, _] => objects(LAYOUT, 10, named_in(namespace, resource, 0)),
        _ => None,
    }
}
