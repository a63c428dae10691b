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
    rule: BudgetRule,
    /// The budgets of pods met before, keyed by the addresses of their template and namespace; see [`Self::covering`].
    known: HashMap<(usize, usize), Covering<'a>, BuildHasherDefault<AddressHasher>>,
    /// Budgets met on this node, by address, with their disruptions left.
    left: HashMap<usize, i32, BuildHasherDefault<AddressHasher>>,
    /// Budgets and their requirements that were compared with pods.
    steps: u64,
}

/// The budgets that cover a pod, by name.
#[derive(Clone)]
enum Covering<'a> {
    None,
    One(&'a BudgetSelector),
    Several(Arc<Several<'a>>),
}

/// Budgets that cover the same pods.
struct Several<'a> {
    selectors: Vec<&'a BudgetSelector>,
    named: Arc<[CoveringBudget]>,
    /// The answer for a pod that all of them allow.
    all_allow: Arc<CoveringBudgets>,
}

impl<'a> Several<'a> {
    fn of(selectors: Vec<&'a BudgetSelector>) -> Self {
        let named: Arc<[CoveringBudget]> = selectors.iter().map(|selector| selector.named().clone()).collect();
        let all_allow = Arc::new(CoveringBudgets::new(Arc::clone(&named), selectors.iter().map(|_| None)));
        Self { selectors, named, all_allow }
    }
}

impl<'a> BudgetCount<'a> {
    /// Makes a counter for one node.
    pub(super) fn new(index: &'a BudgetIndex, rule: BudgetRule) -> Self {
        Self { index, rule, known: HashMap::default(), left: HashMap::default(), steps: 0 }
    }

    /// Resets the counts for another node.
    pub(super) fn restart(&mut self) {
        self.left.clear();
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
        self.count(pod, &covering)
    }

    /// Like [`Self::take`], for the pod at a place of a node, which is fetched only if it is the first with its labels.
    pub(super) fn take_at(&mut self, node: &'a NodeInfo, place: u32) -> Option<Arc<CoveringBudgets>> {
        let pod = node.at(place);
        if !pod.is_labelled() || self.index.is_empty() {
            return None;
        }
        let known = pod.label_addresses().and_then(|addresses| self.known.get(&addresses)).cloned();
        let covering = known.unwrap_or_else(|| self.covering(pod.info()));
        self.count(pod.info(), &covering)
    }

    /// Like [`Self::take`], for a pod that may not outlive this counter.
    pub(super) fn take_uncached(&mut self, pod: &Arc<PodInfo>) -> Option<Arc<CoveringBudgets>> {
        if !pod.is_labelled() {
            return None;
        }
        let covering = self.find(pod);
        self.count(pod, &covering)
    }

    /// Takes the pod behind its pointer, so that it is not fetched where no budget asks for its name.
    #[inline]
    fn count(&mut self, pod: &Arc<PodInfo>, covering: &Covering<'a>) -> Option<Arc<CoveringBudgets>> {
        match covering {
            Covering::None => None,
            Covering::One(selector) => {
                let left = self.take_one(pod, selector.budget());
                Some(selector.alone(left))
            }
            Covering::Several(several) => Some(self.count_several(pod, several)),
        }
    }

    fn count_several(&mut self, pod: &Arc<PodInfo>, several: &Several<'a>) -> Arc<CoveringBudgets> {
        let Several { selectors, .. } = several;
        self.steps += 2 * selectors.len() as u64;
        let mut left = Vec::with_capacity(selectors.len());
        let mut is_violated = false;
        for selector in selectors {
            let of_budget = self.take_one(pod, selector.budget());
            is_violated |= of_budget.is_some_and(|left| left <= 0);
            left.push(of_budget);
            if is_violated && self.rule == BudgetRule::UpToExhausted {
                break;
            }
        }
        if is_violated { Arc::new(CoveringBudgets::new(Arc::clone(&several.named), left)) } else { Arc::clone(&several.all_allow) }
    }

    /// Returns the budgets that cover the pod. Pods of one workload mostly share the template that holds their labels,
    /// so comparing two addresses is enough for all but the first.
    fn covering(&mut self, pod: &'a PodInfo) -> Covering<'a> {
        let Some(template) = pod.template() else { return self.find(pod) };
        let key = (Arc::as_ptr(template) as usize, pod.namespace().as_ptr() as usize);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let covering = self.find(pod);
        self.known.insert(key, covering.clone());
        covering
    }

    fn find(&mut self, pod: &PodInfo) -> Covering<'a> {
        let budgets = self.index.in_namespace(pod.namespace());
        self.steps += budgets.iter().map(BudgetSelector::steps).sum::<u64>();
        let mut covering = budgets.iter().filter(|selector| selector.matches(pod));
        match (covering.next(), covering.next()) {
            (None, _) => Covering::None,
            (Some(only), None) => Covering::One(only),
            (Some(first), Some(second)) => {
                let selectors = [first, second].into_iter().chain(covering).collect();
                Covering::Several(Arc::new(Several::of(selectors)))
            }
        }
    }

    /// Returns the disruptions that the budget had left before this pod; `None` if its status lists the pod in
    /// `disruptedPods` and so has already counted it.
    fn take_one(&mut self, pod: &Arc<PodInfo>, budget: &PodDisruptionBudget) -> Option<i32> {
        let status = &budget.status;
        if self.rule == BudgetRule::AsItStands {
            return Some(status.disruptions_allowed);
        }
        if !status.disrupted_pods.is_empty() && is_disrupted(pod, budget) {
            return None;
        }
        let left = self.left.entry(std::ptr::from_ref(budget) as usize).or_insert(status.disruptions_allowed);
        let before = *left;
        *left = before.saturating_sub(1);
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
