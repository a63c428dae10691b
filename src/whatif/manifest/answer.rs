//! The end of a manifest's pods, and the victims.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Watch;
use super::rollout::{Change, Rollout};
use crate::admission::RefusedPod;
use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Key, Kind, Str};
use crate::controllers::Note;
use crate::controllers::unfold::Hold;
use crate::limits::engine::MANIFEST_DECISIONS;
use crate::scheduler::{GroupViews, Scheduler};
use crate::session::PodLocation;
use crate::trace::{CycleView, Place};
use crate::whatif::stage::Stage;
use crate::whatif::{Capacity, Whereabouts};

/// The end of a manifest.
#[derive(Clone, Debug, Default)]
pub struct ManifestAnswer {
    /// The workloads, in the order of the manifest.
    pub workloads: Vec<ManifestWorkload>,
    /// The pods that were made, and those of the same workloads that were pending before, in the order of the workloads.
    pub pods: Vec<ManifestPod>,
    /// The pods that an API server refuses.
    pub refused: Vec<RefusedPods>,
    /// The pods that are not made yet.
    pub not_made: Vec<NotMade>,
    /// The pods that are evicted for pods of the manifest.
    pub victims: Vec<ManifestVictim>,
    /// Objects that make no pods and that scheduling reads, by kind: how many were applied.
    pub applied: BTreeMap<Str, usize>,
    /// Objects that scheduling does not read, by kind.
    pub skipped: BTreeMap<Str, usize>,
    /// The policies of admission that are unknown.
    pub unknown: Vec<NeighborKind>,
    /// How many more fit; `None` if it was not asked for, or no pod was admitted.
    pub capacity: Option<ManifestCapacity>,
    /// Facts that are unknown or not emulated and may matter.
    pub notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ManifestWorkload {
    pub kind: Str,
    pub key: Key,
    /// The number of pods that it wants.
    pub wanted: u64,
    /// The number that it makes later, when others have completed.
    pub later: u64,
    /// The change that the manifest makes.
    pub change: Change,
    /// The pods that it had with a node and keeps.
    pub kept: usize,
    /// The pods that it removes.
    pub removed: usize,
    /// The pods that keep another template than the manifest's, by the reason.
    pub outdated: Vec<(usize, WhyKept)>,
}

/// Why pods keep another template than that of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyKept {
    /// The Deployment is paused.
    Paused,
    /// The update strategy is `OnDelete`.
    OnDelete,
    /// They are below the partition of a StatefulSet.
    Partition(u64),
    /// The controller uses a template for new pods only.
    NewOnly,
    /// A StatefulSet waits until a new pod is ready.
    Ordered(Key),
    /// A StatefulSet waits until a pod of another template is ready, and does not replace it before.
    Unready(Key),
}

#[derive(Clone, Debug)]
pub struct ManifestPod {
    pub pod: Key,
    /// The index of its workload.
    pub workload: usize,
    pub end: ManifestPodEnd,
}

#[derive(Clone, Debug)]
pub enum ManifestPodEnd {
    /// It has a node.
    Placed {
        node: Str,
        /// The decision with its odds, if they were counted.
        odds: Option<Arc<CycleView>>,
    },
    /// It has none.
    Pending {
        /// The scheduler's message; empty before an attempt.
        message: Str,
        /// A dry decision about it, or about one that is rejected alike; `None` beyond the limit on decisions.
        decision: Option<Arc<CycleView>>,
    },
    /// It waits for its next attempt, and the run has ended after as many steps as are allowed.
    Undecided,
    /// Another pod took its place.
    Preempted {
        /// The other pod, if it is known.
        by: Option<Key>,
    },
}

/// Pods of a workload that an API server refuses.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedPods {
    /// The index of the workload.
    pub workload: usize,
    /// The number of pods.
    pub count: u64,
    /// The refusal of the first.
    pub refusal: RefusedPod,
}

/// Pods of a workload that are not made.
#[derive(Clone, Debug, PartialEq)]
pub struct NotMade {
    /// The index of the workload.
    pub workload: usize,
    /// The number of pods.
    pub count: u64,
    pub why: WhyNotMade,
}

/// Why pods are not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyNotMade {
    /// The workload makes none for now.
    Held(Hold),
    /// A StatefulSet waits for the pod before.
    Ordered(Key),
    /// The rollout waits for its new pods.
    Rollout,
    /// The pods come after a part of the workload, a pod of which is not ready.
    Part(Key),
    /// A CronJob makes no Job while another has not ended.
    Concurrent(Key),
    /// The limit on pods or rounds was reached, or the run was cancelled.
    Limit,
}

/// A pod that is evicted for a pod of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestVictim {
    pub pod: Key,
    pub node: Str,
    /// The pod that preempts it.
    pub by: Key,
    /// The budgets that its eviction violates.
    pub violates: Vec<Key>,
    /// Whether its controller makes it again. That is not done here.
    pub made_again: bool,
}

/// How many more pods of a workload fit.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestCapacity {
    /// The count.
    pub capacity: Capacity,
    /// The refusal of the next pod, if admission stops it before the nodes are full.
    pub refused: Option<RefusedPod>,
}

impl ManifestAnswer {
    /// Returns whether every pod has a node.
    pub fn is_complete(&self) -> bool {
        self.refused.is_empty() && self.not_made.is_empty() && self.pods.iter().all(|pod| matches!(pod.end, ManifestPodEnd::Placed { .. }))
    }

    /// Returns the pods of a workload, which follow each other.
    pub fn pods_of(&self, workload: usize) -> &[ManifestPod] {
        let place = |workload: usize| self.pods.partition_point(|pod| pod.workload < workload);
        &self.pods[place(workload)..place(workload + 1)]
    }

    /// Takes in the end of a run.
    pub(super) fn finish(&mut self, stage: &dyn Stage, rollouts: &[Rollout], mut watch: Watch) {
        let scheduler = stage.scheduler();
        let preempted = stage.preempted();
        let mut decisions = Decisions::default();
        for (workload, rollout) in rollouts.iter().enumerate() {
            self.workloads.push(rollout.summary());
            let was_pending = rollout.was_pending();
            for pod in rollout.made().chain(was_pending) {
                let end = match scheduler.state().cluster().get(Kind::Pod, pod) {
                    None => ManifestPodEnd::Preempted { by: preempted.get(pod).cloned() },
                    Some(_) => {
                        let at = Whereabouts::of(scheduler, pod);
                        match at.node() {
                            Some(node) => ManifestPodEnd::Placed { node: node.clone(), odds: watch.odds.remove(pod) },
                            None if rollout.is_cut() || stage.bound().is_reached() && is_tried_again(&at.location) => {
                                ManifestPodEnd::Undecided
                            }
                            None => ManifestPodEnd::Pending {
                                decision: decisions.about(scheduler, workload, pod, &at.message),
                                message: at.message,
                            },
                        }
                    }
                };
                self.pods.push(ManifestPod { pod: pod.clone(), workload, end });
            }
            if let Some((refusal, count)) = rollout.refused() {
                self.refused.push(RefusedPods { workload, count, refusal: refusal.clone() });
            }
            if let Some((why, count)) = rollout.not_made(scheduler.state().cluster()) {
                self.not_made.push(NotMade { workload, count, why });
            }
        }
        if watch.odds_asked && watch.odds_left.1 == 0 {
            let has_none = |pod: &&ManifestPod| matches!(pod.end, ManifestPodEnd::Placed { odds: None, .. });
            Note::OddsNotCounted(self.pods.iter().filter(has_none).count()).add_to(&mut self.notes);
        }
        self.victims = watch.victims;
        if stage.bound().is_reached() {
            Note::CutShort.add_to(&mut self.notes);
        }
        let mut seen = BTreeSet::new();
        self.victims.retain(|victim| seen.insert(victim.pod.clone()));
    }
}

/// Returns whether a pod waits for an attempt that only time holds up.
pub fn is_tried_again(at: &PodLocation) -> bool {
    matches!(at, PodLocation::Waiting(Place::Active | Place::Backoff { .. } | Place::InFlight, ..))
}

/// Returns whether a pod that a run left at a place, as it ended after a number of steps, may yet be elsewhere: it would be tried again,
/// or is evicted in another run, which may have come further.
pub fn may_move(at: &PodLocation, in_other: &PodLocation) -> bool {
    use PodLocation::{Gone, Leaving, Node};
    is_tried_again(at) || matches!((at, in_other), (Node(_), Leaving(_) | Gone) | (Leaving(_), Gone))
}

/// Decisions about pending pods: one for those of a workload with the same message, and one attempt for a pod group.
#[derive(Default)]
struct Decisions {
    of_workloads: BTreeMap<(usize, Str), Arc<CycleView>>,
    groups: GroupViews,
}

impl Decisions {
    fn about(&mut self, scheduler: &Scheduler, workload: usize, pod: &Key, message: &Str) -> Option<Arc<CycleView>> {
        let id = (workload, message.clone());
        if let Some(known) = self.of_workloads.get(&id) {
            return Some(Arc::clone(known));
        }
        if self.of_workloads.len() == MANIFEST_DECISIONS {
            return None;
        }
        let pod = scheduler.state().cluster().pods.get(pod)?;
        let view = Arc::new(self.groups.member(scheduler, pod).unwrap_or_else(|| scheduler.view_of(pod)));
        self.of_workloads.insert(id, Arc::clone(&view));
        Some(view)
    }
}
