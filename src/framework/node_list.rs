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
    /// The place of each position in the order of names, found when it is first asked for.
    ranks: Arc<OnceLock<Arc<[u32]>>>,
    /// The names, listed when they are first asked for.
    names: Arc<OnceLock<Arc<[Str]>>>,
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
        self.ranks.get_or_init(find).clone()
    }

    /// Returns the names of the nodes in walking order. They are listed once for all clones.
    pub fn names(&self) -> Arc<[Str]> {
        self.names.get_or_init(|| self.nodes.iter().map(|node| node.name().clone()).collect()).clone()
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
        self.ranks = Arc::default();
        self.names = Arc::default();
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
            list.push(Arc::new(NodeInfo::new(node)));
            added.push(next);
        }
        added
    }

    /// Removes a node and returns it with its slot. The others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<(usize, Arc<NodeInfo>)> {
        let slot = self.by_name.remove(name)?;
        self.topologies = Topologies::default();
        self.ranks = Arc::default();
        self.names = Arc::default();
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
        self.ranks = Arc::default();
        self.names = Arc::default();
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
        let nodes: Nodes = nodes.into_iter().map(Arc::new).collect();
        let slots: Vec<u32> = (0..nodes.len() as u32).collect();
        let by_name = nodes.iter().map(|n| n.name().clone()).zip(slots.iter().copied()).collect();
        let order = Arc::new(Order { positions: slots.clone(), slots });
        Self { nodes, order, by_name, topologies: Topologies::default(), ranks: Arc::default(), names: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Arc<Node> {
        Arc::new(serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}"}}}}"#)).unwrap())
    }

    #[track_caller]
    fn check(list: &NodeList, expected: &[(&str, usize)]) {
        let names = list.nodes().iter().map(|n| n.name().as_str());
        assert_eq!(names.zip(list.slots()).collect::<Vec<_>>(), expected);
        for (position, (name, slot)) in expected.iter().enumerate() {
            assert_eq!((list.position(name), list.slot(name)), (Some(position), Some(*slot)));
            assert_eq!((list.position_of_slot(*slot), list.by_slot(*slot).name().as_str()), (position, *name));
        }
        let rank = |name: &str| expected.iter().filter(|(other, _)| *other < name).count() as u32;
        assert_eq!(*list.names(), expected.iter().map(|(name, _)| (*name).into()).collect::<Vec<Str>>());
        assert_eq!(*list.name_ranks(), expected.iter().map(|(name, _)| rank(name)).collect::<Vec<_>>());
    }

    #[test]
    fn slots_stay_and_free_ones_are_taken_again() {
        let mut list = NodeList::default();
        assert_eq!(list.push(["a", "b", "c", "d"].map(node)), [0, 1, 2, 3]);
        let before = list.clone();
        assert_eq!(list.remove("b").map(|(slot, n)| (slot, n.name().to_string())), Some((1, "b".to_owned())));
        assert!(list.remove("b").is_none() && list.position("b").is_none());
        check(&list, &[("a", 0), ("c", 2), ("d", 3)]);
        list.remove("a");
        assert_eq!(list.push(["e", "f", "g"].map(node)), [0, 1, 4]);
        list.reorder(vec![4, 0, 3, 1, 2]);
        check(&list, &[("g", 4), ("e", 0), ("d", 3), ("f", 1), ("c", 2)]);
        list.by_slot_mut(3).non_zero_cpu = 7;
        assert_eq!(list.nodes()[2].non_zero_cpu, 7);
        check(&before, &[("a", 0), ("b", 1), ("c", 2), ("d", 3)]);
    }

    #[test]
    fn topologies_follow_nodes_and_their_labels() {
        let in_zone = |name: &str, zone: &str| -> Arc<Node> {
            Arc::new(serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","labels":{{"zone":"{zone}"}}}}}}"#)).unwrap())
        };
        let mut list = NodeList::default();
        list.push([in_zone("a", "z1"), node("b"), in_zone("c", "z2"), in_zone("d", "z1")]);
        let read = |list: &NodeList, key: &str| -> Vec<String> {
            let topology = list.topology(&key.into());
            let value = |number: Option<usize>| number.map_or("-".to_owned(), |number| topology.value(number).to_string());
            assert!((0..topology.len()).all(|number| topology.number(topology.value(number)) == Some(number)));
            assert!(topology.of_nodes().enumerate().all(|(at, number)| topology.of_node(at) == number));
            topology.of_nodes().map(value).collect()
        };
        assert_eq!(read(&list, "zone"), ["z1", "-", "z2", "z1"]);
        assert_eq!(read(&list, "other"), ["-", "-", "-", "-"]);
        assert!(!list.topology(&"zone".into()).is_complete());
        assert!(list.topology(&"other".into()).is_empty() && list.topology(&"zone".into()).number("z3").is_none());
        let before = list.clone();
        assert!(Arc::ptr_eq(&list.topology(&"zone".into()), &before.topology(&"zone".into())));
        list.by_slot_mut(1).non_zero_cpu = 1;
        assert!(Arc::ptr_eq(&list.topology(&"zone".into()), &before.topology(&"zone".into())));
        list.set_node(1, in_zone("b", "z3"));
        assert_eq!(read(&list, "zone"), ["z1", "z3", "z2", "z1"]);
        assert!(list.topology(&"zone".into()).is_complete());
        list.remove("a");
        assert_eq!(read(&list, "zone"), ["z3", "z2", "z1"]);
        list.push([in_zone("e", "z4")]);
        assert_eq!(read(&list, "zone"), ["z3", "z2", "z1", "z4"]);
        list.reorder(vec![0, 3, 2, 1]);
        assert_eq!(read(&list, "zone"), ["z4", "z1", "z2", "z3"]);
        assert_eq!(read(&before, "zone"), ["z1", "-", "z2", "z1"]);
    }

    #[test]
    fn only_some_topologies_are_kept() {
        let mut list = NodeList::default();
        list.push([node("a")]);
        let keys: Vec<Str> = (0..40).map(|i| Str::from(format!("k{i}").as_str())).collect();
        let again = |key: &Str| Arc::ptr_eq(&list.topology(key), &list.topology(key));
        assert_eq!(keys.iter().filter(|key| again(key)).count(), 16);
    }
}
