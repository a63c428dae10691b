//! A list of nodes in walking order that is cheap to change where a copy is kept.

use std::ops::{Index, Range};
use std::sync::Arc;

use super::NodeInfo;
use crate::cluster::operations::operation;

/// The number of nodes that a change copies pointers to.
const CHUNK: usize = 64;

/// Nodes in walking order. Cloning is free; a change of one node copies the pointers to a few others, and one pointer for each
/// 64 of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nodes {
    /// All but the last have [`CHUNK`] nodes.
    chunks: Arc<Vec<Arc<Vec<Arc<NodeInfo>>>>>,
    len: usize,
}

impl Nodes {
    /// Returns the number of nodes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the node at a position; `None` beyond the end.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&Arc<NodeInfo>> {
        operation();
        self.chunks.get(position / CHUNK)?.get(position % CHUNK)
    }

    pub fn first(&self) -> Option<&Arc<NodeInfo>> {
        self.get(0)
    }

    /// Returns the nodes in walking order.
    #[inline]
    pub fn iter(&self) -> NodesIter<'_> {
        NodesIter { nodes: self, left: 0..self.len }
    }

    /// Returns the nodes as a list of their own.
    pub fn to_vec(&self) -> Vec<Arc<NodeInfo>> {
        self.iter().cloned().collect()
    }

    /// Whether both are the same list, not only equal ones.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chunks, &other.chunks)
    }

    /// Returns the node at a position for changing.
    pub(super) fn get_mut(&mut self, position: usize) -> &mut NodeInfo {
        let chunk = &mut Arc::make_mut(&mut self.chunks)[position / CHUNK];
        Arc::make_mut(&mut Arc::make_mut(chunk)[position % CHUNK])
    }

    /// Appends a node.
    pub(super) fn push(&mut self, node: Arc<NodeInfo>) {
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => Arc::make_mut(chunk).push(node),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(node);
                chunks.push(Arc::new(chunk));
            }
        }
        self.len += 1;
    }
}

impl Index<usize> for Nodes {
    type Output = Arc<NodeInfo>;
    #[inline]
    fn index(&self, position: usize) -> &Arc<NodeInfo> {
        operation();
        &self.chunks[position / CHUNK][position % CHUNK]
    }
}

impl FromIterator<Arc<NodeInfo>> for Nodes {
    fn from_iter<I: IntoIterator<Item = Arc<NodeInfo>>>(nodes: I) -> Self {
        let mut nodes = nodes.into_iter();
        let mut chunks = Vec::with_capacity(nodes.size_hint().0.div_ceil(CHUNK));
        let mut len = 0;
        loop {
            let chunk: Vec<_> = nodes.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return Self { chunks: Arc::new(chunks), len };
            }
            len += chunk.len();
            chunks.push(Arc::new(chunk));
        }
    }
}

impl<'a> IntoIterator for &'a Nodes {
    type Item = &'a Arc<NodeInfo>;
    type IntoIter = NodesIter<'a>;
    fn into_iter(self) -> NodesIter<'a> {
        self.iter()
    }
}

/// The iterator over [`Nodes`].
#[derive(Clone, Debug)]
pub struct NodesIter<'a> {
    nodes: &'a Nodes,
    left: Range<usize>,
}

impl<'a> Iterator for NodesIter<'a> {
    type Item = &'a Arc<NodeInfo>;
    #[inline]
    fn next(&mut self) -> Option<&'a Arc<NodeInfo>> {
        self.left.next().map(|position| &self.nodes[position])
    }
    fn nth(&mut self, n: usize) -> Option<&'a Arc<NodeInfo>> {
        self.left.nth(n).map(|position| &self.nodes[position])
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl DoubleEndedIterator for NodesIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.left.next_back().map(|position| &self.nodes[position])
    }
}

impl ExactSizeIterator for NodesIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(cpu: i64) -> Arc<NodeInfo> {
        let mut info = NodeInfo::default();
        info.non_zero_cpu = cpu;
        Arc::new(info)
    }

    #[test]
    fn nodes_come_in_order_and_a_change_copies_few_pointers() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK] {
            let nodes: Nodes = (0..len as i64).map(info).collect();
            let cpu = |node: &Arc<NodeInfo>| node.non_zero_cpu;
            assert_eq!((nodes.len(), nodes.is_empty(), nodes.iter().len()), (len, len == 0, len));
            assert_eq!(nodes.iter().map(cpu).collect::<Vec<_>>(), (0..len as i64).collect::<Vec<_>>());
            assert_eq!(nodes.iter().rev().map(cpu).collect::<Vec<_>>(), (0..len as i64).rev().collect::<Vec<_>>());
            assert_eq!(nodes.iter().step_by(7).map(cpu).collect::<Vec<_>>(), (0..len as i64).step_by(7).collect::<Vec<_>>());
            assert_eq!((nodes.first().map(cpu), nodes.get(len).map(cpu)), ((len > 0).then_some(0), None));
        }
        let mut nodes: Nodes = (0..200).map(info).collect();
        let before = nodes.clone();
        assert!(nodes.is_same(&before));
        nodes.get_mut(130).non_zero_cpu = 7;
        assert!(!nodes.is_same(&before));
        assert_eq!((nodes[130].non_zero_cpu, before[130].non_zero_cpu), (7, 130));
        let shared = (0..4).filter(|at| Arc::ptr_eq(&nodes.chunks[*at], &before.chunks[*at])).count();
        assert_eq!(shared, 3);
    }
}
