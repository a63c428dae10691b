//! Which nodes are dry-run, and when enough candidates are found. Mirrors `NodesForStatusCode` in
//! `pkg/scheduler/framework/interface.go`, `GetOffsetAndNumCandidates` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go` and `DryRunPreemption` in
//! `pkg/scheduler/framework/preemption/preemption.go`.

use std::sync::Arc;

use super::dry_run::{Scratch, Scratches};
use super::recall::{Recall, Tried};
use crate::framework::{
    Code, CycleState, DryRunPolicy, DryRuns, NodeDryRun, NodeInfo, NodeToStatus, PodInfo, PostFilterContext, PreemptionRecord, Snapshot,
    in_parts,
};
use crate::release::{Candidates, PotentialNodes};

/// The minimum number of candidates to find; the larger limit wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CandidateLimits {
    /// Per cent of the potential nodes.
    pub percentage: i32,
    /// Number of nodes.
    pub absolute: i32,
}

impl CandidateLimits {
    /// Returns the number of candidates to find among `nodes` potential nodes; at most `nodes`.
    fn wanted(self, nodes: usize) -> usize {
        let nodes = i32::try_from(nodes).unwrap_or(i32::MAX);
        // Wraps in 32 bits, as upstream does.
        let share = nodes.wrapping_mul(self.percentage) / 100;
        usize::try_from(share.max(self.absolute).min(nodes)).unwrap_or(0)
    }
}

/// Returns the nodes that eviction might help, with their positions, in walking order.
fn potential_nodes<'a>(statuses: &NodeToStatus, snapshot: &'a Snapshot, rule: PotentialNodes) -> Vec<(usize, &'a Arc<NodeInfo>)> {
    let nodes = snapshot.nodes().iter().enumerate();
    let might_help = |position: usize| match (rule, statuses.get(position).code()) {
        (PotentialNodes::Unschedulable | PotentialNodes::ListedUnschedulable, code) => code == Code::Unschedulable,
        (PotentialNodes::NotUnresolvable, code) => code != Code::UnschedulableAndUnresolvable,
    };
    nodes.filter(|(position, _)| might_help(*position)).collect()
}

/// Dry-runs nodes until enough candidates are found, and records every run.
pub(super) fn search<'a>(
    post: &'a PostFilterContext<'a>,
    limits: CandidateLimits,
    state: &CycleState,
    pod: &PodInfo,
    record: &mut PreemptionRecord,
    scratches: &Scratches<Scratch<'a>>,
) {
    let nodes = potential_nodes(post.statuses, post.cx.snapshot, post.cx.emulation.behaviour().preemption.potential_nodes);
    record.potential_nodes = nodes.iter().map(|(_, node)| node.name().clone()).collect();
    if nodes.is_empty() {
        return;
    }
    let DryRunPolicy { offset, all_nodes, .. } = post.dry_run;
    record.offset = offset % nodes.len();
    let all_nodes = all_nodes || post.cx.emulation.behaviour().preemption.candidates == Candidates::All;
    record.wanted_candidates = if all_nodes { nodes.len() } else { limits.wanted(nodes.len()) };
    let mut walk = nodes;
    walk.rotate_left(record.offset);
    let start = || Scratch::new(post.cx.snapshot, post.cx.emulation.behaviour());
    let recall = Recall::of(post, pod);
    let try_node = |scratch: &mut Scratch<'a>, node: (usize, &'a Arc<NodeInfo>)| recall.try_node(state, scratch, node);
    let mut new = Vec::new();
    let take = |tried: Tried| {
        new.extend(tried.new);
        tried.run
    };
    let runs = try_until_enough(&walk, record.wanted_candidates, scratches, (start, try_node), take);
    recall.keep(new);
    let ranks = post.cx.snapshot.name_ranks();
    record.dry_runs = DryRuns::ranked(runs, |at| ranks[walk[at].0]);
}

/// Smallest batch of nodes, unless fewer are left.
const CHUNK: usize = 32;

/// Dry-runs nodes in parallel batches, because runs of different nodes are independent. Takes their results in walking
/// order and drops those after the node that made enough, so that the result equals a sequential search.
///
/// `start` makes the scratch space that a task keeps from one node to the next, and leaves to later ones. `take` takes each result in turn.
fn try_until_enough<'a, S: Send, T: Send>(
    walk: &[(usize, &'a Arc<NodeInfo>)],
    wanted: usize,
    scratches: &Scratches<S>,
    (start, try_node): (impl Fn() -> S + Send + Sync, impl Fn(&mut S, (usize, &'a Arc<NodeInfo>)) -> T + Send + Sync),
    mut take: impl FnMut(T) -> Arc<NodeDryRun>,
) -> Vec<Arc<NodeDryRun>> {
    let mut shortlist = Shortlist { wanted, without_violations: 0, violating: 0 };
    let try_all = |nodes: &[(usize, &'a Arc<NodeInfo>)]| -> Vec<T> {
        scratches.lend(&start, |scratch| nodes.iter().map(|node| try_node(scratch, *node)).collect())
    };
    let mut runs = Vec::new();
    let mut rest = walk;
    while !rest.is_empty() {
        // A batch holds as many nodes as candidates are missing, at least CHUNK: a smaller batch could not end the
        // search.
        let needed = wanted.saturating_sub(shortlist.len()).max(CHUNK).min(rest.len());
        let (chunk, after) = rest.split_at(needed);
        rest = after;
        let tried: Vec<Vec<T>> = in_parts(0..chunk.len(), |part| try_all(&chunk[part]));
        for mut run in tried.into_iter().flatten().map(&mut take) {
            let enough = shortlist.take(&mut run);
            runs.push(run);
            if enough {
                return runs;
            }
        }
    }
    runs
}

/// Counts candidates in two groups: without and with violated budgets. Each group takes up to `wanted` and drops the
/// rest.
struct Shortlist {
    wanted: usize,
    without_violations: usize,
    violating: usize,
}

impl Shortlist {
    fn len(&self) -> usize {
        self.without_violations + self.violating
    }

    /// Counts the run's candidate, or drops it from the run. Returns whether the search may end; it needs at least one
    /// candidate without violations.
    fn take(&mut self, run: &mut Arc<NodeDryRun>) -> bool {
        let Some(candidate) = &run.candidate else { return false };
        let group = if candidate.pdb_violations == 0 { &mut self.without_violations } else { &mut self.violating };
        if *group < self.wanted {
            *group += 1;
        } else {
            Arc::make_mut(run).candidate = None;
        }
        self.without_violations > 0 && self.len() >= self.wanted
    }
}

#[cfg(test)]
mod tests;
