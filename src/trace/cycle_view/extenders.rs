//! The parts that extenders take in a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::Str;
use crate::framework::{ExtenderCall, ExtenderOutcome, Status};

/// The parts that extenders take in a cycle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtendersView {
    /// The parts of extenders so far, in order; those in preemption are with it.
    pub calls: Vec<Arc<ExtenderCall>>,
    /// Statuses that extenders gave, by node; such a node can still fit.
    pub statuses: BTreeMap<Str, Status>,
    /// The scores that extenders gave, by node and by place in the configuration; added to the totals.
    pub scores: BTreeMap<Str, BTreeMap<usize, i64>>,
    /// The nodes that extenders left, where any was asked.
    pub left: Option<Vec<Str>>,
}

impl ExtendersView {
    /// Takes in a call outside of preemption.
    pub(super) fn apply(&mut self, call: &Arc<ExtenderCall>) {
        match &call.outcome {
            ExtenderOutcome::Filtered(filter) => {
                self.statuses.extend(filter.statuses.iter().cloned());
                self.left = Some(filter.left.clone());
            }
            ExtenderOutcome::Scored { scores, .. } => {
                for (node, score) in scores {
                    let sum: &mut i64 = self.scores.entry(node.clone()).or_default().entry(call.extender.index).or_default();
                    *sum = sum.wrapping_add(*score);
                }
            }
            _ => {}
        }
        self.calls.push(call.clone());
    }

    /// Returns the extenders that scored nodes so far, by their place in the configuration; without those that were not asked.
    pub fn scoring(&self) -> BTreeSet<usize> {
        let scored = |call: &&Arc<ExtenderCall>| matches!(call.outcome, ExtenderOutcome::Scored { asked: true, .. });
        self.calls.iter().filter(scored).map(|call| call.extender.index).collect()
    }

    /// Returns the scores that extenders gave a node, by their place in the configuration; added to its total.
    pub fn scores_of(&self, node: &str) -> BTreeMap<usize, i64> {
        self.scores.get(node).cloned().unwrap_or_default()
    }
}
