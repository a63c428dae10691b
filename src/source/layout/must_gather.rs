//! `oc adm must-gather` and `oc adm inspect`: `cluster-scoped-resources/<group>/<resource>.yaml` (or one file per
//! object in a directory of that name) and `namespaces/<namespace>/<group>/<resource>.yaml`, below one or several
//! directories named after images.
//!
//! Lists may be empty if pods were collected one by one: `namespaces/<namespace>/pods/<pod>/<pod>.yaml`. Both are read,
//! and the list takes precedence. See `pkg/cli/admin/inspect` in openshift/oc.

use super::{Fact, Hint, Layout, Parts, Role, fact, named, named_in, objects, skip};

const LAYOUT: Layout = Layout::MustGather;

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    match path.all {
        [.., "timestamp"] => return fact(LAYOUT, Fact::Time),
        // The version of the product, not of Kubernetes.
        [.., "version"] => return skip(LAYOUT),
        _ if path.below("audit_logs").or_else(|| path.below("host_service_logs")).is_some() => return skip(LAYOUT),
        _ => {}
    }
    if let Some(below) = path.below("cluster-scoped-resources") {
        return match below {
            _ if !path.is_yaml() => skip(LAYOUT),
            [_, _] => objects(LAYOUT, 10, named(path.stem, 1)),
            [_, resource, _] => objects(LAYOUT, 10, named(resource, 0)),
            _ => None,
        };
    }
    let below = path.below("namespaces")?;
    match below {
        [_, "pods", _, _, ..] if !path.is_yaml() => skip(LAYOUT),
        _ if !path.is_yaml() => None,
        [namespace, _] if *namespace == path.stem => objects(LAYOUT, 3, named("namespaces", 1)),
        [namespace, "pods", pod, _] if *pod == path.stem => objects(LAYOUT, 3, named_in(namespace, "pods", 0)),
        [namespace, _, _] => objects(LAYOUT, 3, named_in(namespace, path.stem, 1)),
        [namespace, _, resource, _] => {
            objects(LAYOUT, 3, Hint { kind: super::kinds::of_resource(resource), ..named_in(namespace, resource, 0) })
        }
        _ => None,
    }
}
