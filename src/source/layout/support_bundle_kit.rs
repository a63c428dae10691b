//! The support bundles of Rancher, Harvester and Longhorn: `yamls/cluster/<group version>/<resource>.yaml` and
//! `yamls/namespaced/<namespace>/<group version>/<resource>.yaml`, where older ones have `kubernetes` as the group.
//!
//! See `pkg/manager/cluster.go` in rancher/support-bundle-kit.

use super::{Fact, Layout, Parts, Role, fact, named, named_in, objects, skip};

const LAYOUT: Layout = Layout::SupportBundleKit;

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    match path.file() {
        "metadata.yaml" => return fact(LAYOUT, Fact::ServerVersion),
        "bundleGenerationError.log" => return skip(LAYOUT),
        _ => {}
    }
    match path.below("yamls")? {
        _ if !path.is_yaml() => skip(LAYOUT),
        ["cluster", .., _] => objects(LAYOUT, 10, named(path.stem, 0)),
        ["namespaced", namespace, .., _] => objects(LAYOUT, 10, named_in(namespace, path.stem, 0)),
        _ => None,
    }
}
