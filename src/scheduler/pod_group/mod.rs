//! The attempt to place a pod group: all members on one picture of the nodes, in which each takes the place that it finds.
//! Mirrors the algorithm of `pkg/scheduler/schedule_one_podgroup.go`; what becomes of the members is done in
//! [`super::cycle`].
//!
//! Nothing here changes the scheduler's memory: members are assumed on copies, which are dropped at the end.

mod algorithm;
mod nominations;
mod placement;
mod preemption;

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use self::nominations::GroupNominations;
use super::algorithm::{FitError, PostFilter, Sampling};
use super::equivalence_cache::EquivalenceCache;
use super::queue::SchedulingQueue;
use super::runtime::Framework;
use super::{Cache, Config, ScheduleError};
use crate::cluster::{Cluster, Key, Str};
use crate::extenders::Asking;
use crate::framework::{CycleState, GroupPreemptionRecord, NodeInfo, QueuedPodInfo, Reason, SnapshotIndexes, Status};
use crate::release::Emulation;
use crate::trace::{Event, GroupDecision, GroupEvent, GroupOutcome};

/// The input of an attempt.
pub(super) struct PodGroupCycle<'a> {
    /// The configuration.
    pub(super) config: &'a Arc<Config>,
    /// Whether extenders are asked.
    pub(super) asking: Asking,
    /// The profile of all members.
    pub(super) framework: &'a Framework,
    /// Whether the events leave out nodes and candidates.
    pub(super) quiet: bool,
    /// The release and its feature gates.
    pub(super) emulation: Emulation,
    /// The virtual time.
    pub(super) now: Timestamp,
    /// How many nodes to evaluate.
    pub(super) sampling: Sampling,
    pub(super) group: &'a Key,
    /// The members, in the order in which they are tried.
    pub(super) members: &'a [QueuedPodInfo],
    /// The number of the first member's attempt.
    pub(super) first_cycle: u64,
    /// Where the search for nodes starts; moves on.
    pub(super) next_start_node_index: &'a mut usize,
    /// How many pods were scored; moves on.
    pub(super) last_node_index: &'a mut u64,
    /// The steps of attempts; grows.
    pub(super) steps: &'a mut u64,
    /// The state as members see it.
    pub(super) world: World<'a>,
    /// The places that members found in a trial of preemption, by place in the order.
    pub(super) places: Vec<(usize, PlaceFound)>,
    /// The places to filter again when a victim comes back.
    pub(super) recheck: Recheck,
    /// How much of the turn is taken.
    pub(super) turn: Turn<'a>,
    /// The known answers of nodes about members like the ones before.
    pub(super) equivalence_cache: EquivalenceCache,
}

/// Takes the events so far after each member that is tried outside placements.
pub(super) type TakeEvents<'a> = &'a mut dyn FnMut(&mut Vec<Event>);

/// How much of the turn of a group is taken.
pub(super) enum Turn<'a> {
    /// All of it.
    Whole(TakeEvents<'a>),
    /// The decision alone: nothing is evicted.
    Decision(TakeEvents<'a>),
}

impl Turn<'_> {
    /// Returns the same for a shorter time.
    pub(super) fn reborrow(&mut self) -> Turn<'_> {
        match self {
            Self::Whole(after_member) => Turn::Whole(after_member),
            Self::Decision(after_member) => Turn::Decision(after_member),
        }
    }
}

/// The places of members to filter again when a victim is back on its node.
#[derive(Debug, Default)]
pub(super) enum Recheck {
    /// This is not yet known.
    #[default]
    Open,
    /// All: what a member finds on its node depends on pods elsewhere, or on what the ones before it reserve.
    All,
    /// Those on the victim's node, by node; the others hold.
    OnNode(HashMap<Str, Vec<usize>>),
}

/// The nodes, objects and nominations as members see them.
#[derive(Clone)]
pub(super) struct World<'a> {
    cache: Cache,
    cluster: Cluster,
    nominations: GroupNominations<'a>,
    /// The indexes of the snapshot that the cycle began with, which assumed members leave as they are.
    indexes: Arc<SnapshotIndexes>,
}

/// The result of the attempt.
#[derive(Debug)]
pub(super) struct GroupResult {
    /// The members that were tried, in order; fewer than there are after an error, none without a placement.
    pub(super) members: Vec<MemberResult>,
    /// Success, or why the group is not scheduled.
    pub(super) status: Status,
    /// Whether it only waits for victims to go.
    pub(super) waiting_on_preemption: bool,
    /// The status before the preemption for the group as a whole, in releases that add what it found.
    pub(super) before_preemption: Option<Status>,
    /// The preemption for the group as a whole.
    pub(super) preemption: Option<Arc<GroupPreemptionRecord>>,
    /// Members that PostFilter plugins preempt or write for, by place in the order, with what they found.
    pub(super) post_filtered: Vec<(usize, Box<FitError>)>,
}

/// The result of the attempt for one member.
#[derive(Clone, Debug)]
pub(super) struct MemberResult {
    pub(super) verdict: Verdict,
    /// Where it would go, with victims in the way or without; `None` where it finds no place.
    pub(super) place: Option<PlaceFound>,
}

/// How the attempt for one member ended.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    Fits,
    /// No node takes it; with a place, some node would without some pods.
    NoFit(Box<FitError>),
    /// There is no node.
    NoNodes,
    /// Reserve or Permit turned it back on its node.
    Rejected(Status),
    /// Something went wrong.
    Error(ScheduleError),
}

/// The place of a member.
#[derive(Clone, Debug)]
pub(super) struct PlaceFound {
    /// The node as the member saw it.
    pub(super) node: Arc<NodeInfo>,
    /// The state of plugins; nothing is reserved any more.
    pub(super) cycle_state: CycleState,
    /// The answer of Permit plugins: success, or wait.
    pub(super) permit: Status,
}

impl MemberResult {
    /// Whether the member would go where victims are in the way.
    pub(super) fn requires_preemption(&self) -> bool {
        self.place.is_some() && !matches!(self.verdict, Verdict::Fits)
    }
}

impl GroupResult {
    fn of(status: Status) -> Self {
        Self {
            members: Vec::new(),
            status,
            waiting_on_preemption: false,
            before_preemption: None,
            preemption: None,
            post_filtered: Vec::new(),
        }
    }

    /// How the cycle ends.
    pub(super) fn outcome(&self) -> GroupOutcome {
        if self.status.is_success() {
            GroupOutcome::Scheduled
        } else if self.waiting_on_preemption {
            GroupOutcome::WaitingOnPreemption
        } else if self.status.is_rejected() {
            GroupOutcome::Unschedulable
        } else {
            GroupOutcome::Error
        }
    }

    fn takes_the_group(&self) -> bool {
        self.status.is_success() || self.waiting_on_preemption
    }

    fn placed(&self) -> usize {
        self.members.iter().filter(|member| member.place.is_some()).count()
    }

    fn decision(&self) -> Event {
        let decision = GroupDecision { outcome: self.outcome(), status: self.status.clone(), placed: self.placed() };
        Event::group(GroupEvent::Decided(decision))
    }
}

/// The status of a group that is not scheduled, with what is behind it.
fn unschedulable(behind: impl IntoIterator<Item = Reason>) -> Status {
    let reasons = std::iter::once(Reason::GroupUnschedulable).chain(behind);
    Status::new(crate::framework::Code::Unschedulable, reasons)
}

impl<'a> World<'a> {
    /// Returns the scheduler's own state.
    pub(super) fn new(cache: &Cache, cluster: &Cluster, queue: &'a SchedulingQueue) -> Self {
        let indexes = cache.snapshot().indexes();
        Self { cache: cache.clone(), cluster: cluster.clone(), nominations: GroupNominations::new(queue), indexes }
    }
}

impl PodGroupCycle<'_> {
    /// Tries the group, and looks for victims where that is what the gates say.
    pub(super) fn run(&mut self, events: &mut Vec<Event>) -> GroupResult {
        let mut result = self.schedule(PostFilter::Run, Some(events));
        self.preempt_for_group(&mut result, events);
        events.push(result.decision());
        result
    }
}
