//! Why no node takes a pod: counts every node once, under its rejection.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::words::{Number, Phrase, list, no_node_at_all, resource, short, too_little};
use crate::framework::{Code, PluginName, Reason, Shortage, Status};
use crate::plural::count;
use crate::trace::{CycleStart, CycleView};

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
    let mut by_phrase: BTreeMap<Phrase, (usize, Shared)> = BTreeMap::new();
    let mut fits = Lacking::default();
    // The resources that a node lacks, sorted; and how many nodes lack the same ones, even when empty or not.
    let (mut lacks, mut sets) = (Vec::new(), BTreeMap::<Vec<&str>, [usize; 2]>::new());
    for verdict in view.filter.verdicts.values().filter(|v| !v.status.is_success()) {
        let status = &verdict.status;
        lacks.clear();
        lacks.extend(status.reasons().iter().map_while(|reason| resource(reason)));
        let only_lacks = !lacks.is_empty() && lacks.len() == status.reasons().len();
        if only_lacks && status.plugin().is_some_and(PluginName::compares_requests) {
            lacks.sort_unstable();
            lacks.dedup();
            let never = amounts && status.code() == Code::UnschedulableAndUnresolvable;
            let too_small: Vec<&str> = match &lacks[..] {
                [only] if never => vec![*only],
                _ if never => status.reasons().iter().filter_map(|r| larger_than_node(r)).collect(),
                _ => Vec::new(),
            };
            for resource in too_small {
                *fits.never.entry(resource).or_default() += 1;
            }
            match sets.get_mut(&lacks[..]) {
                Some(counts) => counts[usize::from(never)] += 1,
                None => {
                    let mut counts = [0; 2];
                    counts[usize::from(never)] = 1;
                    sets.insert(lacks.clone(), counts);
                }
            }
            fits.nominated |= !verdict.nominated.is_empty();
            status.reasons().iter().for_each(|r| fits.note_free(r));
        } else {
            let phrase = if is_for_another(status) { Phrase::of_other_daemons() } else { Phrase::of(status, start) };
            let (nodes, shared) = by_phrase.entry(phrase).or_default();
            *nodes += 1;
            shared.add(status);
        }
    }
    for (lacks, counts) in sets {
        let lacks: BTreeSet<&str> = lacks.into_iter().collect();
        let counts = [false, true].into_iter().zip(counts).filter(|(_, nodes)| *nodes > 0);
        fits.nodes.extend(counts.map(|(never, nodes)| ((lacks.clone(), never), nodes)));
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

/// Nodes that lack requested resources, by the resources and whether they lack them even when empty.
#[derive(Default)]
struct Lacking<'a> {
    nodes: BTreeMap<(BTreeSet<&'a str>, bool), usize>,
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
    fn largest_of(&self, shared: &BTreeSet<&str>, nodes: usize) -> Option<String> {
        let mut resources = shared.iter();
        let shortage = self.largest.get(resources.next().filter(|_| resources.next().is_none())?)?;
        let capacity = shortage.readable(shortage.capacity);
        Some(match nodes {
            _ if shortage.capacity <= 0 => "none at all".to_owned(),
            1 => format!("{capacity} in all"),
            _ => format!("at most {capacity} each"),
        })
    }

    /// Returns a note such as `at most 2.1 free`; `None` for several resources.
    fn most_free_of(&self, shared: &BTreeSet<&str>) -> Option<String> {
        let mut resources = shared.iter();
        let (free, shortage) = self.most_free.get(resources.next().filter(|_| resources.next().is_none())?)?;
        let free = *free;
        Some(if free > 0 { format!("at most {} free", shortage.readable(free)) } else { "none free".to_owned() })
    }

    fn causes(&self, start: Option<&CycleStart>) -> Vec<Cause> {
        let sets: Vec<&BTreeSet<&str>> = self.nodes.keys().map(|(lacks, _)| lacks).collect();
        let shared: BTreeSet<&str> = match sets.split_first() {
            Some((first, rest)) => first.iter().filter(|name| rest.iter().all(|set| set.contains(*name))).copied().collect(),
            None => return Vec::new(),
        };
        if shared.is_empty() {
            return if sets.len() > 2 { vec![self.this_or_that(start)] } else { self.each(start) };
        }
        let nodes = self.nodes.values().sum();
        let never = match shared.first() {
            Some(only) if shared.len() == 1 => self.never.get(only).copied().unwrap_or(0),
            _ => 0,
        };
        let all_never = never == nodes;
        let mut notes = Vec::new();
        let mut more: BTreeMap<&str, usize> = BTreeMap::new();
        for ((lacks, _), n) in &self.nodes {
            for name in lacks.difference(&shared) {
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
        let cause = |((lacks, never), nodes): (&(BTreeSet<&str>, bool), &usize)| Cause {
            fact: if *never { self.largest_of(lacks, *nodes) } else { self.most_free_of(lacks) },
            nominated: self.nominated && !*never,
            ..Cause::new(*nodes, phrase(lacks, *never, start))
        };
        self.nodes.iter().map(cause).collect()
    }

    /// Returns one cause for all nodes, with the number of nodes per resource.
    fn this_or_that(&self, start: Option<&CycleStart>) -> Cause {
        let mut by_resource: BTreeMap<&str, usize> = BTreeMap::new();
        for ((lacks, _), n) in &self.nodes {
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
        Cause { notes, nominated: self.nominated, ..Cause::new(self.nodes.values().sum(), Phrase::resources()) }
    }
}

/// Limit on the resources named.
const NAMED: usize = 3;

fn phrase(lacks: &BTreeSet<&str>, never: bool, start: Option<&CycleStart>) -> Phrase {
    let names: Vec<&str> = lacks.iter().copied().collect();
    match names[..] {
        [one] if never && one != "pods" => Phrase::too_small(one, start),
        _ => Phrase::lack(&names, start),
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
