//! A decision as data: the object that `explain -o json` prints.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{BindReport, ExtenderReport, GroupReport, OddsReport};
use crate::analysis::{Missing, ReleaseReport, odds, why};
use crate::cluster::Str;
use crate::framework::{Candidate, Code, DeviceFindings, PluginName, Reason, Status};
use crate::limits::engine::{REASON_BYTES, REASONS_LISTED, REASONS_OF_NODE};
use crate::output::length_within;
use crate::release::PreFilterRejection;
use crate::trace::{CycleView, Outcome, PreemptionView};

/// One pod's decision. Keys, names and orders are stable; lists of nodes are sorted by node.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// How the attempt ended; `None` while it runs, and if no node could be read.
    pub outcome: Option<Outcome>,
    /// The selected node; of several with the highest score, the first by name.
    pub node: Option<Str>,
    /// All nodes that share the highest score.
    pub best_nodes: Vec<Str>,
    /// Nodes that passed.
    pub feasible: Vec<Str>,
    /// The PreEnqueue rejection.
    pub pre_enqueue: Option<PluginVerdict>,
    /// The PreFilter rejection of all nodes.
    pub pre_filter: Option<PluginVerdict>,
    /// Nodes that failed.
    pub filter: Vec<NodeVerdict>,
    /// The status of nodes in neither list.
    pub absent: Option<StatusReport>,
    /// Scores of feasible nodes, when there are two or more.
    pub score: Vec<NodeScores>,
    /// The text of the FailedScheduling event.
    pub message: String,
    /// Plugins that rejected the pod.
    pub unschedulable_plugins: Vec<PluginName>,
    /// The devices of nodes rejected for them, where the answer has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Arc<DeviceFindings>>,
    /// The preemption; `None` if PostFilter did not run.
    pub preemption: Option<Preemption>,
    /// The likelihood of each outcome; `None` if nothing is left to chance.
    pub odds: Option<OddsReport>,
    /// The decision in one sentence.
    pub why: String,
    /// The source does not show the budgets, so a missing violation proves nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub budgets_unknown: bool,
    /// The kinds that are unknown, or known in part.
    pub missing: Vec<Missing>,
    /// Who would bind the pod, where extenders are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<BindReport>,
    /// The parts of extenders, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extenders: Vec<ExtenderReport>,
    /// Plugins of the profile that are not emulated and might decide otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_emulated: Vec<String>,
    /// The cycle of the pod's group, if it was tried with one; `None` in answers that have it elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupReport>,
    /// The emulated release; `None` in answers that name it elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseReport>,
}

/// A plugin's rejection.
#[derive(Clone, Debug, Serialize)]
pub struct PluginVerdict {
    /// The plugin; empty if several plugins together left no node.
    pub plugin: String,
    pub code: Code,
    /// The reasons in one line.
    pub message: String,
    /// The facts behind each reason.
    pub facts: Vec<Reason>,
}

/// A node's rejection.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeVerdict {
    pub node: Str,
    /// The plugin that rejected it.
    pub plugin: Option<PluginName>,
    pub code: Code,
    /// The reasons in order.
    pub reasons: Vec<String>,
    /// The facts behind each reason.
    pub facts: Vec<Reason>,
    /// The number of further reasons, where those of all nodes are too many or too long to list.
    #[serde(skip_serializing_if = "crate::analysis::is_zero")]
    pub reasons_left_out: usize,
}

/// A code with reasons.
#[derive(Clone, Debug, Serialize)]
pub struct StatusReport {
    pub code: Code,
    /// The reasons in order.
    pub reasons: Vec<String>,
    /// The facts behind each reason.
    pub facts: Vec<Reason>,
}

/// A node's scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeScores {
    pub node: Str,
    /// Sum of the weighted scores.
    pub total: i64,
    /// Weighted scores by plugin.
    pub plugins: BTreeMap<PluginName, i64>,
    /// Weighted scores by extender, named by its place in the configuration.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extenders: BTreeMap<usize, i64>,
}

/// A preemption: what it would do, and why it chooses its node.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preemption {
    /// Whether the pod may preempt.
    pub eligible: bool,
    /// Why it may not; empty if it may.
    pub ineligible_reason: String,
    /// The nodes on which preemption makes room.
    pub candidates: Vec<CandidateReport>,
    /// The nodes of failed dry runs.
    pub node_statuses: Vec<NodeStatusReport>,
    /// The candidates that extenders left, with the victims they want, where extenders are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_extenders: Option<Vec<CandidateReport>>,
    /// The nominated node.
    pub selected: Option<Str>,
    /// Pods whose nomination would be cleared; includes the pod itself if no node is worth trying.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear_nominations: Vec<String>,
    /// The candidates that tie.
    pub best_candidates: Vec<Str>,
    /// The score functions that were called.
    pub score_functions: Vec<ScoreFunctionReport>,
    /// PostFilter's result.
    pub status: MessageReport,
}

/// A node on which preemption makes room.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CandidateReport {
    pub node: Str,
    /// The victims, most important first, as `namespace/name`.
    pub victims: Vec<String>,
    /// The number of victims that violate a budget; `None` if budgets could not be read.
    pub pdb_violations: Option<i64>,
}

/// A failed dry run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeStatusReport {
    pub node: Str,
    /// The code; `None`, written as an empty string, if kube-scheduler gives neither code nor reason.
    #[serde(serialize_with = "code_or_empty")]
    pub code: Option<Code>,
    /// The reasons in order.
    pub reasons: Vec<String>,
    /// The facts behind each reason.
    pub facts: Vec<Reason>,
    /// The number of further reasons, where those of all nodes are too many or too long to list.
    #[serde(skip_serializing_if = "crate::analysis::is_zero")]
    pub reasons_left_out: usize,
}

#[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes the field")]
fn code_or_empty<S: serde::Serializer>(code: &Option<Code>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.map_or("", Into::into))
}

/// One step of the tie-break between candidates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreFunctionReport {
    pub name: &'static str,
    /// The scores of the remaining candidates.
    pub scores: BTreeMap<Str, i64>,
    /// The candidates that keep the best score.
    pub remaining: Vec<Str>,
}

/// A code with a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MessageReport {
    pub code: Code,
    pub message: String,
}

impl PluginVerdict {
    /// Returns the verdict without the facts behind it.
    pub(super) fn decided(&self) -> impl PartialEq + '_ {
        (&self.plugin, self.code, &self.message)
    }
}

impl NodeVerdict {
    /// Returns the verdict without the facts behind it.
    pub(super) fn decided(&self) -> impl PartialEq + '_ {
        (&self.node, self.plugin, self.code, &self.reasons, self.reasons_left_out)
    }
}

impl StatusReport {
    /// Returns the status without the facts behind it.
    pub(super) fn decided(&self) -> impl PartialEq + '_ {
        (self.code, &self.reasons)
    }
}

impl NodeStatusReport {
    fn decided(&self) -> impl PartialEq + '_ {
        (&self.node, self.code, &self.reasons, self.reasons_left_out)
    }
}

impl Preemption {
    /// Returns whether two preemptions are equal but for facts.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        fn parts(p: &Preemption) -> impl PartialEq + '_ {
            let found = (p.eligible, &p.ineligible_reason, &p.candidates, &p.after_extenders);
            (found, &p.selected, &p.clear_nominations, &p.best_candidates, &p.score_functions, &p.status)
        }
        parts(self) == parts(other)
            && self.node_statuses.iter().map(NodeStatusReport::decided).eq(other.node_statuses.iter().map(NodeStatusReport::decided))
    }
}

/// Bytes of a long reason that count as one: in an answer of many lines they take several times as many.
const BYTES_OF_ONE: usize = 32;

/// Returns how many of [`REASONS_LISTED`] a reason counts for; `None` where that is more than some are left.
fn weight(reason: &Reason, left: usize) -> Option<usize> {
    let length = length_within(reason, REASON_BYTES.max(left.saturating_mul(BYTES_OF_ONE)))?;
    let weight = if length > REASON_BYTES { length / BYTES_OF_ONE } else { 1 };
    Some(weight).filter(|weight| *weight <= left)
}

/// Lists the reasons of nodes, up to a number of all together.
struct ReasonList {
    left: usize,
}

impl ReasonList {
    fn new() -> Self {
        Self { left: REASONS_LISTED }
    }

    /// Returns the reasons of a node and the facts behind them, and how many are left out.
    fn of(&mut self, status: &Status) -> (Vec<String>, Vec<Reason>, usize) {
        let all = status.reasons();
        let spend = |left: usize, reason| weight(reason, left).map(|weight| left - weight);
        let left = if all.len() <= self.left { all.iter().try_fold(self.left, spend) } else { None };
        let is_short = |reason: &&Reason| weight(reason, 1).is_some();
        let listed = if left.is_some() { all.len() } else { all.iter().take(REASONS_OF_NODE).take_while(is_short).count() };
        self.left = match left {
            Some(left) => left,
            // Of further long ones none is measured to its end.
            None if all.len() <= self.left => 0,
            None => self.left.saturating_sub(listed),
        };
        let texts = status.texts().take(listed).map(Into::into).collect();
        (texts, all[..listed].to_vec(), all.len() - listed)
    }
}

fn reasons(status: &Status) -> Vec<String> {
    status.texts().map(Into::into).collect()
}

fn verdict(status: &Status) -> PluginVerdict {
    let plugin = status.plugin().map_or("", PluginName::as_str).to_owned();
    PluginVerdict { plugin, code: status.code(), message: status.message(), facts: status.reasons().to_vec() }
}

/// How a cycle ended.
pub(super) struct DecisionEnd {
    pub(super) outcome: Option<Outcome>,
    pub(super) node: Option<Str>,
    pub(super) best_nodes: Vec<Str>,
    pub(super) message: String,
}

impl DecisionEnd {
    pub(super) fn of(view: &CycleView) -> Self {
        let (node, best_nodes) = match (&view.scoring.selected, view.outcome) {
            (Some((node, _, tied)), Some(Outcome::Scheduled)) => (Some(node.clone()), sorted(tied)),
            _ => (None, Vec::new()),
        };
        let is_open = view.nodes_unknown().is_some();
        let message = match (&view.failure, &view.skipped) {
            // It would be about the nodes that could not be read.
            (Some(_), _) if is_open => String::new(),
            (Some(failure), _) => failure.message.to_string(),
            (None, Some((pod, why))) => why.text(pod),
            (None, None) => String::new(),
        };
        Self { outcome: view.outcome.filter(|_| !is_open), node, best_nodes, message }
    }
}

impl Decision {
    /// Reports the decision of a finished cycle.
    pub fn of(view: &CycleView) -> Self {
        let error = view.outcome == Some(Outcome::Error);
        let DecisionEnd { outcome, node, best_nodes, message } = DecisionEnd::of(view);
        let feasible: Vec<Str> = if error { Vec::new() } else { view.feasible().cloned().collect() };
        let failed = if error { BTreeMap::new() } else { failed(view) };
        let mut listed = ReasonList::new();
        Self {
            outcome,
            node,
            best_nodes,
            pre_enqueue: view.pre_enqueue.as_ref().map(verdict),
            pre_filter: view.pre_filter.narrowed.as_ref().filter(|_| view.pre_filter.rejected.is_some()).map(|(_, status)| verdict(status)),
            filter: failed
                .into_iter()
                .map(|(node, status)| {
                    let (reasons, facts, reasons_left_out) = listed.of(status);
                    let (plugin, code) = (status.plugin(), status.code());
                    NodeVerdict { node: node.clone(), plugin, code, reasons, facts, reasons_left_out }
                })
                .collect(),
            bind: BindReport::of(view),
            extenders: ExtenderReport::all(view),
            absent: view
                .pre_filter
                .narrowed
                .as_ref()
                .filter(|(_, status)| !error && !status.is_success() && has_absent_status(view))
                .map(|(_, status)| StatusReport { code: status.code(), reasons: reasons(status), facts: status.reasons().to_vec() }),
            score: if error { Vec::new() } else { scores(view) },
            feasible,
            message,
            unschedulable_plugins: view.failure.as_ref().map(|failure| failure.plugins.iter().collect()).unwrap_or_default(),
            devices: view.findings.devices.clone(),
            preemption: (!view.post_filter.is_empty()).then(|| preemption(view)),
            odds: odds(view).map(|odds| OddsReport::of(&odds)),
            why: why(view),
            budgets_unknown: view.budgets_unknown(),
            missing: Missing::all(view.missing()),
            not_emulated: view.not_emulated.iter().map(|(plugin, what)| format!("{plugin}: {what}")).collect(),
            group: None,
            release: None,
        }
    }
}

/// The statuses of nodes that were turned down; what extenders say of a node counts before what plugins do.
fn failed(view: &CycleView) -> BTreeMap<&Str, &Status> {
    // A node that an extender leaves out without a word has no status.
    let has_text = |status: &&Status| status.plugin() != Some(PluginName::Extender) || !status.reasons().is_empty();
    let by_plugins = view.filter.verdicts.iter().map(|(node, verdict)| (node, &verdict.status)).filter(|(_, status)| !status.is_success());
    by_plugins.filter(|(_, status)| has_text(status)).chain(&view.extenders.statuses).collect()
}

/// Returns whether nodes that no Filter plugin ran for have PreFilter's status.
fn has_absent_status(view: &CycleView) -> bool {
    view.pre_filter.rejected != Some(PreFilterRejection::WithoutStatus)
}

fn sorted(names: &[Str]) -> Vec<Str> {
    let mut names = names.to_vec();
    names.sort();
    names
}

fn scores(view: &CycleView) -> Vec<NodeScores> {
    view.scoring
        .scores
        .values()
        .map(|s| {
            let mut plugins: BTreeMap<PluginName, i64> = BTreeMap::new();
            // A policy may have several priorities of one kind.
            s.plugins.iter().for_each(|p| *plugins.entry(p.plugin).or_default() += p.weighted);
            NodeScores { node: s.node.clone(), total: s.total, plugins, extenders: view.extenders.scores_of(&s.node) }
        })
        .collect()
}

fn preemption(view: &CycleView) -> Preemption {
    let status = view.post_filter_status();
    let mut report = Preemption {
        eligible: false,
        ineligible_reason: "plugin DefaultPreemption is not enabled".to_owned(),
        candidates: Vec::new(),
        node_statuses: Vec::new(),
        after_extenders: None,
        selected: None,
        clear_nominations: Vec::new(),
        best_candidates: Vec::new(),
        score_functions: Vec::new(),
        status: MessageReport { code: status.code(), message: status.message() },
    };
    if let Some(found) = &view.preemption {
        report.eligible = found.ineligible().is_none();
        report.ineligible_reason = found.ineligible().map(Status::message).unwrap_or_default();
        fill(&mut report, found, view.missing().budgets_withheld());
    }
    report
}

fn fill(report: &mut Preemption, found: &PreemptionView, withheld: bool) {
    let candidate = |c: &Candidate| CandidateReport {
        node: c.node.clone(),
        victims: c.victims.iter().map(|v| v.key().to_string()).collect(),
        pdb_violations: (!withheld).then_some(c.pdb_violations),
    };
    report.candidates = found.candidates().map(candidate).collect();
    report.after_extenders = found.after_extenders().map(|left| left.iter().map(candidate).collect());
    let mut listed = ReasonList::new();
    report.node_statuses = found
        .dry_runs()
        .filter_map(|run| run.status().filter(|s| !s.is_success()).map(|s| (run.node(), s)))
        .map(|(node, status)| {
            let (reasons, facts, reasons_left_out) = listed.of(status);
            let code = Some(status.code()).filter(|_| !status.reasons().is_empty());
            NodeStatusReport { node: node.clone(), code, reasons, facts, reasons_left_out }
        })
        .collect();
    report.clear_nominations = found.cleared_nominations().iter().map(ToString::to_string).collect();
    report.score_functions = found
        .score_functions()
        .iter()
        .map(|f| ScoreFunctionReport { name: f.name.into(), scores: f.scores.iter().cloned().collect(), remaining: sorted(&f.remaining) })
        .collect();
    if let Some((node, best)) = found.selected().filter(|_| !found.hypothetical()) {
        report.selected = Some(node.clone());
        report.best_candidates = sorted(best);
    }
}

#[cfg(test)]
mod tests;
