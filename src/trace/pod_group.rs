//! The cycle of a pod group: its own facts, and the view that keeps one cycle view for each member.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cycle_view::CycleView;
use super::event::Event;
use super::steps::ExtensionPoint;
use crate::cluster::{Key, Str};
use crate::framework::{GroupMismatch, GroupPreemptionRecord, PluginName, Status};
use crate::output::{Words, words};
use crate::plural::count;

/// One fact about the cycle of a group. Facts about a member come between, as in the cycle of a single pod: first the
/// attempts for all members, one after another, then what becomes of each.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields' names and the variants' docs say it")]
pub enum GroupEvent {
    /// The members that could be taken out of the queue are tried together.
    Started(GroupStart),
    /// The group was tried on some of the nodes; the facts about members are of the placement that is reported.
    PlacementTried(PlacementTry),
    /// A member would find a place there, which counts as taken for the members behind it.
    MemberPlaced { pod: Key, node: Str },
    /// Preemption was tried for the group as a whole.
    Preempted(Arc<GroupPreemptionRecord>),
    /// The decision about the group after the attempts.
    Decided(GroupDecision),
    /// The next events are about this member.
    MemberResumed { pod: Key },
    /// The cycle of the group ended.
    Finished { group: Key, outcome: GroupOutcome },
}

/// A group when its cycle starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupStart {
    pub group: Key,
    /// The pod that was popped, and brought the others along.
    pub popped: Key,
    /// The members that are tried, in order.
    pub pods: Vec<Key>,
    /// How many members must have a place; `None` for a group without such a number, or without an object.
    pub min_count: Option<i32>,
    /// Members that have a node already.
    pub scheduled: usize,
    /// All members that are known.
    pub known: usize,
    /// Why they are not tried.
    pub mismatch: Option<GroupMismatch>,
}

/// How a group fared on some of the nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacementTry {
    /// The value of the topology key; empty where all nodes were meant.
    pub name: Str,
    /// How many nodes.
    pub nodes: usize,
    /// Members that would find a place.
    pub placed: usize,
    /// The result for the group; success if the placement takes it.
    pub status: Status,
    /// The weighted score of each plugin; empty where there was nothing to choose.
    pub scores: Vec<(PluginName, i64)>,
    /// Whether it is the one that is taken, or reported where none is.
    pub chosen: bool,
}

/// How the cycle of a group ends; named as the result labels of kube-scheduler's metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum GroupOutcome {
    /// The members that found a place are bound.
    Scheduled,
    /// The members would find places once victims are gone.
    WaitingOnPreemption,
    /// Not enough members find a place.
    Unschedulable,
    /// Something went wrong.
    Error,
}

/// The decision about a group after the attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupDecision {
    /// How it ends.
    pub outcome: GroupOutcome,
    /// The status in the condition of the PodGroup.
    pub status: Status,
    /// Members that found a place in this cycle, with victims in the way or without.
    pub placed: usize,
}

/// The cycle of a group so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupView {
    /// The group and its members.
    pub start: Arc<GroupStart>,
    /// The placements in which it was tried, by name.
    pub placements: Vec<PlacementTry>,
    /// Where each member would find a place.
    pub placed: Arc<BTreeMap<Key, Str>>,
    /// The preemption for the group as a whole, where it was tried.
    pub preemption: Option<Arc<GroupPreemptionRecord>>,
    /// The decision; `None` while members are tried.
    pub decision: Option<GroupDecision>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<GroupOutcome>,
    /// The member whose cycle is on show.
    shown: Option<Key>,
    /// The other members' cycles.
    members: BTreeMap<Key, CycleView>,
}

impl PlacementTry {
    /// Returns the fact as a plain sentence.
    pub fn sentence(&self) -> String {
        let name = if self.name.is_empty() { "all nodes".to_owned() } else { format!("placement {}", self.name) };
        let pods = count(self.placed, "pod");
        let verdict = if self.status.is_success() { "takes the group" } else { "does not take the group" };
        let scores: Vec<String> = self.scores.iter().map(|(plugin, score)| format!("{plugin} {score}")).collect();
        let scores = if scores.is_empty() { String::new() } else { format!(", scores {}", scores.join(" + ")) };
        let chosen = if self.chosen && !scores.is_empty() { ", chosen" } else { "" };
        format!("{name} ({}) {verdict}: {pods} would fit{scores}{chosen}", count(self.nodes, "node"))
    }
}

impl GroupEvent {
    /// Returns the pod that it is about; `None` for those about the group.
    pub fn pod(&self) -> Option<&Key> {
        match self {
            Self::MemberPlaced { pod, .. } | Self::MemberResumed { pod } => Some(pod),
            _ => None,
        }
    }

    /// Returns the node that it is about.
    pub(super) fn node(&self) -> Option<&Str> {
        if let Self::MemberPlaced { node, .. } = self { Some(node) } else { None }
    }

    /// Returns the extension point that it belongs to.
    pub(super) fn extension_point(&self) -> ExtensionPoint {
        match self {
            Self::Started(_) => ExtensionPoint::Queue,
            Self::PlacementTried(_) => ExtensionPoint::Score,
            Self::MemberPlaced { .. } => ExtensionPoint::Reserve,
            Self::Preempted(_) => ExtensionPoint::PostFilter,
            Self::Decided(_) | Self::MemberResumed { .. } | Self::Finished { .. } => ExtensionPoint::Failure,
        }
    }

    /// Returns the fact as a plain sentence.
    pub fn sentence(&self) -> String {
        self.words().to_string()
    }

    /// Returns the fact as a plain sentence, with the pod and the node that it names.
    pub fn words(&self) -> Words {
        match self {
            Self::Started(start) => {
                let pods = count(start.pods.len(), "pod");
                let of = match start.min_count {
                    Some(min) => format!("; {min} must have a place, {} have one", start.scheduled),
                    None => String::new(),
                };
                format!("the cycle of pod group {} started for {pods}{of}", start.group).into()
            }
            Self::PlacementTried(tried) => tried.sentence().into(),
            Self::MemberPlaced { pod, node } => words![pod, " is assumed on ", node, " for the members after it"],
            Self::Preempted(record) if record.status.is_success() => {
                format!("evicting {} makes room for the group", count(record.victims().count(), "pod")).into()
            }
            Self::Preempted(record) => format!("preemption for the group: {}", record.status.message()).into(),
            Self::Decided(decision) => match decision.outcome {
                GroupOutcome::Scheduled => format!("the group is scheduled: {} found a place", count(decision.placed, "pod")).into(),
                GroupOutcome::Error => format!("the group is not scheduled: {}", decision.status.message()).into(),
                GroupOutcome::Unschedulable | GroupOutcome::WaitingOnPreemption => decision.status.message_with_fact().into(),
            },
            Self::MemberResumed { pod } => words!["what becomes of ", pod],
            Self::Finished { group, outcome } => {
                format!("the cycle of pod group {group} ended: {}", outcome.to_string().replace('_', " ")).into()
            }
        }
    }
}

impl GroupView {
    /// Returns the facts about the group without the members' cycles.
    #[must_use]
    pub fn summary(&self) -> Self {
        Self {
            start: self.start.clone(),
            placements: self.placements.clone(),
            placed: self.placed.clone(),
            preemption: self.preemption.clone(),
            decision: self.decision.clone(),
            outcome: self.outcome,
            shown: None,
            members: BTreeMap::new(),
        }
    }
}

impl CycleView {
    /// Returns the cycle of a member with the facts about its group, but without the other members' cycles.
    pub fn only_member(&self, pod: &Key) -> Option<Self> {
        let group = GroupView { shown: Some(pod.clone()), ..self.group.as_ref()?.summary() };
        let mut member = self.member(pod)?.clone();
        member.group = Some(Arc::new(group));
        Some(member)
    }

    /// Returns the cycle of a member of the group, also where another one is on show.
    pub fn member(&self, pod: &Key) -> Option<&Self> {
        let group = self.group.as_ref()?;
        if group.shown.as_ref() == Some(pod) { Some(self) } else { group.members.get(pod) }
    }

    /// Returns the view with the cycle of a member on show; without change for any other pod.
    #[must_use]
    pub fn showing(mut self, pod: &Key) -> Self {
        if self.member(pod).is_some() {
            self.show(pod);
        }
        self
    }

    /// Takes in a fact about a group.
    pub(super) fn apply_group(&mut self, event: &GroupEvent) {
        if let GroupEvent::Started(start) = event {
            let group = GroupView { start: Arc::new(start.clone()), ..GroupView::default() };
            *self = Self { group: Some(Arc::new(group)), ..Self::default() };
            return;
        }
        let Some(group) = &mut self.group else { return };
        let view = Arc::make_mut(group);
        match event {
            GroupEvent::PlacementTried(tried) => view.placements.push(tried.clone()),
            GroupEvent::MemberPlaced { pod, node } => drop(Arc::make_mut(&mut view.placed).insert(pod.clone(), node.clone())),
            GroupEvent::Preempted(record) => view.preemption = Some(record.clone()),
            GroupEvent::Decided(decision) => view.decision = Some(decision.clone()),
            GroupEvent::MemberResumed { pod } => self.show(&pod.clone()),
            GroupEvent::Finished { outcome, .. } => {
                view.outcome = Some(*outcome);
                let popped = view.start.popped.clone();
                self.show(&popped);
            }
            GroupEvent::Started(_) => {}
        }
    }

    /// Puts the cycle on show away, for the first attempt of a member; returns the group of both, which goes on with the
    /// latter. `None` where no cycle of a group is under way.
    pub(super) fn put_away(&mut self, next: &Key) -> Option<Arc<GroupView>> {
        let mut group = self.group.take().filter(|group| group.outcome.is_none())?;
        let known = Arc::make_mut(&mut group);
        if let Some(shown) = known.shown.replace(next.clone()) {
            known.members.insert(shown, std::mem::take(self));
        }
        Some(group)
    }

    /// Rebuilds the maps by node of a member's cycle, which leaves no room in them: a map that grew is half empty, and a group keeps two
    /// for each member.
    pub(super) fn pack(&mut self) {
        if self.group.is_none() {
            return;
        }
        self.filter.verdicts = std::mem::take(&mut self.filter.verdicts).into_iter().collect();
        self.scoring.scores = std::mem::take(&mut self.scoring.scores).into_iter().collect();
    }

    fn show(&mut self, pod: &Key) {
        if self.group.as_ref().is_none_or(|group| group.shown.as_ref() == Some(pod)) {
            return;
        }
        let Some(mut group) = self.group.take() else { return };
        let known = Arc::make_mut(&mut group);
        if let Some(shown) = known.shown.replace(pod.clone()) {
            known.members.insert(shown, std::mem::take(self));
        }
        *self = known.members.remove(pod).unwrap_or_default();
        self.group = Some(group);
    }
}

impl Event {
    /// A fact about a group.
    pub fn group(event: GroupEvent) -> Self {
        Self::Group(Arc::new(event))
    }
}
