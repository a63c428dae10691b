//! Facts of a cycle's nodes that groups and sort orders need, by position in the snapshot. They are made once per cycle: in a
//! large cluster a look-up by name for each node takes longer than drawing.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::cluster::Str;
use crate::framework::{NodeInfo, Snapshot};
use crate::trace::CycleView;
use crate::ui::model::node_ranking::NodeRanking;
use crate::ui::model::sort::Sort;
use crate::ui::model::verdict::{Cause, Class, Verdicts};

/// The facts of a cycle's nodes.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// Each cause once, sorted.
    causes: Vec<Cause>,
    /// The cause of each node, as an index.
    of: Vec<u32>,
    /// The positions of nodes, closest to fitting first; made when they are first listed.
    closest: OnceLock<Vec<u32>>,
    /// The place of each node in the order of names.
    names: OnceLock<Vec<u32>>,
    /// The positions of nodes by name, by verdict and by free cpu; made when they are first listed.
    by_name: OnceLock<Vec<u32>>,
    by_verdict: OnceLock<Vec<u32>>,
    by_free_cpu: OnceLock<Vec<u32>>,
    /// The verdict in the row of each node; made for the first filter.
    in_rows: OnceLock<Vec<Box<str>>>,
}

impl NodeFacts {
    /// Reads the verdicts of a cycle on the nodes of a snapshot.
    pub fn of(cycle: &CycleView, snapshot: &Snapshot) -> Self {
        let mut causes = Causes::default();
        let verdicts = Verdicts::new(cycle).by_position(snapshot).into_iter();
        let mut of: Vec<u32> = verdicts.map(|verdict| causes.index(verdict.cause())).collect();
        let (causes, places) = causes.sorted();
        for cause in &mut of {
            *cause = places[*cause as usize];
        }
        Self { causes, of, ..Self::default() }
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

    /// Returns the cause at an index.
    pub fn cause(&self, index: usize) -> &Cause {
        &self.causes[index]
    }

    /// Returns the verdict in the row of each node, by position.
    pub fn in_rows(&self, cycle: &CycleView, snapshot: &Snapshot) -> &[Box<str>] {
        self.in_rows.get_or_init(|| Verdicts::new(cycle).by_position(snapshot).iter().map(|verdict| verdict.in_row().into()).collect())
    }

    /// Returns the number of causes.
    pub fn causes(&self) -> usize {
        self.causes.len()
    }

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

    /// Returns the positions of all nodes, closest to fitting first; equally close ones by cause and name.
    pub fn closest(&self, cycle: &CycleView, snapshot: &Snapshot) -> &[u32] {
        self.closest.get_or_init(|| {
            let (ranking, names) = (NodeRanking::new(cycle), self.names(snapshot));
            let mut totals = vec![None; snapshot.len()];
            for (node, score) in &cycle.scores {
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
            Sort::Usual | Sort::Closest => self.closest(cycle, snapshot),
            Sort::FreeCpu => self.by_free_cpu.get_or_init(|| {
                let free = |at: &u32| {
                    let node = &snapshot.nodes()[*at as usize];
                    node.allocatable.milli_cpu.saturating_sub(node.requested.milli_cpu)
                };
                let mut list = self.by_name(snapshot).to_vec();
                list.sort_by_cached_key(|at| Reverse(free(at)));
                list
            }),
            Sort::Verdict => self.by_verdict.get_or_init(|| {
                let mut list = self.by_name(snapshot).to_vec();
                list.sort_by_key(|at| self.of[*at as usize]);
                list
            }),
            _ => self.by_name(snapshot),
        }
    }

    /// Returns the positions of all nodes by name.
    fn by_name(&self, snapshot: &Snapshot) -> &[u32] {
        self.by_name.get_or_init(|| {
            let mut list = vec![0; self.of.len()];
            for (place, at) in self.names(snapshot).iter().zip(0..) {
                list[*place as usize] = at;
            }
            list
        })
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
mod tests {
    use super::*;
    use crate::framework::{PluginName, Status};
    use crate::trace::Verdict;
    use crate::ui::testing;
    use std::collections::BTreeSet;

    fn snapshot(names: &[&str]) -> Snapshot {
        Snapshot::of(names.iter().map(|name| NodeInfo::new(Arc::new(testing::node(name, "1", "1Gi")))))
    }

    #[test]
    fn facts_are_those_that_a_look_up_by_name_returns() {
        let snapshot = snapshot(&["d", "b", "a", "c", "e"]);
        let verdict = |status: Status| Verdict { status, nominated: Vec::new().into() };
        let taint = || Status::unresolvable("taint").with_plugin(PluginName::TaintToleration);
        let mut cycle = CycleView::default();
        cycle.verdicts.insert("a".into(), verdict(Status::success()));
        cycle.verdicts.insert("b".into(), verdict(taint()));
        cycle.verdicts.insert("gone".into(), verdict(taint()));
        cycle.verdicts.insert("c".into(), verdict(Status::unschedulable("ports").with_plugin(PluginName::NodePorts)));
        let kept: Vec<Str> = ["a", "b", "c", "e"].map(Str::from).into();
        let narrowed = (kept.into(), taint());
        for cycle in [cycle.clone(), CycleView { narrowed: Some(narrowed), ..cycle }] {
            let (facts, verdicts) = (NodeFacts::of(&cycle, &snapshot), Verdicts::new(&cycle));
            let mut causes = BTreeSet::new();
            for (at, node) in snapshot.nodes().iter().enumerate() {
                let verdict = verdicts.of(node.name());
                assert_eq!(facts.class(at), verdict.class);
                let cause = verdict.cause();
                assert_eq!(*facts.cause(facts.cause_index(at)), cause, "{}", node.name());
                causes.insert(cause);
            }
            assert!(facts.causes.is_sorted());
            assert!(causes.iter().all(|cause| facts.causes.contains(cause)));
            let name = |at: &u32| snapshot.nodes()[*at as usize].name().as_str();
            let names = |order| facts.sorted(order, &cycle, &snapshot).iter().map(name).collect::<Vec<_>>();
            assert_eq!(names(Sort::Name), ["a", "b", "c", "d", "e"]);
            assert_eq!(names(Sort::Closest)[..2], ["a", "c"]);
            assert_eq!(names(Sort::Verdict)[..2], ["a", "c"]);
        }
    }
}
