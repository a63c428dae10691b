//! Dry runs that hold for other pods like the preemptor, so that each is made once.

use std::sync::Arc;

use super::dry_run::{OnNode, Scratch, looks_at_sums, select_victims_on_node};
use super::units::respects_groups;
use crate::framework::{CycleState, KnownDryRuns, NodeDryRun, NodeInfo, PodInfo, PodSums, PostFilterContext, unix_nanoseconds};

/// The dry runs that are known for pods like one.
pub(super) struct Recall<'a, 'p> {
    post: &'p PostFilterContext<'a>,
    pod: &'p PodInfo,
    /// `None` where none hold for others.
    known: Option<KnownDryRuns>,
    /// Whether all dry runs hold for others, and not only those that the first filters end.
    all: bool,
    /// Hashes of the names of the snapshot's nodes.
    hashes: Arc<[u64]>,
}

/// The dry run of a node, and what it adds to those that are known.
pub(super) struct Tried {
    pub(super) run: Arc<NodeDryRun>,
    pub(super) new: Option<NewRun>,
}

/// A dry run that was not known.
pub(super) struct NewRun {
    position: usize,
    /// The sums of the pods nominated to the node that count; `None` if there were none.
    nominated: Option<PodSums>,
    run: Arc<NodeDryRun>,
}

impl<'a, 'p> Recall<'a, 'p> {
    /// Takes the dry runs that are known for pods like this one. Give them back with [`Self::keep`].
    pub(super) fn of(post: &'p PostFilterContext<'a>, pod: &'p PodInfo) -> Self {
        // Where groups are victims a dry run depends on other nodes, and earlier releases name the preemptor in statuses.
        let is_of_node = !respects_groups(post.cx.emulation) && !post.cx.emulation.behaviour().preemption.names_preemptor();
        let known = if is_of_node { post.runner.take_dry_runs(pod, post.quiet) } else { None };
        Self { post, pod, known, all: looks_at_sums(post), hashes: post.cx.snapshot.name_hashes() }
    }

    /// Returns the dry run of a node, given its position in the snapshot.
    pub(super) fn try_node(&self, state: &CycleState, scratch: &mut Scratch<'a>, (at, node): (usize, &'a Arc<NodeInfo>)) -> Tried {
        let Self { post, pod, .. } = *self;
        let Some(known) = &self.known else {
            return Tried { run: Arc::new(select_victims_on_node(post, state, pod, node, scratch).run), new: None };
        };
        let may_be_nominated = post.runner.may_be_nominated_to(self.hashes[at]);
        let nominated = if may_be_nominated { post.runner.nominated_sums(pod, node) } else { None };
        let holds = |run: &&Arc<NodeDryRun>| self.all || run.status.is_rejected();
        if let Some(run) = known.get(at, node, nominated.as_ref()).filter(holds) {
            debug_assert_eq!(**run, select_victims_on_node(post, state, pod, node, scratch).run, "{} on {}", pod.key(), node.name());
            state.count_filters(1);
            return Tried { run: run.clone(), new: None };
        }
        let OnNode { run, by_sums } = select_victims_on_node(post, state, pod, node, scratch);
        let run = Arc::new(run);
        Tried { run: run.clone(), new: by_sums.then_some(NewRun { position: at, nominated, run }) }
    }

    /// Keeps these dry runs too, for the next pods like this one.
    pub(super) fn keep(self, new: Vec<NewRun>) {
        let Some(mut known) = self.known else { return };
        let now = unix_nanoseconds(self.post.cx.now);
        for NewRun { position, nominated, run } in new {
            known.learn(position, self.post.cx.snapshot.nodes(), nominated, run, now);
        }
        self.post.runner.keep_dry_runs(known, self.post.quiet);
    }
}
