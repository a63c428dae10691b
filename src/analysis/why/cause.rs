//! Why no node takes a pod: counts every node once, under its rejection.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::words::{Number, Phrase, list, no_node_at_all, resource, short, too_little};
use crate::framework::{Code, PluginName, Reason, Shortage, Status};
use crate::plural::count;
use crate::trace::{CycleStart, CycleView, Verdict};

/// A cause that some nodes share.
pub(super) struct Cause {
    nodes: usize,
    phrase: Phrase,
    /// Details about some of the nodes.
    notes: Vec<String>,
    /// The deciding fact, if all nodes share it.
    fact: Option<String>,
    /// Whether pods that are only nominated were counted as running.
    nominated: bool,
}

/// Limits the detail of a sentence: the number of causes named, and the details about their nodes.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    pub(super) causes: usize,
    pub(super) notes: bool,
    /// Whether to name the deciding facts.
    pub(super) facts: bool,
    /// Whether to say that pods which are only nominated were counted.
    pub(super) nominated: bool,
    /// Whether to count the nodes under other causes in as few words as there are.
    pub(super) brief: bool,
}

impl Cause {
    fn new(nodes: usize, phrase: Phrase) -> Self {
        Self { nodes, phrase, notes: Vec::new(), fact: None, nominated: false }
    }

    fn verb(&self, detail: Detail, pods: Number) -> String {
        let phrase = self.phrase.about(pods);
        let words = if self.nodes == 1 { phrase.one } else { phrase.many };
        format!("{words}{}", self.brackets(detail))
    }

    fn brackets(&self, detail: Detail) -> String {
        let facts = self.fact.iter().filter(|_| detail.facts);
        let notes = facts.chain(self.notes.iter().filter(|_| detail.notes)).map(String::as_str);
        let all: Vec<&str> = notes.chain((self.nominated && detail.nominated).then_some("counting pods nominated there")).collect();
        if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
    }
}

/// Returns why no node takes the pod, as half a sentence for each detail; `None` if the record has no verdicts.
pub(super) fn cause(view: &CycleView) -> impl Fn(Detail) -> Option<String> {
    let causes = causes(view, true);
    move |detail| said(view, &causes, detail, Number::One)
}

/// Returns why no node takes a pod without the amounts it requests, as it is said of one pod, and of several, for each detail.
/// `None` if the record has no verdicts.
pub(super) fn cause_of_one_and_several(view: &CycleView, details: impl Iterator<Item = Detail>) -> Option<Vec<(String, String)>> {
    let causes = causes(view, false);
    details.map(|detail| Some((said(view, &causes, detail, Number::One)?, said(view, &causes, detail, Number::Several)?))).collect()
}

fn said(view: &CycleView, causes: &[Cause], detail: Detail, pods: Number) -> Option<String> {
    if let Some((_, status)) = view.pre_filter.narrowed.as_ref().filter(|_| view.pre_filter.rejected.is_some()) {
        return Some(no_node_at_all(status, pods, view.missing()));
    }
    let total: usize = causes.iter().map(|c| c.nodes).sum();
    match causes {
        [] => None,
        [one] if total == 1 => Some(format!("the only node {}", one.verb(detail, pods))),
        [one] => Some(match one.phrase.about(pods).none {
            Some(none) => format!("{none}{}", one.brackets(detail)),
            None => format!("{} {}", of_nodes(total, total), one.verb(detail, pods)),
        }),
        all => {
            let mut parts: Vec<String> = all.iter().take(detail.causes).map(|c| format!("{} {}", c.nodes, c.verb(detail, pods))).collect();
            parts[0] = format!("{} of {total} nodes {}", all[0].nodes, all[0].verb(detail, pods));
            let rest = all.get(detail.causes..).unwrap_or_default();
            let nodes: usize = rest.iter().map(|c| c.nodes).sum();
            match (rest.len(), nodes) {
                (0, _) => {}
                (_, n) if detail.brief => {
                    parts.push(if n == 1 { "1 other".to_owned() } else { format!("{n} others") });
                    return Some(parts.join(", "));
                }
                (1, 1) => parts.push("1 is rejected for another reason".to_owned()),
                (1, n) => parts.push(format!("{n} are rejected for another reason")),
                (_, n) => parts.push(format!("{n} are rejected for other reasons")),
            }
            Some(list(&parts, "and"))
        }
    }
}

/// Returns the resource of which a request exceeds what the node has in all.
fn larger_than_node(reason: &Reason) -> Option<&str> {
    match reason {
        Reason::Insufficient(shortage) if shortage.requested > shortage.capacity => Some(&shortage.resource),
        _ => None,
    }
}

/// Returns the causes, most nodes first; each node counts once. `amounts` tells whether to name the requested amounts, and the nodes
/// that lack them even when empty.
fn causes(view: &CycleView, amounts: bool) -> Vec<Cause> {
    let start = view.start.as_deref().filter(|_| amounts);
    let daemon_node = view.start.as_ref().and_then(|start| start.daemon_node.as_ref());
    // The controller names the node in the pod's node affinity.
    let is_for_another = |status: &Status| {
        let of_affinity = |reason: &Reason| match reason {
            Reason::NodeAffinityMismatch { .. } | Reason::FilteredOutByPreFilter => true,
            Reason::NotAmongNodes { plugins } => **plugins == [PluginName::NodeAffinity],
            _ => false,
        };
        daemon_node.is_some() && status.reasons().iter().all(of_affinity)
    };
    // Most nodes share a few statuses.
    let mut by_status: HashMap<usize, (usize, &Status)> = HashMap::new();
    let mut by_phrase: BTreeMap<Phrase, (usize, Shared)> = BTreeMap::new();
    let mut fits = Lacking::default();
    for verdict in view.filter.verdicts.values().filter(|v| !v.status.is_success()) {
        let status = &verdict.status;
        if status.plugin().is_some_and(PluginName::compares_requests) && fits.add(verdict, amounts) {
            continue;
        }
        by_status.entry(status.address()).or_insert((0, status)).0 += 1;
    }
    for (nodes, status) in by_status.into_values() {
        let phrase = if is_for_another(status) { Phrase::of_other_daemons() } else { Phrase::of(status, start) };
        let (all, shared) = by_phrase.entry(phrase).or_default();
        *all += nodes;
        shared.add(status);
    }
    let unseen = view.start.as_deref().map_or(0, |s| s.nodes).saturating_sub(view.filter.verdicts.len());
    if unseen > 0 {
        let phrase = match &view.pre_filter.narrowed {
            Some((_, status)) if is_for_another(status) => Phrase::of_other_daemons(),
            Some((_, status)) => Phrase::left_out(status),
            None => Phrase::not_looked_at(),
        };
        by_phrase.entry(phrase).or_default().0 += unseen;
    }
    let mut causes: Vec<Cause> = by_phrase
        .into_iter()
        .map(|(phrase, (nodes, shared))| {
            let fact = if phrase == Phrase::of_other_daemons() { daemon_node.map(|node| short(node)) } else { shared.brief() };
            Cause { fact, ..Cause::new(nodes, phrase) }
        })
        .collect();
    causes.extend(fits.causes(start));
    causes.sort_by(|a, b| b.nodes.cmp(&a.nodes).then_with(|| a.phrase.cmp(&b.phrase)));
    causes
}

/// The status and the deciding fact of nodes under one phrase, while all of them share it.
#[derive(Default)]
enum Shared {
    #[default]
    Nothing,
    All(Status, Option<String>),
    Differs,
}

impl Shared {
    fn add(&mut self, status: &Status) {
        *self = match std::mem::take(self) {
            Self::Nothing => Self::All(status.clone(), brief(status)),
            Self::All(first, text) if first == *status || text == brief(status) => Self::All(first, text),
            _ => Self::Differs,
        };
    }

    fn brief(self) -> Option<String> {
        if let Self::All(_, text) = self { text } else { None }
    }
}

fn brief(status: &Status) -> Option<String> {
    let mut reasons = status.reasons().iter().filter(|reason| !matches!(reason, Reason::PodAffinityRules));
    match (reasons.next(), reasons.next()) {
        // The phrase names the condition.
        (Some(Reason::UntoleratedTaint { taint }), None) if taint.condition().is_some() => None,
        (Some(reason), None) => reason.brief().map(|text| short(&text)),
        _ => None,
    }
}

/// Nodes that lack requested resources.
#[derive(Default)]
struct Lacking<'a> {
    /// The number of nodes by the resources that they lack, sorted: of those that would have them when empty, and of the others.
    nodes: BTreeMap<Vec<&'a str>, [usize; 2]>,
    /// The resources of the last node, kept so that most nodes need no memory.
    last: Vec<&'a str>,
    /// The number of nodes that lack each resource even when empty.
    never: BTreeMap<&'a str, usize>,
    /// The number of nodes that have none of each resource.
    without: BTreeMap<&'a str, usize>,
    /// The largest free amount of each resource.
    most_free: BTreeMap<&'a str, (i64, &'a Shortage)>,
    /// The largest capacity of each resource.
    largest: BTreeMap<&'a str, &'a Shortage>,
    /// Whether pods that are only nominated were counted as running.
    nominated: bool,
}

impl<'a> Lacking<'a> {
    /// Adds a node that lacks nothing but resources; returns false for any other. `amounts` tells whether those that lack them even
    /// when empty count apart.
    fn add(&mut self, verdict: &'a Verdict, amounts: bool) -> bool {
        let status = &verdict.status;
        self.last.clear();
        self.last.extend(status.reasons().iter().map_while(resource));
        if self.last.is_empty() || self.last.len() != status.reasons().len() {
            return false;
        }
        self.last.sort_unstable();
        self.last.dedup();
        let never = amounts && status.code() == Code::UnschedulableAndUnresolvable;
        let too_small: Vec<&str> = match &self.last[..] {
            [only] if never => vec![*only],
            _ if never => status.reasons().iter().filter_map(larger_than_node).collect(),
            _ => Vec::new(),
        };
        for resource in too_small {
            *self.never.entry(resource).or_default() += 1;
        }
        match self.nodes.get_mut(&self.last[..]) {
            Some(counts) => counts[usize::from(never)] += 1,
            None => {
                self.nodes.insert(self.last.clone(), [usize::from(!never), usize::from(never)]);
            }
        }
        self.nominated |= !verdict.nominated.is_empty();
        status.reasons().iter().for_each(|reason| self.note_free(reason));
        true
    }

    /// Returns each set of resources, whether its nodes lack them even when empty, and the number of these nodes.
    fn sets(&self) -> impl Iterator<Item = (&[&'a str], bool, usize)> {
        let each = self.nodes.iter().flat_map(|(lacks, counts)| [false, true].into_iter().zip(*counts).map(move |count| (lacks, count)));
        each.map(|(lacks, (never, nodes))| (&lacks[..], never, nodes)).filter(|(.., nodes)| *nodes > 0)
    }

    /// Returns the number of nodes.
    fn number(&self) -> usize {
        self.sets().map(|(.., nodes)| nodes).sum()
    }

    fn note_free(&mut self, reason: &'a Reason) {
        let Reason::Insufficient(shortage) = reason else { return };
        *self.without.entry(&shortage.resource).or_default() += usize::from(shortage.capacity <= 0);
        let free = shortage.free();
        let most = self.most_free.entry(&shortage.resource).or_insert((free, shortage));
        if free > most.0 {
            *most = (free, shortage);
        }
        let largest = self.largest.entry(&shortage.resource).or_insert(shortage);
        if shortage.capacity > largest.capacity {
            *largest = shortage;
        }
    }

    /// Returns a note such as `at most 8 each` about nodes that are too small; `None` for several resources.
    fn largest_of(&self, resources: &[&str], nodes: usize) -> Option<String> {
        let [only] = resources else { return None };
        let shortage = self.largest.get(only)?;
        let capacity = shortage.readable(shortage.capacity);
        Some(match nodes {
            _ if shortage.capacity <= 0 => "none at all".to_owned(),
            1 => format!("{capacity} in all"),
            _ => format!("at most {capacity} each"),
        })
    }

    /// Returns a note such as `at most 2.1 free`; `None` for several resources.
    fn most_free_of(&self, resources: &[&str]) -> Option<String> {
        let [only] = resources else { return None };
        let (free, shortage) = *self.most_free.get(only)?;
        Some(if free > 0 { format!("at most {} free", shortage.readable(free)) } else { "none free".to_owned() })
    }

    fn causes(&self, start: Option<&CycleStart>) -> Vec<Cause> {
        let sets: Vec<&[&str]> = self.sets().map(|(lacks, ..)| lacks).collect();
        let Some((first, rest)) = sets.split_first() else { return Vec::new() };
        // A pod may ask for thousands of resources.
        let mut in_others: HashMap<&str, usize> = HashMap::new();
        rest.iter().copied().flatten().for_each(|name| *in_others.entry(name).or_default() += 1);
        let is_shared = |name: &str| in_others.get(name).copied().unwrap_or(0) == rest.len();
        let shared: Vec<&str> = first.iter().copied().filter(|name| is_shared(name)).collect();
        if shared.is_empty() {
            return if sets.len() > 2 { vec![self.this_or_that(start)] } else { self.each(start) };
        }
        let nodes = self.number();
        let never = if let [only] = shared[..] { self.never.get(only).copied().unwrap_or(0) } else { 0 };
        let all_never = never == nodes;
        let mut notes = Vec::new();
        let mut more: BTreeMap<&str, usize> = BTreeMap::new();
        let known: HashSet<&str> = shared.iter().copied().collect();
        for (lacks, _, n) in self.sets() {
            for name in lacks.iter().filter(|name| !known.contains(*name)) {
                *more.entry(name).or_default() += n;
            }
        }
        for (name, n) in more.iter().take(2) {
            let also = if *n == 1 { "also has" } else { "also have" };
            notes.push(format!("{n} {also} {}", too_little(name, start)));
        }
        if more.len() > 2 {
            notes.push("some lack more".to_owned());
        }
        if never > 0 && !all_never {
            let without = shared.first().and_then(|only| self.without.get(only).copied()).unwrap_or(0);
            notes.push(match (count(never, "node"), never == without) {
                (nodes, true) if never == 1 => format!("{nodes} has none"),
                (nodes, true) => format!("{nodes} have none"),
                (nodes, false) => format!("{nodes} too small"),
            });
        }
        let fact = if all_never { self.largest_of(&shared, nodes) } else { self.most_free_of(&shared) };
        // Nominated pods do not count against a capacity.
        vec![Cause { notes, fact, nominated: self.nominated && !all_never, ..Cause::new(nodes, phrase(&shared, all_never, start)) }]
    }

    /// Returns a cause for each set of lacking resources.
    fn each(&self, start: Option<&CycleStart>) -> Vec<Cause> {
        let cause = |(lacks, never, nodes)| Cause {
            fact: if never { self.largest_of(lacks, nodes) } else { self.most_free_of(lacks) },
            nominated: self.nominated && !never,
            ..Cause::new(nodes, phrase(lacks, never, start))
        };
        self.sets().map(cause).collect()
    }

    /// Returns one cause for all nodes, with the number of nodes per resource.
    fn this_or_that(&self, start: Option<&CycleStart>) -> Cause {
        let mut by_resource: BTreeMap<&str, usize> = BTreeMap::new();
        for (lacks, _, n) in self.sets() {
            for name in lacks {
                *by_resource.entry(name).or_default() += n;
            }
        }
        let mut most: Vec<(&str, usize)> = by_resource.into_iter().collect();
        most.sort_by_key(|(name, n)| (Reverse(*n), *name));
        let have = |n: usize| if n == 1 { "has" } else { "have" };
        let part = |(name, n): &(&str, usize)| format!("{n} {} {}", have(*n), too_little(name, start));
        let named = if most.len() > NAMED { NAMED - 1 } else { most.len() };
        let mut notes: Vec<String> = most.iter().take(named).map(part).collect();
        if named < most.len() {
            notes.push("some lack more".to_owned());
        }
        Cause { notes, nominated: self.nominated, ..Cause::new(self.number(), Phrase::resources()) }
    }
}

/// Limit on the resources named.
const NAMED: usize = 3;

fn phrase(lacks: &[&str], never: bool, start: Option<&CycleStart>) -> Phrase {
    match lacks {
        [one] if never && *one != "pods" => Phrase::too_small(one, start),
        _ => Phrase::lack(lacks, start),
    }
}

/// Returns the number of nodes.
pub(super) fn nodes(view: &CycleView) -> usize {
    view.start.as_ref().map_or(view.filter.verdicts.len(), |s| s.nodes).max(view.filter.verdicts.len())
}

/// Returns `3 of 12 nodes`, or `the only node`.
pub(super) fn of_nodes(n: usize, total: usize) -> String {
    match (n, total) {
        (1, 1) => "the only node".to_owned(),
        (2, 2) => "both nodes".to_owned(),
        (n, total) if n == total => format!("all {}", count(total, "node")),
        (n, total) => format!("{n} of {}", count(total, "node")),
    }
}
