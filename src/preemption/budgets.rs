//! Which evictions would violate a PodDisruptionBudget; mirrors `filterPodsWithPDBViolation` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::cluster::{PodDisruptionBudget, Str};
use crate::framework::{BudgetViolation, PodBits, PodInfo, Victim};

/// The budgets that can match a pod, by namespace and, inside one, by name. Built once per attempt.
#[derive(Default)]
pub(super) struct Budgets {
    by_namespace: HashMap<Str, Vec<Usable>>,
}

/// A budget that can match pods.
struct Usable {
    index: usize,
    /// What every pod has that it covers.
    wanted: PodBits,
    budget: Arc<PodDisruptionBudget>,
}

impl Budgets {
    /// Keeps the budgets with a valid selector that asks for anything; one without matches no pod here.
    pub(super) fn new<'a>(budgets: impl Iterator<Item = &'a Arc<PodDisruptionBudget>>) -> Self {
        let mut by_namespace: HashMap<Str, Vec<_>> = HashMap::new();
        let usable = |b: &&Arc<PodDisruptionBudget>| b.spec.selector.as_ref().is_some_and(|s| !s.is_empty() && s.validate().is_ok());
        for (index, budget) in budgets.filter(usable).enumerate() {
            let wanted = budget.spec.selector.as_ref().map(PodBits::selected_by).unwrap_or_default();
            let of_namespace = by_namespace.entry(budget.metadata.namespace.clone()).or_default();
            of_namespace.push(Usable { index, wanted, budget: budget.clone() });
        }
        Self { by_namespace }
    }

    /// A fresh count, for one node.
    pub(super) fn count(&self) -> BudgetCount<'_> {
        BudgetCount { budgets: self, left: Vec::new() }
    }

    fn covering<'a>(&'a self, info: &'a PodInfo) -> impl Iterator<Item = (usize, &'a PodDisruptionBudget)> {
        let (pod, bits) = (&info.pod, info.bits());
        let labels = &pod.metadata.labels;
        // A pod without labels is covered by nothing, not even by `DoesNotExist`.
        let candidates = if labels.is_empty() { None } else { self.by_namespace.get(&pod.metadata.namespace) };
        let matching = move |b: &PodDisruptionBudget| b.spec.selector.as_ref().is_some_and(|s| s.matches(labels));
        let likely = candidates.into_iter().flatten().filter(move |u| bits.covers(u.wanted));
        likely.map(|u| (u.index, &*u.budget)).filter(move |(_, b)| matching(b))
    }
}

/// What is left of each budget while the victims of one node are counted off, most important first.
pub(super) struct BudgetCount<'a> {
    budgets: &'a Budgets,
    left: Vec<(usize, i32)>,
}

impl BudgetCount<'_> {
    /// Takes one disruption from every budget that covers the pod, also when another is violated already, and writes
    /// into `victim` which of them it violates. A budget that lists the pod's name among its disrupted pods has
    /// counted it before.
    pub(super) fn take(&mut self, pod: &PodInfo, victim: &mut Arc<Victim>) {
        for (index, budget) in self.budgets.covering(pod) {
            // The step that removed the pod was recorded before its budgets were known.
            let victim = Arc::make_mut(victim);
            let name = budget.metadata.name.clone();
            if budget.status.disrupted_pods.contains_key(&pod.pod.metadata.name) {
                victim.covered_by.push(name);
                continue;
            }
            let allowed = budget.status.disruptions_allowed;
            let at = self.left.iter().position(|(i, _)| *i == index).unwrap_or_else(|| {
                self.left.push((index, allowed));
                self.left.len() - 1
            });
            let left = self.left[at].1;
            self.left[at].1 = left.saturating_sub(1);
            if left <= 0 {
                victim.violates.push(BudgetViolation { budget: name, allowed, left });
            } else {
                victim.covered_by.push(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cluster::Pod;
    use crate::preemption::importance;
    use crate::preemption::testing::{budget, labelled};

    /// Budgets violated, with what was left of each, and budgets that cover the pod.
    type Verdict = (Vec<(String, i32)>, Vec<String>);
    type Want<'a> = (&'a [(&'a str, i32)], &'a [&'a str]);

    fn count(budgets: &[PodDisruptionBudget], pods: &[Pod]) -> Vec<Verdict> {
        let budgets: Vec<_> = budgets.iter().cloned().map(Arc::new).collect();
        let budgets = Budgets::new(budgets.iter());
        let mut count = budgets.count();
        let each = pods.iter().map(|pod| {
            let mut victim = Arc::new(importance::victim(pod));
            count.take(&PodInfo::new(Arc::new(pod.clone())), &mut victim);
            let violates = victim.violates.iter().map(|v| (v.budget.to_string(), v.left)).collect();
            (violates, victim.covered_by.iter().map(ToString::to_string).collect())
        });
        each.collect()
    }

    fn check(budgets: &[PodDisruptionBudget], pods: &[Pod], want: &[Want<'_>]) {
        let own = |(violates, covered): &Want<'_>| -> Verdict {
            (violates.iter().map(|(n, l)| ((*n).to_owned(), *l)).collect(), covered.iter().map(|n| (*n).to_owned()).collect())
        };
        assert_eq!(count(budgets, pods), want.iter().map(own).collect::<Vec<_>>());
    }

    const WEB: &str = r#"{"matchLabels":{"app":"web"}}"#;

    #[test]
    fn the_first_pods_are_covered_and_the_rest_violate() {
        let pods = ["a", "b", "c"].map(|name| labelled(name, "app", "web"));
        check(&[budget("web", 1, WEB)], &pods, &[(&[], &["web"]), (&[("web", 0)], &[]), (&[("web", -1)], &[])]);
        check(&[budget("web", -2, WEB)], &pods[..1], &[(&[("web", -2)], &[])]);
    }

    #[test]
    fn every_matching_budget_is_decremented_even_after_one_failed() {
        let pods = ["a", "b"].map(|name| labelled(name, "app", "web"));
        let budgets = [budget("none", 0, WEB), budget("one", 1, WEB)];
        check(&budgets, &pods, &[(&[("none", 0)], &["one"]), (&[("none", -1), ("one", 0)], &[])]);
    }

    #[test]
    fn selectors_that_are_absent_empty_or_invalid_match_nothing() {
        let invalid = r#"{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"Like"}]}"#;
        for selector in ["null", "{}", invalid, r#"{"matchLabels":{"app":"db"}}"#] {
            check(&[budget("x", 0, selector)], &[labelled("a", "app", "web")], &[(&[], &[])]);
        }
    }

    #[test]
    fn pods_without_labels_and_pods_elsewhere_are_not_covered() {
        let negative = r#"{"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]}"#;
        let mut bare = labelled("a", "app", "web");
        bare.metadata.labels = std::iter::empty::<(Str, Str)>().collect();
        check(&[budget("x", 0, negative)], &[bare, labelled("b", "tier", "web")], &[(&[], &[]), (&[("x", 0)], &[])]);
        let mut elsewhere = labelled("a", "app", "web");
        elsewhere.metadata.namespace = "other".into();
        check(&[budget("x", 0, WEB)], &[elsewhere], &[(&[], &[])]);
    }

    #[test]
    fn a_pod_counted_before_is_known_by_name_and_costs_nothing() {
        let mut web = budget("web", 1, WEB);
        web.status.disrupted_pods.insert("a".into(), "2024-01-01T00:00:00Z".into());
        let pods = ["a", "b", "c"].map(|name| labelled(name, "app", "web"));
        check(&[web], &pods, &[(&[], &["web"]), (&[], &["web"]), (&[("web", 0)], &[])]);
    }

    proptest! {
        #[test]
        fn a_budget_allows_as_many_as_it_says(allowed in -3..8_i32, pods in 0..12_usize) {
            let pods: Vec<Pod> = (0..pods).map(|i| labelled(&format!("p{i}"), "app", "web")).collect();
            let verdicts = count(&[budget("web", allowed, WEB)], &pods);
            let covered = verdicts.iter().take_while(|v| v.0.is_empty()).count();
            prop_assert_eq!(covered, pods.len().min(usize::try_from(allowed).unwrap_or(0)));
            for (i, verdict) in verdicts.iter().enumerate().skip(covered) {
                prop_assert_eq!(&verdict.0, &vec![("web".to_owned(), allowed - i32::try_from(i).unwrap())]);
            }
        }
    }
}
