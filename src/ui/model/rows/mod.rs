//! The rows of the lists, derived from the record at the cursor.
//!
//! They are derived once per change and kept in the state; drawing uses the few in sight. Sort orders by verdict use the
//! whole cycle, so rows do not jump while the user steps through it.

pub mod node_page;
mod nodes;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{BudgetEvictions, NextVictim, budgets_unknown_because, by_importance, evictions};
use crate::cluster::{Cluster, Key, Pod, Str, Taint};
use crate::framework::{Candidate, DryRunStep, NodeFilters, NodeInfo, PluginName, Status, Victim};
use crate::report::node_devices;
use crate::session::{Keyframe, Timeline};
use crate::trace::{CycleView, DryRunView, Place, PreemptionView, QueueEntry};
use crate::ui::model::filter::{Fact, Filter};
use crate::ui::model::list::Row;
use crate::ui::model::list::RowId;
use crate::ui::model::sort::Sort;
use crate::ui::model::text;
use crate::ui::model::verdict::{Class, Verdicts};

pub use nodes::{Group, NODE_FIELDS, NodeOptions, NodeRow, node_rows};

/// The parts of the queues pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumIter)]
#[allow(missing_docs, reason = "the names are the queues' own")]
pub enum QueuePart {
    InFlight,
    WaitingOnPermit,
    Active,
    Backoff,
    Unschedulable,
    Gated,
}

impl QueuePart {
    /// Returns the part that lists a place; `None` for places outside of the queues.
    pub fn of(place: &Place) -> Option<Self> {
        match place {
            Place::InFlight => Some(Self::InFlight),
            Place::Active => Some(Self::Active),
            Place::Backoff { .. } => Some(Self::Backoff),
            Place::Unschedulable { gated_by: None, .. } => Some(Self::Unschedulable),
            Place::Unschedulable { .. } => Some(Self::Gated),
            Place::WaitingOnPermit { .. } => Some(Self::WaitingOnPermit),
            Place::Bound { .. } | Place::Gone => None,
        }
    }

    /// Returns the heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::InFlight => "in flight",
            Self::Active => "activeQ",
            Self::Backoff => "backoffQ",
            Self::Unschedulable => "unschedulablePods",
            Self::Gated => "gated",
            Self::WaitingOnPermit => "waiting on Permit",
        }
    }
}

/// A row of the queues pane.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueRow {
    /// The heading of a queue.
    Part {
        /// The queue.
        part: QueuePart,
        /// The number of pods in it.
        count: usize,
        /// The number of pods whose place is inferred.
        inferred: usize,
    },
    /// A waiting pod.
    Pod(Key),
    /// The members of a pod group in a queue.
    Group(PodGroupRow),
    /// A waiting pod in the open group above it.
    Member(Key),
}

/// The members of a pod group in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodGroupRow {
    /// The group.
    pub group: Key,
    /// The queue.
    pub part: QueuePart,
    /// The number of its pods in the queue.
    pub count: usize,
    /// Whether they are listed.
    pub open: bool,
}

impl PodGroupRow {
    /// Returns the identity of the row of a group in a queue.
    pub fn id(group: &Key, part: QueuePart) -> RowId {
        RowId::PodGroup(group.clone(), part as usize)
    }
}

impl Row for QueueRow {
    fn id(&self) -> Option<RowId> {
        match self {
            Self::Part { .. } => None,
            Self::Pod(key) | Self::Member(key) => Some(RowId::Pod(key.clone())),
            Self::Group(row) => Some(PodGroupRow::id(&row.group, row.part)),
        }
    }

    fn is_heading(&self) -> bool {
        matches!(self, Self::Part { .. })
    }

    fn things(&self) -> usize {
        match self {
            Self::Part { .. } => 0,
            Self::Pod(_) | Self::Member(_) => 1,
            // The members of an open group have rows of their own.
            Self::Group(row) => {
                if row.open {
                    0
                } else {
                    row.count
                }
            }
        }
    }

    fn is(&self, id: &RowId) -> bool {
        match (self, id) {
            (Self::Pod(a) | Self::Member(a), RowId::Pod(b)) => a == b,
            (Self::Group(row), RowId::PodGroup(group, part)) => row.group == *group && row.part as usize == *part,
            _ => false,
        }
    }
}

/// Returns the group that a waiting pod is tried with; `None` if the scheduler does not read groups.
pub fn group_of(keyframe: &Keyframe, pod: &Key) -> Option<Key> {
    keyframe.cluster.pods.get(pod).filter(|_| keyframe.reads_pod_groups)?.group_key()
}

/// Returns the queues in order, without pods that are filtered out. A sort order applies within each queue. The members of
/// a pod group in a queue are in one row at the place of the first, which opens if the group is in `open`, or while there
/// is a filter.
pub fn queue_rows(timeline: &Timeline, order: Sort, filter: &mut Filter, open: &BTreeSet<Key>) -> Vec<QueueRow> {
    let (keyframe, queues) = (timeline.keyframe(), timeline.queues());
    let mut parts: BTreeMap<QueuePart, Vec<&QueueEntry>> = BTreeMap::new();
    for entry in queues.entries.values() {
        if let Some(part) = QueuePart::of(&entry.place) {
            parts.entry(part).or_default().push(entry);
        }
    }
    let mut rows = Vec::with_capacity(queues.entries.len() + parts.len());
    for (part, mut entries) in parts {
        let (count, inferred) = (entries.len(), entries.iter().filter(|e| e.inferred.is_some()).count());
        match part {
            QueuePart::Active => entries.sort_by_key(|e| (Reverse(e.priority), e.timestamp, e.sequence)),
            QueuePart::Backoff => entries.sort_by_key(|e| {
                let expires = if let Place::Backoff { expires, .. } = e.place { Some(expires) } else { None };
                (expires, Reverse(e.priority), e.timestamp, e.sequence)
            }),
            // The store is sorted by namespace and name.
            QueuePart::InFlight | QueuePart::WaitingOnPermit | QueuePart::Unschedulable | QueuePart::Gated => {}
        }
        // The sort is stable: equal entries keep the queue's order.
        match order {
            Sort::Priority => entries.sort_by_key(|e| Reverse(e.priority)),
            Sort::Attempts => entries.sort_by_key(|e| Reverse(e.attempts)),
            Sort::Name => entries.sort_by(|a, b| a.pod.cmp(&b.pod)),
            _ => {}
        }
        if !filter.is_empty() {
            entries.retain(|e| keeps_entry(timeline, e, filter));
        }
        if !entries.is_empty() || filter.is_empty() {
            rows.push(QueueRow::Part { part, count, inferred });
        }
        if keyframe.reads_pod_groups {
            grouped(keyframe, part, &entries, |group| open.contains(group) || !filter.is_empty(), &mut rows);
        } else {
            rows.extend(entries.into_iter().map(|e| QueueRow::Pod(e.pod.clone())));
        }
    }
    rows
}

/// Adds the rows of a queue in which pod groups wait.
fn grouped(keyframe: &Keyframe, part: QueuePart, entries: &[&QueueEntry], is_open: impl Fn(&Key) -> bool, rows: &mut Vec<QueueRow>) {
    let groups: Vec<Option<Key>> = entries.iter().map(|e| group_of(keyframe, &e.pod)).collect();
    let mut members: BTreeMap<&Key, Vec<&Key>> = BTreeMap::new();
    for (entry, group) in entries.iter().zip(&groups) {
        if let Some(group) = group {
            members.entry(group).or_default().push(&entry.pod);
        }
    }
    for (entry, group) in entries.iter().zip(&groups) {
        let Some(group) = group else {
            rows.push(QueueRow::Pod(entry.pod.clone()));
            continue;
        };
        let Some(pods) = members.remove(group) else { continue };
        let open = is_open(group);
        rows.push(QueueRow::Group(PodGroupRow { group: group.clone(), part, count: pods.len(), open }));
        if open {
            rows.extend(pods.into_iter().map(|pod| QueueRow::Member(pod.clone())));
        }
    }
}

/// The fields that a filter of the queues can name.
pub const QUEUE_FIELDS: &[&str] =
    &["pod", "name", "namespace", "queue", "plugin", "gate", "node", "reason", "label", "priority", "attempts", "age"];

/// Returns whether a filter of the queues keeps a waiting pod: by its name, queue, priority, age, attempts, rejecting plugins,
/// nominated node, and the pod's labels.
pub fn keeps_entry(timeline: &Timeline, entry: &QueueEntry, filter: &mut Filter) -> bool {
    let name = entry.pod.to_string();
    let pod = timeline.keyframe().cluster.pods.get(&entry.pod);
    let mut facts = vec![Fact::name("pod", &name), Fact::name("name", &name), Fact::prose("namespace", &entry.pod.namespace)];
    facts.extend(QueuePart::of(&entry.place).map(|part| Fact::prose("queue", part.title())));
    let gate = if let Place::Unschedulable { gated_by, .. } = &entry.place { *gated_by } else { None };
    facts.extend(entry.plugins.iter().chain(gate).map(|plugin: PluginName| Fact::prose("plugin", plugin.as_str())));
    let gates = pod.into_iter().flat_map(|pod| &pod.spec.scheduling_gates);
    facts.extend(gates.map(|gate| Fact::prose("gate", &gate.name)));
    facts.extend((!entry.nominated.is_empty()).then(|| Fact::name("node", &entry.nominated)));
    let said = pod.into_iter().flat_map(|pod| &pod.status.conditions).filter(|c| c.kind == "PodScheduled");
    facts.extend(said.map(|condition| Fact::prose("reason", &condition.message)));
    facts.extend(pod.into_iter().flat_map(|pod| pod.metadata.labels.iter()).map(|(key, value)| Fact::label(key, value)));
    facts.extend([Fact::number("priority", i64::from(entry.priority)), Fact::number("attempts", i64::from(entry.attempts))]);
    let since = pod.and_then(|pod| pod.metadata.creation_timestamp);
    facts.extend(since.map(|since| Fact::seconds("age", timeline.clock().as_second() - since.as_second())));
    filter.keeps(&facts)
}

/// Returns the rank of each total score and the number of nodes that share it; tied nodes share the better rank.
pub fn ranks(cycle: &CycleView) -> BTreeMap<i64, (usize, usize)> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for score in cycle.scoring.scores.values() {
        *counts.entry(score.total).or_default() += 1;
    }
    let mut before = 0;
    let mut ranks = BTreeMap::new();
    for (total, count) in counts.into_iter().rev() {
        ranks.insert(total, (before + 1, count));
        before += count;
    }
    ranks
}

/// A row of the preemption pane.
#[derive(Clone, Debug, PartialEq)]
pub enum CandidateRow {
    /// A node where evicting pods makes room.
    Candidate(Str),
    /// The heading above the node that is being tried.
    BeingTried,
    /// The heading above nodes that are not candidates; holds their number.
    Unhelpful(usize),
    /// A node that is not a candidate, or is still being tried.
    Tried(Str),
}

impl Row for CandidateRow {
    fn id(&self) -> Option<RowId> {
        match self {
            Self::Candidate(node) | Self::Tried(node) => Some(RowId::Node(node.clone())),
            Self::BeingTried | Self::Unhelpful(_) => None,
        }
    }
}

/// Returns the candidates, in the usual order by the function that eliminated them, the last first; then the node that is being
/// tried, and the other nodes.
pub fn candidate_rows(now: &PreemptionView, whole: Option<&PreemptionView>, order: Sort, filter: &mut Filter) -> Vec<CandidateRow> {
    let whole = whole.unwrap_or(now);
    let survived = |node: &Str| {
        let chosen = whole.selected().is_some_and(|(n, _)| n == node);
        let functions = whole.score_functions().iter().take_while(|f| f.remaining.binary_search(node).is_ok()).count();
        (Reverse(chosen), Reverse(functions))
    };
    let mut candidates: Vec<&Candidate> = now.all_candidates().filter(|c| keeps_candidate(now, c, filter)).collect();
    match order {
        // They are sorted by name already.
        Sort::Name => {}
        Sort::Victims => candidates.sort_by_key(|c| c.victims.len()),
        Sort::Violations => candidates.sort_by_key(|c| c.pdb_violations),
        _ => candidates.sort_by_cached_key(|c| survived(&c.node)),
    }
    let mut rows: Vec<CandidateRow> = candidates.into_iter().map(|c| CandidateRow::Candidate(c.node.clone())).collect();
    if let Some(run) = now.under_way().filter(|run| keeps_under_way(*run, filter)) {
        rows.extend([CandidateRow::BeingTried, CandidateRow::Tried(run.node().clone())]);
    }
    let tried = now.dry_runs().filter(|run| run.status().is_some() && run.candidate().is_none()).map(DryRunView::node);
    let why = |node: &Str| now.dry_run(node).and_then(DryRunView::status).map(Status::message).unwrap_or_default();
    let tried = tried.filter(|node| filter.is_empty() || filter.keeps(&[Fact::name("node", node), Fact::prose("reason", &why(node))]));
    let tried: Vec<&Str> = tried.collect();
    if !tried.is_empty() {
        rows.push(CandidateRow::Unhelpful(tried.len()));
        rows.extend(tried.into_iter().map(|n| CandidateRow::Tried(n.clone())));
    }
    rows
}

/// The fields that a filter of the candidates can name.
pub const CANDIDATE_FIELDS: &[&str] = &["node", "victim", "budget", "violates", "reason"];

/// Returns whether a filter keeps the node that is being tried: by its name and the pods that were removed from it.
fn keeps_under_way(run: DryRunView<'_>, filter: &mut Filter) -> bool {
    if filter.is_empty() {
        return true;
    }
    let pods: Vec<String> = run.pods().iter().map(|(pod, _)| pod.key().to_string()).collect();
    let mut facts = vec![Fact::name("node", run.node())];
    facts.extend(pods.iter().map(|name| Fact::name("victim", name)));
    filter.keeps(&facts)
}

/// Returns whether a filter keeps a candidate: by its node, its victims, the budgets that cover these, and those that they
/// violate.
fn keeps_candidate(preemption: &PreemptionView, candidate: &Candidate, filter: &mut Filter) -> bool {
    if filter.is_empty() {
        return true;
    }
    let victims: Vec<String> = candidate.victims.iter().map(|victim| victim.key().to_string()).collect();
    let mut facts = vec![Fact::name("node", &candidate.node)];
    facts.extend(victims.iter().map(|name| Fact::name("victim", name)));
    let violated = || candidate.victims.iter().flat_map(Victim::violates).map(|violated| &violated.budget);
    let covering = candidate.victims.iter().flat_map(Victim::covered_by).chain(violated());
    facts.extend(covering.map(|budget| Fact::prose("budget", budget)));
    facts.extend(violated().map(|budget| Fact::prose("violates", budget)));
    let fell = preemption.score_functions().iter().find(|function| function.remaining.binary_search(&candidate.node).is_err());
    facts.extend(fell.map(|function| Fact::prose("reason", function.name.into())));
    filter.keeps(&facts)
}

/// A row of the node pane.
#[derive(Clone, Debug, PartialEq)]
pub enum DetailRow {
    /// A heading.
    Heading(&'static str),
    /// A fact: its name and text.
    Fact(&'static str, String),
    /// A score of the node, by the plugin's index.
    Score(usize),
    /// A Filter plugin's answer, by its index.
    Filter(usize),
    /// A step of the dry run, by its index.
    Step(usize),
    /// A line about the node's devices: its index, whether it says that a device suits, and the text.
    Device(usize, bool, String),
    /// A line about the node: its kind, its index among those of the kind, whether it is a warning, and the text.
    #[allow(missing_docs, reason = "said above")]
    Line { kind: &'static str, index: usize, warns: bool, text: String },
    /// The effect of evicting the node's pods on a budget: the budget's index and a sentence.
    Budget(usize, String),
    /// A pod on the node.
    Pod(Key),
    /// A note in place of rows.
    Note(&'static str),
}

impl Row for DetailRow {
    fn id(&self) -> Option<RowId> {
        match self {
            Self::Pod(key) => Some(RowId::Pod(key.clone())),
            Self::Fact(name, _) => Some(RowId::Line(name, 0)),
            Self::Score(i) => Some(RowId::Line("score", *i)),
            Self::Filter(i) => Some(RowId::Line("filter", *i)),
            Self::Step(i) => Some(RowId::Line("step", *i)),
            Self::Device(i, ..) => Some(RowId::Line("device", *i)),
            Self::Budget(i, _) => Some(RowId::Line("budget", *i)),
            Self::Line { kind, index, .. } => Some(RowId::Line(kind, *index)),
            Self::Heading(_) | Self::Note(_) => None,
        }
    }

    fn is_heading(&self) -> bool {
        matches!(self, Self::Heading(_) | Self::Note(_))
    }

    fn things(&self) -> usize {
        usize::from(matches!(self, Self::Pod(_)))
    }
}

/// Formats a taint as `key=value:effect`.
pub fn taint(taint: &Taint) -> String {
    let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
    format!("{}{value}:{}", taint.key, taint.effect)
}

/// Returns the rows of a node: verdict, scores, dry run, all Filter plugins, and its pods, least important first.
pub fn detail_rows(
    node: &NodeInfo,
    keyframe: &Keyframe,
    cycle: &CycleView,
    filters: Option<&NodeFilters>,
    order: Sort,
    filter: &mut Filter,
) -> Vec<DetailRow> {
    let cluster = &keyframe.cluster;
    let name = node.name();
    let verdict = Verdicts::new(cycle).of(name);
    let mut rows = Vec::new();
    let by = verdict.plugin.map(|p| format!("{p}: ")).unwrap_or_default();
    let candidate = cycle.preemption.as_ref().and_then(|p| p.candidate(name)).filter(|_| verdict.class == Class::Unschedulable);
    let words = candidate.map_or_else(
        || verdict.class.phrase().to_owned(),
        |c| {
            let dropped = cycle.preemption.as_ref().is_some_and(|p| p.is_dropped(name));
            let but = if dropped { ", but an extender drops the candidate" } else { "" };
            format!("unschedulable: evicting {} makes room{but}", text::count(c.victims.len(), "pod"))
        },
    );
    rows.push(DetailRow::Fact("verdict", words));
    if !verdict.reason.is_empty() {
        rows.push(DetailRow::Fact("because", format!("{by}{}", verdict.reason_with_fact())));
    }
    let also = filters.map(|f| f.rejections().skip(1).map(|(p, s)| format!("{p}: {}", s.message_with_fact())).collect::<Vec<_>>());
    if let Some(also) = also.filter(|also| !also.is_empty()) {
        rows.push(DetailRow::Fact("would also fail", also.join("; ")));
    }
    if node.node.unschedulable() {
        rows.push(DetailRow::Fact("cordoned", "spec.unschedulable is true".to_owned()));
    }
    let taints = node.node.spec.taints.iter().map(taint);
    let taints = taints.collect::<Vec<_>>().join(", ");
    if !taints.is_empty() {
        rows.push(DetailRow::Fact("taints", taints));
    }
    if let Some(words) = node_page::unhealthy(node, keyframe.clock) {
        rows.push(DetailRow::Fact("unhealthy", words));
    }
    if let Some(zone) = node_page::zone(node) {
        rows.push(DetailRow::Fact("zone", zone));
    }
    let (drain, budgets) = drain(node, cluster);
    rows.push(DetailRow::Fact("drain", drain));
    rows.push(DetailRow::Fact("next victim", next_victim(node, keyframe, cycle)));
    if let Some(score) = cycle.scoring.scores.get(name) {
        rows.push(DetailRow::Heading("scores"));
        rows.extend((0..score.plugins.len()).map(DetailRow::Score));
        for (index, given) in cycle.extenders.scores_of(name).iter().filter(|(index, _)| cycle.extenders.scoring().contains(index)) {
            rows.push(DetailRow::Fact("extender", format!("extenders[{index}]  weighted {given}")));
        }
    }
    if let Some(status) = cycle.extenders.statuses.get(name).filter(|_| verdict.class == Class::Fits) {
        // It is left among the nodes that fit, all the same.
        rows.push(DetailRow::Fact("an extender says", status.to_string()));
    }
    if let Some(run) = cycle.preemption.as_ref().and_then(|p| p.dry_run(name)) {
        rows.push(DetailRow::Heading("dry run, in order"));
        rows.extend((0..run.len()).map(DetailRow::Step));
        if let Some(status) = run.status().filter(|s| !s.is_success()) {
            rows.push(DetailRow::Fact("no candidate", status.message()));
        }
    }
    rows.extend(filters.into_iter().flat_map(filter_rows));
    if let Some(devices) = filters.and_then(|filters| filters.devices.as_ref()) {
        rows.push(DetailRow::Heading("devices"));
        let lines = node_devices(devices).into_iter().enumerate();
        rows.extend(lines.map(|(i, line)| DetailRow::Device(i, line.suits, format!("{:1$}{2}", "", 2 * line.depth, line.words))));
    }
    rows.push(DetailRow::Heading(node_page::RESOURCES));
    rows.extend(node_page::resources(node));
    rows.push(DetailRow::Heading("conditions"));
    rows.extend(node_page::conditions(node, keyframe.clock));
    let labels = node_page::labels(node);
    if !labels.is_empty() {
        rows.push(DetailRow::Heading("labels"));
        rows.extend(labels);
    }
    if !node.pods.is_empty() {
        rows.push(DetailRow::Heading(node_page::OWNERS));
        rows.extend(node_page::owners(node));
    }
    if !budgets.is_empty() {
        rows.push(DetailRow::Heading("budgets, if its pods are evicted"));
        rows.extend(budgets);
    }
    rows.push(DetailRow::Heading("pods on the node"));
    let mut pods: Vec<_> = match order {
        Sort::Usual => by_importance(&keyframe.context(), node),
        _ => node.pods.clone(),
    };
    pods.retain(|p| filter.keeps_pod(&p.key()));
    match order {
        // As a dry run would evict them, were there no budgets.
        Sort::Usual => pods.reverse(),
        Sort::Priority => pods.sort_by_cached_key(|p| (Reverse(p.pod.priority()), p.key())),
        Sort::Name => pods.sort_by_cached_key(|p| p.key()),
        Sort::Request => pods.sort_by_cached_key(|p| (Reverse(p.resource.resource.milli_cpu), p.key())),
        _ => pods.sort_by_cached_key(|p| (p.pod.priority(), p.key())),
    }
    if pods.is_empty() {
        rows.push(DetailRow::Note(if filter.is_empty() { "none" } else { "none matches the filter" }));
    }
    rows.extend(pods.into_iter().map(|p| DetailRow::Pod(p.key())));
    rows
}

/// Returns which pod of the node preemption evicts first for the pod of the cycle, or without one, for any.
fn next_victim(node: &NodeInfo, keyframe: &Keyframe, cycle: &CycleView) -> String {
    let preemptor = cycle.start.as_ref().and_then(|start| keyframe.cluster.pods.get(&start.pod));
    let found = NextVictim::on(&keyframe.context(), node, preemptor.map(|pod| &**pod));
    let unknown = if keyframe.cluster.unknown.budgets { "; budgets are unknown" } else { "" };
    found.map_or_else(|none| none.sentence(), |next| format!("{}{unknown}", next.sentence()))
}

/// Returns what budgets say to the eviction of all pods on the node: in one sentence, and a row for each budget, those that stop
/// it first.
fn drain(node: &NodeInfo, cluster: &Cluster) -> (String, Vec<DetailRow>) {
    if cluster.unknown.budgets {
        return (format!("? unknown: {}", budgets_unknown_because(cluster.unknown)), Vec::new());
    }
    let mut pods: Vec<&Pod> = node.pods.iter().map(|info| &*info.pod).collect();
    pods.sort_by_cached_key(|pod| pod.key());
    let result = evictions(cluster, pods);
    let mut budgets: Vec<_> = result.budgets.iter().collect();
    budgets.sort_by_key(|(_, budget)| budget.stopped.is_empty());
    let row = |(i, (key, budget)): (usize, (&Key, &BudgetEvictions))| DetailRow::Budget(i, format!("{key} {}", budget.sentence()));
    (result.sentence(), budgets.into_iter().enumerate().map(row).collect())
}

/// Returns the answers of all Filter plugins, with the nominated pods that were counted.
fn filter_rows(filters: &NodeFilters) -> Vec<DetailRow> {
    let mut rows = vec![DetailRow::Heading("all filters (on this cycle's snapshot)")];
    if let Some(status) = &filters.not_asked {
        let by = status.plugin().map(|p| format!("{p}: ")).unwrap_or_default();
        rows.push(DetailRow::Fact("no filter runs", format!("{by}{}", status.message())));
    }
    if filters.left_out {
        rows.push(DetailRow::Fact("left out", "PreFilter excluded this node: no filter runs on it".to_owned()));
    }
    if !filters.nominated.is_empty() {
        let names = filters.nominated.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let how = match () {
            () if filters.with_nominated => "as if they ran here",
            () if filters.rejections().next().is_some() => "all pass with them here; these are without",
            () => "passes with and without them",
        };
        rows.push(DetailRow::Fact("nominated pods counted", format!("{names}: {how}")));
    }
    rows.extend((0..filters.answers.len()).map(DetailRow::Filter));
    rows
}

/// Returns the last step of a dry run about a pod.
pub fn dry_run_says<'a>(run: DryRunView<'a>, pod: &Key) -> Option<DryRunStep<'a>> {
    let is = |p: &Pod| p.metadata.name == pod.name && p.metadata.namespace == pod.namespace;
    run.steps().rev().find(|step| step.pod().is_some_and(|p| is(p)))
}
