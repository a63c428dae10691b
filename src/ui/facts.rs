//! Plain answers from the record: which verdict a node has, who decided a preemption, how a cycle stands.

use crate::cluster::Str;
use crate::framework::{Code, PluginName, ScoreFunctionName, Status};
use crate::report::why;
use crate::trace::{CycleView, Event, ExtensionPoint, PreemptionView, Selection};
use crate::ui::text::{count, thousands};

/// The classes of verdicts, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::EnumIter)]
pub enum Class {
    /// The pod fits.
    Fits,
    /// It does not, but evicting pods might help.
    MayHelp,
    /// It does not, and evicting pods cannot help.
    Hopeless,
    /// Something went wrong.
    Failed,
    /// Not looked at yet, or not at all.
    Unseen,
}

impl Class {
    /// The class of a status.
    pub fn of(status: &Status) -> Self {
        match status.code() {
            Code::Success | Code::Skip => Self::Fits,
            Code::Unschedulable | Code::Pending | Code::Wait => Self::MayHelp,
            Code::UnschedulableAndUnresolvable => Self::Hopeless,
            Code::Error => Self::Failed,
        }
    }

    /// The word for a narrow column.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::MayHelp => "unschedulable",
            Self::Hopeless => "unresolvable",
            Self::Failed => "error",
            Self::Unseen => "not looked at",
        }
    }

    /// The class in words.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::MayHelp => "unschedulable: evicting pods might help",
            Self::Hopeless => "unresolvable: evicting pods cannot help",
            Self::Failed => "error",
            Self::Unseen => "not looked at",
        }
    }
}

/// What is known of a node in a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeVerdict<'a> {
    /// Its class.
    pub class: Class,
    /// The plugin that rejected.
    pub plugin: Option<PluginName>,
    /// The reasons, in one line.
    pub reason: std::borrow::Cow<'a, str>,
}

/// Looks up verdicts in one cycle; what PreFilter left standing is indexed once.
pub struct Verdicts<'a> {
    cycle: &'a CycleView,
    left: Option<(std::collections::BTreeSet<&'a str>, &'a Status)>,
}

impl<'a> Verdicts<'a> {
    /// Verdicts of a cycle.
    pub fn new(cycle: &'a CycleView) -> Self {
        let left = cycle.narrowed.as_ref().map(|(nodes, status)| (nodes.iter().map(Str::as_str).collect(), status));
        Self { cycle, left }
    }

    /// A node's verdict so far.
    pub fn of(&self, node: &str) -> NodeVerdict<'a> {
        let status = match (self.cycle.verdicts.get(node), &self.left) {
            (Some(verdict), _) => &verdict.status,
            (None, Some((nodes, status))) if !nodes.contains(node) => {
                if status.is_success() {
                    return NodeVerdict { class: Class::Hopeless, plugin: None, reason: "left out by PreFilter".into() };
                }
                status
            }
            _ => return NodeVerdict { class: Class::Unseen, plugin: None, reason: "".into() },
        };
        let reason = match status.reasons() {
            [] => "".into(),
            [one] => one.as_ref().into(),
            _ => status.message().into(),
        };
        NodeVerdict { class: Class::of(status), plugin: status.plugin(), reason }
    }
}

/// The part of a cycle that an event belongs to, in a word: its extension point, or the end.
pub fn part(event: &Event) -> &'static str {
    match (event, event.extension_point()) {
        (Event::CycleFinished { .. }, _) => "End",
        (_, ExtensionPoint::Queue) => "Queue",
        (_, ExtensionPoint::PreEnqueue) => "PreEnqueue",
        (_, ExtensionPoint::PreFilter) => "PreFilter",
        (_, ExtensionPoint::Filter) => "Filter",
        (_, ExtensionPoint::PostFilter) => "PostFilter",
        (_, ExtensionPoint::PreScore) => "PreScore",
        (_, ExtensionPoint::Score) => "Score",
        (_, ExtensionPoint::Reserve) => "Reserve",
        (_, ExtensionPoint::Permit) => "Permit",
        (_, ExtensionPoint::PreBind) => "PreBind",
        (_, ExtensionPoint::Bind) => "Bind",
        (_, ExtensionPoint::Failure) => "Failure",
    }
}

/// How a preemption was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is not decided yet.
    Open,
    /// There was one candidate.
    OnlyOne,
    /// This function left one.
    By(ScoreFunctionName),
    /// All functions left these equal; the scheduler takes any.
    AnyOf(usize),
}

/// How the choice among candidates was made.
pub fn decision(preemption: &PreemptionView) -> Decision {
    let Some((_, best)) = &preemption.selected else { return Decision::Open };
    match preemption.score_functions.iter().find(|f| f.remaining.len() <= 1) {
        _ if best.len() > 1 => Decision::AnyOf(best.len()),
        Some(function) => Decision::By(function.name),
        None if preemption.candidates.len() <= 1 => Decision::OnlyOne,
        None => Decision::AnyOf(best.len().max(1)),
    }
}

/// The decision as half a sentence.
pub fn decision_text(preemption: &PreemptionView) -> Option<String> {
    match decision(preemption) {
        Decision::Open => None,
        Decision::OnlyOne => Some("the only candidate".to_owned()),
        Decision::By(name) => Some(format!("decided by {name}")),
        Decision::AnyOf(n) => Some(format!("any of these {n} is right")),
    }
}

/// What a score function asks for.
pub fn function_meaning(name: ScoreFunctionName) -> &'static str {
    match name {
        ScoreFunctionName::MinNumPDBViolations => "fewest budgets violated",
        ScoreFunctionName::MinHighestPriority => "lowest priority of its most important victim",
        ScoreFunctionName::MinSumPriorities => "smallest sum of victim priorities",
        ScoreFunctionName::MinNumPods => "fewest victims",
        ScoreFunctionName::LatestStartTime => "its most important victims started last",
    }
}

/// The cycle in one sentence, for someone who reads nothing else: once it has ended the one of the report, and how it
/// stands before.
pub fn answer(cycle: &CycleView, nodes: usize) -> Option<String> {
    if cycle.outcome.is_some() {
        let sentence = why(cycle);
        return Some(cycle.start.as_ref().map_or_else(|| sentence.clone(), |start| format!("{}: {sentence}", start.pod)));
    }
    let Some(start) = &cycle.start else {
        return match (&cycle.pre_enqueue, &cycle.skipped) {
            (Some(status), _) => Some(format!("gated: {}", status.message())),
            (None, Some(reason)) => Some(format!("skipped: {reason}")),
            (None, None) => None,
        };
    };
    let pod = &start.pod;
    let text = if let Some(node) = &cycle.bound {
        format!("{pod}: bound to {node}{}", selection_text(cycle))
    } else if let Some((node, ..)) = &cycle.selected {
        match &cycle.failure {
            Some((reason, ..)) => format!("{pod}: was to run on {node}, but the attempt failed ({reason})"),
            None => format!("{pod}: {node} is taken{}", selection_text(cycle)),
        }
    } else if let Some((_, status)) = cycle.narrowed.as_ref().filter(|_| cycle.pre_filter_rejected) {
        format!("{pod}: no node is even looked at: {}", status.message())
    } else if let Some(preemption) = &cycle.preemption {
        format!("{pod}: {}", preemption_text(cycle, preemption))
    } else if let Some(reason) = &cycle.skipped {
        format!("{pod}: skipped, {reason}")
    } else if cycle.failure.is_some() {
        format!("{pod}: fits on none of {}", count(nodes, "node"))
    } else {
        progress_text(cycle, nodes)
    };
    Some(text)
}

fn progress_text(cycle: &CycleView, nodes: usize) -> String {
    let pod = cycle.start.as_ref().map(|s| s.pod.to_string()).unwrap_or_default();
    let feasible = cycle.feasible().count();
    match cycle.verdicts.len() {
        0 => format!("{pod}: no node looked at yet"),
        looked if feasible == 0 => format!("{pod}: {} of {} looked at, none fits so far", thousands(looked), count(nodes, "node")),
        looked => format!("{pod}: {} of {} looked at, {} fit", thousands(looked), count(nodes, "node"), thousands(feasible)),
    }
}

fn selection_text(cycle: &CycleView) -> String {
    match &cycle.selected {
        Some((_, Selection::NominatedNode, _)) => ", where it was nominated".to_owned(),
        Some((_, Selection::OnlyFeasibleNode, _)) => ", the only node that fits".to_owned(),
        Some((node, Selection::HighestScore, tied)) => {
            let total = cycle.scores.get(node).map(|s| format!(" {}", s.total)).unwrap_or_default();
            match tied.len() {
                0 | 1 => format!(", the highest score{total}"),
                n => format!(", the highest score{total}; any of these {n} is right"),
            }
        }
        None => String::new(),
    }
}

fn preemption_text(cycle: &CycleView, preemption: &PreemptionView) -> String {
    if let Some(why) = &preemption.ineligible {
        return format!("fits nowhere and may not preempt: {why}");
    }
    let Some((node, _)) = &preemption.selected else {
        if preemption.potential_nodes.is_empty() {
            return "fits nowhere, and evicting pods would not help on any node".to_owned();
        }
        let all = count(preemption.potential_nodes.len(), "node");
        // Other PostFilter plugins may have answered before the dry runs.
        let over = cycle.failure.is_some() || cycle.post_filter.iter().any(|(plugin, _)| *plugin == PluginName::DefaultPreemption);
        if over {
            return format!("fits nowhere, and evicting pods does not help on any of {all}");
        }
        let done = preemption.dry_runs.values().filter(|d| d.status.is_some()).count();
        let candidates = count(preemption.candidates.len(), "candidate");
        return format!("fits nowhere; preemption tried on {done} of {all}, {candidates} so far");
    };
    let would = if preemption.hypothetical { "preemption would choose" } else { "nominated to" };
    let victims = preemption.candidates.get(node);
    let evicting = victims.map(|c| format!(", evicting {}", count(c.victims.len(), "pod"))).unwrap_or_default();
    let violated = match victims.map_or(0, |c| c.pdb_violations.unsigned_abs() as usize) {
        0 if cycle.budgets_unknown() => ", budgets unknown".to_owned(),
        0 => ", no budget violated".to_owned(),
        n => format!(", {} of a budget", count(n, "violation")),
    };
    let by = decision_text(preemption).map(|t| format!("; {t}")).unwrap_or_default();
    format!("{would} {node}{evicting}{violated}{by}")
}
