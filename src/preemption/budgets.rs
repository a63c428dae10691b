//! Which evictions would violate a PodDisruptionBudget; mirrors `filterPodsWithPDBViolation` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cluster::{PodDisruptionBudget, Str};
use crate::framework::{BudgetViolation, Covered, PodBits, PodInfo, Victim};

/// The budgets that can match a pod, by namespace and, inside one, by name.
pub(super) struct Budgets {
    /// Tells this set from every other, so that pods can remember which of its budgets cover them.
    id: u64,
    /// What the set was made from.
    source: Vec<Arc<PodDisruptionBudget>>,
    by_namespace: HashMap<Str, Vec<Usable>>,
}

/// The number of sets that were made.
static SETS: AtomicU64 = AtomicU64::new(0);

/// The set that was asked for last. Attempts follow each other with the same budgets most of the time.
static LATEST: Mutex<Option<Arc<Budgets>>> = Mutex::new(None);

/// A budget that can match pods.
struct Usable {
    /// Place in [`Budgets::source`].
    index: u32,
    /// What every pod has that it covers.
    wanted: PodBits,
}

impl Budgets {
    /// Keeps the budgets with a valid selector that asks for anything; one without matches no pod here.
    pub(super) fn new<'a>(budgets: impl Iterator<Item = &'a Arc<PodDisruptionBudget>>) -> Self {
        let source: Vec<Arc<PodDisruptionBudget>> = budgets.cloned().collect();
        let mut by_namespace: HashMap<Str, Vec<_>> = HashMap::new();
        for (index, budget) in (0..).zip(&source) {
            let Some(selector) = budget.usable_selector() else { continue };
            let wanted = PodBits::selected_by(selector);
            let of_namespace = by_namespace.entry(budget.metadata.namespace.clone()).or_default();
            of_namespace.push(Usable { index, wanted });
        }
        Self { id: SETS.fetch_add(1, Ordering::Relaxed) + 1, source, by_namespace }
    }

    /// The set of these budgets, the one made last where it is of the very same objects.
    pub(super) fn shared<'a>(budgets: impl Iterator<Item = &'a Arc<PodDisruptionBudget>>) -> Arc<Self> {
        let budgets: Vec<&Arc<PodDisruptionBudget>> = budgets.collect();
        let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = latest.as_ref().filter(|set| set.source.iter().map(Arc::as_ptr).eq(budgets.iter().map(|b| Arc::as_ptr(b)))) {
            return set.clone();
        }
        latest.insert(Arc::new(Self::new(budgets.into_iter()))).clone()
    }

    /// A fresh count, for one node.
    pub(super) fn count(&self) -> BudgetCount<'_> {
        BudgetCount { budgets: self, left: Vec::new() }
    }

    /// Finds the budgets that cover the pod, in order.
    fn find(&self, info: &PodInfo) -> Covered {
        let (pod, bits) = (&info.pod, info.bits());
        let labels = &pod.metadata.labels;
        // A pod without labels is covered by nothing, not even by `DoesNotExist`.
        let candidates = if labels.is_empty() { None } else { self.by_namespace.get(&pod.metadata.namespace) };
        let matching = |index: u32| self.at(index).spec.selector.as_ref().is_some_and(|s| s.matches(labels));
        let likely = candidates.into_iter().flatten().filter(|u| bits.covers(u.wanted)).map(|u| u.index);
        let mut found = likely.filter(|index| matching(*index));
        Covered { set: self.id, first: found.next(), rest: found.collect(), known: None }
    }

    fn at(&self, index: u32) -> &PodDisruptionBudget {
        &self.source[index as usize]
    }
}

/// What is left of each budget while the victims of one node are counted off, most important first.
pub(super) struct BudgetCount<'a> {
    budgets: &'a Budgets,
    left: Vec<(u32, i32)>,
}

impl BudgetCount<'_> {
    /// Takes one disruption from every budget that covers the pod, also when another is violated already, and writes
    /// into `victim` which of them it violates. A budget that lists the pod's name among its disrupted pods has
    /// counted it before.
    pub(super) fn take(&mut self, pod: &PodInfo, victim: &mut Arc<Victim>) {
        let mut covered = pod.covered();
        let covered = covered.get_or_insert_default();
        if covered.set != self.budgets.id {
            **covered = self.budgets.find(pod);
        }
        let Some(first) = covered.first else { return };
        if !covered.rest.is_empty() {
            // The step that removed the pod was recorded before its budgets were known.
            let victim = Arc::make_mut(victim);
            for index in [first].iter().chain(&covered.rest) {
                let left = self.take_one(pod, *index);
                self.note(victim, *index, left);
            }
            return;
        }
        let left = self.take_one(pod, first);
        // A pod that was counted before looks like any that is covered.
        let left_or_some = left.unwrap_or(1);
        if let Some((_, known)) = covered.known.as_ref().filter(|(before, _)| *before == left_or_some || (*before > 0 && left_or_some > 0))
        {
            *victim = known.clone();
            return;
        }
        self.note(Arc::make_mut(victim), first, left);
        covered.known = Some((left_or_some, victim.clone()));
    }

    /// What the budget had left before this pod; `None` where the pod was counted before.
    fn take_one(&mut self, pod: &PodInfo, index: u32) -> Option<i32> {
        let status = &self.budgets.at(index).status;
        if !status.disrupted_pods.is_empty() && status.disrupted_pods.contains_key(&pod.pod.metadata.name) {
            return None;
        }
        let at = self.left.iter().position(|(i, _)| *i == index).unwrap_or_else(|| {
            self.left.push((index, status.disruptions_allowed));
            self.left.len() - 1
        });
        let left = self.left[at].1;
        self.left[at].1 = left.saturating_sub(1);
        Some(left)
    }

    /// Writes into `victim` what one budget says of it.
    fn note(&self, victim: &mut Victim, index: u32, left: Option<i32>) {
        let budget = self.budgets.at(index);
        let name = budget.metadata.name.clone();
        match left {
            Some(left) if left <= 0 => {
                victim.violates.push(BudgetViolation { budget: name, allowed: budget.status.disruptions_allowed, left });
            }
            _ => victim.covered_by.push(name),
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

    #[test]
    fn what_a_pod_remembers_never_outlives_its_budgets_nor_what_they_have_left() {
        let mut counted = budget("web", 5, WEB);
        counted.status.disrupted_pods.insert("a".into(), "2024-01-01T00:00:00Z".into());
        let info = PodInfo::new(Arc::new(labelled("a", "app", "web")));
        let other = PodInfo::new(Arc::new(labelled("b", "app", "web")));
        let victim_of = |budgets: &[PodDisruptionBudget], before: usize| {
            let budgets: Vec<_> = budgets.iter().cloned().map(Arc::new).collect();
            let budgets = Budgets::shared(budgets.iter());
            // Twice, so that the second time it is remembered.
            let [once, again] = [(); 2].map(|()| {
                let mut count = budgets.count();
                (0..before).for_each(|_| count.take(&other, &mut Arc::default()));
                let mut victim = info.victim(importance::victim);
                count.take(&info, &mut victim);
                let violates = victim.violates.iter().map(|v| (v.budget.to_string(), v.allowed, v.left)).collect::<Vec<_>>();
                (violates, victim.covered_by.iter().map(ToString::to_string).collect::<Vec<_>>())
            });
            assert_eq!(once, again);
            assert!(info.victim(importance::victim).covered_by.is_empty(), "the pod itself stays without budgets");
            once
        };
        let violates = |allowed, left| (vec![("web".to_owned(), allowed, left)], Vec::new());
        let covered = |by: &[&str]| (Vec::new(), by.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(victim_of(&[budget("web", 1, WEB)], 0), covered(&["web"]));
        assert_eq!(victim_of(&[budget("web", 1, WEB)], 1), violates(1, 0));
        assert_eq!(victim_of(&[budget("web", 1, WEB)], 3), violates(1, -2));
        assert_eq!(victim_of(&[budget("web", 0, WEB)], 0), violates(0, 0));
        assert_eq!(victim_of(&[budget("else", 9, WEB)], 1), covered(&["else"]));
        assert_eq!(victim_of(&[], 0), covered(&[]));
        assert_eq!(victim_of(&[counted], 9), covered(&["web"]));
        assert_eq!(victim_of(&[budget("one", 5, WEB), budget("two", 5, WEB)], 1), covered(&["one", "two"]));
        assert_eq!(victim_of(&[budget("web", 1, r#"{"matchLabels":{"app":"db"}}"#)], 0), covered(&[]));
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
