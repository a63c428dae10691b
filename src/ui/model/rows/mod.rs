//! The rows of the lists, derived from the record at the cursor.
//!
//! They are derived once per change and kept in the state; drawing uses the few in sight. Sort orders by verdict use the
//! whole cycle, so rows do not jump while the user steps through it.

pub mod node_page;
mod node_pane;
mod nodes;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::{Key, Pod, Str, Taint};
use crate::framework::{Candidate, DryRunStep, PluginName, Status, Victim};
use crate::session::{Keyframe, Timeline};
use crate::trace::{CycleView, DryRunView, Place, PreemptionView, QueueEntry};
use crate::ui::model::filter::{Fact, Filter};
use crate::ui::model::list::Row;
use crate::ui::model::list::RowId;
use crate::ui::model::sort::Sort;

pub use node_pane::{NodePaneRow, node_pane_rows};
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
    pub group: Key,
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
    let violated = || candidate.victims.iter().flat_map(Victim::violates).map(|violated| violated.budget);
    let covering = candidate.victims.iter().flat_map(Victim::covered_by).chain(violated());
    facts.extend(covering.map(|budget| Fact::prose("budget", budget)));
    facts.extend(violated().map(|budget| Fact::prose("violates", budget)));
    let fell = preemption.score_functions().iter().find(|function| function.remaining.binary_search(&candidate.node).is_err());
    facts.extend(fell.map(|function| Fact::prose("reason", function.name.into())));
    filter.keeps(&facts)
}

/// Formats a taint as `key=value:effect`.
pub fn taint(taint: &Taint) -> String {
    let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
    format!("{}{value}:{}", taint.key, taint.effect)
}

/// Returns the last step of a dry run about a pod.
pub fn dry_run_says<'a>(run: DryRunView<'a>, pod: &Key) -> Option<DryRunStep<'a>> {
    let is = |p: &Pod| p.metadata.name == pod.name && p.metadata.namespace == pod.namespace;
    run.steps().rev().find(|step| step.pod().is_some_and(|p| is(p)))
}
