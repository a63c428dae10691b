//! A workload's funnel joined with the decisions about its pods, as data; `report` writes it as text.

mod coming;
#[cfg(test)]
mod properties;
mod remedy;
mod voices;
#[cfg(test)]
mod ways;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use super::SchedulerMatch;
use super::missing::{capitalized, missing_clause};
use super::overview::{CauseFix, CauseReport, VOLUME};
use crate::cluster::neighbors::About;
use crate::cluster::{Key, MissingReason};
use crate::fixes::freed;
use crate::output::CodeLine;
use crate::plural::count_of;
use crate::scheduler::Scheduler;
use crate::trace::Outcome;
use crate::workload::{Findings, OpenOf, OtherWords, ShortWorkload, Stage};

pub use remedy::RemedyReport;
pub(crate) use voices::ago;
pub use voices::{VoiceReport, Voices, voices, voices_of_pods};

/// A workload, as `explain KIND/NAME -o json` prints it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadReport {
    pub workload: About,
    /// The number of pods that it wants; null if the source does not show it.
    pub desired: Option<usize>,
    /// The pods that exist and do not end; null if the source may lack some of them, as are the numbers of parts of them.
    pub created: Option<usize>,
    /// Those of them that a scheduling gate holds.
    pub gated: Option<usize>,
    /// Those that have no node.
    pub unscheduled: Option<usize>,
    /// Those that have a node.
    pub bound: Option<usize>,
    /// Those that are ready.
    pub ready: Option<usize>,
    /// The number of wanted pods that are not ready; null if the source does not show it.
    pub missing: Option<usize>,
    /// The whole in a sentence.
    pub why: String,
    /// The causes, in the order of stages; their counts add up to `missing`.
    pub causes: Vec<WorkloadCause>,
    /// The texts of other programs, newest first.
    pub others: Vec<VoiceReport>,
    /// The number of texts that are left out, because there are too many about one object.
    #[serde(skip_serializing_if = "crate::analysis::is_zero")]
    pub others_left_out: usize,
    /// The kinds on which numbers depend or that could explain more, and that the source does not have, or not whole.
    pub missing_kinds: Vec<UnknownKind>,
    /// Whether a pod is known that has no node.
    #[serde(skip)]
    some_pod_waits: bool,
    /// The kinds that leave the answer open, each with why it is not known whole.
    #[serde(skip)]
    open: Vec<(OpenOf, UnknownKind)>,
    /// The clock of the source.
    #[serde(skip)]
    pub(crate) now: Option<Timestamp>,
}

/// A cause of missing pods.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadCause {
    /// A stable key.
    pub cause: String,
    /// Where the pods are lost.
    pub stage: Stage,
    /// The cause in words.
    pub sentence: String,
    /// The number of missing pods that it explains; 0 for a remark.
    pub count: usize,
    /// The pods, where they exist, as `namespace/name`.
    pub pods: Vec<String>,
    /// The object behind it.
    pub by: Option<About>,
    /// The change that ends it; null if none can be computed.
    pub fix: Option<WorkloadFix>,
    /// The state of the search for a fix in words; empty where none is searched.
    #[serde(skip)]
    pub(crate) fix_words: String,
}

/// A change that ends a cause.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum WorkloadFix {
    /// A change of an object that holds pods back.
    Remedy(RemedyReport),
    /// A change that lets pods be scheduled.
    Scheduling(Box<CauseFix>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownKind {
    /// The kind; `Event` for events about other objects than pods.
    pub kind: &'static str,
    /// Why it is unknown.
    pub why: MissingReason,
    /// Why it is unknown, as a clause.
    #[serde(skip)]
    pub(crate) clause: String,
    /// The effect, as the rest of a sentence.
    pub effect: &'static str,
}

impl UnknownKind {
    /// Returns a sentence such as `Jobs cannot be read (no permission): conditions about pods that were refused are unknown.`
    pub fn sentence(&self) -> String {
        format!("{}: {}", capitalized(&self.clause), self.effect)
    }
}

impl WorkloadReport {
    /// Joins a workload's findings with the decisions about its pods that have no node, and their causes.
    pub fn new(
        found: &Findings,
        (pods, decided): (&[&SchedulerMatch], &[CauseReport]),
        others: &OtherWords,
        scheduler: &Scheduler,
        now: Option<Timestamp>,
    ) -> Self {
        let mut causes: Vec<WorkloadCause> = found.causes.iter().map(|cause| words::cause(cause, &found.workload, now)).collect();
        let at = causes.iter().position(|cause| cause.stage > Stage::Scheduling).unwrap_or(causes.len());
        let mut left = found.unscheduled_missing;
        let mut of_scheduler = of_scheduler(pods, decided, &found.unscheduled, scheduler);
        for cause in &mut of_scheduler {
            cause.count = cause.pods.len().min(left);
            left -= cause.count;
        }
        causes.splice(at..at, of_scheduler);
        let mut report = Self {
            workload: found.workload.clone(),
            desired: found.desired,
            created: found.created,
            gated: found.gated,
            unscheduled: found.created.map(|_| found.unscheduled.len()),
            bound: found.bound,
            ready: found.ready,
            missing: found.missing,
            why: String::new(),
            causes,
            others: others.voices.iter().map(VoiceReport::from).collect(),
            others_left_out: others.left_out,
            missing_kinds: unknown_kinds(found),
            some_pod_waits: !found.unscheduled.is_empty() || found.causes.iter().any(|cause| cause.stage() == Stage::Gate),
            open: found.open.iter().map(|open| (open.kind, words::open(*open))).collect(),
            now,
        };
        report.why = report.sentence();
        report
    }

    /// Returns whether pods are missing; `None` if that is unknown.
    pub fn is_short(&self) -> Option<bool> {
        match self.missing {
            Some(missing) => Some(missing > 0),
            None => self.some_pod_waits.then_some(true),
        }
    }

    /// Returns whether the pods can be counted.
    pub fn is_counted(&self) -> bool {
        self.open.iter().all(|(kind, _)| *kind == OpenOf::Nodes)
    }

    /// Returns the number of pods that are ready, as the beginning of a sentence.
    fn numbers(&self) -> String {
        let uncounted = self.open.iter().find(|(kind, _)| *kind != OpenOf::Nodes);
        match (self.desired, self.ready, uncounted) {
            (Some(desired), Some(ready), _) => format!("{ready} of {} ready", count_of(desired, "pod is", "pods are")),
            (None, Some(ready), _) => format!("{} ready; how many are wanted is unknown", count_of(ready, "pod is", "pods are")),
            (desired, None, open) => {
                let wanted = desired.map(|desired| format!("{} wanted", count_of(desired, "pod is", "pods are")));
                let wanted = wanted.unwrap_or_else(|| "How many pods are wanted is unknown".to_owned());
                let why = open.map_or_else(String::new, |(_, kind)| format!(": {}", kind.clause));
                match self.missing {
                    Some(0) => format!("{wanted}, and as many are ready; whether there are more is unknown{why}"),
                    _ => format!("{wanted}; how many exist is unknown{why}"),
                }
            }
        }
    }

    fn sentence(&self) -> String {
        let numbers = self.numbers();
        let is_open = self.ready.is_none();
        let mut causes: Vec<&WorkloadCause> =
            self.causes.iter().filter(|cause| cause.count > 0 || self.desired.is_none() && !cause.pods.is_empty()).collect();
        // Next to an unknown number, those that are lost are the known ones.
        let begin = if is_open { "; of those that are known, " } else { ": " };
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.count.max(cause.pods.len())));
        let first =
            causes.first().map(|cause| format!("{begin}{}: {}", lost(cause.stage, cause.lost()), cause.sentence)).unwrap_or_default();
        let rest: usize = causes.iter().skip(1).map(|cause| cause.lost()).sum();
        let rest =
            if rest > 0 { format!("; {} for other causes", count_of(rest, "more is missing", "more are missing")) } else { String::new() };
        format!("{numbers}{first}{rest}.")
    }
}

impl WorkloadCause {
    /// Returns the number of pods that it is about.
    pub(crate) fn lost(&self) -> usize {
        if self.count > 0 { self.count } else { self.pods.len() }
    }

    /// Returns the commands of its fix.
    pub fn commands(&self) -> Vec<String> {
        match &self.fix {
            Some(WorkloadFix::Remedy(remedy)) => remedy.commands.clone(),
            Some(WorkloadFix::Scheduling(fix)) => fix.fix.commands().iter().map(CodeLine::remarked).collect(),
            None => Vec::new(),
        }
    }
}

/// The cause of a workload's missing pods in words.
#[derive(Default)]
pub(super) struct ShortWords {
    pub(super) cause: String,
    /// The fix, or the command to look at its object.
    pub(super) fix: String,
    /// The commands that make the fix.
    pub(super) commands: Vec<String>,
}

/// Returns the cause of a workload's missing pods in words.
pub(super) fn short_words(short: &ShortWorkload, now: Option<Timestamp>) -> ShortWords {
    let cause = words::cause(&short.cause, &short.workload, now);
    let commands = if let Some(WorkloadFix::Remedy(remedy)) = cause.fix { remedy.commands } else { Vec::new() };
    ShortWords { cause: cause.sentence, fix: cause.fix_words, commands }
}

/// Returns the kinds on which numbers depend or that could explain more, and that are not known whole, each once.
fn unknown_kinds(found: &Findings) -> Vec<UnknownKind> {
    let mut kinds: Vec<UnknownKind> = found.open.iter().map(|open| words::open(*open)).collect();
    let more = found.unknown.iter().map(|(kind, why)| UnknownKind {
        kind: (*kind).into(),
        why: *why,
        clause: missing_clause(&kind.plural(), *why),
        effect: words::effect(*kind, &found.workload),
    });
    let events = found.events_unknown.map(|why| UnknownKind {
        kind: "Event",
        why,
        clause: missing_clause("Events", why),
        effect: "what others wrote may be missing.",
    });
    for kind in more.chain(events) {
        if kinds.iter().all(|known| known.kind != kind.kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Returns where a number of pods is lost: `2 pods are not created`.
pub(crate) fn lost(stage: Stage, pods: usize) -> String {
    let (one, many) = match stage {
        Stage::Creation => ("pod is not created", "pods are not created"),
        Stage::Gate => ("pod is gated", "pods are gated"),
        Stage::Scheduling => ("pod has no node", "pods have no node"),
        Stage::Binding => ("pod waits for its volume", "pods wait for their volumes"),
        Stage::Startup => ("pod is not ready", "pods are not ready"),
    };
    count_of(pods, one, many)
}

/// Returns the causes of the pods without a node.
fn of_scheduler(decided: &[&SchedulerMatch], causes: &[CauseReport], pods: &[Key], scheduler: &Scheduler) -> Vec<WorkloadCause> {
    let mut causes: Vec<WorkloadCause> = causes.iter().map(of_cause).collect();
    let together = fit_together(decided, scheduler);
    let mut others: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for pod in decided.iter().filter(|pod| pod.waits_for.is_none()) {
        others.entry(other(pod, &together)).or_default().push(pod.pod.to_string());
    }
    let known: BTreeSet<&Key> = decided.iter().map(|pod| &pod.pod).collect();
    let undecided = pods.iter().filter(|pod| !known.contains(pod)).map(Key::to_string);
    let key = ("not-decided".to_owned(), "not decided yet".to_owned());
    undecided.for_each(|pod| others.entry(key.clone()).or_default().push(pod));
    for ((cause, sentence), mut pods) in others {
        pods.sort();
        let (stage, by, fix, fix_words) = (Stage::Scheduling, None, None, String::new());
        causes.push(WorkloadCause { cause, stage, sentence, count: 0, pods, by, fix, fix_words });
    }
    causes
}

/// Limit on the pods that are placed one after another to count those that fit together.
const PLACED_TOGETHER: usize = 200;

/// Returns how many of the pods that fit each on its own also fit together, as a clause; empty for fewer than two.
fn fit_together(decided: &[&SchedulerMatch], scheduler: &Scheduler) -> String {
    let fits = |pod: &&&SchedulerMatch| pod.waits_for.is_none() && pod.outcome == Some(Outcome::Scheduled);
    let pods: Vec<Key> = decided.iter().filter(fits).take(PLACED_TOGETHER + 1).map(|pod| pod.pod.clone()).collect();
    let first = pods.first().and_then(|pod| scheduler.state().cluster().pods.get(pod));
    let (Some(first), 2..=PLACED_TOGETHER) = (first, pods.len()) else {
        return if pods.len() < 2 { String::new() } else { "; each is decided on its own, and fewer may fit together".to_owned() };
    };
    let (all, placed) = (pods.len(), freed(scheduler, first, &[], &pods, &|| true).len());
    if placed == all {
        format!("; all {all} fit together")
    } else {
        format!("; each is decided on its own: without evictions {placed} of {all} fit together")
    }
}

/// Returns the key and the sentence of a pod that no reason keeps waiting. `together` says how many of those that fit do so together.
fn other(pod: &SchedulerMatch, together: &str) -> (String, String) {
    match pod.outcome {
        Some(Outcome::Scheduled) => ("fits-now".to_owned(), format!("a node has room now: {}{together}", pod.clause)),
        Some(_) => ("undecided".to_owned(), pod.clause.clone()),
        None => ("other-scheduler".to_owned(), pod.clause.clone()),
    }
}

fn of_cause(cause: &CauseReport) -> WorkloadCause {
    let preemption = cause.preemption_words();
    let preemption = if preemption.is_empty() { String::new() } else { format!("; {preemption}") };
    WorkloadCause {
        cause: cause.cause.clone(),
        stage: if cause.cause == VOLUME { Stage::Binding } else { Stage::Scheduling },
        sentence: format!("{}{preemption}", cause.sentence),
        count: 0,
        pods: cause.pods.clone(),
        by: None,
        fix: cause.fix.clone().map(|fix| WorkloadFix::Scheduling(Box::new(fix))),
        fix_words: cause.fix_words().to_owned(),
    }
}
