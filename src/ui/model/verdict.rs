//! Facts read from the record: verdicts of nodes, the deciding score function, the progress of a cycle.

use std::borrow::Cow;
use std::collections::BTreeMap;

use strum::IntoEnumIterator as _;

use crate::analysis::{Sentence, so_far, why_group};
use crate::cluster::Str;
use crate::framework::{PluginName, Reason, ReasonKind, ScoreFunctionName, Shortage, Snapshot, Status, entry, taint_text};
use crate::trace::{CycleView, Event, ExtensionPoint, GroupView, PreemptionView, Verdict};

pub use crate::trace::VerdictClass as Class;

/// The class of a verdict, the plugin that gave it, and the reason.
pub type Cause = (Class, Option<PluginName>, Cow<'static, str>);

/// A class, the address of the status, and whether nominated pods count.
pub type VerdictKey = (Class, Option<usize>, bool);

/// The verdict of a node in a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeVerdict<'a> {
    pub class: Class,
    /// The plugin that rejected the pod.
    pub plugin: Option<PluginName>,
    /// The status behind it, or the reason where there is none.
    given: Result<&'a Status, &'static str>,
    /// Whether pods that are only nominated to the node were counted as running there.
    counts_nominated: bool,
}

impl<'a> NodeVerdict<'a> {
    /// Returns the verdict of a status.
    pub fn of(status: &'a Status) -> Self {
        Self { class: Class::of(status), plugin: status.plugin(), given: Ok(status), counts_nominated: false }
    }

    fn without_status(class: Class, reason: &'static str) -> Self {
        Self { class, plugin: None, given: Err(reason), counts_nominated: false }
    }

    fn of_verdict(verdict: &'a Verdict) -> Self {
        Self { counts_nominated: !verdict.nominated.is_empty(), ..Self::of(&verdict.status) }
    }

    /// Returns the reasons, in one line.
    pub fn reason(&self) -> Cow<'static, str> {
        let status = match self.given {
            Ok(status) => status,
            Err(reason) => return reason.into(),
        };
        let mut texts = status.texts();
        match (texts.next(), status.reasons().len()) {
            (Some(one), 1) => one,
            (None, _) if status.plugin() == Some(PluginName::Extender) => "left out without a reason".into(),
            _ => status.message().into(),
        }
    }

    /// Returns its class, plugin and reason.
    pub fn cause(&self) -> Cause {
        (self.class, self.plugin, self.reason())
    }

    /// Returns a key that only verdicts of one text share; others may have that text too.
    pub fn text_key(&self) -> VerdictKey {
        (self.class, self.given.ok().map(Status::address), self.counts_nominated)
    }

    /// Returns the deciding fact in a few words; `None` if the reasons are complete.
    pub fn decided(&self) -> Option<String> {
        self.given.ok().and_then(Status::fact)
    }

    /// Returns the deciding fact as a row has room for it: the missing amount and of how much, the taint, the label, the pod in
    /// the way; `None` if the reasons are complete.
    pub fn row_fact(&self) -> Option<String> {
        let reasons = self.given.ok()?.reasons();
        let mut shortages: Vec<&Shortage> =
            reasons.iter().filter_map(|r| if let Reason::Insufficient(shortage) = r { Some(shortage) } else { None }).collect();
        // The resource of which the node can never have enough decides, whatever pods are evicted.
        shortages.sort_by_key(|shortage| shortage.capacity >= shortage.requested);
        let others = reasons.iter().filter(|reason| !matches!(reason, Reason::Insufficient(_)));
        let facts: Vec<String> = shortage_facts(&shortages).into_iter().chain(others.filter_map(row_fact)).collect();
        let is_short = !shortages.is_empty();
        let nominated = if self.counts_nominated && is_short { " (nominated pods count)" } else { "" };
        (!facts.is_empty()).then(|| format!("{}{nominated}", facts.join(", ")))
    }

    /// Returns the deciding fact as a row has room for it, or else the reasons in plain words.
    pub fn in_row(&self) -> String {
        let plain = |status: &Status| {
            let phrase = |reason: &Reason| entry(ReasonKind::from(reason)).and_then(|entry| entry.phrase).map(|phrase| phrase.one);
            let phrases: Option<Vec<&str>> = status.reasons().iter().map(phrase).collect();
            phrases.filter(|phrases| !phrases.is_empty()).map(|phrases| phrases.join(", "))
        };
        self.row_fact().or_else(|| self.given.ok().and_then(plain)).unwrap_or_else(|| self.reason().into_owned())
    }

    /// Returns the reasons with the deciding fact.
    pub fn reason_with_fact(&self) -> String {
        match self.decided() {
            Some(fact) => format!("{}: {fact}", self.reason()),
            None => self.reason().into_owned(),
        }
    }
}

fn row_fact(reason: &Reason) -> Option<String> {
    match reason {
        Reason::UntoleratedTaint { taint } => Some(format!("taint {}", taint_text(taint))),
        _ => reason.fact(),
    }
}

/// Returns the missing amounts: `no nvidia.com/gpu`, `too small: 4 of 8 cpu`, `lacks 1.9 of 4 cpu`. Those that follow each other
/// share the word.
fn shortage_facts(shortages: &[&Shortage]) -> Vec<String> {
    let mut last = "";
    let fact = |shortage: &&Shortage| {
        let amount = |amount: i64| format!("{} of {} ", shortage.readable(amount), shortage.readable(shortage.requested));
        let missing = || shortage.requested.saturating_sub(shortage.free());
        let (word, amount) = match shortage.capacity {
            0 => ("no ", String::new()),
            capacity if capacity < shortage.requested => ("too small: ", amount(capacity)),
            // Pods that request more than the node has leave less than nothing.
            _ if shortage.free() < 0 => {
                ("lacks ", format!("{} for {} ", shortage.readable(missing()), shortage.readable(shortage.requested)))
            }
            _ => ("lacks ", amount(missing())),
        };
        let is_same = std::mem::replace(&mut last, word) == word;
        format!("{}{amount}{}", if is_same { "" } else { word }, shortage.resource)
    };
    shortages.iter().map(fact).collect()
}

/// Returns the number of nodes with each class, best first; without classes that no node has.
pub fn counts(classes: impl Iterator<Item = Class>) -> BTreeMap<Class, usize> {
    let mut counts = [0; 8];
    for class in classes {
        counts[class as usize] += 1;
    }
    Class::iter().map(|class| (class, counts[class as usize])).filter(|(_, n)| *n > 0).collect()
}

/// Looks up the verdicts of a cycle. Indexes the nodes that PreFilter kept once.
pub struct Verdicts<'a> {
    cycle: &'a CycleView,
    left: Option<(std::collections::BTreeSet<&'a str>, &'a Status)>,
}

impl<'a> Verdicts<'a> {
    /// Prepares the verdicts of a cycle.
    pub fn new(cycle: &'a CycleView) -> Self {
        let left = cycle.pre_filter.narrowed.as_ref().map(|(nodes, status)| (nodes.iter().map(Str::as_str).collect(), status));
        Self { cycle, left }
    }

    /// Returns a node's verdict so far.
    pub fn of(&self, node: &str) -> NodeVerdict<'a> {
        let Some(status) = self.status(node) else {
            return NodeVerdict::without_status(Class::Unseen, "");
        };
        if status.is_success() && self.left.is_some() && !self.cycle.filter.verdicts.contains_key(node) {
            return NodeVerdict::without_status(Class::Unresolvable, "left out by PreFilter");
        }
        self.cycle.filter.verdicts.get(node).map_or_else(|| NodeVerdict::of(status), NodeVerdict::of_verdict)
    }

    /// Returns the verdicts so far on all nodes of a snapshot, by position. In a large cluster this is much cheaper than a
    /// look-up by name for each.
    pub fn by_position(&self, snapshot: &Snapshot) -> Vec<NodeVerdict<'a>> {
        let mut list = vec![NodeVerdict::without_status(Class::Unseen, ""); snapshot.len()];
        if let Some((kept, _)) = &self.left {
            for (verdict, node) in list.iter_mut().zip(snapshot.nodes()).filter(|(_, node)| !kept.contains(node.name().as_str())) {
                *verdict = self.of(node.name());
            }
        }
        for (node, verdict) in &self.cycle.filter.verdicts {
            if let Some(at) = snapshot.position(node) {
                list[at] = NodeVerdict::of_verdict(verdict);
            }
        }
        list
    }

    /// Returns the class of a node's verdict so far; cheaper than [`Self::of`].
    pub fn class(&self, node: &str) -> Class {
        match self.status(node) {
            None => Class::Unseen,
            Some(status) if status.is_success() && self.left.is_some() && !self.cycle.filter.verdicts.contains_key(node) => {
                Class::Unresolvable
            }
            Some(status) => Class::of(status),
        }
    }

    /// Returns a node's own status, or that of all nodes that PreFilter left out; `None` for nodes not evaluated yet.
    fn status(&self, node: &str) -> Option<&'a Status> {
        match (self.cycle.filter.verdicts.get(node), &self.left) {
            (Some(verdict), _) => Some(&verdict.status),
            (None, Some((nodes, status))) if !nodes.contains(node) => Some(status),
            _ => None,
        }
    }
}

/// Returns the name of the part of a cycle that an event belongs to: its extension point, or `End`.
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

/// How a preemption's candidate was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No candidate is chosen yet.
    Open,
    /// There was one candidate.
    OnlyOne,
    /// This function left one candidate.
    By(ScoreFunctionName),
    /// All functions left several candidates; kube-scheduler may take any of them.
    AnyOf(usize),
}

/// Returns how the candidate was chosen.
pub fn decision(preemption: &PreemptionView) -> Decision {
    let Some((_, best)) = preemption.selected() else { return Decision::Open };
    match preemption.score_functions().iter().find(|f| f.remaining.len() <= 1) {
        _ if best.len() > 1 => Decision::AnyOf(best.len()),
        Some(function) => Decision::By(function.name),
        None if preemption.candidate_count() <= 1 => Decision::OnlyOne,
        None => Decision::AnyOf(best.len().max(1)),
    }
}

/// Returns the aim of a score function.
pub fn function_meaning(name: ScoreFunctionName) -> &'static str {
    match name {
        ScoreFunctionName::MinNumPDBViolations => "fewest budgets violated",
        ScoreFunctionName::MinHighestPriority => "lowest priority of its most important victim",
        ScoreFunctionName::MinSumPriorities => "smallest sum of victim priorities; more pods weigh more",
        ScoreFunctionName::MinNumPods => "fewest victims",
        ScoreFunctionName::LatestStartTime => "its most important victims started last",
    }
}

/// Returns the sentence of the report about a cycle; at the end of the cycle of a pod group, about the group.
pub fn sentence(cycle: &CycleView) -> Option<Sentence> {
    ended_group(cycle).and_then(why_group).map(Sentence::from).or_else(|| so_far(cycle))
}

/// Returns the pod or pod group that the sentence is about, also if the pod was not tried; empty without one.
pub fn subject(cycle: &CycleView) -> String {
    match ended_group(cycle).filter(|group| why_group(group).is_some()) {
        Some(group) => format!("pod group {}", group.start.group),
        None => cycle.pod().map(ToString::to_string).unwrap_or_default(),
    }
}

fn ended_group(cycle: &CycleView) -> Option<&GroupView> {
    cycle.group.as_deref().filter(|group| group.outcome.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::Code;

    fn row(shortages: &[(&str, i64, i64, i64)]) -> String {
        let reason = |(resource, requested, used, capacity): &(&str, i64, i64, i64)| {
            Reason::Insufficient(Shortage { resource: (*resource).into(), requested: *requested, used: *used, capacity: *capacity })
        };
        let status = Status::new(Code::Unschedulable, shortages.iter().map(reason));
        NodeVerdict::of(&status).in_row()
    }

    #[test]
    fn the_resource_that_can_never_fit_comes_first_in_few_words() {
        const GPU: &str = "nvidia.com/gpu";
        assert_eq!(row(&[("cpu", 4000, 5900, 8000)]), "lacks 1.9 of 4 cpu");
        assert_eq!(row(&[("cpu", 1500, 10_400, 8000)]), "lacks 3.9 for 1.5 cpu");
        assert_eq!(row(&[(GPU, 8, 0, 4)]), "too small: 4 of 8 nvidia.com/gpu");
        assert_eq!(row(&[("cpu", 4000, 5900, 8000), (GPU, 8, 0, 0)]), "no nvidia.com/gpu, lacks 1.9 of 4 cpu");
        assert_eq!(row(&[("cpu", 4000, 5900, 8000), ("memory", 1 << 31, 3 << 30, 4 << 30)]), "lacks 1.9 of 4 cpu, 1Gi of 2Gi memory");
        // The columns of a reason on a screen of 80.
        let both = [("cpu", 4000, 5900, 8000), (GPU, 8, 0, 4)].map(|one| row(&[one])).map(|words| words.len());
        assert!(both.iter().all(|width| *width <= 39), "{both:?}");
    }
}
