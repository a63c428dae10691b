//! The nodes in walking order, each with a slot that stays the same when others are added or removed. Replaces
//! `nodeInfoMap` and `nodeInfoList` in `pkg/scheduler/backend/cache/snapshot.go`.

use std::sync::{Arc, OnceLock};

use imbl::HashMap;

use super::topology::Topologies;
use super::{NodeInfo, Nodes, Topology};
use crate::cluster::{Node, Str};

/// Marks a slot without a node.
const FREE: u32 = u32::MAX;

/// Nodes in walking order, found by name, position or slot.
///
/// A node's position is its index in walking order and changes as others are added or removed. Its slot stays the same
/// while the node exists, and a later node may reuse a free slot. Cloning copies a few pointers.
#[derive(Clone, Debug, Default)]
pub struct NodeList {
    nodes: Nodes,
    order: Arc<Order>,
    /// Slots by name.
    by_name: HashMap<Str, u32>,
    topologies: Topologies,
    named: Arc<Named>,
}

/// Facts of the names by position, each found when it is first asked for.
#[derive(Debug, Default)]
struct Named {
    /// The place of each position in the order of names.
    ranks: OnceLock<Arc<[u32]>>,
    names: OnceLock<Arc<[Str]>>,
    hashes: OnceLock<Arc<[u64]>>,
}

#[derive(Clone, Debug, Default)]
struct Order {
    /// Slots in walking order.
    slots: Vec<u32>,
    /// Positions by slot, [`FREE`] where no node has the slot.
    positions: Vec<u32>,
}

impl NodeList {
    /// Returns all nodes in walking order.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Returns the slots of all nodes in walking order.
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        self.order.slots.iter().map(|slot| *slot as usize)
    }

    /// Returns a node's position in walking order; `None` if no node has this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.slot(name).map(|slot| self.position_of_slot(slot))
    }

    /// Returns the position of a node whose object is the one in the list; `None` for others. It reads no names.
    #[inline]
    pub fn position_of(&self, node: &NodeInfo) -> Option<usize> {
        let position = *self.order.positions.get(node.slot())? as usize;
        self.nodes.get(position).filter(|own| Arc::ptr_eq(&own.node, &node.node)).map(|_| position)
    }

    /// Returns a node's slot; `None` if no node has this name.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).map(|slot| *slot as usize)
    }

    /// Returns the position of the node at a slot.
    pub fn position_of_slot(&self, slot: usize) -> usize {
        self.order.positions[slot] as usize
    }

    pub fn by_slot(&self, slot: usize) -> &Arc<NodeInfo> {
        &self.nodes[self.position_of_slot(slot)]
    }

    /// Returns the domains that a label makes of the nodes. They are read once for all clones.
    pub fn topology(&self, key: &Str) -> Arc<Topology> {
        self.topologies.get(&self.nodes, key)
    }

    /// Returns the place of each node in the order of names, by position. It is found once for all clones.
    pub fn name_ranks(&self) -> Arc<[u32]> {
        let find = || {
            let mut by_name: Vec<(&Str, usize)> = self.nodes.iter().map(|node| node.name()).zip(0..).collect();
            by_name.sort_unstable();
            let mut ranks = vec![0; by_name.len()];
            for (rank, (_, position)) in (0..).zip(by_name) {
                ranks[position] = rank;
            }
            ranks.into()
        };
        self.named.ranks.get_or_init(find).clone()
    }

    /// Returns the names of the nodes in walking order. They are listed once for all clones.
    pub fn names(&self) -> Arc<[Str]> {
        self.named.names.get_or_init(|| self.nodes.iter().map(|node| node.name().clone()).collect()).clone()
    }

    /// Returns [`NodeInfo::name_hash`] of the nodes in walking order, so that asking for it does not fetch the node.
    pub fn name_hashes(&self) -> Arc<[u64]> {
        self.named.hashes.get_or_init(|| self.nodes.iter().map(|node| node.name_hash()).collect()).clone()
    }

    /// Replaces the node object at a slot; the name must be the same.
    pub fn set_node(&mut self, slot: usize, node: Arc<Node>) {
        if self.by_slot(slot).node.metadata.labels != node.metadata.labels {
            self.topologies = Topologies::default();
        }
        self.by_slot_mut(slot).set_node(node);
    }

    /// Returns the node at a slot for changing its pods; the node object must stay the same.
    pub fn by_slot_mut(&mut self, slot: usize) -> &mut NodeInfo {
        let position = self.position_of_slot(slot);
        self.nodes.get_mut(position)
    }

    /// Appends nodes without pods and returns their slots in the same order. The names must be new.
    pub fn push(&mut self, nodes: impl IntoIterator<Item = Arc<Node>>) -> Vec<usize> {
        self.topologies = Topologies::default();
        self.named = Arc::default();
        let (list, Order { slots, positions }) = (&mut self.nodes, Arc::make_mut(&mut self.order));
        let (mut added, mut next) = (Vec::new(), 0);
        for node in nodes {
            next += positions[next..].iter().take_while(|p| **p != FREE).count();
            if next == positions.len() {
                positions.push(FREE);
            }
            positions[next] = list.len() as u32;
            slots.push(next as u32);
            self.by_name.insert(node.name().clone(), next as u32);
            let mut node = NodeInfo::new(node);
            node.set_slot(next as u32);
            list.push(Arc::new(node));
            added.push(next);
        }
        added
    }

    /// Removes a node and returns it with its slot. The others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<(usize, Arc<NodeInfo>)> {
        let slot = self.by_name.remove(name)?;
        self.topologies = Topologies::default();
        self.named = Arc::default();
        let Order { slots, positions } = Arc::make_mut(&mut self.order);
        let position = std::mem::replace(&mut positions[slot as usize], FREE) as usize;
        slots.remove(position);
        for (position, slot) in slots.iter().enumerate().skip(position) {
            positions[*slot as usize] = position as u32;
        }
        let removed = self.nodes[position].clone();
        self.nodes = self.nodes.iter().enumerate().filter(|(at, _)| *at != position).map(|(_, node)| node.clone()).collect();
        Some((slot as usize, removed))
    }

    /// Sets the walking order. `slots` names every node's slot exactly once.
    pub fn reorder(&mut self, slots: Vec<u32>) {
        self.topologies = Topologies::default();
        self.named = Arc::default();
        let mut positions = vec![FREE; self.order.positions.len()];
        for (position, slot) in slots.iter().enumerate() {
            positions[*slot as usize] = position as u32;
        }
        self.nodes = slots.iter().map(|slot| self.by_slot(*slot as usize).clone()).collect();
        self.order = Arc::new(Order { slots, positions });
    }
}

impl FromIterator<NodeInfo> for NodeList {
    /// Keeps the given order. The names must differ.
    fn from_iter<I: IntoIterator<Item = NodeInfo>>(nodes: I) -> Self {
        let with_slot = |(slot, mut node): (u32, NodeInfo)| {
            node.set_slot(slot);
            Arc::new(node)
        };
        let nodes: Nodes = (0..).zip(nodes).map(with_slot).collect();
        let slots: Vec<u32> = (0..nodes.len() as u32).collect();
        let by_name = nodes.iter().map(|n| n.name().clone()).zip(slots.iter().copied()).collect();
        let order = Arc::new(Order { positions: slots.clone(), slots });
        Self { nodes, order, by_name, topologies: Topologies::default(), named: Arc::default() }
    }
}

#[cfg(test)]
mod tests;
