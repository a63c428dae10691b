//! The state of a cycle at a point of the timeline: a fold over its events.
//!
//! The screen draws it at the cursor; a report reads it at the end.

mod effects;
mod extenders;
mod filter;
mod findings;
mod fold;
mod pre_filter;
mod scoring;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

pub use self::effects::EffectsView;
pub use self::extenders::ExtendersView;
pub use self::filter::{FilterView, Verdict};
pub use self::findings::FindingsView;
pub(crate) use self::fold::Fold;
pub use self::pre_filter::PreFilterView;
pub use self::scoring::ScoringView;
use super::event::{AttemptFailure, CycleStart, Event, Outcome, SkipReason};
use super::pod_group::GroupView;
use super::preemption::PreemptionView;
use crate::cluster::{Key, Kind, KindSet, MissingKinds, MissingReason, Str};
use crate::framework::{Code, ExtenderCall, ExtenderOutcome, ExtenderVerb, PluginName, Reason, Status};
use crate::release::Release;

/// A cycle up to the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CycleView {
    /// The pod and its attempt; `None` before the cycle started.
    pub start: Option<Arc<CycleStart>>,
    /// Why PreEnqueue keeps the pod out.
    pub pre_enqueue: Option<Status>,
    /// The pod that was not tried: PreEnqueue keeps it out, or no profile schedules it.
    pub untried: Option<Key>,
    /// The results of PreFilter.
    pub pre_filter: PreFilterView,
    /// Plugins of the profile that are not emulated, with the decisions they might have changed.
    pub not_emulated: Vec<(Str, Str)>,
    /// The results of Filter.
    pub filter: FilterView,
    /// The parts that extenders take in a cycle.
    pub extenders: ExtendersView,
    /// The scores of a cycle, and the node that was chosen by them.
    pub scoring: ScoringView,
    /// Findings beside the events of a cycle: no event has them.
    pub findings: FindingsView,
    /// Statuses of PostFilter plugins, in order.
    pub post_filter: Vec<(PluginName, Status)>,
    /// The preemption so far.
    pub preemption: Option<PreemptionView>,
    /// The effects of a cycle on its pod and on others.
    pub effects: EffectsView,
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

impl CycleView {
    /// Whether budgets are unknown; if so, zero violations prove nothing.
    pub fn budgets_unknown(&self) -> bool {
        self.start.as_ref().is_some_and(|start| start.budgets_unknown)
    }

    /// Returns the kinds that the source did not provide.
    pub fn missing(&self) -> MissingKinds {
        self.start.as_ref().map_or(self.findings.unknown, |start| start.missing)
    }

    /// Returns the kinds of which the reasons miss an object, according to the source.
    pub fn missed_kinds(&self) -> KindSet {
        let rejections = self.pre_enqueue.iter().chain(self.pre_filter.statuses.iter().map(|(_, status)| status));
        let verdicts = self.filter.verdicts.values().map(|verdict| &verdict.status);
        rejections.chain(verdicts).flat_map(Status::reasons).flat_map(Reason::missing_kinds).copied().collect()
    }

    /// Returns why the decision is open: the pod was tried without nodes, because none could be read.
    pub fn nodes_unknown(&self) -> Option<MissingReason> {
        let start = self.start.as_ref().filter(|start| start.nodes == 0 && self.skipped.is_none())?;
        start.missing.unread(Kind::Node).filter(|_| self.outcome.is_none_or(|outcome| outcome == Outcome::Error))
    }

    /// Returns the pod that the cycle is about, also if it was not tried.
    pub fn pod(&self) -> Option<&Key> {
        let skipped = || self.skipped.as_ref().map(|(pod, _)| pod);
        self.start.as_ref().map(|start| &start.pod).or(self.untried.as_ref()).or_else(skipped)
    }

    /// Folds events in order.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        Self::of_recorded(events.into_iter().map(Cow::Borrowed))
    }

    /// Folds recorded events in order.
    pub fn of_recorded<'a>(events: impl IntoIterator<Item = Cow<'a, Event>>) -> Self {
        let (mut view, mut fold) = (Self::default(), Fold::default());
        for event in events {
            fold.apply(&mut view, event);
        }
        fold.finish(&mut view);
        view
    }

    /// Applies one more event. The start of a cycle resets the view.
    pub fn apply(&mut self, event: &Event) {
        if let Some(node) = event.node() {
            self.current_node = Some(node.clone());
        }
        match event {
            Event::CycleStarted(start) => {
                self.pack();
                self.start_cycle(start);
            }
            Event::CycleSkipped { pod, why } => self.skipped = Some((pod.clone(), *why)),
            Event::PreEnqueueRejected { pod, status } if self.is_about(pod) => {
                self.pre_enqueue = Some(status.clone());
                self.untried = self.start.is_none().then(|| pod.clone());
            }
            Event::NotEmulated { plugin, what } => self.not_emulated.push((plugin.clone(), what.clone())),
            Event::PreFiltered { plugin, status, .. } => self.pre_filter.statuses.push((*plugin, status.clone())),
            Event::NodesNarrowed { nodes, status, rejected } => {
                self.pre_filter.narrowed = Some((nodes.clone(), status.clone()));
                self.pre_filter.rejected = *rejected;
            }
            Event::NominatedNodeTried { node } => self.filter.nominated_first = Some(node.clone()),
            Event::AllNodesTried => self.extenders.left = None,
            Event::NodeFiltered { node, status, nominated } => {
                if !status.is_success() {
                    self.extenders.statuses.remove(node);
                }
                self.filter.verdicts.insert(node.clone(), Verdict { status: status.clone(), nominated: nominated.clone() });
            }
            Event::ExtenderTookPart(call) => self.take_extender(call),
            Event::FilterStopped { evaluated, of, wanted } => self.filter.stopped = Some((*evaluated, *of, *wanted)),
            Event::PreScored { plugin, status } => self.scoring.pre_score.push((*plugin, status.clone())),
            Event::NodeScored(score) => {
                self.scoring.scores.insert(score.node.clone(), score.clone());
            }
            Event::NodeSelected { node, why, tied } => self.scoring.selected = Some((node.clone(), *why, tied.clone())),
            Event::PostFiltered { plugin, status } => self.post_filter.push((*plugin, status.clone())),
            Event::PodNominated { pod, node } if self.is_about(pod) => self.effects.nominated = Some(node.clone()),
            Event::NominationCleared { pod, .. } => self.effects.cleared_nominations.push(pod.clone()),
            Event::VictimEvicted { pod, how, .. } => self.effects.evicted.push((Key::clone(pod), *how)),
            Event::PermitWaited { pod, plugins, .. } if self.is_about(pod) => {
                self.effects.permit_waits = plugins.iter().map(|(plugin, _)| *plugin).collect();
            }
            Event::PermitResolved { pod, .. } if self.is_about(pod) => self.effects.permit_waits.clear(),
            Event::PodBound { node, .. } => self.effects.bound = Some(node.clone()),
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

    /// Begins the view of a cycle.
    fn start_cycle(&mut self, start: &Arc<CycleStart>) {
        let pre_enqueue = self.pre_enqueue.take();
        let group = self.put_away(&start.pod);
        *self = Self { start: Some(start.clone()), pre_enqueue: pre_enqueue.filter(|_| group.is_none()), group, ..Self::default() };
    }

    fn take_extender(&mut self, call: &Arc<ExtenderCall>) {
        if call.outcome.verb() == ExtenderVerb::Preempt {
            if let Some(preemption) = &mut self.preemption {
                preemption.apply(&Event::ExtenderTookPart(call.clone()));
            }
            return;
        }
        self.extenders.apply(call);
        let ExtenderOutcome::Filtered(filter) = &call.outcome else { return };
        let left: BTreeSet<&Str> = filter.left.iter().collect();
        for node in filter.asked.iter().filter(|node| !left.contains(node)) {
            let status = self.extenders.statuses.get(node).cloned();
            let Some(verdict) = self.filter.verdicts.get_mut(node) else { continue };
            verdict.status = status
                .unwrap_or_else(|| Status::new(Code::UnschedulableAndUnresolvable, Vec::<Reason>::new()).with_plugin(PluginName::Extender));
        }
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
        let own = self.extenders.left.is_none();
        let by_plugins = self.filter.verdicts.iter().filter(move |(_, v)| own && v.status.is_success()).map(|(node, _)| node);
        let by_extenders: BTreeSet<&Str> = self.extenders.left.iter().flatten().collect();
        by_plugins.chain(by_extenders)
    }
}
