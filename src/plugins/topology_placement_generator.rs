//! TopologyPlacementGenerator: PlacementGenerate. Mirrors
//! `pkg/scheduler/framework/plugins/topologyaware/topology_placement.go`.

use std::collections::BTreeMap;

use super::helper::pod_group_not_found;
use crate::cluster::{Key, Str};
use crate::framework::{Context, Placement, PlacementGeneratePlugin, Plugin, Status};
use crate::release::Emulation;

/// Makes a placement of the nodes with each value of a group's topology key.
#[derive(Clone, Copy, Debug, Default)]
pub struct TopologyPlacementGenerator;

impl Plugin for TopologyPlacementGenerator {
    plugin!(TopologyPlacementGenerator: placement_generate);

    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<crate::framework::ClusterEventWithHint>> {
        Some(Vec::new())
    }
}

impl PlacementGeneratePlugin for TopologyPlacementGenerator {
    /// The placements come by name; kube-scheduler leaves their order to chance.
    fn generate_placements(&self, cx: &Context<'_>, group: &Key, all: Placement) -> Result<Vec<Placement>, Status> {
        let object = cx.cluster.pod_groups.get(group).ok_or_else(|| Status::error(pod_group_not_found(&group.name)))?;
        let Some(key) = object.topology_key() else { return Ok(vec![all]) };
        let required = scheduled_domain(cx, group, key)?;
        let mut domains: BTreeMap<&Str, Vec<usize>> = BTreeMap::new();
        for at in all.nodes {
            let domain = cx.snapshot.nodes().get(at).and_then(|node| node.node.metadata.labels.get(key));
            if let Some(domain) = domain.filter(|domain| required.as_ref().is_none_or(|required| required == *domain)) {
                domains.entry(domain).or_default().push(at);
            }
        }
        Ok(domains.into_iter().map(|(name, nodes)| Placement { name: name.clone(), nodes }).collect())
    }
}

/// The value of the topology key where members are already; `None` where there are none.
fn scheduled_domain(cx: &Context<'_>, group: &Key, key: &Str) -> Result<Option<Str>, Status> {
    let Some(state) = cx.snapshot.pod_groups().get(group) else {
        return Err(Status::error(format!("pod group state not found for pod group {group}")));
    };
    let undetermined = |why: String| Status::error(format!("cannot determine domain for already scheduled pods: {why}"));
    let mut found: Option<&Str> = None;
    for pod in state.scheduled() {
        let node = cx.snapshot.get(&pod.node_name).ok_or_else(|| {
            let name = pod.node_name.as_str();
            undetermined(format!("getting node for pod {}: nodeinfo not found for node name {name:?}", pod.key()))
        })?;
        let domain = node.node.metadata.labels.get(key);
        let domain = domain.ok_or_else(|| undetermined(format!("no topology domain found for pod {}", pod.key())))?;
        if let Some(other) = found.filter(|other| *other != domain && !other.is_empty()) {
            return Err(undetermined(format!("more than 1 domain found for pod group: {other}, {domain}")));
        }
        found = Some(domain);
    }
    Ok(found.cloned())
}

#[cfg(test)]
mod tests;
