//! Crash Diagnostics: `<group>_<version>/<namespace>/<resource>-<time>.json` as lists, or
//! `.../<resource>/<name>-<time>.json` as single objects; `core` is the group without a name.
//!
//! See `k8s/object_writer.go` in vmware-tanzu/crash-diagnostics.

use super::{Hint, Layout, Parts, Role, kinds, objects};

const LAYOUT: Layout = Layout::Crashd;

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    if !path.is_json() && !path.is_yaml() {
        return None;
    }
    let directories = &path.all[..path.all.len() - 1];
    let at = directories.iter().rposition(|part| is_group_version(part))?;
    // `pods-20260101-1200`: the resource ends at the first dash.
    let of_stem = || kinds::of_resource(path.stem.split('-').next().unwrap_or_default());
    let below = &directories[at + 1..];
    let kind = below.last().and_then(|directory| kinds::of_resource(directory)).or_else(of_stem);
    objects(LAYOUT, 10, Hint { kind, certain: true, namespace: None, rank: 0 })
}

/// Returns whether a directory is named like `core_v1` or `policy_v1beta1`.
fn is_group_version(part: &str) -> bool {
    let Some((group, version)) = part.rsplit_once('_') else { return false };
    let version = version.strip_prefix('v').unwrap_or_default();
    !group.is_empty()
        && group.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-'))
        && version.starts_with(|c: char| c.is_ascii_digit())
}
