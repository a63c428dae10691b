//! The answer to a verb: nodes, pods, capacity, notes.

use std::collections::{BTreeMap, BTreeSet};

use super::capacity::Capacity;
use super::flood::Flood;
use crate::admission::Refusal;
use crate::cluster::{Cluster, Key, Pod, PodDisruptionBudget, Str};
pub use crate::controllers::Note;
use crate::scheduler::Scheduler;
use crate::session::PodLocation;
use crate::session::Verb;
use crate::trace::Place;

/// The answer to a verb. [`Whereabouts::of`] returns the places of its pods at the end of all verbs.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub verb: Verb,
    /// The nodes that it drained, lost or added.
    pub nodes: Vec<NodeAnswer>,
    /// The pods that it made, moved or left.
    pub pods: Vec<PodAnswer>,
    /// How many more of a pod fit.
    pub capacity: Option<Capacity>,
    /// Who is evicted if pods like one keep coming.
    pub flood: Option<Flood>,
    /// Facts that are unknown or not emulated and may matter.
    pub notes: Vec<Note>,
    /// Pending and evicted pods without the verb and with it, once nothing changes any more; `None` where they are not counted.
    pub tallies: Option<[Tally; 2]>,
    /// The pods that were preempted, each with its preemptor.
    pub preempted: BTreeMap<Key, Key>,
    /// How many of those have controllers, which make them again. Those are not made here.
    pub made_again: usize,
}

/// Numbers of pods once nothing changes any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Pods without a node.
    pub pending: usize,
    /// Pods that had a node and were evicted.
    pub evicted: usize,
}

impl Tally {
    /// Counts pods at the end of a run from a cluster.
    pub(super) fn of(before: &Cluster, end: &Cluster) -> Self {
        let stays = |pod: &Pod| end.pods.get(&pod.key()).is_some_and(|now| !now.node_name.is_empty() && !now.is_terminating());
        let running = before.pods.iter().filter(|pod| !pod.node_name.is_empty() && !pod.is_terminal() && !pod.is_terminating());
        Self { pending: end.pods.iter().filter(|pod| pod.is_pending()).count(), evicted: running.filter(|pod| !stays(pod)).count() }
    }
}

/// A node that was drained, lost or added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAnswer {
    /// Its name.
    pub node: Str,
    pub end: NodeEnd,
}

#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum NodeEnd {
    /// No pod is left that a drain evicts.
    Drained,
    /// Pods without a controller stop the drain before it begins; the node stays cordoned.
    #[strum(serialize = "bare-pods")]
    Bare {
        pods: Vec<Key>,
        /// The budgets that would stop the drain too, if it evicted these pods.
        blocks: Vec<Block>,
    },
    /// Pods stay, because their budgets refuse; the node stays cordoned.
    Blocked,
    /// The drain waits for a node before this one, which stays cordoned.
    NotReached,
    /// The node is gone.
    Lost,
    /// The node is new.
    Added,
}

/// A pod that a verb made, moved or left.
#[derive(Clone, Debug, PartialEq)]
pub struct PodAnswer {
    /// The pod as it was.
    pub pod: Key,
    /// The node that it was on; empty without one.
    pub node: Str,
    pub end: PodEnd,
}

#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum PodEnd {
    /// Its controller made this pod in its place.
    Recreated(Key),
    /// It is new.
    Created,
    /// It is gone, and nothing takes its place.
    Gone(Departure),
    /// It stays where it is.
    Stays(Stay),
}

/// Why nothing takes the place of a pod.
#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Departure {
    /// It has no controller.
    Bare,
    /// It had ended.
    Ended,
    /// It was being deleted; its controller has replaced it already.
    Terminating,
    /// Its DaemonSet has no node to make it on.
    DaemonSet,
    /// The kubelet that ran it is gone.
    Mirror,
    /// Its Job fails, as the pod counts as failed.
    JobFails,
    /// Its controller makes another, which an API server refuses.
    Refused(Refusal),
    /// The workload needs it no more.
    ScaledDown,
    /// Its controller would make another, which is not created: those before took as many steps as are allowed.
    NotCreated,
}

/// Why a pod stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stay {
    /// A drain leaves pods of DaemonSets.
    DaemonSet,
    /// A drain leaves the mirrors of static pods.
    Mirror,
    /// Its eviction was refused.
    Blocked(Block),
}

/// Why the eviction API refuses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Block {
    /// The budget allows no disruption, or fewer than are needed.
    Exhausted {
        budget: Key,
        /// `disruptionsAllowed`.
        allowed: i32,
        /// Healthy pods that there are, and that it wants; `None` where its status does not say.
        healthy: Option<(i32, i32)>,
    },
    /// The budget allows no disruption before these replacements are ready, and they have no node.
    Waits {
        budget: Key,
        /// The pods without a node.
        replacements: Vec<Key>,
    },
    /// Several budgets cover the pod, which the eviction API does not support.
    Several(Vec<Key>),
}

impl Block {
    /// Returns the block by a budget that allows no more disruptions.
    pub(super) fn exhausted(budget: &PodDisruptionBudget) -> Self {
        let status = &budget.status;
        Self::Exhausted {
            budget: budget.metadata.key(),
            allowed: status.disruptions_allowed,
            healthy: (status.desired_healthy > 0).then_some((status.current_healthy, status.desired_healthy)),
        }
    }

    /// Returns the budgets that block.
    pub fn budgets(&self) -> &[Key] {
        match self {
            Self::Exhausted { budget, .. } | Self::Waits { budget, .. } => std::slice::from_ref(budget),
            Self::Several(budgets) => budgets,
        }
    }
}

impl Answer {
    /// Returns the answer of a verb that did nothing yet.
    pub(crate) fn new(verb: Verb) -> Self {
        Self {
            verb,
            nodes: Vec::new(),
            pods: Vec::new(),
            capacity: None,
            flood: None,
            notes: Vec::new(),
            tallies: None,
            preempted: BTreeMap::new(),
            made_again: 0,
        }
    }

    /// Returns the answer about how many more of a pod fit.
    pub fn of_capacity(capacity: Capacity) -> Self {
        let verb = Verb::Capacity(capacity.pod.to_string().into());
        Self { capacity: Some(capacity), ..Self::new(verb) }
    }

    /// Returns the answer about who is evicted if pods like one keep coming.
    pub fn of_flood(flood: Flood) -> Self {
        let verb = Verb::Flood(flood.pod.to_string().into());
        Self { flood: Some(flood), ..Self::new(verb) }
    }

    /// Adds a pod.
    pub(super) fn pod(&mut self, pod: Key, node: Str, end: PodEnd) {
        self.pods.push(PodAnswer { pod, node, end });
    }

    /// Takes in pods that took too many steps to create.
    pub(super) fn not_created(&mut self, left: &BTreeSet<Key>) {
        if left.is_empty() {
            return;
        }
        for pod in &mut self.pods {
            if matches!(&pod.end, PodEnd::Recreated(new) if left.contains(new)) {
                pod.end = PodEnd::Gone(Departure::NotCreated);
            }
        }
        match self.notes.iter_mut().find_map(|note| if let Note::NotCreated(pods) = note { Some(pods) } else { None }) {
            Some(pods) => *pods += left.len(),
            None => self.note(Note::NotCreated(left.len())),
        }
    }

    /// Adds a note, once.
    pub(super) fn note(&mut self, note: Note) {
        note.add_to(&mut self.notes);
    }

    /// Returns whether all of it was done: nodes drained, new pods placed, at least one more pod fits.
    pub fn is_complete(&self, cluster: &Cluster) -> bool {
        let placed = |pod: &Key| cluster.pods.get(pod).is_some_and(|pod| !pod.node_name.is_empty());
        let done = |end: &NodeEnd| !matches!(end, NodeEnd::Bare { .. } | NodeEnd::Blocked | NodeEnd::NotReached);
        self.nodes.iter().all(|node| done(&node.end))
            && self.capacity.as_ref().is_none_or(|capacity| capacity.fits > 0)
            && self.pods.iter().all(|pod| match &pod.end {
                PodEnd::Recreated(new) => placed(new),
                PodEnd::Created => placed(&pod.pod),
                PodEnd::Gone(why) => *why != Departure::NotCreated,
                PodEnd::Stays(stay) => !matches!(stay, Stay::Blocked(_)),
            })
    }
}

/// Where a pod is, and why it has no node.
#[derive(Clone, Debug, PartialEq)]
pub struct Whereabouts {
    /// Its place.
    pub location: PodLocation,
    /// The scheduler's message about its last attempt; empty with a node, and before the first attempt.
    pub message: Str,
}

impl Whereabouts {
    /// Returns where a pod is.
    pub fn of(scheduler: &Scheduler, pod: &Key) -> Self {
        let state = scheduler.state();
        let location = PodLocation::of(state.cluster(), state.queue().view(), pod);
        let pod = state.cluster().pods.get(pod).filter(|pod| pod.node_name.is_empty());
        let message = pod.and_then(|pod| pod.condition("PodScheduled").map(|c| c.message.clone())).unwrap_or_default();
        Self { location, message }
    }

    /// Returns the node, if the pod has one.
    pub fn node(&self) -> Option<&Str> {
        match &self.location {
            PodLocation::Node(node) | PodLocation::Leaving(node) | PodLocation::Waiting(Place::Bound { node }, ..) => Some(node),
            _ => None,
        }
    }
}

/// A pod that no verb moved, and that is elsewhere because of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Elsewhere {
    pub pod: Key,
    /// Where it is without the verbs, and with them.
    pub at: [PodLocation; 2],
}

impl Elsewhere {
    /// Returns the pods that verbs did not name, but that end elsewhere than without them, by namespace and name.
    pub fn of(without: &Scheduler, with: &Scheduler, answers: &[Answer]) -> Vec<Self> {
        let mut named: BTreeSet<&Key> = BTreeSet::new();
        for pod in answers.iter().flat_map(|answer| &answer.pods) {
            named.insert(&pod.pod);
            if let PodEnd::Recreated(new) = &pod.end {
                named.insert(new);
            }
        }
        Self::besides(without, with, &named)
    }

    /// Returns the pods except some that end elsewhere in one run than in another, by namespace and name.
    pub fn besides(without: &Scheduler, with: &Scheduler, named: &BTreeSet<&Key>) -> Vec<Self> {
        let ends = [without.state(), with.state()];
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        for (own, other) in [(0, 1), (1, 0)] {
            let pods = &ends[other].cluster().pods;
            let differs =
                |pod: &&std::sync::Arc<crate::cluster::Pod>| pods.get(&pod.key()).is_none_or(|twin| !std::sync::Arc::ptr_eq(pod, twin));
            keys.extend(ends[own].cluster().pods.iter().filter(differs).map(|pod| pod.key()));
            keys.extend(ends[own].queue().view().entries.keys().cloned());
        }
        let place = |pod: &Key| ends.map(|end| PodLocation::of(end.cluster(), end.queue().view(), pod));
        // Whether a pod waits in one queue or another says little; that it waits, and for which node, does.
        let alike = |at: &[PodLocation; 2]| match at {
            [PodLocation::Waiting(_, one, _), PodLocation::Waiting(_, other, _)] => one == other,
            [one, other] => one == other,
        };
        let found = keys.into_iter().filter(|pod| !named.contains(pod)).map(|pod| Self { at: place(&pod), pod });
        found.filter(|pod| !alike(&pod.at)).collect()
    }
}
