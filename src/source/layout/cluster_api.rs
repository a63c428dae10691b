//! Artifacts of Cluster API's end-to-end tests: `<namespace>/<Kind>/<name>.yaml`, one object per file.
//!
//! See `test/framework/alltypes_helpers.go` in kubernetes-sigs/cluster-api.

use super::{Hint, Layout, Parts, Role, objects};

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    match path.all {
        [.., namespace, kind, _] if path.is_yaml() && is_kind(kind) => {
            let hint = Hint { namespace: Some((*namespace).to_owned()), ..Hint::default() };
            objects(Layout::ClusterApi, 5, hint)
        }
        _ => None,
    }
}

/// Returns whether a directory is named after a kind: `MachineDeployment`.
fn is_kind(part: &str) -> bool {
    part.len() > 2
        && part.starts_with(|c: char| c.is_ascii_uppercase())
        && part.bytes().all(|b| b.is_ascii_alphanumeric())
        && part.bytes().any(|b| b.is_ascii_lowercase())
}
