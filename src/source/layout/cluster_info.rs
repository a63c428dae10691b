//! `kubectl cluster-info dump`: `nodes.json` and `<namespace>/<resource>.json`, lists whose items have no kind, and
//! `<namespace>/<pod>/logs.txt`. Without `--output-directory` the same lists follow one another in one text, with logs
//! between them; the splitters skip those.
//!
//! See `staging/src/k8s.io/kubectl/pkg/cmd/clusterinfo/clusterinfo_dump.go`. The extension is that of the output format:
//! json, yaml, or else txt.

use super::{Layout, Parts, Role, Signs, named, named_in, objects, skip};

/// The lists of a namespace. Only this tool spells the first one like this.
const LISTS: [&str; 7] = ["replication-controllers", "events", "services", "daemonsets", "deployments", "replicasets", "pods"];

pub(super) fn role(path: &Parts<'_>) -> Option<Role> {
    match path.all {
        [.., _, _, "logs.txt"] => skip(Layout::ClusterInfo),
        _ if !matches!(path.ending, "json" | "yaml" | "txt") => None,
        [.., namespace, _] if LISTS.contains(&path.stem) => {
            let weight = if path.stem == LISTS[0] { 10 } else { 1 };
            objects(Layout::ClusterInfo, weight, named_in(namespace, path.stem, 0))
        }
        [.., _] if path.stem == "nodes" => objects(Layout::ClusterInfo, 1, named("nodes", 0)),
        _ => None,
    }
}

pub(super) fn sign(signs: Signs) -> Option<Layout> {
    signs.form.logs.then_some(Layout::ClusterInfo)
}
