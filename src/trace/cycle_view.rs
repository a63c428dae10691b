//! The state of a cycle at a point of the timeline: a fold over its events.
//!
//! The screen draws it at the cursor; a report reads it at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::event::{AttemptFailure, CycleStart, Event, Eviction, Outcome, Selection, SkipReason};
use super::pod_group::GroupView;
use super::preemption::PreemptionView;
use super::scores::{NodeScore, Row};
use crate::cluster::{Key, Kind, KindSet, MissingKinds, MissingReason, Str};
use crate::framework::{Code, DeviceFindings, ExtenderCall, ExtenderOutcome, ExtenderVerb, PluginName, Reason, SharedList, Status};
use crate::odds::Odds;
use crate::release::{PreFilterRejection, Release};

/// A cycle up to the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CycleView {
    /// The pod and its attempt; `None` before the cycle started.
    pub start: Option<Arc<CycleStart>>,
    /// Why PreEnqueue keeps the pod out.
    pub pre_enqueue: Option<Status>,
    /// The pod that was not tried: PreEnqueue keeps it out, or no profile schedules it.
    pub untried: Option<Key>,
    /// Statuses of PreFilter plugins, in order.
    pub pre_filter: Vec<(PluginName, Status)>,
    /// The nodes that PreFilter left, and the status of all others.
    pub narrowed: Option<(SharedList<Str>, Status)>,
    /// Whether PreFilter rejected the pod for every node.
    pub pre_filter_rejected: Option<PreFilterRejection>,
    /// Plugins of the profile that are not emulated, with the decisions they might have changed.
    pub not_emulated: Vec<(Str, Str)>,
    /// Verdicts so far, by node; Success for nodes that fit.
    pub verdicts: BTreeMap<Str, Verdict>,
    /// The nominated node, if it was filtered first.
    pub nominated_first: Option<Str>,
    /// The parts of extenders so far, in order; those in preemption are with it.
    pub extenders: Vec<Arc<ExtenderCall>>,
    /// Statuses that extenders gave, by node; such a node can still fit.
    pub extender_statuses: BTreeMap<Str, Status>,
    /// The scores that extenders gave, by node and by place in the configuration; added to the totals.
    pub given: BTreeMap<Str, BTreeMap<usize, i64>>,
    /// The nodes that extenders left, where any was asked.
    pub left_by_extenders: Option<Vec<Str>>,
    /// Nodes filtered, of all, and fits wanted, if the search ended early.
    pub stopped: Option<(usize, usize, usize)>,
    /// Statuses of PreScore plugins, in order.
    pub pre_score: Vec<(PluginName, Status)>,
    /// Scores by node.
    pub scores: BTreeMap<Str, Row<NodeScore>>,
    /// The chosen node, why it was chosen, and all nodes with its total.
    pub selected: Option<(Str, Selection, SharedList<Str>)>,
    /// The odds of nodes over all starting nodes of the search, if they were asked for; no event has them.
    pub odds_over_starts: Option<Arc<Odds>>,
    /// The devices of rejected nodes, if they were asked for; no event has them.
    pub devices: Option<Arc<DeviceFindings>>,
    /// The kinds that the source did not provide, of a pod that was not tried; no event has them.
    pub unknown: MissingKinds,
    /// The profile that is meant by the scheduler name of a pod of which no scheduler has written; no event has it.
    pub meant_profile: Option<Str>,
    /// Statuses of PostFilter plugins, in order.
    pub post_filter: Vec<(PluginName, Status)>,
    /// The preemption so far.
    pub preemption: Option<PreemptionView>,
    /// The node that this cycle nominated the pod to; empty if the nomination was cleared.
    pub nominated: Option<Str>,
    /// Pods that lost their nomination.
    pub cleared_nominations: Vec<Key>,
    /// Pods that were evicted.
    pub evicted: Vec<(Key, Eviction)>,
    /// The Permit plugins that the pod still waits for.
    pub permit_waits: Vec<PluginName>,
    /// The node the pod is bound to.
    pub bound: Option<Str>,
    /// Why it failed.
    pub failure: Option<Arc<AttemptFailure>>,
    /// Why the cycle never started.
    pub skipped: Option<(Key, SkipReason)>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
    /// The node of the newest event, for following it on the screen.
    pub current_node: Option<Str>,
    /// The cycle of the pod's group, of which this is a part.
    pub group: Option<Arc<GroupView>>,
}

/// A node's verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Success, or the rejection with its plugin.
    pub status: Status,
    /// The nominated pods counted on the node.
    pub nominated: SharedList<Key>,
}

impl CycleView {
    /// Whether budgets are unknown; if so, zero violations prove nothing.
    pub fn budgets_unknown(&self) -> bool {
        self.start.as_ref().is_some_and(|start| start.budgets_unknown)
    }

    /// Returns the kinds that the source did not provide.
    pub fn missing(&self) -> MissingKinds {
        self.start.as_ref().map_or(self.unknown, |start| start.missing)
    }

    /// Returns the kinds of which the reasons miss an object, according to the source.
    pub fn missed_kinds(&self) -> KindSet {
        let rejections = self.pre_enqueue.iter().chain(self.pre_filter.iter().map(|(_, status)| status));
        let verdicts = self.verdicts.values().map(|verdict| &verdict.status);
        rejections.chain(verdicts).flat_map(Status::reasons).flat_map(Reason::missing_kinds).copied().collect()
    }

    /// Returns why the decision is open: the pod was tried without nodes, because none could be read.
    pub fn nodes_unknown(&self) -> Option<MissingReason> {
        let start = self.start.as_ref().filter(|start| start.nodes == 0 && self.skipped.is_none())?;
        start.missing.withheld(Kind::Node).filter(|_| self.outcome.is_none_or(|outcome| outcome == Outcome::Error))
    }

    /// Returns the pod that the cycle is about, also if it was not tried.
    pub fn pod(&self) -> Option<&Key> {
        let skipped = || self.skipped.as_ref().map(|(pod, _)| pod);
        self.start.as_ref().map(|start| &start.pod).or(self.untried.as_ref()).or_else(skipped)
    }

    /// Folds events in order.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut view = Self::default();
        for event in events {
            view.apply(event);
        }
        view
    }

    /// Applies one more event. The start of a cycle resets the view.
    pub fn apply(&mut self, event: &Event) {
        if let Some(node) = event.node() {
            self.current_node = Some(node.clone());
        }
        match event {
            Event::CycleStarted(start) => {
                let pre_enqueue = self.pre_enqueue.take();
                let group = self.put_away(&start.pod);
                *self = Self { start: Some(start.clone()), pre_enqueue: pre_enqueue.filter(|_| group.is_none()), group, ..Self::default() };
            }
            Event::CycleSkipped { pod, why } => self.skipped = Some((pod.clone(), *why)),
            Event::PreEnqueueRejected { pod, status } if self.is_about(pod) => {
                self.pre_enqueue = Some(status.clone());
                self.untried = self.start.is_none().then(|| pod.clone());
            }
            Event::NotEmulated { plugin, what } => self.not_emulated.push((plugin.clone(), what.clone())),
            Event::PreFiltered { plugin, status, .. } => self.pre_filter.push((*plugin, status.clone())),
            Event::NodesNarrowed { nodes, status, rejected } => {
                self.narrowed = Some((nodes.clone(), status.clone()));
                self.pre_filter_rejected = *rejected;
            }
            Event::NominatedNodeTried { node } => self.nominated_first = Some(node.clone()),
            Event::AllNodesTried => self.left_by_extenders = None,
            Event::NodeFiltered { node, status, nominated } => {
                if !status.is_success() {
                    self.extender_statuses.remove(node);
                }
                self.verdicts.insert(node.clone(), Verdict { status: status.clone(), nominated: nominated.clone() });
            }
            Event::ExtenderTookPart(call) => self.take_extender(call),
            Event::FilterStopped { evaluated, of, wanted } => self.stopped = Some((*evaluated, *of, *wanted)),
            Event::PreScored { plugin, status } => self.pre_score.push((*plugin, status.clone())),
            Event::NodeScored(score) => {
                self.scores.insert(score.node.clone(), score.clone());
            }
            Event::NodeSelected { node, why, tied } => self.selected = Some((node.clone(), *why, tied.clone())),
            Event::PostFiltered { plugin, status } => self.post_filter.push((*plugin, status.clone())),
            Event::PodNominated { pod, node } if self.is_about(pod) => self.nominated = Some(node.clone()),
            Event::NominationCleared { pod, .. } => self.cleared_nominations.push(pod.clone()),
            Event::VictimEvicted { pod, how, .. } => self.evicted.push((Key::clone(pod), *how)),
            Event::PermitWaited { pod, plugins, .. } if self.is_about(pod) => {
                self.permit_waits = plugins.iter().map(|(plugin, _)| *plugin).collect();
            }
            Event::PermitResolved { pod, .. } if self.is_about(pod) => self.permit_waits.clear(),
            Event::PodBound { node, .. } => self.bound = Some(node.clone()),
            Event::AttemptFailed { failure, .. } => self.failure = Some(failure.clone()),
            Event::CycleFinished { pod, outcome } => {
                self.untried = self.start.is_none().then(|| pod.clone());
                self.outcome = Some(*outcome);
            }
            Event::Group(event) => self.apply_group(event),
            Event::PreemptionStarted(record) => self.preemption = Some(PreemptionView::started(record.clone())),
            _ => {
                if let Some(preemption) = &mut self.preemption {
                    preemption.apply(event);
                }
            }
        }
    }

    fn take_extender(&mut self, call: &Arc<ExtenderCall>) {
        if call.outcome.verb() == ExtenderVerb::Preempt {
            if let Some(preemption) = &mut self.preemption {
                preemption.apply(&Event::ExtenderTookPart(call.clone()));
            }
            return;
        }
        if let ExtenderOutcome::Filtered(filter) = &call.outcome {
            self.extender_statuses.extend(filter.statuses.iter().cloned());
            self.left_by_extenders = Some(filter.left.clone());
            let left: BTreeSet<&Str> = filter.left.iter().collect();
            for node in filter.asked.iter().filter(|node| !left.contains(node)) {
                let status = self.extender_statuses.get(node).cloned();
                let Some(verdict) = self.verdicts.get_mut(node) else { continue };
                verdict.status = status.unwrap_or_else(|| {
                    Status::new(Code::UnschedulableAndUnresolvable, Vec::<Reason>::new()).with_plugin(PluginName::Extender)
                });
            }
        }
        if let ExtenderOutcome::Scored { scores, .. } = &call.outcome {
            for (node, score) in scores {
                let sum: &mut i64 = self.given.entry(node.clone()).or_default().entry(call.extender.index).or_default();
                *sum = sum.wrapping_add(*score);
            }
        }
        self.extenders.push(call.clone());
    }

    /// The extenders that scored nodes so far, by their place in the configuration; without those that were not asked.
    pub fn scoring_extenders(&self) -> BTreeSet<usize> {
        let scored = |call: &&Arc<ExtenderCall>| matches!(call.outcome, ExtenderOutcome::Scored { asked: true, .. });
        self.extenders.iter().filter(scored).map(|call| call.extender.index).collect()
    }

    /// The scores that extenders gave a node, by their place in the configuration; added to its total.
    pub fn extender_scores(&self, node: &str) -> BTreeMap<usize, i64> {
        self.given.get(node).cloned().unwrap_or_default()
    }

    /// Whether the event's pod is the cycle's; effects on other pods are not part of the cycle.
    fn is_about(&self, pod: &Key) -> bool {
        self.start.as_ref().is_none_or(|s| s.pod == *pod)
    }

    /// Returns the status of PostFilter as a whole; mirrors how `RunPostFilterPlugins` combines the plugins' statuses.
    pub fn post_filter_status(&self) -> Status {
        let ended = self.post_filter.last().filter(|(_, s)| s.code() != Code::Unschedulable);
        match ended {
            Some((plugin, status)) if !status.is_success() => status.clone().with_plugin(*plugin),
            Some((_, status)) => status.clone(),
            None => {
                let merged = Status::new(Code::Unschedulable, self.post_filter.iter().flat_map(|(_, s)| s.reasons().iter().cloned()));
                merged.in_words_of(self.post_filter.first().map_or(Release::NEWEST, |(_, s)| s.words_of()))
            }
        }
    }

    /// Returns the nodes that fit so far, by name; those that extenders left, if any filtered.
    pub fn feasible(&self) -> impl Iterator<Item = &Str> {
        let own = self.left_by_extenders.is_none();
        let by_plugins = self.verdicts.iter().filter(move |(_, v)| own && v.status.is_success()).map(|(node, _)| node);
        let by_extenders: BTreeSet<&Str> = self.left_by_extenders.iter().flatten().collect();
        by_plugins.chain(by_extenders)
    }
}
