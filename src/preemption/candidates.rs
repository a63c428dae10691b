//! Which nodes are dry-run, and when enough candidates are found. Mirrors `NodesForStatusCode` in
//! `pkg/scheduler/framework/interface.go`, `GetOffsetAndNumCandidates` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go` and `DryRunPreemption` in
//! `pkg/scheduler/framework/preemption/preemption.go`.

use std::sync::Arc;

use super::dry_run::{Scratch, Scratches, looks_at_sums, select_victims_on_node};
use crate::framework::{
    Code, CycleState, DryRunPolicy, DryRuns, KnownDryRuns, NodeDryRun, NodeInfo, NodeToStatus, PodInfo, PostFilterContext,
    PreemptionRecord, Snapshot, in_parts, unix_nanoseconds,
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
    let try_node = |scratch: &mut Scratch<'a>, node: &'a Arc<NodeInfo>| select_victims_on_node(post, state, pod, node, scratch);
    // Where groups are victims a dry run depends on other nodes, and earlier releases name the preemptor in statuses.
    let is_of_node = looks_at_sums(post) && !post.cx.emulation.behaviour().preemption.names_preemptor();
    let known = if post.quiet && is_of_node { post.runner.take_dry_runs(pod) } else { None };
    let hashes = post.cx.snapshot.name_hashes();
    let holds = |at: usize| !post.runner.may_be_nominated_to(hashes[at]);
    let try_or_recall = |scratch: &mut Scratch<'a>, (at, node): (usize, &'a Arc<NodeInfo>)| {
        let Some(run) = known.as_ref().and_then(|known| known.get(at, node)).filter(|_| holds(at)) else {
            return Arc::new(try_node(scratch, node));
        };
        debug_assert_eq!(**run, try_node(scratch, node), "{} on {}", pod.key(), node.name());
        state.count_filters(1);
        run.clone()
    };
    let mut learned = Vec::new();
    let note = |(at, node): (usize, &Arc<NodeInfo>), run: &Arc<NodeDryRun>| {
        let is_new = |known: &KnownDryRuns| known.get(at, node).is_none_or(|known| !Arc::ptr_eq(known, run));
        if known.as_ref().is_some_and(is_new) && holds(at) {
            learned.push((at, run.clone()));
        }
    };
    let runs = try_until_enough(&walk, record.wanted_candidates, scratches, (start, try_or_recall), note);
    if let Some(mut known) = known {
        let now = unix_nanoseconds(post.cx.now);
        for (at, run) in &learned {
            known.learn(*at, post.cx.snapshot.nodes(), run, now);
        }
        post.runner.keep_dry_runs(known);
    }
    let ranks = post.cx.snapshot.name_ranks();
    record.dry_runs = DryRuns::ranked(runs, |at| ranks[walk[at].0]);
}

/// Smallest batch of nodes, unless fewer are left.
const CHUNK: usize = 32;

/// Dry-runs nodes in parallel batches, because runs of different nodes are independent. Takes their results in walking
/// order and drops those after the node that made enough, so that the result equals a sequential search.
///
/// `start` makes the scratch space that a task keeps from one node to the next, and leaves to later ones. Calls `note` with each result.
fn try_until_enough<'a, S: Send>(
    walk: &[(usize, &'a Arc<NodeInfo>)],
    wanted: usize,
    scratches: &Scratches<S>,
    (start, try_node): (impl Fn() -> S + Send + Sync, impl Fn(&mut S, (usize, &'a Arc<NodeInfo>)) -> Arc<NodeDryRun> + Send + Sync),
    mut note: impl FnMut((usize, &'a Arc<NodeInfo>), &Arc<NodeDryRun>),
) -> Vec<Arc<NodeDryRun>> {
    let mut shortlist = Shortlist { wanted, without_violations: 0, violating: 0 };
    let try_all = |nodes: &[(usize, &'a Arc<NodeInfo>)]| -> Vec<Arc<NodeDryRun>> {
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
        let tried: Vec<Vec<Arc<NodeDryRun>>> = in_parts(0..chunk.len(), |part| try_all(&chunk[part]));
        for (node, mut run) in chunk.iter().zip(tried.into_iter().flatten()) {
            note(*node, &run);
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
