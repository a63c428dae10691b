//! The dry run on a node whose pods all filters know by their sums alone: nothing is copied, and of the pods only the rows are read
//! that the node keeps of them. It takes the same steps, and finds the same.

use std::sync::Arc;

use super::Scratch;
use crate::framework::{
    Context, CoveringBudgets, CycleState, NodeDryRun, NodeInfo, PodInfo, PodSums, PostFilterContext, PutBacks, PutBacksOn, Removed, Status,
    SumsTried, Victim, unix_nanoseconds,
};
use crate::release::{Importance, VictimOrder};

/// The place of a pod with what it is compared by, in one number: the more important pod is smaller, and of equals the first on the
/// node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::preemption) struct Ranked(u128);

impl Ranked {
    #[inline]
    fn new(node: &NodeInfo, place: u32, cx: &Context<'_>) -> Self {
        let pod = node.at(place);
        let start = match cx.emulation.behaviour().preemption.importance {
            Importance::PriorityAndStart => pod.start_time().unwrap_or_else(|| unix_nanoseconds(cx.now)),
            Importance::Priority => 0,
        };
        // Flipping the sign keeps the order of signed numbers, flipping all other bits turns it around.
        let priority = !(pod.priority() as u32 ^ (1 << 31));
        let start = start as u64 ^ (1 << 63);
        Self(u128::from(priority) << 96 | u128::from(start) << 32 | u128::from(place))
    }

    /// Returns what it is compared by, without its place.
    pub(in crate::preemption) fn rank(self) -> u128 {
        self.0 >> 32
    }

    pub(in crate::preemption) fn place(self) -> u32 {
        self.0 as u32
    }
}

/// Returns the pods of lower priority on a node, the most important first, and equals in the order of the node.
pub(in crate::preemption) fn places_by_importance(post: &PostFilterContext<'_>, priority: i32, node: &NodeInfo) -> Vec<Ranked> {
    let mut pods: Vec<Ranked> = node.places_below(priority).map(|place| Ranked::new(node, place, &post.cx)).collect();
    pods.sort_unstable();
    pods
}

/// Buffers that dry runs use in turn.
#[derive(Default)]
pub(super) struct Buffers {
    places: Vec<u32>,
    pods: Vec<Ranked>,
    budgets: Vec<Option<Arc<CoveringBudgets>>>,
    /// Indices into the pods.
    victims: Vec<usize>,
}

/// Tries a node without its pods of lower priority on the first filters, which look at sums alone. Returns the record with the rejection;
/// `None` where they pass the node, and where it has no pod of lower priority.
pub(super) fn rejected<'n>(
    post: &PostFilterContext<'_>,
    state: &CycleState,
    pod: &PodInfo,
    node: &'n Arc<NodeInfo>,
    scratch: &mut Scratch<'n>,
) -> Option<(NodeDryRun, Status)> {
    let places = &mut scratch.buffers.places;
    places.clear();
    places.extend(node.places_below(pod.pod.priority()));
    if places.is_empty() {
        return None;
    }
    let mut sums = node.sums();
    for place in &*places {
        node.at(*place).count_in(&mut sums, -1);
    }
    let with_nominated = post.runner.nominated_sums(pod, node).map(|nominated| nominated.and(&sums));
    let status = post.runner.rejection_by_sums(&SumsTried { state, pod, node }, &sums, with_nominated.as_ref())?;
    let status = scratch.statuses.share(status);
    let mut record = NodeDryRun { node: node.name().clone(), ..NodeDryRun::default() };
    if !post.quiet {
        record.removed = Removed::on(node.clone(), places);
        record.filtered = Some(status.clone());
    }
    Some((record, status))
}

/// A dry run, and its record.
pub(super) struct Attempt<'a, 'n> {
    post: &'a PostFilterContext<'a>,
    tried: SumsTried<'a>,
    node: &'n Arc<NodeInfo>,
    sums: PodSums,
    /// The sums with the pods nominated to the node; `None` if there are none.
    with_nominated: Option<PodSums>,
    /// The amounts with which the filters rejected last, and their answer: the next pod is often as large.
    rejected: Option<(Amounts, Status)>,
    record: NodeDryRun,
    scratch: &'a mut Scratch<'n>,
}

/// The pods, and what they request of all but scalar resources.
type Amounts = (usize, i64, i64, i64);

impl<'a, 'n: 'a> Attempt<'a, 'n> {
    pub(super) fn new(
        post: &'a PostFilterContext<'a>,
        state: &'a CycleState,
        pod: &'a PodInfo,
        node: &'n Arc<NodeInfo>,
        scratch: &'a mut Scratch<'n>,
    ) -> Self {
        let record = NodeDryRun { node: node.name().clone(), ..NodeDryRun::default() };
        let tried = SumsTried { state, pod, node };
        Self { post, tried, node, sums: node.sums(), with_nominated: None, rejected: None, record, scratch }
    }

    /// Returns the record with the victims, most important first, and the number of them that violate a budget. `order` is the order
    /// of pods, where it is not the usual one.
    pub(super) fn run(mut self, order: Option<&[usize]>) -> (NodeDryRun, Result<(Vec<Victim>, i64), Status>) {
        let mut buffers = std::mem::take(&mut self.scratch.buffers);
        let found = self.run_with(&mut buffers, order);
        self.scratch.buffers = buffers;
        (self.record, found)
    }

    fn run_with(&mut self, buffers: &mut Buffers, order: Option<&[usize]>) -> Result<(Vec<Victim>, i64), Status> {
        let Buffers { places, pods, budgets, victims } = buffers;
        places.clear();
        places.extend(self.node.places_below(self.tried.pod.pod.priority()));
        for place in &*places {
            self.node.at(*place).count_in(&mut self.sums, -1);
        }
        self.with_nominated = self.post.runner.nominated_sums(self.tried.pod, self.node).map(|nominated| nominated.and(&self.sums));
        let status = self.scratch.statuses.share(self.filter(false));
        if !self.post.quiet {
            self.record.removed = Removed::on(self.node.clone(), places);
            self.record.filtered = Some(status.clone());
        }
        if !status.is_success() {
            return Err(status);
        }
        pods.clear();
        pods.extend(places.iter().map(|place| Ranked::new(self.node, *place, &self.post.cx)));
        pods.sort_unstable();
        self.record.has_ties = pods.windows(2).any(|pair| pair[0].rank() == pair[1].rank());
        if let Some(order) = order {
            *pods = order.iter().filter_map(|at| pods.get(*at).copied()).collect();
        }
        self.scratch.budgets.restart();
        budgets.clear();
        budgets.extend(pods.iter().map(|pod| self.scratch.budgets.take_at(self.node, pod.place())));
        let violates = |budgets: &Option<Arc<CoveringBudgets>>| budgets.as_ref().is_some_and(|budgets| budgets.is_violated());
        let violating = budgets.iter().filter(|budgets| violates(budgets)).count();
        victims.clear();
        let mut put_back = (!self.post.quiet).then(|| PutBacksOn::new(self.node.clone(), pods.len()));
        // Pods whose eviction would violate a budget are reprieved first.
        let mut pdb_violations = 0;
        for of_violating in [true, false].into_iter().filter(|of_violating| !of_violating || violating > 0) {
            for (at, (pod, budgets)) in pods.iter().zip(&*budgets).enumerate().filter(|(_, (_, b))| violates(b) == of_violating) {
                let status = self.put_back(pod.place());
                if !status.is_success() {
                    pdb_violations += i64::from(of_violating);
                    victims.push(at);
                }
                if let Some(put_back) = &mut put_back {
                    put_back.push(pod.place(), budgets.as_ref(), &status);
                }
            }
        }
        if let Some(put_back) = put_back {
            self.record.put_back = PutBacks::on(put_back);
        }
        let both_groups = violating > 0 && violating < pods.len();
        if both_groups && self.post.cx.emulation.behaviour().preemption.victims == VictimOrder::ByImportance {
            // The sort is stable: of equals, those that violate a budget stay first.
            victims.sort_by_key(|at| pods[*at].rank());
        }
        let victims = victims.iter().map(|at| Victim::on(self.node.clone(), pods[*at].place(), budgets[*at].take()));
        Ok((victims.collect(), pdb_violations))
    }

    /// Puts a pod back, and returns the filters' answer; removes it again if they reject.
    fn put_back(&mut self, place: u32) -> Status {
        self.count(place, 1);
        let amounts = amounts(&self.sums);
        if let Some((_, status)) = self.rejected.as_ref().filter(|(rejected, _)| amounts.as_ref() == Some(rejected)) {
            let status = status.clone();
            self.count(place, -1);
            return status;
        }
        let status = self.filter(true);
        if status.is_success() {
            return status;
        }
        let status = self.scratch.statuses.share(status);
        self.rejected = amounts.map(|amounts| (amounts, status.clone()));
        self.count(place, -1);
        status
    }

    fn count(&mut self, place: u32, sign: i64) {
        let pod = self.node.at(place);
        pod.count_in(&mut self.sums, sign);
        if let Some(with) = &mut self.with_nominated {
            pod.count_in(with, sign);
        }
    }

    fn filter(&self, again: bool) -> Status {
        self.post.runner.filter_sums(&self.tried, &self.sums, self.with_nominated.as_ref(), again)
    }
}

/// Returns the amounts of sums without scalar resources.
fn amounts(sums: &PodSums) -> Option<Amounts> {
    let requested = &sums.requested;
    let amounts = (sums.pods, requested.milli_cpu, requested.memory, requested.ephemeral_storage);
    requested.scalar.is_empty().then_some(amounts)
}
