//! Which evictions would violate a PodDisruptionBudget; mirrors `filterPodsWithPDBViolation` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::cluster::PodDisruptionBudget;
use crate::framework::{BudgetIndex, BudgetSelector, CoveringBudget, CoveringBudgets, NodeInfo, PodInfo};
use crate::release::BudgetRule;

/// Counts disruptions per budget while it walks the pods of one node, most important first.
pub(super) struct BudgetCount<'a> {
    index: &'a BudgetIndex,
    /// The budgets of pods met before, keyed by the addresses of their template and namespace; see [`Self::covering`].
    known: HashMap<(usize, usize), Covering<'a>, BuildHasherDefault<AddressHasher>>,
    several: Vec<Several>,
    /// The places in `counts` of budgets met before, by address.
    places: HashMap<usize, u32, BuildHasherDefault<AddressHasher>>,
    counts: Counts<'a>,
    /// Budgets and their requirements that were compared with pods.
    steps: u64,
}

/// The disruptions that budgets have left on a node.
struct Counts<'a> {
    rule: BudgetRule,
    budgets: Vec<Count<'a>>,
    /// Counts the nodes, from 1.
    node: u32,
}

/// The disruptions that a budget has left on the node where a pod that it covers was met last.
struct Count<'a> {
    budget: &'a PodDisruptionBudget,
    node: u32,
    left: i32,
}

/// The budgets that cover a pod, by name.
#[derive(Clone, Copy)]
enum Covering<'a> {
    None,
    One(&'a BudgetSelector, u32),
    /// The place in [`BudgetCount::several`].
    Several(usize),
}

/// Budgets that cover the same pods.
struct Several {
    /// The places of their counts.
    places: Vec<u32>,
    named: Arc<[CoveringBudget]>,
    /// The answer for a pod that all of them allow.
    all_allow: Arc<CoveringBudgets>,
    /// The answers for pods that violate one, in the order of a node: those on the next node are mostly the same.
    violated: Vec<Arc<CoveringBudgets>>,
    /// The last node, and how many of its pods violate one.
    on_node: (u32, usize),
    /// The disruptions left of the last pod.
    left: Vec<Option<i32>>,
}

impl<'a> BudgetCount<'a> {
    /// Makes a counter for one node.
    pub(super) fn new(index: &'a BudgetIndex, rule: BudgetRule) -> Self {
        let (known, places, several) = (HashMap::default(), HashMap::default(), Vec::new());
        Self { index, known, several, places, counts: Counts { rule, budgets: Vec::new(), node: 1 }, steps: 0 }
    }

    /// Resets the counts for another node.
    pub(super) fn restart(&mut self) {
        self.counts.node += 1;
    }

    /// Returns how many budgets, and requirements of theirs, were compared with pods since the last time.
    pub(super) fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// Counts one disruption in every budget that covers the pod, or, in later releases, in those up to the first that is exhausted.
    /// Returns the answers of the budgets, by name; `None` if no budget covers the pod.
    pub(super) fn take(&mut self, pod: &'a Arc<PodInfo>) -> Option<Arc<CoveringBudgets>> {
        // As upstream, no budget covers a pod without labels, not even one with `DoesNotExist`.
        if !pod.is_labelled() {
            return None;
        }
        let covering = self.covering(pod);
        self.count(pod, covering)
    }

    /// Like [`Self::take`], for the pod at a place of a node, which is fetched only if it is the first with its labels.
    pub(super) fn take_at(&mut self, node: &'a NodeInfo, place: u32) -> Option<Arc<CoveringBudgets>> {
        let pod = node.at(place);
        if !pod.is_labelled() || self.index.is_empty() {
            return None;
        }
        let known = pod.label_addresses().and_then(|addresses| self.known.get(&addresses)).copied();
        let covering = known.unwrap_or_else(|| self.covering(pod.info()));
        self.count(pod.info(), covering)
    }

    /// Like [`Self::take`], for a pod that may not outlive this counter.
    pub(super) fn take_uncached(&mut self, pod: &Arc<PodInfo>) -> Option<Arc<CoveringBudgets>> {
        if !pod.is_labelled() {
            return None;
        }
        let known = self.several.len();
        let covering = self.find(pod);
        let answers = self.count(pod, covering);
        self.several.truncate(known);
        answers
    }

    /// Takes the pod behind its pointer, so that it is not fetched where no budget asks for its name.
    #[inline]
    fn count(&mut self, pod: &Arc<PodInfo>, covering: Covering<'a>) -> Option<Arc<CoveringBudgets>> {
        match covering {
            Covering::None => None,
            Covering::One(selector, place) => Some(selector.alone(self.counts.take_one(pod, place))),
            Covering::Several(at) => {
                let several = &mut self.several[at];
                self.steps += 2 * several.places.len() as u64;
                Some(several.count(pod, &mut self.counts))
            }
        }
    }

    /// Returns the budgets that cover the pod. Pods of one workload mostly share the template that holds their labels,
    /// so comparing two addresses is enough for all but the first.
    fn covering(&mut self, pod: &'a PodInfo) -> Covering<'a> {
        let Some(template) = pod.template() else { return self.find(pod) };
        let key = (Arc::as_ptr(template) as usize, pod.namespace().as_ptr() as usize);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let covering = self.find(pod);
        self.known.insert(key, covering);
        covering
    }

    fn find(&mut self, pod: &PodInfo) -> Covering<'a> {
        let budgets = self.index.in_namespace(pod.namespace());
        self.steps += budgets.iter().map(BudgetSelector::steps).sum::<u64>();
        let mut covering = budgets.iter().filter(|selector| selector.matches(pod));
        match (covering.next(), covering.next()) {
            (None, _) => Covering::None,
            (Some(only), None) => Covering::One(only, self.place(only)),
            (Some(first), Some(second)) => {
                let selectors: Vec<_> = [first, second].into_iter().chain(covering).collect();
                let places = selectors.iter().map(|selector| self.place(selector)).collect();
                self.several.push(Several::of(&selectors, places));
                Covering::Several(self.several.len() - 1)
            }
        }
    }

    /// Returns the place of the budget's count.
    fn place(&mut self, selector: &'a BudgetSelector) -> u32 {
        let (budget, budgets) = (selector.budget(), &mut self.counts.budgets);
        *self.places.entry(std::ptr::from_ref(budget) as usize).or_insert_with(|| {
            budgets.push(Count { budget, node: 0, left: 0 });
            budgets.len() as u32 - 1
        })
    }
}

impl Several {
    fn of(selectors: &[&BudgetSelector], places: Vec<u32>) -> Self {
        let named: Arc<[CoveringBudget]> = selectors.iter().map(|selector| selector.named().clone()).collect();
        let all_allow = Arc::new(CoveringBudgets::new(Arc::clone(&named), selectors.iter().map(|_| None)));
        Self { places, named, all_allow, violated: Vec::new(), on_node: (0, 0), left: Vec::new() }
    }

    fn count(&mut self, pod: &Arc<PodInfo>, counts: &mut Counts<'_>) -> Arc<CoveringBudgets> {
        let mut is_violated = false;
        self.left.clear();
        for &place in &self.places {
            let of_budget = counts.take_one(pod, place);
            is_violated |= of_budget.is_some_and(|left| left <= 0);
            self.left.push(of_budget);
            if is_violated && counts.rule == BudgetRule::UpToExhausted {
                break;
            }
        }
        if !is_violated {
            return Arc::clone(&self.all_allow);
        }
        if self.on_node.0 != counts.node {
            self.on_node = (counts.node, 0);
        }
        let at = self.on_node.1;
        self.on_node.1 += 1;
        if let Some(known) = self.violated.get(at).filter(|known| known.is_of(&self.left)) {
            return Arc::clone(known);
        }
        let answer = Arc::new(CoveringBudgets::new(Arc::clone(&self.named), self.left.iter().copied()));
        self.violated.truncate(at);
        self.violated.push(Arc::clone(&answer));
        answer
    }
}

impl Counts<'_> {
    /// Returns the disruptions that the budget had left before this pod; `None` if its status lists the pod in
    /// `disruptedPods` and so has already counted it.
    fn take_one(&mut self, pod: &Arc<PodInfo>, place: u32) -> Option<i32> {
        let count = &mut self.budgets[place as usize];
        let status = &count.budget.status;
        if self.rule == BudgetRule::AsItStands {
            return Some(status.disruptions_allowed);
        }
        if !status.disrupted_pods.is_empty() && is_disrupted(pod, count.budget) {
            return None;
        }
        if count.node != self.node {
            (count.node, count.left) = (self.node, status.disruptions_allowed);
        }
        let before = count.left;
        count.left = before.saturating_sub(1);
        Some(before)
    }
}

/// Whether the budget's status says that the pod is disrupted already.
#[cold]
#[inline(never)]
fn is_disrupted(pod: &Arc<PodInfo>, budget: &PodDisruptionBudget) -> bool {
    budget.status.disrupted_pods.contains_key(&pod.pod.metadata.name)
}

/// Mixes addresses, whose lowest bits are mostly equal.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, address: usize) {
        self.0 = (self.0.rotate_left(5) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

#[cfg(test)]
mod tests;
