//! All pending pods at a glance: grouped by cause, each cause with the fix that frees most of its pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::agreement::Agreements;
use super::fixes::{FixReport, Originals, fix_report};
use crate::cluster::{Cluster, Key, Object, Pod};
use crate::fixes::{Change, Fix, FixOutcome, Limits, PodChange, find};
use crate::framework::{Reason, Status};
use crate::output::Lines;
use crate::plural::count;
use crate::scheduler::{DryDecision, ObjectEdit, PostFilter, Scheduler};
use crate::trace::{CycleView, Outcome};

/// Limit on the causes for which fixes are searched, largest first.
const CAUSES_SEARCHED: usize = 8;
/// Limit on the decisions of a search.
const TRIALS: usize = 400;
/// Limit on the different pods of a cause whose fixes are searched.
const MODELS: usize = 3;
/// Limit on a pod's fixes that are tried on the other pods of its cause.
const FIXES_TRIED: usize = 6;
/// Limit on the pods of a cause on which a fix is tried.
const PODS_TRIED: usize = 500;
/// Limit on the pods of a cause named in text.
const NAMED: usize = 6;

/// Why a pod waits, in a form that pods can share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitReason {
    key: String,
    /// The number of nodes that give each reason.
    nodes: BTreeMap<String, usize>,
    preemption: PreemptionHelp,
    /// The message of a rejection before Filter, or of an error; empty otherwise.
    held: String,
}

/// Whether preemption makes room for the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum PreemptionHelp {
    /// It finds a candidate.
    #[serde(rename = "helps")]
    Helps,
    /// It finds none.
    #[serde(rename = "no")]
    No,
    /// PostFilter did not run.
    #[serde(rename = "not asked")]
    NotAsked,
}

/// Pods that wait for the same reasons.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CauseReport {
    /// A stable key of the set of reasons.
    pub cause: String,
    /// The cause in words.
    pub sentence: String,
    /// The pods as `namespace/name`, by name.
    pub pods: Vec<String>,
    /// The number of nodes that give each reason, the largest over the pods.
    pub nodes: BTreeMap<String, usize>,
    /// Whether preemption makes room for any of the pods.
    pub preemption: PreemptionHelp,
    /// The fix that frees most of the pods.
    pub fix: Option<CauseFix>,
    /// Whether a fix was searched for.
    pub fix_searched: bool,
}

/// The fix that frees most pods of a cause.
#[derive(Clone, Debug, Serialize)]
pub struct CauseFix {
    /// The fix, with the patches of all pods that it frees.
    #[serde(flatten)]
    pub fix: FixReport,
    /// The number of pods that find a node, placed one after another.
    pub frees: usize,
}

impl WaitReason {
    /// Returns why the pod of a decision waits; `None` for a pod that fits.
    pub fn of(view: &CycleView) -> Option<Self> {
        let status = |status: &Status| status.reasons().iter().map(kind_of).collect::<Vec<_>>().join("+");
        let preemption = match &view.preemption {
            Some(found) if !found.hypothetical() && found.selected().is_some() => PreemptionHelp::Helps,
            _ if view.post_filter.is_empty() => PreemptionHelp::NotAsked,
            _ => PreemptionHelp::No,
        };
        let mut reason = Self { key: String::new(), nodes: BTreeMap::new(), preemption, held: String::new() };
        match view.outcome? {
            Outcome::Gated => {
                let gate = view.pre_enqueue.as_ref()?;
                let gates = gate.reasons().iter().filter_map(|r| match r {
                    Reason::SchedulingGates { gates } => Some(gates.iter().map(crate::cluster::Str::as_str).collect::<Vec<_>>().join(",")),
                    _ => None,
                });
                reason.key = format!("gated:{}:{}", status(gate), gates.collect::<Vec<_>>().join(","));
                reason.held = gate.message();
            }
            Outcome::Error => {
                let message = view.failure.as_ref().map(|failure| failure.message.to_string());
                reason.held = message.unwrap_or_else(|| "the attempt failed".to_owned());
                "error".clone_into(&mut reason.key);
            }
            Outcome::Unschedulable => reason.count(view),
            Outcome::Scheduled => return None,
        }
        Some(reason)
    }

    fn count(&mut self, view: &CycleView) {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut add = |status: &Status, nodes: usize| {
            for (reason, text) in status.reasons().iter().zip(status.texts()) {
                *kinds.entry(kind_of(reason)).or_default() += nodes;
                *self.nodes.entry(text.into_owned()).or_default() += nodes;
            }
        };
        for verdict in view.verdicts.values() {
            add(&verdict.status, 1);
        }
        let all = view.start.as_ref().map_or(0, |start| start.nodes);
        if let Some((_, status)) = view.narrowed.as_ref().filter(|(_, status)| !status.is_success()) {
            add(status, all.saturating_sub(view.verdicts.len()));
        }
        self.key = kinds.into_keys().collect::<Vec<_>>().join("+");
        if self.key.is_empty() {
            "no-nodes".clone_into(&mut self.key);
            self.held = view.failure.as_ref().map(|failure| failure.message.to_string()).unwrap_or_default();
        }
    }
}

/// Returns the kind of a reason, with its resource if it has one.
fn kind_of(reason: &Reason) -> String {
    match reason {
        Reason::Insufficient(shortage) => format!("Insufficient({})", shortage.resource),
        other => other.kind().to_string(),
    }
}

/// Groups pending pods by cause and searches each cause's best fix.
pub fn causes(agreements: &Agreements, scheduler: &Scheduler, originals: Originals<'_>) -> Vec<CauseReport> {
    let mut groups: BTreeMap<String, (WaitReason, Vec<Key>)> = BTreeMap::new();
    for found in &agreements.pods {
        let Some(reason) = &found.waits_for else { continue };
        let (known, pods) = groups.entry(reason.key.clone()).or_insert_with(|| (reason.clone(), Vec::new()));
        for (text, nodes) in &reason.nodes {
            let known = known.nodes.entry(text.clone()).or_default();
            *known = (*known).max(*nodes);
        }
        known.preemption = known.preemption.min(reason.preemption);
        pods.push(found.pod.clone());
    }
    let mut groups: Vec<(WaitReason, Vec<Key>)> = groups.into_values().collect();
    groups.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.key.cmp(&b.0.key)));
    let report = |(at, (reason, mut pods)): (usize, (WaitReason, Vec<Key>))| {
        pods.sort();
        let fix_searched = at < CAUSES_SEARCHED;
        CauseReport {
            sentence: sentence(&reason),
            fix: if fix_searched { best_fix(scheduler, &pods, originals) } else { None },
            cause: reason.key,
            pods: pods.iter().map(Key::to_string).collect(),
            nodes: reason.nodes,
            preemption: reason.preemption,
            fix_searched,
        }
    };
    groups.into_iter().enumerate().map(report).collect()
}

fn sentence(reason: &WaitReason) -> String {
    if !reason.held.is_empty() {
        return reason.held.clone();
    }
    let mut list: Vec<(&String, &usize)> = reason.nodes.iter().collect();
    list.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    list.into_iter().map(|(text, nodes)| format!("{text} ({})", count(*nodes, "node"))).collect::<Vec<_>>().join(", ")
}

/// Returns the fix that frees most of the pods, the smallest among equals. Searches fixes for a few distinct specs.
fn best_fix(scheduler: &Scheduler, pods: &[Key], originals: Originals<'_>) -> Option<CauseFix> {
    let cluster = scheduler.state().cluster();
    let mut models: Vec<&Arc<Pod>> = Vec::new();
    for pod in pods.iter().filter_map(|key| cluster.pods.get(key)) {
        if models.len() < MODELS && !models.iter().any(|model| model.spec == pod.spec) {
            models.push(pod);
        }
    }
    let limits = Limits { trials: TRIALS, ..Limits::of(cluster.nodes.len()) };
    let mut best: Option<(Fix, Vec<Key>)> = None;
    for model in models {
        let found = find(scheduler, model, limits, &|_| true);
        for fix in found.fixes.into_iter().filter(|fix| fix.outcome == FixOutcome::Scheduled).take(FIXES_TRIED) {
            let freed = freed(scheduler, model, &fix.changes, pods);
            if freed.len() > best.as_ref().map_or(0, |(_, most)| most.len()) {
                best = Some((fix, freed));
            }
        }
    }
    let (fix, freed) = best?;
    Some(CauseFix { frees: freed.len(), fix: for_all(&fix, cluster, originals, &freed) })
}

/// Returns a fix with the patches of all pods that it frees. Changes of other objects are made once.
fn for_all(fix: &Fix, cluster: &Cluster, originals: Originals<'_>, pods: &[Key]) -> FixReport {
    let (of_pod, others): (Vec<Change>, Vec<Change>) = fix.changes.iter().cloned().partition(|c| matches!(c, Change::Pod(_)));
    let none = Key::default();
    let mut report = fix_report(&Fix { changes: others, ..fix.clone() }, &none, cluster, originals);
    let mut commands: Vec<String> = Vec::new();
    let whole = fix_report(fix, pods.first().unwrap_or(&none), cluster, originals);
    report.text = whole.text;
    if !of_pod.is_empty() {
        let alone = Fix { changes: of_pod, ..fix.clone() };
        for pod in pods {
            let one = fix_report(&alone, pod, cluster, originals);
            report.changes.extend(one.changes);
            report.patches.extend(one.patches);
            let lines = one.kubectl.iter().flat_map(|text| text.lines()).map(str::to_owned);
            // Pods of one workload share a template, and so a command.
            lines.for_each(|line| {
                if !commands.contains(&line) {
                    commands.push(line);
                }
            });
        }
    }
    commands.extend(report.kubectl.take());
    report.kubectl = (!commands.is_empty()).then(|| commands.join("\n"));
    report
}

/// Returns the pods that find a node with the changes made, placed one after another by priority and name. A change of the
/// first pod is made to each pod that it applies to.
fn freed(scheduler: &Scheduler, first: &Arc<Pod>, changes: &[Change], pods: &[Key]) -> Vec<Key> {
    let cluster = scheduler.state().cluster();
    let Some(operations) = crate::fixes::operations(cluster, &first.key(), changes) else { return Vec::new() };
    let of_first = |object: &Object| matches!(object, Object::Pod(pod) if pod.key() == first.key());
    let edits = operations.into_iter().filter_map(|operation| match operation {
        crate::scheduler::Operation::Create { object } | crate::scheduler::Operation::Update { object } if !of_first(&object) => {
            Some(ObjectEdit::Put(object))
        }
        crate::scheduler::Operation::Delete { object } => Some(ObjectEdit::Remove(object.kind(), object.key())),
        _ => None,
    });
    let mut changed = scheduler.looking_at_all_nodes().with_edits(edits);
    let mut waiting: Vec<&Arc<Pod>> = pods.iter().take(PODS_TRIED).filter_map(|key| cluster.pods.get(key)).collect();
    waiting.sort_by_key(|pod| (std::cmp::Reverse(pod.priority()), pod.key()));
    let mut freed = Vec::new();
    for pod in waiting {
        let Some(patched) = patched(first, pod, changes) else { continue };
        let decision = changed.dry_decision(&patched, PostFilter::LeaveOut);
        if let DryDecision::Tried(_) = &decision
            && let Some(node) = decision.best().first()
        {
            let mut bound = Pod::clone(&patched);
            bound.node_name = node.clone();
            changed = changed.with_edits([ObjectEdit::Put(Object::Pod(Arc::new(bound)))]);
            freed.push(pod.key());
        }
    }
    freed.sort();
    freed
}

/// Returns a pod with the changes of another pod; `None` if they do not apply to it.
fn patched(first: &Arc<Pod>, pod: &Arc<Pod>, changes: &[Change]) -> Option<Arc<Pod>> {
    let mut written: Option<Value> = None;
    for change in changes {
        let Change::Pod(of_pod) = change else { continue };
        let selects = |key: &str, value: &str| pod.spec.node_selector.as_ref().and_then(|s| s.get(key)).is_some_and(|v| v == value);
        let applies = match of_pod {
            PodChange::Tolerate(_) => true,
            PodChange::DropSelector { key, value } | PodChange::SetSelector { key, from: value, .. } => selects(key, value),
            PodChange::RenameSelector { from, value, .. } => selects(from, value),
            PodChange::RemoveGates(gates) => pod.spec.scheduling_gates.iter().map(|g| &g.name).eq(gates),
            _ => pod.spec == first.spec,
        };
        if !applies {
            return None;
        }
        if written.is_none() {
            written = serde_json::to_value(pod.as_ref()).ok();
        }
        change.edit(written.as_mut()?);
    }
    match written {
        Some(written) => serde_json::from_value(written).ok().map(Arc::new),
        None => Some(pod.clone()),
    }
}

/// Returns the causes as text; empty without causes.
pub fn causes_text(causes: &[CauseReport]) -> Lines {
    let mut out = Lines::default();
    if causes.is_empty() {
        return out;
    }
    out.blank();
    out.push("CAUSES");
    for cause in causes {
        let preemption = match cause.preemption {
            PreemptionHelp::Helps => "; preemption helps",
            PreemptionHelp::No => "; preemption does not help",
            PreemptionHelp::NotAsked => "",
        };
        out.line(format_args!("  {}: {}{preemption}", count(cause.pods.len(), "pod"), cause.sentence));
        let shown = cause.pods.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = cause.pods.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        out.line(format_args!("    {shown}{more}"));
        match (&cause.fix, cause.fix_searched) {
            (Some(fix), _) => out.line(format_args!("    fix: {} (frees {} of {})", fix.fix.text, fix.frees, cause.pods.len())),
            (None, true) => out.push("    no fix found that places one of them"),
            (None, false) => out.line(format_args!("    no fix searched: {CAUSES_SEARCHED} causes have more pods")),
        }
    }
    out.blank();
    out
}
