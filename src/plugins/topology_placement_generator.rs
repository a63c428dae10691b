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
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cluster::{Cluster, Object, Pod};
    use crate::framework::{NodeInfo, PodGroupStates, Snapshot};

    /// The placements of a group, and the nodes of each, with members on these nodes already.
    #[track_caller]
    fn check(constraint: &str, on: &[&str], expected: Result<&[(&str, &[usize])], &str>) {
        let group = format!(r#"{{"kind":"PodGroup","metadata":{{"name":"g","namespace":"d"}},"spec":{{{constraint}}}}}"#);
        let cluster: Cluster = [serde_json::from_str::<Object>(&group).unwrap()].into_iter().collect();
        let node = |(name, zone): (&str, &str)| {
            let labels = if zone.is_empty() { String::new() } else { format!(r#""zone":"{zone}""#) };
            NodeInfo::new(Arc::new(serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","labels":{{{labels}}}}}}}"#)).unwrap()))
        };
        let nodes = [("n0", "b"), ("n1", "a"), ("n2", ""), ("n3", "b")].map(node);
        let mut states = PodGroupStates::default();
        for (i, node) in on.iter().chain(&[""]).enumerate() {
            let text = format!(
                r#"{{"metadata":{{"name":"p{i}","namespace":"d"}},"spec":{{"nodeName":"{node}","schedulingGroup":{{"podGroupName":"g"}}}}}}"#
            );
            states.add(&Arc::new(serde_json::from_str::<Pod>(&text).unwrap()));
        }
        let snapshot = Snapshot::of(nodes).with_pod_groups(states);
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH };
        let all = Placement { name: Str::default(), nodes: (0..4).collect() };
        let found = TopologyPlacementGenerator.generate_placements(&cx, &Key::new("d", "g"), all);
        let found = found.map_err(|status| status.message());
        let placement = |(name, nodes): &(&str, &[usize])| Placement { name: (*name).into(), nodes: nodes.to_vec() };
        assert_eq!(found, expected.map(|all| all.iter().map(placement).collect()).map_err(str::to_owned));
    }

    #[test]
    fn each_value_of_the_key_is_a_placement() {
        let zone = r#""schedulingConstraints":{"topology":[{"key":"zone"}]}"#;
        check("", &[], Ok(&[("", &[0, 1, 2, 3])]));
        check(r#""schedulingConstraints":{}"#, &[], Ok(&[("", &[0, 1, 2, 3])]));
        check(zone, &[], Ok(&[("a", &[1]), ("b", &[0, 3])]));
        check(zone, &["n3", "n0"], Ok(&[("b", &[0, 3])]));
        check(r#""schedulingConstraints":{"topology":[{"key":"rack"}]}"#, &[], Ok(&[]));
        let why = "cannot determine domain for already scheduled pods: ";
        check(zone, &["n0", "n1"], Err(&format!("{why}more than 1 domain found for pod group: b, a")));
        check(zone, &["n2"], Err(&format!("{why}no topology domain found for pod d/p0")));
        check(zone, &["gone"], Err(&format!("{why}getting node for pod d/p0: nodeinfo not found for node name \"gone\"")));
    }
}
