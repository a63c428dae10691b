//! The cycle of a pod group as data: what `run -o json` and `explain -o json` print beside the popped pod.

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::decision::DecisionEnd;
use crate::analysis::{why, why_group};
use crate::cluster::{Cluster, Key, Str};
use crate::output::{Document, Headings, Lines, Words};
use crate::trace::{CycleView, GroupOutcome, GroupView, Outcome};

/// A pod group and its members.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupReport {
    /// The group, as `namespace/name`.
    pub name: String,
    /// How its cycle ended.
    pub outcome: Option<GroupOutcome>,
    /// Its outcome, and the reason if it waits, as one sentence.
    pub why: String,
    /// Members that must have a place; null for a group without such a number.
    pub min_count: Option<i32>,
    /// The members that were tried, in order.
    pub pods: Vec<MemberReport>,
    /// The placements in which it was tried, by name; empty where there was one, of all nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placements: Vec<PlacementReport>,
    /// The victims of the preemption for the group as a whole, those of the most important unit first.
    pub victims: Vec<String>,
    /// The condition that says whether it was scheduled, now; null without a PodGroup.
    pub condition: Option<ConditionReport>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberReport {
    /// Which pod.
    pub pod: String,
    /// How its cycle ended.
    pub outcome: Option<Outcome>,
    /// Where it was bound.
    pub node: Option<Str>,
    /// All nodes that shared the highest score; only the node if a placement was tried after the chosen one, as in the
    /// recorded cases.
    pub best_nodes: Vec<Str>,
    /// Where it would go; also where the group is not scheduled.
    pub place: Option<Str>,
    /// The text of the condition; empty for a pod that was bound.
    pub message: String,
    /// Where the cycle nominated it to.
    pub nominated: Option<Str>,
    /// The victims of its own preemption, most important first.
    pub victims: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacementReport {
    /// The value of the topology key.
    pub name: Str,
    /// How many nodes.
    pub nodes: usize,
    /// Members that would fit.
    pub fits: usize,
    pub takes_group: bool,
    /// The weighted sum of its scores; null where there was nothing to choose.
    pub score: Option<i64>,
    /// Whether it is the one that was taken or reported.
    pub chosen: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionReport {
    /// `True` or `False`.
    pub status: Str,
    pub reason: Str,
    /// Its text.
    pub message: Str,
}

impl GroupReport {
    /// The group of a cycle; `None` for a cycle of a single pod.
    ///
    /// The condition is that in `cluster`, which is `None` for a decision without consequences.
    pub fn of(view: &CycleView, cluster: Option<&Cluster>) -> Option<Self> {
        let group = view.group.as_ref()?;
        let GroupView { start, placements, preemption, outcome, .. } = &**group;
        let named = placements.iter().filter(|tried| !tried.name.is_empty());
        Some(Self {
            name: start.group.to_string(),
            outcome: *outcome,
            why: why_group(group).unwrap_or_default(),
            min_count: start.min_count,
            pods: start.pods.iter().map(|pod| MemberReport::of(pod, view, group)).collect(),
            placements: named
                .map(|tried| PlacementReport {
                    name: tried.name.clone(),
                    nodes: tried.nodes,
                    fits: tried.placed,
                    takes_group: tried.status.is_success(),
                    score: (!tried.scores.is_empty()).then(|| tried.scores.iter().map(|(_, score)| score).sum()),
                    chosen: tried.chosen,
                })
                .collect(),
            victims: preemption.iter().flat_map(|record| record.victims()).map(|info| info.key().to_string()).collect(),
            condition: cluster
                .and_then(|cluster| cluster.pod_groups.get(&start.group))
                .and_then(|object| object.scheduled_condition())
                .map(|condition| {
                    let (status, reason, message) = (condition.status.clone(), condition.reason.clone(), condition.message.clone());
                    ConditionReport { status, reason, message }
                }),
        })
    }
}

impl MemberReport {
    fn of(pod: &Key, view: &CycleView, group: &GroupView) -> Self {
        let (pod_name, place) = (pod.to_string(), group.placed.get(pod).cloned());
        let Some(view) = view.member(pod) else {
            let (outcome, message) = (None, String::new());
            return Self {
                pod: pod_name,
                outcome,
                node: None,
                best_nodes: Vec::new(),
                place,
                message,
                nominated: None,
                victims: Vec::new(),
            };
        };
        let decision = DecisionEnd::of(view);
        let tried_later = group.placements.iter().rev().take_while(|tried| !tried.chosen).next().is_some();
        let best_nodes = if tried_later { decision.node.iter().cloned().collect() } else { decision.best_nodes };
        Self {
            pod: pod_name,
            outcome: decision.outcome,
            node: decision.node,
            best_nodes,
            place,
            message: decision.message,
            nominated: view.effects.nominated.clone().filter(|node| !node.is_empty()),
            victims: victims(view),
        }
    }
}

/// Returns the cycle of a group as text: one sentence, the placements, and a line for each member. Empty for a cycle of a
/// single pod.
pub fn group_text(view: &CycleView) -> Lines {
    group_document(view).plain(Headings::Colon)
}

/// Returns the cycle of a group as a list; see [`group_text`].
pub fn group_document(view: &CycleView) -> Document {
    let mut out = Document::default();
    let Some(group) = &view.group else { return out };
    let answer = why_group(group).unwrap_or_default();
    out.item(0, format!("POD GROUP {}: {answer}", group.start.group));
    for tried in group.placements.iter().filter(|tried| !tried.name.is_empty()) {
        out.item(2, tried.sentence());
    }
    if let Some(record) = &group.preemption {
        for victim in record.victims() {
            out.item(2, Words::from("evicts ").pod(&victim.key()));
        }
    }
    let width = group.start.pods.iter().map(|pod| pod.to_string().width()).max().unwrap_or(0);
    for pod in &group.start.pods {
        let name = pod.to_string();
        let pad = " ".repeat(width - name.width());
        let what = match view.member(pod) {
            Some(member) => why(member),
            None => "Not tried.".to_owned(),
        };
        out.item(2, Words::of_pod(pod).text(format!("{pad}  {what}")));
    }
    out
}

/// The victims of a pod's own preemption, most important first.
pub(super) fn victims(view: &CycleView) -> Vec<String> {
    let Some(preemption) = view.preemption.as_ref().filter(|p| !p.hypothetical()) else { return Vec::new() };
    preemption.chosen().map(|c| c.victims.iter().map(|v| v.key().to_string()).collect()).unwrap_or_default()
}
