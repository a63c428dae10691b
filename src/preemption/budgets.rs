//! Which evictions would violate a PodDisruptionBudget; mirrors `filterPodsWithPDBViolation` in
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::cluster::PodDisruptionBudget;
use crate::framework::{BudgetIndex, BudgetSelector, CoveringBudgets, NodeInfo, PodInfo};
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
    Several(Arc<[&'a BudgetSelector]>),
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
            Covering::Several(selectors) => {
                let mut answer = CoveringBudgets::default();
                self.steps += 2 * selectors.len() as u64;
                for selector in selectors.iter() {
                    let left = self.take_one(pod, selector.budget());
                    answer.add(selector.budget(), left);
                    if self.rule == BudgetRule::UpToExhausted && !answer.violated.is_empty() {
                        break;
                    }
                }
                Some(Arc::new(answer))
            }
        }
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
            (Some(first), Some(second)) => Covering::Several([first, second].into_iter().chain(covering).collect()),
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cluster::{Pod, Str};
    use crate::framework::Victim;
    use crate::preemption::testing::{budget, labelled};

    /// Violated budgets with their disruptions left, and all budgets that cover the pod.
    type Verdict = (Vec<(String, i32)>, Vec<String>);
    type Want<'a> = (&'a [(&'a str, i32)], &'a [&'a str]);

    fn count(budgets: &[PodDisruptionBudget], pods: &[Pod]) -> Vec<Verdict> {
        count_by(BudgetRule::CountedDown, budgets, pods)
    }

    fn count_by(rule: BudgetRule, budgets: &[PodDisruptionBudget], pods: &[Pod]) -> Vec<Verdict> {
        let budgets: Vec<_> = budgets.iter().cloned().map(Arc::new).collect();
        let index: BudgetIndex = budgets.iter().collect();
        let pods: Vec<Arc<PodInfo>> = pods.iter().map(|pod| Arc::new(PodInfo::new(Arc::new(pod.clone())))).collect();
        let mut count = BudgetCount::new(&index, rule);
        let each = pods.iter().map(|pod| {
            let victim = Victim::new(pod.clone(), count.take(pod));
            let violates = victim.violates().iter().map(|v| (v.budget.to_string(), v.left)).collect();
            (violates, victim.covered_by().iter().map(ToString::to_string).collect())
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
    fn budgets_behind_an_exhausted_one_are_not_counted_in_later_releases() {
        let pods = ["a", "b"].map(|name| labelled(name, "app", "web"));
        let budgets = [budget("none", 0, WEB), budget("one", 1, WEB)];
        let violates = |left| (vec![("none".to_owned(), left)], Vec::new());
        assert_eq!(count_by(BudgetRule::UpToExhausted, &budgets, &pods), [violates(0), violates(-1)]);
        let last = [budget("a-one", 1, WEB), budget("none", 0, WEB)];
        let first = (vec![("none".to_owned(), 0)], vec!["a-one".to_owned()]);
        assert_eq!(count_by(BudgetRule::UpToExhausted, &last, &pods), [first, (vec![("a-one".to_owned(), 0)], Vec::new())]);
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
