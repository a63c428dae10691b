//! Velero: `resources/<resource.group>/{cluster|namespaces/<namespace>}/<name>.json`, one object per file, and copies in
//! each version that the server offers. The copy in `<version>-preferredversion` equals the one without a version.
//!
//! See `site/content/docs/main/output-file-format.md` in vmware-tanzu/velero.

use super::{Layout, Parts, Role, named, named_in, objects};

const LAYOUT: Layout = Layout::Velero;

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    let below = path.below("resources")?;
    if !path.is_json() {
        return None;
    }
    let (resource, rest) = below.split_first()?;
    let (version, inner) = match rest {
        ["cluster", _] | ["namespaces", _, _] => (None, rest),
        [version, inner @ ..] => (Some(*version), inner),
        [] => return None,
    };
    let rank = match version {
        None => 2,
        Some(version) if version.ends_with("-preferredversion") => 1,
        Some(_) => 0,
    };
    match inner {
        ["cluster", _] => objects(LAYOUT, 10, named(resource, rank)),
        ["namespaces", namespace, _] => objects(LAYOUT, 10, named_in(namespace, resource, rank)),
        _ => None,
    }
}
