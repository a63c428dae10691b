//! The page of a workload: its numbers and causes at the cursor.

use crate::analysis::{Overview, WorkloadReport, missing_clause};
use crate::cluster::Key;
use crate::cluster::neighbors::About;
use crate::output::Document;
use crate::report::workload_document;
use crate::session::Session;
use crate::workload::{WorkloadInput, kind_named, owners, subject, subject_named, voices_of_workload};

/// Returns the workload that words name as `KIND/NAME`, `NAME`, either after `NAMESPACE/`, or `KIND/NAMESPACE/NAME` as what-ifs
/// write it; without words, the topmost owner
/// of a pod. Without a namespace, that of the pod is tried first, then all.
pub(super) fn named(session: &Session, words: &str, pod: Option<&Key>) -> Option<About> {
    let (cluster, neighbors) = (&session.timeline().keyframe().cluster, &session.background().neighbors);
    if words.is_empty() {
        return owners(cluster, neighbors, cluster.pods.get(pod?)?).pop();
    }
    let find = |key: &Key, kind: Option<&str>| match kind {
        Some(kind) => subject(cluster, neighbors, kind, key).ok(),
        None => subject_named(cluster, neighbors, key).ok(),
    };
    let parts: Vec<&str> = words.split('/').collect();
    match parts[..] {
        [kind, namespace, name] if kind_named(kind).is_some() => find(&Key::new(namespace, name), Some(kind)),
        [namespace, kind, name] => find(&Key::new(namespace, name), Some(kind)),
        [kind, name] => in_any_namespace(session, pod, |namespace| find(&Key::new(namespace, name), Some(kind)))
            .or_else(|| find(&Key::new(kind, name), None)),
        [name] => in_any_namespace(session, pod, |namespace| find(&Key::new(namespace, name), None)),
        _ => None,
    }
}

/// Returns why the source may lack workloads, as the end of a sentence; empty where it has all or does not say.
pub(super) fn unknown(session: &Session) -> String {
    let mut withheld = session.background().neighbors.withheld();
    let first = withheld.find(|(kind, _)| kind.is_owner() && kind.is_built_in());
    first.map_or_else(String::new, |(kind, why)| format!("; {}", missing_clause(&kind.plural(), why)))
}

/// Tries the namespace of a pod, then all that have pods or workloads.
fn in_any_namespace(session: &Session, pod: Option<&Key>, find: impl Fn(&str) -> Option<About>) -> Option<About> {
    let own = pod.and_then(|pod| find(&pod.namespace));
    own.or_else(|| {
        let (cluster, neighbors) = (&session.timeline().keyframe().cluster, &session.background().neighbors);
        let of_pods = cluster.pods.iter().map(|pod| pod.metadata.namespace.clone());
        let namespaces: std::collections::BTreeSet<_> = of_pods.chain(neighbors.namespaces()).collect();
        namespaces.iter().find_map(|namespace| find(namespace))
    })
}

pub(super) fn page(session: &Session, workload: &About, overview: Option<&Overview>) -> Document {
    let timeline = session.timeline();
    let (cluster, neighbors) = (&timeline.keyframe().cluster, &session.background().neighbors);
    let input = WorkloadInput::new(cluster, neighbors);
    let found = input.findings(workload);
    let (pods, causes) = overview.map_or_else(Default::default, |overview| overview.among(&found.unscheduled));
    let is_ours = |name: &str| session.scheduler_here().state().config().profile(name).is_some();
    let others = voices_of_workload(&input, workload, &found.unscheduled, is_ours);
    workload_document(&WorkloadReport::new(&found, (&pods, &causes), &others, session.scheduler_here(), Some(timeline.clock())))
}
