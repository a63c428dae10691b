//! Turns several dumps of one cluster, taken at different times, into the changes between them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::cluster::{Cluster, Key, Kind, Object, ObservedEvent, Pod, Str, Uid};
use crate::scheduler::Operation;

/// Returns whether two states are of one cluster: their `kube-system` namespaces have the same uid. Where a uid is
/// missing, at least half of the nodes of the smaller state must be shared, by uid.
pub fn is_same_cluster(one: &Cluster, other: &Cluster) -> bool {
    let system = |cluster: &Cluster| cluster.namespaces.named(&"kube-system".into()).map(|n| n.metadata.uid.clone());
    if let (Some(a), Some(b)) = (system(one), system(other))
        && !a.is_empty()
        && !b.is_empty()
    {
        return a == b;
    }
    let nodes = |cluster: &Cluster| -> BTreeSet<Uid> {
        cluster.nodes.iter().map(|n| n.metadata.uid.clone()).filter(|uid| !uid.is_empty()).collect()
    };
    let (a, b) = (nodes(one), nodes(other));
    let shared = a.intersection(&b).count();
    shared > 0 && shared * 2 >= a.len().min(b.len())
}

/// Returns the order in time of dumps of one cluster, as positions, if each was taken after the one before: its newest time is later,
/// or an object of both differs. Of equal times, that with the newest resourceVersion is the later one, and else the later argument.
/// `None` if two are of different clusters, or may be parts of one state.
pub fn in_order_of_time(dumps: &[(&Cluster, Option<Timestamp>)]) -> Option<Vec<usize>> {
    let newest_version = |cluster: &Cluster| cluster.objects().filter_map(|object| object.meta().resource_version.number()).max();
    let mut order: Vec<usize> = (0..dumps.len()).collect();
    order.sort_by_cached_key(|at| (dumps[*at].1, newest_version(dumps[*at].0)));
    let follows = |pair: &[usize]| {
        let [(one, before), (other, after)] = [dumps[pair[0]], dumps[pair[1]]];
        is_same_cluster(one, other) && (before < after || differ(one, other))
    };
    order.windows(2).all(follows).then_some(order)
}

/// Returns whether an object that both states have is not the same in them.
fn differ(one: &Cluster, other: &Cluster) -> bool {
    one.objects()
        .any(|object| other.get(object.kind(), &object.key()).is_some_and(|now| now.meta().uid == object.meta().uid && now != object))
}

/// Returns the changes between two dumps as one batch at the time of the later dump; `None` without changes. Deletions
/// come first, then creations and updates by resourceVersion, where that is a number. A kind without objects in the
/// later dump counts as not dumped, and its objects stay.
pub fn changes(from: &Cluster, to: &Cluster, events: &[ObservedEvent], name: &str, time: Timestamp) -> Option<Operation> {
    let mut gone = Vec::new();
    let mut came: Vec<(Option<u64>, Kind, Key, Operation)> = Vec::new();
    for object in from.objects().filter(|o| to.count(o.kind()) > 0) {
        let now = to.get(object.kind(), &object.key());
        if now.is_none_or(|now| now.meta().uid != object.meta().uid) {
            gone.push(Operation::Delete { object });
        }
    }
    for object in to.objects() {
        let (kind, key) = (object.kind(), object.key());
        let before: Option<Object> = from.get(kind, &key).filter(|old| old.meta().uid == object.meta().uid);
        let version = object.meta().resource_version.number();
        match before {
            Some(before) if before == object => {}
            Some(_) => came.push((version, kind, key, Operation::Update { object })),
            None => came.push((version, kind, key, Operation::Create { object })),
        }
    }
    if gone.is_empty() && came.is_empty() && from.unknown == to.unknown {
        return None;
    }
    came.sort_by(|a, b| (a.0, a.1, &a.2).cmp(&(b.0, b.1, &b.2)));
    let mut operations = vec![Operation::Observe { time, pods: Vec::new(), events: Vec::new(), unknown: None }];
    operations.extend(gone);
    operations.extend(came.into_iter().map(|(.., operation)| operation));
    // A kind that one dump has stays known.
    let unknown = from.unknown.and(to.unknown);
    let unknown = (unknown != from.unknown).then_some(unknown);
    operations.push(Operation::Observe { time, pods: newly_reported(from, to, events), events: events.to_vec(), unknown });
    Some(Operation::Batch { name: name.to_owned(), operations })
}

/// Returns the pending pods for which a scheduler has written an event, a condition or a nomination since.
fn newly_reported(from: &Cluster, to: &Cluster, events: &[ObservedEvent]) -> Vec<Key> {
    let mut events_by_pod: BTreeMap<&Key, Vec<&ObservedEvent>> = BTreeMap::new();
    for event in events.iter().filter(|e| e.reason == "FailedScheduling") {
        events_by_pod.entry(&event.pod).or_default().push(event);
    }
    let has_event = |pod: &Pod| events_by_pod.get(&pod.key()).is_some_and(|events| events.iter().any(|event| event.is_about(pod)));
    let pending = to.pods.iter().filter(|p| p.node_name.is_empty());
    let newly_reported = pending.filter(|p| has_event(p) || has_new_report(from.pods.get(&p.key()).map(|p| &**p), p));
    newly_reported.map(|p| p.key()).collect()
}

/// Returns whether a scheduler has written about a pod: its `PodScheduled` condition or its nominated node changed.
pub fn has_new_report(before: Option<&Pod>, now: &Pod) -> bool {
    let word = |pod: &Pod| (pod.condition("PodScheduled").cloned(), pod.status.nominated_node_name.clone());
    match before {
        Some(before) => word(before) != word(now),
        None => word(now) != (None, Str::default()),
    }
}

#[cfg(test)]
mod tests;
