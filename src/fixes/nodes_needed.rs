//! The smallest number of new nodes of an existing shape that takes all of some pods.

use std::sync::Arc;

use super::change::Change;
use super::cluster::another;
use super::shared::freed;
use crate::cluster::{Cluster, Controller, Key, Node, Pod, Str};
use crate::framework::{PodResourcesOptions, pod_requests};
use crate::scheduler::Scheduler;

/// New nodes that take some pods.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct NodesNeeded {
    /// Name of the node that they are like.
    pub like: Str,
    /// Their number.
    pub count: usize,
}

/// Numbers around an estimate that are tried.
const TRIED: usize = 3;

/// Returns the smallest number of nodes like one of these that takes all pods, placed one after another, with the first shape among
/// equals; `None` if none does. Calls `go_on` before each pod.
pub fn nodes_needed(scheduler: &Scheduler, pods: &[Key], likes: &[Str], go_on: &dyn Fn() -> bool) -> Option<NodesNeeded> {
    let cluster = scheduler.state().cluster();
    let waiting: Vec<&Arc<Pod>> = pods.iter().filter_map(|key| cluster.pods.get(key)).collect();
    let first = *waiting.first()?;
    let mut best: Option<NodesNeeded> = None;
    for like in likes {
        let Some(node) = cluster.nodes.named(like) else { continue };
        let Some(estimate) = estimate(scheduler, node, &waiting) else { continue };
        if best.as_ref().is_some_and(|best| best.count <= estimate) {
            continue;
        }
        let suffices = |count: usize| freed(scheduler, first, &changes(scheduler, node, count), pods, go_on).len() == waiting.len();
        let Some(mut count) = (estimate..estimate + TRIED).find(|count| suffices(*count)) else { continue };
        // Room on nodes that there are may save some.
        while count <= estimate && count > 1 && suffices(count - 1) {
            count -= 1;
        }
        if go_on() && best.as_ref().is_none_or(|best| count < best.count) {
            best = Some(NodesNeeded { like: like.clone(), count });
        }
    }
    best
}

/// Returns the changes that add nodes.
fn changes(scheduler: &Scheduler, like: &Node, count: usize) -> Vec<Change> {
    let snapshot = scheduler.state().snapshot();
    let mut cluster: Cluster = scheduler.state().cluster().clone();
    let mut changes = Vec::new();
    for _ in 0..count {
        for object in another(&cluster, &snapshot, like) {
            cluster.insert(object.clone());
            changes.push(Change::Create { object, like: Some(like.name().clone()) });
        }
    }
    changes
}

/// Returns how many nodes hold the requests of the pods, each put on the first node with room for it; `None` where one does not fit
/// on an empty node.
fn estimate(scheduler: &Scheduler, like: &Node, pods: &[&Arc<Pod>]) -> Option<usize> {
    let names: Vec<&Str> = like.status.allocatable.iter().map(|(name, _)| name).collect();
    let asks = |pod: &Pod| -> Vec<i128> {
        let requests = pod_requests(pod, PodResourcesOptions::default());
        let one = |name: &Str| if name == "pods" { 1_000_000_000 } else { requests.get(name).map_or(0, |amount| amount.nanos()) };
        names.iter().map(|name| one(name)).collect()
    };
    let mut room: Vec<i128> = like.status.allocatable.iter().map(|(_, amount)| amount.nanos()).collect();
    let snapshot = scheduler.state().snapshot();
    let daemons = snapshot.get(like.name()).into_iter().flat_map(|info| &info.pods);
    for daemon in daemons.filter(|pod| Controller::of(&pod.pod) == Controller::DaemonSet) {
        room.iter_mut().zip(asks(&daemon.pod)).for_each(|(room, asked)| *room -= asked);
    }
    let mut nodes: Vec<Vec<i128>> = Vec::new();
    for pod in pods {
        let asked = asks(pod);
        let fits = |room: &[i128]| room.iter().zip(&asked).all(|(room, asked)| *asked == 0 || room >= asked);
        if !fits(&room) {
            return None;
        }
        let at = nodes.iter().position(|node| fits(node)).unwrap_or_else(|| {
            nodes.push(room.clone());
            nodes.len() - 1
        });
        nodes[at].iter_mut().zip(&asked).for_each(|(room, asked)| *room -= asked);
    }
    Some(nodes.len().max(1))
}
