//! Why no node takes a pod: counts every node once, under its rejection.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

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

/// Returns whether a request exceeds what the node has in all.
fn exceeds_node(reason: &Reason) -> bool {
    matches!(reason, Reason::Insufficient(shortage) if shortage.requested > shortage.capacity)
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
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut by_status: Vec<RejectedNodes<'_>> = Vec::new();
    for verdict in view.filter.verdicts.values().filter(|v| !v.status.is_success()) {
        let status = &verdict.status;
        let at = *places.entry(status.address()).or_insert(by_status.len());
        if at == by_status.len() {
            by_status.push(RejectedNodes { status, nodes: 0, nominated: false });
        }
        by_status[at].nodes += 1;
        by_status[at].nominated |= !verdict.nominated.is_empty();
    }
    let mut by_phrase: BTreeMap<Phrase, (usize, Shared)> = BTreeMap::new();
    let mut fits = Lacking::default();
    for rejected in by_status {
        let RejectedNodes { status, nodes, .. } = rejected;
        if status.plugin().is_some_and(PluginName::compares_requests) && fits.add(&rejected, amounts) {
            continue;
        }
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
    /// The number of nodes by the resources that they lack, as places in `resources`, ascending: of those that would have them when
    /// empty, and of the others.
    nodes: HashMap<Vec<usize>, [usize; 2]>,
    /// The resources of the last node, kept so that most nodes need no memory.
    last: Vec<usize>,
    /// The resources, in the order in which nodes lack them.
    resources: Vec<Lack<'a>>,
    /// The place of each resource.
    at: HashMap<&'a str, usize>,
    /// Whether pods that are only nominated were counted as running.
    nominated: bool,
}

/// A resource that nodes lack.
struct Lack<'a> {
    resource: &'a str,
    /// The number of nodes that lack it even when empty.
    never: usize,
    /// The number of nodes that have none of it.
    without: usize,
    /// The largest free amount.
    most_free: Option<(i64, &'a Shortage)>,
    /// The largest capacity.
    largest: Option<&'a Shortage>,
}

impl<'a> Lack<'a> {
    fn of(resource: &'a str) -> Self {
        Self { resource, never: 0, without: 0, most_free: None, largest: None }
    }

    /// Notes the shortage of this many nodes.
    fn note_free(&mut self, reason: &'a Reason, nodes: usize) {
        let Reason::Insufficient(shortage) = reason else { return };
        self.without += if shortage.capacity <= 0 { nodes } else { 0 };
        let free = shortage.free();
        if self.most_free.is_none_or(|(most, _)| free > most) {
            self.most_free = Some((free, shortage));
        }
        if self.largest.is_none_or(|largest| shortage.capacity > largest.capacity) {
            self.largest = Some(shortage);
        }
    }

    /// Returns a note such as `at most 8 each` about nodes that are too small.
    fn largest(&self, nodes: usize) -> Option<String> {
        let shortage = self.largest?;
        let capacity = shortage.readable(shortage.capacity);
        Some(match nodes {
            _ if shortage.capacity <= 0 => "none at all".to_owned(),
            1 => format!("{capacity} in all"),
            _ => format!("at most {capacity} each"),
        })
    }

    /// Returns a note such as `at most 2.1 free`.
    fn most_free(&self) -> Option<String> {
        let (free, shortage) = self.most_free?;
        Some(if free > 0 { format!("at most {} free", shortage.readable(free)) } else { "none free".to_owned() })
    }
}

/// Nodes with one status.
struct RejectedNodes<'a> {
    status: &'a Status,
    nodes: usize,
    /// Whether pods that are nominated to one of them were counted.
    nominated: bool,
}

/// Nodes that lack the same resources.
struct LackingNodes {
    /// The resources, as places in the list of all.
    lacks: Vec<usize>,
    /// Whether the nodes lack them even when empty.
    never: bool,
    nodes: usize,
}

impl<'a> Lacking<'a> {
    /// Adds nodes that lack nothing but resources; returns false for any others. `amounts` tells whether those that lack them even
    /// when empty count apart.
    fn add(&mut self, rejected: &RejectedNodes<'a>, amounts: bool) -> bool {
        let RejectedNodes { status, nodes, nominated } = *rejected;
        let reasons = status.reasons();
        if reasons.is_empty() || reasons.iter().any(|reason| resource(reason).is_none()) {
            return false;
        }
        let never = amounts && status.code() == Code::UnschedulableAndUnresolvable;
        let mut last = std::mem::take(&mut self.last);
        last.clear();
        for reason in reasons {
            // Most nodes lack the resources in the same order.
            let Some(at) = resource(reason).map(|name| self.place(name, last.last().map_or(0, |at| at + 1))) else { continue };
            last.push(at);
            let lack = &mut self.resources[at];
            lack.note_free(reason, nodes);
            lack.never += if never && (reasons.len() == 1 || exceeds_node(reason)) { nodes } else { 0 };
        }
        last.sort_unstable();
        last.dedup();
        match self.nodes.get_mut(&last) {
            Some(counts) => counts[usize::from(never)] += nodes,
            None => {
                self.nodes.insert(last.clone(), if never { [0, nodes] } else { [nodes, 0] });
            }
        }
        self.last = last;
        self.nominated |= nominated;
        true
    }

    /// Returns the place of a resource, which is new or likely at `guess`.
    fn place(&mut self, resource: &'a str, guess: usize) -> usize {
        if self.resources.get(guess).is_some_and(|lack| lack.resource == resource) {
            return guess;
        }
        *self.at.entry(resource).or_insert_with(|| {
            self.resources.push(Lack::of(resource));
            self.resources.len() - 1
        })
    }

    /// Returns the causes of all nodes.
    fn causes(mut self, start: Option<&CycleStart>) -> Vec<Cause> {
        let sets = self.take_sets();
        let Some((first, rest)) = sets.split_first() else { return Vec::new() };
        // A pod may ask for thousands of resources.
        let mut in_others = vec![0; self.resources.len()];
        rest.iter().flat_map(|set| &set.lacks).for_each(|at| in_others[*at] += 1);
        let shared: Vec<usize> = first.lacks.iter().copied().filter(|at| in_others[*at] == rest.len()).collect();
        if shared.is_empty() {
            return if sets.len() > 2 { vec![self.this_or_that(&sets, start)] } else { self.each(&sets, start) };
        }
        let nodes = sets.iter().map(|set| set.nodes).sum();
        let only = if let [only] = shared[..] { Some(&self.resources[only]) } else { None };
        let never = only.map_or(0, |only| only.never);
        let all_never = never == nodes;
        let mut notes = Vec::new();
        let more = self.nodes_by_resource(&sets, &shared);
        for (name, n) in more.iter().take(2) {
            let also = if *n == 1 { "also has" } else { "also have" };
            notes.push(format!("{n} {also} {}", too_little(name, start)));
        }
        if more.len() > 2 {
            notes.push("some lack more".to_owned());
        }
        if never > 0 && !all_never {
            let without = only.map_or(0, |only| only.without);
            notes.push(match (count(never, "node"), never == without) {
                (nodes, true) if never == 1 => format!("{nodes} has none"),
                (nodes, true) => format!("{nodes} have none"),
                (nodes, false) => format!("{nodes} too small"),
            });
        }
        let fact = only.and_then(|only| if all_never { only.largest(nodes) } else { only.most_free() });
        let phrase = phrase(&self.names(&shared), all_never, start);
        // Nominated pods do not count against a capacity.
        vec![Cause { notes, fact, nominated: self.nominated && !all_never, ..Cause::new(nodes, phrase) }]
    }

    /// Sorts the resources by name. Returns the sets of resources that nodes lack, in the order of these names.
    fn take_sets(&mut self) -> Vec<LackingNodes> {
        let mut order: Vec<usize> = (0..self.resources.len()).collect();
        order.sort_unstable_by_key(|at| self.resources[*at].resource);
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, old)| rank[*old] = new);
        self.resources.sort_unstable_by_key(|lack| lack.resource);
        self.at.clear();
        let mut sets: Vec<LackingNodes> = Vec::new();
        for (mut lacks, counts) in self.nodes.drain() {
            for at in &mut lacks {
                *at = rank[*at];
            }
            lacks.sort_unstable();
            let [later, never] = counts;
            let both = later > 0 && never > 0;
            let of = |lacks: Vec<usize>, never, nodes| LackingNodes { lacks, never, nodes };
            if both {
                sets.push(of(lacks.clone(), false, later));
            }
            sets.push(if never > 0 { of(lacks, true, never) } else { of(lacks, false, later) });
        }
        sets.sort_unstable_by(|a, b| a.lacks.cmp(&b.lacks).then(a.never.cmp(&b.never)));
        sets
    }

    fn names(&self, places: &[usize]) -> Vec<&'a str> {
        places.iter().map(|at| self.resources[*at].resource).collect()
    }

    /// Returns the number of nodes that lack each resource, by name, without some that are given in this order.
    fn nodes_by_resource(&self, sets: &[LackingNodes], without: &[usize]) -> Vec<(&'a str, usize)> {
        let mut nodes = vec![0; self.resources.len()];
        for set in sets {
            set.lacks.iter().for_each(|at| nodes[*at] += set.nodes);
        }
        for at in without {
            nodes[*at] = 0;
        }
        self.resources.iter().map(|lack| lack.resource).zip(nodes).filter(|(_, nodes)| *nodes > 0).collect()
    }

    /// Returns a cause for each set of lacking resources.
    fn each(&self, sets: &[LackingNodes], start: Option<&CycleStart>) -> Vec<Cause> {
        let cause = |set: &LackingNodes| {
            let only = if let [only] = set.lacks[..] { Some(&self.resources[only]) } else { None };
            Cause {
                fact: only.and_then(|only| if set.never { only.largest(set.nodes) } else { only.most_free() }),
                nominated: self.nominated && !set.never,
                ..Cause::new(set.nodes, phrase(&self.names(&set.lacks), set.never, start))
            }
        };
        sets.iter().map(cause).collect()
    }

    /// Returns one cause for all nodes, with the number of nodes per resource.
    fn this_or_that(&self, sets: &[LackingNodes], start: Option<&CycleStart>) -> Cause {
        let mut most = self.nodes_by_resource(sets, &[]);
        most.sort_by_key(|(name, n)| (Reverse(*n), *name));
        let have = |n: usize| if n == 1 { "has" } else { "have" };
        let part = |(name, n): &(&str, usize)| format!("{n} {} {}", have(*n), too_little(name, start));
        let named = if most.len() > NAMED { NAMED - 1 } else { most.len() };
        let mut notes: Vec<String> = most.iter().take(named).map(part).collect();
        if named < most.len() {
            notes.push("some lack more".to_owned());
        }
        Cause { notes, nominated: self.nominated, ..Cause::new(sets.iter().map(|set| set.nodes).sum(), Phrase::resources()) }
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
