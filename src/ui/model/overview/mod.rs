//! The rows of the overview: every pending pod under one cause.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use strum::IntoEnumIterator as _;

use crate::analysis::{Cause, FixSearch, MatchKind, Overview, PreemptionHelp, WaitReason};
use crate::cluster::neighbors::About;
use crate::cluster::{Key, Str};
use crate::session::Timeline;
use crate::trace::{Outcome, QueueEntry, QueuesView};
use crate::ui::model::filter::{Fact, Filter};
use crate::ui::model::list::{Row, RowId};
use crate::ui::model::rows::QueuePart;
use crate::ui::model::sort::Sort;

/// The overview as the screen has it.
#[derive(Clone, Debug, Default)]
pub struct OverviewStatus {
    /// The newest part; `None` before the first.
    pub newest: Option<Arc<Overview>>,
    /// Whether it is being made.
    pub runs: bool,
    /// Whether it is of the state at the cursor.
    pub is_current: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OverviewRow {
    /// A cause, with the sums over its pods.
    Cause(CauseRow),
    /// The fix of the cause above.
    Fix {
        /// The key of the cause.
        cause: Str,
        /// The fix, or why there is none, in words.
        words: String,
        /// The same in fewer words.
        in_short: String,
        /// The number of pods that it frees; `None` without a fix.
        frees: Option<usize>,
        /// Whether it lets them preempt, instead of finding them a node.
        preempts: bool,
        /// Whether preemption makes room for all that it frees, so that it only spares the victims.
        spares: bool,
        /// Whether the cause is open.
        open: bool,
    },
    /// A pod of the cause above.
    Pod(PodRow),
    /// A workload of the cause above, whose pods do not exist.
    Workload(About),
}

/// A cause with its pods that match the filter.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseRow {
    /// The key of the cause.
    pub key: Str,
    /// The kind of its pods.
    pub kind: CauseKind,
    /// The cause in words.
    pub sentence: String,
    /// The cause in ever fewer words.
    pub shorter: Vec<String>,
    /// The number of its pods.
    pub all: usize,
    /// The number of its pods that match the filter.
    pub matching: usize,
    /// Whether its pods are listed.
    pub open: bool,
    /// Whether preemption makes room for any of its pods.
    pub preemption: Option<PreemptionHelp>,
    /// The number of its pods for which preemption makes room.
    pub helped: usize,
    /// The agreement of its pods; `None` where they differ, or where nothing is compared.
    pub accord: Option<MatchKind>,
    /// The number of its pods on which the cluster's scheduler disagrees.
    pub disagree: usize,
    /// The number of its pods that were not pending when the overview was last looked at.
    pub new: usize,
    /// The highest priority.
    pub priority: i32,
    /// The earliest creation.
    pub since: Option<Timestamp>,
    /// The most attempts.
    pub attempts: u32,
    /// The first queue.
    pub queue: Option<QueuePart>,
    /// Its first pod that matches the filter; `None` without one.
    pub first: Option<Key>,
}

/// The kind of pods under a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseKind {
    /// They do not fit, or are gated.
    Waits,
    /// They do not exist: their workloads are short of them.
    Missing,
    /// A node takes each of them.
    Fits,
    /// They belong to another scheduler.
    Elsewhere,
    /// They are not decided yet.
    Undecided,
}

/// A pending pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodRow {
    /// The pod.
    pub key: Key,
    /// Its queue; `None` outside of the queues.
    pub queue: Option<QueuePart>,
    /// Whether its place is inferred.
    pub inferred: bool,
    pub priority: i32,
    /// When it was created.
    pub since: Option<Timestamp>,
    /// The number of its attempts.
    pub attempts: u32,
    /// Whether preemption makes room; `None` where it is not decided or fits.
    pub preemption: Option<PreemptionHelp>,
    /// The agreement with the cluster's scheduler; `None` where nothing is compared.
    pub accord: Option<MatchKind>,
    /// Whether it was not pending when the overview was last looked at.
    pub is_new: bool,
}

impl Row for OverviewRow {
    fn id(&self) -> Option<RowId> {
        match self {
            Self::Cause(cause) => Some(RowId::Cause(cause.key.clone())),
            // In a closed cause, the fix belongs to the row above.
            Self::Fix { cause, open: true, frees: Some(_), .. } => Some(RowId::CauseFix(cause.clone())),
            Self::Fix { .. } => None,
            Self::Pod(pod) => Some(RowId::Pod(pod.key.clone())),
            Self::Workload(workload) => Some(RowId::Workload(workload.clone())),
        }
    }

    fn is_heading(&self) -> bool {
        matches!(self, Self::Fix { open: false, .. } | Self::Fix { frees: None, .. })
    }

    fn things(&self) -> usize {
        // The cause counts its pods, open or not.
        match self {
            Self::Cause(cause) if cause.kind != CauseKind::Missing => cause.matching,
            _ => 0,
        }
    }

    fn is(&self, id: &RowId) -> bool {
        match (self, id) {
            (Self::Cause(cause), RowId::Cause(key)) => cause.key == *key,
            (Self::Fix { cause, open: true, frees: Some(_), .. }, RowId::CauseFix(key)) => cause == key,
            (Self::Pod(pod), RowId::Pod(key)) => pod.key == *key,
            (Self::Workload(workload), RowId::Workload(about)) => workload == about,
            _ => false,
        }
    }
}

impl MatchKind {
    /// Returns the agreement in a word or two, for a column.
    pub fn in_short(self) -> &'static str {
        match self {
            Self::Unexplained => "disagrees",
            Self::SchedulerError => "error",
            Self::Binding => "being bound",
            Self::ChangedSince => "changed since",
            Self::OtherRelease => "other release",
            Self::Same => "agrees",
            Self::Undecided => "unknown",
            Self::Unwritten => "not tried",
            Self::NotOurs => "elsewhere",
        }
    }
}

/// Returns whether preemption helps, in a word or two.
pub fn preemption_words(help: PreemptionHelp) -> &'static str {
    match help {
        PreemptionHelp::Helps => "helps",
        PreemptionHelp::InProgress => "under way",
        PreemptionHelp::No => "no help",
        PreemptionHelp::NotRun => "not run",
    }
}

impl CauseRow {
    /// Returns how many of its pods preemption helps, in a word or two.
    pub fn preemption_words(&self) -> String {
        match self.preemption {
            Some(PreemptionHelp::Helps) if self.helped < self.all => format!("helps {}/{}", self.helped, self.all),
            help => help.map_or("", preemption_words).to_owned(),
        }
    }
}

impl QueuePart {
    /// Returns its name for a column.
    pub fn in_short(self) -> &'static str {
        match self {
            Self::WaitingOnPermit => "Permit",
            Self::Unschedulable => "unschedulable",
            other => other.title(),
        }
    }

    /// Returns its name for a narrow screen.
    pub fn in_brief(self) -> &'static str {
        match self {
            Self::Active => "activeQ",
            Self::Backoff => "backoff",
            Self::Unschedulable => "unsched.",
            Self::InFlight => "flight",
            Self::WaitingOnPermit => "Permit",
            Self::Gated => "gated",
        }
    }
}

/// Returns the number of pods in each queue, empty ones too.
pub fn queue_counts(queues: &QueuesView) -> Vec<(QueuePart, usize)> {
    const ORDER: [QueuePart; 6] = [
        QueuePart::Active,
        QueuePart::Backoff,
        QueuePart::Unschedulable,
        QueuePart::Gated,
        QueuePart::InFlight,
        QueuePart::WaitingOnPermit,
    ];
    let mut counts: BTreeMap<QueuePart, usize> = QueuePart::iter().map(|part| (part, 0)).collect();
    for part in queues.entries.values().filter_map(|entry| QueuePart::of(&entry.place)) {
        *counts.entry(part).or_default() += 1;
    }
    ORDER.into_iter().map(|part| (part, counts.get(&part).copied().unwrap_or(0))).collect()
}

/// A group of pods while it is collected.
struct Group {
    row: CauseRow,
    fix: Option<FixSearch>,
    /// The state of the search for the fix in words, and in fewer.
    fix_words: (String, String),
    /// Whether preemption makes room for all that the fix frees.
    spares: bool,
    pods: Vec<PodRow>,
    workloads: Vec<About>,
}

impl Group {
    fn new(key: &str, kind: CauseKind, sentence: &str, preemption: Option<PreemptionHelp>, fix: Option<FixSearch>) -> Self {
        let row = CauseRow {
            key: key.into(),
            kind,
            sentence: sentence.to_owned(),
            shorter: Vec::new(),
            all: 0,
            matching: 0,
            open: false,
            preemption,
            helped: 0,
            accord: None,
            disagree: 0,
            new: 0,
            priority: i32::MIN,
            since: None,
            attempts: 0,
            queue: None,
            first: None,
        };
        Self { row, fix, fix_words: Default::default(), spares: false, pods: Vec::new(), workloads: Vec::new() }
    }

    /// Makes the group of a cause, without its pods.
    fn of_cause(cause: &Cause, filter: &mut Filter) -> Self {
        let group = if cause.workloads.is_empty() {
            Self::new(&cause.key, CauseKind::Waits, &cause.sentence, Some(cause.preemption), Some(cause.fix.clone()))
        } else {
            Self::of_missing(cause, filter)
        };
        let (fix_words, spares) = ((cause.fix_words(), cause.fix_words_in_short()), cause.without_fix().is_some());
        Self { row: CauseRow { shorter: cause.shorter.clone(), ..group.row }, fix_words, spares, ..group }
    }

    /// Makes the group of workloads whose pods do not exist: those that match the filter.
    fn of_missing(cause: &Cause, filter: &mut Filter) -> Self {
        let mut group = Self::new(&cause.key, CauseKind::Missing, &cause.sentence, None, Some(cause.fix.clone()));
        let is_kept = |workload: &&About| {
            let name = workload.to_string();
            let facts = [
                Fact::name("pod", &name),
                Fact::name("name", &workload.key.name),
                Fact::prose("namespace", &workload.key.namespace),
                Fact::prose("cause", &cause.sentence),
                Fact::prose("cause", &cause.key),
            ];
            filter.is_empty() || filter.keeps(&facts)
        };
        group.workloads = cause.workloads.iter().filter(is_kept).cloned().collect();
        group.row.all = cause.missing;
        group.row.matching = if group.workloads.is_empty() { 0 } else { cause.missing };
        group
    }

    fn add(&mut self, pod: PodRow) {
        let row = &mut self.row;
        row.accord = if self.pods.is_empty() { pod.accord } else { row.accord.filter(|accord| Some(*accord) == pod.accord) };
        row.disagree += usize::from(pod.accord == Some(MatchKind::Unexplained));
        row.priority = row.priority.max(pod.priority);
        row.since = row.since.into_iter().chain(pod.since).min();
        row.attempts = row.attempts.max(pod.attempts);
        row.queue = row.queue.into_iter().chain(pod.queue).min();
        row.matching += 1;
        self.pods.push(pod);
    }
}

/// The input of the rows besides the record.
pub struct RowsInput<'a> {
    pub status: &'a OverviewStatus,
    /// The causes that the user opened or closed.
    pub turned: &'a BTreeSet<Str>,
    /// The pods that were pending when the overview was last looked at; `None` before the first time.
    pub seen: Option<&'a BTreeSet<Key>>,
    pub order: Sort,
    /// The text of the filter.
    pub filter: &'a str,
}

/// Returns the pending pods at the cursor, grouped by cause. With a filter, causes are open unless the user closed them.
pub fn overview_rows(timeline: &Timeline, input: &RowsInput<'_>) -> Vec<OverviewRow> {
    let mut filter = Filter::new(input.filter);
    let mut groups = groups(timeline, input.status.newest.as_deref(), input.seen, &mut filter);
    sort(&mut groups, input.order);
    let mut rows = Vec::new();
    for Group { mut row, fix, fix_words, spares, pods, workloads } in groups {
        row.open = input.turned.contains(&row.key) == filter.is_empty();
        row.first = pods.first().map(|pod| pod.key.clone());
        let (open, key) = (row.open, row.key.clone());
        rows.push(OverviewRow::Cause(row));
        if let Some(fix) = fix {
            rows.push(OverviewRow::Fix {
                words: fix_words.0,
                in_short: fix_words.1,
                frees: fix.found().map(|fix| fix.frees),
                preempts: fix.found().is_some_and(|fix| fix.preempts()),
                spares,
                cause: key,
                open,
            });
        }
        if open {
            rows.extend(pods.into_iter().map(OverviewRow::Pod));
            rows.extend(workloads.into_iter().map(OverviewRow::Workload));
        }
    }
    rows
}

/// Returns the groups with pods that match the filter: causes by number of pods, then the others.
fn groups(timeline: &Timeline, overview: Option<&Overview>, seen: Option<&BTreeSet<Key>>, filter: &mut Filter) -> Vec<Group> {
    let (cluster, queues) = (&timeline.keyframe().cluster, timeline.queues());
    let now = timeline.clock();
    let causes = || overview.iter().flat_map(|overview| &overview.causes);
    let mut groups: Vec<Group> = causes().map(|cause| Group::of_cause(cause, filter)).collect();
    let at: BTreeMap<&str, usize> = causes().enumerate().map(|(at, cause)| (cause.key.as_str(), at)).collect();
    let others = groups.len();
    groups.push(Group::new("fits", CauseKind::Fits, "fit (each decided on its own)", None, None));
    groups.push(Group::new("elsewhere", CauseKind::Elsewhere, "left to another scheduler", None, None));
    groups.push(Group::new("undecided", CauseKind::Undecided, "not decided yet", None, None));
    let in_queues = queues.entries.values().map(|entry| (&entry.pod, Some(&**entry)));
    let outside = overview.iter().flat_map(|o| o.pods.keys()).filter(|key| !queues.entries.contains_key(*key)).map(|key| (key, None));
    for (key, entry) in in_queues.chain(outside) {
        let pod = cluster.pods.get(key);
        let part = entry.and_then(|entry: &QueueEntry| QueuePart::of(&entry.place));
        // Pods that were bound or deleted since the overview was made.
        if part.is_none() && !pod.is_some_and(|pod| pod.is_pending()) {
            continue;
        }
        let decided = overview.and_then(|overview| overview.pods.get(key));
        let waits = decided.and_then(|decided| decided.waits_for.as_ref());
        let group = match (decided, waits) {
            (None, _) => others + 2,
            (Some(decided), None) if decided.accord == MatchKind::NotOurs => others + 1,
            (Some(decided), None) if decided.outcome == Some(Outcome::Scheduled) => others,
            (Some(_), None) => others + 2,
            (Some(_), Some(waits)) => at.get(waits.key.as_str()).copied().unwrap_or(others + 2),
        };
        let row = PodRow {
            key: key.clone(),
            queue: part,
            inferred: entry.is_some_and(|entry| entry.inferred.is_some()),
            priority: entry.map_or_else(|| pod.map_or(0, |pod| pod.priority()), |entry| entry.priority),
            since: pod.and_then(|pod| pod.metadata.creation_timestamp),
            attempts: entry.map_or(0, |entry| entry.attempts),
            preemption: waits.map(|waits| waits.preemption),
            accord: decided.filter(|_| overview.is_some_and(|overview| overview.compared)).map(|decided| decided.accord),
            is_new: decided.is_some() && seen.is_some_and(|seen| !seen.contains(key)),
        };
        let Some(group) = groups.get_mut(group) else { continue };
        group.row.all += 1;
        group.row.new += usize::from(row.is_new);
        group.row.helped += usize::from(row.preemption == Some(PreemptionHelp::Helps));
        if filter.is_empty() || filter.keeps(&facts(&row, &group.row, &row.key.to_string(), waits, now)) {
            group.add(row);
        }
    }
    groups.retain(|group| group.row.matching > 0);
    for group in groups.iter_mut().filter(|group| group.row.kind == CauseKind::Fits && group.row.all == 1) {
        "fits".clone_into(&mut group.row.sentence);
    }
    groups
}

/// The fields that a filter of the overview can name.
pub const FIELDS: &[&str] =
    &["cause", "plugin", "reason", "queue", "namespace", "name", "pod", "priority", "age", "attempts", "preemption", "agreement", "new"];

/// Returns the facts about a pod that a filter reads. Takes its cause, and its namespace and name.
fn facts<'a>(row: &'a PodRow, cause: &'a CauseRow, key: &'a str, waits: Option<&'a WaitReason>, now: Timestamp) -> Vec<Fact<'a>> {
    let mut facts = vec![Fact::name("pod", key), Fact::name("name", &row.key.name), Fact::prose("namespace", &row.key.namespace)];
    facts.extend([Fact::prose("cause", &cause.sentence), Fact::prose("cause", &cause.key)]);
    if let Some(waits) = waits {
        facts.extend(waits.plugins.iter().map(|plugin| Fact::prose("plugin", plugin.as_str())));
        facts.extend(waits.nodes.keys().map(|text| Fact::prose("reason", text)));
        facts.push(Fact::prose("reason", &waits.key));
    }
    facts.extend(row.queue.iter().flat_map(|queue| [Fact::prose("queue", queue.title()), Fact::prose("queue", queue.in_short())]));
    facts.extend(row.preemption.map(|help| Fact::choice("preemption", preemption_words(help))));
    facts.extend(row.accord.iter().flat_map(|accord| [accord.words(), accord.in_short()]).map(|words| Fact::choice("agreement", words)));
    facts.extend([Fact::number("priority", i64::from(row.priority)), Fact::number("attempts", i64::from(row.attempts))]);
    facts.extend(row.is_new.then(|| Fact::choice("new", "new")));
    facts.extend(row.since.map(|since| Fact::seconds("age", now.as_second() - since.as_second())));
    facts
}

/// Sorts groups by the extreme of their pods, and the pods of each. Sorts are stable: equal ones keep the usual order.
fn sort(groups: &mut [Group], order: Sort) {
    for group in groups.iter_mut() {
        let pods = &mut group.pods;
        match order {
            Sort::Priority => pods.sort_by_key(|pod| Reverse(pod.priority)),
            Sort::Attempts => pods.sort_by_key(|pod| Reverse(pod.attempts)),
            Sort::Age => pods.sort_by_key(|pod| (pod.since.is_none(), pod.since)),
            Sort::Queue => pods.sort_by_key(|pod| (pod.queue.is_none(), pod.queue)),
            Sort::Preemption => pods.sort_by_key(|pod| (pod.preemption.is_none(), pod.preemption)),
            Sort::Agreement => pods.sort_by_key(|pod| (pod.accord.is_none(), pod.accord)),
            _ => {}
        }
    }
    match order {
        Sort::Priority => groups.sort_by_key(|group| Reverse(group.row.priority)),
        Sort::Attempts => groups.sort_by_key(|group| Reverse(group.row.attempts)),
        Sort::Age => groups.sort_by_key(|group| (group.row.since.is_none(), group.row.since)),
        Sort::Queue => groups.sort_by_key(|group| (group.row.queue.is_none(), group.row.queue)),
        Sort::Preemption => groups.sort_by_key(|group| (group.row.preemption.is_none(), group.row.preemption)),
        Sort::Agreement => groups.sort_by_cached_key(|group| {
            let first = group.pods.iter().filter_map(|pod| pod.accord).min();
            (first.is_none(), first)
        }),
        Sort::Name => groups.sort_by_cached_key(|group| group.pods.first().map(|pod| pod.key.clone())),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
