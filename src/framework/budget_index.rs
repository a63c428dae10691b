//! An index of the PodDisruptionBudgets that can match pods; no counterpart upstream, where each preemption lists and
//! parses them.

use std::sync::Arc;

use imbl::OrdMap;

use super::{CoveringBudget, CoveringBudgets, LabelBloom, PodInfo};
use crate::cluster::{Key, LabelSelector, PodDisruptionBudget, Str};

/// The budgets that can match pods, by namespace and name. Cloning is free.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetIndex(OrdMap<Str, Arc<Vec<BudgetSelector>>>);

/// A budget that can match pods.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetSelector {
    budget: Arc<PodDisruptionBudget>,
    /// Bits common to all pods that the budget covers.
    wanted: LabelBloom,
    /// It alone, which answers share.
    alone: Arc<[CoveringBudget]>,
    /// The shared answer for a pod that only this budget covers and that may be evicted.
    allows: Arc<CoveringBudgets>,
    /// The same for the first pod of a node if the budget allows no disruption.
    exhausted: Option<Arc<CoveringBudgets>>,
}

/// Steps that count for a budget that is compared with a pod, besides those of its requirements.
const STEPS: u64 = 2;

impl BudgetIndex {
    /// Inserts a budget, replacing the one with its name. Leaves out a budget whose selector is missing, empty or
    /// invalid, because it matches no pod.
    pub fn insert(&mut self, budget: &Arc<PodDisruptionBudget>) {
        let key = budget.metadata.key();
        self.remove(&key);
        let Some(selector) = BudgetSelector::of(budget) else { return };
        let list = Arc::make_mut(self.0.entry(key.namespace).or_default());
        let at = list.partition_point(|other| other.budget.metadata.name < key.name);
        list.insert(at, selector);
    }

    /// Removes a budget.
    pub fn remove(&mut self, key: &Key) {
        let Some(list) = self.0.get_mut(&key.namespace) else { return };
        if let Ok(at) = list.binary_search_by(|other| other.budget.metadata.name.cmp(&key.name)) {
            Arc::make_mut(list).remove(at);
        }
        if list.is_empty() {
            self.0.remove(&key.namespace);
        }
    }

    /// Returns whether both are the same list, not only equal ones.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the budgets of a namespace that can match pods, by name.
    pub fn in_namespace(&self, namespace: &Str) -> &[BudgetSelector] {
        self.0.get(namespace).map_or(&[], |list| list)
    }
}

impl<'a> FromIterator<&'a Arc<PodDisruptionBudget>> for BudgetIndex {
    fn from_iter<I: IntoIterator<Item = &'a Arc<PodDisruptionBudget>>>(budgets: I) -> Self {
        let mut index = Self::default();
        budgets.into_iter().for_each(|budget| index.insert(budget));
        index
    }
}

impl BudgetSelector {
    fn of(budget: &Arc<PodDisruptionBudget>) -> Option<Self> {
        let wanted = LabelBloom::selected_by(budget.usable_selector()?);
        let allowed = budget.status.disruptions_allowed;
        let alone: Arc<[CoveringBudget]> = [CoveringBudget { name: budget.metadata.name.clone(), allowed }].into();
        let answer = |left| Arc::new(CoveringBudgets::new(Arc::clone(&alone), [left]));
        let (allows, exhausted) = (answer(None), (allowed <= 0).then(|| answer(Some(allowed))));
        Some(Self { budget: budget.clone(), wanted, alone, allows, exhausted })
    }

    pub fn budget(&self) -> &PodDisruptionBudget {
        &self.budget
    }

    /// Returns how many steps of [`super::node_steps`] it takes to compare the budget with a pod, about.
    pub fn steps(&self) -> u64 {
        let requirements = self.budget.spec.selector.as_ref().map_or(0, |selector| selector.match_expressions.len());
        STEPS + 3 * requirements as u64
    }

    /// Returns whether the budget covers a pod of its namespace.
    pub fn matches(&self, pod: &PodInfo) -> bool {
        let matches = |selector: &LabelSelector| selector.matches(&pod.pod.metadata.labels);
        pod.bits().covers(self.wanted) && self.budget.spec.selector.as_ref().is_some_and(matches)
    }

    /// Returns it as answers name it.
    pub fn named(&self) -> &CoveringBudget {
        &self.alone[0]
    }

    /// Returns the answer for a pod that only this budget covers. `left` is the number of disruptions left before the
    /// pod; `None` if the budget has already counted the pod.
    pub fn alone(&self, left: Option<i32>) -> Arc<CoveringBudgets> {
        match (left, &self.exhausted) {
            (Some(left), Some(exhausted)) if left == self.budget.status.disruptions_allowed => exhausted.clone(),
            (Some(left), _) if left <= 0 => Arc::new(CoveringBudgets::new(Arc::clone(&self.alone), [Some(left)])),
            _ => self.allows.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(namespace: &str, name: &str, allowed: i32, selector: &str) -> Arc<PodDisruptionBudget> {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}"}},"spec":{{"selector":{selector}}},"status":{{"disruptionsAllowed":{allowed}}}}}"#
        );
        Arc::new(serde_json::from_str(&text).unwrap())
    }

    const WEB: &str = r#"{"matchLabels":{"app":"web"}}"#;

    fn listed(index: &BudgetIndex, namespace: &str) -> Vec<(String, i32)> {
        let of = |s: &BudgetSelector| (s.budget().metadata.name.to_string(), s.budget().status.disruptions_allowed);
        index.in_namespace(&namespace.into()).iter().map(of).collect()
    }

    #[test]
    fn budgets_come_by_name_and_only_where_they_can_match() {
        let mut index: BudgetIndex = [budget("a", "y", 1, WEB), budget("a", "x", 2, WEB), budget("b", "z", 3, "{}")].iter().collect();
        assert_eq!(listed(&index, "a"), [("x".to_owned(), 2), ("y".to_owned(), 1)]);
        assert!(listed(&index, "b").is_empty() && listed(&index, "c").is_empty());
        let before = index.clone();
        index.insert(&budget("a", "y", 7, WEB));
        index.insert(&budget("a", "x", 2, "null"));
        assert_eq!(listed(&index, "a"), [("y".to_owned(), 7)]);
        index.remove(&Key::new("a", "y"));
        index.remove(&Key::new("a", "y"));
        assert!(listed(&index, "a").is_empty());
        assert_eq!(listed(&before, "a").len(), 2, "a clone stays as it was");
    }

    #[test]
    fn the_answer_about_one_budget_is_that_of_counting() {
        for allowed in -2..3 {
            let selector = BudgetSelector::of(&budget("a", "x", allowed, WEB)).unwrap();
            for left in [None, Some(-3), Some(-2), Some(0), Some(1), Some(2)] {
                let counted = CoveringBudgets::new([selector.named().clone()].into(), [left]);
                assert_eq!(*selector.alone(left), counted, "{allowed} allowed, {left:?} left");
            }
        }
    }
}
