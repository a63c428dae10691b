//! Facts of a cycle's nodes that groups and sort orders need, by position in the snapshot. They are made once per cycle: in a
//! large cluster a look-up by name for each node takes longer than drawing.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::cluster::Str;
use crate::framework::{NodeInfo, Snapshot, taint_text};
use crate::trace::CycleView;
use crate::ui::model::filter::{Fact, Filter};
use crate::ui::model::grouping::{Grouping, zone_of};
use crate::ui::model::node_ranking::NodeRanking;
use crate::ui::model::sort::Sort;
use crate::ui::model::verdict::{Cause, Class, VerdictKey, Verdicts};

/// Orders and labels of a snapshot's nodes, which no verdict changes. Each is made when it is first needed.
#[derive(Debug, Default)]
pub struct NodeOrders {
    /// The place of each node in the order of names.
    names: OnceLock<Vec<u32>>,
    /// The positions of nodes by name, and by free cpu.
    by_name: OnceLock<Vec<u32>>,
    by_free_cpu: OnceLock<Vec<u32>>,
    /// The groupings by pool and by zone.
    pool: OnceLock<Option<Grouping>>,
    zone: OnceLock<Option<Grouping>>,
    /// The texts that filters match; made for the first filter.
    texts: OnceLock<NodeTexts>,
}

/// The names, labels and taints of nodes, one after the other: a filter reads all of them at each key.
#[derive(Debug, Default)]
struct NodeTexts {
    text: String,
    /// The field of each text, where it begins, where a label's value begins, and where it ends.
    facts: Vec<(Field, usize, usize, usize)>,
    /// The end of each node's facts.
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Name,
    Label,
    Taint,
    Zone,
}

impl NodeTexts {
    fn of(snapshot: &Snapshot) -> Self {
        let mut texts = Self::default();
        for node in snapshot.nodes() {
            texts.add(Field::Name, node.name(), "");
            for (key, value) in node.node.metadata.labels.iter() {
                texts.add(Field::Label, key, value);
            }
            for taint in &node.node.spec.taints {
                texts.add(Field::Taint, &taint_text(taint), "");
            }
            if let Some(zone) = zone_of(&node.node) {
                texts.add(Field::Zone, zone, "");
            }
            texts.ends.push(texts.facts.len());
        }
        texts
    }

    fn add(&mut self, field: Field, text: &str, value: &str) {
        let from = self.text.len();
        self.text.push_str(text);
        let value_from = self.text.len();
        self.text.push_str(value);
        self.facts.push((field, from, value_from, self.text.len()));
    }

    fn facts(&self, at: usize) -> impl Iterator<Item = Fact<'_>> {
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.facts[from..self.ends[at]].iter().flat_map(|(field, from, value, to)| {
            let text = &self.text[*from..*value];
            match field {
                Field::Name => [Some(Fact::name("node", text)), Some(Fact::name("name", text))],
                Field::Label => [Some(Fact::label(text, &self.text[*value..*to])), None],
                Field::Taint => [Some(Fact::prose("taint", text)), None],
                Field::Zone => [Some(Fact::prose("zone", text)), None],
            }
            .into_iter()
            .flatten()
        })
    }
}

impl NodeOrders {
    /// Returns the place of each node in the order of names.
    pub fn names(&self, snapshot: &Snapshot) -> &[u32] {
        self.names.get_or_init(|| {
            let mut sorted: Vec<(&Str, u32)> = snapshot.nodes().iter().map(|node| node.name()).zip(0..).collect();
            sorted.sort_unstable();
            let mut places = vec![0; sorted.len()];
            for ((_, at), place) in sorted.into_iter().zip(0..) {
                places[at as usize] = place;
            }
            places
        })
    }

    /// Returns the positions of all nodes by name.
    fn by_name(&self, snapshot: &Snapshot) -> &[u32] {
        self.by_name.get_or_init(|| {
            let mut list = vec![0; snapshot.len()];
            for (place, at) in self.names(snapshot).iter().zip(0..) {
                list[*place as usize] = at;
            }
            list
        })
    }

    /// Returns the positions of all nodes, most free cpu first; equal ones by name.
    fn by_free_cpu(&self, snapshot: &Snapshot) -> &[u32] {
        self.by_free_cpu.get_or_init(|| {
            let free = |at: &u32| {
                let node = &snapshot.nodes()[*at as usize];
                node.allocatable.milli_cpu.saturating_sub(node.requested.milli_cpu)
            };
            let mut list = self.by_name(snapshot).to_vec();
            list.sort_by_cached_key(|at| Reverse(free(at)));
            list
        })
    }

    /// Returns the grouping by pool; `None` if no node has a label that names its pool.
    pub fn pool(&self, snapshot: &Snapshot) -> Option<Grouping> {
        self.pool.get_or_init(|| Grouping::pool(snapshot.nodes())).clone()
    }

    /// Returns the grouping by zone; `None` if no node has the zone label.
    pub fn zone(&self, snapshot: &Snapshot) -> Option<Grouping> {
        self.zone.get_or_init(|| Grouping::zone(snapshot.nodes())).clone()
    }
}

/// The facts of a cycle's nodes.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    orders: Arc<NodeOrders>,
    /// Causes, sorted, each once; some may be those of no node.
    causes: Arc<[Cause]>,
    /// The cause of each node, as an index.
    of: Vec<u32>,
    /// The position of each node with a verdict of its own, in the order of the cycle's verdicts; `None` outside of the snapshot.
    judged: OnceLock<Vec<Option<u32>>>,
    /// The positions of nodes, closest to fitting first, and by verdict; made when they are first listed.
    closest: OnceLock<Vec<u32>>,
    by_verdict: OnceLock<Vec<u32>>,
    /// The verdict in the row of each node; made for the first filter.
    in_rows: OnceLock<Vec<Arc<str>>>,
}

impl NodeFacts {
    /// Reads the verdicts of a cycle on the nodes of a snapshot.
    pub fn of(cycle: &CycleView, snapshot: &Snapshot, orders: Arc<NodeOrders>) -> Self {
        let mut causes = Causes::default();
        // The texts of thousands of reasons are long, and most nodes share them.
        let mut known: HashMap<VerdictKey, u32> = HashMap::new();
        let verdicts = Verdicts::new(cycle).by_position(snapshot).into_iter();
        let of: Vec<u32> =
            verdicts.map(|verdict| *known.entry(verdict.text_key()).or_insert_with(|| causes.index(verdict.cause()))).collect();
        Self::new(causes, of, orders)
    }

    fn new(causes: Causes, mut of: Vec<u32>, orders: Arc<NodeOrders>) -> Self {
        let (causes, places) = causes.sorted();
        for cause in &mut of {
            *cause = places[*cause as usize];
        }
        Self { orders, causes: causes.into(), of, ..Self::default() }
    }

    /// Reads the verdicts of an earlier moment of the cycle that these facts are of; reads again only those that differ.
    #[must_use]
    pub fn so_far(&self, whole: &CycleView, cycle: &CycleView, snapshot: &Snapshot) -> Self {
        self.changed(whole, cycle, snapshot).unwrap_or_else(|| Self::of(cycle, snapshot, self.orders.clone()))
    }

    /// Returns the facts with the verdicts of an earlier moment; `None` if all of them may differ.
    fn changed(&self, whole: &CycleView, cycle: &CycleView, snapshot: &Snapshot) -> Option<Self> {
        if whole.pre_filter.narrowed.is_some() != cycle.pre_filter.narrowed.is_some() || cycle.filter.verdicts.is_empty() {
            return None;
        }
        let judged = self.judged.get_or_init(|| whole.filter.verdicts.keys().map(|node| Some(snapshot.position(node)? as u32)).collect());
        let verdicts = Verdicts::new(cycle);
        let mut earlier = cycle.filter.verdicts.iter().peekable();
        let mut changes = Vec::new();
        for ((node, verdict), at) in whole.filter.verdicts.iter().zip(judged) {
            let cause = match earlier.next_if(|(name, _)| *name == node) {
                Some((_, earlier)) if earlier.status == verdict.status => continue,
                None if cycle.pre_filter.narrowed.is_none() => (Class::Unseen, None, "".into()),
                _ => verdicts.of(node).cause(),
            };
            changes.extend(at.map(|at| (at, cause)));
        }
        if earlier.next().is_some() {
            return None;
        }
        if changes.is_empty() {
            return Some(Self { orders: self.orders.clone(), causes: self.causes.clone(), of: self.of.clone(), ..Self::default() });
        }
        let (mut causes, mut of) = (Causes::from(&self.causes), self.of.clone());
        for (at, cause) in changes {
            of[at as usize] = causes.index(cause);
        }
        Some(Self::new(causes, of, self.orders.clone()))
    }

    /// Returns whether all nodes have the causes that they have in other facts.
    pub fn are_alike(&self, other: &Self) -> bool {
        self.of == other.of && self.causes == other.causes
    }

    /// Returns the classes of all nodes.
    pub fn classes(&self) -> impl Iterator<Item = Class> + '_ {
        self.of.iter().map(|cause| self.causes[*cause as usize].0)
    }

    /// Returns the class of a node.
    pub fn class(&self, at: usize) -> Class {
        self.causes[self.of[at] as usize].0
    }

    /// Returns a node's cause, as an index in the order of causes.
    pub fn cause_index(&self, at: usize) -> usize {
        self.of[at] as usize
    }

    /// Returns a node's cause.
    pub fn cause_of(&self, at: usize) -> &Cause {
        &self.causes[self.of[at] as usize]
    }

    pub fn cause(&self, index: usize) -> &Cause {
        &self.causes[index]
    }

    /// Returns the verdict in the row of each node, by position.
    fn in_rows(&self, cycle: &CycleView, snapshot: &Snapshot) -> &[Arc<str>] {
        self.in_rows.get_or_init(|| {
            let mut known: HashMap<VerdictKey, Arc<str>> = HashMap::new();
            let verdicts = Verdicts::new(cycle).by_position(snapshot).into_iter();
            verdicts.map(|verdict| known.entry(verdict.text_key()).or_insert_with(|| verdict.in_row().into()).clone()).collect()
        })
    }

    /// Returns whether a filter keeps each node, by position: by its name, verdict, plugin, reason with the deciding fact, labels,
    /// taints and zone. All of them without a filter.
    pub fn kept(&self, cycle: &CycleView, snapshot: &Snapshot, filter: &mut Filter) -> Vec<bool> {
        if filter.is_empty() {
            return vec![true; self.of.len()];
        }
        let (in_rows, texts) = (self.in_rows(cycle, snapshot), self.orders.texts.get_or_init(|| NodeTexts::of(snapshot)));
        let mut facts = Vec::new();
        let keeps = |at: usize| {
            let ((class, plugin, reason), in_row) = (self.cause_of(at), &in_rows[at]);
            facts.clear();
            facts.extend(texts.facts(at));
            facts.push(Fact::prose("verdict", class.word()));
            facts.extend(plugin.as_ref().map(|plugin| Fact::prose("plugin", plugin.as_str())));
            facts.extend([Fact::prose("reason", in_row), Fact::prose("reason", reason)]);
            filter.keeps(&facts)
        };
        (0..in_rows.len()).map(keeps).collect()
    }

    /// Returns the number of causes.
    pub fn causes(&self) -> usize {
        self.causes.len()
    }

    /// Returns the positions of all nodes, closest to fitting first; equally close ones by cause and name.
    pub fn closest(&self, cycle: &CycleView, snapshot: &Snapshot) -> &[u32] {
        self.closest.get_or_init(|| {
            let (ranking, names) = (NodeRanking::new(cycle), self.orders.names(snapshot));
            let mut totals = vec![None; snapshot.len()];
            for (node, score) in &cycle.scoring.scores {
                if let Some(at) = snapshot.position(node) {
                    totals[at] = Some(score.total);
                }
            }
            let key = |(at, node): (usize, &Arc<NodeInfo>)| {
                let (class, plugin, _) = &self.causes[self.of[at] as usize];
                (ranking.of(node, *class, *plugin, totals[at]), self.of[at], names[at], at as u32)
            };
            let mut keys: Vec<_> = snapshot.nodes().iter().enumerate().map(key).collect();
            keys.sort_unstable();
            keys.into_iter().map(|(.., at)| at).collect()
        })
    }

    /// Returns the positions of all nodes in a sort order; equal ones by name.
    pub fn sorted(&self, order: Sort, cycle: &CycleView, snapshot: &Snapshot) -> &[u32] {
        match order {
            Sort::Usual => self.closest(cycle, snapshot),
            Sort::FreeCpu => self.orders.by_free_cpu(snapshot),
            Sort::Verdict => self.by_verdict.get_or_init(|| {
                let mut list = self.orders.by_name(snapshot).to_vec();
                list.sort_by_key(|at| self.of[*at as usize]);
                list
            }),
            _ => self.orders.by_name(snapshot),
        }
    }
}

/// Causes in the order in which they are found.
#[derive(Default)]
struct Causes {
    list: Vec<Cause>,
    known: HashMap<Cause, u32>,
    /// The last one: neighbours often share it.
    last: u32,
}

impl From<&Arc<[Cause]>> for Causes {
    fn from(causes: &Arc<[Cause]>) -> Self {
        Self { list: causes.to_vec(), known: causes.iter().cloned().zip(0..).collect(), last: 0 }
    }
}

impl Causes {
    fn index(&mut self, cause: Cause) -> u32 {
        if self.list.get(self.last as usize) != Some(&cause) {
            let next = self.list.len() as u32;
            self.last = *self.known.entry(cause).or_insert_with_key(|cause| {
                self.list.push(cause.clone());
                next
            });
        }
        self.last
    }

    /// Returns the causes sorted, and for each found one its place.
    fn sorted(self) -> (Vec<Cause>, Vec<u32>) {
        let mut list: Vec<(Cause, u32)> = self.list.into_iter().zip(0..).collect();
        list.sort_unstable();
        let mut places = vec![0; list.len()];
        for ((_, found), place) in list.iter().zip(0..) {
            places[*found as usize] = place;
        }
        (list.into_iter().map(|(cause, _)| cause).collect(), places)
    }
}

#[cfg(test)]
mod tests;
